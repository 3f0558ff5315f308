"""Marks → Plotly: what the browser gets."""

import numpy as np
import pytest

import calibcore as cc
from calibcore import plot
from calibcore.plot.interactive import clicked_bin, config, escaped, figure
from calibcore.plot.marks import Axis, Band, Chart, Table

NAME = "<a href='https://x.y'>a</a> & b"


@pytest.fixture
def analysis():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=500)
    return cc.analyze(cc.Predictions.from_arrays((rng.uniform(size=500) < p).astype(int), p, name=NAME))


@pytest.fixture(params=list(plot.CHARTS))
def drawn(request, analysis):
    return figure(plot.CHARTS[request.param](analysis))


def test_axes_are_fixed_and_nothing_can_be_dragged(drawn):
    layout = drawn.layout
    assert layout.dragmode is False
    assert layout.clickmode == "event+select"
    assert layout.hovermode == "closest"
    assert layout.xaxis.fixedrange
    assert layout.yaxis.fixedrange
    assert layout.xaxis.range is not None


@pytest.mark.parametrize("name", ["reliability", "gaps", "counts"])
def test_marks_carry_the_bin(analysis, name):
    drawn = figure(plot.CHARTS[name](analysis))
    assert {i for trace in drawn.data if trace.customdata is not None for i in trace.customdata} == set(np.flatnonzero(analysis.bins.count))


def test_ids_are_plain_numbers(drawn):
    assert {type(i) for trace in drawn.data if trace.customdata is not None for i in trace.customdata} <= {int}


def test_selection_does_not_dim_the_rest(analysis):
    for trace in figure(plot.reliability(analysis)).data:
        if trace.customdata is not None:
            assert trace.unselected.marker.opacity == 1


def test_only_the_camera_is_left_in_the_bar():
    options = config("m-reliability")
    assert options["modeBarButtons"] == [["toImage"]]
    assert options["toImageButtonOptions"] == {"format": "svg", "filename": "m-reliability"}


def test_names_are_no_markup(analysis):
    text = figure(plot.overlay([analysis])).to_json()
    assert "<a " not in text
    assert "&lt;a href=" in text


def test_escaping():
    assert escaped("<b>a & b</b>") == "&lt;b&gt;a &amp; b&lt;/b&gt;"


def test_themes_differ_in_colour_only(analysis):
    light, dark = (figure(plot.gaps(analysis), dark=d).to_plotly_json() for d in (False, True))
    assert [t["y"] for t in light["data"]] == [t["y"] for t in dark["data"]]
    assert light["layout"]["xaxis"]["tickfont"]["color"] != dark["layout"]["xaxis"]["tickfont"]["color"]


def test_hatching_reaches_the_figure():
    p = cc.Predictions.from_top_label([0.9] * 100 + [0.6] * 100, [1] * 50 + [0] * 50 + [1] * 95 + [0] * 5)
    (bars,) = (t for t in figure(plot.gaps(cc.analyze(p))).data if t.type == "bar")
    assert list(bars.marker.pattern.shape) == ["\\", "/"]


def test_points_of_a_band_follow_the_steps():
    band = Band((0.0, 0.5, 0.9), (0.5, 0.6, 1.0), (0.1, 0.2, 0.8), (0.4, 0.7, 0.95))
    axis = Axis("", 0, 1)
    (trace,) = figure(Chart("test", axis, axis, (band,), "", "", Table((), ()), 560, 560)).data
    # Two touching steps there and back, a gap, one step there and back.
    assert list(trace.x) == [0, 0.5, 0.5, 0.6, 0.6, 0.5, 0.5, 0, 0, None, 0.9, 1.0, 1.0, 0.9, 0.9, None]
    assert list(trace.y) == [0.4, 0.4, 0.7, 0.7, 0.2, 0.2, 0.1, 0.1, 0.4, None, 0.95, 0.95, 0.8, 0.8, 0.95, None]


@pytest.mark.parametrize("data", [7, [7], {"0": 7}])
def test_a_click_gives_the_bin(data):
    assert clicked_bin({"selection": {"points": [{"customdata": data}]}}) == 7


@pytest.mark.parametrize("points", [[], [{"x": 1}]])
def test_no_bin_clicked(points):
    assert clicked_bin({"selection": {"points": points}}) is None
