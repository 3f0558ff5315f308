"""Charts: results → marks (plain data), and the renderers of marks."""

from calibcore.plot.counts import counts
from calibcore.plot.gaps import gaps
from calibcore.plot.marks import Chart
from calibcore.plot.overlay import overlay, small_multiples
from calibcore.plot.reliability import reliability
from calibcore.plot.sweep import sweep

__all__ = ["CHARTS", "Chart", "counts", "gaps", "overlay", "reliability", "small_multiples", "sweep"]

# Charts of one analysis, in the order of a page.  A new chart is one module and one line here.
CHARTS = {"reliability": reliability, "gaps": gaps, "counts": counts, "sweep": sweep}
