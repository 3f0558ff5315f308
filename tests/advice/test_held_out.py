"""Held-out predictions of remedies already judged: the very rows whose scores were shown."""

import numpy as np
import pytest

import calibcore as cc
from calibcore.advice.recalibration import Scores, confidence_only
from calibcore.errors import InputError


def three_classes(n=600, seed=4):
    random = np.random.default_rng(seed)
    z = random.normal(size=(n, 3))
    share = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    sharper = share**2 / (share**2).sum(axis=1, keepdims=True)
    return cc.Predictions.from_arrays((share.cumsum(axis=1) < random.random((n, 1))).sum(axis=1), sharper)


def binary(n=1500, seed=1):
    random = np.random.default_rng(seed)
    z = random.normal(0, 2, n)
    y = (random.random(n) < 1 / (1 + np.exp(-z / 2))).astype(int)
    clusters = np.arange(n) // 3
    return cc.Predictions.from_arrays(y, 1 / (1 + np.exp(-z))).but(cluster=clusters)


@pytest.mark.parametrize("model", [three_classes(), binary(), confidence_only(three_classes(1500))], ids=["three", "clusters", "alone"])
def test_held_out_rows_have_the_scores_that_were_shown(model):
    found = cc.remedies(model, seed=2)
    for remedy in found.tried:
        assert remedy.status != "not_tried"
        held_out = found.held_out(model, remedy.method)
        assert Scores.of(held_out, "top_label", 2).to_dict() == remedy.after.to_dict()
        assert held_out.row.tolist() == model.row.tolist()


def test_no_held_out_rows_of_what_was_not_tried():
    model = binary(500)
    found = cc.remedies(model)
    with pytest.raises(InputError, match="Isotonic regression needs about 1,000 rows to fit"):
        found.held_out(model, "isotonic")


def test_held_out_rows_of_another_model_are_refused():
    found = cc.remedies(binary(600))
    with pytest.raises(InputError, match="Give the model that was judged, of 600 rows"):
        found.held_out(binary(300), "temperature")
