"""NumPy files: npy and npz → tables; nothing in them is ever unpickled, and sizes are checked before memory is taken."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io.columns import Column, Table, kind_of

__all__ = ["CLASS_LISTS", "MAGIC", "array_tables", "lone_array"]

MAGIC = b"\x93NUMPY"
_MAX_COLUMNS = 20_000
CLASS_LISTS = ("classes", "labels", "class_names", "class_labels", "label_names", "categories", "target_names", "classes_")
_NPY, _NPZ = "NumPy array", "NumPy archive (npz)"
_KINDS = "fiubUSM"
_FLAT = "Save one row a case: labels of shape (n,), probabilities of shape (n,) or (n, K)."
Array = NDArray[Any]


def lone_array(data: bytes, name: str) -> Table:
    """The table of an npy file: n numbers are ``column 1``, (n, K) are the columns 0 to K−1, a structured array has its fields' names.

    Raises
    ------
    InputError
        If the file is damaged, holds Python objects or another shape.
    """
    array = _columnar(_loaded(data, "The array"))
    if array is None:
        raise InputError(f"The array is no column of values and no matrix with a row a case. {_FLAT}")
    if array.dtype.names:
        return _table(name, _fields(array, ""), len(array), _NPY)
    names = ["column 1"] if array.ndim == 1 else [str(i) for i in range(array.shape[1])]
    _few_enough(len(names))
    columns = [array] if array.ndim == 1 else list(array.T)
    return _table(name, dict(zip(names, columns, strict=True)), len(array), _NPY, headless=True)


def array_tables(members: list[tuple[str, bytes]], name: str) -> list[Table]:
    """The tables of an npz file: arrays of equal length are columns of one table; a matrix is a column of vectors."""
    loaded = {n: _columnar(_loaded(d, f"Array {n!r}")) for n, d in members}
    arrays = {n: a for n, a in loaded.items() if a is not None}
    others = [n for n, a in loaded.items() if a is None]
    if not arrays:
        raise InputError(f"The NumPy archive holds no column of values and no matrix with a row a case. {_FLAT}")
    groups: dict[int, dict[str, Array]] = {}
    for key, array in arrays.items():
        groups.setdefault(len(array), {})[key] = array
    whole = {n: g for n, g in groups.items() if len(g) > 1 or any(a.dtype.names for a in g.values())} or groups
    classes = _class_lists(whole, groups)
    notes = tuple(
        f"Array {key!r} in the NumPy archive was not used: it has {n:,} rows, unlike the others."
        for n, g in groups.items()
        if n not in whole
        for key in g
        if key not in classes
    )
    notes += (f"Arrays of other shapes were not used: {listing(others, 6)}.",) if others else ()
    return [_table(_name(name, g, len(whole)), {**_columns(g), **_beside(classes, g, n)}, n, _NPZ, notes=notes) for n, g in whole.items()]


def _class_lists(whole: dict[int, dict[str, Array]], groups: dict[int, dict[str, Array]]) -> dict[str, Array]:
    """Arrays that name the classes of a matrix's columns, and are no columns of a table."""
    widths = {a.shape[1] for g in whole.values() for a in g.values() if a.ndim == 2}
    found = {k: a for n, g in groups.items() if n not in whole and n in widths for k, a in g.items()}
    return {k: a for k, a in found.items() if k.lower() in CLASS_LISTS and a.ndim == 1 and len(np.unique(a)) == len(a)}


def _beside(classes: dict[str, Array], group: dict[str, Array], rows: int) -> dict[str, Array]:
    """The list of the classes in every row, as a column of names beside vectors of as many numbers."""
    widths = {a.shape[1] for a in group.values() if a.ndim == 2}
    return {k: np.broadcast_to(a, (rows, len(a))) for k, a in classes.items() if len(a) in widths}


def _name(name: str, group: dict[str, Array], tables: int) -> str:
    return name if tables == 1 else f"{name}/{' + '.join(group)}"


def _columns(group: dict[str, Array]) -> dict[str, Array]:
    columns: dict[str, Array] = {}
    for key, array in group.items():
        columns |= _fields(array, f"{key}.") if array.dtype.names else {key: array}
    return columns


def _fields(array: Array, before: str) -> dict[str, Array]:
    """The fields of a structured array; a field of several numbers is a column of vectors."""
    columns: dict[str, Array] = {}
    for field in array.dtype.names or ():
        part = array[field]
        if part.dtype.names:
            columns |= _fields(part, f"{before}{field}.")
        elif part.dtype.kind in _KINDS and part.ndim <= 2:
            columns[before + field] = part[:, 0] if part.ndim == 2 and part.shape[1] == 1 else part
        else:
            raise InputError(f"Field {field!r} of the array holds no numbers, texts or times. {_FLAT}", column=field)
    return columns


def _table(name: str, arrays: dict[str, Array], rows: int, kind: str, **about: Any) -> Table:
    if rows == 0:
        raise InputError("The array has no rows. Save it again with its rows.")
    _few_enough(len(arrays))
    columns = {}
    for key, array in arrays.items():
        arrow = _arrow(array)
        columns[key] = Column(key, kind_of(arrow.type), _always(arrow))
    return Table(name, columns, rows, kind, rows_in_file=rows, **about)


def _few_enough(columns: int) -> None:
    if columns > _MAX_COLUMNS:
        raise InputError(f"The array has {columns:,} columns; at most {_MAX_COLUMNS:,} are read. Is it transposed? {_FLAT}")


def _always(array: object) -> Callable[[], object]:
    return lambda: array


def _loaded(data: bytes, what: str) -> Array:
    """An array whose header was checked against the bytes that follow it; objects are refused."""
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        shape, fortran, dtype = _HEADERS[version](file)
    except Exception:  # noqa: BLE001  # whatever goes wrong in a header of a few words: errors of tokens, syntax, types, sizes
        raise InputError(f"{what} is a damaged NumPy file. Save it again with numpy.save.") from None
    if dtype.hasobject:
        raise InputError(
            f"{what} holds Python objects, a pickle, which can run code when opened, so it is never loaded. "
            "Save numbers or texts: numpy.save(file, array.astype(float)) or array.astype(str)."
        )
    start, count = file.tell(), 1
    for size in shape:
        count *= size
    if count * dtype.itemsize != len(data) - start or min(shape, default=1) < 0:
        raise InputError(f"{what} is a damaged or incomplete NumPy file. Save it again with numpy.save.")
    if dtype.itemsize == 0 or count == 0:
        raise InputError(f"{what} is empty. Save it again with its values.")
    return np.frombuffer(data, dtype, count, start).reshape(shape, order="F" if fortran else "C")


def _header_3_0(file: io.BytesIO) -> Any:
    """Version 3 is version 2 with UTF-8 instead of Latin-1 in the names of fields."""
    start = file.tell()
    length = int.from_bytes(file.read(4), "little")
    text = file.read(length).decode("utf-8")
    ascii_text = text.encode("latin-1", "backslashreplace")
    file.seek(start)
    shape, fortran, dtype = np.lib.format.read_array_header_2_0(io.BytesIO(len(ascii_text).to_bytes(4, "little") + ascii_text))
    file.seek(start + 4 + length)
    return shape, fortran, dtype


_HEADERS: dict[tuple[int, int], Callable[[io.BytesIO], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): _header_3_0,
}


def _columnar(array: Array) -> Array | None:
    """The array as (n,) or (n, K); None for scalars, pictures and numbers that are no measurements."""
    if array.ndim == 0:
        return None
    wide = [size for size in array.shape[1:] if size != 1]
    if len(wide) > 1 or (array.dtype.names and wide):
        return None
    if not array.dtype.names and array.dtype.kind not in _KINDS:
        return None
    return array.reshape(array.shape[0], *wide)


def _arrow(array: Array) -> Any:
    """The Arrow array of a column; a matrix becomes lists of equal length."""
    import pyarrow as pa

    if array.ndim == 2:
        return pa.FixedSizeListArray.from_arrays(_arrow(array.reshape(-1)), array.shape[1])
    if array.dtype.kind == "S":
        return pa.array([v.decode("utf-8", "replace") for v in array.tolist()], type=pa.string())
    if array.dtype.kind == "U":
        points = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))).view(np.uint32)
        if points.size and int(points.max()) > 0x10FFFF:
            raise InputError("The array's texts are damaged. Save it again with numpy.save.")
        return pa.array([v.encode("utf-8", "replace").decode() for v in array.tolist()], type=pa.string())
    if array.dtype.kind == "M":
        return pa.array(array.astype("datetime64[us]").tolist(), type=pa.timestamp("us"))
    native = array.astype(array.dtype.newbyteorder("="))
    if native.dtype.kind == "f" and native.dtype.itemsize not in (4, 8):
        native = native.astype(np.float32 if native.dtype.itemsize == 2 else np.float64)
    return pa.array(np.ascontiguousarray(native))
