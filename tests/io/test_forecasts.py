"""Forecasts of questions and detections with or without an outcome."""

import json

import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, read_bytes

P = [0.25, 0.5, 0.75, 0.875, 0.125, 0.625]


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


@pytest.mark.parametrize(
    ("names", "words", "odd"),
    [
        (("probability", "resolution"), "NO YES YES MKT CANCEL NO", "CANCEL,MKT"),
        (("Probability Yes", "Resolution"), "no yes yes annulled ambiguous no", "ambiguous,annulled"),
        (("forecast", "outcome"), "no yes yes void void no", "void"),
    ],
)
def test_questions_without_an_answer_are_left_out_on_request_and_counted(names, words, odd):
    records = [{"id": f"q{i}", names[0]: p, names[1]: w} for i, (p, w) in enumerate(zip(P, words.split(), strict=True))]
    field, (offer,) = asked(records)
    assert (field, ",".join(sorted(offer.split(",")))) == ("drop_label", odd)
    predictions = one(records, drop_label=tuple(odd.split(",")))
    assert predictions.classes[1].casefold() == "yes"
    assert predictions.probabilities[:, 1].tolist() == [0.25, 0.5, 0.75, 0.625]
    assert predictions.label.tolist() == [0, 1, 1, 0]
    assert predictions.n_excluded == 2
    assert any("2 of 6 rows left out" in n for n in predictions.notes)


def test_open_questions_are_refused_until_they_are_left_out():
    records = [
        {"id": i, "probability": p, "resolution": r} for i, (p, r) in enumerate(zip(P, ["NO", None, "YES", None, "NO", "YES"], strict=True))
    ]
    with pytest.raises(InputError, match="2 of 6 rows have no label in 'resolution'"):
        one(records)
    assert one(records, missing="drop").probabilities[:, 1].tolist() == [0.25, 0.75, 0.125, 0.625]


@pytest.mark.parametrize("names", [("community_prediction", "bot_team_median", "pro_median"), ("crowd_forecast", "model_forecast")])
@pytest.mark.parametrize("words", [(0, 1), ("no", "yes")])
def test_several_forecasters_are_asked_about_and_read_as_models(names, words):
    records = [
        {"question_id": i, "resolution": words[i % 2], **{n: (p + k) / 2 for k, n in enumerate(names[:2])}, **dict.fromkeys(names[2:], p)}
        for i, p in enumerate(P)
    ]
    assert asked(records) == ("columns_are", ("models",))
    models = read_bytes(jsonl(records), "file", Mapping(columns_are="models"))
    assert [m.name for m in models] == list(names)
    assert models[0].probabilities[:, 1].tolist() == [p / 2 for p in P]
    assert one(records, probabilities=names[1]).probabilities[:, 1].tolist() == [(p + 1) / 2 for p in P]


BOX = {"bbox": [1.5, 2.0, 3.0, 4.5]}


@pytest.mark.parametrize("kind", [{"category_id": 3}, {"category": "car"}, {"label": "car"}])
@pytest.mark.parametrize("box", [BOX, {"xmin": 1, "ymin": 2, "xmax": 3, "ymax": 4}])
def test_detections_without_an_outcome_are_refused(kind, box):
    kinds = [kind, {k: 5 if v == 3 else "dog" for k, v in kind.items()}]
    records = [{"image_id": i // 2, **kinds[i % 2], **box, "score": p} for i, p in enumerate(P)]
    with pytest.raises(InputError, match=r"holds detections .* but no outcome") as raised:
        one(records)
    assert not isinstance(raised.value, AmbiguousLayout)


@pytest.mark.parametrize("flag", ["tp", "is_tp", "matched", "true_positive"])
@pytest.mark.parametrize("words", [(0, 1), (False, True)])
def test_detections_with_a_flag_are_confidences(flag, words):
    kinds = ["car", "dog", "car"]
    records = [{"image_id": i // 2, "class": kinds[i % 3], **BOX, "score": p, "iou": p / 2, flag: words[i % 2]} for i, p in enumerate(P)]
    predictions = one(records)
    assert predictions.task == "top_label"
    assert predictions.confidence.tolist() == P
    assert predictions.correct.tolist() == [False, True] * 3
    table = "\n".join(["image,class,score,iou,tp", *[f"{i // 2},{kinds[i % 3]},{p},{p / 2},{i % 2}" for i, p in enumerate(P)]])
    assert one(table.encode()).confidence.tolist() == P


def test_an_overlap_alone_needs_its_threshold():
    rows = [f"{i // 2},{'car' if i % 2 else 'dog'},{p},{0.125 + i / 8}" for i, p in enumerate(P)]
    data = "\n".join(["image,class,score,iou", *rows]).encode()
    assert asked(data) == ("outcome", ("iou >= 0.5",))
    predictions = one(data, outcome="iou >= 0.5")
    assert predictions.label.tolist() == [0, 0, 0, 1, 1, 1]  # 0.125, 0.25, 0.375, 0.5, 0.625, 0.75
    assert predictions.probabilities[:, 1].tolist() == P
