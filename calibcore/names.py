"""Names that tell models apart."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["told_apart"]


def told_apart(names: Sequence[str]) -> list[str]:
    """The names, with " (2)", " (3)" behind those that repeat; a name that somebody wrote is left to the first who has it.

    Examples
    --------
    >>> told_apart(["a", "a", "a (2)", "b"])
    ['a', 'a (3)', 'a (2)', 'b']
    """
    taken, first, found = set(names), set[str](), []
    for name in names:
        new, number = name, 2
        while new in first or (new != name and new in taken):
            new, number = f"{name} ({number})", number + 1
        first.add(new)
        found.append(new)
    return found
