"""One column of probabilities: of the positive class, or the confidence in the predicted class, or one column a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key, name_text
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.codes import class_means
from calibcore.io.columns import Names
from calibcore.io.confidences import (
    ask_confidence,
    confidence_reading,
    different_scales,
    given,
    is_probability_of,
    settled_scale,
    shares_values,
    sides_of,
)
from calibcore.io.evidence import Evidence, question
from calibcore.io.labels import find_label, labels_alone, named_labels, other_labels
from calibcore.io.multi_columns import classes_of, complementary, not_alone, plausible, written
from calibcore.io.reading import Reading, Unit
from calibcore.io.scales import to_fractions
from calibcore.io.vocabulary import (
    bare,
    beside_yes_and_no,
    class_in_name,
    counterpart,
    is_bound_of,
    is_named,
    is_no_probability,
    is_whole,
    plain,
    polarity,
    shortened,
)

__all__ = ["positive_reading", "single_reading"]

Floats = NDArray[np.floating[Any]]

_OFFERED = 30  # columns that a question names
_MODELS = 8  # models that are compared at most
_ENOUGH = 20  # rows from which "no probability below one half" is telling


def single_reading(e: Evidence) -> Reading:
    """The last rule: whatever has a label and at least one column of probabilities."""
    if e.mapping.columns_are == "labels":
        raise InputError(
            "columns_are (--columns-are) labels needs several probabilities, each with its own column of outcomes that is named like it, "
            "such as rain and prob_rain. Name one label and one probability (--label, --prob)."
        )
    confidences = given(e.told("confidence"), e.named("confidence"))
    probabilities = given(e.told("probabilities"), e.named("probability")) or ([] if confidences else _by_other_names(e))
    if e.mapping.probabilities or e.mapping.confidence == ():
        confidences, probabilities = [], probabilities or e.named("confidence")
    elif e.mapping.confidence:
        probabilities = []
    if confidences and probabilities:
        return _both(e, confidences, probabilities)
    if confidences:
        return confidence_reading(e, confidences)
    if not probabilities:
        raise _nothing(e)
    return _of_probabilities(e, plausible(e, not_alone(e, _with_numbered(e, probabilities))))


def _with_numbered(e: Evidence, columns: list[str]) -> list[str]:
    """With p2 beside p1, which may stand for another model or class."""
    if e.mapping.probabilities or len(columns) != 1 or not (found := re.fullmatch(r"(.*?)(\d+)", columns[0])):
        return columns
    alike = [n for n in e.free if n not in columns and re.fullmatch(re.escape(found[1]) + r"\d+", n) and e.unit(n)]
    return [n for n in e.names if n in {*columns, *alike}]


def _by_other_names(e: Evidence) -> list[str]:
    """Logits by name; a prediction that is a fraction; the only fractions that are left."""
    if e.mapping.probabilities == () or e.mapping.confidence:
        return []
    logits = [n for n in e.free if is_named(n, "logit") and e.numeric(n)]
    fractions = [n for n in e.free if is_named(n, "predicted") and e.unit(n)]
    if logits or fractions:
        return fractions or logits
    labels = named_labels(e)
    units = [n for n in e.free if n not in labels and e.unit(n)]
    keys = {plain(n) for n in units}
    bounds = [n for n in units if is_bound_of(n, keys - {plain(n)})]
    units = [n for n in units if n not in bounds]
    if not units and (percent := [n for n in e.free if n not in labels and _in_percent(e, n)]):
        text = f"Which column holds the probability? {listing(percent, 5)} could, in percent."
        if len(percent) == 1:
            text = f"Does column {percent[0]!r} hold the probability, in percent?"
        raise AmbiguousLayout([question("probabilities", e.doubt + text, percent)])
    alone = len(units) == 1 and not is_no_probability(units[0]) and all(n in labels or not e.numeric(n) for n in e.rest(*units, *bounds))
    alone = alone or (len(units) == 1 and e.table.headless)  # no name could tell more
    classes = len(units) > (1 if e.table.headless else 2) and complementary(e, units)
    if alone or classes or not units:
        return units
    if e.mapping.columns_are in ("models", "classes"):
        return units
    if len(units) > _OFFERED:
        raise InputError(
            f"No column has the name of a probability, and {len(units):,} columns ({listing(units, 3)}) lie between 0 and 1. "
            "Name the column, or one column per class (--prob).",
            available=tuple(units),
        )
    raise _ask_probability(e, units, labels)


def _ask_probability(e: Evidence, units: list[str], labels: list[str]) -> AmbiguousLayout:
    """Offers each column of fractions, and all of them as one model each: that first where they stand alone beside a yes or no."""
    if len(units) == 1:
        text = f"{e.doubt}Does column {units[0]!r} hold the probability? It lies between 0 and 1."
        return AmbiguousLayout([question("probabilities", text, units)])
    together = len(units) <= _MODELS and not any(map(is_no_probability, units)) and not complementary(e, units)
    each = [written(units)] if together else []
    labels = labels or other_labels(e, *units)
    binary = len(labels) == 1 and _two_valued(e.values(labels[0]) or ())
    first = binary and (len(units) == 2 or not any(map(e.numeric, e.rest(*units, *labels))))
    models = " (one model each: --columns-are models)" if each else ""
    text = f"{e.doubt}Which column holds the probability? {listing(units, 5)} lie between 0 and 1{models}."
    return AmbiguousLayout([question("probabilities", text, [*each, *units] if first else [*units, *each])])


def _in_percent(e: Evidence, column: str) -> bool:
    """Whether a column says percent, by its name or in each cell, and holds numbers from 0 to 100."""
    found = e.column(column).numeric() if e.numeric(column) else None
    if found is None or not len(found.values) or not (found.percent or is_named(column, "percent")):
        return False
    return bool(np.fmin.reduce(found.values) >= 0 and np.fmax.reduce(found.values) <= 100)


def _nothing(e: Evidence) -> InputError:
    nested = [n for n in e.names if e.column(n).kind == "nested"]
    if nested:
        return InputError(
            "No column of numbers looks like a probability, and the lists or records in a cell "
            f"(column {nested[0]!r}) are not one number for each class. Save one column per class.",
            column=nested[0],
        )
    return labels_alone(e) or e.no_column("probability")


def _both(e: Evidence, confidences: list[str], probabilities: list[str]) -> Reading:
    """A confidence and a probability by name: the confidence needs a predicted class or a flag, else the probability counts."""
    if e.predicted is None and e.correct is None:
        return _of_probabilities(e, plausible(e, probabilities))
    text = (
        f"Which column is to be judged? {listing(confidences, 3)} looks like the confidence in the "
        f"predicted class, {listing(probabilities, 3)} like the probability of one class."
    )
    raise AmbiguousLayout([question("confidence", text, [*confidences, "none"])])


def _of_probabilities(e: Evidence, columns: list[str]) -> Reading:
    if len(columns) > 1:
        return classes_of(e, columns) or positive_reading(e, tuple(columns))
    (column,) = columns
    if e.correct and e.mapping.label is None and not named_labels(e) and not e.about(column) and _flag_counts(e, e.correct, column):
        return confidence_reading(e, columns)
    if e.predicted is None or (e.mapping.probabilities and e.mapping.positive):
        return positive_reading(e, (column,))
    if e.mapping.confidence == ():
        return positive_reading(e, (column,), positive=_followed(e, column, e.predicted))
    return _with_prediction(e, column, e.predicted)


def _followed(e: Evidence, column: str, predicted: str) -> str | None:
    """The class that is predicted exactly where a column is high, unless the user names the positive one."""
    sides = sides_of(e, predicted, e.column(column).numeric().values)
    if len(sides) != 2 or e.mapping.positive or e.mapping.classes:
        return None
    return next((c for c in sides if is_probability_of(sides, c)), None)


def _flag_counts(e: Evidence, flag: str, column: str) -> bool:
    """Whether a flag says if this column's predictions were right: "other_correct" may belong to another model."""
    return e.mapping.correct is not None or is_named(flag, "correct", exact=True) or not other_labels(e, column)


def positive_reading(e: Evidence, columns: tuple[str, ...], *, positive: str | None = None, label: str | None = None) -> Reading:
    """Label + P(positive); several columns are several models."""
    scales = {settled_scale(e, c) for c in columns}
    if len(scales) > 1:
        raise different_scales(columns, scales)
    scale = scales.pop()
    label = label or find_label(e, columns, lambda n: e.class_like(n) and _two_valued(e.values(n) or ()))
    _confidence_instead(e, columns, scale)
    stated = class_in_name(columns[0], _two_known(e, label)) if len(columns) == 1 else None
    classes = _two_classes(e, label, columns, positive or (None if e.mapping.positive or e.mapping.classes else stated))
    notes = tuple(note for c in columns for note in _turned_round(e, label, c, classes, sure=bool(positive or stated or len(columns) > 1)))
    units = tuple(Unit((c,), label, c if len(columns) > 1 else None) for c in columns)
    layout = "label + P(positive)" if len(units) == 1 else "label + one P(positive) per model"
    return Reading(layout, "positive", units, classes, scale, e.predicted, notes=notes)


def _two_valued(values: Sequence[str]) -> bool:
    """Whether values are those of a yes/no outcome, perhaps with ties or void cases."""
    return len(values) <= 2 or beside_yes_and_no(values)[1] is not None


def _two_known(e: Evidence, label: str) -> list[str]:
    """The values of a label with two of them, unless they are numbers such as 1 and 2, after which models are named as well."""
    values = list(e.values(label) or ())
    numbers = all(is_whole(name_key(v)) for v in values)
    return values if len(values) == 2 and not (numbers and polarity(values) is None) else []


def _turned_round(e: Evidence, label: str, column: str, classes: tuple[str, str], *, sure: bool) -> tuple[str, ...]:
    """A note where the positive class has the lower values; asked where the column is named after something else."""
    names, values = e.column(label).names(), e.column(column).numeric().values.astype(np.float64, copy=False)
    if _rises(names, values, classes):
        return ()
    low, high = (values[_rows_of(names, c) & ~np.isnan(values)] for c in classes)
    if not (len(low) and len(high)) or low.mean() <= high.mean():
        return ()
    noise = np.sqrt(low.var() / len(low) + high.var() / len(high)) if min(len(low), len(high)) >= 5 else np.inf
    told = e.mapping.probabilities or e.mapping.positive or e.mapping.classes
    other = not (sure or told or e.predicted or is_named(column, "probability", exact=True) or label in e.about(column))
    beyond = low.mean() - high.mean() > 2 * noise
    text = f"Rows of class {classes[1]!r} have lower values in {column!r} (mean {high.mean():.3g}) than the others ({low.mean():.3g})"
    if not beyond:
        if told:
            return ()
        text += ", which chance could explain"
    elif other and (bare(column) or low.mean() - high.mean() > 5 * noise):
        raise AmbiguousLayout([question("positive", f"{text}. Which class does it refer to?", classes)])
    return (f"{text}: check which class it refers to (--positive).",)


def _rises(names: Names, values: NDArray[np.float64], classes: tuple[str, str]) -> bool:
    """Whether the second class has the higher mean, as one pass over the rows tells; False where cells are missing."""
    codes = [[i for i, d in enumerate(names.distinct) if name_key(d) == name_key(c)] for c in classes]
    if any(len(found) != 1 for found in codes):
        return False
    if names.code.min() < 0:
        return False
    mean = class_means(names.code, values, len(names.distinct))
    return bool(mean[codes[0][0]] < mean[codes[1][0]])


def _rows_of(names: Names, name: str) -> NDArray[np.bool_]:
    rows: NDArray[np.bool_] = np.array([*(name_key(d) == name_key(name) for d in names.distinct), False])[names.code]
    return rows


def _confidence_instead(e: Evidence, columns: tuple[str, ...], scale: str) -> None:
    """Asks where no value is below one half and no predicted class tells what the column is."""
    if (
        e.mapping.probabilities
        or e.mapping.confidence == ()
        or e.predicted is not None
        or e.table.n_rows < _ENOUGH
        or scale not in ("fraction", "percent")
    ):
        return
    values = to_fractions(e.column(columns[0]).numeric().values, scale)[0]
    if len(columns) == 1 and np.nanmin(values) >= 0.5 and np.nanmax(values) > 0.5:
        text = (
            f"No value of column {columns[0]!r} is below 0.5. Is it the confidence in a "
            "predicted class, or (none) the probability of the positive class?"
        )
        raise AmbiguousLayout([question("confidence", text, ["none", columns[0]])])


def _two_classes(e: Evidence, label: str, columns: tuple[str, ...], positive: str | None) -> tuple[str, str]:
    """(other, positive) for one column, or one a model."""
    column, values = columns[0], list(e.values(label) or ())
    positive = positive or e.mapping.positive
    if len(values) > 2:
        raise _too_many(label, column, values)
    told = e.mapping.classes
    if told and (len(told) != 2 or not {name_key(v) for v in values} & {name_key(c) for c in told}):
        raise InputError(
            f"Column {label!r} holds {listing(values)} and {column!r} gives one probability a row, so classes (--classes) must name "
            f"two, other and positive; it names {listing(told, 8)}.",
            value=told,
            available=tuple(values),
        )
    if told and positive is None:
        return told[0], told[1]
    found = next((v for v in values if name_key(v) == name_key(positive)), positive) if positive else e.positive(values)
    found = found or _only_one(label, values)
    if found is None:
        raise _ask_positive(e, label, columns, values)
    if positive and len(values) == 2 and name_key(found) not in {name_key(v) for v in values}:
        raise InputError(f"The positive class {found!r} is not one of the labels {listing(values)}.", value=found, available=tuple(values))
    other = next((v for v in values if name_key(v) != name_key(found)), None)
    return name_text(other if other is not None else _opposite(found)), name_text(found)


def _only_one(label: str, values: Sequence[str]) -> str | None:
    """The positive class where the only label is a word for no; InputError where it is a measured number."""
    if len(values) != 1:
        return None
    key = name_key(values[0])
    if isinstance(key, float) and not is_whole(key):
        raise InputError(
            f"Column {label!r} holds only {values[0]}, which says neither yes nor no. Name the column of the true class (--label).",
            value=values[0],
            column=label,
        )
    return counterpart(values[0])


def _opposite(name: str) -> str:
    return "0" if name_key(name) == 1.0 else counterpart(name) or f"not {name}"


def _too_many(label: str, column: str, values: Sequence[str]) -> InputError:
    """More than two labels for one probability: asks about values that are no outcome, else refuses."""
    odd, two = beside_yes_and_no(values)
    if odd and two:
        text = f"Column {label!r} holds {listing(odd)} beside {listing(two)}. Leave such rows out?"
        return AmbiguousLayout([question("drop_label", text, [",".join(odd)])])
    return InputError(
        f"Column {label!r} has {len(values)} different values ({listing([shortened(v) for v in values], 3)}), "
        f"but column {column!r} gives only one probability a row. Give one column per class, or the predicted class and its confidence.",
        column=label,
    )


def _ask_positive(e: Evidence, label: str, columns: tuple[str, ...], values: list[str]) -> AmbiguousLayout:
    """Offers the class whose rows have the higher mean probability; of several models one answer holds for all."""
    names, numbers = e.column(label).names(), [e.column(c).numeric().values for c in columns]
    known = {name_key(d): i for i, d in enumerate(names.distinct)}
    means = {v: float(np.mean([_mean(n[names.code == known[name_key(v)]]) for n in numbers])) for v in values}
    occurring = values
    if len(values) == 1:  # a class that no row has may be meant as well
        values = [values[0], _opposite(values[0])]
        means[values[1]] = 1 - means[values[0]]
    best = sorted(values, key=lambda v: -means[v])
    shown = listing([repr(shortened(v)) for v in occurring])
    has = f"the values {shown}" if len(occurring) > 1 else f"only the value {shown}"
    which = listing([repr(c) for c in columns], 4)
    refers = f"does the probability ({which})" if len(columns) == 1 else f"do the probabilities ({which})"
    doubt = e.doubt if e.table.n_rows == len(occurring) else ""  # each row has its own
    text = f"{doubt}Column {label!r} has {has}. Which one {refers} refer to?"
    return AmbiguousLayout([question("positive", text, best)])


def _mean(values: Floats) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else 0.0


def _with_prediction(e: Evidence, column: str, predicted: str) -> Reading:
    """A probability beside a predicted class: P(c) if it is above its threshold exactly where c is predicted, else a confidence."""
    scale = settled_scale(e, column)
    label = find_label(e, (column,), shares_values(e, predicted))
    known = {name_key(v) for n in (label, predicted) for v in e.values(n) or ()} | {name_key(c) for c in e.mapping.classes or ()}
    if len(known) > 2:
        return _many_classes(e, column, len(known))
    values = to_fractions(e.column(column).numeric().values, scale)[0]
    sides = sides_of(e, predicted, values)
    if e.mapping.probabilities:
        return positive_reading(e, (column,), positive=_followed(e, column, predicted), label=label)
    if len(sides) < 2:
        return _one_prediction(e, column, values)
    if np.nanmin(values) >= 0.5 or e.mapping.confidence:
        return confidence_reading(e, [column])
    of = [c for c in sides if is_probability_of(sides, c)]
    if of:
        return positive_reading(e, (column,), positive=of[0], label=label)
    raise ask_confidence(
        column,
        f"Column {column!r} agrees with {predicted!r} neither as the probability of one class nor as the confidence in "
        "the predicted one. Is it a confidence, or (none) the probability of the positive class?",
    )


def _many_classes(e: Evidence, column: str, k: int) -> Reading:
    """With three or more classes one column can only be a confidence; below 1/K it is not that of the largest."""
    if is_named(column, "confidence") or float(np.nanmin(e.column(column).numeric().values)) >= 1 / k - 1e-9 or e.mapping.confidence:
        return confidence_reading(e, [column])
    raise ask_confidence(
        column,
        f"Column {column!r} falls below 1/{k}, less than the largest of {k} "
        "probabilities can be. Is it the confidence in the predicted class?",
    )


def _one_prediction(e: Evidence, column: str, values: Floats) -> Reading:
    if np.nanmin(values) < 0.5:
        return positive_reading(e, (column,))
    raise ask_confidence(
        column,
        f"Only one class is ever predicted, so column {column!r} could be the confidence in "
        "it, or (none) the probability of the positive class. Which is it?",
    )
