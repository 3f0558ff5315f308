"""The reliability diagram: mean confidence against accuracy, bin by bin, beside what a calibrated model would show."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from calibcore.analysis import Analysis
from calibcore.measures.isotonic import Blocks
from calibcore.plot.callout import callout
from calibcore.plot.frame import (
    LEGEND,
    MARGINS,
    SIDE,
    SMALL,
    TALLEST,
    bin_table,
    diagonal_height,
    directions,
    even_guess,
    filled,
    firm,
    highlight,
    notable,
    tooltips,
    words_of,
    x_axis,
    x_start,
)
from calibcore.plot.geometry import squared
from calibcore.plot.marks import Axis, Band, Bars, Chart, Line, Mark, Points, Ticks, Whiskers
from calibcore.plot.palette import Role
from calibcore.plot.wording import FEW_ROWS, bin_range, level_percent

__all__ = ["Uncertainty", "reliability"]

_SHARED = "Bins that share tied rows have no interval and no range by chance."
Uncertainty = Literal["band", "bars", "both"]
_FLATTEST = 0.95  # of the side: no page makes the picture lower than that
_THIN = 3.0  # pixels of the bar at a point of few rows
_HATCH = {"over": "/", "under": "\\", "within": ""}


def reliability(
    analysis: Analysis,
    *,
    uncertainty: Uncertainty = "band",
    selected: int | None = None,
    side: int = SIDE,
    curve: bool = False,
    axes: tuple[float, float] | None = None,
) -> Chart:
    """The reliability diagram of one model.

    Parameters
    ----------
    analysis : Analysis
    uncertainty : {"band", "bars", "both"}
        The range of each bin if the model were calibrated, the interval of each point, or both.
    selected : int, optional
        0-based bin that is shown as selected.
    side : int
        Width in pixels; the height follows, so that the diagonal runs at 45 degrees.  Below 400 there is no room for the words
        at the worst point, nor for a legend.
    curve : bool
        Whether the CORP curve is drawn too: the never-falling curve of outcome against confidence that fits best, without
        bins.  Of its corners at most two in each column of a pixel are kept; its ends are exact.
    axes : tuple of float, optional
        Where the x and the y axis start, to draw several diagrams on the same axes.
    """
    bins, level = analysis.bins, analysis.settings.level
    start, bottom = axes or (x_start(analysis), y_start(analysis, uncertainty, curve=curve))
    which = filled(bins)
    marks: list[Mark] = [*highlight(analysis, selected)]
    if uncertainty in ("band", "both") and not bins.shared:
        marks.append(_band(analysis, which, start))
    marks.append(Line((max(start, bottom), 1.0), (max(start, bottom), 1.0), "diagonal", "dash", 1.5, "perfect calibration"))
    marks.append(_gap_bars(analysis, which, side, bottom))
    marks.extend([_curve(analysis, start)] if curve else [])
    if uncertainty in ("bars", "both") and not bins.shared:
        marks.append(_whiskers(analysis, which))
    low = _below(analysis, bottom)
    marks.append(_points(analysis, [i for i in which if i not in low], selected))
    marks.extend([_arrows(analysis, low, bottom, selected)] if low else [])
    marks.extend(_empty(analysis, start))
    words = words_of(analysis)
    x, y = Axis(words.predicted_title, start, 1.0), Axis(words.observed_title, bottom, 1.0)
    marks.extend(_words(analysis, marks, x, y, side) if side >= SMALL else [])
    chart = Chart(
        "reliability",
        x,
        y,
        tuple(marks),
        _alt(analysis),
        " ".join([*_caption(analysis, uncertainty, level, len(low)), *(_curve_caption(analysis, bottom) if curve else [])]),
        bin_table(analysis),
        side,
        0,
        title=analysis.name,
        legend=side >= SMALL,
    )
    return squared(chart)


def y_start(analysis: Analysis, uncertainty: Uncertainty = "band", *, curve: bool = False) -> float:
    """Where the y axis starts: with the x axis, or lower in tenths so that every point of 30 rows or more is on the picture.

    Where no bin has as many, every point is.  A range or the curve counts as far as the picture does not grow too tall.
    """
    bins, start = analysis.bins, x_axis(analysis).low
    many = firm(bins)
    points = min(start, float(np.min(bins.accuracy[many])))
    ranges = [bins.calibrated_range(analysis.settings.level)[0]] if uncertainty != "bars" else []
    ranges += [bins.interval(analysis.settings.level)[0]] if uncertainty != "band" else []
    lowest = [float(np.min(r[many])) for r in ranges if not bins.shared]
    lowest += [_firm_end(analysis)] if curve else []
    least = min(points, max(min([points, *lowest]), 1 - TALLEST * (1 - start)))
    return least if least == start else max(0.0, math.floor(10 * least + 1e-9) / 10)


def _band(analysis: Analysis, which: list[int], start: float) -> Band:
    bins = analysis.bins
    low, high = bins.calibrated_range(analysis.settings.level)
    return Band(
        tuple(max(float(e), start) for e in bins.edges[:-1][which]),
        tuple(max(float(e), start) for e in bins.edges[1:][which]),
        tuple(low[which].tolist()),
        tuple(high[which].tolist()),
        name=f"{level_percent(analysis.settings.level)} range if calibrated",
    )


def _gap_bars(analysis: Analysis, which: list[int], side: int, bottom: float) -> Bars:
    bins = analysis.bins
    found = directions(bins, analysis.settings.level)
    widths = np.clip(0.5 * np.diff(bins.edges)[which], 2.5 / side, 0.03)
    widths = np.where(bins.count[which] < FEW_ROWS, np.minimum(widths, _THIN / side * (1 - x_start(analysis))), widths)
    return Bars(
        tuple(bins.confidence[which].tolist()),
        tuple(bins.confidence[which].tolist()),
        tuple(np.maximum(bins.gap[which], bottom - bins.confidence[which]).tolist()),
        tuple(widths.tolist()),
        tuple(_role(found[i]) for i in which),
        tuple(_HATCH[_role(found[i])] for i in which),
        tooltips(analysis, which),
        tuple(which),
        name="gap",
    )


def _role(direction: str) -> Role:
    return "over" if direction == "over" else "under" if direction == "under" else "within"


def _blocks(analysis: Analysis) -> Blocks:
    """The flat pieces of the CORP curve."""
    blocks: Blocks = analysis.measures["corp"].curve.blocks
    return blocks


def _firm_end(analysis: Analysis) -> float:
    """The curve at its first piece with rows enough; 1 where there is none."""
    blocks = _blocks(analysis)
    firm = np.flatnonzero(blocks.count >= FEW_ROWS)
    return float(blocks.fitted[firm[0]]) if len(firm) else 1.0


def _curve(analysis: Analysis, start: float) -> Line:
    """The corners of the CORP curve: in each column of a pixel the first and the last, since it never falls."""
    blocks = _blocks(analysis)
    x, y = np.ravel([blocks.low, blocks.high], order="F"), np.repeat(blocks.fitted, 2)
    column = np.floor((x - start) / (1 - start) * SIDE)
    new = np.concatenate([[True], np.diff(column) > 0, [True]])
    kept = new[:-1] | new[1:]
    return Line(tuple(x[kept].tolist()), tuple(y[kept].tolist()), "ink", "solid", 1, "CORP curve")


def _whiskers(analysis: Analysis, which: list[int]) -> Whiskers:
    bins = analysis.bins
    low, high = bins.interval(analysis.settings.level)
    name = f"{level_percent(analysis.settings.level)} Wilson interval of the point"
    return Whiskers(tuple(bins.confidence[which].tolist()), tuple(low[which].tolist()), tuple(high[which].tolist()), name=name)


def _points(analysis: Analysis, which: list[int], selected: int | None) -> Points:
    bins = analysis.bins
    found = directions(bins, analysis.settings.level)
    return Points(
        tuple(bins.confidence[which].tolist()),
        tuple(bins.accuracy[which].tolist()),
        tuple(_role(found[i]) for i in which),
        tuple(bool(bins.count[i] < FEW_ROWS) for i in which),
        tooltips(analysis, which),
        tuple(which),
        name="bin mean",
        outlined=selected,
    )


def _below(analysis: Analysis, bottom: float) -> list[int]:
    """Bins of few rows that lie below the picture."""
    return [i for i in filled(analysis.bins) if analysis.bins.accuracy[i] < bottom - 1e-9]


def _arrows(analysis: Analysis, low: list[int], bottom: float, selected: int | None) -> Points:
    """Their points as arrows at its foot."""
    found, n = directions(analysis.bins, analysis.settings.level), len(low)
    x, roles = tuple(analysis.bins.confidence[low].tolist()), tuple(_role(found[i]) for i in low)
    return Points(
        x, (bottom,) * n, roles, (True,) * n, tooltips(analysis, low), tuple(low), "triangle-down", name="below", outlined=selected
    )


def _empty(analysis: Analysis, start: float) -> list[Mark]:
    bins = analysis.bins
    middles = ((bins.edges[:-1] + bins.edges[1:]) / 2)[~bins.filled]
    least = max(start, even_guess(analysis) or 0.0)
    visible = tuple(float(m) for m in middles if m >= least)
    return [Ticks(visible)] if visible else []


def _words(analysis: Analysis, marks: list[Mark], x: Axis, y: Axis, side: int) -> list[Mark]:
    """What the worst bin says and what happened, where nothing else is drawn."""
    bins = analysis.bins
    worst = notable(bins, analysis.settings.level)
    if worst is None:
        return []
    says, was = float(bins.confidence[worst]), float(bins.accuracy[worst])
    text = f"says {100 * says:.0f}%, {words_of(analysis).happened} {100 * was:.0f}%"
    height = min(diagonal_height(side, x.low, y.low), round(_FLATTEST * side))
    size = side - MARGINS["l"] - MARGINS["r"], height - MARGINS["t"] - MARGINS["b"] - LEGEND
    return [callout(text, (says, max(was, y.low)), marks, x, y, size)]


def _alt(analysis: Analysis) -> str:
    bins, level = analysis.bins, analysis.settings.level
    found, words = directions(bins, level), words_of(analysis)
    over, under = found.count("over"), found.count("under")
    name = f"Reliability diagram of {analysis.name}"
    if bins.shared:
        return f"{name}: {_bins(bins.used)} with rows. {_SHARED}"
    text = (
        f"{name}: of {_bins(bins.used)} with rows, {over} {'lies' if over == 1 else 'lie'} below the range of a calibrated model "
        f"({words.over}), {under} above it ({words.under})."
    )
    worst = notable(bins, level)
    if worst is None:
        return text
    word = words.happened
    says, was = f"{100 * bins.confidence[worst]:.0f}%", f"{100 * bins.accuracy[worst]:.0f}%"
    return f"{text} Most weighty: {bin_range(bins, worst)}, says {says}, {word} {was} of {_rows(bins.count[worst])}."


def _bins(n: int) -> str:
    return f"{n} bin{'' if n == 1 else 's'}"


def _rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"


def _curve_caption(analysis: Analysis, bottom: float) -> list[str]:
    cut = float(_blocks(analysis).fitted[0]) < bottom - 1e-9
    return [
        "Thin line: the rising curve that fits these outcomes best, without bins (CORP). It follows their noise, most of all at its ends.",
        *([f"Below {100 * bottom:.0f}% it rests on few rows and is not drawn."] if cut else []),
    ]


def _caption(analysis: Analysis, uncertainty: Uncertainty, level: float, low: int) -> list[str]:
    parts = [_SHARED] if analysis.bins.shared else []
    if uncertainty in ("band", "both") and not analysis.bins.shared:
        by_luck = analysis.bins.used * (1 - level)
        number = (
            "fewer than one point falls"
            if by_luck < 0.5
            else "about 1 point falls"
            if by_luck < 1.5
            else f"about {by_luck:.0f} points fall"
        )
        parts.append(
            f"Grey consistency band: where points fall {level_percent(level)} of the time if the model were calibrated. "
            f"With {_bins(analysis.bins.used)} in use {number} outside by luck."
        )
    if uncertainty in ("bars", "both") and not analysis.bins.shared:
        parts.append(f"Bars: {level_percent(level)} Wilson interval of each point.")
    if bool((analysis.bins.count[analysis.bins.filled] < FEW_ROWS).any()):
        parts.append(f"Hollow: fewer than {FEW_ROWS} rows.")
    if low:
        parts.append(f"Arrow{'' if low == 1 else 's'} at the foot: {_bins(low)} of few rows below the picture.")
    parts += _signs(analysis)
    guess = even_guess(analysis)
    if guess is not None:
        parts.append(f"With {len(analysis.classes)} classes no confidence can be below {100 * guess:.0f}%.")
    return parts


def _signs(analysis: Analysis) -> list[str]:
    """What hatching and short strokes mean, where there are some."""
    bins, words = analysis.bins, words_of(analysis)
    found = directions(bins, analysis.settings.level)
    signs = [
        *([f"orange, hatched /: {words.over}"] if "over" in found else []),
        *([f"blue, hatched \\: {words.under}"] if "under" in found else []),
        *(["short strokes at the foot: empty bins"] if _empty(analysis, x_start(analysis)) else []),
    ]
    return [f"{'; '.join(signs)}.".capitalize()] if signs else []
