"""The page Report: its preview is the report of `calibcore`, for the models, the settings and the words that are chosen."""

import re
from html import unescape
from pathlib import Path

import pytest
from added import add
from streamlit.testing.v1 import AppTest

import calibcore as cc
from calibcore.io import read_bytes
from calibcore.report import pdf
from calibcore.report.group_words import group_sentence

pytest.importorskip("matplotlib")

APP = str(Path(__file__).parents[2] / "dashboard" / "app.py")
REPORT = "views/report.py"
EVIL = "<img src=x onerror=alert(1)>"


def csv_file(rows=400, shift=0.0):
    """A calibrated binary file, or one that claims ``shift`` more than it should; in exact steps, without chance."""
    lines = ["id,y_true,y_prob"]
    for i in range(rows):
        p = (i % 20 + 0.5) / 20
        lines.append(f"{i},{int((i // 20) % 20 < round(20 * p))},{min(max(p + shift, 0), 1):.4f}")
    return "\n".join(lines).encode()


def start(*files, query=()):
    """The page with files added."""
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in dict(query).items():
        app.query_params[key] = value
    if files:
        add(app, [(name, data, "text/csv") for name, data in files])
    return app.switch_page(REPORT).run()


def paper(app):
    """The source of the preview."""
    assert not app.exception
    assert not app.error
    return app.get("iframe")[0].proto.srcdoc


def words(app):
    return " ".join(unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", paper(app), flags=re.DOTALL)).split())


THREE = (("a.csv", csv_file()), ("b.csv", csv_file(shift=0.1)), ("c.csv", csv_file(shift=0.2)))


def captions(app):
    return [re.sub(r"\\(.)", r"\1", c.value) for c in app.caption]


def buttons(app):
    return [b.proto.label for b in app.get("download_button")]


def test_a_newcomer_sees_the_report_of_the_first_sample_and_then_of_the_one_chosen():
    app = start(query={"bins": "8"})
    said = words(app)
    assert said.startswith("Calibration of steady-v1")
    assert "steady-v1 shows no miscalibration in these rows." in said
    assert len(app.title) == 1
    assert "Report (HTML)" in buttons(app)
    assert "At your threshold" not in said
    app.selectbox(key="model").select("swift-v2").run()
    said = words(app)
    assert "swift-v2 is overconfident." in said
    assert "8 equal-width bins" in said


def test_own_words_stay_with_the_report():
    app = start(*THREE[:2])
    app.multiselect(key="report with").set_value([])
    app.text_input(key="heading").set_value("Fit for use?")
    app.text_input(key="audience").set_value("the board")
    app.text_area(key="note").set_value(f"Rows of May. {EVIL}").run()
    said = words(app)
    assert "Fit for use?" in said
    assert "Calibration report for the board" in said
    assert "Analyst’s note Rows of May. <img" in said
    assert "<img" not in paper(app)
    app.selectbox(key="model").select("b").run()
    said = words(app)
    assert all(part in said for part in ("Fit for use?", "Rows of May.", "for the board"))
    asked = "Your heading and note were written when the report was about a: does it still hold?"
    assert asked in captions(app)
    app.text_area(key="note").set_value("Rows of June.").run()
    assert asked not in captions(app)
    assert "Rows of June." in words(app)


def test_other_models_stand_in_the_table():
    app = start(*THREE)
    assert app.multiselect(key="report with").value == ["b", "c"]
    said = words(app)
    assert said.startswith("Calibration of a, beside b and c")
    assert "The models in numbers" in said
    assert "a makes a smaller error than b: Brier score lower by 0." in said
    assert "a makes a smaller error than c: Brier score lower by 0." in said
    app.multiselect(key="report with").set_value([]).run()
    assert words(app).startswith("Calibration of a Calibration report")
    app.selectbox(key="model").select("c").run()  # who wanted one model alone still does
    assert app.multiselect(key="report with").value == []


def test_a_model_that_was_beside_the_first_changes_places_with_it():
    app = start(*THREE)
    app.selectbox(key="model").select("b").run()
    assert app.multiselect(key="report with").value == ["a", "c"]
    app.multiselect(key="report with").set_value(["a"]).run()
    app.selectbox(key="model").select("c").run()  # which was not beside it
    assert app.multiselect(key="report with").value == ["a"]
    app.selectbox(key="model").select("a").run()
    assert app.multiselect(key="report with").value == ["c"]
    app.file_uploader[0].set_value([(name, data, "text/csv") for name, data in THREE[:2]]).run()
    assert app.multiselect(key="report with").value == ["b"]  # other files, another choice


def test_models_of_other_classes_are_offered_and_not_chosen():
    app = start()
    assert app.multiselect(key="report with").value == ["swift-v2", "mixed-v3", "timid-v4"]
    assert "weather-steady-v1" in app.multiselect(key="report with").options
    app.selectbox(key="model").select("weather-steady-v1").run()
    assert app.multiselect(key="report with").value == ["weather-swift-v2"]


def test_a_threshold_that_was_set_on_act_is_in_the_report():
    app = start(("a.csv", csv_file()))
    assert "At your threshold" not in words(app)
    app.switch_page("views/act.py").run()
    app.number_input(key="t").set_value(0.3).run()
    app.switch_page(REPORT).run()
    assert app.toggle(key="acting").value
    app.run()  # the first run of a page under test has no value of a kept widget yet; in a browser it has
    assert "so a threshold of 0.3 acts on every row by construction." in words(app)
    app.toggle(key="acting").set_value(False).run()
    assert "At your threshold" not in words(app)
    app.switch_page("views/act.py").run()
    app.switch_page(REPORT).run()
    assert "At your threshold" not in words(app)


def test_what_is_acted_on_is_the_shared_view_on_both_pages():
    app = start(("a.csv", csv_file()), query={"acting": "true", "t": "0.3"})
    app.segmented_control(key="act on").set_value("positive").run()
    assert app.segmented_control(key="view").value == "Positive class"
    assert "Whoever acts on every row with P(1) above 0.3" in words(app)
    assert "missed events among them (rows that are “1”)" in words(app)
    app.segmented_control(key="view").set_value("Confidence").run()
    assert app.segmented_control(key="act on").value == "top_label"
    assert "Whoever acts on every row with confidence above 0.3" in words(app)


def test_threshold_and_held_out_test_are_asked_for():
    app = start(THREE[2], query={"acting": "true", "t": "0.8", "tested": "true"})
    said = words(app)
    assert "with confidence above 0.8" in said
    assert "Tested on rows that the fit had not seen (5 folds)" in said


def test_training_is_one_answer_for_sidebar_and_report():
    app = start(("a.csv", csv_file()))
    assert "It is not known whether the model was trained or tuned on these rows" in words(app)
    app.segmented_control(key="report training").set_value("no").run()
    assert "these rows were not used to train or tune the model" in words(app)
    again = [c for c in app.segmented_control if c.label == app.segmented_control(key="report training").label]
    assert [c.value for c in again] == ["no", "no"]


def test_costs_of_the_page_act_are_in_the_report():
    app = start(THREE[0], query={"acting": "true", "t": "0.8", "cost_error": "40", "cost_review": "3"})
    assert re.search(r"At 40 (an error|a wrong prediction) and 3 a review", words(app))
    app.number_input(key="cost_review").set_value(None).run()
    assert "A cost needs both figures" in " ".join(c.value for c in app.caption)
    assert "a review," not in words(app)


def test_training_is_asked_for_each_file_of_the_table():
    app = start(*THREE[:2])
    assert "whether these models were trained or tuned" in words(app)
    first, second = (app.segmented_control(key=key) for key in ("report training", "report training 1"))
    assert (first.label, second.label) == tuple(f"Were these rows used to train or tune {name}?" for name in "ab")
    second.set_value("no").run()
    assert "these rows were not used to train or tune b" in words(app)


def test_a_column_that_could_be_the_time_is_pointed_out():
    lines = csv_file().decode().splitlines()
    months = ["Monat", *(f"2024-{1 + i % 6:02d}" for i in range(len(lines) - 1))]
    app = start(("a.csv", "\n".join(f"{line},{month}" for line, month in zip(lines, months, strict=True)).encode()))
    assert any("Column Monat could be the time" in c.value for c in app.caption)
    assert "Monat" not in words(app).partition("Read with care")[0]
    assert any("Name the column that holds the time" in c.value for c in start(("a.csv", csv_file())).caption)


def with_regions(shift=0.0):
    """The rows of `csv_file`, of which the first half is of the north and claims ``shift`` more than it should."""
    first, *rows = csv_file(shift=shift).decode().splitlines()
    others = csv_file().decode().splitlines()[1:]
    half = len(rows) // 2
    lines = [f"{first},region", *(f"{r},north" for r in rows[:half]), *(f"{r},south" for r in others[half:])]
    return ("m.csv", "\n".join(lines).encode())


def test_the_groups_of_the_page_groups_are_in_the_report():
    app = start(with_regions(0.2))
    assert "By region" not in words(app)
    app.switch_page("views/groups.py").run()
    app.selectbox(key="group").set_value("region").run()
    app.number_input(key="minrows").set_value(60).run()
    app.switch_page(REPORT).run().run()  # the first run of a page under test has no value of a kept widget yet; in a browser it has
    assert app.selectbox(key="group").value == "region"
    m = read_bytes(with_regions(0.2)[1], "m.csv")[0]
    assert group_sentence(cc.by_group(m, "region", minimum=60)) in words(app)
    assert "By region: 2 groups of at least 60 rows; 1 group shows a gap (north: " in words(app)
    app.selectbox(key="group").set_value(None).run()
    assert "By region" not in words(app)


def test_a_file_without_groups_has_no_choice_of_them():
    app = start(("a.csv", csv_file()))
    assert not [s for s in app.selectbox if s.key == "group"]


def test_without_typst_the_page_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(pdf, "can_write", lambda: False)
    app = start(THREE[0])
    assert buttons(app) == ["Report (HTML)"]
    assert pdf.MISSING in captions(app)


def test_names_are_text():
    app = start((f"{EVIL}.csv", csv_file()))
    assert "<img" not in paper(app)
    assert f"Calibration of {EVIL}" in words(app)


def test_without_a_model_it_says_so():
    app = start(("a.csv", b"nothing,here\n1,2\n"))
    assert app.title[0].value == "No model to show yet"
    assert not app.exception
