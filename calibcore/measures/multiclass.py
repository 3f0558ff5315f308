"""Calibration errors of several classes: top-label, static and adaptive errors, and the noise floor of each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.binned import BinnedStatistics, bin_rows
from calibcore.errors import InputError
from calibcore.measures.calibration_error import classwise_error, fixed_partition, make_partition
from calibcore.measures.noise_floor import noise_floor
from calibcore.partition import Closed, Partition
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.summation import total
from calibcore.totals import Totals

__all__ = [
    "ADAPTIVE",
    "STATIC",
    "THRESHOLDED",
    "MulticlassErrors",
    "TopLabelError",
    "adaptive_calibration_error",
    "classwise_floors",
    "multiclass",
    "static_calibration_error",
    "thresholded_adaptive_calibration_error",
    "top_label_calibration_error",
    "top_label_error",
]

Numbers = NDArray[Any]
STATIC = "SCE (Nixon 2019: mean of classwise ECE, equal-width bins)"
ADAPTIVE = "ACE (Nixon 2019: equal-mass ranges, unweighted)"
THRESHOLDED = "TACE (Nixon 2019: equal-mass ranges of the probabilities above a threshold, unweighted)"
_BLOCK = 64  # columns copied at a time: one by one, a wide matrix is read with a cache miss for every row
_FEW_CLASSES = 20  # so few profiles are kept with the predictions


@dataclass(frozen=True, slots=True)
class TopLabelError:
    """Top-label calibration error, beside the confidence ECE in the same bins.

    Attributes
    ----------
    value : float
        Σ_c (w_c/W)·ECE of the rows for which class c was predicted.
    confidence_ece : float
        ECE of the confidences, whatever was predicted: never larger than ``value`` in fixed bins.
    per_class : dict of class name to float
        ECE of the rows predicted as that class; only classes that were predicted.
    rows : dict of class name to int
        How many rows that is.
    """

    value: float
    confidence_ece: float
    per_class: dict[str, float]
    rows: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        per_class = {c: {"ece": e, "n": self.rows[c]} for c, e in self.per_class.items()}
        return {"value": self.value, "confidence_ece": self.confidence_ece, "per_class": per_class}


@dataclass(frozen=True, slots=True)
class MulticlassErrors:
    """Errors of a model with a probability for every class.

    Attributes
    ----------
    top_label : TopLabelError
        In the given bins; holds the confidence ECE too.
    floors : dict of class name to float
        What each class's one-vs-rest ECE shows by chance, in the given bins.
    sce, ace, tace : float
        `STATIC`, `ADAPTIVE` and `THRESHOLDED`, with ``n_bins`` bins or ranges.
    threshold : float
        Of ``tace``.
    n_bins : int
    """

    top_label: TopLabelError
    floors: dict[str, float]
    sce: float
    ace: float
    tace: float
    threshold: float
    n_bins: int

    @property
    def confidence_ece(self) -> float:
        """ECE of the confidences."""
        return self.top_label.confidence_ece

    @property
    def top_label_ece(self) -> float:
        """Top-label ECE."""
        return self.top_label.value

    def to_dict(self) -> dict[str, Any]:
        """As plain data; the names that clash between tools are spelt out."""
        return {
            "confidence_ece": self.confidence_ece,
            "top_label": self.top_label.to_dict(),
            "floors": dict(self.floors),
            "n_bins": self.n_bins,
            "static": {"name": STATIC, "value": self.sce},
            "adaptive": {"name": ADAPTIVE, "value": self.ace},
            "thresholded_adaptive": {"name": THRESHOLDED, "value": self.tace, "threshold": self.threshold},
        }


def top_label_calibration_error(
    y_true: Any, y_prob: Any, *, classes: Sequence[Any] | None = None, sample_weight: Any = None, **binning: Any
) -> TopLabelError:
    """Top-label ECE: calibration of the confidence given which class was predicted.

    Parameters
    ----------
    y_true, y_prob, classes, sample_weight
        As in `bin_statistics`.
    **binning
        ``n_bins``, ``strategy``, ``closed``, ``ties``, ``edges`` as in `bin_statistics`; equal-mass bins are cut anew
        for the rows of each predicted class.

    Returns
    -------
    TopLabelError

    Notes
    -----
    Σ_c (w_c/W)·ECE of the rows predicted as class c.  The confidence ECE asks whether P(right | confidence) is the
    confidence; errors of opposite sign in two predicted classes cancel there, and not here.  Each class has its own bins, so
    noise adds more: of independent rows about Σ_c Σ_b √(2·V_cb/π)/n under calibration, V_cb = Σp(1 − p) of a bin.

    References
    ----------
    Gupta & Ramdas (2022), arXiv:2107.08353.

    Examples
    --------
    >>> p = [[0.6, 0.4]] * 5 + [[0.4, 0.6]] * 5  # five rows say a, one is right; five say b, all are right
    >>> e = top_label_calibration_error(["a"] + ["b"] * 9, p, n_bins=10)
    >>> round(e.value, 12), abs(round(e.confidence_ece, 12))
    (0.4, 0.0)
    """
    return top_label_error(Predictions.from_arrays(y_true, y_prob, classes=classes, sample_weight=sample_weight), **binning)


def top_label_error(predictions: Predictions, **binning: Any) -> TopLabelError:
    """`top_label_calibration_error` of predictions, also of confidences where the predicted class is known."""
    if predictions.predicted is None:
        raise InputError(f"{predictions.name} does not say which class was predicted; the top-label error needs it.")
    everything = _bins(predictions.confidence, predictions.correct, predictions.weight, binning)
    order = np.argsort(predictions.predicted, kind="stable")
    found, starts = np.unique(predictions.predicted[order], return_index=True)
    parts, names = np.split(order, starts[1:]), [predictions.classes[k] for k in found.tolist()]
    errors, weights = [], []
    for rows in parts:
        weight = None if predictions.weight is None else predictions.weight[rows]
        errors.append(_bins(predictions.confidence[rows], predictions.correct[rows], weight, binning).ece)
        weights.append(float(len(rows)) if weight is None else total(weight))
    value = float(np.average(errors, weights=weights))
    return TopLabelError(value, everything.ece, dict(zip(names, errors, strict=True)), dict(zip(names, map(len, parts), strict=True)))


def _bins(value: Numbers, event: NDArray[np.bool_], weight: NDArray[np.float64] | None, binning: dict[str, Any]) -> BinnedStatistics:
    """Bins of rows: in one pass where the partition is fixed, else from their cells."""
    fixed = fixed_partition(**binning)
    if fixed is not None:
        return bin_rows(fixed, value, event, weight)
    profile = Profile.from_rows(value, event, weight=weight, totals=Totals(len(value)))
    return profile.bin(make_partition(profile, **binning))


def static_calibration_error(
    y_true: Any, y_prob: Any, *, n_bins: int = 15, closed: Closed = "right", classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> float:
    """Static calibration error: the mean over classes of the one-vs-rest ECE in equal-width bins.

    Parameters
    ----------
    y_true, y_prob, n_bins, closed, classes, sample_weight
        As in `bin_statistics`.

    Returns
    -------
    float

    Notes
    -----
    (1/K)·Σ_k Σ_b (n_kb/n)·|gap_kb|.  It falls towards 0 as the number of classes K grows, since most probabilities are
    then near 0, and each class adds its own noise floor: read the classes, not this mean.

    References
    ----------
    Nixon et al. (2019), arXiv:1904.01685; Kull et al. (2019), arXiv:1910.12656.

    Examples
    --------
    >>> round(static_calibration_error([0, 1], [[0.7, 0.3], [0.2, 0.8]], n_bins=5), 12)
    0.25
    """
    predictions = Predictions.from_arrays(y_true, y_prob, classes=classes, sample_weight=sample_weight)
    return classwise_error(predictions, n_bins=n_bins, closed=closed).mean


def adaptive_calibration_error(
    y_true: Any, y_prob: Any, *, n_bins: int = 15, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> float:
    """Adaptive calibration error of Nixon 2019: mean |gap| over equal-mass ranges of every class, ranges unweighted.

    Parameters
    ----------
    y_true, y_prob, classes, sample_weight
        As in `bin_statistics`.
    n_bins : int
        Ranges of each class.

    Returns
    -------
    float

    Notes
    -----
    (1/K)·Σ_k (1/R_k)·Σ_r |gap_kr|.  Above 0 by chance: under calibration the |gap| of a range of m independent rows is about
    √(2·V/π)/m on average, V = Σp(1 − p).  Equal probabilities share a range, so R_k may be less than asked for, and the order
    of the rows does not matter; code that cuts by rank differs where there are ties.

    The short form of the name means other things elsewhere: in netcal the average calibration error (one score, bins
    unweighted), in MCGrad an ECE in equal-mass bins, weighted.  Compare numbers only of the same definition.

    References
    ----------
    Nixon et al. (2019), arXiv:1904.01685.

    Examples
    --------
    >>> round(adaptive_calibration_error([0, 1, 1, 0], [0.2, 0.4, 0.7, 0.8], n_bins=2), 12)  # gaps 1/5 and −1/4
    0.225
    """
    return thresholded_adaptive_calibration_error(
        y_true, y_prob, threshold=None, n_bins=n_bins, classes=classes, sample_weight=sample_weight
    )


def thresholded_adaptive_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    threshold: float | None = 0.01,
    n_bins: int = 15,
    classes: Sequence[Any] | None = None,
    sample_weight: Any = None,
) -> float:
    """Thresholded adaptive calibration error of Nixon 2019: the adaptive one, of the probabilities above a threshold only.

    Parameters
    ----------
    y_true, y_prob, n_bins, classes, sample_weight
        As in `adaptive_calibration_error`.
    threshold : float, optional
        Probabilities up to and including it are left out; a class with none above it counts as 0.  None: none are.

    Returns
    -------
    float

    Notes
    -----
    (1/K)·Σ_k (1/R_k)·Σ_r |gap_kr| over ranges above the threshold; noise adds to it as to `adaptive_calibration_error`.  The
    value depends entirely on the threshold: quote both.  0.01 is the default that google-research/robustness_metrics names;
    versions of it that hand on ``threshold=0`` ignore it, and give the adaptive error.

    References
    ----------
    Nixon et al. (2019), arXiv:1904.01685.

    Examples
    --------
    >>> round(thresholded_adaptive_calibration_error([0, 1, 1, 0], [0.2, 0.4, 0.7, 0.8], threshold=0.5, n_bins=1), 12)
    0.225
    """
    limit = None if threshold is None else _checked_threshold(threshold)
    predictions = Predictions.from_arrays(y_true, y_prob, classes=classes, sample_weight=sample_weight)
    return float(np.mean([_adaptive(p, n_bins, limit) for _, p in _class_profiles(predictions)]))


def classwise_floors(predictions: Predictions, **binning: Any) -> dict[str, float]:
    """Noise floor of each class's one-vs-rest ECE: what a calibrated model shows in these bins by chance.

    Parameters
    ----------
    predictions : Predictions
        With a probability for every class.
    **binning
        As in `classwise_error`.

    Returns
    -------
    dict of class name to float: see `noise_floor`; ECE minus floor is what a class shows beyond chance.

    Examples
    --------
    >>> p = Predictions.from_arrays([0, 1, 1, 0], [[0.5, 0.5]] * 4)
    >>> {k: round(v, 4) for k, v in classwise_floors(p).items()}
    {'0': 0.1995, '1': 0.1995}
    """
    return {name: noise_floor(p, make_partition(p, **binning)) for name, p in _class_profiles(predictions)}


def multiclass(predictions: Predictions, *, n_bins: int = 15, threshold: float = 0.01, **binning: Any) -> MulticlassErrors:
    """Top-label, static and adaptive errors and the floor of each class, in one pass over the classes.

    Parameters
    ----------
    predictions : Predictions
        With a probability for every class.
    n_bins : int
        Bins of every error.
    threshold : float
        Of the thresholded adaptive error.
    **binning
        ``strategy``, ``closed``, ``ties``, ``edges`` of the top-label error and of the floors; the static error always
        has equal-width bins (with this ``closed``) and the adaptive ones equal-mass ranges.

    Raises
    ------
    InputError
        If only the confidence of the predicted class is known.

    Examples
    --------
    >>> m = multiclass(Predictions.from_arrays([0, 1], [[0.7, 0.3], [0.2, 0.8]]), n_bins=5)
    >>> round(m.confidence_ece, 12), round(m.top_label_ece, 12), round(m.sce, 12)
    (0.25, 0.25, 0.25)
    """
    limit, floors, errors = _checked_threshold(threshold), {}, []
    width = Partition.equal_width(n_bins, binning.get("closed", "right"))
    for name, profile in _class_profiles(predictions):
        floors[name] = noise_floor(profile, make_partition(profile, n_bins=n_bins, **binning))
        errors.append((_ece(profile, width), _adaptive(profile, n_bins, None), _adaptive(profile, n_bins, limit)))
    sce, ace, tace = np.mean(errors, axis=0).tolist()
    top = top_label_error(predictions, n_bins=n_bins, **binning)
    return MulticlassErrors(top, floors, sce, ace, tace, limit, n_bins)


def _class_profiles(predictions: Predictions) -> Iterator[tuple[str, Profile]]:
    """Each class with its one-vs-rest profile; many profiles are made one after another and not kept."""
    if not predictions.every_class:
        raise InputError(
            f"{predictions.name} holds only the confidence of the predicted class; classwise errors need a probability for every class."
        )
    matrix, label = predictions.probabilities, predictions.label
    if matrix is None or label is None or len(predictions.classes) <= _FEW_CLASSES:
        yield from ((c, predictions.profile(f"class:{c}")) for c in predictions.classes)
        return
    for start in range(0, len(predictions.classes), _BLOCK):
        columns = np.ascontiguousarray(matrix[:, start : start + _BLOCK].T)
        for k, column in enumerate(columns, start):
            name, totals = predictions.classes[k], Totals(predictions.n)
            yield name, Profile.from_rows(column, label == k, weight=predictions.weight, view=f"class:{name}", totals=totals)


def _ece(profile: Profile, partition: Partition) -> float:
    residual = profile.cumulative("residual").between(partition.cut(profile.value))
    return float(np.sum(np.abs(residual)) / profile.weight_sum)


@dataclass(frozen=True, slots=True, eq=False)
class _Upper:
    """The cells of a profile from one on, as equal mass takes them."""

    upper: Numbers
    weight_upto: Numbers


def _adaptive(profile: Profile, n_ranges: int, threshold: float | None) -> float:
    """Mean |gap| over equal-mass ranges of the values above a threshold; 0 where there are none."""
    value, upto = profile.value, profile.weight_upto
    first = 0 if threshold is None else int(np.searchsorted(value, value.dtype.type(threshold), side="right"))
    if first == len(value):
        return 0.0
    rest = _Upper(profile.upper[first:], upto[first:] - (upto[first - 1] if first else 0))
    positions = first + Partition.equal_mass(rest, n_ranges).cut(value[first:])
    residual, weight = (profile.cumulative(q).between(positions) for q in ("residual", "weight"))
    return float(np.mean(np.abs(residual / weight)))


def _checked_threshold(threshold: Any) -> float:
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.floating)) or not 0 <= threshold < 1:
        raise InputError(f"The threshold must be a probability from 0 to below 1, such as 0.01; got {threshold!r}.", value=threshold)
    return float(threshold)
