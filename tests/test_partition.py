"""Partitions: where the edges lie, on which side a value falls, what equal mass cuts."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import reference as ref

import calibcore as cc
from calibcore.partition import MAX_BINS, SharedTies


def profile(values, right=None, weight=None, dtype=np.float64):
    values = np.asarray(values, dtype=dtype)
    right = np.zeros(len(values), dtype=bool) if right is None else np.asarray(right, dtype=bool)
    return cc.Predictions.from_top_label(values, right, sample_weight=weight).profile()


def test_definition_2_edges_are_the_doubles_nearest_to_k_over_m():
    for m in range(1, 201):
        # float(Fraction) is correctly rounded
        assert cc.Partition.equal_width(m).edges.tolist() == [float(Fraction(k, m)) for k in range(m + 1)]


def test_definition_2_edges_are_not_linspace():
    # linspace(0, 1, 11)[3] is 0.30000000000000004 and puts the decimal 0.3 into the wrong bin
    assert cc.Partition.equal_width(10).edges.tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_definition_2_k_over_m_falls_on_the_right_side_for_every_m_up_to_200(dtype):
    for m in range(1, 201):
        k = np.arange(m + 1)
        on_edge = k.astype(dtype) / dtype(m)  # correctly rounded in its own precision
        assert on_edge.dtype == dtype
        right, left = (cc.Partition.equal_width(m, closed).locate(on_edge).tolist() for closed in ("right", "left"))
        assert right == [max(i - 1, 0) for i in k.tolist()]  # (a, b]: the edge k/M closes bin k−1; 0 opens the first
        assert left == [min(i, m - 1) for i in k.tolist()]  # [a, b): it opens bin k; 1 closes the last


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [1, 2, 4, 5, 10, 20, 25, 50, 100])
def test_definition_2_two_decimals_fall_on_the_right_side(m, dtype):
    hundredths = range(101)
    literal = np.array([float(f"0.{i:02d}") if i < 100 else 1.0 for i in hundredths]).astype(dtype)
    right = [max(-(-i * m // 100) - 1, 0) for i in hundredths]
    left = [min(i * m // 100, m - 1) for i in hundredths]
    assert cc.Partition.equal_width(m, "right").locate(literal).tolist() == right
    assert cc.Partition.equal_width(m, "left").locate(literal).tolist() == left


def test_definition_2_float16_meets_float16_edges():
    tenths = np.array([i / 10 for i in range(11)], dtype=np.float16)
    assert cc.Partition.equal_width(10).locate(tenths).tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert cc.Partition.equal_width(10, "left").locate(tenths).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("m", [1, 2, 3, 5, 7, 10, 15, 100])
def test_cut_and_locate_agree(m, closed):
    values = np.unique(np.concatenate([np.arange(m + 1) / m, np.arange(101) / 100, np.random.default_rng(5).random(50)]))
    part = cc.Partition.equal_width(m, closed)
    assert np.diff(part.cut(values)).tolist() == np.bincount(part.locate(values), minlength=m).tolist()
    assert part.cut(values)[[0, -1]].tolist() == [0, len(values)]


@pytest.mark.parametrize("closed", ["right", "left"])
def test_definition_2_both_closed_sides_against_plain_loops(closed):
    values = [Fraction(i, 60) for i in range(61)]
    for m in (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60):
        expected = [ref.bin_of(v, ref.equal_width(m), closed) for v in values]
        assert cc.Partition.equal_width(m, closed).locate(np.array(ref.floats(values))).tolist() == expected


def test_custom_edges():
    part = cc.Partition.from_edges([0, 0.5, 0.9, 1])
    assert (part.n_bins, part.strategy, part.requested, part.closed) == (3, "custom", 3, "right")
    assert part.locate(np.array([0.0, 0.5, 0.9, 0.91, 1.0])).tolist() == [0, 0, 1, 2, 2]
    assert cc.Partition.from_edges([0, 0.5, 0.9, 1], "left").locate(np.array([0.0, 0.5, 0.9, 0.91, 1.0])).tolist() == [0, 1, 2, 2, 2]


def test_partition_is_frozen_and_read_only():
    edges = np.array([0.0, 0.5, 1.0])
    part = cc.Partition.from_edges(edges)
    edges[1] = 0.7
    assert part.edges[1] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        part.edges[0] = 1
    with pytest.raises(AttributeError):
        part.closed = "left"
    with pytest.raises((AttributeError, TypeError)):
        part.other = 1


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([0.1, 1], "rise from 0 to 1; they run from 0.1 to 1"),
        ([0, 0.9], "rise from 0 to 1; they run from 0 to 0.9"),
        ([0, 0.9, 0.8, 1], r"rise from 0 to 1; 0.8 comes after 0.9"),
        ([0, 0.5, 0.5, 1], r"0.5 comes after 0.5"),
        ([0, 0.5, 1, 1], r"1 comes after 1"),
        ([0, float("nan"), 1], r"rise from 0 to 1"),
        ([1], "At least two edges"),
        ([], "At least two edges"),
        ([[0, 1], [0, 1]], "At least two edges"),
        (["a", "b"], "Edges must be numbers"),
        ([0, None, 1], "rise from 0 to 1"),
        ([[0, 1], [0]], "Edges must be numbers"),
    ],
)
def test_edges_that_cannot_be_used(edges, message):
    with pytest.raises(cc.InputError, match=message):
        cc.Partition.from_edges(edges)


@pytest.mark.parametrize("m", [0, -1, 10.0, "10", True, None, MAX_BINS + 1, float("nan"), np.float64(3)])
def test_number_of_bins_that_cannot_be_used(m):
    with pytest.raises(cc.InputError, match="whole number from 1 to 10,000"):
        cc.Partition.equal_width(m)


def test_numbers_of_bins_may_be_numpy_integers():
    assert cc.Partition.equal_width(np.int64(7)).n_bins == cc.Partition.equal_width(np.uint8(7)).n_bins == 7


def test_closed_side_and_ties_have_two_values_each():
    with pytest.raises(cc.InputError, match="closed must be 'right' or 'left', got 'both'"):
        cc.Partition.equal_width(5, "both")
    with pytest.raises(cc.InputError, match="ties must be 'together' or 'share', got 'split'"):
        cc.Partition.equal_mass(profile([0.2]), 5, "split")


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 29, 100, 101])
def test_definition_3_equal_mass_sizes_without_ties(n):
    values = np.random.default_rng(n).permutation(np.arange(1, n + 1)) / (n + 1)
    cells = profile(values)
    for m in (1, 2, 3, 5, 7, 10, 15, 50):
        r = ref.ranks(n, m)
        sizes = [b - a for a, b in itertools.pairwise(r)]
        together = cells.bin(cc.Partition.equal_mass(cells, m))
        assert together.count.tolist() == [s for s in sizes if s]  # n < M leaves bins without a cut of their own
        assert cells.bin(cc.Partition.equal_mass(cells, m, "share")).count.tolist() == sizes
        assert set(sizes) <= {n // m, -(-n // m)}
        assert together.requested == m


def test_definition_3_cuts_are_the_rank_values():
    # n = 10, M = 4: r = 3, 5, 8, 10 (⌈2.5⌉, 5, ⌈7.5⌉, 10); D rises, so its edges are D[2], D[4], D[7] and 1
    d = profile(ref.floats(ref.D_P), ref.D_Y)
    assert cc.Partition.equal_mass(d, 4).edges.tolist() == [0.0, 0.2, 0.4, 0.8, 1.0]
    assert d.bin(cc.Partition.equal_mass(d, 4)).count.tolist() == [3, 2, 3, 2]


def test_definition_3_ranks_are_exact_integers():
    # ⌈k·n/M⌉ in floating point fails at 0.07·100 = 7.000000000000001; integers do not
    n = 100
    cells = profile(np.arange(1, n + 1) / 128)
    for m in range(1, 101):
        assert cc.Partition.equal_mass(cells, m).edges[1:-1].tolist() == [r / 128 for r in ref.ranks(n, m)[1:-1]]


def test_definition_3_d_in_five_bins():
    d = profile(ref.floats(ref.D_P), ref.D_Y)
    b = d.bin(cc.Partition.equal_mass(d, 5))
    assert b.count.tolist() == [2, 2, 2, 2, 2]
    assert b.ece == pytest.approx(7 / 50, abs=1e-15)


def test_definition_3_ties_stay_together():
    # six rows at ½ (three right), two at 9/10 (both right); M = 4: r = 2, 4, 6, 8 → cuts ½, ½, ½, 9/10 → two bins:
    # gaps 0 and 1/10 → ECE 2/8·1/10 = 1/40, whatever the order of the rows
    values = np.array([0.5] * 6 + [0.9] * 2)
    for right in ([1, 1, 1, 0, 0, 0, 1, 1], [1, 0, 1, 0, 1, 0, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]):
        cells = profile(values, right)
        b = cells.bin(cc.Partition.equal_mass(cells, 4))
        assert b.count.tolist() == [6, 2]
        assert (b.requested, b.used) == (4, 2)
        assert b.ece == pytest.approx(1 / 40, abs=1e-15)


def test_definition_3_shared_ties_keep_sizes():
    # the block at ½ gives two rows and one right row to each of three bins; gaps 0, 0, 0, 1/10 → 1/40 as well
    cells = profile([0.5] * 6 + [0.9] * 2, [1, 1, 1, 0, 0, 0, 1, 1])
    part = cc.Partition.equal_mass(cells, 4, "share")
    b = cells.bin(part)
    assert isinstance(part, SharedTies)
    assert (part.n_bins, part.requested, b.requested, b.used) == (4, 4, 4, 4)
    assert b.count.tolist() == [2, 2, 2, 2]
    assert (b.accuracy * b.count).tolist() == pytest.approx([1, 1, 1, 2])
    assert b.ece == pytest.approx(1 / 40, abs=1e-15)
    assert all(np.isnan(end).all() for end in b.interval(0.95))  # a fractional assignment has no interval
    assert all(np.isnan(end).all() for end in b.calibrated_range(0.95))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 7, 9, 15, 40])
@pytest.mark.parametrize("seed", range(5))
def test_definition_3_both_tie_rules_against_plain_loops(m, seed):
    rng = np.random.default_rng(seed)
    ps = [Fraction(int(i), 16) for i in rng.integers(0, 17, 23)]
    ys = rng.integers(0, 2, 23).tolist()
    cells = profile(ref.floats(ps), ys)
    edges = ref.equal_mass_edges(ps, m)
    rows = ref.sums(ps, ys, edges)
    together = cells.bin(cc.Partition.equal_mass(cells, m))
    assert together.edges.tolist() == ref.floats(edges)
    assert together.count.tolist() == [r[0] for r in rows]
    assert together.ece == pytest.approx(float(ref.ece(rows)), abs=1e-14)
    assert together.mce == pytest.approx(float(ref.mce(rows)), abs=1e-14)
    rows = ref.shared_sums(ps, ys, m)
    shared = cells.bin(cc.Partition.equal_mass(cells, m, "share"))
    assert shared.count.tolist() == [r[0] for r in rows]
    assert shared.ece == pytest.approx(float(ref.ece(rows)), abs=1e-14)
    assert shared.mce == pytest.approx(float(ref.mce(rows)), abs=1e-12)
    assert shared.rmsce**2 == pytest.approx(float(ref.msce(rows)), abs=1e-14)


def test_definition_3_outer_edges_are_0_and_1_and_the_first_bin_may_have_no_width():
    cells = profile([0.0, 0.0, 0.0, 0.4, 0.6, 0.9], [0, 0, 1, 0, 1, 1])
    part = cc.Partition.equal_mass(cells, 3)  # r = 2, 4, 6 → cuts 0, 0.4, and the end
    assert part.edges.tolist() == [0.0, 0.0, 0.4, 1.0]
    assert cells.bin(part).count.tolist() == [3, 1, 2]
    assert part.locate(np.array([0.0, 0.1, 0.4, 0.5])).tolist() == [0, 1, 1, 2]


def test_definition_3_one_distinct_value_leaves_one_bin():
    # constant 3/10, four of five right: ECE 1/2; code that drops duplicate edges without keeping 0 and 1 returns 0
    for value in (0.3, 0.0, 1.0):
        cells = profile([value] * 5, [1, 1, 1, 1, 0])
        b = cells.bin(cc.Partition.equal_mass(cells, 4))
        assert (b.edges.tolist(), b.count.tolist(), b.used, b.requested) == ([0.0, 1.0], [5], 1, 4)
        assert b.ece == pytest.approx(abs(0.8 - value), abs=1e-15)


def test_definition_3_frozen_edges_apply_elsewhere_with_either_side():
    first = profile([0.1, 0.2, 0.3, 0.4])
    part = cc.Partition.equal_mass(first, 2)  # cut at 0.2
    other = profile([0.2, 0.2, 0.2, 0.9])
    assert other.bin(cc.Partition.from_edges(part.edges, "right")).count.tolist() == [3, 1]
    assert other.bin(cc.Partition.from_edges(part.edges, "left")).count.tolist() == [0, 4]


def test_definition_3_shared_ties_cannot_be_frozen():
    cells = profile([0.5] * 6 + [0.9] * 2)
    part = cc.Partition.equal_mass(cells, 4, "share")
    with pytest.raises(cc.InputError, match="belong to the profile they were made from"):
        profile([0.1, 0.2, 0.3]).bin(part)
    with pytest.raises(cc.InputError, match="Edges must rise"):
        cc.Partition.from_edges(part.edges)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("m", [1, 2, 3, 5, 8])
def test_definition_3_weighted_cuts_against_plain_loops(m, seed):
    rng = np.random.default_rng(seed)
    ps = [Fraction(int(i), 32) for i in rng.integers(0, 33, 15)]
    ws = [int(i) for i in rng.integers(1, 9, 15)]
    ys = rng.integers(0, 2, 15).tolist()
    edges = ref.weighted_mass_edges(ps, ws, m)
    rows = ref.sums(ps, ys, edges, weights=ws)
    for scale in (1.0, 0.1, 1e15, 1 / 3):
        cells = profile(ref.floats(ps), ys, np.array(ws) * scale)
        b = cells.bin(cc.Partition.equal_mass(cells, m))
        assert b.edges.tolist() == ref.floats(edges)
        assert b.ece == pytest.approx(float(ref.ece(rows)), abs=1e-12)


@pytest.mark.parametrize("weight", [0.1, 0.2, 0.3, 0.7, 1 / 3, 2.3])
@pytest.mark.parametrize("n", [5, 6, 10, 23])
def test_definition_3_equal_weights_cut_as_whole_ones(n, weight):
    # k/M of a sum of such weights, and the sums themselves, are rounded: a cut must not miss its cell by the last digit
    values = np.arange(1, n + 1) / 64
    some, ones = profile(values, weight=[weight] * n), profile(values)
    for m in range(1, n + 1):
        assert cc.Partition.equal_mass(some, m).edges.tolist() == cc.Partition.equal_mass(ones, m).edges.tolist()


def test_definition_3_float32_rows_stay_in_their_cell():
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95], dtype=np.float32)
    cells = profile(values, dtype=np.float32)
    for m in (2, 3, 5, 10):
        part = cc.Partition.equal_mass(cells, m)
        assert np.bincount(part.locate(values)).tolist() == np.diff(ref.ranks(10, m)).tolist() == cells.bin(part).count.tolist()
