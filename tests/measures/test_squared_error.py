"""The debiased squared error: exact values, unbiasedness by enumeration, weights, and simulated coverage."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.measures.squared_error import debiased_squared_error, squared_error
from calibcore.predictions import Predictions

HALF = Fraction(1, 2)


def one_bin(ys, ps, weights=None):
    """The estimate in a single bin."""
    return debiased_squared_error(list(ys), ref.floats(ps), n_bins=1, classes=[0, 1], sample_weight=weights)


def pairs(ps, ys, edges, closed="right", weights=None):
    """The U-statistic by a loop over all pairs of different rows."""
    w = [Fraction(v) for v in weights or [1] * len(ps)]
    found = Fraction(0)
    for b in range(len(edges) - 1):
        rows = [i for i, p in enumerate(ps) if ref.bin_of(p, edges, closed) == b]
        both = [(i, j) for i in rows for j in rows if i != j]
        if both:
            mean = sum(w[i] * w[j] * (ys[i] - ps[i]) * (ys[j] - ps[j]) for i, j in both) / sum(w[i] * w[j] for i, j in both)
            found += sum(w[i] for i in rows) / sum(w) * mean
    return found


def test_exact_values_on_d():
    s = debiased_squared_error(ref.D_Y, ref.floats(ref.D_P), n_bins=5)
    # bins (1,3,4)/20, (7,8)/20, 11/20, (13,16)/20, (18,19)/20; the third has no pair
    assert pairs(ref.D_P, ref.D_Y, ref.equal_width(5)) == Fraction(-169, 4000)
    assert s.value == pytest.approx(-169 / 4000, abs=1e-15)
    assert s.plug_in == pytest.approx(493 / 8000, abs=1e-15)
    assert s.kumar == pytest.approx(-1247 / 24000, abs=1e-15)
    assert s.dpe == pytest.approx(-71 / 3000, abs=1e-15)
    assert s.covered == pytest.approx(9 / 10, abs=1e-15)
    assert s.root == 0.0
    assert s.plug_in == pytest.approx(cc.root_mean_square_calibration_error(ref.D_Y, ref.floats(ref.D_P), n_bins=5) ** 2, abs=1e-15)
    found = s.to_dict(0.9)
    assert list(found) == ["value", "low", "high", "root", "plug_in", "kumar"]
    assert (found["value"], found["low"], found["high"]) == (s.value, *s.interval(0.9))


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("m", [1, 2, 3, 10])
@pytest.mark.parametrize("weights", [None, [1, 5, 1, 2, 1, 3, 1, 1, 4, 2]])
def test_value_is_the_mean_over_pairs(m, closed, weights):
    s = debiased_squared_error(ref.D_Y, ref.floats(ref.D_P), n_bins=m, closed=closed, sample_weight=weights)
    assert s.value == pytest.approx(float(pairs(ref.D_P, ref.D_Y, ref.equal_width(m), closed, weights)), abs=1e-14)


def test_unbiased_by_enumeration_of_three_rows():
    # p = 1/2, truth 2/3: squared error 1/36; E plug-in = 1/36 + (2/9)/3 = 11/108
    truth, mean = Fraction(2, 3), np.zeros(3)
    for ys in itertools.product((0, 1), repeat=3):
        s = one_bin(ys, [HALF] * 3)
        mean += float(math.prod(truth if y else 1 - truth for y in ys)) * np.array([s.value, s.kumar, s.plug_in])
    assert mean == pytest.approx([1 / 36, 1 / 36, 11 / 108], abs=1e-15)


def test_kumar_subtracts_too_much_where_confidences_vary():
    # two calibrated rows, each at 1/10 or 9/10, in one bin: E U = 0, E Kumar = -2/25, E plug-in = 9/200
    mean = np.zeros(3)
    for ps in itertools.product((Fraction(1, 10), Fraction(9, 10)), repeat=2):
        for ys in itertools.product((0, 1), repeat=2):
            s = one_bin(ys, ps)
            chance = math.prod(p if y else 1 - p for p, y in zip(ps, ys, strict=True)) / 4
            mean += float(chance) * np.array([s.value, s.kumar, s.plug_in])
    assert mean == pytest.approx([0, -2 / 25, 9 / 200], abs=1e-15)


def test_unbiased_with_weights_by_enumeration():
    # weights do not depend on the outcome: every pair has mean (2/3 - 1/2)^2, so has their weighted mean
    truth, mean = Fraction(2, 3), 0.0
    for ys in itertools.product((0, 1), repeat=3):
        mean += math.prod(truth if y else 1 - truth for y in ys) * one_bin(ys, [HALF] * 3, weights=[1, 2, 5]).value
    assert mean == pytest.approx(1 / 36, abs=1e-15)


def test_interval_by_hand():
    # ten rows at 1/2, seven right: gap 1/5, a = 7.5/11, v/n = a(1-a)/10
    s = one_bin([1] * 7 + [0] * 3, [HALF] * 10)
    v = 7.5 / 11 * 3.5 / 11 / 10
    half = 1.959963984540054 * math.sqrt(4 * 0.04 * v + 2 * v**2)
    assert s.value == pytest.approx((Fraction(1, 25) * 100 - Fraction(10, 4)) / 90, abs=1e-15)  # (S^2 - Q)/(n(n-1))
    low, high = s.interval()
    assert (low, high) == (0.0, pytest.approx(s.value + half, abs=1e-12))
    assert s.interval(0.99)[1] > high
    with pytest.raises(cc.InputError, match="level"):
        s.interval(95)


def test_interval_takes_the_effective_number_of_rows():
    # weights 1 and 3 on alternate rows: (sum w)^2/sum w^2 = 20^2/50 = 8 rows
    ys, w = [1, 1, 0, 0, 1, 1, 0, 0, 1, 1], [1, 3] * 5
    s = one_bin(ys, [HALF] * 10, weights=w)
    a, gap = (8 * 0.6 + 0.5) / 9, 0.1
    v = a * (1 - a) / 8
    assert s.standard_error == pytest.approx(math.sqrt(4 * gap**2 * v + 2 * v**2), rel=1e-12)


def test_an_interval_is_never_empty_nor_certain():
    # all agree: the spread of the outcomes is 0, yet two rows prove little
    low, high = one_bin([1, 1], [HALF] * 2).interval()
    assert low == 0.0
    assert high > 0.5
    # a value so far below 0 that its interval lies below 0 ends at 0
    y, p = [0, 1] * 50, [HALF] * 100
    assert one_bin(y, p).interval(0.1) == (0.0, 0.0)
    # no pair, no knowledge
    assert one_bin([1], [HALF]).interval() == (0.0, 1.0)


def test_shared_ties_have_no_pairs():
    y, p = [1, 0, 1, 0, 1, 1, 1, 1], [0.5] * 6 + [0.9] * 2
    profile = Predictions.from_arrays(y, p).profile("positive")
    assert squared_error(profile, cc.Partition.equal_mass(profile, 4, "share")) is None
    with pytest.raises(cc.InputError, match="ties='together'"):
        debiased_squared_error(y, p, strategy="equal_mass", ties="share", n_bins=4)
    assert debiased_squared_error(y, p, strategy="equal_mass", n_bins=4).covered == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_of_the_possible(dtype):
    one = debiased_squared_error([1], np.array([0.3], dtype))
    assert (one.value, one.kumar, one.dpe, one.covered, one.standard_error) == (0, 0, 0, 0, 0)
    assert one.plug_in == pytest.approx(0.49, abs=1e-7)
    certain = debiased_squared_error([0, 1, 1], np.array([0, 1, 1], dtype))
    assert (certain.value, certain.plug_in, certain.kumar) == (0, 0, 0)
    wrong = debiased_squared_error([1, 1, 0, 0], np.array([0, 0, 1, 1], dtype))
    assert (wrong.value, wrong.plug_in, wrong.kumar, wrong.root) == (1, 1, 1, 1)
    assert 0 <= wrong.interval()[0] < 1
    apart = debiased_squared_error([1, 0], np.array([0.2, 0.9], dtype), n_bins=10)
    assert (apart.value, apart.covered, apart.interval()) == (0, 0, (0, 1))


def test_a_weight_that_outweighs_all_others_leaves_no_pair():
    s = one_bin([1, 0], [HALF] * 2, weights=[1e6, 1e-5])
    assert (s.value, s.covered) == (0, 0)


def test_array_path_and_views():
    p = [[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1]]
    top = debiased_squared_error([0, 1, 1, 0], p, n_bins=1)
    profile = Predictions.from_arrays([0, 1, 1, 0], p).profile()
    assert top == squared_error(profile, cc.Partition.equal_width(1))
    assert debiased_squared_error([0, 1, 1, 0], p, n_bins=1, view="class:1") != top
    with pytest.raises(cc.InputError, match="strategy must be"):
        debiased_squared_error([0, 1], [0.1, 0.2], strategy="quantile")


levels = st.integers(0, 20).map(lambda k: k / 20)
samples = st.lists(st.tuples(levels, st.integers(0, 1), st.integers(1, 6)), min_size=1, max_size=30)


def values(s):
    return [s.value, s.plug_in, s.kumar, s.dpe, s.standard_error, s.covered]


@given(samples, st.integers(1, 12), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(rows, m, random):
    other = list(rows)
    random.shuffle(other)
    found = [
        debiased_squared_error([r[1] for r in s], [r[0] for r in s], n_bins=m, classes=[0, 1], sample_weight=[r[2] for r in s])
        for s in (rows, other)
    ]
    assert values(found[0]) == pytest.approx(values(found[1]), abs=1e-14)


@given(samples, st.integers(1, 12), st.sampled_from([1e15, 1e-15, 0.3]))
def test_only_ratios_of_weights_matter(rows, m, factor):
    p, y, w = zip(*rows, strict=True)
    one, other = (debiased_squared_error(y, p, n_bins=m, classes=[0, 1], sample_weight=np.array(v)) for v in (w, np.array(w) * factor))
    assert values(one) == pytest.approx(values(other), abs=1e-12)


@given(samples, st.integers(1, 12), st.sampled_from([1.0, 7.0]))
def test_equal_weights_are_no_weights(rows, m, weight):
    p, y, _ = zip(*rows, strict=True)
    one = debiased_squared_error(y, p, n_bins=m, classes=[0, 1])
    other = debiased_squared_error(y, p, n_bins=m, classes=[0, 1], sample_weight=[weight] * len(rows))
    assert values(one) == pytest.approx(values(other), abs=1e-12)


@given(samples, st.integers(1, 12))
def test_weight_is_repetition_for_the_plug_in(rows, m):
    p, y, w = zip(*rows, strict=True)
    one = debiased_squared_error(y, p, n_bins=m, classes=[0, 1], sample_weight=w)
    other = debiased_squared_error(np.repeat(y, w), np.repeat(p, w), n_bins=m, classes=[0, 1])
    assert one.plug_in == pytest.approx(other.plug_in, abs=1e-13)


@given(samples, st.integers(1, 12))
def test_complement(rows, m):
    k, y, w = zip(*[(round(r[0] * 20), r[1], r[2]) for r in rows], strict=True)
    edges = np.arange(m + 1) / m
    one = debiased_squared_error(y, np.array(k) / 20, classes=[0, 1], sample_weight=w, edges=edges, closed="right")
    mirrored = Predictions.from_top_label((20 - np.array(k)) / 20, 1 - np.array(y), sample_weight=w).profile()
    other = squared_error(mirrored, cc.Partition.equal_width(m, "left"))
    # the mirrored edges 1 - k/m are the doubles nearest to (m-k)/m, and multiples of 1/20 mirror exactly
    assert values(one) == pytest.approx(values(other), abs=1e-13)


def test_unbiased_on_simulated_calibrated_rows():
    # 400 samples of 300 calibrated rows: the mean of U is 0 to four standard errors; Kumar's is below by mean within-bin
    # variance of p over n_b: p uniform in a third has variance 1/108, so by about sum_b (1/3)/108/99 = 1/10,692 ~ 9.4e-5
    rng = np.random.default_rng(5)
    found = []
    for _ in range(400):
        p = rng.random(300)
        s = debiased_squared_error((rng.random(300) < p).astype(int), p, n_bins=3)
        found.append((s.value, s.kumar, s.plug_in))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / 20
    assert abs(mean[0]) < 4 * error[0]
    difference = np.array([k - u for u, k, _ in found])
    assert difference.mean() == pytest.approx(-1 / 10_692, abs=4 * difference.std() / 20 + 5e-6)
    # plug-in: sum_b W_b E p(1-p)/n_b = (3/300)·(1/6) under calibration
    assert mean[2] == pytest.approx(1 / 600, abs=4 * error[2])


CENTRES = (np.arange(10) + 0.5) / 10


@pytest.mark.parametrize(
    ("truth", "published"),
    [(CENTRES, 0.998), (np.clip(CENTRES + 0.05, 0, 1), 0.955), (np.clip(0.5 + 1.5 * (CENTRES - 0.5), 0, 1), 0.912)],
)
def test_simulated_coverage(truth, published):
    # 1,000 rows in 10 bins, 90 %: coverage simulated independently from 400 samples of the interval without the half-row in
    # a, whose effect at 100 rows a bin is at most a percent or two; four standard errors of both simulations are allowed,
    # of which this one has 200 samples
    rng = np.random.default_rng(31)
    target, hits, sums = float(np.mean((truth - CENTRES) ** 2)), 0, []
    for _ in range(200):
        which = rng.integers(0, 10, 1000)
        s = debiased_squared_error((rng.random(1000) < truth[which]).astype(int), CENTRES[which], n_bins=10)
        low, high = s.interval(0.9)
        hits += low <= target <= high
        sums.append(s.value)
    assert hits / 200 == pytest.approx(published, abs=0.02 + 4 * math.sqrt(published * (1 - published) * (1 / 400 + 1 / 200)))
    assert hits / 200 > 0.9 - 4 * math.sqrt(0.09 / 200)
    assert np.mean(sums) == pytest.approx(target, abs=4 * np.std(sums) / math.sqrt(200))


def test_large_samples_lose_no_digit():
    # a million rows at 1/2, half of them right: S = 0, Q = n/4, U = -1/(4(n-1))
    n = 1_000_000
    s = debiased_squared_error(np.arange(n) % 2, np.full(n, 0.5))
    assert s.value == pytest.approx(-1 / (4 * (n - 1)), rel=1e-12)
    assert s.kumar == pytest.approx(s.value, rel=1e-12)
