"""Big files read as small ones: the same predictions, only the cells that are needed, texts first and one type a column."""

from __future__ import annotations

import dataclasses
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.errors import InputError
from calibcore.io import big_text, parquet_columns
from calibcore.io.columns import Column
from calibcore.io.containers import open_tables

N = 400


@pytest.fixture
def small(monkeypatch):
    """Every file counts as big, and the first look sees a few rows."""
    monkeypatch.setattr(big_text, "_BIG", 0)
    monkeypatch.setattr(big_text, "_SAMPLE", 4000)
    monkeypatch.setattr(parquet_columns, "_FIRST", 10)


def cells(n=N, seed=3):
    """Columns of a file: two classes, with ids, a group, a feature and a note."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.uniform(0.001, 0.999, n), 6)
    return {
        "id": [f"case-{i}" for i in range(n)],
        "site": [["north", "south"][i] for i in rng.integers(0, 2, n)],
        "label": (rng.random(n) < p).astype(int).tolist(),
        "probability": p.tolist(),
        "feature_1": np.round(rng.normal(size=n), 3).tolist(),
        "feature_2": np.round(rng.normal(size=n), 3).tolist(),
        "note": ["a few words"] * n,
    }


def classes(n=N, k=4):
    """A label and one column for each class."""
    rng = np.random.default_rng(4)
    p = np.round(rng.dirichlet(np.ones(k), n), 6)
    return {"label": rng.integers(0, k, n).tolist(), **{f"prob_{i}": p[:, i].tolist() for i in range(k)}}


def text(columns, separator=",", end="\n"):
    lines = [separator.join(columns), *(separator.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return (end.join(lines) + end).encode()


def parquet(columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, row_group_size=150)
    return file.getvalue()


def told(predictions):
    """Everything that predictions say, as plain data."""
    found = {f.name: getattr(predictions, f.name) for f in dataclasses.fields(predictions) if f.name != "_memo"}
    return {k: (v.dtype.kind, v.tolist()) if isinstance(v, np.ndarray) else v for k, v in found.items() if k != "groups"} | {
        "groups": {k: v.tolist() for k, v in predictions.groups.items()}
    }


def plainly(data, mapping, monkeypatch):
    with monkeypatch.context() as m:
        m.setattr(big_text, "_BIG", 1 << 40)
        m.setattr(parquet_columns, "_FIRST", 1 << 40)
        return [told(p) for p in cc.read(data, mapping=mapping)]


@pytest.mark.parametrize("make", [cells, classes], ids=["one probability", "a column a class"])
@pytest.mark.parametrize(
    "write", [text, lambda c: text(c, ";"), lambda c: text(c, "\t", "\r\n"), parquet], ids=["csv", "semicolons", "tsv", "parquet"]
)
@pytest.mark.parametrize("mapping", [cc.Mapping(), cc.Mapping(label="label", groups=())], ids=["found", "named"])
@pytest.mark.usefixtures("small")
def test_the_same_predictions(make, write, mapping, monkeypatch):
    data = write(make())
    assert [told(p) for p in cc.read(data, mapping=mapping)] == plainly(data, mapping, monkeypatch)


ODD = {
    "missing": ("", "missing"),
    "NA": ("NA", "missing"),
    "text": ("unknown", "not a number"),
    "infinite": ("inf", "outside"),
    "above one": ("1.7", None),
    "blank": (" 0.5 ", None),
    "plus": ("+0.5", None),
    "percent": ("50%", None),
    "quoted": ('"0.5"', None),
    "quoted line": ('"0.5\n"', None),
    "whole": ("1", None),
    "tiny": ("1e-300", None),
}


@pytest.mark.parametrize("cell", [c for c, _ in ODD.values()], ids=list(ODD))
@pytest.mark.parametrize("column", ["probability", "feature_1", "label", "id"])
@pytest.mark.usefixtures("small")
def test_one_odd_cell_far_below_changes_nothing(cell, column, monkeypatch):
    """A column is a number only if all its cells are; what one cell far below the first look does is the same as in a small file."""
    columns = cells()
    columns[column][N - 3] = cell
    data = text(columns)

    def outcome(read):
        try:
            return read()
        except InputError as error:
            return str(error), error.row, error.column

    assert outcome(lambda: [told(p) for p in cc.read(data)]) == outcome(lambda: plainly(data, None, monkeypatch))


@pytest.mark.parametrize("tail", [b"1,0.5\n", b"x,north,1,0.5,1,1,a,b\n", b'y,north,1,0.5,1,1,"open\n', b"\n\n", b",,,,,,\n"])
@pytest.mark.usefixtures("small")
def test_one_odd_row_at_the_end_changes_nothing(tail, monkeypatch):
    data = text(cells()) + tail

    def outcome(read):
        try:
            return read()
        except InputError as error:
            return str(error), error.row, error.column

    assert outcome(lambda: [told(p) for p in cc.read(data)]) == outcome(lambda: plainly(data, None, monkeypatch))


@given(
    st.lists(
        st.sampled_from(["0.5", ".25", "1", "0", "1e-3", "-0.5", "", "NA", " 0.5", "x", "0,5", "nan", "1_0"]), min_size=12, max_size=40
    )
)
def test_any_cells(found):
    """Whatever the cells are: read as in a small file, or refused with the same words."""
    rows = [f"{i % 2};{c}" for i, c in enumerate(["0.5"] * 8 + found)]
    data = ("label;probability\n" + "\n".join(rows) + "\n").encode()

    def outcome():
        try:
            return [told(p) for p in cc.read(data)]
        except InputError as error:
            return str(error)

    with pytest.MonkeyPatch.context() as m:
        plain = outcome()
        m.setattr(big_text, "_BIG", 0)
        m.setattr(big_text, "_SAMPLE", 60)
        assert outcome() == plain


@pytest.mark.usefixtures("small")
def test_texts_of_decimals_are_not_made(monkeypatch):
    """Decimals are parsed as numbers once; their texts are read only when a rule asks for them."""
    asked = []
    whole = big_text.Cells.whole
    monkeypatch.setattr(big_text.Cells, "whole", lambda self, name: asked.append(name) or whole(self, name))
    (p,) = cc.read(text(cells()))
    assert p.n == N
    assert asked == []
    (table,) = open_tables(text(cells()), "a.csv")
    assert table.column("probability").array.to_pylist() == [str(v) for v in cells()["probability"]]
    assert table.column("feature_1").names().distinct[0] == str(cells()["feature_1"][0])
    assert asked == ["probability", "feature_1"]
    assert len(table.column("feature_2").array) == N


@pytest.mark.usefixtures("small")
def test_parquet_loads_only_what_is_needed(monkeypatch):
    """Ids, groups, label and probability are needed; features and notes are looked at in the first rows."""
    loaded = set()
    load = parquet_columns.Store._load
    monkeypatch.setattr(parquet_columns.Store, "_load", lambda self, name, wanted: loaded.update(wanted) or load(self, name, wanted))
    (p,) = cc.read(parquet({k: v for k, v in cells(20_000).items() if k != "note"}))
    assert p.n == 20_000
    assert {"label", "probability", "id", "site"} <= loaded
    assert not {"feature_1", "feature_2"} & loaded


@pytest.mark.usefixtures("small")
def test_columns_of_classes_are_loaded_together(monkeypatch):
    calls = []
    load = parquet_columns.Store._load
    monkeypatch.setattr(parquet_columns.Store, "_load", lambda self, name, wanted: calls.append(wanted) or load(self, name, wanted))
    cc.read(parquet(classes()))
    assert sorted(map(sorted, calls)) == [["label"], ["prob_0", "prob_1", "prob_2", "prob_3"]]


def column(values, **kind):
    array = pa.array(values, **kind)
    return Column("c", "text" if pa.types.is_string(array.type) else "number", lambda: array)


@pytest.mark.parametrize(
    ("values", "different"),
    [
        (["a9", "a10", "a11"], 3),
        (["a", "b", "b"], 2),
        (["b", "a"], 2),
        (["10", "9", "10"], 2),
        ([1, 2, 30], 3),
        ([3, 2, 3], 2),
        ([1, None, 2], 3),
        (["only"], 1),
    ],
)
def test_different_cells(values, different):
    assert column(values).n_different() == different


@given(st.lists(st.sampled_from("01ab"), min_size=1, max_size=30), st.integers(0, 5))
def test_letters_are_encoded_as_other_texts(letters, start):
    """Many texts of one letter are taken from their bytes: the same names in the same order."""
    many = (letters * 1100)[: 1000 + len(letters)]
    array = pa.array(["skipped"] * start + many).slice(start)
    distinct, code = Column("c", "text", lambda: array).encoded()
    names = distinct.to_pylist()
    assert names == list(dict.fromkeys(many))
    assert [names[c] for c in code] == many


@pytest.mark.parametrize("k", [2, 3, 70])
def test_largest(k):
    """The first of the largest values, and how many rows have several, over more rows than one part holds."""
    p = np.round(np.random.default_rng(k).random((40_000 // k * 3, k)), 2)
    place, value, tied = cc.checks.largest(p)
    assert np.array_equal(place, np.argmax(p, axis=1))
    assert np.array_equal(value, p.max(axis=1))
    assert tied == sum(list(row).count(max(row)) > 1 for row in p.tolist())


def test_complement_in_parts():
    p = np.round(np.random.default_rng(0).random(50_001), 3)
    parts = [cc.checks.complement(part) for part in np.array_split(p, 17)]
    assert np.array_equal(cc.checks.complement(p), np.concatenate(parts))
