"""What a user is told when input cannot be used: one sentence with the fault, the place and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["AmbiguousLayout", "InputError", "Question"]


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

    def to_dict(self) -> dict[str, Any]:
        """The question as plain data, as ``--format json`` prints it."""
        return {"id": self.id, "text": self.text, "options": list(self.options), "flag": self.flag}


class AmbiguousLayout(InputError):  # noqa: N818 - a question, and the name is public
    """The file can be read in more than one way; each `Question` says how to choose.

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
        super().__init__(prefix + " ".join(f"{q.text} Answer with {q.flag}." for q in self.questions))
