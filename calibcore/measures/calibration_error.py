"""Binned calibration errors: ECE, MCE, RMSCE, classwise, and ECE against the number of bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibcore.binned import BinnedStatistics, bin_rows, bin_sums
from calibcore.checks import needs
from calibcore.errors import InputError
from calibcore.measures.arrays import usual_view
from calibcore.one_pass import class_sums, equal_mass, one_pass
from calibcore.partition import Closed, Partition, SharedTies, Strategy, Ties, checked_bins, checked_options
from calibcore.predictions import Predictions
from calibcore.profile import Profile

__all__ = [
    "ClasswiseError",
    "Sweep",
    "bin_statistics",
    "classwise_calibration_error",
    "classwise_error",
    "expected_calibration_error",
    "fixed_partition",
    "make_partition",
    "maximum_calibration_error",
    "root_mean_square_calibration_error",
    "strategy_name",
    "sweep",
]

_FEW_CLASSES = 20  # so few are sorted once and for all; more are binned in one pass each, without sorting
SWEPT = tuple(range(2, 101))


@dataclass(frozen=True, slots=True)
class ClasswiseError:
    """One-vs-rest ECE of each class.

    Attributes
    ----------
    per_class : dict of class name to float
    rows : dict of class name to int
        Rows whose label is that class.
    mean : float
        Unweighted mean over classes.  It falls towards 0 as the number of classes grows, because most probabilities
        are then near 0; read the classes, not the mean.
    """

    per_class: dict[str, float]
    rows: dict[str, int]

    @property
    def mean(self) -> float:
        """Unweighted mean over classes."""
        return float(np.mean(list(self.per_class.values())))

    def to_dict(self) -> dict[str, Any]:
        """As plain data, classes in column order."""
        return {"mean": self.mean, "per_class": {c: {"ece": e, "n": self.rows[c]} for c, e in self.per_class.items()}}


@dataclass(frozen=True, slots=True)
class Sweep:
    """ECE of one view for many numbers of bins; tuples of equal length."""

    n_bins: tuple[int, ...]
    equal_width: tuple[float, ...]
    equal_mass: tuple[float, ...]

    def __repr__(self) -> str:
        return f"<Sweep: ECE for {len(self.n_bins)} numbers of bins, {self.n_bins[0]} to {self.n_bins[-1]}>"


def make_partition(
    profile: Profile,
    *,
    n_bins: int = 15,
    strategy: Strategy = "equal_width",
    closed: Closed = "right",
    ties: Ties = "together",
    edges: Sequence[float] | None = None,
) -> Partition | SharedTies:
    """The partition that these settings mean for a profile; ``edges`` win over ``n_bins`` and ``strategy``."""
    fixed = fixed_partition(n_bins=n_bins, strategy=strategy, closed=closed, ties=ties, edges=edges)
    return Partition.equal_mass(profile, n_bins, ties) if fixed is None else fixed


def fixed_partition(
    *,
    n_bins: int = 15,
    strategy: Strategy = "equal_width",
    closed: Closed = "right",
    ties: Ties = "together",
    edges: Sequence[float] | None = None,
) -> Partition | None:
    """The partition, where it does not depend on the rows; None for equal mass."""
    checked_options(closed=closed, ties=ties)
    if edges is not None:
        return Partition.from_edges(edges, closed)
    strategy = strategy_name(strategy)
    if strategy == "equal_mass":
        return None
    if strategy != "equal_width":
        raise InputError(f"strategy must be 'equal_width' or 'equal_mass', or give edges; got {strategy!r}.", value=strategy)
    return Partition.equal_width(n_bins, closed)


def strategy_name(strategy: Any) -> Any:
    """A strategy as it is spelled here: the command line's ``equal-mass`` is ``equal_mass``."""
    return strategy.replace("-", "_") if isinstance(strategy, str) else strategy


def bin_statistics(  # noqa: PLR0913 - the settings of a binning
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 15,
    strategy: Strategy = "equal_width",
    closed: Closed = "right",
    view: str | None = None,
    ties: Ties = "together",
    edges: Sequence[float] | None = None,
    classes: Sequence[Any] | None = None,
    sample_weight: Any = None,
) -> BinnedStatistics:
    """Count, mean confidence, accuracy and gap of each bin.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, as in `Predictions.from_arrays`.
    y_prob : array-like of shape (n,) or (n, K)
        P(positive), or one column a class.
    n_bins : int
    strategy : {"equal_width", "equal_mass"}
    closed : {"right", "left"}
        Side on which equal-width and custom bins include their edge.
    view : str, optional
        ``"top_label"``, ``"positive"`` or ``"class:<name>"``; by default positive for (n,), top_label for (n, K).
    ties : {"together", "share"}
        What equal mass does with equal confidences.
    edges : sequence of float, optional
        Custom edges from 0 to 1.
    classes : sequence, optional
        Class names in column order.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    BinnedStatistics

    Raises
    ------
    InputError
        For input or settings that cannot be used.

    Notes
    -----
    Equal-width edges are the doubles nearest k/M and bins are (a, b], the first also holding 0; gap = accuracy −
    confidence.  Sums of these rows, with nothing assumed; but |gap| is above 0 by chance, by √(2·V_b/π)/n_b on average for
    independent rows of a calibrated model, V_b = Σp(1 − p), and a bin hides errors that cancel within it.

    Large arrays of floats, with labels of 0 and 1 or column numbers, are checked and binned in one pass, in blocks and
    without a copy; `BinnedStatistics.calibrated_range` looks at them again, so leave them as they are until then.  A program
    that has imported Numba (extra ``fast``) gets the same bins of two million rows and more in half the time.

    References
    ----------
    Murphy & Winkler (1977), doi:10.2307/2346866 (the reliability diagram).

    Examples
    --------
    >>> b = bin_statistics([1, 1, 0, 1], [0.3, 0.3, 0.9, 0.9], n_bins=4)
    >>> b.count.tolist(), b.gap.round(2).tolist()
    ([0, 2, 0, 2], [nan, 0.7, nan, -0.4])
    """
    settings: dict[str, Any] = {"n_bins": n_bins, "strategy": strategy, "closed": closed, "ties": ties, "edges": edges}
    if classes is None and sample_weight is None and (found := _at_once(y_true, y_prob, view, settings)) is not None:
        return found
    predictions = Predictions.from_arrays(y_true, y_prob, classes=classes, sample_weight=sample_weight)
    return _binned(predictions, view or usual_view(y_prob), fixed_partition(**settings), n_bins, ties)


def _at_once(y_true: Any, y_prob: Any, view: str | None, settings: dict[str, Any]) -> BinnedStatistics | None:
    """Bins of ordinary arrays, straight from the rows; None if `Predictions` must look at them, or has to say what is wrong."""
    try:
        fixed = fixed_partition(**settings)
        if fixed is not None:
            return one_pass(y_true, y_prob, fixed, view)
        m = checked_bins(settings["n_bins"])
    except InputError:
        return None
    if settings["ties"] != "together" or view not in (None, "positive"):
        return None
    return equal_mass(y_true, y_prob, m)


def _binned(predictions: Predictions, view: str, fixed: Partition | None, n_bins: int, ties: Ties) -> BinnedStatistics:
    """Bins of a view: in one pass over the rows where the partition is fixed, else from the sorted cells."""
    if fixed is not None:
        return bin_rows(fixed, *predictions.rows(view), predictions.weight)
    profile = predictions.profile(view)
    return profile.bin(Partition.equal_mass(profile, n_bins, ties))


def expected_calibration_error(y_true: Any, y_prob: Any, **options: Any) -> float:
    """Expected calibration error: Σ (n_b/n)·|accuracy_b − confidence_b| over the bins that hold rows.

    Takes the same arguments as `bin_statistics`.

    Returns
    -------
    float
        Between 0 and 1.  Depends on bins and rows: always quote both.

    Notes
    -----
    Averaging within bins can only hide error; sampling noise of independent rows adds about Σ√(2·V_b/π)/n under calibration,
    with V_b = Σp(1 − p).  A constant forecast of the base rate has an ECE near 0 and is useless: read it beside a proper score.
    No percentile or BCa interval of it is offered: a bootstrap adds the noise a second time, and its simulated coverage under
    calibration was 0; `debiased_squared_error` has an interval.

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), doi:10.1609/aaai.v29i1.9602; Guo et al. (2017), arXiv:1706.04599.

    Examples
    --------
    >>> round(expected_calibration_error([1, 0, 1, 0], [0.81, 0.12, 0.47, 0.36], n_bins=5), 12)
    0.3
    """
    return bin_statistics(y_true, y_prob, **options).ece


def maximum_calibration_error(y_true: Any, y_prob: Any, **options: Any) -> float:
    """Maximum calibration error: the largest |accuracy_b − confidence_b| over the bins that hold rows.

    Takes the same arguments as `bin_statistics`.

    Notes
    -----
    The largest of several noisy gaps, so biased upwards, and decided by the thinnest bins: name the bin and its rows
    (`BinnedStatistics.mce_bin`).  Assumes nothing about the rows; a description of these bins only.

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), doi:10.1609/aaai.v29i1.9602.

    Examples
    --------
    >>> round(maximum_calibration_error([1, 1, 0, 1], [0.3, 0.3, 0.9, 0.9], n_bins=4), 12)
    0.7
    """
    return bin_statistics(y_true, y_prob, **options).mce


def root_mean_square_calibration_error(y_true: Any, y_prob: Any, **options: Any) -> float:
    """Root mean square calibration error: √(Σ (n_b/n)·(accuracy_b − confidence_b)²).

    Takes the same arguments as `bin_statistics`.

    Notes
    -----
    Biased upwards by sampling noise, as ECE is: of independent rows, its square is about Σ V_b/(n_b·n) under calibration,
    with V_b = Σp(1 − p).
    `debiased_squared_error` takes that off.

    References
    ----------
    Kumar, Liang & Ma (2019), arXiv:1909.10155 (ℓ² calibration error).

    Examples
    --------
    >>> round(root_mean_square_calibration_error([1, 1, 0, 1], [0.3, 0.3, 0.9, 0.9], n_bins=4) ** 2, 12)
    0.325
    """
    return bin_statistics(y_true, y_prob, **options).rmsce


def classwise_calibration_error(
    y_true: Any, y_prob: Any, *, classes: Sequence[Any] | None = None, sample_weight: Any = None, **options: Any
) -> ClasswiseError:
    """One-vs-rest ECE of every class, and their mean.

    Takes the arguments of `bin_statistics` except ``view``.

    Notes
    -----
    (1/K)·Σ_k ECE_k, where ECE_k bins the probability of class k against whether the label is k, over all rows.  Each ECE_k is
    above 0 by chance, by about what `noise_floor` gives for the profile of ``class:k`` if the model is calibrated and rows
    are independent; the mean inherits that.

    References
    ----------
    Kull et al. (2019), arXiv:1910.12656; Nixon et al. (2019), arXiv:1904.01685.

    Examples
    --------
    >>> c = classwise_calibration_error([0, 1], [[0.7, 0.3], [0.2, 0.8]], n_bins=5)
    >>> {k: round(v, 12) for k, v in c.per_class.items()}, round(c.mean, 12)
    ({'0': 0.25, '1': 0.25}, 0.25)
    """
    if classes is None and sample_weight is None and (found := _classes_at_once(y_true, y_prob, options)) is not None:
        return found
    predictions = Predictions.from_arrays(y_true, y_prob, classes=classes, sample_weight=sample_weight)
    return classwise_error(predictions, **options)


def _classes_at_once(y_true: Any, y_prob: Any, options: dict[str, Any]) -> ClasswiseError | None:
    """As `_at_once`, for every class."""
    try:
        fixed = fixed_partition(**options)
    except (InputError, TypeError):
        return None
    found = None if fixed is None else class_sums(y_true, y_prob, fixed)
    if fixed is None or found is None:
        return None
    sums, rows = found
    bins = (bin_sums(fixed, count, count, confidence, events, count) for count, confidence, events in sums)
    per_class = {str(k): b.ece for k, b in enumerate(bins)}
    return ClasswiseError(per_class, dict(zip(per_class, rows.tolist(), strict=True)))


def classwise_error(
    predictions: Predictions,
    *,
    n_bins: int = 15,
    strategy: Strategy = "equal_width",
    closed: Closed = "right",
    ties: Ties = "together",
    edges: Sequence[float] | None = None,
) -> ClasswiseError:
    """`classwise_calibration_error` of predictions."""
    needs(predictions, Predictions, "classwise_error")
    if not predictions.every_class:
        raise InputError(
            f"{predictions.name} holds only the confidence of the predicted class; classwise errors need a probability for every class."
        )
    fixed = fixed_partition(n_bins=n_bins, strategy=strategy, closed=closed, ties=ties, edges=edges)
    sort = len(predictions.classes) <= _FEW_CLASSES or not predictions.has_rows

    def one(view: str) -> float:
        if sort and fixed is not None:
            return predictions.profile(view).bin(fixed).ece
        return _binned(predictions, view, fixed, n_bins, ties).ece

    rows = zip(predictions.classes, predictions.label_counts.tolist(), strict=True)
    return ClasswiseError({c: one(f"class:{c}") for c in predictions.classes}, dict(rows))


def sweep(profile: Profile, *, closed: Closed = "right", ties: Ties = "together", n_bins: Sequence[int] = SWEPT) -> Sweep:
    """ECE for each number of bins, equal width and equal mass, to see whether the answer depends on the bins.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> s = sweep(Predictions.from_arrays([1, 0], [0.9, 0.2]).profile("positive"), n_bins=[2])
    >>> [round(e, 12) for e in s.equal_width]
    [0.15]
    """
    residual = profile.cumulative("residual")

    def errors(partitions: list[Partition | SharedTies]) -> tuple[float, ...]:
        """ECE of each partition, from the sums up to the cuts of all."""
        cuts = [p.cut(profile.value) for p in partitions]
        gaps = np.abs(residual.between(np.concatenate(cuts)))
        gaps[np.cumsum([len(c) for c in cuts[:-1]], dtype=np.intp) - 1] = 0.0  # from the last cut of one to the first of the next
        starts = np.cumsum([0, *(len(c) for c in cuts[:-1])])
        return tuple((np.add.reduceat(gaps, starts) / profile.weight_sum).tolist())

    return Sweep(
        tuple(n_bins),
        errors([Partition.equal_width(m, closed) for m in n_bins]),
        errors([Partition.equal_mass(profile, m, ties) for m in n_bins]),
    )
