"""Profiles reduced on Dask equal those of NumPy, and no row reaches the driver but a sample."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from on_clusters import binary_rows, class_rows, grouped_rows, missing, same_binary, same_classes, same_groups, same_profile, with_value

import calibcore as cc
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import dask_frames as under_test
from calibcore.io.dask_frames import reduced_dask, reduced_dask_paths
from calibcore.io.mapping import Mapping

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index is deprecated")  # of Dask with pandas 3.1


@pytest.fixture(scope="module")
def dd() -> Any:
    if importlib.util.find_spec("dask") is None:
        missing('Dask is not installed: python -m pip install "calibcore[dask]"')
    import dask.dataframe

    return dask.dataframe


def test_same_cells_as_numpy(dd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = binary_rows(200_000)
    seen = []
    reduce_part = under_test._cells

    def counting(plan: Any, part: pd.DataFrame, number: int) -> pa.Table:
        seen.append((number, len(part)))
        return reduce_part(plan, part, number)

    monkeypatch.setattr(under_test, "_cells", counting)
    [model] = reduced_dask(dd.from_pandas(rows.to_pandas(), npartitions=40), name="scores")  # more than are added at once
    assert (model.name, model.n, model.has_rows) == ("scores", 200_000, False)
    same_binary(model, rows)
    assert sorted(seen) == [(i, 5000) for i in range(40)]


def test_groups_weights_and_a_model_that_the_sample_lacks(dd: Any) -> None:
    rows = grouped_rows(80_000)
    frame = dd.from_pandas(rows.to_pandas(), npartitions=1)  # so that the last rows are in no sample
    same_groups(reduced_dask(frame, Mapping(model="model", weight="w", groups=("region",))), rows)


def test_four_classes_in_float32(dd: Any) -> None:
    rows = class_rows(20_000)
    [model] = reduced_dask(dd.from_pandas(rows.to_pandas(), npartitions=3), name="animals")
    same_classes(model, rows)


def test_float16_stays_exact(dd: Any) -> None:
    frame = pd.DataFrame({"y": [0, 1, 1, 1], "p": np.array([0.25, 0.25, 0.75, 1.0], dtype=np.float16)})
    [model] = reduced_dask(dd.from_pandas(frame, npartitions=2))
    profile = model.profile("positive")
    assert profile.inside is None
    assert profile.value.dtype == np.float16
    assert [a.tolist() for a in (profile.value, profile.count, profile.positive)] == [[0.25, 0.75, 1.0], [2, 1, 1], [1, 1, 1]]


def test_the_index_may_hold_the_label(dd: Any) -> None:
    frame = pd.DataFrame({"label": [0, 1, 1], "p": [0.25, 0.5, 1.0]}).set_index("label")
    [model] = reduced_dask(dd.from_pandas(frame, npartitions=2))
    # |0 − 1/4| + |1 − 1/2| + |1 − 1| over three rows, each in a bin of its own
    assert model.profile("positive").bin(cc.Partition.equal_width(4)).ece == pytest.approx(0.25)


def test_views_that_are_asked_for(dd: Any) -> None:
    [model] = reduced_dask(dd.from_pandas(binary_rows(1000).to_pandas(), npartitions=2), views=["positive"])
    assert model.views == ("positive", "class:0", "class:1")


def test_parts_without_a_row_to_judge_count_as_left_out(dd: Any) -> None:
    rows = binary_rows(4000).append_column("split", pa.array(["test"] * 1000 + ["train"] * 3000))
    frame = dd.from_pandas(rows.to_pandas(), npartitions=4)
    with pytest.raises(AmbiguousLayout, match="Which rows are to be judged"):
        reduced_dask(frame)
    [model] = reduced_dask(frame, Mapping(rows="split=test"))
    assert (model.n, model.n_excluded) == (1000, 3000)
    with pytest.raises(InputError, match="no rows"):
        reduced_dask(frame[frame.p > 2])


def test_empty_partitions_are_passed_over(dd: Any) -> None:
    rows = binary_rows(4000)
    frame = dd.from_pandas(rows.append_column("part", pa.array(np.arange(4000) // 1000)).to_pandas(), npartitions=4)
    [model] = reduced_dask(frame[frame.part == 2][["y", "p"]])  # neither the first nor the middle nor the last
    same_binary(model, rows.slice(2000, 1000))


def test_a_fault_in_one_partition_is_a_sentence(dd: Any) -> None:
    rows = with_value(binary_rows(200_000), 150_000, "p", 1.7)
    with pytest.raises(InputError) as caught:
        reduced_dask(dd.from_pandas(rows.to_pandas(), npartitions=4), name="scores")
    # Four partitions of 50,000 rows: row 150,000 is the last of the third.
    assert str(caught.value).startswith("In rows 1 to 50,000 of scores, counted within a worker's share: Row 50")
    assert "1.7" in str(caught.value)


def test_what_a_worker_must_ask_is_a_question(dd: Any) -> None:
    rows = with_value(with_value(binary_rows(60_000), 59_000, "p", None), 100, "p", None)
    frame = dd.from_pandas(rows.to_pandas(), npartitions=2)
    with pytest.raises(AmbiguousLayout) as caught:
        reduced_dask(frame, name="scores")
    [question] = caught.value.questions
    assert (question.id, question.options, question.flag) == ("missing", ("drop",), "--missing")
    assert question.text.startswith("2 of 60,000 rows have no value in 'p'. Leave such rows out (--missing drop)")
    [model] = reduced_dask(frame, Mapping(missing="drop"), name="scores")
    assert (model.n, model.n_excluded) == (59_998, 2)


def test_a_weight_that_is_lost_beside_one_of_another_partition_is_refused(dd: Any) -> None:
    weight = np.where(np.arange(4000) < 2000, 1e-13, 1.0)
    frame = dd.from_pandas(binary_rows(4000).append_column("w", pa.array(weight)).to_pandas(), npartitions=2)
    with pytest.raises(InputError, match=r"^The weight 1e-13 is less than 1e-12 of the largest, so it would be lost"):
        reduced_dask(frame, Mapping(weight="w"))


def test_too_many_groups_in_all_partitions_together(dd: Any) -> None:
    rows = binary_rows(80).append_column("site", pa.array([f"s{i}" for i in range(80)]))
    with pytest.raises(InputError, match="more than 50 different values"):
        reduced_dask(dd.from_pandas(rows.to_pandas(), npartitions=2), Mapping(groups=("site",)))


def test_rows_of_one_model_that_say_different_things(dd: Any) -> None:
    n = 40_000
    rng = np.random.default_rng(3)
    true = rng.choice(np.array(["no", "yes"]), n)
    predicted = np.where(rng.random(n) < 0.8, true, "yes")
    frame = pd.DataFrame({"label": true, "predicted": predicted, "confidence": rng.uniform(0.5, 1, n)})
    frame.loc[n - 1, "confidence"] = 0.4  # no confidence in the likelier of two classes
    [model] = reduced_dask(dd.from_pandas(frame, npartitions=2), name="scores")
    assert (model.task, model.views) == ("top_label", ("top_label",))
    exact = cc.Predictions.from_top_label(frame["confidence"], frame["predicted"] == frame["label"])
    same_profile(model.profile("top_label"), exact.profile("top_label"))
    with pytest.raises(InputError, match="has no view 'positive'; it has 'top_label'"):
        reduced_dask(dd.from_pandas(frame, npartitions=2), name="scores", views=["positive"])


def test_a_label_that_the_sample_lacks(dd: Any) -> None:
    n = 60_000
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"label": rng.choice(["a", "b", "c"], n), "predicted": rng.choice(["a", "b", "c"], n)})
    frame["confidence"] = rng.random(n)
    frame.loc[15_000, "label"] = "d"
    [model] = reduced_dask(dd.from_pandas(frame, npartitions=4))
    exact = cc.Predictions.from_top_label(frame["confidence"], frame["predicted"] == frame["label"])
    same_profile(model.profile("top_label"), exact.profile("top_label"))


def test_notes_count_the_rows_of_all_partitions(dd: Any) -> None:
    rows = binary_rows(1000).to_pandas()
    rows.loc[[0, 999], "p"] = 1 + 1e-12
    [model] = reduced_dask(dd.from_pandas(rows, npartitions=4))
    assert [n for n in model.notes if "hair" in n] == ["2 values a hair outside [0, 1] (rounding noise) were set to the nearest end."]


@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz", "semicolons"])
def test_files(dd: Any, tmp_path: Path, kind: str) -> None:
    rows = binary_rows(5000)
    for i, part in enumerate((rows.slice(0, 3000), rows.slice(3000))):
        path = tmp_path / f"{i}.{kind}"
        if kind == "parquet":
            pq.write_table(part, path)
        elif kind == "semicolons":
            lines = [f"{y};{str(p).replace('.', ',')}" for y, p in zip(part["y"].to_pylist(), part["p"].to_pylist(), strict=True)]
            path.write_text("\n".join(["y;p", *lines]))
        else:
            with pa.output_stream(path, compression="detect") as file:
                pc.write_csv(part, file)
    [model] = reduced_dask_paths([tmp_path], name="scores")
    same_binary(model, rows)
    [again] = reduced_dask_paths([tmp_path / f"{i}.{kind}" for i in (0, 1)], name="scores")
    assert again.profile("positive").totals == model.profile("positive").totals


def test_files_that_cannot_be_read_in_parts(dd: Any, tmp_path: Path) -> None:
    for name in ("none.parquet", "*.csv"):
        with pytest.raises(InputError, match="no files"):
            reduced_dask_paths([tmp_path / name])
    (tmp_path / "scores.csv").write_text("".join(f"{i % 2},0.{i}\n" for i in range(10, 99)))
    with pytest.raises(InputError, match="does not begin with the names of its columns"):
        reduced_dask_paths([tmp_path / "scores.csv"], name="scores.csv")


def test_a_row_with_too_many_cells_is_refused(dd: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["label,probability", *["1,0.25", "0,0.75"] * 40_000, "1,0.5,9,9", "0,0.5\n"]))
    with pytest.raises(InputError, match="more or fewer cells than the header"):
        reduced_dask_paths([path])
