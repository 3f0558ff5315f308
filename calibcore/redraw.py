"""Labels redrawn from the model's own probabilities, in groups of cells: what chance alone would show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.clusters import Clusters, sums_at

if TYPE_CHECKING:
    from calibcore.profile import Profile

__all__ = ["Cells", "Redraw", "cells_of", "group_starts", "redraw_groups"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_CHUNK = 2_000_000  # numbers drawn at a time
_NEAR = 1 << 16  # numbers that stay in the processor's cache while several passes go over them
_ENTRIES = 10_000  # clusters × groups up to which every cluster is drawn
_LIGHT = 200.0  # a row whose squared weight is below this part of its group's is drawn with the others
_WIDE = 32  # groups that a cluster may touch to be multiplied out pair by pair
_WIDE_AT_ONCE = 256
_MANY = 25.0  # variance from which on counts may be drawn as rounded normal numbers
_COMMON = 400.0  # variance in rows beyond which a count is drawn as a rounded normal number, corrected for skewness


@dataclass(frozen=True, slots=True, eq=False)
class Redraw:
    """Groups of rows whose labels are redrawn together; arrays of shape (parts,).

    A redrawn residual is (Binomial(trials, probability) − trials·probability)·scale: exact for rows of equal
    probability and weight, with the right mean and variance otherwise.  Counts of a variance of at least 25 may be drawn as
    rounded normal numbers that are corrected for skewness: their distribution function is off by less than 5.5·10⁻⁴.
    A part is a group, or where ``group`` is given some of its rows.

    Attributes
    ----------
    probability, trials, scale : arrays of shape (parts,)
    group : array of shape (parts,), int, optional
        Which group each part belongs to, rising.
    groups : int
        Number of groups, where ``group`` is given.
    shared : Shared, optional
        What the rows of a cluster have in common, added to each draw.
    correlated : Correlated, optional
        Drawn instead, where clusters are too many to draw one by one.
    """

    probability: FloatArray
    trials: NDArray[np.int64]
    scale: FloatArray
    group: IndexArray | None = None
    groups: int = 0
    shared: Shared | None = None
    correlated: Correlated | None = None

    @classmethod
    def from_sums(cls, weight: FloatArray, weight_squared: FloatArray, confidence: FloatArray) -> Redraw:
        """From each group's Σw, Σw² and Σw·p."""
        trials = np.maximum(np.rint(weight**2 / weight_squared), 1).astype(np.int64)
        probability = np.clip(confidence / weight, 0.0, 1.0)
        return cls(probability, trials, np.sqrt(weight_squared / trials))

    def residuals(self, draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
        """Redrawn residuals, in arrays of shape (some draws, groups)."""
        width = max(len(self.trials), self.groups, 0 if self.shared is None else len(self.shared.cluster))
        chunk = max(1, _CHUNK // width)
        for start in range(0, draws, chunk):
            size = min(chunk, draws - start)
            drawn = self._independent(size, rng) if self.correlated is None else self.correlated.draw(size, rng) * self.scale
            few = max(1, _NEAR // drawn.shape[1])
            yield from (drawn[at : at + few] for at in range(0, size, few))

    def _independent(self, draws: int, rng: np.random.Generator) -> FloatArray:
        drawn = _counts(self.trials, self.probability, draws, rng)
        drawn -= self.trials * self.probability
        drawn *= self.scale
        if self.group is not None:
            drawn = _by_group(drawn, self.group, self.groups)
        return drawn if self.shared is None else drawn + self.shared.draw(draws, rng)


@dataclass(frozen=True, slots=True, eq=False)
class Correlated:
    """Binomial counts that depend on each other as normal numbers do (a Gaussian copula); arrays of shape (groups,).

    Attributes
    ----------
    trials, probability : array
    factor : array of shape (groups, groups)
        Its product with its transpose holds the correlations of the normal numbers.
    low : array of int
        Count to which the first number of a table belongs.
    tables : tuple of arrays, one a group
        P(count ≤ low), P(count ≤ low + 1), …; empty where counts are so many that normal numbers will do.
    """

    trials: NDArray[np.int64]
    probability: FloatArray
    factor: FloatArray
    low: NDArray[np.int64]
    tables: tuple[FloatArray, ...]

    @classmethod
    def from_correlation(cls, trials: NDArray[np.int64], probability: FloatArray, correlation: FloatArray) -> Correlated:
        """Counts with these correlations, as far as whole numbers allow."""
        mean, spread = trials * probability, np.sqrt(trials * probability * (1 - probability))
        low = np.maximum(0, np.floor(mean - 12 * spread - 12)).astype(np.int64)
        high = np.minimum(trials, np.ceil(mean + 12 * spread + 12)).astype(np.int64)
        few = spread**2 <= _COMMON
        tables = tuple(
            special.bdtr(np.arange(a, b, dtype=np.float64), n, p) if drawn else np.empty(0)
            for a, b, n, p, drawn in zip(low, high, trials, probability, few, strict=True)
        )
        # a whole number X goes with its normal number Z by E[XZ] = Σ φ(Φ⁻¹(P(X ≤ k))), which is less than its spread
        together = np.array([float(np.sum(np.exp(-(special.ndtri(t) ** 2) / 2))) for t in tables]) / np.sqrt(2 * np.pi)
        lost = np.divide(together, spread, out=np.ones_like(spread), where=few & (spread > 0))
        wanted = np.clip(correlation / np.maximum(np.outer(lost, lost), 0.01), -1.0, 1.0)
        np.fill_diagonal(wanted, 1.0)
        return cls(trials, probability, _factor(wanted), low, tables)

    def draw(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Counts less their means, shape (draws, groups)."""
        z = rng.standard_normal((draws, len(self.factor))) @ self.factor.T
        mean, variance = self.trials * self.probability, self.trials * self.probability * (1 - self.probability)
        drawn = z * np.sqrt(variance) + (1 - 2 * self.probability) / 6 * (z**2 - 1)  # corrected for skewness
        for g, table in enumerate(self.tables):
            if len(table) or variance[g] <= _COMMON:
                drawn[:, g] = self.low[g] + np.searchsorted(table, special.ndtr(z[:, g])) - mean[g]
        return drawn


def _factor(correlation: FloatArray) -> FloatArray:
    """A matrix whose product with its transpose is the nearest correlations that are possible."""
    try:
        return np.asarray(np.linalg.cholesky(correlation + 1e-9 * np.eye(len(correlation))))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(correlation)
        factor = vectors * np.sqrt(np.maximum(values, 0.0))
        return np.asarray(factor / np.sqrt(np.sum(factor**2, axis=1, keepdims=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """One uniform number U a cluster and draw, which decides all of its rows; arrays of shape (entries,) sorted by group.

    Attributes
    ----------
    cluster, group : array of int
    probability : array
        The event happens where U < probability.
    scale : array
        Σw of the entry times the share of the residual that is common; negative for the opposite event.
    """

    cluster: IndexArray
    group: IndexArray
    probability: FloatArray
    scale: FloatArray
    groups: int

    def draw(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Common part of the residuals, shape (draws, groups)."""
        u = rng.random((draws, int(self.cluster.max()) + 1))[:, self.cluster]
        return _by_group(((u < self.probability) - self.probability) * self.scale, self.group, self.groups)


def _counts(trials: NDArray[np.int64], probability: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Binomial counts, shape (draws, parts); single trials by comparison and, of most, large counts as `Redraw` says: it is faster."""
    rare = trials * probability * (1 - probability) < _MANY
    if 2 * np.count_nonzero(rare) < len(trials):
        drawn = _rounded_normal(trials, probability, draws, rng)
        drawn[:, rare] = _counts(trials[rare], probability[rare], draws, rng)
        return drawn
    single = trials == 1
    if single.all():
        return (rng.random((draws, len(trials))) < probability).astype(np.float64)
    if np.count_nonzero(single) < len(trials) // 4:
        return rng.binomial(trials, probability, (draws, len(trials))).astype(np.float64)
    drawn = np.empty((draws, len(trials)))
    drawn[:, single] = rng.random((draws, int(np.count_nonzero(single)))) < probability[single]
    drawn[:, ~single] = rng.binomial(trials[~single], probability[~single], (draws, int(np.count_nonzero(~single))))
    return drawn


def _rounded_normal(trials: NDArray[np.int64], probability: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    mean = trials * probability
    spread, skew = np.sqrt(mean * (1 - probability)), (1 - 2 * probability) / 6
    found, few = np.empty((draws, len(trials))), max(1, _NEAR // max(len(trials), 1))
    for start in range(0, draws, few):
        drawn = found[start : start + few]
        z = rng.standard_normal(drawn.shape)
        np.multiply(z, spread, out=drawn)
        z *= z
        z -= 1.0
        z *= skew
        drawn += z
        drawn += mean
        np.rint(drawn, out=drawn)
    return found


def _by_group(drawn: FloatArray, group: IndexArray, groups: int) -> FloatArray:
    starts = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    if len(starts) == groups:
        return np.asarray(np.add.reduceat(drawn, starts, axis=1))
    sums = np.zeros((len(drawn), groups))
    sums[:, group[starts]] = np.add.reduceat(drawn, starts, axis=1)
    return sums


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Cells of rows with what a redraw of their labels needs; arrays of shape (cells,).

    Attributes
    ----------
    probability : array
        That the event is drawn from.
    weight, weight_squared : array
    strata : tuple of arrays (cell, weight, weight_squared), optional
        The weights of rows outside clusters, apart by size, where cells hold rows of different weight.
    clusters : Clusters, optional
    opposite : array of bool, optional
        Cells of which the opposite event goes together with the event of the others, within clusters.
    share : float
        How much of the largest possible dependence the clusters show, from 0 to 1.
    """

    probability: FloatArray
    weight: FloatArray
    weight_squared: FloatArray
    weighted: bool = False
    strata: tuple[IndexArray, FloatArray, FloatArray] | None = None
    clusters: Clusters | None = None
    opposite: NDArray[np.bool_] | None = None
    share: float = 0.0

    def redraw(self, starts: IndexArray) -> Redraw:
        """The redraw of these cells in groups that begin at the cells ``starts``."""
        if not self.weighted and self.clusters is None:
            return Redraw.from_sums(
                *(np.add.reduceat(a, starts) for a in (self.weight, self.weight_squared, self.weight * self.probability))
            )
        group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(self.weight))))
        if self.clusters is None:
            return _in_parts(self._free(group), len(starts), weighted=self.weighted)
        bound = self.clusters.on(group)
        if len(bound.cell) > _ENTRIES:
            return self._correlated(starts, bound)
        cell = self.clusters.cell
        own = (group[cell], self.clusters.weight, self.clusters.weight_squared, self.clusters.weight * self.probability[cell])
        parts = tuple(np.concatenate([a, b]) for a, b in zip(self._free(group), own, strict=True))
        in_cluster = np.repeat([False, True], [len(parts[0]) - len(cell), len(cell)])
        independent = _in_parts(parts, len(starts), weighted=self.weighted, in_cluster=in_cluster, share=self.share)
        return replace(independent, shared=self._shared(starts, bound))

    def _free(self, group: IndexArray) -> Parts:
        """Group, Σw, Σw² and Σw·p of the rows outside clusters, cell by cell, or finer."""
        if self.strata is not None:
            cell, weight, squared = self.strata
            return group[cell], weight, squared, weight * self.probability[cell]
        weight, squared = (
            np.asarray(getattr(self, f), dtype=np.float64) - sums_at(self.clusters, f, len(self.weight))
            for f in ("weight", "weight_squared")
        )
        kept = np.flatnonzero(weight > 0)
        return group[kept], weight[kept], squared[kept], weight[kept] * self.probability[kept]

    def _event(self, starts: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Probability, in each group, of what happens together within a cluster, and its sign for the event."""
        weight = np.add.reduceat(np.asarray(self.weight, dtype=np.float64), starts)
        probability = np.clip(np.add.reduceat(self.weight * self.probability, starts) / weight, 0.0, 1.0)
        if self.opposite is None:
            return probability, np.ones(len(starts))
        flip = self.opposite[starts]
        return np.where(flip, 1 - probability, probability), np.where(flip, -1.0, 1.0)

    def _shared(self, starts: IndexArray, bound: Clusters) -> Shared:
        probability, sign = self._event(starts)
        order = np.argsort(bound.cell, kind="stable")
        g = bound.cell[order]
        return Shared(bound.cluster[order], g, probability[g], (np.sqrt(self.share) * bound.weight[order]) * sign[g], len(starts))

    def _correlated(self, starts: IndexArray, bound: Clusters) -> Redraw:
        products = _products(bound, len(starts))
        weight, squared, confidence = (
            np.add.reduceat(np.asarray(a, dtype=np.float64), starts)
            for a in (self.weight, self.weight_squared, self.weight * self.probability)
        )
        squared += self.share * (np.diag(products) - sums_at(bound, "weight_squared", len(starts)))
        drawn = Redraw.from_sums(weight, squared, confidence)
        probability, sign = self._event(starts)
        common = np.minimum.outer(probability, probability) - np.outer(probability, probability)
        covariance = self.share * products * common * np.outer(sign, sign)
        spread = np.sqrt(squared * probability * (1 - probability))
        scaled = np.divide(covariance, np.outer(spread, spread), out=np.zeros_like(covariance), where=np.outer(spread, spread) > 0)
        return replace(drawn, correlated=Correlated.from_correlation(drawn.trials, drawn.probability, scaled))


Parts = tuple[IndexArray, FloatArray, FloatArray, FloatArray]


def _in_parts(
    parts: Parts | tuple[Any, ...], groups: int, *, weighted: bool, in_cluster: NDArray[np.bool_] | None = None, share: float = 0.0
) -> Redraw:
    """Rows of a group drawn apart where they are in clusters, and where their weights differ much and count.

    Light rows, each with less than 1/200 of the group's Σw², are drawn together; heavier ones in octaves of weight.
    """
    group, weight, squared, confidence = parts
    if weighted:
        heavy = (squared / weight) * np.sqrt(_LIGHT / np.bincount(group, squared, minlength=groups)[group])
        octave = np.maximum(np.floor(np.log2(heavy) + 1 + 1e-9), 0).astype(np.intp)
    else:
        octave = np.zeros(len(group), dtype=np.intp)
    bound = np.zeros(len(group), dtype=np.intp) if in_cluster is None else in_cluster.astype(np.intp)
    key, part = np.unique((group * 2 + bound) * 8 + octave, return_inverse=True)
    drawn = Redraw.from_sums(*(np.asarray(np.bincount(part, a), dtype=np.float64) for a in (weight, squared, confidence)))
    own = np.where(key // 8 % 2 == 1, np.sqrt(1 - share), 1.0)
    return Redraw(drawn.probability, drawn.trials, drawn.scale * own, key // 16, groups)


def _products(clusters: Clusters, groups: int) -> FloatArray:
    """Σ over clusters of weight × weight, for every two groups: shape (groups, groups)."""
    sums = np.zeros(groups * groups)
    size = np.diff(np.append(clusters.starts, len(clusters.cell)))
    small = size[clusters.cluster] <= _WIDE
    cell, cluster, weight = (a[small] for a in (clusters.cell, clusters.cluster, clusters.weight))
    for step in range(min(_WIDE, len(cell))):
        stop = len(cell) - step
        first = np.flatnonzero(cluster[:stop] == cluster[step:])
        if not len(first):
            break
        key = cell[first] * groups + cell[first + step]
        sums += np.bincount(key, weight[first] * weight[first + step], minlength=groups * groups)
    square = sums.reshape(groups, groups)
    square = square + np.triu(square, 1).T
    wide = np.flatnonzero(size > _WIDE)
    for start in range(0, len(wide), _WIDE_AT_ONCE):
        dense = np.zeros((_WIDE_AT_ONCE, groups))
        for row, c in enumerate(wide[start : start + _WIDE_AT_ONCE]):
            part = slice(clusters.starts[c], clusters.starts[c] + size[c])
            dense[row, clusters.cell[part]] = clusters.weight[part]
        square += dense.T @ dense
    return square


def cells_of(profile: Profile) -> Cells:
    """What a redraw of a profile's labels needs."""
    return profile.remember("redrawn cells", lambda: _cells_of(profile))


def _cells_of(profile: Profile) -> Cells:
    value = profile.value.astype(np.float64)
    share = profile.dependence
    return Cells(value, profile.weight, profile.weight_squared, profile.weighted, profile.strata, profile.clusters, share=share)


def redraw_groups(profile: Profile, starts: IndexArray) -> Redraw:
    """The redraw of a profile's labels in groups of cells that begin at ``starts``: weights and clusters respected.

    Notes
    -----
    Rows of a group are binomial.  In clusters, a residual is √(1 − s) times an independent draw plus √s times one that
    a single number U decides for all rows of the cluster (the event happens where U < p); s is what `dependence`
    finds.  With s = 1, as for repeated rows, whole clusters are redrawn.  The mean is zero and the variance right
    for any s.  Where clusters are many (more than 10,000 pairs of cluster and group), the counts of the groups get
    their covariance from a Gaussian copula.  Flipping the signs of the clusters' residuals instead would be wrong
    near 0 and 1: ten clusters without an error say little about how many errors there could have been.
    """
    if not profile.weighted and profile.clusters is None:
        bounds = np.append(starts, len(profile))
        return Redraw.from_sums(*(profile.cumulative(q).between(bounds) for q in ("weight", "weight_squared", "confidence")))
    return cells_of(profile).redraw(starts)


def group_starts(value: NDArray[Any], *, cuts: IndexArray, step: float, few: int) -> IndexArray:
    """First cell of each group of sorted cells: cut at ``cuts`` and, beyond ``few`` cells, every ``step`` of the value."""
    if len(value) <= few:
        return np.arange(len(value))
    cells = [np.searchsorted(value, _steps(step, value.dtype)), cuts]
    starts = np.unique(np.concatenate([[0], *cells]))
    return starts[starts < len(value)]


def _steps(step: float, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Smallest numbers of a precision whose quotient by ``step`` reaches 1, 2, … 1/step; what lies between two shares its floor."""
    k = np.arange(1, int(1 / step) + 1)
    near = np.nextafter(np.nextafter(k * step, 0.0), 0.0)
    for _ in range(4):
        near = np.where(near / step < k, np.nextafter(near, 2.0), near)
    rounded = near.astype(dtype)
    return np.asarray(np.where(rounded < near, np.nextafter(rounded, dtype.type(2)), rounded))
