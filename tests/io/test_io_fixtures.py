"""Sample files with known figures: each is read unaided to its sidecar's values, or asks what the file does not say."""

import json
from pathlib import Path

import numpy as np
import pytest

from calibcore.analysis import Settings, analyze
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect, read
from calibcore.partition import Partition

FIXTURES = Path(__file__).parent.parent / "data" / "fixtures"
CASES = Path(__file__).parent.parent / "data" / "cases"
READ = {
    "true_pred_confidence": "Read as: label = true_label, predicted = pred_label, confidence = confidence.",
    "sk_multiclass_names": "Read as: label = label, probabilities = bird + cat + dog.",
    "csv_many_features": "Read as: label = outcome, probability = pred_proba, positive class = 1.",
    "mlr3_binary": "Read as: label = truth, predicted = response, probabilities = prob.neg + prob.pos, positive class = pos.",
    "evidently_multiclass": "Read as: label = target, predicted = prediction, probabilities = setal + versal + virgal.",
    "csv_gz": "Read as: label = y, probabilities = proba_a + proba_b + proba_c.",
    "weather_pop_percent": "Read as: label = obs, probability = pop, positive class = 1, scale = percent.",
    "parquet_mixed_types": "Read as: label = is_fraud, probability = fraud_probability, positive class = True.",
    "weka_prediction": "Read as: label = actual, predicted = predicted, confidence = prediction.",
    "weka_distribution_tab_attr": "Read as: label = actual, predicted = predicted, "
    "probabilities = distribution[tested_negative] + distribution[tested_positive], positive class = tested_positive.",
    "spss_modeler": "Read as: label = churn, predicted = $L-churn, probabilities = $LP-F + $LP-T, positive class = T.",
    "one_hot_labels": "Read as: label = y_*, probabilities = p_0 + p_1 + p_2 + p_3.",
    "excel_title_rows": "Read as: label = Actual, probability = P(renewed), positive class = renewed, id = Policy (different in every row).",  # noqa: E501
    "wandb_table": "Read as: label = truth, predicted = guess, probabilities = score_cat + score_dog + score_fox.",
    "logit_columns": "Read as: label = label, probabilities = logit_0 + logit_1 + logit_2 + logit_3, scale = logit.",
}
ASKED = {
    "ambiguous_positive": ("positive", "malignant"),
    "logit_column": ("scale", "logit"),
    "two_label_columns": ("label", "label_adjudicated"),
    "sk_integer_headers_text_labels": ("classes", "amber,green,red"),
}
# what the cases' text says: binary set and three-class set, 5 equal-width bins
BINARY_ECE, THREE_ECE = 79 / 600, 21 / 100


def sidecar(name):
    return json.loads((FIXTURES / f"{name}.expect.json").read_text())


def path_of(name):
    return FIXTURES / sidecar(name)["files"][0]


def figures(predictions):
    profile = predictions.profile("top_label")
    return {
        "n": profile.n,
        "accuracy": np.average(predictions.correct, weights=predictions.weight),
        "mean_confidence": np.average(predictions.confidence, weights=predictions.weight),
        "top_label_ece_15_equal_width_right_closed": profile.bin(Partition.equal_width(15)).ece,
        "top_label_ece_15_equal_mass": profile.bin(Partition.equal_mass(profile, 15)).ece,
    }


def check(found, expect):
    for key, value in found.items():
        wanted = [expect[key], *([expect["as_written"][key]] if "as_written" in expect else [])]
        assert any(value == pytest.approx(w, abs=1e-9) for w in wanted), key


@pytest.mark.parametrize("name", READ)
def test_fixture_is_read_unaided(name):
    (predictions,) = read(path_of(name))
    check(figures(predictions), sidecar(name))


@pytest.mark.parametrize(("name", "sentence"), READ.items())
def test_sentence_tells_how_a_file_is_read(name, sentence):
    layout = inspect(path_of(name))
    assert layout.sentence == sentence
    assert not layout.questions


@pytest.mark.parametrize(("name", "answer"), ASKED.items())
def test_fixture_asks_with_the_best_offer_first_and_reads_with_it(name, answer):
    field, best = answer
    with pytest.raises(AmbiguousLayout) as raised:
        read(path_of(name))
    (question,) = raised.value.questions
    assert (question.id, question.options[0]) == (field, best)
    given = tuple(best.split(",")) if field == "classes" else best
    (predictions,) = read(path_of(name), mapping=Mapping(**{field: given}))
    check(figures(predictions), sidecar(name))


@pytest.mark.parametrize("name", ["sk_multiclass_names", "mlr3_binary", "evidently_multiclass", "csv_many_features"])
def test_fixture_is_read_the_same_when_told(name):
    expect = sidecar(name)
    told = Mapping(
        label=expect["roles"]["label"],
        predicted=expect["roles"].get("predicted"),
        probabilities=expect["roles"]["probabilities"],
        positive=expect["positive_class"],
        scale="fraction",
    )
    (predictions,) = read(path_of(name), mapping=told)
    check(figures(predictions), expect)


def test_each_value_of_a_model_column_is_a_model():
    models = read(path_of("long_binary_multimodel"))
    assert [m.name for m in models] == ["baseline", "challenger"]
    for m in models:
        check(figures(m), sidecar("long_binary_multimodel")["models"][m.name])


def test_scores_make_the_outcome_and_the_likelier_order_is_offered_first():
    for answers, field, best in (({}, "outcome", "score1 > score2"), ({"outcome": "score1 > score2"}, "classes", "True,False")):
        with pytest.raises(AmbiguousLayout) as raised:
            read(path_of("fte_scores"), mapping=Mapping(**answers))
        (question,) = raised.value.questions
        assert (question.id, question.options[0]) == (field, best)
    (predictions,) = read(path_of("fte_scores"), mapping=Mapping(outcome="score1 > score2", classes=("True", "False")))
    check(figures(predictions), sidecar("fte_scores"))


def test_each_model_of_a_long_form_is_a_model():
    models = read(path_of("long_multimodel"))
    assert [m.name for m in models] == ["glm", "gbm"]
    for m in models:
        check(figures(m), sidecar("long_multimodel")["models"][m.name])


def test_missing_values_are_refused_and_left_out_on_request():
    path = path_of("missing_values")
    with pytest.raises(InputError, match=r"rows have no value in 'probability' \(row 16 is the first\).*missing=\"drop\""):
        read(path)
    (predictions,) = read(path, mapping=Mapping(missing="drop"))
    expect = sidecar("missing_values")
    check(figures(predictions), expect)
    assert predictions.n_excluded == expect["n_dropped"]
    assert any(f"{expect['n_dropped']} of 180 rows left out" in n for n in predictions.notes)


@pytest.mark.parametrize(
    "name", ["F02_bom_quoted_header.csv", "F03_trailing_comma.csv", "F10b_UPPER.CSV", "F10c_really_csv.parquet", "F10d_jsonl_named.json"]
)
def test_binary_set_in_every_container(name):
    (predictions,) = read(CASES / name)
    found = analyze(predictions, Settings(n_bins=5, view="positive")).to_dict()
    assert found["ece"] == pytest.approx(BINARY_ECE, abs=1e-12)
    assert found["brier"]["value"] == pytest.approx(8023 / 60000, abs=1e-12)


@pytest.mark.parametrize(
    "name", ["F09a_cp1252.csv", "F09b_utf16_tab.txt", "F13a_unnamed_index.csv", "F13b_index_level.parquet", "F13c_pandas_index.parquet"]
)
def test_three_class_set_in_every_encoding_and_with_every_index(name):
    (predictions,) = read(CASES / name)
    assert analyze(predictions, Settings(n_bins=5)).to_dict()["ece"] == pytest.approx(THREE_ECE, abs=1e-12)


def test_class_columns_in_dictionary_order_are_matched_by_name():
    (predictions,) = read(CASES / "V10_lexical_columns.csv")
    found = analyze(predictions, Settings(n_bins=10)).to_dict()
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["ece"] == pytest.approx(0.37)
    assert predictions.classes == tuple(str(i) for i in range(12))


def test_index_columns_are_ignored_visibly():
    layout = inspect(CASES / "F13c_pandas_index.parquet")
    assert layout.ignored == ("__index_level_0__",)
    assert "Ignored as saved row numbers: __index_level_0__." in layout.notes


def test_markup_in_names_is_kept_letter_by_letter():
    names = ("<img src=x onerror=alert(1)>", "<b>ok</b> $a_1$ [x](javascript:alert(1)) :red[y]")
    with pytest.raises(AmbiguousLayout) as raised:
        read(CASES / "A08_markup_names.csv")
    assert set(raised.value.questions[0].options) == set(names)
    (predictions,) = read(CASES / "A08_markup_names.csv", mapping=Mapping(positive=names[0]))
    assert predictions.classes == (names[1], names[0])


def test_one_row_is_read():
    (predictions,) = read(CASES / "F12d_one_row.csv")
    assert analyze(predictions, Settings(n_bins=5, view="positive")).to_dict()["ece"] == pytest.approx(0.19)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("F07a_duplicate_header.csv", "Two columns are called p"),
        ("F07b_collision.csv", "Two columns are called p"),
        ("F08a_vector_json.csv", "Column 'probs' holds 3 numbers in each cell, and nothing says which class each one stands for"),
        ("F08b_vector_numpy.csv", "Column 'probs' holds 3 numbers in each cell, and nothing says which class each one stands for"),
        ("F08c_vector_truncated.csv", r"Row 1 of column 'probs': the vector was cut with '\.\.\.'"),
        ("F12a_zero_bytes.csv", "The file is empty"),
        ("F12b_header_only.csv", "no data rows"),
        ("F12c_bom_only.csv", "The file is empty"),
    ],
)
def test_faulty_file_is_refused_in_one_sentence_with_its_name(name, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        read(CASES / name)
    assert str(raised.value).startswith(name)
    assert "\n" not in str(raised.value)
