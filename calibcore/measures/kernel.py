"""Calibration errors from kernels, on request: the kernel density ECE, and the kernel calibration error (SKCE, MMCE)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.errors import InputError
from calibcore.measures.arrays import view_profile
from calibcore.profile import Profile
from calibcore.redraw import group_starts, redraw_groups
from calibcore.summation import total

__all__ = ["KernelError", "kde_calibration_error", "kde_error", "kernel_calibration_error", "kernel_error"]

FloatArray = NDArray[np.float64]

MAX_ROWS = 5000  # of the kernel density ECE, whose cost grows with their square
_ROUNDING = 1e-12
_BLOCK = 256  # cells evaluated at a time
_SMALL = 32  # cells that a cluster may touch to be multiplied out pair by pair
_TINY = 1e-300  # stands for 0 in logarithms: the limit towards 0 is meant
_FEW = 1024
_STEP = 0.001
_REACH = 8.0  # widths that one stretch of the sweep covers


def kde_error(profile: Profile, *, bandwidth: float, power: float = 1) -> float:
    """Calibration error with the outcome at each score estimated by a beta kernel from all other rows.

    Parameters
    ----------
    profile : Profile
        Of 2 to 5,000 rows: the cost grows with the square of their number.
    bandwidth : float
        Of the beta kernel, above 0.  It decides the value, so there is no default; 0.1 is coarse, 0.001 fine.
    power : float
        1 for the mean of the absolute, 2 for the mean of the squared differences (no root is taken).

    Returns
    -------
    float

    Raises
    ------
    InputError
        For more than 5,000 rows, a single row, rows in clusters, or a bandwidth or power that is not above 0.

    Notes
    -----
    (1/n) Σ_i |Σ_{j≠i} k(p_i; p_j)·y_j / Σ_{j≠i} k(p_i; p_j) − p_i|^power, where k(·; p) is the density of
    Beta(p/h + 1, (1 − p)/h + 1).  Equal scores are rows of their own: each leaves out itself only.  At a score of 0 or
    1 the limit of the ratio is taken.  With weights, means are weighted and a row leaves out its own weight (the mean
    weight of the rows with the same score and outcome), so that a weight of 3 is one row left out, not one of three.
    Consistent as n grows and h falls; biased for any n, since noise counts as error.  Rows in clusters are refused: a row
    would be judged by others that share its outcome.

    References
    ----------
    Popordanoska, Sayer & Blaschko (2022), arXiv:2210.07810.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> p = Predictions.from_arrays([1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5]).profile("positive")
    >>> round(kde_error(p, bandwidth=0.1), 12)  # the other three rows: 1/3 or 2/3 against 1/2
    0.166666666667
    """
    _checked(profile, bandwidth, power)
    value = profile.value.astype(np.float64)
    right = np.asarray(profile.positive, dtype=np.float64)
    wrong = profile.weight - right
    rest_right = _without_one(right, profile.positive_squared)
    rest_wrong = _without_one(wrong, np.asarray(profile.weight_squared) - profile.positive_squared)
    errors = np.zeros(len(value))
    for start in range(0, len(value), _BLOCK):
        rows = slice(start, start + _BLOCK)
        log_kernel = _log_beta_kernel(value[rows], value, bandwidth)
        for left in ((right, rest_right[rows], wrong[rows]), (wrong, rest_wrong[rows], right[rows])):
            share = _left_out_share(log_kernel, right + wrong, start, left)
            estimate = share if left[0] is right else 1 - share
            part = np.abs(estimate - value[rows]) ** power
            errors[rows] += np.where(left[0][rows] > 0, left[0][rows] * part, 0.0)
    return total(errors) / profile.weight_sum


def kde_calibration_error(  # noqa: PLR0913 - the settings of a kernel density
    y_true: Any,
    y_prob: Any,
    *,
    bandwidth: float,
    power: float = 1,
    view: str | None = None,
    classes: Sequence[Any] | None = None,
    sample_weight: Any = None,
) -> float:
    """Kernel density ECE with a beta kernel, each row judged by the others; up to 5,000 rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, as in `Predictions.from_arrays`.
    y_prob : array-like of shape (n,) or (n, K)
        P(positive), or one column a class.
    bandwidth : float
        Of the kernel; it decides the value.
    power : float
        1 or 2, usually; no root is taken.
    view : str, optional
        ``"top_label"``, ``"positive"`` or ``"class:<name>"``; by default positive for (n,), top_label for (n, K).
    classes : sequence, optional
        Class names in column order.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    float

    Raises
    ------
    InputError
        For more than 5,000 rows, a single row, a bandwidth or power that is not above 0, and input that cannot be used.

    Notes
    -----
    (1/n) Σ_i |Σ_{j≠i} k(p_i; p_j)·y_j / Σ_{j≠i} k(p_i; p_j) − p_i|^power, where k(·; p) is the density of
    Beta(p/h + 1, (1 − p)/h + 1).  Assumes independent rows.  Consistent as n grows and h falls; biased for any n, since noise
    counts as error.  Weights, ties and profiles: `calibcore.measures.kernel.kde_error`.
    Some code doubles the binary value, counting both classes; this does not.

    References
    ----------
    Popordanoska, Sayer & Blaschko (2022), arXiv:2210.07810.

    Examples
    --------
    >>> round(kde_calibration_error([1, 1], [0.25, 0.75], bandwidth=0.1), 12)  # each expects the other's outcome
    0.5
    """
    profile = view_profile(y_true, y_prob, view=view, classes=classes, sample_weight=sample_weight)
    return kde_error(profile, bandwidth=bandwidth, power=power)


@dataclass(frozen=True, slots=True, eq=False)
class KernelError:
    """Outcome of `kernel_calibration_error`: squared kernel calibration error with the Laplace kernel.

    Attributes
    ----------
    profile : Profile
        The input.
    width : float
        Of the kernel exp(−|p − p'|/width).
    unbiased : float or None
        Mean over pairs of different rows, and of different clusters; may be negative; None for a single row (or cluster),
        or where one holds all the weight.
    biased : float
        Mean over all pairs, a row with itself included; at least 0.
    """

    profile: Profile
    width: float
    unbiased: float | None
    biased: float

    def __repr__(self) -> str:
        unbiased = "None" if self.unbiased is None else f"{self.unbiased:.4g}"
        return f"<KernelError: unbiased {unbiased}, MMCE {self.mmce:.4g} at width {self.width:g}>"

    @property
    def mmce(self) -> float:
        """Maximum mean calibration error: the root of the biased value."""
        return float(np.sqrt(self.biased))

    def p_value(self, *, draws: int = 1000, seed: int = 0) -> float:
        """(1 + redrawn biased values at least as large)/(draws + 1), labels being redrawn from the probabilities.

        Up to 1,024 cells are redrawn one by one; beyond, groups of cells no wider than 0.001, observed and redrawn alike.
        """
        profile = self.profile
        starts = group_starts(profile.value, cuts=np.array([], dtype=np.intp), step=_STEP, few=_FEW)
        bounds = np.append(starts, len(profile))
        weight, confidence, residual = (profile.cumulative(q).between(bounds) for q in ("weight", "confidence", "residual"))
        at = confidence / weight
        observed = float(_pair_sums(at, residual[np.newaxis], self.width)[0]) * (1 - 1e-9)
        drawn = redraw_groups(profile, starts).residuals(draws, np.random.default_rng(seed))
        return (1 + sum(int(np.count_nonzero(_pair_sums(at, r, self.width) >= observed)) for r in drawn)) / (draws + 1)

    def to_dict(self) -> dict[str, float | None]:
        """As plain data."""
        return {"unbiased": self.unbiased, "biased": self.biased, "mmce": self.mmce, "width": self.width}


def kernel_error(profile: Profile, *, width: float = 0.4) -> KernelError:
    """Squared kernel calibration error with the Laplace kernel, exactly over all pairs of rows.

    Parameters
    ----------
    profile : Profile
    width : float
        At least 0.0001; 0.4 is what the source used for MMCE.

    Returns
    -------
    KernelError

    Raises
    ------
    InputError
        For a width below 0.0001.

    Notes
    -----
    With r = y − p and k = exp(−|p − p'|/width): biased = Σ_ij w_i w_j r_i r_j k_ij/(Σw)², MMCE its root, unbiased =
    Σ_{i≠j} w_i w_j r_i r_j k_ij/((Σw)² − Σw²).  The unbiased value has the population's value as its mean for
    independent rows and is 0 on average under calibration; the biased one is larger by about Σp(1 − p)/n².  Where rows
    are in clusters, the unbiased value leaves out the pairs of rows of the same cluster, above and below the line: their
    mean product is not 0 under calibration.  The p-value redraws clusters as `redraw_groups` describes.  Neither value
    has a natural unit: read the p-value.  A weight equals repetitions in the biased value only, since copies of a row
    are pairs of rows.  One sweep over the sorted cells instead of all pairs.

    References
    ----------
    Kumar, Sarawagi & Jain (2018), PMLR 80:2805-2814 (MMCE); Widmann, Lindsten & Zachariah (2019), arXiv:1910.11385.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> k = kernel_error(Predictions.from_arrays([1, 1], [0.5, 0.5]).profile("positive"))
    >>> k.unbiased, k.biased, k.mmce
    (0.25, 0.25, 0.5)
    """
    if not (_is_number(width) and width >= 1e-4):
        raise InputError(f"The width of the kernel must be a number from 0.0001 upwards, not {width!r}.", value=width)
    whole = profile.weight_sum
    value, residual = profile.value.astype(np.float64), profile.cell_sums("residual") / whole
    biased = float(_pair_sums(value, residual[np.newaxis], width)[0])
    same, squares = _same_cluster(profile, width)
    alone = total(profile.cell_sums("residual_squared") / whole**2) + same
    pairs = 1 - total(profile.weight_squared / whole**2) - squares
    unbiased = (biased - alone) / pairs if profile.n > 1 and pairs > _ROUNDING else None
    return KernelError(profile, float(width), unbiased, max(0.0, biased))


def _same_cluster(profile: Profile, width: float) -> tuple[float, float]:
    """Σ w·w'·r·r'·k and Σ w·w' over the ordered pairs of different rows of one cluster, for weights of sum 1."""
    c = profile.clusters
    if c is None:
        return 0.0, 0.0
    whole, value = profile.weight_sum, profile.value.astype(np.float64)[c.cell]
    weight, squared, right_squared = c.weight / whole, c.weight_squared / whole**2, c.positive_squared / whole**2
    residual = c.positive / whole - weight * value
    own = right_squared * (1 - value) ** 2 + (squared - right_squared) * value**2
    starts = np.append(c.starts, len(value))
    small = np.diff(starts) <= _SMALL
    v, r, number = (a[small[c.cluster]] for a in (value, residual, c.cluster))
    found = float(np.sum(r**2))
    for step in range(1, min(_SMALL, len(v))):
        first = np.flatnonzero(number[:-step] == number[step:])
        found += 2 * float(np.sum(r[first] * r[first + step] * np.exp(-(v[first + step] - v[first]) / width)))
    for k in np.flatnonzero(~small):
        part = slice(starts[k], starts[k + 1])
        found += float(_pair_sums(value[part], residual[np.newaxis, part], width)[0])
    return found - total(own), total(c.per_cluster(weight) ** 2) - total(squared)


def kernel_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    width: float = 0.4,
    view: str | None = None,
    classes: Sequence[Any] | None = None,
    sample_weight: Any = None,
) -> KernelError:
    """Squared kernel calibration error (SKCE) and maximum mean calibration error (MMCE), Laplace kernel.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, as in `Predictions.from_arrays`.
    y_prob : array-like of shape (n,) or (n, K)
        P(positive), or one column a class.
    width : float
        Of the kernel exp(−|p − p'|/width).
    view : str, optional
        ``"top_label"``, ``"positive"`` or ``"class:<name>"``; by default positive for (n,), top_label for (n, K).
    classes : sequence, optional
        Class names in column order.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    KernelError

    Raises
    ------
    InputError
        For a width below 0.0001 and input that cannot be used.

    Notes
    -----
    With r = y − p and k = exp(−|p − p'|/width): ``biased`` = Σ_ij r_i r_j k_ij/n², ``mmce`` its root, ``unbiased`` =
    Σ_{i≠j} r_i r_j k_ij/(n² − n).  For independent rows the unbiased value has the population's value as its mean; the
    biased one is larger by about Σp(1 − p)/n².  Neither has a natural unit: read the p-value.  Weights and profiles:
    `calibcore.measures.kernel.kernel_error`.

    References
    ----------
    Kumar, Sarawagi & Jain (2018), PMLR 80:2805-2814; Widmann, Lindsten & Zachariah (2019), arXiv:1910.11385.

    Examples
    --------
    >>> kernel_calibration_error([1, 1, 0, 0], [0.5] * 4).mmce
    0.0
    """
    return kernel_error(view_profile(y_true, y_prob, view=view, classes=classes, sample_weight=sample_weight), width=width)


def _checked(profile: Profile, bandwidth: float, power: float) -> None:
    if profile.n > MAX_ROWS:
        raise InputError(
            f"The kernel density ECE takes at most {MAX_ROWS:,} rows, since its cost grows with their square; these are {profile.n:,}. "
            "Take a random sample of the rows, or the smooth calibration error.",
            rule="at most 5,000 rows",
            value=profile.n,
        )
    if profile.n < 2:
        raise InputError("The kernel density ECE needs at least 2 rows: each is judged by the others.", value=profile.n)
    if profile.clusters is not None:
        why = "judges each row by the others, which must be independent, and these rows are in clusters"
        raise InputError(f"The kernel density ECE {why}; use the kernel calibration error (kernel_error), which allows for them.")
    for name, value in (("bandwidth", bandwidth), ("power", power)):
        if not (_is_number(value) and value > 0):
            raise InputError(f"The {name} must be a number above 0, not {value!r}.", value=value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and bool(np.isfinite(value))


def _without_one(weight: FloatArray, squared: Any) -> FloatArray:
    """Weight of each cell's rows of one outcome without one of them, whose weight is taken as Σw²/Σw."""
    own = np.divide(squared, weight, out=np.zeros(len(weight)), where=weight > 0)
    rest = weight - own
    return np.where(rest <= 1e-12 * own, 0.0, rest)


def _log_beta_kernel(at: FloatArray, centre: FloatArray, bandwidth: float) -> FloatArray:
    """Log of k(at; centre): shape (at, centre)."""
    a, b = centre / bandwidth, (1 - centre) / bandwidth
    low, high = np.log(np.maximum(at, _TINY)), np.log(np.maximum(1 - at, _TINY))
    return np.asarray(np.outer(low, a) + np.outer(high, b) - special.betaln(a + 1, b + 1))


def _left_out_share(log_kernel: FloatArray, weight: FloatArray, start: int, left: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
    """Kernel share of the rows with one outcome, for a row of that outcome in each cell from ``start``, itself left out.

    ``left``: weight of the outcome in all cells; in the own cell without the row; and of the other outcome there.
    """
    same, rest, other = left
    here = np.arange(len(rest))
    own = (here, start + here)
    lone = rest + other <= 0
    logs = log_kernel.copy()
    logs[here[lone], start + here[lone]] = -np.inf
    top = logs.max(axis=1, keepdims=True)
    kernel = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
    home = kernel[own]
    kernel[own] = 0.0
    share = kernel @ same + home * rest
    whole = kernel @ weight + home * (rest + other)
    return np.asarray(np.divide(share, whole, out=np.ones(len(here)), where=whole > 0))


def _pair_sums(at: FloatArray, residual: FloatArray, width: float) -> FloatArray:
    """Σ_ij r_i r_j exp(−|x_i − x_j|/width) of each line of ``residual``, shape (draws, cells), for rising ``at``.

    Sums from the left are carried from cell to cell, multiplied by exp(−step/width); within a stretch of eight widths
    this is one cumulative sum.
    """
    stretch = np.floor((at - at[0]) / (_REACH * width))
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(stretch)) + 1, [len(at)]]).tolist()
    found = np.sum(residual**2, axis=1)
    carry, reached = np.zeros(len(residual)), float(at[0])  # Σ r_j exp(−(reached − x_j)/width) of the cells before
    for a, b in pairwise(bounds):
        x, r = (at[a:b] - at[a]) / width, residual[:, a:b]
        carry *= np.exp(-(at[a] - reached) / width)
        upto = np.cumsum(r * np.exp(x), axis=1)
        before = np.concatenate([np.zeros((len(r), 1)), upto[:, :-1]], axis=1) + carry[:, np.newaxis]
        found = found + 2 * np.sum(r * np.exp(-x) * before, axis=1)
        carry, reached = (carry + upto[:, -1]) * np.exp(-x[-1]), float(at[b - 1])
    return np.asarray(found)
