"""Comparison of two models: how rows are matched and how large the differences are."""

import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref

import calibcore as cc
from calibcore.inference.comparison import differences, pair
from calibcore.predictions import Predictions

D_HALF = [(p + Fraction(6, 10)) / 2 for p in ref.D_P]  # model B predicts (p + ȳ)/2


def model(p, y=ref.D_Y, name="a", **options):
    return Predictions.from_arrays(y, ref.floats(p), name=name, **options)


def variance(values):
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / (len(values) - 1)


def test_paired_difference_of_brier_scores_on_d():
    a, b = model(ref.D_P), model(D_HALF, name="b")
    d = [(q - y) ** 2 - (p - y) ** 2 for p, q, y in zip(ref.D_P, D_HALF, ref.D_Y, strict=True)]
    assert sum(d) / 10 == Fraction(21, 1600)
    se = math.sqrt(variance(d) / 10)
    assert round(se, 4) == 0.0384
    found = differences(a, b)
    assert (found.pairing.paired, found.pairing.how, found.pairing.n_common, found.model) == (True, "row order", 10, "b")
    assert found.brier.value == pytest.approx(21 / 1600, abs=1e-15)  # model − baseline
    half = 2.2621571628 * se
    assert [found.brier.low, found.brier.high] == pytest.approx([21 / 1600 - half, 21 / 1600 + half], abs=1e-9)


def test_unpaired_difference_is_wider_and_of_welch():
    a = model(ref.D_P)
    b = model(D_HALF[::-1], y=ref.D_Y[::-1], name="b")  # the same rows in another order: not recognised, not paired
    found = differences(a, b)
    assert (found.pairing.paired, found.pairing.how, found.pairing.n_common) == (False, "not paired", 0)
    va, vb = (variance([(p - y) ** 2 for p, y in zip(ps, ref.D_Y, strict=True)]) for ps in (ref.D_P, D_HALF))
    se = math.sqrt((va + vb) / 10)
    assert round(se, 4) == 0.0751
    assert found.brier.value == pytest.approx(21 / 1600, abs=1e-15)
    df = float((va + vb) ** 2 / (va**2 / 9 + vb**2 / 9))
    assert 9 < df < 18
    half = (found.brier.high - found.brier.low) / 2
    assert 2.1009 * se < half < 2.2622 * se  # t with 18 and with 9 degrees of freedom


def test_gap_and_log_loss_differences():
    a, b = model(ref.D_P), model(D_HALF, name="b")
    found = differences(a, b, view="positive")
    assert found.gap.value == pytest.approx(float((sum(ref.D_P) - sum(D_HALF)) / 10), abs=1e-15)
    losses = [sum(-math.log(p if y else 1 - p) for p, y in zip(ps, ref.D_Y, strict=True)) / 10 for ps in (ref.D_P, D_HALF)]
    assert found.log_loss.value == pytest.approx(losses[1] - losses[0], abs=1e-14)


def test_identical_models_differ_by_nothing():
    found = differences(model(ref.D_P), model(ref.D_P, name="b"))
    for part in (found.brier, found.log_loss, found.gap):
        assert (part.value, part.low, part.high) == (0, 0, 0)


def test_ids_pair_rows_in_any_order():
    ids = [f"r{i}" for i in range(10)]
    order = [3, 0, 9, 1, 2, 8, 7, 4, 6, 5]
    a = model(ref.D_P, ids=ids)
    b = model([D_HALF[i] for i in order], y=[ref.D_Y[i] for i in order], ids=[ids[i] for i in order], name="b")
    found = differences(a, b)
    assert found.pairing.how == "id"
    assert found.brier.value == pytest.approx(21 / 1600, abs=1e-15)
    assert [ids[i] for i in found.pairing.first] == [ids[order[j]] for j in found.pairing.second]


def test_ids_in_part():
    a = model(ref.D_P[:8], y=ref.D_Y[:8], ids=list(range(8)))
    b = model(D_HALF[2:], y=ref.D_Y[2:], ids=list(range(2, 10)), name="b")
    p = pair(a, b)
    assert (p.n_common, p.only_first, p.only_second) == (6, 2, 2)


def test_ids_match_as_equal_numbers():
    a = model(ref.D_P, ids=list(range(10)))
    b = model(D_HALF[::-1], y=ref.D_Y[::-1], ids=[float(i) for i in range(9, -1, -1)], name="b")
    assert pair(a, b).how == "id"


def test_disjoint_ids_are_different_rows():
    a = model(ref.D_P, ids=[f"a{i}" for i in range(10)])
    b = model(D_HALF, ids=[f"b{i}" for i in range(10)], name="b")
    assert not pair(a, b).paired


def test_ids_that_repeat_or_conflict():
    with pytest.raises(cc.InputError, match="In a the id 1 occurs 2 times"):
        pair(model(ref.D_P, ids=[1, 1, *range(2, 10)]), model(ref.D_P, ids=range(10), name="b"))
    other = [1, 1, *ref.D_Y[2:]]
    with pytest.raises(cc.InputError, match=r"a and b have different labels for 2 ids \(0 and 1\)"):
        pair(model(ref.D_P, ids=range(10)), model(ref.D_P, y=other, ids=range(10), name="b"))


def test_labels_of_one_kind_do_not_prove_the_same_rows():
    a, b = (Predictions.from_arrays([1] * 5, [0.5] * 5, name=n) for n in "ab")
    assert not pair(a, b).paired


def test_labels_match_by_name_whatever_the_column_order():
    a = Predictions.from_arrays(["x", "y", "x"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], classes=["x", "y"], name="a")
    b = Predictions.from_arrays(["x", "y", "x"], [[0.1, 0.9], [0.8, 0.2], [0.4, 0.6]], classes=["y", "x"], name="b")
    found = differences(a, b)
    assert found.pairing.how == "row order"
    assert found.brier.value == pytest.approx(0, abs=1e-15)


def test_raised_log_losses_have_no_interval():
    a = model(ref.D_P)
    b = Predictions.from_arrays(ref.D_Y, [0.0] * 10, name="b")  # six events at probability 0
    found = differences(a, b)
    assert found.log_loss.low is None
    assert found.brier.low is not None
    assert any(n.startswith("6 log losses were raised") for n in found.notes)


def test_scores_of_different_kinds_are_not_compared():
    a = model(ref.D_P)
    b = Predictions.from_top_label(ref.floats(ref.D_P), ref.D_Y, name="b")
    found = differences(a, b)
    assert found.brier is None
    assert found.log_loss is None
    assert any("only the gap is compared" in n for n in found.notes)


def test_weights_of_either_model_are_not_ignored():
    # the baseline has none, the model has: rows that count differently cannot be paired as if they did not
    a = model(ref.D_P[:3], y=[1, 0, 1])
    b = model(ref.D_P[:3], y=[1, 0, 1], name="b", sample_weight=[1, 5, 9])
    try:
        found = differences(a, b)
    except cc.InputError:
        return
    value = found.brier.value
    mean = float(sum(w * (p - y) ** 2 for w, p, y in zip((1, 5, 9), ref.D_P[:3], (1, 0, 1), strict=True)) / 15)
    plain = float(sum((p - y) ** 2 for p, y in zip(ref.D_P[:3], (1, 0, 1), strict=True)) / 3)
    assert value == pytest.approx(mean - plain, abs=1e-12) or any("weight" in n for n in found.notes)


def test_weighted_paired_difference():
    w = [1, 5, 1, 2, 1, 3, 1, 1, 4, 2]
    a, b = model(ref.D_P, sample_weight=w), model(D_HALF, name="b", sample_weight=w)
    d = [(q - y) ** 2 - (p - y) ** 2 for p, q, y in zip(ref.D_P, D_HALF, ref.D_Y, strict=True)]
    assert differences(a, b).brier.value == pytest.approx(float(sum(v * x for v, x in zip(w, d, strict=True)) / sum(w)), abs=1e-15)
    scaled = [
        differences(model(ref.D_P, sample_weight=np.array(w) * s), model(D_HALF, name="b", sample_weight=np.array(w) * s)).brier
        for s in (1, 1e15)
    ]
    assert scaled[0].low == pytest.approx(scaled[1].low, rel=1e-9)


def test_one_row_has_no_interval():
    found = differences(Predictions.from_arrays([1], [0.9]), Predictions.from_arrays([0], [0.8], name="b"))
    assert found.brier.low is None
    assert found.gap.low is None


def test_paired_interval_covers_the_true_difference():
    # 500 samples of two models that share rows: 95 % to within three standard errors (0.03)
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(500):
        q = rng.uniform(0.1, 0.9, 120)
        y = (rng.random(120) < q).astype(int)
        a, b = Predictions.from_arrays(y, q), Predictions.from_arrays(y, np.clip(q + 0.1, 0, 1), name="b")
        d = differences(a, b).brier  # expected difference: E[(q + 0.1 − y)² − (q − y)²] = 0.01
        covered += d.low <= 0.01 <= d.high
    assert 0.92 <= covered / 500 <= 0.98
