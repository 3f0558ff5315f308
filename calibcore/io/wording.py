"""Sentences about a table's columns: long names are cut, and columns without names are called by their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.columns import Table

__all__ = ["cut", "worded", "worded_errors"]

_LONG, _START, _END = 60, 36, 23


def cut(name: str) -> str:
    """A column's name for a sentence: of long ones the beginning and the end, where alike names differ.

    Examples
    --------
    >>> cut("probability")
    'probability'
    >>> cut("How likely is it, in your opinion, that it rains tomorrow? (answer of expert 2)")
    'How likely is it, in your opinion, t…w? (answer of expert 2)'
    """
    return name if len(name) <= _LONG else f"{name[:_START]}…{name[-_END:]}"


def worded(text: str, table: Table) -> str:
    """A sentence about the columns of a table as people read it."""
    for name in table.columns:
        if len(name) > _LONG and name in text:
            text = text.replace(name, cut(name))
    if table.headless:
        text = re.sub(r"\b(?:the )?([Cc])olumns? '?column (\d+)'?", r"\1olumn \2", text)
        text = re.sub(r"'column (\d+)'", r"column \1", text)
    return text


@contextmanager
def worded_errors(table: Table) -> Iterator[None]:
    """Errors and questions about a table, worded."""
    try:
        yield
    except AmbiguousLayout as ambiguous:
        questions = [replace(q, text=worded(q.text, table)) for q in ambiguous.questions]
        raise AmbiguousLayout(questions, source=ambiguous.source) from None
    except InputError as error:
        text = worded(str(error), table)
        raise InputError(text, rule=error.rule, value=error.value, row=error.row, column=error.column, available=error.available) from None
