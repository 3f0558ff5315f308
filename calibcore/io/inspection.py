"""How a file is read, and what would be asked, without computing anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from calibcore.errors import AmbiguousLayout, InputError, Question
from calibcore.io.columns import Table
from calibcore.io.layouts import read_layout
from calibcore.io.mapping import Mapping
from calibcore.io.profile_tables import about_profile
from calibcore.io.wording import worded

__all__ = ["Layout", "layout_of"]


@dataclass(frozen=True, slots=True)
class Layout:
    """What was recognised in a file.

    Attributes
    ----------
    file : str
    format : str
        What the bytes are: "CSV", "TSV", "Parquet", "JSON Lines", "calibcore profile", …
    encoding : str or None
        Of text.
    n_rows : int or None
        None where only the beginning of a long text was read.
    columns : tuple of str
        All columns in the file's order.
    layout : str or None
        The layout's name; None while questions are open.
    sentence : str
        "Read as: label = y_true, probability = score.", or "" while questions are open.
    roles : dict
        Role → column, list of columns, or {class: column}.
    questions : tuple of Question
        What must be answered by a `Mapping` before the file can be read.
    problem : str or None
        Why the file cannot be read as it is, where no question would help.
    models : int
        How many models have columns of their own.
    ignored : tuple of str
        Columns that look like a saved index.
    offered_weight : str or None
        A column that could be used as weights.
    notes : tuple of str
    preview : tuple of dict
        The first five rows, column → text.
    scale : str or None
        How the probabilities are written.
    classes : tuple of str
        In class order; of two, the second is the positive one.
    """

    file: str
    format: str
    encoding: str | None
    n_rows: int | None
    columns: tuple[str, ...]
    layout: str | None = None
    sentence: str = ""
    roles: dict[str, Any] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    problem: str | None = None
    models: int = 0
    ignored: tuple[str, ...] = ()
    offered_weight: str | None = None
    notes: tuple[str, ...] = ()
    preview: tuple[dict[str, str], ...] = ()
    scale: str | None = None
    classes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        names = [n for n in self.__slots__ if n != "questions"]
        plain = {n: (list(v) if isinstance(v := getattr(self, n), tuple) else v) for n in names}
        return {**plain, "questions": [q.to_dict() for q in self.questions]}


def layout_of(table: Table, mapping: Mapping, questions: tuple[Question, ...] = ()) -> Layout:
    """The layout of a table; questions (those given, or else its own) and problems are part of the answer, never raised."""
    about: dict[str, Any] = {
        "file": table.name,
        "format": table.format,
        "encoding": table.encoding,
        "n_rows": table.rows_in_file,
        "columns": tuple(table.columns),
        "preview": tuple(table.preview()),
        "notes": table.notes,
    }
    if questions:
        return Layout(**about, questions=questions)
    if table.models:
        return Layout(**{**about, **about_profile(table, mapping)})
    try:
        table, reading = read_layout(table, mapping)
    except AmbiguousLayout as ambiguous:
        return Layout(**about, questions=ambiguous.questions)
    except InputError as error:
        return Layout(**about, problem=str(error))
    about["notes"] += reading.notes
    return Layout(
        **about,
        layout=reading.layout,
        sentence=worded(reading.sentence(), table),
        roles=reading.roles(),
        models=len(reading.units),
        ignored=reading.ignored,
        offered_weight=reading.offered_weight,
        scale=reading.scale,
        classes=reading.classes,
    )
