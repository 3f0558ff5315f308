"""How often each pattern is found, in simulation: the rates that the product states, over seeded samples.

200 samples a cell with CALIBCORE_FULL_SIMULATION set, else 30, and then only of 1,000 rows where half of them or more show
the pattern or hardly any should, which few samples can tell from a fault.  The tolerance is 8 points and, beyond it, the
sampling error of the share (three standard errors at fewer than 200 samples).
"""

import os
from functools import partial

import numpy as np
import pytest
from scipy import special

from calibcore.advice.patterns import find_pattern
from calibcore.inference.significance import detect
from calibcore.predictions import Predictions

FULL = bool(os.environ.get("CALIBCORE_FULL_SIMULATION"))
SAMPLES = 200 if FULL else 30


def top_label(truth, low, n, rng):
    c = rng.uniform(low, 1, n)
    return Predictions.from_top_label(c, rng.random(n) < truth(c))


def shifted(n, rng):
    p = rng.uniform(0.05, 1, n)
    return Predictions.from_arrays((rng.random(n) < p - 0.05).astype(int), p)


def uneasy(n, rng):
    """A binary model that is too unsure: its logits should be 1.5 times as large."""
    p = rng.uniform(0, 1, n)
    return Predictions.from_arrays((rng.random(n) < special.expit(1.5 * special.logit(p))).astype(int), p)


def waves(size):
    """Too unsure below the middle of 0.6 … 1, too sure above it."""
    return lambda c: c + size * np.sin(2 * np.pi * (c - 0.6) / 0.4)


FLAT = partial(top_label, lambda c: c - 0.05, 0.55)
STEP = partial(top_label, lambda c: np.where(c < 0.75, c + 0.1, c - 0.1), 0.5)
HALF = partial(top_label, lambda c: np.where(c < 0.75, c, c - 0.1), 0.5)
CALIBRATED = partial(top_label, lambda c: c, 0.5)

RATES = {  # model, pattern, share of samples in which it is found, by rows
    "uniform −5 points": (FLAT, "uniform_overconfidence", {200: 0.16, 1000: 0.82, 2000: 0.97}),
    "underconfident, T = 1.5": (uneasy, "uniform_underconfidence", {200: 0.23, 1000: 0.81, 2000: 0.98, 10_000: 1.0}),
    "step crossing ±10": (STEP, "non_uniform_overconfidence", {200: 0.38, 1000: 1.0, 2000: 1.0}),
    "smooth crossing ±10": (
        partial(top_label, waves(0.1), 0.6),
        "non_uniform_overconfidence",
        {200: 0.16, 1000: 0.82, 2000: 0.98, 10_000: 1.0},
    ),
    "smooth crossing ±5": (
        partial(top_label, waves(0.05), 0.6),
        "non_uniform_overconfidence",
        {200: 0.04, 1000: 0.2, 2000: 0.5, 10_000: 1.0},
    ),
    "shift of 5 points": (shifted, "shifted", {200: 0.19, 1000: 0.9, 2000: 1.0, 10_000: 1.0}),
    "only the top half −10, called uniform": (HALF, "uniform_overconfidence", {200: 0.09, 1000: 0.1, 2000: 0.12, 10_000: 0.1}),
}
AT_MOST = {  # share of samples in which a crossing is found where there is none
    "calibrated": (CALIBRATED, {200: 0.005, 1000: 0.005}),
    "only the top half −10": (HALF, {1000: 0.05}),
}


def rate(model, wanted, n):
    rng = np.random.default_rng(n)
    samples = (model(n, rng) for _ in range(SAMPLES))
    found = [find_pattern(m.profile(), detect(m), positive=m.profile("positive") if m.task == "binary" else None).name for m in samples]
    return found.count(wanted) / SAMPLES


def slack(share):
    """Sampling error of a share of few samples, beyond the 8 points for which the rates are stated."""
    return 0.0 if FULL else 3 * np.sqrt(share * (1 - share) / SAMPLES)


def cells(table):
    return [
        pytest.param(name, n, id=f"{name}, n = {n}")
        for name, row in table.items()
        for n, share in row[-1].items()
        if FULL or (n == 1000 and not 0.05 < share < 0.5)
    ]


@pytest.mark.parametrize(("name", "n"), cells(RATES))
def test_a_pattern_is_found_as_often_as_stated(name, n):
    model, wanted, rates = RATES[name]
    assert abs(rate(model, wanted, n) - rates[n]) <= 0.08 + slack(rates[n]) + 1e-9


@pytest.mark.parametrize(("name", "n"), cells(AT_MOST))
def test_a_crossing_is_hardly_ever_found_where_there_is_none(name, n):
    model, most = AT_MOST[name]
    assert rate(model, "non_uniform_overconfidence", n) <= most[n] + slack(most[n]) + 1e-9
