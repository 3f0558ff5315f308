"""Controls and displays that pages share; all text from files is shown as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import streamlit as st

from calibcore.analysis import Analysis
from calibcore.plot.interactive import clicked_bin, config, figure
from calibcore.plot.marks import Chart
from calibcore.plot.marks import Table as ChartTable
from calibcore.report import learn
from calibcore.report.bin_tables import folded
from calibcore.report.exports import file_name
from calibcore.report.tables import Table
from calibcore.report.training import ANSWERS
from calibcore.report.words import Caveat, Number, bin_option, markdown_free, training_caveats
from dashboard import session
from dashboard.problems import guarded
from dashboard.theme import is_dark

__all__ = [
    "ask_training",
    "bin_selector",
    "caveats",
    "choose_model",
    "draw",
    "numbers",
    "show_table",
    "table_below",
    "text",
    "training_notes",
]

Edges = tuple[float, float]


def text(*paragraphs: str, small: bool = False) -> None:
    """Paragraphs exactly as written, as one element: each element costs the browser time when a slider moves."""
    if paragraphs:
        (st.caption if small else st.markdown)("\n\n".join(markdown_free(kept_together(p)) for p in paragraphs))


def kept_together(text: str) -> str:
    """A text whose signs stay on the line of their numbers: "p ≤ 0.001" is not broken."""
    return re.sub(r" ([≤≥<>=]) ", "\u00a0\\1\u00a0", text)


def show_table(table: Table | ChartTable, *, alt: str | None = None) -> None:
    """A table in HTML, so that it can be read aloud, copied and searched; of bins without the empty ones at its start."""
    left_out = None
    if isinstance(table, ChartTable):
        table, left_out = folded(table)
    header = [markdown_free(h) for h in table.header]
    rows = [dict(zip(header, map(markdown_free, row), strict=True)) for row in table.rows]
    st.table(rows or {h: [] for h in header}, border="horizontal", hide_index=True, alt=alt)
    if left_out:
        text(left_out, small=True)


def table_below(*charts: Chart, key: str, title: str = "Chart as table") -> None:
    """The numbers of charts, folded away and made only when unfolded: a table costs the browser more than a chart."""
    folded = st.expander(title, key=key, on_change="rerun")
    if folded.open:
        with folded:
            for chart in charts:
                if len(charts) > 1:
                    st.markdown(f"**{markdown_free(chart.title)}**")
                show_table(chart.table, alt=chart.alt)


def draw(
    chart_of: Callable[..., Chart], *args: Any, key: str, analysis: Analysis | None = None, stretch: bool = False, **options: Any
) -> Chart | None:
    """Make a chart and show it with its caption; with ``analysis``, a click on a bin selects it.

    Parameters
    ----------
    chart_of : function
        From `calibcore.plot`; called with ``args`` and ``options``.
    key : str
        Of the widget.
    analysis : Analysis, optional
        Whose bins can be clicked.
    stretch : bool
        Whether the chart fills the width of its container.
    """
    chart = None
    with guarded():
        chart = chart_of(*args, **options)
        show(chart, key=key, on_click=None if analysis is None else lambda i: _look_at(analysis, i), stretch=stretch)
    return chart


def show(chart: Chart, *, key: str, on_click: Callable[[int], None] | None = None, stretch: bool = False, caption: bool = True) -> None:
    """Show a chart with its caption; ``on_click`` gets the id of a clicked mark.  With equal scales it is as much lower as narrower."""
    if chart.equal:
        place = f".st-key-{re.sub('[^a-zA-Z0-9_-]', '-', key)}"
        frames = ", ".join(f"{place} [data-testid={name}]" for name in ("stFullScreenFrame", "stPlotlyChart"))
        shape = f"height: auto !important; min-height: 0 !important; aspect-ratio: {chart.width} / {chart.height};"
        st.html(f"<style>{place} {{ height: auto !important; flex: none !important; }} {frames} {{ {shape} }}</style>")
    st.plotly_chart(
        figure(chart, dark=is_dark()),
        width="stretch" if stretch else chart.width,
        height=chart.height,
        key=key,
        config=config(file_name(chart.title or "models", chart.kind, ending="")),
        alt=chart.alt,
        on_select="ignore" if on_click is None else lambda: _clicked(key, on_click),
        selection_mode="points",
    )
    if caption:
        text(chart.caption, small=True)


def _clicked(key: str, on_click: Callable[[int], None]) -> None:
    i = clicked_bin(st.session_state[key])
    if i is not None:
        on_click(i)


def _look_at(analysis: Analysis, i: int) -> None:
    """Keep the edges of the clicked bin: the widget's own selection is lost whenever the picture changes."""
    session.state().kept_range = edges_of(analysis, i)


def edges_of(analysis: Analysis, i: int) -> Edges:
    """Edges of a bin."""
    low, high = analysis.bins.edges[i : i + 2].tolist()
    return low, high


def numbers(found: Sequence[Number]) -> None:
    """Numbers side by side, each with what must be read beside it."""
    with st.container(horizontal=True, gap="small", border=True):
        for number in found:
            about = learn.about(number.label)
            st.metric(
                number.label,
                number.value,
                number.beside,
                delta_color="off",
                delta_arrow="off",
                width="content",
                help=None if about is None else markdown_free(about),
            )


def ask_training(content: str, key: str, question: str) -> None:
    """The question that no file answers, about the file with this content; its answer is kept with the content."""
    st.session_state[key] = session.state().training.get(content, "unknown")
    st.segmented_control(
        question,
        ["unknown", "yes", "no"],
        key=key,
        required=True,
        format_func=lambda answer: ANSWERS[answer],
        on_change=_trained,
        args=(content, key),
    )


def _trained(content: str, key: str) -> None:
    session.state().training[content] = st.session_state[key]


def choose_model() -> session.Model:
    """The model that is looked at, the same one on every page."""
    names = [m.name for m in session.models()]
    if st.session_state.get("model") not in names:
        st.session_state["model"] = names[0]
    st.selectbox("Model", names, key="model", persist_state="session")
    return session.model_named(st.session_state["model"])


def bin_selector(analysis: Analysis) -> int | None:
    """Choose a bin without a pointer; the choice is a range of confidences, kept while some bin has these edges."""
    here = session.state()
    bins = {edges_of(analysis, i): i for i in range(len(analysis.bins.count)) if analysis.bins.filled[i]}
    if here.kept_range is not None and here.kept_range not in bins:
        here.kept_range, here.range_lost = None, True
    st.session_state["inspect"] = here.kept_range
    st.selectbox(
        "Inspect a bin",
        list(bins),
        index=None,
        key="inspect",
        format_func=lambda edges: bin_option(analysis, bins[edges]) if edges in bins else "",
        placeholder="None: choose one, or click a bar",
        on_change=_inspected,
    )
    if here.range_lost:
        st.caption("Bins changed; pick a bin again.")
    return None if here.kept_range is None else bins[here.kept_range]


def _inspected() -> None:
    here = session.state()
    here.kept_range, here.range_lost = st.session_state["inspect"], False


def caveats(found: Sequence[Caveat]) -> None:
    """What applies to the model that is looked at, the use of its rows for training first."""
    shown = next((m for m in session.models() if m.name == st.session_state.get("model")), None)
    _folded([*(training_caveats(session.training(shown)) if shown else ()), *found])


def training_notes(models: Sequence[session.Model]) -> None:
    """The same for several models: a line for each whose rows may have been used for training."""
    found = [c for m in models for c in training_caveats(session.training(m), m.name)]
    if found:
        _folded(found)


def _folded(found: Sequence[Caveat]) -> None:
    """One line each, and why on demand; the browser's own disclosure, in one element."""
    items = (f"<details><summary>{escape(c.line)}</summary><p>{escape(c.why)}</p></details>" for c in found)
    st.html(f'<div class="caveats">{"".join(items)}</div>')
