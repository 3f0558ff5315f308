"""Several columns of probabilities beside one label: one model each, or one class each."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from calibcore.checks import listing, name_key, sorted_names
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.class_columns import ClassSet
from calibcore.io.class_layouts import class_reading, orders
from calibcore.io.evidence import Evidence, question
from calibcore.io.labels import find_label, named_labels
from calibcore.io.reading import Reading
from calibcore.io.vocabulary import is_no_probability, plain

__all__ = ["classes_of", "complementary", "not_alone", "plausible", "written"]


def not_alone(e: Evidence, columns: list[str]) -> list[str]:
    """The columns; InputError where the user speaks of models or classes, one column is named like a probability, and others are not."""
    if len(columns) != 1 or e.mapping.probabilities or e.mapping.columns_are not in ("models", "classes"):
        return columns
    labels = named_labels(e)
    others = [n for n in e.free if n not in (*columns, *labels) and e.unit(n) and not is_no_probability(n)]
    if not others:
        return columns
    one = "model" if e.mapping.columns_are == "models" else "class"
    raise InputError(
        f"columns_are (--columns-are) {e.mapping.columns_are} needs several probabilities; only {columns[0]!r} has the name of one, "
        f"but {listing([repr(n) for n in others], 4)} could be one as well. "
        f"Name the column of each {one} (--prob {columns[0]},{others[0]}).",
        available=(*columns, *others),
    )


def classes_of(e: Evidence, columns: list[str]) -> Reading | None:
    """Several probabilities as one class each; None for one model each, as names that are alike say; else it is asked."""
    kinds, sums = {_pattern(c) for c in columns}, complementary(e, columns)
    asked = e.mapping.columns_are in ("models", "classes") or isinstance(e.mapping.probabilities, tuple)
    classes = e.mapping.columns_are == "classes" or (not asked and sums and len(columns) > 2)
    if not asked and not classes and (len(kinds) > 1 or sums):
        text = f"What do the columns {listing(columns, 5)} stand for: one model each, or one class each?"
        raise AmbiguousLayout([question("columns_are", text, ["classes", "models"] if sums else ["models", "classes"])])
    if not classes:
        return None
    label = find_label(e, tuple(columns), e.class_like)
    values = sorted_names(list(e.values(label) or ()))
    values = values if len(values) == len(columns) else [str(i) for i in range(len(columns))]
    if e.mapping.classes is not None and len(e.mapping.classes) == len(columns):
        return class_reading(e, label, [ClassSet("", "", dict(zip(e.mapping.classes, columns, strict=True)))])
    offers = sorted(orders(values, columns), key=lambda o: -_mean_of(e, columns[0], label, o.split(",")[0]) if len(values) == 2 else 0)
    raise AmbiguousLayout([question("classes", f"Which class does each of {listing(columns, 5)} stand for, in this order?", offers)])


def complementary(e: Evidence, columns: list[str]) -> bool:
    """Whether nearly all rows add up to 1."""
    total = np.sum([e.column(c).numeric().values.astype(np.float64) for c in columns], axis=0)
    return bool(np.nanmean(np.abs(total - 1) < 0.02) > 0.98)


def _mean_of(e: Evidence, column: str, label: str, name: str) -> float:
    """The mean of a column over the rows of one class."""
    names = e.column(label).names()
    values = e.column(column).numeric().values[names.rows(name_key(d) == name_key(name) for d in names.distinct)]
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else 0.0


def _pattern(column: str) -> str:
    """What the name of a probability has in common with its fellows."""
    key = plain(column)
    words = ("predprobs", "probability", "proba", "probs", "prob", "score", "risk")
    word = next((w for w in words if w in key), key)
    return f"{word}-" if key.startswith(word) else f"-{word}"


def plausible(e: Evidence, columns: list[str]) -> list[str]:
    """Without repetitions, and without raw scores where others lie in [0, 1]."""
    if e.mapping.probabilities:
        return columns
    if e.mapping.columns_are != "models":
        columns = _different_numbers(e, columns)
    inside = [c for c in columns if e.unit(c)]
    return inside or columns


def _different_numbers(e: Evidence, columns: list[str]) -> list[str]:
    kept: list[str] = []
    for name in columns:
        values = e.column(name).numeric().values
        if not any(np.array_equal(values, e.column(k).numeric().values, equal_nan=True) for k in kept):
            kept.append(name)
    return kept


def written(columns: Sequence[str]) -> str:
    """Several columns as one answer: one model each."""
    return ",".join('"' + c.replace('"', '""') + '"' if re.search(r'[,"]', c) else c for c in columns)
