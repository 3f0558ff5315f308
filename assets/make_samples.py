"""Write the sample prediction files of this folder: seeded, NumPy only, the same bytes every time.

Run ``python assets/make_samples.py`` to write them here, or give another folder as the one argument.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SEED = 2024
N_ROWS = 4_000
UNITS = 100_000  # probabilities are whole numbers of this unit: five decimals, written without a rounding mode

REGIONS = ("north", "east", "south", "west")
CHANNELS = ("web", "app", "phone")
CLASSES = ("clear", "cloudy", "rain", "snow")
CLASS_TILT = (0.5, 0.3, 0.0, -0.8)  # log-odds units: clear days are common, snow is rare

# What mixed-v3 says (second row) when the predicted class is right with this probability (first row).
MIXED_TRUE = (0.50, 0.68, 0.74, 0.82, 1.00)
MIXED_SAID = (0.50, 0.54, 0.74, 0.92, 1.00)


def steady(logit: Floats) -> Floats:
    """Say the true probability."""
    return sigmoid(logit)


def swift(logit: Floats) -> Floats:
    """Double every log-odds: too sure everywhere; a temperature of 2 undoes it."""
    return sigmoid(2.0 * logit)


def mixed(logit: Floats) -> Floats:
    """Be not sure enough below 75 % and too sure above: the curve crosses the diagonal."""
    said = np.interp(sigmoid(np.abs(logit)), MIXED_TRUE, MIXED_SAID)
    return np.where(logit > 0, said, 1.0 - said)


def timid(logit: Floats) -> Floats:
    """Keep a fifth of every log-odds: nearly all confidences fall close to one half."""
    return sigmoid(0.2 * logit)


def certain(logit: Floats) -> Floats:
    """Claim at least 95 % as soon as the odds are a little better than even."""
    return sigmoid(4.2 * np.sign(logit) * np.sqrt(np.abs(logit)))


BINARY_MODELS: dict[str, Callable[[Floats], Floats]] = {
    "steady-v1": steady,
    "swift-v2": swift,
    "mixed-v3": mixed,
    "timid-v4": timid,
    "certain-v5": certain,
}
WEATHER_MODELS = {"weather-steady-v1": 1.0, "weather-swift-v2": 1.6}  # factor on the log-odds


def sigmoid(logit: Floats) -> Floats:
    """Turn log-odds into probabilities."""
    return np.asarray(1.0 / (1.0 + np.exp(-logit)), dtype=np.float64)


def bump(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw values in (-1, 1), most of them near 0.

    The median of three uniform draws is Beta(2, 2). Only ``rng.random`` is used: NumPy may change the stream of
    its other distributions from one version to the next, and these files must not change with it.
    """
    return np.asarray(2.0 * np.median(rng.random((*shape, 3)), axis=-1) - 1.0, dtype=np.float64)


def pick(rng: np.random.Generator, shares: Sequence[float]) -> Integers:
    """Draw one group index per row, with these shares."""
    return np.asarray(np.searchsorted(np.cumsum(shares[:-1]), rng.random(N_ROWS), side="right"), dtype=np.int64)


def decimal(units: int) -> str:
    """Write a whole number of units as a decimal fraction, exactly."""
    return f"{units // UNITS}.{units % UNITS:05d}"


def write(path: Path, header: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
    """Write one CSV file with Unix line ends on every system."""
    rows = [",".join(header), *(",".join(row) for row in zip(*columns, strict=True))]
    path.write_bytes(("\n".join(rows) + "\n").encode("ascii"))


def write_binary(folder: Path, rng: np.random.Generator) -> None:
    """Write the five binary models: one truth and one set of labels, five ways to report it."""
    region = pick(rng, (0.3, 0.3, 0.2, 0.2))
    channel = pick(rng, (0.5, 0.3, 0.2))
    # Base rates differ between groups, calibration does not.
    logit = 3.8 * bump(rng, (N_ROWS,)) + np.array([-0.6, -0.2, -0.2, 0.2])[region] + np.array([-0.2, -0.2, 0.3])[channel]
    said = {name: np.rint(UNITS * report(logit)).astype(np.int64) for name, report in BINARY_MODELS.items()}
    # Labels follow the written, rounded probability of the calibrated model, so that it is calibrated exactly.
    label = (UNITS * rng.random(N_ROWS) < said["steady-v1"]).astype(np.int64)
    for name, units in said.items():
        columns = [
            [str(row) for row in range(1, N_ROWS + 1)],
            [str(value) for value in label.tolist()],
            [decimal(value) for value in units.tolist()],
            [REGIONS[index] for index in region.tolist()],
            [CHANNELS[index] for index in channel.tolist()],
        ]
        write(folder / f"{name}.csv", ("id", "y_true", "y_prob", "region", "channel"), columns)


def softmax_units(logits: Floats) -> Integers:
    """Return the softmax of each row in units: none is 0, and each row adds up to one exactly."""
    weights = np.exp(logits)
    units: Integers = np.maximum(np.rint(UNITS * weights / weights.sum(axis=1, keepdims=True)), 1).astype(np.int64)
    rows = np.arange(len(units))
    units[rows, units.argmax(axis=1)] += UNITS - units.sum(axis=1)
    return units


def write_weather(folder: Path, rng: np.random.Generator) -> None:
    """Write the two models with four classes: one truth and one set of labels, two ways to report it."""
    region = pick(rng, (0.3, 0.3, 0.2, 0.2))
    logits = 2.6 * bump(rng, (N_ROWS, len(CLASSES))) + np.array(CLASS_TILT)
    said = {name: softmax_units(factor * logits) for name, factor in WEATHER_MODELS.items()}
    drawn = np.floor(UNITS * rng.random(N_ROWS)).astype(np.int64)
    label = (drawn[:, None] >= said["weather-steady-v1"].cumsum(axis=1)).sum(axis=1)
    for name, units in said.items():
        columns = [
            [str(row) for row in range(1, N_ROWS + 1)],
            [CLASSES[index] for index in label.tolist()],
            *([decimal(value) for value in column] for column in units.T.tolist()),
            [REGIONS[index] for index in region.tolist()],
        ]
        write(folder / f"{name}.csv", ("id", "y_true", *(f"prob_{name}" for name in CLASSES), "region"), columns)


def main(arguments: Sequence[str]) -> None:
    """Write all sample files into the folder named by the first argument, or into this one."""
    folder = Path(arguments[0]) if arguments else Path(__file__).parent
    for offset, write_files in enumerate((write_binary, write_weather)):
        # PCG64 by name: the default generator may change, this one may not.
        write_files(folder, np.random.Generator(np.random.PCG64(SEED + offset)))


if __name__ == "__main__":
    main(sys.argv[1:])
