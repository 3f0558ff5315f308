"""Rows as sums by cell and outcome, by NumPy alone, in as few passes as there can be."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.grid import Grid, grid
from calibcore.inside import Inside
from calibcore.reduction import inside_beyond

__all__ = ["PlainCells"]

_BLOCK = 1 << 17  # values that the cache holds while several passes go over them; many, since each count begins with a table of zeros
_STEPS = 1 << 17  # equal parts of [0, 1], of which few hold a cut; halved and halved again, so that multiplying is exact
FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


class PlainCells:
    """Rows of probabilities without weights, as sums by place and outcome.

    Parameters
    ----------
    dtype : dtype
        Of the values: float32 or float64.

    Notes
    -----
    A place is under a cut, or at a cut.  Of a value only its distance to that cut is summed, which is exact to subtract and
    small; under the first cut above 0 it is the value itself, since the distance would swallow it.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._grid = grid(dtype)
        self._places = len(self._grid.edge)
        self._count = np.zeros(4 * self._places, np.int64)
        self._sums = np.zeros((2, 4 * self._places))
        self._key, self._below = np.empty(_BLOCK, np.intp), np.empty(_BLOCK)
        self._whole, self._near = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.uint16)

    def add(self, value: NDArray[Any], event: NDArray[np.bool_]) -> None:
        """Add rows: their values, all in [0, 1], and whether the event happened."""
        for start in range(0, len(value), _BLOCK):
            rows = slice(start, start + _BLOCK)
            p = value[rows].astype(np.float64, copy=False)
            key, below = self._key[: len(p)], self._below[: len(p)]
            self._place(p, event[rows], key, below)
            self._add(key, below)

    def _place(self, p: FloatArray, event: NDArray[np.bool_], key: IndexArray, below: FloatArray) -> None:
        """Write twice the place plus the outcome into ``key``, and how far a value lies below its cut into ``below``."""
        g, whole, near = self._grid, self._whole[: len(p)], self._near[: len(p)]
        np.multiply(p, _STEPS, out=below)
        np.copyto(whole, below, casting="unsafe")
        np.copyto(key, whole)
        _start(g).take(key, out=near, mode="clip")
        np.copyto(key, near)
        g.edge.take(key, out=below, mode="clip")
        np.subtract(below, p, out=below)
        beyond = np.flatnonzero(np.signbit(below))
        if len(beyond):  # a cut lies within the part
            some = p[beyond]
            place = g.places(some)
            key[beyond], below[beyond] = place, np.where(place == 1, -some, g.edge[place] - some)
        at = np.flatnonzero(below == 0)
        key[at] += self._places
        np.add(key, key, out=key)
        np.copyto(whole, event)
        np.add(key, whole, out=key)

    def _add(self, key: IndexArray, below: FloatArray) -> None:
        self._count += np.bincount(key, minlength=len(self._count))
        for power in (0, 1):
            self._sums[power] += np.bincount(key, below, minlength=len(self._count))
            np.multiply(below, below, out=below)

    def inside(self) -> Inside:
        """What was added, by cell."""
        count = self._count.reshape(-1, 2)
        filled = np.flatnonzero(count.any(axis=1))
        edge = np.tile(self._grid.edge, 2)[filled]
        sign = np.where(edge > 0.5, 1.0, -1.0)[:, None]  # min(p, 1 − p) rises from the cut on where p falls, or the other way
        start = np.where(filled == 1, 0.0, np.minimum(edge, 1.0 - edge))
        below, squared = self._sums.reshape(2, -1, 2)[:, filled]
        sums: dict[str, NDArray[Any]] = {"weight": count[filled], "count": count[filled], "near": sign * below, "near_squared": squared}
        return inside_beyond(self._grid.cells[filled], sums, start)


@cache
def _start(g: Grid) -> NDArray[np.uint16]:
    """For each of the equal parts of [0, 1], and for 1: how many cuts are certainly below its values."""
    return np.searchsorted(g.edge, np.arange(_STEPS + 1) / _STEPS, side="left").astype(np.uint16)
