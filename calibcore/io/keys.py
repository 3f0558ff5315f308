"""Columns that identify a row in two files: which there are, which is to be trusted, and what speaks against it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import name_key
from calibcore.io.columns import Column, Names, Table
from calibcore.io.mapping import Mapping
from calibcore.io.vocabulary import is_named, plain

__all__ = [
    "CHECKED",
    "ROW_NUMBERS",
    "Against",
    "Coded",
    "Key",
    "Keys",
    "Rows",
    "against",
    "coded",
    "counts",
    "index_of",
    "is_axis",
    "is_discrete",
    "keys_of",
    "places",
    "shared",
]

CHECKED = 5  # columns that are compared row by row
_AXES = ("class", "klass", "option", "answer_option", "choice", "candidate", "repeat", "repetition", "seed", "run", "rep", "iteration")
_POSITION = re.compile(r"rows?|row_?(id|index|number|no|nr|num)|index|idx|line|line_?(number|no)")
_EXACT = ("id", "ids", "uid", "guid", "uuid", "key")
_NO_PART = ("label", "predicted", "correct", "probability", "confidence", "weight", "ignore")
ROW_NUMBERS = "row-numbers"  # stands for saved row numbers without a name
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Key:
    """Columns that identify a row: those of the predictions, and those of the labels."""

    left: tuple[str, ...]
    right: tuple[str, ...]

    def __str__(self) -> str:
        names = [(a or ROW_NUMBERS, b or ROW_NUMBERS) for a, b in zip(self.left, self.right, strict=True)]
        return ",".join(a if a == b else f"{a}={b}" for a, b in names)

    @classmethod
    def of(cls, *names: str) -> Key:
        """Columns that both files have."""
        return cls(names, names)


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys that leave no doubt, best first; several columns that do so together; columns that could be one; and whether it was told."""

    sure: tuple[Key, ...] = ()
    composite: tuple[Key, ...] = ()
    possible: tuple[Key, ...] = ()
    told: bool = False


@dataclass(frozen=True, slots=True)
class Against:
    """What says that rows which a key puts together do not belong together: a column, and in how many of them it differs."""

    key: Key
    rows: int
    identifies: bool  # whether the column could be the key


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Ids of both files as codes (−1: no id), equal where the ids are, and how often each code occurs in each file."""

    left: Rows
    right: Rows
    in_left: Rows
    in_right: Rows

    @property
    def overlap(self) -> bool:
        """Whether some id is in both files."""
        return bool(((self.in_left > 0) & (self.in_right > 0)).any())

    @property
    def paired(self) -> int:
        """Rows of the predictions whose id is among the labels."""
        return int(self.in_left[self.in_right > 0].sum())

    def rows(self) -> Rows:
        """For each prediction the row of the labels with its id, −1 where there is none."""
        of = np.full(len(self.in_right) + 1, -1, dtype=np.intp)
        known = self.right >= 0
        of[self.right[known]] = np.flatnonzero(known)
        return of[self.left]


# --- which columns ------------------------------------------------------------------------------------------------------


def keys_of(predictions: Table, labels: Table, mapping: Mapping) -> Keys:
    """The columns that identify rows in both files."""
    if isinstance(mapping.id, str) and mapping.id in predictions.columns and mapping.id in labels.columns:
        return Keys((Key.of(mapping.id),), told=True)
    both = [Key.of(n) for n in shared(predictions, labels)]
    ids = [k for k in both if is_named(k.left[0], "id") and not is_named(k.left[0], "model", exact=True)]
    sure = _best_first(predictions, labels, [k for k in ids if _unique(labels.column(k.right[0]))])
    if not sure and len(ids) > 1:
        together = Key.of(*(k.left[0] for k in ids))
        sure = [together] if _tells_apart(predictions, labels, together) else []
    if sure:
        return Keys(tuple(sure))
    others = [*(k for k in both if k not in ids), *_of_row_numbers(predictions, labels)]
    fitting = [k for k in others if _fits(predictions, labels, k)]
    fitting += [k for a in _ids(predictions) for b in _ids(labels) if a != b and _fits(predictions, labels, k := Key((a,), (b,)))]
    sure = [k for k in fitting if not _may_count(predictions, labels, k)]
    composite = [] if sure else _composite(predictions, labels, ids)
    if composite and is_axis(labels.column(composite[0].right[-1])):
        sure, composite = composite[:1], []
    possible = tuple(k for k in fitting if k not in sure and (all((*k.left, *k.right)) or not _in_order(predictions, labels, k)))
    return Keys(tuple(sure or ([] if composite else ids[:1])), tuple(composite), possible)


def _best_first(predictions: Table, labels: Table, keys: list[Key]) -> list[Key]:
    """Without keys that no row shares where another does, those that pair more rows first, then those with a plain name."""
    if len(keys) < 2:
        return keys
    paired = {k: coded(predictions, labels, k).paired for k in keys}
    kept = [k for k in keys if paired[k]] or keys
    most = max(paired.values())
    real = [k for k in kept if not _is_position(predictions, labels, k) and (paired[k] == most or not _in_order(predictions, labels, k))]
    if real and max(paired[k] for k in real) == most:
        kept = real  # a number that counts the rows of each file says nothing beside what names them
    return sorted(kept, key=lambda k: (-paired[k], plain(k.left[0]) not in _EXACT))


def _is_position(predictions: Table, labels: Table, key: Key) -> bool:
    """Whether a column is named like a place in the file and is one, in both files."""
    if not _POSITION.fullmatch(plain(key.left[0])):
        return False
    return _in_order(predictions, labels, key)


def _composite(predictions: Table, labels: Table, ids: list[Key]) -> list[Key]:
    """Ids that repeat with one more column of both files, which tell the rows of the labels apart; named ones (site, fold) first."""
    if not ids:
        return []
    names = [k.left[0] for k in ids]
    rest = [n for n in shared(predictions, labels) if n not in names and not any(is_named(n, role) for role in _NO_PART)]
    found = [Key.of(*names, n) for n in rest if _tells_apart(predictions, labels, Key.of(*names, n))]
    return sorted(found, key=lambda k: not is_axis(labels.column(k.right[-1])))


def _tells_apart(predictions: Table, labels: Table, key: Key) -> bool:
    c = coded(predictions, labels, key)
    return c.in_right.max(initial=0) == 1 and c.overlap


def shared(predictions: Table, labels: Table) -> list[str]:
    """Names of both files' columns that hold no measured numbers and no lists."""
    if predictions.headless or labels.headless:
        return []
    names = [n for n in predictions.columns if n in labels.columns and not is_named(n, "index")]
    return [n for n in names if is_discrete(predictions.column(n)) and is_discrete(labels.column(n))]


def _ids(table: Table) -> list[str]:
    return [n for n in table.columns if is_named(n, "id") and not is_named(n, "index") and is_discrete(table.column(n))]


def index_of(table: Table) -> str | None:
    """The column of saved row numbers."""
    return next((n for n in table.columns if is_named(n, "index") and is_discrete(table.column(n))), None)


def _of_row_numbers(predictions: Table, labels: Table) -> list[Key]:
    """Saved row numbers of both files, or of one beside the other's ids."""
    if predictions.headless or labels.headless:
        return []
    one, other = index_of(predictions), index_of(labels)
    keys = [] if one is None or other is None else [Key((one,), (other,))]
    keys += [] if one is None else [Key((one,), (b,)) for b in _ids(labels)]
    return keys + ([] if other is None else [Key((a,), (other,)) for a in _ids(predictions)])


def _may_count(predictions: Table, labels: Table, key: Key) -> bool:
    """Whether a key could be no more than a number for each row of one file: of the labels as well, unless it is named like an id."""
    named = is_named(key.right[0], "id")
    return counts(predictions.column(key.left[0])) or (not named and counts(labels.column(key.right[0])))


def _in_order(predictions: Table, labels: Table, key: Key) -> bool:
    return counts(predictions.column(key.left[0])) and counts(labels.column(key.right[0]))


def is_discrete(column: Column) -> bool:
    """Whether a column holds whole numbers, texts or times, which can name something."""
    if column.kind in ("nested", "other", "flag"):
        return False
    if not column.is_numeric:
        return column.kind in ("text", "time")
    values = column.numeric().values
    values = values[np.isfinite(values)]
    return bool((values == np.rint(values)).all())


def _unique(column: Column) -> bool:
    return len(column.array.unique()) == len(column.array)


def _fits(predictions: Table, labels: Table, key: Key) -> bool:
    """Whether both columns are different in each row and every prediction is among the labels."""
    if not (_unique(predictions.column(key.left[0])) and _unique(labels.column(key.right[0]))):
        return False
    c = coded(predictions, labels, key)
    return predictions.n_rows > 1 and bool((c.left >= 0).all() and (c.in_right[c.left] > 0).all())


def counts(column: Column) -> bool:
    """Whether a column only counts the rows, as any file could: 0, 1, 2 and so on."""
    if not column.is_numeric:
        return False
    values = column.numeric().values
    return bool(len(values)) and bool(np.array_equal(values, np.arange(len(values)) + values[0]))


def is_axis(column: Column) -> bool:
    """Whether a column tells models, groups, classes or repetitions apart, by its name."""
    axis = any(is_named(column.name, role, exact=True) for role in ("model", "group")) or plain(column.name) in _AXES
    return axis and (found := column.few_names(1000)) is not None and len(found) > 1


# --- what speaks against a key ------------------------------------------------------------------------------------------


def against(predictions: Table, labels: Table, sure: Sequence[Key]) -> list[Against]:
    """What says that the first of several keys puts the wrong rows together: other keys, and columns that name rows.

    A key that counts the rows of both files says no more than their order, so any other value that differs speaks against it;
    against another one speaks only what would put its rows together with others.
    """
    first, *others = sure
    rows = coded(predictions, labels, first).rows()
    only_order = len(first.left) == 1 and _in_order(predictions, labels, first)
    others += [Key.of(n) for n in _telling(predictions, labels, only_order=only_order) if Key.of(n) not in sure and n not in first.left]
    found = ((k, _differing(predictions, labels, k, rows, only_order=only_order)) for k in others[:CHECKED])
    return [Against(k, n, k in sure or _fits(predictions, labels, k)) for k, n in found if n]


def _telling(predictions: Table, labels: Table, *, only_order: bool) -> Iterator[str]:
    """Columns of both files that name rows: ids, also those that repeat; beside a counter all that differ in most rows."""
    for name in shared(predictions, labels):
        if predictions.column(name).kind == "time" or any(is_named(name, role, exact=True) for role in (*_NO_PART, "model")):
            continue
        if is_named(name, "id"):
            if not _in_order(predictions, labels, Key.of(name)):
                yield name
        elif only_order and all(2 * c.n_different() > t.n_rows for t, c in ((t, t.column(name)) for t in (predictions, labels))):
            yield name


def _differing(predictions: Table, labels: Table, key: Key, rows: Rows, *, only_order: bool) -> int:
    """In how many pairs of rows a column differs."""
    c = coded(predictions, labels, key)
    if not c.overlap:  # folders/a.png beside a.png
        c = coded(predictions, labels, key, files=True)
    known = (rows >= 0) & (c.left >= 0) & (c.right[rows] >= 0)
    if not only_order:
        known &= c.in_right[c.left] > 0
    return int((known & (c.left != c.right[rows])).sum())


def places(predictions: Table, labels: Table, key: Key) -> list[str]:
    """Columns that count the rows of each file, and put others together than a key does."""
    if len(key.left) > 1 or counts(predictions.column(key.left[0])):
        return []
    rows = coded(predictions, labels, key).rows()
    found = [k for n in shared(predictions, labels) if _is_position(predictions, labels, k := Key.of(n))]
    return [k.left[0] for k in found if _differing(predictions, labels, k, rows, only_order=True)]


# --- ids as codes -------------------------------------------------------------------------------------------------------


def coded(predictions: Table, labels: Table, key: Key, *, files: bool = False) -> Coded:
    """The ids of both files as codes, made once; ``files`` takes the last part of a path."""
    memo, beside = predictions.column(key.left[0]).memo, tuple(labels.column(b) for b in key.right)
    known, found = memo.get(name := f"coded {key.left} {key.right} {files}", ((), None))
    if found is None or known != beside:
        found = _coded(predictions, labels, key, files=files)
        memo[name] = (beside, found)
    return found  # type: ignore[no-any-return]


def _coded(predictions: Table, labels: Table, key: Key, *, files: bool) -> Coded:
    left = np.zeros(predictions.n_rows, dtype=np.intp)
    right = np.zeros(labels.n_rows, dtype=np.intp)
    for a, b in zip(key.left, key.right, strict=True):
        one, other = _common(predictions.column(a).names(), labels.column(b).names(), files=files)
        size = int(max(one.max(initial=-1), other.max(initial=-1))) + 1
        together = [np.where((c < 0) | (d < 0), -1, c * size + d) for c, d in ((left, one), (right, other))]
        distinct, codes = np.unique(np.concatenate(together), return_inverse=True)
        codes = codes.astype(np.intp) - int(bool(len(distinct)) and distinct[0] == -1)
        left, right = codes[: len(left)], codes[len(left) :]
    size = int(max(left.max(initial=-1), right.max(initial=-1))) + 1
    return Coded(left, right, *(np.bincount(c[c >= 0], minlength=size) for c in (left, right)))


def _common(left: Names, right: Names, *, files: bool) -> tuple[Rows, Rows]:
    """Codes that are equal where the texts are; as numbers (7, 7.0, "7") only where the texts leave some without a partner."""
    keys = [[None if d in ("", "nan") else d for d in n.distinct] for n in (left, right)]
    if files:
        keys = [[k and re.split(r"[/\\]", k)[-1] for k in each] for each in keys]
    elif set(keys[0]) - set(keys[1]):
        numbers = [[None if k is None else name_key(k) for k in each] for each in keys]
        if all(len(set(new)) == len(set(old)) for new, old in zip(numbers, keys, strict=True)):  # not 007 beside 7
            keys = numbers  # type: ignore[assignment]
    known: dict[object, int] = {}
    left_to, right_to = ([-1 if k is None else known.setdefault(k, len(known)) for k in each] for each in keys)
    return np.array([*left_to, -1], dtype=np.intp)[left.code], np.array([*right_to, -1], dtype=np.intp)[right.code]
