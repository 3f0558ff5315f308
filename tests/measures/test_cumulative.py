"""Cumulative differences: exact values by hand, the distributions, and their size under calibration."""

import itertools
import json
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
import reference as ref
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.errors import InputError
from calibcore.inference.significance import detect
from calibcore.measures.cumulative import cumulative, cumulative_difference, range_sf, supremum_sf
from calibcore.profile import Profile


def profile(p, y, **options):
    return Profile.from_rows(np.asarray(p, dtype=np.float64), np.asarray(y, dtype=bool), view="positive", task="binary", **options)


def steps_of(ps, ys):
    """C at the distinct scores, from 0, in fractions."""
    out = [Fraction(0)]
    for value in sorted(set(ps)):
        out.append(out[-1] + sum(Fraction(y) - p for p, y in zip(ps, ys, strict=True) if p == value))
    return [c / len(ps) for c in out]


def exact_p_values(ps, ys):
    """Chance, over all label vectors, that range and maximum are at least the observed ones."""
    width, mad = (lambda c: max(c) - min(c)), (lambda c: max(map(abs, c)))
    seen = steps_of(ps, ys)
    tail = [Fraction(0), Fraction(0)]
    for labels in itertools.product((0, 1), repeat=len(ps)):
        chance = math.prod(p if y else 1 - p for p, y in zip(ps, labels, strict=True))
        c = steps_of(ps, labels)
        tail[0] += chance * (width(c) >= width(seen))
        tail[1] += chance * (mad(c) >= mad(seen))
    return [float(t) for t in tail]


def test_d_by_hand():
    # twentieths after each score: −1, −4, 12, 5, 17, 6, 13, 17, 19, 20: largest 20/200, range 24/200, from after 3/20 to 19/20
    c = cumulative_difference(ref.D_Y, ref.floats(ref.D_P))
    assert max(map(abs, steps_of(ref.D_P, ref.D_Y))) == Fraction(1, 10)
    assert c.mad == pytest.approx(1 / 10, abs=1e-15)
    assert c.range == pytest.approx(3 / 25, abs=1e-15)
    assert sum(p * (1 - p) for p in ref.D_P) / 100 == Fraction(63, 4000)
    assert c.sigma**2 == pytest.approx(63 / 4000, abs=1e-16)
    assert c.interval == (0.2, 0.95)
    assert c.sign == 1


def test_p_values_of_d_by_all_labels():
    exact = exact_p_values(ref.D_P, ref.D_Y)
    assert exact == pytest.approx([0.7352, 0.7837], abs=5e-5)
    c = cumulative(profile(ref.floats(ref.D_P), ref.D_Y), draws=20_000)
    assert c.method == "monte_carlo"
    # four standard errors of a share of 20,000 draws: 4·√(0.2/20,000) = 0.0127
    assert [c.p_value, c.mad_p_value] == pytest.approx(exact, abs=0.0127)
    # what the limit would say of ten rows (by its series, summed separately): .9567 and .8176
    assert range_sf(c.range_sigma) == pytest.approx(0.9567, abs=5e-5)
    assert supremum_sf(c.mad_sigma) == pytest.approx(0.8176, abs=5e-5)


def test_tied_rows_are_one_step_and_their_p_value_is_exact():
    ps = [Fraction(1, 4)] * 5 + [Fraction(3, 4)] * 5
    ys = [1, 1, 1, 0, 0, 0, 0, 1, 1, 1]
    c = cumulative(profile(ref.floats(ps), ys), draws=20_000)
    assert c.range == pytest.approx(float(max(steps_of(ps, ys)) - min(steps_of(ps, ys))), abs=1e-15)
    assert [c.p_value, c.mad_p_value] == pytest.approx(exact_p_values(ps, ys), abs=0.0142)  # 4·√(0.25/20,000)


def plain_supremum_sf(x):
    k = [i + 0.5 for i in range(200)]
    return 1 - 2 / math.pi * sum((-1) ** i / h * math.exp(-((h * math.pi) ** 2) / (2 * x * x)) for i, h in enumerate(k))


def plain_range_sf(x):
    k = [i + 0.5 for i in range(200)]
    return 1 - sum((8 / x**2 + 2 / (h * math.pi) ** 2) * math.exp(-2 * (h * math.pi) ** 2 / x**2) for h in k)


@pytest.mark.parametrize("x", [0.2, 0.5, 0.9, 1.299, 1.3, 1.301, 1.6, 2.0, 2.7, 4.0])
def test_both_forms_are_the_series_of_the_source(x):
    # the published series with 200 terms, which cancels in the upper tail: right to 1e-13 there
    assert supremum_sf(x) == pytest.approx(plain_supremum_sf(x), abs=2e-13)
    assert range_sf(x) == pytest.approx(plain_range_sf(x), abs=2e-13)


def test_tails():
    for x in (0.0, 1e-300, 1e-3, 0.04, 0.05, 0.06):
        assert supremum_sf(x) == range_sf(x) == 1.0
    # one crossing dominates: 4Φ(−x) and 8Φ(−x), whatever the distance; Φ(−10) = ½ erfc(10/√2)
    assert supremum_sf(10.0) == pytest.approx(2 * math.erfc(10 / math.sqrt(2)), rel=1e-12)
    assert range_sf(10.0) == pytest.approx(4 * math.erfc(10 / math.sqrt(2)), rel=1e-12)
    # 4Φ(−x) = 0.05 at the 98.75th normal percentile, 2.241402728
    assert supremum_sf(2.241402728) == pytest.approx(0.05, abs=1e-9)
    assert supremum_sf(1e3) == range_sf(1e3) == 0.0


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99, 0.999])
def test_the_limit_of_the_whole_curve_by_reflection(level):
    # P(max|B| > q) is 4Φ(−q) less 4Φ(−3q), below 1e-6 from level 0.9 on: q is the normal quantile of 1 − (1 − level)/4
    c = cumulative(profile([0.6] * 100 + [0.9] * 100, ([1] * 60 + [0] * 40) + ([1] * 80 + [0] * 20)))
    sigma = math.sqrt(100 * 0.6 * 0.4 + 100 * 0.9 * 0.1) / 200
    assert c.chance_limit(level) == pytest.approx(sigma * NormalDist().inv_cdf(1 - (1 - level) / 4), rel=1e-5)


@pytest.mark.parametrize("level", [0.2, 0.5, 0.8])
def test_the_limit_of_the_whole_curve_by_the_series(level):
    c = cumulative(profile([0.5] * 400, [1] * 190 + [0] * 210))
    assert 1 - plain_supremum_sf(c.chance_limit(level) / c.sigma) == pytest.approx(level, abs=1e-12)


def test_random_walks_stay_within_the_limit():
    # A fair coin tossed 400 times: the walk of y − ½ stays within ±h with the probability that its counts say, step by step.
    c = cumulative(profile([0.5] * 400, [1] * 200 + [0] * 200))
    limit = c.chance_limit(0.8) * 400  # in tosses
    place = np.zeros(801)
    place[400] = 1.0  # in halves of a toss
    for _ in range(400):
        place = (np.roll(place, 1) + np.roll(place, -1)) / 2
        place[np.abs(np.arange(-400, 401)) > 2 * limit] = 0.0
    # seen at 400 steps a path falls short of the continuous one by about 0.58/√400 sigma: somewhat more than 0.8 of them stay
    assert 0.8 <= place.sum() <= 0.84


def test_no_limit_where_chance_is_not_known():
    certain = cumulative(profile([0.0, 1.0, 1.0], [0, 1, 0]))
    grouped = cumulative(profile([0.6] * 6, [1, 1, 0, 1, 0, 0], cluster=np.array([0, 0, 1, 1, 2, 2])))
    assert certain.chance_limit() is grouped.chance_limit() is None
    with pytest.raises(InputError, match="between 0 and 1"):
        certain.chance_limit(1.0)


def test_moments_of_both_distributions():
    # published: E max|B| = √(π/2), E range = 2√(2/π), E range² = 4 ln 2 (Feller 1951); max|B| exceeds t where B leaves (−t, t)
    x = np.linspace(0, 12, 6001)
    supremum, width = (np.array([f(v) for v in x]) for f in (supremum_sf, range_sf))
    assert np.trapezoid(supremum, x) == pytest.approx(math.sqrt(math.pi / 2), abs=1e-9)
    assert np.trapezoid(width, x) == pytest.approx(2 * math.sqrt(2 / math.pi), abs=1e-9)
    assert np.trapezoid(2 * x * width, x) == pytest.approx(4 * math.log(2), abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_same_story_as_detection(seed):
    rng = np.random.default_rng(seed)
    p = rng.random(200)
    cells = profile(p, rng.random(200) < p**1.5)
    c, d = cumulative(cells), detect(cells)
    assert c.range == pytest.approx(d.kuiper, abs=1e-14)
    assert c.interval == d.interval
    inside = (p >= c.interval[0]) & (p <= c.interval[1])
    gap = sum(cells.cell_sums("residual")[(cells.value >= c.interval[0]) & (cells.value <= c.interval[1])]) / 200
    assert inside.any()
    assert gap == pytest.approx(c.sign * c.range, abs=1e-12)  # the range is the total miscalibration of that interval


@pytest.mark.parametrize(
    ("rows", "method"),
    [
        (lambda rng: rng.random(2000), "asymptotic"),
        (lambda rng: rng.random(499), "monte_carlo"),  # few rows
        (lambda rng: np.round(rng.random(2000), 2), "monte_carlo"),  # ties: 101 steps
        (lambda rng: rng.random(2000) / 50, "monte_carlo"),  # 20 events expected: not normal
    ],
)
def test_size_under_calibration(rows, method):
    # 5 % of 200 calibrated samples: 10 ± 3.1, so at most 22 (four standard deviations), and not none (once in 28,000)
    rng = np.random.default_rng(5)
    found = []
    for seed in range(200):  # a seed each: with one seed, all samples would be judged by the same uniform numbers
        p = rows(rng)
        c = cumulative(profile(p, rng.random(len(p)) < p), draws=99, seed=seed)
        found.append((c.p_value, c.mad_p_value))
    assert c.method == method
    rejected = np.count_nonzero(np.array(found) <= 0.05, axis=0)
    assert (rejected > 0).all()
    assert (rejected <= 22).all()


def test_many_cells_with_rare_events_are_not_one_group():
    # all probabilities below one group's width: the cuts at equal variance keep the size (and the power) of the test
    rng = np.random.default_rng(8)
    p = np.sort(rng.random(4000)) * 4e-4
    right = cumulative(profile(p, rng.random(4000) < p))
    wrong = cumulative(profile(p, np.arange(4000) < 6))  # six events among the lowest, where 0.000004 are expected
    assert right.method == wrong.method == "monte_carlo"
    assert right.p_value > 0.01
    assert wrong.p_value == 1 / 1001


def test_unequal_weights_are_drawn():
    rng = np.random.default_rng(3)
    p, w = rng.random(3000), np.where(np.arange(3000) < 10, 1000.0, 1.0)
    assert cumulative(profile(p, rng.random(3000) < p, weight=w)).method == "monte_carlo"  # n_eff = 16


def test_clusters_are_drawn():
    # 400 calibrated rows, each written five times: 5 % of 60 samples are 3 ± 1.7, so at most 9; as independent rows the
    # path would be √5 times as wide as expected, and most samples would be called miscalibrated
    rng = np.random.default_rng(3)
    together, apart = [], []
    for seed in range(60):
        p = np.repeat(rng.random(400), 5)
        y = np.repeat(rng.random(400) < p[::5], 5)
        p += rng.random(2000) * 1e-9
        c = cumulative(profile(p, y, cluster=np.repeat(np.arange(400), 5)), draws=99, seed=seed)
        assert c.method == "monte_carlo"
        together.append(c.p_value)
        apart.append(cumulative(profile(p, y)).p_value)
    assert sum(v <= 0.05 for v in together) <= 9
    assert sum(v <= 0.05 for v in apart) >= 25


@pytest.mark.parametrize(
    ("p", "y", "width", "p_value", "sign"),
    [
        ([1.0], [1], 0.0, 1.0, 0),
        ([1.0], [0], 1.0, 0.0, -1),  # certain and wrong: impossible under calibration
        ([0.0, 0.0], [0, 1], 0.5, 0.0, 1),
        ([0.0, 1.0], [0, 1], 0.0, 1.0, 0),
    ],
)
def test_certain_models(p, y, width, p_value, sign):
    c = cumulative(profile(p, y))
    assert (c.range, c.p_value, c.mad_p_value, c.sign, c.method) == (width, p_value, p_value, sign, "exact")
    assert c.range_sigma is None
    assert c.mad_sigma is None
    json.dumps(c.to_dict(), allow_nan=False)


@pytest.mark.parametrize(("p", "y"), [([0.5], [1]), ([0.3] * 20, [0] * 20), ([0.0, 0.2, 0.2, 1.0], [0, 0, 0, 1])])
@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_edges_of_input(p, y, scale):
    for dtype in (np.float32, np.float64):
        w = np.full(len(p), scale)
        cells = Profile.from_rows(np.array(p, dtype=dtype), np.array(y, dtype=bool), weight=w)
        c = cumulative(cells)
        assert 0 < c.p_value <= 1
        assert list(c.to_dict()) == ["mad", "range", "p_value", "mad_p_value", "interval", "sigma", "method"]
        json.dumps(c.to_dict(), allow_nan=False)
        assert c.curve().difference[0] == 0


def test_curve_keeps_ends_and_extremes():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    c = cumulative(profile(p, rng.random(20_000) < p**1.1))
    for points in (6, 50, 400):
        curve = c.curve(points)
        assert len(curve.share) == len(curve.score) == len(curve.difference) <= points
        assert (curve.share[0], curve.difference[0]) == (0, 0)
        assert curve.share[-1] == pytest.approx(1, abs=1e-15)
        assert curve.score[-1] == p.max()
        assert curve.difference.max() - curve.difference.min() == c.range
        assert (np.diff(curve.score) >= 0).all()
    small = cumulative_difference(ref.D_Y, ref.floats(ref.D_P)).curve()
    assert small.difference == pytest.approx([float(v) for v in steps_of(ref.D_P, ref.D_Y)], abs=1e-15)
    with pytest.raises(InputError, match="at least 6 points"):
        c.curve(5)


ROWS = st.lists(st.tuples(st.integers(0, 64), st.booleans(), st.integers(1, 4)), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_properties(rows, random):
    p, y, w = (np.array(a) for a in zip(*rows, strict=True))
    p = p / 64
    c = cumulative(profile(p, y), draws=50)
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = cumulative(profile(p[order], y[order]), draws=50)
    assert (shuffled.range, shuffled.mad, shuffled.p_value, shuffled.interval) == (c.range, c.mad, c.p_value, c.interval)
    mirrored = cumulative(profile(1 - p, ~y.astype(bool)), draws=50)
    assert mirrored.range == pytest.approx(c.range, abs=1e-14)  # the whole path is turned around; its largest value is not kept
    weighted = cumulative(profile(p, y, weight=w.astype(float)), draws=50)
    repeated = cumulative(profile(np.repeat(p, w), np.repeat(y, w)), draws=50)
    assert (weighted.range, weighted.mad) == pytest.approx((repeated.range, repeated.mad), abs=1e-14)
    scaled = cumulative(profile(p, y, weight=w * 2.0**60), draws=50)
    assert (scaled.range, scaled.sigma, scaled.p_value) == (weighted.range, weighted.sigma, weighted.p_value)
