"""Marks → SVG, PNG, PDF and a user's axes, without a browser: the same picture as there, and nothing but the picture."""

import io
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest

import calibcore as cc
from calibcore import plot
from calibcore.errors import InputError
from calibcore.plot.geometry import axis_ticks, outlines
from calibcore.plot.marks import (
    Axis,
    Band,
    Bars,
    Chart,
    Highlight,
    Intervals,
    Label,
    Line,
    Over,
    Points,
    Ribbon,
    Rule,
    Table,
    Ticks,
    Whiskers,
)

SVG = "{http://www.w3.org/2000/svg}"
NAME = "<script>a</script> & $x_1$ \x00\n\u202eb"
SHOWN = "<script>a</script> & $x_1$    b"


def chart(*marks, x=None, y=None, legend=False, width=400, height=300, title="t"):
    axes = x or Axis("across", 0.0, 1.0), y or Axis("up", 0.0, 1.0)
    return Chart("test", *axes, marks, "What is found.", "", Table((), ()), width, height, title, legend)


def every_mark(name=NAME):
    one = (0.5,)
    return (
        Highlight(0.2, 0.4),
        Band((0.0, 0.5), (0.5, 1.0), (0.1, 0.2), (0.3, 0.6), name=name),
        Ribbon((0.0, 1.0), (0.1, 0.2), (0.3, 0.5), name="ribbon"),
        Line((0.0, 1.0), (0.0, 1.0), "diagonal", "dash", name="line"),
        Bars(one, one, (-0.2,), (0.1,), ("over",), ("/",), ((name,),), (0,), name="bar"),
        Whiskers(one, (0.2,), (0.8,), name="whiskers"),
        Intervals(one, (0.2,), (0.8,), name="intervals"),
        Rule("ink", x=0.3, text=name, level=1),
        Rule("ink", y=0.3),
        Ticks((0.1,)),
        Points((0.5, 0.6), (0.3, 0.4), ("over", "under"), (False, True), ((name,),) * 2, (0, 1), outlined=0),
        Label(0.9, 0.9, name, anchor="right top", pointer=(0.5, 0.5)),
        Label(0.1, 0.9, "plain", anchor="center middle"),
        Label(1.1, 0.4, name),
        Over("over it", "right", 2),
    )


@pytest.fixture(scope="module")
def analyses():
    rng = np.random.default_rng(3)
    p = rng.uniform(size=2000)
    labels = (rng.uniform(size=2000) < p**1.5).astype(int)
    return [cc.analyze(cc.Predictions.from_arrays(labels, q, name=n)) for q, n in ((p, "a"), (np.sqrt(p), "b"))]


def pictures_of(analyses):
    found = [make(analyses[0]) for make in plot.CHARTS.values()]
    return [*found, plot.reliability(analyses[1], uncertainty="both", selected=7), plot.overlay(analyses)]


@pytest.fixture(scope="module")
def pictures(analyses):
    """Charts, and each as it was drawn once."""
    return [(drawn, plot.svg(drawn)) for drawn in pictures_of(analyses)]


def texts(svg):
    return ["".join(e.itertext()) for e in ET.fromstring(svg).iter(f"{SVG}text")]


def px(number):
    return pytest.approx(number, abs=0.02)


def test_svg_says_what_it_is_before_it_shows_it(pictures):
    for drawn, svg in pictures:
        root = ET.fromstring(svg)
        assert [e.tag for e in root][:2] == [f"{SVG}title", f"{SVG}desc"]
        assert root[1].text == drawn.alt
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-labelledby"].split() == [e.attrib["id"] for e in root[:2]]
        assert (float(root.attrib["width"]), float(root.attrib["height"])) == (drawn.width, drawn.height)


def test_svg_is_small_and_takes_nothing_from_outside(pictures):
    for _, svg in pictures:
        assert len(svg.encode()) < 60_000
        assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"]
        # A style element or a document type would hold for the whole page in which the picture stands.
        assert not re.search(r"<(script|style|image|metadata|!|\?)|\bon\w+=|url\((?!#)", svg)


def test_the_same_chart_gives_the_same_bytes(analyses, pictures):
    for again, (_, svg) in zip(pictures_of(analyses), pictures, strict=True):
        assert plot.svg(again) == svg
    for write in (plot.png, plot.pdf):
        assert write(chart(*every_mark(), legend=True)) == write(chart(*every_mark(), legend=True))


def test_ids_of_several_pictures_do_not_clash(pictures):
    seen = set()
    for svg in (*(svg for _, svg in pictures), plot.svg(replace(pictures[0][0], title="another"))):
        ids = re.findall(r' id="([^"]*)"', svg)
        assert len(ids) == len(set(ids))
        assert not seen & set(ids)
        seen |= set(ids)
        assert {r for pair in re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', svg) for r in pair if r} <= set(ids)


def test_text_stays_text_in_the_readers_own_font():
    svg = plot.svg(chart(*every_mark()))
    assert {"across", "up", "50%", "plain"} <= set(texts(svg))
    fonts = [e.get("style") for e in ET.fromstring(svg).iter(f"{SVG}text")]
    assert all("sans-serif" in f and "'" not in f for f in fonts)


@pytest.mark.parametrize("legend", [False, True])
def test_names_are_neither_markup_nor_formulas(legend):
    axis = Axis(NAME, 0, 1)
    drawn = chart(*every_mark(), x=axis, y=Axis(NAME, -0.5, 1.5, names=(NAME, "b")), legend=legend, title=NAME)
    svg = plot.svg(drawn)
    # Rule, two labels, two titles of axes, one name, and an entry of the legend.
    assert texts(svg).count(SHOWN) == 6 + legend
    assert ET.fromstring(svg)[0].text == SHOWN
    for write in (plot.png, plot.pdf):
        assert write(drawn)


def test_letters_that_no_font_has_are_no_fault():
    svg = plot.svg(chart(Label(0.5, 0.5, "模型 \U0001f600")))
    assert "模型 \U0001f600" in texts(svg)
    assert plot.png(chart(Label(0.5, 0.5, "模型")))


def test_long_texts_are_cut():
    assert "a" * 35 + "…" in texts(plot.svg(chart(Label(0.5, 0.5, "a" * 50))))


def test_a_line_runs_where_its_numbers_say():
    drawn = chart(Line((0.0, 1.0), (0.0, 0.5), "over", width=3), width=400, height=300)
    ax = plot.draw(drawn)
    # Margins of a chart of 400 pixels: 72 left, 56 below, 24 above; on the right 20, and half of "100%" needs no more.
    (left, bottom), (right, top) = ax.transData.transform([(0, 0), (1, 1)])
    assert (left, bottom, top) == (px(72), px(56), px(300 - 24))
    line = next(e for e in ET.fromstring(plot.svg(drawn)).iter(f"{SVG}path") if "#d55e00" in e.get("style", ""))
    found = [float(n) for n in re.findall(r"[\d.]+", line.get("d"))]
    # The vertical axis of SVG runs downwards: y = 0.5 is in the middle, at 300 - (56 + 276) / 2.
    assert found == [px(72), px(300 - 56), px(right), px(134)]
    assert "stroke-width: 3" in line.get("style")


def test_bars_are_hatched_and_stand_on_their_base():
    ax = plot.draw(chart(*every_mark()))
    (bar,) = (p for p in ax.patches if p.get_hatch())
    assert bar.get_hatch().strip("/") == ""
    assert bar.get_bbox().extents == pytest.approx((0.45, 0.3, 0.55, 0.5))
    assert mpl.colors.to_hex(bar.get_facecolor()) == "#d55e00"


def test_hollow_and_outlined_points():
    ax = plot.draw(chart(*every_mark()))
    (points,) = (c for c in ax.collections if c.get_offsets().size == 4)
    assert [mpl.colors.to_hex(c) for c in points.get_facecolors()] == ["#d55e00", "#ffffff"]
    assert [mpl.colors.to_hex(c) for c in points.get_edgecolors()] == ["#1f2937", "#0072b2"]
    assert list(points.get_linewidths()) == [3, 2]
    assert not points.get_clip_on()


def test_unseen_points_are_not_drawn():
    unseen = Points((0.5,), (0.5,), ("nothing",), (False,), ((),), (0,), visible=False)
    assert not plot.draw(chart(unseen)).collections


def test_the_legend_lists_lines_areas_and_intervals_once():
    marks = every_mark("band")
    ax = plot.draw(chart(*marks, *marks, legend=True))
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["band", "ribbon", "line", "whiskers", "intervals"]
    assert plot.draw(chart(*marks)).get_legend() is None


def test_log_axis_bars_start_at_its_end():
    bars = Bars((0.5,), (0.0,), (100.0,), (0.1,), ("within",), ("",), ((),), (0,))
    ax = plot.draw(chart(bars, y=Axis("Rows", 0.5, 200.0, "count", log=True)))
    assert ax.patches[0].get_bbox().extents == pytest.approx((0.45, 0.5, 0.55, 100))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["1", "10", "100"]


def test_settings_of_the_user_stay(analyses):
    with mpl.rc_context():
        before = dict(mpl.rcParams)
        for write in (plot.draw, plot.svg, plot.png, plot.pdf):
            write(plot.gaps(analyses[0]))
            assert dict(mpl.rcParams) == before


def test_pictures_do_not_depend_on_the_users_settings(analyses):
    drawn = plot.reliability(analyses[0])
    plain = plot.svg(drawn)
    with mpl.rc_context({"font.size": 30, "axes.grid": False, "lines.linewidth": 9, "text.usetex": True, "savefig.bbox": "tight"}):
        assert plot.svg(drawn) == plain


def test_drawing_into_an_axes_follows_its_font_and_keeps_its_figure(analyses):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3, 3))
    ax = figure.add_subplot()
    with mpl.rc_context({"font.size": 6}):
        assert plot.draw(plot.reliability(analyses[0]), ax=ax) is ax
    assert ax.xaxis.label.get_fontsize() == pytest.approx(13 / 2)  # 13 where texts are 12
    assert tuple(figure.get_size_inches()) == (3, 3)
    assert ax.get_xlim() == (0.5, 1.0)


def test_no_window_system_is_touched():
    code = (
        "import sys, calibcore.plot as plot; assert 'matplotlib' not in sys.modules; from calibcore.plot.marks import *; "
        "plot.svg(Chart('t', Axis('', 0, 1), Axis('', 0, 1), (), '', '', Table((), ()), 300, 300)); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_matplotlib_it_says_what_to_install():
    code = "import sys; sys.modules['matplotlib'] = None\nfrom calibcore import plot\ntry: plot.svg\nexcept ValueError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert "calibcore[plot]" in done.stdout


def test_several_threads_draw_the_same_pictures(pictures):
    drawn, alone = zip(*pictures[:4], strict=True)
    before = dict(mpl.rcParams)
    with ThreadPoolExecutor(4) as pool:
        assert tuple(pool.map(plot.svg, drawn * 2)) == alone * 2
    assert dict(mpl.rcParams) == before


def test_png_is_twice_as_fine_and_named():
    from PIL import Image

    with Image.open(io.BytesIO(plot.png(chart(title="größe 模")))) as picture:
        assert picture.size == (800, 600)
        assert picture.text["Title"] == "größe 模"
        assert picture.text["Description"] == "What is found."


def test_pdf_is_one_page_with_a_title_and_no_date():
    pdf = plot.pdf(chart(title="my title"))
    assert pdf.startswith(b"%PDF")
    assert b"/Title (my title)" in pdf
    assert b"/Count 1" in pdf
    assert b"CreationDate" not in pdf
    assert b"/MediaBox [ 0 0 400 300 ]" in pdf


@pytest.mark.parametrize(("ending", "first"), [("svg", b"<svg"), ("PNG", b"\x89PNG"), ("pdf", b"%PDF")])
def test_saving(tmp_path, ending, first):
    path = tmp_path / f"a.{ending}"
    plot.save(chart(), path)
    assert path.read_bytes().startswith(first)


def test_saving_under_another_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.svg, \.png or \.pdf, not as 'a\.jpg'"):
        plot.save(chart(), tmp_path / "a.jpg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("axis", "pixels", "expected"),
    [
        (Axis("", 0.5, 1), 560, ["50%", "60%", "70%", "80%", "90%", "100%"]),
        (Axis("", 0, 1), 300, ["0%", "20%", "40%", "60%", "80%", "100%"]),
        (Axis("", 0, 0.012), 560, ["0.0%", "0.2%", "0.4%", "0.6%", "0.8%", "1.0%", "1.2%"]),  # steps finer than a percent say so
        (Axis("", 0, 3, "count"), 560, ["0", "1", "2", "3"]),  # no halves of a row
        (Axis("", 0, 2500, "count"), 210, ["0", "500", "1,000", "1,500", "2,000", "2,500"]),
        (Axis("", 0.5, 8, "count", log=True), 210, ["0.5", "1", "2", "5"]),
        (Axis("", -0.1, 0.1, "points"), 220, ["−10", "−5", "0", "+5", "+10"]),
        (Axis("", -0.5, 1.5, names=("a", "b")), 220, ["a", "b"]),
    ],
)
def test_ticks(axis, pixels, expected):
    values, written = axis_ticks(axis, pixels)
    assert list(written) == expected
    assert len(values) == len(expected)
    assert list(values) == sorted(values)


def test_outlines_of_a_band_follow_the_steps():
    band = Band((0.0, 0.5, 0.9), (0.5, 0.6, 1.0), (0.1, 0.2, 0.8), (0.4, 0.7, 0.95))
    # Two touching steps there and back, cut off at 0.15, and one that stands alone.
    together = ((0, 0.4), (0.5, 0.4), (0.5, 0.7), (0.6, 0.7), (0.6, 0.2), (0.5, 0.2), (0.5, 0.15), (0, 0.15), (0, 0.4))
    alone = ((0.9, 0.95), (1.0, 0.95), (1.0, 0.8), (0.9, 0.8), (0.9, 0.95))
    assert outlines(band, 0.15) == [together, alone]
