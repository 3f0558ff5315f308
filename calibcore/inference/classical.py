"""Classical tests of calibration: observed/expected, logistic recalibration (Cox), Spiegelhalter, Hosmer-Lemeshow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.checks import needs
from calibcore.errors import InputError
from calibcore.inference.intervals import Estimate, wilson_interval
from calibcore.inference.logit_fit import (
    ROUNDING,
    Coefficient,
    CoxFit,
    Logits,
    between_clusters,
    finite_or_none,
    fit_cox,
    fit_in_the_large,
    outside_clusters,
)
from calibcore.partition import Partition
from calibcore.profile import Profile
from calibcore.proportions import checked_level
from calibcore.summation import total, total_of

__all__ = [
    "Classical",
    "Coefficient",
    "CoxFit",
    "HosmerLemeshow",
    "Spiegelhalter",
    "calibration_in_the_large",
    "calibration_ratio",
    "classical",
    "cox",
    "hosmer_lemeshow",
    "spiegelhalter",
]

FloatArray = NDArray[np.float64]


class Spiegelhalter(NamedTuple):
    """Spiegelhalter's Z and its two-sided p-value; both None where the test has no variance and no error."""

    z: float | None
    p_value: float | None

    def to_dict(self) -> dict[str, float | None]:
        """As plain data."""
        return {"z": finite_or_none(self.z), "p_value": self.p_value}


@dataclass(frozen=True, slots=True)
class HosmerLemeshow:
    """Outcome of `hosmer_lemeshow`: the statistic, its degrees of freedom, the p-value and the number of groups used."""

    statistic: float
    df: int
    p_value: float
    groups: int

    def to_dict(self) -> dict[str, float | int | None]:
        """As plain data."""
        return {"statistic": finite_or_none(self.statistic), "df": self.df, "p_value": self.p_value, "groups": self.groups}


@dataclass(frozen=True, slots=True, eq=False)
class Classical:
    """Outcome of `classical`: all but Hosmer-Lemeshow.

    Attributes
    ----------
    profile : Profile
        The input.
    intercept_in_the_large : Coefficient
    cox : CoxFit
    spiegelhalter : Spiegelhalter
    infinite_logits : int
        Rows with a probability of exactly 0 or 1.
    """

    profile: Profile
    intercept_in_the_large: Coefficient
    cox: CoxFit
    spiegelhalter: Spiegelhalter
    infinite_logits: int

    def observed_expected(self, level: float = 0.95) -> Estimate:
        """`calibration_ratio` at a level."""
        return calibration_ratio(self.profile, level)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """As plain data."""
        ratio = self.observed_expected(level)
        return {
            "observed_expected": {"value": finite_or_none(ratio.value), "low": ratio.low, "high": ratio.high},
            "intercept_in_the_large": self.intercept_in_the_large.to_dict(level),
            "cox": self.cox.to_dict(level),
            "spiegelhalter": self.spiegelhalter.to_dict(),
            "infinite_logits": self.infinite_logits,
        }


def classical(profile: Profile) -> Classical:
    """Observed/expected, calibration in the large, Cox's intercept and slope, and Spiegelhalter's Z.

    Parameters
    ----------
    profile : Profile
        Usually the positive view of a binary model; for a confidence view, "events" are right predictions.

    Returns
    -------
    Classical

    Notes
    -----
    Each is blind to some faults: scores of 0.2, 0.5 and 0.8, held by 1, 2 and 1 of every four rows, with gaps of +0.2,
    −0.2 and +0.2 have O/E 1, intercept 0, slope 1 and an ECE of 0.2.  Read them beside the curve.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> c = classical(Predictions.from_arrays([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75]).profile("positive"))
    >>> c.observed_expected().value, round(c.cox.slope.value, 12)
    (1.0, 0.0)
    """
    rows = Logits.of(profile)
    return Classical(profile, fit_in_the_large(rows), fit_cox(rows), spiegelhalter(profile), rows.infinite)


def calibration_ratio(profile: Profile, level: float = 0.95) -> Estimate:
    """Observed over expected events, O/E = Σwy/Σwp, with its interval; above 1 more happened than was said.

    Parameters
    ----------
    profile : Profile
    level : float
        Confidence level, a fraction.

    Returns
    -------
    Estimate
        Value infinite or NaN, without ends, where no event was expected (all probabilities 0).

    Notes
    -----
    Interval on the log scale: exp(log(O/E) ± t·se) with se² = Σw²(y/O − p/E)² · m/(m − 1) and m − 1 degrees of freedom,
    the large-sample variance of the log of a ratio of two means over the same independent rows; m = (Σw)²/Σw².  Rows of
    a cluster enter as their sum, and m is then at most the number of clusters.
    The variance (1 − O/n)/O, which meta-analyses use where only totals are published (Debray et al.), leaves out that
    y and p go together and gives a wider interval the better the model separates.  Where no row or every row had the
    event, Wilson's interval of the rate is divided by the mean probability.

    References
    ----------
    Debray et al. (2017), doi:10.1136/bmj.i6460.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> calibration_ratio(Predictions.from_arrays([0, 1, 1, 1], [0.5, 0.5, 0.5, 0.5]).profile("positive")).value
    1.5
    """
    needs(profile, Profile, "calibration_ratio")
    checked_level(level)
    expected, observed = profile.total("confidence"), profile.total("positive")
    if expected <= 0:
        return Estimate(np.inf if observed > 0 else np.nan)
    ratio, n_eff = observed / expected, profile.n_effective
    if n_eff <= 1 + 1e-9 or not np.isfinite(ratio):
        return Estimate(ratio)
    if profile.accuracy in (0.0, 1.0):
        low, high = wilson_interval(np.array([profile.accuracy * n_eff]), np.array([n_eff]), level)
        return Estimate(ratio, *(finite_or_none(float(end[0]) / profile.mean_confidence) for end in (low, high)))
    p = profile.value.astype(np.float64) * (profile.weight_sum / expected)
    event = profile.weight_sum / observed
    squared, events_squared = outside_clusters(profile)
    spread = total(events_squared * (event - p) ** 2 + (squared - events_squared) * p**2)
    units = profile.weight_sum**2 / profile.total("weight_squared")
    if profile.clusters is not None:
        c = profile.clusters
        spread += float(np.sum(c.per_cluster(c.positive * event - c.weight * p[c.cell]) ** 2))
        units = min(units, float(profile.n_clusters))
        if units <= 1 + 1e-9:
            return Estimate(ratio)
    half = float(special.stdtrit(units - 1, (1 + level) / 2) * np.sqrt(spread * units / (units - 1))) / profile.weight_sum
    return Estimate(ratio, ratio * float(np.exp(-half)), finite_or_none(ratio * float(np.exp(half))) if half < 700 else None)


def calibration_in_the_large(profile: Profile) -> Coefficient:
    """The number to add to every logit so that as many events are expected as happened; 0 under calibration.

    Parameters
    ----------
    profile : Profile
        Usually the positive view of a binary model.

    Returns
    -------
    Coefficient

    Notes
    -----
    Intercept of a logistic regression of the outcome on logit p as an offset (slope 1), by maximum likelihood.  Error:
    √B/A with A = Σwμ(1 − μ), B = Σw²μ(1 − μ), μ the fitted probabilities; without weights the usual 1/√A.  Rows of a
    cluster enter B as the square of their sum of residuals.  A probability of exactly 0 or 1 stays what it is whatever
    is added: right ones say nothing about the intercept; with a wrong one, or with all other outcomes alike, there is no finite intercept.

    References
    ----------
    Cox (1958), doi:10.1093/biomet/45.3-4.562; Van Calster et al. (2019), doi:10.1186/s12916-019-1466-7.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> c = calibration_in_the_large(Predictions.from_arrays([1, 1, 1, 0], [0.5] * 4).profile("positive"))
    >>> round(c.value, 6)  # logit(3/4) − logit(1/2) = log 3
    1.098612
    """
    needs(profile, Profile, "calibration_in_the_large")
    return fit_in_the_large(Logits.of(profile))


def cox(profile: Profile) -> CoxFit:
    """Logistic recalibration: logit P(event) = intercept + slope·logit p; calibrated means intercept 0 and slope 1.

    Parameters
    ----------
    profile : Profile
        Usually the positive view of a binary model.

    Returns
    -------
    CoxFit

    Notes
    -----
    Maximum likelihood by Newton's method with step halving.  Errors: A⁻¹BA⁻¹ with A = Σwμ(1 − μ)xx', B = Σw²μ(1 − μ)xx',
    x = (1, logit p), μ the fitted probabilities; without weights the usual A⁻¹.  Likelihood ratio: twice the gain in
    log-likelihood over (0, 1), scaled to n_eff rows, against χ² with two degrees of freedom.  Rows of a cluster enter B as
    the square of their sum of residuals, and n_eff is smaller for them.

    Where the scores of the events and of the others do not overlap (one score, one outcome, or perfect separation in
    either direction), the likelihood has no maximum: the coefficients are None, not a large number.  A probability of
    exactly 0 or 1 has an infinite logit: if it was right it has likelihood 1 for every positive slope and so adds
    nothing; if one was wrong, or if the fitted slope is not positive, there is no fit.
    ``infinite_logits`` of `calibcore.inference.classical.classical` counts such rows.

    Blind to faults that cancel: it sees two numbers of the whole curve.

    References
    ----------
    Cox (1958), doi:10.1093/biomet/45.3-4.562; Miller, Hui & Tierney (1991), doi:10.1002/sim.4780100805.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> fit = cox(Predictions.from_arrays([0] * 4 + [1] + [0] + [1] * 4, [0.2] * 5 + [0.8] * 5).profile("positive"))
    >>> round(fit.slope.value, 9), round(abs(fit.likelihood_ratio), 9)
    (1.0, 0.0)
    >>> cox(Predictions.from_arrays([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]).profile("positive")).problem
    'the scores of the events and of the others do not overlap'
    """
    needs(profile, Profile, "cox")
    return fit_cox(Logits.of(profile))


def spiegelhalter(profile: Profile) -> Spiegelhalter:
    """Spiegelhalter's test of whether the Brier score is what the probabilities themselves predict.

    Parameters
    ----------
    profile : Profile
        Usually the positive view of a binary model.

    Returns
    -------
    Spiegelhalter
        A named tuple ``(z, p_value)``.

    Notes
    -----
    Z = Σw(y − p)(1 − 2p)/√Σw²(1 − 2p)²p(1 − p), normal with variance 1 under calibration for many independent rows.
    Positive: the Brier score is larger than predicted.  Blind at p = ½, where it has no variance, and to errors that
    cancel; no measure of size.  Rows of a cluster enter the variance as the square of their sum.  Where the variance is
    0, Z is infinite if a certain prediction was wrong, else None.

    References
    ----------
    Spiegelhalter (1986), doi:10.1002/sim.4780050506.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> z, p = spiegelhalter(Predictions.from_arrays([0, 1, 1, 1], [0.2, 0.2, 0.8, 0.8]).profile("positive"))
    >>> round(z, 12)  # (−0.2 + 0.8 − 0.2 − 0.2)·0.6 = 0.12 over √(4·0.36·0.16) = 0.48
    0.25
    """
    needs(profile, Profile, "spiegelhalter")
    whole = profile.weight_sum
    squared = profile.weight_squared if profile.clusters is None else outside_clusters(profile)[0]
    score = total_of(lambda v, r: r / whole * (1.0 - 2.0 * v), np.asarray(profile.value, np.float64), profile.cell_sums("residual"))
    spread = total_of(lambda v, w: w / whole**2 * v * (1.0 - v) * (1.0 - 2.0 * v) ** 2, np.asarray(profile.value, np.float64), squared)
    if profile.clusters is not None:
        p = profile.value.astype(np.float64)
        spread += float(between_clusters(profile, p, (1 - 2 * p,))[0, 0])
    if spread > 0:
        z = score / float(np.sqrt(spread))
        return Spiegelhalter(z, float(2 * special.ndtr(-abs(z))))
    if abs(score) > ROUNDING:
        return Spiegelhalter(float(np.copysign(np.inf, score)), 0.0)
    return Spiegelhalter(None, None)


def hosmer_lemeshow(profile: Profile, *, groups: int = 10, df: int | None = None) -> HosmerLemeshow:
    """Hosmer-Lemeshow test, only to reproduce a paper that used it.

    Parameters
    ----------
    profile : Profile
    groups : int
        Equal-mass groups; equal scores share one, so fewer may result.
    df : int, optional
        Degrees of freedom: by default the number of groups, which is right for rows that the model was not fitted on;
        for the fitting rows it is groups − 2.

    Returns
    -------
    HosmerLemeshow

    Raises
    ------
    InputError
        For a number of groups or degrees of freedom below 1, and for rows in clusters.

    Notes
    -----
    H = Σ_g (O_g − E_g)²/V_g with V_g = p̄_g(1 − p̄_g)Σw².  Do not use it to judge a model: the p-value depends on the
    number of groups and on how ties and uneven sizes are cut, the wrong degrees of freedom are common, it gives neither
    direction nor size, it accepts everything when rows are few and refuses everything when they are many (said 0.50,
    true 0.51: p = 0.53 at 1,000 rows, 2.5·10⁻¹⁰ at 100,000).  Assumes independent rows, so it refuses rows in clusters.

    References
    ----------
    Hosmer & Lemeshow (1980), doi:10.1080/03610928008827941; against it: Van Calster et al. (2019),
    doi:10.1186/s12916-019-1466-7.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> h = hosmer_lemeshow(Predictions.from_arrays([1] * 51 + [0] * 49, [0.5] * 100).profile("positive"), groups=1)
    >>> round(h.statistic, 12), h.df  # (51 − 50)²/25
    (0.04, 1)
    """
    needs(profile, Profile, "hosmer_lemeshow")
    if profile.clusters is not None:
        raise InputError(
            "Hosmer-Lemeshow needs independent rows and these are in clusters; use the chance range of ECE (chance_range) or cox, "
            "which allow for them."
        )
    partition = Partition.equal_mass(profile, groups)
    residual, squared, weight, confidence = (
        profile.cumulative(q).between(partition.cut(profile.value)) for q in ("residual", "weight_squared", "weight", "confidence")
    )
    filled = weight > 0
    mean = confidence[filled] / weight[filled]
    variance = squared[filled] * mean * np.maximum(1 - mean, 0.0)
    certain = np.where(np.abs(residual[filled]) > ROUNDING * weight[filled], np.inf, 0.0)
    with np.errstate(over="ignore"):  # a variance may be so small that the quotient is as good as infinite
        parts = np.where(variance > 0, residual[filled] ** 2 / np.where(variance > 0, variance, 1.0), certain)
    used = int(np.count_nonzero(filled))
    freedom = used if df is None else df
    if freedom < 1:
        raise InputError(f"The degrees of freedom must be at least 1, not {freedom}; there are {used} groups.", value=freedom)
    statistic = float(np.sum(parts))
    return HosmerLemeshow(statistic, freedom, float(special.chdtrc(freedom, statistic)) if np.isfinite(statistic) else 0.0, used)
