"""What was said and cannot be followed is refused; what was said and changes nothing is noted; nothing passes in silence."""

import numpy as np
import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect, read

BINARY = b"id,y,p,g,t\na,1,0.75,u,1\nb,0,0.25,v,2\nc,1,0.5,u,3\nd,0,0.125,v,4\n"
THREE = b"y,p_a,p_b,p_c\na,0.5,0.25,0.25\nb,0.25,0.5,0.25\nc,0.25,0.25,0.5\n"
FLAGGED = b"correct,confidence\n1,0.75\n0,0.5\n1,0.625\n"
PREDICTED = b"label,pred,confidence\na,a,0.75\nb,c,0.5\nc,c,0.625\n"
TWINS = b"y,first,second\n1,0.75,0.75\n0,0.25,0.25\n1,0.5,0.5\n"


@pytest.mark.parametrize(
    ("data", "told", "sentence"),
    [
        (BINARY, {"classes": ("a", "b", "c")}, "must name two, other and positive; it names a, b and c"),
        (BINARY, {"classes": ("a", "b")}, "Column 'y' holds 1 and 0"),
        (THREE, {"classes": ("a", "b")}, "The classes a and b are not those of the columns"),
        (FLAGGED, {"classes": ("0", "1")}, "have no classes. Leave classes"),
        (THREE, {"classes": ("a", "b", "b")}, "names 'b' twice"),
        (BINARY, {"classes": ("0", "1"), "positive": "0"}, "the second is the positive one, which is '1', but positive .* is '0'"),
        (THREE, {"positive": "a"}, r"names one of two classes, but the file has 3 \(a, b and c\).*--view class:NAME"),
        (PREDICTED, {"positive": "a"}, "names one of two classes, but the file has 3"),
        (FLAGGED, {"positive": "1"}, "have no positive class"),
        (BINARY, {"positive": "q"}, "The positive class 'q' is not one of the labels"),
        (BINARY, {"columns_are": "labels"}, "labels needs several probabilities, each with its own column of outcomes"),
        (THREE, {"columns_are": "labels"}, "labels needs several probabilities, each with its own column of outcomes"),
        (BINARY, {"columns_are": "classes"}, "classes needs one probability column for each class"),
        (FLAGGED, {"columns_are": "classes"}, "classes needs one probability column for each class"),
        (BINARY, {"scale": "unnormalised"}, "has no row sum to divide by"),
        (BINARY, {"pair": "row-order"}, "there is none. Leave it out"),
        (BINARY, {"outcome": "t > 2", "label": "y"}, "both say what happened"),
        (BINARY, {"label": "y", "correct": "y", "confidence": "p"}, "does not use 'y', named with --label"),
        (BINARY, {"confidence": "p", "probabilities": "p"}, "does not use 'p', named with --confidence"),
        (THREE, {"probabilities": ("p_a", "p_b")}, r"Label 'c' \(row 3 of column 'y'\) has no probability column; the classes are a and b"),
        *((BINARY, {role: "zz"}, "There is no column called 'zz'") for role in ("label", "predicted", "correct", "confidence", "model")),
        *((BINARY, {role: "zz"}, "There is no column called 'zz'") for role in ("weight", "id", "groups", "cluster", "time")),
        (BINARY, {"probabilities": {"0": "zz", "1": "p"}}, "There is no column called 'zz'"),
    ],
)
def test_refused(data, told, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        read(data, mapping=Mapping(**told))
    assert not isinstance(raised.value, AmbiguousLayout)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("data", "told", "note"),
    [
        (BINARY, {"drop_label": "q"}, "No row has the label 'q', so none was left out for it (--drop-label)."),
        (FLAGGED, {"drop_label": ("q", "1")}, "No row has the label 'q', so none was left out for it (--drop-label)."),
        (BINARY, {"columns_are": "models"}, "Only column 'p' holds probabilities, so there is one model (--columns-are models)."),
        (
            TWINS.replace(b"first,second", b"prob_rf,prob_gbm"),
            {},
            "Column 'prob_gbm' repeats 'prob_rf' in every row and was not read as another model.",
        ),
    ],
)
def test_noted(data, told, note):
    assert note in read(data, mapping=Mapping(**told))[0].notes
    assert note in inspect(data, mapping=Mapping(**told)).notes


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (BINARY, {"classes": ("0", "1"), "positive": "1", "scale": "fraction", "missing": "drop", "label": "y", "probabilities": "p"}),
        (THREE, {"classes": ("c", "a", "b"), "columns_are": "classes", "scale": "fraction"}),
        (FLAGGED, {"correct": "correct", "confidence": "confidence"}),
        (PREDICTED, {"classes": ("a", "b", "c", "d"), "predicted": "pred"}),
        (BINARY, {"weight": (), "model": (), "predicted": (), "confidence": ()}),
    ],
)
def test_followed_without_a_word(data, told):
    assert not read(data, mapping=Mapping(**told))[0].notes


def test_models_named_by_the_user_are_kept_even_if_equal():
    for told in (Mapping(probabilities=("first", "second"), columns_are="models"), Mapping(columns_are="models")):
        first, second = read(TWINS, mapping=told)
        assert (first.name, second.name) == ("first", "second")
        np.testing.assert_array_equal(first.probabilities, second.probabilities)


def test_order_of_two_classes_beats_the_meaning_of_words():
    data = b"y,yhat,confidence\nyes,yes,0.75\nno,yes,0.625\nno,no,0.875\n"
    (found,) = read(data, mapping=Mapping(classes=("yes", "no")))
    assert found.positive_class == "no"
    assert found.rows("positive")[0].tolist() == [0.25, 0.375, 0.875]


def test_as_many_class_names_as_columns():
    data = THREE.replace(b"p_a,p_b,p_c", b"prob_0,prob_1,prob_2")
    with pytest.raises(InputError, match=r"There are 3 probability columns .* names 2"):
        read(data, mapping=Mapping(classes=("a", "b")))
