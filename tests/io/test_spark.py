"""Profiles reduced on Spark equal those of NumPy, and no row reaches the driver but a sample."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from on_clusters import binary_rows, class_rows, grouped_rows, missing, same_binary, same_classes, same_groups, with_value

import calibcore as cc
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import spark as under_test
from calibcore.io.mapping import Mapping
from calibcore.io.spark import reduced_spark, reduced_spark_paths
from calibcore.io.streams import Plan

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # of py4j
]
N = 10_000_000 if os.environ.get("CALIBCORE_FULL_SPARK") == "1" else 200_000
FEW = 20_000
JAVA = 17
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # what runs for seconds is not worth much compiling
    "spark.sql.shuffle.partitions": "2",
}


def java_version() -> int:
    """The Java that Spark would start; 0 if there is none."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        return 0
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    if importlib.util.find_spec("pyspark") is None:
        missing('PySpark is not installed: python -m pip install "calibcore[spark]"')
    if java_version() < JAVA:
        missing(f"Spark needs Java {JAVA} or later; found {java_version() or 'none'}")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    return binary_rows(N)


@pytest.fixture(scope="module")
def frame(spark: Any, rows: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The rows as several files of Parquet."""
    folder = tmp_path_factory.mktemp("rows")
    for i, start in enumerate(range(0, N, N // 4)):
        pq.write_table(rows.slice(start, N // 4), folder / f"{i}.parquet")
    return spark.read.parquet(str(folder))


def test_same_cells_as_numpy(frame: Any, rows: pa.Table) -> None:
    [model] = reduced_spark(frame, name="scores")
    assert (model.name, model.n, model.has_rows) == ("scores", N, False)
    same_binary(model, rows)


def test_workers_reduce_and_not_the_driver(frame: Any, rows: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan.of(rows.slice(0, 1000), name="scores")
    # Functions travel by their names, so this one stands in the driver's process alone.
    monkeypatch.setattr(under_test, "handed_over", None)
    cells = frame.mapInArrow(partial(under_test._cells, plan, ("y", "p")), under_test._schema())
    totals = cells.filter("cell = -1 and view = 'positive'").toArrow()
    assert totals.num_rows > 1  # of as many partitions
    assert sum(totals["rows"].to_pylist()) == N
    assert sum(totals["events"].to_pylist()) == int(rows["y"].to_numpy().sum())


def test_groups_weights_and_a_model_that_the_sample_lacks(spark: Any) -> None:
    rows = grouped_rows(FEW * 4)
    frame = spark.createDataFrame(rows).coalesce(1)  # so that the last rows are in no sample
    same_groups(reduced_spark(frame, Mapping(model="model", weight="w", groups=("region",))), rows)


def test_four_classes_in_float32(spark: Any) -> None:
    rows = class_rows(FEW)
    [model] = reduced_spark(spark.createDataFrame(rows), name="animals")
    same_classes(model, rows)


def test_views_that_are_asked_for(spark: Any) -> None:
    [model] = reduced_spark(spark.createDataFrame(binary_rows(1000)), views=["positive"])
    assert model.views == ("positive", "class:0", "class:1")


def test_more_partitions_than_rows(spark: Any) -> None:
    rows = pa.table({"y": [0, 1, 1], "p.of.one": [0.25, 0.5, 1.0]})
    [model] = reduced_spark(spark.createDataFrame(rows).repartition(8))
    assert model.n == 3
    # |0 − 1/4| + |1 − 1/2| + |1 − 1| over three rows, each in a bin of its own
    assert model.profile("positive").bin(cc.Partition.equal_width(4)).ece == pytest.approx(0.25)


def test_parts_without_a_row_to_judge_count_as_left_out(spark: Any) -> None:
    rows = binary_rows(4000).append_column("split", pa.array(["test"] * 1000 + ["train"] * 3000))
    frame = spark.createDataFrame(rows)
    with pytest.raises(AmbiguousLayout, match="Which rows are to be judged"):
        reduced_spark(frame)
    [model] = reduced_spark(frame, Mapping(rows="split=test"))
    assert (model.n, model.n_excluded) == (1000, 3000)


def test_a_fault_in_one_partition_is_a_sentence(spark: Any) -> None:
    frame = spark.createDataFrame(with_value(binary_rows(200_000), 150_000, "p", 1.7))
    with pytest.raises(InputError) as caught:
        reduced_spark(frame, name="scores")
    # Two partitions of 100,000 rows: row 150,000 is row 50,000 of the second.
    assert str(caught.value).startswith("In rows 1 to 100,000 of scores, counted within a worker's share: Row 50")
    assert "1.7" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_worker_must_ask_is_a_question(spark: Any) -> None:
    frame = spark.createDataFrame(with_value(with_value(binary_rows(60_000), 59_000, "y", None), 100, "y", None))
    with pytest.raises(AmbiguousLayout) as caught:
        reduced_spark(frame, name="scores")
    [question] = caught.value.questions
    assert (question.id, question.options, question.flag) == ("missing", ("drop",), "--missing")
    assert question.text.startswith("2 of 60,000 rows have no label in 'y'. Leave such rows out (--missing drop)")
    [model] = reduced_spark(frame, Mapping(missing="drop"), name="scores")
    assert (model.n, model.n_excluded) == (59_998, 2)


def test_no_rows(spark: Any) -> None:
    with pytest.raises(InputError, match="no rows"):
        reduced_spark(spark.createDataFrame(binary_rows(10)).filter("p > 2"))


def test_too_many_groups_in_all_partitions_together(spark: Any) -> None:
    rows = binary_rows(80).append_column("site", pa.array([f"s{i}" for i in range(80)]))
    with pytest.raises(InputError, match="more than 50 different values"):
        reduced_spark(spark.createDataFrame(rows), Mapping(groups=("site",)))


def test_lines_of_the_readme(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = binary_rows(1000).rename_columns(["y", "score"])
    pq.write_table(rows, tmp_path / "scores.parquet")
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (lines,) = (b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "spark.read" in b)
    exec(lines.replace("s3://bucket/scores/", str(tmp_path / "scores.parquet")), {"cc": cc, "spark": spark})
    assert cc.Profile.read("model.profile.parquet").n == 1000


@pytest.mark.parametrize("kind", ["parquet", "csv", "semicolons"])
def test_files(spark: Any, tmp_path: Path, kind: str) -> None:
    rows = binary_rows(5000)
    for i, part in enumerate((rows.slice(0, 3000), rows.slice(3000))):
        path = tmp_path / f"{i}.{kind}"
        if kind == "parquet":
            pq.write_table(part, path)
        elif kind == "csv":
            pc.write_csv(part, path)
        else:
            lines = [f"{y};{str(p).replace('.', ',')}" for y, p in zip(part["y"].to_pylist(), part["p"].to_pylist(), strict=True)]
            path.write_text("\n".join(["y;p", *lines]))
    [model] = reduced_spark_paths([tmp_path], name="scores", master="local[2]")
    same_binary(model, rows)


def test_files_that_cannot_be_read_in_parts(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="finds no files"):
        reduced_spark_paths([tmp_path / "none.parquet"])
    (tmp_path / "scores.csv").write_text("".join(f"{i % 2},0.{i}\n" for i in range(10, 99)))
    with pytest.raises(InputError, match="does not begin with the names of its columns"):
        reduced_spark_paths([tmp_path / "scores.csv"], name="scores.csv")


def test_vectors_of_spark_ml(spark: Any) -> None:
    from pyspark.ml.linalg import Vectors

    values = [(float(i % 2), Vectors.dense(1 - i / 100, i / 100)) for i in range(101)]
    [model] = reduced_spark(spark.createDataFrame(values, ["label", "probability"]))
    p = np.array([1 - np.arange(101) / 100, np.arange(101) / 100]).T
    expected = cc.Predictions.from_arrays(np.arange(101) % 2, p)
    partition = cc.Partition.equal_width(10)
    found, exact = (m.profile("positive").bin(partition) for m in (model, expected))
    assert found.count.tolist() == exact.count.tolist()
    assert found.ece == pytest.approx(exact.ece, rel=1e-12)


@pytest.mark.parametrize("row", ["1,0.5,a,9", "1"])
def test_a_row_with_other_cells_than_the_header_is_refused(spark: Any, tmp_path: Path, row: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["label,probability,note", *["1,0.25,a", "0,0.75,b"] * 40_000, row, "0,0.5,a\n"]))
    with pytest.raises(InputError, match="more or fewer cells than the header"):
        reduced_spark_paths([path])
