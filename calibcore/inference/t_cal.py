"""T-Cal: a test of calibration that looks at the debiased squared error at many bin widths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log, log2, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import needs
from calibcore.errors import InputError
from calibcore.inference.chance import DRAWS
from calibcore.partition import Partition
from calibcore.profile import Profile
from calibcore.proportions import checked_level
from calibcore.redraw import Redraw, group_starts, redraw_groups

__all__ = ["TCal", "dpe_test", "scales", "t_cal"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_MAX_GROUPS = 4096  # cells up to which each is redrawn by itself, and filled bins up to which a scale is looked at
_MAX_CLUSTERED = 1024  # the same with clusters, where the sums of any two groups may depend on each other
_STEP = 0.001  # width of the groups that are redrawn together where there are more cells
_MAX_SCALE = 50  # 2⁵⁰·p is exact in doubles
_MAX_DRAWS = 100_000
_EQUAL = 1e-12  # statistics closer than this are equal


@dataclass(frozen=True, slots=True)
class TCal:
    """Outcome of `t_cal`; tuples hold one entry a scale.

    Attributes
    ----------
    n_bins : tuple of int
        Equal-width bins of each scale: 2, 4, 8, …
    statistic : tuple of float
        Debiased plug-in estimate (DPE) of the squared calibration error; with clusters the plug-in value less the mean of
        the redrawn ones, which estimates the same.
    p_value : tuple of float
        (1 + number of redrawn statistics at least as large)/(draws + 1), of each scale alone.
    critical : tuple of float
        The redrawn statistic that must be passed at each scale.
    rejected : bool
        Whether calibration is rejected: some scale has p ≤ (1 − level)/scales.
    level : float
    draws : int
        At least as many as make so small a p-value possible.
    capped : bool
        Whether finer scales of the published rule were left out.
    """

    n_bins: tuple[int, ...]
    statistic: tuple[float, ...]
    p_value: tuple[float, ...]
    critical: tuple[float, ...]
    rejected: bool
    level: float
    draws: int
    capped: bool

    def __repr__(self) -> str:
        found = "rejected" if self.rejected else "not rejected"
        return f"<TCal: {found} at {len(self.n_bins)} scales, adjusted p = {self.p_adjusted:.4g}>"

    @property
    def p_adjusted(self) -> float:
        """Smallest p-value times the number of scales (Bonferroni), at most 1."""
        return min(1.0, min(self.p_value) * len(self.p_value))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        scale = ("n_bins", "statistic", "p_value", "critical")
        rows = [dict(zip(scale, row, strict=True)) for row in zip(*(getattr(self, s) for s in scale), strict=True)]
        whole = ("p_adjusted", "rejected", "level", "draws", "capped")
        return {"scales": rows, **{name: getattr(self, name) for name in whole}}


def scales(n: int) -> int:
    """How many scales the published rule takes for ``n`` rows: ⌊2·log₂(n/√(log n))⌋, at least 1.

    Examples
    --------
    >>> scales(1000)
    17
    """
    return max(1, floor(2 * log2(n / sqrt(log(n))))) if n > 1 else 1


def t_cal(profile: Profile, *, level: float = 0.95, draws: int = DRAWS, seed: int = 0) -> TCal:
    """Test of calibration at 2, 4, 8, … equal-width bins.

    Parameters
    ----------
    profile : Profile
    level : float
        1 − size of the test.
    draws : int
        Redrawn label sets.
    seed : int

    Returns
    -------
    TCal

    Raises
    ------
    InputError
        If the level would need more than 100,000 draws.

    Notes
    -----
    The statistic of a scale is (1/n)·Σ_b [(Σr)² − Σr²]/n_b, r = event − value (with weights (1/W)·Σ_b [(Σwr)² − Σw²r²]/W_b).
    Labels are redrawn as Bernoulli(p) with the confidences as they are, and calibration is rejected where the statistic
    passes its 1 − α/L quantile at any of the L scales; rank p-values keep the size at most α = 1 − level.  The published
    code resamples the confidences too, and has bins [a, b) where these are (a, b].

    The published rule soon asks for more bins than rows.  Where there are more than 4,096 distinct confidences, scales
    stop at the finest with at most 4,096 filled bins (never before 4,096 bins), and rows closer than 0.001 in a bin are
    redrawn together: this bounds memory and is said in ``capped``.  A row alone in its bin adds nothing, so a fine scale sees ties only.

    With clusters the labels of a cluster are redrawn together as far as their outcomes depend on each other
    (`calibcore.redraw.redraw_groups`), and the statistic is (1/W)·Σ_b (Σwr)²/W_b less the mean of what is redrawn, for Σw²r² would leave in
    the pairs of rows that go together.  A constant does not change the p-value.  The limit is then 1,024 bins.

    Assumes independent clusters (rows, where there are none).  A test, not a size: it may reject at a large n for an error
    of no importance.

    References
    ----------
    Lee, Huang, Hassani & Dobriban (2023), arXiv:2203.01850.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> t = t_cal(Predictions.from_arrays([0] * 40, [0.7] * 40).profile("positive"))
    >>> t.rejected, t.n_bins[:3], round(t.statistic[0], 12)  # 39/40 · 0.7²
    (True, (2, 4, 8), 0.47775)
    """
    needs(profile, Profile, "t_cal")
    alpha = 1 - checked_level(level)
    asked = min(scales(profile.n), _MAX_SCALE)
    starts = _nested_starts(profile.value, asked, _most(profile))
    draws = _enough_draws(draws, len(starts) / alpha)
    observed, drawn = _redrawn(profile, starts, draws, seed)
    beyond = np.count_nonzero(drawn >= observed[:, None] - _EQUAL, axis=1)
    p_value = (1 + beyond) / (draws + 1)
    allowed = alpha / len(starts)
    rank = floor(allowed * (draws + 1) + 1e-9)  # so many of the redrawn, and the observed among them, may lie at or above
    critical = np.sort(drawn, axis=1)[:, draws - rank]
    return TCal(
        n_bins=tuple(2 ** (s + 1) for s in range(len(starts))),
        statistic=tuple(observed.tolist()),
        p_value=tuple(p_value.tolist()),
        critical=tuple(critical.tolist()),
        rejected=bool(np.any(p_value <= allowed + 1e-12)),
        level=level,
        draws=draws,
        capped=len(starts) < scales(profile.n),
    )


def dpe_test(profile: Profile, partition: Partition, *, draws: int = DRAWS, seed: int = 0) -> tuple[float, float]:
    """The statistic of one scale of T-Cal and its p-value, in any bins; clusters as in `t_cal`.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> p = Predictions.from_arrays([1, 1], [0.5, 0.5]).profile("positive")
    >>> statistic, p_value = dpe_test(p, Partition.equal_width(2), draws=4000)  # ±1/8, each with probability 1/2
    >>> statistic, round(p_value, 1)
    (0.125, 0.5)
    """
    positions = partition.cut(profile.value)
    observed, drawn = _redrawn(profile, [np.unique(positions[:-1][np.diff(positions) > 0])], draws, seed)
    beyond = int(np.count_nonzero(drawn >= observed[:, None] - _EQUAL))
    return float(observed[0]), (1 + beyond) / (draws + 1)


def _enough_draws(draws: int, needed: float) -> int:
    """``draws``, or as many as make the smallest p-value that counts possible."""
    if needed > _MAX_DRAWS:
        raise InputError(f"This level needs {needed:,.0f} draws; the limit is {_MAX_DRAWS:,}. Use a lower level, such as 0.99.")
    return max(draws, ceil(needed - 1e-9))


def _most(profile: Profile) -> int:
    """Cells, and filled bins of a scale, that can be redrawn one by one."""
    return _MAX_GROUPS if profile.clusters is None else min(_MAX_CLUSTERED, _MAX_GROUPS)


def _nested_starts(value: NDArray[Any], asked: int, most: int) -> list[IndexArray]:
    """First cell of each filled bin, for 2¹, 2², … bins (a, b]; fewer scales than asked where the groups would be too many."""
    bins = np.maximum(np.ceil(value.astype(np.float64) * 2.0**asked) - 1, 0).astype(np.int64)
    found = []
    for scale in range(1, asked + 1):
        index = bins >> (asked - scale)
        starts = np.flatnonzero(np.concatenate([[True], index[1:] != index[:-1]]))
        if len(value) > most and len(starts) > most:
            break
        found.append(starts)
    return found


def _redrawn(profile: Profile, starts: Sequence[IndexArray], draws: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """The statistic at nested partitions, coarse to fine: observed, shape (scales,), and redrawn, (scales, draws)."""
    fine = group_starts(profile.value, cuts=starts[-1], step=_STEP, few=_most(profile))
    bounds = np.append(fine, len(profile))
    names = ("weight", "weight_squared", "confidence", "residual", "residual_squared")
    weight, squared, confidence, residual, squares = (profile.cumulative(q).between(bounds) for q in names)
    inner = [np.searchsorted(fine, s) for s in starts]
    if profile.clusters is not None:
        chunks = redraw_groups(profile, fine).residuals(draws, np.random.default_rng(seed))
        return _centred(residual, chunks, weight, inner)
    redraw = Redraw.from_sums(weight, squared, confidence)
    observed = _statistics(residual[None], squares[None], weight, inner)[:, 0]
    # Σw²r² of a group of equal p is linear in its residual: k·(1 − 2p) + trials·p², times the squared scale
    slope = redraw.scale * (1 - 2 * redraw.probability)
    variance = redraw.scale**2 * redraw.trials * redraw.probability * (1 - redraw.probability)
    chunks = redraw.residuals(draws, np.random.default_rng(seed))
    return observed, np.concatenate([_statistics(r, r * slope + variance, weight, inner) for r in chunks], axis=1)


def _centred(
    residual: FloatArray, chunks: Iterator[FloatArray], weight: FloatArray, starts: Sequence[IndexArray]
) -> tuple[FloatArray, FloatArray]:
    """As `_redrawn`: the plug-in values, observed and redrawn, less the mean of the redrawn."""
    every = [_statistics(r, np.zeros_like(r), weight, starts) for r in (residual[None], *chunks)]
    drawn = np.concatenate(every[1:], axis=1)
    mean = drawn.mean(axis=1)
    return every[0][:, 0] - mean, drawn - mean[:, None]


def _statistics(residual: FloatArray, squares: FloatArray, weight: FloatArray, starts: Sequence[IndexArray]) -> FloatArray:
    """DPE at each of nested partitions, from the sums of groups: (draws, groups) gives (scales, draws); fine bins are added up."""
    found = np.zeros((len(starts), len(residual)))
    groups = np.arange(len(weight))
    for scale in range(len(starts) - 1, -1, -1):
        at = starts[scale]
        if len(at) < len(groups):
            merged = np.searchsorted(groups, at)
            residual, squares = (np.add.reduceat(a, merged, axis=1) for a in (residual, squares))
            weight, groups = np.add.reduceat(weight, merged), at
        elif scale < len(starts) - 1:  # the same bins as one scale finer
            found[scale] = found[scale + 1]
            continue
        total = float(np.sum(weight))
        found[scale] = np.sum((residual**2 - squares) / (weight * total), axis=1)
    return found
