"""The wheel holds both packages, the samples, the app's settings and the licence, and nothing of the workshop."""

import configparser
import email.parser
import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Build the wheel once and return its files as {name: bytes}."""
    folder = tmp_path_factory.mktemp("wheel")
    backend_here = importlib.util.find_spec("hatchling") is not None
    isolation = ["--no-build-isolation"] if backend_here else []
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *isolation, "--wheel-dir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, cwd=folder)
    if done.returncode != 0 and not backend_here and os.environ.get("CI") != "true":
        pytest.skip("the build backend is neither installed nor to be had from a package index")
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("calibcore-*-py3-none-any.whl")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def information(wheel, name):
    """Return one file of the wheel's dist-info folder."""
    (found,) = [content for path, content in wheel.items() if path.endswith(f".dist-info/{name}")]
    return found


def files_under(folder):
    paths = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize("package", ["calibcore", "dashboard"])
def test_every_module_ships(wheel, package):
    modules = {path for path in files_under(package) if path.endswith(".py")}
    assert modules
    assert modules <= set(wheel)


@pytest.mark.parametrize("package", ["calibcore", "dashboard"])
def test_packages_are_marked_as_typed(wheel, package):
    assert f"{package}/py.typed" in wheel


@pytest.mark.parametrize("folder", ["assets", ".streamlit"])
def test_data_ships_inside_the_dashboard(wheel, folder):
    shipped = {path.removeprefix("dashboard/"): content for path, content in wheel.items() if path.startswith(f"dashboard/{folder}/")}
    assert shipped == files_under(folder)


def test_licence_ships(wheel):
    assert information(wheel, "licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()


def test_console_script(wheel):
    scripts = configparser.ConfigParser()
    scripts.read_string(information(wheel, "entry_points.txt").decode())
    assert dict(scripts["console_scripts"]) == {"calibcore": "calibcore.cli:main"}


def test_metadata(wheel):
    metadata = email.parser.Parser().parsestr(information(wheel, "METADATA").decode())
    always = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert [line.split(">=")[0] for line in always] == ["numpy", "scipy"]
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert {"dashboard", "test"} <= set(metadata.get_all("Provides-Extra"))


def test_nothing_else_ships(wheel):
    tops = {PurePosixPath(path).parts[0] for path in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"calibcore", "dashboard"}
    assert not [path for path in wheel if path.endswith((".pyc", ".ipynb", ".pkl"))]
