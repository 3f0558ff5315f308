"""Several numbers in one cell (lists, maps, records, texts such as "[0.1, 0.9]") as a matrix with one column a class."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import name_text
from calibcore.errors import InputError
from calibcore.io.columns import MISSING_NUMBERS, Column, kind_of
from calibcore.io.vocabulary import plain, shortened
from calibcore.io.written_pairs import paired, without_types

__all__ = ["Vectors", "list_column", "name_lists", "struct_fields", "vectors_of"]

Numbers = NDArray[np.floating[Any]]
Counts = NDArray[np.int64]
_LOOKED_AT = 50  # cells that tell whether a column of text holds vectors
_MAX_NAMES = 1000  # class names in maps, unless one cell has more
_BEGIN = r"^(?:[A-Za-z_.]+\()?[\[({]*\s*"
_END = r"\s*[\])}]*(?:\s*,\s*[A-Za-z_]+\s*=\s*[^\[\]]*)?\)?$"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?%?|[+-]?(nan|inf)", re.IGNORECASE)
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+")
_SPARK = {"type", "size", "indices", "values"}
_VALUE_NAMES = ("prob", "proba", "probability", "score", "logprob", "logit", "confidence", "value")
_NAME_NAMES = ("label", "class", "name", "key", "category", "value")


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """A column of vectors.

    Attributes
    ----------
    matrix : array of shape (n, K)
        NaN where a cell or one of its numbers is missing; float32 stays float32.
    names : tuple of K str, or None
        The keys of maps and records; None for lists, whose positions say nothing about classes.
    """

    matrix: Numbers
    names: tuple[str, ...] | None = None


def vectors_of(column: Column) -> Vectors | None:
    """A column's cells as vectors; None if they are something else.

    Raises
    ------
    InputError
        If most cells are vectors and one is not, with its row: of another length, cut when it was saved, with a word in it.
    """
    if "vectors" not in column.memo:
        found = None
        if column.kind == "nested":
            found = _of_nested(column.array, column.name)
        elif column.kind == "text" and not column.is_numeric:
            found = _of_text(column.array, column.name)
        column.memo["vectors"] = found
    return column.memo["vectors"]  # type: ignore[no-any-return]


def _fault(name: str, row: int, what: str) -> NoReturn:
    raise InputError(f"Row {row:,} of column {name!r} {what}", row=row, column=name)


def _of_nested(array: Any, name: str) -> Vectors | None:
    import pyarrow.types as pt

    array = list_column(array)
    if pt.is_struct(array.type):
        return _of_struct(array, name)
    if not pt.is_list(array.type):
        return None
    lengths, flat = _lengths(array), array.flatten()
    if pt.is_struct(flat.type):
        pair = _key_and_value(flat)
        return None if pair is None else _keyed(lengths, *pair, name)
    return _of_list(lengths, flat, name) if kind_of(flat.type) == "number" else None


def list_column(array: Any) -> Any:
    """Lists of every kind, and maps, as plain lists; anything else as it is."""
    import pyarrow as pa
    import pyarrow.types as pt

    kind = array.type
    if pt.is_map(kind):
        return array.cast(pa.list_(pa.struct([pa.field("key", kind.key_type), pa.field("value", kind.item_type)])))
    if pt.is_large_list(kind) or pt.is_fixed_size_list(kind):
        return array.cast(pa.list_(kind.value_type))
    return array


def _lengths(array: Any) -> Counts:
    """Items in each cell; −1 where the cell is missing."""
    import pyarrow.compute as pc

    lengths: Counts = pc.list_value_length(array).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return lengths


def _values(array: Any) -> Numbers:
    return Column("", kind_of(array.type), lambda: array).numeric().values


def _of_list(lengths: Counts, flat: Any, name: str) -> Vectors | None:
    usual = _usual(lengths)
    if usual < 2:
        return None
    _same_length(lengths, usual, name)
    return Vectors(_in_rows(_values(flat), lengths >= 0, usual))


def _usual(lengths: Counts) -> int:
    """The commonest length, if at least half of the cells have it; else 0."""
    present = lengths[lengths >= 0]
    counts = np.bincount(present) if len(present) else np.zeros(1, dtype=np.int64)
    usual = len(counts) - 1 - int(np.argmax(counts[::-1]))
    return usual if counts[usual] * 2 >= len(present) > 0 else 0


def _same_length(lengths: Counts, usual: int, name: str) -> None:
    odd = (lengths >= 0) & (lengths != usual)
    if odd.any():
        row = int(np.argmax(odd))
        has = "1 number" if lengths[row] == 1 else f"{lengths[row]:,} numbers"
        _fault(name, row + 1, f"holds {has}, but the other rows hold {usual:,}. Give each row one number for each class.")


def _in_rows(flat: Numbers, present: NDArray[np.bool_], k: int) -> Numbers:
    if present.all():
        return flat.reshape(-1, k)
    matrix = np.full((len(present), k), np.nan, dtype=flat.dtype)
    matrix[present] = flat.reshape(-1, k)
    return matrix


def struct_fields(array: Any) -> dict[str, Any]:
    """The fields of a column of records, missing where the record is."""
    import pyarrow.compute as pc

    return {array.type.field(i).name: pc.struct_field(array, [i]) for i in range(array.type.num_fields)}


def _of_struct(array: Any, name: str) -> Vectors | None:
    """Spark's vectors; lists of classes and scores side by side; or one number for each class."""
    import pyarrow.types as pt

    fields = struct_fields(array)
    if "values" in fields and set(fields) <= _SPARK and "type" in fields:
        return _of_spark({k: list_column(v) for k, v in fields.items()}, name)
    lists = {k: list_column(v) for k, v in fields.items()}
    texts = [k for k, v in lists.items() if pt.is_list(v.type) and kind_of(v.type.value_type) == "text"]
    numbers = [k for k, v in lists.items() if pt.is_list(v.type) and kind_of(v.type.value_type) == "number"]
    if len(texts) == 1 and len(numbers) == 1:
        return _side_by_side(lists[texts[0]], lists[numbers[0]], name)
    if len(fields) < 2 or any(kind_of(v.type) != "number" for v in fields.values()):
        return None
    return Vectors(np.column_stack([_values(v) for v in fields.values()]), tuple(fields))


def _side_by_side(names: Any, numbers: Any, column: str) -> Vectors | None:
    lengths, other = _lengths(numbers), _lengths(names)
    if (lengths != other).any():
        row = int(np.argmax(lengths != other))
        _fault(column, row + 1, f"has {max(other[row], 0):,} classes and {max(lengths[row], 0):,} numbers. Give each class one number.")
    return _keyed(lengths, names.flatten(), numbers.flatten(), column)


def _of_spark(fields: dict[str, Any], name: str) -> Vectors | None:
    """Dense vectors are lists; sparse ones (type 0) name the positions of their numbers, and all others are 0."""
    lengths, flat = _lengths(fields["values"]), fields["values"].flatten()
    sparse = _values(fields["type"]) == 0
    if not sparse.any() or "size" not in fields or "indices" not in fields:
        return _of_list(lengths, flat, name)
    sizes = np.where(sparse, np.nan_to_num(_values(fields["size"]), nan=-1), lengths).astype(np.int64)
    usual = _usual(sizes)
    if usual < 2:
        return None
    _same_length(sizes, usual, name)
    row, place = _places(lengths)
    indices = _values(fields["indices"].flatten()).astype(np.int64)
    inside = sparse[row]
    if len(indices) != inside.sum() or (indices < 0).any() or (indices >= usual).any():
        raise InputError(
            f"Column {name!r} holds sparse vectors with positions that do not fit their numbers. Save them again.", column=name
        )
    place[inside] = indices
    matrix = np.where(sizes >= 0, 0.0, np.nan)[:, None].repeat(usual, axis=1)
    matrix[row, place] = _values(flat)
    return Vectors(matrix)


def _places(lengths: Counts) -> tuple[Counts, Counts]:
    """Row and position within its cell of every item."""
    sizes = np.maximum(lengths, 0)
    row = np.repeat(np.arange(len(lengths)), sizes)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _key_and_value(flat: Any) -> tuple[Any, Any] | None:
    """The field that names a class and the field that holds its number, in a list of records."""
    fields = struct_fields(flat)
    values = [k for k, v in fields.items() if kind_of(v.type) == "number"]
    named = [k for k in values if plain(k) in _VALUE_NAMES]
    names = [k for k, v in fields.items() if kind_of(v.type) == "text"] or [k for k in values if k not in named]
    names = [k for k in names if plain(k) in _NAME_NAMES] or names
    value = named if len(named) == 1 else [k for k in values if k not in names]
    return (fields[names[0]], fields[value[0]]) if len(names) == len(value) == 1 else None


def _keyed(lengths: Counts, keys: Any, values: Any, name: str) -> Vectors | None:
    """Pairs of class and number in each cell, in any order, as one column a class."""
    if kind_of(keys.type) not in ("text", "number", "flag") or kind_of(values.type) != "number":
        return None
    names = Column(name, kind_of(keys.type), lambda: keys).names()
    row, _ = _places(lengths)
    k = len(names.distinct)
    if k < 2 or k > max(_MAX_NAMES, 2 * int(lengths.max())):
        return None
    if (names.code < 0).any():
        _fault(name, int(row[int(np.argmax(names.code < 0))]) + 1, "holds a number without the name of its class. Name each class.")
    cell = row * k + names.code
    order = np.argsort(cell, kind="stable")
    twice = cell[order][1:] == cell[order][:-1]
    if twice.any():
        at = int(order[int(np.argmax(twice)) + 1])
        _fault(name, int(row[at]) + 1, f"names the class {names.distinct[names.code[at]]!r} twice. Give each class one number.")
    numbers = _values(values)
    matrix = np.full((len(lengths), k), np.nan, dtype=numbers.dtype)
    matrix.ravel()[cell] = numbers
    return Vectors(matrix, names.distinct)


def _of_text(array: Any, name: str) -> Vectors | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    start = [str(c).strip() for c in array.slice(0, 20 * _LOOKED_AT).to_pylist() if c is not None]
    first = [c for c in start if c.casefold() not in MISSING_NUMBERS][:_LOOKED_AT]
    if any(without_types(c) != c for c in first):
        array = pa.array([None if c is None else without_types(c) for c in array.to_pylist()], type=array.type)
        first = [without_types(c) for c in first]
    records = sum(_is_record(c) for c in first) * 2 > len(first)
    if not records and sum(_is_vector(c) for c in first) * 2 < max(1, len(first)):
        return None
    text = pc.utf8_trim_whitespace(array)
    absent = pc.is_in(pc.utf8_lower(text), value_set=pa.array(sorted(MISSING_NUMBERS), type=text.type))
    text = pc.if_else(absent, pa.scalar(None, text.type), text)
    if records:
        return _of_records(text.to_pylist(), name)
    cut = pc.match_substring_regex(text, r"\.\.\.|…").fill_null(False).to_numpy(zero_copy_only=False)
    if cut.any():
        row = int(np.argmax(cut)) + 1
        where = f"Row {row} of column {name!r}: the vector was cut with '...' when saved"
        raise InputError(f"{where}, so its numbers are lost. Save all numbers, one column per class.", row=row, column=name)
    return _of_list_texts(_items(text, first), name)


def _is_record(cell: str) -> bool:
    return re.match(r"\{\s*['\"]|\[\s*\{", cell) is not None or paired(cell) is not None


def _is_vector(cell: str) -> bool:
    """Whether a text is two or more numbers, in brackets or not; one that was cut with dots counts."""
    inner = re.sub(_END, "", re.sub(_BEGIN, "", cell))
    items = re.split(r"[\s,;|]+", inner)
    return len(items) > 1 and all(_NUMBER.fullmatch(i) or (i in ("...", "…") and len(items) > 2) for i in items)


def _items(text: Any, first: list[str]) -> Any:
    """The texts between the separators: semicolons, bars, commas or blanks; a decimal comma becomes a point."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inner = pc.replace_substring_regex(pc.replace_substring_regex(text, _BEGIN, ""), _END, "")
    sample = [re.sub(_END, "", re.sub(_BEGIN, "", c)).split() for c in first]
    between = next((s for s in ";|" if any(s in c for c in first)), "")
    comma = not between and all(len(c) > 1 and all(_WITH_COMMA.fullmatch(i) for i in c) for c in sample)
    if between or comma:
        inner = pc.replace_substring(inner, ",", ".")
    pattern = rf"\s*[{between}]\s*" if between else r"\s+" if comma else r"\s*,\s*|\s+"
    items = pc.split_pattern(pc.replace_substring_regex(inner, pattern, " "), " ")
    return pc.if_else(pc.equal(inner, ""), pa.scalar([], items.type), items)


def _of_list_texts(items: Any, name: str) -> Vectors | None:
    lengths, flat = _lengths(items), items.flatten()
    found = Column(name, "text", lambda: flat).numeric()
    if found.bad_row is not None:
        row = int(_places(lengths)[0][found.bad_row - 1]) + 1
        _fault(name, row, f"holds {shortened(found.bad_text)!r} among its numbers. Mend it, or save one column per class.")
    usual = _usual(lengths)
    if usual < 2:
        return None
    _same_length(lengths, usual, name)
    return Vectors(_in_rows(found.values, lengths >= 0, usual))


def _of_records(cells: list[str | None], name: str) -> Vectors | None:
    """Texts of records, as JSON or as Python writes dictionaries; they are parsed, never evaluated."""
    import pyarrow as pa

    values = [None if c is None else _record(c, row, name) for row, c in enumerate(cells, 1)]
    try:
        array = pa.array(values)
    except (pa.ArrowException, OverflowError, UnicodeError):
        return None
    return _of_nested(array, name) if kind_of(array.type) == "nested" else None


def _record(cell: str, row: int, name: str) -> Any:
    def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            _fault(name, row, "names a class twice. Give each class one number.")
        return record

    for text in (cell, cell.replace("'", '"')):
        try:
            return json.loads(text, object_pairs_hook=once)
        except InputError:
            raise
        except (ValueError, RecursionError):
            continue
    if pairs := paired(cell):
        return once(pairs)
    what = "damaged JSON" if cell[:1] in ("{", "[") else f"{shortened(cell)!r}, no number for each class"
    _fault(name, row, f"holds {what}. Save one column per class.")


def name_lists(column: Column) -> tuple[Counts, NDArray[np.intp], tuple[str, ...]] | None:
    """Lists of names in each cell: how many, which one each item is, and the distinct names; None for anything else."""
    import pyarrow.types as pt

    array = column.array
    if column.kind == "text":
        array = _listed(array)
    elif column.kind == "nested":
        array = list_column(array)
    else:
        return None
    if array is None or not pt.is_list(array.type) or kind_of(array.type.value_type) not in ("text", "number"):
        return None
    flat = array.flatten()
    names = Column(column.name, kind_of(flat.type), lambda: flat).names()
    return _lengths(array), names.code, tuple(name_text(d) for d in names.distinct)


def _listed(array: Any) -> Any:
    """Texts such as "['no', 'yes']" as lists; None if there are other texts, or many different ones."""
    import pyarrow as pa

    if not all(str(c).lstrip().startswith("[") for c in array.slice(0, _LOOKED_AT).to_pylist() if c):
        return None
    encoded = array.dictionary_encode()
    if len(encoded.dictionary) > _MAX_NAMES:
        return None
    try:
        lists = pa.array([json.loads(str(c).replace("'", '"')) for c in encoded.dictionary.to_pylist()])
    except (ValueError, RecursionError, OverflowError, pa.ArrowException):
        return None
    return lists.take(encoded.indices) if len(lists) else None
