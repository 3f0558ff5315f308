"""Act: what happens when rows above a threshold are acted on."""

from __future__ import annotations

import streamlit as st

from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.report import act_words
from calibcore.report.words import markdown_free
from dashboard import session, settings, threshold, widgets
from dashboard.problems import guarded
from dashboard.takeaway import takeaway


def page() -> None:
    """Draw the page."""
    model = widgets.choose_model()
    its_settings, lacks = settings.current().for_model(model)
    if lacks:
        widgets.text(lacks, small=True)
    its_settings, open_question = threshold.choose(model, its_settings)
    if open_question:
        widgets.text(open_question, small=True)
    with guarded("This page"):
        acted(session.analyse(model, its_settings))
    st.page_link("views/report.py", label="Next: the report", icon=":material/arrow_forward:")


def acted(a: Analysis) -> None:
    """What was found in words, the numbers, the curve, the caveats."""
    st.title(markdown_free(act_words.act_headline(a)))
    positive = act_words.probability_of(a.positive_class or "positive")
    widgets.text(*act_words.acting_notes(a, f"choose {positive} under {act_words.ACT_ON} to judge that"))
    widgets.text(*act_words.act_lines(a))
    widgets.numbers(act_words.act_numbers(a))
    widgets.text(*act_words.cost_lines(a))
    curve, beside = st.columns([58, 42], gap="medium")
    with curve:
        st.header("Fewer rows, fewer errors?")
        chart = widgets.draw(plot.risk_coverage, a, key="risk chart")
        if chart is not None:
            widgets.table_below(chart, key="risk table")
    with beside:
        st.header("Read with care")
        widgets.caveats(act_words.act_caveats(a))
        widgets.text(*(f"Note: {note}" for note in a.notes), small=True)
    takeaway([a], [chart])


page()
