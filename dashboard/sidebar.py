"""The sidebar: add files, see how each was read, answer what a file leaves open."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from calibcore.report.words import markdown_free
from dashboard import columns, session, settings
from dashboard.session import File

__all__ = ["sidebar"]

_LIMITS = (
    "CSV, TSV or other text, Excel or ODS, Parquet, Arrow or Feather, JSON, JSON Lines, npy or npz; also as gz or zip. "
    "Up to 200 MB read comfortably; larger files are better as Parquet."
)
_PRIVACY = (
    "Files are held in this server's memory for your session and dropped when it ends; while a large file uploads, the server may use an "
    "unnamed temporary file. Nothing is logged or kept, and no usage statistics are sent."
)
_COMFORTABLE = 200 * 2**20


def sidebar() -> None:
    """Draw the sidebar and load what it names."""
    with st.sidebar:
        uploads = st.file_uploader("Add files", accept_multiple_files=True, key="uploads")
        st.caption(_LIMITS)
        st.caption(_PRIVACY)
        files = session.load(uploads)
        for i, file in enumerate(files):
            _file_line(file, i, single=columns.content_of(file, uploads) is not None)
        for upload in uploads:
            if upload.size > _COMFORTABLE:
                st.caption(markdown_free(f"{upload.name} is large; Parquet with only the label and probability columns would be quicker."))
        if session.models():
            settings.choose(session.models())
    columns.show(files, uploads)


def _file_line(file: File, i: int, *, single: bool) -> None:
    """How a file was read, and the button that opens its columns; nothing for a sample."""
    if session.state().samples and file.predictions:
        return
    with st.container(gap="xsmall"):
        name = _how_read(file)
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
    return "Change the answers" if file.key in session.state().answers else "Change"
