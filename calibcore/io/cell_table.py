"""Models as tables of the sums of their cells: what is written to a profile file, and what workers of a cluster hand over.

Every number adds up: rows of the same model, group, view and cell may be summed by anybody, and are summed when a table is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.cells import unweighted
from calibcore.errors import InputError
from calibcore.held import Held
from calibcore.inference.slices import sorted_levels
from calibcore.inside import Inside
from calibcore.predictions import Predictions
from calibcore.profile import Profile, Task
from calibcore.rowless import model_of
from calibcore.totals import Totals

__all__ = ["KEYS", "SUMS", "About", "cells_of", "empty", "models_of", "summed"]

KEYS = ("model", "column", "group", "view", "cell", "value")
_BY_OUTCOME = ("weight", "weight_squared", "near", "near_squared", "heavy_near", "heavy_near_squared")
_OF_WEIGHTS = ("weight_squared", "heavy_near", "heavy_near_squared")
_WHOLE = ("count", "rows", "events", "tied", "clipped", "excluded")
_SCORES = ("brier", "log_loss")
SUMS = (*_WHOLE, *_SCORES, *(f"{name}_{outcome}" for name in _BY_OUTCOME for outcome in (0, 1)))
TOTALS = -1  # in the place of a cell: the row holds totals
NO_CELL = -2  # the same, where a cell is one value


@dataclass(frozen=True, slots=True)
class About:
    """What the rows of a cell table do not say of a model.

    Attributes
    ----------
    name : str
    task : {"binary", "multiclass", "top_label"}
    classes : tuple of str
    source : dict
        Files, layout and roles.
    notes : tuple of str
    values : str
        Precision of the values where each is a cell of its own: "float16", "float32" or "float64".
    n_classes : int
        How many classes there are; ``classes`` may not name them, as of a profile that was written alone. 0 if not known.
    """

    name: str
    task: Task
    classes: tuple[str, ...] = ()
    source: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    values: str = "float64"
    n_classes: int = 0

    @classmethod
    def of(cls, model: Predictions) -> About:
        """Of a model."""
        one = model.profile(model.views[0])
        return cls(model.name, model.task, model.classes, dict(model.source), model.notes, one.value.dtype.name, one.n_classes)


def _schema() -> Any:
    import pyarrow as pa

    kinds = {"cell": pa.int32(), "value": pa.float64(), **dict.fromkeys(KEYS[:4], pa.string()), **dict.fromkeys(_WHOLE, pa.int64())}
    return pa.schema([(name, kinds.get(name, pa.float64())) for name in (*KEYS, *SUMS)])


def empty() -> Any:
    """A cell table without rows, whose schema all of them have."""
    return _schema().empty_table()


def cells_of(models: Iterable[Predictions]) -> Any:
    """The cell table of models, with the groups that they hold."""
    import pyarrow as pa

    parts = [part for model in models for part in _parts(model)]
    return pa.concat_tables([empty(), *parts])


def _parts(model: Predictions) -> Iterator[Any]:
    views = [v for v in model.views if not (v.startswith("class:") and "positive" in model.views)]
    for view in views:
        yield _of_profile(model, model.profile(view), (None, None))
    held = {} if model.held is None else model.held.parts
    for column, groups in held.items():
        for value, part in groups:
            for view in views:
                yield _of_profile(part.but(name=model.name), part.profile(view), (column, value))


def _of_profile(model: Predictions, profile: Profile, group: tuple[str | None, str | None]) -> Any:
    """One view of one model or group: a row a cell, and one of totals."""
    import pyarrow as pa

    if profile.clusters is not None:
        raise InputError("A profile with clusters cannot be written: which rows go together would be lost. Leave the clusters out.")
    n = len(profile)
    sums = _sums_inside(profile.inside) if profile.inside is not None else _sums_of_values(profile)
    cells = {
        "cell": np.full(n, NO_CELL) if profile.inside is None else profile.inside.cell,
        "value": profile.value.astype(np.float64) if profile.inside is None else [None] * n,
        "count": profile.count,
        **sums,
    }
    t = profile.totals
    totals: dict[str, Any] = {
        "cell": [TOTALS],
        "rows": [t.rows],
        "events": [_events(model, profile)],
        "tied": [t.tied],
        "clipped": [t.clipped],
        "excluded": [model.n_excluded],
        "brier": [t.brier],
        "log_loss": [t.log_loss],
    }
    fixed = dict(zip(KEYS[:4], (model.name, *group, profile.view), strict=True))
    return pa.concat_tables([_table(cells, fixed, n), _table(totals, fixed, 1)])


def _events(model: Predictions, profile: Profile) -> int | None:
    """Rows with the event, which weighted cells do not tell."""
    if not profile.weighted:
        return int(profile.total("positive"))
    place = {f"class:{c}": i for i, c in enumerate(model.classes)} | {"positive": 1}
    counts = model.label_counts
    return int(counts[place[profile.view]]) if profile.view in place and len(counts) > place[profile.view] else None


def _table(columns: Mapping[str, Any], fixed: Mapping[str, Any], n: int) -> Any:
    import pyarrow as pa

    def column(name: str, kind: Any) -> Any:
        if name in fixed:
            return pa.array([fixed[name]] * n, type=kind)
        return pa.array(columns[name], type=kind) if name in columns else pa.nulls(n, kind)

    schema = _schema()
    return pa.table([column(f.name, f.type) for f in schema], schema=schema)


def _sums_inside(inside: Inside) -> dict[str, NDArray[Any]]:
    names = [n for n in _BY_OUTCOME if inside.weighted or n not in _OF_WEIGHTS]
    return {f"{n}_{o}": getattr(inside, n)[:, o].astype(np.float64) for n in names for o in (0, 1)}


def _sums_of_values(profile: Profile) -> dict[str, NDArray[Any]]:
    names = ("weight", "weight_squared") if profile.weighted else ("weight",)
    right = {"weight": profile.positive, "weight_squared": profile.positive_squared}
    found = {}
    for name in names:
        found[f"{name}_1"] = right[name].astype(np.float64)
        found[f"{name}_0"] = np.asarray(getattr(profile, name) - right[name], dtype=np.float64)
    return found


def summed(table: Any) -> Any:
    """One row for each model, group, view and cell."""
    found = table.group_by(list(KEYS), use_threads=False).aggregate([(name, "sum") for name in SUMS])
    return found.rename_columns({f"{name}_sum": name for name in SUMS}).select([*KEYS, *SUMS]).cast(_schema())


def models_of(table: Any, about: Sequence[About]) -> list[Predictions]:
    """The models of a cell table, in the order of ``about``; its rows may come in any order and number.

    Raises
    ------
    InputError
        If the table holds nothing of a model.
    """
    views = _by_view(summed(table))
    found = []
    for one in about:
        mine = {k[1:]: v for k, v in views.items() if k[0] == one.name}
        if not any(k[0] is None for k in mine):
            raise InputError(f"The profile holds nothing of the model {one.name!r}.")
        parts: dict[str, dict[str, dict[str, _View]]] = {}
        for (column, value, view), cells in mine.items():
            if column is not None and value is not None:
                parts.setdefault(column, {}).setdefault(value, {})[view] = cells
        groups = {
            column: tuple((value, _model(one, values[value], {})) for value in sorted_levels(values)) for column, values in parts.items()
        }
        found.append(_model(one, {k[2]: v for k, v in mine.items() if k[0] is None}, groups))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """The cells of one view, and its totals."""

    columns: Mapping[str, NDArray[Any]]
    totals: Mapping[str, Any]

    def profile(self, view: str, about: About) -> Profile:
        t = self.totals
        totals = Totals(*(int(t[k] or 0) for k in ("rows", "tied", "clipped")), *(float(t[k] or 0.0) for k in _SCORES))
        kind: dict[str, Any] = {"view": view, "task": about.task, "n_classes": about.n_classes or len(about.classes)}
        c = self.columns
        if (c["cell"] == NO_CELL).any():
            return _exact(c, about.values, totals, kind)
        weighted = not np.isnan(c["weight_squared_0"]).any()
        names = [n for n in _BY_OUTCOME if weighted or n not in _OF_WEIGHTS]
        sums: dict[str, NDArray[Any]] = {n: np.column_stack([c[f"{n}_0"], c[f"{n}_1"]]) for n in names}
        if not weighted:
            sums["weight"] = np.rint(sums["weight"]).astype(np.int64)
        return Profile.from_inside(Inside.from_cells(c["cell"].astype(np.intp), {"count": c["count"], **sums}), totals, **kind)


def _exact(c: Mapping[str, NDArray[Any]], values: str, totals: Totals, kind: dict[str, Any]) -> Profile:
    order = np.argsort(c["value"])
    value, count, right = (c[k][order] for k in ("value", "count", "weight_1"))
    value = value.astype(values)
    if np.isnan(c["weight_squared_0"]).any():
        sums: dict[str, Any] = unweighted({"count": count, "positive": np.rint(right).astype(np.int64)})
        return Profile(value=value, **sums, totals=totals, **kind)
    weight, squared = ((c[f"{k}_0"] + c[f"{k}_1"])[order] for k in ("weight", "weight_squared"))
    weights = {"weight": weight, "positive": right, "weight_squared": squared, "positive_squared": c["weight_squared_1"][order]}
    return Profile(value=value, count=count, **weights, totals=totals, **kind)


def _by_view(table: Any) -> dict[tuple[str, str | None, str | None, str], _View]:
    names = {k: table[k].to_numpy(zero_copy_only=False) for k in KEYS[:4]}
    numbers = {k: table[k].to_numpy(zero_copy_only=False) for k in ("cell", "value", *SUMS)}
    keys = list(zip(*(names[k].tolist() for k in KEYS[:4]), strict=True))
    rows: dict[Any, list[int]] = {}
    for i, key in enumerate(keys):
        rows.setdefault(key, []).append(i)
    found = {}
    for key, where in rows.items():
        at = np.array(where)
        is_total = numbers["cell"][at] == TOTALS
        if not is_total.any():
            raise InputError(f"The profile of {key[0]!r} has no totals of the view {key[3]!r}: it is not complete.")
        if numbers["count"][at[~is_total]].sum() != numbers["rows"][at[is_total]].sum():
            raise InputError(f"The cells of {key[0]!r} hold another number of rows than its totals say: it is not complete.")
        told = {k: float(numbers[k][at[is_total][0]]) for k in (*_WHOLE, *_SCORES)}
        totals = {k: None if np.isnan(v) else v for k, v in told.items()}
        cells = {k: v[at[~is_total]] for k, v in numbers.items()}
        found[key] = _View({**cells, "count": cells["count"].astype(np.int64)}, totals)
    return found


def _model(about: About, views: Mapping[str, _View], groups: Mapping[str, Any]) -> Predictions:
    profiles = {view: cells.profile(view, about) for view, cells in views.items()}
    first = next(iter(views.values())).totals
    held = Held(profiles, groups, _label_counts(about, views))
    excluded = int(first["excluded"] or 0)
    return model_of(held, about.task, about.classes, name=about.name, n_excluded=excluded, source=about.source, notes=about.notes)


def _label_counts(about: About, views: Mapping[str, _View]) -> NDArray[np.intp]:
    """Rows of each class, where the totals tell."""
    none = np.zeros(len(about.classes), dtype=np.intp)
    if about.task == "binary" and "positive" in views:
        t = views["positive"].totals
        return none if t["events"] is None else np.array([t["rows"] - t["events"], t["events"]], dtype=np.intp)
    events = [views[f"class:{c}"].totals["events"] if f"class:{c}" in views else None for c in about.classes]
    return none if None in events or not events else np.array(events, dtype=np.intp)
