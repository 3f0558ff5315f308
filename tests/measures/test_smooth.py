"""Smooth calibration error: against a plain sum over mirror images, by hand, and its floor."""

import json
import math

import numpy as np
import pytest
import reference as ref
from hypothesis import given, settings
from hypothesis import strategies as st

import calibcore.measures.smooth as module
from calibcore.errors import InputError
from calibcore.measures.smooth import RESOLUTION, smooth_calibration_error, smooth_error, smoothed_error
from calibcore.profile import Profile


def profile(p, y, **options):
    return Profile.from_rows(np.asarray(p, dtype=np.float64), np.asarray(y, dtype=bool), view="positive", task="binary", **options)


def plain(p, y, s, grid=20_001):
    """∫|Σ r K|/n by the midpoint rule, the kernel reflected by adding its images at ±p + 2k."""
    t = (np.arange(grid) + 0.5) / grid
    images = 1 + math.ceil(5 * s)
    total = np.zeros(grid)
    for f, r in zip(p, np.asarray(y) - np.asarray(p), strict=True):
        for k in range(-images, images + 1):
            for centre in (f + 2 * k, -f + 2 * k):
                total += r * np.exp(-0.5 * ((t - centre) / s) ** 2)
    return float(np.abs(total).mean()) / (s * math.sqrt(2 * math.pi) * len(p))


def test_d():
    # worked example (plain sum over images, 4,001 points): at 0.1, and where value and bandwidth agree
    cells = profile(ref.floats(ref.D_P), ref.D_Y)
    assert smoothed_error(cells, 0.1) == pytest.approx(0.1143087662, abs=1e-7)
    found = smooth_error(cells)
    assert found.value == pytest.approx(0.1091964662, abs=1e-7)
    assert found.bandwidth == pytest.approx(found.value, abs=1e-11)
    assert smooth_calibration_error(ref.D_Y, ref.floats(ref.D_P)) == found.value


@pytest.mark.parametrize("bandwidth", [0.003, 0.02, 0.3, 1.0])
def test_against_the_plain_sum(bandwidth):
    rng = np.random.default_rng(2)
    p = np.concatenate([rng.random(20), [0.0, 1.0, 1.0, 0.5, 0.5]])
    y = rng.random(25) < 0.6
    # the midpoint rule with 20,001 points is itself right to about 1e-6 at the smallest bandwidth
    assert smoothed_error(profile(p, y), bandwidth) == pytest.approx(plain(p, y, bandwidth), rel=1e-5)


def test_one_score_is_its_gap():
    # residuals of one sign keep their total under any blur: the value is |gap| at every bandwidth
    assert smooth_calibration_error([1, 1, 1, 0], [0.5] * 4) == pytest.approx(0.25, abs=1e-12)
    assert smooth_calibration_error([0], [0.7]) == pytest.approx(0.7, abs=1e-12)
    assert smooth_calibration_error([1], [0.0]) == pytest.approx(1.0, abs=1e-12)


def test_no_residual():
    found = smooth_error(profile([0.0, 1.0, 0.5, 0.5], [0, 1, 0, 1]))
    assert (found.value, found.bandwidth) == (0.0, RESOLUTION)


def test_nearby_opposite_errors_cancel_and_distant_ones_do_not():
    # ±1/2 at two scores d apart, far from the walls: blurred, ∫|½K − ½K'| = erf(d/(2√2·s)); so value v solves erf(d/(2√2·v)) = 2v·…
    d = 0.02
    p, y = [0.5 - d / 2, 0.5 + d / 2], [1, 0]
    half = 0.5 + d / 2  # each residual, in absolute value
    for s in (0.005, 0.02, 0.08):
        assert smoothed_error(profile(p, y), s) == pytest.approx(half * math.erf(d / (2 * math.sqrt(2) * s)), rel=1e-5)
    v = smooth_error(profile(p, y)).value
    assert half * math.erf(d / (2 * math.sqrt(2) * v)) == pytest.approx(v, rel=1e-5)


def test_tiny_errors():
    # one wrong row among 100,001 certain ones: one residual, so the value is its share, below the smallest bandwidth
    found = smooth_error(profile([1.0] * 100_001, [1] * 100_000 + [0]))
    assert found.value == pytest.approx(1 / 100_001, rel=1e-6)
    assert found.bandwidth == RESOLUTION


def test_falls_with_the_bandwidth():
    rng = np.random.default_rng(4)
    p = rng.random(300)
    cells = profile(p, rng.random(300) < p)
    values = [smoothed_error(cells, s) for s in (0.001, 0.01, 0.1, 1.0)]
    assert values == sorted(values, reverse=True)
    # the widest blur leaves |mean residual| times a nearly flat density
    assert values[-1] == pytest.approx(abs(float(np.mean(cells.positive.sum() / 300 - p.mean()))), abs=1e-3)


def test_floor_and_consistency():
    # calibrated: the noise of the blurred residuals has sd √(Σp(1 − p)/(n²·2s√π)), so s ≈ √(2/π)·√(1/6/(n·2s√π)), from
    # which s^1.5 = 0.7979·√(0.0470/n): 0.0106 at n = 20,000; twice that bounds it in practice.  A true error of 0.1 stays 0.1.
    rng = np.random.default_rng(6)
    p = rng.random(20_000) * 0.8 + 0.1
    calm = smooth_error(profile(p, rng.random(20_000) < p)).value
    assert 0.003 < calm < 0.022
    shifted = smooth_error(profile(p, rng.random(20_000) < p + 0.1)).value
    assert shifted == pytest.approx(0.1, abs=0.015)  # sd of the mean residual: 0.0034


def test_bandwidth_out_of_range():
    for bad in (0.0, 1.5, math.nan):
        with pytest.raises(InputError, match="bandwidth"):
            smoothed_error(profile([0.5], [1]), bad)


@pytest.mark.parametrize(("p", "y"), [([0.5], [1]), ([0.3] * 20, [0] * 20), ([0.0, 0.2, 0.2, 1.0], [0, 0, 0, 1]), ([1.0], [1])])
@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_edges_of_input(p, y, scale):
    for dtype in (np.float32, np.float64):
        found = smooth_error(Profile.from_rows(np.array(p, dtype=dtype), np.array(y, dtype=bool), weight=np.full(len(p), scale)))
        assert 0 <= found.value <= 1
        assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == {"value": found.value, "bandwidth": found.bandwidth}


def test_relplot():
    relplot = pytest.importorskip("relplot")
    rng = np.random.default_rng(1)
    p = rng.random(2000)
    y = rng.random(2000) < p**2
    # ten bisections of [0, 1] there, on a coarse grid: 2⁻¹⁰ each way
    assert smooth_error(profile(p, y)).value == pytest.approx(relplot.smECE(p, y.astype(float)), abs=2e-3)
    assert smooth_calibration_error(ref.D_Y, ref.floats(ref.D_P)) == pytest.approx(
        relplot.smECE(np.array(ref.floats(ref.D_P)), np.array(ref.D_Y, dtype=float)), abs=2e-3
    )


ROWS = st.lists(st.tuples(st.integers(0, 64), st.booleans(), st.integers(1, 4)), min_size=1, max_size=20)


@settings(max_examples=20, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_properties(rows, random):
    p, y, w = (np.array(a) for a in zip(*rows, strict=True))
    p = p / 64
    value = smooth_error(profile(p, y)).value
    order = list(range(len(rows)))
    random.shuffle(order)
    assert smooth_error(profile(p[order], y[order])).value == value
    assert smooth_error(profile(1 - p, ~y.astype(bool))).value == pytest.approx(value, abs=1e-9)
    weighted = smooth_error(profile(p, y, weight=w.astype(float))).value
    assert smooth_error(profile(np.repeat(p, w), np.repeat(y, w))).value == pytest.approx(weighted, abs=1e-9)
    assert smooth_error(profile(p, y, weight=w * 2.0**60)).value == weighted


def test_a_coarse_grid_of_many_cells_is_the_same_filled_or_thinned():
    rng = np.random.default_rng(4)
    p = rng.random(300_000)
    blur = module._Blur(profile(p, rng.random(300_000) < p**1.1))
    for steps in (2**13, 2**16, 2**18, 2**19):
        at = np.minimum(p_at := blur._value * steps, steps)
        left = np.minimum(at.astype(int), steps - 1)
        filled = np.zeros(steps + 1)
        np.add.at(filled, left, blur._residual * (1 - (p_at - left)))
        np.add.at(filled, left + 1, blur._residual * (p_at - left))
        np.testing.assert_allclose(blur._grid(steps), filled, rtol=0, atol=1e-15)
