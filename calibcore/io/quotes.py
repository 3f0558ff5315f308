"""Quotes that are opened by mistake: rows that they would hide within one cell are found, never swallowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calibcore.errors import InputError
from calibcore.io.headers import is_number

__all__ = ["check_closed", "check_hidden", "check_quotes"]

_SAMPLE = 50  # rows of one line that show which columns hold numbers


def check_quotes(data: bytes, arrow: Any, separator: str, quote: str = '"') -> None:
    """InputError where a quote makes one cell of several rows, or of the rest of the file.

    Parameters
    ----------
    data : bytes
        The text that was parsed.
    arrow : pyarrow.Table
        What was made of it, without the header.
    separator, quote : str
        Signs between and around cells.

    Notes
    -----
    A cell may hold several lines.  It hides rows if the lines of its row, with the quotes taken away, are rows each: as many
    cells as there are columns, and numbers where the other rows have numbers.
    """
    if quote.encode() not in data or arrow.num_rows == 0:
        return
    if data.count(b'"') % 2:
        check_closed(arrow)
    if arrow.num_columns > 1:
        check_hidden(arrow, separator)


def check_closed(arrow: Any, before: int = 0) -> None:
    """InputError where a quote that nothing closes makes one cell of the rest of the file; ``before`` are the rows above."""
    last, row = arrow.slice(arrow.num_rows - 1).to_pylist()[0], before + arrow.num_rows
    column = next((n for n, cell in last.items() if isinstance(cell, str) and "\n" in cell.strip()), None)
    if column is not None:
        raise InputError(
            f"Row {row:,}: a quote is opened in column {column!r} and never closed, so the rest of the file is one cell. "
            "Close or remove it.",
            row=row,
            column=column,
        )


def check_hidden(arrow: Any, separator: str, before: int = 0) -> None:
    """InputError where the lines of a row are rows themselves; ``before`` are the rows above."""
    import numpy as np

    several = _of_several_lines(arrow)
    if not several.any():
        return
    numbers = _number_columns(arrow.take(np.flatnonzero(~several)[:_SAMPLE]))
    for at in map(int, np.flatnonzero(several) if numbers else ()):
        cells = [str(cell) for cell in arrow.slice(at, 1).to_pylist()[0].values()]
        lines = separator.join(cells).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if all(_is_row(line.split(separator), len(cells), numbers) for line in lines):
            column = next(n for n, c in zip(arrow.column_names, cells, strict=True) if "\n" in c or "\r" in c)
            row = before + at + 1
            raise InputError(
                f"Row {row:,}: a quote in column {column!r} makes one cell of {len(lines)} lines, each of which looks like a row. "
                "Remove the quote that opens it, or double it.",
                row=row,
                column=column,
            )


def _of_several_lines(arrow: Any) -> Any:
    """Which rows hold the end of a line, as an array of flags."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    several = np.zeros(arrow.num_rows, dtype=bool)
    for column in arrow.columns:
        if pa.types.is_string(column.type) and any(_may_end_line(chunk) for chunk in column.chunks):
            several |= pc.match_substring_regex(column, r"[\n\r]").to_numpy()
    return several


def _may_end_line(texts: Any) -> bool:
    """Whether the end of a line is among the bytes of an array of texts, or beside them where it is a part of another."""
    held = texts.buffers()[2]
    return held is not None and any(sign in held.to_pybytes() for sign in (b"\n", b"\r"))


def _number_columns(plain: Any) -> list[int]:
    """Positions of the columns that hold a number in every row."""
    rows = [list(row.values()) for row in plain.to_pylist()]
    return [i for i in range(plain.num_columns) if rows and all(is_number(str(row[i])) for row in rows)]


def _is_row(cells: Sequence[str], width: int, numbers: Sequence[int]) -> bool:
    return len(cells) == width and all(is_number(cells[i]) for i in numbers)
