"""Bins: counts, means and gaps by hand, empty bins, read-only results and the table."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import calibcore as cc
from calibcore.binned import BinnedStatistics, bin_rows
from calibcore.errors import InputError
from calibcore.predictions import Predictions
from calibcore.proportions import binomial_interval


def bins(p, y, **options):
    return cc.bin_statistics(y, p, view="positive", **options)


def test_definition_4_gap_is_accuracy_minus_confidence():
    b = bins([0.3, 0.3, 0.9, 0.9], [1, 1, 0, 1], n_bins=4)
    assert b.gap[[1, 3]].tolist() == pytest.approx([0.7, -0.4], abs=1e-15)
    assert b.ece == pytest.approx(0.55, abs=1e-15)
    assert (b.mce, b.mce_bin) == (0.7, 1)


def test_definition_5_empty_bins_stay_and_enter_no_sum():
    b = bins([0.91, 0.86, 0.22], [1, 1, 0], n_bins=4)
    assert b.count.tolist() == [1, 0, 0, 2]
    for values in (b.confidence, b.accuracy, b.gap, *b.interval(), *b.calibrated_range()):
        assert len(values) == 4
        assert np.isnan(values).tolist() == [False, True, True, False]
    assert b.filled.tolist() == [True, False, False, True]
    assert b.used == 2
    assert b.ece == pytest.approx(0.15, abs=1e-15)
    assert b.mce == pytest.approx(0.22, abs=1e-15)
    assert b.rmsce == pytest.approx(math.sqrt((0.22**2 + 2 * 0.115**2) / 3), abs=1e-15)


def test_definition_5_mce_bin_is_the_first_of_equals():
    b = bins([0.25, 0.75], [0, 1], n_bins=2)
    assert (b.mce, b.mce_bin) == (0.25, 0)


def test_mean_confidence_not_the_bin_centre():
    # always right at about 0.92: a measure that takes the centre 0.95 would say 3/40 for the four rows
    assert bins([0.91, 0.92, 0.93, 0.11], [1, 1, 1, 0], n_bins=10).ece == pytest.approx(7 / 80, abs=1e-15)
    assert bins([1, 1, 1], [1, 1, 1], n_bins=10).ece == 0.0


def test_definition_2_zero_and_one_belong_to_the_outer_bins():
    for closed in ("right", "left"):
        assert bins([0, 0, 0.05, 0.6], [1, 0, 0, 1], n_bins=4, closed=closed).count.tolist() == [3, 0, 1, 0]
        b = bins([0.97, 1, 1, 0.35], [1, 1, 0, 0], n_bins=5, closed=closed)
        assert b.count.tolist() == [0, 1, 0, 0, 3]
        assert b.ece == pytest.approx(0.33, abs=1e-15)


def test_definition_8_weighted_bins():
    b = bins([0.2, 0.4, 0.7, 0.9], [0, 1, 1, 1], n_bins=2, sample_weight=[1, 20, 1, 2])
    assert b.count.tolist() == [2, 2]
    assert b.weight.tolist() == [21, 3]
    assert b.confidence.tolist() == pytest.approx([41 / 105, 5 / 6], abs=1e-15)
    assert b.accuracy.tolist() == pytest.approx([20 / 21, 1], abs=1e-15)
    assert b.n_effective.tolist() == pytest.approx([441 / 401, 9 / 5], abs=1e-14)  # (Σw)²/Σw²
    assert b.ece == pytest.approx(41 / 80, abs=1e-15)
    assert b.mce == pytest.approx(59 / 105, abs=1e-15)


def test_definition_8_intervals_use_the_effective_number_of_rows():
    one = bins([0.5] * 8, [1, 1, 1, 0] * 2, n_bins=1)
    ten = bins([0.5] * 8, [1, 1, 1, 0] * 2, n_bins=1, sample_weight=[10] * 8)
    for a, b in zip((*one.interval(), *one.calibrated_range()), (*ten.interval(), *ten.calibrated_range()), strict=True):
        assert a.tolist() == pytest.approx(b.tolist(), abs=1e-12)  # a weight of 10 is not ten rows
    # Wilson with n = (Σw)²/Σw² = 12²/48 = 3 and share 9/12: k = 2.25
    b = bins([0.5] * 6, [1, 1, 1, 0, 0, 0], n_bins=1, sample_weight=[6, 2, 1, 1, 1, 1])
    n, k, z = 144 / 44, 9 / 12 * 144 / 44, 1.959963984540054
    half = z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    low, high = b.interval()
    assert [low[0], high[0]] == pytest.approx([(k + z * z / 2) / (n + z * z) - half, (k + z * z / 2) / (n + z * z) + half], abs=1e-12)


def test_weighted_all_right_reaches_exactly_one():
    b = bins([0.15, 0.25, 0.95, 0.95], [0, 1, 1, 1], n_bins=10, sample_weight=[0.1, 0.3, 0.7, 0.2])
    assert b.interval()[1][9] == 1.0
    assert b.accuracy[9] == 1.0


def test_definition_2_counts_sum_to_n():
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(500), np.arange(101) / 100, [0, 1, 5e-324, 1 - 2.0**-53]])
    y = rng.integers(0, 2, len(p))
    for m in (1, 2, 3, 7, 10, 15, 99, 100, 1000):
        for options in ({"closed": "right"}, {"closed": "left"}, {"strategy": "equal_mass"}, {"strategy": "equal_mass", "ties": "share"}):
            b = bins(p, y, n_bins=m, **options)
            assert b.count.sum() == len(p)
            assert b.weight.sum() == pytest.approx(len(p), abs=1e-9)


def test_results_are_frozen_and_read_only():
    b = bins([0.2, 0.8], [0, 1], n_bins=2)
    for name in ("edges", "count", "weight", "confidence", "accuracy", "n_effective"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(b, name)[0] = 0
    with pytest.raises(AttributeError):
        b.closed = "left"
    with pytest.raises((AttributeError, TypeError)):
        b.note = "x"


def test_definition_10_settings_travel_with_the_numbers():
    b = bins([0.2, 0.8], [0, 1], n_bins=7, closed="left")
    assert (b.closed, b.strategy, b.requested, b.shared) == ("left", "equal_width", 7, False)
    b = bins([0.2, 0.8], [0, 1], n_bins=7, strategy="equal_mass", ties="share")
    assert (b.strategy, b.requested, b.shared) == ("equal_mass", 7, True)


def test_to_frame():
    frame = bins([0.91, 0.86, 0.22], [1, 1, 0], n_bins=4).to_frame()
    assert frame["count"].tolist() == [1, 0, 0, 2]
    assert frame["lower"].tolist() == [0, 0.25, 0.5, 0.75]
    assert frame["upper"].tolist() == [0.25, 0.5, 0.75, 1]
    assert frame["gap"].isna().tolist() == [False, True, True, False]
    assert frame["gap"].iloc[3] == pytest.approx(0.115, abs=1e-15)
    assert frame["interval_low"].iloc[0] == 0.0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_and_cells_bin_alike_in_every_precision(dtype, weighted):
    rng = np.random.default_rng(1)
    p = (rng.integers(0, 101, 400) / 100).astype(dtype)
    y = rng.random(400) < 0.5
    w = rng.integers(1, 4, 400).astype(float) if weighted else None
    for m in (4, 5, 10, 20, 25, 100):
        for closed in ("right", "left"):
            part = cc.Partition.equal_width(m, closed)
            direct = bin_rows(part, p, y, w)
            cells = Predictions.from_top_label(p, y, sample_weight=w).profile().bin(part)
            assert isinstance(direct, BinnedStatistics)
            assert direct.count.tolist() == cells.count.tolist()
            np.testing.assert_allclose(direct.gap, cells.gap, atol=1e-12)
            assert direct.ece == pytest.approx(cells.ece, abs=1e-12)


METHODS = ("wilson", "clopper_pearson", "jeffreys")


@pytest.mark.parametrize(
    ("k", "n", "method", "low", "high"),
    [
        # beta quantiles B(α/2; k, n − k + 1), B(1 − α/2; k + 1, n − k) and B(·; k + ½, n − k + ½), from tables made by SciPy's stats
        (7, 10, "wilson", 0.396778, 0.892209),
        (7, 10, "clopper_pearson", 0.347547, 0.933260),
        (7, 10, "jeffreys", 0.394182, 0.907305),
        (0, 5, "wilson", 0, 0.434482),
        (0, 5, "clopper_pearson", 0, 0.521824),  # 1 − 0.025^(1/5)
        (0, 5, "jeffreys", 0, 0.379377),
        (5, 5, "clopper_pearson", 0.478176, 1),
        (5, 5, "jeffreys", 0.620623, 1),
    ],
)
def test_intervals_of_three_kinds(k, n, method, low, high):
    b = bins([0.5] * n, [1] * k + [0] * (n - k), n_bins=1)
    assert [float(end[0]) for end in b.interval(method=method)] == pytest.approx([low, high], abs=5e-7)


def test_clopper_pearson_leaves_half_of_alpha_in_each_tail():
    for k, n in ((1, 7), (7, 10), (30, 31)):
        low, high = (float(end[0]) for end in binomial_interval(np.array([k]), np.array([n]), 0.9, "clopper_pearson"))
        tail = [sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in js) for p, js in ((low, range(k, n + 1)), (high, range(k + 1)))]
        assert tail == pytest.approx([0.05, 0.05], abs=1e-12)


@pytest.mark.parametrize(("method", "expected"), [("wilson", 0.925), ("clopper_pearson", 0.984), ("jeffreys", 0.984)])
def test_exact_coverage_at_n_20_p_005(method, expected):
    # Brown, Cai & DasGupta's kind of count: Σ of the binomial probabilities of the k whose interval holds p
    n, p = 20, 0.05
    low, high = binomial_interval(np.arange(n + 1), np.full(n + 1, n), 0.95, method)
    chance = np.array([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])
    assert round(float(np.sum(chance[(low <= p) & (p <= high)])), 3) == expected


def test_clopper_pearson_never_covers_less_than_the_level():
    for n in (1, 5, 20, 60):
        low, high = binomial_interval(np.arange(n + 1), np.full(n + 1, n), 0.9, "clopper_pearson")
        for p in np.arange(1, 100) / 100:
            chance = np.array([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])
            assert np.sum(chance[(low <= p) & (p <= high)]) >= 0.9 - 1e-12


def test_an_effective_number_of_rows_need_not_be_whole():
    # weights 6, 2, 1, 1, 1, 1: n = 144/44, share 9/12; Jeffreys' ends solve the regularised beta function
    b = bins([0.5] * 6, [1, 1, 1, 0, 0, 0], n_bins=1, sample_weight=[6, 2, 1, 1, 1, 1])
    n, k = 144 / 44, 9 / 12 * 144 / 44
    low, high = (float(end[0]) for end in b.interval(method="jeffreys"))
    assert [special.betainc(k + 0.5, n - k + 0.5, x) for x in (low, high)] == pytest.approx([0.025, 0.975], abs=1e-12)
    low, high = (float(end[0]) for end in b.interval(method="clopper_pearson"))
    assert special.betainc(k, n - k + 1, low) == pytest.approx(0.025, abs=1e-12)
    assert special.betainc(k + 1, n - k, high) == pytest.approx(0.975, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_lie_about_the_share_and_are_undefined_without_rows(method):
    b = bins([0.91, 0.86, 0.22], [1, 1, 0], n_bins=4)
    low, high = b.interval(0.8, method=method)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [False, True, True, False]
    assert (low[0], high[3]) == (0.0, 1.0)
    shared = bins([0.5] * 4, [1, 0, 1, 1], n_bins=2, strategy="equal_mass", ties="share")
    assert all(np.isnan(end).all() for end in shared.interval(method=method))


def test_unknown_method():
    with pytest.raises(InputError, match=r"wilson, clopper_pearson, jeffreys"):
        bins([0.5], [1], n_bins=1).interval(method="wald")


def test_calibrated_range_is_that_of_unequal_probabilities():
    # cumulative 0.442, 0.8685, 0.9895, 1: 90 % range 0 to 2 events; 50 % range 0 to 1
    b = bins([0.15, 0.2, 0.35], [0, 0, 1], n_bins=1)
    assert [float(end[0]) * 3 for end in b.calibrated_range(0.9)] == pytest.approx([0, 2], abs=1e-12)
    assert [float(end[0]) * 3 for end in b.calibrated_range(0.5)] == pytest.approx([0, 1], abs=1e-12)
    # half certain, half excluded: no chance at all, where a binomial at the mean 1/2 would allow 1 to 9 of 10
    b = bins([0.0] * 5 + [1.0] * 5, [0] * 5 + [1] * 5, n_bins=1)
    assert [float(end[0]) for end in b.calibrated_range()] == [0.5, 0.5]


samples = st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=1, max_size=60)


@given(samples, st.integers(1, 12), st.sampled_from([np.float32, np.float64]), st.sampled_from([1e-15, 7.0, 1e15]))
def test_calibrated_range_by_rows_and_by_cells(sample, m, dtype, scale):
    p, y = np.array([r[0] / 40 for r in sample], dtype=dtype), np.array([r[1] for r in sample])
    part = cc.Partition.equal_width(m)
    direct = bin_rows(part, p, y)
    cells = Predictions.from_top_label(p, y).profile().bin(part)
    weighted = Predictions.from_top_label(p, y, sample_weight=np.full(len(p), scale)).profile().bin(part)
    for other in (cells, weighted, bin_rows(part, p, y, np.full(len(p), scale)), bin_rows(part, p[::-1], y[::-1])):
        for one, two in zip(direct.calibrated_range(0.9), other.calibrated_range(0.9), strict=True):
            np.testing.assert_array_equal(one, two)


def test_calibrated_range_of_large_bins_by_rows_and_by_cells():
    rng = np.random.default_rng(3)
    p = rng.random(20_000)
    y = rng.random(20_000) < p
    part = cc.Partition.equal_width(15)
    direct, cells = bin_rows(part, p, y), Predictions.from_top_label(p, y).profile().bin(part)
    for one, two in zip(direct.calibrated_range(), cells.calibrated_range(), strict=True):
        np.testing.assert_array_equal(one, two)
    low, high = direct.calibrated_range()
    sd = np.sqrt(np.bincount(part.locate(p), weights=p * (1 - p)) / direct.count**2)
    np.testing.assert_allclose(high - low, 2 * 1.959964 * sd, atol=2.5 / np.min(direct.count))  # normal, and whole counts


def test_calibrated_range_holds_calibrated_bins():
    # exact: the probability that the count falls inside is at least the level, by enumerating the Poisson-binomial
    rng = np.random.default_rng(4)
    for n in (3, 10, 40):
        p = rng.random(n)
        b = bins(p, [0] * n, n_bins=1, classes=(0, 1))
        low, high = (round(float(end[0]) * n) for end in b.calibrated_range(0.9))
        chance = np.array([1.0])
        for q in p:
            chance = np.convolve(chance, [1 - q, q])
        assert np.sum(chance[low : high + 1]) >= 0.9 - 1e-12
        assert np.sum(chance[: low + 1]) > 0.05 - 1e-12
        assert np.sum(chance[high:]) > 0.05 - 1e-12


def test_unequal_weights_use_the_effective_number_of_rows():
    # (Σw)²/Σw² = 16/10 rounds to 2 rows at 0.5: 0 to 2 of 2
    b = bins([0.5, 0.5], [0, 1], n_bins=1, sample_weight=[1, 3])
    assert [float(end[0]) for end in b.calibrated_range()] == [0.0, 1.0]


def test_calibrated_range_is_a_copy_and_needs_no_members():
    b = bins([0.15, 0.2, 0.35], [0, 0, 1], n_bins=1)
    b.calibrated_range()[0][:] = 9
    assert b.calibrated_range()[0][0] == 0
    # made of sums alone: binomial of 3 rows at 7/30, of which 2 or fewer with 98.7 %
    alone = dataclasses.replace(b, members=None, _memo={})
    assert alone.calibrated_range(0.9)[1][0] == pytest.approx(2 / 3, abs=1e-15)
