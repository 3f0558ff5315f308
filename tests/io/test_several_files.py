"""Several files as one source: of any kinds where their columns are the same, and else a sentence that says what differs where."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

import calibcore as cc

N = 600


@pytest.fixture
def rows():
    """Labels and probabilities of N rows."""
    rng = np.random.default_rng(11)
    p = rng.integers(1, 1000, N) / 1000
    return (rng.random(N) < p).astype(int), p


def text(rows, separator=",", header=("label", "probability"), written=str):
    label, p = rows
    cells = {"label": [str(y) for y in label], "probability": [written(float(v)) for v in p], "x": ["1"] * len(p)}
    lines = zip(*(cells["probability" if h == "score" else h] for h in header), strict=True)
    return "\n".join([separator.join(header), *map(separator.join, lines)]) + "\n"


KINDS = {
    "commas": ("csv", lambda rows: text(rows).encode()),
    "tabs": ("tsv", lambda rows: text(rows, "\t").encode()),
    "other order": ("csv", lambda rows: text(rows, header=("probability", "label")).encode()),
    "packed": ("csv.gz", lambda rows: gzip.compress(text(rows).encode())),
    "decimal comma": ("csv", lambda rows: text(rows, ";", written=lambda v: str(v).replace(".", ",")).encode()),
    "lines of JSON": (
        "jsonl",
        lambda rows: "".join(f'{{"label": {y}, "probability": {p}}}\n' for y, p in zip(*rows, strict=True)).encode(),
    ),
}


def saved(path, rows):
    """A file of a kind that pyarrow writes; its end says which."""
    table = pa.table({"label": rows[0], "probability": rows[1]})
    pq.write_table(table, path) if path.suffix == ".parquet" else pf.write_feather(table, path)


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", [*KINDS, "parquet", "feather"])
def test_files_of_different_kinds_are_one_source(tmp_path, rows, first, second):
    half = N // 2
    one, other = (tuple(c[:half] for c in rows), tuple(c[half:] for c in rows))
    end, write = KINDS[first]
    (tmp_path / f"a.{end}").write_bytes(write(one))
    if second in KINDS:
        end, write = KINDS[second]
        (tmp_path / f"b.{end}").write_bytes(write(other))
    else:
        saved(tmp_path / f"b.{second}", other)
    found, whole = cc.reduce(tmp_path, view="positive"), cc.Predictions.from_arrays(*rows).profile("positive").to_reduced()
    assert found.count.tolist() == whole.count.tolist()
    assert found.positive.tolist() == whole.positive.tolist()
    np.testing.assert_allclose(found.value, whole.value, rtol=1e-12)


def test_arrow_files_with_columns_in_another_order(tmp_path, rows):
    table = pa.table({"label": rows[0], "probability": rows[1]})
    pf.write_feather(table, tmp_path / "a.feather")
    pf.write_feather(table.select(["probability", "label"]), tmp_path / "b.feather")
    assert cc.reduce(tmp_path).n == 2 * N


WITHOUT_NAMES = "b.csv does not begin with the names of its columns, as a.csv does. Write them above its rows."
DIFFERENT = {
    "another column": (
        lambda rows: text(rows, header=("label", "score")),
        "b.csv has other columns than a.csv: it lacks probability and has also score. Reduce files with the same columns together",
    ),
    "one more": (lambda rows: text(rows, header=("label", "probability", "x")), "b.csv has other columns than a.csv: it has also x."),
    "no header": (lambda rows: text(rows).partition("\n")[2], WITHOUT_NAMES),
    "percent signs": (
        lambda rows: text(rows, written=lambda v: f"{100 * v:.1f}%"),
        "Column 'probability' is written with % in b.csv and without in a.csv. Write both in one way.",
    ),
}


@pytest.mark.parametrize(("write", "told"), DIFFERENT.values(), ids=list(DIFFERENT))
def test_what_differs_is_told(tmp_path, rows, write, told):
    (tmp_path / "a.csv").write_text(text(rows))
    (tmp_path / "b.csv").write_text(write(rows))
    with pytest.raises(cc.InputError) as error:
        cc.reduce(tmp_path)
    assert str(error.value).startswith(told)


def test_words_among_numbers_are_told(tmp_path, rows):
    saved(tmp_path / "a.parquet", rows)
    (tmp_path / "b.csv").write_text(text((np.where(rows[0] == 1, "yes", "no"), rows[1])))
    told = r"Column 'label' holds string in b\.csv and int64 in a\.parquet\. Save both in one type, or reduce the files apart\."
    with pytest.raises(cc.InputError, match=told):
        cc.reduce(tmp_path)


@pytest.mark.parametrize("end", ["parquet", "feather"])
def test_profiles_among_the_files_of_a_folder_are_passed_over(tmp_path, rows, end):
    saved(tmp_path / f"rows.{end}", rows)
    for source in (tmp_path, tmp_path, str(tmp_path / "*")):  # the first time there is none
        models = cc.reduce_models(source)
        assert models[0].n == N
        cc.write_profiles(models, tmp_path / "out.profile.parquet")
    assert models[0].notes == ("Passed over, since profiles: out.profile.parquet.",)
    told = r"^out\.profile\.parquet is a profile file already"
    with pytest.raises(cc.InputError, match=told):
        cc.reduce([tmp_path / f"rows.{end}", tmp_path / "out.profile.parquet"])
    (tmp_path / f"rows.{end}").unlink()
    with pytest.raises(cc.InputError, match=told):
        cc.reduce(tmp_path)
