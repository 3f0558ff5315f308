"""Every page as it looks: light, dark, on a phone of 360 pixels, at 200 %; by axe-core, by contrast and by width; and pictures of each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from made_files import binary_file, saved, three_class_file, top_label_file
from menu import PAGES, assert_sound

pytestmark = pytest.mark.browser

SCREENSHOTS = Path(__file__).parent / "screenshots"
ZOOMED = {"width": 640, "height": 400}  # 1280 × 800 at 200 %


def faults(reader):
    """What axe finds, and texts of charts that are hard to read."""
    return [*reader.axe(), *low_contrast(reader)]


def test_the_samples_in_the_dark_and_at_200_percent(new_reader):
    reader = new_reader(dark=True)
    wrong = []
    for address, title in PAGES.items():
        if address:
            reader.go(title)
        assert_sound(reader)
        assert background(reader) == (23, 22, 20)
        reader.screenshot(SCREENSHOTS / f"{address or 'overview'}-dark.png")
        wrong += [f"{title}: {found}" for found in faults(reader)]
    reader.page.set_viewport_size(ZOOMED)
    for address in ("", "compare", "bins", "groups"):  # the widest; the menu lies in the sidebar now, which covers the page
        reader.open(address)
        assert_sound(reader)
    assert not wrong, "\n".join(wrong)


def test_what_unfolds_is_sound_too(new_reader, tmp_path):
    """With files of three kinds, everything open that a page folds away, on a light desktop."""
    reader = new_reader()
    made = {"scored.csv": binary_file(), "three.csv": three_class_file(), "triage.csv": top_label_file()}
    reader.upload(*(saved(tmp_path / name, data) for name, data in made.items()))
    wrong = []
    for title in PAGES.values():
        reader.go(title)
        if title == "Groups and classes":
            reader.choose("Model", "three")
        reader.unfold_all()
        assert_sound(reader)
        assert background(reader) == (255, 255, 255)
        reader.screenshot(SCREENSHOTS / f"unfolded-{title.lower().replace(' ', '-')}.png")
        wrong += [f"{title}: {found}" for found in faults(reader)]
        if title == "Report":
            wrong += [f"the report itself: {found}" for found in reader.axe(within=reader.page.frames[-1])]
    assert not wrong, "\n".join(wrong)


def test_pages_of_several_uploads_fit_a_phone(new_reader, tmp_path):
    reader = new_reader(phone=True)
    files = [saved(tmp_path / f"a-rather-long-name-of-a-model-{i}.csv", binary_file(i)) for i in range(3)]
    reader.upload(*files, saved(tmp_path / "triage.csv", top_label_file()))
    wrong = []
    for title in PAGES.values():
        reader.go(title)
        if title in ("Overview", "Compare", "Fix"):
            reader.unfold_all()
        assert_sound(reader)
        reader.screenshot(SCREENSHOTS / f"phone-{title.lower().replace(' ', '-')}.png")
        wrong += [f"{title}: {found}" for found in faults(reader)]
    assert not wrong, "\n".join(wrong)


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
