"""Parts of a model's rows by the values of a column: their names, and what each part can show."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.checks import name_text, needs, sorted_names
from calibcore.errors import InputError
from calibcore.inference.chance import ChanceRange, chance_range
from calibcore.inference.intervals import Estimate, mean_gap
from calibcore.inference.significance import detect
from calibcore.partition import Partition, SharedTies
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.summation import total

__all__ = [
    "MINIMUM",
    "MISSING",
    "POWER",
    "Judgement",
    "checked_minimum",
    "clopper_pearson",
    "distinct_of",
    "enough",
    "gap_of",
    "is_missing",
    "judge",
    "levels_of",
    "number",
    "sorted_levels",
    "usual_partition",
    "visible_gap",
]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

MISSING = "(missing)"
MINIMUM = 50  # rows below which a part is listed, not judged
FEW = 25  # outcomes of one kind below which an interval is exact
POWER = 0.8  # how often the smallest visible gap is seen


def levels_of(values: NDArray[Any]) -> tuple[tuple[str, ...], IndexArray]:
    """Names of the different values and the index of each row's name.

    Names rise (numbers by size, then text by the alphabet); missing cells (None, NaN, NaT, blank) are "(missing)", the last.
    """
    distinct, code = distinct_of(values)
    texts = [_name(d) for d in distinct]
    names = sorted_levels(texts)
    index = {n: i for i, n in enumerate(names)}
    return tuple(names), np.array([index[t] for t in texts], dtype=np.intp)[code]


def sorted_levels(names: Iterable[str]) -> list[str]:
    """Different names in order: numbers by size, then text by the alphabet, then "(missing)"."""
    there = set(names)
    return [*sorted_names(list(there - {MISSING})), *(there & {MISSING})]


def distinct_of(values: NDArray[Any]) -> tuple[list[Any], IndexArray]:
    """Different values and, for each row, which one it holds; object arrays may mix types."""
    if values.dtype.kind in "mM":
        values = values.astype(np.str_)
    if values.dtype != object:
        distinct, code = np.unique(values, return_inverse=True)
        return distinct.tolist(), code
    order: dict[Any, int] = {}
    cells = [None if is_missing(v) else v for v in values.tolist()]
    try:
        code = np.fromiter((order.setdefault(v, len(order)) for v in cells), dtype=np.intp, count=len(cells))
    except TypeError:
        raise InputError("Groups and times must be names or numbers, one a row, not lists or records.") from None
    return list(order), code


def is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, NaT or blank."""
    if isinstance(value, str):
        return value.strip() in {"", "NaT"}
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:  # pandas' own, without importing pandas
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _name(value: Any) -> str:
    if is_missing(value):
        return MISSING
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    return name_text(value).strip()


def checked_minimum(minimum: Any) -> int:
    """The smallest number of rows that is judged, or an InputError."""
    if isinstance(minimum, (bool, np.bool_)) or not isinstance(minimum, (int, np.integer)) or minimum < 2:
        raise InputError(f"The minimum number of rows must be a whole number from 2 up, got {minimum!r}.", value=minimum)
    return int(minimum)


def enough(profile: Profile, minimum: int) -> bool:
    """Whether a part has at least ``minimum`` (effective) rows."""
    return profile.n_effective >= minimum * (1 - 1e-9)


def gap_of(part: Predictions, view: str, level: float) -> Estimate:
    """Signed gap of a part of the rows, with an interval that keeps its level in small and very confident parts.

    Parameters
    ----------
    part : Predictions
    view : str
    level : float
        Of this interval; often close to 1, since it is one of several.

    Returns
    -------
    Estimate
        Without ends where there are not two (effective) rows.

    Notes
    -----
    The t interval of the mean residual is not used for independent rows: at level 0.9958 it misses 20 times as often as it
    should where 50 rows have confidences near 0.95, because a sample with few errors also has a small spread.  Instead:

    - fewer than 25 (effective) rows right, or fewer than 25 wrong: Clopper and Pearson's interval of the rate minus the
      mean confidence.  It holds whatever the probability of each row, since a sum of unequal Bernoulli outcomes varies
      less than a binomial; it is wide where the confidences differ much.
    - otherwise all g with (ĝ − g)² ≤ z²·φ·V(g)/n_eff, V(g) the mean of q(1 − q), q = p + g, which is Wilson's interval where
      all p are equal; φ ≥ 1 is the spread of the residuals found, divided by V(ĝ).

    Weights enter as (Σw)²/Σw² rows and, in V and φ, squared.  With clusters the number of effective rows is that of the
    profile, and the second rule is the t interval of cluster sums, `mean_gap`.

    References
    ----------
    Clopper & Pearson (1934), doi:10.1093/biomet/26.4.404; Hoeffding (1956), doi:10.1214/aoms/1177728178;
    Wilson (1927), doi:10.1080/01621459.1927.10502953.
    """
    profile = part.profile(view)
    value = profile.total("residual") / profile.weight_sum
    n = profile.n_effective
    if n < 2 * (1 - 1e-9):
        return Estimate(value)
    if min(profile.accuracy, 1 - profile.accuracy) * n < FEW * (1 - 1e-9):
        low, high = clopper_pearson(profile.accuracy * n, n, level)
        return Estimate(value, low - profile.mean_confidence, high - profile.mean_confidence)
    return _score_gap(profile, value, level) if profile.clusters is None else mean_gap(profile, level)


def clopper_pearson(successes: float, n: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's interval of a proportion: quantiles of beta distributions; 0 and 1 at the ends."""
    tail = (1 - level) / 2
    k = min(max(successes, 0.0), n)
    low = 0.0 if k <= 1e-9 else float(special.betaincinv(k, n - k + 1, tail))
    high = 1.0 if n - k <= 1e-9 else float(special.betaincinv(k + 1, n - k, 1 - tail))
    return low, high


def _spread(profile: Profile) -> tuple[float, float]:
    """Means, with weights squared, of p(1 − p) and of 1 − 2p."""
    share = profile.weight_squared / profile.total("weight_squared")
    p = profile.value.astype(np.float64)
    return total(share * p * (1 - p)), total(share * (1 - 2 * p))


def _score_gap(profile: Profile, value: float, level: float) -> Estimate:
    """The g between the roots of (ĝ − g)² = k(v + s·g − g²), which is V(g); the t interval where V(ĝ) is not positive."""
    v, s = _spread(profile)
    expected = v + s * value - value**2
    if expected <= 0:
        return mean_gap(profile, level)
    p = profile.value.astype(np.float64)
    wrong = profile.weight_squared - profile.positive_squared
    found = total(profile.positive_squared * (1 - p - value) ** 2 + wrong * (p + value) ** 2) / profile.total("weight_squared")
    k = float(special.ndtri((1 + level) / 2)) ** 2 * max(1.0, found / expected) / profile.n_effective
    middle = (2 * value + k * s) / (2 * (1 + k))
    half = max(0.0, middle**2 - (value**2 - k * v) / (1 + k)) ** 0.5
    return Estimate(value, middle - half, middle + half)


def visible_gap(part: Predictions, view: str, level: float) -> float | None:
    """The smallest gap that the interval of `gap_of` would have shown in about four samples of five.

    Parameters
    ----------
    part : Predictions
    view : str
    level : float
        Of the interval, adjusted for the number of parts looked at.

    Returns
    -------
    float or None
        A size, without sign; None where there is no interval, or no outcome could have shown a gap.

    Notes
    -----
    From the probabilities and the number of rows only, not from the outcomes.  Suppose that every event is less (or more)
    probable than claimed by the same g, towards ½, where outcomes vary more.  The interval leaves out 0 where
    |ĝ| > z_a·√(v/n), v the mean of p(1 − p); ĝ varies about g with variance (v + m·g − g²)/n, m = |mean of 2p − 1|.  So
    g = z_a·√(v/n) + z_b·√((v + m·g − g²)/n), with z_a of the level (two-sided), z_b of 0.8 and n = n_eff.
    Where the interval is exact at its edge (e of the rarer outcome leave out 0, by the binomial distribution about the
    mean confidence, and e or n − e is below 25): the rate at which e or more of them come with probability 0.8, minus the
    rate claimed; that is the exact figure where all p are equal, a little too large elsewhere.  Never below the rate at
    which 25 of them come with probability 0.8, where the rule needs as many.
    With clusters n_eff also knows how strongly the outcomes of a cluster depend on each other, which is estimated with a
    margin, so the figure is rather too large.
    """
    profile = part.profile(view)
    n = profile.n_effective
    if n < 2 * (1 - 1e-9):
        return None
    rare = min(1.0, max(0.0, min(profile.mean_confidence, 1 - profile.mean_confidence)))
    exact = _exact_visible(n, rare, (1 - level) / 2)
    if exact is not None or n < 2 * FEW:
        return exact
    v, s = _spread(profile)
    null = float(special.ndtri((1 + level) / 2)) * (v / n) ** 0.5
    k = float(special.ndtri(POWER)) ** 2 / n
    middle = (2 * null + k * abs(s)) / (2 * (1 + k))
    root = middle + max(0.0, middle**2 - (null**2 - k * v) / (1 + k)) ** 0.5
    return float(min(1.0, max(root, special.betaincinv(FEW, n - FEW + 1, POWER) - rare)))


def _exact_visible(n: float, rare: float, tail: float) -> float | None:
    """By the binomial distribution, where that many outcomes of one kind are few; None elsewhere."""
    e = np.arange(1.0, min(n + 1e-9, 8 * FEW) + 1)
    seen = e[special.betainc(e, np.maximum(n - e, 0.0) + 1, rare) <= tail]
    if not len(seen) or not (seen[0] < FEW or n - seen[0] < FEW):
        return None
    return float(special.betaincinv(seen[0], max(n - seen[0], 0.0) + 1, POWER)) - rare


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one of several parts shows: gap with interval, chance range of its ECE, p-value, and what it could have shown."""

    gap: Estimate
    chance: ChanceRange
    p_value: float
    shown_in: str
    visible_gap: float | None


def judge(part: Predictions, view: str, partition: Partition, *, level: float, seed: int) -> Judgement:
    """Judge one part; ``level`` is that of its own interval, adjusted for the number of parts.

    The test is `detect`: a binary model in the confidence and in the positive view at once, a class view alone.
    """
    profile = part.profile(view)
    detection = detect(profile if view.startswith("class:") else part)
    return Judgement(
        gap_of(part, view, level),
        chance_range(profile, partition, seed=seed),
        detection.p_value,
        detection.view,
        visible_gap(part, view, level),
    )


def usual_partition(partition: Partition | None, function: str) -> Partition:
    """The given bins, or 15 of equal width; bins with shared ties belong to one profile and are refused."""
    if partition is None:
        return Partition.equal_width(15)
    needs(partition, (Partition, SharedTies), function)
    if not isinstance(partition, Partition):
        raise InputError("Bins with shared ties belong to one set of rows; use ties='together', so that every part has the same bins.")
    return partition


def number(value: float | None) -> float | None:
    """A finite number as a float, else None."""
    return None if value is None or not np.isfinite(value) else float(value)
