"""Which rows of two models are the same: by id, else by an order of labels that tells rows apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key
from calibcore.errors import InputError
from calibcore.predictions import Predictions

__all__ = ["Pairing", "found_ids", "pair", "same_labels"]

_MANY_CLASSES = 10  # above which a random order of few rows may have no more than twice as many runs
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Which rows of two models are the same.

    Attributes
    ----------
    paired : bool
    how : str
        ``"id"``, ``"row order"``, ``"not paired"``, or ``"no rows"`` where a model is known from a profile alone.
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
    if not (first.has_rows and second.has_rows):
        return _not_paired(first, second, "no rows")
    if first.ids is not None and second.ids is not None:
        found = _by_id(first, second) if not found_ids(first, second) else _by_found_id(first, second)
        if found is not None:
            return found
    if not same_labels(first, second) or not (_tells(first) or _same_clusters(first, second)):
        return _not_paired(first, second)
    every = np.arange(first.n)
    return Pairing(True, "row order", every, every)


def same_labels(first: Predictions, second: Predictions) -> bool:
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


def found_ids(first: Predictions, second: Predictions) -> bool:
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


def _not_paired(first: Predictions, second: Predictions, how: str = "not paired") -> Pairing:
    nothing = np.arange(0)
    return Pairing(False, how, nothing, nothing, first.n, second.n)


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
