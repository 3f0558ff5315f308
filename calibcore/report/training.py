"""The one question about rows that no file answers: was the model trained or tuned on them."""

from __future__ import annotations

from typing import Literal

__all__ = ["ANSWERS", "QUESTION", "Training", "training_caveat", "training_statement"]

Training = Literal["yes", "no", "unknown"]

QUESTION = "Were these rows used to train or tune the model?"
ANSWERS: dict[Training, str] = {"yes": "Yes", "no": "No", "unknown": "Not sure"}
_CAVEATS: dict[Training, str] = {
    "yes": "These rows were used to train or tune the model: on new cases it will usually do worse than here.",
    "unknown": "It is not known whether the model was trained or tuned on these rows; if so, it will usually do worse on new cases.",
}


def training_caveat(answer: Training) -> str | None:
    """What must be read beside every number; None where the rows were kept apart.

    Examples
    --------
    >>> training_caveat("no") is None
    True
    """
    return _CAVEATS.get(answer)


def training_statement(answer: Training) -> str:
    """The same for a report, which also says that the rows were kept apart, and on whose word."""
    return _CAVEATS.get(answer, "By the analyst's word, these rows were not used to train or tune the model.")
