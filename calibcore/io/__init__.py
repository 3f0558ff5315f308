"""Files to predictions: what a file is (containers), how it is laid out (layouts), what it says (apply)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibcore.checks import listing
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.apply import predictions_of
from calibcore.io.containers import frame_tables, named, open_tables, path_tables
from calibcore.io.inspection import Layout, layout_of
from calibcore.io.layouts import read_layout
from calibcore.io.mapping import Mapping
from calibcore.predictions import Predictions

if TYPE_CHECKING:
    from calibcore.io.columns import Table

__all__ = ["Layout", "Mapping", "inspect", "inspect_bytes", "read", "read_bytes"]

_NOT_JOINED = "Files of predictions and labels that belong together are not joined yet."


def read(source: Any, *, labels: Any = None, mapping: Mapping | None = None, name: str | None = None) -> list[Predictions]:
    r"""Predictions of every model in a file.

    Parameters
    ----------
    source : path, bytes, data frame, or list of paths
        CSV, TSV, Parquet or JSON Lines, told apart by content; packed with gzip or not, or in a zip archive, each of whose
        tables is read.  A data frame may be one of pandas
        or anything that speaks the Arrow C stream.  Each path of a list is read alone.
    labels : optional
        A separate source of labels; not read yet.
    mapping : Mapping, optional
        What the columns mean, as far as it should not be detected.
    name : str, optional
        A name for the model, instead of the file's stem.

    Returns
    -------
    list of Predictions
        One for each model.

    Raises
    ------
    AmbiguousLayout
        If the file leaves something open that must not be guessed; its questions name the `Mapping` fields.
    InputError
        If the file cannot be read: one or two sentences with file, column and row.

    Examples
    --------
    >>> data = b"label,probability\n1,0.8\n0,0.3\n1,0.6\n"
    >>> [p.task for p in read(data)]
    ['binary']
    """
    if labels is not None:
        raise InputError("A separate file of labels is not read yet. Add the labels as a column beside the predictions.")
    mapping = mapping or Mapping()
    if isinstance(source, (list, tuple)):
        return _several(source, mapping)
    return _renamed(_read_all(_tables(source, name), mapping), name)


def read_bytes(data: bytes, name: str, mapping: Mapping | None = None) -> list[Predictions]:
    """Predictions in a file's bytes, as an upload brings them; ``name`` is the file's name."""
    return _renamed(_read_all(open_tables(data, name), mapping or Mapping()), None)


def inspect(source: Any, *, mapping: Mapping | None = None) -> Layout:
    r"""How a file would be read, from its first rows.

    Parameters
    ----------
    source : path, bytes or data frame
    mapping : Mapping, optional

    Returns
    -------
    Layout
        Open questions and problems are part of it.

    Raises
    ------
    InputError
        If the file holds no table.

    Examples
    --------
    >>> layout = inspect(b"label,p\n1,0.9\n0,0.2\n")
    >>> layout.roles["label"], layout.questions
    ('label', ())
    """
    return _layout_of_all(_tables(source, None, first_rows=True), mapping or Mapping())


def inspect_bytes(data: bytes, name: str, mapping: Mapping | None = None) -> Layout:
    """How a file's bytes would be read; ``name`` is the file's name."""
    return _layout_of_all(open_tables(data, name, first_rows=True), mapping or Mapping())


def _tables(source: Any, name: str | None, *, first_rows: bool = False) -> list[Table]:
    if isinstance(source, (str, os.PathLike)):
        return path_tables(Path(source), first_rows=first_rows)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return open_tables(bytes(source), name or "data", first_rows=first_rows)
    if hasattr(source, "iloc") or hasattr(source, "__arrow_c_stream__"):
        return frame_tables(source, name or "data frame")
    raise InputError(f"A {type(source).__name__} cannot be read. Give a path, bytes, a data frame, or a list of paths.")


def _read(table: Table, mapping: Mapping) -> list[Predictions]:
    """The table's models; faults and questions carry the file's name."""
    mapping = mapping.settled(tuple(table.columns))
    try:
        whole, reading = read_layout(table, mapping)
        return predictions_of(whole, reading, mapping)
    except AmbiguousLayout as ambiguous:
        raise AmbiguousLayout(ambiguous.questions, source=table.name) from None
    except InputError as error:
        raise named(error, table.name) from None


def _read_all(tables: list[Table], mapping: Mapping) -> list[Predictions]:
    """The models of all tables of a file; in an archive, tables without any predictions are passed over with a note."""
    if len(tables) == 1:
        return _read(tables[0], mapping)
    found: list[list[Predictions]] = []
    others: list[tuple[Table, InputError]] = []
    for table in tables:
        try:
            found.append(_read(table, mapping))
        except InputError as error:
            if isinstance(error, AmbiguousLayout) or not _other_half(error):
                raise
            others.append((table, error))
    halves = [error for _, error in others if "no column of labels" in str(error)]
    if halves or not found:
        first = (halves or [error for _, error in others])[0]
        raise InputError(f"{first} {_NOT_JOINED}", available=first.available)
    note = (f"Passed over in the archive, since without predictions: {listing([t.name for t, _ in others], 6)}.",) if others else ()
    return [replace(p, notes=(*p.notes, *note)) for models in found for p in models]


def _other_half(error: InputError) -> bool:
    """Whether a table lacks its labels or its probabilities, so that it could belong to another one."""
    return "no column of labels" in str(error) or "looks like a" in str(error)


def _layout_of_all(tables: list[Table], mapping: Mapping) -> Layout:
    """The layout of a file; of an archive's tables, the first that asks or fails, else the first that is read."""
    layouts = [layout_of(t, mapping) for t in tables]
    if len(layouts) == 1:
        return layouts[0]
    read_ones = [x for x in layouts if x.layout]
    empty = [x for x in layouts if x.problem and "looks like a" in x.problem]
    open_ones = [x for x in layouts if not x.layout and not (read_ones and x in empty)]
    first = (open_ones or read_ones)[0]
    return replace(first, models=sum(x.models for x in read_ones)) if not open_ones else first


def _several(sources: Sequence[Any], mapping: Mapping) -> list[Predictions]:
    """Files that are each complete; one that lacks labels or probabilities would belong to another."""
    if not sources:
        raise InputError("No file was given.")
    found: list[Predictions] = []
    for source in sources:
        try:
            found += _read_all(_tables(source, None), mapping)
        except AmbiguousLayout:
            raise
        except InputError as error:
            if len(sources) > 1 and _other_half(error):
                raise InputError(f"{error} {_NOT_JOINED}") from None
            raise
    return _renamed(found, None)


def _renamed(found: list[Predictions], name: str | None) -> list[Predictions]:
    """With the given name, and with " (2)" behind a name that repeats."""
    if name is not None:
        found = [replace(p, name=name if len(found) == 1 else f"{name}: {p.name}") for p in found]
    counts: dict[str, int] = {}
    taken = {p.name for p in found}
    result = []
    for p in found:
        counts[p.name] = counts.get(p.name, 0) + 1
        new = p.name
        while counts[p.name] > 1 and new in taken:
            new = f"{p.name} ({counts[p.name]})"
            if new in taken:
                counts[p.name] += 1
        taken.add(new)
        result.append(p if new == p.name else replace(p, name=new))
    return result
