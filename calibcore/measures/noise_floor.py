"""Noise floor: the ECE that a calibrated model with these confidences shows on average, without drawing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.partition import Partition, SharedTies
from calibcore.profile import Profile

__all__ = ["bin_variance", "noise_floor"]

FloatArray = NDArray[np.float64]

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
        and larger bins that hold a single value; unweighted rows in a `Partition` only.

    Returns
    -------
    float
        Between 0 and 1.

    Notes
    -----
    Σ_b √(2·V_b/π)/W with V_b = Σw²·p(1 − p): the mean absolute value of a normal residual of variance V_b.  Given the
    confidences, the residual of a bin is a Poisson binomial count minus its mean, whose mean deviation may lie above or
    below the normal one, the less so the more rows a bin holds (0.2425 against 0.2197 for ten rows in five bins).  For one
    value p and n rows it is de Moivre's 2·m·C(n, m)·pᵐ·(1 − p)ⁿ⁻ᵐ⁺¹, m = ⌊n·p⌋ + 1.  Assumes independent rows
    (where the rows of a cluster go together, the drawn mean, `ChanceRange.mean`, is larger) and bins that do not depend
    on the outcomes.  A tied block that is divided between bins gives each a share of the same noise.

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
    deviation = np.sqrt(2 / np.pi * bin_variance(profile, partition))
    if exact and not profile.weighted and isinstance(partition, Partition):
        deviation = _exact_deviation(profile, partition.cut(profile.value), deviation)
    return float(np.sum(deviation) / profile.weight_sum)


def bin_variance(profile: Profile, partition: Partition | SharedTies) -> FloatArray:
    """Variance of each bin's residual Σw(event − value) under calibration, shape (bins,)."""
    positions = partition.cut(profile.value)
    variance = profile.cumulative("variance")
    if not isinstance(partition, SharedTies):
        return np.maximum(variance.between(positions), 0.0)
    cell = np.asarray(profile.cell_sums("variance"), dtype=np.float64)
    upto = np.concatenate([[0.0], variance.upto])
    start, stop = positions[:-1], positions[1:]
    first, last = np.ceil(start).astype(np.intp), np.floor(stop).astype(np.intp)
    ends = np.minimum(np.floor([start, stop]).astype(np.intp), len(cell) - 1)
    one_cell = first > last
    head = np.where(one_cell, stop - start, first - start)
    tail = np.where(one_cell, 0.0, stop - last)
    whole = np.where(one_cell, 0.0, upto[np.maximum(first, last)] - upto[first])
    return np.asarray(np.maximum(whole, 0.0) + head**2 * cell[ends[0]] + tail**2 * cell[ends[1]])


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
    chance = np.zeros((len(sizes), most + 1))
    chance[:, 0] = 1.0
    for q in p.T:
        chance[:, 1:] += (chance[:, :-1] - chance[:, 1:]) * q[:, None]
        chance[:, 0] *= 1 - q
    return np.asarray(np.sum(chance * np.abs(np.arange(most + 1) - p.sum(axis=1, keepdims=True)), axis=1))
