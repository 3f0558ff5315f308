"""A few seconds of coverage-guided fuzzing in every run of the suite; a fault that it finds is told with the bytes that make it.

``FUZZ_SECONDS=600 python -m pytest tests/fuzz`` searches for longer.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("atheris", reason="wheels of Atheris exist for Linux only")

FUZZER = Path(__file__).with_name("fuzz_io.py")
SECONDS = int(os.environ.get("FUZZ_SECONDS", "20"))
RUNS = () if "FUZZ_SECONDS" in os.environ else ("-runs=500",)  # the same ones on every machine that is fast enough
BOUNDS = ("-max_len=8192", "-timeout=20", "-rss_limit_mb=2000", "-seed=1", *RUNS)


def test_no_bytes_that_a_guided_search_finds_make_anything_but_a_reading_a_question_or_a_sentence(tmp_path):
    command = [sys.executable, str(FUZZER), str(tmp_path / "corpus"), f"-max_total_time={SECONDS}", *BOUNDS]
    same = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=same, timeout=SECONDS + 120, check=False)
    said = done.stderr.decode(errors="replace")
    faults = [f"{path.name}: {path.read_bytes()!r}" for path in tmp_path.iterdir() if path.is_file()]
    assert done.returncode == 0, f"{said[-4000:]}\n{faults}"
    assert not faults
    assert "Done" in said, said[-2000:]
