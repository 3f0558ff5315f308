"""How other packages put probabilities into bins and add up the gaps: their rules rebuilt, one function each."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.checks import rows_text

__all__ = ["BY_RANK", "LEFT_OUT", "MANY", "ONE", "TWO", "Convention", "Outcome", "ece_in"]

Numbers = NDArray[Any]
Flags = NDArray[np.bool_]
Bins = NDArray[np.intp]

LEFT_OUT = -1  # bin of a row that a rule drops


class Outcome(NamedTuple):
    """What a rule makes of rows.

    Attributes
    ----------
    ece : float or None
        None where the package raises an error.
    bins : array of shape (n,), or None
        Bin of each row; `LEFT_OUT` for a row that is dropped, the number of bins for one in an extra bin.
    in_full : float or None
        The ECE of these bins with sums in double precision.
    remark : str
        What else sets it apart, as a clause.
    """

    ece: float | None
    bins: Bins | None = None
    in_full: float | None = None
    remark: str = ""


Rule = Callable[[Numbers, Flags, int], Outcome]


class Convention(NamedTuple):
    """A rule, what it is called and what it is compared with."""

    tool: str
    rule: Rule
    base: Literal["width", "mass"] = "width"
    about: str = ""


def ece_in(bins: Bins, value: Numbers, event: Flags) -> float:
    """Σ|Σ(event − value)| over bins, divided by all rows; rows left out count in the divisor only."""
    kept = bins != LEFT_OUT
    residual = event.astype(np.float64) - value.astype(np.float64)
    return float(np.sum(np.abs(np.bincount(bins[kept], weights=residual[kept])))) / len(value)


def _plain(bins: Bins, value: Numbers, event: Flags, remark: str = "") -> Outcome:
    ece = ece_in(bins, value, event)
    return Outcome(ece, bins, ece, remark)


def _linspace(m: int) -> NDArray[np.float64]:
    """Edges as the others make them, which miss some decimals; ours are k/m."""
    return np.linspace(0.0, 1.0, m + 1)


# --- scikit-learn -------------------------------------------------------------------------------------------------------


def _curve_uniform(value: Numbers, event: Flags, m: int) -> Outcome:
    return _plain(np.searchsorted(_linspace(m)[1:-1], value), value, event)


def _curve_quantile(value: Numbers, event: Flags, m: int) -> Outcome:
    cuts = np.percentile(value, _linspace(m) * 100)
    return _plain(np.searchsorted(cuts[1:-1], value), value, event)


# --- torchmetrics and PyTorch code -----------------------------------------------------------------------------------------


def _torch_linspace(m: int, dtype: np.dtype[Any]) -> Numbers:
    """Edges as PyTorch makes them: k·step up to the middle, then 1 − k·step, rounded once (fused multiply-add)."""
    step = float(dtype.type(1) / dtype.type(m))
    below = [step * k for k in range((m + 1) // 2)]
    above = [float(1 - Fraction(step) * (m - k)) for k in range((m + 1) // 2, m + 1)]
    return np.array(below + above, dtype=dtype)


def _torchmetrics(value: Numbers, event: Flags, m: int) -> Outcome:
    """Left-closed bins, 1 in a bin of its own; everything is added up in the precision of the data."""
    bins = np.searchsorted(_torch_linspace(m, value.dtype), value, side="right") - 1
    count, confidence, accuracy = (np.zeros(m + 1, dtype=value.dtype) for _ in range(3))
    for sums, rows in ((count, np.ones_like(value)), (confidence, value), (accuracy, event.astype(value.dtype))):
        np.add.at(sums, bins, rows)
    filled = count > 0
    gap = np.abs(accuracy[filled] / count[filled] - confidence[filled] / count[filled])
    return Outcome(float(np.sum(gap * (count[filled] / np.sum(count)))), bins, ece_in(bins, value, event))


def _torchmetrics_single(value: Numbers, event: Flags, m: int) -> Outcome:
    return _torchmetrics(value.astype(np.float32), event, m)


def _guo(value: Numbers, event: Flags, m: int) -> Outcome:
    """Bins (a, b] in single precision, so a confidence of 0 belongs to none."""
    single = value.astype(np.float32)
    bins = np.searchsorted(_torch_linspace(m, single.dtype), single, side="left") - 1
    return _plain(bins, single, event)


# --- netcal ----------------------------------------------------------------------------------------------------------------


def _netcal(value: Numbers, event: Flags, m: int) -> Outcome:
    """Rows are counted with edges in double precision and averaged with edges in the precision of the data."""
    tiny = np.finfo(value.dtype).eps
    clipped = np.clip(value, tiny, 1 - tiny)
    edges = _linspace(m)
    counted = np.searchsorted(edges, clipped, side="right") - 1
    averaged = np.searchsorted(edges.astype(value.dtype), clipped, side="right") - 1
    count = np.bincount(counted, minlength=m)
    rows = np.bincount(averaged, minlength=m)
    residual = np.bincount(averaged, weights=event - clipped.astype(np.float64), minlength=m)
    both = (count > 0) & (rows > 0)
    ece = float(np.sum(np.abs(residual[both] / rows[both]) * (count[both] / len(value))))
    apart = int(np.count_nonzero(counted != averaged))
    remark = f"{rows_text(apart)} at an edge counted in one bin and averaged in another" if apart else ""
    return Outcome(ece, counted, ece_in(averaged, value, event) if not apart else ece, remark)


# --- relplot ---------------------------------------------------------------------------------------------------------------


def _relplot(value: Numbers, event: Flags, m: int) -> Outcome:
    """The bin is the whole part of value / (1/m), so 1 has a bin of its own."""
    width = 1.0 / m
    bins = (value / width).astype(np.intp)
    if bins.max() > int(1 / width):
        return Outcome(None, remark="raises an IndexError, because in float32 a value of 1 lies beyond the last bin")
    return _plain(bins, value, event)


# --- uncertainty-calibration -----------------------------------------------------------------------------------------------


def _get_ece(value: Numbers, event: Flags, m: int) -> Outcome:
    return _plain(np.searchsorted(np.arange(1, m + 1) / m, value), value, event)


def _equal_bins(value: Numbers, m: int) -> Numbers:
    """Upper edges half way between the last row of a part and the first row of the next."""
    parts = np.array_split(np.sort(value), min(m, len(value)))
    middle = [(a[-1] + b[0]) / 2.0 for a, b in pairwise(parts)]
    return np.unique(np.array([*middle, 1.0], dtype=np.float64))


def _get_ece_em(value: Numbers, event: Flags, m: int) -> Outcome:
    return _plain(np.searchsorted(_equal_bins(value, m), value), value, event)


def _get_ece_em_debiased(value: Numbers, event: Flags, m: int) -> Outcome:
    edges = _equal_bins(value, m)
    return _debiased(np.searchsorted(edges, value), value, event, len(edges))


def _get_ece_debiased(value: Numbers, event: Flags, m: int) -> Outcome:
    return _debiased(np.searchsorted(np.arange(1, m + 1) / m, value), value, event, m)


def _debiased(bins: Bins, value: Numbers, event: Flags, m: int) -> Outcome:
    """Twice the ECE minus the mean ECE of accuracies redrawn as normal: its mean, where the package draws 1,000."""
    count = np.bincount(bins, minlength=m)
    if count.min() <= 1:
        least = "no row" if count.min() == 0 else "one row"
        return Outcome(None, remark=f"raises a ValueError, because a bin holds {least} and its correction needs two")
    accuracy = np.bincount(bins, weights=event, minlength=m) / count
    gap = accuracy - np.bincount(bins, weights=value.astype(np.float64), minlength=m) / count
    spread = np.sqrt(accuracy * (1 - accuracy) / count)
    plugin, redrawn = (float(np.sum(count / len(value) * g)) for g in (np.abs(gap), _mean_absolute(gap, spread)))
    noise = redrawn - plugin
    taken = f"takes off {noise:.2g}" if noise > 5e-7 else "finds nothing to take off"
    remark = f"{taken} for sampling noise (on average: the package draws at random)"
    return Outcome(2 * plugin - redrawn, bins, plugin, remark)


def _mean_absolute(mean: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """E|X| of normal X."""
    z = mean / np.where(spread > 0, spread, 1.0)
    noisy = spread * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + mean * special.erf(z / np.sqrt(2))
    return np.where(spread > 0, noisy, np.abs(mean))


# --- code that papers and notebooks repeat ------------------------------------------------------------------------------------


def _loop_right(value: Numbers, event: Flags, m: int) -> Outcome:
    return _plain(np.searchsorted(_linspace(m), value, side="left") - 1, value, event)


def _loop_left(value: Numbers, event: Flags, m: int) -> Outcome:
    bins = np.searchsorted(_linspace(m), value, side="right") - 1
    return _plain(np.where(bins == m, LEFT_OUT, bins), value, event)


def _digitize(value: Numbers, event: Flags, m: int) -> Outcome:
    return _plain(np.digitize(value, _linspace(m)) - 1, value, event)


def _by_rank(value: Numbers, event: Flags, m: int) -> Outcome:
    """Equal numbers of rows by position after a stable sort: tied rows are parted as they stand in the file."""
    order = np.argsort(value, kind="stable")
    bins = np.empty(len(value), dtype=np.intp)
    parts = np.array_split(order, m)
    for i, part in enumerate(parts):
        bins[part] = i
    ends = [p for p in parts if len(p)]
    cut = {value[a[-1]] for a, b in pairwise(ends) if value[a[-1]] == value[b[0]]}
    parted = int(np.count_nonzero(np.isin(value, list(cut)))) if cut else 0
    remark = f"{rows_text(parted)} with equal scores parted by their order in the data" if parted else ""
    return _plain(bins, value, event, remark)


BY_RANK = Convention("equal mass by rank", _by_rank, "mass", "bins of equally many rows, counted off in sorted order")
_SHARED = (
    Convention("netcal (ECE)", _netcal),
    Convention("relplot (binnedECE)", _relplot),
    Convention("uncertainty-calibration (get_ece)", _get_ece),
    Convention("uncertainty-calibration (get_ece, debias)", _get_ece_debiased),
    Convention("uncertainty-calibration (get_ece_em)", _get_ece_em, "mass", "equal mass, cut half way between neighbouring rows"),
    Convention("uncertainty-calibration (get_ece_em, debias)", _get_ece_em_debiased, "mass", "equal mass, cut half way"),
    Convention("loop over (lo, hi]", _loop_right),
    Convention("loop over [lo, hi)", _loop_left),
    Convention("numpy.digitize", _digitize),
)
_SKLEARN = (
    Convention("scikit-learn (calibration_curve, uniform)", _curve_uniform),
    Convention("scikit-learn (calibration_curve, quantile)", _curve_quantile, "mass", "equal mass, cut at interpolated quantiles"),
)
_TORCHMETRICS = Convention("torchmetrics (multiclass)", _torchmetrics_single)
_GUO = Convention("Guo et al. 2017 (temperature_scaling)", _guo)

ONE = (
    *_SKLEARN,
    Convention("torchmetrics (binary)", _torchmetrics),
    Convention("torchmetrics (binary, float32)", _torchmetrics_single),
    *_SHARED,
)
"""What takes one probability a row."""
TWO = (
    _TORCHMETRICS,
    Convention("relplot (binnedECE, two columns)", _relplot),
    Convention("uncertainty-calibration (get_ece, two columns)", _get_ece),
    _GUO,
)
"""What makes the predicted class of two columns, where those of `ONE` take P(positive)."""
MANY = (*_SKLEARN, _TORCHMETRICS, *_SHARED, _GUO)
"""What is applied to the confidence in the predicted class of several."""
