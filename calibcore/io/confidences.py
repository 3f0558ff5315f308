"""Confidences in the predicted class: with the class, or with a flag that says whether it was right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key, sorted_names
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.evidence import Evidence, question
from calibcore.io.labels import find_label, named_labels, no_label
from calibcore.io.reading import Reading, Unit
from calibcore.io.scales import single_scale, to_fractions
from calibcore.io.vocabulary import is_named, wrong_or_right

__all__ = [
    "ask_confidence",
    "confidence_reading",
    "different_scales",
    "given",
    "is_probability_of",
    "settled_scale",
    "shares_values",
    "sides_of",
]

Floats = NDArray[np.floating[Any]]
_BY_LUCK = 1 / 20  # at least as often, values without a meaning would be apart like that


def settled_scale(e: Evidence, column: str, *, confidence: bool = False) -> str:
    """How a column is written: as the user says, else by values and name."""
    _must_be_numbers(e, column)
    if e.mapping.scale:
        return e.mapping.scale
    by_name = confidence and not is_named(column, "probability")
    classes = e.values(e.predicted) if confidence and e.predicted else None
    return single_scale(e.column(column), confidence=by_name, n_classes=len(classes) if classes else None)


def different_scales(columns: Sequence[str], scales: Iterable[str]) -> InputError:
    """For models that cannot be read with one rule."""
    return InputError(
        f"Columns {listing(columns, 4)} are written on different scales ({listing(sorted(scales))}). "
        "Name one of them (--prob, --confidence)."
    )


def _must_be_numbers(e: Evidence, column: str) -> None:
    found = e.column(column)
    if found.kind == "nested":
        raise InputError(
            f"Column {column!r} holds a list or a record in each cell, which is not read yet. Save one column per class.", column=column
        )
    numeric = found.numeric()
    if numeric.bad_row is not None:
        raise InputError(
            f"Row {numeric.bad_row} of column {column!r} is {numeric.bad_text[:40]!r}, not a number. Mend it, or choose another column.",
            row=numeric.bad_row,
            column=column,
        )


def given(told: object, named: list[str]) -> list[str]:
    """The columns that the user named, else those found by name."""
    if told is None:
        return named
    return [told] if isinstance(told, str) else [str(t) for t in told] if isinstance(told, tuple) else []


def shares_values(e: Evidence, predicted: str) -> Callable[[str], bool]:
    """Whether a column can be the truth of a predicted class: it holds classes, and some of the predicted ones."""
    classes = {name_key(v) for v in e.values(predicted) or ()}
    return lambda n: e.class_like(n) and bool({name_key(v) for v in e.values(n) or ()} & classes)


def is_probability_of(sides: dict[str, Floats], name: str) -> bool:
    """Whether every row with this prediction has a higher value than every other row: one threshold explains all."""
    mine = sides[name][~np.isnan(sides[name])]
    others = np.concatenate([v[~np.isnan(v)] for c, v in sides.items() if c != name])
    return bool(len(mine) and len(others) and mine.min() >= others.max() and mine.min() > others.min())


def ask_confidence(column: str, text: str) -> AmbiguousLayout:
    """A question whether a column is a confidence; "none" says that it is a probability."""
    return AmbiguousLayout([question("confidence", text, [column, "none"])])


def confidence_reading(e: Evidence, columns: list[str] | None) -> Reading:
    """Confidence in the predicted class, with the class or with a flag that says whether it was right."""
    if e.mapping.confidence == ():
        raise _judges_no_probability(e)
    columns = columns or given(e.told("confidence"), e.named("confidence")) or e.named("probability")
    if not columns:
        raise e.no_column("probability")
    if len(columns) > 1 and not isinstance(e.mapping.confidence, tuple):
        text = f"There are several confidences: {listing(columns, 4)}. Which one is to be judged?"
        raise AmbiguousLayout([question("confidence", text, columns)])
    scales = {settled_scale(e, c, confidence=True) for c in columns}
    if len(scales) > 1:
        raise different_scales(columns, scales)
    units_for = [Unit((c,), "", c if len(columns) > 1 else None) for c in columns]
    reading = Reading("confidence + correct", "confidence", tuple(units_for), (), scales.pop(), e.predicted, e.correct)
    label = _label_of_confidence(e, columns)
    notes = _not_a_probability(e, columns[0], label, reading.scale)
    if label is None:
        return replace(_checked_flags(e, reading), notes=notes)
    occurring = {name_key(v): v for n in (e.predicted or label, label) for v in e.values(n) or ()}  # 0.0 and 0 are one class
    classes = e.mapping.classes or tuple(sorted_names(list(occurring.values())))
    units = tuple(Unit(u.columns, label, u.name) for u in reading.units)
    return Reading("label + predicted + confidence", "confidence", units, classes, reading.scale, e.predicted, None, notes=notes)


def _not_a_probability(e: Evidence, column: str, label: str | None, scale: str) -> tuple[str, ...]:
    """Asks where a confidence behaves like the probability of one of two classes; a note where its name or luck explains that."""
    if e.predicted is None or e.mapping.confidence:
        return ()
    values = to_fractions(e.column(column).numeric().values, scale)[0]
    sides = sides_of(e, e.predicted, values)
    high = [c for c in sides if len(sides) == 2 and is_probability_of(sides, c)]
    if not high:
        return ()
    named = is_named(column, "confidence")
    if np.nanmin(values) >= 0.5:  # as every confidence in one of two classes is
        known = {name_key(v) for n in (e.predicted, label) if n for v in e.values(n) or ()}
        if len(known) > 2:
            return ()
        if named or _by_luck(sides, high[0]):
            why = "is named like one" if named else "has few values"
            text = f"Column {column!r} is read as the confidence in the predicted class, since it {why}"
            return (f"{text}, but is higher wherever {high[0]!r} is predicted: if it is the probability of that class, say so (--prob).",)
    if e.mapping.probabilities:
        raise _judges_no_probability(e)
    by_name = "is a confidence by name, but it " if named else ""
    raise ask_confidence(
        column,
        f"Column {column!r} {by_name}is high for one predicted class and low for the other, like the "
        "probability of one class. Is it a confidence, or (none) the probability of the positive class?",
    )


def _by_luck(sides: dict[str, Floats], name: str) -> bool:
    """Whether the values of the predicted classes are so few that they can lie apart by chance."""
    mine, both = (np.unique(v[~np.isnan(v)]).size for v in (sides[name], np.concatenate(list(sides.values()))))
    orders = comb(min(both, 60), min(mine, both - mine, 5))  # fewer than there are, which is enough to tell
    return 2 / orders > _BY_LUCK


def _judges_no_probability(e: Evidence) -> InputError:
    flag = f"Column {e.correct!r}" if e.correct else "A flag for right or wrong"
    return InputError(
        f"{flag} judges the confidence in the predicted class, not the probability of one class. "
        "Name the column of the true class (--label), or the one of the confidence (--confidence).",
        column=e.correct,
    )


def sides_of(e: Evidence, predicted: str, values: Floats) -> dict[str, Floats]:
    """The values of a column for each predicted class."""
    names = e.column(predicted).names()
    wanted = {name_key(v) for v in e.values(predicted) or ()}
    return {c: values[names.code == i] for i, c in enumerate(names.distinct) if name_key(c) in wanted and (names.code == i).any()}


def _label_of_confidence(e: Evidence, columns: list[str]) -> str | None:
    """The label, where there is a predicted class to compare it with; None where a flag says what was right."""
    use_flag = e.correct is not None and (e.mapping.correct is not None or e.predicted is None or not (e.mapping.label or named_labels(e)))
    if use_flag:
        return None
    if e.predicted is None:
        candidates = named_labels(e)
        if not candidates:
            raise no_label(e)
        text = (
            f"Column {columns[0]!r} is {'taken as a confidence' if e.mapping.confidence else 'a confidence by name'}, but no column holds "
            "the predicted class (--predicted) or says whether it was right (--correct). Is it the probability of one class?"
        )
        raise AmbiguousLayout([question("probabilities", text, columns)])
    label = find_label(e, tuple(columns), shares_values(e, e.predicted))
    shared = {name_key(v) for v in e.values(label) or ()} & {name_key(v) for v in e.values(e.predicted) or ()}
    if not shared:
        raise InputError(
            f"Columns {label!r} (true) and {e.predicted!r} (predicted) have no value in common, so no "
            "prediction would be right. Name the right columns (--label, --predicted).",
            column=label,
        )
    return label


def _checked_flags(e: Evidence, reading: Reading) -> Reading:
    assert e.correct is not None
    values = e.values(e.correct, 20)
    if values is None:
        raise InputError(f"Column {e.correct!r} should say right or wrong, but has many different values.", column=e.correct)
    odd = [v for v in values if wrong_or_right(v) is None]
    if odd and len(odd) < len(values):
        text = f"Column {e.correct!r} holds {listing(odd)}, which is neither right nor wrong. Leave such rows out?"
        raise AmbiguousLayout([question("drop_label", text, [",".join(odd)])])
    if odd:
        raise InputError(
            f"Column {e.correct!r} should say right or wrong (1/0, true/false, Correct/Wrong), but holds {listing(odd, 4)}.",
            column=e.correct,
        )
    return reading
