"""Delimited text: encodings, separators, headers and rows of the wrong width."""

import pytest

from calibcore.errors import InputError
from calibcore.io.text import read_delimited


def cells(data, **options):
    table = read_delimited(data, "t", **options)
    return {name: column.array.to_pylist() for name, column in table.columns.items()}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
def test_separators(separator):
    data = "label,p\n1,0.5\n0,0.25\n".replace(",", separator).encode()
    assert cells(data) == {"label": ["1", "0"], "p": ["0.5", "0.25"]}


def test_semicolon_beats_the_decimal_comma():
    assert cells(b"id;p;q\n1;0,5;0,5\n2;0,25;0,75\n")["p"] == ["0,5", "0,25"]


def test_runs_of_blanks_are_one_separator():
    assert cells(b"grade  confidence \nWrong    0.5\nCorrect 0.75\n") == {"grade": ["Wrong", "Correct"], "confidence": ["0.5", "0.75"]}


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("é,p\n1,0.5\n".encode(), "UTF-8"),
        ("é,p\n1,0.5\n".encode("utf-8-sig"), "UTF-8 with byte order mark"),
        ("é,p\n1,0.5\n".encode("utf-16"), "UTF-16 with byte order mark"),
        (b"\xfe\xff" + "é,p\n1,0.5\n".encode("utf-16-be"), "UTF-16 with byte order mark"),
        ("é,p\n1,0.5\n".encode("cp1252"), "Windows-1252"),
    ],
)
def test_encodings(data, encoding):
    table = read_delimited(data, "t")
    assert list(table.columns) == ["é", "p"]
    assert table.encoding == encoding
    assert any("Windows-1252" in n for n in table.notes) == (encoding == "Windows-1252")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end):
    assert cells(f"a,p{end}1,0.5{end}{end}0,0.25{end}".encode()) == {"a": ["1", "0"], "p": ["0.5", "0.25"]}


def test_quotes_hold_separators_line_breaks_and_quotes():
    data = b'"a, b","p"\n"x ""y""\nz",0.5\n"u",0.25\n'
    assert cells(data) == {"a, b": ['x "y"\nz', "u"], "p": ["0.5", "0.25"]}


def test_words_for_missing_stay_text():
    assert cells(b"a,p\nNA,0.5\nNone,\n")["a"] == ["NA", "None"]


def test_extra_separator_on_every_row_is_dropped_with_a_note():
    table = read_delimited(b"a,p\n1,0.5,\n0,0.25,\n", "t")
    assert list(table.columns) == ["a", "p"]
    assert "extra separator" in table.notes[0]


def test_extra_separator_on_the_first_row_only_shifts_nothing():
    assert cells(b"a,p\n1,0.5,\n0,0.25\n") == {"a": ["1", "0"], "p": ["0.5", "0.25"]}


def test_extra_separator_in_the_header_too_leaves_no_column():
    assert list(cells(b"a,p,\n1,0.5,\n0,0.25,\n")) == ["a", "p"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"a,p\n1,0.5\n1,0.5,9\n1,0.5\n", "Row 2 has 3 cells, but the header has 2"),
        (b"a,p,q\n1,0.5,2\n1,0.5\n1,0.5,2\n", "Row 2 has 2 cells, but the header has 3"),
        (b"a,p\n1,0.5,9\n1,0.5,9\n1,0.5,9\n1,0.5,9\n", "Rows 1 to 4 have 3 cells, but the header has 2"),
        (b"p,p\n1,2\n", r"Two columns are called p \(columns 1 and 2\)"),
        (b"a,p\n", "has a header but no data rows"),
        (b" \n \n", "The file is empty"),
        (b"cat\ndog\nfox\n", r"has only one column \('cat'\)"),
        (b"Dear Sir,\n\nI write to you, as agreed.\nYours\n", "This is plain text, not a table"),
        (b"# Title\n\nSome words about it.\n", "This is plain text, not a table"),
        (bytes(range(256)) * 8, "it holds binary data"),
        (b"a,,,p\n1,2,3,0.5\n", "Columns without a name hold values"),
    ],
)
def test_refusals(data, sentence):
    with pytest.raises(InputError, match=sentence):
        read_delimited(data, "t")


def test_header_of_class_numbers_is_a_header():
    assert list(cells(b"0,1,label\n0.25,0.75,1\n")) == ["0", "1", "label"]


def test_beginning_of_a_text_leaves_the_unfinished_line_away():
    data = "é,p\n1,0.5\n0,0.25\n1,0.7é".encode()[:-1]  # cut within a letter
    table = read_delimited(data, "t", complete=False)
    assert (table.n_rows, table.rows_in_file, table.encoding) == (2, None, "UTF-8")
