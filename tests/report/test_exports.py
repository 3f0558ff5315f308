"""Files that are taken away: full precision, nothing a spreadsheet would run, harmless names."""

import csv
import io

import numpy as np
import pytest

import calibcore as cc
from calibcore.report.exports import all_rows_csv, bins_csv, file_name, rows_csv
from calibcore.report.rows import rows_in
from calibcore.report.sizes import (
    large_sentence,
    many_classes_sentence,
    many_models_sentence,
    suggested_bins,
    too_large_sentence,
)
from calibcore.report.tables import record_table, spreadsheet_safe

EVIL = '=HYPERLINK("http://evil.example")'


def lines(text):
    return list(csv.DictReader(io.StringIO(text)))


def model(**options):
    p = np.array([0.05, 0.15, 0.15, 0.62, 0.81, 0.94, 0.35, 0.5])
    return cc.Predictions.from_arrays([0, 1, 0, 1, 1, 0, 0, 1], p, **options)


@pytest.mark.parametrize("text", [EVIL, "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", '"=1', "'=1", '" =1', "\u00a0=1", "＝1"])
def test_a_formula_gets_an_apostrophe(text):
    assert spreadsheet_safe(text).startswith("'")
    assert text in spreadsheet_safe(text).replace("'", "", 1) or spreadsheet_safe(text)[1] == text[0]


@pytest.mark.parametrize("text", ["-0.5", "+3", "-1e-5", "0.25", "12", " -2", "", "a", "a-b", "a=b", "x@y", "−0.6 to +1.6"])
def test_numbers_and_plain_text_stay(text):
    assert spreadsheet_safe(text) == text


def test_a_separator_of_another_country_begins_a_cell():
    assert spreadsheet_safe("a;=1+1") == "a;'=1+1"
    assert spreadsheet_safe("a\n@x") == "a\n'@x"
    assert spreadsheet_safe("a;-1") == "a;-1"


def test_every_csv_is_neutral_and_numbers_stay_numbers():
    groups = {"=cmd": np.array(["=1+1", "-0.5", "+a", " @b", "c", "d", "e", "f"])}
    p = model(name=EVIL, ids=[f"-x{i}" for i in range(8)], groups=groups)
    a = cc.analyze(p, cc.Settings(n_bins=2))
    texts = [bins_csv([a]), all_rows_csv(p, a.settings), rows_csv(rows_in(p, a.settings, 0.5, 1.0))]
    record = record_table([a])
    cells = [c for text in texts for row in csv.reader(io.StringIO(text)) for c in row] + [c for row in record.rows for c in row]
    running = [c for c in cells if c.lstrip(" \t\r\n\"'")[:1] in ("=", "+", "-", "@") and not c.startswith("'")]
    assert all(isinstance(float(c), float) for c in running)
    assert "'=cmd" in cells
    assert "'=1+1" in cells
    assert "-0.5" in cells
    assert any(c.startswith("-0.") for c in cells)  # a negative gap


def test_all_rows_have_the_bin_that_the_bins_count():
    p = model(ids=list("abcdefgh"))
    settings = cc.Settings(n_bins=5, view="positive")
    found = lines(all_rows_csv(p, settings))
    assert [r["Row"] for r in found] == [str(i) for i in range(1, 9)]
    # upper edges at 0.2, 0.4, 0.6, 0.8, 1: 0.05, 0.15, 0.15 | 0.35 | 0.5 | 0.62 | 0.81, 0.94
    assert [r["Bin"] for r in found] == ["0", "0", "0", "3", "4", "4", "1", "2"]
    assert cc.analyze(p, settings).bins.count.tolist() == [3, 1, 1, 1, 2]
    assert float(found[3]["Probability of 1"]) == 0.62


def test_shared_ties_have_no_bin_of_their_own():
    found = lines(all_rows_csv(model(), cc.Settings(n_bins=3, strategy="equal_mass", ties="share")))
    assert len(found) == 8
    assert "Bin" not in found[0]


def test_a_group_column_called_bin_keeps_its_name():
    found = lines(all_rows_csv(model(groups={"Bin": np.array(list("stuvwxyz"))}), cc.Settings()))
    assert [r["Bin"] for r in found] == list("stuvwxyz")
    assert "Bin of the diagram" in found[0]


def test_file_names_are_harmless():
    assert file_name("a/../b", "bins", ending=".csv") == "a_.._b-bins.csv"
    assert "/" not in file_name("<x>\n/\\", ending=".svg")


@pytest.mark.parametrize(
    ("n", "bins"), [(1, 5), (125, 5), (126, 6), (1000, 10), (1001, 11), (4000, 16), (117649, 49), (117650, 50), (10**7, 50)]
)
def test_suggested_bins_are_the_cube_root_rounded_up(n, bins):
    assert suggested_bins(n) == bins


def test_limits_have_sentences():
    mb = 2**20
    assert large_sentence("a.csv", 200 * mb) is None
    assert "a.csv is 201 MB" in large_sentence("a.csv", 200 * mb + 1)
    assert too_large_sentence("a.csv", 1000 * mb, 1000) is None
    said = too_large_sentence("big.csv", 1412 * mb, 1000)
    assert said.startswith("big.csv is 1,412 MB; the limit is 1,000 MB.")
    assert "calibcore dashboard PATH" in said
    assert many_models_sentence(8) is None
    assert many_models_sentence(9) == "9 models are loaded; at most 8 are compared at once."
    assert many_classes_sentence("a.csv", ["x"] * 1000) is None
    assert "a.csv has 1,001 classes; the page shows at most 1,000." in many_classes_sentence("a.csv", ["x"] * 1001)
