"""What a user says about a file's columns; whatever is left out is detected, whatever is given is never overridden."""

from __future__ import annotations

import csv
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from calibcore.checks import listing, name_key
from calibcore.errors import InputError

__all__ = ["Mapping", "Scale"]

Scale = Literal["fraction", "percent", "logit", "log-prob", "unnormalised"]
_CHOICES: dict[str, tuple[str, ...]] = {
    "scale": ("fraction", "percent", "logit", "log-prob", "unnormalised"),
    "missing": ("error", "drop"),
    "columns_are": ("models", "classes", "labels"),
}
_COLUMNS = ("label", "predicted", "correct", "model", "weight", "id", "cluster", "time")
_NONE = ("none", ("none",))
Name = str | tuple[()] | None


@dataclass(frozen=True, slots=True)
class Mapping:
    """Roles of a file's columns.

    A field left None is detected, ``()`` means that there is none, and a given one is never overridden.  Questions of
    `AmbiguousLayout` carry these field names as their ids.

    Parameters
    ----------
    label : str, optional
        Column of the true class.
    predicted : str, optional
        Column of the class that the model predicted.
    confidence : str or tuple of str, optional
        Column of the confidence in the predicted class; several are several models.
    correct : str, optional
        Column that says whether the prediction was right.
    probabilities : dict of class name to column, str, or tuple of str, optional
        One column a class; or the column of P(positive); or several columns, of which ``columns_are`` says what they are.
    positive : str, optional
        Name of the positive class of two.
    model : str, optional
        Column whose values name the model of each row.
    weight : str, optional
        Column of row weights; never used unless given.
    id : str, optional
        Column that identifies a row, for pairing models.
    groups : tuple of str, optional
        Columns whose values split the rows into groups.
    cluster, time : str, optional
        Columns of repeated subjects and of the order of rows.
    scale : {"fraction", "percent", "logit", "log-prob", "unnormalised"}, optional
        How the probabilities are written.
    missing : {"error", "drop"}
        What happens to rows without a label or a probability.
    classes : tuple of str, optional
        Class names in their order; for two, (other, positive).  Also names class columns whose headers do not.
    drop_label : tuple of str, optional
        Label values whose rows are left out.
    pair : str, optional
        How a separate file of labels is joined: "row-order", or the column that identifies a row of both ("a=b" for two names).
    columns_are : {"models", "classes", "labels"}, optional
        What several probability columns stand for.
    outcome : str, optional
        A comparison that makes the label, such as ``"score1 > score2"``.
    rows : str, optional
        The rows that are judged, such as ``"split=test"`` or ``"split!=train"``; ``"all"`` for all of them.

    Raises
    ------
    InputError
        For a word that is not one of the choices.

    Examples
    --------
    >>> Mapping(label="y", probabilities="p", scale="percent").scale
    'percent'
    """

    label: Name = None
    predicted: Name = None
    confidence: str | tuple[str, ...] | None = None
    correct: Name = None
    probabilities: str | tuple[str, ...] | Dictionary[str, str] | None = None
    positive: str | None = None
    model: Name = None
    weight: Name = None
    id: Name = None
    groups: tuple[str, ...] | None = None
    cluster: Name = None
    time: Name = None
    scale: Scale | None = None
    missing: Literal["error", "drop"] = "error"
    classes: tuple[str, ...] | None = None
    drop_label: tuple[str, ...] | None = None
    pair: str | None = None
    columns_are: Literal["models", "classes", "labels"] | None = None
    outcome: str | None = None
    rows: str | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise InputError(f"{name} must be one of {listing(choices, 9)}; got {value!r}.", value=value, available=choices)
        for name in ("groups", "classes", "drop_label"):
            self._as_tuple(name)
        for name in (*_COLUMNS, "confidence", "probabilities"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("positive",):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, str(getattr(self, name)))
        self._agree()
        self._name_once()
        if isinstance(self.probabilities, Dictionary):
            object.__setattr__(self, "probabilities", {str(k): str(v) for k, v in self.probabilities.items()})

    def _agree(self) -> None:
        """InputError where two fields contradict each other."""
        classes = self.classes or ()
        keys = [name_key(c) for c in classes]
        if len(set(keys)) < len(keys):
            twice = next(c for c, k in zip(classes, keys, strict=True) if keys.count(k) > 1)
            raise InputError(f"classes (--classes) names {twice!r} twice. Name each class once.", value=twice)
        if len(keys) == 2 and self.positive is not None and name_key(self.positive) != keys[1]:
            raise InputError(
                f"Of two classes the second is the positive one, which is {classes[1]!r}, but positive (--positive) "
                f"is {self.positive!r}. Leave one of them out.",
                value=self.positive,
                available=classes,
            )

    def _name_once(self) -> None:
        """InputError where one column stands for two classes or two models."""
        for field, option, told in (("probabilities", "--prob", self.probabilities), ("confidence", "--confidence", self.confidence)):
            columns = [str(c) for c in (told.values() if isinstance(told, Dictionary) else told if isinstance(told, tuple) else ())]
            twice = next((c for c in columns if columns.count(c) > 1), None)
            if twice is None:
                continue
            said = f"{field} ({option}) names column {twice!r} twice. Name each column once."
            if isinstance(told, Dictionary):
                classes = listing([repr(str(k)) for k, c in told.items() if str(c) == twice], 4)
                said = f"Column {twice!r} is named for the classes {classes} ({field}). Name another column for each class."
            raise InputError(said, column=twice)

    def one_role_each(self) -> None:
        """InputError where one column is to say two of these: what happened, what was predicted, and with which probability."""
        taken: dict[str, tuple[int, str]] = {}
        for side, roles in enumerate((("label", "correct"), ("predicted",), ("confidence", "probabilities"))):
            for role in roles:
                told = getattr(self, role)
                for column in (told,) if isinstance(told, str) else told.values() if isinstance(told, Dictionary) else told or ():
                    first, other = taken.setdefault(column, (side, role))
                    if first != side:
                        text = f"Column {column!r} is named for two roles, {other} and {role}. Name another column for one of them."
                        raise InputError(text, column=column)

    def _as_tuple(self, name: str) -> None:
        value = getattr(self, name)
        if value is not None:
            values = (value,) if isinstance(value, str) else tuple(str(v) for v in value)
            object.__setattr__(self, name, values)

    def columns(self) -> tuple[str, ...]:
        """Every column that is named."""
        named: list[str] = []
        for name in (*_COLUMNS, "confidence", "probabilities", "groups"):
            value = getattr(self, name)
            if isinstance(value, str):
                named.append(value)
            elif value:
                named.extend(value.values() if isinstance(value, Dictionary) else value)
        return tuple(named)

    def settled(self, available: tuple[str, ...]) -> Mapping:
        """The mapping with the answer "none" as ``()``, and of several columns with commas as these, where no column has that name."""
        changes: dict[str, Any] = {
            n: () for n in (*_COLUMNS, "confidence", "probabilities", "groups") if getattr(self, n) in _NONE and "none" not in available
        }
        for name in ("confidence", "probabilities"):
            told = getattr(self, name)
            parts = next(csv.reader([told], skipinitialspace=True), []) if isinstance(told, str) and told not in available else []
            if len(parts) > 1 and set(parts) & set(available):
                changes[name] = tuple(parts)
        return replace(self, **changes) if changes else self

    def to_dict(self) -> dict[str, Any]:
        """The fields that were given, as plain data."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in plain.items()}
