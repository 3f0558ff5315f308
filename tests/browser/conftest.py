"""The server and the readers of the browser tests; without a browser they skip, with CI=true they fail."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from harness import Chromium, Server, find_chromium, find_command, missing

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext
    from reader import Reader


@pytest.fixture(scope="session")
def command() -> str:
    """Path of the installed `calibcore` command."""
    return find_command()


@pytest.fixture(scope="session")
def server(command: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The dashboard, started as a user starts it."""
    find_chromium()  # no browser, no server
    with Server([command, "dashboard", "--port", "{port}"], tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    """A browser. Not for the whole session: its event loop would be in the way of other tests'."""
    if importlib.util.find_spec("playwright") is None:
        missing("Playwright is not installed")
    with Chromium(find_chromium()) as running:
        yield running


@pytest.fixture(scope="module")
def desktop(chromium: Chromium) -> Iterator[BrowserContext]:
    """A profile for readers one after the other: Streamlit's own files are fetched once."""
    from reader import new_context

    context = new_context(chromium.browser)
    yield context
    context.close()


@pytest.fixture
def sound(server: Server) -> Iterator[list[Reader]]:
    """A list of readers; at the end none of them, nor the server, may have had a problem."""
    readers: list[Reader] = []
    printed = len(server.log())
    yield readers
    problems = [p for r in readers for p in r.problems()]
    for r in readers:
        r.close()
    assert problems == []
    assert server.outside() == []
    assert server.log()[printed:] == ""  # neither a traceback nor the id of an internal error nor a warning


@pytest.fixture
def new_reader(server: Server, chromium: Chromium, sound: list[Reader]) -> Iterator[Callable[..., Reader]]:
    """Makes readers who share nothing, not even a browser's profile."""
    from reader import Reader, new_context

    contexts: list[BrowserContext] = []

    def make(path: str = "", **screen: bool) -> Reader:
        contexts.append(new_context(chromium.browser, **screen))
        sound.append(Reader(contexts[-1], server.url))
        sound[-1].open(path)
        return sound[-1]

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def reader(server: Server, desktop: BrowserContext, sound: list[Reader]) -> Reader:
    """One reader on a desktop, at the first page."""
    from reader import Reader

    sound.append(Reader(desktop, server.url))
    sound[-1].open()
    return sound[-1]


@pytest.fixture(scope="module")
def visitor(server: Server, desktop: BrowserContext, files: list[Path]) -> Iterator[Reader]:
    """A reader who has added the files of a module and stays for all of its tests."""
    from reader import Reader

    one = Reader(desktop, server.url)
    one.open()
    one.upload(*files)
    yield one
    one.close()
