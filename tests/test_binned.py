"""Bins: counts, means and gaps by hand, empty bins, read-only results and the table."""

import math

import numpy as np
import pytest

import calibcore as cc
from calibcore.binned import BinnedStatistics, bin_rows
from calibcore.predictions import Predictions


def bins(p, y, **options):
    return cc.bin_statistics(y, p, view="positive", **options)


def test_definition_4_gap_is_accuracy_minus_confidence():
    b = bins([0.3, 0.3, 0.9, 0.9], [1, 1, 0, 1], n_bins=4)
    assert b.gap[[1, 3]].tolist() == pytest.approx([0.7, -0.4], abs=1e-15)
    assert b.ece == pytest.approx(0.55, abs=1e-15)
    assert (b.mce, b.mce_bin) == (0.7, 1)


def test_definition_5_empty_bins_stay_and_enter_no_sum():
    b = bins([0.91, 0.86, 0.22], [1, 1, 0], n_bins=4)
    assert b.count.tolist() == [1, 0, 0, 2]
    for values in (b.confidence, b.accuracy, b.gap, *b.interval(), *b.calibrated_range()):
        assert len(values) == 4
        assert np.isnan(values).tolist() == [False, True, True, False]
    assert b.filled.tolist() == [True, False, False, True]
    assert b.used == 2
    assert b.ece == pytest.approx(0.15, abs=1e-15)
    assert b.mce == pytest.approx(0.22, abs=1e-15)
    assert b.rmsce == pytest.approx(math.sqrt((0.22**2 + 2 * 0.115**2) / 3), abs=1e-15)


def test_definition_5_mce_bin_is_the_first_of_equals():
    b = bins([0.25, 0.75], [0, 1], n_bins=2)
    assert (b.mce, b.mce_bin) == (0.25, 0)


def test_mean_confidence_not_the_bin_centre():
    # always right at about 0.92: a measure that takes the centre 0.95 would say 3/40 for the four rows
    assert bins([0.91, 0.92, 0.93, 0.11], [1, 1, 1, 0], n_bins=10).ece == pytest.approx(7 / 80, abs=1e-15)
    assert bins([1, 1, 1], [1, 1, 1], n_bins=10).ece == 0.0


def test_definition_2_zero_and_one_belong_to_the_outer_bins():
    for closed in ("right", "left"):
        assert bins([0, 0, 0.05, 0.6], [1, 0, 0, 1], n_bins=4, closed=closed).count.tolist() == [3, 0, 1, 0]
        b = bins([0.97, 1, 1, 0.35], [1, 1, 0, 0], n_bins=5, closed=closed)
        assert b.count.tolist() == [0, 1, 0, 0, 3]
        assert b.ece == pytest.approx(0.33, abs=1e-15)


def test_definition_8_weighted_bins():
    b = bins([0.2, 0.4, 0.7, 0.9], [0, 1, 1, 1], n_bins=2, sample_weight=[1, 20, 1, 2])
    assert b.count.tolist() == [2, 2]
    assert b.weight.tolist() == [21, 3]
    assert b.confidence.tolist() == pytest.approx([41 / 105, 5 / 6], abs=1e-15)
    assert b.accuracy.tolist() == pytest.approx([20 / 21, 1], abs=1e-15)
    assert b.n_effective.tolist() == pytest.approx([441 / 401, 9 / 5], abs=1e-14)  # (Σw)²/Σw²
    assert b.ece == pytest.approx(41 / 80, abs=1e-15)
    assert b.mce == pytest.approx(59 / 105, abs=1e-15)


def test_definition_8_intervals_use_the_effective_number_of_rows():
    one = bins([0.5] * 8, [1, 1, 1, 0] * 2, n_bins=1)
    ten = bins([0.5] * 8, [1, 1, 1, 0] * 2, n_bins=1, sample_weight=[10] * 8)
    for a, b in zip((*one.interval(), *one.calibrated_range()), (*ten.interval(), *ten.calibrated_range()), strict=True):
        assert a.tolist() == pytest.approx(b.tolist(), abs=1e-12)  # a weight of 10 is not ten rows
    # Wilson with n = (Σw)²/Σw² = 12²/48 = 3 and share 9/12: k = 2.25
    b = bins([0.5] * 6, [1, 1, 1, 0, 0, 0], n_bins=1, sample_weight=[6, 2, 1, 1, 1, 1])
    n, k, z = 144 / 44, 9 / 12 * 144 / 44, 1.959963984540054
    half = z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    low, high = b.interval()
    assert [low[0], high[0]] == pytest.approx([(k + z * z / 2) / (n + z * z) - half, (k + z * z / 2) / (n + z * z) + half], abs=1e-12)


def test_weighted_all_right_reaches_exactly_one():
    b = bins([0.15, 0.25, 0.95, 0.95], [0, 1, 1, 1], n_bins=10, sample_weight=[0.1, 0.3, 0.7, 0.2])
    assert b.interval()[1][9] == 1.0
    assert b.accuracy[9] == 1.0


def test_definition_2_counts_sum_to_n():
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(500), np.arange(101) / 100, [0, 1, 5e-324, 1 - 2.0**-53]])
    y = rng.integers(0, 2, len(p))
    for m in (1, 2, 3, 7, 10, 15, 99, 100, 1000):
        for options in ({"closed": "right"}, {"closed": "left"}, {"strategy": "equal_mass"}, {"strategy": "equal_mass", "ties": "share"}):
            b = bins(p, y, n_bins=m, **options)
            assert b.count.sum() == len(p)
            assert b.weight.sum() == pytest.approx(len(p), abs=1e-9)


def test_results_are_frozen_and_read_only():
    b = bins([0.2, 0.8], [0, 1], n_bins=2)
    for name in ("edges", "count", "weight", "confidence", "accuracy", "n_effective"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(b, name)[0] = 0
    with pytest.raises(AttributeError):
        b.closed = "left"
    with pytest.raises((AttributeError, TypeError)):
        b.note = "x"


def test_definition_10_settings_travel_with_the_numbers():
    b = bins([0.2, 0.8], [0, 1], n_bins=7, closed="left")
    assert (b.closed, b.strategy, b.requested, b.shared) == ("left", "equal_width", 7, False)
    b = bins([0.2, 0.8], [0, 1], n_bins=7, strategy="equal_mass", ties="share")
    assert (b.strategy, b.requested, b.shared) == ("equal_mass", 7, True)


def test_to_frame():
    frame = bins([0.91, 0.86, 0.22], [1, 1, 0], n_bins=4).to_frame()
    assert frame["count"].tolist() == [1, 0, 0, 2]
    assert frame["lower"].tolist() == [0, 0.25, 0.5, 0.75]
    assert frame["upper"].tolist() == [0.25, 0.5, 0.75, 1]
    assert frame["gap"].isna().tolist() == [False, True, True, False]
    assert frame["gap"].iloc[3] == pytest.approx(0.115, abs=1e-15)
    assert frame["interval_low"].iloc[0] == 0.0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_and_cells_bin_alike_in_every_precision(dtype, weighted):
    rng = np.random.default_rng(1)
    p = (rng.integers(0, 101, 400) / 100).astype(dtype)
    y = rng.random(400) < 0.5
    w = rng.integers(1, 4, 400).astype(float) if weighted else None
    for m in (4, 5, 10, 20, 25, 100):
        for closed in ("right", "left"):
            part = cc.Partition.equal_width(m, closed)
            direct = bin_rows(part, p, y, w)
            cells = Predictions.from_top_label(p, y, sample_weight=w).profile().bin(part)
            assert isinstance(direct, BinnedStatistics)
            assert direct.count.tolist() == cells.count.tolist()
            np.testing.assert_allclose(direct.gap, cells.gap, atol=1e-12)
            assert direct.ece == pytest.approx(cells.ece, abs=1e-12)
