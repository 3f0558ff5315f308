"""Classwise ECE beside what chance alone gives: which classes' probabilities do not fit."""

from __future__ import annotations

from calibcore.analysis import Analysis
from calibcore.inference.intervals import Estimate
from calibcore.measures.calibration_error import ClasswiseError
from calibcore.plot.forest import Row, Sheet, forest, nothing
from calibcore.plot.frame import SIDE
from calibcore.plot.marks import Chart, Intervals, Table
from calibcore.plot.wording import difference, listed

__all__ = ["MOST_CLASSES", "classes"]

MOST_CLASSES = 20


def classes(analysis: Analysis, *, width: int = SIDE) -> Chart:
    """One-vs-rest ECE of each class over what it shows by chance; the class farthest beyond it at the top.

    Parameters
    ----------
    analysis : Analysis
    width : int
        In pixels; the height follows from the number of classes.

    Notes
    -----
    The id of a point is the place of its class in ``analysis.classes``.  A grey bar ends at the mean of a calibrated model in
    these bins.  No intervals: an interval of a plug-in ECE does not cover the truth.
    """
    found = analysis.classwise
    worst = [] if found is None else sorted(found.per_class, key=lambda c: found.per_class[c] - analysis.floors[c], reverse=True)
    drawn = worst[:MOST_CLASSES]
    sheet = Sheet(
        "classes",
        "ECE of each class against the rest",
        ("Grey: by chance alone, on average", ""),
        "",
        _alt(analysis, found, worst),
        _caption(analysis, found, drawn),
        _table(analysis, found, worst),
        "number",
        analysis.name,
    )
    if found is None:
        return nothing(sheet, "No probabilities of single classes.", width=width)
    top = len(drawn) - 1
    places, floors = tuple(float(top - k) for k in range(len(drawn))), tuple(analysis.floors[c] for c in drawn)
    chance = Intervals(places, (0.0,) * len(drawn), floors, "within", "by chance alone, on average", 11, caps=False)
    return forest(sheet, [_row(c, analysis, found) for c in drawn], behind=(chance,), width=width)


def _row(name: str, analysis: Analysis, found: ClasswiseError) -> Row:
    ece, floor = found.per_class[name], analysis.floors[name]
    lines = (
        name,
        f"ECE of this class against the rest {ece:.4f}",
        f"by chance alone {floor:.4f} on average",
        f"{found.rows[name]:,} of {analysis.n:,} rows have this label",
    )
    return Row(name, Estimate(ece), lines, _places(analysis)[name], "ink" if ece > floor else "within")


def _places(analysis: Analysis) -> dict[str, int]:
    return {name: k for k, name in enumerate(analysis.classes)}


def _alt(analysis: Analysis, found: ClasswiseError | None, worst: list[str]) -> str:
    if found is None:
        return f"Classes of {analysis.name}: the file has no probabilities of single classes."
    beyond = [c for c in worst if found.per_class[c] > analysis.floors[c]]
    most = f"; most beyond it: {listed(beyond[:3], 3)}" if beyond else ""
    lie = f"{len(beyond)} of {len(worst)} classes {'lies' if len(beyond) == 1 else 'lie'}"
    return f"Classwise ECE of {analysis.name}: {lie} above the mean that chance alone gives{most}."


def _caption(analysis: Analysis, found: ClasswiseError | None, drawn: list[str]) -> str:
    if found is None:
        return "Only the confidence in the predicted class is known, so classes cannot be judged one by one."
    parts = [
        "Dot: ECE of each class against the rest. Grey bar: the mean of a calibrated model in these bins.",
        "By luck about half the dots lie beyond their bar.",
    ]
    if len(drawn) < len(found.per_class):
        parts.append(f"Drawn are the {len(drawn)} worst of {len(found.per_class):,} classes; the table has all.")
    top = analysis.views.get("top_label")
    beside = "" if top is None else f"Top-label ECE {top.ece:.4f}; "
    mean = f"{'mean' if beside else 'Mean'} of the classwise ECEs {found.mean:.4f}, which tends to fall as classes are added."
    return " ".join([*parts, f"{beside}{mean}"])


def _table(analysis: Analysis, found: ClasswiseError | None, worst: list[str]) -> Table:
    header = ("Class", "Rows with this label", "ECE", "By chance, mean", "ECE minus chance")
    if found is None:
        return Table(header, ())
    rows = (
        (
            c,
            f"{found.rows[c]:,}",
            f"{found.per_class[c]:.4f}",
            f"{analysis.floors[c]:.4f}",
            difference(found.per_class[c] - analysis.floors[c]),
        )
        for c in worst
    )
    return Table(header, tuple(rows))
