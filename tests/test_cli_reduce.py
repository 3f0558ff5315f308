"""``calibcore reduce``: one profile file of many rows, what is said about it, and one sentence for every fault."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibcore as cc
from calibcore.io.profile_file import read_profiles


@pytest.fixture
def rows(tmp_path):
    """A Parquet file of eight rows."""
    table = pa.table({"label": [0, 0, 1, 1, 0, 1, 1, 0], "probability": [0.1, 0.3, 0.6, 0.9, 0.5, 0.7, 0.2, 0.4], "site": list("aabbaabb")})
    pq.write_table(table, tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def test_a_file_of_profiles_is_written_and_summed_up(run, rows, tmp_path):
    target = tmp_path / "rows.profile.parquet"
    code, out, err = run("reduce", rows, "-o", target, "--group", "site")
    assert (code, err) == (0, "")
    head, row, *rest = out.splitlines()
    assert head.split() == ["Model", "Rows", "Left", "out", "Views", "Groups", "Cells"]
    # 8 values in the positive view; above and below 1/2 mirrored: 0.5, 0.6, 0.7, 0.8, 0.9.  Site a holds 0.1, 0.3, 0.5, 0.7, with
    # the confidences 0.5, 0.7, 0.9; site b 0.2, 0.4, 0.6, 0.9, with 0.6, 0.8, 0.9: 8 + 5 + 4 + 3 + 4 + 3 cells.
    assert row.split() == ["rows", "8", "0", "top-label,", "positive", "site", "(2)", "27"]
    assert any("exact with up to 100 bins of equal width" in line for line in rest)
    assert rest[-1].startswith(f"Wrote {target}, ")
    (model,) = read_profiles(target)
    assert (model.n, model.views) == (8, ("top_label", "positive", "class:0", "class:1"))
    assert [value for value, _ in model.held.parts["site"]] == ["a", "b"]


def test_views_and_a_name(run, rows, tmp_path):
    target = tmp_path / "p.parquet"
    for options in (("--view", "positive", "--view", "top-label"), ("--view", "positive,top-label")):
        assert run("reduce", rows, "-o", target, "--name", "mine", *options)[0] == 0
        (model,) = read_profiles(target)
        assert model.name == "mine"
    assert run("reduce", rows, "-o", target, "--view", "class:1")[0] == 0
    assert cc.Profile.read(target, "class:1").positive.tolist() == [0, 1, 0, 0, 0, 1, 1, 1]


def test_several_files_are_one_source(run, rows, tmp_path):
    other = tmp_path / "rows-2.parquet"
    other.write_bytes(rows.read_bytes())
    target = tmp_path / "both.parquet"
    assert run("reduce", rows, other, "-o", target)[0] == 0
    (model,) = read_profiles(target)
    assert (model.name, model.n) == (tmp_path.name, 16)  # of the folder that holds both


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "Say where to write the profiles, such as  -o model.profile.parquet"),
        (["-o", "rows.parquet"], "rows.parquet is one of the files to read"),
        (["-o", "p", "--labels-file", "l.csv"], "does not join a file of labels"),
        (["-o", "p", "--cluster", "site"], "does not know which rows go together"),
        (["-o", "p", "--view", "class:7"], "has no view 'class:7'"),
        (["-o", "none/p"], "none/p cannot be written"),
        (["-o", "p", "--engine", "flink"], "'flink' is not one of 'arrow', 'spark', 'dask'"),
    ],
)
def test_faults_are_sentences(run, rows, tmp_path, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("reduce", "rows.parquet", *options)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1


def test_questions_are_asked(run, tmp_path):
    rng = np.random.default_rng(1)
    table = pa.table({"label": [0, 1] * 50, "score_a": rng.random(100), "score_b": rng.random(100)})
    pq.write_table(table, tmp_path / "two.parquet")
    code, out, err = run("reduce", tmp_path / "two.parquet", "-o", tmp_path / "p.parquet")
    assert (code, out) == (3, "")
    assert "--" in err
    assert not (tmp_path / "p.parquet").exists()


def test_missing_values(run, tmp_path):
    pq.write_table(pa.table({"label": [0, None, 1], "probability": [0.1, 0.2, 0.6]}), tmp_path / "m.parquet")
    code, _, err = run("reduce", tmp_path / "m.parquet", "-o", tmp_path / "p.parquet")
    assert code == 2
    assert "1 of 3 rows have no label in 'label' (row 2). Leave such rows out (--missing drop)" in err
    code, out, _ = run("reduce", tmp_path / "m.parquet", "-o", tmp_path / "p.parquet", "--missing", "drop")
    assert code == 0
    assert "Note: 1 of 3 rows left out: 1 without a label in 'label'." in out.splitlines()


def test_a_profile_may_lie_among_the_rows_it_is_made_of(run, rows, tmp_path):
    target = tmp_path / "out.profile.parquet"
    for _ in range(2):
        code, out, err = run("reduce", tmp_path, "-o", target)
        assert (code, err) == (0, "")
    assert "Note: Passed over, since profiles: out.profile.parquet." in out.splitlines()
    (model,) = read_profiles(target)
    assert model.n == 8
