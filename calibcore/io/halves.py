"""Which of several files hold predictions, which labels and which both, told by content; and whose labels are whose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Literal

import numpy as np

from calibcore.checks import listing
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.class_columns import ClassSet, is_one_hot
from calibcore.io.columns import Column, Table
from calibcore.io.evidence import Evidence, question
from calibcore.io.judged_rows import ALL_ROWS
from calibcore.io.keys import Rows
from calibcore.io.labels import FEW, named_labels, other_labels
from calibcore.io.layouts import read_layout
from calibcore.io.mapping import Mapping
from calibcore.io.pairs import shared_id
from calibcore.io.reshaped import texts
from calibcore.io.shapes import ordinary
from calibcore.io.vectors import vectors_of
from calibcore.io.vocabulary import is_named, plain

__all__ = ["Half", "agree", "are_classes", "differing", "label_of", "own_label", "partners", "says_probability", "says_truth"]

Holds = Literal["both", "predictions", "perhaps", "labels", "neither"]
_COLUMNS = ("label", "predicted", "correct", "model", "weight", "id", "cluster", "time", "confidence", "probabilities", "groups")
_ROLE_WORDS = r"pred prediction predictions prob probs proba probability probabilities logit logits score scores output outputs submission"
_ROLE_WORDS += r" label labels y true truth target targets solution test gold answers actual"
_EITHER = {"label", "labels", "class", "class_label", "target", "targets", "answer", "outcome", "from"}  # of the truth or of predictions


@dataclass(frozen=True, slots=True, eq=False)
class Half:
    """One table in its ordinary shape, and what is known about its columns."""

    table: Table
    mapping: Mapping

    @classmethod
    def of(cls, table: Table, mapping: Mapping) -> Half:
        """A table with what a mapping for several says about it."""
        mine = _restricted(mapping, table)
        try:
            new, told, notes = ordinary(table, mine)
        except InputError:  # what is wrong or open is told when it is read
            return cls(table, mine)
        return cls(_one_label(replace(new, notes=(*new.notes, *notes))), told)

    @property
    def evidence(self) -> Evidence:
        """What its names and values say."""
        return Evidence(self.table, self.mapping)


def _one_label(table: Table) -> Table:
    """Labels as a matrix with a single 1 in each row, which no header names, become the position of the 1."""
    columns = list(table.columns)
    if not table.headless or len(columns) < 2 or not all(c.is_numeric for c in table.columns.values()):
        return table
    if not is_one_hot(Evidence(table, Mapping()), columns):
        return table
    code = np.argmax(np.column_stack([c.numeric().values for c in table.columns.values()]), axis=1)
    note = f"The label is the position, from 0, of the 1 in each row of {table.name}."
    column = texts("label", [str(i) for i in range(len(columns))], code)
    return replace(table, columns={"label": column}, notes=(*table.notes, note))


def partners(files: Sequence[Half], mapping: Mapping) -> dict[int, int]:
    """Which file holds the labels of which."""
    holds = [_holds(f) for f in files]
    strong = "predictions" in holds
    if "perhaps" in holds:  # what looks like both halves is the one that the others are not
        rest: Holds = "labels" if strong and "labels" not in holds else "predictions"
        holds = [rest if h == "perhaps" else h for h in holds]
    halves = [i for i, h in enumerate(holds) if h == "predictions"]
    answers = [i for i, h in enumerate(holds) if h == "labels"]
    if halves and not answers:
        answers = _other_labels(files, holds, halves)
    if not halves:
        halves = [i for i, h in enumerate(holds) if h == "both" and any(_twice(files[i], files[a], mapping) for a in answers)]
    return {i: _choose(files, i, answers) for i in halves} if answers else {}


def _holds(file: Half) -> Holds:
    """Whether a table holds predictions, labels or both: both if it can be read, or asks about anything but its label."""
    asked: set[str] = set()
    try:
        read_layout(file.table, file.mapping)
    except AmbiguousLayout as ambiguous:
        asked = {q.id for q in ambiguous.questions}
    except InputError:
        pass
    else:
        return "both"
    e = file.evidence
    named = [n for n in named_labels(e) if not e.unit(n)]
    if says_probability(e):
        return "both" if (named or e.mapping.correct) and asked and "label" not in asked else "predictions"
    possible = possible_labels(e)
    if not named and (_measured(e) or e.named("probability")):
        return "perhaps" if possible else "predictions"
    return "labels" if named or possible else "neither"


def _restricted(mapping: Mapping, table: Table) -> Mapping:
    """What a mapping says about the columns of this table."""
    known: dict[str, Any] = {"pair": None, "rows": ALL_ROWS}  # which rows are judged is asked of the whole
    for name in _COLUMNS:
        value = getattr(mapping, name)
        names = (value,) if isinstance(value, str) else tuple(value.values()) if isinstance(value, Dictionary) else value or ()
        if any(n not in table.columns and n.partition("[")[0] not in table.columns for n in names if n != "none"):
            known[name] = None
    if mapping.outcome is not None and not any(c in mapping.outcome for c in table.columns):
        known["outcome"] = None
    return replace(mapping, **known)


def says_probability(e: Evidence) -> bool:
    """Whether something is a probability, a confidence or a logit by its name and values, a vector, or adds up to 1."""
    if e.mapping.probabilities or e.mapping.confidence:
        return True
    named = [*e.named("probability"), *e.named("confidence"), *(n for n in e.free if is_named(n, "logit") and e.numeric(n))]
    if any(not e.whole(n) for n in named) or any(_is_vector(e.column(n)) for n in e.free if e.column(n).kind in ("nested", "text")):
        return True
    units = [n for n in e.free if e.unit(n)]
    return len(units) > 1 and are_classes(e, units)


def are_classes(e: Evidence, columns: Sequence[str]) -> bool:
    """Whether columns together look like one a class: fractions that add up to 1, logits, log-probabilities."""
    try:
        return ClassSet("", "", {c: c for c in columns}).scale(e) is not None
    except AmbiguousLayout:
        return False


def _is_vector(column: Column) -> bool:
    try:
        return vectors_of(column) is not None
    except InputError:  # a vector with a fault, which its rule tells
        return True


def _measured(e: Evidence) -> list[str]:
    """Columns of measured numbers: fractions, or at least two that could be logits."""
    found = [n for n in e.free if e.numeric(n) and not e.whole(n)]
    units = [n for n in found if e.unit(n)]
    return units or (found if len(found) > 1 or e.table.headless else [])


def possible_labels(e: Evidence) -> list[str]:
    """Columns without a telling name that could hold classes, not different in every row."""
    found = [n for n in other_labels(e) if len(e.values(n) or ()) < e.table.n_rows or e.table.n_rows < 3]
    return found or [n for n in e.free if len(e.free) == 1 and e.class_like(n)] or [n for n in e.predictions if e.class_like(n)]


def _other_labels(files: Sequence[Half], holds: list[Holds], halves: list[int]) -> list[int]:
    """A table with a label and fractions that no name calls probabilities serves as labels where nothing else does; so does any rest."""
    found = []
    for i, (f, h) in enumerate(zip(files, holds, strict=True)):
        fits = h == "neither" or (h == "both" and named_labels(f.evidence) and not says_probability(f.evidence))
        if fits and any(_share(files[p], f) for p in halves):
            found.append(i)
    return found if len(found) == 1 else []


def _share(predictions: Half, labels: Half) -> bool:
    return shared_id(predictions.table, labels.table, predictions.mapping)


def _twice(file: Half, labels: Half, mapping: Mapping) -> bool:
    """Whether a complete file has its labels in another one as well."""
    if mapping.label and mapping.label not in file.table.columns:
        return True
    apart = mapping.label or named_labels(labels.evidence) or own_label(file) not in named_labels(file.evidence)
    return bool(apart) and (mapping.pair is not None or _share(file, labels))


def differing(file: Half, own: str, labels: Half, label: str, rows: Rows) -> tuple[int, int]:
    """In how many rows two columns of labels say something else, and in how many both say something."""
    theirs, ours = labels.table.column(label).names(), file.table.column(own).names()
    code = theirs.among(ours.distinct, unknown=-2)[rows]
    both = (rows >= 0) & (ours.code >= 0) & (code != -1)
    return int((both & (code != ours.code)).sum()), int(both.sum())


def agree(file: Half, own: str, labels: Half, label: str, rows: Rows) -> bool:
    """Whether two columns of labels say the same wherever both say something, and somewhere both do."""
    unlike, both = differing(file, own, labels, label, rows)
    return both > 0 and not unlike


def _choose(files: Sequence[Half], half: int, answers: list[int]) -> int:
    """The table that holds the labels of another: the only one, or the only one that has its name, shares its ids, has its rows."""
    if len(answers) == 1:
        return answers[0]
    mine = files[half]
    tests: list[Callable[[int], bool]] = [
        lambda i: _topic(files[i].table.name) == _topic(mine.table.name),
        lambda i: _share(mine, files[i]),
        lambda i: files[i].table.n_rows == mine.table.n_rows,
    ]
    for fits in tests:
        found = [i for i in answers if fits(i)]
        if len(found) == 1:
            return found[0]
    raise InputError(
        f"{listing([files[i].table.name for i in answers], 4)} hold labels, and each could be those of {mine.table.name}. "
        "Read these predictions with one file of labels (labels=…, --labels-file FILE)."
    )


def _topic(name: str) -> frozenset[str]:
    """The words of a file's name without those for predictions and labels."""
    words = plain(PurePath(name).stem).split("_")
    return frozenset(words) - frozenset(_ROLE_WORDS.split())


def own_label(file: Half) -> str | None:
    """The label of a file that could be read by itself, or whose only possible label has too few rows to be ruled out."""
    try:
        return read_layout(file.table, file.mapping)[1].label
    except AmbiguousLayout as ambiguous:
        asked, e = ambiguous.questions[0], file.evidence
        only = asked.options[0] if asked.id == "label" and asked.options[1:] == ("none",) else None
        alone = only and file.table.n_rows < FEW and all(e.unit(n) for n in e.rest(only))
        true = [n for n in named_labels(e) if says_truth(n)] if all(q.id != "label" for q in ambiguous.questions) else []
        return only if alone else true[0] if len(true) == 1 else None
    except InputError:
        return None


def says_truth(name: str) -> bool:
    """Whether a column is named like the true class, and not like what a pipeline may call its prediction."""
    return is_named(name, "label", exact=True) and plain(name) not in _EITHER


def label_of(e: Evidence, key: set[str], *, sure: bool) -> str:
    """The column of labels in a file of labels; the only possible one is asked about where others could be meant, unless ``sure``."""
    named = [n for n in named_labels(e) if n not in key]
    found = named or [n for n in possible_labels(e) if n not in key]
    if not found:
        raise InputError(
            f"{e.table.name} holds no column of labels that could belong to the predictions; its columns are {listing(e.names, 8)}. "
            "Name the label (--label COL), or make outcomes of measured numbers (--outcome 'COL > 0').",
            available=e.names,
        )
    if len(found) == 1 and (sure or named or not set(e.rest(*key, *found))):
        return found[0]
    text = f"Which column of {e.table.name} holds the true outcome?"
    if len(found) == 1:
        text = f"Does column {found[0]!r} of {e.table.name} hold the true outcome?"
    raise AmbiguousLayout([question("label", text, found)])
