"""Groups and classes: who the model is wrong for."""

from __future__ import annotations

from typing import Any

import streamlit as st

import calibcore as cc
from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.inference.groups import Groups
from calibcore.inference.periods import Periods
from calibcore.inference.slices import MINIMUM
from calibcore.plot.marks import Chart
from calibcore.report import group_words, reduced_words, words
from calibcore.report.words import markdown_free
from dashboard import session, settings, slices, widgets
from dashboard.problems import guarded
from dashboard.takeaway import Asked, takeaway

_LENGTHS = {"Automatic": None, "Day": "day", "Month": "month", "Quarter": "quarter", "Year": "year"}
_LOADING = 320  # pixels


def page() -> None:
    """Draw the page."""
    model = widgets.choose_model()
    its_settings, lacks = settings.current().for_model(model)
    st.title(markdown_free(f"Groups and classes of {model.name}"))
    with guarded("This page"):
        analysis = session.analyse(model, its_settings)
        widgets.text(*filter(None, (lacks, words.view_note(analysis))), small=True)
        groups, in_groups = by_column(model, its_settings, analysis)
        periods, over = over_time(model, its_settings)
        charts = [in_groups, over, by_class(analysis)]
        takeaway([analysis], charts, asked=asked(model, groups, periods))
    st.page_link("views/fix.py", label="Next: would recalibration help?", icon=":material/arrow_forward:")


def asked(model: session.Model, groups: Groups | None, periods: Periods | None) -> Asked:
    """The tables to take along, which are those of the command line: with another minimum or length they are computed anew."""
    usual = slices.minimum() == MINIMUM
    ready: dict[str, Any] = {"groups": {groups.column: groups}} if groups and usual else {}
    automatic = st.session_state.get("period") in (None, "Automatic") or not slices.has_dates(model)
    if periods and usual and automatic:
        ready["periods"] = periods
    shown = [name for name, found in (("groups", groups), ("periods", periods)) if found]
    other = group_words.taken_otherwise(shown, MINIMUM) if shown and not (usual and automatic) else None
    return Asked(model, ready, groups.column if groups else None, notes=(other,) if other else ())


def by_column(model: session.Model, its_settings: cc.Settings, a: Analysis) -> tuple[Groups | None, Chart | None]:
    """Choose a column; see the gap of each of its values."""
    st.header("Groups")
    columns, found, chart = slices.columns(model), None, None
    if not columns.offered:
        widgets.text(group_words.NO_COLUMN if model.predictions.has_rows else reduced_words.NO_GROUPS)
    else:
        with st.container(horizontal=True):
            column, minimum = slices.choose_column(columns.offered), _choose_minimum()
        if column is None:
            widgets.text("Choose one column first; trying many finds differences by luck.")
        else:
            with guarded("These groups"):
                with st.skeleton(height=_LOADING):
                    found = slices.groups(model, column, its_settings, minimum)
                chart = show_groups(found, a)
    if columns.left_out:
        widgets.text(columns.left_out, small=True)
    return found, chart


def _choose_minimum() -> int:
    return int(
        st.number_input("Minimum rows", 30, 1000, MINIMUM, 10, key="minrows", bind="query-params", persist_state="session", width=160)
    )


def show_groups(found: Groups, a: Analysis) -> Chart | None:
    """What was found in words, the chart, and every group in numbers."""
    widgets.text(*group_words.group_lines(found, words.event_of(a)))
    chart = widgets.draw(plot.groups, found, overall=a.gap.value, key="groups chart")
    few = group_words.few_rows_line(found)
    if few:
        widgets.text(few, small=True)
    widgets.show_table(group_words.group_table(found), alt="Every group in numbers")
    widgets.text(group_words.VISIBLE, small=True)
    return chart


def over_time(model: session.Model, its_settings: cc.Settings) -> tuple[Periods | None, Chart | None]:
    """The gap from period to period, where the rows have times."""
    found, chart = None, None
    if model.predictions.time is None:
        if not session.state().samples:  # a sample has no columns to choose
            widgets.text(group_words.NO_TIME if model.predictions.has_rows else reduced_words.NO_PERIODS, small=True)
        return None, None
    st.header("Over time")
    length, minimum = _choose_length(model), slices.minimum()
    with guarded("This chart"):
        with st.skeleton(height=_LOADING):
            found = slices.periods(model, its_settings, minimum, length)
        chart = show_periods(found)
    return found, chart


def _choose_length(model: session.Model) -> str | None:
    """A calendar period; where the times are no dates, there is none to choose."""
    if not slices.has_dates(model):
        return None
    chosen = st.segmented_control(
        "Period", list(_LENGTHS), default="Automatic", required=True, key="period", bind="query-params", persist_state="session"
    )
    return _LENGTHS[str(chosen)]


def show_periods(found: Periods) -> Chart | None:
    """The trend in words, the chart, and every period in numbers."""
    trend = group_words.trend_line(found)
    if trend:
        widgets.text(trend)
    chart = widgets.draw(plot.periods, found, key="periods chart", stretch=True)
    if chart is not None:
        widgets.table_below(chart, key="periods table")
    return chart


def by_class(a: Analysis) -> Chart | None:
    """Top-label and classwise errors side by side; the classes that fit least; a class to look at."""
    st.header("Classes")
    widgets.text(*group_words.class_lines(a))
    widgets.numbers(group_words.class_numbers(a))
    chart = None
    if a.task == "multiclass":
        choose_class(a)
        with guarded():
            chart = draw_classes(a)
            widgets.table_below(chart, key="classes table")
    widgets.caveats(group_words.class_caveats(a))
    return chart


def draw_classes(a: Analysis) -> Chart:
    """The chart of the classes; a click on one chooses it, as the control above does."""
    chart = plot.classes(a)
    # Of another class another chart: the browser's own selection can be cleared in no other way.
    key = f"classes chart {next((i for i, c in enumerate(a.classes) if a.view == f'class:{c}'), '')}"
    widgets.show(chart, key=key, on_click=lambda place: _show_class(a.classes[place]))
    return chart


def choose_class(a: Analysis) -> None:
    """One class against the rest, here and on every other page; none is the Confidence view."""
    shown = a.view.removeprefix("class:") if a.view.startswith("class:") else None
    st.session_state["class shown"] = shown
    st.selectbox(
        "Look at one class",
        a.classes,
        index=None,
        key="class shown",
        on_change=_class_chosen,
        placeholder="None: choose a class, or click one",
        width=320,
    )
    if shown is not None:
        widgets.text(f"Every page now shows {shown} against the rest (View: One class).", small=True)
        st.page_link("views/overview.py", label="See its diagram", icon=":material/arrow_forward:")


def _class_chosen() -> None:
    _show_class(st.session_state["class shown"])


def _show_class(name: str | None) -> None:
    st.session_state["view"] = "Confidence" if name is None else "One class"
    if name is not None:
        st.session_state["class"] = name


page()
