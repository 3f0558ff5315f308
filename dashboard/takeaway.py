"""Take away: what a page shows, as files, and as code that gives the same numbers again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from calibcore import plot
from calibcore.analysis import Analysis, Comparison
from calibcore.errors import InputError
from calibcore.plot.marks import Chart
from calibcore.report import exports
from calibcore.report.group_words import group_columns
from calibcore.report.reduced_words import ROWS_CSV
from calibcore.report.reproduce import Origin, added_by_commands, commands, grouped_by, mistakable, python_code
from dashboard import session, widgets
from dashboard.problems import guarded, say
from dashboard.session import Model

__all__ = ["Asked", "takeaway"]

_FORMATS = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
_ELSEWHERE = "Code that gives these numbers again is offered for models as they were read, not for what was made of them here."


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page shows of its one model beyond the analysis.

    Attributes
    ----------
    model : Model
        That was analysed.
    ready : dict
        Statistics on request by their name in `Settings.on_request`, under the defaults of the command line.
    column : str, optional
        By which its rows are grouped.
    alone : bool
        Whether only the confidence of the model is looked at.
    also : tuple of Analysis
        What was made of the model on the page; only its bins can be taken along.
    notes : tuple of str
        Where the page shows it otherwise.
    """

    model: Model
    ready: Mapping[str, Any] = field(default_factory=dict)
    column: str | None = None
    alone: bool = False
    also: tuple[Analysis, ...] = ()
    notes: tuple[str, ...] = ()


def takeaway(
    results: Comparison | Sequence[Analysis],
    charts: Sequence[Chart | None] = (),
    *,
    key: str = "takeaway",
    asked: Asked | None = None,
) -> None:
    """A fold with every download of a page; what is in it is made when it is opened, and a file when it is clicked.

    Parameters
    ----------
    results : Comparison or sequence of Analysis
        What the page shows, under the same settings.
    charts : sequence of Chart
        What was drawn; None, for a chart that could not be, is passed over.
    key : str
        Of the fold, where a page has several.
    asked : Asked, optional
        What the page shows beyond the analysis, where there is one.
    """
    analyses = results.analyses if isinstance(results, Comparison) else tuple(results)
    if not analyses:
        return
    fold = st.expander("Take away: data, pictures, code", key=key, on_change="rerun")
    if fold.open:
        with fold, guarded("These downloads"):
            if asked is None and not isinstance(results, Comparison) and len(analyses) == 1:
                model = next((m for m in session.models() if m.name == analyses[0].name), None)
                asked = Asked(model) if model is not None and session.is_analysis_of(model, analyses[0]) else None
            origins = _origins(asked)
            whole = results if asked is None else _whole(analyses[0], asked, origins)
            _data(whole, (*analyses, *(asked.also if asked else ())), asked, key)
            _pictures([c for c in charts if c is not None], key)
            as_read = asked is not None or isinstance(results, Comparison) or all(map(_is_as_read, analyses))
            _code(whole, origins if as_read else {})
            widgets.text(*(asked.notes if asked else ()), small=True)


def _is_as_read(a: Analysis) -> bool:
    return any(session.is_analysis_of(m, a) for m in session.models())


def _origins(asked: Asked | None) -> dict[str, Origin]:
    """Where each model comes from; of one with groups, read with those that are shown, or that can be."""
    found = session.origins()
    if asked is None or asked.model.name not in found:
        return found
    origin = found[asked.model.name]
    if asked.column is not None:
        origin = grouped_by(origin, [asked.column])
    elif origin.source.mapping.groups:
        origin = grouped_by(origin, group_columns(asked.model.predictions).offered)
    return {asked.model.name: replace(origin, alone=asked.alone)}


def _whole(a: Analysis, asked: Asked, origins: Mapping[str, Origin]) -> Sequence[Analysis]:
    """The analysis with what the page shows and what the command line adds, so that page, Python and shell give the same."""
    model, origin = asked.model, origins.get(a.name)
    added = added_by_commands(origin, timed=model.predictions.time is not None) if origin else ()
    names = tuple(dict.fromkeys((*asked.ready, *added)))
    if not names:
        return (a,)
    groups = tuple(origin.source.mapping.groups or ()) if origin else ()
    rows = model.predictions.but(groups={g: model.predictions.groups[g] for g in groups}) if groups else model.predictions
    try:
        key = ("requested", model.key, model.name, a.settings, names, groups)
        return (session.state().remember(key, lambda: exports.with_requests(a, rows, names, asked.ready)),)
    except InputError as error:  # such as times that are all missing, which the command refuses too
        say(error)
        return (a,)


def _data(results: Comparison | Sequence[Analysis], analyses: Sequence[Analysis], asked: Asked | None, key: str) -> None:
    """The numbers: bins, rows of a single model, everything."""
    name = analyses[0].name if asked or len(analyses) == 1 else "models"
    st.markdown("**Data**")
    with st.container(horizontal=True):
        _file("Bins (CSV)", lambda: exports.bins_csv(analyses), (name, "bins", ".csv"), "text/csv", key)
        if asked is not None and asked.model.predictions.has_rows:
            rows, settings = asked.model.predictions, analyses[0].settings
            _file("All rows (CSV)", lambda: exports.all_rows_csv(rows, settings), (name, "rows", ".csv"), "text/csv", key)
        _file("All results (JSON)", lambda: exports.results_json(results), (name, "results", ".json"), "application/json", key)
    if asked is not None and not asked.model.predictions.has_rows:
        widgets.text(ROWS_CSV, small=True)


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
    return drawn(chart)


def _file(label: str, data: Callable[[], str | bytes], parts: tuple[str, str, str], mime: str, key: str) -> None:
    *names, ending = parts
    session.state().downloads.button(label, data, exports.file_name(*names, ending=ending), mime, key=f"{key} {label}")


def _code(results: Comparison | Sequence[Analysis], origins: Mapping[str, Origin]) -> None:
    """What prints the JSON again, from the same files."""
    st.markdown("**Code that gives the same numbers**")
    analyses = results.analyses if isinstance(results, Comparison) else results
    if any(a.name not in origins for a in analyses):
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
