"""Weka's plain output, whose columns are as wide as their longest cell, as delimited text."""

from __future__ import annotations

import csv
import io
import re

__all__ = ["plain_output"]

_HEADER = re.compile(r"^[ \t]*inst#[ \t]+actual[ \t]+predicted[ \t]+error[ \t]+(prediction|distribution)\b.*$", re.MULTILINE)
_ROW = re.compile(r"\s*(\d+)\s+(\d+:.*?)\s+(\d+:.*?)\s+(\+?)\s*(\*?\d[*\d.,eE-]*)\s*(\(.*\))?")


def plain_output(text: str) -> str | None:
    """The predictions in what Weka prints as comma-separated text; None for another text, or where a line has another form.

    Weka cuts long names; those of one class are brought together by its number, and classes with the same beginning keep theirs.
    """
    header = _HEADER.search(text)
    if header is None:
        return None
    lines = [line for line in text[header.end() :].splitlines() if line.strip()]
    rows = [m.groups() for line in lines if (m := _ROW.fullmatch(line))]
    names = _names([cell for row in rows for cell in row[1:3]])
    if not rows or len(rows) < len(lines) or names is None:
        return None
    spread = [row[4].split(",") for row in rows]
    first = ["inst#", "actual", "predicted", "error", header[1]]
    head = [*first, *(f"(column {i})" for i in range(6, 5 + len(spread[0])))]
    out = io.StringIO()
    written = [[row[0], *(names[c] for c in row[1:3]), row[3], *numbers] for row, numbers in zip(rows, spread, strict=True)]
    csv.writer(out, lineterminator="\n").writerows([head, *written])
    return out.getvalue()


def _names(cells: list[str]) -> dict[str, str] | None:
    """Cell → number and name, the longest that a number has; None where a number has two different names."""
    longest: dict[str, str] = {}
    parts = {cell: (cell.partition(":")[0], cell.partition(":")[2].strip().strip("'")) for cell in cells}
    for number, name in parts.values():
        known = longest.get(number, "")
        if name != "?" and not (name.startswith(known) or known.startswith(name)):
            return None
        longest[number] = max(known, "" if name == "?" else name, key=len)
    shared = {n for n in longest.values() if list(longest.values()).count(n) > 1}
    named = {k: f"{n} ({k})" if n in shared else n for k, n in longest.items()}
    return {cell: f"{number}:{'?' if name == '?' else named[number]}" for cell, (number, name) in parts.items()}
