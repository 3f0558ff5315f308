"""Rows that go together: their sums by cluster and cell, and how strongly their outcomes depend on each other."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Clusters", "cluster_codes", "dependence", "joined", "sums_at"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Sums of the rows of clusters of two rows and more, one entry for each cluster and cell; arrays of shape (entries,).

    A row that is a cluster of its own is like any row without clusters, so it has no entry.

    Attributes
    ----------
    cell, cluster : array of int
        Sorted by cluster, then by cell; clusters are numbered from 0.
    weight, positive, weight_squared, positive_squared : array of float
        As in a profile.
    rows : int
        Rows in these clusters.
    """

    cell: IndexArray
    cluster: IndexArray
    weight: FloatArray
    positive: FloatArray
    weight_squared: FloatArray
    positive_squared: FloatArray
    rows: int

    @classmethod
    def from_rows(
        cls, cell: IndexArray, cluster: IndexArray, correct: NDArray[np.bool_], weight: FloatArray | None = None
    ) -> Clusters | None:
        """Entries of rows in any order; None if no two rows share a cluster.

        Parameters
        ----------
        cell, cluster : array of shape (n,), int
            Not negative.
        correct : array of shape (n,), bool
        weight : array of shape (n,), optional
        """
        size = np.bincount(cluster)
        kept = np.flatnonzero(size[cluster] > 1)
        if not len(kept):
            return None
        number = (np.cumsum(size > 1) - 1)[cluster[kept]]
        w = np.ones(len(kept)) if weight is None else weight[kept]
        right = correct[kept]
        return cls._summed(cell[kept], number, (w, w * right, w**2, w**2 * right), len(kept))

    @classmethod
    def _summed(cls, cell: IndexArray, cluster: IndexArray, sums: tuple[FloatArray, ...], rows: int) -> Clusters:
        span = int(cell.max()) + 1
        key = cluster * span + cell
        order = np.argsort(key, kind="stable")
        starts = _firsts(key[order])
        first = order[starts]
        weight, positive, squared, positive_squared = (np.add.reduceat(s[order], starts) for s in sums)
        return cls(cell[first], cluster[first], weight, positive, squared, positive_squared, rows)

    def joined(self, other: Clusters) -> Clusters:
        """The entries of both; the clusters of either stay apart."""
        sums = tuple(np.concatenate([getattr(self, f), getattr(other, f)]) for f in _SUMS)
        cells, clusters = np.concatenate([self.cell, other.cell]), np.concatenate([self.cluster, other.cluster + len(self)])
        return self._summed(cells, clusters, sums, self.rows + other.rows)

    def on(self, cell: IndexArray) -> Clusters:
        """The same rows on other cells: ``cell`` gives the new number of each old one, several of which may be joined."""
        moved = cell[self.cell]
        if np.array_equal(moved, self.cell):
            return self
        return self._summed(moved, self.cluster, tuple(getattr(self, f) for f in _SUMS), self.rows)

    def part(self, keep: NDArray[np.bool_]) -> Clusters | None:
        """The entries of some cells, which are numbered anew; None if there are none."""
        kept = np.flatnonzero(keep[self.cell])
        if not len(kept):
            return None
        cell, cluster = (np.cumsum(keep) - 1)[self.cell[kept]], np.unique(self.cluster[kept], return_inverse=True)[1]
        rows = round(self.rows * len(kept) / len(self.cell))  # entries are nearly always one row each
        weight, positive, squared, positive_squared = (getattr(self, f)[kept] for f in _SUMS)
        return Clusters(cell, cluster, weight, positive, squared, positive_squared, rows)

    def __len__(self) -> int:
        return int(self.cluster[-1]) + 1

    @property
    def starts(self) -> IndexArray:
        """First entry of each cluster."""
        return _firsts(self.cluster)

    def per_cluster(self, values: FloatArray) -> FloatArray:
        """Sums over the entries of each cluster."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def pairs(self) -> float:
        """Σ w·w' over the ordered pairs of different rows of the same cluster."""
        return float(np.sum(self.per_cluster(self.weight) ** 2) - np.sum(self.weight_squared))

    def pairs_in(self, part: IndexArray, parts: int) -> FloatArray:
        """The same within each of some parts of the cells: ``part`` of each cell, which never falls from cell to cell."""
        whole = self.on(part)
        squares = np.bincount(whole.cell, whole.weight**2, minlength=parts)
        return np.asarray(squares - np.bincount(whole.cell, whole.weight_squared, minlength=parts))


_SUMS = tuple(f.name for f in fields(Clusters) if f.name not in ("cell", "cluster", "rows"))


def sums_at(clusters: Clusters | None, name: str, cells: int) -> FloatArray:
    """A field of the clusters summed over each cell, shape (cells,); zeros without clusters."""
    if clusters is None:
        return np.zeros(cells)
    return np.asarray(np.bincount(clusters.cell, getattr(clusters, name), minlength=cells))


def _firsts(sorted_keys: NDArray[Any]) -> IndexArray:
    return np.flatnonzero(np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1]]))


def cluster_codes(cluster: NDArray[Any]) -> tuple[IndexArray | None, int]:
    """Number of each row's cluster, in the order of the names, and how many rows have none (each is then its own).

    Missing are None, NaN, NaT and empty text.  Without numbers where every row is a cluster of its own.
    """
    missing = _missing(cluster)
    text = cluster.dtype.kind in "OUS"
    code = _text_codes(cluster.tolist()) if text else np.unique(cluster, return_inverse=True)[1].astype(np.intp)
    count = int(np.count_nonzero(missing))
    if count:
        code[missing] = code.max() + 1 + np.arange(count)
        code = np.unique(code, return_inverse=True)[1].astype(np.intp)  # no number is left out
    return (None if np.bincount(code).max() == 1 else code), count


def _missing(cluster: NDArray[Any]) -> NDArray[np.bool_]:
    if cluster.dtype.kind == "O":
        return np.array([x is None or x == "" or x != x for x in cluster.tolist()], dtype=np.bool_)  # noqa: PLR0124 - NaN
    if cluster.dtype.kind in "US":
        return np.asarray(np.char.str_len(cluster) == 0)
    return np.asarray(cluster != cluster)  # noqa: PLR0124 - NaN and NaT


_SORTED = 50_000  # names beyond which their order does not matter any more


def _text_codes(names: list[Any]) -> IndexArray:
    seen: dict[Any, int] = {}
    code = np.fromiter((seen.setdefault(x, len(seen)) for x in names), dtype=np.intp, count=len(names))
    if len(seen) > _SORTED:
        return code
    rank = np.empty(len(seen), dtype=np.intp)
    rank[np.array(sorted(range(len(seen)), key=[str(x) for x in seen].__getitem__), dtype=np.intp)] = np.arange(len(seen))
    return rank[code]


def dependence(clusters: Clusters, probability: FloatArray, *, opposite: NDArray[np.bool_] | None = None) -> float:
    """How much of the largest possible dependence the outcomes of a cluster show: from 0, none, to 1, one draw for all rows.

    Parameters
    ----------
    clusters : Clusters
    probability : array of shape (cells,)
        Of the event.
    opposite : array of shape (cells,), bool, optional
        Cells of which the opposite event goes together with the event of the others.

    Notes
    -----
    Σ e·e' over the pairs of rows of a cluster, divided by what it would be if one draw U decided all its rows (the
    event happens where U < p), plus a standard error.  e = event − π, where π is p with the number of rare events
    scaled to what was observed, so that miscalibration is not taken for dependence; with few clusters more than one error
    is added (1 + 10/clusters), since dependence that is underestimated makes a calibrated model look wrong.  Where no rare event was seen
    nothing is known about dependence, and it is 1.
    """
    p, scale = probability[clusters.cell], float(clusters.weight.max())  # fourth powers of weights would leave the doubles
    w, hit = clusters.weight / scale, clusters.positive / scale
    w2, hit2 = clusters.weight_squared / scale**2, clusters.positive_squared / scale**2
    if opposite is not None:
        flip = opposite[clusters.cell]
        p, hit, hit2 = np.where(flip, 1 - p, p), np.where(flip, w - hit, hit), np.where(flip, w2 - hit2, hit2)
        order = np.lexsort((p, clusters.cluster))
        p, w, hit, w2, hit2 = (a[order] for a in (p, w, hit, w2, hit2))
    pi = _scaled_to_observed(p, w, hit)
    seen = clusters.per_cluster(hit - w * pi) ** 2 - clusters.per_cluster(hit2 * (1 - pi) ** 2 + (w2 - hit2) * pi**2)
    before = np.cumsum(w * pi) - w * pi
    before -= np.repeat(before[clusters.starts], np.diff(np.append(clusters.starts, len(before))))
    largest = clusters.per_cluster(2 * before * w * (1 - pi) + (w**2 - w2) * pi * (1 - pi))
    whole = float(largest.sum())
    if whole <= 1e-12 * float(w2.sum()):
        return 1.0
    found = float(np.clip(seen.sum() / whole, 0.0, 1.0))
    one_pair = 2 * float(np.sum(w2) / clusters.rows)
    error = float(np.sqrt(np.sum((seen - found * largest) ** 2) + one_pair**2)) / whole
    units = whole**2 / float(np.sum(largest**2))
    return min(1.0, found + (1 + 10 / units) * error)


def _scaled_to_observed(p: FloatArray, weight: FloatArray, positive: FloatArray) -> FloatArray:
    """Probabilities whose rare events, on either side of ½, are as many as were observed."""
    pi = p.copy()
    for side, rare, seen in ((p >= 0.5, 1 - p, weight - positive), (p < 0.5, p, positive)):
        expected = float(np.sum((weight * rare)[side]))
        ratio = float(np.sum(seen[side])) / expected if expected > 0 else 0.0
        changed = np.minimum(rare * ratio, 1.0)
        pi[side] = (1 - changed if rare is not p else changed)[side]
    return pi


def joined(first: Clusters | None, second: Clusters | None, cells: tuple[IndexArray, IndexArray]) -> Clusters | None:
    """The clusters of two samples on common cells; those of either stay apart."""
    sides = [c.on(new) for c, new in zip((first, second), cells, strict=True) if c is not None]
    return None if not sides else sides[0] if len(sides) == 1 else sides[0].joined(sides[1])
