"""Refinement and calibration: what a model would still lose if it were recalibrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibcore.advice.calibrator_file import Calibrator
from calibcore.advice.cross_fitting import cross_fit
from calibcore.advice.held_out import Parameter, differences, parameter_ranges, plain_parameters
from calibcore.checks import needs, rows_text
from calibcore.inference.intervals import Estimate
from calibcore.predictions import Predictions
from calibcore.proportions import checked_level

__all__ = ["Refinement", "Split", "refinement"]


@dataclass(frozen=True, slots=True)
class Split:
    """A score as refinement + calibration; ``calibration`` with its interval, and it may be negative."""

    score: float
    refinement: float
    calibration: Estimate

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"score": self.score, "refinement": self.refinement, "calibration": self.calibration.to_dict()}


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """What a model would still lose if it were recalibrated, and what recalibration takes away.

    Attributes
    ----------
    method : str
    log_loss, brier : Split
    parameters : dict of name to Parameter
        On all rows, and their range over the folds.
    folds, seed : int
    level : float
    notes : tuple of str
    """

    method: str
    log_loss: Split
    brier: Split
    parameters: dict[str, Parameter] | None
    folds: int
    seed: int
    level: float
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        found = ", ".join(
            f"{name} {s.score:.4f} = {s.refinement:.4f} + {s.calibration.value:.4f}"
            for name, s in (("log loss", self.log_loss), ("Brier", self.brier))
        )
        return f"<Refinement by {self.method}: {found}>"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = {k: getattr(self, k) for k in ("method", "folds", "seed", "level")}
        splits = {"log_loss": self.log_loss.to_dict(), "brier": self.brier.to_dict()}
        return {**plain, **splits, "parameters": plain_parameters(self.parameters), "notes": list(self.notes)}


def refinement(predictions: Predictions, *, method: str | None = None, folds: int = 5, seed: int = 0, level: float = 0.95) -> Refinement:
    """Split log loss and Brier score into refinement and calibration by recalibrating held-out rows.

    Parameters
    ----------
    predictions : Predictions
    method : str, optional
        The class of maps: by default ``"platt"`` for two classes and for confidences alone, ``"temperature"`` for more.
    folds, seed : int
        Of the folds that rows are held out in (`calibcore.advice.cross_fitting.fold_of`).
    level : float
        Of the interval of the calibration part.

    Raises
    ------
    InputError
        If a training part allows no fit.

    Notes
    -----
    Refinement = S(g(p)), the score after a map g fitted on the other folds; calibration = S(p) − S(g(p)).  A small
    class of maps sees less than all miscalibration, so calibration is bounded from below, and it is negative where the
    fit costs more than it repairs.  The interval is that of `remedies`, with its limits.

    References
    ----------
    Berta, Holzmüller, Jordan & Bach (2025), Rethinking early stopping: refine, then calibrate, arXiv:2501.19195.

    Examples
    --------
    >>> y = [1] * 40 + [0] * 160 + [1] * 160 + [0] * 40
    >>> r = refinement(Predictions.from_arrays(y, [0.1] * 200 + [0.9] * 200), method="temperature")
    >>> round(r.brier.score, 12), abs(r.brier.refinement - 4 / 25) < 0.001  # 17/100 → 4/25
    (0.17, True)
    """
    needs(predictions, Predictions, "refinement")
    checked_level(level)
    name = method or ("temperature" if predictions.task == "multiclass" else "platt")
    calibrator = Calibrator.fit(predictions, name)
    fit = cross_fit(predictions, name, folds=folds, seed=seed, start=dict(calibrator.parameters))
    log_loss, brier, _ = differences(predictions, fit.predictions, level=level)
    one, two = (p.profile() for p in (predictions, fit.predictions))
    notes = list(calibrator.notes)
    clipped = one.totals.clipped + two.totals.clipped
    if clipped:
        notes.append(f"{rows_text(clipped)} got probability 0 for what happened, which log loss cannot judge: decide on the Brier score.")
    sums = ((p.totals.log_loss / p.weight_sum, p.totals.brier / p.weight_sum) for p in (one, two))
    splits = [Split(a, b, _negative(d)) for a, b, d in zip(*sums, (log_loss, brier), strict=True)]
    return Refinement(name, splits[0], splits[1], parameter_ranges(fit, calibrator), int(folds), seed, level, tuple(notes))


def _negative(estimate: Estimate) -> Estimate:
    low, high = (None if end is None else -end for end in (estimate.high, estimate.low))
    return Estimate(-estimate.value, low, high)
