"""What a chart is made of, as plain data: marks, axes and a table.  Renderers turn it into a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from calibcore.plot.palette import Role

__all__ = [
    "NEXT_LINE",
    "Axis",
    "Band",
    "Bars",
    "Chart",
    "Highlight",
    "Intervals",
    "Label",
    "Line",
    "Mark",
    "Over",
    "Points",
    "Ribbon",
    "Rule",
    "Table",
    "Ticks",
    "Whiskers",
]

Numbers = tuple[float, ...]
Tooltips = tuple[tuple[str, ...], ...]
Format = Literal["percent", "points", "number", "count"]
NEXT_LINE = "\u2028"  # where a name on an axis goes on in a second line


@dataclass(frozen=True, slots=True)
class Line:
    """Joined points, such as the diagonal."""

    x: Numbers
    y: Numbers
    role: Role
    dash: str = "solid"
    width: float = 1.5
    name: str | None = None
    tooltips: Tooltips = ()


@dataclass(frozen=True, slots=True)
class Points:
    """Markers; a hollow one stands on few rows.

    Attributes
    ----------
    x, y, roles, hollow, tooltips, ids
        One entry for each marker; ``ids`` are indices of bins.
    outlined : int or None
        Id of the marker that is selected.
    visible : bool
        False for markers that only give a pointer something large enough to meet.
    """

    x: Numbers
    y: Numbers
    roles: tuple[Role, ...]
    hollow: tuple[bool, ...]
    tooltips: Tooltips
    ids: tuple[int, ...]
    symbol: str = "circle"
    size: float = 10
    name: str | None = None
    outlined: int | None = None
    visible: bool = True


@dataclass(frozen=True, slots=True)
class Bars:
    """Vertical bars from ``base`` to ``base + height``, hatched so that colour is not the only sign."""

    x: Numbers
    base: Numbers
    height: Numbers
    width: Numbers
    roles: tuple[Role, ...]
    hatches: tuple[str, ...]
    tooltips: Tooltips
    ids: tuple[int, ...]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Band:
    """A range of y over each interval of x from ``lower`` to ``upper``, drawn as steps; neighbours touch."""

    lower: Numbers
    upper: Numbers
    low: Numbers
    high: Numbers
    role: Role = "band"
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Ribbon:
    """A range of y along joined points."""

    x: Numbers
    low: Numbers
    high: Numbers
    role: Role = "band"
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Whiskers:
    """Vertical intervals with end strokes."""

    x: Numbers
    low: Numbers
    high: Numbers
    role: Role = "ink"
    name: str | None = None
    width: float = 1.5


@dataclass(frozen=True, slots=True)
class Intervals:
    """Horizontal intervals, one at each y: the lines of a forest plot, with end strokes, or broad bars without."""

    y: Numbers
    low: Numbers
    high: Numbers
    role: Role = "ink"
    name: str | None = None
    width: float = 1.5
    caps: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line across the whole plot, at one x or one y, with words over it.

    Attributes
    ----------
    level : int
        Line of the words above the plot, from 0; a vertical rule runs up to its words.
    side : {"left", "right", ""}
        Where the words stand from the rule; by default on the side of the plot's middle.
    """

    role: Role
    x: float | None = None
    y: float | None = None
    dash: str = "solid"
    text: str = ""
    level: int = 0
    side: Literal["left", "right", ""] = ""


@dataclass(frozen=True, slots=True)
class Over:
    """Words above the plot at its left or right end, in a line of their own: ``level`` as of a `Rule`."""

    text: str
    side: Literal["left", "right"]
    level: int = 0
    role: Role = "text"


@dataclass(frozen=True, slots=True)
class Highlight:
    """A column over the whole height: the bin that is selected."""

    lower: float
    upper: float
    role: Role = "selected"


@dataclass(frozen=True, slots=True)
class Ticks:
    """Short strokes on the x axis: bins without rows."""

    x: Numbers
    role: Role = "within"


@dataclass(frozen=True, slots=True)
class Label:
    """Words at a place; ``anchor`` is the corner or side of the text that sits there."""

    x: float
    y: float
    text: str
    role: Role = "text"
    anchor: str = "left middle"
    pointer: tuple[float, float] | None = None


Mark = Line | Points | Bars | Band | Ribbon | Whiskers | Intervals | Rule | Over | Highlight | Ticks | Label


@dataclass(frozen=True, slots=True)
class Axis:
    """Title, fixed range and how numbers are written; ``log`` spaces powers of ten evenly.

    With ``names`` it is an axis of categories: ``names[k]`` stands at k, "" where there is none; `NEXT_LINE` in a name breaks
    it.  A vertical one runs upwards like any other, so a chart that reads from the top gives its first category the last place.
    """

    title: str
    low: float
    high: float
    format: Format = "percent"
    log: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """The chart's numbers as text."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """One picture.

    Attributes
    ----------
    kind : str
        Name of the chart in the registry.
    marks : tuple of Mark
        From back to front.
    alt : str
        The finding in one sentence.
    caption : str
        How to read it.
    width, height : int
        In pixels; a narrow screen may have less width.
    title : str
        What it is about, for a file's name.
    legend : bool
        Whether named lines, bands and whiskers are listed above the plot.
    equal : bool
        Whether one point across is as long as one point up, at any width: the diagonal runs at 45 degrees.
    """

    kind: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    alt: str
    caption: str
    table: Table
    width: int
    height: int
    title: str = ""
    legend: bool = False
    equal: bool = False
