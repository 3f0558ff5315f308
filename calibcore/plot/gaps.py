"""Gap bars: how far accuracy lies above or below confidence in each bin, in points."""

from __future__ import annotations

import math

import numpy as np

from calibcore.advice.verdict import points
from calibcore.analysis import Analysis
from calibcore.plot.frame import SIDE, bin_table, centres, directions, filled, firm, highlight, tooltips, words_of, x_axis
from calibcore.plot.marks import Axis, Bars, Chart, Label, Mark, Points, Rule, Whiskers
from calibcore.plot.palette import Role
from calibcore.plot.wording import FEW_ROWS, bin_range, level_percent

__all__ = ["gaps"]

_ROLES: dict[str, Role] = {"over": "over", "under": "under", "within": "within"}
_FREE = 0.7  # of half the axis is for the bars; the rest, 23 pixels, for the words at its end
_TARGET = 24  # pixels, the least that a pointer should have to meet
_GREY: tuple[Role] = ("within",)
_HATCH = {"over": "/", "under": "\\", "within": ""}


def gaps(analysis: Analysis, *, selected: int | None = None, width: int = SIDE, height: int = 236) -> Chart:
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
    out = _out(analysis, reach)
    marks: list[Mark] = [*highlight(analysis, selected), _bars(analysis, which, reach), Rule("diagonal", y=0.0)]
    if not analysis.bins.shared:
        marks.append(_whiskers(analysis, [i for i in which if i not in out]))
    marks.extend(_arrows(analysis, out, reach))
    marks.append(_targets(analysis, which))
    marks.extend(_words(analysis, reach))
    return Chart(
        "gaps",
        axis,
        Axis("Gap in points", -reach, reach, "points"),
        tuple(marks),
        _alt(analysis),
        " ".join(_caption(analysis, len(out))),
        bin_table(analysis),
        width,
        height,
        title=analysis.name,
    )


def _reach(analysis: Analysis) -> float:
    """Half the height of the axis, in steps of 5 points: gaps and intervals of the bins that have rows enough, and room for words."""
    bins = analysis.bins
    many = firm(bins)
    sizes = [np.abs(bins.gap[many])]
    if not bins.shared:
        sizes += [np.abs(end - bins.confidence)[many] for end in bins.interval(analysis.settings.level)]
    largest = float(np.max(np.concatenate(sizes)))
    return max(0.05, math.ceil(20 * largest / _FREE - 1e-9) / 20)


def _out(analysis: Analysis, reach: float) -> list[int]:
    """Bins of few rows whose gap the axis does not reach."""
    gap = np.nan_to_num(analysis.bins.gap)
    return [int(i) for i in np.flatnonzero(np.abs(gap) > _FREE * reach + 1e-9)]


def _arrows(analysis: Analysis, out: list[int], reach: float) -> list[Points]:
    """Their gaps as arrows at the end of the axis."""
    marks = []
    for sign, symbol in ((1, "triangle-up"), (-1, "triangle-down")):
        ids = [i for i in out if sign * analysis.bins.gap[i] > 0]
        middle, _ = centres(analysis.bins, ids, x_axis(analysis).low)
        n = len(ids)
        tips = tooltips(analysis, ids)
        marks.append(Points(tuple(middle.tolist()), (sign * _FREE * reach,) * n, _GREY * n, (True,) * n, tips, tuple(ids), symbol, 9))
    return [m for m in marks if m.x]


def _bars(analysis: Analysis, which: list[int], reach: float) -> Bars:
    bins = analysis.bins
    found = directions(bins, analysis.settings.level)
    middle, width = centres(bins, which, x_axis(analysis).low)
    return Bars(
        tuple(middle.tolist()),
        (0.0,) * len(which),
        tuple(np.clip(bins.gap[which], -_FREE * reach, _FREE * reach).tolist()),
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


def _whiskers(analysis: Analysis, which: list[int]) -> Whiskers:
    bins = analysis.bins
    middle, _ = centres(bins, which, x_axis(analysis).low)
    low, high = ((e - bins.confidence)[which] for e in bins.interval(analysis.settings.level))
    return Whiskers(
        tuple(middle.tolist()), tuple(low.tolist()), tuple(high.tolist()), name=f"{level_percent(analysis.settings.level)} Wilson interval"
    )


def _caption(analysis: Analysis, out: int) -> list[str]:
    words = words_of(analysis)
    gap = f"Gap = {words.observed} − {words.predicted}"
    arrows = (
        [f"Arrow{'' if out == 1 else 's'}: {out} bin{'' if out == 1 else 's'} of fewer than {FEW_ROWS} rows beyond the axis."]
        if out
        else []
    )
    if analysis.bins.shared:
        return [f"{gap}. Bins that share tied rows have no interval and no range by chance.", *arrows]
    level = level_percent(analysis.settings.level)
    return [f"{gap}, with {level} Wilson intervals. Grey: within what chance allows.", *arrows]


def _alt(analysis: Analysis) -> str:
    bins = analysis.bins
    lowest, highest = int(np.nanargmin(bins.gap)), int(np.nanargmax(bins.gap))
    return (
        f"Gaps of {analysis.name}: from {points(float(bins.gap[lowest]), signed=True)} points at {bin_range(bins, lowest)} "
        f"to {points(float(bins.gap[highest]), signed=True)} points at {bin_range(bins, highest)}; negative is {words_of(analysis).over}."
    )
