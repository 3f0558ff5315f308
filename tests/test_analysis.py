"""The numbers of one page and of a comparison: the schema, the settings that travel along, the notes."""

import json
import math
import re

import numpy as np
import pytest
import reference as ref

import calibcore as cc
from calibcore.predictions import Predictions
from calibcore.settings import REQUESTS

KEYS = [
    "name",
    "source",
    "task",
    "classes",
    "positive_class",
    "view",
    "n",
    "n_excluded",
    "weight_sum",
    "n_tied",
    "accuracy",
    "mean_confidence",
    "gap",
    "ece",
    "mce",
    "rmsce",
    "chance",
    "squared_error_debiased",
    "brier",
    "log_loss",
    "noise_floor",
    "ece_sweep",
    "smooth_ece",
    "corp",
    "murphy",
    "skill",
    "cumulative",
    "classical",
    "top_label_by_class",
    "threshold",
    "risk_coverage",
    "on_request",
    "interval_kinds",
    "sweep",
    "classwise",
    "bins",
    "bins_used",
    "detection",
    "pattern",
    "verdict",
    "notes",
    "views",
    "settings",
]
PATTERNS = [
    "uniform_overconfidence",
    "non_uniform_overconfidence",
    "confidence_collapse",
    "extreme_overconfidence",
    "uniform_underconfidence",
    "local_overconfidence",
    "local_underconfidence",
    "shifted",
    "none_detected",
    "too_few_rows",
    "unclear",
]
THREE = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]


def binary(**options):
    return Predictions.from_arrays(ref.D_Y, ref.floats(ref.D_P), **options)


def samples():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    yield binary()
    yield Predictions.from_arrays(y, p)
    yield Predictions.from_arrays(y, p.astype(np.float32), sample_weight=rng.gamma(1, 1, 300))
    yield Predictions.from_arrays(y, p.astype(np.float16))
    yield Predictions.from_arrays([0, 1, 2], THREE)
    yield Predictions.from_arrays([0, 1, 2] * 50, THREE * 50)
    yield Predictions.from_top_label(p, y)
    yield Predictions.from_arrays([1], [0.4])
    yield Predictions.from_arrays([0, 1] * 60, [1.0, 1.0] * 60)  # certain and half of it wrong
    yield Predictions.from_top_label([1.0] * 150 + [0.7] * 150, [1] * 149 + [0] + [1, 0] * 75)  # one certain row is wrong
    yield Predictions.from_arrays([0, 1] * 60, [0.0, 1.0] * 60)
    yield Predictions.from_arrays([1] * 120, [0.5] * 120)
    yield Predictions.from_arrays([0] * 120, [0.0] * 120)


def walk(value):
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        yield from walk(part)


@pytest.mark.parametrize("index", range(13))
@pytest.mark.parametrize("view", ["top_label", "other"])
def test_every_model_gives_the_schema_in_plain_numbers(index, view):
    model = list(samples())[index]
    unusual = ({"strategy": "equal_mass"}, {"strategy": "equal_mass", "ties": "share"}, {"edges": (0, 0.5, 1)}, {"closed": "left"})
    for options in ({}, unusual[(index + (view == "other")) % 4]):
        found = cc.analyze(model, cc.Settings(view=model.views[-1] if view == "other" else view, **options)).to_dict()
        assert set(KEYS) <= set(found)
        text = json.dumps(found, allow_nan=False)  # an undefined number is null, never NaN or infinite
        assert json.loads(text) == json.loads(json.dumps(found))
        assert not any(isinstance(v, float) and not math.isfinite(v) for v in walk(found))
        assert found["pattern"]["name"] in PATTERNS
        numbers = {"lower", "upper", "count", "confidence", "accuracy", "gap", "interval", "clopper_pearson", "jeffreys", "chance"}
        assert set(found["bins"][0]) == numbers
        assert sum(b["count"] for b in found["bins"]) == pytest.approx(found["n"])
        assert found["mce"]["count"] == found["bins"][found["mce"]["bin"]]["count"]
        assert 0 <= found["ece"] <= found["rmsce"] + 1e-12
        assert found["rmsce"] <= found["mce"]["value"] + 1e-12
        assert 0 < found["chance"]["p_value"] <= 1
        assert 0 < found["detection"]["p_value"] <= 1


def test_numbers_of_d():
    found = cc.analyze(binary(name="d"), cc.Settings(n_bins=5, view="positive")).to_dict()
    assert (found["name"], found["task"], found["classes"], found["positive_class"], found["view"]) == (
        "d",
        "binary",
        ["0", "1"],
        "1",
        "positive",
    )
    assert (found["n"], found["n_excluded"], found["weight_sum"], found["n_tied"], found["bins_used"]) == (10, 0, 10, 0, 5)
    assert found["accuracy"] == 0.6  # positive view: the base rate
    assert found["mean_confidence"] == pytest.approx(0.5, abs=1e-15)
    assert found["gap"]["value"] == pytest.approx(0.1, abs=1e-15)
    assert found["ece"] == pytest.approx(21 / 100, abs=1e-15)
    assert found["mce"] == {"value": pytest.approx(11 / 20, abs=1e-15), "bin": 2, "count": 1}
    assert found["rmsce"] == pytest.approx(math.sqrt(493 / 8000), abs=1e-15)
    assert found["brier"] == {"value": pytest.approx(13 / 80, abs=1e-15), "scale": "0 to 1"}
    assert found["log_loss"]["value"] == pytest.approx(0.4779411758, abs=1e-10)
    assert found["log_loss"]["clipped"] == 0
    assert found["chance"]["draws"] == 1000
    assert found["views"]["positive"] == {"ece": found["ece"], "mce": found["mce"]["value"]}
    assert found["sweep"]["n_bins"] == list(range(2, 101))
    assert found["sweep"]["equal_width"][3] == pytest.approx(found["ece"], abs=1e-15)
    assert found["sweep"]["equal_mass"][3] == pytest.approx(7 / 50, abs=1e-15)


def test_definition_6_a_binary_model_shows_both_views_and_a_multiclass_one_its_classes():
    found = cc.analyze(binary(), cc.Settings(n_bins=5)).to_dict()
    assert set(found["views"]) == {"top_label", "positive"}
    assert found["views"]["positive"]["ece"] == pytest.approx(21 / 100, abs=1e-15)
    assert found["views"]["top_label"]["ece"] == found["ece"]
    found = cc.analyze(Predictions.from_arrays([0, 0, 1], THREE), cc.Settings(n_bins=2)).to_dict()
    assert set(found["views"]) == {"top_label"}
    assert set(found["classwise"]["per_class"]) == {"0", "1", "2"}
    assert found["classwise"]["per_class"]["2"]["n"] == 0  # a class that no row has is still counted
    # class 0: (0, ½] holds 0.2 and 0.1 (one of them is class 0), (½, 1] holds 0.7 → (|1 − 0.3| + 0.3)/3
    assert found["classwise"]["per_class"]["0"]["ece"] == pytest.approx(1 / 3, abs=1e-15)


def test_measures_of_d():
    # the ten rows D in five bins; every value is a fraction or a root, derived where the measure is tested
    found = cc.analyze(binary(), cc.Settings(n_bins=5, view="positive", threshold=0.5)).to_dict()
    assert found["squared_error_debiased"]["value"] == pytest.approx(-169 / 4000, abs=1e-12)
    assert found["squared_error_debiased"]["root"] == 0.0
    assert (found["ece_sweep"]["n_bins"], found["ece_sweep"]["value"]) == (5, pytest.approx(7 / 50, abs=1e-12))
    assert found["smooth_ece"]["value"] == pytest.approx(0.1091964662, abs=1e-6)
    corp = {"score": 13 / 80, "mcb": 1 / 16, "dsc": 7 / 50, "unc": 6 / 25}
    assert {k: found["corp"][k] for k in corp} == pytest.approx(corp, abs=1e-12)
    assert found["corp"]["log_loss"]["mcb"] == pytest.approx(0.2006823036, abs=1e-9)
    murphy = {"rel": 493 / 8000, "res": 37 / 300, "unc": 6 / 25, "wbv": 61 / 24000, "wbc": 11 / 600}
    assert {k: found["murphy"][k] for k in murphy} == pytest.approx(murphy, abs=1e-12)
    assert found["skill"]["brier"] == pytest.approx(31 / 96, abs=1e-12)
    assert (found["cumulative"]["mad"], found["cumulative"]["range"]) == pytest.approx((1 / 10, 3 / 25), abs=1e-12)
    assert found["classical"]["observed_expected"]["value"] == pytest.approx(6 / 5, abs=1e-12)
    assert found["classical"]["spiegelhalter"]["z"] == pytest.approx((1 / 20) / (1461 / 4000) ** 0.5, abs=1e-9)
    assert found["noise_floor"]["drawn"] == pytest.approx(24253 / 100000, abs=0.01)  # 1,000 draws; their mean has an error of 0.002
    # five rows above ½ (11, 13, 16, 18 and 19 twentieths): 23/20 errors expected, one found
    assert (found["threshold"]["acted"]["errors_expected"], found["threshold"]["acted"]["errors_found"]) == (pytest.approx(23 / 20), 1.0)


def test_what_is_computed_on_request():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    options = {"groups": {"site": np.repeat(["a", "b"], 200)}, "time": np.repeat([2023, 2024], 200)}
    model = Predictions.from_arrays((rng.random(400) < p).astype(int), p, **options)
    found = cc.analyze(model, cc.Settings(on_request=REQUESTS)).to_dict()["on_request"]
    assert tuple(found) == REQUESTS
    assert json.loads(json.dumps(found, allow_nan=False)) == json.loads(json.dumps(found))
    assert [g["name"] for g in found["groups"]["site"]["groups"]] == ["a", "b"]
    assert [p["name"] for p in found["periods"]["periods"]] == ["2023", "2024"]
    assert found["reconcile"][0]["tool"] == "calibcore"
    with pytest.raises(cc.InputError, match="nothing called 'ece'"):
        cc.Settings(on_request="ece")
    with pytest.raises(cc.InputError, match="holds no rows"):
        cc.analyze(model.profile(), cc.Settings(on_request="remedies"))


def test_definition_10_every_number_carries_its_settings():
    settings = cc.Settings(n_bins=7, strategy="equal_mass", closed="left", ties="share", view="positive", level=0.9, seed=3)
    named = {"n_bins": 7, "strategy": "equal_mass", "closed": "left", "ties": "share", "view": "positive", "level": 0.9, "seed": 3}
    others = {"edges": None, "threshold": None, "cost_error": None, "cost_review": None, "on_request": []}
    assert cc.analyze(binary(), settings).to_dict()["settings"] == {**named, **others}
    custom = cc.Settings(edges=[0, 0.5, 1])
    assert (custom.strategy, custom.to_dict()["edges"]) == ("custom", [0.0, 0.5, 1.0])


def test_numpy_settings_are_plain_numbers_in_json():
    settings = cc.Settings(n_bins=np.int64(5), seed=np.int64(3), level=np.float32(0.5), edges=np.array([0, 0.5, 1]))
    assert json.loads(json.dumps(settings.to_dict()))["n_bins"] == 5


def test_definition_10_a_profile_is_analysed_in_its_own_view():
    a = cc.analyze(binary().profile("positive"), cc.Settings(n_bins=5))
    assert (a.view, a.to_dict()["settings"]["view"]) == ("positive", "positive")
    assert a.ece == pytest.approx(21 / 100, abs=1e-15)
    three = Predictions.from_arrays([0, 1, 2], THREE)
    assert cc.analyze(three.profile("class:1")).brier_scale == cc.analyze(three, cc.Settings(view="class:1")).brier_scale == "0 to 1"


def test_a_profile_made_of_rows_alone_has_no_false_scores():
    # 0.3 and right, 0.6 and wrong: Brier (0.49 + 0.36)/2; zero would be a false number
    a = cc.analyze(cc.Profile.from_rows(np.array([0.3, 0.6]), np.array([True, False])))
    assert a.brier is None or math.isnan(a.brier) or a.brier == pytest.approx(0.425, abs=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 0}, "whole number from 1 to 10,000"),
        ({"n_bins": 2.5}, "whole number"),
        ({"strategy": "x"}, "strategy must be one of equal_width, equal_mass, custom; got 'x'"),
        ({"strategy": "custom"}, "needs edges from 0 to 1"),
        ({"closed": "x"}, "closed must be one of right, left; got 'x'"),
        ({"ties": "x"}, "ties must be one of together, share; got 'x'"),
        ({"level": 95}, "level must be a fraction between 0 and 1"),
        ({"level": 1.0}, "level must be a fraction"),
        ({"seed": -1}, "seed must be a whole number from 0 up"),
        ({"seed": 1.5}, "seed must be"),
        ({"edges": (0, 0.9, 0.8, 1)}, "0.8 comes after 0.9"),
        ({"edges": "0,1"}, "Edges must be numbers"),
    ],
)
def test_settings_that_cannot_be_used(options, message):
    with pytest.raises(cc.InputError, match=message):
        cc.Settings(**options)


def test_settings_and_analyses_are_frozen():
    with pytest.raises(AttributeError):
        cc.Settings().n_bins = 3
    with pytest.raises(AttributeError):
        cc.analyze(binary()).n = 3


def test_a_view_that_the_model_lacks():
    with pytest.raises(cc.InputError, match=r"There is no view 'positive' of m; it has top_label"):
        cc.analyze(Predictions.from_top_label([0.9], [1], name="m"), cc.Settings(view="positive"))


@pytest.mark.parametrize(
    ("model", "settings", "note"),
    [
        (Predictions.from_arrays([1], [0.4]), {}, "One row only: the numbers carry no information."),
        (Predictions.from_arrays([1, 1], [0.4, 0.6]), {}, "Every label is 1; the figures say little about other outcomes."),
        (Predictions.from_arrays([1, 0], [0.6, 0.6]), {}, "All scores are 0.6: everything falls in one bin, so there is no curve to draw."),
        (Predictions.from_arrays([1, 0], [0.5, 0.6]), {}, "1 row share the largest probability|1 row shares the largest probability"),
        (Predictions.from_top_label([0.8] * 6, [1, 1, 0, 0, 0, 0]), {"n_bins": 5, "strategy": "equal_mass"}, "5 bins asked for, 1 usable"),
        (Predictions.from_top_label([1.0, 1.0, 0.7], [1, 0, 1]), {}, "2 rows claim exactly 100%; 1 of them was wrong"),
        (Predictions.from_top_label([1.0, 0.7], [0, 1]), {}, "1 row claims exactly 100%; it was wrong, which the model rules out"),
        (Predictions.from_arrays([0, 1], [1.0, 0.75]), {}, r"raised to 2⁻⁵² for 1 row\."),
        (Predictions.from_arrays([0, 1], [0.9, 0.75], sample_weight=[1, 3]), {}, "effective number of 2 rows"),
    ],
)  # fmt: skip
def test_definition_9_notes(model, settings, note):
    notes = cc.analyze(model, cc.Settings(**settings)).notes
    assert any(re.search(note, n) for n in notes), notes


def test_nothing_to_note():
    assert cc.analyze(binary()).notes == ()


def test_comparison():
    half = [(p + 0.6) / 2 for p in ref.floats(ref.D_P)]
    a, b = binary(name="a"), Predictions.from_arrays(ref.D_Y, half, name="b")
    found = cc.compare([a, b], cc.Settings(n_bins=5, view="positive"))
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (document["schema"], document["version"]) == (1, cc.__version__)
    assert [m["name"] for m in document["models"]] == ["a", "b"]
    comparison = document["comparison"]
    assert (comparison["baseline"], comparison["paired"], comparison["n_common"], comparison["n_only"]) == ("a", True, 10, {"a": 0, "b": 0})
    (difference,) = comparison["differences"]
    assert difference["model"] == "b"
    assert difference["brier"]["value"] == pytest.approx(21 / 1600, abs=1e-14)
    assert difference["ece"]["value"] == pytest.approx(document["models"][1]["ece"] - 0.21, abs=1e-14)
    assert set(difference["ece"]) == {"value"}  # never an interval
    turned = cc.compare([a, b], cc.Settings(view="positive"), baseline="b").to_dict()["comparison"]
    assert turned["differences"][0]["brier"]["value"] == pytest.approx(-21 / 1600, abs=1e-14)
    assert [m["name"] for m in cc.compare([a, b], baseline="b").to_dict()["models"]] == ["a", "b"]


def test_a_model_compared_with_itself_differs_by_nothing():
    comparison = cc.compare([binary(name="a"), binary(name="b")]).to_dict()["comparison"]
    assert comparison["differences"][0]["ece"]["value"] == 0
    assert comparison["differences"][0]["log_loss"] == {"value": 0, "low": 0, "high": 0}


def test_comparisons_that_cannot_be_made():
    with pytest.raises(cc.InputError, match="nothing to compare"):
        cc.compare([])
    with pytest.raises(cc.InputError, match="Two models are called 'a'"):
        cc.compare([binary(name="a"), binary(name="a")])
    with pytest.raises(cc.InputError, match="There is no model 'z' to compare with; there are a, b"):
        cc.compare([binary(name="a"), binary(name="b")], baseline="z")


def test_the_same_input_gives_the_same_numbers():
    model = list(samples())[1]
    again = list(samples())[1]
    assert cc.analyze(model).to_dict() == cc.analyze(again).to_dict() == cc.analyze(model).to_dict()


def test_ece_difference_on_the_rows_that_both_have():
    # shared ids 0–3. First: two rows at 0.9 right, two at 0.3 of which one right: ECE (2·0.1 + 2·0.2)/4 = 0.15; second: all at 0.5,
    # three right: 0.25. The first model's two further rows are certain and wrong, which is no difference between the models.
    y = [1, 1, 1, 0]
    first = Predictions.from_arrays([*y, 0, 0], [0.9, 0.9, 0.3, 0.3, 0.99, 0.99], ids=range(6), name="first")
    second = Predictions.from_arrays(y, [0.5] * 4, ids=range(4), name="second")
    found = cc.compare([first, second], cc.Settings(n_bins=10, view="positive"))
    assert found.ece_difference("second") == pytest.approx(0.25 - 0.15, abs=1e-12)
    assert found.to_dict()["comparison"]["differences"][0]["ece"]["value"] == pytest.approx(0.1, abs=1e-12)
    assert "second and first share 4 rows" in found.differences[0].notes[0]
