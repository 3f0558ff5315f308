"""Words and number formats that charts, tables and tooltips share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibcore.advice.verdict import percent, points
from calibcore.binned import BinnedStatistics
from calibcore.checks import percent_text
from calibcore.inference.comparison import Pairing
from calibcore.inference.intervals import Estimate

__all__ = [
    "FEW_ROWS",
    "SHORT",
    "Ranges",
    "ViewWords",
    "bin_range",
    "bin_table_row",
    "difference",
    "edge_texts",
    "interval_words",
    "level_percent",
    "listed",
    "p_words",
    "pairing_text",
    "share",
    "shortened",
    "tooltip",
    "view_words",
]

FEW_ROWS = 30  # below this a bin is drawn hollow and called "few rows"
_FINEST = 9  # decimals of what is nearly 0
SHORT = 18  # letters of a name on a picture


@dataclass(frozen=True, slots=True)
class ViewWords:
    """How one view is spoken of; ``over`` and ``under`` are what a negative and a positive gap are called."""

    title: str
    predicted: str
    observed: str
    predicted_title: str
    observed_title: str
    happened: str
    over: str = "probability too high"
    under: str = "probability too low"


def view_words(view: str, *, positive: str | None = None) -> ViewWords:
    """Words for a view of a model.

    Examples
    --------
    >>> view_words("top_label").happened
    'right'
    """
    if view == "top_label":
        said = ("Confidence", "confidence", "accuracy", "Confidence", "Accuracy (share that was right)", "right")
        return ViewWords(*said, "overconfident", "underconfident")
    if view == "positive":
        of = f" of {positive}" if positive else ""
        return ViewWords(
            "Positive class",
            "probability",
            "share",
            f"Predicted probability{of}",
            f"Share of positives{of and f' ({positive})'}",
            "happened",
        )
    name = view.removeprefix("class:")
    return ViewWords(f"Class {name}", "probability", "share", f"Predicted probability of {name}", f"Share that was {name}", "happened")


def share(value: float) -> str:
    """A share as every page writes it: 0.786 → "78.6%", 0.99996 → "99.996%"."""
    return percent_text(float(value))


def shortened(text: str, most: int = SHORT) -> str:
    """A name as it stands on a picture: whole up to ``most`` letters, else cut.

    Examples
    --------
    >>> shortened("gradient-boosting-v12")
    'gradient-boosting…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def difference(value: float, *, in_points: bool = False) -> str:
    """A signed difference: "+0.0123", in points "−1.2"; one digit where four decimals would make 0 of what is none."""
    if in_points:
        return points(value, signed=True)
    decimals = next((d for d in range(4, _FINEST) if round(abs(value), d)), None)
    return "0.0000" if decimals is None else f"{value:+.{decimals}f}".replace("-", "−")


def interval_words(estimate: Estimate, *, in_points: bool = False) -> str | None:
    """An interval of a difference: "−0.0150 to −0.0096"; None where there is none."""
    if estimate.low is None or estimate.high is None:
        return None
    return f"{difference(estimate.low, in_points=in_points)} to {difference(estimate.high, in_points=in_points)}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names one after another, the first few of many: "a, b, c, d and 3 more"."""
    more = len(names) - most
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:most])} and {more} more"


def pairing_text(pairing: Pairing) -> str:
    """Which rows of two models were compared, and why these: "4,000 rows, paired by id"."""
    if not pairing.paired:
        return "not paired: a profile has no rows" if pairing.how == "no rows" else "not paired: different rows"
    left = pairing.only_first + pairing.only_second
    how = "row order (no shared ids, labels agree)" if pairing.how == "row order" else pairing.how
    return f"{pairing.n_common:,} rows, paired by {how}" + (f"; {left:,} only in one" if left else "")


def p_words(p: float) -> str:
    """A p-value of a formula, in a sentence: "p = 0.012", "p ≤ 0.001"."""
    return "p ≤ 0.001" if p <= 0.001 else f"p = {p:.2g}"


def level_percent(level: float) -> str:
    """A level as text: 0.95 → "95%"."""
    return f"{100 * level:g}%"


def edge_texts(edges: np.ndarray) -> tuple[str, ...]:
    """Edges in percent, with just enough decimals (one to six) to tell neighbours apart.

    Examples
    --------
    >>> edge_texts(np.array([0, 0.5, 0.9333, 1]))
    ('0', '50', '93.3', '100')
    """
    for digits in (1, 2, 3, 4, 5, 6):
        texts = [f"{100 * e:.{digits}f}".rstrip("0").rstrip(".") for e in edges.tolist()]
        distinct = len(set(edges.tolist()))
        if len(set(texts)) == distinct:
            break
    return tuple(texts)


def bin_range(bins: BinnedStatistics, i: int) -> str:
    """A bin in words: "90–95%"."""
    low, high = edge_texts(bins.edges)[i : i + 2]
    return f"{low}%" if low == high else f"{low}–{high}%"


def _inequality(bins: BinnedStatistics, i: int, name: str) -> str:
    low, high = edge_texts(bins.edges)[i : i + 2]
    right = bins.closed == "right"
    first = "≤" if i == 0 or not right else "<"
    last = "≤" if right or i == len(bins.count) - 1 else "<"
    return f"{low}% {first} {name} {last} {high}%"


def _happened(bins: BinnedStatistics, i: int, word: str, *, weighted: bool) -> str:
    n = bins.count[i].item()
    if weighted or bins.shared:
        return f"{word} {share(bins.accuracy[i])} ({n:,.0f} rows, weighted)"
    return f"{word} {bins.accuracy[i] * n:,.0f} of {n:,} = {share(bins.accuracy[i])}"


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ends of each bin's interval and calibrated range, computed once for all words of a chart; (bins,) each."""

    level: float
    interval: tuple[np.ndarray, np.ndarray]
    calibrated: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, bins: BinnedStatistics, level: float) -> Ranges:
        """Both ranges of the bins."""
        return cls(level, bins.interval(level), bins.calibrated_range(level))

    def text(self, ends: tuple[np.ndarray, np.ndarray], i: int) -> str | None:
        """One range: "73.9 to 82.6%"; None where there is none."""
        low, high = float(ends[0][i]), float(ends[1][i])
        return f"{100 * low:.1f} to {share(high)}" if np.isfinite(low) else None


def tooltip(bins: BinnedStatistics, i: int, words: ViewWords, ranges: Ranges, *, weighted: bool) -> tuple[str, ...]:
    """Everything about one bin that holds rows, one line each; ``weighted`` where a share of its rows is no number of them."""
    interval, calibrated = ranges.text(ranges.interval, i), ranges.text(ranges.calibrated, i)
    lines = (
        _inequality(bins, i, words.predicted),
        f"says {share(bins.confidence[i])} on average",
        _happened(bins, i, words.happened, weighted=weighted),
        interval and f"{level_percent(ranges.level)} Wilson interval {interval}",
        f"gap {difference(float(bins.gap[i]), in_points=True)} points",
        calibrated and f"a calibrated model: {calibrated}",
        f"{share(bins.weight[i] / bins.weight.sum())} of rows" + (", few rows" if bins.count[i] < FEW_ROWS else ""),
    )
    return tuple(line for line in lines if line)


def bin_table_row(bins: BinnedStatistics, i: int, ranges: Ranges) -> tuple[str, ...]:
    """Range, rows, share of rows, says, observed, gap, interval, range if calibrated; dashes where there are no rows."""
    n = bins.count[i].item()
    if not bins.filled[i]:
        return (bin_range(bins, i), "0", "0%", "–", "–", "–", "–", "–")
    return (
        bin_range(bins, i),
        f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}",
        percent(float(bins.weight[i] / bins.weight.sum())),
        share(bins.confidence[i]),
        share(bins.accuracy[i]),
        difference(float(bins.gap[i]), in_points=True),
        ranges.text(ranges.interval, i) or "–",
        ranges.text(ranges.calibrated, i) or "–",
    )
