"""Forest plots: one named row each, a point with its horizontal interval, beside a line of no difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Protocol

from calibcore.inference.intervals import Estimate
from calibcore.plot.frame import LINE, MARGINS, SIDE
from calibcore.plot.marks import NEXT_LINE, Axis, Chart, Format, Intervals, Label, Mark, Over, Points, Rule, Table
from calibcore.plot.palette import Role
from calibcore.plot.wording import SHORT, difference, interval_words, level_percent, listed, share, shortened, view_words

__all__ = ["Row", "Sheet", "direction", "forest", "nothing", "off_zero", "tip"]

_ROW, _TALL = 28, 36  # pixels from one row to the next: enough for a pointer, and for names in two lines
_SIDE = 0.2  # least part of the axis on either side of the line
_NARROW, _LETTER = 264, 6.6  # pixels of a telephone's width less margins, and of a letter
_PAD = 0.06  # of the axis, beyond the farthest interval


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a forest plot.

    Attributes
    ----------
    name : str
        In full; the picture may show less.
    estimate : Estimate or None
        None where there is nothing to draw.
    tooltip : tuple of str
    id : int
        Told when the point is clicked.
    role : Role
    said : str
        Words in place of what is missing: the value, or its interval; such a point is hollow.
    short : str
        Name on the picture; by default the first letters of the whole name.
    """

    name: str
    estimate: Estimate | None
    tooltip: tuple[str, ...]
    id: int
    role: Role = "ink"
    said: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a forest plot says besides its rows.

    Attributes
    ----------
    kind, title : str
    measure : str
        Title of the axis.
    sides : tuple of str
        What lies left and right of the line, for instance ("← better", "worse →").
    line : str
        What stands at the line.
    alt, caption : str
    table : Table
    format : {"points", "number"}
    """

    kind: str
    measure: str
    sides: tuple[str, str]
    line: str
    alt: str
    caption: str
    table: Table
    format: Format = "number"
    title: str = ""


def forest(sheet: Sheet, rows: Sequence[Row], *, rules: Sequence[Rule] = (), behind: Sequence[Intervals] = (), width: int = SIDE) -> Chart:
    """A forest plot; the first row is at the top.

    Parameters
    ----------
    sheet : Sheet
    rows : sequence of Row
    rules : sequence of Rule
        More vertical lines.
    behind : sequence of Intervals
        Bars behind the points, from 0, where the axis then starts; the first row lies at ``len(rows) - 1``.
    width : int
        In pixels; the height follows from the number of rows.
    """
    if not rows:
        return nothing(sheet, "Nothing to draw.", width=width)
    ends = [v for m in behind for v in (*m.low, *m.high)]
    low, high = _ends(rows, (*rules, *(Rule("ink", x=v) for v in ends)), from_zero=bool(behind))
    top = len(rows) - 1
    names = tuple(_broken(r.short or r.name) for r in reversed(rows))
    marks: list[Mark] = [*behind, *rules, Rule("diagonal", x=0.0, text=sheet.line)]
    at = [(top - k, row, row.estimate) for k, row in enumerate(rows)]
    marks.extend(_intervals(at))
    marks.extend(_points(at))
    marks.extend(_said(at, low, high))
    marks += _sides(sheet, names, 1 + max((r.level for r in rules), default=0 if sheet.line else -1))
    levels = max((m.level for m in marks if isinstance(m, Rule | Over)), default=0)
    row = _TALL if any(NEXT_LINE in name for name in names) else _ROW
    height = round(MARGINS["t"] + MARGINS["b"] + LINE * levels + row * (len(rows) + 0.4))
    y = Axis("", -0.7, top + 0.7, names=names)
    x = Axis(sheet.measure, low, high, sheet.format)
    return Chart(sheet.kind, x, y, tuple(marks), sheet.alt, sheet.caption, sheet.table, width, height, sheet.title)


def _broken(name: str) -> str:
    """A name in two lines at most."""
    text = shortened(" ".join(name.split()) or name, 2 * SHORT)
    if len(text) <= SHORT:
        return text
    lines = wrap(text, SHORT, max_lines=2, placeholder="…")
    return NEXT_LINE.join(lines)


def _sides(sheet: Sheet, names: Sequence[str], level: int) -> list[Mark]:
    """What lies left and right of the line, above the plot, where nothing else is; in two lines where one is too short."""
    left, right = sheet.sides
    room = _NARROW - 7 * max(len(line) for name in names for line in name.split(NEXT_LINE))
    apart = _LETTER * len(left + right) > room
    found: list[Mark] = [Over(left, "left", level + apart)] if left else []
    return [*found, *([Over(right, "right", level)] if right else [])]


def nothing(sheet: Sheet, words: str, *, width: int = SIDE) -> Chart:
    """A chart that only says why there is nothing to draw."""
    y = Axis("", -0.7, 0.7, names=("",))
    x = Axis(sheet.measure, -1.0, 1.0, sheet.format, names=("",))
    label = Label(0.0, 0.0, words, anchor="center middle")
    return Chart(sheet.kind, x, y, (label,), sheet.alt, sheet.caption, sheet.table, width, 130, sheet.title)


def direction(estimate: Estimate) -> Role:
    """Role of a gap by where its interval lies: below 0 "over", above it "under", else "within"."""
    if estimate.high is not None and estimate.high < 0:
        return "over"
    return "under" if estimate.low is not None and estimate.low > 0 else "within"


class Part(Protocol):
    """A group or a period, as charts tell of it."""

    @property
    def name(self) -> str: ...
    @property
    def n(self) -> int: ...
    @property
    def accuracy(self) -> float: ...
    @property
    def mean_confidence(self) -> float: ...
    @property
    def gap(self) -> Estimate: ...


def off_zero(parts: Sequence[Part], view: str) -> str:
    """Which parts have an interval on one side of 0, by name; that this shows nothing where none has."""
    words = view_words(view)
    sides = ((words.over, "over"), (words.under, "under"))
    found = [f"{word} in {listed(names)}" for word, role in sides if (names := [p.name for p in parts if direction(p.gap) == role])]
    return "; ".join(found) or "every interval holds 0, which does not show that there is no gap"


def tip(part: Part, view: str, level: float) -> tuple[str, ...]:
    """A part's tooltip; its interval is one of several that hold at once at ``level``."""
    ends = interval_words(part.gap, in_points=True)
    return (
        part.name,
        f"says {share(part.mean_confidence)} on average",
        f"{view_words(view).happened} {share(part.accuracy)} of {part.n:,} rows",
        f"gap {difference(part.gap.value, in_points=True)} points",
        f"interval {ends} points; all intervals hold at once at {level_percent(level)}" if ends else "no interval",
    )


_Placed = Sequence[tuple[int, Row, Estimate | None]]


def _ends(rows: Sequence[Row], rules: Sequence[Rule], *, from_zero: bool = False) -> tuple[float, float]:
    """Ends of the axis: every interval and line, with 0 well inside, or at its start."""
    found = [r.x for r in rules if r.x is not None]
    for estimate in (r.estimate for r in rows):
        if estimate is not None:
            found += [v for v in (estimate.value, estimate.low, estimate.high) if v is not None]
    low, high = min([*found, 0.0]), max([*found, 0.0])
    if low == high:
        return (0.0 if from_zero else -0.01), 0.01
    pad = _PAD * (high - low)
    if from_zero:
        return 0.0, high + pad
    low, high = low - pad, high + pad
    share = _SIDE / (1 - _SIDE)
    return min(low, -share * high), max(high, -share * low)


def _intervals(at: _Placed) -> list[Mark]:
    """One mark for each role, so that a line has the colour of its point."""
    marks: list[Mark] = []
    for role in dict.fromkeys(row.role for _, row, _ in at):
        ends = [
            (float(y), e.low, e.high) for y, row, e in at if row.role == role and e is not None and e.low is not None and e.high is not None
        ]
        if ends:
            y, low, high = zip(*ends, strict=True)
            marks.append(Intervals(y, low, high, role))
    return marks


def _points(at: _Placed) -> list[Mark]:
    drawn = [(y, row, e) for y, row, e in at if e is not None]
    if not drawn:
        return []
    return [
        Points(
            tuple(e.value for _, _, e in drawn),
            tuple(float(y) for y, _, _ in drawn),
            tuple(row.role for _, row, _ in drawn),
            tuple(bool(row.said) for _, row, _ in drawn),
            tuple(row.tooltip for _, row, _ in drawn),
            tuple(row.id for _, row, _ in drawn),
            name="estimate",
        )
    ]


def _said(at: _Placed, low: float, high: float) -> list[Mark]:
    """Words for what is missing: at the line, or beside the point on the side with more room."""
    marks: list[Mark] = []
    for y, row, e in at:
        if not row.said:
            continue
        if e is None:
            marks.append(Label(0.0, float(y), row.said, anchor="center middle"))
        else:
            right = e.value < (low + high) / 2
            beside = e.value + 0.03 * (high - low) * (1 if right else -1)
            marks.append(Label(beside, float(y), row.said, anchor=f"{'left' if right else 'right'} middle"))
    return marks
