"""Speed of the statistics, answers checked: `pytest tests/benchmarks -n 0 --benchmark-enable`; a plain run uses few rows, once."""

from __future__ import annotations

import math

import numpy as np
import pytest

import calibcore as cc
from calibcore.inference.chance import chance_range
from calibcore.inference.significance import detect
from calibcore.measures.calibration_error import sweep

BINS = 15
TOO_SURE = 0.1  # right this much less often than claimed, at every confidence


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest):
    """Confidences of 0.5 to 1 and whether each was right."""
    n = 1_000_000 if request.config.getoption("benchmark_enable") else 20_000
    rng = np.random.default_rng(5)
    confidence = rng.uniform(0.5, 1.0, n)
    return confidence, rng.random(n) < confidence - TOO_SURE


@pytest.fixture(scope="module")
def profile(rows):
    return cc.Predictions.from_top_label(*rows).profile()


def sums_of_bins(confidence, weights, bins=BINS):
    """Sum of the weights in each of equal bins (a, b], straight from the rows."""
    return np.bincount(np.ceil(confidence * bins).astype(int) - 1, weights=weights, minlength=bins)


def direct_ece(rows, bins=BINS):
    """Σ|right − claimed| of each bin, over n."""
    confidence, correct = rows
    return np.abs(sums_of_bins(confidence, correct - confidence, bins)).sum() / len(confidence)


@pytest.mark.benchmark(group="ECE of the rows, once")
def test_sum_of_the_rows_as_a_yardstick(benchmark, rows):
    """What reading every row once costs."""
    assert math.isclose(benchmark(np.sum, rows[0]), math.fsum(rows[0]), rel_tol=1e-12)


@pytest.mark.benchmark(group="ECE of the rows, once")
def test_ece_of_the_rows(benchmark, rows):
    confidence, correct = rows
    ece = benchmark(cc.expected_calibration_error, correct, confidence, n_bins=BINS)
    assert math.isclose(ece, direct_ece(rows), rel_tol=1e-9)


@pytest.mark.benchmark(group="profile")
def test_building_a_profile(benchmark, rows):
    confidence, correct = rows
    predictions = cc.Predictions.from_top_label(confidence, correct)
    profile = benchmark(lambda: cc.Profile.from_rows(predictions.confidence, predictions.correct))
    assert np.array_equal(profile.value, np.unique(confidence))
    assert profile.count.sum() == len(confidence)
    assert profile.positive.sum() == correct.sum()


@pytest.mark.benchmark(group="bins of a profile")
def test_binning_again(benchmark, rows, profile):
    partition = cc.Partition.equal_width(BINS)
    profile.bin(partition)  # the cumulative sums are made once
    bins = benchmark(profile.bin, partition)
    assert np.array_equal(bins.count, sums_of_bins(rows[0], None))
    assert math.isclose(bins.ece, direct_ece(rows), rel_tol=1e-9)


@pytest.mark.benchmark(group="bins of a profile")
def test_equal_mass_again(benchmark, rows, profile):
    bins = benchmark(lambda: profile.bin(cc.Partition.equal_mass(profile, BINS)))
    n = len(rows[0])
    assert set(bins.count.tolist()) <= {n // BINS, -(-n // BINS)}


@pytest.mark.benchmark(group="sweep over 2 to 100 bins")
def test_sweep(benchmark, rows, profile):
    found = benchmark(sweep, profile)
    assert found.n_bins == tuple(range(2, 101))
    for bins in (2, 15, 100):
        assert math.isclose(found.equal_width[bins - 2], direct_ece(rows, bins), rel_tol=1e-9)


@pytest.mark.benchmark(group="labels drawn again 1,000 times")
def test_chance_range(benchmark, rows, profile):
    confidence, _ = rows
    found = benchmark(chance_range, profile, cc.Partition.equal_width(BINS))
    # The residual of a calibrated bin is nearly normal with variance Σp(1−p), and E|N(0, v)| = √(2v/π).
    variance = sums_of_bins(confidence, confidence * (1 - confidence))
    assert math.isclose(found.median, np.sqrt(2 * variance / math.pi).sum() / len(confidence), rel_tol=0.1)
    assert found.p_value == 1 / 1001


@pytest.mark.benchmark(group="labels drawn again 1,000 times")
def test_detection(benchmark, rows, profile):
    confidence, correct = rows
    found = benchmark(detect, profile)
    assert found.p_value == 1 / 1001
    # Too sure everywhere, so the widest range of the cumulative residuals is about the whole gap, and never less than it.
    gap = abs(np.mean(correct - confidence))
    assert gap - 1e-12 <= found.kuiper < gap + 4 / math.sqrt(len(confidence))
