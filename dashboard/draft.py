"""What is said in the open Columns dialog and not yet applied: answers, what came of them, and what is still to be asked."""

from __future__ import annotations

import json
from collections.abc import Hashable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from calibcore.errors import Question
from calibcore.io.effects import Trial, try_bytes
from dashboard.answers import TYPED, meaning, typed
from dashboard.loaded import Content

__all__ = ["NONE", "Draft"]

NONE: tuple[()] = ()  # as in a `Mapping`: there is no such column
# What was said about a role says nothing any more once the role has another column.
_FOLLOW = {
    "label": ("positive", "classes", "drop_label", "outcome", "correct"),
    "probabilities": ("scale", "columns_are", "classes", "confidence"),
    "confidence": ("scale", "columns_are", "classes", "probabilities"),
    "correct": ("label", "predicted", "drop_label", "positive"),
    "predicted": ("classes", "correct"),
    "outcome": ("label", "positive", "classes"),
    "positive": ("classes",),
    "classes": ("positive",),
}
_LARGE = 20 * 2**20  # bytes from which on reading is told
_QUICK = 2**22  # bytes up to which a file is read with every answer, to see what would be asked next
_ANSWERS = 4  # and answers up to which that is done


@dataclass(slots=True)
class Draft:
    """What is said in the open dialog, not yet applied.

    Attributes
    ----------
    key : str
        Of the file.
    said : dict
        `Mapping` fields.
    tried : dict
        What the file gave with earlier choices, as long as it is the ``version`` that they were tried on.
    asked : dict
        Questions that came up, by id.
    later : set of str
        Those that came up only after another was answered.
    shown : dict
        What each control shows, and how often that was changed by something else than the control.
    """

    key: str
    said: dict[str, Any]
    tried: dict[str, Trial] = field(default_factory=dict)
    asked: dict[str, Question] = field(default_factory=dict)
    later: set[str] = field(default_factory=set)
    shown: dict[str, tuple[Any, int]] = field(default_factory=dict)
    version: Hashable = None

    def read(self, name: str, data: Content) -> Trial:
        """The file as the dialog says, with the questions that come up noted; each choice is read once."""
        trial = self._tried(self.said, name, data)
        is_open = {q.id: q for q in (*trial.questions, *self._next(trial, name, data))}
        # Questions stay once they were asked, so that an answer can be changed and the focus has a place.
        asked = {i: q for i, q in {**self.asked, **is_open}.items() if i in is_open or i in self.said}
        self.later = {i for i in asked if i in self.later or (self.asked and i not in self.asked)}
        self.asked = asked
        return trial

    def say(self, role: str, value: Any) -> None:
        """Take a choice, None for none; what was said about the column before it is dropped."""
        if value is None:
            self.said.pop(role, None)
            return
        if value != NONE:
            self.said = {k: v for k, v in self.said.items() if k not in _FOLLOW.get(role, ())}
        self.said[role] = typed(role, value) if role in TYPED else value

    def key_of(self, control: str, value: Any) -> str:
        """The key of a control that is to show a value: a new one where the value was not chosen in the control itself.

        A browser that has not heard of the new value yet sends the old one along with the next click elsewhere, as if somebody
        had chosen it; by its key it is known to be old.
        """
        before, version = self.shown.get(control, (value, 0))
        version += before != value
        self.shown[control] = (value, version)
        return _key(control, version)

    def chosen(self, control: str, key: str, value: Any) -> bool:
        """Note what was chosen in a control; False where that is an old value, by its key."""
        version = self.shown.get(control, (value, 0))[1]
        if key != _key(control, version):
            return False
        self.shown[control] = (value, version)
        return True

    def _tried(self, said: dict[str, Any], name: str, data: Content) -> Trial:
        entry = json.dumps(said)
        if entry not in self.tried:
            content = data()
            with st.spinner("Reading the file again", show_time=True) if _size(content) > _LARGE else nullcontext():
                self.tried[entry] = try_bytes(content, name, said)
        return self.tried[entry]

    def _next(self, trial: Trial, name: str, data: Content) -> tuple[Question, ...]:
        """What is asked next whichever answer the open question gets, so that both can be asked at once."""
        if len(trial.questions) != 1 or len(trial.questions[0].options) > _ANSWERS or _size(data()) > _QUICK:
            return ()
        (q,) = trial.questions
        answers = [typed(q.id, o) if q.id in TYPED else meaning(q, o) for o in q.options]
        following = [self._tried({**self.said, q.id: a}, name, data).questions for a in answers]
        first = following[0] if following else ()
        kept = [f for f in first if f.id != q.id and f.id not in _FOLLOW.get(q.id, ()) and q.id not in _FOLLOW.get(f.id, ())]
        return tuple(f for f in kept if all(any(_alike(f, other) for other in others) for others in following))


def _key(control: str, version: int) -> str:
    return f"{control} {version}" if version else control


def _alike(one: Question, other: Question) -> bool:
    """Whether two questions can be answered by the same answers."""
    return one.id == other.id and set(one.options) == set(other.options)


def _size(content: Any) -> int:
    return len(content) if isinstance(content, bytes) else sum(len(part) for _, part in content)
