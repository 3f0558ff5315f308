"""Print the table of speed and memory as Markdown: `python tests/benchmarks/table.py`; `--help` for a part of it, or a file.

All contestants of a row take turns in one process, so what the rest of the machine does meets all of them alike; the
memory of each is that of one call in a process of its own.
"""

# ruff: noqa: T201 - prints are what it is for

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from contest import OURS, Result, Task, add_memory, find, race
from peers import ADAPTERS, PACKAGES, version_of
from tasks import every_task

import calibcore

HEADER = (
    "task",
    "yardstick, ms",
    "calibcore, ms",
    "÷ yardstick",
    "fastest peer, ms: ÷ calibcore",
    "peers ÷ calibcore",
    "extra memory, MB",
    "target: met?",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit with 1 if an answer was wrong; a missed target is in the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="parts of the names of tasks; all by default")
    parser.add_argument("--list", action="store_true", help="only list the tasks")
    parser.add_argument("--rounds", type=int, default=9, help="turns of every contestant (9)")
    parser.add_argument("--budget", type=float, default=30, help="seconds after which a slow one sits out the rounds beyond the third (30)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows (1); targets are meant for 1")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--write", type=Path, metavar="PATH", help="write the Markdown there too, row by row as it comes")
    asked = parser.parse_args(arguments)
    chosen = find(every_task(), asked.tasks)
    if not chosen:
        parser.error("no task has such a name; see --list")
    if asked.list:
        print("\n".join(t.name for t in chosen))
        return 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the peers
        results: list[Result] = []
        for task in chosen:
            results.append(run(task, asked))
            text = markdown(results, scale=asked.scale)
            if asked.write:  # after every task, so that what is measured is kept if the run is stopped
                asked.write.write_text(text + "\n", encoding="utf-8")
    print(text)
    return int(any(r.failures for r in results))


def run(task: Task, asked: argparse.Namespace) -> Result:
    """One row, as far as it was asked for."""
    print(f"{task.name} …", file=sys.stderr, flush=True)
    n = max(1, round(task.size * asked.scale))
    result = race(task, n, rounds=asked.rounds, budget=asked.budget, peers=not asked.no_peers)
    if not asked.no_memory:
        add_memory(result)
    print("   " + " | ".join(row(result)[1:]), file=sys.stderr, flush=True)
    return result


def markdown(results: Sequence[Result], scale: float = 1.0) -> str:
    """Table, machine, and what the numbers mean."""
    rows = [HEADER, ("---", *["---:"] * 3, *["---"] * 4), *(row(r) for r in results)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    less = "" if scale == 1 else f"**Run with {scale:g} of the rows: the targets are not meant for that.**\n\n"
    return f"{less}{table}\n\n{meaning()}\n\n{conventions(results)}{failures(results)}{machine()}"


def row(r: Result) -> tuple[str, ...]:
    """One task."""
    floor, peers = r.task.floor, r.peers()
    if r.missing:
        return (r.task.name, floor, f"not available: {r.missing}", "", "", "", "", targets(r))
    return (
        r.task.name,
        f"{floor} {milliseconds(r, floor)}",
        milliseconds(r, OURS),
        ratio(r, OURS, floor),
        " ".join(f"{p} {milliseconds(r, p)}: {ratio(r, p, OURS)} ×" for p in peers[:1]),
        ", ".join(f"{p} {number(times)}" for p in peers if (times := r.ratio(p, OURS)) is not None),
        ", ".join(f"{name} {number(r.memory[name])}" for name in (OURS, *peers, floor) if name in r.memory),
        targets(r),
    )


def milliseconds(r: Result, name: str) -> str:
    """Median, and in brackets the fastest."""
    median, fastest = r.seconds(name), r.seconds(name, "minimum")
    return "failed" if median is None or fastest is None else f"{number(1000 * median)} ({number(1000 * fastest)})"


def ratio(r: Result, one: str, other: str) -> str:
    """Of the medians, and in brackets of the fastest."""
    median, fastest = r.ratio(one, other), r.ratio(one, other, "minimum")
    return "" if median is None or fastest is None else f"{number(median)} ({number(fastest)})"


def number(x: float) -> str:
    """Three digits, as many as any of it repeats."""
    return f"{x:,.0f}" if x >= 99.95 else f"{x:.3g}" if x >= 0.01 else f"{x:.1g}"


def targets(r: Result) -> str:
    return "; ".join(f"{t.text}: {t.met(r)}" for t in r.task.targets)


def meaning() -> str:
    return (
        "Milliseconds are medians of one interleaved run, in brackets the fastest; ratios are of these medians, in brackets of the "
        "fastest. A yardstick works on the same array or file. *peers ÷ calibcore*: how many times as long. *Extra memory*: growth of "
        "a fresh process at its peak during one call, the result included; for calibcore, the larger of that and what Python's own "
        "counter saw. 15 bins; labels are int64. Every answer was checked against plain NumPy."
    )


def conventions(results: Iterable[Result]) -> str:
    """Those of the peers in the table."""
    here = {name for r in results for name in r.peers()}
    told: dict[tuple[str, str], list[str]] = {}
    for a in ADAPTERS:
        if a.name in here and a.installed():
            told.setdefault((a.name, a.convention), []).append(a.kind.replace("_", " "))
    lines = [f"- {name} ({', '.join(kinds)}): {convention}." for (name, convention), kinds in sorted(told.items())]
    return "\n".join(["Each peer is called as it is documented, and by its own convention:", "", *lines]) + "\n\n" if lines else ""


def failures(results: Iterable[Result]) -> str:
    found = [f"- {r.task.name}: {name} failed: {why}" for r in results for name, why in r.failures.items()]
    return "\n".join(found) + "\n\n" if found else ""


def machine() -> str:
    """Where and with what."""
    packages = ("numpy", "scipy", "pyarrow", "torch", "pyspark", *PACKAGES)
    versions = [f"{p} {found}" for p in packages if (found := version_of(p))]
    return (
        f"{processor()}, {os.cpu_count()} cores, {gigabytes()} of memory, {platform.system()}; {datetime.now(UTC):%Y-%m-%d}; "
        f"Python {platform.python_version()}, calibcore {calibcore.__version__}, {', '.join(versions)}."
    )


def processor() -> str:
    told = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", told.read_text()) if told.exists() else None
    return found[1].strip() if found else platform.processor() or platform.machine()


def gigabytes() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1024**3:.0f} GiB"
    except (AttributeError, ValueError, OSError):
        return "unknown size"


if __name__ == "__main__":
    sys.exit(main())
