"""What would change the pattern that was found: the next one, and the evidence that it lacks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from calibcore.advice.patterns import MIN_ROWS, PatternName, Run, runs
from calibcore.advice.verdict import confidence_range
from calibcore.analysis import Analysis
from calibcore.checks import rows_text
from calibcore.plot.wording import difference

__all__ = ["would_change"]

_LEAST = 0.02  # a gap below that is no pattern
_SIDES = {"over": "too sure", "under": "not sure enough"}


def would_change(a: Analysis) -> tuple[str, ...]:
    """What other rows would have to show for another pattern, one line each.

    Parameters
    ----------
    a : Analysis
    """
    if a.verdict.level == "V2":
        return ("A gap of 2 points, or a range that is 2 points off beyond chance, would be more than small.", *_both_sides(a))
    return tuple(_LACKS[a.pattern.name](a))


def _strongest(a: Analysis, side: str) -> Run:
    found = runs(a.detection.bins)
    return min(found, key=lambda r: r.z) if side == "over" else max(found, key=lambda r: r.z)


def _run_text(run: Run | dict[str, Any]) -> str:
    """One range with its rows and gap."""
    of = run if isinstance(run, dict) else {k: getattr(run, k) for k in ("low", "high", "count", "gap")}
    where = confidence_range(of["low"], of["high"])
    return f"{where} confidence ({rows_text(of['count'])}, gap {difference(of['gap'], in_points=True)} points)"


def _lacks(a: Analysis, side: str) -> str | None:
    """The range that comes nearest on one side, and what it takes; None where no range leans to it."""
    run = _strongest(a, side)
    if run.gap >= 0 if side == "over" else run.gap <= 0:
        return None
    return f"{_run_text(run)}; it takes {_needed(a, run, side)}"


def _needed(a: Analysis, run: Run, side: str) -> str:
    """The gap from which on the range would count, with as many rows: 2 points, or what chance leaves where that is more."""
    bins = a.detection.bins
    limit = bins.over_limit if side == "over" else bins.under_limit
    beyond_chance = limit * abs(run.gap / run.z) if run.z and math.isfinite(run.z) else 0.0
    gap = max(_LEAST, beyond_chance)
    return f"{difference(-gap if side == 'over' else gap, in_points=True)} points"


def _both_sides(a: Analysis) -> list[str]:
    found = [(word, _lacks(a, side)) for side, word in _SIDES.items()]
    return [f"Nearest to “{word}”: {lacks}." for word, lacks in found if lacks]


def _rows_needed(a: Analysis) -> list[str]:
    needed = a.pattern.evidence.get("rows_needed")
    return [f"About {needed:,} rows like these would name the range, four times in five."] if needed else []


def _crossing(a: Analysis, side: str) -> str:
    start = f"A range that is {_SIDES[side]} would make this a curve that crosses the diagonal."
    lacks = _lacks(a, side)
    return f"{start} The nearest is {lacks}." if lacks else f"{start} No range leans that way."


def _halves(a: Analysis) -> list[str]:
    halves = a.pattern.evidence.get("halves_z")
    if not halves or None in halves or len(a.detection.bins.count) == 1:
        return []
    if a.pattern.name.startswith("uniform"):
        return ["If the claims fitted in one half of its rows, the less sure or the surer, it would be a fault of one range."]
    word = _SIDES["over" if "overconfidence" in a.pattern.name else "under"]
    return [f"If it were {word} in both halves of its rows, the less sure and the surer, it would be no fault of one range."]


def _non_uniform(a: Analysis) -> list[str]:
    e = a.pattern.evidence
    return [
        f"Were {_run_text(e['under'])} within chance, the model would be overconfident only.",
        f"Were {_run_text(e['over'])} within chance, it would be underconfident only.",
    ]


def _extreme(a: Analysis) -> list[str]:
    share = 100 * a.pattern.evidence["share_at_95"]
    return [f"With fewer than 60 of 100 predictions at 95% or more (now {share:.0f}) the pattern would be judged range by range."]


def _collapse(a: Analysis) -> list[str]:
    e = a.pattern.evidence
    limit, share = f"{100 * e['limit']:.0f}%", 100 * e["share_near_even"]
    if share < 60:
        return ["A wider spread of confidences would let the pattern be judged range by range."]
    return [f"With fewer than 60 of 100 predictions at {limit} or less (now {share:.0f}) the pattern would be judged range by range."]


def _shifted(_: Analysis) -> list[str]:
    return [
        "If claims that are too extreme explained these rows better than a shift of all claims, the pattern would be judged range by range."
    ]


def _one_sided(a: Analysis) -> list[str]:
    return [_crossing(a, "under" if "overconfidence" in a.pattern.name else "over"), *_halves(a)]


def _too_few(a: Analysis) -> list[str]:
    return [f"A verdict needs {MIN_ROWS} rows; there {'is' if a.n == 1 else 'are'} {a.n:,}."]


def _none(a: Analysis) -> list[str]:
    return [f"A difference is called one from p = 0.05 down; here p = {a.detection.p_value:.2g}.", *_both_sides(a)]


def _unclear(a: Analysis) -> list[str]:
    return [*_rows_needed(a), *_both_sides(a)]


_LACKS: dict[PatternName, Callable[[Analysis], list[str]]] = {
    "too_few_rows": _too_few,
    "none_detected": _none,
    "shifted": _shifted,
    "extreme_overconfidence": _extreme,
    "confidence_collapse": _collapse,
    "non_uniform_overconfidence": _non_uniform,
    "uniform_overconfidence": _one_sided,
    "uniform_underconfidence": _one_sided,
    "local_overconfidence": _one_sided,
    "local_underconfidence": _one_sided,
    "unclear": _unclear,
}
