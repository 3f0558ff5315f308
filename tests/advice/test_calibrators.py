"""Maps that recalibrate: closed forms, score equations, the worked sets D and E, and the file a map is kept in."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import D_P, D_Y, floats
from scipy import optimize, special

from calibcore.advice.calibrator_file import Calibrator, prior_shift
from calibcore.advice.calibrators import METHODS
from calibcore.advice.recalibration import confidence_only
from calibcore.errors import InputError
from calibcore.predictions import Predictions

TWO = ("temperature", "intercept", "platt", "beta", "isotonic", "histogram", "venn_abers")
LOGISTIC = ("temperature", "intercept", "platt", "beta")


def d():
    return Predictions.from_arrays(D_Y, floats(D_P), name="d")


def e():
    """50 rows at 0.1 (10 events) and 50 at 0.9 (40 events)."""
    return Predictions.from_arrays([1] * 10 + [0] * 40 + [1] * 40 + [0] * 10, [0.1] * 50 + [0.9] * 50, name="e")


def three(counts=(6, 2, 2), p=(0.8, 0.1, 0.1)):
    """Rows of one vector of probabilities, with set numbers of each class."""
    labels = np.repeat(["a", "b", "c"], counts)
    return Predictions.from_arrays(labels, np.tile(p, (sum(counts), 1)), classes=["a", "b", "c"], name="three")


def random_three(n=400, seed=1):
    random = np.random.default_rng(seed)
    z = random.normal(0, 1.5, (n, 3))
    p = special.softmax(z, axis=1)
    labels = (special.softmax(z * [0.5, 0.8, 1.1] + [0.3, 0, -0.3], axis=1).cumsum(axis=1) > random.random(n)[:, None]).argmax(axis=1)
    return Predictions.from_arrays(labels, p)


# ---------------------------------------------------------------------------------------------------- fits


def test_temperature_of_e():
    # the odds 9 to 1 must become 4 to 1: 9^(1/T) = 4
    found = Calibrator.fit(e(), "temperature")
    assert found.parameters["temperature"][0] == pytest.approx(math.log(9) / math.log(4), rel=1e-12)
    after = found.apply_to(e()).profile().totals
    assert after.log_loss / 100 == pytest.approx(-(0.8 * math.log(0.8) + 0.2 * math.log(0.2)), rel=1e-12)
    assert after.brier / 100 == pytest.approx(4 / 25, rel=1e-12)


def test_temperature_of_three_classes():
    # 8 to 1 must become 3 to 1: 8^(1/T) = 3
    found = Calibrator.fit(three(), "temperature")
    assert found.parameters["temperature"][0] == pytest.approx(math.log(8) / math.log(3), rel=1e-12)
    assert found.apply([[0.8, 0.1, 0.1]])[0].tolist() == pytest.approx([0.6, 0.2, 0.2], rel=1e-12)


def test_platt_and_beta_of_d():
    # printed by an independent fit that stops at a gradient of 1e-5: four decimals, the last one not sure
    platt, beta = (Calibrator.fit(d(), m).parameters for m in ("platt", "beta"))
    assert [platt[k][0] for k in ("intercept", "slope")] == pytest.approx([0.6871, 1.1194], abs=5e-5)
    assert [beta[k][0] for k in ("intercept", "a", "b")] == pytest.approx([-0.5079, 0.5219, 2.0012], abs=1e-4)


def test_score_equations():
    # at the maximum of the likelihood the residuals are orthogonal to every column of the map
    p, y = np.array(floats(D_P)), np.array(D_Y)
    columns = {
        "temperature": [special.logit(p)],
        "intercept": [np.ones(10)],
        "platt": [np.ones(10), special.logit(p)],
        "beta": [np.ones(10), np.log(p), -np.log1p(-p)],
    }
    for method, parts in columns.items():
        residual = y - Calibrator.fit(d(), method).apply(p)
        assert [float(residual @ c) for c in parts] == pytest.approx([0] * len(parts), abs=1e-9), method


def test_score_equations_of_three_classes():
    rows = random_three()
    z, once = np.log(rows.probabilities), np.eye(3)[rows.label]
    residual = once - Calibrator.fit(rows, "vector").apply(rows.probabilities)
    assert np.abs(residual.sum(axis=0)).max() < 1e-7
    assert np.abs((residual * z).sum(axis=0)).max() < 1e-7
    residual = once - Calibrator.fit(rows, "intercept").apply(rows.probabilities)
    assert np.abs(residual.sum(axis=0)).max() < 1e-7


@pytest.mark.parametrize("spread", [1e-3, 0.1, 3, 40])
@pytest.mark.parametrize("shift", [-4, 0, 4])
def test_score_equations_of_faint_and_of_saturated_scores(spread, shift):
    random = np.random.default_rng(6)
    z = np.clip(random.normal(shift, spread, 400), -34, 34)  # beyond ±36 logarithms are cut
    y = (random.random(400) < special.expit((z - shift) / (2 * spread))).astype(int)
    rows = Predictions.from_arrays(y, np.column_stack([special.expit(-z), special.expit(z)]))
    for method, parts in {"intercept": [np.ones(400)], "platt": [np.ones(400), (z - shift) / spread]}.items():
        residual = y - Calibrator.fit(rows, method).apply(rows.probabilities)[:, 1]
        assert [float(residual @ c) / 400 for c in parts] == pytest.approx([0] * len(parts), abs=1e-8), method


def test_gradients_and_hessians_are_exact():
    from calibcore.advice.logistic import multinomial_loss, scale_loss, two_class_loss

    random = np.random.default_rng(5)
    z, label, weight = np.log(random.dirichlet([1, 1, 1], 20)), random.integers(0, 3, 20), np.full(20, 1 / 20)
    losses = [
        (two_class_loss(z, (label == 1) * 1.0, weight, z[:, 0]), random.normal(size=3)),
        (scale_loss(z - z[np.arange(20), label][:, None], weight), np.array([0.7])),
        (multinomial_loss(z, label, weight, scaled=True), random.normal(size=6)),
        (multinomial_loss(z, label, weight, scaled=False), random.normal(size=3)),
    ]
    h = 1e-5
    for loss, x in losses:
        _, gradient, hessian = loss(x)
        for i, step in enumerate(h * np.eye(len(x))):
            up, down = loss(x + step), loss(x - step)
            assert gradient[i] == pytest.approx((up[0] - down[0]) / (2 * h), abs=1e-8)
            assert hessian[i] == pytest.approx((up[1] - down[1]) / (2 * h), abs=1e-7)


def test_intercept_of_three_classes():
    # one vector everywhere: the best map gives the frequencies 6, 2, 2 of 10, and b is ln(new/old) less its mean
    found = Calibrator.fit(three(p=(0.5, 0.3, 0.2)), "intercept")
    shift = [math.log(0.6 / 0.5), math.log(0.2 / 0.3), math.log(0.2 / 0.2)]
    assert found.parameters["bias"].tolist() == pytest.approx([s - sum(shift) / 3 for s in shift], abs=1e-10)
    assert prior_shift([0.5, 0.3, 0.2], [0.6, 0.2, 0.2]).tolist() == pytest.approx(found.parameters["bias"].tolist(), abs=1e-10)


def test_prior_shift_is_bayes():
    # P(x|1)/P(x|0) = 3 with base rate 1/2 gives 3/4; with base rate 1/10 it gives 3/(3 + 9)
    assert Calibrator.prior_shift(0.5, 0.1).apply([0.75]).tolist() == pytest.approx([1 / 4], rel=1e-12)
    assert Calibrator.prior_shift(0.3, 0.3).apply([0.75]).tolist() == pytest.approx([3 / 4], rel=1e-12)
    with pytest.raises(InputError, match="both excluded"):
        prior_shift(0.5, 1.0)
    with pytest.raises(InputError, match="2 base rates for 3 classes"):
        Calibrator.prior_shift(0.5, 0.1, classes=["a", "b", "c"])


def test_beta_bounds():
    # the higher the score the rarer the event: a = b = 0 is best, and the constant is the base rate 1/2
    rows = Predictions.from_arrays([1, 1, 0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.6, 0.8])
    found = Calibrator.fit(rows, "beta").parameters
    assert [found[k][0] for k in ("intercept", "a", "b")] == pytest.approx([0, 0, 0], abs=1e-10)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(1, 19), st.integers(0, 1)), min_size=6, max_size=30))
def test_beta_is_the_constrained_optimum(rows):
    p, y = np.array([s / 20 for s, _ in rows]), np.array([label for _, label in rows])
    assume(0 < y.sum() < len(y))
    assume(p[y == 0].max() > p[y == 1].min())
    assume(len(set(p)) > 1)
    x = np.column_stack([np.ones_like(p), np.log(p), -np.log1p(-p)])

    def loss(w):
        return float(np.mean(np.logaddexp(0, x @ w) - y * (x @ w)))

    best = optimize.minimize(loss, [0, 1, 1], method="L-BFGS-B", bounds=[(None, None), (0, None), (0, None)])
    found = Calibrator.fit(Predictions.from_arrays(y, p), "beta").parameters
    w = np.array([found[k][0] for k in ("intercept", "a", "b")])
    assert w[1:].min() >= 0
    assert loss(w) <= best.fun + 1e-9
    residual = special.expit(x @ w) - y  # a free column is orthogonal to the residuals, one at its bound would grow the loss
    for j in range(3):
        slope = float(residual @ x[:, j])
        assert abs(slope) < 1e-6 or (j and w[j] == 0 and slope > 0)


def test_isotonic_of_d_in_sample():
    # blocks of D: 0, 0 | 1/2 at 4/20 … 11/20 | 1 from 13/20
    found = Calibrator.fit(d(), "isotonic")
    assert found.parameters["score"].tolist() == pytest.approx([1 / 20, 3 / 20, 4 / 20, 11 / 20, 13 / 20, 19 / 20])
    assert found.parameters["value"].tolist() == pytest.approx([0, 0, 1 / 2, 1 / 2, 1, 1])
    assert found.apply([0.0, 7 / 40, 12 / 20, 1.0]).tolist() == pytest.approx([0, 1 / 4, 3 / 4, 1])  # between two blocks: half way
    assert found.apply_to(d()).profile("positive").totals.brier / 10 == pytest.approx(1 / 10)


def left_out(step):
    """Brier score of leave-one-out isotonic regression on D, in exact fractions; blocks by the max–min formula."""
    error = Fraction(0)
    for i in range(10):
        ps, ys = D_P[:i] + D_P[i + 1 :], D_Y[:i] + D_Y[i + 1 :]
        means = [[Fraction(sum(ys[a : b + 1]), b + 1 - a) if b >= a else None for b in range(9)] for a in range(9)]
        fit = [max(min(means[a][b] for b in range(j, 9)) for a in range(j + 1)) for j in range(9)]
        below = [j for j in range(9) if ps[j] <= D_P[i]]
        if not below or below[-1] == 8:
            value = fit[0] if not below else fit[-1]
        else:
            j = below[-1]
            share = Fraction(0) if step else (D_P[i] - ps[j]) / (ps[j + 1] - ps[j])
            value = fit[j] + share * (fit[j + 1] - fit[j])
        error += (value - D_Y[i]) ** 2
    return error / 10


def test_isotonic_of_d_left_out():
    assert float(left_out(step=True)) == pytest.approx(0.313889, abs=5e-7)  # the step to the left neighbour: another convention
    error = 0.0
    for i in range(10):
        rest = np.delete(np.arange(10), i)
        found = Calibrator.fit(d().take(rest), "isotonic")
        error += (found.apply([float(D_P[i])])[0] - D_Y[i]) ** 2 / 10
    assert error == pytest.approx(float(left_out(step=False)), rel=1e-12)


def test_histogram_gives_the_shares_of_its_bins():
    # 20 distinct scores in ten bins of two rows; the events are in the upper row of each of the last five bins
    p = [(k + 0.5) / 20 for k in range(20)]
    y = [int(k > 10 and k % 2) for k in range(20)]
    found = Calibrator.fit(Predictions.from_arrays(y, p), "histogram")
    assert found.parameters["edges"].tolist() == [p[k] for k in range(1, 19, 2)]  # upper edges belong to their bin
    assert found.apply(p).tolist() == [0.0] * 10 + [0.5] * 10


# ---------------------------------------------------------------------------------------------------- hard cases


@pytest.mark.parametrize("method", LOGISTIC)
def test_probabilities_of_exactly_0_and_1(method):
    # ten certain rows, two of them wrong, among twenty others
    y = [1] * 4 + [0] + [0] * 4 + [1] + [1, 0] * 10
    p = [1.0] * 5 + [0.0] * 5 + [0.7, 0.6, 0.5, 0.4] * 5
    found = Calibrator.fit(Predictions.from_arrays(y, p), method)
    assert "10 rows hold a probability below 2⁻⁵²" in found.notes[0]
    mapped = found.apply([0.0, 0.5, 1.0])
    assert np.all(np.isfinite(mapped))
    assert mapped[0] < mapped[1] < mapped[2]
    clipped = found.apply([2.0**-52])  # 0 is read as 2⁻⁵², as in the log loss
    assert mapped[0] == pytest.approx(clipped[0], rel=1e-9)


@pytest.mark.parametrize("method", TWO)
def test_separated_outcomes(method):
    rows = Predictions.from_arrays([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    if method in ("temperature", "platt", "beta"):
        with pytest.raises(InputError, match="best"):
            Calibrator.fit(rows, method)
    else:
        assert np.all(np.isfinite(Calibrator.fit(rows, method).apply([0, 0.5, 1])))


@pytest.mark.parametrize("one", [True, False])
def test_separated_classes_of_vector_scaling(one):
    if one:  # class 2 where its probability is above 0.3, and nowhere else; the other two at random
        random = np.random.default_rng(0)
        p = random.dirichlet([2, 2, 0.5], 300)
        rows = Predictions.from_arrays(np.where(p[:, 2] > 0.3, 2, random.integers(0, 2, 300)), p)
    else:
        rows = Predictions.from_arrays([0, 1, 2] * 4, np.tile(np.full((3, 3), 0.1) + 0.7 * np.eye(3), (4, 1)))
    with pytest.raises(InputError, match="separate"):
        Calibrator.fit(rows, "vector")


@pytest.mark.parametrize("method", TWO)
def test_one_outcome_only(method):
    rows = Predictions.from_arrays([1, 1, 1], [0.2, 0.6, 0.9])
    if method in ("intercept", "platt", "beta"):
        with pytest.raises(InputError, match="none of class 0"):
            Calibrator.fit(rows, method)
    else:
        assert np.all(np.isfinite(Calibrator.fit(rows, method).apply([0, 0.5, 1])))


@pytest.mark.parametrize("method", ["platt", "beta"])
def test_one_score_only(method):
    with pytest.raises(InputError, match="only the intercept"):
        Calibrator.fit(Predictions.from_arrays([1, 0], [0.4, 0.4]), method)


def test_scores_without_information_reach_the_hottest_temperature():
    # half of the rows at 0.9 are events, and half of those at 0.1
    found = Calibrator.fit(Predictions.from_arrays([1, 0, 1, 0], [0.9, 0.9, 0.1, 0.1]), "temperature")
    assert found.parameters["temperature"][0] == pytest.approx(100)
    assert "next to nothing" in found.notes[0]


def test_a_falling_slope_is_said():
    found = Calibrator.fit(Predictions.from_arrays([1, 1, 0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.6, 0.8]), "platt")
    assert found.parameters["slope"][0] < 0
    assert "positive one" in found.notes[0]


def test_one_row_and_float32():
    assert Calibrator.fit(Predictions.from_arrays([1], [0.3]), "isotonic").apply([0.9]).tolist() == [1.0]
    rows = Predictions.from_arrays(D_Y, np.array(floats(D_P), dtype=np.float32))
    mapped = Calibrator.fit(rows, "platt").apply(np.array(floats(D_P), dtype=np.float32))
    assert mapped.dtype == np.float64
    assert mapped.tolist() == pytest.approx(Calibrator.fit(d(), "platt").apply(floats(D_P)).tolist(), abs=1e-5)


# ---------------------------------------------------------------------------------------------------- properties

ROWS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1), st.integers(1, 3)), min_size=2, max_size=25)


def attempt(method, p, y, weight=None):
    """Mapped probabilities of 0, 0.05 … 1, or None where no map fits."""
    try:
        return Calibrator.fit(Predictions.from_arrays(y, p, sample_weight=weight), method).apply(np.arange(21) / 20)
    except InputError:
        return None


def same(one, other, tolerance=1e-6):
    assert (one is None) == (other is None)
    if one is not None:
        assert one.tolist() == pytest.approx(other.tolist(), abs=tolerance)


@pytest.mark.parametrize("method", TWO)
@settings(max_examples=20)
@given(ROWS, st.randoms())
def test_order_repetition_and_scale_of_weights(method, rows, random):
    p, y, w = (np.array(c) for c in zip(*rows, strict=True))
    p = p / 20
    weighted = attempt(method, p, y, w)
    if method != "venn_abers":  # its new row weighs (Σw²)/Σw: a weight is not so many rows in its doubt
        same(weighted, attempt(method, np.repeat(p, w), np.repeat(y, w)))
    for scale in (1e15, 1e-15):
        same(weighted, attempt(method, p, y, w * scale))
    order = list(range(len(p)))
    random.shuffle(order)
    same(weighted, attempt(method, p[order], y[order], w[order]))


@pytest.mark.parametrize("method", ["temperature", "intercept", "platt", "isotonic", "venn_abers"])
@settings(max_examples=20)
@given(ROWS)
def test_complement(method, rows):
    p, y = (np.array(c) for c in list(zip(*rows, strict=True))[:2])
    one, other = attempt(method, p / 20, y), attempt(method, (20 - p) / 20, 1 - y)
    same(one, None if other is None else 1 - other[::-1])


@given(
    arrays(np.float64, (4, 3), elements=st.floats(0, 1)).filter(lambda m: (m.sum(axis=1) > 1e-3).all()),
    st.floats(0.02, 90),
)
def test_temperature_keeps_the_predicted_class(matrix, temperature):
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    matrix[0] = [1 / 3 - 2**-54, 1 / 3, 1 / 3]  # all but tied
    mapped = METHODS["temperature"].apply({"temperature": np.array([temperature])}, matrix)
    assert np.argmax(mapped, axis=1).tolist() == np.argmax(matrix, axis=1).tolist()
    assert np.abs(mapped.sum(axis=1) - 1).max() < 1e-12


@given(st.floats(0.02, 90))
def test_temperature_of_two_classes_keeps_the_predicted_class(temperature):
    p = np.array([0.5, np.nextafter(0.5, 1), np.nextafter(0.5, 0), 0.0, 1.0, 0.3])
    mapped = METHODS["temperature"].apply({"temperature": np.array([temperature])}, np.column_stack([1 - p, p]))
    assert np.argmax(mapped, axis=1).tolist() == [0, 1, 0, 0, 1, 0]


# ---------------------------------------------------------------------------------------------------- the public class


def test_confidences_alone():
    # 0.9 said, right 4 times in 5: the same odds as E
    rows = Predictions.from_top_label([0.9] * 100, [1] * 80 + [0] * 20)
    found = Calibrator.fit(rows, "temperature")
    assert found.parameters["temperature"][0] == pytest.approx(math.log(9) / math.log(4), rel=1e-10)
    after = found.apply_to(rows)
    assert after.task == "top_label"
    assert after.confidence[0] == pytest.approx(0.8)
    assert after.correct.tolist() == rows.correct.tolist()


def test_apply_to_keeps_what_rows_carry():
    rows = Predictions.from_arrays(
        D_Y, floats(D_P), sample_weight=range(1, 11), cluster=[0, 1] * 5, groups={"g": list("ababababab")}, ids=range(10), name="m"
    )
    found = Calibrator.fit(rows, "platt")
    after = found.apply_to(rows)
    assert after.name == "m, Platt scaling"
    assert "Probabilities changed by Platt scaling fitted on 10 rows." in after.notes
    assert after.probabilities[:, 1].tolist() == pytest.approx(found.apply(floats(D_P)).tolist(), abs=1e-12)
    for part in ("weight", "cluster", "ids", "label", "row"):
        assert getattr(after, part).tolist() == getattr(rows, part).tolist()
    assert after.groups["g"].tolist() == rows.groups["g"].tolist()


def test_apply_takes_the_form_it_was_fitted_on():
    found = Calibrator.fit(d(), "platt")
    one = found.apply([0.2, 0.7])
    both = found.apply([[0.8, 0.2], [0.3, 0.7]])
    assert both[:, 1].tolist() == pytest.approx(one.tolist())
    assert found.apply([[0.2], [0.7]]).tolist() == one.tolist()
    for wrong in ([[0.2, 0.3, 0.5]], [1.2], [math.nan], [[0.9, 0.9]], 0.5):
        with pytest.raises(InputError):
            found.apply(wrong)
    with pytest.raises(InputError, match="one column for each of a, b and c"):
        Calibrator.fit(three(), "temperature").apply([0.2])
    with pytest.raises(InputError, match="one confidence a row"):
        Calibrator.fit(Predictions.from_top_label([0.9, 0.8, 0.7], [1, 0, 1]), "isotonic").apply([[0.2, 0.8]])


def test_apply_to_refuses_other_classes():
    found = Calibrator.fit(three(), "temperature")
    other = Predictions.from_arrays(["b", "a", "c"], [[0.2, 0.3, 0.5]] * 3, classes=["b", "a", "c"])
    with pytest.raises(InputError, match="in this order"):
        found.apply_to(other)
    with pytest.raises(InputError, match="fitted on several classes; d has two classes"):
        found.apply_to(d())
    with pytest.raises(InputError, match="confidences alone"):
        found.apply_to(confidence_only(three()))


def test_methods_for_the_number_of_classes():
    for method in ("platt", "beta", "isotonic", "histogram", "venn_abers"):
        with pytest.raises(InputError, match="maps one probability"):
            Calibrator.fit(three(), method)
    with pytest.raises(InputError, match="use beta"):
        Calibrator.fit(d(), "vector")
    with pytest.raises(InputError, match="There is no method 'spline'"):
        Calibrator.fit(d(), "spline")


# ---------------------------------------------------------------------------------------------------- the file


@pytest.mark.parametrize("method", ["identity", *TWO])
def test_round_trip_is_bit_exact(method, tmp_path):
    random = np.random.default_rng(7)
    p = random.random(500)
    found = Calibrator.fit(Predictions.from_arrays((random.random(500) < p**1.3).astype(int), p), method)
    found.save(tmp_path / "map.json")
    back = Calibrator.load(tmp_path / "map.json")
    assert (back.method, back.task, back.classes, back.n, back.version, back.notes) == (
        (found.method, found.task, found.classes, found.n, found.version, found.notes)
    )
    assert {k: v.tobytes() for k, v in back.parameters.items()} == {k: v.tobytes() for k, v in found.parameters.items()}
    new = random.random(100)
    assert back.apply(new).tobytes() == found.apply(new).tobytes()


@given(arrays(np.float64, 6, elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_every_finite_number_survives(numbers):
    found = Calibrator("vector", "multiclass", ("a", "b", "ü"), {"scale": numbers[:3].copy(), "bias": numbers[3:].copy()}, 3)
    back = Calibrator.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert [v.tobytes() for v in back.parameters.values()] == [v.tobytes() for v in found.parameters.values()]


def saved(**changes):
    return {**Calibrator.fit(d(), "platt").to_dict(), **changes}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "not a calibrator"),
        ({}, "not a calibrator"),
        (saved(schema=2), "schema 2"),
        (saved(schema=None), "schema None"),
        (saved(method="os.system"), "no method"),
        (saved(method=["platt"]), "does not name its method"),
        (saved(method="isotonic"), "needs the parameters"),
        (saved(task="regression"), "what kind"),
        (saved(classes=["0", "1", "2"]), "do not go with"),
        (saved(classes=["1", "1.0"]), "do not go with"),
        (saved(classes=[0, 1]), "which classes"),
        (saved(parameters={"intercept": [0.1]}), "needs the parameters"),
        (saved(parameters={"intercept": [0.1], "slope": [math.inf]}), "finite"),
        (saved(parameters={"intercept": [0.1], "slope": [math.nan]}), "finite"),
        (saved(parameters={"intercept": [0.1], "slope": [10**400]}), "finite"),
        (saved(parameters={"intercept": [0.1], "slope": ["1"]}), "finite"),
        (saved(parameters={"intercept": [0.1], "slope": [True]}), "finite"),
        (saved(parameters={"intercept": [0.1], "slope": 1.0}), "finite"),
        (saved(parameters={"intercept": [0.1], "slope": [1.0, 2.0]}), "2 numbers instead of 1"),
        (saved(method="temperature", parameters={"temperature": [0.0]}), "above 0"),
        (saved(method="beta", parameters={"intercept": [0], "a": [-1], "b": [1]}), "negative"),
        (saved(method="isotonic", parameters={"score": [0.2, 0.1], "value": [0, 1]}), "rising"),
        (saved(method="isotonic", parameters={"score": [0.1, 0.2], "value": [1, 0]}), "rising"),
        (saved(method="isotonic", parameters={"score": [0.1, 0.2], "value": [0, 2]}), "between 0 and 1"),
        (saved(method="isotonic", parameters={"score": [], "value": []}), "go together"),
        (saved(method="histogram", parameters={"edges": [0.1, 0.2], "value": [0, 1]}), "go together"),
        (saved(n=-1), "fitted on"),
        (saved(n=True), "fitted on"),
        (saved(notes="none"), "fitted on"),
        (saved(version=None), "fitted on"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(data, words):
    with pytest.raises(InputError, match=words) as caught:
        Calibrator.from_dict(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"cos\nsystem\n(S'true'\ntR.", b"[" * 100_000])
def test_what_is_not_json_is_refused(content, tmp_path):
    path = tmp_path / "map.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not JSON"):
        Calibrator.load(path)


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        Calibrator.load(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be written"):
        Calibrator.fit(d(), "platt").save(tmp_path / "no folder" / "map.json")


def test_the_file_names_its_data(tmp_path):
    rows = Predictions.from_matrix(
        np.array([0, 1, 1, 0]), np.array([[0.8, 0.2], [0.4, 0.6], [0.6, 0.4], [0.3, 0.7]]), ("n", "y"), source={"sha256": "ab"}
    )
    Calibrator.fit(rows, "platt").save(tmp_path / "map.json")
    data = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert (data["data_sha256"], data["n"], data["classes"], data["schema"]) == ("ab", 4, ["n", "y"], 1)
