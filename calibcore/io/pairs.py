"""Which row of one file belongs to which row of another: by columns that identify rows in both, else by their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calibcore.checks import listing, rows_text
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.columns import Table
from calibcore.io.evidence import question
from calibcore.io.keys import (
    CHECKED,
    ROW_NUMBERS,
    Against,
    Coded,
    Key,
    Keys,
    Rows,
    against,
    coded,
    counts,
    index_of,
    is_axis,
    is_discrete,
    keys_of,
    places,
    shared,
)
from calibcore.io.mapping import Mapping
from calibcore.io.vocabulary import is_named, meant, shortened

__all__ = ["ROW_ORDER", "Key", "Pairing", "all_labelled", "by_order", "pairing", "shared_id"]

ROW_ORDER = "row-order"


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
    keys = keys_of(predictions, labels, mapping)
    if keys.sure:
        if not keys.told and (doubts := against(predictions, labels, keys.sure)):
            raise _ask_key(predictions, labels, keys.sure, doubts)
        return _by_key(predictions, labels, keys.sure[0])
    if _arrays(predictions, labels):
        return by_order(predictions, labels)
    raise _ask(predictions, labels, keys)


def shared_id(predictions: Table, labels: Table, mapping: Mapping) -> bool:
    """Whether a column identifies rows in both files and some rows are in both."""
    keys = keys_of(predictions, labels, mapping)
    found = (*keys.sure, *keys.composite)
    return bool(found) and coded(predictions, labels, found[0]).overlap


def _arrays(*tables: Table) -> bool:
    """Whether these are arrays, whose rows have nothing but their order."""
    return all("numpy" in t.format.lower() or "npy" in t.format.lower() for t in tables) and len({t.n_rows for t in tables}) == 1


# --- by order -----------------------------------------------------------------------------------------------------------


def by_order(predictions: Table, labels: Table) -> Pairing:
    """Row after row; InputError where one file has more rows."""
    if predictions.n_rows != labels.n_rows:
        raise _lengths(predictions, labels, "so they cannot be paired in row order")
    notes = [f"Labels of {labels.name}, paired in row order: {rows_text(predictions.n_rows)}."]
    for name, count in _differing(predictions, labels):
        notes.append(
            f"Column {name!r} differs between {predictions.name} and {labels.name} in {count:,} of {rows_text(predictions.n_rows)}: "
            "check that their rows are in the same order."
        )
    return Pairing(np.arange(predictions.n_rows, dtype=np.intp), None, tuple(notes))


def _lengths(predictions: Table, labels: Table, what: str) -> InputError:
    short = predictions if predictions.n_rows < labels.n_rows else labels
    names = list(short.columns)
    text = short.format.startswith(("CSV", "TSV", "text"))
    header = text and abs(predictions.n_rows - labels.n_rows) == 1 and len(names) == 1 and not short.headless
    doubt = f"The first line of {short.name} ({names[0]!r}) was read as its header; if it is none, add a header line above it. "
    return InputError(
        f"{predictions.name} has {rows_text(predictions.n_rows)} and {labels.name} {labels.n_rows:,}, {what}. {doubt if header else ''}"
        "Give both files a column that identifies each row, under the same name, or name it (--pair COL)."
    )


def _differing(predictions: Table, labels: Table) -> Iterator[tuple[str, int]]:
    """Columns of both files, and in how many rows they differ."""
    names = [n for n in shared(predictions, labels) if not is_named(n, "label", exact=True) and not is_named(n, "predicted")]
    names = [n for n in names if predictions.column(n).kind != "time"]
    for name in names[:CHECKED]:
        c = coded(predictions, labels, Key((name,), (name,)))
        if count := int((c.left != c.right).sum()):
            yield name, count


def _ask(predictions: Table, labels: Table, keys: Keys) -> InputError:
    together, options = [str(k) for k in keys.composite], [str(k) for k in keys.possible]
    alike = predictions.n_rows == labels.n_rows
    if not (alike or together or options):
        return _lengths(predictions, labels, "and no column identifies the rows of both")
    text = f"No {'single ' if together else ''}column identifies the rows of both {predictions.name} and {labels.name}. "
    if together:
        what = f"those with the same {listing(together[0].split(','), 4)}"
        text += f"Do {what} belong together{', or those at the same place' if alike else ''}?"
        return AmbiguousLayout([question("pair", text, [*together, *options, *([ROW_ORDER] if alike else [])])])
    if not alike:
        text += f"They have {predictions.n_rows:,} and {labels.n_rows:,} rows. Which column tells the rows that belong together?"
        return AmbiguousLayout([question("pair", text, options)])
    text += f"Do the rows belong together in their order ({rows_text(predictions.n_rows)} in each)?"
    if any(ROW_NUMBERS in o for o in options):
        text += f" The saved row numbers, in a column without a name, say otherwise ({ROW_NUMBERS} in an answer stands for them)."
    if (differing := dict(_differing(predictions, labels))) and (name := next(iter(differing))):
        text += f" Column {name!r} speaks against it: it differs in {rows_text(differing[name])}."
        return AmbiguousLayout([question("pair", text, [*options, ROW_ORDER])])
    return AmbiguousLayout([question("pair", text, [ROW_ORDER, *options])])


def _ask_key(predictions: Table, labels: Table, sure: Sequence[Key], doubts: Sequence[Against]) -> AmbiguousLayout:
    """Asks which of several keys counts; those that only count rows come last."""
    first, doubt = sure[0], doubts[0]
    options = sorted(
        (first, *(d.key for d in doubts if d.identifies)), key=lambda k: len(k.left) == 1 and counts(predictions.column(k.left[0]))
    )
    one, other = str(first), str(doubt.key)
    which = "Which column tells" if len(options) > 1 else f"Does {one!r} tell"
    text = (
        f"{predictions.name} and {labels.name} share the columns {one!r} and {other!r}, but {doubt.rows:,} of "
        f"{rows_text(predictions.n_rows)} with the same {one!r} differ in {other!r}. {which} the rows that belong together?"
    )
    return AmbiguousLayout([question("pair", text, [str(k) for k in options])])


# --- by columns ---------------------------------------------------------------------------------------------------------


def _told(predictions: Table, labels: Table, pair: str) -> Key:
    """The key that `Mapping.pair` names: a column of both, "a=b", or several of these between commas."""
    whole = pair in predictions.columns and pair in labels.columns
    parts = [(pair, pair)] if whole else [(a.strip(), (b or a).strip()) for a, _, b in (p.partition("=") for p in pair.split(","))]
    left, right = (tuple(_row_numbers(t, p[i]) for p in parts) for i, t in enumerate((predictions, labels)))
    for table, names in ((predictions, left), (labels, right)):
        missing = [n for n in names if n not in table.columns]
        if missing:
            raise InputError(
                f"pair (--pair) names {missing[0]!r}, which is no column of {table.name}; "
                f"its columns are {listing(list(table.columns), 8)}. {meant(missing[0], table.columns)}"
                f"Name a column of both files, two as {missing[0]}=OTHER, or {ROW_ORDER}.",
                column=missing[0],
                available=tuple(table.columns),
            )
    return Key(left, right)


def _row_numbers(table: Table, name: str) -> str:
    """A column's name, also where it is given as the saved row numbers."""
    found = index_of(table) if name == ROW_NUMBERS and name not in table.columns else None
    return name if found is None else found


def _by_key(predictions: Table, labels: Table, key: Key) -> Pairing:
    c = coded(predictions, labels, key)
    if not c.overlap:
        raise InputError(
            f"No row of {predictions.name} belongs to one of {labels.name}: {_said(key, predictions, labels)} have no value in common. "
            f"Name another column (--pair COL), or pair the rows in their order (--pair {ROW_ORDER})."
        )
    _once_each(labels, key.right, c.right, c.in_right, predictions)
    notes = _repeats(predictions, labels, key, c) if (c.in_left > 1).any() else ()
    rows = c.rows()
    by = str(key).replace(ROW_NUMBERS, "saved row numbers")
    joined = f"Labels of {labels.name}, joined by {by}: {rows_text(int((rows >= 0).sum()))}."
    left_over = labels.n_rows - len(np.unique(rows[rows >= 0]))
    over = f"{rows_text(left_over)} of {labels.name} without a prediction left out."
    notes += tuple(
        f"Column {n!r} counts the rows of each file, in another order, and does not join them." for n in places(predictions, labels, key)
    )
    return Pairing(rows, key, (joined, *((over,) if left_over else ()), *notes))


def _said(key: Key, predictions: Table, labels: Table) -> str:
    """The columns of a key with an example of each: 'id' (such as '7') and 'id' (such as 'img_7')."""
    sides = ((predictions, key.left), (labels, key.right))
    return " and ".join(f"{','.join(names)!r} (such as {_value(table, names, 0)})" for table, names in sides)


def _value(table: Table, names: tuple[str, ...], row: int) -> str:
    cells = [table.column(n).names() for n in names]
    return ", ".join(repr(shortened(c.distinct[c.code[row]])) if c.code[row] >= 0 else "nothing" for c in cells)


def _once_each(table: Table, names: tuple[str, ...], codes: Rows, times: Rows, other: Table) -> None:
    """InputError for an id that several rows of one file have."""
    if not (times > 1).any():
        return
    row = int(np.argmax((codes >= 0) & (times[codes] > 1)))
    raise InputError(
        f"{table.name}: {_value(table, names, row)} is {int(times[codes[row]]):,} times in column {','.join(names)!r}, "
        f"so it does not say which row of {other.name} it belongs to. "
        f"Mend the file, or pair by another column (--pair COL) or in row order (--pair {ROW_ORDER}).",
        column=names[0],
        row=row + 1,
    )


def _repeats(predictions: Table, labels: Table, key: Key, c: Coded) -> tuple[str, ...]:
    """A note where predictions repeat an id for each model, class or repetition; InputError where nothing tells such rows apart."""
    axes = [n for n in predictions.columns if n not in key.left and is_discrete(predictions.column(n)) and is_axis(predictions.column(n))]
    code = c.left
    for used, name in enumerate(axes, 1):
        names = predictions.column(name).names()
        code = np.where(code < 0, -1, code * (len(names.distinct) + 1) + names.code + 1)
        code = np.where(code < 0, -1, np.unique(code, return_inverse=True)[1])
        if np.bincount(code[code >= 0]).max(initial=0) <= 1:
            return (f"Ids repeat in {predictions.name}, told apart by {listing(axes[:used], 4)}; each such row has the same label.",)
    _once_each(predictions, key.left, c.left, c.in_left, labels)
    return ()


def all_labelled(predictions: Table, labels: Table, pairs: Pairing, mapping: Mapping) -> None:
    """InputError for predictions without a label, unless rows with missing values are left out."""
    count = int((pairs.rows < 0).sum())
    if mapping.missing == "drop" or not count or pairs.key is None:
        return
    row = int(np.argmax(pairs.rows < 0))
    raise InputError(
        f"{count:,} of {rows_text(predictions.n_rows)} of {predictions.name} have no label in {labels.name} "
        f"({_value(predictions, pairs.key.left, row)} in row {row + 1:,}{' is the first' if count > 1 else ''}). "
        "Leave such rows out with missing='drop' (--missing drop), or add their labels.",
        rule="no missing values",
        row=row + 1,
    )
