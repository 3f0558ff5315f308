"""How each model differs from the baseline in one score, with intervals."""

from __future__ import annotations

from typing import Literal

from calibcore.analysis import Comparison
from calibcore.inference.comparison import Differences
from calibcore.inference.intervals import Estimate
from calibcore.plot.forest import Row, Sheet, forest, nothing
from calibcore.plot.frame import SIDE
from calibcore.plot.marks import Chart, Table
from calibcore.plot.wording import difference, interval_words, level_percent, listed, pairing_text, shortened

__all__ = ["INLINE", "LOWER", "SCORE_NAMES", "Score", "cells", "differences", "more_of", "score_of"]

Score = Literal["log_loss", "brier", "gap"]
INLINE: dict[Score, str] = {"log_loss": "log loss", "brier": "Brier score", "gap": "gap"}
LOWER = {k: f"Left of the line: a lower {INLINE[k]}, which is better." for k in ("log_loss", "brier")}
SCORE_NAMES: dict[Score, str] = {"log_loss": "Log loss", "brier": "Brier score", "gap": "Gap"}


def differences(comparison: Comparison, score: Score = "log_loss", *, width: int = SIDE) -> Chart:
    """Forest plot of the differences to the baseline, model − baseline.

    Parameters
    ----------
    comparison : Comparison
    score : {"log_loss", "brier", "gap"}
        Log loss and Brier score decide which model is better; a gap says only in which direction it errs.
    width : int
        In pixels; the height follows from the number of models.
    """
    found = [(d, score_of(d, score)) for d in comparison.differences]
    rows = [_row(d, e, score, comparison, k) for k, (d, e) in enumerate(found)]
    base, unit = shortened(comparison.baseline), " (points)" if score == "gap" else ""
    sheet = Sheet(
        "differences",
        f"{SCORE_NAMES[score]} minus that of {base}{unit}",
        (f"← {more_of(comparison.settings.view)}", "less →") if score == "gap" else ("← better", "worse →"),
        "no difference",
        _alt(found, score, comparison),
        _caption(found, score, comparison),
        _table(found, score, comparison),
        "points" if score == "gap" else "number",
        f"{SCORE_NAMES[score]} differences",
    )
    if not rows:
        return nothing(sheet, "Nothing to compare: one model only.", width=width)
    return forest(sheet, rows, width=width)


def score_of(found: object, score: Score) -> Estimate | None:
    """One score's difference; None where it cannot be had."""
    estimate: Estimate | None = getattr(found, score)
    return estimate


def more_of(view: str) -> str:
    """What a lower gap is called."""
    return "more overconfident" if view == "top_label" else "claims more"


def cells(e: Estimate | None, *, in_points: bool) -> tuple[str, str]:
    """A difference and its interval in a table; "–" where there is none."""
    if e is None:
        return "–", "–"
    return difference(e.value, in_points=in_points), interval_words(e, in_points=in_points) or "–"


_Found = list[tuple[Differences, Estimate | None]]


def _row(d: Differences, e: Estimate | None, score: Score, comparison: Comparison, place: int) -> Row:
    if e is None:
        return Row(d.model, None, (), place, said="not comparable")
    level, points = level_percent(comparison.settings.level), score == "gap"
    ends = interval_words(e, in_points=points)
    unit = " points" if points else ""
    lines = (
        d.model,
        f"{INLINE[score]} {difference(e.value, in_points=points)}{unit} against {comparison.baseline}",
        f"{level} interval {ends}{unit}" if ends else "no interval",
        pairing_text(d.pairing),
    )
    return Row(d.model, e, lines, place, said="" if ends else "no interval")


def _alt(found: _Found, score: Score, comparison: Comparison) -> str:
    what, base = SCORE_NAMES[score], comparison.baseline
    if not found:
        return f"{what} differences: {base} is the only model, so there is nothing to compare."
    more = more_of(comparison.settings.view)
    below, above = (more, more.replace("more", "less")) if score == "gap" else ("better", "worse")
    sorted_out: dict[str, list[str]] = {below: [], above: [], "not told apart": [], "without an interval": []}
    for d, e in found:
        sorted_out[_side(e, below, above)].append(d.model)
    parts = "; ".join(f"{words}: {listed(names)}" for words, names in sorted_out.items() if names)
    return f"{what} against {base}, by {level_percent(comparison.settings.level)} intervals: {parts}."


def _side(e: Estimate | None, below: str, above: str) -> str:
    if e is None or e.low is None or e.high is None:
        return "without an interval"
    return below if e.high < 0 else above if e.low > 0 else "not told apart"


def _caption(found: _Found, score: Score, comparison: Comparison) -> str:
    level = level_percent(comparison.settings.level)
    reading = {
        **LOWER,
        "gap": f"Negative: {more_of(comparison.settings.view)} than {comparison.baseline}. That is neither better nor worse by itself.",
    }[score]
    parts = [f"Each model minus {comparison.baseline}, with {level} intervals. {reading} An interval that holds 0 leaves it open."]
    if any(not d.pairing.paired for d, _ in found):
        parts.append("Models without the same rows are not paired, so their intervals are wider.")
    if any(e is None or e.low is None for _, e in found):
        parts.append("Without an interval nothing is decided.")
        parts += dict.fromkeys(note for d, e in found if e is None or e.low is None for note in d.notes)
    return " ".join(parts)


def _table(found: _Found, score: Score, comparison: Comparison) -> Table:
    points = score == "gap"
    unit = ", points" if points else ""
    header = (
        "Model",
        f"{SCORE_NAMES[score]} minus that of {comparison.baseline}{unit}",
        f"{level_percent(comparison.settings.level)} interval",
        "Rows compared",
    )
    rows = tuple(
        (
            d.model,
            *cells(e, in_points=points),
            pairing_text(d.pairing),
        )
        for d, e in found
    )
    return Table(header, rows)
