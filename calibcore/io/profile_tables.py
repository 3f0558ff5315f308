"""Profile files among the files that are read: as a table without columns, its models, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from calibcore.checks import listing, name_key, rows_text
from calibcore.errors import InputError
from calibcore.io.columns import Table
from calibcore.io.mapping import Mapping
from calibcore.io.profile_file import FORMAT_NAME, read_profiles
from calibcore.names import told_apart
from calibcore.predictions import Predictions

if TYPE_CHECKING:
    from calibcore.held import Held

__all__ = ["about_profile", "is_of_profiles", "labels_refused", "models_in", "profile_table", "without_columns"]

_OPTIONS = {  # fields of a `Mapping` that speak of columns or rows, as the command line calls them
    "label": "--label",
    "probabilities": "--prob",
    "predicted": "--predicted",
    "confidence": "--confidence",
    "correct": "--correct",
    "model": "--model-col",
    "weight": "--weight",
    "id": "--id",
    "cluster": "--cluster",
    "time": "--time",
    "scale": "--scale",
    "pair": "--pair",
    "columns_are": "--columns-are",
    "outcome": "--outcome",
    "rows": "--rows",
    "drop_label": "--drop-label",
}
_SHOWN = 4
UNNAMED = "model"


def profile_table(data: bytes | Path, name: str) -> Table:
    """A profile file, by its bytes or its path, as a table that has models in the place of columns."""
    models = tuple(read_profiles(data, name))
    rows = max(m.n for m in models)
    return Table(name, {}, rows, FORMAT_NAME, rows_in_file=rows, models=models)


def is_of_profiles(models: Sequence[Predictions]) -> bool:
    """Whether all models of a file are known from profiles alone."""
    return all(not m.has_rows for m in models)


def without_columns(mapping: Mapping) -> Mapping:
    """What a mapping for several files says about those of them that have no columns: the groups."""
    return Mapping(groups=mapping.groups, positive=mapping.positive, classes=mapping.classes)


def labels_refused(table: Table) -> InputError:
    """That a profile and a file of labels do not go together."""
    return InputError(f"{table.name} is a profile, which counts its labels already: leave out the file of labels.")


def models_in(table: Table, mapping: Mapping) -> list[Predictions]:
    """The models of a profile file, with the groups that are asked for.

    Raises
    ------
    InputError
        If the mapping says what a profile cannot follow.
    """
    _check(table.name, mapping)
    source: dict[str, Any] = {"file": table.name, "sha256": table.sha256, "layout": FORMAT_NAME, "roles": {}}
    models = map(_with_predicted_class, table.models)
    found = [_with_groups(m, mapping.settled(tuple(m.groups)).groups, table.name) for m in models]
    for model in found:
        _check_classes(model, mapping, table.name)
    names = [m.name for m in found]
    if names == [UNNAMED]:  # nobody named it, so the file's name tells more
        names = [PurePath(table.name).name.partition(".")[0] or UNNAMED]
    return [
        m.but(name=name, source={**source, "made_from": _first_source(m)}, notes=(*m.notes, *table.notes))
        for m, name in zip(found, names, strict=True)
    ]


def _with_predicted_class(model: Predictions) -> Predictions:
    """Of two classes the predicted one follows from the probability of either, so this view need not be in the file."""
    held = model.held
    if held is None or "positive" not in held.profiles or "top_label" in held.profiles:
        return model
    top = held.profiles["positive"].folded()
    parts = {c: [(value, _with_predicted_class(m)) for value, m in groups] for c, groups in held.parts.items()}
    return model.but(held=replace(held, profiles={"top_label": top, **held.profiles}, parts=parts), n_tied=top.totals.tied)


def _first_source(model: Predictions) -> dict[str, Any]:
    """What the profile was made of; of a profile that was written again, what the first one was made of."""
    source = dict(model.source)
    return {k: v for k, v in dict(source.get("made_from", source)).items() if k != "profile"}


def _check(name: str, mapping: Mapping) -> None:
    said = [f"{field} ({option})" for field, option in _OPTIONS.items() if getattr(mapping, field) not in (None, (), "none", ("none",))]
    if said:
        raise InputError(
            f"{name} is a profile, which holds no columns and no rows, so {listing(said, _SHOWN)} cannot be followed. Leave it out, or "
            "read the prediction file."
        )


def _check_classes(model: Predictions, mapping: Mapping, name: str) -> None:
    told, has = mapping.classes, [name_key(c) for c in model.classes]
    if told is not None and [name_key(c) for c in told] != has:
        raise InputError(f"The classes of {name} are {listing(model.classes, 8)}, in this order; a profile cannot be given others.")
    positive = mapping.positive
    if positive is not None and (model.task != "binary" or name_key(positive) != has[1]):
        which = f"its positive class is {model.classes[1]!r}" if model.task == "binary" else "it has no positive class"
        raise InputError(f"{name} is a profile: {which}, and cannot be given another. Read the prediction file for that.", value=positive)


def _with_groups(model: Predictions, wanted: tuple[str, ...] | None, name: str) -> Predictions:
    """The model with the groups of some columns; of all that the profile holds where none are named."""
    if wanted is None or model.held is None:
        return model
    missing = next((c for c in wanted if c not in model.groups), None)
    if missing is not None:
        there = f"it holds those of {listing([repr(c) for c in model.groups], 8)}" if model.groups else "it holds none"
        raise InputError(
            f"The profile {name} was made without the groups of {missing!r}; {there}. Other groups need the prediction file.",
            column=missing,
            available=tuple(model.groups),
        )
    held: Held = replace(model.held, parts={c: model.held.parts[c] for c in wanted})
    return model.but(held=held, groups={c: model.groups[c] for c in wanted})


def about_profile(table: Table, mapping: Mapping) -> dict[str, Any]:
    """The fields of a `Layout` that say what is in a profile file, or why it cannot be read as the mapping says."""
    try:
        models = models_in(table, mapping)
    except InputError as error:
        return {"problem": str(error)}
    names = told_apart([m.name for m in models])
    classes = models[0].classes if len({m.classes for m in models}) == 1 else ()
    notes = tuple(dict.fromkeys(n for m in models for n in m.notes))
    return {"layout": FORMAT_NAME, "sentence": _sentence(models, names), "models": len(models), "classes": classes, "notes": notes}


def _sentence(models: Sequence[Predictions], names: Sequence[str]) -> str:
    """Rows, views, groups and models: "Profile of 20,000 rows: views top label and positive; groups by site (3); model a."."""
    sizes = list(dict.fromkeys(rows_text(m.n) for m in models))
    views = list(dict.fromkeys(v for m in models for v in _views(m)))
    columns: dict[str, int] = {}
    for m in models:
        columns |= {c: max(len(v), columns.get(c, 0)) for c, v in m.groups.items()}
    groups = f"groups by {listing([f'{c} ({n})' for c, n in columns.items()], 8)}" if columns else "no groups"
    who = f"{'model' if len(names) == 1 else 'models'} {listing(names, 8)}"
    what = f"{'view' if len(views) == 1 else 'views'} {listing(views, 4)}"
    return f"Profile of {listing(sizes, 3)}: {what}; {groups}; {who}."


def _views(model: Predictions) -> list[str]:
    """The views of a model by name; those of classes counted."""
    assert model.held is not None
    names = {"top_label": "top label", "positive": "positive class"}
    ones = [v for v in model.held.profiles if v.startswith("class:")]
    found = [names[v] for v in model.views if v in names]
    if not ones:
        return found
    return [*found, ones[0].replace("class:", "class ") if len(ones) == 1 else f"each of {len(ones):,} classes"]
