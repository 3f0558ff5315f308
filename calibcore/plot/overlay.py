"""Several models in one diagram, told apart by colour, marker and dash, each named at the end of its line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibcore.analysis import Analysis
from calibcore.errors import InputError
from calibcore.plot.frame import filled, tooltips, words_of, x_start
from calibcore.plot.geometry import squared
from calibcore.plot.marks import Axis, Chart, Label, Line, Mark, Points, Table, Whiskers
from calibcore.plot.palette import MODEL_STYLES, Role
from calibcore.plot.reliability import Uncertainty, reliability, y_start
from calibcore.plot.wording import FEW_ROWS, bin_range, level_percent, share

__all__ = ["MOST_MULTIPLES", "MOST_OVERLAID", "overlay", "small_multiples"]

MOST_OVERLAID = len(MODEL_STYLES)
MOST_MULTIPLES = 8


def overlay(analyses: Sequence[Analysis], *, width: int = 640) -> Chart:
    """Reliability lines of up to four models, with the Wilson interval of each point that has 30 rows or more.

    Parameters
    ----------
    analyses : sequence of Analysis
        Under the same settings.
    width : int
        In pixels; the height follows, so that the diagonal runs at 45 degrees.

    Raises
    ------
    InputError
        If there are more models than colours and dashes to tell them apart.
    """
    if not 1 <= len(analyses) <= MOST_OVERLAID:
        raise InputError(f"An overlay holds 1 to {MOST_OVERLAID} models, not {len(analyses)}; draw them side by side.")
    start, bottom = _axes(analyses, "bars")
    first = max(start, bottom)
    marks: list[Mark] = [Line((first, 1.0), (first, 1.0), "diagonal", "dash", 1.5, "perfect calibration")]
    for analysis, style in zip(analyses, MODEL_STYLES, strict=False):
        marks.extend(_model(analysis, bottom, *style))
    marks.extend(_end_labels(analyses, bottom))
    words = words_of(analyses[0])
    x, y = Axis(words.predicted_title, start, 1.0), Axis(words.observed_title, bottom, 1.0)
    return squared(Chart("overlay", x, y, tuple(marks), _alt(analyses), _caption(analyses, bottom), _table(analyses), width, 0))


def small_multiples(analyses: Sequence[Analysis], *, side: int = 300) -> tuple[Chart, ...]:
    """One diagram a model, with its band, all on the same axes.

    Raises
    ------
    InputError
        If there are more than eight models.
    """
    if len(analyses) > MOST_MULTIPLES:
        raise InputError(f"At most {MOST_MULTIPLES} diagrams fit side by side; there are {len(analyses)} models. Choose some of them.")
    axes = _axes(analyses, "band")
    return tuple(reliability(a, side=side, axes=axes) for a in analyses)


def _axes(analyses: Sequence[Analysis], uncertainty: Uncertainty) -> tuple[float, float]:
    return min(x_start(a) for a in analyses), min(y_start(a, uncertainty) for a in analyses)


def _model(analysis: Analysis, bottom: float, role: Role, symbol: str, dash: str) -> list[Mark]:
    """One model's line and intervals, of the bins with rows enough, and all its points; an arrow where one lies below the picture."""
    bins = analysis.bins
    which, low = filled(bins), _below(analysis, bottom)
    x, y, many = bins.confidence, bins.accuracy, _firm(analysis)
    marks: list[Mark] = []
    if many:
        marks.append(Line(tuple(x[many].tolist()), tuple(y[many].tolist()), role, dash, 1.5, analysis.name))
    if many and not bins.shared:
        bottom_ends, top_ends = (tuple(end[many].tolist()) for end in bins.interval(analysis.settings.level))
        marks.append(Whiskers(tuple(x[many].tolist()), bottom_ends, top_ends, role, analysis.name, 1))
    for ids, sign in (([i for i in which if i not in low], symbol), (low, "triangle-down")):
        tips = tuple((analysis.name, *lines) for lines in tooltips(analysis, ids))
        hollow = tuple(bool(bins.count[i] < FEW_ROWS) for i in ids)
        at = tuple(x[ids].tolist()), tuple(np.maximum(y[ids], bottom).tolist())
        marks.extend([Points(*at, (role,) * len(ids), hollow, tips, tuple(ids), sign, 9, analysis.name)] if ids else [])
    return marks


def _firm(analysis: Analysis) -> list[int]:
    """The bins that a line joins."""
    return [i for i in filled(analysis.bins) if analysis.bins.count[i] >= FEW_ROWS]


def _last(analysis: Analysis) -> int:
    """The bin at which a model's name stands: where its line ends, or its last point."""
    return (_firm(analysis) or filled(analysis.bins))[-1]


def _below(analysis: Analysis, bottom: float) -> list[int]:
    """Bins of few rows that lie below the picture."""
    return [i for i in filled(analysis.bins) if analysis.bins.accuracy[i] < bottom - 1e-9]


def _end_labels(analyses: Sequence[Analysis], bottom: float) -> list[Label]:
    """Names to the right of the lines' ends, pushed apart where they would overlap."""
    apart = 0.05 * (1 - bottom)
    ends = sorted(((float(a.bins.accuracy[_last(a)]), k) for k, a in enumerate(analyses)), reverse=True)
    places, last = [], 1.0 + apart
    for y, _ in ends:
        last = min(y, last - apart)
        places.append(last)
    least = [bottom + apart * k for k in reversed(range(len(ends)))]
    labels = []
    for (y, k), place in zip(ends, map(max, places, least), strict=True):
        a = analyses[k]
        at = float(a.bins.confidence[_last(a)])
        labels.append(Label(1.02, place, a.name, "ink", "left middle", pointer=(at, y)))  # words in a line's colour would be too pale
    return labels


def _caption(analyses: Sequence[Analysis], bottom: float) -> str:
    words, first = words_of(analyses[0]), analyses[0]
    parts = [f"Points below the dashed line: {words.over}; above it: {words.under}."]
    if not first.bins.shared:
        parts.append(f"Upright strokes: {level_percent(first.settings.level)} Wilson intervals.")
    if any((a.bins.count[a.bins.filled] < FEW_ROWS).any() for a in analyses):
        parts.append(f"Hollow: fewer than {FEW_ROWS} rows, without an interval; no line runs through these points.")
    low = sum(len(_below(a, bottom)) for a in analyses)
    if low:
        parts.append(f"Arrow{'' if low == 1 else 's'}: {low} of them {'lies' if low == 1 else 'lie'} below the picture.")
    return " ".join(parts)


def _alt(analyses: Sequence[Analysis]) -> str:
    parts = ", ".join(f"{a.name}: says {share(a.mean_confidence)}, is {share(a.accuracy)}" for a in analyses)
    return f"Reliability lines of {len(analyses)} models. On average {parts}."


def _table(analyses: Sequence[Analysis]) -> Table:
    words = words_of(analyses[0])
    rows = [
        (a.name, bin_range(a.bins, i), f"{a.bins.count[i]:,}", share(a.bins.confidence[i]), share(a.bins.accuracy[i]))
        for a in analyses
        for i in filled(a.bins)
    ]
    return Table(("Model", "Range", "Rows", f"Mean {words.predicted}", words.observed.capitalize()), tuple(rows))
