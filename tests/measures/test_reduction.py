"""How far numbers of a reduced profile can be off: the bounds hold, and are 0 where nothing is lost."""

import functools

import numpy as np
import pytest

from calibcore import Predictions, Settings, analyze
from calibcore.errors import InputError
from calibcore.held import NO_ROWS, Held
from calibcore.measures.cumulative import cumulative
from calibcore.measures.reduction import binning_error, kuiper_error, precision, within_cells
from calibcore.partition import Partition
from calibcore.profile import Profile
from calibcore.rowless import model_of


def profiles(seed, n=3000, *, weighted=False):
    """Confidences of several shapes, outcomes that do not fit."""
    rng = np.random.default_rng(seed)
    p = [rng.random(n), 1 - rng.beta(0.4, 200, n), rng.beta(5, 5, n), np.round(rng.random(n), 4)][seed % 4]
    event = rng.random(n) < p ** rng.choice([0.5, 1.0, 2.0])
    rows = Profile.from_rows(p, event, weight=rng.choice([1.0, 2.5], n) if weighted else None)
    return rows, rows.to_reduced()


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("seed", range(12))
def test_equal_mass_bounds_hold(seed, weighted):
    rows, reduced = profiles(seed, weighted=weighted)
    for m in (2, 5, 15, 40, 100):
        for ties in ("together", "share"):
            cut = Partition.equal_mass(reduced, m, ties)
            bound = binning_error(reduced, cut)
            exact = rows.bin(Partition.equal_mass(rows, m, ties)).ece
            assert abs(reduced.bin(cut).ece - exact) <= bound + 1e-12, (m, ties)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_other_edges_hold(seed):
    rows, reduced = profiles(seed)
    rng = np.random.default_rng(seed)
    for edges in (np.arange(124) / 123, np.concatenate([[0], np.sort(rng.random(9)), [1]]), [0, 1 / 4096, 0.3, 1]):
        for closed in ("right", "left"):
            bins = Partition.from_edges(edges, closed)
            assert abs(reduced.bin(bins).ece - rows.bin(bins).ece) <= binning_error(reduced, bins) + 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_kuiper_bound_holds(seed):
    rows, reduced = profiles(seed)
    a, b = cumulative(rows), cumulative(reduced)
    assert abs(a.range - b.range) <= kuiper_error(reduced) + 1e-12
    assert abs(a.mad - b.mad) <= kuiper_error(reduced) / 2 + 1e-12


def test_bound_by_hand():
    """One cell holds 0.70001 with the event and 0.70002 without: n·e = max(1 − 0.70001, 0.70002), so the bound is 2·0.70002/3."""
    rows = Profile.from_rows(np.array([0.1, 0.70001, 0.70002]), np.array([False, True, False])).to_reduced()
    assert binning_error(rows, Partition.from_edges([0, 0.700015, 1])) == pytest.approx(2 * 0.70002 / 3, abs=1e-15)
    assert kuiper_error(rows) == pytest.approx(2 * 0.70002 / 3, abs=1e-15)


def test_nothing_is_lost_on_fractions():
    """Values k/100 are cells of their own: every bound is 0, whatever the bins."""
    rng = np.random.default_rng(1)
    p = rng.integers(0, 101, 5000) / 100
    reduced = Profile.from_rows(p, rng.random(5000) < p).to_reduced()
    assert kuiper_error(reduced) == 0
    assert within_cells(reduced) < 1e-8
    for m in (7, 15, 100):
        assert binning_error(reduced, Partition.equal_mass(reduced, m)) == 0
    assert all(p.kind != "bounded" for p in precision(reduced, Partition.equal_width(15)).values())


def test_exact_profiles_have_no_precision_to_tell():
    rows, _ = profiles(0)
    assert precision(rows, Partition.equal_width(15)) is None
    assert binning_error(rows, Partition.equal_mass(rows, 15)) == kuiper_error(rows) == within_cells(rows) == 0


def test_bins_of_equal_width_up_to_100_are_exact_and_more_are_not():
    _, reduced = profiles(0)
    for m in (2, 15, 99, 100):
        assert precision(reduced, Partition.equal_width(m))["ece"].kind == "exact"
    assert precision(reduced, Partition.equal_width(101))["ece"].kind == "bounded"
    assert precision(reduced, Partition.equal_width(101))["mce"].kind == "approximate"


def test_approximate_numbers_are_near():
    """CORP and smooth ECE take a cell's mean for its rows, which lie within 1/4096 of it."""
    rows, reduced = profiles(0, 20_000)
    a, b = (analyze(p).measures for p in (rows, reduced))
    assert b["smooth_ece"].value == pytest.approx(a["smooth_ece"].value, abs=1 / 4096)
    assert b["corp"].mcb == pytest.approx(a["corp"].mcb, abs=2 / 4096)


@functools.cache
def model(n=4000):
    rng = np.random.default_rng(2)
    p, site = rng.random(n), rng.choice(["a", "b"], n)
    rows = Predictions.from_arrays((rng.random(n) < p**1.5).astype(int), p, groups={"site": site}, name="rows")

    def held(of):
        positive = of.profile("positive").to_reduced()
        return Held({"positive": positive, "top_label": positive.folded()}, label_counts=of.label_counts)

    parts = tuple((s, model_of(held(rows.take(np.flatnonzero(site == s))), "binary", rows.classes)) for s in "ab")
    whole = held(rows)
    return rows, model_of(Held(whole.profiles, {"site": parts}, whole.label_counts), "binary", rows.classes, name="profile")


@pytest.mark.parametrize("view", ["top_label", "positive", "class:0"])
def test_a_model_without_rows_is_analysed_like_its_rows(view):
    rows, reduced = model()
    a, b = (analyze(m, Settings(view=view, on_request=("groups",))).to_dict() for m in (rows, reduced))
    for name in ("ece", "rmsce", "brier", "accuracy", "mean_confidence", "n", "bins_used"):
        assert b[name] == pytest.approx(a[name], abs=1e-12), name
    assert b["classwise"]["mean"] == pytest.approx(a["classwise"]["mean"], abs=1e-12)
    assert b["log_loss"]["value"] == pytest.approx(a["log_loss"]["value"], abs=1e-12)
    for score in ("brier", "log_loss"):
        assert b["skill"][score] == pytest.approx(a["skill"][score], abs=1e-12)
    assert b["precision"]["skill"]["kind"] == "exact"
    assert b["gap"]["low"] == pytest.approx(a["gap"]["low"], abs=1e-12)
    for corp in (b["corp"], b["corp"]["log_loss"]):  # of one view there is one score, and its parts add up to it
        assert corp["mcb"] - corp["dsc"] + corp["unc"] == pytest.approx(corp["score"], abs=1e-12)
    assert b["corp"]["log_loss"]["score"] == pytest.approx(a["corp"]["log_loss"]["score"], abs=1e-12)
    one, two = (x["on_request"]["groups"]["site"]["groups"] for x in (a, b))
    for g, h in zip(one, two, strict=True):
        assert (h["name"], h["n"]) == (g["name"], g["n"])
        assert h["ece"] == pytest.approx(g["ece"], abs=1e-12)
        assert h["gap"]["value"] == pytest.approx(g["gap"]["value"], abs=1e-12)
    assert a["precision"] is None
    assert b["precision"]["ece"] == {"kind": "exact", "within": 0.0}
    assert any("reduced profile" in note for note in b["notes"])


def test_a_model_without_rows_says_what_needs_them():
    _, reduced = model()
    assert not reduced.has_rows
    for ask in (lambda: reduced.confidence, reduced.row_scores, lambda: reduced.rows("positive")):
        with pytest.raises(InputError) as caught:
            ask()
        assert str(caught.value) == NO_ROWS
    with pytest.raises(InputError, match=r"made without the view 'class:2'"):
        reduced.profile("class:2")
    for request in ("remedies", "refinement", "reconcile"):
        with pytest.raises(InputError, match="need the prediction file"):
            analyze(reduced, Settings(on_request=(request,)))


def test_comparing_with_a_profile_has_no_interval_of_scores():
    from calibcore import compare

    rows, reduced = model()
    found = compare([rows, reduced]).differences[0]
    assert not found.pairing.paired
    assert found.brier.value == pytest.approx(0, abs=1e-12)
    assert found.brier.low is None
    assert found.gap.value == pytest.approx(0, abs=1e-12)
    # Welch's interval of two samples of equal size and spread is √2 times as wide as that of one mean, to the t quantiles
    one = analyze(rows).gap
    assert found.gap.high == pytest.approx(np.sqrt(2) * (one.high - one.low) / 2, rel=1e-3)
    assert "cannot be paired" in found.notes[0]
