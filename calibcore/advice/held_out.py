"""Held-out predictions against the model's own: paired differences, and how a map's parameters vary over the folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.advice.calibrator_file import Calibrator
from calibcore.advice.cross_fitting import CrossFit
from calibcore.inference.intervals import Estimate
from calibcore.predictions import Predictions
from calibcore.summation import total

__all__ = ["Parameter", "cluster_codes", "differences", "parameter_ranges", "plain_parameters"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


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
    freedom; with G clusters of sums u = Σw(d − d̄), se² = Σu²/(Σw)² · G/(G − 1), with G − 1.  Where a log loss was
    raised from infinity, before or after, its difference has no interval.
    """
    one, two = before.row_scores(), after.row_scores()
    gaps = [event - value.astype(np.float64) for value, event in (p.rows(view) for p in (before, after))]
    brier, log_loss, gap = (_paired(b - a, before, level) for a, b in ((one[0], two[0]), (one[1], two[1]), (gaps[0], gaps[1])))
    if before.profile().totals.clipped or after.profile().totals.clipped:
        log_loss = Estimate(log_loss.value)
    return log_loss, brier, gap


def _paired(difference: FloatArray, predictions: Predictions, level: float) -> Estimate:
    weight = np.ones(predictions.n) if predictions.weight is None else predictions.weight
    share = weight / total(weight)
    mean = total(share * difference)
    parts: FloatArray = share * (difference - mean)
    units = 1 / total(share**2)
    if predictions.cluster is not None:
        parts = np.bincount(cluster_codes(predictions), weights=parts).astype(np.float64)
        units = float(len(parts))
    if units <= 1 + 1e-9:
        return Estimate(mean)
    half = float(special.stdtrit(units - 1, (1 + level) / 2)) * np.sqrt(total(parts**2) * units / (units - 1))
    return Estimate(mean, float(mean - half), float(mean + half))


def cluster_codes(predictions: Predictions) -> IndexArray:
    """Which cluster each row is in, 0 … G − 1, shape (n,)."""
    cluster = np.asarray(predictions.cluster)
    return predictions.remember(
        "cluster codes", lambda: np.unique(cluster.astype(str) if cluster.dtype == object else cluster, return_inverse=True)[1]
    )
