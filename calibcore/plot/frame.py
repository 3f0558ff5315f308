"""What the charts of one model share: the x axis, the direction of each bin, the table."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.analysis import Analysis
from calibcore.binned import BinnedStatistics
from calibcore.plot.marks import Axis, Highlight, Table, Tooltips
from calibcore.plot.wording import FEW_ROWS, Ranges, ViewWords, bin_table_row, level_percent, tooltip, view_words

__all__ = [
    "LEGEND",
    "LINE",
    "MARGINS",
    "SIDE",
    "SMALL",
    "SMALL_MARGINS",
    "TALLEST",
    "Direction",
    "bin_table",
    "centres",
    "clustered",
    "diagonal_height",
    "directions",
    "even_guess",
    "filled",
    "firm",
    "highlight",
    "notable",
    "tooltips",
    "weighted",
    "words_of",
    "x_axis",
    "x_start",
]

SIDE = 560  # pixels of the width of the diagram
SMALL = 400  # pixels of width below which margins and text shrink
# Wide enough for "100%", its tick and the title in both renderers, so that charts below each other have one x axis.
MARGINS = {"l": 72, "r": 20, "t": 24, "b": 56}
SMALL_MARGINS = {"l": 66, "r": 20, "t": 28, "b": 44}
LINE, LEGEND = 16, 18  # pixels above the plot: of each further line of words, and of a legend beyond the first line
TALLEST = 10 / 7  # height of a diagram's plot over its width: from 0 up where the x axis starts at 0.3
Direction = Literal["over", "under", "within", "empty"]


def words_of(analysis: Analysis) -> ViewWords:
    """Words for the view of an analysis."""
    return view_words(analysis.view, positive=analysis.positive_class)


def weighted(analysis: Analysis) -> bool:
    """Whether rows carry weights, so that a share of them is no number of rows."""
    return bool(analysis.measures["cumulative"].profile.weighted)


def clustered(analysis: Analysis) -> bool:
    """Whether rows go together in clusters, which intervals then take into account."""
    return analysis.measures["cumulative"].profile.clusters is not None


def filled(bins: BinnedStatistics) -> list[int]:
    """Indices of the bins that hold rows."""
    return [int(i) for i in np.flatnonzero(bins.filled)]


def directions(bins: BinnedStatistics, level: float) -> tuple[Direction, ...]:
    """Whether each bin lies below the calibrated range ("over"), above it ("under"), within it, or is empty."""
    low, high = bins.calibrated_range(level)
    found: list[Direction] = []
    for i in range(len(bins.count)):
        if not bins.filled[i]:
            found.append("empty")
        elif bins.accuracy[i] < low[i]:
            found.append("over")
        else:
            found.append("under" if bins.accuracy[i] > high[i] else "within")
    return tuple(found)


def notable(bins: BinnedStatistics, level: float) -> int | None:
    """The bin outside its calibrated range with the largest gap × rows, if there is one."""
    candidates = [i for i, d in enumerate(directions(bins, level)) if d in ("over", "under")]
    return max(candidates, key=lambda i: abs(float(bins.gap[i])) * float(bins.weight[i]), default=None)


def firm(bins: BinnedStatistics) -> NDArray[np.bool_]:
    """Which bins have rows enough to rule a picture: 30 or more, or any where no bin has as many."""
    many = bins.filled & (bins.count >= FEW_ROWS)
    return np.asarray(many if many.any() else bins.filled)


def even_guess(analysis: Analysis) -> float | None:
    """1/K in the confidence view, below which nothing lies; None where that is not so or K is not known.

    Confidences do lie below 1/K where class probabilities don't add up to 1, or not all classes are known.
    """
    if analysis.view != "top_label" or len(analysis.classes) < 2:
        return None
    least = 1 / len(analysis.classes)
    return least if float(np.nanmin(analysis.bins.confidence)) >= least - 1e-6 else None


def x_start(analysis: Analysis) -> float:
    """Where the x axis starts: 1/K in the confidence view, since no top probability of K classes is smaller; else 0.

    Lower, in steps of a tenth, where confidences or the accuracy of all rows lie below 1/K, or where the accuracy of a bin
    lies so low that the diagram, with both axes on one scale, would be too tall.
    """
    if analysis.view != "top_label" or len(analysis.classes) < 2:
        return 0.0
    least = even_guess(analysis)
    lowest = min(float(np.nanmin(analysis.bins.confidence)), analysis.accuracy)
    start = least if least is not None and lowest >= least - 1e-6 else max(0.0, _tenth(lowest))
    depth = 1 - _tenth(float(np.min(analysis.bins.accuracy[firm(analysis.bins)])))
    return start if depth <= TALLEST * (1 - start) + 1e-9 else max(0.0, _tenth(1 - depth / TALLEST))


def _tenth(x: float) -> float:
    """The tenth at or below a number."""
    return math.floor(10 * x + 1e-9) / 10


def diagonal_height(width: int, start: float, bottom: float) -> int:
    """Height in pixels at which one percent is as long upwards as across, so that the diagonal runs at 45 degrees."""
    margins = SMALL_MARGINS if width < SMALL else MARGINS
    across = width - margins["l"] - margins["r"]
    ratio = min((1 - bottom) / (1 - start), TALLEST)
    return round(across * ratio) + margins["t"] + margins["b"] + (LEGEND if width >= SMALL else 0)


def x_axis(analysis: Analysis) -> Axis:
    """The axis that the diagram, the gap bars and the shares of rows have in common."""
    return Axis(words_of(analysis).predicted_title, x_start(analysis), 1.0)


def tooltips(analysis: Analysis, which: list[int]) -> Tooltips:
    """Tooltips of some bins."""
    words, ranges = words_of(analysis), Ranges.of(analysis.bins, analysis.settings.level)
    return tuple(tooltip(analysis.bins, i, words, ranges, weighted=weighted(analysis)) for i in which)


def centres(bins: BinnedStatistics, which: list[int], start: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middle and width of some bins, as far as they lie on an axis that begins at ``start``; two arrays."""
    lower, upper = np.maximum(bins.edges[:-1][which], start), np.maximum(bins.edges[1:][which], start)
    return (lower + upper) / 2, np.maximum(upper - lower, 0.002)


def highlight(analysis: Analysis, selected: int | None) -> tuple[Highlight, ...]:
    """The column of the selected bin, if it is one of these bins."""
    if selected is None:
        return ()
    low, high = (max(float(e), x_start(analysis)) for e in analysis.bins.edges[selected : selected + 2])
    return (Highlight(low, high),)


def bin_table(analysis: Analysis) -> Table:
    """The bins as a table, empty ones included."""
    words, level = words_of(analysis), analysis.settings.level
    observed = words.observed.capitalize()
    header = (
        f"{words.predicted.capitalize()} range",
        "Rows",
        "Share of rows",
        f"Mean {words.predicted}",
        observed if analysis.view == "top_label" else "Share that happened",
        "Gap (points)",
        f"{level_percent(level)} interval (Wilson)",
        f"{level_percent(level)} range if calibrated",
    )
    ranges = Ranges.of(analysis.bins, level)
    return Table(header, tuple(bin_table_row(analysis.bins, i, ranges) for i in range(len(analysis.bins.count))))
