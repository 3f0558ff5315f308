"""The chance range: against full enumeration, against published reference means, and uniform under calibration."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref

import calibcore as cc
from calibcore.inference.chance import chance_range, chance_sweep
from calibcore.predictions import Predictions
from calibcore.redraw import Redraw


def positive(y, p, **options):
    return Predictions.from_arrays(y, p, **options).profile("positive")


def every_outcome(ps, weights=None):
    """All label vectors with their exact probabilities under calibration."""
    for ys in itertools.product((0, 1), repeat=len(ps)):
        yield ys, math.prod(p if y else 1 - p for p, y in zip(ps, ys, strict=True))


def exact_ece_distribution(edges, ps, weights=None):
    found = {}
    for ys, probability in every_outcome(ps):
        value = ref.ece(ref.sums(ps, ys, edges, weights=weights))
        found[value] = found.get(value, Fraction(0)) + probability
    return found


def test_p_value_of_d_by_enumeration_of_all_labels():
    exact = exact_ece_distribution(ref.equal_width(5), ref.D_P)
    seen = ref.ece(ref.sums(ref.D_P, ref.D_Y, ref.equal_width(5)))
    tail = float(sum(pr for v, pr in exact.items() if v >= seen))
    assert round(tail, 3) == 0.672
    mean = sum(v * pr for v, pr in exact.items())
    assert mean == Fraction(24253, 100000)  # the floor: a calibrated model shows more than D's 0.21
    draws = 20_000
    c = chance_range(positive(ref.D_Y, ref.floats(ref.D_P)), cc.Partition.equal_width(5), draws=draws)
    assert c.draws == draws
    assert c.p_value == pytest.approx(tail, abs=4 * math.sqrt(0.672 * 0.328 / draws))
    # median and 95th percentile: the mass on either side of them, to four standard errors
    assert float(sum(pr for v, pr in exact.items() if v <= Fraction(c.median) + Fraction(1, 10**9))) >= 0.5 - 4 * 0.5 / math.sqrt(draws)
    assert float(sum(pr for v, pr in exact.items() if v < Fraction(c.median) - Fraction(1, 10**9))) <= 0.5 + 4 * 0.5 / math.sqrt(draws)
    assert float(sum(pr for v, pr in exact.items() if v <= Fraction(c.p95) + Fraction(1, 10**9))) >= 0.95 - 4 * 0.22 / math.sqrt(draws)
    assert float(sum(pr for v, pr in exact.items() if v < Fraction(c.p95) - Fraction(1, 10**9))) <= 0.95 + 4 * 0.22 / math.sqrt(draws)


def test_weighted_p_value_by_enumeration():
    # each row its own cell: redrawn exactly even with weights
    weights = [1, 5, 1, 2, 1, 3, 1, 1, 4, 2]
    exact = exact_ece_distribution(ref.equal_width(5), ref.D_P, weights)
    seen = ref.ece(ref.sums(ref.D_P, ref.D_Y, ref.equal_width(5), weights=weights))
    tail = float(sum(pr for v, pr in exact.items() if v >= seen))
    c = chance_range(positive(ref.D_Y, ref.floats(ref.D_P), sample_weight=weights), cc.Partition.equal_width(5), draws=20_000)
    assert c.p_value == pytest.approx(tail, abs=4 * 0.5 / math.sqrt(20_000))


def test_shared_ties_by_enumeration():
    # three bins over four rows at ½ and two at 9/10: sizes 2, 2, 2; the tied block is halved
    ps, ys = [Fraction(1, 2)] * 4 + [Fraction(9, 10)] * 2, [1, 1, 1, 0, 0, 1]
    exact = {}
    for outcome, probability in every_outcome(ps):
        value = ref.ece(ref.shared_sums(ps, outcome, 3))
        exact[value] = exact.get(value, Fraction(0)) + probability
    seen = ref.ece(ref.shared_sums(ps, ys, 3))
    tail = float(sum(pr for v, pr in exact.items() if v >= seen))
    profile = positive(ys, ref.floats(ps))
    c = chance_range(profile, cc.Partition.equal_mass(profile, 3, "share"), draws=20_000)
    assert c.p_value == pytest.approx(tail, abs=4 * 0.5 / math.sqrt(20_000))


def test_p_value_counts_the_observed_sample():
    # S05: four rows at ½, two right: ECE 0, so every redraw is at least as large: (1 + 1000)/1001
    c = chance_range(positive([1, 0, 1, 0], [0.5] * 4), cc.Partition.equal_width(10))
    assert (c.p_value, c.draws) == (1.0, 1000)
    # redrawn |k/4 − ½|: ½ with probability 1/8, ¼ with ½, 0 with 3/8
    assert (c.median, c.p95) == (0.25, 0.5)
    # no redraw can be as bad as always wrong at 0.999…
    c = chance_range(positive([0] * 50, [0.99] * 50), cc.Partition.equal_width(10))
    assert c.p_value == pytest.approx(1 / 1001)


def test_certain_predictions_have_no_chance():
    c = chance_range(positive([0, 1, 1], [0.0, 1.0, 1.0]), cc.Partition.equal_width(10))
    assert (c.median, c.p95, c.p_value) == (0.0, 0.0, 1.0)
    c = chance_range(positive([1, 1, 1], [0.0, 1.0, 1.0]), cc.Partition.equal_width(10))
    assert (c.p95, c.p_value) == (0.0, 1 / 1001)


def test_definition_10_the_seed_decides():
    profile = positive(ref.D_Y, ref.floats(ref.D_P))
    bins = cc.Partition.equal_width(5)
    one, same, other = (chance_range(profile, bins, seed=s) for s in (0, 0, 1))
    assert one == same
    assert one != other


@pytest.mark.parametrize(("n", "mean"), [(200, 0.0863), (500, 0.0545), (1000, 0.0386)])
def test_reference_means_of_the_ece_of_a_calibrated_model(n, mean):
    # p uniform, M = 15, positive view: (1/n)·Σ√(2V_b/π) with V_b = (n/15)·p(1 − p) at the bin centres
    centres = (np.arange(15) + 0.5) / 15
    floor = float(np.sum(np.sqrt(2 * n / 15 * centres * (1 - centres) / math.pi)) / n)
    assert floor == pytest.approx(mean, abs=6e-4)
    rng = np.random.default_rng(n)
    found = []
    for _ in range(400):
        p = rng.random(n)
        found.append(cc.expected_calibration_error((rng.random(n) < p).astype(int), p))
    # the sd of one ECE is about a fifth of its mean: 400 samples give it to 1 %
    assert np.mean(found) == pytest.approx(mean, rel=0.035)
    p = rng.random(n)
    c = chance_range(positive((rng.random(n) < p).astype(int), p), cc.Partition.equal_width(15))
    v = np.bincount(np.minimum((p * 15).astype(int), 14), weights=p * (1 - p), minlength=15)
    assert c.median == pytest.approx(float(np.sum(np.sqrt(2 * v / math.pi)) / n), rel=0.05)
    assert c.median < c.p95 < 2 * c.median


@pytest.mark.parametrize("kind", ["continuous", "tied", "weighted"])
def test_p_value_is_uniform_under_calibration(kind):
    # 200 samples: P(p ≤ x) = x up to 4 standard errors of √(x(1 − x)/200); ties of the redraws only make p larger
    rng = np.random.default_rng(17)
    found = []
    for i in range(200):
        p = rng.random(200)
        p = p.round(1) if kind == "tied" else p
        w = rng.gamma(2, 1, 200) if kind == "weighted" else None
        profile = positive((rng.random(200) < p).astype(int), p, sample_weight=w)
        found.append(chance_range(profile, cc.Partition.equal_width(10), draws=199, seed=i).p_value)
    for x in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9):
        assert np.mean(np.array(found) <= x + 1e-12) == pytest.approx(x, abs=4 * math.sqrt(x * (1 - x) / 200))


def test_grouping_of_cells_does_not_move_the_range():
    # 5,000 cells are redrawn in groups of width 0.01; row by row the same range to Monte Carlo error
    rng = np.random.default_rng(3)
    p = rng.random(5000)
    profile = positive((rng.random(5000) < p).astype(int), p)
    c = chance_range(profile, cc.Partition.equal_width(15))
    labels = rng.random((1000, 5000)) < p
    bins = np.minimum((p * 15).astype(int), 14)
    gaps = np.stack([(labels[:, bins == b] - p[bins == b]).sum(axis=1) for b in range(15)])
    rows = np.abs(gaps).sum(axis=0) / 5000
    assert c.median == pytest.approx(np.median(rows), rel=0.03)
    assert c.p95 == pytest.approx(np.quantile(rows, 0.95), rel=0.04)


def test_redraw_has_mean_zero_and_the_right_variance():
    weight, squared, p = np.array([10.0, 30.0]), np.array([20.0, 90.0]), np.array([0.3, 0.9])
    drawn = np.concatenate(list(Redraw.from_sums(weight, squared, weight * p).residuals(40_000, np.random.default_rng(0))))
    expected = squared * p * (1 - p)  # Σw²·p(1 − p)
    assert drawn.var(axis=0) == pytest.approx(expected, rel=0.04)
    assert np.abs(drawn.mean(axis=0)).max() < 4 * math.sqrt(expected.max() / 40_000)


@pytest.mark.parametrize("ties", ["together", "share"])
def test_sweep_gives_for_each_number_of_bins_what_one_range_gives(ties):
    # the same quantity from other draws: equal up to the Monte Carlo error of 500 and 4,000 draws
    rng = np.random.default_rng(4)
    p = rng.random(3000).round(2)
    profile = positive((rng.random(3000) < p).astype(int), p)
    partitions = [cc.Partition.equal_mass(profile, m, ties) for m in (2, 10, 30)]
    swept = chance_sweep(profile, partitions, draws=2000)
    assert swept.n_bins == (2, 10, 30)
    for partition, median, p95 in zip(partitions, swept.median, swept.p95, strict=True):
        one = chance_range(profile, partition, draws=4000, seed=1)
        assert median == pytest.approx(one.median, rel=0.05)
        assert p95 == pytest.approx(one.p95, rel=0.06)
