"""Properties that hold for every sample: order, merging, weights, refinement, bounds, both paths."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import calibcore as cc
from calibcore.measures.calibration_error import make_partition
from calibcore.predictions import Predictions

# confidences as people write them (many on edges, many tied), and any double or float of [0, 1]
written = st.one_of(
    st.integers(0, 20).map(lambda k: k / 20), st.integers(0, 100).map(lambda k: k / 100), st.integers(0, 12).map(lambda k: k / 12)
)
any_double = st.floats(0, 1)
confidences = st.one_of(st.lists(written, min_size=1, max_size=40), st.lists(any_double, min_size=1, max_size=40))
binnings = st.fixed_dictionaries(
    {
        "n_bins": st.integers(1, 30),
        "strategy": st.sampled_from(["equal_width", "equal_mass"]),
        "closed": st.sampled_from(["right", "left"]),
        "ties": st.sampled_from(["together", "share"]),
    }
)
dtypes = st.sampled_from([np.float64, np.float32])


@st.composite
def samples(draw, *, weights=False):
    """Confidence, outcome and, if asked for, whole weights from 1 to 6."""
    p = draw(confidences)
    y = draw(st.lists(st.booleans(), min_size=len(p), max_size=len(p)))
    w = draw(st.lists(st.integers(1, 6), min_size=len(p), max_size=len(p)))
    return (np.array(p), np.array(y), np.array(w, dtype=float)) if weights else (np.array(p), np.array(y))


def profile(p, y, w=None):
    return Predictions.from_top_label(p, y, sample_weight=w).profile()


def numbers(cells, binning):
    b = cells.bin(make_partition(cells, **binning))
    return np.array([b.ece, b.mce, b.rmsce, cells.accuracy, cells.mean_confidence, cells.totals.brier / cells.weight_sum])


def table(b):
    return [np.nan_to_num(a, nan=-9.0).tolist() for a in (b.count, b.weight, b.confidence, b.accuracy, b.edges)]


@given(samples(), binnings, dtypes, st.randoms(use_true_random=False))
def test_row_order_never_matters(sample, binning, dtype, random):
    p, y = sample[0].astype(dtype), sample[1]
    order = list(range(len(p)))
    random.shuffle(order)
    one, other = profile(p, y), profile(p[order], y[order])
    assert table(one.bin(make_partition(one, **binning))) == table(other.bin(make_partition(other, **binning)))
    assert numbers(one, binning).tolist() == numbers(other, binning).tolist()  # to the last bit


@given(samples(weights=True), binnings, st.randoms(use_true_random=False))
def test_row_order_never_matters_with_weights(sample, binning, random):
    p, y, w = sample
    w = w / 7
    order = list(range(len(p)))
    random.shuffle(order)
    np.testing.assert_allclose(numbers(profile(p, y, w), binning), numbers(profile(p[order], y[order], w[order]), binning), atol=1e-12)


@given(samples(), binnings, dtypes, st.integers(0, 40))
def test_merging_profiles_equals_profiling_the_whole(sample, binning, dtype, cut):
    p, y = sample[0].astype(dtype), sample[1]
    assume(len(p) > 1)
    cut = 1 + cut % (len(p) - 1)
    whole, merged = profile(p, y), profile(p[:cut], y[:cut]) + profile(p[cut:], y[cut:])
    for name in ("value", "count", "weight", "positive", "weight_squared", "positive_squared"):
        assert getattr(merged, name).tolist() == getattr(whole, name).tolist()
    np.testing.assert_allclose(numbers(merged, binning), numbers(whole, binning), atol=1e-14)


@given(samples(weights=True), st.integers(0, 40))
def test_merging_weighted_profiles(sample, cut):
    p, y, w = sample
    assume(len(p) > 1)
    cut = 1 + cut % (len(p) - 1)
    whole, merged = profile(p, y, w), profile(p[:cut], y[:cut], w[:cut]) + profile(p[cut:], y[cut:], w[cut:])
    for name in ("value", "count", "weight", "positive", "weight_squared", "positive_squared"):
        assert getattr(merged, name).tolist() == getattr(whole, name).tolist()  # whole weights add without rounding


@given(samples(weights=True), binnings)
def test_definition_8_a_weight_equals_repetitions(sample, binning):
    p, y, w = sample
    if binning["ties"] == "share":  # cut at k/M·W exactly, where repeated rows are cut at whole ranks: equal if M divides W
        assume(w.sum() % binning["n_bins"] == 0)
    times = w.astype(int)
    np.testing.assert_allclose(
        numbers(profile(p, y, w), binning), numbers(profile(np.repeat(p, times), np.repeat(y, times)), binning), atol=1e-12
    )


@given(samples(weights=True), binnings, st.sampled_from([1e15, 1e-15, 3.0, 1 / 3, 1e60]))
def test_definition_8_scale_of_weights_changes_nothing(sample, binning, scale):
    p, y, w = sample
    np.testing.assert_allclose(numbers(profile(p, y, w), binning), numbers(profile(p, y, w * scale), binning), atol=1e-12)


@given(samples(weights=True), binnings, st.lists(st.tuples(written, st.booleans()), max_size=5))
def test_definition_8_rows_of_weight_zero_change_nothing(sample, binning, extra):
    p, y, w = sample
    more = profile(
        np.concatenate([[e[0] for e in extra], p]),
        np.concatenate([np.array([e[1] for e in extra], dtype=bool), y]),
        np.concatenate([[0.0] * len(extra), w]),
    )
    assert numbers(more, binning).tolist() == numbers(profile(p, y, w), binning).tolist()


@given(samples(), binnings, dtypes)
def test_definition_2_counts_sum_to_n(sample, binning, dtype):
    cells = profile(sample[0].astype(dtype), sample[1])
    b = cells.bin(make_partition(cells, **binning))
    assert b.count.sum() == len(sample[0])
    assert ((b.confidence[b.filled] >= 0) & (b.confidence[b.filled] <= 1)).all()
    assert ((b.accuracy[b.filled] >= 0) & (b.accuracy[b.filled] <= 1)).all()


@given(samples(), st.integers(1, 20), st.integers(2, 6), st.sampled_from(["right", "left"]))
def test_refining_an_equal_width_partition_never_lowers_ece(sample, m, factor, closed):
    cells = profile(*sample)
    coarse, fine = (cells.bin(cc.Partition.equal_width(k, closed)).ece for k in (m, m * factor))
    assert fine >= coarse - 1e-12


@given(samples(weights=True), binnings)
def test_ece_is_at_most_rmsce_and_that_at_most_mce(sample, binning):
    ece, mce, rmsce, accuracy, confidence, _ = numbers(profile(*sample), binning)
    assert abs(accuracy - confidence) - 1e-12 <= ece <= rmsce + 1e-12  # one bin is the coarsest partition
    assert rmsce <= mce + 1e-12
    assert mce <= 1


@given(samples(weights=True), binnings, dtypes, st.booleans(), st.sampled_from(["positive", "top_label", "class:0"]))
def test_array_path_equals_profile_path(sample, binning, dtype, weighted, view):
    p, y, w = sample[0].astype(dtype), sample[1].astype(int), sample[2] if weighted else None
    cells = Predictions.from_arrays(y, p, sample_weight=w).profile(view)
    one, other = cc.bin_statistics(y, p, view=view, sample_weight=w, **binning), cells.bin(make_partition(cells, **binning))
    assert one.count.tolist() == other.count.tolist()
    assert one.edges.tolist() == other.edges.tolist()
    np.testing.assert_allclose(one.gap, other.gap, atol=1e-12)
    assert one.ece == pytest.approx(other.ece, abs=1e-12)


@given(samples(), binnings)
def test_bin_table_holds_its_rows(sample, binning):
    p, y = sample
    assume(binning["strategy"] == "equal_width")
    part = cc.Partition.equal_width(binning["n_bins"], binning["closed"])
    b, where = profile(p, y).bin(part), part.locate(p)
    for i in range(part.n_bins):
        low, high = part.edges[i], part.edges[i + 1]
        inside = p[where == i]
        outer = i == 0 if binning["closed"] == "right" else i == part.n_bins - 1
        if binning["closed"] == "right":
            assert ((inside > low) | (outer & (inside == low))).all()
            assert (inside <= high).all()
        else:
            assert (inside >= low).all()
            assert ((inside < high) | (outer & (inside == high))).all()
        assert b.count[i] == len(inside)


@settings(max_examples=15)
@given(st.data(), st.integers(2, 5), st.integers(1, 15))
def test_definition_1_class_order_changes_nothing_without_ties(data, k, n):
    # distinct whole parts of a sum that is a power of two: exact rows, no ties
    rows = [data.draw(st.permutations(range(k))) for _ in range(n)]
    parts = np.array([[2 ** (k - 1 - r) for r in row] for row in rows], dtype=float)
    p = parts / 2**k
    p[np.arange(n), parts.argmax(axis=1)] += 1 / 2**k  # 2^k − 1 parts and one more
    y = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    order = np.array(data.draw(st.permutations(range(k))))
    names = [f"c{i}" for i in range(k)]
    labels = [names[i] for i in y]
    one = Predictions.from_arrays(labels, p, classes=names)
    other = Predictions.from_arrays(labels, p[:, order], classes=[names[i] for i in order])
    assert one.confidence.tolist() == other.confidence.tolist()
    assert one.correct.tolist() == other.correct.tolist()
    assert one.n_tied == other.n_tied == 0
    a, b = (cc.analyze(m, cc.Settings(n_bins=7)) for m in (one, other))
    assert a.ece == b.ece
    assert a.brier == pytest.approx(b.brier, abs=1e-14)
    assert a.log_loss == pytest.approx(b.log_loss, abs=1e-14)
    per_class = [c.classwise.per_class for c in (a, b)]
    assert {n: pytest.approx(v, abs=1e-14) for n, v in per_class[0].items()} == per_class[1]


@given(samples())
def test_equal_mass_sizes_differ_by_at_most_one_without_ties(sample):
    p = np.unique(sample[0])
    cells = profile(p, np.zeros(len(p), dtype=bool))
    for m in (1, 2, 3, 7, 15):
        counts = cells.bin(cc.Partition.equal_mass(cells, m)).count
        assert counts.sum() == len(p)
        if m <= len(p):
            assert set(counts.tolist()) <= {len(p) // m, -(-len(p) // m)}


@given(st.one_of(written, any_double), dtypes)
def test_complement_is_its_own_inverse_within_rounding(p, dtype):
    value = np.array([p], dtype=dtype)
    model = Predictions.from_arrays([1], value)
    other = model.probabilities[0, 0]
    assert abs(float(other) - (1 - float(value[0]))) <= np.finfo(dtype).eps
    assert model.probabilities[0, 1] == value[0]
    assert model.confidence[0] == max(other, value[0])
