"""How each layout is recognised, what is asked when a file leaves it open, and what is refused."""

import numpy as np
import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect_bytes, read, read_bytes
from calibcore.io.layouts import RULES

N = 40
P = np.linspace(0.02, 0.98, N).round(3)
Y = (np.arange(N) % 3 == 0).astype(int)
YHAT = (P > 0.5).astype(int)
CONFIDENCE = np.maximum(P, 1 - P).round(3)
K3 = np.column_stack([np.linspace(0.1, 0.5, N), np.linspace(0.6, 0.1, N)])
K3 = np.column_stack([K3, 1 - K3.sum(axis=1)])
Y3 = np.arange(N) % 3
WORDS = np.array(["no", "yes"])[Y]
ABC = np.array(["a", "b", "c"])[Y3]
TEXTS = np.array(["good", "poor"])[Y]


def csv(header, *columns):
    return (header + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n").encode()


def asked(data, **told):
    with pytest.raises(AmbiguousLayout) as raised:
        read(data, mapping=Mapping(**told))
    (question,) = raised.value.questions
    return question


def roles(data, **told):
    (found,) = read(data, mapping=Mapping(**told))
    return found, found.source["roles"]


@pytest.mark.parametrize(
    ("header", "columns", "sentence"),
    [
        ("y_true,y_prob", (Y, P), "Read as: label = y_true, probability = y_prob, positive class = 1."),
        ("LABEL,Score", (Y, P), "Read as: label = LABEL, probability = Score, positive class = 1."),
        ("y.true,y.prob", (Y, P), "Read as: label = y.true, probability = y.prob, positive class = 1."),
        ("outcome,risk", (WORDS, P), "Read as: label = outcome, probability = risk, positive class = yes."),
        ("target,p", (2 * Y - 1, P), "Read as: label = target, probability = p, positive class = 1."),
        ("is_fraud,fraud_probability", (Y, P), "Read as: label = is_fraud, probability = fraud_probability, positive class = 1."),
        ("default_flag,PD", (Y, P), "Read as: label = default_flag, probability = PD, positive class = 1."),
        ("label,xgb", (Y, P), "Read as: label = label, probability = xgb, positive class = 1."),
        ("label,prediction", (Y, P), "Read as: label = label, probability = prediction, positive class = 1."),
        ("y_true,y_pred,y_prob", (Y, YHAT, P), "Read as: label = y_true, predicted = y_pred, probability = y_prob, positive class = 1."),
        (
            "actual,predicted,probability",
            (Y, YHAT, CONFIDENCE),
            "Read as: label = actual, predicted = predicted, confidence = probability.",
        ),
        (
            "true_label,pred_label,confidence",
            (Y3, Y3[::-1], P),
            "Read as: label = true_label, predicted = pred_label, confidence = confidence.",
        ),
        ("correct,confidence", (Y, P), "Read as: confidence = confidence, correct = correct."),
        ("is_correct,prob", (WORDS, P), "Read as: confidence = prob, correct = is_correct."),
        ("y,prob_rf,prob_gbm", (Y, P, P**2), "Read as: label = y, probability of 2 models = prob_rf + prob_gbm, positive class = 1."),
        ("y_true,prob_0,prob_1,prob_2", (Y3, *K3.T), "Read as: label = y_true, probabilities = prob_0 + prob_1 + prob_2."),
        (",0,1,2,label", (range(N), *K3.T, Y3), "Read as: label = label, probabilities = 0 + 1 + 2."),
        ("species,a,b,c", (ABC, *K3.T), "Read as: label = species, probabilities = a + b + c."),
        ("obs,pred,c,a,b", (ABC, ABC[::-1], *K3.T), "Read as: label = obs, predicted = pred, probabilities = a + b + c."),
        (
            "y_true,logprob_a,logprob_b,logprob_c",
            (ABC, *np.log(K3.T)),
            "Read as: label = y_true, probabilities = logprob_a + logprob_b + logprob_c, scale = log-prob.",
        ),
        (
            "y,p0,p1,cal_p0,cal_p1",
            (Y, 1 - P, P, 1 - P**2, P**2),
            "Read as: label = y, probabilities of 2 models = p0 + p1 + cal_p0 + cal_p1, positive class = 1.",
        ),
    ],
)
def test_sentences(header, columns, sentence):
    layout = inspect_bytes(csv(header, *columns), "f.csv")
    assert layout.problem is None
    assert layout.sentence == sentence


@pytest.mark.parametrize(
    ("header", "columns", "field", "options"),
    [
        ("label,prob", (TEXTS, P), "positive", {"good", "poor"}),
        ("label,good,poor", (TEXTS, 1 - P, P), "positive", {"good", "poor"}),
        ("y,prob", (Y + 1, P), "positive", {"1", "2"}),
        ("y_true,target,prob", (Y, YHAT, P), "label", {"y_true", "target"}),
        ("smoker,outcome_a,age,prob", (Y, YHAT, range(N), P), "label", {"smoker", "outcome_a"}),
        ("smoker,age,prob", (Y, range(N), P), "label", {"smoker", "none"}),
        ("smoker,age,p0,p1", (Y, range(N), 1 - P, P), "label", {"smoker", "none"}),
        ("y,logit", (Y, 8 * P - 4), "scale", {"logit"}),
        ("y,margin", (Y, P), "scale", {"logit", "fraction"}),
        ("y,prob", (Y, 8 * P - 4), "scale", {"logit"}),
        ("y,prob_percent", (Y, P), "scale", {"percent", "fraction"}),
        ("y,yhat,confidence", (Y, YHAT, 100 * P), "scale", {"percent", "logit"}),  # less than 50 for one of two classes
        ("correct,confidence", (Y, 100 * CONFIDENCE), "scale", {"percent", "logit"}),
        ("y,p_a,p_b,p_c", (ABC, *(0.8 * K3.T)), "scale", {"unnormalised"}),
        ("y,yhat,a_confidence,b_confidence", (Y, YHAT, CONFIDENCE, CONFIDENCE**2), "confidence", {"a_confidence", "b_confidence"}),
        ("y,yhat,confidence", (Y, YHAT, P), "confidence", {"confidence", "none"}),
        ("y,yhat,probability", (Y, [1] * N, 0.5 + P / 2), "confidence", {"probability", "none"}),
        ("y,prob", (Y, 0.5 + P / 2), "confidence", {"none", "prob"}),
        ("y,prob,confidence,yhat", (Y, P, CONFIDENCE, YHAT), "confidence", {"confidence", "none"}),
        ("y,confidence", (Y, CONFIDENCE), "probabilities", {"confidence"}),
        ("y,rf,gbm", (Y, P, P[::-1]), "probabilities", {"rf", "gbm"}),
        ("y,prob,risk", (Y, P, P[::-1] ** 2), "columns_are", {"models", "classes"}),
        ("cough,fever,prob_cough,prob_fever", (Y, Y[::-1], P, P[::-1]), "columns_are", {"labels"}),
        ("y,prob_0,prob_1,prob_2", (ABC, *K3.T), "classes", {"a,b,c"}),
        ("FTR,p_home,p_draw,p_away", (np.array(["H", "D", "A"])[Y3], *K3.T), "classes", {"H,D,A"}),
        ("resolution,prob", (["CANCEL", *WORDS[1:]], P), "drop_label", {"CANCEL"}),
        ("grade,confidence", (["Unparseable", *np.array(["Wrong", "Correct"])[Y[1:]]], P), "drop_label", {"Unparseable"}),
        ("prob_win,score1,score2", (P, np.arange(N) * 1000, np.arange(N)[::-1] * 1000 + 7), "outcome", {"score1 > score2"}),
    ],
)
def test_questions(header, columns, field, options):
    data = csv(header, *columns)
    question = asked(data)
    assert (question.id, set(question.options)) == (field, options)
    assert question.flag.startswith("--")
    layout = inspect_bytes(data, "f.csv")
    assert layout.questions == (question,)
    assert layout.to_dict()["questions"] == [question.to_dict()]


@pytest.mark.parametrize(
    ("header", "columns", "sentence"),
    [
        ("id,prob", (range(N), P), "predictions but no column of labels"),
        ("id,label", (range(N), Y), r"holds what happened \('label'\) and no probabilities.*joined by 'id'"),
        ("y,prob", (Y, [1.2, *P[1:]]), r"Row 1 of column 'prob' is 1\.2, outside \[0, 1\].*--scale"),
        ("y,prob", (Y, [-0.01, *P[1:]]), r"Row 1: values of column 'prob' outside \[0, 1\] \(-0\.01\)"),
        ("y,prob", (Y, ["inf", *P[1:]]), "so these are not probabilities"),
        ("y,prob", (Y, ["abc", *P[1:]]), "Row 1 of column 'prob' is 'abc', not a number"),
        (
            "y,p_0,p_1,p_2",
            ([7, *Y3[1:]], *K3.T),
            r"Label '7' \(row 1 of column 'y'\) has no probability column; the classes are 0, 1 and 2",
        ),
        ("y,p_0,p_1,p_2", (Y3, [0.9, *K3[1:, 0]], K3[:, 1], K3[:, 2]), r"Row 1 sums to 1\.\d+, not 1"),
        ("y,prob", (Y3, P), "3 different values .* but column 'prob' gives only one probability a row"),
        ("y,yhat,confidence", (Y3, ["x"] * N, P), "have no value in common"),
    ],
)
def test_refusals_name_column_and_row(header, columns, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        read(csv(header, *columns), name="f.csv")
    assert not isinstance(raised.value, AmbiguousLayout)
    assert str(raised.value).startswith("f.csv: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ((Y, [*P[:3], "NaN", *P[4:]]), "1 of 40 rows have no value in 'prob' (row 4)."),
        ((["", *Y[1:]], P), "1 of 40 rows have no label in 'y' (row 1)."),
    ],
)
def test_missing_cells_are_asked_about(columns, sentence):
    with pytest.raises(AmbiguousLayout) as raised:
        read(csv("y,prob", *columns), name="f.csv")
    (asked,) = raised.value.questions
    assert (asked.id, asked.options, asked.flag) == ("missing", ("drop",), "--missing")
    assert asked.text == f"{sentence} Leave such rows out (--missing drop), or mend them first?"


def test_answers_are_followed():
    found, _ = roles(csv("label,prob", TEXTS, P), positive="good")
    assert found.classes == ("poor", "good")
    found, _ = roles(csv("y,prob_0,prob_1,prob_2", ABC, *K3.T), classes=("b", "a", "c"))
    assert found.classes == ("b", "a", "c")
    np.testing.assert_array_equal(found.label, np.array([1, 0, 2])[Y3])
    found, _ = roles(csv("y,yhat,confidence", Y, YHAT, P), confidence="none")
    assert found.task == "binary"
    np.testing.assert_array_equal(found.rows("positive")[0], P)
    found, _ = roles(csv("correct,confidence", Y, 100 * CONFIDENCE), scale="percent")
    np.testing.assert_allclose(found.confidence, CONFIDENCE, rtol=1e-12)


def test_models_labels_and_several_confidences():
    data = csv("y,rf,gbm", Y, P, P[::-1])
    assert [p.name for p in read(data, mapping=Mapping(columns_are="models"))] == ["rf", "gbm"]
    assert [p.name for p in read(data, mapping=Mapping(probabilities=("gbm", "rf")))] == ["gbm", "rf"]
    data = csv("cough,fever,prob_cough,prob_fever", Y, Y[::-1], P, P[::-1])
    cough, fever = read(data, mapping=Mapping(columns_are="labels"))
    assert (cough.name, fever.name) == ("cough", "fever")
    np.testing.assert_array_equal(fever.label, Y[::-1])
    (alone,) = read(data, mapping=Mapping(label="fever"))
    np.testing.assert_array_equal(alone.rows("positive")[0], P[::-1])
    data = csv("y,yhat,a_confidence,b_confidence", Y, YHAT, CONFIDENCE, CONFIDENCE**2)
    both = read(data, mapping=Mapping(confidence=("a_confidence", "b_confidence")))
    assert [p.name for p in both] == ["a_confidence", "b_confidence"]


def test_a_feature_in_the_unit_interval_is_no_probability():
    data = csv("smoker,x_ratio,score_norm,outcome,pred_proba", Y[::-1], P[::-1], P**2, Y, P)
    _, said = roles(data)
    assert (said["label"], said["probabilities"]) == ("outcome", {"1": "pred_proba"})


def test_model_column_needs_more_than_one_value():
    data = csv("model,id,y,prob", ["a", "b"] * 20, np.repeat(range(20), 2), Y, P)
    a, b = read(data)
    assert (a.name, b.name, a.n, b.n) == ("a", "b", 20, 20)
    np.testing.assert_array_equal(b.row, np.arange(2, N + 1, 2))
    assert a.ids.tolist() == [str(i) for i in range(20)]
    (only,) = read(csv("model,y,prob", ["a"] * N, Y, P), name="f")
    assert only.name == "f"


def test_flag_of_another_model_is_no_outcome_of_these():
    header, columns = "two_year,sex,compas_correct,rfpredprobs,gbmpredprobs", (Y, YHAT[::-1], YHAT, P, P**2)
    assert asked(csv(header, *columns)).id == "label"
    assert [p.name for p in read(csv(header, *columns), mapping=Mapping(label="two_year"))] == ["rfpredprobs", "gbmpredprobs"]
    assert asked(csv("two_year,sex,compas_correct,rfpredprobs", *columns[:4])).id == "label"
    # a single other column may be the label, never the other model's flag
    assert asked(csv("two_year,compas_correct,rfpredprobs", Y, YHAT, P)).options == ("two_year", "none")
    assert roles(csv("y,correct,confidence", Y, YHAT, P))[1] == {"correct": "correct", "confidence": "confidence"}


def test_equal_label_columns_need_no_question():
    assert roles(csv("y_true,label,prob", Y, Y, P))[1]["label"] == "y_true"


def test_two_label_columns_are_offered_the_better_one_first():
    question = asked(csv("two_year,guess_b,age,prob", (P > 0.4).astype(int), Y, range(N), P))
    assert question.options == ("two_year", "guess_b")


def test_threshold_other_than_one_half_is_noted():
    found, said = roles(csv("y,yhat,prob", Y, (P > 0.3).astype(int), P))
    assert said["probabilities"] == {"1": "prob"}
    # P is strictly between 0.3 and 0.5 in these rows
    assert any(f"in {int(((P > 0.3) & (P < 0.5)).sum())} rows (another threshold" in n for n in found.notes)


def test_words_for_missing_can_be_classes():
    names = np.array(["DE", "NA"])[Y]
    found, _ = roles(csv("label,prob_DE,prob_NA", names, 1 - P, P), positive="NA")
    assert found.n == N
    np.testing.assert_array_equal(found.label, Y)
    none = np.array(["Mild", "None"])[Y]
    assert roles(csv("label,prob_Mild,prob_None", none, 1 - P, P), positive="None")[0].n == N
    with pytest.raises(InputError, match="rows have no label"):
        read(csv("label,prob_a,prob_b,prob_c", ["NA", *ABC[1:]], *K3.T))


def test_class_without_rows_keeps_its_column():
    found, _ = roles(csv("y,p_a,p_b,p_c", np.where(ABC == "c", "a", ABC), *K3.T))
    assert found.classes == ("a", "b", "c")
    assert not (found.label == 2).any()


def test_logits_under_bare_names_may_hide_a_class_that_no_row_has():
    logits = np.log(K3).T
    data = csv("y,a,b,c", np.where(ABC == "c", "a", ABC), *(logits - logits.mean() + 1))
    with pytest.raises(InputError, match="c could be logits of further classes"):
        read(data)
    found, _ = roles(data, probabilities=("a", "b", "c"), columns_are="classes", classes=("a", "b", "c"), scale="logit")
    np.testing.assert_allclose(found.probabilities, K3, rtol=1e-12)


def test_sets_on_different_scales_are_not_mixed():
    names = "y,p_a,p_b,p_c,logit_a,logit_b,logit_c"
    found, said = roles(csv(names, ABC, *K3.T, *(np.log(K3).T + 2)))
    assert said["probabilities"] == {"a": "p_a", "b": "p_b", "c": "p_c"}
    np.testing.assert_array_equal(found.probabilities, K3.astype(float))


def test_every_rule_says_its_evidence():
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.evidence for rule in RULES)


def test_upload_keeps_the_files_name_in_questions_and_errors():
    with pytest.raises(AmbiguousLayout, match=r"^a\.csv: Column 'label' has the values"):
        read_bytes(csv("label,prob", TEXTS, P), "a.csv")
