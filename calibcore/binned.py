"""Statistics of the bins of a partition: counts, mean confidence, accuracy, gap, and what is made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from calibcore.partition import Closed, Partition, SharedTies, Strategy
from calibcore.poisson_binomial import Members, Rows, count_quantiles
from calibcore.proportions import IntervalMethod, binomial_interval, binomial_range, checked_level, finite_or_none
from calibcore.summation import split

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BinnedStatistics", "bin_rows", "bin_sums"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BinnedStatistics:
    """One row per bin, empty bins included.

    Attributes
    ----------
    edges : array of shape (bins + 1,)
    count : array of shape (bins,)
        Rows (a fraction only where weighted ties are shared).
    weight : array of shape (bins,)
        Sum of the weights.
    confidence, accuracy : arrays of shape (bins,)
        Weighted means; NaN in an empty bin.  In the positive view: mean probability and share of positives.
    n_effective : array of shape (bins,)
        (Σw)²/Σw² of each bin, fewer where rows of clusters go together: the sample size of its interval.
    closed, strategy, requested
        How the bins were made and how many were asked for.
    shared : bool
        Whether tied rows were divided between bins; then no interval exists.
    members : Members, optional
        The probabilities in the bins, by reference, from which `calibrated_range` is computed when asked for.

    Notes
    -----
    Gap = accuracy − confidence; negative means overconfident.  ECE and MCE describe this sample and this partition;
    they are not the population's calibration error, and both are biased: averaging within bins hides error, sampling
    noise adds to it (about Σ√(2·V_b/π)/n under calibration).

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), doi:10.1609/aaai.v29i1.9602.
    Guo, Pleiss, Sun & Weinberger (2017), arXiv:1706.04599.
    """

    edges: FloatArray
    count: NDArray[Any]
    weight: FloatArray
    confidence: FloatArray
    accuracy: FloatArray
    n_effective: FloatArray
    closed: Closed
    strategy: Strategy
    requested: int
    shared: bool = False
    members: Members | None = field(default=None, repr=False)
    _memo: dict[float, tuple[FloatArray, FloatArray]] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        bins = f"{len(self.count):,} {self.strategy} bin{'' if len(self.count) == 1 else 's'}, {self.used:,} filled"
        return f"<BinnedStatistics: {bins}, ECE {self.ece:.4g}, MCE {self.mce:.4g}>"

    def __post_init__(self) -> None:
        for name in ("edges", "count", "weight", "confidence", "accuracy", "n_effective"):
            getattr(self, name).flags.writeable = False

    @property
    def gap(self) -> FloatArray:
        """Accuracy − confidence of each bin; negative means overconfident, NaN where the bin is empty."""
        return self.accuracy - self.confidence

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which bins hold rows."""
        return self.weight > 0

    @property
    def used(self) -> int:
        """How many bins hold rows."""
        return int(np.count_nonzero(self.filled))

    @property
    def ece(self) -> float:
        """Expected calibration error: Σ (w_b/W)·|gap_b| over the bins that hold rows.

        Examples
        --------
        >>> import calibcore as cc
        >>> b = cc.bin_statistics([1, 1, 1, 0], [0.91, 0.92, 0.93, 0.11], n_bins=10)
        >>> round(b.ece, 12)
        0.0875
        """
        return self._mean(np.abs(self.gap))

    @property
    def mce(self) -> float:
        """Maximum calibration error: the largest |gap| of a bin that holds rows, however few."""
        return float(np.nanmax(np.abs(self.gap)))

    @property
    def mce_bin(self) -> int:
        """0-based index of the bin that attains `mce` (the first of equals)."""
        return int(np.nanargmax(np.abs(self.gap)))

    @property
    def rmsce(self) -> float:
        """Root mean square calibration error: √(Σ (w_b/W)·gap_b²)."""
        return float(np.sqrt(self._mean(self.gap**2)))

    def _mean(self, values: FloatArray) -> float:
        filled = self.filled
        return float(np.sum(self.weight[filled] / np.sum(self.weight) * values[filled]))

    def interval(self, level: float = 0.95, method: IntervalMethod = "wilson") -> tuple[FloatArray, FloatArray]:
        """Interval of each bin's accuracy.

        Parameters
        ----------
        level : float
            Confidence level, a fraction.
        method : {"wilson", "clopper_pearson", "jeffreys"}
            ``"wilson"`` covers the level on average, at times less; ``"clopper_pearson"`` never less, mostly more, if all
            rows have the same chance; ``"jeffreys"`` on average, as Wilson, with equal tails.

        Returns
        -------
        low, high : arrays of shape (bins,)
            NaN in empty bins, and everywhere if ties are shared.

        Raises
        ------
        InputError
            For a level that is no fraction, or an unknown method.

        Notes
        -----
        Assumes independent rows.  With weights the sample size is (Σw)²/Σw², which need not be whole.  Given the
        confidences, the number of right rows varies a little less than a binomial, so the intervals are slightly wide.

        References
        ----------
        Wilson (1927), doi:10.1080/01621459.1927.10502953; Clopper & Pearson (1934), doi:10.1093/biomet/26.4.404;
        Brown, Cai & DasGupta (2001), doi:10.1214/ss/1009213286.

        Examples
        --------
        >>> import calibcore as cc
        >>> b = cc.bin_statistics([1] * 7 + [0] * 3, [0.6] * 10, n_bins=1)
        >>> [round(float(end[0]), 4) for end in b.interval(method="jeffreys")]
        [0.3942, 0.9073]
        """
        level = checked_level(level)
        n = np.full(len(self.count), np.nan) if self.shared else self.n_effective
        return binomial_interval(self.accuracy * n, n, level, method)

    def calibrated_range(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Where each bin's accuracy would fall if the model were calibrated: the consistency bar about the diagonal.

        Parameters
        ----------
        level : float
            Share of calibrated samples that fall inside, a fraction.

        Returns
        -------
        low, high : arrays of shape (bins,)
            Quantiles (1 ∓ level)/2 of the share of right rows; NaN where `interval` is NaN.

        Notes
        -----
        A consistency range, not a confidence interval: it is drawn about the confidence, not the accuracy.  Given the
        confidences p of its rows, the number of right rows of a calibrated model is a sum of independent events of
        different probabilities (Poisson-binomial).  Its quantiles are exact up to 256 rows in a bin, and with equal
        confidences; beyond that they come from a binomial with the same mean, variance and skewness, off by at most one
        row.  Counts are whole, so more than ``level`` may fall inside.  Rows of unequal weight, and rows of clusters that go
        together, are an approximation: a binomial of ``n_effective`` rows, rounded, at the mean confidence; so are bins made
        from sums alone.

        References
        ----------
        Bröcker & Smith (2007), doi:10.1175/WAF993.1.

        Examples
        --------
        >>> import calibcore as cc
        >>> b = cc.bin_statistics([0, 0, 1], [0.15, 0.2, 0.35], n_bins=1)
        >>> [round(float(end[0]) * 3) for end in b.calibrated_range(0.9)]
        [0, 2]
        """
        level = checked_level(level)
        if self.shared:
            return self.interval(level)
        if level not in self._memo:
            self._memo[level] = self._calibrated_range(level)
        low, high = self._memo[level]
        return low.copy(), high.copy()

    def _calibrated_range(self, level: float) -> tuple[FloatArray, FloatArray]:
        low, high = binomial_range(self.n_effective, self.confidence, level)
        equal = np.abs(self.count - self.n_effective) <= 1e-9 * self.count  # rows of equal weight
        if self.members is None or not np.any(equal & self.filled):
            return low, high
        rows = np.where(equal, self.count, 0).astype(np.float64)
        ends = count_quantiles(self.members, rows, rows * self.confidence, ((1 - level) / 2, (1 + level) / 2))
        with np.errstate(invalid="ignore"):
            return np.where(equal, ends[0] / rows, low), np.where(equal, ends[1] / rows, high)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """As plain data: one list entry a bin, None where a bin is empty; ``interval`` is `interval` at the level.

        Examples
        --------
        >>> import calibcore as cc
        >>> cc.bin_statistics([1, 1, 1, 1], [0.75] * 4, n_bins=2).to_dict()["gap"]
        [None, 0.25]
        """
        ends = zip(*self.interval(level), strict=True)
        return {
            "strategy": self.strategy,
            "closed": self.closed,
            "requested": self.requested,
            "shared": self.shared,
            "used": self.used,
            "ece": self.ece,
            "mce": self.mce,
            "mce_bin": self.mce_bin,
            "rmsce": self.rmsce,
            **{k: getattr(self, k).tolist() for k in ("edges", "count", "weight")},
            **{k: [finite_or_none(x) for x in getattr(self, k)] for k in ("confidence", "accuracy", "gap", "n_effective")},
            "level": level,
            "interval": [None if np.isnan(low) else [float(low), float(high)] for low, high in ends],
        }

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """One dict a bin, as in the JSON and the CSV of bins."""
        ends = {name: self.interval(level, method=name) for name in get_args(IntervalMethod)}
        ends["chance"] = self.calibrated_range(level)
        named = {"interval" if name == "wilson" else name: pair for name, pair in ends.items()}
        return [
            {
                "lower": float(self.edges[i]),
                "upper": float(self.edges[i + 1]),
                "count": self.count[i].item(),
                **{k: finite_or_none(getattr(self, k)[i]) for k in ("confidence", "accuracy", "gap")},
                **{k: None if np.isnan(low[i]) else [float(low[i]), float(high[i])] for k, (low, high) in named.items()},
            }
            for i in range(len(self.count))
        ]

    def to_frame(self) -> pd.DataFrame:
        """One row per bin, as a pandas DataFrame (needs pandas)."""
        import pandas as pd

        low, high = self.interval()
        return pd.DataFrame(
            {
                "lower": self.edges[:-1],
                "upper": self.edges[1:],
                "count": self.count,
                "weight": self.weight,
                "confidence": self.confidence,
                "accuracy": self.accuracy,
                "gap": self.gap,
                "interval_low": low,
                "interval_high": high,
            }
        )


def bin_rows(
    partition: Partition,
    value: NDArray[Any],
    correct: NDArray[np.bool_],
    weight: FloatArray | None = None,
) -> BinnedStatistics:
    """Bins of rows, in one pass and without sorting."""
    index = partition.locate(value)
    m = partition.n_bins
    count = np.bincount(index, minlength=m)

    def per_bin(values: NDArray[Any]) -> FloatArray:
        parts = split(values.astype(np.float64)) if values.dtype.kind == "f" else (values,)
        sums: FloatArray = np.array([np.bincount(index, weights=p, minlength=m) for p in parts], dtype=np.float64)
        return np.asarray(sums.sum(axis=0))

    members = Rows(value, partition)
    if weight is None:
        return bin_sums(partition, count, count, per_bin(value), per_bin(correct), count, members=members)
    sums = (per_bin(w) for w in (weight, weight * value, weight * correct, weight**2))
    return bin_sums(partition, count, *sums, members=members)


def bin_sums(  # noqa: PLR0913 - one sum each
    partition: Partition | SharedTies,
    count: NDArray[Any],
    weight: NDArray[Any],
    confidence: FloatArray,
    positive: FloatArray,
    weight_squared: NDArray[Any],
    *,
    members: Members | None = None,
) -> BinnedStatistics:
    """Bins from the sums of rows, weights, weight × confidence, weight × outcome and squared weights; each (bins,)."""
    shared = isinstance(partition, SharedTies)
    whole = np.rint(count)
    if np.all(np.abs(count - whole) < 1e-6):
        count = whole.astype(np.int64)
    weight = np.asarray(weight, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return BinnedStatistics(
            partition.edges,
            count,
            weight,
            np.where(weight > 0, confidence / weight, np.nan),
            np.where(weight > 0, positive / weight, np.nan),
            np.where(weight > 0, weight**2 / weight_squared, 0.0),
            partition.closed,
            partition.strategy,
            partition.requested,
            shared,
            members,
        )
