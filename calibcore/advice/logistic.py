"""Maximum likelihood of the recalibration maps: convex losses with exact derivatives, minimised by Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.errors import InputError

__all__ = ["fit_multinomial", "fit_two_class", "minimise", "minimise_one", "multinomial_loss", "scale_loss", "two_class_loss"]

FloatArray = NDArray[np.float64]
Loss = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]

_STEPS = 80  # a finite optimum needs about ten; without one, the loss grows flatter e-fold in a step
_DONE = 1e-20
_FLAT = 1e-9  # of the first curvature
_FARTHEST = 30.0  # no step is longer than so many times the point; where the loss is all but flat, Newton's would be
_DAMPING = 1e-3


class Least(NamedTuple):
    """Where a loss is least, and the Hessian where the search began and ended."""

    x: FloatArray
    first: FloatArray
    last: FloatArray

    @property
    def flattened(self) -> bool:
        """Whether the loss, curved in some direction at first, is flat in it at the end: the way to infinity."""
        size, axes = np.linalg.eigh(self.first)
        curved = size > 1e-12 * size.max()
        scaled = axes[:, curved] / np.sqrt(size[curved])
        return bool(curved.any() and np.linalg.eigvalsh(scaled.T @ self.last @ scaled).min() < _FLAT)


def minimise(loss: Loss, start: FloatArray) -> Least:
    """Where a convex loss is least, by Newton steps that are damped by the gradient, with halving.

    Parameters
    ----------
    loss : callable
        Value, gradient (d,) and Hessian (d, d) at a point.
    start : array of shape (d,)

    Raises
    ------
    InputError
        If the steps do not end.
    """
    x = start
    value, gradient, hessian = loss(x)
    first = hessian
    for _ in range(_STEPS):
        damped = hessian + _DAMPING * float(np.linalg.norm(gradient)) * np.eye(len(x))
        step = np.asarray(-np.linalg.lstsq(damped, gradient, rcond=1e-13)[0], dtype=np.float64)
        if -float(gradient @ step) < _DONE:
            return Least(x + step, first, hessian)
        share = min(1.0, _FARTHEST * (1 + float(np.abs(x).max())) / float(np.abs(step).max()))
        x, value, gradient, hessian, moved = _search(loss, x, step, share, value)
        if not moved:
            return Least(x, first, hessian)
    raise InputError("The scores all but separate the outcomes, so no best numbers were found.")


def minimise_one(loss: Loss, start: float, low: float, high: float) -> FloatArray:
    """Where a convex loss of one number is least between two bounds, shape (1,).

    Newton steps, and the middle of the bracket where a step would leave it.
    """
    x = start
    for _ in range(200):
        _, gradient, hessian = loss(np.array([x]))
        slope, curvature = float(gradient[0]), float(hessian[0, 0])
        low, high = (low, x) if slope > 0 else (x, high)
        newton = x - slope / curvature if curvature > 0 else np.inf
        new = newton if low <= newton <= high else (low + high) / 2
        if abs(new - x) <= 1e-9 * abs(x) + 1e-14:
            return np.array([new])
        x = new
    return np.array([x])


def _search(
    loss: Loss, x: FloatArray, step: FloatArray, share: float, value: float
) -> tuple[FloatArray, float, FloatArray, FloatArray, bool]:
    """The first of a share of the step, half of it, a quarter …, that does not raise the loss beyond rounding."""
    for halvings in range(60):
        at = x + step * (share * 0.5**halvings)
        found = loss(at)
        if found[0] <= value + 1e-14 * (1 + abs(value)):
            return (at, *found, bool(np.any(at != x)))
    return (x, *loss(x), False)


def fit_two_class(columns: FloatArray, event: FloatArray, weight: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """Best (c, x) of expit(c + columns @ x), shape (1 + d,), on columns that are first made uncorrelated.

    Where columns are multiples of each other, of all best ones the shortest x in standard deviations of the columns.
    """
    mean = weight @ columns
    spread = np.sqrt(weight @ (columns - mean) ** 2)
    spread[spread == 0] = 1.0
    z = (columns - mean) / spread
    size, axes = np.linalg.eigh((z * weight[:, None]).T @ z)
    kept = size > 1e-12 * size.max()
    turn, back = axes[:, kept] / np.sqrt(size[kept]), (axes[:, kept] * np.sqrt(size[kept])).T
    begin = np.zeros(1 + int(kept.sum())) if start is None else np.append(start[0] + mean @ start[1:], back @ (spread * start[1:]))
    found = minimise(two_class_loss(np.column_stack([np.ones(len(z)), z @ turn]), event, weight), begin).x
    x = (turn @ found[1:]) / spread
    return np.append(found[0] - mean @ x, x)


def fit_multinomial(z: FloatArray, label: NDArray[np.intp], weight: FloatArray, start: FloatArray | None = None) -> FloatArray | None:
    """Best (w, b) of softmax(w·z + b), shape (2K,), b adding up to 0; None if no finite one is best."""
    k = z.shape[1]
    mean = weight @ z
    spread = np.sqrt(weight @ (z - mean) ** 2)
    spread[spread == 0] = 1.0
    loss = multinomial_loss((z - mean) / spread, label, weight, scaled=True)
    begin = np.zeros(2 * k)
    if start is not None:
        bias = start[k:] + start[:k] * mean
        begin = np.append(start[:k] * spread, bias - bias.mean())
    found = minimise(loss, begin)
    if found.flattened:
        return None
    scale = found.x[:k] / spread
    bias = found.x[k:] - scale * mean
    return np.append(scale, bias - bias.mean())


def two_class_loss(columns: FloatArray, event: FloatArray | float, weight: FloatArray, offset: FloatArray | None = None) -> Loss:
    """Mean log loss of expit(offset + columns @ x), as a function of x; weights add up to 1."""

    def loss(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        logit = columns @ x if offset is None else offset + columns @ x
        p = special.expit(logit)
        value = float(weight @ (np.logaddexp(0.0, logit) - event * logit))
        curved = columns * (weight * p * (1 - p))[:, None]
        return value, (weight * (p - event)) @ columns, curved.T @ columns

    return loss


def scale_loss(excess: FloatArray, weight: FloatArray) -> Loss:
    """Mean log loss of softmax(x·z) as a function of x ≥ 0, from the excess z_k − z_true, shape (n, K)."""
    top = excess.max(axis=1)
    below = excess - top[:, None]

    def loss(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        parts = np.exp(x[0] * below)
        whole = parts.sum(axis=1)
        mean = np.einsum("ij,ij->i", parts, below) / whole
        square = np.einsum("ij,ij,ij->i", parts, below, below) / whole
        value = weight @ (x[0] * top + np.log(whole))
        return float(value), np.array([weight @ (top + mean)]), np.array([[weight @ np.maximum(square - mean**2, 0.0)]])

    return loss


def multinomial_loss(z: FloatArray, label: NDArray[np.intp], weight: FloatArray, *, scaled: bool) -> Loss:
    """Mean log loss of softmax(w·z + b), as a function of (w, b), shape (2K,), or of b alone, shape (K,).

    (Σb)²/2 is added: a constant added to b changes nothing, so the best b is then the one that adds up to 0.
    """
    k = z.shape[1]
    rows = np.arange(len(z))

    def loss(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        logit = x[:k] * z + x[k:] if scaled else z + x
        logit -= logit.max(axis=1, keepdims=True)
        p = np.exp(logit)
        whole = p.sum(axis=1)
        p /= whole[:, None]
        offset = float(x[-k:].sum())
        value = float(weight @ (np.log(whole) - logit[rows, label])) + offset**2 / 2
        spread = p * weight[:, None]
        shares = spread.sum(axis=0)
        bias = shares - np.bincount(label, weights=weight, minlength=k) + offset
        curved = np.diag(shares) - p.T @ spread + 1.0
        if not scaled:
            return value, bias, curved
        slope = spread * z
        both = slope.sum(axis=0)
        scale = both - np.bincount(label, weights=weight * z[rows, label], minlength=k)
        corner = np.diag(both) - p.T @ slope
        p *= z
        top = np.diag(np.einsum("ij,ij->j", slope, z)) - p.T @ slope
        return value, np.append(scale, bias), np.block([[top, corner.T], [corner, curved]])

    return loss
