"""Starts what a browser test needs: the dashboard's server from the installed command, and Chromium cut off from the world."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

import pytest

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--no-sandbox",  # the sandbox needs user namespaces, which containers seldom have
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    # Only loopback resolves: a request to anywhere else fails at once, and is recorded.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)

# Python imports `sitecustomize` at its start, so this sees every connection of the server and of its children.
_WATCH_CONNECTIONS = """
import os, sys, traceback

_HOME = {"127.0.0.1", "localhost", "::1", "0.0.0.0", "::", "", None}

def _watch(event, arguments):
    if event == "socket.connect":
        host = arguments[1][0] if isinstance(arguments[1], tuple) else None
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in _HOME:
        caller = traceback.extract_stack()[-2]
        with open(os.environ["OUTSIDE_CONNECTIONS"], "a") as log:
            log.write(f"{event} {host} from {caller.filename}:{caller.lineno}\\n")

sys.addaudithook(_watch)
"""


def missing(what: str) -> NoReturn:
    """Skip the test on a developer's machine; where CI=true fail, since a skipped browser test would go unseen."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"{what}; with CI=true that is a failure")
    pytest.skip(what)


def find_chromium() -> str:
    """Path of the browser: CALIBCORE_CHROMIUM, else the first of the usual names on PATH."""
    chosen = os.environ.get("CALIBCORE_CHROMIUM")
    for name in (chosen,) if chosen else _BROWSERS:
        if found := shutil.which(name):
            return found
    missing("no Chromium found (set CALIBCORE_CHROMIUM to its path)")


def find_command() -> str:
    """Path of the installed `calibcore` command: beside this Python, else on PATH."""
    beside = shutil.which("calibcore", path=str(Path(sys.executable).parent))
    if found := beside or shutil.which("calibcore"):
        return found
    missing("the calibcore command is not installed")


def free_port() -> int:
    """A port of the loopback interface that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A web server in its own process group, stopped on leaving the `with` block.

    Parameters
    ----------
    command : sequence of str
        With ``{port}`` where the port goes.
    folder : Path
        For its home, its logs and the watch on its connections; must exist.
    environment : mapping, optional
        Added to the environment of this process.
    watched : bool
        Whether connections are recorded.
    """

    def __init__(self, command: Sequence[str], folder: Path, *, environment: Mapping[str, str] | None = None, watched: bool = True) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.folder = folder
        self._command = [part.format(port=port) for part in command]
        self._log, self._outside = folder / "server.log", folder / "outside.log"
        hook = folder / "hook"
        hook.mkdir()
        if watched:
            (hook / "sitecustomize.py").write_text(_WATCH_CONNECTIONS)
        self._environment = {
            **os.environ,
            "HOME": str(folder),  # nobody's own Streamlit settings
            "PYTHONPATH": str(hook),
            "PYTHONUNBUFFERED": "1",
            "OUTSIDE_CONNECTIONS": str(self._outside),
            "STREAMLIT_SERVER_HEADLESS": "true",
            **(environment or {}),
        }

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait(90)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise RuntimeError(f"{self._command} ended with exit code {self._process.returncode}:\n{self.log()}")
            if self.healthy():
                return
            time.sleep(0.05)
        raise TimeoutError(f"{self._command} was not ready after {seconds} s:\n{self.log()}")

    def healthy(self) -> bool:
        """Whether the server answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                return bool(answer.read() == b"ok")
        except (urllib.error.URLError, OSError):
            return False

    def stop(self) -> None:
        """End the process group that this object started, and no other."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                os.killpg(self._process.pid, sign)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                continue
            return

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def log(self) -> str:
        """What the server printed."""
        return self._log.read_text(errors="replace")

    def outside(self) -> list[str]:
        """Connections and name look-ups that left this machine, one line each."""
        return self._outside.read_text().splitlines() if self._outside.exists() else []


class Chromium:
    """A headless Chromium that can reach nothing but loopback."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> Self:
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        try:
            self.browser = self._playwright.chromium.launch(executable_path=self._path, args=list(_FLAGS))
        except BaseException:
            self._playwright.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.browser.close()
        self._playwright.stop()
