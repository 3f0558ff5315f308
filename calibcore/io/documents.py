"""JSON documents → tables: lists of records, columns beside data, lists by column, and the ways pandas writes a frame."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.arrays import CLASS_LISTS
from calibcore.io.columns import Table, as_table
from calibcore.io.encodings import Text, decoded
from calibcore.io.headers import position_names
from calibcore.io.records import arrow_of, by_key, once, read_records
from calibcore.io.vocabulary import shortened

__all__ = ["is_list", "read_json", "starts_document"]

_WRAPPERS = ("records", "rows", "results", "predictions", "instances", "data", "items", "examples", "samples", "outputs", "entries")
_HOW = 'Save a list of records, such as [{"label": 1, "p": 0.8}], or CSV.'
_DEPTH = 4
_FOLLOWS = re.compile(r"\S")
Records = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Found:
    """What a document holds: columns by name, what was left out, and whether the names are positions only."""

    columns: dict[str, list[Any]]
    notes: tuple[str, ...] = ()
    headless: bool = False
    index: tuple[str, ...] = ()


def starts_document(data: bytes) -> bool:
    """Whether JSON that begins so must be read to its end, since its first line is no whole record."""
    text = decoded(data, complete=False).whole if b"\n" in data else ""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return not _is_record(first)


def _is_record(line: str) -> bool:
    return isinstance(_value(line), dict)


def read_json(data: bytes, name: str, *, complete: bool = True) -> Table:
    """A table from JSON Lines or from one JSON document.

    Raises
    ------
    InputError
        If the JSON is damaged, or holds no table.
    """
    source = decoded(data, complete=complete)
    lines = [line for line in source.start.split("\n") if line.strip()]
    if not complete or (len(lines) > 1 and _is_record(lines[0])):
        return read_records(data, name, complete=complete)
    document = _parsed(source)
    if isinstance(document, tuple):  # several values
        document = list(document)
    found = _found(document, 0) or _one_record(document)
    if found is None:
        raise InputError(f"The JSON document holds no table{_keys(document)}. {_HOW}")
    arrow = arrow_of(found.columns)
    if arrow.num_rows == 0:
        raise InputError("The JSON document has no data rows. Save it again with its rows.")
    about = {"encoding": source.encoding, "notes": (*source.notes, *found.notes), "headless": found.headless, "index": found.index}
    return as_table(arrow, name, format="JSON", **about)


def _one_record(document: Any) -> Found | None:
    """A single record, if some of its values are single ones."""
    single = isinstance(document, dict) and any(not isinstance(v, (list, dict)) for v in document.values())
    return Found(by_key([document])) if single else None


def is_list(data: bytes) -> bool:
    """Whether bytes are a JSON list of numbers or words, or one a line, which could be text in brackets as well."""
    start = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start and not start.startswith(b"["):
        return False
    text = data.strip(b"\xef\xbb\xbf \t\r\n")
    if not (text.startswith(b"[") and text.endswith(b"]")):
        return False
    if b"\n" not in text:
        return isinstance(_value(text), list)
    return isinstance(_value(text), list) or all(isinstance(_value(line), list) for line in text.split(b"\n") if line.strip())


def _value(text: bytes | str) -> Any:
    """What JSON says; None if it is damaged."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _keys(document: Any) -> str:
    return (
        f"; its keys are {listing([shortened(' '.join(k.split())) for k in document], 6)}"
        if isinstance(document, dict) and document
        else ""
    )


def _parsed(source: Text) -> Any:
    """The document; a tuple of values if it holds several: a list in each line, or records one after the other."""
    text = source.whole
    try:
        return json.loads(text, object_pairs_hook=once)
    except RecursionError:
        raise InputError(f"The JSON document is nested too deeply to be a table. {_HOW}") from None
    except json.JSONDecodeError as error:
        several = _one_a_line(text) or _one_after_the_other(text) if error.msg == "Extra data" else ()
        if several:
            return several
        if not text[error.pos :].strip() or error.msg.startswith("Unterminated string"):
            raise InputError(f"The JSON is damaged at line {error.lineno:,}: it ends too early. Copy or save it again.") from None
        raise InputError(f"The JSON is damaged at line {error.lineno:,}, column {error.colno:,} ({error.msg}). Save it again.") from None
    except InputError:
        raise
    except ValueError:  # of the limit that Python sets to the digits of a whole number
        raise InputError(f"The JSON holds a whole number with thousands of digits. {_HOW}") from None


def _one_a_line(text: str) -> tuple[Any, ...]:
    """The values, if there is one in each line."""
    try:
        return tuple(json.loads(line, object_pairs_hook=once) for line in text.splitlines() if line.strip())
    except (json.JSONDecodeError, RecursionError):
        return ()


def _one_after_the_other(text: str) -> tuple[Any, ...]:
    """The records of a text that holds nothing else, wherever its lines end; lists are none, since each could be a case or a table."""
    decoder, values, at = json.JSONDecoder(object_pairs_hook=once), [], 0
    try:
        while at < len(text):
            value, end = decoder.raw_decode(text, at)
            values.append(value)
            follows = _FOLLOWS.search(text, end)
            at = follows.start() if follows else len(text)
    except (json.JSONDecodeError, RecursionError):
        return ()
    return tuple(values) if all(isinstance(v, dict) for v in values) else ()


def _found(document: Any, depth: int) -> Found | None:
    """The table in a document, or in one of the objects that it wraps."""
    if depth > _DEPTH:
        return None
    if isinstance(document, list):
        return _of_list(document)
    if not isinstance(document, dict) or not document:
        return None
    for shape in _SHAPES:
        found = shape(document)
        if found is not None:
            return found
    inner = [k for k, v in document.items() if isinstance(v, dict) and v]
    chosen = [k for k in inner if k.lower() in _WRAPPERS] or inner
    tables = {k: f for k in chosen if (f := _found(document[k], depth + 1)) is not None}
    if len(tables) > 1:
        raise InputError(
            f"The JSON document holds several tables ({listing(list(tables), 6)}). Save the one to be judged as a file of its own."
        )
    return next(iter(tables.values()), None)


def _of_list(rows: list[Any]) -> Found | None:
    """A list of records, of rows, of vectors, of lists of {label, score}, or of single values."""
    if not rows:
        raise InputError("The JSON document has no data rows. Save it again with its rows.")
    if all(isinstance(r, dict) for r in rows):
        return Found(by_key(rows))
    if all(isinstance(r, list) for r in rows):
        return _of_lists(rows)
    if any(isinstance(r, (list, dict)) for r in rows):
        kinds = ["a record" if isinstance(r, dict) else "a list" if isinstance(r, list) else "a value" for r in rows]
        other = next(i for i, k in enumerate(kinds) if k != kinds[0])
        raise InputError(f"Item {other + 1:,} of the JSON list is {kinds[other]}, while the first is {kinds[0]}. {_HOW}", row=other + 1)
    return Found({position_names(1)[0]: rows}, headless=True)


def _of_lists(rows: list[list[Any]]) -> Found | None:
    if any(isinstance(v, (dict, list)) for r in rows for v in r):
        return Found({"predictions": rows})
    width = len(rows[0])
    bad = next((i for i, r in enumerate(rows, 1) if len(r) != width), None)
    if bad is not None:
        raise InputError(f"Row {bad:,} of the JSON list has {len(rows[bad - 1])} values, but the first has {width}. Mend it.", row=bad)
    if width == 0:
        return None
    if len(rows) > 1 and all(isinstance(v, str) for v in rows[0]) and not all(isinstance(v, str) for v in rows[1]):
        return _by_position(rows[0], rows[1:])
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for r in rows for v in r)
    names = [str(i) for i in range(width)] if numbers and width > 1 and _measured(rows) else list(position_names(width))
    return replace(_by_position(names, rows), headless=True)


def _measured(rows: list[list[Any]]) -> bool:
    """Whether every position holds measured numbers, as in a matrix of probabilities."""
    return all(any(not float(v).is_integer() for v in column if math.isfinite(v)) for column in zip(*rows, strict=True))


def _by_position(names: list[Any], rows: list[Any], index: list[Any] | None = None) -> Found:
    """Columns from rows of values; every row needs as many values as there are names."""
    keys = [_name(n) for n in names]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"Two columns are called {key}. Rename one of them.", column=key)
    for i, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != len(keys):
            what = f"{len(row)} values" if isinstance(row, list) else "no list of values"
            raise InputError(f"Row {i:,} has {what}, but there are {len(keys)} columns. Mend it, or save the table again.", row=i)
    columns = dict(zip(keys, (list(c) for c in zip(*rows, strict=True)), strict=True)) if rows else {k: [] for k in keys}
    kept = index if index is not None and len(index) == len(rows) else list(range(len(rows)))
    return _with_index(columns, kept)


def _with_index(columns: dict[str, list[Any]], index: list[Any]) -> Found:
    """With the rows' names as a column, unless they only count the rows; whole numbers are saved row numbers."""
    if (
        "index" in columns
        or [str(i) for i in index] == [str(i) for i in range(len(index))]
        or any(isinstance(i, (list, dict)) for i in index)
    ):
        return Found(columns)
    return Found({"index": index, **columns}, index=("index",) if all(str(i).isdigit() for i in index) else ())


def _name(name: Any) -> str:
    if isinstance(name, dict):
        return str(name.get("name", name.get("key", name)))
    return " ".join(str(part) for part in name) if isinstance(name, list) else str(name)


def _split(document: dict[str, Any]) -> Found | None:
    """``{"columns": […], "data": [[…]]}``: pandas' split, MLflow and Weights & Biases."""
    names = next((document[k] for k in ("columns", "headers", "header", "fields") if isinstance(document.get(k), list)), None)
    rows = next((document[k] for k in ("data", "rows", "values", "records") if isinstance(document.get(k), list)), None)
    if not names or rows is None or any(isinstance(n, list) for n in names):
        return None
    if rows and all(isinstance(r, dict) for r in rows):
        return Found(by_key(rows))
    index = document.get("index")
    return _by_position(names, rows, index if isinstance(index, list) else None)


def _described(document: dict[str, Any]) -> Found | None:
    """``{"schema": {"fields": […]}, "data": [{…}]}``: pandas' table."""
    schema, rows = document.get("schema"), document.get("data")
    if not isinstance(schema, dict) or not isinstance(rows, list) or not rows or not all(isinstance(r, dict) for r in rows):
        return None
    key = schema.get("primaryKey")
    columns = by_key(rows)
    index = tuple(k for k in (key if isinstance(key, list) else []) if k in columns)
    return Found(columns, index=index if all(columns[k] == list(range(len(rows))) for k in index) else ())


def _wrapped(document: dict[str, Any]) -> Found | None:
    """The one list of records or rows under a key, such as ``{"results": [{…}]}``."""
    lists = {k: v for k, v in document.items() if isinstance(v, list) and v and all(isinstance(r, dict) for r in v)}
    if not lists:
        nested = {k: v for k, v in document.items() if isinstance(v, list) and v and all(isinstance(r, list) for r in v)}
        lists = nested if len(nested) == 1 and not _by_column_lists(document) else {}
    named = {k: v for k, v in lists.items() if k.lower() in _WRAPPERS}
    chosen = named if len(named) == 1 else lists
    if not chosen:
        return None
    if len(chosen) > 1:
        if len({len(v) for v in chosen.values()}) == 1:
            return None  # columns of records, one for each row
        raise InputError(f"The JSON document holds several lists of records ({listing(list(chosen), 6)}). Save the one to be judged alone.")
    ((key, rows),) = chosen.items()
    beside = [k for k, v in document.items() if k != key and isinstance(v, list) and len(v) == len(rows)]
    return None if beside else _of_list(rows)


def _by_column_lists(document: dict[str, Any]) -> dict[str, list[Any]]:
    """The lists of the commonest length, at least two of them."""
    lists = {k: v for k, v in document.items() if isinstance(v, list) and v}
    lengths = [len(v) for v in lists.values()]
    usual = max(set(lengths), key=lambda n: (lengths.count(n), n), default=0)
    chosen = {k: v for k, v in lists.items() if len(v) == usual}
    return chosen if len(chosen) > 1 else {}


def _by_column(document: dict[str, Any]) -> Found | None:
    """``{"y_true": […], "y_prob": […]}``: a list for each column; a list of the classes stands beside every row."""
    columns = _by_column_lists(document)
    if not columns:
        return None
    rows = len(next(iter(columns.values())))
    classes = {k: v for k, v in document.items() if k not in columns and k.lower() in CLASS_LISTS and isinstance(v, list) and _are_names(v)}
    whole = {**columns, **{k: [v] * rows for k, v in classes.items()}}
    others = [k for k, v in document.items() if k not in whole and isinstance(v, (list, dict)) and v]
    notes = (f"Not used, since of another length than the columns: {listing(others, 6)}.",) if others else ()
    return Found(whole, notes)


def _are_names(values: list[Any]) -> bool:
    return len(values) > 1 and all(isinstance(v, (str, int)) for v in values) and len(set(map(str, values))) == len(values)


def _by_cell(document: dict[str, Any]) -> Found | None:
    """``{column: {row: value}}`` or ``{row: {column: value}}``: pandas' columns and index."""
    inner = list(document.values())
    if not all(isinstance(v, dict) and v for v in inner) or (len(inner) == 1 and next(iter(document)).lower() in _WRAPPERS):
        return None
    if len({frozenset(v) for v in inner}) > 1 and not _counted(document):
        return None
    rows_first = _rows_first(document)
    if rows_first is None:
        return None
    if rows_first:
        records = list(document.values())
        keys = list(document)
        columns = by_key(records)
    else:
        keys = list(inner[0])
        columns = {k: [v.get(r) for r in keys] for k, v in document.items()}
    return _with_index(columns, keys)


def _rows_first(document: dict[str, Any]) -> bool | None:
    """Whether the outer keys are rows: the keys that count 0, 1, … are; else there are more rows than columns."""
    inner = next(iter(document.values()))
    if len(document) == 1 and not _counted(inner):
        return None
    if any(isinstance(v, (dict, list)) for v in inner.values()) and not _counted(document):
        return None
    outer_counts, inner_counts = _counted(document), _counted(inner)
    if outer_counts != inner_counts:
        return outer_counts
    return len(document) > len(inner)


def _counted(keys: dict[str, Any]) -> bool:
    return all(k.isdigit() for k in keys)


_SHAPES: tuple[Callable[[dict[str, Any]], Found | None], ...] = (_described, _split, _wrapped, _by_column, _by_cell)
