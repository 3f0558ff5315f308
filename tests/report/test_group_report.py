"""Groups in the report: one sentence a column, for the model it is about; names are text; page, PDF and command say the same."""

import datetime as dt
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import calibcore as cc
from calibcore.errors import InputError
from calibcore.inference.groups import Group, Groups
from calibcore.inference.intervals import Estimate
from calibcore.report import making, pdf
from calibcore.report.group_words import group_sentence
from calibcore.report.page import report_html, to_html
from calibcore.report.reporting import reported, with_groups, with_period

pytest.importorskip("matplotlib")

DAY = dt.date(2026, 3, 9)
EVIL = "<img src=x onerror=alert(1)>#let x*_$[]\"&'"


def group(name, gap=0.0, half=0.05, *, judged=True, p=0.5):
    ends = (gap - half, gap + half) if judged else ()
    return Group(name, 100, 100.0, judged, 0.5 + gap, 0.5, Estimate(gap, *ends), 0.1, p_value=p, p_holm=p if judged else None)


def groups(*found, **more):
    return Groups("region", "top_label", 0.95, 50, found, **more)


def rows(column="region", names=("north", "south"), **more):
    """Everybody says 80%: of the first group 30 of 60 are right, of the second 48 of 60."""
    values = [n for n in names for _ in range(60)]
    right = [1] * 30 + [0] * 30 + [1] * 48 + [0] * 12
    return cc.Predictions.from_top_label([0.8] * 120, right, groups={column: values}, name="m", **more)


ASKED = cc.Settings(on_request=("groups",))


def lines(a):
    return [line for line in reported([a]).caveats.lines if line.startswith("By ")]


def test_the_groups_whose_gap_is_off_0_are_named_with_their_intervals():
    said = group_sentence(groups(group("south"), group("north", -0.062, 0.031, p=0.01), group("x", judged=False)))
    assert said == (
        "By region: 2 groups of at least 50 rows (1 smaller not judged); 1 group shows a gap "
        "(north: −6.2 points, simultaneous 95% interval −9.3 to −3.1)."
    )


def test_the_farthest_two_are_told_and_the_others_counted():
    said = group_sentence(groups(*(group(n, g, 0.02) for n, g in (("a", 0.1), ("b", -0.3), ("c", 0.2), ("d", 0.05)))))
    assert "4 groups show a gap (b: −30.0 points, simultaneous" in said
    assert "; c: +20.0 points, simultaneous 95% interval +18.0 to +22.0; 2 more, by less)." in said


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            groups(group("a"), group("b")),
            "By region: 2 groups of at least 50 rows; no group's gap could be told apart from 0, which does not show that there is none.",
        ),
        (groups(group("a", judged=False)), "By region: the only group lacks the 50 rows needed to judge it."),
        (groups(*(group(n, judged=False) for n in "abc")), "By region: none of 3 groups has the 50 rows needed to judge it."),
        (
            groups(group("a", 0.2, 0.1)),
            "By region: 1 group of at least 50 rows; 1 group shows a gap (a: +20.0 points, 95% interval +10.0 to +30.0).",
        ),
        (
            groups(group("18–31"), group("32–91", 0.0002, 0.05, p=0.001), cut=True),
            (
                "By region, cut at its quartiles: 2 groups of at least 50 rows; no group's gap could be told apart from 0, which does not "
                "show that there is none; in 32–91 the test finds ranges that do not fit, though the mean gap may be 0."
            ),
        ),
        (
            groups(group("a", -0.0504, 0.05), group("b")),
            "By region: 2 groups of at least 50 rows; 1 group shows a gap (a: −5.0 points, simultaneous 95% interval −10.0 to 0.0).",
        ),
    ],
)
def test_what_is_said_where_there_is_little_to_say(found, said):
    assert group_sentence(found) == said


def test_the_report_tells_groups_only_where_they_are_asked_for():
    a = cc.analyze(rows(), ASKED)
    (said,) = lines(a)
    assert said.startswith("By region: 2 groups of at least 50 rows; 1 group shows a gap (north: −30.0 points, simultaneous 95% interval")
    without = cc.analyze(rows())
    assert lines(without) == []
    caveats = reported([a], date=DAY).caveats
    assert replace(reported([a], date=DAY), caveats=replace(caveats, lines=tuple(x for x in caveats.lines if x != said))) == reported(
        [without], date=DAY
    )


def test_only_the_model_that_the_report_is_about_is_told_by_group():
    other = cc.analyze(rows().but(name="n"), ASKED)
    assert lines(cc.analyze(rows())) == []
    assert [x for x in reported([cc.analyze(rows()), other]).caveats.lines if x.startswith("By ")] == []


def test_of_many_columns_two_are_told():
    made = rows().but(groups={c: rows().groups["region"] for c in "abcd"})
    caveats = reported([cc.analyze(made, ASKED)]).caveats.lines
    assert [x[:4] for x in caveats if x.startswith("By ")] == ["By a", "By b"]
    assert "2 more columns of groups stand in the output of calibcore measure." in caveats


def test_names_of_groups_are_text():
    a = cc.analyze(rows(EVIL, (f"1 {EVIL}", f"2 {EVIL}")), ASKED)
    page = report_html([a], date=DAY)
    assert "<img" not in page
    words = unescape(re.sub(r"<[^>]+>", " ", page))
    # 36 characters of a name are shown: its two ends
    assert f"By {EVIL[:18]}…{EVIL[-17:]}: 2 groups" in words
    assert lines(a)[0] in words
    assert lines(a)[0] in pdf._data(reported([a], date=DAY))["caveats"]["lines"]
    if pdf.can_write():
        assert pdf.report_pdf([a], date=DAY).startswith(b"%PDF-")


def test_a_long_name_is_shortened_in_the_middle():
    (said,) = lines(cc.analyze(rows("W" * 300, ("n" * 299 + "1", "n" * 299 + "2")), ASKED))
    assert len(said) < 300
    assert re.search(r"n…n+1: −30\.0 points", said)


def test_what_the_page_knows_already_is_what_the_command_computes():
    made = rows(time=np.repeat([2023, 2024], 60))
    settings = with_period(made, cc.Settings(n_bins=10))
    page = with_groups(cc.analyze(made, settings), cc.by_group(made, "region", partition=cc.Partition.equal_width(10)))
    command = cc.analyze(made, replace(settings, on_request=("periods", "groups")))
    assert page.to_dict() == command.to_dict()
    written = making.make_report([made], cc.Settings(n_bins=10), ".html", groups=True, date=DAY).decode()
    assert written == to_html(reported([page], date=DAY))
    assert making.make_report([made], cc.Settings(n_bins=10), ".html", date=DAY).decode() != written


def test_too_many_groups_are_refused_in_a_sentence():
    made = rows().but(groups={"visit": np.array([f"v{i % 60}" for i in range(120)])})
    with pytest.raises(InputError, match="Column 'visit' has 60 different values; at most 50 groups are looked at"):
        making.make_report([made], cc.Settings(), ".html", groups=True)
