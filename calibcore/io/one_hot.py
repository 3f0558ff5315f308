"""One-hot labels: 0/1 columns, one of which is 1 in each row, become one column with the name of the true class."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.evidence import Evidence, question
from calibcore.io.labels import named_labels
from calibcore.io.reshaped import Reshaped, texts
from calibcore.io.vocabulary import is_named, plain, wrong_or_right

__all__ = ["one_hot"]

Floats = NDArray[np.floating[Any]]
_LABEL_WORDS = frozenset(re.findall(r"\w+", "y true label labels target actual gold truth onehot hot outcome won obs observed result"))
_PROBABILITY_WORDS = ("probability_", "probability", "proba_", "prob_", "prob", "p_")
_FEW = 0.1  # share of rows that may hold something else than 0 and 1, such as ties


@dataclass(frozen=True, slots=True)
class _Affixed:
    """Columns ``before + class + after``; ``columns`` is class → column."""

    before: str
    after: str
    columns: dict[str, str]

    @property
    def says_label(self) -> bool:
        """Whether the common part of the headers is a word for labels."""
        return any(w in _LABEL_WORDS for w in re.split(r"_+", plain(self.before + " " + self.after)))

    @property
    def says_prediction(self) -> bool:
        """Whether the common part of the headers is a word for predicted classes."""
        return any(w in plain(self.before + self.after) for w in ("pred", "hat", "guess", "argmax", "vote", "response"))

    @property
    def name(self) -> str:
        """A name for the column that is made of them."""
        return f"{self.before}*{self.after}" if self.before or self.after else "/".join(self.columns)


def one_hot(e: Evidence) -> Reshaped | None:
    """The name of the column that is 1; columns that are named like the probabilities go before those named like labels."""
    if e.mapping.columns_are in ("models", "labels") or e.mapping.correct:
        return None
    told = set(e.mapping.columns())
    flags = [n for n in e.free if n not in told and _is_flag(e, n)]
    if len(flags) < 2:
        return None
    spread = _matched(e, flags) or _by_label_words(e, flags)
    if spread is None or (e.mapping.label and e.mapping.label != spread.name):
        return None
    if not e.mapping.label and set(named_labels(e)) - set(spread.columns.values()):
        return None
    return _label_of(e, spread)


def _is_flag(e: Evidence, name: str) -> bool:
    """Whether a column holds 0 and 1 (or true and false), perhaps with a few others such as 0.5 for a tie."""
    if is_named(name, "label", exact=True) or is_named(name, "probability") or is_named(name, "confidence"):
        return False  # a label of its own, or probabilities of 0 and 1
    words = [wrong_or_right(v) for v in e.values(name, 4) or ()]
    return bool(words) and words.count(None) <= 1 and len(words) - words.count(None) >= 1 and len(words) <= 3


def _sets(columns: Iterable[str]) -> list[_Affixed]:
    """Columns that share a beginning and an end around the name of a class, in every way that their separators allow."""
    found: dict[tuple[str, str], dict[str, str]] = {("", ""): {}}
    for column in columns:
        found["", ""][column] = column
        for before, after in _affixes(column):
            found.setdefault((before, after), {})[column[len(before) : len(column) - len(after)]] = column
    return [_Affixed(*pair, group) for pair, group in found.items() if len(group) > 1]


def _affixes(column: str) -> list[tuple[str, str]]:
    """Beginnings up to a separator or a final number, and ends from a separator on, of which one may be missing."""
    cuts = [m.end() for m in re.finditer(r"[_. :=\-(\[]", column)]
    number = re.search(r"\d+[)\]]?$", column)
    starts = {0, *cuts, *([number.start()] if number else [])}
    closing = [len(column) - 1] if column[-1:] in ")]" else []
    ends = {len(column), *closing, *(m.start() for m in re.finditer(r"[_. :=\-]", column))}
    inner = [(a, b) for a in starts for b in ends if a < b and (a, b) != (0, len(column))]
    middle = re.fullmatch(r"(\D+)(\d+)(\D.*)", column)
    if middle:  # prob1_outcome
        inner.append((middle.start(2), middle.end(2)))
    return [(column[:a], column[b:]) for a, b in inner]


def _matched(e: Evidence, flags: list[str]) -> _Affixed | None:
    """0/1 columns that name the same classes as columns of probabilities."""
    others = [n for n in e.free if n not in flags and e.numeric(n)]
    probabilities, labels = _sets(others), [s for s in _sets(flags) if not s.says_prediction]
    keyed = [(y, {plain(c): column for c, column in y.columns.items()}) for y in labels]
    pairs = [(p, pair) for p in probabilities for y, keys in keyed if (pair := _same_classes(p, y, keys))]
    pairs.sort(key=lambda both: (-len(both[0].columns), -len(both[0].before + both[0].after)))  # 1 of prob1, rather than prob1
    found = next((y for p, y in pairs if _fits(e, p, y)), None)
    return None if found is None else replace(found, columns=_without_word(found.columns))


def _without_word(columns: dict[str, str]) -> dict[str, str]:
    """Classes without a word for probability that all begin with: 1 and tie of prob1 and probtie."""
    word = next((w for w in _PROBABILITY_WORDS if all(plain(c).startswith(w) and len(c) > len(w) for c in columns)), "")
    return {c[len(word) :]: column for c, column in columns.items()}


def _same_classes(p: _Affixed, y: _Affixed, keys: dict[str, str]) -> _Affixed | None:
    """The 0/1 columns for the classes of the probabilities, in their order, or None; ``keys`` is class → 0/1 column.

    All classes must be there, unless the headers of the probabilities are bare, like those of other columns.
    """
    bare = not (p.before or p.after)
    if not bare and plain(next(iter(p.columns))) not in keys:
        return None
    shared = {c: keys[plain(c)] for c in p.columns if plain(c) in keys}
    if (p.before, p.after) == (y.before, y.after) or len(shared) < 2 or (len(shared) < len(p.columns) and not bare):
        return None
    return replace(y, columns=shared)


def _fits(e: Evidence, p: _Affixed, y: _Affixed) -> bool:
    """Whether one column is 1 in each row, and the probabilities add up to 1 or could be logits."""
    if not _exclusive(_matrix(e, y)):
        return False
    matrix = np.column_stack([e.column(p.columns[c]).numeric().values for c in y.columns]).astype(np.float64)
    matrix = matrix[~np.isnan(matrix).any(axis=1)]
    total = matrix.sum(axis=1)
    slack = max(0.02, 0.006 * matrix.shape[1])
    adds_up = bool(len(total)) and max(float(np.mean(np.abs(total / s - 1) <= slack)) for s in (1.0, 100.0)) > 0.5
    inside = bool(len(total)) and float(matrix.min()) >= 0 and float(matrix.max()) <= 1
    return adds_up or not inside or e.mapping.columns_are == "classes" or e.mapping.scale is not None


def _by_label_words(e: Evidence, flags: list[str]) -> _Affixed | None:
    """0/1 columns whose common part is a word for labels; the probabilities are named otherwise, so their order is asked."""
    if not any(e.numeric(n) for n in e.free if n not in flags):
        return None
    found = [s for s in _sets(flags) if s.says_label and not s.says_prediction and _exclusive(_matrix(e, s))]
    return max(found, key=lambda s: len(s.columns), default=None)


def _matrix(e: Evidence, spread: _Affixed) -> Floats:
    """1 for right words, 0 for wrong ones, NaN for others and missing cells."""
    columns = []
    for name in spread.columns.values():
        names = e.column(name).names()
        words = {True: 1.0, False: 0.0, None: np.nan}
        columns.append(np.array([*(words[wrong_or_right(d)] for d in names.distinct), np.nan])[names.code])
    return np.column_stack(columns)


def _exclusive(matrix: Floats) -> bool:
    """Whether hardly any row lacks a single 1, and more than one column ever holds it; none may hold two."""
    known = matrix[~np.isnan(matrix).any(axis=1)]
    ones = known.sum(axis=1)
    return bool(
        len(known) > 1
        and len(known) >= (1 - _FEW) * len(matrix)
        and (ones <= 1).all()
        and (ones == 1).mean() >= 1 - _FEW
        and known.any(axis=0).sum() > 1
    )


def _label_of(e: Evidence, spread: _Affixed) -> Reshaped:
    """The table with one column of labels in place of the 0/1 columns."""
    if spread.name in e.table.columns:
        raise InputError(
            f"Column {spread.name!r} has the name of the label that {listing(list(spread.columns.values()), 4)} make. Rename it."
        )
    matrix = _matrix(e, spread)
    odd = _odd(e, spread, matrix)
    code = np.where(np.isnan(matrix).any(axis=1) | ~(matrix == 1).any(axis=1), -1, np.nan_to_num(matrix).argmax(axis=1)).astype(np.intp)
    values = list(spread.columns)
    for value, rows in odd.items():  # ties that are left out, so that they are counted
        code[rows] = len(values)
        values.append(value)
    column = texts(spread.name, values, code)
    used = set(spread.columns.values()) - set(e.mapping.groups or ())
    columns = {spread.name: column, **{n: c for n, c in e.table.columns.items() if n not in used}}
    shown = listing(list(spread.columns.values()), 6)
    note = f"The label is the name of the column that is 1 in each row, among {shown}."
    return Reshaped(replace(e.table, columns=columns), replace(e.mapping, label=spread.name), (note,))


def _odd(e: Evidence, spread: _Affixed, matrix: Floats) -> dict[str, NDArray[np.bool_]]:
    """Values such as 0.5 with their rows; asked unless such rows are to be left out."""
    found: dict[str, NDArray[np.bool_]] = {}
    for name in spread.columns.values():
        names = e.column(name).names()
        for i, d in enumerate(names.distinct):
            if d in names.present() and wrong_or_right(d) is None:
                found[d] = found.get(d, np.zeros(len(matrix), dtype=np.bool_)) | (names.code == i)
    dropped = {name_key(d) for d in e.mapping.drop_label or ()}
    open_ones = [d for d in found if name_key(d) not in dropped]
    if open_ones:
        count = int(np.logical_or.reduce([found[d] for d in open_ones]).sum())
        text = (
            f"Columns {listing(list(spread.columns.values()), 4)} hold {listing(open_ones)} in {count:,} rows, "
            "which is neither 0 nor 1. Leave such rows out?"
        )
        raise AmbiguousLayout([question("drop_label", text, [",".join(open_ones)])])
    return found
