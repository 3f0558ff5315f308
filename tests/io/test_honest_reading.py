"""Files that say too little: what is asked, what is noted, and how columns are called in a sentence."""

import numpy as np
import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect, read
from calibcore.io.wording import cut

N = 40
P = np.linspace(0.02, 0.98, N).round(3)
NOISE = np.array([0, 1, 1, 0] * 10)  # has nothing to do with P, which rises
CLEAR = (P > 0.3).astype(int)  # has to do with P
LONG = "how_likely_is_it_in_the_opinion_of_the_expert_that_this_will_happen_within_a_year"


def csv(header, *columns, sep=","):
    lines = ([header] if header else []) + [sep.join(map(str, row)) for row in zip(*columns, strict=True)]
    return ("\n".join(lines) + "\n").encode()


def question(data, **given):
    with pytest.raises(AmbiguousLayout) as raised:
        read(data, mapping=Mapping(**given))
    return raised.value.questions[0]


# --- labels without a name ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 8, 20, 40])
@pytest.mark.parametrize("header", ["smoker,probability", "x1,probability", "smoker,score"])
def test_a_feature_is_asked_about_however_few_rows_there_are(header, n):
    found = question(csv(header, NOISE[:n], P[:n]))
    assert (found.id, found.options) == ("label", (header.split(",")[0], "none"))


def test_a_feature_beside_predictions_is_asked_about():
    assert question(csv("smoker,yhat,probability", NOISE, (P > 0.5).astype(int), P)).id == "label"
    assert question(csv("deck,yhat,confidence", np.arange(N) % 3, np.arange(N) // 14, 0.4 + P / 2)).id == "label"
    yes_no = np.where(NOISE, "yes", "no")
    assert question(csv("smoker,prediction,confidence", yes_no, np.where(P > 0.5, "yes", "no"), np.maximum(P, 1 - P))).id == "label"


def test_the_name_of_a_feature_is_asked_about_whatever_its_values():
    assert question(csv("x3,probability", CLEAR, P)).id == "label"
    assert question(csv("feature_2,probability", np.tile(CLEAR, 5), np.tile(P, 5))).id == "label"


def test_a_label_that_its_values_alone_give_away_is_noted():
    (found,) = read(csv("died,probability", CLEAR, P))
    assert any("'died', the only one that could be it" in note for note in found.notes)


@pytest.mark.parametrize("name", ["y", "label", "outcome", "default_flag"])
@pytest.mark.parametrize("n", [3, 10, 40])
def test_the_name_of_a_label_is_neither_asked_about_nor_noted(name, n):
    (found,) = read(csv(f"{name},probability", NOISE[:n], P[:n]))
    assert not any("name of a label" in note for note in found.notes)


def test_no_column_can_be_the_label():
    with pytest.raises(InputError, match="predictions but no column of labels"):
        read(csv("smoker,probability", NOISE, P), mapping=Mapping(label="none"))


def test_an_outcome_with_ties_is_offered():
    result = ["0.5", "0.5", *CLEAR[2:]]
    assert question(csv("game,home_win_prob,result", range(N), P, result)).options == ("result", "none")
    assert question(csv("home,home_win_prob,result", ["a", "b"] * 20, P, result)).options == ("result", "home")
    assert question(csv("home,home_win_prob,result", ["a", "b"] * 20, P, result), label="result").id == "drop_label"


def test_teams_are_no_outcomes():
    thirds = [f"{a},{b},{c}" for a, b, c in zip(P / 2, P / 4, 1 - 0.75 * P, strict=True)]
    data = csv("Home,Away,p_home,p_draw,p_away,FTR", ["a", "b"] * 20, ["b", "a"] * 20, thirds, list("HDAH" * 10))
    assert question(data).id == "classes"


def test_a_second_numbered_probability_is_not_passed_over():
    assert question(csv("y,p1,p2", CLEAR, P, (P**2).round(4))).id == "columns_are"


# --- probabilities against the label ------------------------------------------------------------------------------------


def notes(data, **given):
    (found,) = read(data, mapping=Mapping(**given))
    return [n for n in found.notes if "lower values" in n]


def test_lower_probabilities_of_events_are_noted_even_where_chance_could_explain_them():
    # means of 0.52 for 1 and 0.55 for 0
    small = csv("y,prob", (0, 1, 0, 1, 0, 1), (0.55, 0.5, 0.6, 0.58, 0.5, 0.48))
    (said,) = notes(small)
    assert said.startswith("Rows of class '1' have lower values in 'prob' (mean 0.52) than the others (0.55), which chance could explain:")
    assert not notes(small, positive="1")
    assert not notes(csv("y,prob", (0, 1, 0, 1), (0.25, 0.75, 0.5, 0.5)))
    (beyond,) = notes(csv("y,prob", 1 - CLEAR, P))
    assert "chance" not in beyond


# --- percent by name ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pd_percent", "prob_pct", "p(%)", "risk %", "prob%", "pd_perc", "probability_in_percent"])
def test_percent_by_name(name):
    y = NOISE
    for high in (0.015, 0.9, 1.0):
        found = question(csv(f"y,{name}", y, P / P.max() * high))
        assert (found.id, found.options) == ("scale", ("percent", "fraction"))
    for high in (1.001, 1.5):
        with pytest.raises(InputError, match=r"outside \[0, 1\]. The name says percent: confirm it \(--scale percent\)") as raised:
            read(csv(f"y,{name}", y, P / P.max() * high))
        assert not isinstance(raised.value, AmbiguousLayout)
    values = (P / P.max() * 80).round(2)
    (found,) = read(csv(f"y,{name}", y, values))
    assert found.probabilities[:, 1] == pytest.approx(values / 100)
    assert any("percent" in n for n in found.notes)


@pytest.mark.parametrize("name", ["percentage", "pct", "%", "rain_pct"])
def test_percent_without_the_name_of_a_probability_is_asked_about(name):
    found = question(csv(f"y,{name}", NOISE, 80 * P))
    assert (found.id, found.options) == ("probabilities", (name,))
    (read_,) = read(csv(f"y,{name}", NOISE, 80 * P), mapping=Mapping(probabilities=name))
    assert read_.probabilities[:, 1] == pytest.approx(0.8 * P)


# --- no header line -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "sep"), [(("cat", "dog"), ","), (("good", "poor"), ";")])
def test_texts_without_a_header_line_ask_for_the_positive_class(words, sep):
    found = question(csv("", np.where(CLEAR, *words), P, sep=sep))
    text = f"Column 1 has the values {words[1]!r} and {words[0]!r}. Which one does the probability (column 2) refer to?"
    assert (found.id, found.text, found.options) == ("positive", text, words)


def test_yes_and_no_without_a_header_line_are_read():
    (found,) = read(csv("", np.where(CLEAR, "yes", "no"), P, sep=";"))
    assert (found.positive_class, found.n) == ("yes", N)


def test_columns_without_names_that_add_up_to_1_stand_for_classes():
    thirds = [P / 2, P / 4, 1 - 0.75 * P]
    found = question(csv("", np.array(["ape", "bat", "cow"])[np.arange(N) % 3], *thirds))
    assert (found.id, found.options) == ("classes", ("ape,bat,cow",))
    assert found.text.startswith("Which class does each of column 2, column 3 and column 4 stand for")
    two = csv("", np.where(CLEAR, "yes", "no"), P, 1 - P)
    asked = question(two)
    assert (asked.text, asked.options[0]) == ("What do column 2 and column 3 stand for: one model each, or one class each?", "classes")
    assert question(two, columns_are="classes").options == ("yes,no", "no,yes")


def test_a_predicted_class_without_a_name_is_asked_about():
    data = csv("", np.where(NOISE, "yes", "no"), np.where(CLEAR, "yes", "no"), np.maximum(P, 1 - P))
    assert set(question(data).options) == {"column 1", "column 2"}
    found = question(data, label="column 1")
    assert (found.id, found.options) == ("predicted", ("column 2", "none"))
    assert found.text == "Column 2 has the values of the label, column 1. Does it hold the predicted class?"
    (read_,) = read(data, mapping=Mapping(label="column 1", predicted="column 2"))
    assert read_.rows("top_label")[1].mean() == np.mean(NOISE == CLEAR)


def test_three_classes_beside_one_number_say_the_way_out():
    with pytest.raises(InputError, match=r"column 1 could hold classes. Put a header line above it") as raised:
        read(csv("", list("abca" * 10), P))
    assert "'column" not in str(raised.value)


# --- names in sentences -------------------------------------------------------------------------------------------------


def test_long_names_are_cut_in_sentences_and_whole_in_answers():
    found = question(csv(f"{LONG}_1,{LONG}_2,prob", NOISE, CLEAR, P))
    assert LONG not in found.text
    assert cut(f"{LONG}_1") in found.text
    assert cut(f"{LONG}_2") in found.text
    assert set(found.options) == {f"{LONG}_1", f"{LONG}_2"}
    layout = inspect(csv(f"y,{LONG}_probability", NOISE, P))
    assert LONG not in layout.sentence
    assert layout.roles["probabilities"] == {"1": f"{LONG}_probability"}
    with pytest.raises(AmbiguousLayout) as raised:
        read(csv(f"y,{LONG}_probability", NOISE, ["", *P[1:]]))
    assert LONG not in str(raised.value)
    assert all(len(cut("n" * k)) == min(k, 60) for k in range(200))


# --- flags beside labels ------------------------------------------------------------------------------------------------

RIGHT = ((P > 0.5) == NOISE).astype(int)
WRONG_TWICE = np.where(np.arange(N) < 2, 1 - RIGHT, RIGHT)


@pytest.mark.parametrize(
    ("header", "columns", "what"),
    [
        ("label,pred,confidence,correct", ((P > 0.5).astype(int), np.maximum(P, 1 - P)), "'pred'"),
        ("label,pred,prob,correct", ((P > 0.5).astype(int), P), "'pred'"),
        ("label,prob,correct", (P,), "the most probable class"),
        ("label,prob_0,prob_1,correct", ((1 - P).round(3), P), "the most probable class"),
    ],
)
def test_a_flag_that_contradicts_the_label_is_noted(header, columns, what):
    def said(flag):
        (found,) = read(csv(header, NOISE, *columns, flag))
        return [n for n in found.notes if "says otherwise" in n]

    assert said(RIGHT) == []
    expected = f"Column 'correct' says otherwise than 'label' and {what} in 2 rows (first: row 1); the label counts."
    assert said(WRONG_TWICE) == [expected]


def test_weights_are_offered_and_never_used_unless_named():
    data = csv("label,prob,weight", NOISE, P, np.arange(N) + 1)
    (found,) = read(data)
    assert found.weight is None
    assert inspect(data).offered_weight == "weight"
    assert any("--weight weight" in n for n in found.notes)
    (told,) = read(data, mapping=Mapping(weight="weight"))
    assert told.weight.tolist() == list(range(1, N + 1))
