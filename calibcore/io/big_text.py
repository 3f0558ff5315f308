"""Big delimited text: columns of plain decimals become numbers while the text is parsed, other cells stay text."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from calibcore.errors import InputError
from calibcore.io.columns import Column, Table, as_table, one_chunk
from calibcore.io.encodings import decoded
from calibcore.io.text import read_delimited

__all__ = ["read_big"]

_BIG = 4 << 20  # bytes of text from which on the detour over a sample pays
_SAMPLE = 1 << 18
_DECIMAL = r"^-?\d*\.\d+([eE][+-]?\d+)?$|^-?\d+[eE][+-]?\d+$"
_WHOLE = r"^-?\d+$"
_SIGNS = {"CSV": ",", "TSV": "\t", "text with semicolons": ";", "text with bars": "|"}


def read_big(data: bytes, name: str) -> Table | None:
    """The table of a big text, the same as `read_delimited` gives; None where that has more to do than to split lines.

    The first rows decide.  Where they are a header and plain rows, columns of decimals are parsed as numbers, and every one
    of their cells must be a finite number: one that is not leaves the column as text, and its cells get a type together when
    that is needed.
    """
    sample = _sample(data, name) if len(data) > _BIG else None
    if sample is None or decoded(data).utf8 is not data:
        return None
    cells = _cells(data, sample)
    arrow = None if cells is None else cells.parsed()
    if cells is None or arrow is None:
        return None
    table = as_table(arrow, name, format=sample.format)
    return replace(
        sample,
        columns={**table.columns, **{c.name: c for c in cells.columns(arrow)}},
        n_rows=arrow.num_rows,
        rows_in_file=arrow.num_rows,
        complete=True,
    )


def _sample(data: bytes, name: str) -> Table | None:
    """The first rows as `read_delimited` reads them, if nothing was left out or is worth a note."""
    try:
        sample = read_delimited(data[: data.rfind(b"\n", 0, _SAMPLE) + 1], name, complete=False)
    except InputError:
        return None
    plain = sample.format in _SIGNS and sample.encoding == "UTF-8" and not sample.notes and sample.n_rows > 1
    return sample if plain and all(sample.columns) else None


def _cells(data: bytes, sample: Table) -> Cells | None:
    """The cells, if a plain parser finds the sample's header and rows, and some column holds decimals."""
    import pyarrow as pa
    import pyarrow.csv as pc

    sign, names = _SIGNS[sample.format], list(sample.columns)
    start = data[: data.rfind(b"\n", 0, _SAMPLE) + 1]
    line = start[: start.find(b"\n")].decode("utf-8")
    if [c.strip() for c in next(csv.reader([line], delimiter=sign), [])] != names or (b'"' in data and data.count(b'"') % 2):
        return None
    quoted = data.find(b'"', len(line.encode())) >= 0
    cells = Cells(data, names, pc.ParseOptions(delimiter=sign, newlines_in_values=quoted), {n: c.array for n, c in sample.columns.items()})
    try:
        plain = cells.read(start, names, ())
    except pa.ArrowInvalid:
        return None
    if not all(one_chunk(plain.column(n)).equals(cells.first[n]) for n in names):
        return None
    cells.numbers = tuple(n for n in names if _is_decimal(cells.first[n]))
    return cells if cells.numbers else None


def _is_decimal(cells: Any) -> bool:
    """Whether all cells are plain numbers, most with a fraction or an exponent, as those of classes never are."""
    import pyarrow.compute as pc

    decimal = pc.match_substring_regex(cells, _DECIMAL)
    return bool(pc.mean(decimal).as_py() > 0.5 and pc.all(pc.or_(decimal, pc.match_substring_regex(cells, _WHOLE))).as_py())


@dataclass(slots=True)
class Cells:
    """A text under a header of one line: which columns are numbers, and their texts, should a rule ask for these."""

    data: bytes
    names: Sequence[str]
    parsing: Any  # pyarrow.csv.ParseOptions
    first: dict[str, Any]  # the first cells of each column, as texts
    numbers: tuple[str, ...] = ()
    texts: dict[str, Any] = field(default_factory=dict)

    def parsed(self) -> Any:
        """All cells, with numbers in the columns that hold nothing else; None where there is no such column or a row is ragged."""
        import pyarrow as pa

        while self.numbers:
            try:
                arrow = self.read(self.data, self.names, self.numbers)
            except pa.ArrowInvalid:
                return None
            finite = tuple(n for n in self.numbers if _finite(arrow.column(n)))
            if finite == self.numbers:
                return arrow
            self.numbers = finite
        return None

    def columns(self, arrow: Any) -> Iterator[Column]:
        """The columns of numbers: for the rules these are texts, as all cells of a text."""
        for name in self.numbers:
            yield Column(name, "text", partial(self.whole, name), first=self.first[name], numbers=partial(arrow.column, name))

    def whole(self, name: str) -> Any:
        """All cells of a column of numbers as texts: the column that is asked for first, then all others, so that it stays at two."""
        if name not in self.texts:
            wanted = [n for n in self.numbers if n not in self.texts] if self.texts else [name]
            self.texts |= dict(zip(wanted, self.read(self.data, wanted, ()).columns, strict=True))
        return self.texts[name]

    def read(self, data: bytes, wanted: Sequence[str], numbers: Sequence[str]) -> Any:
        """Some columns, as texts or numbers."""
        import pyarrow as pa
        import pyarrow.csv as pc

        return pc.read_csv(
            pa.BufferReader(data),
            read_options=pc.ReadOptions(column_names=list(self.names), skip_rows=1),
            parse_options=self.parsing,
            convert_options=pc.ConvertOptions(
                column_types={n: pa.float64() if n in numbers else pa.string() for n in wanted},
                include_columns=list(wanted),
                null_values=[],
                strings_can_be_null=False,
            ),
        )


def _finite(column: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.is_finite(column)).as_py())
