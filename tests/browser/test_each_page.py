"""The main task of each page, with the numbers of the command line; one reader goes from page to page."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from made_files import binary_file, four, printed_json, saved, three_class_file
from menu import assert_sound

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    return [saved(folder / "scored.csv", binary_file()), saved(folder / "three.csv", three_class_file())]


@pytest.fixture
def on(visitor, server):
    """Go to a page and look at a model; at the end nothing may have gone wrong."""
    problems, printed = len(visitor.problems()), len(server.log())

    def go(title, model="scored"):
        visitor.go(title)
        visitor.choose("Model", model)
        return visitor

    yield go
    assert_sound(visitor)
    assert visitor.problems()[problems:] == []
    assert server.outside() == []
    assert server.log()[printed:] == ""


def test_a_class_is_looked_at_on_every_page(on, command, files):
    reader = on("Groups and classes", "three")
    classwise = printed_json(command, "measure", files[1])["models"][0]["classwise"]
    assert reader.metric("Mean classwise ECE") == four(classwise["mean"])
    reader.chart("Classwise ECE of three")
    reader.unfold("Chart as table")
    shown = {row["Class"]: row["ECE"] for row in reader.table("Classwise ECE of three")}
    assert shown == {name: four(c["ece"]) for name, c in classwise["per_class"].items()}
    reader.choose("Look at one class", "dog")
    assert reader.settings()["view"] == "One class"
    reader.follow("See its diagram")
    reader.shows(four(printed_json(command, "measure", files[1], "--view", "class:dog")["models"][0]["ece"]))
    reader.pick("View", "Confidence")
    reader.shows(four(printed_json(command, "measure", files[1])["models"][0]["ece"]))


def test_a_remedy_is_shown_as_it_does_on_held_out_rows(on, command, files, tmp_path):
    reader = on("Fix")
    remedies = printed_json(command, "measure", files[0], "--request", "remedies")["models"][0]["on_request"]["remedies"]
    reader.shows(remedies["answer"])
    reader.chart("Change")
    best = next(r for r in remedies["tried"] if r["method"] == remedies["best"])
    for pick, method in (("Temperature", "temperature"), ("Platt", "platt"), ("Suggested", best["method"])):
        reader.pick("Recalibration", pick)
        tried = next(r for r in remedies["tried"] if r["method"] == method)
        (loss, brier, *_) = reader.table("Scores before and after")
        assert (loss["Before"], loss["After"]) == (four(remedies["before"]["log_loss"]), four(tried["after"]["log_loss"]))
        assert (brier["Before"], brier["After"]) == (four(remedies["before"]["brier"]), four(tried["after"]["brier"]))
    # What is downloaded, measured by the command line, is what the page says; and the code does what it says.
    scores = reader.download("Held-out scores (CSV)", tmp_path)
    assert four(printed_json(command, "measure", scores, "--positive", "1")["models"][0]["log_loss"]["value"]) == loss["After"]
    reader.download("Calibrator (JSON)", tmp_path)
    code = reader.download("Code (Python)", tmp_path)
    done = subprocess.run([sys.executable, code.name], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_acting_at_a_threshold(on, command, files):
    reader = on("Act")
    reader.type_in("Threshold", "0.8")
    panel = printed_json(command, "measure", files[0], "--threshold", "0.8")["models"][0]["threshold"]["acted"]
    assert reader.metric("Acted on") == f"{panel['count']} rows"
    assert reader.metric("Wrong predictions expected") == f"{panel['errors_expected']:.0f}"
    assert reader.metric("Wrong predictions found") == f"{panel['errors_found']:.0f}"
    assert f"{panel['errors_found']:.0f} found" in reader.main.locator("h1").inner_text()
    assert reader.settings()["t"] == "0.8"
    reader.chart("Error rate of scored")
    reader.type_in("Cost of an error (optional)", "10")
    reader.shows("say also what reviewing a row costs")
    reader.type_in("Cost of reviewing a row (optional)", "1")
    below = printed_json(command, "measure", files[0], "--threshold", "0.8")["models"][0]["threshold"]["below"]
    assert reader.metric("Cost found").replace(",", "") == f"{10 * panel['errors_found'] + below['count']:.0f}"


def test_the_report_is_that_of_the_command_line(on, command, files, tmp_path):
    reader = on("Report")
    if reader.settings().get("acting") == "true":  # a threshold was set on the page Act
        reader.toggle("Say what happens at a threshold")
    for label, words in (
        ("Heading", "Shall we use it?"),
        ("Who it is for", "the board"),
        ("Your note, marked as the analyst’s", "Only winter."),
    ):
        reader.type_in(label, words)
    preview = reader.page.frame_locator("iframe")
    preview.get_by_role("heading", name="Shall we use it?", exact=True).wait_for()
    preview.get_by_text("Only winter.").wait_for()
    page = reader.download("Report (HTML)", tmp_path)
    target = tmp_path / "cli.html"
    said = ["--heading", "Shall we use it?", "--audience", "the board", "--note", "Only winter."]
    said += ["--group", "region"] if "By region" in page.read_text() else []  # chosen on the page Groups and classes
    subprocess.run([command, "report", str(files[0]), *said, "-o", str(target)], check=True, timeout=90, capture_output=True)
    assert page.read_text() == target.read_text()
    assert reader.page.locator("iframe").get_attribute("srcdoc") == page.read_text()
    reader.shows(four(printed_json(command, "measure", files[0])["models"][0]["ece"]), within=preview.locator("body"))
    pdf = reader.page.get_by_role("button", name="Report (PDF)", exact=True)
    if pdf.count():
        assert reader.download("Report (PDF)", tmp_path).read_bytes().startswith(b"%PDF")


def test_a_click_out_of_the_note_gives_a_report_with_the_note(on, tmp_path):
    reader = on("Report")
    note = reader.page.get_by_role("textbox", name="Your note, marked as the analyst’s")
    button = reader.page.get_by_role("button", name="Report (HTML)", exact=True)
    for k in range(4):
        reader.settle()
        note.fill(f"Typed last, {k}.")  # which the page learns when the field is left
        button.hover()
        with reader.page.expect_download() as waiting:
            reader.page.mouse.down()
            reader.page.wait_for_timeout(90)
            reader.page.mouse.up()
        waiting.value.save_as(tmp_path / "report.html")
        assert f"Typed last, {k}." in (tmp_path / "report.html").read_text()


def test_lessons_answer_when_they_are_unfolded(visitor, server):
    reader = visitor
    reader.go("Learn")
    reader.pick("Example", "Too sure throughout")
    reader.chart("Reliability diagram of swift-v2")
    questions = reader.main.locator(".caveats details")
    assert questions.count() == 3
    for i in range(3):
        answer = questions.nth(i).locator("p")
        assert not answer.is_visible()
        questions.nth(i).locator("summary").click()
        assert answer.is_visible()
    assert_sound(reader)
    assert reader.problems() == []


def test_the_code_of_a_page_gives_its_numbers(on, command, files, tmp_path):
    """The script and the command that are offered, run where the files are, print what is downloaded."""
    reader = on("Overview", "three")
    reader.slide("Bins", 11)
    reader.unfold("Take away")
    shown = json.loads(reader.download("All results (JSON)", tmp_path).read_text())
    assert shown["settings"]["n_bins"] == 11
    script, line = (block.inner_text() for block in reader.main.get_by_test_id("stCode").locator("code").all())
    done = subprocess.run([sys.executable, "-c", script], cwd=files[1].parent, capture_output=True, text=True, check=True, timeout=90)
    assert json.loads(done.stdout) == shown
    by_hand = subprocess.run([command, *line.split()[1:]], cwd=files[1].parent, capture_output=True, text=True, check=True, timeout=90)
    assert json.loads(by_hand.stdout) == shown
    rows = list(csv.DictReader(io.StringIO(reader.download("All rows (CSV)", tmp_path).read_text())))
    assert len(rows) == shown["models"][0]["n"]
    assert reader.download("SVG", tmp_path).read_bytes().lstrip().startswith(b"<")
    assert reader.download("PNG", tmp_path).read_bytes().startswith(b"\x89PNG")
    assert reader.download("PDF", tmp_path).read_bytes().startswith(b"%PDF")
    reader.slide("Bins", 15)


def test_the_number_of_bins_that_is_suggested(on):
    reader = on("Overview")
    button = reader.page.get_by_test_id("stSidebar").get_by_role("button", name=re.compile("^Suggested: "))
    number = button.inner_text().removeprefix("Suggested: ")
    assert number == "9"  # the cube root of 700 is 8.9
    with reader.rerun():
        button.click()
    assert reader.slider("Bins").input_value() == number
    with reader.rerun():
        reader.page.get_by_role("button", name="Reset settings").click()
    assert reader.slider("Bins").input_value() == "15"
