"""Every statistic once more, from its definition, in exact fractions and plain loops over rows."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import reference as ref
from hypothesis import given, settings
from hypothesis import strategies as st

import calibcore as cc
from calibcore.inference.classical import calibration_ratio, hosmer_lemeshow, spiegelhalter
from calibcore.inference.intervals import mean_gap
from calibcore.inference.t_cal import t_cal
from calibcore.measures.cumulative import cumulative
from calibcore.measures.decisions import threshold_panel
from calibcore.measures.decomposition import corp
from calibcore.measures.kernel import kde_error, kernel_error
from calibcore.measures.monotonic_sweep import monotonic_sweep
from calibcore.measures.multiclass import multiclass, top_label_error
from calibcore.measures.murphy import murphy
from calibcore.measures.risk_coverage import risk_coverage
from calibcore.measures.skill import skill
from calibcore.measures.smooth import smoothed_error
from calibcore.measures.squared_error import squared_error
from calibcore.partition import Partition

EXACT = 1e-13  # a few roundings of double precision
BINS = (1, 2, 5, 7)


@st.composite
def samples(draw, *, weighted=True):
    """(p, y, w) of rows: probabilities k/20, also 0 and 1, whole weights from 1 to 4 or none."""
    rows = draw(st.lists(st.tuples(st.integers(0, 20), st.booleans(), st.integers(1, 4)), min_size=1, max_size=25))
    with_weights = weighted and draw(st.booleans())
    return [Fraction(k, 20) for k, _, _ in rows], [int(y) for _, y, _ in rows], [w if with_weights else 1 for _, _, w in rows], with_weights


def profile_of(sample):
    p, y, w, weighted = sample
    return cc.Predictions.from_arrays(y, ref.floats(p), sample_weight=w if weighted else None).profile("positive")


def close(found, wanted, tolerance=EXACT):
    assert found == pytest.approx(float(wanted), abs=tolerance, rel=tolerance)


def mean(values, w):
    return sum(v * k for v, k in zip(values, w, strict=True)) / Fraction(sum(w))


def pooled(p, y, w):
    """The never-falling fit by pool adjacent violators, one block of equal scores at a time: value of each row."""
    blocks = []
    for v in sorted(set(p)):
        rows = [i for i in range(len(p)) if p[i] == v]
        blocks.append([Fraction(sum(w[i] for i in rows)), Fraction(sum(w[i] * y[i] for i in rows)), [v]])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][0] >= blocks[-1][1] * blocks[-2][0]:
            weight, events, values = blocks.pop()
            blocks[-1] = [blocks[-1][0] + weight, blocks[-1][1] + events, blocks[-1][2] + values]
    at = {v: events / weight for weight, events, values in blocks for v in values}
    return [at[v] for v in p]


def brier(p, y, w):
    return mean([(a - b) ** 2 for a, b in zip(p, y, strict=True)], w)


def log_loss(p, y, w):
    return mean([-math.log(max(float(a if b else 1 - a), 2.0**-52)) for a, b in zip(p, y, strict=True)], w)


@given(samples())
def test_corp_is_what_pooling_by_hand_gives(sample):
    p, y, w, _ = sample
    found, fit, base = corp(profile_of(sample)), pooled(p, y, w), [mean(y, w)] * len(y)
    close(found.score, brier(p, y, w))
    close(found.mcb, brier(p, y, w) - brier(fit, y, w))
    close(found.dsc, brier(base, y, w) - brier(fit, y, w))
    close(found.unc, brier(base, y, w))
    close(found.log.score, log_loss(p, y, w), 1e-12)
    close(found.log.mcb, log_loss(p, y, w) - log_loss(fit, y, w), 1e-12)
    close(found.log.dsc, log_loss(base, y, w) - log_loss(fit, y, w), 1e-12)
    at = dict(zip(p, fit, strict=True))
    assert found.curve.fitted.tolist() == pytest.approx([float(at[v]) for v in sorted(at)], abs=EXACT)


@given(samples())
def test_skill_is_one_less_the_ratio_of_scores(sample):
    p, y, w, _ = sample
    found, base = skill(profile_of(sample)), [mean(y, w)] * len(y)
    if len(set(y)) == 1:
        assert (found.brier, found.log_loss) == (None, None)
        return
    close(found.brier, 1 - brier(p, y, w) / brier(base, y, w), 1e-12)
    close(found.log_loss, 1 - log_loss(p, y, w) / log_loss(base, y, w), 1e-11)


@given(samples(), st.sampled_from(BINS), st.sampled_from(["right", "left"]))
def test_murphy_from_the_rows_of_each_bin(sample, m, closed):
    p, y, w, _ = sample
    edges = ref.equal_width(m)
    # k/20 and k/7 are never equal but at the ends, k/5 and k/20 often are, and both sides know that exactly
    bins = [ref.bin_of(v, edges, closed) for v in p]
    rows = ref.sums(p, y, edges, closed, w)
    base, whole = mean(y, w), sum(w)
    rel = sum((sp - sy) ** 2 / W for W, sp, sy in rows if W) / whole
    res = sum((sy / W - base) ** 2 * W for W, _, sy in rows if W) / whole
    wbv = sum(k * (a - rows[b][1] / rows[b][0]) ** 2 for a, b, k in zip(p, bins, w, strict=True)) / whole
    wbc = sum(k * (a - rows[b][1] / rows[b][0]) * (e - rows[b][2] / rows[b][0]) for a, e, b, k in zip(p, y, bins, w, strict=True)) / whole
    found = murphy(profile_of(sample), Partition.equal_width(m, closed))
    for name, wanted in {"rel": rel, "res": res, "unc": base * (1 - base), "wbv": wbv, "wbc": 2 * wbc, "brier": brier(p, y, w)}.items():
        close(getattr(found, name), wanted)
    assert rel - res + base * (1 - base) + wbv - 2 * wbc == brier(p, y, w)  # the five terms are the score


@given(samples(), st.sampled_from(BINS))
def test_the_unbiased_squared_error_is_the_mean_over_pairs_of_rows(sample, m):
    p, y, w, _ = sample
    edges, value, plug_in = ref.equal_width(m), Fraction(0), Fraction(0)
    for b in range(m):
        rows = [(k, e - a) for a, e, k in zip(p, y, w, strict=True) if ref.bin_of(a, edges) == b]
        pairs = [(k * j, k * r * j * s) for x, (k, r) in enumerate(rows) for z, (j, s) in enumerate(rows) if x != z]
        share = Fraction(sum(k for k, _ in rows), sum(w))
        if rows:
            plug_in += share * (sum(k * r for k, r in rows) / sum(k for k, _ in rows)) ** 2
        if pairs:
            value += share * sum(a for _, a in pairs) / sum(a for a, _ in pairs)
    found = squared_error(profile_of(sample), Partition.equal_width(m))
    close(found.value, value, 1e-12)
    close(found.plug_in, plug_in)


@given(samples())
def test_cumulative_differences_from_every_run_of_scores(sample):
    p, y, w, _ = sample
    scores, whole = sorted(set(p)), sum(w)
    step = {v: sum(k * (e - a) for a, e, k in zip(p, y, w, strict=True) if a == v) / Fraction(whole) for v in scores}
    runs = [sum(step[v] for v in scores[i:j]) for i in range(len(scores)) for j in range(i + 1, len(scores) + 1)]
    heads = [sum(step[v] for v in scores[:j]) for j in range(1, len(scores) + 1)]
    found = cumulative(profile_of(sample))
    close(found.range, max(abs(r) for r in runs))
    close(found.mad, max(abs(h) for h in heads))
    close(found.sigma**2, sum(k * k * a * (1 - a) for a, k in zip(p, w, strict=True)) / Fraction(whole**2))
    if found.sign:
        inside = sum(step[v] for v in scores if found.interval[0] <= float(v) <= found.interval[1])
        close(abs(float(inside)), found.range)
        assert (inside > 0) == (found.sign > 0)


@given(samples(), st.integers(0, 20), st.sampled_from(["right", "left"]), st.sampled_from(["positive", "top_label"]))
def test_the_threshold_panel_counts_rows(sample, k, closed, view):
    p, y, w, weighted = sample
    model = cc.Predictions.from_arrays(y, ref.floats(p), sample_weight=w if weighted else None)
    if view == "top_label":
        p, y = [max(a, 1 - a) for a in p], [int((a > Fraction(1, 2)) == e) for a, e in zip(p, y, strict=True)]
    t = Fraction(k, 20)
    acted = [a > t if closed == "right" else a >= t for a in p]
    found = threshold_panel(model.profile(view), float(t), closed=closed, cost_error=5, cost_review=2)
    for side, here in ((found.acted, True), (found.below, False)):
        rows = [i for i in range(len(p)) if acted[i] == here]
        missed = view == "positive" and not here
        close(side.weight, sum(w[i] for i in rows))
        assert side.count == len(rows)
        close(side.errors_expected, sum(w[i] * (p[i] if missed else 1 - p[i]) for i in rows))
        close(side.errors_found, sum(w[i] * (y[i] if missed else 1 - y[i]) for i in rows))
        close(side.n_effective, Fraction(sum(w[i] for i in rows) ** 2, max(1, sum(w[i] ** 2 for i in rows))))
    wrong = sum(w[i] * (1 - y[i]) for i in range(len(p)) if acted[i])
    close(found.cost.found, 5 * wrong + 2 * sum(w[i] for i in range(len(p)) if not acted[i]))


@given(samples())
def test_risk_and_coverage_from_the_largest_score_down(sample):
    p, y, w, _ = sample
    points, whole = [], sum(w)
    for v in sorted(set(p), reverse=True):
        rows = [i for i in range(len(p)) if p[i] >= v]
        weight = sum(w[i] for i in rows)
        points.append(
            (Fraction(weight, whole), Fraction(sum(w[i] * (1 - y[i]) for i in rows), weight), sum(w[i] * (1 - p[i]) for i in rows) / weight)
        )
    found = risk_coverage(profile_of(sample))
    for name, wanted in zip(("coverage", "risk", "expected_risk"), zip(*points, strict=True), strict=True):
        assert getattr(found, name).tolist() == pytest.approx(ref.floats(wanted), abs=EXACT)
    area, before = Fraction(0), (Fraction(0), points[0][1])
    for c, r, _ in points:
        area, before = area + (c - before[0]) * (r + before[1]) / 2, (c, r)
    close(found.area, area)


@st.composite
def several(draw, least=3):
    """(matrix, labels, weights): rows of K whole numbers, divided by their sum."""
    k = draw(st.integers(least, 5))
    row = st.lists(st.integers(0, 6), min_size=k, max_size=k).filter(any)
    matrix = [[Fraction(a, sum(r)) for a in r] for r in draw(st.lists(row, min_size=1, max_size=15))]
    labels = draw(st.lists(st.integers(0, k - 1), min_size=len(matrix), max_size=len(matrix)))
    return matrix, labels, draw(st.lists(st.integers(1, 3), min_size=len(matrix), max_size=len(matrix)))


def model_of(several_rows):
    matrix, labels, w = several_rows
    return cc.Predictions.from_arrays(labels, [ref.floats(r) for r in matrix], sample_weight=w)


@given(several(), st.sampled_from([1, 2, 11]))  # 11: no k/11 is a quotient of such rows, but where rounding cannot matter
def test_top_label_error_is_the_mean_over_predicted_classes(rows, m):
    matrix, labels, w = rows
    confidence, predicted = [max(r) for r in matrix], [r.index(max(r)) for r in matrix]
    right = [int(a == b) for a, b in zip(predicted, labels, strict=True)]
    edges, whole, wanted = ref.equal_width(m), sum(w), Fraction(0)
    for c in set(predicted):
        of = [i for i in range(len(w)) if predicted[i] == c]
        parts = ([x[i] for i in of] for x in (confidence, right, w))
        p, y, k = parts
        wanted += Fraction(sum(k), whole) * ref.ece(ref.sums(p, y, edges, weights=k))
    found = top_label_error(model_of(rows), n_bins=m)
    close(found.value, wanted, 1e-12)
    close(found.confidence_ece, ref.ece(ref.sums(confidence, right, edges, weights=w)), 1e-12)


@given(several(), st.sampled_from([1, 2]))
def test_static_and_adaptive_errors_are_means_over_classes(rows, m):
    matrix, labels, w = rows
    k, sce, ace, tace = len(matrix[0]), Fraction(0), Fraction(0), Fraction(0)
    for c in range(k):
        p, y = [r[c] for r in matrix], [int(a == c) for a in labels]
        sce += ref.ece(ref.sums(p, y, ref.equal_width(m), weights=w)) / k
        ace += _adaptive(p, y, w, m) / k
        upper = [i for i in range(len(p)) if p[i] > Fraction(1, 4)]
        tace += _adaptive(*([x[i] for i in upper] for x in (p, y, w)), m) / k if upper else 0
    found = multiclass(model_of(rows), n_bins=m, threshold=0.25)
    close(found.sce, sce, 1e-12)
    close(found.ace, ace, 1e-12)
    close(found.tace, tace, 1e-12)


def _adaptive(p, y, w, m):
    """Mean |gap| of ranges that end at the smallest value whose weight from below is (k/m)·W; equal values together."""
    whole, ends = sum(w), []
    for k in range(1, m + 1):
        end = min(v for v in p if sum(b for a, b in zip(p, w, strict=True) if a <= v) * m >= k * whole)
        if not ends or end > ends[-1]:
            ends.append(end)
    found, low = [], Fraction(-1)
    for high in ends:
        rows = [i for i in range(len(p)) if low < p[i] <= high]
        found.append(abs(sum(w[i] * (y[i] - p[i]) for i in rows)) / sum(w[i] for i in rows))
        low = high
    return sum(found) / len(found)


@given(samples(weighted=False))
def test_the_sweep_ends_before_the_first_fall(sample):
    p, y, _, _ = sample
    best = 1
    for m in range(2, 60):
        if len(set(ref.equal_mass_edges(p, best))) - 1 > len(set(p)):
            break
        rows = [r for r in ref.sums(p, y, _mass(p, m)) if r[0]]
        rates = [sy / n for n, _, sy in rows]
        if any(b < a for a, b in pairwise(rates)):
            break
        best = m
    else:
        return  # no fall: how far a search goes that nothing stops is a convention
    found = monotonic_sweep(profile_of(sample))
    if found.bounded:  # every score had its own bin before
        assert found.used == len(set(p))
        return
    assert found.n_bins == best
    close(found.value, ref.ece(ref.sums(p, y, _mass(p, best))))


def _mass(p, m):
    """Upper edges of equal-mass bins; the first bin takes everything from 0."""
    return ref.equal_mass_edges(p, m)


@given(samples())
def test_kernel_error_over_all_pairs_of_rows(sample):
    p, y, w, _ = sample
    r = [(e - float(a)) * k for a, e, k in zip(p, y, w, strict=True)]
    kernel = [[math.exp(-abs(float(a - b)) / 0.4) for b in p] for a in p]
    every = sum(r[i] * r[j] * kernel[i][j] for i in range(len(r)) for j in range(len(r)))
    other = every - sum(a * a for a in r)
    found, whole, squares = kernel_error(profile_of(sample)), sum(w), sum(k * k for k in w)
    close(found.biased, every / whole**2, 1e-12)
    if len(p) > 1:
        close(found.unbiased, other / (whole**2 - squares), 1e-11)


@given(samples(weighted=False).filter(lambda s: len(s[0]) > 1 and not {Fraction(0), Fraction(1)} & set(s[0])))
def test_kernel_density_error_row_by_row(sample):
    p, y, _, _ = sample
    h, total = 0.2, 0.0
    for i, at in enumerate(ref.floats(p)):
        density = []
        for j, centre in enumerate(ref.floats(p)):
            a, b = centre / h + 1, (1 - centre) / h + 1
            size = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)) * at ** (a - 1) * (1 - at) ** (b - 1)
            density.append(0.0 if i == j else size)
        total += abs(sum(d * e for d, e in zip(density, y, strict=True)) / sum(density) - at)
    close(kde_error(profile_of(sample), bandwidth=h), total / len(p), 1e-10)


@settings(max_examples=25)
@given(samples())
def test_smooth_error_by_a_midpoint_rule_over_images_of_the_scores(sample):
    p, y, w, _ = sample
    s, t, whole = 0.15, (np.arange(4000) + 0.5) / 4000, sum(w)
    curve = np.zeros_like(t)
    for a, e, k in zip(ref.floats(p), y, w, strict=True):
        for image in (c + 2 * turn for turn in (-2, -1, 0, 1, 2) for c in (a, -a)):
            curve += k * (e - a) / whole * np.exp(-(((t - image) / s) ** 2) / 2) / (s * math.sqrt(2 * math.pi))
    close(smoothed_error(profile_of(sample), s), np.mean(np.abs(curve)), 2e-5)  # 4,000 points, and the grid of the code


@given(samples())
def test_ratio_gap_and_spiegelhalter_from_the_rows(sample):
    p, y, w, _ = sample
    profile, whole = profile_of(sample), sum(w)
    expected = sum(k * a for a, k in zip(p, w, strict=True))
    if expected:
        close(calibration_ratio(profile).value, sum(k * e for e, k in zip(y, w, strict=True)) / expected, 1e-12)
    close(mean_gap(profile).value, sum(k * (e - a) for a, e, k in zip(p, y, w, strict=True)) / Fraction(whole))
    score = sum(k * (e - a) * (1 - 2 * a) for a, e, k in zip(p, y, w, strict=True))
    variance = sum(k * k * (1 - 2 * a) ** 2 * a * (1 - a) for a, k in zip(p, w, strict=True))
    if variance:
        close(spiegelhalter(profile).z, float(score) / math.sqrt(variance), 1e-11)


@given(samples(weighted=False), st.integers(1, 4))
def test_hosmer_lemeshow_from_the_groups(sample, groups):
    p, y, _, _ = sample
    rows = [r for r in ref.sums(p, y, _mass(p, groups)) if r[0]]
    parts = [((sy - sp) ** 2, sp / n * (1 - sp / n) * n) for n, sp, sy in rows]
    found = hosmer_lemeshow(profile_of(sample), groups=groups)
    assert (found.groups, found.df) == (len(rows), len(rows))
    if all(variance for _, variance in parts):
        close(found.statistic, sum(square / variance for square, variance in parts), 1e-11)


@given(samples(weighted=False).filter(lambda s: len(s[0]) > 1))
def test_the_statistics_of_t_cal_from_pairs_of_rows(sample):
    p, y, _, _ = sample
    found = t_cal(profile_of(sample), draws=100)
    for m, statistic in zip(found.n_bins[:4], found.statistic, strict=False):
        wanted = Fraction(0)
        for b in range(m):
            r = [e - a for a, e in zip(p, y, strict=True) if ref.bin_of(a, ref.equal_width(m)) == b]
            wanted += sum(r[i] * r[j] for i in range(len(r)) for j in range(len(r)) if i != j) / max(1, len(r))
        close(statistic, wanted / len(p), 1e-12)


def test_cox_satisfies_the_equations_of_the_largest_likelihood():
    # Σ(y − μ) = 0 and Σ(y − μ)·logit p = 0 with μ = logistic(intercept + slope·logit p): what defines the fit.
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = int(rng.integers(20, 200))
        p = rng.integers(1, 20, n) / 20
        y, w = (rng.random(n) < p * 0.8 + 0.1).astype(int), rng.integers(1, 4, n)
        fit = cc.cox(cc.Predictions.from_arrays(y, p, sample_weight=w).profile("positive"))
        assert fit.problem is None
        logit = np.log(p / (1 - p))
        fitted = 1 / (1 + np.exp(-(fit.intercept.value + fit.slope.value * logit)))
        assert abs(np.sum(w * (y - fitted))) < 1e-7
        assert abs(np.sum(w * (y - fitted) * logit)) < 1e-7
        inverse = np.linalg.inv([[np.sum(w * fitted * (1 - fitted) * a * b) for a in (1, logit)] for b in (1, logit)])
        middle = np.array([[np.sum(w**2 * fitted * (1 - fitted) * a * b) for a in (1, logit)] for b in (1, logit)])
        errors = np.sqrt(np.diag(inverse @ middle @ inverse))
        assert (fit.intercept.error, fit.slope.error) == pytest.approx(tuple(errors), rel=1e-6)


def test_the_change_between_periods_by_weighted_least_squares():
    # Three periods of 40 rows at 0.5 with 20, 24 and 30 right: g = 0, 0.1, 0.25; common gap 7/60, q = 37/60, V = q(1 − q)/40;
    # Q = Σ(g − ḡ)²/V; slope on 0, 1, 2: (g₃ − g₁)/2 = 1/8 with error √(V/2).  Spread about the own gaps is below V: φ = 1.
    right = [1] * 20 + [0] * 20 + [1] * 24 + [0] * 16 + [1] * 30 + [0] * 10
    model = cc.Predictions.from_top_label([0.5] * 120, right, time=[2001] * 40 + [2002] * 40 + [2003] * 40)
    found = cc.by_period(model, minimum=20)
    g, v = [Fraction(0), Fraction(1, 10), Fraction(1, 4)], Fraction(37, 60) * Fraction(23, 60) / 40
    spread = (
        sum(Fraction(a, 40) * Fraction(40 - a, 40) for a in (20, 24, 30)) / 3 / (Fraction(37, 60) * Fraction(23, 60)) * Fraction(120, 117)
    )
    v *= max(Fraction(1), spread)
    close(found.change.statistic, sum((x - Fraction(7, 60)) ** 2 for x in g) / v, 1e-10)
    close(found.change.slope, Fraction(1, 8), 1e-12)
    close(found.change.standard_error, math.sqrt(v / 2), 1e-10)
