"""Charts: results → marks (plain data), and the renderers of marks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibcore.errors import InputError
from calibcore.plot.changes import changes
from calibcore.plot.classes import classes
from calibcore.plot.counts import counts
from calibcore.plot.cumulative import cumulative
from calibcore.plot.differences import differences
from calibcore.plot.gaps import gaps
from calibcore.plot.groups import groups
from calibcore.plot.marks import Chart
from calibcore.plot.overlay import overlay, small_multiples
from calibcore.plot.periods import periods
from calibcore.plot.reliability import reliability
from calibcore.plot.risk_coverage import risk_coverage
from calibcore.plot.sweep import sweep

if TYPE_CHECKING:
    from calibcore.plot.static import draw, pdf, png, save, svg

__all__ = [
    "CHARTS",
    "OTHERS",
    "Chart",
    "changes",
    "classes",
    "counts",
    "cumulative",
    "differences",
    "draw",
    "gaps",
    "groups",
    "overlay",
    "pdf",
    "periods",
    "png",
    "reliability",
    "risk_coverage",
    "save",
    "small_multiples",
    "svg",
    "sweep",
]

# A new chart is one module and one line here.  Charts of one analysis, in the order of a page:
CHARTS = {
    "reliability": reliability,
    "gaps": gaps,
    "counts": counts,
    "sweep": sweep,
    "cumulative": cumulative,
    "classes": classes,
    "risk_coverage": risk_coverage,
}
# Charts of other results: several analyses, a comparison, remedies, groups, periods.
OTHERS = {"overlay": overlay, "differences": differences, "changes": changes, "groups": groups, "periods": periods}

_PICTURES = ("draw", "pdf", "png", "save", "svg")  # loaded when first used: numbers need no Matplotlib


def __getattr__(name: str) -> Any:
    if name not in _PICTURES:
        raise AttributeError(f"module 'calibcore.plot' has no attribute '{name}'")
    try:
        static = import_module("calibcore.plot.static")
    except ModuleNotFoundError as fault:
        if (fault.name or "").partition(".")[0] != "matplotlib":
            raise
        raise InputError('Pictures are drawn by matplotlib, which is not installed (pip install "calibcore[plot]").') from None
    return getattr(static, name)
