"""Files that belong together become one table: predictions with the label of each row, and what the two say about each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

import numpy as np

from calibcore.checks import listing, name_key, rows_text, sorted_names
from calibcore.errors import AmbiguousLayout, InputError, Question
from calibcore.io.class_layouts import orders
from calibcore.io.columns import Column, Table
from calibcore.io.evidence import Evidence, question
from calibcore.io.halves import Half, agree, are_classes, differing, label_of, own_label, partners, says_probability, says_truth
from calibcore.io.judged_rows import chosen_by, marks_rows
from calibcore.io.keys import Rows
from calibcore.io.labels import named_labels
from calibcore.io.layouts import read_layout
from calibcore.io.mapping import Mapping
from calibcore.io.pairs import Pairing, all_labelled, by_order, pairing
from calibcore.io.profile_tables import labels_refused, without_columns
from calibcore.io.reshaped import filled_in, texts
from calibcore.io.vocabulary import bare, is_named, is_whole, meant, plain

__all__ = ["Part", "together"]

_NOT_TAKEN = ("predicted", "probability", "confidence", "correct", "model")
_MARK = "__label__"  # fastText's


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A table that is read by itself, of one file or of two that were joined.

    Attributes
    ----------
    table : Table
    mapping : Mapping
        What is known about its columns.
    source : dict
        Name and hash of the file of labels, where there is one.
    questions : tuple of Question
        How the files are joined, where that must be asked; ``table`` then pairs them in row order.
    files : tuple of int
        Which of the given tables it is made of: predictions, labels.
    """

    table: Table
    mapping: Mapping
    source: dict[str, Any] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    files: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The file's name, or both."""
        return f"{self.table.name} + {self.source['labels_file']}" if self.source else self.table.name


def together(tables: Sequence[Table], mapping: Mapping, labels: Table | None = None) -> list[Part]:
    """Tables as they are read: complete ones alone, predictions without labels with the file that holds their labels.

    Parameters
    ----------
    tables : sequence of Table
    mapping : Mapping
    labels : Table, optional
        The table of labels, where it is known; then every other table holds predictions.

    Raises
    ------
    InputError
        If files cannot be joined, or several could hold the labels of one.
    """
    alone = [Part(t, mapping, files=(i,)) for i, t in enumerate(tables)]
    if any(t.models for t in tables):
        return _beside_profiles(alone, labels)
    if labels is None and len(tables) < 2:
        return alone
    files = [Half.of(t, mapping) for t in tables]
    if labels is not None:
        answers = Half.of(labels, mapping)
        return [_joined(f, answers, mapping, (i,), sure=True) for i, f in enumerate(files)]
    joined = partners(files, mapping)
    used = set(joined.values())
    return [
        _joined(files[i], files[joined[i]], mapping, (i, joined[i])) if i in joined else p for i, p in enumerate(alone) if i not in used
    ]


def _beside_profiles(alone: Sequence[Part], labels: Table | None) -> list[Part]:
    """Profiles stand alone, in the place that they have; the other tables are read as if there were none."""
    if labels is not None:
        raise labels_refused(next(p.table for p in alone if p.table.models))
    others = [i for i, p in enumerate(alone) if not p.table.models]
    if not others:
        return list(alone)
    joined = together([alone[i].table for i in others], alone[0].mapping)
    found = [replace(p, files=tuple(others[i] for i in p.files)) for p in joined]
    found += [replace(p, mapping=without_columns(p.mapping)) for p in alone if p.table.models]
    return sorted(found, key=lambda p: p.files[0])


# --- one table of two ---------------------------------------------------------------------------------------------------


def _joined(one: Half, other: Half, mapping: Mapping, files: tuple[int, ...], *, sure: bool = False) -> Part:
    """Predictions with the columns of their labels; questions where the files do not say how they belong together."""
    predictions, labels = one.table, other.table
    source = {"labels_file": labels.name, "labels_sha256": labels.sha256}
    questions: tuple[Question, ...] = ()
    try:
        pairs = pairing(predictions, labels, mapping)
    except AmbiguousLayout as ambiguous:
        questions = ambiguous.questions
        if predictions.n_rows != labels.n_rows:
            return Part(predictions, mapping, source, questions, files)
        pairs = by_order(predictions, labels)
    key = set(pairs.key.right) if pairs.key else set()
    try:
        rows = None if questions else pairs.rows
        own, label = _told_label(one, other, key, mapping, rows, sure=sure)
        roles = _roles(one, other, key, label, rows)
    except AmbiguousLayout as ambiguous:
        return Part(predictions, mapping, source, (*questions, *ambiguous.questions), files)
    if own:  # the predictions' own labels count
        notes = (*predictions.notes, f"The label is column {own!r} of {predictions.name}; nothing of {labels.name} is used.")
        return Part(replace(predictions, notes=notes), replace(filled_in(mapping, **roles), pair=None, label=own), files=files)
    all_labelled(predictions, labels, pairs, mapping)
    one, about = _without_repeated(one, other, label, roles, rows)
    predictions = one.table
    columns, name = _columns(one, other, key, label, mapping.rows)
    taken = {new: Column(new, c.kind, _taker(c, pairs)) for new, c in columns.items()}
    joined = () if questions else pairs.notes  # nothing is joined before that is answered
    notes = (*predictions.notes, *(n for n in labels.notes if n not in predictions.notes), *joined, *about)
    table = replace(predictions, columns={**predictions.columns, **taken}, notes=notes)
    told = replace(filled_in(mapping, **roles, id=_id(one, pairs)), pair=None, label=name or mapping.label)
    part = Part(table, told, source, questions, files)
    return replace(part, questions=(*questions, *_further(part))) if questions else part


def _without_repeated(one: Half, other: Half, label: str | None, roles: dict[str, Any], rows: Rows | None) -> tuple[Half, tuple[str, ...]]:
    """Predictions without the same labels under the same name, and a note where theirs are others."""
    if label is None or rows is None or label not in one.table.columns or label in _used(roles):
        return one, ()
    unlike, both = differing(one, label, other, label, rows)
    if both and not unlike:
        rest = {n: c for n, c in one.table.columns.items() if n != label}
        return replace(one, table=replace(one.table, columns=rest)), ()
    place = f"Column {label!r} of {one.table.name}"
    text = f"{place} differs from the labels of {other.table.name}, which count, in {unlike:,} of {rows_text(both)}."
    return one, (text,) if unlike else ()


def _used(roles: dict[str, Any]) -> tuple[str, ...]:
    """The columns that have a role."""
    return Mapping(**roles).columns()


def _id(one: Half, pairs: Pairing) -> str | None:
    """The column of ids that joined the rows, where the predictions have several."""
    ids = one.evidence.ids
    joined = pairs.key.left[0] if pairs.key and len(pairs.key.left) == 1 else None
    return joined if one.mapping.id is None and joined in ids[1:] else one.mapping.id  # type: ignore[return-value]


def _further(part: Part) -> tuple[Question, ...]:
    """What else would be asked if the rows belong together in their order."""
    try:
        read_layout(part.table, part.mapping)
    except AmbiguousLayout as ambiguous:
        return ambiguous.questions
    except InputError:
        pass
    return ()


def _taker(column: Column, pairs: Pairing) -> Callable[[], Any]:
    def load() -> Any:
        import pyarrow as pa

        return column.array.take(pa.array(pairs.rows, mask=pairs.rows < 0))

    return load


def _told_label(one: Half, other: Half, key: set[str], mapping: Mapping, rows: Rows | None, *, sure: bool) -> tuple[str | None, str | None]:
    """The label's column among those of the predictions, or else of the labels; both None for a comparison or several labels."""
    told, labels = mapping.label, other.table
    known = _label_names(labels)
    if told and told not in labels.columns and told not in known:
        if told in one.table.columns and not sure:
            return told, None
        raise InputError(
            f"There is no column called {told!r} in {labels.name}. {meant(told, labels.columns)}"
            f"Its columns are {listing(list(labels.columns), 8)}.",
            column=told,
            available=tuple(labels.columns),
        )
    if mapping.outcome is not None:
        return None, None
    if told and not sure and told in one.table.columns and own_label(one) == told:
        return told, None
    if not told and _outcomes(one, other, key):
        return None, None
    e = Evidence(labels, replace(other.mapping, label=known.get(told, told))) if told else other.evidence
    label = _predicted_by_name(one, other, key) if not (told or sure) else None
    label = label or label_of(e, key, sure=sure)
    own = None if told or sure else own_label(one)
    if own and rows is not None and agree(one, own, other, label, rows):
        return own, None
    if own and (own in named_labels(one.evidence) or label not in named_labels(other.evidence)):
        text = f"Which labels count: column {own!r} of {one.table.name}, or {label!r} of {labels.name}?"
        theirs = _apart(label, labels) if label in one.table.columns else label
        raise AmbiguousLayout([question("label", text, [theirs, own])])
    return None, label


def _predicted_by_name(one: Half, other: Half, key: set[str]) -> str | None:
    """The column of classes that has the name of the only fractions, as in a submission and its solution."""
    e, units = other.evidence, [n for n in one.evidence.free if n not in key and one.evidence.unit(n)]
    if len(units) != 1 or named_labels(e):
        return None
    return next((n for n in units if n in e.free and e.class_like(n) and len(e.values(n) or ()) == 2), None)


def _label_names(labels: Table) -> dict[str, str]:
    """Names that tell columns of the labels from equal names among the predictions."""
    return {_apart(n, labels): n for n in labels.columns}


def _apart(name: str, table: Table) -> str:
    return f"{name} ({PurePath(table.name).name})"


def _outcomes(one: Half, other: Half, key: set[str]) -> tuple[str, ...]:
    """Columns of several labels, each named like a probability: rain of prob_rain, snow of prob_snow."""
    topics = {bare(p) for p in one.evidence.named("probability")} - {""}
    e = other.evidence
    found = tuple(n for n in e.free if n not in key and e.class_like(n) and re.sub(r"^(is|has)_|_(outcome|flag)$", "", plain(n)) in topics)
    return found if len(found) > 1 else ()


def _columns(one: Half, other: Half, key: set[str], label: str | None, chosen: str | None) -> tuple[dict[str, Column], str | None]:
    """The columns that labels bring along under names that the predictions do not have, and the label's name."""
    names, labels, outcome = one.table.columns, other.table, other.mapping.outcome
    told = {*other.mapping.columns(), *(n for n in labels.columns if outcome and n in outcome)}
    told |= set() if label else set(_outcomes(one, other, key))
    told |= {n for n in labels.columns if n == chosen_by(chosen, labels.columns) or marks_rows(n)}
    rest = {n: c for n, c in labels.columns.items() if n != label and n not in key and n not in names and (n in told or _beside(c))}
    if label is None:
        return rest, None
    name = "label" if labels.headless and len(labels.columns) == 1 else label
    name = _apart(name, labels) if name in names else name
    return {name: _unmarked(labels.columns[label]), **rest}, name


def _beside(column: Column) -> bool:
    """Whether a column of a labels file is a group or a weight."""
    if any(is_named(column.name, role, exact=True) for role in _NOT_TAKEN) or column.kind in ("nested", "other", "time"):
        return False
    if is_named(column.name, "weight", exact=True):
        return True
    grouping = not column.is_numeric or is_named(column.name, "group", exact=True)
    return grouping and (found := column.few_names(50)) is not None and len(found) > 1


def _unmarked(column: Column) -> Column:
    """Names without fastText's mark."""
    if column.kind != "text" or not column.all_begin(_MARK):
        return column
    names = column.names()
    several = any(_MARK in d[1:] for d in names.distinct)
    words = [d.removeprefix(_MARK) if several else (d.removeprefix(_MARK).split() or [""])[0] for d in names.distinct]  # a text follows
    at = {w: i for i, w in enumerate(dict.fromkeys(words))}
    return texts(column.name, list(at), np.array([*(at[w] for w in words), -1], dtype=np.intp)[names.code])


# --- what the two together say about the probabilities ------------------------------------------------------------------


def _roles(one: Half, other: Half, key: set[str], label: str | None, rows: Rows | None) -> dict[str, Any]:
    """Roles of the predictions' columns that their own file cannot tell."""
    shape = {n: getattr(one.mapping, n) for n in ("predicted", "probabilities", "confidence", "model")}
    if label is None or one.mapping.probabilities or one.mapping.confidence:
        return shape
    e = one.evidence
    if one.table.headless:
        return shape | _by_position(e, _unmarked(other.table.columns[label]))
    if label in e.free and label not in key and e.unit(label) and not e.whole(label) and not e.predicted and not says_probability(e):
        shape["probabilities"] = label  # measured numbers under the label's own name, as in a submission and its solution
        return shape
    free = label in e.free and label not in key and e.mapping.predicted is None and not e.predicted
    if free and e.class_like(label) and _is_prediction(one, other, label, rows):
        shape["predicted"] = label  # what a pipeline calls "label" is its prediction
    return shape


def _is_prediction(one: Half, other: Half, label: str, rows: Rows | None) -> bool:
    """Whether the predictions' column with the label's name is the predicted class; asked where it is the label in each row."""
    if says_truth(label):
        return False
    if rows is None or not agree(one, label, other, label, rows):
        return True
    if own_label(one) == label:
        return False
    text = (
        f"Column {label!r} of {one.table.name} is the same as that of {other.table.name} in each row. "
        "Is it the predicted class, so that each prediction is right, or (none) the labels once more?"
    )
    raise AmbiguousLayout([question("predicted", text, [label, "none"])])


def _by_position(e: Evidence, label: Column) -> dict[str, Any]:
    """Columns without names, one a class: 0, 1, … where the labels count so, else it is asked what they are."""
    numeric = [n for n in e.free if e.numeric(n)]
    columns = next((c for c in (numeric, [n for n in numeric if not e.whole(n)]) if len(c) > 1 and are_classes(e, c)), None)
    if columns is None or e.mapping.columns_are not in (None, "classes"):
        return {}
    values = sorted_names(list(label.names().present()))
    keys = [name_key(v) for v in values]
    positions = [str(i) for i in range(len(columns))]
    roles = {"probabilities": tuple(columns), "columns_are": "classes"}
    if e.mapping.classes is not None:
        return roles
    if all(is_whole(k) and k >= 0 for k in keys) and 0 in keys:
        return roles | {"classes": tuple(positions)}
    counted = all(is_whole(k) and k > 0 for k in keys)
    offers = orders(values, values) if len(values) == len(columns) else []
    offers += [",".join(positions)] if counted or not offers else []
    text = (
        f"{e.table.name} has {len(columns)} probabilities a row without names, and the labels are {listing(values, 6)}. "
        "Which class does each stand for, in their order?"
    )
    raise AmbiguousLayout([question("classes", text, dict.fromkeys(offers))])
