"""Delimited text: its separator, its header, and every cell as it is written; columns are never shifted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.columns import Table, as_table
from calibcore.io.encodings import NO_TABLE, Text, decoded
from calibcore.io.headers import Header, check_names, find_header, is_number, position_names, with_row_names
from calibcore.io.quotes import check_quotes
from calibcore.io.vocabulary import is_named
from calibcore.io.weka_text import plain_output

__all__ = ["LONG_CELLS", "NO_TABLE", "decoded", "ragged", "read_delimited"]

_SAMPLE_LINES = 20
_LONG_SAMPLE = 2000  # lines of a single column
_MAX_TITLES = 30  # lines above a header
_SEPARATORS = (";", ",", "\t", "|")
_SPOKEN = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "bars", " ": "spaces", "\n": "one column"}
_DECLARED = re.compile(r'"?sep=(.)"?[ ;,\t]*\r?\n?', re.IGNORECASE)
LONG_CELLS = "Check whether a quote is never closed, or leave out the column of long texts."
_QUOTED = re.compile(r'(?<![^\s;,|])"(?:[^"]++|"")*+"(?![^\s;,|])')
_LIBSVM = re.compile(r"\S+(\s+\d+:[+-]?[\d.][\d.eE+-]*)+\s*(#.*)?")


@dataclass(frozen=True, slots=True)
class Style:
    """How cells are set apart: the separator, the quote sign, and whether blanks after a separator do not count."""

    separator: str
    quote: str = '"'
    skip_blanks: bool = False

    @property
    def slow(self) -> bool:
        """Whether only the slow parser knows this style."""
        return self.separator in " \n" or self.skip_blanks


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
    style = _style(source.start, declared)
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
    lines = list(islice((line for line in source.start.splitlines() if line.strip()), _SAMPLE_LINES))
    if len(lines) < 2 or not all(_LIBSVM.fullmatch(line) for line in lines):
        return source, ()
    labels = "\n".join(line.split(maxsplit=1)[0] for line in source.whole.splitlines() if line.strip()) + "\n"
    text = Text(labels.encode("utf-8"), labels, source.encoding, source.notes)
    return text, ("The lines are in LIBSVM's format; the label of each was read, its features were left out.",)


def _located(source: Text, style: Style, comments: tuple[str, ...]) -> tuple[Text, Header, tuple[str, ...]]:
    """The text from its header on, the header, and notes on what stands above it."""
    rows = _first_records(source.start, style, _LONG_SAMPLE if style.separator == "\n" else _SAMPLE_LINES + _MAX_TITLES)
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
    cells = next(_records(comment, style), [])
    names = tuple(c.strip() for c in cells)
    width = len(rows[header.above])
    fits = len(names) == width and len(set(names)) == width and not any(is_number(n) for n in names)
    if not fits or (width == 1 and " " in comment):
        return None
    values = header.headless or any(is_number(c) for c in rows[header.above])
    return Header(names, header.above, headless=True, commented=True) if values else None


def _length(text: str, style: Style, records: int) -> int:
    """Characters that the first records take, with the blank lines before the next one."""
    taken: list[str] = []

    def lines() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            taken.append(line)
            yield line

    reader = _reader(lines(), style)
    for _ in range(records):
        while not _counts(next(reader), style):
            pass
    return sum(len(line) for line in taken)


def _reader(lines: Iterator[str], style: Style) -> Any:
    if style.separator == "\n":
        return csv.reader(lines, delimiter="\x1f", quotechar=style.quote)
    return csv.reader(lines, delimiter=style.separator, quotechar=style.quote, skipinitialspace=style.separator == " " or style.skip_blanks)


def _counts(row: list[str], style: Style) -> bool:
    """Whether a row is one; blank lines are none."""
    return any(c.strip() for c in row) or (len(row) > 1 and style.separator != " ")


def _records(text: str, style: Style) -> Iterator[list[str]]:
    """Rows of cells, without blank lines."""
    blanks = style.separator == " "
    reader = _reader(io.StringIO(text, newline=""), style)
    try:
        for row in reader:
            cells = row[:-1] if blanks and row and row[-1] == "" else row  # blanks at the line's end
            if _counts(cells, style):
                yield cells
    except csv.Error as error:
        if "field limit" in str(error):
            raise InputError(f"Line {reader.line_num:,} holds a cell of more than {csv.field_size_limit():,} signs. {LONG_CELLS}") from None
        raise InputError(f"Line {reader.line_num:,} cannot be split into cells ({error}). Check its quotes.") from None


def _first_records(text: str, style: Style, most: int = _SAMPLE_LINES) -> list[list[str]]:
    found: list[list[str]] = []
    try:
        for row in _records(text, style):
            found.append(row)
            if len(found) > most:
                break
    except InputError:
        pass  # the wrong separator; another one is tried
    return found


def _style(text: str, declared: str | None) -> Style:
    """The separator that gives the first lines equal numbers of cells (``;`` before ``,``), and how cells are quoted."""
    separator = declared if declared in (*_SEPARATORS, " ") else _separator(text)
    if separator == "\n":
        return Style(separator)
    start = "\n".join(text.splitlines()[:_SAMPLE_LINES])
    mark = re.escape(separator)
    spaced = separator != " " and re.search(rf'{mark} +"[^"\n]*"\s*({mark}|$)', start, re.MULTILINE) is not None
    single = '"' not in start and re.search(rf"(^|{mark})\s*'[^'\n]*'\s*({mark}|$)", start, re.MULTILINE) is not None
    return Style(separator, "'" if single else '"', skip_blanks=spaced)


def _separator(text: str) -> str:
    best, fit, titles, end = "", 0.0, 0, text.rfind('"') + 2  # what is quoted ends before
    for separator in _SEPARATORS:
        start = _QUOTED.sub(lambda cell: cell[0].replace(separator, "_"), text[:end])  # noqa: B023 - done at once
        rows, above = _below_titles(start + text[end:], separator)
        score = _fit(rows) if rows and len(rows[0]) > 1 else 0.0
        if (score, -above) > (fit, -titles) and score:  # what makes no title of the first line is the better one of two that fit
            best, fit, titles = separator, score, above
    if best and (fit == 1.0 or _any_number(_table_rows(text, best))):
        return best
    blanks = _table_rows(text, " ")
    if not best and blanks and len(blanks[0]) > 1 and _fit(blanks) == 1.0 and _has_numbers(blanks):
        return " "
    if not best and _is_column(text):
        return "\n"
    raise _no_table(text)


def _table_rows(text: str, separator: str) -> list[Sequence[str]]:
    """The first rows, without the titles above their header."""
    return _below_titles(text, separator)[0]


def _below_titles(text: str, separator: str) -> tuple[list[Sequence[str]], int]:
    """The same, and how many titles there are."""
    rows = with_row_names(_first_records(text, Style(separator), _SAMPLE_LINES + _MAX_TITLES))
    header = find_header(rows, ragged=True)
    above = 0 if header.headless else header.above
    return list(rows[above:][: _SAMPLE_LINES + 1]), above


def _fit(rows: Sequence[Sequence[str]]) -> float:
    """How well rows agree: 1 if all have the header's width; else the share that has, or half the share of a common width."""
    widths = [len(r) - (len(r) == len(rows[0]) + 1 and not r[-1]) for r in rows[1:]]
    if not widths:
        return 1.0
    equal = widths.count(len(rows[0])) / len(widths)
    common = max(widths, key=widths.count)
    alike = widths.count(common) / len(widths) if common > 1 else 0.0
    return max(equal if equal >= 0.5 else 0.0, alike / 2 if alike >= 0.6 else 0.0)


def _any_number(rows: Sequence[Sequence[str]]) -> bool:
    """Whether some cell below the header is a number: commas alone do not make a letter a table."""
    return any(is_number(cell) for row in rows[1:] for cell in row)


def _has_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Whether some column holds numbers under its header; blanks between words are not a table."""
    return len(rows) > 1 and any(all(len(r) > i and is_number(r[i]) for r in rows[1:]) for i in range(len(rows[0])))


def _is_column(text: str) -> bool:
    """Whether lines are the cells of one column: numbers, or short names that come again."""
    lines = [line.strip() for line in text.splitlines() if line.strip()][: _LONG_SAMPLE + 1]
    if len(lines) < 2:
        return False
    if all(is_number(line) for line in lines[1:]):
        return len(lines[0]) <= 100
    body = lines[1:] if is_named(lines[0], "label", exact=True) else lines
    return all(len(line) <= 100 for line in lines) and (body is not lines or len(set(body)) * 2 <= len(body))


def _no_table(text: str) -> InputError:
    lines = [line.strip() for line in text.splitlines() if line.strip()][: _SAMPLE_LINES + 1]
    if len(lines) > 1 and all(re.fullmatch(r"\w{1,60}", line) for line in lines):
        sentence = f"The file has only one column ({lines[0][:40]!r}). A label and a probability in each row are needed."
        return InputError(sentence, rule=NO_TABLE)
    return InputError(
        "This is plain text, not a table: its lines have no separator in common. Save the predictions as CSV, Parquet or JSON Lines.",
        rule=NO_TABLE,
    )


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

    rows = list(_records(text, style))[0 if header.headless else 1 :]
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
