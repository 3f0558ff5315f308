"""How the server is started: address, port, settings."""

import socket
import tomllib
from pathlib import Path

import pytest

import calibcore as cc
from dashboard import launch
from dashboard.assets import config_file


def test_only_loopback_and_the_settings_file():
    found = launch.options(8600, "127.0.0.1")
    file = tomllib.loads(config_file().read_text())
    assert found["server.address"] == "127.0.0.1"
    assert found["server.port"] == 8600
    assert found["browser.gatherUsageStats"] is False
    assert found["theme.dark.backgroundColor"] == file["theme"]["dark"]["backgroundColor"]
    assert len(found["theme.chartCategoricalColors"]) >= 10


def test_headless_without_a_display(monkeypatch):
    monkeypatch.setattr(launch.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "STREAMLIT_SERVER_HEADLESS"):
        monkeypatch.delenv(name, raising=False)
    assert launch.options(8600, "127.0.0.1")["server.headless"] is True
    monkeypatch.setenv("DISPLAY", ":0")
    assert "server.headless" not in launch.options(8600, "127.0.0.1")


def test_a_file_that_is_not_there():
    with pytest.raises(cc.InputError, match="There is no file"):
        launch.run([Path("/nowhere/a.csv")], None)


@pytest.mark.parametrize("port", [0, 70_000, -1])
def test_a_port_that_is_none(port):
    with pytest.raises(cc.InputError, match="A port is a number from 1 to 65535"):
        launch.run([], port)


def test_a_taken_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(cc.InputError, match="cannot be used"):
            launch.run([], taken.getsockname()[1])
