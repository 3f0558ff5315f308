"""Prediction files for the browser tests, made with a fixed seed, and what the command line says about them."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
import random
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

KINDS = ("cat", "dog", "owl")


def csv_bytes(rows: Iterable[Sequence[object]]) -> bytes:
    """A CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def saved(path: Path, data: bytes) -> Path:
    """A file with that content."""
    path.write_bytes(data)
    return path


def binary_file(seed: int = 1, n: int = 700) -> bytes:
    """Labels 0 and 1 with the probability of 1, stretched away from one half: too sure."""
    rng = random.Random(seed)
    rows: list[Sequence[object]] = [("id", "label", "probability", "region")]
    for i in range(n):
        true = rng.random()
        said = min(max(0.5 + 1.6 * (true - 0.5), 0.002), 0.998)
        rows.append((f"r{i:04d}", int(rng.random() < true), f"{said:.4f}", rng.choice(("north", "south"))))
    return csv_bytes(rows)


def top_label_file(seed: int = 2, n: int = 600) -> bytes:
    """True class, predicted class and the confidence in it."""
    rng = random.Random(seed)
    rows: list[Sequence[object]] = [("true", "pred", "confidence")]
    for _ in range(n):
        confidence = rng.uniform(0.34, 1.0)
        predicted = rng.choice(KINDS)
        right = rng.random() < confidence - 0.08
        rows.append((predicted if right else rng.choice([k for k in KINDS if k != predicted]), predicted, f"{confidence:.4f}"))
    return csv_bytes(rows)


def three_class_file(seed: int = 4, n: int = 900) -> bytes:
    """Probabilities of three classes, the first of which is claimed too often."""
    rng = random.Random(seed)
    rows: list[Sequence[object]] = [("id", "label", *(f"p_{k}" for k in KINDS))]
    for i in range(n):
        weights = [rng.random() ** 2 + 0.02 for _ in KINDS]
        label = rng.choices(KINDS, [0.6 * weights[0], *weights[1:]])[0]
        said = [round(w / sum(weights), 4) for w in weights[:2]]
        rows.append((f"r{i:04d}", label, *(f"{p:.4f}" for p in (*said, 1 - sum(said)))))
    return csv_bytes(rows)


def table_of(data: bytes) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of a CSV file, numbers as numbers."""
    header, *rows = csv.reader(io.StringIO(data.decode()))
    return header, [[_number(cell) for cell in row] for row in rows]


def _number(cell: str) -> Any:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def _archive(members: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def _xlsx(header: list[str], rows: list[list[Any]]) -> bytes:
    """The least that a workbook holds, with texts in the cells themselves."""

    def cell(value: Any) -> str:
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        return f"<c><v>{value!r}</v></c>"

    lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in [header, *rows])
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    return _archive(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
            f'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kinds}.worksheet+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/>'
            "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>',
        }
    )


def _ods(header: list[str], rows: list[list[Any]]) -> bytes:
    """The least that an OpenDocument sheet holds."""

    def cell(value: Any) -> str:
        kind = "string" if isinstance(value, str) else f'float" office:value="{value!r}'
        return f'<table:table-cell office:value-type="{kind}"><text:p>{escape(str(value))}</text:p></table:table-cell>'

    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in [header, *rows])
    names = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text"))
    sheet = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    return _archive(
        {
            "mimetype": sheet,
            "content.xml": f'<office:document-content {names} office:version="1.3"><office:body><office:spreadsheet>'
            f'<table:table table:name="Sheet1">{lines}</table:table></office:spreadsheet></office:body></office:document-content>',
            "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{manifest}"><manifest:file-entry '
            f'manifest:full-path="/" manifest:media-type="{sheet}"/></manifest:manifest>',
        }
    )


def _arrow(header: list[str], rows: list[list[Any]], kind: str) -> bytes:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    table, out = pa.table(dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))), io.BytesIO()
    if kind == "parquet":
        pa.parquet.write_table(table, out)
    elif kind == "feather":
        pa.feather.write_feather(table, out)
    else:
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
    return out.getvalue()


def _numpy(header: list[str], rows: list[list[Any]], kind: str) -> bytes:
    import numpy as np

    columns, out = {n: np.array(c) for n, c in zip(header, zip(*rows, strict=True), strict=True)}, io.BytesIO()
    if kind == "npz":
        np.savez_compressed(out, **columns)
    else:
        records = np.empty(len(rows), dtype=[(n, c.dtype) for n, c in columns.items()])
        for name, column in columns.items():
            records[name] = column
        np.save(out, records, allow_pickle=False)
    return out.getvalue()


def _separated(header: list[str], rows: list[list[Any]], mark: str, *, comma: bool = False) -> bytes:
    texts = [[str(c).replace(".", ",") if comma and isinstance(c, float) else str(c) for c in row] for row in rows]
    return "\n".join(mark.join(r) for r in [header, *texts]).encode()


CONTAINERS: dict[str, Callable[[list[str], list[list[Any]]], bytes]] = {
    "csv": lambda h, r: csv_bytes([h, *r]),
    "tsv": lambda h, r: _separated(h, r, "\t"),
    "txt": lambda h, r: _separated(h, r, ";", comma=True),
    "csv.gz": lambda h, r: gzip.compress(csv_bytes([h, *r]), mtime=0),
    "zip": lambda h, r: _archive({"cells.csv": csv_bytes([h, *r])}),
    "xlsx": _xlsx,
    "ods": _ods,
    "parquet": lambda h, r: _arrow(h, r, "parquet"),
    "feather": lambda h, r: _arrow(h, r, "feather"),
    "arrows": lambda h, r: _arrow(h, r, "stream"),
    "json": lambda h, r: json.dumps([dict(zip(h, row, strict=True)) for row in r]).encode(),
    "jsonl": lambda h, r: "\n".join(json.dumps(dict(zip(h, row, strict=True))) for row in r).encode(),
    "npy": lambda h, r: _numpy(h, r, "npy"),
    "npz": lambda h, r: _numpy(h, r, "npz"),
}


@functools.cache
def _run(command: str, arguments: tuple[str, ...]) -> str:
    done = subprocess.run([command, *arguments, "--format", "json"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed_json(command: str, *arguments: str | Path) -> dict[str, Any]:
    """What the installed command prints for ``--format json``."""
    document: dict[str, Any] = json.loads(_run(command, tuple(str(a) for a in arguments)))
    return document


def four(x: float) -> str:
    """As scores are written on the page."""
    return f"{x:.4f}"
