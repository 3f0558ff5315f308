"""Top labels: the likeliest class of each row, and both sides of a single probability."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.grid import fractions
from calibcore.later import Later

__all__ = ["BothSides", "both_sides", "complement", "largest", "likeliest", "tied_rows"]

Numbers = NDArray[Any]
_DIGITS = {2: 3, 4: 7, 8: 15}
_BLOCK = 1 << 16  # numbers that the cache holds while several passes go over them
_MANY = 64  # classes
_PARTS = 1 << 16  # of [0, 1], few of which hold a fraction


def likeliest(label: NDArray[np.integer[Any]], matrix: NDArray[Any]) -> dict[str, Any]:
    """The fields of predictions that labels and probabilities give; what P(positive) alone, shape (n,), gives is put off."""
    if matrix.ndim == 2:
        predicted, confidence, tied = largest(matrix)
        found = {"confidence": confidence, "correct": predicted == label, "probabilities": matrix, "predicted": predicted}
        return {**found, "label": label, "n_tied": tied}
    n = len(matrix)
    both = BothSides(matrix)
    top = cache(lambda: largest(both.value()))
    return {
        "confidence": Later(n, lambda: top()[1]),
        "correct": Later(n, lambda: top()[0] == label),
        "probabilities": both,
        "predicted": Later(n, lambda: top()[0]),
        "label": label if label.dtype == np.intp else Later(n, lambda: label.astype(np.intp)),
        "n_tied": int(np.count_nonzero(matrix == 0.5)),  # no other value is its own complement
    }


class BothSides(Later):
    """`both_sides` of P(positive), shape (n,), when it is needed."""

    __slots__ = ("positive",)

    def __init__(self, positive: NDArray[Any]) -> None:
        super().__init__(len(positive), lambda: both_sides(positive))
        self.positive = positive


def both_sides(positive: NDArray[Any]) -> NDArray[Any]:
    """P(other) and P(positive) as a matrix, filled in parts that stay in the processor's cache."""
    matrix = np.empty((len(positive), 2), dtype=positive.dtype)
    for start in range(0, len(positive), _BLOCK):
        rows = slice(start, start + _BLOCK)
        matrix[rows, 0], matrix[rows, 1] = complement(positive[rows]), positive[rows]
    return matrix


def tied_rows(matrix: NDArray[Any], largest: NDArray[Any]) -> int:
    """Rows whose largest probability is shared by several classes."""
    return int(np.count_nonzero(np.count_nonzero(matrix == largest[:, None], axis=1) > 1))


def complement(p: Numbers) -> Numbers:
    """P(other) for P(positive), shape as ``p``: 1 − p as a person would write it.

    1 − p rounded to 15 decimals (float32: 7) if that rounds back to p, else 1 − p: 0.18 gives 0.82, not
    0.8200000000000001, which would fall into another bin.  Likewise a fraction k/M with M ≤ 100, such as a third of the trees
    of a forest, gives (M − k)/M: the edges of bins lie on such fractions.
    """
    if p.ndim == 1 and len(p) > _BLOCK:
        found = np.empty_like(p)
        for start in range(0, len(p), _BLOCK):
            found[start : start + _BLOCK] = complement(p[start : start + _BLOCK])
        return found
    wide = p.astype(np.float64, copy=False)
    power = 10.0 ** _DIGITS[p.dtype.itemsize]
    plain = 1.0 - wide
    rounded = np.rint(plain * power)
    rounded /= power
    back = np.rint((1.0 - rounded) * power)
    back /= power
    found = np.where(back.astype(p.dtype, copy=False) == p, rounded, plain).astype(p.dtype, copy=False)
    if p.ndim == 1 and p.dtype.itemsize > 2:
        _mirror_fractions(p, wide, found)
    return found


def _mirror_fractions(p: Numbers, wide: NDArray[np.float64], found: Numbers) -> None:
    """Put (M − k)/M into ``found`` where ``p`` is k/M."""
    near, fraction = _fractions(p.dtype)
    at = np.flatnonzero(near[(wide * _PARTS).astype(np.intp)])
    place = np.searchsorted(fraction, p[at])
    hit = fraction[place] == p[at]
    found[at[hit]] = fraction[::-1][place[hit]]


@cache
def _fractions(dtype: np.dtype[Any]) -> tuple[NDArray[np.bool_], Numbers]:
    """Which parts of [0, 1] hold a fraction, and all fractions, rising."""
    fraction = fractions().astype(dtype)
    near = np.zeros(_PARTS + 1, dtype=np.bool_)
    near[(fraction.astype(np.float64) * _PARTS).astype(np.intp)] = True
    return near, fraction


def largest(matrix: Numbers) -> tuple[NDArray[np.intp], Numbers, int]:
    """The first column that holds a row's largest value, that value, both of shape (n,), and how many rows share it."""
    n, k = matrix.shape
    if k > _MANY:  # long rows are walked faster one by one
        far = np.argmax(matrix, axis=1)
        top = np.take_along_axis(matrix, far[:, None], axis=1)
        return far, top[:, 0], int(np.count_nonzero(np.count_nonzero(matrix == top, axis=1) > 1))
    place, value, tied = np.empty(n, dtype=np.intp), np.empty(n, dtype=matrix.dtype), 0
    step = 2 * _BLOCK // max(k, 1)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        tied += _largest(np.ascontiguousarray(matrix[rows].T), place[rows], value[rows])
    return place, value, tied


def _largest(columns: Numbers, place: NDArray[np.intp], value: Numbers) -> int:
    """`largest` of a few rows, written into ``place`` and ``value``; ``columns`` has shape (K, n)."""
    if len(columns) == 2:
        first, second = columns
        np.greater(second, first, out=place, casting="unsafe")
        np.maximum(first, second, out=value)
        return int(np.count_nonzero(first == second))
    columns.max(axis=0, out=value)
    hit = columns == value
    hit.argmax(axis=0, out=place)
    extra = int(np.count_nonzero(hit)) - len(value)
    return int(np.count_nonzero(hit.sum(axis=0, dtype=np.intp) > 1)) if extra else 0
