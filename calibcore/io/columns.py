"""Columns of a table: every cell kept as it was written, typed once for the whole column when it is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import name_key, name_text
from calibcore.errors import InputError
from calibcore.io.codes import Codes, codes, looked_up, rises, short_codes
from calibcore.io.headers import check_width
from calibcore.io.vocabulary import meant, nearest
from calibcore.io.written_numbers import MINUS, MISSING_LABELS, MISSING_NUMBERS, Numeric, filled, text_numbers
from calibcore.progress import Digest

if TYPE_CHECKING:
    from calibcore.predictions import Predictions

__all__ = ["MISSING_LABELS", "MISSING_NUMBERS", "Column", "Kind", "Names", "Numeric", "Span", "Table", "as_table", "kind_of", "one_chunk"]

Kind = Literal["text", "number", "flag", "time", "nested", "other"]
Numbers = NDArray[np.floating[Any]]
_MANY_CELLS, _FEW_TEXTS = 1000, 20
_NAMED = 12  # columns that a sentence names
_BLOCK = 1 << 15  # numbers that stay in the processor's cache
_WHOLE_WITH_COMMA = r"[+-]?\d+,0+"
_SCIENTIFIC = r"[+-]?\d\.\d+[eE][+-]\d\d"


@dataclass(frozen=True, slots=True)
class Names:
    """A column as names: the distinct texts and, for each row, which one it holds (−1: an absent cell)."""

    distinct: tuple[str, ...]
    code: Codes

    def missing(self, keep: frozenset[str] = frozenset()) -> NDArray[np.bool_]:
        """Rows without a name; words such as NA count as missing unless ``keep`` holds them."""
        return self.rows([d.casefold() in MISSING_LABELS and d not in keep for d in self.distinct], absent=True)

    def rows(self, wanted: Iterable[bool], *, absent: bool = False) -> NDArray[np.bool_]:
        """The rows that hold a name for which ``wanted``, one flag a name, is true; absent cells as ``absent`` says."""
        wanted = list(wanted)
        if not any(wanted):
            return self.code < 0 if absent else np.zeros(len(self.code), dtype=np.bool_)
        if wanted.count(True) == 1 and not absent:
            return np.asarray(self.code == wanted.index(True))
        return looked_up(np.array([*wanted, absent]), self.code)

    def among(self, names: Iterable[str], *, unknown: int = -1) -> Codes:
        """Place in ``names`` of what each row holds; −1 for an absent cell, ``unknown`` for a name that is not there."""
        place = {name_key(n): i for i, n in enumerate(names)}
        to = [place.get(name_key(d), unknown) for d in self.distinct]
        if to == list(range(len(to))):
            return self.code
        short = self.code.dtype if len(place) <= np.iinfo(self.code.dtype).max else np.dtype(np.intp)
        return looked_up(np.array([*to, -1], dtype=short), self.code)

    def present(self, keep: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """The names that occur, without words for missing, merged where they are equal numbers."""
        kept: dict[Any, str] = {}
        for d in self.distinct:
            if d.casefold() not in MISSING_LABELS or d in keep:
                kept.setdefault(name_key(d), d)
        return tuple(kept.values())


@dataclass(frozen=True, slots=True)
class Span:
    """The lowest and the highest of numbers (NaN where there is none), and how many of them are missing."""

    low: float
    high: float
    missing: int

    @classmethod
    def of(cls, values: Numbers) -> Span:
        """The span of an array, in one pass over it."""
        low, high, missing = np.inf, -np.inf, 0
        for start in range(0, len(values), _BLOCK):
            part = values[start : start + _BLOCK]
            least, most = part.min(), part.max()
            if np.isnan(least):
                absent = np.isnan(part)
                missing += int(absent.sum())
                if absent.all():
                    continue
                least, most = part[~absent].min(), part[~absent].max()
            low, high = min(low, float(least)), max(high, float(most))
        return cls(low, high, missing) if missing < len(values) else cls(np.nan, np.nan, missing)


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column of a file; ``load`` gives its Arrow array when it is first needed.

    A big file may give the first cells in ``first``, so that a look at them loads nothing, and in ``numbers`` the cells of a
    column of texts as an Arrow array of floats, where all of them are plain numbers or absent.
    """

    name: str
    kind: Kind
    load: Callable[[], Any]
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    of: str | None = None  # the column of the file that this one was made of
    first: Any = field(default=None, repr=False)
    numbers: Callable[[], Any] | None = field(default=None, repr=False)

    def _once(self, key: str, make: Callable[[], Any]) -> Any:
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    @property
    def array(self) -> Any:
        """The cells as one Arrow array."""
        return self._once("array", lambda: one_chunk(self.memo.pop("loaded") if "loaded" in self.memo else self.load()))

    def _loaded(self) -> Any:
        """The cells as they were loaded, perhaps in parts."""
        return self.memo["array"] if "array" in self.memo else self._once("loaded", self.load)

    def _parts(self) -> list[Any]:
        """The cells as plain Arrow arrays, without putting them together."""
        import pyarrow as pa
        import pyarrow.types as pt

        cells = self._loaded()
        cells = self.array if pt.is_dictionary(cells.type) else cells
        return list(cells.chunks) if isinstance(cells, pa.ChunkedArray) else [cells]

    def is_integer(self) -> bool:
        """Whether the cells are stored as whole numbers."""
        import pyarrow.types as pt

        return self.kind == "number" and pt.is_integer((self._loaded() if self.first is None else self.first).type)

    def head(self, rows: int) -> Any:
        """The first cells as an Arrow array; fewer where only fewer were given, so that nothing is loaded for a look."""
        return (self.array if self.first is None or "array" in self.memo else self.first).slice(0, rows)

    def encoded(self) -> tuple[Any, Codes]:
        """The distinct cells as an Arrow array, in the order they occur, and which one each row holds (−1: a null)."""
        encoded: tuple[Any, Codes] = self._once("encoded", lambda: short_codes(self._parts()) or codes(self.array))
        return encoded

    def names(self) -> Names:
        """The cells as names; numbers such as 1.0 are called "1", blanks around a text are dropped."""
        names: Names = self._once("names", lambda: _names(*self.encoded()))
        return names

    def numeric(self) -> Numeric:
        """The cells as numbers."""
        numeric: Numeric = self._once("numeric", self._numeric)
        return numeric

    def _numeric(self) -> Numeric:
        if self.numbers is not None:
            return Numeric(filled(one_chunk(self.numbers())))
        few = self._few()
        return _numeric(self.array, self.kind) if few is None else replace(few, values=np.append(few.values, np.nan)[self.encoded()[1]])

    def _few(self) -> Numeric | None:
        """The numbers of few different texts, each read once; None where there are many, or one is no number."""
        found: Numeric | None = self._once("few", self._of_few_texts)
        return found

    def _of_few_texts(self) -> Numeric | None:
        if self.kind != "text" or self.numbers is not None:
            return None
        if "encoded" not in self.memo and len(self.head(_MANY_CELLS).unique()) > _FEW_TEXTS:
            return None
        distinct, code = self.encoded()
        found = text_numbers(distinct) if 4 * len(distinct) < len(code) else None
        return None if found is None or found.n_bad else found

    def occurring(self) -> Numbers:
        """The numbers that occur, each at least once; where few texts repeat, once, and else all cells."""
        few = self._few()
        return (few or self.numeric()).values

    def first_numbers(self, rows: int) -> Numbers:
        """The first cells as numbers."""
        if self.kind == "number" and "numeric" not in self.memo:
            return _numeric(self.head(rows), "number").values
        few = None if "numeric" in self.memo else self._few()
        return self.numeric().values[:rows] if few is None else np.append(few.values, np.nan)[self.encoded()[1][:rows]]

    def span(self) -> Span:
        """The lowest and the highest number, and how many cells hold none."""
        span: Span = self._once("span", lambda: Span.of(self.occurring()))
        return span

    def all_begin(self, mark: str) -> bool:
        """Whether there are names and all of them begin with a mark; the first cells are looked at before the others."""
        for found in (_names(*codes(self.head(_FEW_TEXTS))), None):
            names = (found or self.names()).present()
            if not all(d.startswith(mark) for d in names):
                return False
        return bool(names)

    def n_different(self) -> int:
        """How many different cells there are; cells in rising order are not counted."""
        return int(self._once("n_different", lambda: len(self.array) if rises(self.array) else len(self.array.unique())))

    @property
    def is_numeric(self) -> bool:
        """Whether most cells that are not missing are numbers, and there is at least one."""
        return bool(self._once("is_numeric", self._is_numeric))

    def _is_numeric(self) -> bool:
        if self.kind == "number" and self.first is not None and not np.isnan(_numeric(self.first, "number").values).all():
            return True
        if self.kind not in ("text", "number") or not _may_be_number(self.head, self.kind):
            return False
        if self.is_integer():
            return any(len(p) > p.null_count for p in self._parts())
        if few := self._few():
            return not np.isnan(few.values).all()
        found = self.numeric()
        good = len(found.values) - self.span().missing
        return good > 0 and found.n_bad < good

    def few_names(self, limit: int) -> tuple[str, ...] | None:
        """The names that occur if there are at most ``limit``, else None; a look at the first rows comes first."""
        key = f"few {limit}"
        return self._once(key, lambda: self._few_names(limit))  # type: ignore[no-any-return]

    def _few_names(self, limit: int) -> tuple[str, ...] | None:
        most = limit + len(MISSING_LABELS)
        if self.kind in ("nested", "other", "time") or len(self.head(5000).unique()) > most or len(self.encoded()[0]) > most:
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
    headless : bool
        The file names no columns: they are called by their position ("column 1", …; "0", … in a NumPy matrix).
    derived : dict of name to Column
        Columns made of others, such as the numbers of a vector; they are never looked at unless a rule made them.
    models : tuple of Predictions
        Of a profile file, which has no columns.
    """

    name: str
    columns: dict[str, Column]
    n_rows: int
    format: str
    encoding: str | None = None
    notes: tuple[str, ...] = ()
    sha256: str | Digest | None = None
    index: tuple[str, ...] = ()
    complete: bool = True
    rows_in_file: int | None = None
    headless: bool = False
    derived: dict[str, Column] = field(default_factory=dict, repr=False)
    models: tuple[Predictions, ...] = ()

    def column(self, name: str) -> Column:
        """A column by name, of the file or derived; InputError if there is none."""
        if name not in self.columns and name in self.derived:
            return self.derived[name]
        if name not in self.columns:
            every = tuple(self.columns)
            shown = tuple(dict.fromkeys((*nearest(name, every), *every)))[:_NAMED]
            text = f"There is no column called {name!r}. {meant(name, every)}The columns are {', '.join(shown)}"
            raise InputError(f"{text}{' …' if len(every) > len(shown) else ''}.", column=name, available=every)
        return self.columns[name]

    def preview(self, rows: int = 5) -> list[dict[str, str]]:
        """The first rows as text, for people."""
        shown = min(rows, self.n_rows)
        cells = {n: _first_cells(c, shown) for n, c in self.columns.items()}
        return [{n: v[i] for n, v in cells.items()} for i in range(shown)]


def _first_cells(column: Column, rows: int) -> list[str]:
    """Cells as text; a damaged column, which may not be needed, is shown as such."""
    try:
        return [_shown(v) for v in column.head(rows).to_pylist()]
    except InputError:
        return ["(damaged)"] * rows


def as_table(arrow: Any, name: str, **about: Any) -> Table:
    """A `Table` from an Arrow table."""
    check_width(arrow.num_columns)
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


def one_chunk(array: Any) -> Any:
    """The cells of a column as one plain array, not as parts or as codes of a dictionary."""
    import pyarrow as pa
    import pyarrow.types as pt

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    if pt.is_dictionary(array.type):
        if pt.is_string_view(array.type.value_type):  # which Arrow does not decode
            array = array.cast(pa.dictionary(array.type.index_type, pa.large_string()))
        array = array.dictionary_decode()
    wide = pt.is_large_string(array.type) or pt.is_string_view(array.type)
    return array.cast(pa.large_string()) if wide else array


def _names(distinct: Any, code: Codes) -> Names:
    """Distinct texts with their codes; texts that differ only in blanks are one."""
    texts = ["nan" if isinstance(v, float) and np.isnan(v) else name_text(v).strip() for v in distinct.to_pylist()]
    if texts and all(re.fullmatch(_WHOLE_WITH_COMMA, t) for t in texts):  # 0,0 and 1,0, where decimals have a comma
        texts = [t.partition(",")[0] for t in texts]
    if texts and all(re.fullmatch(_SCIENTIFIC, t) and float(t).is_integer() for t in texts):  # 1.000e+00, as numpy.savetxt writes 1
        texts = [str(int(float(t))) for t in texts]
    texts = [f"-{t[1:]}" if t[:1] == MINUS and t[1:2].isdigit() else t for t in texts]
    merged: dict[str, int] = {}
    to = np.array([merged.setdefault(t, len(merged)) for t in texts] + [-1], dtype=np.intp)
    same = len(merged) == len(texts)
    return Names(tuple(merged), (code if code.itemsize < 4 else code.astype(np.intp)) if same else to[code])


def _may_be_number(head: Callable[[int], Any], kind: Kind) -> bool:
    """A cheap look at the first cells, so that long texts are never parsed."""
    return kind == "number" or text_numbers(cells := head(200)).n_bad * 2 <= len(cells)


def _numeric(array: Any, kind: Kind) -> Numeric:
    import pyarrow as pa
    import pyarrow.types as pt

    if kind == "text":
        return text_numbers(array)
    if kind not in ("number", "flag"):
        return Numeric(np.full(len(array), np.nan), 1, "no number", len(array))
    if pt.is_decimal(array.type):  # Arrow's own cast may be one unit in the last place off, which moves 0.3 across an edge
        array = array.cast(pa.string())
    target = array.type if pt.is_floating(array.type) else pa.float64()
    values = array.cast(target, safe=False).to_numpy(zero_copy_only=False)
    if values.dtype.kind != "f":  # an all-null column comes back as objects
        values = values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        if not np.isnan(np.min(values, initial=np.inf)):
            return Numeric(values)
    return Numeric(np.where(np.isnan(values), values.dtype.type(np.nan), values))  # a signalling NaN would warn


def _shown(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 80 else text[:79] + "…"
