"""The one question about rows that no file answers: was the model trained or tuned on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

__all__ = ["ANSWERS", "QUESTION", "Answers", "Training", "question", "training_caveat", "training_statement", "training_statements"]

Training = Literal["yes", "no", "unknown"]
Answers = Mapping[str, Training]  # of each model, by its name

QUESTION = "Were these rows used to train or tune the model?"
ANSWERS: dict[Training, str] = {"yes": "Yes", "no": "No", "unknown": "Not sure"}


def training_caveat(answer: Training) -> str | None:
    """What must be read beside every number; None where the rows were kept apart.

    Examples
    --------
    >>> training_caveat("no") is None
    True
    """
    return None if answer == "no" else training_statement(answer)


def question(names: str) -> str:
    """The same question about models by name, where there are several.

    Examples
    --------
    >>> question("swift-v2")
    'Were these rows used to train or tune swift-v2?'
    """
    return QUESTION.replace("the model", names)


def training_statement(answer: Training, of: str = "the model", *, many: bool = False) -> str:
    """The same for a report, which also says that the rows were kept apart, and on whose word.

    Parameters
    ----------
    answer : {"yes", "no", "unknown"}
    of : str
        Who is spoken of; ``many`` where that is more than one.

    Examples
    --------
    >>> print(training_statement("no"))
    By the analyst's word, these rows were not used to train or tune the model.
    """
    it, was = ("they", "were") if many else ("it", "was")
    said: dict[Training, str] = {
        "yes": f"These rows were used to train or tune {of}: on new cases {it} will usually do worse than here.",
        "no": f"By the analyst's word, these rows were not used to train or tune {of}.",
        "unknown": f"It is not known whether {of} {was} trained or tuned on these rows; if so, {it} will usually do worse on new cases.",
    }
    return said[answer]


def training_statements(answers: Answers) -> tuple[str, ...]:
    """One statement for each answer that was given, about all models or about those it was given for.

    Parameters
    ----------
    answers : dict of str to {"yes", "no", "unknown"}

    Examples
    --------
    >>> for line in training_statements({"a": "no", "b": "yes", "c": "no"}):
    ...     print(line)
    By the analyst's word, these rows were not used to train or tune a and c.
    These rows were used to train or tune b: on new cases it will usually do worse than here.
    """
    by_answer: defaultdict[Training, list[str]] = defaultdict(list)
    for name, answer in answers.items():
        by_answer[answer].append(name)
    if len(by_answer) == 1 and len(answers) > 1:
        return tuple(training_statement(answer, "these models", many=True) for answer in by_answer)
    if len(answers) == 1:
        return tuple(training_statement(answer) for answer in by_answer)
    return tuple(training_statement(answer, " and ".join(names), many=len(names) > 1) for answer, names in by_answer.items())
