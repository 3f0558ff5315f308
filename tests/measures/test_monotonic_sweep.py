"""ECE-sweep: worked example, plain loops, ties, and the bound of the search."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st

from calibcore.measures import monotonic_sweep as module
from calibcore.measures.monotonic_sweep import ece_sweep, monotonic_sweep
from calibcore.predictions import Predictions


def by_rank(ps, ys):
    """The published rule on rows sorted by p: bins cut by rank, whatever is tied."""
    n, best = len(ps), 1

    def bins(m):
        cuts = ref.ranks(n, m)
        return [(ps[a:b], ys[a:b]) for a, b in pairwise(cuts)]

    for m in range(2, n + 1):
        means = [Fraction(sum(y), len(y)) for _, y in bins(m)]
        if any(b < a for a, b in pairwise(means)):
            break
        best = m
    return best, sum(abs(sum(y) - sum(p)) for p, y in bins(best)) / Fraction(n)


def together(ps, ys, limit, weights=None):
    """Equal-mass bins with ties together, by the reference's edges, until a fall, all values apart, or the limit."""
    weights = weights or [1] * len(ps)
    edges = [Fraction(0), Fraction(1)]
    best = 1
    for m in range(2, limit + 1):
        if len(edges) - 1 == len(set(ps)):
            break
        new = ref.weighted_mass_edges(ps, weights, m)
        rows = [r for r in ref.sums(ps, ys, new, weights=weights) if r[0]]
        means = [r[2] / r[0] for r in rows]
        if any(b < a for a, b in pairwise(means)):
            break
        best, edges = m, new
    return best, ref.ece(ref.sums(ps, ys, edges, weights=weights))


def test_d():
    assert by_rank(ref.D_P, ref.D_Y) == (5, Fraction(7, 50))
    s = ece_sweep(ref.D_Y, ref.floats(ref.D_P))
    assert (s.n_bins, s.used, s.bounded) == (5, 5, False)
    assert s.value == pytest.approx(7 / 50, abs=1e-15)
    assert s.to_dict() == {"n_bins": 5, "value": s.value, "used": 5, "bounded": False}


distinct = st.lists(st.integers(1, 99), min_size=1, max_size=25, unique=True).flatmap(
    lambda k: st.tuples(st.just(sorted(k)), st.lists(st.integers(0, 1), min_size=len(k), max_size=len(k)))
)


@given(distinct)
def test_without_ties_as_published(sample):
    ps, ys = [Fraction(k, 100) for k in sample[0]], sample[1]
    best, value = by_rank(ps, ys)
    s = ece_sweep(ys, ref.floats(ps), classes=[0, 1])
    assert (s.n_bins, s.value) == (best, pytest.approx(float(value), abs=1e-14))
    assert s.bounded == (best == len(ps))


tied = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1), st.integers(1, 4)), min_size=1, max_size=20)


@given(tied)
def test_with_ties_against_plain_loops(sample):
    ks, ys, ws = zip(*sample, strict=True)
    ps = [Fraction(k, 6) for k in ks]
    best, value = together(ps, ys, limit=100)
    s = ece_sweep(ys, ref.floats(ps), classes=[0, 1])
    assert (s.n_bins, s.value) == (best, pytest.approx(float(value), abs=1e-14))
    best, value = together(ps, ys, limit=100, weights=list(ws))
    s = ece_sweep(ys, ref.floats(ps), classes=[0, 1], sample_weight=ws)
    assert (s.n_bins, s.value) == (best, pytest.approx(float(value), abs=1e-14))


@given(tied, st.sampled_from([1.0, 1e15, 1e-15]), st.randoms(use_true_random=False))
def test_order_repetition_and_scale_of_weights(sample, factor, random):
    ks, ys, ws = zip(*sample, strict=True)
    once = ece_sweep(ys, np.array(ks) / 6, classes=[0, 1], sample_weight=np.array(ws) * factor)
    repeated = list(zip(np.repeat(ks, ws), np.repeat(ys, ws), strict=True))
    random.shuffle(repeated)
    k, y = zip(*repeated, strict=True)
    other = ece_sweep(y, np.array(k) / 6, classes=[0, 1])
    assert (once.n_bins, once.used, once.bounded) == (other.n_bins, other.used, other.bounded)
    assert once.value == pytest.approx(other.value, abs=1e-12)


def test_rank_cuts_depend_on_the_order_of_tied_rows_and_these_do_not():
    ps = [Fraction(1, 2)] * 6 + [Fraction(9, 10)] * 2
    one, two = [1, 1, 1, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]
    assert by_rank(ps, one) != by_rank(ps, two)
    a, b = ece_sweep(one, ref.floats(ps)), ece_sweep(two, ref.floats(ps))
    assert a == b
    # half of six at 1/2, two of two at 9/10: gaps 0 and 1/10 as soon as the two are apart
    assert (a.used, a.value, a.bounded) == (2, pytest.approx(2 / 8 / 10, abs=1e-15), True)


def test_the_bound_of_the_search(monkeypatch):
    # outcomes that never fall: found without counting up, and the same as by counting up
    p = (np.arange(1500) + 0.5) / 1500
    profile = Predictions.from_arrays((p > 0.5).astype(int), p).profile("positive")
    s = monotonic_sweep(profile)
    assert (s.n_bins, s.used, s.bounded) == (1000, 1000, True)
    assert s.value == pytest.approx(0.25, abs=1e-12)  # mean of min(p, 1 − p)
    monkeypatch.setattr(module, "MAX_SWEEP", 12)
    small = Predictions.from_arrays((p[::75] > 0.5).astype(int), p[::75]).profile("positive")
    best, value = together([Fraction(150 * k + 1, 3000) for k in range(20)], [int(k >= 10) for k in range(20)], limit=12)
    s = monotonic_sweep(small)
    assert (s.n_bins, s.value, s.bounded) == (best, pytest.approx(float(value), abs=1e-14), True)
    assert best == 12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_of_the_possible(dtype):
    one = ece_sweep([1], np.array([0.25], dtype))
    assert (one.n_bins, one.value, one.used, one.bounded) == (1, 0.75, 1, True)
    same = ece_sweep([1, 0, 1, 1], np.array([0.5] * 4, dtype))
    assert (same.n_bins, same.value, same.used) == (1, 0.25, 1)
    wrong = ece_sweep([1, 0], np.array([0, 1], dtype))
    assert (wrong.n_bins, wrong.value) == (1, 0)  # two bins fall; in one, the mean gap is 0
    right = ece_sweep([0, 1], np.array([0, 1], dtype))
    assert (right.n_bins, right.value, right.bounded) == (2, 0, True)
    all_right = ece_sweep([1, 1, 1], np.array([0.2, 0.5, 1.0], dtype))
    assert (all_right.n_bins, all_right.used) == (3, 3)


def test_views_and_float32():
    p = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.5, 0.4]], np.float32)
    top = ece_sweep([0, 1, 1, 2], p)
    profile = Predictions.from_arrays([0, 1, 1, 2], p).profile()
    assert top == monotonic_sweep(profile)
    assert ece_sweep([0, 1, 1, 2], p, view="class:2") != top
