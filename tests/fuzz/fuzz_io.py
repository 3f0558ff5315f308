"""Coverage-guided fuzzing of files with Atheris: whatever the bytes, the outcome is a reading, a question or a sentence.

Run by ``test_fuzz_io.py`` for a bounded time; by hand, for as long as wanted, from the project's folder:
``python tests/fuzz/fuzz_io.py FOLDER -max_total_time=600 -rss_limit_mb=2000`` (FOLDER keeps what was found between runs).
``python tests/fuzz/fuzz_io.py crash-…`` runs one file that failed.
"""

import sys
import warnings
from pathlib import Path

import atheris

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

import calibcore.rowless  # noqa: E402, F401  # what the readers call is as it is: Atheris would look into all of calibcore

with atheris.instrument_imports(include=["calibcore.io"], enable_loader_override=False):
    from calibcore.io import workbooks

import fuzzing  # noqa: E402  # after calibcore.io, which would else be imported as it is

from calibcore.errors import InputError  # noqa: E402

MOST = 1 << 16  # bytes of an example file that is worth mutating


def _not_here(data):
    raise InputError(f"{len(data):,} bytes would go to the reader of workbooks, a process of its own. Leave it out.")


def one_input(data):
    """One run; whatever is raised is a fault."""
    fuzzing.check_file(data)


def write_seeds(folder):
    """The corpus to begin with: a small valid file of each kind, and the suite's example files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in (fuzzing.seeds() | fuzzing.workbooks()).items():
        (folder / name.replace(" ", "_")).write_bytes(data)
    for path in sorted((TESTS / "data").glob("*/*")):
        if path.is_file() and path.stat().st_size <= MOST and ".expect." not in path.name:
            (folder / path.name).write_bytes(path.read_bytes())


def main():
    warnings.simplefilter("error")
    workbooks._read = _not_here  # a process for every run would leave time for nothing else
    folders = [Path(a) for a in sys.argv[1:] if not a.startswith("-") and not Path(a).is_file()]
    for folder in folders[:1]:
        write_seeds(folder)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
