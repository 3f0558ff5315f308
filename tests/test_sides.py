"""Views of a binary model from the cells of one: the same as from the rows, whatever the precision."""

import numpy as np
import pytest

from calibcore.predictions import Predictions
from calibcore.sides import one_probability
from calibcore.top_label import complement

FIELDS = ("value", "count", "positive")


def scores(kind, n, rng):
    return {
        "spread": rng.random(n),
        "rounded": np.round(rng.random(n), 2),
        "near zero": rng.random(n) ** 30,
        "near one": 1 - rng.random(n) ** 30,
        "ends": rng.choice([0.0, 1.0, 0.5, 1e-17, 1e-300, 0.3, 0.7], n),
        "halves": np.clip(0.5 + rng.normal(0, 1e-7, n), 0, 1),
    }[kind]


@pytest.mark.parametrize("kind", ["spread", "rounded", "near zero", "near one", "ends", "halves"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_views_are_those_of_the_rows(kind, dtype):
    rng = np.random.default_rng(1)
    p = scores(kind, 3000, rng).astype(dtype)
    y = rng.random(3000) < p
    y[:2] = 0, 1
    model = Predictions.from_arrays(y.astype(int), p)
    assert one_probability(model) is not None
    other = complement(p)
    says_positive = p > other
    expected = {  # the definition, row by row
        "positive": (p, y),
        "class:1": (p, y),
        "class:0": (other, ~y),
        "top_label": (np.where(says_positive, p, other), says_positive == y),
    }
    given = np.maximum(np.where(y, p, other).astype(np.float64), 2.0**-52)
    for view, (value, event) in expected.items():
        found = model.profile(view)
        distinct, cell = np.unique(value + dtype(0), return_inverse=True)
        assert (found.view, found.task, found.n_classes, found.weighted) == (view, "binary", 2, False)
        assert found.value.dtype == dtype
        for name, array in zip(FIELDS, (distinct, np.bincount(cell), np.bincount(cell, event)), strict=True):
            np.testing.assert_array_equal(getattr(found, name), array)
        totals = found.totals
        assert (totals.rows, totals.tied) == (3000, np.count_nonzero(p == 0.5) if view == "top_label" else 0)
        assert totals.clipped == np.count_nonzero(np.where(y, p, other).astype(np.float64) < 2.0**-52)
        assert totals.log_loss == pytest.approx(-np.sum(np.log(given)), rel=1e-12)
        assert totals.brier == pytest.approx(np.sum((p.astype(np.float64) - y) ** 2), rel=1e-12)


def test_two_columns_as_written_keep_their_own_views():
    matrix = np.array([[0.6, 0.41], [0.3, 0.7], [0.2, 0.8]])  # the first row adds up to 1.01
    model = Predictions.from_arrays([0, 1, 0], matrix)
    assert one_probability(model) is None
    assert model.profile("class:0").value.tolist() == [0.2, 0.3, 0.6]
    assert model.profile("top_label").value.tolist() == [0.6, 0.7, 0.8]


@pytest.mark.parametrize("beside", [{"sample_weight": [1, 2, 1]}, {"cluster": [1, 1, 2]}])
def test_weights_and_clusters_need_the_rows(beside):
    assert one_probability(Predictions.from_arrays([0, 1, 0], [0.2, 0.6, 0.3], **beside)) is None
