"""Records within records as columns of their own: the fields of a record by their path, and named statistics by their name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import InputError
from calibcore.io.columns import Column, Table, kind_of
from calibcore.io.vectors import list_column, struct_fields
from calibcore.io.vocabulary import plain

__all__ = ["added", "derive_fields", "leaves", "named_values", "numbers_column"]

_DEPTH = 6  # records within records
_MOST = 2000  # fields of one column
_NAMES = ("name", "metric", "key", "stat", "measure")
_VALUES = ("mean", "value", "score")
_CHANGED = ("perturbation", "perturbation_name")


def added(table: Table, column: Column) -> str:
    """Makes a column known by its name, without offering it as one of the file's; its name."""
    table.derived[column.name] = column
    return column.name


def leaves(table: Table, base: str) -> dict[str, Column]:
    """The fields of a column of records that are no records themselves, by their path ``base.field.field``."""
    memo = table.column(base).memo
    if "leaves" not in memo:
        found = [*_leaves(table.column(base).array, base, 0)] if table.column(base).kind == "nested" else []
        memo["leaves"] = {path: Column(path, kind_of(array.type), _always(array), of=base) for path, array in found[:_MOST]}
    return memo["leaves"]  # type: ignore[no-any-return]


def _leaves(array: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    import pyarrow.types as pt

    if not pt.is_struct(array.type) or array.type.num_fields > _MOST:
        return
    for name, field in struct_fields(array).items():
        if pt.is_struct(field.type) and depth < _DEPTH:
            yield from _leaves(field, f"{path}.{name}", depth + 1)
        else:
            yield f"{path}.{name}", field


def _always(array: object) -> Callable[[], object]:
    return lambda: array


def named_values(table: Table, base: str) -> dict[str, Column]:
    """A list of statistics in each cell, each with a name and a number, as one column for each name: ``base[name]``.

    The name is a text, or a record with a text ``name``.  A statistic of a changed copy (``perturbation``) is left out; one
    that has two different values in a row is no column.
    """
    memo = table.column(base).memo
    if "named values" not in memo:
        memo["named values"] = _named_values(table.column(base)) or {}
    return memo["named values"]  # type: ignore[no-any-return]


def _named_values(column: Column) -> dict[str, Column] | None:
    import pyarrow.types as pt

    array = list_column(column.array) if column.kind == "nested" else None
    if array is None or not pt.is_list(array.type) or not pt.is_struct(array.type.value_type):
        return None
    fields = struct_fields(array.flatten())
    key = next((k for k in fields if plain(k) in _NAMES), None)
    value = next((k for w in _VALUES for k in fields if plain(k) == w and kind_of(fields[k].type) == "number"), None)
    if key is None or value is None:
        return None
    names, kept = _names(fields[key])
    if names is None or kind_of(names.type) != "text":
        return None
    found, numbers = Column(key, "text", _always(names)).names(), Column(value, "number", _always(fields[value])).numeric().values
    lengths = np.maximum(_lengths(array), 0)
    row = np.repeat(np.arange(len(lengths)), lengths)
    columns: dict[str, Column] = {}
    for code, name in enumerate(found.distinct[:_MOST]):
        mine = (found.code == code) & kept
        cells = _one_each(row[mine], numbers[mine], len(lengths))
        if cells is not None and mine.any():
            columns[name] = Column(f"{column.name}[{name}]", "number", _array(cells), of=column.name)
    return columns


def _names(array: Any) -> tuple[Any, NDArray[np.bool_]]:
    """The names of statistics, and which of them are not about a changed copy."""
    import pyarrow.types as pt

    kept = np.ones(len(array), dtype=np.bool_)
    if not pt.is_struct(array.type):
        return array, kept
    fields = struct_fields(array)
    for name in _CHANGED:
        if name in fields:
            kept &= fields[name].is_null().to_numpy(zero_copy_only=False)
    return fields.get("name"), kept


def _lengths(array: Any) -> NDArray[np.int64]:
    import pyarrow.compute as pc

    lengths: NDArray[np.int64] = pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return lengths


def _one_each(row: NDArray[np.int64], values: NDArray[np.floating[Any]], n: int) -> NDArray[np.float64] | None:
    """One number a row, NaN where there is none; None where a row has two different ones."""
    cells = np.full(n, np.nan)
    cells[row] = values
    same = (cells[row] == values) | (np.isnan(cells[row]) & np.isnan(values))
    return cells if same.all() else None


def _array(values: NDArray[Any]) -> Callable[[], object]:
    def load() -> object:
        import pyarrow as pa

        return pa.array(values, from_pandas=False)

    return load


def derive_fields(table: Table, name: str) -> None:
    """Makes the column of a name such as ``scores.choice.value`` or ``stats[max_prob]`` that a user gave."""
    for base, column in list(table.columns.items()):
        if column.kind != "nested" or name in table.derived:
            continue
        if name.startswith(f"{base}."):
            found = leaves(table, base).get(name)
        elif name.startswith(f"{base}["):
            found = named_values(table, base).get(name[len(base) + 1 : -1])
        else:
            continue
        if found is not None:
            added(table, found)


def numbers_column(table: Table, name: str, values: NDArray[Any], of: str) -> str:
    """A column of numbers that is made of another one; its name.

    Raises
    ------
    InputError
        If the file has a column of that name.
    """
    if name in table.columns:
        raise InputError(f"Column {of!r} would give a column {name!r}, as another one is called. Rename that one.", column=name)
    return added(table, Column(name, "number", _array(values), of=of))
