"""What an xlsx workbook says about its cells beside their values: formulas that nobody computed, totals below tables, hidden rows."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from posixpath import dirname, join, normpath

__all__ = ["NO_MARKS", "Marks", "column_number", "sheet_marks"]

_BOOK = "xl/workbook.xml"
_REST = r"([^<>]{0,2000})>"  # of a tag; bounded, so that no text makes the search slow
_SHEET = re.compile(rf"<(?:\w+:)?sheet\b{_REST}".encode())
_LINK = re.compile(rf"<(?:\w+:)?Relationship\b{_REST}".encode())
_TABLE = re.compile(rf"<(?:\w+:)?table\b{_REST}".encode())
_ROW = re.compile(rf"<(?:\w+:)?row\b{_REST}".encode())
_ANY_FORMULA = re.compile(rb"<(?:\w{1,20}:)?f[\s/>]")
_FORMULA = re.compile(  # attributes of the cell, its value
    rb"<(?:\w+:)?c\b([^<>]{0,2000})>\s*<(?:\w+:)?f\b(?:[^<>]*/>|[^<>]*>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v\b[^<>]*>([^<]*)</(?:\w+:)?v>)?"
)
_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})")
_CELL = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_RECALCULATE = re.compile(rb"""\bfullCalcOnLoad\s*=\s*["'](?:1|true)["']""")
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Marks:
    """What is said about one sheet.

    Attributes
    ----------
    uncomputed : tuple of (row, column)
        Cells, counted from 0, with a formula whose value is not in the file.
    totals : tuple of (row, first column, last column)
        Rows of totals that belong to a table.
    hidden : int
        How many rows with cells are hidden.
    """

    uncomputed: tuple[Place, ...] = ()
    totals: tuple[tuple[int, int, int], ...] = ()
    hidden: int = 0


NO_MARKS = Marks()


def sheet_marks(data: bytes) -> dict[str, Marks]:
    """Marks by the name of the sheet; empty for workbooks of other kinds, and where parts cannot be found."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            return dict(_marks(file)) if _BOOK in file.namelist() else {}
    except (zipfile.BadZipFile, KeyError, OSError, ValueError):
        return {}


def _marks(file: zipfile.ZipFile) -> Iterator[tuple[str, Marks]]:
    book = file.read(_BOOK)
    recalculate = _RECALCULATE.search(book) is not None
    parts = _links(file, _BOOK)
    for match in _SHEET.finditer(book):
        about = _attributes(match[1])
        part = parts.get(about.get("id", ""), "")
        if part in file.namelist():
            content = file.read(part)
            tables = [p for p in _links(file, part).values() if "/tables/" in p and p in file.namelist()]
            totals = tuple(t for p in tables for t in _totals(file.read(p)))
            yield about.get("name", ""), Marks(tuple(_uncomputed(content, recalculate=recalculate)), totals, _hidden(content))


def _links(file: zipfile.ZipFile, part: str) -> dict[str, str]:
    """Id → part that a part of the workbook refers to."""
    name = join(dirname(part), "_rels", part.rpartition("/")[2] + ".rels")
    found = [_attributes(m[1]) for m in _LINK.finditer(file.read(name))] if name in file.namelist() else []
    return {a.get("Id", ""): normpath(join("/", dirname(part), a.get("Target", ""))).lstrip("/") for a in found}


def _attributes(text: bytes) -> dict[str, str]:
    """Attributes of an XML tag, without the prefixes of their names."""
    pairs = re.findall(r"""([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""", text.decode("utf-8", "replace"))
    return {key.rpartition(":")[2]: unescape(double or single) for key, double, single in pairs}


def _uncomputed(sheet: bytes, *, recalculate: bool) -> Iterator[Place]:
    """Cells of formulas without a value; all of them where each has the 0 that a library writes for a program to replace."""
    cells = [(_attributes(m[1]), m[2]) for m in _FORMULA.finditer(sheet)] if _ANY_FORMULA.search(sheet) else []
    every = recalculate and len(cells) > 1 and all(value == b"0" and "t" not in about for about, value in cells)
    for about, value in cells:
        at = _CELL.fullmatch(about.get("r", ""))
        if at and (every or (not value and about.get("t") != "str")):  # an empty text is a value
            yield int(at[2]) - 1, column_number(at[1]) - 1


def _hidden(sheet: bytes) -> int:
    """How many rows with cells are hidden."""
    if b"hidden" not in sheet:
        return 0
    rows = [m[1] for m in _ROW.finditer(sheet) if b"hidden" in m[1] and not m[1].endswith(b"/")]
    return sum(_attributes(row).get("hidden") in ("1", "true") for row in rows)


def _totals(table: bytes) -> Iterator[tuple[int, int, int]]:
    for match in _TABLE.finditer(table):
        about = _attributes(match[1])
        span = _RANGE.fullmatch(about.get("ref", ""))
        rows = about.get("totalsRowCount", "0")
        for back in range(min(int(rows), 2) if span and rows.isdigit() else 0):
            yield int(span[4]) - 1 - back, column_number(span[1]) - 1, column_number(span[3]) - 1  # type: ignore[index]


def column_number(letters: str) -> int:
    """1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
