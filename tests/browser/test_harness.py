"""The harness itself: it must see what it is there to see, and never skip in CI."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from harness import Chromium, Server, find_chromium, find_command

pytestmark = pytest.mark.browser

# Everything that the other tests must not find: one console error, a script error, an outside request of the page and of the server.
BAD_PAGE = """
import socket
import streamlit as st

st.title("Bad")
st.markdown("![](http://192.0.2.1/picture.png)")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.connect(("192.0.2.1", 9))  # reserved for documentation; a datagram socket sends nothing when it connects
"""


@pytest.mark.parametrize("find", [find_chromium, find_command])
@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_nothing_found_fails_in_ci_and_skips_elsewhere(monkeypatch, tmp_path, find, ci, outcome):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.delenv("CALIBCORE_CHROMIUM", raising=False)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome):
        find()


def test_a_chosen_browser_that_does_not_exist_is_not_replaced(monkeypatch):
    monkeypatch.setenv("CALIBCORE_CHROMIUM", "/nowhere/chromium")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="CALIBCORE_CHROMIUM"):
        find_chromium()


def test_a_bad_page_is_caught(chromium: Chromium, tmp_path: Path):
    from reader import Reader, new_context

    app = tmp_path / "bad.py"
    app.write_text(BAD_PAGE)
    command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.port={port}", "--server.address=127.0.0.1"]
    with Server([*command, "--browser.gatherUsageStats=false", "--server.fileWatcherType=none"], tmp_path) as server:
        reader = Reader(new_context(chromium.browser), server.url)
        reader.open()
        reader.page.evaluate("console.error('loud'); setTimeout(() => { throw new Error('thrown') })")
        reader.page.wait_for_timeout(500)
        found = "\n".join(reader.problems())
        reader.page.context.close()
    assert "request to outside: http://192.0.2.1/picture.png" in found
    assert "console error: loud" in found
    assert "page error: thrown" in found
    assert [line.split(" from ")[0] for line in server.outside()] == ["socket.connect 192.0.2.1"]
    assert not server.healthy()
