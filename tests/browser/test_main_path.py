"""The main job in a real browser: upload two files, read both ECEs, change the bins, look behind a bin, download."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from pathlib import Path

import pytest
from made_files import binary_file, four, printed_json, top_label_file

pytestmark = pytest.mark.browser

MODELS = "The models side by side"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    made = {"scored.csv": binary_file(), "triage.csv": top_label_file()}
    for name, data in made.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in made]


@pytest.fixture
def with_files(visitor, server):
    """The visitor, with no setting of an earlier test; at the end nothing may have gone wrong."""
    problems, printed = len(visitor.problems()), len(server.log())
    yield visitor
    assert visitor.problems()[problems:] == []
    assert server.outside() == []
    assert server.log()[printed:] == ""
    with visitor.rerun():
        visitor.page.get_by_role("button", name="Reset settings").click()


def check_scores(reader, command, files, *options, strategy="equal-width"):
    """The table of models says what the command line says."""
    shown = {row["Model"]: row for row in reader.table(MODELS)}
    by_strategy = {s: printed_json(command, "measure", *files, "--strategy", s, *options)["models"] for s in ("equal-width", "equal-mass")}
    assert list(shown) == [m["name"] for m in by_strategy[strategy]]
    for width, mass, model in zip(*by_strategy.values(), by_strategy[strategy], strict=True):
        row = shown[model["name"]]
        assert row["ECE (equal width)"] == four(width["ece"])
        assert row["ECE (equal mass)"] == four(mass["ece"])
        assert row["MCE (bin, rows)"].split(" (")[0] == four(model["mce"]["value"])
        assert f"{model['mce']['count']} rows" in row["MCE (bin, rows)"]
        assert row["Brier (scale)"].split(" (")[0] == four(model["brier"]["value"])
        assert row["Log loss"] == four(model["log_loss"]["value"])
        assert row["Rows"] == str(model["n"])
    return {name: row["ECE (equal width)"] for name, row in shown.items()}


def test_the_first_visit_shows_the_verdict_of_a_sample(reader, command, tmp_path):
    sample = tmp_path / "steady-v1.csv"
    subprocess.run([command, "sample", "steady-v1", "-o", str(sample)], check=True, timeout=60)
    model = printed_json(command, "measure", sample)["models"][0]
    reader.shows("Sample data")
    reader.shows(model["verdict"])
    reader.shows(four(model["ece"]))
    reader.shows(four(model["mce"]["value"]))
    reader.charts(3)


def test_overview_of_an_upload(with_files, command, files):
    reader = with_files
    reader.go("Overview")
    for file, model in zip(files, printed_json(command, "measure", *files)["models"], strict=True):
        reader.choose("Model", file.stem)
        reader.shows(model["verdict"])
        for number in (model["ece"], model["mce"]["value"], model["chance"]["median"], model["chance"]["p95"]):
            reader.shows(four(number))
    reader.hides("Sample data")


def test_both_models_at_other_bins_and_strategies(with_files, command, files):
    reader = with_files
    reader.go("Compare")
    at_15 = check_scores(reader, command, files)
    reader.slide("Bins", 10)
    at_10 = check_scores(reader, command, files, "--bins", "10")
    assert all(at_10[name] != at_15[name] for name in at_15)
    reader.pick("Strategy", "Equal mass")
    check_scores(reader, command, files, "--bins", "10", strategy="equal-mass")
    assert reader.settings() == {"bins": "10", "strategy": "Equal mass"}


def check_rows(reader, bin_, n):
    """The rows that are shown are those of the bin, the most confident errors first."""
    count, rows = reader.grid("The rows of the chosen bin")
    assert count == n
    confidences = [float(r["Confidence"]) for r in rows]
    assert all(bin_["lower"] < c <= bin_["upper"] for c in confidences)
    order = [(r["Correct"] != "no", -c) for r, c in zip(rows, confidences, strict=True)]
    assert order == sorted(order)


def test_a_click_on_a_bin_shows_its_rows(with_files, command, files):
    reader = with_files
    model = printed_json(command, "measure", files[0])["models"][0]
    widest = model["bins"][model["mce"]["bin"]]
    reader.go("Bins and rows")
    reader.choose("Model", "scored")
    gaps = reader.chart("Gaps of scored")
    heights = [b.bounding_box()["height"] for b in gaps.locator(".barlayer .point").all()]
    reader.click_mark(gaps, ".barlayer .point", heights.index(max(heights)))
    reader.shows(re.compile(rf"{widest['count']} rows, says {100 * widest['confidence']:.0f}%, right {100 * widest['accuracy']:.0f}%"))
    check_rows(reader, widest, widest["count"])


def test_a_click_on_a_point_of_the_diagram_leads_to_its_rows(with_files, command, files):
    reader = with_files
    reader.go("Overview")
    reader.choose("Model", "scored")
    filled = [b for b in printed_json(command, "measure", files[0])["models"][0]["bins"] if b["count"]]
    diagram = reader.chart("Reliability diagram of scored")
    points = diagram.locator(".scatterlayer .points path")
    assert points.count() == len(filled)
    from_left = sorted(range(len(filled)), key=lambda i: points.nth(i).bounding_box()["x"])
    reader.click_mark(diagram, ".scatterlayer .points path", from_left[2])
    with reader.rerun():
        reader.page.get_by_role("link", name="See the rows of this bin").click()
    check_rows(reader, filled[2], filled[2]["count"])


def test_a_bin_chosen_in_the_list_shows_its_rows(with_files, command, files):
    reader = with_files
    reader.go("Bins and rows")
    reader.choose("Model", "triage")
    fullest = max(printed_json(command, "measure", files[1])["models"][0]["bins"], key=lambda b: b["count"])
    reader.choose("Inspect a bin", re.compile(rf": {fullest['count']} rows, says {100 * fullest['confidence']:.0f}%"))
    check_rows(reader, fullest, fullest["count"])


def test_downloads_of_one_model_and_of_a_bin(with_files, command, files, tmp_path):
    reader = with_files
    reader.go("Bins and rows")
    reader.choose("Model", "scored")
    document = printed_json(command, "measure", files[0])
    reader.unfold("Take away")
    assert json.loads(reader.download("All results (JSON)", tmp_path).read_text()) == document
    last = document["models"][0]["bins"][-1]
    reader.choose("Inspect a bin", re.compile(rf": {last['count']} rows"))
    rows = list(csv.DictReader(io.StringIO(reader.download("Download these rows (CSV)", tmp_path).read_text())))
    assert len(rows) == last["count"]
    assert sum(r["Correct"] == "yes" for r in rows) == round(last["accuracy"] * last["count"])
    given = {r["id"]: r["probability"] for r in csv.DictReader(io.StringIO(files[0].read_text()))}
    # P(0) is 1 − P(1); four digits in the file.
    assert all(abs(float(r["Confidence"]) - max(float(given[r["Id"]]), 1 - float(given[r["Id"]]))) < 1e-9 for r in rows)
