"""The columns of a Parquet file: loaded when they are first needed, those of the classes together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from calibcore.errors import InputError
from calibcore.io.columns import Column, kind_of, one_chunk

__all__ = ["parquet_columns"]

_FIRST, _SHARE = 10_000, 40  # rows for a first look; of a bigger file one in 40, so that what fails in 2 % of all is seen
_SEPARATORS = "_. -(=:[/"


def parquet_columns(file: Any) -> dict[str, Column]:
    """The columns of a Parquet file, none of them loaded but for the first cells of a big one."""
    store, schema = Store(file), file.schema_arrow
    first = store.first()
    return {f.name: Column(f.name, kind_of(f.type), partial(store.column, f.name), first=first.get(f.name)) for f in schema}


@dataclass(slots=True)
class Store:
    """The columns of a Parquet file, loaded when they are first needed, together with those that are called alike."""

    file: Any
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
            arrow = self.file.read(columns=wanted, use_threads=True)
            if arrow.num_rows != self.file.metadata.num_rows or any(len(c) != arrow.num_rows for c in arrow.columns):
                raise ValueError("fewer rows than promised")  # noqa: TRY301
            arrow.validate(full=True)
            self.loaded |= {n: arrow.column(n) for n in wanted}
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
            batch = next(self.file.iter_batches(batch_size=max(_FIRST, n // _SHARE), columns=flat))
            return {n: one_chunk(batch.column(n)) for n in flat}
        except (pa.ArrowException, OSError, ValueError, KeyError, StopIteration):
            return {}  # the column that is damaged is named when it is needed

    def _alike(self, name: str) -> list[str]:
        """Columns of the same type with the same beginning, up to the last separator or number: one for each class."""
        schema = self.file.schema_arrow
        return [n for n in schema.names if _stem(n) == _stem(name) and schema.field(n).type == schema.field(name).type]


def _stem(name: str) -> str:
    short = name.rstrip("0123456789)]\"'")
    return name[: max(map(name[:-1].rfind, _SEPARATORS)) + 1] or (short if short != name else name)
