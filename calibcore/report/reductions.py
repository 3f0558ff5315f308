"""``calibcore reduce``: files, however large, to one small profile file, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calibcore.analysis import Settings
from calibcore.errors import InputError
from calibcore.io.profile_file import profile_bytes
from calibcore.io.reducing import reduce_models
from calibcore.measures.reduction import precision
from calibcore.options import REDUCING, listed, mapping_of
from calibcore.predictions import Predictions
from calibcore.progress import bar
from calibcore.remarks import about_reduction
from calibcore.report.files import write_file
from calibcore.report.tables import NONE, Table, count_text, plain

__all__ = ["reduce_files", "reduced_blocks"]


def reduce_files(files: Sequence[str], target: str | None, given: dict[str, Any]) -> list[Table | str]:
    """Write the profile file that options ask for, and say what is in it."""
    if target is None:
        raise InputError("Say where to write the profiles, such as  -o model.profile.parquet")
    if any(Path(f).exists() and Path(target).exists() and Path(f).samefile(target) for f in files):
        raise InputError(f"{target} is one of the files to read; write the profiles to another one.")
    if given.pop("labels_file") is not None or given["pair"] is not None:
        raise InputError("reduce needs files that hold their labels: it does not join a file of labels (--labels-file, --pair).")
    options = {o.to: given.pop(o.to) for o in REDUCING}
    views = tuple(v for text in options.pop("views") for v in listed(text)) or None
    with bar("Reducing") as heard:
        models = reduce_models(list(files), mapping=mapping_of(given), views=views, progress=heard, **options)
    data = profile_bytes(models)
    write_file(target, data)
    return [*reduced_blocks(models), f"Wrote {target}, {_size(len(data))}."]


def reduced_blocks(models: Sequence[Predictions]) -> list[Table | str]:
    """A table of models that are known from profiles, then what the numbers of each are worth, and notes."""
    header = ("Model", "Rows", "Left out", "Views", "Groups", "Cells")
    blocks: list[Table | str] = [Table(header, tuple(_row(m) for m in models))]
    for model in models:
        profile = model.profile(_held(model)[0])
        known = precision(profile, Settings().partition(profile))
        worth = about_reduction(profile, known) or ["Each different value is a cell of its own: every number is that of the rows."]
        blocks += [plain(f"{model.name}: {worth[0]}" if len(models) > 1 else worth[0]), *worth[1:]]
        blocks += [f"Note: {plain(note)}" for note in model.notes]
    return blocks


def _held(model: Predictions) -> list[str]:
    """The views whose profiles are kept, in their usual order; of a binary model, one stands for both classes."""
    return [v for v in model.views if not (v.startswith("class:") and "positive" in model.views)]


def _row(model: Predictions) -> tuple[str, ...]:
    views = _held(model)
    one = [v.removeprefix("class:") for v in views if v.startswith("class:")]
    named = [v.replace("_", "-") for v in views if not v.startswith("class:")]
    shown = [*named, f"{len(one)} classes" if len(one) > 3 else ", ".join(f"class:{c}" for c in one)]
    parts = {} if model.held is None else model.held.parts
    groups = ", ".join(f"{column} ({len(values)})" for column, values in parts.items())
    cells = sum(len(p.profile(v)) for p in (model, *(g for values in parts.values() for _, g in values)) for v in _held(p))
    kept = ", ".join(s for s in shown if s)
    texts = (model.name, count_text(model.n), count_text(model.n_excluded), kept, groups or NONE, count_text(cells))
    return tuple(plain(t) for t in texts)


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1000:,.0f} kB" if n_bytes < 1_000_000 else f"{n_bytes / 1_000_000:,.1f} MB"
