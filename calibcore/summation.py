"""Sums that do not depend on the order of the rows and lose no digit, however many rows there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cumulative", "split", "total", "total_of"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


_TINY = 1e-280  # below it the grid would underflow
_BLOCK = 64  # cells summed once and for all; a sum up to a position adds part of a block to them
_CHUNK = 256 * _BLOCK  # numbers that stay in the processor's cache while several passes go over them


def split(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split into multiples of a grid, whose sums are exact, and remainders far below the last digit."""
    return _split(values, _grid(values))


def _grid(values: Any) -> float:
    """A power of two whose multiples near these values have exact sums; 0 where there is none."""
    bound = sum(float(np.sum(np.abs(part))) for part in _chunks(values))
    if bound < _TINY or not np.isfinite(bound):
        return 0.0
    return float(2.0 ** (np.ceil(np.log2(bound)) + 1 - 52))


def _split(values: FloatArray, grid: float) -> tuple[FloatArray, FloatArray]:
    if grid == 0.0:
        return values, np.zeros_like(values)
    coarse = np.rint(values * (1 / grid))
    coarse *= grid
    return coarse, values - coarse


def _chunks(values: Any) -> Iterator[NDArray[Any]]:
    return (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))


def total(values: NDArray[Any]) -> float:
    """Sum of ``values``, shape (n,), right to the last digit and the same for every order of the rows.

    Notes
    -----
    Each value is split into a multiple of a power of two so large that all partial sums are exact, and a rest.  The
    rounding error is about n·2⁻¹⁰⁵ of the sum instead of n·2⁻⁵³.

    Examples
    --------
    >>> total(np.array([0.1] * 10))
    1.0
    """
    if values.dtype.kind in "bi":
        return float(np.sum(values, dtype=np.int64))
    floats = np.asarray(values, dtype=np.float64)
    grid, coarse, rest = _grid(floats), 0.0, 0.0
    for part in _chunks(floats):
        whole, left = _split(part, grid)
        coarse += float(np.sum(whole))
        rest += float(np.sum(left))
    return coarse + rest


def total_of(make: Callable[..., NDArray[Any]], *arrays: Any) -> float:
    """`total` of what ``make`` gives for arrays of shape (n,), in parts that stay in the processor's cache.

    Examples
    --------
    >>> total_of(lambda x, y: x * y, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    parts = zip(*(_chunks(a) for a in arrays), strict=True)
    return fsum(total(make(*part)) for part in parts)


class Cumulative:
    """Cumulative sums of one quantity over sorted cells, from which the sum between any two positions is exact.

    A position is a number of cells counted from the left; a fractional one takes that share of the cell it falls in,
    which is how tied rows are divided between two bins.

    Parameters
    ----------
    values : array of shape (cells,), or what gives parts of one
        Integers are summed as integers, floats as in `total`.

    Notes
    -----
    Kept are the sums of blocks of 64 cells, which cost one pass over memory; what lies between a block and a position is
    added when it is asked for.
    """

    __slots__ = ("_blocks", "_full", "_grid", "_values")

    def __init__(self, values: Any) -> None:
        self._full: tuple[NDArray[Any], ...] | None = None
        self._grid: float | None = None
        if values.dtype.kind not in "iu":
            if isinstance(values, np.ndarray):
                values = np.ascontiguousarray(values, dtype=np.float64)
            self._grid = _grid(values)
        self._values = values
        sums = [tuple(_block_sums(p) for p in self._parts(chunk)) for chunk in _chunks(values)]
        self._blocks = tuple(_prefix(np.concatenate(parts)) for parts in zip(*sums, strict=True)) or self._whole()

    def _parts(self, values: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Arrays of the same shape that add up to the values, each with exact or negligible sums."""
        return (values,) if self._grid is None else _split(values, self._grid)

    def _whole(self) -> tuple[NDArray[Any], ...]:
        """Sums up to every position, shape (cells + 1,), of each part; made once, where many are asked for."""
        if self._full is None:
            self._full = tuple(_prefix(part) for part in self._parts(self._values[:]))
        return self._full

    def _upto(self, whole: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Sums up to whole positions, of each part."""
        if self._full is not None or len(whole) * _BLOCK > len(self._values):
            return [sums[whole] for sums in self._whole()]
        block, more = np.divmod(whole, _BLOCK)
        inside = np.arange(_BLOCK) + (block * _BLOCK)[:, np.newaxis]
        near = self._values[np.minimum(inside, len(self._values) - 1)]
        near[np.arange(_BLOCK) >= more[:, np.newaxis]] = 0
        return [sums[block] + part.sum(axis=1) for sums, part in zip(self._blocks, self._parts(near), strict=True)]

    def between(self, positions: NDArray[Any]) -> FloatArray:
        """Sums between neighbouring ``positions``: shape (m + 1,) gives shape (m,)."""
        whole = np.floor(positions).astype(np.intp)
        coarse, *rest = self._upto(whole)
        sums: FloatArray = np.diff(coarse).astype(np.float64)
        for part in rest:
            sums = sums + np.diff(part)
        if np.issubdtype(positions.dtype, np.floating):
            share = positions - whole
            inside = self._values[np.minimum(whole, len(self._values) - 1)] * share
            sums = sums + np.diff(inside)
        return sums

    @property
    def total(self) -> float:
        """Sum of all cells."""
        return float(sum(float(sums[-1]) for sums in self._blocks))

    @property
    def upto(self) -> NDArray[Any]:
        """Sum up to and including each cell, shape (cells,)."""
        if self._grid is None or self._full is not None:
            parts = [sums[1:] for sums in self._whole()]
            return parts[0] if len(parts) == 1 else parts[0] + parts[1]
        found = np.empty(len(self._values))
        for start, part in zip(range(0, len(found), _CHUNK), _chunks(self._values), strict=True):
            sums = np.cumsum(part, out=found[start : start + _CHUNK])  # of so few numbers, on top of sums that are exact
            sums += sum(s[start // _BLOCK] for s in self._blocks)
        return found


def _block_sums(values: NDArray[Any]) -> NDArray[Any]:
    """Sums of 64 values each, the last of what is left."""
    whole = len(values) // _BLOCK * _BLOCK
    sums = np.einsum("ij->i", values[:whole].reshape(-1, _BLOCK))
    return sums if whole == len(values) else np.append(sums, values[whole:].sum())


def _prefix(values: NDArray[Any]) -> NDArray[Any]:
    sums = np.zeros(len(values) + 1, dtype=values.dtype)
    np.cumsum(values, out=sums[1:])
    return sums
