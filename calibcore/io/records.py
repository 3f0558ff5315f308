"""JSON Lines: one record a line → a table with a typed column for each key."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from calibcore.checks import name_text
from calibcore.errors import InputError
from calibcore.io.columns import Table, as_table
from calibcore.io.text import decoded

__all__ = ["arrow_of", "by_key", "looks_like_records", "once", "read_records", "typed_column"]


_MORE_KEYS = 200


def looks_like_records(data: bytes) -> bool:
    """Whether the first sign is that of JSON."""
    start = data[:4096].lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")
    follows = start[1:].lstrip(b"\x00 \t\r\n")[:1]
    return (start[:1] == b"{" and follows in (b'"', b"}")) or (start[:1] == b"[" and follows in (b"{", b"[", b"]"))


def read_records(data: bytes, name: str, *, complete: bool = True) -> Table:
    """A table from JSON Lines.

    Raises
    ------
    InputError
        If a line is no JSON object, or the text is a JSON document of another shape.
    """
    source = decoded(data, complete=complete)
    lines = source.whole.replace("\r\n", "\n").split("\n")
    numbered = [(i, line) for i, line in enumerate(lines, 1) if line.strip()]
    records = [_record(line, number, first=number == numbered[0][0]) for number, line in numbered]
    columns = by_key(records)
    if not columns:
        raise InputError("The file has no data rows. Save it again with its rows.")
    arrow = arrow_of(columns)
    rows = len(records) if complete else None
    return as_table(arrow, name, format="JSON Lines", encoding=source.encoding, notes=source.notes, complete=complete, rows_in_file=rows)


def by_key(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """A column for each key; None where a record lacks it."""
    columns: dict[str, list[Any]] = {}
    most = 10 * len(records[0]) + _MORE_KEYS  # every key costs a cell in each row
    for row, record in enumerate(records):
        for key, value in record.items():
            if key not in columns:
                if len(columns) == most:
                    raise InputError(
                        f"The first {row + 1:,} records have more than {most:,} different keys. Give each record the same keys."
                    )
                columns[key] = [None] * len(records)
            columns[key][row] = value
    return columns


def _record(line: str, number: int, *, first: bool) -> dict[str, Any]:
    try:
        record = json.loads(line)
        if isinstance(record, dict) and line.count(":") > len(record):  # nested, a text with a colon, or a key twice
            json.loads(line, object_pairs_hook=once)
    except InputError:
        raise
    except (ValueError, RecursionError):
        if first:
            raise InputError('The JSON is damaged. Save it again, one object a line, such as {"label": 1, "p": 0.8}.') from None
        raise InputError(f'Line {number} is not valid JSON. Each line must be one object, such as {{"label": 1, "p": 0.8}}.') from None
    if not isinstance(record, dict):
        what = "a JSON array" if isinstance(record, list) else "no JSON object"
        raise InputError(
            f'Line {number} is {what}, while the lines before are objects. Each line must be one, such as {{"label": 1, "p": 0.8}}.'
        )
    return record


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys differ, as `json.loads` wants it made."""
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [k for k, _ in pairs]
        twice = next(k for k in keys if keys.count(k) > 1)
        raise InputError(f"Two columns are called {twice}. Rename one of them.", column=twice)
    return record


def arrow_of(columns: dict[str, list[Any]]) -> Any:
    """An Arrow table of columns with their types."""
    import pyarrow as pa

    return pa.table([typed_column(values) for values in columns.values()], names=[_clean(k) for k in columns])


def typed_column(values: list[Any]) -> Any:
    """A typed array; a column of several types is kept as text."""
    import pyarrow as pa

    types = {type(v) for v in values if v is not None}
    if types & {list, dict}:
        return _nested(values)
    if types <= {bool} and types:
        return pa.array(values, type=pa.bool_())
    if types == {int} and all(v is None or -(2**63) <= v < 2**63 for v in values):
        return pa.array(values, type=pa.int64())
    if types == {float} or (types == {int, float} and all(v is None or not abs(v) >= 2**53 for v in values)):
        return pa.array([None if v is None else float(v) for v in values], type=pa.float64())
    if types and types <= {dt.datetime, dt.date}:
        return pa.array([v if v is None or isinstance(v, dt.datetime) else dt.datetime.combine(v, dt.time()) for v in values])
    return pa.array([None if v is None else _clean(name_text(v) if isinstance(v, float) else str(v)) for v in values], type=pa.string())


def _nested(values: list[Any]) -> Any:
    """Lists and records as such; where they differ from row to row, each as a list with its text."""
    import pyarrow as pa

    if _few_keys(values):
        try:
            return pa.array(values)
        except (pa.ArrowException, OverflowError, UnicodeError):
            pass
    return pa.array([[_clean(json.dumps(v))] if v is not None else None for v in values], type=pa.list_(pa.string()))


def _few_keys(values: list[Any]) -> bool:
    """Whether records share most of their keys; every key costs a cell in each row."""
    keys: set[str] = set()
    most, waiting = 0, list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            keys |= value.keys()
            most = max(most, len(value))
            waiting.extend(value.values())
        elif isinstance(value, list) and value and not isinstance(value[0], (int, float, str)):
            waiting.extend(value)
        if len(keys) > 10 * most + _MORE_KEYS:
            return False
    return True


def _clean(text: str) -> str:
    """Text that UTF-8 can hold: a half of a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
