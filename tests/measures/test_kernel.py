"""Kernel calibration errors: against plain double loops over rows, by hand, and under calibration."""

import itertools
import json
import math

import numpy as np
import pytest
import reference as ref
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.errors import InputError
from calibcore.measures.kernel import kde_calibration_error, kde_error, kernel_calibration_error, kernel_error
from calibcore.profile import Profile


def profile(p, y, **options):
    return Profile.from_rows(np.asarray(p, dtype=np.float64), np.asarray(y, dtype=bool), view="positive", task="binary", **options)


def beta_density(at, centre, h):
    a, b = centre / h + 1, (1 - centre) / h + 1
    return at ** (a - 1) * (1 - at) ** (b - 1) * math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))


def plain_kde(p, y, h, power=1):
    """Two loops over rows."""
    n, found = len(p), 0.0
    for i in range(n):
        k = [beta_density(p[i], p[j], h) for j in range(n) if j != i]
        events = [k_j * y_j for k_j, y_j in zip(k, [y[j] for j in range(n) if j != i], strict=True)]
        found += abs(sum(events) / sum(k) - p[i]) ** power
    return found / n


def plain_pairs(p, y, width, w=None):
    """Biased and unbiased mean over pairs of rows."""
    w = [1] * len(p) if w is None else w
    r = [a * (b - c) for a, b, c in zip(w, y, p, strict=True)]
    every = {(i, j): r[i] * r[j] * math.exp(-abs(p[i] - p[j]) / width) for i, j in itertools.product(range(len(p)), repeat=2)}
    whole, own = sum(w), sum(v * v for v in w)
    different = sum(v for (i, j), v in every.items() if i != j)
    return sum(every.values()) / whole**2, different / (whole**2 - own)


def test_kde_of_d():
    # worked example: beta kernel, h = 0.1, each row left out of its own estimate
    p = ref.floats(ref.D_P)
    assert kde_calibration_error(ref.D_Y, p, bandwidth=0.1) == pytest.approx(0.1596724998, abs=1e-10)
    assert kde_calibration_error(ref.D_Y, p, bandwidth=0.1, power=2) == pytest.approx(0.0348021024, abs=1e-10)


@pytest.mark.parametrize("h", [0.02, 0.1, 0.5])
def test_kde_leaves_out_one_of_tied_rows(h):
    rng = np.random.default_rng(0)
    p = rng.choice([0.1, 0.25, 0.5, 0.6, 0.9], 40)
    y = (rng.random(40) < p).astype(int)
    assert kde_error(profile(p, y), bandwidth=h) == pytest.approx(plain_kde(p, y, h), rel=1e-10)
    assert kde_error(profile(p, y), bandwidth=h, power=2) == pytest.approx(plain_kde(p, y, h, 2), rel=1e-10)


def test_kde_by_hand():
    # ten equal scores ½ with 6 events: an event sees 5 of 9, another row 6 of 9: (6·|5/9 − ½| + 4·|6/9 − ½|)/10 = 1/10
    assert kde_error(profile([0.5] * 10, [1] * 6 + [0] * 4), bandwidth=0.05) == pytest.approx(0.1, abs=1e-12)
    # two rows see each other only, whatever the bandwidth: (|0 − ¼| + |1 − ¾|)/2
    for h in (1e-4, 0.1, 10.0):
        assert kde_error(profile([0.25, 0.75], [1, 0]), bandwidth=h) == pytest.approx(0.25, abs=1e-12)


def test_kde_at_the_ends():
    # at a score of exactly 0 the nearest other score decides (0.2, an event): |1 − 0| for the row at 0; the row at 0.2
    # sees the scores 0 (no event) and 1 (an event): density at 0.2 of Beta(1, 11), 11·0.8¹⁰, against Beta(11, 1), 11·0.2¹⁰; the row at 1
    # sees 0.2 nearest: |1 − 1| = 0
    share = 0.2**10 / (0.8**10 + 0.2**10)
    expected = (1 + abs(share - 0.2) + 0) / 3
    assert kde_error(profile([0.0, 0.2, 1.0], [0, 1, 1]), bandwidth=0.1) == pytest.approx(expected, abs=1e-12)


def test_kde_limits():
    with pytest.raises(InputError, match="at most 5,000 rows"):
        kde_error(profile(np.full(5001, 0.5), np.zeros(5001)), bandwidth=0.1)
    with pytest.raises(InputError, match="at least 2 rows"):
        kde_error(profile([0.5], [1]), bandwidth=0.1)
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="bandwidth"):
            kde_error(profile([0.5, 0.6], [1, 0]), bandwidth=bad)
    with pytest.raises(InputError, match="power"):
        kde_error(profile([0.5, 0.6], [1, 0]), bandwidth=0.1, power=0)


def test_kde_weights_of_rows_apart():
    # rows with distinct scores: weighted means, each row left out with its whole weight
    rng = np.random.default_rng(5)
    p, w = rng.random(15), rng.random(15) + 0.1
    y = rng.random(15) < p
    expected = 0.0
    for i in range(15):
        k = np.array([0.0 if j == i else w[j] * beta_density(p[i], p[j], 0.2) for j in range(15)])
        expected += w[i] * abs(float(k @ y / k.sum()) - p[i]) / w.sum()
    assert kde_error(profile(p, y, weight=w), bandwidth=0.2) == pytest.approx(expected, rel=1e-10)


def test_kernel_error_of_d():
    # worked example: all pairs, Laplace kernel of width 0.4
    k = kernel_calibration_error(ref.D_Y, ref.floats(ref.D_P))
    assert k.biased == pytest.approx(0.0077339644, abs=1e-10)
    assert k.mmce == pytest.approx(0.0879429611, abs=1e-10)
    assert k.unbiased == pytest.approx(-0.0094622618, abs=1e-10)


@pytest.mark.parametrize("width", [1e-3, 0.05, 0.4, 20.0])
def test_sweep_is_the_sum_over_pairs(width):
    rng = np.random.default_rng(1)
    p = np.concatenate([rng.random(60), rng.choice([0.0, 0.3, 1.0], 30)])
    y = (rng.random(90) < 0.5).astype(int)
    k = kernel_error(profile(p, y), width=width)
    assert (k.biased, k.unbiased) == pytest.approx(plain_pairs(p, y, width), rel=1e-9, abs=1e-13)
    w = rng.random(90) + 0.1
    k = kernel_error(profile(p, y, weight=w), width=width)
    assert (k.biased, k.unbiased) == pytest.approx(plain_pairs(p, y, width, w), rel=1e-9, abs=1e-13)


def test_unbiased_under_calibration():
    # exact mean over all labels of three rows: E r_i r_j = 0 for i ≠ j, so 0; the biased one has Σp(1 − p)/n² instead
    p = [0.2, 0.5, 0.6]
    mean = np.zeros(2)
    for y in itertools.product((0, 1), repeat=3):
        k = kernel_error(profile(p, y))
        mean += np.array([k.unbiased, k.biased]) * math.prod(q if e else 1 - q for q, e in zip(p, y, strict=True))
    assert mean == pytest.approx([0.0, (0.16 + 0.25 + 0.24) / 9], abs=1e-15)


def test_p_value_of_d_by_all_labels():
    p = ref.floats(ref.D_P)
    seen = kernel_error(profile(p, ref.D_Y))
    exact = sum(
        math.prod(q if e else 1 - q for q, e in zip(p, y, strict=True))
        for y in itertools.product((0, 1), repeat=10)
        if kernel_error(profile(p, y)).biased >= seen.biased * (1 - 1e-9)
    )
    assert seen.p_value(draws=20_000) == pytest.approx(exact, abs=0.0142)  # 4·√(0.25/20,000)


def test_p_value_in_groups():
    # more than 1,024 cells: calibrated samples of 3,000 rows, 5 % of 100 are 5 ± 2.2; a shift of 0.05 is 6.5 standard errors
    rng = np.random.default_rng(2)
    found = []
    for seed in range(100):
        p = rng.random(3000)
        found.append(kernel_error(profile(p, rng.random(3000) < p)).p_value(draws=99, seed=seed))
    assert sum(v <= 0.05 for v in found) <= 14
    assert kernel_error(profile(p, rng.random(3000) < p * 0.9 + 0.1)).p_value(draws=99) == 0.01


def test_width_must_be_a_number():
    for bad in (0.0, 1e-5, math.nan, math.inf):
        with pytest.raises(InputError, match="width"):
            kernel_error(profile([0.5], [1]), width=bad)


@pytest.mark.parametrize(
    ("p", "y"), [([0.5], [1]), ([0.3] * 20, [0] * 20), ([0.0, 0.2, 0.2, 1.0], [0, 0, 0, 1]), ([1.0], [0]), ([0.0], [0])]
)
@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_edges_of_input(p, y, scale):
    for dtype in (np.float32, np.float64):
        cells = Profile.from_rows(np.array(p, dtype=dtype), np.array(y, dtype=bool), weight=np.full(len(p), scale))
        k = kernel_error(cells)
        assert json.dumps(k.to_dict(), allow_nan=False)
        assert (k.unbiased is None) == (len(p) == 1)
        assert 0 < k.p_value(draws=20) <= 1
        if len(p) > 1:
            assert 0 <= kde_error(cells, bandwidth=1e-3) <= 1


def test_weights_that_differ_beyond_all_digits():
    cells = profile([0.5, 0.5], [1, 1], weight=np.array([1.0, 1e-20]))
    assert 0 <= kde_error(cells, bandwidth=0.1) <= 1
    assert kernel_error(cells).biased == pytest.approx(0.25)


ROWS = st.lists(st.tuples(st.integers(0, 64), st.booleans(), st.integers(1, 4)), min_size=2, max_size=20)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_properties(rows, random):
    p, y, w = (np.array(a) for a in zip(*rows, strict=True))
    p = p / 64
    cells = profile(p, y)
    k, density = kernel_error(cells), kde_error(cells, bandwidth=0.1)
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = profile(p[order], y[order])
    assert kernel_error(shuffled).biased == k.biased
    assert kde_error(shuffled, bandwidth=0.1) == density
    mirrored = profile(1 - p, ~y.astype(bool))
    assert (kernel_error(mirrored).biased, kernel_error(mirrored).unbiased) == pytest.approx((k.biased, k.unbiased), abs=1e-13)
    assert kde_error(mirrored, bandwidth=0.1) == pytest.approx(density, abs=1e-10)
    weighted = profile(p, y, weight=w.astype(float))
    assert kernel_error(profile(np.repeat(p, w), np.repeat(y, w))).biased == pytest.approx(kernel_error(weighted).biased, abs=1e-13)
    scaled = profile(p, y, weight=w * 2.0**60)
    assert kernel_error(scaled).unbiased == pytest.approx(kernel_error(weighted).unbiased, abs=1e-13)
    assert kde_error(scaled, bandwidth=0.1) == pytest.approx(kde_error(weighted, bandwidth=0.1), abs=1e-12)
