"""Limits: what passes, on which value, with which evidence, and where the rows cannot tell."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibcore as cc
from calibcore.report.limits import Limits, document

# Ten rows at 0.9 and ten at 0.8, seven of ten right in both: gaps −1/5 and −1/10.
CONFIDENCE = [0.9] * 10 + [0.8] * 10
CORRECT = ([1] * 7 + [0] * 3) * 2
TEN = cc.Settings(n_bins=10)


def model(confidence=CONFIDENCE, correct=CORRECT, **kwargs):
    return cc.Predictions.from_top_label(confidence, correct, name="m", source={"file": "m.csv"}, **kwargs)


def judged(limits, predictions=None, settings=TEN):
    found = limits.judge(predictions or model(), settings)
    return found[0] if len(found) == 1 else found


def test_values():
    ece, mce, gap = judged(Limits(ece=0.1, mce=0.3, gap=0.15))
    assert (ece.limit, mce.limit, gap.limit) == ("ece", "mce", "gap")
    assert [c.value for c in (ece, mce, gap)] == pytest.approx([0.15, 0.2, 0.15])  # (1/5 + 1/10)/2, 1/5, |0.7 − 0.85|
    assert [c.holds for c in (ece, mce, gap)] == [False, True, True]
    assert [c.max for c in (ece, mce, gap)] == [0.1, 0.3, 0.15]


def test_debiased():
    # Per bin (S² − Q)/(n(n − 1)): at 0.9 S = −2, Q = 7·0.01 + 3·0.81: 1.5/90; at 0.8 S = −1, Q = 7·0.04 + 3·0.64: −1.2/90.
    # U = (1.5 − 1.2)/180 = 1/600.
    check = judged(Limits(ece=0.05, on="debiased"))
    assert check.value == pytest.approx(1 / math.sqrt(600))
    assert check.holds
    assert check.line.startswith(
        "m.csv m: debiased root mean square error 0.0408 ≤ 0.05, holds (not an ECE; 10 equal-width bins, n = 20; 95% interval 0.0000 to "
    )
    assert check.line.endswith("lies on both sides of the limit, so these rows cannot tell)")
    assert not judged(Limits(ece=0.04, on="debiased")).holds


def test_debiased_says_what_it_leaves_out():
    check = judged(Limits(ece=0.5, on="debiased"), model([*CONFIDENCE, 0.15], [*CORRECT, 0]))
    assert "bins of one row, 4.8% of all, add nothing" in check.evidence  # 1/21
    alone = judged(Limits(ece=0.5, on="debiased"), model([0.9], [0]))
    assert (alone.value, alone.holds) == (0, True)
    assert "95% interval 0.0000 to 1.0000 lies on both sides of the limit, so these rows cannot tell" in alone.evidence


def test_debiased_needs_whole_rows():
    with pytest.raises(cc.InputError, match="--ties share"):
        judged(Limits(ece=0.1, on="debiased"), settings=cc.Settings(n_bins=3, strategy="equal_mass", ties="share"))


def test_a_limit_is_exceeded_by_more_only():
    # Ten of ten rows right at 0.95: ECE 1/20, which as a sum of doubles is a little more.
    even = model([0.95] * 10, [1] * 10)
    check = judged(Limits(ece=0.05), even)
    assert check.holds
    assert check.line.startswith("m.csv m: ECE 0.0500 ≤ 0.05, holds (")
    assert not judged(Limits(ece=0.05 - 1e-9), even).holds


def test_a_value_is_never_shown_on_the_wrong_side():
    # ECE 0.100012: four decimals would read "0.1000 > 0.1".
    check = judged(Limits(ece=0.1), model([0.899988] * 10, [1] * 10))
    assert "ECE 0.10001 > 0.1, exceeds the limit" in check.line
    # ECE 0.09998: four decimals would read "0.1000 ≤ 0.09999".
    assert "ECE 0.09998 ≤ 0.09999, holds" in judged(Limits(ece=0.09999), model([0.90002] * 10, [1] * 10)).line


def test_chance():
    # 10,000 rows at ½, all right: chance gives |B(10,000, ½)/10,000 − ½|, at most some 0.02, in one bin.
    sure = model([0.5] * 10_000, [1] * 10_000)
    assert "exceed" not in judged(Limits(ece=0.1), sure).evidence
    # |N(0, 0.005)|: median 0.00337, 95th percentile 0.0098.
    assert judged(Limits(ece=0.006), sure).evidence.endswith(
        "; a calibrated model with these confidences would exceed this limit in 1 of 20 such samples or more"
    )
    assert judged(Limits(ece=0.001), sure).evidence.endswith("in half of such samples or more")
    a = cc.analyze(sure, TEN)
    assert f"chance alone gives {a.chance.median:.4f}, up to {a.chance.p95:.4f}" in judged(Limits(ece=0.1), sure).evidence


def test_mce_names_bin_and_rows():
    check = judged(Limits(mce=0.1))
    # B(10, 0.9): P(X ≤ 6) = 0.0128, P(X ≤ 7) = 0.0702, so 95% lie from 7 to 10, and 7 were right.
    assert check.line == (
        "m.csv m: MCE 0.2000 > 0.1, exceeds the limit (bin 80–90%, 10 rows, of 10 equal-width bins, n = 20; "
        "accuracy there 70.0%, 70.0% to 100.0% if calibrated, so these rows cannot tell)"
    )
    assert judged(Limits(mce=0.3)).evidence.endswith("if calibrated")
    one = judged(Limits(mce=0.1), model([0.9], [1]))
    assert one.evidence.startswith("bin 80–90%, 1 row, of 10 equal-width bins, n = 1; ")
    shared = judged(Limits(mce=0.1), settings=cc.Settings(n_bins=3, strategy="equal_mass", ties="share"))
    assert "if calibrated" not in shared.evidence
    assert "of 3 equal-mass bins, ties shared, n = 20" in shared.evidence


def test_gap_is_judged_by_its_size_and_shown_with_its_sign():
    g = cc.analyze(model(), TEN).gap
    check = judged(Limits(gap=0.1))
    ends = f"{g.low:.4f} to {g.high:+.4f}".replace("-", "−")
    assert check.line == (
        f"m.csv m: |gap| 0.1500 > 0.1, exceeds the limit (n = 20; gap −0.1500, 95% interval {ends} lies on both sides of the limit, "
        "so these rows cannot tell)"
    )
    # A thousand rows of each kind: 0.15 ± 0.01 lies above 0.1.
    many = judged(Limits(gap=0.1), model(CONFIDENCE * 500, CORRECT * 500))
    assert not many.holds
    assert "cannot tell" not in many.evidence
    assert judged(Limits(gap=0.5), model([0.9], [1])).evidence == "n = 1; gap +0.1000, no interval from these rows"


def test_what_is_not_as_usual_is_said():
    two = cc.Predictions.from_arrays([1, 0, 1], [0.9, 0.2, 0.4], sample_weight=[2, 1, 1], name="w")
    check = judged(Limits(ece=1), two, cc.Settings(edges=(0, 0.4, 1), closed="left", view="positive"))
    assert check.evidence.startswith("2 custom bins [a, b), positive view, n = 3, weighted as 3; ")  # (2+1+1)²/(4+1+1) = 8/3
    assert check.line.startswith("w: ECE ")
    assert check.to_dict()["file"] is None


# 100 rows at 0.4 of which 50 happened, 100 at 0.6 of which 70 did.  Positive view: gaps +1/10 in both, so ECE, MCE and gap
# are 1/10.  Confidence view: 200 rows at 0.6, of which the model is right in 50 + 70: no gap.
HIDDEN = cc.Predictions.from_arrays([1] * 50 + [0] * 50 + [1] * 70 + [0] * 30, [0.4] * 100 + [0.6] * 100, name="h")


def test_the_other_view_of_a_binary_model_is_evidence_and_decides_nothing():
    for check, what in zip(Limits(ece=0.05, mce=0.05, gap=0.05).judge(HIDDEN, TEN), ("ECE", "MCE", "|gap|"), strict=True):
        assert (check.view, check.holds) == ("top_label", True)
        assert "confidence view, n = 200" in check.evidence
        text = f"; {what} in the positive view 0.1000, which exceeds this limit (--view positive judges it)"
        assert check.evidence.endswith(text)
    positive = cc.Settings(n_bins=10, view="positive")
    for check, what in zip(Limits(ece=0.05, mce=0.05, gap=0.05).judge(HIDDEN, positive), ("ECE", "MCE", "|gap|"), strict=True):
        assert (check.view, check.holds) == ("positive", False)
        assert "positive view, n = 200" in check.evidence
        assert check.evidence.endswith(f"; {what} in the confidence view 0.0000")
    assert Limits(ece=0.2).judge(HIDDEN, TEN)[0].evidence.endswith("; ECE in the positive view 0.1000")


def test_the_option_that_judges_the_confidence_view_is_named():
    # All of 100 rows at ½ ± 0.3 are wrong: positive view, 0.5 − 0.5 overall; confidence view, 0 − 0.8.
    wrong = cc.Predictions.from_arrays([1] * 50 + [0] * 50, [0.2] * 50 + [0.8] * 50, name="w")
    (check,) = Limits(gap=0.1).judge(wrong, cc.Settings(view="positive"))
    assert check.holds
    assert check.evidence.endswith("; |gap| in the confidence view 0.8000, which exceeds this limit (--view top-label judges it)")


def test_the_debiased_error_of_the_other_view():
    # S = 10 and Q = 50·0.36 + 50·0.16 = 26 at 0.4, S = 10 and Q = 70·0.16 + 30·0.36 = 22 at 0.6: (74 + 78)/(2·9900) = 0.0876²
    (check,) = Limits(ece=0.05, on="debiased").judge(HIDDEN, TEN)
    assert "; debiased root mean square error in the positive view 0.0876, which exceeds this limit" in check.evidence


def test_one_view_needs_no_name():
    assert "view" not in judged(Limits(ece=0.1)).evidence
    of_class = Limits(ece=1).judge(HIDDEN, cc.Settings(view="class:1"))[0].evidence
    assert "class:1 view" in of_class
    assert "in the" not in of_class.replace("in the same", "")


def test_names_are_one_line():
    check = Limits(gap=1).judge(cc.Predictions.from_top_label([0.9], [1], name="a\n\x1b[31m"), TEN)[0]
    assert check.line.startswith("a\\n\\x1b[31m: |gap|")


def test_document():
    checks = judged(Limits(ece=0.1, mce=0.3))
    found = document(checks)
    assert set(found) == {"checks", "holds"}
    assert found["checks"][0] == {
        "model": "m",
        "file": "m.csv",
        "view": "top_label",
        "limit": "ece",
        "on": "plugin",
        "value": pytest.approx(0.15),
        "max": 0.1,
        "holds": False,
        "evidence": checks[0].evidence,
    }
    assert found["checks"][1]["on"] is None
    assert found["holds"] is False
    assert document(checks[1:])["holds"] is True
    assert document(checks[1:], complete=False)["holds"] is False


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({}, "needs a limit"),
        ({"on": "debiased", "gap": 0.1}, "--max-ece"),
        ({"ece": -0.01}, "--max-ece must be a fraction from 0 to 1"),
        ({"mce": 5.0}, "--max-mce must be a fraction"),
        ({"gap": math.nan}, "got nan"),
        ({"gap": math.inf}, "got inf"),
    ],
)
def test_bad_limits(limits, words):
    with pytest.raises(cc.InputError, match=words):
        Limits(**limits)


@pytest.mark.parametrize("confidence", [[0.0, 1.0], [1.0, 1.0], [0.5], [0.0]])
@pytest.mark.parametrize("right", [0, 1])
@pytest.mark.parametrize(("on", "dtype"), [("plugin", np.float64), ("debiased", np.float32)])
def test_edge_cases_pass(confidence, right, on, dtype):
    for check in Limits(ece=0.0, mce=0.0, gap=0.0, on=on).judge(model(np.array(confidence, dtype=dtype), [right] * len(confidence)), TEN):
        assert math.isfinite(check.value)
        assert "nan" not in check.line


ROWS = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 1), st.integers(1, 3)), min_size=1, max_size=20)


@settings(max_examples=20)
@given(rows=ROWS, scale=st.sampled_from([1e15, 1.0, 1e-15]), seed=st.integers(0, 5))
def test_order_scale_and_repetition(rows, scale, seed):
    c, y, w = (np.array(x) for x in zip(*rows, strict=True))
    order = np.random.default_rng(seed).permutation(len(c))
    weighted = model(c[order] / 10, y[order], sample_weight=w[order] * scale)
    repeated = model(np.repeat(c, w) / 10, np.repeat(y, w))
    limits = Limits(ece=0.1, mce=0.1, gap=0.1)
    pairs = zip(limits.judge(weighted, TEN), limits.judge(repeated, TEN), strict=True)
    assert all(a.value == pytest.approx(b.value, abs=1e-9) for a, b in pairs)
