# ruff: noqa: E501 - a line is a line of a file
"""Lines that tools wrote when they were run; what must come back is what the tool computed, or the numbers in the line itself."""

import io

import numpy as np
import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect, read
from calibcore.io.weka_text import plain_output
from calibcore.io.written_pairs import paired, without_types

# no and yes, in six rows
YES = [0.975, 0.701, 0.838, 0.737, 0.713, 0.461]
TRUE = [1, 1, 1, 0, 1, 1]
BOTH = np.column_stack([[0.025, 0.299, 0.162, 0.263, 0.287, 0.539], YES])
WORDS = np.array(["no", "yes"])


def csv(header, *columns):
    return (header + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n").encode()


def only(data, **told):
    (found,) = read(data, mapping=Mapping(**told))
    return found


def same(found, matrix, label):
    np.testing.assert_allclose(found.probabilities, matrix, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(found.label, label)


def asked(data, field):
    with pytest.raises(AmbiguousLayout) as raised:
        read(data)
    (question,) = raised.value.questions
    assert question.id == field
    return question


@pytest.mark.parametrize(
    ("form", "classes"),
    [
        ("{{np.str_('no'): np.float64({}), np.str_('yes'): np.float64({})}}", WORDS),  # dict(zip(classes_, row)), NumPy 2
        ("{{'no': np.float32({}), 'yes': np.float32({})}}", WORDS),
        ("{{np.int64(0): np.float64({}), np.int64(1): np.float64({})}}", [0, 1]),
        ("{{np.False_: np.float64({}), np.True_: np.float64({})}}", [False, True]),
        ("{{0: {}, 1: {}}}", [0, 1]),  # dict(enumerate(row))
        ("{{0: tensor({}), 1: tensor({})}}", [0, 1]),
        ("{{no={}, yes={}}}", WORDS),  # DuckDB and Java write maps so
        ("Map(no -> {}, yes -> {})", WORDS),  # Scala
        ("{{no -> {}, yes -> {}}}", WORDS),  # Spark, cast to text
        ("no:{} yes:{}", WORDS),
        ("{{false={}, true={}}}", ["False", "True"]),
    ],
)
def test_maps_as_they_are_printed(form, classes):
    cells = [f'"{form.format(*row)}"' for row in BOTH]
    data = csv("y_true,probs", [classes[i] for i in TRUE], cells)
    same(only(data), BOTH, TRUE)
    assert inspect(data).layout == "label + a vector in one cell"


def test_a_list_of_numpy_numbers():
    cells = [f'"[np.float64({a}), np.float64({b})]"' for a, b in BOTH]
    same(only(csv("y_true,probs", TRUE, cells)), BOTH, TRUE)


def test_vowpal_wabbit_probabilities_of_one_against_all():
    data = (
        b"label,probs\n3,1:0.0126219 2:0.565137 3:0.422241\n1,1:0.874947 2:0.120626 3:0.00442624\n"
        b"3,1:0.00360468 2:0.201582 3:0.794813\n2,1:0.0633775 2:0.30874 3:0.627883\n"
    )
    found = only(data)
    assert found.classes == ("1", "2", "3")
    same(
        found,
        [
            [0.0126219, 0.565137, 0.422241],
            [0.874947, 0.120626, 0.00442624],
            [0.00360468, 0.201582, 0.794813],
            [0.0633775, 0.30874, 0.627883],
        ],
        [2, 0, 2, 1],
    )


def test_a_printed_map_that_names_a_class_twice_is_a_fault():
    with pytest.raises(InputError, match="Row 2 of column 'probs' names a class twice"):
        read(b'y,probs\na,"{a=0.5, b=0.5}"\nb,"{a=0.5, a=0.5}"\na,"{a=0.5, b=0.5}"\n')


def test_a_cell_among_printed_maps_that_is_none_is_named():
    with pytest.raises(InputError, match="Row 3 of column 'probs' holds 'a', no number for each class"):
        read(b'y,probs\na,"a:0.5 b:0.5"\nb,"a:0.1 b:0.9"\na,a\n')


@pytest.mark.parametrize("text", ["12:30:15", "lr=0.1", "a=0.1,b", "[0.1, 0.9]", "0.1 0.9", "a: x, b: y", "", "{}", "a:b " * 5000])
def test_what_is_no_map(text):
    assert paired(text) is None


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("{Iris setosa=1.0, 'x, y'=2e-05}", [("Iris setosa", 1.0), ("x, y", 2e-05)]),
        ("{\"driver's\": 0.1, 'b': nan}", [("driver's", 0.1), ("b", None)]),
        ("high risk:0.2 low risk:0.8", [("high risk", 0.2), ("low risk", 0.8)]),
    ],
)
def test_names_with_blanks_and_quotes(text, pairs):
    assert paired(text) == pairs


def test_lists_keep_their_form_without_types():
    assert without_types("tensor([0.1, 0.9])") == "tensor([0.1, 0.9])"


# polars, DuckDB and Arrow write true, pandas writes True, and columns are called after either


@pytest.mark.parametrize("columns", ["prob_False,prob_True", "prob_false,prob_true", "prob_0,prob_1", "False,True", "0,1", "p_0,p_1"])
@pytest.mark.parametrize("label", ["true", "True", "TRUE", "1"])
@pytest.mark.parametrize("predicted", [None, "true", "True", "1"])
def test_true_is_1_in_whatever_way_it_is_written(columns, label, predicted):
    ways = {"true": ["false", "true"], "True": ["False", "True"], "TRUE": ["FALSE", "TRUE"], "1": ["0", "1"]}
    guess = [[ways[predicted][i] for i in BOTH.argmax(axis=1)]] if predicted else []
    names = f"y_true,{'y_pred,' if predicted else ''}{columns}"
    found = only(csv(names, [ways[label][i] for i in TRUE], *guess, *BOTH.T))
    assert found.classes == tuple(ways[label])
    same(found, BOTH, TRUE)


def test_true_alone_is_the_second_class():
    found = only(csv("y_true,prob_0,prob_1", ["TRUE"] * 6, *BOTH.T))
    assert found.classes == ("FALSE", "TRUE")
    same(found, BOTH, [1] * 6)


@pytest.mark.parametrize("label", [["false", "true"], ["False", "True"]])
def test_two_numbers_in_a_cell_are_false_and_true(label):
    cells = [f'"[{a}, {b}]"' for a, b in BOTH]
    found = only(csv("y_true,probs", [label[i] for i in TRUE], cells))
    assert found.classes == tuple(label)
    same(found, BOTH, TRUE)


def test_true_among_three_classes_is_not_the_second_one():
    three = np.array([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375], [0.25, 0.25, 0.5]] * 4)
    assert asked(csv("label,0,1,2", ["false", "mixture", "true"] * 4, *three.T), "classes").options == ("false,mixture,true",)
    asked(csv("label,0,1,2", ["false", "true", "true"] * 4, *three.T), "classes")


def test_numbered_features_beside_true_and_false_are_no_classes():
    with pytest.raises(InputError, match="No column looks like a probability"):
        read(csv("label,x_0,x_1", ["True", "False"] * 6, np.linspace(-1, 2, 12), np.linspace(3, -1, 12)))


# R: MASS::lda gives the predicted class as `class`, and the true one keeps its own name


def _lda():
    p = np.tile([0.802, 0.031, 0.018, 0.029, 0.847, 0.792, 0.353, 0.159], 6)
    true = np.tile(["Yes", "No", "No", "Yes", "Yes", "Yes", "Yes", "No"], 6)
    return csv('"type","class","No","Yes"', true, np.where(p > 0.5, "Yes", "No"), np.round(1 - p, 3), p), p, true


def test_a_class_that_is_never_wrong_beside_another_column_of_classes_is_asked_about():
    data, p, true = _lda()
    assert asked(data, "label").options == ("type", "class")
    same(only(data, label="type"), np.column_stack([np.round(1 - p, 3), p]), true == "Yes")


def test_a_label_that_is_never_wrong_is_not_asked_about_alone():
    data, _, _ = _lda()
    lines = [",".join(line.split(",")[1:]) for line in data.decode().splitlines()]
    assert only("\n".join(lines).encode()).n == 48


# classes counted from 1 beside columns counted from 0, as pandas and predict_proba leave them

P3 = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.5, 0.3, 0.2], [0.3, 0.3, 0.4]] * 3)
Y3 = np.array([0, 1, 2, 0, 2] * 3)


@pytest.mark.parametrize("header", ["y_true,0,1,2", "y_true,proba_0,proba_1,proba_2"])
def test_labels_from_1_and_columns_from_0_are_asked_about(header):
    data = csv(header, Y3 + 1, *P3.T)
    assert asked(data, "classes").options == ("1,2,3",)
    found = only(data, classes=("1", "2", "3"))
    assert found.classes == ("1", "2", "3")
    same(found, P3, Y3)


def test_labels_from_0_and_columns_from_1_are_asked_about():
    data = csv("y_true,prob_1,prob_2,prob_3", Y3, *P3.T)
    assert asked(data, "classes").options == ("0,1,2",)
    same(only(data, classes=("0", "1", "2")), P3, Y3)


def test_a_sample_without_the_outer_classes():
    four = np.column_stack([P3 * 0.9, np.full(15, 0.1)])
    inner = np.where(Y3 == 0, 1, Y3)  # 1 and 2 of 0 to 3, where 1 and 2 are likely
    likely = np.column_stack([np.full(15, 0.1), P3[:, 1] * 0.9, P3[:, 2] * 0.9, P3[:, 0] * 0.9])
    assert only(csv("y_true,p_0,p_1,p_2,p_3", inner, *likely.T)).classes == ("0", "1", "2", "3")
    found = asked(csv("y_true,p_0,p_1,p_2,p_3", Y3 + 1, *four.T), "classes")  # 0.9 · 0.7, … at place y − 1
    assert found.options == ("1,2,3,4", "0,1,2,3")


def test_the_classes_of_a_numpy_archive_are_no_probabilities():
    out = io.BytesIO()
    np.savez(out, y_true=np.array(TRUE), y_prob=BOTH, classes=np.array([0, 1]))
    same(only(out.getvalue()), BOTH, TRUE)


@pytest.mark.parametrize("name", ["class", "variable"])
def test_long_form_whose_classes_are_the_headers_of_wide_form(name):
    rows = [f"{i},{WORDS[y]},prob_{WORDS[k]},{BOTH[i, k]}" for k in (0, 1) for i, y in enumerate(TRUE)]
    found = only("\n".join([f"id,y_true,{name},{'prob' if name == 'class' else 'value'}", *rows]).encode())
    assert found.classes == ("no", "yes")
    same(found, BOTH, TRUE)


def test_libsvm_output_pasted_behind_the_labels():
    data = (
        b"label labels 3 2 1\n3 2 0.402831 0.583968 0.0132008\n3 3 0.661959 0.293348 0.0446933\n1 1 0.0191877 0.0210951 0.959717\n"
        b"2 2 0.373096 0.61465 0.0122533\n"
    )
    found = only(data)
    assert found.classes == ("1", "2", "3")
    same(
        found,
        [
            [0.0132008, 0.583968, 0.402831],
            [0.0446933, 0.293348, 0.661959],
            [0.959717, 0.0210951, 0.0191877],
            [0.0122533, 0.61465, 0.373096],
        ],
        [2, 2, 0, 1],
    )


# Weka's plain output: 3.6 cuts names, 3.9 does not

OLD = """

=== Predictions on test data ===

 inst#     actual  predicted error distribution
     1 3:'Iris vi 2:Iris ver   +   0,*0.868,0.132 
     2 3:'Iris vi 3:Iris vir       0,0.002,*0.998 
     3 1:'Iris se 1:Iris set       *0.96,0.04,0 
     4 2:'Iris ve 2:Iris ver       0.25,*0.5,0.25 
"""  # noqa: W291
NEW = """
=== Predictions on test data ===

    inst#     actual  predicted error distribution (f0,f1)
        1 3:'Iris virginica' 2:Iris versicolor   +   0,*0.868,0.132 (6.1,2.9)
        2 3:'Iris virginica' 3:Iris virginica       0,0.002,*0.998 (5.8,3.1)
        3 1:'Iris setosa' 1:Iris setosa       *0.96,0.04,0 (5.1,3.5)
        4 2:'Iris versicolor' 2:Iris versicolor       0.25,*0.5,0.25 (5.5,2.3)
"""


@pytest.mark.parametrize(
    ("text", "classes"),
    [(OLD, ("Iris set", "Iris ver", "Iris vir")), (NEW, ("Iris setosa", "Iris versicolor", "Iris virginica"))],
)
def test_plain_output_of_weka(text, classes):
    found = only(plain_output(text).encode())
    assert found.classes == classes
    same(found, [[0, 0.868, 0.132], [0, 0.002, 0.998], [0.96, 0.04, 0], [0.25, 0.5, 0.25]], [2, 2, 0, 1])


def test_plain_output_of_weka_without_a_distribution():
    text = " inst#     actual  predicted error prediction\n     1      2:yes       1:no   +   0.868 \n     2      2:yes      2:yes       0.998 \n     3       1:no       1:no       0.75 \n"
    found = only(plain_output(text).encode())
    assert found.confidence.tolist() == [0.868, 0.998, 0.75]
    assert found.correct.tolist() == [False, True, True]


def test_names_that_weka_cut_to_the_same_beginning_stay_apart():
    text = " inst#     actual  predicted error distribution\n     1 1:Iris ver 2:Iris ver   +   0.25,*0.75 \n     2 2:Iris ver 2:Iris ver       0.125,*0.875 \n     3 1:Iris ver 1:Iris ver       *0.625,0.375 \n"
    made = plain_output(text)
    assert "1:Iris ver (1)" in made
    assert "2:Iris ver (2)" in made
    same(only(made.encode(), positive="Iris ver (2)"), [[0.25, 0.75], [0.125, 0.875], [0.625, 0.375]], [0, 1, 0])


@pytest.mark.parametrize(
    "text",
    [
        "inst#,actual,predicted,error,prediction\n1,1:a,2:b,+,0.61\n",
        OLD + "=== Summary ===\n",
        OLD.replace("3:'Iris vi", "3:Other"),
        "a b\n1 2\n",
    ],
)
def test_other_texts_are_no_plain_output_of_weka(text):
    assert plain_output(text) is None
