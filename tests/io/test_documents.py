"""JSON documents: every usual shape of a table, and one sentence for those that are none."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.errors import InputError
from calibcore.io import containers, inspect, inspect_bytes, read_bytes
from calibcore.io.containers import open_tables

RECORDS = [{"y": 1, "p": 0.75}, {"y": 0, "p": 0.25}, {"y": 1, "p": 0.5}]
COLUMNS = {"y": [1, 0, 1], "p": [0.75, 0.25, 0.5]}
FRAME = pd.DataFrame(COLUMNS)
NAMED, MIXED = FRAME.set_axis(["a", "b", "c"]), FRAME.set_axis([7, 3, 5])


def packed(document):
    return document if isinstance(document, bytes) else json.dumps(document).encode()


def table(document):
    (found,) = open_tables(packed(document), "f.json")
    return found


def cells(document):
    return {n: c.array.to_pylist() for n, c in table(document).columns.items()}


SAME = {
    "list of records": RECORDS,
    "indented": json.dumps(RECORDS, indent=2).encode(),
    "with a byte order mark": b"\xef\xbb\xbf" + packed(RECORDS),
    "UTF-16": json.dumps(RECORDS).encode("utf-16"),
    "lines": b"\n".join(packed(r) for r in RECORDS),
    "lines ended by CRLF": b"\r\n".join(packed(r) for r in RECORDS),
    "columns and data": {"columns": ["y", "p"], "data": [[1, 0.75], [0, 0.25], [1, 0.5]]},
    "Weights & Biases": {
        "_type": "table",
        "column_types": {"params": {}},
        "columns": ["y", "p"],
        "data": [[1, 0.75], [0, 0.25], [1, 0.5]],
        "ncols": 2,
        "nrows": 3,
    },
    "headers and rows": {"headers": ["y", "p"], "rows": [[1, 0.75], [0, 0.25], [1, 0.5]]},
    "columns with types": {"fields": [{"name": "y"}, {"name": "p"}], "data": [[1, 0.75], [0, 0.25], [1, 0.5]]},
    "header row": [["y", "p"], [1, 0.75], [0, 0.25], [1, 0.5]],
    "records under a key": {"model": "m", "results": RECORDS, "n": 3},
    "records under an unknown key": {"made": {"by": "x"}, "per_sample": RECORDS},
    "records two keys deep": {"run": {"id": 3, "rows": RECORDS}},
    "known key beside another list": {"log": [{"a": 1}], "predictions": RECORDS},
    "lists by column": {**COLUMNS, "model": "m", "thresholds": [0.5]},
    "lists by column under a key": {"data": COLUMNS, "config": {"seed": 1}},
    "pandas split": FRAME.to_json(orient="split").encode(),
    "pandas index": FRAME.to_json(orient="index").encode(),
    "pandas columns": FRAME.to_json(orient="columns").encode(),
    "pandas records": FRAME.to_json(orient="records").encode(),
}


@pytest.mark.parametrize("document", SAME.values(), ids=SAME)
def test_every_shape_of_the_same_table(document):
    assert cells(document) == COLUMNS
    layout = inspect_bytes(packed(document), "f.json")
    assert layout.sentence == "Read as: label = y, probability = p, positive class = 1."
    assert layout.format in ("JSON", "JSON Lines")


@pytest.mark.parametrize("orient", ["split", "index", "columns", "table"])
def test_row_names_of_pandas_are_a_column_and_saved_numbers_are_ignored(orient):
    assert cells(NAMED.to_json(orient=orient).encode()) == {"index": ["a", "b", "c"], **COLUMNS}
    numbers = MIXED.to_json(orient=orient).encode()
    assert {n: v for n, v in cells(numbers).items() if n != "index"} == COLUMNS
    assert inspect_bytes(numbers, "f").sentence == "Read as: label = y, probability = p, positive class = 1."


def test_probabilities_as_pandas_writes_them_by_number_of_class():
    frame = pd.DataFrame([[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]])
    assert cells(frame.to_json().encode()) == {"0": [0.25, 0.5, 0.75], "1": [0.75, 0.5, 0.25]}


def test_records_by_name_are_rows():
    assert cells({"q1": RECORDS[0], "q2": RECORDS[1], "q3": RECORDS[2]}) == {"index": ["q1", "q2", "q3"], **COLUMNS}


def test_lists_without_names_are_named_by_position():
    rows, matrix, values = table([[1, 0.75], [0, 0.25]]), table([[0.25, 0.75], [0.5, 0.5]]), table([2, 0, 1])
    assert (list(rows.columns), rows.headless) == (["column 1", "column 2"], True)
    assert (list(matrix.columns), matrix.headless) == (["0", "1"], True)
    assert (list(values.columns), values.headless) == (["column 1"], True)


def test_vectors_maps_and_lists_of_scores_stay_nested():
    scores = [[{"label": "a", "score": 0.75}, {"label": "b", "score": 0.25}], [{"label": "b", "score": 1.0}]]
    assert cells(scores) == {"predictions": scores}
    assert cells(b"\n".join(packed(s) for s in scores)) == {"predictions": scores}
    assert cells([{"y": "a", "p": {"a": 0.75, "b": 0.25}}])["p"] == [{"a": 0.75, "b": 0.25}]
    columns = {"y_true": [0, 1], "y_prob": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]}
    assert cells(columns) == columns


def test_a_list_of_the_classes_names_the_numbers_of_each_vector():
    document = {"classes": ["b", "a", "c"], "y_true": ["a", "b", "c", "c"], "y_prob": [[0.5, 0.25, 0.25]] * 4}
    (predictions,) = read_bytes(packed(document), "f")
    assert predictions.classes == ("a", "b", "c")
    assert predictions.probabilities.tolist() == [[0.25, 0.5, 0.25]] * 4


def test_lists_of_another_length_are_left_out_with_a_note():
    assert table({**COLUMNS, "losses": [1, 2, 3, 4, 5]}).notes == ("Not used, since of another length than the columns: losses.",)


REFUSED = {
    "several lists of records": ({"a": RECORDS, "b": RECORDS * 2}, r"several lists of records \(a and b\)"),
    "several tables": ({"train": COLUMNS, "test": COLUMNS}, r"several tables \(train and test\)"),
    "no table": ({"config": {"lr": 0.1}}, "holds no table; its keys are config"),
    "empty list": ([], "no data rows"),
    "records and lists": ([{"y": 1}, [2]], "Item 2 of the JSON list is a list, while the first is a record"),
    "rows of two lengths": ([[1, 0.5], [0]], "Row 2 of the JSON list has 1 values, but the first has 2"),
    "row too short": ({"columns": ["y", "p"], "data": [[1, 0.5], [1]]}, "Row 2 has 1 values, but there are 2 columns"),
    "row that is none": ({"columns": ["y", "p"], "data": [[1, 0.5], 3]}, "Row 2 has no list of values"),
    "column twice": ({"columns": ["p", "p"], "data": [[1, 0.5]]}, "Two columns are called p"),
    "key twice": (b'[{"p": 1, "p": 2}]', "Two columns are called p"),
    "damaged": (b'[{"y": 1, "p": 0.5},\n{"y": 0 "p": 1}]', "damaged at line 2, column 9"),
    "cut": (packed(RECORDS)[:-5], "The JSON is damaged at line 1"),
    "nested without end": (b"[" * 100_000, "nested too deeply"),
    "keys without end": ([{f"k{i}": 1} for i in range(300)], "more than 210 different keys"),
}


@pytest.mark.parametrize(("document", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_with_one_sentence(document, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        table(document)
    assert str(raised.value).startswith("f.json")
    assert "\n" not in str(raised.value)


def test_long_document_is_looked_at_whole(tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"results": RECORDS * 70_000}))
    assert path.stat().st_size > containers._PREFIX  # longer than a first look at lines
    layout = inspect(path)
    assert (layout.n_rows, layout.sentence) == (210_000, "Read as: label = y, probability = p, positive class = 1.")


def test_text_in_brackets_is_no_json():
    assert list(open_tables(b"[a],p\n[b],0.5\n[c],0.25\n", "f")[0].columns) == ["[a]", "p"]


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_a_table_or_one_sentence(value):
    try:
        tables = open_tables(packed(value), "f")
    except InputError as error:
        sentences, tables = [str(error)], []
    else:
        sentences = []
    assert not any("\n" in s for s in sentences)
    for found in tables:
        assert all(len(c.array) == found.n_rows for c in found.columns.values())


@given(st.permutations(RECORDS))
def test_order_of_rows_does_not_matter(records):
    assert sorted(zip(*cells(list(records)).values(), strict=True)) == sorted(zip(*COLUMNS.values(), strict=True))
