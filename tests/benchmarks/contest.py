"""A fair race: contestants take turns, each answer is checked, and what counts is a ratio within one run."""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
OURS = "calibcore"
SHORTEST = 0.002  # seconds: what is faster is called several times in a row
FEWEST = 3  # rounds for everyone, however slow


class Fresh(NamedTuple):
    """What a process of its own measured."""

    seconds: float
    megabytes: float | None
    answer: Any


@dataclass(frozen=True, slots=True)
class Contestant:
    """Someone who can do a task; the first of a task is its yardstick."""

    name: str
    run: Callable[[], Any]
    check: Callable[[Any], None]  # AssertionError for a wrong answer


@dataclass(slots=True)
class Result:
    """What a task's contestants showed."""

    task: Task
    n: int
    times: dict[str, list[float]] = field(default_factory=dict)  # seconds of each call
    memory: dict[str, float] = field(default_factory=dict)  # megabytes
    failures: dict[str, str] = field(default_factory=dict)
    missing: str = ""  # why it was not run

    def seconds(self, name: str, of: str = "median") -> float | None:
        times = self.times.get(name)
        return None if not times else statistics.median(times) if of == "median" else min(times)

    def ratio(self, one: str, other: str, of: str = "median") -> float | None:
        a, b = self.seconds(one, of), self.seconds(other, of)
        return None if a is None or b is None else a / b

    def peers(self) -> list[str]:
        """From the fastest to the slowest."""
        return sorted((p for p in self.times if p not in (OURS, self.task.floor)), key=lambda p: self.seconds(p) or 0.0)


@dataclass(frozen=True, slots=True)
class Target:
    """A promise about a result: a number of it is at most ``most``."""

    text: str
    value: Callable[[Result, str], float | None]
    most: float

    def met(self, result: Result) -> str:
        if result.missing:
            return "not available"
        if OURS in result.failures:
            return "no"
        median, fastest = self.value(result, "median"), self.value(result, "minimum")
        if median is None or fastest is None:
            return "not measured"
        return "yes" if median <= self.most else "by the fastest calls" if fastest <= self.most else "no"


@dataclass(frozen=True, slots=True)
class Task:
    """One row of the table."""

    name: str
    size: int  # rows
    small: int | None  # rows in a plain run of the tests; None leaves the task out of them
    floor: str  # the yardstick's name
    contestants: Callable[[int], AbstractContextManager[list[Contestant]]]  # for a number of rows: yardstick, calibcore, peers
    targets: tuple[Target, ...] = ()
    peers: tuple[str, ...] = ()  # the installed ones
    missing: Callable[[], str] = str  # why it cannot be run here; empty if it can
    memory: bool = True  # whether one call in a process of its own tells something

    def names(self) -> tuple[str, ...]:
        return (self.floor, OURS, *self.peers)


def times_floor(most: float) -> Target:
    return Target(f"≤ {most:g} × yardstick", lambda r, of: r.ratio(OURS, r.task.floor, of), most)


def milliseconds(most: float) -> Target:
    return Target(f"< {most:g} ms", lambda r, of: None if (s := r.seconds(OURS, of)) is None else 1000 * s, most)


def times_faster(least: float) -> Target:
    """Than every peer that is installed."""

    def value(r: Result, of: str) -> float | None:
        slowness = [s for p in r.peers() if (s := r.ratio(p, OURS, of)) is not None]
        return least / min(slowness) if slowness else None

    return Target("faster than every peer" if least == 1 else f"≥ {least:g} × faster than every peer", value, 1.0)


def megabytes(most: float, what: str = "extra memory") -> Target:
    return Target(f"{what} ≤ {most:g} MB", lambda r, _: r.memory.get(OURS), most)


def correct(text: str) -> Target:
    """The check of the answer is the target."""
    return Target(text, lambda r, of: 0.0 if r.seconds(OURS, of) is not None else None, 0.0)


def race(task: Task, n: int, *, rounds: int, budget: float = 30.0, peers: bool = True) -> Result:
    """Every contestant in turn, ``rounds`` times, the order reversed each time.

    Parameters
    ----------
    task : Task
    n : int
        Rows.
    rounds : int
    budget : float
        Seconds after which a slow one sits out the rounds beyond the third.
    peers : bool
        Whether they take part.
    """
    result = Result(task, n, missing=task.missing())
    if result.missing:
        return result
    with task.contestants(n) as everyone:
        taking_part = everyone if peers else everyone[:2]
        calls = {c.name: number for c in taking_part if (number := _admitted(c, result))}
        running = [c for c in taking_part if c.name in calls]
        left = dict.fromkeys(calls, budget)
        for i in range(rounds):
            for c in running if i % 2 == 0 else reversed(running):
                if i < FEWEST or left[c.name] > 0:
                    began = time.perf_counter()
                    result.times.setdefault(c.name, []).append(_one_turn(c, calls[c.name], result))
                    left[c.name] -= time.perf_counter() - began
    return result


def _admitted(c: Contestant, result: Result) -> int:
    """Calls of one turn, after a first call whose answer is checked; 0, and a failure noted, where it is wrong."""
    try:
        c.check(answer_of(c.run()))
    except Exception as error:  # noqa: BLE001 - a peer may fail in any way, and the others still run
        result.failures[c.name] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'wrong answer'}"
        return 0
    return max(1, round(SHORTEST / max(_one_turn(c, 1, result), 1e-7)))


def answer_of(found: Any) -> Any:
    return found.answer if isinstance(found, Fresh) else found


def _one_turn(c: Contestant, calls: int, result: Result) -> float:
    """Seconds of one call."""
    gc.collect()
    began = time.perf_counter()
    for _ in range(calls):
        found = c.run()
    seconds = (time.perf_counter() - began) / calls
    if not isinstance(found, Fresh):
        return seconds
    if found.megabytes is not None:
        result.memory[c.name] = max(found.megabytes, result.memory.get(c.name, 0.0))
    return found.seconds


def fresh(*arguments: str | int) -> Any:
    """What a process of its own prints: see `fresh.py`."""
    command = [sys.executable, str(HERE / "fresh.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONWARNINGS": "ignore"})
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def add_memory(result: Result) -> None:
    """One call of each contestant, each in a process of its own."""
    if not result.task.memory:
        return
    for name in result.times:
        try:
            result.memory[name] = fresh("memory", result.task.name, name, result.n)
        except RuntimeError as error:
            result.failures[f"memory of {name}"] = str(error)


def in_memory(make: Callable[[int], list[Contestant]]) -> Callable[[int], AbstractContextManager[list[Contestant]]]:
    """Contestants that leave nothing behind."""

    @contextmanager
    def contestants(n: int) -> Iterator[list[Contestant]]:
        yield make(n)

    return contestants


def find(tasks: Sequence[Task], words: Sequence[str]) -> list[Task]:
    """The tasks whose name holds one of the words; all without words."""
    return [t for t in tasks if not words or any(word.lower() in t.name.lower() for word in words)]
