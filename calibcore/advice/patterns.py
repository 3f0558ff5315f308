"""Which pattern of miscalibration these rows show, by fixed rules in the confidence view, with the evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from calibcore.inference.intervals import Estimate, mean_gap, poisson_lower
from calibcore.inference.logit_fit import Logits, newton
from calibcore.inference.logit_nodes import STEEP
from calibcore.inference.significance import Detection, DiagnosticBins, detect
from calibcore.profile import Profile

__all__ = [
    "MIN_ROWS",
    "POWER_Z",
    "Pattern",
    "PatternName",
    "Run",
    "beyond_chance",
    "find_pattern",
    "over_run",
    "rows_needed",
    "runs",
    "under_run",
    "worst_run",
]

PatternName = Literal[
    "uniform_overconfidence",
    "non_uniform_overconfidence",
    "confidence_collapse",
    "extreme_overconfidence",
    "uniform_underconfidence",
    "local_overconfidence",
    "local_underconfidence",
    "shifted",
    "none_detected",
    "too_few_rows",
    "unclear",
]

MIN_ROWS = 100
_POINTS = 0.02  # a run must be at least two points off
_HALF_Z = 1.28
POWER_Z = 0.8416  # what four samples in five would show
_SHARE = 0.60
_LR_95 = 3.84  # 95th percentile of chi-square with one degree of freedom

_REMEDY: dict[PatternName, str] = {
    "extreme_overconfidence": (
        "Temperature scaling first. If most scores are identical, go back to the logits: a pile of equal scores has no order to repair. "
        "Check whether training rows are among these; retrain with label smoothing, early stopping or an ensemble."
    ),
    "none_detected": "None: these rows give no reason to change the scores.",
    "too_few_rows": "More rows: at least 100, better 1,000.",
    "non_uniform_overconfidence": (
        "Isotonic regression, given 1,000 rows or more to fit it, else Platt scaling. It can merge scores that were distinct."
    ),
    "uniform_overconfidence": "Temperature scaling (T > 1): one number, and the predicted classes stay as they are.",
    "uniform_underconfidence": "Temperature scaling (T < 1): one number, and the predicted classes stay as they are.",
    "local_overconfidence": "None by default: a repair of one range needs a check on rows kept apart.",
    "local_underconfidence": "None by default: a repair of one range needs a check on rows kept apart.",
    "shifted": "An intercept correction: one number added on the logit scale, also the remedy after a change of the base rate.",
    "unclear": "More rows: these do not show where the claims and the outcomes differ.",
}


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring diagnostic bins taken together."""

    low: float
    high: float
    count: int
    share: float
    confidence: float
    accuracy: float
    z: float
    error_ratio_low: float

    @property
    def gap(self) -> float:
        """Accuracy − confidence."""
        return self.accuracy - self.confidence


@dataclass(frozen=True, slots=True)
class Pattern:
    """The pattern found, what it rests on and what usually helps."""

    name: PatternName
    remedy: str
    evidence: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"name": self.name, "evidence": self.evidence, "remedy": self.remedy}


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the rules look at."""

    top: Profile
    positive: Profile | None
    detection: Detection
    over: Run | None
    under: Run | None


def runs(bins: DiagnosticBins) -> Iterator[Run]:
    """Every run of neighbouring diagnostic bins, single bins included."""
    m = len(bins.residual)
    for i in range(m):
        for j in range(i + 1, m + 1):
            yield _run(bins, slice(i, j))


def _run(bins: DiagnosticBins, part: slice) -> Run:
    weight, confidence = float(bins.weight[part].sum()), float(bins.confidence[part].sum())
    residual, variance = float(bins.residual[part].sum()), float(bins.variance[part].sum())
    errors, expected = weight - confidence - residual, weight - confidence
    scale = bins.n_effective / float(bins.weight.sum())
    certain = -np.inf if residual < -1e-9 else 0.0
    return Run(
        float(bins.low[part][0]),
        float(bins.high[part][-1]),
        int(bins.count[part].sum()),
        weight / float(bins.weight.sum()),
        confidence / weight,
        (confidence + residual) / weight,
        residual / np.sqrt(variance) if variance > 0 else certain,
        poisson_lower(errors * scale) / (expected * scale) if expected > 0 else (np.inf if errors > 1e-9 else 0.0),
    )


def worst_run(bins: DiagnosticBins) -> Run:
    """The run whose outcomes are furthest from its claims, in standard deviations."""
    return max(runs(bins), key=lambda r: abs(r.z))


def over_run(bins: DiagnosticBins) -> Run | None:
    """The most overconfident run beyond chance and at least two points off, if there is one."""
    found = [r for r in runs(bins) if r.z <= -bins.over_limit and r.gap <= -_POINTS]
    return min(found, key=lambda r: r.z, default=None)


def under_run(bins: DiagnosticBins) -> Run | None:
    """The most underconfident run beyond chance and at least two points off, if there is one."""
    found = [r for r in runs(bins) if r.z >= bins.under_limit and r.gap >= _POINTS]
    return max(found, key=lambda r: r.z, default=None)


def beyond_chance(profile: Profile) -> tuple[Run | None, Run | None]:
    """The widest run over and the widest under in the view of a profile itself, by redraws of its own; looked for once a profile.

    Each is over or under by the rule of `find_pattern`, and so lean all bins in it; where no run is so of one mind, it is the one
    of the largest z.
    """

    def look() -> tuple[Run | None, Run | None]:
        bins = detect(profile).bins
        return _widest(bins, -1) or over_run(bins), _widest(bins, 1) or under_run(bins)

    return profile.remember("runs beyond chance", look)


def _widest(bins: DiagnosticBins, sign: int) -> Run | None:
    """Of the runs beyond chance and two points off, all of whose bins lean to this side, the one that holds most rows."""
    limit = bins.over_limit if sign < 0 else bins.under_limit
    m = len(bins.residual)
    parts = [slice(i, j) for i in range(m) for j in range(i + 1, m + 1) if bool(np.all(sign * bins.residual[i:j] > 0))]
    found = [r for r in (_run(bins, part) for part in parts) if sign * r.z >= limit and sign * r.gap >= _POINTS]
    return max(found, key=lambda r: (r.share, abs(r.z)), default=None)


def find_pattern(top: Profile, detection: Detection, *, positive: Profile | None = None) -> Pattern:
    """The first pattern whose rule holds.

    Parameters
    ----------
    top : Profile
        The confidence view: patterns are judged nowhere else, since a uniformly overconfident binary model crosses
        the diagonal in the positive view.
    detection : Detection
        Outcome of `detect`.
    positive : Profile, optional
        The positive view of a binary model, in which a shift of all risks shows.

    Notes
    -----
    Rules in order: too few rows (n < 100); extreme overconfidence (60 % of rows claim 95 % or more and are clearly
    wrong more often); confidence collapse (60 % near an even guess); none detected; shifted (on the logit scale an
    intercept explains more than a slope); crossing (a run over and a run under); over- or underconfident, uniform
    (both halves) or local; unclear.  A run is over if z ≤ −c₋ and its gap is at most −2 points, with c₋ the 95th
    percentile of the largest −z of any run over the redraws; under likewise.  Intervals inside the rules are 95 %
    intervals whatever level is shown, so that no setting flips a pattern.
    """
    if top.view != "top_label":
        return Pattern(
            "unclear", "Patterns are judged in the confidence view, which this profile does not hold.", {"p_value": detection.p_value}
        )
    if top.n < MIN_ROWS:
        return Pattern("too_few_rows", _REMEDY["too_few_rows"], {"n": top.n, "needed": MIN_ROWS})
    facts = _Facts(top, positive, detection, over_run(detection.bins), under_run(detection.bins))
    for rule in _RULES:
        found = rule(facts)
        if found is not None:
            return found
    return Pattern("unclear", _REMEDY["unclear"], {"p_value": detection.p_value, "rows_needed": rows_needed(detection.bins)})


def rows_needed(bins: DiagnosticBins) -> int | None:
    """Rows with which a range as far off as the worst one here would be named in four samples of five, to two digits.

    n·((c + 0.84)/z)² with z of the worst run and c the limit that redraws give for its side; None where these rows are
    already that many, so that more of them are not what is missing.
    """
    worst = worst_run(bins)
    limit = bins.over_limit if worst.z < 0 else bins.under_limit
    share = (limit + POWER_Z) / abs(worst.z) if worst.z else np.inf
    if not np.isfinite(share) or share <= 1:
        return None
    return int(float(f"{int(bins.count.sum()) * share**2:.1e}"))


def _extreme(facts: _Facts) -> Pattern | None:
    first = int(np.searchsorted(facts.top.value, facts.top.value.dtype.type(0.95)))
    share = float(facts.top.cumulative("weight").between(np.array([first, len(facts.top)]))[0]) / facts.top.weight_sum
    if share < _SHARE:
        return None
    high = facts.top.part(np.arange(len(facts.top)) >= first)
    gap = mean_gap(high)
    expected, wrong = 1 - high.mean_confidence, 1 - high.accuracy
    n_eff = high.n_effective
    ratio_low = poisson_lower(wrong * n_eff) / (expected * n_eff) if expected > 0 else (np.inf if wrong > 0 else 0.0)
    if not ((gap.high is not None and -gap.high >= 0.05) or ratio_low >= 2):
        return None
    evidence = {
        "share_at_95": share,
        "wrong": wrong,
        "expected_wrong": expected,
        "gap": gap.to_dict(),
        "error_ratio_low": _finite(ratio_low),
    }
    return Pattern("extreme_overconfidence", _REMEDY["extreme_overconfidence"], evidence)


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


def _quantile(profile: Profile, q: float) -> float:
    upto = profile.weight_upto
    wanted = q * float(upto[-1]) * (1 - 1e-12)  # in the kind of the sums: else all of them would be converted
    cell = int(np.searchsorted(upto, np.ceil(wanted).astype(upto.dtype) if upto.dtype.kind == "i" else wanted))
    return float(profile.value[min(cell, len(upto) - 1)])


def _collapse(facts: _Facts) -> Pattern | None:
    top, k = facts.top, facts.top.n_classes
    even = 0.60 if k <= 2 else 1 / k + 0.2 * (1 - 1 / k)  # k < 2: the number of classes is not known
    last = int(np.searchsorted(top.value, top.value.dtype.type(even), side="right"))
    share = float(top.cumulative("weight").between(np.array([0, last]))[0]) / top.weight_sum
    middle, spread = _quantile(top, 0.5), _quantile(top, 0.9) - _quantile(top, 0.1)
    pile = k > 2 and 0.40 <= middle <= 0.60 and spread <= 0.10
    if k < 2 or (share < _SHARE and not pile):
        return None
    gap = mean_gap(top)
    evidence = {"share_near_even": share, "limit": even, "n_classes": k, "median": middle, "gap": gap.to_dict()}
    return Pattern("confidence_collapse", _collapse_remedy(gap), evidence)


def _collapse_remedy(gap: Estimate) -> str:
    if gap.low is not None and gap.low > 0:
        return "Sharpen the scores (temperature below 1): they can claim more."
    if gap.high is not None and gap.high < 0:
        return "Soften the scores (temperature above 1), then look at features, labels and regularisation."
    return "Recalibration cannot add information; look at features, labels and regularisation."


def _none(facts: _Facts) -> Pattern | None:
    if facts.detection.detected:
        return None
    return Pattern("none_detected", _REMEDY["none_detected"], {"p_value": facts.detection.p_value})


def _shifted(facts: _Facts) -> Pattern | None:
    if facts.positive is None:
        return None
    rows = Logits.of(facts.positive)
    intercept, by_intercept = _gain(rows, np.ones(len(rows.logit)))
    slope, by_slope = _gain(rows, rows.logit)
    if rows.cells is not None and abs(1 + slope) > STEEP:
        cells = rows.cells()
        slope, by_slope = _gain(cells, cells.logit)
    if not (by_intercept > _LR_95 and by_intercept > by_slope):
        return None
    p = facts.positive
    evidence = {
        "intercept": intercept,
        "slope": 1 + slope,
        "likelihood_ratio_intercept": by_intercept,
        "likelihood_ratio_slope": by_slope,
        "expected_events": p.mean_confidence * p.n,
        "events": p.accuracy * p.n,
    }
    return Pattern("shifted", _REMEDY["shifted"], evidence)


def _gain(rows: Logits, direction: Any) -> tuple[float, float]:
    """Best b of logit P = logit p + b·direction, and twice the gain in log-likelihood over b = 0."""
    fit = newton(rows, (direction,), np.zeros(1)) if len(rows.logit) else None
    if fit is None:
        return 0.0, 0.0
    return float(fit.at[0]), max(0.0, 2 * (fit.likelihood - rows.likelihood(rows.logit)[0]) * rows.n_effective)


def _evidence(run: Run) -> dict[str, Any]:
    names = ("low", "high", "count", "share", "confidence", "accuracy", "gap")
    return {**{n: getattr(run, n) for n in names}, "z": _finite(run.z)}


def _crossing(facts: _Facts) -> Pattern | None:
    if facts.over is None or facts.under is None:
        return None
    near = _crossing_point(facts.detection.bins, facts.over, facts.under)
    evidence = {"over": _evidence(facts.over), "under": _evidence(facts.under), "crosses_near": near}
    return Pattern("non_uniform_overconfidence", _REMEDY["non_uniform_overconfidence"], evidence)


def _crossing_point(bins: DiagnosticBins, over: Run, under: Run) -> float:
    """Confidence at which the cumulative residual turns between the two runs."""
    turn = 1.0 if under.low < over.low else -1.0
    between = (np.asarray(bins.high[:-1]) >= min(over.low, under.low)) & (bins.low[1:] <= max(over.high, under.high))
    upto = np.where(between, turn * np.cumsum(bins.residual)[:-1], -np.inf)
    k = int(np.argmax(upto))
    return float(bins.high[k] + bins.low[k + 1]) / 2


def _one_sided(facts: _Facts) -> Pattern | None:
    run = facts.over or facts.under
    if run is None:
        return None
    word: Literal["over", "under"] = "over" if facts.over else "under"
    halves = _halves(facts.detection.bins)
    uniform = all(z <= -_HALF_Z if word == "over" else z >= _HALF_Z for z in halves)
    names: dict[tuple[str, bool], PatternName] = {
        ("over", True): "uniform_overconfidence",
        ("over", False): "local_overconfidence",
        ("under", True): "uniform_underconfidence",
        ("under", False): "local_underconfidence",
    }
    name = names[word, uniform]
    return Pattern(name, _REMEDY[name], {word: _evidence(run), "halves_z": [_finite(z) for z in halves]})


def _halves(bins: DiagnosticBins) -> list[float]:
    """Z of the lower and the upper half: the bins split nearest to half the rows."""
    m = len(bins.residual)
    if m == 1:
        return [_run(bins, slice(0, 1)).z] * 2
    share = np.cumsum(bins.weight)[:-1] / bins.weight.sum()
    split = int(np.argmin(np.abs(share - 0.5))) + 1
    return [_run(bins, slice(0, split)).z, _run(bins, slice(split, m)).z]


_RULES: tuple[Callable[[_Facts], Pattern | None], ...] = (_extreme, _collapse, _none, _shifted, _crossing, _one_sided)
