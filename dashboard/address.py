"""What the address keeps beside the settings: that files were added, and which of the server's files are open; never a name."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import streamlit as st

from dashboard import session

__all__ = ["keep", "keep_picks", "picks"]

_FIELD, _UPLOADED, _NOTHING = "files", "uploaded", "none"
_SECRET = secrets.token_bytes(16)  # of this process: a word means nothing to another server, and nobody can guess a name from it
_KEPT = "kept picks"


def _word(path: Path) -> str:
    return blake2b(str(path).encode("utf-8", "surrogateescape"), key=_SECRET, digest_size=5).hexdigest()


def _said() -> list[str]:
    return [word for word in st.query_params.get(_FIELD, "").split(",") if word]


def picks(offered: Sequence[Path], first: Sequence[Path]) -> list[Path]:
    """The files that the address names; ``first`` where it names none."""
    said = [word for word in _said() if word != _UPLOADED]
    by_word = {_word(path): path for path in offered}
    if not said:
        return list(first)
    return [by_word[word] for word in said if word in by_word]


def keep_picks(chosen: Sequence[Path], first: Sequence[Path]) -> None:
    """Note the picks for the address; nothing where they are those of every start."""
    st.session_state[_KEPT] = [] if list(chosen) == list(first) else [_word(path) for path in chosen] or [_NOTHING]


def keep(*, uploads: bool) -> set[str]:
    """Write into the address what a reload must know; what an earlier session had and this one lacks: "uploads", "picks"."""
    here = session.state()
    words = list(st.session_state.get(_KEPT, []))
    if not here.arrived:
        said = _said()
        here.arrived = True
        here.lost = {"uploads"} if _UPLOADED in said else set()
        here.lost |= {"picks"} if set(said) - {*words, _UPLOADED, _NOTHING} else set()
    here.lost -= {"uploads"} if uploads else set()
    here.lost -= {"picks"} if set(words) - {_NOTHING} else set()
    if uploads or "uploads" in here.lost:
        words.append(_UPLOADED)
    text = ",".join(words)
    if text != st.query_params.get(_FIELD, ""):
        if text:
            st.query_params[_FIELD] = text
        else:
            del st.query_params[_FIELD]
    return here.lost
