"""What can be read on a picture: words clear of marks, few rows without a say in the axes, one scale on both axes of a diagram."""

import numpy as np
import pytest

import calibcore as cc
from calibcore import plot
from calibcore.plot.frame import even_guess, firm, x_start
from calibcore.plot.geometry import axis_ticks, margins, squared
from calibcore.plot.interactive import figure
from calibcore.plot.marks import NEXT_LINE, Axis, Bars, Chart, Label, Line, Over, Points, Ribbon, Rule, Table, Whiskers


def top_label(*groups, **more):
    """Confidences alone: each group is (confidence, rows, of which right)."""
    confidence = np.concatenate([np.full(n, p) for p, n, _ in groups])
    correct = np.concatenate([np.arange(n) < k for _, n, k in groups])
    return cc.Predictions.from_top_label(confidence, correct, **more)


def binary(*groups, **more):
    prob = np.concatenate([np.full(n, p) for p, n, _ in groups])
    label = np.concatenate([np.arange(n) < k for _, n, k in groups]).astype(int)
    return cc.Predictions.from_arrays(label, prob, **more)


def only(chart, kind):
    return [m for m in chart.marks if isinstance(m, kind)]


def wilson(k, n, z=1.959963984540054):
    middle, half = (k + z * z / 2) / (n + z * z), z / (n + z * z) * (k * (n - k) / n + z * z / 4) ** 0.5
    return middle - half, middle + half


@pytest.mark.parametrize("groups", [((0.53, 1, 0), (0.57, 2, 0), (0.9, 3, 3)), ((0.55, 100, 90), (0.85, 100, 60), (0.98, 20, 19))])
def test_words_of_the_gaps_lie_beyond_every_bar(groups):
    chart = plot.gaps(cc.analyze(binary(*groups)))
    (bars,) = only(chart, Bars)
    reach = chart.y.high
    around = margins(chart)
    strip = (chart.height - around["t"] - around["b"]) / 2 * (1 - max(map(abs, bars.height)) / reach)
    assert strip >= 22  # pixels: a line of 13 and the padding of its box
    assert {abs(m.y) for m in only(chart, Label)} == {0.99 * reach}


def test_few_rows_do_not_rule_the_axis_of_the_gaps():
    # 200 rows at 0.9 of which 180 are right, and one at 0.6 that is wrong: a gap of −60 points.
    a = cc.analyze(binary((0.6, 1, 0), (0.9, 200, 180)), cc.Settings(n_bins=10))
    assert list(np.flatnonzero(firm(a.bins))) == [8]
    chart = plot.gaps(a)
    low, high = wilson(180, 200)
    assert chart.y.high == pytest.approx(np.ceil(20 * max(0.9 - low, high - 0.9) / 0.7) / 20)
    (arrow,) = (m for m in only(chart, Points) if m.symbol == "triangle-down")
    assert (arrow.ids, arrow.hollow, arrow.y) == ((5,), (True,), (pytest.approx(-0.7 * chart.y.high),))
    assert "gap −60.0 points" in arrow.tooltips[0]
    assert only(chart, Bars)[0].height[0] == arrow.y[0]
    assert len(only(chart, Whiskers)[0].x) == 1
    assert "Arrow: 1 bin of fewer than 30 rows beyond the axis." in chart.caption


def test_without_firm_bins_all_count():
    a = cc.analyze(binary((0.6, 1, 0), (0.9, 20, 18)), cc.Settings(n_bins=10))
    assert list(np.flatnonzero(firm(a.bins))) == [5, 8]
    chart = plot.gaps(a)
    assert "Arrow" not in chart.caption
    assert chart.y.high >= 0.6 / 0.7


@pytest.mark.parametrize(
    ("says", "right", "sides"),
    [
        (0.7, 60, {"dot": ("right", 0), "solid": ("left", 0)}),  # of the half from 0.5 to 1 each has its own side
        (0.7, 80, {"dot": ("left", 0), "solid": ("right", 0)}),
        (0.97, 90, {"dot": ("left", 1), "solid": ("left", 0)}),  # no room to the right of 97 %
        (0.97, 50, {"dot": ("left", 2), "solid": ("right", 1)}),  # none on either side: each in a line of its own
    ],
)
def test_words_of_two_lines_lie_away_from_each_other(says, right, sides):
    chart = plot.counts(cc.analyze(binary((says, 100, right))))
    assert {r.dash: (r.side, r.level) for r in only(chart, Rule)} == sides


def test_a_line_goes_up_to_its_words():
    chart = plot.counts(cc.analyze(binary((0.97, 100, 90))))
    tops = {s.line.dash: s.y1 for s in figure(chart).layout.shapes}
    around = margins(chart)
    assert around["t"] == 24 + 16
    assert tops["solid"] == 1
    assert tops["dot"] == pytest.approx(1 + 16 / (chart.height - around["t"] - around["b"]))


def diagram(start, bottom, width=560):
    axes = Axis("across", start, 1.0), Axis("up", bottom, 1.0)
    return squared(Chart("test", *axes, (Line((0, 1), (0, 1), "diagonal"),), "What is found.", "", Table((), ()), width, 0))


@pytest.mark.parametrize(("start", "bottom"), [(0, 0), (0.5, 0.4), (0.5, 0.3), (1 / 3, 0.1)])
@pytest.mark.parametrize("width", [300, 560])
def test_one_point_across_is_as_long_as_one_point_up(start, bottom, width):
    chart = diagram(start, bottom, width)
    layout = figure(chart).layout
    across = width - layout.margin.l - layout.margin.r
    assert chart.height - layout.margin.t - layout.margin.b == pytest.approx(across * (1 - bottom) / (1 - start), abs=0.5)
    assert (layout.yaxis.scaleanchor, layout.yaxis.scaleratio) == ("x", 1)  # also where the page is narrower
    assert (layout.xaxis.constrain, layout.yaxis.constrain) == ("domain", "domain")
    ax = plot.draw(chart)
    ax.figure.draw_without_rendering()
    (left, low), (right, high) = ax.transData.transform([(start, bottom), (1, 1)])
    assert (high - low) / (right - left) == pytest.approx((1 - bottom) / (1 - start))
    assert right - left == pytest.approx(across, abs=3)


def test_charts_below_each_other_have_one_x_axis():
    a = cc.analyze(binary((0.55, 100, 60), (0.85, 100, 60)))
    drawn = [plot.gaps(a), plot.counts(a), plot.counts(a, scale="log_count")]
    assert len({(figure(c).layout.margin.l, figure(c).layout.margin.r) for c in drawn}) == 1
    assert len({c.x for c in drawn}) == 1
    for c in drawn:
        assert figure(c).layout.xaxis.ticktext[-1] == "100%"
    assert len({tuple(plot.draw(c).get_position().intervalx.round(3)) for c in drawn}) == 1


def test_the_axis_goes_lower_for_a_point_that_would_make_the_diagram_too_tall():
    assert x_start(cc.analyze(binary((0.9, 100, 60)))) == 0.5
    # From 0 to 1 upwards, at most 10/7 of the width: 1 − 7/10.
    low = cc.analyze(binary((0.75, 100, 5), (0.95, 500, 450)))
    assert x_start(low) == pytest.approx(0.3)
    assert even_guess(low) == 0.5  # still nothing lies below
    # One row does not do it.
    assert x_start(cc.analyze(binary((0.6, 1, 0), (0.9, 100, 60)))) == 0.5
    assert even_guess(cc.analyze(top_label((0.4, 30, 10)))) is None


def test_overlaid_points_of_many_rows_have_a_line_and_intervals():
    a, b = (cc.analyze(top_label((0.6, 5, 5), (0.75, 100, 70), (0.9, 50, 40), name=n)) for n in "ab")
    chart = plot.overlay([a, b])
    lines, whiskers = only(chart, Line)[1:], only(chart, Whiskers)
    assert [m.x for m in lines] == [pytest.approx((0.75, 0.9))] * 2
    assert [m.role for m in whiskers] == [m.role for m in lines] == ["model1", "model2"]
    assert whiskers[0].low == pytest.approx((wilson(70, 100)[0], wilson(40, 50)[0]), rel=1e-9)
    assert whiskers[0].high == pytest.approx((wilson(70, 100)[1], wilson(40, 50)[1]), rel=1e-9)
    assert sum(sum(m.hollow) for m in only(chart, Points)) == 2
    assert "no line runs through these points" in chart.caption


def test_an_overlay_of_few_rows_has_points_alone():
    chart = plot.overlay([cc.analyze(top_label((0.6, 5, 5), (0.9, 5, 4)))])
    assert len(only(chart, Line)) == 1
    assert not only(chart, Whiskers)
    assert len(only(chart, Label)) == 1


def test_error_rates_begin_at_thirty_rows_with_their_interval():
    # From the top: 20 rows at 0.95 with 0 wrong, 40 at 0.9 with 8 wrong, 40 at 0.6 with 20 wrong.
    chart = plot.risk_coverage(cc.analyze(top_label((0.6, 40, 20), (0.9, 40, 32), (0.95, 20, 20))))
    expected, found = only(chart, Line)
    assert found.x == expected.x == pytest.approx((0.6, 1.0))
    assert found.y == pytest.approx((8 / 60, 28 / 100))
    (band,) = only(chart, Ribbon)
    assert band.x == pytest.approx((0.6, 1.0))
    assert band.low == pytest.approx((wilson(8, 60)[0], wilson(28, 100)[0]), rel=1e-9)
    assert band.high == pytest.approx((wilson(8, 60)[1], wilson(28, 100)[1]), rel=1e-9)
    assert "Both lines begin at 30 rows." in chart.caption


def test_of_fewer_than_thirty_rows_all_is_drawn_and_that_is_said():
    chart = plot.risk_coverage(cc.analyze(top_label((0.6, 10, 5), (0.9, 10, 9))))
    assert only(chart, Line)[1].x == (0.5, 1.0)
    assert "fewer than 30 rows" in chart.caption
    assert "begin at" not in chart.caption


def test_words_of_the_sweep_stand_over_all_curves():
    chart = plot.sweep(cc.analyze(binary((0.55, 100, 90), (0.75, 100, 75), (0.85, 100, 60))))
    (label,), (ribbon,) = only(chart, Label), only(chart, Ribbon)
    highest = max(*(y for m in only(chart, Line) for y in m.y), *ribbon.high)
    around = margins(chart)
    assert (label.y - highest) / chart.y.high * (chart.height - around["t"] - around["b"]) >= 22  # pixels of the box of the words
    assert label.pointer is not None
    assert ribbon.name == "chance alone, equal width"


def test_words_within_chance_stand_within_the_grey():
    chart = plot.cumulative(cc.analyze(top_label((0.6, 100, 61), (0.9, 100, 89))))
    (label,), (grey,) = only(chart, Label), only(chart, Ribbon)
    assert label.text == "no run beyond chance"
    assert grey.low[0] < label.y < grey.high[0]


def test_sides_of_a_forest_stand_above_it_and_away_from_the_words_of_its_line():
    chart = plot.differences(cc.compare([binary((0.8, 60, 40), name="base"), binary((0.7, 60, 40), name="b")]), "gap", width=336)
    (left, right), (line,) = only(chart, Over), only(chart, Rule)
    assert (left.text, left.side, right.side) == ("← more overconfident", "left", "right")
    assert min(left.level, right.level) > line.level
    assert margins(chart)["t"] == 28 + 16 * max(left.level, right.level)
    notes = {n.text: n for n in figure(chart).layout.annotations}
    assert notes[left.text].yref == "y domain"
    assert notes[left.text].y == 1


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("exactly eighteen !", "exactly eighteen !"),
        ("East Anglia and the Midlands", f"East Anglia and{NEXT_LINE}the Midlands"),
        ("x" * 40, f"{'x' * 18}{NEXT_LINE}{'x' * 17}…"),
        ("a\nb\u2028c", "a b c"),
    ],
)
def test_names_of_rows_have_two_lines(name, drawn):
    chart = plot.groups(cc.by_group(top_label((0.8, 60, 40), groups={"site": [name] * 60}), "site"))
    assert chart.y.names == (drawn,)
    assert figure(chart).layout.yaxis.ticktext == (drawn.replace(NEXT_LINE, "<br>"),)
    (tick,) = plot.draw(chart).get_yticklabels()
    assert tick.get_text() == drawn.replace(NEXT_LINE, "\n")


@pytest.mark.parametrize(
    ("high", "log", "last"),
    [(5000, False, "5,000"), (60_000, False, "60k"), (2_500_000, False, "2.5M"), (3e6, True, "1M"), (2e4, True, "10k")],
)
def test_numbers_of_rows_need_no_more_room_than_percents(high, log, last):
    assert axis_ticks(Axis("Rows", 0.5 if log else 0, high, "count", log), 210)[1][-1] == last
