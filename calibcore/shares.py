"""Work on many rows as two shares, which run at the same time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["at_once", "in_shares"]

T = TypeVar("T")
R = TypeVar("R")


def in_shares(n: int, numbers: int, work: Callable[[slice], T]) -> list[T]:
    """What ``work`` gives for the rows of each share, in the order of the rows.

    Parameters
    ----------
    n : int
        Rows.
    numbers : int
        How many numbers they hold in all: few are one share.
    work : callable
        Is called with the rows of one share.  NumPy leaves the interpreter free while it works on arrays, so that the shares run
        side by side.

    Notes
    -----
    The shares depend on the number of rows alone and not on the machine, and so do sums that are added up from them.
    """
    if numbers < _WORTH:
        return [work(slice(0, n))]
    return at_once(work, slice(0, n // 2), slice(n // 2, n))


def at_once(work: Callable[[R], T], first: R, second: R) -> list[T]:
    """``work`` on two things at the same time."""
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(work, second)
        return [work(first), other.result()]


_WORTH = 1 << 19  # numbers from which on a second thread repays its start
