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


def test_the_curve_is_a_choice():
    app = start(PAGE, [FILE])
    assert curves(app) == []
    app.toggle(key="curve").set_value(True).run()
    assert len(curves(app)) == 1
    assert corp_sentence(analysis()) in words(app)


def test_the_curve_in_the_address():
    assert len(curves(start(PAGE, [FILE], {"curve": "true"}))) == 1
