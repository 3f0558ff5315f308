"""The page Fix: what is shown is what `calibcore.remedies` finds, on held-out rows, and nothing is asked twice."""

import json
import re

import pytest
from test_app import CSV, alts, charts, csv_file, read, start, words

import calibcore as cc
from calibcore.advice.recalibration import confidence_only
from calibcore.report import fix_exports, fix_words

PAGE = "views/fix.py"
# 50 rows at 0.1 of which 10 happened, 50 at 0.9 of which 40 happened; n times.


def too_sure(times=10):
    rows = ([(1, 0.1)] * 10 + [(0, 0.1)] * 40 + [(1, 0.9)] * 40 + [(0, 0.9)] * 10) * times
    return ("m.csv", ("y_true,y_prob\n" + "\n".join(f"{y},{p}" for y, p in rows)).encode(), CSV)


def three_classes(rows=1500):
    lines = ["label,prob_a,prob_b,prob_c"]
    for i in range(rows):
        p = (i % 10 + 1) / 12
        rest = (1 - p) / 2
        lines.append(f"{'a' if (i // 10) % 12 < 10 * p else 'bc'[i % 2]},{p:.6f},{rest:.6f},{rest:.6f}")
    return ("three.csv", "\n".join(lines).encode(), CSV)


def model_of(file):
    return read(file[1], file[0])


def tables(app):
    """Every table as text, escapes taken away."""
    return re.sub(r"\\(.)", r"\1", " ".join(t.value.to_string() for t in app.table))


@pytest.mark.parametrize("file", [too_sure(), three_classes(), ("c.csv", csv_file(), CSV)], ids=["over", "three", "calibrated"])
def test_the_answer_comes_first(file):
    app = start(PAGE, [file])
    assert not app.exception
    assert not app.error
    found = cc.remedies(model_of(file))
    assert [t.value for t in app.title] == [words_of_title(file[0])]
    assert found.answer in words(app)
    assert "The diagnosis on the Overview: " not in words(app)  # one answer, not two
    assert fix_words.PREVIEW in words(app)
    assert "Refitting" not in words(app)  # gone when it is done
    assert found.answer in alts(app)


def words_of_title(name):
    return f"Would recalibration help {name.removesuffix('.csv')}?"


def test_before_and_after_are_those_of_the_remedies():
    file = too_sure()
    app = start(PAGE, [file])
    model = model_of(file)
    found = cc.remedies(model)
    shown = tables(app)
    for row in fix_words.before_after(found, found.best).rows:
        assert all(cell in shown for cell in row)
    assert fix_words.parameter_sentence(found.best) in words(app)
    after = cc.analyze(found.held_out(model, found.best.method))
    spec = json.loads(charts(app)[2].proto.spec)
    (points,) = (t for t in spec["data"] if t.get("mode") == "markers" and t["name"] == "bin mean")
    assert points["y"] == pytest.approx(after.bins.accuracy[after.bins.filled])


def test_no_remedy_is_suggested_where_none_helps():
    app = start(PAGE, [("c.csv", csv_file(), CSV)])
    said = words(app)
    assert "No recalibration that was tried helps here." in said
    assert fix_words.NOTHING in said
    assert len(charts(app)) == 1
    app.pills(key="fix").set_value("Temperature").run()
    assert not app.exception
    assert re.search(r"Temperature scaling (does not help here|makes it worse)", words(app))
    assert len(charts(app)) == 3


def test_a_remedy_in_the_address():
    app = start(PAGE, [too_sure()], {"fix": "Platt"})
    assert app.pills(key="fix").value == "Platt"
    assert "Platt scaling helps" in words(app)
    assert "Slope" in tables(app)


def test_too_few_rows_for_isotonic_regression():
    app = start(PAGE, [too_sure(2)], {"fix": "Isotonic"})
    assert "Isotonic" not in app.pills(key="fix").options
    assert app.pills(key="fix").value == "Suggested"
    assert "Isotonic regression needs about 1,000 rows to fit; there are 160." in words(app)


def test_fewer_rows_than_folds_is_one_sentence():
    app = start(PAGE, [("tiny.csv", b"y_true,y_prob\n1,0.9\n0,0.2\n1,0.7\n", CSV)])
    assert not app.exception
    assert [e.value.replace("\\", "") for e in app.error] == ["5 folds need at least 5 rows; tiny has 3 rows."]


def test_the_confidence_alone_can_be_repaired():
    file = three_classes()
    app = start(PAGE, [file])
    assert "Isotonic" not in app.pills(key="fix").options
    app.toggle(key="alone").set_value(True).run()
    assert not app.exception
    assert not app.error
    assert "Isotonic" in app.pills(key="fix").options
    assert cc.remedies(confidence_only(model_of(file))).answer in words(app)


@pytest.mark.parametrize(("query", "view"), [({"view": "Positive class"}, "positive"), ({"level": "80"}, "top_label")])
def test_settings_are_honoured(query, view):
    file = too_sure()
    app = start(PAGE, [file], query)
    level = int(query.get("level", 95)) / 100
    found = cc.remedies(model_of(file), view=view, level=level)
    assert fix_words.before_after(found, found.best).rows[2][3] in tables(app)
    assert f"Change ({100 * level:.0f}% interval)" in tables(app)


def test_moving_the_slider_refits_nothing(monkeypatch):
    app = start(PAGE, [too_sure()])
    calls = []
    monkeypatch.setattr(cc, "remedies", lambda *a, **_: calls.append(a))
    monkeypatch.setattr(cc.Remedies, "held_out", lambda *a: calls.append(a))
    app.slider(key="bins").set_value(9).run()
    assert not app.exception
    assert not app.error
    assert calls == []


def test_the_score_can_be_changed():
    app = start(PAGE, [too_sure()])
    for score in ("Brier score", "Gap"):
        app.segmented_control(key="changed score").set_value(score).run()
        assert not app.error
        assert f"Change in {'Brier score' if score != 'Gap' else 'gap'} of m" in alts(app)


def test_downloads_are_named_after_model_and_method():
    app = start(PAGE, [too_sure()])
    labels = [b.label for b in app.get("download_button")]
    for wanted in ("Held-out scores (CSV)", "Calibrator (JSON)", "Code (Python)"):
        assert wanted in labels
    calibrator = cc.remedies(model_of(too_sure())).best.calibrator
    assert app.code[0].value.strip() == fix_exports.apply_code(calibrator, "m-temperature.json").strip()


def test_names_are_text():
    name = "![x](http://a.b)"
    app = start(PAGE, [(f"{name}.csv", too_sure()[1], CSV)])
    assert not app.exception
    assert "![x]" not in app.title[0].value
    assert name in words(app).replace("\u2060", "")


def test_clusters_stay_together():
    model = model_of(too_sure())
    found = cc.remedies(model.but(cluster=(model.row // 2)))
    assert "Rows of one cluster stay together" in fix_words.how_judged(found)


def test_what_the_page_shows_can_be_taken_away():
    app = start(PAGE, [too_sure()])
    app.session_state["takeaway"] = True
    app.run()
    assert not app.exception
    assert not app.error
    assert {"Bins (CSV)", "All results (JSON)", "SVG", "PNG", "PDF"} <= {b.label for b in app.get("download_button")}


def test_code_gives_every_recalibration_again(monkeypatch):
    made = {}
    monkeypatch.setattr("dashboard.takeaway._file", lambda label, data, *_: made.update({label: data}))
    file = too_sure()
    app = start(PAGE, [file])
    app.session_state["takeaway"] = True
    app.run()
    assert [c.language for c in app.code[-2:]] == ["python", "bash"]
    assert "on_request=('remedies',)" in app.code[-2].value
    assert " --request remedies " in app.code[-1].value
    (model,) = json.loads(made["All results (JSON)"]())["models"]
    whole = cc.analyze(model_of(file), cc.Settings(on_request=("remedies",))).to_dict()
    assert model == {k: v for k, v in whole.items() if k != "settings"}


def test_code_for_the_confidence_alone_is_python():
    app = start(PAGE, [three_classes()], {"alone": "true"})
    app.session_state["takeaway"] = True
    app.run()
    assert not app.error
    assert app.code[-1].language == "python"
    assert "    confidence_only(file_1[0])," in app.code[-1].value
    assert "for the confidence alone take the Python code" in words(app)
