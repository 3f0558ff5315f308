"""The threshold and the costs: the same controls, under the same keys, on every page that acts on rows."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import streamlit as st

import calibcore as cc
from calibcore.report.act_words import both_costs, cost_label
from dashboard.settings import DEFAULTS

__all__ = ["choose"]

_WIDTH = 260  # pixels of a control; they wrap on a narrow screen


def choose(its_settings: cc.Settings) -> tuple[cc.Settings, str | None]:
    """The settings with what is chosen; a sentence where a cost is missing."""
    with st.container(horizontal=True):
        threshold = st.number_input(
            "Threshold",
            0.0,
            1.0,
            cast(float, DEFAULTS["t"]),
            0.01,
            "%g",
            key="t",
            help="Rows with a score beyond it are acted on.",
            bind="query-params",
            persist_state="session",
            width=_WIDTH,
        )
        error = _cost("cost_error", *cost_label(its_settings.view))
        review = _cost("cost_review", "Cost of reviewing a row (optional)")
    error, review, open_question = both_costs(error, review)
    return replace(its_settings, threshold=threshold, cost_error=error, cost_review=review), open_question


def _cost(key: str, label: str, about: str | None = None) -> float | None:
    return st.number_input(
        label, 0.0, value=None, key=key, format="%g", help=about, bind="query-params", persist_state="session", width=_WIDTH
    )
