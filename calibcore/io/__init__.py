"""Files to predictions: what a file is (containers), how it is laid out (layouts), what it says (apply)."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibcore.checks import listing
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.apply import predictions_of
from calibcore.io.containers import frame_tables, named, no_frame, open_tables, path_tables
from calibcore.io.evidence import NO_PREDICTIONS
from calibcore.io.halves import Half, partners
from calibcore.io.inspection import Layout, layout_of
from calibcore.io.joins import Part, together
from calibcore.io.layouts import read_layout
from calibcore.io.mapping import Mapping
from calibcore.io.profile_file import write_profiles
from calibcore.io.profile_tables import models_in
from calibcore.io.reducing import reduce, reduce_models
from calibcore.io.wording import worded_errors
from calibcore.names import told_apart
from calibcore.predictions import Predictions
from calibcore.progress import Digest, Heard, within

if TYPE_CHECKING:
    from calibcore.io.columns import Table

__all__ = [
    "Layout",
    "Mapping",
    "belonging",
    "inspect",
    "inspect_bytes",
    "read",
    "read_bytes",
    "reduce",
    "reduce_models",
    "write_profiles",
]


def read(
    source: Any, *, labels: Any = None, mapping: Mapping | None = None, name: str | None = None, progress: Heard | None = None
) -> list[Predictions]:
    r"""Predictions of every model in a file.

    Parameters
    ----------
    source : path, bytes, data frame, or list of paths
        CSV, TSV and other delimited text, Parquet, Arrow, JSON and JSON Lines, NumPy arrays, workbooks; told apart by content,
        packed with gzip or not, or in a zip archive, each of whose tables is read.  A data frame may be one of pandas
        or anything that speaks the Arrow C stream.  A profile file (see `Profile.write`) gives models without
        rows.  Of a list, files of predictions without labels are joined to the file that
        holds their labels; which is which is told by content, and complete files are read alone.
    labels : path, bytes or data frame, optional
        The file that holds the labels: joined by a column that identifies the rows of both, or as ``mapping.pair`` says.
    mapping : Mapping, optional
        What the columns mean, as far as it should not be detected.
    name : str, optional
        A name for the model, instead of the file's stem.
    progress : callable, optional
        Called with the share of the work that is done, 0 to 1, as the bytes of big files pass.

    Returns
    -------
    list of Predictions
        One for each model.

    Raises
    ------
    AmbiguousLayout
        If the file leaves something open that must not be guessed; its questions name the `Mapping` fields.
    InputError
        If the file cannot be read: one or two sentences with file, column and row; without pyarrow, what to install.

    Examples
    --------
    >>> data = b"label,probability\n1,0.8\n0,0.3\n1,0.6\n"
    >>> [p.task for p in read(data)]
    ['binary']
    """
    _need_arrow()
    sources = _sources(source, name, heard=progress)
    return _renamed(_read_all(sources, mapping or Mapping(), _labels_table(labels)), name)


def read_bytes(
    data: bytes | Sequence[tuple[str, bytes]], name: str, mapping: Mapping | None = None, progress: Heard | None = None
) -> list[Predictions]:
    """Predictions in a file's bytes, as an upload brings them, or in files given by name and bytes; ``name`` is the file's name."""
    _need_arrow()
    return _renamed(_read_all(_open(data, name, heard=progress), mapping or Mapping()), None)


def inspect(source: Any, *, labels: Any = None, mapping: Mapping | None = None) -> Layout:
    r"""How a file would be read, from its first rows; files that are joined are read whole.

    Parameters
    ----------
    source : path, bytes, data frame, or list of paths
    labels : optional
        The file that holds the labels.
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
    _need_arrow()
    answers = _labels_table(labels)
    tables = [t for one in _sources(source, None, first_rows=answers is None) for t in one]
    if len(tables) > 1 and not all(t.complete for t in tables):  # rows are joined whole
        tables = _tables(source, None)
    return _layout_of_all(tables, mapping or Mapping(), answers)


def inspect_bytes(data: bytes | Sequence[tuple[str, bytes]], name: str, mapping: Mapping | None = None) -> Layout:
    """How a file's bytes, or files given by name and bytes, would be read; ``name`` is the file's name."""
    _need_arrow()
    tables = [t for one in _open(data, name, first_rows=isinstance(data, bytes)) for t in one]
    if len(tables) > 1 and not all(t.complete for t in tables):  # rows are joined whole
        tables = [t for one in _open(data, name) for t in one]
    return _layout_of_all(tables, mapping or Mapping())


def belonging(files: Sequence[tuple[str, bytes]], mapping: Mapping | None = None) -> list[tuple[int, ...]]:
    """Which of several files, given by name and bytes, are read together: groups of their positions, predictions before labels.

    A file without a table stands alone, as does an archive with the labels of its own tables, and so do all where it cannot be
    told whose labels are whose.
    """
    mapping = mapping or Mapping()
    halves: list[tuple[int, Half]] = []
    for i, (name, data) in enumerate(files):
        try:
            mine = [Half.of(t, mapping) for t in open_tables(data, name) if not t.models]
            if len(mine) == 1 or not partners(mine, mapping):
                halves += [(i, half) for half in mine]
        except InputError:  # which is told when it is read
            continue
    joined: dict[int, list[int]] = {}
    try:
        for one, other in partners([half for _, half in halves], mapping).items():
            labels = joined.setdefault(halves[one][0], [])
            labels += [i for i in (halves[other][0],) if i not in labels]
    except InputError:
        joined = {}
    alone = set(range(len(files))) - {other for others in joined.values() for other in others}
    return [(i, *joined.get(i, ())) for i in sorted(alone)]


def _need_arrow() -> None:
    """InputError where the package that holds a file's columns is not installed, as after a plain installation."""
    if importlib.util.find_spec("pyarrow") is None:
        raise InputError('Reading files needs pyarrow, which is not installed: python -m pip install "calibcore[dashboard]"')


def _open(
    data: bytes | Sequence[tuple[str, bytes]], name: str, *, first_rows: bool = False, heard: Heard | None = None
) -> list[list[Table]]:
    """The tables of one file or of several."""
    files = [(name, data)] if isinstance(data, bytes) else data
    parts = _parts(heard, len(files))
    return [open_tables(content, each, first_rows=first_rows, heard=h) for (each, content), h in zip(files, parts, strict=True)]


def _parts(heard: Heard | None, n: int) -> list[Heard | None]:
    """A listener for each of several files."""
    return [within(heard, i / n, (i + 1) / n) for i in range(n)]


def _sources(source: Any, name: str | None, *, first_rows: bool = False, heard: Heard | None = None) -> list[list[Table]]:
    """The tables of each source."""
    if not isinstance(source, (list, tuple)):
        return [_tables(source, name, first_rows=first_rows, heard=heard)]
    if not source:
        raise InputError("No file was given.")
    return [_tables(one, None, heard=h) for one, h in zip(source, _parts(heard, len(source)), strict=True)]


def _tables(source: Any, name: str | None, *, first_rows: bool = False, heard: Heard | None = None) -> list[Table]:
    if isinstance(source, (str, os.PathLike)):
        return path_tables(Path(source), first_rows=first_rows, heard=heard)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return open_tables(bytes(source), name or "data", first_rows=first_rows, heard=heard)
    in_memory = hasattr(source, "iloc") and not type(source).__module__.startswith("dask.")
    if in_memory or hasattr(source, "__arrow_c_stream__"):
        return frame_tables(source, name or "data frame")
    raise no_frame(source, "read", "a path, bytes, a data frame, or a list of paths")


def _read(part: Part) -> list[Predictions]:
    """A part's models; faults and questions carry the file's name."""
    if part.table.models:
        return [p.but(source=_hashed(dict(p.source))) for p in models_in(part.table, part.mapping)]
    table, mapping = part.table, part.mapping.settled(tuple(part.table.columns))
    if part.questions:
        raise AmbiguousLayout(part.questions, source=part.name)
    try:
        whole, reading = read_layout(table, mapping)
        with worded_errors(table):
            found = predictions_of(whole, reading, mapping)
    except AmbiguousLayout as ambiguous:
        raise AmbiguousLayout(ambiguous.questions, source=part.name) from None
    except InputError as error:
        raise named(error, table.name) from None
    return [p.but(source=_hashed({**p.source, **part.source})) for p in found]


def _hashed(source: dict[str, Any]) -> dict[str, Any]:
    """Where predictions come from, with the SHA-256 of files that were still being worked out."""
    return {k: v.text() if isinstance(v, Digest) else v for k, v in source.items()}


def _read_all(sources: list[list[Table]], mapping: Mapping, labels: Table | None = None) -> list[Predictions]:
    """The models of all tables; of an archive's tables, those without predictions are passed over with a note."""
    tables = [table for source in sources for table in source]
    packed = {id(table) for source in sources for table in source if len(source) > 1}
    found: list[list[Predictions]] = []
    others: list[tuple[Table, InputError]] = []
    for part in together(tables, mapping, labels):
        try:
            found.append(_read(part))
        except InputError as error:
            if id(part.table) not in packed or error.rule != NO_PREDICTIONS:
                raise _beside(error, part.table) from None
            others.append((part.table, error))
    if not found:
        first = others[0][1]
        raise _beside(first, others[0][0])
    note = (f"Passed over in the archive, since without predictions: {listing([t.name for t, _ in others], 6)}.",) if others else ()
    return [p.but(notes=(*p.notes, *note)) if note else p for models in found for p in models]


def _beside(error: InputError, table: Table) -> InputError:
    """An error with what was passed over beside a table, which may be what it lacks."""
    note = next((n for n in table.notes if n.startswith("Passed over in the archive")), "")
    if not note or isinstance(error, AmbiguousLayout):
        return error
    about = {"rule": error.rule, "value": error.value, "row": error.row, "column": error.column, "available": error.available}
    return InputError(f"{error} {note}", **about)


def _no_predictions(part: Part) -> bool:
    """Whether a table is no table of predictions."""
    if part.table.models:
        return False
    try:
        read_layout(part.table, part.mapping.settled(tuple(part.table.columns)))
    except InputError as error:
        return error.rule == NO_PREDICTIONS
    return False


def _layout_of_all(tables: list[Table], mapping: Mapping, labels: Table | None = None) -> Layout:
    """The layout of a file; of several tables, the first that asks or fails, else the first that is read."""
    try:
        parts = together(tables, mapping, labels)
    except InputError as error:
        about = layout_of(tables[0], mapping)
        return replace(about, layout=None, sentence="", roles={}, questions=(), models=0, problem=str(error))
    layouts = [replace(layout_of(p.table, p.mapping, p.questions), file=p.name) for p in parts]
    if len(layouts) == 1:
        return layouts[0]
    read_ones = [x for x in layouts if x.layout]
    empty = [x for x, part in zip(layouts, parts, strict=True) if x.problem and _no_predictions(part)]
    open_ones = [x for x in layouts if not x.layout and not (read_ones and x in empty)]
    first = (open_ones or read_ones)[0]
    return replace(first, models=sum(x.models for x in read_ones)) if not open_ones else first


def _labels_table(source: Any) -> Table | None:
    """The table of a separate source of labels."""
    if source is None:
        return None
    tables = _tables(source, None)
    if len(tables) > 1:
        raise InputError(
            f"The source of labels holds {len(tables)} tables ({listing([t.name for t in tables], 4)}). Give the one with labels."
        )
    if tables[0].models:
        raise InputError(f"{tables[0].name} is a profile, which holds no labels row by row. Give the file with labels.")
    return tables[0]


def _renamed(found: list[Predictions], name: str | None) -> list[Predictions]:
    """With the given name, and with names that differ."""
    names = [p.name if name is None else name if len(found) == 1 else f"{name}: {p.name}" for p in found]
    return [p if new == p.name else p.but(name=new) for p, new in zip(found, told_apart(names), strict=True)]
