"""Bins of arrays in one pass: ordinary arrays are checked and binned block by block, without a copy; others are left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.binned import BinnedStatistics, bin_sums
from calibcore.block_sums import BLOCK, BlockSums, OutOfOrdinaryError, Sums
from calibcore.checks import view_name
from calibcore.compiled import Kernel, nearest
from calibcore.partition import Partition, cut_at, quantile_ranks
from calibcore.poisson_binomial import Rows
from calibcore.shares import in_shares
from calibcore.summation import total
from calibcore.top_label import complement

__all__ = ["class_sums", "equal_mass", "one_pass"]

Numbers = NDArray[Any]
Bytes = NDArray[np.uint8]
IndexArray = NDArray[np.intp]

_FEWEST = 1 << 12  # rows; fewer are done in no time by `Predictions`, which also says what is wrong with them
_MANY = 64  # classes, from which rows are walked one by one
_BYTES = 1 << 20  # of a matrix, looked at several times while the cache holds them
_WALKED = 3 << 19  # the same, where rows are walked one by one
_GATHERED = 1 << 16  # rows whose top labels are collected before they are binned
_TALL = 1 << 15  # rows whose classes are binned one after the other
_UNSIGNED: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def one_pass(y_true: Any, y_prob: Any, partition: Partition, view: str | None) -> BinnedStatistics | None:
    """Bins of ordinary arrays, or None for anything else.

    Ordinary are arrays in this machine's byte order: ``y_prob`` float, shape (n,) or (n, K), all in [0, 1], rows of a matrix
    adding up to about 1; ``y_true`` bool or whole numbers (for one column also 0.0 and 1.0), which are class indices;
    ``view`` the positive class or the top label.  Everything else, and every error, is the business of `Predictions`.
    """
    seen = _seen(y_true, y_prob, partition, view)
    if seen is None:
        return None
    try:
        sums, *others = in_shares(len(seen.values), seen.values.size if seen.slow else 0, seen.sums)
    except OutOfOrdinaryError:
        return None
    for more in others:
        sums.merge(more)
    count, confidence, events = sums.totals()
    return bin_sums(partition, count, count, confidence, events, count, members=seen)


def _seen(y_true: Any, y_prob: Any, partition: Partition, view: str | None) -> _Seen | None:
    """Which rows a view compares, if arrays and view are ordinary."""
    arrays = _arrays(y_true, y_prob)
    if arrays is None or (view is not None and view_name(view) not in ("positive", "top_label")):
        return None
    label, values = arrays
    if values.ndim == 1:
        return _Seen(label, values, partition, _either if view is not None and view_name(view) == "top_label" else _positive)
    if view == "positive":
        return None
    return _Seen(label, values, partition, _top)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """`Members` of bins of arrays: the arrays by reference, looked at again only when asked for."""

    label: Numbers
    values: Numbers
    partition: Partition
    walk: Callable[[Numbers, Numbers], Iterator[tuple[Numbers, Bytes]]]

    @property
    def kernel(self) -> Kernel | None:
        """The compiled loop, where it can be had and arrays are without gaps."""
        plain = self.walk is _top or (self.values.flags.c_contiguous and self.label.flags.c_contiguous)
        return nearest(self.values.size, self.values.dtype) if plain else None

    @property
    def slow(self) -> bool:
        """Whether single steps take so long that two threads do not wait for each other between them, and are worth their room."""
        return self.walk is _top or self.kernel is not None or self.partition.strategy != "equal_width"

    def sums(self, rows: slice) -> BlockSums:
        """Of some rows, by bin."""
        label, values, kernel = self.label[rows], self.values[rows], self.kernel
        found = BlockSums(self.partition, values.dtype, BLOCK if values.ndim == 1 else _GATHERED, kernel=kernel)
        if found.compiled and self.walk is _positive:
            found.add(values, label)
            return found
        for value, event in self.walk(label, values):
            found.add(value, event)
        return found

    def blocks(self) -> Iterator[tuple[Numbers, Bytes]]:
        """Blocks of what is compared: the probability and whether its event happened; they last until the next block."""
        return self.walk(self.label, self.values)

    def _rows(self) -> Rows:
        whole = self.values if self.walk is _positive else np.concatenate([value.copy() for value, _ in self.blocks()])
        return Rows(whole, self.partition)

    def spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Members`."""
        return self._rows().spread()

    def probabilities(self, bins: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """See `Members`."""
        return self._rows().probabilities(bins)


def class_sums(y_true: Any, y_prob: Any, partition: Partition) -> tuple[list[Sums], NDArray[np.intp]] | None:
    """For each class: rows, sum of the probabilities and rows of that class in each bin; and how many rows each class has.

    None unless the arrays are ordinary, as in `one_pass`, and hold a matrix.
    """
    arrays = _arrays(y_true, y_prob)
    if arrays is None or arrays[1].ndim == 1:
        return None
    label, values = arrays
    n, k = values.shape
    first = BlockSums(partition, values.dtype, _TALL, many=k > _MANY, kernel=nearest(values.size, values.dtype))
    sums, count = [first, *(first.another() for _ in range(k - 1))], np.zeros(k, np.intp)
    try:
        for start in range(0, n, _TALL):
            y = _indices(label[start : start + _TALL], k)
            count += np.bincount(y, minlength=k)
            _add_classes(sums, y, values[start : start + _TALL])
    except OutOfOrdinaryError:
        return None
    return [s.totals() for s in sums], count


def _add_classes(sums: list[BlockSums], y: NDArray[Any], block: Numbers) -> None:
    """Add some rows to the sums of every class, a few columns at a time."""
    n, k = block.shape
    tile = 64 // block.itemsize
    row_sums, columns, event = np.zeros(n), np.empty((tile, n), block.dtype), np.empty(n, np.bool_)
    y = y.astype(np.min_scalar_type(k))
    for left in range(0, k, tile):
        part = columns[: min(tile, k - left)]
        np.copyto(part, block[:, left : left + tile].T)
        _within(part)
        row_sums += part.sum(axis=0, dtype=_adding(part.dtype))
        for j, column in enumerate(part, left):
            np.equal(y, j, out=event)
            sums[j].add(column, event.view(np.uint8))
    _whole(row_sums, k)


def equal_mass(y_true: Any, y_prob: Any, n_bins: int) -> BinnedStatistics | None:
    """Equal-mass bins of P(positive), ties kept together; None unless the arrays are ordinary, as in `one_pass`."""
    arrays = _arrays(y_true, y_prob)
    if arrays is None or arrays[1].ndim != 1:
        return None
    label, values = arrays
    try:
        shares = in_shares(len(values), values.size, lambda rows: _Ranked(label[rows], values[rows]))
    except OutOfOrdinaryError:
        return None
    partition = cut_at(_at(quantile_ranks(len(values), n_bins), shares, values.dtype).astype(np.float64), n_bins)
    count, confidence, events = (sum(parts) for parts in zip(*(s.sums(partition) for s in shares), strict=True))
    return bin_sums(partition, count, count, confidence, events, count, members=_Seen(label, values, partition, _positive))


def _at(ranks: NDArray[np.int64], shares: Sequence[_Ranked], kind: np.dtype[Any]) -> Numbers:
    """The values of these ranks, counted from 1, by bisection of floats read as whole numbers, which have the same order."""
    bits = _UNSIGNED[kind.itemsize]
    low, high = np.zeros(len(ranks), bits), np.full(len(ranks), kind.type(1)).view(bits)
    while np.any(low < high):
        middle = low + (high - low) // 2
        enough = sum(np.add(*s.upto(middle.view(kind))) for s in shares) >= ranks
        low, high = np.where(enough, low, middle + bits(1)), np.where(enough, middle, high)
    return low.view(kind)


class _Ranked:
    """Values in their order, those of events apart: sorted once, with a minus sign before those of events."""

    def __init__(self, label: Numbers, values: Numbers) -> None:
        kind, signed = values.dtype.type, np.empty_like(values)
        sign, start, events = np.empty(BLOCK, values.dtype), 0, 0
        for block, event in _positive(label, values):
            stop = start + len(block)
            events += int(np.count_nonzero(event))
            np.multiply(event, kind(-2), out=sign[: len(block)])
            np.add(sign[: len(block)], kind(1), out=sign[: len(block)])
            np.multiply(block, sign[: len(block)], out=signed[start:stop])
            start = stop
        signed.sort()
        self._events, self._others = signed[:events], signed[events:]  # zeros of both meet here, where their sign does not matter

    def upto(self, values: Numbers) -> tuple[IndexArray, IndexArray]:
        """How many events, and how many other rows, have no larger value than these."""
        return len(self._events) - np.searchsorted(self._events, -values), np.searchsorted(self._others, values, side="right")

    def sums(self, partition: Partition) -> Sums:
        """Rows, sum of the values and events of each bin."""
        events, others = (np.append(0, n) for n in self.upto(partition.edges[1:].astype(self._others.dtype)))
        happened = [-total(self._events[a:b]) for a, b in pairwise((len(self._events) - events[::-1]).tolist())]
        confidence = [total(self._others[a:b]) for a, b in pairwise(others.tolist())]
        return np.diff(events) + np.diff(others), np.array(happened[::-1]) + confidence, np.diff(events).astype(np.float64)


def _arrays(y_true: Any, y_prob: Any) -> tuple[Numbers, Numbers] | None:
    """Labels and probabilities as arrays that share their memory, if kinds and shapes are ordinary and rows are many."""
    label, values = _plain(y_true), _plain(y_prob)
    if label is None or values is None or label.ndim != 1 or len(label) < _FEWEST or values.shape[:1] != label.shape:
        return None
    if values.dtype.kind != "f" or max(label.itemsize, values.itemsize) > 8 or not (values.dtype.isnative and label.dtype.isnative):
        return None
    if values.ndim == 1:
        return (label, values) if label.dtype.kind in "biuf" else None
    return (label, values) if label.dtype.kind in "biu" and values.ndim == 2 and values.shape[1] > 1 else None


def _plain(array: Any) -> Numbers | None:
    """An array as it is, without what subclasses add; a series of pandas that holds an array is that array."""
    if type(array) in (np.ndarray, np.memmap):
        return np.asarray(array)
    values = getattr(array, "values", None)
    return values if type(values) is np.ndarray and type(array).__module__.split(".")[0] == "pandas" else None


def _ordered(values: Numbers) -> bool:
    """Whether all are in [0, 1]: read as whole numbers, floats keep their order, and those with a sign or missing come last."""
    bits = values.view(_UNSIGNED[values.itemsize])
    return bool(bits.max() <= values.dtype.type(1).view(bits.dtype))


def _within(values: Numbers) -> None:
    """All in [0, 1] and none missing; -0.0 counts as 0."""
    if not (_ordered(values) or (values.min() >= 0 and values.max() <= 1)):
        raise OutOfOrdinaryError


def _flags(label: Numbers, out: Bytes) -> Bytes:
    """Labels of 0 and 1 as bytes, by reference if they are booleans without gaps, else in ``out``."""
    if label.dtype == np.bool_:
        return label.view(np.uint8)
    if label.dtype.kind == "f":
        np.not_equal(label, 0, out=out.view(np.bool_))
        if not np.array_equal(label, out):
            raise OutOfOrdinaryError
        return out
    if label.view(_UNSIGNED[label.itemsize]).max() > 1:
        raise OutOfOrdinaryError
    np.copyto(out, label, casting="unsafe")
    return out


def _indices(label: Numbers, k: int) -> NDArray[np.intp]:
    """Labels as columns of a matrix."""
    if label.dtype != np.bool_ and label.view(_UNSIGNED[label.itemsize]).max() >= k:
        raise OutOfOrdinaryError
    return label.astype(np.intp, copy=False)


def _adding(dtype: np.dtype[Any]) -> Any:
    """In what precision row sums are judged: not the last digits matter, but whether a row adds up to 1 at all."""
    return dtype if dtype.itemsize > 2 else np.float32


def _whole(row_sums: Numbers, k: int) -> None:
    """Rows that add up to 1; those that may be too far off are left to the check that says so."""
    if not (row_sums.min() > 1 - _slack(k) and row_sums.max() < 1 + _slack(k)):
        raise OutOfOrdinaryError


def _slack(k: int) -> float:
    return 0.5 * max(0.02, 0.006 * k)


def _positive(label: Numbers, values: Numbers) -> Iterator[tuple[Numbers, Bytes]]:
    """Blocks of P(positive) and whether the label is the positive class."""
    events = np.empty(BLOCK, np.uint8)
    for start in range(0, len(values), BLOCK):
        block = values[start : start + BLOCK]
        _within(block)
        yield block, _flags(label[start : start + BLOCK], events[: len(block)])


def _either(label: Numbers, values: Numbers) -> Iterator[tuple[Numbers, Bytes]]:
    """Blocks of the larger of P(positive) and P(other), and whether that class is the label."""
    for positive, event in _positive(label, values):
        other = complement(positive)
        yield np.maximum(other, positive), ((positive > other) == event.view(np.bool_)).view(np.uint8)


def _top(label: Numbers, values: Numbers) -> Iterator[tuple[Numbers, Bytes]]:
    """Blocks of the largest probability of a row and whether its class, the first of equals, is the label."""
    n, k = values.shape
    find = _Long(k, values.dtype) if k > _MANY else _Short(k, values.dtype)
    size = _GATHERED // find.step * find.step
    top, right, sums = np.empty(size, values.dtype), np.empty(size, np.bool_), np.empty(size, _adding(values.dtype))
    for begin in range(0, n, size):
        block, y = values[begin : begin + size], _indices(label[begin : begin + size], k)
        m = len(block)
        for start in range(0, m, find.step):
            rows = slice(start, min(start + find.step, m))
            find.top(block[rows], y[rows], top[rows], right[rows], sums[rows])
        _whole(sums[:m], k)
        if not _ordered(top[:m]):
            raise OutOfOrdinaryError
        yield top[:m], right[:m].view(np.uint8)


class _Short:
    """Top labels of some short rows at a time, from their columns."""

    def __init__(self, k: int, dtype: np.dtype[Any]) -> None:
        self.step = min(_BYTES // (k * dtype.itemsize), _GATHERED)
        self._columns, self._hit = np.empty((k, self.step), dtype), np.empty((k, self.step), np.bool_)
        self._bits, self._row = _UNSIGNED[dtype.itemsize], np.arange(self.step)

    def top(self, block: Numbers, y: NDArray[np.intp], top: Numbers, right: NDArray[np.bool_], sums: Numbers) -> None:
        """Write the largest of each row into ``top``, whether its class is ``y`` into ``right``, and what it adds up to into ``sums``."""
        n = len(block)
        columns, hit = self._columns[:, :n], self._hit[:, :n]
        np.copyto(columns, block.T)
        columns.sum(axis=0, dtype=sums.dtype, out=sums)
        columns.view(self._bits).max(axis=0, out=top.view(self._bits))  # negative and missing values are the largest
        np.equal(columns, top, out=hit)
        right[:] = self._hit.reshape(-1).take(y * self.step + self._row[:n])
        if np.count_nonzero(hit) > n:
            tied = np.flatnonzero(hit.sum(axis=0, dtype=np.uint8) > 1)
            right[tied] = hit[:, tied].argmax(axis=0) == y[tied]


class _Long:
    """Top labels of long rows, which are walked one by one."""

    def __init__(self, k: int, dtype: np.dtype[Any]) -> None:
        self.step = min(max(_WALKED // (k * dtype.itemsize), 1), _GATHERED)
        self._far, self._first = np.empty(self.step, np.intp), np.arange(self.step) * k
        self._bits = _UNSIGNED[dtype.itemsize]

    def top(self, block: Numbers, y: NDArray[np.intp], top: Numbers, right: NDArray[np.bool_], sums: Numbers) -> None:
        """See `_Short`."""
        block, far = np.ascontiguousarray(block), self._far[: len(block)]
        block.view(self._bits).argmax(axis=1, out=far)
        np.einsum("ij->i", block, out=sums, dtype=sums.dtype)
        np.equal(far, y, out=right)
        np.add(far, self._first[: len(far)], out=far)
        block.reshape(-1).take(far, out=top, mode="clip")
