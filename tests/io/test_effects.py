"""What a choice of columns does to the plain figures, and the sentence where it cannot be followed."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.errors import InputError
from calibcore.io.effects import effects_of, shared_notes, try_bytes


def csv(*rows):
    return "\n".join(",".join(map(str, r)) for r in rows).encode()


TWO = csv(
    ("outcome", "seen", "risk", "other_risk", "n"),
    (1, 0, 0.75, 0.5, 1),
    (0, 0, 0.25, 0.125, 3),
    (1, 1, 0.5, 1.0, 1),
    (0, 1, 1.0, 0.25, 3),
)


def test_the_figures_of_a_binary_file():
    # P(1) = 3/4, 1/4, 1/2, 1: mean 5/8; two of four are 1; predicted 1, 0, 0 (½ predicts the other), 1: two of four are right.
    (effect,) = try_bytes(TWO, "a.csv", {"label": "outcome", "probabilities": "risk"}).effects
    assert (effect.n, effect.n_left_out) == (4, 0)
    assert (effect.probability, effect.base_rate, effect.positive) == (5 / 8, 1 / 2, "1")
    assert effect.accuracy == 1 / 2
    assert effect.confidence == (3 / 4 + 3 / 4 + 1 / 2 + 1) / 4


def test_another_column_gives_other_figures():
    figures = [try_bytes(TWO, "a.csv", {"label": "outcome", "probabilities": p}).effects[0].probability for p in ("risk", "other_risk")]
    assert figures == [5 / 8, (1 / 2 + 1 / 8 + 1 + 1 / 4) / 4]
    rates = [try_bytes(TWO, "a.csv", {"label": y, "probabilities": "risk"}).effects[0].accuracy for y in ("outcome", "seen")]
    assert rates == [2 / 4, 2 / 4]  # seen: predicted 1, 0, 0, 1 against 0, 0, 1, 1


def test_weights_count_as_repetitions():
    (effect,) = try_bytes(TWO, "a.csv", {"label": "outcome", "probabilities": "risk", "weight": "n"}).effects
    assert effect.n == 4
    assert effect.probability == pytest.approx((3 / 4 + 3 / 4 + 1 / 2 + 3) / 8)
    assert effect.base_rate == pytest.approx(2 / 8)


def test_the_other_class_turns_the_probability_round():
    data = csv(("state", "p"), ("ill", 0.75), ("well", 0.5), ("ill", 0.75), ("well", 0.0))
    for positive, rate in (("ill", 2 / 4), ("well", 2 / 4)):
        (effect,) = try_bytes(data, "s.csv", {"label": "state", "positive": positive}).effects
        assert (effect.positive, effect.probability, effect.base_rate) == (positive, 2 / 4, rate)
        assert effect.accuracy == (1 if positive == "ill" else 0)  # "ill" at ¾ twice, "well" at ½ and 0


def test_confidences_have_no_base_rate():
    data = csv(("true", "pred", "confidence"), ("a", "a", 0.875), ("b", "c", 0.5), ("c", "c", 0.75), ("a", "a", 0.875))
    (effect,) = try_bytes(data, "t.csv").effects
    assert (effect.accuracy, effect.confidence, effect.probability, effect.base_rate) == (3 / 4, 3 / 4, None, None)
    assert [name for name, _ in effect.figures()] == ["Rows used", "Rows left out", "Mean confidence", "Accuracy"]


def test_rows_left_out_are_counted_and_said():
    data = csv(("label", "p"), *[(i % 2, 0.25 + i % 2 / 2) for i in range(40)], (1, ""), ("", 0.5))
    refused = try_bytes(data, "m.csv")
    (asked,) = refused.questions
    assert asked.text.startswith("1 of 42 rows have no")
    assert not refused.readable
    trial = try_bytes(data, "m.csv", {"missing": "drop"})
    assert (trial.effects[0].n, trial.effects[0].n_left_out) == (40, 2)
    assert any("left out" in note for note in shared_notes(trial.effects))


def test_questions_are_those_of_reading_the_file():
    data = csv(("diagnosis", "probability"), *[("ill" if i % 3 else "well", 0.25 + i % 3 / 8) for i in range(60)])
    trial = try_bytes(data, "d.csv", {"label": "diagnosis"})
    with pytest.raises(cc.AmbiguousLayout) as asked:
        cc.read(data, mapping=cc.Mapping(label="diagnosis"))
    assert [q.id for q in trial.questions] == [q.id for q in asked.value.questions] == ["positive"]
    assert trial.questions[0].options == asked.value.questions[0].options
    assert len(trial.layout.preview) == 5
    assert trial.layout.columns == ("diagnosis", "probability")


@pytest.mark.parametrize(
    ("answers", "word"),
    [
        ({"label": "gone"}, "no column called 'gone'"),
        ({"scale": "celsius"}, "scale must be"),
        ({"classes": ("0", "1"), "positive": "0"}, "the second is the positive one"),
        ({"probabilities": "outcome", "label": "risk"}, "risk"),
    ],
)
def test_a_choice_that_cannot_be_followed_is_one_sentence(answers, word):
    trial = try_bytes(TWO, "a.csv", answers)
    assert word in trial.problem
    assert trial.effects == ()
    assert trial.layout.columns == ("outcome", "seen", "risk", "other_risk", "n")


def test_bytes_that_hold_no_table_are_refused():
    with pytest.raises(InputError, match="empty"):
        try_bytes(b"", "e.csv", {"label": "y"})


def test_the_layout_says_scale_and_classes():
    data = csv(("label", "p"), *[(i % 2, 20 + 60 * (i % 2)) for i in range(40)])
    layout = try_bytes(data, "p.csv").layout
    assert (layout.scale, layout.classes) == ("percent", ("0", "1"))
    assert json.loads(json.dumps(layout.to_dict()))["scale"] == "percent"


def test_percentages_never_round_to_certainty():
    one_wrong = [1] * 99_999 + [0]
    (effect,) = effects_of([cc.Predictions.from_arrays(one_wrong, [1.0] * 100_000)])
    shown = dict(effect.figures())
    assert shown["Accuracy"] == "99.999%"
    assert shown["Mean confidence"] == "100.0%"
    assert shown["Rows used"] == "100,000"
    json.dumps(effect.to_dict(), allow_nan=False)


ROWS = st.lists(st.tuples(st.booleans(), st.integers(0, 64), st.integers(1, 4)), min_size=1, max_size=30)


@given(ROWS, st.randoms(use_true_random=False), st.sampled_from([1e-15, 1.0, 1e15]))
def test_order_and_scale_do_not_matter_and_a_weight_is_a_repetition(rows, random, scale):
    def effect(some, weights):
        y, p = [int(r[0]) for r in some], [r[1] / 64 for r in some]
        return effects_of([cc.Predictions.from_arrays(y, p, sample_weight=weights)])[0]

    mixed = random.sample(rows, len(rows))
    repeated = [r for r in rows for _ in range(r[2])]
    weighted = effect(mixed, [r[2] * scale for r in mixed])
    plain = effect(repeated, None)
    for name in ("accuracy", "confidence", "probability", "base_rate"):
        assert math.isclose(getattr(weighted, name), getattr(plain, name), rel_tol=1e-14, abs_tol=1e-300)
    assert weighted.n == len(rows)
