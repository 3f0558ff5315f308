"""Files that look like predictions and mean something else: asked, refused or noted, never a wrong number; and their fair twins."""

import numpy as np
import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, read

N = 120
RNG = np.random.default_rng(20)
P = RNG.uniform(0.02, 0.98, N).round(3)
Y = (RNG.random(N) < P).astype(int)  # drawn from P, so P is calibrated and has to do with Y
NOISE = np.tile([0, 1], N // 2)  # has nothing to do with P
K3 = RNG.dirichlet([1, 1, 1], N).round(4)
Y3 = np.array([RNG.choice(3, p=row / row.sum()) for row in K3])
TOP3 = K3.argmax(axis=1)
ABC = np.array(["a", "b", "c"])


def csv(header, *columns):
    return (header + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n").encode()


def question(source):
    with pytest.raises(AmbiguousLayout) as raised:
        read(source)
    (found,) = raised.value.questions
    return found


@pytest.mark.parametrize("name", ["p_value", "pvalue", "prob_std", "auc", "loss", "base_rate", "prior", "prevalence", "entropy", "iou"])
def test_a_number_between_0_and_1_that_is_said_to_be_something_else_is_asked_about(name):
    found = question(csv(f"label,{name}", Y, P))
    assert (found.id, found.options) == ("probabilities", (name,))
    assert len(read(csv(f"label,{name}", Y, P), mapping=Mapping(probabilities=name))) == 1


@pytest.mark.parametrize("ends", ["std", "var", "threshold"])
def test_the_error_of_a_probability_is_no_second_model(ends):
    (only,) = read(csv(f"label,prob,prob_{ends}", Y, P, P / 9))
    assert only.mean_confidence == pytest.approx(np.maximum(P, 1 - P).mean()) if hasattr(only, "mean_confidence") else only.n == N


@pytest.mark.parametrize("ends", [("lo", "hi"), ("lower_95", "upper_95"), ("min", "max"), ("ci_low", "ci_high")])
def test_the_limits_of_a_probability_are_no_further_models(ends):
    assert len(read(csv(f"label,prob,prob_{ends[0]},prob_{ends[1]}", Y, P, P / 2, (1 + P) / 2))) == 1


def test_classes_called_low_and_high_stay_classes():
    names = np.array(["low", "mid", "high"])
    (only,) = read(csv("label,prob_low,prob_mid,prob_high", names[Y3], *K3.T))
    assert sorted(only.classes) == ["high", "low", "mid"]


@pytest.mark.parametrize("name", ["not_correct", "is_not_correct", "non_correct"])
def test_a_flag_for_wrong_answers_is_no_flag_for_right_ones(name):
    with pytest.raises(InputError):
        read(csv(f"id,{name},confidence", range(N), 1 - Y, P))


def test_one_minus_confidence_is_no_confidence():
    assert question(csv("label,prediction,1-confidence", ABC[Y3], ABC[TOP3], 1 - K3.max(axis=1))).id == "confidence"


@pytest.mark.parametrize(
    ("label", "name"),
    [("died", "survival_probability"), ("win", "prob_loss"), ("success", "failure_prob"), ("churned", "prob_not_churn"),
     ("default_flag", "non_default_probability"), ("rain", "probability_of_no_rain"), ("failed", "pass_probability")],
)  # fmt: skip
def test_the_probability_of_the_opposite_is_asked_about(label, name):
    few = 50  # a difference of two standard errors is enough where the name says something else
    data = csv(f"{label},{name}", Y[:few], (1 - P[:few]).round(3))
    assert question(data).id in ("positive", "label")


def test_a_feature_beside_predictions_is_not_taken_for_the_outcome():
    assert question(csv("smoker,probability", NOISE, P)).options == ("smoker", "none")
    assert question(csv("predicted,smoker,probability", (P > 0.5).astype(int), NOISE, P)).id == "label"
    pclass = np.tile([0, 1, 2], N // 3)
    assert question(csv("pclass,prediction,prob_0,prob_1,prob_2", pclass, TOP3, *K3.T)).id == "label"


def test_an_outcome_without_a_telling_name_is_read():
    assert len(read(csv("survived,probability", Y, P))) == 1
    assert len(read(csv("pclass,prediction,prob_0,prob_1,prob_2", Y3, TOP3, *K3.T))) == 1


def test_a_second_column_of_predictions_is_not_taken_for_the_outcome():
    top = ABC[TOP3]
    assert question(csv("top1,prediction,prob_a,prob_b,prob_c", top, top, *K3.T)).id == "label"


@pytest.mark.parametrize("data", [csv("label,prob_a,prob_b,prob_c", ABC[TOP3], *K3.T), csv("label,probability", (P > 0.5).astype(int), P)])
def test_a_label_that_is_never_wrong_is_noted(data):
    (only,) = read(data)
    assert any("not the model's prediction" in note for note in only.notes)


def test_truthful_labels_are_not_noted():
    sure = np.where(Y == 1, 0.999, 0.001)  # 0.12 wrong rows of 120 are expected: none is no wonder
    for data in (csv("label,probability", Y, sure), csv("label,prob_a,prob_b,prob_c", ABC[Y3], *K3.T)):
        assert not any("prediction" in note for note in read(data)[0].notes)


def test_classes_counted_from_1_beside_columns_counted_from_0_are_refused_with_the_way_out():
    few = np.where(Y3 == 2, 1, Y3)  # the third class never occurs, so only the predictions show it
    data = csv("label,pred,prob_0,prob_1,prob_2", few + 1, TOP3 + 1, *K3.T)
    with pytest.raises(InputError, match="columns-are classes"):
        read(data)
    told = Mapping(probabilities=("prob_0", "prob_1", "prob_2"), columns_are="classes", classes=("1", "2", "3"))
    assert read(data, mapping=told)[0].classes == ("1", "2", "3")


def test_no_row_is_lost_where_the_first_line_is_like_the_others(tmp_path):
    scores, truth = tmp_path / "out.txt", tmp_path / "truth.txt"
    scores.write_text("".join(f"{p} id{i}\n" for i, p in enumerate([0.0, *P[1:]])))  # 0.0 over fractions, id0 over id1
    truth.write_text("".join(f"{y}\n" for y in Y))
    assert read([scores, truth], mapping=Mapping(pair="row-order"))[0].n == N


def test_submission_and_solution_share_the_name_of_the_outcome(tmp_path):
    mine, theirs = tmp_path / "submission.csv", tmp_path / "solution.csv"
    mine.write_bytes(csv("id,loan_status", range(N), P))
    theirs.write_bytes(csv("id,loan_status,Usage", range(N), Y, ["Public", "Private"] * (N // 2)))
    assert read([mine, theirs])[0].n == N


def test_fasttext_labels_stand_before_their_texts(tmp_path):
    out, test = tmp_path / "out.txt", tmp_path / "test.txt"
    out.write_text("".join(" ".join(f"__label__{ABC[j]} {row[j]}" for j in np.argsort(-row)) + "\n" for row in K3))
    test.write_text("".join(f"__label__{ABC[y]} {' word' * (i % 5)}\n" for i, y in enumerate(Y3)))
    assert read([out, test], mapping=Mapping(pair="row-order"))[0].classes == ("a", "b", "c")


def test_what_h2o_calls_response_is_the_outcome():
    (only,) = read(csv("predict,a,b,c,response", ABC[TOP3], *K3.T, ABC[Y3]))
    assert only.classes == ("a", "b", "c")
