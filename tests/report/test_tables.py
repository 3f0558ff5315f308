"""Numbers as text, and results as tables."""

import csv
import io

import pytest

import calibcore as cc
from calibcore.inference.chance import ChanceRange
from calibcore.inference.intervals import Estimate
from calibcore.report.tables import (
    BY_CHANCE,
    NONE,
    Table,
    chance_sentence,
    chance_text,
    count_text,
    difference_table,
    gap_text,
    interval_text,
    mce_text,
    model_table,
    plain,
    record_table,
    score_text,
    settings_text,
    share_text,
    to_csv,
    to_markdown,
    transposed,
)

# Ten rows at 0.9, seven of them 1; ten at 0.2, three of them 1.
Y = [1] * 7 + [0] * 3 + [1] * 3 + [0] * 7
P = [0.9] * 10 + [0.2] * 10


def predictions(name="m", y=Y, p=P, **more):
    return cc.Predictions.from_arrays(y, p, name=name, **more)


@pytest.mark.parametrize(("n", "text"), [(0, "0"), (4000, "4,000"), (1234567, "1,234,567"), (2.0, "2"), (2.5, "2.5")])
def test_counts(n, text):
    assert count_text(n) == text


@pytest.mark.parametrize(("x", "text"), [(0.02442, "0.0244"), (0.0, "0.0000"), (1.0, "1.0000"), (-1e-9, "0.0000"), (None, NONE)])
def test_scores(x, text):
    assert score_text(x) == text


@pytest.mark.parametrize(("x", "text"), [(0.05, "+0.0500"), (-0.05, "−0.0500"), (0.0, "0.0000"), (-1e-7, "0.0000")])
def test_signed_scores(x, text):
    assert score_text(x, signed=True) == text


@pytest.mark.parametrize(
    ("x", "text"), [(0.5, "50.0%"), (0.8634, "86.3%"), (0.0, "0.0%"), (1.0, "100.0%"), (0.9997, "99.97%"), (0.0003, "0.03%"), (None, NONE)]
)
def test_shares_never_read_0_or_100_unless_they_are(x, text):
    assert share_text(x) == text


def test_intervals():
    assert gap_text(Estimate(-0.1101, -0.1221, -0.098)) == "−11.0 (−12.2 to −9.8)"
    assert gap_text(Estimate(0.02)) == "+2.0"
    assert gap_text(Estimate(-0.0001, -0.01, 0.01)) == "0.0 (−1.0 to +1.0)"
    assert interval_text(Estimate(0.05, -0.01, 0.11)) == "+0.0500 (−0.0100 to +0.1100)"
    assert interval_text(None) == NONE
    assert interval_text(Estimate(2.4e-4, 4e-6, 4.8e-4)) == "+0.0002 (+0.000004 to +0.0005)"  # an end that is not 0 does not read 0
    assert interval_text(Estimate(0.0, -1e-15, 1e-15)) == "0.0000 (0.0000 to 0.0000)"  # rounding is


def test_what_chance_alone_gives_is_a_median_and_a_95th_percentile():
    c = ChanceRange(0.0136, 0.0203, 0.4, 1000, 0.014, 0.014)
    assert chance_text(c) == "0.0136, up to 0.0203"
    assert chance_text(c, 25) == "0.01, up to 0.02"  # too few rows to judge a model: two decimals
    said = "A calibrated model with these {} typically shows 0.0136 here by chance, and more than 0.0203 in 1 of 20 samples."
    assert chance_sentence(c, "top_label") == said.format("confidences")
    assert chance_sentence(c, "positive") == chance_sentence(c, "class:a") == said.format("probabilities")


def test_settings():
    assert settings_text(cc.Settings()) == "15 equal-width bins (a, b]; confidence view (top-label); 95% intervals; seed 0."
    mass = cc.Settings(n_bins=7, strategy="equal_mass", ties="share", view="positive", level=0.9, seed=3)
    assert settings_text(mass) == "7 equal-mass bins (a, b], ties shared; positive view; 90% intervals; seed 3."
    custom = cc.Settings(edges=(0, 0.5, 1), closed="left", view="class:cat")
    assert settings_text(custom) == "2 custom bins (0, 0.5, 1) [a, b); class:cat view; 95% intervals; seed 0."


def test_models_in_the_confidence_view():
    # Confidences 0.9 and 0.8, either right in 7 of 10: gap 0.7 − 0.85; ECE (0.2 + 0.1)/2 in ten bins, as in equal mass,
    # where each of the two scores is a bin.  Brier: (7·0.01 + 3·0.81 + 3·0.64 + 7·0.04)/20 = 0.235.
    a = cc.analyze(predictions(), cc.Settings(n_bins=10))
    table = model_table([a])
    row = dict(zip(table.header, table.rows[0], strict=True))
    assert row["Model"] == "m"
    assert row["Rows"] == "20"
    assert (row["Accuracy"], row["Mean confidence"]) == ("70.0%", "85.0%")
    assert row["Gap, points (95%)"].startswith("−15.0 (−")
    assert (row["ECE (equal width)"], row["ECE (equal mass)"]) == ("0.15", "0.15")
    assert row[BY_CHANCE] == f"{a.chance.median:.2f}, up to {a.chance.p95:.2f}"
    assert row["MCE (bin, rows)"] == "0.20 (80–90%, only 10 rows)"
    assert row["Brier (scale)"] in ("0.23 (0 to 1)", "0.24 (0 to 1)")  # a tie
    assert row["Pattern"] == "too few rows"


def test_words_follow_the_view_and_the_bins():
    positive = model_table([cc.analyze(predictions(), cc.Settings(view="positive", strategy="equal_mass"))])
    assert {"Share of positives", "Mean probability", "ECE (equal mass)", "ECE (equal width)"} <= set(positive.header)
    assert positive.rows[0][2] == "50.0%"
    custom = model_table([cc.analyze(predictions(), cc.Settings(edges=(0, 0.5, 1)))])
    assert [h for h in custom.header if h.startswith("ECE (")] == ["ECE (custom bins)"]
    beyond = model_table([cc.analyze(predictions(), cc.Settings(n_bins=500))])  # the sweep ends at 100 bins
    assert beyond.rows[0][beyond.header.index("ECE (equal mass)")] == NONE


def test_mce_names_its_bin_and_rows():
    many = cc.analyze(predictions(y=Y * 5, p=P * 5), cc.Settings(n_bins=3, view="positive"))
    assert mce_text(many.bins) == "0.2000 (66.7–100%, 50 rows)"
    one = cc.analyze(predictions(y=[1, 0], p=[0.9, 0.1]), cc.Settings(n_bins=2, view="positive"))
    assert mce_text(one.bins) == "0.10 (0–50%, only 1 row)"


def test_differences_to_the_baseline():
    # The same rows by id; the second says 0.8 and 0.3: its gap is 0.7 − 0.75, 10 points more than the first's.
    other = predictions("other", p=[0.8] * 10 + [0.3] * 10, ids=range(20))
    found = cc.compare([predictions("base", ids=range(20)), other], cc.Settings(n_bins=10))
    table = difference_table(found)
    assert table.header[:2] == ("Model", "Minus base")
    (row,) = table.rows
    assert row[:2] == ("other", "20 rows, paired by id")
    assert row[4].startswith("+10.0 (")
    # ECE of the second: (0.8 − 0.7)·½ + (0.7 − 0.7)·½ = 0.05, of the first 0.15
    assert row[5] == "−0.1000"


def test_rows_paired_by_their_order_say_so_and_why():
    # 20 rows in turn 1 and 0 have 20 runs, where chance gives 11; sorted rows are not paired
    turns = [predictions(n, y=[1, 0] * 10, p=p) for n, p in (("base", P), ("other", [0.8] * 20))]
    assert difference_table(cc.compare(turns)).rows[0][1] == "20 rows, paired by row order (no shared ids, labels agree)"
    assert difference_table(cc.compare([predictions("base"), predictions("other")])).rows[0][1] == "not paired: different rows"


def test_unpaired_models_say_so():
    found = cc.compare([predictions("base"), predictions("other", y=[1, 0, 1], p=[0.9, 0.2, 0.6])])
    assert difference_table(found).rows[0][1] == "not paired: different rows"


def test_records_are_exact_and_survive_csv():
    base, other = predictions("base", ids=range(20)), predictions("other", p=[0.8] * 10 + [0.3] * 10, ids=range(20))
    found = cc.compare([base, other], cc.Settings(edges=(0, 0.5, 1)))
    table = record_table(found.analyses, found)
    first, second = csv.DictReader(io.StringIO(to_csv(table)))
    assert tuple(first) == table.header
    for row, a in zip((first, second), found.analyses, strict=True):
        assert (float(row["ece"]), float(row["log_loss"]), int(row["mce_bin"])) == (a.ece, a.log_loss, a.bins.mce_bin)
        assert (row["edges"], row["strategy"], row["baseline"]) == ("0.0 0.5 1.0", "custom", "base")
    assert first["paired"] == first["gap_difference"] == ""
    assert (second["paired"], float(second["gap_difference"])) == ("true", found.differences[0].gap.value)
    assert float(second["gap_difference_low"]) == found.differences[0].gap.low


def test_names_that_look_like_formulas_are_defused():
    for name in ("=1+1", "+a", "-a", "@a", "\ta"):
        table = record_table([cc.analyze(predictions(name))])
        assert table.rows[0][0] == f"'{name}"
    negative = record_table([cc.analyze(predictions())])
    assert negative.rows[0][negative.header.index("gap")].startswith("-")  # a number stays a number


def test_markdown_escapes_what_is_markup():
    text = to_markdown([Table(("a", "b|c"), (("<x>*", "_y_"),)), "", "line `z`"])
    assert text == "| a | b\\|c |\n| --- | --- |\n| \\<x\\>\\* | \\_y\\_ |\n\nline \\`z\\`\n"


def test_plain_is_one_line_without_commands():
    assert plain("a\nb\x1b[1m\u202e") == "a\\nb\\x1b[1m\\u202e"
    assert plain("naïve 模型 −2⁻⁵²") == "naïve 模型 −2⁻⁵²"


def test_transposed():
    assert transposed(Table(("Model", "n"), (("a", "1"), ("b", "2")))) == Table(("Model", "a", "b"), (("n", "1", "2"),))
