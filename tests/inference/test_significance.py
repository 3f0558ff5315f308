"""Detection: its two statistics by hand, its bins and its views; size and power are in test_detection_size."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import reference as ref

import calibcore as cc
from calibcore.inference.significance import detect, diagnostic_partition
from calibcore.predictions import Predictions


def top(p, y, **options):
    return Predictions.from_top_label(p, y, **options)


def test_kuiper_range_and_q_of_d():
    # cumulative y − p in twentieths: −1, −4, 12, 5, 17, 6, 13, 17, 19, 20; with 0 the range is 20 + 4 = 24 → 24/200
    steps, c = [Fraction(0)], Fraction(0)
    for p, y in zip(ref.D_P, ref.D_Y, strict=True):
        c += y - p
        steps.append(c)
    assert (max(steps) - min(steps)) / 10 == Fraction(3, 25)
    d = detect(top(ref.floats(ref.D_P), ref.D_Y))
    assert d.kuiper == pytest.approx(3 / 25, abs=1e-14)
    # ten rows make one diagnostic bin: S = 6 − 5 = 1, V = Σp(1 − p) = 63/40, Q = 40/63
    assert sum(p * (1 - p) for p in ref.D_P) == Fraction(63, 40)
    assert d.q == pytest.approx(40 / 63, abs=1e-14)
    assert d.interval == pytest.approx((0.2, 0.95))  # from after the minimum at 3/20 to the maximum at 19/20
    assert not d.detected


def test_kuiper_range_starts_from_nothing():
    # one score, all wrong: the cumulative residual only falls, from 0 to −0.8 a row
    assert detect(top([0.8] * 10, [0] * 10)).kuiper == pytest.approx(0.8, abs=1e-14)
    assert detect(top([0.8] * 10, [1] * 10)).kuiper == pytest.approx(0.2, abs=1e-14)


def test_equal_scores_are_one_step():
    # rows in any order: at ½ two right of four, then one of two at ¾: steps 0, 0, −½ → range ½ of six rows
    for y in ([1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1], [1, 0, 1, 0, 0, 1]):
        assert detect(top([0.5] * 4 + [0.75] * 2, y)).kuiper == pytest.approx(0.5 / 6, abs=1e-15)


def test_definition_8_kuiper_is_scale_free_in_weights():
    w = np.array([1.0, 5, 1, 2, 1, 3, 1, 1, 4, 2])
    one, other = (detect(top(ref.floats(ref.D_P), ref.D_Y, sample_weight=v)) for v in (w, w * 1e15))
    assert other.kuiper == pytest.approx(one.kuiper, rel=1e-12)
    assert other.p_value == one.p_value


@pytest.mark.parametrize(
    ("n", "counts"),
    [
        # min(10, ⌊n/30⌋) bins, sizes r_k − r_{k−1} with r_k = ⌈k·n/M⌉
        (1, [1]),
        (29, [29]),
        (59, [59]),
        (60, [30, 30]),
        (100, [34, 33, 33]),
        (299, [34, 33, 33, 33, 34, 33, 33, 33, 33]),
        (300, [30] * 10),
        (1000, [100] * 10),
    ],
)
def test_diagnostic_bins_are_equal_mass_with_30_rows(n, counts):
    profile = top(np.arange(1, n + 1) / (n + 1), np.zeros(n)).profile()
    found = profile.bin(diagnostic_partition(profile)).count.tolist()
    if n == 299:
        r = ref.ranks(299, 9)
        counts = [b - a for a, b in itertools.pairwise(r)]
    assert found == counts


def test_diagnostic_bins_join_from_the_left_and_the_rest_joins_the_last():
    # 100 rows → 3 bins, r = 34, 67, 100. 40 rows at 0.5, 45 at 0.7, 15 at 0.9: cuts 0.5, 0.7, 0.9 → 40, 45, 15;
    # the 15 join the last
    profile = top([0.5] * 40 + [0.7] * 45 + [0.9] * 15, np.zeros(100)).profile()
    part = diagnostic_partition(profile)
    assert part.edges.tolist() == [0.0, 0.5, 1.0]
    assert profile.bin(part).count.tolist() == [40, 60]
    # 20 at 0.5, 60 at 0.7, 20 at 0.9: r = 34, 67, 100 → cuts 0.7, 0.9 → 80, 20 → one bin
    profile = top([0.5] * 20 + [0.7] * 60 + [0.9] * 20, np.zeros(100)).profile()
    assert diagnostic_partition(profile).edges.tolist() == [0.0, 1.0]


def test_the_verdict_does_not_know_the_users_bins():
    rng = np.random.default_rng(1)
    p = rng.random(400)
    model = Predictions.from_arrays((rng.random(400) < p**1.3).astype(int), p)
    found = {
        (a.detection.p_value, a.pattern.name, a.verdict.text)
        for a in (cc.analyze(model, cc.Settings(n_bins=m, strategy=s)) for m in (2, 15, 50) for s in ("equal_width", "equal_mass"))
    }
    assert len(found) == 1
    assert cc.analyze(model, cc.Settings(seed=5)).detection.p_value == cc.analyze(model).detection.p_value


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(2)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    order = rng.permutation(300)
    one, other = detect(Predictions.from_arrays(y, p)), detect(Predictions.from_arrays(y[order], p[order]))
    assert one.to_dict() == other.to_dict()


def test_certain_claims_that_fail_are_infinitely_surprising():
    y = [1] * 149 + [0]
    d = detect(top([1.0] * 150, y))
    assert d.p_value == pytest.approx(1 / 1001, rel=0.01)
    assert detect(top([1.0] * 150, [1] * 150)).p_value == 1.0
    assert detect(Predictions.from_arrays([0, 1] * 60, [0.0, 1.0] * 60)).p_value == 1.0


def test_one_row_is_never_detected_unless_impossible():
    assert not detect(top([0.6], [0])).detected
    assert not detect(Predictions.from_arrays([1], [0.4])).detected


def test_unclear_p_values_get_ten_thousand_draws():
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(60):
        c = rng.uniform(0.5, 1, 150)
        d = detect(top(c, rng.random(150) < c))
        first = d.draws == 1000
        seen.add(first)
        assert d.draws in (1000, 10_000)
        if first:
            assert not 0.021 < d.p_value < 0.099
    assert seen == {True, False}


def test_one_odd_row_sum_does_not_move_the_other_rows():
    # two columns as written: 10,000 rows 0.70/0.30, calibrated; one row written 0.719/0.30 changes one confidence
    rng = np.random.default_rng(0)
    y = (rng.random(10_000) < 0.3).astype(int)
    written = np.tile([0.7, 0.3], (10_000, 1))
    before = detect(Predictions.from_arrays(y, written))
    written[0, 0] = 0.719
    after = detect(Predictions.from_arrays(y, written))
    assert abs(after.p_value - before.p_value) < 0.05


def test_diagnostic_bins_describe_the_confidence_view():
    rng = np.random.default_rng(4)
    p = rng.random(600)
    y = (rng.random(600) < p).astype(int)
    model = Predictions.from_arrays(y, p)
    profile = model.profile()
    b, binned = detect(model).bins, profile.bin(diagnostic_partition(profile))
    assert b.count.tolist() == binned.count.tolist()
    np.testing.assert_allclose(b.residual, binned.gap * binned.count, atol=1e-9)
    np.testing.assert_allclose(b.confidence, binned.confidence * binned.count, rtol=1e-12)
    value = profile.value
    where = diagnostic_partition(profile).locate(value)
    np.testing.assert_allclose(b.variance, np.bincount(where, weights=profile.count * value * (1 - value)), rtol=1e-9)
    assert b.low[0] == value[0]
    assert b.high[-1] == value[-1]
    assert 1.6 < b.over_limit < 4  # the largest of some fifty dependent z
    assert 1.6 < b.under_limit < 4


def test_power_for_a_shift_shows_in_the_positive_view():
    # every probability 5 points too high leaves accuracy = confidence in each top-label bin: 78 % at n = 1,000 in the
    # positive view, so at least 50 % of 20 samples (78 − 3 standard errors)
    rng = np.random.default_rng(4)
    found = []
    for _ in range(20):
        p = rng.uniform(0.05, 1, 1000)
        found.append(detect(Predictions.from_arrays((rng.random(1000) < p - 0.05).astype(int), p)))
    hits = [d for d in found if d.detected]
    assert len(hits) >= 10
    assert np.mean([d.view == "positive" for d in hits]) > 0.9
