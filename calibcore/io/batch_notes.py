"""Sentences about batches of rows become sentences about all of them: their counts add up, their rows are counted from the first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from calibcore.checks import listing

__all__ = ["counted_on", "joined_notes"]

_QUOTED = re.compile(r"('[^']*')")
_ROWS = re.compile(r"\b[Rr]ows? \d+(?:,\d{3})*(?:, \d+(?:,\d{3})*)*(?: (?:and|to) (?!\S+ more)\d+(?:,\d{3})*)?")
_NUMBER = re.compile(r"\d+(?:,\d{3})*")
_LEFT_OUT = re.compile(r"([\d,]+) of [\d,]+ rows left out: (.+)\.")
_REASON = re.compile(r"(?:^|, | and )([\d,]+) (?=without a |with a label |where )")
_UNEQUAL = re.compile(r"([\d,]+) rows? do(?:es)? not add up to exactly 1 \(largest difference (\S+)\); used as written\.")
_COUNTS = (  # what stands before a count, the count, and what stands behind it
    re.compile(r"()([\d,]+)( values? a hair outside \[0, 1\] .*)"),
    re.compile(r"(Column .* differs from the most probable class in )([\d,]+)( rows .*)"),
    re.compile(r"()([\d,]+)( rows? of weight 0 left out\.)"),
)


def counted_on(text: str, row: int | Callable[[int], int]) -> str:
    """A sentence about rows of a batch, of which ``row`` come before it, or with the row that each is.

    Examples
    --------
    >>> counted_on("Rows 1, 4 and 7 of column 'row 2': values outside [0, 1].", 1000)
    "Rows 1,001, 1,004 and 1,007 of column 'row 2': values outside [0, 1]."
    """
    to: Callable[[int], int] = (lambda i: i + row) if isinstance(row, int) else row
    parts = _QUOTED.split(text)
    return "".join(part if i % 2 else _ROWS.sub(lambda rows: _later(rows.group(), to), part) for i, part in enumerate(parts))


def _later(rows: str, to: Callable[[int], int]) -> str:
    return _NUMBER.sub(lambda number: f"{to(_count(number.group())):,}", rows)


def joined_notes(batches: Iterable[tuple[str, ...]], rows: int) -> tuple[str, ...]:
    """The notes of batches as notes on all of their ``rows``: each once, with its counts added up.

    Examples
    --------
    >>> joined_notes([("2 of 5 rows left out: 2 without a label in 'y'.",), ("1 of 5 rows left out: 1 without a label in 'y'.",)], 10)
    ("3 of 10 rows left out: 3 without a label in 'y'.",)
    """
    found: dict[str, list[str]] = {}
    for note in (n for notes in batches for n in notes):
        found.setdefault(_kind(note), []).append(note)
    return tuple(_joined(kind, notes, rows) for kind, notes in found.items())


def _kind(note: str) -> str:
    """What two notes share whose counts add up."""
    if _LEFT_OUT.fullmatch(note):
        return "left out"
    if _UNEQUAL.fullmatch(note):
        return "unequal"
    for pattern in _COUNTS:
        if found := pattern.fullmatch(note):
            return f"{pattern.pattern} {found.group(1)}"
    return note


def _joined(kind: str, notes: list[str], rows: int) -> str:
    joining: dict[str, Callable[[list[str]], str]] = {"left out": lambda n: _left_out(n, rows), "unequal": _unequal}
    if kind in joining:
        return joining[kind](notes)
    pattern = next((p for p in _COUNTS if kind.startswith(f"{p.pattern} ")), None)
    if pattern is None or len(notes) == 1:
        return notes[0]
    parts = [m.groups() for note in notes if (m := pattern.fullmatch(note))]
    total = sum(_count(part[1]) for part in parts)
    return f"{parts[0][0]}{total:,}{max((part[2] for part in parts), key=len)}"  # the longer one is the plural


def _left_out(notes: list[str], rows: int) -> str:
    total, reasons = 0, dict[str, int]()
    for note in notes:
        found = _LEFT_OUT.fullmatch(note)
        assert found is not None
        total += _count(found.group(1))
        _, *parts = _REASON.split(found.group(2))
        for count, reason in zip(parts[::2], parts[1::2], strict=True):
            reasons[reason] = reasons.get(reason, 0) + _count(count)
    said = listing([f"{count:,} {reason}" for reason, count in reasons.items()], 4)
    return f"{total:,} of {rows:,} rows left out: {said}."


def _unequal(notes: list[str]) -> str:
    found = [m.groups() for note in notes if (m := _UNEQUAL.fullmatch(note))]
    total, largest = sum(_count(n) for n, _ in found), max((text for _, text in found), key=float)
    do = "row does" if total == 1 else "rows do"
    return f"{total:,} {do} not add up to exactly 1 (largest difference {largest}); used as written."


def _count(text: str) -> int:
    return int(text.replace(",", ""))
