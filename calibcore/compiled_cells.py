"""The inner loop of reductions, compiled by Numba where it is installed and the rows are many: optional, and the same in its counts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.grid import Grid, grid, table_place
from calibcore.inside import Inside
from calibcore.reduction import inside_beyond

__all__ = ["CompiledCells", "pays"]

ENOUGH_LOADED, ENOUGH = 2_000_000, 50_000_000  # rows from which the loop repays its loading: with Numba there already, and not
_CHUNK = 512  # rows whose intermediate results stay in the fastest cache
_TOGETHER = 16  # probabilities of at least 2^-52 whose product is no less than 2^-832
FloatArray = NDArray[np.float64]
Loop = Callable[..., tuple[float, int]]


def pays(rows: int) -> bool:
    """Whether so many rows repay the loading of Numba, if it is there."""
    if "numba" in sys.modules:
        return rows >= ENOUGH_LOADED and _loop() is not None
    return rows >= ENOUGH and find_spec("numba") is not None and _loop() is not None


@cache
def _loop() -> Loop | None:
    try:
        import numba

        return numba.njit(cache=True, nogil=True, error_model="numpy")(_added)  # type: ignore[no-any-return]
    except (ImportError, RuntimeError):  # a damaged installation; no folder that the machine code could be kept in
        return None


class CompiledCells:
    """Rows of probabilities in float64, as sums by cell and outcome, with their log loss; `pays` must have said so before.

    Attributes
    ----------
    log_loss : float
        Sum of −log of the probability of what happened, which is raised to 2⁻⁵².
    clipped : int
        How many were raised.
    """

    def __init__(self) -> None:
        self.log_loss, self.clipped = 0.0, 0
        self._grid = grid(np.dtype(np.float64))
        self._places = len(self._grid.edge)
        self._start = self._grid.start.astype(np.uint16)
        self._sums = np.zeros((4 * self._places, 3))

    def add(self, value: FloatArray, event: NDArray[np.bool_]) -> None:
        """Add rows, whose values are probabilities."""
        loop, sums = _loop(), np.zeros_like(self._sums)
        assert loop is not None
        g = self._grid
        log_loss, clipped = loop(_read_only(value), _read_only(event.view(np.uint8)), g.edge, self._start, g.most, *table_place(), sums)
        self._sums += sums
        self.log_loss += log_loss
        self.clipped += clipped

    def inside(self) -> Inside:
        """What was added, by cell."""
        by_place = self._sums.reshape(2 * self._places, 2, 3)
        filled = np.flatnonzero(by_place[:, :, 0].any(axis=1))
        sums: dict[str, NDArray[Any]] = {n: by_place[filled, :, i] for i, n in enumerate(("weight", "near", "near_squared"))}
        sums["count"] = sums["weight"] = np.rint(sums["weight"]).astype(np.int64)
        return inside_beyond(self._grid.cells[filled], sums, _starts(self._grid)[filled])


def _starts(g: Grid) -> FloatArray:
    """From where on min(p, 1 − p) is counted: under a cut from the end of the cell that is nearer to 0 or 1, at a cut from there."""
    under = np.where(g.edge > 0.5, g.edge, np.concatenate([[0.0], g.edge[:-1]]))
    start = np.concatenate([under, g.edge])
    return np.asarray(np.minimum(start, 1.0 - start))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """One kind of array for the compiler, which would make a loop of its own for arrays that can be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def _added(  # noqa: C901, PLR0912, PLR0913, PLR0917 - one loop, in steps that the compiler can do for several rows at once
    value: Any, event: Any, edge: Any, start: Any, most: int, shift: int, deepest: int, steps: int, sums: Any
) -> tuple[float, int]:
    """Add rows to ``sums``, shape (2 places · 2 outcomes, 3): their number, and Σ and Σ² of how far they lie beyond the cell's start."""
    places, one, two = np.uintp(len(edge)), np.uintp(1), np.uintp(2)
    place, beyond, happened = np.empty(_CHUNK, np.uintp), np.empty(_CHUNK), np.empty(_CHUNK)
    bits = beyond.view(np.int64)
    log_loss, clipped = 0.0, 0
    for first in range(0, len(value), _CHUNK):
        p, e = value[first : first + _CHUNK], event[first : first + _CHUNK]
        n = len(p)
        low = False
        for i in range(n):
            beyond[i] = min(1.0 - p[i], p[i])
            happened[i] = p[i] if e[i] else 1.0 - p[i]
            low |= happened[i] < 0.0009765625
        for i in range(n):
            place[i] = np.uintp(max((bits[i] >> shift) - deepest, 0) + (steps if p[i] > 0.5 else 0))
        for i in range(n):
            place[i] = np.uintp(start[place[i]])
        for _ in range(most):
            for i in range(n):
                place[i] += np.uintp(edge[place[i]] < p[i])
        for i in range(n):
            at, upper = np.uintp(edge[place[i]] == p[i]), np.uintp(p[i] > 0.5)
            beyond[i] = abs(p[i] - edge[place[i] + (at | upper) - one])
            place[i] = two * (place[i] + places * at) + np.uintp(e[i])
        for i in range(n):
            sums[place[i], 0] += 1.0
            sums[place[i], 1] += beyond[i]
            sums[place[i], 2] += beyond[i] * beyond[i]
        if low:
            for i in range(n):
                if happened[i] < 0.0009765625 and not e[i]:  # as a person would write it, as `calibcore.top_label.complement` has it
                    rounded = np.rint(happened[i] * 1e15) / 1e15
                    if np.rint((1.0 - rounded) * 1e15) / 1e15 == p[i]:
                        happened[i] = rounded
                if happened[i] < 2.220446049250313e-16:
                    happened[i] = 2.220446049250313e-16
                    clipped += 1
        for i in range(n, _CHUNK):
            happened[i] = 1.0
        for i in range(_CHUNK // _TOGETHER):
            product = happened[i]
            for k in range(1, _TOGETHER):
                product *= happened[i + k * (_CHUNK // _TOGETHER)]
            log_loss -= np.log(product)
    return log_loss, clipped
