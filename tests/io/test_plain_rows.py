"""Ordinary batches, which are added in one pass and perhaps by a compiled loop: the same as when each is read."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import calibcore as cc
from calibcore import compiled_cells
from calibcore.grid import cuts, grid
from calibcore.io import sources
from calibcore.io.ordinary import Ordinary
from calibcore.io.streams import Plan
from calibcore.plain_cells import PlainCells
from calibcore.plain_rows import PlainRows
from calibcore.reduction import Reduction
from calibcore.totals import Totals

EDGES = cuts()
ODD = [0.0, -0.0, 1.0, 0.5, 1e-300, 5e-324, 1 - 2.0**-53, 2.0**-52, 2.0**-53, 1e-16, 1e-15, 1 - 1e-15, 0.999999999999, 1 / 3, 2 / 3]


def adversarial(dtype=np.float64):
    """Cuts, their neighbours and the odd values, each with either outcome, in a mixed order."""
    values = np.concatenate([EDGES, np.nextafter(EDGES, 2)[:-1], np.nextafter(EDGES, -1)[1:], ODD]).astype(dtype)
    if dtype == np.float32:
        values = np.concatenate([values, np.nextafter(values, dtype(2)), np.nextafter(values, dtype(-1))])
        values = values[(values >= 0) & (values <= 1)]
    p = np.concatenate([values, values])
    event = np.repeat([False, True], len(values))
    order = np.random.default_rng(1).permutation(len(p))
    return p[order], event[order]


def added(value, event):
    """The profile that the one pass gives."""
    with PlainRows() as rows:
        for start in range(0, len(value), 7000):
            assert rows.add(value[start : start + 7000], event[start : start + 7000])
        return rows.profile("positive", "binary", 2)


def same(one, other):
    assert one.inside.cell.tolist() == other.inside.cell.tolist()
    assert one.count.tolist() == other.count.tolist()
    assert one.positive.tolist() == other.positive.tolist()
    for name in ("near", "near_squared"):
        np.testing.assert_allclose(getattr(one.inside, name), getattr(other.inside, name), rtol=1e-12)
    assert (one.totals.rows, one.totals.tied, one.totals.clipped) == (other.totals.rows, other.totals.tied, other.totals.clipped)
    assert one.totals.brier == pytest.approx(other.totals.brier, rel=1e-12)
    assert one.totals.log_loss == pytest.approx(other.totals.log_loss, rel=1e-12)


def read_apart(table, monkeypatch, **about):
    """The models where every batch is read."""
    with monkeypatch.context() as patch:
        patch.setattr(Ordinary, "of", lambda _: None)
        return cc.reduce_models(table, **about)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_pass_is_reading_on_adversarial_values(dtype, monkeypatch):
    monkeypatch.setattr(sources, "BATCH", 5000)
    p, event = adversarial(dtype)
    table = pa.table({"label": event.astype(np.int8), "probability": p})
    (fast,), (slow,) = cc.reduce_models(table), read_apart(table, monkeypatch)
    assert fast.label_counts.tolist() == slow.label_counts.tolist()
    for view in ("positive", "top_label"):
        same(fast.profile(view), slow.profile(view))
    same(fast.profile("positive"), cc.read(table)[0].profile("positive").to_reduced())


def test_cells_are_those_of_a_plain_search():
    p, _ = adversarial()
    # A value belongs to the cell of a cut that it equals if that is k/M with M <= 100, else to the cell under the first cut
    # that is not below it: cell 2u of cut u, cell 2u - 1 under it.
    under = np.searchsorted(EDGES, p, side="left")
    fractions = {float(Fraction(k, m)) for m in range(1, 101) for k in range(m + 1)}
    expected = [2 * u if v == EDGES[u] and v in fractions else 2 * u - 1 for u, v in zip(under.tolist(), p.tolist(), strict=True)]
    assert grid(np.dtype(np.float64)).locate(p).tolist() == expected


def test_equal_values_lose_nothing():
    # The exact sum of n equal values is n times the value; adding them one by one would be 1e-11 off.
    n, value = 1_000_000, 0.1234567891234
    for adding in ("blocks", "lanes"):
        if adding == "blocks":
            r = Reduction()
            r.add(np.full(n, value), np.ones(n, dtype=bool))
            profile = r.profile(Totals(n))
        else:
            profile = added(np.full(n, value), np.ones(n, dtype=bool))
        assert profile.inside.near[0, 1] == pytest.approx(float(n * Fraction(value)), rel=1e-14)
        assert profile.inside.near_squared[0, 1] == pytest.approx(float(n * Fraction(value) ** 2), rel=1e-14)


def test_log_loss_by_hand():
    # -log of 0.9, 1/4 (0.75 for the event that did not happen), 2^-52 twice: of p = 0 and of 1 - p = 2^-53.
    profile = added(np.array([0.9, 0.75, 0.0, 1 - 2.0**-53]), np.array([True, False, True, False]))
    assert profile.totals.clipped == 2
    assert profile.totals.log_loss == pytest.approx(-math.log(0.9) - math.log(0.25) + 104 * math.log(2), rel=1e-14)
    # (0.1)^2 + 0.75^2 + 1 + (1 - 2^-53)^2
    assert profile.totals.brier == pytest.approx(0.01 + 0.5625 + 1 + 1, rel=1e-14)


def test_what_is_no_probability_is_not_added():
    with PlainRows() as rows:
        for bad in (np.nan, -1e-12, 1 + 1e-12, np.inf):
            assert not rows.add(np.array([0.5, bad]), np.array([True, False]))
        assert rows.rows == 0


LABELS = {
    "int8": lambda y: y.astype(np.int8),
    "uint16": lambda y: y.astype(np.uint16),
    "bool": lambda y: y,
    "float": lambda y: y.astype(float),
    "text": lambda y: np.where(y, "yes", "no"),
    "numbers 1 and 2": lambda y: y.astype(int) + 1,
    "dictionary": lambda y: pa.array(np.where(y, "yes", "no")).dictionary_encode(),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type(kind, monkeypatch):
    monkeypatch.setattr(sources, "BATCH", 200)
    rng = np.random.default_rng(2)
    p = rng.random(1000)
    y = rng.random(1000) < p
    table = pa.table({"label": LABELS[kind](y), "probability": p})
    mapping = cc.Mapping(positive="2") if kind.startswith("numbers") else cc.Mapping()
    (fast,), (slow,) = cc.reduce_models(table, mapping=mapping), read_apart(table, monkeypatch, mapping=mapping)
    assert fast.classes == slow.classes
    same(fast.profile("positive"), slow.profile("positive"))
    ordinary = Ordinary.of(Plan.of(table, mapping))
    taken = ordinary.rows(table.to_batches()[0])
    assert (taken is None) == (kind in ("float", "dictionary"))
    if taken is not None:
        assert taken[1].tolist() == y.tolist()


@pytest.mark.parametrize("flag", [np.bool_, np.int8])
def test_confidences(flag, monkeypatch):
    monkeypatch.setattr(sources, "BATCH", 200)
    rng = np.random.default_rng(3)
    p = rng.random(1000)
    table = pa.table({"confidence": p, "correct": (rng.random(1000) < p).astype(flag)})
    (fast,), (slow,) = cc.reduce_models(table), read_apart(table, monkeypatch)
    same(fast.profile("top_label"), slow.profile("top_label"))
    assert Ordinary.of(Plan.of(table)).rows(table.to_batches()[0]) is not None


def test_batches_of_either_kind_add_up(monkeypatch):
    monkeypatch.setattr(sources, "BATCH", 100)
    rng = np.random.default_rng(4)
    p = rng.random(1000)
    y = (rng.random(1000) < p).astype(int)
    p[150] = 1 + 1e-12
    table = pa.table({"label": pa.array([None if i == 450 else int(v) for i, v in enumerate(y)]), "probability": p})
    mapping = cc.Mapping(missing="drop")
    (fast,), (slow,) = cc.reduce_models(table, mapping=mapping), read_apart(table, monkeypatch, mapping=mapping)
    for view in ("positive", "top_label"):
        same(fast.profile(view), slow.profile(view))
    assert set(fast.notes) == set(slow.notes)
    assert (fast.n, fast.n_excluded, fast.label_counts.tolist()) == (slow.n, slow.n_excluded, slow.label_counts.tolist())


@pytest.mark.parametrize("more", ["weight", "groups", "percent", "three views", "two models"])
def test_what_is_not_ordinary_is_read(more):
    rng = np.random.default_rng(5)
    p = rng.random(100)
    table = pa.table({"label": [0, 1] * 50, "p": p * (100 if more == "percent" else 1), "w": p + 1, "site": ["a", "b"] * 50, "q": p[::-1]})
    about = {
        "weight": {"mapping": cc.Mapping(probabilities="p", weight="w", groups=())},
        "groups": {"mapping": cc.Mapping(probabilities="p", groups=("site",))},
        "percent": {"mapping": cc.Mapping(probabilities="p", scale="percent", groups=())},
        "three views": {"mapping": cc.Mapping(probabilities="p", groups=()), "views": ("top_label", "positive", "class:0")},
        "two models": {"mapping": cc.Mapping(probabilities=("p", "q"), columns_are="models", groups=())},
    }[more]
    assert Ordinary.of(Plan.of(table, **about)) is None


def test_a_fault_in_a_thread_is_told(monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr(PlainCells, "add", fails)
    with PlainRows() as rows:
        rows.add(np.array([0.5]), np.array([True]))
        with pytest.raises(MemoryError):
            rows.profile("positive", "binary", 2)


@pytest.fixture
def numba(monkeypatch):
    """Numba, for as few rows as there are."""
    module = pytest.importorskip("numba")
    monkeypatch.setattr(compiled_cells, "ENOUGH_LOADED", 1)
    return module


def test_the_compiled_loop_counts_the_same(numba, monkeypatch):
    p, event = adversarial()
    compiled = added(p, event)
    monkeypatch.setattr(compiled_cells, "ENOUGH_LOADED", 10**9)
    same(compiled, added(p, event))
    values = np.full(1_000_000, 0.1234567891234)
    monkeypatch.setattr(compiled_cells, "ENOUGH_LOADED", 1)
    profile = added(values, np.ones(len(values), dtype=bool))
    assert profile.inside.near[0, 1] == pytest.approx(float(len(values) * Fraction(values[0])), rel=1e-14)


def test_few_rows_do_not_load_the_compiler(monkeypatch):
    monkeypatch.setattr(compiled_cells, "_loop", lambda: pytest.fail("loaded"))
    assert not compiled_cells.pays(100_000)


def test_questions_travel_between_processes():
    asked = cc.AmbiguousLayout([cc.Question("positive", "Which is it?", ("yes", "no"), "--positive")], source="a.csv")
    back = pickle.loads(pickle.dumps(asked))
    assert (str(back), back.questions, back.source) == (str(asked), asked.questions, asked.source)
