"""The order of a column's groups in a profile."""

from __future__ import annotations

from collections.abc import Iterable

from calibcore.checks import sorted_names
from calibcore.inference.slices import MISSING

__all__ = ["sorted_groups"]


def sorted_groups(values: Iterable[str]) -> list[str]:
    """Numbers by size, then names by the alphabet, then "(missing)"."""
    there = list(values)
    return [*sorted_names([v for v in there if v != MISSING]), *(v for v in there if v == MISSING)]
