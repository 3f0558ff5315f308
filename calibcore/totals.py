"""Additive totals of rows: how many, how many tied or clipped, and their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.summation import total
from calibcore.top_label import complement

__all__ = ["CLIP", "Totals", "log_gain", "log_sums", "totals_of"]

CLIP = 2.0**-52  # a true-class probability below this is raised to it in the log loss
Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Totals:
    """Additive totals of the rows that cells cannot give.

    Attributes
    ----------
    rows : int
        Rows with a positive weight.
    tied : int
        Rows whose largest probability is shared by several classes.
    clipped : int
        Rows whose true-class probability was below 2⁻⁵² and was raised to it in the log loss.
    brier, log_loss : float
        Weighted sums over rows; log loss in nats.
    """

    rows: int
    tied: int = 0
    clipped: int = 0
    brier: float = 0.0
    log_loss: float = 0.0

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.rows + other.rows,
            self.tied + other.tied,
            self.clipped + other.clipped,
            self.brier + other.brier,
            self.log_loss + other.log_loss,
        )


def log_sums(events: Numbers, others: Numbers, said: tuple[Numbers, Numbers]) -> NDArray[np.float64]:
    """Σw of what happened times the log of the probability said of it, raised to 2⁻⁵² where it is smaller; shape (cells,)."""
    return _of_what_happened(events, others, lambda p: np.log(_raised(p)), said)


def log_gain(events: Numbers, others: Numbers, better: tuple[Numbers, Numbers], said: tuple[Numbers, Numbers]) -> NDArray[np.float64]:
    """Σw of what happened times the log of the quotient of two probabilities of it, of the better and of the one said; shape (cells,).

    The latter is raised to 2⁻⁵² where it is smaller.
    """
    return _of_what_happened(events, others, lambda b, p: np.log(b / _raised(p)), better, said)


def _raised(p: Numbers) -> NDArray[np.float64]:
    return np.maximum(p, CLIP, dtype=np.float64)


def _of_what_happened(
    events: Numbers, others: Numbers, function: Callable[..., NDArray[np.float64]], *sides: tuple[Numbers, Numbers]
) -> NDArray[np.float64]:
    """Σw of events times a function of the first sides, and of the others times that of the second ones.

    What did not happen counts for nothing, though it had no chance; most cells hold one kind only, and are looked at once.
    """
    first = events > 0
    with np.errstate(divide="ignore"):
        found = function(*(np.where(first, *side) for side in sides))
        found *= np.where(first, events, others)
        both = np.flatnonzero(first & (others > 0))
        found[both] += others[both] * function(*(second[both] for _, second in sides))
    return found


def _event_scores(value: Numbers, event: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Brier score and log loss of each row, shape (n,), of a probability for its event; and how many were raised to 2⁻⁵²."""
    happened = np.where(event, value, complement(value)).astype(np.float64)
    return (value.astype(np.float64) - event) ** 2, -np.log(np.maximum(happened, CLIP)), int(np.count_nonzero(happened < CLIP))


def totals_of(value: Numbers, event: NDArray[np.bool_], weight: NDArray[np.float64] | None) -> Totals:
    """Totals of rows with a probability each for their event; arrays of shape (n,)."""
    brier, log_loss, clipped = _event_scores(value, event)
    w = 1.0 if weight is None else weight
    return Totals(len(value), 0, clipped, total(brier * w), total(log_loss * w))
