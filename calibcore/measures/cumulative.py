"""Cumulative differences between outcomes and probabilities: miscalibration without bins, and where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.errors import InputError
from calibcore.measures.arrays import view_profile
from calibcore.profile import Profile
from calibcore.proportions import checked_level
from calibcore.redraw import group_starts, redraw_groups
from calibcore.summation import total_of

__all__ = ["CumulativeCurve", "CumulativeDifferences", "cumulative", "cumulative_difference", "range_sf", "supremum_sf"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Method = Literal["asymptotic", "monte_carlo", "exact"]

DRAWS = 1000
_MANY = 500  # rows and steps from which Brownian motion is close enough
_SPREAD = 50.0  # Σp(1 − p) from which sums of outcomes are close enough to normal
_FEW = 1024  # cells up to which every one is redrawn by itself
_STEP = 0.001
_NOTHING = 1e-12  # of the sum of weights: rounding, not a difference
_TINY = 0.05  # below, both probabilities are 1 in double precision
_FAR = 10.0  # where Brownian motion on [0, 1] hardly ever comes: once in 10²²
_SWITCH = 1.3  # below: series in exp(−1/x²), above: series in normal tails


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeCurve:
    """Points of the curve of cumulative differences, in rising order of the score; arrays of shape (points,).

    Attributes
    ----------
    share : array
        Share of the total weight up to and including the score; 0 at the first point.
    score : array
    difference : array
        Σw·(event − score) up to there, divided by the sum of weights.  Between two points, the slope of the curve
        against ``share`` is the gap of the rows between them.
    """

    share: FloatArray
    score: FloatArray
    difference: FloatArray

    def __repr__(self) -> str:
        return f"<CumulativeCurve: {len(self.share):,} points>"

    def __post_init__(self) -> None:
        for name in ("share", "score", "difference"):
            getattr(self, name).flags.writeable = False


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeDifferences:
    """Outcome of `cumulative_difference`.

    Attributes
    ----------
    profile : Profile
        The input.
    mad : float
        Largest |C|, the error of all rows up to some score (Kolmogorov-Smirnov).
    range : float
        Largest minus smallest C: the largest |total miscalibration| of any interval of scores (Kuiper).
    sigma : float
        Standard deviation of C at the last score under calibration, for independent rows; the scale of both.
    interval : tuple of float
        Lowest and highest score of the run of rows that attains the range, both included: not a confidence interval, and no
        method as on results that have one.
    sign : int
        Of the gap in that interval: −1 too sure, +1 not sure enough, 0 where there is no difference at all.
    p_value, mad_p_value : float
        Of the range and of the largest |C|.
    method : {"asymptotic", "monte_carlo", "exact"}
        How the p-values were found.
    draws : int
        Redraws behind them; 0 unless Monte Carlo.
    """

    profile: Profile
    mad: float
    range: float
    sigma: float
    interval: tuple[float, float]
    sign: int
    p_value: float
    mad_p_value: float
    method: Method
    draws: int

    def __repr__(self) -> str:
        where = "from {:.4g} to {:.4g}".format(*self.interval)
        return f"<CumulativeDifferences: range {self.range:.4g} {where}, p = {self.p_value:.4g} ({self.method})>"

    @property
    def range_sigma(self) -> float | None:
        """Range in units of sigma, about 1.6 under calibration; None where sigma is 0."""
        return self.range / self.sigma if self.sigma > 0 else None

    @property
    def mad_sigma(self) -> float | None:
        """Largest |C| in units of sigma, about 1.25 under calibration; None where sigma is 0."""
        return self.mad / self.sigma if self.sigma > 0 else None

    def curve(self, points: int = 400) -> CumulativeCurve:
        """The curve thinned to at most ``points`` points (at least 6), with its first and last point and its extremes."""
        if points < 6:
            raise InputError(f"A curve needs at least 6 points, not {points}.", value=points)
        steps = _steps(self.profile)
        share = np.concatenate([[0.0], np.asarray(self.profile.weight_upto, dtype=np.float64)]) / self.profile.weight_sum
        keep = _thinned(steps, share, points)
        score = self.profile.value[np.maximum(keep - 1, 0)].astype(np.float64)
        return CumulativeCurve(share[keep], score, steps[keep])

    def chance_limit(self, level: float = 0.95) -> float | None:
        """How far from 0 the whole curve of a calibrated model stays with probability ``level``: q·sigma, P(max|B| ≤ q) = level.

        For independent rows.  The probability is larger where ties make few steps.  None where rows go together in clusters, or
        where sigma is 0.
        """
        beyond = 1 - checked_level(level)
        if self.profile.clusters is not None or self.sigma == 0:
            return None
        return self.sigma * _supremum_isf(beyond)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = {name: getattr(self, name) for name in ("mad", "range", "p_value", "mad_p_value")}
        return {**plain, "interval": list(self.interval), "sigma": self.sigma, "method": self.method}


def cumulative(profile: Profile, *, seed: int = 0, draws: int = DRAWS) -> CumulativeDifferences:
    """Range and largest value of the cumulative differences between outcomes and probabilities, with p-values.

    Parameters
    ----------
    profile : Profile
    seed : int
        Of the redraws.
    draws : int
        Redraws, where they are needed.

    Returns
    -------
    CumulativeDifferences

    Notes
    -----
    At the k-th distinct score C_k = Σ_{p ≤ score} w(y − p)/Σw, and C_0 = 0: equal scores are one step.  MAD = max|C|,
    range = max C − min C, sigma² = Σw²p(1 − p)/(Σw)².  Neither is 0 for a calibrated model; under calibration, for
    independent rows, MAD/sigma and range/sigma tend to the largest |B| and the range of Brownian motion on [0, 1],
    with means √(π/2) and 2√(2/π).  That limit needs many small steps.  It is used where n_eff = (Σw)²/Σw² and the
    effective number of steps (ΣV)²/ΣV², V = variance of a step, are at least 500, Σp(1 − p) is at least 50 and no rows
    go together in clusters; otherwise labels are redrawn from the probabilities and p is (1 + number at least as
    large)/(draws + 1).  (A path seen at m points falls short of the continuous one by about 0.58/√m sigma at each end,
    so ties make the limit's p-values too large.)  Beyond 1,024 cells the redraws and the observed rows are compared at
    the ends of groups of cells.  Where every probability is 0 or 1, calibration allows no error at all: p is 1 without
    one, else 0.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu (2022), JMLR 23(351), arXiv:2205.09680; Feller (1951),
    doi:10.1214/aoms/1177729589 (the range).

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> c = cumulative(Predictions.from_arrays([0, 0, 1, 1], [0.2, 0.4, 0.6, 0.6]).profile("positive"))
    >>> round(c.range, 12), c.interval, c.sign, c.method
    (0.2, (0.6, 0.6), 1, 'monte_carlo')
    """
    steps = _steps(profile)
    low, high = int(np.argmin(steps)), int(np.argmax(steps))
    first, last = sorted((low, high))
    mad, width = float(np.max(np.abs(steps))), float(steps[high] - steps[low])
    sigma = float(np.sqrt(profile.total("variance"))) / profile.weight_sum
    method = _method(profile)
    p_value, mad_p_value = _p_values(profile, (width, mad), sigma, method, (seed, draws))
    interval = (float(profile.value[first]), float(profile.value[max(last - 1, 0)]))
    sign = 0 if width <= _NOTHING else 1 if low < high else -1
    used = draws if method == "monte_carlo" else 0
    return CumulativeDifferences(profile, mad, width, sigma, interval, sign, p_value, mad_p_value, method, used)


def cumulative_difference(
    y_true: Any,
    y_prob: Any,
    *,
    view: str | None = None,
    classes: Sequence[Any] | None = None,
    sample_weight: Any = None,
    seed: int = 0,
) -> CumulativeDifferences:
    """Cumulative differences between outcomes and probabilities: how large, where, and whether chance explains them.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, as in `Predictions.from_arrays`.
    y_prob : array-like of shape (n,) or (n, K)
        P(positive), or one column a class.
    view : str, optional
        ``"top_label"``, ``"positive"`` or ``"class:<name>"``; by default positive for (n,), top_label for (n, K).
    classes : sequence, optional
        Class names in column order.
    sample_weight : array-like of shape (n,), optional
    seed : int
        Of the redraws.

    Returns
    -------
    CumulativeDifferences

    Raises
    ------
    InputError
        For input that cannot be used.

    Notes
    -----
    No bins, no bandwidth.  At the k-th distinct score C_k = Σ_{p ≤ score} w(y − p)/Σw, and C_0 = 0: equal scores are one
    step.  ``mad`` = max|C|, ``range`` = max C − min C.  Both are above 0 by chance for a calibrated model: read the p-values.
    These assume independent rows, but for the rows of a cluster, and come from Brownian motion where steps are many and
    small, else from redrawn labels.  Profiles, and when which is used: `calibcore.measures.cumulative.cumulative`.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu (2022), JMLR 23(351), arXiv:2205.09680.

    Examples
    --------
    >>> c = cumulative_difference([0, 0, 0, 1], [0.1, 0.3, 0.8, 0.9])
    >>> round(c.range, 12), c.interval, c.sign
    (0.3, (0.1, 0.8), -1)
    """
    return cumulative(view_profile(y_true, y_prob, view=view, classes=classes, sample_weight=sample_weight), seed=seed)


def supremum_sf(x: float) -> float:
    """P(max|B| > x) for Brownian motion B on [0, 1] from 0.

    Notes
    -----
    Two forms of the same function, each where it converges at once and does not cancel: 4 Σ (−1)^k Φ(−(2k+1)x) for
    large x; 1 − (4/π) Σ (−1)^k/(2k+1) exp(−(2k+1)²π²/(8x²)) for small x.

    Examples
    --------
    >>> round(supremum_sf(2.2414), 4)
    0.05
    """
    if x < _TINY:
        return 1.0
    k = np.arange(8)
    odd, signs = 2.0 * k + 1, (-1.0) ** k
    if x >= _SWITCH:
        return float(4 * np.sum(signs * special.ndtr(-odd * x)))
    return 1 - float(4 / np.pi * np.sum(signs / odd * np.exp(-((odd * np.pi / x) ** 2) / 8)))


def _supremum_isf(p: float) -> float:
    """The x that max|B| exceeds with probability ``p``, by bisection."""
    low, high = 0.0, _FAR
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if supremum_sf(middle) > p else (low, middle)
    return high


def range_sf(x: float) -> float:
    """P(max B − min B > x) for Brownian motion B on [0, 1].

    Notes
    -----
    8 Σ (−1)^(k−1) k Φ(−kx) for large x; 1 − Σ (8/x² + 2/((k+½)²π²)) exp(−2(k+½)²π²/x²) for small x.

    References
    ----------
    Feller (1951), doi:10.1214/aoms/1177729589.

    Examples
    --------
    >>> round(range_sf(2.4977), 3)
    0.05
    """
    if x < _TINY:
        return 1.0
    k = np.arange(1, 13)
    if x >= _SWITCH:
        return float(8 * np.sum((-1.0) ** (k - 1) * k * special.ndtr(-k * x)))
    half = (k - 0.5) * np.pi
    return 1 - float(np.sum((8 / x**2 + 2 / half**2) * np.exp(-2 * (half / x) ** 2)))


def _steps(profile: Profile) -> FloatArray:
    """C at the distinct scores, C_0 = 0 first: shape (cells + 1,)."""
    return np.concatenate([[0.0], profile.cumulative("residual").upto]) / profile.weight_sum


def _method(profile: Profile) -> Method:
    spread = profile.total("variance")
    if spread == 0:
        return "exact"
    if profile.clusters is not None:
        return "monte_carlo"
    steps = 1 / total_of(lambda v: (v / spread) ** 2, profile.cell_sums("variance"))
    rows = profile.n_effective * spread / profile.total("weight_squared")  # Σp(1 − p), in effective rows
    return "asymptotic" if min(steps, profile.n_effective) >= _MANY and rows >= _SPREAD else "monte_carlo"


def _p_values(
    profile: Profile, observed: tuple[float, float], sigma: float, method: Method, redraws: tuple[int, int]
) -> tuple[float, float]:
    """p-values of the range and of the largest |C|."""
    if method == "exact":
        width, mad = (0.0 if o > _NOTHING else 1.0 for o in observed)
        return width, mad
    if method == "asymptotic":
        return range_sf(observed[0] / sigma), supremum_sf(observed[1] / sigma)
    return _redrawn_p_values(profile, *redraws)


def _redrawn_p_values(profile: Profile, seed: int, draws: int) -> tuple[float, float]:
    starts = group_starts(profile.value, cuts=_even_cuts(profile), step=_STEP, few=_FEW)
    residual = profile.cumulative("residual").between(np.append(starts, len(profile)))
    seen_range, seen_mad = (v[0] * (1 - 1e-9) for v in _extremes(residual[np.newaxis]))
    beyond = np.zeros(2)
    for residuals in redraw_groups(profile, starts).residuals(draws, np.random.default_rng(seed)):
        widths, largest = _extremes(residuals)
        beyond += [np.count_nonzero(widths >= seen_range), np.count_nonzero(largest >= seen_mad)]
    width, mad = ((1 + beyond) / (draws + 1)).tolist()
    return width, mad


def _even_cuts(profile: Profile) -> IndexArray:
    """Cells at which the variance under calibration is cut into 500 equal parts, so that rare events are not all in one group."""
    upto = np.cumsum(profile.cell_sums("variance"))
    return np.asarray(np.searchsorted(upto, upto[-1] * np.arange(1, _MANY) / _MANY))


def _extremes(residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Range and largest absolute value of the cumulative sums of each draw, from 0."""
    sums = np.cumsum(residuals, axis=1)
    high, low = np.maximum(sums.max(axis=1), 0.0), np.minimum(sums.min(axis=1), 0.0)
    return high - low, np.maximum(high, -low)


def _thinned(steps: FloatArray, share: FloatArray, points: int) -> IndexArray:
    """Positions to draw: the first, the last, and the lowest and highest of each of equal parts of the share."""
    if len(steps) <= points:
        return np.arange(len(steps))
    part = np.minimum((share * ((points - 2) // 2)).astype(np.intp), (points - 2) // 2 - 1)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(part) > 0]))
    stops = np.append(starts[1:], len(steps))
    ends = [(a + int(np.argmin(steps[a:b])), a + int(np.argmax(steps[a:b]))) for a, b in zip(starts, stops, strict=True)]
    return np.unique(np.concatenate([[0, len(steps) - 1], np.ravel(ends)])).astype(np.intp)
