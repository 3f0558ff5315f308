"""What a user is told when input cannot be used: one sentence with the fault, the place and the way out."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from typing import Any

__all__ = ["AmbiguousLayout", "InputError", "Question", "without_options"]

_IN_BRACKETS = re.compile(r" \((?:[^()]|\([^()]*\))*?(?<![\w-])--[a-z](?:[^()]|\([^()]*\))*\)| \(none\)")
_LISTS = ("classes", "drop_label")  # fields whose answers name several values
_SPELT_OUT = 4  # answers that a message names


class InputError(ValueError):
    """Input that cannot be used as it is.

    The message is complete: what is wrong, where, and what to do.  Both the command line and the dashboard show it
    unchanged, so it never holds a traceback or a Python type name.

    Parameters
    ----------
    message : str
        One or two sentences.
    rule : str, optional
        The rule that was broken, in a few words.
    value : object, optional
        The offending value.
    row : int, optional
        1-based data row (the header is not counted).
    column : str, optional
        Column name as written in the file.
    available : sequence of str
        What could have been named instead.

    Examples
    --------
    >>> raise InputError("Row 3 of column 'p' is 1.2, outside [0, 1].", value=1.2, row=3, column="p")
    Traceback (most recent call last):
    ...
    calibcore.errors.InputError: Row 3 of column 'p' is 1.2, outside [0, 1].
    """

    def __init__(
        self,
        message: str,
        *,
        rule: str | None = None,
        value: Any = None,
        row: int | None = None,
        column: str | None = None,
        available: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.value = value
        self.row = row
        self.column = column
        self.available = tuple(available)


@dataclass(frozen=True, slots=True)
class Question:
    """Something a file does not say and nobody may guess.

    ``id`` is the name of the `Mapping` field that answers it, ``options`` holds the possible answers with the best
    offer first, ``flag`` is the command-line option that answers it.
    """

    id: str
    text: str
    options: tuple[str, ...]
    flag: str

    @property
    def forgives(self) -> bool:
        """Whether it is about a fault of the file, which an answer forgives, and not about what the file means."""
        return self.id == "missing"

    def in_python(self) -> str:
        """The question with the `Mapping` fields that answer it, the best offer first.

        Examples
        --------
        >>> print(Question("positive", "Which is it?", ("yes", "no"), "--positive").in_python())
        Which is it? Answer with mapping=cc.Mapping(positive="yes"), or positive="no".
        """
        answers = [f"{self.id}={_literal(self.id, o)}" for o in self.options[:_SPELT_OUT]] or [f"{self.id}=…"]
        others = "".join(f", or {a}" for a in answers[1:])
        more = f", or one of {len(self.options) - _SPELT_OUT:,} more" if len(self.options) > _SPELT_OUT else ""
        return f"{without_options(self.text)} Answer with mapping=cc.Mapping({answers[0]}){others}{more}."

    def to_dict(self) -> dict[str, Any]:
        """The question as plain data, as ``--format json`` prints it."""
        return {"id": self.id, "text": self.text, "options": list(self.options), "flag": self.flag}


class AmbiguousLayout(InputError):  # noqa: N818 - a question, and the name is public
    """The file can be read in more than one way; each `Question` says how to choose.

    The message is for whoever reads it in Python; the command line and the dashboard word the questions themselves.

    Parameters
    ----------
    questions : sequence of Question
        What must be answered, most important first; never empty.
    source : str, optional
        The file's name, put in front of the message.
    """

    def __init__(self, questions: tuple[Question, ...] | list[Question], *, source: str | None = None) -> None:
        self.questions = tuple(questions)
        self.source = source
        prefix = f"{source}: " if source else ""
        super().__init__(prefix + " ".join(q.in_python() for q in self.questions))

    def __reduce__(self) -> tuple[Any, ...]:  # workers of a cluster send it to whoever asks
        return _asked, (self.questions, self.source)


def _asked(questions: tuple[Question, ...], source: str | None) -> AmbiguousLayout:
    return AmbiguousLayout(questions, source=source)


def without_options(text: str) -> str:
    """A sentence without its brackets about options and answers of the command line, which say nothing elsewhere.

    Examples
    --------
    >>> without_options("Leave such rows out (--missing drop), or mend them (rows 3 and 7)?")
    'Leave such rows out, or mend them (rows 3 and 7)?'
    """
    return _IN_BRACKETS.sub("", text)


def _literal(field: str, option: str) -> str:
    """An answer as it is written in Python."""
    if field not in _LISTS:
        return json.dumps(option, ensure_ascii=False)
    names = [json.dumps(name, ensure_ascii=False) for name in next(csv.reader([option], skipinitialspace=True), [])]
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"
