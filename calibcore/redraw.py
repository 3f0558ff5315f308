"""Labels redrawn from the model's own probabilities, in groups of cells: what chance alone would show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Redraw", "group_starts"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_CHUNK = 2_000_000  # numbers drawn at a time


@dataclass(frozen=True, slots=True, eq=False)
class Redraw:
    """Groups of rows whose labels are redrawn together; arrays of shape (groups,).

    A redrawn residual is (Binomial(trials, probability) − trials·probability)·scale: exact for rows of equal
    probability and weight, with the right mean and variance otherwise.
    """

    probability: FloatArray
    trials: NDArray[np.int64]
    scale: FloatArray

    @classmethod
    def from_sums(cls, weight: FloatArray, weight_squared: FloatArray, confidence: FloatArray) -> Redraw:
        """From each group's Σw, Σw² and Σw·p."""
        trials = np.maximum(np.rint(weight**2 / weight_squared), 1).astype(np.int64)
        probability = np.clip(confidence / weight, 0.0, 1.0)
        return cls(probability, trials, np.sqrt(weight_squared / trials))

    def residuals(self, draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
        """Redrawn residuals, in arrays of shape (some draws, groups)."""
        expected = self.trials * self.probability
        chunk = max(1, _CHUNK // len(self.trials))
        for start in range(0, draws, chunk):
            size = (min(chunk, draws - start), len(self.trials))
            yield (rng.binomial(self.trials, self.probability, size) - expected) * self.scale


def group_starts(value: NDArray[Any], *, cuts: IndexArray, step: float, few: int) -> IndexArray:
    """First cell of each group: groups are cut at ``cuts`` and, beyond ``few`` cells, every ``step`` of the value."""
    if len(value) <= few:
        return np.arange(len(value))
    level = np.floor(value.astype(np.float64) / step)
    changes = np.flatnonzero(np.diff(level)) + 1
    starts = np.unique(np.concatenate([[0], changes, cuts]))
    return starts[starts < len(value)]
