"""Risk against coverage: the error rate among the most confident rows, for every share of rows acted on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import needs
from calibcore.errors import InputError
from calibcore.measures.decisions import doubt
from calibcore.profile import Profile
from calibcore.proportions import checked_level, wilson_interval
from calibcore.summation import Cumulative, total_of

__all__ = ["RiskCoverage", "risk_coverage"]

FloatArray = NDArray[np.float64]
_CURVE = ("coverage", "risk", "expected_risk", "threshold", "count")


@dataclass(frozen=True, slots=True, eq=False)
class RiskCoverage:
    """Outcome of `risk_coverage`; arrays of shape (points,), from the most confident rows to all.

    Attributes
    ----------
    coverage : array
        Share of all weights with at least the threshold's score; rises to 1.
    risk, expected_risk : array
        Error rate among them, found and by the model's own probabilities.
    threshold : array
        The smallest score among them; falls.
    count : array of int
        Rows.
    area, expected_area : float
        Under the two curves, from all distinct scores (not only the points shown).
    profile : Profile
    """

    coverage: FloatArray
    risk: FloatArray
    expected_risk: FloatArray
    threshold: FloatArray
    count: NDArray[np.int64]
    area: float
    expected_area: float
    profile: Profile = field(repr=False)

    def __repr__(self) -> str:
        return f"<RiskCoverage: {len(self.coverage):,} points, area {self.area:.4g} (expected {self.expected_area:.4g})>"

    def __post_init__(self) -> None:
        for name in _CURVE:
            getattr(self, name).flags.writeable = False

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Wilson's interval of each risk by itself, for as many independent rows as are effective; two arrays of shape (points,).

        Examples
        --------
        >>> from calibcore.predictions import Predictions
        >>> curve = risk_coverage(Predictions.from_top_label([0.9] * 8 + [0.6] * 2, [1] * 7 + [0] + [1, 0]).profile())
        >>> [end.round(3).tolist() for end in curve.interval()]  # of 1 in 8 and of 2 in 10
        [[0.022, 0.057], [0.471, 0.51]]
        """
        p = self.profile
        squared = p.remember("risk coverage squares", lambda: np.array([_squares(p, cut) for cut in self._cuts()]))
        n = (self.coverage * p.weight_sum) ** 2 / squared
        return wilson_interval(self.risk * n, n, checked_level(level))

    def _cuts(self) -> NDArray[np.intp]:
        """How many cells lie below each point."""
        return np.searchsorted(self.profile.value, self.threshold.astype(self.profile.value.dtype))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        arrays = {k: getattr(self, k).tolist() for k in _CURVE}
        return {**arrays, "area": self.area, "expected_area": self.expected_area}


def risk_coverage(profile: Profile, points: int = 101) -> RiskCoverage:
    """Error rate among the most confident rows, for every share of rows acted on.

    Parameters
    ----------
    profile : Profile
    points : int
        At most as many points, about evenly spread over the coverage; the first and the last score are always there.

    Returns
    -------
    RiskCoverage

    Raises
    ------
    InputError
        If ``points`` is not a whole number from 2 up.

    Notes
    -----
    Rows with score ≥ v: coverage Σw/W, risk Σw(1 − y)/Σw, expected risk Σw(1 − p)/Σw.  Equal scores are one step.  Area by
    the trapezoid rule over the coverages of all distinct scores, with the first risk extended to coverage 0:
    c_1·r_1 + Σ (c_k − c_{k−1})·(r_k + r_{k−1})/2.  The risk at small coverage rests on few rows.  The curve judges the
    order of the scores; that risk and expected risk agree is calibration among the most confident rows.  A threshold
    picked from the curve because its risk is low needs other rows to confirm it.  In the positive and class views an error
    is a row without the event.

    References
    ----------
    Geifman & El-Yaniv (2017), arXiv:1705.08500; El-Yaniv & Wiener (2010), Journal of Machine Learning Research 11.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> curve = risk_coverage(Predictions.from_top_label([0.9, 0.8, 0.8, 0.6], [1, 1, 0, 0]).profile())
    >>> curve.coverage.tolist(), curve.threshold.tolist()
    ([0.25, 0.75, 1.0], [0.9, 0.8, 0.6])
    >>> curve.area  # 1/4·0 + 1/2·(0 + 1/3)/2 + 1/4·(1/3 + 1/2)/2 = 3/16
    0.1875
    """
    needs(profile, Profile, "risk_coverage")
    if isinstance(points, (bool, np.bool_)) or not isinstance(points, (int, np.integer)) or points < 2:
        raise InputError(f"The number of points must be a whole number from 2 up, got {points!r}.", value=points)
    weight, wrong, doubted = (_from_top(a) for a in (profile.weight, profile.weight - profile.positive, doubt(profile)))
    coverage = weight / weight[-1]
    risk, expected = np.clip(wrong / weight, 0.0, 1.0), np.clip(doubted / weight, 0.0, 1.0)
    shown = _spread(coverage, int(points))
    area, expected_area = (_area(coverage, r) for r in (risk, expected))
    threshold = profile.value[::-1].astype(np.float64)
    count = np.cumsum(profile.count[::-1])
    return RiskCoverage(coverage[shown], risk[shown], expected[shown], threshold[shown], count[shown], area, expected_area, profile)


def _squares(profile: Profile, cut: int) -> float:
    """Σw² of the rows from a cell up, with what rows that go together add to it."""
    ends = np.array([0, cut, len(profile)])
    return float((profile.cumulative("weight_squared").between(ends) + profile.dependence * profile.cluster_pairs(ends))[1])


def _from_top(values: NDArray[Any]) -> FloatArray:
    """Sums over the cells from the largest score down."""
    return Cumulative(np.ascontiguousarray(values[::-1])).upto.astype(np.float64)


def _spread(coverage: FloatArray, points: int) -> NDArray[np.intp]:
    """Positions of at most ``points`` of the coverages, the first and the last among them."""
    if len(coverage) <= points:
        return np.arange(len(coverage))
    wanted = np.linspace(coverage[0], 1.0, points)
    return np.unique(np.minimum(np.searchsorted(coverage, wanted, side="left"), len(coverage) - 1))


def _area(coverage: FloatArray, risk: FloatArray) -> float:
    ends = coverage[1:], coverage[:-1], risk[1:], risk[:-1]
    return float(coverage[0] * risk[0]) + total_of(lambda c, before, r, last: (c - before) * (r + last) / 2, *ends)
