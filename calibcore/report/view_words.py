"""What another view than the confidence view shows of a model whose verdict was made there."""

from __future__ import annotations

from collections.abc import Callable

from calibcore.advice.patterns import Run, beyond_chance
from calibcore.advice.verdict import confidence_range
from calibcore.analysis import Analysis
from calibcore.inference.intervals import mean_gap
from calibcore.plot.wording import difference
from calibcore.profile import Profile
from calibcore.report.tables import plain

__all__ = ["below_headline", "below_zero", "event_of", "in_this_view", "judged_elsewhere", "judged_text"]

_SAID = "oo sure in some ranges, not sure enough in others: "  # by the headline of that pattern
_TOO = {"over": "too high", "under": "too low"}


def event_of(a: Analysis) -> str | None:
    """Name of the class whose probability the view judges; None in the confidence view, which judges no class of its own."""
    if a.view == "top_label":
        return None
    return plain(a.positive_class or "positive" if a.view == "positive" else a.view.removeprefix("class:"))


def below_zero(view: str) -> str:
    """What a gap below zero means in a view."""
    return "a gap below zero is overconfident" if view == "top_label" else "a gap below zero: on average its probabilities are too high"


def judged_elsewhere(a: Analysis) -> bool:
    """Whether the verdict's numbers are of another view than the one that is shown; a reduced file may hold one view alone."""
    shown = "positive" if "in the positive view" in a.verdict.text.casefold() else "top_label"
    return a.view != shown and "top_label" in a.views and a.verdict.level != "V0"


def judged_text(a: Analysis) -> str:
    """The verdict; where another view is shown it says of which view its numbers are."""
    text = a.verdict.text
    if not judged_elsewhere(a) or "in the positive view" in text.casefold():
        return text
    if a.verdict.level == "V4":  # the test looked at both views
        return text.replace("these rows do not show where", "in the Confidence view these rows do not show where")
    return f"In the Confidence view, {text[0].lower()}{text[1:]}"


def below_headline(a: Analysis) -> str:
    """The verdict below its headline: what the headline says is not said again."""
    text = judged_text(a)
    if a.verdict.level == "V0":
        return text.replace(f"Too few rows to judge (n = {a.n:,}). At this size", f"With n = {a.n:,}")
    start, said, rest = text.partition(_SAID)
    if not said:
        return text
    before = start[:-1]  # "" or "In the Confidence view, "
    return f"{before}{rest}" if before else f"{rest[0].upper()}{rest[1:]}"


def in_this_view(a: Analysis, name: Callable[[str], str] = str) -> str | None:
    """Which probabilities are too high and which too low in a view that is not the verdict's, and what that leaves on average.

    Parameters
    ----------
    a : Analysis
    name : function
        The name of a class as it is shown.

    Returns
    -------
    str or None
        None in the verdict's own view, and where the verdict finds no difference.

    Notes
    -----
    A range is named by the rule for patterns (`calibcore.advice.patterns.find_pattern`), applied to the profile of this view:
    beyond what 95 of 100 redraws show in any range, and two points off or more; as far as its diagnostic bins lean one way.  No
    setting changes it but the view.
    """
    if not judged_elsewhere(a) or not a.detection.detected:
        return None
    profile: Profile = a.measures["cumulative"].profile
    over, under = beyond_chance(profile)
    event = event_of(a)
    start = (
        "In this view, of the confidence in the predicted class,"
        if event is None
        else f"In this view, of the probability of “{name(event)}”,"
    )
    average = f"the average gap is {difference(profile.accuracy - profile.mean_confidence, in_points=True)} points"
    if over is not None and under is not None:
        return f"{start} {_both(over, under)}: {_cancel(profile)} {average}."
    if over is None and under is None:
        return f"{start} no range is beyond chance and two points off; {average}."
    side, run, other = ("over", over, "low") if over is not None else ("under", under, "high")
    assert run is not None
    where = f"values of {confidence_range(run.low, run.high)} are {_TOO[side]}, by {_size(run)} points"
    return f"{start} {where}; no range that is too {other} is beyond chance; {average}."


def _size(run: Run) -> str:
    return difference(abs(run.gap), in_points=True).removeprefix("+")


def _both(over: Run, under: Run) -> str:
    """Both ranges, the lower one first; one can lie within the other."""
    (first, side), (second, other) = sorted([(over, "over"), (under, "under")], key=lambda found: (found[0].low, -found[0].high))
    one, two = (confidence_range(run.low, run.high) for run in (first, second))
    if second.high <= first.high:
        return f"values of {one} are {_TOO[side]} on average, but those of {two} {_TOO[other]}"
    return f"low values ({one}) are {_TOO[side]} and high ones ({two}) {_TOO[other]}"


def _cancel(profile: Profile) -> str:
    """Whether errors in both directions leave an average gap that chance explains (by a 95 % interval, whatever level is shown)."""
    gap = mean_gap(profile)
    if gap.low is None or gap.high is None:
        return "they counter each other, and"
    return "the two cancel, so" if gap.low <= 0 <= gap.high else "the two cancel in part, and"
