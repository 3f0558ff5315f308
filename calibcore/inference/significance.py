"""Is there any miscalibration?  A test that does not use the user's bins, and the ranges where it shows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import needs
from calibcore.clusters import Clusters, dependence
from calibcore.inference.chance import DRAWS
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.redraw import Cells, Redraw, cells_of, group_starts
from calibcore.strata import beside_cells

__all__ = ["Detection", "DiagnosticBins", "detect", "diagnostic_partition"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

MIN_ROWS = 30  # of a diagnostic bin
MAX_BINS = 10
_VERDICT_SEED = 20_260_101  # fixed: no setting of the user may flip a verdict
_MORE_DRAWS = 9 * DRAWS
_UNCLEAR = (0.02, 0.10)  # p-values in between get ten times the draws
_STEP = 0.001
_FEW = 1024


@dataclass(frozen=True, slots=True, eq=False)
class DiagnosticBins:
    """The bins that patterns are judged in, in the confidence view; arrays of shape (bins,).

    Attributes
    ----------
    low, high : array
        Smallest and largest confidence in each bin.
    count, weight : array
    residual, variance : array
        Σw(correct − confidence) and Σw²·p(1 − p).
    confidence : array
        Σw·confidence.
    over_limit, under_limit : float
        95th percentile, over redraws, of the largest −z and z of any run of neighbouring bins; z = ΣS/√ΣV.
    n_effective : float
    """

    low: FloatArray
    high: FloatArray
    count: NDArray[np.int64]
    weight: FloatArray
    residual: FloatArray
    variance: FloatArray
    confidence: FloatArray
    over_limit: float
    under_limit: float
    n_effective: float

    def __repr__(self) -> str:
        return f"<DiagnosticBins: {len(self.count)} bins, {int(self.count.sum()):,} rows>"


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """Outcome of `detect`.

    Attributes
    ----------
    p_value : float
        Of the smallest of the rank p-values; detected where it is at most 0.05.
    view : str
        The view that shows it most.
    kuiper : float
        Range of the cumulative residuals of that view, divided by the sum of weights: the largest |total
        miscalibration| of any interval of scores.
    q : float
        Σ S_b²/V_b over that view's diagnostic bins; infinite where the model was certain and wrong.
    interval : tuple of float
        The scores between which the range is attained, lowest and highest: not a confidence interval, and no method as on
        results that have one.
    draws : int
    bins : DiagnosticBins
        Of the confidence view (of the only view, if there is one).
    """

    p_value: float
    view: str
    kuiper: float
    q: float
    interval: tuple[float, float]
    draws: int
    bins: DiagnosticBins

    def __repr__(self) -> str:
        return f"<Detection: p = {self.p_value:.4g} in the view {self.view!r}, from {self.draws:,} draws>"

    @property
    def detected(self) -> bool:
        """Whether p ≤ 0.05."""
        return self.p_value <= 0.05

    def to_dict(self) -> dict[str, object]:
        """As plain data."""
        return {
            "p_value": self.p_value,
            "view": self.view,
            "statistics": {"kuiper": self.kuiper, "q": self.q if np.isfinite(self.q) else None},
            "interval": list(self.interval),
            "draws": self.draws,
        }


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """One view of the groups, sorted by its own score."""

    name: str
    order: IndexArray
    sign: FloatArray
    ends: IndexArray  # positions after which the cumulative sum may be looked at: equal scores are one step
    bin_starts: IndexArray
    variance: FloatArray  # of each bin
    residual: FloatArray  # observed, of each group in order
    low: FloatArray
    high: FloatArray
    rounding: float  # residuals up to this may be rounding

    def cumulate(self, drawn: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Kuiper range, Q and bin residuals of each draw; the observed labels are row 0."""
        residual = np.vstack([self.residual, drawn[:, self.order] * self.sign])
        steps = np.cumsum(residual, axis=1)[:, self.ends]
        kuiper = np.maximum(steps.max(axis=1), 0.0) - np.minimum(steps.min(axis=1), 0.0)
        bins = np.add.reduceat(residual, self.bin_starts, axis=1)
        return kuiper, _standardised(bins, self.variance, self.rounding).sum(axis=1), bins

    def interval(self) -> tuple[float, float]:
        """Scores between which the observed cumulative residual runs from one extreme to the other."""
        steps = np.concatenate([[0.0], np.cumsum(self.residual)[self.ends]])
        first, last = sorted((int(np.argmin(steps)), int(np.argmax(steps))))
        start = 0 if first == 0 else int(self.ends[first - 1]) + 1
        stop = int(self.ends[max(last - 1, 0)])
        return float(self.low[min(start, stop)]), float(self.high[stop])


def _standardised(residual: FloatArray, variance: FloatArray, rounding: float) -> FloatArray:
    """residual²/variance; where a model claims certainty (variance 0), any error is infinitely surprising."""
    spread = np.sqrt(variance)
    certain = np.where(np.abs(residual) > rounding, np.inf, 0.0)
    with np.errstate(over="ignore"):  # as good as certain, and wrong
        return np.where(spread > 0, (residual / np.where(spread > 0, spread, 1.0)) ** 2, certain)


def diagnostic_partition(profile: Profile) -> Partition:
    """At most 10 equal-mass bins of at least 30 rows each, ties together, whatever bins the user looks at."""
    partition = Partition.equal_mass(profile, max(1, min(MAX_BINS, profile.n // MIN_ROWS)))
    assert isinstance(partition, Partition)
    edges, held = [0.0], 0
    for upper, count in zip(partition.edges[1:], profile.bin(partition).count.tolist(), strict=True):
        held += count
        if held >= MIN_ROWS:
            edges.append(float(upper))
            held = 0
    if edges[-1] != 1.0:
        edges = [*edges[:-1], 1.0] if len(edges) > 1 else [0.0, 1.0]
    return Partition.from_edges(edges)


@dataclass(frozen=True, slots=True, eq=False)
class _Labelled:
    """Cells of all rows, with what came true in them; arrays of shape (cells,)."""

    cells: Cells
    event: FloatArray  # Σw of the rows whose label came true
    views: tuple[tuple[str, FloatArray, FloatArray], ...]  # name, score of each cell, sign of its residual


def _one_view(profile: Profile) -> _Labelled:
    cells = cells_of(profile)
    ones = np.ones(len(profile))
    return _Labelled(cells, np.asarray(profile.positive, dtype=np.float64), ((profile.view, cells.probability, ones),))


def _two_views(predictions: Predictions) -> _Labelled:
    """Joint cells of both views of a binary model, so that redrawing a label moves both at once.

    The sign is +1 where the model predicts the positive class (right = positive), −1 where it predicts the other.
    """
    if not predictions.has_rows:
        return _two_views_of_cells(predictions.profile("positive"))
    p, event = predictions.rows("positive")
    parts: list[tuple[NDArray[Any], ...]] = []
    cell = np.zeros(predictions.n, dtype=np.intp)
    for sign, side in ((-1.0, predictions.predicted == 0), (1.0, predictions.predicted == 1)):
        rows = np.flatnonzero(side)
        if len(rows):
            weight = None if predictions.weight is None else predictions.weight[rows]
            cells = Profile.from_rows(p[rows], event[rows], weight=weight, view="positive", task="binary", n_classes=2)
            where = np.searchsorted(cells.value, p[rows])
            confidence = _cell_means(where, predictions.confidence[rows], weight, cells)
            cell[rows] = where + sum(len(part[0]) for part in parts)
            parts.append((cells.value, confidence, np.full(len(cells), sign), cells.positive, cells.weight, cells.weight_squared))
    score, confidence, signs, right, weights, squared = (np.concatenate(a).astype(np.float64) for a in zip(*parts, strict=True))
    joint = Cells(score, weights, squared, predictions.weight is not None, **_beside(predictions, cell, score, signs < 0))
    return _Labelled(joint, right, (("top_label", confidence, signs), ("positive", score, np.ones(len(score)))))


def _two_views_of_cells(positive: Profile) -> _Labelled:
    """`_two_views` where only the cells of P(positive) are known: one up to ½ predicts the other class."""
    cells = cells_of(positive)
    signs = np.where(cells.probability > 0.5, 1.0, -1.0)
    confidence = np.where(signs > 0, cells.probability, positive.mirrored().value[::-1])
    views = (("top_label", confidence, signs), ("positive", cells.probability, np.ones(len(positive))))
    return _Labelled(cells, np.asarray(positive.positive, dtype=np.float64), views)


def _beside(predictions: Predictions, cell: IndexArray, score: FloatArray, negative: NDArray[np.bool_]) -> dict[str, Any]:
    """Clusters and strata of joint cells.

    Within a cluster, either the labels go together or whether the model is right: whichever shows the more dependence.
    """
    event = np.asarray(predictions.label == 1)
    beside = beside_cells(len(score), cell, event, predictions.weight, predictions.cluster_code)
    clusters: Clusters | None = beside.get("clusters")
    if clusters is None:
        return beside
    labels, right = dependence(clusters, score), dependence(clusters, score, opposite=negative)
    return {**beside, "opposite": negative if right > labels else None, "share": max(labels, right)}


def _cell_means(cell: IndexArray, values: NDArray[Any], weight: FloatArray | None, cells: Profile) -> FloatArray:
    """Weighted mean of each cell, without rounding where all values of a cell are equal."""
    largest = np.zeros(len(cells))
    np.maximum.at(largest, cell, values)
    below = values - largest[cell]
    return largest + np.bincount(cell, below if weight is None else below * weight, len(cells)) / cells.weight


def detect(source: Predictions | Profile, *, seed: int = _VERDICT_SEED) -> Detection:
    """Test whether the outcomes fit the probabilities, in every view at once.

    Parameters
    ----------
    source : Predictions or Profile
        A binary model is judged in the confidence and in the positive view with the same redrawn labels; a profile
        in its own view only.
    seed : int
        Fixed, so that no setting changes a verdict.

    Raises
    ------
    InputError
        If this is no model.

    Notes
    -----
    Labels are redrawn 1,000 times from the model's own probabilities.  Two statistics per view: the Kuiper range of
    the cumulative residuals (equal scores in one step) and Q = Σ S_b²/V_b over at most ten equal-mass bins.  Each
    becomes its rank p-value among all samples; the smallest is ranked again, which accounts for having looked
    several times.  Where 0.02 < p < 0.10, 10,000 draws decide.  Rows count as independent, but for the rows of a cluster,
    which are redrawn together as far as their outcomes depend on each other (`calibcore.redraw.redraw_groups`).  A test at 5 % calls
    5 % of calibrated models miscalibrated.

    References
    ----------
    Arrieta-Ibarra et al. (2022), arXiv:2205.09680 (cumulative differences); Bröcker & Smith (2007),
    doi:10.1175/WAF993.1 (redrawing from the forecasts).

    Examples
    --------
    >>> detect(Predictions.from_top_label([0.8] * 100, [1] * 20 + [0] * 80)).detected
    True
    """
    needs(source, (Predictions, Profile), "detect")
    both = isinstance(source, Predictions) and {"top_label", "positive"} <= set(source.views)
    rows = _two_views(source) if isinstance(source, Predictions) and both else _one_view(_profile_of(source))
    partitions = {name: diagnostic_partition(_profile_of(source, name)) for name, _, _ in rows.views}
    located = {name: partitions[name].locate(score) for name, score, _ in rows.views}
    starts = _groups(rows, located)
    redraw = rows.cells.redraw(starts)
    views = [_view(rows, v, located[v[0]], starts) for v in rows.views]
    rng = np.random.default_rng(seed)
    kuiper, q, bins = _redrawn(views, redraw, DRAWS, rng)
    p_value, which = _combined([*kuiper, *q])
    if _UNCLEAR[0] < p_value < _UNCLEAR[1]:
        more = _redrawn(views, redraw, _MORE_DRAWS, rng)
        kuiper, q = (
            [np.concatenate([a, b[1:]]) for a, b in zip(old, new, strict=True)] for old, new in zip((kuiper, q), more[:2], strict=True)
        )
        bins = np.vstack([bins, more[2][1:]])
        p_value, which = _combined([*kuiper, *q])
    shown = which % len(views)
    return Detection(
        p_value,
        views[shown].name,
        float(kuiper[shown][0] / rows.cells.weight.sum()),
        float(q[shown][0]),
        views[shown].interval(),
        len(kuiper[0]) - 1,
        _diagnostic(_profile_of(source, views[0].name), partitions[views[0].name], views[0], bins),
    )


def _profile_of(source: Predictions | Profile, view: str = "top_label") -> Profile:
    return source if isinstance(source, Profile) else source.profile(view)


def _groups(rows: _Labelled, located: dict[str, IndexArray]) -> IndexArray:
    """First cell of each group; a group lies in one bin of every view and on one side of ½."""
    changes = [np.diff(index) != 0 for index in located.values()]
    changes += [np.diff(sign) != 0 for _, _, sign in rows.views]
    cuts = np.flatnonzero(np.any(changes, axis=0)) + 1
    value = rows.cells.probability
    sides = np.flatnonzero(np.diff(value) < 0) + 1  # each side is sorted
    few = _FEW if len(value) <= _FEW else 0
    parts = [
        start + group_starts(value[start:stop], cuts=cuts[(cuts >= start) & (cuts < stop)] - start, step=_STEP, few=few)
        for start, stop in pairwise([0, *sides.tolist(), len(value)])
    ]
    return np.concatenate(parts)


def _view(rows: _Labelled, view: tuple[str, FloatArray, FloatArray], located: IndexArray, starts: IndexArray) -> _View:
    name, score, sign = view
    side, cells = sign[starts], rows.cells
    event, weight = np.add.reduceat(rows.event, starts), np.add.reduceat(cells.weight, starts)
    right = np.where(side > 0, event, weight - event)
    residual = right - np.add.reduceat(cells.weight * score, starts)
    low, high = np.minimum.reduceat(score, starts), np.maximum.reduceat(score, starts)
    middle = low if len(starts) == len(score) else np.floor(low / _STEP)
    order = np.lexsort((low, middle, located[starts]))
    step = np.column_stack([located[starts][order], middle[order]])
    ends = np.append(np.flatnonzero(np.any(np.diff(step, axis=0) != 0, axis=1)), len(order) - 1)
    bin_starts = np.flatnonzero(np.concatenate([[True], np.diff(located[starts][order]) != 0]))
    variance = np.add.reduceat(np.add.reduceat(cells.weight_squared * score * (1 - score), starts)[order], bin_starts)
    return _View(
        name, order, side[order], ends, bin_starts, variance, residual[order], low[order], high[order], 1e-12 * float(weight.sum())
    )


def _redrawn(
    views: list[_View], redraw: Redraw, draws: int, rng: np.random.Generator
) -> tuple[list[FloatArray], list[FloatArray], FloatArray]:
    """Kuiper and Q of each view, and the first view's bin residuals; the observed labels come first."""
    found = [[v.cumulate(drawn) for v in views] for drawn in redraw.residuals(draws, rng)]

    def joined(view: int, part: int) -> FloatArray:
        return np.concatenate([f[view][part][min(i, 1) :] for i, f in enumerate(found)])

    every = range(len(views))
    return [joined(v, 0) for v in every], [joined(v, 1) for v in every], joined(0, 2)


def _rank_p(statistic: FloatArray) -> FloatArray:
    """Share of all samples whose statistic is at least as large, for each sample."""
    slack = 1e-9 * np.abs(np.where(np.isfinite(statistic), statistic, 0.0))
    below = np.searchsorted(np.sort(statistic), statistic - slack, side="left")
    return 1.0 - below / len(statistic)


def _combined(statistics: list[FloatArray]) -> tuple[float, int]:
    """Rank p-value of the smallest rank p-value, and the statistic that the observed labels owe it to."""
    ranks = np.array([_rank_p(s) for s in statistics])
    smallest = ranks.min(axis=0)
    p_value = float(np.count_nonzero(smallest <= smallest[0] + 1e-12) / len(smallest))
    return p_value, int(np.argmin(ranks[:, 0]))


def _diagnostic(profile: Profile, partition: Partition, view: _View, bins: FloatArray) -> DiagnosticBins:
    runs = [(i, j) for i in range(bins.shape[1]) for j in range(i + 1, bins.shape[1] + 1)]
    sums = np.concatenate([np.zeros((len(bins), 1)), np.cumsum(bins, axis=1)], axis=1)
    spread = np.concatenate([[0.0], np.cumsum(view.variance)])
    z = np.array([_z(sums[1:, j] - sums[1:, i], spread[j] - spread[i]) for i, j in runs])
    stops = np.append(view.bin_starts[1:], len(view.low))
    binned = profile.bin(partition)
    filled = binned.filled
    return DiagnosticBins(
        np.minimum.reduceat(view.low, view.bin_starts),
        np.array([view.high[a:b].max() for a, b in zip(view.bin_starts, stops, strict=True)]),
        binned.count[filled],
        binned.weight[filled],
        bins[0],
        view.variance,
        (binned.weight * binned.confidence)[filled],
        float(np.quantile(-z.min(axis=0), 0.95)),
        float(np.quantile(z.max(axis=0), 0.95)),
        profile.n_effective,
    )


def _z(residual: FloatArray, variance: float) -> FloatArray:
    return residual / np.sqrt(variance) if variance > 0 else np.zeros_like(residual)
