"""Groups and classes in a browser: a click on a class."""

import re

import pytest

pytestmark = pytest.mark.browser
DOTS = ".scatterlayer .trace:last-child .points path"  # in front of the bars of what chance gives


@pytest.fixture
def rows(tmp_path):
    """Three classes: a is said with 60%, b with 30% and c with 10%, a third of the rows each; in the south a is never right."""
    path = tmp_path / "weather.csv"
    lines = [f"{'abc'[i % 3] if i < 150 else 'bc'[i % 2]},0.6,0.3,0.1,{'north' if i < 150 else 'south'}" for i in range(300)]
    path.write_text("\n".join(["label,prob_a,prob_b,prob_c,region", *lines]))
    return path


def test_a_click_on_a_class_shows_it_everywhere(new_reader, rows):
    reader = new_reader(phone=True)
    reader.upload(rows)
    reader.go("Groups and classes")
    chart = reader.chart("Classwise ECE of weather")
    reader.click_mark(chart, DOTS, 0)
    reader.shows(re.compile("Every page now shows [abc] against the rest"))
    assert reader.settings()["view"] == "One class"
    reader.click_mark(reader.chart("Classwise ECE of weather"), DOTS, 2)
    reader.shows(re.compile("Every page now shows [abc] against the rest"))
