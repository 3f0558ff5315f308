"""Fix: whether recalibration would help, judged on rows that no fit has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

import calibcore as cc
from calibcore import plot
from calibcore.advice.recalibration import Remedy
from calibcore.analysis import Analysis
from calibcore.plot.differences import Score
from calibcore.plot.marks import Chart
from calibcore.report import compare_words, exports, fix_exports, fix_words, reduced_words
from calibcore.report.words import markdown_free
from dashboard import remedies, session, settings, widgets
from dashboard.problems import guarded
from dashboard.session import Model
from dashboard.takeaway import Asked, takeaway

_SCORES: dict[str, Score] = {"Log loss": "log_loss", "Brier score": "brier", "Gap": "gap"}
_SIDE = 340  # of a diagram, in pixels: one fits on a phone, two stand side by side on a screen


def page() -> None:
    """Draw the page."""
    model = widgets.choose_model()
    st.title(markdown_free(fix_words.title(model.name)))
    if model.predictions.has_rows:
        with guarded("This page"):
            tried(*judged(model))
    else:
        widgets.text(reduced_words.FIX)
    st.page_link("views/act.py", label="Next: act on a threshold", icon=":material/arrow_forward:")


def judged(model: Model) -> tuple[Model, cc.Settings]:
    """The model as its remedies are judged, and the settings for it."""
    if model.predictions.task == "multiclass" and alone():
        its_settings, _ = settings.current().for_model(remedies.seen_alone(model))
        return remedies.seen_alone(model), its_settings
    its_settings, lacks = settings.current().for_model(model)
    if lacks:
        widgets.text(lacks, small=True)
    return model, its_settings


def alone() -> bool:
    """Whether only the confidence in the predicted class is to be repaired."""
    return st.toggle(
        "Repair only the confidence in the predicted class (offers isotonic regression)",
        key="alone",
        bind="query-params",
        persist_state="session",
    )


def tried(model: Model, its_settings: cc.Settings) -> None:
    """The answer, what each recalibration changes, and one of them closely."""
    place = st.empty()
    if not remedies.found_already(model, its_settings):
        with place.container():
            widgets.text("Refitting on five folds…", small=True)
            st.skeleton(height=420)
    found = remedies.remedies(model, its_settings)
    before = session.analyse(model, its_settings)
    place.empty()
    widgets.text(fix_words.answer(found, before, changed(model, found)))
    widgets.text(fix_words.how_judged(found), fix_words.PREVIEW, small=True)
    drawn = [all_changes(found)]
    taken = Asked(model, {"remedies": found}, alone=model.file is None, notes=(fix_words.TAKEN,))
    chosen = choose_remedy(found)
    if chosen is None:
        widgets.text(fix_words.NOTHING)
        takeaway([before], drawn, asked=taken)
        return
    one_change(found, chosen)
    held_out = remedies.held_out(model, found, chosen.method)
    after = session.analyse(held_out, its_settings)
    with guarded("These diagrams"):
        drawn += diagrams(before, after)
    widgets.text(fix_words.class_sentence(model.predictions, held_out.predictions))
    st.header("Read with care")
    widgets.caveats(fix_words.fix_caveats(found, chosen))
    the_map(model, found, chosen)
    takeaway([before], drawn, asked=replace(taken, also=(after,)))


def changed(model: Model, found: cc.Remedies) -> int | None:
    """Rows whose predicted class the best remedy changes; counted once, whichever remedy is looked at."""
    best = found.best
    if best is None:
        return None

    def count() -> int | None:
        return fix_words.changed_rows(model.predictions, remedies.held_out(model, found, best.method).predictions)

    return session.state().remember(("changed rows", model.key, model.name, found.seed, best.method), count)


def all_changes(found: cc.Remedies) -> Chart | None:
    """A forest plot of every recalibration."""
    st.header("What each recalibration changes")
    score = st.segmented_control("Score", list(_SCORES), default="Log loss", required=True, key="changed score", persist_state="session")
    chart = widgets.draw(plot.changes, found, _SCORES[str(score)], key="changes chart", stretch=True)
    if chart is not None:
        widgets.table_below(chart, key="changes table")
    return chart


def choose_remedy(found: cc.Remedies) -> Remedy | None:
    """The recalibration to look at; None for none. Those that need more rows are not offered, and say so."""
    st.header("One of them, closely")
    methods = fix_words.fix_options(found)
    options = [fix_words.SUGGESTED, fix_words.UNCHANGED, *methods]
    if st.session_state.get("fix") not in (None, *options):
        st.session_state["fix"] = fix_words.SUGGESTED
    picked = st.pills(
        "Recalibration", options, default=fix_words.SUGGESTED, required=True, key="fix", bind="query-params", persist_state="session"
    )
    widgets.text(*fix_words.not_tried(found), small=True)
    if picked == fix_words.UNCHANGED:
        return None
    return found[methods[picked]] if picked in methods else found.best


def one_change(found: cc.Remedies, chosen: Remedy) -> None:
    """Scores before and after, and what was fitted; the answer of the best stands at the top of the page."""
    if chosen is not found.best:
        widgets.text(*filter(None, (chosen.answer, fix_words.remains_line(found, chosen))))
    widgets.show_table(fix_words.before_after(found, chosen), alt="Scores before and after, on held-out rows")
    widgets.text(fix_words.change_words(found, chosen), small=True)
    fitted, numbers = fix_words.parameter_sentence(chosen), fix_words.parameter_table(chosen)
    widgets.text(*filter(None, (fitted, *chosen.notes)))
    if numbers is not None and fitted is None:
        widgets.show_table(numbers, alt="The fitted numbers, and their range over the folds")


def diagrams(before: Analysis, after: Analysis) -> Sequence[Chart]:
    """Both diagrams on the same axes; side by side where there is room."""
    charts = plot.small_multiples([before, after], side=_SIDE)
    with st.container(horizontal=True, gap="medium"):
        for words, chart in zip(("Before", "After, on held-out rows"), charts, strict=True):
            with st.container(width=chart.width, gap=None):
                st.markdown(f"**{words}**")
                widgets.show(chart, key=f"diagram {words}", caption=False)
    widgets.text(" ".join(filter(None, (compare_words.diagrams_caption([before, after]), compare_words.outside_line(after)))), small=True)
    widgets.table_below(*charts, key="fix table", title="Diagrams as tables")
    return charts


def the_map(model: Model, found: cc.Remedies, chosen: Remedy) -> None:
    """Held-out scores, the fitted map and code that applies it."""
    calibrator = chosen.calibrator
    if calibrator is None:
        return
    st.header("The calibrator")
    file, predictions = exports.file_name(model.name, chosen.method, ending=".json"), model.predictions
    code, files = fix_exports.apply_code(calibrator, file), session.state().downloads
    with st.container(horizontal=True):
        files.button(
            "Held-out scores (CSV)",
            lambda: fix_exports.calibrated_csv(found.held_out(predictions, chosen.method)),
            exports.file_name(model.name, chosen.method, "held-out", ending=".csv"),
            "text/csv",
        )
        files.button("Calibrator (JSON)", lambda: fix_exports.calibrator_json(calibrator), file, "application/json")
        name = exports.file_name("apply", chosen.method, ending=".py")
        files.button("Code (Python)", lambda: code, name, "text/x-python")
    with st.expander("Code that applies it"):
        st.code(code, language="python")


page()
