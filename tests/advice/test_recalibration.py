"""Remedies judged on held-out rows: folds, the leak, what is found in simulation, and the split of a score."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import D_P, D_Y, floats
from scipy import special

from calibcore.advice.calibrator_file import Calibrator
from calibcore.advice.cross_fitting import cross_fit, fold_of
from calibcore.advice.held_out import differences
from calibcore.advice.outcome_words import outcome
from calibcore.advice.recalibration import confidence_only, refinement, remedies
from calibcore.errors import InputError
from calibcore.inference import comparison
from calibcore.inference.intervals import Estimate
from calibcore.partition import Partition
from calibcore.predictions import Predictions


def e(times=1):
    """50 rows at 0.1 (10 events) and 50 at 0.9 (40 events), repeated."""
    return Predictions.from_arrays(([1] * 10 + [0] * 40 + [1] * 40 + [0] * 10) * times, ([0.1] * 50 + [0.9] * 50) * times, name="e")


def simulated(n, seed, truth, spread=2.0):
    """Two classes; ``truth`` gives the true logit for the logit that the model says."""
    random = np.random.default_rng(seed)
    z = random.normal(0, spread, n)
    y = (random.random(n) < special.expit(truth(z))).astype(int)
    return Predictions.from_arrays(y, special.expit(z))


# ---------------------------------------------------------------------------------------------------- folds


@given(st.lists(st.integers(0, 2), min_size=10, max_size=60), st.integers(2, 7), st.integers(0, 5))
def test_folds_are_stratified(labels, folds, seed):
    p = np.random.default_rng(seed).dirichlet([1, 1, 1], len(labels))
    fold = fold_of(Predictions.from_matrix(np.array(labels), p, ("a", "b", "c")), folds=folds, seed=seed)
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.max() - sizes.min() <= 1
    for k in range(3):
        counts = np.bincount(fold[np.array(labels) == k], minlength=folds)
        assert counts.max() - counts.min() <= 1


@given(st.lists(st.tuples(st.sampled_from("abcdefghij"), st.integers(0, 1)), min_size=12, max_size=60), st.integers(2, 4))
def test_clusters_stay_whole(rows, folds):
    clusters, labels = (np.array(c) for c in zip(*rows, strict=True))
    model = Predictions.from_arrays(labels, np.full(len(rows), 0.5), cluster=clusters)
    if len(set(clusters)) < folds:
        with pytest.raises(InputError, match="a cluster stays whole"):
            fold_of(model, folds=folds)
        return
    fold = fold_of(model, folds=folds)
    assert all(len(set(fold[clusters == c])) == 1 for c in set(clusters))
    assert len(set(fold)) == folds


def test_clusters_are_dealt_by_label_and_size():
    # 20 clusters of 4 rows, 10 of each label: two of each label in each of five folds
    labels = np.repeat([0, 1] * 10, 4)
    fold = fold_of(Predictions.from_arrays(labels, np.full(80, 0.5), cluster=np.repeat(np.arange(20), 4)), folds=5)
    assert [np.bincount(fold[labels == k]).tolist() for k in (0, 1)] == [[8] * 5, [8] * 5]


def test_folds_do_not_depend_on_the_order_of_the_rows():
    model = simulated(200, 1, lambda z: z)
    order = np.random.default_rng(2).permutation(200)
    assert fold_of(model.take(order), seed=3).tolist() == fold_of(model, seed=3)[order].tolist()
    assert fold_of(model, seed=3).tolist() != fold_of(model, seed=4).tolist()


@pytest.mark.parametrize("folds", [1, 0, 2.5, True, 101])
def test_wrong_numbers_of_folds(folds):
    with pytest.raises(InputError, match="from 2 to 100"):
        fold_of(e(), folds=folds)


@pytest.mark.parametrize("seed", [-1, 0.5, True, None])
def test_wrong_seeds(seed):
    with pytest.raises(InputError, match="whole number from 0 up"):
        fold_of(e(), seed=seed)


def test_too_few_rows_for_the_folds():
    with pytest.raises(InputError, match="5 folds need at least 5 rows"):
        remedies(Predictions.from_arrays([0, 1], [0.2, 0.7]))


# ---------------------------------------------------------------------------------------------------- held out


def test_no_row_is_mapped_by_a_fit_that_saw_it():
    # turning the label of one row changes the maps of the other folds only: its own value stays
    model = simulated(60, 5, lambda z: z / 2)
    fold = fold_of(model, folds=5)
    for method in ("platt", "isotonic", "venn_abers", "histogram"):
        before = cross_fit(model, method, fold=fold).predictions.probabilities[:, 1]
        for row in (0, 17, 41):
            label = model.label.copy()
            label[row] = 1 - label[row]
            after = cross_fit(Predictions.from_arrays(label, model.probabilities[:, 1]), method, fold=fold).predictions.probabilities[:, 1]
            own = fold == fold[row]
            assert after[own].tolist() == before[own].tolist()
            assert after[~own].tolist() != before[~own].tolist()


def test_isotonic_leaks_on_its_own_rows():
    # the probabilities of D say nothing here: labels at random
    random = np.random.default_rng(8)
    model = Predictions.from_arrays(random.integers(0, 2, 2000), random.random(2000))
    bins = Partition.equal_width(15)
    own = Calibrator.fit(model, "isotonic").apply_to(model).profile("positive")
    held_out = cross_fit(model, "isotonic").predictions.profile("positive")
    assert own.bin(bins).ece == pytest.approx(0, abs=1e-12)  # the mean of each block is the share of events in it
    assert held_out.bin(bins).ece > 0.005
    assert own.totals.brier < 2000 * 0.25 < held_out.totals.brier  # nothing can beat 1/4 on labels that are coins


def test_isotonic_on_d():
    own = Calibrator.fit(Predictions.from_arrays(D_Y, floats(D_P)), "isotonic").apply_to(Predictions.from_arrays(D_Y, floats(D_P)))
    assert own.profile("positive").bin(Partition.equal_width(15)).ece == pytest.approx(0, abs=1e-15)
    with pytest.raises(InputError):
        cross_fit(Predictions.from_arrays([1] * 10, floats(D_P)), "platt")


def test_differences_by_hand():
    # Brier 0.25, 0.25, 0.25, 0.25 → 0.04, 0.04, 0.64, 0.04: differences −.21, −.21, .39, −.21; mean −.06, sd .3, se .15
    before, after = (Predictions.from_arrays([1, 1, 0, 1], p) for p in ([0.5] * 4, [0.8] * 4))
    _, brier, gap = differences(before, after, view="positive")
    t = 3.182446305284263  # 97.5 % point of t with 3 degrees of freedom, from tables 3.182
    assert (brier.value, brier.low, brier.high) == pytest.approx((-0.06, -0.06 - t * 0.15, -0.06 + t * 0.15), abs=1e-9)
    assert (gap.value, gap.low, gap.high) == pytest.approx((-0.3, -0.3, -0.3), abs=1e-12)


def test_differences_are_those_of_two_models():
    before = simulated(300, 14, lambda z: z / 2)
    after = cross_fit(before, "platt").predictions
    other = comparison.differences(before, after)
    for mine, theirs in zip(differences(before, after), (other.log_loss, other.brier, other.gap), strict=True):
        assert (mine.value, mine.low, mine.high) == pytest.approx((theirs.value, theirs.low, theirs.high), abs=1e-12)


def test_differences_of_clusters():
    # every row twice, and both in one cluster: the interval of the single rows, not a narrower one
    p, q, y = [0.5, 0.4, 0.7, 0.9, 0.2], [0.6, 0.3, 0.8, 0.7, 0.2], [1, 0, 1, 0, 0]
    single = differences(*(Predictions.from_arrays(y, v) for v in (p, q)))
    twice = differences(*(Predictions.from_arrays(y * 2, v * 2, cluster=list("abcde") * 2) for v in (p, q)))
    for one, two in zip(single, twice, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((two.value, two.low, two.high), abs=1e-12)


def test_rows_without_a_cluster_are_each_their_own():
    # clusters of 2 rows and rows alone: the interval of the same rows with a name for each that stands alone
    p, q, y = [0.5, 0.4, 0.7, 0.9, 0.2, 0.6], [0.6, 0.3, 0.8, 0.7, 0.2, 0.5], [1, 0, 1, 0, 0, 1]
    for missing in ("", None, np.nan):
        some = np.array(["a", "a", missing, missing, "b", "b"], dtype=object)
        found = [
            differences(*(Predictions.from_arrays(y, v, cluster=c) for v in (p, q)))
            for c in (some, np.array(["a", "a", "c", "d", "b", "b"]))
        ]
        assert [e.to_dict() for e in found[0]] == [e.to_dict() for e in found[1]]
    # and they are dealt out apart, whatever the order of the file
    rng = np.random.default_rng(3)
    model = simulated(120, 4, lambda z: z)
    cluster = np.where(np.arange(120) < 60, "", (np.arange(120) // 4).astype(str))
    alone = Predictions.from_arrays(model.label, model.probabilities[:, 1], cluster=cluster)
    fold = fold_of(alone)
    assert set(fold[:60].tolist()) == set(range(5))
    assert all(len(set(fold[cluster == c].tolist())) == 1 for c in set(cluster[60:].tolist()))
    order = rng.permutation(120)
    assert fold_of(alone.take(order)).tolist() == fold[order].tolist()
    assert remedies(alone, methods=["temperature"]).clusters == 75
    each = Predictions.from_arrays(model.label, model.probabilities[:, 1], cluster=np.arange(120))
    assert fold_of(each).tolist() == fold_of(model).tolist()
    assert remedies(each, methods=["temperature"]).clusters is None


def test_scale_of_weights_changes_nothing():
    random = np.random.default_rng(11)
    p, w = random.random(300), random.integers(1, 5, 300)
    y = (random.random(300) < p**2).astype(int)
    found = [remedies(Predictions.from_arrays(y, p, sample_weight=w * s), methods=["platt", "venn_abers"]) for s in (1, 1e15, 1e-15)]
    for other in found[1:]:
        for one, two in zip(found[0].tried, other.tried, strict=True):
            assert one.answer == two.answer
            assert one.log_loss.to_dict() == pytest.approx(two.log_loss.to_dict(), rel=1e-9)


def test_order_of_rows_changes_nothing():
    model = simulated(300, 12, lambda z: z / 2)
    order = np.random.default_rng(1).permutation(300)
    one, two = (remedies(m, methods=["platt", "beta"]) for m in (model, model.take(order)))
    for a, b in zip(one.tried, two.tried, strict=True):
        assert a.after.log_loss == pytest.approx(b.after.log_loss, abs=1e-12)
        assert a.log_loss.to_dict() == pytest.approx(b.log_loss.to_dict(), abs=1e-12)


# ---------------------------------------------------------------------------------------------------- what is found


def test_temperature_distortion_is_repaired():
    # true logit = z/2: T = 2.  The information about 1/T in n rows is n·E[z²p(1−p)] at p = expit(z/2), z ~ N(0, 2²): 0.577 n,
    # so se(1/T) = 0.021 at n = 4,000 and se(T) = T²·0.021 = 0.084; four of them
    found = remedies(simulated(4000, 21, lambda z: z / 2), methods=["temperature", "isotonic"])
    temperature = found["temperature"]
    assert temperature.status == "helps"
    assert temperature.parameters["temperature"].value[0] == pytest.approx(2, abs=0.34)
    low, high = (temperature.parameters["temperature"].low[0], temperature.parameters["temperature"].high[0])
    assert low < temperature.parameters["temperature"].value[0] < high
    assert found.best.method == "temperature"
    assert found.answer.startswith("Temperature scaling helps: log loss −0.")
    assert temperature.after.ece < found.before.ece
    assert temperature.after.chance.p95 > 0


def rule(found, model):
    """The one-standard-error rule, from the held-out losses of each map that helps, fitted anew."""
    order = ["intercept", "temperature", "platt", "beta", "vector", "histogram", "isotonic", "venn_abers"]
    losses = {r.method: cross_fit(model, r.method).predictions.row_scores()[1] for r in found.tried if r.status == "helps"}
    lowest = min(losses, key=lambda m: losses[m].mean())
    for method in sorted(losses, key=order.index):
        d = losses[method] - losses[lowest]
        if model.cluster is None:
            error = d.std(ddof=1) / math.sqrt(len(d))
        else:  # equal clusters of consecutive rows
            error = d.reshape(len(set(model.cluster.tolist())), -1).mean(axis=1).std(ddof=1) / math.sqrt(len(set(model.cluster.tolist())))
        if d.mean() <= error:
            return method, lowest
    raise AssertionError


@pytest.mark.parametrize(
    ("truth", "seed"), [(lambda z: z / 2, 1), (lambda z: z - 1, 2), (lambda z: z / 2 - 0.5, 3), (lambda z: np.where(z > 0, z / 3, z), 4)]
)
def test_the_simplest_within_one_standard_error_is_the_best(truth, seed):
    model = simulated(2000, seed, truth)
    found = remedies(model, methods=["venn_abers", "isotonic", "beta", "platt", "temperature", "intercept"])
    assert found.best.method == rule(found, model)[0]
    assert found.answer == found.best.answer[:-1] + "; about as good as any that was tried."
    assert len(found.answer.split()) <= 30
    assert found.to_dict()["best"] == found.best.method


def test_one_number_is_preferred_where_one_is_wrong():
    # true logit z/2: Platt, beta and isotonic regression hold temperature scaling or come near it, so none is clearly better
    found = [remedies(simulated(2000, 300 + s, lambda z: z / 2)) for s in range(10)]
    assert sum(r.best.method == "temperature" for r in found) >= 8  # an error is passed in about one of six


def test_the_rule_takes_clusters_as_they_are():
    random = np.random.default_rng(72)
    z = np.repeat(random.normal(0, 2, 300), 5)
    y = np.repeat((random.random(300) < special.expit(z[::5] / 2 - 0.3)).astype(int), 5)
    model = Predictions.from_arrays(y, special.expit(z), cluster=np.repeat(np.arange(300), 5))
    found = remedies(model, methods=["intercept", "temperature", "platt", "beta"])
    assert found.best.method == rule(found, model)[0]


def test_a_map_that_rules_out_what_happened_is_not_the_best():
    # 90 rows at 1 are wrong: temperature scaling leaves them at 1, Platt scaling does not
    y = [1] * 210 + [0] * 90 + [0] * 200 + [1] * 100
    found = remedies(Predictions.from_arrays(y, [1.0] * 300 + [0.4] * 300))
    assert found.best.after.clipped == 0
    assert len(found.answer.split()) <= 30


def test_three_classes():
    random = np.random.default_rng(23)
    z = random.normal(0, 2, (3000, 4))
    labels = (special.softmax(z / 2, axis=1).cumsum(axis=1) > random.random(3000)[:, None]).argmax(axis=1)
    model = Predictions.from_arrays(labels, special.softmax(z, axis=1))
    found = remedies(model)
    assert [r.method for r in found.tried] == ["temperature", "intercept", "vector"]
    assert found["temperature"].status == "helps"
    assert found["temperature"].parameters["temperature"].value[0] == pytest.approx(2, abs=0.3)
    assert len(found["vector"].parameters["scale"].low) == 4
    assert found["intercept"].status == "does_not_help"  # no class is too frequent
    assert "confidence_only" in found.notes[0]
    alone = remedies(confidence_only(model), methods=["isotonic"])
    assert alone["isotonic"].status == "helps"


def test_an_honest_model_needs_no_remedy():
    # each "helps" is a false alarm of at most 2.5 %, and a fit costs a little besides: over 20 models × 5 maps, at most 5 alarms
    # (a Poisson count of mean 2.5 exceeds 5 in 4 % of cases; the seed is fixed)
    methods = ["temperature", "intercept", "platt", "beta", "venn_abers"]
    found = [r for seed in range(20) for r in remedies(simulated(500, 100 + seed, lambda z: z), methods=methods).tried]
    assert sum(r.status == "helps" for r in found) <= 5
    assert sum(r.status == "does_not_help" for r in found) >= 0.75 * len(found)
    said = {False: " does not help here: ", True: "These rows do not tell whether "}
    assert all(said[r.undecided] in r.answer for r in found if r.status == "does_not_help")


def test_none_helps_is_a_normal_answer():
    found = remedies(simulated(800, 31, lambda z: z))
    assert found.best is None
    assert found.answer == "No recalibration that was tried helps here."
    assert found["isotonic"].answer == "Isotonic regression needs about 1,000 rows to fit; there are 640."


def test_a_crossing_is_repaired_by_isotonic_and_not_by_temperature():
    # confidences 0.5 … 1; right 12 points more often below 0.75, 12 points less often above
    random = np.random.default_rng(41)
    confidence = 0.5 + 0.5 * random.random(6000)
    truth = np.clip(confidence - 0.12 * np.sign(confidence - 0.75), 0, 1)
    found = remedies(Predictions.from_top_label(confidence, random.random(6000) < truth), methods=["temperature", "isotonic", "venn_abers"])
    assert found["isotonic"].status == "helps"
    assert found["venn_abers"].status == "helps"
    gain = {r.method: -r.brier.value for r in found.tried}
    assert gain["isotonic"] > 0.005  # of the 0.0144 that 12 points cost
    assert gain["temperature"] < gain["isotonic"] / 2


def test_permuted_labels():
    # the scores say nothing, so the best that any map can do is the base rate: a log loss of its entropy, and no better
    model = simulated(2000, 51, lambda z: z)
    label = np.random.default_rng(52).permutation(model.label)
    found = remedies(Predictions.from_arrays(label, model.probabilities[:, 1]), methods=["temperature", "platt", "venn_abers"])
    rate = label.mean()
    entropy = -(rate * math.log(rate) + (1 - rate) * math.log(1 - rate))
    for remedy in found.tried:
        assert remedy.status == "helps"  # against scores that are sure of nothing
        assert remedy.after.log_loss > entropy - 0.001
        assert remedy.after.log_loss < entropy + 0.02


def test_base_rate_change_is_repaired_by_the_intercept():
    found = remedies(simulated(3000, 61, lambda z: z - 1), methods=["temperature", "intercept"], view="positive")
    assert found.best.method == "intercept"
    bias = found["intercept"].parameters["bias"].value
    assert bias[1] - bias[0] == pytest.approx(-1, abs=0.25)  # se = 1/√(n·E p(1−p)) ≈ 0.05
    assert found.before.gap < -0.1
    assert abs(found["intercept"].after.gap) < 0.01
    assert found["intercept"].gap.value == pytest.approx(found["intercept"].after.gap - found.before.gap, abs=1e-12)


def test_clusters_widen_the_interval():
    random = np.random.default_rng(71)
    z = np.repeat(random.normal(0, 2, 150), 10)
    y = np.repeat((random.random(150) < special.expit(z[::10] / 2)).astype(int), 10)
    alone, together = (
        remedies(Predictions.from_arrays(y, special.expit(z), cluster=c), methods=["temperature"])
        for c in (None, np.repeat(np.arange(150), 10))
    )
    assert (alone.clusters, together.clusters) == (None, 150)
    # ten copies of one row are one piece of evidence: an interval √10 as wide, up to the other folds
    widths = [r["temperature"].log_loss.high - r["temperature"].log_loss.low for r in (alone, together)]
    assert widths[1] / widths[0] == pytest.approx(10**0.5, rel=0.15)


# ---------------------------------------------------------------------------------------------------- hard cases


def test_certain_and_wrong_is_judged_by_brier():
    # 90 of 300 rows at 1 are wrong: their log loss is infinite, so its difference has no interval
    y = [1] * 210 + [0] * 90 + [0] * 200 + [1] * 100
    found = remedies(Predictions.from_arrays(y, [1.0] * 300 + [0.4] * 300), methods=["platt", "temperature"])
    platt = found["platt"]
    assert found.before.clipped == 90
    assert (platt.log_loss.low, platt.log_loss.high) == (None, None)
    assert platt.after.clipped == 0
    assert platt.status == "helps"
    assert platt.answer.startswith("Platt scaling helps: Brier score −0.")
    assert platt.answer.endswith("rows with a probability of 0 for what happened: 90 before, 0 after.")


def test_what_cannot_be_fitted_is_said():
    separated = Predictions.from_arrays([0] * 10 + [1] * 10, np.linspace(0.05, 0.95, 20))
    found = remedies(separated)
    assert [found[m].status for m in ("temperature", "platt", "beta")] == ["not_tried"] * 3
    assert "cannot be fitted here" in found["platt"].answer
    assert found["isotonic"].answer.endswith("there are 16.")
    one_class = remedies(Predictions.from_arrays([1] * 20, np.linspace(0.05, 0.95, 20)), methods=["platt", "intercept"])
    assert one_class.best is None
    assert one_class.answer == "No recalibration could be tried on these rows."
    assert "none of class 0" in one_class["platt"].answer
    rare = Predictions.from_arrays([1] + [0] * 30, np.linspace(0.05, 0.95, 31))  # the only event is held out once
    assert remedies(rare, methods=["intercept"])["intercept"].status == "not_tried"


def test_unknown_names():
    with pytest.raises(InputError, match="no method 'spline'"):
        remedies(e(), methods=["spline"])
    with pytest.raises(InputError, match="no view"):
        remedies(e(), view="class:7")
    with pytest.raises(InputError, match="was not tried"):
        _ = remedies(e(), methods=["platt"])["beta"]


def test_more_than_a_hundred_classes_try_one_number_only():
    random = np.random.default_rng(81)
    z = random.normal(0, 2, (600, 101))
    labels = (special.softmax(z / 2, axis=1).cumsum(axis=1) > random.random(600)[:, None]).argmax(axis=1)
    found = remedies(Predictions.from_matrix(labels, special.softmax(z, axis=1), tuple(map(str, range(101)))))
    assert [r.status for r in found.tried] == ["helps", "not_tried", "not_tried"]
    assert "ask for it by name" in found["vector"].answer


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_plain_data(dtype):
    model = simulated(400, 91, lambda z: z / 2)
    model = Predictions.from_arrays(model.label, model.probabilities[:, 1].astype(dtype))
    data = json.loads(json.dumps(remedies(model).to_dict(), allow_nan=False))
    assert data["best"] in [r["method"] for r in data["tried"]]
    assert set(data["before"]["chance"]) >= {"median", "p95"}
    first = data["tried"][0]
    assert set(first) == {"method", "title", "status", "answer", "n_fit", "after", "log_loss", "brier", "gap", "parameters", "notes"}
    assert set(first["parameters"]["temperature"]) == {"value", "low", "high"}
    json.dumps(refinement(model).to_dict(), allow_nan=False)


# ---------------------------------------------------------------------------------------------------- refinement


@pytest.mark.parametrize("method", ["temperature", "platt"])
def test_refinement_of_e(method):
    # in sample: log loss .5448054311 = .5004024235 + .0444030076, Brier 17/100 → 4/25.  Held out on 4,000 rows the fit of 3,200
    # costs about k/2 · (1/3,200) in log loss for k parameters, and no more than ten times that here
    found = refinement(e(40), method=method)
    assert found.log_loss.score == pytest.approx(-(0.8 * math.log(0.9) + 0.2 * math.log(0.1)), rel=1e-12)
    assert found.log_loss.refinement == pytest.approx(-(0.8 * math.log(0.8) + 0.2 * math.log(0.2)), abs=0.002)
    assert found.log_loss.refinement >= -(0.8 * math.log(0.8) + 0.2 * math.log(0.2))
    assert found.log_loss.calibration.value == pytest.approx(0.0444030076, abs=0.002)
    assert found.brier.score == pytest.approx(17 / 100, rel=1e-12)
    assert found.brier.refinement == pytest.approx(4 / 25, abs=0.001)
    for split in (found.log_loss, found.brier):
        assert split.refinement + split.calibration.value == pytest.approx(split.score, abs=1e-12)
        assert split.calibration.low < split.calibration.value < split.calibration.high
    if method == "temperature":
        assert found.parameters["temperature"].value[0] == pytest.approx(math.log(9) / math.log(4), rel=1e-10)


def test_calibration_of_an_honest_model_may_be_negative():
    found = [refinement(simulated(300, 200 + s, lambda z: z)).log_loss.calibration.value for s in range(20)]
    assert min(found) < 0
    assert abs(float(np.mean(found))) < 0.01


def test_refinement_with_certain_and_wrong_rows():
    found = refinement(Predictions.from_arrays([1] * 24 + [0] * 6 + [0, 1] * 10, [1.0] * 30 + [0.5, 0.6] * 10))
    assert found.log_loss.calibration.low is None
    assert "decide on the Brier score" in found.notes[-1]


@pytest.mark.parametrize(
    ("ends", "ended", "said"),
    [
        # of a log loss of 0.5, a gain of less than 0.005 is negligible
        ((0.004, -0.002, 0.010), "does_not_help", "Temperature scaling does not help here: log loss +0.0040 (−0.0020 to +0.0100)."),
        ((0.017, -0.034, 0.068), "open", "These rows do not tell whether temperature scaling helps: log loss +0.017 (−0.034 to +0.068)."),
        ((0.0, -0.005, 0.005), "open", "These rows do not tell whether temperature scaling helps: log loss 0.0000 (−0.0050 to +0.0050)."),
        ((0.00024, 4e-6, 0.00048), "makes_it_worse", "Temperature scaling makes it worse: log loss +0.00024 (+0.000004 to +0.00048)."),
        ((-0.02, -0.04, -2e-7), "helps", "Temperature scaling helps: log loss −0.020 (−0.040 to −0.0000002)."),
        ((0.0, 0.0, 0.0), "does_not_help", "Temperature scaling does not help here: log loss 0.000 (0.000 to 0.000)."),
    ],
)
def test_an_interval_that_holds_0_does_not_help_only_where_its_better_end_is_negligible(ends, ended, said):
    assert outcome("temperature scaling", Estimate(*ends), Estimate(0.0), (0.5, 0.2), (0, 0)) == (ended, said)


def test_without_an_interval_of_the_log_loss_the_brier_score_decides_what_is_negligible():
    ended, said = outcome("Platt scaling", Estimate(0.1), Estimate(0.0, -0.003, 0.003), (0.5, 0.2), (3, 0))
    assert ended == "open"  # 1 % of 0.2 is 0.002
    assert said.endswith("Brier score 0.0000 (−0.0030 to +0.0030); rows with a probability of 0 for what happened: 3 before, 0 after.")


def test_too_few_rows_to_judge_a_model_are_too_few_to_test_a_remedy():
    # 25 rows at 0.95, of which 10 were wrong: far off, and yet too few
    found = remedies(Predictions.from_arrays([1] * 15 + [0] * 10, [0.95] * 25), methods=["temperature"])
    assert found.best is None
    assert found.answer == "Too few rows to test a remedy (n = 25)."
