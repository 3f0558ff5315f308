"""Dates such as 31/12/2024 become 2024-12-31 where the column itself tells day and month apart, else they are refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibcore.errors import InputError

__all__ = ["iso_texts"]

_DATE = r"^(?P<a>\d{1,4})[/.-](?P<b>\d{1,2})[/.-](?P<c>\d{1,4})(?:,?[ T]+(?P<clock>.+))?$"
_CLOCK = r"^(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}(?:[.,]\d+)?))?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?$"
_WAY_OUT = "Write dates as 2024-12-31, or leave time (--time) out."


def iso_texts(texts: Any, name: str) -> tuple[Any, tuple[str, ...]] | None:
    """Texts of dates with the day, the month or the year first as ISO 8601, and a note; None if most are no such dates.

    Parameters
    ----------
    texts : pyarrow.Array of strings
        Null where a cell is missing.
    name : str
        The column, for messages.

    Raises
    ------
    InputError
        If day and month cannot be told apart, or some cell is written in another way.
    """
    import pyarrow.compute as pc

    parts = pc.extract_regex(texts, _DATE)
    found = parts.is_valid()
    if 2 * (pc.sum(found).as_py() or 0) <= len(texts) - texts.null_count:
        return None
    _all(pc.or_(found, texts.is_null()), texts, name, "a date like most others")
    a, b, c, clock = (pc.struct_field(parts, field) for field in ("a", "b", "c", "clock"))
    year_first = pc.equal(pc.utf8_length(a), 4)
    if pc.all(year_first).as_py():
        return _joined(a, b, c, _clock(clock, texts, name)), ()
    _all(pc.equal(pc.utf8_length(c), 4), texts, name, "a date with a year of four digits, in the same place in every row")
    _all(pc.less(pc.utf8_length(a), 3), texts, name, "a date with the year in the same place as in the other rows")
    day_first, row = _day_first(a, b, texts, name)
    day, month = (a, b) if day_first else (b, a)
    order = "day, month, year" if day_first else "month, day, year"
    note = f"Dates of {name!r} are read as {order}, as row {row:,} ({_cell(texts, row)}) shows."
    return _joined(c, month, day, _clock(clock, texts, name)), (note,)


def _day_first(first: Any, second: Any, texts: Any, name: str) -> tuple[bool, int]:
    """Whether the day stands before the month, and the first row that tells so by a number above 12."""
    import pyarrow as pa
    import pyarrow.compute as pc

    one, two = (np.asarray(part.cast("int64").fill_null(0)) > 12 for part in (first, second))
    neither = one & two
    _all(pc.invert(pa.array(neither)), texts, name, "a date, since neither part is a month")
    rows = [int(np.argmax(above)) + 1 for above in (one, two)]
    if one.any() and two.any():
        raise InputError(
            f"Rows {rows[0]:,} ({_cell(texts, rows[0])}) and {rows[1]:,} ({_cell(texts, rows[1])}) of column {name!r} "
            f"write day and month in different orders. {_WAY_OUT}",
            row=max(rows),
            column=name,
        )
    if not (one.any() or two.any()):
        row = int(np.argmax(np.asarray(texts.is_valid()))) + 1
        raise InputError(
            f"Row {row:,} of column {name!r} is {_cell(texts, row)!r}, and no row has a day above 12: day and month cannot be told apart. "
            f"{_WAY_OUT}",
            row=row,
            column=name,
            value=_cell(texts, row),
        )
    return bool(one.any()), rows[0] if one.any() else rows[1]


def _clock(clock: Any, texts: Any, name: str) -> Any:
    """Times of day as T13:05:00; nothing where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    none = pc.or_kleene(clock.is_null(), pc.equal(clock, ""))
    parts = pc.extract_regex(clock, _CLOCK)
    _all(pc.or_(none.fill_null(True), parts.is_valid()), texts, name, "a date with a time such as 13:05 or 1:05 PM")
    h, m, s, half = (pc.struct_field(parts, field) for field in ("h", "m", "s", "half"))
    hour, half = h.cast("int64"), pc.utf8_lower(half)
    twelve = pc.subtract(hour, pc.if_else(pc.equal(hour, 12), 12, 0))
    hour = pc.if_else(pc.equal(half, "a"), twelve, pc.if_else(pc.equal(half, "p"), pc.add(twelve, 12), hour))
    seconds = pc.if_else(pc.equal(s, ""), "00", s)
    text = pc.binary_join_element_wise(_two(hour.cast("string")), m, seconds, ":")
    return pc.if_else(none.fill_null(True), pa.scalar(""), pc.binary_join_element_wise(pa.scalar(""), text, "T"))


def _joined(year: Any, month: Any, day: Any, clock: Any) -> Any:
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(pc.binary_join_element_wise(year, _two(month), _two(day), "-"), clock, "")


def _two(number: Any) -> Any:
    import pyarrow.compute as pc

    return pc.utf8_lpad(number, 2, "0")


def _all(good: Any, texts: Any, name: str, what: str) -> None:
    """InputError for the first cell that is not like the others."""
    bad = ~np.asarray(good.fill_null(True).to_numpy(zero_copy_only=False))
    if bad.any():
        row = int(np.argmax(bad)) + 1
        raise InputError(
            f"Row {row:,} of the time column {name!r} is {_cell(texts, row)!r}, not {what}. {_WAY_OUT}",
            row=row,
            column=name,
            value=_cell(texts, row),
        )


def _cell(texts: Any, row: int) -> str:
    return str(texts[row - 1].as_py())[:40]
