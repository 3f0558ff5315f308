"""Gap bars: how far accuracy lies above or below confidence in each bin, in points."""

from __future__ import annotations

import math

import numpy as np

from calibcore.advice.verdict import points
from calibcore.analysis import Analysis
from calibcore.plot.frame import SIDE, bin_table, centres, directions, filled, highlight, tooltips, words_of, x_axis
from calibcore.plot.marks import Axis, Bars, Chart, Label, Mark, Points, Rule, Whiskers
from calibcore.plot.palette import Role
from calibcore.plot.wording import FEW_ROWS, bin_range, level_percent

__all__ = ["gaps"]

_ROLES: dict[str, Role] = {"over": "over", "under": "under", "within": "within"}
_TARGET = 24  # pixels, the least that a pointer should have to meet
_HATCH = {"over": "/", "under": "\\", "within": ""}


def gaps(analysis: Analysis, *, selected: int | None = None, width: int = SIDE, height: int = 220) -> Chart:
    """The gap of each bin with its interval; below zero more is claimed than happened.

    Parameters
    ----------
    analysis : Analysis
    selected : int, optional
        0-based bin that is shown as selected.
    width, height : int
        In pixels.
    """
    reach = _reach(analysis)
    which = filled(analysis.bins)
    axis = x_axis(analysis)
    marks: list[Mark] = [*highlight(analysis, selected), _bars(analysis, which), Rule("diagonal", y=0.0)]
    if not analysis.bins.shared:
        marks.append(_whiskers(analysis, which, reach))
    marks.append(_targets(analysis, which))
    marks.extend(_words(analysis, reach))
    return Chart(
        "gaps",
        axis,
        Axis("Gap in points", -reach, reach, "points"),
        tuple(marks),
        _alt(analysis),
        _caption(analysis),
        bin_table(analysis),
        width,
        height,
        title=analysis.name,
    )


def _reach(analysis: Analysis) -> float:
    """Half the height of the axis: every gap and the interval of every bin that has rows enough, in steps of 5 points; room for words."""
    bins = analysis.bins
    low, high = bins.interval(analysis.settings.level)
    firm = bins.filled & (bins.count >= FEW_ROWS)
    sizes = [np.abs(bins.gap[bins.filled])]
    if not bins.shared:
        sizes += [np.abs(low - bins.confidence)[firm], np.abs(high - bins.confidence)[firm]]
    largest = float(np.max(np.concatenate(sizes)))
    return max(0.05, math.ceil(20 * 1.25 * largest + 1e-9) / 20)


def _bars(analysis: Analysis, which: list[int]) -> Bars:
    bins = analysis.bins
    found = directions(bins, analysis.settings.level)
    middle, width = centres(bins, which, x_axis(analysis).low)
    return Bars(
        tuple(middle.tolist()),
        (0.0,) * len(which),
        tuple(bins.gap[which].tolist()),
        tuple((0.86 * width).tolist()),
        tuple(_ROLES[found[i]] for i in which),
        tuple(_HATCH[found[i]] for i in which),
        tooltips(analysis, which),
        tuple(which),
        name="gap",
    )


def _words(analysis: Analysis, reach: float) -> tuple[Label, Label]:
    """What lies over and under zero, each at the end of the axis where it hides less."""
    bins, axis = analysis.bins, x_axis(analysis)
    ends = (np.zeros(0), np.zeros(0)) if bins.shared else bins.interval(analysis.settings.level)
    middle, third = bins.confidence, (1 - axis.low) / 3

    def free(side: str, sign: int) -> float:
        near = bins.filled & ((middle < axis.low + third) if side == "left" else (middle > 1 - third))
        tips = [sign * bins.gap[near], *(sign * (e - bins.confidence)[near] for e in ends if len(e))]
        return -float(np.max(np.concatenate(tips), initial=0.0))

    def label(text: str, sign: int, edge: str) -> Label:
        side = max(("right", "left"), key=lambda s: free(s, sign))
        return Label(1.0 if side == "right" else axis.low, sign * 0.99 * reach, text, "text", f"{side} {edge}")

    words = words_of(analysis)
    return label(words.under, 1, "top"), label(words.over, -1, "bottom")


def _targets(analysis: Analysis, which: list[int]) -> Points:
    """Unseen markers on the zero line: a bin without a gap has no bar to click."""
    middle, _ = centres(analysis.bins, which, x_axis(analysis).low)
    n = len(which)
    unseen: Role = "nothing"
    tips = tooltips(analysis, which)
    return Points(tuple(middle.tolist()), (0.0,) * n, (unseen,) * n, (False,) * n, tips, tuple(which), "square", _TARGET, visible=False)


def _whiskers(analysis: Analysis, which: list[int], reach: float) -> Whiskers:
    bins = analysis.bins
    middle, _ = centres(bins, which, x_axis(analysis).low)
    ends = [(e - bins.confidence)[which] for e in bins.interval(analysis.settings.level)]
    low, high = (np.clip(e, -reach, reach) for e in ends)
    return Whiskers(
        tuple(middle.tolist()), tuple(low.tolist()), tuple(high.tolist()), name=f"{level_percent(analysis.settings.level)} Wilson interval"
    )


def _caption(analysis: Analysis) -> str:
    words = words_of(analysis)
    if analysis.bins.shared:
        return f"Gap = {words.observed} − {words.predicted}. Bins that share tied rows have no interval and no range by chance."
    level = level_percent(analysis.settings.level)
    return f"Gap = {words.observed} − {words.predicted}, with {level} Wilson intervals. Grey: within what chance allows."


def _alt(analysis: Analysis) -> str:
    bins = analysis.bins
    lowest, highest = int(np.nanargmin(bins.gap)), int(np.nanargmax(bins.gap))
    return (
        f"Gaps of {analysis.name}: from {points(float(bins.gap[lowest]), signed=True)} points at {bin_range(bins, lowest)} "
        f"to {points(float(bins.gap[highest]), signed=True)} points at {bin_range(bins, highest)}; negative is {words_of(analysis).over}."
    )
