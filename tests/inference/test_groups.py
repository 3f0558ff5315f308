"""Groups: figures by hand, missing and small groups, and error rates, coverage and power by simulation."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from calibcore.errors import InputError
from calibcore.inference.groups import MAX_GROUPS, by_group, each_group
from calibcore.inference.slices import clopper_pearson, gap_of, levels_of, visible_gap
from calibcore.partition import Partition
from calibcore.predictions import Predictions


def _model(confidence, correct, groups, **more):
    return Predictions.from_top_label(confidence, correct, groups={"g": groups}, **more)


def _rates(**rates):
    """60 rows a group at confidence 0.8; ``rates``: how many of them are right."""
    names = [n for n in rates for _ in range(60)]
    correct = [i < k for k in rates.values() for i in range(60)]
    return _model([0.8] * len(names), correct, names)


def test_figures_of_each_group_by_hand():
    found = by_group(_rates(a=48, b=30, c=60), "g", partition=Partition.equal_width(10))
    assert [(g.name, g.n, g.judged) for g in found.groups] == [("a", 60, True), ("b", 60, True), ("c", 60, True)]
    for group, right in zip(found.groups, (48, 30, 60), strict=True):
        gap = Fraction(right, 60) - Fraction(4, 5)
        assert group.accuracy == right / 60
        assert group.mean_confidence == pytest.approx(0.8)
        assert group.gap.value == pytest.approx(float(gap))
        assert group.ece == pytest.approx(abs(float(gap)))  # all rows lie in one bin
    assert found.each_level == pytest.approx(1 - 0.05 / 3)


def test_interval_is_wilson_where_all_confidences_are_equal_and_neither_outcome_is_rare():
    group = by_group(_rates(b=30), "g").groups[0]  # 30 of 60, gap −0.3
    z = 1.959963984540054
    centre, half = 0.5, z / (60 + z * z) * math.sqrt(60 / 4 + z * z / 4)  # Wilson at k = n/2: centre ½
    assert group.gap.low == pytest.approx(centre - half - 0.8)
    assert group.gap.high == pytest.approx(centre + half - 0.8)


def test_interval_is_exact_where_an_outcome_is_rare():
    group = by_group(_rates(c=60), "g").groups[0]
    # Clopper–Pearson at k = n: lower end (α/2)^(1/n), upper end 1
    assert group.gap.low == pytest.approx(0.025 ** (1 / 60) - 0.8)
    assert group.gap.high == pytest.approx(0.2)
    # the rule itself, 7 of 10 at 95 %: P(X ≥ 7) = 1/40 at the lower end and P(X ≤ 7) = 1/40 at the upper
    low, high = clopper_pearson(7, 10, 0.95)
    assert sum(math.comb(10, k) * low**k * (1 - low) ** (10 - k) for k in range(7, 11)) == pytest.approx(1 / 40)
    assert sum(math.comb(10, k) * high**k * (1 - high) ** (10 - k) for k in range(8)) == pytest.approx(1 / 40)


def test_sentence_and_adjusted_values():
    found = by_group(_rates(a=48, b=30, c=49), "g")
    assert found.text == (
        "3 groups looked at; intervals are Bonferroni-adjusted. "
        "Outcomes do not fit the probabilities in “b” (smallest Holm-adjusted p ≤ 0.003)."  # 3 · 1/1001
    )
    assert repr(found) == "<Groups of 'g': 3 groups, 3 judged, smallest Holm-adjusted p ≤ 0.003>"
    b = found.groups[1]
    assert b.p_value == 1 / 1001  # z = −18/√9.6 = −5.8: no redraw in a thousand comes near
    assert b.p_holm == pytest.approx(3 * b.p_value)
    assert b.p_list == pytest.approx(3 * b.p_value)
    # the farthest from 0 first, as on the page: 24/60 − 0.8 = −40 points before 36/60 − 0.8 = −20
    far = by_group(_rates(a=36, b=48, c=24), "g")
    assert [g.name for g in far.clearest] == ["c", "a"]
    assert "do not fit the probabilities in “c” and “a” (" in far.text
    quiet = by_group(_rates(a=48, c=49), "g")
    assert quiet.text.startswith("2 groups looked at; intervals are Bonferroni-adjusted. No group shows miscalibration")
    assert quiet.p_value > 0.05


def test_small_groups_are_listed_and_not_judged():
    model = _model([0.8] * 70, [1] * 48 + [0] * 22, ["big"] * 60 + ["small"] * 10)
    found = by_group(model, "g")
    small = found.groups[1]
    assert (small.name, small.n, small.judged) == ("small", 10, False)
    assert (small.gap.low, small.p_value, small.p_holm, small.chance, small.visible_gap) == (None,) * 5
    assert small.gap.value == pytest.approx(-0.8)
    assert found.each_level == pytest.approx(0.95)  # one judged group is one look
    assert found.groups[0].p_holm == found.groups[0].p_value
    assert found.text.startswith("2 groups looked at, 1 of them with fewer than 50 rows and not judged. ")
    nothing = by_group(model, "g", minimum=61)
    assert nothing.p_value is None
    assert nothing.text == "2 groups looked at, 2 of them with fewer than 61 rows and not judged."


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["b", "", None, "a"], ("a", "b", "(missing)")),
        ([2.0, 10.0, math.nan, 1.5], ("1.5", "2", "10", "(missing)")),
        (np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"), ("2024-01-01", "(missing)")),
        ([True, False], ("False", "True")),
        (["10", "9", "a"], ("9", "10", "a")),
        ([1, 1.0, "1", " 1 "], ("1",)),
        ([None, None], ("(missing)",)),
    ],
)
def test_names_of_groups(values, names):
    array = np.array(values, dtype=object) if isinstance(values, list) else values
    found, code = levels_of(array)
    assert found == names
    assert len(code) == len(values)


def test_missing_is_a_group_of_its_own():
    model = _model([0.8] * 120, [1, 1, 1, 1, 0] * 24, ["a"] * 60 + [""] * 60)
    assert [(g.name, g.judged) for g in by_group(model, "g").groups] == [("a", True), ("(missing)", True)]


def test_refused():
    model = _rates(a=48)
    with pytest.raises(InputError, match=r"has no group column 'site'\. It has g\."):
        by_group(model, "site")
    with pytest.raises(InputError, match="It has none; name one with groups"):
        by_group(Predictions.from_top_label([0.8], [1]), "site")
    sites = Predictions.from_top_label([0.8], [1], groups={"Region": ["a"], "age": ["b"]})
    with pytest.raises(InputError, match=r"has no group column 'reigon'\. Is 'Region' meant\? It has Region and age\."):
        by_group(sites, "reigon")
    many = _model([0.8] * 51, [1] * 51, [f"s{i}" for i in range(MAX_GROUPS + 1)])
    with pytest.raises(InputError, match="Column 'g' has 51 different values; at most 50"):
        by_group(many, "g")
    with pytest.raises(InputError, match="no view 'positive'"):
        by_group(model, "g", view="positive")
    with pytest.raises(InputError, match="minimum"):
        by_group(model, "g", minimum=1)
    with pytest.raises(InputError, match="shared ties"):
        by_group(model, "g", partition=Partition.equal_mass(model.profile(), 3, ties="share"))
    with pytest.raises(InputError, match="lists or records"):
        by_group(_model([0.8], [1], np.array([[1], None], dtype=object)[:1]), "g")


def test_views_of_a_binary_model():
    p = np.tile([0.2, 0.4, 0.9], 40)
    y = np.tile([0, 1, 1, 0, 0, 1], 20)
    model = Predictions.from_arrays(y, p, groups={"g": ["a"] * 120})
    positive = by_group(model, "g", view="positive").groups[0]
    assert positive.accuracy == 0.5
    assert positive.mean_confidence == pytest.approx(0.5)
    top = by_group(model, "g").groups[0]
    assert top.mean_confidence == pytest.approx(float(Fraction(8 + 6 + 9, 30)))
    assert top.p_value == positive.p_value  # both views are tested at once
    alone = by_group(model, "g", view="class:0").groups[0]
    assert alone.shown_in == "class:0"


def test_plain_data():
    found = by_group(_model([1.0] * 60 + [0.5], [1] * 61, ["a"] * 60 + ["b"]), "g").to_dict()
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text) == found
    assert found["groups"][1]["gap"] == {"value": 0.5, "low": None, "high": None}


@pytest.mark.parametrize("correct", [0, 1])
@pytest.mark.parametrize("confidence", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_groups(correct, confidence, dtype):
    model = _model(np.full(60, confidence, dtype), [correct] * 60, ["a"] * 60)
    group = by_group(model, "g").groups[0]
    assert group.gap.low <= group.gap.value <= group.gap.high
    assert group.gap.value == correct - confidence
    json.dumps(group.to_dict(), allow_nan=False)


def test_certain_and_wrong_both_ways():
    # half the rows at 1, half at 0, every second one wrong: a spread that no rate explains, so the t interval is used
    model = _model([0.0, 0.0, 1.0, 1.0] * 30, [0, 1, 0, 1] * 30, ["a"] * 120)
    gap = by_group(model, "g").groups[0].gap
    assert gap.value == 0
    assert gap.low < 0 < gap.high
    assert gap.low == pytest.approx(-gap.high)


def test_a_group_knows_its_weights():
    rows = {"confidence": [0.8] * 120, "correct": ([1] * 48 + [0] * 12) * 2, "groups": ["a"] * 60 + ["b"] * 60}
    assert [g.weighted for g in by_group(_model(**rows), "g").groups] == [False, False]
    # of one weight in each group, so that as many rows are effective as there are
    assert [g.weighted for g in by_group(_model(**rows, sample_weight=[1] * 60 + [2] * 60), "g").groups] == [True, True]
    # rows that go together are fewer effective ones, and have no weights
    assert [g.weighted for g in by_group(_model(**rows, cluster=np.repeat(np.arange(60), 2)), "g").groups] == [False, False]


def test_many_numbers_are_cut_at_their_quartiles():
    # ages 18…91, four rows each, of which the younger half is right in 4 of 4 and the older in 2 of 4
    age = np.repeat(np.arange(18, 92), 4)
    right = [1] * 148 + [1, 1, 0, 0] * 37
    found = by_group(_model([0.75] * 296, right, age), "g")
    assert found.cut
    # a quarter of 296 rows is 74 = 18 ages and two rows of the next, which is not parted: 19, 18, 19 and 18 ages
    assert [(g.name, g.n) for g in found.groups] == [("18–36", 76), ("37–54", 72), ("55–73", 76), ("74–91", 72)]
    assert [g.gap.value for g in found.groups] == [0.25, 0.25, -0.25, -0.25]
    assert found.text.startswith("“g” is cut at its quartiles: 4 groups looked at; ")
    assert each_group(_model([0.75] * 296, right, age), "g", lambda rows: rows.n) == {g.name: g.n for g in found.groups}
    assert not by_group(_model([0.75] * 296, right, age % 50), "g").cut


def test_each_group_takes_any_statistic():
    model = _rates(a=48, b=30)
    assert each_group(model, "g", lambda rows: rows.profile().accuracy) == {"a": 0.8, "b": 0.5}
    assert each_group(model, "g", lambda rows: rows.n, minimum=61) == {"a": None, "b": None}


def test_clusters_widen_the_interval():
    # each row five times: as clusters it is 60 outcomes, not 300
    correct = np.random.default_rng(3).uniform(size=60) < 0.5
    once = by_group(_model([0.5] * 60, correct, ["a"] * 60, cluster=np.arange(60)), "g").groups[0]
    repeated = _model([0.5] * 300, np.repeat(correct, 5), ["a"] * 300, cluster=np.repeat(np.arange(60), 5))
    five = by_group(repeated, "g").groups[0]
    # by hand: the t interval of 60 rows
    r = correct - 0.5
    half = special.stdtrit(59, 0.975) * r.std(ddof=1) / math.sqrt(60)
    assert (five.gap.low, five.gap.high) == (pytest.approx(r.mean() - half), pytest.approx(r.mean() + half))
    assert five.visible_gap == pytest.approx(once.visible_gap)
    rare = _model([0.9] * 300, [1] * 300, ["a"] * 300, cluster=np.repeat(np.arange(60), 5))
    assert by_group(rare, "g").groups[0].gap.low == pytest.approx(0.025 ** (1 / 60) - 0.9)  # exact, with 60 outcomes
    one = by_group(_model([0.5] * 60, correct, ["a"] * 60, cluster=["x"] * 60), "g").groups[0]
    assert (one.n, one.judged) == (60, False)  # a single outcome


def test_visible_gap_by_hand():
    # n = 400 at 0.5: g = z_a·√(v/n) + z_b·√((v − g²)/n), v = ¼; solved here by iteration
    model = Predictions.from_top_label([0.5] * 400, [1, 0] * 200)
    a, b = special.ndtri(0.975), special.ndtri(0.8)
    g = 0.0
    for _ in range(50):
        g = a * math.sqrt(0.25 / 400) + b * math.sqrt((0.25 - g * g) / 400)
    assert visible_gap(model, "top_label", 0.95) == pytest.approx(g)
    # 100 rows that claim certainty: one error is enough, and comes with probability 0.8 where (1 − g)^100 = 0.2
    certain = Predictions.from_top_label([1.0] * 100, [1] * 100)
    assert visible_gap(certain, "top_label", 0.95) == pytest.approx(1 - 0.2 ** (1 / 100))
    # 3 rows at ½: even three errors have probability 1/8 > 0.025
    assert visible_gap(Predictions.from_top_label([0.5] * 3, [1] * 3), "top_label", 0.95) is None
    assert visible_gap(Predictions.from_top_label([0.5], [1]), "top_label", 0.95) is None


def _same(first, second):
    for a, b in zip(first.groups, second.groups, strict=True):
        assert (a.name, a.n, a.judged) == (b.name, b.n, b.judged)
        assert a.gap.value == pytest.approx(b.gap.value, abs=1e-12)
        assert (a.gap.low is None) == (b.gap.low is None)
        if a.gap.low is not None:
            assert a.gap.low == pytest.approx(b.gap.low, abs=1e-9)
            assert a.gap.high == pytest.approx(b.gap.high, abs=1e-9)
            assert a.visible_gap == pytest.approx(b.visible_gap, abs=1e-9)
        assert a.ece == pytest.approx(b.ece, abs=1e-12)


_ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0]), st.booleans(), st.sampled_from("abc"), st.integers(1, 3)),
    min_size=1,
    max_size=30,
)


@settings(max_examples=25, deadline=None)
@given(_ROWS, st.randoms(use_true_random=False))
def test_order_and_scale_of_weights_do_not_matter(rows, random):
    p, y, g, w = (list(x) for x in zip(*rows, strict=True))
    first = by_group(_model(p, y, g, sample_weight=w), "g", minimum=3)
    order = list(range(len(p)))
    random.shuffle(order)
    shuffled = _model(*([x[i] for i in order] for x in (p, y, g)), sample_weight=[w[i] for i in order])
    _same(first, by_group(shuffled, "g", minimum=3))
    for scale in (1e15, 1e-15):
        _same(first, by_group(_model(p, y, g, sample_weight=np.array(w) * scale), "g", minimum=3))


@settings(max_examples=20, deadline=None)
@given(_ROWS)
def test_a_weight_is_as_many_rows_for_the_point_estimates(rows):
    p, y, g, w = zip(*rows, strict=True)
    weighted = by_group(_model(p, y, g, sample_weight=w), "g", minimum=10**6)
    repeated = by_group(_model(*(np.repeat(np.array(x), w) for x in (p, y, g))), "g", minimum=10**6)
    for a, b in zip(weighted.groups, repeated.groups, strict=True):
        assert (a.name, a.accuracy, a.gap.value, a.ece) == (
            b.name,
            *(pytest.approx(x, abs=1e-12) for x in (b.accuracy, b.gap.value, b.ece)),
        )


def test_complement_of_a_binary_model():
    rng = np.random.default_rng(5)
    p = rng.uniform(size=200).round(2)
    y = rng.uniform(size=200) < p
    g = np.repeat(["a", "b"], 100)
    yes = by_group(Predictions.from_arrays(y, p, groups={"g": g}), "g", view="class:True")
    no = by_group(Predictions.from_arrays(y, p, groups={"g": g}), "g", view="class:False")
    for a, b in zip(yes.groups, no.groups, strict=True):
        assert a.gap.value == pytest.approx(-b.gap.value, abs=1e-12)
        assert a.gap.low == pytest.approx(-b.gap.high, abs=1e-9)
        assert a.visible_gap == pytest.approx(b.visible_gap, abs=1e-9)


def _calibrated(rng, kind, n):
    return rng.choice([0.6, 0.7, 0.8, 0.9], n) if kind == "moderate" else rng.choice([0.95, 0.98, 0.99], n)


@pytest.mark.parametrize("kind", ["moderate", "confident"])
def test_family_wise_error_of_twelve_calibrated_groups(kind):
    """At most 5 % of families show anything: of 30, at most 6 (P(Bin(30, .05) > 6) < .001)."""
    rng = np.random.default_rng(11)
    names = np.repeat([f"g{i}" for i in range(12)], 60)
    shown = 0
    for _ in range(30):
        p = _calibrated(rng, kind, 720)
        found = by_group(_model(p, rng.uniform(size=720) < p, names), "g")
        shown += found.p_value <= 0.05
    assert shown <= 6


@pytest.mark.parametrize(("kind", "fault"), [("moderate", 0.0), ("confident", 0.04)])
def test_twelve_intervals_hold_at_once(kind, fault):
    """All 12 intervals hold in at least 95 % of families: of 100, at least 88 (P(Bin(100, .95) < 88) < .002)."""
    rng = np.random.default_rng(12)
    held = 0
    for _ in range(100):
        p = _calibrated(rng, kind, 12 * 60).reshape(12, 60)
        correct = rng.uniform(size=p.shape) < p - fault
        gaps = [gap_of(Predictions.from_top_label(*rows), "top_label", 1 - 0.05 / 12) for rows in zip(p, correct, strict=True)]
        held += all(g.low <= -fault <= g.high for g in gaps)
    assert held >= 88


@pytest.mark.parametrize(("kind", "n", "level"), [("moderate", 60, 1 - 0.05 / 12), ("moderate", 1000, 0.95), ("confident", 300, 0.99)])
def test_the_smallest_visible_gap_is_seen_in_four_of_five(kind, n, level):
    """Between 74 % and 87 % of 600: simulation ±3·1.6 points, and whole numbers of errors make the exact figure jump."""
    rng = np.random.default_rng(13)
    p = _calibrated(rng, kind, n)
    g = visible_gap(Predictions.from_top_label(p, [True] * n), "top_label", level)
    seen = sum(gap_of(Predictions.from_top_label(p, rng.uniform(size=n) < p - g), "top_label", level).high < 0 for _ in range(600))
    assert 0.74 <= seen / 600 <= 0.87
