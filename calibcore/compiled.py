"""The inner loop of binning, compiled by Numba where a program has Numba loaded already."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENOUGH", "Kernel", "nearest"]

ENOUGH = 2_000_000  # numbers, from which loading the compiled loop is repaid
_CHUNK = 1024
_FOLD = 8  # chunks after which partial sums are added to the whole, so that they stay small
_MAGIC = {4: np.float32(1.5 * 2.0**23), 8: np.float64(1.5 * 2.0**52)}  # added and taken away again, it leaves a whole number

Kernel = Callable[[NDArray[Any], NDArray[Any], int, bool, NDArray[np.float64]], bool]


def nearest(numbers: int, dtype: np.dtype[Any]) -> Kernel | None:
    """The compiled form of codes, counts and sums of `block_sums`, or None where that would not pay.

    Parameters
    ----------
    numbers : int
        How many there are to bin in all.
    dtype : dtype
        Of the numbers.

    Returns
    -------
    callable, optional
        ``kernel(values, labels, m, right, sums)`` adds distances and rows to the two columns of ``sums``, shape (codes, 2), and
        says whether all values were in [0, 1] and all labels 0 or 1; if not, the sums are worth nothing.

    Notes
    -----
    Importing Numba takes about as long as binning 10⁸ rows with NumPy, so it is not imported for this: the loop is used in
    programs that have imported Numba themselves, for two million numbers and more.  It adds in the order of the rows: counts are
    the same as NumPy's, and sums agree to the last digits.  At 10⁷ rows it takes less than half of the time.  The machine code
    is kept in Numba's cache, which the first call fills in about a second.
    """
    if numbers < ENOUGH or "numba" not in sys.modules or dtype.itemsize not in _MAGIC:
        return None
    return _kernel()


@cache
def _kernel() -> Kernel | None:
    import numba

    try:
        loop: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(_loop)
    except RuntimeError:  # there is no folder that the machine code could be kept in
        return None

    def kernel(values: NDArray[Any], labels: NDArray[Any], m: int, right: bool, sums: NDArray[np.float64]) -> bool:  # noqa: FBT001
        kind = values.dtype.type
        found = loop(_read_only(values), _read_only(labels), kind(m), _MAGIC[values.itemsize], kind(1 if right else -1), sums)
        return bool(found)

    return kernel


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """One kind of array for the compiler, which would make a loop of its own for arrays that can be written to."""
    view = array.view(np.uint8) if array.dtype == np.bool_ else array.view()
    view.flags.writeable = False
    return view


def _loop(values: Any, labels: Any, m: Any, magic: Any, sign: Any, sums: Any) -> bool:
    """Four rows at a time, each into a table of its own, so that none has to wait for the one before it."""
    codes = len(sums)
    part = np.zeros((4 * codes, 2))
    code, distance = np.empty(_CHUNK, np.int64), np.empty(_CHUNK)
    for start in range(0, len(values), _CHUNK):
        value, label = values[start : start + _CHUNK], labels[start : start + _CHUNK]
        n = len(value)
        wrong = 0
        for i in range(n):
            wrong |= 0 if (value[i] >= 0) & (value[i] <= 1) & ((label[i] == 0) | (label[i] == 1)) else 1
            k = (value[i] * m + magic) - magic
            d = (k / m - value[i]) * sign
            distance[i] = d
            code[i] = np.int64(k) * 4 + (2 if d < 0 else 0) + np.int64(label[i])
        if wrong:
            return False  # a code may stand outside the table
        for i in range(n, (n + 3) // 4 * 4):
            distance[i], code[i] = 0.0, 0
            part[code[i] + codes * (i % 4), 1] -= 1.0  # rows that fill up a group of four
        for i in range(0, n, 4):
            a, b, c, e = code[i], code[i + 1] + codes, code[i + 2] + 2 * codes, code[i + 3] + 3 * codes
            part[a, 0] += distance[i]
            part[a, 1] += 1.0
            part[b, 0] += distance[i + 1]
            part[b, 1] += 1.0
            part[c, 0] += distance[i + 2]
            part[c, 1] += 1.0
            part[e, 0] += distance[i + 3]
            part[e, 1] += 1.0
        if start // _CHUNK % _FOLD == _FOLD - 1 or start + _CHUNK >= len(values):
            for j in range(4 * codes):
                sums[j % codes, 0] += part[j, 0]
                sums[j % codes, 1] += part[j, 1]
                part[j, 0] = part[j, 1] = 0.0
    return True
