"""The time column: dates become datetime64, numbers numbers, anything else texts; faults are named with their row."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore.errors import InputError
from calibcore.inference.periods import by_period
from calibcore.io import Mapping, read


def _csv(*cells):
    rows = [f"{i % 2},0.{i % 2 * 5 + 2}5,{cell}" for i, cell in enumerate(cells)]
    return ("y,p,when\n" + "\n".join(rows) + "\n").encode()


def _time(*cells):
    (found,) = read(_csv(*cells), mapping=Mapping(time="when"))
    return found.time, found.notes


def _parquet(column):
    sink = io.BytesIO()
    pq.write_table(pa.table({"y": [0, 1, 0, 1], "p": [0.25, 0.75, 0.25, 0.75], "when": column}), sink)
    return sink.getvalue()


def _dates(*texts):
    return np.array(texts, dtype="datetime64[us]")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("2024-01-31", "2024-02-01", "", "2023-12-31"), ("2024-01-31", "2024-02-01", "NaT", "2023-12-31")),
        (("2024-01-31 10:00", "2024-02-01T11:12:13", " 2024-02-02 ", "NA"), ("2024-01-31T10", "2024-02-01T11:12:13", "2024-02-02", "NaT")),
        (("2024-01-31 10:00:00.25", "2024-01-31 10:00:00.123456789"), ("2024-01-31T10:00:00.25", "2024-01-31T10:00:00.123456")),
        (("20240131", "20240229", "19991231", ""), ("2024-01-31", "2024-02-29", "1999-12-31", "NaT")),
    ],
)
def test_dates_of_texts(cells, expected):
    time, notes = _time(*cells)
    assert time.dtype == np.dtype("datetime64[us]")
    np.testing.assert_array_equal(time, _dates(*expected))
    assert not notes


def test_offsets_are_counted_in_utc_and_said():
    time, notes = _time("2024-01-31T23:30:00-05:00", "2024-01-31T23:30:00Z", "2024-02-01T01:00:00+0200", "2024-02-01T01:00:00.5+02")
    expected = ("2024-02-01T04:30", "2024-01-31T23:30", "2024-01-31T23:00", "2024-01-31T23:00:00.5")
    np.testing.assert_array_equal(time, _dates(*expected))
    assert notes == ("Times of 'when' carry a zone or an offset; they are counted in UTC.",)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("2019", "2020", "", "2021"), [2019.0, 2020.0, np.nan, 2021.0]),
        (("1", "2.5", "1e3", "-4"), [1.0, 2.5, 1000.0, -4.0]),
        (("1706659200", "1706745600"), [1706659200.0, 1706745600.0]),  # seconds since 1970 stay numbers
        (("20240131", "20240230"), [20240131.0, 20240230.0]),  # no such day: numbers
    ],
)
def test_numbers(cells, expected):
    time, _ = _time(*cells)
    assert time.dtype == np.float64
    np.testing.assert_array_equal(time, expected)


@pytest.mark.parametrize(
    ("cells", "expected", "order"),
    [
        (("1/2/2024", "31/12/2024", "", "02/03/2024"), ("2024-02-01", "2024-12-31", "NaT", "2024-03-02"), "day, month, year, as row 2 "),
        (("1/2/2024", "12/31/2024"), ("2024-01-02", "2024-12-31"), "month, day, year, as row 2 (12/31/2024)"),
        (("13.1.2024 7:05", "1.2.2024 23:59:01.5"), ("2024-01-13T07:05", "2024-02-01T23:59:01.5"), "day, month, year"),
        (("5-13-2024", "5-1-2024"), ("2024-05-13", "2024-05-01"), "month, day, year"),
        (("1/13/2024 12:00 AM", "1/2/2024 12:30 pm", "1/3/2024 1:05:09 p.m."),
         ("2024-01-13T00:00", "2024-01-02T12:30", "2024-01-03T13:05:09"), "month, day, year"),
    ],
)  # fmt: skip
def test_a_day_above_12_tells_day_and_month_apart(cells, expected, order):
    time, notes = _time(*cells)
    np.testing.assert_array_equal(time, _dates(*expected))
    assert len(notes) == 1
    assert f"'when' are read as {order}" in notes[0]


def test_a_year_that_comes_first_is_followed_by_month_and_day():
    time, notes = _time("2024/1/2", "2024.11.03 7:05", "2024/02/29")
    np.testing.assert_array_equal(time, _dates("2024-01-02", "2024-11-03T07:05", "2024-02-29"))
    assert not notes


def test_other_texts_are_kept():
    assert _time("week 2", "week 10", "", "week 2")[0].tolist() == ["week 2", "week 10", "", "week 2"]
    assert _time("2024-Q1", "2024-Q2")[0].tolist() == ["2024-Q1", "2024-Q2"]
    assert _time("2024-01", "2024-02")[0].tolist() == ["2024-01", "2024-02"]  # months: their order as texts is right


@pytest.mark.parametrize(
    ("cells", "row", "sentence"),
    [
        (("2024-01-31", "2024-02-01", "soon", "2024-02-03"), 3, "'soon', not a date or time such as 2024-12-31 like most others"),
        (("2024-01-31", "2024-02-30", "2024-02-03"), 2, "'2024-02-30', not a date that exists"),
        (("1", "2", "three", "4"), 3, "'three', not a number like most others"),
        (("11/12/2024", "1/2/2024"), 1, "'11/12/2024', and no row has a day above 12: day and month cannot be told apart"),
        (("", "1.2.2024", "11.12.2024"), 2, "day and month cannot be told apart"),
        (("13/2/2024", "1/2/2024", "2/13/2024"), 3, "Rows 1 .13/2/2024. and 3 .2/13/2024. of column 'when' write day and month in diff"),
        (("1/2/2024", "13/14/2024"), 2, "'13/14/2024', not a date, since neither part is a month"),
        (("31/12/24", "1/2/24"), 1, "'31/12/24', not a date with a year of four digits"),
        (("31/12/2024", "2024/1/2", "1/1/2024"), 2, "'2024/1/2', not a date with a year of four digits, in the same place"),
        (("31/12/2024", "1/1/2024", "soon"), 3, "'soon', not a date like most others"),
        (("31/12/2024 13:05", "1/1/2024 noon"), 2, "not a date with a time such as 13:05 or 1:05 PM"),
        (("30/02/2024", "1/1/2024"), 1, "'2024-02-30', not a date that exists"),
        (("2024-01-31T10:00Z", "2024-01-31T10:00", "2024-01-31T10:00Z"), 2, "carry a UTC offset and some do not"),
    ],
)
def test_bad_cells_are_named(cells, row, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        _time(*cells)
    assert raised.value.row == row
    assert raised.value.column == "when"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_of_parquet(unit):
    stamps = pa.array([0, 86400, None, 5], pa.timestamp("s")).cast(pa.timestamp(unit))
    (found,) = read(_parquet(stamps), mapping=Mapping(time="when"))
    np.testing.assert_array_equal(found.time, _dates("1970-01-01", "1970-01-02", "NaT", "1970-01-01T00:00:05"))


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_dates_of_parquet(kind):
    (found,) = read(_parquet(pa.array([0, 1, None, 2], pa.int32()).cast(pa.date32()).cast(kind)), mapping=Mapping(time="when"))
    np.testing.assert_array_equal(found.time, _dates("1970-01-01", "1970-01-02", "NaT", "1970-01-03"))


def test_zones_of_parquet_are_utc():
    stamps = pa.array([0, 1, 2, 3], pa.timestamp("s", "America/New_York"))
    (found,) = read(_parquet(stamps), mapping=Mapping(time="when"))
    np.testing.assert_array_equal(found.time, np.arange(4).astype("datetime64[s]"))
    assert found.notes == ("Times of 'when' carry a zone or an offset; they are counted in UTC.",)


def test_other_columns_of_parquet():
    (found,) = read(_parquet(pa.array([3, 1, 2, None], pa.int16())), mapping=Mapping(time="when"))
    np.testing.assert_array_equal(found.time, [3.0, 1.0, 2.0, np.nan])
    (found,) = read(_parquet(pa.array(["b", None, "a", "a"]).dictionary_encode()), mapping=Mapping(time="when"))
    assert found.time.tolist() == ["b", "", "a", "a"]
    (found,) = read(_parquet(pa.array([0, 60, 120, 1], pa.time32("s"))), mapping=Mapping(time="when"))
    assert [t[:8] for t in found.time] == ["00:00:00", "00:01:00", "00:02:00", "00:00:01"]  # a time of day is no date
    with pytest.raises(InputError, match="holds a list or a record"):
        read(_parquet(pa.array([[1], [2], [3], [4]])), mapping=Mapping(time="when"))


def test_rows_that_are_left_out_take_their_times_along():
    data = b"y,p,when\n1,0.75,2024-01-01\n,0.5,2024-01-02\n0,0.25,2024-01-03\n"
    (found,) = read(data, mapping=Mapping(time="when", missing="drop"))
    np.testing.assert_array_equal(found.time, _dates("2024-01-01", "2024-01-03"))


def test_from_a_file_to_periods():
    months = ["2024-01-15", "2024-02-15", ""] * 60
    (found,) = read(_csv(*months), mapping=Mapping(time="when"))
    assert [(p.name, p.n, p.judged) for p in by_period(found, periods="month").periods] == [
        ("2024-01", 60, True),
        ("2024-02", 60, True),
        ("(missing)", 60, False),
    ]
