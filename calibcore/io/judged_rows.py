"""Which rows are judged, where a column tells the rows a model was made with from others: asked, and chosen by ``Mapping.rows``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from calibcore.checks import listing, name_key, rows_text
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.evidence import Evidence, question
from calibcore.io.reading import Reading, RowChoice
from calibcore.io.vocabulary import plain, polarity, shortened

__all__ = ["ALL_ROWS", "chosen_by", "marks_rows", "with_chosen_rows"]

ALL_ROWS = "all"
_NAMES = re.compile(r"set|split|fold|part|sample|subset|phase|usage")
_MADE = frozenset(["train", "training", "learn", "learning", "fit", "development", "derivation", "in_sample"])
_HELD = ("test", "testing", "holdout", "hold_out", "out_of_sample", "external", "validation", "valid", "val", "eval", "evaluation")
_FLAGS_OF_MADE = frozenset(
    ["train", "is_train", "istrain", "in_train", "training", "is_training", "in_training", "in_sample", "is_in_sample"]
)
_FLAGS_OF_HELD = frozenset(["is_test", "istest", "in_test", "holdout", "is_holdout", "hold_out", "out_of_sample", "oos"])
_SHOWN = 5  # values that a sentence names


def with_chosen_rows(e: Evidence, reading: Reading) -> Reading:
    """The reading with the rows that are judged.

    Raises
    ------
    AmbiguousLayout
        If a column marks rows that the model was made with beside others, and nobody said which are to be judged.
    InputError
        If ``Mapping.rows`` names no column, or a value that no row has.
    """
    if e.mapping.rows not in (None, ALL_ROWS):
        choice = _choice(e, str(e.mapping.rows))
        return replace(reading, rows=choice, groups=tuple(g for g in reading.groups if g != choice.column))
    used = reading.used - set(reading.groups)
    for name in e.names:
        if name not in used and (found := _made_and_held(e, name)):
            if e.mapping.rows is None:
                raise _ask(e, name, *found)
            return replace(reading, notes=(*reading.notes, f"All rows are judged, also those that {name!r} marks as {listing(found[0])}."))
    return reading


def _made_and_held(e: Evidence, name: str) -> tuple[list[str], list[str]] | None:
    """The values of rows that a model was made with, and the others, those kept for testing first; None for another column."""
    key, flags = plain(name), _FLAGS_OF_MADE | _FLAGS_OF_HELD
    values = e.column(name).few_names(2 * _SHOWN) if key in flags or e.column(name).kind == "text" else None
    if values is None or len(values) < 2:
        return None
    if key in flags:
        yes = polarity(values)
        made = [v for v in values if (v == yes) is (key in _FLAGS_OF_MADE)] if yes else []
    else:
        made = [v for v in values if plain(v) in _MADE]
        named = _NAMES.search(key) or all(plain(v) in _MADE or plain(v) in _HELD for v in values)
        made = made if named else []
    held = sorted((v for v in values if v not in made), key=lambda v: _HELD.index(plain(v)) if plain(v) in _HELD else len(_HELD))
    return (made, held) if made and held else None


def _ask(e: Evidence, name: str, made: list[str], held: list[str]) -> AmbiguousLayout:
    names = e.column(name).names()
    counts = {v: int((names.code == i).sum()) for i, v in enumerate(names.distinct)}
    shown = listing([f"{v!r} ({rows_text(counts.get(v, 0))})" for v in (*held, *made)], _SHOWN)
    text = (
        f"Column {name!r} holds {shown}; on the rows that it was made with, a model looks better than it is. Which rows are to be judged?"
    )
    options = [f"{name}={v}" for v in held]
    options += [f"{name}!={made[0]}"] if len(held) > 1 and len(made) == 1 else []
    return AmbiguousLayout([question("rows", text, [*options, *(f"{name}={v}" for v in made), ALL_ROWS])])


def marks_rows(name: str) -> bool:
    """Whether a column of this name says which rows a model was made with, or kept from."""
    return plain(name) in _FLAGS_OF_MADE | _FLAGS_OF_HELD


def chosen_by(told: str | None, columns: Iterable[str]) -> str | None:
    """The column that a choice of rows such as ``split=test`` names, if it is one of these."""
    signs = [told[: sign.start()].strip() for sign in re.finditer(r"!=|==?", told or "") if told]
    return next((c for c in signs if c in set(columns)), None)


def _choice(e: Evidence, told: str) -> RowChoice:
    """``COL=VALUE`` or ``COL!=VALUE``, whatever signs the column's own name holds."""
    for sign in re.finditer(r"!=|==?", told):
        column, value = told[: sign.start()].strip(), told[sign.end() :].strip()
        if column in e.table.columns:
            return _checked(e, RowChoice(column, "!=" if sign[0] == "!=" else "=", value))
    left = re.split(r"!=|=", told, maxsplit=1)[0].strip()
    if left == told.strip():
        raise InputError(f"rows (--rows) is {told!r}, which is no choice of rows. Write it like split=test, or {ALL_ROWS}.", value=told)
    e.column(left)  # which says what columns there are
    raise AssertionError


def _checked(e: Evidence, choice: RowChoice) -> RowChoice:
    distinct = e.column(choice.column).names().distinct
    if name_key(choice.value) not in {name_key(d) for d in distinct}:
        shown = listing([repr(shortened(d)) for d in distinct], _SHOWN)
        raise InputError(
            f"No row of column {choice.column!r} is {choice.value!r}; it holds {shown}. Choose rows by one of these (--rows).",
            value=choice.value,
            column=choice.column,
            available=tuple(distinct[:50]),
        )
    return choice
