"""Profiles as files: a small Parquet file of cells, with what they were made of, how they are read, and by which version."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from calibcore.checks import listing, needs_all
from calibcore.errors import InputError
from calibcore.grid import ORDER
from calibcore.io.cell_table import About, cells_of, models_of
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.version import __version__

__all__ = ["is_profile", "one_view", "profile_bytes", "read_profiles", "write_profiles"]

_KEY = b"calibcore.profile"
_FORMAT = 1
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
    Path(path).write_bytes(profile_bytes(models))


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
    """Whether a file, by its path or its bytes, is a profile file."""
    return _said(data) is not None


def _said(data: bytes | str | Path) -> dict[str, Any] | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if _start(data) != b"PAR1":
        return None
    try:
        found = pq.read_schema(io.BytesIO(data) if isinstance(data, bytes) else data).metadata
        return None if not found or _KEY not in found else json.loads(found[_KEY])
    except (pa.ArrowException, OSError, ValueError):
        return None


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
    import pyarrow.parquet as pq

    said = _said(data)
    if said is None:
        raise InputError(f"{name} is no profile file. Make one with Profile.write, cc.reduce or `calibcore reduce`.")
    if said.get("format") != _FORMAT:
        raise InputError(
            f"{name} was written by calibcore {said.get('version', '(unknown)')}, in a form that {__version__} does not read. "
            "Update calibcore."
        )
    try:
        table = pq.read_table(io.BytesIO(data) if isinstance(data, bytes) else data)
        about = [
            About(m["name"], m["task"], tuple(m["classes"]), {**m["source"], "profile": name}, tuple(m["notes"]), m["values"])
            for m in said["models"]
        ]
        return models_of(table, about)
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} is a damaged profile file. Write it again, or copy it again.") from None


def one_view(models: Sequence[Predictions], view: str | None, name: str) -> Profile:
    """The profile that a file with one model holds: of ``view``, of the only one, or of the top label."""
    if len(models) > 1:
        raise InputError(f"{name} holds {len(models)} models ({listing([m.name for m in models], 4)}). Read it with calibcore.read.")
    model = models[0]
    return model.profile(view or model.views[0])
