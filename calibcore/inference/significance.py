"""Is there any miscalibration?  A test that does not use the user's bins, and the ranges where it shows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import needs
from calibcore.inference.chance import DRAWS
from calibcore.inference.labelled import Labelled, changes, one_view, two_views
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.redraw import Redraw, group_starts

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
        residual = np.empty((len(drawn) + 1, len(self.order)))
        residual[0] = self.residual
        np.take(drawn, self.order, axis=1, out=residual[1:])
        residual[1:] *= self.sign
        steps = np.cumsum(residual, axis=1)
        steps = steps if len(self.ends) == len(self.order) else steps[:, self.ends]
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
    rows = two_views(source) if isinstance(source, Predictions) and both else one_view(_profile_of(source))
    partitions = {name: diagnostic_partition(_profile_of(source, name)) for name, _, _ in rows.views}
    starts = _groups(rows, partitions)
    redraw = rows.cells.redraw(starts)
    views = [_view(rows, v, partitions[v[0]], starts) for v in rows.views]
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


def _groups(rows: Labelled, partitions: dict[str, Partition]) -> IndexArray:
    """First cell of each group; a group lies in one bin of every view and on one side of ½."""
    value = rows.cells.probability
    few = _FEW if len(value) <= _FEW else 0
    starts = []
    for first, stop in pairwise([*rows.sides, len(value)]):
        cuts = np.concatenate([changes(partitions[name], score[first:stop]) for name, score, _ in rows.views])
        starts.append(first + group_starts(value[first:stop], cuts=cuts, step=_STEP, few=few))
    return np.concatenate(starts)


def _view(rows: Labelled, view: tuple[str, FloatArray, FloatArray], partition: Partition, starts: IndexArray) -> _View:
    name, score, sign = view
    located = partition.locate(score[starts])
    side, cells = sign[starts], rows.cells
    event, weight = np.add.reduceat(rows.event, starts), np.add.reduceat(cells.weight, starts)
    right = np.where(side > 0, event, weight - event)
    residual = right - np.add.reduceat(cells.weight * score, starts)
    low, high = np.minimum.reduceat(score, starts), np.maximum.reduceat(score, starts)
    middle = low if len(starts) == len(score) else np.floor(low / _STEP)
    order = np.lexsort((low, middle, located))
    step = np.column_stack([located[order], middle[order]])
    ends = np.append(np.flatnonzero(np.any(np.diff(step, axis=0) != 0, axis=1)), len(order) - 1)
    bin_starts = np.flatnonzero(np.concatenate([[True], np.diff(located[order]) != 0]))
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
