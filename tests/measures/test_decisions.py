"""Decisions at a threshold and risk against coverage: exact fractions on small data, both sides, weights and edges."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.errors import InputError
from calibcore.measures.decisions import threshold_panel
from calibcore.measures.risk_coverage import risk_coverage
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.proportions import wilson_interval
from tests.reference import D_P, D_Y, floats


def _positive(**more):
    return Predictions.from_arrays(D_Y, floats(D_P), **more).profile("positive")


def _top(p, y, **more):
    return Predictions.from_top_label(p, y, **more).profile()


@pytest.mark.parametrize("t", [Fraction(0), Fraction(1, 20), Fraction(1, 2), Fraction(4, 5), Fraction(19, 20), Fraction(1)])
@pytest.mark.parametrize("closed", ["right", "left"])
def test_worked_data_on_both_sides(t, closed):
    """False alarms Σ(1 − p) and Σ(1 − y) among the rows acted on, missed events Σp and Σy below, in fractions."""
    panel = threshold_panel(_positive(), float(t), closed=closed)
    on = [p > t if closed == "right" else p >= t for p in D_P]
    acted = [(p, y) for p, y, a in zip(D_P, D_Y, on, strict=True) if a]
    below = [(p, y) for p, y, a in zip(D_P, D_Y, on, strict=True) if not a]
    assert (panel.acted.count, panel.below.count) == (len(acted), len(below))
    assert panel.coverage == pytest.approx(len(acted) / 10)
    assert panel.acted.errors_expected == pytest.approx(float(sum(1 - p for p, _ in acted)))
    assert panel.acted.errors_found == sum(1 - y for _, y in acted)
    assert panel.below.errors_expected == pytest.approx(float(sum(p for p, _ in below)))
    assert panel.below.errors_found == sum(y for _, y in below)
    assert panel.errors == ("false alarms", "missed events")


def test_at_one_half_the_rows_acted_on_are_those_predicted_positive():
    model = Predictions.from_arrays([0, 1, 1], [0.5, 0.5, 0.75])
    panel = threshold_panel(model.profile("positive"), 0.5)
    assert panel.acted.count == np.count_nonzero(model.predicted == 1) == 1


def test_confidence_view_counts_wrong_predictions_on_both_sides():
    panel = threshold_panel(_top([0.5, 0.5, 0.75, 1.0], [1, 0, 0, 1]), 0.5)
    assert (panel.acted.errors_expected, panel.acted.errors_found) == (0.25, 1)
    assert (panel.below.errors_expected, panel.below.errors_found) == (1.0, 1)
    assert panel.errors == ("wrong predictions", "wrong predictions")
    assert panel.rule == "confidence above 0.5"
    assert threshold_panel(_positive(), 0.25, closed="left").rule == "probability of at least 0.25"


@pytest.mark.parametrize(("t", "closed", "count"), [(0.7, "right", 0), (0.7, "left", 2), (1.0, "left", 0), (0.0, "right", 2)])
def test_single_precision_scores_lie_on_the_threshold(t, closed, count):
    assert threshold_panel(_top(np.full(2, 0.7, np.float32), [1, 0]), t, closed=closed).acted.count == count


def test_ends():
    profile = _top([0.0, 0.5, 1.0], [0, 1, 1])
    assert threshold_panel(profile, 0.0).acted.count == 2
    assert threshold_panel(profile, 0.0, closed="left").acted.count == 3
    assert threshold_panel(profile, 1.0).acted.count == 0
    assert threshold_panel(profile, 1.0, closed="left").acted.count == 1
    nobody = threshold_panel(profile, 1.0).acted
    assert (nobody.rate_found, nobody.rate_expected, nobody.interval(), nobody.expected_range()) == (None, None, (None, None), (None, None))


def test_interval_is_wilson_of_the_error_rate():
    panel = threshold_panel(_top([0.9] * 10, [1] * 7 + [0] * 3), 0.5)
    # Wilson at 7/10, 95 %: (.396778, .892209); errors are the complement
    assert panel.acted.interval() == pytest.approx((1 - 0.892209, 1 - 0.396778), abs=1e-6)
    low, high = wilson_interval(np.array([3.0]), np.array([10.0]), 0.9)
    assert panel.acted.interval(0.9) == (low[0], high[0])
    # B(10, 1/10): P(0) = .349, P(≤ 2) = .930, P(≤ 3) = .987, so the central 95 % are 0 to 3 errors
    assert panel.acted.expected_range() == (0.0, 0.3)


def test_rows_that_go_together_are_one_outcome():
    # four outcomes, each five times, above the threshold and as many below: the interval is that of 3 errors of 4
    clusters = np.repeat(np.arange(8), 5)
    profile = _top(np.repeat([0.9, 0.6], 20), np.repeat([0, 0, 0, 1, 1, 0, 1, 0], 5), cluster=clusters)
    low, high = wilson_interval(np.array([3.0]), np.array([4.0]), 0.95)
    panel = threshold_panel(profile, 0.75)
    assert panel.acted.n_effective == panel.below.n_effective == pytest.approx(4)
    assert panel.acted.interval() == (pytest.approx(low[0]), pytest.approx(high[0]))


def test_costs_in_fractions():
    panel = threshold_panel(_positive(), 0.5, cost_error=8, cost_review=0.5)
    # acted on 11, 13, 16, 18, 19 twentieths: expected 23/20 false alarms, found 1; five reviewed
    assert panel.cost.expected == pytest.approx(float(8 * Fraction(23, 20) + Fraction(5, 2)))
    assert panel.cost.found == float(8 + Fraction(5, 2))
    assert panel.cost.per_row_found == float(Fraction(21, 20))
    assert panel.cost.break_even == float(1 - Fraction(1, 16))
    assert threshold_panel(_positive(), 0.5, cost_error=1, cost_review=3).cost.break_even == 0
    assert threshold_panel(_positive(), 0.5, cost_error=0, cost_review=3).cost.break_even is None
    assert threshold_panel(_positive(), 0.5).cost is None


def test_break_even_is_the_cheapest_threshold_where_the_expectation_holds():
    profile = _positive()
    costs = [threshold_panel(profile, t, cost_error=4, cost_review=1).cost.expected for t in np.arange(101) / 100]
    best = threshold_panel(profile, 0.75, cost_error=4, cost_review=1).cost
    assert best.break_even == 0.75
    assert best.expected == pytest.approx(min(costs))


@pytest.mark.parametrize("t", [-0.1, 1.1, "0.5", True, None, float("nan")])
def test_refused_thresholds(t):
    with pytest.raises(InputError, match="fraction from 0 to 1"):
        threshold_panel(_positive(), t)


@pytest.mark.parametrize(
    "costs", [{"cost_error": 1}, {"cost_review": 1}, {"cost_error": -1, "cost_review": 1}, {"cost_error": 1, "cost_review": float("nan")}]
)
def test_refused_costs(costs):
    with pytest.raises(InputError, match="cost"):
        threshold_panel(_positive(), 0.5, **costs)


def test_other_refusals():
    with pytest.raises(InputError, match="closed"):
        threshold_panel(_positive(), 0.5, closed="both")
    with pytest.raises(InputError, match="points"):
        risk_coverage(_positive(), 1)


def _curve(ps, ys, ws):
    """(coverage, risk, expected risk, threshold) at each distinct score, from the largest, in fractions."""
    out = []
    for v in sorted(set(ps), reverse=True):
        rows = [(p, y, w) for p, y, w in zip(ps, ys, ws, strict=True) if p >= v]
        weight = Fraction(sum(w for *_, w in rows))
        wrong, doubt = sum(w * (1 - y) for _, y, w in rows), sum(w * (1 - p) for p, _, w in rows)
        out.append((weight / sum(ws), wrong / weight, doubt / weight, v))
    return out


def _area(points, which):
    area, before = points[0][0] * points[0][which], points[0]
    for point in points[1:]:
        area += (point[0] - before[0]) * (point[which] + before[which]) / 2
        before = point
    return area


def test_risk_coverage_of_many_scores_is_that_of_whole_numbers():
    n = 2**17 + 5  # more than one part
    score = np.random.default_rng(0).permutation(n) + 1
    right = score % 3 != 0
    curve = risk_coverage(Predictions.from_top_label(score / (2 * n) + 0.5, right).profile(), points=11)
    top = score.argsort()[::-1]
    wrong, doubts = np.cumsum(~right[top]), np.cumsum(n - score[top])  # of 2n: whole numbers, whose sums are exact
    at, rows = curve.count - 1, np.arange(1, n + 1)
    assert curve.coverage.tolist() == pytest.approx((curve.count / n).tolist(), rel=1e-14)
    assert curve.risk.tolist() == pytest.approx((wrong[at] / curve.count).tolist(), rel=1e-13)
    assert curve.expected_risk.tolist() == pytest.approx((doubts[at] / curve.count / (2 * n)).tolist(), rel=1e-12)
    for area, risk in ((curve.area, wrong / rows), (curve.expected_area, doubts / rows / (2 * n))):
        assert area == pytest.approx((risk[0] + np.sum(risk[1:] + risk[:-1]) / 2) / n, rel=1e-12)


def test_risk_coverage_of_the_worked_data():
    curve, points = risk_coverage(_positive()), _curve(D_P, D_Y, [1] * 10)
    for name, column in zip(("coverage", "risk", "expected_risk", "threshold"), zip(*points, strict=True), strict=True):
        np.testing.assert_allclose(getattr(curve, name), floats(column), atol=1e-15)
    assert curve.area == pytest.approx(float(_area(points, 1)))
    assert curve.expected_area == pytest.approx(float(_area(points, 2)))


_ROWS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1), st.integers(1, 4)), min_size=1, max_size=20)


@given(_ROWS, st.integers(0, 8), st.sampled_from(["right", "left"]), st.randoms(use_true_random=False))
def test_against_fractions_with_weights_repetition_scale_and_order(rows, t, closed, random):
    ps, ys, ws = [Fraction(p, 8) for p, _, _ in rows], [y for _, y, _ in rows], [w for *_, w in rows]
    points = _curve(ps, ys, ws)
    random.shuffle(rows)
    p, y, w = np.array([r[0] / 8 for r in rows]), np.array([r[1] for r in rows]), np.array([float(r[2]) for r in rows])
    repeated = _top(np.repeat(p, w.astype(int)), np.repeat(y, w.astype(int)))
    on = [v > Fraction(t, 8) if closed == "right" else v >= Fraction(t, 8) for v in ps]
    share = Fraction(sum(w for w, a in zip(ws, on, strict=True) if a), sum(ws))
    found = Fraction(sum(w * (1 - y) for y, w, a in zip(ys, ws, on, strict=True) if a), sum(ws))
    for profile in (repeated, *(_top(p, y, sample_weight=w * s) for s in (1.0, 1e15, 1e-15))):
        curve = risk_coverage(profile)
        np.testing.assert_allclose(curve.coverage, floats([x[0] for x in points]), atol=1e-12)
        np.testing.assert_allclose(curve.risk, floats([x[1] for x in points]), atol=1e-12)
        assert curve.area == pytest.approx(float(_area(points, 1)), abs=1e-12)
        panel = threshold_panel(profile, t / 8, closed=closed, cost_error=1, cost_review=0)
        assert panel.coverage == pytest.approx(float(share), abs=1e-12)
        assert panel.cost.per_row_found == pytest.approx(float(found), abs=1e-12)
        assert panel.acted.weight + panel.below.weight == pytest.approx(profile.weight_sum)
        json.dumps([panel.to_dict(), curve.to_dict()], allow_nan=False)


def test_complement_false_alarms_become_missed_events():
    """Acting on P(yes) > t leaves as errors what not acting on P(no) ≥ 1 − t misses."""
    model = Predictions.from_arrays(D_Y, floats(D_P))
    yes, no = (threshold_panel(model.profile(v), t, closed=c) for v, t, c in (("class:1", 0.3, "right"), ("class:0", 0.7, "left")))
    assert yes.acted.count == no.below.count
    assert yes.acted.errors_found == no.below.errors_found
    assert yes.acted.errors_expected == pytest.approx(no.below.errors_expected)


def test_many_scores_are_thinned_and_the_area_is_not():
    rng = np.random.default_rng(4)
    p = rng.uniform(size=5000)
    profile = Profile.from_rows(p, rng.uniform(size=5000) < p)
    thin, full = risk_coverage(profile), risk_coverage(profile, 5000)
    assert len(full.coverage) == 5000
    assert 90 <= len(thin.coverage) <= 101
    assert thin.area == full.area
    assert (np.diff(thin.coverage) > 0).all()
    assert (np.diff(thin.threshold) < 0).all()
    assert (thin.coverage[0], thin.coverage[-1]) == (1 / 5000, 1.0)
    assert np.isin(thin.coverage, full.coverage).all()
    assert np.diff(thin.coverage).max() < 0.011


def test_calibrated_rows_find_what_they_expect():
    """E found = expected: over 200 samples of 500 rows the mean difference is within 4 standard errors."""
    rng = np.random.default_rng(6)
    p = rng.uniform(0.5, 1, 500)
    differences = []
    for _ in range(200):
        acted = threshold_panel(Profile.from_rows(p, rng.uniform(size=500) < p), 0.8).acted
        differences.append(acted.errors_found - acted.errors_expected)
    error = np.sqrt(np.sum((p * (1 - p))[p > 0.8]) / 200)
    assert abs(np.mean(differences)) < 4 * error
