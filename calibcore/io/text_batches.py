"""Plain delimited text as batches of rows, where its first rows show that splitting lines is all there is to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from calibcore.errors import InputError
from calibcore.io.big_text import Cells, plain_cells
from calibcore.io.containers import named
from calibcore.io.several_files import same_columns
from calibcore.io.sources import PIECES, NotNumbers, Source, together
from calibcore.io.text_faults import check_lines, check_rows
from calibcore.progress import Passing

__all__ = ["text_source"]

_PIECE = 1 << 18  # bytes of a sample's piece
_BLOCK = 8 << 20  # bytes that are parsed at once


def text_source(paths: Sequence[Path], starts: Sequence[bytes], name: str) -> Source | None:
    """The batches of plain text files with the same header; None where one is not plain, and is to be read whole."""
    import pyarrow as pa

    files = [plain_cells(path, start, path.name) for path, start in zip(paths, starts, strict=True)]
    cells = [c for c in files if c is not None]
    if len(cells) < len(files):
        return None
    same_columns(paths, [pa.table(c.first).schema for c in cells])
    text = _Text(paths, cells)
    numbers = tuple(n for n in cells[0].names if all(n in c.numbers for c in cells))
    sample = text.sample(starts)
    places = ((0, len(sample[0])),) if len(sample) == 1 else ()
    return Source(name, together(sample), text.batches, share=text.share, numbers=numbers, places=places)


class _Text:
    """Files of one header, and how many of their bytes have passed."""

    def __init__(self, paths: Sequence[Path], cells: Sequence[Cells]) -> None:
        self.paths, self.cells, self.names = paths, cells, cells[0].names
        self.size = sum(c.size for c in cells)
        self.before, self.passing = 0, Passing(None, hashed=False)

    def share(self, _rows: int) -> float:
        return (self.before + self.passing.bytes) / max(self.size, 1)

    def batches(self, columns: Sequence[str] | None, numbers: Sequence[str]) -> Iterator[Any]:
        """The rows of all files; a cell that is no number where numbers are wanted raises NotNumbers."""
        self.before, self.passing = 0, Passing(None, hashed=False)
        for path, cells in zip(self.paths, self.cells, strict=True):
            try:
                yield from self._rows(cells, list(self.names if columns is None else columns), numbers)
            except InputError as error:
                raise named(error, path.name) from None
            self.before, self.passing = self.before + cells.size, Passing(None, hashed=False)

    def _rows(self, cells: Cells, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Any]:
        """The rows of a file; InputError where a row cannot be told from others."""
        import pyarrow as pa
        import pyarrow.csv as pc

        reading, converting = cells.options(columns, numbers)
        reading.block_size, rows = _BLOCK, 0
        with cells.opened() as file:
            self.passing = passing = Passing(file, hashed=False)
            source = pa.PythonFile(passing, mode="r")
            try:
                for batch in pc.open_csv(source, read_options=reading, parse_options=cells.parsing, convert_options=converting):
                    rows += len(batch)
                    yield batch
            except pa.ArrowInvalid as error:
                if numbers:  # which the caller then asks for as texts
                    raise NotNumbers from None
                check_rows(cells, error)
        if passing.quotes:
            check_lines(cells, rows)

    def sample(self, starts: Sequence[bytes]) -> list[Any]:
        """The first rows of each file, and lines from places spread over it; all as texts."""
        import pyarrow as pa

        found = list[Any]()
        for path, cells, start in zip(self.paths, self.cells, starts, strict=True):
            pieces = [] if b'"' in start else _pieces(path, cells)
            found += [table.select(self.names) for table in (pa.table(cells.first), *pieces)]
            if len(found) > 4 * PIECES:
                break
        return found


def _pieces(path: Path, cells: Cells) -> Iterator[Any]:
    """Lines from places spread over a long file."""
    import pyarrow as pa

    for i in range(1, PIECES + 1 if cells.size > 4 * PIECES * _PIECE else 0):
        with path.open("rb") as file:
            file.seek(max(0, cells.size * i // PIECES - _PIECE))
            data = file.read(_PIECE)
        lines = data[data.find(b"\n") + 1 : data.rfind(b"\n") + 1]
        try:
            yield cells.lines(lines)
        except pa.ArrowInvalid:  # which is told, with its place, when it is read
            continue
