"""Long form: one row for each class of each case becomes one row a case, whatever the columns are called and however they are sorted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect, read

KINDS = ("high", "low", "medium")  # the order of the classes
P = [(0.7, 0.2, 0.1), (0.1, 0.8, 0.1), (0.2, 0.2, 0.6), (0.5, 0.25, 0.25), (0.3, 0.3, 0.4), (0.125, 0.625, 0.25)]
Q = [(0.5, 0.25, 0.25), (0.25, 0.5, 0.25), (0.1, 0.1, 0.8), (0.6, 0.3, 0.1), (0.2, 0.2, 0.6), (0.3, 0.5, 0.2)]
Y = (0, 1, 2, 1, 2, 1)
N, K = len(P), 3


def text(header, rows, separator=","):
    return "\n".join([separator.join(header), *(separator.join(map(str, r)) for r in rows), ""]).encode()


def rows_of(matrix=P, *, names=KINDS, say=lambda i, _: KINDS[Y[i]], model=None, case="c{}"):
    """(case[, model], class, probability, label) for each class of each case."""
    before = () if model is None else (model,)
    return [(case.format(i), *before, names[k], matrix[i][k], say(i, k)) for i in range(len(matrix)) for k in range(len(names))]


def checked(data, matrix=P, classes=KINDS, label=Y, **told):
    (found,) = read(data, mapping=Mapping(**told))
    assert found.classes == tuple(classes)
    np.testing.assert_array_equal(found.probabilities, matrix)
    np.testing.assert_array_equal(found.label, label)
    return found


def asked(data, **told):
    with pytest.raises(AmbiguousLayout) as raised:
        read(data, mapping=Mapping(**told))
    (question,) = raised.value.questions
    return question


@pytest.mark.parametrize(
    "header",
    [
        ("id", "class", "prob", "label"),
        ("case_id", "category", "probability", "y_true"),
        ("question_id", "answer_option", "value", "resolution"),
        ("image", "option", "score", "true_label"),
        ("PassengerId", "klass", "p", "target"),
        ("filename", "predicted_class", "confidence", "actual"),
        ("uid", "level", "predicted_probability", "severity"),  # a label without a telling name
    ],
)
def test_names_of_columns(header):
    checked(text(header, rows_of()))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_and_order_of_rows(separator):
    rows = rows_of()
    order = np.random.default_rng(3).permutation(len(rows))
    order = [int(i) for i in order]
    data = text(("id", "class", "prob", "label"), [rows[i] for i in order], separator)
    (found,) = read(data)
    at = [int(name[1:]) for name in found.ids]  # cases in the order of their first rows
    assert at == list(dict.fromkeys(i // K for i in order))
    np.testing.assert_array_equal(found.probabilities, np.array(P)[at])
    np.testing.assert_array_equal(found.label, np.array(Y)[at])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("is_true", (1, 0)),
        ("y", (1, 0)),
        ("label", ("True", "False")),
        ("correct", ("yes", "no")),
        ("occurred", (1, 0)),
        ("target", (1, "")),
    ],
)
def test_a_flag_on_the_row_of_the_true_class(name, words):
    checked(text(("id", "class", "prob", name), rows_of(say=lambda i, k: words[int(k != Y[i])])))


def test_a_label_on_the_row_of_the_true_class_alone():
    checked(text(("id", "class", "prob", "label"), rows_of(say=lambda i, k: KINDS[k] if k == Y[i] else "")))


def test_classes_that_are_numbers_and_a_flag_that_looks_like_them():
    names = (0, 1)
    two = [(1 - p, p) for p in (0.75, 0.25, 0.5, 0.875)]
    y = (1, 0, 1, 1)
    shared = rows_of(two, names=names, say=lambda i, _: y[i], case="{}")
    checked(text(("id", "class", "prob", "label"), shared), two, ("0", "1"), y)
    flag = rows_of(two, names=names, say=lambda i, k: int(k == y[i]), case="{}")
    checked(text(("id", "class", "prob", "label"), flag), two, ("0", "1"), y)


def test_several_models_are_read_apart():
    rows = rows_of(P, model="gbm") + rows_of(Q, model="glm")
    models = read(text(("id", "model", "class", "prob", "label"), rows))
    assert [m.name for m in models] == ["gbm", "glm"]
    for found, matrix in zip(models, (P, Q), strict=True):
        np.testing.assert_array_equal(found.probabilities, matrix)
        np.testing.assert_array_equal(found.label, Y)
        assert found.n == N


def test_a_column_that_could_name_models_is_asked_about():
    rows = rows_of(P, model="gbm") + rows_of(Q, model="glm")
    data = text(("id", "algo", "class", "prob", "label"), rows)
    question = asked(data)
    assert (question.id, question.options, question.flag) == ("model", ("algo", "none"), "--model-col")
    assert [m.name for m in read(data, mapping=Mapping(model="algo"))] == ["gbm", "glm"]
    (both,) = read(data, mapping=Mapping(model="none"))
    assert both.n == 2 * N


def test_dates_and_forecasters_are_part_of_a_case():
    rows = [(f"q{i}", day, KINDS[k], (P, Q)[day - 1][i][k], KINDS[Y[i]]) for i in range(N) for day in (1, 2) for k in range(K)]
    (found,) = read(text(("ifp_id", "date", "answer_option", "value", "outcome"), rows))
    assert found.n == 2 * N
    np.testing.assert_array_equal(found.probabilities[::2], P)
    np.testing.assert_array_equal(found.probabilities[1::2], Q)


def test_groups_and_weights_of_a_case_are_kept():
    rows = [(*r, "north" if r[0] in ("c0", "c1") else "south", 1 + int(r[0][1:])) for r in rows_of()]
    found = checked(text(("id", "class", "prob", "label", "site", "weight"), rows), weight="weight")
    assert list(found.groups["site"]) == ["north"] * 2 + ["south"] * 4
    np.testing.assert_array_equal(found.weight, [1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: [*rows, rows[4]], r"Rows 5 and 19 both hold the probability of class 'low' for the same case \(id = c1\)"),
        (lambda rows: rows[:4] + rows[5:], r"1 of 6 cases have no row for some class \(first: id = c1 lacks low\).*--missing drop"),
        (
            lambda rows: [*rows[:4], ("c1", "low", 0.3, "low"), *rows[5:]],
            r"id = c1; first row 4\) add up to 0\.5, not 1.*--scale unnormalised",
        ),
        (lambda rows: [*rows[:4], ("c1", "low", 1.2, "low"), *rows[5:]], r"Row 5: values of column 'prob' outside \[0, 1\] \(1\.2\)"),
        (lambda rows: [*rows[:4], ("c1", "low", "x", "low"), *rows[5:]], "Row 5 of column 'prob' is 'x', not a number"),
        (lambda rows: [*rows[:4], ("c1", "low", "", "low"), *rows[5:]], r"no value in 'prob' \(row 5: id = c1\).*--missing drop"),
        (lambda rows: [*rows[:17], ("c5", "medium", 0.25, "high")], "Row 18 of column 'label' is 'high', but an earlier row .* says 'low'"),
    ],
)
def test_faults_name_the_row_of_the_file(change, sentence):
    rows = rows_of(P * 2, say=lambda i, _: KINDS[(Y * 2)[i]]) if sentence.startswith("Row 18") else rows_of()
    rows = change(rows) + (rows[18:] if sentence.startswith("Row 18") else [])
    with pytest.raises(InputError, match=sentence):
        read(text(("id", "class", "prob", "label"), rows))


def test_incomplete_cases_are_left_out_on_request():
    rows = rows_of()
    (found,) = read(text(("id", "class", "prob", "label"), rows[:4] + rows[5:]), mapping=Mapping(missing="drop"))
    assert (found.n, found.n_excluded) == (N - 1, 1)
    np.testing.assert_array_equal(found.probabilities, [p for i, p in enumerate(P) if i != 1])


def test_options_that_a_question_does_not_have_are_0():
    matrix = [(0.5, 0.5, 0.0), (0.75, 0.25, 0.0), (0.2, 0.2, 0.6), (0.5, 0.25, 0.25), (0.3, 0.3, 0.4), (0.125, 0.625, 0.25)]
    rows = [r for r in rows_of(matrix, say=lambda i, _: KINDS[(0, 1, 2, 1, 2, 1)[i]]) if r[2] != 0.0]
    found = checked(text(("id", "class", "prob", "label"), rows), matrix)
    assert any("2 cases have no row for some class" in n for n in found.notes)


def test_the_most_probable_classes_alone_are_refused():
    rows = [r for r in rows_of() if r[2] > 0.15]
    with pytest.raises(InputError, match=r"6 cases have no row for some class \(first: id = c0 lacks medium\)"):
        read(text(("id", "class", "prob", "label"), rows))


def test_one_case_and_folds():
    checked(text(("id", "class", "prob", "label"), rows_of()[:3]), P[:1], label=Y[:1])
    rows = [(r[0], fold, *r[1:]) for fold in (1, 2) for r in rows_of()]
    (found,) = read(text(("id", "fold", "class", "prob", "label"), rows))
    assert found.n == 2 * N
    assert list(found.groups["fold"]) == ["1"] * N + ["2"] * N


def test_labels_in_another_file():
    labels = text(("id", "label"), [(f"c{i}", KINDS[Y[i]]) for i in reversed(range(N))])
    (found,) = read(text(("id", "class", "prob"), [r[:3] for r in rows_of()]), labels=labels)
    np.testing.assert_array_equal(found.probabilities, P)
    np.testing.assert_array_equal(found.label, Y)


def test_probabilities_that_do_not_add_up_are_asked_about():
    half = [tuple(x / 2 for x in row) for row in P]
    data = text(("id", "class", "prob", "label"), rows_of(half))
    question = asked(data)
    assert (question.id, question.options) == ("scale", ("unnormalised",))
    (found,) = read(data, mapping=Mapping(scale="unnormalised"))
    np.testing.assert_allclose(found.probabilities, P, rtol=1e-12)


def test_percent_and_logarithms():
    percent = [tuple(100 * x for x in row) for row in P]
    (found,) = read(text(("id", "class", "prob", "label"), rows_of(percent)))
    np.testing.assert_allclose(found.probabilities, P, rtol=1e-12)
    logs = [tuple(np.log(x) for x in row) for row in P]
    (found,) = read(text(("id", "class", "prob", "label"), rows_of(logs)))
    np.testing.assert_allclose(found.probabilities, P, rtol=1e-12)


def test_positive_class_is_asked_and_told():
    two = [(0.25, 0.75), (0.5, 0.5), (0.875, 0.125), (0.75, 0.25)]
    names, y = ("benign", "malignant"), (1, 0, 0, 1)
    data = text(("id", "class", "prob", "label"), rows_of(two, names=names, say=lambda i, _: names[y[i]]))
    assert asked(data).id == "positive"
    checked(data, two, names, y, positive="malignant")
    checked(data, [(b, a) for a, b in two], names[::-1], [1 - v for v in y], positive="benign")


def test_two_labels_are_asked_about():
    rows = [(*r, KINDS[(int(r[0][1:]) + 1) % 3]) for r in rows_of()]
    data = text(("id", "class", "prob", "label", "label_true"), rows)
    question = asked(data)
    assert (question.id, set(question.options)) == ("label", {"label", "label_true"})
    (found,) = read(data, mapping=Mapping(label="label"))
    np.testing.assert_array_equal(found.label, Y)


def test_predictions_without_labels_say_so():
    data = text(("id", "class", "prob"), [r[:3] for r in rows_of()])
    with pytest.raises(InputError, match="no column of labels"):
        read(data)


def test_told_columns_are_followed():
    data = text(("key", "class", "x", "truth"), rows_of())
    (found,) = read(data, mapping=Mapping(label="truth", probabilities="x", id="key"))
    np.testing.assert_array_equal(found.probabilities, P)
    assert list(found.ids) == [f"c{i}" for i in range(N)]


def test_inspect_tells_the_shape():
    layout = inspect(text(("id", "class", "prob", "label"), rows_of()))
    assert layout.sentence == "Read as: label = label, probabilities = prob[high] + prob[low] + prob[medium]."
    assert (
        "Long form: 18 rows are 6 cases (label = label, class = class, probability = prob, case = id); rows are counted as cases."
        in layout.notes
    )


def test_visits_of_patients_are_no_long_form():
    rows = [(f"p{i // 2}", "ab"[i % 2], p, i % 3 % 2) for i, p in enumerate(np.linspace(0.05, 0.9, 40).round(3))]
    (found,) = read(text(("patient_id", "site", "probability", "outcome"), rows))
    assert found.n == 40
    assert found.task == "binary"


def test_two_visits_with_different_labels_are_no_long_form():
    rows = [(f"p{i}", visit, (0.3, 0.9)[visit] - i / 100, i % 2) for i in range(30) for visit in (0, 1)]
    (found,) = read(text(("patient_id", "label", "prob", "sex"), rows))
    assert (found.n, found.source["roles"]["label"]) == (60, "label")


def test_two_teams_of_a_game_are_two_forecasts():
    teams = [(f"g{g}", f"team{(g * 3 + side * (1 + g % 5)) % 12}", (p, 1 - p)[side], int(side == g % 2))
             for g, p in enumerate(np.linspace(0.1, 0.9, 30).round(3)) for side in (0, 1)]  # fmt: skip
    (found,) = read(text(("game_id", "team", "win_prob", "won"), teams), mapping=Mapping(label="won"))
    assert (found.n, found.task) == (60, "binary")


def test_one_row_a_case_and_model_is_no_long_form():
    rows = [(f"c{i // 2}", ("a", "b")[i % 2], (0.25, 0.75)[i % 2], i // 2 % 2) for i in range(40)]  # the models' values add up to 1
    models = read(text(("case_id", "model", "prob", "y"), rows))
    assert [m.n for m in models] == [20, 20]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_order_gives_the_wide_files_numbers(data):
    n, k = data.draw(st.integers(3, 8)), data.draw(st.integers(3, 5))
    parts = [data.draw(st.lists(st.integers(1, 50), min_size=k, max_size=k)) for _ in range(n)]
    matrix = [[x / sum(p) for x in p] for p in parts]
    label = [data.draw(st.integers(0, k - 1)) for _ in range(n)]
    rows = [(f"c{i}", "vwxyz"[j], matrix[i][j], "vwxyz"[label[i]]) for i in range(n) for j in range(k)]
    rows = data.draw(st.permutations(rows))
    (long,) = read(text(("id", "class", "prob", "label"), rows))
    order = [int(c[1:]) for c in long.ids]
    np.testing.assert_array_equal(long.probabilities, np.array(matrix)[order])
    np.testing.assert_array_equal(long.label, np.array(label)[order])
