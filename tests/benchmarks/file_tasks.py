"""Tasks that need files or processes of their own: a CSV file to a report, files beyond memory, Spark, the import."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import sums
from contest import OURS, Contestant, Fresh, Task, correct, fresh, in_memory, megabytes, times_floor

import calibcore as cc
from calibcore.report.page import report_html

READ = "pyarrow.csv.read_csv"
SCAN = "pyarrow's plain scan"
CHUNK = 1_000_000  # rows of a row group


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="calibcore-benchmark-") as name:
        yield Path(name)


# --- CSV ------------------------------------------------------------------------------------------------------------


def analysis_of(path: Path) -> cc.Analysis:
    (model,) = cc.read(path)
    return cc.analyze(model)


def from_csv(run: Callable[[Path], Any], ece_of: Callable[[Any], float | None]) -> Callable[[int], Any]:
    """Label and P(1) of nine digits, as text."""

    @contextmanager
    def contestants(n: int) -> Iterator[list[Contestant]]:
        rng = np.random.default_rng(7)
        p = np.round(rng.random(n), 9)
        y = (rng.random(n) < 0.5 + 0.8 * (p - 0.5)).astype(np.int64)
        value = np.maximum(p, np.round(1 - p, 9))
        expected = sums.ece((p > 0.5) == y, value, 15)

        def check(found: Any) -> None:
            ece = ece_of(found)
            assert ece is None or abs(ece - expected) <= 1e-9

        def same_rows(found: pa.Table) -> None:
            assert found.num_rows == n

        with folder() as at:
            path = at / "model.csv"
            pyarrow.csv.write_csv(pa.table({"label": y, "probability": p}), path)
            yield [Contestant(READ, lambda: pyarrow.csv.read_csv(path), same_rows), Contestant(OURS, lambda: run(path), check)]

    return contestants


def report_of(path: Path) -> tuple[cc.Analysis, str]:
    analysis = analysis_of(path)
    return analysis, report_html([analysis])


def ece_of_report(found: tuple[cc.Analysis, str]) -> float:
    analysis, html = found
    assert html.startswith("<!DOCTYPE html>")
    assert f"{analysis.n:,}" in html
    return analysis.ece


# --- larger than memory ---------------------------------------------------------------------------------------------


def without(*modules: str, java: bool = False) -> Callable[[], str]:
    """Why a reduction cannot be run here."""

    def reason() -> str:
        if not hasattr(cc, "reduce"):
            return "calibcore.reduce is not there"
        gone = [m for m in modules if find_spec(m) is None]
        if gone:
            return f"{gone[0]} is not installed"
        return "Java is not installed" if java and shutil.which("java") is None else ""

    return reason


def write_rows(path: Path, n: int) -> Any:
    """A Parquet file of label (int8) and p (float64), a row group for each million rows; what its rows add up to."""
    rng = np.random.default_rng(8)
    schema = pa.schema({"label": pa.int8(), "p": pa.float64()})
    found = []
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, CHUNK):
            p = rng.random(min(CHUNK, n - start))
            y = (rng.random(len(p)) < 0.5 + 0.8 * (p - 0.5)).astype(np.int8)
            writer.write_table(pa.table({"label": y, "p": p}, schema=schema), row_group_size=CHUNK)
            found.append(sums.of_rows(y, p))
    return reduce(sums.added, found)


def own_process(name: str, path: Path) -> Callable[[], Fresh]:
    return lambda: Fresh(**fresh(name, path))


def from_parquet(yardstick: str, floor: str, ours: str) -> Callable[[int], Any]:
    """A reduction in a process of its own beside another one, both named as in `fresh.py`."""

    @contextmanager
    def contestants(n: int) -> Iterator[list[Contestant]]:
        with folder() as at:
            path = at / "rows.parquet"
            expected = write_rows(path, n)

            def check(found: Any) -> None:
                if isinstance(found, int):
                    assert found == n
                else:
                    sums.check_profile(found, expected)

            yield [Contestant(yardstick, own_process(floor, path), check), Contestant(OURS, own_process(ours, path), check)]

    return contestants


# --- the import -----------------------------------------------------------------------------------------------------


def importing(modules: str) -> Fresh:
    """Seconds of an import in a process that has done nothing else."""
    code = f"import time; began = time.perf_counter(); import {modules}; print(time.perf_counter() - began)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return Fresh(float(done.stdout), None, None)


def imports(_n: int) -> list[Contestant]:
    def nothing(_: Any) -> None:
        """An import has no answer."""

    return [Contestant(name, lambda modules=modules: importing(modules), nothing) for name, modules in ((IMPORT, IMPORT[7:]), (OURS, OURS))]


IMPORT = "import numpy, scipy.special"

TASKS = (
    Task(
        "CSV of 10⁶ rows to an Analysis",
        1_000_000,
        20_000,
        READ,
        from_csv(analysis_of, lambda a: a.ece),
        targets=(times_floor(5),),
    ),
    Task("CSV of 10⁶ rows to a report in HTML", 1_000_000, 20_000, READ, from_csv(report_of, ece_of_report)),
    Task(
        "reduce 10⁸ rows of Parquet (memory: peak of the process)",
        100_000_000,
        50_000,
        SCAN,
        from_parquet(SCAN, "scan", "reduce"),
        targets=(times_floor(2), megabytes(700, "peak memory")),  # half the throughput is twice the time
        missing=without(),
        memory=False,
    ),
    Task(
        "reduce 10⁸ rows of Parquet, with Numba (memory: peak of the process)",
        100_000_000,
        None,
        SCAN,
        from_parquet(SCAN, "scan", "reduce_with_numba"),
        targets=(times_floor(2), megabytes(700, "peak memory")),
        missing=without("numba"),
        memory=False,
    ),
    Task(
        "reduce 10⁷ rows by Spark, local[2] (memory: peak of the driver)",
        10_000_000,
        None,
        "reduce of the file",
        from_parquet("reduce of the file", "reduce", "spark"),
        targets=(correct("counts equal, sums to 1e-12"),),
        missing=without("pyspark", java=True),
        memory=False,
    ),
    Task("import calibcore", 1, 1, IMPORT, in_memory(imports), targets=(times_floor(1.5),), memory=False),
)
