"""A table and its reading become `Predictions`: cells typed, labels matched by name, missing rows refused or left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import checked_probabilities, checked_row_sums, checked_weights, listing, name_key, name_text, rows_text
from calibcore.errors import InputError
from calibcore.io.codes import Codes
from calibcore.io.columns import MISSING_LABELS, Names, Table
from calibcore.io.labels import label_without_column
from calibcore.io.mapping import Mapping
from calibcore.io.reading import Reading, Unit
from calibcore.io.scales import to_fractions
from calibcore.io.tally import Tally
from calibcore.io.times import times_of
from calibcore.io.vocabulary import polarity, wrong_or_right
from calibcore.io.wording import worded
from calibcore.later import Later
from calibcore.predictions import Predictions
from calibcore.top_label import both_sides, complement, largest

__all__ = ["BOTH_SIDES", "NO_ROW", "Skipped", "batch_predictions", "predictions_of"]

NO_ROW = "some row can be used"

BOTH_SIDES = "With two classes, the confidence in the predicted one gives both probabilities."

Numbers = NDArray[np.floating[Any]]
Flags = NDArray[np.bool_]
Used = NDArray[np.intp] | None  # rows that are used; None for all


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """One model's columns over all rows of the file, before rows are left out."""

    values: Numbers  # (n,) or (n, K), on the file's scale; NaN where missing
    label: Codes | None
    predicted: Codes | None
    correct: Flags | None
    dropped: Flags
    other: Flags  # rows that are not to be judged
    missing: dict[str, Flags]
    classes: tuple[str, ...]

    @property
    def gone(self) -> Flags:
        """Rows that cannot be used."""
        marked = [rows for rows in (self.dropped, self.other, *self.missing.values()) if rows.any()]
        return np.logical_or.reduce(marked) if marked else np.zeros(len(self.dropped), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A model of which a batch holds rows, but none that can be used: how many, and why."""

    name: str
    n_excluded: int
    notes: tuple[str, ...]


def predictions_of(table: Table, reading: Reading, mapping: Mapping) -> list[Predictions]:
    """One `Predictions` for each model of a table.

    Raises
    ------
    InputError
        For missing values (unless ``mapping.missing`` is "drop"), values that are no probabilities, and labels without a
        column: with column and row.
    """
    return [p for p in _every(table, reading, mapping) if isinstance(p, Predictions)]


def batch_predictions(table: Table, reading: Reading, mapping: Mapping, tally: Tally) -> list[Predictions | Skipped]:
    """The same for a batch of the rows, which may hold none that can be used; what is missing is counted in ``tally``."""
    return _every(table, reading, mapping, tally)


def _every(table: Table, reading: Reading, mapping: Mapping, tally: Tally | None = None) -> list[Predictions | Skipped]:
    found = []
    positive = mapping.positive or (mapping.classes[1] if mapping.classes and len(mapping.classes) == 2 else None)
    for unit in reading.units:
        rows = _typed(table, reading, unit)
        for model, mine in _models(table, reading):
            name = " ".join(n for n in (model, unit.name) if n) or _stem(table.name)
            found.append(_one(table, reading, unit, _Part(rows, mine, name, mapping, positive, tally)))
    return found


def _stem(name: str) -> str:
    path = PurePath(name)
    return PurePath(path.stem).stem if path.suffix == ".gz" else path.stem or "model"


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The rows of one model, and how it is called."""

    rows: _Rows
    mine: Flags
    name: str
    mapping: Mapping
    positive: str | None
    tally: Tally | None  # of a batch


def _models(table: Table, reading: Reading) -> Iterator[tuple[str | None, Flags]]:
    if reading.model is None:
        yield None, np.ones(table.n_rows, dtype=np.bool_)
        return
    names = table.column(reading.model).names()
    if names.missing().any():
        row = int(np.argmax(names.missing())) + 1
        raise InputError(
            f"Row {row} of column {reading.model!r} names no model. Mend it, leave the row out, or say that the column names no models "
            "(--model-col none).",
            row=row,
            column=reading.model,
        )
    for index, model in enumerate(names.distinct):
        mine = names.code == index
        if mine.any():
            yield model, mine


def _typed(table: Table, reading: Reading, unit: Unit) -> _Rows:
    """Cells as numbers and class indices."""
    columns = [_numbers(table, c) for c in unit.columns]
    values = columns[0] if reading.form != "classes" else _side_by_side(columns)
    missing = {f"value in {c!r}": _absent(table, c, v) for c, v in zip(unit.columns, columns, strict=True)}
    dropped = np.zeros(table.n_rows, dtype=np.bool_)
    label = predicted = correct = None
    if unit.label:
        label, absent, out = _coded(table, unit.label, reading, strict=True)
        missing[f"label in {unit.label!r}"], dropped = absent, out
    if reading.form == "confidence" and unit.label:
        assert reading.predicted is not None
        predicted, absent, _ = _coded(table, reading.predicted, reading, strict=True)
        missing[f"predicted class in {reading.predicted!r}"] = absent
        correct = (np.asarray(label) == predicted).astype(np.bool_)
    elif reading.form == "confidence":
        assert reading.correct is not None
        correct, absent, dropped = _flags(table.column(reading.correct).names(), reading)
        missing[f"value in {reading.correct!r}"] = absent
    elif reading.predicted:
        predicted = _coded(table, reading.predicted, reading, strict=False)[0]
    return _Rows(values, label, predicted, correct, dropped, _not_judged(table, reading), missing, reading.classes)


def _not_judged(table: Table, reading: Reading) -> Flags:
    """Rows outside those that are to be judged."""
    if reading.rows is None:
        return np.zeros(table.n_rows, dtype=np.bool_)
    names = table.column(reading.rows.column).names()
    alike = names.rows([name_key(d) == name_key(reading.rows.value) for d in names.distinct])
    return alike if reading.rows.sign == "!=" else ~alike


def _absent(table: Table, column: str, values: Numbers) -> Flags:
    """The rows without a number."""
    none = table.column(column).span().missing == 0
    return np.zeros(len(values), dtype=np.bool_) if none else np.isnan(values)


def _side_by_side(columns: list[Numbers]) -> Numbers:
    """Columns as a matrix, filled in parts that stay in the processor's cache."""
    n, step = len(columns[0]), max(256, (1 << 15) // len(columns))
    matrix = np.empty((n, len(columns)), dtype=np.result_type(*columns))
    for start in range(0, n, step):
        matrix[start : start + step] = np.array([c[start : start + step] for c in columns]).T
    return matrix


def _numbers(table: Table, column: str) -> Numbers:
    found = table.column(column).numeric()
    if found.bad_row is not None:
        raise InputError(
            f"Row {found.bad_row} of column {column!r} is {found.bad_text[:40]!r}, not a number. Mend it, or choose another column.",
            row=found.bad_row,
            column=column,
        )
    return found.values


def _coded(table: Table, column: str, reading: Reading, *, strict: bool) -> tuple[Codes, Flags, Flags]:
    """Class index of each row (−1 where there is none), which rows have no label, and which are to be dropped."""
    names = table.column(column).names()
    known = {name_key(c) for c in reading.classes}
    keep = frozenset(d for d in names.distinct if d.casefold() in MISSING_LABELS and name_key(d) in known and _is_class(d, reading))
    missing = names.missing(keep)
    unwanted = {name_key(d) for d in reading.dropped_labels}
    out = names.rows([name_key(d) in unwanted for d in names.distinct])
    code = names.among(reading.classes)
    strange = code < 0
    if strict and strange.any() and (strange := strange & ~missing & ~out).any():
        row = int(np.argmax(strange))
        name = names.distinct[names.code[row]]
        raise label_without_column(name, row + 1, column, reading.classes, one_each=reading.form == "classes")
    return code, missing & ~out if out.any() else missing, out


def _is_class(name: str, reading: Reading) -> bool:
    """A word such as NA is a class where a column or the user names it; never from the labels alone."""
    return bool(name) and name in reading.classes


def _flags(names: Names, reading: Reading) -> tuple[Flags, Flags, Flags]:
    """Right or wrong, which rows say nothing, and which are to be dropped."""
    unwanted = {name_key(d) for d in reading.dropped_labels}
    out = names.rows([name_key(d) in unwanted for d in names.distinct])
    right = names.rows([wrong_or_right(name_text(d)) is True for d in names.distinct])
    known = names.rows([wrong_or_right(name_text(d)) is not None for d in names.distinct])
    missing = ~known & ~out
    return right, missing, out


def _one(table: Table, reading: Reading, unit: Unit, part: _Part) -> Predictions | Skipped:
    """One model: missing rows out, values checked, and everything beside them taken along."""
    rows = part.rows
    _refuse_missing(rows, part)
    gone = rows.gone
    kept = part.mine & ~gone if gone.any() else part.mine
    count = int(np.count_nonzero(kept))
    left_out = int(np.count_nonzero(part.mine)) - count
    if not count and part.tally is not None:
        return Skipped(part.name, left_out, _left_out(rows, part, reading, left_out))
    if not count:
        raise InputError(f"No row of {part.name!r} has both a label and a probability.", rule=NO_ROW)
    if part.tally is not None and reading.weight and not np.any(_numbers(table, reading.weight)[kept]):
        out = (*_left_out(rows, part, reading, left_out), f"{rows_text(count)} of weight 0 left out.")
        return Skipped(part.name, left_out + count, out)
    used = None if count == len(kept) else np.flatnonzero(kept)
    values, notes = _checked(reading, unit, rows.values, None if used is None else ~kept)
    beside: dict[str, Any] = {
        "name": part.name,
        "row": None if used is None else (used + 1).astype(np.int64, copy=False),
        "n_excluded": left_out,
        "source": {"file": table.name, "sha256": table.sha256, "layout": reading.layout, "roles": reading.roles(unit), **_id_by(reading)},
        "groups": {g: _texts(table, g, used).value() for g in reading.groups},
        "ids": None if reading.id is None else _texts(table, reading.id, used),
        "cluster": _texts(table, part.mapping.cluster, used).value() if part.mapping.cluster else None,
        "time": None,
    }
    notes = (*table.notes, *reading.notes, *_left_out(rows, part, reading, left_out), *notes, *_decimal_comma(table, unit))
    if part.mapping.time:
        times, about_times = times_of(table.column(part.mapping.time))
        beside["time"], notes = _taken(times, used), (*notes, *about_times)
    weight = _weights(table, reading, kept)
    weight = None if weight is None else _taken(weight, used)
    notes = tuple(worded(n, table) for n in notes)
    if reading.form == "confidence":
        return _top_label(_taken(values, used), rows, used, {**beside, "notes": notes, "sample_weight": weight}, part)
    assert rows.label is not None
    values = _taken(values, used)
    notes += tuple(worded(n, table) for n in _about_labels(rows, reading, values, used))
    return Predictions.from_matrix(_taken(rows.label, used), values, rows.classes, notes=notes, weight=weight, **beside)


def _id_by(reading: Reading) -> dict[str, str]:
    """That ids are ids by their content alone, which a comparison must know."""
    return {} if reading.id_by is None else {"id_by": reading.id_by}


def _taken(values: NDArray[Any], used: Used) -> NDArray[Any]:
    """The rows that are used; the same array where these are all."""
    return values if used is None else values[used]


def _refuse_missing(rows: _Rows, part: _Part) -> None:
    if part.mapping.missing == "drop":
        return
    tally = Tally() if part.tally is None else part.tally
    judged = {w: absent & part.mine & ~rows.dropped & ~rows.other if absent.any() else absent for w, absent in rows.missing.items()}
    tally.count(part.name, int(np.count_nonzero(part.mine)), judged)
    if part.tally is None:
        tally.check()


def _left_out(rows: _Rows, part: _Part, reading: Reading, count: int) -> tuple[str, ...]:
    if not count:
        return ()
    reasons = {**{f"without a {k}": v for k, v in rows.missing.items()}, "with a label that is left out": rows.dropped}
    judged = part.mine & ~rows.other
    said = [f"{int((v & judged).sum()):,} {k}" for k, v in reasons.items() if (v & judged).any()]
    if (outside := int((part.mine & rows.other).sum())) and reading.rows:
        said.append(f"{outside:,} where {reading.rows.column!r} is {'' if reading.rows.sign == '!=' else 'not '}{reading.rows.value!r}")
    return (f"{count:,} of {int(part.mine.sum()):,} rows left out: {listing(said, 4)}.",)


def _checked(reading: Reading, unit: Unit, values: Numbers, unused: Flags | None) -> tuple[Numbers, tuple[str, ...]]:
    """Probabilities of all rows; unused ones are set to a harmless value, so that messages keep the file's row numbers."""
    values, notes = to_fractions(_filled(values, unused, 1.0), reading.scale)
    values = _filled(values, unused, 0.5 if values.ndim == 1 else 1 / values.shape[1])
    values, clipped = _in_range(values, unit)
    if clipped:
        notes += (f"{clipped:,} values a hair outside [0, 1] (rounding noise) were set to the nearest end.",)
    if values.ndim == 2:
        count, largest = checked_row_sums(values, in_file=True)
        if count:
            rows_do = f"{count:,} {'row does' if count == 1 else 'rows do'}"
            notes += (f"{rows_do} not add up to exactly 1 (largest difference {largest:.2g}); used as written.",)
    return values, notes


def _filled(values: Numbers, rows: Flags | None, value: float) -> Numbers:
    """A copy with one value in some rows; the same array if there are none."""
    if rows is None:
        return values
    filled = values.copy()
    filled[rows] = values.dtype.type(value)
    return filled


def _in_range(values: Numbers, unit: Unit) -> tuple[Numbers, int]:
    """Checked probabilities; a fault names its column."""
    try:
        return checked_probabilities(values, in_file=True)
    except InputError:
        for column, one in zip(unit.columns, values.T if values.ndim == 2 else [values], strict=True):
            checked_probabilities(one, f"values of column {column!r}", in_file=True)
        raise


def _top_label(confidence: Numbers, rows: _Rows, used: Used, beside: dict[str, Any], part: _Part) -> Predictions:
    """Confidences; with two classes of known polarity and nothing below ½ they give both probabilities."""
    assert rows.correct is not None
    positive = part.positive or (polarity(rows.classes) if len(rows.classes) == 2 else None)
    if positive is not None and len(rows.classes) == 2 and rows.label is not None and rows.predicted is not None:
        first = name_key(rows.classes[0]) == name_key(positive)
        side = (_taken(rows.predicted, used) == (0 if first else 1)).astype(np.bool_)
        if confidence.min() >= 0.5 and not (side & (confidence == 0.5)).any():
            matrix = np.where(np.column_stack([~side, side]), confidence[:, None], complement(confidence)[:, None])
            label = _taken(rows.label, used).astype(np.intp)
            label = 1 - label if first else label
            classes = rows.classes[::-1] if first else rows.classes
            kept = {k: v for k, v in beside.items() if k not in ("notes", "sample_weight")}
            return Predictions.from_matrix(
                label, matrix, classes, notes=(*beside["notes"], BOTH_SIDES), weight=beside["sample_weight"], **kept
            )
    names = np.array(rows.classes, dtype=object) if rows.classes else None
    label_names = None if rows.label is None or names is None else names[_taken(rows.label, used)]
    predicted_names = None if rows.predicted is None or names is None else names[_taken(rows.predicted, used)]
    return Predictions.from_top_label(
        confidence, _taken(rows.correct, used), label=label_names, predicted=predicted_names, classes=rows.classes or None, **beside
    )


def _about_labels(rows: _Rows, reading: Reading, values: Numbers, used: Used) -> tuple[str, ...]:
    """A note on a predicted column that the probabilities do not explain."""
    if rows.predicted is None:
        return ()
    predicted = _taken(rows.predicted, used)
    likeliest = largest(both_sides(values) if values.ndim == 1 else values)[0]
    differs = int(((predicted >= 0) & (likeliest != predicted)).sum())
    if not differs:
        return ()
    where = f"Column {reading.predicted!r} differs from the most probable class in {differs:,} rows"
    return (f"{where} (another threshold, or ties); the most probable class is used.",)


def _decimal_comma(table: Table, unit: Unit) -> tuple[str, ...]:
    if any(table.column(c).numeric().comma for c in unit.columns):
        return ("Numbers are written with a decimal comma.",)
    return ()


def _weights(table: Table, reading: Reading, used: Flags) -> NDArray[np.float64] | None:
    if reading.weight is None:
        return None
    weight = _numbers(table, reading.weight).astype(np.float64)
    return checked_weights(np.where(used, weight, 0.0), table.n_rows)


def _texts(table: Table, column: str, used: Used) -> Later:
    """Some rows of a column as texts, for groups and ids, made when needed; equal texts of few are one object."""
    import pyarrow as pa

    cells = table.column(column)
    if cells.kind == "nested":
        raise InputError(f"Column {column!r} holds a list or a record in each cell, so it cannot group or identify rows.", column=column)
    count = table.n_rows if used is None else len(used)
    if len(cells.head(1000).unique()) < 100 < table.n_rows:
        distinct, code = cells.encoded()
        few = np.array([*distinct.cast(pa.string()).to_pylist(), ""], dtype=object)
        return Later(count, lambda: few[_taken(code, used)])
    texts = cells.array.cast(pa.string()).fill_null("")
    return Later(count, lambda: _taken(texts.to_numpy(zero_copy_only=False), used))
