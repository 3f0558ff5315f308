"""Texts that pair classes with numbers, as maps are printed: ``{a=0.1, b=0.9}``, ``{0: 0.1, 1: 0.9}``, ``a -> 0.1``, ``1:0.1 2:0.9``."""

from __future__ import annotations

import re

__all__ = ["paired", "without_types"]

_TYPED = re.compile(r"\b(?:np\.|numpy\.|tensor(?=\())\w*\(([^()\[\]'\"]*|'[^']*'|\"[^\"]*\")\)")
_TRUTH = re.compile(r"\b(?:np|numpy)\.(True|False)_")
_AROUND = re.compile(r"^(?:[A-Za-z_.]+\()?[\[({]?\s*(.*?)\s*[\])}]?\)?$", re.DOTALL)
_PAIR = re.compile(
    r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s,;|{}\[\]"'=][^,;|{}\[\]"'=\n]{0,200}?))"""
    r"\s*(?:->|=>|[=:])\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:nan|inf)|None|null)\s*(?:[,;|]|(?<=\s)|$)",
    re.IGNORECASE,
)
_ABSENT = ("none", "null", "nan")


def without_types(cell: str) -> str:
    """A text without the types that NumPy and PyTorch print about single values: ``np.float64(0.1)`` becomes ``0.1``."""
    return _TYPED.sub(r"\1", _TRUTH.sub(r"\1", cell))


def paired(cell: str) -> list[tuple[str, float | None]] | None:
    """The classes of a text and their numbers, in its order; None unless it is nothing but two or more such pairs."""
    inner = _AROUND.sub(r"\1", cell.strip())
    pairs: list[tuple[str, float | None]] = []
    at = 0
    while at < len(inner):
        found = _PAIR.match(inner, at)
        if found is None or found.end() == at:
            return None
        name = next(g for g in found.groups()[:3] if g is not None)
        number = found[4]
        pairs.append((name.strip(), None if number.casefold() in _ABSENT else float(number)))
        at = found.end()
    return pairs if len(pairs) > 1 else None
