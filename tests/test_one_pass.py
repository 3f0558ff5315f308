"""Bins straight from arrays: the same numbers as by way of Predictions, without copies, and no opinion about anything unusual."""

import tracemalloc
from math import fsum

import numpy as np
import pytest

import calibcore as cc
from calibcore.binned import bin_rows
from calibcore.block_sums import BlockSums
from calibcore.measures import calibration_error
from calibcore.partition import Partition
from calibcore.predictions import Predictions

FLOATS = (np.float64, np.float32, np.float16)


@pytest.fixture
def no_predictions(monkeypatch):
    """Predictions must not be needed."""
    monkeypatch.setattr(calibration_error, "Predictions", None)


def by_predictions(y_true, y_prob, partition, view):
    model = Predictions.from_arrays(y_true, y_prob)
    return bin_rows(partition, *model.rows(view))


def assert_equal_bins(found, expected):
    np.testing.assert_array_equal(found.count, expected.count)
    np.testing.assert_array_equal(found.edges, expected.edges)
    np.testing.assert_array_equal(found.accuracy, expected.accuracy)  # quotients of equal whole numbers
    np.testing.assert_allclose(found.confidence, expected.confidence, rtol=1e-14, atol=1e-300)
    assert (found.closed, found.strategy, found.requested) == (expected.closed, expected.strategy, expected.requested)


def on_and_beside_edges(m, dtype, rng, n=5000):
    """Edges k/m in the data's precision and their neighbours, 0 and 1, and anything between."""
    edges = (np.arange(m + 1) / m).astype(dtype)
    near = np.concatenate([edges, np.nextafter(edges, dtype(0)), np.nextafter(edges, dtype(1))])
    return np.concatenate([rng.choice(near, n // 2), rng.random(n - n // 2).astype(dtype)])


def softmax(rng, n, k, dtype):
    matrix = np.exp(rng.normal(size=(n, k)))
    return (matrix / matrix.sum(axis=1, keepdims=True)).astype(dtype)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("m", [1, 2, 7, 10, 15, 16, 49, 100, 1000])
def test_values_on_edges_and_beside_them(m, dtype, closed, no_predictions):
    rng = np.random.default_rng(m)
    p = on_and_beside_edges(m, dtype, rng)
    y = rng.integers(0, 2, len(p))
    found = cc.bin_statistics(y, p, n_bins=m, closed=closed)
    assert_equal_bins(found, by_predictions(y, p, Partition.equal_width(m, closed), "positive"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_edge_of_every_number_of_bins_is_in_its_own_bin(dtype):
    # k/m lies in bin k - 1 if the right side is closed, in bin k (the last: k - 1) if the left side is; and the next float
    # above it always in bin k.  The edges themselves are the definition: float(k/m), rounded once more to float32.
    for m in [*range(1, 130), 255, 1000, 1023, 4999, 9999, 10_000]:
        edges = (np.arange(m + 1) / m).astype(dtype)
        k = np.arange(m + 1)
        for closed, own in (("right", np.maximum(k - 1, 0)), ("left", np.minimum(k, m - 1))):
            sums = BlockSums(Partition.equal_width(m, closed), np.dtype(dtype))
            sums.add(edges, np.ones(m + 1, np.uint8))
            above = np.nextafter(edges[:-1], dtype(2))
            sums.add(above, np.zeros(m, np.uint8))
            rows, confidence, events = sums.totals()
            np.testing.assert_array_equal(events, np.bincount(own, minlength=m))
            np.testing.assert_array_equal(rows - events, np.ones(m))
            everything = fsum([*edges.tolist(), *above.tolist()])
            assert fsum(confidence.tolist()) == pytest.approx(everything, rel=1e-15)


@pytest.mark.parametrize("edges", [[0, 1], [0, 0.1, 0.35, 0.9, 1], [0, 0, 0.5, 1], [0, 1e-9, 2e-9, 0.5, 1 - 1e-7, 1]])
@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_any_edges(edges, closed, dtype, no_predictions):
    rng = np.random.default_rng(3)
    values = np.asarray(edges).astype(dtype)
    p = np.concatenate([rng.choice(values, 3000), rng.random(3001).astype(dtype)])
    y = rng.random(len(p)) < 0.5
    if dtype == np.float64 or len(np.unique(values)) == len(np.unique(edges)):
        found = cc.bin_statistics(y, p, edges=edges, closed=closed)
        assert_equal_bins(found, by_predictions(y, p, Partition.from_edges(edges, closed), "positive"))


@pytest.mark.parametrize(
    "label", [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64]
)
def test_labels_of_every_kind_also_with_gaps_in_memory(label, no_predictions):
    rng = np.random.default_rng(1)
    wide, both = rng.random((6001, 3)), rng.integers(0, 2, (6001, 2)).astype(label)
    for p, y in ((wide[:, 1], both[:, 0]), (wide[::-1, 2], both[::-1, 1]), (wide[:, 0].copy(), both[:, 1].copy())):
        found = cc.bin_statistics(y, p)
        assert_equal_bins(found, by_predictions(y, p, Partition.equal_width(15), "positive"))


@pytest.mark.parametrize("n", [4096, 81_919, 81_920, 81_921, 163_843])
def test_blocks_of_every_length(n, no_predictions):
    rng = np.random.default_rng(n)
    p = rng.beta(20, 1, n)
    y = rng.random(n) < p
    found = cc.bin_statistics(y, p)
    assert_equal_bins(found, by_predictions(y, p, Partition.equal_width(15), "positive"))
    assert found.count.sum() == n


@pytest.mark.parametrize(("dtype", "view"), [*zip(FLOATS, [None, "top_label", "top-label"], strict=True)])
@pytest.mark.parametrize("k", [2, 3, 10, 64, 65, 1000])
def test_top_label(k, dtype, view, no_predictions):
    rng = np.random.default_rng(k)
    n = 4100 if k > 100 else 20_000
    matrix = softmax(rng, n, k, dtype)
    tied = rng.integers(0, n, n // 4)
    matrix[tied, k - 1] = matrix[tied, 0] = (matrix[tied, 0] + matrix[tied, k - 1]) / 2  # first and last class are equal
    matrix[:50] = 1 / k
    y = np.where(rng.random(n) < 0.6, matrix.argmax(axis=1), rng.integers(0, k, n))
    for values in (matrix, np.asfortranarray(matrix)):
        found = cc.bin_statistics(y, values, view=view)
        assert_equal_bins(found, by_predictions(y, values, Partition.equal_width(15), "top_label"))


def test_the_first_of_equal_classes_is_the_prediction(no_predictions):
    # Every row has its largest value 2/5 in the classes 0 and 1; label 0 is right, label 1 is not.
    matrix = np.tile([0.4, 0.4, 0.2], (6000, 1))
    y = np.tile([0, 1, 2], 2000)
    assert cc.bin_statistics(y, matrix).accuracy[5] == 1 / 3


@pytest.mark.parametrize("dtype", FLOATS)
def test_top_label_of_one_column(dtype, no_predictions):
    rng = np.random.default_rng(4)
    p = np.concatenate([rng.random(5000).astype(dtype), np.full(100, 0.5, dtype), np.full(100, 0.18, dtype)])
    y = rng.integers(0, 2, len(p))
    found = cc.bin_statistics(y, p, view="top_label", n_bins=50)
    assert_equal_bins(found, by_predictions(y, p, Partition.equal_width(50), "top_label"))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("k", [2, 3, 10, 70])
def test_classwise(k, dtype, no_predictions):
    rng = np.random.default_rng(k)
    matrix = softmax(rng, 40_000 if k < 10 else 5000, k, dtype)
    y = rng.integers(0, k, len(matrix)).astype(np.int32)
    found = cc.classwise_calibration_error(y, matrix, n_bins=10)
    for c in range(k):
        expected = by_predictions(y, matrix, Partition.equal_width(10), f"class:{c}").ece
        assert found.per_class[str(c)] == pytest.approx(expected, abs=1e-14)
    assert found.rows == {str(c): int((y == c).sum()) for c in range(k)}


@pytest.mark.parametrize("m", [1, 2, 15, 4000, 10_000])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", ["smooth", "ties", "narrow", "zeros", "one value"])
def test_equal_mass(kind, dtype, m, no_predictions):
    rng = np.random.default_rng(m)
    n = 7001
    p = {
        "smooth": rng.random(n),
        "ties": rng.integers(0, 21, n) / 20,
        "narrow": 1 - rng.random(n) * 1e-3,
        "zeros": np.where(rng.random(n) < 0.4, 0.0, rng.random(n)),
        "one value": np.full(n, 0.7),
    }[kind].astype(dtype)
    y = rng.random(n) < p
    profile = Predictions.from_arrays(y, p).profile("positive")
    expected = profile.bin(Partition.equal_mass(profile, m))
    assert_equal_bins(cc.bin_statistics(y, p, n_bins=m, strategy="equal_mass"), expected)


@pytest.mark.parametrize(("dtype", "digits"), [(np.float64, 1e-15), (np.float32, 1e-7)])
def test_equal_mass_of_rows_that_are_sorted_in_two_shares(dtype, digits, no_predictions):
    # 400 rows say k/1000, of which ⌈0.4·k⌉ are events, for k = 0…999; the second share of the rows has the larger values.
    # Ten bins hold 40,000 rows each; the last value of bin j is (100·j + 99)/1000, and their mean (100·j + 49.5)/1000.
    k = np.repeat(np.arange(1000), 400)
    p, y = (k / 1000).astype(dtype), np.arange(len(k)) % 400 * 1000 < 400 * k
    found = cc.bin_statistics(y, p, n_bins=10, strategy="equal_mass")
    assert found.count.tolist() == [40_000] * 10
    np.testing.assert_array_equal(found.edges[1:-1], (np.arange(99, 900, 100) / 1000).astype(dtype))
    np.testing.assert_allclose(found.confidence, [(100 * j + 49.5) / 1000 for j in range(10)], rtol=digits)
    events = [sum(-(-400 * k // 1000) for k in range(100 * j, 100 * j + 100)) for j in range(10)]
    assert found.accuracy.tolist() == [e / 40_000 for e in events]


@pytest.mark.parametrize("view", ["positive", "top_label"])
def test_what_calibration_would_give_is_still_known(view):
    rng = np.random.default_rng(8)
    p = np.concatenate([rng.beta(8, 1, 5000), rng.random(30) / 10])  # the first bins hold few rows, the last many
    y = rng.random(len(p)) < p
    found, expected = cc.bin_statistics(y, p, view=view), by_predictions(y, p, Partition.equal_width(15), view)
    for ours, theirs in zip(found.calibrated_range(0.9), expected.calibrated_range(0.9), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    matrix = np.column_stack([1 - p, p])
    for ours, theirs in zip(cc.bin_statistics(y, matrix).calibrated_range(), expected.calibrated_range(), strict=True):
        assert ours.shape == theirs.shape


def bad(values, row, value):
    values = values.copy()
    values[row] = value
    return values


def unusual():
    rng = np.random.default_rng(5)
    n = 5000
    p, y = rng.random(n), rng.integers(0, 2, n)
    matrix, label = softmax(rng, n, 3, np.float64), rng.integers(0, 3, n)
    wide = softmax(rng, n, 70, np.float32)
    yield from ((name, y, bad(p, 4321, v), {}) for name, v in (("missing", np.nan), ("above", 1.1), ("below", -0.2), ("infinite", np.inf)))
    yield "hair above", y, bad(p, 7, 1 + 1e-10), {}
    yield "hair below", y, bad(p, 7, -1e-10), {}
    yield "minus zero", y, bad(p, 7, -0.0), {}
    yield from ((name, bad(y, 4999, v), p, {}) for name, v in (("negative label", -1), ("large label", 256)))
    yield "half a label", bad(y.astype(float), 3, 0.5), p, {}
    yield "label missing", bad(y.astype(float), 3, np.nan), p, {}
    yield "minus one", 2 * y - 1, p, {}
    yield "words", np.where(y, "yes", "no"), p, {}
    yield "words named", np.where(y, "yes", "no"), p, {"classes": ["no", "yes"]}
    yield "too short", y[:-1], p, {}
    yield "masked", np.ma.MaskedArray(y, mask=y > 5), np.ma.MaskedArray(p, mask=np.arange(n) == 9), {}
    yield "other byte order", y, p.astype(">f8"), {}
    yield "weights", y, p, {"sample_weight": rng.random(n)}
    yield "lists", y.tolist(), p.tolist(), {}
    yield "whole numbers", y, y, {}
    yield "one column", y, p[:, None], {}
    yield "three dimensions", y, p[:, None, None], {}
    yield "no such view", y, p, {"view": "class:7"}
    yield "class view", y, p, {"view": "class:0"}
    yield "view of the wrong kind", y, p, {"view": 3}
    yield "no such strategy", y, bad(p, 3, 2.0), {"strategy": "equal"}
    yield "no bins", y, p, {"n_bins": 0}
    yield "no bins of bad rows", y, bad(p, 3, 2.0), {"n_bins": 0}
    yield "edges down", y, p, {"edges": [0, 0.7, 0.3, 1]}
    yield "shared ties", y, p.round(1), {"strategy": "equal_mass", "ties": "share"}
    yield "mass with a missing value", y, bad(p, 4321, np.nan), {"strategy": "equal_mass"}
    yield "mass of the top label", y, p, {"strategy": "equal_mass", "view": "top_label"}
    for name, values, labels in (("matrix", matrix, label), ("wide", wide, label)):
        yield f"{name} missing", labels, bad(values, (4000, 1), np.nan), {}
        yield f"{name} below", labels, bad(values, (4000, 1), -0.3), {}
        yield f"{name} minus zero", labels, bad(values, (slice(None), 1), -0.0) + bad(0 * values, (slice(None), 0), values[0, 1]), {}
        yield f"{name} sums", labels, bad(values, 4500, values[4500] * 2), {}
        yield f"{name} sums a little off", labels, bad(values, 4500, values[4500] * 1.015), {}
        yield f"{name} label too large", bad(labels, 4999, values.shape[1]), values, {}
        yield f"{name} label negative", bad(labels, 4999, -1), values, {}
        yield f"{name} floats as labels", labels.astype(float), values, {}
        yield f"{name} has no positive class", labels, values, {"view": "positive"}
    yield "positive view of two columns", y, np.column_stack([1 - p, p]), {"view": "positive"}


def outcome(function, *arguments, **options):
    """What a call gives: bins as comparable numbers, or the sentence of its error."""
    try:
        found = function(*arguments, **options)
    except cc.InputError as error:
        return str(error), error.row, error.value if isinstance(error.value, (int, str, type(None))) else None
    if isinstance(found, cc.BinnedStatistics):
        return found.count.tolist(), found.ece
    return {k: round(v, 13) for k, v in found.per_class.items()}, found.rows


@pytest.mark.parametrize("case", [pytest.param(c, id=c[0]) for c in unusual()])
def test_anything_unusual_is_told_as_ever(case, monkeypatch):
    _, y, p, options = case
    functions = [cc.bin_statistics]
    if "view" not in options and np.ndim(p) == 2:
        functions.append(cc.classwise_calibration_error)
    found = [outcome(f, y, p, **options) for f in functions]
    monkeypatch.setattr("calibcore.one_pass._FEWEST", np.inf)  # so every array goes the long way
    assert found == [outcome(f, y, p, **options) for f in functions]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("label", [np.bool_, np.int64, np.int8])
@pytest.mark.parametrize("gaps", [1, 2])
def test_memory_does_not_grow_with_the_rows(dtype, label, gaps, no_predictions):
    rng = np.random.default_rng(2)
    p = rng.random((500_000, gaps), dtype=np.float32).astype(dtype)[:, 0]
    y = rng.integers(0, 2, (500_000, gaps)).astype(label)[:, 0]
    cc.expected_calibration_error(y[:5000], p[:5000])
    tracemalloc.start()
    try:
        cc.expected_calibration_error(y, p)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_sums_hold_to_the_last_digits_whatever_the_order():
    rng = np.random.default_rng(6)
    for p in (rng.beta(20, 1, 400_000), np.full(400_000, 0.123456), rng.integers(0, 101, 400_000) / 100):
        y = rng.random(len(p)) < p
        one, other = cc.bin_statistics(y, p), cc.bin_statistics(y[::-1], p[::-1])
        index = np.searchsorted(one.edges[1:-1], p)
        exact = [fsum(p[index == b].tolist()) for b in range(15)]
        for found in (one, other):
            filled = found.count > 0
            np.testing.assert_allclose((found.confidence * found.count)[filled], np.array(exact)[filled], rtol=2e-14)


def test_arrays_of_pandas_and_files_in_memory_are_ordinary(tmp_path, no_predictions):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(7)
    p, y = rng.random(5000), rng.integers(0, 2, 5000)
    np.save(tmp_path / "p.npy", p)
    expected = cc.expected_calibration_error(y, p)
    assert cc.expected_calibration_error(pd.Series(y), pd.Series(p)) == expected
    assert cc.expected_calibration_error(y, np.load(tmp_path / "p.npy", mmap_mode="r")) == expected


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("m", [1, 10, 15, 100, 10_000])
def test_the_compiled_loop_counts_the_same(m, dtype, closed, monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(m)
    p = on_and_beside_edges(m, dtype, rng, n=200_003)
    p.flags.writeable = m == 10
    y = rng.random(len(p)) < 0.5
    matrix = softmax(rng, 30_001, 3, dtype)
    label = rng.integers(0, 3, len(matrix))

    def everything():
        one = cc.bin_statistics(y, p, n_bins=m, closed=closed)
        two = cc.bin_statistics(y[::2], p[::2], n_bins=m, closed=closed)
        return one, two, cc.bin_statistics(label, matrix, n_bins=m, closed=closed), cc.classwise_calibration_error(label, matrix)

    *plain, plain_classes = everything()
    monkeypatch.setattr("calibcore.compiled.ENOUGH", 1)
    *found, found_classes = everything()
    for ours, theirs in zip(found, plain, strict=True):
        assert_equal_bins(ours, theirs)
    assert found_classes.per_class == pytest.approx(plain_classes.per_class, abs=1e-14)
