"""Multi-label models: one yes/no question a label, each judged alone, and whether any of them is miscalibrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibcore.checks import checked_flags, checked_probabilities, listing, name_text, needs_all
from calibcore.errors import InputError
from calibcore.inference.chance import ChanceRange
from calibcore.inference.family import judged_together, smallest_holm
from calibcore.inference.intervals import Estimate
from calibcore.inference.multiplicity import bonferroni_level
from calibcore.inference.outcome import outcome_text
from calibcore.inference.slices import MINIMUM, checked_minimum, number, usual_partition
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.proportions import checked_level

__all__ = ["Label", "MultiLabel", "multilabel", "multilabel_from_arrays"]


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """One label in the positive view; what needs a judgement is None where it has too few rows.

    Attributes
    ----------
    name : str
    profile : Profile
        The positive view.
    judged : bool
        Whether it has at least the minimum of (effective) rows.
    gap : Estimate
        Base rate − mean probability, with its simultaneous interval.
    ece : float
        In the given bins.
    chance : ChanceRange or None
        ECE that a calibrated model with these probabilities shows.
    p_value : float or None
        Of `detect`, not adjusted.
    p_holm, p_list : float or None
        Adjusted by Holm ("is any label miscalibrated?") and by Benjamini and Hochberg ("which ones?").
    visible_gap : float or None
        The smallest gap that the interval would have shown in four samples of five.
    """

    name: str
    profile: Profile
    judged: bool
    gap: Estimate
    ece: float
    chance: ChanceRange | None = None
    p_value: float | None = None
    p_holm: float | None = None
    p_list: float | None = None
    visible_gap: float | None = None

    def __repr__(self) -> str:
        return f"<Label {self.name!r}: n = {self.n:,}, base rate {self.base_rate:.4g}, ECE {self.ece:.4f}>"

    @property
    def n(self) -> int:
        """Rows."""
        return self.profile.n

    @property
    def base_rate(self) -> float:
        """Share of rows that have the label."""
        return self.profile.accuracy

    @property
    def mean_probability(self) -> float:
        """Mean probability of the label."""
        return self.profile.mean_confidence

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without the profile."""
        plain = {k: getattr(self, k) for k in ("name", "n", "judged", "base_rate", "mean_probability", "ece")}
        numbers = {k: number(getattr(self, k)) for k in ("p_value", "p_holm", "p_list", "visible_gap")}
        return {**plain, "gap": self.gap.to_dict(), "chance": None if self.chance is None else self.chance.to_dict(), **numbers}


@dataclass(frozen=True, slots=True, eq=False)
class MultiLabel:
    """Outcome of `multilabel`.

    Attributes
    ----------
    level : float
        At which all intervals hold at once.
    minimum : int
    labels : tuple of Label
        In the order given.
    """

    level: float
    minimum: int
    labels: tuple[Label, ...]

    def __repr__(self) -> str:
        names = listing([repr(x.name) for x in self.labels], 4)
        return f"<MultiLabel of {names}: {len(self.judged):,} judged, mean ECE {self.mean_ece:.4f}>"

    @property
    def judged(self) -> tuple[Label, ...]:
        """The labels with enough rows."""
        return tuple(x for x in self.labels if x.judged)

    @property
    def profiles(self) -> dict[str, Profile]:
        """The positive view of each label."""
        return {x.name: x.profile for x in self.labels}

    @property
    def mean_ece(self) -> float:
        """Plain mean of the labels' ECE: rare labels count as much as frequent ones."""
        return float(np.mean([x.ece for x in self.labels]))

    @property
    def p_value(self) -> float | None:
        """Of "no label is miscalibrated": the smallest Holm-adjusted p-value; None if no label was judged."""
        return smallest_holm(self.labels)

    @property
    def text(self) -> str:
        """What was looked at and what was found, in a few sentences."""
        return outcome_text(self.labels, self.minimum, one="label", where="of")

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "level": self.level,
            "each_level": bonferroni_level(self.level, max(1, len(self.judged))),
            "minimum": self.minimum,
            "p_value": self.p_value,
            "mean_ece": self.mean_ece,
            "text": self.text,
            "labels": [x.to_dict() for x in self.labels],
        }


def multilabel(
    models: Sequence[Predictions],
    *,
    partition: Partition | None = None,
    level: float = 0.95,
    minimum: int = MINIMUM,
    seed: int = 0,
) -> MultiLabel:
    """Calibration of each label of a multi-label model.

    Parameters
    ----------
    models : sequence of Predictions
        One binary model a label, as `calibcore.read` gives them for a file whose columns are labels.
    partition : Partition, optional
        Bins of the ECE, the same for every label; 15 of equal width by default.
    level : float
        At which all intervals hold at once.
    minimum : int
        Labels with fewer (effective) rows are listed, not judged.
    seed : int
        Of the chance range.

    Returns
    -------
    MultiLabel

    Raises
    ------
    InputError
        If there are no labels, a model is not binary, or two labels share a name.

    Notes
    -----
    Labels of the same rows depend on each other.  Holm's adjustment and Bonferroni intervals hold however they do; the
    list of Benjamini and Hochberg holds for positive dependence.  Each label is judged against its own outcomes: labels
    that are calibrated one by one need not be so together (two labels of a row may exclude each other).  p-values are
    those of `detect` in the confidence and the positive view at once, from 1,000 redraws.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65–70; Benjamini & Hochberg (1995),
    doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    >>> rain = Predictions.from_arrays([1] * 30 + [0] * 30, [0.5] * 60, name="rain")
    >>> snow = Predictions.from_arrays([1] * 30 + [0] * 30, [0.1] * 60, name="snow")
    >>> found = multilabel([rain, snow])
    >>> [(x.name, round(x.gap.value, 12), x.p_holm <= 0.05) for x in found.labels]
    [('rain', 0.0, False), ('snow', 0.4, True)]
    """
    needs_all(models, Predictions, "multilabel")
    _check(models)
    minimum, level, bins = checked_minimum(minimum), checked_level(level), usual_partition(partition, "multilabel")
    found = judged_together(models, "positive", bins, level=level, minimum=minimum, seed=seed)
    labels = [Label(m.name, m.profile("positive"), **f.fields()) for m, f in zip(models, found, strict=True)]
    return MultiLabel(level, minimum, tuple(labels))


def multilabel_from_arrays(
    y_true: Any,
    y_prob: Any,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: Any = None,
    level: float = 0.95,
    minimum: int = MINIMUM,
) -> MultiLabel:
    """Calibration of each label of a multi-label model from arrays; for other options give `multilabel` one `Predictions` a label.

    Parameters
    ----------
    y_true : array-like of shape (n, L)
        0/1 or booleans: whether a row has each label.
    y_prob : array-like of shape (n, L)
        Probability of each label; rows need not add up to 1.
    labels : sequence of L names, optional
        "label 1" … "label L" by default; the column names where ``y_prob`` is a frame.
    sample_weight : array-like of shape (n,), optional
    level : float
    minimum : int

    Returns
    -------
    MultiLabel

    Raises
    ------
    InputError
        If shapes do not match, an outcome is not 0 or 1, or a probability is missing or outside [0, 1].

    Notes
    -----
    What is adjusted for, and what is assumed: see `multilabel`.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65–70.

    Examples
    --------
    >>> y = [[1, 0], [0, 1]] * 25
    >>> found = multilabel_from_arrays(y, [[0.5, 0.75]] * 50, labels=["rain", "snow"])
    >>> [(x.name, x.base_rate, x.gap.value) for x in found.labels]
    [('rain', 0.5, 0.0), ('snow', 0.5, -0.25)]
    """
    truth, probability = _matrix(y_true, "Outcomes"), _matrix(y_prob, "Probabilities")
    if truth.shape != probability.shape:
        raise InputError(f"Outcomes have shape {truth.shape} and probabilities {probability.shape}; both need (rows, labels).")
    given = getattr(y_prob, "columns", None) if labels is None else labels
    names = [f"label {i + 1}" for i in range(truth.shape[1])] if given is None else [name_text(x) for x in given]
    if len(names) != truth.shape[1]:
        raise InputError(f"There are {len(names):,} label names for {truth.shape[1]:,} columns.", value=len(names))
    models = [_one(truth[:, i], probability[:, i], sample_weight, name) for i, name in enumerate(names)]
    return multilabel(models, level=level, minimum=minimum)


def _matrix(values: Any, what: str) -> Any:
    try:
        matrix = np.asarray(values)
    except ValueError:  # rows of unequal length
        raise InputError(f"{what} have rows of unequal length.") from None
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(f"{what} need one row a case and one column a label, shape (n, L); these have shape {matrix.shape}.")
    return matrix


def _one(truth: Any, probability: Any, weight: Any, name: str) -> Predictions:
    """One label; a fault names it."""
    try:
        values = checked_probabilities(probability)[0]
        return Predictions.from_arrays(checked_flags(truth, "outcomes"), values, sample_weight=weight, name=name)
    except InputError as fault:
        raise InputError(f"Label {name!r}: {fault}", row=fault.row, column=name) from None


def _check(models: Sequence[Predictions]) -> None:
    if not models:
        raise InputError("There are no labels to judge: give one model a label.")
    other = next((m for m in models if m.task != "binary"), None)
    if other is not None:
        raise InputError(f"Each label needs a yes/no model; {other.name!r} is {other.task}.")
    names = [m.name for m in models]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise InputError(f"Two labels are called {twice!r}; give each its own name.", value=twice)
