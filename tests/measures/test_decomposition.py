"""CORP and Murphy: worked fractions, enumeration of all labels, published figures, properties."""

import csv
import itertools
import json
import math
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.errors import InputError
from calibcore.measures.decomposition import corp, corp_decomposition
from calibcore.measures.murphy import murphy, murphy_decomposition
from calibcore.predictions import Predictions

P = ref.floats(ref.D_P)
LARGEST = 52 * math.log(2)  # −log 2⁻⁵²


def parts(d):
    return [d.score, d.mcb, d.dsc, d.unc]


def test_corp_of_d():
    # c = 0, 0, 1/2 ×4, 1 ×4: S(c) = 4·(1/4)/10 = 1/10; ȳ = 6/10: S(ȳ) = 6/25; S(p) = 13/80
    d = corp_decomposition(ref.D_Y, P)
    assert parts(d) == pytest.approx([13 / 80, 1 / 16, 7 / 50, 6 / 25], abs=1e-15)
    # log: S(c) = 4·log 2/10, S(ȳ) = entropy of 6/10, S(p) as in the test of log_loss
    product = math.prod(q if y else 1 - q for q, y in zip(ref.D_P, ref.D_Y, strict=True))
    score, fitted, base = -math.log(product) / 10, 0.4 * math.log(2), -(0.6 * math.log(0.6) + 0.4 * math.log(0.4))
    assert parts(d.log) == pytest.approx([score, score - fitted, base - fitted, base], abs=1e-14)
    assert [round(v, 10) for v in parts(d.log)] == [0.4779411758, 0.2006823036, 0.3957527948, 0.6730116670]
    assert (d.log.clipped, d.log.infinite, d.scale) == (0, 0, "0 to 1")


def exact_mcb(p, y):
    """MCB in fractions, with the fit by the max-min formula."""
    m = len(p)  # distinct and rising

    def mean(i, j):
        return Fraction(sum(y[i : j + 1]), j + 1 - i)

    c = [max(min(mean(i, j) for j in range(k, m)) for i in range(k + 1)) for k in range(m)]
    return sum((a - t) ** 2 - (b - t) ** 2 for a, b, t in zip(p, c, y, strict=True)) / m


def test_mcb_of_a_calibrated_model_is_not_0_on_average():
    # E[MCB] of p = 1/4, 1/2, 3/4 over its eight outcomes: 47/288
    p = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    mean, found = Fraction(0), 0.0
    for y in itertools.product((0, 1), repeat=3):
        chance = math.prod(q if t else 1 - q for q, t in zip(p, y, strict=True))
        mean += chance * exact_mcb(p, y)
        found += float(chance) * corp(Predictions.from_arrays(y, ref.floats(p), classes=(0, 1)).profile("positive")).mcb
    assert mean == Fraction(47, 288)
    assert found == pytest.approx(47 / 288, abs=1e-15)


def test_p_value_of_d_by_enumeration_of_all_labels():
    seen = exact_mcb(ref.D_P, ref.D_Y)
    assert seen == Fraction(1, 16)
    tail = Fraction(0)
    for y in itertools.product((0, 1), repeat=10):
        if exact_mcb(ref.D_P, y) >= seen:
            tail += math.prod(q if t else 1 - q for q, t in zip(ref.D_P, y, strict=True))
    draws = 4000
    p = corp_decomposition(ref.D_Y, P).mcb_p_value(draws=draws)
    assert p == pytest.approx(float(tail), abs=4 * math.sqrt(0.25 / draws) + 1 / draws)


def test_p_value_is_uniform_under_calibration_and_small_without():
    rng = np.random.default_rng(0)
    found = []
    for i in range(100):
        p = rng.random(60)
        found.append(corp_decomposition(rng.random(60) < p, p, classes=(False, True)).mcb_p_value(draws=99, seed=i))
    # 100 uniform values on k/100: mean 0.505 with standard error 0.289/√100 = 0.0289; share ≤ 0.1 has 0.03
    assert np.mean(found) == pytest.approx(0.505, abs=4 * 0.0289)
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=4 * 0.03)
    p = rng.random(3000)
    wrong = corp_decomposition(rng.random(3000) < p**2, p)
    assert wrong.mcb_p_value(draws=99) == 0.01  # (1 + 0)/100


def test_p_value_on_groups_keeps_its_size():
    # 3,000 distinct values are grouped; standard error of the mean of 30 uniform values 0.289/√30 = 0.053
    rng = np.random.default_rng(1)
    found = []
    for i in range(30):
        p = 1 - rng.random(3000) ** 2
        found.append(corp_decomposition(rng.random(3000) < p, p).mcb_p_value(draws=99, seed=i))
    assert np.mean(found) == pytest.approx(0.505, abs=4 * 0.053)


def test_p_value_of_certain_predictions():
    assert corp_decomposition([0, 1, 1], [0.0, 1.0, 1.0]).mcb_p_value(draws=9) == 1.0
    assert corp_decomposition([1, 0, 1], [0.0, 1.0, 1.0]).mcb_p_value(draws=9) == 0.1
    for draws in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="number of draws"):
            corp_decomposition([0, 1], [0.1, 0.9]).mcb_p_value(draws=draws)


def test_impossible_events_are_clipped_and_counted():
    d = corp_decomposition([1, 0, 1, 0], [0.0, 0.0, 2.0**-60, 1.0])
    assert (d.log.clipped, d.log.infinite) == (3, 2)
    assert d.log.score == pytest.approx(3 * LARGEST / 4, abs=1e-12)
    assert d.log.score == pytest.approx(cc.log_loss([1, 0, 1, 0], [0.0, 0.0, 2.0**-60, 1.0]), abs=1e-12)
    assert d.log.score == pytest.approx(d.log.mcb - d.log.dsc + d.log.unc, abs=1e-12)
    # weighted: the rows at 0 are one right, one wrong, so the exact zeros cannot be counted; rows clipped still can
    w = corp_decomposition([1, 0, 1, 0], [0.0, 0.0, 2.0**-60, 1.0], sample_weight=[1, 2, 1, 1])
    assert (w.log.clipped, w.log.infinite) == (3, None)
    pure = corp_decomposition([1, 1, 1, 0], [0.0, 0.0, 0.5, 1.0], sample_weight=[1, 2, 1, 1])
    assert (pure.log.clipped, pure.log.infinite) == (3, 3)
    mixed = corp_decomposition([0, 1, 2], [[1, 0, 0], [1, 0, 0], [0, 0.5, 0.5]], sample_weight=[1, 2, 1])
    assert (mixed.log.clipped, mixed.log.infinite) == (None, None)


def test_top_label_view_scores_the_confidence_not_all_classes():
    y, p = [0, 2, 1], np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.6, 0.3]])
    d = corp_decomposition(y, p)
    assert d.scale == "of the confidence only, 0 to 1"
    assert d.score == pytest.approx((0.3**2 + 0.5**2 + 0.4**2) / 3, abs=1e-15)
    assert cc.brier_score(y, p) != pytest.approx(d.score)
    assert corp_decomposition(y, p, view="class:2").scale == "0 to 1"
    assert corp_decomposition(y, p, view="class:2").score == pytest.approx((0.1**2 + 0.7**2 + 0.3**2) / 3, abs=1e-15)


@pytest.mark.parametrize(("y", "p"), [([1], [0.3]), ([0, 0], [0.2, 0.9]), ([1, 1, 1], [1.0, 1.0, 1.0]), ([0], [1.0]), ([1, 0], [0.5, 0.5])])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [None, 1e-15, 1e15])
def test_edge_cases_add_up(y, p, dtype, scale):
    w = None if scale is None else np.full(len(y), scale)
    d = corp_decomposition(y, np.array(p, dtype=dtype), sample_weight=w)
    for one in (d, d.log):
        assert one.score == pytest.approx(one.mcb - one.dsc + one.unc, abs=1e-12)
        assert min(one.mcb, one.dsc, one.unc) >= 0
    json.dumps(d.to_dict(), allow_nan=False)
    assert 0 < d.mcb_p_value(draws=9) <= 1


def test_corp_as_plain_data():
    found = corp_decomposition(ref.D_Y, P).to_dict()
    assert list(found) == ["score", "mcb", "dsc", "unc", "scale", "log_loss"]
    assert list(found["log_loss"]) == ["score", "mcb", "dsc", "unc", "clipped"]


confidences = st.one_of(st.integers(0, 12).map(lambda k: k / 12), st.floats(0, 1))
rows = st.lists(st.tuples(confidences, st.booleans(), st.integers(1, 5)), min_size=1, max_size=25)


def all_parts(p, y, w=None):
    d = corp(Predictions.from_top_label(p, y, sample_weight=w).profile())
    return np.array(parts(d) + parts(d.log))


@given(rows, st.randoms(use_true_random=False))
def test_order_weights_and_adding_up(sample, random):
    p, y, w = (np.array([r[i] for r in sample]) for i in range(3))
    order = np.array(random.sample(range(len(p)), len(p)))
    found = all_parts(p, y)
    assert all_parts(p[order], y[order]).tolist() == found.tolist()  # to the last bit
    repeated = all_parts(np.repeat(p, w), np.repeat(y, w))
    for scale in (1, 1e-15, 1e15):
        np.testing.assert_allclose(all_parts(p, y, w * scale), repeated, atol=1e-12)
    for s, mcb, dsc, unc in (found[:4], found[4:]):
        assert s == pytest.approx(mcb - dsc + unc, abs=1e-12)
        assert mcb >= 0
        assert 0 <= dsc <= unc + 1e-15


@given(st.lists(st.tuples(st.integers(0, 16), st.booleans()), min_size=1, max_size=25))
def test_complement(sample):
    p, y = np.array([r[0] for r in sample]) / 16, np.array([r[1] for r in sample])
    np.testing.assert_allclose(all_parts(1 - p, ~y), all_parts(p, y), atol=1e-13)


def reference_data():
    root = os.environ.get("CALIBCORE_REFERENCE_DATA")
    return Path(root) if root and Path(root, "published.json").is_file() else None


@pytest.mark.skipif(reference_data() is None, reason="CALIBCORE_REFERENCE_DATA names no folder with published.json")
def test_published_recidivism_terms():
    # Dimitriadis, Gneiting & Jordan (2021), to the digits printed
    root = reference_data()
    entries = [e for e in json.loads((root / "published.json").read_text()) if e["id"] == "recidivism"]
    with (root / "recidivism" / "recid.csv").open() as file:
        table = list(csv.DictReader(file))
    y = np.array([float(r["two_year_recid"]) for r in table])
    seen = 0
    for entry in entries:
        model, _, term = entry["quantity"].partition(" ")
        if term in ("MCB", "DSC", "UNC"):
            d = corp_decomposition(y, np.array([float(r[model]) for r in table]))
            assert round(getattr(d, term.lower()), entry["decimals"]) == entry["published"], entry["quantity"]
            seen += 1
    assert seen >= 9


def test_murphy_of_d():
    # bins (0, 1/5], …: worked in fractions; the three terms alone give 4279/24000, not 13/80 = 3900/24000
    m = murphy_decomposition(ref.D_Y, P, n_bins=5)
    expected = [Fraction(493, 8000), Fraction(37, 300), Fraction(6, 25), Fraction(61, 24000), Fraction(11, 600), Fraction(13, 80)]
    assert [m.rel, m.res, m.unc, m.wbv, m.wbc, m.brier] == pytest.approx(ref.floats(expected), abs=1e-15)
    assert expected[0] - expected[1] + expected[2] + expected[3] - expected[4] == expected[5]
    assert m.corrected == pytest.approx((-521 / 24000, 1 / 15, 4 / 15), abs=1e-15)
    assert m.generalised_resolution == pytest.approx(float(expected[1] - expected[3] + expected[4]), abs=1e-15)
    assert m.to_dict()["corrected"]["unc"] == pytest.approx(4 / 15, abs=1e-15)


def test_corrected_terms_are_unbiased_where_p_is_constant_in_a_bin():
    # two bins of three rows at p = 1/5, 4/5, true rates 2/5, 3/5: over all 64 outcomes, rel − A has as its mean the true
    # Σ W(p − rate)² = 1/25
    p, rate = [0.2] * 3 + [0.8] * 3, [Fraction(2, 5)] * 3 + [Fraction(3, 5)] * 3
    rel = 0.0
    for y in itertools.product((0, 1), repeat=6):
        chance = math.prod(r if t else 1 - r for r, t in zip(rate, y, strict=True))
        profile = Predictions.from_arrays(y, p, classes=(0, 1)).profile("positive")
        rel += float(chance) * murphy(profile, cc.Partition.equal_width(2)).corrected[0]
    assert rel == pytest.approx(1 / 25, abs=1e-15)


def test_murphy_edge_cases():
    one = murphy_decomposition([1], [0.3])
    assert one.corrected is None
    assert (one.rel, one.res, one.unc, one.wbv, one.wbc) == pytest.approx((0.49, 0, 0, 0, 0), abs=1e-15)
    shared = murphy_decomposition([1, 0, 1, 0, 1], [0.5] * 5, n_bins=2, strategy="equal_mass", ties="share")
    assert shared.corrected is None
    assert shared.rel - shared.res + shared.unc + shared.wbv - shared.wbc == pytest.approx(shared.brier, abs=1e-15)
    json.dumps([one.to_dict(), shared.to_dict()], allow_nan=False)
    # two bins of one row: neither can be corrected
    assert murphy_decomposition([0, 1], [0.1, 0.9], n_bins=2).corrected == pytest.approx((0.01, 0.25 + 0.25, 0.5), abs=1e-15)


@given(rows, st.integers(1, 12), st.sampled_from(["equal_width", "equal_mass"]), st.sampled_from(["together", "share"]))
def test_murphy_adds_up_and_weights_repeat(sample, n_bins, strategy, ties):
    p, y, w = (np.array([r[i] for r in sample]) for i in range(3))
    options = {"n_bins": n_bins, "strategy": strategy, "ties": ties, "classes": (False, True)}

    def terms(p, y, w=None):
        m = murphy_decomposition(y, p, sample_weight=w, **options)
        assert m.rel - m.res + m.unc + m.wbv - m.wbc == pytest.approx(m.brier, abs=1e-12)
        if m.corrected is not None:
            rel, res, unc = m.corrected
            assert rel - res + unc == pytest.approx(m.rel - m.res + m.unc, abs=1e-9)
        return np.array([m.rel, m.res, m.unc, m.wbv, m.wbc, m.brier])

    terms(p, y)
    if strategy == "equal_width":
        np.testing.assert_allclose(terms(p, y, w * 1e15), terms(np.repeat(p, w), np.repeat(y, w)), atol=1e-12)
