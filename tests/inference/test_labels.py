"""Multi-label: each label's figures by hand, adjusted for their number; arrays, readers and refusals."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.errors import InputError
from calibcore.inference.groups import by_group
from calibcore.inference.labels import multilabel, multilabel_from_arrays
from calibcore.io import Mapping, read
from calibcore.partition import Partition
from calibcore.predictions import Predictions


def _label(name, hits, p=0.25, n=60, **more):
    return Predictions.from_arrays([i < hits for i in range(n)], [p] * n, name=name, **more)


def test_figures_of_each_label_by_hand():
    found = multilabel([_label("x", 15), _label("y", 30), _label("z", 0)], partition=Partition.equal_width(4))
    for label, hits in zip(found.labels, (15, 30, 0), strict=True):
        gap = Fraction(hits, 60) - Fraction(1, 4)
        assert (label.n, label.base_rate, label.mean_probability) == (60, hits / 60, 0.25)
        assert label.gap.value == float(gap)
        assert label.ece == abs(float(gap))
        assert found.profiles[label.name] is label.profile
    assert found.mean_ece == pytest.approx((0 + 0.25 + 0.25) / 3)
    assert [x.p_holm <= 0.05 for x in found.labels] == [False, True, True]
    assert found.text.startswith(
        "3 labels looked at; intervals are Bonferroni-adjusted. Outcomes do not fit the probabilities of “y” and “z”"
    )


def test_same_numbers_as_groups():
    """A label is judged as a group of rows would be: same intervals, p-values and smallest visible gaps."""
    rng = np.random.default_rng(2)
    p = rng.uniform(size=(200, 2))
    y = rng.uniform(size=p.shape) < p
    labels = multilabel([Predictions.from_arrays(y[:, i], p[:, i], name=n) for i, n in enumerate("ab")]).labels
    whole = Predictions.from_arrays(y.T.ravel(), p.T.ravel(), groups={"g": np.repeat(["a", "b"], 200)})
    for label, group in zip(labels, by_group(whole, "g", view="positive").groups, strict=True):
        for name in ("gap", "ece", "chance", "p_value", "p_holm", "p_list", "visible_gap"):
            assert getattr(label, name) == getattr(group, name)


def test_small_labels_are_listed_and_not_judged():
    found = multilabel([_label("x", 15), _label("y", 3, n=10)])
    assert (found.labels[1].judged, found.labels[1].p_holm, found.labels[1].gap.low) == (False, None, None)
    assert found.labels[0].p_holm == found.labels[0].p_value
    assert "1 of them with fewer than 50 rows and not judged. No label shows miscalibration" in found.text
    assert multilabel([_label("y", 3, n=10)]).p_value is None


def test_from_arrays_is_one_model_a_label():
    y, p = np.array([[1, 0], [0, 0]] * 30), np.tile([0.5, 0.25], (60, 1))
    found = multilabel_from_arrays(y, p)
    assert [x.name for x in found.labels] == ["label 1", "label 2"]
    by_hand = multilabel([_label("x", 30, 0.5), _label("y", 0)])
    for a, b in zip(found.labels, by_hand.labels, strict=True):
        assert (a.base_rate, a.gap, a.p_holm) == (b.base_rate, b.gap, b.p_holm)


def test_names_of_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[0.5, 0.25]] * 2, columns=["rain", "snow"])
    assert [x.name for x in multilabel_from_arrays([[1, 0], [0, 1]], frame).labels] == ["rain", "snow"]


def test_from_a_file_of_labels():
    data = b"prob_rain,rain,prob_snow,snow\n" + b"0.75,1,0.25,0\n0.25,0,0.5,1\n0.5,1,0.1,0\n0.125,0,0.2,0\n" * 20
    found = multilabel(read(data, mapping=Mapping(columns_are="labels")))
    assert [(x.name, x.n, x.base_rate) for x in found.labels] == [("rain", 80, 0.5), ("snow", 80, 0.25)]


@pytest.mark.parametrize(
    ("y", "p", "more", "sentence"),
    [
        ([[1, 0]], [[0.5]], {}, r"shape \(1, 2\) and probabilities \(1, 1\)"),
        ([1, 0], [0.5, 0.5], {}, "one column a label"),
        ([[1, 0]], [[0.5, 0.5]], {"labels": ["a"]}, "1 label names for 2 columns"),
        ([[1, 2]], [[0.5, 0.5]], {"labels": ["a", "Bee"]}, "Label 'Bee': Outcomes must be 0/1"),
        ([[1, 0]], [[0.5, 1.5]], {"labels": ["a", "Bee"]}, "Label 'Bee': Row 1: probabilities outside"),
        ([[1, 0]], [[0.5, 0.5]], {"labels": ["a", "a"]}, "Two labels are called 'a'"),
        ([[1, 0], [1]], [[0.5, 0.5], [0.5]], {}, "unequal length"),
    ],
)
def test_refused_arrays(y, p, more, sentence):
    with pytest.raises(InputError, match=sentence):
        multilabel_from_arrays(y, p, **more)


def test_refused_models():
    with pytest.raises(InputError, match="no labels to judge"):
        multilabel([])
    with pytest.raises(InputError, match="'model' is top_label"):
        multilabel([Predictions.from_top_label([0.5], [1])])


def test_plain_data():
    found = multilabel([_label("x", 15), _label("y", 3, n=10)]).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["labels"][1]["chance"] is None


_CELLS = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.1, 0.5]), st.integers(1, 3)),
    min_size=1,
    max_size=20,
)


@settings(max_examples=25, deadline=None)
@given(_CELLS, st.randoms(use_true_random=False))
def test_order_weights_and_repetition(rows, random):
    def found(rows, scale=None):
        a, b, p, q, w = (np.array(x) for x in zip(*rows, strict=True))
        weight = w * scale if scale else None
        if scale is None:
            a, b, p, q = (np.repeat(x, w) for x in (a, b, p, q))
        made = multilabel_from_arrays(np.column_stack([a, b]), np.column_stack([p, q]), sample_weight=weight, minimum=10**6)
        return [(x.base_rate, x.gap.value, x.ece) for x in made.labels]

    first = found(rows, 1.0)
    random.shuffle(rows)
    for other in (found(rows, 1.0), found(rows, 1e15), found(rows, 1e-15), found(rows)):
        np.testing.assert_allclose(other, first, atol=1e-12)
