"""Holm, Benjamini–Hochberg and Bonferroni: published rules on small lists, error rates by simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.errors import InputError
from calibcore.inference.multiplicity import benjamini_hochberg, bonferroni_level, holm

P = [0.001, 0.012, 0.021, 0.04, 0.3]


def test_a_list_by_hand():
    # Holm: 5·.001, 4·.012, 3·.021, 2·.04, 1·.3, each at least the one before
    assert holm(P).tolist() == pytest.approx([0.005, 0.048, 0.063, 0.08, 0.3], abs=1e-15)
    # BH: 5/1·.001, 5/2·.012, 5/3·.021, 5/4·.04, .3, each at most the one after
    assert benjamini_hochberg(P).tolist() == pytest.approx([0.005, 0.03, 0.035, 0.05, 0.3], abs=1e-15)


def test_steps_are_monotone_where_the_products_are_not():
    # Holm: 3·.02 = .06, then max(.06, 2·.025 = .05) = .06, then max(.06, .03); BH: .025·3/2 = .0375 → min with .03·3/3
    assert holm([0.02, 0.025, 0.03]).tolist() == pytest.approx([0.06, 0.06, 0.06])
    assert benjamini_hochberg([0.02, 0.025, 0.03]).tolist() == pytest.approx([0.03, 0.03, 0.03])


def test_at_most_one_and_one_alone_stays():
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([0.2]).tolist() == benjamini_hochberg([0.2]).tolist() == [0.2]
    assert holm([]).tolist() == benjamini_hochberg([]).tolist() == []


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_missing_tests_are_no_looks(adjust):
    with_gaps = adjust([None, P[0], P[1], math.nan, *P[2:]])
    assert np.isnan(with_gaps[[0, 3]]).all()
    np.testing.assert_array_equal(with_gaps[[1, 2, 4, 5, 6]], adjust(P))
    assert np.isnan(adjust([None, None])).all()


@pytest.mark.parametrize("bad", [[0.1, 1.5], [-0.1], ["x"], [[0.1, 0.2]], 3])
def test_refused(bad):
    with pytest.raises(InputError):
        holm(bad)


@pytest.mark.parametrize(("level", "m"), [(0.95, 0), (0.95, 2.0), (0.95, True), (95, 3), (1.0, 3)])
def test_level_refused(level, m):
    with pytest.raises(InputError):
        bonferroni_level(level, m)


def test_level():
    assert bonferroni_level(0.9, 4) == float(1 - Fraction(1, 10) / 4)
    assert bonferroni_level(0.95, 1) == pytest.approx(0.95)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.randoms())
def test_order_does_not_matter(p, random):
    order = list(range(len(p)))
    random.shuffle(order)
    for adjust in (holm, benjamini_hochberg):
        np.testing.assert_array_equal(adjust(np.array(p)[order]), adjust(p)[order])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_between_raw_and_bonferroni(p):
    raw, h, bh = np.array(p), holm(p), benjamini_hochberg(p)
    slack = 1e-12
    assert (raw <= bh + slack).all()
    assert (bh <= h + slack).all()
    assert (h <= np.minimum(1, len(p) * raw) + slack).all()


def test_family_wise_error_and_false_discovery_rate():
    # 4,000 families of 12 tests, 4 of them false nulls with p = u⁶ (strong).  Simulation error of a 5 % rate: ±3·√(.05·.95/4000) = ±.0103
    rng = np.random.default_rng(20)
    u = rng.uniform(size=(4000, 12))
    u[:, :4] **= 6
    any_false = np.mean([(holm(p)[4:] <= 0.05).any() for p in u])
    assert any_false <= 0.05 + 0.0103
    false_share = np.mean([np.mean((q := benjamini_hochberg(p))[4:] <= 0.05) * 8 / max(1, np.count_nonzero(q <= 0.05)) for p in u])
    # exactly 5 % · 8/12 for independent tests (Benjamini & Hochberg 1995)
    assert false_share == pytest.approx(0.05 * 8 / 12, abs=0.007)
