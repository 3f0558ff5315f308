"""Intervals and ranges of proportions: Wilson, Clopper–Pearson, Jeffreys, and where a binomial share falls."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.errors import InputError

__all__ = ["IntervalMethod", "binomial_interval", "binomial_range", "checked_level", "finite_or_none", "wilson_interval"]

FloatArray = NDArray[np.float64]
IntervalMethod = Literal["wilson", "clopper_pearson", "jeffreys"]


def finite_or_none(x: Any) -> float | None:
    """A number as plain data: None where it is undefined or infinite."""
    return float(x) if np.isfinite(x) else None


def checked_level(level: float) -> float:
    """``level`` as a fraction between 0 and 1, or an InputError."""
    if not isinstance(level, (int, float, np.floating)) or not 0 < level < 1:
        raise InputError(f"The level must be a fraction between 0 and 1, such as 0.95; got {level!r}.", value=level)
    return float(level)


def binomial_interval(successes: FloatArray, n: FloatArray, level: float, method: IntervalMethod) -> tuple[FloatArray, FloatArray]:
    """Interval of a proportion by any of the methods of `BinnedStatistics.interval`; NaN where ``n`` is 0 or NaN.

    Clopper-Pearson: beta quantiles B(α/2; k, n − k + 1) and B(1 − α/2; k + 1, n − k).  Jeffreys: B(·; k + ½, n − k + ½).
    The ends are exactly 0 and 1 at k = 0 and n.  ``n`` and ``successes`` may be any real numbers.
    """
    if method not in get_args(IntervalMethod):
        raise InputError(f"method must be one of {', '.join(get_args(IntervalMethod))}; got {method!r}.", value=method)
    if method == "wilson":
        return wilson_interval(successes, n, level)
    filled = np.asarray(n) > 0
    n = np.where(filled, n, 1.0)
    k = np.clip(np.where(filled, successes, 0.0), 0.0, n)
    more = 1.0 if method == "clopper_pearson" else 0.5
    tail, tiny = (1 - level) / 2, 1e-300  # a parameter of 0 belongs to an end that is set
    low = special.betaincinv(np.maximum(k + (1 - more), tiny), n - k + more, tail)
    high = special.betainccinv(k + more, np.maximum(n - k + (1 - more), tiny), tail)
    low, high = np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)
    return np.where(filled, low, np.nan), np.where(filled, high, np.nan)


def wilson_interval(successes: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Wilson score interval for a proportion; NaN where ``n`` is 0.

    Centre (k + z²/2)/(n + z²), half-width z/(n + z²)·√(k(n − k)/n + z²/4); the ends are exactly 0 and 1 at k = 0 and n.
    """
    n = np.asarray(n, dtype=np.float64)
    k = np.clip(np.asarray(successes, dtype=np.float64), 0.0, n)
    z = float(special.ndtri((1 + level) / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (k + z**2 / 2) / (n + z**2)
        half = z / (n + z**2) * np.sqrt(k * (n - k) / n + z**2 / 4)
    low = np.where(k == 0, 0.0, np.maximum(centre - half, 0.0))
    high = np.where(k == n, 1.0, np.minimum(centre + half, 1.0))
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def binomial_range(n: FloatArray, p: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Central range of a binomial proportion: the (1 ∓ level)/2 quantiles of B(n, p), divided by n; NaN where n is 0.

    With weights, ``n`` is an effective number of rows and is rounded to a whole one.
    """
    rows = np.maximum(np.rint(n), 1.0)
    ends = [np.where(np.asarray(n) > 0, _binomial_quantile(q, rows, p) / rows, np.nan) for q in ((1 - level) / 2, (1 + level) / 2)]
    return ends[0], ends[1]


def _binomial_quantile(q: float, n: FloatArray, p: FloatArray) -> FloatArray:
    """Smallest k with P(X ≤ k) ≥ q."""
    safe = np.clip(np.nan_to_num(p, nan=0.5), 0.0, 1.0)
    certain = (safe == 0.0) | (safe == 1.0)
    inner = np.where(certain, 0.5, safe)
    k = np.clip(np.ceil(special.bdtrik(q, n, inner)), 0.0, n)
    k = np.nan_to_num(k)
    lower = np.maximum(k - 1, 0.0)
    k = np.where(special.bdtr(lower, n.astype(np.int64), inner) >= q, lower, k)
    return np.where(certain, n * safe, k)
