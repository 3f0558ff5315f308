"""Rows by time: calendar periods of dates, values of numbers and texts, or equal numbers of rows."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import name_text
from calibcore.errors import InputError
from calibcore.inference.slices import MISSING, distinct_of, is_missing
from calibcore.predictions import Predictions

__all__ = ["CALENDAR", "MAX_PERIODS", "Span", "Times", "spans_of", "times_of"]

IndexArray = NDArray[np.intp]
Kind = Literal["date", "number", "text"]

CALENDAR = ("year", "quarter", "month", "day")  # from coarse to fine
MAX_PERIODS = 50
_USUAL = 24  # at most as many where nothing is said
_EQUAL = 10  # of equal numbers of rows where nothing is said
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?")


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """The rows of one period, 0-based; position is its place on the axis of a trend, None where the time is missing."""

    name: str
    position: float | None
    rows: IndexArray


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Times in order: ``value`` are the different ones, rising; ``code`` says which one each row has, −1 where missing."""

    kind: Kind
    value: NDArray[Any]
    code: IndexArray


def times_of(values: NDArray[Any]) -> Times:
    """Dates, numbers or texts; texts that are all ISO 8601 dates without an offset are dates, others rise naturally (2 before 10)."""
    distinct, code = ([], np.zeros(0, dtype=np.intp)) if values.dtype.kind in "Miuf" else distinct_of(values)
    typed = values if values.dtype.kind in "Miuf" else _typed(distinct)
    if typed is None:
        return _texts(distinct, code)
    missing = np.isnat(typed) if typed.dtype.kind == "M" else np.isnan(typed.astype(np.float64))
    if typed.dtype.kind == "f" and np.isinf(typed).any():
        raise InputError("A time is infinite, so it belongs to no period. Give it a date or a number, or leave it empty.")
    value, place = np.unique(typed[~missing], return_inverse=True)
    index = np.full(len(typed), -1, dtype=np.intp)
    index[~missing] = place
    return Times("date" if typed.dtype.kind == "M" else "number", value, index if typed is values else index[code])


def _typed(distinct: list[Any]) -> NDArray[Any] | None:
    """Python dates, ISO texts or numbers as one array; None where they are anything else."""
    there = [v for v in distinct if not is_missing(v)]
    if there and all(isinstance(v, dt.date) or (isinstance(v, str) and _ISO.fullmatch(v.strip())) for v in there):
        try:
            return np.array([_date(v) for v in distinct], dtype="datetime64[us]")
        except ValueError:  # such as 2024-02-30
            return None
    if there and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in there):
        return np.array([np.nan if is_missing(v) else v for v in distinct], dtype=np.float64)
    return None


def _date(value: Any) -> np.datetime64:
    if is_missing(value):
        return np.datetime64("NaT", "us")
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return np.datetime64(value.strip() if isinstance(value, str) else value, "us")


def _texts(distinct: list[Any], code: IndexArray) -> Times:
    names = ["" if is_missing(v) else name_text(v).strip() for v in distinct]
    order = sorted(set(names) - {""}, key=_natural)
    place = {n: i for i, n in enumerate(order)} | {"": -1}
    return Times("text", np.array(order, dtype=object), np.array([place[n] for n in names], dtype=np.intp)[code])


def _natural(text: str) -> tuple[list[tuple[int, int, str]], str]:
    """Numbers in a text compare as numbers: "week 2" comes before "week 10"."""
    parts = re.split(r"(\d+)", text.casefold())
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p], text


def spans_of(predictions: Predictions, periods: str | int | None, minimum: int) -> tuple[list[Span], str, tuple[str, ...]]:
    """The periods, what a step between them is, and notes."""
    if predictions.time is None:
        raise InputError(f"{predictions.name} has no times; name the column that holds them with time (--time).")
    times = times_of(predictions.time)
    if not len(times.value):
        raise InputError("Every time is missing, so there are no periods.")
    notes = ("The times are texts; periods stand in the order of their names.",) if times.kind == "text" else ()
    label, names, positions, step = _periods(times, periods, minimum)
    if len(names) > MAX_PERIODS:
        hint = "Dates are read in the form 2024-12-31." if times.kind == "text" else "Choose longer periods, or a number of them."
        raise InputError(f"There are {len(names):,} periods; at most {MAX_PERIODS} are looked at. {hint}", value=len(names))
    index = np.where(times.code >= 0, label[np.maximum(times.code, 0)], -1)
    spans = [Span(name, position, np.flatnonzero(index == i)) for i, (name, position) in enumerate(zip(names, positions, strict=True))]
    missing = np.flatnonzero(index < 0)
    return [*spans, *([Span(MISSING, None, missing)] if len(missing) else [])], step, notes


_Periods = tuple[IndexArray, list[str], list[float], str]


def _periods(times: Times, periods: str | int | None, minimum: int) -> _Periods:
    """The period of each different time, names, positions, and what a step is."""
    if isinstance(periods, str):
        if periods not in CALENDAR:
            raise InputError(f"Periods are day, month, quarter, year or a number, not {periods!r}.", value=periods, available=CALENDAR)
        if times.kind != "date":
            raise InputError(
                f"The times are {times.kind}s, not dates, so they have no {periods}. "
                "Write dates as 2024-12-31, or give a number of periods.",
                value=periods,
            )
        return _calendar(times, periods)
    if periods is not None:
        return _equal_count(times, _checked_number(periods))
    if times.kind == "date":
        return _usual_calendar(times, minimum)
    return _each_value(times) if len(times.value) <= _USUAL else _equal_count(times, _EQUAL)


def _checked_number(periods: Any) -> int:
    if isinstance(periods, (bool, np.bool_)) or not isinstance(periods, (int, np.integer)) or not 1 <= periods <= MAX_PERIODS:
        raise InputError(f"The number of periods must be a whole number from 1 to {MAX_PERIODS}, got {periods!r}.", value=periods)
    return int(periods)


def _usual_calendar(times: Times, minimum: int) -> _Periods:
    """The finest calendar period with few enough periods, half of them with enough rows; else equal numbers of rows."""
    counts = np.bincount(times.code[times.code >= 0], minlength=len(times.value))
    for unit in reversed(CALENDAR):
        label = _ordinals(times.value, unit)
        rows = np.bincount(np.unique(label, return_inverse=True)[1], weights=counts)
        if 1 < len(rows) <= _USUAL and np.count_nonzero(rows >= minimum) * 2 >= len(rows):
            return _calendar(times, unit)
    return _equal_count(times, min(_EQUAL, max(1, int(counts.sum()) // minimum)))


def _ordinals(value: NDArray[Any], unit: str) -> NDArray[np.int64]:
    """Number of the day, month, quarter or year of each date."""
    if unit == "quarter":
        return np.asarray(value.astype("datetime64[M]").astype(np.int64) // 3)
    return value.astype(f"datetime64[{unit[0].upper()}]").astype(np.int64)


def _calendar(times: Times, unit: str) -> _Periods:
    ordinals, label = np.unique(_ordinals(times.value, unit), return_inverse=True)
    names = [_calendar_name(int(o), unit) for o in ordinals] if len(ordinals) <= MAX_PERIODS else [""] * len(ordinals)
    return label.astype(np.intp), names, (ordinals - ordinals[0]).astype(np.float64).tolist(), unit


def _calendar_name(ordinal: int, unit: str) -> str:
    if unit == "quarter":
        return f"{1970 + ordinal // 4:04d}-Q{ordinal % 4 + 1}"
    return str(np.array(ordinal).astype(f"datetime64[{unit[0].upper()}]"))


def _each_value(times: Times) -> _Periods:
    names = [name_text(v) for v in times.value.tolist()]
    label = np.arange(len(names))
    if times.kind == "text":
        return label, names, [float(i) for i in label], "period"
    return label, names, (times.value - times.value[0]).astype(np.float64).tolist(), "unit of time"


def _equal_count(times: Times, number: int) -> _Periods:
    """Period k ends with the time of row ⌈k·n/M⌉, equal times together; fewer periods where many rows share a time."""
    upto = np.cumsum(np.bincount(times.code[times.code >= 0], minlength=len(times.value)))
    n = int(upto[-1])
    last = np.unique(np.searchsorted(upto, [-(-k * n // number) for k in range(1, number + 1)], side="left"))
    label = np.searchsorted(last, np.arange(len(times.value)), side="left").astype(np.intp)
    first = np.concatenate([[0], last[:-1] + 1])
    names = [_range_name(times, int(a), int(b)) for a, b in zip(first, last, strict=True)]
    return label, names, [float(i) for i in range(len(names))], "period"


def _range_name(times: Times, first: int, last: int) -> str:
    ends = [_value_name(times, i) for i in (first, last)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _value_name(times: Times, index: int) -> str:
    value = times.value[index]
    if times.kind != "date":
        return name_text(value.item() if isinstance(value, np.generic) else value)
    days = times.value.astype("datetime64[D]")
    whole = bool((days == times.value).all())
    return str(value.astype("datetime64[D]" if whole else "datetime64[s]")).replace("T", " ")
