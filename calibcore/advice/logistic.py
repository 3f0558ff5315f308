"""Maximum likelihood of the recalibration maps: convex losses with exact derivatives, minimised by Newton's method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["flattened", "minimise", "multinomial_loss", "scale_loss", "two_class_loss"]

FloatArray = NDArray[np.float64]
Loss = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]

_STEPS = 60  # a finite optimum needs about ten; without one, the loss grows flatter e-fold in a step
_DONE = 1e-20
_FLAT = 1e-9  # of the first curvature
_FARTHEST = 30.0  # no step is longer than so many times the point; where the loss is all but flat, Newton's would be
_DAMPING = 1e-3


def minimise(loss: Loss, start: FloatArray) -> FloatArray:
    """Where a convex loss is least, by Newton steps that are damped by the gradient, with halving.

    Parameters
    ----------
    loss : callable
        Value, gradient (d,) and Hessian (d, d) at a point.
    start : array of shape (d,)
    """
    x = start
    value, gradient, hessian = loss(x)
    for _ in range(_STEPS):
        damped = hessian + _DAMPING * np.linalg.norm(gradient) * np.eye(len(x))
        step = -np.linalg.lstsq(damped, gradient, rcond=1e-13)[0]
        if -float(gradient @ step) < _DONE:
            return np.asarray(x + step)
        step *= min(1.0, _FARTHEST * (1 + float(np.abs(x).max())) / float(np.abs(step).max()))
        x, value, gradient, hessian, moved = _search(loss, x, step, value)
        if not moved:
            break
    return x


def minimise_one(loss: Loss, start: float, low: float, high: float) -> float:
    """Where a convex loss of one number is least between two bounds: Newton, or halving where a step leaves the bracket."""
    x = start
    for _ in range(200):
        _, gradient, hessian = loss(np.array([x]))
        slope, curvature = float(gradient[0]), float(hessian[0, 0])
        low, high = (low, x) if slope > 0 else (x, high)
        newton = x - slope / curvature if curvature > 0 else np.nan
        if low < newton < high:
            if abs(newton - x) <= 1e-9 * abs(x):
                return newton
            x = newton
        elif high - low <= 1e-15 * max(abs(low), abs(high)) or slope == 0:
            return x
        else:
            x = high if slope < 0 and _still_falls(loss, high) else low if slope > 0 and not _still_falls(loss, low) else (low + high) / 2
    return x


def _still_falls(loss: Loss, x: float) -> bool:
    return float(loss(np.array([x]))[1][0]) < 0


def flattened(loss: Loss, first: FloatArray, last: FloatArray) -> bool:
    """Whether a loss that is curved in some direction at ``first`` is flat in it at ``last``: the way to infinity."""
    size, axes = np.linalg.eigh(loss(first)[2])
    curved = size > 1e-12 * size.max()
    scaled = axes[:, curved] / np.sqrt(size[curved])
    return bool(curved.any() and np.linalg.eigvalsh(scaled.T @ loss(last)[2] @ scaled).min() < _FLAT)


def _search(
    loss: Loss, x: FloatArray, step: FloatArray, lower: float, value: float
) -> tuple[FloatArray, float, FloatArray, FloatArray, bool]:
    """The first of the step, its half, its quarter …, that does not raise the loss beyond rounding."""
    for halvings in range(60):
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
