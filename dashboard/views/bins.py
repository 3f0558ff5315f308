"""Bins and rows: what sits behind a bin, and whether the answer depends on the bins."""

from __future__ import annotations

import streamlit as st

import calibcore as cc
from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.plot.marks import Chart
from calibcore.report import curve_words, exports, reduced_words, words
from calibcore.report.rows import PAGE, BinRows
from calibcore.report.words import markdown_free
from dashboard import session, settings, widgets
from dashboard.problems import guarded
from dashboard.takeaway import takeaway


def page() -> None:
    """Draw the page."""
    model = widgets.choose_model()
    its_settings, lacks = settings.current().for_model(model)
    st.title(markdown_free(f"Bins and rows of {model.name}"))
    if lacks:
        widgets.text(lacks, small=True)
    with guarded("This page"):
        analysis = session.analyse(model, its_settings)
        drawn = [does_it_depend(analysis), *without_bins(analysis)]
        table(analysis)
        drawn.append(rows(model, analysis, its_settings))
        takeaway([analysis], drawn)
    st.page_link("views/groups.py", label="Next: groups and classes", icon=":material/arrow_forward:")


def does_it_depend(a: Analysis) -> Chart | None:
    """ECE for other numbers of bins."""
    st.header("Does the ECE depend on the bins?")
    widgets.text(words.sweep_sentence(a))
    chart = widgets.draw(plot.sweep, a, key="sweep chart", stretch=True)
    if chart is not None:
        widgets.table_below(chart, key="sweep table")
    return chart


def without_bins(a: Analysis) -> list[Chart | None]:
    """The diagram with the CORP curve, and the cumulative differences beside it."""
    st.header("And without bins?")
    widgets.text(curve_words.cumulative_sentence(a))
    diagram, sums = st.columns(2, gap="medium")
    with diagram:
        curve = st.toggle("Curve without bins (CORP)", key="curve", bind="query-params", persist_state="session")
        chosen = settings.current()
        corp = widgets.draw(plot.reliability, a, key="corp chart", stretch=True, uncertainty=chosen.uncertainty, curve=curve)
        if curve:
            widgets.text(curve_words.corp_sentence(a), small=True)
    with sums:
        chart = widgets.draw(plot.cumulative, a, key="cumulative chart", stretch=True)
        if chart is not None:
            widgets.table_below(chart, key="cumulative table")
    return [corp, chart]


def table(a: Analysis) -> None:
    """Every bin in numbers."""
    st.header("Bins")
    for note in a.notes:
        widgets.text(f"Note: {note}", small=True)
    widgets.show_table(plot.gaps(a).table, alt=plot.gaps(a).alt)


def rows(model: session.Model, a: Analysis, its_settings: cc.Settings) -> Chart | None:
    """Pick a bin; see its rows."""
    st.header("Rows of a bin")
    selected = widgets.bin_selector(a)
    chart = widgets.draw(plot.gaps, a, key="bins chart", analysis=a, stretch=True, selected=selected)
    if selected is None:
        widgets.text("Choose a bin above, or click a bar, to see its rows.")
        return chart
    if not model.predictions.has_rows:
        widgets.text(f"{words.bin_option(a, selected)}.", reduced_words.ROWS_OF_BIN)
        return chart
    found = session.bin_rows(model, its_settings, *widgets.edges_of(a, selected))
    widgets.text(words.rows_line(a, selected, found))
    one_page(found)
    name = exports.file_name(a.name, "rows", ending=".csv")
    session.state().downloads.button("Download these rows (CSV)", lambda: exports.rows_csv(found), name, "text/csv")
    return chart


def one_page(found: BinRows) -> None:
    """A hundred rows at a time."""
    number = 1
    if found.pages > 1:
        edges = session.state().kept_range
        number = st.pagination(found.pages, key=f"page of {edges}")
        st.caption(f"{PAGE} rows a page.")
    shown = found.page(number)
    st.dataframe(
        [dict(zip(shown.header, row, strict=True)) for row in shown.rows], hide_index=True, key="rows", alt="The rows of the chosen bin"
    )


page()
