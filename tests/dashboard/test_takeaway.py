"""Take away: the fold that every page can show, its downloads, and its code."""

import csv
import io
import json
import re

import pytest
from streamlit.testing.v1 import AppTest

import calibcore as cc
from calibcore import plot
from dashboard import session, takeaway

DATA = "\n".join(["y_true,y_prob", *(f"{(i * 7) % 10 < i % 10:d},{(i % 10 + 0.5) / 10}" for i in range(120))]).encode()
OTHER = DATA.replace(b"0.95", b"0.99")


def page():
    import streamlit as st

    import calibcore as cc
    from calibcore import plot
    from dashboard import session
    from dashboard.takeaway import takeaway

    class Upload:
        def __init__(self, number, name, data):
            self.name, self.file_id, self.size, self.getvalue = name, str(number), len(data), lambda: data

        def getbuffer(self):
            return self.getvalue()

    uploads = [Upload(i, name, data) for i, (name, data) in enumerate(st.session_state["given"])]
    session.load(uploads)
    settings = cc.Settings(n_bins=5)
    analyses = [session.analyse(m, settings) for m in session.models()]
    if st.session_state.get("compared"):
        found = session.compare(session.models(), settings, analyses[0].name)
        takeaway(found, [plot.overlay(analyses), None])
    else:
        takeaway(analyses[:1], [plot.reliability(analyses[0]), None, plot.gaps(analyses[0])])


def opened(*files, compared=False, fold=True):
    app = AppTest.from_function(page, default_timeout=60)
    app.session_state["given"], app.session_state["compared"] = files, compared
    if fold:
        app.session_state["takeaway"] = True
    app.run()
    assert not app.exception
    return app


def labels(app):
    return [b.proto.label for b in app.get("download_button")]


def test_nothing_is_made_before_it_is_opened():
    app = opened(("m.csv", DATA), fold=False)
    assert not labels(app)
    assert not app.code


def test_a_model_takes_all_files_along():
    app = opened(("m.csv", DATA))
    assert labels(app) == ["Bins (CSV)", "All rows (CSV)", "All results (JSON)", "SVG", "PNG", "PDF"]
    assert app.selectbox[0].options == ["Reliability", "Gaps"]
    assert [c.language for c in app.code] == ["python", "bash"]
    assert "SHA-256" in app.code[0].value
    assert app.code[1].value.startswith("calibcore measure m.csv --bins 5 ")
    assert all(b.proto.ignore_rerun for b in app.get("download_button"))


def test_a_comparison_has_no_rows_and_one_command():
    app = opened(("m.csv", DATA), ("n.csv", OTHER), compared=True)
    assert "All rows (CSV)" not in labels(app)
    assert "SVG" in labels(app)
    assert app.code[1].value.startswith("calibcore compare m.csv n.csv ")
    assert "--baseline m " in app.code[1].value


def test_files_of_one_name_get_a_sentence_and_no_code():
    app = opened(("m.csv", DATA), ("m.csv", OTHER), compared=True)
    assert not app.code
    assert any("Two different files are called m.csv" in re.sub(r"\\", "", c.value) for c in app.caption)
    assert opened(("m.csv", DATA), ("m.csv", DATA), compared=True).code


def test_what_was_made_on_the_page_has_data_and_no_code(monkeypatch):
    monkeypatch.setattr(session, "origins", dict)
    app = opened(("m.csv", DATA))
    assert "All results (JSON)" in labels(app)
    assert not app.code
    assert any("offered for models as they were read" in re.sub(r"\\", "", c.value) for c in app.caption)


def test_something_else_of_the_same_name_gets_no_code_of_the_file(monkeypatch):
    actual = session.analyse
    monkeypatch.setattr(session, "analyse", lambda m, s: cc.analyze(m.predictions, s) if actual(m, s) else None)
    assert not opened(("m.csv", DATA)).code


def given(monkeypatch):
    """What each button would save, by its label."""
    found = {}
    monkeypatch.setattr(takeaway, "_file", lambda label, data, parts, _mime, _key: found.update({label: (data, parts)}))
    opened(("m.csv", DATA))
    return found


def test_files_hold_the_numbers_of_the_analysis(monkeypatch):
    from calibcore.io import read_bytes

    (model,) = read_bytes(DATA, "m.csv")
    a = cc.analyze(model, cc.Settings(n_bins=5))
    found = given(monkeypatch)
    assert json.loads(found["All results (JSON)"][0]())["models"] == [{k: v for k, v in a.to_dict().items() if k != "settings"}]
    bins = list(csv.DictReader(io.StringIO(found["Bins (CSV)"][0]())))
    assert [int(float(b["count"])) for b in bins] == a.bins.count.tolist()
    rows = list(csv.DictReader(io.StringIO(found["All rows (CSV)"][0]())))
    assert [float(r["Confidence"]) for r in rows] == model.confidence.tolist()
    assert [p for _, p in found.values()][:3] == [("m", "bins", ".csv"), ("m", "rows", ".csv"), ("m", "results", ".json")]


@pytest.mark.parametrize(("label", "begins"), [("SVG", "<"), ("PNG", b"\x89PNG"), ("PDF", b"%PDF")])
def test_pictures_are_those_of_the_static_renderer(monkeypatch, label, begins):
    made, parts = given(monkeypatch)[label]
    picture = made()
    assert picture.startswith(begins)
    assert parts[1:] == ("reliability", f".{label.lower()}")
    if label == "SVG":
        from calibcore.io import read_bytes

        assert picture == plot.svg(plot.reliability(cc.analyze(read_bytes(DATA, "m.csv")[0], cc.Settings(n_bins=5))))


def test_code_from_the_page_carries_answers_and_names():
    diagnosis = DATA.replace(b"y_true", b"diagnosis").replace(b"\n1,", b"\nill,").replace(b"\n0,", b"\nwell,")
    app = AppTest.from_function(page, default_timeout=60)
    app.session_state["given"], app.session_state["takeaway"] = [("it's.csv", diagnosis)], True
    here = session.State()
    import hashlib

    here.answers[hashlib.sha256(diagnosis).hexdigest()] = {"positive": "ill"}
    app.session_state["calibcore"] = here
    app.run()
    assert not app.exception
    assert "mapping=cc.Mapping(positive='ill')" in app.code[0].value
    assert "--positive ill" in app.code[1].value
    assert """'it'"'"'s.csv'""" in app.code[1].value
