# ruff: noqa: E501 - a line is a file
"""What tools write: each layout with other classes, orders and kinds of labels; the numbers in the file are the numbers that come back."""

import numpy as np
import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, read

# six rows, written four times; every probability below is one of these
P3 = [(0.7, 0.2, 0.1), (0.1, 0.8, 0.1), (0.2, 0.2, 0.6), (0.5, 0.3, 0.2), (0.3, 0.3, 0.4), (0.1, 0.6, 0.3)] * 4
Y3 = [0, 1, 2, 1, 2, 1] * 4
TOP3 = [0, 1, 2, 0, 2, 1] * 4  # where the largest of P3 stands
A, B, C = ([row[k] for row in P3] for k in range(3))
MAX3 = [0.7, 0.8, 0.6, 0.5, 0.4, 0.6] * 4
P = [0.83, 0.31, 0.62, 0.27, 0.9, 0.45] * 4
Q = [0.17, 0.69, 0.38, 0.73, 0.1, 0.55] * 4  # 1 − P
CONF = [0.83, 0.69, 0.62, 0.73, 0.9, 0.55] * 4  # the larger of P and Q
Y = [1, 0, 1, 1, 1, 0] * 4
TOP = [1, 0, 1, 0, 1, 0] * 4  # where P > ½
LOW = [1, 1, 1, 0, 1, 1] * 4  # where P > 0.3
ODDS = [1.6, -0.8, 0.5, -1.0, 2.2, -0.2] * 4
N = 24
IDS = list(range(1, N + 1))
AGE = [30 + i % 7 for i in IDS]
SEX = [i % 2 for i in IDS]
PETS, RISK, ORDER = ("bird", "cat", "dog"), ("high", "low", "mid"), ("Class1", "Class2", "Class3")
YES, BANK, TUMOR = ("no", "yes"), ("<=50K", ">50K"), ("benign", "malignant")


def csv(header, *columns, separator=","):
    return "\n".join([header, *(separator.join(map(str, row)) for row in zip(*columns, strict=True)), ""]).encode()


def tsv(header, *columns):
    return csv(header.replace(",", "\t"), *columns, separator="\t")


def of(names, index):
    return [names[i] for i in index]


def same(value):
    return [value] * N


def checked(found, classes, matrix, label):
    assert found.classes == tuple(classes)
    np.testing.assert_array_equal(found.label, label)
    np.testing.assert_allclose(found.probabilities, matrix, rtol=0, atol=1e-15)


def asked(data, **told):
    with pytest.raises(AmbiguousLayout) as raised:
        read(data, mapping=Mapping(**told))
    (question,) = raised.value.questions
    assert question.flag.startswith("--")
    return question


def weka(text, index, names):
    return [f"{i + 1}:{text.format(names[i])}" for i in index]


def starred(column, top, position):
    return [f"*{p}" if t == position else p for p, t in zip(column, top, strict=True)]


PLUS = ["" if a == b else "+" for a, b in zip(Y3, TOP3, strict=True)]
PLUS2 = ["" if a == b else "+" for a, b in zip(Y, TOP, strict=True)]
ERRORS = [0.1] * N

BINARY = {
    "KNIME": (csv("row ID,age,churn,P (churn=no),P (churn=yes),Prediction (churn)", IDS, AGE, of(YES, Y), Q, P, of(YES, TOP)), YES),
    "KNIME, numbers and a suffix": (csv("age,sex,y2,P (y2=0)_rf,P (y2=1)_rf,Prediction (y2)_rf", AGE, SEX, Y, Q, P, TOP), "01"),
    "RapidMiner": (
        csv('"id";"play";"prediction(play)";"confidence(no)";"confidence(yes)"', IDS, of(YES, Y), of(YES, TOP), Q, P, separator=";"),
        YES,
    ),
    "RapidMiner, numbers": (csv("sex,y2,prediction(y2),confidence(1),confidence(0)", SEX, Y, TOP, P, Q), "01"),
    "Modeler": (csv("churn,$L-churn,$LP-churn,$LP-F,$LP-T", of("FT", Y), of("FT", TOP), CONF, Q, P), "FT"),
    "Modeler, confidence alone": (csv("sex,churn,$L-churn,$LP-churn", SEX, of("FT", Y), of("FT", TOP), CONF), "FT"),
    "Modeler, a tree": (csv("sex,bought,$R-bought,$RC-bought", SEX, Y, TOP, CONF), "01"),
    "Modeler, an ensemble": (csv("churn,$XF-churn,$XFC-churn,$XFRP-F,$XFRP-T", of("FT", Y), of("FT", TOP), CONF, Q, P), "FT"),
    "Enterprise Miner": (
        csv("BAD,P_BAD1,P_BAD0,I_BAD,_WARN_,EM_EVENTPROBABILITY,EM_PROBABILITY,EM_CLASSIFICATION", Y, P, Q, TOP, same(""), P, CONF, TOP),
        "01",
    ),
    "Viya": (csv("sex,bad2,P_bad21,P_bad20,I_bad2", SEX, Y, P, Q, TOP), "01"),
    "PROC LOGISTIC": (csv("age,_FROM_,_INTO_,IP_0,IP_1", AGE, Y, TOP, Q, P), "01"),
    "DataRobot": (
        csv("churn,churn_1.0_PREDICTION,churn_0.0_PREDICTION,churn_PREDICTION,THRESHOLD,POSITIVE_CLASS,prediction_status",
            Y, P, Q, [f"{t}.0" for t in TOP], same(0.5), same("1.0"), same("OK")),
        "01",
    ),
    "DataRobot, a threshold": (
        csv("sex,tumor,tumor_benign_PREDICTION,tumor_malignant_PREDICTION,tumor_PREDICTION,THRESHOLD,POSITIVE_CLASS",
            SEX, of(TUMOR, Y), Q, P, of(TUMOR, LOW), same(0.3), same("malignant")),
        TUMOR,
    ),
    "Azure": (csv("age,income,Scored Labels,Scored Probabilities", AGE, of(BANK, Y), of(BANK, TOP), P), BANK),
    "Azure, numbers": (csv("Scored Labels,Scored Probabilities,target", TOP, P, Y), "01"),
    "PyCaret": (csv("age,Purchase,prediction_label,prediction_score", AGE, of(YES, Y), of(YES, TOP), CONF), YES),
    "PyCaret, numbers": (csv("age,target,prediction_label,prediction_score", AGE, Y, TOP, CONF), "01"),
    "ML.NET": (
        csv("Label,PredictedLabel,Score,Probability", of(("False", "True"), Y), of(("False", "True"), TOP), ODDS, P), ("False", "True")
    ),
    "ML.NET, numbers": (csv("age,Label,Score,PredictedLabel,Probability", AGE, Y, ODDS, TOP, P), "01"),
    "Spark, vectors as text": (
        csv("label,features,rawPrediction,probability,prediction", Y, same('"[1.0,2.0]"'), same('"[-1.2,1.2]"'),
            [f'"[{q},{p}]"' for q, p in zip(Q, P, strict=True)], [float(t) for t in TOP]),
        "01",
    ),
    "caret": (csv("pred,obs,No,Yes,rowIndex,alpha,Resample", of(("No", "Yes"), TOP), of(("No", "Yes"), Y), Q, P, IDS, same(0.1), SEX),
              ("No", "Yes")),
    "tidymodels": (csv("id,.pred_0,.pred_1,.row,.pred_class,am,.config", of(("Fold01", "Fold02"), SEX), Q, P, IDS, TOP, Y, same("M1")), "01"),
    "tidymodels, words": (csv(".pred_class,.pred_no,.pred_yes,truth", of(YES, TOP), Q, P, of(YES, Y)), YES),
    "mlr3": (csv("row_ids,truth,response,prob.neg,prob.pos", IDS, of(("neg", "pos"), Y), of(("neg", "pos"), TOP), Q, P), ("neg", "pos")),
    "mlr": (csv("id,truth,prob.1,prob.0,response,threshold", IDS, Y, P, Q, TOP, same(0.5)), "01"),
    "H2O": (csv('"predict","p0","p1","y2"', TOP, Q, P, Y), "01"),
    "H2O, words": (csv("predict,no,yes,churn", of(YES, LOW), Q, P, of(YES, Y)), YES),
    "CatBoost": (tsv("SampleId,Probability:Class=0,Probability:Class=1,Label", range(N), Q, P, Y), "01"),
    "CatBoost, one column": (tsv("DocId,Probability,Label", range(N), P, Y), "01"),
    "CatBoost, raw values beside": (tsv("SampleId,RawFormulaVal,Probability,Label", range(N), ODDS, P, Y), "01"),
    "Amazon": (csv("trueLabel,bestAnswer,score", Y, TOP, P), "01"),
    "Dataiku": (csv("target,proba_0,proba_1,prediction,prediction_correct", Y, Q, P, TOP, of(("true", "false"), [a != b for a, b in zip(Y, TOP, strict=True)])), "01"),
    "Dataiku, words": (csv("age,churn,proba_no,proba_yes,prediction", AGE, of(YES, Y), Q, P, of(YES, TOP)), YES),
    "a portfolio of loans": (
        csv("facility_id,grade,default_flag,pd,lgd,outstanding_balance", [f"F{i}" for i in IDS], SEX, Y, P, same(0.45), [1000 * i for i in IDS]), "01"
    ),
    "home_win": (csv("date,home,home_win_prob,home_score,away_score,home_win", [f"2020-01-{i:02}" for i in IDS], same("A"), P, AGE, same(31), Y), "01"),
    "X and X_outcome": (csv("team,probwin,probwin_outcome", IDS, P, Y), "01"),
    "Weka": (
        csv("inst#,actual,predicted,error,distribution,", IDS, weka("{}", Y, YES), weka("{}", TOP, YES), PLUS2, starred(Q, TOP, 0), starred(P, TOP, 1)),
        YES,
    ),
    "Weka, tabs and attributes": (
        tsv("inst#,actual,predicted,error,distribution,,site,age", IDS, weka("tested_{}", Y, ("negative", "positive")),
            weka("tested_{}", TOP, ("negative", "positive")), PLUS2, starred(Q, TOP, 0), starred(P, TOP, 1), of(("n", "s"), SEX), AGE),
        ("tested_negative", "tested_positive"),
    ),
    "Weka, confidences": (csv("inst#,actual,predicted,error,prediction", IDS, weka("{}", Y, "01"), weka("{}", TOP, "01"), PLUS2, CONF), "01"),
    "Orange": (
        (
            b"churn\tage\tForest\tForest (no)\tForest (yes)\tForest (error)\tfold\n"
            b"no yes\tcontinuous\tno yes\tcontinuous\tcontinuous\tcontinuous\tcontinuous\n"
            b"class\t\tmeta\tmeta\tmeta\tmeta\tmeta\n"
        )
        + csv("", of(YES, Y), AGE, of(YES, TOP), Q, P, ERRORS, SEX, separator="\t")[1:],
        YES,
    ),
    "Orange, one header": (csv("sick,kNN,kNN (0),kNN (1),fold", Y, TOP, Q, P, SEX), "01"),
}  # fmt: skip

THREE = {
    "pandas, class names": (csv(",bird,cat,dog,label", range(N), A, B, C, of(PETS, Y3)), PETS),
    "KNIME": (csv("ID,age,pet,P (pet=dog),P (pet=cat),P (pet=bird),Prediction (pet)", IDS, AGE, of(PETS, Y3), C, B, A, of(PETS, TOP3)), PETS),
    "RapidMiner": (
        csv("age,sex,pet,prediction(pet),confidence(dog),confidence(bird),confidence(cat)", AGE, SEX, of(PETS, Y3), of(PETS, TOP3), C, A, B), PETS
    ),
    "Modeler": (csv("sex,pet,$L-pet,$LP-pet,$LP-dog,$LP-cat,$LP-bird", SEX, of(PETS, Y3), of(PETS, TOP3), MAX3, C, B, A), PETS),
    "Viya, the prediction in capitals": (
        csv("sex,pet,P_petdog,P_petcat,P_petbird,I_pet,_WARN_", SEX, of(PETS, Y3), C, B, A, [PETS[t].upper() for t in TOP3], same("")), PETS
    ),
    "PROC LOGISTIC, a class None": (
        csv("_FROM_,_INTO_,IP_Mild,IP_None,IP_Severe", of(("Mild", "None", "Severe"), Y3), of(("Mild", "None", "Severe"), TOP3), A, B, C),
        ("Mild", "None", "Severe"),
    ),
    "DataRobot, dots in names": (
        csv("ver,ver_v1.0_PREDICTION,ver_v1.1_PREDICTION,ver_v2.0_PREDICTION,ver_PREDICTION,DEPLOYMENT_APPROVAL_STATUS",
            of(("v1.0", "v1.1", "v2.0"), Y3), A, B, C, of(("v1.0", "v1.1", "v2.0"), TOP3), same("APPROVED")),
        ("v1.0", "v1.1", "v2.0"),
    ),
    "Azure": (
        csv('sex,risk,"Scored Probabilities for Class ""high""","Scored Probabilities for Class ""low""","Scored Probabilities for Class ""mid""",'
            "Scored Labels", SEX, of(RISK, Y3), A, B, C, of(RISK, TOP3)),
        RISK,
    ),
    "PyCaret": (
        csv("age,pet,prediction_label,prediction_score_bird,prediction_score_cat,prediction_score_dog", AGE, of(PETS, Y3), of(PETS, TOP3), A, B, C), PETS
    ),
    "Spark, vectors as text": (
        csv("label,probability,prediction", [float(y) for y in Y3], [f'"[{a},{b},{c}]"' for a, b, c in P3], [float(t) for t in TOP3]), "012"
    ),
    "caret": (csv("pred,obs,dog,bird,cat,rowIndex,mtry,Resample", of(PETS, TOP3), of(PETS, Y3), C, A, B, IDS, same(2), SEX), PETS),
    "tidymodels": (
        csv("id,.pred_class,.row,.pred_high,.pred_low,.pred_mid,grade,.config", SEX, of(RISK, TOP3), IDS, A, B, C, of(RISK, Y3), same("M1")), RISK
    ),
    "yardstick": (csv("truth,Class1,Class2,Class3", of(ORDER, Y3), A, B, C), ORDER),
    "mlr3": (csv("row_ids,truth,response,prob.dog,prob.bird,prob.cat", IDS, of(PETS, Y3), of(PETS, TOP3), C, A, B), PETS),
    "H2O": (csv("predict,high,low,mid,sex,risk", of(RISK, TOP3), A, B, C, SEX, of(RISK, Y3)), RISK),
    "H2O, numbers": (csv('"predict","p0","p1","p2","grade"', TOP3, A, B, C, Y3), "012"),
    "CatBoost": (tsv("SampleId,Probability:Class=bird,Probability:Class=cat,Probability:Class=dog,Label", range(N), A, B, C, of(PETS, Y3)), PETS),
    "Amazon": (csv("trueLabel,bird,cat,dog", of(PETS, Y3), A, B, C), PETS),
    "Dataiku": (csv("age,pet,proba_dog,proba_cat,proba_bird,prediction", AGE, of(PETS, Y3), C, B, A, of(PETS, TOP3)), PETS),
    "Weka": (
        csv("inst#,actual,predicted,error,distribution,,", IDS, weka("{}", Y3, PETS), weka("{}", TOP3, PETS), PLUS,
            *(starred(column, TOP3, k) for k, column in enumerate((A, B, C)))),
        PETS,
    ),
    "Weka, another order and quotes": (
        tsv("inst#,actual,predicted,error,distribution,,,farm", IDS, weka("'{} one'", Y3, ("tall", "big", "wee")),
            weka("'{} one'", TOP3, ("tall", "big", "wee")), PLUS, *(starred(x, TOP3, k) for k, x in enumerate((A, B, C))), SEX),
        ("tall one", "big one", "wee one"),
    ),
    "Orange": (csv("pet,Tree,Tree (bird),Tree (cat),Tree (dog)", of(PETS, Y3), of(PETS, TOP3), A, B, C), PETS),
    "X and X_outcome": (
        csv("season,prob1,prob1_outcome,prob2,prob2_outcome,probtie,probtie_outcome",
            same(2020), A, [int(y == 0) for y in Y3], B, [int(y == 1) for y in Y3], C, [int(y == 2) for y in Y3]),
        ("1", "2", "tie"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("tool", BINARY)
def test_two_classes(tool):
    data, classes = BINARY[tool]
    (found,) = read(data)
    checked(found, classes, np.column_stack([Q, P]), Y)


@pytest.mark.parametrize("tool", THREE)
def test_three_classes(tool):
    data, classes = THREE[tool]
    (found,) = read(data)
    order = np.argsort(list(classes))
    checked(found, np.array(list(classes))[order], np.array(P3)[:, order], np.argsort(order)[Y3])


@pytest.mark.parametrize("tool", ["KNIME", "Azure", "Orange", "Weka, tabs and attributes", "tidymodels", "Modeler", "H2O"])
def test_lines_in_another_order(tool):
    data, classes = BINARY[tool]
    lines = data.decode().splitlines()
    start = len(lines) - N
    order = np.random.default_rng(7).permutation(N)
    (found,) = read("\n".join([*lines[:start], *(lines[start + i] for i in order), ""]).encode())
    checked(found, classes, np.column_stack([Q, P])[order], np.array(Y)[order])


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (csv("truth,Class1,Class2,predicted", of(ORDER, Y), Q, P, of(ORDER, TOP)), {"Class1", "Class2"}),
        (csv("group,tumor,P (tumor=benign),P (tumor=malignant),Prediction (tumor)", SEX, of(TUMOR, Y), Q, P, of(TUMOR, TOP)), set(TUMOR)),
        (csv("inst#,actual,predicted,error,distribution,", IDS, weka("{}", Y, TUMOR), weka("{}", TOP, TUMOR), PLUS2, starred(Q, TOP, 0),
             starred(P, TOP, 1)), set(TUMOR)),
        (csv("sick,kNN,kNN (benign),kNN (malignant)", of(TUMOR, Y), of(TUMOR, TOP), Q, P), set(TUMOR)),
    ],
)  # fmt: skip
def test_two_texts_without_polarity_ask_for_the_positive_class(data, options):
    question = asked(data)
    assert (question.id, set(question.options)) == ("positive", options)
    later = max(options)
    (found,) = read(data, mapping=Mapping(positive=later))
    checked(found, (min(options), later), np.column_stack([Q, P]), Y)


def test_confidences_of_more_than_two_classes():
    for data in (
        csv("inst#,actual,predicted,error,prediction", IDS, weka("{}", Y3, PETS), weka("{}", TOP3, PETS), PLUS, MAX3),
        csv("pet,$N-pet,$NC-pet", of(PETS, Y3), of(PETS, TOP3), MAX3),
        csv("age,pet,prediction_label,prediction_score", AGE, of(PETS, Y3), of(PETS, TOP3), MAX3),
    ):
        (found,) = read(data)
        assert found.task == "top_label"
        np.testing.assert_array_equal(found.confidence, MAX3)
        np.testing.assert_array_equal(found.correct, [a == b for a, b in zip(Y3, TOP3, strict=True)])


def test_two_sets_over_the_same_classes_are_two_models():
    half = [p / 2 for p in P]
    data = csv("predict,p0,p1,cal_p0,cal_p1,y", TOP, Q, P, [1 - h for h in half], half, Y)
    raw, calibrated = read(data)
    checked(raw, "01", np.column_stack([Q, P]), Y)
    checked(calibrated, "01", np.column_stack([1 - np.array(half), half]), Y)
    data = csv("pet,Tree,Tree (bird),Tree (cat),Tree (dog),kNN,kNN (bird),kNN (cat),kNN (dog)",
               of(PETS, Y3), of(PETS, TOP3), A, B, C, of(PETS, TOP3), A, C, B)  # fmt: skip
    tree, neighbours = read(data)
    assert (tree.name, neighbours.name) == ("Tree", "kNN")
    checked(tree, PETS, P3, Y3)
    checked(neighbours, PETS, np.array(P3)[:, [0, 2, 1]], Y3)


def test_several_models_of_one_target_ask_which_one():
    data = csv("churn,$L-churn,$LP-churn,$R-churn,$RC-churn", of("FT", Y), of("FT", TOP), CONF, of("FT", LOW), [0.5 + c / 2 for c in CONF])
    question = asked(data)
    assert (question.id, question.options) == ("predicted", ("$L-churn", "$R-churn"))
    (found,) = read(data, mapping=Mapping(predicted="$R-churn"))
    assert found.n == N
    (found,) = read(data, mapping=Mapping(predicted="$L-churn"))
    checked(found, "FT", np.column_stack([Q, P]), Y)


def test_weka_without_rows_of_a_class_and_with_unknown_labels():
    two = [t if t < 2 else 0 for t in Y3]
    top = [t if t < 2 else 0 for t in TOP3]
    data = csv("inst#,actual,predicted,error,distribution,,", IDS, weka("{}", two, PETS), weka("{}", top, PETS), PLUS, A, B, C)
    (found,) = read(data)
    assert found.classes == ("bird", "cat", "class 3")
    np.testing.assert_array_equal(found.probabilities, P3)
    data = csv("inst#,actual,predicted,error,prediction", IDS, ["1:?", *weka("{}", Y3, PETS)[1:]], weka("{}", TOP3, PETS), PLUS, MAX3)
    with pytest.raises(InputError, match=r"1 of 24 rows have no label.*missing=\"drop\""):
        read(data)
    assert read(data, mapping=Mapping(missing="drop"))[0].n == N - 1


def test_weka_for_numbers_is_refused():
    with pytest.raises(InputError, match="Weka writes a class as 1:cat"):
        read(csv("inst#,actual,predicted,error", IDS, AGE, AGE, ERRORS))


def test_libsvm_predictions_are_never_taken_for_labels():
    data = "labels 1 -1\n" + "".join(f"{1 if t else -1} {p} {q}\n" for t, p, q in zip(TOP, P, Q, strict=True))
    with pytest.raises(InputError, match="no column of labels"):
        read(data.encode())


@pytest.mark.parametrize("names", [PETS, ("1", "2", "3")])
def test_fasttext(names):
    pairs = [" ".join(f"__label__{names[k]} {row[k]}" for k in np.argsort([-x for x in row], kind="stable")) for row in P3]
    truth = [f"__label__{names[y]}" for y in Y3]
    with pytest.raises(InputError, match="no column of labels"):
        read(("\n".join(pairs) + "\n").encode())
    (found,) = read(
        ("\n".join(pairs) + "\n").encode(), labels=("label\n" + "\n".join(truth) + "\n").encode(), mapping=Mapping(pair="row-order")
    )
    checked(found, names, P3, Y3)


def test_initials_are_asked_with_the_right_order_first():
    for header, columns, best in (
        ("p_home,p_draw,p_away,FTR", (A, B, C, of("HDA", Y3)), "H,D,A"),
        ("prob_away,prob_home,prob_draw,FTHG,FTAG,FTR", (C, A, B, AGE, SEX, of("HDA", Y3)), "A,H,D"),
    ):
        data = csv(header, *columns)
        question = asked(data)
        assert (question.id, question.options[0]) == ("classes", best)
        (found,) = read(data, mapping=Mapping(classes=tuple(best.split(","))))
        of_class = dict(zip("HDA", (A, B, C), strict=True))
        np.testing.assert_array_equal(found.probabilities, np.column_stack([of_class[c] for c in found.classes]))
        assert [found.classes[i] for i in found.label] == of("HDA", Y3)


def test_balance_of_a_loan_is_no_weight_unless_named():
    data = csv("facility_id,default_flag,pd,EAD", [f"F{i}" for i in IDS], Y, P, IDS)
    (found,) = read(data)
    assert found.weight is None
    assert any("'EAD' could be weights" in n and "--weight EAD" in n for n in found.notes)
    np.testing.assert_array_equal(read(data, mapping=Mapping(weight="EAD"))[0].weight, IDS)


def test_scores_and_amounts_ask_for_a_comparison():
    dates = [f"2020-01-{i:02}" for i in IDS]
    scores = csv("date,elo_prob1,elo_prob2,score1,score2", dates, P, Q, [20 + 7 * i % 23 for i in IDS], [24 + 5 * i % 11 for i in IDS])
    assert (asked(scores).id, asked(scores).options) == ("outcome", ("score1 > score2",))
    mm = [round(0.3 * i, 1) for i in range(N)]
    rain = csv("date,pop,rain_mm", dates, P, mm)
    assert (asked(rain).id, asked(rain).options[0]) == ("outcome", "rain_mm > 0")
    (found,) = read(rain, mapping=Mapping(outcome="rain_mm > 3"))
    np.testing.assert_array_equal(found.label, [m > 3 for m in mm])
    observed = csv("y,prob", [0.37 * i - 3 for i in IDS], P)
    assert (asked(observed).id, asked(observed).options) == ("outcome", ("y > 0",))


def test_ranges_of_an_amount_are_refused_with_the_way_out():
    mm = [round(0.3 * i, 1) for i in range(N)]
    data = csv("year,obs,p24_cat0,p24_cat1,p24_cat2", same(2003), mm, A, B, C)
    with pytest.raises(InputError, match=r"ranges whose limits.*--prob p24_cat2 --outcome 'obs > LIMIT'") as raised:
        read(data)
    assert not isinstance(raised.value, AmbiguousLayout)
    (found,) = read(data, mapping=Mapping(probabilities="p24_cat2", outcome="obs > 5"))
    np.testing.assert_array_equal(found.rows("positive")[0], C)
    np.testing.assert_array_equal(found.label, [m > 5 for m in mm])


def test_rounds_of_a_tournament_are_separate_problems():
    reached = [y * s for y, s in zip(Y, SEX, strict=True)]
    data = csv("team,round_1,round_1_outcome,round_2,round_2_outcome", IDS, P, Y, [p / 2 for p in P], reached)
    assert (asked(data).id, asked(data).options) == ("columns_are", ("labels",))
    first, second = read(data, mapping=Mapping(columns_are="labels"))
    np.testing.assert_array_equal(first.label, Y)
    np.testing.assert_array_equal(second.rows("positive")[0], [p / 2 for p in P])
