"""What only all rows together tell: how many lack a label or a value, and whether a weight is lost beside the largest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import LIGHTEST, too_light
from calibcore.errors import AmbiguousLayout
from calibcore.io.evidence import question
from calibcore.predictions import Predictions

__all__ = ["Tally"]


@dataclass(slots=True)
class Tally:
    """Counts of rows, from one batch after the other; plain data, which the workers of a cluster hand over.

    Attributes
    ----------
    before : int or None
        Rows above the next batch; None where shares were put together, whose order nobody knows.
    rows : dict of model to int
    lacking : dict of model to dict of what is lacking to (how many rows lack it, the first of them)
    lightest : dict of model to (the smallest weight, its row)
    heaviest : dict of model to the largest weight
    """

    before: int | None = 0
    rows: dict[str, int] = field(default_factory=dict)
    lacking: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)
    lightest: dict[str, tuple[float, int]] = field(default_factory=dict)
    heaviest: dict[str, float] = field(default_factory=dict)

    def count(self, model: str, rows: int, lacking: Mapping[str, NDArray[np.bool_]] | None = None) -> None:
        """Add rows of a model, with flags for those rows of the batch that lack something."""
        self.rows[model] = self.rows.get(model, 0) + rows
        for what, found in (lacking or {}).items():
            self._lack(model, what, int(np.count_nonzero(found)), (self.before or 0) + int(np.argmax(found)) + 1)

    def _lack(self, model: str, what: str, count: int, first: int) -> None:
        mine = self.lacking.setdefault(model, {})
        known, row = mine.get(what, (0, 0))
        mine[what] = (known + count, row if known else first)

    def weigh(self, model: Predictions) -> None:
        """Add the weights of a batch's rows."""
        if model.weight is not None and model.n:
            at = int(np.argmin(model.weight))
            self._weigh(model.name, (float(model.weight[at]), (self.before or 0) + int(model.row[at])), float(model.weight.max()))

    def _weigh(self, model: str, lightest: tuple[float, int], heaviest: float) -> None:
        self.lightest[model] = min(self.lightest.get(model, lightest), lightest)
        self.heaviest[model] = max(self.heaviest.get(model, heaviest), heaviest)

    @classmethod
    def of_shares(cls, shares: Iterable[Tally]) -> Tally:
        """The tally of all shares of the rows."""
        whole = cls(before=None)
        for share in shares:
            for model, rows in share.rows.items():
                whole.count(model, rows)
            for model, lacking in share.lacking.items():
                for what, (count, first) in lacking.items():
                    whole._lack(model, what, count, first)
            for model, (weight, row) in share.lightest.items():
                whole._weigh(model, (weight, row), share.heaviest[model])
        return whole

    def check(self, source: str | None = None) -> None:
        """AmbiguousLayout where rows lack something; InputError for a weight that would be lost in rounding."""
        for model, lacking in self.lacking.items():
            for what, (count, first) in lacking.items():
                if count:
                    place = "" if self.before is None else f" (row {first:,}{' is the first' if count > 1 else ''})"
                    found = f"{count:,} of {self.rows[model]:,} rows have no {what}{place}"
                    text = f"{found}. Leave such rows out (--missing drop), or mend them first?"
                    raise AmbiguousLayout([question("missing", text, ["drop"])], source=source)
        for model, (weight, row) in self.lightest.items():
            if weight < LIGHTEST * self.heaviest[model]:
                raise too_light(weight, None if self.before is None else row)
