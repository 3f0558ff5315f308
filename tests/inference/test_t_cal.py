"""T-Cal: exact distribution on D, every scale by its own bins, size and power by simulation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.inference import t_cal as module
from calibcore.inference.t_cal import dpe_test, scales, t_cal
from calibcore.measures.squared_error import squared_error
from calibcore.predictions import Predictions
from calibcore.profile import Profile


def positive(y, p, **options):
    return Predictions.from_arrays(y, p, classes=[0, 1], **options).profile("positive")


D = positive(ref.D_Y, ref.floats(ref.D_P))
FIVE = cc.Partition.equal_width(5)


def test_exact_p_value_of_d():
    # by all 2^10 label sets: .7481695...
    def dpe(ys):
        bins = [[y - p for p, y in zip(ref.D_P, ys, strict=True) if ref.bin_of(p, ref.equal_width(5)) == b] for b in range(5)]
        return sum((sum(r) ** 2 - sum(v * v for v in r)) / len(r) for r in bins if r) / 10

    seen, tail = dpe(ref.D_Y), Fraction(0)
    assert seen == Fraction(-71, 3000)
    for ys in itertools.product((0, 1), repeat=10):
        if dpe(ys) >= seen:
            tail += math.prod(p if y else 1 - p for p, y in zip(ref.D_P, ys, strict=True))
    assert float(tail) == pytest.approx(0.7481695348, abs=1e-9)
    draws = 20_000
    statistic, p_value = dpe_test(D, FIVE, draws=draws)
    assert statistic == pytest.approx(-71 / 3000, abs=1e-15)
    assert p_value == pytest.approx(float(tail), abs=4 * math.sqrt(0.748 * 0.252 / draws))


def test_weighted_p_value_by_enumeration():
    # no ties: each row is redrawn exactly, with its own weight
    w, p, y = [1, 5, 2, 3, 1, 4], [0.1, 0.3, 0.31, 0.6, 0.8, 0.9], [1, 0, 0, 1, 1, 0]
    two = cc.Partition.equal_width(2)
    seen, tail = squared_error(positive(y, p, sample_weight=w), two).dpe, 0.0
    for ys in itertools.product((0, 1), repeat=6):
        if squared_error(positive(ys, p, sample_weight=w), two).dpe >= seen - 1e-12:
            tail += math.prod(q if e else 1 - q for q, e in zip(p, ys, strict=True))
    p_value = dpe_test(positive(y, p, sample_weight=w), two, draws=20_000)[1]
    assert p_value == pytest.approx(tail, abs=4 * 0.5 / math.sqrt(20_000))


def test_number_of_scales():
    # floor(2·log2(n/√(ln n))): n = 1000: 2·log2(1000/2.6283) = 17.14; n = 10: 2·log2(10/1.5174) = 5.44
    assert [scales(n) for n in (1, 2, 10, 1000)] == [1, 2, 5, 17]


@pytest.mark.parametrize("weighted", [False, True])
def test_each_scale_is_the_estimate_in_its_own_bins(weighted):
    rng = np.random.default_rng(1)
    p = np.concatenate([rng.random(60), rng.integers(0, 17, 60) / 16])
    w = rng.integers(1, 5, 120) if weighted else None
    profile = positive((rng.random(120) < p).astype(int), p, sample_weight=w)
    t = t_cal(profile)
    assert t.n_bins == tuple(2**k for k in range(1, scales(120) + 1))
    assert not t.capped
    for m, statistic in zip(t.n_bins[:12], t.statistic, strict=False):
        assert statistic == pytest.approx(squared_error(profile, cc.Partition.equal_width(m)).dpe, abs=1e-14)
    # each p-value is that of the scale alone, from other draws
    for m, p_value in zip(t.n_bins[:4], t.p_value, strict=False):
        assert p_value == pytest.approx(dpe_test(profile, cc.Partition.equal_width(m), draws=4000, seed=5)[1], abs=4 * 0.5 / math.sqrt(800))


def test_rejection_p_values_and_critical_values_agree():
    rng = np.random.default_rng(2)
    for shift in (0, 0.06, 0.12):
        p = rng.random(300)
        t = t_cal(positive((rng.random(300) < np.clip(p + shift, 0, 1)).astype(int), p), draws=499, level=0.9)
        allowed = 0.1 / len(t.n_bins)
        for statistic, critical, p_value in zip(t.statistic, t.critical, t.p_value, strict=True):
            assert (statistic > critical + 1e-12) == (p_value <= allowed)
        assert t.rejected == (t.p_adjusted <= 0.1 + 1e-12)
        found = t.to_dict()
        assert found["scales"][0]["n_bins"] == 2
        assert (found["rejected"], found["draws"], found["level"]) == (t.rejected, t.draws, 0.9)


@pytest.mark.parametrize("kind", ["continuous", "tied"])
def test_size_under_calibration(kind):
    # nominal 10 %: at most that, and Bonferroni makes it less; 200 samples, four standard errors
    rng = np.random.default_rng(3)
    rejected = 0
    for i in range(200):
        p = rng.random(150).round(1 if kind == "tied" else 9)
        rejected += t_cal(Profile.from_rows(p, rng.random(150) < p), draws=199, level=0.9, seed=i).rejected
    assert rejected / 200 <= 0.1 + 4 * math.sqrt(0.09 / 200)
    assert rejected > 0


def test_power_against_a_wave_that_one_bin_width_cannot_see():
    # gaps of +1/5 and −1/5 in alternate sixteenths: halves average them away, sixteenths do not
    rng = np.random.default_rng(4)
    p = rng.random(2000) / 2 + 0.25
    truth = p + 0.2 * np.where(np.floor(p * 16) % 2 == 0, 1, -1)
    t = t_cal(Profile.from_rows(p, rng.random(2000) < truth))
    assert t.rejected
    assert t.p_value[0] > 0.05
    assert min(t.p_value[3:5]) <= 0.05 / len(t.n_bins)


def test_many_cells_are_redrawn_in_groups_with_the_same_answer():
    # 6,000 distinct values: the same quantiles as row by row, to Monte Carlo error
    rng = np.random.default_rng(6)
    p = rng.random(6000)
    t = t_cal(Profile.from_rows(p, rng.random(6000) < p))
    assert t.capped
    assert t.n_bins[-1] >= 4096
    labels = rng.random((1000, 6000)) < p
    residual = labels - p
    bins = np.minimum((p * 16).astype(int), 15)
    s = np.stack([residual[:, bins == b].sum(axis=1) for b in range(16)])
    q = np.stack([(residual[:, bins == b] ** 2).sum(axis=1) for b in range(16)])
    rows = np.sum((s**2 - q) / np.bincount(bins)[:, None], axis=0) / 6000
    assert t.n_bins[3] == 16
    level = 1 - 0.05 / len(t.n_bins)
    assert t.critical[3] == pytest.approx(np.quantile(rows, level), rel=0.35)
    statistic, p_value = dpe_test(Profile.from_rows(p, labels[0]), cc.Partition.equal_width(16), draws=2000)
    assert p_value == pytest.approx(np.mean(rows >= statistic), abs=4 * 0.5 / math.sqrt(600))


def test_fewer_groups_than_cells(monkeypatch):
    # grouping of cells closer than 0.001 in a bin leaves the statistics as they are
    rng = np.random.default_rng(7)
    p = rng.random(300)
    profile = Profile.from_rows(p, rng.random(300) < p)
    exact = t_cal(profile)
    monkeypatch.setattr(module, "_MAX_GROUPS", 40)
    grouped = t_cal(profile)
    assert grouped.capped
    assert len(grouped.n_bins) == 5  # 32 bins are at most 40, 64 are not
    assert grouped.statistic == pytest.approx(exact.statistic[:5], abs=1e-14)


def test_draws_suffice_for_the_level():
    t = t_cal(D, level=0.99, draws=10)
    assert t.draws == 500  # five scales: the smallest p-value 1/(R + 1) must lie below .01/5
    with pytest.raises(cc.InputError, match="draws"):
        t_cal(D, level=0.999999)
    with pytest.raises(cc.InputError, match="level"):
        t_cal(D, level=95)


def test_edges_of_the_possible():
    one = t_cal(positive([1], [0.3]))
    assert (one.n_bins, one.statistic, one.p_value, one.rejected) == ((2,), (0.0,), (1.0,), False)
    certain = t_cal(positive([0, 1, 1], [0.0, 1.0, 1.0]))
    assert not certain.rejected
    assert certain.p_adjusted == 1
    wrong = t_cal(positive([1, 1, 1], [0.0, 1.0, 0.0]))
    assert wrong.rejected  # two rows at 0 that happened: the redraw never does that
    same = t_cal(positive([0, 1] * 50, np.full(100, 0.5, np.float32)))
    assert len(set(same.statistic)) == 1
    assert not same.rejected


def test_the_seed_decides():
    assert t_cal(D, seed=1) == t_cal(D, seed=1)
    assert t_cal(D, seed=1) != t_cal(D, seed=2)


samples = st.lists(st.tuples(st.integers(0, 64), st.integers(0, 1), st.integers(1, 4)), min_size=1, max_size=20)


@given(samples, st.sampled_from([1.0, 1e15, 1e-15]))
def test_order_and_scale_of_weights_do_not_matter(sample, factor):
    k, y, w = (np.array(v) for v in zip(*sample, strict=True))
    one = t_cal(positive(y, k / 64, sample_weight=w), draws=200)
    other = t_cal(positive(y[::-1], k[::-1] / 64, sample_weight=w[::-1] * factor), draws=200)
    assert one.n_bins == other.n_bins
    assert one.statistic == pytest.approx(other.statistic, abs=1e-12)
    assert one.p_value == pytest.approx(other.p_value, abs=0.02)
