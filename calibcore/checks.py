"""Arrays in, clean arrays out: every rule about probabilities, labels and weights, each with its sentence."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import InputError

__all__ = [
    "LIGHTEST",
    "as_column",
    "checked_flags",
    "checked_labels",
    "checked_probabilities",
    "checked_row_sums",
    "checked_weights",
    "name_key",
    "name_text",
    "needs",
    "needs_all",
    "percent_text",
    "rows_text",
    "same_length",
    "sorted_names",
    "too_light",
    "view_name",
]

Numbers = NDArray[Any]
_TOLERANCE = {2: 1e-3, 4: 1e-6, 8: 1e-9}
_FEW_NUMBERS = 1 << 16  # labels that are counted, not sorted
LIGHTEST = 1e-12  # part of the largest weight; squares must add up, too
_MISSING_HELP = {  # of arrays, and of files
    False: "Leave these rows out, or mend them",
    True: "Leave such rows out with missing='drop' (--missing drop), or mend them",
}
_SCALE_HELP = {
    False: "Divide percent by 100; turn logits and log-probabilities into probabilities first (sigmoid or softmax; exp).",
    True: "If these are percent, logits or log-probabilities, say so with scale (--scale).",
}
_SUM_HELP = {
    False: "If the rows are unnormalised, divide each by its sum.",
    True: "If the rows are not normalised, say so with scale='unnormalised' (--scale unnormalised), and each is divided by its sum.",
}
_KINDS = {  # what public functions take, and where it comes from
    "Predictions": ("Predictions", "read('file.csv')[0] or Predictions.from_arrays(y_true, y_prob)"),
    "Profile": ("a Profile", "model.profile('positive')"),
    "Partition": ("a Partition", "Partition.equal_width(15)"),
    "Settings": ("Settings", "Settings(n_bins=10)"),
}


def needs(value: Any, kinds: type | tuple[type, ...], function: str) -> None:
    """InputError unless ``value`` is of one of the kinds that a function takes, saying how to get one."""
    if not isinstance(value, kinds):
        names = [k.__name__ for k in (kinds if isinstance(kinds, tuple) else (kinds,))]
        wanted = ", or ".join("{}, such as {}".format(*_KINDS[n]) for n in names if n in _KINDS)
        raise InputError(f"{function} takes {wanted}; got {_kind_of(value)}.", value=value)


def needs_all(values: Any, kind: type, function: str) -> None:
    """InputError unless ``values`` is a list or another sequence of Predictions."""
    listed = isinstance(values, Sequence) and not isinstance(values, (str, bytes))
    wrong = [v for v in values if not isinstance(v, kind)] if listed else [values]
    if wrong:
        got = f"a list with {_kind_of(wrong[0])} in it" if listed else _kind_of(wrong[0])
        raise InputError(f"{function} takes a list of {kind.__name__}, such as read('file.csv'); got {got}.", value=wrong[0])


def _kind_of(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def view_name(view: Any) -> str:
    """A view as it is spelled here: the command line's ``top-label`` is ``top_label``."""
    if not isinstance(view, str):
        raise InputError(f"A view is 'top_label', 'positive' or 'class:<name>'; got {view!r}.", value=view)
    return "top_label" if view == "top-label" else view


def name_text(name: Any) -> str:
    """A class name as text: 1, 1.0 and np.int64(1) are "1"."""
    if isinstance(name, (float, np.floating)) and float(name).is_integer():
        return str(int(name))
    return str(name)


def name_key(name: Any) -> Hashable:
    """What two names share when they mean the same class: the same text, or the same number."""
    text = name_text(name).strip()
    if "_" in text:  # Python would read 1_0 as ten
        return text
    for number_type in (int, float):
        try:
            number = number_type(text)
            break
        except ValueError:
            continue
    else:
        return text
    return number if isinstance(number, int) or np.isfinite(number) else text


def sorted_names(names: Sequence[Any]) -> list[str]:
    """Names in class order: numbers by size, then text by the alphabet."""

    def order(name: str) -> tuple[int, float, str]:
        key = name_key(name)
        return (0, key, name) if isinstance(key, (int, float)) else (1, 0.0, name)

    return sorted({name_text(n) for n in names}, key=order)


def listing(items: Sequence[Any], limit: int = 3) -> str:
    """A few items in words: "1, 4 and 7", "1, 4, 7 and 20 more"."""
    shown = [str(i) for i in items[:limit]]
    if len(items) > limit:
        return ", ".join(shown) + f" and {len(items) - limit:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def rows_text(n: int) -> str:
    """A number of rows in words: "1 row", "4,000 rows"."""
    return f"{n:,} row" if n == 1 else f"{n:,} rows"


def percent_text(share: float) -> str:
    """A level as percent with one decimal, more where it would read 0 or 100 but is neither."""
    texts = [f"{100 * share:.{digits}f}%" for digits in (1, 2, 3, 4)]
    return next((t for t in texts if share in (0.0, 1.0) or float(t[:-1]) not in (0.0, 100.0)), texts[-1])


def same_length(values: Any, n: int, what: str) -> None:
    """InputError unless ``values`` has one entry for each of ``n`` rows."""
    if len(values) != n:
        raise InputError(f"There are {len(values):,} {what} for {n:,} rows of probabilities.")


def _rows(mask: NDArray[np.bool_]) -> str:
    at = np.flatnonzero(mask) + 1
    return ("row " if len(at) == 1 else "rows ") + listing(at.tolist())


def checked_probabilities(y_prob: Any, what: str = "probabilities", *, in_file: bool = False) -> tuple[Numbers, int]:
    """Probabilities as a float array of shape (n,) or (n, K) with values in [0, 1], and how many were clipped.

    Values within 1e-9 (float32: 1e-6) of [0, 1] are clipped and counted; anything else is an InputError, with advice for
    arrays or, where they come from a file, with the option of the reader that helps.
    """
    array = _as_floats(y_prob, what)
    if array.ndim not in (1, 2) or array.size == 0:
        shape = "no rows" if array.size == 0 else f"{array.ndim} dimensions"
        raise InputError(f"{what.capitalize()} need one number a row, or one a class; these have {shape}.")
    if array.min() >= 0 and array.max() <= 1:  # false where a value is missing
        return array, 0
    missing = _by_row(np.isnan(array))
    if missing.any():
        raise InputError(
            f"{int(missing.sum()):,} of {len(missing):,} {what} missing ({_rows(missing)}). {_MISSING_HELP[in_file]}.",
            rule="no missing values",
            row=int(np.argmax(missing)) + 1,
        )
    slack = _TOLERANCE[array.dtype.itemsize]
    outside = (array < -slack) | (array > 1 + slack)
    if outside.any():
        bad = _by_row(outside)
        first = [f"{v:g}" for v in array[outside][:3].tolist()]
        raise InputError(
            f"{_rows(bad).capitalize()}: {what} outside [0, 1] ({', '.join(first)}). {_SCALE_HELP[in_file]}",
            rule="probabilities lie in [0, 1]",
            value=float(array[outside][0]),
            row=int(np.argmax(bad)) + 1,
        )
    hair = (array < 0) | (array > 1)
    clipped = int(np.count_nonzero(hair))
    return (np.clip(array, 0, 1) if clipped else array), clipped


def _by_row(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows are marked anywhere."""
    return mask if mask.ndim == 1 else np.asarray(mask.any(axis=1))


def _as_array(values: Any, what: str) -> Numbers:
    """Anything that converts to an array, with masked values as missing, in this machine's byte order."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values, np.nan) if values.dtype.kind == "f" else np.ma.filled(values.astype(object), None)
    try:
        array = np.asarray(values)
    except ValueError:  # rows of unequal length
        raise InputError(f"{what.capitalize()} have rows of unequal length.") from None
    if array.ndim == 0:
        raise InputError(f"{what.capitalize()} must be a list or an array, not {type(values).__name__}.")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def as_column(values: Any, what: str) -> Numbers:
    """``values`` as an array of shape (n,), or an InputError."""
    array = _as_array(values, what)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{what.capitalize()} need one value a row, shape (n,); these have shape {array.shape}.")
    return array


def _as_floats(values: Any, what: str) -> Numbers:
    array = _as_array(values, what)
    if array.dtype.kind == "f" and array.dtype.itemsize in _TOLERANCE:
        return array
    if array.dtype.kind in "cmM":
        raise InputError(f"{what.capitalize()} must be real numbers, not {array.dtype.name}.")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what.capitalize()} must be numbers; got {_first_text(array)!r}.") from None


def _first_text(array: Numbers) -> Any:
    for item in array.ravel().tolist():
        try:
            float(item)
        except (TypeError, ValueError):
            return item
    return array.ravel()[0]


def checked_row_sums(probabilities: Numbers, *, in_file: bool = False) -> tuple[int, float]:
    """How many rows do not add up to 1 within rounding, and the largest difference; InputError if one is too large."""
    sums = probabilities.sum(axis=1, dtype=np.float64)
    off = np.abs(sums - 1.0)
    limit = max(0.02, 0.006 * probabilities.shape[1])
    if off.max() > limit + 1e-12:
        row = int(np.argmax(off > limit + 1e-12))
        raise InputError(
            f"Row {row + 1} sums to {sums[row]:.6g}, not 1. {_SUM_HELP[in_file]}",
            rule="probabilities of a row add up to 1",
            value=float(sums[row]),
            row=row + 1,
        )
    noise = 1e-6 if probabilities.dtype.itemsize == 8 else 1e-5 if probabilities.dtype.itemsize == 4 else 5e-3
    return int(np.count_nonzero(off > noise)), float(off.max())


def checked_weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    """Weights, shape (n,): finite and not negative, with a positive sum."""
    weight = _as_floats(sample_weight, "weights").astype(np.float64)
    if weight.shape != (n,):
        raise InputError(f"There are {weight.size:,} weights for {n:,} rows.")
    extreme = (weight > 1e100) | ((weight > 0) & (weight < 1e-100))  # their squares must stay numbers
    texts = ("missing or infinite", "negative", "beyond 1e-100 to 1e100; multiply all by a constant")
    for bad, text in zip((~np.isfinite(weight), weight < 0, extreme), texts, strict=True):
        if bad.any():
            row = int(np.argmax(bad)) + 1
            raise InputError(f"The weight in row {row} is {text}.", value=float(weight[row - 1]), row=row)
    if not weight.any():
        raise InputError("All weights are 0; their sum must be positive.")
    light = (weight > 0) & (weight < weight.max() * LIGHTEST)
    if light.any():
        row = int(np.argmax(light)) + 1
        raise too_light(float(weight[row - 1]), row)
    return weight


def too_light(weight: float, row: int | None) -> InputError:
    """For a weight that is not 0 and less than `LIGHTEST` of the largest; ``row`` is None where nobody knows it."""
    which = f"The weight {weight:g}" if row is None else f"The weight in row {row}"
    return InputError(
        f"{which} is less than {LIGHTEST:g} of the largest, so it would be lost in rounding. "
        "Give such rows weight 0, which leaves them out, or mend the weights.",
        value=weight,
        row=row,
    )


def checked_flags(values: Any, what: str) -> NDArray[np.bool_]:
    """0/1, booleans or −1/1 as booleans, shape (n,)."""
    array = as_column(values, what)
    if array.dtype == np.bool_:
        return array
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what.capitalize()} must be 0/1 or true/false; got {_first_text(array)!r}.", value=_first_text(array)) from None
    missing = np.isnan(numbers)
    if missing.any():
        raise InputError(
            f"{int(missing.sum()):,} of {len(numbers):,} {what} missing ({_rows(missing)}). {_MISSING_HELP[False]}.",
            row=int(np.argmax(missing)) + 1,
        )
    low = -1.0 if (numbers == -1.0).any() else 0.0
    bad = (numbers != low) & (numbers != 1.0)
    if bad.any():
        row = int(np.argmax(bad)) + 1
        raise InputError(
            f"{what.capitalize()} must be 0/1, true/false or -1/1; row {row} is {array[row - 1]!s}.", value=array[row - 1], row=row
        )
    flags: NDArray[np.bool_] = numbers == 1.0
    return flags


def checked_labels(y_true: Any, classes: Sequence[str], what: str = "label") -> NDArray[np.intp]:
    """The index in ``classes`` of each label, shape (n,); names match as text or as equal numbers."""
    array = as_column(y_true, f"{what}s")
    known: dict[Hashable, int] = {}
    for index, name in enumerate(classes):
        if known.setdefault(name_key(name), index) != index:
            raise InputError(f"Two classes are called {name!r}.", value=name)
    distinct, inverse = _unique(array)
    codes = np.array([_code(d, known) for d in distinct], dtype=np.intp)
    found: NDArray[np.intp] = codes[inverse]
    if (found < 0).any():
        row = int(np.argmax(found < 0))
        bad = array[row]
        if _is_missing(bad):
            missing = found == -2
            help_ = _MISSING_HELP[False]
            raise InputError(f"{int(missing.sum()):,} of {len(array):,} {what}s missing ({_rows(missing)}). {help_}.", row=row + 1)
        known_names = listing(list(classes), 10)
        raise InputError(
            f"{what.capitalize()} {name_text(bad)!r} (row {row + 1}) has no probability column; the classes are {known_names}.",
            value=bad,
            row=row + 1,
            available=tuple(classes),
        )
    return found


def _code(name: Any, known: dict[Hashable, int]) -> int:
    return -2 if _is_missing(name) else known.get(name_key(name), -1)


def _is_missing(value: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in {"NAType", "NaTType"}  # pandas' own, without importing pandas


def _unique(array: Numbers) -> tuple[list[Any], NDArray[np.intp]]:
    """Distinct values and, for each row, which one it holds; object arrays may mix types."""
    if array.dtype.kind in "iu" and len(array) and (span := _span(array)) <= _FEW_NUMBERS:
        low = array.min()
        wide = array if array.dtype.itemsize == 8 else array.astype(np.int64)
        place = (wide - wide.dtype.type(low) if low else wide).astype(np.intp, copy=False)
        present = np.bincount(place, minlength=span) > 0
        inverse = place if present.all() else (np.cumsum(present) - 1)[place]
        return [int(low) + i for i in np.flatnonzero(present).tolist()], inverse
    if array.dtype != object:
        distinct, inverse = np.unique(array, return_inverse=True)
        return distinct.tolist(), inverse
    order: dict[Any, int] = {}
    nan = object()
    values = [nan if _is_missing(v) else v for v in array.tolist()]
    try:
        inverse = np.fromiter((order.setdefault(v, len(order)) for v in values), dtype=np.intp, count=len(values))
    except TypeError:
        raise InputError("Labels must be names or numbers, one a row, not lists or records.") from None
    return [None if k is nan else k for k in order], inverse


def _span(array: Numbers) -> int:
    """How many whole numbers there are from the smallest of an array to its largest."""
    return int(array.max()) - int(array.min()) + 1


def distinct_labels(y_true: Any) -> list[Any]:
    """The different labels that occur, without missing ones."""
    return [d for d in _unique(as_column(y_true, "labels"))[0] if not _is_missing(d)]
