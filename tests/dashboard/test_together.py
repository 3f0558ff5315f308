"""Predictions and labels that are uploaded as separate files: the page joins them as `calibcore.read` does, and asks what it asks."""

import random
import re
from pathlib import Path

from added import add
from streamlit.testing.v1 import AppTest

import calibcore as cc

APP = str(Path(__file__).parents[2] / "dashboard" / "app.py")
N = 200
P = [(i % 20 + 0.5) / 20 for i in range(N)]
Y = [int((i // 20) % 10 < 10 * p) for i, p in enumerate(P)]


def csv(header, *columns, seed=None):
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    if seed is not None:
        random.Random(seed).shuffle(rows)
    return "\n".join([*([header] if header else []), *rows]).encode() + b"\n"


IDS = [f"case{i}" for i in range(N)]
PREDICTIONS = ("model.csv", csv("id,y_prob", IDS, P))
LABELS = ("truth.csv", csv("id,y_true", IDS, Y, seed=4))
WHOLE = ("whole.csv", csv("y_true,y_prob", Y, [min(p + 0.02, 1) for p in P]))


def start(*files):
    app = AppTest.from_file(APP, default_timeout=60)
    add(app, [(name, data, "text/csv") for name, data in files])
    app.run()
    assert not app.exception
    return app


def upload(app, *files):
    app.file_uploader[0].set_value([(name, data, "text/csv") for name, data in files]).run()
    assert not app.exception
    return app


def press(app, label):
    next(b for b in app.button if b.label == label).click().run()
    assert not app.exception
    return app


def words(app):
    return re.sub(r"\\(.)", r"\1", "\n".join(str(e.value) for kind in ("markdown", "caption", "error", "warning") for e in app.get(kind)))


def models(app):
    return app.selectbox(key="model").options


def ece(app):
    return next(m.value for m in app.metric if m.label == "ECE")


def whole_ece():
    """The figure of the same rows in one file."""
    return f"{cc.analyze(cc.Predictions.from_arrays(Y, P)).ece:.4f}"


def test_two_files_are_joined_by_their_id():
    for files in ((PREDICTIONS, LABELS), (LABELS, PREDICTIONS)):
        app = start(*files)
        assert not app.error
        assert models(app) == ["model"]
        assert ece(app) == whole_ece()
        assert "model.csv + truth.csv" in words(app)


def test_other_files_stay_and_labels_may_come_later():
    app = start(PREDICTIONS, WHOLE)
    assert models(app) == ["whole"]
    assert "no column of labels" in words(app)
    upload(app, PREDICTIONS, WHOLE, LABELS)
    assert not app.error
    assert set(models(app)) == {"model", "whole"}
    upload(app, WHOLE)
    assert models(app) == ["whole"]


def test_one_file_of_labels_serves_several_models():
    app = start(PREDICTIONS, LABELS, ("other.csv", csv("id,y_prob", IDS, P[::-1])))
    assert set(models(app)) == {"model", "other"}


def test_row_order_is_asked_once_and_kept():
    files = (("probs.txt", csv("", P)), ("labels.txt", csv("", Y)), WHOLE)
    app = start(*files)
    assert models(app) == ["whole"]
    assert "Do the rows belong together in their order" in app.radio(key="question pair").label
    app.radio(key="question pair").set_value("row-order").run()
    press(app, "Read the file")
    assert set(models(app)) == {"probs", "whole"}
    app.selectbox(key="model").set_value("probs").run()
    assert ece(app) == whole_ece()
    press(press(app, r"Change probs\.txt \+ labels\.txt"), "Start over")
    assert app.radio(key="question pair").value is None


def test_a_pair_that_cannot_be_joined_says_why_and_keeps_the_others():
    twice = ("truth.csv", csv("id,y_true", [*IDS, "case7"], [*Y, 1]))
    app = start(PREDICTIONS, twice, WHOLE)
    assert models(app) == ["whole"]
    assert "truth.csv: 'case7' is 2 times in column 'id'" in words(app)
