"""Rules for probabilities as a vector in one cell: its numbers become columns of their own, then one column a class is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key, sorted_names
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.class_columns import ClassSet, is_one_hot, truth_key, truth_names
from calibcore.io.class_layouts import class_reading, orders
from calibcore.io.columns import Column, Table, kind_of
from calibcore.io.evidence import Evidence, question
from calibcore.io.labels import find_label, named_labels, other_labels
from calibcore.io.nested import derive_fields
from calibcore.io.reading import Reading
from calibcore.io.vectors import Vectors, name_lists, struct_fields, vectors_of
from calibcore.io.vocabulary import is_named, is_whole, plain

__all__ = ["derive", "found_vectors", "told_vectors", "with_fields"]

_WORDS = ("prob", "score", "logit", "logprob", "pred", "distribution", "resps", "cats", "softmax")
_SURE = ("fraction", "percent", "log-prob")
_NAMES_OF_CLASSES = r"(.*_)?(labels|classes|class_?names|class_?labels|label_?names|categories|class_order)"
_NUMBERED = re.compile(r"label_(\d+)")
_SHOWN = 8  # classes that a note names


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The numbers of a vector as columns: ``columns`` is class (or position) → derived column.

    ``named`` says that the file names the classes: by keys, or in column ``by``.
    """

    base: str
    columns: dict[str, str]
    named: bool = False
    by: str | None = None

    def classes(self, names: tuple[str, ...] | None = None) -> ClassSet:
        """The same as columns with a common beginning."""
        columns = dict(zip(names, self.columns.values(), strict=True)) if names else self.columns
        return ClassSet(f"{self.base}[", "]", columns)


def with_fields(table: Table) -> Table:
    """The fields of records as columns ``record.field``, where a table has nothing but records and lists."""
    if any(c.kind != "nested" for c in table.columns.values()):
        return table
    columns: dict[str, Column] = {}
    for name, column in table.columns.items():
        fields = _fields(column)
        if fields:
            columns |= {f"{name}.{k}": Column(f"{name}.{k}", kind_of(v.type), _always(v)) for k, v in fields.items()}
        else:
            columns[name] = column
    return replace(table, columns=columns)


def _fields(column: Column) -> dict[str, Any]:
    """The fields of a record; none of a vector, unless one of them is called like a label."""
    import pyarrow.types as pt

    if not pt.is_struct(column.array.type):
        return {}
    fields = struct_fields(column.array)
    if any(is_named(k, role, exact=True) for k in fields for role in ("label", "predicted")):
        return fields
    try:
        return {} if vectors_of(column) else fields
    except InputError:  # a vector with a fault, which its rule tells
        return {}


def _always(array: object) -> Callable[[], object]:
    return lambda: array


def derive(table: Table, names: tuple[str, ...]) -> None:
    """Makes the columns of vectors that are named as such, like ``probs[cat]``."""
    for name in names:
        base = next((c for c in table.columns if name.startswith(f"{c}[")), None)
        if name not in table.columns and base:
            _sets(table, base)
        if name not in table.columns:
            derive_fields(table, name)


def _sets(table: Table, base: str) -> tuple[VectorSet, ...]:
    """The columns of a vector: by its keys, or by position and by a column that names the classes."""
    memo = table.column(base).memo
    found = vectors_of(table.column(base))
    if found is None:
        return ()
    if "sets" not in memo:
        first = _made(table, base, found)
        memo["sets"] = (first,) if first.named else (*_named_beside(table, base, found), first)
    for each in memo["sets"]:
        table.derived.update({c: memo["columns"][c] for c in each.columns.values()})
    return memo["sets"]  # type: ignore[no-any-return]


def _made(table: Table, base: str, found: Vectors, by: str | None = None) -> VectorSet:
    names = found.names or tuple(str(i) for i in range(found.matrix.shape[1]))
    columns = {name: f"{base}[{name}]" for name in names}
    taken = next((c for c in columns.values() if c in table.columns), None)
    if taken:
        raise InputError(f"Column {base!r} holds vectors, one of whose numbers would be called {taken!r} like another column. Rename it.")
    made = table.column(base).memo.setdefault("columns", {})
    for position, column in enumerate(columns.values()):
        made[column] = Column(column, "number", _numbers(found.matrix[:, position]), of=base)
    return VectorSet(base, columns, found.names is not None, by)


def _numbers(values: NDArray[np.floating]) -> Callable[[], object]:
    def load() -> object:
        import pyarrow as pa

        return pa.array(values, from_pandas=False)

    return load


def _named_beside(table: Table, base: str, found: Vectors) -> list[VectorSet]:
    """The vectors keyed by the column of lists that is called so and names the same K classes in each row, if there is one.

    Other lists of names may be in another order: a ranking, or the answers to a question.
    """
    n, k = found.matrix.shape
    for name, column in table.columns.items():
        telling = name != base and re.fullmatch(_NAMES_OF_CLASSES, plain(name))
        lists = name_lists(column) if telling else None
        if lists is None or len(lists[2]) != k or (lists[0] != k).any():
            continue
        code = lists[1].reshape(n, k)
        if (np.sort(code, axis=1) == np.arange(k)).all():
            matrix = np.empty_like(found.matrix)
            np.put_along_axis(matrix, code, found.matrix, axis=1)
            return [_made(table, base, Vectors(matrix, lists[2]), by=name)]
    return []


def told_vectors(e: Evidence) -> Reading | None:
    """The user named columns of vectors."""
    told = e.mapping.probabilities
    names = (told,) if isinstance(told, str) else told or ()
    if isinstance(told, Dictionary) or not names or any(e.numeric(n) for n in names):
        return None
    sets = [s for n in names if (s := _sets(e.table, n))]
    if len(sets) == len(names):
        return _reading(e, sets)
    nested = next((n for n in names if e.column(n).kind == "nested"), None)
    if nested:
        raise no_vectors(nested)
    return None


def found_vectors(e: Evidence) -> Reading | None:
    """Columns of vectors by their names, or whose rows add up to 1; a named column of single probabilities goes before doubtful ones."""
    if e.mapping.probabilities is not None or e.mapping.confidence or e.mapping.columns_are in ("models", "labels"):
        return None
    single = bool(e.named("probability") or e.named("confidence"))
    named = [n for n in e.names if _may_hold(e, n) and any(w in plain(n) for w in _WORDS)]
    others = [] if single else [n for n in e.names if _may_hold(e, n) and n not in named]
    named += [n for n in others if _keyed_by_labels(e, n)]
    others = [n for n in others if n not in named]
    sets = {n: s for n in (*named, *others) if (s := _sets(e.table, n)) and not is_one_hot(e, list(s[0].columns.values()))}
    scales = {n: _scale(e, s[0]) for n, s in sets.items()}
    sure = [n for n in sets if scales[n] in _SURE]
    doubtful = [n for n in named if n in sets and n not in sure]
    chosen = _different(e, sure) or ([] if single else [n for n in doubtful if scales[n] == "logit"] or doubtful)
    if chosen and not sure and len(chosen) > 1:
        text = f"Columns {listing(chosen, 5)} hold several numbers in each cell, none of which add up to 1. Which one is to be judged?"
        raise AmbiguousLayout([question("probabilities", text, chosen)])
    if chosen:
        return _reading(e, [sets[n] for n in chosen])
    nested = [n for n in (*named, *e.names) if e.column(n).kind == "nested" and n not in e.index]
    if nested and not single:
        raise no_vectors(nested[0])
    return None


def _keyed_by_labels(e: Evidence, name: str) -> bool:
    """Whether a record has one number for each class, by the name of the class: all values of a named label are its keys."""
    sets = _sets(e.table, name) if e.column(name).kind == "nested" else ()
    if not sets or not sets[0].named:
        return False
    keys = {name_key(c) for c in sets[0].columns}
    return any((values := e.values(n)) and len(values) > 1 and {name_key(v) for v in values} <= keys for n in named_labels(e))


def _may_hold(e: Evidence, name: str) -> bool:
    column = e.column(name)
    named = is_named(name, "ignore", exact=True) or re.fullmatch(_NAMES_OF_CLASSES, plain(name)) is not None
    return not named and column.kind in ("nested", "text")


def _scale(e: Evidence, found: VectorSet) -> str | None:
    try:
        return e.mapping.scale or found.classes().scale(e)
    except AmbiguousLayout:
        return "asked"


def _different(e: Evidence, names: list[str]) -> list[str]:
    """Without columns that repeat an earlier one."""
    kept: list[str] = []
    for name in names:
        matrix = [v.matrix for n in (*kept, name) if (v := vectors_of(e.column(n)))]
        if not any(np.array_equal(m, matrix[-1], equal_nan=True) for m in matrix[:-1]):
            kept.append(name)
    return kept


def no_vectors(name: str) -> InputError:
    """For lists and records that are not one number a class."""
    return InputError(
        f"Column {name!r} holds a list or a record in each cell that is not one number for each class, and is not read. "
        "Save one column per class, such as prob_cat, prob_dog.",
        column=name,
    )


def _reading(e: Evidence, found: list[tuple[VectorSet, ...]]) -> Reading:
    """The ordinary reading of one column a class; several vectors over the same classes are several models."""
    used = tuple(n for sets in found for s in sets for n in (s.base, s.by, *s.columns.values()) if n)
    label = _label(e, tuple(dict.fromkeys(used)), found[0])
    keys = {name_key(v) for v in e.values(label) or ()}
    chosen = [next((s for s in sets if s.named and keys & {name_key(c) for c in s.columns}), sets[-1]) for sets in found]
    first = chosen[0]
    alike = [s for s in chosen if s.named == first.named and len(s.columns) == len(first.columns)]
    if len(alike) < len(chosen):
        text = f"Columns {listing([s.base for s in chosen], 5)} hold vectors of different classes. Which one is to be judged?"
        raise AmbiguousLayout([question("probabilities", text, [s.base for s in chosen])])
    truths = _truths(list(e.values(label) or ()), first) if e.mapping.classes is None else None
    names = truths or (_other_names(e, label, first) if first.named else _names(e, label, first))
    reading = class_reading(e, label, [_renamed(s, first, names) for s in alike])
    return replace(reading, layout="label + a vector in one cell", notes=(*reading.notes, *(_note(e, s, reading) for s in alike)))


def _renamed(found: VectorSet, first: VectorSet, names: tuple[str, ...] | None) -> ClassSet:
    """A vector under the names of the first one's classes, which may come in another order here."""
    if names is None or not found.named:
        return found.classes(names)
    given = {name_key(key): name for key, name in zip(first.columns, names, strict=True)}
    return found.classes(tuple(given.get(name_key(key), key) for key in found.columns))


def _other_names(e: Evidence, label: str, found: VectorSet) -> tuple[str, ...] | None:
    """The label's numbers for keys such as A, B, C or LABEL_0, LABEL_1, where no key is a label; letters are asked about."""
    keys, values = sorted_names(list(found.columns)), list(e.values(label) or ())
    if {name_key(k) for k in keys} & {name_key(v) for v in values} or not values:
        return None
    numbers = {k: m[1] for k in keys if (m := _NUMBERED.fullmatch(plain(k)))}
    wanted = [name_key(v) for v in values]
    if not all(is_whole(w) for w in wanted):
        return None
    if len(numbers) == len(keys):
        return tuple(numbers[k] for k in found.columns)
    if [k.strip().casefold() for k in keys] != [chr(ord("a") + i) for i in range(len(keys))]:
        return None
    told = e.mapping.classes
    if told is not None and len(told) == len(keys):
        return tuple(told[keys.index(k)] for k in found.columns)
    low, high = min(wanted), max(wanted)  # type: ignore[type-var]
    offers = [",".join(str(i + start) for i in range(len(keys))) for start in (0, 1) if start <= low and high < len(keys) + start]  # type: ignore[operator]
    if not offers:
        return None
    text = (
        f"Column {found.base!r} names the classes {listing(keys, _SHOWN)}, but {label!r} holds numbers "
        f"({listing(sorted_names(values), 6)}). Which number does each letter stand for, in this order?"
    )
    raise AmbiguousLayout([question("classes", text, offers)])


def _label(e: Evidence, used: tuple[str, ...], sets: tuple[VectorSet, ...]) -> str:
    """By its name, else the only column of texts all of which are keys of the vectors, else as for any other layout."""
    keys = {name_key(c) for s in sets if s.named for c in s.columns}
    if keys and e.mapping.label is None and not [n for n in named_labels(e) if n not in used]:
        texts = [n for n in other_labels(e, *used) if not e.numeric(n) and {name_key(v) for v in e.values(n) or ()} <= keys]
        if len(e.different(texts)) == 1:
            return texts[0]
    return find_label(e, used, lambda n: _fits(e, n, sets))


def _fits(e: Evidence, name: str, sets: tuple[VectorSet, ...]) -> bool:
    """Whether a column can be the label: with the vector's classes as values, or without names for them, no more than K."""
    values = e.values(name)
    if values is None or not e.class_like(name):
        return False
    keys = {name_key(v) for v in values}
    return any(keys & {name_key(c) for c in s.columns} if s.named else len(keys) <= len(s.columns) for s in sets)


def _names(e: Evidence, label: str, found: VectorSet) -> tuple[str, ...]:
    """The classes of a vector's positions: as told, or 0, 1, … where the labels count so; otherwise it is asked."""
    told, k = e.mapping.classes, len(found.columns)
    if told is not None and len(told) != k:
        raise InputError(
            f"Column {found.base!r} holds {k:,} numbers in each cell, but classes (--classes) names {len(told):,}. "
            "Name one class for each number, in their order.",
            value=told,
            column=found.base,
        )
    values = sorted_names(list(e.values(label) or ()))
    if told is not None or not values or _positions(e, label, values, found):
        return told or tuple(found.columns)
    offer = orders(values, values) if len(values) == k else [",".join(found.columns)]
    best = _by_prediction(e, found)
    text = (
        f"Column {found.base!r} holds {k:,} numbers in each cell, and nothing says which class each one stands for "
        f"({label!r} has the values {listing(values, 6)}). Which classes are they, in this order?"
    )
    raise AmbiguousLayout([question("classes", text, dict.fromkeys([*best, *offer]))])


def _truths(values: list[str], found: VectorSet) -> tuple[str, ...] | None:
    """How a label writes False and True, for each of two numbers: by position, or with keys such as false or 1."""
    keys = [truth_key(k) for k in found.columns]
    if set(keys) != {0, 1} or (found.named and {name_key(k) for k in found.columns} >= {name_key(v) for v in values}):
        return None
    binary = found.named and bool(values) and {name_key(v) for v in values} <= {0, 1}
    names = truth_names(values) or (("0", "1") if binary else None)
    return tuple(names[int(str(k))] for k in keys) if names else None


def _positions(e: Evidence, label: str, values: list[str], found: VectorSet) -> bool:
    """Whether labels are whole numbers counted from 0; without a 0 among them they may be counted from 1."""
    keys = [name_key(v) for v in values]
    k = len(found.columns)
    if not all(is_whole(key) and key >= 0 for key in keys):
        return False
    if 0.0 in keys:
        return max(keys) < k or len(keys) > k  # type: ignore[type-var,operator]
    if max(keys) >= k:  # type: ignore[type-var,operator]
        return len(keys) > k
    matrix = np.column_stack([e.column(c).numeric().values for c in found.columns.values()])
    names = e.column(label).names()
    position = np.array([*(int(key) if is_whole(key := name_key(d)) else 0 for d in names.distinct), 0])[names.code]
    known = (position > 0) & (position < k) & ~np.isnan(matrix).any(axis=1)
    rows = np.flatnonzero(known)
    return bool(matrix[rows, position[rows]].sum() >= matrix[rows, position[rows] - 1].sum())


def _by_prediction(e: Evidence, found: VectorSet) -> list[str]:
    """The one order of classes for which the largest number always belongs to the predicted class: only to sort the offers."""
    if e.predicted is None:
        return []
    matrix = np.column_stack([e.column(c).numeric().values for c in found.columns.values()])
    names, k = e.column(e.predicted).names(), len(found.columns)
    if len(names.distinct) != k or (names.code < 0).any() or np.isnan(matrix).any():
        return []
    seen = {(int(i), int(c)) for i, c in zip(np.argmax(matrix, axis=1), names.code, strict=True)}
    ordered = sorted(seen)
    if len(ordered) != k or any(a[0] == b[0] for a, b in pairwise(ordered)) or len({c for _, c in ordered}) != k:
        return []
    return [",".join(names.distinct[c] for _, c in ordered)]


def _note(e: Evidence, found: VectorSet, reading: Reading) -> str:
    """How a vector was read."""
    k = len(found.columns)
    of = {c: name for u in reading.units for name, c in zip(reading.classes, u.columns, strict=True)}
    classes = listing([of.get(c, n) for n, c in found.columns.items()], _SHOWN)
    if found.by:
        return f"Column {found.by!r} names the classes of the {k:,} numbers in each cell of {found.base!r}: {classes}."
    if found.named:
        return f"Each cell of column {found.base!r} holds one number for each of the classes {classes}."
    why = "in the order given" if e.mapping.classes is not None else "by position, as the labels count them"
    return f"Each cell of column {found.base!r} holds {k:,} numbers, read as the classes {classes} {why}."
