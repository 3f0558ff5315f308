"""Size and power of the detection test: how often calibrated models are called miscalibrated, and faults are found.

By default a few seeded draws a setting.  With CALIBCORE_FULL_SIMULATION set, 2,000 draws (fewer at 10,000 rows and more)
in two processes; if its value is a path, the table is written there.
"""

import math
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from calibcore.inference.significance import detect
from calibcore.predictions import Predictions

TOLD = os.environ.get("CALIBCORE_FULL_SIMULATION", "")
FULL = bool(TOLD)
DRAWS = {100: 2000, 300: 2000, 1000: 2000, 10_000: 1000, 100_000: 200} if FULL else {100: 30, 300: 10, 1100: 3}
POWER_DRAWS = 1000 if FULL else 12
NOMINAL, ALLOWED = 0.05, 0.065


def from_confidence(rng, c, **beside):
    return Predictions.from_top_label(c, rng.random(len(c)) < c, **beside)


def uniform(rng, n):
    p = rng.random(n)
    return Predictions.from_arrays((rng.random(n) < p).astype(int), p)


def skewed(rng, n):
    return from_confidence(rng, rng.beta(20, 1, n))


def two_valued(rng, n):
    return from_confidence(rng, rng.choice([0.6, 0.9], n))


def tied(rng, n):
    p = rng.random(n).round(1)
    return Predictions.from_arrays((rng.random(n) < p).astype(int), p)


def ten_classes(rng, n):
    p = rng.dirichlet(np.full(10, 0.3), n)
    p = np.maximum(p, 1e-12) / np.maximum(p, 1e-12).sum(axis=1, keepdims=True)
    label = np.minimum((rng.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1), 9)
    return Predictions.from_arrays(label, p)


def weights_to_10(rng, n):
    return from_confidence(rng, rng.uniform(0.5, 1, n), sample_weight=rng.uniform(1, 10, n))


def weights_lognormal(rng, n):
    return from_confidence(rng, rng.choice([0.8, 0.95, 0.99], n), sample_weight=rng.lognormal(0, 1.5, n))


def weights_and_two_decimals(rng, n):
    p = rng.random(n).round(2)
    return Predictions.from_arrays((rng.random(n) < p).astype(int), p, sample_weight=rng.gamma(1, 1, n))


def one_weight_of_1000(rng, n):
    w = np.ones(n)
    w[0] = 1000
    return from_confidence(rng, rng.uniform(0.5, 1, n).round(2), sample_weight=w)


def five_times(rng, n, confidences):
    c = confidences(n // 5)
    right = rng.random(n // 5) < c
    return Predictions.from_top_label(np.repeat(c, 5), np.repeat(right, 5), cluster=np.repeat(np.arange(n // 5), 5))


def uniform_five_times(rng, n):
    return five_times(rng, n, lambda m: rng.uniform(0.5, 1, m))


def skewed_five_times(rng, n):
    return five_times(rng, n, lambda m: rng.beta(20, 1, m))


def partly_dependent(rng, n, c):
    """Right where Φ(z) < c, with z correlated by ½ within clusters of five; each row has its own confidence."""
    z = np.repeat(rng.standard_normal(n // 5), 5) + rng.standard_normal(n)
    return Predictions.from_top_label(c, special.ndtr(z / np.sqrt(2)) < c, cluster=np.repeat(np.arange(n // 5), 5))


def uniform_partly_dependent(rng, n):
    return partly_dependent(rng, n, rng.uniform(0.5, 1, n))


def skewed_partly_dependent(rng, n):
    return partly_dependent(rng, n, rng.beta(20, 1, n))


CALIBRATED = [
    uniform,
    skewed,
    two_valued,
    tied,
    ten_classes,
    weights_to_10,
    weights_lognormal,
    weights_and_two_decimals,
    one_weight_of_1000,
    uniform_five_times,
    skewed_five_times,
    uniform_partly_dependent,
    skewed_partly_dependent,
]


def three_points_over(rng, n):
    c = rng.uniform(0.5, 1, n)
    return Predictions.from_top_label(c, rng.random(n) < c - 0.03)


def shift_of_five_points(rng, n):
    p = rng.uniform(0.05, 1, n)
    return Predictions.from_arrays((rng.random(n) < p - 0.05).astype(int), p)


def count(make, n, draws, part):
    """Detections in some seeded draws of a setting."""
    rng = np.random.default_rng([2026, n, part, *make.__name__.encode()])
    return sum(detect(make(rng, n)).detected for _ in range(draws))


@pytest.fixture(scope="module")
def detections():
    """A function of a setting that counts its detections, in two processes for the full simulation."""
    if not FULL:
        yield lambda make, n, draws, _first=0: count(make, n, draws, 0)
        return
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:

        def counted(make, n, draws, first=0):
            hits = sum(pool.map(count, [make] * 4, [n] * 4, [draws // 4] * 4, range(first, first + 4)))
            if TOLD not in ("1", "true", "yes"):
                with Path(TOLD).open("a", encoding="utf-8") as table:
                    table.write(f"{make.__name__:26} {n:>7} {draws:>5} {hits / draws:.4f}\n")
            return hits

        yield counted


def most_hits(draws, share):
    """Hits that a test of this size passes once in 10,000 simulations."""
    return int(special.bdtrik(1 - 1e-4, draws, share)) + 1


def judged(detections, make, n):
    """Draws and hits of a setting."""
    # at a size of 5 %, 6.5 % of 2,000 draws is three standard errors away, which one in 700 settings passes by chance: such
    # a setting is judged on 8,000 draws
    draws = DRAWS[n]
    hits = detections(make, n, draws)
    if draws >= 2000 and hits > ALLOWED * draws:
        return 4 * draws, hits + detections(make, n, 3 * draws, 4)
    return draws, hits


def test_calibrated_models_are_seldom_called_miscalibrated(detections):
    """In each setting, and in all of them together; one test, so that the samples are drawn once."""
    found = {(make.__name__, n): judged(detections, make, n) for n in DRAWS for make in CALIBRATED}
    # fewer draws than 2,000 get the room that they need
    limits = {k: ALLOWED * draws if draws >= 2000 else most_hits(draws, ALLOWED) for k, (draws, _) in found.items()}
    assert {k: hits for k, (_, hits) in found.items() if hits > limits[k]} == {}
    draws, hits = (sum(v) for v in zip(*found.values(), strict=True))
    assert draws >= 559  # of which a test of 5 % calls between 2.2 and 7.8 % with three standard errors
    assert hits / draws <= max(ALLOWED, NOMINAL + 3 * math.sqrt(NOMINAL * (1 - NOMINAL) / draws))
    assert hits / draws >= 0.022  # and it is no dead letter


@pytest.mark.parametrize(
    ("make", "n"), [(three_points_over, 10_000), (shift_of_five_points, 2000)], ids=lambda x: getattr(x, "__name__", x)
)
def test_faults_are_found_in_95_of_100_samples(detections, make, n):
    # three points: z = 0.03·√10,000/√(mean c(1 − c) = 1/6) = 7.3; five: 0.05·√2,000/√0.166 = 5.5 in the positive view
    missed = POWER_DRAWS - detections(make, n, POWER_DRAWS)
    assert missed <= (0.05 * POWER_DRAWS if FULL else most_hits(POWER_DRAWS, 0.05))
