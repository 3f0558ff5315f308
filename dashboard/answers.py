"""Answers of the Columns dialog: what is chosen, as a `Mapping` holds it, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calibcore.checks import listing
from calibcore.errors import Question
from calibcore.options import mapping_of
from calibcore.report.words import markdown_free
from dashboard.session import File

__all__ = ["SCALES", "SEVERAL", "TYPED", "answer_text", "meaning", "option_text", "same_label", "typed"]

_NAMED = 6  # files named in a label
TYPED = ("classes", "drop_label")  # their answers are lists, written with commas as in the shell
SCALES = {
    "fraction": "Fractions, 0 to 1",
    "percent": "Percent, 0 to 100",
    "logit": "Logits (log-odds)",
    "log-prob": "Logarithms of probabilities",
    "unnormalised": "Positive scores, divided by their sum",
}
SEVERAL = {"models": "One model each", "classes": "One class each", "labels": "Yes/no problems of their own"}


def typed(role: str, text: str) -> Any:
    """A list of names as written in the shell, read as the shell reads it."""
    return getattr(mapping_of({role: text}), role)


def meaning(q: Question, option: str) -> Any:
    """The answer as a `Mapping` holds it: several of the columns offered, named together, are one model each."""
    several = typed(q.id, option) if q.id == "probabilities" else option
    return several if isinstance(several, tuple) and set(several) <= set(q.options) else option


def option_text(q: Question, option: str) -> str:
    """An answer to choose, in words."""
    means = meaning(q, option)
    if q.id == "confidence" and "none" in q.options and option != "none":
        return f"{option}: the confidence in the predicted class"
    return f"{listing(means, 8)}: one model each" if isinstance(means, tuple) else answer_text(q.id, option)


def answer_text(role: str, option: str) -> str:
    """What an answer about a role says."""
    words = {
        "scale": SCALES,
        "columns_are": SEVERAL,
        "missing": {"drop": "Leave such rows out"},
        "label": {"none": "No, the outcomes are in another file"},
        "confidence": {"none": "The probability of one class"},
        "predicted": {"none": "No, it is not the predicted class"},
        "model": {"none": "No, it names no models"},
    }.get(role, {})
    if role == "rows":
        column, sign, value = option.partition("!=") if "!=" in option else option.partition("=")
        return f"Rows where {column} is {'not ' if sign == '!=' else ''}{value}" if sign else "All rows"
    return words.get(option, option)


def same_label(alike: Sequence[File]) -> str:
    """Asks whether other files shall be read like this one, by name."""
    names = ", ".join(f.name for f in alike[:_NAMED]) + (", …" if len(alike) > _NAMED else "")
    return markdown_free(f"The same answers for {names}")
