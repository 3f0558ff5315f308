"""Big delimited text: columns of plain decimals become numbers while the text is parsed, other cells stay text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from calibcore.errors import InputError
from calibcore.io.columns import Column, Table, as_table, one_chunk
from calibcore.io.encodings import decoded
from calibcore.io.quotes import check_quotes
from calibcore.io.text import read_delimited
from calibcore.progress import Heard, Passing, listened

__all__ = ["Cells", "plain_cells", "read_big", "read_big_file"]

_BIG = 4 << 20  # bytes of text from which on the detour over a sample pays
_SAMPLE = 1 << 18
_DECIMAL = r"^-?\d*\.\d+([eE][+-]?\d+)?$|^-?\d+[eE][+-]?\d+$"
_WHOLE = r"^-?\d+$"
_SIGNS = {"CSV": ",", "TSV": "\t", "text with semicolons": ";", "text with bars": "|"}


def read_big(data: bytes, name: str, heard: Heard | None = None) -> Table | None:
    """The table of a big text, the same as `read_delimited` gives; None where that has more to do than to split lines.

    The first rows decide.  Where they are a header and plain rows, columns of decimals are parsed as numbers, and every one
    of their cells must be a finite number: one that is not leaves the column as text, and its cells get a type together when
    that is needed.
    """
    sample = _sample(data, name) if len(data) > _BIG else None
    if sample is None or decoded(data).utf8 is not data:
        return None
    if b'"' in data and data.count(b'"') % 2:
        return None
    return _table(
        _cells(data, sample, lambda: io.BytesIO(data), len(data), quoted=data.find(b'"', data.find(b"\n")) >= 0), sample, name, heard
    )


def read_big_file(path: Path, start: bytes, name: str, heard: Heard | None = None) -> Table | None:
    """The same for a file that begins with ``start``, which is never held as a whole.

    What must be true of all bytes is seen while they pass; None where it is not, and for all that `read_big` leaves alone.
    """
    size = path.stat().st_size
    sample = _sample(start, name) if size > _BIG else None
    if sample is None or not start.isascii():
        return None
    header = start.count(b'"', 0, start.find(b"\n"))  # quotes there are no sign of any below
    quoted = start.count(b'"') > header
    cells = _cells(start, sample, partial(path.open, "rb"), size, quoted=quoted)
    table = _table(cells, sample, name, heard, hashed=True)
    passed = cells.passed if cells else None
    if table is None or passed is None or passed.hash is None or passed.bytes != size or not passed.ascii:
        return None
    if passed.quotes > header and (passed.quotes % 2 or not quoted):
        return None
    return replace(table, sha256=passed.hash.hexdigest())


def plain_cells(path: Path, start: bytes, name: str) -> Cells | None:
    """The cells of a file that begins with ``start``, however small; None of one that must be seen whole to be understood."""
    sample = _sample(start, name)
    return None if sample is None else _cells(start, sample, partial(path.open, "rb"), path.stat().st_size, quoted=b'"' in start)


def _table(cells: Cells | None, sample: Table, name: str, heard: Heard | None, *, hashed: bool = False) -> Table | None:
    arrow = None if cells is None else cells.parsed(heard, hashed=hashed)
    if cells is None or arrow is None:
        return None
    if cells.parsing.newlines_in_values:
        check_quotes(b'""', arrow, cells.parsing.delimiter)  # that their number is even is seen elsewhere
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


def _cells(data: bytes, sample: Table, opened: Callable[[], Any], size: int, *, quoted: bool) -> Cells | None:
    """The cells, if a plain parser finds the sample's header and rows, and some column holds decimals."""
    import pyarrow as pa
    import pyarrow.csv as pc

    sign, names = _SIGNS[sample.format], list(sample.columns)
    start = data[: data.rfind(b"\n", 0, _SAMPLE) + 1]
    line = start[: start.find(b"\n")].decode("utf-8")
    if [c.strip() for c in next(csv.reader([line], delimiter=sign), [])] != names:
        return None
    parsing = pc.ParseOptions(delimiter=sign, newlines_in_values=quoted)
    cells = Cells(opened, size, names, parsing, {n: c.array for n, c in sample.columns.items()})
    try:
        plain = cells.read(pa.BufferReader(start), names, ())
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

    opened: Callable[[], Any]
    size: int
    names: Sequence[str]
    parsing: Any  # pyarrow.csv.ParseOptions
    first: dict[str, Any]  # the first cells of each column, as texts
    numbers: tuple[str, ...] = ()
    texts: dict[str, Any] = field(default_factory=dict)
    passed: Passing | None = None

    def parsed(self, heard: Heard | None, *, hashed: bool) -> Any:
        """All cells, with numbers in the columns that hold nothing else; None where there is no such column or a row is ragged."""
        import pyarrow as pa

        while self.numbers:
            with self.opened() as file:
                self.passed = passed = Passing(file, hashed=hashed)
                source = pa.PythonFile(passed, mode="r")
                try:
                    arrow = listened(partial(self.read, source, self.names, self.numbers), lambda: passed.bytes / self.size, heard)  # noqa: B023 - done before the next turn
                except (pa.ArrowInvalid, OSError):
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
        import pyarrow as pa

        if name not in self.texts:
            wanted = [n for n in self.numbers if n not in self.texts] if self.texts else [name]
            with self.opened() as file:
                self.texts |= dict(zip(wanted, self.read(pa.PythonFile(file, mode="r"), wanted, ()).columns, strict=True))
        return self.texts[name]

    def read(self, source: Any, wanted: Sequence[str], numbers: Sequence[str]) -> Any:
        """Some columns, as texts or numbers."""
        import pyarrow.csv as pc

        reading, converting = self.options(wanted, numbers)
        return pc.read_csv(source, read_options=reading, parse_options=self.parsing, convert_options=converting)

    def options(self, wanted: Sequence[str], numbers: Sequence[str], *, header: bool = True) -> tuple[Any, Any]:
        """How rows are read and converted: some columns, as texts or numbers, below a header or not."""
        import pyarrow as pa
        import pyarrow.csv as pc

        converting = pc.ConvertOptions(
            column_types={n: pa.float64() if n in numbers else pa.string() for n in wanted},
            include_columns=list(wanted),
            null_values=[],
            strings_can_be_null=False,
        )
        return pc.ReadOptions(column_names=list(self.names), skip_rows=int(header)), converting

    def lines(self, data: bytes) -> Any:
        """Whole lines below the header, as a table of texts."""
        import pyarrow as pa
        import pyarrow.csv as pc

        reading, converting = self.options(self.names, (), header=False)
        return pc.read_csv(pa.BufferReader(data), read_options=reading, parse_options=self.parsing, convert_options=converting)


def _finite(column: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.is_finite(column)).as_py())
