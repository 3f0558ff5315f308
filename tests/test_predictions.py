"""Predictions: what arrays mean, which classes they speak of, and what the views compare."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import calibcore as cc
from calibcore.predictions import Predictions

THREE = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]


def test_definition_1_predicted_class_is_the_smallest_index_among_the_largest():
    p = Predictions.from_arrays([2, 2, 1], [[0.4, 0.2, 0.4], [0.2, 0.4, 0.4], [0.3, 0.3, 0.4]])
    assert p.predicted.tolist() == [0, 1, 2]
    assert p.confidence.tolist() == [0.4, 0.4, 0.4]
    assert p.correct.tolist() == [False, False, False]
    assert p.n_tied == 2


def test_definition_1_class_order_decides_ties():
    probabilities = [[0.5, 0.5]] * 4
    y = ["b", "b", "b", "a"]
    assert cc.bin_statistics(y, probabilities, classes=["a", "b"], n_bins=1).accuracy.tolist() == [0.25]
    assert cc.bin_statistics(y, probabilities, classes=["b", "a"], n_bins=1).accuracy.tolist() == [0.75]


def test_definition_1_a_half_predicts_the_other():
    p = Predictions.from_arrays([1, 0], [0.5, 0.5])
    assert p.classes == ("0", "1")
    assert p.predicted.tolist() == [0, 0]
    assert p.correct.tolist() == [False, True]
    assert p.n_tied == 2
    assert p.profile().totals.tied == 2
    assert p.profile("positive").totals.tied == 0
    assert any("2 rows" in n and "first class" in n for n in cc.analyze(p).notes)


def test_definition_1_sorted_names_are_the_default_order():
    p = Predictions.from_arrays(["cat", "ant", "bee"], THREE)
    assert p.classes == ("ant", "bee", "cat")
    assert p.label.tolist() == [2, 0, 1]


def test_definition_1_numbers_sort_as_numbers():
    columns = np.full((12, 12), 0.01)
    np.fill_diagonal(columns, 0.89)
    labels = list(range(5, 17))  # 10 … 16 come after 9, not after 1
    p = Predictions.from_arrays([str(v) for v in labels], columns)
    assert p.classes == tuple(str(v) for v in labels)
    assert p.correct.all()


def test_definition_1_names_match_as_text_or_as_equal_numbers():
    for y in (
        ["1", "0"],
        [1, 0],
        [1.0, 0.0],
        np.array([1, 0], dtype=np.int8),
        ["1.0", "0.0"],
        np.array([1, "0"], dtype=object),
        [" 1", "0 "],
    ):
        assert Predictions.from_arrays(y, [[0.2, 0.8], [0.7, 0.3]], classes=["0", "1"]).label.tolist() == [1, 0]
    assert Predictions.from_arrays(["01"], [[0.2, 0.8]], classes=[0, 1]).label.tolist() == [1]
    with pytest.raises(cc.InputError, match="has no probability column"):
        Predictions.from_arrays(["A"], [[0.2, 0.8]], classes=["a", "b"])


def test_definition_1_with_classes_labels_are_names_never_indices():
    p = Predictions.from_arrays([2, 1], [[0.9, 0.1], [0.8, 0.2]], classes=[2, 1])
    assert p.label.tolist() == [0, 1]
    with pytest.raises(cc.InputError, match=r"Label '0' \(row 1\) has no probability column; the classes are a and b"):
        Predictions.from_arrays([0, 1], [[0.9, 0.1], [0.8, 0.2]], classes=["a", "b"])


def test_one_based_labels_are_names():
    p = Predictions.from_arrays([1, 2, 3], THREE)
    assert p.classes == ("1", "2", "3")
    assert p.correct.all()


def test_zero_based_labels_need_not_all_occur():
    p = Predictions.from_arrays([0, 2, 2], THREE)
    assert p.classes == ("0", "1", "2")
    assert p.correct.tolist() == [True, False, True]


def test_definition_1_complement_is_written_as_a_person_would():
    # 1 − 0.18 is 0.8200000000000001 in doubles and would pass the edge 0.82
    p = Predictions.from_arrays([0], [0.18])
    assert p.probabilities.tolist() == [[0.82, 0.18]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [100, 1000])
def test_definition_1_complement_of_a_decimal_is_that_decimal(n, dtype):
    p = Predictions.from_arrays([0] * (n + 1), np.array([i / n for i in range(n + 1)], dtype=dtype))
    assert p.probabilities[:, 0].tolist() == [float(dtype((n - i) / n)) for i in range(n + 1)]


def test_definition_1_complement_in_float32_meets_its_edge():
    # P(positive) = 0.95 leaves 0.05 for the other class, which closes the first of twenty bins
    b = cc.bin_statistics([0], np.array([0.95], dtype=np.float32), n_bins=20, view="class:0")
    assert b.count.tolist() == [1] + [0] * 19


def test_definition_1_complement_falls_back_to_subtraction():
    # π/10 is not a 15-digit decimal: rounding 1 − p would not give p back
    p = np.pi / 10
    assert Predictions.from_arrays([0], [p]).probabilities[0, 0] == 1 - p
    for p in (0.0, 1.0, 2.0**-60, 1e-300, 1 - 2.0**-53):
        other = Predictions.from_arrays([0], [p]).probabilities[0, 0]
        assert other == pytest.approx(1 - p, rel=1e-14)
        assert 0 <= other <= 1


def test_the_complement_of_a_fraction_is_the_fraction():
    # 1 − 1/3 in doubles is 0.66666666666666674, above 2/3 and so in the bin above the edge 10/15
    third = 1 / 3
    assert 1 - third > 2 / 3
    p = Predictions.from_arrays([0], [third])
    assert p.probabilities[0, 0] == 2 / 3
    assert p.profile().bin(cc.Partition.equal_width(15)).count.tolist() == [0] * 9 + [1] + [0] * 5


def test_definition_1_two_columns_are_kept_as_written():
    p = Predictions.from_arrays([1, 0], [[0.33, 0.66], [0.67, 0.34]])
    assert p.task == "binary"
    assert p.probabilities.tolist() == [[0.33, 0.66], [0.67, 0.34]]
    assert p.confidence.tolist() == [0.66, 0.67]
    assert p.rows("positive")[0].tolist() == [0.66, 0.34]


def test_definition_1_two_classes_are_always_binary():
    p = Predictions.from_arrays([0, 1], [[0.9, 0.1], [0.4, 0.6]])
    assert (p.task, p.positive_class, p.views) == ("binary", "1", ("top_label", "positive", "class:0", "class:1"))
    assert Predictions.from_arrays([0, 1, 2], THREE).views == ("top_label", "class:0", "class:1", "class:2")


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([1, 0], ("0", "1")),
        ([1.0, 0.0], ("0", "1")),
        (["1", "0"], ("0", "1")),
        ([True, False], ("False", "True")),
        (np.array([True, False], dtype=object), ("False", "True")),
        ([1, -1], ("-1", "1")),
        ([1, 1], ("0", "1")),
    ],
)
def test_one_column_of_probabilities(y, classes):
    p = Predictions.from_arrays(y, [0.9, 0.2])
    assert p.classes == classes
    assert p.rows("positive")[0].tolist() == [0.9, 0.2]
    assert p.label.tolist() == [1, 1 if list(y) == [1, 1] else 0]


def test_one_column_needs_names_for_other_labels():
    with pytest.raises(
        cc.InputError, match=r"The labels are no and yes: say which one the probability refers to, with classes=\(other, positive\)"
    ):
        Predictions.from_arrays(["yes", "no"], [0.9, 0.2])
    p = Predictions.from_arrays(["yes", "no"], [0.9, 0.2], classes=("no", "yes"))
    assert p.correct.tolist() == [True, True]
    assert Predictions.from_arrays(["yes", "no"], [0.9, 0.2], positive="yes").classes == ("no", "yes")
    assert Predictions.from_arrays(["yes", "no"], [0.9, 0.2], positive="no").classes == ("yes", "no")
    assert Predictions.from_arrays([True, False], [0.9, 0.2], positive=True).label.tolist() == [1, 0]
    with pytest.raises(cc.InputError, match="needs two classes"):
        Predictions.from_arrays([0, 1, 2], [0.9, 0.2, 0.3], positive=1)
    with pytest.raises(cc.InputError, match=r"needs two classes \(other, positive\), not 3"):
        Predictions.from_arrays([0, 1, 2], [0.9, 0.2, 0.3], classes=[0, 1, 2])


def test_positive_of_two_columns_moves_last():
    p = Predictions.from_arrays(["a", "b"], [[0.9, 0.1], [0.4, 0.6]], positive="a")
    assert (p.classes, p.positive_class) == (("b", "a"), "a")
    assert p.probabilities.tolist() == [[0.1, 0.9], [0.6, 0.4]]
    assert p.label.tolist() == [1, 0]
    with pytest.raises(cc.InputError, match="positive class 'c' is not one of a and b"):
        Predictions.from_arrays(["a", "b"], [[0.9, 0.1], [0.4, 0.6]], positive="c")


def test_positive_must_be_one_of_the_given_classes_for_one_column_too():
    with pytest.raises(cc.InputError, match="positive class 'c' is not one of"):
        Predictions.from_arrays(["a", "b"], [0.9, 0.1], classes=("a", "b"), positive="c")


def test_containers_that_convert_to_arrays():
    y, p = [1, 0, 1, 0], [0.81, 0.12, 0.47, 0.36]  # ECE 3/10 in five bins
    variants = [
        (y, p),
        (tuple(y), tuple(p)),
        (np.array(y, dtype=np.uint8), np.array(p)),
        (pd.Series(y, index=[9, 8, 7, 6]), pd.Series(p, index=[1, 2, 3, 4])),
        (pd.array(y, dtype="Int64"), pd.array(p, dtype="Float64")),
        (pd.Series(y, dtype="category"), p),
        (pd.Series(["1", "0", "1", "0"], dtype="string"), p),
        (pa.array(y), pa.array(p)),
        (pa.chunked_array([y[:1], y[1:]]), pa.chunked_array([p[:3], p[3:]])),
        (pa.array([True, False, True, False]), pa.array(p)),
        (np.array(y, dtype=object), np.array(p, dtype=object)),
        ([np.bool_(v) for v in y], [str(v) for v in p]),
        (y, np.array(p, dtype=np.longdouble)),
        (y, np.array(p)[:, None]),
    ]
    for labels, probabilities in variants:
        assert cc.expected_calibration_error(labels, probabilities, n_bins=5, view="positive") == pytest.approx(0.3, abs=1e-12)


def test_column_of_shape_n_1_is_one_column_in_every_respect():
    y, p = [0, 1, 1], np.array([0.2, 0.7, 0.3])
    assert cc.expected_calibration_error(y, p[:, None]) == cc.expected_calibration_error(y, p)
    assert cc.brier_score(y, p[:, None]) == cc.brier_score(y, p)


def test_frames_as_matrices():
    frame = pd.DataFrame(THREE, columns=["a", "b", "c"])
    assert Predictions.from_arrays(["a", "b", "c"], frame, classes=list(frame)).correct.all()


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1, 1], [0.1, 1.2, 0.3], r"Row 2: probabilities outside \[0, 1\] \(1.2\).*Divide percent by 100"),
        ([0, 1, 1], [-0.1, 1.2, 0.3], r"Rows 1 and 2: probabilities outside \[0, 1\] \(-0.1, 1.2\)"),
        ([0, 1, 1, 1, 1], [5, 4, 3, 2, 60], r"Rows 1, 2, 3 and 2 more"),
        ([0, 1], [0.1, np.inf], r"Row 2: probabilities outside"),
        ([0, 1, 1], [0.1, np.nan, 0.3], r"1 of 3 probabilities missing \(row 2\).*Leave these rows out"),
        ([0, 1, 1], [np.nan, np.nan, 0.3], r"2 of 3 probabilities missing \(rows 1 and 2\)"),
        ([0, 1], [0.1, None], r"1 of 2 probabilities missing \(row 2\)"),
        ([0, 1], ["0.1", "x"], "Probabilities must be numbers; got 'x'"),
        ([0, 1, 1], [0.1, 0.2], "There are 3 labels for 2 rows of probabilities"),
        ([], [], "no rows"),
        ([0], np.zeros((1, 1, 1)), "3 dimensions"),
        (0, 0.5, "must be a list or an array"),
        ([[1, 0], [0, 1]], [[0.5, 0.5], [0.1, 0.9]], r"Labels need one value a row, shape \(n,\); these have shape \(2, 2\)"),
        ([0, 1], [[0.2, 0.3], [0.6, 0.4]], r"Row 1 sums to 0.5, not 1.*unnormalised"),
        ([0, np.nan], [0.1, 0.2], r"1 of 2 labels missing \(row 2\)"),
        (["a", None, "b"], [[0.5, 0.5]] * 3, r"1 of 3 labels missing \(row 2\)"),
        ([0, 1, 2], [[0.5, 0.5]] * 3, r"The labels 0, 1 and 2 do not say which of the 2 columns is which"),
    ],
)
def test_arrays_that_cannot_be_used(y, p, message):
    with pytest.raises(cc.InputError, match=message):
        Predictions.from_arrays(y, p)


@pytest.mark.parametrize(
    ("y", "p"),
    [
        (1, [0.7, 0.3]),
        ([0, 1], [[0.7, 0.3], [0.2]]),
        ([[0], [1, 2]], [0.7, 0.3]),
        (np.array([["a"], ["b"]], dtype=object), [0.7, 0.3]),
        ([{}, {}], [0.7, 0.3]),
        ([0, 1], np.array([0.7 + 1j, 0.3])),
        (iter([0, 1]), [0.7, 0.3]),
    ],
)
def test_shapes_and_types_that_cannot_be_used_are_refused_in_a_sentence(y, p):
    with pytest.raises(cc.InputError):
        Predictions.from_arrays(y, p)


@pytest.mark.parametrize("y", [pd.array([1, None, 0], dtype="Int64"), pd.array(["1", None, "0"], dtype="string"), pa.array([1, None, 0])])
def test_missing_labels_of_every_kind(y):
    with pytest.raises(cc.InputError, match=r"1 of 3 labels missing \(row 2\)"):
        Predictions.from_arrays(y, [0.2, 0.7, 0.1])


def test_masked_values_are_missing():
    with pytest.raises(cc.InputError, match="missing"):
        Predictions.from_arrays([1, 0, 0], np.ma.masked_array([0.1, 0.2, 0.3], mask=[0, 1, 0]))


def test_errors_carry_row_and_value():
    with pytest.raises(cc.InputError) as error:
        Predictions.from_arrays([0, 1], [0.5, 7.0])
    assert (error.value.row, error.value.value) == (2, 7.0)
    with pytest.raises(cc.InputError) as error:
        Predictions.from_arrays(["a", "z"], [[0.5, 0.5], [0.1, 0.9]], classes=["a", "b"])
    assert (error.value.row, error.value.value, error.value.available) == (2, "z", ("a", "b"))


def test_class_lists_that_do_not_fit():
    with pytest.raises(cc.InputError, match="There are 3 class names for 2 columns"):
        Predictions.from_arrays(["a"], [[0.5, 0.5]], classes=["a", "b", "c"])
    with pytest.raises(cc.InputError, match="Two classes are called"):
        Predictions.from_arrays(["a"], [[0.5, 0.5]], classes=["a", "a"])
    with pytest.raises(cc.InputError, match="Two classes are called"):
        Predictions.from_arrays(["1"], [[0.5, 0.5]], classes=["1", 1.0])


@pytest.mark.parametrize(("dtype", "hair"), [(np.float64, 0.9e-9), (np.float32, 0.9e-6)], ids=["float64", "float32"])
def test_definition_9_a_hair_outside_is_clipped_and_counted(dtype, hair):
    values = np.array([1, 0.5, 0], dtype=dtype)
    values[0] += dtype(hair)
    values[2] -= dtype(hair)
    p = Predictions.from_arrays([1, 1, 0], values)
    assert p.rows("positive")[0].tolist() == [1.0, 0.5, 0.0]
    assert any(n.startswith("2 values a hair outside [0, 1]") for n in p.notes)
    values[0] = dtype(1) + dtype(2.2 * hair)
    with pytest.raises(cc.InputError, match="Row 1"):
        Predictions.from_arrays([1, 1, 0], values)


def test_definition_9_one_clipped_value_is_said_in_the_singular():
    (note,) = Predictions.from_top_label([1 + 1e-12, 0.4], [1, 0]).notes
    assert note.startswith("1 value ")


@pytest.mark.parametrize(("k", "limit"), [(2, 0.02), (3, 0.02), (4, 0.024), (10, 0.06)])
def test_definition_9_row_sums_within_rounding_are_used_and_counted(k, limit):
    row = np.full(k, 1 / k)
    inside, outside = row.copy(), row.copy()
    inside[0] -= limit - 1e-6
    outside[0] -= limit + 1e-6
    p = Predictions.from_arrays([0, 1], np.array([inside, row]))
    assert p.probabilities[0].tolist() == inside.tolist()  # used as it is, not rescaled
    assert any("1 row" in n and "used as written" in n for n in p.notes)
    with pytest.raises(cc.InputError, match="Row 2 sums to"):
        Predictions.from_arrays([0, 1], np.array([row, outside]))
    assert Predictions.from_arrays([0, 1], np.array([row, row])).notes == ()


def test_definition_8_weights():
    y, p = [0, 1, 1, 1], [0.2, 0.4, 0.7, 0.9]
    for weight, message in (
        ([1, -1, 1, 1], "weight in row 2 is negative"),
        ([1, 1, np.nan, 1], "weight in row 3 is missing or infinite"),
        ([1, 1, 1, np.inf], "weight in row 4 is missing or infinite"),
        ([1e-200, 1, 1, 1], "weight in row 1 is beyond 1e-100 to 1e100; multiply all by a constant"),
        ([1, 1e200, 1, 1], "weight in row 2 is beyond 1e-100 to 1e100"),
        ([0, 0, 0, 0], "All weights are 0; their sum must be positive"),
        ([1, 1], "2 weights for 4 rows"),
        (["a"] * 4, "Weights must be numbers; got 'a'"),
        ([[1], [1], [1], [1]], "weights"),
    ):
        with pytest.raises(cc.InputError, match=message):
            Predictions.from_arrays(y, p, sample_weight=weight)


def test_definition_8_zero_weight_rows_change_nothing_and_are_counted():
    whole = Predictions.from_arrays(
        [0, 1, 1, 0], [0.2, 0.4, 0.7, 0.9], sample_weight=[1, 20, 1, 0], ids=list("abcd"), groups={"g": list("xyxy")}
    )
    kept = Predictions.from_arrays([0, 1, 1], [0.2, 0.4, 0.7], sample_weight=[1, 20, 1])
    assert (whole.n, whole.n_excluded) == (3, 1)
    assert whole.ids.tolist() == ["a", "b", "c"]
    assert whole.groups["g"].tolist() == ["x", "y", "x"]
    assert whole.row.tolist() == [1, 2, 3]
    assert any("1 row of weight 0 left out" in n for n in whole.notes)
    a, b = (cc.analyze(m).to_dict() for m in (whole, kept))
    for key in ("ece", "mce", "rmsce", "brier", "log_loss", "gap", "chance", "bins", "detection", "pattern", "verdict", "n", "sweep"):
        assert a[key] == b[key], key


@pytest.mark.parametrize("scale", [1e15, 1e-15, 1e-90, 1e90])
def test_definition_8_weights_are_scale_free(scale):
    rng = np.random.default_rng(8)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    w = rng.integers(1, 50, 300).astype(float)
    one, other = (cc.analyze(Predictions.from_arrays(y, p, sample_weight=v)) for v in (w, w * scale))
    for name in ("ece", "brier", "log_loss", "accuracy", "mean_confidence"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-11)
    assert other.gap.low == pytest.approx(one.gap.low, rel=1e-9)
    assert other.chance.p95 == pytest.approx(one.chance.p95, rel=1e-9)
    assert other.detection.p_value == one.detection.p_value
    assert other.pattern.name == one.pattern.name
    assert other.verdict == one.verdict


def test_top_label_only():
    p = Predictions.from_top_label([0.9, 0.6, 0.8], [True, False, True], label=["a", "b", "a"], predicted=["a", "a", "a"])
    assert (p.task, p.views, p.classes, p.positive_class) == ("top_label", ("top_label",), ("a", "b"), None)
    assert (p.label.tolist(), p.predicted.tolist()) == ([0, 1, 0], [0, 0, 0])
    for view in ("positive", "class:a", "other"):
        with pytest.raises(cc.InputError, match="There is no view"):
            p.profile(view)


@pytest.mark.parametrize(
    "correct", [[1, 0], [1.0, 0.0], [True, False], [1, -1], ["1", "0"], pa.array([True, False]), np.array([True, False], object)]
)
def test_outcomes_may_be_written_in_several_ways(correct):
    assert Predictions.from_top_label([0.9, 0.6], correct).correct.tolist() == [True, False]


@pytest.mark.parametrize(
    ("confidence", "correct", "message"),
    [
        ([0.9, 0.6], [1, 2], "must be 0/1, true/false or -1/1; row 2 is 2"),
        ([0.9, 0.6], [0, -1], "row 1 is 0"),
        ([0.9, 0.6], ["yes", "no"], "must be 0/1 or true/false; got 'yes'"),
        ([0.9, 0.6], [1, np.nan], r"1 of 2 .* missing \(row 2\)"),
        ([0.9, 0.6], [1, None], r"1 of 2 .* missing \(row 2\)"),
        ([0.9, 0.6], [1], "1 outcomes for 2 rows"),
        ([0.9, np.nan, 0.1], [1, 0, 1], r"1 of 3 confidences missing \(row 2\)"),
        ([1.02, 0.6], [1, 0], r"Row 1: confidences outside \[0, 1\] \(1.02\)"),
        ([[0.9, 0.1]], [1], "Confidences need one number a row, not 2"),
        ([0.9, 0.6], [[1, 0]], r"shape \(n,\)"),
    ],
)
def test_outcomes_that_cannot_be_used(confidence, correct, message):
    with pytest.raises(cc.InputError, match=message):
        Predictions.from_top_label(confidence, correct)


def test_names_beside_outcomes_must_have_the_same_length():
    with pytest.raises(cc.InputError, match=r"1 .*2 rows"):
        Predictions.from_top_label([0.9, 0.6], [1, 0], label=["a"])
    with pytest.raises(cc.InputError, match=r"3 .*2 rows"):
        Predictions.from_top_label([0.9, 0.6], [1, 0], predicted=["a", "b", "a"])


def test_ids_and_groups_need_one_value_a_row():
    with pytest.raises(cc.InputError, match="3 ids for 2 rows"):
        Predictions.from_arrays([1, 0], [0.9, 0.2], ids=[1, 2, 3])
    with pytest.raises(cc.InputError, match=r"1 .*2 rows"):
        Predictions.from_arrays([1, 0], [0.9, 0.2], groups={"g": ["a"]})


def test_definition_6_views_of_a_binary_model_are_different_statistics():
    p = Predictions.from_arrays([0, 0, 1, 1, 0], [0.12, 0.15, 0.88, 0.85, 0.91])
    assert p.rows("positive")[0].tolist() == [0.12, 0.15, 0.88, 0.85, 0.91]
    assert p.rows("positive")[1].tolist() == [False, False, True, True, False]
    assert p.rows("top_label")[0].tolist() == [0.88, 0.85, 0.88, 0.85, 0.91]
    assert p.rows("top_label")[1].tolist() == [True, True, True, True, False]
    assert p.rows("class:0")[1].tolist() == [True, True, False, False, True]


def test_views_that_do_not_exist_are_refused():
    three = Predictions.from_arrays([0, 1, 2], THREE)
    for view in ("positive", "class:9", "class:", "topp", ""):
        with pytest.raises(cc.InputError, match=f"There is no view '{view}' of model; it has top_label, class:0"):
            three.profile(view)
    assert three.rows("class:1.0")[0].tolist() == [0.2, 0.5, 0.1]


def test_a_class_may_be_called_positive():
    p = Predictions.from_arrays(["positive", "b", "c"], THREE, classes=["positive", "b", "c"])
    assert p.rows("class:positive")[0].tolist() == [0.7, 0.2, 0.1]
    with pytest.raises(cc.InputError, match="no view 'positive'"):
        p.rows("positive")


def test_take_keeps_everything_together():
    p = Predictions.from_arrays(
        [0, 1, 2, 0], [*THREE, [0.4, 0.4, 0.2]], ids=list("abcd"), sample_weight=[1, 2, 3, 4], groups={"g": [1, 2, 3, 4]}
    )
    q = p.take(np.array([3, 0]))
    assert (q.n, q.n_tied, q.ids.tolist(), q.weight.tolist(), q.row.tolist(), q.groups["g"].tolist()) == (
        2,
        1,
        ["d", "a"],
        [4, 1],
        [4, 1],
        [4, 1],
    )
    assert q.profile().n == 2


def test_arrays_are_read_only_and_not_those_of_the_caller():
    matrix = np.array([[0.1, 0.9], [0.6, 0.4]])
    p = Predictions.from_arrays([1, 0], matrix)
    for name in ("probabilities", "confidence", "correct", "label", "predicted", "row"):
        assert not getattr(p, name).flags.writeable, name
    assert matrix.flags.writeable  # the caller's array stays the caller's
    before = cc.analyze(p).ece
    matrix[:] = 0.5
    assert cc.analyze(p).ece == before
    assert p.probabilities.tolist() == [[0.1, 0.9], [0.6, 0.4]]
    with pytest.raises(AttributeError):
        p.name = "other"
