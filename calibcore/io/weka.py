"""Weka's output: cells such as ``2:cat``, and a distribution over the classes whose headers are empty."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.columns import Column, Table
from calibcore.io.evidence import Evidence
from calibcore.io.reshaped import Reshaped, filled_in, numbers, texts
from calibcore.io.vocabulary import plain

__all__ = ["weka"]

_CELL = r"\s*(\d+):(.*)"
_ABSENT = ("", "?")
Cells = dict[str, list[str]]


def weka(e: Evidence) -> Reshaped | None:
    """Names without their index, and one column ``distribution[class]`` for each class."""
    columns = {plain(n): n for n in e.table.columns}
    if not {"inst#", "actual", "predicted"} <= set(columns):
        return None
    actual, predicted = columns["actual"], columns["predicted"]
    classes: dict[int, str] = {}
    made = {n: _named(e.table, n, classes) for n in (actual, predicted)}
    spread = _distribution(e.table, columns["distribution"], classes) if "distribution" in columns else {}
    unnamed = set(_unnamed(e.table))
    gone = {columns["inst#"], columns.get("error"), columns.get("distribution"), *unnamed} if spread else {columns["inst#"]}
    kept = {n: made.get(n, c) for n, c in e.table.columns.items() if n not in gone or n in e.mapping.columns()}
    kept |= {c.name: c for c in spread.values()}
    confidence = None if spread else columns.get("prediction")
    told = "distribution" if e.mapping.probabilities == columns.get("distribution", "") else None
    mapping = replace(e.mapping, probabilities=None) if told else e.mapping
    roles: dict[str, object] = {"label": actual, "predicted": predicted}
    if mapping.probabilities is None and mapping.confidence is None:
        roles |= {"probabilities": {n: c.name for n, c in spread.items()}} if spread else {"confidence": confidence}
    mapping = filled_in(mapping, **roles)
    note = f"Weka's cells such as 1:{classes.get(1, 'a')} were read as the classes {listing([classes[i] for i in sorted(classes)], 8)}."
    return Reshaped(replace(e.table, columns=kept), mapping, (note,))


def _named(table: Table, name: str, classes: dict[int, str]) -> Column:
    """A column of class names; fills in which index has which name."""
    names = table.column(name).names()
    clean: list[str | None] = []
    for text in names.distinct:
        found = re.fullmatch(_CELL, text)
        if found is None and text not in _ABSENT:
            row = int(np.argmax(names.code == len(clean))) + 1
            raise InputError(
                f"Row {row} of column {name!r} is {text[:40]!r}; Weka writes a class as 1:cat, and a number where it predicts "
                "numbers, which have no calibration of classes. Name the columns of another layout in other words than inst#.",
                row=row,
                column=name,
            )
        clean.append(None if found is None or found[2] in _ABSENT else _unquoted(found[2]))
        if found is not None and clean[-1] is not None:
            _same_name(classes, int(found[1]), str(clean[-1]), name)
    return texts(name, clean, names.code)


def _same_name(classes: dict[int, str], index: int, name: str, column: str) -> None:
    if classes.setdefault(index, name) != name:
        raise InputError(
            f"Column {column!r} calls class {index} both {classes[index]!r} and {name!r}. Give each of Weka's runs a file of its own.",
            column=column,
        )


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text


def _unnamed(table: Table) -> list[str]:
    """Columns without a name that follow the distribution's."""
    found, after = [], False
    for name in table.columns:
        if after and (not name or re.fullmatch(r"\(column \d+\)", name)):
            found.append(name)
        elif after:
            break
        after = after or plain(name) == "distribution"
    return found


def _distribution(table: Table, first: str, classes: dict[int, str]) -> dict[str, Column]:
    """Class → column of its probability, without the mark at the predicted one."""
    sources = [first, *_unnamed(table)]
    if max(classes, default=0) > len(sources) or len(sources) < 2:
        raise InputError(
            f"Weka's distribution has {len(sources)} columns, but class {max(classes, default=0)} occurs. Save it again with all classes.",
            column=first,
        )
    named = [classes.get(i, f"class {i}") for i in range(1, len(sources) + 1)]
    return {c: numbers(f"{first}[{c}]", _unmarked(table, s)) for c, s in zip(named, sources, strict=True)}


def _unmarked(table: Table, name: str) -> NDArray[np.floating[Any]]:
    """The numbers of a column whose predicted cells carry a ``*``."""
    import pyarrow.compute as pc

    column = table.column(name)
    if column.kind != "text":
        return column.numeric().values
    array = pc.utf8_ltrim(pc.utf8_trim_whitespace(column.array), characters="*")
    found = Column(name, "text", lambda: array).numeric()
    if found.bad_row is not None:
        raise InputError(
            f"Row {found.bad_row} of Weka's distribution is {found.bad_text[:40]!r}, not a number. Mend it.", row=found.bad_row
        )
    return found.values
