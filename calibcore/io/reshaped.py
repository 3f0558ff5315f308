"""What a shape becomes: a table, the mapping that fits it, and columns made of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.io.columns import Column, Table
from calibcore.io.mapping import Mapping

__all__ = ["Reshaped", "filled_in", "numbers", "taken", "texts"]


@dataclass(frozen=True, slots=True, eq=False)
class Reshaped:
    """A table in an ordinary shape, the mapping for its columns, and what to tell about it."""

    table: Table
    mapping: Mapping
    notes: tuple[str, ...] = ()


def filled_in(mapping: Mapping, **roles: Any) -> Mapping:
    """The mapping with roles that the user left open."""
    known = {f.name: getattr(mapping, f.name) for f in fields(mapping)}
    return replace(mapping, **{k: v for k, v in roles.items() if known[k] is None and v is not None})


def texts(name: str, values: Sequence[str | None], code: NDArray[np.intp] | None = None) -> Column:
    """A column of texts; with ``code`` each row holds the value of its code, −1 for none."""

    def load() -> Any:
        import pyarrow as pa

        if code is None:
            return pa.array(values, type=pa.string())
        return pa.array(list(values), type=pa.string()).take(pa.array(code, mask=code < 0))

    return Column(name, "text", load)


def numbers(name: str, values: NDArray[np.floating[Any]]) -> Column:
    """A column of numbers."""
    return Column(name, "number", _arrow(values))


def _arrow(values: NDArray[Any]) -> Callable[[], Any]:
    def load() -> Any:
        import pyarrow as pa

        return pa.array(values, from_pandas=False)

    return load


def taken(column: Column, rows: NDArray[np.intp]) -> Column:
    """Some rows of a column, in this order."""

    def load() -> Any:
        import pyarrow as pa

        return column.array.take(pa.array(rows))

    return Column(column.name, column.kind, load, of=column.of)
