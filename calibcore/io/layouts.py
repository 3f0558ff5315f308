"""The list of rules that recognise how a file is laid out; a new layout is one more rule in ``RULES``."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, replace

from calibcore.checks import listing
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.class_columns import ClassSet
from calibcore.io.class_layouts import class_reading, named_by_values, unnamed_classes
from calibcore.io.columns import Table
from calibcore.io.confidences import confidence_reading
from calibcore.io.correctness import flag_differs
from calibcore.io.evidence import MAX_CLASSES, Evidence, question
from calibcore.io.forecasts import detections, several_forecasters
from calibcore.io.found_ids import found_id
from calibcore.io.judged_rows import with_chosen_rows
from calibcore.io.labels import find_label, found_by_elimination, named_labels
from calibcore.io.language_models import choice_log_likelihoods, named_statistics
from calibcore.io.mapping import Mapping
from calibcore.io.one_column import positive_reading, single_reading
from calibcore.io.outcomes import ranges_of_amounts, with_outcome
from calibcore.io.pipelines import class_and_score, graded_answers, in_records, most_probable_only
from calibcore.io.reading import Reading, Unit
from calibcore.io.shapes import ordinary
from calibcore.io.unused import check_columns, unused
from calibcore.io.vector_layouts import derive, found_vectors, told_vectors
from calibcore.io.vocabulary import beside_yes_and_no, counterpart, is_named, polarity
from calibcore.io.wording import worded, worded_errors

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
                f"Column {column!r} holds a list or a record in each cell. "
                f"Name it alone (--prob {column}), or give one column for each class.",
                column=column,
            )
    if len(told) == 1:
        ((name, column),) = told.items()
        return positive_reading(e, (column,), positive=name)
    columns = tuple(told.values())
    label = find_label(e, columns, e.class_like)
    return class_reading(e, label, [ClassSet("", "", dict(told))])


def _pairs(e: Evidence) -> Reading | None:
    """Several probabilities, each with its own 0/1 column: as many yes/no problems."""
    told = e.mapping.probabilities
    if e.mapping.columns_are in ("models", "classes") or isinstance(told, str) or e.mapping.confidence:
        return None
    columns = told if isinstance(told, tuple) else [*e.named("probability"), *(n for n in e.free if e.unit(n) and e.about(n))]
    pairs = {p: e.about(p) for p in columns}
    pairs = {p: labels for p, labels in pairs.items() if len(labels) == 1 and (e.mapping.columns_are or _happens(e, labels[0]))}
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


def _happens(e: Evidence, column: str) -> bool:
    """Whether a column says yes or no, and not who is at home."""
    values = e.values(column) or ()
    only_no = len(values) == 1 and counterpart(values[0]) is not None
    return only_no or polarity(values) is not None or beside_yes_and_no(values)[1] is not None


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
    Rule("log-likelihoods of choices", "filtered_resps or resps beside doc, target or arguments", choice_log_likelihoods),
    Rule("vectors named by the user", "Mapping.probabilities names columns with several numbers in a cell", told_vectors),
    Rule("statistics with a name", "a list of records with name and mean, among them one for what was right", named_statistics),
    Rule("predicted class + score", "columns label and score, no score below 1/K", class_and_score),
    Rule("detections", "boxes or overlaps, or a flag tp, beside a score", detections),
    Rule("label + one column per class", "headers that hold the label's values", named_by_values),
    Rule("most probable classes", "lists of classes and numbers that are shorter than there are classes", most_probable_only),
    Rule("roles in records", "a confidence, a class with its score, or a flag in the fields of records", in_records),
    Rule("vectors in a cell", "lists, maps, records or texts of numbers in one column, by name or by row sums of 1", found_vectors),
    Rule("several yes/no problems", "X beside X_outcome, prob_X beside X", _pairs),
    Rule("label + one column per class, unnamed", "headers 0, 1, … or a common stem; rows add up to 1", unnamed_classes),
    Rule("grades C and I", "a column of C and I beside a confidence", graded_answers),
    Rule("several forecasters", "a named yes/no outcome beside several columns of forecasts", several_forecasters),
    Rule("ranges of an amount", "a label of measured numbers beside three or more fractions that add up to 1", ranges_of_amounts),
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
    with worded_errors(table):
        whole, reading = _read(table, mapping.settled(tuple(table.columns)))
    return whole, replace(reading, notes=tuple(worded(n, table) for n in reading.notes))


def _read(table: Table, mapping: Mapping) -> tuple[Table, Reading]:
    mapping.one_role_each()
    derive(table, mapping.columns())
    table, mapping = with_outcome(table, mapping)
    table, mapping, notes = ordinary(table, mapping)
    evidence = Evidence(table, mapping)
    check_columns(evidence)
    _ask_predicted(evidence)
    for rule in RULES:
        reading = rule.find(evidence)
        if reading is not None:
            return table, _finished(evidence, replace(reading, notes=(*notes, *reading.notes)))
    raise evidence.no_column("probability")


def _ask_predicted(e: Evidence) -> None:
    """In a table without names, a column with the values of the label may hold the predicted class."""
    if not (e.table.headless and e.mapping.label and e.mapping.predicted is None) or e.mapping.outcome:
        return
    classes = set(e.values(e.mapping.label) or ())
    alike = [n for n in e.free if n != e.mapping.label and len(classes) > 1 and e.class_like(n) and set(e.values(n) or ()) == classes]
    if len(alike) == 1 and alike[0] not in e.mapping.columns():
        text = f"Column {alike[0]!r} has the values of the label, {e.mapping.label!r}. Does it hold the predicted class?"
        raise AmbiguousLayout([question("predicted", text, [alike[0], "none"])])


def _finished(e: Evidence, reading: Reading) -> Reading:
    """With the roles that every layout shares: model, weight, id, groups, and what was ignored."""
    named = {c for u in reading.units for c in (*u.columns, u.label)} | {reading.predicted, reading.correct}
    weight = next((n for n in e.names if is_named(n, "weight", exact=True) and e.numeric(n) and n not in named), None)
    told_weight, told_id = e.told("weight"), e.told("id")
    notes = [*reading.notes, *found_by_elimination(e, reading), *flag_differs(e, reading), *unused(e, reading)]
    numbers = [n for n in e.index if is_named(n, "index") or e.numeric(n)]
    for what, columns in (("saved row numbers", numbers), ("the index of a data frame", [n for n in e.index if n not in numbers])):
        if columns:
            notes.append(f"Ignored as {what}: {listing([n or '(no name)' for n in columns], 4)}.")
    if weight and told_weight is None:
        notes.append(f"Column {weight!r} could be weights; rows count equally unless it is named (--weight {weight}).")
    whole = replace(
        reading,
        model=e.model,
        weight=told_weight or None,
        id=told_id or (e.ids[0] if e.ids and told_id is None else None),
        cluster=e.told("cluster") or None,
        time=e.told("time") or None,
        groups=_groups(e, named),
        dropped_labels=e.mapping.drop_label or (),
        notes=tuple(notes),
        ignored=e.index,
        offered_weight=None if told_weight is not None else weight,
    )
    whole = with_chosen_rows(e, whole)
    return whole if whole.id or told_id is not None else _with_found_id(e, whole)


def _with_found_id(e: Evidence, reading: Reading) -> Reading:
    """With the column that identifies rows, where its content alone says so and nothing else uses it."""
    vectors = {e.column(c).of for c in reading.used if c in e.table.columns or c in e.table.derived}
    rows = {reading.rows.column} if reading.rows else set()
    found = found_id(e, reading.used | vectors | rows | {reading.offered_weight, *e.index, *e.predictions, *e.mapping.columns()})
    return reading if found is None else replace(reading, id=found[0], id_by=found[1])


def _groups(e: Evidence, used: set[str | None]) -> tuple[str, ...]:
    told = e.mapping.groups
    if told is not None:
        for name in told:
            e.column(name)
        return told
    vectors = {e.column(c).of for c in used if c}
    taken = used | vectors | {e.model, *e.index, *e.ids, *e.predictions, e.correct}
    taken |= {told for told in (e.mapping.weight, e.mapping.cluster, e.mapping.time) if told}
    free = [n for n in e.names if n not in taken and not is_named(n, "ignore") and not is_named(n, "time")]
    return tuple(n for n in free if _splits(e, n))


def _splits(e: Evidence, name: str) -> bool:
    column = e.column(name)
    if column.kind in ("nested", "other", "time") or (e.numeric(name) and not is_named(name, "group", exact=True)):
        return False
    found = column.few_names(MAX_GROUPS)
    return found is not None and 2 <= len(found) <= min(MAX_GROUPS, MAX_CLASSES) and len(found) < e.table.n_rows
