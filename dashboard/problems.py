"""What a user sees when something fails: the sentence of an input error, or an id of an internal one."""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from calibcore.errors import InputError
from calibcore.report.words import markdown_free
from dashboard.page_words import on_page

__all__ = ["guarded", "report", "say", "unread"]

_LOG = logging.getLogger("calibcore.dashboard")


def say(error: InputError) -> None:
    """Show the error's own sentences, as text."""
    st.error(markdown_free(on_page(str(error))))


@contextmanager
def guarded(what: str = "This chart") -> Iterator[None]:
    """Keep a failure inside: the rest of the page is drawn, and the log holds the place under the shown id."""
    try:
        yield
    except InputError as error:
        say(error)
    except Exception as error:  # noqa: BLE001 - one failing part must not take the page down
        st.error(f"{what} could not be computed (id {_logged(error)}). The other results are not affected.")


def unread(name: str, error: Exception) -> str:
    """What is said of a file where reading it failed in a way that nobody foresaw."""
    return f"{name} could not be read (id {_logged(error)}). The other files are not affected; save it in another format and add it again."


def report(error: Exception) -> bool:
    """Last resort for the whole script: the id instead of a traceback."""
    st.error(f"This page could not be computed (id {_logged(error)}). Reset the settings, or add the file again.")
    return True


def _logged(error: Exception) -> str:
    """Log type and place, never the message: it may hold names or values of a user's file."""
    number = secrets.token_hex(3)
    places = " < ".join(f"{f.filename}:{f.lineno}" for f in reversed(traceback.extract_tb(error.__traceback__)[-4:]))
    _LOG.error("%s: %s at %s", number, type(error).__name__, places)
    return number
