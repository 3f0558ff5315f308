"""Take away: what a page shows, as files, and as code that gives the same numbers again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock

import streamlit as st

from calibcore import plot
from calibcore.analysis import Analysis, Comparison
from calibcore.plot.marks import Chart
from calibcore.report import exports
from calibcore.report.reproduce import commands, mistakable, python_code
from dashboard import session, widgets
from dashboard.problems import guarded

__all__ = ["takeaway"]

_FORMATS = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
_DRAWING = Lock()  # the renderer's settings are those of the process, and downloads are made in threads
_ELSEWHERE = "Code that gives these numbers again is offered for models as they were read, not for what was made of them here."


def takeaway(results: Comparison | Sequence[Analysis], charts: Sequence[Chart | None] = (), *, key: str = "takeaway") -> None:
    """A fold with every download of a page; what is in it is made when it is opened, and a file when it is clicked.

    Parameters
    ----------
    results : Comparison or sequence of Analysis
        What the page shows, under the same settings.
    charts : sequence of Chart
        What was drawn; None, for a chart that could not be, is passed over.
    key : str
        Of the fold, where a page has several.
    """
    analyses = results.analyses if isinstance(results, Comparison) else tuple(results)
    if not analyses:
        return
    fold = st.expander("Take away: data, pictures, code", key=key, on_change="rerun")
    if fold.open:
        with fold, guarded("These downloads"):
            _data(results, analyses, key)
            _pictures([c for c in charts if c is not None], key)
            _code(results, analyses)


def _data(results: Comparison | Sequence[Analysis], analyses: Sequence[Analysis], key: str) -> None:
    """The numbers: bins, rows of a single model, everything."""
    name = analyses[0].name if len(analyses) == 1 else "models"
    model = next((m for m in session.models() if m.name == name), None) if len(analyses) == 1 else None
    st.markdown("**Data**")
    with st.container(horizontal=True):
        _file("Bins (CSV)", lambda: exports.bins_csv(analyses), (name, "bins", ".csv"), "text/csv", key)
        if model is not None:
            rows, settings = model.predictions, analyses[0].settings
            _file("All rows (CSV)", lambda: exports.all_rows_csv(rows, settings), (name, "rows", ".csv"), "text/csv", key)
        _file("All results (JSON)", lambda: exports.results_json(results), (name, "results", ".json"), "application/json", key)


def _pictures(charts: Sequence[Chart], key: str) -> None:
    """One chart in three formats; of several, the one that is chosen."""
    if not charts:
        return
    st.markdown("**Pictures**")
    chart = charts[0]
    if len(charts) > 1:
        number = st.selectbox("Chart", range(len(charts)), format_func=lambda i: _title(charts, i), key=f"{key} chart")
        chart = charts[number]
    with st.container(horizontal=True):
        for format_, mime in _FORMATS.items():
            _file(format_.upper(), partial(_drawn, format_, chart), (chart.title or "models", chart.kind, f".{format_}"), mime, key)


def _title(charts: Sequence[Chart], i: int) -> str:
    kind = charts[i].kind.replace("_", " ").capitalize()
    same = [c for c in charts if c.kind == charts[i].kind]
    return f"{kind}: {charts[i].title}" if len(same) > 1 and charts[i].title else kind


def _drawn(format_: str, chart: Chart) -> str | bytes:
    drawn: Callable[[Chart], str | bytes] = getattr(plot, format_)
    with _DRAWING:
        return drawn(chart)


def _file(label: str, data: Callable[[], str | bytes], parts: tuple[str, str, str], mime: str, key: str) -> None:
    *names, ending = parts
    st.download_button(label, data, exports.file_name(*names, ending=ending), mime, key=f"{key} {label}", on_click="ignore")


def _code(results: Comparison | Sequence[Analysis], analyses: Sequence[Analysis]) -> None:
    """What prints the JSON again, from the same files."""
    st.markdown("**Code that gives the same numbers**")
    origins = session.origins()
    as_read = all(a.name in origins for a in analyses) and (isinstance(results, Comparison) or all(map(session.is_of_a_file, analyses)))
    if not as_read:
        widgets.text(_ELSEWHERE, small=True)
        return
    problem = mistakable(results, origins)
    if problem:
        widgets.text(problem, small=True)
        return
    widgets.text("In Python:", small=True)
    st.code(python_code(results, origins), language="python", wrap_lines=True)  # nothing to scroll sideways, which keys cannot reach
    found = commands(results, origins)
    if found.lines:
        widgets.text("In a shell (bash, zsh):", small=True)
        st.code(found.text, language="bash", wrap_lines=True)
    widgets.text(*found.notes, small=True)
