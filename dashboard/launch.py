"""Start the dashboard's server in this process."""

from __future__ import annotations

import json
import os
import socket
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calibcore.errors import InputError
from dashboard.assets import config_file

__all__ = ["OPENED", "options", "run"]

OPENED = "CALIBCORE_OPENED"  # environment variable: JSON list of the files and folders that every session starts with
_DEFAULT_PORT = 8501
_TRIED = 50


def run(paths: list[Path], port: int | None, host: str = "127.0.0.1") -> int:
    """Serve the dashboard until it is stopped.

    Parameters
    ----------
    paths : list of Path
        Files that every session starts with, in place of the samples, and folders whose files are offered; read where they are.
    port : int, optional
        By default the first free one from 8501.
    host : str
        Address to listen on; anything but a loopback address lets other machines in.

    Returns
    -------
    int
        Exit code.

    Raises
    ------
    InputError
        If a path is neither a file nor a folder, or the port is taken.
    """
    for path in paths:
        if not (path.is_file() or path.is_dir()):
            raise InputError(f"There is no file or folder {path}.", value=str(path))
    chosen = _free_port(host) if port is None else _checked_port(host, port)
    os.environ[OPENED] = json.dumps([str(p.resolve()) for p in paths])
    app_file = Path(__file__).with_name("app.py")
    sys.argv = [str(app_file)]  # Streamlit looks for settings beside the started script
    print(f"The dashboard runs at http://{_shown(host)}:{chosen} (stop it with Ctrl-C).", flush=True)  # noqa: T201 - the one line a user needs

    import streamlit as st

    from dashboard.problems import report

    try:
        st.App(app_file, on_script_error=report).run(config=options(chosen, host))
    except KeyboardInterrupt:
        return 0
    return 0


def options(port: int, host: str) -> dict[str, Any]:
    """Streamlit's options: those of the settings file, then address, port and whether a browser can open."""
    found = dict(_flat(tomllib.loads(config_file().read_text(encoding="utf-8"))))
    found |= {"server.address": host, "server.port": port, "browser.serverAddress": _shown(host), "server.fileWatcherType": "none"}
    found["global.disableWidgetStateDuplicationWarning"] = True  # Reset sets what also has a default; that is meant
    found["runner.magicEnabled"] = False  # a bare expression in a page is no output
    found["logger.hideWelcomeMessage"] = True  # one line says where the page is; Streamlit would say it again
    if not _has_display() and "STREAMLIT_SERVER_HEADLESS" not in os.environ:
        found["server.headless"] = True
    return found


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Nested tables as dotted names."""
    pairs: list[tuple[str, Any]] = []
    for key, value in tree.items():
        name = f"{prefix}{key}"
        pairs += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, value)]
    return pairs


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _shown(host: str) -> str:
    return "127.0.0.1" if host in ("0.0.0.0", "::", "") else host  # noqa: S104 - compared, not bound


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _free_port(host: str) -> int:
    for port in range(_DEFAULT_PORT, _DEFAULT_PORT + _TRIED):
        if _is_free(host, port):
            return port
    raise InputError(f"No port from {_DEFAULT_PORT} to {_DEFAULT_PORT + _TRIED - 1} is free at {host}. Name one with --port.")


def _checked_port(host: str, port: int) -> int:
    if not 1 <= port <= 65535:
        raise InputError(f"A port is a number from 1 to 65535, not {port}.", value=port)
    if not _is_free(host, port):
        raise InputError(f"Port {port} at {host} cannot be used; another program may have it. Choose another with --port.", value=port)
    return port
