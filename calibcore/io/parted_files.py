"""Files that a cluster reads in parts: Parquet, or text whose first line names the columns and whose other lines are rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibcore.errors import InputError
from calibcore.io.containers import open_tables

__all__ = ["RAGGED", "Parted"]

_PARQUET = "PAR1"
_SEPARATORS = {"CSV": ",", "TSV": "\t", "text with semicolons": ";", "text with bars": "|"}
_WAY_OUT = "Save it as Parquet, or reduce it on one machine."
RAGGED = (
    "A row has more or fewer cells than the header, in one of the files that the cluster read in parts; it does not say which. "
    "Reduce the files on one machine (without an engine), which names the row, and mend it."
)


@dataclass(frozen=True, slots=True)
class Parted:
    """How text is read in parts.

    Attributes
    ----------
    name : str
        Of the source, for messages.
    separator : str
    columns : tuple of str
    """

    name: str
    separator: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, start: str, name: str) -> Parted | None:
        r"""How files that begin with some lines are read; None for Parquet, and InputError for what cannot be read in parts.

        Examples
        --------
        >>> Parted.of("y;p\n1;0,8\n0;0,3", "scores").separator
        ';'
        """
        if start.startswith(_PARQUET):
            return None
        if "\ufffd" in start:
            raise InputError(f"{name} is no text in UTF-8 and no Parquet file, so it cannot be read in parts. {_WAY_OUT}")
        table = open_tables(start.encode(), name)[0]
        if table.headless or table.format not in _SEPARATORS:
            what = "does not begin with the names of its columns" if table.headless else f"is {table.format}"
            raise InputError(f"{name} {what}, so it cannot be read in parts. {_WAY_OUT}")
        return cls(name, _SEPARATORS[table.format], tuple(table.columns))

    def checked(self, frame: Any) -> Any:
        """A data frame of these files; InputError where the first line is not that of the names."""
        missing = [c for c in self.columns if c not in list(frame.columns)]
        if missing:
            raise InputError(f"The first line of {self.name} does not name the column {missing[0]!r}. {_WAY_OUT}")
        return frame
