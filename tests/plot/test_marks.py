"""Charts as data: what is drawn, in which direction and colour, and with which words."""

import math

import numpy as np
import pytest
from scipy.special import bdtr

import calibcore as cc
from calibcore import plot
from calibcore.plot.frame import directions, notable, x_start
from calibcore.plot.geometry import margins
from calibcore.plot.marks import Band, Bars, Highlight, Label, Line, Points, Ribbon, Rule, Ticks, Whiskers
from calibcore.plot.palette import DARK, LIGHT, MODEL_STYLES, faded
from calibcore.plot.sweep import ece_between


def model(*groups, name="m", classes=("no", "yes")):
    """A binary model: each group is (probability of yes, rows, of which yes)."""
    prob = np.concatenate([np.full(n, p) for p, n, _ in groups])
    label = np.concatenate([np.arange(n) < k for _, n, k in groups]).astype(int)
    return cc.Predictions.from_arrays(np.array(classes)[label], prob, classes=classes, name=name)


# One bin far below its confidence (60 of 100 right where 90 are claimed), one far above (90 of 100 where 60 are claimed),
# one at its confidence (75 of 100), and one of few rows (19 of 20 right where 0.98 is claimed).
MIXED = ((0.55, 100, 90), (0.75, 100, 75), (0.85, 100, 60), (0.98, 20, 19))


@pytest.fixture(scope="module")
def analysis():
    return cc.analyze(model(*MIXED), cc.Settings(n_bins=10))


def only(chart, kind):
    return [m for m in chart.marks if isinstance(m, kind)]


def test_directions_follow_the_calibrated_range(analysis):
    assert directions(analysis.bins, 0.95) == ("empty",) * 5 + ("under", "empty", "within", "over", "within")


def test_gap_bars_run_from_the_diagonal_to_the_point(analysis):
    (bars,) = only(plot.reliability(analysis), Bars)
    assert bars.ids == (5, 7, 8, 9)
    assert bars.base == pytest.approx((0.55, 0.75, 0.85, 0.98))
    assert bars.height == pytest.approx((0.9 - 0.55, 0, 0.6 - 0.85, 0.95 - 0.98), abs=1e-12)
    assert bars.roles == ("under", "within", "over", "within")
    assert bars.hatches == ("\\", "", "/", "")


def test_points_are_bin_means_and_hollow_below_thirty_rows(analysis):
    (points,) = only(plot.reliability(analysis), Points)
    assert points.x == pytest.approx((0.55, 0.75, 0.85, 0.98))
    assert points.y == pytest.approx((0.9, 0.75, 0.6, 0.95))
    assert points.hollow == (False, False, False, True)
    assert points.roles == ("under", "within", "over", "within")


def test_empty_bins_have_a_tick_and_no_mark(analysis):
    chart = plot.reliability(analysis)
    (ticks,) = only(chart, Ticks)
    assert ticks.x == pytest.approx((0.65,))  # the axis starts at 1/2, so of the six empty bins one is in view
    assert all(i >= 5 for m in only(chart, Points) for i in m.ids)


def test_band_is_the_calibrated_range(analysis):
    (band,) = only(plot.reliability(analysis), Band)
    low, high = analysis.bins.calibrated_range(0.95)
    assert band.low == pytest.approx(low[[5, 7, 8, 9]])
    assert band.high == pytest.approx(high[[5, 7, 8, 9]])
    assert band.lower == pytest.approx((0.5, 0.7, 0.8, 0.9))
    # The lower end is the smallest k with P(X ≤ k) ≥ 0.025 of 100 rows at 0.75.
    k = next(k for k in range(101) if bdtr(k, 100, 0.75) >= 0.025)
    assert band.low[1] == pytest.approx(k / 100)


@pytest.mark.parametrize(("shown", "bands", "whiskers"), [("band", 1, 0), ("bars", 0, 1), ("both", 1, 1)])
def test_uncertainty_is_never_off(analysis, shown, bands, whiskers):
    chart = plot.reliability(analysis, uncertainty=shown)
    assert (len(only(chart, Band)), len(only(chart, Whiskers))) == (bands, whiskers)


def test_whiskers_are_the_wilson_interval(analysis):
    (whiskers,) = only(plot.reliability(analysis, uncertainty="bars"), Whiskers)
    low, high = analysis.bins.interval(0.95)
    assert whiskers.low == pytest.approx(low[[5, 7, 8, 9]])
    assert whiskers.high == pytest.approx(high[[5, 7, 8, 9]])


def test_marks_lie_from_back_to_front(analysis):
    kinds = [type(m) for m in plot.reliability(analysis, uncertainty="both", selected=8).marks]
    assert kinds == [Highlight, Band, Line, Bars, Whiskers, Points, Ticks, Label]


def test_diagonal_is_perfect_calibration(analysis):
    (line,) = only(plot.reliability(analysis), Line)
    assert (line.name, line.dash, line.x) == ("perfect calibration", "dash", line.y)


def test_at_most_one_bin_is_annotated_the_weightiest_outside_its_range(analysis):
    # |gap| × rows: 0.35 × 100 in the sixth bin, 0.25 × 100 in the ninth.
    assert notable(analysis.bins, 0.95) == 5
    (label,) = only(plot.reliability(analysis), Label)
    assert label.text == "says 55%, right 90%"
    assert label.pointer == pytest.approx((0.55, 0.9))


def test_a_calibrated_model_is_not_annotated():
    a = cc.analyze(model((0.6, 100, 60), (0.8, 100, 80)))
    assert notable(a.bins, 0.95) is None
    assert only(plot.reliability(a), Label) == []


def test_tooltip_says_everything_about_a_bin(analysis):
    (points,) = only(plot.reliability(analysis), Points)
    low, high = (100 * e[8] for e in analysis.bins.interval(0.95))
    band_low, band_high = (100 * e[8] for e in analysis.bins.calibrated_range(0.95))
    assert points.tooltips[2] == (
        "80% < confidence ≤ 90%",
        "says 85.0% on average",
        "right 60 of 100 = 60.0%",
        f"95% Wilson interval {low:.1f} to {high:.1f}%",
        "gap −25.0 points",
        f"a calibrated model: {band_low:.1f} to {band_high:.1f}%",
        "31.2% of rows",  # 100 of 320 rows
    )
    assert points.tooltips[3][-1] == "6.2% of rows, few rows"


def test_tooltip_of_left_closed_bins():
    a = cc.analyze(model((0.85, 40, 30)), cc.Settings(n_bins=10, closed="left"))
    (points,) = only(plot.reliability(a), Points)
    assert points.tooltips[0][0] == "80% ≤ confidence < 90%"


def test_selected_bin_is_highlighted_and_outlined(analysis):
    chart = plot.reliability(analysis, selected=8)
    assert only(chart, Highlight) == [Highlight(0.8, 0.9)]
    assert only(chart, Points)[0].outlined == 8
    assert only(plot.gaps(analysis, selected=8), Highlight) == [Highlight(0.8, 0.9)]
    assert only(plot.counts(analysis, selected=8), Highlight) == [Highlight(0.8, 0.9)]


@pytest.mark.parametrize(("k", "start"), [(2, 0.5), (4, 0.25), (5, 0.2)])
def test_confidence_axis_starts_at_an_even_guess(k, start):
    prob = np.full((50, k), 0.2 / (k - 1))
    prob[:, 0] = 0.8
    a = cc.analyze(cc.Predictions.from_arrays(np.arange(50) % k, prob))
    assert x_start(a) == pytest.approx(start)
    assert plot.reliability(a).x.low == pytest.approx(start)


def test_positive_view_starts_at_zero():
    a = cc.analyze(model(*MIXED), cc.Settings(view="positive"))
    assert plot.reliability(a).x.low == 0
    assert plot.reliability(a).x.title == "Predicted probability of yes"


def test_axis_goes_lower_where_confidences_do():
    p = cc.Predictions.from_top_label([0.31, 0.35, 0.9], [0, 1, 1], label=["a", "b", "a"], predicted=["b", "b", "a"])
    assert x_start(cc.analyze(p)) == pytest.approx(0.3)


def test_every_drawn_point_is_inside_the_axes():
    a = cc.analyze(model((0.6, 40, 0), (0.9, 40, 40)))
    chart = plot.reliability(a, uncertainty="both")
    (points,) = only(chart, Points)
    assert chart.y.low == 0
    assert all(chart.y.low <= y <= chart.y.high for y in points.y)


def test_gaps_are_symmetric_about_zero_with_their_words_on_the_right_side(analysis):
    chart = plot.gaps(analysis)
    assert chart.y.low == -chart.y.high
    (bars,) = only(chart, Bars)
    assert bars.base == (0.0,) * 4
    assert bars.height == pytest.approx((0.35, 0, -0.25, -0.03), abs=1e-12)
    places = {m.text: m.y for m in only(chart, Label)}
    assert places["overconfident"] < 0 < places["underconfident"]
    assert only(chart, Rule) == [Rule("diagonal", y=0.0)]


def test_gap_whiskers_are_the_wilson_interval_about_the_confidence(analysis):
    (whiskers,) = only(plot.gaps(analysis), Whiskers)
    low, _ = analysis.bins.interval(0.95)
    assert whiskers.low[0] == pytest.approx(low[5] - 0.55)


def test_a_bin_without_a_gap_can_be_clicked(analysis):
    (targets,) = only(plot.gaps(analysis), Points)
    assert targets.ids == (5, 7, 8, 9)
    assert targets.size >= 24
    assert not targets.visible


@pytest.mark.parametrize(
    ("scale", "heights"),
    [("share", (100 / 320, 100 / 320, 100 / 320, 20 / 320)), ("count", (100, 100, 100, 20)), ("log_count", (100, 100, 100, 20))],
)
def test_counts(analysis, scale, heights):
    chart = plot.counts(analysis, scale=scale)
    (bars,) = only(chart, Bars)
    assert bars.height == pytest.approx(heights)
    assert chart.y.log == (scale == "log_count")


def test_counts_show_mean_confidence_dotted_and_accuracy_solid(analysis):
    dotted, solid = only(plot.counts(analysis), Rule)
    assert (dotted.dash, solid.dash) == ("dot", "solid")
    # (55 + 75 + 85 + 0.98·20)/320 and (90 + 75 + 60 + 19)/320
    assert dotted.x == pytest.approx((55 + 75 + 85 + 19.6) / 320)
    assert solid.x == pytest.approx(244 / 320)


def test_a_pile_of_rows_is_said():
    a = cc.analyze(model((0.99, 190, 180), (0.6, 10, 6)), cc.Settings(n_bins=10))
    assert "95% of the rows are in one bin, 90–100%." in plot.counts(a).caption


def test_sweep_is_drawn_to_fifty_with_a_marker_at_the_shown_bins(analysis):
    chart = plot.sweep(analysis)
    width, mass = only(chart, Line)
    assert (width.dash, mass.dash) == ("solid", "dash")
    assert width.x == tuple(range(2, 51))
    (marker,) = only(chart, Points)
    assert (marker.x, marker.y) == ((10.0,), (analysis.ece,))
    assert analysis.ece == pytest.approx(width.y[8])
    (chance,) = only(chart, Ribbon)
    assert chance.x == width.x
    assert (chance.low, chance.high) == (analysis.chance_sweep.median, analysis.chance_sweep.p95)


@pytest.mark.parametrize(("right_at_95", "start", "ratio"), [(60, 0.5, 1.0), (45, 0.5, 1.2), (2, 0.3, 1 / 0.7)])
def test_the_diagonal_runs_at_45_degrees(right_at_95, start, ratio):
    """Of 60, 45 and 2 right the y axis starts at 0.5, 0.4 and 0; the x axis goes lower where the plot would be taller than 1/0.7."""
    chart = plot.reliability(cc.analyze(model((0.95, 100, right_at_95), (0.75, 100, 75)), cc.Settings(n_bins=10)))
    assert chart.x.low == pytest.approx(start)
    around = margins(chart)
    across, up = chart.width - around["l"] - around["r"], chart.height - around["t"] - around["b"]
    assert up / across == pytest.approx((chart.y.high - chart.y.low) / (chart.x.high - chart.x.low), abs=0.01)
    assert up / across == pytest.approx(ratio, abs=0.01)


def test_range_of_the_sweep():
    assert ece_between((2, 3, 4, 5), (0.9, 0.2, 0.1, 0.3), 3, 4) == (0.1, 0.2)


def test_overlay_tells_models_apart_by_colour_marker_and_dash():
    analyses = [cc.analyze(model(*MIXED, name=n)) for n in "abcd"]
    chart = plot.overlay(analyses)
    lines, points = only(chart, Line)[1:], only(chart, Points)
    assert [(m.role, p.symbol, m.dash) for m, p in zip(lines, points, strict=True)] == list(MODEL_STYLES)
    labels = only(chart, Label)
    assert sorted(m.text for m in labels) == ["a", "b", "c", "d"]
    assert len({round(m.y, 6) for m in labels}) == 4  # pushed apart, though the lines end together


def test_a_fifth_model_is_not_overlaid():
    with pytest.raises(cc.InputError, match="An overlay holds 1 to 4 models, not 5"):
        plot.overlay([cc.analyze(model(*MIXED))] * 5)


def test_small_multiples_share_their_axes():
    models = (model((0.6, 40, 20), name="a"), model((0.9, 40, 5), name="b"))
    charts = plot.small_multiples([cc.analyze(m) for m in models])
    assert len({(c.x, c.y) for c in charts}) == 1
    assert all(only(c, Band) for c in charts)
    with pytest.raises(cc.InputError, match="At most 8 diagrams"):
        plot.small_multiples([cc.analyze(models[0])] * 9)


def test_small_multiples_hold_every_band_of_firm_bins():
    chart = plot.small_multiples([cc.analyze(model((0.55, 40, 20)))])[0]
    (band,) = only(chart, Band)
    assert chart.y.low <= min(band.low)


@pytest.mark.parametrize(
    "settings",
    [
        cc.Settings(),
        cc.Settings(strategy="equal_mass"),
        cc.Settings(edges=(0, 0.5, 1)),
        cc.Settings(view="positive"),
        cc.Settings(view="class:no"),
        cc.Settings(n_bins=2),
        cc.Settings(n_bins=50),
    ],
    ids=str,
)
def test_every_chart_has_its_words_and_table(settings):
    a = cc.analyze(model(*MIXED), settings)
    for name, make in plot.CHARTS.items():
        chart = make(a)
        assert chart.kind == name
        assert chart.alt.endswith("."), name
        assert chart.caption, name
        assert all(len(row) == len(chart.table.header) for row in chart.table.rows), name
        assert chart.x.low < chart.x.high, name
        assert chart.y.low < chart.y.high, name


@pytest.mark.parametrize("groups", [((0.9, 1, 1),), ((0.9, 1, 0),), ((0.5, 40, 20),), ((1.0, 40, 40),), ((1.0, 40, 0),)])
def test_charts_of_degenerate_samples(groups):
    a = cc.analyze(model(*groups))
    for mark in (mark for make in plot.CHARTS.values() for mark in make(a).marks):
        for field in ("x", "y", "low", "high", "height"):
            values = getattr(mark, field, None)
            if isinstance(values, tuple):
                assert all(math.isfinite(v) for v in values), (mark, field)


def test_shared_ties_have_no_interval_and_still_a_chart():
    a = cc.analyze(model(*MIXED), cc.Settings(strategy="equal_mass", ties="share", n_bins=7))
    assert not [name for name, make in plot.CHARTS.items() if only(make(a), Band)]


def test_the_table_of_bins_lists_empty_ones(analysis):
    table = plot.reliability(analysis).table
    assert len(table.rows) == 10
    assert table.rows[0] == ("0–10%", "0", "0%", "–", "–", "–", "–", "–")
    assert table.rows[8][:6] == ("80–90%", "100", "31%", "85.0%", "60.0%", "−25.0")


def test_both_themes_have_every_role():
    assert LIGHT.keys() == DARK.keys()
    assert faded("over", 0.5) == "rgba(213, 94, 0, 0.5)"


def _luminance(code):
    parts = (int(code[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def _contrast(a, b):
    bright, dim = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_keep_three_to_one_and_text_four_and_a_half_to_one(palette):
    for role, code in palette.items():
        if role not in ("grid", "nothing"):
            assert _contrast(code, palette["nothing"]) >= (4.5 if role in ("text", "ink") else 3.0), role


def test_weights_of_mean_one_are_no_counts():
    # 100 rows at 0.9 of weight 0.5 and 1.5 in turn: their sum is 100, as is their number.
    weight = np.tile([0.5, 1.5], 50)
    right = np.ones(100)
    right[:20] = 0  # ten rows of each weight: 20 of 100 by weight
    p = cc.Predictions.from_top_label([0.9] * 100, right, sample_weight=weight)
    (points,) = only(plot.reliability(cc.analyze(p)), Points)
    assert "right 80.0% (100 rows, weighted)" in points.tooltips[0]
    (points,) = only(plot.reliability(cc.analyze(cc.Predictions.from_top_label([0.9] * 100, right))), Points)
    assert "right 80 of 100 = 80.0%" in points.tooltips[0]
