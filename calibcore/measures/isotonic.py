"""The rising curve that fits the outcomes best (pool adjacent violators), and refits of it on groups of cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import needs
from calibcore.profile import Profile
from calibcore.redraw import cells_of, group_starts

__all__ = ["Blocks", "CellGroups", "IsotonicCurve", "cell_groups", "isotonic"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_FEW = 1024  # cells up to which none are grouped
_STEP = 0.001  # width of a group, unless it is cut by mass
_MASSES = 500  # cuts at quantiles, so that no group of several cells holds much more than 1/500 of the weight


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Ranges on which the curve is flat, in rising order; arrays of shape (blocks,).

    Attributes
    ----------
    low, high : array
        Smallest and largest value in the block.
    fitted : array
        The curve there: the (weighted) share of events in the block.
    weight : array
        Sum of the weights.
    count : array, int64
        Rows.
    """

    low: FloatArray
    high: FloatArray
    fitted: FloatArray
    weight: FloatArray
    count: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"<Blocks: {len(self):,} from {self.low[0]:.4g} to {self.high[-1]:.4g}>"

    def __post_init__(self) -> None:
        _protect(self, ("low", "high", "fitted", "weight", "count"))

    def __len__(self) -> int:
        return len(self.low)


@dataclass(frozen=True, slots=True, eq=False)
class IsotonicCurve:
    """Outcome of `isotonic`; arrays of shape (cells,).

    Attributes
    ----------
    value : array
        Distinct confidences, rising.
    fitted : array
        The curve at each value; never falls.
    weight : array
        Sum of the weights of each cell.
    blocks : Blocks
        The same in compact form, for drawing.
    """

    value: FloatArray
    fitted: FloatArray
    weight: FloatArray
    blocks: Blocks

    def __repr__(self) -> str:
        return f"<IsotonicCurve: {len(self.value):,} values in {len(self.blocks):,} blocks>"

    def __post_init__(self) -> None:
        _protect(self, ("value", "fitted", "weight"))

    def at(self, values: Any) -> FloatArray:
        """The curve at any values, shape as ``values``.

        Linear between neighbouring cells, so constant within a block; beyond the first and last cell the curve goes on
        level, where no row supports it.
        """
        return np.asarray(np.interp(np.asarray(values, dtype=np.float64), self.value, self.fitted), dtype=np.float64)

    def to_dict(self) -> dict[str, list[float]]:
        """The blocks as plain data."""
        return {k: getattr(self.blocks, k).tolist() for k in ("low", "high", "fitted", "weight", "count")}


def isotonic(profile: Profile) -> IsotonicCurve:
    """The never-falling curve of outcome against confidence that fits best: the CORP calibration curve.

    Parameters
    ----------
    profile : Profile

    Returns
    -------
    IsotonicCurve

    Notes
    -----
    Minimises Σw(y − c(p))² over all curves c that never fall, and assumes that the true one does not; the same curve
    minimises every other proper score.  Found by pooling adjacent violators: rows of equal confidence first, then
    neighbours in the wrong order.  No bins and nothing to tune.  It is fitted to the very rows it describes, so it
    follows their noise: steps of few rows, and the ends of the curve, which are often exactly 0 or 1, are no evidence by
    themselves.

    References
    ----------
    Ayer, Brunk, Ewing, Reid & Silverman (1955), doi:10.1214/aoms/1177728423;
    Dimitriadis, Gneiting & Jordan (2021), doi:10.1073/pnas.2016191118.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> curve = isotonic(Predictions.from_arrays([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8]).profile("positive"))
    >>> curve.fitted.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    needs(profile, Profile, "isotonic")
    positive, negative = profile.positive, np.maximum(profile.weight - profile.positive, 0)
    starts = _pooled(positive, negative)
    events, others = (np.add.reduceat(x, starts).astype(np.float64) for x in (positive, negative))
    fitted = np.maximum.accumulate(events / (events + others))
    value = np.asarray(profile.value, dtype=np.float64)
    bounds = np.append(starts, len(value))
    blocks = Blocks(
        value[starts],
        value[bounds[1:] - 1],
        fitted,
        np.add.reduceat(np.asarray(profile.weight, dtype=np.float64), starts),
        np.add.reduceat(profile.count, starts),
    )
    return IsotonicCurve(value, np.repeat(fitted, np.diff(bounds)), np.array(profile.weight, dtype=np.float64), blocks)


def _pooled(positive: NDArray[Any], negative: NDArray[Any]) -> IndexArray:
    """First cell of each block; blocks of equal share are one, whatever the rounding."""
    from scipy.optimize import isotonic_regression

    share = positive / (positive + negative)
    starts = np.flatnonzero(np.concatenate([[True], share[1:] > share[:-1]]))  # a block ends only where the share rises
    for _ in range(2):  # the shares of the second pass are those of whole blocks, rounded once
        events, others = (np.add.reduceat(x, starts) for x in (positive, negative))
        weight = events + others
        starts = starts[isotonic_regression(events / weight, weights=weight).blocks[:-1]]
    return starts


@dataclass(frozen=True, slots=True, eq=False)
class CellGroups:
    """Neighbouring cells taken together, so that redrawing and refitting do not depend on the number of rows; shape (groups,).

    Attributes
    ----------
    low, high : array
        Smallest and largest value.
    value : array
        Mean value, by weight.
    weight, positive : array
        Σw and Σw·y.
    starts : array of int
        First cell of each group.
    profile : Profile
    """

    low: FloatArray
    high: FloatArray
    value: FloatArray
    weight: FloatArray
    positive: FloatArray
    starts: IndexArray
    profile: Profile

    def __len__(self) -> int:
        return len(self.low)

    def fit(self, share: FloatArray) -> FloatArray:
        """Never-falling fit to a share of events for each group."""
        from scipy.optimize import isotonic_regression

        return np.asarray(isotonic_regression(share, weights=self.weight).x, dtype=np.float64)

    def miscalibration(self, share: FloatArray, fitted: FloatArray) -> FloatArray:
        """Mean squared error of the values less that of the fit; shapes (..., groups) give (...)."""
        terms = (self.value - fitted) * (self.value + fitted - 2 * share)
        return np.asarray(np.sum(terms * self.weight, axis=-1) / np.sum(self.weight))

    def effective_rows(self, first: IndexArray) -> FloatArray:
        """(Σw)²/Σw² of blocks of groups, each from its ``first`` group on; fewer where the rows of clusters go together."""
        profile, starts = self.profile, self.starts[first]
        weight, squared = (np.add.reduceat(np.asarray(x, dtype=np.float64), starts) for x in (profile.weight, profile.weight_squared))
        more = profile.dependence * profile.cluster_pairs(np.append(starts, len(profile)))
        return np.asarray(weight**2 / (squared + more))

    def refits(self, draws: int, seed: int, *, probability: FloatArray | None = None) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Shares of events redrawn from a probability for each group, the values themselves by default, and the fits to them.

        Both of shape (some draws, groups).  Weights and clusters are respected as `redraw_groups` does.
        """
        cells = cells_of(self.profile)
        if probability is not None:
            cells = replace(cells, probability=np.repeat(probability, np.diff(np.append(self.starts, len(self.profile)))))
        expected = self.value if probability is None else probability
        for residuals in cells.redraw(self.starts).residuals(draws, np.random.default_rng(seed)):
            shares = expected + residuals / self.weight
            yield shares, np.array([self.fit(s) for s in shares])


def cell_groups(profile: Profile, *, step: float = _STEP, masses: int = _MASSES, few: int = _FEW) -> CellGroups:
    """Groups of neighbouring cells: every cell its own up to ``few``, else cut every ``step`` and at ``masses`` quantiles.

    The cuts depend on the confidences and weights only, never on the outcomes.
    """
    upto = np.asarray(profile.weight_upto, dtype=np.float64)
    cuts = np.searchsorted(upto, np.arange(1, masses) / masses * upto[-1])
    starts = group_starts(profile.value, cuts=cuts, step=step, few=few)
    bounds = np.append(starts, len(profile))
    confidence, weight, positive = (profile.cumulative(q).between(bounds) for q in ("confidence", "weight", "positive"))
    value = profile.value.astype(np.float64)
    low, high = value[starts], value[bounds[1:] - 1]
    mean = np.clip(confidence / weight, low, high)
    return CellGroups(low, high, mean, weight, np.clip(positive, 0.0, weight), starts, profile)


def _protect(result: Any, names: tuple[str, ...]) -> None:
    for name in names:
        getattr(result, name).flags.writeable = False
