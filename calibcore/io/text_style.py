"""How the cells of a delimited text are set apart, and its rows of cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from calibcore.errors import InputError
from calibcore.io.encodings import NO_TABLE
from calibcore.io.headers import find_header, is_number, with_row_names
from calibcore.io.vocabulary import is_named

__all__ = [
    "LONG_CELLS",
    "LONG_SAMPLE",
    "MAX_TITLES",
    "SAMPLE_LINES",
    "Style",
    "cell_reader",
    "first_records",
    "is_row",
    "records",
    "style_of",
]

SAMPLE_LINES = 20
LONG_SAMPLE = 2000  # lines of a single column
MAX_TITLES = 30  # lines above a header
_SEPARATORS = (";", ",", "\t", "|")
LONG_CELLS = "Check whether a quote is never closed, or leave out the column of long texts."
_QUOTED = re.compile(r'(?<![^\s;,|])"(?:[^"]++|"")*+"(?![^\s;,|])')


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


def cell_reader(lines: Iterator[str], style: Style) -> Any:
    """Python's own reader of lines, which never meets a separator where each line is one cell."""
    if style.separator == "\n":
        return csv.reader(lines, delimiter="\x1f", quotechar=style.quote)
    return csv.reader(lines, delimiter=style.separator, quotechar=style.quote, skipinitialspace=style.separator == " " or style.skip_blanks)


def is_row(row: list[str], style: Style) -> bool:
    """Whether a row is one; blank lines are none."""
    return any(c.strip() for c in row) or (len(row) > 1 and style.separator != " ")


def records(text: str, style: Style) -> Iterator[list[str]]:
    """Rows of cells, without blank lines."""
    blanks = style.separator == " "
    reader = cell_reader(io.StringIO(text, newline=""), style)
    try:
        for row in reader:
            cells = row[:-1] if blanks and row and row[-1] == "" else row  # blanks at the line's end
            if is_row(cells, style):
                yield cells
    except csv.Error as error:
        if "field limit" in str(error):
            raise InputError(f"Line {reader.line_num:,} holds a cell of more than {csv.field_size_limit():,} signs. {LONG_CELLS}") from None
        raise InputError(f"Line {reader.line_num:,} cannot be split into cells ({error}). Check its quotes.") from None


def first_records(text: str, style: Style, most: int = SAMPLE_LINES) -> list[list[str]]:
    """The first of `records`, at most one more than ``most``; fewer where the style does not fit."""
    found: list[list[str]] = []
    try:
        for row in records(text, style):
            found.append(row)
            if len(found) > most:
                break
    except InputError:
        pass  # the wrong separator; another one is tried
    return found


def style_of(text: str, declared: str | None) -> Style:
    """The separator that gives the first lines equal numbers of cells (``;`` before ``,``), and how cells are quoted."""
    separator = declared if declared in (*_SEPARATORS, " ") else _separator(text)
    if separator == "\n":
        return Style(separator)
    start = "\n".join(text.splitlines()[:SAMPLE_LINES])
    mark = re.escape(separator)
    spaced = separator != " " and re.search(rf'{mark} +"[^"\n]*"\s*({mark}|$)', start, re.MULTILINE) is not None
    single = '"' not in start and re.search(rf"(^|{mark})\s*'[^'\n]*'\s*({mark}|$)", start, re.MULTILINE) is not None
    return Style(separator, "'" if single else '"', skip_blanks=spaced)


def _separator(text: str) -> str:
    end = text.rfind('"') + 2  # what is quoted ends before
    fits = {}
    for separator in _SEPARATORS:
        start = _QUOTED.sub(lambda cell: cell[0].replace(separator, "_"), text[:end])  # noqa: B023 - done at once
        rows, titles = _below_titles(start + text[end:], separator)
        fits[separator] = _fit(rows) if rows and len(rows[0]) > 1 else 0.0, -titles  # fewer titles are better of two that fit
    best = max(fits, key=lambda separator: fits[separator])
    if fits[best][0] == 1.0 or (fits[best][0] and _any_number(_table_rows(text, best))):
        return best
    known = fits[best][0] > 0
    blanks = _table_rows(text, " ")
    if not known and blanks and len(blanks[0]) > 1 and _fit(blanks) == 1.0 and _has_numbers(blanks):
        return " "
    if not known and _is_column(text):
        return "\n"
    raise _no_table(text)


def _table_rows(text: str, separator: str) -> list[Sequence[str]]:
    """The first rows, without the titles above their header."""
    return _below_titles(text, separator)[0]


def _below_titles(text: str, separator: str) -> tuple[list[Sequence[str]], int]:
    """The same, and how many titles there are."""
    rows = with_row_names(first_records(text, Style(separator), SAMPLE_LINES + MAX_TITLES))
    header = find_header(rows, ragged=True)
    above = 0 if header.headless else header.above
    return list(rows[above:][: SAMPLE_LINES + 1]), above


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
    lines = [line.strip() for line in text.splitlines() if line.strip()][: LONG_SAMPLE + 1]
    if len(lines) < 2:
        return False
    if all(is_number(line) for line in lines[1:]):
        return len(lines[0]) <= 100
    body = lines[1:] if is_named(lines[0], "label", exact=True) else lines
    return all(len(line) <= 100 for line in lines) and (body is not lines or len(set(body)) * 2 <= len(body))


def _no_table(text: str) -> InputError:
    lines = [line.strip() for line in text.splitlines() if line.strip()][: SAMPLE_LINES + 1]
    if len(lines) > 1 and all(re.fullmatch(r"\w{1,60}", line) for line in lines):
        sentence = f"The file has only one column ({lines[0][:40]!r}). A label and a probability in each row are needed."
        return InputError(sentence, rule=NO_TABLE)
    return InputError(
        "This is plain text, not a table: its lines have no separator in common. Save the predictions as CSV, Parquet or JSON Lines.",
        rule=NO_TABLE,
    )
