"""What another view shows: only what its own rows show, and every number with its view."""

import numpy as np
import pytest

import calibcore as cc
from calibcore.advice.patterns import Run, beyond_chance
from calibcore.report.view_words import _both, below_headline, below_zero, in_this_view, judged_text

START = "In this view, of the probability of “1”,"


def binary(*groups):
    """Groups of (probability, rows, events)."""
    p = np.concatenate([np.full(n, share) for share, n, _ in groups])
    y = np.concatenate([np.arange(n) < k for _, n, k in groups]).astype(int)
    return cc.Predictions.from_arrays(y, p, name="m")


def positive(model):
    return cc.analyze(model, cc.Settings(view="positive"))


UNDER = binary((0.2, 1000, 100), (0.8, 1000, 900))
OVER = binary((0.1, 1000, 250), (0.9, 1000, 750))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (UNDER, "low values (20%) are too high and high ones (80%) too low: the two cancel, so the average gap is 0.0 points."),
        (OVER, "low values (10%) are too low and high ones (90%) too high: the two cancel, so the average gap is 0.0 points."),
        (  # (−200 + 50)/2,500 = −6 points
            binary((0.2, 2000, 200), (0.8, 500, 450)),
            "low values (20%) are too high and high ones (80%) too low: the two cancel in part, and the average gap is −6.0 points.",
        ),
    ],
)
def test_both_directions_and_what_they_leave_on_average(model, said):
    assert in_this_view(positive(model)) == f"{START} {said}"


def test_the_confidence_view_beside_a_verdict_of_the_positive_view_names_no_class():
    # Half at 0.2, a third of which happens, half at 0.8, nine tenths: P(1) is too low on the whole, and what is said of the
    # confidence view is said of the confidence in the predicted class.
    a = cc.analyze(binary((0.2, 3000, 3000 // 3), (0.8, 3000, 2700)))
    assert "in the positive view" in a.verdict.text.casefold()
    assert in_this_view(a).startswith("In this view, of the confidence in the predicted class, ")


def test_ranges_are_those_whose_bins_lean_one_way():
    # 500 rows each at 10 %, 20 % … 90 %: ten points too high up to 40 %, right at 50 %, ten points too low from 60 %.
    gaps = {0.2: -0.1, 0.3: -0.1, 0.4: -0.1, 0.6: 0.1, 0.7: 0.1, 0.8: 0.1}
    model = binary(*((p, 500, round(500 * (p + gaps.get(p, 0.0)))) for p in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)))
    over, under = beyond_chance(model.profile("positive"))
    assert (over.low, over.high) == pytest.approx((0.2, 0.4))
    assert (under.low, under.high) == pytest.approx((0.6, 0.8))
    assert over.gap == pytest.approx(-0.1)
    assert over.count == 1500


def test_chance_alone_names_no_range():
    exact = binary(*((p, 500, round(500 * p)) for p in (0.1, 0.3, 0.5, 0.7, 0.9)))
    assert beyond_chance(exact.profile("positive")) == (None, None)


def three():
    """80 % for a, which happens in 60 of 100; 10 % for b, which happens in 30; and 10 % for c, in 10."""
    label = ["a"] * 600 + ["b"] * 300 + ["c"] * 100
    return cc.Predictions.from_arrays(label, np.tile([0.8, 0.1, 0.1], (1000, 1)), classes=["a", "b", "c"], name="m")


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ("class:a", "“a”, values of 80% are too high, by 20.0 points; no range that is too low is beyond chance; the average gap is −20.0"),
        ("class:b", "“b”, values of 10% are too low, by 20.0 points; no range that is too high is beyond chance; the average gap is +20.0"),
        ("class:c", "“c”, no range is beyond chance and two points off; the average gap is 0.0"),
    ],
)
def test_one_class_of_several(view, said):
    a = cc.analyze(three(), cc.Settings(view=view))
    assert in_this_view(a) == f"In this view, of the probability of {said} points."
    assert judged_text(a).startswith("In the Confidence view, ")


def test_a_range_within_another():
    def run(low, high):
        return Run(low, high, 100, 0.1, 0.5, 0.4, -5.0, 1.0)

    assert _both(run(0.1, 0.9), run(0.4, 0.5)) == "values of 10–90% are too high on average, but those of 40–50% too low"
    assert _both(run(0.4, 0.5), run(0.1, 0.9)) == "values of 10–90% are too low on average, but those of 40–50% too high"


def test_nothing_where_the_verdict_is_of_this_view_or_finds_nothing():
    fits = binary((0.2, 1000, 200), (0.8, 1000, 800))
    shift = binary(*((p, 500, round(500 * (p + 0.1))) for p in (0.1, 0.3, 0.5, 0.7)))
    assert positive(shift).pattern.name == "shifted"
    for a in (cc.analyze(UNDER), positive(fits), positive(shift), cc.analyze(UNDER.profile("positive")), positive(binary((0.2, 50, 25)))):
        assert in_this_view(a) is None
    for a in (cc.analyze(UNDER), positive(shift), cc.analyze(UNDER.profile("positive")), positive(binary((0.2, 50, 25)))):
        assert judged_text(a) == a.verdict.text


def test_below_zero_is_overconfident_in_the_confidence_view_only():
    assert "overconfident" in below_zero("top_label")
    assert below_zero("positive") == below_zero("class:a") == "a gap below zero: on average its probabilities are too high"


def test_no_setting_of_the_bins_changes_it():
    few = cc.Settings(view="positive", n_bins=2, strategy="equal_mass", level=0.8, seed=3)
    assert in_this_view(cc.analyze(UNDER, few)) == in_this_view(positive(UNDER))


def test_a_fault_without_a_place_is_said_of_the_confidence_view():
    text = judged_text(_without_place())
    assert text.startswith("The claims and the outcomes differ, but in the Confidence view these rows do not show where.")


def _without_place():
    from dataclasses import replace

    a = positive(UNDER)
    said = "The claims and the outcomes differ, but these rows do not show where. More rows are needed."
    return replace(a, verdict=replace(a.verdict, level="V4", text=said))


def test_below_the_headline_it_is_not_said_again():
    few = cc.analyze(cc.Predictions.from_top_label([0.8] * 20, [1] * 10 + [0] * 10))
    assert below_headline(few) == f"With n = 20 a calibrated model could show an ECE of up to {few.chance.p95:.2f}."
    # 1,000 rows at 0.6 of which 750 are right, 1,000 at 0.9 of which 750 are
    y = ([1] * 750 + [0] * 250) * 2
    mixed = cc.analyze(cc.Predictions.from_top_label([0.6] * 1000 + [0.9] * 1000, y))
    assert mixed.pattern.name == "non_uniform_overconfidence"
    assert below_headline(mixed).startswith(
        "The curve crosses the diagonal near 75%. Of 1,000 predictions made at 90% confidence, 750 were right"
    )
