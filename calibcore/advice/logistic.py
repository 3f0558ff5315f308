"""Maximum likelihood of the recalibration maps: convex losses with exact derivatives, minimised by Newton's method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.errors import InputError

__all__ = ["minimise", "multinomial_loss", "scale_loss", "two_class_loss"]

FloatArray = NDArray[np.float64]
Loss = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]

_STEPS = 40  # a finite optimum needs about ten; without one, Newton's decrement only shrinks e-fold in a step
_DONE = 1e-20
_AT_BOUND = 1e-9


def minimise(loss: Loss, start: FloatArray, lower: float | FloatArray = -np.inf) -> FloatArray:
    """Where a convex loss is least, by projected Newton steps with halving.

    Parameters
    ----------
    loss : callable
        Value, gradient (d,) and Hessian (d, d) at a point.
    start : array of shape (d,)
    lower : float or array of shape (d,)
        Lower bounds.

    Raises
    ------
    InputError
        If no finite point is best: a map that can be steeper and steeper.
    """
    x = np.maximum(start, lower)
    value, gradient, hessian = loss(x)
    for _ in range(_STEPS):
        free = (x > lower + _AT_BOUND) | (gradient < 0)
        step = np.where(free, 0.0, np.maximum(lower, x - 1) - x)
        step[free] = -np.linalg.lstsq(hessian[np.ix_(free, free)], gradient[free], rcond=1e-13)[0]
        if -float(gradient @ step) < _DONE:
            return x
        x, value, gradient, hessian, moved = _search(loss, x, step, lower, value)
        if not moved:
            return x
    raise InputError("No finite numbers fit these rows best: the scores separate the outcomes too well.")


def _search(
    loss: Loss, x: FloatArray, step: FloatArray, lower: float | FloatArray, value: float
) -> tuple[FloatArray, float, FloatArray, FloatArray, bool]:
    """The first of the step, its half, its quarter …, that does not raise the loss beyond rounding."""
    for halvings in range(40):
        at = np.maximum(x + step * 0.5**halvings, lower)
        found = loss(at)
        if found[0] <= value + 1e-14 * (1 + abs(value)):
            return (at, *found, bool(np.any(at != x)))
    return (x, *loss(x), False)


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
    """Mean log loss of softmax(w·z + b), as a function of (w, b), shape (2K,), or of b alone, shape (K,)."""
    k = z.shape[1]
    rows = np.arange(len(z))

    def loss(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        logit = x[:k] * z + x[k:] if scaled else z + x
        logit -= logit.max(axis=1, keepdims=True)
        p = np.exp(logit)
        whole = p.sum(axis=1)
        p /= whole[:, None]
        value = float(weight @ (np.log(whole) - logit[rows, label]))
        spread = p * weight[:, None]
        shares = spread.sum(axis=0)
        bias = shares - np.bincount(label, weights=weight, minlength=k)
        curved = np.diag(shares) - p.T @ spread
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
