"""The column of times: dates where every cell is a date, numbers where every cell is a number, else texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import InputError
from calibcore.io.columns import MISSING_NUMBERS, Column
from calibcore.io.day_month import iso_texts

__all__ = ["times_of"]

_DAY = r"\d{4}-\d{2}-\d{2}"
_CLOCK = r"[ T]\d{2}(:?\d{2}(:?\d{2}([.,]\d+)?)?)?"
_ISO = rf"^{_DAY}({_CLOCK}(Z|[+-]\d{{2}}(:?\d{{2}})?)?)?$"
_OFFSET = r"(Z|[+-]\d{2}(:?\d{2})?)$"
_COMPACT = r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"
_UTC = "Times of {0!r} carry a zone or an offset; they are counted in UTC."


def times_of(column: Column) -> tuple[NDArray[Any], tuple[str, ...]]:
    """The times of all rows, and notes.

    Parameters
    ----------
    column : Column

    Returns
    -------
    values : array of shape (n,)
        datetime64[us] for dates and times (a column of such a type, or ISO 8601 texts, 20240131 too; with an offset in UTC;
        31/12/2024 and 12/31/2024 where a day above 12 tells which is which);
        float64 for numbers; texts otherwise.  Missing cells are NaT, NaN or "".
    notes : tuple of str

    Raises
    ------
    InputError
        If most cells are dates or numbers and one is not (with its row), or day and month cannot be told apart.
    """
    import pyarrow as pa
    import pyarrow.types as pt

    array = column.array
    if pt.is_nested(array.type):
        raise InputError(f"Column {column.name!r} holds a list or a record in each cell, not times.", column=column.name)
    if pt.is_timestamp(array.type) or pt.is_date(array.type):
        notes = (_UTC.format(column.name),) if pt.is_timestamp(array.type) and array.type.tz not in (None, "UTC") else ()
        return _datetimes(array), notes
    if column.kind == "number":
        return _numbers(column)
    texts = _texts(array.cast(pa.string()))
    if column.kind == "text":
        found = _dates(texts, column.name)
        if found is not None:
            return found
        if column.is_numeric:
            return _numbers(column)
    return texts.fill_null("").to_numpy(zero_copy_only=False), ()


def _texts(array: Any) -> Any:
    """Texts without blanks around them; words for missing are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(array)
    absent = pc.is_in(pc.utf8_lower(text), value_set=pa.array(sorted(MISSING_NUMBERS), type=text.type))
    return pc.if_else(absent, pa.scalar(None, text.type), text)


def _datetimes(array: Any) -> NDArray[np.datetime64]:
    """Dates and times as datetime64[us]: those with a zone in UTC; parts of a microsecond are cut off."""
    import pyarrow as pa
    import pyarrow.types as pt

    zone = array.type.tz if pt.is_timestamp(array.type) else None
    values = array.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())
    numbers = values.fill_null(np.iinfo(np.int64).min).to_numpy(zero_copy_only=False)  # that integer is NaT
    return np.asarray(numbers).view("datetime64[us]")


def _numbers(column: Column) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Numbers; whole ones that are all days such as 20240131 are dates."""
    found = column.numeric()
    if found.bad_row is not None:
        raise _bad(column.name, found.bad_row, found.bad_text, "a number")
    values = found.values.astype(np.float64)
    there = values[~np.isnan(values)]
    if len(there) and ((there >= 19000101) & (there <= 20991231) & (there == np.floor(there))).all():
        import pyarrow as pa

        compact = pa.array(["" if np.isnan(v) else str(int(v)) for v in values.tolist()])
        dates = _compact(_texts(compact))
        if dates is not None:
            return dates, ()
    return values, ()


def _dates(texts: Any, name: str) -> tuple[NDArray[Any], tuple[str, ...]] | None:
    """ISO 8601 dates and times, if most cells are; None if they are something else."""
    import pyarrow.compute as pc

    present = len(texts) - texts.null_count
    iso = pc.match_substring_regex(texts, _ISO)
    good = pc.sum(iso).as_py() or 0
    if 2 * good <= present:
        other = iso_texts(texts, name)
        return None if other is None else (_parsed(other[0], name, zoned=False), other[1])
    if good < present:
        raise _bad_text(texts, iso, name)
    zoned = pc.match_substring_regex(pc.utf8_slice_codeunits(texts, 10), _OFFSET)
    with_zone = pc.sum(zoned).as_py() or 0
    if 0 < with_zone < present:
        row = _first(pc.invert(zoned) if 2 * with_zone > present else zoned)
        raise InputError(
            f"Some times of column {name!r} carry a UTC offset and some do not (row {row} differs from most). Write all of them alike.",
            row=row,
            column=name,
        )
    return _parsed(texts, name, zoned=with_zone > 0), ((_UTC.format(name),) if with_zone else ())


def _parsed(texts: Any, name: str, *, zoned: bool) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.replace_substring(texts, ",", ".")
    texts = pc.replace_substring_regex(texts, r"(\.\d{6})\d+", r"\1")
    texts = pc.replace_substring_regex(texts, r"(\.\d+)?([+-]\d{2})$", r"\1\2:00") if zoned else texts
    target = pa.timestamp("us", "UTC" if zoned else None)
    try:
        return _datetimes(texts.cast(target))
    except pa.ArrowInvalid:
        pass
    for row, cell in enumerate(texts):  # such as 2024-02-30: look for the first
        try:
            cell.cast(target)
        except pa.ArrowInvalid:
            raise _bad(name, row + 1, str(cell.as_py()), "a date that exists") from None
    raise InputError(f"The times of column {name!r} cannot be read. Write them as 2024-12-31 or 2024-12-31 23:59:59.", column=name)


def _compact(texts: Any) -> NDArray[Any] | None:
    """Days written without hyphens, 20240131, if all are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(texts, _COMPACT)).as_py():
        return None
    hyphens = pc.replace_substring_regex(texts, r"^(\d{4})(\d{2})(\d{2})$", r"\1-\2-\3")
    try:
        return _datetimes(hyphens.cast(pa.timestamp("us")))
    except pa.ArrowInvalid:  # such as 20240230: numbers after all
        return None


def _first(flags: Any) -> int:
    """1-based row of the first flag that is set."""
    return int(np.argmax(flags.fill_null(False).to_numpy(zero_copy_only=False))) + 1


def _bad_text(texts: Any, good: Any, name: str) -> InputError:
    import pyarrow.compute as pc

    row = _first(pc.invert(good))
    return _bad(name, row, texts[row - 1].as_py(), "a date or time such as 2024-12-31")


def _bad(name: str, row: int, text: str, what: str) -> InputError:
    return InputError(
        f"Row {row} of the time column {name!r} is {text[:40]!r}, not {what} like most others. Mend it, or leave time (--time) out.",
        row=row,
        column=name,
        value=text,
    )
