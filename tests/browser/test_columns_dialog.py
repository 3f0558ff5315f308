"""The Columns dialog in a real browser: containers, a question, a change, a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from made_files import CONTAINERS, binary_file, csv_bytes, four, printed_json, saved, table_of
from playwright.sync_api import expect

from calibcore.errors import InputError
from calibcore.io import read_bytes

pytestmark = pytest.mark.browser

SCREENSHOTS = Path(__file__).parent / "screenshots"


def sidebar(reader):
    return reader.page.get_by_test_id("stSidebar")


def press(reader, name):
    """A button of the dialog."""
    with reader.rerun():
        reader.dialog.get_by_role("button", name=name, exact=True).click()


def figures(reader):
    """The last column of the table of figures: name → text."""
    table = reader.dialog.get_by_role("table").filter(has_text="Rows used")
    return {cells[0]: cells[-1] for cells in (r.locator("th, td").all_inner_texts() for r in table.get_by_role("row").all()[1:])}


def ece_of(command, path, *options):
    return four(printed_json(command, "measure", path, *options)["models"][0]["ece"])


def test_each_container_gives_the_same_numbers(reader, command, tmp_path):
    plain = saved(tmp_path / "plain.csv", binary_file())
    paths, missing = [], []
    for kind, made in list(CONTAINERS.items())[::2]:  # no more than eight models are shown side by side; the package reads all
        data = made(*table_of(plain.read_bytes()))
        try:
            read_bytes(data, f"cells.{kind}")
        except InputError:
            missing.append(kind)
            continue
        paths.append(saved(tmp_path / f"cells.{kind}", data))
    if not paths:
        pytest.skip(f"not read: {missing}")
    reader.upload(*paths)
    said = "Read as: label = label, probability = probability, positive class = 1. 700 rows."
    expect(sidebar(reader).get_by_text(said)).to_have_count(len(paths), timeout=20_000)
    assert not reader.dialog.is_visible()
    reader.shows(printed_json(command, "measure", plain)["models"][0]["verdict"])
    reader.go("Compare")
    first, *others = reader.table("The models side by side")
    assert first["ECE (equal width)"] == ece_of(command, plain)
    assert len(others) == len(paths) - 1
    for row in others:
        assert {k: v for k, v in row.items() if k != "Model"} == {k: v for k, v in first.items() if k != "Model"}
    if missing:
        pytest.skip(f"not read yet: {missing}")


def lesions(n=150):
    return csv_bytes(
        [("diagnosis", "probability"), *(("benign" if i % 3 else "malignant", f"{0.2 + 0.6 * (i % 3 == 0):.1f}") for i in range(n))]
    )


def test_a_question_is_answered_and_gives_the_numbers_of_the_shell(reader, command, tmp_path):
    rows = ((("yes", "no", "void")[i % 10 // 4], f"{(i % 10 + 0.5) / 10:.2f}") for i in range(200))
    path = saved(tmp_path / "asked.csv", csv_bytes([("outcome", "y_prob"), *rows]))
    options = ["--drop-label", "void"]
    reader.upload(path)
    reader.dialog.wait_for()
    assert reader.dialog.get_by_test_id("stRadio").last.locator("input:checked").count() == 0
    reader.dialog.get_by_role("combobox", name=re.compile("Leave such rows out")).click()
    with reader.rerun():
        reader.page.get_by_role("option", name="void", exact=True).click()
    model = printed_json(command, "measure", path, *options)["models"][0]
    assert figures(reader)["Rows used"] == f"{model['n']:,}"
    press(reader, "Read the file")
    expect(reader.dialog).to_have_count(0)
    reader.shows(four(model["ece"]))
    reader.shows(model["verdict"][-60:])  # the headline may have said its beginning
    # The answer stays for other settings and on other pages.
    reader.slide("Bins", 12)
    reader.go("Compare")
    reader.go("Overview")
    assert not reader.dialog.is_visible()
    reader.shows(ece_of(command, path, *options, "--bins", "12"))


def weighted(n=400):
    lines = ((f"u{i}", int(i % 20 >= 12), f"{(i % 20 + 0.5) / 20:.3f}", 1 + 4 * (i % 5 == 0), "ab"[i % 2]) for i in range(n))
    return csv_bytes([("id", "y_true", "y_prob", "weight", "site"), *lines])


def unfold(reader):
    """Show the roles beside the main ones; a list that opens while they still unfold closes again."""
    reader.dialog.get_by_text("Groups, time, id, weight and more").click()
    reader.widget("stSelectbox", "Weight").wait_for()
    reader.page.wait_for_timeout(700)


def test_a_file_that_asked_nothing_can_be_changed(reader, command, tmp_path):
    path = saved(tmp_path / "risk.csv", weighted())
    reader.upload(path)
    before, after = ece_of(command, path), ece_of(command, path, "--weight", "weight")
    assert before != after
    reader.shows(before)
    with reader.rerun():
        sidebar(reader).get_by_role("button", name="Change", exact=True).click()
    reader.dialog.wait_for()
    reader.shows("Read as: label = y_true, probability = y_prob", within=reader.dialog)
    reader.shows("y_prob (probability)", within=reader.dialog)
    unfold(reader)
    reader.choose("Weight", "weight")
    reader.shows("With this choice", within=reader.dialog)
    reader.shows("weight = weight", within=reader.dialog)
    reader.shows(before)  # nothing is applied yet
    press(reader, "Read the file")
    reader.shows(after)
    with reader.rerun():
        sidebar(reader).get_by_role("button", name="Change", exact=True).click()
    press(reader, "Start over")
    press(reader, "Read the file")
    reader.shows(before)


def test_the_dialog_fits_a_phone_in_the_dark(new_reader, tmp_path):
    reader = new_reader(phone=True, dark=True)
    reader.page.get_by_test_id("stExpandSidebarButton").click()
    reader.page.wait_for_timeout(400)
    reader.upload(saved(tmp_path / "scan.csv", lesions()), saved(tmp_path / "a-rather-long-name-of-a-file.csv", weighted()))
    reader.dialog.wait_for()
    reader.answer("malignant")
    fits(reader, "asked")
    assert reader.axe() == []
    press(reader, "Read the file")
    with reader.rerun():
        sidebar(reader).get_by_role("button", name="Change a-rather-long-name-of-a-file.csv", exact=True).click()
    unfold(reader)
    reader.choose("Weight", "weight")
    fits(reader, "changed")


def fits(reader, what):
    """Nothing of the dialog lies beside the screen, and nothing in it is cut off."""
    reader.page.wait_for_timeout(400)
    SCREENSHOTS.mkdir(exist_ok=True)
    size = reader.page.viewport_size
    reader.page.set_viewport_size({"width": size["width"], "height": 1_900})
    reader.page.wait_for_timeout(300)
    reader.page.screenshot(path=SCREENSHOTS / f"columns-{what}.png")
    reader.page.set_viewport_size(size)
    box = reader.dialog.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= size["width"]
    beside = """(e, right) => [...e.querySelectorAll('button, input, label, p')]
        .filter(x => x.offsetParent && !x.closest('[data-testid=stTable]') && x.getBoundingClientRect().right > right + 1)
        .map(x => x.outerHTML.slice(0, 120))"""
    assert reader.dialog.evaluate(beside, box["x"] + box["width"]) == []
