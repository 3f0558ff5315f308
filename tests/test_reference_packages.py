"""The same numbers from other people's packages, where they are installed (extra ``test-reference``); SciPy always is."""

import numpy as np
import pytest

import calibcore as cc
from calibcore.measures.isotonic import isotonic


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    p = rng.beta(0.7, 1.2, 2000).round(3).clip(0.001, 0.999)
    return (rng.random(2000) < p**1.3).astype(int), p


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (7, 10), (1, 300), (150, 300)])
def test_intervals_of_a_proportion_are_those_of_scipy(k, n):
    stats = pytest.importorskip("scipy.stats")
    bins = cc.bin_statistics(np.arange(n) < k, np.full(n, 0.3), n_bins=1)
    for method, name in (("wilson", "wilson"), ("clopper_pearson", "exact")):
        low, high = bins.interval(0.9, method=method)
        found = stats.binomtest(k, n).proportion_ci(0.9, method=name)
        assert (low[0], high[0]) == pytest.approx((found.low, found.high), abs=1e-12)


def test_scores_and_curve_are_those_of_scikit_learn(data):
    metrics = pytest.importorskip("sklearn.metrics")
    regression = pytest.importorskip("sklearn.isotonic").IsotonicRegression()
    curve = pytest.importorskip("sklearn.calibration").calibration_curve
    y, p = data
    assert cc.brier_score(y, p) == pytest.approx(metrics.brier_score_loss(y, p), abs=1e-12)
    assert cc.log_loss(y, p) == pytest.approx(metrics.log_loss(y, p), abs=1e-12)
    fit = isotonic(cc.Predictions.from_arrays(y, p).profile("positive"))
    assert fit.fitted == pytest.approx(regression.fit(p, y).predict(fit.value), abs=1e-9)
    share, mean = curve(y, p, n_bins=10)
    bins = cc.bin_statistics(y, p, n_bins=10)
    assert bins.accuracy[bins.filled] == pytest.approx(share, abs=1e-12)
    assert bins.confidence[bins.filled] == pytest.approx(mean, abs=1e-12)


def test_decompositions_are_those_of_model_diagnostics(data):
    scoring = pytest.importorskip("model_diagnostics.scoring")
    y, p = data
    found = cc.corp_decomposition(y, p)
    for score, mine in ((scoring.SquaredError(), found), (scoring.LogLoss(), found.log)):
        mcb, dsc, unc, whole = (
            scoring.decompose(y_obs=y, y_pred=p, scoring_function=score)
            .select("miscalibration", "discrimination", "uncertainty", "score")
            .row(0)
        )
        assert (mine.mcb, mine.dsc, mine.unc, mine.score) == pytest.approx((mcb, dsc, unc, whole), abs=1e-9)
