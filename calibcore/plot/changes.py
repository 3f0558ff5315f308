"""What each recalibration changes in one score on held-out rows, with intervals."""

from __future__ import annotations

from calibcore.advice.recalibration import Remedies, Remedy
from calibcore.inference.intervals import Estimate
from calibcore.plot.differences import INLINE, LOWER, SCORE_NAMES, Score, cells, more_of, score_of
from calibcore.plot.forest import Row, Sheet, forest, nothing
from calibcore.plot.frame import SIDE
from calibcore.plot.marks import Chart, Rule, Table
from calibcore.plot.wording import difference, interval_words, level_percent

__all__ = ["changes"]

_STATUS = {"helps": "helps", "does_not_help": "does not help", "makes_it_worse": "makes it worse", "not_tried": "not tried"}


def changes(found: Remedies, score: Score = "log_loss", *, width: int = SIDE) -> Chart:
    """Forest plot of the changes by each recalibration, after − before, on rows that it was not fitted on.

    Parameters
    ----------
    found : Remedies
    score : {"log_loss", "brier", "gap"}
        For the gap a dotted line shows the change that would bring it to 0.
    width : int
        In pixels; the height follows from the number of recalibrations.
    """
    rows = [_row(r, score_of(r, score), score, found, k) for k, r in enumerate(found.tried)]
    points = score == "gap"
    sheet = Sheet(
        "changes",
        f"Change in {INLINE[score]}{' (points)' if points else ''}",
        (f"← {more_of(found.view)}", "less →") if points else ("← better", "worse →"),
        "no change",
        f"Change in {INLINE[score]} of {found.model} by recalibration, on held-out rows. {found.answer}",
        _caption(found, score),
        _table(found, score),
        "points" if points else "number",
        found.model,
    )
    if not rows:
        return nothing(sheet, "No recalibration was asked for.", width=width)
    return forest(sheet, rows, rules=_target(found) if points else (), width=width)


def _target(found: Remedies) -> tuple[Rule, ...]:
    return (Rule("ink", x=-found.before.gap, dash="dot", text="brings the gap to 0", level=1),)


def _row(r: Remedy, e: Estimate | None, score: Score, found: Remedies, place: int) -> Row:
    name = _capital(r.title)
    short = name.split(maxsplit=1)[0]
    if e is None:
        return Row(name, None, (), place, said="not tried", short=short)
    points = score == "gap"
    ends, unit = interval_words(e, in_points=points), " points" if points else ""
    lines = (
        name,
        f"{INLINE[score]} {difference(e.value, in_points=points)}{unit}",
        f"{level_percent(found.level)} interval {ends}{unit}" if ends else "no interval",
        f"by log loss or Brier score: {'these rows do not tell' if r.undecided else _STATUS[r.status]}",
    )
    return Row(name, e, lines, place, said="" if ends else "no interval", short=short)


def _capital(title: str) -> str:
    return title[0].upper() + title[1:]


def _caption(found: Remedies, score: Score) -> str:
    reading = {
        **LOWER,
        "gap": f"Before, the gap is {difference(found.before.gap, in_points=True)} points; the dotted line brings it to 0.",
    }[score]
    parts = [
        f"After minus before, with {level_percent(found.level)} intervals.",
        f"Each row was mapped by a fit that had not seen it ({found.folds} folds, {found.n:,} rows).",
        reading,
    ]
    if any(r.status != "not_tried" and (e := score_of(r, score)) is not None and e.low is None for r in found.tried):
        parts.append("Without an interval: what happened had got probability 0, which log loss cannot judge, so the Brier score decides.")
    parts += [r.answer for r in found.tried if r.status == "not_tried"]
    return " ".join(parts)


def _table(found: Remedies, score: Score) -> Table:
    points, name = score == "gap", SCORE_NAMES[score]
    header = (
        "Recalibration",
        f"{name} change{', points' if points else ''}",
        f"{level_percent(found.level)} interval",
        f"{name} before",
        f"{name} after",
        "In words",
    )
    return Table(header, tuple(_table_row(r, score, found, points=points) for r in found.tried))


def _table_row(r: Remedy, score: Score, found: Remedies, *, points: bool) -> tuple[str, ...]:
    e = score_of(r, score)
    before, after = (None if s is None else float(getattr(s, score)) for s in (found.before, r.after))
    levels = ("–" if v is None else difference(v, in_points=True) if points else f"{v:.4f}" for v in (before, after))
    return (
        _capital(r.title),
        *cells(e, in_points=points),
        *levels,
        r.answer,
    )
