"""Probabilities as a vector in one cell: read as one column a class; the order of classes is told by the file or asked."""

import io
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.analysis import Settings, analyze
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect, inspect_bytes, read, read_bytes

FIXTURES = Path(__file__).parent.parent / "data" / "fixtures"
CASES = Path(__file__).parent.parent / "data" / "cases"
THREE = [[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.25, 0.25, 0.5], [0.625, 0.25, 0.125]]
TWO = [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75], [0.125, 0.875]]
SIDECARS = (
    "spark_array_parquet",
    "spark_vector_parquet",
    "spark_struct_jsonl",
    "bqml_jsonl",
    "bqml_parquet",
    "vertex_batch",
    "sagemaker_autopilot",
    "llm_choice_logprobs",
)


def parquet(**columns):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def csv(cells, labels, header="label,probs", **beside):
    frame = pd.DataFrame({header.split(",")[0]: labels, header.split(",")[1]: cells, **beside})
    return frame.to_csv(index=False).encode()


def matrix(data, **told):
    (predictions,) = read_bytes(data, "a", Mapping(**told) if told else None)
    return predictions.probabilities.tolist()


def asked(data, **told):
    with pytest.raises(AmbiguousLayout) as raised:
        read_bytes(data, "a", Mapping(**told))
    (question,) = raised.value.questions
    return question.id, question.options


@pytest.mark.parametrize("name", SIDECARS)
def test_fixture_is_read_unaided_to_its_figures(name):
    expect = json.loads((FIXTURES / f"{name}.expect.json").read_text())
    (predictions,) = read(FIXTURES / expect["files"][0])
    found = analyze(predictions, Settings(n_bins=15, view="top_label")).to_dict()
    assert found["n"] == expect["n"]
    assert found["ece"] == pytest.approx(expect["top_label_ece_15_equal_width_right_closed"], abs=1e-8)
    assert found["accuracy"] == pytest.approx(expect["accuracy"], abs=1e-12)
    assert predictions.source["roles"]["label"] == expect["roles"]["label"]


@pytest.mark.parametrize("name", ["F08a_vector_json.csv", "F08b_vector_numpy.csv"])
def test_case_is_read_once_the_order_of_classes_is_given(name):
    with pytest.raises(AmbiguousLayout) as raised:
        read(CASES / name)
    assert [(q.id, q.options[0], q.flag) for q in raised.value.questions] == [("classes", "cat,dog,emu", "--classes")]
    assert inspect(CASES / name).questions == raised.value.questions
    (predictions,) = read(CASES / name, mapping=Mapping(classes=("cat", "dog", "emu")))
    assert analyze(predictions, Settings(n_bins=5)).to_dict()["ece"] == pytest.approx(21 / 100, abs=1e-12)  # the case's value
    assert predictions.notes == ("Each cell of column 'probs' holds 3 numbers, read as the classes cat, dog and emu in the order given.",)


def bracketed(separator, begin="[", end="]"):
    return [begin + separator.join(map(str, row)) + end for row in THREE]


TEXTS = {
    "JSON": bracketed(", "),
    "JSON without blanks": bracketed(","),
    "NumPy": bracketed("  "),
    "line breaks": bracketed("\n "),
    "blanks": bracketed(" ", "", ""),
    "semicolons": bracketed(";", "", ""),
    "bars": bracketed("|", "", ""),
    "parentheses": bracketed(", ", "(", ")"),
    "braces": bracketed(",", "{", "}"),
    "tensor": bracketed(", ", "tensor([", "], device='cuda:0')"),
    "array": bracketed(", ", "array([", "], dtype=float32)"),
    "one row": bracketed(" ", "[[", "]]"),
    "decimal comma": [c.replace(".", ",") for c in bracketed("; ")],
    "decimal comma and blanks": [c.replace(".", ",") for c in bracketed("  ")],
    "exponents": ["[" + ",".join(f"{v:.3e}" for v in row) + "]" for row in THREE],
}


@pytest.mark.parametrize("way", TEXTS)
def test_vector_written_as_text(way):
    data = csv(TEXTS[way], [0, 1, 2, 0])
    assert matrix(data) == THREE
    layout = inspect_bytes(data, "a")
    assert layout.layout == "label + a vector in one cell"
    assert layout.sentence == "Read as: label = label, probabilities = probs[0] + probs[1] + probs[2]."
    assert layout.notes == (
        "Each cell of column 'probs' holds 3 numbers, read as the classes 0, 1 and 2 by position, as the labels count them.",
    )


NESTED = {
    "list": pa.array(THREE),
    "large list": pa.array(THREE, pa.large_list(pa.float64())),
    "fixed-size list": pa.array(THREE, pa.list_(pa.float64(), 3)),
    "map": pa.array([list(zip("012", row, strict=True)) for row in THREE], pa.map_(pa.string(), pa.float64())),
    "map by number": pa.array([list(zip((2, 0, 1), (r[2], r[0], r[1]), strict=True)) for r in THREE], pa.map_(pa.int32(), pa.float64())),
    "struct": pa.array([dict(zip("012", row, strict=True)) for row in THREE]),
    "records": pa.array([[{"class": str(i), "score": row[i]} for i in np.argsort(row).tolist()] for row in THREE]),
    "classes and scores": pa.array([{"scores": row[::-1], "classes": ["2", "1", "0"]} for row in THREE]),
}


@pytest.mark.parametrize("way", NESTED)
@pytest.mark.parametrize("told", [{}, {"probabilities": "probs"}, {"probabilities": ("probs",)}])
def test_vector_as_a_nested_column(way, told):
    assert matrix(parquet(label=[0, 1, 2, 0], probs=NESTED[way]), **told) == THREE


@pytest.mark.parametrize("cells", [["{'a': 0.75, 'b': 0.25}", "{'b': 0.5, 'a': 0.5}"], ['{"a": 0.75, "b": 0.25}', '{"b": 0.5, "a": 0.5}']])
def test_text_of_a_record_names_its_classes(cells):
    assert matrix(csv(cells, ["a", "b"]), positive="b") == [[0.75, 0.25], [0.5, 0.5]]
    assert asked(csv(cells, ["a", "b"])) == ("positive", ("b", "a"))  # as for two class columns


def test_a_vector_that_names_its_classes_needs_no_telling_name_of_the_label():
    probs = pa.array([{"ash": a, "elm": b, "oak": c} for a, b, c in THREE])
    data = parquet(species=["ash", "elm", "oak", "ash"], site=["n", "s", "n", "s"], probs=probs)
    (predictions,) = read_bytes(data, "a")
    assert (predictions.source["roles"]["label"], predictions.classes) == ("species", ("ash", "elm", "oak"))
    assert predictions.probabilities.tolist() == THREE


def test_a_column_of_names_gives_the_order_row_by_row():
    cells = ["[0.5, 0.25, 0.25]", "[0.75, 0.125, 0.125]"]
    names = ["['a', 'b', 'c']", "['b', 'a', 'c']"]
    assert matrix(csv(cells, ["a", "b"], classes=names)) == THREE[:2]
    lists = {"classes": pa.array([["a", "b", "c"], ["b", "a", "c"]])}
    data = parquet(label=["a", "b"], probs=pa.array([THREE[0], [0.75, 0.125, 0.125]]), **lists)
    assert matrix(data) == THREE[:2]
    assert "Column 'classes' names the classes of the 3 numbers in each cell of 'probs': a, b and c." in inspect_bytes(data, "a").notes


def test_texts_that_differ_from_row_to_row_are_no_class_names():
    choices = pa.array([["Rome", "Oslo", "Bern"], ["red", "blue", "green"], ["1", "2", "3"], ["x", "y", "z"]])
    assert matrix(parquet(label=[0, 1, 2, 0], choices=choices, probs=pa.array(THREE))) == THREE


@pytest.mark.parametrize("name", ["ranking", "order"])
def test_lists_of_names_that_may_be_a_ranking_do_not_name_the_classes(name):
    names = pa.array([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"], ["a", "b", "c"]])
    assert asked(parquet(label=["a", "b", "c", "a"], probs=pa.array(THREE), **{name: names})) == ("classes", ("a,b,c",))
    ranks = pa.array([[0, 1, 2], [1, 0, 2], [1, 2, 0], [0, 1, 2]])
    assert matrix(parquet(label=[0, 1, 2, 0], probs=pa.array(THREE), **{name: ranks})) == THREE


def test_predictions_as_zeros_and_a_one_are_no_probabilities():
    hot = ["[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]", "[0, 1, 0]"]
    assert matrix(csv(bracketed(" "), [0, 1, 2, 0], predicted_class=hot)) == THREE
    with pytest.raises(InputError):
        read_bytes(csv(hot, [0, 1, 2, 0], header="label,predicted"), "a")
    assert matrix(csv(hot, [0, 1, 2, 0]), probabilities="probs") == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]


def test_records_in_records_give_their_fields():
    rows = [
        {"in": {"x": 1.5, "y": 2.5, "label": i}, "out": {"name": "m", "probs": row}} for i, row in zip([0, 1, 2, 0], THREE, strict=True)
    ]
    data = "\n".join(map(json.dumps, rows)).encode()
    assert asked(data) == ("label", ("in.label", "none"))
    assert matrix(data, label="in.label") == THREE


def test_labels_that_are_no_positions_are_asked_about():
    assert asked(csv(bracketed(" "), ["b", "a", "c", "b"])) == ("classes", ("a,b,c",))
    assert asked(csv([str(r) for r in TWO], ["no", "yes", "yes", "no"])) == ("classes", ("no,yes", "yes,no"))
    assert asked(csv([str(r) for r in TWO], [-1, 1, 1, -1])) == ("classes", ("-1,1", "1,-1"))
    assert matrix(csv([str(r) for r in TWO], ["no", "yes", "yes", "no"]), classes=("yes", "no"), positive="no") == TWO
    assert asked(csv(bracketed(" "), [1, 2, 3, 1])) == ("classes", ("1,2,3",))  # counted from 1
    assert asked(csv(bracketed(" "), [1, 2, 2, 1]))[0] == "classes"  # the numbers at y − 1 are larger: counted from 1, it seems
    assert matrix(csv([str(r[::-1]) for r in THREE], [2, 1, 2, 2])) == [r[::-1] for r in THREE]


def test_the_order_that_agrees_with_the_predicted_class_is_offered_first():
    data = csv([str(r) for r in THREE], ["a", "c", "b", "a"], predicted=["b", "c", "a", "b"])
    assert asked(data) == ("classes", ("b,c,a", "a,b,c"))


def test_binary_vector_gives_both_probabilities():
    (predictions,) = read_bytes(parquet(label=[0, 1, 1, 0], probability=pa.array(TWO)), "a")
    assert (predictions.task, predictions.classes, predictions.probabilities.tolist()) == ("binary", ("0", "1"), TWO)


def test_scales_are_told_as_for_columns():
    percent = [[100 * v for v in row] for row in THREE]
    assert matrix(parquet(label=[0, 1, 2, 0], probs=pa.array(percent))) == THREE
    logs = np.log(THREE)
    np.testing.assert_allclose(matrix(parquet(label=[0, 1, 2, 0], logprobs=pa.array(logs.tolist()))), THREE, rtol=1e-12)
    np.testing.assert_allclose(matrix(parquet(label=[0, 1, 2, 0], logits=pa.array((logs + 1).tolist()))), THREE, rtol=1e-12)
    assert asked(parquet(label=[0, 1, 2, 0], probs=pa.array((logs + 1).tolist())))[0] == "scale"
    half = [[v / 2 for v in row] for row in THREE]
    assert asked(parquet(label=[0, 1, 2, 0], probs=pa.array(half))) == ("scale", ("unnormalised",))
    assert matrix(parquet(label=[0, 1, 2, 0], probs=pa.array(half)), scale="unnormalised") == THREE
    assert matrix(csv(["[75% 25%]", "[50% 50%]"], [0, 1])) == [[0.75, 0.25], [0.5, 0.5]]


def test_probabilities_go_before_logits_and_beside_others_they_are_models():
    logits = pa.array((np.log(THREE) + 1).tolist())
    assert matrix(parquet(label=[0, 1, 2, 0], logits=logits, probs=pa.array(THREE), embedding=pa.array([[1.0, 7.0]] * 4))) == THREE
    models = read_bytes(parquet(label=[0, 1, 2, 0], prob_gbm=pa.array(THREE), prob_svm=pa.array(THREE[::-1])), "a")
    assert [(m.name, m.probabilities.tolist()) for m in models] == [("prob_gbm", THREE), ("prob_svm", THREE[::-1])]


def test_other_lists_do_not_disturb_an_ordinary_file():
    data = parquet(
        label=[0, 1, 1, 0], p=[0.25, 0.75, 0.5, 0.125], tokens=pa.array([["a"], ["b", "c"], [], ["d"]]), embedding=pa.array(THREE)
    )
    (predictions,) = read_bytes(data, "a")
    assert predictions.source["roles"]["probabilities"] == {"1": "p"}


def test_numbers_of_a_vector_can_be_named_as_columns():
    data = csv(bracketed(" "), ["b", "a", "c", "b"])
    told = {"b": "probs[0]", "a": "probs[1]", "c": "probs[2]"}
    (predictions,) = read_bytes(data, "a", Mapping(probabilities=told))
    assert predictions.source["roles"]["probabilities"] == {"a": "probs[1]", "b": "probs[0]", "c": "probs[2]"}
    assert predictions.probabilities.tolist() == [[b, a, c] for a, b, c in THREE]


FAULTS = {
    "cut": (["[0.5 ... 0.25]", "[0.5 0.25 0.25]"], r"Row 1 of column 'probs': the vector was cut"),
    "cut later": (["[0.5 0.5]", "[0.5 … 0.25]"], r"Row 2 of column 'probs': the vector was cut"),
    "short": (["[0.5 0.5]", "[0.5 0.5]", "[0.5]"], "Row 3 of column 'probs' holds 1 number, but the other rows hold 2"),
    "long": (["[0.5 0.5]", "[0.5 0.25 0.25]", "[0.5 0.5]"], "Row 2 of column 'probs' holds 3 numbers, but the other rows hold 2"),
    "empty": (["[0.5 0.5]", "[]", "[0.5 0.5]"], "Row 2 of column 'probs' holds 0 numbers"),
    "word": (["[0.5, 0.5]", "[0.5, half]"], "Row 2 of column 'probs' holds 'half' among its numbers"),
    "other brackets": (["[0.5, 0.5]", "[0.5, [0.5]"], r"Row 2 of column 'probs' holds '\[0\.5' among its numbers"),
    "missing cell": (["[0.5, 0.5]", None], r"1 of 2 rows have no value in 'probs\[0\]' \(row 2\)"),
    "missing number": (["[0.5, 0.5]", "[0.5, nan]"], r"1 of 2 rows have no value in 'probs\[1\]' \(row 2\)"),
    "outside": (["[0.5, 0.5]", "[0.5, 0.5]", "[-0.5, 1.5]"], r"Row 3.*probs\[0\]"),
    "sum": (["[0.5, 0.5]", "[0.5, 0.5]", "[0.5, 0.25]"], "Row 3"),
    "key twice": (['{"0": 0.5, "0": 0.5}', '{"0": 0.5, "1": 0.5}'], "Row 1 of column 'probs' names a class twice"),
    "key missing": (['{"0": 0.5, "1": 0.5}', '{"0": 0.5}'], r"no value in 'probs\[1\]' \(row 2\)"),
    "damaged JSON": (['{"0": 0.5, "1": 0.5}', '{"0": 0.5'], "Row 2 of column 'probs' holds damaged JSON"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_faulty_cell_is_named_by_row_and_column(kind):
    cells, sentence = FAULTS[kind]
    with pytest.raises(InputError, match=sentence):
        read_bytes(csv(cells, [0, 1, 1][: len(cells)]), "a")


def test_faulty_nested_cells_are_named_by_row_and_column():
    for probs, sentence in [
        (pa.array([[0.5, 0.5], [0.5], [0.5, 0.5]]), "Row 2 of column 'probs' holds 1 number"),
        (pa.array([[0.5, 0.5], None, [0.5, 0.5]]), r"no value in 'probs\[0\]' \(row 2\)"),
        (pa.array([[("0", 0.5), ("0", 0.5), ("1", 0.5)]] * 3, pa.map_(pa.string(), pa.float64())), "Row 1 .*names the class '0' twice"),
        (pa.array([[["0.5"]], [["x"]], [["y"]]]), "not one number for each class"),
    ]:
        with pytest.raises(InputError, match=sentence):
            read_bytes(parquet(label=[0, 1, 1], probs=probs), "a")


def test_labels_and_classes_that_do_not_fit():
    with pytest.raises(InputError, match=r"Label '3' \(row 4 of column 'label'\) has no probability column"):
        read_bytes(csv(bracketed(" "), [0, 1, 2, 3]), "a")
    with pytest.raises(InputError, match=r"holds 3 numbers in each cell, but classes \(--classes\) names 2"):
        read_bytes(csv(bracketed(" "), ["a", "b", "a", "b"]), "a", Mapping(classes=("a", "b")))
    with pytest.raises(InputError, match="no column of labels"):
        read_bytes(parquet(id=["a", "b", "c", "d"], probs=pa.array(THREE)), "a")


def test_missing_vectors_are_left_out_on_request():
    (predictions,) = read_bytes(csv(["[0.5, 0.5]", None, "[0.25, 0.75]"], [0, 1, 1]), "a", Mapping(missing="drop"))
    assert (predictions.n, predictions.n_excluded, predictions.row.tolist()) == (2, 1, [1, 3])


def test_sparse_vectors_of_spark_are_filled_with_zeros():
    probs = [
        {"type": 1, "size": None, "indices": None, "values": [0.5, 0.25, 0.25]},
        {"type": 0, "size": 3, "indices": [1], "values": [1.0]},
        {"type": 0, "size": 3, "indices": [0, 2], "values": [0.25, 0.75]},
    ]
    assert matrix(parquet(label=[0, 1, 2], probability=pa.array(probs))) == [[0.5, 0.25, 0.25], [0, 1, 0], [0.25, 0, 0.75]]


def test_single_precision_is_kept():
    (predictions,) = read_bytes(parquet(label=[0, 1, 2, 0], probs=pa.array(THREE, pa.list_(pa.float32()))), "a")
    assert predictions.probabilities.dtype == np.float32


def test_frames_with_lists_in_their_cells():
    (predictions,) = read(pd.DataFrame({"label": [0, 1, 2, 0], "probs": [np.array(r) for r in THREE]}))
    assert predictions.probabilities.tolist() == THREE


def test_json_lines_whose_records_differ_too_much_are_refused_without_filling_memory():
    lines = "\n".join(json.dumps({"label": 1, "probs": {f"k{i}_{j}": 0.5 for j in range(2)}}) for i in range(2000))
    with pytest.raises(InputError, match="not one number for each class"):
        read_bytes(lines.encode(), "a")


def test_many_rows_are_fast():
    """A loop over the cells in Python would take several times as long."""
    rng = np.random.default_rng(0)
    wide = rng.dirichlet(np.ones(10), 100_000)
    data = parquet(label=rng.integers(0, 10, 100_000), probs=pa.FixedSizeListArray.from_arrays(pa.array(wide.ravel()), 10))
    start = time.perf_counter()
    (predictions,) = read_bytes(data, "a")
    assert time.perf_counter() - start < 5
    np.testing.assert_array_equal(predictions.probabilities, wide)


def test_marks_inside_vectors_do_not_split_lines_whose_first_would_be_a_title():
    assert matrix(b"label,probs\n0,[1.0;0.0;0.0]\n1,[0.0;0.5;0.5]\n2,[0.0;0.0;1.0]\n") == [[1, 0, 0], [0, 0.5, 0.5], [0, 0, 1]]


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=2, max_size=12),
    st.sampled_from([", ", " ", ";", "  ", ",\n"]),
    st.sampled_from(["[]", "()", "{}", "  "]),
)
def test_every_number_comes_back_as_it_was_written(rows, separator, brackets):
    rows = [[v / sum(r) for v in r] if sum(r) > 1e-9 else [1.0, 0.0, 0.0] for r in rows]
    cells = [brackets[0] + separator.join(map(repr, r)) + brackets[1] for r in rows]
    assert matrix(csv(cells, [0] * len(rows)), probabilities="probs", scale="fraction", classes=("0", "1", "2")) == rows


@given(st.permutations(range(4)))
def test_the_order_of_rows_does_not_matter(order):
    keyed = [dict(zip("abc", row, strict=True)) for row in THREE]
    data = parquet(label=[["a", "b", "c", "a"][i] for i in order], probs=pa.array([keyed[i] for i in order]))
    assert matrix(data) == [THREE[i] for i in order]
