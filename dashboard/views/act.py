"""Act: what happens when rows above a threshold are acted on."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

import calibcore as cc
from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.report import act_words
from calibcore.report.words import markdown_free
from dashboard import session, settings, widgets
from dashboard.problems import guarded
from dashboard.takeaway import takeaway

_USUAL = 0.9
_WIDTH = 260  # pixels of a control; they wrap on a narrow screen


def page() -> None:
    """Draw the page."""
    model = widgets.choose_model(session.models())
    its_settings, lacks = settings.current().for_model(model)
    if lacks:
        widgets.text(lacks, small=True)
    its_settings, open_question = choose(its_settings)
    if open_question:
        widgets.text(open_question, small=True)
    with guarded("This page"):
        acted(session.analyse(model, its_settings))
    st.page_link("views/report.py", label="Next: the report", icon=":material/arrow_forward:")


def choose(its_settings: cc.Settings) -> tuple[cc.Settings, str | None]:
    """The threshold and the costs, which go into the settings of the analysis; a sentence where a cost is missing."""
    with st.container(horizontal=True):
        threshold = st.number_input(
            "Threshold",
            0.0,
            1.0,
            _USUAL,
            0.01,
            "%g",
            key="t",
            help="Rows with a score beyond it are acted on.",
            bind="query-params",
            persist_state="session",
            width=_WIDTH,
        )
        error = _cost("cost_error", *act_words.cost_label(its_settings.view))
        review = _cost("cost_review", "Cost of reviewing a row (optional)")
    error, review, open_question = act_words.both_costs(error, review)
    return replace(its_settings, threshold=threshold, cost_error=error, cost_review=review), open_question


def _cost(key: str, label: str, about: str | None = None) -> float | None:
    return st.number_input(
        label, 0.0, value=None, key=key, format="%g", help=about, bind="query-params", persist_state="session", width=_WIDTH
    )


def acted(a: Analysis) -> None:
    """What was found in words, the numbers, the curve, the caveats."""
    st.title(markdown_free(act_words.act_headline(a)))
    widgets.text(*act_words.act_lines(a))
    with st.container(horizontal=True, gap="small", border=True):
        for number in act_words.act_numbers(a):
            st.metric(number.label, number.value, number.beside, delta_color="off", delta_arrow="off", width="content")
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
