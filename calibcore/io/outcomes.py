"""A label that a comparison makes, such as score1 > score2 or rain > 0.2, and amounts that need one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.columns import Column, Table
from calibcore.io.evidence import Evidence
from calibcore.io.labels import amounts, named_labels
from calibcore.io.mapping import Mapping

__all__ = ["ranges_of_amounts", "with_outcome"]

_SIGNS = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}


def with_outcome(table: Table, mapping: Mapping) -> tuple[Table, Mapping]:
    """The table with a true/false column for ``mapping.outcome``, and the mapping that names it as the label."""
    if mapping.outcome is None:
        return table, mapping
    if mapping.label:
        raise InputError("label and outcome (--label, --outcome) both say what happened. Leave one of them out.")
    found = re.fullmatch(r"\s*(.+?)\s*(>=|<=|>|<)\s*(.+?)\s*", mapping.outcome)
    if not found:
        raise InputError(
            f"The outcome {mapping.outcome!r} is no comparison. Write it like 'score1 > score2' or 'rain > 0.2'.", value=mapping.outcome
        )
    left, sign, right = found.groups()
    name = f"{left} {sign} {right}"
    derived = Column(name, "flag", lambda: _compared(_numbers(table, left), sign, _numbers(table, right)))
    columns = {**table.columns, name: derived}
    return replace(table, columns=columns), replace(mapping, label=name, outcome=None)


def _numbers(table: Table, name: str) -> Any:
    if name not in table.columns:
        try:
            return np.full(table.n_rows, float(name))
        except ValueError:
            pass
    numeric = table.column(name).numeric()
    if numeric.bad_row is not None:
        raise InputError(
            f"Row {numeric.bad_row} of column {name!r} is {numeric.bad_text!r}, not a number, so the outcome cannot be told. Mend it.",
            row=numeric.bad_row,
            column=name,
        )
    return numeric.values


def _compared(left: Any, sign: str, right: Any) -> Any:
    import pyarrow as pa

    missing = np.isnan(left) | np.isnan(right)
    return pa.array(_SIGNS[sign](left, right), mask=missing)


def ranges_of_amounts(e: Evidence) -> None:
    """Refuses probabilities of several ranges of an amount, since the file does not say where the ranges end."""
    if e.mapping.label or e.mapping.probabilities or e.mapping.confidence or named_labels(e):
        return
    measured = amounts(e)
    fractions = [n for n in e.free if e.unit(n) and n not in measured]
    if len(measured) != 1 or len(fractions) < 3:
        return
    total = np.sum([e.column(n).numeric().values.astype(np.float64) for n in fractions], axis=0)
    if float(np.mean(np.abs(total - 1) <= max(0.02, 0.006 * len(fractions)))) >= 0.98:
        raise InputError(
            f"Column {measured[0]!r} holds amounts, and {listing(fractions, 4)} are probabilities of ranges whose limits the file does "
            f"not say. Add a column with each row's class, or judge one range alone "
            f"(--prob {fractions[-1]} --outcome '{measured[0]} > LIMIT').",
            column=measured[0],
        )
