"""Several models beside a baseline in words, and what holds for several diagrams at once."""

from types import SimpleNamespace

import numpy as np
import pytest

import calibcore as cc
from calibcore.inference.comparison import Differences, Pairing
from calibcore.inference.intervals import Estimate
from calibcore.plot.marks import Table
from calibcore.report.bin_tables import folded
from calibcore.report.compare_words import compared_lines, diagrams_caption, outside_line
from calibcore.report.which import difference_sentence

BY_ID = Pairing(True, "id", np.arange(4000), np.arange(4000))
APART = Pairing(False, "", np.arange(0), np.arange(0))
WORSE, BETTER, OPEN = (0.08, 0.067, 0.099), (-0.02, -0.03, -0.01), (0.001, -0.01, 0.012)
SAME = "All were judged on the same 4,000 rows, matched by their id."


def difference(model, log_loss, brier=None, gap=(0.0, -0.01, 0.01), pairing=BY_ID):
    made = [None if e is None else Estimate(*e) for e in (log_loss, brier or log_loss)]
    return Differences(model, pairing, *made, Estimate(*gap))


def compared(*differences, gaps=(), view="top_label"):
    analyses = [SimpleNamespace(name=n, gap=Estimate(g)) for n, g in gaps]
    return SimpleNamespace(differences=differences, baseline="steady-v1", settings=cc.Settings(view=view), analyses=analyses)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([difference(n, WORSE) for n in "BCDE"], "All four score worse than steady-v1, by log loss."),
        (
            [difference("B", WORSE), difference("C", WORSE), difference("D", OPEN)],
            "B and C score worse than steady-v1; D cannot be told apart from steady-v1, by log loss.",
        ),
        (
            [difference("B", BETTER), difference("C", WORSE)],
            "B scores better than steady-v1; C scores worse than steady-v1, by log loss.",
        ),
        ([difference("B", OPEN), difference("C", OPEN)], "Both cannot be told apart from steady-v1, by log loss."),
        (  # what the other score says is not lost
            [difference("B", WORSE, BETTER), difference("C", WORSE)],
            "Both score worse than steady-v1, by log loss. By Brier score B scores better than steady-v1.",
        ),
        (  # log losses that were clipped have no interval
            [difference("B", (0.1, None, None), WORSE), difference("C", WORSE), difference("D", WORSE)],
            "All three score worse than steady-v1, by log loss (by Brier score: B).",
        ),
    ],
)
def test_several_models_are_told_in_one_sentence_and_their_pairing_once(found, said):
    assert compared_lines([compared(*found)]) == (f"{said} {SAME}",)


def test_rows_that_differ_from_model_to_model_are_left_to_the_table():
    (said,) = compared_lines([compared(difference("B", WORSE), difference("C", WORSE, pairing=APART))])
    assert said.endswith("The table says on which rows.")


def test_one_model_has_a_full_sentence():
    d = difference("B", WORSE)
    assert compared_lines([compared(d)]) == (difference_sentence(d, "steady-v1"),)


START = "trees5 and steady-v1 have no score in common, so only the gap can be compared"


@pytest.mark.parametrize(
    ("gaps", "gap", "view", "said"),
    [
        ((-0.104, -0.01), (-0.094, -0.12, -0.068), "top_label", "trees5 is 9.4 points more overconfident"),
        ((-0.01, -0.104), (0.094, 0.068, 0.12), "top_label", "trees5 is 9.4 points less overconfident"),
        ((0.01, 0.104), (-0.094, -0.12, -0.068), "top_label", "trees5 is 9.4 points less underconfident"),
        ((0.104, 0.01), (0.094, 0.068, 0.12), "top_label", "trees5 is 9.4 points more underconfident"),
        ((-0.05, 0.044), (-0.094, -0.12, -0.068), "top_label", "trees5 is overconfident and steady-v1 is not, 9.4 points apart"),
        ((-0.05, 0.044), (-0.094, -0.12, -0.068), "positive", "trees5 claims 9.4 points more, beside what happens"),
    ],
)
def test_models_without_a_score_in_common_are_compared_by_the_gap(gaps, gap, view, said):
    found = compared(difference("trees5", None, gap=gap), gaps=zip(("trees5", "steady-v1"), gaps, strict=True), view=view)
    (line,) = compared_lines([found])
    assert line.startswith(f"{START}: {said} (difference of the gaps ")
    assert line.endswith(f"95% interval {'−12.0 to −6.8' if gap[0] < 0 else '+6.8 to +12.0'}).")


def test_gaps_that_rows_do_not_tell_apart():
    (line,) = compared_lines([compared(difference("trees5", None, gap=(0.01, -0.016, 0.036)))])
    assert line == f"{START}, and these rows do not tell it apart (difference of the gaps +1.0 points, 95% interval −1.6 to +3.6)."


def test_one_caption_for_several_diagrams_holds_for_all():
    many = cc.analyze(cc.Predictions.from_top_label([0.9] * 100, [1] * 90 + [0] * 10))
    few = cc.analyze(cc.Predictions.from_top_label([0.9] * 100 + [0.6] * 5, [1] * 90 + [0] * 15))
    assert "Hollow" not in diagrams_caption([many, many])
    for both in ([many, few], [few, many]):
        assert diagrams_caption(both).endswith("Hollow: fewer than 30 rows.")
        assert "bins in use" not in diagrams_caption(both)


def test_bins_that_stay_outside_are_counted():
    # 500 rows at 0.9 of which 300 are right: far below 0.9 ± 0.03; 500 at 0.6 of which 300 are
    a = cc.analyze(cc.Predictions.from_top_label([0.9] * 500 + [0.6] * 500, ([1] * 300 + [0] * 200) * 2))
    assert outside_line(a) == "After it, 1 of 2 bins lies outside the band."
    assert outside_line(cc.analyze(cc.Predictions.from_top_label([0.6] * 500, [1] * 300 + [0] * 200))) is None


HEAD = ("Bin", "Rows", "Share", "Says", "Right")


def test_empty_bins_at_the_start_are_folded_and_no_others():
    rows = [(f"{k}–{k + 25}%", "0", "0%", "–", "–") for k in (0, 25)]
    filled = ("50–75%", "9", "90%", "61.0%", "55.6%")
    last = ("75–100%", "0", "0%", "–", "–")
    shown, line = folded(Table(HEAD, (*rows, filled, last)))
    assert shown.rows == (filled, last)
    assert line == "2 empty bins below 50% are left out."
    for table in (Table(HEAD, (rows[0], filled)), Table(HEAD, (filled, last, last)), Table(("A",), (("0",),))):
        assert folded(table) == (table, None)
