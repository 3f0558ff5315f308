"""Venn–Abers prediction against refits by the max–min formula in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import D_P, D_Y, floats

from calibcore.advice import venn_abers
from calibcore.advice.calibrators import METHODS, Sample
from calibcore.advice.venn_abers import bounds, merged, merged_for_brier
from calibcore.predictions import Predictions


def isotonic(cells):
    """Isotonic values of rising cells (Σw, Σwy): value i = max over a ≤ i of min over b ≥ i of the mean of a … b."""
    values = []
    for i in range(len(cells)):
        best = None
        for a in range(i + 1):
            least = min(sum(y for _, y in cells[a : b + 1]) / sum(w for w, _ in cells[a : b + 1]) for b in range(i, len(cells)))
            best = least if best is None else max(best, least)
        values.append(best)
    return values


def refit(rows, score, label, unit=Fraction(1)):
    """Isotonic value at ``score`` after one more row with this label; rows are (score, label, weight)."""
    every = [*rows, (score, label, unit)]
    scores = sorted({s for s, _, _ in every})
    cells = [
        (sum((w for s, _, w in every if s == v), Fraction(0)), sum((w * y for s, y, w in every if s == v), Fraction(0))) for v in scores
    ]
    return isotonic(cells)[scores.index(score)]


def fitted(scores, labels, weights=None):
    rows = Predictions.from_arrays(labels, floats(scores), sample_weight=None if weights is None else floats(weights))
    return METHODS["venn_abers"].fit(Sample.of(rows), None)


def test_worked_example():
    p0, p1 = bounds(fitted(D_P, D_Y), np.array([0.5]))
    assert (float(p0[0]), float(p1[0])) == pytest.approx((2 / 5, 2 / 3), abs=1e-15)
    assert float(merged(p0, p1)[0]) == pytest.approx(10 / 19, abs=1e-15)
    assert float(merged_for_brier(p0, p1)[0]) == pytest.approx(118 / 225, abs=1e-15)


def test_one_score_gives_the_two_rates():
    # 7 rows, 3 events, all at one score: with one more row the rate is 3/8 or 4/8
    p0, p1 = bounds(fitted([Fraction(1, 2)] * 7, [1, 1, 1, 0, 0, 0, 0]), np.array([0.2, 0.5, 0.7]))
    assert p0.tolist() == pytest.approx([0, 3 / 8, 3 / 8])
    assert p1.tolist() == pytest.approx([1 / 2, 1 / 2, 1])


def test_one_row():
    p0, p1 = bounds(fitted([Fraction(1, 2)], [1]), np.array([0.0, 0.5, 1.0]))
    assert p0.tolist() == pytest.approx([0, 1 / 2, 1 / 2])
    assert p1.tolist() == pytest.approx([1, 1, 1])


SAMPLES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1), st.integers(1, 4)), min_size=1, max_size=14)
NEW = [Fraction(k, 16) for k in range(17)]  # at, between and beyond the scores k/8


@settings(max_examples=25)
@given(SAMPLES)
def test_equals_refitting(rows):
    exact = [(Fraction(s, 8), y, Fraction(1)) for s, y, _ in rows]
    p0, p1 = bounds(fitted([s for s, _, _ in exact], [y for _, y, _ in exact]), np.array(floats(NEW)))
    assert p0.tolist() == pytest.approx(floats([refit(exact, s, 0) for s in NEW]), abs=1e-12)
    assert p1.tolist() == pytest.approx(floats([refit(exact, s, 1) for s in NEW]), abs=1e-12)


@settings(max_examples=25)
@given(SAMPLES)
def test_equals_refitting_with_weights(rows):
    exact = [(Fraction(s, 8), y, Fraction(w)) for s, y, w in rows]
    weights = [w for _, _, w in exact]
    unit = sum(w * w for w in weights) / sum(weights)  # the sample then weighs (Σw)²/Σw² new rows
    p0, p1 = bounds(fitted(*zip(*exact, strict=True)), np.array(floats(NEW)))
    assert p0.tolist() == pytest.approx(floats([refit(exact, s, 0, unit) for s in NEW]), abs=1e-12)
    assert p1.tolist() == pytest.approx(floats([refit(exact, s, 1, unit) for s in NEW]), abs=1e-12)


@given(SAMPLES, st.randoms())
def test_order_scale_and_complement(rows, random):
    scores, labels, weights = (list(c) for c in zip(*[(Fraction(s, 8), y, Fraction(w)) for s, y, w in rows], strict=True))
    new = np.array(floats(NEW))
    p0, p1 = bounds(fitted(scores, labels, weights), new)
    assert np.all(p0 <= p1 + 1e-12)
    assert np.all(np.diff(p0) >= 0)
    assert np.all(np.diff(p1) >= 0)
    order = list(range(len(rows)))
    random.shuffle(order)
    again = fitted([scores[i] for i in order], [labels[i] for i in order], [weights[i] * 10**15 for i in order])
    mirrored = fitted([1 - s for s in scores], [1 - y for y in labels], weights)
    for other, expected in ((bounds(again, new), (p0, p1)), (bounds(mirrored, 1 - new), (1 - p1, 1 - p0))):
        assert other[0].tolist() == pytest.approx(expected[0].tolist(), abs=1e-9)
        assert other[1].tolist() == pytest.approx(expected[1].tolist(), abs=1e-9)


def test_shared_cells_are_exact_for_the_coarser_score(monkeypatch):
    # 40 distinct scores k/40 in 4 cells of ten: the same as if each row had the number of its cell as its score
    monkeypatch.setattr(venn_abers, "MOST_CELLS", 4)
    random = np.random.default_rng(3)
    scores = [Fraction(k, 40) for k in range(40)]
    labels = random.integers(0, 2, 40).tolist()
    p0, p1 = bounds(fitted(scores, labels), np.array(floats(scores)))
    coarse = [(Fraction(k // 10), y, Fraction(1)) for k, y in enumerate(labels)]
    assert p0.tolist() == pytest.approx(floats([refit(coarse, Fraction(k // 10), 0) for k in range(40)]))
    assert p1.tolist() == pytest.approx(floats([refit(coarse, Fraction(k // 10), 1) for k in range(40)]))


def test_merged_is_never_certain():
    random = np.random.default_rng(4)
    p = random.random(2000)
    labels = (random.random(2000) < p).astype(int)
    sample = Sample.of(Predictions.from_arrays(labels, p))
    mapped = METHODS["venn_abers"].apply(METHODS["venn_abers"].fit(sample, None), sample.matrix)
    assert mapped.min() > 0
    assert mapped.max() < 1
