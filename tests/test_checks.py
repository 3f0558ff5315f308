"""Names, flags and weights: the small rules behind every sentence about input."""

import numpy as np
import pytest

import calibcore as cc
from calibcore.checks import checked_flags, checked_labels, checked_row_sums, distinct_labels, name_key, name_text, sorted_names
from calibcore.top_label import complement


@pytest.mark.parametrize(
    ("name", "text"),
    [(1, "1"), (1.0, "1"), (np.int64(1), "1"), (np.float32(2.0), "2"), ("a", "a"), (True, "True"), (0.5, "0.5"), ("1.0", "1.0")],
)
def test_names_as_text(name, text):
    assert name_text(name) == text


def test_names_that_mean_the_same_class():
    assert name_key(1) == name_key("1") == name_key("1.0") == name_key(" 1 ") == name_key("01") == name_key("1e0")
    assert name_key("a") == name_key(" a ")
    assert len({name_key(n) for n in ("a", "A", "1", "1_0", "10", "nan", "inf", "", True)}) == 9


def test_large_whole_numbers_stay_apart():
    # 2⁵³ + 1 has no double of its own, yet it is another class than 2⁵³
    assert name_key(2**53) != name_key(2**53 + 1)


def test_names_sort_numbers_by_size_then_text():
    assert sorted_names(["10", 9, "b", 1.0, "a", "-2"]) == ["-2", "1", "9", "10", "a", "b"]
    assert sorted_names([True, False]) == ["False", "True"]


@pytest.mark.parametrize("values", [[1, 0, 1], [1.0, 0.0, 1.0], ["1", "0", "1"], [True, False, True], [1, -1, 1]])
def test_flags(values):
    assert checked_flags(values, "outcomes").tolist() == [True, False, True]


def test_flags_all_of_one_kind():
    assert checked_flags([0, 0], "outcomes").tolist() == [False, False]
    assert checked_flags([-1, -1], "outcomes").tolist() == [False, False]
    assert checked_flags([1, 1], "outcomes").tolist() == [True, True]


def test_every_missing_row_is_named():
    with pytest.raises(cc.InputError, match=r"2 of 4 labels missing \(rows 2 and 4\)"):
        checked_labels(np.array(["a", None, "b", None], dtype=object), ["a", "b"])
    with pytest.raises(cc.InputError, match=r"3 of 4 outcomes missing \(rows 1, 3 and 4\)"):
        checked_flags([np.nan, 1, np.nan, np.nan], "outcomes")


def test_row_sums():
    assert checked_row_sums(np.array([[0.5, 0.5], [0.25, 0.75]])) == (0, 0.0)
    count, largest = checked_row_sums(np.array([[0.333, 0.333, 0.333], [0.667, 0.167, 0.167], [0.5, 0.25, 0.25]]))
    assert count == 2
    assert largest == pytest.approx(0.001, abs=1e-12)


def test_row_sums_of_float32_softmax_are_not_counted():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((200, 100)).astype(np.float32)
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True, dtype=np.float32)
    assert checked_row_sums(p)[0] == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_complement_stays_in_range_and_precision(dtype):
    p = np.concatenate([np.random.default_rng(0).random(1000), [0, 1, 0.5, 1e-30]]).astype(dtype)
    other = complement(p)
    assert other.dtype == dtype
    assert ((other >= 0) & (other <= 1)).all()
    assert np.abs(other.astype(float) - (1 - p.astype(float))).max() <= 2 * np.finfo(dtype).eps
    assert complement(np.array([0, 1, 0.5], dtype=dtype)).tolist() == [1, 0, 0.5]


def test_errors_say_what_where_and_what_to_do():
    error = cc.InputError("Row 3 is 1.2.", rule="r", value=1.2, row=3, column="p", available=("a",))
    assert isinstance(error, ValueError)
    assert (str(error), error.rule, error.value, error.row, error.column, error.available) == ("Row 3 is 1.2.", "r", 1.2, 3, "p", ("a",))
    question = cc.Question("label", "Which column is the label?", ("y", "t"), "--label")
    asked = cc.AmbiguousLayout([question], source="a.csv")
    assert isinstance(asked, cc.InputError)
    assert str(asked) == 'a.csv: Which column is the label? Answer with mapping=cc.Mapping(label="y"), or label="t".'
    assert question.to_dict() == {"id": "label", "text": "Which column is the label?", "options": ["y", "t"], "flag": "--label"}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_few_whole_numbers_as_labels_are_counted(dtype: type) -> None:
    labels = np.array([7, 3, 7, 120, 3], dtype=dtype)
    assert distinct_labels(labels) == [3, 7, 120]
    assert checked_labels(labels, ["120", "3", "7"]).tolist() == [2, 1, 2, 0, 1]


def test_negative_and_far_apart_labels_are_found() -> None:
    assert distinct_labels(np.array([-128, 127, -128], dtype=np.int8)) == [-128, 127]
    far = np.array([-(2**62), 2**62, 0])
    assert checked_labels(far, [str(-(2**62)), "0", str(2**62)]).tolist() == [0, 2, 1]
