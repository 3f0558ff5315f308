"""The terms of the Brier score over bins: reliability, resolution, uncertainty, and what happens within bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibcore.binned import BinnedStatistics
from calibcore.measures.arrays import view_profile
from calibcore.measures.calibration_error import make_partition
from calibcore.partition import Closed, Partition, SharedTies, Strategy, Ties
from calibcore.profile import Profile

__all__ = ["MurphyDecomposition", "murphy", "murphy_decomposition", "view_brier"]


def view_brier(profile: Profile) -> float:
    """Mean squared difference between the value and the event of a view, 0 to 1."""
    return profile.total("squared_error") / profile.weight_sum


@dataclass(frozen=True, slots=True, eq=False)
class MurphyDecomposition:
    """Brier score = rel − res + unc + wbv − wbc, over the bins of a partition.

    Attributes
    ----------
    rel : float
        Reliability: mean square gap of the bins, low is good.
    res : float
        Resolution: how far the bins' shares of events lie from the base rate.
    unc : float
        Uncertainty: ȳ(1 − ȳ).
    wbv, wbc : float
        Variance of the probabilities within bins, and twice their covariance with the outcomes; both 0 only if each
        bin holds one probability.
    brier : float
        Of the view, 0 to 1.
    bins : BinnedStatistics
    """

    rel: float
    res: float
    unc: float
    wbv: float
    wbc: float
    brier: float
    bins: BinnedStatistics
    n_effective: float

    @property
    def generalised_resolution(self) -> float:
        """Res − wbv + wbc, with which three terms add up: brier = rel − generalised resolution + unc."""
        return self.res - self.wbv + self.wbc

    @property
    def _bias(self) -> float:
        b = self.bins
        several = b.n_effective > 1 + 1e-9
        w, y, n = b.weight[several], b.accuracy[several], b.n_effective[several]
        return float(np.sum(w * y * (1 - y) / (n - 1)) / np.sum(b.weight))

    @property
    def corrected(self) -> tuple[float, float, float] | None:
        """Rel, res and unc with less bias; None for a single row, or where tied rows are shared between bins.

        With A = Σ W_b·ȳ_b(1 − ȳ_b)/(n_b − 1) over bins of at least two rows: rel − A, res − A + unc/(n − 1), unc·n/(n − 1).
        Their rel − res + unc is that of the raw terms.  A bin of one row cannot be corrected and keeps its bias.  The
        correction of rel is right if all rows of a bin have the same probability, and too large otherwise; it may make
        a term negative.  Weighted: n = (Σw)²/Σw².
        """
        if self.bins.shared or self.n_effective <= 1 + 1e-9:
            return None
        n, bias = self.n_effective, self._bias
        return self.rel - bias, self.res - bias + self.unc / (n - 1), self.unc * n / (n - 1)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        raw = {k: getattr(self, k) for k in ("rel", "res", "unc", "wbv", "wbc", "brier", "generalised_resolution")}
        fixed = self.corrected
        return {**raw, "corrected": None if fixed is None else dict(zip(("rel", "res", "unc"), fixed, strict=True))}


def murphy(profile: Profile, partition: Partition | SharedTies) -> MurphyDecomposition:
    """`murphy_decomposition` of a profile in the bins of a partition."""
    bins = profile.bin(partition)
    positions = partition.cut(profile.value)
    squares, products = (profile.cumulative(q).between(positions) for q in ("square", "confidence_of_events"))
    share, p, y = (np.where(bins.filled, x, 0.0) for x in (bins.weight / profile.weight_sum, bins.confidence, bins.accuracy))
    base = profile.accuracy
    return MurphyDecomposition(
        rel=float(np.sum(share * (p - y) ** 2)),
        res=float(np.sum(share * (y - base) ** 2)),
        unc=base * (1 - base),
        wbv=float(np.sum(squares - bins.weight * p * p)) / profile.weight_sum,
        wbc=2 * float(np.sum(products - bins.weight * p * y)) / profile.weight_sum,
        brier=view_brier(profile),
        bins=bins,
        n_effective=profile.n_effective,
    )


def murphy_decomposition(  # noqa: PLR0913 - the settings of a binning
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
) -> MurphyDecomposition:
    """Murphy's reliability, resolution and uncertainty, with the two terms within bins that make them add up.

    Parameters
    ----------
    y_true, y_prob, n_bins, strategy, closed, view, ties, edges, classes, sample_weight
        As in `bin_statistics`.

    Returns
    -------
    MurphyDecomposition

    Notes
    -----
    With bin means p̄_b and ȳ_b and shares W_b: rel = ΣW_b(p̄_b − ȳ_b)², res = ΣW_b(ȳ_b − ȳ)², unc = ȳ(1 − ȳ),
    wbv = mean of (p − p̄_b)², wbc = twice the mean of (p − p̄_b)(y − ȳ_b).  The first three alone are not the Brier score
    unless p is constant in each bin.  In a sample rel is too high and unc too low on average; see
    ``corrected``.  Assumes independent rows.  In the top-label view the score is that of the confidence, from 0 to 1.

    References
    ----------
    Murphy (1973), doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2; Stephenson, Coelho & Jolliffe (2008),
    doi:10.1175/2007WAF2006116.1; Ferro & Fricker (2012), doi:10.1002/qj.1924.

    Examples
    --------
    >>> m = murphy_decomposition([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2)
    >>> [round(v, 12) for v in (m.rel, m.res, m.unc, m.wbv, m.wbc)]
    [0.04, 0.0, 0.25, 0.01, 0.1]
    """
    profile = view_profile(y_true, y_prob, view=view, classes=classes, sample_weight=sample_weight)
    return murphy(profile, make_partition(profile, n_bins=n_bins, strategy=strategy, closed=closed, ties=ties, edges=edges))
