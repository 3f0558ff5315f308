"""Rows that go together: what is summed, how dependence is measured, and what it does to intervals, tests and bins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import calibcore as cc
from calibcore.clusters import Clusters, cluster_codes, dependence
from calibcore.inference.chance import chance_range
from calibcore.inference.intervals import mean_gap
from calibcore.inference.significance import detect
from calibcore.predictions import Predictions


def model(p, y, cluster=None, **options):
    return Predictions.from_top_label(p, y, cluster=cluster, **options)


def test_entries_by_hand():
    # clusters 7: rows 0, 2, 4 (cells 1, 0, 1); 9: rows 1, 3 (cells 0, 0); row 5 stands alone
    cell, cluster = np.array([1, 0, 0, 0, 1, 1]), np.array([7, 9, 7, 9, 7, 3])
    c = Clusters.from_rows(cell, cluster, np.array([1, 0, 1, 1, 0, 1], dtype=bool), np.array([1.0, 2, 3, 4, 5, 6]))
    assert c.cell.tolist() == [0, 1, 0]
    assert c.cluster.tolist() == [0, 0, 1]
    assert c.weight.tolist() == [3, 6, 6]
    assert c.positive.tolist() == [3, 1, 4]
    assert c.weight_squared.tolist() == [9, 26, 20]
    assert c.positive_squared.tolist() == [9, 1, 16]
    assert (len(c), c.rows) == (2, 5)
    # Σ w·w' over pairs: 9² − 35 and 6² − 20; in cell 0 alone: 3² − 9 + 6² − 20
    assert c.pairs() == 46 + 16
    assert c.pairs_in(np.array([0, 1]), 2).tolist() == [16, 10]


def test_clusters_of_one_row_are_no_clusters():
    assert Clusters.from_rows(np.arange(3), np.arange(3), np.ones(3, dtype=bool)) is None
    rng = np.random.default_rng(1)
    p = rng.uniform(0.5, 1, 200)
    y = rng.random(200) < p
    alone, plain = model(p, y, rng.permutation(200)), model(p, y)
    assert alone.profile().clusters is None
    assert detect(alone).to_dict() == detect(plain).to_dict()
    assert mean_gap(alone.profile()).to_dict() == mean_gap(plain.profile()).to_dict()


@pytest.mark.parametrize(
    ("cluster", "codes", "missing"),
    [
        (np.array(["b", "a", "b", ""], dtype=object), [2, 1, 2, 3], 1),
        (np.array([None, "a", None, "a"], dtype=object), [2, 1, 3, 1], 2),
        (np.array(["b", "a", "b", ""]), [2, 1, 2, 3], 1),
        (np.array([5.0, np.nan, 5.0, np.nan]), None, 2),
        (np.array([30, 10, 30]), [1, 0, 1], 0),
    ],
)
def test_missing_clusters_are_each_their_own(cluster, codes, missing):
    found, count = cluster_codes(cluster)
    assert count == missing
    assert set(found.tolist()) == set(range(int(found.max()) + 1))
    same = found[:, None] == found[None, :]
    text = [str(c) for c in cluster]
    empty = [t in ("", "None", "nan") for t in text]
    expected = [[i == j or (not empty[i] and text[i] == text[j]) for j in range(len(text))] for i in range(len(text))]
    assert same.tolist() == expected


def test_rows_without_a_cluster_are_said():
    m = model([0.9, 0.8, 0.7, 0.6], [1, 1, 0, 1], np.array(["a", "", "a", ""], dtype=object))
    assert m.notes == ("2 rows without a cluster: each counts as one of its own.",)
    assert m.profile().n_clusters == 3
    lighter = model([0.9, 0.8, 0.7, 0.6], [1, 1, 0, 1], np.array(["a", "", "a", ""], dtype=object), sample_weight=[1, 0, 1, 2])
    assert lighter.notes == ("1 row of weight 0 left out.", "1 row without a cluster: each counts as one of its own.")
    assert lighter.n_excluded == 1


def test_take_keeps_clusters():
    m = model([0.9, 0.8, 0.7], [1, 1, 0], ["a", "b", "a"])
    part = m.take(np.array([0, 2]))
    assert part.cluster.tolist() == ["a", "a"]
    assert len(part.profile().clusters) == 1
    assert m.take(np.array([0, 1])).profile().clusters is None


def test_profiles_add_with_their_clusters_apart():
    one, two = model([0.9, 0.8, 0.9], [1, 1, 0], ["a", "a", "b"]), model([0.7, 0.9], [1, 0], ["a", "a"])
    both = one.profile() + two.profile()
    whole = model([0.9, 0.8, 0.9, 0.7, 0.9], [1, 1, 0, 1, 0], [1, 1, 2, 3, 3]).profile()
    for name in ("cell", "cluster", "weight", "positive"):
        assert getattr(both.clusters, name).tolist() == getattr(whole.clusters, name).tolist(), name
    assert both.n_clusters == whole.n_clusters == 3
    assert mean_gap(both).to_dict() == mean_gap(whole).to_dict()
    plain = model([0.5], [1]).profile()
    assert (plain + two.profile()).n_clusters == 2


def test_weighted_profiles_add_with_their_strata():
    p, y, w = [0.9, 0.9, 0.9, 0.8], [1, 0, 1, 1], [1.0, 1000.0, 1.0, 2.0]
    both = model(p[:2], y[:2], sample_weight=w[:2]).profile() + model(p[2:], y[2:], sample_weight=w[2:]).profile()
    whole = model(p, y, sample_weight=w).profile()
    for got, expected in zip(both.strata, whole.strata, strict=True):
        assert got.tolist() == expected.tolist()


def test_mean_gap_by_hand():
    # r = 0.1, 0.2, −0.7 in a; 0.4 in b; mean 0: cluster sums −0.4 and 0.4; C = 4²/(3² + 1²) = 1.6
    g = mean_gap(model([0.9, 0.8, 0.7, 0.6], [1, 1, 0, 1], ["a", "a", "a", "b"]).profile(), 0.1)
    half = float(special.stdtrit(0.6, 0.55)) * math.sqrt(0.32 * 1.6 / 0.6) / 4
    assert g.value == pytest.approx(0, abs=1e-15)
    assert [g.low, g.high] == pytest.approx([-half, half], rel=1e-9)


def test_events_listed_five_times_say_what_they_say_once():
    rng = np.random.default_rng(2)
    p = rng.uniform(0.5, 1, 200)
    y = rng.random(200) < p
    once, five = model(p, y), model(np.repeat(p, 5), np.repeat(y, 5), np.repeat(np.arange(200), 5))
    a, b = once.profile(), five.profile()
    assert b.dependence == 1.0
    assert b.n_effective == pytest.approx(a.n_effective, rel=1e-12)
    assert list(mean_gap(b).to_dict().values()) == pytest.approx(list(mean_gap(a).to_dict().values()), rel=1e-9)
    bins = cc.Partition.equal_width(10)
    for got, expected in zip(b.bin(bins).interval(), a.bin(bins).interval(), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9)
    one, other = chance_range(a, bins, draws=4000), chance_range(b, bins, draws=4000)
    assert other.p95 == pytest.approx(one.p95, rel=0.05)  # the standard error of either is about 1 %
    # p-values of 1,000 draws and more: two of them differ by 4·√2·√(0.25/1000) at most
    assert detect(five).p_value == pytest.approx(detect(once).p_value, abs=0.09)


def test_one_cluster_only_has_no_interval():
    g = mean_gap(model([0.9, 0.8], [1, 0], ["a", "a"]).profile())
    assert g.low is None


@pytest.mark.parametrize("p", [[0.5], [0.9] * 6, [0.0, 1.0, 1.0, 0.0, 1.0, 0.0], [1.0] * 6, [0.2, 0.2, 0.4, 0.4, 0.9, 0.9]])
@pytest.mark.parametrize("y", [0, 1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_edges_survive(p, y, dtype):
    m = model(np.array(p, dtype=dtype), [y] * len(p), [1, 1, 2, 2, 3, 3][: len(p)])
    detect(m)
    mean_gap(m.profile())
    m.profile().bin(cc.Partition.equal_width(5)).interval()
    chance_range(m.profile(), cc.Partition.equal_width(5), draws=20)
    detect(Predictions.from_arrays([y] * len(p), np.array(p, dtype=dtype), classes=(0, 1), cluster=[1, 1, 2, 2, 3, 3][: len(p)]))


def entries(p, y, cluster):
    cells = model(p, y, cluster).profile()
    return dependence(cells.clusters, cells.value.astype(float))


def test_dependence_of_copies_of_independent_rows_and_of_none_that_went_wrong():
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(2000), 5)
    p = rng.uniform(0.5, 1, 10_000)
    assert entries(p, rng.random(10_000) < p, cluster) < 0.05
    # one number decides five rows of different probability
    assert entries(p, np.repeat(rng.random(2000), 5) < p, cluster) > 0.95
    # 60 of 100 clusters copies, the others independent: of the pairs, six in ten go together
    some = np.where(np.repeat(np.arange(2000) % 10 < 6, 5), np.repeat(rng.random(2000), 5), rng.random(10_000)) < p
    assert entries(p, some, cluster) == pytest.approx(0.6, abs=0.08)
    # nothing went wrong: nothing is known
    assert entries(p, np.ones(10_000), cluster) == 1.0


def test_miscalibration_is_not_taken_for_dependence():
    # independent rows, everywhere eight points less often right than claimed
    rng = np.random.default_rng(4)
    p = rng.uniform(0.6, 1, 20_000)
    assert entries(p, rng.random(20_000) < p - 0.08, np.repeat(np.arange(400), 50)) < 0.03


def test_independent_rows_in_clusters_keep_their_power():
    # z of 4 points over at 2,000 rows: 0.04·√2,000/√(1/6) = 4.4, in 40 clusters of 50 independent rows
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(10):
        c = rng.uniform(0.5, 1, 2000)
        hits += detect(model(c, rng.random(2000) < c - 0.04, np.repeat(np.arange(40), 50))).detected
    assert hits >= 9


def test_gap_interval_covers_with_clusters():
    # 300 samples of 60 clusters with z correlated by ½: 95 % to within 0.038, three standard errors
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(300):
        c = rng.uniform(0.5, 1, 300)
        z = (np.repeat(rng.standard_normal(60), 5) + rng.standard_normal(300)) / math.sqrt(2)
        g = mean_gap(model(c, special.ndtr(z) < c, np.repeat(np.arange(60), 5)).profile())
        covered += g.low <= 0 <= g.high
    assert covered / 300 == pytest.approx(0.95, abs=0.038)


@pytest.mark.parametrize("share", ["labels", "right"])
def test_both_ways_to_depend_are_seen_in_binary_models(share):
    # either the labels of a cluster are one draw, or whether the model is right: 30 clusters of 10, 40 samples
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(40):
        cluster = np.repeat(np.arange(30), 10)
        if share == "labels":
            p = rng.random(300)
            y = np.repeat(rng.random(30), 10) < p
        else:
            c, positive = rng.uniform(0.5, 1, 300), rng.random(300) < 0.5
            right = np.repeat(rng.random(30), 10) < c
            p, y = np.where(positive, c, 1 - c), np.where(right, positive, ~positive)
        hits += detect(Predictions.from_arrays(y.astype(int), p, cluster=cluster)).detected
    assert hits <= 8  # 6.5 % of 40 is 2.6; 9 would come once in 1,000, and who takes the rows for independent ones finds about 18


def test_analysis_says_how_many_clusters_there_are():
    rng = np.random.default_rng(8)
    p = np.repeat(rng.uniform(0.5, 1, 40), 5)
    y = np.repeat(rng.random(40), 5) < p
    notes = cc.analyze(model(p, y, np.repeat(np.arange(40), 5))).notes
    assert any(n.startswith("Rows come in 40 clusters") and "about 40 independent rows" in n for n in notes)
    few = cc.analyze(model(p[:100], y[:100], np.repeat(np.arange(20), 5))).notes
    assert any(n.startswith("So few clusters (under 30)") for n in few)


rows = st.lists(st.tuples(st.integers(0, 20), st.booleans(), st.integers(0, 6), st.integers(1, 4)), min_size=2, max_size=30)


@given(rows, st.randoms(use_true_random=False))
def test_order_of_rows_and_scale_of_weights_do_not_matter(sample, random):
    def gap(part, scale):
        p, y, c, w = (np.array(a) for a in zip(*part, strict=True))
        cells = model(p / 20, y, c, sample_weight=w * scale).profile()
        return [*mean_gap(cells).to_dict().values(), cells.n_effective, *cells.bin(cc.Partition.equal_width(4)).n_effective]

    shuffled = list(sample)
    random.shuffle(shuffled)
    one, other = gap(sample, 1.0), gap(shuffled, 1e15)
    for a, b in zip(one, other, strict=True):
        assert (a is None) == (b is None)
        assert a is None or a == pytest.approx(b, rel=1e-6, abs=1e-9)


@given(rows)
def test_a_weight_in_a_cluster_is_as_many_rows_of_it(sample):
    p, y, c, w = (np.array(a) for a in zip(*sample, strict=True))
    weighted = mean_gap(model(p / 20, y, c, sample_weight=w).profile())
    repeated = mean_gap(model(np.repeat(p / 20, w), np.repeat(y, w), np.repeat(c, w)).profile())
    assert weighted.value == pytest.approx(repeated.value, abs=1e-12)
    if weighted.low is not None and len(set(y.tolist())) > 1:
        assert weighted.low == pytest.approx(repeated.low, rel=1e-6, abs=1e-9)
