"""Parquet, Arrow and Feather files → tables whose columns are loaded when they are first needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from calibcore.errors import InputError
from calibcore.io.arrow_sizes import unpacked_sizes
from calibcore.io.columns import Table, as_table
from calibcore.io.headers import check_width
from calibcore.io.parquet_columns import check_words, parquet_columns
from calibcore.progress import Heard

__all__ = ["ARROW_FILE", "ARROW_STREAM", "PARQUET", "pandas_index", "read_arrow", "read_parquet", "unique_names"]

PARQUET, ARROW_FILE, ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"


def read_parquet(data: bytes | Path, name: str, limit: int, heard: Heard | None = None) -> Table:
    """The table of a Parquet file, its bytes or its path, that unpacks to no more than ``limit`` bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(_opened(data))
        schema = file.schema_arrow
        names = _names(schema)
        size = sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
    except (pa.ArrowException, OSError, ValueError):
        raise InputError("This Parquet file is damaged or incomplete. Save it again.") from None
    _bounded(size, limit)
    unique_names(names)
    check_width(len(names))
    if file.metadata.num_rows == 0:
        raise InputError("The file has columns but no data rows. Save it again with its rows.")
    columns = parquet_columns(file, limit, lambda words: pq.ParquetFile(_opened(data), read_dictionary=words), heard)
    n = file.metadata.num_rows
    return Table(name, columns, n, "Parquet", index=pandas_index(schema), rows_in_file=n)


def _opened(data: bytes | Path) -> Any:
    import pyarrow as pa

    return pa.OSFile(str(data)) if isinstance(data, Path) else pa.BufferReader(data)


def _bounded(size: int, limit: int) -> None:
    if size > limit:
        raise InputError(f"The file unpacks to {size >> 30} GB; the limit is {limit >> 30} GB. Keep only the columns needed.")


def read_arrow(data: bytes, name: str, limit: int) -> Table:
    """The table of an Arrow file (Feather version 2) or stream, batch by batch, checked before it is used."""
    import pyarrow as pa

    is_file = data.startswith(ARROW_FILE)
    _bounded(sum(unpacked_sizes(data, is_file=is_file)), limit)
    try:
        reader = pa.ipc.open_file(pa.BufferReader(data)) if is_file else pa.ipc.open_stream(pa.BufferReader(data))
        batches, size = [], 0
        for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
            batch.validate(full=True)
            size += batch.nbytes
            _bounded(size, limit)
            batches.append(batch)
        arrow = pa.Table.from_batches(batches, schema=reader.schema)
        for field, cells in zip(arrow.schema, arrow.columns, strict=True):
            check_words(field.name, cells, limit)
        names = _names(arrow.schema)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, EOFError):
        raise InputError("This Arrow file is damaged or incomplete. Save it again, or as Parquet.") from None
    unique_names(names)
    if arrow.num_rows == 0:
        raise InputError("The file has columns but no data rows. Save it again with its rows.")
    return as_table(arrow, name, format="Arrow file (Feather)" if is_file else "Arrow stream", index=pandas_index(arrow.schema))


def _names(schema: Any) -> list[str]:
    """The columns' names; ValueError if a name, of a column or within one, is no text."""
    waiting = [field.type for field in schema]
    while waiting:
        kind = waiting.pop()
        waiting.extend(field.type for field in _within(kind) if isinstance(field.name, str))
    return list(schema.names)


def _within(kind: Any) -> list[Any]:
    """The fields of a nested type."""
    import pyarrow.types as pt

    if pt.is_dictionary(kind):
        return _within(kind.value_type)
    return [kind.field(i) for i in range(kind.num_fields)]


def unique_names(names: list[str], file: str = "") -> None:
    """InputError for the first name that two columns share, in a file that the sentence names where it is given."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            where = f"{file}: " if file else ""
            raise InputError(f"{where}Two columns are called {name}. Rename one of them.", column=name, value=name)
        seen.add(name)


def pandas_index(schema: Any) -> tuple[str, ...]:
    """Columns that a data frame's index was saved as."""
    try:
        stored = (schema.pandas_metadata or {})["index_columns"] if schema.metadata else []
        return tuple(c for c in stored if isinstance(c, str) and c in schema.names)
    except (ValueError, TypeError, KeyError, RecursionError):  # nobody wrote it, or it is damaged: the columns stand without it
        return ()
