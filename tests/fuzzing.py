"""What fuzz tests of files share: small valid files of every container, and what may become of any bytes at all."""

import gzip
import io
import json
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect_bytes, read_bytes

TECHNICAL = re.compile(  # words of a programmer's fault
    r"Traceback|<class|object at 0x|NoneType|ndarray|DataFrame\b|Arrow[A-Z]\w+|\w+(Error|Exception|Warning)\b|dtype|<lambda>|pyarrow|__\w+__"  # noqa: E501
)
WAY_OUT = re.compile(
    r"\b(Add|Answer|Call|Check|Choose|Close|Compare|Convert|Copy|Correct|Divide|Drop|Each|Export|Fetch|Fill|Give|Join|Keep|Label|Leave|Make|Mend|Name|"
    r"Pack|Put|Quote|Read|Remove|Rename|Repeat|Replace|Save|Say|say so|Separate|Set|Split|Take|Tell|Turn|Unpack|Use|Write|In Python|In R|"
    r"must|needs?|needed|at least|[Tt]he columns are)\b|--\w+"
)
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\[[^\]]*\]|\{[^}]*\}")
SENTENCE_END = re.compile(r"[.?!](?=\s+[A-Z]|\s*$)")
LONGEST = 900
OF_ROWS = {"missing"}  # questions that only the rows raise, at which a look does not go


def outcome(call):
    """What a call gives, or the question or refusal that it raises; anything else fails the test."""
    try:
        return call()
    except InputError as error:
        return error


def check_sentence(text, *, given=""):
    """A message is short and plain, ends as a sentence does, and holds no words of a programmer but those of the file itself."""
    assert text.strip(), "no message"
    assert len(text) <= LONGEST + len(given), text  # names of columns are told as they are, however long
    assert text.rstrip()[-1] in ".?!)", text
    assert len(SENTENCE_END.findall(QUOTED.sub("", text))) <= 3, text  # a hint at a column may come before
    found = TECHNICAL.search(text)
    assert found is None or found[0] in given, text


def check_message(error, data=b""):
    """A refusal of one or two sentences which names the way out; a question with its answers and the option that gives them."""
    given = data.decode("latin-1")
    if isinstance(error, AmbiguousLayout):
        assert error.questions
        assert len({q.id for q in error.questions}) == len(error.questions), error.questions
        for question in error.questions:
            assert question.id in Mapping.__dataclass_fields__, question
            assert question.options, question
            assert question.flag.startswith("--"), question
            check_sentence(question.text, given=given)
        return
    check_sentence(str(error), given=given)
    assert WAY_OUT.search(str(error)), f"no way out: {error}"


def check_file(data, name="f", mapping=None):
    """Bytes are read, ask or are refused, and a look at them says the same as reading them does."""
    mapping = mapping or Mapping()
    found = outcome(lambda: read_bytes(data, name, mapping))
    seen = outcome(lambda: inspect_bytes(data, name, mapping))
    for result in (found, seen):
        if isinstance(result, InputError):
            check_message(result, data)
    if isinstance(found, list):
        assert found
        for model in found:
            assert model.n > 0
            assert np.isfinite(model.confidence).all()
            assert ((model.confidence >= 0) & (model.confidence <= 1)).all()
            assert all(isinstance(note, str) and note for note in model.notes)
        assert not isinstance(seen, InputError), f"read, but not looked at: {seen}"
        assert seen.problem is None, seen.problem
        assert not seen.questions, seen.questions
    elif isinstance(found, AmbiguousLayout):
        assert not isinstance(seen, InputError), f"asked, but not looked at: {seen}"
        assert seen.questions or seen.problem or {q.id for q in found.questions} <= OF_ROWS, f"{found}, but inspect has nothing to ask"
    elif not isinstance(seen, InputError) and not seen.questions and not seen.problem:
        assert found.row is not None, f"{found}, but inspect sees no problem"  # a fault of one row may be beyond the look
    if not isinstance(seen, InputError):
        json.dumps(seen.to_dict(), allow_nan=False)
        assert seen.layout is None or seen.sentence
    return found


# --- small valid files ------------------------------------------------------------------------------------------------------

ROWS = [(1, 0.9), (0, 0.25), (1, 0.5), (0, 0.125), (1, 0.75), (0, 0.4)]
WEKA = "inst#,actual,predicted,error,prediction\n1,1:cat,1:cat,,0.9\n2,2:dog,1:cat,+,0.6\n3,2:dog,2:dog,,0.75\n"
WEKA_SPREAD = "inst#,actual,predicted,error,distribution,\n1,1:cat,1:cat,,*0.9,0.1\n2,2:dog,1:cat,+,*0.6,0.4\n3,2:dog,2:dog,,0.25,*0.75\n"
TEXTS = {
    "csv": "label,p\n" + "".join(f"{y},{p}\n" for y, p in ROWS),
    "csv german": "Klasse;p_ja;p_nein\n" + "".join(f"{'ja' if y else 'nein'};{p};{1 - p}\n".replace(".", ",") for y, p in ROWS),
    "csv quoted": '"y ""true""","p, a","p, b"\r\n' + "".join(f'"{"ab"[y]}","{1 - p}","{p}"\r\n' for y, p in ROWS),
    "tsv": "id\ty_true\ty_pred\tconfidence\n" + "".join(f"r{i}\t{'ab'[y]}\ta\t{p}\n" for i, (y, p) in enumerate(ROWS)),
    "spaces": "\n".join(f"{y} {p}" for y, p in ROWS),
    "percent": "outcome,forecast\n" + "".join(f"{'yes' if y else 'no'},{p * 100}%\n" for y, p in ROWS),
    "vectors": "label,probs\n" + "".join(f'{y},"[{1 - p}, {p}]"\n' for y, p in ROWS),
    "title": "Run of today\n\nlabel,p\n" + "".join(f"{y},{p}\n" for y, p in ROWS) + "\n6 rows\n",
    "long": "id,model,class,prob,label\n"
    + "".join(f"{i},m{m},{c},{p if c else 1 - p},{y}\n" for i, (y, p) in enumerate(ROWS) for m in (0, 1) for c in (0, 1)),
    "weka": WEKA,
    "weka distribution": WEKA_SPREAD,
    "libsvm": "labels 1 0\n1 0.9 0.1\n0 0.25 0.75\n1 0.5 0.5\n",
    "fasttext": "__label__a 0.9 __label__b 0.1\n__label__b 0.75 __label__a 0.25\n",
    "jsonl": "".join(json.dumps({"label": y, "p": p}) + "\n" for y, p in ROWS),
    "jsonl nested": "".join(
        json.dumps({"label": "ab"[y], "out": [{"label": "a", "score": 1 - p}, {"label": "b", "score": p}]}) + "\n" for y, p in ROWS
    ),
    "json": json.dumps([{"label": y, "p": p} for y, p in ROWS]),
    "json split": json.dumps({"columns": ["label", "p"], "index": [3, 4, 5, 6, 7, 8], "data": ROWS}),
    "json columns": json.dumps({"y_true": [y for y, _ in ROWS], "y_prob": [p for _, p in ROWS], "classes": ["a", "b"]}),
    "json wrapped": json.dumps({"run": {"id": 1, "results": [{"target": y, "probs": [1 - p, p]} for y, p in ROWS]}}),
    "json cells": json.dumps({"label": {str(i): y for i, (y, _) in enumerate(ROWS)}, "p": {str(i): p for i, (_, p) in enumerate(ROWS)}}),
    "json matrix": json.dumps([[1 - p, p] for _, p in ROWS]),
}


def packed(members):
    """A zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def saved(write, *values, **named):
    """The bytes that a function writes."""
    out = io.BytesIO()
    write(out, *values, **named)
    return out.getvalue()


def streamed(open_writer, table):
    """The bytes of an Arrow stream or file."""
    out = io.BytesIO()
    with open_writer(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def sheet(rows):
    """A workbook with one sheet, as small as one can be."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    cells = "".join(
        f'<row r="{i}">'
        + "".join(
            f'<c r="{"ABCDEFG"[j]}{i}" t="inlineStr"><is><t>{v}</t></is></c>'
            if isinstance(v, str)
            else f'<c r="{"ABCDEFG"[j]}{i}"><v>{v}</v></c>'
            for j, v in enumerate(row)
        )
        + "</row>"
        for i, row in enumerate(rows, 1)
    )
    return packed(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="a" Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',  # noqa: E501
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets><sheet name="S" sheetId="1" r:id="b"/></sheets></workbook>',  # noqa: E501
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="b" Type="{relations}/worksheet" Target="worksheets/s.xml"/></Relationships>',  # noqa: E501
            "xl/worksheets/s.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
        }
    )


def open_document(rows):
    """An OpenDocument sheet, as small as one can be."""
    ns = "urn:oasis:names:tc:opendocument:xmlns"
    kind = "application/vnd.oasis.opendocument.spreadsheet"

    def cell(v):
        about = 'office:value-type="string"' if isinstance(v, str) else f'office:value-type="float" office:value="{v}"'
        return f"<table:table-cell {about}><text:p>{v}</text:p></table:table-cell>"

    body = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("mimetype"), kind)
        archive.writestr(
            zipfile.ZipInfo("content.xml"),
            f'<?xml version="1.0"?><office:document-content xmlns:office="{ns}:office:1.0" xmlns:table="{ns}:table:1.0" xmlns:text="{ns}:text:1.0">'  # noqa: E501
            f'<office:body><office:spreadsheet><table:table table:name="S">{body}</table:table></office:spreadsheet></office:body></office:document-content>',  # noqa: E501
        )
        archive.writestr(
            zipfile.ZipInfo("META-INF/manifest.xml"),
            f'<manifest:manifest xmlns:manifest="{ns}:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>',  # noqa: E501
        )
    return out.getvalue()


def workbooks():
    """Workbooks by kind."""
    rows = [("label", "p"), *ROWS]
    return {"xlsx": sheet(rows), "ods": open_document(rows)}


def seeds():
    """Small valid files by kind; workbooks, which a process of their own reads, are apart."""
    table = pa.table({"label": [("a", "b")[y] for y, _ in ROWS], "p_a": [1 - p for _, p in ROWS], "p_b": [p for _, p in ROWS]})
    nested = pa.table(
        {
            "label": pa.array([y for y, _ in ROWS], pa.int32()),
            "probs": pa.array([[1 - p, p] for _, p in ROWS]),
            "more": pa.array([{"k": p, "t": "x"} for _, p in ROWS]),
            "kind": pa.array(["u", "v", "u", "v", "u", None]).dictionary_encode(),
        }
    )
    y, p = np.array([y for y, _ in ROWS]), np.array([p for _, p in ROWS])
    both = np.array(ROWS, dtype=[("label", "i4"), ("p", "f4")])
    text = {k: t.encode() for k, t in TEXTS.items()}
    return text | {
        "utf-16": TEXTS["csv"].encode("utf-16"),
        "cp1252": "étiquette,prob_é\n1,0.9\n0,0.2\n".encode("cp1252"),
        "gz": gzip.compress(text["csv"], mtime=0),
        "zip": packed({"a.csv": text["csv"], "b/model.jsonl": text["jsonl"], "README.md": b"# words"}),
        "parquet": saved(lambda out: pq.write_table(table, out, compression="none")),
        "parquet nested": saved(lambda out: pq.write_table(nested, out, compression="snappy")),
        "feather": saved(lambda out: pf.write_feather(table, out, compression="uncompressed")),
        "arrow stream": streamed(pa.ipc.new_stream, nested),
        "arrow file": streamed(pa.ipc.new_file, table),
        "npy": saved(np.save, np.column_stack([y, p])),
        "npy fields": saved(np.save, both),
        "npz": saved(np.savez, y_true=y, y_prob=np.column_stack([1 - p, p]), classes=np.array(["a", "b"])),
    }
