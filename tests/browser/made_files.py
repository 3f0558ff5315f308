"""Prediction files for the browser tests, made with a fixed seed, and what the command line says about them."""

from __future__ import annotations

import csv
import functools
import io
import json
import random
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

KINDS = ("cat", "dog", "owl")


def csv_bytes(rows: Iterable[Sequence[object]]) -> bytes:
    """A CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def binary_file(seed: int = 1, n: int = 700) -> bytes:
    """Labels 0 and 1 with the probability of 1, stretched away from one half: too sure."""
    rng = random.Random(seed)
    rows: list[Sequence[object]] = [("id", "label", "probability", "region")]
    for i in range(n):
        true = rng.random()
        said = min(max(0.5 + 1.6 * (true - 0.5), 0.002), 0.998)
        rows.append((f"r{i:04d}", int(rng.random() < true), f"{said:.4f}", rng.choice(("north", "south"))))
    return csv_bytes(rows)


def top_label_file(seed: int = 2, n: int = 600) -> bytes:
    """True class, predicted class and the confidence in it."""
    rng = random.Random(seed)
    rows: list[Sequence[object]] = [("true", "pred", "confidence")]
    for _ in range(n):
        confidence = rng.uniform(0.34, 1.0)
        predicted = rng.choice(KINDS)
        right = rng.random() < confidence - 0.08
        rows.append((predicted if right else rng.choice([k for k in KINDS if k != predicted]), predicted, f"{confidence:.4f}"))
    return csv_bytes(rows)


@functools.cache
def _run(command: str, arguments: tuple[str, ...]) -> str:
    done = subprocess.run([command, *arguments, "--format", "json"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed_json(command: str, *arguments: str | Path) -> dict[str, Any]:
    """What the installed command prints for ``--format json``."""
    document: dict[str, Any] = json.loads(_run(command, tuple(str(a) for a in arguments)))
    return document


def four(x: float) -> str:
    """As scores are written on the page."""
    return f"{x:.4f}"
