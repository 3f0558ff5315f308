"""The rows behind a bin, most confident errors first, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibcore.analysis import Settings
from calibcore.errors import InputError
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.report.tables import Table

__all__ = ["PAGE", "BinRows", "all_rows", "rows_in"]

PAGE = 100


@dataclass(frozen=True, slots=True, eq=False)
class BinRows:
    """Rows of one bin.

    Attributes
    ----------
    predictions : Predictions
    view : str
    index : array of shape (rows,)
        0-based positions among the rows used, most confident errors first.
    errors : int
        How many of them the model got wrong.
    """

    predictions: Predictions
    view: str
    index: NDArray[np.intp]
    errors: int

    @property
    def n(self) -> int:
        """Rows in the bin."""
        return len(self.index)

    @property
    def pages(self) -> int:
        """Pages of `PAGE` rows, at least one."""
        return max(1, -(-self.n // PAGE))

    def page(self, number: int) -> Table:
        """One page as text; ``number`` counts from 1."""
        return self._table(self.index[(number - 1) * PAGE : number * PAGE])

    def table(self) -> Table:
        """All rows as text, probabilities in full."""
        return self._table(self.index, full=True)

    def _table(self, index: NDArray[np.intp], *, full: bool = False) -> Table:
        columns = _columns(self.predictions, self.view, index, full=full)
        return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def rows_in(predictions: Predictions, settings: Settings, lower: float, upper: float) -> BinRows:
    """Rows of the bin with the given edges.

    Parameters
    ----------
    predictions : Predictions
    settings : Settings
        Whose partition has that bin; its view is the one that is looked at.
    lower, upper : float
        Edges of the bin.

    Raises
    ------
    InputError
        If no bin has these edges, or the bins share tied rows and so have no rows of their own.
    """
    partition = settings.partition(predictions.profile(settings.view))
    if not isinstance(partition, Partition):
        raise InputError("Bins that share tied rows have no rows of their own; keep ties together to see the rows.")
    edges = partition.edges.tolist()
    bins = [i for i in range(partition.n_bins) if (edges[i], edges[i + 1]) == (lower, upper)]
    if not bins:
        raise InputError("Bins changed; pick a bin again.")
    value, event = predictions.rows(settings.view)
    index = np.flatnonzero(partition.locate(value) == bins[0])
    return BinRows(predictions, settings.view, index[_order(value[index], event[index], settings.view)], _errors(predictions, index))


def all_rows(predictions: Predictions, settings: Settings) -> Table:
    """Every row that is used, in the file's order, with its bin counted from 0; probabilities in full.

    Parameters
    ----------
    predictions : Predictions
    settings : Settings
        Bins that share tied rows have no rows of their own, so the bin is left out.
    """
    index = np.arange(predictions.n)
    columns = _columns(predictions, settings.view, index, full=True)
    partition = settings.partition(predictions.profile(settings.view))
    if isinstance(partition, Partition):
        value, _ = predictions.rows(settings.view)
        name = "Bin" if "Bin" not in columns else "Bin of the diagram"  # a group column may have that name
        columns = {name: [str(b) for b in partition.locate(value).tolist()], **columns}
    return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def _errors(predictions: Predictions, index: NDArray[np.intp]) -> int:
    return int(np.count_nonzero(~predictions.correct[index]))


def _order(value: NDArray[np.generic], event: NDArray[np.bool_], view: str) -> NDArray[np.intp]:
    """Errors before right rows, the most confident first; in other views by distance of probability and outcome."""
    if view == "top_label":
        return np.lexsort((-value.astype(np.float64), event))
    return np.argsort(-np.abs(value.astype(np.float64) - event), kind="stable")


def _columns(p: Predictions, view: str, index: NDArray[np.intp], *, full: bool) -> dict[str, list[str]]:
    """Header → cells."""
    value, _ = p.rows(view)
    columns: dict[str, list[str]] = {"Row": [str(i) for i in p.row[index].tolist()]}
    if p.ids is not None:
        columns["Id"] = [str(i) for i in p.ids[index].tolist()]
    for name, codes in (("Label", p.label), ("Predicted", p.predicted)):
        if codes is not None:
            columns[name] = [p.classes[k] for k in codes[index].tolist()]
    if view != "top_label":
        columns[f"Probability of {p.positive_class if view == 'positive' else view.removeprefix('class:')}"] = _numbers(
            value[index], full=full
        )
    columns["Confidence"] = _numbers(p.confidence[index], full=full)
    columns["Correct"] = ["yes" if c else "no" for c in p.correct[index].tolist()]
    for name, values in p.groups.items():
        columns[name if name not in columns else f"{name} (group)"] = [str(v) for v in values[index].tolist()]
    return columns


def _numbers(values: NDArray[np.generic], *, full: bool) -> list[str]:
    return [str(v) for v in values] if full else [f"{v:.4f}" for v in values.tolist()]
