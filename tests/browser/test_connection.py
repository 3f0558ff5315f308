"""A lost connection, a new start of the server, haste, Back, files that change or go: right numbers or a sentence."""

from __future__ import annotations

import functools
import re

import pytest
from harness import Server, find_chromium
from made_files import binary_file, four, printed_json, saved
from menu import assert_sound

import calibcore as cc
from calibcore.io import read_bytes

pytestmark = pytest.mark.browser

# What Streamlit's page says in the console of a press that found the socket shut; it asks again once that is open.
UNSENT = "Cannot send rerun backMessage when disconnected from server"
GONE = "The session ended and the uploaded files are gone. Add them again; your settings are still in the address."


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return [saved(folder / "first.csv", binary_file(n=3_000)), saved(folder / "second.csv", binary_file(3))]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder of the server, with two files."""
    folder = tmp_path_factory.mktemp("runs")
    saved(folder / "kept.csv", binary_file(5))
    saved(folder / "other.csv", binary_file(6))
    return folder


@pytest.fixture(scope="module")
def own(command, runs, tmp_path_factory):
    """A server of this module, so that it can be stopped."""
    find_chromium()
    with Server([command, "dashboard", str(runs), "--port", "{port}"], tmp_path_factory.mktemp("own")) as running:
        yield running


@pytest.fixture
def tab(own, desktop):
    """Opens tabs on that server, all in one profile; at the end it printed nothing but its address."""
    from reader import Reader

    opened = []

    def another(path=""):
        opened.append(Reader(desktop, own.url))
        opened[-1].wire = Wire(opened[-1].page)
        opened[-1].open(path)
        return opened[-1]

    yield another
    for reader in opened:
        reader.close()
    assert len(own.log().splitlines()) == 1, own.log()


class Wire:
    """The socket between a page and the server, to be cut, and to lose what the page sends."""

    def __init__(self, page):
        self.deaf, self.sockets = False, []
        page.route_web_socket(re.compile("/_stcore/stream"), self._join)

    def _join(self, socket):
        server = socket.connect_to_server()
        socket.on_message(lambda message: None if self.deaf else server.send(message))
        self.sockets.append(socket)

    def cut(self):
        self.deaf = False
        self.sockets[-1].close()


@functools.cache
def ece_of(data, bins=15):
    """ECE as the page must show it."""
    return four(cc.analyze(read_bytes(data, "file.csv")[0], cc.Settings(n_bins=bins)).ece)


def agrees(reader, path):
    """Slider, address and number are of the same bins."""
    bins = int(reader.slider("Bins").input_value())
    assert reader.settings().get("bins", "15") == str(bins)
    assert reader.metric("ECE") == ece_of(path.read_bytes(), bins)
    return bins


def press_slider(reader, times=1):
    """Move the slider without waiting for the page."""
    reader.slider("Bins").focus()
    for _ in range(times):
        reader.page.keyboard.press("ArrowRight")


def click_menu(reader, title):
    """Change the page without waiting for it."""
    reader.page.get_by_test_id("stTopNavLink").filter(has_text=title).click()


# --- a lost connection ---


def problems(reader):
    """Without the one that a cut may cause."""
    return [p for p in reader.problems() if UNSENT not in p]


def test_a_connection_lost_in_the_middle_of_a_run(tab, command, files):
    reader = tab()
    reader.upload(*files)
    press_slider(reader)
    reader.page.locator('[data-testid="stApp"][data-test-script-state="running"]').wait_for()
    reader.page.wait_for_timeout(100)
    reader.wire.cut()
    reader.shows(ece_of(files[0].read_bytes(), 16))
    reader.settle()
    assert agrees(reader, files[0]) == 16
    assert len(reader.wire.sockets) == 2
    assert problems(reader) == []


def test_a_change_that_was_lost_with_the_connection_is_asked_for_again(tab, command, files):
    """Else the slider would stand at 16 over the numbers of 15 bins."""
    reader = tab()
    reader.upload(*files)
    reader.wire.deaf = True
    press_slider(reader)
    reader.page.wait_for_timeout(300)
    assert reader.metric("ECE") == ece_of(files[0].read_bytes())
    reader.wire.cut()
    reader.shows(ece_of(files[0].read_bytes(), 16))
    reader.settle()
    assert agrees(reader, files[0]) == 16
    reader.slide("Bins", 7)
    assert agrees(reader, files[0]) == 7
    assert problems(reader) == []


# --- haste ---


def test_after_many_hasty_changes_the_numbers_are_those_of_the_last(tab, command, files):
    reader = tab()
    reader.upload(*files)
    press_slider(reader, 12)
    click_menu(reader, "Fix")
    press_slider(reader, 5)
    for title in ("Compare", "Bins and rows", "Overview"):
        click_menu(reader, title)
        reader.page.wait_for_timeout(80)
    press_slider(reader, 3)
    reader.settle(grace=3_000)
    for title in ("Learn", "Overview"):  # a click during a run may be lost, so nobody knows on which page this ends
        reader.go(title)
    assert reader.slider("Bins").input_value() == "35"
    assert reader.metric("ECE") == ece_of(files[0].read_bytes(), 35)
    reader.go("Compare")
    shown = {row["Model"]: row["ECE (equal width)"] for row in reader.table("The models side by side")}
    assert shown == {m["name"]: four(m["ece"]) for m in printed_json(command, "measure", *files, "--bins", "35")["models"]}
    assert reader.problems() == []


def step_to(reader, step, path):
    """Go back or forward in the browser's history; the number of bins there, of which everything must be."""
    with reader.rerun():
        getattr(reader.page, step)()
    if reader.main.locator("h1").inner_text() != "Compare models":
        return agrees(reader, path)
    bins = int(reader.settings().get("bins", "15"))
    assert reader.slider("Bins").input_value() == str(bins)
    assert reader.table("The models side by side")[0]["ECE (equal width)"] == ece_of(path.read_bytes(), bins)
    return bins


def test_back_and_forward_show_the_numbers_of_their_address(tab, command, files):
    reader = tab()
    reader.upload(*files)
    reader.slide("Bins", 7)
    reader.go("Compare")
    reader.slide("Bins", 12)
    reader.go("Overview")
    assert agrees(reader, files[0]) == 12
    seen = [12]
    while seen[-1] != 15 and len(seen) < 9:  # a page may stand in the history more than once
        seen.append(step_to(reader, "go_back", files[0]))
    assert (7 in seen, seen[-1]) == (True, 15)
    assert step_to(reader, "go_forward", files[0]) == 7
    assert reader.problems() == []


# --- tabs and files ---


def test_of_two_like_files_one_is_removed(tab, command, files):
    """By ear the controls beside them can be told apart; what stays keeps its numbers."""
    reader = tab()
    reader.upload(files[1], files[1])
    sidebar = reader.page.get_by_test_id("stSidebar")
    for name in ("Change second.csv", "Change second.csv (2)"):
        assert sidebar.get_by_role("button", name=name, exact=True).count() == 1
    for name in ("second.csv: were", "second.csv 2: were"):
        assert sidebar.get_by_role("radiogroup", name=f"{name} these rows used to train or tune the model?").count() == 1
    reader.choose("Model", "second (2)")
    with reader.rerun():
        sidebar.get_by_role("button", name="Remove second.csv", exact=True).first.click()
    assert list(reader.options("Model")) == ["second"]
    agrees(reader, files[1])
    assert sidebar.get_by_role("button", name="Change", exact=True).count() == 1
    assert reader.problems() == []


def test_a_file_of_the_server_changes_and_goes_while_its_bin_is_inspected(tab, command, runs):
    reader = tab()
    box = reader.page.get_by_test_id("stMultiSelect").get_by_role("combobox")
    box.click()
    for name in ("other.csv", "kept.csv"):
        with reader.rerun():
            reader.page.get_by_role("option", name=name).click()
    reader.page.keyboard.press("Escape")
    reader.go("Compare")
    reader.choose("Baseline", "other")
    reader.go("Bins and rows")
    reader.choose("Inspect a bin", re.compile("^93.3–100%"))
    before = ece_of((runs / "other.csv").read_bytes())
    saved(runs / "other.csv", binary_file(16))
    after = ece_of((runs / "other.csv").read_bytes())
    assert before != after
    reader.shows(f"In the 15 equal-width bins shown it is {after}")  # noticed within five seconds
    reader.hides(before)
    (runs / "other.csv").unlink()
    reader.shows("other.csv is gone. Put it back, or take it off the list.", within=reader.page.get_by_test_id("stSidebar"))
    reader.settle()
    assert reader.main.locator("h1").inner_text() == "Bins and rows of kept"
    reader.go("Compare")
    assert [row["Model"] for row in reader.table("The models side by side")] == ["kept"]
    assert_sound(reader)
    assert reader.problems() == []


# --- the session ends ---


def test_a_server_that_starts_anew_says_that_the_files_are_gone(tab, own, command, files):
    """By itself, beside the samples that stand there now; the uploader lists nothing that is gone."""
    reader = tab()
    reader.upload(*files)
    reader.slide("Bins", 9)
    reader.choose("Model", "second")
    own.stop()
    reader.page.get_by_role("dialog").get_by_text("Connection error").wait_for()
    assert reader.slider("Bins").is_disabled()
    own.__enter__()
    reader.shows(GONE)
    reader.settle()
    assert reader.settings() == {"bins": "9"}
    assert reader.page.get_by_role("dialog").count() == 0
    for file in files:
        reader.hides(file.stem, within=reader.page.get_by_test_id("stSidebar"))
    reader.go("Compare")
    reader.shows(GONE)
    reader.upload(files[1])
    reader.hides(GONE)
    reader.go("Overview")
    assert list(reader.options("Model")) == ["second"]
    assert agrees(reader, files[1]) == 9
    assert_sound(reader)
