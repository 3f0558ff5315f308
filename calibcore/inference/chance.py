"""What chance alone would show: labels redrawn from the model's own probabilities, on groups of cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.partition import Partition, SharedTies
from calibcore.profile import Profile

__all__ = ["DRAWS", "ChanceRange", "Redraw", "chance_range", "group_starts"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

DRAWS = 1000
_FEW = 256  # cells up to which none are grouped
_STEP = 0.01  # width of a group; its variance is off by less than 0.2 %
_CHUNK = 2_000_000  # numbers drawn at a time


@dataclass(frozen=True, slots=True)
class ChanceRange:
    """The ECE that a calibrated model with these confidences shows by chance.

    Attributes
    ----------
    median, p95 : float
        Of the redrawn ECE, in the shown bins.
    p_value : float
        (1 + number of redrawn ECE at least as large as the observed)/(draws + 1).
    draws : int
    """

    median: float
    p95: float
    p_value: float
    draws: int

    def to_dict(self) -> dict[str, float | int]:
        """As plain data."""
        return {"median": self.median, "p95": self.p95, "p_value": self.p_value, "draws": self.draws}


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


def chance_range(profile: Profile, partition: Partition | SharedTies, *, draws: int = DRAWS, seed: int = 0) -> ChanceRange:
    """Range of the ECE under calibration, in the given bins, and the p-value of the observed ECE.

    Parameters
    ----------
    profile : Profile
    partition : Partition or SharedTies
        The shown bins; they stay as they are in every draw.
    draws : int
    seed : int

    Notes
    -----
    Every label is redrawn as Bernoulli(p) from the model's own probability, on groups of cells no wider than 0.01 that
    never cross a bin edge, so the cost does not depend on the number of rows.  Assumes independent rows; a weighted
    group is redrawn as (Σw)²/Σw² equally weighted rows.

    References
    ----------
    Bröcker & Smith (2007), doi:10.1175/WAF993.1; Vaicenavicius et al. (2019), arXiv:1902.06977.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> p = Predictions.from_arrays([1, 0, 1, 0], [0.5] * 4).profile("positive")
    >>> c = chance_range(p, Partition.equal_width(10))
    >>> c.p_value, c.p95
    (1.0, 0.5)
    """
    positions = np.asarray(partition.cut(profile.value), dtype=np.float64)
    whole = np.floor(positions).astype(np.intp)
    cuts = np.unique(np.concatenate([whole, np.ceil(positions).astype(np.intp)]))
    starts = group_starts(profile.value, cuts=cuts, step=_STEP, few=_FEW)
    bounds = np.append(starts, len(profile))
    redraw = Redraw.from_sums(*(profile.cumulative(q).between(bounds) for q in ("weight", "weight_squared", "confidence")))
    group = np.searchsorted(bounds, whole, side="right") - 1
    share = positions - whole
    drawn = np.concatenate([_ece(r, group, share) for r in redraw.residuals(draws, np.random.default_rng(seed))]) / profile.weight_sum
    observed = float(np.sum(np.abs(profile.cumulative("residual").between(positions)))) / profile.weight_sum
    beyond = int(np.count_nonzero(drawn >= observed - 1e-12))
    return ChanceRange(float(np.median(drawn)), float(np.quantile(drawn, 0.95)), (1 + beyond) / (draws + 1), draws)


def _ece(residuals: FloatArray, group: IndexArray, share: FloatArray) -> FloatArray:
    """Σ|residual of a bin| of each draw; the bins end at ``group`` plus a ``share`` of the group that is cut."""
    sums = np.zeros((len(residuals), residuals.shape[1] + 1))
    np.cumsum(residuals, axis=1, out=sums[:, 1:])
    ends = sums[:, group]
    if share.any():
        ends = ends + residuals[:, np.minimum(group, residuals.shape[1] - 1)] * share
    return np.asarray(np.abs(np.diff(ends, axis=1)).sum(axis=1))
