"""Which class is which: names of classes in column order, and each row's label as an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import checked_flags, checked_labels, distinct_labels, listing, name_key, name_text, sorted_names
from calibcore.errors import InputError

__all__ = ["binary_labels", "binary_names", "named_labels", "positive_last", "view_column"]

Numbers = NDArray[Any]
_SEVERAL = (
    "Give one column of probabilities for each class, or 0/1 labels for the class that the probability refers to; "
    "confidences in the predicted class go to Predictions.from_top_label(confidence, correct)."
)


def binary_names(y_true: Any, scores: Numbers, classes: Sequence[Any] | None, positive: Any) -> list[str]:
    """(other, positive) for one column of P(positive), whose values are ``scores``."""
    if classes is not None:
        names = [name_text(c) for c in classes]
        if len(names) != 2:
            raise InputError(f"One column of P(positive) needs two classes (other, positive), not {len(names)}.", value=names)
        if positive is not None:
            if name_key(positive) not in {name_key(n) for n in names}:
                raise InputError(f"The positive class {positive!r} is not one of {listing(names)}.", value=positive, available=tuple(names))
            names.sort(key=lambda n: name_key(n) == name_key(positive))
        return names
    found = distinct_labels(y_true)
    keys = {name_key(d) for d in found}
    if positive is not None:
        others = sorted_names([d for d in found if name_key(d) != name_key(positive)])
        if len(others) > 1:
            column = f"One column of P({name_text(positive)}) needs two classes"
            raise InputError(f"{column}; the labels are {listing(sorted_names(found), 6)}. {_SEVERAL}")
        return [others[0] if others else f"not {name_text(positive)}", name_text(positive)]
    if found and all(isinstance(d, (bool, np.bool_)) for d in found):
        return ["False", "True"]
    if keys <= {0.0, 1.0}:
        return ["0", "1"]
    if keys <= {-1.0, 1.0}:
        return ["-1", "1"]
    raise _unclear(found, scores)


def _unclear(found: Sequence[Any], scores: Numbers) -> InputError:
    """What to say of labels that do not tell which of them one column refers to."""
    said = f"The labels are {listing(sorted_names(found), 6)}"
    if _like_probabilities(found) and np.isin(scores, (0, 1)).all():
        return InputError(f"{said} and the probabilities are all 0 or 1: were the two arguments swapped? Labels come first.", value=found)
    if len({name_key(d) for d in found}) > 2:
        return InputError(f"{said}, and one column of P(positive) needs two classes. {_SEVERAL}", value=found)
    return InputError(f"{said}: say which one the probability refers to, with classes=(other, positive).", value=found)


def _like_probabilities(found: Sequence[Any]) -> bool:
    """Whether labels are numbers from 0 to 1, some of them in between."""
    numbers = all(isinstance(d, (float, np.floating)) and 0 <= d <= 1 for d in found)
    return numbers and any(0 < d < 1 for d in found)


def binary_labels(y_true: Any, names: Sequence[str], *, named: bool) -> NDArray[np.intp]:
    """0 or 1 for each row, by name where names were given, else by what 0/1, booleans and −1/1 mean."""
    if named or names in (["-1", "1"], ["0", "1"]):
        array = np.asarray(y_true)
        if array.dtype != np.bool_:
            return checked_labels(array, names)
        if {name_key(n) for n in names} == {0.0, 1.0}:
            return array.astype(np.intp)
        return checked_labels(array.astype(object), names)
    return checked_flags(np.asarray(y_true), "labels").astype(np.intp)


def named_labels(y_true: Any, k: int, classes: Sequence[Any] | None) -> tuple[list[str], NDArray[np.intp]]:
    """Class names in column order and each row's index."""
    labels = np.asarray(y_true)
    if classes is not None:
        names = [name_text(c) for c in classes]
        if len(names) != k:
            raise InputError(f"There are {len(names)} class names for {k} columns of probabilities.", value=names)
        return names, checked_labels(labels, names)
    if labels.dtype == np.bool_:
        labels = labels.astype(np.intp)
    found = distinct_labels(labels)
    indices = [str(i) for i in range(k)]
    if {name_key(d) for d in found} <= {float(i) for i in range(k)}:
        return indices, checked_labels(labels, indices)
    names = sorted_names(found)
    if len(names) != k:
        raise InputError(
            f"The labels {listing(names, 6)} do not say which of the {k} columns is which; give the names in column order with classes=.",
            value=names,
        )
    return names, checked_labels(labels, names)


def positive_last(matrix: Numbers, names: list[str], label: NDArray[np.intp], positive: Any) -> tuple[Numbers, list[str], NDArray[np.intp]]:
    """Two classes in the order (other, positive)."""
    if positive is None or len(names) != 2:
        return matrix, names, label
    if name_key(positive) not in {name_key(n) for n in names}:
        raise InputError(f"The positive class {positive!r} is not one of {listing(names)}.", value=positive, available=tuple(names))
    if name_key(positive) == name_key(names[1]):
        return matrix, names, label
    return matrix[:, ::-1], names[::-1], 1 - label


def view_column(view: str, classes: Sequence[str], views: Sequence[str], name: str) -> int:
    """Column of the class that a view is about; InputError if the model called ``name`` does not have the view."""
    if view == "positive" and view in views:
        return 1
    wanted = name_key(view.removeprefix("class:")) if view.startswith("class:") and len(views) > 1 else None
    for index, one in enumerate(classes):
        if wanted is not None and name_key(one) == wanted:
            return index
    raise InputError(f"There is no view {view!r} of {name}; it has {listing(views, 10)}.", value=view, available=tuple(views))
