"""What a user says about columns, and how cells become predictions."""

import numpy as np
import pytest

import calibcore.io as cio
from calibcore.errors import InputError
from calibcore.io import Mapping, inspect, read

BASE = b"id,y,p,w,g\na,1,0.75,1,x\nb,0,0.25,2,y\nc,1,0.5,0,x\nd,0,0.125,3,y\n"


def one(data, **told):
    (found,) = read(data, mapping=Mapping(**told))
    return found


def test_unset_detected_empty_none_given_never_overridden():
    found = one(BASE)
    assert (list(found.groups), found.ids.tolist(), found.weight) == (["g"], list("abcd"), None)
    found = one(BASE, groups=(), id=())
    assert (found.groups, found.ids) == ({}, None)
    found = one(BASE, groups="w")
    assert found.groups["w"].tolist() == ["1", "2", "0", "3"]


def test_weights_only_when_named():
    data = BASE.replace(b",w,", b",weight,")
    layout = inspect(data)
    assert layout.offered_weight == "weight"
    assert any("could be weights" in n for n in layout.notes)
    found = one(data, weight="weight")
    assert found.weight.tolist() == [1.0, 2.0, 3.0]
    assert found.n_excluded == 1
    assert inspect(data, mapping=Mapping(weight="weight")).offered_weight is None


def test_unknown_column_names_what_there_is():
    with pytest.raises(InputError, match=r"There is no column called 'zz'\. The columns are id, y, p, w, g\.") as raised:
        one(BASE, label="zz")
    assert raised.value.available == ("id", "y", "p", "w", "g")


@pytest.mark.parametrize(("field", "value"), [("scale", "odds"), ("missing", "fill"), ("columns_are", "rows")])
def test_choices_are_checked(field, value):
    with pytest.raises(InputError, match=f"{field} must be one of"):
        Mapping(**{field: value})


def test_mapping_is_plain_data():
    told = Mapping(probabilities={1: "p"}, positive=1, groups=["g"], drop_label="x,y")
    assert told.to_dict() == {"probabilities": {"1": "p"}, "positive": "1", "groups": ["g"], "drop_label": ["x,y"]}
    assert told.columns() == ("p", "g")


def test_single_logits_become_probabilities():
    # 1/(1+e^0) = 1/2 and 1/(1+1/3) = 3/4 for log-odds ln 3
    found = one(f"y,z\n1,0\n0,{np.log(3)}\n".encode(), probabilities="z", scale="logit")
    np.testing.assert_allclose(found.rows("positive")[0], [0.5, 0.75], rtol=1e-15)
    assert "logits" in found.notes[-1]


def test_rows_divided_by_their_sum():
    found = one(b"y,p_a,p_b,p_c\na,0.2,0.1,0.1\nb,0.1,0.2,0.1\n", scale="unnormalised")
    np.testing.assert_allclose(found.probabilities[0], [0.5, 0.25, 0.25], rtol=1e-15)


def test_percent_signs_and_large_values_are_percent():
    for cells in (b"y,p\n1,75%\n0,25%\n", b"y,p\n1,75\n0,25\n", b"y;p\n1;75,0\n0;25,0\n"):
        found = one(cells)
        assert found.rows("positive")[0].tolist() == [0.75, 0.25]
        assert any("percent" in n for n in found.notes)


def test_one_column_keeps_its_complement_as_a_person_writes_it():
    found = one(b"y,p\n1,0.18\n0,0.7\n")
    assert found.probabilities.tolist() == [[0.82, 0.18], [0.3, 0.7]]


def test_confidence_of_two_known_classes_gives_both_probabilities():
    found = one(b"y,yhat,confidence\nyes,yes,0.75\nno,yes,0.625\nno,no,0.875\n")
    assert (found.task, found.classes) == ("binary", ("no", "yes"))
    assert found.rows("positive")[0].tolist() == [0.75, 0.625, 0.125]


def test_confidence_at_one_half_keeps_the_files_own_prediction():
    found = one(b"y,yhat,confidence\nyes,yes,0.5\nno,yes,0.625\nno,no,0.875\n")
    assert found.task == "top_label"
    assert found.correct.tolist() == [True, False, True]


def test_labels_match_as_text_or_equal_numbers():
    found = one(b"y,p_0,p_1,p_2\n1.0,0.25,0.5,0.25\n2,0.25,0.25,0.5\n0,0.5,0.25,0.25\n")
    assert found.label.tolist() == [1, 2, 0]


def test_rows_left_out_keep_the_numbers_of_the_others():
    data = b"y,p\n1,0.75\n0,NA\n?,0.25\n0,0.5\n"
    found = one(data, missing="drop")
    assert (found.row.tolist(), found.n_excluded) == ([1, 4], 2)
    assert found.notes[0] == "2 of 4 rows left out: 1 without a value in 'p' and 1 without a label in 'y'."
    with pytest.raises(InputError, match=r"Row 3: values of column 'p' outside \[0, 1\]"):
        one(b"y,p\n1,0.75\n0,NA\n1,-0.01\n", missing="drop")


def test_nothing_left_is_an_error():
    with pytest.raises(InputError, match="No row of"):
        one(b"y,p\n?,0.75\n0,NA\n", label="y", probabilities="p", missing="drop")


def test_dropped_labels_are_counted():
    found = one(b"y,p\nYES,0.75\nNO,0.5\nMKT,0.25\n", drop_label="MKT")
    assert (found.n, found.n_excluded, found.classes) == (2, 1, ("NO", "YES"))
    assert "1 with a label that is left out" in found.notes[0]


@pytest.mark.parametrize(("outcome", "label"), [("a > b", [1, 0, 0]), ("a >= b", [1, 1, 0]), ("a < 2", [0, 1, 1])])
def test_outcome_makes_the_label(outcome, label):
    found = one(b"a,b,prob\n2,1,0.75\n1,1,0.5\n0,3,0.25\n", outcome=outcome)
    assert found.label.tolist() == label
    assert found.classes == ("False", "True")


def test_outcome_that_is_no_comparison():
    with pytest.raises(InputError, match="is no comparison"):
        one(BASE, outcome="home wins")
    with pytest.raises(InputError, match="not a number, so the outcome cannot be told"):
        one(BASE, outcome="g > 1")


def test_single_class_is_read_and_its_opposite_named():
    assert one(b"y,p\n1,0.75\n1,0.25\n").classes == ("0", "1")
    assert one(b"y,p\nyes,0.75\nyes,0.25\n").classes == ("no", "yes")
    assert one(b"y,p\nrain,0.75\nrain,0.25\n", positive="rain").classes == ("not rain", "rain")


def test_several_files_are_read_one_by_one(tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_bytes(BASE)
    b.write_bytes(BASE.replace(b"0.75", b"0.875"))
    assert [p.name for p in read([a, b, a])] == ["a", "b", "a (2)"]
    assert [p.confidence.tolist() for p in read([a, b])] == [p.confidence.tolist() for f in (a, b) for p in read(f)]
    b.write_bytes(b"id,p\na,0.5\nb,0.25\n")
    with pytest.raises(InputError, match=r"b\.csv: .*no column of labels.*--labels-file"):
        read([a, b])
    with pytest.raises(InputError, match="No file was given"):
        read([])


def test_names_never_collide():
    data = b"model,y,p\na,1,0.5\na (2),0,0.25\na,1,0.5\na (2),0,0.25\n"
    assert [p.name for p in cio._renamed([*read(data), *read(data)], None)] == ["a", "a (2)", "a (3)", "a (2) (2)"]


def test_inspect_reads_only_the_beginning_of_a_long_text(tmp_path, monkeypatch):
    from calibcore.io import containers

    monkeypatch.setattr(containers, "_PREFIX", 64)
    path = tmp_path / "long.csv"
    path.write_bytes(b"y,p\n" + b"1,0.75\n0,0.25\n" * 1000)
    layout = inspect(path)
    assert layout.n_rows is None
    assert layout.sentence == "Read as: label = y, probability = p, positive class = 1."
    assert layout.preview[:2] == ({"y": "1", "p": "0.75"}, {"y": "0", "p": "0.25"})
    assert len(layout.preview) == 5
    assert read(path)[0].n == 2000
