"""Bands of the calibration curve: exact examples, enumeration, and how often they hold what they should."""

import itertools
import json
import math

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st

from calibcore.errors import InputError
from calibcore.inference.bands import CurveBand, confidence_band, consistency_band, honest_band
from calibcore.measures.isotonic import isotonic
from calibcore.profile import Profile


def profile(p, y, w=None):
    weight = None if w is None else np.asarray(w, dtype=np.float64)
    return Profile.from_rows(np.asarray(p, dtype=np.float64), np.asarray(y, dtype=np.bool_), weight=weight, view="positive")


def tail_from(k, n, p):
    """P(X ≥ k) of a binomial."""
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


def lower_limit(k, n, delta):
    """The p at which k or more of n events has probability delta, by halving."""
    if k == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail_from(k, n, middle) < delta else (low, middle)
    return low


def limits_of_runs(cells, alpha):
    """Honest band at each cell (rows, events), by every run."""
    m = len(cells)
    delta = alpha / (m * (m + 1))
    low, high = [0.0] * m, [1.0] * m
    for i, j in itertools.combinations_with_replacement(range(m), 2):
        n, k = (sum(c[t] for c in cells[i : j + 1]) for t in (0, 1))
        for x in range(m):
            if x >= j:
                low[x] = max(low[x], lower_limit(k, n, delta))
            if x <= i:
                high[x] = min(high[x], 1 - lower_limit(n - k, n, delta))
    return low, high


def example():
    return profile([0.3] * 40 + [0.5] * 40 + [0.7] * 40, [1] * 4 + [0] * 36 + [1] * 20 + [0] * 20 + [1] * 36 + [0] * 4)


def test_honest_band_of_three_scores():
    band = honest_band(example())
    assert band.value.tolist() == [0.3, 0.5, 0.7]
    assert band.low.tolist() == pytest.approx([0.0164, 0.2904, 0.7126], abs=5e-5)
    assert band.high.tolist() == pytest.approx([0.2874, 0.7096, 0.9836], abs=5e-5)
    low, high = limits_of_runs([(40, 4), (40, 20), (40, 36)], 0.05)
    assert band.low.tolist() == pytest.approx(low, abs=1e-12)
    assert band.high.tolist() == pytest.approx(high, abs=1e-12)
    assert (band.values, band.grouped, band.crosses) == (3, False, False)
    # 0.3 lies above its band, and with it all from 0.2874 to 0.3; 0.7 below, and all up to 0.7126
    (a, b) = band.excluded
    assert (a[1:], b[0], b[2]) == ((0.3, "over"), 0.7, "under")
    assert (a[0], b[1]) == (band.high[0], band.low[2])


def test_honest_band_between_and_beyond_the_scores():
    band = honest_band(example())
    low, high = band.at([0.0, 0.3, 0.4, 0.5, 0.6, 0.9])
    assert low.tolist() == [0, band.low[0], band.low[0], band.low[1], band.low[1], band.low[2]]
    assert high.tolist() == [band.high[0], band.high[0], band.high[1], band.high[1], band.high[2], 1]
    # furthest from the diagonal between scores: just above 0.3 it may be high[1], just below 0.7 as low as low[1]
    assert band.largest_error == pytest.approx(max(band.high[1] - 0.3, 0.7 - band.low[1], band.high[2] - 0.5), abs=1e-15)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=1, max_size=5))
def test_honest_band_is_every_run(cells):
    cells = [(n, min(k, n)) for n, k in cells]
    values = [(i + 1) / 8 for i in range(len(cells))]
    p = np.repeat(values, [n for n, _ in cells])
    y = np.concatenate([np.arange(n) < k for n, k in cells])
    band = honest_band(profile(p, y), 0.9)
    low, high = limits_of_runs(cells, 0.1)
    np.testing.assert_allclose(band.low, low, atol=1e-10)
    np.testing.assert_allclose(band.high, high, atol=1e-10)
    turned = honest_band(profile(1 - p, ~y), 0.9)  # complement
    np.testing.assert_allclose(1 - turned.high[::-1], band.low, atol=1e-10)
    rows = np.random.default_rng(0).permutation(len(p))
    assert honest_band(profile(p[rows], y[rows]), 0.9).low.tolist() == band.low.tolist()


def test_honest_band_of_a_falling_curve_crosses():
    # 400 rows: 9 in 10 events at 0.2, 1 in 10 at 0.8
    band = honest_band(profile([0.2] * 200 + [0.8] * 200, [1] * 180 + [0] * 20 + [1] * 20 + [0] * 180))
    assert band.crosses
    assert not honest_band(profile([0.2, 0.8], [1, 0])).crosses


def test_honest_band_refuses_weights():
    with pytest.raises(InputError, match="equal weight"):
        honest_band(profile([0.2, 0.8], [0, 1], [1, 2]))
    with pytest.raises(InputError, match="level"):
        honest_band(example(), 95)


def test_honest_band_of_many_values_uses_rows_of_the_right_side_only():
    # the true curve jumps from 1/10 to 9/10 at 0.505, within a group: an end that used rows beyond it would be far off
    rng = np.random.default_rng(0)
    p = np.sort(rng.random(40_000))
    truth = np.where(p < 0.505, 0.1, 0.9)
    band = honest_band(profile(p, rng.random(40_000) < truth))
    low, high = band.at(p)
    assert np.all((low <= truth) & (truth <= high))
    assert band.grouped
    assert band.values <= 200
    assert high[np.searchsorted(p, 0.45)] < 0.2
    assert low[np.searchsorted(p, 0.55)] > 0.8


def test_honest_band_covers_the_whole_curve():
    # nominal 60 %; guaranteed at least that. 60 samples: standard error 0.06. It is conservative, so the miss rate is far below
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(60):
        p = np.round(rng.random(250), 2)
        truth = p**2
        low, high = honest_band(profile(p, rng.random(250) < truth), 0.6).at(p)
        covered += np.all((low <= truth) & (truth <= high))
    assert covered / 60 >= 0.6


def test_consistency_band_of_one_score_is_a_binomial():
    # ten rows at 3/10: the curve is k/10; the linear quantile of many draws lies on the binomial quantile
    p = 0.3
    band = consistency_band(profile([p] * 10, [0] * 10), 0.9, draws=20_000)
    cdf = [1 - tail_from(k + 1, 10, p) for k in range(11)]
    expected = [next(k for k in range(11) if cdf[k] >= q) / 10 for q in (0.05, 0.95)]
    assert [band.low[0], band.high[0]] == pytest.approx(expected, abs=1e-12)
    assert band.kind == "consistency"
    assert band.pointwise


def test_consistency_band_of_d_by_enumeration():
    p = ref.floats(ref.D_P)
    draws, level = 20_000, 0.9
    band = consistency_band(profile(p, ref.D_Y), level, draws=draws)
    below_low, upto_low, upto_high, above_high = np.zeros(10), np.zeros(10), np.zeros(10), np.zeros(10)
    for y in itertools.product((0, 1), repeat=10):
        chance = math.prod(q if t else 1 - q for q, t in zip(p, y, strict=True))
        fit = isotonic(profile(p, y)).fitted  # tested by itself against exact fractions
        below_low += chance * (fit < band.low - 1e-9)
        upto_low += chance * (fit <= band.low + 1e-9)
        upto_high += chance * (fit < band.high - 1e-9)
        above_high += chance * (fit > band.high + 1e-9)
    noise = 4 * math.sqrt(0.05 * 0.95 / draws)
    assert np.all(below_low <= 0.05 + noise)
    assert np.all(upto_low >= 0.05 - noise)
    assert np.all(upto_high <= 0.95 + noise)
    assert np.all(above_high <= 0.05 + noise)


@pytest.mark.parametrize("n", [300, 1100])
def test_consistency_band_holds_the_curve_of_calibrated_models(n):
    # at each inner value 90 %; 80 samples, values of one sample near 0.3, 0.5 and 0.7 counted apart: standard error 0.034
    rng = np.random.default_rng(2)
    at = np.array([0.3, 0.5, 0.7])
    inside = np.zeros(3)
    for i in range(80):
        p = rng.random(n)
        cells = profile(p, rng.random(n) < p)
        low, high = consistency_band(cells, 0.9, draws=200, seed=i).at(at)
        curve = isotonic(cells).at(at)
        inside += (low <= curve) & (curve <= high)
    assert np.mean(inside) / 80 == pytest.approx(0.9, abs=4 * 0.034 / math.sqrt(3) + 0.01)  # quantiles of 200 draws: ± 0.01


CURVES = {"calibrated": lambda p: p, "flat": lambda p: np.full_like(p, 0.4), "steep": lambda p: 1 / (1 + np.exp(10 * (0.5 - p)))}


@pytest.mark.parametrize("name", CURVES)
def test_confidence_band_holds_the_true_curve(name):
    # nominal 90 % at each value; 60 samples of 400 rows; what the docstring promises: nowhere below 83 % but for noise of
    # four standard errors (0.19), 90 % on average along the curve (noise of a mean over 60 samples at most 0.04)
    rng = np.random.default_rng(3)
    at = np.array([0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97])
    truth = CURVES[name](at)
    inside = np.zeros(len(at))
    for i in range(60):
        p = rng.random(400)
        low, high = confidence_band(profile(p, rng.random(400) < CURVES[name](p)), 0.9, draws=150, seed=i).at(at)
        inside += (low <= truth) & (truth <= high)
    assert np.min(inside) / 60 >= 0.83 - 0.19
    assert np.mean(inside) / 60 >= 0.9 - 4 * 0.04 / 2


def test_confidence_band_leaves_doubt_where_the_curve_is_0_or_1():
    for p, y in (([0.2] * 5, [0] * 5), ([0.2, 0.4, 0.6], [1, 1, 1]), ([0.1] * 4 + [0.9] * 4, [0] * 4 + [1] * 4)):
        band = confidence_band(profile(p, y))
        assert np.all(band.high - band.low > 0.1)
        curve = isotonic(profile(p, y)).fitted
        assert np.all((band.low <= curve) & (curve <= band.high))


@pytest.mark.parametrize("make", [consistency_band, confidence_band])
@pytest.mark.parametrize("scale", [None, 1e-15, 1e15])
def test_bands_survive_edge_cases(make, scale):
    for p, y in (([0.3], [1]), ([0.0, 1.0], [1, 0]), ([0.5] * 3, [0, 0, 1]), ([0.0, 0.0], [1, 1])):
        band = make(profile(p, y, None if scale is None else np.full(len(p), scale)), draws=20)
        assert np.all((band.low >= 0) & (band.low <= band.high) & (band.high <= 1))
        json.dumps(band.to_dict(), allow_nan=False)
    assert isinstance(make(Profile.from_rows(np.float32([0.2, 0.7]), np.array([False, True])), draws=5), CurveBand)


@pytest.mark.parametrize("make", [consistency_band, confidence_band])
def test_bands_depend_on_seed_not_on_order_or_scale(make):
    rng = np.random.default_rng(4)
    p, w = rng.random(60), rng.integers(1, 5, 60).astype(float)
    y = rng.random(60) < p
    one = make(profile(p, y, w), draws=50)
    order = rng.permutation(60)
    for other in (make(profile(p[order], y[order], w[order]), draws=50), make(profile(p, y, w * 2.0**40), draws=50)):
        np.testing.assert_allclose(other.low, one.low, atol=1e-12)
        np.testing.assert_allclose(other.high, one.high, atol=1e-12)
    assert make(profile(p, y, w), draws=50, seed=1).low.tolist() != one.low.tolist()
    assert (one.draws, one.seed, one.level) == (50, 0, 0.95)


def test_weights_are_not_repetitions_in_a_band():
    # a weight of 10 leaves the doubt of the rows there are
    p, y = [0.5] * 8, [1, 0] * 4
    one, ten = (consistency_band(profile(p, y, w)) for w in (None, [10] * 8))
    assert (one.low[0], one.high[0]) == pytest.approx((ten.low[0], ten.high[0]), abs=1e-12)


def clustered(p, y, times):
    """Every row ``times`` over, as a cluster."""
    p, y, cluster = (np.repeat(np.asarray(a), times) for a in (p, y, np.arange(len(p))))
    return Profile.from_rows(p.astype(np.float64), y.astype(np.bool_), cluster=cluster, view="positive")


def test_repeated_rows_in_clusters_say_no_more_than_the_rows():
    # ten rows at 3/10, each five times: the curve is k/10 with the same binomial quantiles as of ten rows
    y = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    band = consistency_band(clustered([0.3] * 10, y, 5), 0.9, draws=20_000)
    cdf = [1 - tail_from(k + 1, 10, 0.3) for k in range(11)]
    expected = [next(k for k in range(11) if cdf[k] >= q) / 10 for q in (0.05, 0.95)]
    assert [band.low[0], band.high[0]] == pytest.approx(expected, abs=1e-12)
    alone, repeated = (confidence_band(cells, 0.9, draws=4000) for cells in (profile([0.3] * 10, y), clustered([0.3] * 10, y, 5)))
    # both draw from (3 + 1)/(10 + 2); ends on multiples of 1/10 but for the reflected ones
    assert [alone.low[0], alone.high[0]] == pytest.approx([repeated.low[0], repeated.high[0]], abs=1e-12)
    with pytest.raises(InputError, match="independent rows"):
        honest_band(clustered([0.3] * 10, y, 5))


def test_results_are_read_only_and_plain():
    band, honest = consistency_band(example(), draws=5), honest_band(example())
    for array in (band.value, band.low, honest.low, honest.high):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert json.loads(json.dumps(honest.to_dict()))["excluded"][0][2] == "over"
    assert band.to_dict()["pointwise"] is True
    assert honest.to_dict()["pointwise"] is False


@pytest.mark.parametrize(
    ("options", "what"), [({"draws": 0}, "draws"), ({"draws": 1.5}, "draws"), ({"seed": -1}, "seed"), ({"level": 1}, "level")]
)
def test_bad_options(options, what):
    with pytest.raises(InputError, match=what):
        consistency_band(example(), **options)
