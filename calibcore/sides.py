"""The profiles of a model's views; those of a binary model come from the cells of one, so that its rows are sorted once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibcore.cells import are_ones, row_cells, unweighted
from calibcore.later import Memo, kept
from calibcore.profile import Profile
from calibcore.row_scores import LOG_LOSS, log_loss_of, row_totals
from calibcore.top_label import BothSides, complement
from calibcore.totals import CLIP, Totals

if TYPE_CHECKING:
    from calibcore.predictions import Predictions

__all__ = ["first_predicted", "one_probability", "profile_of"]

Numbers = NDArray[Any]
_NEAR = 2.0**-10  # to 0 or 1; what is further is far above what is clipped


def profile_of(model: Predictions, view: str) -> Profile:
    """The profile of one of a model's views."""
    return replace(_profile_of(model, view), classes=model.classes)


def _profile_of(model: Predictions, view: str) -> Profile:
    if model.held is not None:
        return model.held.profile(view, model.classes, model.name)
    p = one_probability(model)
    if p is not None and view == "positive":
        return _positive(p, np.asarray(model.label == 1))
    if p is not None and view in model.views:
        return _side(model.profile("positive"), view, model.classes, model.n_tied)
    value, event = model.rows(view)
    beside: dict[str, Any] = {"weight": model.weight, "cluster": model.cluster_code, "task": model.task, "n_classes": len(model.classes)}
    return Profile.from_rows(value, event, view=view, totals=row_totals(model, view), **beside)


def one_probability(model: Predictions) -> Numbers | None:
    """P(positive), shape (n,), of a binary model of equal, independent rows whose P(other) is its `complement`; else None."""
    if model.held is not None or model.task != "binary" or model.weight is not None or model.cluster_code is not None:
        return None
    return model.remember("one probability", lambda: _one(kept(model, "probabilities")))


def _one(held: Any) -> Numbers | None:
    """The second column of a matrix of two, or of what will make it, where the first is its complement."""
    if isinstance(held, BothSides):
        return held.positive
    return held[:, 1] if np.array_equal(held[:, 0], complement(held[:, 1])) else None


def _positive(value: Numbers, event: NDArray[np.bool_]) -> Profile:
    """The positive view of rows without weights, with the scores of the whole model; arrays of shape (n,)."""
    cells = Profile.from_rows(value, event, view="positive", totals=Totals(len(value)), task="binary", n_classes=2)
    low, high = np.searchsorted(cells.value, np.array([_NEAR, 1 - _NEAR], dtype=value.dtype))
    first, last = (p.astype(np.float64) < CLIP for p in (cells.value[:low], complement(cells.value[high:])))
    clipped = int(cells.positive[:low][first].sum() + (cells.count - cells.positive)[high:][last].sum())
    log_loss = log_loss_of(cells)
    return replace(cells, totals=Totals(len(value), 0, clipped, cells.total("squared_error"), log_loss))


def _side(positive: Profile, view: str, classes: tuple[str, ...], tied: int) -> Profile:
    """Another view, from the cells of the positive one: of a class, or of the likelier one; ``tied`` rows have none."""
    if view == f"class:{classes[1]}":
        return positive.called(view)
    others, k = positive.count - positive.positive, len(positive)
    if view == "top_label":
        k = first_predicted(positive)
    value = np.concatenate([positive.complement[:k][::-1], positive.value[k:]])
    right = np.concatenate([others[:k][::-1], positive.positive[k:]])
    if are_ones(positive.count):
        cells: dict[str, Any] = row_cells(value, right.astype(np.bool_), in_runs=True)
    else:
        cells = _sorted(value, np.concatenate([positive.count[:k][::-1], positive.count[k:]]), right)
    totals = replace(positive.totals, tied=tied if view == "top_label" else 0)
    same = Memo()
    if value.dtype.itemsize == 8:  # what happened has the same probability in every view; where digits are few, the complement rounds it
        same = Memo({LOG_LOSS: totals.log_loss, "total squared_error": totals.brier})
    return Profile(view, **cells, totals=totals, task="binary", n_classes=2, _memo=same)


def first_predicted(positive: Profile) -> int:
    """First cell of the positive view in which the positive class is the likelier one; of equal ones it is the other."""
    return int(np.searchsorted(positive.value, positive.value.dtype.type(0.5), side="right"))


def _sorted(value: Numbers, count: Numbers, positive: Numbers) -> dict[str, Numbers]:
    """Cells in rising order, equal values as one."""
    if np.any(value[1:] < value[:-1]):
        order = np.argsort(value, kind="stable")  # which is quick where two runs are merged
        value, count, positive = value[order], count[order], positive[order]
    new = np.concatenate([[True], value[1:] != value[:-1]])
    if not new.all():
        starts = np.flatnonzero(new)
        value, count, positive = value[starts], np.add.reduceat(count, starts), np.add.reduceat(positive, starts)
    return {"value": value, **unweighted({"count": count, "positive": positive})}
