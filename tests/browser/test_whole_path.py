"""From the files to the report with the keyboard alone: question, answers, comparison, remedy, report."""

from __future__ import annotations

import random
import re
import subprocess

import pytest
from made_files import csv_bytes, four, printed_json, saved
from playwright.sync_api import Error as PlaywrightError

pytestmark = pytest.mark.browser

QUESTION = "Were these rows used to train or tune the model?"
ASKED = ["--positive", "malignant"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two models on the same 500 cases, whose labels are words: one too sure, one as sure as it should be."""
    folder, rng = tmp_path_factory.mktemp("path"), random.Random(8)
    cases = []
    for i in range(500):
        p = rng.random()
        cases.append((f"c{i}", "malignant" if rng.random() < p else "benign", p))
    made = []
    for name, stretch in (("bold", 1.7), ("meek", 1.0)):
        rows = [(i, label, f"{min(max(0.5 + stretch * (p - 0.5), 0.01), 0.99):.4f}") for i, label, p in cases]
        made.append(saved(folder / f"{name}.csv", csv_bytes([("id", "diagnosis", "probability"), *rows])))
    return made


def report_of(command, files, folder, *options):
    """The report that the command line writes."""
    target = folder / "cli.html"
    subprocess.run([command, "report", *map(str, files), *ASKED, *options, "-o", str(target)], check=True, timeout=90, capture_output=True)
    return target.read_text()


def address(reader):
    """The part of the address that names the page."""
    return reader.page.evaluate("location.pathname").strip("/")


class Keys:
    """A reader without a pointer."""

    def __init__(self, reader):
        self.reader = reader
        self.page = reader.page

    def to(self, target):
        self.reader.tab_to(target)

    def press(self, target, key="Enter"):
        """Go to a control, press a key there, and wait for the page."""
        self.to(target)
        with self.reader.rerun():
            self.page.keyboard.press(key)

    def pick(self, group, option):
        """Choose in a group of which Tab reaches one member and the arrows the others."""
        self.to(group.locator("[role=radio]:not([tabindex='-1'])").first)
        wanted = group.get_by_role("radio", name=option, exact=True)
        for _ in range(8):
            if wanted.evaluate("e => e === document.activeElement"):
                break
            self.page.keyboard.press("ArrowRight")
        if wanted.get_attribute("aria-checked") != "true":
            with self.reader.rerun():
                self.page.keyboard.press("Space")
        assert wanted.get_attribute("aria-checked") == "true"

    def next(self):
        self.press(self.reader.main.get_by_role("link", name=re.compile("^Next: ")).last)


def chosen_files(keys, button):
    """The system's dialog that a button opens; on a busy machine the first key may come before the page listens."""
    for _ in range(3):
        keys.to(button)
        try:
            with keys.page.expect_file_chooser(timeout=8_000) as chooser:
                keys.page.keyboard.press("Enter")
        except PlaywrightError:
            continue
        return chooser.value
    raise AssertionError("Enter on the button opens no file dialog")


def add_and_answer(keys, files):
    """The uploader's button, the dialog of each file, and the question about training."""
    page, dialog = keys.page, keys.reader.dialog
    sidebar = page.get_by_test_id("stSidebar")
    button = sidebar.get_by_role("button", name="Upload", exact=True)
    with keys.reader.rerun(grace=5_000):
        chosen_files(keys, button).set_files([str(f) for f in files])
    for name in ("bold.csv", "meek.csv"):
        keys.reader.shows(f"{name} can be read in more than one way.", within=dialog)
        keys.press(dialog.get_by_role("radio").first, "Space")
        keys.press(dialog.get_by_role("button", name="Read the file"))
    for i in range(2):
        keys.pick(sidebar.get_by_role("radiogroup", name=QUESTION).nth(i), "No")


def look_behind_a_bin(keys, bold):
    """The skip link leads to the verdict; from there to a bin and its rows."""
    page = keys.page
    page.locator("body").evaluate("e => { e.tabIndex = -1; e.focus() }")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.querySelector('h1') !== null")
    keys.reader.shows(bold["verdict"])
    keys.to(keys.reader.widget("stSelectbox", "Inspect a bin").get_by_role("combobox"))
    page.keyboard.press("ArrowDown")
    page.get_by_role("option").first.wait_for()
    with keys.reader.rerun():
        page.keyboard.press("Enter")
    keys.press(page.get_by_role("link", name="See the rows of this bin"))
    count, _ = keys.reader.grid("The rows of the chosen bin")
    assert count == next(b for b in bold["bins"] if b["count"])["count"]


def act_at(keys, threshold):
    """Write a threshold."""
    keys.to(keys.reader.main.get_by_label("Threshold", exact=True))
    keys.page.keyboard.press("Control+a")
    keys.page.keyboard.type(threshold)
    with keys.reader.rerun():
        keys.page.keyboard.press("Enter")


def test_the_keyboard_is_enough(reader, command, files, tmp_path):
    keys, page = Keys(reader), reader.page
    add_and_answer(keys, files)
    keys.press(reader.slider("Bins"), "ArrowRight")
    bold = printed_json(command, "measure", files[0], *ASKED, "--bins", "16", "--threshold", "0.8")["models"][0]
    reader.shows(four(bold["ece"]))
    look_behind_a_bin(keys, bold)

    keys.press(page.get_by_test_id("stTopNavLink").filter(has_text="Compare"))
    reader.shows("Compare models")
    keys.pick(reader.main.get_by_role("radiogroup", name="Layout"), "Small multiples")
    reader.chart("Reliability diagram of meek")
    keys.press(reader.main.locator("summary", has_text="Charts as tables"))
    assert reader.table("Reliability diagram of bold")
    for _ in ("Bins and rows", "Groups and classes", "Fix"):
        keys.next()
    keys.pick(reader.main.get_by_role("radiogroup", name="Recalibration"), "Platt")
    reader.table("Scores before and after")
    keys.next()
    act_at(keys, "0.8")
    assert reader.metric("Acted on") == f"{bold['threshold']['acted']['count']} rows"
    keys.next()
    reader.settle()
    keys.to(page.get_by_role("button", name="Report (HTML)", exact=True))
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    waiting.value.save_as(tmp_path / "page.html")
    said = report_of(command, files, tmp_path, "--training", "no", "--bins", "16", "--threshold", "0.8")
    assert (tmp_path / "page.html").read_text() == said
    keys.next()
    assert address(reader) == "learn"
