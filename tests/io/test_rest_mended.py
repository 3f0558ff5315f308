"""Roles beside the main ones, labels of one class, near misses, rows of a labels file, limits, an index, and words for yes and no."""

import json
from fractions import Fraction

import pandas as pd
import pytest

from calibcore.cli import main
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect, read
from calibcore.io.vocabulary import is_bound_of

N = 40
P = [Fraction(2 * i + 1, 80) for i in range(N)]  # 1/80 … 79/80: neither 0, 1 nor ½
Y = [int(i % 4 == 3 or i > 25) for i in range(N)]
LONG = "How likely is it, in your opinion, that it rains tomorrow? Probability (answer of expert 2)"


def csv(header, *columns):
    shown = [[f"{float(v):.4f}" if isinstance(v, Fraction) else v for v in c] for c in columns]
    return (header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in zip(*shown, strict=True))).encode()


def asked(data, **said):
    with pytest.raises(AmbiguousLayout) as raised:
        read(data, mapping=Mapping(**said))
    (question,) = raised.value.questions
    return question


def refused(data, **said):
    with pytest.raises(InputError) as raised:
        read(data, mapping=Mapping(**said))
    assert not isinstance(raised.value, AmbiguousLayout)
    return raised.value


def brier(p):
    """Of P(positive)."""
    claimed, happened = p.rows("positive")
    return float(((claimed - happened) ** 2).mean())


# --- cluster and time ---------------------------------------------------------------------------------------------------

SITES = csv("y,prob,site,wing,w", Y, P, ["a", "b"] * 20, ["N", "E", "S", "W"] * 10, [Fraction(i % 7 + 1, 8) for i in range(N)])


def test_a_cluster_is_no_group_and_stands_among_the_roles():
    (found,) = read(SITES, mapping=Mapping(cluster="site", weight=(), probabilities="prob"))
    assert sorted(found.groups) == ["wing"]
    assert found.source["roles"]["cluster"] == "site"
    layout = inspect(SITES, mapping=Mapping(cluster="site", time="w"))
    assert (layout.roles["cluster"], layout.roles["time"]) == ("site", "w")
    assert "cluster = site, time = w" in layout.sentence


def test_a_column_that_is_also_named_as_a_group_stays_one():
    (found,) = read(SITES, mapping=Mapping(cluster="site", groups=("site",)))
    assert list(found.groups) == ["site"]


def test_a_column_of_fractions_with_a_role_of_its_own_is_no_rival_of_the_probability():
    data = csv("y,fit,w", Y, P, [Fraction(i % 7 + 1, 8) for i in range(N)])
    assert asked(data).id == "probabilities"
    (found,) = read(data, mapping=Mapping(weight="w"))
    assert found.source["roles"]["probabilities"] == {"1": "fit"}


@pytest.mark.parametrize("option", ["--group", "--time", "--cluster", "--weight", "--id"])
def test_none_is_an_answer_for_every_column_in_the_shell(option, tmp_path, capsys):
    path = tmp_path / "f.csv"
    path.write_bytes(csv("y,prob,site", Y, P, ["a", "b"] * 20))
    assert main(["measure", str(path), option, "none", "--format", "json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert model["n"] == N


def test_a_column_that_is_called_none_is_a_column():
    (found,) = read(csv("y,prob,none", Y, P, ["a", "b"] * 20), mapping=Mapping(groups="none"))
    assert list(found.groups) == ["none"]


# --- labels of one class ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("no", "yes"),
    [
        ("no", "yes"),
        ("False", "True"),
        ("negative", "positive"),
        ("-1", "1"),
        ("0", "1"),
        ("NO", "YES"),
        ("not_sick", "sick"),
        ("No", "Yes"),
    ],
)
def test_a_label_that_is_always_no_has_the_word_for_yes_as_the_positive_class(no, yes):
    (found,) = read(csv("y,prob", [no] * N, P))
    assert found.classes == (no, yes)
    assert brier(found) == pytest.approx(float(sum(p * p for p in P) / N), abs=1e-4)  # the event never happened


def test_a_comparison_that_is_never_true_is_false_in_every_row():
    (found,) = read(csv("home,away,prob", [0] * N, [1] * N, P), mapping=Mapping(outcome="home > away"))
    assert found.classes == ("False", "True")
    assert brier(found) == pytest.approx(float(sum(p * p for p in P) / N), abs=1e-4)


def test_one_word_of_unknown_meaning_is_asked_about_with_its_opposite():
    question = asked(csv("y,prob", ["cat"] * N, P))
    assert (question.id, set(question.options)) == ("positive", {"cat", "not cat"})
    happened, never = (read(csv("y,prob", ["cat"] * N, P), mapping=Mapping(positive=o))[0] for o in ("cat", "not cat"))
    assert brier(happened) == pytest.approx(float(sum((1 - p) ** 2 for p in P) / N), abs=1e-4)
    assert brier(never) == pytest.approx(float(sum(p * p for p in P) / N), abs=1e-4)


@pytest.mark.parametrize("value", ["0.5", "0.3"])
def test_a_constant_measured_number_is_no_label(value):
    assert "only " + value in str(refused(csv("y,prob", [value] * N, P)))


# --- a table of two columns ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("0", "1"), ("no", "yes")])
@pytest.mark.parametrize("n", [16, N])
def test_an_event_beside_a_score_is_read(words, n):
    (found,) = read(csv("churned,score", [words[y] for y in Y[:n]], P[:n]))
    assert (found.n, found.classes) == (n, words)
    assert any("'churned'" in note for note in found.notes)


def test_an_event_that_a_threshold_makes_is_asked_about():
    assert asked(csv("churned,score", [int(p > Fraction(1, 2)) for p in P[17:23]], P[17:23])).options == ("churned", "none")


# --- near misses --------------------------------------------------------------------------------------------------------

WIDE = csv(",".join(["y_true", *(f"x{i}" for i in range(20)), "prob"]), Y, *[[7] * N] * 20, P)


@pytest.mark.parametrize("said", [{"label": "y_tru"}, {"label": "Y-True2"}, {"label": "ytrue"}])
def test_the_nearest_column_is_named_and_all_are_listed(said):
    error = refused(WIDE, **said)
    assert "Is 'y_true' meant?" in str(error)
    assert error.available == ("y_true", *(f"x{i}" for i in range(20)), "prob")


def test_the_nearest_column_comes_first_however_far_right_it_stands():
    assert "The columns are prob, y_true, x0" in str(refused(WIDE, probabilities="probs"))


@pytest.mark.parametrize("said", [{"rows": "splt=test"}, {"outcome": "splt > 1"}, {"groups": ("splt",)}, {"weight": "splt"}])
def test_every_role_is_answered_with_the_nearest_column(said):
    data = csv("y,prob,split", Y, P, [1, 2] * 20)
    said = said if "outcome" not in said else {**said, "label": None}
    assert "Is 'split' meant?" in str(refused(data, **said))


def test_a_name_that_is_near_none_suggests_none():
    assert "meant" not in str(refused(WIDE, label="zebra"))


# --- rows that are judged, marked in the file of labels ------------------------------------------------------------------

SCORES = csv("id,prob", range(N), P)


def labels(name):
    return csv(f"id,y,{name}", range(N), Y, [int(i % 4 == 0) for i in range(N)])


def test_rows_are_chosen_by_a_flag_that_only_the_labels_have():
    wanted = [(p, y) for i, (p, y) in enumerate(zip(P, Y, strict=True)) if i % 4]
    (found,) = read(SCORES, labels=labels("kept_out"), mapping=Mapping(rows="kept_out=0"))
    assert found.n == 30
    assert brier(found) == pytest.approx(float(sum((p - y) ** 2 for p, y in wanted) / 30), abs=1e-4)


def test_a_flag_of_training_in_the_labels_is_asked_about():
    with pytest.raises(AmbiguousLayout) as raised:
        read(SCORES, labels=labels("is_train"))
    (question,) = raised.value.questions
    assert (question.id, question.options) == ("rows", ("is_train=0", "is_train=1", "all"))
    assert read(SCORES, labels=labels("is_train"), mapping=Mapping(rows="is_train=1"))[0].n == 10


def test_rows_of_the_labels_file_in_the_shell(tmp_path, capsys):
    (tmp_path / "p.csv").write_bytes(SCORES)
    (tmp_path / "y.csv").write_bytes(labels("kept_out"))
    options = ["--labels-file", str(tmp_path / "y.csv"), "--rows", "kept_out!=1", "--format", "json"]
    assert main(["measure", str(tmp_path / "p.csv"), *options]) == 0
    assert json.loads(capsys.readouterr().out)["models"][0]["n"] == 30


# --- notes on long names ------------------------------------------------------------------------------------------------


def test_notes_on_rows_and_values_cut_long_names():
    (found,) = read(csv(f'y,"{LONG}"', Y, [*P[1:], ""]), mapping=Mapping(probabilities=LONG, missing="drop"))
    (note,) = found.notes
    assert LONG not in note
    assert "How likely" in note
    assert "expert 2)" in note


# --- two models without a telling name ------------------------------------------------------------------------------------

TWO = csv("obs,baseline,new_model", Y, P, [p * p for p in P])


def test_both_of_two_columns_are_an_answer_in_python_and_in_the_shell(tmp_path, capsys):
    question = asked(TWO)
    assert question.options == ("baseline,new_model", "baseline", "new_model")
    found = read(TWO, mapping=Mapping(probabilities=question.options[0]))
    assert [p.name for p in found] == ["baseline", "new_model"]
    exact = [float(sum((q - y) ** 2 for q, y in zip(c, Y, strict=True)) / N) for c in (P, [p * p for p in P])]
    assert [brier(p) for p in found] == pytest.approx(exact, abs=1e-4)
    (tmp_path / "two.csv").write_bytes(TWO)
    assert main(["measure", str(tmp_path / "two.csv"), question.flag, question.options[0], "--format", "json"]) == 0
    assert [m["name"] for m in json.loads(capsys.readouterr().out)["models"]] == ["baseline", "new_model"]


def test_names_with_commas_are_quoted_in_that_answer():
    data = csv('obs,"a, b",c', Y, P, [p * p for p in P])
    assert asked(data).options[0] == '"a, b",c'
    assert [p.name for p in read(data, mapping=Mapping(probabilities='"a, b",c'))] == ["a, b", "c"]


def test_a_pair_that_adds_up_to_one_is_no_two_models():
    assert asked(csv("obs,u,v", Y, P, [1 - p for p in P])).options == ("u", "v")


def test_several_confidences_are_named_with_commas():
    top = [max(p, 1 - p) for p in P]
    data = csv("y,y_pred,c1,c2", Y, [int(p > Fraction(1, 2)) for p in P], top, [(1 + t) / 2 for t in top])
    assert [p.name for p in read(data, mapping=Mapping(confidence="c1,c2"))] == ["c1", "c2"]
    assert "'c9'" in str(refused(data, confidence="c1,c9"))


# --- the label is never the likeliest class by luck alone ----------------------------------------------------------------

GUESS = [int(p > Fraction(1, 2)) for p in P]  # the rows where it should be wrong: 2(1/80 + 3/80 + … + 39/80) = 10


@pytest.mark.parametrize("words", [("0", "1"), ("no", "yes")])
def test_a_prediction_called_class_is_not_taken_for_the_label_of_another_column(words):
    data = csv("type,class,prob", [words[y] for y in Y], [words[g] for g in GUESS], P)
    question = asked(data)
    assert (question.id, question.options) == ("label", ("type", "class"))
    exact = float(sum((p - y) ** 2 for p, y in zip(P, Y, strict=True)) / N)
    (found,) = read(data, mapping=Mapping(label="type"))
    assert brier(found) == pytest.approx(exact, abs=1e-4)


def test_a_label_that_repeats_in_another_column_is_asked_about_no_more_than_one_without_rivals():
    assert read(csv("class,prob", GUESS, P))[0].n == N
    assert read(csv("copy,class,prob", GUESS, GUESS, P))[0].n == N
    assert read(csv("smoker,y_true,prob", Y, GUESS, P))[0].source["roles"]["label"] == "y_true"  # its name says enough
    assert read(csv("site,class,prob", ["a", "b"] * 20, GUESS, P))[0].n == N


# --- limits and standard errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["se.fit", "mean_se", "mean_ci_lower", "mean_ci_upper", "obs_ci_lower", "conf.low", "conf.high", "std.error", "lwr", "upr"]
)
def test_limits_and_errors_say_so_by_themselves(name):
    assert is_bound_of(name, set())
    (found,) = read(csv(f"y,fit,{name}", Y, P, [p / 3 for p in P]))
    assert found.source["roles"]["probabilities"] == {"1": "fit"}


@pytest.mark.parametrize(
    "name", ["fit", "mean", "prob", "confidence", "conf", "response", "case", "p_sepsis", "house", "lowercase", "conf_1", "ci"]
)
def test_other_names_do_not(name):
    assert not is_bound_of(name, set())


def test_a_whole_frame_of_statsmodels_is_read():
    header = "y,mean,mean_se,mean_ci_lower,mean_ci_upper,obs_ci_lower,obs_ci_upper"
    (found,) = read(csv(header, Y, P, *[[p * k / 10 for p in P] for k in (1, 9, 9, 8, 7)]))
    assert found.source["roles"]["probabilities"] == {"1": "mean"}


# --- words for yes and no -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truths", "guesses"), [(("False", "True"), "01"), (("no", "yes"), "01"), (("-1", "1"), "01"), ("01", ("no", "yes"))]
)
def test_predictions_in_other_words_than_the_label_are_the_same_classes(truths, guesses):
    data = csv("y,pred,prob", [truths[y] for y in Y], [guesses[g] for g in GUESS], P)
    (found,) = read(data)
    assert found.classes == tuple(truths)
    assert brier(found) == pytest.approx(float(sum((p - y) ** 2 for p, y in zip(P, Y, strict=True)) / N), abs=1e-4)
    assert any("in the words of 'y'" in note for note in found.notes)


def test_a_confidence_beside_predictions_in_other_words():
    top = [max(p, 1 - p) for p in P]
    (found,) = read(csv("y,pred,confidence", [bool(y) for y in Y], GUESS, top))
    claimed, right = found.rows("top_label")
    assert claimed.mean() == pytest.approx(float(sum(top) / N), abs=1e-4)
    assert right.sum() == sum(g == y for g, y in zip(GUESS, Y, strict=True))


def test_numbers_that_mean_something_else_are_left_as_they_are():
    question = asked(csv("y,pred,prob", [y + 1 for y in Y], GUESS, P))  # 1 and 2 beside 0 and 1
    assert question.id == "confidence"


# --- an index -----------------------------------------------------------------------------------------------------------


def frame(**more):
    return pd.DataFrame({"y": Y, "prob": [float(p) for p in P], **more})


def test_a_label_in_the_index_is_found(tmp_path):
    indexed = frame().set_index("y")
    indexed.to_parquet(tmp_path / "f.parquet")
    exact = float(sum((p - y) ** 2 for p, y in zip(P, Y, strict=True)) / N)
    for source in (indexed, tmp_path / "f.parquet", indexed.rename_axis("churned")):
        (found,) = read(source)
        assert found.n == N
        assert brier(found) == pytest.approx(exact)


def test_a_label_in_one_level_of_the_index_is_found():
    (found,) = read(frame(g=["a", "b"] * 20).set_index(["y", "g"]))
    assert found.source["roles"]["label"] == "y"


def test_an_index_is_no_rival_of_a_label():
    for name, values in (("target", GUESS), ("row", range(N)), ("site", ["a", "b"] * 20), ("date", pd.date_range("2024-01-01", periods=N))):
        (found,) = read(frame(**{name: values}).set_index(name))
        assert found.source["roles"]["label"] == "y"
        assert any(note.startswith("Ignored as") and name in note for note in found.notes)


def test_an_index_without_a_name_is_no_prediction():
    (found,) = read(frame(k=GUESS).set_index("k").rename_axis(None))
    assert found.notes == ("Ignored as saved row numbers: (no name).",)
