"""A flag that says whether predictions were right, beside a label that says so too: where the two differ, a note tells it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import name_key, rows_text
from calibcore.io.columns import Names
from calibcore.io.evidence import Evidence
from calibcore.io.reading import Reading
from calibcore.io.scales import to_fractions
from calibcore.io.vocabulary import is_named, wrong_or_right

__all__ = ["flag_differs"]

Codes = NDArray[np.intp]


def flag_differs(e: Evidence, reading: Reading) -> tuple[str, ...]:
    """A note where a flag says something else than the label and the predicted, or most probable, class."""
    label, flag = reading.units[0].label, e.correct
    if flag is None or not label or flag in (label, reading.correct):
        return ()
    if reading.form != "confidence" and (len(reading.units) > 1 or not (e.mapping.correct or is_named(flag, "correct", exact=True))):
        return ()  # the flag may be another model's
    true, says = e.column(label).names(), e.column(flag).names()
    predicted, what = _predicted(e, reading, true)
    known = (true.code >= 0) & (predicted >= -1)
    right = known & (true.code == predicted)
    words = [wrong_or_right(d) for d in says.distinct]
    differs = np.array([*(w is False for w in words), False])[says.code] & right
    differs |= np.array([*(w is True for w in words), False])[says.code] & known & ~right
    if not differs.any():
        return ()
    where = f"in {rows_text(int(differs.sum()))} (first: row {int(np.argmax(differs)) + 1:,})"
    return (f"Column {flag!r} says otherwise than {label!r} and {what} {where}; the label counts.",)


def _predicted(e: Evidence, reading: Reading, true: Names) -> tuple[Codes, str]:
    """The predicted class as a code of the label (−1: another class, −2: unknown), and what says it."""
    if reading.predicted is not None:
        names = e.column(reading.predicted).names()
        code = np.array([*_codes_of(list(names.distinct), true), -2], dtype=np.intp)[names.code]
        return code, repr(reading.predicted)
    columns = [e.column(c).numeric().values.astype(np.float64) for c in reading.units[0].columns]
    if reading.form == "positive":
        (positive,) = columns
        columns = [np.full(len(positive), 0.5), to_fractions(positive, reading.scale)[0].astype(np.float64)]
    values = np.column_stack(columns)
    unknown = np.isnan(values).any(axis=1) | ((values == values.max(axis=1, keepdims=True)).sum(axis=1) > 1)
    code = np.array(_codes_of(reading.classes, true), dtype=np.intp)[np.argmax(np.nan_to_num(values), axis=1)]
    return np.where(unknown, -2, code), "the most probable class"


def _codes_of(names: list[str] | tuple[str, ...], true: Names) -> list[int]:
    known = {name_key(d): i for i, d in enumerate(true.distinct)}
    return [known.get(name_key(n), -1) for n in names]
