"""Report: one page for a stakeholder, to look at and to take away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

import calibcore as cc
from calibcore.advice.recalibration import Remedies
from calibcore.analysis import Comparison
from calibcore.errors import InputError
from calibcore.plot.wording import listed
from calibcore.report import exports
from calibcore.report.act_words import both_costs, cost_label
from calibcore.report.fix_words import class_sentence
from calibcore.report.page import preview_height, to_html
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
    with_period,
)
from calibcore.report.training import ANSWERS, QUESTION, Training, question
from calibcore.report.words import markdown_free
from dashboard import remedies, session, settings, widgets
from dashboard.problems import guarded
from dashboard.session import Model

_USUAL = 0.9  # as on the page Act
_PAPER = 1_600  # pixels that the preview takes, about


def page() -> None:
    """Draw the page."""
    st.title("Report")
    widgets.text("One page for someone who decides, to print or to send. It names what it rests on, and holds no rows of your file.")
    form, paper = st.columns([34, 66], gap="medium")
    with form:
        model = widgets.choose_model(session.models())
        its_settings, lacks = settings.current().for_model(model)
        if lacks:
            widgets.text(lacks, small=True)
        others = beside(model, its_settings)
        its_settings, open_question = threshold(its_settings)
        if open_question:
            widgets.text(open_question, small=True)
        tested = st.toggle("Test recalibration (takes a moment)", key="tested", bind="query-params", persist_state="session")
        training([model, *others])
        times = times_in_groups(model.predictions)
        if times:
            said = f"Column {times[0]} could be the time. Name it as the time among the file's columns (sidebar), and the report says "
            widgets.text(f"{said}which period it covers.", small=True)
        words = own_words(model)
    with paper, guarded("This report"):
        report = content(model, others, its_settings, words, tested=tested)
        downloads(report, model)
        st.iframe(to_html(report), height=preview_height(report), alt="Preview of the report")
    st.page_link("views/learn.py", label="Next: learn how to read it", icon=":material/arrow_forward:")


def beside(model: Model, its_settings: cc.Settings) -> list[Model]:
    """Other models for the table; only those that have the view."""
    names = [m.name for m in session.models() if m is not model and its_settings.view in m.predictions.views]
    if not names:
        return []
    st.session_state["report with"] = [n for n in st.session_state.get("report with", []) if n in names]
    picked = st.multiselect(
        f"Other models in its table (up to {MOST_MODELS - 1})",
        names,
        key="report with",
        max_selections=MOST_MODELS - 1,
        persist_state="session",
    )
    return [session.model_named(n) for n in picked]


def threshold(its_settings: cc.Settings) -> tuple[cc.Settings, str | None]:
    """The threshold and the costs of the page Act, if they shall be in the report; a sentence where a cost is missing."""
    if not st.toggle("Say what happens at a threshold", key="acting", bind="query-params", persist_state="session"):
        return its_settings, None
    t = st.number_input("Threshold", 0.0, 1.0, _USUAL, 0.01, "%g", key="t", bind="query-params", persist_state="session")
    error = _cost("cost_error", *cost_label(its_settings.view))
    review = _cost("cost_review", "Cost of reviewing a row (optional)")
    error, review, open_question = both_costs(error, review)
    return replace(its_settings, threshold=t, cost_error=error, cost_review=review), open_question


def _cost(key: str, label: str, about: str | None = None) -> float | None:
    return st.number_input(label, 0.0, value=None, key=key, format="%g", help=about, bind="query-params", persist_state="session")


def training(chosen: Sequence[Model]) -> None:
    """The question that no file answers, once for each file, for who has not answered it in the sidebar."""
    if session.state().samples:
        return
    files = {m.file.content: m.file for m in chosen if m.file is not None}
    answers: list[Training] = ["unknown", "yes", "no"]
    for i, content in enumerate(files):
        its_models = [m for m in chosen if m.file is not None and m.file.content == content]
        key = f"report training {i}" if i else "report training"
        st.session_state[key] = session.training(its_models[0])
        st.segmented_control(
            QUESTION if len(files) == 1 else markdown_free(question(listed([m.name for m in its_models]))),
            answers,
            key=key,
            required=True,
            format_func=lambda answer: ANSWERS[answer],
            on_change=_answered,
            args=(content, key),
        )


def _answered(content: str, key: str) -> None:
    session.state().training[content] = st.session_state[key]


def own_words(model: Model) -> Options:
    """Heading and note, which are about this model, and the reader."""
    heading = st.text_input(
        "Heading",
        key=f"heading {model.name}",
        max_chars=MOST_HEADING,
        placeholder="As in the preview",
        persist_state="session",
    )
    audience = st.text_input("Who it is for", key="audience", max_chars=MOST_AUDIENCE, persist_state="session")
    note = st.text_area("Your note, marked as the analyst’s", key=f"note {model.name}", max_chars=MOST_NOTE, persist_state="session")
    return {"heading": heading, "audience": audience, "note": note}


def content(model: Model, others: Sequence[Model], its_settings: cc.Settings, words: Options, *, tested: bool) -> Report:
    """What the report says."""
    first = session.analyse(model, with_period(model.predictions, its_settings))
    analyses = [first, *(session.analyse(m, its_settings) for m in others)]
    found = held_out(model, its_settings) if tested else None
    words = {
        **words,
        "comparison": compared([model, *others], its_settings),
        "remedies": found,
        "classes": classes(model, found),
        "training": [session.training(m) for m in (model, *others)],
        "could_be_time": times_in_groups(model.predictions),
    }
    return reported(analyses, **words)


def compared(chosen: Sequence[Model], its_settings: cc.Settings) -> Comparison | str | None:
    """The differences to the model of the report, or why there are none."""
    try:
        return session.compare(chosen, its_settings, chosen[0].name) if len(chosen) > 1 else None
    except InputError as error:
        return str(error)


def held_out(model: Model, its_settings: cc.Settings) -> Remedies | str:
    """What recalibration changes on rows it was not fitted on, or why that cannot be said."""
    place = st.empty()
    if not remedies.found_already(model, its_settings):
        with place.container():
            widgets.text("Refitting on five folds…", small=True)
            st.skeleton(height=_PAPER)
    try:
        return remedies.remedies(model, its_settings)
    except InputError as error:
        return str(error)
    finally:
        place.empty()


def classes(model: Model, found: Remedies | str | None) -> str | None:
    """What the best remedy does to the predicted classes."""
    if not isinstance(found, Remedies) or found.best is None:
        return None
    return class_sentence(model.predictions, remedies.held_out(model, found, found.best.method).predictions)


def downloads(report: Report, model: Model) -> None:
    """The report as files."""
    with st.container(horizontal=True):
        name = exports.file_name(model.name, "report", ending=".html")
        st.download_button("Report (HTML)", lambda: to_html(report), name, "text/html", on_click="ignore")
        if can_write():
            name = exports.file_name(model.name, "report", ending=".pdf")
            st.download_button("Report (PDF)", lambda: to_pdf(report), name, "application/pdf", on_click="ignore")
    if not can_write():
        widgets.text(MISSING, small=True)


page()
