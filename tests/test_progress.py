"""The bar of long reading: on a terminal, from the moment on when it takes long, and gone afterwards; names told apart."""

from __future__ import annotations

import io
import sys

import pytest

from calibcore import progress
from calibcore.cli import main
from calibcore.io import big_text
from calibcore.names import told_apart


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def big(tmp_path, monkeypatch):
    """A file that counts as big."""
    monkeypatch.setattr(big_text, "_BIG", 0)
    rows = [f"{int(i % 10 < i % 7)},0.{i % 97 + 1:02d}" for i in range(3000)]
    path = tmp_path / "big.csv"
    path.write_text("\n".join(["label,probability", *rows]) + "\n")
    monkeypatch.setattr("calibcore.io.containers._PREFIX", 2000)
    monkeypatch.setattr(progress, "_OFTEN", 0)
    return path


def shown_by(arguments, monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    assert main(arguments) == 0
    return stream.getvalue()


def test_a_long_reading_shows_a_bar_on_a_terminal(big, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_SOON", -1)
    text = shown_by(["measure", str(big)], monkeypatch, Terminal())
    assert "Reading" in text
    assert "%" in text
    assert "Reading" not in capsys.readouterr().out


def test_a_short_reading_shows_none(big, monkeypatch):
    monkeypatch.setattr(progress, "_SOON", 3600)
    assert "Reading" not in shown_by(["measure", str(big)], monkeypatch, Terminal())


def test_no_bar_elsewhere(big, monkeypatch):
    monkeypatch.setattr(progress, "_SOON", -1)
    assert "Reading" not in shown_by(["measure", str(big)], monkeypatch, io.StringIO())


@pytest.mark.parametrize(
    ("names", "apart"),
    [
        ([], []),
        (["a", "b"], ["a", "b"]),
        (["a", "a", "a"], ["a", "a (2)", "a (3)"]),
        (["a", "a", "a (2)"], ["a", "a (3)", "a (2)"]),
        (["a (2)", "a", "a"], ["a (2)", "a", "a (3)"]),
        (["a (2)", "a (2)", "a"], ["a (2)", "a (2) (2)", "a"]),
    ],
)
def test_names_are_told_apart(names, apart):
    assert told_apart(names) == apart
