"""Every page as it looks: light, dark, on a phone of 360 pixels, at 200 %; by axe-core, by contrast and by width; and pictures of each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from made_files import binary_file, csv_bytes, saved, three_class_file, top_label_file
from menu import PAGES, assert_sound

pytestmark = pytest.mark.browser

SCREENSHOTS = Path(__file__).parent / "screenshots"
LOOKS = {"light": {}, "dark": {"dark": True}, "phone": {"phone": True}, "zoomed": {"zoomed": True}}


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_on_every_screen(new_reader, look):
    reader = new_reader(**LOOKS[look])
    wrong = []
    for address, title in PAGES.items():
        if look in ("phone", "zoomed"):  # there the menu lies in the sidebar, which covers the page
            reader.open(address)
        elif address:
            reader.go(title)
        assert_sound(reader)
        assert background(reader) == ((23, 22, 20) if look == "dark" else (255, 255, 255))
        if look != "zoomed":
            reader.screenshot(SCREENSHOTS / f"{address or 'overview'}-{look}.png")
        found = [*low_contrast(reader), *(reader.axe() if look in ("dark", "phone") else ())]  # twice tells no more
        wrong += [f"{title}: {f}" for f in found]
    assert not wrong, "\n".join(wrong)


def test_what_unfolds_is_sound_too(new_reader, tmp_path):
    """With files of three kinds, everything open that a page folds away, in the dark."""
    reader = new_reader(**LOOKS["dark"])
    made = {"scored.csv": binary_file(), "three.csv": three_class_file(), "triage.csv": top_label_file()}
    reader.upload(*(saved(tmp_path / name, data) for name, data in made.items()))
    wrong = []
    for title in PAGES.values():
        reader.go(title)
        if title == "Groups and classes":
            reader.choose("Model", "three")
        reader.unfold_all()
        assert_sound(reader)
        reader.screenshot(SCREENSHOTS / f"unfolded-{title.lower().replace(' ', '-')}.png")
        wrong += [f"{title}: {found}" for found in reader.axe()]
        if title == "Report":
            wrong += [f"the report itself: {found}" for found in reader.axe(within=reader.page.frames[-1])]
    assert not wrong, "\n".join(wrong)


def test_pages_of_several_uploads_fit_a_phone(new_reader, tmp_path):
    reader = new_reader(phone=True)
    files = [saved(tmp_path / f"a-rather-long-name-of-a-model-{i}.csv", binary_file(i)) for i in range(5)]
    reader.upload(*files, saved(tmp_path / "triage.csv", top_label_file()))
    for title in PAGES.values():
        reader.go(title)
        assert_sound(reader)
        if title in ("Overview", "Compare", "Fix"):
            reader.unfold_all()
            assert_sound(reader)


def test_the_dialog_passes_axe(new_reader, tmp_path):
    rows = [("benign" if i % 3 else "malignant", f"{0.2 + 0.6 * (i % 3 == 0):.1f}") for i in range(150)]
    reader = new_reader()
    reader.upload(saved(tmp_path / "lesions.csv", csv_bytes([("diagnosis", "probability"), *rows])))
    reader.dialog.wait_for()
    reader.answer("malignant")
    reader.unfold_all()
    assert reader.axe() == []


def background(reader):
    """Colour of the page, as three numbers."""
    text = reader.page.get_by_test_id("stApp").evaluate("e => getComputedStyle(e).backgroundColor")
    return tuple(int(n) for n in re.findall(r"\d+", text)[:3])


def luminance(colour):
    """Relative luminance of WCAG 2."""
    parts = [c / 255 for c in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def low_contrast(reader):
    """Texts of charts with less than 4.5 to 1 against the page."""
    texts = reader.page.locator(".js-plotly-plot text").evaluate_all(
        "all => all.filter(e => e.textContent.trim()).map(e => [e.textContent, getComputedStyle(e).fill])"
    )
    behind = luminance(background(reader)) + 0.05
    found = set()
    for text, fill in texts:
        front = luminance([float(n) for n in re.findall(r"[\d.]+", fill)[:3]]) + 0.05
        if max(front, behind) / min(front, behind) < 4.5:
            found.add(f"{text}: {fill}")
    return sorted(found)
