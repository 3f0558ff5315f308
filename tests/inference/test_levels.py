"""Which groups a column makes: values by name, and quarters of many numbers, whatever the order of the rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.inference.levels import MAX_GROUPS, group_levels


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def test_up_to_fifty_values_are_their_own_groups():
    found = group_levels(np.arange(MAX_GROUPS))
    assert (found.cut, len(found.names)) == (False, 50)
    assert found.names[:2] == ("0", "1")


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (np.arange(100), ("0–24", "25–49", "50–74", "75–99")),
        (np.arange(-50, 50), ("−50 to −26", "−25 to −1", "0 to 24", "25 to 49")),
        (objects([str(i) for i in range(100)]), ("0–24", "25–49", "50–74", "75–99")),  # as text files hold them
        # to 0.995 in steps of 0.005: quarters of 50 values; three digits tell their ends apart
        (np.arange(200) / 200, ("0–0.245", "0.25–0.495", "0.5–0.745", "0.75–0.995")),
        # ends that differ from the fifth digit on
        (100 + np.arange(100) / 1000, ("100–100.024", "100.025–100.049", "100.05–100.074", "100.075–100.099")),
        # 100 zeros and 1…60: three quartiles of 160 numbers are the 40th, 80th and 120th smallest, 0, 0 and 20
        (np.r_[np.zeros(100, int), 1:61], ("0", "1–20", "21–60")),
        (objects([None, *range(100), "", float("nan")]), ("0–24", "25–49", "50–74", "75–99", "(missing)")),
        # beyond what a double tells apart, and too long for one
        (objects([str(10**400 + i) for i in range(51)]), tuple(str(10**400 + i) for i in range(51))),
    ],
)
def test_names_hold_the_edges(values, names):
    found = group_levels(values)
    assert found.names == names
    assert found.code.shape == values.shape


@pytest.mark.parametrize("other", ["x", "inf", "2024-01-01", "1_0"])
def test_one_value_that_is_no_number_keeps_all_apart(other):
    found = group_levels(objects([*map(str, range(60)), other]))
    assert (found.cut, len(found.names)) == (False, 61)


def test_dates_and_flags_are_no_numbers():
    assert not group_levels(np.arange("2024-01-01", "2024-03-01", dtype="datetime64[D]")).cut


@given(st.lists(st.integers(-30, 60), min_size=60, max_size=300), st.randoms(use_true_random=False))
def test_equal_numbers_stay_together_and_ranges_rise(numbers, random):
    numbers = [*numbers, *range(100, 151)]  # more than 50 different ones
    random.shuffle(numbers)
    values = np.array(numbers, dtype=float)
    found = group_levels(values)
    assert found.cut
    assert set(found.code.tolist()) == set(range(len(found.names)))
    ranges = [(values[found.code == i].min(), values[found.code == i].max()) for i in range(len(found.names))]
    assert all(a[1] < b[0] for a, b in pairwise(ranges))
    # each range but the last holds a quarter of the rows or more, and without its largest number less
    for _, high in ranges[:-1]:
        k = int((values <= high).sum()) * 4 // len(values)  # as many quarters end here or before
        assert k >= 1
        assert (values < high).sum() < -(-k * len(values) // 4)
