"""The Columns dialog: how a file is read, role by role, what is still open, and what another choice would change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import streamlit as st

from calibcore.errors import Question, without_options
from calibcore.io.effects import Trial, effects_of
from calibcore.report.group_words import MORE_COLUMNS
from calibcore.report.words import markdown_free
from dashboard import session, widgets
from dashboard.answers import SCALES, SEVERAL, TYPED, answer_text, meaning, option_text, same_label, typed
from dashboard.draft import NONE, Draft
from dashboard.page_words import on_page
from dashboard.problems import guarded
from dashboard.reading import columns_in, figures, first_rows, named, sentence, spoken
from dashboard.session import Content, File

__all__ = ["content_of", "is_left_out", "open_for", "show"]

_STATE = "columns"
_LEFT_OUT = "left out"  # keys of files that were left out
_BESIDE = {"model": "Model", "weight": "Weight", "id": "Row id", "cluster": "Cluster (rows of one subject)", "time": "Time"}
# Written by hand: what is said about values, not about columns.
_WRITTEN = {
    "classes": ("Class names in their order", "such as no,yes"),
    "drop_label": ("Label values to leave out", "such as void"),
    "outcome": ("A comparison that makes the label", "such as score1 > score2"),
    "rows": ("Rows that are judged", "such as split=test, or all"),
}
_PAIR = {"pair": ("How the labels are joined", "row-order, or the column of both files")}
_TAGS = 12  # columns that a list of tags shows
_OPTIONS = 6  # answers that are shown side by side


def open_for(key: str) -> None:
    """Open the dialog for a file, with the answers it was read with."""
    st.session_state[_STATE] = Draft(key, dict(session.state().answers.get(key, {})))


def content_of(file: File, uploads: Sequence[Any]) -> Content | None:
    """Gives the bytes of a file, or of files that belong together; None for a file that is gone."""
    here = session.state()
    if file.key in here.joined:
        return here.joined[file.key]
    upload = next((u for u in uploads if here.hashes.get(u.file_id) == file.key), None)
    if upload is not None:
        return cast(Content, upload.getvalue)
    return Path(file.key).read_bytes if Path(file.key).is_file() else None


def show(files: Sequence[File], uploads: Sequence[Any]) -> None:
    """Draw the dialog that is open; by itself it opens for a file with open questions, once."""
    here = session.state()
    st.session_state[_LEFT_OUT] = st.session_state.get(_LEFT_OUT, frozenset()) & {f.key for f in files if f.questions}
    draft: Draft | None = st.session_state.get(_STATE)
    if draft is None or all(f.key != draft.key for f in files):
        st.session_state[_STATE] = None
        waiting = next((f for f in files if f.questions and f.key not in here.asked), None)
        if waiting is None:
            return
        open_for(waiting.key)
        draft = cast(Draft, st.session_state[_STATE])
    file = next(f for f in files if f.key == draft.key)
    if draft.version != file.version:  # a file on the server that was written anew meanwhile
        draft.tried, draft.version = {}, file.version
    data = content_of(file, uploads)
    if data is not None:
        _dialog(file, data, files, uploads)


def is_left_out(file: File) -> bool:
    """Whether a file that leaves something open was said to be none of predictions, or not wanted."""
    return bool(file.questions) and file.key in st.session_state.get(_LEFT_OUT, ())


def _leave_out(file: File) -> None:
    """Ask no more about a file; the button beside it still opens its columns."""
    session.state().asked.add(file.key)
    st.session_state[_LEFT_OUT] = st.session_state.get(_LEFT_OUT, frozenset()) | {file.key}
    st.session_state[_STATE] = None
    st.rerun()


def _closed() -> None:
    """Whoever closes the dialog is not asked again until they press the button beside the file."""
    draft: Draft | None = st.session_state.get(_STATE)
    here = session.state()
    here.asked |= {f.key for f in here.files.values() if f.questions} | ({draft.key} if draft else set())
    st.session_state[_STATE] = None


@st.dialog("Columns", width="large", on_dismiss=_closed)
def _dialog(file: File, data: Content, files: Sequence[File], uploads: Sequence[Any]) -> None:
    draft: Draft = st.session_state[_STATE]
    with guarded("This dialog"):
        trial = draft.read(file.name, data)
        sentence(file.name, trial)
        first_rows(trial)
        choices, outcome = st.columns([62, 38], gap="medium")
        with choices:
            for question in draft.asked.values():
                _ask(question, draft)
            if draft.asked:
                with st.expander("All columns", key="all columns"):
                    _roles(draft, trial)
            else:
                _roles(draft, trial)
        with outcome:
            _outcome(file, draft, trial)
            _buttons(file, draft, trial, _same_columns(file, trial.layout.columns, files, uploads))


def _ask(q: Question, draft: Draft) -> None:
    """A question: the likeliest answer comes first, and none is chosen beforehand."""
    given = draft.said.get(q.id)
    if q.id in TYPED and given is not None:
        given = next((o for o in q.options if typed(q.id, o) == given), ",".join(given))
    elif given is not None:
        given = next((o for o in q.options if meaning(q, o) == given), None)
    key = draft.key_of(f"question {q.id}", given)
    st.session_state[key] = given
    text = without_options(q.text)  # its answers stand below
    if q.id in draft.later:
        st.caption("One more question:")
    widgets.text(text)
    label = spoken(text)
    about: dict[str, Any] = {"index": None, "key": key, "on_change": _answered, "args": (q.id, key), "label_visibility": "collapsed"}
    if q.id in TYPED:
        offer = f"Choose (most likely: {q.options[0]}), or type with commas"
        st.selectbox(label, q.options, placeholder=offer, accept_new_options=True, **about)
        return
    if len(q.options) <= _OPTIONS:
        st.radio(label, q.options, format_func=lambda o: markdown_free(option_text(q, o)), **about)
        if len(q.options) > 1 and given is None:
            st.caption("The likeliest answer comes first; nothing is chosen for you.")
    else:
        st.selectbox(label, q.options, placeholder=f"Choose (most likely: {q.options[0]})", **about)


def _answered(role: str, key: str) -> None:
    draft, chosen = _heard(f"question {role}", key)
    if draft is not None:
        draft.say(role, chosen if chosen is None or role in TYPED else meaning(draft.asked[role], chosen))


def _heard(control: str, key: str) -> tuple[Draft | None, Any]:
    """The draft and what was chosen in a control; None for what nobody chose.

    After the dialog was closed its controls speak once more with the next run; so do those whose value was changed meanwhile.
    """
    draft: Draft | None = st.session_state[_STATE]
    value = st.session_state.get(key)
    return (draft, value) if draft is not None and draft.chosen(control, key, value) else (None, value)


def _say(role: str, key: str, meant: Callable[[Any], Any] = lambda value: value) -> None:
    draft, value = _heard(f"role {role}", key)
    if draft is not None:
        draft.say(role, meant(value))


def _roles(draft: Draft, trial: Trial) -> None:
    """The reading as controls, those that decide the numbers first."""
    left, right = st.columns(2)
    with left:
        _one("label", "Label (what happened)", draft, trial)
        _several("probabilities", "Probability: one column or several", draft, trial)
        if "columns_are" not in draft.asked:
            _columns_are(draft, trial)
        if "positive" not in draft.asked:
            _positive(draft, trial)
    with right:
        _one("predicted", "Predicted class", draft, trial)
        _several("confidence", "Confidence in the predicted class", draft, trial)
        _one("correct", "Right or wrong", draft, trial)
        if "scale" not in draft.asked:
            _scale(draft, trial)
    with st.expander(MORE_COLUMNS, key="more columns"):
        left, right = st.columns(2)
        for i, (role, label) in enumerate(_BESIDE.items()):
            with (left, right)[i % 2]:
                _one(role, label, draft, trial)
        with right:
            _several("groups", "Groups", draft, trial)
        written = {**_WRITTEN, **(_PAIR if draft.key in session.state().joined else {})}
        for i, role in enumerate(r for r in written if r not in draft.asked):
            with (left, right)[i % 2]:
                _written(role, *written[role], draft)
    if "missing" not in draft.asked:
        _missing(draft)
    also = [f"{role} = {', '.join(draft.said[role])}" for role in TYPED if draft.said.get(role)]
    also += [answer_text("rows", draft.said["rows"])] if draft.said.get("rows") and "rows" not in draft.asked else []
    widgets.text(*(f"Also answered: {text}." for text in also), small=True)


def _value(role: str, draft: Draft, trial: Trial) -> Any:
    """What is said about a role, else what was found; None where that is not known yet."""
    if role in draft.said:
        said = draft.said[role]
        return NONE if said in ("none", []) and "none" not in trial.layout.columns else said
    if role == "label" and draft.said.get("outcome"):
        return draft.said["outcome"]
    return trial.layout.roles.get(role, NONE) if trial.readable else None


def _one(role: str, label: str, draft: Draft, trial: Trial) -> None:
    """One column with a role, or none."""
    value = _value(role, draft, trial)
    value = tuple(value) if isinstance(value, list) else value
    key = draft.key_of(f"role {role}", value)
    options: list[Any] = [NONE, *trial.layout.columns]
    if value is not None and value not in options:
        options.append(value)  # a comparison, or a part of a column
    st.session_state[key] = value
    st.selectbox(
        label,
        options,
        index=None if value is None else 0,
        key=key,
        format_func=_option,
        placeholder="As found",
        on_change=_chosen,
        args=(role, key, options[1:]),
    )


def _option(column: Any) -> str:
    return "None" if column == NONE else named(str(column))


def _chosen(role: str, key: str, columns: Sequence[Any]) -> None:
    draft, value = _heard(f"role {role}", key)
    if draft is not None and (value in (None, NONE) or value in columns):
        draft.say(role, value)


def _several(role: str, label: str, draft: Draft, trial: Trial) -> None:
    """Any number of columns with a role; too many for tags, or parts of a column, are named in the empty field."""
    value = _value(role, draft, trial)
    columns = list(dict.fromkeys(columns_in(value)))
    fits = len(columns) <= _TAGS and set(columns) <= set(trial.layout.columns)
    empty = f"{columns[0]} … {columns[-1]} ({len(columns):,})" if columns else "As found" if value is None else "None"
    key = draft.key_of(f"role {role}", columns if fits else [])
    st.session_state[key] = columns if fits else []
    about: dict[str, Any] = {"format_func": named, "placeholder": empty, "on_change": _chosen_several, "args": (role, key)}
    st.multiselect(label, trial.layout.columns, key=key, **about)


def _chosen_several(role: str, key: str) -> None:
    _say(role, key, lambda chosen: chosen[0] if len(chosen) == 1 and role != "groups" else tuple(chosen))


def _written(role: str, label: str, example: str, draft: Draft) -> None:
    """What is said in words, as in the shell; an empty field says nothing."""
    said = draft.said.get(role)
    value = "" if said is None else said if isinstance(said, str) else ",".join(said)
    key = draft.key_of(f"role {role}", value)
    st.session_state[key] = value
    st.text_input(label, key=key, placeholder=example, on_change=_say, args=(role, key, lambda v: v.strip() or None))


def _columns_are(draft: Draft, trial: Trial) -> None:
    """What several probability columns stand for; asked for only where there are several."""
    value = _value("probabilities", draft, trial)
    if len(columns_in(value)) > 1 and not (isinstance(value, dict) and "columns_are" not in draft.said):
        _choice("columns_are", "Several columns are", SEVERAL, draft.said.get("columns_are"), draft)


def _scale(draft: Draft, trial: Trial) -> None:
    _choice("scale", "They are written as", SCALES, draft.said.get("scale") or (trial.layout.scale if trial.readable else None), draft)


def _choice(role: str, label: str, words: dict[str, str], value: Any, draft: Draft) -> None:
    key = draft.key_of(f"role {role}", value)
    st.session_state[key] = value
    st.selectbox(
        label,
        list(words),
        index=None if value is None else 0,
        key=key,
        format_func=lambda w: words[w],
        placeholder="As found",
        on_change=_say,
        args=(role, key),
    )


def _positive(draft: Draft, trial: Trial) -> None:
    """Which of two classes the probability refers to."""
    classes, found = trial.layout.classes, trial.layout.roles.get("positive")
    if not trial.readable or len(classes) != 2 or found is None:
        return
    key = draft.key_of("role positive", found)
    st.session_state[key] = found
    st.radio(
        "The probability refers to",
        sorted(classes),
        key=key,
        format_func=markdown_free,
        horizontal=True,
        on_change=_say,
        args=("positive", key),
    )


def _missing(draft: Draft) -> None:
    drop = draft.said.get("missing") == "drop"
    key = draft.key_of("role missing", drop)
    st.session_state[key] = drop
    args = ("missing", key, lambda ticked: "drop" if ticked else None)
    st.checkbox("Leave out rows with missing values", key=key, on_change=_say, args=args)


def _outcome(file: File, draft: Draft, trial: Trial) -> None:
    """The one sentence on why a choice cannot be read, or its figures."""
    if trial.problem:
        st.error(markdown_free(on_page(trial.problem)))
    elif trial.effects:
        changed = draft.said != session.state().answers.get(file.key, {})
        figures(effects_of(file.predictions) if changed else (), trial.effects)


def _buttons(file: File, draft: Draft, trial: Trial, alike: Sequence[File]) -> None:
    same = bool(alike) and st.checkbox(same_label(alike), key="same answers")
    with st.container(horizontal=True):
        read = st.button("Read the file", key="read the file", icon=":material/check:", disabled=bool(trial.problem))
        leave = bool(file.questions) and st.button("Leave this file out", key="leave out")
        st.button("Start over", key="start over", type="tertiary", disabled=not draft.said, on_click=draft.said.clear)
    if leave:
        _leave_out(file)
    elif read and trial.questions:
        answered = any(i in draft.said for i in draft.asked)
        st.error("One more question is open: choose its answer, then read the file." if answered else "Choose an answer first.")
    elif read:
        for key in (file.key, *(f.key for f in alike if same)):
            _apply(key, draft, trial.layout.columns)
        st.session_state[_STATE] = None
        st.rerun()


def _same_columns(file: File, columns: Sequence[str], files: Sequence[File], uploads: Sequence[Any]) -> list[File]:
    """The other files that leave something open and have the same columns, which the same answers may settle."""
    found = []
    for other in files:
        data = content_of(other, uploads) if other.questions and other.key != file.key else None
        if data is not None and session.columns_of(other, data) == tuple(columns):
            found.append(other)
    return found


def _apply(key: str, draft: Draft, of: Sequence[str]) -> None:
    """Read the file like this from now on, as long as it has these columns."""
    here = session.state()
    here.answers.pop(key, None)
    if draft.said:
        here.answers[key], here.answered[key] = dict(draft.said), tuple(of)
