"""Logistic recalibration of a profile by Newton's method, and the variance of sums over weighted and clustered rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.clusters import sums_at
from calibcore.inference.logit_nodes import MANY, STEEP, logits, nodes
from calibcore.profile import Profile
from calibcore.proportions import checked_level
from calibcore.summation import total

__all__ = [
    "ROUNDING",
    "Coefficient",
    "CoxFit",
    "Fit",
    "Logits",
    "between_clusters",
    "finite_or_none",
    "fit_cox",
    "fit_in_the_large",
    "newton",
    "outside_clusters",
]

FloatArray = NDArray[np.float64]

ROUNDING = 1e-12
_STEPS = 100  # of Newton's method; a handful is usual
_LONGEST = 1e4  # step; logits of doubles lie within ±745
_CLOSE = 1e-16  # squared length of the last step, in standard errors


def outside_clusters(profile: Profile) -> tuple[FloatArray, FloatArray]:
    """Σw², and Σw² of the events, over the rows of each cell that are in no cluster; two arrays of shape (cells,)."""
    found = [getattr(profile, q) - sums_at(profile.clusters, q, len(profile)) for q in ("weight_squared", "positive_squared")]
    return np.maximum(found[0], 0.0), np.maximum(found[1], 0.0)


def between_clusters(profile: Profile, fitted: FloatArray, columns: tuple[FloatArray, ...]) -> FloatArray:
    """Σ over clusters of uu'/(Σw)², u = Σ w(event − fitted)·column, times G/(G − 1) of G clusters; zeros without clusters."""
    c = profile.clusters
    if c is None:
        return np.zeros((len(columns), len(columns)))
    residual = (c.positive - c.weight * fitted[c.cell]) / profile.weight_sum
    u = np.array([c.per_cluster(residual * x[c.cell]) for x in columns])
    many = profile.n_clusters
    return np.asarray(u @ u.T * (many / max(many - 1, 1)))


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient on the logit scale with its standard error; both None where no finite one exists."""

    value: float | None
    error: float | None

    def interval(self, level: float = 0.95) -> tuple[float | None, float | None]:
        """Wald interval, value ± z·error."""
        checked_level(level)
        if self.value is None or self.error is None:
            return None, None
        half = float(special.ndtri((1 + level) / 2)) * self.error
        return self.value - half, self.value + half

    def to_dict(self, level: float = 0.95) -> dict[str, float | None]:
        """As plain data."""
        low, high = self.interval(level)
        return {"value": self.value, "low": low, "high": high}


@dataclass(frozen=True, slots=True)
class CoxFit:
    """Outcome of `cox`.

    Attributes
    ----------
    intercept, slope : Coefficient
        0 and 1 under calibration; a slope below 1 means that the probabilities are too extreme.
    likelihood_ratio, p_value : float or None
        Test of intercept 0 and slope 1 together, two degrees of freedom; None where there is no fit, infinite with p = 0
        where a probability of 0 or 1 was wrong.
    infinite_logits : int
        Rows with a probability of exactly 0 or 1.
    problem : str or None
        Why there is no fit, in words.
    """

    intercept: Coefficient
    slope: Coefficient
    likelihood_ratio: float | None
    p_value: float | None
    infinite_logits: int
    problem: str | None = None

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """As plain data."""
        return {
            "intercept": self.intercept.to_dict(level),
            "slope": self.slope.to_dict(level),
            "lr": finite_or_none(self.likelihood_ratio),
            "p_value": self.p_value,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Logits:
    """Cells of a profile with a finite logit; arrays of shape (those cells,), or of nodes that stand for them.

    Attributes
    ----------
    profile : Profile
    finite : array of shape (cells,), bool
    infinite : int
        Rows with a probability of exactly 0 or 1.
    wrong : bool
        Whether one of those was wrong.
    logit : array
    weight, event : array
        Σw and Σw·event, divided by the profile's Σw.
    squared : array
        Σw² of the rows outside clusters, divided by (Σw)².
    n_effective : float
        Such that n_effective × the log-likelihood per unit of weight has the usual χ² distribution.
    overlap : bool
        Whether events lie below others and others below events, so that a line has a best slope.
    cells : function, optional
        Gives the cells themselves, where nodes stand for them.
    """

    profile: Profile
    finite: NDArray[np.bool_]
    infinite: int
    wrong: bool
    logit: FloatArray
    weight: FloatArray
    event: FloatArray
    squared: FloatArray
    n_effective: float
    overlap: bool
    cells: Callable[[], Logits] | None = None

    @classmethod
    def of(cls, profile: Profile) -> Logits:
        """The finite logits of a profile; nodes, where they are many and of equal, independent rows."""
        value = np.asarray(profile.value, dtype=np.float64)
        first = int(np.searchsorted(value, 0.0, side="right"))
        inside = slice(first, max(first, int(np.searchsorted(value, 1.0))))
        plain = not profile.weighted and profile.clusters is None
        return cls._at_nodes(profile, inside) if plain and len(value[inside]) > MANY else cls._of_cells(profile, inside)

    @classmethod
    def _of_cells(cls, profile: Profile, inside: slice) -> Logits:
        whole = profile.weight_sum
        logit = logits(np.asarray(profile.value[inside], dtype=np.float64))
        weight, event = (np.asarray(a)[inside] / whole for a in (profile.weight, profile.positive))
        squared = outside_clusters(profile)[0][inside] / whole**2
        share, share_squared = total(weight), total(np.asarray(profile.weight_squared)[inside] / whole**2)
        alone = whole**2 / profile.total("weight_squared")
        rows = share / share_squared * (profile.n_effective / alone) if share_squared > 0 else 0.0
        seen = event > ROUNDING * weight, weight - event > ROUNDING * weight
        return cls(profile, *_outside(profile, inside), logit, weight, event, squared, rows, _overlap(logit[_ends(*seen)]))

    @classmethod
    def _at_nodes(cls, profile: Profile, inside: slice) -> Logits:
        whole = profile.weight_sum
        value, count, positive = (a[inside] for a in (profile.value, profile.count, profile.positive))
        logit, weight, event = nodes(np.asarray(value, dtype=np.float64), count, positive)
        weight, event = weight / whole, event / whole
        overlap = _overlap(value[_ends(positive > 0, positive < count)])
        outside = _outside(profile, inside)
        return cls(profile, *outside, logit, weight, event, weight / whole, whole, overlap, lambda: cls._of_cells(profile, inside))

    @property
    def rate(self) -> float:
        """Share of events."""
        return total(self.event) / total(self.weight)

    def likelihood(self, eta: FloatArray) -> tuple[float, FloatArray]:
        """Log-likelihood per unit of weight at the linear predictor, and the fitted probabilities."""
        small = np.exp(-np.abs(eta))
        fitted = np.where(eta > 0, 1.0, small) / (1 + small)
        parts = self.event * eta - self.weight * (np.maximum(eta, 0) + np.log1p(small))
        return float(np.sum(parts)), fitted

    def everywhere(self, inside: FloatArray, outside: FloatArray) -> FloatArray:
        """An array of shape (cells,) from its values at the finite logits and at the others."""
        whole = outside.copy()
        whole[self.finite] = inside
        return whole

    def covariance(self, fitted: FloatArray, columns: tuple[FloatArray, ...]) -> FloatArray:
        """A⁻¹BA⁻¹ with A = Σwμ(1 − μ)xx' and B = Σw²μ(1 − μ)xx' outside clusters plus Σuu' of clusters."""
        spread = fitted * (1 - fitted)
        inverse = np.linalg.inv(_cross(self.weight * spread, columns))
        middle = _cross(self.squared * spread, columns)
        if self.profile.clusters is not None:
            value = self.profile.value.astype(np.float64)
            wide = tuple(self.everywhere(c, np.zeros(len(value))) for c in columns)
            middle = middle + between_clusters(self.profile, self.everywhere(fitted, value), wide)
        return np.asarray(inverse @ middle @ inverse)


class Fit(NamedTuple):
    """Coefficients, their covariance and the log-likelihood per unit of weight."""

    at: FloatArray
    covariance: FloatArray
    likelihood: float


def _outside(profile: Profile, inside: slice) -> tuple[NDArray[np.bool_], int, bool]:
    """Which cells have a finite logit, those ``inside``; the rows of the others, and whether one of these was wrong."""
    finite = np.zeros(len(profile), dtype=np.bool_)
    finite[inside] = True
    if finite.all():
        return finite, 0, False
    wrong = np.abs(profile.cell_sums("residual")[~finite]) > ROUNDING * np.asarray(profile.weight)[~finite]
    return finite, int(profile.count[~finite].sum()), bool(np.any(wrong))


def _ends(events: NDArray[np.bool_], others: NDArray[np.bool_]) -> list[int]:
    """First and last cell with an event, and with another outcome; none where one of them is missing."""
    if not events.any() or not others.any():
        return []
    return [at for seen in (events, others) for at in (int(np.argmax(seen)), len(seen) - 1 - int(np.argmax(seen[::-1])))]


def _overlap(ends: NDArray[Any]) -> bool:
    """Whether the events and the others, whose first and last scores these are, overlap."""
    return len(ends) == 4 and bool(ends[0] < ends[3] and ends[2] < ends[1])


def newton(rows: Logits, columns: tuple[FloatArray, ...], start: FloatArray) -> Fit | None:
    """Largest likelihood of logit + Σ b·column; None where Newton's method with step halving does not get there."""

    def predictor(b: FloatArray) -> FloatArray:
        return np.asarray(rows.logit + sum(x * c for x, c in zip(b, columns, strict=True)))

    at = start
    best, fitted = rows.likelihood(predictor(at))
    for _ in range(_STEPS):
        score = np.array([np.sum((rows.event - rows.weight * fitted) * c) for c in columns])
        try:
            step = np.linalg.solve(_cross(rows.weight * fitted * (1 - fitted), columns), score)
            if score @ step * rows.n_effective <= _CLOSE:
                return Fit(at + step, rows.covariance(fitted, columns), best)
        except np.linalg.LinAlgError:
            return None
        if not np.all(np.isfinite(step)):
            return None
        step = step * min(1.0, _LONGEST / float(np.max(np.abs(step))))
        reached, tried = rows.likelihood(predictor(at + step))
        while not reached >= best - 1e-14 * max(1.0, abs(best)) and np.max(np.abs(step)) > ROUNDING:
            step = step / 2
            reached, tried = rows.likelihood(predictor(at + step))
        at, best, fitted = at + step, reached, tried
    return None


def _cross(weight: FloatArray, columns: tuple[FloatArray, ...]) -> FloatArray:
    """Σ weight·x·x'."""
    return np.array([[np.sum(weight * a * b) for b in columns] for a in columns])


_NO_COEFFICIENT = Coefficient(None, None)
_WRONG = "a probability of exactly 0 or 1 was wrong"
_APART = "the scores of the events and of the others do not overlap"
_NOT_POSITIVE = "there are probabilities of exactly 0 or 1, and the slope of the others is not positive"
_NOT_CONVERGED = "the fit did not converge"


def fit_in_the_large(rows: Logits) -> Coefficient:
    """Intercept beside a slope of 1."""
    if rows.wrong or not len(rows.weight) or not ROUNDING < rows.rate < 1 - ROUNDING:
        return _NO_COEFFICIENT
    fit = newton(rows, (np.ones(len(rows.logit)),), np.zeros(1))
    if fit is None:
        return _NO_COEFFICIENT
    return Coefficient(float(fit.at[0]), float(np.sqrt(fit.covariance[0, 0])))


def fit_cox(rows: Logits) -> CoxFit:
    """The fit, made with logits measured from their mean and slopes from 1 for the sake of the digits."""
    if rows.wrong:
        return CoxFit(_NO_COEFFICIENT, _NO_COEFFICIENT, np.inf, 0.0, rows.infinite, _WRONG)
    if not rows.overlap:
        return CoxFit(_NO_COEFFICIENT, _NO_COEFFICIENT, None, None, rows.infinite, _APART)
    middle = float(np.sum(rows.weight * rows.logit) / np.sum(rows.weight))
    columns = (np.ones(len(rows.logit)), rows.logit - middle)
    rate = min(max(rows.rate, ROUNDING), 1 - ROUNDING)  # of weights that differ a lot it may be rounded to 0 or 1
    flat = np.array([float(special.logit(rate)) - middle, -1.0])  # the constant rate
    start = max(np.zeros(2), flat, key=lambda b: rows.likelihood(rows.logit + b[0] + b[1] * columns[1])[0])
    fit = newton(rows, columns, start)
    problem = _NOT_CONVERGED if fit is None else _NOT_POSITIVE if rows.infinite and fit.at[1] <= -1 else None
    if fit is None or problem:
        return CoxFit(_NO_COEFFICIENT, _NO_COEFFICIENT, None, None, rows.infinite, problem)
    if rows.cells is not None and abs(1 + fit.at[1]) > STEEP:
        return fit_cox(rows.cells())
    turn = np.array([[1.0, -middle], [0.0, 1.0]])  # back to an intercept at logit 0
    intercept, slope = turn @ fit.at
    errors = np.sqrt(np.maximum(np.diag(turn @ fit.covariance @ turn.T), 0.0))
    gain = max(0.0, 2 * (fit.likelihood - rows.likelihood(rows.logit)[0]) * rows.n_effective)
    p_value = float(special.chdtrc(2, gain))
    return CoxFit(
        Coefficient(float(intercept), float(errors[0])), Coefficient(float(1 + slope), float(errors[1])), gain, p_value, rows.infinite
    )


def finite_or_none(x: float | None) -> float | None:
    """As plain data: None for what is infinite or not a number."""
    return None if x is None or not np.isfinite(x) else float(x)
