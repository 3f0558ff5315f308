"""Small tables that stand beside predictions in a workbook or an archive: settings, summaries; told by content, named in a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibcore.checks import listing, name_key
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.columns import Column, Table
from calibcore.io.layouts import read_layout
from calibcore.io.mapping import Mapping

__all__ = ["without_asides"]

_ROWS = 30  # of a table of settings or a summary
_CLASSES = 100
_OPEN = {"label", "probabilities"}  # questions that leave open whether a table holds predictions with labels


def without_asides(tables: list[Table], where: str) -> list[Table]:
    """The tables but for small ones that speak of a complete one and not of its rows; which these are, every note says.

    Parameters
    ----------
    tables : list of Table
        Of one workbook or archive.
    where : str
        What holds them, for the note.
    """
    small = [t for t in tables if not t.models and t.n_rows <= _ROWS and _is_short(t)]
    if not small or len(small) == len(tables):
        return tables
    complete = [c for t in tables if t not in small and not t.models and (c := _complete(t))]
    found = [t for t in small if any(_is_aside(t, c) for c in complete) and not _shares(t, tables) and not _is_read(t)]
    if not found:
        return tables
    note = f"Passed over in the {where}, since small tables beside a complete one: {listing([t.name for t in found], 6)}."
    return [replace(t, notes=(*t.notes, note)) for t in tables if t not in found]


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """A table with predictions and labels, and what its labels are."""

    table: Table
    classes: frozenset[object]


def _complete(table: Table) -> _Whole | None:
    """The table, if it can be read by itself, or asks about anything but where its labels and probabilities are."""
    label = None
    try:
        label = read_layout(table, Mapping())[1].label
    except AmbiguousLayout as ambiguous:
        if _OPEN & {q.id for q in ambiguous.questions}:
            return None
    except InputError:
        return None
    names = (table.columns[label].few_names(_CLASSES) or ()) if label in table.columns else ()
    return _Whole(table, frozenset(map(name_key, names)))


def _is_read(table: Table) -> bool:
    """Whether a table is read by itself without a question."""
    try:
        read_layout(table, Mapping())
    except InputError:
        return False
    return True


def _is_short(table: Table) -> bool:
    """Whether a table is of one row, or begins with a column that names each of its rows."""
    keys = _keys(table)
    return table.n_rows == 1 or (len(keys) == table.n_rows and len(table.columns) > 1)


def _is_aside(table: Table, whole: _Whole) -> bool:
    """Whether a table holds a word and a value a row, a single row, or a row for each class of a complete one."""
    if 2 * table.n_rows > whole.table.n_rows:
        return False
    keys = _keys(table)
    words = [k for k in keys if isinstance(k, str)]
    by_word = len(table.columns) == 2 and len(words) == len(keys)
    by_class = len(whole.classes) > 1 and len(whole.classes & keys) == len(whole.classes) >= table.n_rows - 1
    return table.n_rows == 1 or by_word or by_class


def _shares(table: Table, tables: Sequence[Table]) -> bool:
    """Whether half of the rows of a table are named in a column of another one that names each of its own, as those of predictions."""
    keys = {k for k in _keys(table) if isinstance(k, str)}
    others = (c for t in tables if t is not table for c in t.columns.values())
    return any(2 * len(keys & _names(c)) >= len(keys) > 0 for c in others if c.kind == "text" and c.n_different() == len(c.array))


def _keys(table: Table) -> frozenset[object]:
    return _names(next(iter(table.columns.values())))


def _names(column: Column) -> frozenset[object]:
    return frozenset() if column.kind in ("nested", "other", "time") else frozenset(map(name_key, column.names().present()))
