"""Venn–Abers prediction: two isotonic fits for each score, with the new row counted once as 0 and once as 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_CELLS", "bounds", "fit_venn_abers", "merged", "merged_for_brier"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Parameters = dict[str, FloatArray]

MOST_CELLS = 20_000  # beyond, neighbouring scores share a cell; the fit is a loop over cells


def fit_venn_abers(score: FloatArray, weight: FloatArray, positive: FloatArray, unit: float) -> Parameters:
    """The two step functions p0 and p1 of an inductive Venn–Abers predictor.

    Parameters
    ----------
    score : array of shape (m,)
        Distinct scores, rising.  Beyond `MOST_CELLS`, neighbours share a cell, cut into about equal weights.
    weight, positive : arrays of shape (m,)
        Sum of the weights at each score, and of those of the positive rows.
    unit : float
        Weight of the new row: 1 without weights, else Σw²/Σw, so that the whole sample weighs n_eff new rows.

    Returns
    -------
    dict
        ``lower_score``, ``lower``: p0 is ``lower[i]`` from ``lower_score[i]`` up to the next, and 0 below the first.
        ``upper_score``, ``upper``: p1 is ``upper[i]`` up to and with ``upper_score[i]``, from the one before, and 1
        beyond the last.

    Notes
    -----
    With P_k = (Σw, Σw·y) of the first k cells, isotonic regression is the greatest convex minorant of these points.  A
    new row of label 1 in cell j moves the points from j on by (u, u), so its fitted value is the slope of the tangent
    that joins the points before j, moved by (−u, −u), to those from j on from below.  Both ends of the tangent only
    move to the right as j grows, so all m slopes cost O(m) after sorting.  A label of 0 is the mirror image.  Exact;
    where cells are shared, exact for the coarser score that tells apart only the cells.

    References
    ----------
    Vovk & Petej (2014), Venn–Abers predictors, arXiv:1211.0025.  Vovk, Petej & Fedorova (2015), arXiv:1511.00213.
    """
    starts, ends = _cells(weight)
    weight, positive = np.add.reduceat(weight, starts), np.add.reduceat(positive, starts)
    upper = _with_a_one(weight, positive, unit)
    lower = 1.0 - _with_a_one(weight[::-1], (weight - positive)[::-1], unit)[::-1]
    last = np.append(upper[1:] != upper[:-1], True)
    first = np.append(True, lower[1:] != lower[:-1])
    low, high = score[starts], score[ends]
    return {"lower_score": low[first], "lower": lower[first], "upper_score": high[last], "upper": upper[last]}


def _cells(weight: FloatArray) -> tuple[IndexArray, IndexArray]:
    """First and last score of each cell, by position."""
    part = np.arange(len(weight))
    if len(weight) > MOST_CELLS:
        upto = np.cumsum(weight)
        part = np.ceil(upto / upto[-1] * MOST_CELLS).astype(np.intp)
    cut = np.flatnonzero(np.diff(part))
    return np.append(0, cut + 1), np.append(cut, len(weight) - 1)


def _with_a_one(weight: FloatArray, positive: FloatArray, unit: float) -> FloatArray:
    """Isotonic value of each cell when a row of label 1 and weight ``unit`` is added to it, shape (m,)."""
    points = list(zip(np.cumsum(weight).tolist(), np.cumsum(positive).tolist(), strict=True))
    left = (-unit, -unit)  # the origin, moved
    hull = _lower_hull(left, points)  # its last point is where the tangent from ``left`` touches
    values = np.empty(len(points))
    for j, (x, y) in enumerate(points):
        touch = hull[-1]
        slope = (touch[1] - left[1]) / (touch[0] - left[0])
        values[j] = slope
        moved = (x - unit, y - unit)
        passed = touch == points[j] and len(hull) > 1
        if passed:
            hull.pop()
        if passed or moved[1] - left[1] < slope * (moved[0] - left[0]):
            left = moved
            while len(hull) > 1 and _below(left, hull[-2], hull[-1]):
                hull.pop()
    return np.maximum.accumulate(np.clip(values, 0.0, 1.0))  # against rounding only


def _lower_hull(start: tuple[float, float], points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners after ``start`` of the greatest convex minorant, from right to left."""
    corners = [start]
    for point in points:
        while len(corners) > 1 and _below(corners[-2], point, corners[-1]):
            corners.pop()
        corners.append(point)
    return corners[:0:-1]


def _below(start: tuple[float, float], end: tuple[float, float], middle: tuple[float, float]) -> bool:
    """Whether the line from ``start`` to ``end`` passes below ``middle``, or through it."""
    return (end[1] - start[1]) * (middle[0] - start[0]) <= (middle[1] - start[1]) * (end[0] - start[0])


def bounds(parameters: Parameters, score: FloatArray) -> tuple[FloatArray, FloatArray]:
    """p0 and p1 of new scores, two arrays of shape (n,)."""
    below = np.searchsorted(parameters["lower_score"], score, side="right")
    above = np.searchsorted(parameters["upper_score"], score, side="left")
    return np.append(0.0, parameters["lower"])[below], np.append(parameters["upper"], 1.0)[above]


def merged(p0: FloatArray, p1: FloatArray) -> FloatArray:
    """One probability for two: p1/(1 − p0 + p1), whose regret in log loss is the same whichever label comes.

    Examples
    --------
    >>> round(float(merged(np.array(2 / 5), np.array(2 / 3))), 12) == round(10 / 19, 12)
    True
    """
    return np.asarray(p1 / (1 - p0 + p1))


def merged_for_brier(p0: FloatArray, p1: FloatArray) -> FloatArray:
    """One probability for two: p1 + p0²/2 − p1²/2, whose regret in Brier score is the same whichever label comes.

    Examples
    --------
    >>> round(float(merged_for_brier(np.array(2 / 5), np.array(2 / 3))), 12) == round(118 / 225, 12)
    True
    """
    return np.asarray(p1 + p0**2 / 2 - p1**2 / 2)
