"""Long form: one row for each class of each case (and model) becomes one row a case with one column a class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import checked_probabilities, checked_row_sums, listing, name_text
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.columns import Column
from calibcore.io.evidence import Evidence, question
from calibcore.io.long_labels import Cases, long_label
from calibcore.io.reshaped import Reshaped, filled_in, numbers, taken
from calibcore.io.vocabulary import is_named, plain

__all__ = ["long_form"]

_CLASS_NAMES = frozenset(
    re.findall(
        r"\w+",
        "class klass class_name class_id class_label option answer_option choice candidate category outcome_class "
        "predicted_class level bucket bin alternative outcome label",
    )
)
_LABEL_NAMES = ("label", "outcome")  # of classes only where the probabilities of each case add up to 1
_VALUE_NAMES = ("value", "prob_forecast")
_MOST = 0.9  # share of cases that must look like long form
_ROUNDING = 1e-3  # what rounding may take from a sum
_REMEMBERED = 1 << 22  # rows of cases that are kept for the next probability
_KEYS = 6  # columns that are tried as a case's key


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """The columns of a long form and, for each row, its case and its class."""

    probability: str
    kind: str
    keys: tuple[str, ...]
    cases: Cases
    extra: str | None = None  # a column without the name of a key that is needed to tell rows apart


def long_form(e: Evidence) -> Reshaped | None:
    """The wide table, where each case's probabilities add up to 1 or a class column by name has the same classes for each case."""
    told = e.mapping
    if told.columns_are in ("models", "labels") or isinstance(told.probabilities, (tuple, Dictionary)) or told.confidence:
        return None
    form = _found(e)
    if form is None:
        return None
    _ask_model(e, form)
    return _wide(e, form)


def _found(e: Evidence) -> _Form | None:
    repeated: tuple[Cases, str] | None = None
    able, tried = _Able.of(e), _Tried(e)
    for probability in _probabilities(e):
        values = e.column(probability).numeric().values.astype(np.float64, copy=False)
        for kind in able.kinds(probability):
            for keys, extra in able.keys(probability, kind):
                if (keys, kind) in tried.hopeless:
                    continue
                cases = tried.cases(keys, kind)
                named = plain(kind) in _CLASS_NAMES
                if not e.table.complete and named and plain(kind) not in _LABEL_NAMES and extra is None and _begun(cases, values):
                    return _Form(probability, kind, keys, cases, extra)
                if not _several_rows(cases, least=_MOST if e.table.complete and not named else 0.5):
                    tried.gives_up(keys, kind)
                    continue
                if not tried.is_unique(keys, kind, cases):
                    repeated = repeated or ((cases, keys[0]) if named and _few_repeated(cases) and _add_up(cases, values) else None)
                elif (_add_up(cases, values) and (named or _mostly_whole(cases))) or (
                    named and extra is None and _says_long(e, cases, kind, (probability, *keys))
                ):
                    return _Form(probability, kind, keys, cases, extra)
    if repeated:
        raise _twice(e, *repeated)
    return None


@dataclass(slots=True)
class _Tried:
    """What was found out about keys and classes, which is the same for every probability."""

    e: Evidence
    hopeless: set[tuple[tuple[str, ...], str]] = field(default_factory=set)
    unique: dict[tuple[tuple[str, ...], str], bool] = field(default_factory=dict)
    seen: dict[tuple[tuple[str, ...], str], Cases] = field(default_factory=dict)

    def cases(self, keys: tuple[str, ...], kind: str) -> Cases:
        """The cases of each row; those of the first keys are kept, as far as they take little."""
        if (keys, kind) in self.seen:
            return self.seen[keys, kind]
        cases = _cases(self.e, keys, kind)
        if len(self.seen) * len(cases.case) < _REMEMBERED:
            self.seen[keys, kind] = cases
        return cases

    def is_unique(self, keys: tuple[str, ...], kind: str, cases: Cases) -> bool:
        """Whether no case has a class twice."""
        if (keys, kind) not in self.unique:
            self.unique[keys, kind] = _unique(cases)
        return self.unique[keys, kind]

    def gives_up(self, keys: tuple[str, ...], kind: str) -> None:
        """Keys that make no cases of several rows; the first rows alone may look different to another probability."""
        if self.e.table.complete:
            self.hopeless.add((keys, kind))


def _probabilities(e: Evidence) -> list[str]:
    told = e.mapping.probabilities
    if isinstance(told, str):
        return [told] if e.numeric(told) else []
    named = [*e.named("probability"), *e.named("confidence")]
    return named or [n for n in e.free if plain(n) in _VALUE_NAMES and e.numeric(n)]


@dataclass(frozen=True, slots=True)
class _Able:
    """Columns that may have a role beside the probabilities, looked up once for all of them."""

    named: tuple[str, ...]  # may hold each row's class by their names
    texts: tuple[str, ...]  # may hold it as texts
    ids: tuple[str, ...]
    others: tuple[str, ...]  # may be part of a case's key
    told: str | None
    groups: frozenset[str]

    @classmethod
    def of(cls, e: Evidence) -> _Able:
        """The columns of a table."""
        apart, able = {e.model, *e.index, *([e.mapping.label] if e.mapping.label else [])}, [n for n in e.names if e.class_like(n)]
        kinds = [n for n in able if n not in apart and 1 < len(e.values(n) or ()) <= e.table.n_rows]
        named = sorted((n for n in kinds if plain(n) in _CLASS_NAMES), key=lambda n: plain(n) in _LABEL_NAMES)
        unnamed = [n for n in kinds if n not in named and not e.numeric(n) and e.column(n).kind == "text"]
        free = [n for n in e.names if n != e.model and e.column(n).kind not in ("nested", "other")]
        own = set(e.ids)
        ids = [n for n in free if n not in own and (is_named(n, "id") or is_named(n, "time") or e.column(n).kind == "time")]
        able = [n for n in able if n != e.model and e.column(n).kind not in ("nested", "other") and not is_named(n, "label", exact=True)]
        return cls(
            tuple(named),
            tuple(n for n in unnamed if not is_named(n, "label", exact=True)),
            tuple(n for n in ids if e.column(n).names().present()),
            tuple(able),
            e.mapping.id or None,
            frozenset(n for n in able if is_named(n, "group", exact=True)),
        )

    def kinds(self, probability: str) -> list[str]:
        """Columns that may hold each row's class: by name first, then texts."""
        return [*(n for n in self.named if n != probability), *islice((n for n in self.texts if n != probability), 4)]

    def keys(self, probability: str, kind: str) -> Iterator[tuple[tuple[str, ...], str | None]]:
        """Columns that together name a case, the likeliest first; the second part is one that is no key by its name."""
        used = {probability, kind}
        ids = [self.told] if self.told else list(islice((n for n in self.ids if n not in used), _KEYS))
        for size in range(1, len(ids) + 1):
            for keys in combinations(ids, size):
                yield keys, None
        others = list(islice((n for n in self.others if n not in used and n not in ids), _KEYS))
        for other in others:
            for key in ids:
                yield (key, other), None if other in self.groups else other


def _cases(e: Evidence, keys: tuple[str, ...], kind: str) -> Cases:
    columns = (*keys, e.model) if e.model else keys
    case = np.zeros(e.table.n_rows, dtype=np.int64)
    for name in columns:
        names = e.column(name).names()
        case = np.unique(case * (len(names.distinct) + 1) + names.code, return_inverse=True)[1]
    names = e.column(kind).names()
    first = np.unique(case, return_index=True)[1]
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return Cases(rank[case], np.sort(first), names.code, names.distinct)


def _several_rows(cases: Cases, *, least: float) -> bool:
    """Whether this share of the cases has more than one row, and none has far more than there are classes."""
    rows = np.bincount(cases.case)
    return bool((rows > 1).mean() > least) and int(rows.max()) <= 2 * len(cases.classes)


def _begun(cases: Cases, values: NDArray[np.float64]) -> bool:
    """Whether the first rows of a file, with cases that go on later, look like long form: nothing twice, and as far as 1 / K allows."""
    sums, k = np.bincount(cases.case, np.nan_to_num(values)), len(cases.classes)
    repeated = len(cases.first) < len(cases.case)
    return repeated and _unique(cases) and float(sums.max()) <= 1.02 and abs(float(np.nanmean(values)) * k - 1) <= 0.1


def _pair(cases: Cases) -> NDArray[np.intp]:
    pair: NDArray[np.intp] = cases.case * (len(cases.classes) + 1) + cases.kind
    return pair


def _unique(cases: Cases) -> bool:
    return len(np.unique(_pair(cases))) == len(cases.case)


def _few_repeated(cases: Cases) -> bool:
    different = len(np.unique(_pair(cases)))
    return different > 0.8 * len(cases.case)


def _add_up(cases: Cases, values: NDArray[np.float64]) -> bool:
    """Whether the probabilities of most cases that have all their rows add up to 1."""
    sums = np.bincount(cases.case, np.nan_to_num(values))
    known = ~np.isnan(np.bincount(cases.case, values)) & (np.bincount(cases.case) > 1)
    return bool(known.any()) and float((np.abs(sums[known] - 1) <= 0.02).mean()) >= (0.8 if known.sum() < len(sums) else _MOST - 0.1)


def _same_classes(cases: Cases) -> bool:
    return bool((np.bincount(cases.case) == len([c for c in cases.classes if c])).all())


def _says_long(e: Evidence, cases: Cases, kind: str, used: tuple[str, ...]) -> bool:
    """Whether names and labels tell long form, where sums do not: the same classes in each case, or a label with these classes."""
    if plain(kind) in _LABEL_NAMES:
        return False
    label = long_label(e, cases, kind, used)
    return label is not None and (_same_classes(cases) or not label.is_flag)


def _mostly_whole(cases: Cases) -> bool:
    """Whether most cases have a row for each class: two of many teams that meet are no classes of one case."""
    return float((np.bincount(cases.case) == len(cases.classes)).mean()) >= 0.5


def _twice(e: Evidence, cases: Cases, key: str) -> InputError:
    pair = _pair(cases)
    first = np.zeros(len(pair), dtype=np.bool_)
    first[np.unique(pair, return_index=True)[1]] = True
    row = int(np.flatnonzero(~first)[0])
    earlier = int(np.flatnonzero(pair == pair[row])[0])
    return InputError(
        f"Rows {earlier + 1:,} and {row + 1:,} both hold the probability of class {cases.classes[cases.kind[row]]!r} "
        f"for the same case ({_case_name(e, cases, row, key)}). Remove one of them.",
        row=row + 1,
        value=cases.classes[cases.kind[row]],
    )


def _case_name(e: Evidence, cases: Cases, row: int, key: str) -> str:
    del cases
    model = f", {e.model} = {_cell(e, e.model, row)}" if e.model else ""
    return f"{key} = {_cell(e, key, row)}{model}"


def _cell(e: Evidence, name: str, row: int) -> str:
    return name_text(e.column(name).array[row].as_py())[:40]


def _ask_model(e: Evidence, form: _Form) -> None:
    """A column without a telling name that repeats all cases may name models; then it must not be read as more cases."""
    if form.extra is None or e.mapping.model is not None:
        return
    values = listing(list(e.values(form.extra) or ()), 3)
    text = f"Each case has the classes of {form.kind!r} once for each value of column {form.extra!r} ({values}). Does it name models?"
    raise AmbiguousLayout([question("model", text, [form.extra, "none"])])


def _wide(e: Evidence, form: _Form) -> Reshaped:
    numeric = e.column(form.probability).numeric()
    if numeric.bad_row is not None:
        raise InputError(
            f"Row {numeric.bad_row} of column {form.probability!r} is {numeric.bad_text[:40]!r}, not a number. Mend it.",
            row=numeric.bad_row,
            column=form.probability,
        )
    label = long_label(e, form.cases, form.kind, (form.probability, *form.keys))
    matrix, notes = _matrix(e, form, numeric.values)
    used = {form.probability, form.kind, *([label.name] if label else [])}
    columns, left = _carried(e, form.cases, used)
    if label:
        columns[label.name] = label.column
    named = {c: f"{form.probability}[{c}]" for c in form.cases.classes}
    columns |= {n: numbers(n, matrix[:, i]) for i, n in enumerate(named.values())}
    notes = (
        _about(e, form, label.name if label else None),
        *notes,
        *((f"Left out, as they differ within cases: {left}.",) if left else ()),
    )
    n = matrix.shape[0]
    table = replace(e.table, columns=columns, n_rows=n, rows_in_file=n if e.table.complete else None)
    told = replace(e.mapping, probabilities=named)
    return Reshaped(table, filled_in(told, label=label.name if label else None, model=e.model), notes)


def _about(e: Evidence, form: _Form, label: str | None) -> str:
    says = f"label = {label}, " if label else ""
    return (
        f"Long form: {e.table.n_rows:,} rows are {len(form.cases.first):,} cases ({says}class = {form.kind}, probability = "
        f"{form.probability}, case = {' + '.join([*form.keys, *([e.model] if e.model else [])])}); rows are counted as cases."
    )


def _carried(e: Evidence, cases: Cases, used: set[str]) -> tuple[dict[str, Column], str]:
    """Other columns, one cell a case, and the names of those whose cells differ within a case."""
    kept: dict[str, Column] = {}
    left: list[str] = []
    for name, column in e.table.columns.items():
        if name in used:
            continue
        constant = column.kind != "nested" and _constant(column, cases)
        if constant:
            kept[name] = taken(column, cases.first)
        elif name not in e.index and not is_named(name, "id"):
            left.append(name)
    return kept, listing(left, 6) if left else ""


def _constant(column: Column, cases: Cases) -> bool:
    if column.kind == "other":
        return False
    code = column.names().code
    return bool((code[cases.first][cases.case] == code).all())


def _matrix(e: Evidence, form: _Form, values: NDArray[np.floating[Any]]) -> tuple[NDArray[np.floating[Any]], tuple[str, ...]]:
    """Probabilities of shape (cases, classes); NaN where a case has none."""
    cases = form.cases
    matrix = np.full((len(cases.first), len(cases.classes)), np.nan, dtype=values.dtype)
    known = cases.kind >= 0
    matrix[cases.case[known], cases.kind[known]] = values[known]
    there = np.zeros(matrix.shape, dtype=np.bool_)
    there[cases.case[known], cases.kind[known]] = True
    _no_empty_cells(e, form, values)
    notes = _absent_classes(e, form, matrix, there)
    if e.mapping.scale in (None, "fraction"):
        _checked(e, form, values, matrix)
    return matrix, notes


def _no_empty_cells(e: Evidence, form: _Form, values: NDArray[np.floating[Any]]) -> None:
    if e.mapping.missing == "drop" or not np.isnan(values).any():
        return
    row = int(np.argmax(np.isnan(values)))
    raise InputError(
        f"{int(np.isnan(values).sum()):,} of {len(values):,} rows have no value in {form.probability!r} (row {row + 1}: "
        f"{_case_name(e, form.cases, row, form.keys[0])}). Leave such cases out with missing='drop' (--missing drop), or mend them.",
        row=row + 1,
        column=form.probability,
    )


def _absent_classes(e: Evidence, form: _Form, matrix: NDArray[np.floating[Any]], there: NDArray[np.bool_]) -> tuple[str, ...]:
    """Classes without a row are 0 where the others add up to 1; else the case lacks a probability."""
    lacking = ~there.all(axis=1)
    if not lacking.any() or not e.table.complete:
        return ()
    sums = np.where(there, matrix, 0).sum(axis=1, dtype=np.float64)
    whole = lacking & (np.abs(sums - 1) <= _ROUNDING)
    rest = np.flatnonzero(lacking & ~whole)
    if len(rest) and e.mapping.missing != "drop":
        row = int(form.cases.first[rest[0]])
        absent = [c for c, t in zip(form.cases.classes, there[rest[0]], strict=True) if not t]
        raise InputError(
            f"{len(rest):,} of {len(matrix):,} cases have no row for some class (first: {_case_name(e, form.cases, row, form.keys[0])} "
            f"lacks {listing(absent)}). Leave such cases out with missing='drop' (--missing drop), or add the rows.",
            row=row + 1,
            column=form.kind,
        )
    matrix[whole[:, None] & ~there] = 0
    return (
        (f"{int(whole.sum()):,} cases have no row for some class; their other probabilities add up to 1, so it is 0.",)
        if whole.any()
        else ()
    )


def _checked(e: Evidence, form: _Form, values: NDArray[np.floating[Any]], matrix: NDArray[np.floating[Any]]) -> None:
    """Faults with the row of the file, where the probabilities are fractions that add up to 1."""
    whole = np.flatnonzero(~np.isnan(matrix).any(axis=1))
    sums = matrix[whole].sum(axis=1)
    if not len(whole) or float((np.abs(sums - 1) <= 0.02).mean()) < 0.5:
        return
    checked_probabilities(np.where(np.isnan(values), 0.5, values), f"values of column {form.probability!r}", in_file=True)
    try:
        checked_row_sums(matrix[whole], in_file=True)
    except InputError as error:
        row = int(form.cases.first[whole[int(error.row or 1) - 1]])
        raise InputError(
            f"The probabilities of a case ({_case_name(e, form.cases, row, form.keys[0])}; first row {row + 1:,}) add up to "
            f"{float(error.value):.6g}, not 1. If they are not normalised, say so with scale='unnormalised' (--scale unnormalised).",
            rule=error.rule,
            value=error.value,
            row=row + 1,
        ) from None
