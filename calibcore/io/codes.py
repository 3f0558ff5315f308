"""Cells as codes, which distinct cell each row holds: taken from the bytes where cells are short, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import InputError

__all__ = ["Codes", "class_means", "codes", "looked_up", "rises", "short_codes"]

Codes = NDArray[np.signedinteger[Any]]
_MANY_CELLS, _PART = 1000, 1 << 16
_FEW = 8  # different cells that are compared one by one


def codes(array: Any) -> tuple[Any, Codes]:
    """The distinct cells of an Arrow array, in the order they occur, and which one each row holds (−1: a null)."""
    import pyarrow.types as pt

    if pt.is_nested(array.type):
        raise InputError("This column holds lists or records, not names.")
    encoded = (array.cast("string") if pt.is_temporal(array.type) else array).dictionary_encode(null_encoding="mask")
    code = encoded.indices if encoded.indices.null_count == 0 else encoded.indices.fill_null(-1)
    return encoded.dictionary, code.to_numpy(zero_copy_only=False)


def short_codes(parts: Sequence[Any]) -> tuple[Any, Codes] | None:
    """`codes` of many short cells, texts of one letter or whole numbers of a small range; None of others."""
    import pyarrow as pa
    import pyarrow.types as pt

    parts = [p for p in parts if len(p)]
    n = sum(map(len, parts))
    if n < _MANY_CELLS or any(p.null_count for p in parts):
        return None
    kind = parts[0].type
    letters = np.empty(n, dtype=np.uint8)
    low = _steps(parts, letters) if pt.is_integer(kind) else _letters(parts, letters) if pt.is_string(kind) else None
    if low is None:
        return None
    there = _in_order(letters)
    cells = [int(b) + low if pt.is_integer(kind) else chr(int(b) + low) for b in there]
    code = _places(letters, there)
    return pa.array(cells, type=kind), code.view(np.int8) if len(there) <= 128 else code.astype(np.int16)


def _steps(parts: Sequence[Any], out: NDArray[np.uint8]) -> int | None:
    """The lowest of whole numbers; ``out`` gets how far each is above it.  None if one is by more than 255."""
    low, high = None, None
    for part in parts:
        values = part.to_numpy()
        least, most = int(values.min()), int(values.max())
        low, high = least if low is None else min(low, least), most if high is None else max(high, most)
        if high - low > 255:
            return None
    start = 0
    for part in parts:
        values = part.to_numpy()
        np.subtract(values, values.dtype.type(low), out=out[start : start + len(values)], casting="unsafe")
        start += len(values)
    return low


def _letters(parts: Sequence[Any], out: NDArray[np.uint8]) -> int | None:
    """The lowest of texts of one ASCII letter each; ``out`` gets how far each is above it.  None for other texts."""
    start = 0
    for part in parts:
        _, offsets, data = part.buffers()
        ends = np.frombuffer(offsets, dtype=np.int32)[part.offset : part.offset + len(part) + 1]
        if ends[-1] - ends[0] != len(part) or not (ends[1:] - ends[:-1] == 1).all():
            return None
        out[start : start + len(part)] = np.frombuffer(data, dtype=np.uint8)[ends[0] : ends[-1]]
        start += len(part)
    if out.max() >= 128:
        return None
    low = out.min()
    np.subtract(out, low, out=out)
    return int(low)


def _in_order(letters: NDArray[np.uint8]) -> NDArray[np.intp]:
    """The different letters in the order they occur; the first cells hold all of them, as a rule."""
    seen, first = np.unique(letters[:_PART], return_index=True)
    seen = seen[np.argsort(first)]
    if len(seen) <= _FEW and sum(int(np.count_nonzero(letters == b)) for b in seen) == len(letters):
        return seen.astype(np.intp)
    parts = (letters[start : start + _PART] for start in range(0, len(letters), _PART))
    there = np.flatnonzero(sum(np.bincount(part, minlength=256) for part in parts))
    return there[np.argsort([np.argmax(letters == b) for b in there])]


def _places(letters: NDArray[np.uint8], there: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Place of each letter among those that are ``there``."""
    if (there == np.arange(len(there))).all():
        return letters
    table = np.zeros(256 if there.max() >= _FEW else there.max() + 2, dtype=np.int8 if there.max() < _FEW else np.uint8)
    table[there] = np.arange(len(there))
    return looked_up(table, letters.view(table.dtype)).view(np.uint8)


def looked_up(table: NDArray[Any], code: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """``table[code]``, part by part: NumPy widens an index of bytes as a whole.  Of few codes, −1 means the last place."""
    found = np.empty(len(code), dtype=table.dtype)
    few = len(table) <= _FEW + 1 and table.dtype == code.dtype == np.int8
    for start in range(0, len(code), _PART):
        part = code[start : start + _PART]
        found[start : start + _PART] = _of_few(table, part) if few else table[part]
    return found


def _of_few(table: NDArray[Any], code: NDArray[Any]) -> NDArray[Any]:
    """``table[code]`` by comparing, which is quicker than looking up."""
    found: NDArray[Any] = (code < 0).view(np.int8) * table[-1]
    for place, value in enumerate(table[:-1]):
        found += (code == place).view(np.int8) * value
    return found


def class_means(code: Codes, values: NDArray[np.floating[Any]], k: int) -> NDArray[np.float64]:
    """Mean of the values that belong to each of k codes, none of which is below 0; NaN for one without rows."""
    sums, rows = np.zeros(k), np.zeros(k)
    for start in range(0, len(code), _PART):
        part = code[start : start + _PART]
        sums += np.bincount(part, weights=values[start : start + _PART], minlength=k)
        rows += [np.count_nonzero(part == i) for i in range(k)] if k <= _FEW else np.bincount(part, minlength=k)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / rows)


def rises(array: Any) -> bool:
    """Whether each cell is above the one before: whole numbers, or texts by length and then by their letters (a9 before a10)."""
    import pyarrow.compute as pc
    import pyarrow.types as pt

    text = pt.is_string(array.type) or pt.is_large_string(array.type)
    if array.null_count or not (text or pt.is_integer(array.type)):
        return False
    before, after = array.slice(0, len(array) - 1), array.slice(1)
    if text:
        long, longer = pc.binary_length(before), pc.binary_length(after)
        if not pc.all(pc.less_equal(long, longer), min_count=0).as_py():
            return False
        above = pc.or_(pc.less(long, longer), pc.less(before, after))
    else:
        above = pc.less(before, after)
    return bool(pc.all(above, min_count=0).as_py())
