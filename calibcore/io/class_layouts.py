"""Rules for files with one column a class: which label they belong to, what they hold, and in which order they come."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from calibcore.checks import listing, name_key, name_text, sorted_names
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.class_columns import ClassSet, matching_sets, spellings, stem_sets, truth_key, truth_names
from calibcore.io.columns import MISSING_LABELS
from calibcore.io.evidence import Evidence, question
from calibcore.io.labels import find_label, is_believable, label_question, label_without_column, named_labels, other_labels
from calibcore.io.reading import Reading, Unit
from calibcore.io.vocabulary import is_named, is_whole

__all__ = ["class_reading", "named_by_values", "orders", "unnamed_classes"]


def named_by_values(e: Evidence) -> Reading | None:
    """Label + columns whose headers hold the label's values."""
    in_order = isinstance(e.mapping.probabilities, tuple) and e.mapping.columns_are == "classes" and e.mapping.classes is not None
    if in_order or e.mapping.columns_are in ("models", "labels") or isinstance(e.mapping.probabilities, str) or e.mapping.confidence:
        return None
    named = named_labels(e)
    found = _candidates(e, named)
    if not found and not e.mapping.label:
        others = [n for n in other_labels(e) if n not in named]
        found = _candidates(e, [n for n in others if not e.numeric(n)])
        found = found or ({} if named else _candidates(e, [n for n in others if e.numeric(n)]))
        twin = e.predicted_twin
        found = {twin: found[twin]} if twin in found else _trusted(e, found)
        for n, sets in found.items():
            if not is_believable(e, n, columns := tuple(sets[0].columns.values()), by_name=not e.numeric(n)):
                raise label_question(e, [n], columns)
    if not found:
        return None
    if len(found) > 1:
        label = _only_text(e, list(found)) or _same_or_ask(e, found)
        return class_reading(e, label, found[label])
    ((label, sets),) = found.items()
    return class_reading(e, label, sets)


def _candidates(e: Evidence, labels: list[str]) -> dict[str, list[ClassSet]]:
    """Labels with the class columns that their values name."""
    found, sure = {}, named_labels(e)
    for label in labels:
        values = list(e.values(label) or ())
        values += _named_like_missing(e, label)
        own = {name_key(v) for v in truth_names(values) or values}
        binary = own <= {0, 1}  # False and True among predictions are no further names
        values += [v for p in e.predictions for v in e.values(p) or () if (truth_key if binary else name_key)(v) not in own]
        sets = matching_sets(e, list(dict.fromkeys(values)), [c for c in _pool(e) if c != label]) if values else []
        sets = [s for s in sets if own & _keys(s) and s.believable(e, sure=label in sure)]
        sets = [t for s in sets if (t := _counted_alike(e, label, s, ask=label in sure)) is not None]
        if sets:
            found[label] = sets
    return found


def _keys(found: ClassSet) -> set[Hashable]:
    return {name_key(c) for c in found.columns}


def _counted_alike(e: Evidence, label: str, found: ClassSet, *, ask: bool) -> ClassSet | None:
    """The set, unless its numbers and the label's are counted from different ones, as 0, 1, 2 and 1, 2, 3: then as told or asked."""
    shift = _shift(e, label, found)
    if not shift:
        return found
    told, columns = e.mapping.classes, found.columns.values()
    if told is not None and len(told) == len(columns):
        return ClassSet(found.before, found.after, dict(zip(told, columns, strict=True)))
    if not ask:
        return None
    offers = [[str(int(float(c)) + by) for c in found.columns] for by in (shift, 0)]
    values = set(map(name_key, e.values(label) or ()))
    raise _ask_classes(e, label, found, [",".join(o) for o in offers if values <= set(map(name_key, o))])


def _shift(e: Evidence, label: str, found: ClassSet) -> int:
    """By how much the label's numbers seem to lie above (1) or below (−1) those in the headers; 0 where they agree."""
    classes, values = list(map(name_key, found.columns)), [name_key(v) for v in e.values(label) or ()]
    numbered = values and all(is_whole(v) for v in (*classes, *values))
    if not numbered or classes != [classes[0] + i for i in range(len(classes))]:  # type: ignore[operator]
        return 0
    low, high = min(values), max(values)  # type: ignore[type-var]
    for first, by in ((0, 1), (1, -1)):
        if classes[0] != first or low < first + by or high > len(classes) - 1 + first + by:  # type: ignore[operator]
            continue
        beyond = low < first or high > len(classes) - 1 + first  # type: ignore[operator]
        if beyond or (low < high and not _guessed_beyond(e, found) and _likelier(e, label, found, by)):  # type: ignore[operator]
            return by
    return 0


def _likelier(e: Evidence, label: str, found: ClassSet, by: int) -> bool:
    """Whether the true classes are more probable where the labels are counted from another number."""
    names, k = e.column(label).names(), len(found.columns)
    matrix = np.column_stack([e.column(c).numeric().values for c in found.columns.values()])
    place = {name_key(c): i for i, c in enumerate(found.columns)}
    position = np.array([*(place.get(name_key(d), -1) for d in names.distinct), -1])[names.code]
    rows = np.flatnonzero((position >= 0) & (position - by >= 0) & (position - by < k) & ~np.isnan(matrix).any(axis=1))
    here, there = (matrix[rows, position[rows] - shift].sum() for shift in (0, by))
    return bool(there > here)


def _named_like_missing(e: Evidence, label: str) -> list[str]:
    """Values such as NA that are a class, since a column of numbers is named after them."""
    if e.column(label).kind != "text":
        return []
    words = [d for d in e.column(label).names().distinct if d and d.casefold() in MISSING_LABELS]
    return [w for w in words if any(c.endswith(w) and e.numeric(c) for c in _pool(e) if c != label)]


def _pool(e: Evidence) -> tuple[str, ...]:
    """Columns that may hold probabilities of classes."""
    told = e.mapping.probabilities
    if isinstance(told, tuple):
        return told
    return tuple(n for n in e.free if not (e.table.headless and n.startswith("column ")))  # numbers of positions are no classes


def _trusted(e: Evidence, found: dict[str, list[ClassSet]]) -> dict[str, list[ClassSet]]:
    """Labels without a telling name: texts are trusted, numbers (a 0/1 feature looks the same) only if nothing else is left."""
    texts = {n: s for n, s in found.items() if not e.numeric(n)}
    if texts or not found:
        return texts
    used = {c for s in found.values() for each in s for c in each.columns.values()}
    about = [n for n, sets in found.items() if any(n in s.before + s.after for s in sets)]
    if len(about) == 1:
        return {about[0]: found[about[0]]}
    if len(found) == 1 and set(e.rest(*used)) <= set(found):
        return found
    raise label_question(e, list(found), tuple(used))


def _only_text(e: Evidence, labels: list[str]) -> str | None:
    texts = [n for n in labels if not e.numeric(n)]
    return (
        texts[0]
        if len(texts) == 1 and len(labels) > 1 and not any(is_named(n, "label", exact=True) for n in labels if n not in texts)
        else None
    )


def _same_or_ask(e: Evidence, found: dict[str, list[ClassSet]]) -> str:
    different = e.different(found)
    if len(different) > 1:
        raise label_question(e, different, tuple(next(iter(found.values()))[0].columns.values()))
    return different[0]


def class_reading(e: Evidence, label: str, sets: list[ClassSet]) -> Reading:
    """A reading of complete sets of class columns, in class order; several sets are several models."""
    sets = [_in_words_of(e, label, s) for s in sets] if e.mapping.classes is None else sets
    _all_labelled(e, label, sets[0])
    scales = [e.mapping.scale or s.scale(e) or "" for s in sets]
    chosen = next((s for s in ("fraction", "percent", "log-prob", "logit") if s in scales), scales[0])
    best = [s for s, scale in zip(sets, scales, strict=True) if scale == chosen]
    scale = chosen or _ask_sums(best[0])
    if scale == "logit" and not e.mapping.probabilities:
        _all_classes(e, label, best[0])
    classes = _class_order(e, label, best[0])
    keyed = [{name_key(c): column for c, column in s.columns.items()} for s in best]
    complete = [k for k in keyed if all(name_key(c) in k for c in classes)]
    units = tuple(
        Unit(tuple(k[name_key(c)] for c in classes), label, _set_name(s) if len(complete) > 1 else None)
        for s, k in zip(best, keyed, strict=True)
        if k in complete
    )
    return Reading("label + one column per class", "classes", units, classes, scale, e.predicted)


def _in_words_of(e: Evidence, label: str, found: ClassSet) -> ClassSet:
    """The set with the label's names for classes that are called otherwise: true for True, cat for prob_cat."""
    values, names = list(e.values(label) or ()), list(found.columns)
    if not values or {name_key(v) for v in values} & _keys(found):
        return found
    truths = truth_names(values)
    key = truth_key if truths else name_key
    for before, value, after in (n.partition(s) for n in names for s in (values[0], *spellings(values[0]))):
        inner = [n[len(before) : len(n) - len(after)] for n in names if value and n.startswith(before) and n.endswith(after)]
        keys = [key(n) for n in inner]
        if len(inner) != len(names) or len(set(keys)) < len(keys) or not {key(v) for v in values} <= set(keys):
            continue
        if truths and set(keys) == {0, 1}:
            inner = [truths[int(str(k))] for k in keys]
        return replace(found, columns=dict(zip(inner, found.columns.values(), strict=True)))
    return found


def _all_labelled(e: Evidence, label: str, found: ClassSet) -> None:
    """InputError for the first label that no column stands for."""
    known = {name_key(c) for c in found.columns}
    strange = {name_key(v) for v in e.values(label) or () if name_key(v) not in known}
    if strange:
        names = e.column(label).names()
        rows = np.array([*(name_key(d) in strange for d in names.distinct), False])[names.code]
        row = int(np.argmax(rows))
        raise label_without_column(names.distinct[names.code[row]], row + 1, label, list(found.columns))
    if beyond := _guessed_beyond(e, found):
        raise InputError(
            f"Column {e.predicted!r} predicts {listing(beyond, 3)}, which no probability column stands for; they are named after "
            f"{listing(list(found.columns), 6)}. Say which class each column is (--prob {','.join([*found.columns.values()][:6])} "
            "--columns-are classes --classes A,B,…).",
            column=e.predicted,
        )


def _guessed_beyond(e: Evidence, found: ClassSet) -> list[str]:
    """Numbers among the predicted classes that no column stands for."""
    guesses = e.values(e.predicted) or () if e.predicted and e.numeric(e.predicted) and not e.mapping.probabilities else ()
    key = truth_key if truth_names(found.columns) else name_key
    return [v for v in guesses if key(v) not in set(map(key, found.columns))]


def _all_classes(e: Evidence, label: str, found: ClassSet) -> None:
    """Logits do not add up to anything, so a class that no row has could be missed where headers share nothing."""
    used = (label, *found.columns.values())
    if not e.mapping.scale and found.is_numbered and len(used) > 2 * len(e.values(label) or used):
        text = f"Columns {used[1]} … {used[-1]} do not add up to 1. Are they logits of {len(used) - 1:,} classes?"
        raise AmbiguousLayout([question("scale", text, ["logit"])])
    others = [n for n in e.rest(*used) if not (found.before or found.after) and e.numeric(n) and not e.whole(n)]
    if others:
        raise InputError(
            f"Columns {listing(list(found.columns.values()), 4)} hold logits, and {listing(others, 4)} could be logits of further classes. "
            "Name all of them in order (--prob A,B,C --columns-are classes --classes A,B,C).",
            available=tuple(others),
        )


def _ask_sums(found: ClassSet) -> str:
    columns = list(found.columns.values())
    text = f"The rows of {columns[0]} … {columns[-1]} do not add up to 1. Divide each row by its sum?"
    raise AmbiguousLayout([question("scale", text, ["unnormalised"])])


def _set_name(found: ClassSet) -> str:
    return (found.before + found.after).strip(" _.-()[]") or "model"


def _class_order(e: Evidence, label: str, found: ClassSet) -> tuple[str, ...]:
    """`Mapping.classes`, else sorted names; two classes: (other, positive)."""
    names = list(found.columns)
    if e.mapping.classes is not None:
        _all_have_columns(e.mapping.classes, names)
        return e.mapping.classes
    rank = {n: i for i, n in enumerate(sorted_names(names))}
    ordered = sorted(names, key=lambda n: rank.get(name_text(n), 0))
    if len(ordered) != 2:
        return tuple(ordered)
    positive = e.positive(ordered)
    if positive is None:
        raise _ask_positive(e, label, ordered, found.columns)
    if name_key(positive) not in {name_key(n) for n in ordered}:
        raise InputError(f"The positive class {positive!r} is not one of {listing(ordered)}.", value=positive, available=tuple(ordered))
    return tuple(sorted(ordered, key=lambda n: name_key(n) == name_key(positive)))


def _all_have_columns(classes: tuple[str, ...], names: list[str]) -> None:
    keys = {name_key(n) for n in names}
    if {name_key(c) for c in classes} != keys:
        raise InputError(
            f"The classes {listing(classes, 8)} are not those of the columns, {listing(names, 8)}.", value=classes, available=tuple(names)
        )


def _ask_positive(e: Evidence, label: str, names: list[str], columns: dict[str, str]) -> AmbiguousLayout:
    """Which of two text classes is the positive one; no order is better than the other, so the later name comes first."""
    del e
    text = (
        f"Column {label!r} has the values {names[0]!r} and {names[1]!r}. Which one is "
        f"the positive class (columns {listing(list(columns.values()))})?"
    )
    return AmbiguousLayout([question("positive", text, reversed(names))])


def unnamed_classes(e: Evidence) -> Reading | None:
    """Columns 0, 1, … or with a common stem that add up to 1, beside labels that their headers do not hold."""
    if e.mapping.columns_are in ("models", "labels") or isinstance(e.mapping.probabilities, str) or e.mapping.confidence:
        return None
    sets = stem_sets(e, _pool(e))
    if isinstance(e.mapping.probabilities, tuple) and e.mapping.columns_are == "classes":
        sets = [ClassSet("", "", {c: c for c in e.mapping.probabilities})]
    if not sets:
        return None
    found, k = sets[0], len(sets[0].columns)
    used = tuple(found.columns.values())
    label = find_label(e, used, lambda n: e.class_like(n) and len(e.values(n) or ()) <= k)
    if e.mapping.classes is not None and len(e.mapping.classes) == k:
        named = ClassSet(found.before, found.after, dict(zip(e.mapping.classes, used, strict=True)))
        return class_reading(e, label, [named])
    if e.mapping.classes is not None:
        raise InputError(
            f"There are {k:,} probability columns ({listing(used, 6)}), but classes (--classes) names {len(e.mapping.classes):,}. "
            "Name one class for each column, in their order.",
            value=e.mapping.classes,
        )
    raise _ask_classes(e, label, found)


def _ask_classes(e: Evidence, label: str, found: ClassSet, offers: list[str] | None = None) -> AmbiguousLayout:
    values, columns = sorted_names(list(e.values(label) or ())), list(found.columns.values())
    k = len(columns)
    offer = offers or (_likeliest_first(e, label, columns, orders(values, list(found.columns))) if len(values) == k else [])
    shown = f"{columns[0]} … {columns[-1]}" if k > 6 else listing(columns, 6)
    text = (
        f"The headers of the {k} probability columns ({shown}) are not values of {label!r} "
        f"({listing(values, 6)}). Which class does each column stand for, in this order?"
    )
    return AmbiguousLayout([question("classes", text, offer or [",".join(found.columns)])])


def _likeliest_first(e: Evidence, label: str, columns: list[str], offers: list[str]) -> list[str]:
    """Two orders of two classes, first the one that gives the true classes the higher probabilities."""
    if len(offers) != 2 or len(columns) != 2:
        return offers
    names, first = e.column(label).names(), e.column(columns[0]).numeric().values
    mine = np.array([*(name_key(d) == name_key(offers[0].split(",")[0]) for d in names.distinct), False])[names.code]
    inside, outside = (first[side & ~np.isnan(first)] for side in (mine, ~mine))
    return offers[::-1] if len(inside) and len(outside) and inside.mean() < outside.mean() else offers


def orders(values: list[str], endings: list[str]) -> list[str]:
    """Offers for the order of classes: by initials (home, draw, away for H, D, A), else sorted, and for two the other way round."""
    initials = {v[:1].casefold(): v for v in values}
    by_initial = [initials.get(end[:1].casefold(), "") for end in endings]
    orders = [by_initial] if sorted(by_initial) == sorted(values) else [values]
    return [",".join(o) for o in (*orders, *([orders[0][::-1]] if len(values) == 2 else []))]
