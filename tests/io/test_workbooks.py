"""Workbooks: values of every kind of cell, titles above the header, several sheets, and what is refused before it costs memory."""

import base64
import datetime as dt
import io
import lzma
import struct
import sys
import zipfile

import pytest

from calibcore.errors import InputError
from calibcore.io import containers, inspect_bytes, read_bytes, workbooks
from calibcore.io.containers import open_tables

NS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
ROWS = [["label", "p"], [1, 0.75], [0, 0.25], [1, 0.5]]
STYLES = (
    f'<styleSheet xmlns="{NS}"><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/>'
    '<xf numFmtId="9" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def packed(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in parts.items():
            z.writestr(name, data)
    return out.getvalue()


def reference(row, column):
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row + 1}"


def cell(value, at):
    if isinstance(value, tuple):  # a formula and its last value
        return f'<c r="{at}"><f>{value[0]}</f><v>{value[1]}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{at}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, dt.date):
        return f'<c r="{at}" s="1"><v>{(value - dt.date(1899, 12, 30)).days}</v></c>'
    if isinstance(value, str) and value.startswith("#"):
        return f'<c r="{at}" t="e"><v>{value}</v></c>'
    if isinstance(value, str):
        return f'<c r="{at}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{at}"><v>{value}</v></c>'


def sheet(rows):
    lines = []
    for i, row in enumerate(rows):
        cells = "".join(cell(v, reference(i, j)) for j, v in enumerate(row) if v is not None)
        lines.append(f'<row r="{i + 1}">{cells}</row>')
    return f'<worksheet xmlns="{NS}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def xlsx(sheets, *, hidden=(), more=None):
    """A workbook with the sheets' rows, written part by part."""
    names = list(sheets)
    entries = "".join(
        f'<sheet name="{n}" sheetId="{i}" r:id="rId{i}"{" state=" + chr(34) + "hidden" + chr(34) if n in hidden else ""}/>'
        for i, n in enumerate(names, 1)
    )
    links = "".join(
        f'<Relationship Id="rId{i}" Type="{REL}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i in range(1, len(names) + 1)
    )
    links += f'<Relationship Id="rIdS" Type="{REL}/styles" Target="styles.xml"/>'
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r" Type="{REL}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{NS}" xmlns:r="{REL}"><sheets>{entries}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>',
        "xl/styles.xml": STYLES,
    }
    for i, n in enumerate(names, 1):
        parts[f"xl/worksheets/sheet{i}.xml"] = sheets[n] if isinstance(sheets[n], str) else sheet(sheets[n])
    return packed({**parts, **(more or {})})


def xlsb(rows):
    """The same in Excel's binary form: records with a number, a length and bytes."""

    def record(kind, data=b""):
        number = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
        return number + bytes([len(data)]) + data

    def text(value):
        return struct.pack("<I", len(value)) + value.encode("utf-16-le")

    out = record(0x94, struct.pack("<IIII", 0, len(rows) - 1, 0, len(rows[0]) - 1)) + record(0x91)
    for i, row in enumerate(rows):
        out += record(0, struct.pack("<I", i) + bytes(13))
        for j, value in enumerate(row):
            start = struct.pack("<II", j, 0)
            out += record(6, start + text(value)) if isinstance(value, str) else record(5, start + struct.pack("<d", value))
    out += record(0x92)
    book = record(0x8F) + record(0x9C, struct.pack("<II", 0, 1) + text("rId1") + text("Scores")) + record(0x90) + record(0x84)
    links = (
        f'<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{REL}/worksheet" Target="worksheets/sheet1.bin"/></Relationships>'
    )
    return packed({"xl/workbook.bin": book, "xl/_rels/workbook.bin.rels": links, "xl/worksheets/sheet1.bin": out})


def ods(rows, *, repeat=1):
    names = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    names += 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'

    def one(value):
        if isinstance(value, bool):
            kind = f'boolean" office:boolean-value="{str(value).lower()}'
        else:
            kind = "string" if isinstance(value, str) else f'float" office:value="{value}'
        return f'<table:table-cell office:value-type="{kind}"><text:p>{value}</text:p></table:table-cell>'

    body = "".join(f"<table:table-row>{''.join(map(one, row))}</table:table-row>" for row in rows)
    last = (
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="1024"/></table:table-row>'
    )
    if repeat > 1:
        last = f'<table:table-row table:number-rows-repeated="{repeat}">{one(1)}{one(0.5)}</table:table-row>'
    content = f'<office:document-content {names}><office:body><office:spreadsheet><table:table table:name="S">{body}{last}'
    content += "</table:table></office:spreadsheet></office:body></office:document-content>"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        z.writestr("META-INF/manifest.xml", '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>')
        z.writestr("content.xml", content)
    return out.getvalue()


# the rows of ROWS, written by xlwt 1.3.0, packed with xz
OLD = lzma.decompress(
    base64.b85decode(
        b"T>t<81poj4|NsC0{{Uz+z8r=ycVP6SgepJ`9Cjyy@{xwzh{`9r;h?w11QTbQ&6v4qH5DqE;RDmf=*-ddOF!ADBJp6^u*dE%)j~d{qlzMTfmIQ3"
        b"8#MY4`=iQc0LNj?E2yB6I4}u}%N>gz-_b`H4Rqu1*e8#bC}XCrObY5-I-IZ7@B>D*#y4PEm=sEa$Cs90zi58uIB=>B5BWQ{9?2A^he@pPr}6mE"
        b"TkuZKMqTJZR;j*^i^UnA%6#9LP;L;7`U{vgF-`FdMD1KCLmx9TYX0?kGar>~K=v!S5>@@J7zbMRb?M+paW#*hL)p3m&J$|Um`&jk1ZajvJxs4c"
        b"90V1#I$?iNWFDXav&ss#vD(bKW^gnD8Re|bjiD)C9H}96spXvavk+<Xo(i*uR%1+6$7y4|*v0kd9C7UZt!cP~uK`$FlTjBNuT6WK>hniqU`hpJ"
        b"48hGIDQs(Ap3LS_Due0)Or7t+EfCmx0Q~p>JHbB!phAdon0!K(8Fbj<7(j$kcqM5Cw3f-;vv~NV@*QYwev7NX-g*%iu>d4)7@2+x!QwXw5eMdr"
        b"V#T+x8o4#AoDOBL75(LD1w=5jN7beX;>qc9KE%XGpNX0~Ntg8UHf^}|h%p!Hn15$*09PnAz}l~n;+2)8n}r$IY0p|SUT+RLrx`|?<zn0=ElpjR"
        b">7!XCPc`nh?i!{*b;su#78w+(!Ut5uj0%CtBmp!|VhYK11^2h~(E"
    )
)


def cells(data):
    (table,) = open_tables(data, "f")
    return {n: c.array.to_pylist() for n, c in table.columns.items()}


@pytest.mark.parametrize("data", [xlsx({"S": ROWS}), xlsb(ROWS), ods(ROWS), OLD], ids=["xlsx", "xlsb", "ods", "xls"])
def test_every_kind_of_workbook_gives_the_same_table(data):
    (predictions,) = read_bytes(data, "scores.bin")
    assert predictions.probabilities.tolist() == [[0.25, 0.75], [0.75, 0.25], [0.5, 0.5]]
    assert (predictions.name, predictions.classes) == ("scores", ("0", "1"))
    assert inspect_bytes(data, "scores.bin").format == "workbook"


def test_cells_keep_their_kinds_and_formulas_their_values():
    day = dt.date(2024, 2, 29)
    rows = [
        ["y", "p", "day", "ok", "note", "half"],
        [("A1+1", 1), 0.75, day, True, "#N/A", "50%"],
        [0, ("1/4", 0.25), day, False, "a", "25%"],
    ]
    (table,) = open_tables(xlsx({"S": rows}), "f")
    assert [c.kind for c in table.columns.values()] == ["number", "number", "time", "flag", "text", "text"]
    assert cells(xlsx({"S": rows})) == {
        "y": [1, 0],
        "p": [0.75, 0.25],
        "day": [dt.datetime(2024, 2, 29)] * 2,  # noqa: DTZ001
        "ok": [True, False],
        "note": [None, "a"],
        "half": ["50%", "25%"],
    }


def test_titles_and_remarks_are_left_out_with_notes():
    rows = [["Scores of the model"], [None, "made in May"], [], *ROWS, [], ["Source: made up"]]
    (table,) = open_tables(xlsx({"S": rows}), "f")
    assert (list(table.columns), table.n_rows) == (["label", "p"], 3)
    assert table.notes == ("2 lines above the header left out: Scores of the model and made in May.", "1 line below the table left out.")


def test_table_may_begin_anywhere_and_have_an_unnamed_index():
    rows = [[], [None, None, None, "label", "p"], *([None, None, i, *r] for i, r in enumerate(ROWS[1:]))]
    layout = inspect_bytes(xlsx({"S": rows}), "f")
    assert layout.sentence == "Read as: label = label, probability = p, positive class = 1."
    assert layout.columns == ("", "label", "p")
    assert layout.ignored == ("",)


def test_sheet_without_a_header_is_named_by_position():
    (table,) = open_tables(xlsx({"S": ROWS[1:]}), "f")
    assert (list(table.columns), table.headless, table.n_rows) == (["column 1", "column 2"], True, 3)


def test_each_visible_sheet_with_a_table_is_a_model():
    sheets = {"a": ROWS, "b.2": ROWS, "secret": ROWS, "Notes": [["Made up,"], ["as agreed"]], "empty": []}
    models = read_bytes(xlsx(sheets, hidden=("secret",)), "m.xlsx")
    assert [m.name for m in models] == ["a", "b_2"]
    assert "The workbook m.xlsx holds 2 tables: a and b.2." in models[0].notes
    assert "Passed over in the workbook, since no tables: secret (hidden), Notes and empty." in models[0].notes


def test_workbook_in_a_zip_archive_is_a_table_of_it():
    data = packed({"a.csv": "label,p\n1,0.75\n0,0.25\n1,0.5\n", "b.xlsx": xlsx({"S": ROWS})})
    one, two = read_bytes(data, "all.zip")
    assert one.probabilities.tolist() == two.probabilities.tolist()
    assert [one.name, two.name] == ["a", "b"]


def test_macros_are_no_hindrance_and_never_looked_at():
    assert cells(xlsx({"S": ROWS}, more={"xl/vbaProject.bin": b"\xd0\xcf\x11\xe0" + bytes(100)}))["label"] == [1, 0, 1]


def test_name_that_promises_text_is_noted():
    (table,) = open_tables(xlsx({"S": ROWS}), "f.csv")
    assert table.notes == ("The name says csv, the content is workbook; it was read by its content.",)


LOCKED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(100)
SPARSE = xlsx({"S": sheet(ROWS).replace("</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>')})
SPREAD = xlsx({"S": sheet(ROWS).replace('r="A2"', "r='XFD1000000'")})
WORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "WordDocument".encode("utf-16-le") + bytes(100)
REFUSED = {
    "password": (LOCKED, "is an Excel workbook with a password, which is not opened. Save a copy without"),
    "old Word document": (WORD, "is a Word document"),
    "cell far away": (SPARSE, "A sheet reaches to row 1,048,576 and column 16,384, more than"),
    "cell far away in another quote": (SPREAD, "A sheet reaches to row 1,000,000 and column 16,384, more than"),
    "repeated rows": (ods(ROWS, repeat=100_000_000), "A sheet reaches to row 100,000,004 and column 2, more than"),
    "damaged sheet": (xlsx({"S": "<worksheet"}), "This workbook is damaged or incomplete|No sheet of this workbook"),
    "damaged old workbook": (OLD[:512] + bytes(600) + OLD[1112:], "This workbook is damaged or incomplete"),
    "no sheets": (packed({"xl/workbook.xml": "x"}), "This workbook is damaged or incomplete"),
    "nothing in it": (xlsx({"S": []}), "No sheet of this workbook holds a table; its sheets are S"),
    "two columns with one name": (xlsx({"S": [["p", "p"], [1, 2]]}), "Sheet 'S': Two columns are called p"),
    "column without a name": (
        xlsx({"S": [["a", None, "p"], [1, 2, 0.5], [1, 2, 0.5]]}),
        "Sheet 'S': Columns without a name hold values: column 2",
    ),
    "Word document": (packed({"[Content_Types].xml": "x", "word/document.xml": "x"}), "This is a Word document"),
}


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_with_one_sentence(data, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        open_tables(data, "f.xlsx")
    assert str(raised.value).startswith("f.xlsx")
    assert "\n" not in str(raised.value)


def test_parts_are_counted_while_they_are_unpacked(monkeypatch):
    monkeypatch.setattr(containers, "_MAX_WORKBOOK", 1 << 20)
    bomb = sheet(ROWS).replace("</sheetData>", " " * (2 << 20) + "</sheetData>")
    with pytest.raises(InputError, match="unpacks to more than 1 MB"):
        open_tables(xlsx({"S": bomb}), "f")


def test_reader_that_takes_too_long_or_dies_is_an_error_of_the_file(monkeypatch):
    monkeypatch.setattr(workbooks, "_SECONDS", 1e-6)
    with pytest.raises(InputError, match="takes more than"):
        open_tables(xlsx({"S": ROWS}), "f")
    monkeypatch.setattr(workbooks, "_SECONDS", 60)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(InputError, match="damaged or incomplete"):
        open_tables(xlsx({"S": ROWS}), "f")


def test_far_cells_of_the_binary_form_are_found():
    far = bytes([0, 17]) + struct.pack("<I", 1_000_000) + bytes(13) + bytes([5, 16]) + struct.pack("<IId", 16_000, 0, 1.0)
    with pytest.raises(InputError, match="row 1,000,001 and column 16,001"):
        workbooks.check_cells("xl/worksheets/sheet1.bin", far)
