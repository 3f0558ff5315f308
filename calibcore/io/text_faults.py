"""What is wrong with a long text that passes in blocks: rows of another length, and quotes that hide rows, each with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from calibcore.errors import InputError
from calibcore.io.big_text import Cells
from calibcore.io.quotes import check_closed, check_hidden
from calibcore.io.text import ragged
from calibcore.io.text_style import LONG_CELLS

__all__ = ["check_lines", "check_rows"]

_PART = 8 << 20  # bytes


def check_rows(cells: Cells, error: Exception) -> None:
    """InputError for a text that pyarrow cannot split into rows, or whose cells it cannot take."""
    _check_widths(cells)
    if "UTF8" in str(error):
        raise InputError("The file holds letters that are not UTF-8, far below its beginning. Save it as UTF-8, or as Parquet.")
    check_lines(cells, -1)


def _check_widths(cells: Cells) -> None:
    """InputError for the first row with more or fewer cells than the header."""
    import pyarrow as pa

    met: list[Any] = []

    def handler(row: Any) -> str:
        met.append(row)
        return "error"

    with suppress(pa.ArrowInvalid):
        for _ in _batches(cells, cells.names[:1], newlines_in_values=cells.parsing.newlines_in_values, invalid_row_handler=handler):
            pass
    if met:
        raise ragged(met[0].number - 1, met[0].actual_columns, met[0].expected_columns)


def _batches(cells: Cells, columns: Sequence[str], **parsing: Any) -> Iterator[Any]:
    """Some columns as texts, block after block in one thread, which is how pyarrow counts rows."""
    import pyarrow as pa
    import pyarrow.csv as pc

    reading, converting = cells.options(columns, ())
    reading.block_size, reading.use_threads = _PART, False
    parse = pc.ParseOptions(delimiter=cells.parsing.delimiter, **parsing)
    with cells.opened() as file:
        yield from pc.open_csv(pa.PythonFile(file, mode="r"), read_options=reading, parse_options=parse, convert_options=converting)


def check_lines(cells: Cells, rows: int) -> None:
    """InputError where a quote that is opened by mistake makes one cell of several lines, so that a text gave too few rows."""
    import pyarrow as pa

    lines, quotes = _counted(cells)
    if rows == lines - 1:
        return
    count, table = 0, None
    try:
        for batch in _batches(cells, cells.names, newlines_in_values=True):
            table = pa.Table.from_batches([batch])
            check_hidden(table, cells.parsing.delimiter, count)
            count += len(batch)
    except pa.ArrowInvalid:
        raise InputError(f"A row somewhere below row {count:,} is longer than {_PART >> 20} MB. {LONG_CELLS}") from None
    if quotes % 2 and table is not None:
        check_closed(table, count - table.num_rows)
    if count != rows:
        raise InputError("The file holds cells of several lines, far below its beginning. Save it as Parquet.")


def _counted(cells: Cells) -> tuple[int, int]:
    """How many lines there are, and how many quotes."""
    lines, quotes, end = 0, 0, b"\n"
    with cells.opened() as file:
        while part := file.read(_PART):
            lines, quotes, end = lines + part.count(b"\n"), quotes + part.count(b'"'), part[-1:]
    return lines + (end != b"\n"), quotes
