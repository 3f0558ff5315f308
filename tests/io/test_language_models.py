"""Evaluations of language models: log-likelihoods of choices, statistics with a name, answers with a confidence or without one."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.analysis import Settings, analyze
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect_bytes, read, read_bytes

FIXTURES = Path(__file__).parent.parent / "data" / "fixtures"
# log-likelihoods whose softmax is a fraction: exp of the differences counts 4 : 2 : 1 : 1 and so on
SHARES = [[4, 2, 1, 1], [1, 1, 2, 4], [2, 10, 2, 2], [1, 5, 1, 1]]
PROBABILITIES = [[1 / 2, 1 / 4, 1 / 8, 1 / 8], [1 / 8, 1 / 8, 1 / 4, 1 / 2], [1 / 8, 5 / 8, 1 / 8, 1 / 8], [1 / 8, 5 / 8, 1 / 8, 1 / 8]]
TRUE = [0, 2, 1, 3]
RIGHT = [1.0, 0.0, 1.0, 0.0]
WORDS = ["oak", "elm", "ash", "fir"]


def jsonl(records):
    return "\n".join(json.dumps(r) for r in records).encode()


def samples(shares=SHARES, true=TRUE, *, targets=None, texts=None, number=str, right=RIGHT, key="filtered_resps"):
    """Records as lm-evaluation-harness logs them: each pair is the log-likelihood of a choice and whether it was greedy."""
    records = []
    for row, counts in enumerate(shares):
        choices = texts[: len(counts)] if texts else [f"choice {row} {i}" for i in range(len(counts))]
        pairs = [[number(math.log(s) - 20 - row), number(False)] for s in counts]
        record = {
            "doc_id": row,
            "doc": {"question": f"made up {row}"},
            "target": targets(true[row], choices) if targets else true[row],
            "arguments": {f"gen_args_{i}": {"arg_0": "Q", "arg_1": f" {c}"} for i, c in enumerate(choices)},
            "resps": [[p] for p in pairs],
            "filter": "none",
        }
        if key == "filtered_resps":
            record["filtered_resps"] = pairs
        records.append(record | ({} if right is None else {"acc": right[row]}))
    return records


def one(records, **told):
    data = records if isinstance(records, bytes) else jsonl(records)
    (predictions,) = read_bytes(data, "samples", Mapping(**told) if told else None)
    return predictions


def asked(records, **told):
    data = records if isinstance(records, bytes) else jsonl(records)
    with pytest.raises(AmbiguousLayout) as raised:
        read_bytes(data, "samples", Mapping(**told))
    (question,) = raised.value.questions
    return question.id, question.options


def refused(records, sentence, **told):
    data = records if isinstance(records, bytes) else jsonl(records)
    with pytest.raises(InputError, match=sentence) as raised:
        read_bytes(data, "samples", Mapping(**told))
    assert not isinstance(raised.value, AmbiguousLayout)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("lm_eval_samples", {}),
        ("helm_per_instance_stats", {}),
        ("hf_top1_jsonl", {}),
        ("hf_pipeline_all_scores", {"pair": "row-order"}),
        ("manifold_markets", {"drop_label": ("MKT", "CANCEL")}),
        ("grade_confidence_txt", {"drop_label": ("Unparseable",)}),
        ("mmlu_hendrycks", {"scale": "unnormalised"}),
        ("llm_verbal_confidence", {"confidence": "verbal_numerical_confidence"}),
    ],
)
def test_fixture_is_read_to_its_figures(name, told):
    expect = json.loads((FIXTURES / f"{name}.expect.json").read_text())
    paths = [FIXTURES / f for f in expect["files"]]
    (predictions,) = read(paths if len(paths) > 1 else paths[0], mapping=Mapping(**told))
    found = analyze(predictions, Settings(n_bins=15, view="top_label")).to_dict()
    assert (found["n"], predictions.n_excluded) == (expect["n"], expect["n_dropped"])
    assert found["accuracy"] == pytest.approx(expect["accuracy"], abs=1e-12)
    assert found["mean_confidence"] == pytest.approx(expect["mean_confidence"], abs=1e-8)
    assert found["ece"] == pytest.approx(expect["top_label_ece_15_equal_width_right_closed"], abs=1e-8)
    if told:
        with pytest.raises(AmbiguousLayout) as raised:
            read(paths if len(paths) > 1 else paths[0])
        assert [q.id for q in raised.value.questions] == list(told)


def as_text(true, choices):
    return choices[true]


@pytest.mark.parametrize("number", [str, lambda v: v], ids=["text", "numbers"])
@pytest.mark.parametrize("key", ["filtered_resps", "resps"])
@pytest.mark.parametrize("targets", [None, lambda i, _: str(i), as_text], ids=["position", "position as text", "text"])
def test_log_likelihoods_become_shares_of_the_choices(number, key, targets):
    predictions = one(samples(number=number, key=key, targets=targets))
    assert predictions.probabilities == pytest.approx(np.array(PROBABILITIES), abs=1e-12)
    assert predictions.label.tolist() == TRUE
    assert predictions.classes == ("0", "1", "2", "3")
    assert any("acc_norm" in n for n in predictions.notes)


def test_choices_that_are_the_same_in_every_row_name_the_classes():
    predictions = one(samples(targets=as_text, texts=WORDS))
    assert predictions.classes == tuple(WORDS)
    assert predictions.probabilities == pytest.approx(np.array(PROBABILITIES), abs=1e-12)
    assert predictions.label.tolist() == TRUE
    by_position = one(samples(texts=WORDS))
    assert by_position.classes == ("0", "1", "2", "3")
    assert "The choices are 0 = oak, 1 = elm, 2 = ash and 3 = fir." in by_position.notes


def test_two_choices_are_a_binary_problem():
    shares, true, right = [[3, 1], [1, 4], [1, 3]], [0, 1, 0], [1.0, 1.0, 0.0]
    predictions = one(samples(shares, true, targets=as_text, texts=["no", "yes"], right=right))
    assert predictions.classes == ("no", "yes")
    assert predictions.probabilities[:, 1] == pytest.approx([1 / 4, 4 / 5, 3 / 4], abs=1e-12)
    swapped = one(samples(shares, true, targets=as_text, texts=["yes", "no"], right=right))
    assert swapped.classes == ("no", "yes")
    assert swapped.probabilities[:, 1] == pytest.approx([3 / 4, 1 / 5, 1 / 4], abs=1e-12)
    assert swapped.label.tolist() == [1, 0, 1]
    unlike = one(samples(shares, true, targets=as_text, texts=["hill", "lake"], right=right))
    assert unlike.classes == ("0", "1")
    assert unlike.label.tolist() == true


def test_rows_may_have_different_numbers_of_choices():
    shares, true, right = [[3, 1], [2, 1, 1], [1, 1, 1, 5]], [0, 1, 3], [1.0, 0.0, 1.0]
    for targets in (None, as_text):
        predictions = one(samples(shares, true, right=right, targets=targets))
        expected = [[3 / 4, 1 / 4, 0, 0], [1 / 2, 1 / 4, 1 / 4, 0], [1 / 8, 1 / 8, 1 / 8, 5 / 8]]
        assert predictions.probabilities == pytest.approx(np.array(expected), abs=1e-12)
        assert predictions.label.tolist() == true
        assert any("Rows have 2 to 4 choices" in n for n in predictions.notes)


def test_labels_that_contradict_the_accuracy_are_not_used():
    counted_from_one = samples(targets=lambda i, _: i + 1, true=[0, 2, 1, 2], right=[1.0, 0.0, 1.0, 0.0])
    predictions = one(counted_from_one)
    assert predictions.task == "top_label"
    assert predictions.confidence.tolist() == pytest.approx([1 / 2, 1 / 2, 5 / 8, 5 / 8], abs=1e-12)
    assert predictions.correct.tolist() == [True, False, True, False]
    assert any("'acc' says what was right" in n for n in predictions.notes)
    refused(samples(targets=lambda _, c: f"none of {c[0]}", right=None), "no column of labels")


def test_digits_that_are_positions_or_texts_are_told_apart_by_the_accuracy_or_asked():
    digits = ["2", "3", "0", "1"]
    by_text = one(samples(targets=as_text, texts=digits))
    assert by_text.classes == tuple(digits)
    assert by_text.label.tolist() == TRUE
    unknown = samples(targets=as_text, texts=digits, right=None)
    assert asked(unknown) == ("classes", ("0,1,2,3", "2,3,0,1"))
    assert one(unknown, classes=("2", "3", "0", "1")).label.tolist() == TRUE
    assert one(unknown, classes=("0", "1", "2", "3")).label.tolist() == [2, 0, 3, 1]  # 2, 0, 3 and 1 as positions


def test_choices_scored_again_without_the_question_are_left_out():
    records = samples()
    for r in records:
        pairs = [["-3.5", "False"]] * 4
        r["filtered_resps"] = r["filtered_resps"] + pairs
        r["resps"] = r["resps"] + [[p] for p in pairs]
        r["arguments"] |= {f"gen_args_{i + 4}": {**r["arguments"][f"gen_args_{i}"], "arg_0": ""} for i in range(4)}
    assert one(records).probabilities == pytest.approx(np.array(PROBABILITIES), abs=1e-12)


def test_samples_without_choices_are_refused():
    generated = samples()
    for r in generated:
        r["resps"], r["filtered_resps"] = [["a text"]], ["a text"]
    refused(generated, "generated answers without their probabilities")
    single = samples()
    for r in single:
        r["filtered_resps"] = r["filtered_resps"][:1]
    refused(single, "one log-likelihood a row")
    filters = samples()
    filters[1]["filter"] = "strict"
    refused(filters, "Keep the rows of one filter")


@given(
    st.lists(st.lists(st.floats(-60, -0.1), min_size=3, max_size=3), min_size=2, max_size=6).filter(
        lambda m: all(len({*r}) == 3 for r in m)
    ),
    st.randoms(use_true_random=False),
)
def test_spelling_shift_and_order_change_nothing(logs, rng):
    assert isinstance(rng, random.Random)
    base = [{"doc_id": i, "target": i % 3, "filtered_resps": [[v, False] for v in r]} for i, r in enumerate(logs)]
    spelt = [{"doc_id": i, "target": str(i % 3), "filtered_resps": [[str(v - 1), "True"] for v in r]} for i, r in enumerate(logs)]
    order = list(range(len(logs)))
    rng.shuffle(order)
    first, second = one(base), one([spelt[i] for i in order])
    assert second.probabilities == pytest.approx(first.probabilities[order], abs=1e-12)
    assert second.label.tolist() == [i % 3 for i in order]


def test_accuracies_that_contradict_a_named_label_are_told():
    predictions = one(samples(right=[0.0, 1.0, 1.0, 0.0]), label="target")
    assert predictions.label.tolist() == TRUE
    assert any("'acc' says otherwise than 'target' in 2 rows (first: row 1)" in n for n in predictions.notes)


def test_choices_of_the_document_name_the_labels():
    records = samples(targets=as_text, texts=WORDS)
    for r in records:
        del r["arguments"]
        r["doc"] = {"choices": WORDS}
    assert one(records).classes == tuple(WORDS)
    for r in records:
        r["doc"] = {"choices": {"text": WORDS, "label": list("ABCD")}}
    assert one(records).label.tolist() == TRUE


# ---- statistics with a name

STATISTICS = [(0.75, 1.0), (0.5, 0.0), (1.0, 1.0), (0.25, 0.0)]  # largest probability, right


def helm(flag="exact_match", extra=(), *, flat=False, confidence="max_prob"):
    def item(name, value):
        plain = {"metric": name, "value": value}
        full = {"name": {"name": name, "split": "test"}, "count": 1, "sum": value, "sum_squared": value**2, "mean": value}
        return plain if flat else full

    return [
        {
            "instance_id": f"id{i}",
            "train_trial_index": 0,
            "stats": [
                item("num_references", 4),
                *[item(n, v) for n, v in extra],
                *([item(confidence, p)] if confidence else []),
                item(flag, y),
            ],
        }
        for i, (p, y) in enumerate(STATISTICS)
    ]


@pytest.mark.parametrize("flat", [False, True], ids=["HELM", "metric and value"])
def test_named_statistics_are_confidence_and_flag(flat):
    predictions = one(helm(flat=flat))
    assert predictions.confidence.tolist() == [0.75, 0.5, 1.0, 0.25]
    assert predictions.correct.tolist() == [True, False, True, False]
    # one bin: mean confidence 5/8, accuracy 1/2
    assert analyze(predictions, Settings(n_bins=1)).to_dict()["ece"] == pytest.approx(1 / 8, abs=1e-12)
    roles = inspect_bytes(jsonl(helm(flat=flat)), "a").roles
    assert roles == {"correct": "stats[exact_match]", "confidence": "stats[max_prob]", "id": "instance_id"}


def test_the_exact_match_goes_before_other_flags_and_several_others_are_asked_about():
    looser = [("quasi_exact_match", 1.0), ("prefix_exact_match", 1.0)]
    assert one(helm(extra=looser)).correct.tolist() == [True, False, True, False]
    assert one(helm(flag="quasi_exact_match")).correct.tolist() == [True, False, True, False]
    other = helm(flag="quasi_prefix_match", extra=[("quasi_exact_match", 1.0)])
    assert asked(other) == ("correct", ("stats[quasi_exact_match]", "stats[quasi_prefix_match]"))
    assert one(other, correct="stats[quasi_prefix_match]").correct.tolist() == [True, False, True, False]
    told = one(helm(), confidence="stats[max_prob]", correct="stats[exact_match]")
    assert told.confidence.tolist() == [0.75, 0.5, 1.0, 0.25]


def test_statistics_without_a_probability_are_refused():
    refused(helm(confidence=None), "no probability such as max_prob")


def test_changed_copies_are_told():
    records = [r | {"perturbation": {"name": "typos"} if i % 2 else None} for i, r in enumerate(helm())]
    assert any("2 of 4 rows are changed copies" in n for n in one(records).notes)


# ---- answers with a grade


def graded(grades, confidences, **beside):
    return [
        {"id": i, "epoch": 1, "input": "q", "target": "A", "scores": {"choice": {"value": g, "answer": "A", "metadata": {"confidence": c}}}}
        | beside
        for i, (g, c) in enumerate(zip(grades, confidences, strict=True))
    ]


def test_inspect_logs_need_a_confidence():
    records = graded("CICC", [0.75, 0.5, 1.0, 0.75])
    predictions = one(records)
    assert predictions.correct.tolist() == [True, False, True, True]
    assert predictions.confidence.tolist() == [0.75, 0.5, 1.0, 0.75]
    assert asked(graded("CIPC", [0.75, 0.5, 1.0, 0.75])) == ("drop_label", ("P",))
    bare = [{**r, "scores": {"choice": {"value": r["scores"]["choice"]["value"], "answer": "A"}}} for r in records]
    refused(bare, r"which answers were right \('scores.choice.value'\), but holds no probability or confidence")
    two = graded("CI", [0.75, 0.5], metadata={"verbal_confidence": 0.5})
    assert asked(two) == ("confidence", ("scores.choice.metadata.confidence", "metadata.verbal_confidence"))
    told = one(two, confidence="metadata.verbal_confidence", correct="scores.choice.value")
    assert told.confidence.tolist() == [0.5, 0.5]
    flat = [{"sample": i, "score": g, "confidence": c} for i, (g, c) in enumerate(zip("CICI", [1.0, 0.5, 0.75, 0.25], strict=True))]
    assert one(flat).correct.tolist() == [True, False, True, False]
    refused([{"sample": i, "score": g} for i, g in enumerate("CICI")], "holds no probability or confidence")


def test_openai_evals_events_have_no_probability():
    events = [
        {"run_id": "r", "event_id": i, "type": "match", "data": {"correct": i % 2 == 0, "expected": "A", "picked": "A"}} for i in range(6)
    ]
    refused(events, "holds no probability or confidence")
    refused([{"spec": {"eval_name": "e"}}, *events, {"final_report": {"accuracy": 0.5}}], "holds no probability or confidence")
    sure = [{**e, "data": {**e["data"], "confidence": 0.5}} for e in events]
    assert one(sure).correct.tolist() == [True, False] * 3


def test_raw_logits_under_a_confidence_are_never_read():
    for header, low, high in (("confidence_level", 18, 25), ("confidence", -3, 9), ("conf", 40, 99)):
        rows = [f"{'Correct' if i % 3 else 'Wrong'} {low + (high - low) * i / 9}" for i in range(10)]
        data = "\n".join([f"grade {header}", *rows]).encode()
        assert asked(data)[0] == "scale"


def test_grades_of_other_words_are_left_out_on_request():
    for words, odd in (("Correct Wrong Unparseable", "Unparseable"), ("correct incorrect refused", "refused")):
        right, wrong, neither = words.split()
        data = f"grade confidence\n{right} 0.75\n{wrong} 0.5\n{neither} 0\n{right} 1\n".encode()
        assert asked(data) == ("drop_label", (odd,))
        predictions = one(data, drop_label=(odd,))
        assert predictions.confidence.tolist() == [0.75, 0.5, 1.0]
        assert predictions.correct.tolist() == [True, False, True]
        assert predictions.n_excluded == 1


def test_several_confidences_are_asked_about():
    rows = ["A,A,0.75,0.5", "B,C,0.5,0.25", "C,C,1,0.5"]
    data = "\n".join(["correct_answer,extracted_answer,verbal_confidence,logit_confidence", *rows]).encode()
    assert asked(data) == ("confidence", ("verbal_confidence", "logit_confidence"))
    assert one(data, confidence="verbal_confidence").confidence.tolist() == [0.75, 0.5, 1.0]
    both = read_bytes(data, "a", Mapping(confidence=("verbal_confidence", "logit_confidence")))
    assert [p.confidence.tolist() for p in both] == [[0.75, 0.5, 1.0], [0.5, 0.25, 0.5]]


@pytest.mark.parametrize(("engine", "letters"), [("toy-7b", "ABC"), ("gpt_x", "ABCDE")])
def test_token_probabilities_of_choices_are_divided_on_request_only(engine, letters):
    k = len(letters)
    header = ",".join(["0", "1", str(k + 1), f"{engine}_correct", *[f"{engine}_choice{c}_probs" for c in letters]])
    first = [0.4, *[0.4 / (k - 1)] * (k - 1)]  # adds up to 0.8
    rows = [",".join(["q", "x", letters[i % k], "True", *map(str, first)]) for i in range(6)]
    data = "\n".join([header, *rows]).encode()
    assert asked(data) == ("scale", ("unnormalised",))
    assert one(data, scale="unnormalised").probabilities[0] == pytest.approx([0.5, *[0.5 / (k - 1)] * (k - 1)], abs=1e-12)
