"""What the workers of a cluster hand over, the cells of their rows or why there are none, and what the driver makes of it all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any

from calibcore.errors import AmbiguousLayout, InputError, Question
from calibcore.io.apply import BOTH_SIDES, NO_ROW, Skipped
from calibcore.io.batch_notes import joined_notes
from calibcore.io.cell_table import About, cells_of, empty, models_of
from calibcore.io.containers import named
from calibcore.io.labels import NO_CLASS
from calibcore.io.mapping import Mapping
from calibcore.io.row_sums import check_groups, one_kind, views_of_all
from calibcore.io.sources import BATCH, Source
from calibcore.io.streams import Plan, reduced
from calibcore.io.tally import Tally
from calibcore.predictions import Predictions

__all__ = ["EACH", "SAMPLE", "Clustered", "handed_over", "joined"]

SAMPLE = 20_000  # rows that tell how all are read
EACH = 10_000  # values of a column that are looked for
_MESSAGE = -3  # in the place of a cell: the row holds words
_ABOUT, _NOTES, _SKIPPED, _TALLY, _FAULT = "about", "notes", "skipped", "tally", "fault"


def joined(batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches put together to tables of some hundred thousand rows, since each costs a pass over all cells."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= BATCH:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def handed_over(plan: Plan, batches: Iterable[Any], share: int) -> Any:
    """The cell table of a worker's share of the rows, with what is said of its models; without rows if the share has none.

    A fault of the rows is handed over as well: it would come to the driver as a traceback otherwise, after several attempts.
    """
    import pyarrow as pa

    filled = (b for b in batches if len(b))
    first = next(filled, None)
    if first is None:
        return empty()
    skipped, tally = list[Skipped](), Tally()
    try:
        models = reduced(plan, chain([first], filled), unused=skipped, tally=tally)
    except InputError as error:
        return _message(_FAULT, "", _told(error), share)
    words = [_message(_ABOUT, m.name, asdict(replace(About.of(m), notes=()))) for m in models]
    words += [_message(_NOTES, m.name, list(m.notes), share if _counts(m.notes) else None) for m in models if m.notes]
    words += [_message(_SKIPPED, s.name, list(s.notes), share, excluded=s.n_excluded) for s in skipped]
    words.append(_message(_TALLY, "", asdict(tally), share))
    return pa.concat_tables([cells_of(models), *words])


def _counts(notes: Sequence[str]) -> bool:
    """Whether notes may hold counts, so that equal ones of two shares are two."""
    return any(c.isdigit() for n in notes for c in n)


def _message(kind: str, model: str, content: Any, share: int | None = None, **sums: int) -> Any:
    """Words as a row of a cell table, which summing leaves as they are; without ``share``, equal ones become one."""
    import pyarrow as pa

    text = json.dumps([share, content], sort_keys=True, ensure_ascii=False, default=str)
    row = {"model": model, "group": text, "view": kind, "cell": _MESSAGE, **sums}
    return pa.Table.from_pylist([row], schema=empty().schema)


def _told(error: InputError) -> dict[str, Any]:
    questions = [asdict(q) for q in error.questions] if isinstance(error, AmbiguousLayout) else []
    about = {"rule": error.rule, "value": error.value, "row": error.row, "column": error.column, "available": error.available}
    return {"text": str(error), "questions": questions, **about}


@dataclass(frozen=True, slots=True)
class Clustered:
    """Rows on a cluster.

    Attributes
    ----------
    sample : Arrow table
        Some of the rows, from as many places as possible.
    cells : callable
        Plan → the rows of all cell tables that the workers hand over, summed or not, in any order, as one Arrow table.
    with_each : callable
        Column → a row with each of its values, as an Arrow table with the columns of the sample.
    """

    sample: Any
    cells: Callable[[Plan], Any]
    with_each: Callable[[str], Any]

    def models(self, mapping: Mapping | None, name: str, views: Sequence[str] | None) -> list[Predictions]:
        """The models of all rows.

        Where the sample lacks values that tell how rows are read, such as a rare label, it gets them and is looked at again.

        Parameters
        ----------
        mapping : Mapping or None
            What the columns mean, as far as it should not be detected.
        name : str
            For messages, and of the model where nothing names it.
        views : sequence of str or None
            Views to keep, instead of the usual ones.

        Raises
        ------
        AmbiguousLayout
            If the sample leaves something open that must not be guessed, or rows lack something.
        InputError
            For rows that a worker could not use: what the first of them says.
        """
        told: dict[str, Any] = {"mapping": mapping, "name": name, "views": views}
        mine = self
        try:
            plan = mine.plan(**told)
        except InputError:
            lacking = Source(name, mine.sample, lambda *_: ()).constant()
            if not lacking:
                raise
            mine = mine.wider(lacking)
            plan = mine.plan(**told)
        try:
            return _received(plan, mine.cells(plan))
        except InputError as error:
            if error.rule != NO_CLASS or error.column not in mine.sample.column_names:
                raise
            mine = mine.wider([str(error.column)])
        plan = mine.plan(**told)
        return _received(plan, mine.cells(plan))

    def plan(self, name: str, **told: Any) -> Plan:
        """How the rows are read, by the sample."""
        try:
            return Plan.of(self.sample, name=name, **told)
        except AmbiguousLayout as asked:
            sampled = Source(name, self.sample, lambda *_: ())
            raise AmbiguousLayout([replace(q, text=sampled.told(q.text)) for q in asked.questions], source=name) from None
        except InputError as error:
            if error.row is None:
                raise named(error, name) from None
            about = {"rule": error.rule, "value": error.value, "column": error.column, "available": error.available}
            raise InputError(f"{name}, in a sample of {len(self.sample):,} rows from all over it: {error}", **about) from None

    def wider(self, columns: Sequence[str]) -> Clustered:
        """With a row for each value of some columns."""
        import pyarrow as pa

        more = [self.with_each(c) for c in columns]
        return replace(self, sample=pa.concat_tables([self.sample, *more], promote_options="permissive"))


@dataclass(slots=True)
class _Said:
    """The words of all shares, by model."""

    about: dict[str, list[About]] = field(default_factory=dict)
    notes: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    excluded: dict[str, int] = field(default_factory=dict)
    tallies: dict[int, Tally] = field(default_factory=dict)
    faults: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    @classmethod
    def of(cls, messages: Any) -> _Said:
        said = cls()
        for row in messages.select(["model", "view", "group", "excluded"]).to_pylist():
            kind, name = row["view"], row["model"]
            share, content = json.loads(row["group"])
            if kind == _FAULT:
                said.faults.append((share, content))
            elif kind == _TALLY:
                said.tallies[share] = Tally(**content)
            elif kind == _ABOUT:
                said.about.setdefault(name, []).append(About(**{**content, "classes": tuple(content["classes"]), "notes": ()}))
            else:
                said.notes.setdefault(name, []).append(tuple(content))
                said.excluded[name] = said.excluded.get(name, 0) + int(row["excluded"] or 0)
        return said

    def check(self, source: str) -> None:
        """The fault of the first share that has one, or of all shares together."""
        if not self.faults:
            Tally.of_shares(tally for _, tally in sorted(self.tallies.items())).check(source)
            return
        _, fault = min(self.faults, key=lambda f: f[0])
        text, questions = fault.pop("text"), fault.pop("questions")
        if questions:
            raise AmbiguousLayout([Question(**{**q, "options": tuple(q["options"])}) for q in questions])
        raise InputError(text, **fault)

    def kinds(self) -> dict[str, About]:
        """One `About` a model, by name."""
        return {name: one_kind(self.about[name]) for name in sorted(self.about)}


def _received(plan: Plan, table: Any) -> list[Predictions]:
    """The models of what all workers handed over: those of the sample first, then by name, since shares come in any order."""
    import pyarrow.compute as pc

    is_message = pc.equal(table["cell"], _MESSAGE)
    said = _Said.of(table.filter(is_message))
    said.check(plan.name)
    kinds = said.kinds()
    if unused := [name for name in said.notes if name not in kinds]:
        raise InputError(f"No row of {unused[0]!r} has both a label and a probability.", rule=NO_ROW)
    if not kinds:
        raise InputError(f"{plan.name} holds no rows.")
    cells = _of_kinds(table.filter(pc.invert(is_message)), said.about, kinds)
    first = [a.name for a in plan.about if a.name in kinds]
    models = models_of(cells, [kinds[name] for name in dict.fromkeys([*first, *kinds])])
    return [_whole(m, said) for m in models]


def _of_kinds(cells: Any, about: dict[str, list[About]], kinds: dict[str, About]) -> Any:
    """The cells without views that only some shares have; InputError where a column has too many groups."""
    import pyarrow.compute as pc

    for name, kind in kinds.items():
        if any(a.task != kind.task for a in about[name]):
            mine = pc.equal(cells["model"], name)
            (view,) = views_of_all(kind, cells.filter(mine)["view"].unique().to_pylist())
            cells = cells.filter(pc.or_(pc.invert(mine), pc.equal(cells["view"], view)))
    found = cells.select(["model", "column", "group"]).group_by(["model", "column"]).aggregate([("group", "count_distinct")])
    for column, count in zip(found["column"].to_pylist(), found["group_count_distinct"].to_pylist(), strict=True):
        if column is not None:
            check_groups(column, count)
    return cells


def _whole(model: Predictions, said: _Said) -> Predictions:
    """A model with the words of all shares on it."""
    excluded = model.n_excluded + said.excluded.get(model.name, 0)
    notes = [tuple(n for n in notes if n != BOTH_SIDES or model.task == "binary") for notes in said.notes.get(model.name, [])]
    return model.but(n_excluded=excluded, notes=joined_notes(notes, model.n + excluded))
