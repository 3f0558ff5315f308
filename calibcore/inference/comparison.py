"""Is the difference between two models real?  Paired where they were judged on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.checks import listing, name_key, rows_text
from calibcore.errors import InputError
from calibcore.inference.intervals import Estimate
from calibcore.predictions import Predictions
from calibcore.profile import CLIP
from calibcore.summation import total

__all__ = ["Differences", "Pairing", "differences", "mean_and_error", "pair", "t_estimate"]

_MANY_CLASSES = 10  # above which a random order of few rows may have no more than twice as many runs
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

    def __repr__(self) -> str:
        return f"<Pairing by {self.how}: {self.n_common:,} common rows>" if self.paired else "<Pairing: not paired>"

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


def pair(first: Predictions, second: Predictions) -> Pairing:
    """Match the rows of two models: by id, else by row order where the same labels stand in an order that tells rows apart.

    Notes
    -----
    Identical sequences of labels are evidence of the same rows only where they are not sorted: two files sorted by label, or
    by a group and then the label, agree whatever their rows are.  What tells is the number R of runs (stretches of one
    label).  In a random order of n rows, n_k of class k, a row differs from the one before with probability
    1 − Σ n_k(n_k − 1)/(n(n − 1)), so that E[R] = 1 + (n² − Σ n_k²)/n.  Sorted by the label R is K, the number of classes,
    and at most K times the number of groups where groups come first.  An order counts if R ≥ E[R]/2 and R > 2K; with
    more than ten classes, of which few rows may not reach 2K runs, R ≥ 0.9·E[R] does as well.  Sorted groups of a few rows
    each pass this test: their rows can then be exchanged within a group and a label.  Where both models have the same clusters in
    the same order, any order counts: only the sums of clusters enter a difference.

    Ids that were found by their content alone (no name says that they are ids) pair rows only where at least half of the smaller
    model has a partner and no label differs.

    Raises
    ------
    InputError
        If an id repeats, or the same id has different labels.
    """
    # remembered with the first model beside it, so that no other object can come to have its address
    return second.remember(f"pairing with {id(first)}", lambda: (first, _pair(first, second)))[1]


def _pair(first: Predictions, second: Predictions) -> Pairing:
    if first.ids is not None and second.ids is not None:
        found = _by_id(first, second) if not _found_ids(first, second) else _by_found_id(first, second)
        if found is not None:
            return found
    if not _same_labels(first, second) or not (_tells(first) or _same_clusters(first, second)):
        return _not_paired(first, second)
    every = np.arange(first.n)
    return Pairing(True, "row order", every, every)


def _same_labels(first: Predictions, second: Predictions) -> bool:
    """Whether both have the same labels in the same order."""
    every = np.arange(first.n)
    return first.label is not None and second.label is not None and first.n == second.n and not len(_conflicts(first, second, every, every))


def _same_clusters(first: Predictions, second: Predictions) -> bool:
    """Whether both put the same rows into the same clusters, of which only the sums count."""
    return first.cluster is not None and second.cluster is not None and bool(np.array_equal(first.cluster, second.cluster))


def _tells(model: Predictions) -> bool:
    """Whether the order of the labels tells rows apart, see `pair`."""
    return model.remember("order of labels", lambda: _many_runs(np.asarray(model.label)))


def _many_runs(label: IndexArray) -> bool:
    count = np.bincount(label).astype(np.float64)
    n, k = len(label), int(np.count_nonzero(count))
    runs = 1 + int(np.count_nonzero(label[1:] != label[:-1]))
    expected = 1 + (n * n - float(count @ count)) / n
    return runs >= expected / 2 and (runs > 2 * k or (k > _MANY_CLASSES and runs >= 0.9 * expected))


def _found_ids(first: Predictions, second: Predictions) -> bool:
    """Whether ids of either are ids by their content alone."""
    return any(m.source.get("id_by") for m in (first, second))


def _by_found_id(first: Predictions, second: Predictions) -> Pairing | None:
    """Rows paired by ids that may be none: None where they repeat, hardly meet, or have different labels."""
    try:
        found = _by_id(first, second)
    except InputError:
        return None
    return found if 2 * found.n_common >= min(first.n, second.n) else None


def _conflicts(first: Predictions, second: Predictions, i: IndexArray, j: IndexArray) -> IndexArray:
    """Which of the paired rows have different labels; none where a model has no labels."""
    if first.label is None or second.label is None:
        return np.arange(0)
    known = {name_key(c): k for k, c in enumerate(first.classes)}
    code = np.array([known.get(name_key(c), -1) for c in second.classes], dtype=np.intp)
    return np.flatnonzero(first.label[i] != code[second.label[j]])


def _not_paired(first: Predictions, second: Predictions) -> Pairing:
    nothing = np.arange(0)
    return Pairing(False, "not paired", nothing, nothing, first.n, second.n)


def _by_id(first: Predictions, second: Predictions) -> Pairing:
    i, j = _matches(first, second)
    if not len(i):
        return _not_paired(first, second)
    conflicts = _conflicts(first, second, i, j)
    if len(conflicts):
        found = [str(x) for x in _keys(first)[i[conflicts]]]
        raise InputError(
            f"{first.name} and {second.name} have different labels for {len(found):,} ids ({listing(found)}). "
            "Mend one file, or compare them as separate samples by leaving out the ids.",
        )
    return Pairing(True, "id", i, j, first.n - len(i), second.n - len(j))


def _matches(first: Predictions, second: Predictions) -> tuple[IndexArray, IndexArray]:
    """Positions of the rows with the same id in either model, in the order of the first."""
    order, hashes = _by_hash(first)
    if _same_ids(first.ids, second.ids):
        every = np.arange(first.n)
        return every, every
    other_order, other_hashes = _by_hash(second)
    place = np.minimum(np.searchsorted(hashes, other_hashes), len(hashes) - 1)
    hit = np.flatnonzero(hashes[place] == other_hashes)
    found = np.full(first.n, -1, dtype=np.intp)
    found[order[place[hit]]] = other_order[hit]
    i = np.flatnonzero(found >= 0)
    same = np.asarray(_keys(first)[i] == _keys(second)[found[i]], dtype=np.bool_)
    return i[same], found[i[same]]


def _same_ids(first: NDArray[Any] | None, second: NDArray[Any] | None) -> bool:
    assert first is not None
    assert second is not None
    return first.dtype.kind == second.dtype.kind and len(first) == len(second) and bool(np.array_equal(first, second))


def _by_hash(model: Predictions) -> tuple[IndexArray, NDArray[np.int64]]:
    """Order of the ids by hash, and the hashes in that order; an InputError if an id repeats.

    Of two different ids with the same hash, which are as good as never met, only one could be paired.
    """
    return model.remember("ids by hash", lambda: _sorted_hashes(model))


def _sorted_hashes(model: Predictions) -> tuple[IndexArray, NDArray[np.int64]]:
    keys = _keys(model)
    hashes = np.fromiter(map(hash, keys.tolist()), dtype=np.int64, count=len(keys))
    order = np.argsort(hashes)
    hashes = hashes[order]
    twins = np.flatnonzero(hashes[1:] == hashes[:-1])
    repeated = [keys[order[t]] for t in twins if keys[order[t]] == keys[order[t + 1]]]
    if repeated:
        first = min(repeated, key=keys.tolist().index)
        raise InputError(
            f"In {model.name} the id {first} occurs {keys.tolist().count(first)} times; rows can only be paired by ids that occur once.",
        )
    return order, hashes


def _keys(model: Predictions) -> NDArray[np.object_]:
    """The ids as text: 7 and 7.0 are the id 7."""
    return model.remember("id keys", lambda: _text(np.asarray(model.ids)))


def _text(ids: NDArray[Any]) -> NDArray[np.object_]:
    if ids.dtype.kind == "O" and set(map(type, ids.tolist())) == {str}:
        return ids
    if ids.dtype.kind == "f" and np.all(ids == np.floor(ids)) and np.all(np.abs(ids) < 2**53):
        ids = ids.astype(np.int64)  # 7.0 is the id 7
    return np.array(list(map(str, ids.tolist())), dtype=object)


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
    (Σw)²/Σ_c W_c², which is the number of clusters of equal weight.  Where a log loss was raised from
    infinity (clipped), its difference gets no interval: decide on the Brier score.

    References
    ----------
    Diebold & Mariano (1995), doi:10.1080/07350015.1995.10524599.
    """
    pairing = pair(baseline, model)
    about = (_blocks_note, _overlap_note, _weight_note, _cluster_note)
    notes = [note for make in about for note in make(pairing, baseline, model)]
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


def _blocks_note(pairing: Pairing, baseline: Predictions, model: Predictions) -> list[str]:
    """Why rows with the same labels in the same order are not paired, and what to do."""
    if pairing.paired or (baseline.ids is not None and model.ids is not None and not _found_ids(baseline, model)):
        return []
    if not _same_labels(baseline, model):
        return []
    few = "in few blocks, as in sorted files: that does not tell which rows are the same, so they are not paired"
    ids = "Name the column that identifies the rows in both files (--id in the shell, Columns on the page)"
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
        cluster = _pair_clusters(pairing, baseline, model)
        mean, se, df = mean_and_error(second[pairing.second] - first[pairing.first], weight, cluster)
        return t_estimate(mean, se, df, level)
    one, two = mean_and_error(first, baseline.weight, baseline.cluster_code), mean_and_error(second, model.weight, model.cluster_code)
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
