"""Messages in words of the page: no option of the command line is left, and the control that takes its place is one of the dialog's."""

import re
from pathlib import Path

import pytest

import calibcore as cc
from calibcore.errors import without_options
from calibcore.io.effects import try_bytes
from dashboard.page_words import CONTROLS, on_page

SAID = {
    "say so with scale='unnormalised' (--scale unnormalised), and": "say so with “They are written as”, and",
    "missing='drop' (--missing drop), or mend": "“Leave out rows with missing values”, or mend",
    "so there is one model (--columns-are models).": "so there is one model (“Several columns are”).",
    "Are they log-probabilities (--scale log-prob), whose": "Are they log-probabilities (“They are written as”), whose",
    "Name one of them (--prob, --confidence).": "Name one of them (“Probability”, “Confidence in the predicted class”).",
    "(--prob A,B,C --columns-are classes --classes A,B,C).": ("(“Probability” “Several columns are” “Class names in their order”)."),
    "Give the file as well (labels=…, --labels-file 'my file (2).csv'), or add": "Give the file as well, or add",
    "Row 3 of 'a--label' is high-level, not a number (--unknown x).": "Row 3 of 'a--label' is high-level, not a number (--unknown x).",
}


@pytest.mark.parametrize("text", SAID)
def test_options_become_controls(text):
    assert on_page(text) == SAID[text]


def test_every_field_of_a_mapping_has_a_control():
    assert set(CONTROLS) == set(cc.Mapping.__dataclass_fields__)


def test_every_control_is_called_as_in_the_dialog():
    source = "".join((Path(__file__).parents[2] / "dashboard" / f"{n}.py").read_text() for n in ("columns", "draft"))
    assert not [w for w in CONTROLS.values() if f'"{w}' not in source and w != "Groups"]
    assert '"Groups"' in source


def test_no_message_of_the_package_keeps_an_option_on_the_page():
    """Every text of a module that reads files, as written in its source."""
    for path in sorted((Path(cc.__file__).parent / "io").glob("*.py")):
        for text in re.findall(r"\"([^\"\n]*--[a-z][^\"\n]*)\"", path.read_text()):
            if not text.startswith("--"):
                assert not re.search(r"(?<![\w-])--[a-z]", on_page(text)), (path.name, text)


def test_a_question_is_asked_without_brackets_about_options():
    assert without_options("Which (of 2)? a and b could be it (both: --columns-are models).") == "Which (of 2)? a and b could be it."
    assert without_options("Above which limit, such as 0 (--outcome 'rain (mm) > 0')?") == "Above which limit, such as 0?"


def test_a_file_of_labels_alone_says_what_is_missing():
    data = b"customer_id,outcome\n" + b"".join(b"C%d,%s\n" % (i, (b"stayed", b"churned")[i % 3 == 0]) for i in range(40))
    said = try_bytes(data, "labels_only.csv").problem
    assert "(labels=…, --labels-file labels_only.csv)" in said
    assert on_page(said) == (
        "labels_only.csv: The file holds what happened ('outcome') and no probabilities. Add the file of scores, with this one as its "
        "labels; their rows are joined by 'customer_id'."
    )
