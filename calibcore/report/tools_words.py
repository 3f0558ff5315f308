"""Why another tool prints another ECE for the same rows: the table and the sentence above it."""

from __future__ import annotations

from collections.abc import Sequence

from calibcore.analysis import Analysis
from calibcore.measures.reconcile import Reconciled
from calibcore.report.tables import Table, plain, score_text

__all__ = ["tools_sentence", "tools_table"]


def tools_table(found: Sequence[Reconciled]) -> Table:
    """One line for all tools and rules of one ECE of these rows and one cause, in the order of the first of each."""
    alike: dict[tuple[str, str], list[str]] = {}
    for r in found:
        alike.setdefault((score_text(r.ece), plain(r.why)), []).append(plain(r.tool))
    rows = ((", ".join(tools), ece, why) for (ece, why), tools in alike.items())
    return Table(("Tool or rule", "ECE", "Why it differs"), tuple(rows))


def tools_sentence(a: Analysis, found: Sequence[Reconciled]) -> str:
    """How far the values lie apart, and which settings they share with the page."""
    values = [r.ece for r in found if r.ece is not None]
    low, high = score_text(min(values)), score_text(max(values))
    none = len(found) - len(values)
    refused = f" {none} of {len(found)} {'gives' if none == 1 else 'give'} no value for these rows." if none else ""
    spread = f"The same {a.n:,} rows by {len(found)} rules give an ECE from {low} to {high}.{refused}"
    text = f"{spread} They differ in what they ask and in how they bin."
    s = a.settings
    as_shown = s.strategy == "equal_width" and s.closed == "right" and s.edges is None
    return text if as_shown else f"{text} All start from {s.n_bins} equal-width bins (a, b], which are not the bins shown above."
