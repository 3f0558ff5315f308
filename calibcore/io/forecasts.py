"""Forecasts and detections: several forecasters of one yes/no question, and boxes that were matched or not."""

from __future__ import annotations

import re

import numpy as np

from calibcore.checks import listing
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.confidences import confidence_reading
from calibcore.io.evidence import Evidence, question
from calibcore.io.labels import named_labels
from calibcore.io.language_models import with_told
from calibcore.io.one_column import positive_reading
from calibcore.io.reading import Reading
from calibcore.io.vocabulary import is_named, plain, polarity

__all__ = ["detections", "several_forecasters"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BOXES = _words("bbox bounding_box pred_bbox pred_box box boxes xyxy xywh")
_CORNERS = tuple(_words(w) for w in ("xmin ymin xmax ymax", "x_min y_min x_max y_max", "x1 y1 x2 y2", "left top right bottom"))
_OVERLAPS = _words("iou max_iou best_iou")
_OUTCOMES = _words("tp is_tp true_positive is_true_positive matched is_matched match is_match hit correct is_correct")
_SURE = _words("tp is_tp true_positive is_true_positive")
_COUNTS = _words("fp fn tn false_positive false_negative")
_FORECAST = re.compile(r".*_(prediction|median|mean|forecast|prob|probability|aggregate)|(prediction|forecast|median|mean)_.*")


def detections(e: Evidence) -> Reading | None:
    """Boxes with a score: judged by the flag that says whether each one was matched, never without it."""
    m = e.mapping
    if any(t is not None for t in (m.probabilities, m.confidence, m.correct, m.predicted, m.columns_are)):
        return None
    keys = {plain(n): n for n in e.names}
    boxes = _boxes(e, keys)
    flags = [n for k, n in keys.items() if k in _OUTCOMES and _is_flag(e, n)]
    sure = [n for n in flags if plain(n) in _SURE]
    scores = [*e.named("confidence"), *(n for n in e.named("probability") if n not in flags)]
    if not (boxes or (sure and not _COUNTS & set(keys))) or len(scores) != 1:
        return None
    if m.label is not None:
        threshold = f"{m.label} ".partition(" ")[0] in boxes
        return positive_reading(with_told(e, predicted=()), (scores[0],)) if threshold else None
    if [n for n in named_labels(e) if is_named(n, "label", exact=True) and plain(n) not in ("label", "labels", "class", "category")]:
        return None
    if len(sure or flags) == 1:
        return confidence_reading(with_told(e, correct=(sure or flags)[0], confidence=scores[0]), None)
    if flags:
        text = f"Which column says whether a box was matched: {listing(flags, 4)}?"
        raise AmbiguousLayout([question("correct", text, flags)])
    ious = [n for n in boxes if plain(n) in _OVERLAPS]
    if ious:
        text = f"No column says whether a box counts as found. Does its overlap {ious[0]!r} decide, from one half on?"
        raise AmbiguousLayout([question("outcome", text, [f"{ious[0]} >= 0.5"])])
    raise InputError(
        f"The file holds detections (column {boxes[0]!r}) but no outcome: nothing says which boxes were right. "
        "Match them with the true boxes, and add a column tp with 1 and 0.",
        column=boxes[0],
    )


def _boxes(e: Evidence, keys: dict[str, str]) -> list[str]:
    """Columns that only detections have: a box in a cell, its four sides, or its overlap with the true box."""
    cells = [n for k, n in keys.items() if k in _BOXES and not e.numeric(n) and not e.class_like(n)]
    sides = [keys[k] for four in _CORNERS if four <= set(keys) and all(e.numeric(keys[k]) for k in four) for k in sorted(four)]
    return [*cells, *sides, *(n for k, n in keys.items() if k in _OVERLAPS and e.unit(n))]


def _is_flag(e: Evidence, name: str) -> bool:
    if e.column(name).kind == "flag":
        return True
    if e.column(name).kind not in ("number", "text"):
        return False
    values = e.values(name, 6)
    return (
        bool(values)
        and (e.numeric(name) or e.column(name).kind == "text")
        and {str(v).casefold() for v in values or ()} <= {"0", "1", "true", "false", "yes", "no"}
    )


def several_forecasters(e: Evidence) -> Reading | None:
    """One yes/no outcome by its name and several columns of forecasts: it is asked whether they are one forecaster each."""
    m = e.mapping
    if any(t is not None for t in (m.probabilities, m.confidence, m.correct, m.columns_are)) or e.predictions:
        return None
    if e.named("probability") or e.named("confidence"):
        return None
    labels = [n for n in named_labels(e) if is_named(n, "label", exact=True)]
    values = list(e.values(labels[0], 6) or ()) if len(labels) == 1 else []
    if len(values) != 2 or polarity(values) is None:
        return None
    columns = [n for n in e.free if n not in labels and e.unit(n)]
    others = [n for n in e.free if n not in (*labels, *columns) and e.numeric(n)]
    alike = all(_FORECAST.fullmatch(plain(n)) for n in columns) or plain(labels[0]) == "resolution"
    if len(columns) < 2 or not alike or others:
        return None
    total = np.sum([e.column(n).numeric().values for n in columns], axis=0)
    if float(np.mean(np.abs(total - 1) <= 0.02)) > 0.5:
        return None
    text = f"Are {listing(columns, 5)} the forecasts of one model each? (One of them alone: --prob.)"
    raise AmbiguousLayout([question("columns_are", text, ["models"])])
