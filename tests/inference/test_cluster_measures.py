"""Measures of rows that go together: the squared error, T-Cal, the noise floor and kernels leave out or redraw what clusters share."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.inference.chance import chance_range
from calibcore.inference.classical import hosmer_lemeshow
from calibcore.inference.t_cal import dpe_test, t_cal
from calibcore.measures.kernel import kde_error, kernel_error
from calibcore.measures.multiclass import classwise_floors
from calibcore.measures.noise_floor import bin_variance, noise_floor
from calibcore.measures.squared_error import squared_error
from calibcore.predictions import Predictions
from calibcore.profile import Profile

TEN = cc.Partition.equal_width(10)
HALF = Fraction(1, 2)


def model(p, y, cluster=None, w=None):
    return Predictions.from_arrays(list(y), ref.floats(p), classes=[0, 1], cluster=cluster, sample_weight=w).profile("positive")


def cells(p, y, cluster=None):
    return Profile.from_rows(np.asarray(p), np.asarray(y, dtype=bool), cluster=cluster, view="positive", task="binary")


def sample(kind, rng, clusters=100, size=10, shift=0.0):
    """Clusters of rows whose event happens with probability p + shift: copies of one row, or rows half of which share a draw."""
    number = np.repeat(np.arange(clusters), size)
    if kind == "copies":
        p, u = np.repeat(rng.uniform(0.1, 0.9, clusters), size), np.repeat(rng.random(clusters), size)
    else:
        n = clusters * size
        p, u = rng.uniform(0.1, 0.9, n), np.where(rng.random(n) < 0.5, np.repeat(rng.random(clusters), size), rng.random(n))
    return p, u < p + shift, number


# ---------------------------------------------------------------------------------------------------- squared error


def pairs(ps, ys, clusters, edges, weights=None):
    """The estimate, and the form that divides by W², by a loop over all pairs of rows of different clusters."""
    w = [Fraction(v) for v in weights or [1] * len(ps)]
    found, dpe = Fraction(0), Fraction(0)
    for b in range(len(edges) - 1):
        rows = [i for i, p in enumerate(ps) if ref.bin_of(p, edges) == b]
        both = [(i, j) for i in rows for j in rows if clusters[i] != clusters[j]]
        if both:
            products = sum(w[i] * w[j] * (ys[i] - ps[i]) * (ys[j] - ps[j]) for i, j in both)
            share = sum(w[i] for i in rows) / sum(w)
            found += share * products / sum(w[i] * w[j] for i, j in both)
            dpe += share * products / sum(w[i] for i in rows) ** 2
    return found, dpe


GROUPED = ["a", "b", "a", "c", "c", "c", "d", "e", "a", "d"]


@pytest.mark.parametrize("m", [1, 2, 5, 10])
@pytest.mark.parametrize("weights", [None, [1, 5, 1, 2, 1, 3, 1, 1, 4, 2]])
def test_squared_error_pairs_rows_of_different_clusters(m, weights):
    found = squared_error(model(ref.D_P, ref.D_Y, GROUPED, weights), cc.Partition.equal_width(m))
    value, dpe = pairs(ref.D_P, ref.D_Y, GROUPED, ref.equal_width(m), weights)
    assert (found.value, found.dpe) == pytest.approx((float(value), float(dpe)), abs=1e-14)
    plain = squared_error(model(ref.D_P, ref.D_Y, None, weights), cc.Partition.equal_width(m))
    assert (found.plug_in, found.covered <= plain.covered) == (pytest.approx(plain.plug_in, abs=1e-15), True)


def test_unbiased_by_enumeration_of_three_clusters():
    # claimed 1/2, true 2/3 in every row: (1/6)² = 1/36.  Rows 0, 1: one draw; row 2: alone; rows 3, 4: both events with
    # probability 1/2, one of them with 1/6 each; so that each row has 2/3
    clusters, mean, plain = ["a", "a", "b", "c", "c"], Fraction(0), Fraction(0)
    code = 0.0
    pair = {(1, 1): Fraction(1, 2), (1, 0): Fraction(1, 6), (0, 1): Fraction(1, 6), (0, 0): Fraction(1, 6)}
    for a, b, c, d in itertools.product((0, 1), repeat=4):
        chance = (Fraction(2, 3) if a else Fraction(1, 3)) * (Fraction(2, 3) if b else Fraction(1, 3)) * pair[c, d]
        ys = [a, a, b, c, d]
        mean += chance * pairs([HALF] * 5, ys, clusters, [0, 1], [1, 2, 1, 3, 1])[0]
        plain += chance * pairs([HALF] * 5, ys, range(5), [0, 1], [1, 2, 1, 3, 1])[0]
        code += float(chance) * squared_error(model([HALF] * 5, ys, clusters, [1, 2, 1, 3, 1]), cc.Partition.equal_width(1)).value
    assert mean == Fraction(1, 36)
    assert plain > Fraction(3, 2) * mean  # what pairs of rows of the same cluster would add
    assert code == pytest.approx(1 / 36, abs=1e-15)


def test_events_listed_ten_times_give_the_estimate_of_the_events():
    rng = np.random.default_rng(1)
    p = rng.random(200)
    y = rng.random(200) < p
    once, ten = cells(p, y), cells(np.repeat(p, 10), np.repeat(y, 10), np.repeat(np.arange(200), 10))
    a, b = squared_error(once, TEN), squared_error(ten, TEN)
    assert ten.dependence == 1.0
    for name in ("value", "plug_in", "kumar", "dpe", "covered"):
        assert getattr(b, name) == pytest.approx(getattr(a, name), abs=1e-14), name
    # the standard error differs by the share of pairs that are left, about 1 − 1/20 in bins of 20 events
    assert a.standard_error < b.standard_error < a.standard_error * 1.05


def test_standard_error_by_hand():
    # ten copies of three events at 1/2, two right: gap 1/6, n = 3, a = 2.5/4, 1 − D/W² = 2/3
    s = squared_error(model([HALF] * 30, [1] * 20 + [0] * 10, np.repeat([1, 2, 3], 10)), cc.Partition.equal_width(1))
    v = 2.5 / 4 * 1.5 / 4 / 3
    assert s.value == pytest.approx((25 - 75) / 600, abs=1e-15)  # residual sums 5, 5, −5: (5² − 3·5²)/(30² − 3·10²)
    assert s.standard_error == pytest.approx(math.sqrt(4 / 36 * v + 2 * v**2 / (2 / 3)), rel=1e-12)


def test_a_bin_of_one_cluster_says_nothing():
    s = squared_error(model([HALF] * 6, [1, 1, 1, 0, 1, 1], [1] * 6), TEN)
    assert (s.value, s.dpe, s.covered, s.interval()) == (0, 0, 0, (0, 1))
    far = squared_error(model([0.2, 0.2, 0.8, 0.8], [0, 1, 1, 1], [1, 1, 1, 2]), cc.Partition.equal_width(2))
    assert far.covered == 0.5


def test_covered_is_at_most_all():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        p, w = rng.random(400), rng.gamma(1, 1, 400)
        profile = Profile.from_rows(p, rng.random(400) < p, weight=w, cluster=rng.integers(0, 90, 400))
        assert 0.9 < squared_error(profile, cc.Partition.equal_width(7)).covered <= 1


@pytest.mark.parametrize("kind", ["copies", "partly dependent"])
@pytest.mark.parametrize("shift", [0.0, 0.08])
def test_unbiased_and_covering_in_simulation(kind, shift):
    # 150 samples of 100 clusters of 10 rows; each bin is off by ``shift``.  Mean to four standard errors; coverage at 90 %: not
    # below by more than four standard errors (0.1).  Kumar's form subtracts somewhat too much
    rng = np.random.default_rng(2)
    values, hits, kumar = [], 0, []
    for _ in range(150):
        s = squared_error(cells(*sample(kind, rng, shift=shift)), TEN)
        low, high = s.interval(0.9)
        hits += low <= shift**2 <= high
        values.append(s.value)
        kumar.append(s.kumar - s.value)
        assert s.covered <= 1
    assert np.mean(values) == pytest.approx(shift**2, abs=4 * np.std(values) / math.sqrt(150))
    assert hits / 150 >= 0.8
    if shift == 0:
        assert hits / 150 >= 0.97
    assert -0.004 < np.mean(kumar) < 0.0005


rows = st.lists(st.tuples(st.integers(0, 20), st.booleans(), st.integers(0, 6), st.integers(1, 4)), min_size=1, max_size=30)


def numbers(p, y, c, w):
    s = squared_error(model(p, y, c, w), cc.Partition.equal_width(4))
    kernel = kernel_error(model(p, y, c, w)).unbiased
    return [s.value, s.plug_in, s.dpe, s.covered, math.nan if kernel is None else kernel]


@given(rows, st.randoms(use_true_random=False))
def test_order_scale_and_complement(some, random):
    shuffled = list(some)
    random.shuffle(shuffled)
    k, y, c, w = (np.array(v) for v in zip(*some, strict=True))
    k2, y2, c2, w2 = (np.array(v) for v in zip(*shuffled, strict=True))
    one = numbers(k / 20, y.astype(int), c, w)
    assert numbers(k2 / 20, y2.astype(int), c2, w2 * 1e15) == pytest.approx(one, rel=1e-6, abs=1e-9, nan_ok=True)
    assert numbers(k / 20, y.astype(int), c, w * 1e-15) == pytest.approx(one, rel=1e-6, abs=1e-9, nan_ok=True)
    left, right = (
        squared_error(cells(v, e, c), cc.Partition.equal_width(4, side))
        for v, e, side in ((k / 20, y, "right"), ((20 - k) / 20, ~y, "left"))
    )
    assert left.value == pytest.approx(right.value, abs=1e-12)


@given(rows)
def test_a_weight_is_as_many_rows_of_the_cluster(some):
    # rows of one cluster are not paired, so a weight may be taken for rows of its cluster
    k, y, c, w = (np.array(v) for v in zip(*some, strict=True))
    repeated = numbers(np.repeat(k / 20, w), np.repeat(y.astype(int), w), np.repeat(c, w), None)
    assert numbers(k / 20, y.astype(int), c, w) == pytest.approx(repeated, rel=1e-9, abs=1e-12, nan_ok=True)


# ---------------------------------------------------------------------------------------------------- T-Cal


@pytest.mark.parametrize("kind", ["copies", "partly dependent"])
def test_t_cal_keeps_its_size(kind):
    # nominal 10 %, and at one scale 10 % too: of 40 samples at most 11 (four standard errors above); the estimates are about 0
    rng = np.random.default_rng(3)
    rejected, alone, statistics = 0, 0, []
    for i in range(40):
        profile = cells(*sample(kind, rng))
        t = t_cal(profile, draws=199, level=0.9, seed=i)
        rejected += t.rejected
        alone += t.p_value[1] <= 0.1
        statistics.append(t.statistic[1])
    assert rejected <= 11
    assert 1 <= alone <= 11
    assert np.mean(statistics) == pytest.approx(0, abs=4 * np.std(statistics) / math.sqrt(40) + 1e-4)


def test_t_cal_sees_through_clusters():
    rng = np.random.default_rng(4)
    for kind in ("copies", "partly dependent"):
        assert t_cal(cells(*sample(kind, rng, clusters=400, shift=0.1)), draws=199).rejected


def test_p_value_of_copied_events_is_that_of_the_events():
    # plug-in of 4 events at 1/2, all right: |k − 2| = 2 has probability 1/8, whatever they are copied
    statistic, p_value = dpe_test(model([HALF] * 40, [1] * 40, np.repeat([1, 2, 3, 4], 10)), cc.Partition.equal_width(1), draws=4000)
    assert p_value == pytest.approx(1 / 8, abs=4 * math.sqrt(7 / 64 / 4000))
    assert statistic == pytest.approx(1 / 4 - 1 / 16, abs=0.006)  # gap² less its mean p(1 − p)/4; 4·sd of (k − 2)²/16 over √4000


def test_many_clusters_and_many_scores():
    # 4,000 clusters of three, each row with a score of its own: counts from the copula; at most 1,024 bins are looked at
    rng = np.random.default_rng(5)
    t = t_cal(cells(*sample("partly dependent", rng, clusters=4000, size=3)), draws=199)
    assert t.capped
    assert t.n_bins[-1] == 1024
    assert not t.rejected


# ---------------------------------------------------------------------------------------------------- noise floor


def test_bin_variance_by_hand():
    # clusters of two at 1/2 that agree, one right of two events: nothing speaks against full dependence; Σ_c W_c² = 8
    profile = model([HALF] * 4, [1, 1, 0, 0], [1, 1, 2, 2])
    assert profile.dependence == 1
    assert bin_variance(profile, TEN).tolist() == pytest.approx([0] * 4 + [2] + [0] * 5, abs=1e-15)
    # with weights 1, 3 and 2, 2: (16 + 16)/4
    heavy = model([HALF] * 4, [1, 1, 0, 0], [1, 1, 2, 2], [1, 3, 2, 2])
    assert bin_variance(heavy, cc.Partition.equal_width(1)) == pytest.approx(
        [8 * heavy.dependence + 18 / 4 * (1 - heavy.dependence)], abs=1e-14
    )
    # the block is cut into halves: each has a quarter of the variance
    assert bin_variance(profile, cc.Partition.equal_mass(profile, 2, "share")) == pytest.approx([0.5, 0.5], abs=1e-15)
    # two thirds of a block of three, then a third and the row at 0.9: clusters (0.5, 0.5) and (0.5, 0.9), dependence δ
    mixed = model([0.5, 0.5, 0.5, 0.9], [1, 0, 1, 1], [1, 1, 2, 2])
    d = mixed.dependence
    shared = cc.Partition.equal_mass(mixed, 2, "share")
    # halves of 2 rows: 2/3 of the block; 1/3 of it and the last row: Σf²w² = 3/9 + 1, pairs 2/9 + 2·1/3
    expected = [3 / 4 * 4 / 9 * (1 + d * 2 / 3), (3 / 4 / 9 + 0.09) * (1 + d * (2 / 9 + 2 / 3) / (3 / 9 + 1))]
    assert bin_variance(mixed, shared) == pytest.approx(expected, abs=1e-14)


def test_bins_and_floor_allow_for_clusters_alike():
    rng = np.random.default_rng(6)
    profile = cells(*sample("partly dependent", rng))
    bins, plain = profile.bin(TEN), cells(*sample("partly dependent", np.random.default_rng(6))[:2])
    filled = bins.filled
    expected = bins.count[filled] / bins.n_effective[filled] * bin_variance(plain, TEN)[filled]
    assert bin_variance(profile, TEN)[filled] == pytest.approx(expected, rel=1e-12)
    assert noise_floor(profile, TEN, exact=True) == noise_floor(profile, TEN)  # exact is for independent rows


@pytest.mark.parametrize("kind", ["copies", "partly dependent"])
@pytest.mark.parametrize("ties", ["together", "share"])
def test_floor_is_near_the_drawn_mean(kind, ties):
    rng = np.random.default_rng(7)
    p, y, cluster = sample(kind, rng, clusters=200)
    profile = cells(p.round(1), y, cluster)
    for partition in (cc.Partition.equal_mass(profile, 6, ties), TEN):
        c = chance_range(profile, partition)
        assert c.floor == pytest.approx(c.mean, rel=0.06)
        assert c.floor > 1.1 * noise_floor(cells(p.round(1), y), partition)


def test_floors_of_classes_allow_for_clusters():
    rng = np.random.default_rng(8)
    p = np.repeat(rng.dirichlet([2, 2, 2], 150), 8, axis=0)
    y = np.repeat((p[::8].cumsum(axis=1) > rng.random(150)[:, None]).argmax(axis=1), 8)
    options = {"n_bins": 10, "strategy": "equal_width", "closed": "right", "ties": "together", "edges": None}
    one, eight = (
        classwise_floors(Predictions.from_arrays(y[s], p[s], cluster=c), **options)
        for s, c in ((slice(None, None, 8), None), (slice(None), np.repeat(np.arange(150), 8)))
    )
    assert eight == pytest.approx(one, rel=1e-9)


# ---------------------------------------------------------------------------------------------------- kernels and groups


def plain_kernel(p, y, cluster, width, w):
    both = [(i, j) for i in range(len(p)) for j in range(len(p)) if cluster[i] != cluster[j]]
    r = [k * (b - a) for a, b, k in zip(p, y, w, strict=True)]
    above = sum(r[i] * r[j] * math.exp(-abs(p[i] - p[j]) / width) for i, j in both)
    return above / sum(w[i] * w[j] for i, j in both)


@pytest.mark.parametrize("width", [0.4, 0.01])
def test_kernel_error_pairs_rows_of_different_clusters(width):
    rng = np.random.default_rng(9)
    p = rng.random(120).round(2)
    y = (rng.random(120) < p).astype(int)
    # one cluster of more than 32 distinct scores, small ones, and rows alone
    cluster = np.concatenate([np.zeros(50, int), rng.integers(1, 12, 50), np.arange(20, 40)])
    for w in (np.ones(120), rng.integers(1, 5, 120)):
        found = kernel_error(model(p, y, cluster, w), width=width)
        assert found.unbiased == pytest.approx(plain_kernel(p, y, cluster, width, w), abs=1e-13)
        assert found.biased == pytest.approx(kernel_error(model(p, y, None, w), width=width).biased, abs=1e-14)


def test_kernel_error_is_0_on_average_for_clusters_of_a_calibrated_model():
    rng = np.random.default_rng(10)
    found = [kernel_error(cells(*sample("copies", rng, clusters=60))).unbiased for _ in range(200)]
    assert np.mean(found) == pytest.approx(0, abs=4 * np.std(found) / math.sqrt(200))
    assert kernel_error(model([0.2, 0.7], [0, 1], [1, 1])).to_dict()["unbiased"] is None


def test_what_cannot_allow_for_clusters_refuses():
    profile = model(ref.D_P, ref.D_Y, GROUPED)
    with pytest.raises(cc.InputError, match=r"Hosmer-Lemeshow needs independent rows .* use the chance range of ECE"):
        hosmer_lemeshow(profile)
    with pytest.raises(cc.InputError, match=r"must be independent, and these rows are in clusters; use the kernel calibration error"):
        kde_error(profile, bandwidth=0.1)
    each = model(ref.D_P, ref.D_Y, range(10))  # every row a cluster of its own: no clusters
    assert hosmer_lemeshow(each).statistic == hosmer_lemeshow(model(ref.D_P, ref.D_Y)).statistic
