"""What is acted on, the threshold and the costs: the same controls, under the same keys, on every page that acts on rows."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import streamlit as st

import calibcore as cc
from calibcore.report.act_words import ACT_ON, both_costs, cost_label, probability_of
from calibcore.report.words import markdown_free
from dashboard.session import Model
from dashboard.settings import DEFAULTS

__all__ = ["choose"]

_WIDTH = 260  # pixels of a control; they wrap on a narrow screen
_VIEWS = {"top_label": "Confidence", "positive": "Positive class"}  # what the shared control calls them


def choose(model: Model, its_settings: cc.Settings) -> tuple[cc.Settings, str | None]:
    """The settings with what is chosen; a sentence where a cost is missing."""
    with st.container(horizontal=True):
        _act_on(model, its_settings.view)
        threshold = st.number_input(
            "Threshold",
            0.0,
            1.0,
            cast(float, DEFAULTS["t"]),
            0.01,
            "%g",
            key="t",
            help="Rows with a score beyond it are acted on.",
            on_change=_chosen,
            bind="query-params",
            persist_state="session",
            width=_WIDTH,
        )
        error = _cost("cost_error", *cost_label(its_settings.view, model.predictions.positive_class))
        review = _cost("cost_review", "Cost of reviewing a row (optional)")
    error, review, open_question = both_costs(error, review)
    return replace(its_settings, threshold=threshold, cost_error=error, cost_review=review), open_question


def _act_on(model: Model, view: str) -> None:
    """Whose probability the threshold is one of; the shared View under another name, where it decides what is counted."""
    rows = model.predictions
    if rows.task != "binary" or not {*_VIEWS} <= {*rows.views}:
        return
    positive = probability_of(rows.positive_class or "positive")
    names = {"top_label": "The predicted class", "positive": positive}
    if view not in names:
        names[view] = probability_of(view.removeprefix("class:"))
    st.session_state["act on"] = view
    st.segmented_control(
        ACT_ON,
        list(names),
        key="act on",
        required=True,
        format_func=lambda v: markdown_free(names.get(str(v), str(v))),
        help=f"What must lie beyond the threshold. It is the View of the sidebar, where {markdown_free(positive)} is Positive class.",
        on_change=_acted_on,
    )


def _acted_on() -> None:
    chosen = st.session_state["act on"]
    if chosen in _VIEWS:
        st.session_state["view"] = _VIEWS[chosen]
    _chosen()


def _chosen() -> None:
    """Who sets a threshold wants it in the report."""
    st.session_state["acting"] = True


def _cost(key: str, label: str, about: str | None = None) -> float | None:
    return st.number_input(
        label,
        0.0,
        value=None,
        key=key,
        format="%g",
        help=None if about is None else markdown_free(about),
        on_change=_chosen,
        bind="query-params",
        persist_state="session",
        width=_WIDTH,
    )
