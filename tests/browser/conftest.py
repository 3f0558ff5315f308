"""The server and the readers of the browser tests; without a browser they skip, with CI=true they fail."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from harness import Chromium, Server, find_chromium, find_command, missing

if TYPE_CHECKING:
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


@pytest.fixture
def new_reader(server: Server, chromium: Chromium) -> Iterator[Callable[..., Reader]]:
    """Makes readers, each with its own session; at the end none of them, nor the server, may have had a problem."""
    from reader import Reader

    readers: list[Reader] = []

    def make(path: str = "", **options: Any) -> Reader:
        readers.append(Reader(chromium.browser, server.url, **options))
        readers[-1].open(path)
        return readers[-1]

    seen = len(server.log())
    yield make
    problems = [p for r in readers for p in r.problems()]
    for r in readers:
        r.close()
    assert problems == []
    assert server.outside() == []
    assert server.log()[seen:] == ""  # neither a traceback nor the id of an internal error nor a warning


@pytest.fixture
def reader(new_reader: Callable[..., Reader]) -> Reader:
    """One reader on a desktop, at the first page."""
    return new_reader()
