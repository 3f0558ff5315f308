"""What only a process of its own can measure, printed as JSON: `python fresh.py memory TASK CONTESTANT ROWS`, and others below."""

# ruff: noqa: T201 - prints are what it is for

from __future__ import annotations

import ctypes
import gc
import json
import os
import re
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

STATUS = Path("/proc/self/status")


def resident(which: str) -> float:
    """Megabytes of this process: ``VmRSS``, or its peak ``VmHWM``."""
    if STATUS.exists():
        return int(re.search(rf"{which}:\s+(\d+)", STATUS.read_text())[1]) / 1024
    import resource  # where there is no /proc: the peak of the whole life stands for both

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


def forget_the_peak() -> None:
    """From here on ``VmHWM`` is the peak since now; what was freed goes back to the system first, so that its reuse shows."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def growth(run) -> float:
    """Megabytes by which the process grew at its peak during a call."""
    forget_the_peak()
    before = resident("VmRSS")
    kept = run()
    after = resident("VmHWM")
    del kept
    return max(0.0, after - before)


def traced(run) -> float:
    """Megabytes that Python and NumPy had allocated at the peak of a call."""
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / 1024**2
    finally:
        tracemalloc.stop()


def memory(task_name: str, name: str, rows: str) -> float:
    """Peak extra memory of one call, its result included, after a call on few rows has imported what it needs.

    The growth of the process; for calibcore the larger of that and of what Python's own counter saw.
    """
    from contest import OURS
    from tasks import every_task

    (task,) = (t for t in every_task() if t.name == task_name)
    with task.contestants(min(int(rows), task.small or 1000)) as few:
        next(c for c in few if c.name == name).run()
    with task.contestants(int(rows)) as everyone:
        (contestant,) = (c for c in everyone if c.name == name)
        everyone.clear()
        found = growth(contestant.run)
        return max(found, traced(contestant.run)) if name == OURS else found


def scan(path: str) -> dict:
    """Pyarrow reads every batch of a file and does nothing with it."""
    import pyarrow.dataset

    began = time.perf_counter()
    rows = sum(len(batch) for batch in pyarrow.dataset.dataset(path).scanner().to_batches())
    return {"seconds": time.perf_counter() - began, "megabytes": resident("VmHWM"), "answer": rows}


def reduce(path: str) -> dict:
    """A file becomes a profile, batch by batch, by NumPy alone."""
    sys.modules["numba"] = None  # as if it were not installed
    return reduce_with_numba(path)


def reduce_with_numba(path: str) -> dict:
    """The same with the compiled loop, whose loading counts; that of the modules does not, as it does not for a scan."""
    import pyarrow as pa
    from sums import of_profile

    import calibcore as cc

    cc.reduce(pa.table({"label": [0, 1], "p": [0.25, 0.75]}))
    began = time.perf_counter()
    profile = cc.reduce(path)
    return {"seconds": time.perf_counter() - began, "megabytes": resident("VmHWM"), "answer": of_profile(profile)}


def spark(path: str) -> dict:
    """The same where Spark has the rows: two workers on this machine."""
    from pyspark.sql import SparkSession
    from sums import of_profile

    import calibcore as cc

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers' interpreter
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        frame = session.read.parquet(path)
        began = time.perf_counter()
        profile = cc.reduce(frame)
        return {"seconds": time.perf_counter() - began, "megabytes": resident("VmHWM"), "answer": of_profile(profile)}
    finally:
        session.stop()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = {f.__name__: f for f in (memory, scan, reduce, reduce_with_numba, spark)}
    print(json.dumps(asked[sys.argv[1]](*sys.argv[2:])))
