"""Sums that do not depend on the order of the rows and lose no digit, however many rows there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cumulative", "split", "total", "total_of"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


_TINY = 1e-280  # below it the grid would underflow
_BLOCK = 64  # cells summed once and for all; a sum up to a position adds part of a block to them
_CHUNK = 2048 * _BLOCK  # numbers that the cache holds; many enough that threads seldom wait for each other between steps


def split(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split into multiples of a grid, whose sums are exact, and remainders far below the last digit."""
    return _split(values, _magic(values))


def _magic(values: NDArray[Any]) -> float:
    """What leaves a multiple of a power of two when it is added to one of these values and taken away; 0 where there is none.

    The power is such that sums of as many multiples are exact.
    """
    if not len(values) or values.dtype.kind in "iu":
        return 0.0
    bound = max(float(values.max()), -float(values.min())) * len(values)
    if not _TINY < bound < np.inf:
        return 0.0
    return float(1.5 * 2.0 ** (np.ceil(np.log2(bound)) + 1))


def _split(values: FloatArray, magic: Any) -> tuple[FloatArray, FloatArray]:
    coarse = values + magic
    coarse -= magic
    rest = values - coarse
    return coarse, rest if np.all(magic) else np.where(np.equal(magic, 0.0), 0.0, rest)


def _parts(values: NDArray[Any], magic: Any) -> tuple[NDArray[Any], ...]:
    """Arrays that add up to the values, each with exact or negligible sums."""
    return (values,) if values.dtype.kind in "iu" else _split(values, magic)


def _chunks(values: Any) -> Iterator[NDArray[Any]]:
    return (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))


def total(values: NDArray[Any]) -> float:
    """Sum of ``values``, shape (n,), right to the last digit and the same for every order of the rows.

    Notes
    -----
    Each value is split into a multiple of a power of two so large that all partial sums are exact, and a rest.  The
    rounding error is about n·2⁻¹⁰⁵ of the sum instead of n·2⁻⁵³.

    Examples
    --------
    >>> total(np.array([0.1] * 10))
    1.0
    """
    if values.dtype.kind in "bi":
        return float(np.sum(values, dtype=np.int64))
    return fsum(float(np.sum(part)) for chunk in _chunks(np.asarray(values, dtype=np.float64)) for part in split(chunk))


def total_of(make: Callable[..., NDArray[Any]], *arrays: Any) -> float:
    """`total` of what ``make`` gives for arrays of shape (n,), in parts that stay in the processor's cache.

    Examples
    --------
    >>> total_of(lambda x, y: x * y, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    parts = zip(*(_chunks(a) for a in arrays), strict=True)
    return fsum(total(make(*part)) for part in parts)


class Cumulative:
    """Cumulative sums of one quantity over sorted cells, from which the sum between any two positions is exact.

    A position is a number of cells counted from the left; a fractional one takes that share of the cell it falls in,
    which is how tied rows are divided between two bins.

    Parameters
    ----------
    values : array of shape (cells,), or what gives parts of one
        Integers are summed as integers, floats as in `total`.

    Notes
    -----
    Kept are the sums of blocks of 64 cells, which cost one pass over memory; what lies between a block and a position is
    added when it is asked for.  Sums are exact within a chunk of blocks, and so are those of whole chunks.
    """

    __slots__ = ("_ahead", "_blocks", "_full", "_magic", "_values")

    def __init__(self, values: Any) -> None:
        if isinstance(values, np.ndarray) and values.dtype.kind not in "iu":
            values = np.ascontiguousarray(values, dtype=np.float64)
        self._values = values
        self._full: tuple[NDArray[Any], ...] | None = None
        magic, blocks = [], []
        for chunk in _chunks(values) if len(values) else [values[:0]]:
            magic.append(_magic(chunk))
            blocks.append([_block_sums(part) for part in _parts(chunk, magic[-1])])
        self._magic = np.array(magic)
        self._blocks = [_within(part) for part in zip(*blocks, strict=True)]
        self._ahead = _before([np.array([b.sum() for b in part]) for part in zip(*blocks, strict=True)])

    def _whole(self) -> tuple[NDArray[Any], ...]:
        """Sums up to every position, shape (cells + 1,), of parts that add up to the values; made once, where many are asked for."""
        if self._full is None:
            values = self._values[:]
            self._full = tuple(_prefix(part) for part in _parts(values, _magic(values)))
        return self._full

    def _between(self, whole: NDArray[np.intp]) -> NDArray[Any]:
        """Sums between whole positions."""
        if self._full is not None or len(whole) * _BLOCK > len(self._values):
            coarse, *rest = (np.diff(sums[whole]) for sums in self._whole())
            return np.asarray(coarse + rest[0] if rest else coarse)
        block, more = np.divmod(whole, _BLOCK)
        chunk = whole // _CHUNK
        inside = np.arange(_BLOCK) + (block * _BLOCK)[:, np.newaxis]
        near = self._values[np.minimum(inside, len(self._values) - 1)]
        near[np.arange(_BLOCK) >= more[:, np.newaxis]] = 0
        parts = _parts(near, self._magic[np.minimum(chunk, len(self._magic) - 1)][:, np.newaxis])
        within = [sums[block] + part.sum(axis=1) for sums, part in zip(self._blocks, parts, strict=True)]
        found, *left = (np.diff(sums[chunk]) for sums in self._ahead)
        found = found - within[0][:-1] + within[0][1:]  # in this order: what is left of the first chunk is exact
        return np.asarray(found + (left[0] + np.diff(within[1])) if left else found)

    def between(self, positions: NDArray[Any]) -> FloatArray:
        """Sums between neighbouring ``positions``: shape (m + 1,) gives shape (m,)."""
        whole = np.floor(positions).astype(np.intp)
        sums: FloatArray = self._between(whole).astype(np.float64)
        if np.issubdtype(positions.dtype, np.floating):
            share = positions - whole
            inside = self._values[np.minimum(whole, len(self._values) - 1)] * share
            sums = sums + np.diff(inside)
        return sums

    @property
    def total(self) -> float:
        """Sum of all cells."""
        return float(sum(sums[-1] for sums in self._ahead))

    @property
    def upto(self) -> NDArray[Any]:
        """Sum up to and including each cell, shape (cells,)."""
        if self._full is not None or self._values.dtype.kind in "iu":
            parts = [sums[1:] for sums in self._whole()]
            return parts[0] if len(parts) == 1 else parts[0] + parts[1]
        found = np.empty(len(self._values))
        for k, part in enumerate(_chunks(self._values)):
            coarse, rest = _split(part, self._magic[k])
            sums = np.cumsum(coarse, out=found[k * _CHUNK : (k + 1) * _CHUNK])
            sums += np.cumsum(rest) + self._ahead[1][k]
            sums += self._ahead[0][k]
        return found


def _block_sums(values: NDArray[Any]) -> NDArray[Any]:
    """Sums of 64 values each, the last of what is left."""
    whole = len(values) // _BLOCK * _BLOCK
    sums = np.einsum("ij->i", values[:whole].reshape(-1, _BLOCK))
    return sums if whole == len(values) else np.append(sums, values[whole:].sum())


def _within(blocks: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """For each block, and for what comes after the last: the sum of the blocks before it in its chunk."""
    sums = [_prefix(b) for b in blocks]
    full = len(blocks[-1]) * _BLOCK == _CHUNK
    return np.concatenate([*(s[:-1] for s in sums), [0] if full else sums[-1][-1:]])


def _before(totals: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Sums of the chunks before each chunk, and of all, from the totals of the parts of each."""
    if len(totals) == 1:
        return [_prefix(totals[0])]
    coarse, left = split(totals[0])
    return [_prefix(coarse), _prefix(left) + _prefix(totals[1])]


def _prefix(values: NDArray[Any]) -> NDArray[Any]:
    sums = np.zeros(len(values) + 1, dtype=values.dtype)
    np.cumsum(values, out=sums[1:])
    return sums
