"""Cells of all rows of a model with what came true in them, in every view at once, for labels that are redrawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.clusters import Clusters, dependence
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.redraw import Cells, cells_of
from calibcore.sides import first_predicted, one_probability
from calibcore.strata import beside_cells

__all__ = ["Labelled", "changes", "one_view", "two_views"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Cells of all rows, with what came true in them; arrays of shape (cells,)."""

    cells: Cells
    event: FloatArray  # Σw of the rows whose label came true
    views: tuple[tuple[str, FloatArray, FloatArray], ...]  # name, score of each cell, sign of its residual
    sides: tuple[int, ...] = (0,)  # first cell of each side; on a side probabilities rise and signs are equal


def one_view(profile: Profile) -> Labelled:
    """The cells of a profile, in its own view."""
    cells = cells_of(profile)
    ones = np.ones(len(profile))
    return Labelled(cells, np.asarray(profile.positive, dtype=np.float64), ((profile.view, cells.probability, ones),))


def two_views(predictions: Predictions) -> Labelled:
    """Joint cells of both views of a binary model, so that redrawing a label moves both at once.

    The sign is +1 where the model predicts the positive class (right = positive), −1 where it predicts the other.
    """
    if not predictions.has_rows or one_probability(predictions) is not None:
        return _both_views(predictions.profile("positive"))
    p, event = predictions.rows("positive")
    parts: list[tuple[NDArray[Any], ...]] = []
    cell = np.zeros(predictions.n, dtype=np.intp)
    for sign, side in ((-1.0, predictions.predicted == 0), (1.0, predictions.predicted == 1)):
        rows = np.flatnonzero(side)
        if len(rows):
            weight = None if predictions.weight is None else predictions.weight[rows]
            cells = Profile.from_rows(p[rows], event[rows], weight=weight, view="positive", task="binary", n_classes=2)
            where = np.searchsorted(cells.value, p[rows])
            confidence = _cell_means(where, predictions.confidence[rows], weight, cells)
            cell[rows] = where + sum(len(part[0]) for part in parts)
            parts.append((cells.value, confidence, np.full(len(cells), sign), cells.positive, cells.weight, cells.weight_squared))
    score, confidence, signs, right, weights, squared = (np.concatenate(a).astype(np.float64) for a in zip(*parts, strict=True))
    joint = Cells(score, weights, squared, predictions.weight is not None, **_beside(predictions, cell, score, signs < 0))
    views = ("top_label", confidence, signs), ("positive", score, np.ones(len(score)))
    return Labelled(joint, right, views, (0, len(parts[0][0]))[: len(parts)])


def _both_views(positive: Profile) -> Labelled:
    """`two_views` of one probability a row, from the cells of the positive view: one up to ½ predicts the other class."""
    k, cells = first_predicted(positive), cells_of(positive)
    score, ones = cells.probability, np.ones(len(positive))
    confidence, sign = score.copy(), ones.copy()
    confidence[:k], sign[:k] = (positive.complement if positive.inside is None else positive.mirrored().value[::-1])[:k], -1.0
    views = ("top_label", confidence, sign), ("positive", score, ones)
    return Labelled(cells, np.asarray(positive.positive, dtype=np.float64), views, tuple(sorted({0, k} - {len(positive)})))


def _beside(predictions: Predictions, cell: IndexArray, score: FloatArray, negative: NDArray[np.bool_]) -> dict[str, Any]:
    """Clusters and strata of joint cells.

    Within a cluster, either the labels go together or whether the model is right: whichever shows the more dependence.
    """
    event = np.asarray(predictions.label == 1)
    beside = beside_cells(len(score), cell, event, predictions.weight, predictions.cluster_code)
    clusters: Clusters | None = beside.get("clusters")
    if clusters is None:
        return beside
    labels, right = dependence(clusters, score), dependence(clusters, score, opposite=negative)
    return {**beside, "opposite": negative if right > labels else None, "share": max(labels, right)}


def _cell_means(cell: IndexArray, values: NDArray[Any], weight: FloatArray | None, cells: Profile) -> FloatArray:
    """Weighted mean of each cell, without rounding where all values of a cell are equal."""
    largest = np.zeros(len(cells))
    np.maximum.at(largest, cell, values)
    below = values - largest[cell]
    return largest + np.bincount(cell, below if weight is None else below * weight, len(cells)) / cells.weight


def changes(partition: Partition, score: FloatArray) -> IndexArray:
    """Cells of a side that lie in another bin than the cell before, and perhaps more; found by search where scores rise or fall."""
    for way, turned in ((score, False), (score[::-1], True)):
        if not np.any(way[1:] < way[:-1]):
            cuts = partition.cut(way)[1:-1]
            return len(score) - cuts if turned else cuts
    return np.flatnonzero(np.diff(partition.locate(score))) + 1
