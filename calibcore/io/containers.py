"""Files by their content, never by their name: bytes → tables, or one sentence that says what the bytes are."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.archives import is_zip, open_archive, passed_over
from calibcore.io.columns import Column, Table, as_table, kind_of
from calibcore.io.records import looks_like_records, read_records
from calibcore.io.text import NO_TABLE, read_delimited
from calibcore.io.vector_layouts import with_fields

__all__ = ["MAX_UNPACKED", "frame_tables", "open_tables", "path_tables"]

MAX_UNPACKED = 2 << 30  # bytes that a packed file may grow to
_PREFIX = 4 << 20  # bytes of text that a first look reads
_SAVE = "Save the predictions as CSV, Parquet or JSON Lines"
_REFUSED: tuple[tuple[bytes, str], ...] = (
    (b"\x93NUMPY", f"is a NumPy array, which is not read yet. {_SAVE}, with a header line."),
    (b"ARROW1", "is an Arrow (Feather) file, which is not read yet. Save it as Parquet."),
    (b"\xff\xff\xff\xff", "is an Arrow stream, which is not read yet. Save it as Parquet."),
    (b"\xd0\xcf\x11\xe0", f"is an old Excel workbook, which is not read yet. {_SAVE}."),
    (b"%PDF", f"is a PDF. {_SAVE}."),
    (b"\x89PNG", f"is a picture. {_SAVE}."),
    (b"\xff\xd8\xff", f"is a picture. {_SAVE}."),
    (b"BZh", "is packed with bzip2, which is not read. Unpack it first."),
    (b"\xfd7zXZ\x00", "is packed with xz, which is not read. Unpack it first."),
    (b"\x28\xb5\x2f\xfd", "is packed with Zstandard, which is not read. Unpack it first."),
    (b"7z\xbc\xaf\x27\x1c", "is a 7-Zip archive, which is not read. Unpack it first."),
    (b"\x89HDF\r\n", f"is an HDF5 file, which is not read. {_SAVE}."),
    (b"SQLite format 3\x00", f"is an SQLite database, which is not read. {_SAVE}."),
)
_DOCUMENTS = (b"%PDF", b"\x89PNG", b"\xff\xd8\xff")  # never a table, while others of these may hold one
_PICKLE = "is a Python pickle, which can run code when opened, so it is never loaded. Save it as CSV or Parquet and add it again."
_SUFFIXES = {"csv": ("csv",), "tsv": ("tsv", "tab"), "parquet": ("parquet", "pq", "parq"), "json": ("json", "jsonl", "ndjson")}


def path_tables(path: Path, *, first_rows: bool = False) -> list[Table]:
    """The tables of a file; with ``first_rows`` only the beginning of a long text is read."""
    try:
        with path.open("rb") as file:
            data = file.read(_PREFIX + 1) if first_rows else file.read()
            if len(data) > _PREFIX and first_rows and data.startswith((b"PAR1", b"\x1f\x8b", b"PK")):
                data += file.read()
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except (OSError, ValueError):
        raise InputError(f"{path} cannot be read as a file.") from None
    return open_tables(data, path.name, first_rows=first_rows)


def open_tables(data: bytes, name: str, *, first_rows: bool = False) -> list[Table]:
    """The tables in a file's bytes.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name: shown in messages, never used to tell what the bytes are.
    first_rows : bool
        Read only the beginning of a long text.

    Returns
    -------
    list of Table
        One for each table; only archives hold several.

    Raises
    ------
    InputError
        If the file is empty, no table, damaged, or of a kind that is not read.
    """
    try:
        if is_zip(data):
            return _archive_tables(data, name, first_rows=first_rows)
        return [_file_table(data, name, first_rows=first_rows, limit=MAX_UNPACKED)]
    except InputError as error:
        raise named(error, name) from None


def _file_table(data: bytes, name: str, *, first_rows: bool, limit: int) -> Table:
    """The table of a file that holds one."""
    digest = None if first_rows else hashlib.sha256(data).hexdigest()
    packed = data.startswith(b"\x1f\x8b")
    content = _unpacked(data, name, limit) if packed else data
    cut = first_rows and len(content) > _PREFIX and not content.startswith(b"PAR1")
    table = with_fields(_table(content[:_PREFIX] if cut else content, name, complete=not cut))
    surprise = _surprise(name.lower().removesuffix(".gz"), table.format)
    return replace(table, sha256=digest, notes=(*table.notes, *surprise), format=table.format + (", gzip" if packed else ""))


def _archive_tables(data: bytes, name: str, *, first_rows: bool) -> list[Table]:
    """The tables in a zip archive; what is no table is passed over with a note, a damaged table is an error."""
    archive = open_archive(data)
    tables, others, spent = [], list(archive.documents), 0
    for member, content in archive.contents(MAX_UNPACKED):
        try:
            if content.startswith(b"\x1f\x8b"):
                content = _unpacked(content, member, MAX_UNPACKED - spent)  # noqa: PLW2901
                spent += len(content)
            tables.append(_file_table(content, member, first_rows=first_rows, limit=0))
        except InputError as error:
            if error.rule != NO_TABLE:
                raise named(error, f"{name}/{member}") from None
            others.append(member)
    if not tables:
        raise InputError(f"The archive holds no table; it holds {listing(others, 4)}. {_SAVE}, and add that file.")
    notes = (*passed_over(others), *_surprise(name.lower(), "zip archive"))
    several = (f"The archive {name} holds {len(tables)} tables: {listing([t.name for t in tables], 6)}.",) if len(tables) > 1 else ()
    names = _told_apart([t.name for t in tables])
    return [
        replace(t, name=f"{name}/{new}", notes=(*t.notes, *several, *notes), format=f"{t.format}, zip")
        for t, new in zip(tables, names, strict=True)
    ]


def _told_apart(members: list[str]) -> list[str]:
    """Names whose last parts differ, since these name the models: folders are made part of a name that repeats."""
    last = [Path(m).stem for m in members]
    return [m.replace("/", " ") if last.count(stem) > 1 else m for m, stem in zip(members, last, strict=True)]


def named(error: InputError, name: str) -> InputError:
    """The same error with the file's name in front."""
    text = str(error)
    if not name or text.startswith(name):
        return error
    return InputError(f"{name}: {text}", rule=error.rule, value=error.value, row=error.row, column=error.column, available=error.available)


def _table(data: bytes, name: str, *, complete: bool) -> Table:
    if not data.strip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"):
        raise InputError("The file is empty.", rule=NO_TABLE)
    if data.startswith(b"PAR1"):
        return _read_parquet(data, name)
    _refuse(data, name)
    if looks_like_records(data):
        return read_records(data, name, complete=complete)
    return read_delimited(data, name, complete=complete)


def _refuse(data: bytes, name: str) -> None:
    """InputError for what is known and not read."""
    if is_zip(data):
        open_archive(data)
        raise InputError("This is an archive inside another one. Unpack it and add the files one by one.")
    if _is_pickle(data):
        raise InputError(f"{name} {_PICKLE}", rule=NO_TABLE)
    for magic, sentence in _REFUSED:
        if data.startswith(magic) and not (magic == b"\xff\xd8\xff" and len(data) < 4):
            raise InputError(f"{name} {sentence}", rule=NO_TABLE if magic in _DOCUMENTS else None)


def _is_pickle(data: bytes) -> bool:
    """Binary pickles start with 0x80 and a version; old text pickles with an opcode line and end in a full stop."""
    if data[:1] == b"\x80" and data[1:2] in (b"\x01", b"\x02", b"\x03", b"\x04", b"\x05"):
        return True
    old = data.startswith((b"(lp", b"(dp", b"(ip", b"cnumpy", b"ccopy_reg", b"c__builtin__", b"cpandas", b"(c", b"ctorch"))
    return old and data.rstrip().endswith(b".")


def _unpacked(data: bytes, name: str, limit: int) -> bytes:
    """Gzip content, counted while it is unpacked."""
    machine = zlib.decompressobj(wbits=31)
    parts, size, rest = [], 0, data
    try:
        while rest:
            part = machine.decompress(rest, 1 << 24)
            size += len(part)
            if size > limit:
                raise InputError(
                    f"{name} unpacks to more than {MAX_UNPACKED >> 30} GB, which is the "
                    "limit. Save it as Parquet, with only the columns needed."
                )
            parts.append(part)
            rest = machine.unconsumed_tail
            if machine.eof and machine.unused_data.startswith(b"\x1f\x8b"):
                rest, machine = machine.unused_data, zlib.decompressobj(wbits=31)
            elif not part and not rest:
                break
    except zlib.error:
        raise InputError(f"{name} is a damaged gzip file. Pack it again, or add it unpacked.") from None
    if not machine.eof:
        raise InputError(f"{name} is a gzip file that ends too early. Copy or pack it again.")
    return b"".join(parts)


def _read_parquet(data: bytes, name: str) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        schema = file.schema_arrow
        size = sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
    except (pa.ArrowException, OSError, ValueError):
        raise InputError("This Parquet file is damaged or incomplete. Save it again.") from None
    if size > 4 * MAX_UNPACKED:
        raise InputError(f"The file unpacks to {size >> 30} GB; the limit is {4 * MAX_UNPACKED >> 30} GB. Keep only the columns needed.")
    _unique_names(schema.names)
    if file.metadata.num_rows == 0:
        raise InputError("The file has columns but no data rows.")
    columns = {n: Column(n, kind_of(schema.field(i).type), _parquet_loader(file, n)) for i, n in enumerate(schema.names)}
    n = file.metadata.num_rows
    return Table(name, columns, n, "Parquet", index=_pandas_index(schema), rows_in_file=n)


def _parquet_loader(file: Any, column: str) -> Any:
    def load() -> Any:
        import pyarrow as pa

        try:
            return file.read(columns=[column], use_threads=True).column(column)
        except (pa.ArrowException, OSError, ValueError, KeyError):
            raise InputError(
                f"Column {column!r} of this Parquet file cannot be read; the file is damaged. Save it again.", column=column
            ) from None

    return load


def _unique_names(names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"Two columns are called {name}. Rename one of them.", column=name, value=name)
        seen.add(name)


def _pandas_index(schema: Any) -> tuple[str, ...]:
    """Columns that a data frame's index was saved as."""
    stored = (schema.pandas_metadata or {}).get("index_columns", []) if schema.metadata else []
    return tuple(c for c in stored if isinstance(c, str) and c in schema.names)


def frame_tables(frame: Any, name: str) -> list[Table]:
    """The table of a data frame: pandas, or anything that speaks the Arrow C stream."""
    import pyarrow as pa

    if hasattr(frame, "iloc") and hasattr(frame, "columns"):
        arrow = _from_pandas(frame)
    else:
        arrow = pa.table(frame)
        arrow = arrow.rename_columns([str(n) for n in arrow.column_names])
    _unique_names(arrow.column_names)
    if arrow.num_rows == 0:
        raise InputError("The data frame has no rows.")
    return [with_fields(as_table(arrow, name, format="data frame"))]


def _from_pandas(frame: Any) -> Any:
    import pyarrow as pa

    arrays, names = [], [str(c) for c in frame.columns]
    _unique_names(names)
    for position in range(len(names)):
        series = frame.iloc[:, position]
        try:
            arrays.append(pa.array(series, from_pandas=True))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):  # mixed types in one column
            absent = series.isna().tolist()
            texts = [None if gone else str(v) for v, gone in zip(series.tolist(), absent, strict=True)]
            arrays.append(pa.array(texts, type=pa.string()))
    return pa.table(arrays, names=names)


def _surprise(name: str, found: str) -> tuple[str, ...]:
    """A note when the name promises something else than the content is."""
    kind = {"CSV": "csv", "TSV": "tsv", "Parquet": "parquet", "JSON Lines": "json"}.get(found)
    promised = next((k for k, ends in _SUFFIXES.items() if name.rpartition(".")[2] in ends), None)
    text = {"csv", "tsv", None}
    if promised is None or promised == kind or (promised in text and kind in text):
        return ()
    return (f"The name says {promised}, the content is {found}; it was read by its content.",)
