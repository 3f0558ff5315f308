"""Columns of decimals are the numbers they are written as; a file of two equal names or of no rows is named."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibcore as cc

THOUSANDTHS = range(1001)
KINDS = [pa.decimal128(4, 3), pa.decimal128(38, 18), pa.decimal256(50, 20)]


def thousandths(kind):
    """Every thousandth once, labels in turn 0 and 1."""
    written = pa.array([Decimal(k) / 1000 for k in THOUSANDTHS], kind)
    return pa.table({"label": np.arange(1001) % 2, "probability": written})


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_decimals_are_the_nearest_doubles(tmp_path, kind):
    # k/1000 is correctly rounded, as IEEE division is.
    pq.write_table(thousandths(kind), tmp_path / "rows.parquet")
    [model] = cc.read(tmp_path / "rows.parquet")
    assert (model.probabilities[:, 1] == np.arange(1001) / 1000).all()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_decimals_at_edges_fall_into_the_bins_of_their_fractions(kind):
    # (a, b]: thousandth k lies in the tenth ⌈k/100⌉ of ten; 0 in the first.
    expected = [sum(max(-(-k // 100), 1) == b for k in THOUSANDTHS) for b in range(1, 11)]
    gaps = [sum(Fraction(k % 2) - Fraction(k, 1000) for k in THOUSANDTHS if max(-(-k // 100), 1) == b) for b in range(1, 11)]
    [model] = cc.reduce_models(thousandths(kind))
    a = cc.analyze(model, cc.Settings(n_bins=10, view="positive"))
    assert list(a.bins.count) == expected
    assert a.ece == pytest.approx(float(sum(map(abs, gaps)) / 1001), abs=1e-12)


def doubled():
    return pa.Table.from_arrays(
        [pa.array([0, 1]), pa.array([0.2, 0.7]), pa.array([0.1, 0.6])], names=["label", "probability", "probability"]
    )


def test_a_parquet_file_with_two_equal_names_is_not_called_damaged(tmp_path):
    pq.write_table(doubled(), tmp_path / "twice.parquet")
    with pytest.raises(cc.InputError, match=r"^twice\.parquet: Two columns are called probability\. Rename one of them\.$"):
        cc.reduce_models(tmp_path / "twice.parquet")


def test_a_file_without_rows_is_named(tmp_path):
    pq.write_table(doubled().select([0, 1]).slice(0, 0), tmp_path / "none.parquet")
    with pytest.raises(cc.InputError, match=r"^none\.parquet: The file has columns but no data rows\."):
        cc.reduce_models(tmp_path / "none.parquet")
