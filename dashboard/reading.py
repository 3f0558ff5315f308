"""What the Columns dialog shows: the reading as a sentence, the first rows with their roles, and the figures that come of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import streamlit as st

from calibcore.io.effects import Effect, Trial, shared_notes
from calibcore.report.tables import Table, count_text
from calibcore.report.words import markdown_free
from dashboard import widgets
from dashboard.page_words import on_page

__all__ = ["columns_in", "figures", "first_rows", "named", "sentence", "spoken"]

_COLUMNS = 12
_MODELS = 4


def sentence(name: str, trial: Trial) -> None:
    """How the file is read, or that it is not."""
    layout = trial.layout
    rows = "" if layout.n_rows is None else f", {count_text(layout.n_rows)} rows"
    if trial.questions:
        what = f"{name} can be read in more than one way."
    elif trial.problem:
        what = f"{name} cannot be read like this."
    else:
        what = layout.sentence
    st.markdown(f"**{markdown_free(what)}**")
    st.caption(markdown_free(f"{name}: {layout.format}{rows}, {len(layout.columns):,} columns. The first rows:"))


def spoken(text: str) -> str:
    """A text as the name of a control, which is read aloud as it is written: without signs that would be marks of Markdown."""
    return " ".join(re.sub(r"[^\w\s'’,.?%-]|(?<!\w)_|_(?!\w)", " ", text).split())


def first_rows(trial: Trial) -> None:
    """The first rows, in the order of the file; of more columns than are shown those with a role come first."""
    layout, roles = trial.layout, _role_of(trial)
    many = len(layout.columns) > _COLUMNS
    columns = sorted(layout.columns, key=lambda c: many and c not in roles)
    shown = columns[:_COLUMNS]
    header = tuple(f"{named(c)} ({roles[c]})" if c in roles else named(c) for c in shown)
    table = Table(header, tuple(tuple(row[c] for c in shown) for row in layout.preview))
    with st.container(key="preview"):
        widgets.show_table(table, alt="The first rows of the file.")
    if len(shown) < len(columns):
        st.caption(f"And {len(columns) - len(shown):,} more columns.")


def _role_of(trial: Trial) -> dict[str, str]:
    """Column → role, as the file is read now."""
    words = {"probabilities": "probability", "groups": "group"}
    found: dict[str, str] = {}
    for role, value in trial.layout.roles.items():
        if role != "positive":
            found |= {c: words.get(role, role) for c in columns_in(value)}
    return found


def columns_in(value: Any) -> list[str]:
    """The columns in a role, which holds one, several, or one a class."""
    if isinstance(value, dict):
        return [c for v in value.values() for c in columns_in(v)]
    if isinstance(value, (list, tuple)):
        return [c for v in value for c in columns_in(v)]
    return [value] if isinstance(value, str) else []


def named(column: str) -> str:
    """A column's name for people."""
    return column or "(no name)"


def figures(now: Sequence[Effect], then: Sequence[Effect]) -> None:
    """What a choice gives, beside what the page shows now where that is something else."""
    columns: list[tuple[str, Effect]] = [(_titled("Now", e, now), e) for e in now[:_MODELS]]
    columns += [(_titled("With this choice" if now else "This gives", e, then), e) for e in then[:_MODELS]]
    cells = {title: dict(e.figures()) for title, e in columns}
    names = dict.fromkeys(name for rows in cells.values() for name in rows)
    rows = tuple((name, *(cells[title].get(name, "–") for title in cells)) for name in names)
    widgets.show_table(Table(("Figure", *cells), rows), alt="What this reading gives.")
    if len(then) > _MODELS:
        st.caption(f"And {len(then) - _MODELS:,} more models.")
    widgets.text(*(f"Note: {on_page(note)}" for note in shared_notes(then)), small=True)


def _titled(when: str, effect: Effect, of: Sequence[Effect]) -> str:
    return when if len(of) == 1 else f"{when}: {effect.name}"
