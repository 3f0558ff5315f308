"""Marks → a Plotly figure, for the dashboard."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from calibcore.plot.frame import LINE, SMALL
from calibcore.plot.geometry import axis_ticks, margins, outlines
from calibcore.plot.marks import (
    NEXT_LINE,
    Axis,
    Band,
    Bars,
    Chart,
    Highlight,
    Intervals,
    Label,
    Line,
    Over,
    Points,
    Ribbon,
    Rule,
    Ticks,
    Whiskers,
)
from calibcore.plot.palette import Role, colour, faded
from calibcore.plot.ticks import name_ticks, number_ticks
from calibcore.plot.wording import SHORT, shortened

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["clicked_bin", "config", "escaped", "figure"]

_CAMERA = 26  # pixels that the bar with the camera hides at the plot's upper right corner, on a telephone always
_SMALLEST = 280  # pixels below which an axis has few ticks
_HALF, _FINE = 0.6, 0.35  # spans of probabilities up to which ticks are tenths, and finer than tenths
_TOP, _RIGHT = {"y": 1, "yref": "y domain"}, {"x": 1, "xref": "x domain"}  # ends of the plot, which may fill a part of its place
_QUIET = {"hoverinfo": "skip"}
# One scale on both axes: what a narrow page leaves over is free below and on the right.
_EQUAL_X = {"constrain": "domain", "constraintoward": "left"}
_EQUAL_Y = {"constrain": "domain", "constraintoward": "top", "scaleanchor": "x", "scaleratio": 1}
_UNSEEN = {"type": "scatter", "mode": "markers", "marker": {"size": 0.1, "opacity": 0}, "showlegend": False, **_QUIET}


def figure(chart: Chart, *, dark: bool = False) -> go.Figure:
    """A chart as a Plotly figure with a fixed range, no zoom, and bins that can be clicked.

    Parameters
    ----------
    chart : Chart
    dark : bool
        Whether it stands on a dark background.

    Returns
    -------
    plotly.graph_objects.Figure
        Each bar and marker carries the index of its bin as ``customdata``.
    """
    import plotly.graph_objects as go

    traces, shapes, notes = [], [], []
    for mark in chart.marks:
        if isinstance(mark, Rule):
            shapes.append(_rule(mark, chart, dark))
            notes.extend(_rule_text(mark, chart, dark))
        elif isinstance(mark, Over):
            notes.append(_over(mark, dark))
        elif isinstance(mark, Highlight):
            shapes.append(_highlight(mark, dark))
        elif isinstance(mark, Label):
            notes.append(_label(mark, chart, dark))
        else:
            traces.append(_TRACES[type(mark)](mark, chart, dark))
    layout = {
        "width": None,
        "height": chart.height,
        "margin": margins(chart),
        "showlegend": chart.legend,
        "legend": _legend(dark),
        "hovermode": "closest",
        "clickmode": "event+select",
        "dragmode": False,
        "barmode": "overlay",
        "xaxis": {**_axis(chart.x, chart.width, dark, across=True), **(_EQUAL_X if chart.equal else {})},
        "yaxis": {**_axis(chart.y, chart.height, dark), **(_EQUAL_Y if chart.equal else {})},
        "shapes": shapes,
        "annotations": notes,
        "hoverlabel": {"align": "left", "font": {"size": 13}},
    }
    return go.Figure(data=traces, layout=layout)


def _legend(dark: bool) -> dict[str, Any]:  # noqa: FBT001
    place = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"}
    return {**place, "font": {"color": colour("text", dark=dark), "size": 12}, "itemclick": False, "itemdoubleclick": False}


def config(name: str) -> dict[str, Any]:
    """Options of the chart in the page: the camera alone, saving an SVG."""
    return {
        "displaylogo": False,
        "scrollZoom": False,
        "doubleClick": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "svg", "filename": name},
    }


def clicked_bin(selection: Any) -> int | None:
    """Bin index of the first point of a selection event, or None where nothing is selected."""
    points = selection["selection"]["points"]
    if not points or "customdata" not in points[0]:
        return None
    data = points[0]["customdata"]
    first = next(iter(data.values())) if isinstance(data, dict) else data[0] if isinstance(data, list) else data
    return int(first)


def escaped(text: str) -> str:
    """Text that Plotly shows as it is: it would take ``<a href=…>`` and entities for markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _hover(tooltips: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    if not tooltips:
        return {"hoverinfo": "skip"}
    return {
        "hovertext": ["<br>".join(escaped(line) for line in lines) for lines in tooltips],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _line(mark: Line, chart: Chart, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    del chart
    line = {"color": colour(mark.role, dark=dark), "dash": mark.dash, "width": mark.width}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(mark.x),
        "y": list(mark.y),
        "line": line,
        "name": escaped(mark.name or ""),
        **_hover(mark.tooltips),
    }


def _points(mark: Points, chart: Chart, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    del chart
    colours = [colour(r, dark=dark) for r in mark.roles]
    chosen = [i == mark.outlined for i in mark.ids]
    opacity = 1 if mark.visible else 0
    edge, rim = colour("selected", dark=dark), colour("nothing", dark=dark)
    line = {
        "color": [edge if c else k if h else rim for c, k, h in zip(chosen, colours, mark.hollow, strict=True)],
        "width": [3 if c else 2 if h else 1.5 for c, h in zip(chosen, mark.hollow, strict=True)],
    }
    fills = [colour("nothing", dark=dark) if h else k for h, k in zip(mark.hollow, colours, strict=True)]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": list(mark.x),
        "y": list(mark.y),
        "marker": {
            "symbol": mark.symbol,
            "size": mark.size,
            "color": fills,
            "line": line,
            "opacity": opacity,
        },
        "customdata": list(mark.ids),
        "cliponaxis": False,
        "name": escaped(mark.name or ""),
        "showlegend": False,
        "selected": {"marker": {"opacity": opacity}},
        "unselected": {"marker": {"opacity": opacity}},
        **_hover(mark.tooltips),
    }


def _bars(mark: Bars, chart: Chart, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    del chart
    hatch = {"shape": list(mark.hatches), "fgcolor": colour("nothing", dark=dark), "fillmode": "overlay", "size": 7, "solidity": 0.3}
    marker = {"color": [colour(r, dark=dark) for r in mark.roles], "pattern": hatch, "line": {"width": 0}}
    return {
        "type": "bar",
        "x": list(mark.x),
        "base": list(mark.base),
        "y": list(mark.height),
        "width": list(mark.width),
        "marker": marker,
        "customdata": list(mark.ids),
        "name": escaped(mark.name or ""),
        "showlegend": False,
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
        **_hover(mark.tooltips),
    }


def _band(mark: Band, chart: Chart, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    x: list[float | None] = []
    y: list[float | None] = []
    for path in outlines(mark, chart.y.low):
        x += [*(px for px, _ in path), None]
        y += [*(py for _, py in path), None]
    line = {"color": faded(mark.role, 0.55, dark=dark), "width": 1}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "fill": "toself",
        "fillcolor": faded(mark.role, 0.2, dark=dark),
        "line": line,
        "name": mark.name,
        **_QUIET,
    }


def _ribbon(mark: Ribbon, chart: Chart, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    del chart
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [*mark.x, *reversed(mark.x)],
        "y": [*mark.low, *reversed(mark.high)],
        "fill": "toself",
        "fillcolor": faded(mark.role, 0.25, dark=dark),
        "line": {"width": 0},
        "name": mark.name,
        **_QUIET,
    }


def _whiskers(mark: Whiskers, chart: Chart, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    del chart
    middle = [(a + b) / 2 for a, b in zip(mark.low, mark.high, strict=True)]
    half = [(b - a) / 2 for a, b in zip(mark.low, mark.high, strict=True)]
    error = _error(half, mark.role, dark, mark.width)
    return {"x": list(mark.x), "y": middle, "error_y": error, **_UNSEEN, "name": escaped(mark.name or "")}


def _intervals(mark: Intervals, chart: Chart, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    del chart
    middle = [(a + b) / 2 for a, b in zip(mark.low, mark.high, strict=True)]
    half = [(b - a) / 2 for a, b in zip(mark.low, mark.high, strict=True)]
    error = _error(half, mark.role, dark, mark.width, cap=4 if mark.caps else 0)
    return {"x": middle, "y": list(mark.y), "error_x": error, **_UNSEEN, "name": escaped(mark.name or "")}


def _error(half: list[float], role: Role, dark: bool, width: float, cap: int = 4) -> dict[str, Any]:  # noqa: FBT001
    return {"type": "data", "array": half, "color": colour(role, dark=dark), "thickness": width, "width": cap}


def _ticks(mark: Ticks, chart: Chart, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    line = {"color": colour(mark.role, dark=dark), "width": 2}
    marker = {"symbol": "line-ns", "size": 8, "line": line}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": list(mark.x),
        "y": [chart.y.low] * len(mark.x),
        "marker": marker,
        "cliponaxis": False,
        "name": "no rows",
        "showlegend": False,
        **_QUIET,
    }


_TRACES: dict[type, Callable[[Any, Chart, bool], dict[str, Any]]] = {
    Line: _line,
    Points: _points,
    Bars: _bars,
    Band: _band,
    Ribbon: _ribbon,
    Whiskers: _whiskers,
    Intervals: _intervals,
    Ticks: _ticks,
}


def _rule(mark: Rule, chart: Chart, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    line = {"color": colour(mark.role, dark=dark), "width": 1.5, "dash": mark.dash}
    if mark.x is None:
        return {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "yref": "y", "y0": mark.y, "y1": mark.y, "line": line}
    around = margins(chart)
    top = 1 + LINE * mark.level / (chart.height - around["t"] - around["b"]) if mark.text else 1
    return {"type": "line", "yref": "y domain", "y0": 0, "y1": top, "xref": "x", "x0": mark.x, "x1": mark.x, "line": line}


def _highlight(mark: Highlight, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    place = {"xref": "x", "x0": mark.lower, "x1": mark.upper, "yref": "y domain", "y0": 0, "y1": 1}
    return {"type": "rect", **place, "layer": "below", "line": {"width": 0}, "fillcolor": faded(mark.role, 0.12, dark=dark)}


def _rule_text(mark: Rule, chart: Chart, dark: bool) -> list[dict[str, Any]]:  # noqa: FBT001
    """Words over a vertical line, at one of several heights."""
    if not mark.text or mark.x is None:
        return []
    side = mark.side or ("right" if mark.x < (chart.x.low + chart.x.high) / 2 else "left")
    anchor = "left" if side == "right" else "right"
    return [{"x": mark.x, "xanchor": anchor, **_above(mark.text, mark.level, "text", dark)}]


def _over(mark: Over, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    """Words above the plot at one of its ends."""
    place: dict[str, Any] = {"x": 0, "xref": "x domain", "xanchor": "left"}
    if mark.side == "right":
        place |= {"x": 1, "xanchor": "right", "xshift": -_CAMERA}
    return {**place, **_above(mark.text, mark.level, mark.role, dark)}


def _above(text: str, level: int, role: Role, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    font = {"color": colour(role, dark=dark), "size": 12}
    return {**_TOP, "yanchor": "bottom", "yshift": LINE * level, "text": escaped(text), "showarrow": False, "font": font}


def _label(mark: Label, chart: Chart, dark: bool) -> dict[str, Any]:  # noqa: FBT001
    horizontal, vertical = mark.anchor.split()
    font = {"color": colour(mark.role, dark=dark), "size": 13}
    text = {"text": escaped(shortened(mark.text, 2 * SHORT)), "font": font, "bgcolor": faded("nothing", 0.75, dark=dark), "borderpad": 2}
    place = {"xanchor": horizontal, "yanchor": vertical, "align": "left"}
    if mark.x > chart.x.high:
        return {**text, **place, **_RIGHT, "xshift": 8, "y": mark.y, "showarrow": False}
    if mark.pointer is None:
        return {**text, **place, "x": mark.x, "y": mark.y, "showarrow": False}
    head = {"x": mark.pointer[0], "y": mark.pointer[1], "axref": "x", "ayref": "y", "ax": mark.x, "ay": mark.y}
    return {
        **text,
        **place,
        **head,
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1,
        "standoff": 6,
        "arrowcolor": colour(mark.role, dark=dark),
    }


def _axis(axis: Axis, pixels: int, dark: bool, *, across: bool = False) -> dict[str, Any]:  # noqa: FBT001
    small = pixels < SMALL
    text = {"color": colour("text", dark=dark), "size": 11 if small else 12}
    title = {"text": escaped(axis.title), "font": {**text, "size": 11 if small else 13}, "standoff": 8 if across else 12}
    common = {"title": title, "tickfont": text, "fixedrange": True, "zeroline": False, "gridcolor": colour("grid", dark=dark)}
    if axis.log:
        return {**common, "type": "log", "range": [math.log10(axis.low), math.log10(axis.high)], **_ticks_at(axis_ticks(axis, pixels))}
    if axis.names:
        return {**common, "range": [axis.low, axis.high], "showgrid": False, **_ticks_at(name_ticks(axis, pixels if across else None))}
    return {**common, "range": [axis.low, axis.high], "tickangle": 0, **_steps(axis, pixels, across=across)}


def _steps(axis: Axis, pixels: int, *, across: bool) -> dict[str, Any]:
    """Ticks that fit also where a narrow screen has squeezed the width."""
    span = axis.high - axis.low
    if axis.format == "count":
        return _ticks_at(axis_ticks(axis, pixels))
    if axis.format == "percent" and pixels < _SMALLEST:
        return _ticks_at(number_ticks(axis, 4))
    if axis.format == "percent" and span > _FINE:
        fine = span <= (_HALF if across or pixels < SMALL else 1.0)
        return _ticks_at(number_ticks(axis, math.ceil(span / (0.1 if fine else 0.2) - 1e-9)))
    return _ticks_at(number_ticks(axis, 6 if across or pixels < SMALL or axis.format == "points" else 10))


def _ticks_at(ticks: tuple[tuple[float, ...], tuple[str, ...]]) -> dict[str, Any]:
    return {"tickvals": list(ticks[0]), "ticktext": [escaped(t).replace(NEXT_LINE, "<br>") for t in ticks[1]]}
