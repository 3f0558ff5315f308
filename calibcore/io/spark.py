"""Reduced profiles of data on Spark: every partition is reduced where it lies, and one aggregation adds the cells."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from calibcore.errors import InputError
from calibcore.io.cell_table import KEYS, SUMS, empty
from calibcore.io.handed_over import EACH, Clustered, handed_over, joined
from calibcore.io.mapping import Mapping
from calibcore.io.parted_files import RAGGED, Parted
from calibcore.io.streams import Plan
from calibcore.predictions import Predictions

__all__ = ["reduced_spark", "reduced_spark_paths"]

_TYPES = {"string": "string", "int32": "int", "int64": "bigint", "double": "double"}
_FIRST = 12_000  # rows of the first partition that are looked at; π²/6 times as many, and two a partition, of all
_SHORT = 100_000  # rows of a partition that are read faster than another Python starts
_LINES = 100  # that tell how a text is written
_MISSING = "No module named 'calibcore'"
_MALFORMED = "MALFORMED_CSV_RECORD"
_NO_WORKERS = (
    "The Python of Spark's workers has no calibcore. Install it on every executor, in the Python that PYSPARK_PYTHON names: "
    'python -m pip install "calibcore[spark]"'
)


def reduced_spark(
    frame: Any, mapping: Mapping | None = None, *, name: str = "data", views: Sequence[str] | None = None
) -> list[Predictions]:
    """The models in a PySpark data frame, each known from reduced profiles; no rows leave the executors but a small sample.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Classic or of Spark Connect.
    mapping, name, views
        As of `calibcore.io.handed_over.Clustered.models`.

    Raises
    ------
    AmbiguousLayout, InputError
        As there; and if the executors have no calibcore.

    Notes
    -----
    The sample is the beginning of every partition, most of the first.  Then `calibcore.io.streams.reduced` runs in
    ``mapInArrow``, and one ``groupBy`` adds what the partitions hand over: at most 17,057 cells a view, however many rows.
    """
    if not hasattr(frame, "toArrow"):
        raise InputError("Reducing on Spark needs PySpark 4.0 or later. Update it.")
    with _worded():
        return _clustered(frame).models(mapping, name, views)


def _clustered(frame: Any) -> Clustered:
    """A data frame as the driver deals with it."""
    names = list(frame.columns)
    number = {name: f"c{i}" for i, name in enumerate(names)}
    numbered = frame.toDF(*(f"c{i}" for i in range(len(names))))  # mapInArrow fails where a name holds a dot

    def cells(plan: Plan) -> Any:
        columns = plan.columns if set(plan.columns) <= set(names) else tuple(names)
        used = numbered.select([number[c] for c in columns])
        return _summed(used.mapInArrow(partial(_cells, plan, columns), _schema())).toArrow()

    def with_each(column: str) -> Any:
        return numbered.dropDuplicates([number[column]]).limit(EACH).toArrow().rename_columns(names)

    return Clustered(numbered.mapInArrow(_heads, numbered.schema).toArrow().rename_columns(names), cells, with_each)


def _heads(batches: Iterable[Any]) -> Iterator[Any]:
    """The first rows of a partition, fewer the later it comes, so that a sample of ten thousand partitions stays small.

    Short partitions are read to their end, since Spark starts a new Python after one that stops before.
    """
    left, read = max(2, _FIRST // (_partition() + 1) ** 2), 0
    for batch in batches:
        if left > read:
            yield batch.slice(0, left - read)
        read += len(batch)
        if read > _SHORT:
            return


def _cells(plan: Plan, columns: Sequence[str], batches: Iterable[Any]) -> Iterator[Any]:
    """What one partition hands over; runs on an executor."""
    named = (batch.rename_columns(list(columns)) for batch in batches)
    yield from handed_over(plan, joined(named), _partition()).to_batches()


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _schema() -> str:
    """The columns of a cell table as Spark writes them."""
    return ", ".join(f"`{f.name}` {_TYPES[str(f.type)]}" for f in empty().schema)


def _summed(cells: Any) -> Any:
    from pyspark.sql import functions as f

    return cells.groupBy(*KEYS).agg(*(f.sum(c).alias(c) for c in SUMS)).select(*KEYS, *SUMS)


@contextmanager
def _worded() -> Iterator[None]:
    """What a user can mend, in a sentence instead of the JVM's pages."""
    try:
        yield
    except Exception as error:  # PySpark's own, or py4j's where rows are on their way
        if _MISSING in str(error):
            raise InputError(_NO_WORKERS) from None
        if _MALFORMED in str(error):
            raise InputError(RAGGED) from None
        raise


def reduced_spark_paths(
    paths: Sequence[Any],
    mapping: Mapping | None = None,
    *,
    name: str = "data",
    views: Sequence[str] | None = None,
    master: str | None = None,
) -> list[Predictions]:
    """The models in files or folders of Parquet or delimited text that Spark can reach, all with the same columns.

    Parameters
    ----------
    paths : sequence of str or path
    mapping, name, views
        As for `reduced_spark`.
    master : str, optional
        The cluster; by default that of the running session, else all cores of this machine.

    Raises
    ------
    AmbiguousLayout, InputError
        As `reduced_spark`; and if Spark is not installed, cannot start, or finds no such files.
    """
    with _session(master) as spark, _worded():
        return reduced_spark(_opened(spark, [str(p) for p in paths], name), mapping, name=name, views=views)


@contextmanager
def _session(master: str | None) -> Iterator[Any]:
    """The running session, or one that ends afterwards."""
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError('Reducing on Spark needs PySpark, which is not installed: python -m pip install "calibcore[spark]"') from None
    running = SparkSession.getActiveSession()
    if running is not None and master is None:
        yield running
        return
    where = master or "local[*]"
    builder = SparkSession.builder.appName("calibcore").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    if where.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.config("spark.driver.host", "127.0.0.1")  # nobody else needs to reach it
    try:
        spark = builder.master(where).getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise InputError("Spark did not start. It needs Java 17 or later: check `java -version` and JAVA_HOME.") from None
    try:
        yield spark
    finally:
        if running is None:
            spark.stop()


def _opened(spark: Any, paths: list[str], name: str) -> Any:
    """The files as a data frame: Parquet with its types, text as it is written."""
    from pyspark.errors import AnalysisException

    try:
        start = [row.value for row in spark.read.text(paths).head(_LINES)]
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        raise InputError(f"Spark finds no files at {', '.join(paths)}.") from None
    parted = Parted.of("\n".join(start), name)
    if parted is None:
        return spark.read.parquet(*paths)
    strict = {"mode": "FAILFAST", "columnPruning": False}  # else a row with other cells than the header's is cut or filled up
    return parted.checked(
        spark.read.options(**strict).csv(paths, header=True, sep=parted.separator, quote='"', escape='"', enforceSchema=False)
    )
