"""Is the difference between two models real?  Paired where they were judged on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.checks import listing, name_key
from calibcore.errors import InputError
from calibcore.inference.intervals import Estimate
from calibcore.predictions import Predictions
from calibcore.profile import CLIP

__all__ = ["Differences", "Pairing", "differences", "pair"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Which rows of two models are the same.

    Attributes
    ----------
    paired : bool
    how : str
        ``"id"``, ``"row order"`` or ``"not paired"``.
    first, second : array of shape (common,)
        Positions of the common rows in either model.
    only_first, only_second : int
        Rows that the other model lacks.
    """

    paired: bool
    how: str
    first: IndexArray
    second: IndexArray
    only_first: int = 0
    only_second: int = 0

    @property
    def n_common(self) -> int:
        """Rows that both models have."""
        return len(self.first) if self.paired else 0


@dataclass(frozen=True, slots=True)
class Differences:
    """Model minus baseline, each with its interval; None where the two cannot be compared.

    ECE differences are a description only: the plug-in ECE of a sample is biased by an amount that depends on the
    model, so a difference of two has no honest interval.
    """

    model: str
    pairing: Pairing
    log_loss: Estimate | None
    brier: Estimate | None
    gap: Estimate
    notes: tuple[str, ...] = ()


def _labels(model: Predictions) -> NDArray[np.object_] | None:
    if model.label is None:
        return None
    keys: NDArray[np.object_] = np.empty(len(model.classes), dtype=object)
    keys[:] = [name_key(c) for c in model.classes]
    return keys[model.label]


def pair(first: Predictions, second: Predictions) -> Pairing:
    """Match the rows of two models: by id, else by row order where the label sequences are identical.

    Raises
    ------
    InputError
        If an id repeats, or the same id has different labels.
    """
    if first.ids is not None and second.ids is not None:
        return _by_id(first, second)
    a, b = _labels(first), _labels(second)
    if a is not None and b is not None and len(a) == len(b) and bool(np.all(a == b)) and len(set(a.tolist())) > 1:
        every = np.arange(first.n)
        return Pairing(True, "row order", every, every)
    return _not_paired(first, second)


def _not_paired(first: Predictions, second: Predictions) -> Pairing:
    nothing = np.arange(0)
    return Pairing(False, "not paired", nothing, nothing, first.n, second.n)


def _by_id(first: Predictions, second: Predictions) -> Pairing:
    for model in (first, second):
        distinct, counts = np.unique(_text(model.ids), return_counts=True)
        if (counts > 1).any():
            raise InputError(
                f"In {model.name} the id {distinct[np.argmax(counts > 1)]} occurs {counts[np.argmax(counts > 1)]} times; "
                "rows can only be paired by ids that occur once.",
            )
    common, i, j = np.intersect1d(_text(first.ids), _text(second.ids), assume_unique=True, return_indices=True)
    if not len(common):
        return _not_paired(first, second)
    a, b = _labels(first), _labels(second)
    if a is not None and b is not None:
        conflicts = a[i] != b[j]
        if np.any(conflicts):
            raise InputError(
                f"{first.name} and {second.name} have different labels for {int(np.sum(conflicts)):,} ids "
                f"({listing(common[conflicts].tolist())}). "
                "Mend one file, or compare them as separate samples by leaving out the ids.",
            )
    return Pairing(True, "id", i, j, first.n - len(common), second.n - len(common))


def _text(ids: NDArray[Any] | None) -> NDArray[np.str_]:
    array = np.asarray(ids)
    if array.dtype.kind == "f" and np.all(array == np.floor(array)) and np.all(np.abs(array) < 2**53):
        array = array.astype(np.int64)  # 7.0 is the id 7
    return array.astype(str)


def differences(baseline: Predictions, model: Predictions, *, view: str = "top_label", level: float = 0.95) -> Differences:
    """Differences of log loss, Brier score and signed gap, model − baseline, with intervals.

    Parameters
    ----------
    baseline, model : Predictions
    view : str
        View of the gap.
    level : float
        Confidence level of the intervals, a fraction.

    Notes
    -----
    Paired: mean of the row differences ± t·sd/√n, assuming independent rows.  Not paired: the difference of two
    means with √(se₁² + se₂²) and Welch's degrees of freedom, which is wider.  Where a log loss was raised from
    infinity (clipped), its difference gets no interval: decide on the Brier score.

    References
    ----------
    Diebold & Mariano (1995), doi:10.1080/07350015.1995.10524599.
    """
    pairing = pair(baseline, model)
    notes = _weight_note(pairing, baseline, model)
    a, b = _row_values(baseline, view), _row_values(model, view)
    brier = log_loss = None
    if _same_scale(baseline, model):
        brier = _difference(pairing, baseline, model, (a[0], b[0]), level)
        log_loss = _difference(pairing, baseline, model, (a[1], b[1]), level)
        clipped = int(np.sum(a[1] >= -np.log(CLIP)) + np.sum(b[1] >= -np.log(CLIP)))
        if clipped:
            log_loss = Estimate(log_loss.value)
            notes.append(
                f"{clipped:,} log losses were raised from infinity, so their difference has no interval; decide on the Brier score."
            )
    else:
        notes.append(
            f"{model.name} and {baseline.name} have different kinds of scores (one class, two or more), so only the gap is compared."
        )
    return Differences(model.name, pairing, log_loss, brier, _difference(pairing, baseline, model, (a[2], b[2]), level), tuple(notes))


def _weight_note(pairing: Pairing, baseline: Predictions, model: Predictions) -> list[str]:
    if not pairing.paired or (baseline.weight is None and model.weight is None):
        return []
    if baseline.weight is not None and model.weight is not None:
        one, two = baseline.weight[pairing.first], model.weight[pairing.second]
        if np.allclose(one / one.sum(), two / two.sum(), rtol=1e-9, atol=0):
            return []
    used = _weigher(baseline, model).name
    return [f"{model.name} and {baseline.name} give the same rows different weights; the differences use those of {used}."]


def _weigher(baseline: Predictions, model: Predictions) -> Predictions:
    """Whose weights count in a paired difference."""
    return model if baseline.weight is None and model.weight is not None else baseline


def _same_scale(baseline: Predictions, model: Predictions) -> bool:
    if (baseline.task == "top_label") != (model.task == "top_label"):
        return False
    return baseline.task == "top_label" or {name_key(c) for c in baseline.classes} == {name_key(c) for c in model.classes}


def _row_values(model: Predictions, view: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    value, event = model.rows(view)
    brier, log_loss = model.row_scores("top_label")
    return brier, log_loss, event - value.astype(np.float64)


def _difference(
    pairing: Pairing, baseline: Predictions, model: Predictions, values: tuple[FloatArray, FloatArray], level: float
) -> Estimate:
    first, second = values
    if pairing.paired:
        weigher = _weigher(baseline, model)
        rows = pairing.first if weigher is baseline else pairing.second
        weight = None if weigher.weight is None else weigher.weight[rows]
        mean, se, df = _mean(second[pairing.second] - first[pairing.first], weight)
        return _estimate(mean, se, df, level)
    one, two = _mean(first, baseline.weight), _mean(second, model.weight)
    squares = one[1] ** 2 + two[1] ** 2
    parts = (s**4 / d if d > 0 else np.inf for _, s, d in (one, two))
    df = squares**2 / total_parts if (total_parts := sum(parts)) > 0 else np.inf
    return _estimate(two[0] - one[0], float(np.sqrt(squares)), df, level)


def _mean(values: FloatArray, weight: FloatArray | None) -> tuple[float, float, float]:
    """Mean, its standard error and degrees of freedom; rows weighted."""
    w = np.ones(len(values)) if weight is None else weight
    mean = float(np.sum(w * values) / np.sum(w))
    n_eff = float(np.sum(w) ** 2 / np.sum(w**2))
    if n_eff <= 1 + 1e-9:
        return mean, np.inf, 0.0
    spread = float(np.sum(w**2 * (values - mean) ** 2))
    return mean, float(np.sqrt(spread * n_eff / (n_eff - 1)) / np.sum(w)), n_eff - 1


def _estimate(mean: float, se: float, df: float, level: float) -> Estimate:
    if not np.isfinite(se) or df <= 0:
        return Estimate(mean)
    t = float(special.stdtrit(df, (1 + level) / 2)) if np.isfinite(df) else float(special.ndtri((1 + level) / 2))
    return Estimate(mean, mean - t * se, mean + t * se)
