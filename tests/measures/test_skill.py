"""Skill: exact fractions over the base rate, the class shares and the accuracy; labels all equal; properties."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.measures.skill import model_skill, skill, skill_scores
from calibcore.predictions import Predictions

P = ref.floats(ref.D_P)


def entropy(shares):
    return -sum(float(s) * math.log(s) for s in shares if s)


def test_skill_of_d():
    s = skill_scores(ref.D_Y, P)
    assert s.brier == pytest.approx(31 / 96, abs=1e-15)  # 1 − (13/80)/(6/25)
    assert round(s.log_loss, 10) == 0.2898471167  # 1 − 0.4779411758/0.6730116670
    assert (s.scale, s.reference) == ("0 to 1", "the base rate")
    assert s.to_dict() == {"brier": s.brier, "log_loss": s.log_loss, "reference": "the base rate"}


@pytest.mark.parametrize("view", ["top_label", "positive", "class:1", "class:0"])
def test_a_binary_model_has_one_skill_whatever_view_is_shown(view):
    a = cc.analyze(Predictions.from_arrays(ref.D_Y, P), cc.Settings(view=view))
    found = a.measures["skill"]
    assert (found.brier, found.reference) == (pytest.approx(31 / 96, abs=1e-14), "the base rate")
    assert found.log_loss == pytest.approx(0.2898471167, abs=1e-9)
    assert a.to_dict()["skill"]["reference"] == "the base rate"


# four rows of three classes a, b, b, c; weights 1, 2, 1, 4: shares 1/8, 3/8, 4/8
Y = ["a", "b", "b", "c"]
TENTHS = np.array([[7, 2, 1], [2, 5, 3], [6, 3, 1], [1, 1, 8]])
W = [1, 2, 1, 4]


def multi(weights=None, y=Y):
    return Predictions.from_arrays(y, TENTHS / 10, classes="abc", sample_weight=weights)


@pytest.mark.parametrize("weights", [None, W])
def test_skill_of_three_classes_is_over_the_class_shares(weights):
    w = [Fraction(v) for v in weights or [1] * 4]
    rows = [[Fraction(int(t), 10) - (y == c) for t, c in zip(row, "abc", strict=True)] for row, y in zip(TENTHS, Y, strict=True)]
    brier = sum(k * sum(d * d for d in row) for k, row in zip(w, rows, strict=True)) / sum(w)
    shares = [sum(k for k, y in zip(w, Y, strict=True) if y == c) / sum(w) for c in "abc"]
    # unweighted: (14 + 38 + 86 + 6)/100/4 = 9/25 over 1 − (1 + 4 + 1)/16 = 5/8; weighted: (14 + 76 + 86 + 24)/800 = 1/4 over 19/32
    assert 1 - brier / (1 - sum(s * s for s in shares)) == (Fraction(53, 125) if weights is None else Fraction(11, 19))
    loss = -sum(float(k) * math.log(v) for k, v in zip(w, (0.7, 0.5, 0.3, 0.8), strict=True)) / float(sum(w))
    s = model_skill(multi(weights))
    assert s.brier == pytest.approx(53 / 125 if weights is None else 11 / 19, abs=1e-15)
    assert s.log_loss == pytest.approx(1 - loss / entropy(shares), abs=1e-14)
    assert (s.scale, s.reference) == ("sum over classes, 0 to 2", "the class shares")
    assert skill_scores(Y, TENTHS / 10, classes="abc", sample_weight=weights) == s
    found = cc.analyze(multi(weights)).measures["skill"]
    assert (found.brier, found.reference) == (s.brier, s.reference)


def test_one_class_against_the_rest_is_over_its_base_rate():
    # class c: probabilities 1, 3, 1, 8 tenths; one of four rows: squared errors (1 + 9 + 1 + 4)/100/4 over 3/16
    s = cc.analyze(multi(), cc.Settings(view="class:c")).measures["skill"]
    assert (s.brier, s.reference, s.scale) == (pytest.approx(1 - (15 / 400) / (3 / 16), abs=1e-14), "the base rate", "0 to 1")
    assert skill_scores(Y, TENTHS / 10, classes="abc", view="class:c").brier == pytest.approx(4 / 5, abs=1e-14)


def test_skill_of_the_confidence():
    # squared errors 0.01, 0.36 and 0.04; two of three right: 2/9
    p = Predictions.from_top_label([0.9, 0.6, 0.8], [1, 0, 1])
    for s in (model_skill(p), skill(p.profile()), cc.analyze(p).measures["skill"]):
        assert s.scale == "of the confidence only, 0 to 1"
        assert s.reference == "always claiming the accuracy"
        assert s.brier == pytest.approx(1 - (0.01 + 0.36 + 0.04) / 3 / (2 / 9), abs=1e-14)
    # the confidence alone of a model of three classes, where it is asked for: right in the rows 1, 2 and 4
    top = skill_scores(Y, TENTHS / 10, classes="abc", view="top_label")
    assert top.reference == "always claiming the accuracy"
    assert top.brier == pytest.approx(1 - (9 + 25 + 36 + 4) / 400 / (3 / 16), abs=1e-14)


def test_a_profile_says_what_it_can():
    model = multi()
    for view, reference in (("top_label", "always claiming the accuracy"), ("class:a", "the base rate")):
        assert cc.analyze(model.profile(view)).measures["skill"] == skill(model.profile(view))
        assert skill(model.profile(view)).reference == reference


@pytest.mark.parametrize("view", ["top_label", "positive"])
@pytest.mark.parametrize("label", [0, 1])
def test_labels_that_are_all_equal_leave_no_skill(view, label):
    # right in two of three rows, so that the confidences seem to be worth something
    p = Predictions.from_arrays([label] * 3, [0.4, 0.8, 0.9] if label else [0.6, 0.2, 0.1], classes=[0, 1])
    found = cc.analyze(p, cc.Settings(view=view)).to_dict()["skill"]
    assert found == {"brier": None, "log_loss": None, "reference": "the base rate"}


@pytest.mark.parametrize("weights", [None, [0.1, 0.3, 1e10, 0.7]])
def test_three_classes_of_which_one_occurs(weights):
    found = model_skill(multi(weights, ["b"] * 4))
    assert (found.brier, found.log_loss, found.reference) == (None, None, "the class shares")
    assert cc.analyze(Predictions.from_top_label([0.5], [1])).measures["skill"].brier is None


def test_the_reference_has_no_skill_itself():
    base = skill_scores([1, 0, 0, 0], [0.25] * 4)
    assert (base.brier, base.log_loss) == pytest.approx((0, 0), abs=1e-15)
    shares = skill_scores([0, 1, 1, 2], [[0.25, 0.5, 0.25]] * 4)
    assert (shares.brier, shares.log_loss) == pytest.approx((0, 0), abs=1e-15)
    assert skill_scores([0, 1], [1.0, 0.0]).brier == -3.0  # 1 − 1/(1/4)
    # three classes, certain and wrong: 2 over 2/3
    wrong = model_skill(Predictions.from_arrays([0, 1, 2], np.eye(3)[[1, 2, 0]]))
    assert wrong.brier == pytest.approx(-2, abs=1e-15)
    assert wrong.log_loss == pytest.approx(1 - 52 * math.log(2) / math.log(3), rel=1e-14)


rows = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4)), min_size=1, max_size=20)


@given(rows, st.randoms(use_true_random=False), st.sampled_from([np.float32, np.float64]))
def test_order_repetition_and_scale(sample, random, dtype):
    y, a, b, w = (np.array(v) for v in zip(*sample, strict=True))
    p = np.column_stack([a, b, 20 - a - b]) / 20

    def found(order, weights):
        s = model_skill(Predictions.from_matrix(y[order], p[order].astype(dtype), ("a", "b", "c"), weight=weights))
        json.dumps(s.to_dict(), allow_nan=False)
        return s

    every = np.arange(len(y))
    order = np.array(random.sample(range(len(y)), len(y)))
    one = found(np.repeat(every, w), None)
    for other in (found(order, w[order] * 1e15), found(every, w * 1e-15)):
        assert (one.brier is None) == (other.brier is None) == (len(set(y.tolist())) == 1)
        if one.brier is not None:
            assert (other.brier, other.log_loss) == pytest.approx((one.brier, one.log_loss), rel=1e-6, abs=1e-6)


@given(st.lists(st.tuples(st.integers(0, 16), st.booleans()), min_size=1, max_size=25))
def test_complement(sample):
    k, y = (np.array(v) for v in zip(*sample, strict=True))
    one, other = (model_skill(Predictions.from_arrays(e.astype(int), v / 16, classes=[0, 1])) for v, e in ((k, y), (16 - k, ~y)))
    assert (one.brier, one.log_loss) == pytest.approx((other.brier, other.log_loss), abs=1e-12, nan_ok=True)
