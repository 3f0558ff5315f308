"""Rows of one event without weights, however many, as a reduced profile: everything in one pass, in several threads."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from calibcore.compiled_cells import CompiledCells, pays
from calibcore.plain_cells import PlainCells
from calibcore.profile import Profile, Task
from calibcore.top_label import complement
from calibcore.totals import CLIP, Totals

__all__ = ["PlainRows"]

_LANES = 4  # threads; always as many, so that sums are the same on every machine
_BLOCK = 1 << 17  # values that the cache holds
_TOGETHER = 16  # probabilities of at least 2^-52 whose product is no less than 2^-832
_NEAR_ONE = 1 - 2.0**-10  # below it, 1 − p and what a person would write for it have the same logarithm to 1e-13


class PlainRows:
    """The rows of one view in the making.

    Parameters
    ----------
    expected : int
        How many rows there will be, as far as this is known.

    Examples
    --------
    >>> with PlainRows() as rows:
    ...     rows.add(np.array([0.25, 0.75]), np.array([False, True]))
    True
    >>> rows.profile("positive", "binary", 2)
    <Profile of the view 'positive': 2 rows in 2 cells, reduced>
    """

    def __init__(self, expected: int = 0) -> None:
        self.rows = self.events = 0
        self._expected = expected
        self._lanes = [_Lane() for _ in range(_LANES)]
        self._doing: list[Future[None] | None] = [None] * _LANES
        self._next = 0
        self._pool = ThreadPoolExecutor(_LANES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def add(self, value: NDArray[Any], event: NDArray[np.bool_]) -> bool:
        """Add rows, which must stay as they are; False where a value is no probability, and then none is added.

        Parameters
        ----------
        value : array of shape (n,), float32 or float64
        event : array of shape (n,), bool
        """
        if not (value.min() >= 0 and value.max() <= 1):  # NaN is neither
            return False
        lane, self._next = self._next, (self._next + 1) % _LANES
        if (before := self._doing[lane]) is not None:
            before.result()
        compiled = pays(max(self._expected, self.rows))
        self._doing[lane] = self._pool.submit(self._lanes[lane].add, value, event, compiled=compiled)
        self.rows += len(value)
        self.events += int(np.count_nonzero(event))
        return True

    def profile(self, view: str, task: Task, n_classes: int) -> Profile:
        """The profile of what was added."""
        for doing in self._doing:
            if doing is not None:
                doing.result()
        first, *others = [lane.profile(view, task, n_classes) for lane in self._lanes if lane.rows]
        for other in others:
            first = first + other
        return first


class _Lane:
    """What one thread at a time adds."""

    def __init__(self) -> None:
        self.rows = self.clipped = 0
        self.log_loss = 0.0
        self.cells: dict[np.dtype[Any], PlainCells] = {}
        self.compiled: CompiledCells | None = None

    def add(self, value: NDArray[Any], event: NDArray[np.bool_], *, compiled: bool) -> None:
        """Add rows of probabilities."""
        self.rows += len(value)
        if compiled and value.dtype == np.float64:
            self.compiled = self.compiled or CompiledCells()
            self.compiled.add(value, event)
            return
        if value.dtype not in self.cells:
            self.cells[value.dtype] = PlainCells(value.dtype)
        self.cells[value.dtype].add(value, event)
        for start in range(0, len(value), _BLOCK):
            part = slice(start, start + _BLOCK)
            log_loss, clipped = _log_loss(value[part], event[part])
            self.log_loss += log_loss
            self.clipped += clipped

    def profile(self, view: str, task: Task, n_classes: int) -> Profile:
        """The profile of what was added."""
        parts = [cells.inside() for cells in self.cells.values()]
        log_loss, clipped = self.log_loss, self.clipped
        if self.compiled is not None:
            parts.append(self.compiled.inside())
            log_loss, clipped = log_loss + self.compiled.log_loss, clipped + self.compiled.clipped
        inside = parts[0]
        for part in parts[1:]:
            inside = inside + part
        brier = float(inside.sums("squared_error").sum())
        return Profile.from_inside(inside, Totals(self.rows, 0, clipped, brier, log_loss), view=view, task=task, n_classes=n_classes)


def _log_loss(value: NDArray[Any], event: NDArray[np.bool_]) -> tuple[float, int]:
    """Sum of −log of the probability of what happened, and how many of these were raised to 2⁻⁵²."""
    if value.dtype == np.float64:
        happened = np.empty(len(value))
        np.copyto(happened, ~event)
        np.subtract(happened, value, out=happened)
        np.abs(happened, out=happened)  # |1 − p| or |0 − p|: a copy where the event happened would guess at every row
        far = np.flatnonzero((value > _NEAR_ONE) > event)
        happened[far] = complement(value[far])
    else:
        happened = complement(value).astype(np.float64)
        np.copyto(happened, value, where=event)
    clipped = 0
    if happened.min() < CLIP:
        clipped = int(np.count_nonzero(happened < CLIP))
        np.maximum(happened, CLIP, out=happened)
    whole = len(happened) // _TOGETHER * _TOGETHER
    products = np.multiply.reduce(happened[:whole].reshape(_TOGETHER, -1), axis=0)
    return -float(np.log(products).sum() + np.log(happened[whole:]).sum()), clipped
