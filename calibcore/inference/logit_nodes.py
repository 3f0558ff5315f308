"""Many logits as few nodes that give the same sums, so that a logistic fit does not pass over millions of cells again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MANY", "STEEP", "logits", "nodes"]

FloatArray = NDArray[np.float64]

MANY = 20_000  # cells from which on nodes are fewer
STEEP = 2.0  # slope up to which the sums at the nodes are those over the cells to the last digits
_WIDTH = 0.25  # of a group of logits
_NODES = 10  # of a group
_CHUNK = 1 << 17  # cells that the cache holds while several passes go over them


def logits(p: FloatArray) -> FloatArray:
    """log(p/(1 − p)), off by less than 10⁻¹⁵ of the larger of itself and 1."""
    return np.asarray(np.log(p) - np.log(1.0 - p))  # 1 − p is rounded where it is large, and its logarithm as good as 0


def nodes(value: FloatArray, count: NDArray[Any], positive: NDArray[Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes, and what stands at them for the rows and for the events of rising probabilities; three arrays of shape (nodes,).

    Notes
    -----
    In a group of logits of width 1/4 a sum Σw·f(logit) is taken of the polynomial through f at ten Chebyshev nodes, which
    makes it a sum over the nodes.  The functions of a logistic likelihood of slope b have their poles at a distance π/|b|
    from the line, so that the polynomial is off by about (16π/|b|)⁻¹⁰: 10⁻¹⁷ of the function for b = 1, 10⁻¹⁴ for b = 2.
    Events enter a likelihood with linear functions only, for which two moments do.  What stands at a node may be negative.
    """
    parts = [_nodes(*(a[start : start + _CHUNK] for a in (value, count, positive))) for start in range(0, len(value), _CHUNK)]
    at, rows, events = (np.concatenate(part) for part in zip(*parts, strict=True))
    return at, rows, events


def _nodes(value: FloatArray, count: NDArray[Any], positive: NDArray[Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    logit = logits(value)
    levels = np.floor(logit[[0, -1]] / _WIDTH)
    starts = np.unique(np.append(0, np.searchsorted(logit, np.arange(levels[0] + 1, levels[1] + 1) * _WIDTH)))
    middle = (np.floor(logit[starts] / _WIDTH) + 0.5) * _WIDTH
    inside = (logit - np.repeat(middle, np.diff(np.append(starts, len(logit))))) * (2 / _WIDTH)
    rows, events = _moments(inside, count, starts, _NODES), _moments(inside, positive, starts, 2)
    at = np.ravel(middle[:, np.newaxis] + _AT * (_WIDTH / 2))
    return at, np.ravel(rows @ _POLYNOMIALS), np.ravel(events @ _POLYNOMIALS[:2])


def _moments(inside: FloatArray, weight: NDArray[Any], starts: NDArray[Any], degree: int) -> FloatArray:
    """Σw·T_k of each group for the Chebyshev polynomials T_0, halved, T_1, …; shape (groups, degree)."""
    last, now = weight.astype(np.float64), weight * inside
    found = [np.add.reduceat(last, starts) / 2, np.add.reduceat(now, starts)]
    twice = 2 * inside
    for _ in range(degree - 2):  # T_{k+1} = 2t·T_k − T_{k−1}
        last, now = now, twice * now - last
        found.append(np.add.reduceat(now, starts))
    return np.column_stack(found)


_AT = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
_POLYNOMIALS = np.cos(np.arange(_NODES)[:, np.newaxis] * np.arccos(_AT)) * (2 / _NODES)  # T_k at the nodes, as interpolation takes it
