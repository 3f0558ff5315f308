"""Work on many rows as two shares, which run at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["in_shares", "together"]

T = TypeVar("T")


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
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(work, slice(n // 2, n))
        return [work(slice(0, n // 2)), second.result()]


def together(numbers: int, tasks: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """What each task gives, by its name; of many numbers two tasks at a time."""
    if numbers < _WORTH:
        return {name: task() for name, task in tasks.items()}
    with ThreadPoolExecutor(2) as pool:
        doing = {name: pool.submit(task) for name, task in tasks.items()}
        return {name: task.result() for name, task in doing.items()}


_WORTH = 1 << 18  # numbers from which on a second thread repays its start
