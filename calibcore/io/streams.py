"""Rows that come in batches, however many, become reduced profiles: the batches of files, data frames and clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.apply import NO_ROW, Skipped, batch_predictions, predictions_of
from calibcore.io.batch_notes import counted_on
from calibcore.io.cell_table import About
from calibcore.io.columns import Table
from calibcore.io.containers import frame_tables
from calibcore.io.layouts import read_layout
from calibcore.io.mapping import Mapping
from calibcore.io.ordinary import Ordinary
from calibcore.io.reading import Reading
from calibcore.io.row_sums import MAX_CLASS_VIEWS, RowSums
from calibcore.io.scales import percent_doubt
from calibcore.io.tally import Tally
from calibcore.plain_rows import PlainRows
from calibcore.predictions import Predictions

__all__ = ["MANY_ROWS_A_CASE", "MAX_CLASS_VIEWS", "Plan", "reduced"]

NO_CLUSTERS = "A reduced profile does not know which rows go together: leave out the cluster column, or read the rows."
_ENOUGH_TO_TELL = 50  # rows, from which it is strange that hardly any is above 1 percent
MANY_ROWS_A_CASE = "one row a case"  # the rule that a long form breaks


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
        The models of the sample; none where it holds a row that cannot be used.
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
    def of(
        cls,
        sample: Any,
        mapping: Mapping | None = None,
        *,
        name: str = "data",
        views: Sequence[str] | None = None,
        index: tuple[str, ...] = (),
    ) -> Plan:
        """The plan for rows such as those of ``sample``, an Arrow table with the same columns; ``index`` are those of an index.

        Raises
        ------
        AmbiguousLayout
            If the sample leaves something open that must not be guessed.
        InputError
            If it holds no predictions, or rows go together in clusters, which a reduced profile does not know.
        """
        table = replace(_table(sample, name), index=index)
        mapping = replace(mapping or Mapping(), time=(), id=()).settled(tuple(table.columns))
        if mapping.cluster:
            raise InputError(NO_CLUSTERS)
        tolerant = replace(mapping, missing="drop")
        whole, reading = read_layout(table, tolerant)
        if whole.n_rows != table.n_rows:
            raise InputError(
                "Several rows make one case, and batches could part them. Read the rows whole (calibcore.read), or give each case a row.",
                rule=MANY_ROWS_A_CASE,
            )
        used = [c for c in _used(reading) if c in table.columns]
        derived = any(whole.column(c) is not table.columns.get(c) for c in _used(reading))
        found = _models_of(whole, replace(reading, groups=()), tolerant)
        about = tuple(About(p.name, p.task, p.classes, {**p.source, "sha256": None}, reading.notes) for p in found)
        return cls(name, mapping, reading, about, tuple(table.columns) if derived else tuple(used), _kept(views), derived)

    def models(self, batch: Any, tally: Tally, *, part: bool = True) -> list[Predictions | Skipped]:
        """The models of a batch of rows.

        Parameters
        ----------
        batch : Arrow record batch or table
        tally : Tally
            Of the rows before it; missing values and weights of the batch are added.
        part : bool
            Whether these are not all rows before it, but those of a worker's share.

        Raises
        ------
        AmbiguousLayout
            For values that may be on another scale than those of the sample.
        InputError
            For rows that cannot be used; which, is counted from the first row of the source or share.
        """
        table, first_row = _table(batch, self.name), tally.before or 0
        try:
            whole, reading = self._laid_out(table)
            found = batch_predictions(whole, reading, self.mapping, tally)
            if reading.scale == "percent" and self.mapping.scale is None and len(batch) >= _ENOUGH_TO_TELL:
                _one_scale(whole, reading)
        except AmbiguousLayout as asked:
            where = self._where(first_row, len(batch), part=part)
            raise AmbiguousLayout([replace(q, text=f"{where}: {counted_on(q.text, first_row)}") for q in asked.questions]) from None
        except InputError as error:
            text = f"{self._where(first_row, len(batch), part=part)}: {counted_on(str(error), first_row)}"
            row = None if error.row is None else error.row + first_row
            about = {"rule": error.rule, "value": error.value, "column": error.column, "available": error.available}
            raise InputError(text, row=row, **about) from None
        for model in found:
            if isinstance(model, Predictions):
                tally.weigh(model)
        return found

    def _where(self, first_row: int, count: int, *, part: bool) -> str:
        share = ", counted within a worker's share" if part else ""
        return f"In rows {first_row + 1:,} to {first_row + count:,} of {self.name}{share}"

    def _laid_out(self, table: Table) -> tuple[Table, Reading]:
        if not self.derived:
            return table, self.reading
        whole, reading = read_layout(table, self.mapping)
        if (reading.form, reading.units, reading.classes) != (self.reading.form, self.reading.units, self.reading.classes):
            raise InputError("The columns are not laid out as in the first rows. Name them (Mapping, or options such as --label).")
        return whole, reading


def _models_of(table: Table, reading: Reading, mapping: Mapping) -> list[Predictions]:
    """The models of a sample; none where a row cannot be used, which is told with its place when it is met among all."""
    try:
        return predictions_of(table, reading, mapping)
    except InputError as error:
        if error.row is None and error.rule != NO_ROW:
            raise
        return []


def _one_scale(table: Table, reading: Reading) -> None:
    """Ask where the rows of a batch could be fractions, though others, by which the scale was told, are percent."""
    for unit in reading.units:
        if len(unit.columns) == 1 and (doubt := percent_doubt(table.column(unit.columns[0]))):
            raise doubt


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


def reduced(
    plan: Plan,
    batches: Iterable[Any],
    *,
    part: bool = True,
    expected: int = 0,
    unused: list[Skipped] | None = None,
    tally: Tally | None = None,
) -> list[Predictions]:
    """The models in batches of rows, each known from reduced profiles.

    Parameters
    ----------
    plan : Plan
    batches : iterable of Arrow record batches
        With at least the columns of the plan.
    part : bool
        Whether they are a worker's share, within which errors count rows, and not the source from its first row on.
    expected : int
        How many rows there will be, as far as this is known.
    unused : list, optional
        Takes the models without a row that can be used, which otherwise are an error.
    tally : Tally, optional
        Takes what is missing and the weights, which otherwise are checked.

    Raises
    ------
    AmbiguousLayout
        For missing values, unless the mapping says what to do with them.
    InputError
        For rows that cannot be used, saying which.
    """
    sums, row, ordinary, counted = RowSums(plan.views), 0, Ordinary.of(plan), tally or Tally()
    with PlainRows(expected) as plain:
        for batch in batches:
            counted.before = row
            rows = ordinary.rows(batch) if ordinary and len(batch) else None
            if rows and plain.add(*rows):
                counted.count(plan.about[0].name, len(batch))
            elif len(batch):
                for model in plan.models(batch, counted, part=part):
                    sums.add(model)
            row += len(batch)
        if tally is None:
            counted.check(plan.name)
        if not row:
            raise InputError(f"{plan.name} holds no rows.")
        if ordinary and plain.rows:
            about, happened = plan.about[0], plain.events
            profile = plain.profile(ordinary.view, about.task, len(about.classes))
            labels = dict(zip(about.classes, (plain.rows - happened, happened), strict=False)) if ordinary.view == "positive" else {}
            sums.add_profile(about, profile, labels)
    return sums.models(unused)
