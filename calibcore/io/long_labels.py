"""The label of a long form: a class that all rows of a case share, or a flag that is set on the row of the true class."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import name_key
from calibcore.errors import InputError
from calibcore.io.columns import Column
from calibcore.io.evidence import Evidence
from calibcore.io.labels import label_question, named_labels
from calibcore.io.reshaped import texts
from calibcore.io.vocabulary import is_named, plain, wrong_or_right

__all__ = ["Cases", "LongLabel", "long_label"]

_FLAG_NAMES = frozenset(
    re.findall(r"\w+", "is_true is_label is_target is_actual happened occurred resolved true is_outcome true_class is_true_class")
)
_GUESSES = ("pred", "argmax", "top", "chosen", "picked", "selected", "guess", "best", "rank")
_MOST = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """For each row its ``case`` (counted by first appearance) and its class's code; each case's first row; names of classes."""

    case: NDArray[np.intp]
    first: NDArray[np.intp]
    kind: NDArray[np.intp]
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LongLabel:
    """The label's column in the file, and what it says of each case: a code of ``Cases.classes`` or of further names; −1 for none."""

    name: str
    code: NDArray[np.intp]
    names: tuple[str, ...]
    is_flag: bool = False

    @property
    def column(self) -> Column:
        """One label a case."""
        return texts(self.name, self.names, self.code)


def long_label(e: Evidence, cases: Cases, kind: str, used: tuple[str, ...]) -> LongLabel | None:
    """The label, if a column can be it; asked where several say different things, and where only a name is missing."""
    apart = {*used, kind, e.model, *e.index, *e.predictions}
    told = e.mapping.label
    if told == ():
        return None
    names = [told] if told else [n for n in e.names if n not in apart and not _is_guess(n)]
    found = [x for n in names if (x := _shared(e, cases, n) or _flagged(e, cases, n))]
    if told:
        return found[0] if found else None
    by_name = named_labels(e)
    sure = [x for x in found if x.name in by_name] or [x for x in found if plain(x.name) in _FLAG_NAMES or is_named(x.name, "correct")]
    texts_only = [x for x in found if not e.numeric(x.name) and e.column(x.name).kind == "text"]
    chosen = _different(sure or texts_only)
    if len(chosen) == 1:
        return chosen[0]
    if found:
        raise label_question(e, [x.name for x in (chosen or found)], used)
    return None


def _is_guess(name: str) -> bool:
    return any(w in plain(name) for w in _GUESSES)


def _different(found: list[LongLabel]) -> list[LongLabel]:
    kept: list[LongLabel] = []
    for x in found:
        if not any(np.array_equal(x.code, k.code) and x.names == k.names for k in kept):
            kept.append(x)
    return kept


def _shared(e: Evidence, cases: Cases, name: str) -> LongLabel | None:
    """A class that all rows of a case share, or that stands on one of them while the others are empty."""
    values = e.values(name) if e.class_like(name) else None
    known = {name_key(c): i for i, c in enumerate(cases.classes)}
    if not values or not ({name_key(v) for v in values} & set(known)) or sum(name_key(v) not in known for v in values) > 2:
        return None
    names = e.column(name).names()
    further = [d for d in names.present() if name_key(d) not in known]
    every = (*cases.classes, *further)
    keys = {name_key(c): i for i, c in enumerate(every)}
    code = np.array([*(keys.get(name_key(d), -1) for d in names.distinct), -1], dtype=np.intp)[names.code]
    code[names.missing(frozenset(cases.classes))] = -1
    label = np.full(len(cases.first), -1, dtype=np.intp)
    there = code >= 0
    label[cases.case[there][::-1]] = code[there][::-1]
    differs = there & (label[cases.case] != code)
    if len(np.unique(cases.case[differs])) > (1 - _MOST) * len(label):
        return None
    if differs.any():
        row = int(np.argmax(differs)) + 1
        raise InputError(
            f"Row {row:,} of column {name!r} is {every[code[row - 1]]!r}, but an earlier row of the same case says "
            f"{every[label[cases.case[row - 1]]]!r}. Mend one of them.",
            row=row,
            column=name,
        )
    return LongLabel(name, label, every)


def _flagged(e: Evidence, cases: Cases, name: str) -> LongLabel | None:
    """A flag that is set on exactly one row of a case."""
    values = e.values(name, 6) if e.column(name).kind in ("text", "number", "flag") else None
    words = [wrong_or_right(v) for v in values or ()]
    if True not in words or None in words:
        return None
    names = e.column(name).names()
    flag = np.array([*(wrong_or_right(d) is True for d in names.distinct), False])[names.code]
    count = np.bincount(cases.case, flag, minlength=len(cases.first))
    seen = count == 1 if e.table.complete else count <= 1  # the row may come later
    if float(seen.mean()) < _MOST:
        return None
    if (count > 1).any():
        row = int(np.flatnonzero(flag & (count[cases.case] > 1))[1]) + 1
        raise InputError(f"Column {name!r} marks two classes of one case as true (row {row:,}). Mend one of them.", row=row, column=name)
    label = np.full(len(cases.first), -1, dtype=np.intp)
    label[cases.case[flag]] = cases.kind[flag]
    return LongLabel(name, label, cases.classes, is_flag=True)
