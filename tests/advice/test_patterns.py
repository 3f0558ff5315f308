"""Patterns: each rule on rows whose frequencies are set; how often each is found is in test_pattern_rates."""

import numpy as np
import pytest

import calibcore as cc
from calibcore.advice.patterns import find_pattern, over_run, rows_needed, runs, under_run, worst_run
from calibcore.inference.significance import DiagnosticBins, detect
from calibcore.predictions import Predictions


def rows(groups, **options):
    """Top-label rows: (confidence, rows, right rows) of each group."""
    confidence = np.concatenate([np.full(n, c) for c, n, _ in groups])
    right = np.concatenate([np.arange(n) < k for _, n, k in groups])
    return Predictions.from_top_label(confidence, right, **options)


def steps(gaps, n=400, start=0.55, step=0.05):
    """``n`` rows at each of several confidences, right by confidence + gap to the nearest row."""
    levels = [round(start + step * i, 10) for i in range(len(gaps))]
    return rows([(c, n, round((c + g) * n)) for c, g in zip(levels, gaps, strict=True)])


def pattern(model):
    positive = model.profile("positive") if model.task == "binary" else None
    return find_pattern(model.profile(), detect(model), positive=positive)


# nine confidences 0.55 … 0.95, 400 rows each; the standard error of one gap is at most 2.5 points
@pytest.mark.parametrize(
    ("gaps", "name"),
    [
        ([0] * 9, "none_detected"),
        ([-0.06] * 9, "uniform_overconfidence"),
        ([0.04] * 9, "uniform_underconfidence"),
        ([0.1] * 4 + [0] + [-0.1] * 4, "non_uniform_overconfidence"),
        ([-0.1] * 4 + [0] + [0.05] * 4, "non_uniform_overconfidence"),
        ([0] * 7 + [-0.15] * 2, "local_overconfidence"),
        ([0.15] * 2 + [0] * 7, "local_underconfidence"),
    ],
)
def test_pattern_of_set_frequencies(gaps, name):
    assert pattern(steps(gaps)).name == name


def test_evidence_of_a_uniform_model():
    found = pattern(steps([-0.06] * 9))
    run = found.evidence["over"]
    assert run["count"] == 3600  # the whole range is the most surprising run
    assert run["gap"] == pytest.approx(-0.06, abs=1e-9)
    assert run["share"] == pytest.approx(1)
    assert (run["low"], run["high"]) == (0.55, 0.95)
    # z = ΣS/√ΣV with S = −0.06·3600 and V = 400·Σc(1 − c)
    variance = 400 * sum(c * (1 - c) for c in np.arange(0.55, 0.96, 0.05))
    assert run["z"] == pytest.approx(-0.06 * 3600 / variance**0.5, rel=1e-9)
    assert all(z <= -1.28 for z in found.evidence["halves_z"])
    assert "T > 1" in found.remedy


def test_crossing_names_where():
    found = pattern(steps([0.1] * 4 + [0] + [-0.1] * 4))
    assert 0.70 <= found.evidence["crosses_near"] <= 0.80
    assert found.evidence["under"]["high"] < found.evidence["over"]["low"]
    assert "Isotonic" in found.remedy


def test_too_few_rows():
    assert pattern(rows([(0.9, 99, 40)])).name == "too_few_rows"
    assert pattern(rows([(0.9, 100, 40)])).name != "too_few_rows"


def test_extreme_overconfidence_by_its_gap():
    # 70 % of rows claim 97 %, right 85 %
    found = pattern(rows([(0.97, 1400, 1190), (0.7, 600, 420)]))
    assert found.name == "extreme_overconfidence"
    assert found.evidence["share_at_95"] == pytest.approx(0.7)
    assert found.evidence["wrong"] == pytest.approx(0.15)
    assert found.evidence["expected_wrong"] == pytest.approx(0.03)


def test_extreme_overconfidence_by_its_ratio_of_errors():
    # 99.9 % claimed, 99.5 % right: 4 errors for each expected, only 0.4 points of gap
    assert pattern(rows([(0.999, 4000, 3980)])).name == "extreme_overconfidence"
    # twice the errors, but of two expected: four may be chance
    assert pattern(rows([(0.999, 2000, 1996)])).name == "none_detected"


def test_extreme_needs_three_rows_in_five():
    assert pattern(rows([(0.97, 590, 480), (0.7, 410, 287)])).name != "extreme_overconfidence"
    assert pattern(rows([(0.97, 600, 480), (0.7, 400, 280)])).name == "extreme_overconfidence"


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_definition_2_limits_of_the_rules_meet_the_precision_of_the_data(dtype):
    # 0.95 in float32 is 0.949999988, and still at least 95 %; 0.6 is 0.600000024, and still at most 60 %
    right = np.arange(2000) < 1600
    assert pattern(Predictions.from_top_label(np.full(2000, 0.95, dtype=dtype), right)).name == "extreme_overconfidence"
    y = (np.arange(2000) < 1200).astype(int)
    assert pattern(Predictions.from_arrays(y, np.full(2000, 0.6, dtype=dtype))).name == "confidence_collapse"


def test_collapse_of_a_binary_model():
    # 60 % of rows at 0.55, honest
    p = np.repeat([0.55, 0.9], [1200, 800])
    y = np.concatenate([np.arange(1200) < 660, np.arange(800) < 720]).astype(int)
    found = pattern(Predictions.from_arrays(y, p))
    assert found.name == "confidence_collapse"
    assert found.evidence["share_near_even"] == pytest.approx(0.6)
    assert "Recalibration cannot add information" in found.remedy
    y[:1200] = np.arange(1200) < 960  # right 80 % where it says 55 %
    found = pattern(Predictions.from_arrays(y, p))
    assert found.name == "confidence_collapse"
    assert "sharpen" in found.remedy.lower()


def multiclass(confidence, k, rng, accuracy=None):
    """K classes; the first column holds the confidence, the rest share what is left."""
    n = len(confidence)
    p = np.repeat(((1 - confidence) / (k - 1))[:, None], k, axis=1)
    p[:, 0] = confidence
    right = rng.random(n) < (confidence if accuracy is None else accuracy)
    return Predictions.from_arrays(np.where(right, 0, 1 + rng.integers(0, k - 1, n)), p)


def test_collapse_of_ten_classes_is_near_a_tenth():
    rng = np.random.default_rng(0)
    for _ in range(8):
        near = multiclass(rng.uniform(0.11, 0.27, 600), 10, rng)  # 1/K + 0.2·(1 − 1/K) = 0.28
        assert pattern(near).name == "confidence_collapse"
        honest = multiclass(rng.uniform(0.35, 0.62, 600), 10, rng)  # ux: never called collapse
        assert pattern(honest).name != "confidence_collapse"


def test_shift_of_all_risks():
    # every probability 10 points too high, ten levels of 300 rows
    p = np.repeat(np.arange(0.15, 1.0, 0.08).round(2), 300)
    y = np.concatenate([np.arange(300) < round((v - 0.1) * 300) for v in np.unique(p)]).astype(int)
    found = pattern(Predictions.from_arrays(y, p))
    assert found.name == "shifted"
    assert found.evidence["expected_events"] == pytest.approx(p.sum())
    assert found.evidence["events"] == pytest.approx(y.sum())
    assert found.evidence["likelihood_ratio_intercept"] > max(3.84, found.evidence["likelihood_ratio_slope"])
    assert found.evidence["intercept"] < 0
    # at the fitted intercept the fitted events are the found ones
    logit = np.log(p / (1 - p)) + found.evidence["intercept"]
    assert (1 / (1 + np.exp(-logit))).sum() == pytest.approx(y.sum(), abs=1e-3)


def test_a_uniformly_overconfident_binary_model_is_not_called_crossing():
    # its positive view crosses the diagonal at ½; diagnosed there, isotonic would be advised
    p = np.repeat([0.05, 0.15, 0.25, 0.35, 0.65, 0.75, 0.85, 0.95], 300)
    y = np.concatenate([np.arange(300) < round((v + (0.08 if v < 0.5 else -0.08)) * 300) for v in np.unique(p)]).astype(int)
    assert pattern(Predictions.from_arrays(y, p)).name == "uniform_overconfidence"


def test_no_pattern_is_judged_on_another_view():
    p = np.repeat([0.05, 0.15, 0.25, 0.35, 0.65, 0.75, 0.85, 0.95], 300)
    y = np.concatenate([np.arange(300) < round((v + (0.08 if v < 0.5 else -0.08)) * 300) for v in np.unique(p)]).astype(int)
    profile = Predictions.from_arrays(y, p).profile("positive")
    a = cc.analyze(profile)
    assert (a.view, a.pattern.name) == ("positive", "unclear")


def test_runs_are_all_stretches_of_neighbouring_bins():
    bins = detect(steps([-0.06] * 5)).bins
    m = len(bins.count)
    found = list(runs(bins))
    assert len(found) == m * (m + 1) // 2
    assert max(r.count for r in found) == 2000
    assert worst_run(bins).z == min(r.z for r in found)
    assert under_run(bins) is None
    over = over_run(bins)
    assert over.z <= -bins.over_limit
    assert over.gap <= -0.02


def test_certain_and_right_rows_have_no_z():
    assert worst_run(detect(rows([(1.0, 200, 200)])).bins).z == 0.0
    assert worst_run(detect(rows([(1.0, 200, 199)])).bins).z == -np.inf


def one_bin(residual, variance, rows=400, limit=3.0):
    one = np.ones(1)
    return DiagnosticBins(0.6 * one, 0.9 * one, np.array([rows]), rows * one, residual * one, variance * one, 300 * one, limit, limit, rows)


def test_rows_needed_to_name_a_range():
    # z = −20/√100 = −2; ((3 + 0.8416)/2)² · 400 = 1,475.8, to two digits 1,500
    assert rows_needed(one_bin(-20.0, 100.0)) == 1500
    assert rows_needed(one_bin(20.0, 100.0)) == 1500
    assert rows_needed(one_bin(-40.0, 100.0)) is None  # z = −4 is beyond the limit and its margin: more rows are not what is missing
    assert rows_needed(one_bin(0.0, 100.0)) is None
