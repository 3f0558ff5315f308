"""Charts of comparisons, remedies, groups, periods and classes, and of results without bins."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import calibcore as cc
from calibcore import plot
from calibcore.advice.recalibration import remedies
from calibcore.inference.groups import by_group
from calibcore.inference.intervals import Estimate
from calibcore.inference.periods import by_period
from calibcore.plot.interactive import figure
from calibcore.plot.marks import NEXT_LINE, Axis, Intervals, Label, Line, Over, Points, Ribbon, Rule, Whiskers
from calibcore.plot.reliability import y_start
from calibcore.plot.ticks import name_ticks, number_ticks
from calibcore.plot.wording import difference, interval_words, listed, shortened

NAME = "<b>a rather long name</b> & more"


def only(chart, kind):
    return [m for m in chart.marks if isinstance(m, kind)]


def top_label(*groups, **more):
    """Confidences alone: each group is (confidence, rows, of which right)."""
    confidence = np.concatenate([np.full(n, p) for p, n, _ in groups])
    correct = np.concatenate([np.arange(n) < k for _, n, k in groups])
    return cc.Predictions.from_top_label(confidence, correct, **more)


def binary(name, shift=0.0, n=400, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, size=n)
    return cc.Predictions.from_arrays((rng.uniform(size=n) < p).astype(int), np.clip(p + shift, 0.01, 0.99), name=name)


# Sites: a says 0.8 and is right 40 of 50, b says 0.8 and is right 25 of 50, c has one row.
SITES = top_label((0.8, 50, 40), (0.8, 50, 25), (0.8, 1, 1), groups={"site": ["a"] * 50 + ["b"] * 50 + ["c"]})


@pytest.fixture(scope="module")
def three_classes():
    rng = np.random.default_rng(1)
    p = rng.dirichlet((1, 1, 1), size=300)
    y = [rng.choice(3, p=row) for row in p]
    return cc.analyze(cc.Predictions.from_arrays(y, p, name=NAME), cc.Settings(threshold=0.5))


@pytest.fixture(scope="module")
def results(three_classes):
    models = [binary("base"), binary(NAME, 0.2), binary("other", -0.1)]
    years = top_label((0.8, 50, 40), (0.8, 50, 25), time=[2023] * 50 + [2024] * 50)
    analyses = {name: chart(three_classes) for name, chart in plot.CHARTS.items()}
    others = {
        "overlay": plot.overlay([cc.analyze(m) for m in models]),
        "differences": plot.differences(cc.compare(models)),
        "changes": plot.changes(remedies(models[1], methods=["temperature", "intercept"])),
        "groups": plot.groups(by_group(SITES, "site")),
        "periods": plot.periods(by_period(years)),
    }
    return {**analyses, **others}


def test_every_chart_of_the_registries_is_tried(results):
    assert results.keys() == {*plot.CHARTS, *plot.OTHERS}


@pytest.fixture(params=[*plot.CHARTS, *plot.OTHERS])
def chart(request, results):
    return results[request.param]


def test_words_table_and_axes(chart, request):
    assert chart.kind == request.node.callspec.params["chart"]
    assert chart.alt.endswith(".")
    assert chart.caption.endswith(".")
    assert chart.table.rows
    assert all(len(row) == len(chart.table.header) for row in chart.table.rows)
    assert chart.x.low < chart.x.high
    assert chart.y.low < chart.y.high
    assert all(isinstance(cell, str) and cell for row in chart.table.rows for cell in row)


@pytest.mark.parametrize("word", ["well calibrated", "perfect,", "safe", "significant"])
def test_no_forbidden_words(chart, word):
    said = [chart.alt, chart.caption, *(m.text for m in only(chart, Label) + only(chart, Rule))]
    assert not any(word in text for text in said)


def test_all_marks_are_numbers_and_points_are_on_the_picture(chart):
    for mark in chart.marks:
        for field in ("x", "y", "low", "high"):
            values = getattr(mark, field, None)
            assert all(math.isfinite(v) for v in (values if isinstance(values, tuple) else [])), mark
    for mark in only(chart, Points):
        assert all(chart.x.low <= x <= chart.x.high for x in mark.x)
        assert all(chart.y.low <= y <= chart.y.high for y in mark.y)
        assert len({len(f) for f in (mark.x, mark.y, mark.roles, mark.hollow, mark.tooltips, mark.ids)}) == 1


def test_no_interval_is_cut_off(chart):
    for mark in only(chart, Intervals):
        assert chart.x.low <= min(mark.low)
        assert max(mark.high) <= chart.x.high
    if chart.kind != "gaps":  # whose few-row bins may reach beyond
        assert all(chart.y.low <= min(m.low) <= max(m.high) <= chart.y.high for m in only(chart, Whiskers))


@pytest.mark.parametrize("dark", [False, True])
def test_names_are_no_markup_in_the_browser(chart, dark):
    drawn = figure(chart, dark=dark)
    assert "<b>" not in drawn.to_json()
    assert json.loads(drawn.to_json())["layout"]["xaxis"]["fixedrange"] is True


def test_a_forest_reads_from_the_top():
    chart = plot.groups(by_group(SITES, "site"))
    (points,) = only(chart, Points)
    assert points.y == (1.0, 0.0)
    assert chart.y.names == ("b", "a")  # by place, upwards
    layout = figure(chart).layout.yaxis
    assert (layout.tickvals, layout.ticktext) == ((0.0, 1.0), ("b", "a"))


def test_groups_have_their_gaps_with_simultaneous_intervals():
    found = by_group(SITES, "site")
    chart = plot.groups(found)
    (points,) = only(chart, Points)
    assert points.x == pytest.approx((40 / 50 - 0.8, 25 / 50 - 0.8), abs=1e-12)
    assert points.roles == ("within", "over")
    assert points.ids == (0, 1)
    ends = {role: (low, high) for m in only(chart, Intervals) for role, low, high in [(m.role, m.low[0], m.high[0])]}
    assert ends["over"] == (found.groups[1].gap.low, found.groups[1].gap.high)
    assert "1 group has fewer than 50 rows and is listed, not plotted." in chart.caption
    assert chart.alt == "Gap by site, 2 judged groups: overconfident in b."
    assert chart.table.rows[2][:2] == ("c", "1")
    assert chart.table.rows[2][5] == "too few rows"


def test_the_gap_of_all_rows_is_that_of_the_rows():
    overall, zero = only(plot.groups(by_group(SITES, "site")), Rule)
    assert overall.x == pytest.approx((40 + 25 + 1) / 101 - 0.8)
    assert (zero.x, zero.text) == (0.0, "no gap")
    given = only(plot.groups(by_group(SITES, "site"), overall=-0.05), Rule)[0]
    assert (given.x, given.text) == (-0.05, "all rows −5.0")


def test_weighted_groups_have_no_overall_line_unless_given():
    weighted = SITES.but(weight=np.arange(1.0, 102.0))
    assert [r.text for r in only(plot.groups(by_group(weighted, "site", minimum=20)), Rule)] == ["no gap"]


def test_at_most_twenty_groups_are_drawn_in_their_order():
    # 25 groups of 50 rows at 0.8; the last five are right 20 times, the others 40 times.
    names = [f"g{i:02d}" for i in range(25) for _ in range(50)]
    right = [(0.8, 50, 20 if i >= 20 else 40) for i in range(25)]
    chart = plot.groups(by_group(top_label(*right, groups={"g": names}), "g"))
    drawn = [name for name in reversed(chart.y.names) if name]
    assert len(drawn) == 20
    assert drawn == sorted(drawn)
    assert {"g20", "g21", "g22", "g23", "g24"} <= set(drawn)
    assert len(chart.table.rows) == 25
    assert "Drawn are the 20 of 25 judged groups" in chart.caption


def test_no_group_large_enough_is_said():
    chart = plot.groups(by_group(SITES, "site", minimum=500))
    assert [m.text for m in only(chart, Label)] == ["No group has 500 rows."]
    assert "none of 3 groups has the 500 rows" in chart.alt
    assert len(chart.table.rows) == 3


def test_long_names_are_short_on_the_picture_and_whole_in_the_table():
    name = "Saint Elizabeth memorial hospital"
    one = top_label((0.8, 60, 40), groups={"site": [name] * 60})
    chart = plot.groups(by_group(one, "site"))
    assert chart.y.names == (f"Saint Elizabeth{NEXT_LINE}memorial hospital",)
    assert chart.table.rows[0][0] == name
    assert only(chart, Points)[0].tooltips[0][0] == name


def test_differences_are_those_of_the_comparison():
    comparison = cc.compare([binary("base"), binary("up", 0.2), binary("same")])
    chart = plot.differences(comparison, "brier")
    (points,) = only(chart, Points)
    assert points.x == tuple(d.brier.value for d in comparison.differences)
    assert chart.x.title == "Brier score minus that of base"
    assert {"← better", "worse →"} <= {m.text for m in only(chart, Over)}
    assert [r.text for r in only(chart, Rule)] == ["no difference"]
    # The third model is the first under another name, so its difference is exactly 0.
    assert chart.table.rows[1] == ("same", "0.0000", "0.0000 to 0.0000", "400 rows, paired by row order (no shared ids, labels agree)")


def test_a_gap_difference_is_neither_better_nor_worse():
    chart = plot.differences(cc.compare([binary("base"), binary("up", 0.2)]), "gap")
    assert {"← more overconfident", "less →"} == {m.text for m in only(chart, Over)}
    assert "neither better nor worse" in chart.caption
    assert chart.x.format == "points"


def test_the_sides_are_named_by_the_intervals():
    comparison = cc.compare([binary("base"), binary("b"), binary("c"), binary("d")])
    ends = [Estimate(-0.2, -0.3, -0.1), Estimate(0.0, -0.1, 0.1), Estimate(0.2)]
    changed = tuple(replace(d, log_loss=e) for d, e in zip(comparison.differences, ends, strict=True))
    chart = plot.differences(replace(comparison, differences=changed))
    assert chart.alt == "Log loss against base, by 95% intervals: better: b; not told apart: c; without an interval: d."
    (points,) = only(chart, Points)
    assert points.hollow == (False, False, True)
    assert [m.y for m in only(chart, Intervals)] == [(2.0, 1.0)]
    assert "no interval" in {m.text for m in only(chart, Label)}
    assert "Without an interval nothing is decided." in chart.caption
    assert chart.table.rows[2][1:3] == ("+0.2000", "–")


def test_models_that_cannot_be_compared_are_said():
    chart = plot.differences(cc.compare([binary("base"), top_label((0.8, 60, 40), name="other")]))
    assert not only(chart, Points)
    assert "not comparable" in {m.text for m in only(chart, Label)}
    assert "different kinds of scores" in chart.caption


def test_one_model_has_nothing_to_compare():
    chart = plot.differences(cc.compare([binary("base")]))
    assert [m.text for m in only(chart, Label)] == ["Nothing to compare: one model only."]
    assert chart.table.rows == ()
    figure(chart)


# 200 rows at 0.1 of which 40 happened, 200 at 0.9 of which 160 did: temperature scaling makes that 0.2 and 0.8.
LOUD = cc.Predictions.from_arrays([1] * 40 + [0] * 160 + [1] * 160 + [0] * 40, [0.1] * 200 + [0.9] * 200)


def test_changes_by_recalibration():
    found = remedies(LOUD, methods=["temperature", "isotonic"])
    chart = plot.changes(found, "gap")
    target, zero = only(chart, Rule)
    assert target.x == pytest.approx(0.1)  # says 0.9, right 0.8
    assert (target.dash, zero.text) == ("dot", "no change")
    assert chart.y.names == ("Isotonic", "Temperature")
    assert only(chart, Points)[0].x == (found["temperature"].gap.value,)
    assert "not tried" in {m.text for m in only(chart, Label)}  # 320 rows are too few for isotonic regression
    assert "Isotonic regression needs about 1,000 rows" in chart.caption
    assert chart.table.rows[0][0] == "Temperature scaling"
    assert chart.table.rows[0][3] == "−10.0"
    assert chart.alt.endswith(found.answer)


def test_scores_that_improve_lie_left():
    chart = plot.changes(remedies(LOUD, methods=["temperature"]), "log_loss")
    # The log loss is −(0.8 ln 0.9 + 0.2 ln 0.1) before and about −(0.8 ln 0.8 + 0.2 ln 0.2) after.
    change = -(0.8 * math.log(0.8) + 0.2 * math.log(0.2)) + 0.8 * math.log(0.9) + 0.2 * math.log(0.1)
    assert only(chart, Points)[0].x[0] == pytest.approx(change, abs=2e-3)
    assert {"← better", "worse →"} == {m.text for m in only(chart, Over)}
    assert not [r for r in only(chart, Rule) if r.dash == "dot"]


def test_no_recalibration_asked_for():
    chart = plot.changes(replace(remedies(LOUD, methods=["temperature"]), tried=(), chosen=None))
    assert [m.text for m in only(chart, Label)] == ["No recalibration was asked for."]


def test_periods_stand_in_time_and_a_missing_one_leaves_its_place():
    months = np.repeat(np.array(["2024-01", "2024-02", "2024-05"], dtype="datetime64[M]"), 60).astype("datetime64[D]")
    chart = plot.periods(by_period(top_label((0.8, 60, 48), (0.8, 60, 30), (0.8, 60, 60), time=months), periods="month"))
    (points,) = only(chart, Points)
    assert points.x == (0.0, 1.0, 4.0)
    assert points.y == pytest.approx((0, -0.3, 0.2), abs=1e-12)
    assert points.roles == ("within", "over", "under")
    assert points.ids == (0, 1, 2)
    assert chart.x.names == ("2024-01", "2024-02", "", "", "2024-05")
    assert [m.x for m in only(chart, Line)] == [(0.0, 1.0)]  # broken where months are missing
    assert chart.y.low == -chart.y.high
    assert "overconfident in 2024-02; underconfident in 2024-05" in chart.alt


def test_unequal_times_are_in_order_and_that_is_said():
    chart = plot.periods(by_period(top_label((0.8, 60, 48), (0.8, 60, 30), (0.8, 60, 60), time=[1] * 60 + [2] * 60 + [900] * 60)))
    assert only(chart, Points)[0].x == (0.0, 1.0, 2.0)
    assert "not to scale" in chart.caption


def test_periods_from_a_time_to_a_time_are_named_by_the_first():
    days = np.datetime64("2024-01-01") + np.arange(120)
    chart = plot.periods(by_period(top_label((0.8, 120, 96), time=days), periods=2))
    assert chart.x.names == ("2024-01-01 …", "2024-03-01 …")
    assert chart.table.rows[0][0] == "2024-01-01 to 2024-02-29"
    assert "named by their first time" in chart.caption


def test_periods_without_enough_rows():
    chart = plot.periods(by_period(top_label((0.8, 20, 16), time=[1] * 10 + [2] * 10)))
    assert [m.text for m in only(chart, Label)] == ["No period has 50 rows."]
    assert [row[-1] for row in chart.table.rows] == ["not judged", "not judged"]


def test_classes_by_their_error_beyond_chance(three_classes):
    chart = plot.classes(three_classes)
    (points,) = only(chart, Points)
    beyond = {c: three_classes.classwise.per_class[c] - three_classes.floors[c] for c in three_classes.classes}
    order = sorted(beyond, key=beyond.get, reverse=True)
    assert [three_classes.classes[i] for i in points.ids] == order
    assert points.x == tuple(three_classes.classwise.per_class[c] for c in order)
    # Behind each point what chance alone gives; no interval, for one of a plug-in ECE does not cover the truth.
    (chance,) = only(chart, Intervals)
    assert (chance.y, chance.low) == (points.y, (0.0,) * 3)
    assert chance.high == tuple(three_classes.floors[c] for c in order)
    assert not chance.caps
    assert not any(points.hollow)
    assert f"Top-label ECE {three_classes.ece:.4f}; mean of the classwise ECEs {three_classes.classwise.mean:.4f}" in chart.caption


def test_twenty_classes_are_drawn_and_all_are_listed():
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(25), size=200)
    chart = plot.classes(cc.analyze(cc.Predictions.from_arrays(rng.integers(0, 25, size=200), p)))
    assert len(only(chart, Points)[0].x) == 20
    assert len(chart.table.rows) == 25
    assert "the 20 worst of 25 classes" in chart.caption


def test_confidences_alone_have_no_classes():
    chart = plot.classes(cc.analyze(SITES))
    assert [m.text for m in only(chart, Label)] == ["No probabilities of single classes."]


def test_the_cumulative_curve_and_its_largest_run():
    # In order: 100 rows at 0.6 of which 80 are right, 100 at 0.9 of which 50: C = 0, (80 − 60)/200, (130 − 150)/200.
    a = cc.analyze(top_label((0.6, 100, 80), (0.9, 100, 50)))
    chart = plot.cumulative(a)
    curve, run = only(chart, Line)
    assert curve.x == pytest.approx((0, 0.5, 1))
    assert curve.y == pytest.approx((0, 0.1, -0.1), abs=1e-12)
    assert (run.x, run.role) == (pytest.approx((0.5, 1)), "over")
    assert "overconfident at confidence 90%, which adds up to 20.0 points" in chart.alt
    assert [row[0] for row in chart.table.rows] == ["0.0%", "50.0%", "100.0%"]
    assert [row[2] for row in chart.table.rows] == ["0", "+10.00", "−10.00"]


def test_chance_is_the_range_of_brownian_motion():
    # 95 % of Brownian motions on [0, 1] stay within ±2.2414; sigma² = Σp(1 − p)/n².
    (chance,) = only(plot.cumulative(cc.analyze(top_label((0.6, 100, 60), (0.9, 100, 90)))), Ribbon)
    sigma = math.sqrt(100 * 0.6 * 0.4 + 100 * 0.9 * 0.1) / 200
    assert chance.high == pytest.approx((2.2414 * sigma,) * 2, rel=1e-4)
    assert chance.low == tuple(-h for h in chance.high)


def test_a_run_that_chance_explains_is_not_coloured():
    chart = plot.cumulative(cc.analyze(top_label((0.6, 100, 61), (0.9, 100, 89))))
    assert only(chart, Line)[1].role == "within"
    assert "more than chance explains" in chart.alt


def test_no_difference_at_all_has_no_run():
    chart = plot.cumulative(cc.analyze(top_label((0.75, 100, 75))))
    assert len(only(chart, Line)) == 1
    assert ": none;" in chart.alt


def test_clusters_have_no_range_by_chance():
    chart = plot.cumulative(cc.analyze(top_label((0.6, 100, 80), (0.9, 100, 50), cluster=np.repeat(np.arange(50), 4))))
    assert not only(chart, Ribbon)
    assert "clusters" in chart.caption


def test_risk_found_and_expected_by_coverage():
    # From the top: 100 rows at 0.9 with 30 wrong, then 100 at 0.6 with 50 wrong: 30/100 and 80/200, expected 0.1 and (10 + 40)/200.
    a = cc.analyze(top_label((0.6, 100, 50), (0.9, 100, 70)), cc.Settings(threshold=0.8))
    chart = plot.risk_coverage(a)
    expected, found = only(chart, Line)
    assert found.x == expected.x == (0.5, 1.0)
    assert found.y == pytest.approx((0.3, 0.4))
    assert expected.y == pytest.approx((0.1, 0.25))
    (rule,), (point,), (whiskers,) = only(chart, Rule), only(chart, Points), only(chart, Whiskers)
    assert (rule.x, rule.text) == (0.5, "confidence above 0.8: 50% of rows")
    assert (point.x, point.y) == ((0.5,), (pytest.approx(0.3),))
    assert (whiskers.low[0], whiskers.high[0]) == a.measures["threshold"].acted.interval(0.95)
    assert "with confidence above 0.8, 50% of rows, it is 30.0%, expected 10.0%" in chart.alt
    assert [m.text for m in only(chart, Label)] == ["found", "expected"]


def test_labels_of_lines_that_end_together_are_apart():
    chart = plot.risk_coverage(cc.analyze(top_label((0.6, 100, 60), (0.9, 100, 90))))
    one, two = (m.y for m in only(chart, Label))
    assert abs(one - two) >= 0.069 * (chart.y.high - chart.y.low)
    assert not only(chart, Rule)


def test_a_threshold_above_every_score_is_said():
    chart = plot.risk_coverage(cc.analyze(top_label((0.6, 100, 60)), cc.Settings(threshold=0.8)))
    assert "No row has a confidence above 0.8" in chart.caption
    assert len(only(chart, Points)[0].x) == 2  # one score is no line


def test_the_corp_curve_is_the_isotonic_fit():
    # Shares 0.9, 0.5, 0.95 at 0.6, 0.7, 0.9: the first two are in the wrong order and are pooled to 140/200.
    a = cc.analyze(top_label((0.6, 100, 90), (0.7, 100, 50), (0.9, 100, 95)))
    curve = only(plot.reliability(a, curve=True), Line)[-1]
    assert curve.name == "CORP curve"
    assert curve.x == pytest.approx((0.6, 0.7, 0.9, 0.9))
    assert curve.y == pytest.approx((0.7, 0.7, 0.95, 0.95))
    assert [m.name for m in only(plot.reliability(a), Line)] == ["perfect calibration"]


def test_the_corp_curve_is_thinned_to_pixels_and_exact_at_its_ends():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1, size=20_000)
    a = cc.analyze(cc.Predictions.from_top_label(p, rng.uniform(size=20_000) < p))
    curve = only(plot.reliability(a, curve=True), Line)[-1]
    blocks = a.measures["corp"].curve.blocks
    assert (curve.x[0], curve.x[-1]) == (blocks.low[0], blocks.high[-1])
    assert (curve.y[0], curve.y[-1]) == (blocks.fitted[0], blocks.fitted[-1])
    assert len(curve.x) <= 2 * 562
    assert list(curve.y) == sorted(curve.y)
    assert list(curve.x) == sorted(curve.x)


def test_few_rows_at_the_end_of_the_curve_do_not_stretch_the_axis():
    # Five rows of none right begin the curve at 0; two hundred at 0.55 of which 100 are right follow.
    p, y = np.repeat([0.51, 0.55, 0.9], [5, 200, 200]), np.repeat([0, 1, 0, 1, 0], [5, 100, 100, 180, 20])
    a = cc.analyze(cc.Predictions.from_arrays(y, p), cc.Settings(edges=(0, 0.8, 1)))
    assert y_start(a, curve=True) == y_start(a) > 0.3
    assert "rests on few rows and is not drawn" in plot.reliability(a, curve=True).caption


@pytest.mark.parametrize(
    ("axis", "most", "values", "texts"),
    [
        (Axis("", -0.1, 0.1, "points"), 6, (-0.1, -0.05, 0, 0.05, 0.1), ("−10", "−5", "0", "+5", "+10")),
        (
            Axis("", -0.002, 0.004, "points"),
            6,
            tuple(k / 1000 for k in range(-2, 5)),
            ("−0.2", "−0.1", "0", "+0.1", "+0.2", "+0.3", "+0.4"),
        ),
        (Axis("", 0.0, 0.09, "number"), 10, tuple(k / 100 for k in range(10)), tuple(f"0.0{k}" for k in range(10))),
        (Axis("", 0.0, 0.05), 6, (0, 0.01, 0.02, 0.03, 0.04, 0.05), ("0%", "1%", "2%", "3%", "4%", "5%")),
    ],
)
def test_ticks_are_round_and_told_apart(axis, most, values, texts):
    found = number_ticks(axis, most)
    assert found[0] == pytest.approx(values)
    assert found[1] == texts


def test_names_that_do_not_fit_are_left_out():
    axis = Axis("Month", -0.6, 9.6, names=tuple(f"2024-{k:02d}" for k in range(1, 11)))
    assert name_ticks(axis)[0] == tuple(range(10))
    assert name_ticks(axis, 5 * 7 * 8)[0] == (0, 2, 4, 6, 8)


@pytest.mark.parametrize(
    ("value", "in_points", "text"),
    [(0.0123, False, "+0.0123"), (-0.00001, False, "−0.00001"), (-1e-17, False, "0.0000"), (-0.012, True, "−1.2"), (0.0001, True, "0.0")],
)
def test_differences_in_words(value, in_points, text):
    assert difference(value, in_points=in_points) == text


def test_intervals_names_and_lists_in_words():
    assert interval_words(Estimate(0.0, -0.01, 0.02), in_points=True) == "−1.0 to +2.0"
    assert interval_words(Estimate(0.0)) is None
    assert shortened("exactly eighteen !") == "exactly eighteen !"
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("abcdef")) == "a, b, c, d and 2 more"


def test_in_the_positive_view_a_negative_gap_is_a_probability_too_high():
    settings = cc.Settings(view="positive")
    a = cc.analyze(binary("up", 0.3), settings)
    assert {m.text for m in only(plot.gaps(a), Label)} == {"probability too high", "probability too low"}
    assert "probability too high at probability" in plot.cumulative(a).alt
    assert "confident" not in plot.reliability(a, curve=True).alt + plot.overlay([a]).caption
    compared = plot.differences(cc.compare([binary("base"), binary("up", 0.2)], settings), "gap")
    assert {"← claims more", "less →"} == {m.text for m in only(compared, Over)}
    assert "claims more: up" in compared.alt


def test_of_many_groups_the_clearest_are_drawn_whatever_their_p_values():
    # 25 groups of 100 rows at 0.8, all right less often than that: those right least often are the clearest.
    names = [f"g{i:02d}" for i in range(25) for _ in range(100)]
    found = by_group(top_label(*((0.8, 100, 62 - i) for i in range(25)), groups={"g": names}), "g")
    drawn = {name for name in plot.groups(found).y.names if name}
    assert drawn == {f"g{i:02d}" for i in range(5, 25)}
    # The same with p-values that would say otherwise.
    turned = replace(found, groups=tuple(replace(g, p_value=(i + 1) / 1001) for i, g in enumerate(found.groups)))
    assert {name for name in plot.groups(turned).y.names if name} == drawn
