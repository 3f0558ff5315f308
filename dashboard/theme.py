"""Which theme the reader uses, and the page's few own styles."""

from __future__ import annotations

import streamlit as st

__all__ = ["is_dark", "style"]

# Figures in a line that wraps on a narrow screen, tables that scroll inside themselves, numbers of equal width; where one
# column stands below the other, words come before charts.
_CSS = """
<style>
[data-testid="stMainBlockContainer"] { padding: 4.5rem 2.5rem 3rem; max-width: 84rem; }
[data-testid="stMetricValue"] { font-size: 1.5rem; font-variant-numeric: tabular-nums; }
[data-testid="stTable"] { overflow-x: auto; font-variant-numeric: tabular-nums; }
[data-testid="stTableStyledTable"]:has(th:nth-child(6)) td:first-child p { white-space: nowrap !important; }
[data-testid="stTableStyledTable"]:has(th:nth-child(6)) { min-width: 42rem; }
[data-testid="stTableStyledTable"]:has(th:nth-child(9)) { min-width: 62rem; }
[class*="st-key-wide"] [data-testid="stTableStyledTable"] { min-width: 44rem; }
[data-testid="stMain"] h1 { font-size: 1.9rem; padding: 0.4rem 0; }
[data-testid="stMain"] h2 { font-size: 1.3rem; padding: 0.6rem 0 0.2rem; }
[data-tag] { background: transparent !important; border: 1px solid currentColor; }
[data-tag], [data-tag] * { color: inherit !important; }
[data-testid="stMetric"] { min-width: 6rem; }
[data-testid="stMetricDelta"], [data-testid="stMetricDelta"] * { font-size: 0.82rem; white-space: normal !important; overflow: visible; }
.caveats summary { cursor: pointer; padding: 0.35rem 0; min-height: 24px; font-size: 0.9rem; }
.caveats p { margin: 0 0 0.5rem 1rem; font-size: 0.9rem; }
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding: 4.5rem 1rem 2rem; }
  [data-testid="stColumn"]:has(.st-key-beside) { order: -1; }
}
</style>
"""


def is_dark() -> bool:
    """Whether the page has a dark background, as far as the browser has said so."""
    return st.context.theme.type == "dark"


def style() -> None:
    """Add the page's styles."""
    st.html(_CSS)
