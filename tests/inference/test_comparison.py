"""Comparison of two models: how rows are matched and how large the differences are."""

import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import calibcore as cc
from calibcore.inference import comparison
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
    y = ["x", "y", "x"] * 4
    a = Predictions.from_arrays(y, [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]] * 4, classes=["x", "y"], name="a")
    b = Predictions.from_arrays(y, [[0.1, 0.9], [0.8, 0.2], [0.4, 0.6]] * 4, classes=["y", "x"], name="b")
    found = differences(a, b)
    assert found.pairing.how == "row order"
    assert found.brier.value == pytest.approx(0, abs=1e-15)


def test_raised_log_losses_have_no_interval():
    a = model(ref.D_P)
    b = Predictions.from_arrays(ref.D_Y, [0.0] * 10, name="b")  # six events at probability 0
    found = differences(a, b)
    assert found.log_loss.low is None
    assert found.brier.low is not None
    said = "b gave probability 0 (or nearly 0) to what happened in 6 rows"  # −ln 2⁻⁵² = 52 ln 2 = 36.04 nats
    assert found.notes == (f"{said}; log loss cannot judge such rows (each was counted as 36 nats), so the Brier score decides.",)


def test_a_single_cut_log_loss_and_those_of_both_models_are_said_in_words():
    none = [0.0, *[0.5] * 9]  # the first of D's rows is an event, or is made one
    y = [1, *ref.D_Y[1:]]
    a, b = (Predictions.from_arrays(y, p, name=n) for p, n in (([0.5] * 10, "a"), (none, "b")))
    (note,) = differences(a, b).notes
    assert note.startswith("b gave probability 0 (or nearly 0) to what happened in 1 row; log loss cannot judge such a row (it was")
    (note,) = differences(b, Predictions.from_arrays(y, [0.0] * 10, name="c")).notes
    assert note.startswith(f"b (1 row) and c ({sum(y)} rows) gave probability 0 (or nearly 0) to what happened; ")


def test_only_rows_that_are_compared_can_cut_a_log_loss():
    y, p = [1, 0, 1, 0], [0.75, 0.25, 0.5, 0.5]
    a = Predictions.from_arrays(y, p, ids=[1, 2, 3, 4], name="a")
    b = Predictions.from_arrays([*y, 1], [*p[::-1], 0.0], ids=[1, 2, 3, 4, 5], name="b")
    found = differences(a, b)
    assert found.pairing.n_common == 4
    assert found.log_loss.low is not None
    assert not any("nats" in n for n in found.notes)


def test_no_interval_is_beyond_what_is_possible():
    # two rows give t on about one degree of freedom; the gap of accuracies lies between −1 and 1, whatever the mean confidences
    few = Predictions.from_arrays([1, 0], [1.0, 0.75], name="few")  # mean confidence 7/8
    many = Predictions.from_arrays([1, 1, 1, 0] * 50, [0.75] * 200, name="many")  # 3/4
    found = differences(many, few)
    assert not found.pairing.paired
    assert [found.gap.value, found.gap.low, found.gap.high] == [1 / 2 - 7 / 8, 3 / 4 - 7 / 8 - 1, 3 / 4 - 7 / 8 + 1]
    assert (found.brier.low, found.brier.high) == (-1.0, 1.0)
    back = differences(few, many).gap
    assert [back.low, back.high] == [-found.gap.high, -found.gap.low]


def test_nor_is_that_of_paired_rows():
    a, b = (Predictions.from_arrays([1, 0], p, name=n, ids=[1, 2]) for p, n in (([0.75, 0.25], "a"), ([0.25, 0.75], "b")))
    found = differences(a, b)  # both claim 3/4; a is right twice and b never, so that every row says −1 − 0
    assert found.pairing.paired
    assert (found.gap.value, found.gap.low, found.gap.high) == (-1.0, -1.0, -1.0)
    half = Predictions.from_arrays([1, 0], [1.0, 0.75], name="half", ids=[1, 2])  # right once, claims 7/8
    gap = differences(a, half).gap  # row differences −1/4 and −1 − 0, ± 12.7 · 3/8
    assert (gap.low, gap.high) == (3 / 4 - 7 / 8 - 1, 3 / 4 - 7 / 8 + 1)


def test_brier_scores_over_classes_differ_by_two_at_most():
    y, sure = ["x", "y"], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    unsure = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    a, b = (Predictions.from_arrays(y, p, classes=["x", "y", "z"], name=n, ids=[1, 2]) for p, n in ((sure, "a"), (unsure, "b")))
    found = differences(a, b).brier
    assert (found.value, found.low, found.high) == (1.0, -2.0, 2.0)  # rows 0 and 2


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


def test_clusters_take_the_place_of_rows():
    # D's ten rows, each listed five times as one cluster: the interval of the ten rows themselves
    once = differences(model(ref.D_P), model(D_HALF, name="b"))
    ids = np.repeat(np.arange(10), 5)
    a, b = (model([p for p in ps for _ in range(5)], np.repeat(ref.D_Y, 5), n, cluster=ids) for ps, n in ((ref.D_P, "a"), (D_HALF, "b")))
    five = differences(a, b)
    assert (five.pairing.how, five.notes) == ("row order", ())
    for part in ("brier", "log_loss", "gap"):
        assert list(getattr(five, part).to_dict().values()) == pytest.approx(list(getattr(once, part).to_dict().values()), rel=1e-9)
    # one model's clusters are those of the rows; rows in any order by ids
    order = np.random.default_rng(1).permutation(50)
    rows = np.arange(50)
    plain = model([p for p in ref.D_P for _ in range(5)], np.repeat(ref.D_Y, 5), ids=rows)
    half = np.repeat(D_HALF, 5)[order]
    other = model(half, np.repeat(ref.D_Y, 5)[order], "b", ids=rows[order], cluster=ids[order])
    assert differences(plain, other).brier.low == pytest.approx(once.brier.low, rel=1e-9)


def test_cluster_sums_by_hand():
    # d = second − first squared errors; two clusters of weight 3 and 1 rows: se² = Σ_c(Σ(d − d̄))²/16 · C/(C − 1), C = 16/10
    y, p, q, c = [1, 0, 1, 1], [0.5, 0.5, 0.5, 0.5], [0.7, 0.4, 0.9, 0.2], ["s", "s", "s", "t"]
    a, b = (Predictions.from_arrays(y, v, name=n, cluster=c) for v, n in ((p, "a"), (q, "b")))
    d = np.array([0.09, 0.16, 0.01, 0.64]) - 0.25
    sums = np.array([(d - d.mean())[:3].sum(), (d - d.mean())[3]])
    half = float(special.stdtrit(0.6, 0.75)) * math.sqrt(float(np.sum(sums**2)) * 1.6 / 0.6) / 4
    found = differences(a, b, level=0.5).brier
    assert found.high - found.value == pytest.approx(half, rel=1e-9)


def test_unpaired_models_have_clusters_of_their_own():
    ids = np.repeat(np.arange(10), 5)
    a = model([p for p in ref.D_P for _ in range(5)], np.repeat(ref.D_Y, 5), cluster=ids)
    b = model(np.repeat(D_HALF[::-1], 5), np.repeat(ref.D_Y[::-1], 5), "b", cluster=ids)
    once = differences(model(ref.D_P), model(D_HALF[::-1], ref.D_Y[::-1], "b"))
    five = differences(a, b)
    assert not five.pairing.paired
    assert list(five.brier.to_dict().values()) == pytest.approx(list(once.brier.to_dict().values()), rel=1e-9)


def test_different_clusters_of_the_same_rows_are_said():
    a, b = model(ref.D_P, cluster=[1, 1, 2, 2, 3, 3, 4, 4, 5, 5]), model(D_HALF, name="b", cluster=[1, 2, 2, 3, 3, 4, 4, 5, 5, 1])
    assert differences(a, b).notes == ("b and a put the same rows into different clusters; the differences use those of a.",)
    renamed = model(D_HALF, name="b", cluster=list("eeddccbbaa"))
    assert differences(a, renamed).notes == ()


@pytest.mark.parametrize("kind", [object, str, int, float])
def test_ids_of_any_type_pair_in_any_order(kind):
    order = np.array([3, 0, 9, 1, 2, 8, 7, 4, 6, 5])
    ids = np.array([f"{i}" for i in range(10)], dtype=object) if kind is object else np.arange(10).astype(kind)
    a = model(ref.D_P, ids=ids)
    shuffled = model([D_HALF[i] for i in order], [ref.D_Y[i] for i in order], "b", ids=ids[order])
    found = pair(a, shuffled)
    assert (found.how, found.n_common) == ("id", 10)
    assert found.first.tolist() == list(range(10))
    assert order[found.second].tolist() == list(range(10))
    same = pair(a, model(D_HALF, name="b", ids=ids.copy()))
    assert same.first.tolist() == same.second.tolist() == list(range(10))
    assert pair(a, shuffled) is found  # remembered


def test_equal_ids_that_repeat_are_refused_too():
    ids = np.array(["x", "y", "x", *"abcdefg"], dtype=object)
    with pytest.raises(cc.InputError, match="In a the id x occurs 2 times"):
        pair(model(ref.D_P, ids=ids), model(D_HALF, name="b", ids=ids.copy()))
    with pytest.raises(cc.InputError, match="In b the id x occurs 2 times"):
        pair(model(ref.D_P, ids=list("abcdefghij")), model(D_HALF, name="b", ids=ids))


def test_labels_with_other_classes_do_not_match():
    a = Predictions.from_arrays(["x", "y", "z"], np.eye(3), classes=["x", "y", "z"], name="a")
    b = Predictions.from_arrays(["x", "y", "w"], np.eye(3), classes=["x", "y", "w"], name="b")
    assert not pair(a, b).paired


def test_paired_interval_covers_with_clusters():
    # 400 samples of 50 events listed four times: 95 % to within three standard errors (0.033)
    rng = np.random.default_rng(9)
    covered = 0
    cluster = np.repeat(np.arange(50), 4)
    for _ in range(400):
        q = np.repeat(rng.uniform(0.1, 0.9, 50), 4)
        y = (np.repeat(rng.random(50), 4) < q).astype(int)
        a, b = (Predictions.from_arrays(y, np.clip(q + s, 0, 1), name=n, cluster=cluster) for s, n in ((0, "a"), (0.1, "b")))
        d = differences(a, b).brier  # expected difference 0.01, as above
        covered += d.low <= 0.01 <= d.high
    assert 0.915 <= covered / 400 <= 0.985


@given(st.permutations(range(10)), st.permutations(range(10)))
def test_order_of_rows_does_not_matter_with_ids(one, two):
    def ordered(ps, order, name):
        return model([ps[i] for i in order], [ref.D_Y[i] for i in order], name, ids=list(order), cluster=[i // 3 for i in order])

    found = differences(ordered(ref.D_P, one, "a"), ordered(D_HALF, two, "b")).brier
    expected = differences(ordered(ref.D_P, range(10), "a"), ordered(D_HALF, range(10), "b")).brier
    assert list(found.to_dict().values()) == pytest.approx(list(expected.to_dict().values()), rel=1e-12)


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


# --- does the order of labels tell rows apart? --------------------------------------------------------------------------------


def how(y, **more):
    """How two models with the same labels in the same order are paired."""
    y = np.asarray(y)
    p = np.full((len(y), len(np.unique(y))), 1 / len(np.unique(y)))
    return pair(*(Predictions.from_arrays(y, p, classes=sorted(set(y.tolist())), name=n, **more) for n in "ab")).how


def shuffled(y, seed=0):
    return np.random.default_rng(seed).permutation(y)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (np.repeat([0, 1], 1600), "not paired"),  # sorted by label: 2 runs
        (np.tile(np.repeat([0, 1], 400), 4), "not paired"),  # by region, then label: 8 runs where chance gives 1,601
        (np.tile(np.repeat([0, 1], [45, 5]), 64), "not paired"),  # 64 groups of 50: 128 runs, chance 577
        (np.repeat(np.arange(10), 300), "not paired"),
        (shuffled(np.repeat([0, 1], 1600)), "row order"),
        (shuffled(np.repeat(np.arange(10), 300)), "row order"),
        (shuffled(np.repeat(np.arange(100), 2)), "row order"),  # 200 rows have no more than 2K runs
        (np.tile(np.arange(100), 1).repeat(2), "not paired"),
        (shuffled(np.repeat([0, 1], [9900, 100])), "row order"),  # an event in 100: about 199 runs
        (np.repeat([0, 1], [9900, 100]), "not paired"),
        (np.repeat([0, 1, 0], [500, 1, 499]), "not paired"),  # one event: its place is all there is
        ([1, 0], "not paired"),
        ([1, 0, 1], "not paired"),
        ([1, 0, 1, 0], "not paired"),  # 4 runs, as two sorted groups have
        ([1, 0, 1, 0, 1], "row order"),  # 5 runs of 3.4
        ([0, 0, 1, 1, 0, 0, 1, 1, 0, 0], "row order"),  # 5 runs; chance gives 1 + (100 − 36 − 16)/10 = 5.8
        (np.repeat([0, 1, 0, 1, 0], 5), "not paired"),  # 5 runs; chance gives 1 + (625 − 225 − 100)/25 = 13
    ],
)
def test_sorted_labels_do_not_prove_the_same_rows(y, expected):
    assert how(y) == expected


def test_as_many_runs_as_half_of_chance_decide():
    # 100 rows, half of them 1: chance gives 1 + (10,000 − 5,000)/100 = 51 runs
    def with_runs(r):
        long = 50 - (r // 2 - 1)
        return [*([0, 1] * (r // 2 - 1)), *[0] * long, *[1] * long]

    assert (how(with_runs(24)), how(with_runs(26))) == ("not paired", "row order")


def test_rows_that_are_not_paired_say_why_and_what_to_do():
    y = [0] * 50 + [1] * 50
    a, b = (Predictions.from_arrays(y, p, name=n) for n, p in (("a", [0.2] * 100), ("b", [0.3] * 100)))
    (note,) = differences(a, b).notes
    assert "same labels in the same order, but in few blocks" in note
    assert "--id" in note
    ids = [Predictions.from_arrays(y, [p] * 100, name=n, ids=range(100)) for n, p in (("a", 0.2), ("b", 0.3))]
    assert differences(*ids).notes == ()
    other = Predictions.from_arrays(y[::-1], [0.2] * 100, name="b")
    assert differences(a, other).notes == ()


def test_ids_found_by_content_pair_only_where_they_meet_and_agree():
    rng = np.random.default_rng(3)
    y, ids = rng.integers(0, 2, 100), rng.permutation(1000)[:100]

    def found(y, ids, name):
        return Predictions.from_arrays(y, [0.4] * len(y), name=name, ids=ids).but(source={"id_by": "content"})

    a, turned = found(y, ids, "a"), found(y[::-1], ids[::-1], "b")
    assert pair(a, turned).how == "id"
    assert pair(a, found(y, ids + 5000, "b")).how == "row order"  # none in common: as if there were none
    assert pair(a, found(1 - y, ids, "b")).how == "not paired"  # other labels: other rows, and no fault of the file
    assert pair(a, found(y[::-1], np.r_[ids[::-1][:40], ids[40:] + 5000], "b")).how == "not paired"


def test_what_no_bin_changes_is_compared_once(monkeypatch):
    made = []
    once = comparison._differences
    monkeypatch.setattr(comparison, "_differences", lambda *a: made.append(a) or once(*a))
    one, two = (
        cc.Predictions.from_arrays([1, 0, 1, 0], p, ids=list("abcd"), name=n)
        for n, p in (("1", [0.9, 0.2, 0.6, 0.4]), ("2", [0.8, 0.3, 0.5, 0.5]))
    )
    first = cc.compare([one, two], cc.Settings(n_bins=5))
    again = cc.compare([one, two], cc.Settings(n_bins=7))
    assert len(made) == 1
    assert again.differences == first.differences
    other = cc.compare([one, two], cc.Settings(level=0.8))
    assert len(made) == 2
    assert other.differences[0].brier.low > first.differences[0].brier.low
