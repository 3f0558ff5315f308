"""A file as a session holds it, and the models in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

import calibcore as cc
from calibcore.errors import Question

__all__ = ["Content", "File", "Model"]

Content = Callable[[], bytes | Sequence[tuple[str, bytes]]]


@dataclass(frozen=True, slots=True)
class File:
    """One file as it was read: its models, or why there are none.

    Attributes
    ----------
    key : str
        SHA-256 of the bytes, or the path of a file on the server.
    read_as : str
        One line on the roles of the columns.
    answers : str
        The answers it was read with, as JSON; other answers make other models.
    readable : bool
        Whether a refused file holds a table, which other answers may make sense of.
    stamp : hashable
        Of a file on the server: what changes when its content does.
    parts : tuple of str
        Names of files that are read together, predictions first.
    """

    name: str
    key: str
    predictions: tuple[cc.Predictions, ...] = ()
    read_as: str = ""
    error: str = ""
    questions: tuple[Question, ...] = ()
    answers: str = ""
    readable: bool = False
    stamp: Hashable = None
    parts: tuple[str, ...] = ()

    @property
    def version(self) -> Hashable:
        """What differs where the content does."""
        return (self.key, self.stamp)

    @property
    def content(self) -> str:
        """SHA-256 of the predictions, so that what was said about these rows is not taken for others; the key of what was not read."""
        return str(self.predictions[0].source.get("sha256") or self.key) if self.predictions else self.key


@dataclass(frozen=True, slots=True)
class Model:
    """A model under the name it has in this session, and the key of what it was read from: the ``index``-th of a file."""

    key: Hashable
    predictions: cc.Predictions
    file: File | None = field(default=None, repr=False, compare=False)
    index: int = 0

    @property
    def name(self) -> str:
        """The name that is shown."""
        return self.predictions.name
