"""Bins and rows: what is seen without bins stands beside the bins."""

import json

import pytest
from test_app import CSV, alts, charts, csv_file, read, start, words

import calibcore as cc
from calibcore.report.curve_words import corp_sentence, cumulative_sentence

PAGE = "views/bins.py"
FILE = ("m.csv", csv_file(shift=0.1), CSV)


def analysis(**settings):
    return cc.analyze(read(FILE[1], FILE[0]), cc.Settings(**settings))


def curves(app):
    return [t for c in charts(app) for t in json.loads(c.proto.spec)["data"] if t.get("name") == "CORP curve"]


@pytest.mark.parametrize("view", ["top_label", "positive"])
def test_cumulative_differences_in_words_and_picture(view):
    app = start(PAGE, [FILE], {"view": "Positive class"} if view == "positive" else {})
    assert not app.exception
    assert not app.error
    assert cumulative_sentence(analysis(view=view)) in words(app)
    assert "Cumulative differences of m" in alts(app)


# 60 rows at 76 to 79%, in one bin, of which 48 happened; and 20 at 10%
EVENTS = "\n".join(["y_true,y_prob", *(f"{int(i < 48)},{0.76 + 0.01 * (i % 4):.2f}" for i in range(60)), *["0,0.1"] * 20]).encode()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "48 right, 12 wrong; the most confident errors come first."),
        ({"view": "Positive class"}, "48 were “1”, 12 were not; rows whose outcome lies farthest from their probability come first."),
        ({"view": "One class"}, "48 were “1”, 12 were not;"),
    ],
)
def test_rows_of_a_bin_speak_of_what_the_view_judges(query, said):
    app = start(PAGE, [("m.csv", EVENTS, CSV)], query)
    if query.get("view") == "One class":
        app.selectbox(key="class").set_value("1").run()
    app.selectbox(key="inspect").set_value((11 / 15, 12 / 15)).run()
    assert not app.exception
    assert said in words(app)
    if query:
        assert "right," not in words(app)


def test_the_curve_is_a_choice():
    app = start(PAGE, [FILE])
    assert curves(app) == []
    app.toggle(key="curve").set_value(True).run()
    assert len(curves(app)) == 1
    assert corp_sentence(analysis()) in words(app)


def test_the_curve_in_the_address():
    assert len(curves(start(PAGE, [FILE], {"curve": "true"}))) == 1
