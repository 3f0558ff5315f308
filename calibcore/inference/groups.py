"""Calibration by group: every statistic for each value of a column, with intervals and p-values that know how many were looked at."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibcore.checks import listing, needs, view_name
from calibcore.errors import InputError
from calibcore.inference.chance import ChanceRange
from calibcore.inference.family import Member, judged_together, smallest_holm
from calibcore.inference.intervals import Estimate
from calibcore.inference.levels import MAX_GROUPS, group_levels
from calibcore.inference.multiplicity import bonferroni_level
from calibcore.inference.outcome import DETECTED, bounded, outcome_text
from calibcore.inference.slices import MINIMUM, checked_minimum, enough, number, usual_partition
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.proportions import checked_level

__all__ = ["MAX_GROUPS", "Group", "Groups", "by_group", "each_group"]

_NEAR = 0.75  # likeness of two names from which on one is suggested for the other


@dataclass(frozen=True, slots=True)
class Group:
    """One group; what needs a judgement is None where it has too few rows.

    Attributes
    ----------
    name : str
        "(missing)" where the column is empty.
    n : int
    n_effective : float
        (Σw)²/Σw²; n without weights.
    judged : bool
        Whether it has at least the minimum of (effective) rows.
    accuracy, mean_confidence : float
        In the positive and class views the share of events and the mean probability.
    gap : Estimate
        Accuracy − mean confidence, with its simultaneous interval.
    ece : float
        In the given bins.
    chance : ChanceRange or None
        ECE that a calibrated model with these confidences shows in this group.
    p_value : float or None
        Of `detect` on the group's rows, not adjusted.
    shown_in : str or None
        The view that shows it most.
    p_holm, p_list : float or None
        Adjusted by Holm ("is any group miscalibrated?") and by Benjamini and Hochberg ("which ones?").
    visible_gap : float or None
        The smallest gap that the interval would have shown in four samples of five.
    weighted : bool
        Whether its rows carry weights, so that a share of them is no number of rows.
    """

    name: str
    n: int
    n_effective: float
    judged: bool
    accuracy: float
    mean_confidence: float
    gap: Estimate
    ece: float
    chance: ChanceRange | None = None
    p_value: float | None = None
    shown_in: str | None = None
    p_holm: float | None = None
    p_list: float | None = None
    visible_gap: float | None = None
    weighted: bool = False

    @property
    def detected(self) -> bool:
        """Whether the test finds that outcomes do not fit, for all groups at once."""
        return self.p_holm is not None and self.p_holm <= DETECTED

    @property
    def off_zero(self) -> bool:
        """Whether the interval of its gap leaves out 0."""
        return self.from_zero > 0

    @property
    def from_zero(self) -> float:
        """From the interval of the gap to 0; 0 where the interval holds 0 or there is none."""
        return max(self.gap.low, -self.gap.high, 0.0) if self.gap.low is not None and self.gap.high is not None else 0.0

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = {k: getattr(self, k) for k in ("name", "n", "n_effective", "judged", "accuracy", "mean_confidence", "ece", "shown_in")}
        numbers = {k: number(getattr(self, k)) for k in ("p_value", "p_holm", "p_list", "visible_gap")}
        return {**plain, "gap": self.gap.to_dict(), "chance": None if self.chance is None else self.chance.to_dict(), **numbers}


@dataclass(frozen=True, slots=True)
class Groups:
    """Outcome of `by_group`.

    Attributes
    ----------
    column, view : str
    level : float
        At which all intervals hold at once.
    minimum : int
    groups : tuple of Group
        Numbers by size, then names by the alphabet, then "(missing)".
    cut : bool
        Whether the groups are the ranges between the quartiles of a column of numbers.
    """

    column: str
    view: str
    level: float
    minimum: int
    groups: tuple[Group, ...]
    cut: bool = False

    def __repr__(self) -> str:
        least = bounded(self.groups)
        p = "" if least is None else f", smallest Holm-adjusted {least}"
        return f"<Groups of {self.column!r}: {len(self.groups):,} groups, {len(self.judged):,} judged{p}>"

    @property
    def judged(self) -> tuple[Group, ...]:
        """The groups with enough rows."""
        return tuple(g for g in self.groups if g.judged)

    @property
    def each_level(self) -> float:
        """Level of each single interval."""
        return bonferroni_level(self.level, max(1, len(self.judged)))

    @property
    def p_value(self) -> float | None:
        """Of "no group is miscalibrated": the smallest Holm-adjusted p-value; None if no group was judged."""
        return smallest_holm(self.groups)

    @property
    def clearest(self) -> tuple[Group, ...]:
        """The judged groups whose outcomes do not fit, or whose gap is off 0, the farthest from 0 first.

        Not by p-value, of which many are as small as redraws can tell.
        """
        off = [g for g in self.judged if g.detected or g.off_zero]
        return tuple(sorted(off, key=lambda g: (-g.from_zero, -abs(g.gap.value))))

    @property
    def text(self) -> str:
        """What was looked at and what was found, in a few sentences; the clearest group comes first."""
        first = self.clearest
        named = {g.name for g in first}
        text = outcome_text((*first, *(g for g in self.groups if g.name not in named)), self.minimum, one="group", where="in")
        return f"“{self.column}” is cut at its quartiles: {text}" if self.cut else text

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "column": self.column,
            "view": self.view,
            "level": self.level,
            "each_level": self.each_level,
            "minimum": self.minimum,
            "p_value": self.p_value,
            "text": self.text,
            "groups": [g.to_dict() for g in self.groups],
        }


def by_group(  # noqa: PLR0913 - how groups are looked at
    predictions: Predictions,
    column: str,
    *,
    view: str = "top_label",
    partition: Partition | None = None,
    level: float = 0.95,
    minimum: int = MINIMUM,
    seed: int = 0,
) -> Groups:
    """Calibration of each group of rows, for instance each hospital or each age band.

    Parameters
    ----------
    predictions : Predictions
    column : str
        One of ``predictions.groups``.  More than 50 different numbers are cut at their quartiles, such as ages: "18–31".
    view : str
        Of accuracy, confidence, gap and ECE.
    partition : Partition, optional
        Bins of the ECE, the same for every group; 15 of equal width by default.
    level : float
        At which all intervals hold at once.
    minimum : int
        Groups with fewer (effective) rows are listed, not judged.
    seed : int
        Of the chance range.

    Returns
    -------
    Groups

    Raises
    ------
    InputError
        If there is no such column or it has more than 50 different values that are no numbers, the model does not have the view, or a
        number is out of range.

    Notes
    -----
    Groups must be chosen before the outcomes are looked at.  Groups chosen after looking need rows of their own: neither
    the intervals nor the p-values know about groups that were tried and left out.

    Intervals are those of one sample at level 1 − (1 − level)/m for m judged groups (Bonferroni), so all of them hold at
    once.  p-values are those of `detect` on the group's rows: a binary model is tested in the confidence and in the
    positive view at once; a class view is tested alone.  They rest on 1,000 redraws, so none is below 1/1001.  Rows count
    as independent, but for those of a cluster.  A calibrated model has
    calibrated groups only if it knows the group or the group does not matter: a gap in a group can exist with no gap
    overall.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65–70; Benjamini & Hochberg (1995),
    doi:10.1111/j.2517-6161.1995.tb02031.x; Hébert-Johnson, Kim, Reingold & Rothblum (2018), arXiv:1711.08513
    (calibration in every group of a family).

    Examples
    --------
    >>> site = ["a"] * 60 + ["b"] * 60 + ["c"]
    >>> correct = ([1] * 48 + [0] * 12) + ([1] * 30 + [0] * 30) + [1]
    >>> found = by_group(Predictions.from_top_label([0.8] * 121, correct, groups={"site": site}), "site")
    >>> [(g.name, round(g.gap.value, 12), g.judged) for g in found.groups]
    [('a', 0.0, True), ('b', -0.3, True), ('c', 0.2, False)]
    >>> print(found.text)
    3 groups looked at, 1 of them with fewer than 50 rows and not judged; intervals are Bonferroni-adjusted. \
Outcomes do not fit the probabilities in “b” (smallest Holm-adjusted p ≤ 0.002).
    """
    needs(predictions, Predictions, "by_group")
    view = view_name(view)
    minimum, level, bins = checked_minimum(minimum), checked_level(level), usual_partition(partition, "by_group")
    parts, cut = _parts(predictions, column)
    found = judged_together([part for _, part in parts], view, bins, level=level, minimum=minimum, seed=seed)
    groups = [_group(name, part.profile(view), member) for (name, part), member in zip(parts, found, strict=True)]
    return Groups(column, view, level, minimum, tuple(groups), cut)


def each_group(
    predictions: Predictions, column: str, statistic: Callable[[Predictions], float], *, minimum: int = MINIMUM
) -> dict[str, float | None]:
    """Any statistic of each group.

    Parameters
    ----------
    predictions : Predictions
    column : str
        One of ``predictions.groups``, cut as by `by_group`.
    statistic : callable
        Takes the `Predictions` of one group and gives a number.
    minimum : int
        Groups with fewer (effective) rows give None.

    Returns
    -------
    dict of group name to number or None
        Not adjusted for the number of groups.

    Raises
    ------
    InputError
        If there is no such column or it has more than 50 different values that are no numbers.

    Examples
    --------
    >>> p = Predictions.from_top_label([0.9, 0.6, 0.7], [1, 1, 0], groups={"site": ["a", "a", "b"]})
    >>> each_group(p, "site", lambda rows: rows.profile().accuracy, minimum=2)
    {'a': 1.0, 'b': None}
    """
    needs(predictions, Predictions, "each_group")
    minimum = checked_minimum(minimum)
    # rows and weights are the same in every view, so the view does not matter for the size of a group
    parts, _ = _parts(predictions, column)
    return {name: float(statistic(part)) if enough(part.profile(), minimum) else None for name, part in parts}


def _parts(predictions: Predictions, column: str) -> tuple[list[tuple[str, Predictions]], bool]:
    """The rows of each group of a column, and whether its numbers were cut at their quartiles."""
    if column not in predictions.groups:
        raise _unknown(predictions, column)
    if predictions.held is not None:
        return list(predictions.held.parts[column]), False
    found = group_levels(predictions.groups[column])
    if len(found.names) > MAX_GROUPS:
        raise InputError(
            f"Column {column!r} has {len(found.names):,} different values; at most {MAX_GROUPS} groups are looked at. "
            "Join values into fewer groups, or choose a coarser column.",
            column=column,
            value=len(found.names),
        )
    return [(name, predictions.take(np.flatnonzero(found.code == i))) for i, name in enumerate(found.names)], found.cut


def _unknown(predictions: Predictions, column: str) -> InputError:
    """There is no such column; the name that is nearly this one, and all others."""
    names = list(predictions.groups)
    none = "It has none; name one with groups (--group)" + ("." if predictions.has_rows else ", where the profile is made of the rows.")
    have = f"It has {listing(names, 10)}." if names else none
    near = difflib.get_close_matches(str(column).casefold(), [n.casefold() for n in names], 1, _NEAR)
    meant = "".join(f" Is {n!r} meant?" for n in names if n.casefold() in near)
    return InputError(f"{predictions.name} has no group column {column!r}.{meant} {have}", column=column, available=tuple(names))


def _group(name: str, profile: Profile, found: Member) -> Group:
    shown_in = None if found.judgement is None else found.judgement.shown_in
    sizes: dict[str, Any] = {
        "n": profile.n,
        "n_effective": profile.n_effective,
        "accuracy": profile.accuracy,
        "mean_confidence": profile.mean_confidence,
        "weighted": profile.weighted,
    }
    return Group(name, **sizes, **found.fields(), shown_in=shown_in)
