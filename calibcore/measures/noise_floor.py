"""Noise floor: the ECE that a calibrated model with these confidences shows on average, without drawing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.checks import needs
from calibcore.clusters import Clusters
from calibcore.partition import Partition, SharedTies
from calibcore.poisson_binomial import pmf
from calibcore.profile import Profile

__all__ = ["bin_variance", "noise_floor"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_SMALL = 64  # rows of a bin up to which the distribution of its count is worked out


def noise_floor(profile: Profile, partition: Partition | SharedTies, *, exact: bool = False) -> float:
    """Mean ECE under calibration: what sampling noise alone adds up to in these bins.

    Parameters
    ----------
    profile : Profile
    partition : Partition or SharedTies
        The bins; they stay as they are.
    exact : bool
        Take the exact mean absolute deviation where it is cheap instead of the normal one: bins of at most 64 rows,
        and larger bins that hold a single value; unweighted rows without clusters in a `Partition` only.

    Returns
    -------
    float
        Between 0 and 1.

    Notes
    -----
    Σ_b √(2·V_b/π)/W with V_b = Σw²·p(1 − p): the mean absolute value of a normal residual of variance V_b.  Given the
    confidences, the residual of a bin is a Poisson binomial count minus its mean, whose mean deviation may lie above or
    below the normal one, the less so the more rows a bin holds (0.2425 against 0.2197 for ten rows in five bins).  For one
    value p and n rows it is de Moivre's 2·m·C(n, m)·pᵐ·(1 − p)ⁿ⁻ᵐ⁺¹, m = ⌊n·p⌋ + 1.

    Rows of a cluster go together as far as `calibcore.clusters.dependence` finds: V_b then grows by the design effect of
    the bin, the number of rows of equal weight, (Σw)²/Σw², over its effective number, which allows for dependence.  It
    takes the rows of a cluster in a bin as of equal probability, and its sums as normal: with few clusters of rare events
    the drawn mean (the mean of `chance_range`) is the better one.  Assumes independent clusters (rows, where there are
    none) and bins that do not depend on the outcomes.  A tied block that is divided between bins gives each a share of
    the same noise.

    References
    ----------
    Bröcker & Smith (2007), doi:10.1175/WAF993.1; Roelofs et al. (2022), arXiv:2012.08668; Diaconis & Zabell (1991),
    doi:10.1214/ss/1177011699 (de Moivre's formula).

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> p = Predictions.from_arrays([1, 0, 1, 0], [0.5] * 4).profile("positive")
    >>> noise_floor(p, Partition.equal_width(10), exact=True)  # |k − 2|/4 with k binomial: (2·2 + 8·1 + 6·0)/16/4
    0.1875
    >>> round(noise_floor(p, Partition.equal_width(10)), 4)  # √(2/π)/4
    0.1995
    """
    needs(profile, Profile, "noise_floor")
    needs(partition, (Partition, SharedTies), "noise_floor")
    deviation = np.sqrt(2 / np.pi * bin_variance(profile, partition))
    if exact and not profile.weighted and profile.clusters is None and isinstance(partition, Partition):
        deviation = _exact_deviation(profile, partition.cut(profile.value), deviation)
    return float(np.sum(deviation) / profile.weight_sum)


def bin_variance(profile: Profile, partition: Partition | SharedTies) -> FloatArray:
    """Variance of each bin's residual Σw(event − value) under calibration, shape (bins,); clusters allowed for."""
    positions = partition.cut(profile.value)
    if isinstance(partition, SharedTies):
        return _shared_variance(profile, np.asarray(positions, dtype=np.float64))
    variance = np.maximum(profile.cumulative("variance").between(positions), 0.0)
    if profile.clusters is None:
        return variance
    pairs = profile.cluster_pairs(positions)
    return variance * _design_effect(profile.dependence * pairs, profile.cumulative("weight_squared").between(positions))


def _design_effect(more: FloatArray, squared: FloatArray) -> FloatArray:
    """1 + δ·Σw·w'/Σw² of each bin, δ the dependence; the pairs are those of rows of one cluster."""
    return 1 + np.divide(np.maximum(more, 0.0), squared, out=np.zeros(len(more)), where=squared > 0)


def _shared_variance(profile: Profile, positions: FloatArray) -> FloatArray:
    """`bin_variance` where cells are divided between bins."""
    variance = _shared_sum(profile, "variance", positions)
    if profile.clusters is None:
        return variance
    pairs = _pairs(profile.clusters, _overlaps(positions, np.arange(positions[-1] + 1)), len(positions) - 1)
    return variance * _design_effect(profile.dependence * pairs, _shared_sum(profile, "weight_squared", positions))


def _shared_sum(profile: Profile, quantity: str, positions: FloatArray) -> FloatArray:
    """Σ share²·quantity of each bin over its cells, share the part of a cell that lies in the bin."""
    first, stop = np.ceil(positions[:-1]), np.floor(positions[1:])
    ends = np.column_stack([first, np.maximum(first, stop)]).astype(np.intp)  # of the cells that lie wholly in a bin
    whole = profile.cumulative(quantity).between(ends.ravel())[::2]
    divided = np.unique(np.floor(positions[positions % 1 > 0]))
    cell, bin_, share = _overlaps(positions, np.concatenate([divided, divided + 1]))
    kept = np.flatnonzero(np.isin(cell, divided))
    sums = profile.cumulative(quantity).between(np.column_stack([cell, cell + 1])[kept].ravel())[::2]
    return np.maximum(whole + np.bincount(bin_[kept], share[kept] ** 2 * sums, minlength=len(whole)), 0.0)


def _overlaps(positions: FloatArray, bounds: NDArray[Any]) -> tuple[IndexArray, IndexArray, FloatArray]:
    """Which cell lies in which bin and with what share, by cell, then by bin; ``bounds`` are the ends of cells to look at.

    Arrays of shape (overlaps,).  Where an end of a cell is not among the bounds, that cell's entries mean nothing.
    """
    cuts = np.union1d(positions, bounds)
    middle, share = (cuts[:-1] + cuts[1:]) / 2, np.diff(cuts)
    return np.floor(middle).astype(np.intp), np.searchsorted(positions, middle) - 1, share


def _pairs(clusters: Clusters, overlaps: tuple[IndexArray, IndexArray, FloatArray], bins: int) -> FloatArray:
    """Σ w·w' over the ordered pairs of different rows of one cluster in each bin; a divided row counts by its share."""
    cell, bin_, share = overlaps
    first = np.searchsorted(cell, clusters.cell)
    times = np.searchsorted(cell, clusters.cell, side="right") - first
    entry = np.repeat(np.arange(len(times)), times)
    at = first[entry] + np.arange(len(entry)) - np.repeat(np.cumsum(times) - times, times)
    key, part = np.unique(clusters.cluster[entry] * bins + bin_[at], return_inverse=True)
    whole = np.bincount(part, share[at] * clusters.weight[entry]) ** 2 - np.bincount(part, share[at] ** 2 * clusters.weight_squared[entry])
    return np.asarray(np.bincount(key % bins, np.maximum(whole, 0.0), minlength=bins))


def _exact_deviation(profile: Profile, positions: NDArray[Any], normal: FloatArray) -> FloatArray:
    """Exact mean |residual| of the bins where it is cheap, ``normal`` of the others."""
    cells = np.diff(positions)
    count = profile.cumulative("count").between(positions)
    small = count <= _SMALL
    single = (cells == 1) & ~small
    value = profile.value.astype(np.float64)
    found = normal.copy()
    found[single] = _binomial_deviation(count[single], value[positions[:-1][single]])
    inside = np.repeat(small, cells)
    rows = np.repeat(value[inside], profile.count[inside])
    found[small] = _poisson_binomial_deviation(rows, np.rint(count[small]).astype(np.intp))
    return found


def _binomial_deviation(n: FloatArray, p: FloatArray) -> FloatArray:
    """E|X − n·p| of X ~ Binomial(n, p)."""
    m = np.minimum(np.floor(n * p) + 1, n)
    log_choose = special.gammaln(n + 1) - special.gammaln(m + 1) - special.gammaln(n - m + 1)
    return np.asarray(2 * m * np.exp(log_choose + special.xlogy(m, p) + special.xlog1py(n - m + 1, -p)))


def _poisson_binomial_deviation(rows: FloatArray, sizes: NDArray[np.intp]) -> FloatArray:
    """E|X − Σp| of each bin, X a sum of independent Bernoulli(p); ``rows`` holds the p of bin after bin."""
    if not len(rows):
        return np.zeros(len(sizes))
    most = int(sizes.max())
    p = np.zeros((len(sizes), most))  # a row that is not there has p = 0
    p[np.arange(most) < sizes[:, None]] = rows
    return np.asarray(np.sum(pmf(p) * np.abs(np.arange(most + 1) - p.sum(axis=1, keepdims=True)), axis=1))
