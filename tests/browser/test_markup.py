"""Names with markup, links, formulas and pictures from elsewhere: on every page they are text, nothing runs and nothing is fetched."""

from __future__ import annotations

import csv
import io
import re

import pytest
from made_files import binary_file, csv_bytes, saved
from menu import PAGES, assert_sound

pytestmark = pytest.mark.browser

MARKUP = "<img src=x onerror=alert(1)>"
MORE_MARKUP = "<b>ok</b> $a_1$ [x](javascript:alert(1)) :red[y]"
PICTURE = "![p](http://192.0.2.1/p.png) <script>alert(2)</script>"
FORMULA = "=cmd|' /C calc'!A0"
FILE = "<b>$a_1$ [x](javascript:y) :red[z]"


def nothing_runs(reader):
    """No element came from a name: no picture, no link with a script, no formula, no colour; nothing was fetched."""
    for place in (reader.page, *(reader.page.frame_locator("iframe") for _ in range(reader.page.locator("iframe").count()))):
        for selector in ('img[src="x"]', 'img[src*="192.0.2.1"]', 'a[href^="javascript"]', ".katex", ".stMarkdownColoredText"):
            assert place.locator(selector).count() == 0, selector
    assert reader.page.get_by_test_id("stApp").locator("b, strong").filter(has_text=re.compile(r"^ok$")).count() == 0
    assert reader.problems() == []


def named_file(n=360):
    """Three classes and a column of groups, whose names are all markup."""
    names, sites = (MARKUP, f"{MORE_MARKUP} {PICTURE}", FORMULA), (PICTURE, FORMULA, MARKUP)
    rows = [(f"r{i}", names[i % 3], *((0.6, 0.3, 0.1), (0.2, 0.5, 0.3))[i % 2], sites[i // 9 % 3]) for i in range(n)]
    return csv_bytes([("id", "label", *(f"p_{name}" for name in names), f"site {PICTURE}"), *rows])


def shown(cell):
    """A cell as it is read: what keeps an address from becoming a link has no width."""
    return cell.replace("\u2060", "")


def test_on_every_page_names_are_text(reader, tmp_path):
    reader.upload_bytes(f"{MARKUP}.csv", named_file())
    reader.upload_bytes(f"{FILE}.csv", binary_file())
    sidebar = reader.page.get_by_test_id("stSidebar")
    reader.shows(f"{MARKUP}.csv", within=sidebar)
    reader.shows(f"p_{FORMULA}", within=sidebar)
    for title in PAGES.values():
        reader.go(title)
        if title == "Compare":
            assert [row["Model"] for row in reader.table("The models side by side")] == [MARKUP, FILE]
            assert all(name in reader.chart("Reliability").text_content() for name in (MARKUP, FILE))
        elif title == "Groups and classes":
            reader.choose("Group by", f"site {PICTURE}")
            assert {shown(next(iter(row.values()))) for row in reader.table("Every group in numbers")} == {PICTURE, FORMULA, MARKUP}
            reader.shows(FORMULA, within=reader.chart("Classwise ECE"))
        elif title == "Report":
            reader.page.frame_locator("iframe").get_by_role("heading", name=f"Calibration of {MARKUP}").wait_for()
            reader.type_in("Heading", PICTURE)
            reader.page.frame_locator("iframe").get_by_role("heading", name=PICTURE).wait_for()
        elif title != "Learn":
            reader.shows(MARKUP)
        reader.unfold_all()
        assert_sound(reader)
        nothing_runs(reader)
    reader.go("Overview")
    reader.pick("View", "One class")
    reader.choose("Class", FORMULA)
    reader.shows(FORMULA)
    nothing_runs(reader)
    reader.unfold("Take away")
    rows = list(csv.reader(io.StringIO(reader.download("All rows (CSV)", tmp_path).read_text())))
    # What a spreadsheet would run begins with a sign and is no number.
    assert len(rows) == 361
    assert not [cell for row in rows for cell in row if re.match(r"[=+\-@]", cell) and not re.fullmatch(r"[+-]?[\d.e-]+", cell)]


def test_in_a_question_and_among_rows_names_are_text(reader, tmp_path):
    rows = [(f"r{i}", MARKUP, "0.7", "0.3") if i % 2 else (f"r{i}", MORE_MARKUP, "0.3", "0.7") for i in range(120)]
    header = ("id", "label", f"p_{MARKUP}", f"p_{MORE_MARKUP}")
    reader.upload(saved(tmp_path / "names.csv", csv_bytes([header, *rows])))
    reader.shows(MARKUP, within=reader.dialog)
    reader.shows(MORE_MARKUP, within=reader.dialog)
    nothing_runs(reader)
    reader.answer(MORE_MARKUP)
    with reader.rerun():
        reader.dialog.get_by_role("button", name="Read the file").click()
    reader.go("Bins and rows")
    reader.choose("Inspect a bin", re.compile("rows"))
    _, cells = reader.grid("The rows of the chosen bin")
    assert {r["Label"] for r in cells} <= {MARKUP, MORE_MARKUP}
    nothing_runs(reader)
