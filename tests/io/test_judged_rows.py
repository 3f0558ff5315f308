"""Rows that a model was made with: which rows are judged is asked, chosen by ``rows`` (--rows), and said."""

import json

import numpy as np
import pytest

from calibcore import cli
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect, read

N = 40
P = np.linspace(0.02, 0.98, N).round(3)
Y = (np.arange(N) % 3 == 0).astype(int)
SET = np.array(["train", "valid", "test", "train"])[np.arange(N) % 4]  # 20 train, 10 valid, 10 test


def csv(header, *columns):
    return (header + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n").encode()


def question(data):
    with pytest.raises(AmbiguousLayout) as raised:
        read(data)
    (only,) = raised.value.questions
    return only


@pytest.mark.parametrize(
    ("name", "values", "best", "options"),
    [
        ("split", SET, "split=test", {"split=test", "split=valid", "split!=train", "split=train", "all"}),
        ("Partition", np.where(Y, "Holdout", "Training"), "Partition=Holdout", {"Partition=Holdout", "Partition=Training", "all"}),
        ("cohort", np.where(Y, "validation", "development"), "cohort=validation", {"cohort=validation", "cohort=development", "all"}),
        ("is_train", Y, "is_train=0", {"is_train=0", "is_train=1", "all"}),
        ("is_test", np.where(Y, "True", "False"), "is_test=True", {"is_test=True", "is_test=False", "all"}),
    ],
)
def test_rows_of_training_beside_others_are_asked_about(name, values, best, options):
    found = question(csv(f"y,prob,{name}", Y, P, values))
    assert (found.id, found.flag, found.options[0], set(found.options)) == ("rows", "--rows", best, options)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("transport", np.where(Y, "train", "bus")),  # not every "train" is one
        ("split", ["test"] * N),
        ("fold", np.arange(N) % 5),
        ("test", Y),  # a medical one
        ("dataset", np.where(Y, "cifar", "svhn")),
    ],
)
def test_other_columns_are_not_asked_about(name, values):
    (found,) = read(csv(f"label,prob,{name}", Y, P, values))
    assert found.n == N


@pytest.mark.parametrize(
    ("rows", "kept", "said"),
    [
        ("split=test", SET == "test", "30 of 40 rows left out: 30 where 'split' is not 'test'."),
        (" split == test ", SET == "test", "30 of 40 rows left out: 30 where 'split' is not 'test'."),
        ("split!=train", SET != "train", "20 of 40 rows left out: 20 where 'split' is 'train'."),
        ("all", SET != "", "All rows are judged, also those that 'split' marks as train."),
    ],
)
def test_the_rows_that_are_said_are_used(rows, kept, said):
    (found,) = read(csv("y,prob,split", Y, P, SET), mapping=Mapping(rows=rows))
    assert found.row.tolist() == (np.flatnonzero(kept) + 1).tolist()
    assert found.probabilities[:, 1].tolist() == P[kept].tolist()
    assert (found.n, found.n_excluded) == (kept.sum(), N - kept.sum())
    assert said in found.notes


def test_only_judged_rows_need_a_label():
    labels = ["" if s == "train" else str(y) for s, y in zip(SET, Y, strict=True)]
    (found,) = read(csv("y,prob,split", labels, P, SET), mapping=Mapping(rows="split!=train"))
    assert found.n == 20


def test_any_column_chooses_rows_and_numbers_match_as_numbers():
    (found,) = read(csv("y,prob,a=b", Y, P, np.arange(N) % 2 * 1.0), mapping=Mapping(rows="a=b=1"))
    assert found.n == 20
    assert inspect(csv("y,prob,fold", Y, P, Y), mapping=Mapping(rows="fold=1")).roles["rows"] == "fold = 1"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("split=tst", "No row of column 'split' is 'tst'; it holds 'train', 'valid' and 'test'"),
        ("splat=test", "There is no column called 'splat'"),
        ("test", "rows .--rows. is 'test', which is no choice of rows. Write it like split=test"),
    ],
)
def test_a_choice_that_cannot_be_followed_is_refused(rows, sentence):
    with pytest.raises(InputError, match=sentence):
        read(csv("y,prob,split", Y, P, SET), mapping=Mapping(rows=rows))


def test_files_that_are_joined_ask_once_joined(tmp_path):
    one, other = tmp_path / "p.csv", tmp_path / "y.csv"
    one.write_bytes(csv("id,prob,split", range(N), P, SET))
    other.write_bytes(csv("id,label", range(N), Y))
    with pytest.raises(AmbiguousLayout) as raised:
        read([one, other])
    assert [q.id for q in raised.value.questions] == ["rows"]
    (found,) = read([one, other], mapping=Mapping(rows="split=test"))
    assert found.n == 10


def test_the_shell_asks_and_is_answered(tmp_path, capsys):
    path = tmp_path / "f.csv"
    path.write_bytes(csv("y,prob,split", Y, P, SET))
    assert cli.main(["inspect", str(path)]) == 0
    assert "--rows" in capsys.readouterr().out
    assert cli.main(["measure", str(path)]) == 3
    assert "--rows and one of split=test" in capsys.readouterr().err
    assert cli.main(["measure", str(path), "--rows", "split=test", "--format", "json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert (model["n"], model["source"]["roles"]["rows"]) == (10, "split = test")
