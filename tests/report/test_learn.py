"""What the pages Learn, Overview and Bins and rows say in words: short, plain, and true of the examples."""

import re

import numpy as np
import pytest

import calibcore as cc
from calibcore.measures.reconcile import Reconciled, reconcile_predictions
from calibcore.report import curve_words, learn, tools_words
from dashboard.assets import sample_paths

FORBIDDEN = ("well calibrated", "perfect", "safe", "better ECE", "significant", "Oops", "!")
EXACT = cc.Predictions.from_arrays(([1] * 4 + [0]) * 100 + ([0] * 4 + [1]) * 100, [0.8] * 500 + [0.2] * 500)
OVER = cc.Predictions.from_arrays(([1] * 4 + [0]) * 100 + ([0] * 4 + [1]) * 100, [0.9] * 500 + [0.1] * 500)


def all_text():
    found = [*learn.MEANING, *learn.HOW_TO_READ, *learn.CAUTIONS, learn.PRIVACY, learn.SHARING]
    found += [x for e in learn.EXAMPLES for x in (e.name, e.shape)]
    found += [x for t in learn.SCORES for x in (t.name, t.meaning, t.formula, t.limit)]
    found += [c for t in (learn.LIMITS, learn.GLOSSARY) for row in (t.header, *t.rows) for c in row]
    return found


def test_five_minutes_of_plain_words():
    said = " ".join(all_text())
    assert len(said.split()) < 1100  # at 220 words a minute
    assert not [w for w in FORBIDDEN if w in said]


def test_tables_are_tables():
    for table in (learn.LIMITS, learn.GLOSSARY):
        assert {len(row) for row in table.rows} == {len(table.header)}
    words = [row[0] for row in learn.GLOSSARY.rows]
    assert words == sorted(words)


def test_every_example_is_a_bundled_sample():
    assert {e.sample for e in learn.EXAMPLES} <= {p.stem for p in sample_paths()}


PATTERNS = {
    "steady-v1": "none_detected",
    "swift-v2": "uniform_overconfidence",
    "mixed-v3": "non_uniform_overconfidence",
    "timid-v4": "confidence_collapse",
    "certain-v5": "extreme_overconfidence",
}


@pytest.mark.parametrize("example", learn.EXAMPLES, ids=lambda e: e.sample)
def test_examples_show_their_shape_and_answer_their_questions(example):
    (path,) = (p for p in sample_paths() if p.stem == example.sample)
    (predictions,) = cc.read(path)
    a = cc.analyze(predictions)
    assert a.pattern.name == PATTERNS[example.sample]
    found = learn.questions(a)
    assert len(found) == 3
    assert all(q.text.endswith("?") and q.answer.endswith(".") for q in found)
    assert found[0].answer.startswith("The model ")
    assert example.sample not in found[0].answer


def test_three_parts_of_the_score():
    # Right 4 times in 5 at 0.9: the curve is at 0.8, so MCB = 0.01; 0.8 always: DSC = 0 in the confidence view; UNC = 0.16.
    said = curve_words.corp_sentence(cc.analyze(OVER))
    assert "0.1700, is 0.0100 miscalibration − 0.0000 discrimination + 0.1600 uncertainty" in said


def test_where_the_claims_do_not_fit():
    # 0.8 − 0.9 over all rows: 10 points too sure, at 90%.
    said = curve_words.cumulative_sentence(cc.analyze(OVER))
    assert said == "The largest fault lies at confidence 90%: too sure there, which adds up to 10.0 points of all rows (p ≤ 0.001)."


def test_nothing_to_find_where_all_adds_up():
    said = curve_words.cumulative_sentence(cc.analyze(EXACT))
    assert said == "The outcomes add up to what is claimed at every score."


def test_tools_are_a_table_of_their_values():
    found = reconcile_predictions(OVER, n_bins=15)
    table = tools_words.tools_table(found)
    assert table.header == ("Tool or rule", "ECE", "Why it differs")
    assert table.rows[0][:2] == ("calibcore", "0.1000")
    # tools of one value and one cause share a line: each is named once, and no two lines say the same
    assert len({row[1:] for row in table.rows}) == len(table.rows) < len(found)
    assert sorted(name for row in table.rows for name in row[0].split(", ")) == sorted(n for r in found for n in r.tool.split(", "))


def test_the_spread_of_the_tools():
    made = [Reconciled("a", 0.1, "x."), Reconciled("b", 0.3, "y."), Reconciled("c", None, "No value: it refuses.")]
    said = tools_words.tools_sentence(cc.analyze(OVER), made)
    assert said.startswith("The same 1,000 rows by 3 rules give an ECE from 0.1000 to 0.3000. 1 of 3 gives no value for these rows.")
    assert "not the bins shown" not in said
    other = tools_words.tools_sentence(cc.analyze(OVER, cc.Settings(strategy="equal_mass", n_bins=9)), made)
    assert other.endswith("All start from 9 equal-width bins (a, b], which are not the bins shown above.")


def test_a_stretch_that_is_not_sure_enough():
    under = cc.Predictions.from_top_label(np.full(400, 0.6), np.arange(400) % 5 != 0)
    said = curve_words.cumulative_sentence(cc.analyze(under))
    assert re.search(r"60%: not sure enough there, which adds up to 20\.0 points", said)


def test_in_the_positive_view_a_stretch_is_too_high_or_too_low_not_too_sure():
    # all say 20% and half are positive: the model is too sure of the negative, its probability too low
    low = cc.Predictions.from_arrays([1, 0] * 200, [0.2] * 400)
    said = curve_words.cumulative_sentence(cc.analyze(low, cc.Settings(view="positive")))
    assert said.startswith("The largest fault lies at probability 20%: probability too low there, which adds up to 30.0 points")


def test_the_example_that_is_too_sure_throughout_is_so_in_every_range():
    (swift,) = cc.read(next(p for p in sample_paths() if p.stem == "swift-v2"))
    a = cc.analyze(swift)
    assert (a.detection.bins.residual < 0).all()
    assert (a.bins.gap[a.bins.filled] < 0).all()
