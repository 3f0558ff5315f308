"""The command `report`: a page or a PDF on disk, exit codes, and sentences where none can be written."""

import re
from functools import partial
from pathlib import Path

import pytest

from calibcore.report import making, pdf

pytest.importorskip("matplotlib")

ASSETS = Path(__file__).parents[1] / "assets"
SWIFT, STEADY = ASSETS / "swift-v2.csv", ASSETS / "steady-v1.csv"


@pytest.fixture
def report(run):
    """Run `report` in this process: (exit code, stdout, stderr)."""
    return partial(run, "report")


def words(path):
    return " ".join(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8")).split())


def test_writes_one_page(report, tmp_path):
    target = tmp_path / "board.html"
    given = ["--heading", "Ready?", "--audience", "the board", "--note", "Rows of May.", "--training", "no", "--threshold", "0.9"]
    assert report(SWIFT, STEADY, "-o", target, "--remedies", *given) == (0, "", f"Wrote {target}.\n")
    said = words(target)
    for part in (
        "Ready?",
        "for the board",
        "Rows of May.",
        "these rows were not used to train",
        "At your threshold",
        "steady-v1 makes a smaller error than swift-v2: log loss lower by",
    ):
        assert part in said
    assert "Tested on rows that the fit had not seen" in said


def test_the_model_that_the_report_is_about_can_be_named(report, tmp_path):
    first, second = tmp_path / "a.html", tmp_path / "b.html"
    assert report(SWIFT, STEADY, "-o", first)[0] == 0
    assert report(SWIFT, STEADY, "-o", second, "--baseline", "steady-v1")[0] == 0
    assert "Calibration of swift-v2, beside steady-v1" in words(first)
    assert "Calibration of steady-v1, beside swift-v2" in words(second)
    code, _, err = report(SWIFT, STEADY, "-o", second, "--baseline", "other")
    assert (code, err) == (2, "There is no model called 'other'; there are swift-v2 and steady-v1.\n")


def test_a_threshold_that_acts_on_every_row_is_said_to(report, tmp_path):
    target = tmp_path / "page.html"
    assert report(SWIFT, "-o", target, "--threshold", "0.3")[0] == 0
    assert "The threshold is one of the probability of the predicted class, whichever it is, not of P(1)." in words(target)
    assert "so a threshold of 0.3 acts on every row by construction." in words(target)
    assert report(SWIFT, "-o", target, "--threshold", "0.3", "--view", "positive")[0] == 0
    assert "by construction" not in words(target)
    assert "missed events among them (rows that are “1”): " in words(target)


def test_says_what_is_not_known(report, tmp_path):
    target = tmp_path / "one.HTM"
    assert report(SWIFT, "-o", target)[0] == 0
    said = words(target)
    assert "It is not known whether the model was trained or tuned on these rows" in said
    assert "Not tested on these rows." in said
    assert "At your threshold" not in said


def test_takes_the_options_of_measure(report, tmp_path):
    target = tmp_path / "page.html"
    options = ["--view", "positive", "--bins", "10", "--strategy", "equal-mass", "--level", "0.9", "--label", "y_true", "--prob", "y_prob"]
    assert report(SWIFT, "-o", target, *options)[0] == 0
    assert "10 equal-mass bins (a, b], ties kept together; positive view; 90% intervals; seed 0." in words(target)


def test_costs_of_errors_and_reviews(report, tmp_path):
    target = tmp_path / "page.html"
    given = ["--threshold", "0.9", "--cost-error", "40", "--cost-review", "3"]
    assert report(SWIFT, "-o", target, *given)[0] == 0
    assert re.search(r"At 40 (an error|a wrong prediction) and 3 a review", words(target))
    assert report(SWIFT, "-o", target, "--threshold", "0.9", "--cost-error", "40")[0] == 2


def test_a_column_that_could_be_the_time(report, tmp_path):
    path, target = tmp_path / "timed.csv", tmp_path / "timed.html"
    rows = "".join(f"{i % 2},{0.2 + 0.6 * (i % 2)},2024-{1 + i // 100:02d}\n" for i in range(400))
    path.write_text("y_true,y_prob,my month\n" + rows)
    code, _, err = report(path, "-o", target, "--group", "my month")
    assert code == 0
    assert err.endswith("Column my month could be the time: with --time 'my month' the report says which period it covers.\n")
    assert "Period covered not known. The results hold" in words(target)
    assert "my month" not in words(target).partition("Read with care")[0]


def test_period_of_a_time_column(report, tmp_path):
    path, target = tmp_path / "timed.csv", tmp_path / "timed.html"
    rows = "".join(f"{i % 2},{0.2 + 0.6 * (i % 2)},2024-{1 + i // 100:02d}-03\n" for i in range(400))
    path.write_text("y_true,y_prob,date\n" + rows)
    assert report(path, "-o", target, "--time", "date")[0] == 0
    assert "2024-01-03 to 2024-04-03" in words(target)


def test_models_that_cannot_be_compared_are_still_reported(report, tmp_path):
    target, other = tmp_path / "page.html", tmp_path / "other.csv"
    rows = [line.split(",") for line in STEADY.read_text().splitlines()]
    at = rows[0].index("y_true")
    for row in rows[1:]:
        row[at] = str(1 - int(row[at]))
    other.write_text("\n".join(map(",".join, rows)))
    assert report(SWIFT, other, "-o", target)[0] == 0
    assert "Not compared with each other: swift-v2 and other have different labels" in words(target)


def test_pdf(report, tmp_path):
    pytest.importorskip("typst")
    target = tmp_path / "page.pdf"
    assert report(SWIFT, "-o", target) == (0, "", f"Wrote {target}.\n")
    assert target.read_bytes().startswith(b"%PDF-")


def test_pdf_without_typst(report, tmp_path, monkeypatch):
    monkeypatch.setattr(making, "can_write", lambda: False)
    target = tmp_path / "page.pdf"
    assert report(SWIFT, "-o", target) == (2, "", f"{pdf.MISSING}\n")
    assert not target.exists()


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        ([SWIFT], 2, "Say where to write the report, such as  -o report.html"),
        ([SWIFT, "-o", "page.docx"], 2, "A report is written as .html or .pdf, not as 'page.docx'; change the ending."),
        ([SWIFT, "-o", "/no/such/folder/page.html"], 2, "/no/such/folder/page.html cannot be written: No such file or directory."),
        (["absent.csv", "-o", "page.html"], 2, "absent.csv"),
        ([*sorted(ASSETS.glob("*-v?.csv"))[:5], "-o", "page.html"], 2, "A report has room for 4 models; these are 5."),
        ([SWIFT, "-o", "page.html", "--note", "x" * 281], 2, "The note has 281 characters; the report has room for 280."),
        ([SWIFT, "-o", "page.html", "--threshold", "1.5"], 2, "threshold must be a fraction from 0 to 1"),
        ([SWIFT, "-o", "page.html", "--training", "maybe"], 2, "'maybe' is not one of 'yes', 'no', 'unknown'"),
    ],
)
def test_faults_are_sentences(report, tmp_path, monkeypatch, argv, code, said):
    monkeypatch.chdir(tmp_path)
    found = report(*argv)
    assert found[:2] == (code, "")
    assert said in found[2]
    assert "Traceback" not in found[2]
    assert not list(tmp_path.iterdir())


def test_a_question_is_asked_before_anything_is_written(report, tmp_path):
    path, target = tmp_path / "words.csv", tmp_path / "page.html"
    path.write_text("label,score\n" + "good,0.9\nbad,0.3\ngood,0.6\nbad,0.4\n" * 30)
    code, out, err = report(path, "-o", target)
    assert (code, out) == (3, "")
    assert "--positive" in err
    assert not target.exists()


def test_groups_that_are_named_are_in_the_report(report, tmp_path):
    # 80% in all rows: of 120 in the north 60 are right, of 120 in the south 96
    path, target = tmp_path / "sites.csv", tmp_path / "page.html"
    rows = "".join(f"{'x' if i < k else 'y'},x,0.8,{name}\n" for name, k in (("north", 60), ("south", 96)) for i in range(120))
    path.write_text(f"true,pred,confidence,region\n{rows}")
    assert report(path, "-o", target, "--group", "region")[0] == 0
    assert "By region: 2 groups of at least 50 rows; 1 group shows a gap (north: −30.0 points, simultaneous 95% interval" in words(target)
    assert report(path, "-o", target)[0] == 0
    assert "By region" not in words(target)
