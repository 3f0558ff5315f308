"""How far the numbers of a reduced profile can be from those of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import needs
from calibcore.grid import ends, fractions
from calibcore.inside import Inside
from calibcore.measures.calibration_error import SWEPT, make_partition
from calibcore.partition import Closed, Partition, SharedTies, Ties, quantile_ranks
from calibcore.profile import Profile

__all__ = ["Kind", "Precision", "binning_error", "kuiper_error", "precision", "within_cells"]

FloatArray = NDArray[np.float64]
Kind = Literal["exact", "bounded", "approximate", "unavailable"]
_FLOAT32 = 2.0**-24  # by which an edge may move where rows met it as float32

_ALWAYS = ("accuracy", "mean_confidence", "gap", "brier", "log_loss", "skill", "observed_expected")
_OF_BINS = ("ece", "mce", "rmsce", "squared_error_debiased", "noise_floor", "murphy")
_OF_MEANS = (
    "pattern",
    "corp",
    "smooth_ece",
    "ece_sweep",
    "intercept_in_the_large",
    "cox",
    "spiegelhalter",
    "chance",
    "detection",
    "risk_coverage",
)
_OF_MEANS_ON_REQUEST = ("bands", "hosmer_lemeshow", "kde", "kernel", "t_cal")
_OF_ROWS = ("top_label_by_class", "pairing", "clusters", "rows", "periods", "reconcile", "refinement", "remedies")


@dataclass(frozen=True, slots=True)
class Precision:
    """What a number of a reduced profile is worth.

    Attributes
    ----------
    kind : {"exact", "bounded", "approximate", "unavailable"}
        ``"exact"``: that of the rows, but for rounding.  ``"approximate"``: the mean of a cell takes the place of its rows.
    within : float or None
        How far the rows' own number can be, where ``kind`` is ``"bounded"``.
    """

    kind: Kind
    within: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"kind": self.kind, "within": self.within}


def binning_error(profile: Profile, partition: Partition | SharedTies) -> float:
    """How far the ECE in these bins can be from that of the rows: 0 for an exact profile and for edges that cut no cell.

    Parameters
    ----------
    profile : Profile
    partition : Partition or SharedTies
        Equal mass: made from this profile; the bound is on the ECE of equal-mass bins made from the rows.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If these are no profile and no bins.

    Notes
    -----
    A cell that an edge cuts lies in one bin here, while its rows belong to two or more.  Moving any of its rows to another bin
    changes |Σr| of either by at most n·e_c = max(Σ_{y=1} w(1 − p), Σ_{y=0} wp) over the rows of the cell, so that the ECE
    changes by at most 2Σe_c over the cells that are cut.  The bound follows from the sums by outcome; it holds for every
    order of the rows.

    Examples
    --------
    >>> rows = Profile.from_rows(np.array([0.1, 0.70001, 0.70002]), np.array([False, True, False]))
    >>> binning_error(rows.to_reduced(), Partition.equal_width(10))
    0.0
    >>> round(binning_error(rows.to_reduced(), Partition.from_edges([0, 0.700015, 1])), 6)  # 2·0.70002/3
    0.46668
    """
    needs(profile, Profile, "binning_error")
    needs(partition, (Partition, SharedTies), "binning_error")
    if profile.inside is None:
        return 0.0
    cut = _cut_by_mass(profile, partition) if partition.strategy == "equal_mass" else _cut_by_edges(profile.inside, partition)
    return 2 * float(np.sum(profile.inside.swing[cut])) / profile.weight_sum


def _cut_by_mass(profile: Profile, partition: Partition | SharedTies) -> NDArray[np.bool_]:
    """Cells that hold the end of an equal-mass bin before their last row."""
    m, upto = partition.requested, profile.weight_upto
    before = np.concatenate([[0], upto[:-1]])
    if profile.weighted:  # cumulative weights are rounded
        ends_at, slack = np.arange(1, m + 1) / m * upto[-1], 1e-9 * upto[-1]
    else:
        ends_at, slack = quantile_ranks(int(upto[-1]), m), 0
    reached = np.searchsorted(ends_at, before + slack, side="right")
    return np.asarray(reached < np.searchsorted(ends_at, upto - slack, side="left"))


def _cut_by_edges(inside: Inside, partition: Partition | SharedTies) -> NDArray[np.bool_]:
    """Cells with rows on either side of an edge, as far as their ends tell."""
    low, high = ends(inside.cell)
    cut = np.zeros(len(low), dtype=np.bool_)
    fixed = fractions()
    for edge in partition.edges[1:-1].tolist():
        if fixed[np.searchsorted(fixed, edge)] == edge:
            continue  # a cell of its own, on either side of which every other one lies
        cut |= (low <= edge + _FLOAT32) & (high >= edge - _FLOAT32)
    return cut


def kuiper_error(profile: Profile) -> float:
    """How far the Kuiper range of the cumulative differences can be from that of the rows: 2·max e_c, see `binning_error`.

    Within a cell the cumulative sum rises by at most Σ_{y=1} w(1 − p) and falls by at most Σ_{y=0} wp, between ends that are
    exact; so each extreme moves by at most the larger of the two.
    """
    needs(profile, Profile, "kuiper_error")
    if profile.inside is None:
        return 0.0
    return 2 * float(np.max(profile.inside.swing, initial=0.0)) / profile.weight_sum


def within_cells(profile: Profile) -> float:
    """Root mean square distance of the rows' probabilities from the mean of their cell; 0 for an exact profile."""
    needs(profile, Profile, "within_cells")
    if profile.inside is None:
        return 0.0
    lost = profile.cell_sums("square") - profile.cell_sums("confidence") ** 2 / profile.weight
    return float(np.sqrt(max(float(np.sum(lost)), 0.0) / profile.weight_sum))


def precision(
    profile: Profile, partition: Partition | SharedTies, *, closed: Closed = "right", ties: Ties = "together"
) -> dict[str, Precision] | None:
    """What each number of an analysis of a profile in these bins is worth; None if the profile is exact.

    Parameters
    ----------
    profile : Profile
    partition : Partition or SharedTies
    closed, ties
        Of the sweep over many numbers of bins.
    """
    if profile.inside is None:
        return None
    error = binning_error(profile, partition)
    found = dict.fromkeys(_ALWAYS, Precision("exact"))
    found |= dict.fromkeys(_OF_BINS, Precision("approximate" if error else "exact"))
    found["ece"] = _bounded(error)
    for strategy in ("equal_width", "equal_mass"):  # whichever is shown, the other stands beside it
        found[f"ece.{strategy}"] = _bounded(_strategy_error(profile, partition.requested, strategy, closed, ties))
    found["sweep.equal_width"] = _bounded(_sweep_error(profile, "equal_width", closed, ties))
    found["sweep.equal_mass"] = _bounded(_sweep_error(profile, "equal_mass", closed, ties))
    range_error = kuiper_error(profile)
    found |= {"cumulative.range": _bounded(range_error), "cumulative.mad": _bounded(range_error / 2)}
    found |= dict.fromkeys((*_OF_MEANS, *_OF_MEANS_ON_REQUEST), Precision("approximate"))
    return {**found, **dict.fromkeys(_OF_ROWS, Precision("unavailable"))}


def _bounded(error: float) -> Precision:
    return Precision("bounded", error) if error else Precision("exact", 0.0)


def _strategy_error(profile: Profile, n_bins: int, strategy: Literal["equal_width", "equal_mass"], closed: Closed, ties: Ties) -> float:
    made = make_partition(profile, n_bins=n_bins, strategy=strategy, closed=closed, ties=ties)
    return binning_error(profile, made)


def _sweep_error(profile: Profile, strategy: Literal["equal_width", "equal_mass"], closed: Closed, ties: Ties) -> float:
    def largest() -> float:
        made = (make_partition(profile, n_bins=m, strategy=strategy, closed=closed, ties=ties) for m in SWEPT)
        return max(binning_error(profile, p) for p in made)

    return profile.remember(f"sweep error {strategy} {closed} {ties}", largest)
