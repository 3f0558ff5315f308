"""Publicly reported failure cases of calibration statistics (data/cases.json): each with its exact value."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import calibcore as cc
from calibcore.predictions import Predictions

CASES = {f"{c['id']}-{c['variant']}": c for c in json.loads((Path(__file__).parent / "data" / "cases.json").read_text(encoding="utf-8"))}
SIDES = ("right", "left")
LEXICAL = """id,label,p_0,p_1,p_10,p_11,p_2,p_3,p_4,p_5,p_6,p_7,p_8,p_9
r1,2,0.03,0.03,0.03,0.03,0.67,0.03,0.03,0.03,0.03,0.03,0.03,0.03
r2,10,0.02,0.02,0.78,0.02,0.02,0.02,0.02,0.02,0.02,0.02,0.02,0.02
r3,4,0.04,0.04,0.04,0.04,0.04,0.56,0.04,0.04,0.04,0.04,0.04,0.04
"""  # the file of case V10: columns in dictionary order


def floats(texts):
    return np.array([float(t) for t in texts])


def fraction(expected):
    return float(Fraction(expected["fraction"]))


def model_of(case):
    given = case["input"]
    weight = floats(given["weight"]) if "weight" in given else None
    if "confidence" in given:
        return Predictions.from_top_label(floats(given["confidence"]), given["correct"], sample_weight=weight)
    if "p_positive" in given:
        return Predictions.from_arrays(
            given["label"], floats(given["p_positive"]).astype(given.get("dtype", "float64")), sample_weight=weight
        )
    return Predictions.from_arrays(given["label"], np.array([floats(row) for row in given["p"]]), classes=given.get("classes"))


def view_of(case):
    return (
        "top_label"
        if "confidence" in case["input"] or case["params"].get("mode") in ("top_label", "classwise") or "p" in case["input"]
        else "positive"
    )


BINNED = [
    k for k, c in CASES.items() if c["id"][0] in "NVPS" and "ece" in c["expect"] and "n_bins" in c["params"] and "file" not in c["input"]
]


def test_there_are_enough_cases():
    assert len(BINNED) >= 12
    assert len([c for c in CASES.values() if c["id"][0] in "NVPS"]) == 35


@pytest.mark.parametrize("closed", SIDES)
@pytest.mark.parametrize("key", BINNED)
def test_binned_case(key, closed):
    case = CASES[key]
    expected, params = case["expect"], case["params"]
    settings = cc.Settings(n_bins=params["n_bins"], strategy=params["strategy"], closed=closed, view=view_of(case))
    a = cc.analyze(model_of(case), settings)
    b = a.bins
    assert a.ece == pytest.approx(fraction(expected["ece"]), abs=1e-14)
    assert b.mce == pytest.approx(fraction(expected["mce"]), abs=1e-14)
    assert b.used == expected["bins_used"]
    if "brier" in expected:
        assert a.brier == pytest.approx(fraction(expected["brier"]), abs=1e-14)
    rows = expected.get("bins", [])
    if rows:
        assert b.count.tolist() == [r["count"] for r in rows]
        for name, values in (("mean_conf", b.confidence), ("mean_acc", b.accuracy), ("gap", b.gap)):
            for row, value in zip(rows, values, strict=True):
                assert math.isnan(value) if row[name] is None else value == pytest.approx(float(row[name]), abs=1e-12)
    for wrong in case.get("known_wrong", {}).values():
        if isinstance(wrong, dict):
            assert a.ece != pytest.approx(float(Fraction(wrong.get("ece", wrong)["fraction"])), abs=1e-6)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("N09-zero-total", "sum must be positive"),
        ("N09-negative", "weight in row 2 is negative"),
        ("V02-declared-probability", r"Rows 1 and 4: probabilities outside \[0, 1\] \(-1.2, 2\)"),
        ("V03-half", "Row 1 sums to 0.5, not 1"),
        ("V04-real", r"Row 1: confidences outside \[0, 1\] \(1.02\)"),
        ("V05-label-without-column", r"Label '3' \(row 3\) has no probability column"),
        ("V09-a", r"1 of 4 confidences missing \(row 2\)"),
    ],
)
def test_refused_case(key, message):
    with pytest.raises(cc.InputError, match=message):
        model_of(CASES[key])


@pytest.mark.parametrize("key", ["N11-certain-and-right", "N11-certain-and-wrong"])
def test_n11_log_loss(key):
    case = CASES[key]
    a = cc.analyze(model_of(case))
    wrong = key.endswith("wrong")
    expected = case["expect"]["or_if_clipped_at_2^-52"] if wrong else case["expect"]["log_loss"]
    assert a.log_loss == pytest.approx(expected["value"], abs=1e-12)
    assert (a.clipped, a.n) == (int(wrong), 2)


@pytest.mark.parametrize("closed", SIDES)
@pytest.mark.parametrize("key", ["N13-a", "V05-a"])
def test_classwise_case(key, closed):
    case = CASES[key]
    expected = case["expect"]
    a = cc.analyze(model_of(case), cc.Settings(n_bins=case["params"]["n_bins"], closed=closed))
    assert list(a.classwise.per_class.values()) == pytest.approx([fraction(e) for e in expected["per_class_ece"]], abs=1e-14)
    assert a.classwise.mean == pytest.approx(fraction(expected["classwise_ece_mean"]), abs=1e-14)
    top = expected["top_label"]["ece"] if "top_label" in expected else expected["top_label_ece"]
    assert a.ece == pytest.approx(fraction(top), abs=1e-14)
    if key == "V05-a":
        assert a.bins.mce == pytest.approx(fraction(expected["top_label"]["mce"]), abs=1e-14)
        assert a.classwise.rows == {"0": 1, "1": 0, "2": 2}
    else:
        worst = [cc.analyze(model_of(case), cc.Settings(n_bins=5, closed=closed, view=f"class:{k}")).bins.mce for k in range(3)]
        assert max(worst) == pytest.approx(fraction(expected["classwise_mce_max"]), abs=1e-14)


def csv(header, *columns):
    return (header + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n").encode()


@pytest.mark.parametrize("closed", SIDES)
def test_v02_declared_logits(closed):
    case = CASES["V02-declared-logit"]
    given, expected = case["input"], case["expect"]
    (model,) = cc.read(csv("y,z", given["label"], given["logit"]), mapping=cc.Mapping(label="y", probabilities="z", scale="logit"))
    assert model.rows("positive")[0].tolist() == pytest.approx(floats(expected["p"]).tolist(), abs=1e-14)
    a = cc.analyze(model, cc.Settings(n_bins=5, closed=closed, view="positive"))
    assert a.brier == pytest.approx(expected["brier"]["value"], abs=1e-14)
    assert a.ece == pytest.approx(fraction(expected["ece_5_bins"]), abs=1e-14)


def test_v02_logits_inside_the_unit_interval_are_never_guessed():
    # 0.2, 0.9, 0.4 are taken as the probabilities that they are declared to be, unchanged
    given = CASES["V02-logits-inside-unit-interval"]["input"]
    assert Predictions.from_arrays(given["label"], floats(given["score"])).rows("positive")[0].tolist() == [0.2, 0.9, 0.4]


def test_v03_rounded_rows_are_used_as_written():
    model = model_of(CASES["V03-rounded"])
    assert model.probabilities.tolist() == [[0.333, 0.333, 0.333], [0.667, 0.167, 0.167]]
    assert any("2 rows do not add up to exactly 1" in n for n in model.notes)


def test_v04_noise_is_counted():
    assert any(n.startswith("2 values a hair outside [0, 1]") for n in model_of(CASES["V04-noise"]).notes)


@pytest.mark.parametrize("closed", SIDES)
def test_v09_missing_confidence_left_out_on_request(closed):
    given, expected = CASES["V09-a"]["input"], CASES["V09-a"]["expect"]["if_user_drops"]
    data = csv("ok,c", given["correct"], ["" if t == "nan" else t for t in given["confidence"]])
    with pytest.raises(cc.InputError, match="1 of 4"):
        cc.read(data, mapping=cc.Mapping(correct="ok", confidence="c"))
    (model,) = cc.read(data, mapping=cc.Mapping(correct="ok", confidence="c", missing="drop"))
    a = cc.analyze(model, cc.Settings(n_bins=5, closed=closed))
    assert (a.n, a.n_excluded, a.bins.used) == (3, 1, expected["bins_used"])
    assert a.ece == pytest.approx(fraction(expected["ece"]), abs=1e-14)
    assert a.bins.mce == pytest.approx(fraction(expected["mce"]), abs=1e-14)


def test_v09_missing_label():
    given = CASES["V09-label"]["input"]
    labels = [t or None for t in given["label"]]
    with pytest.raises(cc.InputError, match=r"1 of 2 labels missing \(row 2\)"):
        Predictions.from_arrays(np.array(labels, dtype=object), floats(given["confidence"]))


@pytest.mark.parametrize("closed", SIDES)
def test_v10_columns_in_dictionary_order(closed):
    expected = CASES["V10-a"]["expect"]
    (model,) = cc.read(LEXICAL.encode())
    a = cc.analyze(model, cc.Settings(n_bins=10, closed=closed))
    assert a.accuracy == pytest.approx(fraction(expected["accuracy"]), abs=1e-15)
    assert a.ece == pytest.approx(fraction(expected["ece"]), abs=1e-14)
    assert a.bins.mce == pytest.approx(fraction(expected["mce"]), abs=1e-14)
    assert a.bins.used == expected["bins_used"]


def interval(k, n, p, level=0.95):
    b = cc.bin_statistics(np.arange(n) < k, np.full(n, p), n_bins=1)
    return [float(end[0]) for end in b.interval(level)], [float(end[0]) for end in b.calibrated_range(level)]


def test_s01_two_kinds_of_error_bar():
    given, expected = CASES["S01-a"]["input"], CASES["S01-a"]["expect"]
    observed, calibrated = interval(given["positives"], given["bin_count"], float(given["mean_conf"]))
    assert observed == pytest.approx(floats(expected["wilson_around_observed"]).tolist(), abs=1e-12)
    assert calibrated == pytest.approx(floats(expected["range_expected_if_calibrated"]).tolist(), abs=1e-12)


@pytest.mark.parametrize("key", ["S03-0of7", "S03-1of12"])
def test_s03_wilson_stays_inside(key):
    given, expected = CASES[key]["input"], CASES[key]["expect"]
    assert interval(given["correct"], given["n"], 0.5)[0] == pytest.approx(floats(expected["wilson"]).tolist(), abs=1e-12)


def test_p05_tiny_bins_have_wide_intervals():
    expected = CASES["P05-a"]["expect"]
    low, high = model_of(CASES["P05-a"]).profile().bin(cc.Partition.equal_width(10)).interval()
    one, none = floats(expected["wilson_95_for_1_of_1"]), floats(expected["wilson_95_for_0_of_1"])
    assert [low[0], high[0], low[1], high[1], low[9], high[9]] == pytest.approx([*one, *none, *one], abs=1e-12)


def test_s05_ece_of_a_perfect_model_is_not_zero():
    case = CASES["S05-a"]
    a = cc.analyze(model_of(case), cc.Settings(n_bins=10))
    assert a.ece == fraction(case["expect"]["plug_in_ece"])
    assert "interval" not in a.to_dict()["mce"]
    assert a.chance.p95 == 0.5  # |k/4 − ½| = ½ has probability 1/8


@pytest.mark.parametrize("closed", SIDES)
def test_s07_the_number_of_bins_decides(closed):
    case = CASES["S07-a"]
    model = model_of(case)
    for m, expected in case["expect"]["ece_by_n_bins"].items():
        assert cc.analyze(model, cc.Settings(n_bins=int(m), closed=closed)).ece == pytest.approx(fraction(expected), abs=1e-14)
