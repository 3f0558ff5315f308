"""Roles that a file leaves open are asked, given ones stand, and what cannot be followed is refused with what is missing."""

import json
from fractions import Fraction

import pytest

import calibcore as cc
from calibcore.cli import main

FLAGGED = "y_pred,prob,correct\n1,.9,1\n0,.2,1\n0,.3,0\n1,.6,1\n1,.8,0\n0,.1,1\n0,.4,1\n1,.7,1\n"  # prob is P(1)
# prob is P(1), never below one half, and 1 is predicted above 0.8: ten different values a side
ABOVE = [(i % 2, int(i >= 10), Fraction(50 + 2 * i + 10 * (i >= 10), 100)) for i in range(20)]
MODELS = [(y, p) for p, y in ((".1", 0), (".8", 1), (".3", 0), (".6", 1), (".2", 1), (".4", 0), (".9", 1), (".7", 0))]


def text(header, rows):
    return "\n".join([header, *(",".join(str(float(v)) if isinstance(v, Fraction) else str(v) for v in r) for r in rows)]) + "\n"


def read(content, **roles):
    return cc.read(content.encode(), mapping=cc.Mapping(**roles))


def asked(content, **roles):
    with pytest.raises(cc.AmbiguousLayout) as caught:
        read(content, **roles)
    return {q.id: tuple(q.options) for q in caught.value.questions}


def refused(content, **roles):
    with pytest.raises(cc.InputError) as caught:
        read(content, **roles)
    assert not isinstance(caught.value, cc.AmbiguousLayout)
    return str(caught.value)


def right_as_confidence(rows):
    return sum(y == guess for y, guess, _ in rows)


def right_as_probability(rows):
    return sum((p > Fraction(1, 2)) == (y == 1) for y, _, p in rows)


# --- a confidence that behaves like the probability of one class --------------------------------------------------------


def test_beside_a_flag_it_is_asked():
    assert asked(FLAGGED) == {"confidence": ("prob", "none")}
    assert asked(FLAGGED.replace("prob", "confidence")) == {"confidence": ("confidence", "none")}


def test_percent_beside_a_flag_is_asked_as_well():
    percent = [(1, 90, 1), (0, 20, 1), (0, 30, 0), (1, 60, 1), (1, 80, 0), (0, 10, 1)]
    assert asked(text("y_pred,probability,correct", percent)) == {"confidence": ("probability", "none")}


def test_the_answers_count():
    (model,) = read(FLAGGED, confidence="prob")
    assert model.correct.mean() == 6 / 8
    assert model.confidence.sum() == pytest.approx(4.0)
    assert "--label" in refused(FLAGGED, confidence=())
    assert "--label" in refused(FLAGGED, probabilities="prob")


def test_a_confidence_beside_a_flag_is_not_asked():
    rows = [(1, ".9", 1), (0, ".8", 1), (0, ".7", 0), (1, ".6", 1), (1, ".75", 0), (0, ".95", 1)]
    (model,) = read(text("y_pred,prob,correct", rows))
    assert model.correct.mean() == pytest.approx(4 / 6)
    assert not [n for n in model.notes if "wherever" in n]


def test_never_below_one_half_and_apart_by_the_predicted_class_is_asked():
    content = text("y_true,y_pred,prob", ABOVE)
    assert asked(content) == {"confidence": ("prob", "none")}
    assert read(content, confidence="prob")[0].correct.sum() == right_as_confidence(ABOVE)
    assert read(content, confidence=())[0].correct.sum() == right_as_probability(ABOVE) != right_as_confidence(ABOVE)


def test_the_probability_of_the_class_predicted_where_it_is_high():
    rows = [(y, 1 - guess, p) for y, guess, p in ABOVE]  # now prob is that of 0
    (model,) = read(text("y_true,y_pred,prob", rows), confidence=())
    assert model.classes == ("1", "0")
    (model,) = read(text("y_true,y_pred,prob", rows), confidence=(), positive="1")
    assert model.classes == ("0", "1")


def test_by_name_it_is_a_confidence_and_noted():
    (model,) = read(text("y_true,y_pred,confidence", ABOVE))
    assert model.correct.sum() == right_as_confidence(ABOVE)
    assert [n for n in model.notes if "is named like one" in n and "'1' is predicted" in n]


def test_few_values_can_be_apart_by_chance():
    rows = [(1, 1, ".9"), (0, 1, ".8"), (0, 0, ".6"), (1, 0, ".7")]  # 2 of the 6 ways to deal four values lie apart
    (model,) = read(text("y_true,y_pred,prob", rows))
    assert model.correct.mean() == 1 / 2
    assert [n for n in model.notes if "has few values" in n]
    two_leaves = [(i % 3 and 1, i % 2, ".9" if i % 2 else ".7") for i in range(60)]  # many rows, two values
    (model,) = read(text("y_true,y_pred,prob", two_leaves))
    assert [n for n in model.notes if "has few values" in n]


def test_mixed_confidences_are_neither_asked_nor_noted():
    rows = [(i % 2, (i // 2) % 2, Fraction(51 + (7 * i) % 48, 100)) for i in range(40)]
    (model,) = read(text("y_true,y_pred,prob", rows))
    assert model.correct.sum() == right_as_confidence(rows)
    assert not [n for n in model.notes if "wherever" in n]


# --- a given role stands --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["prob", "confidence"])
def test_a_given_probability_is_none_of_the_predicted_class(name):
    (model,) = read(text(f"y_true,y_pred,{name}", ABOVE), probabilities=name)
    assert model.source["roles"]["probabilities"] == {"1": name}
    assert model.correct.sum() == right_as_probability(ABOVE)


def test_a_given_probability_beside_one_predicted_class_is_not_asked():
    rows = [(y, 1, p) for y, _, p in ABOVE]
    assert asked(text("y_true,y_pred,prob", rows)) == {"confidence": ("prob", "none")}
    (model,) = read(text("y_true,y_pred,prob", rows), probabilities="prob")
    assert model.source["roles"]["probabilities"] == {"1": "prob"}


def test_of_three_classes_one_column_can_only_be_a_confidence():
    rows = [("a", "a", ".5"), ("b", "b", ".9"), ("c", "a", ".6"), ("c", "c", ".7")]
    (model,) = read(text("y_true,y_pred,prob", rows), probabilities="prob")
    assert model.correct.mean() == 3 / 4


def test_no_confidence_is_none():
    content = "prob,is_correct\n.9,1\n.2,0\n.7,1\n.6,0\n"
    said = refused(content, confidence=())
    assert "'is_correct'" in said
    assert "--label" in said
    (model,) = read(content, confidence=(), label="is_correct")
    assert model.source["roles"]["probabilities"] == {"1": "prob"}


# --- models by rows and by columns ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", ["", "NA"])
def test_rows_that_name_no_model_are_no_part_of_another(blank):
    rows = [(m, y, p) for m in (blank, "b") for y, p in MODELS]
    assert "Row 1 of column 'model' names no model" in refused(text("model,y,prob", rows))
    (model,) = read(text("model,y,prob", rows), model=())
    assert model.n == 16


def test_versions_are_texts():
    models = read(text("version,y,prob", [(m, y, p) for m in ("1.1", "1.10") for y, p in MODELS]))
    assert [(m.name, m.n) for m in models] == [("1.1", 8), ("1.10", 8)]


@pytest.mark.parametrize("version", ["1.1", ""])
def test_one_version_is_no_axis(version):
    (model,) = read(text("version,y,prob", [(version, y, p) for y, p in MODELS]))
    assert model.n == 8


def test_numbered_columns_as_models():
    content = "y,p_0,p_1\n0,.8,.2\n1,.3,.7\n0,.6,.4\n1,.1,.9\n"
    models = read(content, columns_are="models")
    assert {m.name: m.correct.mean() for m in models} == {"p_0": 0.0, "p_1": 1.0}
    assert not [n for m in models for n in m.notes if "Only column" in n]


@pytest.mark.parametrize("several", ["models", "classes"])
def test_one_named_probability_among_fractions_is_not_called_the_only_one(several):
    content = "y,prob,gbm\n0,.8,.2\n1,.3,.7\n0,.6,.5\n1,.1,.9\n"
    assert "(--prob prob,gbm)" in refused(content, columns_are=several)
    assert [m.name for m in read(content, columns_are="models", probabilities=("prob", "gbm"))] == ["prob", "gbm"]


def test_classes_that_do_not_add_up():
    content = "y,gbm,mlp\n0,.8,.9\n1,.3,.4\n0,.6,.8\n1,.1,.7\n"
    assert set(asked(content, columns_are="classes")) == {"classes"}
    assert asked(content, columns_are="classes", classes=("0", "1")) == {"scale": ("unnormalised",)}
    (model,) = read(content, columns_are="classes", classes=("0", "1"), scale="unnormalised")
    shares = [Fraction(9, 17), Fraction(4, 7), Fraction(8, 14), Fraction(7, 8)]
    assert model.probabilities[:, 1].tolist() == pytest.approx([float(s) for s in shares])


# --- contradictions and gaps ------------------------------------------------------------------------------------------------

CLASSES = "y,A,B,C\nA,.8,.1,.1\nB,.3,.6,.1\nC,.1,.2,.7\nA,.6,.2,.2\n"


def test_one_column_for_two_classes():
    said = refused(CLASSES, probabilities={"A": "A", "B": "B", "C": "C", "D": "C"})
    assert "'C'" in said
    assert "'D'" in said


@pytest.mark.parametrize(("field", "option"), [("probabilities", "--prob"), ("confidence", "--confidence")])
@pytest.mark.parametrize("several", [tuple, list])
def test_one_column_twice(field, option, several):
    with pytest.raises(cc.InputError, match=f"{option}.*'A' twice"):
        cc.Mapping(**{field: several(["A", "A"])})


@pytest.mark.parametrize(
    "roles",
    [
        {"label": "A", "probabilities": "A"},
        {"label": "A", "probabilities": ("A", "B")},
        {"label": "y", "predicted": "y"},
        {"correct": "y", "predicted": "y"},
        {"predicted": "A", "confidence": "A"},
    ],
)
def test_one_column_for_two_roles(roles):
    said = refused(CLASSES, **roles)
    assert "two roles" in said
    assert all(r in said for r in roles)


def test_two_files_may_use_one_name_for_two_roles():
    predictions, labels = b"id,target\n1,.9\n2,.2\n3,.7\n4,.4\n", b"id,target\n1,1\n2,0\n3,1\n4,1\n"
    (model,) = cc.read(predictions, labels=labels, mapping=cc.Mapping(label="target", probabilities="target"))
    assert model.correct.mean() == 3 / 4


def test_a_group_may_have_another_role():
    content = "y,prob,site\n0,.2,a\n1,.7,b\n0,.4,a\n1,.9,b\n"
    (model,) = read(content, groups=("site",), cluster="site")
    assert model.n == 4


def test_a_confidence_needs_the_predicted_class_or_a_flag():
    content = "y,confidence\n0,.8\n1,.3\n0,.6\n1,.1\n"
    for roles in ({}, {"confidence": "confidence"}):
        with pytest.raises(cc.AmbiguousLayout, match="no column holds the predicted class or says whether it was right"):
            read(content, **roles)
        assert asked(content, **roles) == {"probabilities": ("confidence",)}
    (model,) = read(content, probabilities="confidence")
    assert model.correct.mean() == 0


def test_a_confidence_in_a_record_is_still_asked():
    content = '{"y":0,"out":{"confidence":0.3}}\n{"y":1,"out":{"confidence":0.8}}\n'
    assert asked(content) == {"probabilities": ("out.confidence",)}


def test_several_confidences_in_the_shell(tmp_path, capsys):
    path = tmp_path / "two.csv"
    path.write_text("y,yhat,a,b\nu,u,.8,.9\nv,u,.7,.7\nu,v,.6,.6\nv,v,.9,.9\n")
    assert main(["measure", str(path), "--confidence", "a,b", "--format", "json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    found = {m["name"]: (m["accuracy"], m["mean_confidence"]) for m in models}
    assert found == {"a": (0.5, pytest.approx(3 / 4)), "b": (0.5, pytest.approx(31 / 40))}
