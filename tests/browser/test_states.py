"""What else must hold at the page: settings that stay, questions, broken files, markup in names, two readers, keyboard, small screens."""

from __future__ import annotations

import re
import subprocess

import pytest
from made_files import binary_file, csv_bytes, four, printed_json, saved
from menu import PAGES, assert_sound

from dashboard.page_words import on_page

pytestmark = pytest.mark.browser

MODELS = "The models side by side"


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


def test_settings_come_from_the_address_and_bad_ones_are_dropped(new_reader):
    reader = new_reader("?bins=500&strategy=Equal+mass&level=oops")
    assert reader.slider("Bins").input_value() == "15"
    assert reader.settings() == {"strategy": "Equal mass"}
    reader = new_reader("compare?bins=12")
    assert reader.slider("Bins").input_value() == "12"
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


def test_an_ambiguous_file_asks_and_the_answer_gives_its_model(reader, command, tmp_path):
    path = saved(tmp_path / "lesions.csv", AMBIGUOUS)
    asked = subprocess.run([command, "measure", str(path)], capture_output=True, text=True, check=False, timeout=60)
    assert asked.returncode == 3
    reader.upload(path)
    dialog = reader.page.get_by_role("dialog")
    dialog.wait_for()
    reader.shows("lesions.csv", within=dialog)
    reader.shows("Which one does the probability", within=dialog)
    answer_first_question(reader, "malignant")
    reader.shows(re.compile("lesions "))
    reader.shows(printed_json(command, "measure", path, "--positive", "malignant")["models"][0]["verdict"])
    reader.shows("positive class = malignant", within=reader.page.get_by_test_id("stSidebar"))
    assert not dialog.is_visible()


def answer_first_question(reader, option):
    """Choose in the dialog and have the file read."""
    reader.answer(option)
    with reader.rerun():
        reader.dialog.get_by_role("button", name="Read the file").click()


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


def test_broken_files_alone_leave_a_page_that_says_so(reader, tmp_path):
    reader.upload(saved(tmp_path / "empty.csv", b""))
    for title in PAGES.values():
        reader.go(title)
        if title != "Learn":
            reader.shows("No file could be read")
        assert_sound(reader)


def test_the_same_file_twice_is_two_models_without_a_difference(reader, tmp_path):
    file = saved(tmp_path / "twin.csv", binary_file())
    reader.upload(file, file)
    reader.go("Compare")
    first, second = reader.table(MODELS)
    assert (first.pop("Model"), second.pop("Model")) == ("twin", "twin (2)")
    assert first == second
    reader.shows("twin (2)")
    reader.pick("Layout", "Small multiples")
    reader.charts(2)
    assert_sound(reader)
    for title in ("Overview", "Bins and rows"):
        reader.go(title)
        reader.choose("Model", "twin (2)")
        assert_sound(reader)


def test_a_replaced_file_of_the_same_name_and_size_gives_new_numbers(reader, command, tmp_path):
    old = binary_file(n=120)
    row = next(line for line in old.split(b"\n") if b",1,0.8" in line)
    new = old.replace(row, re.sub(rb",1,0\.8\d+", b",1,0.1234", row))
    assert len(old) == len(new)
    path = saved(tmp_path / "run.csv", old)
    old_ece = ece_of(command, path)
    reader.upload(path)
    for bins in (16, 17, 15):
        reader.slide("Bins", bins)
    reader.shows(old_ece)
    reader.remove_upload("run.csv")
    reader.shows("Sample data")
    (tmp_path / "new").mkdir()
    new_ece = ece_of(command, saved(tmp_path / "new" / "run.csv", new))
    assert new_ece != old_ece
    reader.upload(tmp_path / "new" / "run.csv")
    reader.shows(new_ece)
    reader.hides(old_ece)
