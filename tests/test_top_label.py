"""The largest value of each row and the complement of a probability."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.top_label import complement, largest


@pytest.mark.parametrize("k", [2, 3, 70])
def test_largest(k):
    """The first of the largest values, and how many rows have several, over more rows than one part holds."""
    p = np.round(np.random.default_rng(k).random((40_000 // k * 3, k)), 2)
    place, value, tied = largest(p)
    assert np.array_equal(place, np.argmax(p, axis=1))
    assert np.array_equal(value, p.max(axis=1))
    assert tied == sum(list(row).count(max(row)) > 1 for row in p.tolist())


def test_complement_in_parts():
    p = np.round(np.random.default_rng(0).random(50_001), 3)
    parts = [complement(part) for part in np.array_split(p, 17)]
    assert np.array_equal(complement(p), np.concatenate(parts))


@given(st.lists(st.floats(0, 1, width=16) | st.sampled_from([0.5 - 2**-54, 0.5 + 2**-53]), min_size=1))
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_only_one_half_is_its_own_complement(kind, values):
    p = np.array(values, dtype=kind)
    assert (complement(p) == p).tolist() == (p == 0.5).tolist()
