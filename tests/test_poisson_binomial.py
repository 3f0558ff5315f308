"""The number of events among rows of different probabilities: exact against fractions, approximate within one event."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.partition import Partition
from calibcore.poisson_binomial import EXACT_ROWS, Cells, Moments, Rows, count_quantiles, matched_quantile, pmf
from calibcore.summation import Cumulative

LEVELS = (0.0005, 0.005, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.995, 0.9995)
ONE = Partition.equal_width(1)


def exact_pmf(p):
    """One row after another, in whatever numbers p holds."""
    found = [1]
    for q in p:
        found = [(found[i] * (1 - q) if i < len(found) else 0) + (found[i - 1] * q if i else 0) for i in range(len(found) + 1)]
    return found


def quantiles(p, levels=LEVELS):
    """Of the sum of all rows, through the public door."""
    p = np.asarray(p)
    rows = np.array([float(len(p))])
    return [float(k[0]) for k in count_quantiles(Rows(p, ONE), rows, np.array([float(np.sum(p))]), levels)]


def exact_quantiles(p, levels=LEVELS):
    upto = np.cumsum(pmf(np.asarray(p)))  # pmf has tests of its own
    return [min(int(np.count_nonzero(upto < q - 1e-12)), len(p)) for q in levels]


def test_example_in_fractions():
    p = [Fraction(3, 20), Fraction(4, 20), Fraction(7, 20)]
    expected = [Fraction(221, 500), Fraction(853, 2000), Fraction(121, 1000), Fraction(21, 2000)]
    assert exact_pmf(p) == expected
    assert pmf(np.array([0.15, 0.2, 0.35])).tolist() == pytest.approx([float(e) for e in expected], abs=1e-15)
    assert quantiles([0.15, 0.2, 0.35], (0.05, 0.95)) == [0, 2]  # cumulative 0.442, 0.8685, 0.9895


@given(st.lists(st.one_of(st.integers(0, 20).map(lambda k: k / 20), st.floats(0, 1)), min_size=1, max_size=40))
def test_pmf_of_any_rows(p):
    expected = [float(e) for e in exact_pmf([Fraction(q) for q in p])]
    np.testing.assert_allclose(pmf(np.array(p)), expected, atol=1e-14)


def test_pmf_of_equal_rows_is_binomial_and_of_many_still_exact():
    n, p = 200, 0.3
    binomial = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    np.testing.assert_allclose(pmf(np.full(n, p)), binomial, atol=1e-14)
    rows = np.random.default_rng(0).random((3, 100))
    several = pmf(rows)
    assert several.shape == (3, 101)
    for row, found in zip(rows, several, strict=True):
        np.testing.assert_allclose(found, exact_pmf(row.tolist()), atol=1e-14)
    assert pmf(np.zeros((2, 0))).tolist() == [[1.0], [1.0]]


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.integers(1, 39))
def test_small_bins_are_exact_in_fractions(twentieths, level):
    q = Fraction(level, 40)
    upto, k = Fraction(0), 0
    for k, chance in enumerate(exact_pmf([Fraction(t, 20) for t in twentieths])):  # noqa: B007 - k is what is looked for
        upto += chance
        if upto >= q:
            break
    assert quantiles(np.array(twentieths) / 20, (float(q),)) == [k]


def shapes():
    rng = np.random.default_rng(1)
    return {
        "all over": rng.random,
        "one narrow bin": lambda n: 0.6 + rng.random(n) / 15,
        "top bin": lambda n: 1 - rng.random(n) / 15,
        "nearly certain": lambda n: 1 - 10.0 ** -(1 + rng.random(n) * 8),
        "rare": lambda n: rng.random(n) ** 4 / 15,
        "two piles": lambda n: np.where(rng.random(n) < 0.5, 0.999, 0.001),
        "sure and doubtful": lambda n: np.where(rng.random(n) < 0.5, 0.9999, 0.3),
        "rare and even": lambda n: np.where(rng.random(n) < 0.9, 1e-4, 0.5),
        "rare and likely": lambda n: np.where(rng.random(n) < 0.98, 1e-6, 0.9),
        "eight doubtful": lambda n: np.where(np.arange(n) < 8, rng.random(n), 1e-9),
        "certain and doubtful": lambda n: np.where(rng.random(n) < 0.5, 1.0, 0.3 + 0.4 * rng.random(n)),
        "extreme scores": lambda n: rng.beta(0.01, 0.01, n),
    }


@pytest.mark.parametrize("name", shapes())
@pytest.mark.parametrize("n", [EXACT_ROWS + 1, 1000, 3000])
def test_large_bins_are_off_by_at_most_one_event(name, n):
    draw = shapes()[name]
    for _ in range(3):
        p = draw(n)
        found, expected = quantiles(p), exact_quantiles(p)
        assert np.max(np.abs(np.subtract(found, expected))) <= 1
        turned = quantiles(1 - p, (0.025, 0.975))
        assert np.max(np.abs(np.subtract(turned, exact_quantiles(1 - p, (0.025, 0.975))))) <= 1


@pytest.mark.parametrize("p", [1e-6, 0.01, 0.3, 0.5, 0.77, 0.99, 1 - 1e-6])
def test_equal_probabilities_are_binomial_at_any_size(p):
    for n in (EXACT_ROWS + 1, 1000, 3000):
        assert quantiles(np.full(n, p)) == exact_quantiles(np.full(n, p))


def test_millions_of_rows():
    # normal: mean ± 1.959964·sd, within one event and the skewness (below one event here)
    n = np.array([4e6, 1e7, 1e7])
    p = np.array([0.5, 0.9, 0.999])
    v = n * p * (1 - p)
    moments = Moments(n, n * p, v, v * (1 - 2 * p))
    for q, z in ((0.025, -1.959963984540054), (0.975, 1.959963984540054)):
        assert np.max(np.abs(matched_quantile(q, moments) - (n * p + z * np.sqrt(v)))) <= 2


def test_certain_rows_and_no_rows():
    assert quantiles(np.ones(300)) == [300] * len(LEVELS)
    assert quantiles(np.zeros(300)) == [0] * len(LEVELS)
    assert quantiles(np.array([1.0, 0.0])) == [1] * len(LEVELS)
    for least in (5e-324, 1e-300, 1e-17):  # as good as certain, without a warning
        assert quantiles(np.full(300, least)) == [0] * len(LEVELS)
        assert quantiles(np.array([least] * 150 + [1.0] * 150)) == [150] * len(LEVELS)
    assert quantiles(np.full(300, 1 - 2.0**-53)) == [300] * len(LEVELS)
    nothing = count_quantiles(Rows(np.array([0.7]), Partition.equal_width(2)), np.array([0.0, 1.0]), np.array([np.nan, 0.7]), (0.5,))
    assert np.isnan(nothing[0][0])
    assert nothing[0][1] == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("extreme", [False, True])
def test_cells_and_rows_say_the_same(dtype, extreme):
    rng = np.random.default_rng(2)
    p = (rng.beta(0.01, 0.01, 3000) if extreme else np.round(rng.random(3000), 3)).astype(dtype)
    value, count = np.unique(p, return_counts=True)
    wide = value.astype(np.float64)
    spread = count * wide * (1 - wide)
    for m in (1, 4, 7, 30):
        part = Partition.equal_width(m)
        positions = part.cut(value)
        cells = Cells(value, count, positions, lambda: (Cumulative(spread), Cumulative(spread * (1 - 2 * wide))))
        rows = Rows(p, part)
        number = np.diff(np.concatenate([[0], np.cumsum(count)])[positions]).astype(float)
        mean = np.bincount(part.locate(p), weights=p.astype(np.float64), minlength=m)
        for one, other in zip(count_quantiles(cells, number, mean, LEVELS), count_quantiles(rows, number, mean, LEVELS), strict=True):
            np.testing.assert_array_equal(one, other)
        bins = np.arange(m)
        for one, other in zip(cells.probabilities(bins), rows.probabilities(bins), strict=True):
            assert one.tolist() == other.tolist()
