"""Reduced profiles: what is exact on them is exact, and they add up, whatever the values."""

import numpy as np
import pytest

from calibcore.errors import InputError
from calibcore.grid import cuts
from calibcore.measures.murphy import murphy
from calibcore.measures.noise_floor import noise_floor
from calibcore.measures.squared_error import squared_error
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.reduction import Reduction
from calibcore.rowless import alone
from calibcore.totals import Totals

N = 20_000


def probabilities(kind, rng):
    edges = np.concatenate([np.arange(m + 1) / m for m in (7, 10, 15, 64, 97, 100)])
    return {
        "uniform": rng.random(N),
        "mostly above 0.999": 1 - rng.beta(0.3, 900, N),
        "on edges": np.concatenate([edges, rng.choice(edges, N)]),
        "beside edges": np.clip(np.nextafter(rng.choice(cuts(), N), rng.choice([0.0, 1.0], N)), 0, 1),
        "three decimals": rng.integers(0, 1001, N) / 1000,
        "tiny": np.concatenate([2.0 ** -rng.integers(1, 1070, N // 2), 1 - 2.0 ** -rng.integers(1, 60, N // 2)]),
    }[kind]


KINDS = ["uniform", "mostly above 0.999", "on edges", "beside edges", "three decimals", "tiny"]


def both(kind, dtype, *, weighted=False, seed=5):
    rng = np.random.default_rng(seed)
    p = probabilities(kind, rng).astype(dtype)
    event = rng.random(len(p)) < p.astype(np.float64) ** 1.2
    weight = rng.choice([0.25, 1.0, 3.0], len(p)) if weighted else None
    rows = Profile.from_rows(p, event, weight=weight, view="positive", task="binary", n_classes=2)
    return rows, rows.to_reduced()


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_equal_width_is_exact(kind, dtype, weighted):
    rows, reduced = both(kind, dtype, weighted=weighted)
    assert reduced.n == rows.n
    for m in (1, 7, 10, 64, 97, 100):
        for closed in ("right", "left"):
            bins = Partition.equal_width(m, closed)
            a, b = rows.bin(bins), reduced.bin(bins)
            assert np.array_equal(a.count, b.count)
            np.testing.assert_allclose(b.weight, a.weight, rtol=1e-12)
            np.testing.assert_allclose(b.gap, a.gap, atol=1e-12)
            for name in ("ece", "mce", "rmsce"):
                assert getattr(b, name) == pytest.approx(getattr(a, name), abs=1e-12)
            assert noise_floor(reduced, bins) == pytest.approx(noise_floor(rows, bins), abs=1e-12)
            one, two = murphy(rows, bins), murphy(reduced, bins)
            for name in ("rel", "res", "unc", "wbv", "wbc", "brier"):
                assert getattr(two, name) == pytest.approx(getattr(one, name), abs=1e-12), name
            assert squared_error(reduced, bins).value == pytest.approx(squared_error(rows, bins).value, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_custom_edges_on_fractions_are_exact(kind):
    rows, reduced = both(kind, np.float64)
    for closed in ("right", "left"):
        bins = Partition.from_edges([0, 1 / 97, 1 / 3, 0.5, 0.9, 98 / 99, 1], closed)
        assert np.array_equal(rows.bin(bins).count, reduced.bin(bins).count)
        assert reduced.bin(bins).ece == pytest.approx(rows.bin(bins).ece, abs=1e-12)


def test_confidences_that_crowd_below_1_keep_their_digits():
    """Of 10⁶ rows at 1 − 10⁻⁷, 3 wrong: Σ(1 − p) = 0.1, so the gap is 10⁻⁷ − 3·10⁻⁶ to the last digits."""
    p, event = np.full(10**6, 1 - 1e-7), np.ones(10**6, dtype=bool)
    event[:3] = False
    reduced = Reduction()
    reduced.add(p, event)
    gap = reduced.profile(Totals(10**6)).bin(Partition.equal_width(10)).gap[-1]
    assert gap == pytest.approx((1 - p[0]) - 3e-6, rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_profiles_of_parts_add_up(kind, dtype):
    rng = np.random.default_rng(8)
    p = probabilities(kind, rng).astype(dtype)
    event = rng.random(len(p)) < 0.5
    whole = Profile.from_rows(p, event).to_reduced()
    parts = [Profile.from_rows(p[i::3], event[i::3]).to_reduced() for i in range(3)]
    added = parts[0] + parts[1] + parts[2]
    assert np.array_equal(added.inside.cell, whole.inside.cell)
    assert np.array_equal(added.count, whole.count)
    assert np.array_equal(added.positive, whole.positive)
    np.testing.assert_allclose(added.cell_sums("variance"), whole.cell_sums("variance"), rtol=1e-12)
    assert added.totals.rows == whole.totals.rows


def test_an_exact_profile_is_reduced_when_added_to_a_reduced_one():
    rows, reduced = both("uniform", np.float64)
    for both_ways in (rows + reduced, reduced + rows):
        assert both_ways.reduced
        assert both_ways.n == 2 * rows.n
        assert both_ways.bin(Partition.equal_width(15)).ece == pytest.approx(rows.bin(Partition.equal_width(15)).ece, abs=1e-12)


def test_float32_and_float64_add_by_cell():
    one, two = (both("three decimals", dtype)[1] for dtype in (np.float32, np.float64))
    for m in (10, 97):
        bins = Partition.equal_width(m)
        assert np.array_equal((one + two).bin(bins).count, one.bin(bins).count + two.bin(bins).count)


def test_a_model_without_rows_is_called_reduced_only_where_it_is():
    exact = Predictions.from_arrays([0, 1, 1], [0.25, 0.5, 0.75]).profile("positive")
    assert repr(alone(exact)) == "<Predictions of 'model': binary, 3 rows, classes 0 and 1, without rows>"
    assert repr(alone(exact.to_reduced())) == "<Predictions of 'model': binary, 3 rows, classes 0 and 1, reduced>"


def test_float16_stays_exact():
    rng = np.random.default_rng(3)
    p, event = rng.random(N).astype(np.float16), rng.random(N) < 0.5
    reduced = Reduction()
    for part in range(4):
        reduced.add(p[part::4], event[part::4])
    profile = reduced.profile(Totals(N), view="positive", task="binary", n_classes=2)
    assert not profile.reduced
    assert profile.value.dtype == np.float16
    whole = Profile.from_rows(p, event)
    assert np.array_equal(profile.value, whole.value)
    assert np.array_equal(profile.count, whole.count)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_added_in_blocks_are_the_cells_of_all_rows(kind, dtype, weighted):
    rng = np.random.default_rng(4)
    p = probabilities(kind, rng).astype(dtype)
    event, weight = rng.random(len(p)) < 0.5, rng.choice([0.5, 2.0], len(p)) if weighted else None
    reduced = Reduction()
    for start in range(0, len(p), 7_001):
        rows = slice(start, start + 7_001)
        reduced.add(p[rows], event[rows], None if weight is None else weight[rows])
    found, whole = reduced.profile(Totals(len(p))), Profile.from_rows(p, event, weight=weight).to_reduced()
    assert np.array_equal(found.inside.cell, whole.inside.cell)
    assert np.array_equal(found.count, whole.count)
    for name in ("weight", "weight_squared", "near", "near_squared", "heavy_near", "heavy_near_squared"):
        np.testing.assert_allclose(getattr(found.inside, name), getattr(whole.inside, name), rtol=1e-12, atol=1e-300, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_folding_is_mirroring(kind):
    """The top label of P(positive) alone: a probability up to ½ predicts the other class with 1 − p."""
    rng = np.random.default_rng(6)
    p = probabilities(kind, rng)
    label = (rng.random(len(p)) < p).astype(int)
    rows = Predictions.from_arrays(label, p)
    folded = rows.profile("positive").to_reduced().folded()
    assert folded.view == "top_label"
    assert folded.totals.tied == int(np.count_nonzero(p == 0.5))
    if kind == "beside edges":
        return  # 1 − p of a neighbour of an edge is rounded to the edge itself; its cell is not
    for m in (2, 7, 10, 15, 97, 100):
        for closed in ("right", "left"):
            bins = Partition.equal_width(m, closed)
            assert np.array_equal(folded.bin(bins).count, rows.profile("top_label").bin(bins).count)
            assert folded.bin(bins).ece == pytest.approx(rows.profile("top_label").bin(bins).ece, abs=1e-12)


def test_mirroring_never_subtracts():
    """p just above 1/15 mirrors to just below 14/15, though 1 − p is rounded to 14/15 itself: left-closed bins tell."""
    p = np.array([np.nextafter(1 / 15, 1)])
    assert 1 - p[0] == 14 / 15
    folded = Profile.from_rows(p, np.array([False]), view="positive", task="binary").to_reduced().folded()
    assert folded.bin(Partition.equal_width(15, "left")).count.tolist() == [0] * 13 + [1, 0]


@pytest.mark.parametrize("reduce", [True, False], ids=["reduced", "exact"])
def test_mirrored_is_the_other_class(reduce):
    rng = np.random.default_rng(9)
    p = rng.integers(0, 101, N) / 100
    label = (rng.random(N) < p).astype(int)
    rows = Predictions.from_arrays(label, p)
    positive = rows.profile("positive").to_reduced() if reduce else rows.profile("positive")
    other, want = positive.mirrored(), rows.profile("class:0")
    bins = Partition.equal_width(10)
    assert np.array_equal(other.bin(bins).count, want.bin(bins).count)
    np.testing.assert_allclose(other.bin(bins).gap, want.bin(bins).gap, atol=1e-12)


def test_a_cell_is_shown_by_the_mean_of_its_rows():
    rows = Profile.from_rows(np.array([0.7000001, 0.7000003]), np.array([True, False])).to_reduced()
    assert rows.value.tolist() == pytest.approx([0.7000002], abs=1e-15)


def test_clusters_cannot_be_reduced():
    p = Profile.from_rows(np.array([0.2, 0.4]), np.array([True, False]), cluster=np.array([0, 0]))
    with pytest.raises(InputError, match="clusters"):
        p.to_reduced()


def test_profiles_of_different_views_do_not_add():
    rows = Profile.from_rows(np.array([0.2, 0.4]), np.array([True, False])).to_reduced()
    with pytest.raises(InputError, match="same view"):
        rows + rows.called("positive")


def test_profiles_of_classes_in_another_order_do_not_add():
    """P(yes) and P(no) are both the positive view of a model of two classes."""
    label, p = ["yes", "no", "no"], [0.9, 0.2, 0.3]
    one, two = (Predictions.from_arrays(label, p, classes=c).profile("positive") for c in (["no", "yes"], ["yes", "no"]))
    for a, b in ((one, two), (one.to_reduced(), two.to_reduced())):
        with pytest.raises(InputError, match="same classes in the same order"):
            a + b
