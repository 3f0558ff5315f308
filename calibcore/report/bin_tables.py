"""Tables of bins as a page shows them: the empty bins at the start in one line; files keep them all."""

from __future__ import annotations

from calibcore.plot.marks import Table

__all__ = ["folded"]

_EMPTY = ("0", "0%")  # rows and their share
_FEWEST = 2  # empty bins that are worth folding


def folded(table: Table) -> tuple[Table, str | None]:
    """A table of bins without the empty ones at its start, and how many were left out; any other table as it is.

    Parameters
    ----------
    table : Table
        Of `calibcore.plot.frame.bin_table`, or any other.

    Examples
    --------
    >>> head = ("Bin", "Rows", "Share", "Says")
    >>> shown, line = folded(Table(head, (("0–25%", "0", "0%", "–"), ("25–50%", "0", "0%", "–"), ("50–75%", "9", "100%", "61.0%"))))
    >>> len(shown.rows), line
    (1, '2 empty bins below 50% are left out.')
    """
    n = next((i for i, row in enumerate(table.rows) if not _empty(row)), 0)
    if n < _FEWEST:
        return table, None
    end = table.rows[n - 1][0].rpartition("–")[2]
    return Table(table.header, table.rows[n:]), f"{n} empty bins below {end} are left out."


def _empty(row: tuple[str, ...]) -> bool:
    return len(row) > len(_EMPTY) and row[1:3] == _EMPTY and set(row[3:]) == {"–"}
