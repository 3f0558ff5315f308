"""Groups, periods and classes in words and tables; expected values are counts and fractions."""

import re

import numpy as np
import pytest

from calibcore import Predictions, Settings, analyze, by_group, by_period
from calibcore.inference.groups import Group, Groups
from calibcore.inference.intervals import Estimate
from calibcore.report.group_words import (
    _slopes,
    class_caveats,
    class_lines,
    class_numbers,
    few_rows_line,
    group_columns,
    group_lines,
    group_table,
    trend_line,
)
from calibcore.report.tables import BY_CHANCE

# Everybody says 80%: in a 48 of 60 are right, in b 30 of 60, in c the one row there is.
SITE = ["a"] * 60 + ["b"] * 60 + ["c"]
CORRECT = [1] * 48 + [0] * 12 + [1] * 30 + [0] * 30 + [1]


def grouped(site=SITE, correct=CORRECT, weight=None):
    return by_group(Predictions.from_top_label([0.8] * len(correct), correct, sample_weight=weight, groups={"site": site}), "site")


def test_a_group_that_does_not_fit_is_told_in_frequencies():
    found = grouped()
    first, told = group_lines(found)
    assert "; intervals are Bonferroni-adjusted. " in found.text  # which the chart says, so it is not said twice
    assert first == found.text.replace("; intervals are Bonferroni-adjusted", "")
    assert told.startswith("In b, 30 of 60 rows were right; the model expects 48. Gap −30.0 points (95% interval −")
    assert told.endswith(", for all groups at once).")


def test_groups_that_fit_are_not_told_one_by_one():
    assert len(group_lines(grouped(["a"] * 60 + ["b"] * 60, ([1] * 48 + [0] * 12) * 2))) == 1


def test_the_clearest_three_are_told_and_no_more():
    correct = ([1] * 48 + [0] * 12) + ([1] * 30 + [0] * 30) * 4
    said = group_lines(grouped(np.repeat(list("abcde"), 60), correct))
    assert len(said) == 1 + 3 + 1
    assert said[-1] == "1 more is off, by less: see the table."


def test_the_farthest_from_0_comes_first_whatever_the_redraws_give():
    # p-values at the least that redraws can give tell nothing of the order: +12, −30, +16 and −3 points, one found by the test alone
    def group(name, gap, half, p):
        return Group(name, 100, 100.0, True, 0.5 + gap, 0.5, Estimate(gap, gap - half, gap + half), 0.1, p_value=p, p_holm=4 * p)

    ends = [("n", 0.12, 0.02, 1 / 1001), ("o", -0.30, 0.05, 2 / 1001), ("w", 0.16, 0.10, 1 / 1001), ("s", -0.03, 0.05, 1 / 1001)]
    _, *told, last = group_lines(Groups("region", "positive", 0.95, 50, tuple(group(*e) for e in ends)))
    assert [line[3] for line in told] == ["o", "n", "w"]  # 25, 10 and 6 points from 0
    assert last == "1 more is off, by less: see the table."


def test_weighted_rows_give_shares():
    # in b the 30 right rows weigh 1, the 30 wrong ones 2: 30/90 are right
    told = group_lines(grouped(SITE, CORRECT, [1] * 90 + [2] * 30 + [1]))[1]
    assert told.startswith("In b, 33.3% of 60 rows were right; the model says 80.0%. Gap −46.7 points")


def test_a_gap_off_zero_that_the_test_does_not_find_is_told_with_both_answers():
    group = Group("m", 100, 100.0, True, 0.7, 0.8, Estimate(-0.1, -0.19, -0.01), 0.1, p_value=0.06, shown_in="top_label", p_holm=0.06)
    told = group_lines(Groups("sex", "top_label", 0.95, 50, (group,)))[1]
    assert told.startswith("In m, 70 of 100 rows were right; the model expects 80. Gap −10.0 points (95% interval −19.0 to −1.0); ")
    assert "the interval leaves out 0, while the test" in told


def test_groups_with_few_rows_are_named():
    assert few_rows_line(grouped()) == "Listed, not judged, with fewer than 50 rows: c (1 row)."
    assert few_rows_line(grouped(["a"] * 60 + ["b"] * 61)) is None


def test_the_table_has_every_group_and_a_dash_where_nothing_is_known():
    table = group_table(grouped())
    a, b, c = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    assert (a["site"], a["Rows"], a["Accuracy"], a["Mean confidence"]) == ("a", "60", "80.0%", "80.0%")
    gap = next(h for h in table.header if h.startswith("Gap, points (interval; all hold at once at 95%"))
    assert a[gap].startswith("0.0 (−")
    assert b[gap].startswith("−30.0 (−")
    assert c[gap] == "+20.0 (too few rows)"
    assert b["p"] == "≤ 0.001"  # 48 of 60 expected, 30 found: further than any of 1,000 redraws
    assert b["Holm-adjusted p"] == "≤ 0.002"  # two groups were judged
    assert c["p"] == c["Holm-adjusted p"] == c["Smallest gap seen (points)"] == c[BY_CHANCE] == "–"
    # a gap seen in four samples of five is wider than one half interval, and no gap is wider than 100 points
    assert 10 < float(a["Smallest gap seen (points)"]) < 40


def test_what_shows_in_another_view_is_said_to_show_there():
    # both classes are predicted with 0.7 and 0.3; all events are 15 points rarer than claimed: the confidences fit on average
    p = [0.7] * 200 + [0.3] * 200
    y = [1] * 110 + [0] * 90 + [1] * 30 + [0] * 170
    found = by_group(Predictions.from_arrays(y, p, groups={"g": ["x"] * 400}), "g")
    assert found.groups[0].gap.value == pytest.approx(0)  # 110 + 170 of 400 right = 70%
    assert "Positive class view" in group_lines(found)[1]


def test_columns_with_one_value_or_too_many_are_left_out():
    groups = {"site": ["a", "b"] * 30, "country": ["x"] * 60, "id": [f"r{i}" for i in range(60)]}
    columns = group_columns(Predictions.from_top_label([0.8] * 60, [1] * 60, groups=groups))
    assert columns.offered == ("site",)
    assert columns.left_out == (
        "Not offered: country (1 value), id (60 values). A column needs 2 to 50 different values; "
        "only numbers may be more, which are cut at their quartiles."
    )
    assert group_columns(Predictions.from_top_label([0.8] * 60, [1] * 60)) == type(columns)(())


def test_a_trend_is_told_with_its_interval():
    years = np.repeat([2022, 2023, 2024], 100)
    correct = [i < right for right in (80, 70, 60) for i in range(100)]
    told = trend_line(by_period(Predictions.from_top_label([0.8] * 300, correct, time=years)))
    # gaps 0, −10 and −20 points, each of 100 rows: a line that falls by 10
    assert re.match(
        r"A straight line through the gaps changes by −10\.0 points per unit of time \(95% interval −1\d\.\d to −\d\.\d\)", told
    )
    assert told.endswith("towards more overconfidence, or less underconfidence.")
    flat = trend_line(by_period(Predictions.from_top_label([0.8] * 200, ([1] * 80 + [0] * 20) * 2, time=[1] * 100 + [2] * 100)))
    assert flat.endswith("no trend shows.")
    assert trend_line(by_period(Predictions.from_top_label([0.8] * 100, [1] * 80 + [0] * 20, time=[1] * 100))) is None


def test_a_trend_in_the_positive_view_is_one_of_probabilities():
    year, label = np.repeat([1, 2], 100), [i < right for right in (80, 50) for i in range(100)]
    told = trend_line(by_period(Predictions.from_arrays(label, [0.8] * 200, time=year), view="positive"))
    assert told.endswith("towards probabilities that are higher than what happens.")


@pytest.mark.parametrize(
    ("slopes", "texts"),
    [
        ((-0.1, -0.16, -0.04), ("−10.0", "−16.0", "−4.0")),
        ((0.00012, -0.00003, 0.00027), ("+0.012", "−0.003", "+0.027")),  # points a day: the longest, 0.027, keeps two digits
        ((0.0, -0.02, 0.02), ("0.0", "−2.0", "+2.0")),
        ((0.0, 0.0, 0.0), ("0.0", "0.0", "0.0")),
    ],
)
def test_slopes_keep_two_digits(slopes, texts):
    assert _slopes(*slopes) == texts


def test_an_interval_that_holds_0_says_nothing_of_where_the_fault_is():
    group = Group("m", 100, 100.0, True, 0.78, 0.8, Estimate(-0.02, -0.1, 0.06), 0.1, p_value=0.01, shown_in="top_label", p_holm=0.01)
    told = group_lines(Groups("sex", "top_label", 0.9, 50, (group,)))[1]
    assert "(90% interval −10.0 to +6.0); the interval of the mean gap holds 0, while the test looks at every range." in told


def test_a_class_is_named_in_quotes():
    group = Group("m", 100, 100.0, True, 0.7, 0.8, Estimate(-0.1, -0.19, -0.01), 0.1, p_value=0.01, shown_in="class:0", p_holm=0.01)
    assert "70 of 100 rows were “0”;" in group_lines(Groups("sex", "class:0", 0.95, 50, (group,)))[1]


def three_classes():
    """All 100 rows are a; a is said half of the time, b never, c the other half."""
    return analyze(Predictions.from_arrays(["a"] * 100, [[0.5, 0.0, 0.5]] * 100, classes=("a", "b", "c"), name="m"))


def test_the_class_that_fits_least_and_both_errors_side_by_side():
    a = three_classes()
    # one against the rest: a |1 − 0.5| = 0.5, b 0, c |0 − 0.5| = 0.5; mean 1/3; the predicted class a is right 100% at 50%
    top, mean = class_numbers(a)
    assert (top.label, top.value) == ("Top-label ECE", "0.5000")
    assert (mean.label, mean.value) == ("Mean classwise ECE", "0.3333")
    assert "over 3 classes" in mean.beside
    assert re.match(
        r"Farthest above its chance level is “[ac]”: ECE 0\.5000 where chance alone gives 0\.\d{4} on average", class_lines(a)[0]
    )
    assert [c.line for c in class_caveats(a)][:2] == [
        "Top-label ECE checks only the predicted class.",
        "Mean classwise ECE tends to fall as classes are added.",
    ]


def test_without_classes_it_says_why():
    a = analyze(Predictions.from_top_label([0.8] * 100, [1] * 100))
    assert "cannot be judged one by one" in class_lines(a)[0]
    assert [n.label for n in class_numbers(a)] == ["Top-label ECE"]


def test_two_classes_are_one_question():
    a = analyze(Predictions.from_arrays([0, 1] * 50, [0.4] * 100), Settings())
    assert "Positive-class view" in class_lines(a)[0]
    assert len(class_caveats(a)) == 1
