"""The fixed cells that reduced profiles share: where [0, 1] is cut, and which cell a probability falls into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import InputError

__all__ = ["ORDER", "SIZE", "Grid", "cuts", "ends", "fractions", "grid", "is_point", "mirrored", "table_place"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

ORDER = 100  # bins of equal width up to which every edge is a cell of its own
_EVEN = 4096
_OCTAVES = (-30, -6)  # of min(p, 1 − p), each cut into 32
_PER_OCTAVE = 32
_DECIMALS = range(2, 10)
_BITS = 10  # of the mantissa that tell where in the table to begin
_SHIFT = 52 - _BITS
_DEEPEST = 1023 - 32  # biased exponent below which no cut but 0 lies
_BLOCK = 1 << 14  # values that stay in the processor's cache while several steps go over them
_STEPS = ((1022 - _DEEPEST) << _BITS) + 1  # entries of one side of the table, min(p, 1 − p) ≤ 1/2


@cache
def fractions() -> FloatArray:
    """The doubles nearest k/M for M ≤ 100: the Farey sequence of order 100, shape (3045,)."""
    return np.unique(np.concatenate([np.arange(m + 1) / m for m in range(1, ORDER + 1)]))


@cache
def cuts() -> FloatArray:
    """Where cells meet, rising from 0 to 1; shape (8529,), read-only.

    Notes
    -----
    Every k/M with M ≤ 100, as `Partition.equal_width` has them; k/4096; 32 equal parts of each octave of min(p, 1 − p) from
    2⁻³⁰ to 2⁻⁶; {1, 2, 5}·10⁻ᵏ for k = 2…9 and their complements.

    Examples
    --------
    >>> len(cuts())
    8529
    """
    octaves = 2.0 ** np.arange(*_OCTAVES)
    fine = np.outer(octaves, 1 + np.arange(_PER_OCTAVE + 1) / _PER_OCTAVE).ravel()
    decimal = np.array([float(f"{digit}e-{k}") for digit in (1, 2, 5) for k in _DECIMALS])
    found = np.unique(np.concatenate([fractions(), np.arange(_EVEN + 1) / _EVEN, fine, 1 - fine, decimal, 1 - decimal]))
    found.flags.writeable = False
    return found


SIZE = 2 * 8529 - 1  # cells: a point at each cut, an interval between each two


@cache
def is_point() -> NDArray[np.bool_]:
    """Which cuts are cells of their own (k/M, M ≤ 100), shape (8529,); the value of another one lies in the cell below it."""
    found = np.isin(cuts(), fractions())
    found.flags.writeable = False
    return found


def ends(cell: IndexArray) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest double in each cell, two arrays shaped as ``cell``."""
    edge, point, at = cuts(), is_point(), cell // 2
    between = cell % 2 == 1
    above = np.minimum(at + 1, len(edge) - 1)
    low = np.where(between, np.nextafter(edge[at], 1.0), edge[at])
    high = np.where(between, np.where(point[above], np.nextafter(edge[above], 0.0), edge[above]), edge[at])
    return low, high


def mirrored(cell: IndexArray) -> IndexArray:
    """The cell of 1 − p for the cell of p, shaped as ``cell``: the cuts lie symmetrically."""
    return SIZE - 1 - cell


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The cells as probabilities of one precision meet them.

    Attributes
    ----------
    edge : array of shape (cuts,)
        The cuts in that precision, as doubles.
    exact : array of shape (cuts,)
        The same where the cut is a cell of its own, NaN elsewhere.
    cells : array of shape (2 · cuts,)
        Cell of a value under each cut (and above the one before), then of a value that equals each ``exact``.
    start : array of shape (2 · table,)
        For the leading bits of min(p, 1 − p), first of p ≤ 1/2 and then of p > 1/2: how many cuts are certainly below.
    most : int
        How many cuts can lie between two neighbouring entries of ``start``.
    """

    edge: FloatArray
    exact: FloatArray
    cells: IndexArray
    start: IndexArray
    most: int

    @property
    def points(self) -> int:
        """How many cuts there are: as far into ``cells`` begin those of the cuts themselves."""
        return len(self.edge)

    def locate(self, value: NDArray[Any]) -> IndexArray:
        """Cell of each probability, shape as ``value``.

        Parameters
        ----------
        value : array of shape (n,), float
            In [0, 1], of the precision of the grid.
        """
        found = np.empty(len(value), dtype=np.intp)
        for start in range(0, len(value), _BLOCK):
            rows = slice(start, start + _BLOCK)
            self._locate(np.asarray(value[rows], dtype=np.float64), found[rows])
        return found

    def places(self, p: FloatArray) -> IndexArray:
        """How many cuts are below each of some probabilities, shape as ``p``."""
        under = np.empty(len(p), dtype=np.intp)
        self._count_below(p, under)
        return under

    def _locate(self, p: FloatArray, under: IndexArray) -> None:
        """Put cells into ``under``; each step overwrites what the one before needed, so that all stays in the cache."""
        near, key, upper = self._count_below(p, under)
        self.exact.take(under, out=near, mode="clip")
        np.equal(near, p, out=upper)
        np.multiply(upper, self.points, out=key)
        key += under
        self.cells.take(key, out=under, mode="clip")

    def _count_below(self, p: FloatArray, under: IndexArray) -> tuple[FloatArray, IndexArray, NDArray[np.bool_]]:
        """Put the number of cuts below each value into ``under``; what it needed room for can be used again."""
        near, key, upper = 1.0 - p, np.empty(len(p), dtype=np.int64), p > 0.5
        np.minimum(near, p, out=near)  # without rounding, where 1 − p is the smaller
        np.right_shift(near.view(np.int64), _SHIFT, out=key)
        key -= _DEEPEST << _BITS
        np.maximum(key, 0, out=key)
        np.multiply(upper, _STEPS, out=under)
        key += under
        self.start.take(key, out=under, mode="clip")
        for _ in range(self.most):
            self.edge.take(under, out=near, mode="clip")
            np.less(near, p, out=upper)
            under += upper
        return near, key, upper


@cache
def grid(dtype: np.dtype[Any]) -> Grid:
    """The cells for float32 or float64: values meet the cuts in their own precision, as they meet the edges of bins.

    Examples
    --------
    >>> half = grid(np.dtype(np.float64)).locate(np.array([0.5]))
    >>> [float(end[0]) for end in ends(half)]
    [0.5, 0.5]
    """
    if dtype not in (np.float32, np.float64):
        raise InputError(f"Only float32 and float64 probabilities fall into the cells of a reduced profile, not {dtype}.", value=dtype)
    all_cuts, point = cuts().astype(dtype).astype(np.float64), is_point()
    edge, first = np.unique(all_cuts, return_index=True)
    last = np.append(first[1:], len(all_cuts)) - 1
    owner = np.array([next((i for i in range(a, b + 1) if point[i]), -1) for a, b in zip(first, last, strict=True)])
    below = 2 * np.concatenate([[-1], last[:-1]]) + 1
    below[0] = 0
    exact = np.where(owner >= 0, edge, np.nan)
    start, most = _table(edge)
    return Grid(edge, exact, np.concatenate([below, np.where(owner >= 0, 2 * owner, below)]).astype(np.intp), start, most)


def table_place() -> tuple[int, int, int]:
    """Where a value is in the table: how far the bits of min(p, 1 − p) are shifted, what is taken away, what is added above ½."""
    return _SHIFT, _DEEPEST << _BITS, _STEPS


def _table(edge: FloatArray) -> tuple[IndexArray, int]:
    bits = (np.arange(_STEPS + 1, dtype=np.int64) + (_DEEPEST << _BITS)) << _SHIFT
    near = bits.view(np.float64)
    near[0] = 0.0
    least = np.searchsorted(edge, near[:-1], side="left")  # cuts < p for the smallest p of an entry
    most = np.searchsorted(edge, near[1:], side="left")
    low, high = np.searchsorted(edge, 1.0 - near[1:], side="left"), np.searchsorted(edge, 1.0 - near[:-1], side="left")
    return np.concatenate([least, low]).astype(np.intp), int(max((most - least).max(), (high - low).max()))
