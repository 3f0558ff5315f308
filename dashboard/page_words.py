"""Messages of the package in words of the page: what they say about options of the command line becomes the name of a control."""

from __future__ import annotations

import re

__all__ = ["CONTROLS", "on_page"]

CONTROLS = {  # `Mapping` field → how a sentence calls the control of the Columns dialog
    "label": "Label",
    "predicted": "Predicted class",
    "probabilities": "Probability",
    "confidence": "Confidence in the predicted class",
    "correct": "Right or wrong",
    "positive": "The probability refers to",
    "model": "Model",
    "weight": "Weight",
    "id": "Row id",
    "groups": "Groups",
    "cluster": "Cluster",
    "time": "Time",
    "scale": "They are written as",
    "columns_are": "Several columns are",
    "missing": "Leave out rows with missing values",
    "classes": "Class names in their order",
    "drop_label": "Label values to leave out",
    "outcome": "A comparison that makes the label",
    "rows": "Rows that are judged",
    "pair": "How the labels are joined",
}
_FLAGS = {"prob": "probabilities", "model-col": "model", "group": "groups"}  # options that are not called like their fields
_ELSEWHERE = {"view": "View"}  # controls outside the dialog
_VALUE = r"""(?: (?:'[^']*'|"[^"]*"|(?!(?:and|or)\b|--)[^\s()]*[^\s().,;]))?"""
_FIELD = re.compile(rf"(?<![\w-])({'|'.join(CONTROLS)})(?:='[^']*')? \(--([a-z-]+){_VALUE}\)")  # scale='logit' (--scale logit)
_FLAG = re.compile(rf"(?<![\w-])--([a-z][a-z-]*)({_VALUE})")
_BESIDE = re.compile(r" ?\([^()]*--labels-file\b(?:[^()]|\([^()]*\))*\)")  # on the page files are joined as they are added


def on_page(text: str) -> str:
    """A message as somebody reads it who sees the page and no command line.

    Examples
    --------
    >>> on_page("If these are percent, say so with scale (--scale).")
    'If these are percent, say so with “They are written as”.'
    >>> on_page("Name the right columns (--label, --predicted).")
    'Name the right columns (“Label”, “Predicted class”).'
    >>> on_page("It makes outcomes of them (--outcome 'rain > 0').")
    "It makes outcomes of them (“A comparison that makes the label”: 'rain > 0')."
    """
    text = _FIELD.sub(lambda m: _quoted(CONTROLS[m[1]]) if _field(m[2]) == m[1] else m[0], _BESIDE.sub("", text))
    return _FLAG.sub(_control, text)


def _control(flag: re.Match[str]) -> str:
    """The control that an option stands for; an option that the page lacks stays."""
    field = _field(flag[1])
    word = CONTROLS.get(field) or _ELSEWHERE.get(field)
    if word is None:
        return flag[0]
    return _quoted(word) + (f":{flag[2]}" if field == "outcome" and flag[2] else "")


def _field(flag: str) -> str:
    return _FLAGS.get(flag, flag.replace("-", "_"))


def _quoted(word: str) -> str:
    return f"“{word}”"
