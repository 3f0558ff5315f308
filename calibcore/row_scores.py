"""The scores of each row of a model, and their totals in a view or in cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibcore.profile import Profile
from calibcore.summation import total, total_of
from calibcore.top_label import complement
from calibcore.totals import CLIP, Totals, log_sums

if TYPE_CHECKING:
    from calibcore.predictions import Predictions

__all__ = ["LOG_LOSS", "brier_scores", "log_loss_of", "log_losses", "row_totals"]

FloatArray = NDArray[np.float64]
LOG_LOSS = "log loss of the view"  # where a profile remembers it


def row_totals(model: Predictions, view: str) -> Totals:
    """Totals over the rows of a view."""
    weight = 1.0 if model.weight is None else model.weight
    tied, clipped = model.n_tied if view == "top_label" else 0, int(np.count_nonzero(_true_class(model, view) < CLIP))
    return Totals(model.n, tied, clipped, total(brier_scores(model, view) * weight), total(log_losses(model, view) * weight))


def log_loss_of(profile: Profile) -> float:
    """Weighted log loss in nats of a view's probability for its event; one below 2⁻⁵² is raised to it."""
    if profile.inside is not None and profile.totals.log_loss and (profile.task != "multiclass" or profile.view != "top_label"):
        return profile.totals.log_loss  # of the rows; their cells know it nearly
    arrays = profile.weight, profile.positive, profile.value, profile.complement
    return profile.remember(LOG_LOSS, lambda: total_of(_log_loss, *arrays))


def _log_loss(weight: NDArray[Any], events: NDArray[Any], value: NDArray[Any], other: NDArray[Any]) -> FloatArray:
    """Σ −w·log of the probability of what happened in each cell."""
    happened = np.asarray(events, dtype=np.float64)
    found = log_sums(happened, np.maximum(weight - happened, 0.0), (value, other))
    return np.negative(found, out=found)


def log_losses(model: Predictions, view: str) -> FloatArray:
    """−log of the probability of what happened, raised to 2⁻⁵² where it is smaller; shape (n,), nats."""
    return np.asarray(-np.log(np.maximum(_true_class(model, view), CLIP)))


def brier_scores(model: Predictions, view: str) -> FloatArray:
    """Squared error of each row, shape (n,): of P(positive), of all classes together where there are more, or of one event."""
    if model.task == "multiclass" and view == "top_label":
        assert model.probabilities is not None
        squares = np.einsum("ij,ij->i", model.probabilities, model.probabilities, dtype=np.float64, casting="unsafe")
        return np.asarray(squares - 2 * _true_class(model, view) + 1)
    value, event = model.rows("positive" if model.task == "binary" else view)
    return np.asarray((value.astype(np.float64) - event) ** 2)


def _true_class(model: Predictions, view: str) -> FloatArray:
    """Probability that was given to what happened, shape (n,)."""
    if model.probabilities is not None and (view in ("top_label", "positive") or model.task == "binary"):
        assert model.label is not None
        return np.take_along_axis(model.probabilities, model.label[:, None], axis=1)[:, 0].astype(np.float64)
    value, event = model.rows(view)
    return np.where(event, value, complement(value)).astype(np.float64)
