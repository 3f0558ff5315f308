"""Several looks at one set of rows: p-values and levels adjusted for the number of looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import InputError
from calibcore.proportions import checked_level

__all__ = ["benjamini_hochberg", "bonferroni_level", "holm"]

FloatArray = NDArray[np.float64]


def holm(p_values: Any) -> FloatArray:
    """Holm's adjusted p-values, which tell whether any of several hypotheses fails, and which.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        In any order, each in [0, 1]; None or NaN where there was no test, which does not count as a look.

    Returns
    -------
    array of shape (m,)
        In the order given; NaN where there was no test.  The smallest answers "any?".

    Raises
    ------
    InputError
        If a value is not a number in [0, 1].

    Notes
    -----
    With p sorted, p̃_(k) = max over i ≤ k of min(1, (m − i + 1)·p_(i)).  Rejecting where p̃ ≤ α keeps the chance of any
    false rejection at or below α, however the tests depend on each other.

    References
    ----------
    Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 65–70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    return _adjusted(p_values, lambda p, m: np.maximum.accumulate(p * np.arange(m, 0, -1)))


def benjamini_hochberg(p_values: Any) -> FloatArray:
    """Benjamini and Hochberg's adjusted p-values: a list of findings of which few are false.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        In any order, each in [0, 1]; None or NaN where there was no test, which does not count as a look.

    Returns
    -------
    array of shape (m,)
        In the order given; NaN where there was no test.

    Raises
    ------
    InputError
        If a value is not a number in [0, 1].

    Notes
    -----
    With p sorted, p̃_(k) = min over i ≥ k of min(1, m·p_(i)/i).  Listing where p̃ ≤ α keeps the expected share of false
    entries in the list at or below α, if the tests are independent or positively dependent.  A list may hold false
    entries; "is there any at all?" is for `holm`.

    References
    ----------
    Benjamini & Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    return _adjusted(p_values, lambda p, m: np.minimum.accumulate((p * m / np.arange(1, m + 1))[::-1])[::-1])


def bonferroni_level(level: float, m: int) -> float:
    """The level at which each of ``m`` intervals must be made for all to hold at once with ``level``: 1 − (1 − level)/m.

    Parameters
    ----------
    level : float
        Joint confidence level, a fraction.
    m : int
        Number of intervals, at least 1.

    Raises
    ------
    InputError
        If ``level`` is no fraction between 0 and 1, or ``m`` no whole number from 1 up.

    Notes
    -----
    Holds however the intervals depend on each other; a little wide.

    Examples
    --------
    >>> bonferroni_level(0.95, 5)
    0.99
    """
    if isinstance(m, (bool, np.bool_)) or not isinstance(m, (int, np.integer)) or m < 1:
        raise InputError(f"The number of intervals must be a whole number from 1 up, got {m!r}.", value=m)
    return 1 - (1 - checked_level(level)) / int(m)


def _adjusted(p_values: Any, adjust: Callable[[FloatArray, int], FloatArray]) -> FloatArray:
    """Adjust the sorted p-values that are there, at most 1, and put them back in their places."""
    p = _checked(p_values)
    adjusted = np.full(len(p), np.nan)
    there = np.flatnonzero(~np.isnan(p))
    order = there[np.argsort(p[there], kind="stable")]
    if len(order):
        adjusted[order] = np.minimum(adjust(p[order], len(order)), 1.0)
    return adjusted


def _checked(p_values: Any) -> FloatArray:
    try:
        p = np.array([np.nan if v is None else v for v in p_values], dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("p-values must be a list of numbers in [0, 1], with None where there was no test.") from None
    if p.ndim != 1:
        raise InputError(f"p-values must be one list; these have {p.ndim} dimensions.")
    outside = (p < 0) | (p > 1)
    if outside.any():
        at = int(np.argmax(outside))
        raise InputError(f"p-value {at + 1} is {p[at]:g}; it must lie in [0, 1].", value=float(p[at]), row=at + 1)
    return p
