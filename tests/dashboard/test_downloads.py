"""What a download button gives while the page is being made anew."""

import threading

import pytest

from dashboard import downloads
from dashboard.downloads import Downloads


@pytest.fixture
def buttons(monkeypatch):
    """The content of the buttons that were drawn, by label."""
    drawn = {}
    monkeypatch.setattr(downloads.st, "download_button", lambda label, data, *_, **__: drawn.setdefault(label, []).append(data))
    monkeypatch.setattr(downloads, "_ON_ITS_WAY", 0.0)
    return drawn


def test_a_button_waits_for_the_run_and_gives_what_it_made(buttons):
    of, given = Downloads(), []
    with of.run():
        of.button("Report", lambda: "before", "a.html", "text/html")
    clicked = threading.Thread(target=lambda: given.append(buttons["Report"][0]()))
    with of.run():
        clicked.start()
        clicked.join(0.1)
        assert given == []
        of.button("Report", lambda: "after", "a.html", "text/html")
    clicked.join(10)
    assert given == ["after"]


def test_a_button_that_is_gone_or_another_file_gives_what_it_was_drawn_with(buttons):
    of = Downloads()
    with of.run():
        of.button("Report", lambda: "of a", "a.html", "text/html")
    with of.run():
        of.button("Report", lambda: "of b", "b.html", "text/html")
    assert [data() for data in buttons["Report"]] == ["of a", "of b"]


def test_a_run_that_ends_in_an_error_has_ended(buttons):
    of = Downloads()

    def page():
        with of.run():
            of.button("Report", lambda: "page", "a.html", "text/html")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        page()
    assert buttons["Report"][0]() == "page"
