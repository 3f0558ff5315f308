"""Which groups a column makes: one for each of its values, or of many numbers its quarters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import name_key
from calibcore.inference.slices import MISSING, levels_of

__all__ = ["MAX_GROUPS", "Levels", "group_levels"]

MAX_GROUPS = 50
_PARTS = 4
_DIGITS = range(3, 18)  # significant digits of an edge: from few to all that a double has


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The groups of a column.

    Attributes
    ----------
    names : tuple of str
        Rising; "(missing)" is the last.
    code : array of shape (n,)
        Index of each row's name.
    cut : bool
        Whether numbers were joined into quarters.
    """

    names: tuple[str, ...]
    code: NDArray[np.intp]
    cut: bool = False


def group_levels(values: NDArray[Any]) -> Levels:
    """The groups of a column: its values; of more than 50 values that are all numbers, the ranges between its quartiles.

    Parameters
    ----------
    values : array of shape (n,)

    Notes
    -----
    The k-th of four ranges ends at the ⌈k·n/4⌉-th smallest number of the n rows that have one, so equal numbers are never
    parted, whatever the order of the rows; where a quartile repeats there are fewer than four.  A name holds the smallest and
    the largest number of its range.  Outcomes and weights are not looked at.

    Examples
    --------
    >>> group_levels(np.arange(100)).names
    ('0–24', '25–49', '50–74', '75–99')
    >>> group_levels(np.array(["b", "a", None], dtype=object)).names
    ('a', 'b', '(missing)')
    """
    names, code = levels_of(values)
    numbers = _numbers([n for n in names if n != MISSING]) if len(names) > MAX_GROUPS else None
    if numbers is None:
        return Levels(names, code)
    distinct, rank = np.unique(numbers, return_inverse=True)  # "1" and "1.0" are one number
    count = np.bincount(rank, np.bincount(code, minlength=len(names))[: len(numbers)])
    upto = np.cumsum(count).astype(np.int64)
    n = int(upto[-1])
    last = np.unique([np.searchsorted(upto, -(-k * n // _PARTS)) for k in range(1, _PARTS + 1)])
    ends = list(zip([0, *(last[:-1] + 1)], last, strict=True))
    parts = np.append(np.searchsorted(last, rank), len(last)).astype(np.intp)  # the last place is for missing cells
    missing = (MISSING,) if MISSING in names else ()
    return Levels((*_ranges([(float(distinct[i]), float(distinct[j])) for i, j in ends]), *missing), parts[code], cut=True)


def _numbers(names: list[str]) -> NDArray[np.float64] | None:
    """Names as numbers; None where one of them is none."""
    keys = [k for k in map(name_key, names) if isinstance(k, (int, float))]
    try:
        return np.array(keys, dtype=np.float64) if len(keys) == len(names) else None
    except OverflowError:  # an integer of hundreds of digits is a code
        return None


def _ranges(ends: list[tuple[float, float]]) -> list[str]:
    """A range as "18–31", with as many digits as tell all edges apart; "−5 to 3" where a number is negative."""
    edges = [e for pair in ends for e in pair]
    for digits in _DIGITS:
        texts = {e: _edge(e, digits) for e in edges}
        if len(set(texts.values())) == len(texts):
            break
    between = " to " if min(edges) < 0 else "–"
    return [texts[low] if low == high else f"{texts[low]}{between}{texts[high]}" for low, high in ends]


def _edge(number: float, digits: int) -> str:
    text = f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else f"{number:.{digits}g}"
    return text.replace("-", "−")
