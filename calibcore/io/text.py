"""Delimited text: its encoding, its separator, and every cell as it is written; columns are never shifted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.columns import Table, as_table

__all__ = ["NO_TABLE", "decoded", "read_delimited"]

NO_TABLE = "the file is a table"  # the rule that pictures and letters break

_SAMPLE_LINES = 20
_SEPARATORS = (";", ",", "\t", "|")
_SPOKEN = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "bars", " ": "spaces"}
_SNIFF = 1 << 20  # characters looked at before the whole text is parsed


@dataclass(frozen=True, slots=True)
class Text:
    """A text as UTF-8, its beginning decoded, how it was encoded, and a note if that had to be inferred."""

    utf8: bytes
    start: str
    encoding: str
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """All of the text."""
        return self.utf8.decode("utf-8")


def decoded(data: bytes, *, complete: bool = True) -> Text:
    """Text by its byte order mark, else as UTF-8, else as Windows-1252 with a note.

    With ``complete=False`` an unfinished last line is left away.

    Raises
    ------
    InputError
        If the bytes are no text.
    """
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return _text(_from_utf16(data[2:], encoding, complete=complete).encode("utf-8", "replace"), "UTF-16 with byte order mark")
    body = data if complete else data[: data.rfind(b"\n") + 1]
    marked = body.startswith(b"\xef\xbb\xbf")
    body = body[3:] if marked else body
    if body.isascii() or _is_utf8(body):
        return _text(body, "UTF-8 with byte order mark" if marked else "UTF-8")
    note = "The text is not UTF-8, so it was read as Windows-1252: check letters such as é or ß in the names."
    return _text(body.decode("cp1252", errors="replace").encode("utf-8"), "Windows-1252", note)


def _from_utf16(data: bytes, encoding: str, *, complete: bool) -> str:
    try:
        text = data[: len(data) // 2 * 2].decode(encoding, errors="strict" if complete else "ignore")
    except UnicodeDecodeError:
        raise InputError("The file begins like UTF-16 text, but some bytes are not. Save it again as UTF-8.") from None
    return text if complete else text[: text.rfind("\n") + 1]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _text(utf8: bytes, encoding: str, *notes: str) -> Text:
    """Refuses what only happens to decode: bytes of programs and pictures hold control characters."""
    start = utf8[:_SNIFF].decode("utf-8", errors="ignore")
    controls = sum((c < " " and c not in "\t\n\r\f\v\x1b") or c == "\ufffd" for c in start[:4096])
    if b"\x00" in utf8 or controls > 0.02 * len(start[:4096]):
        raise InputError(
            "This is not a table of text: it holds binary data. Save the predictions as CSV, Parquet or JSON Lines.", rule=NO_TABLE
        )
    return Text(utf8, start, encoding, notes)


def read_delimited(data: bytes, name: str, *, complete: bool = True) -> Table:
    """A table from the bytes of CSV, TSV or text with ``;``, ``|`` or blanks between the cells.

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
        raise InputError("The file is empty.", rule=NO_TABLE)
    separator = _separator(source.start)
    header = [h.strip() for h in next(_records(source.start, separator))]
    _check_header(header)
    arrow, trailing = _parse(source, separator, header)
    arrow = _without_blank_columns(arrow)
    if arrow.num_rows == 0:
        raise InputError("The file has a header but no data rows.")
    _quotes_closed(source.utf8, arrow)
    notes = (*source.notes, *(("Every data row ends in an extra separator; the empty cell after it was left out.",) if trailing else ()))
    kind = {"\t": "TSV", ",": "CSV"}.get(separator, f"text with {_SPOKEN[separator]}")
    return as_table(
        arrow,
        name,
        format=kind,
        encoding=source.encoding,
        notes=notes,
        complete=complete,
        rows_in_file=arrow.num_rows if complete else None,
    )


def _records(text: str, separator: str) -> Iterator[list[str]]:
    """Rows of cells, without blank lines."""
    blanks = separator == " "
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=blanks)
    try:
        for row in reader:
            cells = row[:-1] if blanks and row and row[-1] == "" else row  # blanks at the line's end
            if any(cells) or len(cells) > 1:
                yield cells
    except csv.Error as error:
        raise InputError(f"Line {reader.line_num:,} cannot be split into cells ({error}). Check its quotes.") from None


def _first_records(text: str, separator: str) -> list[list[str]]:
    found: list[list[str]] = []
    try:
        for row in _records(text, separator):
            found.append(row)
            if len(found) > _SAMPLE_LINES:
                break
    except InputError:
        pass  # the wrong separator; another one is tried
    return found


def _separator(text: str) -> str:
    """The separator that gives the first lines equal numbers of cells; ``;`` before ``,``."""
    best, fit = "", 0.0
    for separator in _SEPARATORS:
        rows = _first_records(text, separator)
        score = _fit(rows) if rows and len(rows[0]) > 1 else 0.0
        if score > fit:
            best, fit = separator, score
    if best and (fit == 1.0 or _any_number(_first_records(text, best))):
        return best
    blanks = _first_records(text, " ")
    if not best and blanks and len(blanks[0]) > 1 and _fit(blanks) == 1.0 and _has_numbers(blanks):
        return " "
    raise _no_table(text)


def _fit(rows: list[list[str]]) -> float:
    """How well rows agree: 1 if all have the header's width; else the share that has, or half the share of a common width."""
    widths = [len(r) - (len(r) == len(rows[0]) + 1 and not r[-1]) for r in rows[1:]]
    if not widths:
        return 1.0
    equal = widths.count(len(rows[0])) / len(widths)
    common = max(widths, key=widths.count)
    alike = widths.count(common) / len(widths) if common > 1 else 0.0
    return max(equal if equal >= 0.5 else 0.0, alike / 2 if alike >= 0.6 else 0.0)


def _any_number(rows: list[list[str]]) -> bool:
    """Whether some cell below the header is a number: commas alone do not make a letter a table."""
    return any(_is_number(cell.strip().rstrip("%").replace(",", ".")) for row in rows[1:] for cell in row)


def _has_numbers(rows: list[list[str]]) -> bool:
    """Whether some column holds numbers under its header; blanks between words are not a table."""
    return len(rows) > 1 and any(all(len(r) > i and _is_number(r[i]) for r in rows[1:]) for i in range(len(rows[0])))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _no_table(text: str) -> InputError:
    lines = [line.strip() for line in text.splitlines() if line.strip()][: _SAMPLE_LINES + 1]
    if len(lines) > 1 and (all(_is_number(line) for line in lines[1:]) or all(re.fullmatch(r"\w{1,60}", line) for line in lines)):
        sentence = f"The file has only one column ({lines[0][:40]!r}). A label and a probability in each row are needed."
        return InputError(sentence, rule=NO_TABLE)
    return InputError(
        "This is plain text, not a table: its lines have no separator in common. Save the predictions as CSV, Parquet or JSON Lines.",
        rule=NO_TABLE,
    )


def _check_header(header: list[str]) -> None:
    """Every column needs its own name."""
    if not any(header):
        raise InputError("The first line names no column. Add a header line, such as label,probability.")
    if all(_is_number(h) for h in header) and header != [str(i) for i in range(len(header))]:
        raise InputError("The first line holds only numbers, so the columns have no names. Add a header line, such as label,probability.")
    seen: dict[str, int] = {}
    for position, column in enumerate(header, 1):
        if column and seen.setdefault(column, position) != position:
            raise InputError(
                f"Two columns are called {column} (columns {seen[column]} and {position}). Rename one of them.", column=column, value=column
            )


def _parse(source: Text, separator: str, header: list[str]) -> tuple[Any, bool]:
    """An Arrow table of texts, and whether every row had an extra separator at its end."""
    import pyarrow as pa
    import pyarrow.csv as pc

    names = [f"c{i}" for i in range(len(header))]
    if separator == " " or len(names) == 1:
        return _parse_slowly(source.whole, separator, header)
    data = source.utf8
    try:
        arrow = pc.read_csv(
            pa.BufferReader(data),
            read_options=pc.ReadOptions(column_names=names, block_size=4 << 20),
            parse_options=pc.ParseOptions(delimiter=separator, newlines_in_values=b'"' in data),
            convert_options=pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), null_values=[], strings_can_be_null=False),
        )
    except pa.ArrowInvalid:  # a row with more or fewer cells; the slow way says which
        return _parse_slowly(source.whole, separator, header)
    return arrow.slice(1).rename_columns(_labels(header)), False


def _parse_slowly(text: str, separator: str, header: list[str]) -> tuple[Any, bool]:
    import pyarrow as pa

    rows = list(_records(text, separator))[1:]
    width = len(header)
    extra = [len(r) == width + 1 and not r[-1].strip() for r in rows]
    for number, (row, trailing) in enumerate(zip(rows, extra, strict=True), 1):
        if len(row) != width and not trailing:
            raise _ragged(number, len(row), width, last=_run(rows, number, width))
    columns = list(zip(*(r[:width] for r in rows), strict=True)) if rows else [()] * width
    safe = [pa.array([c.encode("utf-8", "replace").decode() for c in column], type=pa.string()) for column in columns]
    return pa.table(safe, names=_labels(header)), any(extra)


def _run(rows: list[list[str]], number: int, width: int) -> int:
    """The last of the neighbouring rows that have the same wrong number of cells."""
    last = number
    while last < len(rows) and len(rows[last]) == len(rows[number - 1]) != width:
        last += 1
    return last


def _ragged(row: int, cells: int, width: int, *, last: int | None = None) -> InputError:
    rows = f"Row {row:,} has" if last in (None, row) else f"Rows {row:,} to {last:,} have"
    found = f"{cells} cell" if cells == 1 else f"{cells} cells"
    return InputError(f"{rows} {found}, but the header has {width}. Mend these rows, or quote the cells that hold a separator.", row=row)


def _labels(header: list[str]) -> list[str]:
    """Column names that are unique: only one may be without a name, others get their position."""
    blank = [i for i, h in enumerate(header) if not h]
    return [h or ("" if i == blank[0] else f"(column {i + 1})") for i, h in enumerate(header)]


def _quotes_closed(data: bytes, arrow: Any) -> None:
    """A quote that nothing closes makes one cell of the rest of the file."""
    if data.count(b'"') % 2 == 0:
        return
    last = arrow.slice(arrow.num_rows - 1).to_pylist()[0]
    column = next((n for n, cell in last.items() if "\n" in cell.strip()), None)
    if column is not None:
        raise InputError(
            f"Row {arrow.num_rows:,}: a quote is opened in column {column!r} and never closed, so the rest of the file is one cell. "
            "Close or remove it.",
            row=arrow.num_rows,
            column=column,
        )


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
    if named:
        raise InputError(f"Columns without a name hold values: {listing(named)}. Name them in the header line.")
    return kept
