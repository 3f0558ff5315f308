"""The CORP curve: against the max-min formula in exact fractions; blocks, evaluation, weights and groups of cells."""

from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st

from calibcore.measures.isotonic import cell_groups, isotonic
from calibcore.profile import Profile


def profile(p, y, w=None):
    weight = None if w is None else np.asarray(w, dtype=np.float64)
    return Profile.from_rows(np.asarray(p), np.asarray(y, dtype=np.bool_), weight=weight, view="positive")


def max_min(p, y, w=None):
    """Fitted value at each distinct p: the largest, over starts up to it, of the smallest mean of a run that holds it."""
    weights = w or [1] * len(p)
    values = sorted(set(p))
    cells = [
        (
            sum(Fraction(k) for q, k in zip(p, weights, strict=True) if q == v),
            sum(Fraction(k) for q, t, k in zip(p, y, weights, strict=True) if q == v and t),
        )
        for v in values
    ]

    def mean(i, j):
        return sum(c[1] for c in cells[i : j + 1]) / sum(c[0] for c in cells[i : j + 1])

    m = len(cells)
    return [max(min(mean(i, j) for j in range(k, m)) for i in range(k + 1)) for k in range(m)]


def test_d_by_hand():
    # 0, 0 | 1 0 1 0 pooled to 1/2 | 1 1 1 1
    curve = isotonic(profile(ref.floats(ref.D_P), ref.D_Y))
    assert curve.fitted.tolist() == [0, 0, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1]
    b = curve.blocks
    assert (b.low.tolist(), b.high.tolist()) == ([0.05, 0.2, 0.65], [0.15, 0.55, 0.95])
    assert (b.fitted.tolist(), b.weight.tolist(), b.count.tolist()) == ([0, 0.5, 1], [2, 4, 4], [2, 4, 4])
    assert max_min(ref.D_P, ref.D_Y) == [0, 0, *[Fraction(1, 2)] * 4, 1, 1, 1, 1]


def test_between_cells_linear_beyond_them_level():
    curve = isotonic(profile(ref.floats(ref.D_P), ref.D_Y))
    # (0.15, 0) to (0.2, 1/2) halfway; within a block flat; (0.55, 1/2) to (0.65, 1) a quarter of the way
    assert curve.at([0.0, 0.05, 0.175, 0.3, 0.575, 1.0]).tolist() == pytest.approx([0, 0, 0.25, 0.5, 0.625, 1], abs=1e-12)
    assert curve.at(0.3).shape == ()


def test_ties_are_pooled_before_anything_else():
    # one cell 1/2, 1/2 by order; the other cell 1/3
    curve = isotonic(profile([0.4, 0.4, 0.7, 0.7, 0.7], [1, 0, 1, 0, 0]))
    assert curve.value.tolist() == [0.4, 0.7]
    assert curve.fitted.tolist() == [0.4, 0.4]  # 2 of 5
    assert len(curve.blocks) == 1


def test_neighbours_of_equal_share_are_one_block():
    # 1/3 and 2/6
    curve = isotonic(profile([0.1] * 3 + [0.6] * 6, [1, 0, 0, 1, 1, 0, 0, 0, 0]))
    assert len(curve.blocks) == 1
    assert curve.fitted.tolist() == [1 / 3, 1 / 3]


@pytest.mark.parametrize(
    ("p", "y", "fitted"), [([0.3], [1], [1.0]), ([0.0, 1.0], [1, 0], [0.5, 0.5]), ([0.5, 0.5, 0.7], [0, 0, 0], [0, 0])]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_and_extreme(p, y, fitted, dtype):
    curve = isotonic(profile(np.array(p, dtype=dtype), y))
    assert curve.fitted.tolist() == fitted
    assert curve.value.dtype == np.float64


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_weights_of_any_size(scale):
    w = [Fraction(1), Fraction(5), Fraction(2), Fraction(3), Fraction(1)]
    p, y = [0.1, 0.2, 0.3, 0.4, 0.5], [1, 0, 1, 0, 1]
    curve = isotonic(profile(p, y, [float(k) * scale for k in w]))
    assert curve.fitted.tolist() == pytest.approx([float(f) for f in max_min(p, y, w)], abs=1e-15)
    # weights of very different size leave exact zeros and ones exact
    curve = isotonic(profile([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1], [0.1 * scale, 1e12 * scale, 0.3 * scale, 1e-12 * scale]))
    assert curve.fitted.tolist() == [0, 0, 1, 1]


rows = st.lists(st.tuples(st.integers(0, 12), st.booleans(), st.integers(1, 5)), min_size=1, max_size=25)


@given(rows)
def test_is_the_max_min_formula(sample):
    p, y, w = ([r[i] for r in sample] for i in range(3))
    values = [k / 12 for k in p]
    assert isotonic(profile(values, y)).fitted.tolist() == [float(f) for f in max_min(p, y)]  # to the last bit
    weighted = isotonic(profile(values, y, w)).fitted
    assert weighted.tolist() == pytest.approx([float(f) for f in max_min(p, y, w)], abs=1e-14)


@given(rows, st.randoms(use_true_random=False))
def test_order_repetition_and_complement(sample, random):
    p, y, w = (np.array([r[i] for r in sample]) for i in range(3))
    p = p / 12
    order = np.array(random.sample(range(len(p)), len(p)))
    one = isotonic(profile(p, y))
    assert isotonic(profile(p[order], y[order])).fitted.tolist() == one.fitted.tolist()
    repeated = isotonic(profile(np.repeat(p, w), np.repeat(y, w)))
    np.testing.assert_allclose(isotonic(profile(p, y, w)).fitted, repeated.fitted, atol=1e-14)
    np.testing.assert_allclose(isotonic(profile(p, y, w * 1e15)).fitted, repeated.fitted, atol=1e-14)
    other = isotonic(profile(1 - p, ~y))
    np.testing.assert_allclose(1 - other.fitted[::-1], one.fitted, atol=1e-15)


@given(rows)
def test_never_falls_and_keeps_the_mean_of_every_block(sample):
    p, y, _ = (np.array([r[i] for r in sample]) for i in range(3))
    curve = isotonic(profile(p / 12, y))
    assert np.all(np.diff(curve.fitted) >= 0)
    assert np.all(np.diff(curve.blocks.fitted) > 0)
    assert np.sum(curve.fitted * curve.weight) == pytest.approx(np.sum(y), abs=1e-12)
    for low, high, fitted in zip(curve.blocks.low, curve.blocks.high, curve.blocks.fitted, strict=True):
        inside = (p / 12 >= low) & (p / 12 <= high)
        assert np.mean(y[inside]) == pytest.approx(fitted, abs=1e-15)


def test_read_only_and_plain():
    curve = isotonic(profile([0.2, 0.8], [0, 1]))
    for array in (curve.value, curve.fitted, curve.weight, curve.blocks.fitted):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert curve.to_dict() == {"low": [0.2, 0.8], "high": [0.2, 0.8], "fitted": [0, 1], "weight": [1, 1], "count": [1, 1]}


def test_groups_are_cells_while_there_are_few():
    cells = profile(ref.floats(ref.D_P), ref.D_Y)
    groups = cell_groups(cells)
    assert groups.value.tolist() == pytest.approx(ref.floats(ref.D_P), abs=1e-15)
    assert groups.positive.tolist() == ref.D_Y


def test_groups_hold_all_rows_and_few_of_them_each():
    rng = np.random.default_rng(0)
    p = 1 - rng.random(20_000) ** 4  # half of them above 0.94
    cells = profile(p, rng.random(20_000) < p)
    groups = cell_groups(cells)
    assert len(groups) <= 1001 + 499
    assert np.sum(groups.weight) == 20_000
    assert np.sum(groups.positive) == np.sum(cells.positive)
    assert np.sum(groups.weight * groups.value) == pytest.approx(np.sum(p), abs=1e-8)
    assert np.max(groups.high - groups.low) <= 0.001
    assert np.max(groups.weight) <= 20_000 / 500 + 1
    # cuts do not look at outcomes
    other = cell_groups(profile(p, np.zeros(20_000)))
    assert other.low.tolist() == groups.low.tolist()


def test_grouped_fit_lies_close_to_the_curve_of_all_cells():
    # groups of 0.001 change c by at most its rise over neighbouring groups; on a smooth curve of 20,000 rows little
    rng = np.random.default_rng(1)
    p = rng.random(20_000)
    cells = profile(p, rng.random(20_000) < p)
    groups = cell_groups(cells)
    fit = groups.fit(groups.positive / groups.weight)
    inner = (groups.value > 0.01) & (groups.value < 0.99)
    assert np.mean(np.abs(fit - isotonic(cells).at(groups.value))[inner]) < 0.002
