"""Report: one page for a stakeholder, to look at and to take away."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import calibcore as cc
from calibcore.advice.recalibration import Remedies
from calibcore.plot.wording import listed
from calibcore.report import exports, reduced_words
from calibcore.report.making import class_change, or_reason
from calibcore.report.page import preview_style, to_html
from calibcore.report.pdf import MISSING, can_write, to_pdf
from calibcore.report.reporting import (
    MOST_AUDIENCE,
    MOST_HEADING,
    MOST_MODELS,
    MOST_NOTE,
    Options,
    Report,
    reported,
    times_in_groups,
    with_groups,
    with_period,
)
from calibcore.report.training import QUESTION, question
from dashboard import remedies, session, settings, slices, threshold, widgets
from dashboard.problems import guarded
from dashboard.reading import spoken
from dashboard.session import Model

_PAPER = 1_600  # pixels that the preview takes, about
_FRAME = "paper"


def page() -> None:
    """Draw the page."""
    st.title("Report")
    widgets.text("One page for someone who decides, to print or to send. It names what it rests on, and holds no rows of your file.")
    form, paper = st.columns([30, 70], gap="medium")
    with form:
        model = widgets.choose_model()
        its_settings, lacks = settings.current().for_model(model)
        if lacks:
            widgets.text(lacks, small=True)
        others = beside(model, its_settings)
        its_settings, open_question = at_threshold(model, its_settings)
        if open_question:
            widgets.text(open_question, small=True)
        column = by_column(model)
        tested = test_wanted(model)
        training([model, *others])
        say_period(model)
        words = own_words(model)
    with paper, guarded("This report"):
        report = content(model, others, its_settings, words, tested=tested, column=column)
        downloads(report, model)
        with st.container(key=_FRAME):
            st.html(preview_style(report, f".st-key-{_FRAME}"))
            st.iframe(to_html(report), height=_PAPER, alt="Preview of the report")
    st.page_link("views/learn.py", label="Next: learn how to read it", icon=":material/arrow_forward:")


def beside(model: Model, its_settings: cc.Settings) -> list[Model]:
    """Other models for the table, of those that have the view; at first those with the classes of the one it is about."""
    names = [m.name for m in session.models() if m is not model and its_settings.view in m.predictions.views]
    if not names:
        return []
    st.session_state["report with"] = _kept(model, names)
    picked = st.multiselect(
        f"Other models in its table (up to {MOST_MODELS - 1})",
        names,
        key="report with",
        max_selections=MOST_MODELS - 1,
        persist_state="session",
    )
    return [session.model_named(n) for n in picked]


def _kept(model: Model, names: Sequence[str]) -> list[str]:
    """Those that were chosen; where the report is now about one of them, the one it was about takes its place."""
    alike = [n for n in names if session.model_named(n).predictions.classes == model.predictions.classes]
    loaded, before = tuple(m.name for m in session.models()), st.session_state.get("report about")
    chosen = st.session_state.get("report with")
    st.session_state["report about"] = model.name
    if chosen is None or st.session_state.get("report of") != loaded:
        st.session_state["report of"] = loaded
        return alike[: MOST_MODELS - 1]
    if before == model.name:
        return [n for n in chosen if n in names]
    kept = [n for n in (before if n == model.name else n for n in chosen) if n in alike]
    return kept if kept or not chosen else alike[: MOST_MODELS - 1]


def at_threshold(model: Model, its_settings: cc.Settings) -> tuple[cc.Settings, str | None]:
    """The threshold and the costs of the page Act, if they shall be in the report; a sentence where a cost is missing."""
    if not st.toggle("Say what happens at a threshold", key="acting", bind="query-params", persist_state="session"):
        return its_settings, None
    return threshold.choose(model, its_settings)


def by_column(model: Model) -> str | None:
    """The column of the page Groups and classes, if the report shall say how the gap differs by it."""
    offered = slices.columns(model).offered
    return slices.choose_column(offered) if offered else None


def test_wanted(model: Model) -> bool:
    """Whether recalibration is to be tested; why it cannot be, where there are no rows to test it on."""
    if not model.predictions.has_rows:
        widgets.text(reduced_words.NO_TEST, small=True)
        return False
    return st.toggle("Test recalibration (takes a moment)", key="tested", bind="query-params", persist_state="session")


def training(chosen: Sequence[Model]) -> None:
    """The question that no file answers, once for each file, for who has not answered it in the sidebar."""
    if session.state().samples:
        return
    files = {m.file.content: m.file for m in chosen if m.file is not None}
    for i, content in enumerate(files):
        its_models = [m for m in chosen if m.file is not None and m.file.content == content]
        key = f"report training {i}" if i else "report training"
        asked = QUESTION if len(files) == 1 else spoken(question(listed([m.name for m in its_models])))
        widgets.ask_training(content, key, asked)


def say_period(model: Model) -> None:
    """How to have the period in the report, where it is not known."""
    if model.predictions.time is not None or session.state().samples:
        return
    if not model.predictions.has_rows:
        widgets.text(reduced_words.NO_PERIODS, small=True)
        return
    times = times_in_groups(model.predictions)
    first = f"Column {times[0]} could be the time. Name it as" if times else "The period covered is not known. Name the column that holds"
    widgets.text(f"{first} the time among the file's columns (sidebar), and the report says which period it covers.", small=True)


def own_words(model: Model) -> Options:
    """Heading, reader and note: they belong to the report, and stay where it is made about another model."""
    heading = st.text_input(
        "Heading",
        key="heading",
        max_chars=MOST_HEADING,
        placeholder="As in the preview",
        on_change=_written,
        args=(model.name,),
        persist_state="session",
    )
    audience = st.text_input("Who it is for", key="audience", max_chars=MOST_AUDIENCE, persist_state="session")
    note = st.text_area(
        "Your note, marked as the analyst’s",
        key="note",
        max_chars=MOST_NOTE,
        on_change=_written,
        args=(model.name,),
        persist_state="session",
    )
    about, mine = st.session_state.get("written about", model.name), [k for k, v in (("heading", heading), ("note", note)) if v]
    if mine and about != model.name:
        was = "was" if len(mine) == 1 else "were"
        widgets.text(f"Your {' and '.join(mine)} {was} written when the report was about {about}: does it still hold?", small=True)
    return {"heading": heading, "audience": audience, "note": note}


def _written(name: str) -> None:
    st.session_state["written about"] = name


def content(
    model: Model, others: Sequence[Model], its_settings: cc.Settings, words: Options, *, tested: bool, column: str | None
) -> Report:
    """What the report says."""
    first = session.analyse(model, with_period(model.predictions, its_settings))
    if column is not None:
        first = with_groups(first, slices.groups(model, column, its_settings, slices.minimum()))
    analyses = [first, *(session.analyse(m, its_settings) for m in others)]
    found = held_out(model, its_settings) if tested else None
    words = {
        **words,
        "comparison": or_reason(lambda: session.compare([model, *others], its_settings, model.name)) if others else None,
        "remedies": found,
        "classes": class_change(model.predictions, found, lambda r, method: remedies.held_out(model, r, method).predictions),
        "training": [session.training(m) for m in (model, *others)],
    }
    return reported(analyses, **words)


def held_out(model: Model, its_settings: cc.Settings) -> Remedies | str:
    """What recalibration changes on rows it was not fitted on, or why that cannot be said."""
    place = st.empty()
    if not remedies.found_already(model, its_settings):
        with place.container():
            widgets.text("Refitting on five folds…", small=True)
            st.skeleton(height=_PAPER)
    try:
        return or_reason(lambda: remedies.remedies(model, its_settings))
    finally:
        place.empty()


def downloads(report: Report, model: Model) -> None:
    """The report as files."""
    files = session.state().downloads
    with st.container(horizontal=True):
        name = exports.file_name(model.name, "report", ending=".html")
        files.button("Report (HTML)", lambda: to_html(report), name, "text/html")
        if can_write():
            name = exports.file_name(model.name, "report", ending=".pdf")
            files.button("Report (PDF)", lambda: to_pdf(report), name, "application/pdf")
    if not can_write():
        widgets.text(MISSING, small=True)


page()
