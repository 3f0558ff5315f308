"""Every chart of the least, the most and the oddest input: finite marks on the picture, in both renderers."""

import json
import math
import warnings
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import calibcore as cc
from calibcore import plot
from calibcore.plot.frame import MARGINS
from calibcore.plot.interactive import figure
from calibcore.plot.marks import Band, Bars, Intervals, Label, Line, Over, Points, Ribbon, Rule, Ticks, Whiskers

NAME = "<b onload=x>&amp;</b> $x^{2}$ ![a](b) " + "very " * 60 + "long \u202e\x00 end"


def binary(label, p, **more):
    return cc.Predictions.from_arrays(np.asarray(label), np.asarray(p), name=NAME, **more)


def classes(k, n=40):
    rng = np.random.default_rng(0)
    names = [f"{NAME[:12]} {i}" for i in range(k)]
    return cc.Predictions.from_arrays([names[i % k] for i in range(n)], rng.dirichlet(np.ones(k), size=n), classes=names, name=NAME)


SPREAD = np.random.default_rng(1).uniform(size=200)
MODELS = {
    "one row": binary([1], [0.3]),
    "one row, sure and wrong": binary([0], [1.0]),
    "one class": binary([1] * 50, SPREAD[:50]),
    "one score": binary([0, 1] * 30, [0.5] * 60),
    "certain": binary([0, 1, 1, 0], [0.0, 1.0, 0.0, 1.0]),
    "tiny": binary([0] * 60, 1e-9 * (1 + np.arange(60))),
    "weights": binary([0, 1] * 100, SPREAD, sample_weight=np.geomspace(1e-6, 1e6, 200)),
    "clusters": binary([0, 1] * 100, SPREAD, cluster=np.arange(200) // 50),
    "confidences": cc.Predictions.from_top_label([0.2, 1.0, 1.0], [0, 1, 0], name=NAME),
    "150 classes": classes(150),  # 20 are drawn, as of 1,000
    "rows below an even guess": cc.Predictions.from_arrays([0, 1, 2], [[0.33, 0.33, 0.33]] * 3, name=NAME),
}
SETTINGS = {
    "usual": cc.Settings(threshold=0.5),
    "one bin": cc.Settings(n_bins=1, level=0.8),
    "many bins": cc.Settings(n_bins=100, threshold=1.0, level=0.99),
    "mass": cc.Settings(strategy="equal_mass", threshold=0.0, closed="left"),
    "shared": cc.Settings(strategy="equal_mass", ties="share"),
    "edges": cc.Settings(edges=(0, 0.999, 1)),
}
PLACES = {  # what a mark holds along x and along y, so that the axes can be tried
    Line: ("x", "y"),
    Points: ("x", "y"),
    Band: ("lower upper", "low high"),
    Bars: ("x", "base height"),
    Ribbon: ("x", "low high"),
    Whiskers: ("x", "low high"),
    Intervals: ("low high", "y"),
    Rule: ("x", "y"),
    Ticks: ("x", ""),
    Over: ("", ""),
    Label: ("x", "y"),
}


def values(mark, names):
    found = (getattr(mark, name) for name in names.split())
    return [float(v) for part in found if part is not None for v in (part if isinstance(part, tuple) else (part,))]


def tried(chart, *, static=True):
    """Finite marks; those that nothing cuts off on purpose lie on the picture; both renderers draw it."""
    for mark in chart.marks:
        across, up = PLACES.get(type(mark), ("lower upper", ""))
        xs, ys = values(mark, across), values(mark, up)
        assert all(map(math.isfinite, xs + ys)), (chart.kind, mark)
        if isinstance(mark, Label):
            assert chart.y.low <= mark.y <= chart.y.high, (chart.kind, mark)
        if isinstance(mark, Points | Bars | Rule | Intervals):
            assert all(chart.x.low - 1e-9 <= x <= chart.x.high + 1e-9 for x in xs), (chart.kind, mark)
        if isinstance(mark, Points):
            assert all(chart.y.low - 1e-9 <= y <= chart.y.high + 1e-9 for y in ys), (chart.kind, mark)
        if isinstance(mark, Bars):
            tops = [b + h for b, h in zip(mark.base, mark.height, strict=True)]
            assert all(chart.y.low - 1e-9 <= y <= chart.y.high + 1e-9 for y in tops), (chart.kind, mark)
    assert chart.x.low < chart.x.high
    assert chart.y.low < chart.y.high
    assert chart.alt.endswith(".")
    assert "nan" not in f"{chart.alt} {chart.caption} {chart.table.rows}".lower().replace("nance", "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = figure(chart).to_json()
        drawn = plot.svg(chart) if static else "<svg/>"
    assert "<b onload" not in text
    assert "NaN" not in text
    json.loads(text)
    assert ET.fromstring(drawn).tag.endswith("svg")
    assert "<b onload" not in drawn


# Each model with the usual settings and with another in turn, so that each of those meets two or three of the models.
OTHERS = ("shared", "one bin", "many bins", "mass", "edges")
PAIRS = [(m, s) for i, m in enumerate(MODELS) for s in ("usual", OTHERS[(i + 4) % 5])]
# Whose charts are drawn in files too: the others change numbers, not kinds of marks.
DRAWN = ("one row", "one class", "weights", "150 classes")


@pytest.mark.parametrize(("model", "settings"), PAIRS)
def test_charts_of_one_analysis(model, settings):
    analysis = cc.analyze(MODELS[model], SETTINGS[settings])
    static = (settings == "usual" and model in DRAWN) or (model, settings) == ("weights", "shared")
    for chart in plot.CHARTS.values():
        tried(chart(analysis), static=static)
    tried(plot.reliability(analysis, uncertainty="both", curve=True, selected=0), static=static)
    tried(plot.counts(analysis, scale="log_count"), static=static)
    tried(plot.overlay([analysis]), static=static)


@pytest.mark.parametrize("view", ["positive", "class:0"])
def test_charts_of_the_other_views(view):
    for model in ("one row", "one class", "certain", "tiny", "weights"):
        if "class" in view and "0" not in MODELS[model].classes:
            continue
        analysis = cc.analyze(MODELS[model], cc.Settings(view=view, threshold=0.5))
        for chart in plot.CHARTS.values():
            tried(chart(analysis), static=model == "weights")


def test_charts_of_several_models():
    models = [m.but(name=f"{NAME} {k}") for k, m in enumerate([binary([0] * 60, [0.9] * 60)] * 4)]
    for m in (models, models[:1]):
        analyses = [cc.analyze(x) for x in m]
        tried(plot.overlay(analyses))
        for chart in plot.small_multiples(analyses):
            tried(chart)
        for score in ("log_loss", "brier", "gap"):
            tried(plot.differences(cc.compare(m), score))
    apart = cc.compare([models[0], MODELS["one row"].but(name="x")])
    tried(plot.differences(apart))


def test_names_beside_an_overlay_stay_on_the_picture_though_all_lines_end_at_its_foot():
    analyses = [cc.analyze(binary([0] * 60, [0.9] * 60).but(name=n)) for n in "abcd"]
    chart = plot.overlay(analyses)
    heights = [m.y for m in chart.marks if isinstance(m, Label)]
    assert min(heights) >= chart.y.low
    assert min(np.diff(sorted(heights))) >= 0.05 * (chart.y.high - chart.y.low) - 1e-9


@pytest.mark.parametrize("n", [1, 2, 50])
def test_fifty_groups_and_one(n):
    names = [f"{NAME} {i % n}" for i in range(200)]
    for minimum in (2, 30, 1000):
        for label in ([0, 1] * 100, [1] * 200):
            found = cc.by_group(binary(label, SPREAD, groups={NAME: names}), NAME, minimum=minimum)
            tried(plot.groups(found), static=minimum == 30)
            tried(plot.groups(found, overall=0.0), static=False)


@pytest.mark.parametrize("time", [[1] * 200, list(range(200)), [NAME] * 200, [1e-300, 1e300] * 100])
def test_odd_periods(time):
    for minimum in (2, 100):
        for label in ([0, 1] * 100, [1] * 200):
            tried(plot.periods(cc.by_period(binary(label, SPREAD, time=time), minimum=minimum)))


@pytest.mark.parametrize("model", ["one class", "one score", "certain", "tiny", "clusters"])
def test_changes(model):
    try:
        found = cc.remedies(MODELS[model])
    except cc.InputError:
        return
    for score in ("log_loss", "brier", "gap"):
        tried(plot.changes(found, score))


def words_at_the_point(chart):
    return [m for m in chart.marks if isinstance(m, Label) and m.pointer]


@pytest.mark.parametrize("view", ["top_label", "positive"])
@pytest.mark.parametrize("side", [400, 440, 560, 700])
def test_words_at_the_worst_point_have_room_from_400_pixels(side, view):
    # too sure by 25 points, at each place on the axis
    for p in (0.55, 0.7, 0.9, 0.999):
        analysis = cc.analyze(binary([1] * 40 + [0] * 60 * 2, [p] * 160), cc.Settings(view=view))
        chart = plot.reliability(analysis, side=side)
        assert chart.legend
        (label,) = words_at_the_point(chart)
        whole = side - MARGINS["l"] - MARGINS["r"]
        across = (label.x - chart.x.low) / (chart.x.high - chart.x.low) * whole
        room = across if label.anchor.startswith("right") else whole - across
        assert room >= 7.4 * len(label.text)  # a letter of 13 pixels is 7.4 wide in DejaVu Sans, the widest of the fonts
        assert 0 <= across <= whole


def test_below_400_pixels_there_are_neither_words_nor_a_legend():
    chart = plot.reliability(cc.analyze(MODELS["one class"]), side=399)
    assert not chart.legend
    assert not words_at_the_point(chart)


def test_bins_that_share_ties_are_not_said_to_have_a_range():
    analysis = cc.analyze(MODELS["weights"], SETTINGS["shared"])
    for chart in (plot.reliability(analysis, uncertainty="both"), plot.gaps(analysis)):
        assert "Bins that share tied rows have no interval and no range by chance." in chart.caption
        assert "consistency band" not in chart.caption
        assert "Wilson" not in chart.caption
    assert "below the range" not in plot.reliability(analysis).alt


def test_more_bins_than_the_picture_of_the_sweep_has_are_told_in_words():
    analysis = cc.analyze(MODELS["one class"], cc.Settings(n_bins=80))
    chart = plot.sweep(analysis)
    assert not [m for m in chart.marks if isinstance(m, Points)]
    assert f"The 80 bins shown, with an ECE of {analysis.ece:.4f}, lie beyond the picture." in chart.caption


def test_only_classes_beyond_chance_are_named_as_such():
    chart = plot.classes(cc.analyze(classes(3, 3)))
    analysis = cc.analyze(classes(3, 3))
    beyond = [c for c in analysis.classes if analysis.classwise.per_class[c] > analysis.floors[c]]
    assert all((c in chart.alt.partition("most beyond it")[2]) == (c in beyond) for c in analysis.classes)
