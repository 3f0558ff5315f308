"""Binned errors: worked examples, the array path, classwise errors and the sweep over bins."""

import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref

import calibcore as cc
from calibcore.measures.calibration_error import make_partition, sweep
from calibcore.predictions import Predictions

D = (ref.D_Y, np.array(ref.floats(ref.D_P)))
# Six rows, three classes
THREE = [
    (Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)),
    (Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)),
    (Fraction(5, 10), Fraction(4, 10), Fraction(1, 10)),
]
THREE += [
    (Fraction(2, 10), Fraction(7, 10), Fraction(1, 10)),
    (Fraction(1, 10), Fraction(5, 10), Fraction(4, 10)),
    (Fraction(1, 10), Fraction(1, 10), Fraction(8, 10)),
]
THREE_FLOATS = np.array([ref.floats(row) for row in THREE])
THREE_Y = [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("closed", "counts", "ece", "mce", "msce"),
    [
        # right: bins hold (1,3,4)/20, (7,8)/20, 11/20, (13,16)/20, (18,19)/20
        ("right", [3, 2, 1, 2, 2], Fraction(21, 100), Fraction(11, 20), Fraction(493, 8000)),
        # left: (1,3)/20, (4,7)/20, (8,11)/20, 13/20, (16,18,19)/20: gaps −1/10, 9/40, 1/40, 7/20, 7/60
        ("left", [2, 2, 2, 1, 3], Fraction(7, 50), Fraction(7, 20), None),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_definition_2_d_at_both_closed_sides(closed, counts, ece, mce, msce, dtype):
    b = cc.bin_statistics(D[0], D[1].astype(dtype), n_bins=5, closed=closed)
    tolerance = 1e-15 if dtype == np.float64 else 1e-7
    assert b.count.tolist() == counts
    assert b.ece == pytest.approx(float(ece), abs=tolerance)
    assert b.mce == pytest.approx(float(mce), abs=tolerance)
    if msce is not None:
        assert b.rmsce == pytest.approx(math.sqrt(msce), abs=tolerance)


def test_rmsce_of_d():
    # left-closed: 1/10·[2·(1/10)² + 2·(9/40)² + 2·(1/40)² + (7/20)² + 3·(7/60)²]
    expected = (
        2 * Fraction(1, 10) ** 2 + 2 * Fraction(9, 40) ** 2 + 2 * Fraction(1, 40) ** 2 + Fraction(7, 20) ** 2 + 3 * Fraction(7, 60) ** 2
    ) / 10
    assert expected == ref.msce(ref.sums(ref.D_P, ref.D_Y, ref.equal_width(5), "left"))
    assert cc.root_mean_square_calibration_error(*D, n_bins=5, closed="left") == pytest.approx(math.sqrt(expected), abs=1e-15)
    assert round(math.sqrt(expected), 6) == 0.169066


def test_the_three_functions_are_those_of_bin_statistics():
    b = cc.bin_statistics(*D, n_bins=5)
    assert cc.expected_calibration_error(*D, n_bins=5) == b.ece
    assert cc.maximum_calibration_error(*D, n_bins=5) == b.mce
    assert cc.root_mean_square_calibration_error(*D, n_bins=5) == b.rmsce


def test_definition_3_equal_mass_on_d():
    b = cc.bin_statistics(*D, n_bins=5, strategy="equal_mass")
    assert (b.count.tolist(), b.strategy) == ([2, 2, 2, 2, 2], "equal_mass")
    assert b.ece == pytest.approx(7 / 50, abs=1e-15)


def test_definition_6_e_is_well_separated():
    # E: 50 rows at 0.1 with 10 events, 50 at 0.9 with 40 events: both gaps are a tenth
    p = [0.1] * 50 + [0.9] * 50
    y = [1] * 10 + [0] * 40 + [1] * 40 + [0] * 10
    for m in (2, 10, 15):
        assert cc.expected_calibration_error(y, p, n_bins=m) == pytest.approx(0.1, abs=1e-15)
    assert cc.bin_statistics(y, p, n_bins=2).gap.tolist() == pytest.approx([0.1, -0.1])
    # both halves say 90 % and are right 80 % of the time: top-label gap −0.1 in the one bin that is filled
    top = cc.bin_statistics(y, p, n_bins=10, view="top_label")
    assert top.used == 1
    assert top.gap[8] == pytest.approx(-0.1, abs=1e-15)  # 0.9 closes (0.8, 0.9]


def test_definition_6_default_views():
    p = np.array([0.12, 0.15, 0.88, 0.85, 0.91])
    y = [0, 0, 1, 1, 0]
    assert cc.expected_calibration_error(y, p, n_bins=5) == pytest.approx(91 / 500, abs=1e-15)  # (n,): positive
    both = np.column_stack([1 - p, p])
    assert cc.expected_calibration_error(y, both, n_bins=5) == pytest.approx(37 / 500, abs=1e-15)  # (n, K): top label
    assert cc.expected_calibration_error(y, p, n_bins=5, view="top_label") == pytest.approx(37 / 500, abs=1e-15)
    assert cc.expected_calibration_error(y, both, n_bins=5, view="positive") == pytest.approx(91 / 500, abs=1e-15)
    assert cc.Settings().view == "top_label"


def test_confidence_ece_of_two_opposite_classes_is_zero():
    # five rows say a (1 right), five say b (5 right), all at 0.6: together 6 of 10 are right
    p = [[0.6, 0.4]] * 5 + [[0.4, 0.6]] * 5
    y = ["a"] + ["b"] * 9
    assert cc.expected_calibration_error(y, p, n_bins=10) == pytest.approx(0, abs=1e-15)


def test_definition_6_classwise():
    c = cc.classwise_calibration_error(THREE_Y, THREE_FLOATS, n_bins=2)
    assert list(c.per_class) == ["0", "1", "2"]
    assert list(c.per_class.values()) == pytest.approx([4 / 15, 2 / 15, 1 / 15], abs=1e-15)
    assert c.mean == pytest.approx(7 / 45, abs=1e-15)
    assert c.rows == {"0": 2, "1": 2, "2": 2}
    assert cc.expected_calibration_error(THREE_Y, THREE_FLOATS, n_bins=2) == pytest.approx(11 / 30, abs=1e-15)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("strategy", ["equal_width", "equal_mass"])
@pytest.mark.parametrize("m", [1, 2, 3, 5, 10])
def test_definition_6_classwise_against_plain_loops(m, strategy, closed):
    c = cc.classwise_calibration_error(THREE_Y, THREE_FLOATS, n_bins=m, strategy=strategy, closed=closed)
    for k in range(3):
        ps, ys = [row[k] for row in THREE], [int(y == k) for y in THREE_Y]
        edges, side = (ref.equal_width(m), closed) if strategy == "equal_width" else (ref.equal_mass_edges(ps, m), "right")
        assert c.per_class[str(k)] == pytest.approx(float(ref.ece(ref.sums(ps, ys, edges, side))), abs=1e-14)


def test_definition_6_classwise_of_a_binary_model_holds_both_classes():
    p = np.array([0.12, 0.15, 0.88, 0.85, 0.91])
    c = cc.classwise_calibration_error([0, 0, 1, 1, 0], p, n_bins=5)
    assert list(c.per_class.values()) == pytest.approx([91 / 500, 91 / 500], abs=1e-15)


def test_classwise_error_of_the_views():
    p = Predictions.from_arrays(THREE_Y, THREE_FLOATS)
    c = cc.classwise_calibration_error(THREE_Y, THREE_FLOATS, n_bins=4)
    for name, value in c.per_class.items():
        assert cc.analyze(p, cc.Settings(n_bins=4, view=f"class:{name}")).ece == pytest.approx(value, abs=1e-15)


def test_classwise_refuses_settings_that_do_not_exist():
    with pytest.raises(cc.InputError, match="strategy must be"):
        cc.classwise_calibration_error(THREE_Y, THREE_FLOATS, strategy="equalwidth")
    with pytest.raises(cc.InputError, match="ties must be"):
        cc.classwise_calibration_error(THREE_Y, THREE_FLOATS, strategy="equal_mass", ties="x")
    with pytest.raises(TypeError):
        cc.classwise_calibration_error(THREE_Y, THREE_FLOATS, bins=10)


def test_binned_errors_refuse_settings_that_do_not_exist():
    for options, message in (
        ({"strategy": "custom"}, "strategy must be 'equal_width' or 'equal_mass', or give edges"),
        ({"strategy": "uniform"}, "strategy must be"),
        ({"closed": "both"}, "closed must be"),
        ({"ties": "split", "strategy": "equal_mass"}, "ties must be"),
        ({"ties": "split"}, "ties must be"),
        ({"n_bins": 0}, "whole number"),
        ({"edges": [0, 2]}, "rise from 0 to 1"),
        ({"view": "negative"}, "There is no view 'negative'"),
    ):
        with pytest.raises(cc.InputError, match=message):
            cc.expected_calibration_error(*D, **options)
    with pytest.raises(TypeError):
        cc.expected_calibration_error(*D, bins=10)


def test_edges_win_over_bins_and_strategy():
    b = cc.bin_statistics(*D, n_bins=3, strategy="equal_mass", edges=[0, 0.2, 0.4, 0.6, 0.8, 1])
    assert (b.strategy, b.requested) == ("custom", 5)
    assert b.ece == pytest.approx(21 / 100, abs=1e-15)


@pytest.mark.parametrize("strategy", ["equal_width", "equal_mass"])
@pytest.mark.parametrize("ties", ["together", "share"])
@pytest.mark.parametrize("weighted", [False, True])
def test_array_path_equals_profile_path(strategy, ties, weighted):
    rng = np.random.default_rng(11)
    p, y = rng.integers(0, 41, 300) / 40, rng.integers(0, 2, 300)
    w = rng.integers(1, 5, 300).astype(float) if weighted else None
    for closed in ("right", "left"):
        for view in ("positive", "top_label", "class:0"):
            options = {"n_bins": 10, "strategy": strategy, "ties": ties, "closed": closed}
            a = cc.bin_statistics(y, p, view=view, sample_weight=w, **options)
            profile = Predictions.from_arrays(y, p, sample_weight=w).profile(view)
            b = profile.bin(make_partition(profile, **options))
            np.testing.assert_allclose(a.gap, b.gap, atol=1e-13)
            np.testing.assert_allclose(a.n_effective, b.n_effective, rtol=1e-13)
            assert a.count.tolist() == b.count.tolist()
            assert (a.strategy, a.closed, a.requested) == (b.strategy, b.closed, b.requested)


def test_array_path_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(12)
    for _ in range(50):
        p = rng.random(57)
        y = (rng.random(57) < p).astype(int)
        order = rng.permutation(57)
        assert cc.expected_calibration_error(y[order], p[order]) == cc.expected_calibration_error(y, p)


def test_sweep_is_the_ece_of_each_number_of_bins():
    profile = Predictions.from_arrays(*D).profile("positive")
    for closed in ("right", "left"):
        s = sweep(profile, closed=closed)
        assert s.n_bins == tuple(range(2, 101))
        for m, width, mass in zip(s.n_bins, s.equal_width, s.equal_mass, strict=True):
            assert width == pytest.approx(float(ref.ece(ref.sums(ref.D_P, ref.D_Y, ref.equal_width(m), closed))), abs=1e-15)
            rows = ref.sums(ref.D_P, ref.D_Y, ref.equal_mass_edges(ref.D_P, m))
            assert mass == pytest.approx(float(ref.ece(rows)), abs=1e-15)


def test_sweep_with_shared_ties():
    ps = [Fraction(1, 2)] * 6 + [Fraction(9, 10)] * 2
    ys = [1, 1, 1, 0, 0, 0, 1, 0]
    s = sweep(Predictions.from_arrays(ys, ref.floats(ps)).profile("positive"), ties="share", n_bins=[2, 3, 4, 5])
    assert s.equal_mass == pytest.approx([float(ref.ece(ref.shared_sums(ps, ys, m))) for m in (2, 3, 4, 5)], abs=1e-15)


def test_one_row_and_one_outcome():
    b = cc.bin_statistics([1], [0.4])
    assert (b.ece, b.mce, b.used) == (0.6, 0.6, 1)
    assert cc.expected_calibration_error([1, 1, 1], [1, 1, 1]) == 0
    assert cc.expected_calibration_error([0, 0], [0, 0]) == 0
    assert cc.expected_calibration_error([1, 0], [0, 1]) == 1
