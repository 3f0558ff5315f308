"""Held-out predictions against the model's own: paired differences, and how a map's parameters vary over the folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from calibcore.advice.calibrator_file import Calibrator
from calibcore.advice.cross_fitting import CrossFit
from calibcore.inference.comparison import mean_and_error, t_estimate
from calibcore.inference.intervals import Estimate
from calibcore.predictions import Predictions

__all__ = ["Parameter", "differences", "mean_difference", "parameter_ranges", "plain_parameters"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter fitted on all rows, and its lowest and highest value over the folds; one number, or one a class."""

    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def parameter_ranges(fit: CrossFit, calibrator: Calibrator) -> dict[str, Parameter] | None:
    """Each parameter on all rows and its range over the folds; None for maps of as many steps as the data asked for."""
    if "any" in fit.method.shapes.values():
        return None
    found = {}
    for name in fit.method.shapes:
        folds = np.array([p[name] for p in fit.parameters])
        ends = (calibrator.parameters[name], folds.min(axis=0), folds.max(axis=0))
        found[name] = Parameter(*(tuple(e.tolist()) for e in ends))
    return found


def plain_parameters(parameters: Mapping[str, Parameter] | None) -> dict[str, dict[str, list[float]]] | None:
    """Parameters as plain data."""
    return {name: {k: list(v) for k, v in asdict(p).items()} for name, p in parameters.items()} if parameters else None


def differences(
    before: Predictions, after: Predictions, *, view: str = "top_label", level: float = 0.95
) -> tuple[Estimate, Estimate, Estimate]:
    """After − before of log loss, Brier score and signed gap, on the same rows in the same order.

    Notes
    -----
    Mean of the row differences d ± t·se: se² = Σw²(d − d̄)²/(Σw)² · n_eff/(n_eff − 1), with n_eff − 1 degrees of
    freedom, as between two models (`calibcore.inference.comparison`).  With clusters their sums Σw(d − d̄) take the place
    of the rows, and n_eff = (Σw)²/Σ_c W_c²; a row without a cluster is one of its own.  Where a log loss was raised from
    infinity, before or after, its difference has no interval.
    """
    one, two = before.row_scores(), after.row_scores()
    gaps = [event - value.astype(np.float64) for value, event in (p.rows(view) for p in (before, after))]
    pairs = ((one[0], two[0]), (one[1], two[1]), (gaps[0], gaps[1]))
    brier, log_loss, gap = (t_estimate(*mean_difference(b - a, before), level) for a, b in pairs)
    if before.profile().totals.clipped or after.profile().totals.clipped:
        log_loss = Estimate(log_loss.value)
    return log_loss, brier, gap


def mean_difference(difference: FloatArray, predictions: Predictions) -> tuple[float, float, float]:
    """Mean of row differences of a model, its standard error and degrees of freedom, by its weights and clusters."""
    return mean_and_error(difference, predictions.weight, predictions.cluster_code)
