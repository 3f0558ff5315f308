"""An independent reference in exact fractions and plain loops, and the worked data set D; knows nothing of calibcore."""

from fractions import Fraction

# Data set D: ten rows, probabilities k/20; 1/5 … of them lie on edges of five bins on purpose (4/20, 8/20, 16/20).
D_P = [Fraction(k, 20) for k in (1, 3, 4, 7, 8, 11, 13, 16, 18, 19)]
D_Y = [0, 0, 1, 0, 1, 0, 1, 1, 1, 1]


def floats(values):
    """Each fraction as its nearest double."""
    return [float(v) for v in values]


def equal_width(m):
    return [Fraction(k, m) for k in range(m + 1)]


def bin_of(value, edges, closed="right"):
    """Bins (a, b], the first also with its lower edge; "left": [a, b), the last also with its upper edge."""
    last = len(edges) - 2
    for b in range(last + 1):
        low, high = edges[b], edges[b + 1]
        inside = low < value <= high if closed == "right" else low <= value < high
        if inside or (closed == "right" and b == 0 and value == low) or (closed == "left" and b == last and value == high):
            return b
    raise ValueError(value)


def sums(ps, ys, edges, closed="right", weights=None):
    """[Σw, Σw·p, Σw·y] of each bin, empty ones too."""
    rows = [[Fraction(0), Fraction(0), Fraction(0)] for _ in edges[1:]]
    for p, y, w in zip(ps, ys, weights or [1] * len(ps), strict=True):
        row = rows[bin_of(p, edges, closed)]
        row[0] += w
        row[1] += w * p
        row[2] += w * y
    return rows


def gaps(rows):
    """(share, accuracy − confidence) of the filled bins."""
    whole = sum(r[0] for r in rows)
    return [(w / whole, (sy - sp) / w) for w, sp, sy in rows if w]


def ece(rows):
    return sum(share * abs(gap) for share, gap in gaps(rows))


def mce(rows):
    return max(abs(gap) for _, gap in gaps(rows))


def msce(rows):
    """Mean square gap; RMSCE is its root."""
    return sum(share * gap * gap for share, gap in gaps(rows))


def ranks(n, m):
    """r_k = the smallest whole number that is at least k·n/M, for k = 0..M."""
    out = []
    for k in range(m + 1):
        r = 0
        while r * m < k * n:
            r += 1
        out.append(r)
    return out


def equal_mass_edges(ps, m):
    """Edges of equal-mass bins, ties together: the r_k-th smallest values, duplicates merged, from 0 to 1."""
    rising = sorted(ps)
    uppers = []
    for r in ranks(len(ps), m)[1:]:
        v = rising[r - 1]
        if not uppers or v > uppers[-1]:
            uppers.append(v)
    return [Fraction(0), *uppers[:-1], Fraction(1)]


def weighted_mass_edges(ps, weights, m):
    """The same with weights: the smallest value whose cumulative weight reaches (k/M)·W."""
    whole = sum(weights)
    uppers = []
    for k in range(1, m + 1):
        v = min(v for v in ps if sum(w for p, w in zip(ps, weights, strict=True) if p <= v) >= Fraction(k, m) * whole)
        if not uppers or v > uppers[-1]:
            uppers.append(v)
    return [Fraction(0), *uppers[:-1], Fraction(1)]


def shared_sums(ps, ys, m):
    """[Σ1, Σp, Σy] of equal-mass bins of exact size; a tied block is divided in proportion."""
    cuts = ranks(len(ps), m)
    rows = [[Fraction(0), Fraction(0), Fraction(0)] for _ in range(m)]
    before = 0
    for v in sorted(set(ps)):
        block = [y for p, y in zip(ps, ys, strict=True) if p == v]
        size = len(block)
        for b in range(m):
            overlap = max(0, min(before + size, cuts[b + 1]) - max(before, cuts[b]))
            share = Fraction(overlap, size)
            rows[b][0] += overlap
            rows[b][1] += overlap * v
            rows[b][2] += share * sum(block)
        before += size
    return rows
