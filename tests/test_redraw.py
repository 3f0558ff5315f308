"""Redraws: exact for heavy rows and whole clusters, the right means and covariances in between, the same for any order of rows."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import calibcore.redraw as module
from calibcore.clusters import Clusters
from calibcore.predictions import Predictions
from calibcore.redraw import Cells, cells_of, group_starts, redraw_groups

DRAWS = 40_000


def profile(p, y, **beside):
    return Predictions.from_top_label(p, y, **beside).profile()


def drawn(redraw, draws=DRAWS, seed=0):
    return np.concatenate(list(redraw.residuals(draws, np.random.default_rng(seed))))


def share_of(values, value):
    return float(np.mean(np.abs(values - value) < 1e-9))


def test_a_heavy_row_among_light_ones_of_the_same_score_is_drawn_by_itself():
    # weights 1, 1, 1000 at 0.9: all eight outcomes with their exact probabilities
    weights = [1, 1, 1000]
    exact = {}
    for ys in itertools.product((0, 1), repeat=3):
        value = sum(w * (y - 0.9) for w, y in zip(weights, ys, strict=True))
        exact[round(value, 9)] = exact.get(round(value, 9), 0) + math.prod(0.9 if y else 0.1 for y in ys)
    found = drawn(redraw_groups(profile([0.9] * 3, [1, 0, 1], sample_weight=weights), np.array([0])))[:, 0]
    for value, probability in exact.items():
        assert share_of(found, value) == pytest.approx(probability, abs=4 * math.sqrt(probability * (1 - probability) / DRAWS))
    assert sum(share_of(found, v) for v in exact) == pytest.approx(1, abs=1e-12)


def test_weights_keep_mean_and_variance_in_every_group():
    rng = np.random.default_rng(1)
    p, w = rng.uniform(0.5, 1, 300).round(1), rng.lognormal(0, 2, 300)
    cells = profile(p, rng.random(300) < p, sample_weight=w)
    found = drawn(redraw_groups(cells, np.arange(len(cells))), 20_000)
    variance = cells.cell_sums("variance")
    certain = variance == 0
    assert found[:, certain].any() == np.False_
    # a few heavy rows make the tails long: the variance of a variance is at most (kurtosis − 1)/draws, kurtosis < 30
    np.testing.assert_allclose(found.var(axis=0)[~certain], variance[~certain], rtol=4 * math.sqrt(30 / 20_000))
    assert np.all(np.abs(found.mean(axis=0)) <= 4.5 * np.sqrt(variance / 20_000) + 1e-12)


def clustered(share, probability=(0.6, 0.9), opposite=None):
    """Two cells of three rows; two rows of the first and two of the second are one cluster, the others stand alone."""
    clusters = Clusters(
        np.array([0, 1]), np.array([0, 0]), np.array([2.0, 2.0]), np.array([1.0, 2.0]), np.array([2.0, 2.0]), np.array([1.0, 2.0]), rows=4
    )
    three = np.array([3, 3])
    return Cells(np.array(probability), three, three, clusters=clusters, opposite=opposite, share=share)


STARTS = np.array([0, 1])


@pytest.mark.parametrize("entries", [10_000, 0])  # cluster by cluster, and through the covariance of the groups
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_clusters_add_to_variances_and_covariances(monkeypatch, entries, share):
    # with u = p(1 − p): variance 3u + s·2u, since the pair in a cluster goes together by s; covariance s·2·2·(min(p, q) − p·q)
    monkeypatch.setattr(module, "_ENTRIES", entries)
    found = drawn(clustered(share).redraw(STARTS))
    assert np.abs(found.mean(axis=0)).max() < 4 * 1.2 / math.sqrt(DRAWS)
    expected = np.array([[0.24 * (3 + 2 * share), share * 4 * 0.06], [share * 4 * 0.06, 0.09 * (3 + 2 * share)]])
    got = np.cov(found.T)
    assert got[0, 0] == pytest.approx(expected[0, 0], rel=0.05)
    assert got[1, 1] == pytest.approx(expected[1, 1], rel=0.05)
    assert got[0, 1] == pytest.approx(expected[0, 1], abs=0.02)


def test_the_copula_has_the_covariance_of_many_rows(monkeypatch):
    # 2,000 clusters of two rows at 0.6 and at 0.8, s = 1: variance 2,000·u, covariance 2,000·(0.6 − 0.48)
    monkeypatch.setattr(module, "_ENTRIES", 0)
    c = np.repeat(np.arange(2000), 2)
    one = np.ones(4000)
    clusters = Clusters(np.tile([0, 1], 2000), c, one, one, one, one, rows=4000)
    many = np.array([2000, 2000])
    found = drawn(Cells(np.array([0.6, 0.8]), many, many, clusters=clusters, share=1.0).redraw(STARTS))
    expected = 2000 * np.array([[0.24, 0.12], [0.12, 0.16]])
    np.testing.assert_allclose(np.cov(found.T), expected, rtol=0.05)


def test_whole_clusters_are_drawn_by_one_number():
    # all four clustered rows: U < 0.6 both right, 0.6 … 0.9 the second pair only, beyond neither; no other rows
    cells = clustered(1.0)
    only = Cells(cells.probability, np.array([2, 2]), np.array([2, 2]), clusters=cells.clusters, share=1.0)
    found = drawn(only.redraw(STARTS))
    for pair, probability in (((0.8, 0.2), 0.6), ((-1.2, 0.2), 0.3), ((-1.2, -1.8), 0.1)):
        share = float(np.mean(np.all(np.abs(found - pair) < 1e-9, axis=1)))
        assert share == pytest.approx(probability, abs=4 * math.sqrt(probability * (1 - probability) / DRAWS))


@pytest.mark.parametrize("entries", [10_000, 0])
def test_opposite_events_go_together(monkeypatch, entries):
    # being right goes together: 0.2 says the other class (right with 0.8), 0.9 the positive: covariance −4·(0.8 − 0.72)
    monkeypatch.setattr(module, "_ENTRIES", entries)
    found = drawn(clustered(1.0, (0.2, 0.9), np.array([True, False])).redraw(STARTS))
    # for two counts of two the correlation of normal numbers is matched to first order only
    assert np.cov(found.T)[0, 1] == pytest.approx(-4 * 0.08, abs=0.11 if entries == 0 else 0.03)


@pytest.mark.parametrize("entries", [10_000, 0])
def test_certain_rows_never_move(monkeypatch, entries):
    monkeypatch.setattr(module, "_ENTRIES", entries)
    found = drawn(clustered(0.5, (0.0, 1.0)).redraw(STARTS), 100)
    assert not found.any()


def test_a_cluster_that_touches_many_groups(monkeypatch):
    # one cluster over 100 groups (wide) and 300 of two rows: products Σ w·w' by plain loops
    rng = np.random.default_rng(3)
    cell = np.concatenate([np.arange(100), rng.integers(0, 100, 600)])
    number = np.concatenate([np.zeros(100, dtype=int), np.repeat(np.arange(1, 301), 2)])
    weight = rng.uniform(1, 2, 700)
    clusters = Clusters.from_rows(cell, number, np.ones(700, dtype=bool), weight)
    expected = np.zeros((100, 100))
    for i in range(700):
        for j in range(700):
            if number[i] == number[j]:
                expected[cell[i], cell[j]] += weight[i] * weight[j]
    np.testing.assert_allclose(module._products(clusters, 100), expected, rtol=1e-12, atol=1e-12)


def test_profiles_redraw_what_their_arrays_say():
    # 2·4 rows in clusters of two identical rows: dependence 1, so every residual is even multiples of one pair
    cells = profile(np.repeat([0.6, 0.7, 0.8, 0.9], 2), np.repeat([1, 0, 1, 1], 2), cluster=np.repeat([4, 3, 2, 1], 2))
    assert cells_of(cells).share == 1.0
    found = drawn(redraw_groups(cells, np.arange(4)), 2000)
    for g, p in enumerate((0.6, 0.7, 0.8, 0.9)):
        assert {round(v, 9) for v in found[:, g]} == {round(2 * (1 - p), 9), round(-2 * p, 9)}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_order_of_rows_and_scale_of_weights_do_not_matter(seed, weighted):
    rng = np.random.default_rng(seed)
    p, y = rng.integers(5, 11, 30) / 10, rng.random(30) < 0.7
    cluster, w = rng.integers(0, 12, 30), rng.integers(1, 9, 30).astype(float) if weighted else None
    order = rng.permutation(30)
    one = profile(p, y, cluster=cluster, sample_weight=w)
    other = profile(p[order], y[order], cluster=cluster[order], sample_weight=None if w is None else w[order] * 1e15)
    scale = 1 if w is None else 1e15
    starts = np.arange(len(one))
    np.testing.assert_allclose(
        drawn(redraw_groups(one, starts), 50) * scale, drawn(redraw_groups(other, starts), 50), rtol=1e-6, atol=1e-6 * scale
    )


def test_groups_are_cut_where_asked_and_by_value_where_many():
    value = np.linspace(0.5, 1, 11)
    assert group_starts(value, cuts=np.array([3]), step=0.1, few=20).tolist() == list(range(11))
    assert group_starts(np.array([0.1, 0.15, 0.31, 0.32]), cuts=np.array([1, 4]), step=0.1, few=2).tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [0.1, 0.01, 0.001])
def test_groups_change_where_the_floor_of_the_quotient_does_to_the_last_digit(step, dtype):
    edges = (np.arange(int(1 / step) + 1) * step).astype(dtype)  # and their neighbours, where 0.29/0.01 is below 29
    near = [edges, np.nextafter(edges, dtype(0)), np.nextafter(edges, dtype(2)), np.random.default_rng(0).random(3000).astype(dtype)]
    value = np.unique(np.clip(np.concatenate(near), 0, 1))
    level = np.floor(value.astype(np.float64) / step)
    expected = [0, *(np.flatnonzero(np.diff(level)) + 1).tolist()]
    assert group_starts(value, cuts=np.array([], dtype=np.intp), step=step, few=2).tolist() == expected


@pytest.mark.parametrize(("n", "p"), [(100, 0.5), (25_100, 0.001), (25_100, 0.999), (278, 0.1), (40_000, 0.3)])
def test_large_counts_are_whole_and_binomial_to_six_parts_in_ten_thousand(n, p):
    # X ≤ k where mean + sd·z + (1 − 2p)/6·(z² − 1) < k + ½: the z at which it is equal solves a quadratic equation
    mean, sd, bend = n * p, math.sqrt(n * p * (1 - p)), (1 - 2 * p) / 6
    k = np.unique(np.clip(np.rint(mean + sd * np.linspace(-6, 6, 2001)), 0, n))
    distance = k + 0.5 - mean + bend
    z = 2 * distance / (sd + np.sqrt(sd**2 + 4 * bend * distance))
    assert np.max(np.abs(special.ndtr(z) - special.bdtr(k, n, p))) < 5.5e-4
    counts = module._counts(np.array([n]), np.array([p]), 20_000, np.random.default_rng(1))[:, 0]
    assert np.array_equal(counts, np.rint(counts))
    share = np.searchsorted(np.sort(counts), k, side="right") / 20_000
    assert np.max(np.abs(share - special.bdtr(k, n, p))) < 1.95 / math.sqrt(20_000)  # Kolmogorov's limit that one in a thousand exceeds


def test_small_counts_beside_large_ones_are_binomial():
    # three rows of 1/2 beside 400: (1/8, 3/8, 3/8, 1/8)
    counts = module._counts(np.array([400, 3, 400]), np.array([0.5, 0.5, 0.5]), DRAWS, np.random.default_rng(2))
    share = np.bincount(counts[:, 1].astype(int), minlength=4) / DRAWS
    assert share == pytest.approx([1 / 8, 3 / 8, 3 / 8, 1 / 8], abs=4 * math.sqrt(0.25 / DRAWS))
    assert counts[:, 0].var() == pytest.approx(100, rel=4 * math.sqrt(2 / DRAWS))
