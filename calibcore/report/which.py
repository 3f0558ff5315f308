"""Which of two models makes the smaller error, in words: the page Compare and the report say it alike."""

from __future__ import annotations

from collections.abc import Sequence

from calibcore.advice.verdict import percent
from calibcore.checks import rows_text
from calibcore.inference.comparison import Differences, Pairing
from calibcore.inference.intervals import Estimate
from calibcore.plot.wording import difference, interval_words
from calibcore.report.tables import plain, score_text

__all__ = ["difference_sentence", "lower", "other_scores", "rows_compared", "scores", "smaller_error", "without_intervals"]


def difference_sentence(d: Differences, baseline: str, level: float = 0.95) -> str:
    """Which of two models makes the smaller error, by which score and on which rows.

    Parameters
    ----------
    d : Differences
    baseline : str
        Name of the model that the other is compared with.
    level : float
        Of the intervals.
    """
    return " ".join(filter(None, (smaller_error(d, baseline, level), other_scores(d, baseline, level), rows_compared(d.pairing))))


def smaller_error(d: Differences, baseline: str, level: float = 0.95) -> str:
    """The answer by the score that decides: log loss, or the Brier score where log losses were clipped.

    Parameters
    ----------
    d : Differences
    baseline : str
    level : float
    """
    model, base, judged = plain(d.model), plain(baseline), scores(d)
    if not judged:
        if (open_ := without_intervals(d, baseline)) is not None:
            return open_
        ends = interval_words(d.gap, in_points=True)
        interval = f" ({percent(level)} interval {ends})" if ends else ""
        return (
            f"{model} and {base}: only the gap can be compared; it differs by {difference(d.gap.value, in_points=True)} points{interval}."
        )
    name, found = judged[0]
    if lower(found) is None:
        minus = f"the {name} of {model} less that of {base} is {_signed(found, level)}"
        return f"These rows do not tell which of {model} and {base} makes the smaller error: {minus}."
    better, worse = (model, base) if lower(found) else (base, model)
    return f"{better} makes a smaller error than {worse}: {name} lower by {_by(found, level)}."


def without_intervals(d: Differences, baseline: str) -> str | None:
    """The scores of two models that can be set side by side, but have no interval; None where they have one, or none can be.

    Parameters
    ----------
    d : Differences
    baseline : str
    """
    found = [(name, e) for name, e in (("log loss", d.log_loss), ("Brier score", d.brier)) if e is not None]
    if not found or scores(d):
        return None
    differ = " and ".join(f"the {name} by {score_text(e.value, signed=True)}" for name, e in found)
    model, base = plain(d.model), plain(baseline)
    return f"{model} differs from {base} in {differ}, without an interval: whether that is more than chance cannot be told."


def other_scores(d: Differences, baseline: str, level: float = 0.95) -> str:
    """What the score that does not decide says beside it; "" where there is none.

    Parameters
    ----------
    d : Differences
    baseline : str
    level : float
    """
    judged = scores(d)
    decided = lower(judged[0][1]) if judged else None
    return " ".join(_other(name, e, (plain(d.model), plain(baseline)), level, decided=decided) for name, e in judged[1:])


def rows_compared(pairing: Pairing) -> str:
    """On which rows two models were compared, and how these were matched.

    Parameters
    ----------
    pairing : Pairing
    """
    rows = rows_text(pairing.n_common)
    return {
        "id": f"Both were judged on the same {rows}, matched by their id.",
        "row order": f"Both were judged row by row on {rows}: no ids are shared, and the labels agree in order.",
        "no rows": "Of one only a profile is there, not the rows, so they are compared as two samples: a difference shows less sharply.",
    }.get(pairing.how, "They were judged on different rows, so a difference shows less sharply.")


def scores(d: Differences) -> Sequence[tuple[str, Estimate]]:
    """The scores with an interval, the one that decides first."""
    return [(name, e) for name, e in (("log loss", d.log_loss), ("Brier score", d.brier)) if e is not None and e.low is not None]


def _other(name: str, e: Estimate, names: tuple[str, str], level: float, *, decided: bool | None) -> str:
    is_lower = lower(e)
    if is_lower is None:
        says = f"Nor does the {name} tell" if decided is None else f"The {name} does not tell"
        return f"{says} them apart: {_signed(e, level)}."
    better = names[0] if is_lower else names[1]
    if decided is None:
        return f"By {name} {better} makes the smaller error: lower by {_by(e, level)}."
    if is_lower == decided:
        return f"By {name} too: lower by {_by(e, level)}."
    return f"By {name} it is the other way round: that of {better} is lower by {_by(e, level)}."


def lower(e: Estimate) -> bool | None:
    """Whether the model's score is lower than the baseline's; None where the interval holds 0."""
    assert e.low is not None
    assert e.high is not None
    return None if e.low <= 0 <= e.high else e.value < 0


def _by(e: Estimate, level: float) -> str:
    """A difference without its sign: "0.0788 (95% interval 0.0726 to 0.0850)"."""
    assert e.low is not None
    assert e.high is not None
    low, high = sorted((abs(e.low), abs(e.high)))
    return f"{score_text(abs(e.value))} ({percent(level)} interval {score_text(low)} to {score_text(high)})"


def _signed(e: Estimate, level: float) -> str:
    """A difference that holds 0: "+0.0010 (95% interval −0.0050 to +0.0070)"."""
    value, low, high = (score_text(x, signed=True) for x in (e.value, e.low, e.high))
    return f"{value} ({percent(level)} interval {low} to {high})"
