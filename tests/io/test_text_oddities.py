"""Texts as people and tools really write them: titles, comments, no header, marks of thousands, code pages, and kinds that are refused."""

import gzip
import pickle
import zlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import inspect_bytes, read_bytes
from calibcore.io.columns import Column
from calibcore.io.containers import open_tables

PLAIN = "label,p\n1,0.75\n0,0.25\n1,0.5\n"
CELLS = {"label": ["1", "0", "1"], "p": ["0.75", "0.25", "0.5"]}


def table(data):
    (found,) = open_tables(data.encode() if isinstance(data, str) else data, "f.txt")
    return found


def cells(data):
    return {n: c.array.to_pylist() for n, c in table(data).columns.items()}


SAME = {
    "title": "Scores of May\n" + PLAIN,
    "title and blank line": "Scores of May\n\n" + PLAIN,
    "title with separators": "Scores,\nof May,\n" + PLAIN,
    "title with more commas than columns": "Scores, of May, second run\n" + PLAIN,
    "comments": "# made by a tool\n# in May\n" + PLAIN,
    "comment with commas": "# a, b, c\n" + PLAIN,
    "numpy.savetxt with a header": "# label,p\n1,0.75\n0,0.25\n1,0.5\n",
    "header behind a sign": "#label,p\n1,0.75\n0,0.25\n1,0.5\n",
    "sep=": "sep=,\n" + PLAIN,
    "sep= in quotes, CRLF": '"sep=,"\r\n' + PLAIN.replace("\n", "\r\n"),
    "sep=;": "sep=;\r\n" + PLAIN.replace(",", ";"),
    "CR": PLAIN.replace("\n", "\r"),
    "mixed line ends": "label,p\r\n1,0.75\n0,0.25\r\n\r\n1,0.5",
    "blank lines": "\n\nlabel,p\n\n1,0.75\n\n0,0.25\n1,0.5\n\n",
    "separators at the end": PLAIN.replace("\n", ",\n"),
    "rows of separators": PLAIN + ",\n,\n",
    "single quotes": PLAIN.replace("label", "'label'").replace("p\n", "'p'\n"),
    "some cells quoted": '"label",p\n"1",0.75\n0,"0.25"\n"1","0.5"\n',
    "quotes after blanks": 'label, "p"\n1, "0.75"\n0, "0.25"\n1, "0.5"\n',
    "UTF-16 without a mark, little end first": PLAIN.encode("utf-16-le"),
    "UTF-16 without a mark, big end first": PLAIN.encode("utf-16-be"),
    "Markdown": "| label | p |\n|:---|---:|\n| 1 | 0.75 |\n| 0 | 0.25 |\n| 1 | 0.5 |\n",
}


@pytest.mark.parametrize("data", SAME.values(), ids=SAME)
def test_the_same_table_however_it_is_wrapped(data):
    assert {n: [c.strip() for c in v] for n, v in cells(data).items()} == CELLS
    assert inspect_bytes(data.encode() if isinstance(data, str) else data, "f").sentence == (
        "Read as: label = label, probability = p, positive class = 1."
    )
    assert not table(data).headless


@pytest.mark.parametrize("separator", [" ", ",", "\t"])
def test_row_names_of_r_without_a_name(separator):
    data = '"label" "p"\n"1" 1 0.75\n"2" 0 0.25\n"3" 1 0.5\n'.replace(" ", separator)
    assert cells(data) == {"": ["1", "2", "3"], **CELLS}


def test_what_stands_above_is_noted():
    assert table("Scores of May\n\n" + PLAIN).notes == ("1 line above the header left out: Scores of May.",)
    assert table("# a\n# b\n" + PLAIN).notes == ("2 comment lines above the table left out.",)
    assert table(PLAIN + ",\n,\n").notes == ("2 rows without any content left out.",)


# --- no header ------------------------------------------------------------------------------------------------------------

HEADLESS = {
    "label and probability": ("1,0.75\n0,0.25\n1,0.5\n", 2),
    "probabilities": ("0.25,0.75\n0.5,0.5\n0.75,0.25\n", 2),
    "numpy.savetxt": ("2.5e-01 7.5e-01\n5.0e-01 5.0e-01\n1.0e+00 0.0e+00\n", 2),
    "tabs": ("0.25\t0.5\t0.25\n0.5\t0.25\t0.25\n", 3),
    "names and numbers": ("cat,0.5,0.25,0.25\ndog,0.25,0.5,0.25\ncat,0.75,0.125,0.125\n", 4),
    "a certain first row": ("cat,1,0\ndog,0.25,0.75\ncat,0.5,0.5\n", 3),
    "codes": ("0,1\n1,1\n0,0\n1,0\n", 2),
    "one column of codes": ("0\n1\n1\n0\n", 1),
    "one column of fractions": ("0.25\n0.5\n0.75\n", 1),
    "one column of names": ("cat\ndog\ncat\ndog\n", 1),
    "fastText": ("__label__a 0.75\n__label__b 0.5\n__label__c 0.25\n", 2),
    "comma as decimal mark": ("1;0,75\n0;0,25\n1;0,5\n", 2),
}


@pytest.mark.parametrize(("data", "width"), HEADLESS.values(), ids=HEADLESS)
def test_columns_without_a_header_are_named_by_position(data, width):
    found = table(data)
    assert found.headless
    assert list(found.columns) == [f"column {i + 1}" for i in range(width)]
    assert found.n_rows == data.count("\n")
    assert "The file has no header line, so its columns are named by position." in found.notes


@pytest.mark.parametrize(
    "header",
    [
        "0,1,label",
        ",0,1,2",
        "0,1,2",
        "0.0,1.0,label",
        "date,0.1,0.5,0.9",
        "id,2019,2020",
        "y",
        "P(a),P(b)",
    ],
)
def test_headers_with_numbers_are_headers(header):
    names = header.split(",")
    row = ["0.25" if n != "label" else "1" for n in names]
    assert list(cells(f"{header}\n{','.join(row)}\n{','.join(row)}\n")) == names


@pytest.mark.parametrize(
    "data", ["2,0.25,0.5,0.25\n3,0.25,0.25,0.5\n2,0.75,0.125,0.125\n", "1;0,75\n0;0,25\n", "cat,0.5\ndog,0.25\ncat,0.75\n"]
)
def test_roles_of_columns_without_names_are_never_guessed(data):
    with pytest.raises((AmbiguousLayout, InputError)):
        read_bytes(data.encode(), "f")


def test_labels_of_libsvm_are_read_without_their_features():
    found = table("+1 1:0.5 3:-0.25\n-1 2:1e-3\n+1 1:1 2:2 3:3\n")
    assert {n: c.array.to_pylist() for n, c in found.columns.items()} == {"column 1": ["+1", "-1", "+1"]}
    assert "LIBSVM" in found.notes[0]


def test_one_column_with_a_header():
    assert cells("label\ncat\ndog\ncat\ndog\n") == {"label": ["cat", "dog", "cat", "dog"]}
    assert cells("y\n1\n0\n") == {"y": ["1", "0"]}


# --- numbers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1,234.5", "0.25", "12"], [1234.5, 0.25, 12]),
        (["1.234,5", "0,25", "12"], [1234.5, 0.25, 12]),
        (["1,234,567", "5"], [1234567, 5]),
        (["1 234,5", "0,25"], [1234.5, 0.25]),
        (["1\u00a0234.5", "3"], [1234.5, 3]),
        (["1\u202f234,5", "3"], [1234.5, 3]),
        (["1'234.5", "0.25"], [1234.5, 0.25]),
        (["1’234.5", "0.25"], [1234.5, 0.25]),
        (["0,123", "1,234"], [0.123, 1.234]),
        (["12,345 %", "3,500 %"], [12.345, 3.5]),
        (["\u22120.5", "+1", "\u00a00.25\u00a0"], [-0.5, 1, 0.25]),
        (["\u22121e-3", "2E+2"], [-0.001, 200]),
    ],
)
def test_numbers_as_people_write_them(texts, values):
    found = Column("x", "text", lambda: pa.array(texts)).numeric()
    assert (found.values.tolist(), found.n_bad) == (values, 0)


@pytest.mark.parametrize("texts", [["1,234.5", "0,25"], ["1.234,5", "0.25"], ["1,234", "12,500"], ["1,23,4", "5"], ["1 2", "3"]])
def test_numbers_that_do_not_agree_are_no_numbers(texts):
    found = Column("x", "text", lambda: pa.array(texts)).numeric()
    assert found.n_bad > 0
    assert np.isnan(found.values[0])


@given(st.lists(st.integers(-(10**12), 10**12), min_size=2, max_size=8))
def test_marks_of_thousands_never_change_a_number(numbers):
    numbers += [1_234_567]  # two marks prove what they are
    found = Column("x", "text", lambda: pa.array([f"{n:,}" for n in numbers])).numeric()
    assert found.values.tolist() == numbers


def test_names_that_are_numbers_in_another_dress():
    assert Column("x", "text", lambda: pa.array(["1.000000e+00", "0.000000e+00"])).names().distinct == ("1", "0")
    assert Column("x", "text", lambda: pa.array(["\u22121", "1"])).names().distinct == ("-1", "1")


# --- encodings ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "names"),
    [("1252", ("thé", "crème brûlée")), ("1252", ("Größe", "£5")), ("1250", ("řeka", "łąka")), ("1250", ("żółty", "śnieg"))],
)
def test_code_pages_of_windows_are_told_apart_with_a_note(page, names):
    data = f"label,p\n{names[0]},0.75\n{names[1]},0.25\n".encode(f"cp{page}")
    found = table(data)
    assert (found.encoding, cells(data)["label"]) == (f"Windows-{page}", list(names))
    assert f"so it was read as Windows-{page}" in found.notes[0]


def test_zero_bytes_are_refused_with_their_line():
    with pytest.raises(InputError, match=r"holds binary data .a zero byte in line 3."):
        table(b"label,p\n1,0.75\n0,\x000.25\n")


# --- rows that do not fit -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("1,0.75\n0,0.25,3\n1,0.5\n", "Row 2 has 3 cells, but the first row has 2"),
        ("Title\n" + PLAIN + "1,2,3\n", "Row 4 has 3 cells, but the header has 2"),
        ("# c\n" + PLAIN + "1\n", "Row 4 has 1 cell, but the header has 2"),
        ("label,p\n1,0.5,9\n2,0.5,9\n4,0.5,9\n", "Rows 1 to 3 have 3 cells, but the header has 2"),
        ("cat\ndog\nfox\n", r"has only one column \('cat'\)"),
        ("sep=;\n", "The file is empty"),
        ("# only comments\n# here\n", "This is plain text|only one column"),
    ],
)
def test_rows_that_do_not_fit_are_named(data, sentence):
    with pytest.raises(InputError, match=sentence):
        table(data)


# --- Orange ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        "y\tp\tnote\nno yes\tcontinuous\tstring\nclass\t\tmeta\n",
        "y\tp\tnote\nd\tc\ts\nclass\t\tm\n",
        "y\tp\tnote\nd\tc\ts\n\t\t\n",
        "cD#y\tC#p\tmS#note\n",
    ],
)
def test_headers_of_orange(header):
    (predictions,) = read_bytes(f"{header}yes\t0.75\ta\nno\t0.25\tb\nyes\t0.5\tc\n".encode(), "f.tab")
    assert (predictions.n, predictions.classes) == (3, ("no", "yes"))
    assert predictions.probabilities[:, 1].tolist() == [0.75, 0.25, 0.5]


# --- other kinds of files -------------------------------------------------------------------------------------------------

SAS = bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11" + bytes(100)
FOREIGN = {
    "pickle": (pickle.dumps([1]), "Python pickle, which can run code"),
    "joblib": (zlib.compress(pickle.dumps(list(range(300)))), "packed pickle .joblib., which can run code"),
    "rds": (b"X\n\x00\x00\x00\x03" + bytes(50), r"R object \(rds\), which is not read. In R: write.csv\(readRDS"),
    "rds, packed": (gzip.compress(b"X\n\x00\x00\x00\x03" + bytes(50)), "R object"),
    "RData": (gzip.compress(b"RDX3\nX\n" + bytes(50)), "R workspace .RData., which is not read. In R: load"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5 file, which is not read. Save its arrays with numpy.savez"),
    "MATLAB": (b"MATLAB 5.0 MAT-file" + bytes(50), "MATLAB file, which is not read"),
    "SQLite": (b"SQLite format 3\x00" + bytes(50), "SQLite database, which is not read. Export the table"),
    "DuckDB": (bytes(8) + b"DUCK" + bytes(50), "DuckDB database"),
    "SAS": (SAS, r"SAS data set .sas7bdat., which is not read.*pandas.read_sas"),
    "SAS transport": (b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!" + bytes(50), "SAS transport file"),
    "SPSS": (b"$FL2@(#) SPSS DATA FILE" + bytes(50), r"SPSS file .sav., which is not read.*pandas.read_spss"),
    "Stata": (b"<stata_dta><header>" + bytes(50), "Stata file .dta., which is not read.*pandas.read_stata"),
    "old Stata": (b"\x72\x02\x01\x00" + bytes(200), "Stata file .dta."),
    "Avro": (b"Obj\x01" + bytes(50), "Avro file"),
    "web page": (b"\n<!DOCTYPE html>\n<html><body>Sign in</body></html>", "web page .HTML., not the table itself"),
    "XML": (b'<?xml version="1.0"?><a/>', "XML file, which is not read"),
    "RTF": (b"{\\rtf1\\ansi label,p}", "text document .RTF."),
    "bzip2": (b"BZh91AY" + bytes(50), "packed with bzip2"),
    "Zstandard": (b"\x28\xb5\x2f\xfd" + bytes(50), "packed with Zstandard"),
}


@pytest.mark.parametrize(("data", "sentence"), FOREIGN.values(), ids=FOREIGN)
def test_other_kinds_are_called_by_their_name_with_the_way_out(data, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        open_tables(data, "predictions.csv")
    assert "predictions.csv" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("header", ["ORCA,p", "Obj,p", "x,p", "RDX,p", "k,p"])
def test_texts_that_begin_like_other_kinds_are_texts(header):
    assert list(cells(f"{header}\n1,0.75\n0,0.25\n")) == header.split(",")


@given(st.binary(max_size=200) | st.text(alphabet="a1,;.\t\n#\"' =-", max_size=120).map(str.encode))
def test_any_bytes_are_tables_or_one_sentence(data):
    try:
        tables = open_tables(data, "f")
    except InputError:
        tables = []
    for found in tables:
        assert all(len(c.array) == found.n_rows for c in found.columns.values())
