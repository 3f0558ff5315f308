"""The sidebar: add files, see how each was read, answer what a file leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from calibcore.report import learn
from calibcore.report.sizes import FORMATS, large_sentence, limits_line, many_models_sentence
from calibcore.report.training import QUESTION
from calibcore.report.words import markdown_free
from dashboard import address, columns, folder, session, settings, widgets
from dashboard.session import File

__all__ = ["sidebar"]

_EXPIRED = {
    "uploads": "The uploaded files are not here: they end with their session. Add them again; the settings are in the address.",
    "picks": "Some files of this address are not known any more: the session ended. Pick them again; the settings are in the address.",
}
_SAMPLES = "Sample data: made-up models, 4,000 rows each. Upload your own in the sidebar."
_OUTDATED = "The file has other columns than the one that was answered for, so those answers were dropped."


def sidebar() -> None:
    """Draw the sidebar and load what it names."""
    with st.sidebar:
        picked = folder.choose()
        uploads = st.file_uploader(
            "Add files", accept_multiple_files=True, key="uploads", max_upload_size=session.megabytes(), help=FORMATS
        )
        for what in sorted(address.keep(uploads=bool(uploads))):
            st.warning(_EXPIRED[what])
        st.caption(limits_line(session.megabytes()))
        st.caption(learn.PRIVACY)
        folder.watch(picked)  # before reading: what changes meanwhile is noticed
        files = session.load(uploads, picked)
        _loaded(files, uploads)
        if session.models():
            settings.choose(session.models())
    if session.state().samples:
        widgets.text(_SAMPLES, small=True)  # above every page
    columns.show(files, uploads)


def _loaded(files: Sequence[File], uploads: Sequence[Any]) -> None:
    """How each file was read, and what passes a limit."""
    times = Counter[str]()
    for i, file in enumerate(files):
        _file_line(file, i, single=columns.content_of(file, uploads) is not None)
        _training(file, times[file.content])
        times[file.content] += 1
    said = [large_sentence(upload.name, upload.size) for upload in uploads]
    for sentence in filter(None, (*said, None if session.state().samples else many_models_sentence(len(session.models())))):
        st.caption(markdown_free(sentence))


def _file_line(file: File, i: int, *, single: bool) -> None:
    """How a file was read, and the button that opens its columns; nothing for a sample."""
    if session.state().samples and file.predictions:
        return
    with st.container(gap="xsmall"):
        name = _how_read(file)
        if file.key in session.state().outdated:
            st.warning(_OUTDATED)
        if name and single:
            kind: Literal["tertiary", "secondary"] = "tertiary" if file.predictions else "secondary"
            st.button(name, key=f"change {i}", on_click=columns.open_for, args=(file.key,), type=kind)


def _how_read(file: File) -> str:
    """What came of a file, in words; the name of the button that changes it, "" for none."""
    if file.error:
        st.error(markdown_free(file.error))
        return "Choose columns" if file.readable else ""
    if file.questions:
        st.warning(markdown_free(f"{file.name} leaves something open."))
        return "Answer"
    st.markdown(f"**{markdown_free(file.name)}**")
    st.caption(markdown_free(file.read_as))
    return "Change"


def _training(file: File, time: int) -> None:
    """The one question that no file answers; one answer for the same file added twice."""
    if session.state().samples or not file.predictions:
        return
    widgets.ask_training(file.content, f"training {file.content} {time}", QUESTION)
