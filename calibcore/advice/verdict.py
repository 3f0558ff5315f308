"""The verdict in one or two sentences: hedged by what the rows can show, and never by the user's bins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from calibcore.advice.patterns import MIN_ROWS, POWER_Z, Pattern, PatternName, Run, over_run, runs, under_run
from calibcore.inference.chance import ChanceRange
from calibcore.inference.intervals import Estimate, mean_gap
from calibcore.inference.outcome import LEAST_P
from calibcore.inference.significance import Detection, DiagnosticBins
from calibcore.profile import Profile

__all__ = ["PATTERN_NAMES", "Verdict", "advised", "confidence_range", "find_verdict", "percent", "points", "unseen_gap"]

_SMALL = 0.02
PATTERN_NAMES: dict[PatternName, str] = {  # as tables give them
    "extreme_overconfidence": "extreme overconfidence",
    "confidence_collapse": "confidence collapse",
    "none_detected": "none found",
    "shifted": "shifted",
    "non_uniform_overconfidence": "non-uniform overconfidence",
    "uniform_overconfidence": "uniform overconfidence",
    "local_overconfidence": "local overconfidence",
    "uniform_underconfidence": "uniform underconfidence",
    "local_underconfidence": "local underconfidence",
    "unclear": "unclear",
    "too_few_rows": "too few rows",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A level (V0 too few rows … V4 detected without a pattern) and the sentence for it."""

    level: Literal["V0", "V1", "V2", "V3", "V4"]
    text: str


def percent(share: float) -> str:
    """0.873 → "87%"; near 0 and 1 with the digits that keep it from reading 0% or 100%."""
    for digits in (0, 1, 2, 3):
        text = f"{100 * share:.{digits}f}"
        if float(text) not in (0.0, 100.0) or share in (0.0, 1.0):
            return f"{text}%"
    return "under 0.001%" if share < 0.5 else "over 99.999%"


def points(gap: float, *, signed: bool = False) -> str:
    """A difference in points: 0.1101 → "11.0"; −0.006 with ``signed`` → "−0.6"; what rounds to nothing has no sign."""
    text = f"{100 * gap:+.1f}"
    return text.replace("-", "−") if signed and float(text) else text[1:]


def unseen_gap(bins: DiagnosticBins) -> float:
    """Gap that a tenth of the rows could have and still go unseen in one sample of five.

    (c + 0.84)·√(v̄/(n/10)): c the largest z of any run that redraws show in 5 %, v̄ the mean of p(1 − p), n the
    effective number of rows.
    """
    limit = max(bins.over_limit, bins.under_limit)
    mean_variance = float(bins.variance.sum()) * bins.n_effective / float(bins.weight.sum()) ** 2
    return min(1.0, (limit + POWER_Z) * float(np.sqrt(mean_variance / (bins.n_effective / 10))))


def find_verdict(
    top: Profile,
    detection: Detection,
    pattern: Pattern,
    chance: ChanceRange,
    *,
    positive: Profile | None = None,
    level: float = 0.95,
) -> Verdict:
    """The verdict on a model.

    Parameters
    ----------
    top, positive : Profile
        The confidence view, and the positive view of a binary model.
    chance : ChanceRange
        Of the shown bins; quoted where there are too few rows to judge.
    level : float
        Of the interval of the gap.
    """
    if top.n < MIN_ROWS:
        return Verdict("V0", _too_few(top, chance))
    gap = mean_gap(top, level)
    if top.view != "top_label":
        return _other_view(top, detection, gap, level)
    if pattern.name in _ALWAYS:
        return Verdict("V3", _ALWAYS[pattern.name](pattern))
    if not detection.detected:
        return Verdict("V1", _fits(top, detection.bins, gap, level))
    gaps = [gap.value] + ([mean_gap(positive, level).value] if positive is not None else [])
    if _is_small(detection.bins, gaps):
        return Verdict("V2", _small(gaps))
    return _differs(top, detection, pattern, gap, level)


def _differs(top: Profile, detection: Detection, pattern: Pattern, gap: Estimate, level: float) -> Verdict:
    if pattern.name in _TEXT:
        return Verdict("V3", _TEXT[pattern.name](pattern, top, detection.bins, gap, level))
    needed = pattern.evidence.get("rows_needed")
    many = f", about {needed:,} for a difference of this size" if needed else ""
    return Verdict("V4", f"The claims and the outcomes differ, but these rows do not show where. More rows are needed{many}.")


def _other_view(profile: Profile, detection: Detection, gap: Estimate, level: float) -> Verdict:
    """On a profile of the positive or a class view alone, where no pattern is judged."""
    average = f"average gap {points(gap.value, signed=True)} points ({_interval(gap, level)})"
    counts = f"{_counted(profile.mean_confidence, profile)} events expected, {_counted(profile.accuracy, profile)} happened; {average}."
    if detection.detected:
        sign = "≤" if detection.p_value <= LEAST_P else "="
        return Verdict("V4", f"The claims and the outcomes differ (p {sign} {detection.p_value:.2g}): {counts}")
    return Verdict("V1", f"These {profile.n:,} predictions fit what the model claims: {counts}")


def advised(pattern: Pattern, verdict: Verdict) -> Pattern:
    """The pattern with the remedy that fits its verdict: a small difference needs none."""
    if verdict.level != "V2":
        return pattern
    return replace(pattern, remedy="Probably none: the difference is small. Check again with rows of its own before changing the scores.")


def _too_few(top: Profile, chance: ChanceRange) -> str:
    return f"Too few rows to judge (n = {top.n:,}). At this size a calibrated model could show an ECE of up to {chance.p95:.2f}."


def _interval(gap: Estimate, level: float, *, flip: bool = False) -> str:
    """The ends of the interval in points; ``flip`` gives them as overconfidence."""
    if gap.low is None or gap.high is None:
        return "no interval from these rows"
    low, high = (-gap.high, -gap.low) if flip else (gap.low, gap.high)
    signed = not flip and low < 0 < high
    return f"{percent(level)} interval {points(low, signed=signed or low < 0)} to {points(high, signed=signed or high < 0)}"


def confidence_range(low: float, high: float) -> str:
    """A range of confidences in whole percent: "90–95%", "80%"."""
    first, last = f"{100 * low:.0f}", f"{100 * high:.0f}"
    return f"{first}%" if first == last else f"{first}–{last}%"


def _fits(top: Profile, bins: DiagnosticBins, gap: Estimate, level: float) -> str:
    expected, right = _counted(top.mean_confidence, top), _counted(top.accuracy, top)
    return (
        f"These {top.n:,} predictions fit what the model claims: it expected {expected} to be right, {right} were. "
        f"Average gap {points(gap.value, signed=True)} points ({_interval(gap, level)}). This does not show that each range is right: "
        f"an error of up to {points(unseen_gap(bins))} points in a tenth of the rows could go unseen."
    )


def _counted(share: float, profile: Profile, rows: int | None = None) -> str:
    """A share of the rows as their number; as a share of the weight where rows carry weights, since no rows can be counted then."""
    return f"{percent(share)} by weight" if profile.weighted else f"{share * (profile.n if rows is None else rows):,.0f}"


def _is_small(bins: DiagnosticBins, gaps: list[float]) -> bool:
    if max(abs(g) for g in gaps) >= _SMALL:
        return False
    return over_run(bins) is None and under_run(bins) is None and all(r.error_ratio_low < 2 for r in runs(bins))


def _small(gaps: list[float]) -> str:
    gap = max(gaps, key=abs)
    if len(gaps) > 1 and abs(gaps[0]) < abs(gap):
        word, what, where = ("fewer" if gap < 0 else "more"), "events", "in the positive view, "
    else:
        word, what, where = ("more" if gap < 0 else "fewer"), "errors", ""
    return f"A difference is measurable but small: {where}about {abs(100 * gap):.1f} {word} {what} per 100 predictions than claimed."


def _sure(run: Run, top: Profile) -> str:
    """A range in frequencies."""
    where = f"{confidence_range(run.low, run.high)} confidence"
    right, expected = _counted(run.accuracy, top, run.count), _counted(run.confidence, top, run.count)
    return f"Of {run.count:,} predictions made at {where}, {right} were right; about {expected} would be expected."


def _uniform(pattern: Pattern, top: Profile, bins: DiagnosticBins, gap: Estimate, level: float) -> str:
    over = pattern.name == "uniform_overconfidence"
    amount, ends = points(gap.value), _interval(gap, level, flip=over)
    off = f"{amount} points too sure ({ends})" if over else f"not sure enough by {amount} points ({ends})"
    both = f"; {'too sure' if over else 'not sure enough'} in both halves of its rows, the less sure and the surer"
    return (
        f"It says {percent(top.mean_confidence)} on average and is right {percent(top.accuracy)} of the time: {off}. "
        f"Per 100 predictions it expects {100 * (1 - top.mean_confidence):.0f} errors, {100 * (1 - top.accuracy):.0f} happened"
        f"{both if len(bins.count) > 1 else ''}."
    )


def _local(pattern: Pattern, top: Profile, bins: DiagnosticBins, gap: Estimate, level: float) -> str:
    del gap, level, bins
    over = pattern.name == "local_overconfidence"
    run: dict[str, Any] = pattern.evidence["over" if over else "under"]
    n = run["count"]
    expected, found = _counted(1 - run["confidence"], top, n), _counted(1 - run["accuracy"], top, n)
    return (
        f"{'Too sure' if over else 'Not sure enough'} at {confidence_range(run['low'], run['high'])} confidence: "
        f"{expected} errors expected, {found} found among {n:,} predictions. No sign of it elsewhere."
    )


def _crossing(pattern: Pattern, top: Profile, bins: DiagnosticBins, gap: Estimate, level: float) -> str:
    del gap, level
    near = f"{100 * pattern.evidence['crosses_near']:.0f}%"
    worst = min((r for r in runs(bins)), key=lambda r: r.z)
    return f"Too sure in some ranges, not sure enough in others: the curve crosses the diagonal near {near}. {_sure(worst, top)}"


def _shift(pattern: Pattern, top: Profile, bins: DiagnosticBins, gap: Estimate, level: float) -> str:
    del bins, gap, level
    expected, events = pattern.evidence["expected_events"], pattern.evidence["events"]
    word = "overstated" if expected > events else "understated"
    predicted, happened = (_counted(x / top.n, top) for x in (expected, events))
    return f"In the positive view, risks are {word} on the whole: {predicted} events predicted, {happened} happened."


def _extreme(pattern: Pattern) -> str:
    e = pattern.evidence
    return (
        f"{100 * e['share_at_95']:.0f} of 100 predictions claim at least 95%. Of those, {_of_100(e['wrong'])} in 100 were wrong; "
        f"the model allows for {_of_100(e['expected_wrong'])}."
    )


def _of_100(share: float) -> str:
    return f"{100 * share:.0f}" if 100 * share >= 2 else f"{100 * share:.1f}" if 100 * share >= 0.1 else f"{100 * share:.2g}"


def _collapse(pattern: Pattern) -> str:
    e = pattern.evidence
    like = "a coin toss" if e["n_classes"] == 2 else "an even guess"
    share = e["share_near_even"]
    first = f"{100 * share:.0f} of 100 predictions are close to {like}."
    if share < 0.6:
        first = f"Nearly all predictions carry the same confidence, about {percent(e['median'])}."
    gap = e["gap"]
    if gap["low"] is not None and (gap["low"] > 0 or gap["high"] < 0):
        word = "more" if gap["low"] > 0 else "less"
        return f"{first} Over all rows the model is right {points(gap['value'])} points {word} often than it says."
    return f"{first} The scores are honest but uninformative."


_ALWAYS = {"extreme_overconfidence": _extreme, "confidence_collapse": _collapse}
_TEXT = {
    "uniform_overconfidence": _uniform,
    "uniform_underconfidence": _uniform,
    "local_overconfidence": _local,
    "local_underconfidence": _local,
    "non_uniform_overconfidence": _crossing,
    "shifted": _shift,
}
