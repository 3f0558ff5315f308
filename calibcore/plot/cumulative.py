"""Cumulative differences between what was right and what was claimed: miscalibration without bins, and where it is."""

from __future__ import annotations

from calibcore.advice.verdict import percent, points
from calibcore.analysis import Analysis
from calibcore.measures.cumulative import CumulativeCurve, CumulativeDifferences
from calibcore.plot.frame import SIDE, words_of
from calibcore.plot.marks import Axis, Chart, Label, Line, Mark, Points, Ribbon, Rule, Table
from calibcore.plot.palette import Role
from calibcore.plot.wording import difference, level_percent, p_words

__all__ = ["cumulative"]

_DRAWN, _LISTED = 300, 40  # points of the curve on the picture and in the table
_SMALL_P = 0.05
_ROOM = 1.3  # of the farthest point or of chance: room for words


def cumulative(analysis: Analysis, *, width: int = SIDE, height: int = 340) -> Chart:
    """Σw·(event − confidence) of all rows up to each confidence, over the sum of weights.

    Parameters
    ----------
    analysis : Analysis
    width, height : int
        In pixels.

    Notes
    -----
    The curve is thinned to 300 points (the table to 40), with its ends and its extremes exact.  Where it falls, more is
    claimed than was right; its slope is the gap of the rows there.  The grey range is ±q·sigma, q the quantile of the largest
    |Brownian motion|: the whole curve of a calibrated model stays within it with the probability of the level, or a larger one
    where ties make few steps.  It assumes independent rows, so it is not drawn where rows go together in clusters.
    """
    found: CumulativeDifferences = analysis.measures["cumulative"]
    curve = found.curve(_DRAWN)
    limit = found.chance_limit(analysis.settings.level)
    reach = _ROOM * max(found.mad, limit or 0.0, 1e-4)
    marks: list[Mark] = []
    if limit:
        level = level_percent(analysis.settings.level)
        marks.append(Ribbon((0.0, 1.0), (-limit, -limit), (limit, limit), name=f"{level} range if calibrated"))
    marks.append(Rule("diagonal", y=0.0, dash="dash"))
    marks.append(
        Line(
            tuple(curve.share.tolist()),
            tuple(curve.difference.tolist()),
            "ink",
            "solid",
            1.5,
            "all rows up to here",
            _tips(analysis, curve),
        )
    )
    marks.extend(_run(analysis, found, curve, reach, limit))
    return Chart(
        "cumulative",
        Axis(f"Share of rows, by rising {words_of(analysis).predicted}", 0.0, 1.0),
        Axis("Sum of gaps (points of all rows)", -reach, reach, "points"),
        tuple(marks),
        _alt(analysis, found),
        _caption(analysis, limit),
        _table(analysis, found.curve(_LISTED)),
        width,
        height,
        analysis.name,
    )


def _run(analysis: Analysis, found: CumulativeDifferences, curve: CumulativeCurve, reach: float, limit: float | None) -> list[Mark]:
    """The two ends of the run that attains the range, and what it is, in words."""
    if not found.sign:
        return []
    ends = sorted((int(curve.difference.argmin()), int(curve.difference.argmax())))
    x, y = tuple(curve.share[ends].tolist()), tuple(curve.difference[ends].tolist())
    tips = tuple(t for k, t in enumerate(_tips(analysis, curve)) if k in ends)
    role: Role = "within" if found.p_value > _SMALL_P else "over" if found.sign < 0 else "under"
    text = f"{_word(analysis, found)}: {_where(found)}" if found.p_value <= _SMALL_P else "no run beyond chance"
    high = sum(y) > 0
    # words on the side that the curve leaves free, and at the end of the axis away from the run; within chance where it is
    far = (0.9 if found.p_value <= _SMALL_P or not limit else 0.78 * limit / reach) * (-1 if high else 1)
    return [
        Line(*_between(curve, ends), role, "solid", 3, "largest run"),
        Points(x, y, (role, role), (False, False), tips, (0, 1), size=9, name="ends of the largest run"),
        Label(0.02 if sum(x) > 1 else 0.98, far * reach, text, "ink", f"{'left' if sum(x) > 1 else 'right'} middle"),
    ]


def _between(curve: CumulativeCurve, ends: list[int]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    part = slice(ends[0], ends[1] + 1)
    return tuple(curve.share[part].tolist()), tuple(curve.difference[part].tolist())


def _word(analysis: Analysis, found: CumulativeDifferences) -> str:
    words = words_of(analysis)
    return words.over if found.sign < 0 else words.under


def _where(found: CumulativeDifferences) -> str:
    low, high = (percent(v) for v in found.interval)
    return low if low == high else f"{low} to {high}"


def _tips(analysis: Analysis, curve: CumulativeCurve) -> tuple[tuple[str, ...], ...]:
    name = words_of(analysis).predicted
    rows = zip(curve.share.tolist(), curve.score.tolist(), curve.difference.tolist(), strict=True)
    return tuple(
        (f"{name} up to {100 * score:.1f}%: {percent(part)} of rows", f"sum of gaps {difference(d, in_points=True)} points")
        for part, score, d in rows
    )


def _alt(analysis: Analysis, found: CumulativeDifferences) -> str:
    if not found.sign:
        return (
            f"Cumulative differences of {analysis.name}: none; outcomes add up to what is claimed at every {words_of(analysis).predicted}."
        )
    name, size = f"Cumulative differences of {analysis.name}", f"{points(found.range)} points of all rows"
    if found.p_value > _SMALL_P:
        return (
            f"{name}: no run of rows differs from what is claimed by more than chance explains (largest {size}, {p_words(found.p_value)})."
        )
    where = f"{words_of(analysis).predicted} {_where(found)}"
    return f"{name}: {_word(analysis, found)} at {where}, which adds up to {size} ({p_words(found.p_value)})."


def _caption(analysis: Analysis, limit: float | None) -> str:
    words = words_of(analysis)
    parts = [
        f"Each point adds up {words.observed} − {words.predicted} of all rows up to it.",
        f"Falling: {words.over} there; rising: {words.under}; level: as claimed.",
    ]
    if limit:
        level = level_percent(analysis.settings.level)
        parts.append(f"Grey: the whole curve of a calibrated model stays in it {level} of the time, if rows are independent.")
    elif analysis.measures["cumulative"].sigma == 0:
        parts.append("Every probability is 0 or 1, so chance allows no difference at all.")
    else:
        parts.append("Rows go together in clusters, so no range by chance is drawn; the p-value takes them into account.")
    return " ".join([*parts, "Thick: the largest run."])


def _table(analysis: Analysis, curve: CumulativeCurve) -> Table:
    header = ("Share of rows", f"{words_of(analysis).predicted.capitalize()} up to", "Sum of gaps (points of all rows)")
    rows = zip(curve.share.tolist(), curve.score.tolist(), curve.difference.tolist(), strict=True)
    return Table(header, tuple((f"{100 * s:.1f}%", f"{100 * v:.2f}%" if s else "–", _fine(d)) for s, v, d in rows))


def _fine(d: float) -> str:
    text = f"{100 * d:+.2f}".replace("-", "−")
    return text if float(text[1:]) else "0"
