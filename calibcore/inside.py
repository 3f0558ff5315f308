"""What the rows inside the cells of a reduced profile add up to, and the sums that statistics take from that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.grid import SIZE, ends, mirrored

__all__ = ["Inside"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """Sums over the rows of each cell of `calibcore.grid`, apart by outcome: arrays of shape (cells, 2), the event last.

    Attributes
    ----------
    cell : array of shape (cells,), int
        Numbers of the cells that hold rows, rising.
    count : array of shape (cells,), int64
        Rows, of either outcome.
    weight, weight_squared : array
        Σw and Σw²; both the number of rows without weights.
    near, near_squared : array
        Σw·q and Σw·q², where q = min(p, 1 − p) is the distance to the nearer end.
    heavy_near, heavy_near_squared : array
        Σw²·q and Σw²·q²; without weights the same.

    Notes
    -----
    A cell lies on one side of ½, so these give Σwp, Σwp² and Σw²p(1 − p) of it, and lose no digits where confidences
    crowd below 1: Σw(1 − p) is not the difference of two large numbers.  Mirroring p to 1 − p leaves them as they are.
    """

    cell: IndexArray
    count: NDArray[np.int64]
    weight: NDArray[Any]
    weight_squared: NDArray[Any]
    near: FloatArray
    near_squared: FloatArray
    heavy_near: FloatArray
    heavy_near_squared: FloatArray

    def __post_init__(self) -> None:
        for name in _FIELDS:
            getattr(self, name).flags.writeable = False

    @classmethod
    def from_cells(cls, cell: IndexArray, sums: dict[str, NDArray[Any]]) -> Inside:
        """From parts in any order that may share cells.

        Parameters
        ----------
        cell : array of shape (parts,), int
        sums : dict of name to array of shape (parts,) or (parts, 2)
            The attributes by name; without weights, those of squared weights are left out.
        """
        found, at = np.unique(cell, return_inverse=True)

        def added(values: NDArray[Any]) -> NDArray[Any]:
            summed = np.zeros((len(found), *values.shape[1:]), dtype=values.dtype)
            np.add.at(summed, at, values)
            return summed

        return cls(cell=found, **_complete({k: added(v) for k, v in sums.items()}))

    @property
    def weighted(self) -> bool:
        """Whether rows carry weights."""
        return self.weight_squared is not self.weight

    @property
    def high(self) -> NDArray[np.bool_]:
        """Which cells lie above ½, shape (cells,)."""
        return self.cell > SIZE // 2

    def __add__(self, other: Inside) -> Inside:
        weighted = self.weighted or other.weighted
        names = [n for n in _FIELDS[1:] if weighted or n not in _OF_WEIGHTS]
        sums = {n: np.concatenate([getattr(self, n), getattr(other, n)]) for n in names}
        return Inside.from_cells(np.concatenate([self.cell, other.cell]), sums)

    def part(self, keep: NDArray[np.bool_]) -> Inside:
        """Some of the cells, ``keep`` of shape (cells,)."""
        names = [n for n in _FIELDS if self.weighted or n not in _OF_WEIGHTS]
        kept = {n: getattr(self, n)[keep] for n in names}
        return Inside(kept.pop("cell"), **_complete(kept))

    def mirrored(self) -> Inside:
        """The same rows with 1 − p for p and the other outcome as the event."""
        names = [n for n in _FIELDS[2:] if self.weighted or n not in _OF_WEIGHTS]
        turned = {n: getattr(self, n)[::-1, ::-1] for n in names}
        return Inside(mirrored(self.cell[::-1]), self.count[::-1], **_complete(turned))

    def fields(self) -> dict[str, Any]:
        """The cells of a profile: value, count, weight, positive and their squares, by name.

        A cell's value is the mean of its rows, kept inside the cell.
        """
        weight, squared = self.weight.sum(axis=1), self.weight_squared.sum(axis=1)
        found = {"value": self.means, "count": self.count, "weight": weight, "positive": self.weight[:, 1]}
        if self.weighted:
            return {**found, "weight_squared": squared, "positive_squared": self.weight_squared[:, 1]}
        counts = {"weight": self.count, "weight_squared": self.count}
        return {**found, **counts, "positive_squared": found["positive"]}

    @property
    def means(self) -> FloatArray:
        """Mean p of each cell, kept inside the cell; shape (cells,)."""
        return np.asarray(np.clip(self.confidence.sum(axis=1) / self.weight.sum(axis=1), *ends(self.cell)), dtype=np.float64)

    @property
    def upper(self) -> FloatArray:
        """The largest value that each cell can hold, shape (cells,)."""
        return ends(self.cell)[1]

    def sums(self, quantity: str) -> FloatArray:
        """Sum over the rows of each cell, shape (cells,), as `calibcore.profile.Profile.cell_sums` names them.

        Exact but for ``"spread"`` with weights, which is rows × the weighted mean, and ``"skew"``, which takes a cell's mean for
        its rows.
        """
        return np.asarray(_SUMS[quantity](self), dtype=np.float64)

    @property
    def confidence(self) -> FloatArray:
        """Σw·p, apart by outcome, shape (cells, 2)."""
        return np.where(self.high[:, None], self.weight - self.near, self.near)

    @property
    def errors(self) -> FloatArray:
        """Σw·|event − p|, apart by outcome, shape (cells, 2): Σw·p of the rows without the event, Σw·(1 − p) of those with it."""
        return np.where(self.high[:, None] == _EVENT, self.near, self.weight - self.near)

    @property
    def swing(self) -> FloatArray:
        """How far Σw·(event − p) of any rows of a cell can lie from 0, shape (cells,): the larger of `errors`.

        0 where a cell holds one value, which no bin divides.
        """
        return np.where(self.cell % 2 == 0, 0.0, self.errors.max(axis=1))

    def squares(self, weight: NDArray[Any], near: FloatArray, near_squared: FloatArray) -> FloatArray:
        """Σ(event − p)², apart by outcome, with the weights of the given sums; shape (cells, 2)."""
        return np.where(self.high[:, None] == _EVENT, near_squared, weight - 2 * near + near_squared)

    @property
    def spread(self) -> FloatArray:
        """Σp(1 − p), whatever the weights, shape (cells,)."""
        mean = (self.near - self.near_squared).sum(axis=1) / self.weight.sum(axis=1)
        return np.asarray(mean * self.count, dtype=np.float64)


_SUMS: dict[str, Callable[[Inside], NDArray[Any]]] = {
    "confidence": lambda i: i.confidence.sum(axis=1),
    "confidence_of_events": lambda i: i.confidence[:, 1],
    "residual": lambda i: i.errors[:, 1] - i.errors[:, 0],
    "squared_error": lambda i: i.squares(i.weight, i.near, i.near_squared).sum(axis=1),
    "square": lambda i: np.where(i.high[:, None], i.weight - 2 * i.near + i.near_squared, i.near_squared).sum(axis=1),
    "residual_squared": lambda i: i.squares(i.weight_squared, i.heavy_near, i.heavy_near_squared).sum(axis=1),
    "variance": lambda i: (i.heavy_near - i.heavy_near_squared).sum(axis=1),
    "spread": lambda i: i.spread,
    "skew": lambda i: i.spread * (1 - 2 * i.means),
}
_FIELDS = tuple(f.name for f in fields(Inside))
_OF_WEIGHTS = ("weight_squared", "heavy_near", "heavy_near_squared")
_EVENT = np.array([False, True])


def _complete(sums: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Without weights, sums of squared weights are those of the weights."""
    if "weight_squared" in sums:
        return sums
    return {**sums, "weight_squared": sums["weight"], "heavy_near": sums["near"], "heavy_near_squared": sums["near_squared"]}
