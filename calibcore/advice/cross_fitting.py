"""Folds of the rows, and predictions in which every row was mapped by a calibrator that did not see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibcore.advice.calibrator_file import with_matrix
from calibcore.advice.calibrators import Method, Parameters, Sample, method_named, probability_matrix
from calibcore.checks import rows_text
from calibcore.errors import InputError
from calibcore.predictions import Predictions

__all__ = ["CrossFit", "cross_fit", "fold_of"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_MOST_FOLDS = 100
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class CrossFit:
    """Held-out predictions of one method.

    Attributes
    ----------
    method : Method
    predictions : Predictions
        The same rows, each mapped by the calibrator of its fold.
    parameters : tuple of dict
        Of each fold.
    fold : array of shape (n,)
    n_fit : int
        Effective rows of the smallest training part.
    """

    method: Method
    predictions: Predictions
    parameters: tuple[Parameters, ...]
    fold: IndexArray
    n_fit: int

    def __post_init__(self) -> None:
        self.fold.flags.writeable = False


def fold_of(predictions: Predictions, *, folds: int = 5, seed: int = 0) -> IndexArray:
    """The fold of each row, 0 … folds − 1, shape (n,).

    Parameters
    ----------
    predictions : Predictions
    folds : int
        From 2 to 100.
    seed : int

    Raises
    ------
    InputError
        If there are fewer rows, or clusters, than folds.

    Notes
    -----
    Stratified by label (of confidences alone: by right and wrong): the folds' counts of a class differ by at most 1.
    With clusters, all rows of one are in the same fold; a row without a cluster is one of its own.  Clusters are dealt
    out by their most frequent label, large ones first.  Rows (and rows without a cluster) are first put in an order that
    depends on their content, so the folds do not depend on the order of the file.
    """
    if isinstance(folds, bool) or not isinstance(folds, (int, np.integer)) or not 2 <= folds <= _MOST_FOLDS:
        raise InputError(f"The number of folds must be a whole number from 2 to {_MOST_FOLDS}, got {folds!r}.", value=folds)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"The seed must be a whole number from 0 up, got {seed!r}.", value=seed)
    label = Sample.of(predictions).label
    rng = np.random.default_rng(seed)
    if predictions.cluster_code is not None:
        return _clustered(_stable_codes(predictions, predictions.cluster_code), label, folds, rng)
    if predictions.n < folds:
        raise InputError(f"{folds} folds need at least {folds} rows; {predictions.name} has {rows_text(predictions.n)}.")
    shuffled = _by_content(predictions)[rng.permutation(predictions.n)]
    dealt = shuffled[np.argsort(label[shuffled], kind="stable")]
    fold = np.empty(predictions.n, dtype=np.intp)
    fold[dealt] = np.arange(predictions.n) % folds
    return fold


def _by_content(predictions: Predictions) -> IndexArray:
    """Rows in an order that only depends on what they hold; equal rows are interchangeable."""
    columns = np.column_stack([probability_matrix(predictions), Sample.of(predictions).label])
    bits = np.ascontiguousarray(columns + 0.0).view(np.uint64)
    key = np.zeros(predictions.n, dtype=np.uint64)
    for j in range(bits.shape[1]):
        key = (key ^ bits[:, j]) * _MIX
        key ^= key >> np.uint64(29)
    return np.argsort(key, kind="stable") if predictions.weight is None else np.lexsort((predictions.weight, key))


def _stable_codes(predictions: Predictions, code: IndexArray) -> IndexArray:
    """The numbers of the clusters; rows without one, which have the last numbers, in an order that depends on their content."""
    first = int(code.max()) + 1 - predictions.clusters_and_alone()[1]
    content = _by_content(predictions)
    code = code.copy()
    code[content[code[content] >= first]] = np.arange(first, int(code.max()) + 1)
    return code


def _clustered(code: IndexArray, label: IndexArray, folds: int, rng: np.random.Generator) -> IndexArray:
    size = np.bincount(code)
    if len(size) < folds:
        raise InputError(f"{folds} folds need at least {folds} clusters, since a cluster stays whole; there are {len(size)}.")
    k = int(label.max()) + 1
    pairs, counts = np.unique(code * k + label, return_counts=True)
    most = np.lexsort((-(pairs % k), counts, pairs // k))  # the last pair of each cluster is its most frequent label
    main = np.empty(len(size), dtype=np.intp)
    main[pairs[most] // k] = pairs[most] % k
    random = rng.permutation(len(size))
    dealt = np.lexsort((random, -size, main))
    place = np.arange(len(size)) % (2 * folds)
    fold = np.empty(len(size), dtype=np.intp)
    fold[dealt] = np.minimum(place, 2 * folds - 1 - place)  # there and back: 0 1 2 2 1 0
    return np.asarray(fold[code])


def cross_fit(
    predictions: Predictions,
    method: str = "temperature",
    *,
    folds: int = 5,
    seed: int = 0,
    fold: IndexArray | None = None,
    start: Parameters | None = None,
) -> CrossFit:
    """Map every row by a calibrator fitted on the other folds.

    Parameters
    ----------
    predictions : Predictions
    method : str
        As in `Calibrator.fit`.
    folds, seed : int
        As in `fold_of`.
    fold : array of shape (n,), optional
        Folds already made; then ``folds`` and ``seed`` are not used.
    start : dict, optional
        Parameters near the best, from which each search begins; such as those of all rows.  The best parameters of
        a fold are the same from every start, so this saves time and tells nothing about the held-out rows.

    Raises
    ------
    InputError
        If a training part allows no fit.
    """
    fold = fold_of(predictions, folds=folds, seed=seed) if fold is None else fold
    sample = Sample.of(predictions)
    kind = method_named(method, sample.matrix.shape[1])
    matrix = np.empty_like(sample.matrix)
    fitted, sizes = [], []
    for f in range(int(fold.max()) + 1):
        training, held_out = sample.take(np.flatnonzero(fold != f)), np.flatnonzero(fold == f)
        parameters = kind.fit(training, start)
        matrix[held_out] = kind.apply(parameters, sample.matrix[held_out])
        fitted.append(parameters)
        sizes.append(training.n_effective)
    changed = with_matrix(predictions, matrix, name=f"{predictions.name}, {kind.title}", notes=predictions.notes)
    return CrossFit(kind, changed, tuple(fitted), fold, round(min(sizes)))
