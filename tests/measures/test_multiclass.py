"""Errors of several classes: worked examples, plain loops, names, and the path for many classes."""

from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.measures import multiclass as module
from calibcore.measures.calibration_error import make_partition
from calibcore.measures.multiclass import (
    adaptive_calibration_error,
    classwise_floors,
    multiclass,
    static_calibration_error,
    thresholded_adaptive_calibration_error,
    top_label_calibration_error,
    top_label_error,
)
from calibcore.measures.noise_floor import noise_floor
from calibcore.predictions import Predictions

# six rows, three classes, in tenths
THREE = [[Fraction(k, 10) for k in row] for row in ((7, 2, 1), (6, 3, 1), (5, 4, 1), (2, 7, 1), (1, 5, 4), (1, 1, 8))]
THREE_P = np.array([ref.floats(row) for row in THREE])
THREE_Y = [0, 0, 1, 1, 2, 2]


def adaptive(rows, ys, m, threshold=Fraction(-1), weights=None):
    """Nixon's adaptive error in fractions; ties together; classes without a probability above the threshold count as 0."""
    found = Fraction(0)
    for k in range(len(rows[0])):
        keep = [i for i, row in enumerate(rows) if row[k] > threshold]
        if not keep:
            continue
        ps, hits = [rows[i][k] for i in keep], [int(ys[i] == k) for i in keep]
        w = [weights[i] for i in keep] if weights else [1] * len(keep)
        gaps = ref.gaps(ref.sums(ps, hits, ref.weighted_mass_edges(ps, w, m), weights=w))
        found += sum(abs(g) for _, g in gaps) / len(gaps)
    return found / len(rows[0])


def top_label(rows, ys, edges, weights=None):
    """Top-label ECE and confidence ECE in fractions, in fixed bins."""
    w = weights or [1] * len(rows)
    said = [max(range(len(row)), key=lambda k, row=row: (row[k], -k)) for row in rows]
    conf, right = [row[c] for row, c in zip(rows, said, strict=True)], [int(c == y) for c, y in zip(said, ys, strict=True)]
    found = Fraction(0)
    for c in set(said):
        at = [i for i, s in enumerate(said) if s == c]
        one = ref.ece(ref.sums([conf[i] for i in at], [right[i] for i in at], edges, weights=[w[i] for i in at]))
        found += Fraction(sum(w[i] for i in at), sum(w)) * one
    return found, ref.ece(ref.sums(conf, right, edges, weights=w))


def test_worked_example():
    m = multiclass(Predictions.from_arrays(THREE_Y, THREE_P), n_bins=2, threshold=0.15)
    assert m.confidence_ece == pytest.approx(11 / 30, abs=1e-15)
    assert m.sce == pytest.approx(7 / 45, abs=1e-15)  # (4/15 + 2/15 + 1/15)/3
    assert m.ace == pytest.approx(31 / 180, abs=1e-15)
    assert m.tace == pytest.approx(49 / 180, abs=1e-15)
    assert (m.threshold, m.n_bins) == (0.15, 2)
    assert adaptive(THREE, THREE_Y, 2) == Fraction(31, 180)
    assert adaptive(THREE, THREE_Y, 2, Fraction(15, 100)) == Fraction(49, 180)


def test_confidence_and_top_label_of_the_worked_example():
    found, confidence = top_label(THREE, THREE_Y, ref.equal_width(2))
    m = multiclass(Predictions.from_arrays(THREE_Y, THREE_P), n_bins=2)
    assert confidence == Fraction(11, 30)
    assert (m.top_label_ece, m.confidence_ece) == (pytest.approx(float(found), abs=1e-15), pytest.approx(11 / 30, abs=1e-15))


def test_functions_on_arrays():
    assert static_calibration_error(THREE_Y, THREE_P, n_bins=2) == pytest.approx(7 / 45, abs=1e-15)
    assert static_calibration_error(THREE_Y, THREE_P, n_bins=2) == cc.classwise_calibration_error(THREE_Y, THREE_P, n_bins=2).mean
    assert adaptive_calibration_error(THREE_Y, THREE_P, n_bins=2) == pytest.approx(31 / 180, abs=1e-15)
    found = thresholded_adaptive_calibration_error(THREE_Y, THREE_P, threshold=0.15, n_bins=2)
    assert found == pytest.approx(49 / 180, abs=1e-15)
    names = ["a", "a", "b", "b", "c", "c"]
    assert adaptive_calibration_error(names, THREE_P, n_bins=2, classes=["a", "b", "c"]) == pytest.approx(31 / 180, abs=1e-15)


def test_top_label_sees_what_cancels():
    # five rows say a (1 right), five say b (5 right), all at 6/10
    p = [[0.6, 0.4]] * 5 + [[0.4, 0.6]] * 5
    e = top_label_calibration_error(["a"] + ["b"] * 9, p, n_bins=10)
    assert e.confidence_ece == pytest.approx(0, abs=1e-15)
    assert e.value == pytest.approx(2 / 5, abs=1e-15)
    assert e.per_class == pytest.approx({"a": 2 / 5, "b": 2 / 5}, abs=1e-15)
    assert e.to_dict()["per_class"]["a"] == {"ece": pytest.approx(2 / 5), "n": 5}
    assert e.rows == {"a": 5, "b": 5}


def test_one_range_of_the_probabilities_above_a_threshold():
    p = [[0.97, 0.02, 0.01], [0.1, 0.7, 0.2], [0.3, 0.2, 0.5], [0.05, 0.15, 0.8]]
    y = [1, 1, 0, 2]
    # above .01: class 0 all four (1 event), class 1 all four (2 events), class 2 .2 .5 .8 (1 event)
    expected = (abs(1 - 1.42) / 4 + abs(2 - 1.07) / 4 + abs(1 - 1.5) / 3) / 3
    assert thresholded_adaptive_calibration_error(y, p, n_bins=1) == pytest.approx(expected, abs=1e-15)
    # nothing of classes 1 and 2 lies above .9: they count as 0
    assert thresholded_adaptive_calibration_error(y, p, n_bins=1, threshold=0.9) == pytest.approx(0.97 / 3, abs=1e-15)


def test_a_probability_on_the_threshold_is_left_out_in_the_precision_of_the_data():
    for dtype in (np.float32, np.float64):
        p = np.array([[0.15, 0.85], [0.4, 0.6]], dtype)
        # class 0 keeps .4 (event 0), class 1 keeps .85 and .6 (both events)
        expected = (0.4 + abs(2 - 1.45) / 2) / 2
        assert thresholded_adaptive_calibration_error([1, 1], p, n_bins=1, threshold=0.15) == pytest.approx(expected, abs=1e-7)


tenths = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10), st.integers(0, 2), st.integers(1, 4)), min_size=1, max_size=15)


def rows_of(sample):
    """Three probabilities in tenths that add up to one, labels, whole weights."""
    rows = [[Fraction(min(a, b), 10), Fraction(abs(a - b), 10), Fraction(10 - max(a, b), 10)] for a, b, _, _ in sample]
    return rows, [s[2] for s in sample], [s[3] for s in sample]


@given(tenths, st.integers(1, 6), st.sampled_from([1.0, 1e15, 1e-15]))
def test_against_plain_loops(sample, m, factor):
    rows, ys, w = rows_of(sample)
    p = np.array([ref.floats(r) for r in rows])
    predictions = Predictions.from_arrays(ys, p, classes=[0, 1, 2], sample_weight=np.array(w) * factor)
    found = multiclass(predictions, n_bins=m, threshold=0.1)
    assert found.ace == pytest.approx(float(adaptive(rows, ys, m, weights=w)), abs=1e-12)
    assert found.tace == pytest.approx(float(adaptive(rows, ys, m, Fraction(1, 10), weights=w)), abs=1e-12)
    top, confidence = top_label(rows, ys, ref.equal_width(m), weights=w)
    assert (found.top_label_ece, found.confidence_ece) == pytest.approx((float(top), float(confidence)), abs=1e-12)
    assert found.top_label_ece >= found.confidence_ece - 1e-12
    per_class = [ref.ece(ref.sums([r[k] for r in rows], [int(y == k) for y in ys], ref.equal_width(m), weights=w)) for k in range(3)]
    assert found.sce == pytest.approx(float(sum(per_class) / 3), abs=1e-12)


@given(tenths, st.sampled_from(["equal_width", "equal_mass"]), st.randoms(use_true_random=False))
def test_order_of_rows_and_repetition(sample, strategy, random):
    rows, ys, w = rows_of(sample)
    p = np.array([ref.floats(r) for r in rows])
    once = multiclass(Predictions.from_arrays(ys, p, classes=[0, 1, 2], sample_weight=w), n_bins=3, strategy=strategy)
    order = np.repeat(np.arange(len(ys)), w)
    random.shuffle(order)
    other = multiclass(Predictions.from_arrays(np.array(ys)[order], p[order], classes=[0, 1, 2]), n_bins=3, strategy=strategy)
    assert [once.sce, once.ace, once.tace, once.top_label_ece] == pytest.approx(
        [other.sce, other.ace, other.tace, other.top_label_ece], abs=1e-12
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "binning", [{"n_bins": 5}, {"n_bins": 5, "strategy": "equal_mass"}, {"n_bins": 3, "closed": "left"}, {"edges": [0, 0.3, 1]}]
)
def test_many_classes_take_another_path_to_the_same_values(monkeypatch, weighted, binning):
    rng = np.random.default_rng(8)
    p = rng.dirichlet([0.5] * 7, 60).round(2)
    p[:, 0] += 1 - p.sum(axis=1)
    p = np.abs(p)
    w = rng.integers(1, 5, 60) if weighted else None
    few = Predictions.from_arrays(rng.integers(0, 7, 60), p, classes=range(7), sample_weight=w)
    one, floors = multiclass(few, **binning), classwise_floors(few, **binning)
    assert one.floors == floors
    for name in few.classes:
        profile = few.profile(f"class:{name}")
        partition = make_partition(profile, **binning)
        assert floors[name] == noise_floor(profile, partition)
    monkeypatch.setattr(module, "_FEW_CLASSES", 0)
    monkeypatch.setattr(module, "_BLOCK", 3)
    assert multiclass(few, **binning).to_dict() == one.to_dict()


def test_floors_of_a_calibrated_model_are_its_mean_errors():
    # 100 samples of 400 rows, labels drawn from the probabilities: mean ECE of each class is its floor, to a few percent
    rng = np.random.default_rng(9)
    p = rng.dirichlet([2, 1, 0.5], 400)
    edges, found = np.cumsum(p, axis=1), []
    for _ in range(100):
        y = np.minimum((rng.random((400, 1)) > edges).sum(axis=1), 2)
        found.append(list(cc.classwise_calibration_error(y, p, n_bins=10, classes=range(3)).per_class.values()))
    floors = classwise_floors(Predictions.from_arrays(y, p, classes=range(3)), n_bins=10)
    error = np.std(found, axis=0) / 10
    assert np.all(np.abs(np.mean(found, axis=0) - list(floors.values())) < 4 * error + 0.03 * np.array(list(floors.values())))


def test_two_classes():
    p = [0.12, 0.15, 0.88, 0.85, 0.91]
    m = multiclass(Predictions.from_arrays([0, 0, 1, 1, 0], p), n_bins=5)
    assert m.sce == pytest.approx(91 / 500, abs=1e-15)
    assert m.confidence_ece == pytest.approx(37 / 500, abs=1e-15)
    # said 0: .88 and .85, both right: 27/200; said 1: .88, .85, .91 with 2 of 3 right: 64/300, all in (.8, 1]
    assert m.top_label_ece == pytest.approx(2 / 5 * 27 / 200 + 3 / 5 * 64 / 300, abs=1e-15)


def test_top_label_of_confidences_with_names():
    q = Predictions.from_top_label([0.6] * 10, [1, 0, 0, 0, 0] + [1] * 5, predicted=["a"] * 5 + ["b"] * 5)
    assert top_label_error(q, n_bins=10).value == pytest.approx(2 / 5, abs=1e-15)
    assert top_label_error(q, strategy="equal_mass", n_bins=3).value == pytest.approx(2 / 5, abs=1e-15)
    with pytest.raises(cc.InputError, match="a probability for every class"):
        multiclass(q)
    with pytest.raises(cc.InputError, match="which class was predicted"):
        top_label_error(Predictions.from_top_label([0.6], [1]))


def test_names_that_clash_are_spelt_out():
    found = multiclass(Predictions.from_arrays(THREE_Y, THREE_P), n_bins=2).to_dict()
    assert found["adaptive"]["name"] == "ACE (Nixon 2019: equal-mass ranges, unweighted)"
    assert found["thresholded_adaptive"]["threshold"] == 0.01
    assert set(found["floors"]) == {"0", "1", "2"}


def test_bad_settings():
    predictions = Predictions.from_arrays(THREE_Y, THREE_P)
    for threshold in (-0.1, 1, "0.1", True, float("nan")):
        with pytest.raises(cc.InputError, match="threshold must be"):
            multiclass(predictions, threshold=threshold)
    with pytest.raises(cc.InputError, match="strategy must be"):
        top_label_calibration_error(THREE_Y, THREE_P, strategy="mass")
    with pytest.raises(cc.InputError, match="whole number"):
        adaptive_calibration_error(THREE_Y, THREE_P, n_bins=0)
    with pytest.raises(TypeError):
        classwise_floors(predictions, bins=3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_of_the_possible(dtype):
    one = multiclass(Predictions.from_arrays([1], np.array([[0.25, 0.75]], dtype), classes=[0, 1]))
    assert (one.sce, one.ace, one.tace, one.top_label_ece) == (0.25, 0.25, 0.25, 0.25)
    wrong = multiclass(Predictions.from_arrays([1, 1], np.array([[1, 0], [1, 0]], dtype), classes=[0, 1]))
    assert (wrong.sce, wrong.ace, wrong.tace, wrong.top_label_ece) == (1, 1, 0.5, 1)  # no probability of class 1 is above .01
    assert wrong.floors == {"0": 0, "1": 0}
