"""Compare: which model scores better, and whether the difference is real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

import calibcore as cc
from calibcore import plot
from calibcore.analysis import Analysis, Comparison
from calibcore.errors import InputError
from calibcore.plot.differences import SCORE_NAMES
from calibcore.plot.marks import Chart
from calibcore.plot.overlay import MOST_MULTIPLES, MOST_OVERLAID
from calibcore.report import compare_words, tables, view_words, words
from calibcore.report.words import markdown_free
from dashboard import session, settings, widgets
from dashboard.problems import guarded, say
from dashboard.takeaway import takeaway

_FOREST = 336  # pixels of one forest plot: three beside one another on a wide screen
_DECIDE = (
    "Log loss and Brier score decide, with their intervals. The difference in ECE is a number without an interval: it shrinks towards 0 "
    "with few rows and decides nothing."
)


def page() -> None:
    """Draw the page."""
    st.title("Compare models")
    chosen = choose()
    if not chosen:
        widgets.text("Choose at least one model.")
        return
    baseline = choose_baseline(chosen)
    with guarded("This comparison"):
        compared(chosen, baseline)
    st.page_link("views/bins.py", label="Next: bins and rows", icon=":material/arrow_forward:")


def choose() -> list[session.Model]:
    """The models to compare; those without the view are named.

    At first all that fit, of the samples those with the classes of the first.
    """
    found = session.models()
    names = [m.name for m in found]
    alike = [m.name for m in found if not session.state().samples or m.predictions.classes == found[0].predictions.classes]
    loaded = tuple(names)
    if st.session_state.get("loaded") != loaded:
        st.session_state["loaded"], st.session_state["compared"] = loaded, alike[:MOST_MULTIPLES]
    kept = [n for n in st.session_state.get("compared", alike) if n in names]
    st.session_state["compared"] = kept
    picked = st.multiselect("Models", names, key="compared", max_selections=MOST_MULTIPLES, persist_state="session")
    view = settings.current().view
    without = [n for n in picked if view not in session.model_named(n).predictions.views]
    if without:
        widgets.text(f"Left out, since they lack the chosen view: {', '.join(without)}.", small=True)
    return [session.model_named(n) for n in picked if n not in without]


def choose_baseline(chosen: Sequence[session.Model]) -> str:
    """The model that the others are compared with."""
    names = [m.name for m in chosen]
    if st.session_state.get("baseline") not in names:
        st.session_state["baseline"] = names[0]
    st.selectbox("Baseline", names, key="baseline", persist_state="session")
    return str(st.session_state["baseline"])


def compared(chosen: Sequence[session.Model], baseline: str) -> None:
    """Differences in words, table, forest plots, diagrams and downloads."""
    said = settings.current()
    its_settings, _ = said.for_model(chosen[0])
    found = against(chosen, its_settings, baseline)
    analyses = found.whole.analyses if found.whole else tuple(session.analyse(m, its_settings) for m in chosen)
    baseline_first = sorted(analyses, key=lambda a: a.name != baseline)
    say_differences(found)
    widgets.training_notes(chosen)
    side_by_side(baseline_first, said.n_bins)
    charts = [*show_differences(found), *diagrams(baseline_first)]
    takeaway(found.whole or analyses, charts)


@dataclass(frozen=True, slots=True)
class Found:
    """Comparisons with the baseline: one of all models, or one each with the reasons where there is none."""

    comparisons: tuple[Comparison, ...] = ()
    faults: tuple[InputError, ...] = ()
    whole: Comparison | None = None


def against(chosen: Sequence[session.Model], its_settings: cc.Settings, baseline: str) -> Found:
    """Each model against the baseline; where one cannot be compared, the others still are, and there is no whole."""
    if len(chosen) < 2:
        return Found()
    try:
        whole = session.compare(chosen, its_settings, baseline)
    except InputError:
        return one_by_one(chosen, its_settings, baseline)
    return Found((whole,), whole=whole)


def one_by_one(chosen: Sequence[session.Model], its_settings: cc.Settings, baseline: str) -> Found:
    """What can be compared, and the reason where it cannot."""
    base, comparisons, faults = session.model_named(baseline), list[Comparison](), list[InputError]()
    for model in chosen:
        if model is not base:
            try:
                comparisons.append(session.compare([base, model], its_settings, baseline))
            except InputError as error:
                faults.append(error)
    return Found(tuple(comparisons), tuple(faults))


def say_differences(found: Found) -> None:
    """Which model scores better, in words, before any number; what must be known to read them."""
    widgets.text(*compare_words.compared_lines(found.comparisons))
    widgets.text(*(f"Note: {note}" for note in compare_words.notes_of(found.comparisons)), small=True)
    for fault in found.faults:
        say(fault)


def side_by_side(analyses: Sequence[Analysis], n_bins: int) -> None:
    """The models' table, with both strategies."""
    widgets.show_table(tables.model_table(analyses), alt="The models side by side, baseline first")
    if analyses[0].settings.strategy == "custom":
        widgets.show_table(words.strategy_table(analyses, n_bins))
    means = view_words.below_zero(analyses[0].view)
    widgets.text(f"{tables.settings_text(analyses[0].settings)} {means[0].upper()}{means[1:]}.", small=True)
    with st.expander("The verdicts in words"):
        for a in analyses:
            st.markdown(f"**{markdown_free(words.headline(a))}**")
            widgets.text(" ".join(filter(None, (view_words.below_headline(a), view_words.in_this_view(a), words.remedy_line(a)))))


def show_differences(found: Found) -> list[Chart | None]:
    """Differences to the baseline, as forest plots and in numbers."""
    if found.comparisons:
        st.header("Is the difference real?")
    if any(map(compare_words.decides, found.comparisons)):
        widgets.text(_DECIDE, small=True)
    charts: list[Chart | None] = []
    for i, comparison in enumerate(found.comparisons):
        charts += forests(comparison, i)
        widgets.show_table(tables.difference_table(comparison), alt="Differences to the baseline")
    return charts


def forests(comparison: Comparison, i: int) -> list[Chart | None]:
    """One forest plot a score, those that decide first; only the gap's where no score can be compared."""
    scores = SCORE_NAMES if compare_words.has_scores(comparison) else {"gap": SCORE_NAMES["gap"]}
    charts: list[Chart | None] = []
    with st.container(horizontal=True, gap="small"):
        for score, name in scores.items():
            with st.container(width=_FOREST, gap=None):
                st.markdown(f"**{name}**")
                charts.append(widgets.draw(plot.differences, comparison, score, width=_FOREST, key=f"{score} chart {i}"))
    return charts


def diagrams(analyses: Sequence[Analysis]) -> list[Chart | None]:
    """One diagram for up to four models, or one each."""
    st.header("Diagrams")
    if overlaid(len(analyses)):
        chart = widgets.draw(plot.overlay, analyses, key="overlay chart")
        if chart is not None:
            widgets.table_below(chart, key="overlay table")
        return [chart]
    drawn: list[Chart | None] = []
    with guarded("These diagrams"):
        drawn += multiples(analyses)
    return drawn


def overlaid(n: int) -> bool:
    """Whether the models stand in one diagram; a choice only where there is one."""
    if n > MOST_OVERLAID:
        return False
    options = ["Automatic", "Overlay", "Small multiples"]
    if st.session_state.get("layout") not in (None, *options):
        st.session_state["layout"] = "Automatic"
    return (
        st.segmented_control(
            "Layout", options, default="Automatic", required=True, key="layout", bind="query-params", persist_state="session"
        )
        != "Small multiples"
    )


def multiples(analyses: Sequence[Analysis]) -> list[Chart | None]:
    """Small diagrams on the same axes, wrapping with the width of the page."""
    charts = plot.small_multiples(analyses)
    with st.container(horizontal=True, gap="medium"):
        for i, chart in enumerate(charts):
            with st.container(width=chart.width, gap=None):
                st.markdown(f"**{markdown_free(chart.title)}**")
                widgets.show(chart, key=f"chart {i}", caption=False)
    widgets.text(compare_words.diagrams_caption(analyses), small=True)
    widgets.table_below(*charts, key="multiples table", title="Charts as tables")
    return list(charts)


page()
