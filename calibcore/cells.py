"""Rows as cells, one for each distinct probability, and the sums that such cells give."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from calibcore.profile import Profile

__all__ = ["UNWEIGHTED", "add_at", "derived", "row_cells", "unweighted", "weighted_row_cells"]

Numbers = NDArray[Any]
_DECIMALS = 1_000_000
_MANY = 600_000  # rows from which on counting is faster than sorting
_CHUNK = 1 << 14  # numbers that stay in the processor's cache

_MAKE: dict[str, tuple[tuple[str, ...], Callable[..., Numbers]]] = {  # sums over the rows of each cell, all of one value v
    "confidence": (("weight",), lambda v, w: w * v),
    "confidence_of_events": (("positive",), lambda v, y: y * v),
    "residual": (("positive", "weight"), lambda v, y, w: y - w * v),
    "squared_error": (("positive", "weight"), lambda v, y, w: y * (1 - v) ** 2 + (w - y) * v**2),
    "square": (("weight",), lambda v, w: w * v * v),
    "residual_squared": (("positive_squared", "weight_squared"), lambda v, y, w: y * (1 - v) ** 2 + (w - y) * v**2),
    "variance": (("weight_squared",), lambda v, w: w * v * (1 - v)),
    "spread": (("count",), lambda v, n: n * v * (1 - v)),
    "skew": (("count",), lambda v, n: n * v * (1 - v) * (1 - 2 * v)),
}


UNWEIGHTED = {  # the same sums
    "weight": "count",
    "weight_squared": "count",
    "positive_squared": "positive",
    "residual_squared": "squared_error",
    "spread": "variance",
}


def derived(profile: Profile, quantity: str) -> NDArray[np.float64]:
    """Sums over the rows of each cell that follow from its value and its fields, shape (cells,); made in parts that stay in the cache."""
    names, make = _MAKE[quantity]
    fields = profile.value, *(getattr(profile, n) for n in names)
    found = np.empty(len(profile))
    for start in range(0, len(found), _CHUNK):
        part = slice(start, start + _CHUNK)
        found[part] = make(*(np.asarray(a[part], dtype=np.float64) for a in fields))  # of one kind, which is quicker than of two
    return found


def unweighted(sums: dict[str, Numbers]) -> dict[str, Numbers]:
    """Without weights, the sums of weights are the counts themselves."""
    return {**sums, "weight": sums["count"], "weight_squared": sums["count"], "positive_squared": sums["positive"]}


def row_cells(value: Numbers, correct: NDArray[np.bool_]) -> dict[str, Numbers]:
    """Distinct values with rows and right rows, from one sort of the values with the outcome as the lowest bit.

    Many numbers of at most six decimals are counted instead, which gives the same cells, mostly in less time.
    """
    counts = _decimal_counts(value, correct)
    if counts is not None:
        rows = counts.sum(axis=1)
        cells = np.flatnonzero(rows)
        return {"value": cells / _DECIMALS, **unweighted({"count": rows[cells], "positive": counts[cells, 1]})}
    plain = np.ascontiguousarray(value + value.dtype.type(0))  # turns -0.0 into 0.0, and any byte order into ours
    bits: Any = {2: np.uint16, 4: np.uint32, 8: np.uint64}[plain.dtype.itemsize]
    keys: Numbers = plain.view(bits)  # no second array: the sorted values stay where they are
    np.left_shift(keys, bits(1), out=keys)
    np.bitwise_or(keys, correct, out=keys)
    keys.sort()
    right = np.bitwise_and(keys, bits(1)).view(f"i{keys.itemsize}").astype(np.int64, copy=False)
    np.right_shift(keys, bits(1), out=keys)
    first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    if first.all():
        return {"value": plain, **unweighted({"count": np.ones(len(keys), np.int64), "positive": right})}
    bounds = np.append(np.flatnonzero(first), len(keys))
    np.cumsum(right, out=right)
    upto = right[bounds[1:] - 1]
    sums = {"count": np.diff(bounds), "positive": np.diff(upto, prepend=0)}
    return {"value": plain[bounds[:-1]], **unweighted(sums)}


def _decimal_counts(value: Numbers, correct: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """Rows of each millionth from 0 to 1 by outcome, shape (1,000,001, 2); None unless all of many values are such."""
    if value.dtype != np.float64 or len(value) < _MANY:
        return None
    key = np.empty(len(value), dtype=np.int64)
    for start in range(0, len(value), _CHUNK):
        part = slice(start, start + _CHUNK)
        whole = np.rint(value[part] * _DECIMALS)
        if not np.array_equal(whole / _DECIMALS, value[part]):  # a decimal is read as the double nearest to this quotient
            return None
        key[part] = 2 * whole + correct[part]
    return np.bincount(key, minlength=2 * _DECIMALS + 2).reshape(-1, 2)


def weighted_row_cells(value: Numbers, correct: NDArray[np.bool_], weight: NDArray[np.float64]) -> dict[str, Numbers]:
    """`row_cells` with sums of weights."""
    distinct, cell = np.unique(value + 0.0, return_inverse=True)
    count = np.bincount(cell, minlength=len(distinct))
    weights = {"weight": weight, "positive": weight * correct, "weight_squared": weight**2, "positive_squared": weight**2 * correct}
    sums = {f: np.bincount(cell, weights=w, minlength=len(distinct)) for f, w in weights.items()}
    return {"value": distinct, "count": count, **sums}


def add_at(size: int, cell: NDArray[np.intp], first: Numbers, second: Numbers) -> Numbers:
    """Two arrays summed into ``size`` cells, ``cell`` of each of their entries."""
    sums = np.zeros(size, dtype=np.result_type(first, second))
    np.add.at(sums, cell, np.concatenate([first, second]))
    return sums
