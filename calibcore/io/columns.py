"""Columns of a table: every cell kept as it was written, typed once for the whole column when it is used."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import name_key, name_text
from calibcore.errors import InputError

__all__ = ["Column", "Kind", "Names", "Numeric", "Table", "as_table"]

Kind = Literal["text", "number", "flag", "time", "nested", "other"]
Numbers = NDArray[np.floating[Any]]
MISSING_LABELS = frozenset({"", "na", "n/a", "<na>", "nan", "null", "?"})
MISSING_NUMBERS = MISSING_LABELS | {"none", "nat", "nil", "."}
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(nan|NaN|inf|Inf|infinity|Infinity)$"
_WHOLE_WITH_COMMA = r"[+-]?\d+,0+"
_COMMA = r"^[+-]?\d*,\d+$|^[+-]?\d+$"


@dataclass(frozen=True, slots=True)
class Numeric:
    """A column as numbers.

    Attributes
    ----------
    values : array of shape (n,)
        NaN where a cell is missing or no number; float32 stays float32.
    bad_row : int or None
        1-based row of the first cell that is no number, its text, and how many there are.
    percent : bool
        Every cell carried a % sign (removed here, not divided).
    comma : bool
        Decimals were written with a comma.
    """

    values: Numbers
    bad_row: int | None = None
    bad_text: str = ""
    n_bad: int = 0
    percent: bool = False
    comma: bool = False


@dataclass(frozen=True, slots=True)
class Names:
    """A column as names: the distinct texts and, for each row, which one it holds (−1: an absent cell)."""

    distinct: tuple[str, ...]
    code: NDArray[np.intp]

    def missing(self, keep: frozenset[str] = frozenset()) -> NDArray[np.bool_]:
        """Rows without a name; words such as NA count as missing unless ``keep`` holds them."""
        absent = np.array([*(d.casefold() in MISSING_LABELS and d not in keep for d in self.distinct), True])
        return absent[self.code]

    def present(self, keep: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """The names that occur, without words for missing, merged where they are equal numbers."""
        kept: dict[Any, str] = {}
        for d in self.distinct:
            if d.casefold() not in MISSING_LABELS or d in keep:
                kept.setdefault(name_key(d), d)
        return tuple(kept.values())


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column of a file; ``load`` gives its Arrow array when it is first needed."""

    name: str
    kind: Kind
    load: Callable[[], Any]
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    of: str | None = None  # the column of the file that this one was made of

    def _once(self, key: str, make: Callable[[], Any]) -> Any:
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    @property
    def array(self) -> Any:
        """The cells as one Arrow array."""
        return self._once("array", lambda: _one_chunk(self.load()))

    def names(self) -> Names:
        """The cells as names; numbers such as 1.0 are called "1", blanks around a text are dropped."""
        names: Names = self._once("names", lambda: _names(self.array))
        return names

    def numeric(self) -> Numeric:
        """The cells as numbers."""
        numeric: Numeric = self._once("numeric", lambda: _numeric(self.array, self.kind))
        return numeric

    @property
    def is_numeric(self) -> bool:
        """Whether most cells that are not missing are numbers, and there is at least one."""
        return bool(self._once("is_numeric", self._is_numeric))

    def _is_numeric(self) -> bool:
        if self.kind not in ("text", "number") or not _may_be_number(self.array, self.kind):
            return False
        found = self.numeric()
        good = int(np.count_nonzero(~np.isnan(found.values)))
        return good > 0 and found.n_bad < good

    def few_names(self, limit: int) -> tuple[str, ...] | None:
        """The names that occur if there are at most ``limit``, else None; a look at the first rows comes first."""
        key = f"few {limit}"
        return self._once(key, lambda: self._few_names(limit))  # type: ignore[no-any-return]

    def _few_names(self, limit: int) -> tuple[str, ...] | None:
        if self.kind in ("nested", "other", "time") or len(self.array.slice(0, 5000).unique()) > limit + len(MISSING_LABELS):
            return None
        found = self.names().present()
        return found if len(found) <= limit else None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One table of a file.

    Attributes
    ----------
    name : str
        The file's name as a user knows it.
    columns : dict of name to Column
        In the file's order.
    n_rows : int
        Rows in ``columns``.
    complete : bool
        False when only the first rows were read.
    rows_in_file : int or None
        None when only the first rows were read and the file does not say.
    derived : dict of name to Column
        Columns made of others, such as the numbers of a vector; they are never looked at unless a rule made them.
    """

    name: str
    columns: dict[str, Column]
    n_rows: int
    format: str
    encoding: str | None = None
    notes: tuple[str, ...] = ()
    sha256: str | None = None
    index: tuple[str, ...] = ()
    complete: bool = True
    rows_in_file: int | None = None
    derived: dict[str, Column] = field(default_factory=dict, repr=False)

    def column(self, name: str) -> Column:
        """A column by name, of the file or derived; InputError if there is none."""
        if name not in self.columns and name in self.derived:
            return self.derived[name]
        if name not in self.columns:
            shown = ", ".join(list(self.columns)[:12]) + (" …" if len(self.columns) > 12 else "")
            raise InputError(f"There is no column called {name!r}. The columns are {shown}.", column=name, available=tuple(self.columns))
        return self.columns[name]

    def preview(self, rows: int = 5) -> list[dict[str, str]]:
        """The first rows as text, for people."""
        cells = {n: [_shown(v) for v in c.array.slice(0, rows).to_pylist()] for n, c in self.columns.items()}
        return [{n: v[i] for n, v in cells.items()} for i in range(min(rows, self.n_rows))]


def as_table(arrow: Any, name: str, **about: Any) -> Table:
    """A `Table` from an Arrow table."""
    columns = {n: Column(n, kind_of(arrow.schema.field(i).type), _loader(arrow, i)) for i, n in enumerate(arrow.column_names)}
    return Table(name, columns, arrow.num_rows, **{"rows_in_file": arrow.num_rows, **about})


def _loader(arrow: Any, index: int) -> Callable[[], Any]:
    return lambda: arrow.column(index)


def kind_of(dtype: Any) -> Kind:
    """What a column of this Arrow type can hold."""
    import pyarrow.types as pt

    if pt.is_dictionary(dtype):
        return kind_of(dtype.value_type)
    tests: tuple[tuple[Kind, tuple[Callable[[Any], bool], ...]], ...] = (
        ("flag", (pt.is_boolean,)),
        ("number", (pt.is_integer, pt.is_floating, pt.is_decimal, pt.is_null)),
        ("text", (pt.is_string, pt.is_large_string, pt.is_string_view)),
        ("time", (pt.is_temporal,)),
        ("nested", (pt.is_nested,)),
    )
    return next((kind for kind, checks in tests if any(check(dtype) for check in checks)), "other")


def _one_chunk(array: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as pt

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    if pt.is_dictionary(array.type):
        array = array.dictionary_decode()
    wide = pt.is_large_string(array.type) or pt.is_string_view(array.type)
    return array.cast(pa.large_string()) if wide else array


def _names(array: Any) -> Names:
    """Distinct texts with their codes; texts that differ only in blanks are one."""
    import pyarrow.types as pt

    nested = pt.is_nested(array.type) or pt.is_temporal(array.type)
    encoded = (array.cast("string") if pt.is_temporal(array.type) else array) if nested else array
    if pt.is_nested(encoded.type):
        raise InputError("This column holds lists or records, not names.")
    encoded = encoded.dictionary_encode(null_encoding="mask")
    texts = ["nan" if isinstance(v, float) and np.isnan(v) else name_text(v).strip() for v in encoded.dictionary.to_pylist()]
    if texts and all(re.fullmatch(_WHOLE_WITH_COMMA, t) for t in texts):  # 0,0 and 1,0, where decimals have a comma
        texts = [t.partition(",")[0] for t in texts]
    merged: dict[str, int] = {}
    to = np.array([merged.setdefault(t, len(merged)) for t in texts] + [-1], dtype=np.intp)
    code = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    return Names(tuple(merged), to[code])


def _may_be_number(array: Any, kind: Kind) -> bool:
    """A cheap look at the first cells, so that long texts are never parsed."""
    return kind == "number" or _text_numbers(array.slice(0, 200)).n_bad * 2 <= min(len(array), 200)


def _numeric(array: Any, kind: Kind) -> Numeric:
    import pyarrow as pa
    import pyarrow.types as pt

    if kind == "text":
        return _text_numbers(array)
    if kind not in ("number", "flag"):
        return Numeric(np.full(len(array), np.nan), 1, "no number", len(array))
    target = array.type if pt.is_floating(array.type) else pa.float64()
    values = array.cast(target, safe=False).to_numpy(zero_copy_only=False)
    if values.dtype.kind != "f":  # an all-null column comes back as objects
        values = values.astype(np.float64)
    return Numeric(values)


def _text_numbers(array: Any) -> Numeric:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return Numeric(_filled(array.cast(pa.float64())))
    except pa.ArrowInvalid:
        text = pc.utf8_trim_whitespace(array)
    absent = pc.is_in(pc.utf8_lower(text), value_set=pa.array(sorted(MISSING_NUMBERS), type=text.type))
    text = pc.if_else(absent, pa.scalar(None, text.type), text)
    percent = _every(pc.ends_with(text, "%"))
    if percent:
        text = pc.utf8_rtrim_whitespace(pc.utf8_rtrim(text, characters="%"))
    comma = _every(pc.match_substring_regex(text, _COMMA)) and _any(pc.match_substring(text, ","))
    if comma:
        text = pc.replace_substring(text, ",", ".")
    good = pc.match_substring_regex(text, _NUMBER)
    bad = pc.invert(good).fill_null(False).to_numpy(zero_copy_only=False)
    values = _filled(pc.if_else(good, text, pa.scalar(None, text.type)).cast(pa.float64()))
    if not bad.any():
        return Numeric(values, percent=percent, comma=comma)
    first = int(np.argmax(bad))
    return Numeric(values, first + 1, str(array[first].as_py()), int(bad.sum()))


def _filled(array: Any) -> NDArray[np.float64]:
    values: NDArray[np.float64] = array.to_numpy(zero_copy_only=False)  # nulls become NaN
    return values if values.dtype == np.float64 else values.astype(np.float64)


def _every(flags: Any) -> bool:
    """Whether all flags that are not null are set, and there is one."""
    import pyarrow.compute as pc

    return bool(pc.all(flags, min_count=1).as_py())


def _any(flags: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(flags).as_py())


def _shown(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 80 else text[:79] + "…"
