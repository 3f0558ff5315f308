"""Classical tests: worked values, an independent fit, what has no answer, and cover and size under simulation."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.errors import InputError
from calibcore.inference.classical import (
    calibration_in_the_large,
    calibration_ratio,
    classical,
    cox,
    hosmer_lemeshow,
    spiegelhalter,
)
from calibcore.inference.logit_fit import Logits, fit_cox, fit_in_the_large
from calibcore.inference.logit_nodes import nodes
from calibcore.profile import Profile


def profile(p, y, **options):
    return Profile.from_rows(np.asarray(p, dtype=np.float64), np.asarray(y, dtype=bool), view="positive", task="binary", **options)


D = profile(ref.floats(ref.D_P), ref.D_Y)


def expit(x):
    return 1 / (1 + np.exp(-x))


def logit(p):
    return np.log(p / (1 - p))


def plain_fit(p, y, w=None):
    """(intercept, slope), A⁻¹, scores and logits of each row, by undamped Newton on rows."""
    x = np.column_stack([np.ones(len(p)), logit(np.asarray(p))])
    w = np.ones(len(p)) if w is None else np.asarray(w)
    b = np.array([0.0, 1.0])
    for _ in range(60):
        mu = expit(x @ b)
        b = b + np.linalg.solve((x.T * w * mu * (1 - mu)) @ x, x.T @ (w * (y - mu)))
    mu = expit(x @ b)
    return b, np.linalg.inv((x.T * w * mu * (1 - mu)) @ x), mu, x


def test_cox_of_d():
    # worked example (BFGS elsewhere): .687142, 1.1194, in the large .636519, likelihood ratio .664 with p .717
    fit = cox(D)
    assert fit.intercept.value == pytest.approx(0.687142, abs=5e-7)
    assert fit.slope.value == pytest.approx(1.1194, abs=5e-5)
    assert calibration_in_the_large(D).value == pytest.approx(0.636519, abs=5e-7)
    assert fit.likelihood_ratio == pytest.approx(0.664, abs=5e-4)
    assert fit.p_value == pytest.approx(0.717, abs=5e-4)
    assert fit.p_value == pytest.approx(math.exp(-fit.likelihood_ratio / 2), rel=1e-12)  # χ² with two degrees of freedom
    assert (fit.infinite_logits, fit.problem) == (0, None)


def test_errors_are_those_of_the_information():
    _, inverse, _, _ = plain_fit(ref.floats(ref.D_P), np.array(ref.D_Y))
    fit = cox(D)
    # the information is taken where Newton's last step began: 1e-8 standard errors away
    assert [fit.intercept.error, fit.slope.error] == pytest.approx(np.sqrt(np.diag(inverse)), rel=1e-6)
    low, high = fit.slope.interval(0.9)
    assert (high - low) / 2 == pytest.approx(1.6448536269514722 * fit.slope.error, rel=1e-12)
    assert (high + low) / 2 == pytest.approx(fit.slope.value, rel=1e-12)


def test_weighted_errors_are_the_sandwich():
    rng = np.random.default_rng(0)
    p, w = rng.random(200), rng.exponential(size=200)
    y = rng.random(200) < p**2
    b, inverse, mu, x = plain_fit(p, y, w)
    fit = cox(profile(p, y, weight=w * 1e12))
    assert [fit.intercept.value, fit.slope.value] == pytest.approx(b, rel=1e-9)
    covariance = inverse @ ((x.T * w**2 * mu * (1 - mu)) @ x) @ inverse
    assert [fit.intercept.error, fit.slope.error] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-6)


def test_clustered_errors_are_the_sandwich_of_cluster_sums():
    rng = np.random.default_rng(1)
    p, cluster = rng.random(240), np.repeat(np.arange(40), 6)
    y = rng.random(240) < p
    b, inverse, mu, x = plain_fit(p, y)
    u = np.array([((y - mu)[:, None] * x)[cluster == c].sum(axis=0) for c in range(40)])
    covariance = inverse @ (u.T @ u) @ inverse * 40 / 39
    fit = cox(profile(p, y, cluster=cluster))
    assert [fit.intercept.value, fit.slope.value] == pytest.approx(b, rel=1e-9)
    assert [fit.intercept.error, fit.slope.error] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-5)


def test_copies_of_rows_in_clusters_tell_no_more_than_one():
    rng = np.random.default_rng(2)
    p = rng.random(80)
    y = rng.random(80) < p
    once, thrice = profile(p, y), profile(np.repeat(p, 3), np.repeat(y, 3), cluster=np.repeat(np.arange(80), 3))
    assert calibration_ratio(thrice).high == pytest.approx(calibration_ratio(once).high, rel=1e-9)
    residual = (y - p) * (1 - 2 * p)
    z = residual.sum() / math.sqrt((residual**2).sum() * 80 / 79)
    assert spiegelhalter(thrice).z == pytest.approx(z, rel=1e-9)


def test_ratio_of_d():
    assert Fraction(sum(ref.D_Y)) / sum(ref.D_P) == Fraction(6, 5)
    e = calibration_ratio(D)
    assert e.value == pytest.approx(6 / 5, rel=1e-15)
    # Σ(y/6 − p/5)² over the ten rows, in fractions, times 10/9; t with 9 degrees of freedom: 2.262157163
    spread = sum((Fraction(y, 6) - p / 5) ** 2 for p, y in zip(ref.D_P, ref.D_Y, strict=True)) * Fraction(10, 9)
    half = 2.262157163 * math.sqrt(spread)
    assert (e.low, e.high) == pytest.approx((1.2 * math.exp(-half), 1.2 * math.exp(half)), rel=1e-8)


def test_ratio_with_one_outcome_is_wilson():
    # no event in ten rows of mean ½: Wilson's upper limit z²/(n + z²) over ½
    z2 = 1.959963984540054**2
    e = calibration_ratio(profile([0.5] * 10, [0] * 10))
    assert (e.value, e.low) == (0, 0)
    assert e.high == pytest.approx(2 * z2 / (10 + z2), rel=1e-12)
    every = calibration_ratio(profile([0.5] * 10, [1] * 10))
    assert (every.value, every.high) == (2, 2)
    assert every.low == pytest.approx(2 * 10 / (10 + z2), rel=1e-12)


def test_spiegelhalter_of_d():
    score = sum((y - p) * (1 - 2 * p) for p, y in zip(ref.D_P, ref.D_Y, strict=True))
    variance = sum((1 - 2 * p) ** 2 * p * (1 - p) for p in ref.D_P)
    assert (score, variance) == (Fraction(1, 20), Fraction(1461, 4000))
    z, p_value = spiegelhalter(D)
    assert z == pytest.approx(0.05 / math.sqrt(1461 / 4000), rel=1e-12)
    assert p_value == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-12)
    assert p_value == pytest.approx(0.934, abs=5e-4)


def hosmer_lemeshow_by_hand(sizes):
    h, first = Fraction(0), 0
    for n in sizes:
        rows = list(zip(ref.D_P, ref.D_Y, strict=True))[first : first + n]
        o, e = sum(y for _, y in rows), sum(p for p, _ in rows)
        h += (o - e) ** 2 / (e * (1 - e / n))
        first += n
    return h


@pytest.mark.parametrize(
    ("groups", "sizes", "p_value"),
    # .66, .87, .89 as published for D; for four groups .72 belongs to sizes 3, 3, 2, 2, and ours are 3, 2, 3, 2 (ranks ⌈10k/4⌉)
    [(2, (5, 5), 0.66), (3, (4, 3, 3), 0.87), (4, (3, 2, 3, 2), 0.86), (5, (2,) * 5, 0.89)],
)
def test_hosmer_lemeshow_of_d(groups, sizes, p_value):
    h = hosmer_lemeshow(D, groups=groups)
    assert h.statistic == pytest.approx(float(hosmer_lemeshow_by_hand(sizes)), rel=1e-12)
    assert (h.df, h.groups) == (groups, groups)
    assert h.p_value == pytest.approx(p_value, abs=5e-3)


def test_hosmer_lemeshow_depends_on_how_groups_are_cut():
    # the same ten rows, the same four groups, p = .72 or .86: χ² tail of 4 degrees of freedom, e^(−h/2)(1 + h/2)
    tails = [math.exp(-h / 2) * (1 + h / 2) for h in map(float, map(hosmer_lemeshow_by_hand, [(3, 3, 2, 2), (3, 2, 3, 2)]))]
    assert tails == pytest.approx([0.72, 0.86], abs=5e-3)


@pytest.mark.parametrize(("n", "p_value"), [(1_000, 0.53), (10_000, 0.046), (100_000, 2.5e-10)])
def test_hosmer_lemeshow_refuses_everything_at_many_rows(n, p_value):
    # one group, said .50, found .51: h = n·0.01²/0.25
    h = hosmer_lemeshow(profile([0.5] * n, np.arange(n) < 0.51 * n), groups=1)
    assert h.statistic == pytest.approx(n * 0.0004, rel=1e-9)
    assert h.p_value == pytest.approx(p_value, rel=0.02)


def test_hosmer_lemeshow_degrees_of_freedom():
    assert hosmer_lemeshow(D, groups=4, df=2).p_value == pytest.approx(
        math.exp(-float(hosmer_lemeshow_by_hand((3, 2, 3, 2))) / 2), rel=1e-9
    )
    assert hosmer_lemeshow(profile([0.5] * 20, [0, 1] * 10)).groups == 1  # ties stay together
    with pytest.raises(InputError, match="degrees of freedom"):
        hosmer_lemeshow(D, groups=2, df=0)
    certain = hosmer_lemeshow(profile([1.0, 0.2], [0, 0]), groups=2)
    assert (certain.p_value, certain.to_dict()["statistic"]) == (0.0, None)


def test_blind_spot():
    # gaps +.2, −.2, +.2 at scores .2, .5, .8 held by 10, 20, 10 rows: Σr = 2 − 4 + 2 = 0 and Σr·logit = (2 − 2)·logit(.8) = 0
    p = [0.2] * 10 + [0.5] * 20 + [0.8] * 10
    y = [1] * 4 + [0] * 6 + [1] * 6 + [0] * 14 + [1] * 10
    c = classical(profile(p, y))
    assert c.observed_expected().value == pytest.approx(1, abs=1e-15)
    assert (c.cox.intercept.value, c.cox.slope.value) == pytest.approx((0, 1), abs=1e-12)
    assert c.cox.likelihood_ratio == pytest.approx(0, abs=1e-12)
    assert c.intercept_in_the_large.value == pytest.approx(0, abs=1e-12)
    assert sum(abs(g) for g in c.profile.cell_sums("residual")) / 40 == pytest.approx(1 / 5, abs=1e-12)  # its ECE


def test_known_maps_are_found():
    # with shares of events exactly expit(a + b·logit p) in every cell, the fit is exact
    x = np.array([-2.0, -0.5, 1.0, 2.5])
    mu = expit(0.3 + 0.6 * x)
    w = np.concatenate([mu, 1 - mu])
    fit = cox(profile(np.tile(expit(x), 2), np.repeat([1, 0], 4), weight=w))
    assert (fit.intercept.value, fit.slope.value) == pytest.approx((0.3, 0.6), abs=1e-10)


@pytest.mark.parametrize(
    ("p", "y"),
    [
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]),
        ([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0]),  # separated the other way round
        ([0.1, 0.5, 0.5, 0.9], [0, 0, 1, 1]),  # they only touch
        ([0.3] * 4, [0, 1, 0, 1]),  # one score
        ([0.2, 0.4, 0.6], [1, 1, 1]),
        ([0.2], [0]),
    ],
)
def test_no_finite_slope(p, y):
    fit = cox(profile(p, y))
    assert fit.intercept.value is fit.slope.value is fit.likelihood_ratio is fit.p_value is None
    assert fit.slope.interval() == (None, None)
    assert fit.problem == "the scores of the events and of the others do not overlap"
    assert (calibration_in_the_large(profile(p, y)).value is None) == (len(set(y)) == 1)


def test_probabilities_of_0_and_1():
    p, y = [0.3, 0.4, 0.6, 0.7, 0.35], [0, 1, 0, 1, 1]
    alone = classical(profile(p, y))
    right = classical(profile([*p, 0.0, 1.0, 1.0], [*y, 0, 1, 1]))
    # right ones have likelihood 1 for every positive slope: the fit stays, and they are counted
    assert right.infinite_logits == right.cox.infinite_logits == right.to_dict()["infinite_logits"] == 3
    assert right.cox.slope.value == pytest.approx(alone.cox.slope.value, rel=1e-9)
    assert right.cox.intercept.error == pytest.approx(alone.cox.intercept.error, rel=1e-7)
    assert right.cox.likelihood_ratio == pytest.approx(alone.cox.likelihood_ratio, rel=1e-9)
    assert right.intercept_in_the_large.value == pytest.approx(alone.intercept_in_the_large.value, rel=1e-9)
    # a wrong one is impossible under (0, 1), and no slope makes it possible
    wrong = classical(profile([*p, 1.0], [*y, 0]))
    assert (wrong.cox.likelihood_ratio, wrong.cox.p_value, wrong.cox.slope.value) == (math.inf, 0.0, None)
    assert wrong.intercept_in_the_large.value is None
    assert wrong.to_dict()["cox"]["lr"] is None
    # right ones fix the sign of the slope: where the others fall, there is no fit
    falling = cox(profile([0.2, 0.2, 0.2, 0.8, 0.8, 0.8, 1.0], [1, 1, 0, 0, 0, 1, 1]))
    assert falling.slope.value is None
    assert "not positive" in falling.problem


def test_spiegelhalter_without_variance():
    assert spiegelhalter(profile([0.5] * 10, [1] * 10)) == (None, None)  # blind at ½
    assert spiegelhalter(profile([0.0, 1.0], [0, 1])) == (None, None)
    assert spiegelhalter(profile([0.0, 1.0], [1, 1])) == (math.inf, 0.0)


def test_ratio_where_nothing_is_expected():
    assert calibration_ratio(profile([0.0, 0.0], [0, 1])).value == math.inf
    assert math.isnan(calibration_ratio(profile([0.0, 0.0], [0, 0])).value)


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
@pytest.mark.parametrize(
    ("p", "y"),
    [
        ([0.5], [1]),
        ([0.0], [1]),
        ([1.0], [0]),
        ([0.3] * 20, [0] * 20),
        ([0.0, 0.2, 0.2, 1.0], [0, 0, 0, 1]),
        ([1e-30, 0.5, 0.9, 0.9, 0.2], [1, 0, 1, 0, 1]),
        ([1e-6, 1 - 1e-6, 1e-7, 1 - 1e-7], [1, 0, 0, 1]),
    ],
)
def test_edges_of_input(p, y, scale):
    for dtype in (np.float32, np.float64):
        cells = Profile.from_rows(np.array(p, dtype=dtype), np.array(y, dtype=bool), weight=np.full(len(p), scale))
        c = classical(cells).to_dict(0.9)
        assert list(c) == ["observed_expected", "intercept_in_the_large", "cox", "spiegelhalter", "infinite_logits"]
        assert list(c["cox"]) == ["intercept", "slope", "lr", "p_value"]
        json.dumps(c, allow_nan=False)
        json.dumps(hosmer_lemeshow(cells).to_dict(), allow_nan=False)


def test_far_from_calibrated():
    # scores of ±30 on the logit scale, of which a third are wrong: Newton starts where it cannot run away
    x = np.tile([-30.0, -29.0, 29.0, 30.0], 30)
    y = (x > 0) ^ (np.arange(120) % 3 == 0)
    fit = cox(profile(expit(x), y))
    # each half has 20 right of 30 at either score: log-odds ±log 2 at ±29.5 on average
    assert fit.slope.value == pytest.approx(math.log(2) / 29.5, rel=0.01)
    assert fit.p_value < 1e-100


@pytest.mark.parametrize(("a", "b", "middle", "weighted"), [(0.0, 1.0, 0.0, False), (-0.5, 0.8, 0.0, False), (0.3, 1.2, -1.0, True)])
def test_cover_at_90_percent(a, b, middle, weighted):
    # of 150 samples 135 ± 3.7 intervals hold the truth; between 121 and 149 is within four standard deviations, which
    # also allows for n = 400 being finite
    rng = np.random.default_rng(11)
    held, samples = np.zeros(3, dtype=int), 150
    x = np.random.default_rng(0).normal(size=400_000) * 1.5 + middle
    ratio = float(np.mean(expit(a + b * x)) / np.mean(expit(x)))
    for _ in range(samples):
        x = rng.normal(size=400) * 1.5 + middle
        w = 0.2 + rng.random(400) if weighted else None
        c = classical(profile(expit(x), rng.random(400) < expit(a + b * x), weight=w))
        ends = [c.cox.intercept.interval(0.9), c.cox.slope.interval(0.9)]
        e = c.observed_expected(0.9)
        held += [low <= truth <= high for (low, high), truth in zip([*ends, (e.low, e.high)], [a, b, ratio], strict=True)]
    assert (held >= 121).all()
    assert (held <= 149).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_size_under_calibration(weighted):
    # 5 % of 200 samples: 10 ± 3.1, so at most 22 (four standard deviations), and not none (once in 28,000)
    rng = np.random.default_rng(12)
    rejected = np.zeros(2, dtype=int)
    for _ in range(200):
        p = rng.beta(1, 2, 300)
        w = 0.2 + rng.random(300) if weighted else None
        c = classical(profile(p, rng.random(300) < p, weight=w))
        rejected += [c.cox.p_value <= 0.05, c.spiegelhalter.p_value <= 0.05]
    assert (rejected > 0).all()
    assert (rejected <= 22).all()


ROWS = st.lists(st.tuples(st.integers(1, 63), st.booleans(), st.integers(1, 4)), min_size=1, max_size=25)


def numbers(p, y, **options):
    c = classical(profile(p, y, **options))
    return [c.observed_expected().value, c.intercept_in_the_large.value, c.cox.intercept.value, c.cox.slope.value]


@settings(max_examples=60, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_properties(rows, random):
    p, y, w = (np.array(a) for a in zip(*rows, strict=True))
    p = p / 64
    once = numbers(p, y)
    order = list(range(len(rows)))
    random.shuffle(order)
    assert numbers(p[order], y[order]) == once
    close = pytest.approx
    weighted = classical(profile(p, y, weight=w.astype(float)))
    repeated = classical(profile(np.repeat(p, w), np.repeat(y, w)))
    scaled = classical(profile(p, y, weight=w * 2.0**60))
    for name in ("intercept", "slope"):
        one, two, three = (getattr(c.cox, name) for c in (weighted, repeated, scaled))
        if one.value is not None:
            assert two.value == close(one.value, rel=1e-6, abs=1e-6)
        assert (one.value is None) == (two.value is None) == (three.value is None)
        assert (three.value, three.error) == (one.value, one.error)
    assert repeated.observed_expected().value == close(weighted.observed_expected().value, rel=1e-12)
    assert scaled.to_dict() == weighted.to_dict()
    # the complement turns the intercepts around and keeps slope, likelihood ratio and Z
    ahead, back = classical(profile(p, y)), classical(profile(1 - p, ~y.astype(bool)))
    if ahead.intercept_in_the_large.value is not None:
        assert back.intercept_in_the_large.value == close(-ahead.intercept_in_the_large.value, abs=1e-6)
    if ahead.cox.slope.value is not None:
        assert back.cox.slope.value == close(ahead.cox.slope.value, rel=1e-6, abs=1e-6)
        assert back.cox.intercept.value == close(-ahead.cox.intercept.value, rel=1e-6, abs=1e-6)
        assert back.cox.likelihood_ratio == close(ahead.cox.likelihood_ratio, abs=1e-9)
    if ahead.spiegelhalter.z is not None:
        assert back.spiegelhalter.z == close(ahead.spiegelhalter.z, abs=1e-12)


@pytest.mark.parametrize(("intercept", "slope"), [(0, 1), (-0.3, 0.4), (0.2, 1.9), (1, 3.5), (0, -0.5)])
def test_fits_of_many_cells_are_those_of_every_cell(intercept, slope):
    # 30,000 different scores, so that nodes stand for them; a slope above 2 goes back to the cells
    rng = np.random.default_rng(5)
    p = rng.beta(0.9, 0.9, 30_000)
    y = rng.random(30_000) < expit(intercept + slope * logit(p))
    few = Logits.of(profile(p, y))
    every = few.cells()
    assert len(few.logit) < len(every.logit) == 30_000
    found, expected = fit_cox(few), fit_cox(every)
    for name in ("intercept", "slope"):
        assert getattr(found, name).value == pytest.approx(getattr(expected, name).value, rel=1e-10, abs=1e-12)
        assert getattr(found, name).error == pytest.approx(getattr(expected, name).error, rel=1e-10)
    assert found.likelihood_ratio == pytest.approx(expected.likelihood_ratio, rel=1e-10, abs=1e-9)
    assert fit_in_the_large(few).value == pytest.approx(fit_in_the_large(every).value, rel=1e-10, abs=1e-12)
    assert fit_in_the_large(few).error == pytest.approx(fit_in_the_large(every).error, rel=1e-10)


def test_certain_rows_beside_many_others_have_no_logit():
    p = np.concatenate([[0.0, 0.0, 1.0], np.random.default_rng(6).random(25_000)])
    y = np.concatenate([[0, 0, 1], np.random.default_rng(7).random(25_000) < p[3:]])
    right, wrong = Logits.of(profile(p, y)), Logits.of(profile(p, np.where(p == 1, 0, y)))
    assert (right.infinite, right.wrong, wrong.wrong) == (3, False, True)
    assert right.rate == pytest.approx(float(np.mean(y[3:])), rel=1e-13)


@given(st.integers(1, 400), st.integers(0, 10))
def test_nodes_give_the_sums_of_smooth_functions(n, seed):
    rng = np.random.default_rng(seed)
    p = np.sort(rng.beta(0.3, 0.3, n).clip(1e-12, 1 - 1e-12))
    count = rng.integers(1, 5, n)
    at, rows, _ = nodes(p, count, np.zeros(n))
    for f in (expit, lambda x: np.log1p(np.exp(x)), lambda x: x**2 * expit(x) * expit(-x), lambda x: expit(2 * x) * expit(-2 * x)):
        assert np.sum(rows * f(at)) == pytest.approx(np.sum(count * f(logit(p))), rel=1e-11, abs=1e-12)
