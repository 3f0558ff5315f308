"""How many of some rows will be events, where each row has its own probability: quantiles of that count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.partition import Partition
from calibcore.summation import Cumulative, split

__all__ = ["EXACT_ROWS", "Cells", "Members", "Moments", "Rows", "count_quantiles", "matched_quantile", "pmf"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

EXACT_ROWS = 256  # of a bin, up to which the distribution is computed exactly
_SLACK = 1e-12  # a cumulative probability this close below q counts as q: sums of rounded numbers must not miss a tie
_LITTLE = 100.0  # variance up to which a bin with rows on both sides of 1/2 is looked at side by side
_CERTAIN = 1e-14  # variance up to which a count is taken as sure: any other has less probability than the slack
_NOISE = 4e-15
_AT_ONCE = 1_000_000  # probabilities of exact bins that are worked on at a time


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Of the number of events in each bin, all rows independent; arrays of shape (bins,).

    Attributes
    ----------
    rows : array
    mean, variance, third : array
        Σp, Σp(1 − p) and Σp(1 − p)(1 − 2p).
    """

    rows: FloatArray
    mean: FloatArray
    variance: FloatArray
    third: FloatArray


class Members(Protocol):
    """The probabilities in the bins of a partition, however they are held."""

    def spread(self) -> tuple[FloatArray, FloatArray]:
        """Σp(1 − p) and Σp(1 − p)(1 − 2p) of the rows of each bin, not weighted."""
        ...

    def probabilities(self, bins: IntArray) -> list[FloatArray]:
        """One rising array per bin: the probability of each of its rows."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Bins of sorted cells: distinct values, how many rows have each, and where the bins are cut."""

    value: NDArray[Any]
    count: IntArray
    positions: NDArray[np.intp]
    cumulative: Callable[[], tuple[Cumulative, Cumulative]]

    def spread(self) -> tuple[FloatArray, FloatArray]:
        """See `Members`."""
        variance, third = self.cumulative()
        return variance.between(self.positions), third.between(self.positions)

    def probabilities(self, bins: IntArray) -> list[FloatArray]:
        """See `Members`."""
        ends = [slice(self.positions[b], self.positions[b + 1]) for b in bins]
        return [np.repeat(self.value[e].astype(np.float64), self.count[e]) for e in ends]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Bins of rows in any order; the rows are looked at only when asked for."""

    value: NDArray[Any]
    partition: Partition

    def spread(self) -> tuple[FloatArray, FloatArray]:
        """See `Members`."""
        index = self.partition.locate(self.value)
        p = self.value.astype(np.float64)
        spread = p * (1 - p)

        def per_bin(values: FloatArray) -> FloatArray:
            parts = [np.bincount(index, weights=part, minlength=self.partition.n_bins) for part in split(values)]
            return np.asarray(parts[0] + parts[1])

        return per_bin(spread), per_bin(spread * (1 - 2 * p))

    def probabilities(self, bins: IntArray) -> list[FloatArray]:
        """See `Members`."""
        wanted = np.zeros(self.partition.n_bins, dtype=np.bool_)
        wanted[bins] = True
        index = self.partition.locate(self.value)
        rows = np.flatnonzero(wanted[index])
        p, index = self.value[rows].astype(np.float64), index[rows]
        order = np.lexsort((p, index))
        starts = np.searchsorted(index[order], bins)
        ends = np.searchsorted(index[order], bins, side="right")
        return [p[order][a:b] for a, b in zip(starts, ends, strict=True)]


def pmf(probabilities: NDArray[Any]) -> FloatArray:
    """Distribution of the number of events among independent rows: P(X = 0), …, P(X = n).

    Parameters
    ----------
    probabilities : array of shape (..., n)
        A probability of 0 adds nothing, so sets of fewer rows can be filled up with zeros.

    Returns
    -------
    array of shape (..., n + 1)

    Notes
    -----
    The polynomials 1 − p + p·t of the rows are multiplied in pairs, by fast Fourier transforms; the error of each
    probability is below 1e-14.  With equal p this is the binomial distribution.

    References
    ----------
    Hong (2013), doi:10.1016/j.csda.2012.10.006, for this and other algorithms.

    Examples
    --------
    >>> pmf(np.array([0.15, 0.2, 0.35])).round(12).tolist()
    [0.442, 0.4265, 0.121, 0.0105]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    n = p.shape[-1]
    width = 1 << max(n - 1, 0).bit_length()
    p = np.concatenate([p, np.zeros((*p.shape[:-1], width - n))], axis=-1)
    parts = np.stack([1 - p, p], axis=-1)
    while parts.shape[-2] > 1:
        size = 2 * (parts.shape[-1] - 1)  # of the product less one, a power of two
        transformed = np.fft.rfft(parts, 2 * size)
        parts = np.fft.irfft(transformed[..., 0::2, :] * transformed[..., 1::2, :], 2 * size)[..., : size + 1]
    return np.asarray(np.clip(parts[..., 0, : n + 1], 0.0, 1.0))


def count_quantiles(members: Members, rows: FloatArray, mean: FloatArray, levels: tuple[float, ...]) -> list[FloatArray]:
    """Smallest k with P(X ≤ k) ≥ q for each q of ``levels``, where X is the number of events of each bin; NaN without rows.

    ``rows`` and ``mean`` are the number of rows of each bin and their Σp, shape (bins,).

    Exact up to 256 rows a bin, by `pmf`; beyond that by `matched_quantile`.  A large bin that holds nearly certain rows
    of both kinds is taken as the sum of two such counts: of its probabilities up to 1/2 and above.
    """
    moments = Moments(rows, mean, *members.spread())
    found = [matched_quantile(q, moments) for q in levels]
    small = np.flatnonzero((rows > 0) & (rows <= EXACT_ROWS))
    at_once = max(1, _AT_ONCE // EXACT_ROWS)
    for start in range(0, len(small), at_once):
        bins = small[start : start + at_once]
        held = members.probabilities(bins)
        _put(found, bins, levels, np.cumsum(pmf(_rectangle(held)), axis=-1))
        for ends in found:
            ends[bins] = np.minimum(ends[bins], rows[bins])  # the sum of all may round below a q near 1
    for b in np.flatnonzero((rows > EXACT_ROWS) & _two_sided(moments)):
        first, spread = _two_sides(members.probabilities(np.array([b]))[0])
        _put(found, np.array([b]), levels, np.cumsum(spread)[None, :])
        for ends in found:
            ends[b] = np.clip(first + ends[b], 0.0, rows[b])
    return found


def _put(found: list[FloatArray], bins: NDArray[np.intp], levels: tuple[float, ...], upto: FloatArray) -> None:
    """Quantiles of cumulative distributions, shape (len(bins), any)."""
    for ends, q in zip(found, levels, strict=True):
        ends[bins] = np.count_nonzero(upto < q - _SLACK, axis=-1)


def _two_sided(moments: Moments) -> NDArray[np.bool_]:
    """Whether there must be rows on both sides of 1/2, so few of them uncertain that this shows in the shape.

    If every p is at most 1/2, the variance is at least half the mean.
    """
    rare = np.minimum(moments.mean, moments.rows - moments.mean)
    return np.asarray((moments.variance < 0.499 * rare) & (moments.variance <= _LITTLE))


def _two_sides(p: FloatArray) -> tuple[float, FloatArray]:
    """A number of events and the probabilities of it, it + 1, …, from matched counts of both sides of 1/2."""
    low, high = p[p <= 0.5], 1 - p[p > 0.5]
    events, others = _matched_pmf(low), _matched_pmf(high)
    return float(len(high) - (len(others) - 1)), np.convolve(events, others[::-1])


def _matched_pmf(p: FloatArray) -> FloatArray:
    """Probabilities of 0, 1, … events, none of them likely, by the distribution of `matched_quantile`."""
    spread = p * (1 - p)
    if np.sum(spread) <= _CERTAIN:
        return np.ones(1)
    one = Moments(*(np.array([float(s)]) for s in (len(p), np.sum(p), np.sum(spread), np.sum(spread * (1 - 2 * p)))))
    trials, share, shift = _matched(one.mean, one.variance, one.third, one.rows, 0.0)
    k = np.arange(min(len(p), int(one.mean[0] + 12 * np.sqrt(one.variance[0])) + 40) + 1.0)
    upto = _upto(k[None, :], trials, share, shift)[0]
    upto[-1] = 1.0
    return np.diff(upto, prepend=0.0)


def _rectangle(rows: list[FloatArray]) -> FloatArray:
    """Arrays of different lengths as the rows of one, filled up with zeros."""
    filled = np.zeros((len(rows), max(len(r) for r in rows)))
    for i, r in enumerate(rows):
        filled[i, : len(r)] = r
    return filled


def matched_quantile(q: float, moments: Moments) -> FloatArray:
    """Approximate smallest k with P(X ≤ k) ≥ q; NaN without rows.

    Notes
    -----
    The rarer of event and non-event is counted.  Its number is taken as a binomial of the same mean m and variance v,
    which has m²/(m − v) trials, not a whole number, of probability 1 − v/m; then moved by (κ − κ_binomial)·(z² − 1)/(6v),
    the Cornish-Fisher term of what is left of the third cumulant.  Where all probabilities are equal this *is* the
    binomial; where they are small, nearly the Poisson distribution; where many rows vary, the normal one with
    its skewness: three moments are matched, as in Peköz et al.  It was found off by at most one event wherever it was
    compared with exact quantiles, bins of `count_quantiles` that are taken in two halves apart.

    References
    ----------
    Peköz, Röllin, Čekanavičius & Shwartz (2009), doi:10.1239/jap/1261670689.
    """
    filled = moments.rows > 0
    n = np.where(filled, moments.rows, 1.0)
    mean, variance = np.where(filled, moments.mean, 0.0), np.where(filled, np.maximum(moments.variance, 0.0), 0.0)
    mirrored = mean > n / 2
    certain = variance <= _CERTAIN
    m = np.clip(np.where(mirrored, n - mean, mean), variance, n / 2)  # Σp is at least Σp(1 − p), but for rounding
    m, v = np.where(certain, n / 4, m), np.where(certain, n / 8, variance)
    trials, share, shift = _matched(m, v, np.where(mirrored, -moments.third, moments.third), n, float(special.ndtri(q)))
    rare = _step(q, trials, share, np.where(certain, 0.0, shift), mirrored=mirrored)
    counted = np.clip(np.where(mirrored, n - rare, rare), 0.0, n)
    return np.where(filled, np.where(certain, np.rint(mean), counted), np.nan)


def _matched(m: FloatArray, v: FloatArray, third: FloatArray, n: FloatArray, z: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Trials, probability and displacement near the normal quantile ``z`` of the binomial of mean ``m`` and variance ``v``."""
    noise = m - v <= _NOISE * n  # Σp² = m − v is lost in the rounding of the mean, and so small that any value will do
    m = np.where(noise, v, m)
    squares = np.where(noise, m**2 / n, np.clip(m - v, m**2 / n, m))  # Σp² is at least (Σp)²/n
    trials, share = m**2 / squares, squares / m
    return trials, share, np.clip((third - v * (1 - 2 * share)) * (z**2 - 1) / (6 * v), -1.0, 1.0)


def _step(q: float, trials: FloatArray, share: FloatArray, shift: FloatArray, *, mirrored: NDArray[np.bool_]) -> FloatArray:
    """Smallest k with P(Y ≤ k) ≥ q; where mirrored, the k for which n − k is the quantile of n − Y.

    The latter is the largest k with P(Y ≥ k) ≥ q, that is P(Y ≤ k − 1) ≤ 1 − q.
    """
    near = np.floor(special.bdtrik(np.where(mirrored, 1 - q, q), trials, share) + shift)
    k = np.maximum(np.nan_to_num(near), 0.0)[:, None] + np.arange(-2.0, 4.0)
    plain = k[:, 0] + np.count_nonzero(_upto(k, trials, share, shift) < q - _SLACK, axis=1)
    turned = k[:, 0] + np.count_nonzero(_upto(k - 1, trials, share, shift) <= 1 - q + _SLACK, axis=1) - 1
    return np.asarray(np.maximum(np.where(mirrored, turned, plain), 0.0))


def _upto(k: FloatArray, trials: FloatArray, share: FloatArray, shift: FloatArray) -> FloatArray:
    """P(Y ≤ k) of a binomial whose trials need not be whole, moved by ``shift``; shapes (bins, any) and (bins,)."""
    x = np.clip(k - shift[:, None], -1.0, trials[:, None])
    inside = special.betainc(np.maximum(trials[:, None] - x, 1e-300), np.maximum(x + 1, 1e-300), 1 - share[:, None])
    return np.asarray(np.where(x >= trials[:, None], 1.0, np.where((x <= -1.0) | (k < 0), 0.0, inside)))
