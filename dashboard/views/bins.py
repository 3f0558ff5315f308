"""Bins and rows: what sits behind a bin, and whether the answer depends on the bins."""

from __future__ import annotations

import streamlit as st

import calibcore as cc
from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.report import exports, words
from calibcore.report.rows import PAGE, BinRows
from calibcore.report.words import markdown_free
from dashboard import session, settings, widgets
from dashboard.problems import guarded


def page() -> None:
    """Draw the page."""
    if not session.models():
        st.title("No model to show yet")
        widgets.text("No file could be read so far. See the sidebar for what each needs.")
        return
    model = widgets.choose_model(session.models())
    its_settings, lacks = settings.current().for_model(model)
    st.title(markdown_free(f"Bins and rows of {model.name}"))
    if lacks:
        widgets.text(lacks, small=True)
    with guarded("This page"):
        analysis = session.analyse(model, its_settings)
        does_it_depend(analysis)
        table(analysis)
        rows(model, analysis, its_settings)
    st.page_link("views/overview.py", label="Back to the overview", icon=":material/arrow_back:")


def does_it_depend(a: Analysis) -> None:
    """ECE for other numbers of bins."""
    st.subheader("Does the ECE depend on the bins?")
    widgets.text(words.sweep_sentence(a))
    chart = widgets.draw(plot.sweep, a, key="sweep chart", stretch=True)
    if chart is not None:
        widgets.table_below(chart, key="sweep table")


def table(a: Analysis) -> None:
    """Every bin in numbers, and the downloads."""
    st.subheader("Bins")
    for note in a.notes:
        widgets.text(f"Note: {note}", small=True)
    widgets.show_table(plot.gaps(a).table, alt=plot.gaps(a).alt)
    with st.container(horizontal=True):
        name = exports.file_name(a.name, "bins", ending=".csv")
        st.download_button("Bins (CSV)", lambda: exports.bins_csv([a]), name, "text/csv", on_click="ignore")
        name = exports.file_name(a.name, "results", ending=".json")
        st.download_button("All results (JSON)", lambda: exports.results_json([a]), name, "application/json", on_click="ignore")


def rows(model: session.Model, a: Analysis, its_settings: cc.Settings) -> None:
    """Pick a bin; see its rows."""
    st.subheader("Rows of a bin")
    selected = widgets.bin_selector(a)
    widgets.draw(plot.gaps, a, key="bins chart", analysis=a, stretch=True, selected=selected)
    if selected is None:
        widgets.text("Choose a bin above, or click a bar, to see its rows.")
        return
    found = session.bin_rows(model, its_settings, *widgets.edges_of(a, selected))
    widgets.text(
        f"{words.bin_option(a, selected)}. {found.n - found.errors:,} right, {found.errors:,} wrong; the most confident errors come first."
    )
    one_page(found)
    name = exports.file_name(a.name, "rows", ending=".csv")
    st.download_button("Download these rows (CSV)", lambda: exports.rows_csv(found), name, "text/csv", on_click="ignore")


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
