"""Rows as cells, one for each distinct probability, and the sums that such cells give."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key
from calibcore.errors import InputError
from calibcore.summation import total, total_of

if TYPE_CHECKING:
    from calibcore.profile import Profile

__all__ = [
    "UNWEIGHTED",
    "add_at",
    "are_ones",
    "cell_sums",
    "cell_total",
    "check_same_kind",
    "made",
    "ones",
    "row_cells",
    "unweighted",
    "weighted_row_cells",
]

Numbers = NDArray[Any]
_DECIMALS = 1_000_000
_MANY = 3_000_000  # rows from which on counting is faster than sorting
_CHUNK = 1 << 17  # numbers that the cache holds

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


class Made:
    """Sums over the rows of each cell that are made when they are looked at, cell by cell, from fields of a profile."""

    dtype = np.dtype(np.float64)

    def __init__(self, make: Callable[..., Numbers], fields: tuple[Numbers, ...]) -> None:
        self._make, self._fields = make, fields

    def __len__(self) -> int:
        return len(self._fields[0])

    def __getitem__(self, cells: Any) -> Numbers:
        """Of some cells; from doubles, which are quicker than numbers of two kinds."""
        return self._make(*(np.asarray(f[cells], dtype=np.float64) for f in self._fields))


def made(profile: Profile, quantity: str) -> Numbers | Made:
    """A field of a profile, or sums over the rows of each cell: see `calibcore.profile.Profile.cell_sums`."""
    if quantity not in _MAKE:
        return getattr(profile, quantity)  # type: ignore[no-any-return]
    if profile.inside is not None:
        return profile.inside.sums(quantity)
    names, make = _MAKE[quantity]
    return Made(make, (profile.value, *(getattr(profile, n) for n in names)))


def cell_sums(profile: Profile, quantity: str) -> Numbers:
    """The same as an array, made in parts that stay in the processor's cache."""
    sums = made(profile, quantity)
    if isinstance(sums, np.ndarray):
        return sums
    found = np.empty(len(sums))
    for start in range(0, len(found), _CHUNK):
        found[start : start + _CHUNK] = sums[start : start + _CHUNK]
    return found


def cell_total(profile: Profile, quantity: str) -> float:
    """Sum of what `cell_sums` gives, which is not held as a whole."""
    sums = made(profile, quantity)
    return total(sums) if isinstance(sums, np.ndarray) else total_of(lambda part: part, sums)


def unweighted(sums: dict[str, Numbers]) -> dict[str, Numbers]:
    """Without weights, the sums of weights are the counts themselves."""
    return {**sums, "weight": sums["count"], "weight_squared": sums["count"], "positive_squared": sums["positive"]}


def row_cells(value: Numbers, correct: NDArray[np.bool_], *, in_runs: bool = False) -> dict[str, Numbers]:
    """Distinct values with rows and right rows, from one sort of the values with the outcome as the lowest bit.

    Many numbers of at most six decimals are counted instead, which gives the same cells, mostly in less time; and what is
    ``in_runs``, a few of rising values one after another, is merged.
    """
    counts = None if in_runs else _decimal_counts(value, correct)
    if counts is not None:
        rows = counts.sum(axis=1)
        cells = np.flatnonzero(rows)
        return {"value": cells / _DECIMALS, **unweighted({"count": rows[cells], "positive": counts[cells, 1]})}
    plain, keys = _keys(value, correct)
    keys.sort(kind="stable" if in_runs else "quicksort")
    right, tied = np.empty(len(keys), np.int64), False
    for start in range(0, len(keys), _CHUNK):
        part = keys[start : start + _CHUNK]
        np.bitwise_and(part, keys.dtype.type(1), out=right[start : start + _CHUNK], casting="unsafe")
        np.right_shift(part, keys.dtype.type(1), out=part)
        near = keys[max(start - 1, 0) : start + _CHUNK]
        tied = tied or bool(np.any(near[1:] == near[:-1]))
    if not tied:
        return {"value": plain, **unweighted({"count": ones(len(keys)), "positive": right})}
    bounds = np.append(np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])), len(keys))
    np.cumsum(right, out=right)
    upto = right[bounds[1:] - 1]
    sums = {"count": np.diff(bounds), "positive": np.diff(upto, prepend=0)}
    return {"value": plain[bounds[:-1]], **unweighted(sums)}


def ones(n: int) -> NDArray[np.int64]:
    """How many rows each of ``n`` cells of one row holds, shape (n,), in the memory of one number."""
    return np.broadcast_to(np.ones(1, np.int64), n)


def are_ones(count: NDArray[np.int64]) -> bool:
    """Whether these counts are `ones`."""
    return count.strides == (0,)


def _keys(value: Numbers, correct: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Numbers that sort as the values do, the outcome as their lowest bit; and the same memory as values, for when it is taken away."""
    plain = np.empty(len(value), value.dtype.newbyteorder("="))
    bits: Any = {2: np.uint16, 4: np.uint32, 8: np.uint64}[plain.dtype.itemsize]
    keys: Numbers = plain.view(bits)  # no second array: the sorted values stay where they are
    for start in range(0, len(keys), _CHUNK):
        part = slice(start, start + _CHUNK)
        np.add(value[part], value.dtype.type(0), out=plain[part])  # turns -0.0 into 0.0
        np.left_shift(keys[part], bits(1), out=keys[part])
        np.bitwise_or(keys[part], correct[part], out=keys[part])
    return plain, keys


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


def check_same_kind(one: Profile, other: Profile) -> None:
    """InputError unless two profiles are of the same view of the same classes, and exact ones of the same precision."""
    kinds = [(p.view, p.task, p.n_classes) for p in (one, other)]
    if kinds[0] != kinds[1]:
        first, second = (f"{p.view} of {p.n_classes or '?'} classes" for p in (one, other))
        raise InputError(f"Only profiles of the same view of as many classes can be added, not {first} and {second}.")
    if one.value.dtype != other.value.dtype and not (one.reduced or other.reduced):
        raise InputError(f"Only profiles of the same precision can be added, not {one.value.dtype} and {other.value.dtype}; reduce both.")
    first, second = (listing(p.classes, 6) if p.classes else "" for p in (one, other))
    if first and second and [name_key(c) for c in one.classes] != [name_key(c) for c in other.classes]:
        raise InputError(f"Only profiles of the same classes in the same order can be added, not of {first} and of {second}.")
