"""Profiles as files: a small Parquet file of cells, with what they were made of, how they are read, and by which version."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, needs_all
from calibcore.errors import InputError
from calibcore.grid import ORDER, SIZE
from calibcore.io.cell_table import KEYS, NO_CELL, SUMS, About, cells_of, models_of
from calibcore.io.parquet_columns import check_words
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.version import __version__

__all__ = ["FORMAT_NAME", "is_profile", "one_view", "profile_bytes", "read_profiles", "write_profiles"]

FORMAT_NAME = "calibcore profile"
_KEY = b"calibcore.profile"
_FORMAT = 1
_AGAIN = "Write it again, or copy it again"
_NAMES, _NUMBERS = KEYS[:4], (*KEYS[4:], *SUMS)
_TASKS, _VALUES = ("binary", "multiclass", "top_label"), ("float16", "float32", "float64")
_NOISE = 1e-9  # of a sum that is rounded
MOST_BYTES = 8 << 30  # that a file may unpack to
_GRID = f"fractions k/M up to M = {ORDER}, k/4096, 32 parts of each octave from 2^-30 to 2^-6, 1, 2 and 5 times powers of ten"


def profile_bytes(models: Sequence[Predictions]) -> bytes:
    """A profile file in memory."""
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(_table(models), sink, compression="zstd")
    return sink.getvalue()


def write_profiles(models: Sequence[Predictions], path: str | Path) -> None:
    """Write the profiles of models to a Parquet file.

    Parameters
    ----------
    models : sequence of Predictions
        Known from profiles, or with rows, of which each different value is then kept.
    path : str or path

    Raises
    ------
    InputError
        If there is no model, or one whose rows go together in clusters.

    Examples
    --------
    >>> import tempfile
    >>> model = Predictions.from_arrays([0, 1, 1], [0.2, 0.6, 0.7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_profiles([model], Path(folder) / "model.profile.parquet")
    ...     Profile.read(Path(folder) / "model.profile.parquet", "positive")
    <Profile of the view 'positive': 3 rows in 3 distinct values>
    """
    needs_all(models, Predictions, "write_profiles")
    if not models:
        raise InputError("write_profiles needs at least one model.")
    data = profile_bytes(models)
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise InputError(f"The profile cannot be written to {path}: {error.strerror or error}.") from None


def _table(models: Sequence[Predictions]) -> Any:
    about = [About.of(m) for m in models]
    said = {
        "format": _FORMAT,
        "version": __version__,
        "grid": _GRID,
        "models": [asdict(a) for a in about],
    }
    table = cells_of(models)
    return table.replace_schema_metadata({_KEY: json.dumps(said, ensure_ascii=False).encode()})


def is_profile(data: bytes | str | Path) -> bool:
    """Whether a file, by its path or its bytes, is a profile file, also one that is damaged."""
    return _said(data) is not None


def _said(data: bytes | str | Path) -> dict[str, Any] | None:
    """What a profile file says of itself; {} where that is lost, None for another file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if _start(data) != b"PAR1":
        return None
    try:
        schema = pq.read_schema(io.BytesIO(data) if isinstance(data, bytes) else data)
    except (pa.ArrowException, OSError, ValueError):
        return None
    found = schema.metadata or {}
    if _KEY not in found:
        return {} if {*KEYS, *SUMS} <= set(schema.names) else None
    try:
        said = json.loads(found[_KEY])
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _start(data: bytes | str | Path) -> bytes:
    if isinstance(data, bytes):
        return data[:4]
    try:
        with Path(data).open("rb") as file:
            return file.read(4)
    except OSError:
        return b""


def read_profiles(data: bytes | str | Path, name: str = "profile") -> list[Predictions]:
    """The models of a profile file; ``name`` is the file's, for messages.

    Raises
    ------
    InputError
        If it is none, is damaged, or was written by a later version.
    """
    import pyarrow as pa

    said = _said(data)
    if said is None:
        raise InputError(f"{name} is no profile file. Make one with Profile.write, cc.reduce or `calibcore reduce`.")
    if not said:
        raise InputError(f"{name} is a profile file without what was written about it, as other programs save it. {_AGAIN}.")
    if (said.get("format"), said.get("grid")) != (_FORMAT, _GRID):
        raise InputError(
            f"{name} was written by calibcore {said.get('version', '(unknown)')}, in a form that {__version__} does not read. "
            "Update calibcore, or write it again."
        )
    try:
        about = [_about(m, name) for m in said["models"]]
        found = models_of(_checked(data), about)
        _check_views(found)
    except InputError as error:
        raise InputError(f"{name}: {error} {_AGAIN}.") from None
    except (pa.ArrowException, OSError, ArithmeticError, LookupError, AttributeError, TypeError, ValueError):
        raise InputError(f"{name} is a damaged profile file. {_AGAIN}.") from None
    return found


def _about(said: dict[str, Any], name: str) -> About:
    """What a file says of one model; ValueError where that cannot be."""
    task, values, classes, notes = said["task"], said["values"], tuple(said["classes"]), tuple(said["notes"])
    if task not in _TASKS or values not in _VALUES or (task == "binary" and len(classes) > 2):
        raise ValueError(task)
    if not all(isinstance(text, str) for text in (said["name"], *classes, *notes)):
        raise ValueError(classes)
    return About(said["name"], task, classes, {**said["source"], "profile": name}, notes, values, int(said.get("n_classes", 0)))


def _check_views(models: Sequence[Predictions]) -> None:
    """ValueError where there is no model, or a view of one is not of its classes."""
    for model in models:
        views = {"top_label", *(f"class:{c}" for c in model.classes), *(["positive"] if len(model.classes) == 2 else [])}
        parts = [] if model.held is None else [part for groups in model.held.parts.values() for _, part in groups]
        if any(one.held is None or not set(one.held.profiles) <= views for one in (model, *parts)):
            raise ValueError(model)
    if not models:
        raise ValueError(models)


def _checked(data: bytes | str | Path) -> Any:
    """The cell table of a file; ValueError where its numbers cannot be those of cells."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(io.BytesIO(data) if isinstance(data, bytes) else data, read_dictionary=list(_NAMES))
    if file.metadata.num_rows * len(_NUMBERS) * 8 > MOST_BYTES:
        raise InputError(f"It holds {file.metadata.num_rows:,} cells, more than are read.")
    table = file.read([*KEYS, *SUMS])
    for one in _NAMES:
        check_words(one, table[one], MOST_BYTES)
    table = pa.table({n: table[n].cast(pa.string()) if n in _NAMES else table[n] for n in table.column_names})
    if not _sound({n: table[n].to_numpy().astype(np.float64) for n in _NUMBERS}):
        raise ValueError(table)
    return table


def _sound(numbers: dict[str, NDArray[np.float64]]) -> bool:
    """Whether there are rows, in cells that exist, whose sums can be those of probabilities."""
    cell, value = (numbers.pop(n) for n in KEYS[4:])
    if not len(cell) or not np.isin(cell, np.arange(NO_CELL, SIZE)).all() or not ((value >= 0) & (value <= 1))[cell == NO_CELL].all():
        return False
    near = [(numbers[f"near_{o}"], numbers[f"weight_{o}"]) for o in (0, 1)]
    few = all(np.all(np.isnan(q) | (q <= w * (0.5 + 1e-9))) for q, w in near)
    return few and all(
        np.isnan(x).all() or (np.nanmin(x) >= -_NOISE * np.nanmax(x) and np.isfinite(np.nanmax(x))) for x in numbers.values()
    )


def one_view(models: Sequence[Predictions], view: str | None, name: str) -> Profile:
    """The profile that a file with one model holds: of ``view``, of the only one, or of the top label."""
    if len(models) > 1:
        raise InputError(f"{name} holds {len(models)} models ({listing([m.name for m in models], 4)}). Read it with calibcore.read.")
    model = models[0]
    return model.profile(view or model.views[0])
