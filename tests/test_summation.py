"""Sums: order-free, exact to the last digit, between any two positions."""

import itertools
import math

import numpy as np
import pytest

from calibcore.summation import Cumulative, total, total_of


def exact(values):
    return math.fsum(values.tolist())  # rounded once


def test_total_is_the_correctly_rounded_sum():
    rng = np.random.default_rng(1)
    for n in (1, 2, 10, 1000):
        values = rng.random(n) * 10.0 ** rng.integers(-12, 12, n)
        assert total(values) == pytest.approx(exact(values), rel=2.3e-16)
    assert total(np.array([0.1] * 10)) == 1.0  # a plain loop gives 0.9999999999999999


def test_total_survives_cancellation():
    values = np.array([1e16, 1.0, -1e16, 1.0])
    assert total(values) == 2.0
    assert total(np.array([0.5, -0.5, 1e-30])) == 1e-30


def test_total_is_the_same_for_every_order():
    rng = np.random.default_rng(2)
    values = rng.standard_normal(501) * 10.0 ** rng.integers(-8, 8, 501)
    assert {total(values[rng.permutation(501)]) for _ in range(50)} == {total(values)}


def test_total_of_integers_booleans_and_nothing():
    assert total(np.arange(5)) == 10.0
    assert total(np.array([True, False, True])) == 2.0
    assert total(np.array([])) == 0.0
    assert total(np.zeros(3)) == 0.0


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("n", [400, 150_000])
def test_cumulative_gives_the_sum_between_any_two_positions(n, signed):
    rng = np.random.default_rng(3)
    values = rng.random(n) * 10.0 ** rng.integers(-10, 10, n) * (rng.choice([-1, 1], n) if signed else 1)
    positions = np.array([0, 3, 3, 100, 399, 400, *(range(131_070, n, 4_099) if n > 400 else ()), n])
    sums = Cumulative(values)
    for got, (a, b) in zip(sums.between(positions), itertools.pairwise(positions), strict=True):
        sum_here, size_here = exact(values[a:b]), exact(np.abs(values[a:b]))
        # n·2⁻¹⁰⁴ of the whole, not 2⁻⁵³, but for the rounding of the sum itself
        assert abs(got - sum_here) <= n * 2.0**-104 * exact(np.abs(values)) + 2.0**-52 * size_here * (n > 400)
    assert sums.total == pytest.approx(exact(values), rel=1e-15)
    assert sums.upto[[0, 399, -1]] == pytest.approx([exact(values[: k + 1]) for k in (0, 399, n - 1)], rel=1e-12)


def test_a_lone_cell_far_from_the_start_keeps_its_digits():
    values = np.full(300_000, 0.3)
    values[[20_000, 270_000]] = 1e-9, -1e-9
    found = Cumulative(values).between(np.array([20_000, 20_001, 270_000, 270_001]))
    assert found[[0, 2]] == pytest.approx([1e-9, -1e-9], rel=1e-14)


def test_cumulative_of_integers_is_exact_beyond_doubles():
    values = np.array([2**53, 1, 1, 1], dtype=np.int64)
    assert Cumulative(values).upto.tolist() == [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3]
    assert Cumulative(values).between(np.array([1, 4])).tolist() == [3.0]


def test_cumulative_takes_shares_of_a_cell():
    sums = Cumulative(np.array([2.0, 4.0, 6.0]))
    assert sums.between(np.array([0.0, 0.5, 1.25, 3.0])).tolist() == [1.0, 2.0, 9.0]
    assert Cumulative(np.array([2, 4, 6])).between(np.array([0.0, 0.5, 1.25, 3.0])).tolist() == [1.0, 2.0, 9.0]


def test_cumulative_upto():
    assert Cumulative(np.array([0.25, 0.5, 0.25])).upto.tolist() == [0.25, 0.75, 1.0]


@pytest.mark.parametrize("size", [1, 127, 128, 129, 5000, 40_000])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_few_positions_of_many_cells_give_the_same_sums_as_all(size, kind):
    rng = np.random.default_rng(size)
    values = rng.integers(1, 1000, size).astype(kind) / (1 if kind is np.int64 else 1024)  # sums of which are exact
    whole = np.concatenate([[0], np.cumsum(values)])
    positions = np.sort(rng.integers(0, size + 1, 9))
    few, all_ = Cumulative(values), Cumulative(values)
    assert np.array_equal(all_.upto, whole[1:])
    for sums in (few, all_):
        assert sums.between(positions).tolist() == np.diff(whole[positions]).tolist()


def test_a_total_in_parts_is_that_of_the_whole():
    values = np.random.default_rng(5).standard_normal(50_000)
    assert total_of(lambda x, y: x * y, values, values) == pytest.approx(exact(values**2), rel=2.3e-16)
    assert total_of(lambda x: x, np.array([1e16, 1.0, -1e16, 1.0])) == 2.0
    assert total_of(lambda x: x, np.array([])) == 0.0
