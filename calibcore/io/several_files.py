"""Several files as one source: their columns must be the same, however each file writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.arrow_files import unique_names
from calibcore.io.columns import Column, Table

__all__ = ["alike", "same_columns"]

_APART = "Reduce files with the same columns together, and others apart."


def same_columns(paths: Sequence[Path], schemas: Sequence[Any]) -> None:
    """InputError for the first file whose columns or types are not those of the first."""
    first = {f.name: f.type for f in schemas[0]}
    for path, schema in zip(paths, schemas, strict=True):
        unique_names(schema.names, path.name)
        types = {f.name: f.type for f in schema}
        if set(types) != set(first):
            lacks, more = [c for c in first if c not in types], [c for c in types if c not in first]
            said = [f"lacks {listing(lacks, 4)}" if lacks else "", f"has also {listing(more, 4)}" if more else ""]
            raise InputError(f"{path.name} has other columns than {paths[0].name}: it {' and '.join(s for s in said if s)}. {_APART}")
        changed = next((c for c in first if types[c] != first[c]), None)
        if changed is not None:
            raise InputError(
                f"Column {changed!r} holds {types[changed]} in {path.name} and {first[changed]} in {paths[0].name}. "
                "Save both in one type, or reduce the files apart.",
                column=changed,
            )


def alike(paths: Sequence[Path], tables: Sequence[Table]) -> list[Any]:
    """Files of any kind, read whole, as Arrow tables of the same columns in the same order.

    Numbers that one file holds as text, and another as numbers or with another decimal mark, become numbers.
    """
    import pyarrow as pa

    bare = [p.name for p, t in zip(paths, tables, strict=True) if t.headless]
    if bare and len(bare) < len(tables):
        named = next(p.name for p, t in zip(paths, tables, strict=True) if not t.headless)
        raise InputError(f"{bare[0]} does not begin with the names of its columns, as {named} does. Write them above its rows.")
    shared = [n for n in tables[0].columns if all(n in t.columns for t in tables)]
    cells = {n: _cells(paths, [t.columns[n] for t in tables]) for n in shared}
    whole = [pa.table({n: cells[n][i] if n in cells else c.array for n, c in t.columns.items()}) for i, t in enumerate(tables)]
    same_columns(paths, [t.schema for t in whole])
    return [t.select(whole[0].column_names) for t in whole]


def _cells(paths: Sequence[Path], columns: Sequence[Column]) -> list[Any]:
    """The cells of a column in each file, as numbers where the files write them in several ways."""
    import pyarrow as pa

    ways = [_way(c) for c in columns]
    if all(c.kind == "text" for c in columns) and ("words" in ways or len(set(ways)) == 1):
        return [c.array.cast(pa.large_string()) for c in columns]
    if "words" in ways or len(set(ways)) == 1:
        return [c.array for c in columns]
    if "percent" in ways:
        signed, other = (next(p.name for p, w in zip(paths, ways, strict=True) if (w == "percent") is is_so) for is_so in (True, False))
        raise InputError(f"Column {columns[0].name!r} is written with % in {signed} and without in {other}. Write both in one way.")
    stored = [c.array.type for c, w in zip(columns, ways, strict=True) if w == "number"]
    return [c.array if w == "number" else _numbers(c, stored) for c, w in zip(columns, ways, strict=True)]


def _way(column: Column) -> str:
    """How a column's cells are written: as numbers, or texts of numbers of some kind, or of anything else."""
    if column.kind != "text":
        return column.kind if column.kind == "number" else "words"
    found = column.numeric() if column.is_numeric else None
    if found is None or found.n_bad:
        return "words"
    return "percent" if found.percent else "comma" if found.comma else "plain"


def _numbers(column: Column, stored: Sequence[Any]) -> Any:
    """Texts as numbers, whole ones where other files store whole numbers."""
    import pyarrow as pa

    cells = pa.array(column.numeric().values, from_pandas=True)
    try:
        return cells.cast(stored[0]) if stored and pa.types.is_integer(stored[0]) else cells
    except pa.ArrowInvalid:
        return cells
