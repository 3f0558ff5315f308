"""What to do, in one sentence that never says more than the verdict, the pattern and the test of remedies."""

from dataclasses import replace

import numpy as np
import pytest

import calibcore as cc
from calibcore.advice.patterns import Pattern
from calibcore.advice.recalibration import Remedies, Remedy, Scores
from calibcore.inference.intervals import Estimate
from calibcore.report.advising import pattern_lines, usual_line, what_to_do


def model(p, k, n=1000, name="m"):
    """``n`` rows of P(1) = p of which a share of k happened, and as many mirrored: right in a share of k, at confidence p."""
    label = np.r_[np.arange(n) < round(k * n), np.arange(n) >= round(k * n)].astype(int)
    return cc.Predictions.from_arrays(label, np.r_[np.full(n, p), np.full(n, 1 - p)], name=name)


def spread(true_slope, n=4000, seed=5):
    """Probabilities all over the range whose outcomes follow a logit that is ``true_slope`` times as steep."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(0, 2, n)
    return cc.Predictions.from_arrays(
        (rng.random(n) < 1 / (1 + np.exp(-true_slope * logit))).astype(int), 1 / (1 + np.exp(-logit)), name="s"
    )


OVER = spread(0.5)
SURE = "Have whoever maintains the model recalibrate it before anyone takes its probabilities at their word"
KEPT = "until then the ranking of cases by P(1) may be used, which recalibrating keeps"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (model(0.8, 0.5, n=20), "Too few rows to decide: collect at least 100, better 1,000."),
        (model(0.8, 0.8), "These rows show no reason not to take the probabilities as they are."),
        (model(0.9, 0.885, n=20_000), "The difference is small: check it on other rows before changing anything."),
        (OVER, "Do not take these probabilities at their word yet: have it recalibrated first, and test whether that helps."),
        (model(0.99, 0.8), "Do not take claims of near certainty at their word: have it recalibrated first, and test whether that helps."),
        (model(0.55, 0.55), "Expect little from these probabilities: they hardly tell cases apart, and recalibration cannot add that."),
        (
            cc.Predictions.from_top_label([0.8] * 400, [1] * 320 + [0] * 80),
            "These rows show no reason not to take the confidences as they are.",
        ),
    ],
)
def test_untested(made, said):
    assert what_to_do(cc.analyze(made), None) == said


def test_a_fault_of_one_range_is_named_by_its_range():
    # 97% claimed and 80% right in a third of the rows; 55% and 65% as claimed in the others.
    p = np.r_[np.full(1000, 0.97), np.full(1000, 0.55), np.full(1000, 0.65)]
    right = np.concatenate([np.arange(1000) < 1000 * k for k in (0.8, 0.55, 0.65)]).astype(int)
    a = cc.analyze(cc.Predictions.from_top_label(p, right))
    assert a.pattern.name == "local_overconfidence"
    said = what_to_do(a, None)
    assert said == "Do not take claims at 97% confidence at their word; elsewhere these rows show no sign of an error."


def test_rows_of_training_decide_nothing():
    assert what_to_do(cc.analyze(model(0.8, 0.8)), None, "yes").startswith("Decide on rows that the model has not seen")
    assert what_to_do(cc.analyze(model(0.8, 0.8)), None, "unknown") == what_to_do(cc.analyze(model(0.8, 0.8)), None, "no")


@pytest.mark.parametrize("method", ["temperature", "platt", "beta"])
def test_rising_maps_keep_the_order(method):
    found = cc.remedies(OVER, methods=[method])
    assert what_to_do(cc.analyze(OVER), found) == f"{SURE}; {KEPT}."


def test_steps_make_some_cases_equal():
    found = cc.remedies(OVER, methods=["isotonic"])
    assert what_to_do(cc.analyze(OVER), found) == f"{SURE}; {KEPT}, though some become equal."


def test_a_ranking_that_tells_nothing_apart_is_not_recommended():
    # Probabilities that have nothing to do with what happens: at best all become the base rate, and no order is left.
    rng = np.random.default_rng(4)
    made = cc.Predictions.from_arrays(np.tile([0, 1], 2000), 1 / (1 + np.exp(-rng.normal(0, 2, 4000))), name="s")
    found = cc.remedies(made, methods=["temperature"])
    assert found.best is not None
    assert what_to_do(cc.analyze(made), found) == f"{SURE}."


def test_the_gain_is_also_told_as_a_share_of_the_error():
    found = cc.remedies(OVER, methods=["temperature"])
    share = -found.best.log_loss.value / found.before.log_loss
    assert (
        f"It lowers the error of the probabilities by {100 * share:.1f}%: the log loss by 0." in pattern_lines(cc.analyze(OVER), found)[1]
    )


def test_where_nothing_helps_that_is_said():
    found = cc.remedies(OVER, methods=["temperature"])
    worse = replace(found, tried=tuple(replace(r, status="does_not_help") for r in found.tried), chosen=None)
    assert what_to_do(cc.analyze(OVER), worse) == "Do not take these probabilities at their word: no recalibration that was tried helps."
    untried = replace(worse, tried=tuple(replace(r, status="not_tried") for r in found.tried))
    assert what_to_do(cc.analyze(OVER), untried) == what_to_do(cc.analyze(OVER), None)


def test_the_usual_remedy_is_named_where_another_is_found():
    # A shift beside the slope: Platt scaling has both, temperature only the slope.
    rng = np.random.default_rng(2)
    logit = rng.normal(0.0, 2.5, 6000)
    y = (rng.random(6000) < 1 / (1 + np.exp(-0.5 * logit - 0.3))).astype(int)
    made = cc.Predictions.from_arrays(y, 1 / (1 + np.exp(-logit)), name="s")
    a, found = cc.analyze(made), cc.remedies(made)
    assert (a.pattern.name, found.chosen) == ("uniform_overconfidence", "platt")
    lines = pattern_lines(a, found, "The predicted class changes in 7 rows.")
    assert "Platt scaling helps. It lowers the error of the probabilities by " in lines[1]
    assert lines[2].startswith("The usual remedy for this pattern, temperature scaling, also helps, but less (log loss −")
    assert lines[2].endswith("); Platt scaling is better here.")
    assert (
        lines[3] == "The predicted class changes in 7 rows. The ranking stays: every probability moves, and those of these rows cross 50%."
    )
    assert not [line for line in lines if line.startswith("What usually helps")]


def remedy(method, title, log_loss, brier=-0.01, *, status="helps", clipped=0):
    """What a test of one map could have found."""
    after = Scores(0.4, 0.1, 0.0, clipped, 0.01, OVER_ANALYSIS.chance)
    ends = (None, None) if log_loss is None or clipped else (log_loss - 0.001, log_loss + 0.001)
    loss = Estimate(log_loss or 0.0, *ends)
    answer = f"{title[0].upper()}{title[1:]} {'helps' if status == 'helps' else 'does not help here'}: so much."
    return Remedy(method, title, status, answer, 1000, after, loss, Estimate(brier, brier - 0.001, brier + 0.001))


def remedies_of(*tried, best=None):
    before = Scores(0.5, 0.2, -0.05, 0, 0.05, OVER_ANALYSIS.chance)
    return Remedies("s", "top_label", 4000, 5, 0, 0.95, None, before, tried, (), best)


OVER_ANALYSIS = cc.analyze(OVER)
CROSSING = replace(OVER_ANALYSIS, pattern=Pattern("non_uniform_overconfidence", "Isotonic regression, given 1,000 rows or more.", {}))
T, V = ("temperature", "temperature scaling"), ("venn_abers", "Venn–Abers prediction")
USUAL = "The usual remedy for this pattern"
MOVED = "here, but changes the predicted class of 89 rows."


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (remedies_of(remedy(*T, -0.019), best="temperature"), None),
        (
            remedies_of(remedy(*T, -0.013), remedy(*V, -0.019), best="venn_abers"),
            (
                f"{USUAL}, temperature scaling, also helps, but less (log loss −0.0130 against −0.0190); Venn–Abers prediction is "
                f"better {MOVED}"
            ),
        ),
        (  # the numbers differ in the fifth decimal
            remedies_of(remedy(*T, -0.01902), remedy(*V, -0.01904), best="venn_abers"),
            (
                f"{USUAL}, temperature scaling, also helps, but less (log loss −0.01902 against −0.01904); Venn–Abers prediction is "
                f"better {MOVED}"
            ),
        ),
        (  # without an interval of the log loss the Brier score is told
            remedies_of(remedy(*T, None, -0.002), remedy(*V, -0.019, -0.009), best="venn_abers"),
            (
                f"{USUAL}, temperature scaling, also helps, but less (Brier score −0.0020 against −0.0090); Venn–Abers prediction is "
                f"better {MOVED}"
            ),
        ),
        (
            remedies_of(remedy(*T, None, -0.012), remedy(*V, -0.019, -0.009), best="venn_abers"),
            (
                f"{USUAL}, temperature scaling, also helps (Brier score −0.0120 against −0.0090); by log loss Venn–Abers prediction is "
                f"better {MOVED}"
            ),
        ),
        (
            remedies_of(remedy(*T, -0.02, -0.012, clipped=2), remedy(*V, -0.019, -0.009), best="venn_abers"),
            (
                f"{USUAL}, temperature scaling, also helps (Brier score −0.0120 against −0.0090), but gives what happened a "
                "probability of 0 in 2 rows; Venn–Abers prediction is better here, but changes the predicted class of 89 rows."
            ),
        ),
        (
            remedies_of(remedy(*T, 0.001, status="does_not_help"), remedy(*V, -0.019), best="venn_abers"),
            f"{USUAL}: temperature scaling does not help here: so much.",
        ),
        (remedies_of(remedy(*T, 0.001, status="does_not_help")), f"{USUAL}: temperature scaling does not help here: so much."),
        (remedies_of(remedy(*V, -0.019), best="venn_abers"), f"{USUAL}: temperature scaling was not tried here."),
    ],
)
def test_what_became_of_the_usual_remedy(found, said):
    assert usual_line(OVER_ANALYSIS, found, changed=89) == said


def test_a_usual_remedy_of_more_numbers_is_not_preferred():
    isotonic, platt = remedy("isotonic", "isotonic regression", -0.0195), remedy("platt", "Platt scaling", -0.019)
    assert usual_line(CROSSING, remedies_of(platt, isotonic, best="platt")) == (
        f"{USUAL}, isotonic regression, helps by no more than chance explains beside Platt scaling (log loss −0.0195 against −0.0190), "
        "which has fewer numbers to fit and is preferred."
    )
    less = replace(isotonic, log_loss=Estimate(-0.011, -0.012, -0.010))
    assert "also helps, but less (log loss −0.0110 against −0.0190), with more numbers to fit" in usual_line(
        CROSSING, remedies_of(platt, less, best="platt")
    )
    # Too few rows for isotonic regression: the advice is then Platt scaling, which was chosen.
    assert usual_line(CROSSING, remedies_of(platt, replace(isotonic, status="not_tried"), best="platt")) is None


def test_no_usual_remedy_is_named_where_the_pattern_has_none():
    even = cc.analyze(model(0.8, 0.8))
    assert usual_line(even, remedies_of(remedy(*V, -0.019), best="venn_abers")) is None


def test_halves_are_told_only_where_there_are_two():
    assert pattern_lines(OVER_ANALYSIS, None)[0] == "Too sure in both halves of its rows, the less sure and the surer."
    one = cc.analyze(cc.Predictions.from_top_label([0.9] * 400, [1] * 300 + [0] * 100))
    assert pattern_lines(one, None)[0] == "Too sure on the whole."
