"""What else must hold at the page: settings that stay and come from the address, a closed dialog, broken files."""

from __future__ import annotations

import subprocess

import pytest
from made_files import binary_file, csv_bytes, four, printed_json, saved

from dashboard.page_words import on_page

pytestmark = pytest.mark.browser


def ece_of(command, path, *options):
    """ECE as the page must show it."""
    return four(printed_json(command, "measure", path, *options)["models"][0]["ece"])


def test_settings_survive_a_page_switch_and_a_reload(reader, command, tmp_path):
    reader.upload(saved(tmp_path / "a.csv", binary_file()))
    reader.slide("Bins", 7)
    reader.pick("Strategy", "Equal mass")
    reader.pick("View", "Positive class")
    wanted = {"bins": "7", "strategy": "Equal mass", "view": "Positive class"}
    ece = ece_of(command, tmp_path / "a.csv", "--bins", "7", "--strategy", "equal-mass", "--view", "positive")
    for title in ("Bins and rows", "Overview"):
        reader.go(title)
        assert reader.settings() == wanted
    reader.shows(ece)
    reader.page.reload()
    reader.settle()
    assert reader.settings() == wanted
    assert reader.slider("Bins").input_value() == "7"
    # A reload is a new session: the files are gone, which is said, and the samples are back.
    reader.shows("Sample data")
    reader.shows("Add them again")
    reader.open("compare?bins=500&strategy=Equal+mass&level=oops")  # of an address that is not sound, what is sound
    assert reader.slider("Bins").input_value() == "15"
    assert reader.settings() == {"strategy": "Equal mass"}
    reader.shows("Compare models")


def test_names_and_edges_stay_out_of_the_address(reader, tmp_path):
    reader.upload(saved(tmp_path / "secret-name.csv", binary_file()), saved(tmp_path / "other-name.csv", binary_file(3)))
    reader.pick("Strategy", "Custom")
    reader.go("Compare")
    reader.go("Bins and rows")
    reader.choose("Model", "other-name")
    assert reader.query() == {"strategy": "Custom", "files": "uploaded"}


AMBIGUOUS = csv_bytes(
    [("diagnosis", "probability"), *(("benign" if i % 3 else "malignant", f"{0.2 + 0.6 * (i % 3 == 0):.1f}") for i in range(150))]
)


def test_a_closed_dialog_can_be_opened_again(reader, tmp_path):
    reader.upload(saved(tmp_path / "lesions.csv", AMBIGUOUS), saved(tmp_path / "fine.csv", binary_file()))
    dialog = reader.page.get_by_role("dialog")
    dialog.wait_for()
    reader.page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    reader.settle(grace=500)
    reader.slide("Bins", 16)
    assert not dialog.is_visible()
    reader.shows("fine ")
    reader.page.get_by_test_id("stSidebar").get_by_role("button", name="Answer").click()
    dialog.wait_for()


BROKEN = {
    "empty.csv": (b"", "empty"),
    "header.csv": (b"label,probability\n", "no data rows"),
    "README.txt": (b"# Read me\n\nThis tells, in words, what it does.\nNothing else is here.\n", "plain text"),
    "model.csv": (b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s.", "pickle"),
    "above.csv": (b"label,probability\n1,0.8\n0,1.2\n1,0.4\n", "Row 2"),
    "gap.csv": (b"label,probability\n1,0.8\n0,NaN\n1,0.4\n", "row 2"),
    "fox.csv": (b"label,p_cat,p_dog,p_owl\ncat,0.8,0.1,0.1\nfox,0.3,0.6,0.1\nowl,0.1,0.1,0.8\n", "fox"),
}


def test_each_broken_file_gets_its_sentence_and_the_others_stay(reader, command, tmp_path):
    paths = [saved(tmp_path / name, data) for name, (data, _) in BROKEN.items()]
    said = subprocess.run([command, "measure", *map(str, paths)], capture_output=True, text=True, check=False, timeout=60)
    assert said.returncode == 2
    sentences = said.stderr.strip().splitlines()
    assert len(sentences) == len(paths)
    reader.upload(*paths, saved(tmp_path / "good.csv", binary_file()))
    sidebar = reader.page.get_by_test_id("stSidebar")
    reader.shows("good.csv", within=sidebar)
    alerts = sidebar.get_by_role("alert").all_inner_texts()
    assert len(alerts) == len(BROKEN)
    for alert, (name, (_, word)), sentence in zip(alerts, BROKEN.items(), sentences, strict=True):
        assert name in alert
        assert word in alert
        assert plain(on_page(sentence)).endswith(plain(alert).removeprefix(f"{name}: "))
        assert "Traceback" not in alert
    reader.shows(printed_json(command, "measure", tmp_path / "good.csv")["models"][0]["verdict"])


def plain(sentence):
    """Without differences of white space."""
    return " ".join(sentence.split())
