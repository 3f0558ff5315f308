"""Risk against coverage: the error rate among the most confident rows, for every share of rows acted on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import needs
from calibcore.errors import InputError
from calibcore.profile import Profile
from calibcore.proportions import checked_level, wilson_interval

__all__ = ["RiskCoverage", "risk_coverage"]

FloatArray = NDArray[np.float64]
_CHUNK = 1 << 16  # cells
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
    coverage, risk, expected, area, expected_area = _curves(profile)
    shown = _spread(coverage, int(points))
    threshold = profile.value[::-1].astype(np.float64)
    count = np.cumsum(profile.count[::-1])
    return RiskCoverage(coverage[shown], risk[shown], expected[shown], threshold[shown], count[shown], area, expected_area, profile)


def _squares(profile: Profile, cut: int) -> float:
    """Σw² of the rows from a cell up, with what rows that go together add to it."""
    ends = np.array([0, cut, len(profile)])
    return float((profile.cumulative("weight_squared").between(ends) + profile.dependence * profile.cluster_pairs(ends))[1])


def _curves(profile: Profile) -> tuple[FloatArray, FloatArray, FloatArray, float, float]:
    """Coverage, risk and expected risk from each cell up, shape (cells,) from the largest score down; the areas of both risks.

    Made in parts that stay in the processor's cache, each on top of the sums of those before it.
    """
    n, whole = len(profile), profile.weight_sum
    coverage, risks, areas = np.empty(n), np.empty((2, n)), np.zeros(2)
    held, ahead = np.longdouble(0), np.zeros(2, np.longdouble)
    for start in range(0, n, _CHUNK):
        here, cells = slice(start, start + _CHUNK), slice(max(n - start - _CHUNK, 0), n - start)
        weight, positive, value = (np.asarray(a[cells][::-1], np.float64) for a in (profile.weight, profile.positive, profile.value))
        upto = np.cumsum(weight) + float(held)
        held += weight.sum()
        np.divide(upto, whole, out=coverage[here])
        for k, wrong in enumerate((weight - positive, weight * (1.0 - value))):
            risk = risks[k, here]
            np.divide(np.cumsum(wrong) + float(ahead[k]), upto, out=risk)
            np.clip(risk, 0.0, 1.0, out=risk)
            ahead[k] += wrong.sum()
            before = risks[k, max(start - 1, 0)]
            areas[k] += (weight[0] * (risk[0] + before) + np.einsum("i,i", weight[1:], risk[1:] + risk[:-1])) / 2 / whole
    np.minimum(coverage, 1.0, out=coverage)
    coverage[-1] = 1.0  # whatever the rounding of the sums
    area, expected = np.minimum(areas, 1.0).tolist()
    return coverage, risks[0], risks[1], area, expected


def _spread(coverage: FloatArray, points: int) -> NDArray[np.intp]:
    """Positions of at most ``points`` of the coverages, the first and the last among them."""
    if len(coverage) <= points:
        return np.arange(len(coverage))
    wanted = np.linspace(coverage[0], 1.0, points)
    return np.unique(np.minimum(np.searchsorted(coverage, wanted, side="left"), len(coverage) - 1))
