"""The sorted cells of one view of a model: the only thing that statistics see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from calibcore.binned import BinnedStatistics, bin_sums
from calibcore.cells import UNWEIGHTED, add_at, cell_sums, cell_total, check_same_kind, made, row_cells, unweighted, weighted_row_cells
from calibcore.checks import needs, rows_text
from calibcore.clusters import Clusters, dependence, joined
from calibcore.errors import InputError
from calibcore.grid import SIZE, grid
from calibcore.inside import Inside
from calibcore.later import Memo
from calibcore.partition import Partition, SharedTies
from calibcore.poisson_binomial import Cells
from calibcore.strata import Strata, beside_cells, strata_of_both
from calibcore.summation import Cumulative
from calibcore.top_label import complement
from calibcore.totals import Totals, totals_of

__all__ = ["Profile", "Task"]

Task = Literal["binary", "multiclass", "top_label"]
Numbers = NDArray[Any]
T = TypeVar("T")
_SUMS = ("count", "weight", "positive", "weight_squared", "positive_squared")


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Distinct confidences in rising order, how many rows have each, and how many of those were right.

    Attributes
    ----------
    view : str
        ``"top_label"``, ``"positive"`` or ``"class:<name>"``.
    value : array of shape (cells,), float32 or float64
        Distinct confidences, in the precision of the data.
    count : array of shape (cells,), int64
        Rows.
    weight, positive : arrays of shape (cells,)
        Sum of the weights, and of the weights of the right (or positive) rows; int64 without weights.
    weight_squared, positive_squared : arrays of shape (cells,)
        The same for squared weights: redraws and intervals need them, since a weight of 10 is not ten rows.
    totals : Totals
        In the top-label view of three or more classes the scores of the whole model, else those of the view.
    task : {"binary", "multiclass", "top_label"}
    n_classes : int
        0 if not known.
    classes : tuple of str
        Their names in class order, where known: profiles of other classes, or of the same in another order, do not add up.
    clusters : Clusters, optional
        Rows that go together; None where every row stands alone.
    strata : tuple of arrays (cell, weight, weight_squared), optional
        Of the rows outside clusters, apart by size of weight, where cells hold different weights.
    inside : Inside, optional
        Of a reduced profile, whose cells are those of `calibcore.grid`: what the rows in each cell add up to.  Then ``value``
        is their mean.

    Notes
    -----
    Rows of weight zero are not counted.  Profiles of the same view add up: ``a + b`` is the profile of both samples, and it
    is reduced if one of them is.

    A **reduced** profile (`to_reduced`) has at most 17,057 cells, however many rows.  *Exact* on it: count, accuracy,
    confidence and gap of bins, ECE, MCE, RMSCE, the residual U-statistic, the noise floor, Brier score and log loss (of
    `calibcore.analyze`), skill, the Murphy terms and O/E, for equal width of up to 100 bins and custom edges at such fractions, on
    either closed side.  *Bounded* (`calibcore.measures.reduction`): the ECE of equal-mass bins and of other edges, and the Kuiper
    range.  *Approximate*, with the mean of a cell in the place of its rows: CORP and its curve, smooth ECE, logistic fits,
    Spiegelhalter's variance.  *Not available*: pairing, clusters, the rows behind a bin.
    """

    view: str
    value: Numbers
    count: NDArray[np.int64]
    weight: Numbers
    positive: Numbers
    weight_squared: Numbers
    positive_squared: Numbers
    totals: Totals
    task: Task = "top_label"
    n_classes: int = 0
    clusters: Clusters | None = None
    strata: Strata | None = None
    inside: Inside | None = None
    classes: tuple[str, ...] = ()
    _memo: Memo = field(default_factory=Memo, repr=False)

    def __repr__(self) -> str:
        more = ", weighted" if self.weighted else ""
        more += f", {self.n_clusters:,} clusters" if self.clusters is not None else ""
        what = "distinct values" if self.inside is None else "cells, reduced"
        return f"<Profile of the view {self.view!r}: {rows_text(self.n)} in {len(self):,} {what}{more}>"

    def __post_init__(self) -> None:
        for name in ("value", "count", "weight", "positive", "weight_squared", "positive_squared"):
            getattr(self, name).flags.writeable = False

    @classmethod
    def from_rows(  # noqa: PLR0913 - what a profile holds
        cls,
        value: Numbers,
        correct: NDArray[np.bool_],
        *,
        weight: NDArray[np.float64] | None = None,
        cluster: NDArray[np.intp] | None = None,
        view: str = "top_label",
        totals: Totals | None = None,
        task: Task = "top_label",
        n_classes: int = 0,
    ) -> Profile:
        """Cells of rows, in any order.

        Parameters
        ----------
        value : array of shape (n,)
            Confidences in [0, 1], float32 or float64, without missing values.
        correct : array of shape (n,), bool
            Whether the event happened.
        weight : array of shape (n,), optional
            Positive weights.
        cluster : array of shape (n,), int, optional
            Number of each row's cluster, from 0; rows of one cluster are not independent.
        totals : Totals, optional
            By default those of the value as the probability of its event.
        """
        cells: dict[str, Any] = row_cells(value, correct) if weight is None else weighted_row_cells(value, correct, weight)
        cells |= beside_cells(len(cells["value"]), lambda: np.searchsorted(cells["value"], value), correct, weight, cluster)
        return cls(view, **cells, totals=totals or totals_of(value, correct, weight), task=task, n_classes=n_classes)

    def __add__(self, other: Profile) -> Profile:
        needs(other, Profile, "Adding to a Profile")
        check_same_kind(self, other)
        if self.inside is not None or other.inside is not None:
            return self._add_reduced(other)
        value, cell = np.unique(np.concatenate([self.value, other.value]), return_inverse=True)
        sums = {f: add_at(len(value), cell, getattr(self, f), getattr(other, f)) for f in _SUMS}
        weighted = self.weighted or other.weighted
        fields: dict[str, Any] = sums if weighted else unweighted(sums)
        cells = cell[: len(self)], cell[len(self) :]
        fields["clusters"] = joined(self.clusters, other.clusters, cells)
        fields["strata"] = strata_of_both((self, other), cells) if weighted else None
        return replace(self, value=value, totals=self.totals + other.totals, _memo=Memo(), **fields)

    def _add_reduced(self, other: Profile) -> Profile:
        one, two = self.to_reduced().inside, other.to_reduced().inside
        assert one is not None
        assert two is not None
        return self._of(one + two, self.totals + other.totals)

    def _of(self, inside: Inside, totals: Totals) -> Profile:
        return replace(self, **inside.fields(), inside=inside, totals=totals, clusters=None, strata=None, _memo=Memo())

    @classmethod
    def from_inside(
        cls, inside: Inside, totals: Totals, *, view: str = "top_label", task: Task = "top_label", n_classes: int = 0
    ) -> Profile:
        """A reduced profile from what the rows in its cells add up to."""
        return cls(view, **inside.fields(), totals=totals, task=task, n_classes=n_classes, inside=inside)

    def to_reduced(self) -> Profile:
        """The same rows in at most 17,057 fixed cells; itself, if it is reduced.

        Raises
        ------
        InputError
            If rows go together in clusters, which a reduced profile does not know.

        Examples
        --------
        >>> rows = Profile.from_rows(np.array([0.1, 0.7000001, 0.7000002]), np.array([False, True, False]))
        >>> rows.to_reduced()
        <Profile of the view 'top_label': 3 rows in 2 cells, reduced>
        """
        if self.inside is not None:
            return self
        if self.clusters is not None:
            raise InputError("A profile with clusters cannot be reduced: which rows go together would be lost. Leave the clusters out.")
        value = self.value if self.value.dtype.itemsize > 2 else self.value.astype(np.float64)
        near = np.minimum(value.astype(np.float64), 1.0 - value.astype(np.float64))[:, None]
        weight, squared = (
            np.stack([a - b, b], axis=1) for a, b in ((self.weight, self.positive), (self.weight_squared, self.positive_squared))
        )
        sums = {"count": self.count, "weight": weight, "near": weight * near, "near_squared": weight * near**2}
        if self.weighted:
            sums |= {"weight_squared": squared, "heavy_near": squared * near, "heavy_near_squared": squared * near**2}
        return self._of(Inside.from_cells(grid(value.dtype).locate(value), sums), self.totals)

    def called(self, view: str) -> Profile:
        """The same cells, and sums of them, under the name of another view."""
        return replace(self, view=view, _memo=Memo({k: v for k, v in self._memo.items() if isinstance(v, Cumulative)}))

    def mirrored(self) -> Profile:
        """The other outcome as the event, and its probability as the value; totals, which are of the model, stay."""
        if self.inside is not None:
            return self._of(self.inside.mirrored(), self.totals)
        if self.clusters is not None or self.strata is not None:
            raise InputError("A profile with clusters or strata of weights cannot be mirrored; make it from the rows.")
        turned = {f: getattr(self, f)[::-1] for f in ("count", "weight", "weight_squared")}
        turned["positive"] = (self.weight - self.positive)[::-1]
        turned["positive_squared"] = (self.weight_squared - self.positive_squared)[::-1]
        fields = turned if self.weighted else unweighted(turned)
        return replace(self, value=complement(self.value)[::-1], **fields, _memo=Memo())

    def folded(self) -> Profile:
        """The top-label view of a binary model from its positive view: a probability up to ½ predicts the other class."""
        if self.inside is None:
            return self.to_reduced().folded()
        high = self.inside.high
        both = self.inside.part(high) + self.inside.part(~high).mirrored()
        tied = int(self.inside.count[self.inside.cell == SIZE // 2].sum())
        return self._of(both, replace(self.totals, tied=tied)).called("top_label")

    @property
    def reduced(self) -> bool:
        """Whether its cells hold rows of different values."""
        return self.inside is not None

    @property
    def upper(self) -> Numbers:
        """The largest value that each cell can hold, shape (cells,)."""
        return self.value if self.inside is None else self.inside.upper

    @classmethod
    def read(cls, path: str | Path, view: str | None = None) -> Profile:
        """The profile in a file that `write`, `calibcore.reduce` or ``calibcore reduce`` made; needs pyarrow.

        Parameters
        ----------
        path : str or path
        view : str, optional
            Of several views that a file may hold; by default the top label, or the only one.

        Raises
        ------
        InputError
            If the file is no profile file, holds several models (`calibcore.read` gives them), or not this view.
        """
        from calibcore.io.profile_file import one_view, read_profiles

        return one_view(read_profiles(Path(path), Path(path).name), view, Path(path).name)

    def write(self, path: str | Path, *, name: str = "model") -> None:
        """Write the profile to a small Parquet file, which `read`, `calibcore.read`, the commands and the dashboard open.

        Parameters
        ----------
        path : str or path
        name : str
            Of the model.

        Raises
        ------
        InputError
            If rows go together in clusters, or pyarrow is not installed.
        """
        from calibcore.io.profile_file import write_profiles
        from calibcore.rowless import alone

        write_profiles([alone(self, name)], path)

    def __len__(self) -> int:
        return len(self.value)

    def remember(self, key: str, make: Callable[[], T]) -> T:
        """``make()`` once per profile; afterwards the same object."""
        return self._memo.once(key, make)

    def cumulative(self, quantity: str) -> Cumulative:
        """Cumulative sums over the cells of what `cell_sums` gives."""
        quantity = self._same(quantity)
        return self.remember(f"cumulative {quantity}", lambda: Cumulative(made(self, quantity)))

    def _same(self, quantity: str) -> str:
        """The quantity under one name, where rows carry no weights."""
        return quantity if self.weighted else UNWEIGHTED.get(quantity, quantity)

    def cell_sums(self, quantity: str) -> Numbers:
        """A field, or a sum over the rows of each cell: shape (cells,).

        With r = event − value: ``"confidence"`` Σw·value; ``"residual"`` Σw·r, whose sum over a bin is weight × gap;
        ``"residual_squared"`` Σw²·r²; ``"variance"`` Σw²·value·(1 − value), which is the variance of the residual under calibration;
        ``"squared_error"`` Σw·r²; ``"square"`` Σw·value²; ``"confidence_of_events"`` Σw·value of the rows with the event.
        Whatever the weights: ``"spread"`` Σvalue·(1 − value), ``"skew"`` Σvalue·(1 − value)·(1 − 2·value).
        """
        return cell_sums(self, quantity)

    def total(self, quantity: str) -> float:
        """Sum over all cells of what `cell_sums` gives."""
        quantity = self._same(quantity)
        sums: Cumulative | None = self._memo.get(f"cumulative {quantity}")
        return self.remember(f"total {quantity}", lambda: cell_total(self, quantity) if sums is None else sums.total)

    @property
    def weight_upto(self) -> Numbers:
        """Cumulative weight up to and including each cell, shape (cells,)."""
        return self.remember("weight upto", lambda: self.cumulative("weight").upto)

    @property
    def complement(self) -> Numbers:
        """Probability of the opposite event in each cell, shape (cells,), as `calibcore.top_label.complement` gives it."""
        return self.remember("complement", lambda: complement(self.value))

    @property
    def n(self) -> int:
        """Rows with a positive weight."""
        return self.totals.rows

    @property
    def weight_sum(self) -> float:
        """Sum of the weights; the number of rows without weights."""
        return self.total("weight")

    @property
    def n_effective(self) -> float:
        """(Σw)²/Σw², the number of equally weighted rows that would be as informative; fewer where rows go together.

        With clusters Σw² grows by `dependence` × Σw·w' over the pairs of rows of a cluster.
        """
        more = 0.0 if self.clusters is None else self.dependence * self.clusters.pairs()
        return self.weight_sum**2 / (self.total("weight_squared") + more)

    @property
    def dependence(self) -> float:
        """How much of the largest possible dependence the rows of a cluster show, 0 to 1; 0 without clusters."""
        c = self.clusters
        return 0.0 if c is None else self.remember("dependence", lambda: dependence(c, self.value.astype(np.float64)))

    @property
    def n_clusters(self) -> int:
        """Clusters, with the rows that stand alone as one each."""
        return self.n if self.clusters is None else len(self.clusters) + self.n - self.clusters.rows

    @property
    def weighted(self) -> bool:
        """Whether rows carry weights."""
        return self.weight is not self.count

    @property
    def accuracy(self) -> float:
        """Share of right rows; in the positive and class views the share of positives."""
        return self.total("positive") / self.weight_sum

    @property
    def mean_confidence(self) -> float:
        """Mean confidence; in the positive and class views the mean probability."""
        return self.total("confidence") / self.weight_sum

    def part(self, keep: NDArray[np.bool_]) -> Profile:
        """The profile of some cells, ``keep`` of shape (cells,); of the totals only the number of rows stays true."""
        cells = {f: getattr(self, f)[keep] for f in ("value", *_SUMS)}
        beside: dict[str, Any] = {"clusters": None if self.clusters is None else self.clusters.part(keep)}
        beside["inside"] = None if self.inside is None else self.inside.part(keep)
        if self.strata is not None:
            kept = np.flatnonzero(keep[self.strata[0]])
            cell, weight, squared = (a[kept] for a in self.strata)
            beside["strata"] = ((np.cumsum(keep) - 1)[cell], weight, squared)
        fields = cells if self.weighted else unweighted(cells)
        return replace(self, **fields, **beside, totals=Totals(int(cells["count"].sum())), _memo=Memo())

    def cluster_pairs(self, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Σ w·w' over the ordered pairs of different rows of one cluster, between cell positions; zeros without clusters."""
        bins = len(positions) - 1
        if self.clusters is None:
            return np.zeros(bins)
        return self.clusters.pairs_in(np.repeat(np.arange(bins), np.diff(positions)), bins)

    def bin(self, partition: Partition | SharedTies) -> BinnedStatistics:
        """Statistics of each bin of a partition; costs O(bins · log cells)."""
        needs(partition, (Partition, SharedTies), "Profile.bin")
        positions = partition.cut(self.value)
        shared = isinstance(partition, SharedTies)
        count, weight, confidence, positive, squared = (
            self.cumulative(q).between(positions) for q in ("count", "weight", "confidence", "positive", "weight_squared")
        )
        if self.clusters is not None and not shared:
            squared = squared + self.dependence * self.cluster_pairs(positions)
        members = None if shared else Cells(self.value, self.count, positions, self._spread)
        return bin_sums(partition, count, weight, confidence, positive, squared, members=members)

    def _spread(self) -> tuple[Cumulative, Cumulative]:
        """Cumulative second and third cumulants of the events in the cells."""
        return self.cumulative("spread" if self.weighted else "variance"), self.cumulative("skew")
