"""What to do, in one sentence that never says more than the verdict, the pattern and the test of remedies."""

from dataclasses import replace

import numpy as np
import pytest

import calibcore as cc
from calibcore.report.advising import pattern_lines, what_to_do


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
SURE = "as probabilities; the ranking of cases stays the same."


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (model(0.8, 0.5, n=20), "Too few rows to decide: collect at least 100, better 1,000."),
        (model(0.8, 0.8), "These rows show no reason not to take the probabilities as they are."),
        (model(0.9, 0.885, n=20_000), "The difference is small: check it on other rows before changing anything."),
        (OVER, "Do not use these probabilities as probabilities yet: recalibrate first, and test whether that helps."),
        (model(0.99, 0.8), "Do not take claims of near certainty at their word: recalibrate first, and test whether that helps."),
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
    assert what_to_do(cc.analyze(OVER), found) == f"Recalibrate before using these probabilities {SURE}"


def test_steps_make_some_cases_equal():
    found = cc.remedies(OVER, methods=["isotonic"])
    assert what_to_do(cc.analyze(OVER), found).endswith("; the ranking of cases stays, though some become equal.")


def test_where_nothing_helps_that_is_said():
    found = cc.remedies(OVER, methods=["temperature"])
    worse = replace(found, tried=tuple(replace(r, status="does_not_help") for r in found.tried), chosen=None)
    assert what_to_do(cc.analyze(OVER), worse).endswith("as they are: no recalibration that was tried helps.")
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
    assert "Platt scaling helps. It lowers the log loss by " in lines[1]
    assert lines[2].startswith("Temperature scaling, the usual remedy for this pattern, lowers the log loss by ")
    assert lines[2].endswith(", which is less.")
    assert lines[3] == "The predicted class changes in 7 rows."
    assert not [line for line in lines if line.startswith("What usually helps")]
