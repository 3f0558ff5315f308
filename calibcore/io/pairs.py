"""Which row of one file belongs to which row of another: by columns that identify rows in both, else by their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.columns import Column, Names, Table
from calibcore.io.evidence import question
from calibcore.io.mapping import Mapping
from calibcore.io.vocabulary import is_named, plain, shortened

__all__ = ["ROW_ORDER", "Key", "Pairing", "all_labelled", "by_order", "headless", "pairing", "shared_id"]

ROW_ORDER = "row-order"
_AXES = ("class", "klass", "option", "answer_option", "choice", "candidate", "repeat", "repetition", "seed", "run", "rep", "iteration")
_CHECKED = 5  # columns that are compared row by row
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Key:
    """Columns that identify a row: those of the predictions, and those of the labels."""

    left: tuple[str, ...]
    right: tuple[str, ...]

    def __str__(self) -> str:
        return ",".join(a if a == b else f"{a}={b}" for a, b in zip(self.left, self.right, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """For each prediction the row of its label, −1 where it has none; the key (None: row order), and what is to be said."""

    rows: Rows
    key: Key | None
    notes: tuple[str, ...]


def pairing(predictions: Table, labels: Table, mapping: Mapping) -> Pairing:
    """How the rows of two files belong together.

    Raises
    ------
    AmbiguousLayout
        If no column identifies the rows of both: whether their order counts (question ``pair``).
    InputError
        If an id repeats, none is in both files, or numbers of rows differ.
    """
    if mapping.pair == ROW_ORDER:
        return by_order(predictions, labels)
    if mapping.pair is not None:
        return _by_key(predictions, labels, _told(predictions, labels, mapping.pair))
    sure, possible = _keys(predictions, labels, mapping)
    if sure:
        return _by_key(predictions, labels, sure[0])
    if _arrays(predictions, labels):
        return by_order(predictions, labels)
    raise _ask(predictions, labels, possible)


def shared_id(predictions: Table, labels: Table, mapping: Mapping) -> bool:
    """Whether a column identifies rows in both files and some rows are in both."""
    sure, _ = _keys(predictions, labels, mapping)
    return bool(sure) and _overlap(_coded(predictions, labels, sure[0]))


def headless(table: Table) -> bool:
    """Whether a table's columns were not named in the file."""
    return table.headless


def _overlap(c: _Coded) -> bool:
    return bool(((c.in_left > 0) & (c.in_right > 0)).any())


def _arrays(*tables: Table) -> bool:
    """Whether these are arrays, whose rows have nothing but their order."""
    return all("numpy" in t.format.lower() or "npy" in t.format.lower() for t in tables) and len({t.n_rows for t in tables}) == 1


# --- by order -----------------------------------------------------------------------------------------------------------


def by_order(predictions: Table, labels: Table) -> Pairing:
    """Row after row; InputError where one file has more rows."""
    if predictions.n_rows != labels.n_rows:
        raise _lengths(predictions, labels, "so they cannot be paired in row order")
    notes = [f"Labels of {labels.name}, paired in row order: {predictions.n_rows:,} rows."]
    for name, count in _differing(predictions, labels):
        notes.append(
            f"Column {name!r} differs between {predictions.name} and {labels.name} in {count:,} of {predictions.n_rows:,} rows: "
            "check that their rows are in the same order."
        )
    return Pairing(np.arange(predictions.n_rows, dtype=np.intp), None, tuple(notes))


def _lengths(predictions: Table, labels: Table, what: str) -> InputError:
    short = predictions if predictions.n_rows < labels.n_rows else labels
    names = list(short.columns)
    header = abs(predictions.n_rows - labels.n_rows) == 1 and len(names) == 1 and not short.headless
    doubt = f"The first line of {short.name} ({names[0]!r}) was read as its header; if it is none, add a header line above it. "
    return InputError(
        f"{predictions.name} has {predictions.n_rows:,} rows and {labels.name} {labels.n_rows:,}, {what}. {doubt if header else ''}"
        "Give both files a column that identifies each row, under the same name, or name it (--pair COL)."
    )


def _differing(predictions: Table, labels: Table) -> Iterator[tuple[str, int]]:
    """Columns of both files, and in how many rows they differ."""
    names = [n for n in _shared(predictions, labels) if not is_named(n, "label", exact=True) and not is_named(n, "predicted")]
    for name in names[:_CHECKED]:
        c = _coded(predictions, labels, Key((name,), (name,)))
        if count := int((c.left != c.right).sum()):
            yield name, count


def _ask(predictions: Table, labels: Table, possible: list[Key]) -> InputError:
    if predictions.n_rows != labels.n_rows and not possible:
        return _lengths(predictions, labels, "and no column identifies the rows of both")
    text = f"No column identifies the rows of both {predictions.name} and {labels.name}. "
    options = [str(k) for k in possible]
    if predictions.n_rows != labels.n_rows:
        text += f"They have {predictions.n_rows:,} and {labels.n_rows:,} rows. Which column tells the rows that belong together?"
        return AmbiguousLayout([question("pair", text, options)])
    text += f"Do the rows belong together in their order ({predictions.n_rows:,} rows in each)?"
    if (differing := dict(_differing(predictions, labels))) and (name := next(iter(differing))):
        text += f" Column {name!r} speaks against it: it differs in {differing[name]:,} rows."
        return AmbiguousLayout([question("pair", text, [*options, ROW_ORDER])])
    return AmbiguousLayout([question("pair", text, [ROW_ORDER, *options])])


# --- by columns ---------------------------------------------------------------------------------------------------------


def _told(predictions: Table, labels: Table, pair: str) -> Key:
    """The key that `Mapping.pair` names: a column of both, "a=b", or several of these between commas."""
    whole = pair in predictions.columns and pair in labels.columns
    parts = [(pair, pair)] if whole else [(a.strip(), (b or a).strip()) for a, _, b in (p.partition("=") for p in pair.split(","))]
    for table, names in ((predictions, [a for a, _ in parts]), (labels, [b for _, b in parts])):
        missing = [n for n in names if n not in table.columns]
        if missing:
            raise InputError(
                f"pair (--pair) names {missing[0]!r}, which is no column of {table.name}; "
                f"its columns are {listing(list(table.columns), 8)}. "
                f"Name a column of both files, two as {missing[0]}=OTHER, or {ROW_ORDER}.",
                column=missing[0],
                available=tuple(table.columns),
            )
    return Key(tuple(a for a, _ in parts), tuple(b for _, b in parts))


def _keys(predictions: Table, labels: Table, mapping: Mapping) -> tuple[list[Key], list[Key]]:
    """Keys that leave no doubt, best first, and columns that could be one."""
    if isinstance(mapping.id, str) and mapping.id in predictions.columns and mapping.id in labels.columns:
        return [Key((mapping.id,), (mapping.id,))], []
    shared = [Key((n,), (n,)) for n in _shared(predictions, labels)]
    ids = [k for k in shared if is_named(k.left[0], "id") and not is_named(k.left[0], "model", exact=True)]
    single = [k for k in ids if _unique(labels.column(k.right[0]))]
    exact = [k for k in single if plain(k.left[0]) in ("id", "ids", "uid", "guid", "uuid", "key")]
    sure = [*exact, *(k for k in single if k not in exact)]
    if not sure and len(ids) > 1:
        together = Key(tuple(k.left[0] for k in ids), tuple(k.right[0] for k in ids))
        sure = [together] if _coded(predictions, labels, together).in_right.max(initial=0) == 1 else []
    others = [k for k in shared if k not in ids]
    others += [Key((n,), (n,)) for n in _indexes(predictions, labels)]
    others += [Key((a,), (b,)) for a in _ids(predictions) for b in _ids(labels) if a != b]
    fitting = [k for k in others if _fits(predictions, labels, k)]
    telling = [k for k in fitting if not _counts(predictions.column(k.left[0]))]
    sure = sure or telling[:1]
    return sure or ids[:1], [k for k in fitting if k not in sure and all((*k.left, *k.right))]


def _shared(predictions: Table, labels: Table) -> list[str]:
    """Names of both files' columns that hold no measured numbers, lists or times."""
    if headless(predictions) or headless(labels):
        return []
    names = [n for n in predictions.columns if n in labels.columns and not is_named(n, "index")]
    return [n for n in names if _discrete(predictions.column(n)) and _discrete(labels.column(n))]


def _ids(table: Table) -> list[str]:
    return [n for n in table.columns if is_named(n, "id") and not is_named(n, "index") and _discrete(table.column(n))]


def _indexes(predictions: Table, labels: Table) -> list[str]:
    """Saved row numbers of both files."""
    return [n for n in predictions.columns if n in labels.columns and is_named(n, "index") and _discrete(predictions.column(n))]


def _discrete(column: Column) -> bool:
    if column.kind in ("nested", "other", "time", "flag"):
        return False
    if not column.is_numeric:
        return column.kind == "text"
    values = column.numeric().values
    values = values[np.isfinite(values)]
    return bool((values == np.rint(values)).all())


def _unique(column: Column) -> bool:
    return len(column.array.unique()) == len(column.array)


def _fits(predictions: Table, labels: Table, key: Key) -> bool:
    """Whether both columns are different in each row and every prediction is among the labels."""
    if not (_unique(predictions.column(key.left[0])) and _unique(labels.column(key.right[0]))):
        return False
    c = _coded(predictions, labels, key)
    return predictions.n_rows > 1 and bool((c.left >= 0).all() and (c.in_right[c.left] > 0).all())


def _counts(column: Column) -> bool:
    """Whether a column only counts the rows, as any file could: 0, 1, 2 and so on."""
    if not column.is_numeric:
        return False
    values = column.numeric().values
    return bool(len(values)) and bool(np.array_equal(values, np.arange(len(values)) + values[0]))


@dataclass(frozen=True, slots=True, eq=False)
class _Coded:
    """Ids of both files as codes (−1: no id), equal where the ids are, and how often each code occurs in each file."""

    left: Rows
    right: Rows
    in_left: Rows
    in_right: Rows


def _coded(predictions: Table, labels: Table, key: Key) -> _Coded:
    left = np.zeros(predictions.n_rows, dtype=np.intp)
    right = np.zeros(labels.n_rows, dtype=np.intp)
    for a, b in zip(key.left, key.right, strict=True):
        one, other = _common(predictions.column(a).names(), labels.column(b).names())
        size = int(max(one.max(initial=-1), other.max(initial=-1))) + 1
        together = [np.where((c < 0) | (d < 0), -1, c * size + d) for c, d in ((left, one), (right, other))]
        distinct, codes = np.unique(np.concatenate(together), return_inverse=True)
        codes = codes.astype(np.intp) - int(bool(len(distinct)) and distinct[0] == -1)
        left, right = codes[: len(left)], codes[len(left) :]
    size = int(max(left.max(initial=-1), right.max(initial=-1))) + 1
    return _Coded(left, right, *(np.bincount(c[c >= 0], minlength=size) for c in (left, right)))


def _common(left: Names, right: Names) -> tuple[Rows, Rows]:
    """Codes that are equal where the texts are; as numbers (7, 7.0, "7") only where the texts leave some without a partner."""
    keys = [[None if d in ("", "nan") else d for d in n.distinct] for n in (left, right)]
    if set(keys[0]) - set(keys[1]):
        numbers = [[None if k is None else name_key(k) for k in each] for each in keys]
        if all(len(set(new)) == len(set(old)) for new, old in zip(numbers, keys, strict=True)):  # not 007 beside 7
            keys = numbers  # type: ignore[assignment]
    known: dict[object, int] = {}
    left_to, right_to = ([-1 if k is None else known.setdefault(k, len(known)) for k in each] for each in keys)
    return np.array([*left_to, -1], dtype=np.intp)[left.code], np.array([*right_to, -1], dtype=np.intp)[right.code]


def _by_key(predictions: Table, labels: Table, key: Key) -> Pairing:
    c = _coded(predictions, labels, key)
    both = (c.in_left > 0) & (c.in_right > 0)
    if not both.any():
        raise InputError(
            f"No row of {predictions.name} belongs to one of {labels.name}: {_said(key, predictions, labels)} have no value in common. "
            f"Name another column (--pair COL), or pair the rows in their order (--pair {ROW_ORDER})."
        )
    _once_each(labels, key.right, c.right, c.in_right)
    notes = _repeats(predictions, key, c) if (c.in_left > 1).any() else ()
    of = np.full(len(both) + 1, -1, dtype=np.intp)
    of[c.right[c.right >= 0]] = np.flatnonzero(c.right >= 0)
    rows = of[c.left]
    joined = f"Labels of {labels.name}, joined by {str(key) or 'saved row numbers'}: {int((rows >= 0).sum()):,} rows."
    left_over = labels.n_rows - len(np.unique(rows[rows >= 0]))
    over = f"{left_over:,} {'row' if left_over == 1 else 'rows'} of {labels.name} without a prediction left out."
    return Pairing(rows, key, (joined, *((over,) if left_over else ()), *notes))


def _said(key: Key, predictions: Table, labels: Table) -> str:
    """The columns of a key with an example of each: 'id' (such as '7') and 'id' (such as 'img_7')."""
    sides = ((predictions, key.left), (labels, key.right))
    return " and ".join(f"{','.join(names)!r} (such as {_value(table, names, 0)})" for table, names in sides)


def _value(table: Table, names: tuple[str, ...], row: int) -> str:
    cells = [table.column(n).names() for n in names]
    return ", ".join(repr(shortened(c.distinct[c.code[row]])) if c.code[row] >= 0 else "nothing" for c in cells)


def _once_each(table: Table, names: tuple[str, ...], codes: Rows, counts: Rows) -> None:
    """InputError for an id that several rows of the labels have."""
    if not (counts > 1).any():
        return
    row = int(np.argmax((codes >= 0) & (counts[codes] > 1)))
    raise InputError(
        f"{table.name}: {_value(table, names, row)} is {int(counts[codes[row]]):,} times in column {','.join(names)!r}, "
        "so it does not say which label belongs to which prediction. "
        f"Mend the file, or pair by another column (--pair COL) or in row order (--pair {ROW_ORDER}).",
        column=names[0],
        row=row + 1,
    )


def _repeats(predictions: Table, key: Key, c: _Coded) -> tuple[str, ...]:
    """A note where predictions repeat an id for each model, class or repetition; InputError where nothing tells such rows apart."""
    axes = [n for n in predictions.columns if n not in key.left and _discrete(predictions.column(n)) and _is_axis(predictions.column(n))]
    code = c.left
    for used, name in enumerate(axes, 1):
        names = predictions.column(name).names()
        code = np.where(code < 0, -1, code * (len(names.distinct) + 1) + names.code + 1)
        code = np.where(code < 0, -1, np.unique(code, return_inverse=True)[1])
        if np.bincount(code[code >= 0]).max(initial=0) <= 1:
            return (f"Ids repeat in {predictions.name}, told apart by {listing(axes[:used], 4)}; each such row has the same label.",)
    _once_each(predictions, key.left, c.left, c.in_left)
    return ()


def _is_axis(column: Column) -> bool:
    axis = any(is_named(column.name, role, exact=True) for role in ("model", "group")) or plain(column.name) in _AXES
    return axis and (found := column.few_names(1000)) is not None and len(found) > 1


def all_labelled(predictions: Table, labels: Table, pairs: Pairing, mapping: Mapping) -> None:
    """InputError for predictions without a label, unless rows with missing values are left out."""
    count = int((pairs.rows < 0).sum())
    if mapping.missing == "drop" or not count or pairs.key is None:
        return
    row = int(np.argmax(pairs.rows < 0))
    raise InputError(
        f"{count:,} of {predictions.n_rows:,} rows of {predictions.name} have no label in {labels.name} "
        f"({_value(predictions, pairs.key.left, row)} in row {row + 1:,}{' is the first' if count > 1 else ''}). "
        "Leave such rows out with missing='drop' (--missing drop), or add their labels.",
        rule="no missing values",
        row=row + 1,
    )
