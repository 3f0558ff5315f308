"""Decisions at a threshold: errors expected and found among the rows acted on, and their cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import needs
from calibcore.errors import InputError
from calibcore.partition import Closed, Partition, checked_options
from calibcore.profile import Profile
from calibcore.proportions import binomial_range, checked_level, wilson_interval
from calibcore.summation import total

__all__ = ["Cost", "Side", "ThresholdPanel", "doubt", "threshold_panel"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Side:
    """The rows on one side of a threshold.

    Attributes
    ----------
    count : int
        Rows.
    weight : float
        Sum of their weights; the count without weights.
    share : float
        Of all weights: the coverage, for the rows acted on.
    errors_expected, errors_found : float
        Sums of weights: what the model's own probabilities let expect, and what happened.
    n_effective : float
        (Σw)²/Σw², the sample size of the interval; fewer where rows of a cluster go together.
    """

    count: int
    weight: float
    share: float
    errors_expected: float
    errors_found: float
    n_effective: float

    @property
    def rate_expected(self) -> float | None:
        """Errors expected for each unit of weight; None without rows."""
        return self.errors_expected / self.weight if self.weight else None

    @property
    def rate_found(self) -> float | None:
        """Error rate; None without rows."""
        return self.errors_found / self.weight if self.weight else None

    def interval(self, level: float = 0.95) -> tuple[float | None, float | None]:
        """Wilson's interval of the error rate for as many independent rows as are effective; (None, None) without rows."""
        if self.rate_found is None:
            return None, None
        n = np.array([self.n_effective])
        low, high = wilson_interval(self.rate_found * n, n, checked_level(level))
        return float(low[0]), float(high[0])

    def expected_range(self, level: float = 0.95) -> tuple[float | None, float | None]:
        """Where the error rate would fall if the model were calibrated: binomial quantiles, slightly wide."""
        if self.rate_expected is None:
            return None, None
        low, high = binomial_range(np.array([self.n_effective]), np.array([min(1.0, self.rate_expected)]), checked_level(level))
        return float(low[0]), float(high[0])

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """As plain data."""
        return {
            "count": self.count,
            "weight": self.weight,
            "share": self.share,
            "errors_expected": self.errors_expected,
            "errors_found": self.errors_found,
            "rate_expected": self.rate_expected,
            "rate_found": self.rate_found,
            "interval": list(self.interval(level)),
            "expected_range": list(self.expected_range(level)),
        }


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of acting at a threshold and reviewing the rest.

    Attributes
    ----------
    error, review : float
        Cost of an error among the rows acted on, and of reviewing a row that is not acted on.
    expected, found : float
        Totals, as sums of weights: error·(errors expected or found) + review·(weight not acted on).
    per_row_expected, per_row_found : float
        Divided by the sum of all weights.
    """

    error: float
    review: float
    expected: float
    found: float
    per_row_expected: float
    per_row_found: float

    @property
    def break_even(self) -> float | None:
        """The score above which acting is cheaper than reviewing, if the probabilities are right: max(0, 1 − review/error).

        None where errors cost nothing.
        """
        return max(0.0, 1 - self.review / self.error) if self.error > 0 else None

    def to_dict(self) -> dict[str, float | None]:
        """As plain data."""
        names = ("error", "review", "expected", "found", "per_row_expected", "per_row_found", "break_even")
        return {k: getattr(self, k) for k in names}


@dataclass(frozen=True, slots=True)
class ThresholdPanel:
    """Outcome of `threshold_panel`.

    Attributes
    ----------
    threshold : float
    closed : {"right", "left"}
        ``"right"``: scores above the threshold are acted on; ``"left"``: scores from the threshold up.
    view : str
    acted, below : Side
        In the confidence view an error is a wrong prediction on both sides.  In the positive and class views: acted on, a
        false alarm (no event); below, a missed event.
    cost : Cost or None
    """

    threshold: float
    closed: Closed
    view: str
    acted: Side
    below: Side
    cost: Cost | None = None

    @property
    def coverage(self) -> float:
        """Share of all weights that is acted on."""
        return self.acted.share

    @property
    def rule(self) -> str:
        """Which rows are acted on, in words."""
        what = "confidence" if self.view == "top_label" else "probability"
        return f"{what} above {self.threshold:g}" if self.closed == "right" else f"{what} of at least {self.threshold:g}"

    @property
    def errors(self) -> tuple[str, str]:
        """What an error is among the rows acted on, and below."""
        return ("wrong predictions", "wrong predictions") if self.view == "top_label" else ("false alarms", "missed events")

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """As plain data."""
        return {
            "threshold": self.threshold,
            "closed": self.closed,
            "rule": self.rule,
            "view": self.view,
            "level": level,
            "coverage": self.coverage,
            "acted": {"errors": self.errors[0], **self.acted.to_dict(level)},
            "below": {"errors": self.errors[1], **self.below.to_dict(level)},
            "cost": None if self.cost is None else self.cost.to_dict(),
        }


def threshold_panel(
    profile: Profile,
    t: float,
    *,
    closed: Closed = "right",
    cost_error: float | None = None,
    cost_review: float | None = None,
) -> ThresholdPanel:
    """What happens when rows above a threshold are acted on and the others are not.

    Parameters
    ----------
    profile : Profile
    t : float
        Threshold, a fraction from 0 to 1.
    closed : {"right", "left"}
        As for bins with edges 0, t, 1.  ``"right"`` (the bins' usual side): a score equal to t is not acted on, so that at ½
        the rows acted on are those predicted positive.  ``"left"``: it is acted on.
    cost_error, cost_review : float, optional
        Cost of an error among the rows acted on, and of reviewing a row that is not; both or none.

    Returns
    -------
    ThresholdPanel

    Raises
    ------
    InputError
        If the threshold is no fraction, or a cost is negative or alone.

    Notes
    -----
    With p the score and y the outcome: acted on, errors expected Σw(1 − p) and found Σw(1 − y).  Below, in the confidence
    view the same (errors that would have been made); in the positive and class views missed events, Σw·p and Σw·y.
    Missed events have no cost here.  A calibrated model's expectation is unbiased at a threshold that was fixed before the
    outcomes were seen; a threshold chosen on these rows makes the errors found look too few.

    References
    ----------
    Chow (1970), doi:10.1109/TIT.1970.1054406 (acting or rejecting at given costs).

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> p = Predictions.from_top_label([0.95, 0.95, 0.9, 0.6], [1, 0, 1, 0]).profile()
    >>> panel = threshold_panel(p, 0.9, cost_error=10, cost_review=1)
    >>> panel.rule, panel.coverage, panel.acted.errors_found, round(panel.acted.errors_expected, 12)
    ('confidence above 0.9', 0.5, 1.0, 0.1)
    >>> panel.cost.found, round(panel.cost.expected, 12), panel.cost.break_even
    (12.0, 3.0, 0.9)
    """
    needs(profile, Profile, "threshold_panel")
    threshold = _checked_threshold(t)
    checked_options(closed=closed)
    cut = _cut(profile, threshold, closed)
    sums = {q: _sides(profile.cell_sums(q), cut) for q in ("count", "weight", "positive", "weight_squared")}
    sums["weight_squared"] = sums["weight_squared"] + _pairs(profile, cut)
    wrong, share_wrong = _sides(profile.weight - profile.positive, cut), _sides(doubt(profile), cut)
    events = profile.view != "top_label"
    expected_below = float(_sides(profile.cell_sums("confidence"), cut)[0]) if events else float(share_wrong[0])
    found_below = float(sums["positive"][0] if events else wrong[0])
    below = _side(profile, sums, 0, expected_below, found_below)
    acted = _side(profile, sums, 1, float(share_wrong[1]), float(wrong[1]))
    return ThresholdPanel(threshold, closed, profile.view, acted, below, _cost(profile, acted, below, cost_error, cost_review))


def _checked_threshold(t: Any) -> float:
    if isinstance(t, (bool, np.bool_)) or not isinstance(t, (int, float, np.integer, np.floating)) or not 0 <= t <= 1:
        raise InputError(f"The threshold must be a fraction from 0 to 1, such as 0.9; got {t!r}.", value=t)
    return float(t)


def _cut(profile: Profile, t: float, closed: Closed) -> int:
    """How many cells lie below, by the rule of the bins; at 1, "left" acts on scores of exactly 1."""
    if t == 1.0:
        ones = int(np.count_nonzero(profile.value == 1.0)) if closed == "left" else 0
        return len(profile) - ones
    if t == 0.0 and closed == "left":
        return 0
    return int(Partition.from_edges([0.0, t, 1.0], closed).cut(profile.value)[1])


def _sides(values: NDArray[Any], cut: int) -> FloatArray:
    """Sums below and above, each by itself: a side may be far lighter than the other's last digit."""
    return np.array([total(values[:cut]), total(values[cut:])])


def _pairs(profile: Profile, cut: int) -> FloatArray:
    """What rows that go together add to Σw² on each side."""
    return profile.dependence * profile.cluster_pairs(np.array([0, cut, len(profile)]))


def doubt(profile: Profile) -> FloatArray:
    """Σw(1 − p) of each cell."""
    return np.asarray(profile.weight * (1 - profile.value.astype(np.float64)))


def _side(profile: Profile, sums: dict[str, FloatArray], at: int, expected: float, found: float) -> Side:
    weight, squared = float(sums["weight"][at]), float(sums["weight_squared"][at])
    found = min(max(found, 0.0), weight)  # sums of weights are rounded
    n_effective = weight**2 / squared if squared > 0 else 0.0
    return Side(round(float(sums["count"][at])), weight, weight / profile.weight_sum, max(expected, 0.0), found, n_effective)


def _cost(profile: Profile, acted: Side, below: Side, error: float | None, review: float | None) -> Cost | None:
    if error is None and review is None:
        return None
    if error is None or review is None:
        raise InputError("Give both costs, of an error (cost_error) and of reviewing a row (cost_review), or none.")
    for name, value in (("cost_error", error), ("cost_review", review)):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)) or not 0 <= value < np.inf:
            raise InputError(f"{name} must be a number from 0 up, got {value!r}.", value=value)
    error, review = float(error), float(review)
    expected, found = (error * e + review * below.weight for e in (acted.errors_expected, acted.errors_found))
    return Cost(error, review, expected, found, expected / profile.weight_sum, found / profile.weight_sum)
