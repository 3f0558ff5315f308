"""What a user said and the reading does not use: refused where a number would surprise, noted where nothing changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping as Dictionary

import numpy as np

from calibcore.checks import listing, name_key
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.evidence import FLAGS, Evidence, question
from calibcore.io.labels import other_labels
from calibcore.io.mapping import Mapping
from calibcore.io.reading import Reading
from calibcore.io.vocabulary import plain

__all__ = ["check_columns", "unused"]

_SAMPLE, _FIRST = 1_000_000, 1000  # cells looked at, rows that often settle it
_TRUTH = re.compile(r"true|truth|actual|gold|observed")
_TOO_MANY, _TOO_MANY_BESIDE = 10, 5  # wrong rows that cannot all be luck, and where another column could be the label


def check_columns(e: Evidence) -> None:
    """InputError for a named column that does not exist, and for what belongs to files that are not read yet."""
    for name in e.mapping.columns():
        e.column(name)
    if e.mapping.pair is not None:
        raise InputError("pair (--pair) says how a separate file of labels is joined, but there is none. Leave it out.")


def unused(e: Evidence, reading: Reading) -> tuple[str, ...]:
    """Notes on what was said and changes nothing.

    Raises
    ------
    InputError
        For what was said and cannot be followed in this layout.
    """
    _columns(e, reading)
    _classes(e.mapping, reading)
    _positive(e.mapping, reading)
    _columns_are(e.mapping, reading)
    return (*_nothing_dropped(e, reading), *_one_model(e.mapping, reading), *_repeated(e, reading), *_never_wrong(e, reading))


def _columns(e: Evidence, reading: Reading) -> None:
    """Every named column must have the role that it was named for."""
    mapping = e.mapping
    columns: set[str | None] = {c for u in reading.units for c in u.columns}
    columns |= {e.column(c).of for u in reading.units for c in u.columns}  # vectors
    used: dict[str, set[str | None]] = {
        "label": {u.label for u in reading.units},
        "predicted": {reading.predicted},
        "correct": {reading.correct},
        "confidence": columns if reading.form == "confidence" else set(),
        "probabilities": columns,
    }
    for role, taken in used.items():
        told = getattr(mapping, role)
        names = (told,) if isinstance(told, str) else tuple(told.values()) if isinstance(told, Dictionary) else told or ()
        left = [n for n in names if n not in taken]
        if left:
            raise InputError(
                f"The file is read as {reading.layout}, which does not use {listing([repr(n) for n in left])}, "
                f"named with {FLAGS.get(role, '--' + role)}. Leave it out, or name the other columns as well.",
                column=left[0],
            )


def _classes(mapping: Mapping, reading: Reading) -> None:
    told = mapping.classes
    if told is None or {name_key(c) for c in told} == {name_key(c) for c in reading.classes}:
        return
    if not reading.classes:
        raise InputError("Confidences with a flag for right or wrong have no classes. Leave classes (--classes) out.")
    wanted = "two, other and positive" if reading.form == "positive" else listing(reading.classes, 8)
    raise InputError(
        f"classes (--classes) names {listing(told, 8)}, but the file has {listing(reading.classes, 8)}. Leave it out, or name {wanted}.",
        value=told,
        available=reading.classes,
    )


def _positive(mapping: Mapping, reading: Reading) -> None:
    told = mapping.positive
    if told is None or (len(reading.classes) == 2 and name_key(told) in {name_key(c) for c in reading.classes}):
        return
    if not reading.classes:
        raise InputError("Confidences with a flag for right or wrong have no positive class. Leave positive (--positive) out.")
    if len(reading.classes) == 2:
        raise InputError(
            f"The positive class {told!r} is not one of the classes {listing(reading.classes)}.", value=told, available=reading.classes
        )
    raise InputError(
        f"positive (--positive) names one of two classes, but the file has {len(reading.classes):,} ({listing(reading.classes, 4)}). "
        "Leave it out; one class against all others is a view (--view class:NAME).",
        value=told,
        available=reading.classes,
    )


def _columns_are(mapping: Mapping, reading: Reading) -> None:
    pairs = len({u.label for u in reading.units}) > 1
    fits = {"classes": reading.form == "classes", "labels": pairs, "models": not pairs and reading.form != "classes", None: True}
    if not fits[mapping.columns_are]:
        needs = {
            "classes": "one probability column for each class",
            "labels": "several probabilities, each with its own column of outcomes, such as prob_rain and rain",
            "models": "one probability or confidence for each model",
        }
        raise InputError(
            f"columns_are (--columns-are) {mapping.columns_are} needs {needs[str(mapping.columns_are)]}; "
            f"the file is read as {reading.layout}. Leave it out, or name the columns.",
            value=mapping.columns_are,
        )


def _nothing_dropped(e: Evidence, reading: Reading) -> Iterator[str]:
    columns = [*{u.label for u in reading.units if u.label}, *filter(None, [reading.correct])]
    there = {name_key(d) for c in columns for d in e.column(c).names().distinct}
    absent = [d for d in e.mapping.drop_label or () if name_key(d) not in there]
    if absent:
        yield f"No row has the label {listing([repr(a) for a in absent])}, so none was left out for it (--drop-label)."


def _one_model(mapping: Mapping, reading: Reading) -> Iterator[str]:
    if mapping.columns_are == "models" and len(reading.units) == 1:
        yield f"Only column {reading.units[0].columns[0]!r} holds probabilities, so there is one model (--columns-are models)."


def _repeated(e: Evidence, reading: Reading) -> Iterator[str]:
    """Probabilities that repeat a model in every row."""
    if reading.form != "positive" or e.mapping.probabilities:
        return
    used = [u.columns[0] for u in reading.units]
    for name in e.named("probability"):
        values = None if name in used else e.column(name).numeric().values
        twin = next((u for u in used if values is not None and np.array_equal(values, e.column(u).numeric().values, equal_nan=True)), None)
        if twin:
            yield f"Column {name!r} repeats {twin!r} in every row and was not read as another model."


def _never_wrong(e: Evidence, reading: Reading) -> Iterator[str]:
    """A label that is the likeliest class in every row although many rows should be wrong: perhaps it is a prediction."""
    unit = reading.units[0]
    if e.mapping.label or reading.outcome or reading.form == "confidence" or reading.scale != "fraction" or not unit.label:
        return
    step = max(1, e.table.n_rows * len(unit.columns) // _SAMPLE)
    if _expected_wrong(e, reading, slice(0, _FIRST * step, step)) is None:  # as nearly every true label shows at once
        return
    found = _expected_wrong(e, reading, slice(0, None, step))
    if found is not None and found[1] > _TOO_MANY_BESIDE and e.predicted is None:
        _ask_whether_true(e, reading)
    if found is not None and found[1] > _TOO_MANY:
        yield (
            f"Column {unit.label!r} is the likeliest class in each of {found[0]:,} rows, though their probabilities expect "
            f"{found[1]:.0f} to be wrong: check that it is the true class and not the model's prediction."
        )


def _ask_whether_true(e: Evidence, reading: Reading) -> None:
    """Asks for the label where another column has the same classes: the one that is never wrong may be a model's own prediction."""
    unit, known = reading.units[0], {name_key(c) for c in reading.classes}
    if _TRUTH.search(plain(unit.label)):
        return
    taken = [*(c for u in reading.units for c in u.columns), *(u.label for u in reading.units if u.label)]
    others = other_labels(e, *taken)
    rivals = [n for n in others if {name_key(v) for v in e.values(n) or ()} <= known and not e.same(unit.label, n)]
    if rivals:
        text = (
            f"Column {unit.label!r} is the likeliest class in each row, as a model's own prediction is, and {listing(rivals, 4)} "
            f"{'has' if len(rivals) == 1 else 'have'} the same classes. Which column holds the true outcome?"
        )
        raise AmbiguousLayout([question("label", text, [*rivals, unit.label])])


def _expected_wrong(e: Evidence, reading: Reading, rows: slice) -> tuple[int, float] | None:
    """How many of some rows have a label, and how many of these should be wrong; None where the label is not the likeliest class."""
    unit = reading.units[0]
    values = np.column_stack([e.column(c).numeric().values[rows].astype(np.float64) for c in unit.columns])
    if reading.form == "positive":
        values = np.column_stack([1 - values, values])
    names = e.column(unit.label).names()
    known = {name_key(c): i for i, c in enumerate(reading.classes)}
    truth = np.array([*(known.get(name_key(d), -1) for d in names.distinct), -1], dtype=np.intp)[names.code[rows]]
    best = np.nan_to_num(values).max(axis=1)
    given = (truth >= 0) & ~np.isnan(values).any(axis=1)
    if not (values[given, truth[given]] == best[given]).all():
        return None
    return int(given.sum()), float((1 - best[given]).sum())
