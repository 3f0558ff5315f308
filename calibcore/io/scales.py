"""How probabilities are written (fractions, percent, logits, …): told by values and names where they can, asked where not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import AmbiguousLayout, InputError, Question
from calibcore.io.columns import Column
from calibcore.io.vocabulary import is_named, plain

__all__ = ["class_scale", "percent_doubt", "row_sums", "single_scale", "to_fractions"]

Numbers = NDArray[np.floating[Any]]
_SLACK = 1e-6
_FRACTIONS = 9  # times as many values from 0 to 1 as above are strange for percent
_NOTES = {
    "percent": "The probabilities are percent and were divided by 100.",
    "logit": "The columns hold logits; a softmax over the classes made them probabilities.",
    "log-prob": "The columns hold log-probabilities; exp made them probabilities, divided by their sum.",
    "unnormalised": "Each row was divided by its sum.",
}
_SINGLE_NOTES = {
    "logit": "The column holds logits; 1 / (1 + exp(−x)) made them probabilities.",
    "log-prob": "The column holds log-probabilities; exp made them probabilities.",
}


def to_fractions(matrix: Numbers, scale: str) -> tuple[Numbers, tuple[str, ...]]:
    """Values on a scale as probabilities, shape (n,) or (n, K), and the note that says what was done."""
    single = matrix.ndim == 1
    note = (_SINGLE_NOTES if single else {}).get(scale) or _NOTES.get(scale)
    notes = (note,) if note else ()
    if scale == "percent":
        return matrix / matrix.dtype.type(100), notes
    if scale == "fraction":
        return matrix, ()
    wide = matrix.astype(np.float64)
    if scale == "unnormalised":
        if single:
            raise InputError("One probability column has no row sum to divide by; scale='unnormalised' needs one column a class.")
        return _divided(wide), notes
    with np.errstate(invalid="ignore", over="ignore"):
        found = _softmax(wide) if not single else _sigmoid(wide) if scale == "logit" else np.exp(wide)
    return _defined(found), notes


def _softmax(x: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    softmax: NDArray[np.float64] = shifted / shifted.sum(axis=1, keepdims=True)
    return softmax


def _defined(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Refuses rows that infinite values leave undefined."""
    bad = np.isnan(values) if values.ndim == 1 else np.isnan(values).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad)) + 1
        raise InputError(f"Row {row} holds infinite values, which give no probabilities.", row=row)
    return values


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def _divided(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    total = matrix.sum(axis=1, keepdims=True)
    bad = (matrix < 0).any(axis=1) | ~(total[:, 0] > 0) | ~np.isfinite(total[:, 0])
    if bad.any():
        row = int(np.argmax(bad)) + 1
        raise InputError(
            f"Row {row} cannot be divided by its sum, {total[row - 1, 0]:g}: values must not be negative and must not all be 0.", row=row
        )
    divided: NDArray[np.float64] = matrix / total
    return divided


def _complete_rows(columns: list[Column]) -> NDArray[np.float64]:
    """The rows without a missing value, shape (n, K)."""
    matrix = np.column_stack([c.numeric().values for c in columns]).astype(np.float64)
    missing = np.isnan(matrix)
    return matrix[~missing.any(axis=1)] if missing.any() else matrix


def row_sums(columns: list[Column]) -> NDArray[np.float64]:
    """Sums of the rows without a missing value."""
    total = columns[0].numeric().values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        for column in columns[1:]:
            total += column.numeric().values
    return _complete_rows(columns).sum(axis=1) if np.isnan(total).any() else total


def class_scale(columns: list[Column], names_say_probability: bool) -> str | None:  # noqa: FBT001
    """The scale of one column a class, or None where the values are no probabilities of classes.

    Rows that add up to 1 (98 % of them within max(0.02, 0.006·K)) are probabilities, to 100 percent; values of at most 0
    whose exponentials add up to 1 are log-probabilities; values outside [0, 1] in most rows are logits, unless the names
    say probability, in which case it is asked.
    """
    sums, slack = row_sums(columns), max(0.02, 0.006 * len(columns)) + 1e-9
    if not len(sums) or float(np.mean(np.abs(sums - 1) <= slack)) >= 0.5:
        return "fraction"
    matrix = _complete_rows(columns)
    low, high = float(matrix.min()), float(matrix.max())
    if low >= 0 and float(np.mean(np.abs(matrix.sum(axis=1) - 100) <= 100 * slack)) >= 0.98:
        return "percent"
    if high <= _SLACK and float(np.mean(np.abs(np.exp(np.minimum(matrix, 1)).sum(axis=1) - 1) <= slack)) >= 0.98:
        return "log-prob"
    if low >= -_SLACK and high <= 1.5:
        return None
    if not names_say_probability and low < 0:
        return "logit"
    text = (
        f"Columns {columns[0].name} … {columns[-1].name} run from {low:g} to {high:g} and "
        "do not add up to 1, so they are not probabilities. What are they?"
    )
    if high <= _SLACK:
        text = (
            f"Columns {columns[0].name} … {columns[-1].name} run from {low:g} to {high:g}. Are they log-probabilities (--scale log-prob), "
            "whose exponentials do not add up to 1 and are to be divided by their sum?"
        )
        raise AmbiguousLayout([Question("scale", text, ("log-prob", "logit"), "--scale")])
    raise AmbiguousLayout([Question("scale", text, ("logit", "unnormalised", "percent") if low >= 0 else ("logit",), "--scale")])


def single_scale(column: Column, *, confidence: bool = False, n_classes: int | None = None) -> str:
    """The scale of one column of probabilities, by its values and its name; asked where neither can tell.

    A ``confidence`` of one of ``n_classes`` is percent if no value is below 100 / n_classes and some is above 50; otherwise
    it may be the largest logit.
    """
    found = column.numeric()
    span = column.span()
    low, high = (span.low, span.high) if span.missing < len(found.values) else (0.0, 0.0)
    if found.percent:
        return "percent"
    if is_named(column.name, "logit") and not (is_named(column.name, "confidence") and 0 <= low <= high <= 1):
        raise _ask(
            f"Column {column.name!r} runs from {low:.4g} to {high:.4g} and its name "
            "says that it is no probability. Is it a logit (log-odds)?",
            ("logit", "fraction") if 0 <= low <= high <= 1 else ("logit",),
        )
    if low < -0.05:
        raise _ask(
            f"Column {column.name!r} runs from {low:.4g} to {high:.4g}, so these are not probabilities. Are they logits?", ("logit",)
        )
    if high <= 1 + _SLACK:
        return _percent_by_name(column, high)
    if high <= 1.5:
        return _slightly_above_one(column, found.values, high)
    if high > 100:
        raise InputError(
            f"Column {column.name!r} runs from {low:.4g} to {high:.4g}, so these are not probabilities. "
            "Choose another column, or say with scale (--scale) what it holds.",
            column=column.name,
            value=high,
        )
    could_be_percent = n_classes is not None and low >= 100 / n_classes - 0.01 and high > 50
    if (confidence or plain(column.name).endswith("score")) and not could_be_percent:
        what = "confidences" if confidence else "probabilities"
        raise _ask(
            f"Column {column.name!r} runs from {low:.4g} to {high:.4g}, so these are not {what} in [0, 1]. Are they percent?",
            ("percent", "logit"),
        )
    if doubt := percent_doubt(column):
        raise doubt
    return "percent"


def percent_doubt(column: Column) -> AmbiguousLayout | None:
    """The question whether a column is percent where its values are as those of fractions, all but a few."""
    values = column.numeric().values
    within, above = int(np.count_nonzero((values > 0) & (values <= 1))), int(np.count_nonzero(values > 1))
    if within < _FRACTIONS * max(above, 1) or column.numeric().percent or (above and is_named(column.name, "percent")):
        return None
    found, way_out = "none above, though others are percent", "reduce these rows apart"
    if above:
        row = int(np.nanargmax(values)) + 1
        found = f"{above:,} above ({values[row - 1]:.4g} in row {row:,}{' is the largest' if above > 1 else ''})"
        way_out = "mend what is above 1"
    text = f"Column {column.name!r} holds {within:,} values from 0 to 1 and {found}. Are all of them percent? If not, {way_out}."
    return _ask(text, ("percent",))


def _percent_by_name(column: Column, high: float) -> str:
    if is_named(column.name, "percent") and high > 0:
        text = f"The name of column {column.name!r} says percent, but its largest value is {high:.4g}. Are the values percent or fractions?"
        raise _ask(text, ("percent", "fraction"))
    return "fraction"


def _slightly_above_one(column: Column, values: Numbers, high: float) -> str:
    row = int(np.nanargmax(values)) + 1
    way_out = "Mend it, or say with scale (--scale) how the probabilities are written."
    if is_named(column.name, "percent"):
        way_out = "The name says percent: confirm it (--scale percent), or mend the row."
    raise InputError(
        f"Row {row} of column {column.name!r} is {high:g}, outside [0, 1]. {way_out}",
        rule="probabilities lie in [0, 1]",
        value=high,
        row=row,
        column=column.name,
    )


def _ask(text: str, options: tuple[str, ...]) -> AmbiguousLayout:
    return AmbiguousLayout([Question("scale", text, options, "--scale")])
