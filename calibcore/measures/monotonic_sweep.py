"""ECE-sweep: ECE in as many equal-mass bins as leave the accuracy rising with the confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.measures.arrays import view_profile
from calibcore.partition import _quantile_cells
from calibcore.profile import Profile

__all__ = ["MAX_SWEEP", "MonotonicSweep", "ece_sweep", "monotonic_sweep"]

MAX_SWEEP = 1000
_SLACK = 1e-12  # accuracies of weighted bins are quotients of rounded sums


@dataclass(frozen=True, slots=True)
class MonotonicSweep:
    """Outcome of `ece_sweep`.

    Attributes
    ----------
    n_bins : int
        The largest number of equal-mass bins such that for it and every smaller one the accuracies never fall.
    value : float
        ECE in these bins.
    used : int
        Bins that are left where tied rows share one.
    bounded : bool
        Whether the search ended without a fall: at 1,000 bins, or where every distinct confidence had its own bin.
    """

    n_bins: int
    value: float
    used: int
    bounded: bool

    def to_dict(self) -> dict[str, float | int | bool]:
        """As plain data."""
        return asdict(self)


def monotonic_sweep(profile: Profile) -> MonotonicSweep:
    """ECE in the largest number of equal-mass bins whose accuracies never fall.

    Parameters
    ----------
    profile : Profile

    Returns
    -------
    MonotonicSweep

    Notes
    -----
    The number of bins is raised from 2 until the accuracy of a bin lies below that of the bin before it; the last
    number without such a fall is taken.  The idea: a calibration curve rises, so a fall is noise.  The number of bins
    depends on the outcomes, so that the value has no simple variance, and sampling noise still adds to it.

    Equal confidences share a bin here, so the result is the same for every order of the rows.  The published code cuts
    by rank: tied rows are divided as they happen to be sorted, and the result depends on their order.  Without ties
    the bins are the same.  The search ends at 1,000 bins.

    References
    ----------
    Roelofs, Cain, Shlens & Mozer (2022), arXiv:2012.08668, algorithm 1.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> s = monotonic_sweep(Predictions.from_arrays([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]).profile("positive"))
    >>> s.n_bins, round(s.value, 12)  # halves are right half of the time; of three bins (2, 1, 1 rows) the second falls
    (2, 0.25)
    """
    upto = profile.weight_upto
    weight, positive, residual = (profile.cumulative(q) for q in ("weight", "positive", "residual"))
    slack = _SLACK if profile.weighted else 0.0  # quotients of whole numbers are equal as doubles where they are equal
    best, ends, bounded = 1, _ends(upto, 1), True
    rising = not np.any(np.diff(profile.positive / profile.weight) < -slack)  # then the bins rise, however many
    for n_bins in range(MAX_SWEEP if rising and len(profile) > MAX_SWEEP else 2, MAX_SWEEP + 1):
        if len(ends) > len(profile):
            break
        positions = _ends(upto, n_bins)
        accuracy = positive.between(positions) / weight.between(positions)
        if np.any(np.diff(accuracy) < -slack):
            bounded = False
            break
        best, ends = n_bins, positions
    value = float(np.sum(np.abs(residual.between(ends)))) / profile.weight_sum
    return MonotonicSweep(best, value, len(ends) - 1, bounded)


def _ends(upto: NDArray[Any], n_bins: int) -> NDArray[np.intp]:
    """Positions that separate the cells as `Partition.equal_mass` does with ties together, without its edges."""
    ends = np.concatenate([[0], _quantile_cells(upto, n_bins)[1] + 1])
    return np.asarray(ends[np.concatenate([[True], np.diff(ends) > 0])], dtype=np.intp)


def ece_sweep(
    y_true: Any, y_prob: Any, *, view: str | None = None, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> MonotonicSweep:
    """ECE in the largest number of equal-mass bins whose accuracies never fall.

    Parameters
    ----------
    y_true, y_prob, view, classes, sample_weight
        As in `bin_statistics`.

    Returns
    -------
    MonotonicSweep

    Notes
    -----
    Σ (n_b/n)·|accuracy_b − confidence_b| in M equal-mass bins, M the last number from 2 up before the accuracy of a bin
    first lies below that of the bin before it.  Assumes that the true curve rises, so that a fall is noise.
    The number of bins follows the data, so it has no simple variance; the value is less biased than that of a fixed number
    of bins where the true curve rises, and still too large under calibration.  Equal scores stay together.
    Of a profile: `calibcore.measures.monotonic_sweep.monotonic_sweep`.

    References
    ----------
    Roelofs, Cain, Shlens & Mozer (2022), arXiv:2012.08668.

    Examples
    --------
    >>> s = ece_sweep([0, 0, 1, 0, 1, 0, 1, 1, 1, 1], [0.05, 0.15, 0.2, 0.35, 0.4, 0.55, 0.65, 0.8, 0.9, 0.95])
    >>> s.n_bins, round(s.value, 12)
    (5, 0.14)
    """
    return monotonic_sweep(view_profile(y_true, y_prob, view=view, classes=classes, sample_weight=sample_weight))
