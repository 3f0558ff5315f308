"""What must never be guessed: each file asks, with a stable id and the best offer first, and the offer works in Python and in the shell."""

import json

import numpy as np
import pytest

from calibcore import cli
from calibcore.errors import AmbiguousLayout
from calibcore.io import Mapping, inspect, read

N = 40
P = np.linspace(0.02, 0.98, N).round(3)
Y = (np.arange(N) % 3 == 0).astype(int)
TOP = (P > 0.5).astype(int)
CONF = np.maximum(P, 1 - P).round(3)
K3 = np.column_stack([np.linspace(0.1, 0.5, N), np.linspace(0.6, 0.1, N)]).round(3)
K3 = np.column_stack([K3, 1 - K3.sum(axis=1)]).round(3)
Y3 = np.arange(N) % 3
ABC = np.array(["a", "b", "c"])[Y3]
BIRDS = np.array(["amber", "green", "red"])[Y3]
SICK = np.array(["benign", "malignant"])[(P > 0.4).astype(int)]
CODE = {"classes": lambda text: tuple(text.split(",")), "drop_label": lambda text: tuple(text.split(","))}


def csv(header, *columns):
    return (header + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n").encode()


# what is open → the file, the question's id, its flag, the best offer
ASKED = {
    "1 positive class, one column": (csv("label,probability", SICK, P), "positive", "--positive", "malignant"),
    "1 positive class, numbers 1 and 2": (csv("status,p", 1 + (P > 0.4), P), "positive", "--positive", "2"),
    "1 positive class, two columns": (csv("dx,benign,malignant", SICK, 1 - P, P), "positive", "--positive", "malignant"),
    "2 several labels": (csv("reader1_label,label,label_true,prob", TOP, TOP, Y, P), "label", "--label", "label"),
    "2 a label among features": (csv("smoker,diabetic,age,prob", Y, TOP, range(N), P), "label", "--label", "diabetic"),
    "3 one class predicted": (csv("y,yhat,probability", Y, [1] * N, 0.5 + P / 2), "confidence", "--confidence", "probability"),
    "3 nothing below one half": (csv("y,prob", Y, 0.5 + P / 2), "confidence", "--confidence", "none"),
    "4 percent by name alone": (csv("y,rain_percent_prob", Y, P), "scale", "--scale", "percent"),
    "5 a logit": (csv("y,logit", Y, 8 * P - 4), "scale", "--scale", "logit"),
    "5 a margin": (csv("target,decision_function", Y, 8 * P - 4), "scale", "--scale", "logit"),
    "5 unnormalised rows": (csv("y,p_a,p_b,p_c", ABC, *(0.7 * K3.T)), "scale", "--scale", "unnormalised"),
    "6 integer headers beside texts": (csv("truth,0,1,2", BIRDS, *K3.T), "classes", "--classes", "amber,green,red"),
    "7 models or classes": (csv("y,prob,risk", Y, P, P[::-1] ** 2), "columns_are", "--columns-are", "models"),
    "7 several labels with their probabilities": (
        csv("cough,fever,p_cough,p_fever", Y, Y[::-1], P, P[::-1]), "columns_are", "--columns-are", "labels"
    ),
    "7 fractions without a telling name": (csv("obs,rf,gbm", Y, P, P[::-1]), "probabilities", "--prob", "rf"),
    "8 scores": (csv("prob_win,score1,score2", P, np.arange(N) % 7, 3 + np.arange(N) % 5), "outcome", "--outcome", "score1 > score2"),
    "8 goals": (csv("home_win_prob,FTHG,FTAG", P, np.arange(N) % 7, np.arange(N) % 5), "outcome", "--outcome", "FTHG > FTAG"),
    "8 amounts": (csv("pop,precip", P, np.arange(N) * 0.3), "outcome", "--outcome", "precip > 0"),
    "9 markets without a result": (
        csv("probability,resolution", P, ["MKT", *np.array(["NO", "YES"])[Y[1:]]]), "drop_label", "--drop-label", "MKT"
    ),
    "9 ties": (csv("prob,prob_outcome", P, [0.5, *Y[1:]]), "drop_label", "--drop-label", "0.5"),
    "9 unparseable answers": (
        csv("grade,confidence", ["Unparseable", *np.array(["Wrong", "Correct"])[Y[1:]]], P), "drop_label", "--drop-label", "Unparseable"
    ),
    "12 several confidences": (
        csv("y,yhat,verbal_confidence,logit_confidence", Y, TOP, CONF, CONF**2), "confidence", "--confidence", "verbal_confidence"
    ),
    "14 training rows": (
        csv("outcome,estimated_probabilities,type_of_set", Y, P, np.where(np.arange(N) < 25, "train", "test")),
        "rows", "--rows", "type_of_set=test",
    ),
    "15 initials": (csv("p_home,p_draw,p_away,FTR", *K3.T, np.array(["H", "D", "A"])[Y3]), "classes", "--classes", "H,D,A"),
    "long form, a model or not": (
        csv("id,algo,class,prob,label", np.repeat(range(20), 4), ["x", "x", "y", "y"] * 20, ["a", "b", "a", "b"] * 20,
            np.tile([0.25, 0.75, 0.5, 0.5], 20), np.repeat(["a", "b"] * 10, 4)),
        "model", "--model-col", "algo",
    ),
    "one-hot labels named otherwise": (
        csv("y_0,y_1,y_2,p_a,p_b,p_c", *np.eye(3, dtype=int)[Y3].T, *K3.T), "classes", "--classes", "0,1,2"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", ASKED)
def test_the_question_its_offer_and_the_answer_in_python_and_in_the_shell(what, tmp_path, capsys):
    data, field, flag, best = ASKED[what]
    with pytest.raises(AmbiguousLayout) as raised:
        read(data)
    (question,) = raised.value.questions
    assert (question.id, question.flag, question.options[0]) == (field, flag, best)
    assert inspect(data).questions == (question,)
    given, answers = {field: CODE.get(field, str)(best)}, [flag, best]
    for _ in range(2):  # a second question may follow, such as which class is positive
        try:
            models = read(data, mapping=Mapping(**given))
            break
        except AmbiguousLayout as again:
            (further,) = again.questions
            assert further.id not in given, what
            given[further.id] = CODE.get(further.id, str)(further.options[0])
            answers += [further.flag, further.options[0]]
    else:
        models = read(data, mapping=Mapping(**given))
    path = tmp_path / "file.csv"
    path.write_bytes(data)
    assert cli.main(["measure", str(path), *answers, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["models"]
    assert [m["n"] for m in found] == [m.n for m in models]


@pytest.mark.parametrize("what", ASKED)
def test_other_offers_can_be_followed_or_say_why_not(what):
    data, field, _, _ = ASKED[what]
    for option in inspect(data).questions[0].options[1:]:
        try:
            read(data, mapping=Mapping(**{field: CODE.get(field, str)(option)}))
        except AmbiguousLayout as again:
            further = {q.id for q in again.questions}
        else:
            further = set()
        assert field not in further, option


def test_an_order_of_rows_changes_no_question():
    for what, (data, field, _, best) in ASKED.items():
        lines = data.decode().splitlines()
        order = np.random.default_rng(5).permutation(len(lines) - 1)
        (question,) = inspect("\n".join([lines[0], *(lines[1 + i] for i in order), ""]).encode()).questions
        assert (question.id, question.options[0]) == (field, best), what
