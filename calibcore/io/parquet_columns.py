"""The columns of a Parquet file: loaded when they are first needed, those of the classes together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from calibcore.errors import InputError
from calibcore.io.columns import Column, kind_of, one_chunk
from calibcore.progress import Heard

__all__ = ["check_words", "parquet_columns"]

_FIRST, _SHARE = 10_000, 40  # rows for a first look; of a bigger file one in 40, so that what fails in 2 % of all is seen
_SLIM = 2  # columns
_SEPARATORS = "_. -(=:[/"


def parquet_columns(file: Any, limit: int, again: Callable[[list[str]], Any], heard: Heard | None = None) -> dict[str, Column]:
    """The columns of a Parquet file, none of them loaded but for the first cells of a big one.

    No column may unpack to more than ``limit`` bytes; ``again`` opens the file with some columns of words kept as dictionaries.
    ``heard`` is told which part of the file's bytes has been loaded.
    """
    size = sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
    store, schema = Store(file, limit, again, size, heard), file.schema_arrow
    first = {} if store.is_slim() else store.first()
    return {f.name: Column(f.name, kind_of(f.type), partial(store.column, f.name), first=first.get(f.name)) for f in schema}


@dataclass(slots=True)
class Store:
    """The columns of a Parquet file, loaded when they are first needed, together with those that are called alike."""

    file: Any
    limit: int
    again: Callable[[list[str]], Any]
    size: int  # bytes of the file's parts, unpacked
    heard: Heard | None = None
    loaded: dict[str, Any] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)  # columns keep their cells themselves
    passed: int = 0
    paths: dict[str, int] = field(default_factory=dict)  # of what is stored

    def column(self, name: str) -> Any:
        """All cells of a column.

        Raises
        ------
        InputError
            If the file is damaged there.
        """
        if name not in self.loaded:
            self._load(name, [n for n in self._alike(name) if n == name or (n not in self.loaded and n not in self.given)])
        self.given.add(name)
        return self.loaded.pop(name)

    def _load(self, name: str, wanted: list[str]) -> None:
        import pyarrow as pa

        try:
            self._bounded(wanted)
            arrow = self._read(wanted)
            if arrow.num_rows != self.file.metadata.num_rows or any(len(c) != arrow.num_rows for c in arrow.columns):
                raise ValueError("fewer rows than promised")  # noqa: TRY301
            arrow.validate(full=True)
            self.loaded |= {n: arrow.column(n) for n in wanted}
        except InputError:
            if len(wanted) == 1:
                raise
            self._load(name, [name])
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            if len(wanted) > 1:
                self._load(name, [name])
                return
            if "decrypt" in str(error):  # under a footer that is not
                raise InputError(
                    f"Column {name!r} of this Parquet file is encrypted. Save it again without encryption.", column=name
                ) from None
            raise InputError(
                f"Column {name!r} of this Parquet file cannot be read; the file is damaged. Save it again.", column=name
            ) from None

    def _read(self, wanted: list[str]) -> Any:
        """Some columns; part by part where somebody listens."""
        import pyarrow as pa

        if self.heard is None or not self.file.num_row_groups:
            return self.file.read(columns=wanted, use_threads=True)
        parts = []
        for i in range(self.file.num_row_groups):
            parts.append(self.file.read_row_group(i, columns=wanted, use_threads=True))
            about = self.file.metadata.row_group(i)
            leaves = (j for name in wanted for j, _ in self._leaves(name))  # a look at the chunk of an encrypted column ends the process
            self.passed += sum(about.column(j).total_uncompressed_size for j in leaves)
            self.heard(min(1.0, self.passed / max(self.size, 1)))
        return pa.concat_tables(parts)

    def is_slim(self) -> bool:
        """Whether the file holds little beside a label and a probability, so that all of it is needed and a first look is not."""
        import pyarrow.types as pt

        schema = self.file.schema_arrow
        return len(schema) <= _SLIM and all(pt.is_integer(f.type) or pt.is_floating(f.type) or pt.is_boolean(f.type) for f in schema)

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
        for name in (n for n in names if self._may_grow(n)):
            check_words(name, self.again([path for _, path in self._leaves(name)]).read(columns=[name]).column(name), self.limit)

    def _may_grow(self, name: str) -> bool:
        """Whether a column of words, or of lists of them, grows beyond the limit if all are the longest of their part of the file."""
        import pyarrow.types as pt

        leaves = [(j, path) for j, path in self._leaves(name) if self.file.metadata.schema.column(j).physical_type == "BYTE_ARRAY"]
        nested, size = pt.is_nested(self.file.schema_arrow.field(name).type), 0
        if not leaves or (not nested and self.file.metadata.num_rows * self.size <= self.limit):  # no word is longer than the file's parts
            return False
        file = self.again([path for _, path in leaves])
        for i in range(file.num_row_groups):
            for batch in file.iter_batches(batch_size=1, row_groups=[i], columns=[name]):
                longest = max(map(_longest, _words(batch.column(0))), default=0)
                about = file.metadata.row_group(i)
                size += longest * (sum(about.column(j).num_values for j, _ in leaves) if nested else about.num_rows)
                break
        return bool(size > self.limit)

    def _leaves(self, name: str) -> list[tuple[int, str]]:
        """Position and path of what the file stores of a column: more than one of records and maps."""
        schema = self.file.metadata.schema
        if not self.paths:
            self.paths.update({schema.column(j).path: j for j in range(len(schema))})
        if name in self.paths:
            return [(self.paths[name], name)]
        return [(j, path) for path, j in self.paths.items() if path.startswith(f"{name}.")]

    def _alike(self, name: str) -> list[str]:
        """Columns of the same type with the same beginning, up to the last separator or number: one for each class; all of few."""
        schema = self.file.schema_arrow
        if self.is_slim():
            return list(schema.names)
        return [n for n in schema.names if _stem(n) == _stem(name) and schema.field(n).type == schema.field(name).type]


def check_words(name: str, cells: Any, limit: int) -> None:
    """InputError if the words of cells, which are parts with dictionaries, take more than ``limit`` bytes once each cell has its own."""
    import pyarrow.compute as pc

    words = [w for c in cells.chunks for w in _words(c)]
    if sum(_longest(w) * len(w) for w in words) <= limit:
        return
    size = sum(pc.sum(pc.binary_length(w.dictionary).take(w.indices)).as_py() or 0 for w in words if _longest(w))
    if size > limit:
        raise InputError(
            f"Column {name!r} unpacks to {size >> 30} GB; the limit is {limit >> 30} GB. Keep only the columns needed.", column=name
        )


def _longest(words: Any) -> int:
    """Bytes of the longest word of a dictionary; 0 of what is no text."""
    import pyarrow.compute as pc
    import pyarrow.types as pt

    kind = words.type.value_type
    if not (pt.is_string(kind) or pt.is_large_string(kind) or pt.is_binary(kind) or pt.is_large_binary(kind)):
        return 0
    return int(pc.max(pc.binary_length(words.dictionary)).as_py() or 0)


def _words(cells: Any) -> Iterator[Any]:
    """The dictionaries of words in cells, which may be lists or records."""
    import pyarrow as pa
    import pyarrow.types as pt

    kind = cells.type
    if pt.is_dictionary(kind):
        yield cells.cast(pa.dictionary(kind.index_type, pa.large_string())) if pt.is_string_view(kind.value_type) else cells
    elif pt.is_map(kind):
        yield from (*_words(cells.keys), *_words(cells.items))
    elif pt.is_struct(kind):
        yield from (w for part in cells.flatten() for w in _words(part))
    elif pt.is_nested(kind) and not pt.is_union(kind):
        yield from _words(cells.flatten())


def _stem(name: str) -> str:
    short = name.rstrip("0123456789)]\"'")
    return name[: max(map(name[:-1].rfind, _SEPARATORS)) + 1] or (short if short != name else name)
