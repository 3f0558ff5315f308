"""What a score is made of: miscalibration, discrimination and uncertainty (CORP)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.errors import InputError
from calibcore.measures.arrays import view_profile
from calibcore.measures.isotonic import IsotonicCurve, cell_groups, isotonic
from calibcore.measures.murphy import view_brier
from calibcore.profile import Profile
from calibcore.row_scores import log_loss_of
from calibcore.summation import total, total_of
from calibcore.totals import CLIP, log_gain

__all__ = ["CorpDecomposition", "LogDecomposition", "corp", "corp_decomposition", "view_log_loss", "view_scale"]

FloatArray = NDArray[np.float64]

DRAWS = 1000
_NEAR = 1e-6  # to 0 or 1: what has as good as no chance


@dataclass(frozen=True, slots=True)
class LogDecomposition:
    """Log loss in nats as mcb − dsc + unc.

    Attributes
    ----------
    score, mcb, dsc, unc : float
        See `CorpDecomposition`.
    clipped : int, optional
        Rows whose probability of what happened was below 2⁻⁵² and was raised to it; without that, ``score`` and ``mcb``
        would be infinite, or nearly.
    infinite : int, optional
        Those of them where it was exactly 0, so that the log loss is infinite.

    Notes
    -----
    The counts are None where weighted rows of one confidence are right and wrong, and the cells do not say how many.
    """

    score: float
    mcb: float
    dsc: float
    unc: float
    clipped: int | None
    infinite: int | None

    def to_dict(self) -> dict[str, float | int | None]:
        """As plain data."""
        return {"score": self.score, "mcb": self.mcb, "dsc": self.dsc, "unc": self.unc, "clipped": self.clipped}


@dataclass(frozen=True, slots=True, eq=False)
class CorpDecomposition:
    """Brier score of a view as mcb − dsc + unc.

    Attributes
    ----------
    score : float
        Mean squared difference between the view's probability and its event.
    mcb : float
        Miscalibration: what the score would gain if the probabilities were replaced by the CORP curve; 0 or more.
    dsc : float
        Discrimination: what the curve gains over predicting the base rate for all rows; 0 or more, high is good.
    unc : float
        Uncertainty: the score of the base rate, which no model can change.
    log : LogDecomposition
        The same for the log loss.
    curve : IsotonicCurve
    scale : str
        What the score is of, and between which numbers it lies.
    """

    score: float
    mcb: float
    dsc: float
    unc: float
    log: LogDecomposition
    curve: IsotonicCurve
    scale: str
    profile: Profile = field(repr=False)

    def mcb_p_value(self, *, draws: int = DRAWS, seed: int = 0) -> float:
        """Probability that a calibrated model with these confidences shows a Brier miscalibration as large as this.

        Parameters
        ----------
        draws : int
        seed : int

        Returns
        -------
        float
            (1 + number of redrawn values at least as large as the observed)/(draws + 1).

        Notes
        -----
        Labels are redrawn as Bernoulli(p) and the curve is fitted anew.  Beyond 1,024 distinct confidences both the
        observed and the redrawn value are those of groups of neighbouring cells (at most 0.001 wide), so the cost does not
        depend on the number of rows.  Weights and clusters are kept, as `redraw_groups` describes; rows are independent otherwise.
        """
        if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < 1:
            raise InputError(f"The number of draws must be a whole number from 1 up, got {draws!r}.", value=draws)
        groups = cell_groups(self.profile)
        share = groups.positive / groups.weight
        observed = float(groups.miscalibration(share, groups.fit(share)))
        drawn = [groups.miscalibration(s, f) for s, f in groups.refits(int(draws), seed)]
        beyond = int(np.count_nonzero(np.concatenate(drawn) >= observed - 1e-12))
        return (1 + beyond) / (int(draws) + 1)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        parts = {"score": self.score, "mcb": self.mcb, "dsc": self.dsc, "unc": self.unc}
        return {**parts, "scale": self.scale, "log_loss": self.log.to_dict()}


def corp_decomposition(
    y_true: Any, y_prob: Any, *, view: str | None = None, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> CorpDecomposition:
    """Score = miscalibration − discrimination + uncertainty, by the CORP curve, for the Brier score and the log loss.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, as in `Predictions.from_arrays`.
    y_prob : array-like of shape (n,) or (n, K)
        P(positive), or one column a class.
    view : str, optional
        ``"top_label"``, ``"positive"`` or ``"class:<name>"``; by default positive for (n,), top_label for (n, K).
    classes : sequence, optional
        Class names in column order.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    CorpDecomposition
        With ``score``, ``mcb``, ``dsc``, ``unc``, the same in ``log``, the ``curve``, and ``mcb_p_value()``.

    Raises
    ------
    InputError
        For input that cannot be used.

    Notes
    -----
    With S the mean score, c the never-falling curve of `isotonic` and ȳ the base rate: MCB = S(p) − S(c(p)),
    DSC = S(ȳ) − S(c(p)), UNC = S(ȳ).  The curve is fitted to the same rows, so MCB is above 0 also for a calibrated model
    and shrinks as rows are added; the result's ``mcb_p_value()`` tells whether it is more than that.

    The score is that of the view, on a scale from 0 to 1.  In the top-label view of three or more classes it is the
    score of the *confidence* for the event "the predicted class is right", **not** the multiclass Brier score, which sums
    over classes; ``scale`` says so.

    References
    ----------
    Dimitriadis, Gneiting & Jordan (2021), doi:10.1073/pnas.2016191118.

    Examples
    --------
    >>> d = corp_decomposition([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8])
    >>> [round(v, 12) for v in (d.score, d.mcb, d.dsc, d.unc)]
    [0.2, 0.075, 0.125, 0.25]
    """
    return corp(view_profile(y_true, y_prob, view=view, classes=classes, sample_weight=sample_weight))


def corp(profile: Profile) -> CorpDecomposition:
    """`corp_decomposition` of a profile."""
    curve = isotonic(profile)
    base, whole, blocks = profile.accuracy, profile.weight_sum, curve.blocks
    score, dsc, unc = view_brier(profile), total(blocks.weight * (blocks.fitted - base) ** 2) / whole, base * (1 - base)
    if profile.inside is None:
        arrays = curve.value, curve.fitted, curve.weight, profile.positive
        mcb = total_of(lambda p, c, w, y: (p - c) * (w * (p + c) - 2 * y), *arrays) / whole
    else:
        mcb = score + dsc - unc  # the score is that of the rows, of which a cell knows the mean
    return CorpDecomposition(
        score=score,
        mcb=max(mcb, 0.0),
        dsc=dsc,
        unc=unc,
        log=_log_parts(profile, curve),
        curve=curve,
        scale=view_scale(profile),
        profile=profile,
    )


def _log_parts(profile: Profile, curve: IsotonicCurve) -> LogDecomposition:
    base, whole, blocks = profile.accuracy, profile.weight_sum, curve.blocks
    events, others = blocks.weight * blocks.fitted, blocks.weight * (1 - blocks.fitted)
    dsc = 0.0
    if base not in (0.0, 1.0):
        dsc = total(special.xlogy(events, blocks.fitted / base) + special.xlogy(others, (1 - blocks.fitted) / (1 - base))) / whole
    score = view_log_loss(profile)
    if profile.inside is None:
        arrays = profile.weight, profile.positive, curve.fitted, profile.value, profile.complement
        mcb = total_of(lambda w, e, c, p, q: log_gain(e, np.maximum(w - e, 0), (c, 1 - c), (p, q)), *arrays) / whole
    else:
        mcb = score + dsc - _entropy(base)
    clipped, infinite = _wrongly_excluded(profile, CLIP), _wrongly_excluded(profile, 0.0)
    if clipped is None and (profile.task != "multiclass" or profile.view != "top_label"):
        clipped = profile.totals.clipped
    return LogDecomposition(
        score=score,
        mcb=max(mcb, 0.0),
        dsc=max(dsc, 0.0),
        unc=_entropy(base),
        clipped=clipped,
        infinite=infinite,
    )


def _entropy(p: float) -> float:
    return float(special.entr(p) + special.entr(1 - p))


def _wrongly_excluded(profile: Profile, bound: float) -> int | None:
    """Rows whose probability of what happened is below ``bound`` (at 0: is 0); None where the cells do not tell."""
    found = 0
    low, high = np.searchsorted(profile.value, np.array([_NEAR, 1 - _NEAR], dtype=profile.value.dtype))
    for said, part in ((profile.value, slice(low)), (profile.complement, slice(high, None))):
        cells = np.flatnonzero((said[part] < bound) | (said[part] == 0))
        weight, count, events = (a[part][cells] for a in (profile.weight, profile.count, profile.positive))
        events = events if said is profile.value else weight - events
        if not profile.weighted:
            found += int(np.sum(events))
        elif np.any((events > 0) & (events < weight)):
            return None
        else:
            found += int(np.sum(count[events > 0]))
    return found


def view_log_loss(profile: Profile) -> float:
    """Log loss in nats of a view's probability for its event; one below 2⁻⁵² is raised to it."""
    return log_loss_of(profile) / profile.weight_sum


def view_scale(profile: Profile) -> str:
    """What the score of a view is of, and between which numbers it lies."""
    return "of the confidence only, 0 to 1" if profile.view == "top_label" and profile.task != "binary" else "0 to 1"
