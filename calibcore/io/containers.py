"""Files by their content, never by their name: bytes → tables, or one sentence that says what the bytes are."""

from __future__ import annotations

import zlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io import arrays, workbooks
from calibcore.io.archives import MAX_RATIO, Archive, implausible, is_zip, open_archive, passed_over
from calibcore.io.arrow_files import ARROW_FILE, ARROW_STREAM, PARQUET, read_arrow, read_parquet, unique_names
from calibcore.io.asides import without_asides
from calibcore.io.big_text import read_big, read_big_file
from calibcore.io.columns import Table, as_table
from calibcore.io.documents import is_list, read_json, starts_document
from calibcore.io.foreign import refuse_foreign
from calibcore.io.profile_file import is_profile
from calibcore.io.profile_tables import profile_table
from calibcore.io.records import looks_like_records
from calibcore.io.text import NO_TABLE, read_delimited
from calibcore.io.vector_layouts import with_fields
from calibcore.progress import Digest, Heard, within

__all__ = ["MAX_UNPACKED", "frame_arrow", "frame_tables", "no_frame", "open_tables", "path_tables"]

MAX_UNPACKED = 2 << 30  # bytes that a packed file may grow to
_MAX_WORKBOOK = 1 << 30  # bytes of a workbook's parts, which take more memory as cells
_PREFIX = 4 << 20  # bytes of text that a first look reads
_STEP, _READ = 8 << 20, 0.1  # bytes between two words on how far it is, and the part of the time that they take before they are parsed
_BLANK = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"
_SAVE = "Save the predictions as CSV, Parquet or JSON Lines"
_GZIP, _COMPOUND = b"\x1f\x8b", b"\xd0\xcf\x11\xe0"
_BINARY = (PARQUET, _GZIP, b"PK", arrays.MAGIC, ARROW_FILE, ARROW_STREAM, _COMPOUND)
_KINDS = {  # beginning of a format → endings of file names
    "CSV": "csv",
    "TSV": "tsv tab",
    "Parquet": "parquet pq parq",
    "JSON": "json jsonl ndjson",
    "workbook": "xlsx xlsm xlsb xls ods",
    "NumPy array": "npy",
    "NumPy archive": "npz",
    "Arrow": "arrow feather ipc arrows",
}


def path_tables(path: Path, *, first_rows: bool = False, heard: Heard | None = None) -> list[Table]:
    """The tables of a file; with ``first_rows`` only the beginning of a long text is read, and ``heard`` is told how far it is."""
    try:
        with path.open("rb") as file:
            data = file.read(_PREFIX + 1)
            passing = _passing(path, data, first_rows=first_rows, heard=heard) if len(data) > _PREFIX and path.is_file() else None
            if passing is None and (not first_rows or _needs_all(data)):
                data += _rest(file, path.stat().st_size, within(heard, 0, _READ))
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder. Give its files, or make one profile of them: calibcore reduce {path}") from None
    except (OSError, ValueError):
        raise InputError(f"{path} cannot be read as a file.") from None
    return passing or open_tables(data, path.name, first_rows=first_rows, heard=within(heard, _READ, 1))


def _rest(file: BinaryIO, size: int, heard: Heard | None) -> bytes:
    """What is left of a file; in parts where somebody listens."""
    if heard is None:
        return file.read()
    parts = []
    while part := file.read(_STEP):
        parts.append(part)
        heard(file.tell() / max(size, 1))
    return b"".join(parts)


def _passing(path: Path, start: bytes, *, first_rows: bool, heard: Heard | None) -> list[Table] | None:
    """The table of a big file that need not be held as a whole, Parquet or plain text; None of others."""
    name = path.name
    if start.startswith(PARQUET):
        digest = None if first_rows else Digest.of_file(path)
        try:
            table = profile_table(path, name) if is_profile(path) else read_parquet(path, name, 4 * MAX_UNPACKED, heard)
            return _finished([replace(table, sha256=digest)], name)
        except InputError as error:
            raise named(error, name) from None
    if first_rows or start.startswith(_BINARY) or start[:64].lstrip(_BLANK)[:1] in (b"[", b"{"):
        return None
    try:
        refuse_foreign(start, name)
    except InputError:  # which is told with all of the file at hand
        return None
    try:
        found = read_big_file(path, start, name, heard)
    except InputError as error:
        raise named(error, name) from None
    return None if found is None else _finished([found], name)


def open_tables(data: bytes, name: str, *, first_rows: bool = False, heard: Heard | None = None) -> list[Table]:
    """The tables in a file's bytes.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name: shown in messages, never used to tell what the bytes are.
    first_rows : bool
        Read only the beginning of a long text.
    heard : callable, optional
        Told which part of a big file has been read, 0 to 1.

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
        return _file_tables(data, name, first_rows=first_rows, limit=MAX_UNPACKED, heard=heard)
    except InputError as error:
        raise named(error, name) from None


def _needs_all(data: bytes) -> bool:
    """Whether a file that begins so says nothing before its end."""
    return data.startswith(_BINARY) or (looks_like_records(data) and starts_document(data))


def _file_tables(data: bytes, name: str, *, first_rows: bool, limit: int, inside: bool = False, heard: Heard | None = None) -> list[Table]:
    """The tables of a file; ``inside`` an archive it must be no other one."""
    digest = None if first_rows else Digest(lambda: BytesIO(data), len(data))
    packed = data.startswith(_GZIP)
    content = _unpacked(data, name, limit, within(heard, 0, _READ)) if packed else data
    archive = open_archive(content) if is_zip(content) else None
    if archive and archive.kind == "zip":
        if inside or packed:
            raise InputError("This is an archive inside another one. Unpack it and add the files one by one.")
        return _archive_tables(archive, name, first_rows=first_rows)
    if (archive and archive.kind == "workbook") or workbooks.is_old_workbook(content):
        tables = _workbook(content, archive, name)
    elif archive:
        members = [(n.removesuffix(".npy"), d) for n, d in archive.contents(MAX_UNPACKED)]
        tables = arrays.array_tables(members, name)
    else:
        cut = first_rows and len(content) > _PREFIX and not _needs_all(content)
        heard = within(heard, _READ, 1) if packed else heard
        tables = [_table(content[:_PREFIX] if cut else content, name, complete=not cut, heard=heard)]
    return _finished([replace(t, sha256=digest) for t in tables], name, packed=packed)


def _finished(tables: list[Table], name: str, *, packed: bool = False) -> list[Table]:
    """With the fields of records as columns, and what the name of the file promised."""
    surprise = _surprise(name.lower().removesuffix(".gz"), "Parquet" if tables[0].models else tables[0].format)
    return [replace(t, notes=(*t.notes, *surprise), format=t.format + (", gzip" if packed else "")) for t in map(with_fields, tables)]


def _workbook(data: bytes, archive: Archive | None, name: str) -> list[Table]:
    """The tables of a workbook; its parts are unpacked and counted before a reader sees them."""
    for part, content in archive.contents(_MAX_WORKBOOK) if archive else ():
        workbooks.check_cells(part, content)
    tables, others = workbooks.workbook_tables(data)
    tables = without_asides(tables, "workbook")
    notes = (f"Passed over in the workbook, since no tables: {listing(others, 6)}.",) if others else ()
    if len(tables) == 1:
        return [replace(tables[0], name=name, notes=(*tables[0].notes, *notes))]
    sheets = listing([t.name for t in tables], 6)
    several = f"The workbook {name} holds {len(tables)} tables: {sheets}."
    return [replace(t, name=f"{name}/{t.name.replace('.', '_').replace('/', '_')}", notes=(*t.notes, several, *notes)) for t in tables]


def _archive_tables(archive: Archive, name: str, *, first_rows: bool) -> list[Table]:
    """The tables in a zip archive; what is no table is passed over with a note, a damaged table is an error."""
    tables: list[Table] = []
    others, spent = list(archive.documents), 0
    for member, content in archive.contents(MAX_UNPACKED):
        try:
            if content.startswith(_GZIP):
                content = _unpacked(content, member, MAX_UNPACKED - spent)  # noqa: PLW2901
                spent += len(content)
            tables += _file_tables(content, member, first_rows=first_rows, limit=0, inside=True)
        except InputError as error:
            if error.rule != NO_TABLE:
                raise named(error, f"{name}/{member}") from None
            others.append(member)
    if not tables:
        raise InputError(f"The archive holds no table; it holds {listing(others, 4)}. {_SAVE}, and add that file.")
    tables = without_asides(tables, "archive")
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


def _table(data: bytes, name: str, *, complete: bool, heard: Heard | None = None) -> Table:
    if not data[:4096].strip(_BLANK) and not data.strip(_BLANK):
        raise InputError("The file is empty. Save it again.", rule=NO_TABLE)
    if data.startswith(PARQUET):
        if is_profile(data):
            return profile_table(data, name)
        return read_parquet(data, name, 4 * MAX_UNPACKED, heard)
    if data.startswith((ARROW_FILE, ARROW_STREAM)):
        return read_arrow(data, name, 4 * MAX_UNPACKED)
    if data.startswith(arrays.MAGIC):
        return arrays.lone_array(data, name)
    refuse_foreign(data, name)
    if data.startswith(_COMPOUND):
        raise InputError(f"{name} is an old Office file without a sheet that can be read. {_SAVE}.")
    if looks_like_records(data) or (complete and is_list(data)):
        return read_json(data, name, complete=complete)
    if len(data) >= _PREFIX and b"\n" not in data[:_PREFIX] and b"\r" not in data[:_PREFIX]:
        raise InputError(f"The first {_PREFIX >> 20} MB hold no end of a line, so this is no table of text. {_SAVE}.", rule=NO_TABLE)
    return (read_big(data, name, heard) if complete else None) or read_delimited(data, name, complete=complete)


def _unpacked(data: bytes, name: str, limit: int, heard: Heard | None = None) -> bytes:
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
            if implausible(size, len(data)):
                raise InputError(
                    f"{name} unpacks to more than {MAX_RATIO} times its size, as no table of predictions does. Add it unpacked."
                )
            parts.append(part)
            if heard:
                heard(1 - len(rest) / len(data))
            rest = machine.unconsumed_tail
            if machine.eof and machine.unused_data.startswith(b"\x1f\x8b"):
                rest, machine = machine.unused_data, zlib.decompressobj(wbits=31)
            elif not part and not rest:
                break
        if machine.eof and machine.unused_data.strip(b"\0"):  # whatever it is, it would be lost
            raise zlib.error  # noqa: TRY301
    except zlib.error:
        raise InputError(f"{name} is a damaged gzip file. Pack it again, or add it unpacked.") from None
    if not machine.eof:
        raise InputError(f"{name} is a gzip file that ends too early. Copy or pack it again.")
    return b"".join(parts)


def frame_arrow(frame: Any) -> tuple[Any, tuple[str, ...]]:
    """A data frame as an Arrow table: pandas, or anything that speaks the Arrow C stream; and the columns that were its index."""
    import pyarrow as pa

    index: tuple[str, ...] = ()
    if hasattr(frame, "iloc") and hasattr(frame, "columns"):
        frame, index = _with_index(frame)
        arrow = _from_pandas(frame)
    else:
        arrow = pa.table(frame)
        arrow = arrow.rename_columns([str(n) for n in arrow.column_names])
    unique_names(arrow.column_names)
    return arrow, index


def frame_tables(frame: Any, name: str) -> list[Table]:
    """The table of a data frame: pandas, or anything that speaks the Arrow C stream."""
    arrow, index = frame_arrow(frame)
    if arrow.num_rows == 0:
        raise InputError("The data frame has no rows. Give it its rows.")
    return [with_fields(as_table(arrow, name, format="data frame", index=index))]


def no_frame(source: Any, done: str, taken: str) -> InputError:
    """For what is no source of rows, or none yet; ``done`` says what is done with sources, ``taken`` of which kinds."""
    kind = type(source).__name__
    if kind == "LazyFrame":  # of polars, or of narwhals
        return InputError("A LazyFrame holds no rows yet. Give its rows, frame.collect(), or write them to a file and give its path.")
    if type(source).__module__.startswith("dask."):
        return InputError(f"A {kind} of Dask cannot be {done}. Give its profile, calibcore.reduce(frame), or its rows, frame.compute().")
    return InputError(f"A {kind} cannot be {done}. Give {taken}.")


def _with_index(frame: Any) -> tuple[Any, tuple[str, ...]]:
    """A data frame with its index as columns, as a CSV file has it, and their names; not one that only counts the rows."""
    index = frame.index
    levels = list(getattr(index, "names", ()))
    counts = levels == [None] and type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    if counts or getattr(frame.columns, "nlevels", 1) > 1:
        return frame, ()
    columns = set(map(str, frame.columns))
    names = ["" if n is None and levels.index(None) == i else f"level_{i}" if n is None else str(n) for i, n in enumerate(levels)]
    kept = [i for i, n in enumerate(names) if n not in columns and names.count(n) == 1]
    if not kept:
        return frame, ()
    gone = [i for i in range(len(names)) if i not in kept]
    whole = frame.set_axis(index.set_names(names), axis=0)
    whole = whole.reset_index(level=gone, drop=True) if gone else whole
    return whole.reset_index(), tuple(names[i] for i in kept)


def _from_pandas(frame: Any) -> Any:
    import pyarrow as pa

    arrays, names = [], [str(c) for c in frame.columns]
    unique_names(names)
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
    kind = next((k for k in _KINDS if found.startswith(k)), None)
    promised = next((k for k, ends in _KINDS.items() if PurePath(name).suffix.lstrip(".") in ends.split()), None)
    text = {"CSV", "TSV", None}
    if promised is None or promised == kind or (promised in text and kind in text):
        return ()
    word = _KINDS[promised].split()[0] if promised != "workbook" else "workbook"
    return (f"The name says {word}, the content is {found}; it was read by its content.",)
