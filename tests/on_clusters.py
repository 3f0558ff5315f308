"""Rows for the tests of Spark and Dask, what NumPy says of them, and what a missing package means."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pytest

import calibcore as cc
from calibcore.predictions import Predictions
from calibcore.profile import Profile

CLASSES = ("bird", "cat", "dog", "fox")
BINS = (7, 10, 15, 97, 100)
Reduce = Callable[..., list[Predictions]]


def missing(what: str) -> NoReturn:
    """Skip the test; where CALIBCORE_CLUSTER=1 fail, since there a skipped test would go unseen."""
    if os.environ.get("CALIBCORE_CLUSTER") == "1":
        pytest.fail(f"{what}; with CALIBCORE_CLUSTER=1 that is a failure")
    pytest.skip(what)


def binary_rows(n: int, seed: int = 7) -> pa.Table:
    """Scores of which half have two digits, so that they lie on edges of bins, beside 0/1 labels."""
    rng = np.random.default_rng(seed)
    p = np.maximum(rng.beta(0.5, 0.8, n), 2.0**-40)  # of one much smaller, 1 − p is 1.0 in an array, but its cell lies below 1
    p[::2] = np.round(p[::2], 2)
    return pa.table({"y": (rng.random(n) < p**1.3).astype(np.int64), "p": p})


def class_rows(n: int) -> pa.Table:
    """Four classes, whose probabilities are float32, beside the name of the true one."""
    rng = np.random.default_rng(8)
    probabilities = rng.dirichlet((0.6, 0.6, 0.6, 0.6), n).astype(np.float32)
    truth = np.array(CLASSES)[(probabilities.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, 3)]
    return pa.table({"label": truth, **{c: probabilities[:, i] for i, c in enumerate(CLASSES)}})


def grouped_rows(n: int) -> pa.Table:
    """Two models, the second in the last rows only; with weights, and with a group that some rows lack."""
    rng = np.random.default_rng(9)
    more = {
        "model": np.where(np.arange(n) < n - n // 10, "early", "late"),
        "w": rng.integers(1, 5, n) / 2,
        "region": pa.array(rng.choice(np.array(["north", "south", None], dtype=object), n), type=pa.string()),
    }
    return pa.table({**{c: binary_rows(n, 10)[c] for c in ("y", "p")}, **more})


def same_profile(found: Profile, exact: Profile) -> None:
    """Equal counts in equal cells, equal sums to 1e-12, and the calibration error of the rows themselves for every number of bins."""
    reduced = exact.to_reduced()
    assert found.inside is not None
    assert reduced.inside is not None
    for field in fields(reduced.inside):
        mine, theirs = getattr(found.inside, field.name), getattr(reduced.inside, field.name)
        if field.name in ("cell", "count"):
            assert np.array_equal(mine, theirs)
        else:
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    assert found.totals.rows == exact.totals.rows
    assert found.totals.tied == exact.totals.tied
    assert found.totals.clipped == exact.totals.clipped
    assert found.totals.brier == pytest.approx(exact.totals.brier, rel=1e-12)
    assert found.totals.log_loss == pytest.approx(exact.totals.log_loss, rel=1e-12)
    for bins in BINS:
        for closed in ("right", "left"):
            partition = cc.Partition.equal_width(bins, closed=closed)
            mine, theirs = found.bin(partition), exact.bin(partition)
            assert np.array_equal(mine.count, theirs.count)
            assert mine.ece == pytest.approx(theirs.ece, rel=1e-12, abs=1e-14)


def same_binary(found: Predictions, rows: pa.Table, **more: Any) -> None:
    """A model of `binary_rows` equals what NumPy makes of its rows."""
    expected = cc.Predictions.from_arrays(rows["y"].to_numpy(), rows["p"].to_numpy(), **more)
    assert found.label_counts.tolist() == expected.label_counts.tolist()
    for view in ("top_label", "positive"):
        same_profile(found.profile(view), expected.profile(view))


def same_classes(found: Predictions, rows: pa.Table) -> None:
    """A model of `class_rows` equals what NumPy makes of its rows."""
    matrix = np.column_stack([rows[c].to_numpy() for c in CLASSES])
    expected = cc.Predictions.from_arrays(rows["label"].to_numpy(), matrix, classes=CLASSES)
    assert found.classes == CLASSES
    for view in ("top_label", *(f"class:{c}" for c in CLASSES)):
        same_profile(found.profile(view), expected.profile(view))


def same_groups(found: list[Predictions], rows: pa.Table) -> None:
    """The models of `grouped_rows`, whole and by region, equal what NumPy makes of their rows."""
    assert [m.name for m in found] == ["early", "late"]
    region = np.array(["(missing)" if r is None else r for r in rows["region"].to_pylist()])
    for model in found:
        mine = np.array(rows["model"].to_pylist()) == model.name
        same_binary(model, rows.filter(pa.array(mine)), sample_weight=rows["w"].to_numpy()[mine])
        assert model.held is not None
        parts = dict(model.held.parts["region"])
        assert list(parts) == ["north", "south", "(missing)"]
        for name, part in parts.items():
            here = mine & (region == name)
            same_binary(part, rows.filter(pa.array(here)), sample_weight=rows["w"].to_numpy()[here])


def with_value(rows: pa.Table, row: int, column: str, value: Any) -> pa.Table:
    """The rows with another value in one cell, ``row`` from 1."""
    cells = rows[column].to_pylist()
    cells[row - 1] = value
    return rows.set_column(rows.column_names.index(column), column, pa.array(cells, type=rows[column].type))
