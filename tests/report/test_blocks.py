"""What a run and a file say to people."""

import numpy as np
import pytest

import calibcore as cc
from calibcore.report.blocks import layout_blocks, question_text, result_blocks
from calibcore.report.tables import Table
from calibcore.report.terminal import rendered
from calibcore.report.view_words import in_this_view
from calibcore.report.which import difference_sentence

CSV = b"y_true,y_prob,w\n" + b"1,0.9,1\n0,0.2,2\n" * 60


def text_of(blocks):
    return [b for b in blocks if isinstance(b, str)]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("yes", "no"), "Which? Answer with --positive yes or --positive no."),
        (("a b",), "Which? Answer with --positive 'a b'."),
        (("a", "b", "c", "d", "e"), "Which? Answer with --positive and one of a, b, c, d, e."),
        ((), "Which? Answer with --positive."),
    ],
)
def test_questions(options, text):
    assert question_text(cc.Question("positive", "Which?", options, "--positive")) == text


def test_a_run_says_verdict_remedy_columns_and_notes():
    (model,) = cc.read(CSV, name="m", mapping=cc.Mapping(weight="w"))
    a = cc.analyze(model)
    lines = text_of(result_blocks([a]))
    assert f"m: {a.verdict.text}" in lines
    assert "  Read from m: label = y_true, probabilities = y_prob, positive = 1, weight = w." in lines
    assert [line for line in lines if line.startswith("  Note: ")] == [f"  Note: {n}" for n in dict.fromkeys(a.notes)]
    assert any(line.startswith("15 equal-width bins (a, b]; confidence view (top-label); 95% intervals; seed 0.") for line in lines)


def test_the_gap_is_explained_in_the_words_of_the_view():
    (model,) = cc.read(CSV, name="m")
    for view, words in (("top_label", "accuracy − confidence"), ("positive", "share of positives − mean probability")):
        assert any(f"Gap: {words}" in line for line in text_of(result_blocks([cc.analyze(model, cc.Settings(view=view))])))


def test_which_model_scores_better_is_said_once_and_in_words():
    models = [cc.Predictions.from_arrays([1, 0] * 200, [p, 1 - p] * 200, name=name) for p, name in ((0.7, "a"), (0.9, "b"))]
    found = cc.compare(models)
    lines = text_of(result_blocks(found.analyses, found))
    # ln 0.7 − ln 0.9 = −0.2513 in every row
    (line,) = [x for x in lines if x.startswith("b makes a smaller error than a: log loss lower by 0.2513 (")]
    assert line == difference_sentence(found.differences[0], "a")


def test_another_view_says_what_it_shows_and_which_numbers_are_not_its_own():
    # says 80% and is right in 90 of 100; of the probability itself 20% is 10% and 80% is 90%
    y = np.r_[np.arange(1000) < 900, np.arange(1000) < 100].astype(int)
    a = cc.analyze(cc.Predictions.from_arrays(y, np.repeat([0.8, 0.2], 1000), name="m"), cc.Settings(view="positive"))
    lines = text_of(result_blocks([a]))
    assert any(x.startswith("m: In the Confidence view, it says 80% on average and is right 90% of the time") for x in lines)
    assert f"  {in_this_view(a)}" in lines


ELSEWHERE = "Verdict and pattern are those of the confidence view, whatever is shown"


def test_another_view_than_that_of_the_verdict_is_said():
    (model,) = cc.read(CSV, name="m")
    three = cc.Predictions.from_arrays([0, 1, 2], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
    for source, view, line in (
        (model, "top_label", None),
        (model, "positive", f"{ELSEWHERE} (of the positive view for a shift)."),
        (three, "class:1", f"{ELSEWHERE}."),
        (model.profile("positive"), "positive", None),  # a profile is judged in its own view
    ):
        lines = text_of(result_blocks([cc.analyze(source, cc.Settings(view=view))]))
        assert [x for x in lines if x.startswith(ELSEWHERE)] == ([] if line is None else [line])


def test_bins_are_printed_for_one_model_only():
    models = [cc.Predictions.from_arrays([1, 0, 1], [0.9, 0.2, 0.6], name=n) for n in "xy"]
    found = cc.compare(models)
    for blocks, times in (
        (result_blocks([found.analyses[0]]), 1),
        (result_blocks(found.analyses), 0),
        (result_blocks(found.analyses, found), 0),
    ):
        assert sum("If calibrated" in b.header for b in blocks if isinstance(b, Table)) == times


def test_a_comparison_starts_with_the_baseline():
    first, second = (cc.Predictions.from_arrays([1, 0, 1], p, name=n) for n, p in (("x", [0.9, 0.2, 0.6]), ("y", [0.8, 0.1, 0.7])))
    found = cc.compare([first, second], baseline="y")
    models, differences = [b for b in result_blocks(found.analyses, found) if isinstance(b, Table)]
    assert [row[0] for row in models.rows] == ["y", "x"]
    assert differences.header[1] == "Minus y"


def test_a_remedy_is_given_where_a_pattern_was_found():
    # All of 400 rows say 0.9, half are right.
    model = cc.Predictions.from_arrays([1, 0] * 200, [0.9] * 400, name="m")
    a = cc.analyze(model)
    assert a.verdict.level == "V3"
    assert a.pattern.remedy in " ".join(text_of(result_blocks([a])))


def test_a_layout_says_how_it_is_read_and_offers_weights():
    blocks = layout_blocks(cc.inspect(CSV))
    lines = text_of(blocks)
    assert lines[0].endswith("CSV, 120 rows, 3 columns.")
    assert any("Read as: label = y_true" in line for line in lines)
    preview = blocks[-1]
    assert (preview.header, preview.rows[0]) == (("y_true", "y_prob", "w"), ("1", "0.9", "1"))


def test_a_layout_says_why_it_cannot_be_read():
    lines = text_of(layout_blocks(cc.inspect(b"id,y_true\n1,0\n2,1\n")))
    assert any(line.startswith("  Not read: ") and "no probabilities" in line for line in lines)


def test_piped_text_is_never_cut_or_boxed(capsys):
    wide = Table(("a", "b"), (("x" * 300, "y"),))
    assert rendered([wide, "z" * 300]) == f"a{' ' * 301}b\n{'x' * 300}  y\n\n{'z' * 300}\n"


@pytest.mark.parametrize("columns", [200, 60])
def test_a_terminal_gets_a_box_and_turns_a_table_that_is_too_wide(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    table = Table(tuple(f"figure {i}" for i in range(9)), (tuple(f"value {i}" for i in range(9)),))
    lines = [line for line in rendered([table]).splitlines() if "figure" in line]
    assert len(lines) == (1 if columns == 200 else 9)


def test_a_long_table_that_is_too_wide_is_not_turned_into_a_wider_one(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")
    table = Table(("What", "m"), tuple((f"a measure with quite a long name, number {i}", "and its value: 0.1234") for i in range(9)))
    assert sum("measure" in line for line in rendered([table]).splitlines()) == 9
