"""Reconciliation: each tool's rule on cases worked by hand, what is said of it, and the tools themselves where installed."""

import importlib
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.measures.conventions import _torch_linspace, _torchmetrics
from calibcore.measures.reconcile import reconcile, reconcile_predictions

ROUNDED = ("torchmetrics (binary, float32)", "torchmetrics (multiclass)", "Guo et al. 2017 (temperature_scaling)", "calibcore, float32")
SK, SK_MASS = "scikit-learn (calibration_curve, uniform)", "scikit-learn (calibration_curve, quantile)"
TM, TM_32, TM_MANY = "torchmetrics (binary)", "torchmetrics (binary, float32)", "torchmetrics (multiclass)"
UC, UC_DEBIASED = "uncertainty-calibration (get_ece)", "uncertainty-calibration (get_ece, debias)"
EM, EM_DEBIASED = "uncertainty-calibration (get_ece_em)", "uncertainty-calibration (get_ece_em, debias)"
NETCAL, RELPLOT, GUO, RIGHT, LEFT, DIGITIZE = (
    "netcal (ECE)",
    "relplot (binnedECE)",
    "Guo et al. 2017 (temperature_scaling)",
    "loop over (lo, hi]",
    "loop over [lo, hi)",
    "numpy.digitize",
)


def table(rows):
    found = {r.tool: r for r in rows}
    assert len(found) == len(rows)
    return found


def values(y, p, m, **kwargs):
    return {tool: r.ece for tool, r in table(reconcile(y, p, n_bins=m, **kwargs)).items()}


# --- rules, by hand -----------------------------------------------------------------------------------------------------


def expect(found, expected):
    for tool, value in expected.items():
        tolerance = 1e-6 if tool in ROUNDED else 1e-12
        assert found[tool] == pytest.approx(value, abs=tolerance), tool


def test_exactly_one():
    # 0.95 right, 1 wrong.  One bin: |0.05 − 1|/2; a bin of its own: (0.05 + 1)/2; dropped: 0.05/2.
    found = values([1, 0], [0.95, 1.0], 10)
    expect(found, dict.fromkeys(("calibcore", "calibcore, bins [a, b)", SK, NETCAL, UC, RIGHT), 0.475))
    expect(found, dict.fromkeys((TM, TM_32, RELPLOT, DIGITIZE), 0.525))
    expect(found, {LEFT: 0.025})


def test_exactly_zero():
    # 0 happened, 0.05 did not.  One bin: |1 − 0.05|/2; 0 dropped from the bins but not from the rows: 0.05/2.
    found = values([1, 0], [0.0, 0.05], 10)
    expect(found, dict.fromkeys(("calibcore", SK, TM, NETCAL, RELPLOT, UC, LEFT, DIGITIZE), 0.475))
    expect(found, {RIGHT: 0.025})


def test_on_an_edge():
    # 0.4 happened, 0.45 did not.  Right-closed they are apart: (0.6 + 0.45)/2; left-closed together: |0.6 − 0.45|/2.
    found = values([1, 0], [0.4, 0.45], 10)
    expect(found, dict.fromkeys(("calibcore", SK, UC, RIGHT), 0.525))
    expect(found, dict.fromkeys(("calibcore, bins [a, b)", TM, TM_32, NETCAL, RELPLOT, LEFT, DIGITIZE), 0.075))


def test_an_edge_that_linspace_misses():
    # The third edge of linspace(0, 1, 11) is 0.30000000000000004, so 0.3 lies below it; ours is 0.3, so [a, b) puts it above.
    found = values([1, 0], [0.3, 0.35], 10)
    expect(found, dict.fromkeys(("calibcore", SK, UC, RIGHT, NETCAL, RELPLOT, LEFT, DIGITIZE), (0.7 + 0.35) / 2))
    expect(found, {"calibcore, bins [a, b)": (0.7 - 0.35) / 2})
    # As float32 0.3 is 0.30000001…, above 0.3 in double precision; ours compares in float32 and keeps it on the edge.
    single = values([1, 0], np.array([0.3, 0.35], dtype=np.float32), 10)
    assert single["calibcore"] == pytest.approx((0.7 + 0.35) / 2, abs=1e-7)
    assert single["calibcore, float64"] == pytest.approx((0.7 - 0.35) / 2, abs=1e-7)
    assert single[SK] == pytest.approx((0.7 - 0.35) / 2, abs=1e-7)


def test_netcal_counts_and_averages_float32_in_different_bins():
    # 0.7 as float32 is below linspace's 0.7000000000000001 (counted with 0.65: 20 rows in one bin), but equal to that
    # edge as float32 (averaged in the next).  So 20/20 · (1 − 0.65), where together it is |0.35 − 0.7|/2.
    rows = table(reconcile([1, 0] * 10, np.array([0.65, 0.7] * 10, dtype=np.float32), n_bins=10))
    assert rows[NETCAL].ece == pytest.approx(0.35, abs=1e-7)
    assert rows["calibcore"].ece == pytest.approx(0.175, abs=1e-7)
    assert "10 rows at an edge counted in one bin and averaged in another" in rows[NETCAL].why


def test_torchmetrics_sums_in_the_precision_of_the_data():
    # From ½ on float32 steps by 2⁻²⁴, so each 2⁻²⁶ added to ½ is lost: 4,096 of them are 2⁻¹⁴ in full.
    value = np.array([0.5] + [2.0**-26] * 4096)
    event = np.zeros(4097, dtype=bool)
    assert _torchmetrics(value, event, 1).ece * 4097 == pytest.approx(0.5 + 2.0**-14, rel=1e-12)
    assert _torchmetrics(value.astype(np.float32), event, 1).ece * 4097 == pytest.approx(0.5, rel=1e-6)


def test_edges_of_torch():
    # step = 1/15 is rounded; 11/15 = 1 − 4·step with one rounding is one place below the double nearest to 11/15.
    edges = _torch_linspace(15, np.dtype(np.float64))
    assert (edges[0], edges[-1]) == (0, 1)
    assert edges[3] == 3 * (1 / 15)
    assert abs(edges[11] - 11 / 15) <= 2**-53
    assert _torch_linspace(1, np.dtype(np.float32)).tolist() == [0, 1]


def test_equal_mass_rules():
    # Ten rows in four bins: cuts at ranks ⌈10k/4⌉ make 3, 2, 3, 2 rows; array_split makes 3, 3, 2, 2.
    p = np.arange(1, 11) / 20
    y = np.array([1, 1, 0, 0, 0, 0, 0, 0, 1, 1])
    r = y - p
    ours = sum(abs(r[a:b].sum()) for a, b in [(0, 3), (3, 5), (5, 8), (8, 10)]) / 10
    split = sum(abs(r[a:b].sum()) for a, b in [(0, 3), (3, 6), (6, 8), (8, 10)]) / 10
    found = values(y, p, 4)
    expect(found, {"calibcore, equal mass": ours, "equal mass by rank": split, EM: split})
    # The quartiles interpolated between ranks are 0.1625, 0.275, 0.3875, so again 3, 2, 2, 3 rows.
    expect(found, {SK_MASS: sum(abs(r[a:b].sum()) for a, b in [(0, 3), (3, 5), (5, 7), (7, 10)]) / 10})


def test_equal_mass_by_rank_depends_on_the_order_of_rows():
    # Four rows at ½, two happened: in order 1, 1, 0, 0 the halves are off by ½ each; in order 1, 0, 1, 0 by nothing.
    sorted_rows, mixed = (table(reconcile(y, [0.5] * 4, n_bins=2)) for y in ([1, 1, 0, 0], [1, 0, 1, 0]))
    assert (sorted_rows["equal mass by rank"].ece, mixed["equal mass by rank"].ece) == (0.5, 0)
    assert sorted_rows["calibcore, equal mass"].ece == mixed["calibcore, equal mass"].ece == 0
    assert "4 rows with equal scores parted by their order in the data" in sorted_rows["equal mass by rank"].why


def test_debiased():
    # One bin, accuracy ½ = confidence: E|N(0, s)| = s·√(2/π) with s² = ¼/2, so 0 − 1/(2√π).
    found = table(reconcile([1, 0], [0.4, 0.6], n_bins=1))
    assert found[UC_DEBIASED].ece == pytest.approx(-1 / (2 * math.sqrt(math.pi)), abs=1e-12)
    assert found[EM_DEBIASED].ece == found[UC_DEBIASED].ece
    assert "0.28" in found[UC_DEBIASED].why
    # Certain labels have no noise to take off.
    assert values([1, 1], [0.4, 0.6], 1)[UC_DEBIASED] == pytest.approx(0.5, abs=1e-12)
    few = table(reconcile([1, 0], [0.1, 0.6], n_bins=2))[UC_DEBIASED]
    assert (few.ece, few.why) == (None, "No value: it raises a ValueError, because a bin holds one row and its correction needs two.")
    assert "holds no row" in table(reconcile([1, 0], [0.4, 0.41], n_bins=2))[UC_DEBIASED].why


# --- what is judged, and what is said -----------------------------------------------------------------------------------


def test_binary_judges_the_predicted_class_or_the_positive_one():
    # 0.9 right; 0.2 happened, so the prediction of the other class (0.8) was wrong.
    # P(positive): (0.1 + 0.8)/2; predicted class: (0.1 + 0.8)/2 in bins of tenths, but both fall in one bin of two.
    found = table(reconcile([1, 1], [0.9, 0.2], n_bins=2))
    assert found["calibcore"].ece == pytest.approx(0.45)
    assert found["calibcore, predicted class"].ece == pytest.approx(0.35)  # |0.1 − 0.8|/2
    assert found[TM_MANY].ece == pytest.approx(0.35)
    assert found["calibcore, predicted class"].why == "Judges confidence in the predicted class, not P(positive)."
    p = cc.Predictions.from_arrays([1, 1], [0.9, 0.2])
    top = table(reconcile_predictions(p, n_bins=2))
    assert top["calibcore"].ece == pytest.approx(0.35)
    assert top[TM].ece == top["calibcore, P(positive)"].ece == pytest.approx(0.45)
    assert top[TM].why.startswith("Judges P(positive), not confidence in the predicted class")


def test_what_is_said_names_rows_and_values():
    y, p = [1, 0, 1, 0], [0.4, 0.45, 1.0, 0.0]
    found = table(reconcile(y, p, n_bins=10))
    assert found["calibcore"].why == "P(positive) in 10 equal-width bins (a, b] with edges k/10, 4 rows."
    assert found[SK].why == "Same value."
    assert found[TM].why == "1 row of exactly 1 forms an extra bin; 1 row at an edge (0.4) falls in the bin above."
    assert found[RIGHT].why == "Same value, although: 1 row of exactly 0 belongs to no bin."
    assert table(reconcile([1, 0], [0.41, 0.45], n_bins=10))[TM_32].why == "Same to six decimals; the rest is rounding in float32."


def test_first_row_is_the_ece():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    assert reconcile(y, p)[0].ece == pytest.approx(cc.expected_calibration_error(y, p), abs=1e-15)
    matrix = rng.dirichlet([1, 1, 1], 200)
    label = rng.integers(0, 3, 200)
    rows = reconcile(label, matrix, n_bins=7)
    assert rows[0].ece == pytest.approx(cc.expected_calibration_error(label, matrix, n_bins=7), abs=1e-15)
    assert rows[0].why == "Confidence in the predicted class in 7 equal-width bins (a, b] with edges k/7, 200 rows."
    with pytest.raises(cc.InputError):
        reconcile(label, matrix, n_bins=0)


def test_only_what_applies_is_listed():
    p = cc.Predictions.from_top_label([0.9, 0.6], [1, 0])
    top = table(reconcile_predictions(p))
    assert TM in top
    assert not {TM_MANY, GUO, "calibcore, P(positive)"} & set(top)
    matrix = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]])
    three = cc.Predictions.from_arrays(["a", "b", "c"], matrix, classes=["a", "b", "c"])
    assert {TM_MANY, GUO} <= set(table(reconcile_predictions(three)))
    assert TM not in table(reconcile_predictions(three))
    one = table(reconcile_predictions(three, view="class:a", n_bins=2))
    assert one["calibcore"].ece == pytest.approx((abs(0.8 - 0.1) + 0.6) / 3)  # 0.2 and 0.1 share a bin
    assert one[SK].why == "Same value."
    with pytest.raises(cc.InputError):
        reconcile_predictions(three, view="positive")


def test_netcal_refuses_many_columns_with_two_labels():
    matrix = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    row = table(reconcile([0, 1], matrix))[NETCAL]
    assert row.ece is None
    assert row.why == "No value: it raises a RuntimeError, because only two classes occur among the labels while there are 3 columns."


def test_others_take_no_weights():
    # Weighted: |3·0.1 − 0.9|/4 = 0.15; each row once: |0.1 − 0.9|/2 = 0.4.
    p = cc.Predictions.from_arrays([1, 0], [0.9, 0.9], sample_weight=[3, 1])
    found = table(reconcile_predictions(p, view="positive"))
    assert found["calibcore"].ece == pytest.approx(0.15)
    assert found["calibcore"].why.endswith("2 rows, weighted.")
    assert found["calibcore, without weights"].ece == found[SK].ece == pytest.approx(0.4)
    assert found[SK].why == "Takes no weights."


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("y", "p"), [([1], [0.5]), ([0], [1.0]), ([0, 0, 0], [0.0, 1.0, 1.0]), ([1, 1, 1], [1, 1, 1]), ([0, 1, 0, 1], [0.25] * 4)]
)
@pytest.mark.parametrize("m", [1, 3, 49, 50])
def test_edge_cases_pass(y, p, m, dtype):
    for row in reconcile(y, np.array(p, dtype=dtype), n_bins=m):
        assert row.ece is None or math.isfinite(row.ece)
        assert row.why.endswith(".")
        assert row.why.startswith("No value") == (row.ece is None)


# --- properties ---------------------------------------------------------------------------------------------------------

GRID = st.sampled_from([k / 10 for k in range(11)] + [k / 15 for k in range(16)] + [0.123, 0.987])
ROWS = st.lists(st.tuples(st.integers(0, 1), GRID, st.integers(1, 3)), min_size=1, max_size=25)


@given(rows=ROWS, m=st.integers(1, 15))
def test_order_of_rows_does_not_matter_but_to_ranks(rows, m):
    y, p, _ = zip(*rows, strict=True)
    forward, backward = values(y, p, m), values(y[::-1], p[::-1], m)
    for tool in forward.keys() - {"equal mass by rank"}:
        assert forward[tool] == pytest.approx(backward[tool], abs=2e-6), tool


@given(rows=ROWS, m=st.integers(1, 15), scale=st.sampled_from([1e15, 1.0, 1e-15]))
def test_weight_is_repetition_and_has_no_scale(rows, m, scale):
    y, p, w = zip(*rows, strict=True)
    weighted = cc.Predictions.from_arrays(y, p, classes=[0, 1], sample_weight=np.array(w) * scale)
    repeated = cc.Predictions.from_arrays(np.repeat(y, w), np.repeat(p, w), classes=[0, 1])
    found, expected = (table(reconcile_predictions(q, n_bins=m, view="positive")) for q in (weighted, repeated))
    for tool in ("calibcore", "calibcore, predicted class", "calibcore, bins [a, b)", "calibcore, float32", "calibcore, equal mass"):
        assert found[tool].ece == pytest.approx(expected[tool].ece, abs=1e-9), tool


# --- the tools themselves, where they are installed ----------------------------------------------------------------------


def package(name):
    """The module, or a skip; what it warns of while it is imported is its own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(name.split(".")[0])
        return importlib.import_module(name)


def called(function, *args, **kwargs):
    """What a package returns, or None where it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(function(*args, **kwargs))
        except (ValueError, IndexError, RuntimeError):
            return None


def vectors(dtype):
    """(bins, probabilities, labels): random, and full of ties, edges, zeros and ones."""
    rng = np.random.default_rng(7)
    for m in (1, 2, 5, 10, 15, 20, 49, 100):
        grids = (np.arange(11) / 10, np.arange(16) / 15, np.linspace(0, 1, m + 1), np.arange(m + 1) / m, np.array([0.0, 1.0, 0.5]))
        drawn = [rng.random(200), np.round(rng.beta(0.5, 0.5, 300), 2), np.full(30, 0.7), *(rng.choice(g, 200) for g in grids)]
        for p in drawn:
            y = (rng.random(len(p)) < p**1.4).astype(int)
            y[:2] = 0, 1
            yield m, p.astype(dtype), y


def matrices(dtype):
    """(bins, probabilities, labels) of three classes."""
    rng = np.random.default_rng(8)
    for m in (5, 10, 15):
        for p in (
            rng.dirichlet([0.6] * 3, 200),
            rng.multinomial(10, [0.2, 0.3, 0.5], 200) / 10,
            rng.multinomial(15, [0.1, 0.1, 0.8], 200) / 15,
        ):
            yield m, p.astype(dtype), rng.integers(0, 3, 200)


def agree(expected, tools, cases, tolerance):
    """Our rule gives what the package gives, in every case."""
    for m, p, y in cases:
        found = values(y, p, m)
        for tool in tools:
            value = expected(m, p, y)
            assert (found[tool] is None) == (value is None), (tool, m)
            assert value is None or found[tool] == pytest.approx(value, abs=tolerance), (tool, m)


DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@DTYPES
@pytest.mark.parametrize(("tool", "strategy"), [(SK, "uniform"), (SK_MASS, "quantile")])
def test_scikit_learn(dtype, tool, strategy):
    curve = package("sklearn.calibration").calibration_curve

    def expected(m, p, y):
        true, predicted = curve(y, p, n_bins=m, strategy=strategy)
        # It returns no counts: they come from the curve itself, whose mean probabilities are in the order of the rows.
        edges = np.linspace(0, 1, m + 1) if strategy == "uniform" else np.percentile(p, np.linspace(0, 100, m + 1))
        count = np.bincount(np.searchsorted(edges[1:-1], p))
        return float(np.sum(count[count > 0] * np.abs(true - predicted)) / len(p))

    agree(expected, [tool], vectors(dtype), 1e-12)


@DTYPES
def test_torchmetrics(dtype):
    torch, functional = package("torch"), package("torchmetrics.functional.classification")

    def binary(m, p, y):
        return float(functional.binary_calibration_error(torch.from_numpy(p), torch.from_numpy(y), n_bins=m))

    def many(m, p, y):
        return float(functional.multiclass_calibration_error(torch.from_numpy(p), torch.from_numpy(y), num_classes=3, n_bins=m))

    agree(binary, [TM], vectors(dtype), 1e-12 if dtype == np.float64 else 1e-6)
    agree(lambda m, p, y: binary(m, p.astype(np.float32), y), [TM_32], vectors(dtype), 1e-6)
    agree(many, [TM_MANY], matrices(dtype), 1e-6)


@DTYPES
def test_edges_are_those_of_torch(dtype):
    torch = package("torch")
    if torch.backends.cpu.get_cpu_capability() == "DEFAULT":
        pytest.skip("without fused multiply-add its edges differ in the last digit")
    for m in range(1, 301):
        edges = torch.linspace(0, 1, m + 1, dtype=torch.float64 if dtype == np.float64 else torch.float32)
        assert np.array_equal(edges.numpy(), _torch_linspace(m, np.dtype(dtype))), m


@DTYPES
def test_netcal(dtype):
    ece = package("netcal.metrics").ECE
    for cases in (vectors(dtype), matrices(dtype)):
        agree(lambda m, p, y: called(ece(m).measure, p.copy(), y.copy()), [NETCAL], cases, 1e-12)


@DTYPES
def test_relplot(dtype):
    metrics = package("relplot.metrics")

    def many(m, p, y):
        return called(metrics.binnedECE, *metrics.multiclass_logits_to_confidences(p, y, probs=True), m)

    agree(lambda m, p, y: called(metrics.binnedECE, p, y, m), [RELPLOT], vectors(dtype), 1e-12)
    agree(many, [RELPLOT], matrices(dtype), 1e-12)


@DTYPES
@pytest.mark.parametrize(("tool", "name"), [(UC, "get_ece"), (EM, "get_ece_em")])
def test_uncertainty_calibration(dtype, tool, name):
    function = getattr(package("calibration.utils"), name)
    agree(lambda m, p, y: called(function, p, y, num_bins=m), [tool], vectors(dtype), 1e-12)
    agree(lambda m, p, y: called(function, p, y, num_bins=m), [tool], matrices(dtype), 1e-6)


@pytest.mark.parametrize(("tool", "name"), [(UC_DEBIASED, "get_ece"), (EM_DEBIASED, "get_ece_em")])
def test_uncertainty_calibration_debiased(tool, name):
    function = getattr(package("calibration.utils"), name)
    np.random.seed(0)  # noqa: NPY002 - the generator that the package draws from
    cases = [(m, p, y) for m, p, y in vectors(np.float64) if m in (2, 5, 10)]
    # A mean of 1,000 draws: its standard error is at most 0.6·Σ(n_b/n)·s_b/√1000 < 0.002 with 30 rows a data set or more.
    agree(lambda m, p, y: called(function, p, y, num_bins=m, debias=True), [tool], cases, 0.006)
