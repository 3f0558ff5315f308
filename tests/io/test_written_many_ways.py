"""The same predictions written in many ways: equal numbers, or a fair question, never another number."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, read

RNG = np.random.default_rng(5)
N = 60
P = np.where(RNG.random(N) < 0.5, RNG.integers(2, 49, N), RNG.integers(51, 99, N)) / 100
Y = (RNG.random(N) < P).astype(int)
OTHER = np.roll(Y, 1)
YHAT = (P > 0.5).astype(int)
CONFIDENCE = np.maximum(P, np.round(1 - P, 2))
M = RNG.dirichlet(np.ones(3), N).round(4)
M[:, 2] = np.round(1 - M[:, 0] - M[:, 1], 4)
K = np.arange(N) % 3
ABC = np.array(["a", "b", "c"])[K]
BEST = M.argmax(axis=1)
FEATURE = RNG.normal(size=N).round(3)
FRACTION = RNG.random(N).round(3)
INDEX = np.arange(N)


def csv(header, *columns):
    return (header + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n").encode()


def parquet(**columns):
    out = io.BytesIO()
    pd.DataFrame(columns).to_parquet(out)
    return out.getvalue()


def words(*names):
    return np.array(names)[K if len(names) == 3 else Y]


def binary(p=P, y=Y):
    """Accuracy and mean confidence of the top label; no p is one half."""
    return (np.mean((p > 0.5) == y), np.mean(np.maximum(p, 1 - p)))


TWO = binary()
THREE = (np.mean(BEST == K), np.mean(M.max(axis=1)))
SURE = (np.mean(YHAT == Y), np.mean(CONFIDENCE))
TENTHS = np.where(P < 0.5, np.floor(10 * P).clip(1, 4), np.ceil(10 * P).clip(6)).astype(int)
LOGITS = np.log(np.maximum(M, 1e-9)) + 1.5

READ = {
    # layout 1
    "predicted + probability": (csv("y_true,y_pred,y_prob", Y, YHAT, P), TWO),
    "predicted at another threshold": (csv("y_true,y_pred,y_prob", Y, (P > 0.3).astype(int), P), TWO),
    "predicted + probability of class 0": (csv("y,yhat,probability", Y, YHAT, np.round(1 - P, 2)), TWO),
    "predicted + confidence, floats and whole numbers": (csv("y,pred,confidence", Y, YHAT.astype(float), CONFIDENCE), SURE),
    "confidence called max_prob": (csv("target,predict,max_prob", Y, YHAT, CONFIDENCE), SURE),
    "confidence in percent": (csv("y,pred,conf", Y, YHAT, (100 * CONFIDENCE).round()), SURE),
    "confidence called prob, in percent": (csv("y,pred,prob", Y, YHAT, (100 * CONFIDENCE).round()), SURE),
    "confidence beside a model's features": (
        csv("x0,x1,x2,label,pred,conf", FEATURE, FEATURE[::-1], FRACTION, K, BEST, M.max(axis=1)),
        THREE,
    ),
    "two numbered features beside a confidence": (
        csv("feature_0,feature_1,label,pred,confidence", FEATURE, FEATURE[::-1], Y, YHAT, CONFIDENCE),
        SURE,
    ),
    # layout 2
    "one column a class": (csv("id,p_c,y,p_a,p_b", INDEX, M[:, 2], ABC, M[:, 0], M[:, 1]), THREE),
    "class names that hold each other": (csv("y,p_aa,p_a,p_aaa", words("aa", "a", "aaa"), *M.T), THREE),
    "numbers written in two ways": (csv("label,p_1,p_2,p_3", words("01", "02", "03"), *M.T), THREE),
    "1e3": (csv("label,p_1e3,p_2e3,p_3e3", words("1e3", "2e3", "3e3"), *M.T), THREE),
    "R's names": (csv("rn,truth,prob.no,prob.yes", INDEX, words("no", "yes"), np.round(1 - P, 2), P), TWO),
    "two sets by beginning": (csv("predict,p0,p1,target", (P > 0.3).astype(int), np.round(1 - P, 2), P, Y), TWO),
    "logits beside probabilities": (csv("y,logit_a,logit_b,logit_c,prob_a,prob_b,prob_c", ABC, *LOGITS.T, *M.T), THREE),
    "logits": (csv("y,logit_a,logit_b,logit_c", ABC, *LOGITS.T), THREE),
    "named after the label": (csv("BAD,P_BAD1,P_BAD0,EM_EVENTPROBABILITY,I_BAD", Y, P, np.round(1 - P, 2), P, YHAT), TWO),
    "-1 and 1": (csv("y,p_-1,p_1", 2 * Y - 1, np.round(1 - P, 2), P), TWO),
    "only one class among the labels": (csv("y,p_a,p_b,p_c", ["a"] * N, *M.T), (np.mean(BEST == 0), THREE[1])),
    # layout 3
    "probability": (csv("y_true,y_prob", Y, P), TWO),
    "features in the unit interval": (csv("x,y,prob,z,smoker", FRACTION, Y, P, FRACTION[::-1], OTHER), TWO),
    "two constant features that add up to 1": (csv("x0,x1,y,prob", [0.5] * N, [0.5] * N, Y, P), TWO),
    "pixels": (csv("0,1,2,3,label,prob", *RNG.integers(0, 255, (4, N)), Y, P), TWO),
    "P(yes)": (csv("y,P(yes)", words("no", "yes"), P), TWO),
    "P(no)": (csv("y,P(no)", words("no", "yes"), np.round(1 - P, 2)), TWO),
    "prob_0": (csv("y,prob_0", Y, np.round(1 - P, 2)), TWO),
    "no_probability": (csv("y,no_probability", words("no", "yes"), np.round(1 - P, 2)), TWO),
    "a column called no": (csv("y_true,no", words("no", "yes"), np.round(1 - P, 2)), TWO),
    "prob_benign": (csv("y,prob_benign", words("benign", "malignant"), np.round(1 - P, 2)), TWO),
    "default and PD": (csv("PD,default,LGD", P, Y, FRACTION), TWO),
    "tens of percent": (csv("date,pop,obs", ["2024-01-01"] * N, 10 * TENTHS, Y), binary(TENTHS / 10)),
    "decimal commas, labels too": (
        csv("y;p", Y, P).replace(b",", b";").replace(b".", b",").replace(b"\n0;", b"\n0,0;").replace(b"\n1;", b"\n1,0;"),
        TWO,
    ),
    "blank after the comma": (csv("y, prob", Y, P).replace(b",", b", "), TWO),
    "JSON of texts": ("\n".join(json.dumps({"y": str(a), "prob": str(b)}) for a, b in zip(Y, P, strict=True)).encode(), TWO),
    "Parquet of booleans": (parquet(y=Y.astype(bool), p=P), TWO),
    "Parquet of categories": (parquet(y=pd.Categorical(words("no", "yes")), p=P), TWO),
    # layout 4
    "named as the classes": (csv("label,prediction,a,b,c", ABC, np.roll(ABC, 1), *M.T), THREE),
    "a class that no row has": (csv("label,a,b,c,x", np.where(K == 2, "a", ABC), *M.T, FEATURE), (np.mean(BEST == K % 2), THREE[1])),
    "0, 1, 2": (csv(",0,1,2,label", INDEX, *M.T, K), THREE),
    "0.0, 1.0, 2.0": (csv("0.0,1.0,2.0,label", *M.T, K), THREE),
    "NA is a class": (csv("truth,NA,SA,EU", words("NA", "SA", "EU"), *M.T), THREE),
    "True and False": (csv("y,True,False", words("False", "True"), P, np.round(1 - P, 2)), TWO),
    "classes with the names of roles": (csv("truth,score,prob,risk", words("score", "prob", "risk"), *M.T), THREE),
    # confidence + correct
    "correct": (csv("confidence,correct", CONFIDENCE, YHAT == Y), SURE),
    "Correct and Wrong": (csv("conf,grade", CONFIDENCE, np.where(YHAT == Y, "Correct", "Wrong")), SURE),
}


@pytest.mark.parametrize(("data", "truth"), READ.values(), ids=READ)
def test_read_as_it_was_meant(data, truth):
    (found,) = read(data)
    assert found.n == N
    assert (np.mean(found.correct), np.mean(found.confidence)) == pytest.approx(truth, abs=1e-9)


ASKED = {
    "survival beside deaths": (csv("died,survival_prob", Y, np.round(1 - P, 2)), "positive"),
    "legit beside fraud": (csv("is_fraud,legit_prob", Y, np.round(1 - P, 2)), "positive"),
    "16 numbers that may be features": (csv(",".join(map(str, range(16))) + ",label", *RNG.normal(size=(16, N)).round(3), K), "scale"),
    "numbers for 1 and 2": (csv("y,p", Y + 1, P), "positive"),
    "rows that add up to less": (csv("y,prob_a,prob_b,prob_c", ABC, *(M / 2).round(5).T), "scale"),
}


@pytest.mark.parametrize(("data", "field"), ASKED.values(), ids=ASKED)
def test_asked_where_the_file_does_not_say(data, field):
    with pytest.raises(AmbiguousLayout) as raised:
        read(data)
    assert [q.id for q in raised.value.questions] == [field]


@pytest.mark.parametrize("header", ["label,prob_a,prob_b", "label,a,b", "label,p_a,p_b"])
def test_label_without_a_column(header):
    for columns in (M[:, :2].T, (P, np.round(1 - P, 2))):
        with pytest.raises(
            InputError, match=r"Label 'c' \(row 3 of column 'label'\) has no probability column; the classes are a and b"
        ) as raised:
            read(csv(header, ABC, *columns))
        assert not isinstance(raised.value, AmbiguousLayout)
        assert raised.value.row == 3


def test_lower_values_for_the_positive_class_are_noted():
    (found,) = read(csv("y,prob", Y, np.round(1 - P, 2)))
    assert any("have lower values in 'prob'" in n for n in found.notes)
    assert not any("lower values" in n for n in read(csv("y,prob", Y, P))[0].notes)


def test_flag_that_contradicts_the_label_is_noted():
    flags = (BEST == K).astype(int)
    flags[:4] = 1 - flags[:4]
    names = np.array(["a", "b", "c"])[BEST]
    (found,) = read(csv("label,pred,confidence,correct", ABC, names, M.max(axis=1), flags))
    assert "Column 'correct' says otherwise than 'label' and 'pred' in 4 rows (first: row 1); the label counts." in found.notes
    assert np.mean(found.correct) == THREE[0]


@pytest.mark.parametrize("name", ["confidence", "probability"])
def test_word_for_missing_is_a_class_where_the_user_says_so(name):
    names = np.array(["DE", "FR", "NA"])
    data = csv(f"label,pred,{name}", names[K], names[BEST], M.max(axis=1))
    with pytest.raises(InputError):
        read(data)
    (found,) = read(data, mapping=Mapping(classes=("DE", "FR", "NA")))
    assert (found.n, np.mean(found.correct)) == (N, THREE[0])


def test_confidences_on_different_scales_are_not_mixed():
    data = csv("y,pred,a_confidence,b_confidence", Y, YHAT, CONFIDENCE, 100 * CONFIDENCE)
    with pytest.raises(InputError, match="written on different scales"):
        read(data, mapping=Mapping(confidence=("a_confidence", "b_confidence")))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b",,,\n,,,\n", "The first line names no column"),
        (b'y,prob\n1,"0.5\n0,0.25\n1,0.75\n', r"Row 1: a quote is opened in column 'prob' and never closed"),
        (b"y,prob\n,0.5\nNA,0.25\n", "Column 'y' is empty"),
        (b"y,prob\n1,\n0,NA\n", "Column 'prob' is empty"),
        (
            csv(",".join(f"x{i}" for i in range(40)), *RNG.random((40, N)).round(3)),
            "40 columns .x0, x1, x2 and 37 more. lie between 0 and 1",
        ),
    ],
)
def test_refused_with_the_reason(data, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        read(data)
    assert not isinstance(raised.value, AmbiguousLayout)


def test_long_values_are_cut_in_sentences():
    with pytest.raises(AmbiguousLayout) as raised:
        read(csv("y,prob", np.where(Y == 1, str(10**400), str(10**401)), P))
    (asked,) = raised.value.questions
    assert len(asked.text) < 250
    assert asked.options == tuple(str(10**k) for k in (400, 401)) or asked.options == tuple(str(10**k) for k in (401, 400))
