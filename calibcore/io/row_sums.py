"""Rows of models, added up by model, group and view into reduced profiles; the rows themselves are not kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibcore.checks import listing, name_key, view_name
from calibcore.errors import InputError
from calibcore.held import Held
from calibcore.inference.levels import MAX_GROUPS
from calibcore.inference.slices import levels_of, sorted_levels
from calibcore.io.apply import BOTH_SIDES, NO_ROW, Skipped
from calibcore.io.batch_notes import joined_notes
from calibcore.io.cell_table import About
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.reduction import Reduction
from calibcore.row_scores import row_totals
from calibcore.rowless import model_of
from calibcore.totals import Totals

__all__ = ["MAX_CLASS_VIEWS", "RowSums", "check_groups", "one_kind", "views_of_all"]

MAX_CLASS_VIEWS = 20  # classes that get a profile each unless asked for: one takes some hundred kilobytes
_MANY = 64  # views and groups from which on their sums are kept for the cells that hold rows only

Part = tuple[str | None, str | None]  # group column and group; of all rows, None twice
Key = tuple[Part, str]  # and view


@dataclass(slots=True, eq=False)
class _Model:
    """What was added of one model."""

    about: About
    views: tuple[str, ...]
    cells: dict[Key, Reduction] = field(default_factory=dict)
    totals: dict[Key, Totals] = field(default_factory=dict)
    ready: dict[Key, Profile] = field(default_factory=dict)
    labels: dict[Part, dict[str, int]] = field(default_factory=dict)
    groups: dict[str, dict[str, None]] = field(default_factory=dict)
    excluded: int = 0
    rows: int = 0
    notes: list[tuple[str, ...]] = field(default_factory=list)


class RowSums:
    """Reduced profiles in the making.

    Parameters
    ----------
    views : sequence of str, optional
        Views to keep; by default the top label, P(positive), and each of up to 20 classes.

    Notes
    -----
    Of a model with one column, P(positive), the top-label view is that of the positive class with its cells mirrored at ½: no
    probability is subtracted from 1, and rows are added once for both.
    """

    def __init__(self, views: Sequence[str] | None = None) -> None:
        self._views = None if views is None else tuple(views)
        self._models: dict[str, _Model] = {}
        self._skipped: list[Skipped] = []

    def add(self, model: Predictions | Skipped) -> None:
        """Add the rows of a model, and those of each of its groups."""
        if isinstance(model, Skipped):
            self._skipped.append(model)
            return
        mine = self._mine(model)
        mine.excluded += model.n_excluded
        mine.rows += model.n
        if model.notes not in mine.notes or any(c.isdigit() for n in model.notes for c in n):
            mine.notes.append(model.notes)
        self._add(mine, model, (None, None))
        for column, values in model.groups.items():
            names, code = levels_of(values)
            known = mine.groups.setdefault(column, {})
            known.update(dict.fromkeys(names))
            check_groups(column, len(known))
            for i, value in enumerate(names):
                if len(rows := np.flatnonzero(code == i)):
                    self._add(mine, model.take(rows), (column, value))

    def add_profile(self, about: About, profile: Profile, labels: dict[str, int]) -> None:
        """Add what is known of all rows of a model as a reduced profile, with the rows of each class."""
        mine = self._models.setdefault(about.name, _Model(about, self._views or usual_views(about.task, about.classes)))
        key = ((None, None), profile.view)
        mine.ready[key] = mine.ready[key] + profile if key in mine.ready else profile
        mine.rows += profile.n
        mine.notes.append(about.notes)
        _count(mine, (None, None), labels)

    def _mine(self, model: Predictions) -> _Model:
        """What there is of a model, whose batches must be of one kind."""
        about = About(model.name, model.task, model.classes, {**model.source, "sha256": None}, ())
        if model.name not in self._models:
            self._models[model.name] = _Model(about, _views(model, self._views))
        mine = self._models[model.name]
        mine.about = one_kind([mine.about, about])
        if mine.about.task == "top_label":
            mine.views = views_of_all(mine.about, mine.views)
        return mine

    def _add(self, mine: _Model, model: Predictions, part: Part) -> None:
        _count(mine, part, dict(zip(model.classes, model.label_counts.tolist(), strict=True)))
        for view in _summed(model, mine.views):
            key = (part, view)
            if key not in mine.cells:
                mine.cells[key] = Reduction(sparse=sum(len(m.cells) for m in self._models.values()) >= _MANY)
            mine.cells[key].add(*model.rows(view), model.weight)
            totals = row_totals(model, view)
            mine.totals[key] = mine.totals[key] + totals if key in mine.totals else totals

    def models(self, unused: list[Skipped] | None = None) -> list[Predictions]:
        """The models, in the order in which they came.

        One without a row that can be used is added to ``unused``; an InputError where there is no such list.
        """
        for skipped in self._skipped:
            if skipped.name not in self._models and unused is not None:
                unused.append(skipped)
                continue
            if skipped.name not in self._models:
                raise InputError(f"No row of {skipped.name!r} has both a label and a probability.", rule=NO_ROW)
            mine = self._models[skipped.name]
            mine.excluded += skipped.n_excluded
            mine.notes.append(skipped.notes)
        self._skipped = []
        return [_whole(mine) for mine in self._models.values()]


def check_groups(column: str, count: int) -> None:
    """InputError where a column has more groups than are kept."""
    if count > MAX_GROUPS:
        raise InputError(
            f"Column {column!r} has more than {MAX_GROUPS} different values; at most {MAX_GROUPS} groups are kept. Join values first.",
            column=column,
        )


def one_kind(parts: Sequence[About]) -> About:
    """What some parts of a model's rows are together; InputError where these differ in their classes."""
    kind = parts[0]
    for other in parts[1:]:
        if {kind.task, other.task} == {"binary", "top_label"}:  # confidences of two classes, some of them below 1/2
            kind = kind if kind.task == "top_label" else other
        elif (kind.task, kind.classes) != (other.task, other.classes):
            both = " and ".join(listing(classes, 6) if classes else "none" for classes in (kind.classes, other.classes))
            raise InputError(f"{kind.name} has different classes in different rows: {both}. Name all classes (--classes).")
    return kind


def views_of_all(about: About, views: Sequence[str]) -> tuple[str, ...]:
    """The views that all rows of a model have of which some tell the top label only; InputError where there is none."""
    if "top_label" not in views:
        raise InputError(f"{about.name} has confidences below 1/2, so only the view 'top_label' is known of all rows.")
    return ("top_label",)


def usual_views(task: str, classes: Sequence[str]) -> tuple[str, ...]:
    """The views that are kept unless others are asked for."""
    if task == "binary":
        return ("top_label", "positive")
    several = task == "multiclass" and len(classes) <= MAX_CLASS_VIEWS
    return ("top_label", *(f"class:{c}" for c in classes if several))


def _views(model: Predictions, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The views to keep of a model, by the names that it has for them."""
    if wanted is None:
        return usual_views(model.task, model.classes)
    known = {name_key(v.removeprefix("class:")): v for v in model.views if v.startswith("class:")}
    found = []
    for view in map(view_name, wanted):
        named = known.get(name_key(view.removeprefix("class:")), view) if view.startswith("class:") else view
        if named not in model.views:
            there = listing([repr(v) for v in model.views], 10)
            raise InputError(f"{model.name} has no view {view!r}; it has {there}.", value=view, available=model.views)
        found.append(named)
    return tuple(dict.fromkeys(found))


def one_column(model: Predictions) -> bool:
    """Whether both probabilities of a binary model come from one column."""
    columns = model.source.get("roles", {}).get("probabilities")
    return model.task == "binary" and isinstance(columns, dict) and len(columns) == 1


def _summed(model: Predictions, views: Sequence[str]) -> tuple[str, ...]:
    """The views whose rows are added; of one column, that of the positive class stands for the top label too."""
    if one_column(model) and "top_label" in views and model.rows("positive")[0].dtype.itemsize > 2:
        return tuple(dict.fromkeys("positive" if v == "top_label" else v for v in views))
    return tuple(views)


def _count(mine: _Model, part: Part, labels: dict[str, int]) -> None:
    known = mine.labels.setdefault(part, {})
    for name, count in labels.items():
        known[name] = known.get(name, 0) + count


def _whole(mine: _Model) -> Predictions:
    rows = mine.rows + mine.excluded
    notes = [tuple(n for n in notes if n != BOTH_SIDES or mine.about.task == "binary") for notes in mine.notes]
    mine.about = replace(mine.about, notes=joined_notes(notes, rows))
    groups = {c: tuple((v, _part(mine, (c, v), {})) for v in sorted_levels(values)) for c, values in mine.groups.items()}
    return _part(mine, (None, None), groups)


def _part(mine: _Model, part: Part, groups: dict[str, Any]) -> Predictions:
    about = mine.about
    kind: dict[str, Any] = {"task": about.task, "n_classes": len(about.classes)}
    found: dict[str, Profile] = {}
    for view in {key[1]: None for key in (*mine.cells, *mine.ready) if key[0] == part}:
        key = (part, view)
        sums = [mine.cells[key].profile(mine.totals[key], view=view, **kind)] if key in mine.cells else []
        sums += [mine.ready[key]] if key in mine.ready else []
        found[view] = sums[0] if len(sums) == 1 else sums[0] + sums[1]
    if "top_label" in mine.views and "top_label" not in found:
        found["top_label"] = found["positive"].folded()
    counts = mine.labels[part]
    held = Held({v: found[v] for v in mine.views}, groups, np.array([counts.get(c, 0) for c in about.classes], dtype=np.intp))
    excluded = mine.excluded if part == (None, None) else 0
    return model_of(held, about.task, about.classes, name=about.name, n_excluded=excluded, source=about.source, notes=about.notes)
