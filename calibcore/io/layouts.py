"""The list of rules that recognise how a file is laid out; a new layout is one more rule in ``RULES``."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, replace

from calibcore.checks import listing, name_key, name_text, sorted_names
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.class_columns import ClassSet, matching_sets, stem_sets
from calibcore.io.columns import MISSING_LABELS, Table
from calibcore.io.confidences import confidence_reading
from calibcore.io.evidence import MAX_CLASSES, Evidence, question
from calibcore.io.labels import find_label, label_question, named_labels, other_labels
from calibcore.io.mapping import Mapping
from calibcore.io.one_column import positive_reading, single_reading
from calibcore.io.outcomes import with_outcome
from calibcore.io.reading import Reading, Unit
from calibcore.io.refusals import long_form, one_hot, vectors, weka
from calibcore.io.vocabulary import is_named

__all__ = ["RULES", "Rule", "read_layout"]

Find = Callable[[Evidence], Reading | None]
MAX_GROUPS = 50


@dataclass(frozen=True, slots=True)
class Rule:
    """One layout.

    Attributes
    ----------
    name : str
        The layout, as `Reading.layout` and the JSON name it.
    evidence : str
        What recognises it.
    find : callable
        `Evidence` → `Reading`, or None if the file has another layout.  Raises AmbiguousLayout where the file does not
        say enough, InputError where it cannot be read.
    """

    name: str
    evidence: str
    find: Find


def _told_classes(e: Evidence) -> Reading | None:
    told = e.mapping.probabilities
    if not isinstance(told, Dictionary):
        return None
    for column in told.values():
        if e.column(column).kind == "nested":
            raise InputError(
                f"Column {column!r} holds a list or a record in each cell, which is not read yet. Give one column for each class.",
                column=column,
            )
    if len(told) == 1:
        ((name, column),) = told.items()
        return positive_reading(e, (column,), positive=name)
    columns = tuple(told.values())
    label = find_label(e, columns, e.class_like)
    return _class_reading(e, label, [ClassSet("", "", dict(told))])


def _named_by_values(e: Evidence) -> Reading | None:
    """Label + columns whose headers hold the label's values."""
    in_order = isinstance(e.mapping.probabilities, tuple) and e.mapping.columns_are == "classes" and e.mapping.classes is not None
    if in_order or e.mapping.columns_are in ("models", "labels") or isinstance(e.mapping.probabilities, str) or e.mapping.confidence:
        return None
    named = named_labels(e)
    found = _candidates(e, named)
    if not found and not e.mapping.label:
        found = _candidates(e, [n for n in other_labels(e) if n not in named])
        found = _trusted(e, found)
    if not found:
        return None
    if len(found) > 1:
        label = _only_text(e, list(found)) or _same_or_ask(e, found)
        return _class_reading(e, label, found[label])
    ((label, sets),) = found.items()
    return _class_reading(e, label, sets)


def _candidates(e: Evidence, labels: list[str]) -> dict[str, list[ClassSet]]:
    """Labels with the class columns that their values name."""
    found = {}
    for label in labels:
        values = list(e.values(label) or ())
        values += _named_like_missing(e, label)
        own = {name_key(v) for v in values}
        values += [v for p in e.predictions for v in e.values(p) or () if name_key(v) not in own]
        sets = matching_sets(e, list(dict.fromkeys(values)), [c for c in _pool(e) if c != label]) if values else []
        sets = [s for s in sets if own & {name_key(c) for c in s.columns} and (s.complete or s.scale(e) == "fraction")]
        if sets:
            found[label] = sets
    return found


def _named_like_missing(e: Evidence, label: str) -> list[str]:
    """Values such as NA that are a class, since a column of numbers is named after them."""
    if e.column(label).kind != "text":
        return []
    words = [d for d in e.column(label).names().distinct if d and d.casefold() in MISSING_LABELS]
    return [w for w in words if any(c.endswith(w) and e.numeric(c) for c in _pool(e) if c != label)]


def _pool(e: Evidence) -> tuple[str, ...]:
    """Columns that may hold probabilities of classes."""
    told = e.mapping.probabilities
    return told if isinstance(told, tuple) else e.free


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


def _class_reading(e: Evidence, label: str, sets: list[ClassSet]) -> Reading:
    """A reading of complete sets of class columns, in class order; several sets are several models."""
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


def _all_classes(e: Evidence, label: str, found: ClassSet) -> None:
    """Logits do not add up to anything, so a class that no row has could be missed where headers share nothing."""
    used = (label, *found.columns.values())
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
    return (found.before + found.after).strip(" _.-()") or "model"


def _class_order(e: Evidence, label: str, found: ClassSet) -> tuple[str, ...]:
    """`Mapping.classes`, else sorted names; two classes: (other, positive)."""
    names = list(found.columns)
    if e.mapping.classes is not None:
        _all_have_columns(e.mapping.classes, names)
        return e.mapping.classes
    ordered = sorted(names, key=lambda n: sorted_names(names).index(name_text(n)) if name_text(n) in sorted_names(names) else 0)
    if len(ordered) != 2:
        return tuple(ordered)
    positive = e.positive(ordered)
    if positive is None:
        raise ask_positive(e, label, ordered, found.columns)
    if name_key(positive) not in {name_key(n) for n in ordered}:
        raise InputError(f"The positive class {positive!r} is not one of {listing(ordered)}.", value=positive, available=tuple(ordered))
    return tuple(sorted(ordered, key=lambda n: name_key(n) == name_key(positive)))


def _all_have_columns(classes: tuple[str, ...], names: list[str]) -> None:
    keys = {name_key(n) for n in names}
    if {name_key(c) for c in classes} != keys:
        raise InputError(
            f"The classes {listing(classes, 8)} are not those of the columns, {listing(names, 8)}.", value=classes, available=tuple(names)
        )


def ask_positive(e: Evidence, label: str, names: list[str], columns: dict[str, str]) -> AmbiguousLayout:
    """Which of two text classes is the positive one; no order is better than the other, so the later name comes first."""
    del e
    text = (
        f"Column {label!r} has the values {names[0]!r} and {names[1]!r}. Which one is "
        f"the positive class (columns {listing(list(columns.values()))})?"
    )
    return AmbiguousLayout([question("positive", text, reversed(names))])


def _unnamed_classes(e: Evidence) -> Reading | None:
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
        return _class_reading(e, label, [named])
    raise _ask_classes(e, label, found)


def _ask_classes(e: Evidence, label: str, found: ClassSet) -> AmbiguousLayout:
    values, columns = sorted_names(list(e.values(label) or ())), list(found.columns.values())
    k = len(columns)
    offer = _orders(values, list(found.columns)) if len(values) == k else []
    shown = f"{columns[0]} … {columns[-1]}" if k > 6 else listing(columns, 6)
    text = (
        f"The headers of the {k} probability columns ({shown}) are not values of {label!r} "
        f"({listing(values, 6)}). Which class does each column stand for, in this order?"
    )
    return AmbiguousLayout([question("classes", text, offer or [",".join(found.columns)])])


def _orders(values: list[str], endings: list[str]) -> list[str]:
    """Offers for the order of classes: by initials (home, draw, away for H, D, A), else sorted, and for two the other way round."""
    initials = {v[:1].casefold(): v for v in values}
    by_initial = [initials.get(end[:1].casefold(), "") for end in endings]
    orders = [by_initial] if sorted(by_initial) == sorted(values) else [values]
    return [",".join(o) for o in (*orders, *([orders[0][::-1]] if len(values) == 2 else []))]


def _pairs(e: Evidence) -> Reading | None:
    """Several probabilities, each with its own 0/1 column: as many yes/no problems."""
    told = e.mapping.probabilities
    if e.mapping.columns_are in ("models", "classes") or isinstance(told, str) or e.mapping.confidence:
        return None
    columns = told if isinstance(told, tuple) else e.named("probability")
    pairs = {p: e.about(p) for p in columns}
    pairs = {p: labels for p, labels in pairs.items() if len(labels) == 1}
    if e.mapping.label:
        mine = tuple(p for p, (label,) in pairs.items() if label == e.mapping.label)
        return positive_reading(e, mine) if len(mine) == 1 and len(pairs) > 1 else None
    if len({label for (label,) in pairs.values()}) < 2:
        return None
    if e.mapping.columns_are != "labels":
        text = (
            f"{listing([f'{p} ({label})' for p, (label,) in pairs.items()], 4)} each "
            "have a column of outcomes. Are they separate yes/no problems?"
        )
        raise AmbiguousLayout([question("columns_are", text, ["labels"])])
    first = positive_reading(e, (next(iter(pairs)),), label=next(iter(pairs.values()))[0])
    units = tuple(Unit((p,), label, label) for p, (label,) in pairs.items())
    return replace(first, layout="several yes/no problems, each with its probability", units=units)


def _correct_flag(e: Evidence) -> Reading | None:
    """Confidence + whether the prediction was right; a label with a predicted class says more, so it comes first."""
    if e.correct is None or e.told("probabilities"):
        return None
    if e.mapping.correct is None:
        labelled = bool(e.mapping.label or named_labels(e))
        if not (e.mapping.confidence or e.named("confidence")) or (labelled and e.predicted):
            return None
    return confidence_reading(e, None)


RULES: tuple[Rule, ...] = (
    Rule("probabilities named by the user", "Mapping.probabilities", _told_classes),
    Rule("Weka output", "a header inst#", weka),
    Rule("one-hot labels", "0/1 columns with row sums 1 and no label", one_hot),
    Rule("long form", "a class column, an id that repeats, probabilities that add up to 1 per id", long_form),
    Rule("label + one column per class", "headers that hold the label's values", _named_by_values),
    Rule("vectors in a cell", "lists, records or bracketed numbers in one column", vectors),
    Rule("several yes/no problems", "X beside X_outcome, prob_X beside X", _pairs),
    Rule("label + one column per class, unnamed", "headers 0, 1, … or a common stem; rows add up to 1", _unnamed_classes),
    Rule("confidence + correct", "a flag that says right or wrong", _correct_flag),
    Rule("label + one probability or confidence", "names and values of one column, or one column a model", single_reading),
)


def read_layout(table: Table, mapping: Mapping) -> tuple[Table, Reading]:
    """How a table is read.

    Returns
    -------
    table : Table
        With a column for the outcome where the mapping derives one.
    reading : Reading

    Raises
    ------
    AmbiguousLayout
        With the questions that the file leaves open.
    InputError
        If the file cannot be read.
    """
    mapping = mapping.settled(tuple(table.columns))
    table, mapping = with_outcome(table, mapping)
    evidence = Evidence(table, mapping)
    for rule in RULES:
        reading = rule.find(evidence)
        if reading is not None:
            return table, _finished(evidence, reading)
    raise evidence.no_column("probability")


def _finished(e: Evidence, reading: Reading) -> Reading:
    """With the roles that every layout shares: model, weight, id, groups, and what was ignored."""
    named = {c for u in reading.units for c in (*u.columns, u.label)} | {reading.predicted, reading.correct}
    weight = next((n for n in e.names if is_named(n, "weight", exact=True) and e.numeric(n) and n not in named), None)
    told_weight, told_id = e.told("weight"), e.told("id")
    notes = list(reading.notes)
    if e.index:
        notes.append(f"Ignored as saved row numbers: {listing([n or '(no name)' for n in e.index], 4)}.")
    if weight and told_weight is None:
        notes.append(f"Column {weight!r} could be weights; rows count equally unless it is named (--weight {weight}).")
    return replace(
        reading,
        model=e.model,
        weight=told_weight or None,
        id=told_id or (e.ids[0] if e.ids and told_id is None else None),
        groups=_groups(e, named),
        dropped_labels=e.mapping.drop_label or (),
        notes=tuple(notes),
        ignored=e.index,
        offered_weight=None if told_weight is not None else weight,
    )


def _groups(e: Evidence, used: set[str | None]) -> tuple[str, ...]:
    told = e.mapping.groups
    if told is not None:
        for name in told:
            e.column(name)
        return told
    taken = used | {e.model, *e.index, *e.ids, *e.predictions, e.correct, e.mapping.weight or None}
    free = [n for n in e.names if n not in taken and not is_named(n, "ignore") and not is_named(n, "time")]
    return tuple(n for n in free if _splits(e, n))


def _splits(e: Evidence, name: str) -> bool:
    column = e.column(name)
    if column.kind in ("nested", "other", "time") or (e.numeric(name) and not is_named(name, "group", exact=True)):
        return False
    found = column.few_names(MAX_GROUPS)
    return found is not None and 2 <= len(found) <= min(MAX_GROUPS, MAX_CLASSES) and len(found) < e.table.n_rows
