"""Every command on profile files: the same numbers as on the rows, and one sentence where rows are needed."""

import csv
import io
import json
import re

import numpy as np
import pytest
from made_profiles import KINDS, MARKUP, binary, bytes_of, file_of, profiles_of, several

import calibcore as cc
from calibcore.held import NO_ROWS
from calibcore.report import sizes
from calibcore.report.learn import LIMITS

ROWS = 3000


@pytest.fixture
def profile(tmp_path):
    """Write the profile file of a kind and give its path."""

    def write(kind="binary with groups", name="m.profile.parquet"):
        path = tmp_path / name
        path.write_bytes(file_of(kind) if isinstance(kind, str) else kind)
        return path

    return write


@pytest.fixture
def table(tmp_path):
    """The rows of the binary model as a CSV file."""
    model = binary()
    lines = [f"{y},{p!r},{s}" for y, p, s in zip(model.label, model.probabilities[:, 1].tolist(), model.groups["site"], strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["truth,score,site", *lines]))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_measured(run, profile, kind):
    path = profile(kind)
    code, out, _ = run("measure", path, "--format", "md", "--strategy", "equal-mass", "--threshold", "0.9")
    assert code == 0
    assert "Not available without the rows" in out
    assert re.search(r"ECE \(equal mass\)", out)
    code, out, _ = run("measure", path, "--format", "json")
    (model,) = json.loads(out)["models"]
    assert (model["precision"] is None) == ("exact" in kind)
    assert model["source"]["file"] == "m.profile.parquet"


@pytest.mark.parametrize("kind", ["binary with groups", "confidence only"])
def test_the_table_and_the_csv(run, profile, kind):
    path = profile(kind)
    code, out, _ = run("measure", path)
    assert code == 0
    assert "Not available without the rows" in out
    code, out, _ = run("measure", path, "--format", "csv")
    assert len(list(csv.reader(io.StringIO(out)))) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_inspected_and_checked(run, profile, kind):
    path = profile(kind)
    code, out, err = run("inspect", path)
    assert (code, err) == (0, "")
    assert out.startswith("m.profile.parquet: calibcore profile, ")
    code, out, _ = run("inspect", path, "--format", "json")
    (layout,) = json.loads(out)["files"]
    assert (layout["format"], layout["questions"], layout["columns"]) == ("calibcore profile", [], [])
    code, out, _ = run("check", path, "--max-ece", "0.001", "--max-gap", "0.9", "--max-mce", "1")
    assert (code, [", holds" in line for line in out.splitlines()]) == (1, [False, True, True])


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("binary with groups", "html"),
        ("thirty classes, top label only", "html"),
        ("one class only", "html"),
        ("names with markup", "html"),
        ("one class only", "pdf"),
        ("names with markup", "pdf"),
    ],
)
def test_a_report_of_it(run, profile, tmp_path, kind, ending):
    target = tmp_path / f"r.{ending}"
    code, _, err = run("report", profile(kind), "--remedies", "-o", target)
    assert (code, err) == (0, f"Wrote {target}.\n")
    if ending == "html":
        page = target.read_text()
        assert "Not tested whether it helps: that needs the rows, and this report was made from a profile." in page or "too few" in page
        assert page.count("Known from a reduced profile, without the rows") == 1
        assert "From a reduced profile:" not in page
        assert "<script>alert" not in page


def test_the_numbers_are_those_of_the_rows(run, profile, table):
    path = profile()
    for options in ([], ["--view", "positive", "--bins", "100"], ["--edges", "0,0.25,0.9,1"], ["--closed", "left"]):
        mine, its = (
            json.loads(run("measure", *files, "--format", "json", *options)[1])["models"][0]
            for files in ([path], [table, "--label", "truth", "--prob", "score"])
        )
        for key in ("n", "accuracy", "mean_confidence", "ece", "rmsce"):
            assert mine[key] == pytest.approx(its[key], abs=1e-12), key
        for key in ("mce", "brier", "log_loss", "squared_error_debiased"):
            assert mine[key]["value"] == pytest.approx(its[key]["value"], abs=1e-12), key
        assert [b["count"] for b in mine["bins"]] == [b["count"] for b in its["bins"]]
        assert mine["precision"]["ece"] == {"kind": "exact", "within": 0.0}
        assert its["precision"] is None


def test_page_table_and_json_carry_the_same_bound(run, profile):
    path = profile()
    (model,) = json.loads(run("measure", path, "--strategy", "equal-mass", "--format", "json")[1])["models"]
    within = model["precision"]["ece"]["within"]
    told = f"± {np.ceil(1e4 * within) / 1e4:.4f}"
    assert within > 0
    assert told in run("measure", path, "--strategy", "equal-mass")[1]
    assert told in run("measure", path)[1]  # beside, in the column of the other strategy
    assert told in run("check", path, "--strategy", "equal-mass", "--max-ece", "0.5")[1]


def test_a_limit_within_the_bound_cannot_be_told(run, profile):
    path = profile()
    (model,) = json.loads(run("measure", path, "--strategy", "equal-mass", "--format", "json")[1])["models"]
    limit = model["ece"] + model["precision"]["ece"]["within"] / 2
    code, out, _ = run("check", path, "--strategy", "equal-mass", "--max-ece", repr(limit))
    assert code == 0
    assert "so it cannot tell" in out
    assert "so it cannot tell" not in run("check", path, "--strategy", "equal-mass", "--max-ece", "0.9")[1]


def test_groups_that_it_holds(run, profile, table):
    path = profile()
    for options in (["--group", "site"], ["--group", "site,age"], ["--request", "groups"]):
        found = json.loads(run("measure", path, "--format", "json", *options)[1])["models"][0]["on_request"]["groups"]
        assert list(found) == (["site"] if "site" in options else ["site", "age"])
    named = ["--label", "truth", "--prob", "score"]
    its = json.loads(run("measure", table, *named, "--group", "site", "--format", "json")[1])["models"][0]
    mine = json.loads(run("measure", path, "--group", "site", "--format", "json")[1])["models"][0]
    pairs = zip(mine["on_request"]["groups"]["site"]["groups"], its["on_request"]["groups"]["site"]["groups"], strict=True)
    for a, b in pairs:
        assert (a["name"], a["n"]) == (b["name"], b["n"])
        assert a["ece"] == pytest.approx(b["ece"], abs=1e-12)
    assert "South" not in run("measure", path, "--group", "site")[1]
    code, out, err = run("measure", path, "--group", "zone")
    assert (code, out) == (2, "")
    assert err == (
        "The profile m.profile.parquet was made without the groups of 'zone'; it holds those of 'site' and 'age'. "
        "Other groups need the prediction file.\n"
    )


@pytest.mark.parametrize("options", [["--reconcile"], *(["--request", r] for r in ("remedies", "periods", "reconcile", "refinement"))])
def test_what_needs_rows(run, profile, options):
    code, out, err = run("measure", profile(), *options)
    assert (code, out, err) == (2, "", f"credit: {NO_ROWS}\n")


@pytest.mark.parametrize(
    "options", [["--request", "bands,t_cal,hosmer_lemeshow,kernel"], ["--threshold", "0.7", "--cost-error", "3", "--cost-review", "1"]]
)
def test_what_needs_none(run, profile, options):
    assert run("measure", profile(), *options)[0] == 0


def test_compared_with_another_profile(run, profile):
    other = profile(bytes_of(profiles_of(binary("rival", seed=5, slope=1.0))), "rival.profile.parquet")
    code, out, _ = run("compare", profile(), other)
    assert code == 0
    assert "rival differs from credit in the log loss by −" in out
    assert "without an interval: whether that is more than chance cannot be told." in out
    assert "cannot be paired" in out
    comparison = json.loads(run("compare", profile(), other, "--format", "json")[1])["comparison"]
    assert (comparison["paired"], comparison["n_common"]) == (False, 0)
    (found,) = comparison["differences"]
    assert found["brier"]["low"] is None
    assert found["gap"]["low"] is not None


def test_compared_with_a_prediction_file(run, profile, table):
    """What is said about columns is said to the file that has some."""
    code, out, _ = run("compare", table, profile(), "--label", "truth", "--prob", "score")
    assert code == 0
    assert "not paired: a profile has no rows" in out
    code, out, _ = run("measure", table, profile(), "--label", "truth", "--prob", "score", "--group", "site", "--format", "json")
    assert [list(m["on_request"]["groups"]) for m in json.loads(out)["models"]] == [["site"], ["site"]]
    assert run("check", profile(), table, "--label", "truth", "--prob", "score", "--max-ece", "0.9")[0] == 0
    code, _, err = run("compare", profile(), profile(), "--label", "truth")
    assert code == 2
    assert "which holds no columns and no rows, so label (--label) cannot be followed" in err


def test_other_classes_have_no_score_in_common(run, profile):
    other = profile("five classes", "five.profile.parquet")
    code, out, _ = run("compare", profile(), other)
    assert code == 0
    assert "animals and credit have no score in common, so only the gap can be compared" in out
    assert "have no interval" not in out


def test_edges_from_a_profile(run, profile, table):
    code, out, _ = run(
        "measure", table, "--label", "truth", "--prob", "score", "--edges-from", profile(), "--strategy", "equal-mass", "--format", "json"
    )
    assert code == 0
    edges = json.loads(out)["settings"]["edges"]
    (held,) = cc.read(profile())
    assert edges == cc.Partition.equal_mass(held.profile(), 15).edges.tolist()


def test_a_view_that_was_not_kept(run, profile):
    code, _, err = run("measure", profile("thirty classes, top label only"), "--view", "class:c3")
    assert (code, err) == (2, "thirty: The profile of thirty was made without the view 'class:c3'; it holds top_label.\n") or code == 2
    assert "it holds top_label" in err


def test_several_models_of_one_file(run, profile):
    path = profile(bytes_of(profiles_of(binary("a")), profiles_of(binary("b", seed=2))))
    assert [m["name"] for m in json.loads(run("measure", path, "--format", "json")[1])["models"]] == ["a", "b"]
    assert run("compare", path)[0] == 0
    assert "models a and b" in run("inspect", path)[1]


def test_names_are_text(run, profile):
    path = profile("names with markup")
    out = run("measure", path, "--group", "<i>site</i>")[1]
    assert MARKUP in out
    assert "\\<script\\>" in run("measure", path, "--format", "md")[1]


def test_a_damaged_one_beside_a_sound_one(run, profile):
    bad = profile(file_of("binary with groups")[:5000], "bad.profile.parquet")
    code, out, err = run("measure", bad, profile(), "--format", "json")
    assert code == 2
    assert [m["name"] for m in json.loads(out)["models"]] == ["credit"]
    assert err.count("\n") == 1
    assert err.startswith("bad.profile.parquet: ")


def test_many_classes(run, profile):
    path = profile(bytes_of(profiles_of(several("many", 12, 600))))
    code, out, _ = run("measure", path, "--format", "json")
    (model,) = json.loads(out)["models"]
    assert code == 0
    assert len(model["classwise"]["per_class"]) == 12


def test_a_file_that_is_too_large_is_told_the_way_out():
    assert "calibcore reduce PATH -o model.profile.parquet" in sizes.too_large_sentence("big.csv", 2**31, 1000)
    assert "calibcore reduce" in LIMITS.rows[0][3]
