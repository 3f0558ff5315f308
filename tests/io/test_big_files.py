"""Big files read as small ones: the same predictions, only the cells that are needed, texts first and one type a column."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import io
import os
import pickle
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore import progress
from calibcore.errors import InputError
from calibcore.io import big_text, containers, parquet_columns, read_bytes
from calibcore.io.codes import class_means, looked_up, rises
from calibcore.io.columns import Column, Span
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


def placed(cells, *columns):
    """Each cell in the column of the probability, and in one of the others by turns."""
    return [
        pytest.param(c, where, id=f"{where}-{name}")
        for i, (name, c) in enumerate(cells)
        for where in ("probability", columns[i % len(columns)])
    ]


@pytest.mark.parametrize(("cell", "column"), placed([(name, c) for name, (c, _) in ODD.items()], "feature_1", "label", "id"))
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


# --- files that are never held as a whole ---------------------------------------------------------------------------------


@pytest.fixture
def passing(small, monkeypatch):
    """Every file on disk is read as one that is too big to be held."""
    del small
    monkeypatch.setattr(containers, "_PREFIX", 2000)
    monkeypatch.setattr(progress, "_SMALL", 0)


def of_path(path, data, **options):
    path.write_bytes(data)
    return [told(p) for p in cc.read(path, **options)]


@pytest.mark.parametrize("make", [cells, classes], ids=["one probability", "a column a class"])
@pytest.mark.parametrize("write", [text, lambda c: text(c, ";", "\r\n"), parquet], ids=["csv", "semicolons", "parquet"])
@pytest.mark.usefixtures("passing")
def test_a_file_that_passes_is_read_as_its_bytes(make, write, tmp_path):
    data = write(make())
    found = of_path(tmp_path / "m", data)
    assert found == [told(p) for p in read_bytes(data, "m")]
    assert found[0]["source"]["sha256"] == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("cell", "column"), placed([*((name, c) for name, (c, _) in ODD.items()), ("letter", "Zürich"), ("open quote", '"')], "site", "id")
)
@pytest.mark.usefixtures("passing")
def test_one_odd_cell_of_a_file_that_passes_changes_nothing(cell, column, tmp_path):
    columns = cells()
    columns[column][N - 3] = cell
    data = text(columns)

    def outcome(read):
        try:
            return read()
        except InputError as error:
            return str(error), error.row, error.column

    assert outcome(lambda: of_path(tmp_path / "m.csv", data)) == outcome(lambda: [told(p) for p in read_bytes(data, "m.csv")])


@pytest.mark.usefixtures("passing")
def test_a_file_that_passes_is_not_held(tmp_path, monkeypatch):
    """Neither the bytes of the file are kept nor read twice."""
    monkeypatch.setattr(containers, "_rest", lambda *_: pytest.fail("the file was read as a whole"))
    for write in (text, parquet):
        of_path(tmp_path / "m", write(cells()))


@pytest.mark.usefixtures("passing")
def test_a_file_that_is_changed_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path, load = tmp_path / "m.parquet", parquet_columns.Store._load
    path.write_bytes(parquet(cells()))
    monkeypatch.setattr(parquet_columns.Store, "_load", lambda *a: (load(*a), os.utime(path, (1, 1))))
    with pytest.raises(InputError, match=r"m\.parquet was changed while it was read\. Read it again\."):
        cc.read(path)


@pytest.mark.usefixtures("passing")
def test_damaged_parquet_is_refused_with_its_name(tmp_path):
    (tmp_path / "m.parquet").write_bytes(parquet(cells())[:-100])
    with pytest.raises(InputError, match=r"^m\.parquet: This Parquet file is damaged or incomplete\."):
        cc.read(tmp_path / "m.parquet")


@pytest.mark.parametrize("write", [text, parquet, lambda c: text({**c, "note": ["é"] * N})], ids=["csv", "parquet", "held"])
@pytest.mark.usefixtures("passing")
def test_progress_is_told_in_this_thread_and_rises_to_no_more_than_one(write, tmp_path):
    data, heard = write(cells()), []
    found = of_path(tmp_path / "m", data, progress=lambda share: heard.append((share, threading.current_thread())))
    shares = [share for share, _ in heard]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    assert all(thread is threading.main_thread() for _, thread in heard)
    assert found == [told(p) for p in read_bytes(data, "m")]


def test_progress_of_several_files_is_shared_out():
    heard = []
    for part in (progress.within(heard.append, 0, 0.5), progress.within(heard.append, 0.5, 1)):
        part(0.5)
        part(3.0)
    assert heard == [0.25, 0.5, 0.75, 1.0]


def test_work_that_fails_fails_for_the_listener_as_well():
    def work():
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        progress.listened(work, lambda: 0.5, print)


def test_a_bar_is_for_long_work_only(monkeypatch):
    heard = []
    progress.late(heard.append)(0.1)
    assert heard == []
    monkeypatch.setattr(progress, "_SOON", -1)
    progress.late(heard.append)(0.1)
    assert heard == [0.1]


# --- facts about cells -----------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0, -3.0, float("nan"), float("inf")]), min_size=1, max_size=8), st.integers(1, 5))
def test_span(values, block):
    with pytest.MonkeyPatch.context() as m:
        m.setattr("calibcore.io.columns._BLOCK", block)
        span = Span.of(np.array(values))
    known = [v for v in values if not np.isnan(v)]
    assert span.missing == len(values) - len(known)
    assert (span.low, span.high) == (min(known), max(known)) if known else np.isnan(span.low)


@pytest.mark.parametrize("low", [-128, 0, 1000, 2**62])
@pytest.mark.parametrize("steps", [[1, 0], [0, 1, 2], [9, 3, 200, 255], list(range(130))])
def test_whole_numbers_of_a_small_range_in_parts(low, steps):
    many = [low + s for s in steps * 900]
    if low == -128:
        many = [v for v in many if v < 128]
    parts = pa.chunked_array([pa.array(many[:7], pa.int64()), pa.array([], pa.int64()), pa.array(many[7:], pa.int64())])
    distinct, code = Column("c", "number", lambda: parts).encoded()
    assert distinct.to_pylist() == list(dict.fromkeys(many))
    assert [distinct[int(c)].as_py() for c in code] == many
    assert code.min() == 0


def test_looked_up():
    """−1 is the last place, for few codes as for many."""
    code = np.array([0, 2, 1, -1, 0], dtype=np.int8)
    for table in (np.array([5, -2, 7, -1], dtype=np.int8), np.array([True, False, True, False]), np.arange(100)):
        assert looked_up(table, code).tolist() == [table[c] for c in code]


def test_class_means():
    assert class_means(np.array([0, 1, 1, 0], np.int8), np.array([0.5, 0.25, 0.75, 0.25]), 2).tolist() == [0.375, 0.5]
    assert np.isnan(class_means(np.array([1], np.int8), np.array([0.5]), 2)[0])


@pytest.mark.parametrize(("values", "up"), [(["a9", "b1", "a10"], True), (["b1", "a2"], False), (["aa", "b"], False), ([1, 1], False)])
def test_rising_cells(values, up):
    assert rises(pa.array(values)) is up


# --- what is worked out later ----------------------------------------------------------------------------------------------


def test_what_follows_from_one_probability_is_worked_out_when_asked_for(monkeypatch):
    made = []
    both = cc.top_label.both_sides
    monkeypatch.setattr(cc.top_label, "both_sides", lambda p: made.append(len(p)) or both(p))
    (p,) = cc.read(b"label,probability\n1,0.75\n0,0.5\n1,0.25\n")
    renamed = p.but(name="other")
    assert (p.n, repr(p).count("3 rows"), p.n_tied, made) == (3, 1, 1, [])
    assert p.confidence.tolist() == [0.75, 0.5, 0.75]
    assert p.predicted.tolist() == [1, 0, 0]
    assert p.correct.tolist() == [True, True, False]
    assert p.probabilities.tolist() == renamed.probabilities.tolist() == [[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]]
    assert p.row.tolist() == [1, 2, 3]
    assert made == [3]
    assert renamed.name == "other"
    with pytest.raises(ValueError, match="read-only"):
        p.confidence[0] = 1


@pytest.mark.parametrize("copied", [lambda p: pickle.loads(pickle.dumps(p)), copy.deepcopy, copy.copy, dataclasses.replace])
def test_predictions_can_be_copied_before_they_are_worked_out(copied):
    (p,) = cc.read(b"label,probability\n1,0.75\n0,0.5\n1,0.25\n")
    assert told(copied(p)) == told(p)
