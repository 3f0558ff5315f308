"""Marks → a picture that stands without a browser: SVG, PNG, PDF, or an axes of the user's own Matplotlib figure."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator, NullLocator

from calibcore.errors import InputError
from calibcore.plot.frame import SMALL
from calibcore.plot.geometry import axis_ticks, in_picture, margins, plain
from calibcore.plot.marks import NEXT_LINE, Chart, Label
from calibcore.plot.static_marks import Look, drawn, legend_handles
from calibcore.plot.static_svg import inlined, prefix_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw", "pdf", "png", "save", "svg"]

_DPI = 72  # so that a point is a pixel
_SHARP = 2  # pixels of a PNG for each pixel of the page
_WIDEST = 0.45  # of the width is the most that names beside the plot may take
_LINE = 17  # pixels of a line of the legend
_ENTRY, _PAD, _GAP = 12, 6, 12  # pixels: text of the legend, between sign and text, between columns
_BESIDE = 16  # pixels between the plot and the end of the picture, beside the words that stand there
_TITLE, _TICK = 29, 12  # pixels left of the plot beside the texts of the ticks: with the axis's title, without
_STYLE: dict[str, Any] = {"hatch.linewidth": 1.2, "text.usetex": False, "text.parse_math": False, "axes.unicode_minus": True}
_FILES: dict[str, Any] = {"svg.fonttype": "none", "pdf.fonttype": 42, "font.family": ["sans-serif"], "font.size": 12}
_CANVASES: dict[str, Any] = {"svg": FigureCanvasSVG, "png": FigureCanvasAgg, "pdf": FigureCanvasPdf}
# Settings of Matplotlib, and its caches of fonts, belong to the whole process: one picture at a time.
_ONE_AT_A_TIME = threading.RLock()


def draw(chart: Chart, ax: Axes | None = None, *, dark: bool = False) -> Axes:
    """Draw a chart with Matplotlib.

    Parameters
    ----------
    chart : Chart
    ax : matplotlib.axes.Axes, optional
        Where to draw; texts and strokes then follow the size of the user's font.  Without it, a figure of the chart's own
        size, which is ``.figure`` of the result.
    dark : bool
        Whether it stands on a dark background.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if ax is not None:
        scale = float(mpl.rcParams["font.size"]) / _FILES["font.size"]
        with _alone(_STYLE, {"hatch.linewidth": scale * _STYLE["hatch.linewidth"]}):
            return _on(ax, chart, Look(dark, scale))
    with _alone(_STYLE, _FILES, plain=True):
        return _own(chart, dark)


def svg(chart: Chart, *, dark: bool = False) -> str:
    """A chart as SVG that can stand in a page: text stays text, no script, nothing from outside, the same for the same chart.

    Parameters
    ----------
    chart : Chart
    dark : bool

    Returns
    -------
    str
        One ``<svg>`` element.
    """
    name = prefix_of(chart, dark=dark)
    text = _printed(chart, dark, "svg", {"Date": None}, {"svg.hashsalt": name}).decode()
    return inlined(text, _title(chart), plain(chart.alt), name)


def png(chart: Chart, *, dark: bool = False) -> bytes:
    """A chart as PNG, twice as fine as on a page.

    Parameters
    ----------
    chart : Chart
    dark : bool
    """
    texts = {"Title": _title(chart), "Description": plain(chart.alt), "Software": None}
    return _printed(chart, dark, "png", texts)


def pdf(chart: Chart, *, dark: bool = False) -> bytes:
    """A chart as one page of PDF with its fonts inside.

    Parameters
    ----------
    chart : Chart
    dark : bool
    """
    texts = {"Title": _title(chart), "Subject": plain(chart.alt), "Creator": None, "Producer": None, "CreationDate": None}
    return _printed(chart, dark, "pdf", texts)


def save(chart: Chart, path: str | Path, *, dark: bool = False) -> None:
    """Write a chart into a file whose ending says what it is: ``.svg``, ``.png`` or ``.pdf``.

    Parameters
    ----------
    chart : Chart
    path : str or Path
    dark : bool

    Raises
    ------
    InputError
        If the ending is another one.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending == ".svg":
        path.write_text(svg(chart, dark=dark), encoding="utf-8")
    elif ending in (".png", ".pdf"):
        path.write_bytes((png if ending == ".png" else pdf)(chart, dark=dark))
    else:
        raise InputError(f"A picture is written as .svg, .png or .pdf, not as '{path.name}'; change the ending.")


def _title(chart: Chart) -> str:
    return plain(chart.title or chart.kind.replace("_", " "))


def _printed(
    chart: Chart,
    dark: bool,  # noqa: FBT001
    ending: Literal["svg", "png", "pdf"],
    texts: dict[str, str | None],
    more: dict[str, Any] | None = None,
) -> bytes:
    """A chart as the bytes of a file.  Not by `Figure.savefig`, which draws everything twice."""
    file = BytesIO()
    with _alone(_STYLE, _FILES, more or {}, plain=True):
        figure: Any = _own(chart, dark).figure
        figure.set_dpi(_DPI * (_SHARP if ending == "png" else 1))
        getattr(_CANVASES[ending](figure), f"print_{ending}")(file, metadata=texts)
    return file.getvalue()


@contextmanager
def _alone(*settings: dict[str, Any], plain: bool = False) -> Iterator[None]:
    """Matplotlib with our settings and no other thread in it; ``plain`` leaves out whatever the user has set for his figures.

    A name may hold letters that no installed font has: the picture shows boxes in their place, which is no cause for a warning.
    """
    with _ONE_AT_A_TIME, style.context(["default", *settings] if plain else [*settings]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s)Glyph .* missing from")
        yield


def _own(chart: Chart, dark: bool) -> Axes:  # noqa: FBT001
    """The chart in a figure of its own size, with the margins of the picture in the browser."""
    look = Look(dark)
    figure = Figure((chart.width / _DPI, chart.height / _DPI), dpi=_DPI, facecolor=look.colour("nothing"))
    left, right, top, bottom = _margins(chart)
    across, up = chart.width - left - right, chart.height - top - bottom
    place = left / chart.width, bottom / chart.height, across / chart.width, up / chart.height
    return _on(figure.add_axes(place), chart, look)


def _on(ax: Axes, chart: Chart, look: Look) -> Axes:
    """Axes, marks and legend on an axes."""
    ax.set_facecolor(look.colour("nothing"))
    ax.set_axisbelow(True)
    _axis(ax, chart, "x", look)
    _axis(ax, chart, "y", look)
    ax.autoscale(False)
    if chart.equal:
        ax.set_aspect("equal", adjustable="box", anchor="NW")
    for axis, along in ((chart.x, ax.xaxis), (chart.y, ax.yaxis)):
        along.grid(False)
        if not axis.names:
            along.grid(True, color=look.colour("grid"), linewidth=look.scale, linestyle="solid")
    drawn(ax, chart, look)
    _legend(ax, chart, look)
    return ax


def _axis(ax: Axes, chart: Chart, which: Literal["x", "y"], look: Look) -> None:
    axis, pixels, drawn_axis = (chart.x, chart.width, ax.xaxis) if which == "x" else (chart.y, chart.height, ax.yaxis)
    size, near, far = (11 if pixels < SMALL else 12, *(("bottom", "top") if which == "x" else ("left", "right")))
    if axis.log:
        getattr(ax, f"set_{which}scale")("log")
    getattr(ax, f"set_{which}lim")(axis.low, axis.high)
    values, texts = axis_ticks(axis, pixels, beside=which == "x")
    drawn_axis.set_minor_locator(NullLocator())
    drawn_axis.set_major_locator(FixedLocator(values))
    drawn_axis.set_ticklabels(["\n".join(map(plain, t.split(NEXT_LINE))) for t in texts], **look.words(size=size))
    length = 0 if axis.names else 4
    ax.tick_params(axis=which, which="major", length=length * look.scale, width=look.scale, color=look.colour("within"), pad=4 * look.scale)
    drawn_axis.labelpad = 6 * look.scale
    drawn_axis.set_label_text(plain(axis.title), **look.words(size=11 if pixels < SMALL else 13))
    ax.spines[far].set_visible(False)
    ax.spines[near].set(visible=not axis.names, color=look.colour("within"), linewidth=look.scale)


def _legend(ax: Axes, chart: Chart, look: Look) -> None:
    handles = legend_handles(chart, look)
    if not handles:
        return
    room = ax.get_window_extent().width * _DPI / ax.figure.dpi / look.scale
    names = [str(h.get_label()) for h in handles]
    box = ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=_columns(names, room),
        frameon=False,
        fontsize=_ENTRY * look.scale,
        labelcolor=look.colour("text"),
        handlelength=2,
        handletextpad=_PAD / _ENTRY,
        columnspacing=_GAP / _ENTRY,
        borderpad=0,
        borderaxespad=0.4,
        labelspacing=0.35,
    )
    for text in box.get_texts():
        text.set_parse_math(False)


def _columns(names: Sequence[str], room: float) -> int:
    """How many columns of a legend have room side by side."""
    widths = [2 * _ENTRY + _PAD + _GAP + _width(n, _ENTRY) for n in names]
    for n in range(len(names), 1, -1):
        if sum(float(np.max(column)) for column in np.array_split(widths, n)) - _GAP <= room:
            return n
    return 1


def _width(text: str, size: float) -> float:
    """Width of a text in pixels."""
    return float(text_to_path.get_text_width_height_descent(plain(text), FontProperties(size=size), ismath=False)[0])


def _margins(chart: Chart) -> tuple[float, float, float, float]:
    """Left, right, top and bottom: as in the browser, or more where a text needs it."""
    usual = margins(chart)
    lines = [line for t in axis_ticks(chart.y, chart.height)[1] for line in t.split(NEXT_LINE)]
    left = max(usual["l"], max((_width(t, 12) for t in lines), default=0.0) + (_TITLE if chart.y.title else _TICK))
    beside = [_width(in_picture(m.text), 13) for m in chart.marks if isinstance(m, Label) and m.x > chart.x.high]
    last = max((_width(t, 12) for t in axis_ticks(chart.x, chart.width, beside=True)[1][-1:]), default=0.0)
    right = max(usual["r"], last / 2 + 2, *(_BESIDE + width for width in beside))
    entries = [str(h.get_label()) for h in legend_handles(chart, Look())]
    rows = math.ceil(len(entries) / _columns(entries, chart.width - left - right)) if entries else 0
    most = _WIDEST * chart.width
    return min(left, most), min(right, most), max(usual["t"], 6 + _LINE * rows), usual["b"]
