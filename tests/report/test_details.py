"""The tables beyond the main one: their figures are those of the analysis, and every request prints."""

import numpy as np
import pytest

import calibcore as cc
from calibcore.report.details import detail_table, label_blocks, requested_blocks
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
    assert found["Skill beyond the base rate: Brier, log loss"] == "32.3%, 29.0%"
    assert found["Observed ÷ expected (95%)"].startswith("1.200 (")
    assert found["Spiegelhalter's Z"] == "0.08 (p = 0.93)"
    assert found["ECE in the most bins that still rise"] == "0.1400 (5 bins)"
    assert found["Squared calibration error without bias (95%)"].startswith("−0.042250 (0.000000, ")
    assert found["its root, √max(U, 0)"] == "0.0000"


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
    assert "found | 15" in text  # 10·1 + 1·5


def test_labels_print_side_by_side():
    rain = cc.Predictions.from_arrays([1] * 30 + [0] * 30, [0.5] * 60, name="rain")
    snow = cc.Predictions.from_arrays([1] * 30 + [0] * 30, [0.1] * 60, name="snow")
    text = text_of(label_blocks(cc.multilabel([rain, snow])))
    assert "rain | 60 | 50.0% | 0.0 (" in text
    assert "snow | 60 | 50.0% | 40.0 (" in text
    assert "2 labels looked at" in text
