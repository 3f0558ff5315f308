"""The reliability diagram: mean confidence against accuracy, bin by bin, beside what a calibrated model would show."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from calibcore.analysis import Analysis
from calibcore.measures.isotonic import Blocks
from calibcore.plot.frame import (
    MARGINS,
    SIDE,
    SMALL,
    bin_table,
    diagonal_height,
    directions,
    filled,
    highlight,
    notable,
    tooltips,
    words_of,
    x_axis,
    x_start,
)
from calibcore.plot.marks import Axis, Band, Bars, Chart, Label, Line, Mark, Points, Ticks, Whiskers
from calibcore.plot.palette import Role
from calibcore.plot.wording import FEW_ROWS, bin_range, level_percent

__all__ = ["Uncertainty", "reliability"]

_SHARED = "Bins that share tied rows have no interval and no range by chance."
Uncertainty = Literal["band", "bars", "both"]
_LETTER = 7.5  # pixels of a letter of the words at a point, in the wider of both renderers' fonts
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
    marks.append(_gap_bars(analysis, which, side))
    marks.extend([_curve(analysis, start)] if curve else [])
    if uncertainty in ("bars", "both") and not bins.shared:
        marks.append(_whiskers(analysis, which))
    marks.append(_points(analysis, which, selected))
    marks.extend(_empty(analysis, start))
    marks.extend(_labels(analysis, start, bottom, side) if side >= SMALL else [])
    words = words_of(analysis)
    return Chart(
        "reliability",
        Axis(words.predicted_title, start, 1.0),
        Axis(words.observed_title, bottom, 1.0),
        tuple(marks),
        _alt(analysis),
        " ".join([*_caption(analysis, uncertainty, level), *(_curve_caption(analysis, bottom) if curve else [])]),
        bin_table(analysis),
        side,
        diagonal_height(side, start, bottom),
        title=analysis.name,
        legend=side >= SMALL,
    )


def y_start(analysis: Analysis, uncertainty: Uncertainty = "band", *, curve: bool = False) -> float:
    """Where the y axis starts: with the x axis, or lower in tenths so that every point is on the picture.

    Of a range or of the curve only what rests on 30 rows or more counts.
    """
    bins = analysis.bins
    lowest = [float(np.nanmin(bins.accuracy)), x_axis(analysis).low]
    firm = bins.count >= FEW_ROWS
    ranges = [bins.calibrated_range(analysis.settings.level)[0]] if uncertainty != "bars" else []
    ranges += [bins.interval(analysis.settings.level)[0]] if uncertainty != "band" else []
    lowest += [float(np.nanmin(r[firm])) for r in ranges if firm.any() and not bins.shared]
    lowest += [_firm_end(analysis)] if curve else []
    least = min(lowest)
    return least if least == x_axis(analysis).low else max(0.0, math.floor(10 * least + 1e-9) / 10)


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


def _gap_bars(analysis: Analysis, which: list[int], side: int) -> Bars:
    bins = analysis.bins
    found = directions(bins, analysis.settings.level)
    widths = np.clip(0.5 * np.diff(bins.edges)[which], 2.5 / side, 0.03)
    return Bars(
        tuple(bins.confidence[which].tolist()),
        tuple(bins.confidence[which].tolist()),
        tuple(bins.gap[which].tolist()),
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


def _empty(analysis: Analysis, start: float) -> list[Mark]:
    bins = analysis.bins
    middles = ((bins.edges[:-1] + bins.edges[1:]) / 2)[~bins.filled]
    visible = tuple(float(m) for m in middles if m >= start)
    return [Ticks(visible)] if visible else []


def _labels(analysis: Analysis, start: float, bottom: float, side: int) -> list[Mark]:
    bins = analysis.bins
    marks: list[Mark] = []
    worst = notable(bins, analysis.settings.level)
    if worst is not None:
        says, was = float(bins.confidence[worst]), float(bins.accuracy[worst])
        text = f"says {100 * says:.0f}%, {words_of(analysis).happened} {100 * was:.0f}%"
        across = (1 - start) * (_LETTER * len(text) + 12) / (side - MARGINS["l"] - MARGINS["r"])
        below = was < says
        anchor = "right top" if below else "right bottom"
        place_x = max(says - 0.04 * (1 - start), start + across)
        under = bins.filled & (bins.confidence > place_x - 1.15 * across) & (bins.confidence <= max(says, place_x))
        clear = float(np.min(bins.accuracy[under]) if below else np.max(bins.accuracy[under]))  # of the bins that the words stand at
        place_y = clear + 0.05 * (1 - bottom) * (-1 if below else 1)
        marks.append(Label(place_x, min(max(place_y, bottom + 0.06 * (1 - bottom)), 0.99), text, "ink", anchor, pointer=(says, was)))
    return marks


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


def _caption(analysis: Analysis, uncertainty: Uncertainty, level: float) -> list[str]:
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
    if x_start(analysis) > 0 and x_start(analysis) == 1 / len(analysis.classes):
        parts.append(f"With {len(analysis.classes)} classes no confidence can be below {100 * x_start(analysis):.0f}%.")
    return parts
