"""How much a page takes, what is said where that is passed, and how many bins suit a number of rows."""

from __future__ import annotations

from collections.abc import Sequence

from calibcore.plot.overlay import MOST_MULTIPLES as MOST_MODELS

__all__ = [
    "COMFORTABLE",
    "FORMATS",
    "MOST_CLASSES",
    "MOST_FILES",
    "MOST_MODELS",
    "large_sentence",
    "limits_line",
    "many_classes_sentence",
    "many_models_sentence",
    "suggested_bins",
    "too_large_sentence",
]

MOST_FILES = 8  # of a folder that are loaded at once
MOST_CLASSES = 1000
COMFORTABLE = 200 * 2**20  # bytes up to which a file is read without a notice
FORMATS = (
    "CSV, TSV or other text, Excel or ODS, Parquet, Arrow or Feather, JSON, JSON Lines, npy or npz; also as gz or zip; and profiles, "
    "which calibcore reduce makes of files of any size. "
    "Large files are read faster as Parquet, or opened in place with the command calibcore dashboard PATH."
)
_FEWEST_BINS, _MOST_BINS = 5, 50


def suggested_bins(n: int) -> int:
    """Bins that suit ``n`` rows: the cube root, rounded up, from 5 to 50.

    Examples
    --------
    >>> [suggested_bins(n) for n in (10, 1000, 1001, 4000, 10**9)]
    [5, 10, 11, 16, 50]
    """
    return next((m for m in range(_FEWEST_BINS, _MOST_BINS) if m**3 >= n), _MOST_BINS)  # in integers: a cube root is rounded


def limits_line(most_megabytes: int) -> str:
    """What can be added, and up to which size, in a line; `FORMATS` says all."""
    best = COMFORTABLE // 2**20
    return (
        f"CSV, Excel, Parquet, JSON, npz and others, up to {most_megabytes:,} MB{f', best below {best}' if most_megabytes > best else ''}."
    )


def large_sentence(name: str, size: int) -> str | None:
    """A notice for a file that takes its time; None for one that does not."""
    if size <= COMFORTABLE:
        return None
    return f"{name} is {_megabytes(size)} MB. As Parquet with only the label and probability columns it would open faster."


def too_large_sentence(name: str, size: int, most_megabytes: int) -> str | None:
    """Why a file is refused, and the way out; None for one within the limit."""
    if size <= most_megabytes * 2**20:
        return None
    return (
        f"{name} is {_megabytes(size)} MB; the limit is {most_megabytes:,} MB. Save it as Parquet, keep only the label and probability "
        "columns, open it in place with calibcore dashboard PATH, or make a small profile of it with calibcore reduce PATH -o "
        "model.profile.parquet."
    )


def _megabytes(size: int) -> str:
    return f"{-(-size // 2**20):,}"


def many_models_sentence(n: int) -> str | None:
    """More models than can be compared at once; None where they can be."""
    return f"{n:,} models are loaded; at most {MOST_MODELS} are compared at once." if n > MOST_MODELS else None


def many_classes_sentence(name: str, classes: Sequence[str]) -> str | None:
    """More classes than a page shows; None where it shows them."""
    if len(classes) <= MOST_CLASSES:
        return None
    return (
        f"{name} has {len(classes):,} classes; the page shows at most {MOST_CLASSES:,}. "
        "Keep the columns predicted class, confidence and label, or measure it with calibcore measure."
    )
