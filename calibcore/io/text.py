"""Delimited text: its separator, its header, and every cell as it is written; columns are never shifted."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.columns import Table, as_table
from calibcore.io.encodings import NO_TABLE, Text, decoded
from calibcore.io.headers import Header, check_names, find_header, is_number, position_names
from calibcore.io.quotes import check_quotes
from calibcore.io.text_style import (
    LONG_CELLS,
    LONG_SAMPLE,
    MAX_TITLES,
    SAMPLE_LINES,
    Style,
    cell_reader,
    first_records,
    is_row,
    records,
    style_of,
)
from calibcore.io.weka_text import plain_output

__all__ = ["NO_TABLE", "decoded", "ragged", "read_delimited"]

_SPOKEN = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "bars", " ": "spaces", "\n": "one column"}
_DECLARED = re.compile(r'"?sep=(.)"?[ ;,\t]*\r?\n?', re.IGNORECASE)
_LIBSVM = re.compile(r"\S+(\s+\d+:[+-]?[\d.][\d.eE+-]*)+\s*(#.*)?")


def read_delimited(data: bytes, name: str, *, complete: bool = True) -> Table:
    """A table from the bytes of CSV, TSV or text with ``;``, ``|`` or blanks between the cells, or with one cell a line.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name, for messages.
    complete : bool
        False when ``data`` is only the file's beginning; an unfinished last line is left away.

    Raises
    ------
    InputError
        If the text is no table, a row has more or fewer cells than the header, or two columns share a name.
    """
    source = decoded(data, complete=complete)
    if not source.start.strip():
        raise InputError("The file is empty. Save it again.", rule=NO_TABLE)
    source, declared = _without_declaration(source)
    source, comments = _without_comments(source)
    source, sparse = _without_features(source)
    if not source.start.strip():
        raise InputError("The file is empty. Save it again.", rule=NO_TABLE)
    style = style_of(source.start, declared)
    source, header, notes = _located(source, style, comments)
    check_names(header.names)
    arrow, extra = _parse(source, style, header)
    trailing = _trailing(extra, arrow.num_rows)
    arrow = _without_blank_columns(_without_rule(arrow))
    check_quotes(source.utf8, arrow, style.separator, style.quote)
    arrow, blank = _without_blank_rows(arrow)
    if arrow.num_rows == 0:
        raise InputError("The file has a header but no data rows. Save it again with its rows.")
    notes = (*source.notes, *sparse, *notes)
    notes += trailing
    notes += (f"{blank:,} {'row' if blank == 1 else 'rows'} without any content left out.",) if blank else ()
    kind = {"\t": "TSV", ",": "CSV", "\n": "text with one column"}.get(style.separator, f"text with {_SPOKEN[style.separator]}")
    rows = arrow.num_rows if complete else None
    about = {"encoding": source.encoding, "notes": notes, "complete": complete, "headless": header.headless and not header.commented}
    return as_table(arrow, name, format=kind, rows_in_file=rows, **about)


def _without_declaration(source: Text) -> tuple[Text, str | None]:
    """Without a first line such as ``sep=;``, and the separator that it names."""
    found = _DECLARED.match(source.start)
    if not found or (found.end() < len(source.start) and source.start[found.end() - 1] not in "\r\n"):
        return source, None
    return _after(source, found.end()), found[1]


def _after(source: Text, characters: int) -> Text:
    """The text after its first characters."""
    cut = len(source.start[:characters].encode("utf-8"))
    return replace(source, utf8=source.utf8[cut:], start=source.start[characters:])


def _without_comments(source: Text) -> tuple[Text, tuple[str, ...]]:
    """Without lines that start with ``#``, and these lines; a single line that could be the header itself stays."""
    comments, at = [], 0
    for line in io.StringIO(source.start, newline=""):
        if line.strip() and not line.lstrip().startswith("#"):
            break
        comments += [line.strip()] if line.strip() else []
        at += len(line)
    rest = _after(source, at)
    if not comments or not rest.start.strip():
        return source, ()
    return rest, tuple(c.lstrip("#").strip() for c in comments)


def _without_features(source: Text) -> tuple[Text, tuple[str, ...]]:
    """Weka's plain output as a table; without the features of LIBSVM's format (``label 1:0.5 2:0.1``), whose lines begin with the label."""
    made = plain_output(source.start) and plain_output(source.whole)
    if made:
        return Text(made.encode(), made, source.encoding, source.notes), ("Weka's plain output was read as a table.",)
    lines = list(islice((line for line in source.start.splitlines() if line.strip()), SAMPLE_LINES))
    if len(lines) < 2 or not all(_LIBSVM.fullmatch(line) for line in lines):
        return source, ()
    labels = "\n".join(line.split(maxsplit=1)[0] for line in source.whole.splitlines() if line.strip()) + "\n"
    text = Text(labels.encode("utf-8"), labels, source.encoding, source.notes)
    return text, ("The lines are in LIBSVM's format; the label of each was read, its features were left out.",)


def _located(source: Text, style: Style, comments: tuple[str, ...]) -> tuple[Text, Header, tuple[str, ...]]:
    """The text from its header on, the header, and notes on what stands above it."""
    rows = first_records(source.start, style, LONG_SAMPLE if style.separator == "\n" else SAMPLE_LINES + MAX_TITLES)
    header = find_header(rows, ragged=True)
    if comments and (named := _commented_header(comments[-1], style, header, rows)):
        header, comments = named, comments[:-1]
    notes: tuple[str, ...] = (
        (f"{len(comments):,} comment {'line' if len(comments) == 1 else 'lines'} above the table left out.",) if comments else ()
    )
    if header.above:
        source = _after(source, _length(source.start, style, header.above))
        titles = listing([" ".join(c for c in row if c)[:60] for row in rows[: header.above]], 3)
        notes += (f"{header.above:,} {'line' if header.above == 1 else 'lines'} above the header left out: {titles}.",)
    if header.headless and not header.commented:
        notes += ("The file has no header line, so its columns are named by position.",)
    return source, replace(header, above=0), notes


def _commented_header(comment: str, style: Style, header: Header, rows: list[list[str]]) -> Header | None:
    """The header where it stands behind a ``#``, as numpy.savetxt writes it: as many names as the table without one has columns."""
    cells = next(records(comment, style), [])
    names = tuple(c.strip() for c in cells)
    width = len(rows[header.above])
    fits = len(names) == width and len(set(names)) == width and not any(is_number(n) for n in names)
    if not fits or (width == 1 and " " in comment):
        return None
    values = header.headless or any(is_number(c) for c in rows[header.above])
    return Header(names, header.above, headless=True, commented=True) if values else None


def _length(text: str, style: Style, count: int) -> int:
    """Characters that the first records take, with the blank lines before the next one."""
    taken: list[str] = []

    def lines() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            taken.append(line)
            yield line

    reader = cell_reader(lines(), style)
    for _ in range(count):
        while not is_row(next(reader), style):
            pass
    return sum(len(line) for line in taken)


def _parse(source: Text, style: Style, header: Header) -> tuple[Any, int]:
    """An Arrow table of texts, and how many rows had an extra separator at their ends."""
    import pyarrow as pa
    import pyarrow.csv as pc

    names = [f"c{i}" for i in range(len(header.names))]
    if style.slow or len(names) == 1:
        return _parse_slowly(source.whole, style, header)
    data = source.utf8
    parsing = pc.ParseOptions(delimiter=style.separator, quote_char=style.quote, newlines_in_values=style.quote.encode() in data)
    typed = pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), null_values=[], strings_can_be_null=False)
    for block in (4 << 20, 1 << 30):  # bytes, which the longest row must not pass
        try:
            reading = pc.ReadOptions(column_names=names, block_size=min(block, len(data) + 1))
            arrow = pc.read_csv(pa.BufferReader(data), read_options=reading, parse_options=parsing, convert_options=typed)
            break
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):  # a row with more or fewer cells; the slow way says which
                return _parse_slowly(source.whole, style, header)
    else:
        raise InputError(f"A row is longer than 1 GB. {LONG_CELLS}")
    return arrow.slice(0 if header.headless else 1).rename_columns(_labels(header.names)), 0


def _trailing(extra: int, rows: int) -> tuple[str, ...]:
    """A note on separators that end rows."""
    ends = "Every data row ends" if extra == rows else f"{extra:,} of {rows:,} data rows {'ends' if extra == 1 else 'end'}"
    return (f"{ends} in an extra separator; the empty cell after it was left out.",) if extra else ()


def _parse_slowly(text: str, style: Style, header: Header) -> tuple[Any, int]:
    import pyarrow as pa

    rows = list(records(text, style))[0 if header.headless else 1 :]
    width = len(header.names)
    extra = [len(r) == width + 1 and not r[-1].strip() for r in rows]
    for number, (row, trailing) in enumerate(zip(rows, extra, strict=True), 1):
        if len(row) != width and not trailing:
            raise ragged(number, len(row), width, last=_run(rows, number, width), headless=header.headless)
    columns = list(zip(*(r[:width] for r in rows), strict=True)) if rows else [()] * width
    safe = [pa.array([c.encode("utf-8", "replace").decode() for c in column], type=pa.string()) for column in columns]
    return pa.table(safe, names=_labels(header.names)), sum(extra)


def _run(rows: list[list[str]], number: int, width: int) -> int:
    """The last of the neighbouring rows that have the same wrong number of cells."""
    last = number
    while last < len(rows) and len(rows[last]) == len(rows[number - 1]) != width:
        last += 1
    return last


def ragged(row: int, cells: int, width: int, *, last: int = 0, headless: bool = False) -> InputError:
    """For a row, or the rows up to the ``last``, with more or fewer cells than the first line."""
    rows = f"Row {row:,} has" if last <= row else f"Rows {row:,} to {last:,} have"
    found = f"{cells} cell" if cells == 1 else f"{cells} cells"
    other = "the first row" if headless else "the header"
    return InputError(f"{rows} {found}, but {other} has {width}. Mend these rows, or quote the cells that hold a separator.", row=row)


def _labels(header: tuple[str, ...]) -> list[str]:
    """Column names that are unique: only one may be without a name, others get their position."""
    blank = [i for i, h in enumerate(header) if not h]
    return [
        h or ("" if i == blank[0] else f"({position})")
        for i, (h, position) in enumerate(zip(header, position_names(len(header)), strict=True))
    ]


def _without_blank_columns(arrow: Any) -> Any:
    """Without columns that have neither name nor content, as a separator at the header's end makes them."""
    import pyarrow.compute as pc

    names = list(arrow.column_names)
    unnamed = [n for n in names if not n or n.startswith("(column ")]
    empty = [
        n for n in unnamed if arrow.num_rows and not pc.any(pc.not_equal(pc.utf8_trim_whitespace(arrow.column(names.index(n))), "")).as_py()
    ]
    kept = arrow.select([i for i, n in enumerate(names) if n not in empty]) if empty else arrow
    named = [n for n in kept.column_names if n.startswith("(column ")]
    if named and "distribution" not in names:  # Weka names the first class alone
        raise InputError(f"Columns without a name hold values: {listing(named)}. Name them in the header line.")
    return kept


def _without_rule(arrow: Any) -> Any:
    """Without the line of dashes under a header, as Markdown has it."""
    first = [c for row in arrow.slice(0, 1).to_pylist() for c in row.values() if c.strip()]
    return arrow.slice(1) if first and all(re.fullmatch(r"\s*:?-{2,}:?\s*", c) for c in first) else arrow


def _without_blank_rows(arrow: Any) -> tuple[Any, int]:
    """Without rows that hold separators only, as spreadsheets write them, and how many there were."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    blank = np.ones(arrow.num_rows, dtype=bool)
    for column in arrow.columns:
        if not blank.any():
            return arrow, 0
        blank &= pc.equal(pc.utf8_trim_whitespace(column), "").to_numpy()
    if arrow.num_rows > 1 and not any(is_number(c) for row in arrow.slice(0, 1).to_pylist() for c in row.values()):
        blank[1] = False  # Orange's row of flags may be blank, under one of types
    return (arrow.filter(pa.array(~blank)), int(blank.sum())) if blank.any() else (arrow, 0)
