"""Columns of fractions beside a yes or no: one model each is the likeliest answer, and it is still asked."""

import pytest

from calibcore.errors import AmbiguousLayout, Question
from calibcore.io import Mapping, read

N = 40
P = [(i + 0.5) / N for i in range(N)]
Q = [round(p * p, 6) for p in P]
R = [round(p**0.5, 6) for p in P]
Y = [int(i % 3 == 0 or i > 30) for i in range(N)]
WORDS = ["churned" if y else "stayed" for y in Y]


def csv(header, *columns):
    return (header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))).encode()


def question(data, **answers):
    with pytest.raises(AmbiguousLayout) as raised:
        read(data, mapping=Mapping(**answers))
    (asked,) = raised.value.questions
    return asked


TOGETHER = {
    "two models": (csv("outcome,nb,rf", WORDS, P, Q), ("nb,rf", "nb", "rf")),
    "beside ids": (csv("id,outcome,nb,rf", range(N), WORDS, P, Q), ("nb,rf", "nb", "rf")),
    "beside a feature": (csv("outcome,age,nb,rf", Y, range(20, 20 + N), P, Q), ("nb,rf", "nb", "rf")),
    "a label without a telling name": (csv("churn,nb,rf", Y, P, Q), ("nb,rf", "nb", "rf")),
    "three models": (csv("outcome,nb,rf,lr", Y, P, Q, R), ("nb,rf,lr", "nb", "rf", "lr")),
    "three fractions among features": (csv("outcome,age,nb,rf,lr", Y, range(20, 20 + N), P, Q, R), ("nb", "rf", "lr", "nb,rf,lr")),
    "three classes": (csv("outcome,nb,rf", [i % 3 for i in range(N)], P, Q), ("nb", "rf", "nb,rf")),
    "a sum of one": (csv("outcome,u,v", Y, P, [1 - p for p in P]), ("u", "v")),
    "measures": (csv("outcome,accuracy,f1-score", Y, P, Q), ("accuracy", "f1-score")),
}


@pytest.mark.parametrize("what", TOGETHER)
def test_the_order_of_the_offers(what):
    data, options = TOGETHER[what]
    asked = question(data)
    assert (asked.id, asked.options) == ("probabilities", options)
    assert ("--columns-are models" in asked.text) == any("," in o for o in options)  # only what is offered is named


def test_the_positive_class_is_that_of_all_models():
    data = csv("outcome,nb,rf", WORDS, P, Q)
    asked = question(data, probabilities="nb,rf")
    assert asked.text == "Column 'outcome' has the values 'churned' and 'stayed'. Which one do the probabilities ('nb' and 'rf') refer to?"
    assert "does the probability ('nb') refer to?" in question(data, probabilities="nb").text
    assert {m.positive_class for m in read(data, mapping=Mapping(probabilities="nb,rf", positive="churned"))} == {"churned"}


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"Model,AUC,Accuracy\nNaive Bayes,0.83,0.79\nRandom forest,0.9,0.86\n", 2),
        (b"Model,Accuracy\nNaive Bayes,0.79\nRandom forest,0.86\n", 2),
        (b"metric,value\nauc,0.83\nbrier,0.12\n", 2),
        (b"class,precision,recall,f1-score\n0,0.8,0.7,0.75\n1,0.6,0.7,0.65\nall,0.7,0.7,0.7\n", 3),
    ],
)
def test_few_rows_without_telling_names_look_like_a_summary(data, rows):
    assert question(data).text.startswith(f"{rows} rows: this looks like a summary, not predictions. ")


def test_ten_rows_and_named_columns_do_not():
    assert "summary" not in question(csv("outcome,nb,rf", WORDS[:10], P[:10], Q[:10])).text
    assert "summary" not in question(b"id,label,probability\n1,ill,0.8\n2,well,0.3\n3,ill,0.6\n").text


def test_the_message_says_how_to_answer_in_python():
    with pytest.raises(AmbiguousLayout) as raised:
        read(csv("outcome,probability", WORDS, P), name="f.csv")
    assert str(raised.value).endswith('refer to? Answer with mapping=cc.Mapping(positive="churned"), or positive="stayed".')
    both = Question("classes", "Which?", ('a,"b, c"', "z"), "--classes").in_python()
    assert both == 'Which? Answer with mapping=cc.Mapping(classes=("a", "b, c")), or classes=("z",).'
    many = Question("label", "Which?", tuple("abcdef"), "--label").in_python()
    assert many == 'Which? Answer with mapping=cc.Mapping(label="a"), or label="b", or label="c", or label="d", or one of 2 more.'


@pytest.mark.parametrize("data", [csv("outcome,nb,rf", WORDS, P, Q), csv("dx,p_x,p_y", WORDS, P, Q)])
def test_what_the_message_says_can_be_followed(data):
    answers = {}
    for _ in range(3):
        try:
            read(data, mapping=Mapping(**answers))
            break
        except AmbiguousLayout as asked:
            said = str(asked).split("cc.Mapping(")[1].split(")")[0]
            name, value = said.split("=", 1)
            answers[name] = value.strip('"')
    assert len(read(data, mapping=Mapping(**answers))) == 2


def test_cells_with_a_percent_sign_may_be_the_probability():
    asked = question(csv("deal,won,chance", range(N), WORDS, [f"{100 * p:.1f}%" for p in P]))
    assert (asked.id, asked.options) == ("probabilities", ("chance",))
    assert asked.text == "Does column 'chance' hold the probability, in percent?"
    (model,) = read(
        csv("deal,won,chance", range(N), Y, [f"{100 * p:.2f}%" for p in P]), mapping=Mapping(probabilities="chance", label="won")
    )
    assert model.rows("positive")[0].tolist() == pytest.approx(P)
