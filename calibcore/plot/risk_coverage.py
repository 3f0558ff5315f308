"""Error rate, found and expected, against the share of rows acted on, the most confident first."""

from __future__ import annotations

import numpy as np

from calibcore.advice.verdict import percent
from calibcore.analysis import Analysis
from calibcore.measures.decisions import ThresholdPanel
from calibcore.measures.risk_coverage import RiskCoverage
from calibcore.plot.frame import SIDE, words_of
from calibcore.plot.marks import Axis, Chart, Label, Line, Mark, Points, Ribbon, Rule, Table, Whiskers
from calibcore.plot.wording import FEW_ROWS, level_percent, share, shortened

__all__ = ["risk_coverage"]

_LISTED = 21  # rows of the table
_ROOM = 1.12  # of the largest rate
_APART = 0.07  # of the height, between two labels


def risk_coverage(analysis: Analysis, *, width: int = SIDE, height: int = 360) -> Chart:
    """Errors found and errors expected by the model among the rows acted on, for every share of rows from 30 rows up.

    Parameters
    ----------
    analysis : Analysis
        With a threshold in its settings the chart marks it, with the interval of the error rate.
    width, height : int
        In pixels.
    """
    curve: RiskCoverage = analysis.measures["risk_coverage"]
    panel: ThresholdPanel | None = analysis.measures["threshold"]
    first = _first(curve)
    x, found, expected = (tuple(a[first:].tolist()) for a in (curve.coverage, curve.risk, curve.expected_risk))
    at = _threshold(analysis, panel)
    band = _band(analysis, curve, first)
    top = min(1.0, _ROOM * max(*found, *expected, *(h for m in (*at, *band) if isinstance(m, Whiskers | Ribbon) for h in m.high), 0.01))
    tips = _tips(analysis, curve)[first:]
    marks: list[Mark] = [
        *band,
        Line(x, expected, "diagonal", "dash", 1.5, "errors expected", tips),
        Line(x, found, "ink", "solid", 2, "errors found", tips),
        *(_ends(x, found, expected, tips) if len(x) == 1 else []),
        *at,
        *_labels(found[-1], expected[-1], top),
    ]
    return Chart(
        "risk_coverage",
        Axis(f"Share of rows acted on, the highest {words_of(analysis).predicted} first", 0.0, 1.0),
        Axis("Error rate among them", 0.0, top),
        tuple(marks),
        _alt(analysis, curve, panel),
        _caption(analysis, panel, few=first == 0 and analysis.n < FEW_ROWS, late=first > 0),
        _table(analysis, curve),
        width,
        height,
        analysis.name,
    )


def _first(curve: RiskCoverage) -> int:
    """The first point of the curve that rests on 30 rows; the very first where none does."""
    return int(np.argmax(curve.count >= FEW_ROWS))


def _band(analysis: Analysis, curve: RiskCoverage, first: int) -> list[Ribbon]:
    """The interval of the error rate along the curve."""
    if first == len(curve.coverage) - 1:
        return []
    level = analysis.settings.level
    x, low, high = (tuple(a[first:].tolist()) for a in (curve.coverage, *curve.interval(level)))
    return [Ribbon(x, low, high, name=f"{level_percent(level)} Wilson interval of the errors found")]


def _ends(x: tuple[float, ...], found: tuple[float, ...], expected: tuple[float, ...], tips: tuple[tuple[str, ...], ...]) -> list[Mark]:
    """One score only: no line, two points."""
    return [Points(x * 2, (*expected, *found), ("diagonal", "ink"), (True, False), tips * 2, (0, 1), name="all rows")]


def _threshold(analysis: Analysis, panel: ThresholdPanel | None) -> list[Mark]:
    """A line at the threshold's coverage, and the error rate there with its interval."""
    if panel is None or panel.acted.rate_found is None or panel.acted.rate_expected is None:
        return []
    level = level_percent(analysis.settings.level)
    low, high = panel.acted.interval(analysis.settings.level)
    assert low is not None
    assert high is not None
    x = panel.coverage
    tip = (
        panel.rule,
        f"acted on: {panel.acted.count:,} rows, {share(x)}",
        f"errors expected {panel.acted.errors_expected:,.1f}, found {panel.acted.errors_found:,.0f}",
        f"error rate {share(panel.acted.rate_found)}, {level} Wilson interval {100 * low:.1f} to {share(high)}",
    )
    return [
        Rule("ink", x=x, dash="dot", text=f"{panel.rule}: {percent(x)} of rows"),
        Whiskers((x,), (low,), (high,), name=f"{level} Wilson interval"),
        Points((x,), (panel.acted.rate_found,), ("ink",), (panel.acted.count < FEW_ROWS,), (tip,), (0,), name="at the threshold"),
    ]


def _labels(found: float, expected: float, top: float) -> list[Mark]:
    """Names at the right ends of the lines, pushed apart where they would overlap."""
    middle, half = (found + expected) / 2, max(abs(found - expected), _APART * top) / 2
    middle = min(max(middle, half), top - half)
    sign = 1 if found >= expected else -1
    return [
        Label(1.02, middle + sign * half, "found", "ink", "left middle"),
        Label(1.02, middle - sign * half, "expected", "text", "left middle"),
    ]


def _tips(analysis: Analysis, curve: RiskCoverage) -> tuple[tuple[str, ...], ...]:
    name = words_of(analysis).predicted
    rows = zip(*(a.tolist() for a in (curve.coverage, curve.threshold, curve.risk, curve.expected_risk)), strict=True)
    return tuple(
        (f"{name} of at least {100 * t:.1f}%", f"{share(c)} of rows acted on", f"error rate {share(r)}, expected {share(e)}")
        for c, t, r, e in rows
    )


def _alt(analysis: Analysis, curve: RiskCoverage, panel: ThresholdPanel | None) -> str:
    name = f"Error rate of {analysis.name} against the share of rows acted on"
    every = f"over all rows it is {share(curve.risk[-1])}, expected {share(curve.expected_risk[-1])}"
    if panel is None:
        return f"{name}: {every}."
    if panel.acted.rate_found is None or panel.acted.rate_expected is None:
        return f"{name}: {every}; no row has a {panel.rule}."
    rates = f"{share(panel.acted.rate_found)}, expected {share(panel.acted.rate_expected)}"
    return f"{name}: with {panel.rule}, {percent(panel.coverage)} of rows, it is {rates}; {every}."


def _caption(analysis: Analysis, panel: ThresholdPanel | None, *, few: bool, late: bool) -> str:
    event = analysis.positive_class or "positive" if analysis.view == "positive" else analysis.view.removeprefix("class:")
    error = "a wrong prediction" if analysis.view == "top_label" else f"a row that is not “{shortened(event)}”"
    parts = [
        f"An error is {error}. Solid: found in these rows. Dashed: what the model's own {words_of(analysis).predicted} expects.",
        "Solid above dashed: more errors than claimed.",
        f"Grey: {level_percent(analysis.settings.level)} Wilson interval of the errors found, at each place by itself.",
    ]
    if late:
        parts.append(f"Both lines begin at {FEW_ROWS} rows.")
    if few:
        parts.append(f"All of it rests on fewer than {FEW_ROWS} rows.")
    if panel is not None:
        parts.append(
            f"Dotted: your threshold, with the {level_percent(analysis.settings.level)} Wilson interval of its error rate."
            if panel.acted.rate_found is not None
            else f"No row has a {panel.rule}, so nothing is acted on at your threshold."
        )
    parts.append("A threshold chosen here for its low error rate needs other rows to confirm it.")
    return " ".join(parts)


def _table(analysis: Analysis, curve: RiskCoverage) -> Table:
    header = ("Share of rows acted on", f"{words_of(analysis).predicted.capitalize()} of at least", "Error rate", "Expected")
    last = len(curve.coverage) - 1
    kept = sorted({round(k * last / (_LISTED - 1)) for k in range(_LISTED)})
    columns = (curve.coverage, curve.threshold, curve.risk, curve.expected_risk)
    return Table(header, tuple(tuple(share(float(c[k])) for c in columns) for k in kept))
