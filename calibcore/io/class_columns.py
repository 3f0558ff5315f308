"""Columns that hold one class each: headers that are the label's values, alone or between a common beginning and end."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from calibcore.checks import name_key, name_text, sorted_names
from calibcore.errors import AmbiguousLayout
from calibcore.io.columns import Column
from calibcore.io.evidence import Evidence
from calibcore.io.scales import class_scale, row_sums
from calibcore.io.vocabulary import is_named, is_whole, plain

__all__ = ["ClassSet", "is_one_hot", "matching_sets", "spellings", "stem_sets", "truth_key", "truth_names"]

Middles = dict[Hashable, tuple[str, str]]  # class as a key → its name and its column
_OUTPUT_WORDS = ("score", "logit", "class", "out", "raw", "margin", "decision", "softmax", "log", "conf")
_FIRST = 1000  # rows that often settle what must hold for all
_TRUTHS: dict[str, int] = {"false": 0, "true": 1}


@dataclass(frozen=True, slots=True)
class ClassSet:
    """Columns ``before + class + after``.

    Attributes
    ----------
    before, after : str
        What the headers have in common.
    columns : dict of class name to column
    complete : bool
        Every value of the label has its column.
    """

    before: str
    after: str
    columns: dict[str, str]
    complete: bool = True

    @property
    def says_probability(self) -> bool:
        """Whether the common part of the headers is a word for probability."""
        words = plain(self.before + self.after)
        return any(w in words for w in ("prob", "pred")) or words in ("p", "ip") or words.endswith("_p")

    @property
    def is_numbered(self) -> bool:
        """Whether the headers are whole numbers, or end in them after words that any feature may have: 7, x_7, never prob_7."""
        words = plain(self.before + self.after)
        telling = self.says_probability or words.startswith("p_") or any(w in words for w in _OUTPUT_WORDS) or words in ("z", "f", "o", "l")
        return not telling and all(is_whole(name_key(c)) or self._is_numbered_truth(c) for c in self.columns)

    def _is_numbered_truth(self, name: str) -> bool:
        """Whether the header of True or False holds 1 or 0 in its place."""
        header = self.columns[name]
        return name.casefold() in _TRUTHS and is_whole(name_key(header[len(self.before) : len(header) - len(self.after)]))

    def believable(self, evidence: Evidence, *, sure: bool) -> bool:
        """Whether these are classes: the values add up, or else the headers leave no doubt that they are no features.

        ``sure`` says that the label's own name leaves no doubt either; then a set that lacks some of its classes is one.
        """
        if evidence.mapping.probabilities or (evidence.mapping.scale and self.complete):
            return True
        rivals = {*evidence.named("probability"), *evidence.named("confidence")} - set(self.columns.values())
        try:
            scale = self.scale(evidence)
        except AmbiguousLayout:
            scale = "asked"
        if scale in ("fraction", "percent", "log-prob"):
            unsure = self.is_numbered and bool(self.before or self.after) and bool(rivals)
            return (self.complete or scale == "fraction") and not unsure
        if self.is_numbered:
            return self.complete and not rivals and not (self.before or self.after)
        return self.complete or (sure and not rivals)

    def scale(self, evidence: Evidence) -> str | None:
        """How the values are written; None if they are no probabilities of classes."""
        return class_scale([evidence.column(c) for c in self.columns.values()], self.says_probability)


def truth_key(name: str) -> Hashable:
    """A name's key where classes are yes or no: True and true are 1, False is 0."""
    return _TRUTHS.get(name.strip().casefold(), name_key(name))


def truth_names(values: Iterable[str]) -> tuple[str, str] | None:
    """How False and True are written where all values are such words, or 0 and 1 beside them; None for other values."""
    found = list(values)
    words = {truth_key(v): v for v in reversed(found) if v.strip().casefold() in _TRUTHS}  # the first way to write it
    if not words or not {truth_key(v) for v in found} <= {0, 1}:
        return None
    style = next(iter(words.values()))
    written = str.lower if style.islower() else str.upper if style.isupper() else str.capitalize
    return str(words.get(0, written("false"))), str(words.get(1, written("true")))


def matching_sets(evidence: Evidence, values: Sequence[str], columns: Iterable[str]) -> list[ClassSet]:
    """Sets of columns whose headers hold these values, the most complete ones; each has at least two columns."""
    values = truth_names(values) or values
    numeric = [c for c in columns if evidence.numeric(c)]
    found = [s for pair in _affixes(values, numeric) if (s := _set(evidence, *pair, values, numeric)) is not None]
    found = [s for s in found if not is_one_hot(evidence, list(s.columns.values()))]
    most = max((_matched(s, values) for s in found), default=0)
    best = [s for s in found if _matched(s, values) == most]
    # "p_" + 1 and "p_1" + "" can share columns: the set with more columns is the real one
    kept: list[ClassSet] = []
    for s in sorted(best, key=lambda s: -len(s.columns)):
        if not any(set(s.columns.values()) & set(k.columns.values()) for k in kept):
            kept.append(s)
    return sorted(kept, key=lambda s: numeric.index(next(iter(s.columns.values()))))


def _matched(found: ClassSet, values: Sequence[str]) -> int:
    keys = {name_key(c) for c in found.columns}
    return sum(name_key(v) in keys for v in values)


def _affixes(values: Sequence[str], columns: Sequence[str]) -> list[tuple[str, str]]:
    """Beginnings and ends that are left when one of the first values is cut out of a header."""
    pairs: dict[tuple[str, str], int] = {}
    for text in dict.fromkeys(t for v in values[:3] for t in (v, name_text(_number(v)), *spellings(v))):
        for column in columns:
            at = column.find(text) if text else -1
            while at >= 0:
                pair = (column[:at], column[at + len(text) :])
                pairs[pair] = pairs.get(pair, 0) + 1
                at = column.find(text, at + 1)
    return sorted(pairs, key=lambda p: -pairs[p])[:200]


def spellings(value: str) -> list[str]:
    """Other ways to write True, False, 1 and 0 in a header."""
    key = truth_key(value)
    return [s for w, k in _TRUTHS.items() if k == key for s in (w.capitalize(), w, w.upper(), str(k))]


def _number(value: str) -> float | str:
    key = name_key(value)
    return key if isinstance(key, (int, float)) else value


def _set(evidence: Evidence, before: str, after: str, values: Sequence[str], columns: Sequence[str]) -> ClassSet | None:
    key = truth_key if {truth_key(v) for v in values} <= {0, 1} else name_key
    middles: Middles = {}
    for column in columns:
        if column.startswith(before) and column.endswith(after) and len(column) > len(before) + len(after):
            middle = column[len(before) : len(column) - len(after)]
            middles.setdefault(key(middle), (middle, column))
    wanted = {key(v): v for v in values}
    hits = [k for k in middles if k in wanted]
    single = len(wanted) == len(hits) == 1 and ClassSet(before, after, {}).says_probability
    if not hits or len(middles) < 2 or (len(hits) < 2 and not single) or len(hits) * 2 < len(wanted):
        return None
    words = any(t.strip().casefold() in _TRUTHS for k in hits for t in (wanted[k], middles[k][0]))
    if words and any(is_whole(k) for k in middles if k not in hits):  # 0, 1 and 2 are no False and True
        return None
    extra = set() if words else _more_classes(evidence, middles, hits, named=bool(before or after))
    chosen = {(wanted[k] if k in wanted else middles[k][0]): middles[k][1] for k in middles if k in wanted or k in extra}
    if len(chosen) < 2:
        return None
    return ClassSet(
        before, after, {n: chosen[n] for n in sorted_names(list(chosen))} if _plain_numbers(chosen) else chosen, len(hits) == len(wanted)
    )


def _plain_numbers(names: Iterable[str]) -> bool:
    """Whether sorting keeps the names as they are (it turns 1.0 into 1)."""
    return all(name_text(_number(n)) == n for n in names)


def _more_classes(evidence: Evidence, middles: Middles, hits: list[Hashable], *, named: bool) -> set[Hashable]:
    """Classes that no row has: they belong to the set unless the rows add up to 1 only without them."""
    others = [k for k in middles if k not in hits]
    if all(isinstance(k, (int, float)) for k in hits):
        others = [k for k in others if is_whole(k) and k >= 0]
    elif not named:
        return _completing(evidence, middles, hits, others)
    alone = [evidence.column(middles[k][1]) for k in hits]
    n = evidence.table.n_rows
    together = [evidence.column(middles[k][1]) for k in (*hits, *others)]
    return set(others) if others and (_adds_up(together, n) or not _adds_up(alone, n)) else set()


def _completing(evidence: Evidence, middles: Middles, hits: list[Hashable], others: list[Hashable]) -> set[Hashable]:
    """The one further column, or else all further fractions, with which the rows add up to 1."""
    found = [evidence.column(middles[k][1]) for k in hits]
    fractions = [k for k in others if evidence.unit(middles[k][1])]
    if not fractions or not all(evidence.unit(c.name) for c in found) or _adds_up(found, evidence.table.n_rows):
        return set()
    for group in (*([k] for k in fractions), fractions):
        if _adds_up([*found, *(evidence.column(middles[k][1]) for k in group)], evidence.table.n_rows):
            return set(group)
    return set()


def _adds_up(columns: list[Column], n_rows: int) -> bool:
    """Whether 98 % of the rows add up to 1; the first ones may say that too many do not."""
    slack = max(0.02, 0.006 * len(columns)) + 1e-9
    first = [c.first_numbers(max(n_rows // 40, 1)) for c in columns]
    least = min(map(len, first))
    start = np.column_stack([f[:least] for f in first]).astype(np.float64)
    start = start[np.isfinite(start).all(axis=1)].sum(axis=1)
    if np.count_nonzero(np.abs(start - 1) > slack) > 0.021 * n_rows:
        return False
    sums = row_sums(columns)
    return bool(len(sums)) and float(np.mean(np.abs(sums - 1) <= slack)) >= 0.98


def is_one_hot(evidence: Evidence, columns: Sequence[str]) -> bool:
    """Whether columns hold 0 and 1 only, with a single 1 in each row: these are labels, not probabilities."""
    if not all(np.isin(evidence.column(c).first_numbers(_FIRST), (0.0, 1.0)).all() for c in columns):
        return False
    matrix = np.column_stack([evidence.column(c).numeric().values for c in columns])
    return bool(
        np.isin(matrix, (0.0, 1.0)).all() and (matrix.sum(axis=1) == 1).all() and matrix.shape[0] > 1 and matrix.any(axis=0).sum() > 1
    )


def stem_sets(evidence: Evidence, columns: Iterable[str]) -> list[ClassSet]:
    """Sets of columns with a common beginning (or none, for headers 0, 1, …) whose rows add up to 1."""
    numeric = [c for c in columns if evidence.numeric(c)]
    stems: dict[str, dict[str, str]] = {}
    for column in numeric:
        for stem in _stems(column):
            stems.setdefault(stem, {})[column[len(stem) :]] = column
    found = [
        ClassSet(s, "", group) for s, group in stems.items() if len(group) >= 2 and (s or set(group) == {str(i) for i in range(len(group))})
    ]
    found = [
        s
        for s in found
        if _adds_up([evidence.column(c) for c in s.columns.values()], evidence.table.n_rows)
        and not is_one_hot(evidence, list(s.columns.values()))
    ]
    kept: list[ClassSet] = []
    for s in sorted(found, key=lambda s: (-len(s.columns), -len(s.before))):
        if not any(set(s.columns.values()) & set(k.columns.values()) for k in kept):
            kept.append(s)
    return kept


def _stems(column: str) -> list[str]:
    """Beginnings that a header may share with its fellows: up to a separator, or up to its number."""
    if column.isdigit():
        return [""]
    ends = [i + 1 for i, c in enumerate(column[:-1]) if c in "_. -(=:"]
    digits = len(column) - len(column.rstrip("0123456789"))
    stems = [column[:e] for e in ends] + ([column[:-digits]] if digits else [])
    return [
        s
        for s in stems
        if s and (is_named(s + "x", "probability") or plain(s) in ("p", "cal_p", "ip", "class", "pred") or "prob" in plain(s))
    ]
