"""`import calibcore` stays light, and the command without its extra says in one sentence what to install."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import calibcore as cc

HEAVY = ("pandas", "pyarrow", "plotly", "streamlit", "matplotlib", "click", "rich", "scipy.stats")
EXTRA = ("pandas", "pyarrow", "plotly", "matplotlib", "streamlit", "click", "rich")

# Python refuses to import a module whose entry is None: the machine looks as if the extra were not installed.
HIDE = f"import sys; sys.modules.update(dict.fromkeys({EXTRA!r})); "


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=False, stdin=subprocess.DEVNULL
    )


@pytest.fixture(scope="module")
def loaded():
    done = run("import calibcore, json, sys; print(json.dumps(sorted(sys.modules)))")
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("name", HEAVY)
def test_import_calibcore_does_not_load(loaded, name):
    assert name not in loaded


def test_statistics_need_numpy_and_scipy_only():
    # Four rows at 0.75, three of them 1: the one bin in use has accuracy 3/4 and no gap.
    done = run(HIDE + "import calibcore as cc; print(cc.expected_calibration_error([1, 1, 1, 0], [0.75] * 4))")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "0.0", "")


def test_command_without_the_extra_says_what_to_install():
    done = run(HIDE + "sys.argv = ['calibcore', 'measure', 'a.csv']; from calibcore.cli import main; sys.exit(main())")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "[dashboard]" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_reading_without_the_extra_says_what_to_install():
    calls = ["read('a.csv')", "inspect('a.csv')", "read(b'label,p\\n1,0.5\\n')", "inspect(b'label,p\\n1,0.5\\n')"]
    tries = [f"try:\n    cc.{call}\nexcept cc.InputError as error:\n    print(error)" for call in calls]
    ask = "\n".join(["import calibcore as cc", *tries])
    done = run(f"exec({HIDE + ask!r})")
    assert (done.returncode, done.stderr) == (0, "")
    told = done.stdout.strip().splitlines()
    assert len(told) == len(calls)
    for line in told:
        assert "pyarrow" in line
        assert 'pip install "calibcore[dashboard]"' in line


def test_every_public_name_is_loaded_from_the_module_that_type_checkers_are_told():
    tree = ast.parse(Path(cc.__file__).read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    told = {a.name: node.module for node in checked.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert sorted([*told, "__version__"]) == sorted(cc.__all__)
    for name, module in told.items():
        assert getattr(cc, name) is getattr(sys.modules[module], name)


def test_public_names_are_listed_and_others_are_refused():
    done = run("import calibcore as cc; print(set(cc.__all__) <= set(dir(cc))); cc.measures.scores; cc.redraw; cc.nothing")
    assert done.stdout.strip() == "True"
    assert "module 'calibcore' has no attribute 'nothing'" in done.stderr
