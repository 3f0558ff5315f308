"""Verdicts: which level, and that every number in the sentence is the right one."""

import re

import numpy as np
import pytest

import calibcore as cc
from calibcore.advice.verdict import confidence_range, percent, points, unseen_gap
from calibcore.predictions import Predictions

FORBIDDEN = ("well calibrated", "perfect", "safe", "significant", "better ece")


def rows(groups):
    confidence = np.concatenate([np.full(n, c) for c, n, _ in groups])
    right = np.concatenate([np.arange(n) < k for _, n, k in groups])
    return cc.analyze(Predictions.from_top_label(confidence, right))


def steps(gap, n=400):
    return rows([(c, n, round((c + gap) * n)) for c in (0.55, 0.65, 0.75, 0.85, 0.95)])


def test_v0_too_few_rows():
    a = rows([(0.9, 64, 30)])
    assert a.verdict.level == "V0"
    assert a.verdict.text.startswith("Too few rows to judge (n = 64).")
    assert f"an ECE of up to {a.chance.p95:.2f}" in a.verdict.text
    assert rows([(0.9, 99, 30)]).verdict.level == "V0"
    assert rows([(0.9, 100, 30)]).verdict.level != "V0"


def test_v1_fits():
    a = steps(0)
    assert a.verdict.level == "V1"
    # 400·(0.55 + … + 0.95) = 1,500 expected; rounding gives 1,500 right
    assert "These 2,000 predictions fit what the model claims: it expected 1,500 to be right, 1,500 were." in a.verdict.text
    assert "95% interval" in a.verdict.text
    assert "This does not show that each range is right" in a.verdict.text
    assert f"up to {100 * unseen_gap(a.detection.bins):.1f} points in a tenth of the rows" in a.verdict.text


def test_v2_small_difference():
    # 10,000 rows, 1.5 points over everywhere: detected, but under two points
    a = steps(-0.015, n=4000)
    assert a.detection.detected
    assert a.verdict.level == "V2"
    assert "about 1.5 more errors per 100 predictions than claimed" in a.verdict.text
    assert "about 1.5 fewer errors per 100" in steps(0.015, n=4000).verdict.text
    assert a.pattern.remedy.startswith("Probably none")


def test_v2_names_the_view_of_its_events():
    # 1.5 points more events than claimed at every score: half of the rows are predicted positive, so the confidence view has no gap
    p = np.repeat([0.25, 0.35, 0.45, 0.55, 0.65, 0.75], 10_000)
    y = np.concatenate([np.arange(10_000) < round((v + 0.015) * 10_000) for v in np.unique(p)]).astype(int)
    a = cc.analyze(Predictions.from_arrays(y, p))
    assert a.verdict.level == "V2"
    assert a.verdict.text == (
        "A difference is measurable but small: in the positive view, about 1.5 more events per 100 predictions than claimed."
    )


def test_v2_is_not_for_many_times_the_errors():
    # 0.3 points of gap, but four errors for each expected
    a = rows([(0.999, 4000, 3984), (0.7, 4000, 2800)])
    assert a.detection.detected
    assert a.verdict.level != "V2"


def test_v3_uniform():
    a = steps(-0.06)
    assert a.verdict.level == "V3"
    # says 75 %, right 69 %: per 100, 25 errors expected and 31 happened
    assert a.verdict.text.startswith("It says 75% on average and is right 69% of the time: 6.0 points too sure")
    assert a.verdict.text.endswith(
        "Per 100 predictions it expects 25 errors, 31 happened; too sure in both halves of its rows, the less sure and the surer."
    )
    # 5 points at 0.55 … 0.95 make 0.60 … 1.00: says 75 %, right 80 %
    under = steps(0.05).verdict.text
    assert under.startswith("It says 75% on average and is right 80% of the time: not sure enough by 5.0 points (")
    assert under.endswith("20 happened; not sure enough in both halves of its rows, the less sure and the surer.")
    # one confidence has no halves
    assert rows([(0.9, 400, 300)]).verdict.text.endswith("Per 100 predictions it expects 10 errors, 25 happened.")


def test_v3_interval_of_overconfidence_is_turned_round():
    a = steps(-0.06)
    low, high = (float(v) for v in re.search(r"interval ([\d.]+) to ([\d.]+)\)", a.verdict.text).groups())
    assert low == pytest.approx(-100 * a.gap.high, abs=0.051)
    assert high == pytest.approx(-100 * a.gap.low, abs=0.051)


def test_v3_extreme():
    a = rows([(0.97, 1440, 1166), (0.7, 560, 392)])
    # 274 of 1,440 wrong = 19.03 %
    expected = "72 of 100 predictions claim at least 95%. Of those, 19 in 100 were wrong; the model allows for 3."
    assert (a.verdict.level, a.verdict.text) == ("V3", expected)


def test_v3_crossing_gives_the_worst_range_in_frequencies():
    a = rows([(0.55, 400, 260), (0.6, 400, 280), (0.75, 400, 300), (0.9, 400, 320), (0.95, 400, 340)])
    assert a.verdict.level == "V3"
    # 0.9 and 0.95 together: 660 of 800 right, 740 expected
    assert "Of 800 predictions made at 90–95% confidence, 660 were right; about 740 would be expected." in a.verdict.text
    near = int(re.search(r"the curve crosses the diagonal near (\d+)%", a.verdict.text).group(1))
    assert 60 <= near <= 90  # under up to 60 %, over from 90 %, on the diagonal at 75 %


def test_v3_local():
    a = rows([(0.55, 400, 220), (0.65, 400, 260), (0.75, 400, 300), (0.85, 400, 340), (0.95, 400, 320)])
    assert a.pattern.name == "local_overconfidence"
    assert "Too sure at 95% confidence: 20 errors expected, 80 found among 400 predictions." in a.verdict.text


def test_v3_shift():
    p = np.repeat(np.arange(0.15, 1.0, 0.08).round(2), 300)
    y = np.concatenate([np.arange(300) < round((v - 0.1) * 300) for v in np.unique(p)]).astype(int)
    a = cc.analyze(Predictions.from_arrays(y, p))
    assert (
        a.verdict.text == f"In the positive view, risks are overstated on the whole: {p.sum():,.0f} events predicted, {y.sum():,} happened."
    )


def test_the_least_p_of_the_redraws_is_a_bound():
    # 10 points over in 4,000 rows: further than any of 1,000 redraws, so p is at most 1/1001
    model = Predictions.from_arrays([1] * 1400 + [0] * 600 + [1] * 200 + [0] * 1800, [0.8] * 2000 + [0.2] * 2000)
    assert "differ (p ≤ 0.001): " in cc.analyze(model.profile("positive")).verdict.text
    # 1,000 rows at 0.5 of which 540 happened: 2.5 standard deviations, p near 0.01
    near = Predictions.from_arrays([1] * 540 + [0] * 460, [0.5] * 1000).profile("positive")
    assert re.search(r"differ \(p = 0\.0\d+\): ", cc.analyze(near).verdict.text)


def test_no_setting_flips_a_verdict():
    rng = np.random.default_rng(5)
    p = rng.uniform(0.02, 0.98, 800)
    model = Predictions.from_arrays((rng.random(800) < p**1.2).astype(int), p)
    settings = [cc.Settings(n_bins=m, closed=c, view=v, seed=s, level=q) for m, c, v, s, q in (
        (15, "right", "top_label", 0, 0.95), (3, "left", "positive", 7, 0.5), (50, "right", "class:0", 1, 0.99),
    )]  # fmt: skip
    found = [cc.analyze(model, s) for s in settings]
    assert len({(a.verdict.level, a.pattern.name) for a in found}) == 1


@pytest.mark.parametrize("gap", [-0.3, -0.06, -0.02, 0, 0.04])
def test_words_that_are_never_said(gap):
    for a in (steps(gap), steps(gap, n=4000), steps(gap, n=10)):
        assert not any(word in a.verdict.text.lower() for word in FORBIDDEN)
        assert "nan" not in a.verdict.text
        assert "-" not in re.sub(r"\w-\w", "", a.verdict.text)  # a minus is a minus


@pytest.mark.parametrize("shape", ["right", "wrong", "half"])
def test_certain_predictions_get_a_verdict(shape):
    p = {"right": [0.0, 1.0], "wrong": [1.0, 0.0], "half": [1.0, 1.0]}[shape]
    a = cc.analyze(Predictions.from_arrays([0, 1] * 100, p * 100))
    assert a.verdict.level == {"right": "V1", "wrong": "V3", "half": "V3"}[shape]
    assert "nan" not in a.verdict.text
    assert "inf" not in a.verdict.text


def test_numbers_in_words():
    assert [percent(v) for v in (0.873, 1.0, 0.0, 0.9996, 0.999996, 0.004, 1 - 1e-9)] == [
        "87%", "100%", "0%", "99.96%", "over 99.999%", "0.4%", "over 99.999%",
    ]  # fmt: skip
    assert points(0.1101) == points(-0.1101) == "11.0"
    assert points(-0.006, signed=True) == "−0.6"
    assert points(0.006, signed=True) == "+0.6"
    assert confidence_range(0.9, 0.95) == "90–95%"
    assert confidence_range(0.8, 0.8) == "80%"
