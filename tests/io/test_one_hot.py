"""Labels spread over 0/1 columns: matched with the probabilities by their names, else the order is asked."""

import numpy as np
import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect, read

P = [(0.7, 0.2, 0.1), (0.1, 0.8, 0.1), (0.2, 0.2, 0.6), (0.5, 0.25, 0.25), (0.3, 0.3, 0.4), (0.125, 0.625, 0.25)]
Y = (0, 1, 2, 1, 2, 1)
ONE = np.eye(3, dtype=int)[list(Y)]
WORDS = np.array(["False", "True"])[ONE]


def csv(header, *columns):
    return (header + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n").encode()


def asked(data, **told):
    with pytest.raises(AmbiguousLayout) as raised:
        read(data, mapping=Mapping(**told))
    (question,) = raised.value.questions
    return question


@pytest.mark.parametrize(
    ("header", "classes"),
    [
        ("y_0,y_1,y_2,p_0,p_1,p_2", "012"),
        ("true_cat,true_dog,true_emu,prob_cat,prob_dog,prob_emu", ("cat", "dog", "emu")),
        ("cat,dog,emu,p_cat,p_dog,p_emu", ("cat", "dog", "emu")),
        ("cat_true,dog_true,emu_true,cat_prob,dog_prob,emu_prob", ("cat", "dog", "emu")),
        ("cat_label,dog_label,emu_label,cat,dog,emu", ("cat", "dog", "emu")),
        ("target[a],target[b],target[c],prob[a],prob[b],prob[c]", "abc"),
        ("prob1_outcome,prob2_outcome,probtie_outcome,prob1,prob2,probtie", ("1", "2", "tie")),
        ("HomeWon,AwayWon,Neither,x,y,z", None),
    ],
)
@pytest.mark.parametrize("flags", [ONE, WORDS])
def test_matched_by_name(header, classes, flags):
    data = csv(header, *flags.T, *zip(*P, strict=True))
    if classes is None:  # no name says which belongs to which: never guessed
        with pytest.raises(InputError):
            read(data)
        return
    (found,) = read(data)
    assert found.classes == tuple(classes)
    np.testing.assert_array_equal(found.probabilities, P)
    np.testing.assert_array_equal(found.label, Y)


def test_order_of_columns_does_not_matter_and_letters_may_be_capital():
    p = np.array(P).T
    data = csv("img,Emu_prob,Cat_prob,Dog_prob,dog_true,cat_true,emu_true", "abcdef", p[2], p[0], p[1], ONE[:, 1], ONE[:, 0], ONE[:, 2])
    (found,) = read(data)
    assert found.classes == ("Cat", "Dog", "Emu")
    np.testing.assert_array_equal(found.probabilities, P)
    np.testing.assert_array_equal(found.label, Y)


def test_names_that_do_not_match_are_asked_about():
    data = csv("y_0,y_1,y_2,p_a,p_b,p_c", *ONE.T, *zip(*P, strict=True))
    question = asked(data)
    assert (question.id, question.options[0]) == ("classes", "0,1,2")
    (found,) = read(data, mapping=Mapping(classes=("1", "0", "2")))
    np.testing.assert_array_equal(found.label, [1, 0, 2, 0, 2, 0])  # y_1 belongs to p_a
    np.testing.assert_array_equal(found.probabilities, P)


def test_two_sets_of_probabilities_are_two_models():
    data = csv("y_a,y_b,y_c,p_a,p_b,p_c,cal_p_a,cal_p_b,cal_p_c", *ONE.T, *zip(*P, strict=True), *zip(*P[::-1], strict=True))
    first, second = read(data)
    np.testing.assert_array_equal(first.probabilities, P)
    np.testing.assert_array_equal(second.probabilities, P[::-1])
    np.testing.assert_array_equal(second.label, Y)


def test_two_complementary_pairs_are_one_binary_problem():
    p, y = np.array([0.75, 0.25, 0.5, 0.875]), np.array([1, 0, 1, 1])
    data = csv("Democrat_WinProbability,Republican_WinProbability,Democrat_Won,Republican_Won", p, 1 - p, y, 1 - y)
    question = asked(data)
    assert (question.id, set(question.options)) == ("positive", {"Democrat", "Republican"})
    (found,) = read(data, mapping=Mapping(positive="Democrat"))
    assert found.task == "binary"
    np.testing.assert_array_equal(found.rows("positive")[0], p)
    np.testing.assert_array_equal(found.label, y)


def test_one_column_of_probabilities_beside_two_flags():
    p, y = [0.75, 0.25, 0.5, 0.875], np.array([1, 0, 1, 1])
    (found,) = read(csv("y_0,y_1,p_1", 1 - y, y, p))
    np.testing.assert_array_equal(found.rows("positive")[0], p)
    np.testing.assert_array_equal(found.label, y)


def test_ties_are_left_out_when_told_and_counted():
    p = np.array([0.75, 0.25, 0.5, 0.875, 0.3, 0.4, 0.6, 0.8, 0.9, 0.1])
    y = np.array([1, 0, 0.5, 1, 0, 1, 1, 1, 1, 0])
    data = csv("season,prob1,prob1_outcome,prob2,prob2_outcome", [2020] * 10, p, y, 1 - p, 1 - y)
    question = asked(data)
    assert (question.id, question.options) == ("drop_label", ("0.5",))
    (found,) = read(data, mapping=Mapping(drop_label=("0.5",), positive="1"))
    assert (found.n, found.n_excluded) == (9, 1)
    np.testing.assert_array_equal(found.rows("positive")[0], np.delete(p, 2))
    np.testing.assert_array_equal(found.label, np.delete(y, 2))


def test_pairs_of_one_team_with_ties_ask_as_well():
    p = np.array([0.75, 0.25, 0.5, 0.875, 0.3, 0.4, 0.6, 0.8, 0.9, 0.1])
    y = np.array([1, 0, 0.5, 1, 0, 1, 1, 1, 1, 0])
    data = csv("team,probwin,probwin_outcome", "abcdefghij", p, y)
    assert asked(data).id == "drop_label"
    (found,) = read(data, mapping=Mapping(drop_label=("0.5",)))
    assert (found.n, found.n_excluded) == (9, 1)


def test_rows_without_any_1_have_no_label():
    one = np.vstack([ONE] * 4)
    one[3] = 0
    data = csv("y_a,y_b,y_c,p_a,p_b,p_c", *one.T, *zip(*(P * 4), strict=True))
    with pytest.raises(InputError, match=r"1 of 24 rows have no label.*\(row 4\).*missing=\"drop\""):
        read(data)
    (found,) = read(data, mapping=Mapping(missing="drop"))
    assert (found.n, found.n_excluded) == (23, 1)


def test_labels_of_one_case_that_do_not_exclude_each_other_are_several_problems():
    one = ONE.copy()
    one[0] = (1, 1, 0)
    data = csv("cough,fever,rash,prob_cough,prob_fever,prob_rash", *one.T, *zip(*P, strict=True))
    assert asked(data).options == ("labels",)
    cough, fever, rash = read(data, mapping=Mapping(columns_are="labels"))
    np.testing.assert_array_equal(fever.label, one[:, 1])
    assert (cough.name, rash.name) == ("cough", "rash")


def test_a_label_column_goes_before_encoded_features():
    data = csv("site_a,site_b,site_c,label,prob_a,prob_b,prob_c", *ONE[::-1].T, np.array(list("abc"))[list(Y)], *zip(*P, strict=True))
    (found,) = read(data)
    assert found.source["roles"]["label"] == "label"
    np.testing.assert_array_equal(found.label, Y)


def test_encoded_features_beside_one_probability_are_no_labels():
    y = (1, 0, 1, 1, 0, 0)
    data = csv("colour_red,colour_blue,colour_green,outcome,prob", *ONE.T, y, [p[0] for p in P])
    (found,) = read(data)
    np.testing.assert_array_equal(found.label, y)


def test_inspect_tells_what_was_done_and_the_label_can_be_named():
    data = csv("y_a,y_b,y_c,p_a,p_b,p_c", *ONE.T, *zip(*P, strict=True))
    layout = inspect(data)
    assert layout.sentence == "Read as: label = y_*, probabilities = p_a + p_b + p_c."
    assert "The label is the name of the column that is 1 in each row, among y_a, y_b and y_c." in layout.notes
    (found,) = read(data, mapping=Mapping(label="y_*"))
    np.testing.assert_array_equal(found.label, Y)


def test_predictions_spread_over_columns_are_no_labels():
    guess = np.eye(3, dtype=int)[[0, 1, 2, 0, 2, 1]]
    data = csv("y_a,y_b,y_c,pred_a,pred_b,pred_c,p_a,p_b,p_c", *ONE.T, *guess.T, *zip(*P, strict=True))
    (found,) = read(data)
    np.testing.assert_array_equal(found.label, Y)
    data = csv("species,yhat_a,yhat_b,yhat_c,p_a,p_b,p_c", np.array(list("abc"))[list(Y)], *guess.T, *zip(*P, strict=True))
    (found,) = read(data)
    np.testing.assert_array_equal(found.label, Y)


@pytest.mark.parametrize("header", ["y_true,y_prob", "target,prob", "label_true,label_prob", "y,y_score"])
def test_certain_probabilities_are_no_labels(header):
    """Complementary columns of 0 and 1: a certain model that is always wrong, not two columns of one label."""
    y = np.array([1, 0, 1, 1, 0])
    (found,) = read(csv(header, y, 1 - y))
    np.testing.assert_array_equal(found.label, y)
    np.testing.assert_array_equal(found.rows("positive")[0], 1 - y)


def test_told_columns_are_never_spread_labels():
    y = np.array([1, 0, 1, 1, 0])
    (found,) = read(csv("outcome_true,outcome_model", y, 1 - y), mapping=Mapping(label="outcome_true", probabilities="outcome_model"))
    np.testing.assert_array_equal(found.rows("positive")[0], 1 - y)
    with pytest.raises(InputError, match="the columns are outcome_true and outcome_model"):
        read(csv("outcome_true,outcome_model", y, 1 - y))
