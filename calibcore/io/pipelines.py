"""A class and its score in each row, as pipelines and evaluation logs give them: flat, in a record, or the first of a list."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.columns import Column
from calibcore.io.confidences import confidence_reading
from calibcore.io.evidence import Evidence, question
from calibcore.io.labels import find_label, named_labels, no_label, other_labels
from calibcore.io.language_models import with_told
from calibcore.io.nested import added, leaves, numbers_column
from calibcore.io.one_column import single_reading
from calibcore.io.reading import Reading
from calibcore.io.vectors import Vectors, vectors_of
from calibcore.io.vocabulary import is_named, is_whole, plain, wrong_or_right

__all__ = ["class_and_score", "graded_answers", "in_records", "most_probable_only"]

_ENOUGH = 20  # rows from which "no score below 1 / K" is telling
_WORDS = ("prob", "score", "pred", "top", "cats")
_ROUNDING = 0.02
_MOST = 0.5
_GRADES = frozenset({"c", "i", "p", "n"})  # correct, incorrect, partly, no answer
_NUMBERED = re.compile(r"label_(\d+)", re.IGNORECASE)
_JUDGED = re.compile(r"(.+)\.value")


def _free_to_find(e: Evidence) -> bool:
    m = e.mapping
    told = (m.probabilities, m.confidence, m.correct, m.predicted, m.columns_are, m.outcome)
    return all(t is None for t in told)


def class_and_score(e: Evidence) -> Reading | None:
    """Columns label and score of a text-classification pipeline: the label is the predicted class, the score its probability."""
    if not _free_to_find(e) or e.predictions or e.correct:
        return None
    label = next((n for n in e.free if plain(n) == "label"), None)
    score = next((n for n in e.free if plain(n) == "score"), None)
    if not label or not score or e.mapping.label == label or not e.unit(score) or e.numeric(label) or not e.class_like(label):
        return None
    classes = list(e.values(label) or ())
    by_name = all(_NUMBERED.fullmatch(c) for c in classes)
    if not _like_largest(e.column(score).numeric().values, max(len(classes), 2)):
        return None
    golds = [g for g in _golds(e, label) if g != score and _common(e, g, classes)]
    if golds:
        return _beside_gold(e, (label, score), golds, sure=by_name or len(classes) > 2 or e.table.n_rows >= _ENOUGH)
    rest = [n for n in e.rest(label, score) if e.numeric(n) or e.class_like(n)]
    if by_name or (e.table.format.startswith("JSON") and not rest):
        _predictions_alone(e, label, score)
    return None


def _like_largest(score: NDArray[np.floating], k: int) -> bool:
    known = score[~np.isnan(score)]
    return bool(len(known) and known.min() >= 1 / k - 1e-6)


def _golds(e: Evidence, label: str) -> list[str]:
    """Columns that may be the truth beside a pipeline's own label."""
    if e.mapping.label:
        return [e.mapping.label]
    exact = [n for n in e.free if n != label and is_named(n, "label", exact=True) and e.class_like(n)]
    return exact or [n for n in other_labels(e, label) if not e.numeric(n)]


def _common(e: Evidence, gold: str, classes: list[str]) -> bool:
    keys = {name_key(v) for v in e.values(gold) or ()}
    numbered = {int(m[1]) for c in classes if (m := _NUMBERED.fullmatch(c))}
    return bool(keys & ({name_key(c) for c in classes} | numbered))


def _beside_gold(e: Evidence, pair: tuple[str, str], golds: list[str], *, sure: bool) -> Reading | None:
    label, score = pair
    gold = golds[0]
    named = e.mapping.label == gold or is_named(gold, "label", exact=True)
    if not named or len(e.different(golds)) > 1:
        return None  # it is asked which one is the label
    if not sure:
        text = f"Is column {label!r} the class that the model predicted, with {score!r} as its probability, beside the true class {gold!r}?"
        raise AmbiguousLayout([question("predicted", text, [label, "none"])])
    keys = {name_key(v) for v in e.values(gold) or ()}
    predicted = _numbers_of(e, label) if all(is_whole(k) for k in keys) else label
    reading = confidence_reading(with_told(e, label=gold, predicted=predicted, confidence=score), None)
    note = f"Column {label!r} is the predicted class and {score!r} its probability, as a pipeline writes them; {gold!r} is the true class."
    return _noted(reading, note)


def _numbers_of(e: Evidence, label: str) -> str:
    """``LABEL_3`` as 3, the class number that it stands for."""
    names = e.column(label).names()
    numbers = [float(m[1]) if (m := _NUMBERED.fullmatch(d)) else np.nan for d in names.distinct]
    return numbers_column(e.table, f"{label}[number]", np.array([*numbers, np.nan])[names.code], label)


def _noted(reading: Reading, *notes: str) -> Reading:
    return replace(reading, notes=(*reading.notes, *notes))


def _predictions_alone(e: Evidence, label: str, score: str) -> None:
    told = no_label(e)
    raise InputError(
        f"Columns {label!r} and {score!r} look like a pipeline's predicted class and its probability (if not: --label {label}). {told}",
        available=told.available,
    )


def most_probable_only(e: Evidence) -> Reading | None:
    """Lists of the few most probable classes, each with its probability: only the first one can be judged."""
    if e.mapping.probabilities is not None or e.mapping.confidence or e.mapping.correct or e.mapping.columns_are:
        return None
    single = bool(e.named("probability") or e.named("confidence"))
    for base in e.names:
        column, telling = e.column(base), any(w in plain(base) for w in _WORDS)
        if not (column.kind == "nested" or (column.kind == "text" and telling)) or is_named(base, "ignore", exact=True):
            continue
        found = _keyed(column)
        if found is not None and (telling or (not single and np.nanmin(found.matrix) >= 0)):
            return _first_of_list(e, base, found)
    return None


def _keyed(column: Column) -> Vectors | None:
    """A list of classes and numbers of which each row holds the same number, fewer than there are classes."""
    try:
        found = vectors_of(column)
    except InputError:  # a vector with a fault, which its rule tells
        return None
    if found is None or found.names is None:
        return None
    counts = (~np.isnan(found.matrix)).sum(axis=1)
    there = counts[counts > 0]
    if not len(there) or (there != there[0]).any() or there[0] == len(found.names):
        return None
    in_rows = np.nan_to_num(found.matrix, nan=0.0)
    return found if (in_rows.sum(axis=1) <= 1 + _ROUNDING).all() else None


def _first_of_list(e: Evidence, base: str, found: Vectors) -> Reading:
    assert found.names is not None
    there = ~np.isnan(found.matrix)
    m, k = int(there.sum(axis=1).max()), len(found.names)
    empty = ~there.any(axis=1)
    filled = np.where(there, found.matrix, -np.inf)
    best, largest = np.argmax(filled, axis=1), np.where(empty, np.nan, filled.max(axis=1))
    if np.nanmax(largest) <= 0:
        text = f"Column {base!r} names {m} of {k:,} classes in each cell, with numbers of at most 0. Are they log-probabilities?"
        if e.mapping.scale is None:
            raise AmbiguousLayout([question("scale", text, ["log-prob"])])
    elif np.nanmin(largest) < 1 / k - 1e-6:
        raise InputError(
            f"Column {base!r} names {m} of {k:,} classes in each cell, none of which is sure to be the most probable one. "
            "Save the probabilities of all classes.",
            column=base,
        )
    predicted = added(e.table, Column(f"{base}[first]", "text", _names(found.names, np.where(empty, -1, best)), of=base))
    confidence = numbers_column(e.table, f"{base}[largest]", largest, base)
    classes = {name_key(n) for n in found.names}
    e2 = with_told(e, predicted=predicted, confidence=confidence)
    label = find_label(e2, (base, predicted, confidence), lambda n: bool(classes & {name_key(v) for v in e.values(n) or ()}))
    reading = confidence_reading(with_told(e2, label=label), None)
    listed = "only the most probable class" if m == 1 else f"only the {m} most probable"
    return _noted(reading, f"Each cell of column {base!r} lists {listed} of {k:,} classes, so only the most probable one is judged.")


def _names(names: Iterable[str], code: NDArray[np.intp]) -> Callable[[], object]:
    def load() -> object:
        import pyarrow as pa

        return pa.array(list(names)).take(pa.array(code, mask=code < 0))

    return load


def in_records(e: Evidence) -> Reading | None:
    """Roles in the fields of records: a confidence or probability, a class and its score, a flag that says what was right."""
    if not _free_to_find(e) or e.named("probability") or e.named("confidence"):
        return None
    records = [n for n in e.names if e.column(n).kind == "nested"]
    found = {path: column for n in records for path, column in leaves(e.table, n).items()}
    if not found or any(_vector(e, n) for n in e.names):
        return None
    for column in found.values():
        added(e.table, column)
    pair = _pair(e, found)
    confidences = [n for n in found if _last(n, "confidence") and found[n].is_numeric]
    probabilities = [n for n in found if _last(n, "probability") and found[n].is_numeric and e.unit(n)]
    flags = [n for n in found if _says_right(e, n)]
    if pair and not confidences:
        reading = single_reading(with_told(e, predicted=pair[0], confidence=pair[1]))
        return _noted(reading, f"{pair[0]!r} is the predicted class and {pair[1]!r} its probability.")
    if not confidences and not probabilities:
        if flags and e.correct is None:
            raise _no_confidence(flags[0])
        return None
    if len(confidences) > 1:
        text = f"There are several confidences: {listing(confidences, 4)}. Which one is to be judged?"
        raise AmbiguousLayout([question("confidence", text, confidences)])
    return _by_roles(e, found, (confidences, probabilities, flags))


def _by_roles(e: Evidence, found: dict[str, Column], roles: tuple[list[str], list[str], list[str]]) -> Reading:
    confidences, probabilities, flags = roles
    predicted = [n for n in found if _last(n, "predicted") and e.class_like(n)]
    labels = [n for n in found if _last(n, "label") and e.class_like(n)]
    has_label, has_class = bool(e.mapping.label or named_labels(e)), bool(e.predictions)
    told = {
        "predicted": predicted[0] if len(predicted) == 1 and not has_class else None,
        "label": labels[0] if len(labels) == 1 and not has_label else None,
        "correct": flags[0] if len(flags) == 1 and e.correct is None else None,
    }
    both = (has_label or told["label"]) and (has_class or told["predicted"])
    if confidences:
        judged = e.correct or told["correct"]
        if judged and not both:
            return confidence_reading(with_told(e, confidence=confidences[0], correct=judged), None)
        return single_reading(with_told(e, confidence=confidences[0], **{k: v for k, v in told.items() if k != "correct" and v}))
    if len(probabilities) > 1:
        text = f"Which column holds the probability? {listing(probabilities, 5)} lie between 0 and 1."
        raise AmbiguousLayout([question("probabilities", text, probabilities)])
    return single_reading(with_told(e, probabilities=probabilities[0], **{k: v for k, v in told.items() if k != "correct" and v}))


def _vector(e: Evidence, name: str) -> bool:
    """Whether a column is one of probabilities: its rule comes later."""
    try:
        found = vectors_of(e.column(name)) if e.column(name).kind in ("nested", "text") else None
    except InputError:
        return True
    if found is None:
        return False
    named = any(w in plain(name) for w in ("prob", "score", "logit", "pred", "softmax", "cats"))
    with np.errstate(invalid="ignore"):
        return named or float(np.mean(np.abs(found.matrix.sum(axis=1) - 1) <= _ROUNDING)) > _MOST


def _last(path: str, role: str) -> bool:
    last = path.rpartition(".")[2]
    return is_named(last, role, exact=True) or (role == "confidence" and is_named(last, role))


def _pair(e: Evidence, found: dict[str, Column]) -> tuple[str, str] | None:
    """``record.label`` and ``record.score``, if one record has both: a class and its probability."""
    pairs = [(n, s) for n in found if plain(n.rpartition(".")[2]) in ("label", "class") and (s := f"{n.rpartition('.')[0]}.score") in found]
    pairs = [(n, s) for n, s in pairs if found[n].kind == "text" and e.unit(s)]
    return pairs[0] if len(pairs) == 1 else None


def _says_right(e: Evidence, path: str) -> bool:
    """A field called correct, or the value of a score beside its answer, that says right or wrong."""
    if _last(path, "correct"):
        values = e.values(path, 6) if e.column(path).kind in ("flag", "number", "text") else None
        return bool(values) and any(wrong_or_right(v) is not None for v in values or ())
    return _JUDGED.fullmatch(path) is not None and _graded(e, path)


def _graded(e: Evidence, name: str) -> bool:
    values = e.values(name, 6) if e.column(name).kind == "text" else None
    words = {v.casefold() for v in values or ()}
    return bool(words & {"c", "i"}) and words <= _GRADES


def _no_confidence(flag: str) -> InputError:
    return InputError(
        f"The file says which answers were right ({flag!r}), but holds no probability or confidence, so calibration cannot be judged. "
        "Add the confidence in each answer.",
        column=flag,
    )


def graded_answers(e: Evidence) -> Reading | None:
    """Grades C and I (correct, incorrect) under any name, beside a confidence."""
    if not _free_to_find(e) or e.correct is not None or e.mapping.label or e.predictions:
        return None
    grades = [n for n in e.free if e.column(n).kind == "text" and _graded(e, n) and len(e.values(n, 6) or ()) > 1]
    if len(grades) != 1 or is_named(grades[0], "label", exact=True):
        return None
    if {v.casefold() for v in e.values(grades[0], 6) or ()} >= {"c", "i"}:
        confidences = e.named("confidence")
        if confidences:
            return confidence_reading(with_told(e, correct=grades[0]), None)
        if not e.named("probability"):
            raise _no_confidence(grades[0])
    return None
