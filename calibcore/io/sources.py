"""Where batches of rows come from: files however large, data frames, streams; each with a sample that is spread over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from calibcore.errors import InputError
from calibcore.io.arrow_files import unique_names
from calibcore.io.batch_notes import counted_on
from calibcore.io.columns import kind_of
from calibcore.io.containers import frame_arrow

__all__ = ["BATCH", "PIECE", "PIECES", "NotNumbers", "Source", "frame_source", "spread", "table_source", "together"]

BATCH = 1 << 18  # rows
PIECES, PIECE = 16, 4096  # of a sample: how many, and rows of each
_FIRST_ROWS = PIECES * PIECE  # of a stream that passes once
_NEW = 10_000  # different values of a column that are looked for

Batches = Callable[[Sequence[str] | None, Sequence[str]], Iterable[Any]]


class NotNumbers(Exception):  # noqa: N818 - a reason to begin again
    """A cell of a column of texts is no number, though the sample had nothing else."""


@dataclass(slots=True, eq=False)
class Source:
    """Rows that come in batches.

    Attributes
    ----------
    name : str
        For messages, and for the model where nothing names it.
    sample : Arrow table
        Some rows.
    batches : callable
        Columns (None for all), and those of them that are numbers where cells are texts → Arrow record batches in order.
    n_rows : int or None
        None where it is not known before the end.
    again : bool
        Whether the batches can be had more than once.
    share : callable
        Rows so far → the share of the work that is done, 0 to 1; None where nobody knows.
    numbers : tuple of str
        Columns of texts that are numbers, as far as the sample tells.
    index : tuple of str
        Columns that were the index of a data frame.
    places : tuple of (int, int)
        Rows before each piece of the sample, and how many it has; none where this is not known.
    """

    name: str
    sample: Any
    batches: Batches
    n_rows: int | None = None
    again: bool = True
    share: Callable[[int], float | None] | None = None
    numbers: tuple[str, ...] = ()
    index: tuple[str, ...] = ()
    places: tuple[tuple[int, int], ...] = ()

    def done(self, rows: int) -> float | None:
        """The share of the work that is done after so many rows."""
        if self.share is not None:
            return self.share(rows)
        return rows / self.n_rows if self.n_rows else None

    def widened(self, columns: Sequence[str]) -> Source:
        """With a row for each value of some columns that the sample lacks; the same where there is none."""
        seen = {c: set(self.sample.column(c).unique().to_pylist()) for c in columns}
        wanted, start = set[int](), 0
        for batch in self.batches(columns, ()):
            for name, known in seen.items():
                wanted |= {start + i for i in _new(batch.column(name), known)}
            start += len(batch)
        if not wanted:
            return self
        more = _rows(self.batches(None, ()), sorted(wanted), self.sample.schema)
        return replace(self, sample=together([self.sample, more]), places=self.places and (*self.places, *((w, 1) for w in sorted(wanted))))

    def row(self, of_sample: int) -> int:
        """The row (from 1) that a row of the sample is."""
        for before, count in self.places:
            if of_sample <= count:
                return before + of_sample
            of_sample -= count
        return of_sample

    def told(self, text: str) -> str:
        """A sentence about rows of the sample, as it is said to those who know the source."""
        if len(self.sample) == self.n_rows or counted_on(text, 1) == text:
            return text
        return f"In a sample of {len(self.sample):,} rows: {counted_on(text, self.row) if self.places else text}"

    def constant(self) -> list[str]:
        """Columns of names that hold one value in the sample, of which there may be more elsewhere."""
        kinds = {f.name: kind_of(f.type) for f in self.sample.schema}
        whole = {f.name for f in self.sample.schema if kinds[f.name] != "number" or str(f.type).startswith(("int", "uint"))}
        found = [n for n, kind in kinds.items() if kind in ("text", "flag", "number") and n in whole]
        return [n for n in found if n not in self.numbers and len(self.sample.column(n).unique()) < 2]


def _new(cells: Any, known: set[Any]) -> list[int]:
    """Where values occur first that are not known; they are known from then on."""
    distinct = cells.unique().to_pylist()
    new = [v for v in distinct if v not in known][: max(0, _NEW - len(known))]
    known |= set(new)
    return [cells.index(v).as_py() if v is not None else cells.is_null().index(True).as_py() for v in new]


def _rows(batches: Iterable[Any], wanted: list[int], schema: Any) -> Any:
    """Rows by their numbers, which rise."""
    import pyarrow as pa

    found, start, waiting = [], 0, wanted
    for batch in batches:
        here = [w - start for w in waiting if w < start + len(batch)]
        if here:
            found.append(batch.take(pa.array(here)))
            waiting = waiting[len(here) :]
        start += len(batch)
        if not waiting:
            break
    return pa.Table.from_batches(found, schema=schema)


def together(tables: Sequence[Any]) -> Any:
    """Tables of the same columns below each other."""
    import pyarrow as pa

    return pa.concat_tables(tables).combine_chunks()


def spread(n_rows: int) -> list[tuple[int, int]]:
    """Where pieces of a sample begin, and their lengths: all rows, or the first of sixteen equal parts and the last rows."""
    if n_rows <= _FIRST_ROWS:
        return [(0, n_rows)]
    parts = [(n_rows * i // PIECES, PIECE) for i in range(PIECES)]
    return [*parts, (n_rows - PIECE, PIECE)]


def frame_source(frame: Any, name: str) -> Source:
    """A data frame of pandas, anything that speaks the Arrow C stream or array, or an Arrow table or reader."""
    import pyarrow as pa

    if hasattr(frame, "iloc") and hasattr(frame, "columns"):
        return table_source(*frame_arrow(frame), name=name)
    if not hasattr(frame, "__arrow_c_stream__") and hasattr(frame, "__arrow_c_array__"):
        return table_source(pa.Table.from_batches([pa.record_batch(frame)]), name=name)
    if isinstance(frame, pa.Table) or type(frame).__module__.startswith("polars."):
        return table_source(*frame_arrow(frame), name=name)
    return stream_source(pa.RecordBatchReader.from_stream(frame), name)


def table_source(table: Any, index: tuple[str, ...] = (), *, name: str) -> Source:
    """An Arrow table in memory."""
    if not table.num_rows:
        raise InputError("The data frame has no rows. Give it its rows.")
    places = spread(table.num_rows)
    sample = together([table.slice(start, rows) for start, rows in places])

    def batches(columns: Sequence[str] | None, _: Sequence[str]) -> Iterable[Any]:
        chosen = table if columns is None else table.select(list(columns))
        return chosen.to_batches(max_chunksize=BATCH)  # type: ignore[no-any-return]

    return Source(name, sample, batches, table.num_rows, index=index, places=tuple(places))


def stream_source(reader: Any, name: str) -> Source:
    """Batches that pass once: the sample is their beginning."""
    import pyarrow as pa

    unique_names(reader.schema.names)
    first, rows = [], 0
    for batch in reader:
        first.append(batch)
        rows += len(batch)
        if rows >= _FIRST_ROWS:
            break
    if not rows:
        raise InputError("The data frame has no rows. Give it its rows.")
    sample = pa.Table.from_batches(first, schema=reader.schema).slice(0, _FIRST_ROWS).combine_chunks()
    waiting: list[Iterator[Any]] = [chain(first, reader)]

    def batches(columns: Sequence[str] | None, _: Sequence[str]) -> Iterator[Any]:
        passing = waiting.pop()
        return (b if columns is None else b.select(list(columns)) for whole in passing for b in _parts(whole))

    return Source(name, sample, batches, again=False, places=((0, len(sample)),))


def _parts(batch: Any) -> Iterator[Any]:
    """A long batch in parts."""
    return (batch.slice(start, BATCH) for start in range(0, len(batch), BATCH))
