"""Sums of bins straight from the rows, in plain NumPy: what the answers are checked against."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

BINS = (7, 10, 15, 97, 100)
VIEWS = ("positive", "top_label")


def bin_of(p, bins):
    """Bin of each row: (a, b], the first also with 0, edges k/M in the precision of the data."""
    return np.searchsorted((np.arange(1, bins) / bins).astype(p.dtype), p, side="left")


def ece(y, p, bins):
    """Σ|Σ(y − p)| of the bins, over n."""
    residual = np.bincount(bin_of(p, bins), weights=y - p.astype(np.float64))
    return float(np.abs(residual).sum() / len(p))


def top_label(label, matrix):
    """Whether the first of the largest was right, and its probability."""
    first = np.argmax(matrix, axis=1)
    return first == label, matrix[np.arange(len(matrix)), first]


def equal_mass_ece(y, p, bins):
    """The same over bins that end at ranks ⌈k·n/M⌉ of the sorted rows; no two rows are equal."""
    order = np.argsort(p, kind="stable")
    residual = (y - p)[order]
    ends = [-(-k * len(p) // bins) for k in range(bins + 1)]
    return sum(abs(float(residual[a:b].sum())) for a, b in pairwise(ends)) / len(p)


def isotonic_loss(y, p):
    """Mean of (y − fit)², the fit by pooling neighbours that are in the wrong order; no two rows are equal."""
    blocks: list[tuple[int, int]] = []  # positives and rows
    for one in y[np.argsort(p, kind="stable")].tolist():
        positive, rows = one, 1
        while blocks and blocks[-1][0] * rows >= positive * blocks[-1][1]:
            more, others = blocks.pop()
            positive, rows = positive + more, rows + others
        blocks.append((positive, rows))
    share, rows = np.array([a / b for a, b in blocks]), np.array([b for _, b in blocks])
    return float(np.sum(rows * share * (1 - share)) / len(y))  # Σ(y − s)² of a block with share s is n·s(1 − s)


def of_rows(y, p):
    """By view and number of bins: rows, Σconfidence and rows that were right, of each bin; three lists."""
    found = {}
    for view in VIEWS:
        value, right = (p, y) if view == "positive" else (np.maximum(p, 1 - p), (p > 0.5) == y)
        found[view] = {str(m): _sums(value, right, m) for m in BINS}
    return found


def _sums(value, right, bins):
    at = bin_of(value, bins)
    return np.array([np.bincount(at, weights=w, minlength=bins) for w in (None, value, right)])


def added(one, other):
    """What the rows of both give."""
    return {view: {m: one[view][m] + other[view][m] for m in one[view]} for view in one}


def of_profile(profile):
    """The same of a profile, for the one view that it holds, as plain data."""
    from calibcore import Partition

    found = {}
    for m in BINS:
        b = profile.bin(Partition.equal_width(m))
        sums = [b.count, np.nan_to_num(b.count * b.confidence), np.nan_to_num(b.count * b.accuracy)]
        found[str(m)] = [np.asarray(s).tolist() for s in sums]
    return {"view": profile.view, "sums": found}


def check_profile(found, expected):
    """Counts equal, sums to 1e-12 of their size."""
    for m, sums in expected[found["view"]].items():
        count, confidence, right = found["sums"][m]
        assert count == sums[0].tolist()
        np.testing.assert_allclose(confidence, sums[1], rtol=1e-12)
        np.testing.assert_allclose(right, sums[2], rtol=1e-12)
