"""The sidebar: add files, see how each was read, answer what a file leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from calibcore.errors import Question
from calibcore.report.words import markdown_free
from dashboard import session, settings
from dashboard.session import File

__all__ = ["sidebar"]

_LIMITS = "CSV, TSV, zip, Parquet or JSON Lines. Up to 200 MB read comfortably; larger files are better as Parquet."
_PRIVACY = (
    "Files are held in this server's memory for your session and dropped when it ends; while a large file uploads, the server may use an "
    "unnamed temporary file. Nothing is logged or kept, and no usage statistics are sent."
)
_SCALES = ("fraction", "percent", "logit", "log-prob", "unnormalised")
_COMFORTABLE = 200 * 2**20


def sidebar() -> None:
    """Draw the sidebar and load what it names."""
    with st.sidebar:
        uploads = st.file_uploader("Add files", accept_multiple_files=True, key="uploads")
        st.caption(_LIMITS)
        st.caption(_PRIVACY)
        files = session.load(uploads)
        for i, file in enumerate(files):
            _file_line(file, i)
        for upload in uploads:
            if upload.size > _COMFORTABLE:
                st.caption(markdown_free(f"{upload.name} is large; Parquet with only the label and probability columns would be quicker."))
        if session.models():
            settings.choose(session.models())
    _ask_once(files)


def _file_line(file: File, i: int) -> None:
    if file.error:
        st.error(markdown_free(file.error))
        if file.readable:
            _read_differently(file, i)
    elif file.questions:
        st.warning(markdown_free(f"{file.name} leaves something open."))
        st.button("Answer", key=f"answer {i}", on_click=_ask_again, args=(file.key,))
    elif not session.state().samples:
        st.markdown(f"**{markdown_free(file.name)}**")
        st.caption(markdown_free(file.read_as))
    if not file.questions and file.key in session.state().answers:
        st.button("Change the answers", key=f"change {i}", on_click=_change, args=(file.key,), type="tertiary")


def _ask_again(key: str) -> None:
    session.state().asked.discard(key)


def _change(key: str) -> None:
    here = session.state()
    here.answers.pop(key, None)
    here.asked.discard(key)


def _ask_once(files: Sequence[File]) -> None:
    """Open the dialog for the first file with open questions, unless the reader has closed it."""
    here = session.state()
    waiting = [f for f in files if f.questions and f.key not in here.asked]
    if waiting:
        _dialog(waiting[0])


def _closed() -> None:
    """Whoever closes the dialog is not asked again until they press Answer."""
    here = session.state()
    here.asked |= {f.key for f in here.files.values() if f.questions} | {st.session_state.get("asking", "")}


@st.dialog("Columns", width="medium", on_dismiss=_closed)
def _dialog(file: File) -> None:
    st.session_state["asking"] = file.key
    st.markdown(f"**{markdown_free(file.name)}** {markdown_free('can be read in more than one way.')}")
    with st.form("columns"):
        answers = {q.id: _question(q) for q in file.questions}
        if st.form_submit_button("Read the file"):
            if None in answers.values():
                st.error("Choose an answer first.")
                return
            _answer(file.key, answers)
            st.rerun()


def _question(q: Question) -> str | None:
    """The answer chosen, None until there is one: what a file does not say is not preselected either."""
    st.markdown(markdown_free(q.text))
    label, offer = markdown_free(q.text), f"Choose (most likely: {q.options[0]})"
    return st.selectbox(label, q.options, index=None, placeholder=offer, key=f"question {q.id}", label_visibility="collapsed")


def _answer(key: str, answers: dict[str, Any]) -> None:
    here = session.state()
    here.answers[key] = {**here.answers.get(key, {}), **answers}


def _read_differently(file: File, i: int) -> None:
    """What may help a file that was refused: another scale, or leaving out rows with missing values."""
    with st.expander("Read it differently", key=f"differently {i}"), st.form(f"form {i}", border=False):
        scale = st.selectbox("The probabilities are", _SCALES, index=None, placeholder="As they look", key=f"scale {i}")
        drop = st.checkbox("Leave out rows with missing values", key=f"drop {i}")
        if st.form_submit_button("Read again"):
            _answer(file.key, ({"scale": scale} if scale else {}) | ({"missing": "drop"} if drop else {}))
            st.rerun()
