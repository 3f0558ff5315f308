"""Profiles: cells, merging, and the sums made of them."""

import re
from fractions import Fraction

import numpy as np
import pytest
import reference as ref

import calibcore as cc
from calibcore.predictions import Predictions


def profile(p, y, **options):
    return Predictions.from_top_label(p, y, **options).profile()


def test_cells_are_distinct_sorted_and_counted():
    p = profile([0.9, 0.2, 0.9, 0.5, 0.2, 0.9], [1, 0, 0, 1, 1, 1])
    assert p.value.tolist() == [0.2, 0.5, 0.9]
    assert p.count.tolist() == p.weight.tolist() == [2, 1, 3]
    assert p.positive.tolist() == [1, 1, 2]
    assert (p.n, len(p), p.weight_sum, p.n_effective, p.weighted) == (6, 3, 6.0, 6.0, False)


def test_weights_are_summed_and_their_squares_kept():
    p = profile([0.5, 0.5, 0.8], [1, 0, 1], sample_weight=[2, 3, 10])
    assert p.count.tolist() == [2, 1]
    assert p.weight.tolist() == [5, 10]
    assert p.positive.tolist() == [2, 10]
    assert p.weight_squared.tolist() == [13, 100]
    assert p.positive_squared.tolist() == [4, 100]
    assert p.n_effective == pytest.approx(15**2 / 113, rel=1e-15)  # (Σw)²/Σw²
    assert (p.n, p.weighted) == (3, True)


def test_negative_zero_is_zero():
    p = profile([-0.0, 0.0, 0.5], [1, 0, 1])
    assert p.value.tolist() == [0.0, 0.5]
    assert not np.signbit(p.value).any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_cells_keep_the_precision_of_the_data(dtype):
    p = profile(np.array([0.7, 0.1, 0.7], dtype=dtype), [1, 0, 0])
    assert p.value.dtype == dtype
    assert p.value.tolist() == [float(dtype(0.1)), float(dtype(0.7))]
    assert p.count.tolist() == [1, 2]


def test_other_byte_orders_and_strides():
    p = np.random.default_rng(0).random((50, 2))
    y = np.arange(50) % 2
    expected = profile(p[:, 0].copy(), y)
    for variant in (p[:, 0], p[:, 0].astype(">f8"), np.asfortranarray(p)[:, 0], p[::-1, 0][::-1]):
        got = profile(variant, y)
        assert got.value.tolist() == expected.value.tolist()
        assert got.positive.tolist() == expected.positive.tolist()


def test_arrays_are_read_only_and_the_profile_is_frozen():
    p = profile([0.9, 0.2], [1, 0])
    for name in ("value", "count", "weight", "positive", "weight_squared", "positive_squared"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(p, name)[0] = 0
    with pytest.raises(AttributeError):
        p.view = "positive"


def test_sum_of_profiles_is_the_profile_of_both():
    rng = np.random.default_rng(4)
    p, y = rng.integers(0, 21, 100) / 20, rng.integers(0, 2, 100)
    merged = profile(p[:37], y[:37]) + profile(p[37:], y[37:])
    whole = profile(p, y)
    for name in ("value", "count", "weight", "positive", "weight_squared", "positive_squared"):
        assert getattr(merged, name).tolist() == getattr(whole, name).tolist(), name
        assert getattr(merged, name).dtype == getattr(whole, name).dtype, name
    assert (merged.n, merged.weighted, merged.n_effective) == (whole.n, whole.weighted, whole.n_effective)
    assert merged.totals.brier == pytest.approx(whole.totals.brier, rel=1e-14)


def test_sum_of_profiles_has_the_notes_of_the_whole():
    parts = [profile([0.2, 0.4], [0, 1]), profile([0.4, 0.9], [1, 1])]
    assert cc.analyze(parts[0] + parts[1]).notes == cc.analyze(profile([0.2, 0.4, 0.4, 0.9], [0, 1, 1, 1])).notes


def test_profiles_of_different_kinds_do_not_add():
    binary = Predictions.from_arrays([1, 0], [0.9, 0.2])
    single = Predictions.from_arrays([1, 0], np.array([0.9, 0.2], dtype=np.float32)).profile()
    for other, said in (
        (profile([0.9], [1]), "same view of as many classes can be added, not top_label of 2 classes and top_label of ? classes"),
        (binary.profile("positive"), "not top_label of 2 classes and positive of 2 classes"),
        (single, "Only profiles of the same precision can be added, not float64 and float32; reduce both"),
    ):
        with pytest.raises(cc.InputError, match=re.escape(said)):
            binary.profile() + other
    assert (binary.profile().to_reduced() + single.to_reduced()).n == 4


def test_weighted_and_unweighted_profiles_add():
    merged = profile([0.2, 0.9], [0, 1], sample_weight=[2, 3]) + profile([0.9], [0])
    assert merged.weight.tolist() == [2, 4]
    assert merged.positive.tolist() == [0, 3]
    assert merged.weighted


def test_means_are_exact_to_the_last_digit():
    p = profile(ref.floats(ref.D_P), ref.D_Y)
    # the doubles nearest to k/20 sum to 5 within a digit
    assert p.mean_confidence == pytest.approx(0.5, abs=1e-16)
    assert p.accuracy == 0.6
    tenths = profile([0.1] * 10, [1] * 10)
    assert tenths.mean_confidence == 0.1


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("m", [1, 2, 3, 5, 8, 10, 12, 15, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_definition_5_bins_of_a_profile_against_plain_loops(m, closed, weighted):
    rng = np.random.default_rng(m)
    ps = [Fraction(int(i), 120) for i in rng.integers(0, 121, 60)]
    ys = rng.integers(0, 2, 60).tolist()
    ws = [int(i) for i in rng.integers(1, 7, 60)] if weighted else None
    rows = ref.sums(ps, ys, ref.equal_width(m), closed, ws)
    b = profile(ref.floats(ps), ys, sample_weight=ws).bin(cc.Partition.equal_width(m, closed))
    assert b.weight.tolist() == [r[0] for r in rows]
    assert b.ece == pytest.approx(float(ref.ece(rows)), abs=1e-14)
    assert b.mce == pytest.approx(float(ref.mce(rows)), abs=1e-14)
    assert b.rmsce**2 == pytest.approx(float(ref.msce(rows)), abs=1e-14)


def test_remembered_results_are_made_once():
    p = profile([0.2], [0])
    assert p.remember("key", lambda: [1]) is p.remember("key", lambda: [2])


def test_views_do_not_share_memory_with_their_rows():
    values = np.array([0.9, 0.2])
    p = profile(values, [1, 0])
    values[:] = 0.5
    assert p.value.tolist() == [0.2, 0.9]


@pytest.mark.parametrize("odd", [None, 0.1234567, np.nextafter(0.123456, 1)])
def test_many_short_decimals_are_the_same_cells_as_any_others(odd):
    # 3,000,000 rows of 0, 1/600, … 599/600 rounded to six decimals: 5,000 rows each, 2,000 of them right
    p = np.tile(np.round(np.arange(600) / 600, 6), 5000)
    y = np.repeat(np.arange(5000) < 2000, 600)
    if odd is not None:
        p[-1] = odd  # a row that was wrong
    found = profile(p, y)
    k = np.round(np.arange(600) / 600, 6).tolist()
    expected = dict.fromkeys(k, 5000) if odd is None else {**dict.fromkeys(k, 5000), k[-1]: 4999, float(odd): 1}
    assert dict(zip(found.value.tolist(), found.count.tolist(), strict=True)) == expected
    assert found.positive.tolist() == [0 if v == odd else 2000 for v in sorted(expected)]
    assert found.value.tolist() == sorted(expected)
