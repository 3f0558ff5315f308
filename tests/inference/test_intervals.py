"""Intervals: Wilson, the calibrated range, the mean gap and error counts; values by hand, coverage by counting."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from scipy import special

import calibcore as cc
from calibcore.inference.intervals import mean_gap, poisson_lower
from calibcore.predictions import Predictions
from calibcore.proportions import binomial_range, wilson_interval


def wilson(k, n, level=0.95):
    low, high = wilson_interval(np.array([k]), np.array([n]), level)
    return float(low[0]), float(high[0])


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        # centre (k + z²/2)/(n + z²) ± z/(n + z²)·√(k(n − k)/n + z²/4), z = 1.959963984540054, in 60-digit decimals
        (7, 10, 0.396778, 0.892209),
        (0, 5, 0.0, 0.434482),
        (0, 7, 0.0, 0.354330435067),
        (1, 12, 0.014865094405, 0.353879911141),
        (1, 1, 0.206549314377, 1.0),
        (0, 1, 0.0, 0.793450685623),
        (6, 10, 0.312673769734, 0.831819670294),
    ],
)
def test_wilson(k, n, low, high):
    digits = 6 if (k, n) in ((7, 10), (0, 5)) else 12
    assert [round(v, digits) for v in wilson(k, n)] == [low, high]


def test_wilson_ends_are_exactly_0_and_1():
    for n in (1, 2, 3, 10, 1000, 10**9):
        assert wilson(0, n)[0] == 0.0
        assert wilson(n, n)[1] == 1.0
        low, high = wilson(n // 2, n)
        assert 0 <= low <= (n // 2) / n <= high <= 1


def test_wilson_solves_the_score_equation():
    # the ends are the p with (k/n − p)² = z²·p(1 − p)/n
    z = float(special.ndtri(0.95))
    for k, n in ((3, 17), (90, 100), (1, 2)):
        for p in wilson(k, n, 0.9):
            assert (k / n - p) ** 2 == pytest.approx(z**2 * p * (1 - p) / n, rel=1e-9)


def test_wilson_of_no_rows_is_undefined():
    assert all(math.isnan(v) for v in wilson(0, 0))


def coverage(n, p, level=0.95):
    """Exact probability that the interval holds p."""
    hits = (k for k in range(n + 1) if wilson(k, n, level)[0] <= p <= wilson(k, n, level)[1])
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in hits)


def test_wilson_coverage_by_enumeration():
    assert round(coverage(20, 0.05), 3) == 0.925  # Brown, Cai & DasGupta
    found = [coverage(n, p) for n in (10, 25, 50, 100) for p in (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)]
    assert min(found) > 0.89  # it oscillates, worst near 0 and 1
    assert 0.94 < np.mean(found) < 0.965
    assert 0.88 < np.mean([coverage(50, p, 0.9) for p in (0.1, 0.3, 0.5, 0.7, 0.9)]) < 0.93


@functools.cache
def binomial_cdf(k, n, p):
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10), Fraction(95, 100), Fraction(99, 100)])
def test_calibrated_range_is_a_pair_of_exact_binomial_quantiles(level):
    for n in (1, 2, 5, 10, 30, 77):
        for p in (Fraction(1, 100), Fraction(1, 10), Fraction(3, 10), Fraction(1, 2), Fraction(7, 10), Fraction(99, 100)):
            expected = [next(k for k in range(n + 1) if binomial_cdf(k, n, p) >= q) / n for q in ((1 - level) / 2, (1 + level) / 2)]
            low, high = binomial_range(np.array([float(n)]), np.array([float(p)]), float(level))
            assert [low[0], high[0]] == pytest.approx(expected, abs=1e-12), (n, p)


def test_calibrated_range_of_certain_and_of_empty_bins():
    low, high = binomial_range(np.array([10.0, 10.0, 0.0]), np.array([0.0, 1.0, np.nan]), 0.95)
    assert low[:2].tolist() == high[:2].tolist() == [0.0, 1.0]
    assert math.isnan(low[2])
    assert math.isnan(high[2])


def test_calibrated_range_of_huge_bins_is_normal():
    # n = 10⁸: half-width 1.96·√(p(1 − p)/n) to within one row and the skewness
    n, p = 1e8, 0.9
    low, high = binomial_range(np.array([n]), np.array([p]), 0.95)
    half = 1.959963985 * math.sqrt(p * (1 - p) / n)
    assert [low[0] - p, high[0] - p] == pytest.approx([-half, half], rel=1e-3)
    low, high = binomial_range(np.array([3e9]), np.array([0.5]), 0.95)
    assert 0.4999 < low[0] < 0.5 < high[0] < 0.5001


def test_s01_interval_and_range_are_two_things():
    # n = 10 at 0.3, six positives: Wilson excludes 0.3 while the range of a calibrated model reaches 0.6
    b = cc.bin_statistics([1] * 6 + [0] * 4, [0.3] * 10, n_bins=1)
    low, high = b.interval()
    assert [low[0], high[0]] == pytest.approx([0.312673769734, 0.831819670294], abs=1e-12)
    low, high = b.calibrated_range()
    assert [low[0], high[0]] == pytest.approx([0.0, 0.6], abs=1e-12)


def profile(p, y, w=None):
    return Predictions.from_top_label(p, y, sample_weight=w).profile()


T_975 = {9: 2.2621571628}  # 97.5 % point of t, from a table


def test_mean_gap_by_hand():
    # r = 0.2, −0.8, −0.6: mean −0.4, squares of deviations 0.36, 0.16, 0.04 → sd² = 0.28
    g = mean_gap(profile([0.8, 0.8, 0.6], [1, 0, 0]), 0.5)
    half = 0.5 * math.sqrt(2 / 0.75) * math.sqrt(0.28 / 3)  # t with two degrees of freedom: q·√(2/(1 − q²)) at level q
    assert g.value == pytest.approx(-0.4, abs=1e-15)
    assert [g.low, g.high] == pytest.approx([-0.4 - half, -0.4 + half], abs=1e-9)


def test_definition_4_gap_of_d_is_accuracy_minus_confidence():
    g = mean_gap(profile(ref.floats(ref.D_P), ref.D_Y))
    r = [y - p for p, y in zip(ref.D_P, ref.D_Y, strict=True)]
    variance = sum((v - Fraction(1, 10)) ** 2 for v in r) / 9
    half = T_975[9] * math.sqrt(variance / 10)
    assert g.value == pytest.approx(0.1, abs=1e-15)  # 6/10 right, 5/10 claimed
    assert [g.low, g.high] == pytest.approx([0.1 - half, 0.1 + half], abs=1e-9)
    assert mean_gap(profile([0.9, 0.9], [1, 0])).value == pytest.approx(-0.4, abs=1e-15)  # overconfident: negative


def test_mean_gap_with_weights_by_hand():
    # w = 1, 3; r = 0.5, −0.25: mean −1/16; Σw²(r − mean)² = (9/16)² + 9·(3/16)² = 162/256; n_eff = 16/10;
    # se² = 162/256 / 16 · n_eff/(n_eff − 1); t with 0.6 degrees of freedom
    g = mean_gap(profile([0.5, 0.25], [1, 0], [1, 3]), 0.1)
    half = float(special.stdtrit(0.6, 0.55)) * math.sqrt(162 / 256 / 16 * 1.6 / 0.6)
    assert g.value == pytest.approx(-1 / 16, abs=1e-15)
    assert [g.low, g.high] == pytest.approx([-1 / 16 - half, -1 / 16 + half], rel=1e-9)


def test_mean_gap_equal_weights_change_nothing():
    p, y = ref.floats(ref.D_P), ref.D_Y
    one, ten = mean_gap(profile(p, y)), mean_gap(profile(p, y, [10] * 10))
    assert [ten.value, ten.low, ten.high] == pytest.approx([one.value, one.low, one.high], abs=1e-12)


def test_mean_gap_of_one_row_has_no_ends():
    g = mean_gap(profile([0.4], [1]))
    assert (g.value, g.low, g.high) == (0.6, None, None)
    assert mean_gap(profile([0.4, 0.9], [1, 1], [1, 0])).low is None


def test_mean_gap_where_all_rows_are_right_is_wilson_minus_the_claim():
    # ten of ten right: Wilson's lower end n/(n + z²) = 10/13.8414588… = 0.722467
    g = mean_gap(profile([0.9] * 10, [1] * 10))
    assert [g.low, g.high] == pytest.approx([10 / (10 + 1.959963984540054**2) - 0.9, 0.1], abs=1e-12)


def test_mean_gap_stays_where_an_accuracy_can_be():
    # one wrong of two at 0.9: mean −0.4, sd √½, t with one degree of freedom 12.7: far beyond −0.9 and 0.1
    g = mean_gap(profile([0.9, 0.9], [1, 0]))
    assert [g.low, g.high] == pytest.approx([-0.9, 0.1], abs=1e-15)
    assert mean_gap(profile([0.9, 0.9], [1, 0]), 0.5).high == pytest.approx(0.1, abs=1e-15)  # −0.4 + 1·½, as t₁ is 1 at 75 %
    # with weights and with clusters too: 19 right rows and a wrong one at 0.96, so the mean is −0.01
    for beside in ({}, {"sample_weight": [1] * 10 + [2] * 10}, {"cluster": [i // 2 for i in range(20)]}):
        g = mean_gap(Predictions.from_top_label([0.96] * 20, [1] * 19 + [0], **beside).profile())
        assert -0.96 <= g.low < g.value < g.high <= 0.04 + 1e-15
        assert g.high == pytest.approx(0.04, abs=1e-15)


def test_the_t_interval_is_too_narrow_with_few_wrong_rows():
    # 100 rows at 0.95: exact probability of a miss, over the number of right rows; Wilson's interval where it is 100 (or 0)
    miss = 0.0
    for k in range(70, 101):
        g = mean_gap(profile([0.95] * 100, [1] * k + [0] * (100 - k)))
        miss += math.comb(100, k) * 0.95**k * 0.05 ** (100 - k) * (not g.low <= 0 <= g.high)
    assert miss == pytest.approx(0.12, abs=0.005)


def test_levels_widen_the_interval():
    p = profile(ref.floats(ref.D_P), ref.D_Y)
    widths = [mean_gap(p, level).high - mean_gap(p, level).low for level in (0.5, 0.8, 0.9, 0.95, 0.99)]
    assert widths == sorted(widths)


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, float("nan"), None, "0.95"])
def test_levels_are_fractions(level):
    with pytest.raises(cc.InputError, match=r"level must be a fraction between 0 and 1, such as 0\.95"):
        mean_gap(profile([0.9, 0.2], [1, 0]), level)
    with pytest.raises(cc.InputError, match="level must be a fraction"):
        cc.bin_statistics([1], [0.5]).interval(level)


@pytest.mark.parametrize("shift", [0.0, -0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_gap_interval_covers_the_true_gap(shift, weighted):
    # 500 samples at 95 %: the share covered has standard error 0.0097, of which three are allowed
    rng = np.random.default_rng(95)
    covered = 0
    for _ in range(500):
        c = rng.uniform(0.5, 1, 150)
        right = rng.random(150) < c + shift
        w = rng.gamma(2, 1, 150) if weighted else None
        g = mean_gap(profile(c, right, w))
        covered += g.low <= shift <= g.high
    assert covered / 500 == pytest.approx(0.95, abs=3 * 0.0097)


@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_poisson_lower_limit_is_exact(count):
    # the limit m solves P(X ≥ count | m) = 2.5 %
    m = poisson_lower(count)
    below = sum(math.exp(-m) * m**k / math.factorial(k) for k in range(count))
    assert 1 - below == pytest.approx(0.025, abs=1e-10)
    assert poisson_lower(0) == 0.0
