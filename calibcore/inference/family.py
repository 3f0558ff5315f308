"""Several parts judged together: intervals that hold at once, p-values that know how many were looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from calibcore.inference.intervals import Estimate
from calibcore.inference.multiplicity import benjamini_hochberg, bonferroni_level, holm
from calibcore.inference.slices import Judgement, enough, judge
from calibcore.partition import Partition
from calibcore.predictions import Predictions

__all__ = ["Member", "judged_together", "smallest_holm"]


@dataclass(frozen=True, slots=True)
class Member:
    """What was found for one of several parts; without a judgement where it has too few rows.

    Attributes
    ----------
    gap : Estimate
        Without ends where there is no judgement.
    ece : float
    judgement : Judgement or None
    p_holm, p_list : float or None
        Adjusted by Holm, and by Benjamini and Hochberg.
    """

    gap: Estimate
    ece: float
    judgement: Judgement | None = None
    p_holm: float | None = None
    p_list: float | None = None

    def fields(self) -> dict[str, Any]:
        """What a group and a label have in common, by the names of their fields."""
        common = {"judged": self.judgement is not None, "gap": self.gap, "ece": self.ece}
        if self.judgement is None:
            return common
        found = {k: getattr(self.judgement, k) for k in ("chance", "p_value", "visible_gap")}
        return {**common, **found, "p_holm": self.p_holm, "p_list": self.p_list}


class _Part(Protocol):
    @property
    def judged(self) -> bool: ...
    @property
    def p_holm(self) -> float | None: ...


def judged_together(
    parts: Sequence[Predictions], view: str, partition: Partition, *, level: float, minimum: int, seed: int
) -> list[Member]:
    """Judge every part that has the minimum of (effective) rows; ``level`` is that at which all intervals hold at once."""
    profiles = [p.profile(view) for p in parts]
    good = [enough(p, minimum) for p in profiles]
    each = bonferroni_level(level, max(1, sum(good)))
    found = [judge(p, view, partition, level=each, seed=seed) if g else None for p, g in zip(parts, good, strict=True)]
    p_values = [None if f is None else f.p_value for f in found]
    adjusted = zip(holm(p_values).tolist(), benjamini_hochberg(p_values).tolist(), strict=True)
    return [
        Member(Estimate(p.total("residual") / p.weight_sum), p.bin(partition).ece)
        if f is None
        else Member(f.gap, p.bin(partition).ece, f, *both)
        for p, f, both in zip(profiles, found, adjusted, strict=True)
    ]


def smallest_holm(parts: Sequence[_Part]) -> float | None:
    """Of "no part is miscalibrated": the smallest Holm-adjusted p-value; None if no part was judged."""
    return min((p.p_holm for p in parts if p.judged and p.p_holm is not None), default=None)
