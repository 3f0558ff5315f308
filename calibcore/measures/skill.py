"""Skill: what a model takes away from the score of the best forecast that is the same for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.measures.decomposition import view_log_loss, view_scale
from calibcore.measures.murphy import view_brier
from calibcore.measures.scores import brier_scale
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.summation import total

__all__ = ["SkillScores", "model_skill", "skill", "skill_scores"]

Reference = Literal["the base rate", "the class shares", "always claiming the accuracy"]


@dataclass(frozen=True, slots=True)
class SkillScores:
    """1 − S(model)/S(reference): share of the reference's score that the model takes away; 1 is perfect, 0 no better, below 0 worse.

    Attributes
    ----------
    brier, log_loss : float, optional
        None where every row had the same outcome, so that the reference's score is 0.
    scale : str
        What is scored.
    reference : {"the base rate", "the class shares", "always claiming the accuracy"}
        The forecast, the same for every row, that the model is measured against.
    """

    brier: float | None
    log_loss: float | None
    scale: str
    reference: Reference

    def to_dict(self) -> dict[str, float | str | None]:
        """As plain data."""
        return {"brier": self.brier, "log_loss": self.log_loss, "reference": self.reference}


def skill(profile: Profile) -> SkillScores:
    """Skill of a view alone: of its probability for its event, over the share of rows in which the event happened.

    Parameters
    ----------
    profile : Profile

    Returns
    -------
    SkillScores

    Notes
    -----
    In the top-label view of three or more classes, and of confidences, this scores the confidence for being right; what the
    model as a whole is worth is said by `model_skill`.
    """
    share = profile.accuracy
    best = share * (1 - share), float(special.entr(share) + special.entr(1 - share))
    reference: Reference = "always claiming the accuracy" if profile.view == "top_label" else "the base rate"
    return _over(best, (view_brier(profile), view_log_loss(profile)), view_scale(profile), reference)


def model_skill(predictions: Predictions) -> SkillScores:
    """Skill of a model, whatever view of it is shown.

    Parameters
    ----------
    predictions : Predictions

    Returns
    -------
    SkillScores

    Notes
    -----
    Two classes: of P(positive), over the base rate.  Three or more: of the multiclass Brier score, from 0 to 2, and the
    log loss, over forecasting the share π of each class, whose scores are 1 − Σπ² and −Σπ·ln π.  Confidences alone: over
    always claiming the accuracy; then skill is that of the confidence, and a model that is right more often need not
    have more of it.  Shares are weighted, and those of these very rows, which favours the reference a little.

    Examples
    --------
    >>> p = Predictions.from_arrays(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], classes="abc")
    >>> round(model_skill(p).brier, 12)  # 1 − 0.06/(2/3)
    0.91
    """
    if predictions.task == "top_label" or not predictions.every_class:
        return skill(predictions.profile())
    if predictions.task == "binary":
        return skill(predictions.profile("positive"))
    top, sums = predictions.profile(), _class_weights(predictions)
    share = sums / total(sums)
    best = total(share * (1 - share)), total(special.entr(share))
    scores = top.totals.brier / top.weight_sum, top.totals.log_loss / top.weight_sum
    return _over(best, scores, brier_scale(predictions.task, "top_label"), "the class shares")


def _class_weights(model: Predictions) -> NDArray[np.float64]:
    """Σw of the rows of each class, shape (K,)."""
    weight, label = model.weight, model.label
    if label is None:
        return np.array([model.profile(f"class:{c}").total("positive") for c in model.classes])
    if weight is None:
        return model.label_counts.astype(np.float64)
    return np.array([total(weight[label == k]) for k in range(len(model.classes))])


def _over(best: tuple[float, float], scores: tuple[float, float], scale: str, reference: Reference) -> SkillScores:
    """Skill by Brier score and by log loss, from those of the reference and of the model."""
    if min(best) <= 0:
        return SkillScores(None, None, scale, reference)
    return SkillScores(1 - scores[0] / best[0], 1 - scores[1] / best[1], scale, reference)


def skill_scores(
    y_true: Any, y_prob: Any, *, view: str | None = None, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> SkillScores:
    """Skill of a model over the best forecast that is the same for every row, by Brier score and by log loss.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, as in `Predictions.from_arrays`.
    y_prob : array-like of shape (n,) or (n, K)
        P(positive), or one column a class.
    view : str, optional
        By default the whole model; ``"top_label"``, ``"positive"`` or ``"class:<name>"`` for the skill of that view alone.
    classes : sequence, optional
        Class names in column order.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    SkillScores
        With ``brier``, ``log_loss``, the ``scale`` and the ``reference``.

    Raises
    ------
    InputError
        For input that cannot be used.

    Notes
    -----
    1 − S(model)/S(reference).  The reference is the base rate for two classes and for one class against the rest, the
    share of each class for three or more, and always claiming the accuracy in the top-label view, where the confidence
    is scored for being right.  It is that of these very rows, which favours it a little.  A probability below 2⁻⁵² is
    raised to it in the log loss.  A constant forecast of the base rate has ECE 0 and skill 0.

    References
    ----------
    Murphy (1988), doi:10.1175/1520-0493(1988)116<2417:SSBOTM>2.0.CO;2.

    Examples
    --------
    >>> round(skill_scores([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8]).brier, 12)
    0.2
    """
    predictions = Predictions.from_arrays(y_true, y_prob, classes=classes, sample_weight=sample_weight)
    return model_skill(predictions) if view is None else skill(predictions.profile(view))
