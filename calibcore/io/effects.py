"""What a reading of a file does: rows used and left out, accuracy, and mean probability against base rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from calibcore.checks import percent_text
from calibcore.errors import AmbiguousLayout, InputError, Question
from calibcore.io import Layout, Mapping, inspect_bytes, read_bytes
from calibcore.predictions import Predictions
from calibcore.summation import total

__all__ = ["Effect", "Trial", "effects_of", "shared_notes", "try_bytes"]


@dataclass(frozen=True, slots=True)
class Effect:
    """The plain figures of one model as a file was read: enough to see whether its columns were taken for what they are.

    Attributes
    ----------
    name : str
        The model.
    n, n_left_out : int
        Rows that are used, and rows of the file that are not.
    accuracy : float
        Share of the rows whose predicted class is right, weighted where there are weights.
    confidence : float
        Mean probability of the predicted class.
    positive : str or None
        The positive class; None unless there are two classes with a probability each.
    probability, base_rate : float or None
        Mean probability of the positive class, and the share of the rows that are positive.
    notes : tuple of str
        What was done or is doubtful.
    """

    name: str
    n: int
    n_left_out: int
    accuracy: float
    confidence: float
    positive: str | None = None
    probability: float | None = None
    base_rate: float | None = None
    notes: tuple[str, ...] = ()

    def figures(self) -> tuple[tuple[str, str], ...]:
        """What each figure is called and how it reads, in the order in which they are looked at."""
        rows = [("Rows used", f"{self.n:,}"), ("Rows left out", f"{self.n_left_out:,}")]
        if self.probability is not None and self.base_rate is not None:
            rows += [("Positive class", str(self.positive)), ("Its mean probability", percent_text(self.probability))]
            rows += [("Its share of the rows", percent_text(self.base_rate))]
        return (*rows, ("Mean confidence", percent_text(self.confidence)), ("Accuracy", percent_text(self.accuracy)))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return {**plain, "notes": list(self.notes)}


@dataclass(frozen=True, slots=True)
class Trial:
    """A file read with some answers: what came of it, or why nothing did.

    Attributes
    ----------
    layout : Layout
        Columns, preview and roles.
    effects : tuple of Effect
        One for each model; none where the file could not be read.
    questions : tuple of Question
        What is still open.
    problem : str
        Why the answers cannot be followed; "" where they can.
    """

    layout: Layout
    effects: tuple[Effect, ...] = ()
    questions: tuple[Question, ...] = ()
    problem: str = ""

    @property
    def readable(self) -> bool:
        """Whether the file was read."""
        return bool(self.effects)


def effects_of(predictions: Iterable[Predictions]) -> tuple[Effect, ...]:
    """The figures of each model.

    Examples
    --------
    >>> (effect,) = effects_of([Predictions.from_arrays([1, 0, 1, 1], [0.75, 0.25, 0.5, 1.0])])
    >>> effect.n, effect.probability, effect.base_rate, effect.accuracy
    (4, 0.625, 0.75, 0.75)
    """
    return tuple(_effect(p) for p in predictions)


def _effect(p: Predictions) -> Effect:
    confidence, accuracy = _means(p, "top_label")
    probability, base_rate = _means(p, "positive") if p.task == "binary" else (None, None)
    return Effect(p.name, p.n, p.n_excluded, accuracy, confidence, p.positive_class, probability, base_rate, p.notes)


def _means(p: Predictions, view: str) -> tuple[float, float]:
    """Mean of what a view claims, and how often it happened; weighted means, whatever the scale of the weights."""
    if not p.has_rows:
        profile = p.profile(view if view in p.views else p.views[0])
        return profile.mean_confidence, profile.accuracy
    claimed, happened = p.rows(view)
    weight = np.ones(p.n) if p.weight is None else p.weight / p.weight.max()
    rows = total(weight)
    return total(weight * claimed.astype(np.float64)) / rows, total(weight * happened) / rows


def try_bytes(data: bytes | Sequence[tuple[str, bytes]], name: str, mapping: dict[str, Any] | Mapping | None = None) -> Trial:
    r"""Read a file with some answers, without raising where they do not fit.

    Parameters
    ----------
    data : bytes, or sequence of (name, bytes)
        One file, or several that belong together.
    name : str
        The file's name.
    mapping : Mapping, or dict of its fields, optional

    Returns
    -------
    Trial

    Raises
    ------
    InputError
        If the bytes hold no table, which no mapping can mend.

    Examples
    --------
    >>> trial = try_bytes(b"label,p\n1,0.9\n0,0.2\n", "a.csv")
    >>> trial.effects[0].n, trial.questions, trial.problem
    (2, (), '')
    >>> try_bytes(b"label,p\n1,0.9\n0,0.2\n", "a.csv", {"label": "q"}).problem
    "a.csv: There is no column called 'q'. The columns are label, p."
    """
    bare = inspect_bytes(data, name)
    try:
        told = Mapping(**mapping) if isinstance(mapping, dict) else mapping or Mapping()
        found = read_bytes(data, name, told)
    except AmbiguousLayout as ambiguous:
        return Trial(bare, questions=ambiguous.questions)
    except InputError as error:
        return Trial(bare, problem=str(error))
    return Trial(inspect_bytes(data, name, told), effects_of(found))


def shared_notes(effects: Sequence[Effect]) -> tuple[str, ...]:
    """The notes of all models, each once."""
    return tuple(dict.fromkeys(note for e in effects for note in e.notes))
