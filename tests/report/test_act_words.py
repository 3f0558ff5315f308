"""Acting at a threshold in words; expected values are counts, fractions and Wilson intervals worked out by hand."""

import pytest

from calibcore import Predictions, Settings, analyze
from calibcore.report.act_words import (
    act_caveats,
    act_headline,
    act_lines,
    act_numbers,
    acting_lines,
    acting_notes,
    both_costs,
    cost_label,
    cost_lines,
)

# 100 rows at 0.95 of which 80 are right, 100 at 0.6 of which 60 are right: 5 and 40 errors expected, 20 and 40 found.
CONFIDENCE = [0.95] * 100 + [0.6] * 100
CORRECT = [1] * 80 + [0] * 20 + [1] * 60 + [0] * 40


def analysis(confidence=CONFIDENCE, correct=CORRECT, threshold=0.9, weight=None, **settings):
    rows = Predictions.from_top_label(confidence, correct, sample_weight=weight, name="m")
    return analyze(rows, Settings(threshold=threshold, **settings))


def test_errors_are_told_in_frequencies():
    first, second, below = act_lines(analysis())
    assert first == "Of 100 rows with confidence above 0.9 the model expects 5.0 wrong predictions; 20 were found."
    # Wilson for 20 of 100 at z = 1.96: (0.2 + 0.0192 ± 1.96·√(0.0016 + 0.000096)) / 1.0384 = 0.1334 and 0.2888
    assert "20.0 in 100 rows acted on (95% interval 13.3 to 28.9); the model itself expects 5.0 in 100." in second
    assert "These are more than chance explains" in second
    assert below == "100 rows are not acted on; wrong predictions among them: 40 expected, 40 would have been found."
    assert act_headline(analysis()) == "m: 5.0 wrong predictions expected, 20 found"


def test_errors_that_chance_explains_prove_nothing():
    said = act_lines(analysis(threshold=0.5))[1]  # 45 expected, 60 found: sd of 45 is √(200·0.225·0.775) = 5.9
    assert "more than chance explains" in said
    fits = act_lines(analysis([0.8] * 100, [1] * 79 + [0] * 21, 0.5))[1]  # 20 expected, 21 found
    assert "Chance alone can give that" in fits
    assert "does not prove the claim" in fits
    fewer = act_lines(analysis([0.6] * 100, [1] * 90 + [0] * 10, 0.5))[1]  # 40 expected, 10 found
    assert "These are fewer than chance explains" in fewer


def test_numbers_stand_with_their_ranges():
    acted, expected, found = act_numbers(analysis())
    assert (acted.value, acted.beside) == ("100 rows", "50% of all rows (coverage)")
    assert (expected.label, expected.value) == ("Wrong predictions expected", "5.0")
    assert expected.beside.startswith("5.0%; if calibrated ")
    assert (found.value, found.beside) == ("20", "20.0%; 95% interval 13.3 to 28.9%")


def test_no_row_beyond_the_threshold():
    a = analysis(threshold=0.99)
    assert act_headline(a) == "m: no row with confidence above 0.99"
    assert act_lines(a)[0].startswith("No row has a confidence above 0.99, so nothing is acted on. 200 rows are not acted on")
    assert [n.value for n in act_numbers(a)] == ["0 rows"]


def test_every_row_beyond_the_threshold():
    assert act_lines(analysis(threshold=0.0))[2] == "No row is left to review."


def test_a_lower_edge_belongs_to_the_rows_acted_on_where_the_settings_say_so():
    assert act_lines(analysis(threshold=0.95))[0].startswith("No row has a confidence above 0.95")
    assert act_lines(analysis(threshold=0.95, closed="left"))[0].startswith("Of 100 rows with confidence of at least 0.95 ")


def test_few_rows_are_said_to_be_few():
    said = act_lines(analysis([0.95, 0.6], [1, 0]))[0]
    assert said.startswith("Of 1 row with confidence above 0.9 the model expects 0.1 wrong predictions; 0 were found.")
    assert "few rows" in said


def test_a_small_expectation_does_not_read_as_none():
    assert "expects under 0.1 wrong predictions" in act_lines(analysis([0.9999] * 40 + [0.6], [1] * 40 + [0]))[0]


def test_weighted_rows_give_shares():
    # at 0.95 the 20 wrong rows weigh 3 each, the 80 right ones 1: 60/140 = 42.9%; expected 5.0% whatever the weights
    a = analysis(weight=[1] * 80 + [3] * 20 + [1] * 100)
    assert act_lines(a)[0] == "Of 100 rows (weighted) with confidence above 0.9 the model expects 5.0% wrong predictions; 42.9% were found."


def test_weights_of_mean_one_are_weights():
    # 50 rows at 90% weigh 100/50 in pairs of ½ and 1½: their sum is their number, and still a share is no number of rows
    right, weight = [1] * 35 + [0] * 15 + [1] * 25 + [0] * 25, [0.5, 1.5] * 50
    a = analyze(Predictions.from_top_label([0.9] * 50 + [0.5] * 50, right, sample_weight=weight), Settings(threshold=0.8))
    assert a.measures["threshold"].acted.weight == 50
    # the wrong ones are rows 35…49: 8 of 1½ and 7 of ½ = 15.5 of 50
    assert act_lines(a)[0] == "Of 50 rows (weighted) with confidence above 0.8 the model expects 10.0% wrong predictions; 31.0% were found."
    assert act_headline(a).endswith(": 10.0% wrong predictions expected, 31.0% found")


def test_costs():
    lines = cost_lines(analysis(cost_error=10, cost_review=1))
    # found 10·20 + 1·100 = 300, expected 10·5 + 100 = 150; 200 rows; break-even 1 − 1/10
    assert lines[0] == (
        "At 10 an error and 1 a review, acting at this threshold and reviewing the rest costs 300 in these rows (1.50 a row); "
        "the model expects 150 (0.75 a row)."
    )
    # 5 errors expected and 20 found: the probabilities are not right, and a threshold that takes them for right is no advice
    assert lines[1] == (
        "By the model's figures, acting on a row costs less than reviewing it where the confidence is above 0.9; your threshold is just "
        "that. These rows show that its figures are off, so go by the costs found."
    )
    fits = cost_lines(analysis([0.8] * 100, [1] * 80 + [0] * 20, cost_error=10, cost_review=1, threshold=0.5))
    assert fits[1].startswith(
        "If the model's figures are right, acting on a row costs less than reviewing it where the confidence is above 0.9; "
    )
    assert fits[1].endswith("your threshold is below that.")
    assert cost_lines(analysis()) == ()
    assert "reviewing never pays" in cost_lines(analysis(cost_error=0, cost_review=1))[1]
    assert "reviewing never pays" in cost_lines(analysis(cost_error=1, cost_review=2))[1]
    assert cost_lines(analysis(threshold=0.5, cost_error=10, cost_review=1))[1].startswith("By the model's figures, ")
    shown = {n.label: n.value for n in act_numbers(analysis(cost_error=10, cost_review=1))}
    assert (shown["Cost found"], shown["Break-even"]) == ("300", "0.9")


@pytest.mark.parametrize(
    ("error", "review", "missing"), [(None, None, None), (2.0, 1.0, None), (2.0, None, "reviewing a row"), (None, 0.0, "an error")]
)
def test_one_cost_alone_is_asked_about(error, review, missing):
    found = both_costs(error, review)
    if missing is None:
        assert found == (error, review, None)
    else:
        assert found[:2] == (None, None)
        assert missing in found[2]


def test_the_positive_view_speaks_of_false_alarms_and_missed_events():
    rows = Predictions.from_arrays([1] * 70 + [0] * 30 + [1] * 5 + [0] * 95, [0.9] * 100 + [0.1] * 100, name="m")
    a = analyze(rows, Settings(view="positive", threshold=0.5, cost_error=1, cost_review=0))
    assert act_headline(a) == "m, P(1) above 0.5: 10 false alarms expected, 30 found"
    false_alarms = "the model expects 10 false alarms (rows that are not “1”); 30 were found."
    assert act_lines(a)[0] == f"Of 100 rows with P(1) above 0.5 {false_alarms}"
    missed = "100 rows are not acted on; missed events among them (rows that are “1”): 10 expected, 5 found."
    assert act_lines(a)[2] == missed
    assert acting_lines(a)[0] == f"Whoever acts on every row with P(1) above 0.5 acts on 100 of 200 rows (50%). Of these {false_alarms}"
    assert acting_lines(a)[2] == missed
    (number,) = [n for n in act_numbers(a) if n.label == "Missed events"]
    assert (number.value, number.beside) == ("5", "10 expected; “1”, not acted on")
    assert cost_lines(a)[0].startswith("At 1 a false alarm and 0 a review, ")
    assert cost_lines(a)[2].startswith("Missing a row that is “1” costs nothing beyond its review here; ")
    every = analyze(rows, Settings(view="positive", threshold=0.05, cost_error=2, cost_review=1))
    assert not [line for line in cost_lines(every) if "Missing" in line]  # no row is below, so none is missed
    assert [cost_label(v)[0] for v in ("top_label", "positive", "class:b")] == [
        "Cost of an error (optional)",
        *["Cost of a false alarm (optional)"] * 2,
    ]
    assert "Here an error is a wrong prediction, of either class." in [c.line for c in act_caveats(analyze(rows, Settings(threshold=0.5)))]


CHURN = ("stayed", "churned")
OF_PREDICTED = "The threshold is one of the probability of the predicted class, whichever it is, not of P(churned)."


@pytest.mark.parametrize(
    ("threshold", "closed", "said"),
    [
        (0.3, "right", "Of 2 classes the predicted one always has at least 1/2, so a threshold of 0.3 acts on every row by construction."),
        (0.5, "left", "Of 2 classes the predicted one always has at least 1/2, so a threshold of 0.5 acts on every row by construction."),
        (0.5, "right", "Of 2 classes the predicted one always has at least 1/2, so a threshold of 0.5 leaves out ties at most."),
        (0.51, "right", None),
    ],
)
def test_a_threshold_of_the_predicted_class_is_said_to_be_one(threshold, closed, said):
    rows = Predictions.from_arrays([*["churned"] * 70, *["stayed"] * 30], [0.9] * 50 + [0.2] * 50, classes=CHURN)
    found = acting_notes(analyze(rows, Settings(threshold=threshold, closed=closed)))
    assert found == (OF_PREDICTED, *([said] if said else []))
    assert acting_notes(analyze(rows, Settings(threshold=threshold, view="positive"))) == ()
    assert acting_notes(analysis(threshold=0.1)) == ()  # confidences alone: how many classes there were is not known


def test_an_even_guess_of_more_classes_is_lower():
    rows = Predictions.from_arrays(["a", "b", "c", "a"], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5], [1, 0, 0]])
    said = acting_notes(analyze(rows, Settings(threshold=0.3)))
    assert said == ("Of 3 classes the predicted one always has at least 1/3, so a threshold of 0.3 acts on every row by construction.",)
    assert acting_notes(analyze(rows, Settings(threshold=0.4))) == ()  # every row is acted on, but another might not have been
    # as they stand in the file: of a sum that misses 1 the largest may be less than a third
    low = Predictions.from_arrays(["a", "b", "c"], [[0.331, 0.331, 0.33]] * 3)
    assert acting_notes(analyze(low, Settings(threshold=0.332))) == ()


def test_names_from_files_stay_one_line():
    rows = Predictions.from_top_label(CONFIDENCE, CORRECT, name="a\nb\x1b[1m")
    said = act_headline(analyze(rows, Settings(threshold=0.9)))
    assert "\n" not in said
    assert "\x1b" not in said
