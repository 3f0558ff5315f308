"""Speed of reading beside pyarrow alone, answers checked: `pytest tests/benchmarks -n 0 --benchmark-enable`; a plain run only checks.

Few rows, but with CALIBCORE_BENCHMARK_FULL=1 in the environment millions.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import calibcore as cc

LAYOUTS = ("label and probability", "ten classes", "ids and groups", "features")
PYARROW = {"csv": pyarrow.csv.read_csv, "parquet": pq.read_table}
FILES = [(layout, kind) for layout in LAYOUTS for kind in PYARROW]


def columns(layout, n):
    """A file's columns, with what reading it must give: label and P(class 1)."""
    rng = np.random.default_rng(7)
    if layout == "ten classes":
        p = np.round(rng.dirichlet(np.ones(10), n), 6)
        label = rng.integers(0, 10, n)
        return {"label": label, **{f"prob_{k}": p[:, k] for k in range(10)}}, label, p[:, 1]
    p = np.round(rng.random(n), 6)
    label = (rng.random(n) < p).astype(int)
    found = {"label": label, "probability": p}
    if layout == "ids and groups":
        found = {"id": [f"case-{i}" for i in range(n)], "site": np.array(["north", "south"])[rng.integers(0, 2, n)], **found}
    if layout == "features":
        found |= {f"feature_{k}": np.round(rng.normal(size=n), 4) for k in range(8)}
    return found, label, p


@pytest.fixture(scope="module", params=FILES, ids=" ".join)
def file(request, full, tmp_path_factory):
    """A file of one layout and kind, and what it holds."""
    layout, kind = request.param
    many = 10_000_000 if layout == "label and probability" else 1_000_000
    n = many if full else 20_000
    found, label, p = columns(layout, n)
    path = tmp_path_factory.mktemp("reading") / f"{layout}.{kind}"
    if kind == "csv":
        pyarrow.csv.write_csv(pa.table(found), path, pyarrow.csv.WriteOptions(quoting_style="needed", quoting_header="none"))
    else:
        pq.write_table(pa.table(found), path)
    yield request.param, path, label, p
    path.unlink()


def test_pyarrow_alone_as_a_yardstick(benchmark, file):
    """What pyarrow needs for the cells, without deciding what they mean."""
    (layout, kind), path, label, _ = file
    benchmark.group = f"{layout}, {kind}"
    assert benchmark(PYARROW[kind], path).num_rows == len(label)


def test_arrays_of_pyarrow_as_a_yardstick(benchmark, file):
    """The same, with the cells as arrays, without which nothing can be computed."""
    (layout, kind), path, label, _ = file
    benchmark.group = f"{layout}, {kind}"
    assert len(benchmark(lambda: [c.to_numpy() for c in PYARROW[kind](path).columns])[0]) == len(label)


def test_the_hash_as_a_floor(benchmark, file):
    """SHA-256 of the file, which every result names."""
    (layout, kind), path, _, _ = file
    benchmark.group = f"{layout}, {kind}"

    def digest():
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()

    assert len(benchmark(digest)) == 64


def test_looking_at_every_cell_as_a_floor(benchmark, file):
    """What the checks must see: range of the probabilities, and the label as codes with the mean probability of each."""
    (layout, kind), _, label, p = file
    benchmark.group = f"{layout}, {kind}"

    def look():
        code = label.astype(np.int8)
        return p.min() >= 0, p.max() <= 1, np.bincount(code), np.bincount(code, weights=p)

    assert benchmark(look)[:2] == (True, True)


def test_reading(benchmark, file):
    (layout, kind), path, label, p = file
    benchmark.group = f"{layout}, {kind}"
    (model,) = benchmark(cc.read, path)
    assert np.array_equal(model.label, label)
    assert np.array_equal(model.probabilities[:, 1], p)
    assert (model.ids is not None) == (layout == "ids and groups")
