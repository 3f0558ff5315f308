"""The tables beyond the main one: their figures are those of the analysis, and every request prints."""

import numpy as np
import pytest

import calibcore as cc
from calibcore.report.details import bin_blocks, detail_table, label_blocks, requested_blocks
from calibcore.report.tables import Table
from calibcore.settings import REQUESTS
from tests import reference as ref


def d(**options):
    return cc.Predictions.from_arrays(ref.D_Y, ref.floats(ref.D_P), **options)


def four_hundred():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    return cc.Predictions.from_arrays(y, p, groups={"site": np.repeat(["a\x1b[31m", "b"], 200)}, time=np.repeat([2023, 2024], 200))


def text_of(blocks):
    return "\n".join(b if isinstance(b, str) else "\n".join(" | ".join(r) for r in (b.header, *b.rows)) for b in blocks)


def test_details_of_d():
    # CORP: 13/80 = 1/16 − 7/50 + 6/25; skill 31/96 and 0.2898; O/E 6/5; Z = (1/20)/√(1461/4000); sweep 7/50 in 5 bins; U = −169/4000
    table = detail_table([cc.analyze(d(name="d"), cc.Settings(n_bins=5, view="positive"))])
    found = {row[0]: row[1] for row in table.rows}
    assert table.header == ("More measures", "d")
    assert found["Brier score of the view = MCB − DSC + UNC"] == "0.1625 = 0.0625 − 0.1400 + 0.2400"
    assert found["Skill: Brier, log loss"] == "32.3%, 29.0% over the base rate"
    assert found["Observed ÷ expected (95%)"].startswith("1.200 (")
    assert found["Spiegelhalter's Z"] == "0.08 (p = 0.93)"
    assert found["ECE in the most bins that still rise"] == "0.1400 (5 bins)"
    assert found["Squared calibration error without bias (95%)"].startswith("−0.042250 (0.000000, ")
    assert found["its root, √max(U, 0)"] == "0.0000"
    test = cc.detect(d())
    view = {"top_label": "confidence", "positive": "positive"}[test.view]
    assert found["Test of miscalibration, both views"] == f"p = {test.p_value:.2g}, most in the {view} view"


def test_the_logit_shift_is_the_intercept_with_slope_1():
    # 40 rows at ½, 30 of them 1: log 3 = 1.099, √(1/30 + 1/10) = 0.365; and no slope, since all logits are 0
    shown = detail_table([cc.analyze(cc.Predictions.from_arrays([1] * 30 + [0] * 10, [0.5] * 40), cc.Settings(view="positive"))])
    found = dict(shown.rows)
    assert found["Logit shift (calibration in the large), 0 is right (95%)"] == "1.099 (0.383, 1.814)"  # ± 1.95996·0.3651
    assert found["Logit slope, 1 is right (95%)"] == "–"


def test_skill_names_what_it_is_measured_against():
    three = cc.Predictions.from_arrays([0, 1, 2], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
    found = dict(detail_table([cc.analyze(three)]).rows)
    # Brier: (0.26 + 0.14 + 0.06)/3 of 2/3; log loss: −log(0.6·0.7·0.8)/3 of log 3
    assert found["Skill: Brier, log loss"] == "77.0%, 66.9% over the class shares"


def test_one_view_is_not_called_both():
    top = cc.analyze(cc.Predictions.from_top_label([0.9] * 10, [1] * 9 + [0]), cc.Settings(n_bins=5))
    found = dict(detail_table([top]).rows)
    assert found["Test of miscalibration"].endswith(", confidence view")


def test_bins_that_hold_rows():
    # ten rows at 0.9, seven of them right, and ten at 0.6, six of them right: the eight other bins are empty
    a = cc.analyze(cc.Predictions.from_top_label([0.9] * 10 + [0.6] * 10, [1] * 7 + [0] * 3 + [1] * 6 + [0] * 4), cc.Settings(n_bins=10))
    (table,) = bin_blocks(a)
    assert table.header == ("Confidence", "Rows", "Says", "Right", "Gap", "95% (Wilson)", "If calibrated")
    low, high = (tuple(f"{100 * x:.1f}" for x in ends[[5, 8]]) for ends in a.bins.interval(0.95))
    first, second = table.rows
    assert first[:5] == ("50–60%", "10", "60.0%", "60.0%", "0.0")
    assert second[:5] == ("80–90%", "10", "90.0%", "70.0%", "−20.0")
    assert (first[5], second[5]) == (f"{low[0]} to {high[0]}%", f"{low[1]} to {high[1]}%")
    assert second[6] == "70.0 to 100.0%"  # B(10, 0.9): P(X ≤ 6) = 0.0128, P(X ≤ 7) = 0.0702


def test_bins_of_the_positive_view_and_too_many_of_them():
    a = cc.analyze(four_hundred(), cc.Settings(view="positive", n_bins=4))
    (table,) = bin_blocks(a)
    assert table.header[:4] == ("Probability", "Rows", "Says", "Happened")
    assert sum(int(row[1]) for row in table.rows) == 400
    (text,) = bin_blocks(cc.analyze(four_hundred(), cc.Settings(n_bins=200)))
    assert "too many to print" in text


def test_details_of_one_row_are_dashes():
    rows = detail_table([cc.analyze(cc.Predictions.from_top_label([1.0], [1]))]).rows
    assert all(cell for row in rows for cell in row)


@pytest.mark.parametrize("name", REQUESTS)
def test_every_request_prints(name):
    blocks = requested_blocks(cc.analyze(four_hundred(), cc.Settings(on_request=name)))
    assert any(isinstance(b, Table) and b.rows for b in blocks)
    assert all(len(row) == len(b.header) for b in blocks if isinstance(b, Table) for row in b.rows)
    assert "\x1b" not in text_of(blocks)


def test_the_threshold_panel_prints():
    # five of the ten rows of D lie above ½: 23/20 errors expected, 1 found; a review of each other row costs 1, an error 10
    a = cc.analyze(d(), cc.Settings(view="positive", threshold=0.5, cost_error=10, cost_review=1))
    text = text_of(requested_blocks(a))
    assert "probability above 0.5 | 5 | 50.0% | false alarms | 1.15 | 1" in text
    assert "cost of acting at the threshold: 10 for each of the false alarms acted on, 1 for the review of each other row." in text
    assert "In all | 16.50 | 15" in text  # 10·1.15 + 1·5 and 10·1 + 1·5
    assert "Per row | 1.65 | 1.50" in text
    assert "where the chance of an error is below 10%, which is a probability above 0.9." in text  # 1/10
    assert "predicted class" not in text


def test_large_costs_are_written_out():
    # 1.15 errors expected and 1 found at 80,000 each, five reviews at 2,000: 102,000 and 90,000
    a = cc.analyze(d(), cc.Settings(view="positive", threshold=0.5, cost_error=80_000, cost_review=2_000))
    text = text_of(requested_blocks(a))
    assert "80,000 for each of the false alarms acted on, 2,000 for the review" in text
    assert "In all | 102,000 | 90,000" in text


def test_the_least_that_redraws_can_give_is_told_as_a_bound():
    # 900 claimed and 600 found: none of 1,000 redraws is as far, so the p-value is 1/1001 at most
    far = cc.analyze(cc.Predictions.from_top_label([0.9] * 1000, [1] * 600 + [0] * 400))
    assert dict(detail_table([far]).rows)["Test of miscalibration"].startswith("p ≤ 0.001, ")


@pytest.mark.parametrize(
    ("error", "review", "words"),
    [(0, 1, "errors cost nothing"), (1, 1, "an error costs no more than a review"), (1, 3, "an error costs no more than a review")],
)
def test_break_even_at_the_ends(error, review, words):
    a = cc.analyze(d(), cc.Settings(threshold=0.5, cost_error=error, cost_review=review))
    assert f"Break-even: {words}" in text_of(requested_blocks(a))


def test_a_threshold_in_the_confidence_view_is_of_the_predicted_class():
    text = text_of(requested_blocks(cc.analyze(d(), cc.Settings(threshold=0.5))))
    assert "probability of the predicted class, whichever it is; --view positive judges P(1)." in text
    weighted = requested_blocks(cc.analyze(d(sample_weight=[2.0] * 10), cc.Settings(threshold=0.5)))
    assert "Expected and found are sums of weights." in weighted
    top = cc.Predictions.from_top_label([0.9, 0.8], [1, 0])
    assert "predicted class" not in text_of(requested_blocks(cc.analyze(top, cc.Settings(threshold=0.5))))


def two_sites(**options):
    """60 rows at ½ of which 30 happened, and 60 at 0.1 of which 30 did."""
    y = ([1] * 30 + [0] * 30) * 2
    return cc.Predictions.from_arrays(y, [0.5] * 60 + [0.1] * 60, groups={"site": np.repeat(["a", "b"], 60)}, **options)


def test_groups_in_the_words_of_the_view():
    asked = {"on_request": ("groups",)}
    text = text_of(requested_blocks(cc.analyze(two_sites(), cc.Settings(view="positive", **asked))))
    header = "site | Rows | Share of positives | Mean probability | Gap, points | ECE | p (any group) | p (this group) | Smallest gap seen"
    assert header in text
    assert "b | 60 | 50.0% | 10.0% | +40.0 (+" in text
    assert "p (any group), by Holm" in text
    assert "p (this group), by Benjamini–Hochberg" in text
    group = cc.by_group(two_sites(), "site", view="positive").groups[1]
    row = next(line for line in text.splitlines() if line.startswith("b | "))
    assert row.endswith(f" | {100 * group.visible_gap:.1f}")
    text = text_of(requested_blocks(cc.analyze(two_sites(), cc.Settings(**asked))))
    assert "site | Rows | Accuracy | Mean confidence | Gap, points" in text
    assert "b | 60 | 50.0% | 90.0% | −40.0 (−" in text  # says "no" with 0.9, right in 30 of 60


def test_periods_in_the_words_of_the_view():
    model = two_sites(time=np.repeat([2023, 2024], 60))
    text = text_of(requested_blocks(cc.analyze(model, cc.Settings(view="positive", on_request=("periods",)))))
    assert "Period | Rows | Share of positives | Mean probability | Gap, points" in text
    assert "| 60 | 50.0% | 10.0% | +40.0 (+" in text


def test_changes_by_remedies_are_signed():
    blocks = requested_blocks(cc.analyze(four_hundred(), cc.Settings(on_request="remedies")))
    table = next(b for b in blocks if isinstance(b, Table))
    assert table.header[1:4] == ("Change of log loss", "Change of Brier", "Change of gap, points")
    numbers = [cell.split(" ")[0] for row in table.rows for cell in row[1:4]]
    assert all(n[0] in "+−–" or float(n) == 0 for n in numbers)


def test_labels_print_side_by_side():
    rain = cc.Predictions.from_arrays([1] * 30 + [0] * 30, [0.5] * 60, name="rain")
    snow = cc.Predictions.from_arrays([1] * 30 + [0] * 30, [0.1] * 60, name="snow")
    text = text_of(label_blocks(cc.multilabel([rain, snow])))
    assert "Label | Rows | Base rate | Mean probability | Gap, points | ECE | p (any label) | p (this label) | Smallest gap seen" in text
    assert "rain | 60 | 50.0% | 50.0% | 0.0 (" in text
    assert "snow | 60 | 50.0% | 10.0% | +40.0 (" in text
    assert "2 labels looked at" in text
