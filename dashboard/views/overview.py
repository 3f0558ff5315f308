"""Overview: whether a model's probabilities can be trusted."""

from __future__ import annotations

import streamlit as st

from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.plot.marks import Chart
from calibcore.report import pattern_words, reduced_words, tools_words, view_words, words
from calibcore.report.words import markdown_free
from dashboard import remedies, session, settings, widgets
from dashboard.problems import guarded
from dashboard.takeaway import takeaway


def page() -> None:
    """Draw the page."""
    model = widgets.choose_model()
    chosen = settings.current()
    its_settings, lacks = chosen.for_model(model)
    with guarded("This page"):
        analysis = session.analyse(model, its_settings)
        verdict(analysis, lacks)
        widgets.numbers(words.key_numbers(analysis))
        charts, words_beside = st.columns([58, 42], gap="medium")
        with charts:
            drawn = pictures(analysis)
        with words_beside, st.container(key="beside"):
            beside(analysis, rows=model.predictions.has_rows)
        other_tools(model, analysis)
        takeaway([analysis], drawn)
    st.page_link("views/compare.py", label="Next: compare the models", icon=":material/arrow_forward:")


def verdict(a: Analysis, lacks: str | None) -> None:
    """What was found, in words, before any chart."""
    st.title(markdown_free(words.headline(a)))
    widgets.text(*filter(None, (view_words.below_headline(a), view_words.in_this_view(a), words.remedy_line(a))))
    widgets.text(*filter(None, (lacks, words.view_note(a))), small=True)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Why we say this"):
            widgets.text(*words.evidence_lines(a))
        with st.popover("What would change this"):
            widgets.text(*pattern_words.would_change(a))
        if a.verdict.level != "V0":
            label = "See the fix" if words.remedy_line(a) and words.has_remedy(a) else "Would recalibration help?"
            st.page_link("views/fix.py", label=label, icon=":material/arrow_forward:")


def pictures(a: Analysis) -> list[Chart | None]:
    """Diagram, gap bars and rows, on one x axis."""
    chosen, selected = settings.current(), selected_bin(a)
    chart = widgets.draw(plot.reliability, a, key="diagram chart", analysis=a, uncertainty=chosen.uncertainty, selected=selected)
    gaps = widgets.draw(plot.gaps, a, key="gaps chart", analysis=a, selected=selected)
    counts = widgets.draw(plot.counts, a, key="counts chart", analysis=a, scale=chosen.counts, selected=selected)
    if chart is not None:
        widgets.table_below(chart, key="diagram table")
    return [chart, gaps, counts]


def selected_bin(a: Analysis) -> int | None:
    """Index of the bin whose edges are kept."""
    kept = session.state().kept_range
    return next((i for i in range(len(a.bins.count)) if kept == widgets.edges_of(a, i)), None)


def beside(a: Analysis, *, rows: bool) -> None:
    """What the diagram shows, the worst bin, a bin to inspect, caveats and notes; a link to the rows where there are some."""
    st.header("What this shows")
    widgets.text(*filter(None, (*words.shown_lines(a), words.worst_range(a), words.other_view(a))))
    if widgets.bin_selector(a) is not None and rows:
        st.page_link("views/bins.py", label="See the rows of this bin", icon=":material/arrow_forward:")
    st.header("Read with care")
    widgets.caveats(words.caveats(a))
    widgets.text(*(f"Note: {note}" for note in a.notes), small=True)


def other_tools(model: session.Model, a: Analysis) -> None:
    """ECE by the rules of other tools, folded away and computed only when unfolded."""
    folded = st.expander("Why does another tool say something else?", key="other tools", on_change="rerun")
    if folded.open:
        with folded, guarded("This comparison of tools"):
            if not model.predictions.has_rows:
                widgets.text(reduced_words.OTHER_TOOLS)
                return
            found = remedies.reconciled(model, a.settings)
            widgets.text(tools_words.tools_sentence(a, found))
            with st.container(key="wide tools"):
                widgets.show_table(tools_words.tools_table(found), alt="ECE of the same rows by tool or rule")


page()
