"""Sentences made from results: they hold the results' numbers and never say what must not be said."""

import dataclasses
import re

import numpy as np
import pytest

import calibcore as cc
from calibcore.report import words
from calibcore.report.exports import bins_csv, file_name, rows_csv
from calibcore.report.rows import PAGE, rows_in

FORBIDDEN = ("well calibrated", "perfect", "safe", "better ECE", "significant")


def predictions(p, k, n=1000, name="m"):
    """``n`` rows of P(1) = p of which a share of k happened, and as many mirrored."""
    label = np.r_[np.arange(n) < round(k * n), np.arange(n) >= round(k * n)].astype(int)
    return cc.Predictions.from_arrays(label, np.r_[np.full(n, p), np.full(n, 1 - p)], name=name, ids=np.arange(2 * n))


SAMPLES = {
    "calibrated": predictions(0.8, 0.8),
    "over": predictions(0.9, 0.75),
    "under": predictions(0.7, 0.9),
    "certain": predictions(0.99, 0.8),
    "even": predictions(0.55, 0.55),
    "few": predictions(0.8, 0.5, n=20),
}


@pytest.fixture(params=list(SAMPLES))
def analysis(request):
    return cc.analyze(SAMPLES[request.param])


def everything(a):
    lines = [
        words.headline(a),
        words.remedy_line(a),
        words.worst_range(a),
        words.other_view(a),
        words.sweep_sentence(a),
        words.view_note(a),
    ]
    lines += [*words.shown_lines(a), *words.evidence_lines(a)]
    lines += [t for c in words.caveats(a) for t in (c.line, c.why)]
    return [line for line in lines if line]


def test_nothing_forbidden_is_said(analysis):
    for line in everything(analysis):
        assert not any(word in line for word in FORBIDDEN), line
        assert "nan" not in line.lower().replace("significance", "")


def test_headline_names_the_model(analysis):
    assert words.headline(analysis).startswith("m")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("calibrated", "m shows no miscalibration in these rows"),
        ("certain", "m is mostly very sure, and too often wrong"),
        ("even", "m hardly commits itself"),
        ("few", "m: too few rows to judge"),
    ],
)
def test_headlines(name, text):
    assert words.headline(cc.analyze(SAMPLES[name])) == text


def test_key_numbers_are_those_of_the_analysis(analysis):
    shown = {n.label: n.value for n in words.key_numbers(analysis)}
    digits = 2 if analysis.n < 100 else 4
    assert shown["ECE"] == f"{analysis.ece:.{digits}f}"
    assert shown["MCE"] == f"{analysis.bins.mce:.{digits}f}"
    gap = f"{100 * analysis.gap.value:+.1f}".replace("-", "−")
    assert shown["Gap"].removesuffix(" points") == ("0.0" if gap in ("+0.0", "−0.0") else gap)


def test_worst_range_in_frequencies():
    # 1,000 rows at 0.9 of which 750 were right, and 1,000 mirrored of which 750 were right: 1,500 of 2,000, 1,800 expected.
    assert words.worst_range(cc.analyze(SAMPLES["over"], cc.Settings(n_bins=10))) == (
        "Of 2,000 predictions made at 80–90% confidence, 1,500 were right; about 1,800 would be expected."
    )
    assert words.worst_range(cc.analyze(SAMPLES["calibrated"])) is None


def test_the_positive_view_says_how_it_is_read():
    a = cc.analyze(SAMPLES["over"], cc.Settings(view="positive"))
    assert words.view_note(a) == "A point above the line: it happened more often than said. The pattern is judged in the Confidence view."
    assert words.other_view(a).startswith("Confidence view: ECE 0.1500")


def test_a_shift_is_said_to_be_judged_in_the_positive_view():
    # every probability 10 points too low
    p = np.repeat(np.arange(0.15, 0.9, 0.08).round(2), 300)
    y = np.concatenate([np.arange(300) < round((v + 0.1) * 300) for v in np.unique(p)]).astype(int)
    model = cc.Predictions.from_arrays(y, p)
    for view in ("positive", "class:0"):
        a = cc.analyze(model, cc.Settings(view=view))
        assert a.pattern.name == "shifted"
        assert words.view_note(a).endswith("The pattern is judged in the Positive-class view.")
    assert words.view_note(cc.analyze(SAMPLES["over"], cc.Settings(view="positive"))).endswith("judged in the Confidence view.")


def test_equal_mass_edges_are_said_to_come_from_the_data():
    a = cc.analyze(SAMPLES["over"], cc.Settings(strategy="equal_mass"))
    assert any("The edges come from this data." in c.line for c in words.caveats(a))


def test_bin_option():
    a = cc.analyze(SAMPLES["over"], cc.Settings(n_bins=10))
    assert words.bin_option(a, 8) == "80–90%: 2,000 rows, says 90%, right 75%"


def test_each_strategy_has_its_own_range_and_only_the_shown_one_is_judged():
    said = words.sweep_sentence(cc.analyze(SAMPLES["over"]))
    # both scores have a confidence of 0.9, right in 0.75: 0.15 however the bins are cut
    assert said.startswith(
        "Between 5 and 50 bins ECE runs at 0.1500 throughout with equal-width bins and at 0.1500 throughout with equal-mass"
    )
    assert "The equal-width ECE is beyond chance for every number of bins from 5 to 50." in said
    mass = words.sweep_sentence(cc.analyze(SAMPLES["calibrated"], cc.Settings(strategy="equal_mass")))
    assert "In the 15 equal-mass bins shown" in mass
    assert "The equal-mass ECE is within chance for every number of bins from 5 to 50." in mass


@pytest.mark.parametrize(
    "text", ["**b**", "![x](http://y)", ":red[c]", "$x$", "<b>", "a_b_c", "`c`", "[l](u)", "# h", "1. x", "~~s~~", "| a |"]
)
def test_no_sign_of_markdown_is_left_bare(text):
    made = words.markdown_free(text)
    assert re.sub(r"\\(.)", r"\1", made).replace("\u2060", "") == text
    assert not re.search(r"(?<!\\)[*_`\[\]<>#|~$:!]", made)


def test_addresses_are_not_made_links():
    assert "://" not in words.markdown_free("http://a.b").replace("\\", "")
    assert "www." not in words.markdown_free("www.a.b").replace("\\", "")


def test_rows_of_a_bin_errors_first_and_most_confident_first():
    p = cc.Predictions.from_arrays([1, 0, 1, 0, 1], [0.91, 0.95, 0.99, 0.92, 0.4], ids=list("abcde"))
    found = rows_in(p, cc.Settings(n_bins=10), 0.9, 1.0)
    table = found.page(1)
    assert [r[table.header.index("Id")] for r in table.rows] == ["b", "d", "c", "a"]
    assert (found.n, found.errors, found.pages) == (4, 2, 1)


def test_rows_are_those_that_the_bin_counts():
    rng = np.random.default_rng(1)
    p = cc.Predictions.from_arrays(rng.integers(0, 2, 700), rng.uniform(size=700).astype(np.float32))
    for settings in (
        cc.Settings(),
        cc.Settings(closed="left"),
        cc.Settings(strategy="equal_mass"),
        cc.Settings(view="positive", edges=(0, 0.3, 1)),
    ):
        b = cc.analyze(p, settings).bins
        for i in np.flatnonzero(b.filled):
            assert rows_in(p, settings, *b.edges[i : i + 2].tolist()).n == b.count[i]


def test_pages_of_rows():
    p = predictions(0.9, 0.75)
    found = rows_in(p, cc.Settings(n_bins=10), 8 / 10, 9 / 10)
    pages = [found.page(k) for k in range(1, found.pages + 1)]
    assert [len(t.rows) for t in pages] == [PAGE] * 20
    assert len({r[0] for t in pages for r in t.rows}) == 2000


def test_a_range_that_is_no_bin():
    with pytest.raises(cc.InputError, match="Bins changed; pick a bin again"):
        rows_in(predictions(0.9, 0.75), cc.Settings(n_bins=10), 0.85, 0.9)


def test_shared_ties_have_no_rows():
    with pytest.raises(cc.InputError, match="have no rows of their own"):
        rows_in(predictions(0.9, 0.75), cc.Settings(strategy="equal_mass", ties="share"), 0, 1)


def test_cells_that_a_spreadsheet_would_run_are_text():
    p = cc.Predictions.from_arrays([1, 0], [0.9, 0.2], ids=["=cmd()", "-1"], groups={"@g": ["+x", "y"]}, name="=m")
    lines = rows_csv(rows_in(p, cc.Settings(n_bins=2), 0.5, 1.0)).splitlines()
    assert lines[0].endswith("'@g")
    assert any("'=cmd()" in line and "'+x" in line for line in lines)
    assert any(line.split(",")[1] == "-1" for line in lines)  # a number stays a number
    assert bins_csv([cc.analyze(p)]).splitlines()[1].startswith("'=m,")


def test_bins_csv_has_full_precision():
    a = cc.analyze(predictions(1 / 3, 0.3), cc.Settings(n_bins=3))
    lines = [line.split(",") for line in bins_csv([a, dataclasses.replace(a, name="n")]).splitlines()]
    assert len(lines) == 1 + 2 * 3
    header = lines[0]
    for k, line in enumerate(lines[1:4]):
        assert float(line[header.index("lower")]) == k / 3
        if a.bins.filled[k]:
            assert float(line[header.index("confidence")]) == a.bins.confidence[k]


def test_file_names_are_harmless():
    assert file_name("a/b <c>", "bins", ending=".csv") == "a_b__c_-bins.csv"


def test_no_test_is_told_where_there_are_too_few_rows_for_a_verdict():
    few = cc.analyze(SAMPLES["few"])
    for lines in (words.shown_lines(few), words.evidence_lines(few)):
        assert "A verdict needs 100 rows, so no test of these 40 rows is told." in lines
        assert not any("detected" in line or "p =" in line or "p ≤" in line for line in lines)
