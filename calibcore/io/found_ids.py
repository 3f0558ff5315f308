"""The column that identifies rows where no name says so: the one that is left and differs in every row."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from calibcore.errors import InputError
from calibcore.io.columns import Column
from calibcore.io.evidence import Evidence
from calibcore.io.labels import is_feature
from calibcore.io.reading import IdBy
from calibcore.io.vocabulary import is_named

__all__ = ["found_id"]

_FEWEST = 20  # rows, below which all cells of a feature may differ
_PARTS = (1_000, 10_000)  # rows that are looked at before all
_ALL = 300_000  # rows of which all are looked at; a bigger column would take long to load
_CELLS = 200
_WHOLE = re.compile(r"\d+")
_CODE = re.compile(r"(?=.*[^\W_])\S{1,64}")  # no blanks: a sentence is no id
_MEASURED = re.compile(r"[+-]?(\d*[.,]\d+|\d+[.,])([eE][+-]?\d+)?%?|[+-]\d+|\d[\d.,]*[eE][+-]?\d+|\d[\d.,]*%")
_TIME = re.compile(r"(19|20)\d\d[01]\d[0-3]\d|\d{1,4}[-./]\d{1,2}([-./]\d{1,4})?(\D.*)?|\d{1,2}:\d{2}.*")
_OTHER_ROLES = ("label", "predicted", "correct", "probability", "confidence", "weight", "ignore", "time", "group", "model")


def found_id(e: Evidence, taken: Collection[str | None]) -> tuple[str, IdBy] | None:
    """The one column beside those ``taken`` that holds another code or whole number in every row; None if there is none or several.

    Neither a count of the rows nor a measured number, a date, a text of several words or a numbered feature can be it.  Of a
    big table only the first rows are looked at, so that nothing is loaded for it; the answer says so.
    """
    n = e.table.n_rows
    if n < _FEWEST or e.model is not None:
        return None
    whole = e.table.complete and n <= _ALL
    free = [c for c in e.names if c not in taken and not is_feature(c) and not any(is_named(c, r) for r in _OTHER_ROLES)]
    found = [c for c in free if _may_identify(e.column(c))]
    found = [c for c in found if _differs(e.column(c), n, whole=whole)]
    return (found[0], "content" if whole else "first rows") if len(found) == 1 else None


def _may_identify(column: Column) -> bool:
    """A look at the first cells, so that a column of something else is not loaded."""
    if column.kind not in ("text", "number") or (column.kind == "number" and not column.is_integer()):
        return False
    try:
        cells = column.head(_PARTS[0])
    except InputError:  # damaged, and not needed
        return False
    if cells.null_count or len(cells.unique()) < len(cells):
        return False
    texts = [str(c) for c in cells.slice(0, _CELLS).to_pylist()]
    return _are_codes([t.strip() for t in texts]) and not _counts(cells)


def _are_codes(texts: list[str]) -> bool:
    if all(map(_TIME.fullmatch, texts)) or any(map(_MEASURED.fullmatch, texts)):
        return False
    return all(map(_WHOLE.fullmatch, texts)) or all(map(_CODE.fullmatch, texts))


def _counts(cells: Any) -> bool:
    """Whether cells are 0, 1, 2 and so on, or 1, 2, 3 and so on."""
    found = [str(c).strip() for c in cells.to_pylist()]
    return any(found == list(map(str, range(start, start + len(found)))) for start in (0, 1))


def _differs(column: Column, n: int, *, whole: bool) -> bool:
    """Whether all cells differ, and are not the numbers of the rows in another order; a repeat near the start ends the search."""
    if any(len(part.unique()) < len(part) for part in map(column.head, _PARTS)):
        return False
    if not whole:
        return True
    if column.array.null_count or column.n_different() < n:
        return False
    if not _WHOLE.fullmatch(str(column.head(1)[0].as_py()).strip()) or not column.is_numeric:
        return True
    span = column.span()
    return not (span.low in (0, 1) and span.high == span.low + n - 1)
