"""The cells of reduced profiles: which cuts there are, and that every value falls into the right one."""

from fractions import Fraction

import numpy as np
import pytest

from calibcore.errors import InputError
from calibcore.grid import SIZE, cuts, ends, fractions, grid, is_point, mirrored
from calibcore.partition import Partition

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)


def hard_values(dtype, rng):
    """Every cut with its neighbours, powers of two towards both ends, and random values, most of them near an end."""
    edge = cuts().astype(dtype)
    zero, one = dtype.type(0), dtype.type(1)
    powers = 2.0 ** -np.arange(1, 1070)
    random = np.concatenate([rng.random(20_000), rng.beta(30, 0.02, 20_000), rng.beta(0.02, 30, 20_000)])
    values = np.concatenate([edge, np.nextafter(edge, zero), np.nextafter(edge, one), powers, 1 - powers[:60], random])
    return np.clip(values.astype(dtype), zero, one)


def test_number_of_cuts_is_that_of_the_definition():
    # |F_100| = 1 + Σ φ(m), m = 1…100
    coprime = sum(sum(1 for k in range(1, m + 1) if Fraction(k, m).denominator == m) for m in range(1, 101))
    assert len(fractions()) == 1 + coprime == 3045
    assert len(cuts()) == 8529
    assert SIZE == 2 * 8529 - 1


def test_cuts_hold_what_they_should():
    there = set(cuts().tolist())
    assert all(k / m in there for m in range(1, 101) for k in range(m + 1))
    assert all(k / 4096 in there for k in range(4097))
    for octave in range(-30, -6):
        for part in range(33):
            fine = 2.0**octave * (1 + part / 32)
            assert fine in there
            assert 1 - fine in there
    for k in range(2, 10):
        for digit in (1, 2, 5):
            assert float(f"{digit}e-{k}") in there
            assert 1 - float(f"{digit}e-{k}") in there


def test_nothing_else_is_cut():
    """Each cut is one of the four kinds, by its own value."""
    fine = {2.0**o * (1 + j / 32) for o in range(-30, -6) for j in range(33)}
    decimal = {float(f"{d}e-{k}") for d in (1, 2, 5) for k in range(2, 10)}
    ends_of = fine | decimal | {1 - f for f in fine} | {1 - d for d in decimal}
    rest = [c for c, point in zip(cuts().tolist(), is_point().tolist(), strict=True) if not point and c not in ends_of]
    assert all((c * 4096).is_integer() for c in rest)


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE], ids=str)
def test_every_value_is_found_as_bisection_finds_it(dtype):
    values = hard_values(dtype, np.random.default_rng(1))
    edge, point = cuts().astype(dtype), is_point()
    cell = grid(dtype).locate(values)
    below = np.searchsorted(edge, values, side="left")
    through = np.searchsorted(edge, values, side="right")
    on_point = np.array([point[a:b].any() for a, b in zip(below.tolist(), through.tolist(), strict=True)])
    owner = np.array([a + int(np.argmax(point[a:b])) if b > a else 0 for a, b in zip(below.tolist(), through.tolist(), strict=True)])
    assert np.array_equal(cell[on_point], 2 * owner[on_point])
    # off the points, a value lies above the last cut that is less than it
    assert np.array_equal(cell[~on_point], 2 * below[~on_point] - 1)


def test_a_cell_holds_the_doubles_between_its_ends():
    values = hard_values(DOUBLE, np.random.default_rng(2))
    low, high = ends(grid(DOUBLE).locate(values))
    assert np.all((low <= values) & (values <= high))


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE], ids=str)
@pytest.mark.parametrize("closed", ["right", "left"])
def test_no_bin_of_up_to_100_divides_a_cell(dtype, closed):
    values = hard_values(dtype, np.random.default_rng(3))
    low, _ = ends(grid(dtype).locate(values))
    for m in range(1, 101):
        bins = Partition.equal_width(m, closed)
        assert np.array_equal(bins.locate(values), bins.locate(low)), m


def test_mirroring_is_that_of_exact_fractions():
    for m in (1, 2, 3, 7, 10, 15, 97, 100):
        k = np.arange(m + 1)
        cell = grid(DOUBLE).locate(k / m)
        assert np.array_equal(mirrored(cell), grid(DOUBLE).locate((m - k) / m))
    inside = np.array([0.123, 0.5001, 0.999_987_65])
    assert np.array_equal(mirrored(grid(DOUBLE).locate(inside)), grid(DOUBLE).locate(1 - inside))


def test_cells_near_the_ends_are_narrow():
    """Between 2⁻³⁰ and 1/64 from an end a cell is at most 1/32 of its distance wide."""
    distance = np.geomspace(2.0**-29, 2.0**-6, 2000)[:-1]
    for values in (distance, 1 - distance):
        low, high = ends(grid(DOUBLE).locate(values))
        assert np.all(high - low <= distance / 16)


@pytest.mark.parametrize("dtype", [np.float16, np.int64])
def test_only_two_precisions_have_cells(dtype):
    with pytest.raises(InputError, match="float32 and float64"):
        grid(np.dtype(dtype))
