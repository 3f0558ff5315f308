"""Words about the worst bin: in the drawn picture they cover no point, bar, edge of the band, curve or axis."""

from itertools import pairwise

import numpy as np
import pytest

import calibcore as cc
from calibcore import plot
from calibcore.plot.marks import Band, Bars, Label, Line, Points, Whiskers
from calibcore.report.parts import charts
from dashboard.assets import sample_paths


def spread(slope, shift=0.0, n=4000, seed=5):
    """Outcomes follow a logit that is ``slope`` times as steep as the claims."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(-1, 2, n)
    return cc.Predictions.from_arrays((rng.random(n) < 1 / (1 + np.exp(-slope * logit - shift))).astype(int), 1 / (1 + np.exp(-logit)))


MODELS = {
    "over": spread(0.5),
    "under": spread(2.0),
    "high": spread(1.0, -0.7),
    "low": spread(1.0, 0.7),
    "first bin": cc.Predictions.from_arrays([1] * 30 + [0] * 270 + [1] * 100 + [0] * 100, [0.02] * 300 + [0.5] * 200),
    "last bin": cc.Predictions.from_arrays([1] * 270 + [0] * 30 + [1] * 100 + [0] * 100, [0.99] * 300 + [0.5] * 200),
    **{p.stem: cc.read(p)[0] for p in sample_paths() if p.stem in ("swift-v2", "mixed-v3", "certain-v5")},
}


def strokes(mark):
    """The straight lines of a mark, as pairs of ends."""
    if isinstance(mark, Line):
        return list(pairwise(zip(mark.x, mark.y, strict=True)))
    if isinstance(mark, Whiskers):
        return [((x, low), (x, high)) for x, low, high in zip(mark.x, mark.low, mark.high, strict=True)]
    if isinstance(mark, Bars):
        return [((x, base), (x, base + height)) for x, base, height in zip(mark.x, mark.base, mark.height, strict=True)]
    if isinstance(mark, Band):
        steps = zip(mark.lower, mark.upper, mark.low, mark.high, strict=True)
        return [((a, y), (b, y)) for a, b, low, high in steps for y in (low, high)]
    return []


def places(chart):
    """Places of all marks in data coordinates, a hundred of each stroke."""
    points = [place for m in chart.marks if isinstance(m, Points) for place in zip(m.x, m.y, strict=True)]
    return np.array([*points, *(p for m in chart.marks for start, end in strokes(m) for p in np.linspace(start, end, 100))])


def box_of(chart):
    """The box of the words as it is drawn, and the axes."""
    ax = plot.draw(chart)
    ax.figure.draw_without_rendering()
    (words,) = [t for t in ax.texts if t.get_text().startswith("says")]
    return words.get_bbox_patch().get_window_extent(), ax


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("view", "kind"), [("top_label", "page"), ("positive", "page"), ("positive", "report")])
def test_the_words_cover_nothing(name, view, kind):
    a = cc.analyze(MODELS[name], cc.Settings(view=view))
    chart = plot.reliability(a) if kind == "page" else charts(a)[0]
    if not any(isinstance(m, Label) for m in chart.marks):
        pytest.skip("no bin leaves its range")
    box, ax = box_of(chart)
    inside = ax.get_window_extent()
    assert inside.x0 < box.x0 < box.x1 < inside.x1
    assert inside.y0 < box.y0 < box.y1 < inside.y1
    at = ax.transData.transform(places(chart))
    covered = ((at > [box.x0, box.y0]) & (at < [box.x1, box.y1])).all(axis=1)
    assert not covered.any()


def test_the_corner_nearest_to_the_point_is_joined_to_it():
    for view in ("top_label", "positive"):
        chart = plot.reliability(cc.analyze(MODELS["over"], cc.Settings(view=view)))
        (label,) = [m for m in chart.marks if isinstance(m, Label)]
        box, ax = box_of(chart)
        tip = ax.transData.transform(label.pointer)
        corners = [(x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)]
        nearest = min(corners, key=lambda c: np.hypot(*(np.array(c) - tip)))
        across, up = label.anchor.split()
        assert nearest == (box.x0 if across == "left" else box.x1, box.y0 if up == "bottom" else box.y1)


def test_where_no_place_is_free_the_words_stay_on_the_picture():
    # 50 bins with all their intervals, and the curve: hardly a place is free
    a = cc.analyze(spread(0.6, n=3000), cc.Settings(n_bins=50, view="positive"))
    box, ax = box_of(plot.reliability(a, uncertainty="both", curve=True, side=400))
    inside = ax.get_window_extent()
    assert inside.x0 < box.x0 < box.x1 < inside.x1
    assert inside.y0 < box.y0 < box.y1 < inside.y1
