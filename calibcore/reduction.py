"""Rows added to the cells of a reduced profile, block by block, without sorting them and without keeping them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.grid import SIZE, ends, grid
from calibcore.inside import Inside
from calibcore.later import Memo
from calibcore.profile import Profile, Task
from calibcore.totals import Totals

__all__ = ["Reduction", "inside_beyond"]

FloatArray = NDArray[np.float64]
_BLOCK = 1 << 17  # rows
_PLAIN = ("near", "near_squared")
_WEIGHTED = ("weight", "near", "near_squared", "weight_squared", "heavy_near", "heavy_near_squared")


class Reduction:
    """The rows of one view, as sums by cell and outcome.

    Parameters
    ----------
    sparse : bool
        Keep sums for the cells that hold rows only, which takes less memory and more time: for many views and groups.

    Notes
    -----
    Values are met in their own precision: float32 values the cuts as float32 numbers.  float16 has so few values that each is a
    cell of its own, and the profile is exact.

    Examples
    --------
    >>> r = Reduction()
    >>> r.add(np.array([0.25, 0.75]), np.array([False, True]))
    >>> r.profile(Totals(2)).positive.tolist()
    [0, 1]
    """

    __slots__ = ("_exact", "_inside", "_sparse", "_sums", "_weighted")

    def __init__(self, *, sparse: bool = False) -> None:
        self._sparse = sparse
        self._inside: Inside | None = None
        self._sums: dict[str, NDArray[Any]] = {}
        self._weighted = False
        self._exact: Profile | None = None

    def add(self, value: NDArray[Any], event: NDArray[np.bool_], weight: FloatArray | None = None) -> None:
        """Add rows.

        Parameters
        ----------
        value : array of shape (n,), float16, float32 or float64
            Probabilities in [0, 1].
        event : array of shape (n,), bool
        weight : array of shape (n,), optional
            Positive; given for all rows or for none.
        """
        if value.dtype.itemsize == 2:
            rows = Profile.from_rows(value, event, weight=weight)
            self._exact = rows if self._exact is None else self._exact + rows
            return
        self._weighted = weight is not None
        for start in range(0, len(value), _BLOCK):
            rows_of = slice(start, start + _BLOCK)
            self._add(value[rows_of], event[rows_of], None if weight is None else weight[rows_of])
        if self._sparse:
            self._inside, self._sums = self.inside(), {}

    def _add(self, value: NDArray[Any], event: NDArray[np.bool_], weight: FloatArray | None) -> None:
        cell = grid(value.dtype).locate(value)
        beyond = _nearest_ends().take(cell, mode="clip")
        near = 1.0 - value.astype(np.float64)
        np.minimum(near, value, out=near)
        np.subtract(near, beyond, out=beyond)
        cell += cell
        cell += event
        self._sum("count", cell, None)
        if weight is None:
            for name in _PLAIN:
                self._sum(name, cell, beyond)
                np.multiply(beyond, beyond, out=beyond)
            return
        squared = weight**2
        for name, values in zip(_WEIGHTED, _products(weight, beyond) + _products(squared, beyond), strict=True):
            self._sum(name, cell, values)

    def _sum(self, name: str, key: NDArray[np.intp], values: FloatArray | None) -> None:
        sums = np.bincount(key, values, minlength=2 * SIZE)
        if name in self._sums:
            self._sums[name] += sums
        else:
            self._sums[name] = sums

    def inside(self) -> Inside:
        """What was added, by cell."""
        if not self._sums and self._inside is not None:
            return self._inside
        sums = {name: values.reshape(SIZE, 2) for name, values in self._sums.items()}
        filled = np.flatnonzero(sums["count"].any(axis=1))
        kept = {name: values[filled] for name, values in sums.items()}
        if not self._weighted:
            kept["weight"] = kept["count"]
        found = inside_beyond(filled, kept, _nearest_ends()[filled])
        return found if self._inside is None else self._inside + found

    def profile(self, totals: Totals, *, view: str = "top_label", task: Task = "top_label", n_classes: int = 0) -> Profile:
        """The profile of what was added."""
        if self._exact is not None:
            return replace(self._exact, view=view, totals=totals, task=task, n_classes=n_classes, _memo=Memo())
        return Profile.from_inside(self.inside(), totals, view=view, task=task, n_classes=n_classes)


@cache
def _nearest_ends() -> FloatArray:
    """The smallest min(p, 1 − p) of each cell, shape (cells,)."""
    low, high = ends(np.arange(SIZE))
    found = np.minimum(low, 1.0 - high)
    found.flags.writeable = False
    return found


def inside_beyond(cell: NDArray[np.intp], sums: dict[str, NDArray[Any]], start: FloatArray) -> Inside:
    """The sums inside cells, from sums of how far min(p, 1 − p) lies beyond a start that all rows of a part share.

    What they share is multiplied by their number and not added up row by row: equal values lose nothing, others the less, the
    narrower the cell.

    Parameters
    ----------
    cell : array of shape (parts,), int
    sums : dict of name to array of shape (parts, 2)
        As `Inside` has them, apart by outcome.
    start : array of shape (parts,)
    """
    found, s = dict(sums), start[:, None]
    for weight, near, squared in (("weight", "near", "near_squared"), ("weight_squared", "heavy_near", "heavy_near_squared")):
        if near in sums:
            found[near] = sums[weight] * s + sums[near]
            found[squared] = sums[weight] * s**2 + 2 * s * sums[near] + sums[squared]
    return Inside.from_cells(cell, {**found, "count": sums["count"].sum(axis=1)})


def _products(weight: FloatArray, near: FloatArray) -> list[FloatArray]:
    return [weight, weight * near, weight * near * near]
