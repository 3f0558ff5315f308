"""What was found for several parts judged together, in one sentence for groups and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from calibcore.checks import listing

__all__ = ["DETECTED", "LEAST_P", "bounded", "outcome_text"]

DETECTED = 0.05
LEAST_P = 1 / 1001  # of a test by 1,000 redraws
_NAMED = 5


class _Part(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def judged(self) -> bool: ...
    @property
    def p_value(self) -> float | None: ...
    @property
    def p_holm(self) -> float | None: ...


def outcome_text(parts: Sequence[_Part], minimum: int, *, one: str, where: str) -> str:
    """How many parts were looked at, and which do not fit, in the order of the parts; ``where`` is "in" or "of".

    Parameters
    ----------
    parts : sequence
        Each with name, judged, p_value and p_holm.
    minimum : int
        Rows from which on a part is judged.
    one, where : str
        "group" and "in", or "label" and "of".
    """
    judged = [p for p in parts if p.judged]
    looked = f"{len(parts):,} {one if len(parts) == 1 else f'{one}s'} looked at"
    if len(judged) < len(parts):
        looked += f", {len(parts) - len(judged):,} of them with fewer than {minimum:,} rows and not judged"
    least = bounded(parts)
    if least is None:
        return f"{looked}."
    looked += "; intervals are Bonferroni-adjusted" if len(judged) > 1 else ""
    shown = [f"“{p.name}”" for p in judged if p.p_holm is not None and p.p_holm <= DETECTED]
    if shown:
        return f"{looked}. Outcomes do not fit the probabilities {where} {listing(shown, _NAMED)} (smallest Holm-adjusted {least})."
    return f"{looked}. No {one} shows miscalibration (smallest Holm-adjusted {least}), which does not show that there is none."


def bounded(parts: Sequence[_Part]) -> str | None:
    """The smallest Holm-adjusted p-value: "p = 0.02", or "p ≤ 0.004" where its redraws can give no less; None without one."""
    found = min(((p.p_holm, p.p_value) for p in parts if p.judged and p.p_holm is not None and p.p_value is not None), default=None)
    return None if found is None else f"p {'≤' if found[1] <= LEAST_P else '='} {found[0]:.2g}"
