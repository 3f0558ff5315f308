"""The Python API as a newcomer meets it: wrong kinds, advice that can be followed, plain data, short reprs, docstrings."""

import inspect
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibcore as cc
from calibcore.checks import needs, needs_all
from calibcore.partition import SharedTies

Y = [1, 0, 1, 0] * 28 + [0, 1, 0, 1] * 2  # no score separates the outcomes
P = [0.81, 0.12, 0.47, 0.36] * 30
MODEL = cc.Predictions.from_arrays(Y, P, name="swift", groups={"site": ["a", "b"] * 60}, time=[1, 2] * 60)
PROFILE = MODEL.profile("positive")
BINS = cc.Partition.equal_width(15)

PROFILES = {
    "calibration_in_the_large": (),
    "calibration_ratio": (),
    "chance_range": (BINS,),
    "confidence_band": (),
    "consistency_band": (),
    "cox": (),
    "honest_band": (),
    "hosmer_lemeshow": (),
    "isotonic": (),
    "noise_floor": (BINS,),
    "risk_coverage": (),
    "spiegelhalter": (),
    "t_cal": (),
    "threshold_panel": (0.9,),
}
MODELS = {"by_group": ("site",), "by_period": (), "each_group": ("site", lambda rows: rows.n), "refinement": (), "remedies": ()}
EITHER = {"analyze": (), "detect": ()}
LISTS = {"compare": (), "multilabel": (), "write_profiles": ("model.parquet",)}
NO_MODEL = {  # arrays, files, or p-values
    "adaptive_calibration_error",
    "benjamini_hochberg",
    "bin_statistics",
    "brier_score",
    "classwise_calibration_error",
    "corp_decomposition",
    "cumulative_difference",
    "debiased_squared_error",
    "ece_sweep",
    "expected_calibration_error",
    "holm",
    "inspect",
    "kde_calibration_error",
    "kernel_calibration_error",
    "log_loss",
    "maximum_calibration_error",
    "multilabel_from_arrays",
    "murphy_decomposition",
    "prior_shift",
    "read",
    "reconcile",
    "reduce",
    "reduce_models",
    "root_mean_square_calibration_error",
    "skill_scores",
    "smooth_calibration_error",
    "static_calibration_error",
    "thresholded_adaptive_calibration_error",
    "top_label_calibration_error",
}
FUNCTIONS = {n for n in cc.__all__ if inspect.isfunction(getattr(cc, n))}
WRONG = [None, "swift.csv", 15, 0.5, P, np.array(P), {"p": P}]


def fault(function, *args, **options):
    with pytest.raises(cc.InputError) as found:
        function(*args, **options)
    return str(found.value)


def refusal(name, call):
    """The sentence of a function that must refuse."""
    try:
        call()
    except cc.InputError as found:
        return str(found)
    pytest.fail(f"{name} took it")


# --- 1. Wrong kinds ---------------------------------------------------------------------------------------------------


def test_every_public_function_is_in_one_of_the_lists():
    assert {*PROFILES, *MODELS, *EITHER, *LISTS} | NO_MODEL == FUNCTIONS


@pytest.mark.parametrize("wrong", [*WRONG, MODEL, [PROFILE]], ids=lambda w: type(w).__name__)
@pytest.mark.parametrize("name", PROFILES)
def test_what_takes_a_profile_says_so(name, wrong):
    said = refusal(name, lambda: getattr(cc, name)(wrong, *PROFILES[name]))
    assert said == f"{name} takes a Profile, such as model.profile('positive'); got {got(wrong)}."


@pytest.mark.parametrize("wrong", [*WRONG, PROFILE, [MODEL]], ids=lambda w: type(w).__name__)
@pytest.mark.parametrize("name", MODELS)
def test_what_takes_predictions_says_so(name, wrong):
    said = refusal(name, lambda: getattr(cc, name)(wrong, *MODELS[name]))
    assert said.startswith(f"{name} takes Predictions, such as read('file.csv')[0] or Predictions.from_arrays(")
    assert said.endswith(f"; got {got(wrong)}.")


@pytest.mark.parametrize("wrong", [*WRONG, [MODEL], BINS], ids=lambda w: type(w).__name__)
@pytest.mark.parametrize("name", EITHER)
def test_what_takes_either_names_both(name, wrong):
    said = fault(getattr(cc, name), wrong)
    assert said.startswith(f"{name} takes Predictions, such as ")
    assert said.endswith(f", or a Profile, such as model.profile('positive'); got {got(wrong)}.")


@pytest.mark.parametrize("name", LISTS)
def test_what_takes_several_models_says_so(name):
    function = getattr(cc, name)
    for wrong in (None, "swift.csv", 15, MODEL, PROFILE):
        assert fault(function, wrong, *LISTS[name]) == f"{name} takes a list of Predictions, such as read('file.csv'); got {got(wrong)}."
    assert fault(function, [MODEL, PROFILE], *LISTS[name]).endswith("; got a list with Profile in it.")
    assert fault(function, [], *LISTS[name])  # a sentence of its own


@pytest.mark.parametrize("wrong", [15, "equal_width", [0, 0.5, 1], PROFILE], ids=lambda w: type(w).__name__)
def test_what_takes_a_partition_says_so(wrong):
    calls = {
        "chance_range": lambda: cc.chance_range(PROFILE, wrong),
        "noise_floor": lambda: cc.noise_floor(PROFILE, wrong),
        "by_group": lambda: cc.by_group(MODEL, "site", partition=wrong),
        "multilabel": lambda: cc.multilabel([MODEL], partition=wrong),
        "Profile.bin": lambda: PROFILE.bin(wrong),
    }
    for name, call in calls.items():
        assert fault(call) == f"{name} takes a Partition, such as Partition.equal_width(15); got {got(wrong)}."


def test_methods_and_settings_say_so_too():
    assert fault(cc.Partition.equal_mass, MODEL, 15).startswith("Partition.equal_mass takes a Profile, such as model.profile(")
    assert "takes a Profile" in fault(cc.Settings().partition, MODEL)
    assert "takes Predictions" in fault(cc.Calibrator.fit, PROFILE)
    assert "takes Predictions" in fault(cc.Calibrator.fit(MODEL, "platt").apply_to, PROFILE)
    assert fault(cc.analyze, MODEL, 15).startswith("analyze takes Settings, such as Settings(n_bins=10); got int")
    assert "compare takes Settings" in fault(cc.compare, [MODEL], "positive")


def test_the_helpers_let_the_right_kinds_through():
    needs(PROFILE, (cc.Predictions, cc.Profile), "f")
    needs(PROFILE.bin(BINS), cc.BinnedStatistics, "f")
    needs_all((MODEL, MODEL), cc.Predictions, "f")
    shared = cc.Partition.equal_mass(PROFILE, 3, "share")
    assert isinstance(shared, SharedTies)
    assert cc.chance_range(PROFILE, shared, draws=10).draws == 10


def test_signatures_stay_as_they_are_documented():
    assert list(inspect.signature(cc.threshold_panel).parameters) == ["profile", "t", "closed", "cost_error", "cost_review"]
    assert list(inspect.signature(cc.compare).parameters) == ["models", "settings", "baseline"]


def got(value):
    return "None" if value is None else type(value).__name__


# --- 2. Advice that can be followed -------------------------------------------------------------------------------------

NOT_FOR_ARRAYS = ("missing=", "--", "scale=", "(scale", "with scale")


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda: cc.expected_calibration_error([1, 1], [0.1, np.nan]), "Leave these rows out"),
        (lambda: cc.expected_calibration_error([1, None], [0.1, 0.2]), "Leave these rows out"),
        (lambda: cc.expected_calibration_error(["a", None], [[0.1, 0.9], [0.2, 0.8]], classes=["a", "b"]), "Leave these rows out"),
        (lambda: cc.expected_calibration_error([1, 0], [97, 20]), "Divide percent by 100"),
        (lambda: cc.brier_score([0, 1], [[0.2, 0.3], [0.6, 0.4]]), "divide each by its sum"),
        (lambda: cc.Predictions.from_top_label([0.9, np.nan], [1, 0]), "Leave these rows out"),
        (lambda: cc.Predictions.from_top_label([0.9, 0.8], [1, np.nan]), "Leave these rows out"),
        (lambda: cc.Calibrator.fit(MODEL, "platt").apply([0.1, np.nan]), "Leave these rows out"),
        (lambda: cc.Calibrator.fit(MODEL, "platt").apply([0.1, 12.0]), "Divide percent by 100"),
        (lambda: cc.Calibrator.fit(MODEL, "platt").apply([[0.1, 0.4]]), "divide each by its sum"),
        (lambda: cc.multilabel_from_arrays([[1, 0]], [[0.3, np.nan]]), "Leave these rows out"),
    ],
)
def test_arrays_get_advice_for_arrays(call, advice):
    said = fault(call)
    assert advice in said
    assert not any(option in said for option in NOT_FOR_ARRAYS)


@pytest.mark.parametrize(
    ("text", "mapping", "option"),
    [
        (b"y,p\n1,0.7\n0,\n1,0.6\n", {}, 'missing="drop"'),
        (b"y,p_a,p_b,p_c\na,0.5,0.2,0.3\nb,0.2,0.2,0.1\n", {"label": "y", "probabilities": ("p_a", "p_b", "p_c")}, "--scale unnormalised"),
        (b"y,p\n1,0.7\n0,1.7\n", {"label": "y", "probabilities": "p", "scale": "fraction"}, "--scale"),
    ],
)
def test_files_get_the_option(text, mapping, option):
    assert option in fault(cc.read, text, mapping=cc.Mapping(**mapping))


def test_three_labels_with_one_column_get_advice_that_works():
    y, p = np.array(["cat", "dog", "owl"]), [0.5, 0.25, 0.75]
    said = fault(cc.expected_calibration_error, y, p)
    assert "The labels are cat, dog and owl" in said
    assert "classes=" not in said
    assert "one column of probabilities for each class, or 0/1 labels" in said
    assert "Predictions.from_top_label(confidence, correct)" in said
    # what it advises: |0 − 0.5|/3 + |0 − 0.25|/3 + |1 − 0.75|/3 = 1/3, in three bins
    assert cc.expected_calibration_error(y == "owl", p) == pytest.approx(1 / 3)
    assert cc.expected_calibration_error(y, np.eye(3)) == 0.0
    assert cc.Predictions.from_top_label(p, [1, 0, 1]).n == 3
    assert "0/1 labels for the class" in fault(cc.Predictions.from_arrays, y, p, positive="cat")


@pytest.mark.parametrize(
    "name",
    [
        "adaptive_calibration_error",
        "bin_statistics",
        "brier_score",
        "corp_decomposition",
        "cumulative_difference",
        "debiased_squared_error",
        "ece_sweep",
        "expected_calibration_error",
        "log_loss",
        "murphy_decomposition",
        "reconcile",
        "smooth_calibration_error",
        "top_label_calibration_error",
    ],
)
def test_two_labels_get_classes_which_every_array_function_takes(name):
    function, y, p = getattr(cc, name), ["no", "yes", "no", "yes"], [0.2, 0.8, 0.4, 0.7]
    assert "with classes=(other, positive)" in fault(function, y, p)
    function(y, p, classes=("no", "yes"))


def test_reconcile_takes_classes_and_weights():
    y, p = ["no", "yes"], [0.25, 0.75]
    rows = cc.reconcile(y, p, n_bins=2, classes=("no", "yes"), sample_weight=[3, 1])
    assert rows[0].ece == pytest.approx(0.25)  # both bins are off by 1/4
    assert rows[0].ece == cc.reconcile([0, 1], p, n_bins=2)[0].ece


def test_swapped_arguments_are_recognised():
    assert "were the two arguments swapped?" in fault(cc.expected_calibration_error, [0.2, 0.7], [1, 0])
    assert "were the two arguments swapped?" in fault(cc.bin_statistics, P, Y)
    assert "were the two arguments swapped?" in fault(cc.log_loss, np.float32(P), np.array(Y, dtype=bool))
    assert "swapped" not in fault(cc.expected_calibration_error, [0.2, 0.7], [0.4, 0.6])  # scores may be both
    assert "swapped" not in fault(cc.expected_calibration_error, ["no", "yes"], [0, 1])
    assert cc.brier_score([1, 0], [1, 0]) == 0.0


# --- 3. Hyphens -----------------------------------------------------------------------------------------------------------


def test_settings_take_the_spelling_of_the_command_line():
    settings = cc.Settings(view="top-label", strategy="equal-mass")
    assert settings == cc.Settings(view="top_label", strategy="equal_mass")
    assert (settings.to_dict()["view"], settings.to_dict()["strategy"]) == ("top_label", "equal_mass")
    assert cc.Settings(view="class:top-label").view == "class:top-label"  # a name is a name
    assert "strategy must be one of" in fault(cc.Settings, strategy="equal-weight")
    assert "strategy must be one of" in fault(cc.Settings, strategy=3)
    assert "A view is" in fault(cc.Settings, view=None)
    assert cc.analyze(MODEL, settings).to_dict()["view"] == "top_label"


def test_views_and_strategies_elsewhere_do_too():
    assert MODEL.profile("top-label") is MODEL.profile("top_label")
    assert cc.by_group(MODEL, "site", view="top-label").view == cc.by_period(MODEL, view="top-label").view == "top_label"
    for function in (cc.expected_calibration_error, cc.top_label_calibration_error):
        assert function(Y, P, strategy="equal-mass") is not None
    one, other = (cc.bin_statistics(Y, P, view=v, strategy=s) for v, s in (("top-label", "equal-mass"), ("top_label", "equal_mass")))
    assert one.to_dict() == other.to_dict()
    assert "A view is" in fault(MODEL.profile, 3)


# --- 4. Plain data --------------------------------------------------------------------------------------------------------


def test_bins_as_plain_data():
    # (0, ½]: mean 0.25, no event, gap −0.25; (½, 1]: empty in three bins of edges 0, 0.5, 0.7, 1 but for (0.7, 1].
    bins = cc.bin_statistics([0, 1, 1, 1], [0.25, 0.75, 0.75, 0.75], edges=[0, 0.5, 0.7, 1])
    plain = bins.to_dict()
    assert plain["count"] == [1, 0, 3]
    assert plain["gap"] == [-0.25, None, 0.25]
    assert plain["accuracy"] == [0.0, None, 1.0]
    assert plain["interval"][1] is None
    assert (plain["ece"], plain["mce"], plain["mce_bin"], plain["strategy"]) == (0.25, 0.25, 0, "custom")
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    low, high = bins.interval(0.5)
    assert bins.to_dict(0.5)["interval"][2] == [low[2], high[2]]


@given(rows=st.lists(st.tuples(st.integers(0, 20), st.booleans(), st.integers(1, 3)), min_size=1, max_size=25))
def test_plain_bins_do_not_depend_on_the_order_of_rows_nor_on_how_repetitions_are_written(rows):
    p, y, w = (np.array(x) for x in zip(*rows, strict=True))
    p = p / 20
    plain = cc.bin_statistics(y.astype(int), p, n_bins=4, sample_weight=w).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    turned = cc.bin_statistics(y[::-1].astype(int), p[::-1], n_bins=4, sample_weight=w[::-1]).to_dict()
    repeated = cc.bin_statistics(np.repeat(y, w).astype(int), np.repeat(p, w), n_bins=4).to_dict()
    for other in (turned, repeated):
        assert other["weight"] == plain["weight"]
        for a, b in zip(other["gap"], plain["gap"], strict=True):
            assert (a is None and b is None) or a == pytest.approx(b, abs=1e-12)


def test_bins_with_shared_ties_have_no_intervals_in_plain_data():
    plain = cc.bin_statistics([0, 1, 1, 1], [0.5] * 4, n_bins=2, strategy="equal_mass", ties="share").to_dict()
    assert plain["interval"] == [None, None]
    json.dumps(plain, allow_nan=False)


def test_classwise_and_reconciled_as_plain_data():
    found = cc.classwise_calibration_error([0, 1], [[0.75, 0.25], [0.25, 0.75]], n_bins=2)
    assert found.to_dict() == {"mean": 0.25, "per_class": {"0": {"ece": 0.25, "n": 1}, "1": {"ece": 0.25, "n": 1}}}
    rows = cc.reconcile([0, 0, 1], [[0.75, 0.25, 0], [0.5, 0.25, 0.25], [0.25, 0.75, 0]])
    assert any(row.ece is None for row in rows)  # one tool refuses rows with two of three classes
    for row in rows:
        assert row.to_dict() == {"tool": row.tool, "ece": row.ece, "why": row.why}
    assert "may be None" in inspect.getdoc(type(rows[0]))


# --- 5. Short reprs ---------------------------------------------------------------------------------------------------------


def many():
    rng = np.random.default_rng(1)
    p = rng.random(2000)
    y = (rng.random(2000) < p**2).astype(int)
    return cc.Predictions.from_arrays(y, p, name="swift", groups={"g": rng.integers(0, 30, 2000)}, time=rng.integers(0, 20, 2000))


@pytest.fixture(scope="module")
def results():
    model = many()
    other = cc.Predictions.from_arrays(model.label, model.probabilities[:, 1] ** 2, name="swallow")
    p, y = model.profile("positive"), model.label
    mass, cumulative = cc.Partition.equal_mass(p, 300), cc.cumulative_difference(y, p_of(model))
    analysis, comparison = cc.analyze(model), cc.compare([model, other])
    both = cc.multilabel([model, other])
    return {
        "Predictions": model,
        "Profile": p,
        "Partition": mass,
        "SharedTies": cc.Partition.equal_mass(p, 300, "share"),
        "BinnedStatistics": p.bin(mass),
        "Analysis": analysis,
        "Comparison": comparison,
        "Pairing": comparison.differences[0].pairing,
        "Sweep": analysis.sweep,
        "ChanceSweep": analysis.chance_sweep,
        "Detection": analysis.detection,
        "DiagnosticBins": analysis.detection.bins,
        "CurveBand": cc.consistency_band(p, draws=20),
        "HonestBand": cc.honest_band(p),
        "IsotonicCurve": cc.isotonic(p),
        "Blocks": cc.isotonic(p).blocks,
        "CumulativeDifferences": cumulative,
        "CumulativeCurve": cumulative.curve(),
        "KernelError": cc.kernel_calibration_error(y, p_of(model)),
        "RiskCoverage": cc.risk_coverage(p),
        "TCal": cc.t_cal(p),
        "Groups": cc.by_group(model, "g", minimum=1000),
        "Periods": cc.by_period(model),
        "MultiLabel": both,
        "Label": both.labels[0],
        "Refinement": cc.refinement(model, method="platt", folds=2),
        "Calibrator": cc.Calibrator.fit(model, "isotonic"),
    }


def p_of(model):
    return model.probabilities[:, 1]


def test_reprs_are_one_short_line(results):
    for name, result in results.items():
        shown = repr(result)
        assert type(result).__name__ == name
        assert shown.startswith(f"<{name}"), shown
        assert shown.endswith(">")
        assert len(shown) < 140
        assert "\n" not in shown
        assert "array(" not in shown


def test_the_repr_of_an_analysis_holds_its_numbers(results):
    a = results["Analysis"]
    chance = f"(chance {a.chance.median:.4f} to {a.chance.p95:.4f})"
    assert repr(a) == f"<Analysis of 'swift': n = 2,000, ECE {a.ece:.4f} {chance}, {a.pattern.name}>"
    assert "'swallow' (ECE " in repr(results["Comparison"])
    assert repr(MODEL) == "<Predictions of 'swift': binary, 120 rows, classes 0 and 1>"
    assert repr(PROFILE) == "<Profile of the view 'positive': 120 rows in 4 distinct values>"
    weighted = cc.Predictions.from_arrays([0, 1, 1], [0.2, 0.4, 0.6], sample_weight=[1, 2, 3], cluster=["a", "a", "b"])
    assert repr(weighted.profile()).endswith("weighted, 2 clusters>")
    assert repr(cc.Predictions.from_top_label([0.9], [1])) == "<Predictions of 'model': top_label, 1 row>"


# --- 6 and 7. Docstrings ----------------------------------------------------------------------------------------------------

LINK = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)")


def resolves(name, owner):
    """Whether a name in a docstring can be found from ``cc``, on its owner, or by its full path."""
    parts = name.split(".")
    if parts[0] == "calibcore":
        module = __import__(".".join(parts[:-1]), fromlist=[parts[-1]])
        return hasattr(module, parts[-1])
    found = cc if hasattr(cc, parts[0]) else owner
    for part in parts:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


@pytest.mark.parametrize("name", sorted(set(cc.__all__) - {"__version__"}))
def test_a_docstring_names_only_what_a_reader_can_find(name):
    public = getattr(cc, name)
    texts = [inspect.getdoc(public)]
    if inspect.isclass(public):
        texts += [inspect.getdoc(v) for k, v in vars(public).items() if not k.startswith("_") and (callable(v) or isinstance(v, property))]
    unknown = sorted({n for t in texts if t for n in LINK.findall(t) if not resolves(n, public)})
    assert unknown == []


@pytest.mark.parametrize("name", ["cumulative_difference", "smooth_calibration_error", "kernel_calibration_error", "kde_calibration_error"])
def test_a_public_function_holds_its_own_formula(name):
    notes = inspect.getdoc(getattr(cc, name)).partition("Notes\n")[2].partition("References\n")[0]
    assert re.search(r"[Σ∫]", notes)
    assert re.search(r"chance|noise|larger|upwards", notes)  # the bias
    assert "independent" in notes


def test_an_interval_of_scores_says_what_it_is(results):
    for name in ("CumulativeDifferences", "Detection"):
        assert isinstance(results[name].interval, tuple)
        assert "not a confidence interval" in " ".join(inspect.getdoc(type(results[name])).split())
