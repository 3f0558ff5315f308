"""The command `check`: exit codes, lines and JSON, for several models and files that cannot be read."""

import json
from functools import partial
from pathlib import Path

import pytest

ASSETS = Path(__file__).parents[1] / "assets"
# Ten rows at 0.9, seven of them 1; ten at 0.2, three of them 1.  Top label: 0.9 and 0.8, either right in seven of ten
# rows, so gaps −1/5 and −1/10.  Positive view: −1/5 and +1/10.
TWENTY = [(1, 0.9)] * 7 + [(0, 0.9)] * 3 + [(1, 0.2)] * 3 + [(0, 0.2)] * 7


def lines(header, rows):
    return "\n".join([header, *(",".join(map(str, r)) for r in rows)]) + "\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="a.csv"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def twenty(file):
    return file(lines("y_true,y_prob", TWENTY), "twenty.csv")


@pytest.fixture
def check(run):
    """Run `check` in this process: (exit code, stdout, stderr)."""
    return partial(run, "check")


def test_one_line_each_and_exit_1(check, twenty):
    code, out, err = check(twenty, "--bins", "10", "--max-ece", "0.1", "--max-mce", "0.3", "--max-gap", "0.2")
    assert (code, err) == (1, "")
    ece, mce, gap = out.splitlines()
    assert ece.startswith(
        "twenty.csv twenty: ECE 0.1500 > 0.1, exceeds the limit (10 equal-width bins, confidence view, n = 20; chance alone gives "
    )
    assert mce.startswith(
        "twenty.csv twenty: MCE 0.2000 ≤ 0.3, holds (bin 80–90%, 10 rows, of 10 equal-width bins, confidence view, n = 20; "
    )
    assert gap.startswith("twenty.csv twenty: |gap| 0.1500 ≤ 0.2, holds (confidence view, n = 20; gap −0.1500, 95% interval ")


def test_all_hold(check, twenty):
    code, out, err = check(twenty, "--max-ece", "0.5")
    assert (code, err, len(out.splitlines())) == (0, "", 1)


def test_takes_the_options_of_measure(check, twenty):
    # Positive view: mean probability 0.55, share of positives ½.
    _, out, _ = check(twenty, "--view", "positive", "--max-gap", "0.04", "--level", "0.9")
    assert out.startswith("twenty.csv twenty: |gap| 0.0500 > 0.04, exceeds the limit (positive view, n = 20; gap −0.0500, 90% interval ")
    _, out, _ = check(twenty, "--prob", "y_prob", "--label", "y_true", "--edges", "0,0.5,1", "--max-ece", "0.1")
    assert "(2 custom bins, confidence view, n = 20;" in out


def test_debiased(check, twenty):
    # U = 1/600 (see test_limits), √U = 0.0408, while the ECE is 0.15.
    assert check(twenty, "--bins", "10", "--max-ece", "0.05", "--on", "debiased")[0] == 0
    assert check(twenty, "--bins", "10", "--max-ece", "0.05", "--on", "plugin")[0] == 1
    code, out, err = check(twenty, "--max-ece", "0.05", "--on", "debiased", "--strategy", "equal-mass", "--ties", "share")
    assert (code, out) == (2, "")
    assert "--ties share" in err


def test_the_line_of_a_debiased_check_says_what_it_is(check, twenty):
    _, out, _ = check(twenty, "--bins", "10", "--max-ece", "0.05", "--on", "debiased")
    assert out.startswith("twenty.csv twenty: debiased root mean square error 0.0408 ≤ 0.05, holds (not an ECE; 10 equal-width bins, ")


def test_the_exit_code_follows_the_view_asked_for(check, file):
    # 100 rows at 0.4, 50 of them 1; 100 at 0.6, 70 of them 1: 120 of 200 right at 0.6; 120 of 200 happened at 0.5 on average.
    rows = [(1, 0.4)] * 50 + [(0, 0.4)] * 50 + [(1, 0.6)] * 70 + [(0, 0.6)] * 30
    path = file(lines("y_true,y_prob", rows))
    code, out, _ = check(path, "--max-ece", "0.05")
    assert code == 0
    assert "ECE in the positive view 0.1000, which exceeds this limit (--view positive judges it)" in out
    code, out, _ = check(path, "--max-ece", "0.05", "--view", "positive")
    assert code == 1
    assert "; ECE in the confidence view 0.0000)" in out


def test_json(check, twenty):
    code, out, err = check(twenty, "--bins", "10", "--max-ece", "0.1", "--max-gap", "0.2", "--format", "json")
    found = json.loads(out)
    assert (code, err) == (1, "")
    assert [(c["model"], c["file"], c["limit"], c["max"], c["holds"]) for c in found["checks"]] == [
        ("twenty", "twenty.csv", "ece", 0.1, False),
        ("twenty", "twenty.csv", "gap", 0.2, True),
    ]
    assert [c["value"] for c in found["checks"]] == pytest.approx([0.15, 0.15])
    assert found["holds"] is False
    assert json.loads(check(twenty, "--max-ece", "0.5", "--format", "json")[1])["holds"] is True


def test_several_models_in_a_file(check, file):
    # Model a is right in seven of ten rows at 0.9, model b in nine.
    rows = [("a", int(i < 7), 0.9) for i in range(10)] + [("b", int(i < 9), 0.9) for i in range(10)]
    code, out, _ = check(file(lines("model,correct,confidence", rows)), "--max-ece", "0.1")
    first, second = out.splitlines()
    assert code == 1
    assert first.startswith("a.csv a: ECE 0.2000 > 0.1, exceeds the limit")
    assert second.startswith("a.csv b: ECE 0.0000 ≤ 0.1, holds")


def test_a_bad_file_keeps_the_others(check, file, twenty):
    code, out, err = check(file("", "empty.csv"), twenty, "--bins", "10", "--max-ece", "0.1")
    assert code == 2
    assert "empty.csv" in err
    assert out.startswith("twenty.csv twenty: ECE 0.1500 > 0.1, exceeds the limit")
    code, out, _ = check(file("", "empty.csv"), twenty, "--max-ece", "0.5", "--format", "json")
    assert code == 2
    assert json.loads(out)["holds"] is False
    assert check(file("", "empty.csv"), "--max-ece", "0.1")[:2] == (2, "")


def test_a_view_that_one_model_lacks(check, twenty, file):
    top = file(lines("confidence,correct", [(0.9, 1)] * 5 + [(0.6, 0)] * 5), "top.csv")
    code, out, err = check(top, twenty, "--view", "positive", "--max-gap", "0.5")
    assert code == 2
    assert "positive" in err
    assert out.startswith("twenty.csv twenty: |gap| 0.0500 ≤ 0.5, holds")


def test_weighted(check, file):
    # Weighted: (3·0 + 1·1)/4 of 0.9 right: |0.25 − 0.9|; n_eff = 16/10.
    path = file(lines("correct,confidence,w", [(0, 0.9, 3), (1, 0.9, 1)]))
    code, out, _ = check(path, "--weight", "w", "--max-ece", "0.5")
    assert code == 1
    assert out.startswith("a.csv a: ECE 0.6500 > 0.5, exceeds the limit (15 equal-width bins, n = 2, weighted as 2; ")


def test_a_question_is_exit_3(check, file):
    path = file(lines("label,p", [("good", 0.9), ("bad", 0.2)] * 10))
    code, out, err = check(path, "--max-ece", "0.1")
    assert (code, out) == (3, "")
    assert "--positive" in err
    code, out, _ = check(path, "--max-ece", "0.1", "--format", "json")
    assert code == 3
    assert json.loads(out)["questions"][0]["flag"] == "--positive"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--max-ece"),
        (("--max-ece", "-0.1"), "fraction from 0 to 1"),
        (("--max-mce", "5"), "fraction from 0 to 1"),
        (("--max-gap", "nan"), "got nan"),
        (("--max-ece", "five"), "five"),
        (("--max-gap", "0.1", "--on", "debiased"), "--max-ece"),
        (("--max-ece", "0.1", "--on", "exact"), "exact"),
        (("--max-ece", "0.1", "--bins", "0"), "bins"),
        (("--max-ece", "0.1", "--format", "csv"), "csv"),
        *((("--max-ece", "0.1", ignored, "0.5"), ignored) for ignored in ("--request", "--threshold", "--cost-error", "--cost-review")),
    ],
)
def test_bad_options_are_exit_2(check, twenty, options, words):
    code, out, err = check(twenty, *options)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert words in err
    assert "Traceback" not in err


def test_a_bundled_sample(check):
    code, out, _ = check(ASSETS / "swift-v2.csv", ASSETS / "steady-v1.csv", "--max-ece", "0.05")
    first, second = out.splitlines()
    assert code == 1
    assert first.startswith("swift-v2.csv swift-v2: ECE 0.10")
    assert "exceeds the limit" in first
    assert "holds" in second
