"""Share of rows: where the confidences of a model lie, with its mean confidence and its accuracy."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from calibcore.advice.verdict import percent
from calibcore.analysis import Analysis
from calibcore.plot.frame import MARGINS, SIDE, bin_table, centres, filled, highlight, tooltips, words_of, x_axis
from calibcore.plot.marks import Axis, Bars, Chart, Mark, Rule
from calibcore.plot.palette import Role
from calibcore.plot.wording import bin_range

__all__ = ["Counts", "counts"]

Counts = Literal["share", "count", "log_count"]
_MOST = 0.6  # more rows than this in one bin are worth a word
_NARROW, _LETTER = 328, 6.3  # pixels of the picture on a telephone, and of a letter
_CAMERA = 12  # pixels of the plot that the bar with the camera hides there


def counts(analysis: Analysis, *, scale: Counts = "share", selected: int | None = None, width: int = SIDE, height: int = 210) -> Chart:
    """Rows in each bin, with mean confidence (dotted) and accuracy (solid).

    Parameters
    ----------
    analysis : Analysis
    scale : {"share", "count", "log_count"}
    selected : int, optional
        0-based bin that is shown as selected.
    width, height : int
        In pixels.
    """
    bins = analysis.bins
    which = filled(bins)
    heights = (bins.weight / bins.weight.sum() if scale == "share" else np.asarray(bins.count, dtype=np.float64))[which]
    middle, widths = centres(bins, which, x_axis(analysis).low)
    log = scale == "log_count"
    grey: Role = "within"
    bars = Bars(
        tuple(middle.tolist()),
        (0.0,) * len(which),
        tuple(heights.tolist()),
        tuple((0.92 * widths).tolist()),
        (grey,) * len(which),
        ("",) * len(which),
        tooltips(analysis, which),
        tuple(which),
        name="rows",
    )
    top = float(heights.max())
    axis = Axis(
        "Share of rows" if scale == "share" else "Rows",
        min(0.5, float(heights.min()) / 2) if log else 0.0,
        2 * top if log else 1.08 * top,
        "percent" if scale == "share" else "count",
        log,
    )
    marks: tuple[Mark, ...] = (*highlight(analysis, selected), bars, *_rules(analysis, width))
    return Chart(
        "counts", x_axis(analysis), axis, marks, _alt(analysis), _caption(analysis), bin_table(analysis), width, height, title=analysis.name
    )


def _rules(analysis: Analysis, width: int) -> tuple[Rule, Rule]:
    """Mean and accuracy, each with its words on the side away from the other; without room there, on the other side, a line higher."""
    said, was = _means(analysis)
    dotted, solid = Rule("ink", x=analysis.mean_confidence, dash="dot", text=said), Rule("ink", x=analysis.accuracy, text=was)
    start = x_axis(analysis).low
    pixels = (min(width, _NARROW) - MARGINS["l"] - MARGINS["r"]) / (1 - start)
    left, right = sorted((dotted, solid), key=lambda r: (r.x or 0.0, r.dash == "solid"))
    before = MARGINS["l"] + pixels * ((left.x or 0.0) - start) >= _LETTER * len(left.text)
    after = pixels * (1 - (right.x or 0.0)) >= _LETTER * len(right.text) + _CAMERA
    left = replace(left, side="left") if before else replace(left, side="right", level=1)
    right = replace(right, side="right") if after else replace(right, side="left", level=1 if before else 2)
    return (left, right) if left.dash == "dot" else (right, left)


def _means(analysis: Analysis) -> tuple[str, str]:
    """Mean confidence and accuracy in words."""
    observed = "accuracy" if analysis.view == "top_label" else "base rate"
    return f"mean {words_of(analysis).predicted} {percent(analysis.mean_confidence)}", f"{observed} {percent(analysis.accuracy)}"


def _fullest(analysis: Analysis) -> tuple[int, float]:
    """The bin with most rows and their share."""
    weight = analysis.bins.weight
    i = int(np.argmax(weight))
    return i, float(weight[i] / weight.sum())


def _caption(analysis: Analysis) -> str:
    said, was = _means(analysis)
    fullest, largest = _fullest(analysis)
    text = f"Dotted line: {said}. Solid line: {was}."
    return f"{text} {percent(largest)} of the rows are in one bin, {bin_range(analysis.bins, fullest)}." if largest > _MOST else text


def _alt(analysis: Analysis) -> str:
    fullest, largest = _fullest(analysis)
    return f"Rows of {analysis.name}: {percent(largest)} lie at {bin_range(analysis.bins, fullest)}; {', '.join(_means(analysis))}."
