"""Proper scores: Brier score and log loss, which judge the probabilities themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calibcore.predictions import Predictions

__all__ = ["brier_scale", "brier_score", "log_loss"]


def brier_score(y_true: Any, y_prob: Any, *, classes: Sequence[Any] | None = None, sample_weight: Any = None) -> float:
    """Brier score: mean squared difference between probability and outcome; lower is better.

    Parameters
    ----------
    y_true, y_prob, classes, sample_weight
        As in `Predictions.from_arrays`.

    Returns
    -------
    float
        Two classes: Σ(p − y)²/n, from 0 to 1.  K ≥ 3: summed over classes, from 0 to 2 (some tools halve it).

    Notes
    -----
    A strictly proper score: its expectation is smallest for the true probabilities.  The mean over rows is unbiased for
    the population's; it mixes calibration with discrimination, which `corp_decomposition` separates.

    References
    ----------
    Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2.

    Examples
    --------
    >>> round(brier_score([1, 0], [0.8, 0.4]), 12)
    0.1
    """
    profile = Predictions.from_arrays(y_true, y_prob, classes=classes, sample_weight=sample_weight).profile()
    return profile.totals.brier / profile.weight_sum


def log_loss(y_true: Any, y_prob: Any, *, classes: Sequence[Any] | None = None, sample_weight: Any = None) -> float:
    """Log loss in nats: mean of −log(probability of what happened); lower is better.

    Parameters
    ----------
    y_true, y_prob, classes, sample_weight
        As in `Predictions.from_arrays`.

    Notes
    -----
    Strictly proper and unbiased, but for a probability below 2⁻⁵², which is raised to it so that the value is finite;
    `Analysis` counts such rows as ``clipped``.

    References
    ----------
    Good (1952), doi:10.1111/j.2517-6161.1952.tb00104.x.

    Examples
    --------
    >>> round(log_loss([1, 1], [1.0, 0.75]), 12)
    0.143841036226
    """
    profile = Predictions.from_arrays(y_true, y_prob, classes=classes, sample_weight=sample_weight).profile()
    return profile.totals.log_loss / profile.weight_sum


def brier_scale(task: str, view: str) -> str:
    """The scale that a Brier score is on, in words."""
    if task == "top_label":
        return "of the confidence only, 0 to 1"
    if task == "multiclass" and view == "top_label":
        return "sum over classes, 0 to 2"
    return "0 to 1"
