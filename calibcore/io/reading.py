"""A file's columns with their roles settled: what is read as what, as data and as one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Form", "IdBy", "Reading", "RowChoice", "Unit"]

Form = Literal["classes", "positive", "confidence"]
IdBy = Literal["content", "first rows"]


@dataclass(frozen=True, slots=True)
class Unit:
    """The columns of one model: one a class in class order, or P(positive), or the confidence.

    Attributes
    ----------
    columns : tuple of str
    label : str
        Column of the label; "" where there is only a correct flag.
    name : str or None
        The model's name where the columns say it.
    """

    columns: tuple[str, ...]
    label: str = ""
    name: str | None = None


@dataclass(frozen=True, slots=True)
class RowChoice:
    """The rows that are judged: those whose ``column`` is (``sign`` "=") or is not ("!=") ``value``."""

    column: str
    sign: str
    value: str

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.value}"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is read.

    Attributes
    ----------
    layout : str
        Name of the rule that recognised it.
    form : {"classes", "positive", "confidence"}
    units : tuple of Unit
        One for each model that has its own columns.
    classes : tuple of str
        In class order, binary (other, positive); may be empty for confidences.
    scale : str
        How the probabilities are written.
    predicted, correct, model, weight, id, cluster, time : str or None
        Columns.
    id_by : {"content", "first rows"} or None
        Where no name and no user says that ``id`` identifies the rows: it differs in every row, or in the first of many.
    groups : tuple of str
    outcome : tuple or None
        (left column, sign, right column or number) where the label is a comparison.
    dropped_labels : tuple of str
        Label values whose rows are left out.
    rows : RowChoice or None
        Which rows are judged; None for all.
    notes : tuple of str
    ignored : tuple of str
        Columns that look like a saved index.
    offered_weight : str or None
        A column that could be used as weights.
    """

    layout: str
    form: Form
    units: tuple[Unit, ...]
    classes: tuple[str, ...] = ()
    scale: str = "fraction"
    predicted: str | None = None
    correct: str | None = None
    model: str | None = None
    weight: str | None = None
    id: str | None = None
    id_by: IdBy | None = None
    cluster: str | None = None
    time: str | None = None
    groups: tuple[str, ...] = ()
    outcome: tuple[str, str, str] | None = None
    dropped_labels: tuple[str, ...] = ()
    rows: RowChoice | None = None
    notes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    offered_weight: str | None = None

    @property
    def label(self) -> str | None:
        """Column of the label, or the comparison that makes it."""
        return " ".join(self.outcome) if self.outcome else self.units[0].label or None

    @property
    def used(self) -> frozenset[str]:
        """Every column that has a role."""
        single = (self.predicted, self.correct, self.model, self.weight, self.id, self.cluster, self.time)
        columns = [c for u in self.units for c in (*u.columns, u.label)]
        derived = (self.outcome[0], self.outcome[2]) if self.outcome else ()
        return frozenset(c for c in (*single, *columns, *self.groups, *derived) if c)

    def roles(self, unit: Unit | None = None) -> dict[str, Any]:
        """Role → column, for one model or, with several, for all."""
        units = (unit,) if unit else self.units
        roles: dict[str, Any] = {"label": (unit.label if unit and not self.outcome else self.label) or None}
        roles |= {"predicted": self.predicted, "correct": self.correct}
        if self.form == "confidence":
            roles["confidence"] = _one_or_all([u.columns[0] for u in units])
        elif self.form == "classes":
            roles["probabilities"] = _one_or_all([dict(zip(self.classes, u.columns, strict=True)) for u in units])
        else:
            roles["probabilities"] = _one_or_all([{self.classes[-1]: u.columns[0]} for u in units])
        roles |= {"positive": self.classes[1] if len(self.classes) == 2 and self.form != "confidence" else None}
        roles |= {"model": self.model, "weight": self.weight, "id": self.id, "groups": list(self.groups)}
        roles |= {"cluster": self.cluster, "time": self.time}
        roles |= {"rows": str(self.rows) if self.rows else None}
        return {k: v for k, v in roles.items() if v not in (None, [], "")}

    def sentence(self) -> str:
        """How the file is read: "Read as: label = y_true, probability = score."."""
        parts = [("label", self.label), ("predicted", self.predicted), (self._what(), self._columns()), ("correct", self.correct)]
        if self.form != "confidence" and len(self.classes) == 2:
            parts.append(("positive class", self.classes[1]))
        parts += [("model", self.model), ("weight", self.weight), ("cluster", self.cluster), ("time", self.time)]
        if self.rows:
            parts.append(("rows", str(self.rows)))
        if self.scale != "fraction":
            parts.append(("scale", self.scale))
        if self.id_by:
            parts.append(("id", f"{self.id} (different in {'every row' if self.id_by == 'content' else 'the first rows'})"))
        return "Read as: " + ", ".join(f"{k} = {v}" for k, v in parts if v) + "."

    def _what(self) -> str:
        words = {"classes": "probabilities", "positive": "probability", "confidence": "confidence"}
        return words[self.form] + (f" of {len(self.units)} models" if len(self.units) > 1 else "")

    def _columns(self) -> str:
        columns = [c for u in self.units for c in u.columns]
        if len(columns) <= 6:
            return " + ".join(columns)
        return f"{columns[0]} + {columns[1]} + … + {columns[-1]} ({len(columns)} columns)"


def _one_or_all(items: list[Any]) -> Any:
    return items[0] if len(items) == 1 else items
