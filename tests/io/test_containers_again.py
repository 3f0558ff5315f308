"""Containers and texts as careless and hostile users write them: a right reading, or one sentence, and no row lost in silence."""

import io
import json
import struct
import tarfile
import time
import zipfile

import pytest

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import inspect_bytes, read_bytes
from calibcore.io.containers import open_tables
from calibcore.io.sheet_marks import Marks, sheet_marks

ROWS = [(1, 0.75), (0, 0.25), (1, 0.5), (0, 0.125), (1, 0.875)]
PLAIN = "label,p\n" + "".join(f"{y},{p}\n" for y, p in ROWS)
NS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def same(data, name="f"):
    """The notes of the one model, whose rows are ROWS."""
    (model,) = read_bytes(data if isinstance(data, bytes) else data.encode(), name)
    assert list(zip(model.label.tolist(), model.probabilities[:, 1].tolist(), strict=True)) == ROWS
    return model.notes


def refused(data, name="f"):
    with pytest.raises(InputError) as raised:
        read_bytes(data if isinstance(data, bytes) else data.encode(), name)
    assert not isinstance(raised.value, AmbiguousLayout)
    assert "\n" not in str(raised.value)
    return str(raised.value)


# --- quotes that hide rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("quoted", [(0, 1), (1, 3), (2, 4)])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_two_quotes_never_hide_the_rows_between_them(separator, quoted, place):
    lines = []
    for i, (y, p) in enumerate(ROWS):
        cells = [str(y), str(p)]
        cells.insert(place, f'"x{i}' if i in quoted else f"x{i}")
        lines.append(separator.join(cells))
    header = ["label", "p"]
    header.insert(place, "note")
    text = "\n".join([separator.join(header), *lines, ""])
    sentence = refused(text)
    assert f"Row {quoted[0] + 1}: a quote in column" in sentence
    assert f"makes one cell of {quoted[1] - quoted[0] + 1} lines" in sentence


def test_cells_of_several_lines_with_separators_are_cells():
    letters = "".join(f'{y},{p},"Dear all, see below\n1,0.5\nYours, {i}"\n' for i, (y, p) in enumerate(ROWS))
    assert same("label,p,note\n" + letters) == ()
    first = "".join(f'"a,b\nc,d {i}",{y},{p}\n' for i, (y, p) in enumerate(ROWS))
    assert same("note,label,p\n" + first) == ()


# --- texts ----------------------------------------------------------------------------------------------------------------


def test_extra_separators_at_some_ends_are_counted():
    assert same(PLAIN.replace("0.5\n", "0.5,\n")) == ("1 of 5 data rows ends in an extra separator; the empty cell after it was left out.",)


def test_marks_of_encodings_within_a_text_are_no_content():
    assert same(PLAIN.replace("\n1,0.5", "\n\ufeff1,0.5")) == ("Byte order marks within the text were left out.",)
    assert same(PLAIN + "\x1a") == ()
    assert "UTF-32" in refused(PLAIN.encode("utf-32"))


@pytest.mark.parametrize("words", [("да", "нет"), ("Кошка", "СОБАКА"), ("ёлка", "ель")])
def test_cyrillic_names_of_windows_are_read_with_a_note(words):
    text = "метка,p\n" + "".join(f"{words[y]},{p}\n" for y, p in ROWS)
    (table,) = open_tables(text.encode("cp1251"), "f")
    assert (table.encoding, list(table.columns)) == ("Windows-1251", ["метка", "p"])
    assert table.columns["метка"].array.to_pylist() == [words[y] for y, _ in ROWS]
    assert "Windows-1251" in table.notes[0]


def test_bytes_without_meaning_never_make_two_names_one():
    text = b"label,p\n" + b"".join((b"\x83\x81" if y else b"\x83\x90") + f",{p}\n".encode() for y, p in ROWS)
    (table,) = open_tables(text, "f")
    assert len(set(table.columns["label"].array.to_pylist())) == 2
    assert "save it again as UTF-8" in table.notes[0]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\t"])
def test_names_in_several_lines_are_known(end):
    assert same(PLAIN.replace("label,p", f'"true{end}label","predicted {end}probability"')) == ()


def test_headers_longer_than_the_first_look_are_whole():
    names = [f"{'x' * 200}_{i}" for i in range(8000)]  # 1.6 MB
    (table,) = open_tables(("\n".join([",".join(names), *[",".join(["1.5"] * 8000)] * 3]) + "\n").encode(), "f")
    assert (list(table.columns), table.n_rows) == (names, 3)


def test_too_many_columns_are_refused_before_they_cost_time():
    assert "The table has 20,001 columns; at most 20,000 are read" in refused(
        "\n".join([",".join(f"f{i}" for i in range(20_001)), "1," * 20_000 + "1"])
    )


def test_long_cells_are_read_and_named_where_they_cannot_be():
    long = "label,p,note\n" + "".join(f"{y},{p},{'x' * (4_500_000 if p == 0.5 else 1)}\n" for y, p in ROWS)
    assert same(long) == ()
    assert "Line 4 holds a cell of more than 131,072 signs" in refused(long + "1\n")


# --- JSON -----------------------------------------------------------------------------------------------------------------

RECORDS = [{"label": y, "p": p} for y, p in ROWS]


@pytest.mark.parametrize("between", ["", " ", "\n\n", "\n"])
@pytest.mark.parametrize("indent", [None, 2])
def test_records_one_after_the_other(between, indent):
    assert same(between.join(json.dumps(r, indent=indent) for r in RECORDS), "f.json") == ()


def test_lists_one_a_line():
    text = "\n".join(json.dumps(row) for row in [["label", "p"], *ROWS])
    assert same(text, "f.json") == ()
    (table,) = open_tables(text.partition("\n")[2].encode(), "f")
    assert {n: c.array.to_pylist() for n, c in table.columns.items()} == {
        "column 1": [y for y, _ in ROWS],
        "column 2": [p for _, p in ROWS],
    }


@pytest.mark.parametrize("cut", [1, 2, 8, 12])
def test_json_that_is_cut_off_says_so(cut):
    assert "it ends too early" in refused(json.dumps(RECORDS)[:-cut])


def test_keys_twice_are_found_however_they_are_written():
    assert "Two columns are called p" in refused("".join(f'{{"label": {y}, "p"  : {p}, "p"\t: 0.5}}\n' for y, p in ROWS))


def test_numbers_of_thousands_of_digits_are_no_fault_of_python():
    sentence = refused('[{"label": 1, "p": ' + "1" * 5000 + '}, {"label": 0, "p": 0.5}]')
    assert "a whole number with thousands of digits" in sentence
    assert "sys." not in sentence


# --- files of other kinds ---------------------------------------------------------------------------------------------------


def tar():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo("a.csv")
        info.size = len(PLAIN)
        archive.addfile(info, io.BytesIO(PLAIN.encode()))
    return out.getvalue()


OTHERS = {
    "tar": (tar(), "is a tar archive, which is not read. Unpack it"),
    "LZMA": (b"\x5d\x00\x00\x80\x00" + b"\xff" * 8 + bytes(30), "packed with LZMA"),
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 123\n", "pointer of Git LFS, not the file itself"),
    "encrypted Parquet": (b"PARE" + bytes(range(256)) + b"PARE", "encrypted Parquet file"),
    "safetensors": (struct.pack("<Q", 20) + b'{"a":{"dtype":"F32"}' + bytes(16), "a file of tensors"),
}


@pytest.mark.parametrize(("data", "sentence"), OTHERS.values(), ids=OTHERS)
def test_other_kinds_are_called_by_their_name(data, sentence):
    assert sentence in refused(data)


def test_names_that_begin_like_other_kinds_are_texts():
    text = "PARENT,label,p\n" + "".join(f"a,{y},{p}\n" for y, p in ROWS) + "PARE"
    assert "Row 6 has 1 cell" in refused(text)


# --- workbooks: what is said beside the values -------------------------------------------------------------------------------


def xlsx(rows, *, book="", more=None, name="S", links=""):
    """A workbook of one sheet whose rows are written as XML."""
    body = f'<worksheet xmlns="{NS}"><sheetData>{rows}</sheetData></worksheet>'
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r" Type="{REL}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{NS}" xmlns:r="{REL}"><sheets><sheet name="{name}" sheetId="1" r:id="rId1"/></sheets>'
        f"{book}</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">'
        f'<Relationship Id="rId1" Type="{REL}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": body,
        "xl/worksheets/_rels/sheet1.xml.rels": f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>',
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in {**parts, **(more or {})}.items():
            archive.writestr(part, text)
    return out.getvalue()


def text(at, value):
    return f'<c r="{at}" t="inlineStr"><is><t>{value}</t></is></c>'


def table(cell=lambda at, p: f'<c r="{at}"><v>{p}</v></c>', hidden=(), first=1):
    rows = [f'<row r="{first}">{text(f"A{first}", "label")}{text(f"B{first}", "p")}</row>']
    for i, (y, p) in enumerate(ROWS, first + 1):
        about = ' hidden="1"' if i in hidden else ""
        rows.append(f'<row r="{i}"{about}><c r="A{i}"><v>{y}</v></c>{cell(f"B{i}", p)}</row>')
    return "".join(rows)


RECALCULATE = '<calcPr calcId="124519" fullCalcOnLoad="1"/>'
FORMULAS = {
    "no value": (lambda at, p: f'<c r="{at}"><f>{p}*1</f></c>', ""),
    "an empty value": (lambda at, p: f'<c r="{at}"><f>{p}*1</f><v></v></c>', RECALCULATE),
    "an empty tag": (lambda at, p: f'<c r="{at}" s="1"><f>{p}*1</f><v /></c>', ""),
    "zeros of a library": (lambda at, p: f'<c r="{at}"><f>{p}*1</f><v>0</v></c>', RECALCULATE),
    "a formula without text": (lambda at, _: f'<c r="{at}"><f t="shared" si="0"/></c>', ""),
}


@pytest.mark.parametrize(("cell", "book"), FORMULAS.values(), ids=FORMULAS)
def test_formulas_that_nobody_computed_are_no_values(cell, book):
    sentence = refused(xlsx(table(cell), book=book))
    assert "Sheet 'S': Cell B2 holds a formula whose value is not in the file" in sentence
    assert "Save the workbook again after recalculating all of it" in sentence


def test_one_formula_without_a_value_is_not_a_missing_value():
    assert "Cell B4 holds a formula" in refused(
        xlsx(table(lambda at, p: f'<c r="{at}"><f>1/2</f></c>' if p == 0.5 else f'<c r="{at}"><v>{p}</v></c>'))
    )


@pytest.mark.parametrize("book", ["", RECALCULATE])
def test_formulas_with_values_are_read(book):
    assert same(xlsx(table(lambda at, p: f'<c r="{at}"><f>{p}*1</f><v>{p}</v></c>'), book=book)) == ()


def test_zeros_of_formulas_are_values_where_a_program_computed_them():
    (model,) = read_bytes(xlsx(table(lambda at, p: f'<c r="{at}"><f>{p}*0</f><v>0</v></c>')), "f")
    assert model.probabilities[:, 1].tolist() == [0.0] * 5


def test_formulas_outside_the_table_are_no_hindrance():
    title = '<row r="1"><c r="A1"><f>TODAY()</f></c></row>'
    assert same(xlsx(title + table(first=3))) == ()


def test_row_of_totals_is_no_case():
    total = '<row r="7"><c r="A7"><f>MAX(A2:A6)</f><v>1</v></c><c r="B7"><f>AVERAGE(B2:B6)</f><v>0.5</v></c></row>'
    links = f'<Relationship Id="rId1" Type="{REL}/table" Target="../tables/table1.xml"/>'
    about = f'<table xmlns="{NS}" id="1" ref="A1:B7" totalsRowCount="1"/>'
    data = xlsx(table() + total, links=links, more={"xl/tables/table1.xml": about})
    assert same(data) == ("The table's row of totals was left out.",)
    assert sheet_marks(data) == {"S": Marks(totals=((6, 0, 1),))}


def test_hidden_rows_are_read_and_counted():
    assert same(xlsx(table(hidden=(3, 4)))) == ("2 rows that are hidden in the sheet, by a filter perhaps, read as well.",)


def test_cells_of_blanks_hold_nothing():
    assert same(xlsx(table() + f'<row r="7">{text("A7", " ")}{text("B7", " ")}</row>')) == ()


def test_number_below_a_blank_row_is_a_row():
    with pytest.raises(AmbiguousLayout, match="1 of 6 rows have no label"):
        read_bytes(xlsx(table() + '<row r="9"><c r="B9"><v>0.5</v></c></row>'), "f")


def test_blank_rows_within_the_table_are_counted():
    assert same(xlsx(table().replace('r="6"', 'r="8"').replace("A6", "A8").replace("B6", "B8"))) == (
        "2 rows without any content left out.",
    )


def test_errors_that_the_reader_does_not_know_are_named():
    cells = table(lambda at, p: f'<c r="{at}" t="e"><v>#SPILL!</v></c>' if p == 0.5 else f'<c r="{at}"><v>{p}</v></c>')
    assert "Sheet 'S': A cell holds the error #SPILL!" in refused(xlsx(cells))


def test_names_of_sheets_are_matched_as_they_are_written():
    data = xlsx(table(hidden=(3,)), name="a &amp; b &lt;c&gt;")
    assert sheet_marks(data) == {"a & b <c>": Marks(hidden=1)}
    assert len(same(data)) == 1


@pytest.mark.parametrize("piece", ["<row ", '<row hidden="1" ', "<c ", "<c><f>", "<c r='A1'", "<x:", '<row hidden="1" hidden="1" /'])
def test_marks_take_no_time_in_hostile_sheets(piece):
    data = xlsx(table() + piece * 200_000)
    start = time.perf_counter()
    sheet_marks(data)
    assert time.perf_counter() - start < 5


def test_inspection_says_the_same_as_reading():
    data = xlsx(table(FORMULAS["no value"][0]))
    with pytest.raises(InputError, match="Cell B2 holds a formula"):
        inspect_bytes(data, "f")
