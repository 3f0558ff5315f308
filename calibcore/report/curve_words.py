"""What is seen without bins: the CORP curve and the cumulative differences, in sentences."""

from __future__ import annotations

from calibcore.advice.verdict import percent, points
from calibcore.analysis import Analysis
from calibcore.plot.frame import words_of
from calibcore.plot.wording import p_words
from calibcore.report.tables import score_text

__all__ = ["corp_sentence", "cumulative_sentence"]

_BEYOND = 0.05


def corp_sentence(a: Analysis) -> str:
    """The Brier score of the view in its three parts, measured at the CORP curve."""
    c = a.measures["corp"]
    parts = f"{score_text(c.mcb)} miscalibration − {score_text(c.dsc)} discrimination + {score_text(c.unc)} uncertainty"
    return (
        f"The Brier score of this view, {score_text(c.score)}, is {parts}. The first is the distance to the CORP curve; "
        "it is never below 0 and grows by chance too."
    )


def cumulative_sentence(a: Analysis) -> str:
    """Where the rows are that the claims do not fit, found without bins."""
    found = a.measures["cumulative"]
    p = p_words(found.p_value)
    size = f"{points(found.range)} points of all rows"
    if not found.sign:
        return "The outcomes add up to what is claimed at every score."
    if found.p_value > _BEYOND:
        return f"No stretch of rows differs from its claims by more than chance explains: the largest adds up to {size} ({p})."
    low, high = (percent(v) for v in found.interval)
    words, top = words_of(a), a.view == "top_label"  # in the other views a probability too high may be one not sure enough
    word = ("too sure" if top else words.over) if found.sign < 0 else "not sure enough" if top else words.under
    where = low if low == high else f"{low} to {high}"
    return f"The largest fault lies at {words.predicted} {where}: {word} there, which adds up to {size} ({p})."
