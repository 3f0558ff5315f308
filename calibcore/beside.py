"""What stands beside the probabilities of rows: ids, groups, clusters, times, and notes about the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, rows_text, same_length
from calibcore.errors import InputError
from calibcore.later import Later

__all__ = ["checked_agreement", "checked_beside", "clip_note", "few_classes", "sum_note"]


def few_classes(classes: Sequence[str]) -> str:
    """Some class names, for a short description."""
    return f", classes {listing(classes, 4)}" if classes else ""


def clip_note(clipped: int) -> tuple[str, ...]:
    """A note on values that were set to 0 or 1."""
    what = "1 value" if clipped == 1 else f"{clipped:,} values"
    return (f"{what} a hair outside [0, 1] (rounding noise) set to the nearest end.",) if clipped else ()


def sum_note(count: int, largest: float) -> tuple[str, ...]:
    """A note on rows whose probabilities do not add up to 1."""
    return (f"{rows_text(count)} do not add up to exactly 1 (largest difference {largest:.2g}); used as written.",) if count else ()


Beside = tuple[NDArray[Any] | None, dict[str, NDArray[Any]], NDArray[Any] | None, NDArray[Any] | None]


def checked_beside(n: int, ids: Any, groups: Any, cluster: Any, time: Any) -> Beside:
    """Ids, groups, clusters and times as arrays of shape (n,); None where not given."""
    if not hasattr(groups, "items"):
        raise InputError("Groups must be a mapping of a name to one value for each row, such as {'site': sites}.")

    def column(values: Any, what: str) -> Any:
        if isinstance(values, Later):
            same_length(values, n, what)
            return values
        ours = isinstance(values, np.ndarray) and values.flags.owndata and not values.flags.writeable
        array = values if ours else np.array(values)
        if array.ndim != 1:
            raise InputError(f"The {what} need one value for each row, not an array of shape {array.shape}.")
        same_length(array, n, what)
        return array

    one = {"ids": ids, "clusters": cluster, "times": time}
    found = {what: None if values is None else column(values, what) for what, values in one.items()}
    return found["ids"], {k: column(v, f"groups {k!r}") for k, v in groups.items()}, found["clusters"], found["times"]


def checked_agreement(correct: NDArray[np.bool_], label: NDArray[np.intp] | None, predicted: NDArray[np.intp] | None) -> None:
    """InputError where a row is called right but its label is not the predicted class, or the other way round."""
    if label is None or predicted is None or np.array_equal(label == predicted, correct):
        return
    wrong = np.flatnonzero((label == predicted) != correct)
    word = "right" if correct[wrong[0]] else "wrong"
    raise InputError(
        f"Row {wrong[0] + 1} is called {word}, which its label and predicted class contradict ({rows_text(len(wrong))} in all). "
        "Leave out one of the three.",
        row=int(wrong[0]) + 1,
    )
