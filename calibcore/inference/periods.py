"""Calibration by period: the gap over time, whether it is the same throughout, and where it is heading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.checks import needs, view_name
from calibcore.errors import InputError
from calibcore.held import NO_ROWS
from calibcore.inference.intervals import Estimate
from calibcore.inference.multiplicity import bonferroni_level
from calibcore.inference.slices import MINIMUM, checked_minimum, enough, gap_of, number
from calibcore.inference.spans import Span, spans_of
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.proportions import checked_level
from calibcore.summation import total

__all__ = ["Change", "Period", "Periods", "by_period"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Period:
    """One period; the gap has no interval where there are too few rows.

    Attributes
    ----------
    name : str
        Such as "2024-03", "2024-Q1", "7" or "2024-01-03 to 2024-02-14"; "(missing)" for rows without a time.
    position : float or None
        Where it stands on the axis of the trend; None for "(missing)".
    n : int
    n_effective : float
        (Σw)²/Σw²; n without weights.
    judged : bool
        Whether it has a time and at least the minimum of (effective) rows.
    accuracy, mean_confidence : float
        In the positive and class views the share of events and the mean probability.
    base_rate : float or None
        Share of the positive class, for a binary model.
    gap : Estimate
        Accuracy − mean confidence, with its simultaneous interval.
    """

    name: str
    position: float | None
    n: int
    n_effective: float
    judged: bool
    accuracy: float
    mean_confidence: float
    base_rate: float | None
    gap: Estimate

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        names = ("name", "position", "n", "n_effective", "judged", "accuracy", "mean_confidence", "base_rate")
        return {**{k: getattr(self, k) for k in names}, "gap": self.gap.to_dict()}


@dataclass(frozen=True, slots=True)
class Change:
    """How the gap changes over the judged periods.

    Attributes
    ----------
    statistic : float
        Σ (g_k − ḡ)²/V_k.
    df : int
        Judged periods − 1.
    p_value : float
        Of "the gap is the same in all periods".
    slope, standard_error : float
        Change of the gap per step, by weighted least squares, and its standard error if the gap does not change.
    slope_p_value : float
        Of "there is no linear change".
    """

    statistic: float
    df: int
    p_value: float
    slope: float
    standard_error: float
    slope_p_value: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Interval of the slope: slope ± z·standard error."""
        half = float(special.ndtri((1 + checked_level(level)) / 2)) * self.standard_error
        return self.slope - half, self.slope + half

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """As plain data."""
        low, high = self.interval(level)
        same = {"statistic": number(self.statistic), "df": self.df, "p_value": self.p_value}
        return {**same, "slope": {"value": self.slope, "low": low, "high": high}, "slope_p_value": self.slope_p_value}


@dataclass(frozen=True, slots=True)
class Periods:
    """Outcome of `by_period`.

    Attributes
    ----------
    view : str
    level : float
        At which all intervals hold at once.
    minimum : int
    step : str
        What one step of the trend is: "day", "month", "quarter", "year", "unit of time" or "period".
    periods : tuple of Period
        In order of time; "(missing)" last.
    change : Change or None
        None where fewer than two periods are judged, or their outcomes leave nothing to compare.
    notes : tuple of str
    """

    view: str
    level: float
    minimum: int
    step: str
    periods: tuple[Period, ...]
    change: Change | None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        p = "" if self.change is None else f", same gap in all: p = {self.change.p_value:.2g}"
        return f"<Periods by {self.step}: {len(self.periods):,} periods, {sum(x.judged for x in self.periods):,} judged{p}>"

    @property
    def judged(self) -> tuple[Period, ...]:
        """The periods with a time and enough rows."""
        return tuple(p for p in self.periods if p.judged)

    @property
    def each_level(self) -> float:
        """Level of each single interval."""
        return bonferroni_level(self.level, max(1, len(self.judged)))

    @property
    def text(self) -> str:
        """What was looked at and what was found, in a few sentences."""
        looked = f"{len(self.periods)} {'period' if len(self.periods) == 1 else 'periods'} looked at"
        few = len(self.periods) - len(self.judged)
        if few:
            looked += f", {few} of them not judged (fewer than {self.minimum:,} rows, or no time)"
        if self.change is None:
            return f"{looked}."
        c = self.change
        found = "the gap differs between periods" if c.p_value <= 0.05 else "no difference in the gap between periods shows"
        numbers = f"χ² = {c.statistic:.3g}, df = {c.df}, p = {c.p_value:.2g}"
        return f"{looked}; intervals are Bonferroni-adjusted. In these rows {found} ({numbers})."

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "view": self.view,
            "level": self.level,
            "each_level": self.each_level,
            "minimum": self.minimum,
            "step": self.step,
            "change": None if self.change is None else self.change.to_dict(self.level),
            "text": self.text,
            "notes": list(self.notes),
            "periods": [p.to_dict() for p in self.periods],
        }


def by_period(
    predictions: Predictions,
    *,
    periods: str | int | None = None,
    view: str = "top_label",
    level: float = 0.95,
    minimum: int = MINIMUM,
) -> Periods:
    """Gap, accuracy, confidence and base rate in each period of ``predictions.time``.

    Parameters
    ----------
    predictions : Predictions
        With ``time``: dates (datetime64, or texts such as 2024-03-31), numbers, or texts.
    periods : {"day", "month", "quarter", "year"}, int or None
        A calendar period, or a number of periods with (nearly) equal numbers of rows, equal times together.  None: for
        dates the finest calendar period of which there are at most 24, half of them with the minimum of rows; for
        numbers and texts each different value if there are at most 24, else 10 of equal numbers of rows.
    view : str
    level : float
        At which all intervals hold at once.
    minimum : int
        Periods with fewer (effective) rows are listed, not judged.

    Returns
    -------
    Periods

    Raises
    ------
    InputError
        If there are no times, calendar periods of times that are no dates, more than 50 periods, or the model does not
        have the view.

    Notes
    -----
    A description of past periods and one test over all of them.  It is no alarm: looking again each month at the same
    5 % finds a "change" sooner or later.  Monitoring needs sequential tests, which are not here.

    Same gap in all periods: with S_k = Σ w(event − p) and W_k = Σw of period k, g_k = S_k/W_k and its variance if every
    event is more or less probable than claimed by the same g, V_k = φ·Σ w²·q(1 − q)/W_k² with q = p + g (held in [0, 1]),
    g the gap of the judged rows and φ ≥ 1 the spread of the residuals about the gaps of their periods, divided by what the
    q let expect, over all judged rows: Q = Σ (g_k − ḡ)²/V_k with ḡ = Σ(g_k/V_k)/Σ(1/V_k) has a χ² distribution with K − 1 degrees
    of freedom (Cochran's Q with variances that do not depend on the period's outcomes).  Approximate; with few expected
    errors in a period it is too large or too small.  Trend: slope of g_k on the period's position with weights 1/V_k.
    A gap may also change because the mix of cases changes, with the model as right as ever about each case.
    With clusters, V_k is the sum of squared cluster sums of w(event − p − g), divided by W_k².

    References
    ----------
    Cochran (1954), doi:10.2307/3001666.

    Examples
    --------
    >>> year = [2023] * 50 + [2024] * 50
    >>> correct = [1] * 40 + [0] * 10 + [1] * 25 + [0] * 25
    >>> found = by_period(Predictions.from_top_label([0.8] * 100, correct, time=year))
    >>> [(p.name, round(p.gap.value, 12)) for p in found.periods]
    [('2023', 0.0), ('2024', -0.3)]
    >>> found.change.df, round(found.change.slope, 12), found.step
    (1, -0.3, 'unit of time')
    """
    needs(predictions, Predictions, "by_period")
    view = view_name(view)
    minimum, level = checked_minimum(minimum), checked_level(level)
    if not predictions.has_rows:
        raise InputError(NO_ROWS)
    spans, step, notes = spans_of(predictions, periods, minimum)
    parts = [predictions.take(s.rows) for s in spans]
    judged = [s.position is not None and enough(p.profile(view), minimum) for s, p in zip(spans, parts, strict=True)]
    each = bonferroni_level(level, max(1, sum(judged)))
    listed = tuple(_period(s, p, view, each if good else None) for s, p, good in zip(spans, parts, judged, strict=True))
    compared = [(s.position, p) for s, p, good in zip(spans, parts, judged, strict=True) if good]
    change = _change(np.array([x for x, _ in compared], dtype=np.float64), [p for _, p in compared], view) if len(compared) > 1 else None
    return Periods(view, level, minimum, step, listed, change, (*notes, *_cluster_note(predictions, spans)))


def _period(span: Span, part: Predictions, view: str, level: float | None) -> Period:
    """One line; an interval only where there is a level for it."""
    profile = part.profile(view)
    gap = Estimate(profile.total("residual") / profile.weight_sum) if level is None else gap_of(part, view, level)
    base_rate = part.profile("positive").accuracy if part.task == "binary" else None
    sizes = (profile.n, profile.n_effective, level is not None)
    return Period(span.name, span.position, *sizes, profile.accuracy, profile.mean_confidence, base_rate, gap)


def _change(position: FloatArray, parts: list[Predictions], view: str) -> Change | None:
    """Cochran's Q and the slope of the gap, with variances of one common gap."""
    profiles = [p.profile(view) for p in parts]
    weight = np.array([p.weight_sum for p in profiles])
    gap = np.array([p.total("residual") for p in profiles]) / weight
    common = float(np.sum(gap * (weight / weight.sum())))
    variance = _variances(parts, view, common, gap)
    if not (variance > 0).all():
        return None
    share = 1 / variance / np.sum(1 / variance)
    precision = float(np.sum(1 / variance))
    statistic = precision * float(np.sum(share * (gap - np.sum(share * gap)) ** 2))
    centred = position - np.sum(share * position)
    reach = float(np.max(np.abs(centred)))  # times may be so far apart that squares of them are no numbers
    centred = centred / reach
    spread = float(np.sum(share * centred**2))
    slope = float(np.sum(share * centred * gap)) / spread
    error = (1 / (precision * spread)) ** 0.5
    df, p_value = len(parts) - 1, float(2 * special.ndtr(-abs(slope) / error))
    return Change(statistic, df, float(special.chdtrc(df, statistic)), slope / reach, error / reach, p_value)


def _variances(parts: list[Predictions], view: str, common: float, gap: FloatArray) -> FloatArray:
    """Variance of each part's gap if there is one common gap, raised to the spread found over all parts.

    From cluster sums where there are clusters; from the spread of the residuals where a certain model leaves no variance.
    """
    weight = np.array([p.profile(view).weight_sum for p in parts])
    if any(p.cluster_code is not None for p in parts):
        return np.asarray([_cluster_squares(p, view, common) for p in parts] / weight**2)
    expected = np.array([_expected_squares(p.profile(view), common) for p in parts])
    found = np.array([_squares(p.profile(view), g) for p, g in zip(parts, gap.tolist(), strict=True)])
    if not (expected > 0).all():
        return np.asarray([_squares(p.profile(view), common) for p in parts] / weight**2)
    freedom = sum(p.profile(view).n_effective for p in parts)
    scale = max(1.0, found.sum() / expected.sum() * freedom / (freedom - len(parts)))
    return np.asarray(expected * scale / weight**2)


def _expected_squares(profile: Profile, gap: float) -> float:
    """Σw²·q(1 − q) with q = p + gap, held in [0, 1]."""
    q = np.clip(profile.value.astype(np.float64) + gap, 0.0, 1.0)
    return total(profile.weight_squared * q * (1 - q))


def _squares(profile: Profile, gap: float) -> float:
    """Σw²(event − p − gap)²."""
    p = profile.value.astype(np.float64)
    wrong = profile.weight_squared - profile.positive_squared
    return total(profile.positive_squared * (1 - p - gap) ** 2 + wrong * (p + gap) ** 2)


def _cluster_squares(part: Predictions, view: str, gap: float) -> float:
    """Σ over clusters of (Σw(event − p − gap))²."""
    if part.cluster_code is None:
        return _squares(part.profile(view), gap)
    p, event = part.rows(view)
    residual = (1.0 if part.weight is None else part.weight) * (event - p.astype(np.float64) - gap)
    return total(np.bincount(part.cluster_code, weights=residual) ** 2)


def _cluster_note(predictions: Predictions, spans: list[Span]) -> tuple[str, ...]:
    """A sentence if any cluster has rows in several periods."""
    code = predictions.cluster_code
    if code is None:
        return ()
    seen = sum(len(np.unique(code[s.rows])) for s in spans)
    if seen == len(np.unique(code)):
        return ()
    return ("Some clusters have rows in several periods; between periods these rows are treated as independent.",)
