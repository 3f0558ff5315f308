"""ECE against the number of bins, which shows whether the answer depends on how the rows are binned."""

from __future__ import annotations

from collections.abc import Sequence

from calibcore.analysis import Analysis
from calibcore.plot.frame import SIDE
from calibcore.plot.marks import Axis, Chart, Label, Line, Mark, Points, Ribbon, Table

__all__ = ["ece_between", "sweep"]

_DRAWN = 50  # largest number of bins on the picture
_ROOM = 1.16  # of the largest value: room for words


def sweep(analysis: Analysis, *, width: int = 2 * SIDE, height: int = 320) -> Chart:
    """ECE of both strategies for 2 to 50 bins, the shown bins marked, over what chance alone gives.

    Parameters
    ----------
    analysis : Analysis
    width, height : int
        In pixels.
    """
    s = analysis.sweep
    shown = [i for i, m in enumerate(s.n_bins) if m <= _DRAWN]
    x = tuple(float(s.n_bins[i]) for i in shown)
    width_line = tuple(s.equal_width[i] for i in shown)
    mass_line = tuple(s.equal_mass[i] for i in shown)
    chance = analysis.chance_sweep
    top = _ROOM * max(*width_line, *mass_line, *chance.p95, analysis.chance.p95, analysis.ece, 1e-6)
    marks: tuple[Mark, ...] = (
        Ribbon(tuple(map(float, chance.n_bins)), chance.median, chance.p95, name=f"chance alone, {_strategy(analysis)}"),
        Line(x, width_line, "ink", "solid", 2, "equal width", _tooltips(x, width_line, "equal width")),
        Line(x, mass_line, "diagonal", "dash", 2, "equal mass", _tooltips(x, mass_line, "equal mass")),
        *(_shown(analysis, top) if analysis.bins.requested <= _DRAWN else ()),
    )
    axes = Axis("Number of bins", 1.0, float(_DRAWN) + 1, "count"), Axis("ECE", 0.0, top, "number")
    table = Table(
        ("Bins", "ECE, equal width", "ECE, equal mass", "By chance, median", "By chance, 95th percentile"),
        tuple((f"{s.n_bins[i]}", *(f"{line[i]:.4f}" for line in (s.equal_width, s.equal_mass, chance.median, chance.p95))) for i in shown),
    )
    return Chart("sweep", *axes, marks, _alt(analysis), _caption(analysis), table, width, height, analysis.name, legend=True)


def ece_between(n_bins: Sequence[int], ece: Sequence[float], first: int = 5, last: int = 50) -> tuple[float, float]:
    """Smallest and largest ECE of a strategy between two numbers of bins."""
    found = [e for m, e in zip(n_bins, ece, strict=True) if first <= m <= last]
    return min(found), max(found)


def _shown(analysis: Analysis, top: float) -> tuple[Points, Label]:
    """The bins that are shown, with their ECE."""
    here = float(analysis.bins.requested)
    tip = (f"{analysis.bins.requested} bins, {analysis.settings.strategy.replace('_', ' ')}", f"ECE {analysis.ece:.4f}", "shown now")
    # over all curves, and away from the end of the axis that is nearer
    side = "left" if here <= _DRAWN / 2 else "right"
    label = Label(here, 0.99 * top, f"shown: {analysis.ece:.4f}", "ink", f"{side} top", pointer=(here, analysis.ece))
    return Points((here,), (analysis.ece,), ("ink",), (False,), (tip,), (0,), size=12, name="shown now"), label


def _tooltips(x: tuple[float, ...], y: tuple[float, ...], name: str) -> tuple[tuple[str, ...], ...]:
    return tuple((f"{m:.0f} bins, {name}", f"ECE {e:.4f}") for m, e in zip(x, y, strict=True))


def _alt(analysis: Analysis) -> str:
    s = analysis.sweep
    (a, b), (c, d) = (ece_between(s.n_bins, line) for line in (s.equal_width, s.equal_mass))
    runs = f"from {a:.4f} to {b:.4f} with equal-width bins and from {c:.4f} to {d:.4f} with equal-mass bins"
    return f"ECE of {analysis.name} against the number of bins: between 5 and 50 bins it runs {runs}."


def _strategy(analysis: Analysis) -> str:
    """The bins in which chance is drawn."""
    return "equal mass" if analysis.settings.strategy == "equal_mass" else "equal width"


def _caption(analysis: Analysis) -> str:
    strategy = _strategy(analysis).replace(" ", "-")
    shown = "your edges" if analysis.settings.strategy == "custom" else f"{analysis.bins.requested} bins"
    dot = f"Dot: {shown}, as shown."
    if analysis.bins.requested > _DRAWN:
        dot = f"The {analysis.bins.requested} bins shown, with an ECE of {analysis.ece:.4f}, lie beyond the picture."
    said = "confidences" if analysis.view == "top_label" else "probabilities"
    return (
        f"Solid: bins of equal width. Dashed: bins of equal mass. {dot} "
        f"Grey: what a calibrated model with these {said} gives by chance in {strategy} bins, "
        "from what is typical (the median) to what 1 of 20 samples exceeds."
    )
