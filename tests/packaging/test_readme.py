"""The README's first analysis runs as printed."""

import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
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


def test_the_lines_on_files_larger_than_memory_run(tmp_path, monkeypatch):
    import calibcore as cc

    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores").mkdir()
    for name in ("a", "b"):
        pq.write_table(pa.table({"y": [0, 1, 1], "score": [0.2, 0.7, 0.9]}), tmp_path / "scores" / f"{name}.parquet")
    (code,) = [b for b in blocks("python") if "scores/*.parquet" in b]
    exec(compile(code, "README.md", "exec"), {"cc": cc})
    assert cc.Profile.read("model.profile.parquet").n == 6


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
