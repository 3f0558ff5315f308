"""Brier score and log loss: scales, clipping, weights, views."""

import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref

import calibcore as cc
from calibcore.measures.scores import brier_scale
from calibcore.predictions import Predictions

LARGEST = 52 * math.log(2)  # −log 2⁻⁵²


def test_definition_7_brier_and_log_loss_of_d():
    p = ref.floats(ref.D_P)
    assert cc.brier_score(ref.D_Y, p) == pytest.approx(13 / 80, abs=1e-15)
    product = math.prod(q if y else 1 - q for q, y in zip(ref.D_P, ref.D_Y, strict=True))
    assert cc.log_loss(ref.D_Y, p) == pytest.approx(-math.log(product) / 10, abs=1e-15)
    assert round(-math.log(product) / 10, 10) == 0.4779411758


def test_definition_7_binary_brier_is_on_one_scale_in_every_view():
    p = Predictions.from_arrays([0, 0, 1], [0.2, 0.7, 0.6])
    expected = (Fraction(4, 100) + Fraction(49, 100) + Fraction(16, 100)) / 3
    for view in ("top_label", "positive", "class:0", "class:1"):
        a = cc.analyze(p, cc.Settings(view=view))
        assert a.brier == pytest.approx(float(expected), abs=1e-15)
        assert a.brier_scale == "0 to 1"
        assert a.log_loss == pytest.approx(-(math.log(0.8) + math.log(0.3) + math.log(0.6)) / 3, abs=1e-15)


def test_definition_7_two_columns_give_the_same_brier_as_one():
    p = np.array([0.2, 0.7, 0.6])
    assert cc.brier_score([0, 0, 1], np.column_stack([1 - p, p])) == pytest.approx(cc.brier_score([0, 0, 1], p), abs=1e-15)


def test_definition_7_multiclass_brier_sums_over_classes():
    rows = [[Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)], [Fraction(2, 10), Fraction(5, 10), Fraction(3, 10)]]
    y = [0, 2]
    expected = sum(sum((q - (k == t)) ** 2 for k, q in enumerate(row)) for row, t in zip(rows, y, strict=True)) / 2
    p = np.array([ref.floats(r) for r in rows])
    assert cc.brier_score(y, p) == pytest.approx(float(expected), abs=1e-15)
    a = cc.analyze(Predictions.from_arrays(y, p))
    assert a.brier_scale == "sum over classes, 0 to 2"
    assert cc.brier_score([1, 2, 0], np.eye(3)) == 2.0  # certain and wrong
    assert cc.brier_score([0, 1, 2], np.eye(3)) == 0.0


def test_definition_7_one_class_of_several_is_on_the_scale_0_to_1():
    p = Predictions.from_arrays([0, 2], [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]])
    a = cc.analyze(p, cc.Settings(view="class:2"))
    assert a.brier == pytest.approx((0.1**2 + 0.7**2) / 2, abs=1e-15)
    assert a.log_loss == pytest.approx(-(math.log(0.9) + math.log(0.3)) / 2, abs=1e-15)
    assert a.brier_scale == "0 to 1"


def test_definition_7_confidences_only():
    a = cc.analyze(Predictions.from_top_label([0.9, 0.6], [1, 0]))
    assert a.brier == pytest.approx((0.01 + 0.36) / 2, abs=1e-15)
    assert a.brier_scale == "of the confidence only, 0 to 1"
    assert a.log_loss == pytest.approx(-(math.log(0.9) + math.log(0.4)) / 2, abs=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_definition_7_log_loss_is_raised_and_counted(dtype):
    p = Predictions.from_arrays([0, 1], np.array([1, 0.75], dtype=dtype))
    a = cc.analyze(p)
    assert a.log_loss == pytest.approx((LARGEST - math.log(0.75)) / 2, abs=1e-12)
    assert a.clipped == 1
    assert any("2⁻⁵²" in n and "1 row" in n for n in a.notes)


def test_definition_7_the_limit_itself_is_not_raised():
    for p, clipped in ((2.0**-52, 0), (2.0**-53, 1), (1e-300, 1), (0.0, 1)):
        a = cc.analyze(Predictions.from_arrays([1], [p]))
        assert a.clipped == clipped
        assert a.log_loss == pytest.approx(LARGEST, abs=1e-12)


def test_definition_7_certain_and_right_costs_nothing():
    p = np.array([1, 0.75], dtype=np.float32)
    assert cc.log_loss([1, 1], p) == pytest.approx(-math.log(0.75) / 2, abs=1e-12)
    assert cc.log_loss([1, 0], [1.0, 0.0]) == 0.0


def test_definition_7_multiclass_log_loss():
    assert cc.log_loss([0, 1], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]) == pytest.approx(-(math.log(0.5) + math.log(0.2)) / 2, abs=1e-15)
    a = cc.analyze(Predictions.from_arrays([0, 1, 2], [[0, 1, 0], [0, 1, 0], [0, 0, 1.0]]))
    assert a.clipped == 1
    assert a.log_loss == pytest.approx(LARGEST / 3, abs=1e-12)


def test_definition_8_scores_are_weighted_means():
    y, p, w = [0, 1, 1, 1], [0.2, 0.4, 0.7, 0.9], [1, 20, 1, 2]
    assert cc.brier_score(y, p, sample_weight=w) == pytest.approx(49 / 160, abs=1e-15)
    expected = -(math.log(0.8) + 20 * math.log(0.4) + math.log(0.7) + 2 * math.log(0.9)) / 24
    assert cc.log_loss(y, p, sample_weight=w) == pytest.approx(expected, abs=1e-15)
    assert cc.log_loss(y, p, sample_weight=np.array(w) * 1e15) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(
    ("task", "view", "scale"),
    [
        ("binary", "top_label", "0 to 1"),
        ("binary", "positive", "0 to 1"),
        ("multiclass", "top_label", "sum over classes, 0 to 2"),
        ("multiclass", "class:a", "0 to 1"),
        ("top_label", "top_label", "of the confidence only, 0 to 1"),
    ],
)
def test_scale_in_words(task, view, scale):
    assert brier_scale(task, view) == scale
