"""Several models in one diagram, told apart by colour, marker and dash, each named at the end of its line."""

from __future__ import annotations

from collections.abc import Sequence

from calibcore.analysis import Analysis
from calibcore.errors import InputError
from calibcore.plot.frame import diagonal_height, filled, tooltips, words_of, x_start
from calibcore.plot.marks import Axis, Chart, Label, Line, Mark, Points, Table
from calibcore.plot.palette import MODEL_STYLES
from calibcore.plot.reliability import reliability, y_start
from calibcore.plot.wording import FEW_ROWS, bin_range, share

__all__ = ["MOST_MULTIPLES", "MOST_OVERLAID", "overlay", "small_multiples"]

MOST_OVERLAID = len(MODEL_STYLES)
MOST_MULTIPLES = 8


def overlay(analyses: Sequence[Analysis], *, width: int = 640) -> Chart:
    """Reliability lines of up to four models.

    Parameters
    ----------
    analyses : sequence of Analysis
        Under the same settings.
    width : int
        In pixels; the height follows, so that the diagonal runs at about 45 degrees.

    Raises
    ------
    InputError
        If there are more models than colours and dashes to tell them apart.
    """
    if not 1 <= len(analyses) <= MOST_OVERLAID:
        raise InputError(f"An overlay holds 1 to {MOST_OVERLAID} models, not {len(analyses)}; draw them side by side.")
    start, bottom = _axes(analyses)
    first = max(start, bottom)
    marks: list[Mark] = [Line((first, 1.0), (first, 1.0), "diagonal", "dash", 1.5, "perfect calibration")]
    for analysis, style in zip(analyses, MODEL_STYLES, strict=False):
        marks.extend(_model(analysis, *style))
    marks.extend(_end_labels(analyses, bottom))
    words = words_of(analyses[0])
    x, y = Axis(words.predicted_title, start, 1.0), Axis(words.observed_title, bottom, 1.0)
    caption = f"Points below the dashed line: {words.over}; above it: {words.under}. Hollow: fewer than {FEW_ROWS} rows."
    return Chart("overlay", x, y, tuple(marks), _alt(analyses), caption, _table(analyses), width, diagonal_height(width, start, bottom))


def small_multiples(analyses: Sequence[Analysis], *, side: int = 300) -> tuple[Chart, ...]:
    """One diagram a model, with its band, all on the same axes.

    Raises
    ------
    InputError
        If there are more than eight models.
    """
    if len(analyses) > MOST_MULTIPLES:
        raise InputError(f"At most {MOST_MULTIPLES} diagrams fit side by side; there are {len(analyses)} models. Choose some of them.")
    axes = _axes(analyses)
    return tuple(reliability(a, side=side, axes=axes) for a in analyses)


def _axes(analyses: Sequence[Analysis]) -> tuple[float, float]:
    return min(x_start(a) for a in analyses), min(y_start(a) for a in analyses)


def _model(analysis: Analysis, role: str, symbol: str, dash: str) -> tuple[Line, Points]:
    bins = analysis.bins
    which = filled(bins)
    x, y = tuple(bins.confidence[which].tolist()), tuple(bins.accuracy[which].tolist())
    tips = tuple((analysis.name, *lines) for lines in tooltips(analysis, which))
    hollow = tuple(bool(bins.count[i] < FEW_ROWS) for i in which)
    points = Points(x, y, (role,) * len(which), hollow, tips, tuple(which), symbol, 9, analysis.name)  # type: ignore[arg-type]
    return Line(x, y, role, dash, 1.5, analysis.name), points  # type: ignore[arg-type]


def _end_labels(analyses: Sequence[Analysis], bottom: float) -> list[Label]:
    """Names to the right of the lines' ends, pushed apart where they would overlap."""
    apart = 0.05 * (1 - bottom)
    ends = sorted(((float(a.bins.accuracy[filled(a.bins)[-1]]), k) for k, a in enumerate(analyses)), reverse=True)
    places, last = [], 1.0 + apart
    for y, _ in ends:
        last = min(y, last - apart)
        places.append(last)
    least = [bottom + apart * k for k in reversed(range(len(ends)))]
    labels = []
    for (y, k), place in zip(ends, map(max, places, least), strict=True):
        a = analyses[k]
        end = float(a.bins.confidence[filled(a.bins)[-1]])
        labels.append(Label(1.02, place, a.name, MODEL_STYLES[k][0], "left middle", pointer=(end, y)))
    return labels


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
