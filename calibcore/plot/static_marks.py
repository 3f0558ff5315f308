"""Marks → Matplotlib's objects on an axes: the same geometry, colours and hatches as in the browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import ScaledTranslation

from calibcore.plot.frame import LINE
from calibcore.plot.geometry import in_picture, outlines
from calibcore.plot.marks import (
    Band,
    Bars,
    Chart,
    Highlight,
    Intervals,
    Label,
    Line,
    Mark,
    Over,
    Points,
    Ribbon,
    Rule,
    Ticks,
    Whiskers,
)
from calibcore.plot.palette import Role, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Look", "drawn", "legend_handles"]

_DASHES: dict[str, Any] = {  # in widths of the line
    "dash": (0, (4, 2.5)),
    "dot": (0, (1, 1.8)),
    "dashdot": (0, (4, 1.8, 1, 1.8)),
    "longdash": (0, (8, 3)),
}
_SYMBOLS = {"circle": "o", "square": "s", "triangle-up": "^", "triangle-down": "v", "diamond": "D", "cross": "P", "x": "X"}
_HATCHES = {"/": "///", "\\": "\\\\\\"}
_OPACITY = {Band: 0.2, Ribbon: 0.25, Highlight: 0.12}
_CAP = 8  # pixels of the stroke at an interval's end
_ANCHORS = {"middle": "center"}  # as Matplotlib says it
_WHERE = {"left": 0.0, "bottom": 0.0, "center": 0.5, "right": 1.0, "top": 1.0}  # in fractions of a text's box
_NOTHING = float("nan")
_BACK, _LINES, _WORDS = 0.4, 4.0, 6.0  # heights: behind the grid (at 0.5), over all data, over all lines
Colour = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Look:
    """On which background a chart stands, and by how much strokes and texts differ from the size that they have on a page."""

    dark: bool = False
    scale: float = 1.0

    def colour(self, role: Role, opacity: float = 1.0) -> Colour:
        """Red, green, blue and opacity of a role, from 0 to 1."""
        red, green, blue, alpha = to_rgba(colour(role, dark=self.dark), opacity)
        return red, green, blue, alpha

    def words(self, role: Role = "text", size: float = 12) -> dict[str, Any]:
        """Properties of a text; one that holds a name from a file is never a formula."""
        return {"color": self.colour(role), "fontsize": size * self.scale, "parse_math": False, "usetex": False}

    def stroke(self, role: Role, width: float, dash: str = "solid", opacity: float = 1.0) -> dict[str, Any]:
        """Properties of a line."""
        line = {"color": self.colour(role, opacity), "linewidth": width * self.scale, "linestyle": _DASHES.get(dash, "solid")}
        return {**line, "marker": "none", "dash_capstyle": "butt"}

    def caps(self, role: Role, marker: str, width: float = 1.5) -> dict[str, Any]:
        """Properties of short strokes across."""
        size = {"markersize": _CAP * self.scale, "markeredgewidth": width * self.scale}
        return {"color": self.colour(role), "linestyle": "none", "marker": marker, **size}


def drawn(ax: Axes, chart: Chart, look: Look) -> None:
    """Put all marks of a chart on an axes, from back to front."""
    for k, mark in enumerate(chart.marks):
        _DRAW[type(mark)](ax, mark, chart, look, 2 + k / 100)


def _line(ax: Axes, mark: Line, chart: Chart, look: Look, z: float) -> None:
    del chart
    ax.plot(mark.x, mark.y, zorder=z, **look.stroke(mark.role, mark.width, mark.dash))


def _points(ax: Axes, mark: Points, chart: Chart, look: Look, z: float) -> None:
    del chart
    if not mark.visible or not mark.x:
        return
    colours = [look.colour(r) for r in mark.roles]
    chosen = [i == mark.outlined for i in mark.ids]
    paper, edge = look.colour("nothing"), look.colour("selected")
    ax.scatter(
        mark.x,
        mark.y,
        s=(mark.size * look.scale) ** 2,
        marker=_SYMBOLS.get(mark.symbol, "o"),
        facecolors=[paper if h else k for h, k in zip(mark.hollow, colours, strict=True)],
        edgecolors=[edge if c else k if h else paper for c, k, h in zip(chosen, colours, mark.hollow, strict=True)],
        linewidths=[look.scale * (3 if c else 2 if h else 1.5) for c, h in zip(chosen, mark.hollow, strict=True)],
        clip_on=False,
        zorder=z,
    )


def _bars(ax: Axes, mark: Bars, chart: Chart, look: Look, z: float) -> None:
    floor = chart.y.low if chart.y.log else -float("inf")
    for x, base, height, width, role, hatch in zip(mark.x, mark.base, mark.height, mark.width, mark.roles, mark.hatches, strict=True):
        foot, top = max(base, floor), max(base + height, floor)
        # The colour of a hatch is the edge's, which itself has no width.
        edge = {"edgecolor": look.colour("nothing"), "linewidth": 0.0, "hatch": _HATCHES.get(hatch, hatch)}
        place = (x - width / 2, min(foot, top)), width, abs(top - foot)
        ax.add_patch(Rectangle(*place, facecolor=look.colour(role), zorder=z, **edge))


def _band(ax: Axes, mark: Band, chart: Chart, look: Look, z: float) -> None:
    ax.add_collection(PolyCollection(outlines(mark, chart.y.low), zorder=z, **_area(mark, look)), autolim=False)


def _ribbon(ax: Axes, mark: Ribbon, chart: Chart, look: Look, z: float) -> None:
    del chart
    outline = [*zip(mark.x, mark.low, strict=True), *reversed(list(zip(mark.x, mark.high, strict=True)))]
    if outline:
        ax.add_collection(PolyCollection([outline], zorder=z, **_area(mark, look)), autolim=False)


def _area(mark: Band | Ribbon, look: Look) -> dict[str, Any]:
    edge = look.colour(mark.role, 0.55) if isinstance(mark, Band) else "none"
    return {"facecolor": look.colour(mark.role, _OPACITY[type(mark)]), "edgecolor": edge, "linewidth": look.scale}


def _whiskers(ax: Axes, mark: Whiskers, chart: Chart, look: Look, z: float) -> None:
    del chart
    ax.plot(_twice(mark.x), _ends(mark), zorder=z, **look.stroke(mark.role, mark.width))
    ax.plot(_twice(mark.x), _ends(mark), zorder=z, **look.caps(mark.role, "_", mark.width))


def _intervals(ax: Axes, mark: Intervals, chart: Chart, look: Look, z: float) -> None:
    del chart
    ax.plot(_ends(mark), _twice(mark.y), zorder=z, **look.stroke(mark.role, mark.width))
    if mark.caps:
        ax.plot(_ends(mark), _twice(mark.y), zorder=z, **look.caps(mark.role, "|", mark.width))


def _twice(values: tuple[float, ...]) -> list[float]:
    """Each value for both ends of its interval; nothing joins one interval to the next."""
    return [x for v in values for x in (v, v, _NOTHING)]


def _ends(mark: Whiskers | Intervals) -> list[float]:
    return [x for ends in zip(mark.low, mark.high, strict=True) for x in (*ends, _NOTHING)]


def _ticks(ax: Axes, mark: Ticks, chart: Chart, look: Look, z: float) -> None:
    ax.plot(mark.x, [chart.y.low] * len(mark.x), clip_on=False, zorder=z, **look.caps(mark.role, "|", 2))


def _rule(ax: Axes, mark: Rule, chart: Chart, look: Look, z: float) -> None:
    stroke = look.stroke(mark.role, 1.5, mark.dash)
    if mark.x is None:
        ax.axhline(mark.y or 0.0, zorder=z + _LINES, **stroke)
        return
    ax.axvline(mark.x, zorder=z + _LINES, **stroke)
    if not mark.text:
        return
    side = mark.side or ("right" if mark.x < (chart.x.low + chart.x.high) / 2 else "left")
    # "annotation_clip" is about the point, which at an end of the axis may lie a rounding error outside.
    line: dict[str, Any] = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points", "annotation_clip": False}
    if mark.level:  # the line goes on up to its words
        ending = {"arrowstyle": "-", "shrinkA": 0, "shrinkB": 0, **{k: stroke[k] for k in ("color", "linewidth", "linestyle")}}
        ax.annotate("", (mark.x, 1), (0, LINE * mark.level * look.scale), **line, arrowprops=ending, zorder=z + _LINES)
    place = {"xy": (mark.x, 1), "xycoords": ax.get_xaxis_transform(), "ha": "left" if side == "right" else "right", "zorder": z + _WORDS}
    _above(ax, mark.text, mark.level, look, **place, **look.words())


def _over(ax: Axes, mark: Over, chart: Chart, look: Look, z: float) -> None:
    del chart
    place = {"xy": (0 if mark.side == "left" else 1, 1), "xycoords": "axes fraction", "ha": mark.side, "zorder": z + _WORDS}
    _above(ax, mark.text, mark.level, look, **place, **look.words(mark.role))


def _above(ax: Axes, text: str, level: int, look: Look, **place: Any) -> None:
    """Words above the plot, in one of several lines."""
    where: dict[str, Any] = {
        "xytext": (0, (2 + LINE * level) * look.scale),
        "textcoords": "offset points",
        "va": "bottom",
        "annotation_clip": False,
    }
    ax.annotate(in_picture(text), **where, **place)


def _highlight(ax: Axes, mark: Highlight, chart: Chart, look: Look, z: float) -> None:
    del chart
    ax.axvspan(mark.lower, mark.upper, facecolor=look.colour(mark.role, _OPACITY[Highlight]), linewidth=0, zorder=_BACK + z / 100)


def _label(ax: Axes, mark: Label, chart: Chart, look: Look, z: float) -> None:
    across, up = (_ANCHORS.get(a, a) for a in mark.anchor.split())
    box = {"facecolor": look.colour("nothing", 0.75), "edgecolor": "none", "pad": 2 * look.scale}
    text = {"ha": across, "va": up, "bbox": box, "annotation_clip": False, "zorder": z + _WORDS, **look.words(mark.role, 13)}
    words = in_picture(mark.text)
    if mark.x > chart.x.high:  # beside the plot
        beside: dict[str, Any] = {"xytext": (8 * look.scale, 0), "textcoords": "offset points"}
        ax.annotate(words, (1, mark.y), xycoords=ax.get_yaxis_transform(), **beside, **text)
        return
    # The box, not the text, has its corner at the place.
    corner = _WHERE[across], _WHERE[up]
    dx, dy = (3 * look.scale * (1 - 2 * c) for c in corner)
    place = ScaledTranslation(dx / 72, dy / 72, ax.figure.dpi_scale_trans)
    if mark.pointer is None:
        ax.annotate(words, (mark.x, mark.y), xycoords=ax.transData + place, **text)
        return
    thin = {"arrowstyle": "-", "linewidth": look.scale, "color": look.colour(mark.role), "relpos": corner}
    arrow = {**thin, "shrinkA": 0, "shrinkB": 6 * look.scale}
    ax.annotate(words, mark.pointer, (mark.x, mark.y), textcoords=ax.transData + place, arrowprops=arrow, **text)


_DRAW: dict[type[Mark], Callable[[Axes, Any, Chart, Look, float], None]] = {
    Band: _band,
    Bars: _bars,
    Highlight: _highlight,
    Intervals: _intervals,
    Label: _label,
    Line: _line,
    Over: _over,
    Points: _points,
    Ribbon: _ribbon,
    Rule: _rule,
    Ticks: _ticks,
    Whiskers: _whiskers,
}


def legend_handles(chart: Chart, look: Look) -> list[Line2D | Patch]:
    """What a legend shows: each named line, area and kind of interval once, in their order."""
    found: dict[str, Line2D | Patch] = {}
    for mark in chart.marks if chart.legend else ():
        if isinstance(mark, Line | Band | Ribbon | Whiskers | Intervals) and mark.name and mark.name not in found:
            found[mark.name] = _handle(mark, look, in_picture(mark.name))
    return list(found.values())


def _handle(mark: Line | Band | Ribbon | Whiskers | Intervals, look: Look, name: str) -> Line2D | Patch:
    if isinstance(mark, Line):
        return Line2D([], [], label=name, **look.stroke(mark.role, mark.width, mark.dash))
    if isinstance(mark, Band | Ribbon):
        return Patch(label=name, **_area(mark, look))
    marker = "|" if isinstance(mark, Whiskers) else "_"
    return Line2D([], [], label=name, **{**look.caps(mark.role, marker), "markersize": 1.6 * _CAP * look.scale})
