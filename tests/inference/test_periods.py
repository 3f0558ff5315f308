"""Periods: their names and rows, the test of one gap by hand and by simulation, the trend, and times of every kind."""

import datetime as dt
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from calibcore.errors import InputError
from calibcore.inference.periods import by_period
from calibcore.predictions import Predictions


def _model(time, correct=None, confidence=0.8, **more):
    n = len(time)
    correct = [i % 5 > 0 for i in range(n)] if correct is None else correct
    return Predictions.from_top_label(np.broadcast_to(confidence, n), correct, time=time, **more)


def _names(time, periods=None, **more):
    return [(p.name, p.n) for p in by_period(_model(time), periods=periods, minimum=2, **more).periods]


def _days(start, stop):
    return np.arange(start, stop, dtype="datetime64[D]")


def test_calendar_periods():
    days = _days("2023-12-30", "2024-04-02")
    assert _names(days, "month") == [("2023-12", 2), ("2024-01", 31), ("2024-02", 29), ("2024-03", 31), ("2024-04", 1)]
    assert _names(days, "quarter") == [("2023-Q4", 2), ("2024-Q1", 91), ("2024-Q2", 1)]
    assert _names(days, "year") == [("2023", 2), ("2024", 92)]
    assert _names(_days("2024-02-28", "2024-03-02"), "day") == [("2024-02-28", 1), ("2024-02-29", 1), ("2024-03-01", 1)]
    assert _names(np.array(["1969-12-31T23:59", "1970-01-01"], dtype="datetime64[s]"), "quarter") == [("1969-Q4", 1), ("1970-Q1", 1)]


def test_position_counts_calendar_steps_over_gaps():
    found = by_period(_model(np.repeat(np.array(["2024-01", "2024-02", "2024-05"], dtype="datetime64[M]"), 60)), periods="month")
    assert [p.position for p in found.periods] == [0, 1, 4]
    assert found.step == "month"


@pytest.mark.parametrize(
    ("days", "step"),
    [
        (np.repeat(_days("2024-01-01", "2024-01-11"), 60), "day"),
        (np.repeat(_days("2024-01-01", "2024-07-01"), 3), "month"),
        (np.repeat(_days("2015-01-01", "2025-01-01"), 1), "year"),
        (np.repeat(_days("2020-01-01", "2025-01-01"), 1), "quarter"),
        (np.repeat(_days("2024-03-05", "2024-03-06"), 100), "period"),
        (np.arange("1900-01-01", "2000-01-01", 30, dtype="datetime64[D]"), "period"),
    ],
)
def test_usual_calendar_period(days, step):
    assert by_period(_model(days)).step == step


def test_equal_numbers_of_rows_keep_equal_times_together():
    # ends at rows ⌈10/3⌉ = 4, ⌈20/3⌉ = 7 and 10: 1 1 1 1 1 | 2 3 | 4 5 6, since row 4 is one of five with time 1
    assert _names([1, 1, 1, 1, 1, 2, 3, 4, 5, 6], 3) == [("1", 5), ("2 to 3", 2), ("4 to 6", 3)]
    assert _names([7] * 4, 3) == [("7", 4)]
    assert _names(_days("2024-01-01", "2024-01-07"), 2) == [("2024-01-01 to 2024-01-03", 3), ("2024-01-04 to 2024-01-06", 3)]
    seconds = np.array([0, 1, 2, 3], dtype="datetime64[s]")
    assert _names(seconds, 2)[0] == ("1970-01-01 00:00:00 to 1970-01-01 00:00:01", 2)


def test_numbers_are_periods_of_their_own_or_equal_parts():
    found = by_period(_model([2019] * 3 + [2021] * 3 + [2020] * 3))
    assert [(p.name, p.position) for p in found.periods] == [("2019", 0), ("2020", 1), ("2021", 2)]
    assert found.step == "unit of time"
    assert len(by_period(_model(np.arange(1000.0))).periods) == 10  # such as seconds since 1970
    assert _names(np.array([0.5, np.nan, 0.25])) == [("0.25", 1), ("0.5", 1), ("(missing)", 1)]


def test_texts_stand_in_natural_order():
    found = by_period(_model(["week 10", "week 9", "Week 2", ""]))
    assert [p.name for p in found.periods] == ["Week 2", "week 9", "week 10", "(missing)"]
    assert found.notes == ("The times are texts; periods stand in the order of their names.",)
    assert found.step == "period"


@pytest.mark.parametrize(
    "time",
    [
        ["2024-01-31", "2024-02-01 10:00", None],
        [dt.date(2024, 1, 31), dt.datetime(2024, 2, 1, 10), None],  # noqa: DTZ001
        [dt.datetime(2024, 1, 31, 23, tzinfo=dt.timezone(dt.timedelta(hours=1))), dt.datetime(2024, 2, 1, tzinfo=dt.UTC), None],
        np.array(["2024-01-31", "2024-02-01", "NaT"], dtype="datetime64[ns]"),
    ],
)
def test_dates_of_every_kind(time):
    assert _names(time, "month") == [("2024-01", 1), ("2024-02", 1), ("(missing)", 1)]


def test_missing_times_are_listed_and_not_judged():
    found = by_period(_model([1] * 60 + [None] * 60 + [2] * 10))
    assert [(p.name, p.n, p.judged, p.gap.low is None) for p in found.periods] == [
        ("1", 60, True, False),
        ("2", 10, False, True),
        ("(missing)", 60, False, True),
    ]
    assert found.change is None
    assert found.each_level == pytest.approx(0.95)
    assert found.text == "3 periods looked at, 2 of them not judged (fewer than 50 rows, or no time)."


@pytest.mark.parametrize(
    ("time", "periods", "sentence"),
    [
        (None, None, "has no times; name the column"),
        ([None, None], None, "Every time is missing"),
        ([1, 2], "month", "times are numbers, not dates"),
        (["a", "b"], "year", "times are texts, not dates"),
        ([1, 2], "week", "day, month, quarter, year or a number, not 'week'"),
        ([1, 2], 0, "whole number from 1 to 50"),
        ([1, 2], True, "whole number from 1 to 50"),
        (np.arange(51).astype("datetime64[D]"), "day", "There are 51 periods; at most 50"),
        ([[1], [2]], None, "not lists or records"),
    ],
)
def test_refused(time, periods, sentence):
    rows = Predictions.from_top_label([0.8, 0.8], [1, 0]) if time is None else None
    if isinstance(time, list) and isinstance(time[0], list):
        cells = np.empty(2, dtype=object)
        cells[:] = time
        time = cells
    with pytest.raises(InputError, match=sentence):
        by_period(rows or _model(time), periods=periods)


def _two(first, second, n=100, confidence=0.8):
    correct = [i < k for k in (first, second) for i in range(n)]
    return by_period(_model([0] * n + [1] * n, correct, confidence))


def test_one_gap_by_hand():
    """Two periods of 100 rows at 0.8, 80 and 60 right: gaps 0 and −0.2, one gap −0.1, so q = 0.7."""
    change = _two(80, 60).change
    # the spread within the periods is not larger: Σ(r − g_k)² = 100·(.8·.2 + .6·.4) = 40 of 200·.21 = 42, so φ = 1
    variance = 0.21 / 100
    statistic = 0.2**2 / (2 * variance)
    assert change.statistic == pytest.approx(statistic)
    assert change.df == 1
    assert change.p_value == pytest.approx(2 * special.ndtr(-np.sqrt(statistic)))
    assert change.slope == pytest.approx(-0.2)
    assert change.standard_error == pytest.approx(np.sqrt(2 * variance))
    assert change.slope_p_value == pytest.approx(change.p_value)  # with two periods it is the same question
    assert change.interval() == pytest.approx((-0.2 - 1.959964 * np.sqrt(2 * variance), -0.2 + 1.959964 * np.sqrt(2 * variance)), abs=1e-6)


def test_more_spread_than_one_gap_explains():
    """Half the rows at 1 and half at 0, all of them right half of the time: no common gap, but a spread of ¼."""
    time, p = np.repeat([0, 1], 200), np.tile([0.0, 1.0, 1.0, 0.0], 100)
    correct = np.tile([0, 1, 0, 1], 100).astype(bool)
    correct[:20] = True
    change = by_period(_model(time, correct, p)).change
    r = correct - p
    gap, g = r.mean(), [r[time == k].mean() for k in (0, 1)]
    q = np.clip(p + gap, 0, 1)
    scale = sum(np.sum((r[time == k] - g[k]) ** 2) for k in (0, 1)) / np.sum(q * (1 - q)) * 400 / 398
    variance = scale * np.sum(q * (1 - q)) / 2 / 200**2
    assert scale > 1
    assert change.statistic == pytest.approx((g[0] - g[1]) ** 2 / (2 * variance))


def test_a_common_gap_is_no_difference():
    found = _two(60, 60)
    assert found.change.statistic == pytest.approx(0, abs=1e-12)
    assert found.change.p_value == 1
    assert "no difference in the gap between periods shows (χ² = " in found.text


@pytest.mark.parametrize(("first", "second", "confidence"), [(100, 100, 1.0), (0, 100, 0.5), (100, 99, 1.0), (0, 0, 0.0), (0, 100, 1.0)])
def test_extremes(first, second, confidence):
    found = _two(first, second, confidence=confidence)
    assert (found.change is None) == (first == second)  # nothing varies: nothing to compare
    json.dumps(found.to_dict(), allow_nan=False)


def test_trend_is_the_weighted_line():
    # equal variances, gaps 0, −.1, −.05 at positions 0, 1, 3: slope Σ(x − 4/3)(g)/Σ(x − 4/3)²
    correct = [i < k for k in (80, 70, 75) for i in range(100)]
    months = np.repeat(np.array(["2024-01", "2024-02", "2024-04"], dtype="datetime64[M]"), 100)
    change = by_period(_model(months, correct), periods="month").change
    x = np.array([0, 1, 3]) - 4 / 3
    assert change.slope == pytest.approx(float(x @ [0, -0.1, -0.05] / (x @ x)))
    assert change.df == 2


def test_base_rate_of_a_binary_model():
    model = Predictions.from_arrays([1, 0, 1, 1], [0.75, 0.25, 0.25, 0.75], time=[1, 1, 2, 2])
    found = by_period(model, minimum=2)
    assert [(p.base_rate, p.accuracy, p.mean_confidence) for p in found.periods] == [(0.5, 1.0, 0.75), (1.0, 0.5, 0.75)]
    assert [p.mean_confidence for p in by_period(model, view="positive", minimum=2).periods] == [0.5, 0.5]
    assert by_period(_model([1, 2])).periods[0].base_rate is None


def test_repeated_rows_as_clusters_are_one_outcome_each():
    rng = np.random.default_rng(8)
    correct, time = rng.uniform(size=120) < 0.6, np.repeat([0, 1], 60)
    five = by_period(_model(np.repeat(time, 5), np.repeat(correct, 5), cluster=np.repeat(np.arange(120), 5)))
    # by hand: V_k = Σ(r − g)²/60² with g the common gap
    r = correct - 0.8
    v = [np.sum((r[time == k] - r.mean()) ** 2) / 60**2 for k in (0, 1)]
    assert five.change.statistic == pytest.approx((r[time == 0].mean() - r[time == 1].mean()) ** 2 / sum(v))
    assert not five.notes
    across = by_period(_model(np.tile([0, 1], 120), np.repeat(correct, 2), cluster=np.repeat(np.arange(120), 2)))
    assert across.notes == ("Some clusters have rows in several periods; between periods these rows are treated as independent.",)
    assert across.change is not None


_ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.3, 0.75, 1.0]), st.booleans(), st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=30
)


@settings(max_examples=40, deadline=None)
@given(_ROWS, st.randoms(use_true_random=False))
def test_order_scale_and_repetition(rows, random):
    def found(rows, scale=None):
        p, y, t, w = (np.array(x) for x in zip(*rows, strict=True))
        if scale is None:
            return by_period(_model(np.repeat(t, w), np.repeat(y, w), np.repeat(p, w)), minimum=2)
        return by_period(_model(t, y, p, sample_weight=w * scale), minimum=2)

    first = found(rows, 1.0)
    random.shuffle(rows)
    for other in (found(rows, 1.0), found(rows, 1e15), found(rows, 1e-15)):
        for a, b in zip(first.periods, other.periods, strict=True):
            assert (a.name, a.judged) == (b.name, b.judged)
            assert a.gap.value == pytest.approx(b.gap.value, abs=1e-12)
            assert a.gap.low == pytest.approx(b.gap.low, abs=1e-9)
        assert (first.change is None) == (other.change is None)
        if first.change is not None:
            assert first.change.p_value == pytest.approx(other.change.p_value, abs=1e-6)
            assert first.change.slope == pytest.approx(other.change.slope, abs=1e-6)
    for a, b in zip(first.periods, found(rows).periods, strict=True):
        assert (a.accuracy, a.gap.value) == (pytest.approx(b.accuracy), pytest.approx(b.gap.value, abs=1e-12))


@pytest.mark.parametrize("kind", ["moderate", "confident", "overconfident"])
def test_size_of_both_tests(kind):
    """Periods with one gap are called different in about 5 %: of 200, 2 to 21, which Bin(200, .05) leaves in 2 of 1,000 cases."""
    rng = np.random.default_rng(9)
    different = rising = 0
    for _ in range(200):
        p = rng.choice([0.95, 0.98, 0.99], 1000) if kind == "confident" else rng.uniform(0.5, 1, 1000)
        rate = 0.5 + (p - 0.5) / 2 if kind == "overconfident" else p
        change = by_period(_model(np.repeat(np.arange(5), 200), rng.uniform(size=1000) < rate, p)).change
        different += change.p_value <= 0.05
        rising += change.slope_p_value <= 0.05
    assert 2 <= different <= 21
    assert 2 <= rising <= 21


def test_a_fault_in_one_period_is_found():
    # 8 periods of 500 rows at 0.8, one 10 points lower: (0.1·√(7/8))²/(0.16/500) = 27 beyond 7 degrees of freedom
    rng = np.random.default_rng(10)
    rate = np.repeat([0.8, 0.8, 0.8, 0.7, 0.8, 0.8, 0.8, 0.8], 500)
    found = by_period(_model(np.repeat(np.arange(8), 500), rng.uniform(size=4000) < rate))
    assert found.change.p_value < 0.01
    assert "the gap differs between periods" in found.text
