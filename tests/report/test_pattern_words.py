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
# 60% and 90% claimed: two diagnostic bins, so there are halves
TWO = cc.analyze(cc.Predictions.from_top_label([0.6] * 500 + [0.9] * 500, [1] * 250 + [0] * 250 + [1] * 375 + [0] * 125))


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
        ("shifted", {"likelihood_ratio_intercept": 12.34, "likelihood_ratio_slope": 3.91}, "explained these rows better than a shift"),
        ("non_uniform_overconfidence", {"over": RUN, "under": UP}, "Were 90–95% confidence (341 rows, gap −14.0 points) within chance"),
        ("uniform_overconfidence", {"over": RUN, "halves_z": [-2.04, -9.0]}, "it would be a fault of one range"),
        ("local_overconfidence", {"over": RUN, "halves_z": [0.4, -9.0]}, "If it were too sure in both halves of its rows"),
        ("uniform_underconfidence", {"under": UP, "halves_z": [3.0, 5.0]}, "If the claims fitted in one half of its rows"),
        ("unclear", {"p_value": 0.03, "rows_needed": 3200}, "About 3,200 rows like these"),
        ("none_detected", {"p_value": 0.4}, "p = 0.05 down"),
    ],
)
def test_the_missing_evidence_is_named(name, evidence, says):
    assert says in " ".join(would_change(with_pattern(name, evidence, TWO)))


def test_the_gap_that_would_count_is_told_in_points():
    # 100 rows at 0.9 of which 89 are right: √ΣV = √(100·0.9·0.1) = 3 rows, so `limit` of them is 3·limit of 100 points
    a = cc.analyze(cc.Predictions.from_top_label([0.9] * 100, [1] * 89 + [0] * 11))
    limit = a.detection.bins.over_limit
    (line,) = (s for s in would_change(a) if s.startswith("Nearest to “too sure”"))
    assert line == f"Nearest to “too sure”: 90% confidence (100 rows, gap −1.0 points); it takes −{max(2, 3 * limit):.1f} points."
    assert "standard deviations" not in " ".join(would_change(a))


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
