"""Batches that need no reading: a label of two values, or a flag, beside one column of probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import name_key
from calibcore.io.vocabulary import wrong_or_right

if TYPE_CHECKING:
    from calibcore.io.streams import Plan

__all__ = ["Ordinary"]

Rows = tuple[NDArray[Any], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Ordinary:
    """Where the rows of a batch are its columns as they are.

    Attributes
    ----------
    value, flag : str
        Columns.
    event, other : str
        What the flag holds where the event happened, and where it did not.
    view : str
        The view of the event.
    """

    value: str
    flag: str
    event: str
    other: str
    view: str

    @classmethod
    def of(cls, plan: Plan) -> Ordinary | None:
        """Of a plan; None where the rows must be read."""
        r = plan.reading
        more = (plan.derived, len(r.units) > 1, r.scale != "fraction", r.model, r.weight, r.groups, r.rows, r.dropped_labels, r.predicted)
        if any(more) or len(plan.about) != 1:
            return None
        unit, views = r.units[0], set(plan.views or ())
        if r.form == "positive" and len(r.classes) == 2 and views <= {"top_label", "positive"}:
            return cls(unit.columns[0], unit.label, r.classes[1], r.classes[0], "positive")
        if r.form == "confidence" and not unit.label and r.correct and views <= {"top_label"}:
            return cls(unit.columns[0], r.correct, "1", "0", "top_label")
        return None

    def rows(self, batch: Any) -> Rows | None:
        """The probabilities of a batch and whether the event happened, two arrays (n,); None where a cell needs a look."""
        import pyarrow.types as pt

        cells, flags = batch.column(self.value), batch.column(self.flag)
        if cells.null_count or flags.null_count or not (pt.is_float64(cells.type) or pt.is_float32(cells.type)):
            return None
        event = self._events(flags)
        return None if event is None else (cells.to_numpy(zero_copy_only=False), event)

    def _events(self, flags: Any) -> NDArray[np.bool_] | None:
        """Where the event happened; None where a cell holds neither of the two values."""
        import pyarrow.compute as pc
        import pyarrow.types as pt

        if pt.is_boolean(flags.type):
            return self._of_booleans(flags.to_numpy(zero_copy_only=False))
        if pt.is_integer(flags.type):
            one, zero = name_key(self.event), name_key(self.other)
            if not isinstance(one, int) or not isinstance(zero, int):
                return None
            numbers = flags.to_numpy(zero_copy_only=False)
            event, others = numbers == one, numbers == zero
        elif self.view == "positive" and (pt.is_string(flags.type) or pt.is_large_string(flags.type)):
            event, others = (pc.equal(flags, text).to_numpy(zero_copy_only=False) for text in (self.event, self.other))
        else:
            return None
        known = np.count_nonzero(event) + np.count_nonzero(others)
        return np.asarray(event) if known == len(event) else None

    def _of_booleans(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        if self.view == "top_label":
            return flags if (wrong_or_right("True"), wrong_or_right("False")) == (True, False) else None
        names = (self.event, self.other)
        return flags if names == ("True", "False") else ~flags if names == ("False", "True") else None
