"""Clicks of the Columns dialog that come faster than the page: what was chosen stands, and nothing else is taken for a choice."""

from __future__ import annotations

import pytest
from made_files import csv_bytes

pytestmark = pytest.mark.browser


def test_a_click_right_after_an_answer_changes_no_answer(reader):
    rows = [("churned" if i % 20 >= 12 else "stayed", f"{(i % 20 + 0.5) / 20:.3f}", f"{(i % 8 + 1) / 16:.4f}") for i in range(400)]
    reader.upload_bytes("both.csv", csv_bytes([("outcome", "naive_bayes", "random_forest"), *rows]))
    dialog = reader.dialog
    with reader.rerun():
        dialog.get_by_text("naive_bayes and random_forest: one model each").click()
        dialog.get_by_role("button", name="Read the file", exact=True).click()  # before the page has answered
    dialog.get_by_text("One more question is open").wait_for()
    assert dialog.get_by_role("radio", name="naive_bayes and random_forest: one model each").is_checked()
    with reader.rerun():
        dialog.get_by_role("radio", name="churned").check(force=True)
    with reader.rerun():
        dialog.get_by_role("button", name="Read the file", exact=True).click()
    reader.shows("positive class = churned. 400 rows. 2 models.", within=reader.page.get_by_test_id("stSidebar"))
