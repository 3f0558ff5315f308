"""What would change a pattern: every pattern has an answer, with the numbers of its evidence."""

import dataclasses
import re
from typing import get_args

import numpy as np
import pytest

import calibcore as cc
from calibcore.advice.patterns import Pattern, PatternName
from calibcore.report import pattern_words
from calibcore.report.pattern_words import would_change
from dashboard.assets import sample_paths

RUN = {"low": 0.9, "high": 0.95, "count": 341, "share": 0.1, "confidence": 0.93, "accuracy": 0.79, "gap": -0.14, "z": -9.26}
UP = {**RUN, "low": 0.5, "high": 0.6, "gap": 0.051, "z": 4.0}


def model(p, k, n=1000):
    label = np.r_[np.arange(n) < round(k * n), np.arange(n) >= round(k * n)].astype(int)
    return cc.Predictions.from_arrays(label, np.r_[np.full(n, p), np.full(n, 1 - p)])


OVER = cc.analyze(model(0.9, 0.75))


def with_pattern(name, evidence, a=OVER, level="V3"):
    verdict = dataclasses.replace(a.verdict, level=level)
    return dataclasses.replace(a, pattern=Pattern(name, "a remedy", evidence), verdict=verdict)


def test_every_pattern_has_an_answer():
    assert set(pattern_words._LACKS) == set(get_args(PatternName))


@pytest.mark.parametrize(
    ("name", "evidence", "says"),
    [
        ("extreme_overconfidence", {"share_at_95": 0.72}, "(now 72)"),
        ("confidence_collapse", {"share_near_even": 0.81, "limit": 0.6}, "at 60% or less (now 81)"),
        ("confidence_collapse", {"share_near_even": 0.2, "limit": 0.28}, "A wider spread"),
        ("shifted", {"likelihood_ratio_intercept": 12.34, "likelihood_ratio_slope": 3.91}, "(likelihood ratio 3.9 against 12.3)"),
        ("non_uniform_overconfidence", {"over": RUN, "under": UP}, "Were 90–95% confidence (341 rows, gap −14.0 points, 9.3 standard"),
        ("uniform_overconfidence", {"over": RUN, "halves_z": [-2.04, -9.0]}, "the nearer is 2.0 standard deviations too sure"),
        ("local_overconfidence", {"over": RUN, "halves_z": [0.4, -9.0]}, "one half is 0.4 standard deviations not sure enough"),
        ("uniform_underconfidence", {"under": UP, "halves_z": [3.0, 5.0]}, "the nearer is 3.0 standard deviations not sure enough"),
        ("unclear", {"p_value": 0.03, "rows_needed": 3200}, "About 3,200 rows like these"),
        ("none_detected", {"p_value": 0.4}, "p = 0.05 down"),
    ],
)
def test_the_missing_evidence_is_named(name, evidence, says):
    assert says in " ".join(would_change(with_pattern(name, evidence)))


def test_a_run_without_bounds_is_said_in_words():
    endless = {**RUN, "z": None}
    said = " ".join(would_change(with_pattern("non_uniform_overconfidence", {"over": endless, "under": UP})))
    assert "beyond any chance" in said


def test_too_few_rows():
    few = cc.analyze(model(0.8, 0.5, n=20))
    assert would_change(few) == ("A verdict needs 100 rows; there are 40.",)


def test_a_small_difference():
    assert "A gap of 2 points" in would_change(with_pattern("unclear", {"p_value": 0.01}, level="V2"))[0]


def test_no_range_leans_the_other_way():
    # One range only, and it is too sure: none can be not sure enough.
    assert OVER.pattern.name == "uniform_overconfidence"
    assert "No range leans that way." in would_change(OVER)[0]


@pytest.mark.parametrize("path", sample_paths(), ids=lambda p: p.stem)
def test_samples_have_short_plain_answers(path):
    (predictions,) = cc.read(path)
    lines = would_change(cc.analyze(predictions))
    assert 1 <= len(lines) <= 3
    for line in lines:
        assert line.endswith(".")
        assert "-" not in re.sub(r"\w-\w", "", line)  # a minus sign is not a hyphen
        assert not re.search(r"\bnan\b|\binf\b|None", line)
