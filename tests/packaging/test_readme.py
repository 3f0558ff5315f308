"""The README's first analysis runs as printed."""

import re
import shlex
from pathlib import Path

import pytest

from calibcore.cli import main

README = Path(__file__).parents[2] / "README.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_lines_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "swift-v2", "-o", "swift.csv"]) == 0
    (code,) = [b for b in blocks("python") if "import calibcore" in b]
    exec(compile(code, "README.md", "exec"), {})
    assert "points too sure" in capsys.readouterr().out


def test_the_shell_lines_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (lines,) = [b for b in blocks("sh") if "calibcore sample" in b]
    commands = [shlex.split(line, comments=True)[1:] for line in lines.splitlines() if line.startswith("calibcore")]
    assert len(commands) == 13
    for command in commands:
        assert main(command) == 0, command


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8")))
def test_links_lead_somewhere(link):
    assert (README.parent / link).exists()
