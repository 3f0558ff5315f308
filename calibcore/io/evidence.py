"""What a table's names and values say about the role of each column, looked up when a rule asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key, rows_text
from calibcore.errors import InputError, Question
from calibcore.io.columns import MISSING_LABELS, Column, Span, Table
from calibcore.io.mapping import Mapping
from calibcore.io.vocabulary import bare, is_bound_of, is_named, is_whole, plain, polarity, wrong_or_right

__all__ = ["FLAGS", "MAX_CLASSES", "NO_PREDICTIONS", "Evidence", "question"]

MAX_CLASSES = 1000
NO_PREDICTIONS = "the table holds predictions"  # the rule that a table of something else breaks
FLAGS = {
    "predicted": "--predicted",
    "probabilities": "--prob",
    "model": "--model-col",
    "groups": "--group",
    "columns_are": "--columns-are",
    "drop_label": "--drop-label",
}
_OF_ANOTHER = (
    *("i_{}", "$l_{}", "predicted_{}", "pred_{}", "prediction_{}", "{}_prediction", "{}_pred", "{}_predicted"),
    *("prediction({})", "prediction_({})"),
)
_KINDS = {"nested": "lists or records", "other": "binary data", "time": "dates or times"}
T = TypeVar("T")
_BLOCK = 1 << 14
_FEW = 10  # rows below which a table without telling names is rather a summary
_FIRST = 1000  # cells that often settle what must hold for all
Numbers = NDArray[np.floating[Any]]


def question(field_name: str, text: str, options: Iterable[str]) -> Question:
    """A `Question` whose id is a `Mapping` field."""
    return Question(field_name, text, tuple(options), FLAGS.get(field_name, f"--{field_name}"))


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A table beside what the user said about it."""

    table: Table
    mapping: Mapping
    memo: dict[str, Any] = field(default_factory=dict)

    def _once(self, key: str, make: Callable[[], T]) -> T:
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]  # type: ignore[no-any-return]

    def told(self, role: str) -> Any:
        """What the mapping says: None if nothing; a named column must exist."""
        value = getattr(self.mapping, role)
        if isinstance(value, str) and role not in ("positive", "scale", "outcome"):
            self.table.column(value)
        return value

    def column(self, name: str) -> Column:
        """A column by name."""
        return self.table.column(name)

    @property
    def index(self) -> tuple[str, ...]:
        """Columns that look like saved row numbers, and were not named by the user."""
        named = self.mapping.columns()
        return self._once(
            "index", lambda: tuple(n for n in self.table.columns if (n in self.table.index or is_named(n, "index")) and n not in named)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All columns but the index."""
        return self._once("names", lambda: tuple(n for n in self.table.columns if n not in self.index))

    def numeric(self, name: str) -> bool:
        """Whether most of a column's cells are numbers."""
        return self.column(name).is_numeric

    def values(self, name: str, limit: int = MAX_CLASSES) -> tuple[str, ...] | None:
        """The names that occur in a column, without those that are to be dropped; None above ``limit``."""
        found = self.column(name).few_names(limit)
        dropped = {name_key(d) for d in self.mapping.drop_label or ()}
        return None if found is None else tuple(v for v in found if name_key(v) not in dropped)

    def whole(self, name: str) -> bool:
        """Whether a numeric column holds whole numbers only."""
        column = self.column(name)
        return column.is_integer() or (_whole(column.first_numbers(_FIRST)) and _whole(column.occurring()))

    def class_like(self, name: str) -> bool:
        """Whether a column can hold class names: not many different values, and no measured numbers."""
        return self._once(f"class-like {name}", lambda: self._class_like(name))

    def _class_like(self, name: str) -> bool:
        if self.column(name).kind in ("nested", "other", "time"):
            return False
        measured = self.numeric(name) and not self.whole(name)
        if measured and len(np.unique(self.column(name).first_numbers(100))) > 4:  # spares the names of features
            return False
        found = self.values(name)
        return found is not None and len(found) > 0 and (not measured or len(found) <= 3)

    def same(self, a: str, b: str) -> bool:
        """Whether two columns hold the same names in every row."""
        left, right = self.column(a).names(), self.column(b).names()
        return bool(np.array_equal(left.code, right.among(left.distinct, unknown=-2)))

    def different(self, names: Iterable[str]) -> list[str]:
        """Without columns that repeat an earlier one in every row."""
        kept: list[str] = []
        for name in names:
            if not any(self.same(k, name) for k in kept):
                kept.append(name)
        return kept

    @property
    def predictions(self) -> tuple[str, ...]:
        """Columns of a predicted class, by name; none of them is ever a label or a probability."""
        told = self.told("predicted")
        if told is not None:
            return (told,) if told else ()
        return self._once("predictions", self._predictions)

    def _predictions(self) -> tuple[str, ...]:
        keys = {plain(n) for n in self.names}
        others = {p.format(k) for k in keys for p in _OF_ANOTHER} & keys
        named = [n for n in self.names if (is_named(n, "predicted") or plain(n) in others) and n not in self._claimed("predicted")]
        if len(named) > 1 and not any(is_named(n, "label", exact=True) for n in self.names):
            named = [n for n in named if plain(n) != "response"] or named  # beside a prediction it is what was to be predicted
        return tuple(n for n in named if self.class_like(n) and not is_named(n, "index"))

    def _claimed(self, role: str) -> set[str]:
        """Columns that the user gave another role."""
        mine = getattr(self.mapping, role)
        return set(self.mapping.columns()) - ({mine} if isinstance(mine, str) else set())

    @property
    def predicted(self) -> str | None:
        """The column of the predicted class, if there is one (the first of several)."""
        return self.predictions[0] if self.predictions else None

    @property
    def predicted_twin(self) -> str | None:
        """The free column that a predicted class is named after, with values in common: ``churned`` of ``predicted_churned``."""
        if self.predicted is None or self.told("predicted"):
            return None
        key, classes = plain(self.predicted), {name_key(v) for v in self.values(self.predicted) or ()}
        twins = [n for n in self.free if plain(n) and any(p.format(plain(n)) == key for p in _OF_ANOTHER) and self.class_like(n)]
        return next((n for n in twins if classes & {name_key(v) for v in self.values(n) or ()}), None)

    @property
    def model(self) -> str | None:
        """The column that names each row's model; a constant one is no axis."""
        told = self.told("model")
        if told is not None:
            return told or None
        return self._once("model", lambda: next((n for n in self.names if is_named(n, "model", exact=True) and self._is_axis(n)), None))

    def _is_axis(self, name: str) -> bool:
        """Whether a column tells models apart by their texts, of which no text is one: version 1.1 is not 1.10."""
        column = self.column(name)
        if name in self._claimed("model") or column.few_names(200) is None:
            return False
        names = column.names()
        found = sum(d.casefold() not in MISSING_LABELS for d in names.distinct) + bool(names.missing().any())
        return found > 1 and found * 2 <= self.table.n_rows

    @property
    def correct(self) -> str | None:
        """The column that says whether a prediction was right."""
        told = self.told("correct")
        if told is not None:
            return told or None
        return self._once("correct", lambda: next((n for n in self.names if is_named(n, "correct") and self._says_right(n)), None))

    def _says_right(self, name: str) -> bool:
        found = self.values(name, 6)
        if not found or name in self._claimed("correct"):
            return False
        words = [wrong_or_right(v) for v in found]
        if any(w is None and is_whole(name_key(v)) for w, v in zip(words, found, strict=True)):  # 2 beside 0 and 1 is a class
            return False
        return (True in words and words.count(None) <= 2) or words == [False]

    @property
    def ids(self) -> tuple[str, ...]:
        """Columns that identify rows: named like an id, with a different value in each row (of a model)."""
        return self._once(
            "ids", lambda: tuple(n for n in self.names if is_named(n, "id") and n not in self._claimed("id") and self._unique(n))
        )

    def _unique(self, name: str) -> bool:
        column = self.column(name)
        if column.kind in ("nested", "other", "time") or (column.kind == "number" and not self.whole(name)):
            return False
        start = column.head(10_000)
        if self.model is None and len(start.unique()) < len(start):
            return False
        n, different = self.table.n_rows, column.n_different()
        rows_each = 1 if self.model is None else len(self.values(self.model, 200) or (1,))
        return different == n if rows_each == 1 else n / rows_each <= different <= n / rows_each * 1.5 + 1 and different < n

    @property
    def aside(self) -> frozenset[str]:
        """Columns that are neither label nor probability: index, ids, predictions, model, weight, correct, times."""
        return self._once("aside", self._aside)

    def _aside(self) -> frozenset[str]:
        named = [n for n in self.names if any(is_named(n, r, exact=True) for r in ("weight", "ignore")) or self.column(n).kind == "time"]
        dated = [n for n in self.names if is_named(n, "time") and not is_named(n, "probability")]
        single = [c for c in (self.model, self.correct) if c]
        beside: dict[str, Any] = dict.fromkeys(("model", "weight", "id", "groups", "cluster", "time"))
        main = set(replace(self.mapping, predicted=None, correct=None, **beside).columns())
        told = replace(self.mapping, label=None, predicted=None, correct=None, confidence=None, probabilities=None, groups=None).columns()
        return frozenset((*self.index, *self.ids, *self.predictions, *named, *dated, *single, *told)) - main

    @property
    def free(self) -> tuple[str, ...]:
        """Columns that may be a label or a probability."""
        return self._once("free", lambda: tuple(n for n in self.names if n not in self.aside))

    def named(self, role: str) -> list[str]:
        """Free numeric columns whose name says that they are probabilities or confidences; empty columns left out."""
        return list(self._once(f"named {role}", lambda: self._named(role)))

    def _named(self, role: str) -> list[str]:
        claimed = self._claimed(role if role == "confidence" else "probabilities")
        named = [n for n in self.free if is_named(n, role) and n not in claimed and self.numeric(n)]
        keys = {plain(n) for n in named}
        named = [n for n in named if n in self.mapping.columns() or not is_bound_of(n, keys)]
        return named if role != "probability" else [*named, *self._with_outcomes(claimed.union(named))]

    def _with_outcomes(self, others: set[str]) -> list[str]:
        """Columns X of fractions beside ``X_outcome``."""
        keys = {plain(n) for n in self.names}
        return [n for n in self.free if n not in others and f"{plain(n)}_outcome" in keys and self.unit(n)]

    def unit(self, name: str) -> bool:
        """Whether a column holds fractions: numbers in [0, 1] that are not only 0 and 1."""
        if not self.numeric(name):
            return False
        column = self.column(name)
        if column.is_integer() or not _in_unit(first := column.first_numbers(_FIRST)):
            return False
        return _in_unit(column.span()) and (_fractions(first) or _fractions(column.occurring()))

    def about(self, probability: str) -> list[str]:
        """Free two-valued columns whose name is what a probability column is about: ``is_fraud`` of ``fraud_probability``."""
        topic, whole = bare(probability), plain(probability)
        topic = "default" if whole == "pd" else topic
        wanted = {f"{whole}_outcome"} | ({topic, f"is_{topic}", f"{topic}_outcome", f"{topic}_flag", f"has_{topic}"} if topic else set())
        return [n for n in self.free if n != probability and plain(n) in wanted and self.class_like(n) and len(self.values(n) or ()) <= 3]

    def rest(self, *used: str) -> list[str]:
        """Free columns beside those that are used and those with a date or many texts."""
        return [n for n in self.free if n not in used and (self.numeric(n) or self.class_like(n) or self.column(n).kind == "nested")]

    def positive(self, names: Iterable[str]) -> str | None:
        """The positive class, where the mapping, a POSITIVE_CLASS column or the words say it."""
        names = list(names)
        if self.mapping.positive is not None:
            wanted = name_key(self.mapping.positive)
            return next((n for n in names if name_key(n) == wanted), self.mapping.positive)
        if self.mapping.classes is not None and len(self.mapping.classes) == 2:
            return self.mapping.classes[1]
        stated = next((n for n in self.names if plain(n) == "positive_class"), None)
        if stated and len(found := self.values(stated) or ()) == 1:
            return next((n for n in names if name_key(n) == name_key(found[0])), polarity(names))
        return polarity(names)

    @property
    def doubt(self) -> str:
        """What few rows say about a table whose columns are unclear, to stand before the question; "" for many."""
        n = self.table.rows_in_file
        return "" if n is None or n >= _FEW else f"{rows_text(n)}: this looks like a summary, not predictions. "

    def no_column(self, what: str) -> InputError:
        """The sentence for a file in which nothing looks like a role."""
        option = {"label": "--label", "probability": "--prob"}[what]
        return InputError(
            f"{self.hint(what)}No column looks like a {what}. Name it ({option}); the columns "
            f"are {listing([n or '(no name)' for n in self.names or self.index], 12)}.",
            rule=NO_PREDICTIONS,
            available=self.names,
        )

    def hint(self, what: str) -> str:
        """A sentence on a column that has the name of a role and cannot have it, or nothing."""
        for name in self.names:
            if not is_named(name, what, exact=True):
                continue
            if self.column(name).kind in _KINDS:
                return f"Column {name!r} holds {_KINDS[self.column(name).kind]}. "
            if self.column(name).names().missing().all():
                return f"Column {name!r} is empty. "
            if what == "label" and self.numeric(name) and not self.class_like(name) and not self.unit(name):
                return (
                    f"Column {name!r} holds measured numbers, not classes; a comparison makes outcomes of them (--outcome '{name} > 0'). "
                )
        return ""


def _whole(values: Numbers) -> bool:
    for start in range(0, len(values), _BLOCK):
        part = values[start : start + _BLOCK]
        if not (part == np.rint(part))[np.isfinite(part)].all():
            return False
    return True


def _in_unit(found: Numbers | Span) -> bool:
    """Whether there are values and none is outside [0, 1], but for rounding."""
    span = found if isinstance(found, Span) else Span.of(found)
    return not (span.low < -1e-6 or span.high > 1 + 1e-6)


def _fractions(values: Numbers) -> bool:
    """Whether some value is neither 0 nor 1."""
    return bool(((values > 0) & (values < 1)).any())
