"""What stands beside the cells of a profile: clusters, and rows apart by the size of their weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibcore.clusters import Clusters, sums_at

if TYPE_CHECKING:
    from calibcore.profile import Profile

__all__ = ["Strata", "beside_cells", "strata_of_both"]

Strata = tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]


def beside_cells(
    cells: int,
    cell: NDArray[np.intp] | Callable[[], NDArray[np.intp]],
    correct: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
    cluster: NDArray[np.intp] | None,
) -> dict[str, Any]:
    """Clusters, and the strata of weighted rows outside them where the cells alone do not give them."""
    tied = weight is not None and cells < len(correct)
    if cluster is None and not tied:
        return {}
    cell = cell() if callable(cell) else cell
    clusters = None if cluster is None else Clusters.from_rows(cell, cluster, correct, weight)
    if weight is None or (clusters is None and not tied):
        return {"clusters": clusters}
    free = slice(None) if clusters is None or cluster is None else np.flatnonzero(np.bincount(cluster)[cluster] == 1)
    return {"clusters": clusters, "strata": _strata(cell[free], weight[free], weight[free] ** 2)}


def _strata(cell: NDArray[np.intp], weight: NDArray[np.float64], squared: NDArray[np.float64]) -> Strata:
    """Sums by cell and octave of the weight (of the mean weight, of what is already summed)."""
    if not len(cell):
        return cell, weight, squared
    mean = squared / weight
    octave = np.minimum(-np.floor(np.log2(mean / mean.max()) + 1e-9), 63).astype(np.intp)
    key, part = np.unique(cell * 64 + octave, return_inverse=True)
    return key // 64, np.bincount(part, weight).astype(np.float64), np.bincount(part, squared).astype(np.float64)


def strata_of_both(profiles: tuple[Profile, Profile], cells: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Strata:
    """The strata of two profiles together, whose cells ``cells`` numbers anew."""
    parts = []
    for p, cell in zip(profiles, cells, strict=True):
        if p.strata is not None:
            parts.append((cell[p.strata[0]], *p.strata[1:]))
            continue
        weight, squared = (np.asarray(getattr(p, f)) - sums_at(p.clusters, f, len(p)) for f in ("weight", "weight_squared"))
        free = np.flatnonzero(weight > 0)
        parts.append((cell[free], weight[free], squared[free]))
    return _strata(*(np.concatenate(a) for a in zip(*parts, strict=True)))
