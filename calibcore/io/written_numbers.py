"""Numbers as people and tools write them in text: marks of thousands and decimals, percent signs, words for missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MINUS", "MISSING_LABELS", "MISSING_NUMBERS", "Numeric", "filled", "text_numbers"]

Numbers = NDArray[np.floating[Any]]
MISSING_LABELS = frozenset({"", "na", "n/a", "<na>", "nan", "null", "?"})
MISSING_NUMBERS = MISSING_LABELS | {"none", "nat", "nil", "."}
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(nan|NaN|inf|Inf|infinity|Infinity)$"
_COMMA = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$|^[+-]?\d+([eE][+-]?\d+)?$|^[+-]?(nan|NaN|inf|Inf|infinity|Infinity)$"
_THOUSAND_OR_DECIMAL = r"^[+-]?[1-9]\d{0,2},\d{3}$|^[^,]*$"  # 1,234
MINUS = "\u2212"
_GROUPS = (  # every cell, one cell that proves it, the mark of thousands, the mark of decimals
    (r"^[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$", r",\d{3}[.,]", ",", "."),
    (r"^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$", r"\.\d{3}[.,]", r"\.", ","),
    (r"^[+-]?(\d{1,3}([ \x{a0}\x{202f}\x{2009}'\x{2019}]\d{3})+|\d+)(\.\d+)?$", r"\d[^\d.]\d", r"[ \x{a0}\x{202f}\x{2009}'\x{2019}]", "."),
    (r"^[+-]?(\d{1,3}([ \x{a0}\x{202f}\x{2009}'\x{2019}]\d{3})+|\d+)(,\d+)?$", r"\d[^\d,]\d", r"[ \x{a0}\x{202f}\x{2009}'\x{2019}]", ","),
)


@dataclass(frozen=True, slots=True)
class Numeric:
    """A column as numbers.

    Attributes
    ----------
    values : array of shape (n,)
        NaN where a cell is missing or no number; float32 stays float32.
    bad_row : int or None
        1-based row of the first cell that is no number, its text, and how many there are.
    percent : bool
        Every cell carried a % sign (removed here, not divided).
    comma : bool
        Decimals were written with a comma.
    """

    values: Numbers
    bad_row: int | None = None
    bad_text: str = ""
    n_bad: int = 0
    percent: bool = False
    comma: bool = False


def text_numbers(array: Any) -> Numeric:
    """An Arrow array of texts as numbers; how they are written is settled by all cells together."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return Numeric(filled(array.cast(pa.float64())))
    except pa.ArrowInvalid:
        text = pc.utf8_trim_whitespace(array)
    absent = pc.is_in(pc.utf8_lower(text), value_set=pa.array(sorted(MISSING_NUMBERS), type=text.type))
    text = pc.if_else(absent, pa.scalar(None, text.type), text)
    percent = _every(pc.ends_with(text, "%"))
    if percent:
        text = pc.utf8_rtrim_whitespace(pc.utf8_rtrim(text, characters="%"))
    text = pc.replace_substring(text, MINUS, "-")
    text, grouped = _without_groups(text)
    comma = grouped == "," or (
        grouped == ""
        and _any(pc.match_substring(text, ","))
        and _every(pc.match_substring_regex(text, _COMMA))
        and (percent or not _every(pc.match_substring_regex(text, _THOUSAND_OR_DECIMAL)))
    )
    if comma:
        text = pc.replace_substring(text, ",", ".")
    good = pc.match_substring_regex(text, _NUMBER)
    bad = pc.invert(good).fill_null(False).to_numpy(zero_copy_only=False)
    values = filled(pc.if_else(good, text, pa.scalar(None, text.type)).cast(pa.float64()))
    if not bad.any():
        return Numeric(values, percent=percent, comma=comma)
    first = int(np.argmax(bad))
    return Numeric(values, first + 1, str(array[first].as_py()), int(bad.sum()))


def _without_groups(text: Any) -> tuple[Any, str]:
    """Numbers without marks of thousands and the mark of their decimals, where every cell agrees; "" where there are none."""
    import pyarrow.compute as pc

    if not _any(pc.match_substring_regex(text, r"\d[^\d.eE+-]\d{3}|\.\d{3}[.,]")):
        return text, ""
    for every, proof, thousands, decimals in _GROUPS:
        if _every(pc.match_substring_regex(text, every)) and _any(pc.match_substring_regex(text, proof)):
            return pc.replace_substring_regex(text, thousands, ""), decimals
    return text, ""


def filled(array: Any) -> NDArray[np.float64]:
    """An Arrow array of numbers with NaN for nulls."""
    values: NDArray[np.float64] = array.to_numpy(zero_copy_only=False)  # nulls become NaN
    return values if values.dtype == np.float64 else values.astype(np.float64)


def _every(flags: Any) -> bool:
    """Whether all flags that are not null are set, and there is one."""
    import pyarrow.compute as pc

    return bool(pc.all(flags, min_count=1).as_py())


def _any(flags: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(flags).as_py())
