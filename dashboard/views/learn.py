"""Learn: how to read the pages, what the scores mean, limits, privacy and the words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import streamlit as st

import calibcore as cc
from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.report import learn
from calibcore.report.learn import Example, Term
from dashboard import widgets
from dashboard.assets import sample_paths
from dashboard.problems import guarded


def page() -> None:
    """Draw the page."""
    st.title("How to read these pages")
    widgets.text(*learn.MEANING)
    st.header("Reading a reliability diagram")
    lines(learn.HOW_TO_READ)
    with guarded("This example"):
        example()
    st.header("What the scores mean")
    terms(learn.SCORES)
    st.header("What the numbers cannot tell")
    lines(learn.CAUTIONS)
    st.header("Limits")
    widgets.show_table(learn.LIMITS, alt="How much the dashboard takes")
    st.header("Privacy and sharing")
    widgets.text(learn.PRIVACY, learn.SHARING)
    st.header("Words")
    widgets.show_table(learn.GLOSSARY, alt="Words and what they mean")
    st.page_link("views/overview.py", label="Next: the overview", icon=":material/arrow_forward:")


def lines(found: Sequence[str]) -> None:
    """Sentences as a list, in one element."""
    st.html(f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in found)}</ul>")


def terms(found: Sequence[Term]) -> None:
    """Words with what they mean, in one element."""
    st.html(f'<dl style="margin: 0">{"".join(map(term, found))}</dl>')


def term(t: Term) -> str:
    """One word with its meaning, formula and limit."""
    more = [f'<dd><code style="font-size: 0.85em">{escape(t.formula)}</code></dd>'] if t.formula else []
    more += [f"<dd>{escape(t.limit)}</dd>"] if t.limit else []
    return f'<dt style="margin: 0; font-weight: 600">{escape(t.name)}</dt><dd>{escape(t.meaning)}</dd>{"".join(more)}'


def example() -> None:
    """One sample's diagram, and three questions with folded answers."""
    names = {e.name: e for e in learn.EXAMPLES}
    picked = st.segmented_control(
        "Example", list(names), default=learn.EXAMPLES[0].name, required=True, key="example", bind="query-params", persist_state="session"
    )
    chosen = names[str(picked)]
    analysis = analysed(chosen)
    charts, beside = st.columns([58, 42], gap="medium")
    with charts:
        widgets.draw(plot.reliability, analysis, key="example diagram")
        chart = widgets.draw(plot.counts, analysis, key="example counts")
        if chart is not None:
            widgets.table_below(plot.reliability(analysis), key="example table")
    with beside:
        st.markdown("**Try it: answer, then unfold**")
        answers(chosen, analysis)


def answers(chosen: Example, analysis: Analysis) -> None:
    """What the shape is, and the questions."""
    widgets.text(chosen.shape)
    items = (f"<details><summary>{escape(q.text)}</summary><p>{escape(q.answer)}</p></details>" for q in learn.questions(analysis))
    st.html(f'<div class="caveats">{"".join(items)}</div>')


def analysed(chosen: Example) -> Analysis:
    """The analysis of a sample; samples are nobody's upload, so it is shared."""
    path = next(p for p in sample_paths() if p.stem == chosen.sample)
    return _once(str(path))


@st.cache_resource(show_spinner=False, max_entries=8)
def _once(path: str) -> Analysis:
    (predictions,) = cc.read(Path(path))
    return cc.analyze(predictions)


page()
