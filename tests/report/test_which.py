"""Which of two models makes the smaller error: the score that decides, its interval in words, and on which rows."""

import numpy as np
import pytest

from calibcore.inference.comparison import Differences, Pairing
from calibcore.inference.intervals import Estimate
from calibcore.report.which import difference_sentence, other_scores, rows_compared, smaller_error

ROWS = np.arange(3200)
LOWER = "b makes a smaller error than a: log loss lower by 0.0200 (95% interval 0.0100 to 0.0300)."
OPEN = (
    "These rows do not tell which of b and a makes the smaller error: "
    "the log loss of b less that of a is −0.0200 (95% interval −0.0500 to +0.0100)."
)


def pair(log_loss, brier, how="id"):
    pairing = Pairing(how != "not paired", how, ROWS, ROWS)
    return Differences("b", pairing, *(None if e is None else Estimate(*e) for e in (log_loss, brier)), Estimate(0.05, 0.01, 0.09))


@pytest.mark.parametrize(
    ("log_loss", "brier", "first", "other"),
    [
        ((-0.02, -0.03, -0.01), (-0.01, -0.02, -0.005), LOWER, "By Brier score too: lower by 0.0100 (95% interval 0.0050 to 0.0200)."),
        (
            (-0.02, -0.03, -0.01),
            (0.01, 0.005, 0.02),
            LOWER,
            "By Brier score it is the other way round: that of a is lower by 0.0100 (95% interval 0.0050 to 0.0200).",
        ),
        (
            (-0.02, -0.03, -0.01),
            (0.0005, -0.0046, 0.0055),
            LOWER,
            "The Brier score does not tell them apart: +0.0005 (95% interval −0.0046 to +0.0055).",
        ),
        (
            (-0.02, -0.05, 0.01),
            (-0.01, -0.02, -0.005),
            OPEN,
            "By Brier score b makes the smaller error: lower by 0.0100 (95% interval 0.0050 to 0.0200).",
        ),
        (
            (-0.02, -0.05, 0.01),
            (0.001, -0.001, 0.003),
            OPEN,
            "Nor does the Brier score tell them apart: +0.0010 (95% interval −0.0010 to +0.0030).",
        ),
        # log losses that were raised from infinity have no interval: the Brier score decides
        (
            (-0.02, None, None),
            (0.01, 0.005, 0.02),
            "a makes a smaller error than b: Brier score lower by 0.0100 (95% interval 0.0050 to 0.0200).",
            "",
        ),
        (None, None, "b and a: only the gap can be compared; it differs by +5.0 points (95% interval +1.0 to +9.0).", ""),
    ],
)
def test_the_score_that_decides_comes_first_and_the_other_beside_it(log_loss, brier, first, other):
    d = pair(log_loss, brier)
    assert smaller_error(d, "a") == first
    assert other_scores(d, "a") == other
    said = difference_sentence(d, "a")
    assert said.startswith(first)
    assert other in said
    assert said.endswith(rows_compared(d.pairing))


def test_the_level_is_the_one_that_was_asked_for():
    assert "(90% interval 0.0100 to 0.0300)" in smaller_error(pair((-0.02, -0.03, -0.01), None), "a", 0.9)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("id", "Both were judged on the same 3,200 rows, matched by their id."),
        ("row order", "Both were judged row by row on 3,200 rows: no ids are shared, and the labels agree in order."),
        ("not paired", "They were judged on different rows, so a difference shows less sharply."),
    ],
)
def test_the_rows_are_named(how, said):
    assert rows_compared(pair(None, None, how).pairing) == said


def test_a_gap_without_an_interval_is_said_without_one():
    d = Differences("b", Pairing(False, "not paired", ROWS, ROWS), None, None, Estimate(0.05))
    assert smaller_error(d, "a") == "b and a: only the gap can be compared; it differs by +5.0 points."
    assert other_scores(d, "a") == ""
