"""The sidebar: add files, see how each was read, answer what a file leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from calibcore.names import told_apart
from calibcore.report import learn
from calibcore.report.sizes import FORMATS, large_sentence, limits_line, many_models_sentence
from calibcore.report.training import QUESTION
from calibcore.report.words import markdown_free
from dashboard import address, columns, folder, session, settings, widgets
from dashboard.page_words import on_page
from dashboard.reading import spoken
from dashboard.session import File

__all__ = ["sidebar"]

_EXPIRED = {
    "uploads": "The session ended and the uploaded files are gone. Add them again; your settings are still in the address.",
    "picks": "Some files of this address are not known any more: the session ended. Pick them again; the settings are in the address.",
}
_SAMPLES = "Sample data: made-up models, 4,000 rows each. Upload your own in the sidebar."
_OUTDATED = "The file has other columns than the one that was answered for, so those answers were dropped."
_SELDOM = 24 * 60 * 60  # seconds


def sidebar() -> None:
    """Draw the sidebar, load what it names, and say above the page what must be known about it."""
    with st.sidebar:
        picked = folder.choose()
        # With the key of the last session, its uploader would go on listing files that are gone.
        key = f"uploads {session.state().number}"
        uploads = st.file_uploader("Add files", accept_multiple_files=True, key=key, max_upload_size=session.megabytes(), help=FORMATS)
        lost = address.keep(uploads=bool(uploads))
        widgets.text(limits_line(session.megabytes()), learn.PRIVACY, small=True)
        folder.watch(picked)  # before reading: what changes meanwhile is noticed
        files = session.load(uploads, picked)
        _loaded(files, uploads)
        if session.models():
            settings.choose(session.models())
        _rejoin()
    for what in sorted(lost):  # beside the numbers that stand there instead; the sidebar may be scrolled, or closed
        st.warning(_EXPIRED[what])
    if session.state().samples:
        widgets.text(_SAMPLES, small=True)  # above every page
    columns.show(files, uploads)


@st.fragment(run_every=_SELDOM)
def _rejoin() -> None:
    """Nothing, but seldom: a browser whose connection was lost runs the page again only where some part of it runs by itself.

    Else a slider that was moved while the connection broke would stand over the numbers of its old place.
    """


def _loaded(files: Sequence[File], uploads: Sequence[Any]) -> None:
    """How each file was read, and what passes a limit."""
    times = Counter[str]()
    names = told_apart([f.name for f in files]) if len(files) > 1 else [""]
    for i, (file, name) in enumerate(zip(files, names, strict=True)):
        _file_line(file, i, name, single=columns.content_of(file, uploads) is not None)
        _training(file, name, times[file.content])
        times[file.content] += 1
    said = [large_sentence(upload.name, upload.size) for upload in uploads]
    for sentence in filter(None, (*said, None if session.state().samples else many_models_sentence(len(session.models())))):
        st.caption(markdown_free(sentence))


def _file_line(file: File, i: int, name: str, *, single: bool) -> None:
    """How a file was read, and the button that opens its columns; nothing for a sample.

    Controls of one among several files say its ``name``: by ear, and in a list of controls, they stand without their file.
    """
    if session.state().samples and file.predictions:
        return
    with st.container(gap="xsmall"):
        act, of = _how_read(file)
        if file.key in session.state().outdated:
            st.warning(_OUTDATED)
        if act and single:
            kind: Literal["tertiary", "secondary"] = "tertiary" if file.predictions else "secondary"
            label = markdown_free(f"{act}{of}{name}") if name else act
            st.button(label, key=f"change {i}", on_click=columns.open_for, args=(file.key,), type=kind)


def _how_read(file: File) -> tuple[str, str]:
    """What came of a file, in words; what the button beside it does, "" for none, and what joins that to the file's name."""
    if file.error:
        st.error(markdown_free(on_page(file.error)))
        return ("Choose columns", " of ") if file.readable else ("", "")
    if columns.is_left_out(file):
        st.caption(markdown_free(f"{file.name} is left out."))
        return "Answer", " for "
    if file.questions:
        st.warning(markdown_free(f"{file.name} leaves something open."))
        return "Answer", " for "
    st.markdown(f"**{markdown_free(file.name)}**")
    st.caption(markdown_free(file.read_as))
    return ("Change", " ") if any(p.has_rows for p in file.predictions) else ("", "")  # a profile has no columns


def _training(file: File, name: str, time: int) -> None:
    """The one question that no file answers; one answer for the same file added twice."""
    if session.state().samples or not file.predictions:
        return
    question = f"{spoken(name)}: {QUESTION[0].lower()}{QUESTION[1:]}" if name else QUESTION
    widgets.ask_training(file.content, f"training {file.content} {time}", question)
