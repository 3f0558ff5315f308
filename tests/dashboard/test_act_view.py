"""The page Act: the threshold and the costs go into the settings; what is shown is what the analysis holds."""

import json

import pytest
from test_app import CSV, charts, csv_file, read, start, words

import calibcore as cc
from calibcore.report.act_words import act_headline, act_lines, act_numbers, cost_lines

PAGE = "views/act.py"
# 100 rows at 0.95 of which 80 are right, 100 at 0.6 of which 60 are right.
RIGHT = [("a", "a", 0.95)] * 80 + [("b", "a", 0.95)] * 20 + [("a", "a", 0.6)] * 60 + [("b", "a", 0.6)] * 40
FILE = ("m.csv", ("true,pred,confidence\n" + "\n".join(f"{t},{p},{c}" for t, p, c in RIGHT)).encode(), CSV)


def metrics(app):
    return {m.label: m.value for m in app.metric}


def test_errors_expected_and_found_come_first():
    app = start(PAGE, [FILE])
    assert not app.exception
    assert app.title[0].value.replace("\\", "") == "m: 5.0 wrong predictions expected, 20 found"
    assert "Of 100 rows with confidence above 0.9 the model expects 5.0 wrong predictions; 20 were found." in words(app)
    assert metrics(app) == {"Acted on": "100 rows", "Wrong predictions expected": "5.0", "Wrong predictions found": "20"}


def test_the_threshold_in_the_address_is_honoured_and_marked():
    app = start(PAGE, [FILE], {"t": "0.5"})
    assert app.number_input(key="t").value == 0.5
    assert metrics(app)["Acted on"] == "200 rows"
    assert "confidence above 0.5: 100% of rows" in charts(app)[0].proto.spec
    assert start(PAGE, [FILE], {"t": "7"}).number_input(key="t").value == 0.9


def test_everything_is_the_analysis_of_these_settings():
    data = csv_file(shift=0.1)
    app = start(
        PAGE, [("m.csv", data, CSV)], {"t": "0.7", "view": "Positive class", "closed": "Lower edge", "level": "80", "cost_error": "7"}
    )
    app.number_input(key="cost_review").set_value(2.0).run()
    settings = cc.Settings(view="positive", closed="left", level=0.8, threshold=0.7, cost_error=7.0, cost_review=2.0)
    a = cc.analyze(read(data, "m.csv"), settings)
    said = words(app)
    for line in (act_headline(a), *act_lines(a), *cost_lines(a)):
        assert line in said
    assert metrics(app) == {n.label: n.value for n in act_numbers(a)}
    curve = a.measures["risk_coverage"]
    found = next(t for t in json.loads(charts(app)[0].proto.spec)["data"] if t.get("name") == "errors found")
    assert found["y"] == pytest.approx(curve.risk)


def test_costs_need_each_other():
    app = start(PAGE, [FILE])
    app.number_input(key="cost_error").set_value(10.0).run()
    assert "say also what reviewing a row costs" in words(app)
    assert "Cost found" not in metrics(app)
    app.number_input(key="cost_review").set_value(1.0).run()
    assert metrics(app)["Cost found"] == "300"
    assert metrics(app)["Break-even"] == "0.9"
    assert "say also" not in words(app)


def test_no_row_beyond_the_threshold_is_a_sentence():
    app = start(PAGE, [FILE], {"t": "0.99"})
    assert not app.exception
    assert not app.error
    assert "No row has a confidence above 0.99, so nothing is acted on." in words(app)


BINARY = ("m.csv", csv_file(), CSV)


def test_what_is_acted_on_is_the_shared_view():
    app = start(PAGE, [BINARY], {"t": "0.3"})
    assert app.segmented_control(key="act on").options == ["The predicted class", r"P\(1\)"]
    by_predicted = (
        "The threshold is one of the probability of the predicted class, whichever it is; choose P(1) under Act on to judge that."
    )
    by_construction = "Of 2 classes the predicted one always has at least 1/2, so a threshold of 0.3 acts on every row by construction."
    assert by_predicted in words(app)
    assert by_construction in words(app)
    app.segmented_control(key="act on").set_value("positive").run()
    assert app.segmented_control(key="view").value == "Positive class"
    said = words(app)
    assert by_predicted not in said
    assert by_construction not in said
    # P(1) runs over 0.025, 0.075 … 0.975, 20 rows of each in 400: 14 of 20 values lie above 0.3
    assert metrics(app)["Acted on"] == "280 rows"
    app.segmented_control(key="view").set_value("Confidence").run()
    assert app.segmented_control(key="act on").value == "top_label"
    assert by_predicted in words(app)


def test_one_class_is_a_third_thing_to_act_on():
    app = start(PAGE, [BINARY], {"t": "0.3", "view": "One class"})
    assert app.segmented_control(key="act on").options == ["The predicted class", r"P\(1\)", r"P\(0\)"]
    assert app.segmented_control(key="act on").value == "class:0"
    app.segmented_control(key="act on").set_value("top_label").run()
    assert app.segmented_control(key="view").value == "Confidence"


def test_confidences_alone_leave_no_choice():
    assert not [c for c in start(PAGE, [FILE]).segmented_control if c.key == "act on"]


def test_the_page_goes_on():
    app = start(PAGE, [FILE])
    assert [link.proto.label for link in app.get("page_link")][-1].startswith("Next: ")
