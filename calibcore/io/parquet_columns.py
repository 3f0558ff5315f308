"""The columns of a Parquet file: loaded when they are first needed, those of the classes together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from calibcore.errors import InputError
from calibcore.io.columns import Column, kind_of, one_chunk

__all__ = ["parquet_columns"]

_FIRST, _SHARE = 10_000, 40  # rows for a first look; of a bigger file one in 40, so that what fails in 2 % of all is seen
_SEPARATORS = "_. -(=:[/"


def parquet_columns(file: Any, limit: int, again: Callable[[list[str]], Any]) -> dict[str, Column]:
    """The columns of a Parquet file, none of them loaded but for the first cells of a big one.

    No column may unpack to more than ``limit`` bytes; ``again`` opens the file with some columns of words kept as dictionaries.
    """
    size = sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
    store, schema = Store(file, limit, again, size), file.schema_arrow
    first = store.first()
    return {f.name: Column(f.name, kind_of(f.type), partial(store.column, f.name), first=first.get(f.name)) for f in schema}


@dataclass(slots=True)
class Store:
    """The columns of a Parquet file, loaded when they are first needed, together with those that are called alike."""

    file: Any
    limit: int
    again: Callable[[list[str]], Any]
    size: int  # bytes of the file's parts, unpacked
    loaded: dict[str, Any] = field(default_factory=dict)

    def column(self, name: str) -> Any:
        """All cells of a column.

        Raises
        ------
        InputError
            If the file is damaged there.
        """
        if name not in self.loaded:
            self._load(name, [n for n in self._alike(name) if n not in self.loaded])
        return self.loaded[name]

    def _load(self, name: str, wanted: list[str]) -> None:
        import pyarrow as pa

        try:
            self._bounded(wanted)
            arrow = self.file.read(columns=wanted, use_threads=True)
            if arrow.num_rows != self.file.metadata.num_rows or any(len(c) != arrow.num_rows for c in arrow.columns):
                raise ValueError("fewer rows than promised")  # noqa: TRY301
            arrow.validate(full=True)
            self.loaded |= {n: arrow.column(n) for n in wanted}
        except InputError:
            if len(wanted) == 1:
                raise
            self._load(name, [name])
        except (pa.ArrowException, OSError, ValueError, KeyError):
            if len(wanted) > 1:
                self._load(name, [name])
                return
            raise InputError(
                f"Column {name!r} of this Parquet file cannot be read; the file is damaged. Save it again.", column=name
            ) from None

    def first(self) -> dict[str, Any]:
        """The first cells of the columns of a big file that hold one value a cell."""
        import pyarrow as pa
        import pyarrow.types as pt

        flat = [f.name for f in self.file.schema_arrow if not pt.is_nested(f.type)]
        n = self.file.metadata.num_rows
        if n <= 2 * _FIRST or not flat:
            return {}
        try:
            flat = [n for n in flat if not self._may_grow(n)]
            batch = next(self.file.iter_batches(batch_size=max(_FIRST, n // _SHARE), columns=flat))
            return {n: one_chunk(batch.column(n)) for n in flat}
        except (pa.ArrowException, OSError, ValueError, KeyError, StopIteration):
            return {}  # the column that is damaged is named when it is needed

    def _bounded(self, names: list[str]) -> None:
        """InputError if a column of words, of which the file holds each once, would grow beyond the limit."""
        import pyarrow.compute as pc

        for name in (n for n in names if self._may_grow(n)):
            words = self.again([name]).read(columns=[name]).column(name)
            size = sum(pc.sum(pc.binary_length(c.dictionary).take(c.indices)).as_py() or 0 for c in words.chunks)
            if size > self.limit:
                raise InputError(
                    f"Column {name!r} unpacks to {size >> 30} GB; the limit is {self.limit >> 30} GB. Keep only the columns needed.",
                    column=name,
                )

    def _may_grow(self, name: str) -> bool:
        """Whether a column of words grows beyond the limit if every cell holds the longest word of its part of the file."""
        import pyarrow.compute as pc
        import pyarrow.types as pt

        kind, size = self.file.schema_arrow.field(name).type, 0
        if not (pt.is_string(kind) or pt.is_large_string(kind) or pt.is_binary(kind) or pt.is_large_binary(kind)):
            return False
        if self.file.metadata.num_rows * self.size <= self.limit:  # no word is longer than the file's parts
            return False
        file = self.again([name])
        for i in range(file.num_row_groups):
            for batch in file.iter_batches(batch_size=1, row_groups=[i], columns=[name]):
                longest = pc.max(pc.binary_length(batch.column(0).dictionary)).as_py() or 0
                size += longest * file.metadata.row_group(i).num_rows
                break
        return bool(size > self.limit)

    def _alike(self, name: str) -> list[str]:
        """Columns of the same type with the same beginning, up to the last separator or number: one for each class."""
        schema = self.file.schema_arrow
        return [n for n in schema.names if _stem(n) == _stem(name) and schema.field(n).type == schema.field(name).type]


def _stem(name: str) -> str:
    short = name.rstrip("0123456789)]\"'")
    return name[: max(map(name[:-1].rfind, _SEPARATORS)) + 1] or (short if short != name else name)
