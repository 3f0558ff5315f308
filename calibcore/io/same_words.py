"""Two steps before columns are read: predictions in the label's words for yes and no, and a label that was saved as an index."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibcore.checks import listing, name_key
from calibcore.io.evidence import Evidence
from calibcore.io.labels import named_labels, other_labels
from calibcore.io.reshaped import Reshaped, texts
from calibcore.io.vocabulary import counterpart, is_named, polarity

__all__ = ["label_in_index", "predictions_in_other_words"]


def predictions_in_other_words(e: Evidence) -> Reshaped | None:
    """Predictions of 1 and 0 beside a label of True and False, or yes and no, get the label's words."""
    columns, notes = dict(e.table.columns), []
    for predicted in e.predictions:
        label = _label_of(e, predicted) if predicted in columns else None
        words = _words(e, label, predicted) if label else None
        if not words:
            continue
        names = columns[predicted].names()
        code = np.array([*(words.index(_side(d, words)) if d in (e.values(predicted) or ()) else -1 for d in names.distinct), -1])
        columns[predicted] = texts(predicted, words, code[names.code])
        notes.append(f"The predictions in {predicted!r}, {listing(e.values(predicted) or ())}, are read in the words of {label!r}.")
    return Reshaped(replace(e.table, columns=columns), e.mapping, tuple(notes)) if notes else None


def _label_of(e: Evidence, predicted: str) -> str | None:
    """The column that predictions are compared with, where there is one only."""
    others = [n for n in other_labels(e) if n != predicted]
    named = named_labels(e) or ([e.predicted_twin] if e.predicted_twin else others if len(others) == 1 else [])
    return named[0] if len(named) == 1 and named[0] != predicted and named[0] in e.table.columns else None


def _words(e: Evidence, label: str, predicted: str) -> tuple[str, str] | None:
    """The label's words for no and yes, where the predictions have others; None where they share them or mean something else."""
    truths, guesses = e.values(label, 2) or (), e.values(predicted, 2) or ()
    if not truths or not guesses or {name_key(g) for g in guesses} <= {name_key(t) for t in truths}:
        return None
    yes = polarity(truths)
    other = next((t for t in truths if t != yes), None)
    if len(truths) == 2 and yes is None:
        return None
    if len(truths) == 1:
        opposite = counterpart(truths[0])
        yes, other = (yes, opposite) if yes else (opposite, truths[0])
    if yes is None or other is None or not _both_sides(guesses):
        return None
    return other, yes


def _both_sides(names: tuple[str, ...]) -> bool:
    """Whether names are words for yes and no, of which none is said twice."""
    affirmed = [polarity([n]) is not None for n in names]
    plain = all(yes or counterpart(n) is not None for n, yes in zip(names, affirmed, strict=True))
    return plain and len(set(affirmed)) == len(names)


def _side(name: str, words: tuple[str, str]) -> str:
    return words[polarity([name]) is not None]


def label_in_index(e: Evidence) -> Reshaped | None:
    """The index of a data frame becomes columns where it alone can hold the label."""
    stored = [n for n in e.index if n in e.table.index]
    if not stored or e.mapping.label is not None or e.mapping.correct is not None or e.mapping.outcome or named_labels(e):
        return None
    whole = Evidence(replace(e.table, index=()), e.mapping)
    could = [n for n in stored if n in whole.free and not is_named(n, "group", exact=True) and _repeats(whole, n)]
    if not any(is_named(n, "label", exact=True) for n in could) and (other_labels(e) or e.correct):
        return None
    return Reshaped(replace(e.table, index=tuple(n for n in e.table.index if n not in could)), e.mapping) if could else None


def _repeats(e: Evidence, name: str) -> bool:
    """Whether a column holds classes, each of which may occur again, and not a number for each row."""
    found = e.values(name) if e.class_like(name) else None
    return found is not None and 1 < len(found) <= e.table.n_rows // 2
