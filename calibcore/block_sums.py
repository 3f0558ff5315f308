"""Sums of blocks of rows per bin: counts, events and confidences, with every row compared with the edges exactly."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.compiled import Kernel
from calibcore.partition import Partition

__all__ = ["BLOCK", "BlockSums", "OutOfOrdinaryError", "Sums"]

Numbers = NDArray[Any]
Bytes = NDArray[np.uint8]
Sums = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]

BLOCK = 5 << 14  # numbers that stay in the processor's cache while several passes go over them
_PAIRED = 64  # codes, up to which two rows are counted as one pair: their square is a table that stays in the cache
_AT_ONCE = 1 << 13  # rows whose bins are searched for
_WIDEST = {2: 0, 4: 10_000, 8: 10_000}  # bins up to which the edge nearest to k/M is never the wrong one to compare with


_HELD = ("_count", "_sum", "_count_beside", "_sum_beside", "_compiled")  # what blocks are added to


class OutOfOrdinaryError(Exception):
    """Something here needs the long way: an error to report, or values to mend."""


class BlockSums:
    """Adds up blocks of confidences and outcomes in the bins of a partition.

    Parameters
    ----------
    partition : Partition
    dtype : dtype
        Of the confidences: float16, float32 or float64.
    block : int
        Rows that a call of `add` may bring at most.
    many : bool
        Whether this is one of many, so that its tables must be small.
    kernel : callable, optional
        What `calibcore.compiled.nearest` gives, for bins of equal width.

    Notes
    -----
    Each row gets a code, which stands for a bin, a fixed number near its confidence (the pivot) and its outcome.  Codes are
    counted; of the confidence only the distance to the pivot is summed, which is exact to subtract and so small that
    rounding stays near the last digit of the sum.  Two rows make one pair where codes are few: that halves the additions.
    """

    def __init__(
        self, partition: Partition, dtype: np.dtype[Any], block: int = BLOCK, *, many: bool = False, kernel: Kernel | None = None
    ) -> None:
        near = partition.strategy == "equal_width" and partition.n_bins <= _WIDEST[dtype.itemsize]
        self._kernel = kernel if near else None
        self._step = block = 0 if self.compiled else block if near else min(block, _AT_ONCE)  # a compiled loop needs no room
        self._partition = partition
        self._codes: _Nearest | _Searched = (_Nearest if near else _Searched)(partition, dtype, block)
        size = len(self._codes.bins)
        self._size, self._paired = size, near and size <= _PAIRED and np.little_endian and not many
        table, kind = (size * size, np.complex128) if self._paired else (size, np.float64)
        self._count = np.zeros(table, np.int64)
        self._sum: Numbers = np.zeros(table, kind)
        self._count_beside, self._sum_beside = np.zeros(size, np.int64), np.zeros(size)
        self._part = np.empty_like(self._sum)
        self._compiled = np.zeros((size, 2))
        self._index, self._high = np.empty(block // 2 if self._paired else block, np.intp), np.empty(block // 2, np.uint16)

    def another(self) -> BlockSums:
        """Sums of other rows in the same bins, which share the room to work in."""
        twin = copy(self)
        for name in _HELD:
            setattr(twin, name, np.zeros_like(getattr(self, name)))
        return twin

    @property
    def compiled(self) -> bool:
        """Whether a compiled loop adds the blocks, which takes labels of any kind and checks what it is given."""
        return self._kernel is not None

    def add(self, values: Numbers, events: Numbers) -> None:
        """Add a block: ``values``, shape (n,), all in [0, 1]; ``events``, shape (n,), are 0 or 1, as bytes unless `compiled`."""
        if self._kernel is not None:
            if not self._kernel(values, events, self._partition.n_bins, self._partition.closed == "right", self._compiled):
                raise OutOfOrdinaryError
            return
        for start in range(0, len(values), self._step):
            part = slice(start, start + self._step)
            code, distance = self._codes.of(values[part], events[part])
            if self._paired:
                self._add_pairs(code, distance)
            else:
                self._add_singly(code, distance)

    def _add_singly(self, code: Numbers, distance: NDArray[np.float64]) -> None:
        index = self._index[: len(code)]
        np.copyto(index, code)
        self._count += np.bincount(index, minlength=self._size)
        for part in self._codes.exact(distance):
            more = np.bincount(index, weights=part, minlength=self._size)
            total = self._sum + more
            kept = total - self._sum
            self._sum_beside += (self._sum - (total - kept)) + (more - kept)  # what rounding took from the total
            self._sum = total

    def _add_pairs(self, code: Numbers, distance: NDArray[np.float64]) -> None:
        """Count pairs of rows: the first has the low byte and the real part, the second the high byte and the imaginary part."""
        even = len(code) & ~1
        if even < len(code):
            self._count_beside[code[even]] += 1
            self._sum_beside[code[even]] += distance[even]
        codes = code[:even].view(np.uint16)
        high, index = self._high[: len(codes)], self._index[: len(codes)]
        np.right_shift(codes, 8, out=high)
        np.multiply(high, 256 - self._size, out=high)
        np.subtract(codes, high, out=codes)
        np.copyto(index, codes)
        self._count += np.bincount(index, minlength=len(self._count))
        self._part[:] = 0
        np.add.at(self._part, index, distance[:even].view(np.complex128))
        self._sum += self._part

    def merge(self, other: BlockSums) -> None:
        """Add what another one holds, which has the same bins."""
        for name in _HELD:
            getattr(self, name).__iadd__(getattr(other, name))

    def _by_code(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows and distances of each code."""
        distances, rows = self._compiled.T
        count = self._count_beside + rows.astype(np.int64)
        if not self._paired:
            return count + self._count, self._sum + (self._sum_beside + distances)
        counts, sums = (a.reshape(self._size, self._size) for a in (self._count, self._sum))
        return (
            count + counts.sum(axis=0) + counts.sum(axis=1),
            self._sum_beside + distances + sums.real.sum(axis=0) + sums.imag.sum(axis=1),
        )

    def totals(self) -> Sums:
        """Rows, sum of the confidences and events of each bin; three arrays of shape (bins,)."""
        count, distance = self._by_code()
        bins, m = self._codes.bins, self._partition.n_bins
        event = np.arange(len(bins)) & 1
        rows, events = np.bincount(bins, count, m), np.bincount(bins, count * event, m)
        high = self._codes.pivots.astype(np.float32).astype(np.float64)  # so short that its product with a count is exact
        parts = np.stack([count * high, count * (self._codes.pivots - high), self._codes.sign * distance])
        order = np.argsort(bins, kind="stable")
        ends = np.searchsorted(bins[order], np.arange(m + 1)).tolist()
        sums = [fsum(parts[:, order[a:b]].ravel().tolist()) for a, b in pairwise(ends)]
        return rows.astype(np.int64), np.array(sums), np.asarray(events, np.float64)


class _Nearest:
    """Codes for bins of equal width: the edge k/M nearest to a value is the only one to compare with.

    ``code = 4k + 2s + event``: s says on which side of the edge the value lies.  k/M, divided anew in the precision of the
    data, is the edge itself, since a quotient of such small whole numbers rounds to the same float directly and by way of
    a double.
    """

    def __init__(self, partition: Partition, dtype: np.dtype[Any], block: int) -> None:
        m, right = partition.n_bins, partition.closed == "right"
        k, s = np.divmod(np.arange(4 * (m + 1)) >> 1, 2)
        self._m, self._right, self.sign = dtype.type(m), right, -1.0 if right else 1.0
        self.bins = np.clip(k + s - 1 if right else k - s, 0, m - 1)
        self.pivots = (k / m).astype(dtype).astype(np.float64)
        self._near, self._side = np.empty(block, dtype), np.empty(block, np.bool_)
        self._wide = np.empty(block) if dtype != np.float64 else None
        self._code = np.empty(block, np.uint8 if len(k) <= _PAIRED else np.uint16)

    def of(self, values: Numbers, events: Bytes) -> tuple[Numbers, NDArray[np.float64]]:
        """Codes, and the distances to the pivots times `sign`."""
        n = len(values)
        near, side, code = self._near[:n], self._side[:n].view(np.uint8), self._code[:n]
        np.multiply(values, self._m, out=near)
        np.rint(near, out=near)
        np.copyto(code, near, casting="unsafe")
        np.divide(near, self._m, out=near)
        first, second = (near, values) if self._right else (values, near)
        np.subtract(first, second, out=near)
        np.signbit(near, out=self._side[:n])
        np.add(side, side, out=side)
        np.bitwise_or(side, events, out=side)
        np.add(code, code, out=code)  # twice: bytes are added many at a time, but shifted one by one
        np.add(code, code, out=code)
        np.bitwise_or(code, side, out=code)
        if self._wide is None:
            return code, near
        np.copyto(self._wide[:n], near)
        return code, self._wide[:n]

    @staticmethod
    def exact(distance: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Parts whose sums lose next to nothing: distances to the nearest edge are small enough."""
        return (distance,)


class _Searched:
    """Codes for bins of any edges, found by bisection: ``code = 2·bin + event``; the pivot is the lower edge of the bin."""

    sign = 1.0

    def __init__(self, partition: Partition, dtype: np.dtype[Any], block: int) -> None:
        self._side: Any = "left" if partition.closed == "right" else "right"
        self._inner = partition.inner(dtype).astype(np.float64)  # widened, they compare as they do in the data's precision
        self._lower = partition.edges[:-1]
        self.bins = np.arange(2 * partition.n_bins) >> 1
        self.pivots = self._lower[self.bins]
        self._wide, self._code = np.empty(block), np.empty(block, np.uint8 if len(self.bins) <= _PAIRED else np.uint16)

    def of(self, values: Numbers, events: Bytes) -> tuple[Numbers, NDArray[np.float64]]:
        """Codes, and the distances to the pivots."""
        n = len(values)
        wide, code = self._wide[:n], self._code[:n]
        np.copyto(wide, values)
        bins = np.searchsorted(self._inner, wide, side=self._side)
        np.copyto(code, bins, casting="unsafe")
        np.left_shift(code, 1, out=code)
        np.bitwise_or(code, events, out=code)
        wide -= self._lower[bins]
        return code, wide

    @staticmethod
    def exact(distance: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Parts whose sums lose next to nothing: multiples of 2⁻³⁸, of which so many can be added exactly, and rests."""
        grid = 1.5 * 2.0**14
        coarse = distance + grid - grid
        return coarse, distance - coarse
