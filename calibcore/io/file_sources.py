"""Files as batches of rows: Parquet, Arrow and plain text larger than memory, alone, in lists, folders and patterns."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.arrow_files import ARROW_FILE, ARROW_STREAM, PARQUET, pandas_index, unique_names
from calibcore.io.profile_file import is_profile
from calibcore.io.several_files import same_columns
from calibcore.io.sources import BATCH, PIECE, PIECES, Source, spread, together
from calibcore.io.text_batches import text_source

__all__ = ["Files", "file_source"]

_START = 4 << 20  # bytes by which a file is told
_SAMPLED = 9 << 17  # rows of the groups that are opened for a sample


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a path, a folder, a pattern or a list of these, in order.

    Of a folder every file but those whose names begin with a dot or an underscore, which others write beside data; of folders and
    patterns no profile files, which a reduction may have left there.

    Attributes
    ----------
    paths : tuple of Path
    name : str
        For all of them.
    passed_over : tuple of str
        The names of profile files.
    """

    paths: tuple[Path, ...]
    name: str
    passed_over: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Any) -> Files:
        """The files that a user means; InputError where there are none, or one of them holds profiles already."""
        named = [Path(one) for one in (source if isinstance(source, (list, tuple)) else [source])]
        found = [path for one in named for path in _expanded(one)]
        if not found:
            raise InputError("No file was given.")
        made = [path for path in found if is_profile(path)]
        paths = [path for path in found if path not in made]
        if wrong := [path.name for path in made if path in named or not paths]:
            raise InputError(f"{wrong[0]} is a profile file already. Open it with calibcore.read; profiles of parts are added with +.")
        return cls(tuple(paths), _called(named, paths), tuple(p.name for p in made))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of a model of these files."""
        return (f"Passed over, since profiles: {listing(self.passed_over, 4)}.",) if self.passed_over else ()


def _called(named: Sequence[Path], found: Sequence[Path]) -> str:
    """A name for all of the files that were found where a user has named some places."""
    if len(named) == 1 and named[0].exists():
        return named[0].resolve().name or str(named[0])
    folders = {p.resolve().parent for p in found}
    if len(folders) == 1 and (folder := folders.pop().name):
        return folder
    return f"{named[0].name} and {len(named) - 1} more"


def _expanded(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(f for f in path.rglob("*") if f.is_file() and not any(p[0] in "._" for p in f.relative_to(path).parts))
        if not files:
            raise InputError(f"The folder {path} holds no files.")
        return files
    if path.exists():
        return [path]
    files = sorted(Path(f) for f in glob.glob(str(path), recursive=True) if Path(f).is_file())  # noqa: PTH207 - a pattern may be absolute
    if not files:
        raise InputError(f"There is no file {path}.")
    return files


def file_source(paths: Sequence[Path], name: str) -> Source | None:
    """The batches of files of one kind with the same columns; None where a file must be read whole to be understood."""
    starts = [_start(p) for p in paths]
    kinds = {_kind(s) for s in starts}
    if kinds == {"parquet"}:
        return _parquet(paths, name)
    if kinds == {"arrow"}:
        return _arrow(paths, name)
    return text_source(paths, starts, name) if kinds == {"text"} else None


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_START)
    except (OSError, ValueError):
        raise InputError(f"{path} cannot be read as a file.") from None


def _kind(start: bytes) -> str:
    if start.startswith(PARQUET):
        return "parquet"
    return "arrow" if start.startswith((ARROW_FILE, ARROW_STREAM)) else "text"


def _parquet(paths: Sequence[Path], name: str) -> Source:
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        data = ds.dataset([str(p) for p in paths], format="parquet", partitioning="hive")
        files = list(data.get_fragments())
        same_columns(paths, [f.physical_schema for f in files])
        n_rows = sum(f.metadata.num_rows for f in files)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{_damaged(paths)} is damaged or incomplete. Save it again.") from None
    if not n_rows:
        raise InputError(f"{name}: The file has columns but no data rows. Save it again with its rows.")

    def batches(columns: Sequence[str] | None, _: Sequence[str]) -> Iterator[Any]:
        # What is read ahead would be kept to the end of a file, and batches that wait take memory.
        reading = {"batch_readahead": 2, "fragment_readahead": 1, "fragment_scan_options": ds.ParquetFragmentScanOptions(pre_buffer=False)}
        scanner = data.scanner(columns=columns and list(columns), batch_size=BATCH, **reading)
        return scanner.to_batches()  # type: ignore[no-any-return]

    sample, places = _parquet_sample(files, data.schema, n_rows)
    return Source(name, sample, batches, n_rows, index=pandas_index(data.schema), places=places)


def _damaged(paths: Sequence[Path]) -> str:
    """The name of the first file that is no readable Parquet file; InputError for one that can be read but not taken apart."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in paths:
        try:
            names = pq.read_schema(path).names
        except (pa.ArrowException, OSError, ValueError):
            return path.name
        unique_names(names, path.name)
    return paths[0].name


def _parquet_sample(files: Sequence[Any], schema: Any, n_rows: int) -> tuple[Any, tuple[tuple[int, int], ...]]:
    """Rows from the beginning, or from all over, of row groups that are spread over the files, and where these rows are."""
    groups = [(f, group.id, group.num_rows) for f in files for group in f.row_groups]
    if n_rows <= PIECES * PIECE:
        return together([f.to_table(schema=schema) for f in files]), ((0, n_rows),)
    chosen = sorted({len(groups) * i // PIECES for i in range(PIECES)} | {len(groups) - 1})
    before = [0, *accumulate(rows for _, _, rows in groups)]
    pieces, places = [], list[tuple[int, int]]()
    for place in chosen:
        file, group, rows = groups[place]
        if len(chosen) < PIECES and rows * len(chosen) <= _SAMPLED:
            table, inside = file.subset(row_group_ids=[group]).to_table(schema=schema), spread(rows)
        else:
            table, inside = _first_rows(file, group, schema), [(0, min(PIECE, rows))]
        pieces += [table.slice(start, count) for start, count in inside]
        places += [(before[place] + start, count) for start, count in inside]
    return together(pieces), tuple(places)


def _first_rows(file: Any, group: int, schema: Any) -> Any:
    """The first rows of a row group, of which no more is unpacked; with the columns that the file's folder names."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    with pq.ParquetFile(file.path) as opened:
        table = pa.Table.from_batches([next(opened.iter_batches(batch_size=PIECE, row_groups=[group]))])
    named = ds.get_partition_keys(file.partition_expression)
    columns = [table.column(f.name) if f.name in table.column_names else pa.repeat(named.get(f.name), len(table)) for f in schema]
    return pa.table([c.cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def _arrow(paths: Sequence[Path], name: str) -> Source:
    schemas, rows, samples = [], list[int | None](), []
    for path in paths:
        schema, count, sample = _looked_into(path)
        schemas.append(schema)
        rows.append(count)
        samples.append(sample)
    same_columns(paths, schemas)
    n_rows = sum(r for r in rows if r is not None) if None not in rows else None
    sample = together([s.select(schemas[0].names) for s in samples])
    if not len(sample):
        raise InputError(f"{name}: The file has columns but no data rows. Save it again with its rows.")

    def batches(columns: Sequence[str] | None, _: Sequence[str]) -> Iterator[Any]:
        for path in paths:
            for batch in _reading(path, lambda p: _arrow_batches(p, columns)):
                yield from (batch.slice(start, BATCH) for start in range(0, len(batch), BATCH))

    return Source(name, sample, batches, n_rows, index=pandas_index(schemas[0]))


def _reading(path: Path, batches: Callable[[Path], Iterator[Any]]) -> Iterator[Any]:
    """Batches of a file; damage is a sentence."""
    import pyarrow as pa

    try:
        yield from batches(path)
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path.name}: This Arrow file is damaged or incomplete. Save it again, or as Parquet.") from None


def _arrow_batches(path: Path, columns: Sequence[str] | None, places: Callable[[int], Sequence[int]] = range) -> Iterator[Any]:
    """The batches of an Arrow file or stream, each checked before it is used."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        is_file = file.read(len(ARROW_FILE)) == ARROW_FILE
        file.seek(0)
        opened: Any = pa.ipc.open_file if is_file else pa.ipc.open_stream
        schema = opened(file).schema
        file.seek(0)
        wanted = None if columns is None else [schema.names.index(c) for c in columns]
        reader = opened(file, options=pa.ipc.IpcReadOptions(included_fields=wanted))
        for batch in map(reader.get_batch, places(reader.num_record_batches)) if is_file else reader:
            batch.validate(full=True)
            yield batch if columns is None else batch.select(list(columns))


def _looked_into(path: Path) -> tuple[Any, int | None, Any]:
    """The schema of an Arrow file, how many rows it has, and some of them."""
    import pyarrow as pa

    ((schema, count, pieces),) = _reading(path, _arrow_sample)
    return schema, count, pa.Table.from_batches(pieces, schema=schema)


def _arrow_sample(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        is_file = file.read(len(ARROW_FILE)) == ARROW_FILE
        file.seek(0)
        if not is_file:
            reader = pa.ipc.open_stream(file)
            first = next(iter(reader), None)
            yield reader.schema, None, [] if first is None else [first.slice(0, PIECES * PIECE)]
            return
        reader = pa.ipc.open_file(file)
        n = reader.num_record_batches
        chosen = sorted({n * i // PIECES for i in range(PIECES)} | {n - 1}) if n else []
        batches = [reader.get_batch(i) for i in chosen]
        for batch in batches:
            batch.validate(full=True)
        pieces = [b.slice(start, rows) for b in batches for start, rows in (spread(len(b)) if n <= PIECES else [(0, PIECE)])]
        count = sum(reader.get_batch(i).num_rows for i in range(n)) if n <= 1000 else None
        yield reader.schema, count, pieces
