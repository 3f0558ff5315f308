"""What a held-out trial of a recalibration says, in a sentence: it helps, makes it worse, does not help, or is left open."""

from __future__ import annotations

from typing import Literal

import numpy as np

from calibcore.inference.intervals import Estimate

__all__ = ["NEGLIGIBLE", "Outcome", "ends_text", "outcome", "sentence"]

Outcome = Literal["helps", "does_not_help", "makes_it_worse", "open", "not_tried"]

NEGLIGIBLE = 0.01  # share of a score: a gain below that is none
_ROUNDING = 1e-12
_FINEST = 10  # decimals of a change


def outcome(title: str, log_loss: Estimate, brier: Estimate, before: tuple[float, float], clipped: tuple[int, int]) -> tuple[Outcome, str]:
    """How a trial ended, and the sentence for it.

    Parameters
    ----------
    title : str
    log_loss, brier : Estimate
        After − before.  Log loss decides; the Brier score where the log loss has no interval.
    before : (float, float)
        Log loss and Brier score before.
    clipped : (int, int)
        Rows with a probability of 0 for what happened, before and after.

    Notes
    -----
    An interval that holds 0 is "does not help" only where its better end is negligible, a gain of less than 1 % of the score
    before; else the rows leave it open.
    """
    what, judged, was = ("log loss", log_loss, before[0]) if log_loss.low is not None else ("Brier score", brier, before[1])
    if judged.low is None or judged.high is None:
        return "not_tried", f"{sentence(title)} cannot be judged on so few rows."
    numbers = f"{what} {ends_text(judged)}"
    tail = f"; rows with a probability of 0 for what happened: {clipped[0]:,} before, {clipped[1]:,} after" if any(clipped) else ""
    if judged.high < -_ROUNDING:
        return "helps", f"{sentence(title)} helps: {numbers}{tail}."
    if judged.low > _ROUNDING:
        return "makes_it_worse", f"{sentence(title)} makes it worse: {numbers}{tail}."
    if judged.low > -max(NEGLIGIBLE * was, _ROUNDING):
        return "does_not_help", f"{sentence(title)} does not help here: {numbers}{tail}."
    return "open", f"These rows do not tell whether {title} helps: {numbers}{tail}."


def sentence(title: str) -> str:
    """A title at the start of a sentence."""
    return title[0].upper() + title[1:]


def ends_text(estimate: Estimate) -> str:
    """Such as "+0.004 (−0.002 to +0.010)": two digits of the half-width, at least three decimals, and no end that reads 0 but is not.

    Examples
    --------
    >>> ends_text(Estimate(0.00024, 0.000004, 0.00048))
    '+0.00024 (+0.000004 to +0.00048)'
    """
    assert estimate.low is not None
    assert estimate.high is not None
    half = max((estimate.high - estimate.low) / 2, abs(estimate.value) / 10)
    decimals = 3 if half <= 0 else int(np.clip(1 - np.floor(np.log10(half)), 3, 6))
    value, low, high = (_signed(v, decimals) for v in (estimate.value, estimate.low, estimate.high))
    return f"{value} ({low} to {high})"


def _signed(x: float, decimals: int) -> str:
    """A change with its sign; with one digit where fewer would make it 0."""
    if abs(x) > _ROUNDING:
        decimals = next((d for d in range(decimals, _FINEST) if round(abs(x), d)), _FINEST)
    text = f"{x:+.{decimals}f}"
    return text.replace("-", "−") if float(text) else text[1:]
