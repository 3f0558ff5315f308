"""The command line: exit codes, formats, what each option changes, and one sentence for every fault."""

import csv
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import calibcore as cc
from calibcore import cli

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "assets"

# Ten rows at 0.9, seven of them 1; ten at 0.2, three of them 1.  Positive view: gaps −1/5 and +1/10.  Top label: the
# confidences are 0.9 and 0.8, either right in seven of ten rows.
TWENTY = [(1, 0.9)] * 7 + [(0, 0.9)] * 3 + [(1, 0.2)] * 3 + [(0, 0.2)] * 7


def lines(header, rows):
    return "\n".join([header, *(",".join(map(str, r)) for r in rows)]) + "\n"


@pytest.fixture
def file(tmp_path):
    """Write a file and give its path."""

    def write(text, name="a.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


@pytest.fixture
def twenty(file):
    return file(lines("y_true,y_prob", TWENTY), "twenty.csv")


@pytest.fixture
def model(run):
    """The only model in the JSON of a measure."""

    def call(*argv):
        code, out, err = run("measure", *argv, "--format", "json")
        assert (code, err) == (0, "")
        document = json.loads(out)
        assert len(document["models"]) == 1
        return {**document["models"][0], "settings": document["settings"]}

    return call


def refused(result, *words):
    """Exit 2, nothing on stdout, one line without a traceback that holds the words."""
    code, out, err = result
    assert (code, out) == (2, ""), err
    assert len(err.splitlines()) == 1, err
    assert "Traceback" not in err
    assert all(w in err for w in words), err
    return True


# --- labels in a file of their own ----------------------------------------------------------------------------------------


def test_labels_of_another_file_are_joined_by_id_or_in_row_order(file, run, twenty):
    """The same rows in two files give the figures that they give in one."""
    ids = range(100, 120)
    predictions = file(lines("id,y_prob", zip(ids, (p for _, p in TWENTY), strict=True)), "p.csv")
    turned = list(zip(ids, (y for y, _ in TWENTY), strict=True))[::-1]
    labels = file(lines("id,y_true", turned), "y.csv")
    _, whole, _ = run("measure", twenty, "--format", "json")
    code, out, _ = run("measure", predictions, "--labels-file", labels, "--format", "json")
    (joined,), (alone,) = (json.loads(text)["models"] for text in (out, whole))
    assert code == 0
    assert [joined[k] for k in ("n", "ece", "accuracy", "brier")] == [alone[k] for k in ("n", "ece", "accuracy", "brier")]
    assert joined["source"]["labels_file"] == "y.csv"

    predictions = file("".join(f"{p}\n" for _, p in TWENTY), "p.txt")
    labels = file("".join(f"{y}\n" for y, _ in TWENTY), "y.txt")
    code, out, err = run("measure", predictions, "--labels-file", labels, "--format", "json")
    (question,) = json.loads(out)["questions"]
    assert (code, question["id"], question["options"], question["flag"]) == (3, "pair", ["row-order"], "--pair")
    assert "--pair row-order" in err
    code, out, _ = run("measure", predictions, "--labels-file", labels, "--pair", "row-order", "--format", "json")
    assert (code, json.loads(out)["models"][0]["ece"]) == (0, alone["ece"])


def test_one_file_of_labels_serves_every_file_of_predictions(file, run):
    ids = range(20)
    files = [file(lines("id,y_prob", zip(ids, p, strict=True)), f"{n}.csv") for n, p in (("a", [p for _, p in TWENTY]), ("b", [0.5] * 20))]
    labels = file(lines("id,y_true", zip(ids, (y for y, _ in TWENTY), strict=True)), "y.csv")
    code, out, _ = run("compare", *files, "--labels-file", labels, "--format", "json")
    assert (code, [m["name"] for m in json.loads(out)["models"]]) == (0, ["a", "b"])
    assert refused(run("measure", files[0]), "a.csv", "no column of labels", "--labels-file")


# --- formats ------------------------------------------------------------------------------------------------------------


def test_json_is_the_analysis(run, twenty):
    code, out, err = run("measure", twenty, "--bins", "10", "--format", "json")
    assert (code, err) == (0, "")
    analysis = cc.analyze(cc.read(twenty)[0], cc.Settings(n_bins=10)).to_dict()
    settings = analysis.pop("settings")
    expected = {"schema": 1, "version": cc.__version__, "settings": settings, "models": [analysis], "comparison": None, "multilabel": None}
    assert json.loads(out) == json.loads(json.dumps(expected))
    assert json.loads(out)["models"][0]["ece"] == pytest.approx(0.15)  # (1/2)·(1/5) + (1/2)·(1/10)


def test_json_holds_no_infinite_number(model, file):
    # A certain model that is wrong: its variance is 0, so statistics that divide by it are undefined, hence null.
    certain = model(file(lines("y_true,y_prob", [(1, 0), (0, 1), (1, 0)])))
    assert (certain["accuracy"], certain["ece"], certain["log_loss"]["clipped"]) == (0, 1, 3)
    assert model(file(lines("y_true,y_prob", [(1, 0.5)])))["gap"] == {"value": -0.5, "low": None, "high": None}


def test_csv_holds_every_scalar_at_full_precision(run, twenty):
    code, out, _ = run("measure", twenty, "--view", "positive", "--bins", "10", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    a = cc.analyze(cc.read(twenty)[0], cc.Settings(n_bins=10, view="positive"))
    assert code == 0
    assert (row["model"], row["file"], row["task"], row["view"]) == ("twenty", "twenty.csv", "binary", "positive")
    assert (row["n"], row["bins"], row["strategy"], row["closed"], row["edges"]) == ("20", "10", "equal_width", "right", "")
    for column, value in {"ece": a.ece, "gap_low": a.gap.low, "brier": a.brier, "chance_p95": a.chance.p95, "level": 0.95}.items():
        assert float(row[column]) == value
    # Brier: (7·0.1² + 3·0.9² + 3·0.8² + 7·0.2²)/20 = 4.7/20
    assert float(row["brier"]) == pytest.approx(0.235)


def test_markdown_is_a_table_with_the_verdict(run, twenty):
    code, out, _ = run("measure", twenty, "--bins", "10", "--format", "md")
    table = [[c.strip() for c in line.strip("|\n").split("|")] for line in out.splitlines() if line.startswith("|")]
    assert code == 0
    assert table[1] == ["---"] * len(table[0])
    row = dict(zip(table[0], table[2], strict=True))
    assert (row["Model"], row["Rows"], row["Accuracy"], row["Mean confidence"], row["ECE (equal width)"]) == (
        "twenty",
        "20",
        "70.0%",
        "85.0%",
        "0.15",
    )
    assert "Too few rows to judge (n = 20)." in out


def test_table_is_plain_text_where_it_is_piped(run, twenty):
    code, out, err = run("measure", twenty, "--bins", "10")
    head, row, *rest = out.splitlines()
    assert (code, err) == (0, "")
    assert head.split()[:3] == ["Model", "Rows", "Accuracy"]
    assert row.split()[:4] == ["twenty", "20", "70.0%", "85.0%"]
    assert "0.20 (80–90%, only 10 rows)" in row  # MCE: the gap at 0.9
    assert "\x1b" not in out
    assert not set("│─━┃┏") & set(out)
    assert any(line.startswith("twenty: Too few rows to judge") for line in rest)
    assert "  Read from twenty.csv: label = y_true, probabilities = y_prob, positive = 1." in rest


def test_models_of_several_files_with_one_name_are_told_apart(run, file, tmp_path):
    (tmp_path / "b").mkdir()
    paths = [file(lines("y_true,y_prob", TWENTY), name) for name in ("m.csv", "b/m.csv")]
    code, out, _ = run("measure", *paths, "--format", "json")
    assert code == 0
    assert [m["name"] for m in json.loads(out)["models"]] == ["m", "m (2)"]


def test_names_from_a_file_are_never_markup_or_commands(run, file):
    rows = [(f'"{name}"', y, p) for name in ("\x1b[31mred|*x*", "=1+1") for y, p in TWENTY]
    path = file(lines("model,y_true,y_prob", rows))
    _, table, _ = run("measure", path)
    _, marked, _ = run("measure", path, "--format", "md")
    _, cells, _ = run("measure", path, "--format", "csv")
    assert "\x1b" not in table + marked
    assert "\\x1b[31mred|*x*" in table
    assert "\\|\\*x\\*" in marked
    assert [r["model"] for r in csv.DictReader(io.StringIO(cells))] == ["\x1b[31mred|*x*", "'=1+1"]


# --- compare ------------------------------------------------------------------------------------------------------------


def test_compare_is_the_comparison(run):
    paths = [ASSETS / "swift-v2.csv", ASSETS / "steady-v1.csv"]
    code, out, err = run("compare", *paths, "--baseline", "steady-v1", "--format", "json")
    assert (code, err) == (0, "")
    expected = cc.compare([p for path in paths for p in cc.read(path)], baseline="steady-v1").to_dict()
    found = json.loads(out)
    assert found == json.loads(json.dumps(expected))
    assert [m["name"] for m in found["models"]] == ["swift-v2", "steady-v1"]
    assert (found["comparison"]["baseline"], found["comparison"]["paired"], found["comparison"]["n_common"]) == ("steady-v1", True, 4000)


def test_compare_shows_the_baseline_first_and_the_differences(run):
    paths = [ASSETS / "swift-v2.csv", ASSETS / "steady-v1.csv"]
    code, out, _ = run("compare", *paths, "--baseline", "steady-v1")
    rows = out.splitlines()
    assert code == 0
    assert [row.split()[0] for row in rows[1:3]] == ["steady-v1", "swift-v2"]
    assert any(row.startswith("swift-v2  4,000 rows, paired by id") for row in rows)
    _, table, _ = run("compare", *paths, "--format", "csv")
    first, second = csv.DictReader(io.StringIO(table))
    assert (first["baseline"], first["log_loss_difference"]) == ("swift-v2", "")
    assert (second["paired"], second["n_common"]) == ("true", "4000")
    assert float(second["ece_difference"]) == pytest.approx(float(second["ece"]) - float(first["ece"]))


def test_differences_of_models_that_share_some_rows_are_in_the_csv(run, file):
    # The rows with the ids 1 to 3 are in both files.  Squares of 1 − p: 0.01, 0.04, 0.16 and 0.04, 0.09, 0.16; mean difference 0.08/3.
    one = file("id,y_true,y_prob\n0,0,0.5\n1,1,0.9\n2,0,0.2\n3,1,0.6\n", "one.csv")
    two = file("id,y_true,y_prob\n1,1,0.8\n2,0,0.3\n3,1,0.6\n4,0,0.4\n5,1,0.6\n", "two.csv")
    code, out, err = run("compare", one, two, "--format", "csv")
    assert (code, err) == (0, "")
    first, second = csv.DictReader(io.StringIO(out))
    assert (first["n"], second["n"], second["paired"], second["n_common"]) == ("4", "5", "true", "3")
    assert float(second["brier_difference"]) == pytest.approx(0.08 / 3)
    # gaps of 1, 2 and 3: 0.1, 0.2, 0.4 and 0.2, 0.3, 0.4
    assert float(second["gap_difference"]) == pytest.approx(0.2 / 3)
    assert all(second[f"{name}_difference_{end}"] for name in ("log_loss", "brier", "gap") for end in ("low", "high"))


def test_compare_needs_two_models_that_can_be_read(run, twenty, file):
    assert refused(run("compare", twenty), "at least two models", "twenty.csv")
    assert refused(run("compare", twenty, ASSETS / "steady-v1.csv", "--baseline", "x"), "'x'", "twenty, steady-v1")
    assert refused(run("compare", twenty, ASSETS / "steady-v1.csv", file("", "empty.csv")), "empty.csv")


# --- options ------------------------------------------------------------------------------------------------------------

# Ten rows at 0.5, seven of them 1; ten at 0.3, one of them 1.
ON_THE_EDGE = lines("y_true,y_prob", [(1, 0.5)] * 7 + [(0, 0.5)] * 3 + [(1, 0.3)] + [(0, 0.3)] * 9)


def test_bins_and_view(model, twenty):
    assert model(twenty, "--bins", "2")["ece"] == pytest.approx(0.15)  # one bin in use: 0.85 − 0.7
    assert model(twenty, "--bins", "2")["mce"]["value"] == pytest.approx(0.15)
    assert model(twenty, "--bins", "2", "--view", "positive")["mce"]["value"] == pytest.approx(0.2)
    assert model(twenty, "--view", "class:0")["accuracy"] == 0.5
    assert model(twenty, "--view", "top_label")["view"] == model(twenty, "--view", "top-label")["view"] == "top_label"


def test_closed(model, file):
    path = file(ON_THE_EDGE)
    options = (path, "--bins", "2", "--view", "positive")
    assert model(*options)["ece"] == pytest.approx(0)  # all in (0, ½]: 8/20 right, 0.4 said
    assert model(*options, "--closed", "left")["ece"] == pytest.approx(0.2)  # |0.7 − 0.5| and |0.1 − 0.3|


def test_strategy_and_ties(model, twenty):
    options = (twenty, "--bins", "4", "--view", "positive", "--strategy", "equal-mass")
    assert model(*options)["bins_used"] == 2
    assert model(*options, "--ties", "share")["bins_used"] == 4
    assert model(*options)["settings"]["strategy"] == "equal_mass"


def test_edges(model, file):
    found = model(file(ON_THE_EDGE), "--view", "positive", "--edges", "0, 0.4,1")
    assert (found["settings"]["edges"], found["settings"]["strategy"]) == ([0.0, 0.4, 1.0], "custom")
    assert found["ece"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("options", "edges"),
    [
        # Two bins with two rows each: the first ends at the second smallest of 0.1, 0.2, 0.6, 0.7.
        (("--strategy", "equal-mass", "--bins", "2"), [0.0, 0.2, 1.0]),
        (("--bins", "4"), [0.0, 0.25, 0.5, 0.75, 1.0]),
    ],
)
def test_edges_from_freezes_those_of_another_file(model, file, twenty, options, edges):
    reference = file(lines("y_true,y_prob", [(0, 0.1), (1, 0.2), (0, 0.6), (1, 0.7)]), "reference.csv")
    found = model(twenty, "--edges-from", reference, *options, "--view", "positive", "--closed", "left")
    assert (found["settings"]["edges"], found["settings"]["strategy"], found["settings"]["closed"]) == (edges, "custom", "left")


def test_edges_from_an_unreadable_file_measures_nothing(run, twenty, file):
    assert refused(run("measure", twenty, "--edges-from", file("", "e.csv")), "e.csv")
    assert refused(run("measure", twenty, "--edges-from", twenty, "--strategy", "equal-mass", "--ties", "share"), "--ties share")


def test_level_and_seed(model, twenty):
    narrow, wide = (model(twenty, "--level", level)["gap"] for level in ("0.5", "0.99"))
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
    assert model(twenty, "--seed", "7")["settings"]["seed"] == 7


READING = [
    ("a,b,p", [(0, 1, 0.9), (1, 0, 0.2)] * 2, "--label a --prob p", lambda m: m["accuracy"], 0),
    ("a,b,p", [(0, 1, 0.9), (1, 0, 0.2)] * 2, "--label b --prob p", lambda m: m["accuracy"], 1),
    ("y_true,p,q", [(1, 0.9, 0.2), (0, 0.2, 0.9)] * 2, "--prob q", lambda m: m["accuracy"], 0),
    ("y,z,c", [("a", "a", 0.9), ("b", "a", 0.8)] * 2, "--label y --predicted z --confidence c", lambda m: m["accuracy"], 0.5),
    ("ok,c", [(1, 0.9), (1, 0.8)] * 2, "--correct ok --confidence c", lambda m: (m["task"], m["accuracy"]), ("top_label", 1)),
    ("y,p", [("u", 0.9), ("v", 0.2)] * 2, "--positive v", lambda m: (m["positive_class"], m["accuracy"]), ("v", 0)),
    ("y,p", [("u", 0.9), ("v", 0.2)] * 2, "--positive u", lambda m: (m["positive_class"], m["accuracy"]), ("u", 1)),
    ("y_true,y_prob,w", [(1, 0.9, 3), (0, 0.2, 2)] * 2, "--weight w", lambda m: m["weight_sum"], 10),
    (
        "y_true,y_prob,k,g",
        [(1, 0.9, "r", "s"), (0, 0.2, "t", "s")] * 2,
        "--group k,g",
        lambda m: m["source"]["roles"]["groups"],
        ["k", "g"],
    ),
    ("y_true,y_prob,k", [(1, 0.9, "r"), (0, 0.2, "t")], "--id k", lambda m: m["source"]["roles"]["id"], "k"),
    ("y_true,y_prob", [(1, 0.9), (0, 0.2)] * 2, "--scale percent --view positive", lambda m: m["mean_confidence"], 0.0055),
    ("y_true,y_prob", [(1, 0.9), (0, 0.2), (1, "")], "--missing drop", lambda m: (m["n"], m["n_excluded"]), (2, 1)),
    ("y_true,y_prob", [(1, 0.9), (0, 0.2), ("void", 0.3)], "--drop-label void", lambda m: (m["n"], m["n_excluded"]), (2, 1)),
    ("s,t,p", [(3, 1, 0.9), (0, 2, 0.2)], '--outcome "s > t" --prob p', lambda m: m["accuracy"], 1),
    ("y_true,p_0,p_1,p_2", [("a", 0.6, 0.3, 0.1), ("c", 0.2, 0.1, 0.7)], "--classes a,b,c", lambda m: m["classes"], ["a", "b", "c"]),
]


@pytest.mark.parametrize(("header", "rows", "options", "look", "expected"), READING, ids=[f"{r[2]} {r[0]}" for r in READING])
def test_reading_options(model, file, header, rows, options, look, expected):
    import shlex

    found = look(model(file(lines(header, rows)), *shlex.split(options)))
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)


def test_model_column_and_columns_are_models(run, file):
    long = file(lines("who,y_true,y_prob", [(w, y, p) for w in ("m1", "m2") for y, p in TWENTY]), "long.csv")
    wide = file(lines("y_true,first,second", [(y, p, 1 - p) for y, p in TWENTY]), "wide.csv")
    told = (wide, "--prob", "first,second", "--columns-are", "models")
    for argv, names in (((long, "--model-col", "who"), ["m1", "m2"]), (told, ["first", "second"])):
        code, out, err = run("measure", *argv, "--format", "json")
        assert (code, err) == (0, "")
        assert [m["name"] for m in json.loads(out)["models"]] == names


def test_a_name_that_holds_a_comma_stands_in_quotes(model, file):
    path = file('y_true,"p,q"\n1,0.9\n0,0.2\n')
    assert model(path, "--prob", '"p,q"')["source"]["roles"]["probabilities"] == {"1": "p,q"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--edges 0,x,1", ("'x'", "0,0.5,1")),
        ("--edges 0.1,1", ("from 0 to 1",)),
        ("--edges 0,0.9,0.8,1", ("0.8 comes after 0.9",)),
        ("--edges 0,nan,1", ("Edges",)),
        ("--edges 0,1 --bins 3", ("--edges",)),
        ("--edges 0,1 --edges-from none.csv", ("--edges-from",)),
        ("--edges-from none.csv", ("none.csv",)),
        ("--level 95", ("95",)),
        ("--level x", ("--level",)),
        ("--bins 0", ("bins", "0")),
        ("--bins 1.5", ("--bins",)),
        ("--seed -1", ("seed",)),
        ("--closed up", ("'right', 'left'",)),
        ("--strategy best", ("equal-mass",)),
        ("--view class:9", ("class:9", "twenty")),
        ("--label nope", ("nope", "twenty.csv", "y_prob")),
        ("--labels-file y.csv", ("There is no file", "y.csv")),
        ("--pair id", ("--labels-file",)),
        ("--outcome y_true", ("y_true",)),
        ("--unknown", ("--unknown",)),
        ("--format xml", ("xml",)),
    ],
)
def test_options_that_are_wrong_are_one_sentence(run, twenty, options, words):
    assert refused(run("measure", twenty, *options.split()), *words)


# --- faults and questions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ("empty",)),
        (b"y_true,y_prob\n", ("no data rows",)),
        (b"Dear reader,\n\nthis letter, as you see, is text.\nKind regards\n", ()),
        (pickle.dumps({"y_true": [1], "y_prob": [0.5]}), ("pickle", "never loaded")),
        (b"y_true,y_prob\n1,0.5\n0,1.2\n1,0.9\n", ("1.2", "Row 2", "y_prob")),
        (b"y_true,y_prob\n1,0.5\n0,NaN\n1,0.9\n", ("--missing drop", "row 2", "y_prob")),
        (b"y_true,p_a,p_b,p_c\na,0.5,0.2,0.3\nb,0.3,0.6,0.1\nd,0.1,0.7,0.2\n", ("'d'", "row 3")),
        (b"id,y_true\n1,0\n2,1\n", ("no probabilities", "--labels-file bad.csv")),
    ],
    ids=["empty", "header only", "letter", "pickle", "1.2", "NaN", "label without a column", "no probability"],
)
def test_bad_input_is_one_sentence_with_the_file(run, file, content, words):
    assert refused(run("measure", file(content, "bad.csv")), "bad.csv", *words)


def test_missing_files_and_folders(run, tmp_path):
    assert refused(run("measure", tmp_path / "none.csv"), "none.csv")
    assert refused(run("measure", tmp_path), str(tmp_path))
    assert refused(run("inspect", tmp_path / "none.csv"), "none.csv")
    assert refused(run("dashboard", tmp_path / "none.csv"), "none.csv")


@pytest.mark.parametrize("output", ["table", "json", "csv", "md"])
def test_a_bad_file_does_not_keep_the_others_from_being_measured(run, twenty, file, output):
    code, out, err = run("measure", file("", "empty.csv"), twenty, file("y_true,y_prob\n", "bare.csv"), "--format", output)
    assert code == 2
    assert "twenty" in out
    assert [line.split(":")[0] for line in err.splitlines()] == ["empty.csv", "bare.csv"]


DOUBTFUL = lines("diagnosis,probability", [("benign", 0.1), ("malignant", 0.8), ("benign", 0.4)])


def test_a_question_exits_3_and_names_the_options(run, file, twenty):
    path = file(DOUBTFUL)
    code, out, err = run("measure", path)
    assert (code, out, len(err.splitlines())) == (3, "", 1)
    assert "--positive malignant" in err
    assert "--positive benign" in err
    code, out, _ = run("measure", path, twenty)
    assert code == 3
    assert "twenty" in out
    assert run("measure", path, "--positive", "malignant")[0] == 0


def test_a_question_as_json(run, file):
    path = file(DOUBTFUL)
    for command in (("measure", path), ("compare", path, path)):
        code, out, _ = run(*command, "--format", "json")
        document = json.loads(out)
        assert (code, list(document)) == (3, ["questions"])
        question = document["questions"][0]
        assert (question["id"], question["flag"], sorted(question["options"])) == ("positive", "--positive", ["benign", "malignant"])
        assert question["text"]


def test_an_error_comes_before_a_question(run, file):
    code, out, err = run("measure", file(DOUBTFUL), file("", "empty.csv"), "--format", "json")
    assert (code, out, len(err.splitlines())) == (2, "", 2)


def test_inspect_tells_and_asks(run, file, twenty):
    code, out, err = run("inspect", twenty, file(DOUBTFUL))
    assert (code, err) == (0, "")
    assert "twenty.csv: CSV, 20 rows, 2 columns." in out
    assert "Read as: label = y_true, probability = y_prob, positive class = 1." in out
    assert "--positive malignant" in out
    code, out, _ = run("inspect", twenty, file(DOUBTFUL), "--format", "json")
    first, second = json.loads(out)["files"]
    assert (code, first["roles"]["label"], second["questions"][0]["id"]) == (0, "y_true", "positive")
    _, out, _ = run("inspect", file(DOUBTFUL), "--positive", "benign", "--format", "json")
    assert json.loads(out)["files"][0]["questions"] == []
    code, out, _ = run("inspect", file("0.25\n0.5\n", "p.txt"), "--labels-file", file("1\n0\n", "y.txt"), "--format", "json")
    (looked,) = json.loads(out)["files"]
    assert (code, looked["file"], looked["questions"][0]["id"]) == (0, "p.txt + y.txt", "pair")


# --- samples, dashboard, help -------------------------------------------------------------------------------------------


def test_sample(run, tmp_path):
    names = [p.stem for p in sorted(ASSETS.glob("*.csv"))]
    assert run("sample", "--list") == (0, "".join(f"{n}\n" for n in names), "")
    target = tmp_path / "s.csv"
    code, out, _ = run("sample", "steady-v1", "-o", target)
    assert (code, out) == (0, "")
    assert target.read_bytes() == (ASSETS / "steady-v1.csv").read_bytes()
    assert refused(run("sample", "foo", "-o", target), "foo", *names)
    assert refused(run("sample", "foo"), "no sample called 'foo'", *names)
    assert refused(run("sample"), "-o")
    assert refused(run("sample", "timid-v4"), "calibcore sample timid-v4 -o timid-v4.csv")
    assert refused(run("sample", "steady-v1", "-o", tmp_path), str(tmp_path))


def test_dashboard_hands_over_paths_port_and_host(run, monkeypatch, twenty):
    calls = []
    fake = type(sys)("dashboard.launch")
    fake.run = lambda paths, *, port, host: calls.append((paths, port, host))
    monkeypatch.setitem(sys.modules, "dashboard.launch", fake)
    assert run("dashboard")[0] == run("dashboard", twenty, "--port", "8600", "--host", "0.0.0.0")[0] == 0
    assert calls == [([], None, "127.0.0.1"), ([Path(twenty)], 8600, "0.0.0.0")]
    assert refused(run("dashboard", "--port", "99999"), "--port")


def test_help_and_version(run):
    assert run("--version") == (0, f"calibcore {cc.__version__}\n", "")
    for argv in ((), ("--help",), ("measure", "--help")):
        code, out, err = run(*argv)
        assert (code, err) == (0, "")
        assert "calibcore" in out
    assert refused(run("check", "a.csv"), "check")  # a later version's
    assert refused(run("measure"), "FILE")


def test_an_internal_fault_is_one_sentence(capsys, monkeypatch, twenty):
    def broken(*_):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(cli, "analyze", broken)
    monkeypatch.delenv("CALIBCORE_DEBUG", raising=False)
    assert refused((cli.main(["measure", twenty]), *capsys.readouterr()), "ZeroDivisionError", "report")
    monkeypatch.setenv("CALIBCORE_DEBUG", "1")
    assert cli.main(["measure", twenty]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_interrupted(run, monkeypatch, twenty):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "analyze", stopped)
    code, out, _ = run("measure", twenty)
    assert (code, out) == (130, "")


# --- as a process -------------------------------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "calibcore"]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_as_a_process(twenty, file):
    done = subprocess.run(
        [*COMMAND, "measure", twenty, file(DOUBTFUL)], capture_output=True, env={**ENV, "PYTHONIOENCODING": "ascii"}, check=False
    )
    assert done.returncode == 3
    assert "−" in done.stdout.decode("utf-8")
    assert "Traceback" not in done.stderr.decode("utf-8")


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")
def test_a_closed_pipe_is_silent(twenty):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, "measure", twenty], stdout=write, stderr=subprocess.PIPE, env=ENV, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")
def test_ctrl_c_exits_130(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)  # reading waits until somebody writes
    process = subprocess.Popen(
        [*COMMAND, "measure", str(pipe)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENV,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads; a suite in the background ignores it
    )
    with process, pipe.open("wb"):  # opens once the command reads
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.strip()) == (130, b"", b"")


# --- what is computed on request ----------------------------------------------------------------------------------------


@pytest.fixture
def visits(tmp_path):
    """240 rows with a site, a day, a patient and two labels."""
    rng = np.random.default_rng(1)
    p, q = rng.random(240).round(3), rng.random(240).round(3)
    lines = [
        f"{int(rng.random() < p[i])},{p[i]},{int(rng.random() < q[i])},{q[i]},{'ab'[i % 2]},2024-0{1 + i // 120}-15,{i // 3}"
        for i in range(240)
    ]
    path = tmp_path / "visits.csv"
    path.write_text("flu,prob_flu,cold,prob_cold,site,day,patient\n" + "\n".join(lines) + "\n")
    return str(path)


def test_groups_periods_and_the_like_are_in_the_json(run, visits):
    options = ("--label", "flu", "--prob", "prob_flu", "--group", "site", "--time", "day", "--cluster", "patient", "--reconcile")
    code, out, err = run("measure", visits, *options, "--threshold", "0.8", "--request", "t-cal", "--format", "json")
    assert (code, err) == (0, "")
    [found] = json.loads(out)["models"]
    assert set(found["on_request"]) == {"t_cal", "groups", "periods", "reconcile"}
    assert [g["n"] for g in found["on_request"]["groups"]["site"]["groups"]] == [120, 120]
    assert [p["name"] for p in found["on_request"]["periods"]["periods"]] == ["2024-01-15", "2024-02-15"]
    assert found["threshold"]["threshold"] == 0.8
    assert any("80 clusters" in note for note in found["notes"])


def test_a_csv_says_what_it_leaves_out(run, visits):
    known = ("measure", visits, "--label", "flu", "--prob", "prob_flu", "--format", "csv")
    code, out, err = run(*known, "--group", "site", "--threshold", "0.8")
    assert (code, len(out.splitlines())) == (0, 2)
    assert err == "The CSV holds the main figures, one row a model; for groups and threshold take --format json.\n"
    assert run(*known)[2] == ""


def test_labels_of_the_same_rows_are_judged_together(run, visits):
    code, out, err = run("measure", visits, "--columns-are", "labels", "--format", "json")
    assert (code, err) == (0, "")
    assert [x["name"] for x in json.loads(out)["multilabel"]["labels"]] == ["flu", "cold"]
    code, out, err = run("measure", visits, "--columns-are", "labels")
    assert (code, err) == (0, "")
    assert "2 labels looked at" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--request", "everything"), ("nothing called 'everything'", "remedies")),
        (("--threshold", "80"), ("threshold", "from 0 to 1")),
        (("--cost-error", "3"), ("needs a threshold",)),
        (("--threshold", "0.5", "--cost-error", "-1"), ("cost of error", "from 0 up")),
        (("--request", "periods"), ("time",)),
    ],
)
def test_requests_that_cannot_be_met(run, visits, options, words):
    assert refused(run("measure", visits, "--label", "flu", "--prob", "prob_flu", *options), *words)
