"""Rows that come in batches, however many, become reduced profiles: the batches of files, data frames and clusters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.held import Held
from calibcore.inference.levels import MAX_GROUPS
from calibcore.inference.slices import levels_of
from calibcore.io.apply import predictions_of
from calibcore.io.cell_groups import sorted_groups
from calibcore.io.cell_table import About
from calibcore.io.columns import Table
from calibcore.io.containers import frame_tables
from calibcore.io.layouts import read_layout
from calibcore.io.mapping import Mapping
from calibcore.io.reading import Reading
from calibcore.predictions import Predictions
from calibcore.reduction import Reduction
from calibcore.row_scores import row_totals
from calibcore.rowless import model_of
from calibcore.totals import Totals

__all__ = ["MAX_CLASS_VIEWS", "Plan", "reduced"]

MAX_CLASS_VIEWS = 20  # classes that get a profile each unless asked for: one takes some hundred kilobytes


@dataclass(frozen=True, slots=True)
class Plan:
    """How the rows of every batch are read; found once, from a sample, and the same for all.

    It can be pickled, so that the workers of a cluster read their batches as the driver has decided.

    Attributes
    ----------
    name : str
        Of the source, for messages and for the model where nothing names it.
    mapping : Mapping
    reading : Reading
    about : tuple of About
        The models of the sample.
    columns : tuple of str
        Columns that must be read.
    views : tuple of str or None
        Views to keep; None for the usual ones.
    derived : bool
        Whether columns are made of others, so that each batch is laid out by itself.
    """

    name: str
    mapping: Mapping
    reading: Reading
    about: tuple[About, ...]
    columns: tuple[str, ...]
    views: tuple[str, ...] | None = None
    derived: bool = False

    @classmethod
    def of(cls, sample: Any, mapping: Mapping | None = None, *, name: str = "data", views: Sequence[str] | None = None) -> Plan:
        """The plan for rows such as those of ``sample``, an Arrow table with the same columns.

        Raises
        ------
        AmbiguousLayout
            If the sample leaves something open that must not be guessed.
        InputError
            If it holds no predictions, or rows go together in clusters, which a reduced profile does not know.
        """
        mapping = mapping or Mapping()
        if mapping.cluster:
            raise InputError("A reduced profile does not know which rows go together: leave out the cluster column, or read the rows.")
        table = _table(sample, name)
        mapping = replace(mapping, time=(), id=()).settled(tuple(table.columns))
        whole, reading = read_layout(table, mapping)
        found = predictions_of(whole, replace(reading, groups=()), replace(mapping, missing="drop"))
        used = [c for c in _used(reading) if c in table.columns]
        derived = any(c not in table.columns for c in _used(reading))
        about = tuple(About(p.name, p.task, p.classes, {**p.source, "sha256": None}, reading.notes) for p in found)
        return cls(name, mapping, reading, about, tuple(table.columns) if derived else tuple(used), _kept(views), derived)

    def models(self, batch: Any, first_row: int) -> list[Predictions]:
        """The models of a batch of rows, the first of which is row ``first_row`` (from 0) of the source."""
        table = _table(batch, self.name)
        try:
            return predictions_of(*self._laid_out(table), self.mapping)
        except InputError as error:
            text = error.questions[0].text if isinstance(error, AmbiguousLayout) else str(error)
            where = f"In rows {first_row + 1:,} to {first_row + len(batch):,} of {self.name}, counted from the first of these"
            raise InputError(f"{where}: {text}") from None

    def _laid_out(self, table: Table) -> tuple[Table, Reading]:
        if not self.derived:
            return table, self.reading
        whole, reading = read_layout(table, self.mapping)
        if (reading.form, reading.units, reading.classes) != (self.reading.form, self.reading.units, self.reading.classes):
            raise InputError("The columns are not laid out as in the first rows. Name them (Mapping, or options such as --label).")
        return whole, reading


def _kept(views: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if views is None else tuple(views)


def _table(batch: Any, name: str) -> Table:
    import pyarrow as pa

    whole = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
    return frame_tables(whole, name)[0]


def _used(reading: Reading) -> list[str]:
    """Columns that a reading needs."""
    ones = (reading.predicted, reading.correct, reading.model, reading.weight, reading.rows.column if reading.rows else None)
    units = [c for u in reading.units for c in (*u.columns, u.label)]
    return list(dict.fromkeys(c for c in (*units, *ones, *reading.groups) if c))


Key = tuple[str, str | None, str | None, str]  # model, group column, group, view


@dataclass(slots=True, eq=False)
class _Sums:
    """What was added so far."""

    cells: dict[Key, Reduction] = field(default_factory=dict)
    totals: dict[Key, Totals] = field(default_factory=dict)
    labels: dict[tuple[str, str | None, str | None], NDArray[np.intp]] = field(default_factory=dict)
    excluded: dict[str, int] = field(default_factory=dict)
    about: dict[str, About] = field(default_factory=dict)

    def add(self, model: Predictions, views: Sequence[str]) -> None:
        """Add the rows of a model, and those of each of its groups."""
        self.about.setdefault(model.name, About(model.name, model.task, model.classes, {**model.source, "sha256": None}, model.notes))
        self.excluded[model.name] = self.excluded.get(model.name, 0) + model.n_excluded
        self._add(model, views, None, None)
        for column, values in model.groups.items():
            names, code = levels_of(values)
            for i, value in enumerate(names):
                rows = np.flatnonzero(code == i)
                if len(rows):
                    self._add(model.take(rows), views, column, value)

    def _add(self, model: Predictions, views: Sequence[str], column: str | None, value: str | None) -> None:
        part = (model.name, column, value)
        self.labels[part] = self.labels.get(part, 0) + model.label_counts
        for view in views:
            key = (*part, view)
            self.cells.setdefault(key, Reduction()).add(*model.rows(view), model.weight)
            totals = row_totals(model, view)
            self.totals[key] = self.totals[key] + totals if key in self.totals else totals


def usual_views(task: str, classes: Sequence[str]) -> tuple[str, ...]:
    """The views that are kept unless others are asked for."""
    if task == "binary":
        return ("top_label", "positive")
    several = task == "multiclass" and len(classes) <= MAX_CLASS_VIEWS
    return ("top_label", *(f"class:{c}" for c in classes if several))


def reduced(plan: Plan, batches: Iterable[Any]) -> list[Predictions]:
    """The models in batches of rows, each known from reduced profiles.

    Parameters
    ----------
    plan : Plan
    batches : iterable of Arrow record batches
        With at least the columns of the plan.

    Raises
    ------
    InputError
        For rows that cannot be used, saying which.
    """
    sums, row = _Sums(), 0
    for batch in batches:
        if len(batch):
            for model in plan.models(batch, row):
                sums.add(model, plan.views or usual_views(model.task, model.classes))
        row += len(batch)
    if not sums.about:
        raise InputError(f"{plan.name} holds no rows.")
    return [_model(sums, about) for about in sums.about.values()]


def _model(sums: _Sums, about: About) -> Predictions:
    groups: dict[str, list[tuple[str, Predictions]]] = {}
    for column, value in _groups(sums, about):
        groups.setdefault(column, []).append((value, _part(sums, about, column, value, {})))
    return _part(sums, about, None, None, groups)


def _groups(sums: _Sums, about: About) -> Iterator[tuple[str, str]]:
    found: dict[str, set[str]] = {}
    for name, column, value, _ in sums.cells:
        if name == about.name and column is not None and value is not None:
            found.setdefault(column, set()).add(value)
    for column, values in found.items():
        if len(values) > MAX_GROUPS:
            raise InputError(
                f"Column {column!r} has {len(values):,} different values; at most {MAX_GROUPS} groups are kept. Join values first.",
                column=column,
            )
        yield from ((column, v) for v in sorted_groups(values))


def _part(sums: _Sums, about: About, column: str | None, value: str | None, groups: dict[str, Any]) -> Predictions:
    kind: dict[str, Any] = {"task": about.task, "n_classes": len(about.classes)}
    keys = [k for k in sums.cells if k[:3] == (about.name, column, value)]
    profiles = {k[3]: sums.cells[k].profile(sums.totals[k], view=k[3], **kind) for k in keys}
    held = Held(profiles, groups, sums.labels[(about.name, column, value)])
    excluded = sums.excluded[about.name] if column is None else 0
    return model_of(held, about.task, about.classes, name=about.name, n_excluded=excluded, source=about.source, notes=about.notes)
