"""Is the difference between two models real?  Paired where they were judged on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.checks import listing, name_key, rows_text
from calibcore.inference.intervals import Estimate, gap_and_error
from calibcore.inference.pairing import Pairing, found_ids, pair, same_labels
from calibcore.predictions import Predictions
from calibcore.summation import total
from calibcore.totals import CLIP

__all__ = ["Differences", "Pairing", "differences", "mean_and_error", "pair", "t_estimate"]

_MOST = -float(np.log(CLIP))  # nats at which a log loss is cut
FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


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
    means with √(se₁² + se₂²) and Welch's degrees of freedom, which is wider.  With clusters, the sums of a cluster
    take the place of its rows: se² = Σ_c(Σ_{i∈c} w(d − d̄))²/(Σw)² · C/(C − 1) and C − 1 degrees of freedom, C =
    (Σw)²/Σ_c W_c², which is the number of clusters of equal weight.  Where a row that is compared gave what happened
    a probability below 2⁻⁵², so that its log loss was cut at 36 nats, the difference of the log losses gets no interval:
    decide on the Brier score.

    No end lies beyond what is possible: with the mean confidences as they are, two accuracies from 0 to 1 allow a difference
    of gaps from c̄_b − c̄_m − 1 to c̄_b − c̄_m + 1, for the mean confidences c̄ of baseline and model (as for the gap of one
    model, see `mean_gap`); two Brier scores from 0 to S one from −S to S, where S is 2 for three or more classes, else 1.

    References
    ----------
    Diebold & Mariano (1995), doi:10.1080/07350015.1995.10524599.
    """
    # with the baseline beside it, so that no other object can come to have its address
    key = f"differences to {id(baseline)} {view} {level}"
    return model.remember(key, lambda: (baseline, _differences(baseline, model, view, level)))[1]


def _differences(baseline: Predictions, model: Predictions, view: str, level: float) -> Differences:
    pairing = pair(baseline, model)
    if not (baseline.has_rows and model.has_rows):
        return _without_rows(pairing, baseline, model, view, level)
    about = (_blocks_note, _overlap_note, _weight_note, _cluster_note)
    notes = [note for make in about for note in make(pairing, baseline, model)]
    a, b = _row_values(baseline, view), _row_values(model, view)
    brier = log_loss = None
    if _same_scale(baseline, model):
        most = 2.0 if baseline.task == "multiclass" else 1.0
        brier = _within(_difference(pairing, baseline, model, (a.brier, b.brier), level), -most, most)
        log_loss = _difference(pairing, baseline, model, (a.log_loss, b.log_loss), level)
        cut = _cut_rows(pairing, a, b)
        if any(cut):
            log_loss = Estimate(log_loss.value)
            notes.append(_cut_note([(m.name, n) for m, n in zip((baseline, model), cut, strict=True) if n]))
    else:
        notes.append(
            f"{model.name} and {baseline.name} have different kinds of scores (one class, two or more), so only the gap is compared."
        )
    apart = _difference(pairing, baseline, model, (a.confidence, b.confidence), level).value
    gap = _within(_difference(pairing, baseline, model, (a.gap, b.gap), level), -apart - 1, 1 - apart)
    return Differences(model.name, pairing, log_loss, brier, gap, tuple(notes))


def _without_rows(pairing: Pairing, baseline: Predictions, model: Predictions, view: str, level: float) -> Differences:
    """Where a model is known from profiles alone: an interval for the gap, of unpaired samples, and for the scores none."""
    one, two = (m.profile(view) for m in (baseline, model))
    gap = _welch(gap_and_error(one), gap_and_error(two), level)
    apart = two.mean_confidence - one.mean_confidence
    brier = log_loss = None
    if _same_scale(baseline, model):
        a, b = (m.profile(m.views[0]) for m in (baseline, model))
        brier, log_loss = (
            Estimate(getattr(b.totals, s) / b.weight_sum - getattr(a.totals, s) / a.weight_sum) for s in ("brier", "log_loss")
        )
    who = listing([m.name for m in (baseline, model) if not m.has_rows])
    note = f"Of {who} only a profile is there, not the rows, so {model.name} and {baseline.name} cannot be paired: "
    ends = "the differences of their scores have no interval. Compare the prediction files to get one."
    ends = "only the gap is compared." if brier is None else ends
    return Differences(model.name, pairing, log_loss, brier, _within(gap, -apart - 1, 1 - apart), (note + ends,))


def _within(estimate: Estimate, low: float, high: float) -> Estimate:
    """An estimate whose ends are possible values; rounding does not put them beyond its value."""
    if estimate.low is None or estimate.high is None:
        return estimate
    value = estimate.value
    return Estimate(value, min(value, max(estimate.low, low)), max(value, min(estimate.high, high)))


def _cut_rows(pairing: Pairing, first: _Rows, second: _Rows) -> tuple[int, int]:
    """Of the rows that are compared, those of either model whose log loss was cut."""
    one, two = first.log_loss >= _MOST, second.log_loss >= _MOST
    if pairing.paired:
        one, two = one[pairing.first], two[pairing.second]
    return int(np.count_nonzero(one)), int(np.count_nonzero(two))


def _cut_note(cut: list[tuple[str, int]]) -> str:
    """Which models gave something that happened no probability, in how many rows, and what follows."""
    if len(cut) == 1:
        ((name, n),) = cut
        who = f"{name} gave probability 0 (or nearly 0) to what happened in {rows_text(n)}"
    else:
        who = f"{listing([f'{name} ({rows_text(n)})' for name, n in cut])} gave probability 0 (or nearly 0) to what happened"
    several = sum(n for _, n in cut) > 1
    what = f"such rows (each was counted as {_MOST:.0f} nats)" if several else f"such a row (it was counted as {_MOST:.0f} nats)"
    return f"{who}; log loss cannot judge {what}, so the Brier score decides."


def _blocks_note(pairing: Pairing, baseline: Predictions, model: Predictions) -> list[str]:
    """Why rows with the same labels in the same order are not paired, and what to do."""
    if pairing.paired or (baseline.ids is not None and model.ids is not None and not found_ids(baseline, model)):
        return []
    if not same_labels(baseline, model):
        return []
    few = "in few blocks, as in sorted files: that does not tell which rows are the same, so they are not paired"
    ids = "Name the column that identifies the rows in both files (--id in the shell, Change beside the file on the page)"
    return [f"{model.name} and {baseline.name} have the same labels in the same order, but {few}. {ids}."]


def _overlap_note(pairing: Pairing, baseline: Predictions, model: Predictions) -> list[str]:
    left = pairing.only_first + pairing.only_second
    if not pairing.paired or not left:
        return []
    shared = f"{model.name} and {baseline.name} share {rows_text(pairing.n_common)}"
    return [f"{shared}; the differences are of these alone, each model's own figures of all its rows."]


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


def _cluster_note(pairing: Pairing, baseline: Predictions, model: Predictions) -> list[str]:
    one, two = baseline.cluster_code, model.cluster_code
    if not pairing.paired or one is None or two is None:
        return []
    one, two = one[pairing.first], two[pairing.second]
    if _finer(one, two) and _finer(two, one):
        return []
    return [f"{model.name} and {baseline.name} put the same rows into different clusters; the differences use those of {baseline.name}."]


def _finer(one: IndexArray, two: IndexArray) -> bool:
    """Whether rows that share a cluster of the first share one of the second."""
    other = np.zeros(int(one.max()) + 1, dtype=np.intp)
    other[one] = two
    return bool(np.array_equal(other[one], two))


def _pair_clusters(pairing: Pairing, baseline: Predictions, model: Predictions) -> IndexArray | None:
    """Clusters of paired rows: the baseline's, else the model's."""
    if baseline.cluster_code is not None:
        return baseline.cluster_code[pairing.first]
    return None if model.cluster_code is None else model.cluster_code[pairing.second]


def _same_scale(baseline: Predictions, model: Predictions) -> bool:
    if (baseline.task == "top_label") != (model.task == "top_label"):
        return False
    return baseline.task == "top_label" or {name_key(c) for c in baseline.classes} == {name_key(c) for c in model.classes}


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Scores, gap and confidence of each row of a model."""

    brier: FloatArray
    log_loss: FloatArray
    gap: FloatArray
    confidence: FloatArray


def _row_values(model: Predictions, view: str) -> _Rows:
    value, event = model.rows(view)
    brier, log_loss = model.row_scores("top_label")
    confidence = value.astype(np.float64)
    return _Rows(brier, log_loss, event - confidence, confidence)


def _difference(
    pairing: Pairing, baseline: Predictions, model: Predictions, values: tuple[FloatArray, FloatArray], level: float
) -> Estimate:
    first, second = values
    if pairing.paired:
        weigher = _weigher(baseline, model)
        rows = pairing.first if weigher is baseline else pairing.second
        weight = None if weigher.weight is None else weigher.weight[rows]
        cluster = _pair_clusters(pairing, baseline, model)
        mean, se, df = mean_and_error(second[pairing.second] - first[pairing.first], weight, cluster)
        return t_estimate(mean, se, df, level)
    one, two = mean_and_error(first, baseline.weight, baseline.cluster_code), mean_and_error(second, model.weight, model.cluster_code)
    return _welch(one, two, level)


def _welch(one: tuple[float, float, float], two: tuple[float, float, float], level: float) -> Estimate:
    """The second mean less the first, of unpaired samples, with Welch's degrees of freedom."""
    squares = one[1] ** 2 + two[1] ** 2
    parts = (s**4 / d if d > 0 else np.inf for _, s, d in (one, two))
    df = squares**2 / total_parts if (total_parts := sum(parts)) > 0 else np.inf
    return t_estimate(two[0] - one[0], float(np.sqrt(squares)), df, level)


def mean_and_error(values: FloatArray, weight: FloatArray | None, cluster: IndexArray | None) -> tuple[float, float, float]:
    """Mean of row values, its standard error and degrees of freedom; rows weighted, clusters as one.

    Parameters
    ----------
    values, weight : array of shape (n,)
    cluster : array of shape (n,), int, optional
        As `Predictions.cluster_code` numbers them.

    Returns
    -------
    mean, standard_error, degrees_of_freedom : float
        Infinite and 0 for a single row (cluster), or where one holds all the weight.
    """
    w = np.ones(len(values)) if weight is None else weight
    whole = total(w)
    mean = total(w * values) / whole
    sums = w * (values - mean)
    if cluster is not None:
        sums, w = (np.asarray(np.bincount(cluster, x), dtype=np.float64) for x in (sums, w))
    units = whole**2 / total(w**2)
    if units <= 1 + 1e-9:
        return mean, np.inf, 0.0
    return mean, float(np.sqrt(total(sums**2) * units / (units - 1))) / whole, units - 1


def t_estimate(mean: float, se: float, df: float, level: float) -> Estimate:
    """The mean ± t·standard error; without ends where there is none."""
    if not np.isfinite(se) or df <= 0:
        return Estimate(mean)
    t = float(special.stdtrit(df, (1 + level) / 2)) if np.isfinite(df) else float(special.ndtri((1 + level) / 2))
    return Estimate(mean, mean - t * se, mean + t * se)
