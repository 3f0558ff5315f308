"""Workbooks (xlsx, xlsm, xlsb, xls, ods) → tables, one for each visible sheet; values only, never formulas or macros."""

from __future__ import annotations

import datetime as dt
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.columns import Table, as_table
from calibcore.io.encodings import NO_TABLE
from calibcore.io.headers import Header, check_names, find_header, is_number
from calibcore.io.records import typed_column
from calibcore.io.sheet_marks import NO_MARKS, Marks, column_number, sheet_marks

__all__ = ["check_cells", "is_old_workbook", "workbook_tables"]

_MAX_CELLS = 30_000_000  # filled or not, from the first row and column on
_MAX_SHEETS = 200
_SAMPLE_ROWS = 60
_SECONDS = 120
_SAVE = "Save the sheet as CSV."
_REFERENCE = re.compile(rb"""[\s:]r\s*=\s*["']\$?([A-Za-z]{0,3})\$?(\d{1,8})["']""")
_BLANK = ("", None)
_LOCKED = "This workbook has a password, which is not opened. Save a copy without the password."
_DAMAGED = f"This workbook is damaged or incomplete, and cannot be opened. {_SAVE}"


def is_old_workbook(data: bytes) -> bool:
    """Whether bytes are a compound file with an Excel workbook of before 2007."""
    names = ("Workbook", "Book")
    return data.startswith(b"\xd0\xcf\x11\xe0") and any(n.encode("utf-16-le") + b"\x00" in data for n in names)


def workbook_tables(data: bytes) -> tuple[list[Table], list[str]]:
    """The tables of a workbook's sheets, and the sheets that hold none.

    Raises
    ------
    InputError
        If the workbook is damaged or has a password, no sheet holds a table, or a table has a fault.
    """
    shown, hidden, cells = _read(data)
    marks = sheet_marks(data)
    if len(shown) > _MAX_SHEETS:
        raise InputError(f"The workbook has {len(shown):,} sheets; at most {_MAX_SHEETS} are read. Keep only the predictions.")
    tables, others = [], [f"{sheet} (hidden)" for sheet in hidden]
    for sheet, found in zip(shown, cells, strict=False):
        try:
            tables.append(_sheet_table(found, sheet, marks.get(sheet, NO_MARKS)))
        except InputError as error:
            if error.rule != NO_TABLE:
                raise InputError(f"Sheet {sheet!r}: {error}", row=error.row, column=error.column) from None
            others.append(sheet)
    if not tables:
        raise InputError(f"No sheet of this workbook holds a table{_sheets(shown)}. Give a header row and data below it.")
    return tables, others


def _sheets(names: list[str]) -> str:
    return f"; its sheets are {listing(names, 4)}" if names else ""


def _read(data: bytes) -> tuple[list[str], list[str], Iterable[dict[str, Any]]]:
    """The names of the visible and the hidden sheets, and where cells of the visible ones begin, read by a process of its own."""
    command = [sys.executable, "-P", str(Path(__file__).with_name("sheet_reader.py")), str(_MAX_SHEETS)]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise InputError(f"The workbook takes more than {_SECONDS} seconds to open. {_SAVE}") from None
    lines = done.stdout.split(b"\n")
    if not lines[0] and b"No module named" in done.stderr:
        raise InputError("Workbooks are read by the package python-calamine, which is not installed (pip install 'calibcore[dashboard]').")
    if done.returncode or not lines[0]:
        raise InputError(_DAMAGED)
    about = json.loads(lines[0])
    if "error" in about:
        raise InputError(_LOCKED if about["error"] == "password" else _DAMAGED)
    return about["shown"], about["hidden"], (json.loads(line, object_hook=_moment) for line in lines[1:] if line)


def _moment(value: dict[str, Any]) -> Any:
    return dt.datetime.fromisoformat(value["t"]) if "t" in value else value


class _Uncomputed(str):
    """A cell with a formula whose value is not in the file: ``=B2``."""

    __slots__ = ()


def _marked(found: dict[str, Any], marks: Marks) -> tuple[list[list[Any]], int]:
    """A sheet's rows without cells of blanks alone and without rows of totals, which are counted; formulas without values are marked."""
    (top, left), rows = found["from"], found["rows"]
    rows = [["" if _is_blank(c) else c for c in row] if any(map(_is_blank, row)) else row for row in rows]
    totals = [(row - top, first - left, last - left) for row, first, last in marks.totals if 0 <= row - top < len(rows)]
    for row, first, last in totals:
        rows[row] = ["" if first <= i <= last else c for i, c in enumerate(rows[row])]
    for row, column in marks.uncomputed:
        if 0 <= row - top < len(rows) and 0 <= column - left < len(rows[row - top]):
            rows[row - top][column - left] = _Uncomputed(f"={_letters(column)}{row + 1}")
    while rows and all(c in _BLANK for c in rows[-1]):
        rows.pop()
    return rows, len(totals)


def _is_blank(cell: Any) -> bool:
    """Whether a cell holds nothing but blanks, which nobody sees."""
    return isinstance(cell, str) and cell.isspace()


def _letters(column: int) -> str:
    """A for 0, AA for 26."""
    before, last = divmod(column, 26)
    return (_letters(before - 1) if before else "") + chr(65 + last)


def _sheet_table(found: dict[str, Any], name: str, marks: Marks) -> Table:
    """The table of a sheet's cells: titles above its header and remarks below a blank line are left out, with notes."""
    if "error" in found:
        raise InputError(f"A cell holds the error {found['error']}, which is not read. Mend its formula, or save the sheet as CSV.")
    rows, totals = _marked(found, marks)
    rows, remarks = _without_remarks(rows)
    filled = [row for row in rows if any(c not in _BLANK for c in row)]
    if not filled:
        raise InputError("The sheet is empty.", rule=NO_TABLE)
    header = find_header([[_text(c) for c in row] for row in filled[:_SAMPLE_ROWS]])
    data = filled[header.first :]
    for cell in filled[header.above]:
        _value(cell)  # names are values as well
    names = _names(header, data, filled[header.above])
    if len(names) == 1 and not _is_column(data):
        raise InputError("The sheet holds text, not a table.", rule=NO_TABLE)
    check_names([names.get(i, "") for i in range(max(names) + 1)])
    if not data:
        raise InputError("The sheet has a header but no data rows. Give it its rows.", rule=NO_TABLE)
    import pyarrow as pa

    columns = [typed_column([_value(row[i]) if i < len(row) else None for row in data]) for i in names]
    return as_table(
        pa.table(columns, names=list(names.values())),
        name,
        format="workbook",
        headless=header.headless,
        notes=(*_notes(filled, header, remarks), *_more_notes(_blank_between(rows, header.first), totals, marks.hidden)),
    )


def _without_remarks(rows: list[list[Any]]) -> tuple[list[list[Any]], int]:
    """Without lines with a single filled cell, a text, that follow a blank line after a wider table, and how many there are."""
    end = len(rows)
    while end and _is_remark([c for c in rows[end - 1] if c not in _BLANK]):
        end -= 1
    tail = [sum(c not in _BLANK for c in row) for row in rows[end:]]
    return (rows[:end], sum(tail)) if end and tail and tail[0] == 0 else (rows, 0)


def _is_remark(cells: list[Any]) -> bool:
    """Whether a row is blank or holds one text."""
    return not cells or (len(cells) == 1 and isinstance(cells[0], str) and not is_number(cells[0]))


def _is_column(data: list[list[Any]]) -> bool:
    """Whether a sheet with one column holds numbers, or names that come again."""
    cells = [c for row in data for c in row if c not in _BLANK]
    return bool(cells) and (not any(isinstance(c, str) for c in cells) or len(set(cells)) * 2 <= len(cells))


def _names(header: Header, data: Sequence[Sequence[Any]], row: Sequence[Any]) -> dict[int, str]:
    """Position → name of the columns that have a name or content."""
    width = max((len(r) for r in data), default=len(row))
    names = {i: header.names[i] if i < len(header.names) else "" for i in range(max(width, len(header.names)))}
    used = {i for i in names if names[i] or any(i < len(r) and r[i] not in _BLANK for r in data)}
    if header.headless:
        return {i: n for i, n in names.items() if any(i < len(r) and r[i] not in _BLANK for r in data)}
    first = min(used)
    blank = [i for i in sorted(used) if not names[i] and i != first]
    if blank:
        raise InputError(f"Columns without a name hold values: {listing([f'column {i + 1}' for i in blank])}. Name them in the header row.")
    return {i: names[i] for i in sorted(used)}


def _notes(filled: list[list[Any]], header: Header, remarks: int) -> tuple[str, ...]:
    notes: list[str] = []
    if header.above:
        titles = [" ".join(_text(c) for c in row if c not in _BLANK)[:60] for row in filled[: header.above]]
        lines = "1 line" if header.above == 1 else f"{header.above} lines"
        notes.append(f"{lines} above the header left out: {listing(titles, 3)}.")
    if header.headless:
        notes.append("The sheet has no header row, so its columns are named by position.")
    if remarks:
        notes.append(f"{remarks} {'line' if remarks == 1 else 'lines'} below the table left out.")
    return tuple(notes)


def _blank_between(rows: list[list[Any]], first: int) -> int:
    """How many blank rows part the table's rows, the first of which comes after some filled ones."""
    places = [i for i, row in enumerate(rows) if any(c not in _BLANK for c in row)][first:]
    return places[-1] - places[0] + 1 - len(places) if places else 0


def _more_notes(blank: int, totals: int, hidden: int) -> tuple[str, ...]:
    """Notes on rows that were left out, or that are not seen in the sheet."""
    notes: list[str] = []
    if blank:
        notes.append(f"{blank:,} {'row' if blank == 1 else 'rows'} without any content left out.")
    if totals:
        notes.append("The table's row of totals was left out.")
    if hidden:
        notes.append(
            f"{hidden:,} {'row that is' if hidden == 1 else 'rows that are'} hidden in the sheet, by a filter perhaps, read as well."
        )
    return tuple(notes)


def _text(cell: Any) -> str:
    """A cell as text; whole numbers without a decimal point."""
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53 else str(cell)


def _value(cell: Any) -> Any:
    """A cell's value; blank ones and Excel's errors are absent."""
    if cell in _BLANK or (isinstance(cell, str) and re.fullmatch(r"#(N/A|DIV/0!|NULL!|NUM!|REF!|VALUE!|NAME\?)", cell)):
        return None
    if isinstance(cell, _Uncomputed):
        raise InputError(
            f"Cell {cell[1:]} holds a formula whose value is not in the file, since no spreadsheet program has computed it yet. "
            "Save the workbook again after recalculating all of it (Ctrl+Alt+F9 in Excel, Ctrl+Shift+F9 in LibreOffice)."
        )
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    return cell


# --- sizes, looked at before a reader takes memory for a sheet -------------------------------------------------------------


def check_cells(name: str, data: bytes) -> None:
    """InputError if a part of a packed workbook would fill more cells than are read."""
    if name.endswith(".xml") and "worksheets/" in name:
        _bounded(_xlsx_extent(data))
    elif name.endswith(".bin") and "worksheets/" in name:
        _bounded(_xlsb_extent(data))
    elif name == "content.xml":
        for extent in _ods_extents(data):
            _bounded(extent)


def _bounded(extent: tuple[int, int]) -> None:
    rows, columns = extent
    if rows * columns > _MAX_CELLS:
        raise InputError(
            f"A sheet reaches to row {rows:,} and column {columns:,}, more than {_MAX_CELLS:,} cells. Save the table as CSV or Parquet."
        )


def _xlsx_extent(data: bytes) -> tuple[int, int]:
    rows, letters = 1, set()
    for match in _REFERENCE.finditer(data):
        letters.add(match[1].upper())
        rows = max(rows, int(match[2]))
    return rows, max((column_number(x.decode()) for x in letters), default=1)


def _xlsb_extent(data: bytes) -> tuple[int, int]:
    """Rows and columns that the records of rows (0) and cells (1 to 11) name."""
    rows, columns, at = 1, 1, 0
    while at < len(data):
        kind, at = _varint(data, at, 2)
        size, at = _varint(data, at, 4)
        if kind <= 11 and size >= 4:
            number = int.from_bytes(data[at : at + 4], "little") + 1
            rows, columns = (max(rows, number), columns) if kind == 0 else (rows, max(columns, number))
        at += size
    return rows, columns


def _varint(data: bytes, at: int, most: int) -> tuple[int, int]:
    value = 0
    for i in range(most):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            break
    return value, at


class _Extents:
    """Rows and columns up to the last filled cell of each table in an OpenDocument text; repeats are counted, not made."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int]] = []
        self.row = self.column = self.repeat = 0
        self.rows = self.columns = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition(":")[2]
        if kind == "table":
            self.row = self.rows = self.columns = 0
        elif kind == "table-row":
            self.column, self.repeat = 0, _times(attributes, "number-rows-repeated")
        elif kind in ("table-cell", "covered-table-cell"):
            self.column += _times(attributes, "number-columns-repeated")
            if any(k.endswith(("value-type", "formula")) for k in attributes):
                self.columns = max(self.columns, self.column)
                self.rows = self.row + self.repeat

    def end(self, tag: str) -> None:
        kind = tag.rpartition(":")[2]
        if kind == "table-row":
            self.row += self.repeat
        elif kind == "table":
            self.found.append((self.rows, self.columns))


def _times(attributes: dict[str, str], name: str) -> int:
    text = next((v for k, v in attributes.items() if k.endswith(name)), "1")
    return int(text) if text.isdigit() and len(text) < 12 else 1


def _ods_extents(data: bytes) -> Iterable[tuple[int, int]]:
    extents, parser = _Extents(), expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = extents.start, extents.end
    try:
        parser.Parse(data, True)
    except expat.ExpatError:
        raise InputError(_DAMAGED) from None
    return extents.found
