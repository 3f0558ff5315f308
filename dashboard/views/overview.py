"""Overview: whether a model's probabilities can be trusted."""

from __future__ import annotations

import streamlit as st

from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.report import words
from calibcore.report.words import markdown_free
from dashboard import session, settings, widgets
from dashboard.problems import guarded


def page() -> None:
    """Draw the page."""
    if session.state().samples:
        widgets.text("Sample data: made-up models, 4,000 rows each. Upload your own in the sidebar.", small=True)
    if not session.models():
        st.title("No model to show yet")
        widgets.text("No file could be read so far. See the sidebar for what each needs.")
        return
    model = widgets.choose_model(session.models())
    chosen = settings.current()
    its_settings, lacks = chosen.for_model(model)
    with guarded("This page"):
        analysis = session.analyse(model, its_settings)
        verdict(analysis, lacks)
        numbers(analysis)
        charts, words_beside = st.columns([58, 42], gap="medium")
        with charts:
            pictures(analysis)
        with words_beside:
            beside(analysis)
    st.page_link("views/compare.py", label="Next: compare the models", icon=":material/arrow_forward:")


def verdict(a: Analysis, lacks: str | None) -> None:
    """What was found, in words, before any chart."""
    st.title(markdown_free(words.headline(a)))
    widgets.text(*filter(None, (a.verdict.text, words.remedy_line(a))))
    widgets.text(*filter(None, (lacks, words.view_note(a))), small=True)
    with st.popover("Why we say this"):
        widgets.text(*words.evidence_lines(a))


def numbers(a: Analysis) -> None:
    """The numbers, each with what must be read beside it."""
    with st.container(horizontal=True, gap="small", border=True):
        for number in words.key_numbers(a):
            st.metric(number.label, number.value, number.beside, delta_color="off", delta_arrow="off", width="content")


def pictures(a: Analysis) -> None:
    """Diagram, gap bars and rows, on one x axis."""
    chosen, selected = settings.current(), selected_bin(a)
    chart = widgets.draw(plot.reliability, a, key="diagram chart", analysis=a, uncertainty=chosen.uncertainty, selected=selected)
    widgets.draw(plot.gaps, a, key="gaps chart", analysis=a, selected=selected)
    widgets.draw(plot.counts, a, key="counts chart", analysis=a, scale=chosen.counts, selected=selected)
    if chart is not None:
        widgets.table_below(chart, key="diagram table")


def selected_bin(a: Analysis) -> int | None:
    """Index of the bin whose edges are kept."""
    kept = session.state().kept_range
    return next((i for i in range(len(a.bins.count)) if kept == widgets.edges_of(a, i)), None)


def beside(a: Analysis) -> None:
    """What the diagram shows, the worst bin, a bin to inspect, caveats and notes."""
    st.subheader("What this shows")
    widgets.text(*filter(None, (*words.shown_lines(a), words.worst_range(a), words.other_view(a))))
    if widgets.bin_selector(a) is not None:
        st.page_link("views/bins.py", label="See the rows of this bin", icon=":material/arrow_forward:")
    st.subheader("Read with care")
    widgets.caveats(words.caveats(a))
    widgets.text(*(f"Note: {note}" for note in a.notes), small=True)


page()
