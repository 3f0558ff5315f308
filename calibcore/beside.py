"""What stands beside the probabilities of rows: the likeliest class, ids, groups, clusters, times, and notes about the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import complement, largest, listing, rows_text, same_length
from calibcore.errors import InputError
from calibcore.later import Later

__all__ = ["both_sides", "checked_agreement", "checked_beside", "clip_note", "few_classes", "likeliest", "sum_note", "tied_rows"]

_BLOCK = 1 << 14


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


def likeliest(label: NDArray[np.integer[Any]], matrix: NDArray[Any]) -> dict[str, Any]:
    """The fields of predictions that labels and probabilities give; what P(positive) alone, shape (n,), gives is put off."""
    if matrix.ndim == 2:
        predicted, confidence, tied = largest(matrix)
        found = {"confidence": confidence, "correct": predicted == label, "probabilities": matrix, "predicted": predicted}
        return {**found, "label": label, "n_tied": tied}
    n = len(matrix)
    both = Later(n, lambda: both_sides(matrix))
    top = cache(lambda: largest(both.value()))
    return {
        "confidence": Later(n, lambda: top()[1]),
        "correct": Later(n, lambda: top()[0] == label),
        "probabilities": both,
        "predicted": Later(n, lambda: top()[0]),
        "label": label if label.dtype == np.intp else Later(n, lambda: label.astype(np.intp)),
        "n_tied": int(np.count_nonzero(matrix == 0.5)),  # no other value is its own complement
    }


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
