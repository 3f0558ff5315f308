"""From labels and probabilities as arrays to the profile of one view, for the functions that take arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibcore.predictions import Predictions
from calibcore.profile import Profile

__all__ = ["usual_view", "view_profile"]


def usual_view(y_prob: Any) -> str:
    """What each field's users expect: positive for probabilities of shape (n,) or (n, 1), top_label for (n, K)."""
    shape = np.shape(y_prob)
    return "positive" if len(shape) == 1 or shape[1] == 1 else "top_label"


def view_profile(
    y_true: Any, y_prob: Any, *, view: str | None = None, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> Profile:
    """Profile of a view of arrays, as `bin_statistics` takes them."""
    predictions = Predictions.from_arrays(y_true, y_prob, classes=classes, sample_weight=sample_weight)
    return predictions.profile(view or usual_view(y_prob))
