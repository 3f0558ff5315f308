"""What is said about several files at once, and what of it each one hears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibcore.io.mapping import Mapping
from calibcore.io.profile_file import is_profile
from calibcore.io.profile_tables import without_columns

__all__ = ["Told"]


@dataclass(frozen=True, slots=True)
class Told:
    """A mapping and a file of labels for several files.

    Attributes
    ----------
    mapping : Mapping
    labels : str, optional
    files : sequence of str
        Profiles among other files do not hear what is said about columns and labels; where all are profiles, they refuse it.
    """

    mapping: Mapping
    labels: str | None
    files: Sequence[str]

    def to(self, path: str) -> dict[str, Any]:
        """The arguments ``labels`` and ``mapping`` of `calibcore.read` for one of the files."""
        if is_profile(path) and not all(map(is_profile, self.files)):
            return {"labels": None, "mapping": without_columns(self.mapping)}
        return {"labels": None if self.labels is None else Path(self.labels), "mapping": self.mapping}
