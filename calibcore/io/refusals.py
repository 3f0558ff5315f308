"""Layouts that are recognised and not read yet: each says what was found and what to give instead, never a number."""

from __future__ import annotations

import re

import numpy as np

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.class_columns import is_one_hot
from calibcore.io.evidence import Evidence
from calibcore.io.labels import named_labels
from calibcore.io.vocabulary import is_named, plain

__all__ = ["long_form", "one_hot", "weka"]


def weka(e: Evidence) -> None:
    """Weka: cells such as ``3:virgal`` and a distribution without class names."""
    if "inst#" in {plain(n) for n in e.table.columns} and not e.mapping.columns():
        raise InputError(
            "This looks like Weka's output, with cells such as 1:cat, which is not read yet. Name the "
            "columns (--label, --predicted, --confidence), or save one column per class."
        )


def one_hot(e: Evidence) -> None:
    """Labels spread over 0/1 columns."""
    if e.mapping.label or named_labels(e) or e.mapping.correct:
        return
    groups: dict[str, list[str]] = {}
    for name in e.free:
        stem = re.sub(r"[^_. \-]+$|\d+$", "", name)
        if stem and e.numeric(name) and e.class_like(name):
            groups.setdefault(stem, []).append(name)
    for columns in groups.values():
        if len(columns) > 1 and is_one_hot(e, columns):
            raise InputError(
                f"Columns {listing(columns, 4)} hold a 1 for the true class (one-hot labels), which "
                "is not read yet. Add one column with the name of the true class."
            )


def long_form(e: Evidence) -> None:
    """One row for each class of each case."""
    if e.mapping.columns_are or isinstance(e.mapping.probabilities, tuple):
        return
    probability = next(iter(e.named("probability")), None)
    kinds = [
        n
        for n in e.names
        if plain(n) in ("class", "klass", "option", "answer_option", "choice", "candidate", "category", "outcome") and n != probability
    ]
    keys = [n for n in e.names if is_named(n, "id") and n not in e.ids and n not in kinds]
    if probability is None or not kinds or not keys:
        return
    if any(_adds_up(e, probability, key, kind) for key in keys for kind in kinds):
        raise InputError(
            f"The file has one row for each class of each case (columns {keys[0]!r}, {kinds[0]!r}, {probability!r}), "
            "which is not read yet. Save one row a case, with one column per class."
        )


def _adds_up(e: Evidence, probability: str, key: str, kind: str) -> bool:
    """Whether the probabilities of a case (and model) add up to 1 over its classes."""
    values = np.nan_to_num(e.column(probability).numeric().values.astype(np.float64))
    if e.column(key).kind == "nested" or not e.class_like(kind):
        return False
    case = e.column(key).names().code
    if e.model:
        names = e.column(e.model).names()
        case = case * (len(names.distinct) + 1) + names.code
    _, inverse, rows = np.unique(case, return_inverse=True, return_counts=True)
    sums = np.bincount(inverse, values)
    return bool((rows > 1).mean() > 0.9 and (np.abs(sums - 1) < 0.02).mean() > 0.9)
