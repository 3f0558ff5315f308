"""The noise floor: closed form, exact where cheap, and against the mean of drawn values."""

import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.inference.chance import chance_range
from calibcore.measures.noise_floor import bin_variance, noise_floor
from calibcore.predictions import Predictions

ROOT = math.sqrt(2 / math.pi)


def positive(y, p, **options):
    return Predictions.from_arrays(y, p, classes=[0, 1], **options).profile("positive")


def de_moivre(n, q):
    """E|X − n·q| of X ~ Binomial(n, q) by its sum, in fractions."""
    return sum(math.comb(n, k) * q**k * (1 - q) ** (n - k) * abs(k - n * q) for k in range(n + 1))


D = positive(ref.D_Y, ref.floats(ref.D_P))
FIVE = cc.Partition.equal_width(5)


def test_closed_form_on_d():
    # V_b in 400ths: (19 + 51 + 64), (91 + 96), 99, (91 + 64), (36 + 19)
    expected = sum(math.sqrt(2 / math.pi * v / 400) for v in (134, 187, 99, 155, 55)) / 10
    assert noise_floor(D, FIVE) == pytest.approx(expected, rel=1e-14)
    assert bin_variance(D, FIVE) == pytest.approx(np.array([134, 187, 99, 155, 55]) / 400, rel=1e-14)


def test_exact_floor_of_d():
    # by enumeration of all labels 24253/100000 (tests/inference/test_chance.py enumerates it)
    assert noise_floor(D, FIVE, exact=True) == pytest.approx(24253 / 100000, abs=1e-15)
    draws = 20_000
    c = chance_range(D, FIVE, draws=draws)
    # sd of a drawn ECE of D is below 1/10
    assert c.mean == pytest.approx(24253 / 100000, abs=4 * 0.1 / math.sqrt(draws))
    assert c.floor == noise_floor(D, FIVE)
    assert list(c.to_dict()) == ["median", "p95", "p_value", "draws", "mean", "floor"]


def test_exact_mean_deviation_of_twenty_fair_rows():
    # normal: √(2·(1/4)/(20·π)) = .0892062
    profile = positive([1] * 20, [0.5] * 20)
    assert de_moivre(20, Fraction(1, 2)) / 20 == Fraction(46189, 524288)
    assert noise_floor(profile, FIVE, exact=True) == pytest.approx(46189 / 524288, rel=1e-14)
    assert noise_floor(profile, FIVE) == pytest.approx(0.0892062, abs=5e-8)


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(3, 10), Fraction(1, 100), Fraction(99, 100)])
def test_many_rows_of_one_value_follow_de_moivre(q):
    # 100 rows are too many to convolve; 100·q is a whole number, where rounding could take either neighbour
    profile = positive([1] * 100 + [0], [float(q)] * 100 + [0.0], sample_weight=None)
    expected = float(de_moivre(100, q)) / 101
    assert noise_floor(profile, cc.Partition.from_edges([0, 0.001, 1]), exact=True) == pytest.approx(expected, rel=1e-12)


def test_exact_of_many_rows_of_several_values_is_the_normal_one():
    p = np.linspace(0.1, 0.9, 81)
    profile = positive([1] * 81, p)
    one = cc.Partition.equal_width(1)
    assert noise_floor(profile, one, exact=True) == noise_floor(profile, one)
    # the normal form is close by then: mean over 20,000 draws, se below .0003
    drawn = np.abs((np.random.default_rng(0).random((20_000, 81)) < p).sum(axis=1) - p.sum()).mean() / 81
    assert noise_floor(profile, one) == pytest.approx(drawn, abs=0.001)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=9), st.integers(1, 6))
def test_exact_by_enumeration(levels, m):
    ps = [Fraction(k, 20) for k in levels]
    expected = Fraction(0)
    for b in range(m):
        inside = [p for p in ps if ref.bin_of(p, ref.equal_width(m)) == b]
        chance = [Fraction(1)]
        for p in inside:
            chance = [(a * (1 - p)) + (c * p) for a, c in zip([*chance, 0], [0, *chance], strict=True)]
        expected += sum(c * abs(k - sum(inside)) for k, c in enumerate(chance))
    profile = positive([1] * len(ps), ref.floats(ps))
    assert noise_floor(profile, cc.Partition.equal_width(m), exact=True) == pytest.approx(float(expected / len(ps)), abs=1e-14)


@pytest.mark.parametrize(("n", "m", "floor"), [(200, 15, 0.0863), (1000, 15, 0.0386), (10_000, 15, 0.0122), (1000, 100, 0.0991)])
def test_uniform_confidences(n, m, floor):
    # n/m rows at each bin's centre; the floor falls as 1/√rows, so one row a bin times √(m/n) is the same
    centres = (np.arange(m) + 0.5) / m
    found = noise_floor(positive([1] * m, centres), cc.Partition.equal_width(m)) * math.sqrt(m / n)
    assert found == pytest.approx(floor, abs=5e-5)
    # rows spread over the bins: p(1 − p) averages a little less in a bin, and rows a bin vary
    p = np.random.default_rng(2).random(n)
    assert noise_floor(positive([1] * n, p), cc.Partition.equal_width(m)) == pytest.approx(floor, rel=0.03)


def test_shared_ties_share_the_noise_of_a_block():
    # sizes 2, 2, 2: half of the block of four at 1/2 in each of two bins: variance (1/2)²·4·1/4, and 2·9/100
    profile = positive([1, 1, 1, 0, 0, 1], [0.5] * 4 + [0.9] * 2)
    shared = cc.Partition.equal_mass(profile, 3, "share")
    assert bin_variance(profile, shared) == pytest.approx([1 / 4, 1 / 4, 18 / 100], abs=1e-15)
    assert noise_floor(profile, shared) == pytest.approx(ROOT * (1 + math.sqrt(0.18)) / 6, rel=1e-14)
    # three bins within one block of six; then bins of a block, a row and a block
    six = positive([1] * 6, [0.5] * 6)
    assert bin_variance(six, cc.Partition.equal_mass(six, 3, "share")) == pytest.approx([6 / 4 / 9] * 3, abs=1e-15)
    p = [0.5] * 3 + [0.6] + [0.8] * 2
    mixed = positive([1] * 6, p)
    # halves of three rows: all of the block | 0.6 and the block of two; thirds of two: 2/3 | 1/3 and 0.6 | the last block
    assert bin_variance(mixed, cc.Partition.equal_mass(mixed, 2, "share")) == pytest.approx([0.75, 0.24 + 0.32], abs=1e-15)
    expected = [4 / 9 * 0.75, 1 / 9 * 0.75 + 0.24, 0.32]
    assert bin_variance(mixed, cc.Partition.equal_mass(mixed, 3, "share")) == pytest.approx(expected, abs=1e-15)


def test_weights_enter_squared():
    profile = positive([1, 0, 1], [0.5, 0.5, 0.9], sample_weight=[1, 3, 2])
    expected = ROOT * (math.sqrt(10 / 4) + math.sqrt(4 * 0.09)) / 6
    assert noise_floor(profile, FIVE) == pytest.approx(expected, rel=1e-14)
    assert noise_floor(profile, FIVE, exact=True) == pytest.approx(expected, rel=1e-14)  # exact: unweighted rows only


def test_certain_models_have_no_floor():
    for exact in (False, True):
        assert noise_floor(positive([0, 1, 0], [0.0, 1.0, 1.0]), FIVE, exact=exact) == 0
        assert noise_floor(positive([1] * 200, [1.0] * 200), FIVE, exact=exact) == 0
    assert noise_floor(positive([1], [0.5]), FIVE, exact=True) == 0.5
    assert noise_floor(positive([1], np.array([0.25], np.float32)), FIVE, exact=True) == 3 / 8  # 2·p(1 − p)


def test_floor_is_the_mean_of_drawn_values():
    # 5,000 rows in 15 bins: the normal form is right to a percent, 1,000 draws to another
    p = np.random.default_rng(3).beta(2, 1, 5000)
    c = chance_range(positive([1] * 5000, p), cc.Partition.equal_width(15))
    assert c.floor == pytest.approx(c.mean, rel=0.025)
    w = np.random.default_rng(4).gamma(2, 1, 5000)
    c = chance_range(positive([1] * 5000, p, sample_weight=w), cc.Partition.equal_width(15))
    assert c.floor == pytest.approx(c.mean, rel=0.025)


rows = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1), st.integers(1, 5)), min_size=1, max_size=30)


@given(rows, st.integers(1, 12), st.sampled_from(["together", "share"]), st.sampled_from([1.0, 1e15, 1e-15]))
def test_order_outcomes_and_scale_of_weights_do_not_matter(sample, m, ties, factor):
    k, y, w = (np.array(v) for v in zip(*sample, strict=True))
    found = []
    for order, outcome, scale in ((slice(None), y, 1.0), (slice(None, None, -1), 1 - y, factor)):
        profile = positive(outcome[order], (k / 20)[order], sample_weight=(w * scale)[order])
        found.append(noise_floor(profile, cc.Partition.equal_mass(profile, m, ties)))
    assert found[0] == pytest.approx(found[1], rel=1e-9, abs=1e-15)


@given(rows, st.integers(1, 12))
def test_complement(sample, m):
    k, y, w = (np.array(v) for v in zip(*sample, strict=True))
    one = positive(y, k / 20, sample_weight=w)
    other = positive(1 - y, (20 - k) / 20, sample_weight=w)
    floors = noise_floor(one, cc.Partition.equal_width(m)), noise_floor(other, cc.Partition.equal_width(m, "left"))
    assert floors[0] == pytest.approx(floors[1], abs=1e-14)


@given(rows, st.integers(1, 12))
def test_bins_of_shared_ties_add_squared_shares_of_cells(sample, m):
    k, y, w = (np.array(v) for v in zip(*sample, strict=True))
    profile = positive(y, k / 20, sample_weight=w)
    shared = cc.Partition.equal_mass(profile, m, "share")
    cells = np.arange(len(profile))
    spread = profile.weight_squared * profile.value * (1 - profile.value)
    # cell c takes the positions from c to c + 1, and adds share²·Σw²p(1 − p) to a bin that holds a share of it
    bins = zip(shared.positions[:-1], shared.positions[1:], strict=True)
    shares = [np.clip(np.minimum(cells + 1, high) - np.maximum(cells, low), 0, 1) for low, high in bins]
    assert bin_variance(profile, shared) == pytest.approx([float(np.sum(s**2 * spread)) for s in shares], rel=1e-9, abs=1e-13)
