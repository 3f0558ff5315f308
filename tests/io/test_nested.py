"""Classes with scores in lists and records: pipelines, class maps, the most probable few, letters against numbers."""

import json
import math

import numpy as np
import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect_bytes, read_bytes


def jsonl(records):
    return "\n".join(json.dumps(r) for r in records).encode()


def one(records, **told):
    data = records if isinstance(records, bytes) else jsonl(records)
    (predictions,) = read_bytes(data, "file", Mapping(**told) if told else None)
    return predictions


def asked(records, **told):
    data = records if isinstance(records, bytes) else jsonl(records)
    with pytest.raises(AmbiguousLayout) as raised:
        read_bytes(data, "file", Mapping(**told))
    (question,) = raised.value.questions
    return question.id, question.options


def refused(records, sentence, **told):
    data = records if isinstance(records, bytes) else jsonl(records)
    with pytest.raises(InputError, match=sentence) as raised:
        read_bytes(data, "file", Mapping(**told))
    assert not isinstance(raised.value, AmbiguousLayout)


# ---- predicted class + score

THREE = [("cat", "cat", 0.75), ("dog", "cat", 0.5), ("emu", "emu", 0.875), ("dog", "dog", 1.0)]  # true, predicted, score
TWO = [("POSITIVE" if i % 3 else "NEGATIVE", "POSITIVE" if i % 2 else "NEGATIVE", 0.5 + (i + 1) / 64) for i in range(24)]


@pytest.mark.parametrize("gold", ["gold", "true_label", "target"])
def test_label_of_a_pipeline_is_the_predicted_class(gold):
    predictions = one([{"text": f"made up {i}", gold: t, "label": p, "score": s} for i, (t, p, s) in enumerate(THREE)])
    assert predictions.source["roles"]["predicted"] == "label"
    assert predictions.confidence.tolist() == [0.75, 0.5, 0.875, 1.0]
    assert predictions.correct.tolist() == [True, False, True, True]


def test_two_classes_with_enough_rows_are_read_and_few_are_asked_about():
    records = [{"gold": t, "label": p, "score": s} for t, p, s in TWO]
    predictions = one(records)
    assert predictions.classes == ("NEGATIVE", "POSITIVE")
    assert predictions.probabilities[:2, 1].tolist() == [1 - 33 / 64, 34 / 64]  # NEGATIVE predicted, then POSITIVE
    assert asked(records[:8]) == ("predicted", ("label", "none"))
    assert asked(records[:8], label="gold") == ("predicted", ("label", "none"))
    assert one(records[:8], predicted="label").probabilities[:2, 1].tolist() == [1 - 33 / 64, 34 / 64]


def test_numbered_labels_meet_their_numbers():
    records = [{"y": t, "label": f"LABEL_{p}", "score": s} for t, p, s in [(0, 0, 0.75), (1, 0, 0.625), (1, 1, 0.875)]]
    predictions = one(records)
    assert predictions.probabilities[:, 1].tolist() == [0.25, 0.375, 0.875]
    assert predictions.label.tolist() == [0, 1, 1]
    lists = [
        {"y": t, "scores": [{"label": f"LABEL_{j}", "score": s} for j, s in row]}
        for t, row in [(0, [(2, 0.5), (0, 0.25), (1, 0.25)]), (2, [(1, 0.75), (2, 0.125), (0, 0.125)])]
    ]
    assert one(lists).probabilities.tolist() == [[0.25, 0.25, 0.5], [0.125, 0.75, 0.125]]


@pytest.mark.parametrize("rows", [TWO, TWO[:6], THREE], ids=["two classes", "few rows", "three classes"])
def test_a_pipeline_without_labels_ends_as_predictions_without_labels(rows):
    refused([{"label": p, "score": s} for _, p, s in rows], "no column of labels")


def test_ordinary_labels_with_scores_stay_labels():
    records = [{"label": "yes" if i % 2 else "no", "score": 0.25 + i / 16} for i in range(8)]
    assert one(records).probabilities[:, 1].tolist() == [0.25 + i / 16 for i in range(8)]
    certain = [{"label": "yes", "score": 0.75}, {"label": "no", "score": 0.5}]
    assert one(certain, label="label", positive="yes").probabilities[:, 1].tolist() == [0.75, 0.5]


def test_a_predicted_class_beside_the_label_decides():
    records = [{"label": t, "prediction": p, "score": s} for t, p, s in THREE]
    predictions = one(records)
    assert (predictions.source["roles"]["label"], predictions.source["roles"]["predicted"]) == ("label", "prediction")
    assert predictions.correct.tolist() == [True, False, True, True]
    flagged = [{"label": t, "score": s, "correct": t == p} for t, p, s in THREE]
    assert one(flagged, confidence="score").correct.tolist() == [True, False, True, True]


@pytest.mark.parametrize("record", ["prediction", "output", "result"])
def test_class_and_score_in_a_record(record):
    records = [{"id": i, "gold": t, record: {"label": p, "score": s}} for i, (t, p, s) in enumerate(THREE)]
    predictions = one(records)
    assert predictions.source["roles"]["confidence"] == f"{record}.score"
    assert predictions.confidence.tolist() == [0.75, 0.5, 0.875, 1.0]
    assert predictions.correct.tolist() == [True, False, True, True]


def test_roles_in_records():
    probability = one([{"y": i % 2, "out": {"probability": (i + 1) / 8, "ms": 3.5}} for i in range(6)])
    assert probability.probabilities[:, 1].tolist() == [(i + 1) / 8 for i in range(6)]
    beside = one([{"gold": t, "pred": p, "meta": {"confidence": s, "tokens": 7}} for t, p, s in THREE])
    assert beside.correct.tolist() == [True, False, True, True]
    inside = one([{"gold": t, "answer_of": {"prediction": p, "confidence": s}} for t, p, s in THREE])
    assert inside.confidence.tolist() == [0.75, 0.5, 0.875, 1.0]
    told = one([{"gold": t, "pred": p, "meta": {"a": {"sureness": s}}} for t, p, s in THREE], confidence="meta.a.sureness")
    assert told.confidence.tolist() == [0.75, 0.5, 0.875, 1.0]


# ---- lists of classes with scores

FULL = [
    {"joy": 0.5, "anger": 0.375, "fear": 0.125},
    {"fear": 0.75, "joy": 0.125, "anger": 0.125},
    {"anger": 0.5, "fear": 0.25, "joy": 0.25},
]
TWO_OF = [[0.75, 0.25], [0.5, 0.5]]
GOLD = ["joy", "anger", "anger"]


def pairs(row, names=("label", "score")):
    return [dict(zip(names, pair, strict=True)) for pair in row.items()]


@pytest.mark.parametrize("column", ["scores", "predictions", "output"])
@pytest.mark.parametrize("names", [("label", "score"), ("class", "prob"), ("name", "confidence")])
def test_scores_sorted_by_size_are_matched_by_class(column, names):
    predictions = one([{"gold": g, column: pairs(row, names)} for g, row in zip(GOLD, FULL, strict=True)])
    assert predictions.classes == ("anger", "fear", "joy")
    assert predictions.probabilities.tolist() == [[0.375, 0.125, 0.5], [0.125, 0.75, 0.125], [0.5, 0.25, 0.25]]
    assert predictions.label.tolist() == [2, 0, 0]


def test_scores_without_labels_end_as_predictions_without_labels():
    refused([{"scores": pairs(row)} for row in FULL], "no column of labels")
    refused([{"text": f"made up {i}", "cats": row} for i, row in enumerate(FULL)], "no column of labels")


@pytest.mark.parametrize("m", [1, 2])
def test_of_the_most_probable_classes_only_the_first_is_judged(m):
    rows = [dict(list(row.items())[:m]) for row in FULL]
    for cells in ([pairs(r) for r in rows], rows):
        predictions = one([{"gold": g, "scores": c} for g, c in zip(GOLD, cells, strict=True)])
        assert predictions.confidence.tolist() == [0.5, 0.75, 0.5]
        assert predictions.correct.tolist() == [True, False, True]
        assert any("only the most probable one is judged" in n for n in predictions.notes)
    refused([{"scores": pairs(r)} for r in rows], "no column of labels")


def test_most_probable_tokens_with_log_probabilities_are_asked_about():
    rows = [
        {"A": math.log(0.5), "B": math.log(0.25)},
        {"C": math.log(0.75), "A": math.log(0.125)},
        {"B": math.log(0.5), "C": math.log(0.25)},
    ]
    records = [{"answer": a, "top_logprobs": pairs(r, ("token", "logprob"))} for a, r in zip("ACA", rows, strict=True)]
    assert asked(records) == ("scale", ("log-prob",))
    predictions = one(records, scale="log-prob")
    assert predictions.confidence.tolist() == pytest.approx([0.5, 0.75, 0.5], abs=1e-12)
    assert predictions.correct.tolist() == [True, True, False]


def test_classes_and_metrics_are_no_statistics_of_answers():
    names = ("correct", "wrong")
    records = [
        {"gold": g, "scores": pairs(dict(zip(names, row, strict=True)), ("name", "score"))} for g, row in zip(names, TWO_OF, strict=True)
    ]
    assert one(records, positive="correct").probabilities[:, 1].tolist() == [0.75, 0.5]
    beside = [{"y": i % 2, "p": (i + 1) / 8, "metrics": [{"name": "acc", "value": 1.0}, {"name": "f1", "value": 0.5}]} for i in range(4)]
    assert one(beside).probabilities[:, 1].tolist() == [0.125, 0.25, 0.375, 0.5]


# ---- maps of choices

LOGS = [{"A": 0.5, "B": 0.25, "C": 0.25}, {"A": 0.125, "B": 0.75, "C": 0.125}, {"C": 0.5, "A": 0.25, "B": 0.25}]
MATRIX = [[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.25, 0.25, 0.5]]


def logs(factor=1.0):
    return [{k: math.log(v * factor) for k, v in row.items()} for row in LOGS]


@pytest.mark.parametrize("column", ["logprobs", "choice_logprobs"])
def test_log_probabilities_of_choices(column):
    assert one([{"answer": a, column: r} for a, r in zip("ABA", logs(), strict=True)]).probabilities == pytest.approx(
        np.array(MATRIX), abs=1e-12
    )
    part = [{"answer": a, column: r} for a, r in zip("ABA", logs(0.5), strict=True)]  # half of the probability lies on other tokens
    assert asked(part) == ("scale", ("log-prob", "logit"))
    assert one(part, scale="log-prob").probabilities == pytest.approx(np.array(MATRIX), abs=1e-12)


def test_tiny_probabilities_of_choices_are_divided_on_request_only():
    records = [
        {"context_results": {k: v / 512 for k, v in r.items()}, "chosen": c, "answer": a}
        for r, c, a in zip(LOGS, "ABC", "ABA", strict=True)
    ]
    assert asked(records) == ("scale", ("unnormalised",))
    assert one(records, scale="unnormalised").probabilities == pytest.approx(np.array(MATRIX), abs=1e-12)


def test_letters_against_numbers_are_asked_about():
    records = [{"answer": a, "logprobs": r} for a, r in zip([0, 1, 2], logs(), strict=True)]
    assert asked(records) == ("classes", ("0,1,2",))
    assert one(records, classes=("0", "1", "2")).probabilities == pytest.approx(np.array(MATRIX), abs=1e-12)
    from_one = [{"answer": a, "probs": r} for a, r in zip([1, 2, 3], LOGS, strict=True)]
    assert asked(from_one) == ("classes", ("1,2,3",))
    assert one(from_one, classes=("1", "2", "3")).label.tolist() == [0, 1, 2]
    either = [{"answer": a, "probs": r} for a, r in zip([1, 2, 1], LOGS, strict=True)]
    assert asked(either) == ("classes", ("0,1,2", "1,2,3"))
    refused([{"answer": a, "extracted_answer": p, "confidence": 0.75} for a, p in ((0, "A"), (1, "B"), (2, "B"))], "no value in common")


@pytest.mark.parametrize("column", ["cats", "probabilities"])
def test_class_maps_as_records_and_as_texts(column):
    rows = [{"x": 0.75, "y": 0.25}, {"y": 0.5, "x": 0.5}, {"x": 0.125, "y": 0.875}]
    records = [{"label": a, column: r} for a, r in zip("xyy", rows, strict=True)]
    assert one(records, positive="y").probabilities[:, 1].tolist() == [0.25, 0.5, 0.875]
    texts = [{"label": a, column: str(r)} for a, r in zip("xyy", rows, strict=True)]
    assert one(texts, positive="y").probabilities[:, 1].tolist() == [0.25, 0.5, 0.875]
    assert asked(records)[0] == "positive"


def test_fields_of_records_can_be_named():
    data = jsonl([{"y": i % 2, "a": {"b": {"c": (i + 1) / 8}}} for i in range(4)])
    layout = inspect_bytes(data, "file", Mapping(label="y", probabilities="a.b.c"))
    assert layout.sentence == "Read as: label = y, probability = a.b.c, positive class = 1."
    refused(data, "There is no column called 'a.b.d'", probabilities="a.b.d")
