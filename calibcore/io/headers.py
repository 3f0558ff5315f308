"""Where a table begins in rows of cells: titles and comments above the header, and tables that have no header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibcore.errors import InputError

__all__ = ["Header", "check_names", "check_width", "find_header", "is_number", "position_names", "with_row_names"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+|\d*,\d+)([eE][+-]?\d+)?%?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
_COMPACT = re.compile(r"(?:[mcwi][DCSTB]?|[DCSTB])#(.+)")
_FRACTION = re.compile(r"[+-]?\d*[.,]\d+([eE][+-]?\d+)?")
_WEKA = frozenset(("inst#", "actual", "predicted", "distribution"))  # the names of further classes are left out
_LINES = re.compile(r"\s*[\r\n\t]\s*")
_MAX_COLUMNS = 20_000
_MISSING = frozenset(("na", "n/a", "<na>", "nan", "null", "none", "?", "."))
Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Header:
    """Where the data are: ``above`` rows are titles, then comes the header, unless the table is ``headless``.

    ``commented`` says that the names were in a comment above the data.
    """

    names: tuple[str, ...]
    above: int = 0
    headless: bool = False
    commented: bool = False

    @property
    def first(self) -> int:
        """Index of the first data row."""
        return self.above + (not self.headless)


def find_header(rows: Rows, *, ragged: bool = False) -> Header:
    """The header of a table's first rows.

    Parameters
    ----------
    rows : sequence of rows of str
        The first rows, without blank ones.
    ragged : bool
        Rows of different lengths are the table's fault, not the file's nature (delimited text).

    Notes
    -----
    The first row with the most filled cells is the header, if it holds names.  If it holds values, the header is a row of
    names above it that lacks at most one name, as above a saved index; without such a row there is no header.
    """
    rows = with_row_names(rows)
    longer = _longer_titles(rows) if ragged else 0
    if longer:
        found = find_header(rows[longer:])
        return replace(found, above=found.above + longer)
    filled = [sum(1 for cell in row if cell.strip()) for row in rows]
    most = max(filled, default=0)
    if most == 0:
        return Header(tuple(rows[0]) if rows else ())
    fullest = filled.index(most)
    at = _header_row(rows, filled, fullest)
    if at is None and ragged and fullest and filled[0] < most:
        return _named(rows, 0) if not _is_values(rows, 0) else Header(position_names(len(rows[0])), headless=True)
    width = max(len(r) for r in rows[fullest:])
    return _named(rows, at) if at is not None else Header(position_names(width), fullest, headless=True)


def _header_row(rows: Rows, filled: list[int], fullest: int) -> int | None:
    """The row of names: the fullest one, or one above it that lacks at most one name; None if there is no such row."""
    for i in range(fullest + 1):
        if {c.strip() for c in rows[i]} >= _WEKA:
            return i
    if _all_names(rows[fullest]) and not _repeats(rows, fullest) and not (fullest and _is_first_of_index(rows, fullest)):
        return fullest
    least = max(filled[fullest] - 1, 1 if filled[fullest] == 1 else 2)
    above = next((i for i in range(fullest) if _all_names(rows[i]) and (filled[i] >= least or _index_and_one(rows, i))), None)
    return fullest if above is None and _is_header(rows, fullest) else above


def _index_and_one(rows: Rows, at: int) -> bool:
    """Whether a row names the one column beside a saved index."""
    return len(rows[at]) == 2 == max(len(r) for r in rows) and not rows[at][0].strip() and bool(rows[at][1].strip())


def _is_first_of_index(rows: Rows, at: int) -> bool:
    """Whether a row of words is the first of a saved index and one column: it is numbered like those below, or its value comes again."""
    if not _index_and_one(rows, at - 1):
        return False
    first, *below = [[c.strip() for c in r] for r in rows[at:] if len(r) == 2]  # a row that is torn says nothing
    shapes = {re.sub(r"\d+", "#", row[0]) for row in (first, *below)}
    return any(row[1] == first[1] for row in below) or (len(below) > 0 and len(shapes) == 1 and "#" in shapes.pop())


def _longer_titles(rows: Rows) -> int:
    """How many titles with more cells than the table stand above a header."""
    widths = [len(row) for row in rows]
    usual = max(set(widths), key=widths.count, default=0)
    first = next((i for i, w in enumerate(widths) if w <= usual), 0)
    fits = usual > 1 and widths.count(usual) >= 0.6 * len(rows) and widths[first] == usual
    return first if fits and all(map(_all_names, rows[: first + 1])) else 0


def with_row_names(rows: Rows) -> Rows:
    """The rows with an unnamed first column in the header, where R wrote row names and no name for them: 1, 2, … or those of a subset."""
    body = rows[1:]
    width = len(rows[0]) + 1 if rows else 0
    if len(body) < 3 or any(len(r) != width for r in body):
        return rows
    if any(r[0] != str(i) for i, r in enumerate(body, 1)) and not _are_row_names(body):
        return rows
    return [["", *rows[0]], *body] if _all_names(rows[0]) and all(rows[0]) else rows


def _are_row_names(body: Rows) -> bool:
    """Whether the first cells number the rows of a subset: no separator ends the rows, and none is the comma of decimals."""
    first = [r[0].strip() for r in body]
    whole = len(body) > 3 and all(r[-1].strip() for r in body) and all(c.isdecimal() for c in first) and len(set(first)) == len(first)
    return whole and any(_FRACTION.fullmatch(c.strip()) for r in body for c in r[1:])


def position_names(width: int) -> tuple[str, ...]:
    """Names for columns that have none."""
    return tuple(f"column {i + 1}" for i in range(width))


def _named(rows: Rows, at: int) -> Header:
    names = [_LINES.sub(" ", cell.strip()) for cell in rows[at]]  # names are broken into lines to fit above their columns
    compact = [_COMPACT.fullmatch(n) for n in names]
    if sum(m is not None for m in compact) * 2 >= len(names):  # Orange's one-row header: mS#name
        names = [m[1] if m else n for m, n in zip(compact, names, strict=True)]
    return Header(tuple(names), at)


def is_number(text: str) -> bool:
    """Whether a cell holds a number, with a point or a comma."""
    return _NUMBER.fullmatch(text.strip().replace("\u2212", "-")) is not None


def _all_names(row: Sequence[str]) -> bool:
    """Whether no filled cell is a number, and there is one."""
    cells = [c for c in row if c.strip()]
    return bool(cells) and not any(is_number(c) for c in cells)


def _repeats(rows: Rows, at: int) -> bool:
    """Whether a row of one word, or of fastText's labels, is a value among others."""
    row = [c.strip() for c in rows[at]]
    if any(c.startswith("__label__") for c in row):
        return True
    return len([c for c in row if c]) == 1 == max(len(r) for r in rows) and rows[at] in rows[at + 1 :]


def _is_header(rows: Rows, at: int) -> bool:
    """Whether a row with numbers is a header: distinct names, whose numbers are class numbers or stand over other texts."""
    row = [c.strip() for c in rows[at]]
    numbers = [c for c in row if c and is_number(c)]
    if not numbers or len({c for c in row if c}) < len([c for c in row if c]):
        return False
    if _over_numbers(rows, at):
        return True
    if _is_values(rows, at):
        return False
    counted = [c.removesuffix(".0") for c in numbers] == [str(i) for i in range(len(numbers))]
    if len(numbers) == len(row):
        return counted and len(row) > 1 and all(c.isdigit() for c in numbers) and _below_differ(rows, at)
    return not any(_is_one_of(c, [r[i].strip() for r in rows[at + 1 :] if len(r) > i]) for i, c in enumerate(row) if c and c not in numbers)


def _is_one_of(word: str, below: Sequence[str]) -> bool:
    """Whether a word is one of the values under it: it comes again, or all differ in a number alone (id0 over id1, id2)."""
    shapes = {re.sub(r"\d+", "#", c) for c in (word, *below)}
    return word in below or (len(below) > 1 and len(shapes) == 1 and "#" in shapes.pop())


def _over_numbers(rows: Rows, at: int) -> bool:
    """Whether a word stands over a column of numbers, as only a header does."""
    for i, cell in enumerate(rows[at]):
        below = [r[i] for r in rows[at + 1 :] if len(r) > i and r[i].strip()]
        word = cell.strip() and not is_number(cell) and cell.strip().casefold() not in _MISSING
        if word and below and all(is_number(b) for b in below):
            return True
    return False


def _below_differ(rows: Rows, at: int) -> bool:
    """Whether what is under 0, 1, … is no row of whole numbers like it, unless the rows are 0/1 codes of one class."""
    below = [[c.strip() for c in row] for row in rows[at + 1 :]]
    whole = [all(re.fullmatch(r"[+-]?\d+", c) for c in row if c) for row in below]
    return not below or not all(whole) or all(sorted(row) == ["0"] * (len(row) - 1) + ["1"] for row in below)


def _is_values(rows: Rows, at: int) -> bool:
    """Whether a row holds measured numbers over other numbers, as no header does."""
    row, below = rows[at], rows[at + 1 :]
    measured = [i for i, c in enumerate(row) if is_number(c) and not re.fullmatch(r"\s*[+-]?\d+(\.0)?\s*", c)]
    return any(all(is_number(r[i]) or not r[i].strip() for r in below if len(r) > i) for i in measured)


def check_width(columns: int) -> None:
    """InputError for more columns than a table of predictions has."""
    if columns > _MAX_COLUMNS:
        raise InputError(f"The table has {columns:,} columns; at most {_MAX_COLUMNS:,} are read. Is it transposed? Give one row a case.")


def check_names(names: Sequence[str]) -> None:
    """InputError unless every column that has a name has its own, and there are not too many."""
    check_width(len(names))
    if not any(names):
        raise InputError("The first line names no column. Add a header line, such as label,probability.")
    seen: dict[str, int] = {}
    for position, column in enumerate(names, 1):
        if column and seen.setdefault(column, position) != position:
            raise InputError(
                f"Two columns are called {column} (columns {seen[column]} and {position}). Rename one of them.", column=column, value=column
            )
