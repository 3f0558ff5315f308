"""What is said where a model is known from a profile: what its numbers are worth, and what needs the rows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from calibcore.analysis import Analysis
from calibcore.checks import listing, rows_text
from calibcore.predictions import Predictions

__all__ = [
    "FIX",
    "NOT_TESTED",
    "NO_GROUPS",
    "NO_PERIODS",
    "NO_TEST",
    "OTHER_TOOLS",
    "ROWS_CSV",
    "ROWS_OF_BIN",
    "about_text",
    "is_told_shortly",
    "read_as",
    "report_line",
    "within_text",
]

_ADD = "Add the prediction file in the sidebar"
ROWS_OF_BIN = f"The rows behind this bin are not in a profile, which holds sums of rows. {_ADD} to see them."
ROWS_CSV = "The rows themselves cannot be taken along: a profile holds sums of rows."
OTHER_TOOLS = f"What other tools would give is computed from the rows, which a profile does not hold. {_ADD} to compare them."
FIX = (
    "Whether recalibration helps is judged on rows that it was not fitted on, and a profile holds no rows. "
    f"{_ADD}, or run calibcore measure FILE --request remedies where that file is."
)
NO_TEST = "Recalibration cannot be tested here: a profile holds no rows."
NOT_TESTED = "Not tested whether it helps: that needs the rows, and this report was made from a profile."
NO_GROUPS = "This profile was made without groups. They are named when it is made, with --group; or add the prediction file in the sidebar."
NO_PERIODS = "Whether the gap changes over time cannot be told from a profile, which holds no times."
_WORTH = re.compile(r"^(From a reduced profile:|With equal-mass bins \(any number|Not available without the rows:)")


def within_text(a: Analysis, name: str) -> str:
    """How far a number of a reduced profile can be from that of the rows, rounded up: " ± 0.0003"; "" where it is exact."""
    known = None if a.precision is None else a.precision.get(name)
    return "" if known is None or not known.within else f" ± {max(math.ceil(1e4 * known.within), 1) / 1e4:.4f}"


def about_text(a: Analysis, name: str) -> str:
    """What stands before a number of a reduced profile that is approximate: "≈ "; else ""."""
    known = None if a.precision is None else a.precision.get(name)
    return "≈ " if known is not None and known.kind == "approximate" else ""


def is_told_shortly(note: str) -> bool:
    """Whether a note says what `report_line` says in fewer words."""
    return _WORTH.match(note) is not None


def report_line(a: Analysis) -> str | None:
    """What the numbers of a report are worth that come from a profile; None where they come from rows."""
    if a.precision is None:
        told = any(map(is_told_shortly, a.notes))
        return "Known from a profile, without the rows; its numbers are those of the rows." if told else None
    within = within_text(a, "ece")
    exact = "these numbers are those of the rows" if not within else f"the ECE is within{within} of that of the rows, the others are theirs"
    return f"Known from a reduced profile, without the rows: {exact}, but for what chance gives, which is approximate."


def read_as(models: Iterable[Predictions]) -> str:
    """How a profile file was read, in a line: "Reduced profile: 20,000 rows in 3,333 cells; groups by site (3)."."""
    found = list(models)
    sizes = [f"{rows_text(m.n)} in {_cells(m)}" for m in found]
    columns = list(dict.fromkeys(f"{c} ({len(v)})" for m in found for c, v in m.groups.items()))
    groups = f"; groups by {listing(columns, 6)}" if columns else ""
    kind = "Reduced profile" if any(m.profile(v).reduced for m in found for v in m.views[:1]) else "Profile"
    return f"{kind}: {'; '.join(dict.fromkeys(sizes))}{groups}.{f' {len(found)} models.' if len(found) > 1 else ''}"


def _cells(model: Predictions) -> str:
    """Cells of the first view: of a profile that is not reduced, its different values."""
    profile = model.profile(model.views[0])
    return f"{len(profile):,} {'cells' if profile.reduced else 'values'}"
