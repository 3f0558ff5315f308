"""The sample files are what assets/README.md says they are, byte for byte and by direct counts."""

import csv
import math
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

ASSETS = Path(__file__).parents[2] / "assets"
BINARY = ("steady-v1", "swift-v2", "mixed-v3", "timid-v4", "certain-v5")
WEATHER = ("weather-steady-v1", "weather-swift-v2")
CLASSES = ("clear", "cloudy", "rain", "snow")


def rows_of(name):
    with (ASSETS / f"{name}.csv").open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def top_label(name):
    """Return (confidence, correct) per row, in order of confidence."""
    rows = rows_of(name)
    if name in BINARY:
        pairs = [(max(p, 1 - p), int((p > 0.5) == (row["y_true"] == "1"))) for row in rows for p in [float(row["y_prob"])]]
    else:
        best = [max(CLASSES, key=lambda c, row=row: float(row[f"prob_{c}"])) for row in rows]
        pairs = [(float(row[f"prob_{c}"]), int(c == row["y_true"])) for row, c in zip(rows, best, strict=True)]
    return sorted(pairs)


def gap(pairs):
    return sum(correct - confidence for confidence, correct in pairs) / len(pairs)


def share(pairs, condition):
    return sum(condition(confidence) for confidence, _ in pairs) / len(pairs)


def largest_z_of_tenths(pairs):
    """Return the largest |hits − expected| ÷ standard deviation among ten groups of 400 rows in order."""
    groups = [pairs[start : start + 400] for start in range(0, 4_000, 400)]
    return max(abs(sum(hit - p for p, hit in group)) / math.sqrt(sum(p * (1 - p) for p, _ in group)) for group in groups)


def test_the_script_writes_the_committed_bytes(tmp_path):
    subprocess.run([sys.executable, str(ASSETS / "make_samples.py"), str(tmp_path)], check=True, stdin=subprocess.DEVNULL)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {f"{name}.csv": (ASSETS / f"{name}.csv").read_bytes() for name in BINARY + WEATHER}
    assert sum(map(len, written.values())) < 3_000_000


def test_every_sample_is_explained():
    text = (ASSETS / "README.md").read_text(encoding="utf-8")
    assert {f"{name}.csv" for name in BINARY + WEATHER} == {path.name for path in ASSETS.glob("*.csv")}
    assert all(f"`{name}.csv`" in text for name in BINARY + WEATHER)


@pytest.mark.parametrize("names", [BINARY, WEATHER])
def test_models_are_paired(names):
    shared = [[(row["id"], row["y_true"], row["region"], row.get("channel")) for row in rows_of(name)] for name in names]
    assert all(other == shared[0] for other in shared)
    assert [row[0] for row in shared[0]] == [str(number) for number in range(1, 4_001)]


@pytest.mark.parametrize("name", BINARY)
def test_binary_columns(name):
    rows = rows_of(name)
    assert list(rows[0]) == ["id", "y_true", "y_prob", "region", "channel"]
    assert {row["y_true"] for row in rows} == {"0", "1"}
    # No tie, and nothing that log loss would have to raise.
    assert all(0 < Decimal(row["y_prob"]) < 1 and Decimal(row["y_prob"]) != Decimal("0.5") for row in rows)
    assert {row["region"] for row in rows} == {"north", "east", "south", "west"}
    assert {row["channel"] for row in rows} == {"web", "app", "phone"}


@pytest.mark.parametrize("name", WEATHER)
def test_weather_columns(name):
    rows = rows_of(name)
    assert list(rows[0]) == ["id", "y_true", "prob_clear", "prob_cloudy", "prob_rain", "prob_snow", "region"]
    assert {row["y_true"] for row in rows} == set(CLASSES)
    for row in rows:
        probabilities = sorted(Decimal(row[f"prob_{name}"]) for name in CLASSES)
        assert sum(probabilities) == 1
        assert probabilities[0] > 0
        assert probabilities[-2] < probabilities[-1]


@pytest.mark.parametrize("name", BINARY)
def test_binary_models_predict_the_same_classes(name):
    predicted = [float(row["y_prob"]) > 0.5 for row in rows_of(name)]
    assert predicted == [float(row["y_prob"]) > 0.5 for row in rows_of("steady-v1")]


# Below, 3.5 standard deviations: a calibrated file passes ten such checks with probability 0.995.


@pytest.mark.parametrize("name", ["steady-v1", "weather-steady-v1"])
def test_steady_is_calibrated(name):
    assert largest_z_of_tenths(top_label(name)) < 3.5


def test_steady_is_calibrated_for_the_positive_class():
    pairs = sorted((float(row["y_prob"]), int(row["y_true"])) for row in rows_of("steady-v1"))
    assert largest_z_of_tenths(pairs) < 3.5


@pytest.mark.parametrize("name", WEATHER[:1])
@pytest.mark.parametrize("label", CLASSES)
def test_weather_steady_is_calibrated_for_each_class(name, label):
    pairs = sorted((float(row[f"prob_{label}"]), int(row["y_true"] == label)) for row in rows_of(name))
    assert largest_z_of_tenths(pairs) < 3.5


def test_swift_is_too_sure_in_both_halves():
    pairs = top_label("swift-v2")
    assert -0.12 < gap(pairs) < -0.08
    assert -0.15 < gap(pairs[:2_000]) < -0.07
    assert -0.15 < gap(pairs[2_000:]) < -0.07
    assert share(pairs, lambda c: c >= 0.95) < 0.55  # else it would be extreme overconfidence


@pytest.mark.parametrize(("name", "temperature"), [("swift-v2", 2.0), ("timid-v4", 0.2)])
def test_a_temperature_undoes_the_distortion(name, temperature):
    mended = [(1 / (1 + ((1 - c) / c) ** (1 / temperature)), correct) for c, correct in top_label(name)]
    assert largest_z_of_tenths(mended) < 3.5


def test_mixed_crosses_the_diagonal():
    pairs = top_label("mixed-v3")
    unsure = [pair for pair in pairs if pair[0] < 0.74]
    sure = [pair for pair in pairs if pair[0] > 0.74]
    assert gap(unsure) > 0.04
    assert gap(sure) < -0.04
    assert min(len(unsure), len(sure)) > 1_500
    assert abs(gap(pairs)) < 0.02
    assert share(pairs, lambda c: c <= 0.60) < 0.5  # else it would be a collapse
    assert share(pairs, lambda c: c >= 0.95) < 0.5


def test_timid_collapses():
    pairs = top_label("timid-v4")
    assert share(pairs, lambda c: c <= 0.60) > 0.65
    assert gap(pairs) > 0.15


def test_certain_is_far_too_sure():
    pairs = top_label("certain-v5")
    claims = [pair for pair in pairs if pair[0] >= 0.95]
    assert len(claims) > 0.7 * len(pairs)
    assert sum(1 - correct for _, correct in claims) > 0.15 * len(claims)  # at 95 % or more, at most 5 % may be wrong
    assert sum(1 - confidence for confidence, _ in claims) < 0.05 * len(claims)


def test_weather_swift_is_too_sure_in_both_halves():
    pairs = top_label("weather-swift-v2")
    assert -0.15 < gap(pairs) < -0.07
    assert gap(pairs[:2_000]) < -0.05
    assert gap(pairs[2_000:]) < -0.05
    assert share(pairs, lambda c: c >= 0.95) < 0.5
