"""A profile file in a browser: the numbers of the rows that it was made of, on a phone, and what needs the rows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from made_files import binary_file, four, printed_json, saved
from menu import assert_sound
from test_looks import SCREENSHOTS, low_contrast

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("rows") / "scored.csv", binary_file())


@pytest.fixture(scope="module")
def profile(command, rows) -> Path:
    found = rows.with_name("scored.profile.parquet")
    subprocess.run([command, "reduce", rows, "-o", found, "--group", "region"], check=True, timeout=60)
    return found


def test_a_profile_has_the_numbers_of_its_rows_on_a_phone_in_the_dark(new_reader, command, rows, profile):
    reader = new_reader("?bins=31", phone=True, dark=True)
    reader.upload(profile)
    reader.shows("From a reduced profile: 700 rows in ")
    (model,) = printed_json(command, "measure", rows, "--bins", "31")["models"]
    reader.shows(model["verdict"])
    assert reader.metric("ECE") == four(model["ece"])
    assert reader.metric("MCE").startswith(four(model["mce"]["value"]))
    wrong = []
    for title in ("Overview", "Compare", "Groups and classes", "Fix"):  # its other pages are tested without a browser
        reader.go(title)
        if title == "Groups and classes":
            reader.choose("Group by", "region")
            reader.shows("south")
        elif title == "Fix":
            reader.shows("a profile holds no rows")
        assert_sound(reader)
        reader.screenshot(SCREENSHOTS / f"profile-{title.lower().replace(' ', '-')}.png")
        wrong += [f"{title}: {found}" for found in low_contrast(reader)]
    assert not wrong, "\n".join(wrong)


def test_a_profile_beside_the_file_of_its_rows(new_reader, rows, profile):
    reader = new_reader("compare")
    reader.upload(rows, profile)
    first, second = (row["ECE (equal width)"] for row in reader.table("The models side by side"))
    assert first == second
    assert_sound(reader)
