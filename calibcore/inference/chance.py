"""What chance alone would show: labels redrawn from the model's own probabilities, on groups of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import needs
from calibcore.measures.noise_floor import noise_floor
from calibcore.partition import Partition, SharedTies
from calibcore.profile import Profile
from calibcore.redraw import Redraw, group_starts, redraw_groups

__all__ = ["DRAWS", "SWEEP_DRAWS", "ChanceRange", "ChanceSweep", "chance_range", "chance_sweep"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

DRAWS = 1000
SWEEP_DRAWS = 500
_FEW = 256  # cells up to which none are grouped
_STEP = 0.01  # width of a group; its variance is off by less than 0.2 %


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
    mean : float
        Mean of the redrawn ECE: the noise floor, drawn.
    floor : float
        The noise floor in closed form, as `noise_floor` gives it.
    """

    median: float
    p95: float
    p_value: float
    draws: int
    mean: float
    floor: float

    def to_dict(self) -> dict[str, float | int]:
        """As plain data."""
        return asdict(self)


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
    never cross a bin edge, so the cost does not depend on the number of rows.  Heavy rows are redrawn apart from light
    ones, which are redrawn as (Σw)²/Σw² equally weighted rows.  Rows of a cluster are redrawn together as far as their
    outcomes depend on each other (`calibcore.redraw.redraw_groups`).  Rows are independent otherwise.  The p-value says
    whether the observed ECE is larger than chance makes it; the ECE itself stays too large, by about ``mean`` if calibrated.

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
    needs(profile, Profile, "chance_range")
    needs(partition, (Partition, SharedTies), "chance_range")
    positions = np.asarray(partition.cut(profile.value), dtype=np.float64)
    redraw, group, share = _grouped(profile, positions)
    found = [_ece(_upto(r), r, group, share) for r in redraw.residuals(draws, np.random.default_rng(seed))]
    drawn = np.concatenate(found) / profile.weight_sum
    observed = float(np.sum(np.abs(profile.cumulative("residual").between(positions)))) / profile.weight_sum
    beyond = int(np.count_nonzero(drawn >= observed - 1e-12))
    return ChanceRange(
        median=float(np.median(drawn)),
        p95=float(np.quantile(drawn, 0.95)),
        p_value=(1 + beyond) / (draws + 1),
        draws=draws,
        mean=float(np.mean(drawn)),
        floor=noise_floor(profile, partition),
    )


@dataclass(frozen=True, slots=True)
class ChanceSweep:
    """Chance range of the ECE for many numbers of bins of one strategy; tuples of equal length."""

    n_bins: tuple[int, ...]
    median: tuple[float, ...]
    p95: tuple[float, ...]
    draws: int

    def __repr__(self) -> str:
        return f"<ChanceSweep: {len(self.n_bins)} numbers of bins, {self.draws:,} draws>"


def chance_sweep(profile: Profile, partitions: Sequence[Partition | SharedTies], *, draws: int = SWEEP_DRAWS, seed: int = 0) -> ChanceSweep:
    """`chance_range` for each of several partitions, from the same redrawn labels.

    Parameters
    ----------
    profile : Profile
    partitions : sequence of Partition or SharedTies
        Usually one strategy with rising numbers of bins.
    draws : int
        Fewer than for one partition: this is a background to read a curve against.
    seed : int
    """
    positions = [np.asarray(p.cut(profile.value), dtype=np.float64) for p in partitions]
    redraw, group, share = _grouped(profile, np.concatenate(positions))
    ends = np.cumsum([0, *(len(p) for p in positions)])
    parts = [slice(a, b) for a, b in pairwise(ends.tolist())]
    found = []
    for residuals in redraw.residuals(draws, np.random.default_rng(seed)):
        upto = _upto(residuals)
        found.append(np.array([_ece(upto, residuals, group[p], share[p]) for p in parts]))
    drawn = np.concatenate(found, axis=1) / profile.weight_sum
    median, p95 = (tuple(np.quantile(drawn, q, axis=1).tolist()) for q in (0.5, 0.95))
    return ChanceSweep(tuple(p.requested for p in partitions), median, p95, draws)


def _grouped(profile: Profile, positions: FloatArray) -> tuple[Redraw, IndexArray, FloatArray]:
    """Groups of cells that no position cuts, but for tied cells; each position's group and the share of it that lies before."""
    whole = np.floor(positions).astype(np.intp)
    cuts = np.unique(np.concatenate([whole, np.ceil(positions).astype(np.intp)]))
    starts = group_starts(profile.value, cuts=cuts, step=_STEP, few=_FEW)
    bounds = np.append(starts, len(profile))
    return redraw_groups(profile, starts), np.searchsorted(bounds, whole, side="right") - 1, positions - whole


def _upto(residuals: FloatArray) -> FloatArray:
    """Cumulative residuals of each draw, from 0."""
    sums = np.zeros((len(residuals), residuals.shape[1] + 1))
    np.cumsum(residuals, axis=1, out=sums[:, 1:])
    return sums


def _ece(upto: FloatArray, residuals: FloatArray, group: IndexArray, share: FloatArray) -> FloatArray:
    """Σ|residual of a bin| of each draw; the bins end at ``group`` plus a ``share`` of the group that is cut."""
    ends = upto[:, group]
    if share.any():
        ends = ends + residuals[:, np.minimum(group, residuals.shape[1] - 1)] * share
    return np.asarray(np.abs(np.diff(ends, axis=1)).sum(axis=1))
