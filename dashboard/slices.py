"""Groups and periods of a model's rows, once per session and settings."""

from __future__ import annotations

import streamlit as st

import calibcore as cc
from calibcore.inference.groups import Groups
from calibcore.inference.periods import Periods
from calibcore.inference.slices import MINIMUM
from calibcore.inference.spans import times_of
from calibcore.report.group_words import Columns, group_columns
from dashboard.session import Model, state

__all__ = ["choose_column", "columns", "groups", "has_dates", "minimum", "periods"]


def choose_column(offered: tuple[str, ...]) -> str | None:
    """The column by which rows are grouped: the same choice on every page; none is chosen for the reader."""
    if st.session_state.get("group") not in offered:
        st.session_state["group"] = None
    return st.selectbox(
        "Group by", offered, index=None, key="group", placeholder="None: choose a column", persist_state="session", width=320
    )


def minimum() -> int:
    """Rows from which on a group is judged, as chosen on the page Groups and classes."""
    return int(st.session_state.get("minrows", MINIMUM))


def columns(model: Model) -> Columns:
    """The columns by which the rows of a model can be grouped."""
    return state().remember(("group columns", model.key), lambda: group_columns(model.predictions))


def groups(model: Model, column: str, settings: cc.Settings, minimum: int) -> Groups:
    """`calibcore.by_group` in the view and the bins of the settings, which are the same for every group."""
    key = ("groups", model.key, model.name, column, settings, minimum)
    return state().remember(key, lambda: _groups(model.predictions, column, settings, minimum))


def periods(model: Model, settings: cc.Settings, minimum: int, length: str | None) -> Periods:
    """`calibcore.by_period` in the view of the settings; ``length`` is a calendar period, None the usual one."""
    key = ("periods", model.key, model.name, settings.view, settings.level, minimum, length)
    return state().remember(
        key, lambda: cc.by_period(model.predictions, periods=length, view=settings.view, level=settings.level, minimum=minimum)
    )


def has_dates(model: Model) -> bool:
    """Whether the model's times are dates, which have months and years."""
    time = model.predictions.time
    return time is not None and state().remember(("dates", model.key), lambda: times_of(time).kind == "date")


def _groups(rows: cc.Predictions, column: str, settings: cc.Settings, minimum: int) -> Groups:
    bins = settings.partition(rows.profile(settings.view))
    partition = bins if isinstance(bins, cc.Partition) else None
    return cc.by_group(rows, column, view=settings.view, partition=partition, level=settings.level, minimum=minimum, seed=settings.seed)
