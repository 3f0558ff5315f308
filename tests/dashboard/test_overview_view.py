"""The Overview's panels: what would change the pattern, the way to the fix, and other tools' ECE."""

import re

import pytest
from test_app import CSV, csv_file, read, start, words

import calibcore as cc
from calibcore.measures.reconcile import reconcile_predictions
from calibcore.report.pattern_words import would_change
from calibcore.report.tools_words import tools_sentence, tools_table

PAGE = "views/overview.py"
WHY = "other tools"


def links(app):
    return [e.proto.label for e in app.get("page_link")]


def tables(app):
    return re.sub(r"\\(.)", r"\1", " ".join(t.value.to_csv() for t in app.table))


def unfolded(files, query=()):
    """The page with the panel open."""
    app = start(PAGE, files, query)
    app.session_state[WHY] = True
    return app.run()


@pytest.mark.parametrize("shift", [0.0, 0.1, -0.2])
def test_what_would_change_the_pattern(shift):
    data = csv_file(shift=shift)
    app = start(PAGE, [("m.csv", data, CSV)])
    for line in would_change(cc.analyze(read(data, "m.csv"))):
        assert line in words(app)


def test_the_fix_is_one_click_away():
    assert "See the fix" in links(start(PAGE, [("m.csv", csv_file(shift=0.1), CSV)]))
    assert "See the fix" not in links(start(PAGE, [("m.csv", csv_file(rows=60), CSV)]))  # too few rows to judge
    whole = links(start(PAGE, [("m.csv", csv_file(), CSV)]))  # no fault was found, so there is no fix to see
    assert "See the fix" not in whole
    assert "Would recalibration help?" in whole


def test_in_the_positive_view_each_number_has_its_view():
    # says 80% and is right in 90 of 100; of the probability itself 20% is 10% and 80% is 90%, which cancels
    rows = [(1, 0.8)] * 450 + [(0, 0.8)] * 50 + [(1, 0.2)] * 50 + [(0, 0.2)] * 450
    data = ("y_true,y_prob\n" + "\n".join(f"{y},{p}" for y, p in rows)).encode()
    app = start(PAGE, [("m.csv", data, CSV)], {"view": "Positive class"})
    assert "In the Confidence view, it says 80% on average and is right 90% of the time: not sure enough by 10.0 points" in words(app)
    assert "low values (20%) are too high and high ones (80%) too low: the two cancel, so the average gap is 0.0 points." in words(app)
    assert "looks like an S" not in words(app)


def test_other_tools_are_computed_only_when_unfolded(monkeypatch):
    calls = []
    monkeypatch.setattr("dashboard.remedies.reconcile_predictions", lambda *a, **k: calls.append(a) or reconcile_predictions(*a, **k))
    files = [("m.csv", csv_file(shift=0.1), CSV)]
    assert not start(PAGE, files).exception
    assert calls == []
    app = unfolded(files)
    assert len(calls) == 1
    app.selectbox(key="level").set_value(80).run()
    assert len(calls) == 1


@pytest.mark.parametrize(("query", "view"), [({}, "top_label"), ({"view": "Positive class", "bins": "9"}, "positive")])
def test_other_tools_say_what_reconcile_says(query, view):
    data = csv_file(shift=0.1)
    app = unfolded([("m.csv", data, CSV)], query)
    assert not app.exception
    assert not app.error
    model, n_bins = read(data, "m.csv"), int(query.get("bins", 15))
    found = reconcile_predictions(model, n_bins=n_bins, view=view)
    shown = tables(app)
    for row in tools_table(found).rows:
        assert row[0] in shown
        assert row[1] in shown
    assert tools_sentence(cc.analyze(model, cc.Settings(view=view, n_bins=n_bins)), found) in words(app)
