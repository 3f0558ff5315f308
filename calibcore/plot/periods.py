"""The gap over time, with intervals that hold at once."""

from __future__ import annotations

from calibcore.inference.periods import Period, Periods
from calibcore.plot.forest import Sheet, direction, nothing, off_zero, tip
from calibcore.plot.frame import SIDE
from calibcore.plot.marks import Axis, Chart, Label, Line, Mark, Points, Rule, Table, Whiskers
from calibcore.plot.wording import SHORT, difference, interval_words, level_percent, share, shortened, view_words

__all__ = ["periods"]

_TITLES = {"unit of time": "Time"}
_MOST_PLACES = 60  # places on the axis, so that a long gap between two periods does not squeeze the others
_TO = " to "


def periods(found: Periods, *, width: int = SIDE, height: int = 320) -> Chart:
    """Gap of each judged period; below 0 more is claimed than happened.

    Parameters
    ----------
    found : Periods
    width, height : int
        In pixels.
    """
    places = _places(found)
    drawn = [(places[p.name], p) for p in found.judged]
    title = "Gap in points"
    alt, caption, table = _alt(found), _caption(found, to_scale=_to_scale(found)), _table(found)
    if not drawn:
        sheet = Sheet("periods", title, ("", ""), "", alt, caption, table, "points")
        return nothing(sheet, f"No period has {found.minimum:,} rows.", width=width)
    reach, words = _reach(found), view_words(found.view)
    count = max(places.values()) + 1
    at = {place: p for p, place in ((p, places[p.name]) for p in found.periods if p.name in places)}
    names = tuple(_short(at[k].name) if k in at else "" for k in range(count))
    marks: tuple[Mark, ...] = (
        Rule("diagonal", y=0.0),
        *_joined(drawn),
        *_whiskers(drawn),
        _points(drawn, found),
        Label(-0.55, 0.97 * reach, words.under, anchor="left top"),
        Label(-0.55, -0.97 * reach, words.over, anchor="left bottom"),
    )
    x = Axis(_TITLES.get(found.step, found.step.capitalize()), -0.6, count - 0.4, names=names)
    return Chart("periods", x, Axis(title, -reach, reach, "points"), marks, alt, caption, table, width, height, "periods")


def _to_scale(found: Periods) -> bool:
    """Whether the positions are whole steps, few enough to have a place each."""
    positions = [p.position for p in found.periods if p.position is not None]
    return all(x == round(x) for x in positions) and max(positions, default=0.0) < _MOST_PLACES


def _places(found: Periods) -> dict[str, int]:
    """Place of each period that has a time: its step, so that empty steps show, or else its order."""
    timed = [p for p in found.periods if p.position is not None]
    if _to_scale(found):
        return {p.name: round(p.position) for p in timed if p.position is not None}
    return {p.name: k for k, p in enumerate(timed)}


def _short(name: str) -> str:
    """A period's name on the picture: of a long one from a time to a time, the first."""
    return f"{name.split(_TO, maxsplit=1)[0]} …" if len(name) > SHORT and _TO in name else shortened(name)


def _reach(found: Periods) -> float:
    ends = [v for p in found.judged for v in (p.gap.value, p.gap.low, p.gap.high) if v is not None]
    return 1.25 * max(*(abs(v) for v in ends), 0.01)


def _joined(drawn: list[tuple[int, Period]]) -> list[Mark]:
    """A thin line through neighbouring periods; it breaks where one is missing."""
    runs: list[list[tuple[int, Period]]] = []
    for place, p in drawn:
        if runs and runs[-1][-1][0] == place - 1:
            runs[-1].append((place, p))
        else:
            runs.append([(place, p)])
    return [Line(tuple(float(k) for k, _ in r), tuple(p.gap.value for _, p in r), "within", "solid", 1) for r in runs if len(r) > 1]


def _whiskers(drawn: list[tuple[int, Period]]) -> list[Mark]:
    marks: list[Mark] = []
    for role in dict.fromkeys(direction(p.gap) for _, p in drawn):
        ends = [
            (float(k), p.gap.low, p.gap.high)
            for k, p in drawn
            if direction(p.gap) == role and p.gap.low is not None and p.gap.high is not None
        ]
        if ends:
            x, low, high = zip(*ends, strict=True)
            marks.append(Whiskers(x, low, high, role))
    return marks


def _points(drawn: list[tuple[int, Period]], found: Periods) -> Points:
    order = {p.name: k for k, p in enumerate(found.periods)}
    return Points(
        tuple(float(k) for k, _ in drawn),
        tuple(p.gap.value for _, p in drawn),
        tuple(direction(p.gap) for _, p in drawn),
        tuple(p.gap.low is None for _, p in drawn),
        tuple(tip(p, found.view, found.level) for _, p in drawn),
        tuple(order[p.name] for _, p in drawn),
        name="gap",
    )


def _alt(found: Periods) -> str:
    judged = found.judged
    if not judged:
        none = "the only period lacks" if len(found.periods) == 1 else f"none of {len(found.periods):,} periods has"
        return f"Gap over time: {none} the {found.minimum:,} rows needed to judge it."
    begins, ends = (f"{difference(p.gap.value, in_points=True)} points in {p.name}" for p in (judged[0], judged[-1]))
    return f"Gap over time, from {begins} to {ends}: {off_zero(judged, found.view)}."


def _caption(found: Periods, *, to_scale: bool) -> str:
    parts = [found.text]
    if not to_scale:
        parts.append("Periods stand in order; the distances between them are not to scale.")
    if any(len(p.name) > SHORT and _TO in p.name for p in found.periods):
        parts.append("Periods are named by their first time.")
    return " ".join([*parts, "No alarm: looking again and again finds a change sooner or later.", *found.notes])


def _table(found: Periods) -> Table:
    words = view_words(found.view)
    rates = any(p.base_rate is not None for p in found.periods)
    header = (
        "Period",
        "Rows",
        f"Mean {words.predicted}",
        words.observed.capitalize() if found.view == "top_label" else "Share that happened",
        *(["Base rate"] if rates else []),
        "Gap (points)",
        f"Interval (all hold at once at {level_percent(found.level)})",
    )
    return Table(header, tuple(_table_row(p, rates=rates) for p in found.periods))


def _table_row(p: Period, *, rates: bool) -> tuple[str, ...]:
    rate = "–" if p.base_rate is None else share(p.base_rate)
    return (
        p.name,
        f"{p.n:,}",
        share(p.mean_confidence),
        share(p.accuracy),
        *([rate] if rates else []),
        difference(p.gap.value, in_points=True),
        interval_words(p.gap, in_points=True) or ("–" if p.judged else "not judged"),
    )
