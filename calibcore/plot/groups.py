"""The gap of each group of rows, with intervals that hold at once."""

from __future__ import annotations

from calibcore.inference.groups import Group, Groups
from calibcore.inference.outcome import LEAST_P
from calibcore.plot.forest import Row, Sheet, direction, forest, nothing, off_zero, tip
from calibcore.plot.frame import SIDE
from calibcore.plot.marks import Chart, Rule, Table
from calibcore.plot.wording import difference, interval_words, level_percent, share, view_words

__all__ = ["MOST_GROUPS", "groups"]

MOST_GROUPS = 20


def groups(found: Groups, *, overall: float | None = None, width: int = SIDE) -> Chart:
    """Forest plot of the gaps of the judged groups; below 0 more is claimed than happened.

    Parameters
    ----------
    found : Groups
    overall : float, optional
        Gap of all rows; by default it is taken from the groups where their rows have no weights, else not drawn.
    width : int
        In pixels; the height follows from the number of groups.

    Notes
    -----
    Of more than 20 judged groups the clearest are drawn (`Groups.clearest`), then those of the largest gaps; they stay in
    their order, and the table has them all.
    """
    drawn = _drawn(found)
    places = {g.name: k for k, g in enumerate(found.groups)}
    middle = _overall(found) if overall is None else overall
    words = view_words(found.view)
    sheet = Sheet(
        "groups",
        "Gap in points",
        (f"← {words.over}", f"{words.under} →"),
        "no gap",
        _alt(found),
        _caption(found, drawn, middle),
        _table(found),
        "points",
        found.column,
    )
    if not drawn:
        return nothing(sheet, f"No group has {found.minimum:,} rows.", width=width)
    rules = () if middle is None else (_rule(middle),)
    return forest(sheet, [_row(g, found, places[g.name]) for g in drawn], rules=rules, width=width)


def _rule(overall: float) -> Rule:
    return Rule("ink", x=overall, dash="dot", text=f"all rows {difference(overall, in_points=True)}", level=1)


def _drawn(found: Groups) -> tuple[Group, ...]:
    judged = found.judged
    if len(judged) <= MOST_GROUPS:
        return judged
    clear = {g.name: None for g in found.clearest}
    others = sorted((g for g in judged if g.name not in clear), key=lambda g: -abs(g.gap.value))
    kept = {*[*clear, *(g.name for g in others)][:MOST_GROUPS]}
    return tuple(g for g in judged if g.name in kept)


def _overall(found: Groups) -> float | None:
    """Gap of all rows: the mean of the groups' by their rows; None where rows are weighted, so that rows do not tell."""
    if any(g.weighted for g in found.groups):
        return None
    return sum(g.n * g.gap.value for g in found.groups) / sum(g.n for g in found.groups)


def _adjusted(g: Group) -> str:
    """The adjusted p-value; one that rests on the least that redraws can give is an upper bound."""
    if g.p_holm is None or g.p_value is None:
        return "–"
    return f"{'≤ ' if g.p_value <= LEAST_P else ''}{g.p_holm:.2g}"


def _row(g: Group, found: Groups, place: int) -> Row:
    adjusted = () if g.p_holm is None else (f"adjusted p {'' if _adjusted(g).startswith('≤') else '= '}{_adjusted(g)}",)
    said = "no interval" if g.gap.low is None else ""
    return Row(g.name, g.gap, (*tip(g, found.view, found.level), *adjusted), place, direction(g.gap), said)


def _alt(found: Groups) -> str:
    judged = found.judged
    if not judged:
        return f"Gap by {found.column}: {_none(len(found.groups))} the {found.minimum:,} rows needed to judge it."
    return f"Gap by {found.column}, {_count(len(judged), 'judged group')}: {off_zero(judged, found.view)}."


def _caption(found: Groups, drawn: tuple[Group, ...], overall: float | None) -> str:
    judged = len(found.judged)
    few = len(found.groups) - judged
    parts = [f"All intervals hold at once at {level_percent(found.level)} (Bonferroni-adjusted)."] if judged > 1 else []
    if len(drawn) < judged:
        parts.append(f"Drawn are the {len(drawn)} of {judged} judged groups that are clearest off; the table has all.")
    if few:
        have, are = ("has", "is") if few == 1 else ("have", "are")
        parts.append(f"{_count(few, 'group')} {have} fewer than {found.minimum:,} rows and {are} listed, not plotted.")
    if drawn and overall is not None:
        parts.append("Dotted line: the gap of all rows.")
    return " ".join(parts)


def _none(n: int) -> str:
    return "the only group lacks" if n == 1 else f"none of {n:,} groups has"


def _count(n: int, one: str) -> str:
    return f"{n:,} {one}{'' if n == 1 else 's'}"


def _table(found: Groups) -> Table:
    words = view_words(found.view)
    header = (
        found.column,
        "Rows",
        f"Mean {words.predicted}",
        words.observed.capitalize() if found.view == "top_label" else "Share that happened",
        "Gap (points)",
        f"Interval (all hold at once at {level_percent(found.level)})",
        "ECE",
        "By chance, 95th percentile",
        "Adjusted p",
    )
    return Table(header, tuple(_table_row(g) for g in found.groups))


def _table_row(g: Group) -> tuple[str, ...]:
    return (
        g.name,
        f"{g.n:,}",
        share(g.mean_confidence),
        share(g.accuracy),
        difference(g.gap.value, in_points=True),
        interval_words(g.gap, in_points=True) or ("–" if g.judged else "too few rows"),
        f"{g.ece:.4f}",
        "–" if g.chance is None else f"{g.chance.p95:.4f}",
        _adjusted(g),
    )
