"""Names from files as a sheet of paper has room for them."""

from __future__ import annotations

from calibcore.analysis import Analysis
from calibcore.report.tables import plain
from calibcore.report.words import event_of

__all__ = ["NAME_LENGTH", "event_name", "short", "short_name"]

NAME_LENGTH = 36  # characters of a name that one page has room for


def short(text: str, most: int) -> str:
    """A name with its middle left out where it is too long: names often differ at their ends.

    Examples
    --------
    >>> short("abcdefghij", 5)
    'ab…ij'
    """
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}"


def short_name(name: str, most: int = NAME_LENGTH) -> str:
    """A name from a file, on one line and no longer than there is room for."""
    return short(plain(name), most)


def event_name(a: Analysis) -> str:
    """The class whose probability the view judges, as it is printed."""
    return short(event_of(a) or "positive", NAME_LENGTH)
