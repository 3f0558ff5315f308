"""Bins of [0, 1]: edges and which side is closed.  The only place that knows edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import InputError

__all__ = ["MAX_BINS", "Closed", "Partition", "SharedTies", "Strategy", "Ties"]

Closed = Literal["right", "left"]
Ties = Literal["together", "share"]
Strategy = Literal["equal_width", "equal_mass", "custom"]
FloatArray = NDArray[np.float64]

MAX_BINS = 10_000
_SLACK = 1e-12  # cumulative weights are sums of rounded numbers; k/M of them must not miss a cell by the last digit


class _Ranked(Protocol):
    """What equal mass needs of a profile."""

    @property
    def upper(self) -> NDArray[Any]: ...
    @property
    def weight_upto(self) -> NDArray[Any]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A partition of [0, 1] into bins, fixed before the rows are looked at.

    Attributes
    ----------
    edges : array of shape (bins + 1,)
        From 0 to 1, rising; only the first bin may have no width (``[0, 0]``).
    closed : {"right", "left"}
        ``"right"``: bins (a, b], the first also holds its lower edge.  ``"left"``: bins [a, b), the last also holds 1.
    strategy : {"equal_width", "equal_mass", "custom"}
    requested : int
        The number of bins asked for; fewer are left where tied rows share a bin.

    Notes
    -----
    Values are compared with the edges in their own precision: float32 values meet edges rounded to float32, so 0.7
    stored as float32 lies on the edge 7/10.
    """

    edges: FloatArray
    closed: Closed = "right"
    strategy: Strategy = "custom"
    requested: int = field(default=0)

    def __repr__(self) -> str:
        return f"<Partition: {self.n_bins:,} {self.strategy} bin{'' if self.n_bins == 1 else 's'}, closed on the {self.closed}>"

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _checked_edges(self.edges))
        checked_options(closed=self.closed)
        if not self.requested:
            object.__setattr__(self, "requested", self.n_bins)

    @classmethod
    def equal_width(cls, n_bins: int, closed: Closed = "right") -> Partition:
        """``n_bins`` bins of equal width; the edges are the doubles nearest to k/M.

        Raises
        ------
        InputError
            If ``n_bins`` is not a whole number from 1 to 10,000.

        Examples
        --------
        >>> Partition.equal_width(10).edges[3]
        np.float64(0.3)
        """
        checked_options(closed=closed)
        return _even(checked_bins(n_bins), closed)

    @classmethod
    def equal_mass(cls, profile: _Ranked, n_bins: int, ties: Ties = "together") -> Partition | SharedTies:
        """Bins with (nearly) equal numbers of rows, cut at the k/M quantiles of a profile.

        Parameters
        ----------
        profile : Profile
            The rows that decide the cuts.
        n_bins : int
            Bins asked for.
        ties : {"together", "share"}
            ``"together"`` keeps equal confidences in one bin, so fewer bins may be left.  ``"share"`` keeps the exact
            sizes and divides a tied block in proportion; the result is a `SharedTies`, which has no rows of its own.

        Returns
        -------
        Partition or SharedTies
            Edges depend on this sample: another sample has others.  To apply them elsewhere, freeze them with
            ``Partition.from_edges(partition.edges, closed)``.

        Notes
        -----
        Upper edge k is the r_k-th smallest value with r_k = ⌈k·n/M⌉ (inverse of the empirical distribution function);
        with weights, the smallest value whose cumulative weight reaches (k/M)·W.  Without ties every bin holds exactly
        ⌊n/M⌋ or ⌈n/M⌉ rows.  The answer is the same for every order of the rows.
        """
        if not hasattr(type(profile), "weight_upto"):
            got = type(profile).__name__
            raise InputError(f"Partition.equal_mass takes a Profile, such as model.profile('positive'); got {got}.", value=profile)
        m = checked_bins(n_bins)
        checked_options(ties=ties)
        ranks, cells = _quantile_cells(profile.weight_upto, m)
        upper = np.asarray(profile.upper, dtype=np.float64)[cells]
        if ties == "share":
            return _share(profile.weight_upto, ranks, cells, upper)
        return cut_at(upper, m)

    @classmethod
    def from_edges(cls, edges: Any, closed: Closed = "right") -> Partition:
        """Bins with the given edges, which must rise from 0 to 1.

        Raises
        ------
        InputError
            If the edges do not rise, or do not run from 0 to 1.

        Examples
        --------
        >>> Partition.from_edges([0, 0.5, 1]).n_bins
        2
        """
        try:
            numbers = np.array(edges, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"Edges must be numbers, got {edges!r}.", value=edges) from None
        return cls(numbers, closed)

    @property
    def n_bins(self) -> int:
        """Number of bins, empty ones included."""
        return len(self.edges) - 1

    def inner(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The edges between bins, in the precision of the data."""
        return self.edges[1:-1].astype(dtype if dtype.kind == "f" else np.float64)

    def locate(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Bin of each value, 0-based; shape as ``values``."""
        side: Literal["left", "right"] = "left" if self.closed == "right" else "right"
        return np.searchsorted(self.inner(values.dtype), values, side=side)

    def cut(self, values: NDArray[Any]) -> NDArray[Any]:
        """Positions among sorted ``values`` that separate the bins: shape (bins + 1,), from 0 to len(values)."""
        side: Literal["left", "right"] = "right" if self.closed == "right" else "left"
        middle = np.searchsorted(values, self.inner(values.dtype), side=side)
        return np.concatenate([[0], middle, [len(values)]])


@dataclass(frozen=True, slots=True, eq=False)
class SharedTies:
    """Equal-mass bins of exact size: a tied block is divided in proportion between the bins that meet in it.

    A fractional assignment, not a partition: it belongs to one profile, has no rows behind a bin, gives no interval
    and cannot be frozen.  ``edges`` repeats a value whose rows are divided.
    """

    edges: FloatArray
    positions: FloatArray
    closed: Closed = "right"
    strategy: Strategy = "equal_mass"

    def __repr__(self) -> str:
        return f"<SharedTies: {self.n_bins:,} equal_mass bins>"

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    @property
    def requested(self) -> int:
        """The number of bins asked for, which is the number there are."""
        return self.n_bins

    def cut(self, values: NDArray[Any]) -> NDArray[Any]:
        """Fractional positions among the cells of the profile that the bins were made from."""
        if len(values) != round(float(self.positions[-1])):
            raise InputError("Bins with shared ties belong to the profile they were made from; use ties='together' to freeze edges.")
        return self.positions


def checked_options(*, closed: str = "right", ties: str = "together") -> None:
    """InputError unless these are options that exist."""
    for name, value, allowed in (("closed", closed, ("right", "left")), ("ties", ties, ("together", "share"))):
        if value not in allowed:
            raise InputError(f"{name} must be {allowed[0]!r} or {allowed[1]!r}, got {value!r}.", value=value, available=allowed)


def checked_bins(n_bins: Any) -> int:
    """``n_bins`` as an int, or an InputError."""
    if isinstance(n_bins, (bool, np.bool_)) or not isinstance(n_bins, (int, np.integer)) or not 1 <= n_bins <= MAX_BINS:
        raise InputError(f"The number of bins must be a whole number from 1 to {MAX_BINS:,}, got {n_bins!r}.", value=n_bins)
    return int(n_bins)


@lru_cache(200)  # a sweep asks for a hundred, each time
def _even(m: int, closed: Closed) -> Partition:
    return Partition(np.arange(m + 1) / m, closed, "equal_width")


def _checked_edges(edges: FloatArray) -> FloatArray:
    if edges.ndim != 1 or len(edges) < 2:
        raise InputError("At least two edges are needed, from 0 to 1.", value=edges)
    if edges[0] != 0.0 or edges[-1] != 1.0:
        raise InputError(f"Edges must rise from 0 to 1; they run from {edges[0]:g} to {edges[-1]:g}.", value=edges)
    rises = edges[1:] > edges[:-1]
    rises[0] |= edges[1] == 0.0 and len(edges) > 2  # the first bin may be [0, 0]
    if not rises.all():
        at = int(np.argmin(rises))
        raise InputError(f"Edges must rise from 0 to 1; {edges[at + 1]:g} comes after {edges[at]:g}.", value=edges)
    if len(edges) - 1 > MAX_BINS:
        raise InputError(f"{len(edges) - 1:,} bins are too many; the limit is {MAX_BINS:,}.", value=len(edges) - 1)
    edges = edges.copy()
    edges.flags.writeable = False
    return edges


def quantile_ranks(n: int, m: int) -> NDArray[np.int64]:
    """Ranks of the upper edges of m equal-mass bins of n rows: r_k = ⌈k·n/M⌉, in integers."""
    return -(-np.arange(1, m + 1) * n // m)


def cut_at(upper: FloatArray, m: int) -> Partition:
    """Equal-mass bins with these upper edges, which rise; equal ones are one bin."""
    upper = np.unique(upper)
    upper[-1] = 1.0
    return Partition(np.concatenate([[0.0], upper]), "right", "equal_mass", m)


def _quantile_cells(upto: NDArray[Any], m: int) -> tuple[FloatArray, NDArray[np.intp]]:
    """For k = 1..M: the cumulative weight at which bin k ends, and the cell that holds it."""
    if np.issubdtype(upto.dtype, np.integer):
        whole = quantile_ranks(int(upto[-1]), m)  # searched for as integers: floats would make NumPy convert all of upto
        ranks, cells = whole.astype(np.float64), np.searchsorted(upto, whole, side="left")
    else:
        ranks = np.arange(1, m + 1) / m * float(upto[-1])
        cells = np.searchsorted(upto, ranks * (1.0 - _SLACK), side="left")
    return ranks, np.minimum(cells, len(upto) - 1)


def _share(upto: NDArray[Any], ranks: FloatArray, cells: NDArray[np.intp], upper: FloatArray) -> SharedTies:
    before = np.where(cells > 0, upto[cells - 1], 0).astype(np.float64)
    inside = (ranks - before) / (upto[cells] - before)
    positions = np.concatenate([[0.0], cells + np.clip(inside, 0.0, 1.0)])
    positions[-1] = len(upto)
    edges = np.concatenate([[0.0], upper])
    edges[-1] = 1.0
    for array in (edges, positions):
        array.flags.writeable = False
    return SharedTies(edges, positions)
