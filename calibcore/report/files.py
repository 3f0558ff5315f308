"""Files that commands write, and the samples that come with the package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from calibcore.errors import InputError

__all__ = ["samples", "write_file"]


def write_file(target: str, data: bytes) -> None:
    """Write a file; InputError where that cannot be done."""
    try:
        Path(target).write_bytes(data)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}.") from None


def samples() -> dict[str, Path]:
    """Bundled files by name: inside the installed package, or beside it in a checkout."""
    spec = importlib.util.find_spec("dashboard")
    homes = [Path(p) for p in (spec.submodule_search_locations or ())] if spec else []
    folder = next((f for home in homes for f in (home / "assets", home.parent / "assets") if f.is_dir()), None)
    if folder is None:
        raise InputError("The sample files are missing from this installation; install calibcore again.")
    return {path.stem: path for path in sorted(folder.glob("*.csv"))}
