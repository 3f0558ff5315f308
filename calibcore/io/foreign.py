"""Kinds of files that are recognised by their first bytes and not read: one sentence each, with the way out."""

from __future__ import annotations

import re
import zlib

from calibcore.errors import InputError
from calibcore.io.text import NO_TABLE

__all__ = ["is_pickle", "refuse_foreign"]

_SAVE = "Save the predictions as CSV, Parquet or JSON Lines"
_PANDAS = 'In Python: pandas.{}(file).to_csv("predictions.csv", index=False).'
_STATA = _PANDAS.format("read_stata")
_R = 'In R: write.csv(readRDS(file), "predictions.csv", row.names = FALSE). Add that file.'
_R_DATA = 'In R: load(file), then write.csv(the data frame, "predictions.csv", row.names = FALSE). Add that file.'
_SAS = b"\x00" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"
_REFUSED: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", f"is a PDF. {_SAVE}."),
    (b"\x89PNG", f"is a picture. {_SAVE}."),
    (b"\xff\xd8\xff", f"is a picture. {_SAVE}."),
    (b"GIF8", f"is a picture. {_SAVE}."),
    (b"{\\rtf", f"is a text document (RTF). {_SAVE}."),
    (b"\x1f\x8b", "is packed with gzip twice. Unpack it once, and add it again."),
    (b"BZh91AY", "is packed with bzip2, which is not read. Unpack it first."),
    (b"\xfd7zXZ\x00", "is packed with xz, which is not read. Unpack it first."),
    (b"\x28\xb5\x2f\xfd", "is packed with Zstandard, which is not read. Unpack it first."),
    (b"\x04\x22\x4d\x18", "is packed with LZ4, which is not read. Unpack it first."),
    (b"7z\xbc\xaf\x27\x1c", "is a 7-Zip archive, which is not read. Unpack it first."),
    (b"Rar!\x1a\x07", "is a RAR archive, which is not read. Unpack it first."),
    (b"\x5d\x00\x00", "is packed with LZMA, which is not read. Unpack it first."),
    (b"\x1f\x9d", "is packed with compress (Z), which is not read. Unpack it first."),
    (
        b"version https://git-lfs.github.com/spec/",
        "is a pointer of Git LFS, not the file itself. Add the file itself, which git lfs pull fetches.",
    ),
    (b"FEA1", 'is a Feather file of version 1, which is not read. In Python: pandas.read_feather(file).to_parquet("predictions.parquet").'),
    (b"\x89HDF\r\n", "is an HDF5 file, which is not read. Save its arrays with numpy.savez, or as CSV or Parquet."),
    (b"MATLAB 5.0", "is a MATLAB file, which is not read. In MATLAB: writetable(t, 'predictions.csv'). Add that file."),
    (b"MATLAB 7.3", "is a MATLAB file, which is not read. In MATLAB: writetable(t, 'predictions.csv'). Add that file."),
    (b"SQLite format 3\x00", "is an SQLite database, which is not read. Export the table as CSV."),
    (_SAS, f"is a SAS data set (sas7bdat), which is not read. In SAS: PROC EXPORT to CSV. {_PANDAS.format('read_sas')}"),
    (b"HEADER RECORD*******LIB", f"is a SAS transport file, which is not read. In SAS: PROC EXPORT to CSV. {_PANDAS.format('read_sas')}"),
    (b"$FL2@(#)", f"is an SPSS file (sav), which is not read. In SPSS: SAVE TRANSLATE to CSV. {_PANDAS.format('read_spss')}"),
    (b"$FL3@(#)", f"is an SPSS file (zsav), which is not read. In SPSS: SAVE TRANSLATE to CSV. {_PANDAS.format('read_spss')}"),
    (b"<stata_dta>", f"is a Stata file (dta), which is not read. In Stata: export delimited. {_STATA}"),
    (b"RDX2\n", f"is an R workspace (RData), which is not read. {_R_DATA}"),
    (b"RDX3\n", f"is an R workspace (RData), which is not read. {_R_DATA}"),
    (b"RDA2\n", f"is an R workspace (RData), which is not read. {_R_DATA}"),
    (b"RDA3\n", f"is an R workspace (RData), which is not read. {_R_DATA}"),
    (b"X\n\x00\x00\x00", f"is an R object (rds), which is not read. {_R}"),
    (b"B\n\x02\x00\x00\x00", f"is an R object (rds), which is not read. {_R}"),
    (b"B\n\x03\x00\x00\x00", f"is an R object (rds), which is not read. {_R}"),
    (b"Obj\x01", "is an Avro file, which is not read. Save it as Parquet."),
)
_DOCUMENTS = (b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"{\\rtf")  # never a table, while others of these may hold one
_PICKLE = "is a Python pickle, which can run code when opened, so it is never loaded. Save it as CSV or Parquet and add it again."
_JOBLIB = "looks like a packed pickle (joblib), which can run code when opened, so it is never loaded. Save it as CSV or Parquet."
_OLD_PICKLES = (b"(lp", b"(dp", b"(ip", b"cnumpy", b"ccopy_reg", b"c__builtin__", b"cpandas", b"(c", b"ctorch", b"csklearn")
_PACKED_PICKLES = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda", b"ZF0x")
_COMPOUND = b"\xd0\xcf\x11\xe0"
_COMPOUND_KINDS = (
    ("EncryptedPackage", "is an Excel workbook with a password, which is not opened. Save a copy without the password."),
    ("WordDocument", f"is a Word document. {_SAVE}."),
    ("PowerPoint Document", f"is a presentation. {_SAVE}."),
)
_HTML = re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body|table)\b", re.IGNORECASE | re.DOTALL)
_XML = re.compile(rb"\s*<\?xml\b")


def refuse_foreign(data: bytes, name: str) -> None:
    """InputError for what is known and not read."""
    if is_pickle(data):
        raise InputError(f"{name} {_PICKLE}", rule=NO_TABLE)
    for magic, sentence in _REFUSED:
        if data.startswith(magic) and not (len(magic) < 4 and len(data) < 4):
            raise InputError(f"{name} {sentence}", rule=NO_TABLE if magic in _DOCUMENTS else None)
    sentence = _by_more_than_a_magic(data)
    if sentence:
        raise InputError(f"{name} {sentence}", rule=NO_TABLE if "document" in sentence or "web page" in sentence else None)


def _by_more_than_a_magic(data: bytes) -> str:
    start = data[:4096].removeprefix(b"\xef\xbb\xbf")
    if data.startswith(_COMPOUND):
        return next((s for stream, s in _COMPOUND_KINDS if stream.encode("utf-16-le") in data), "")
    tests = (
        (_is_packed_pickle(data), _JOBLIB),
        (
            re.match(rb"[\x66-\x73][\x01\x02]\x01[\x00\x01]", start),
            f"is a Stata file (dta), which is not read. In Stata: export delimited. {_STATA}",
        ),
        (b"ASCII SPSS PORT FILE" in start[:600], "is an SPSS portable file, which is not read. In SPSS: SAVE TRANSLATE to CSV."),
        (
            start.startswith(b"ORC") and b"ORC" in data[-8:] and not start.isascii(),
            "is an ORC file, which is not read. Save it as Parquet.",
        ),
        (
            start.startswith(b"PARE") and data.endswith(b"PARE") and not start.isascii(),
            "is an encrypted Parquet file, which is not read. Save it again without encryption.",
        ),
        (start[257:262] == b"ustar", "is a tar archive, which is not read. Unpack it, and add its files (or a zip archive of them)."),
        (
            start[5:10] == b'\x00\x00\x00{"',
            "is a file of tensors (safetensors), which is not read. Save its arrays with numpy.savez, or as CSV or Parquet.",
        ),
        (start[8:12] == b"DUCK", "is a DuckDB database, which is not read. Export the table as Parquet: COPY t TO 'predictions.parquet'."),
        (_HTML.match(start), f"is a web page (HTML), not the table itself. {_SAVE}."),
        (_XML.match(start), f"is an XML file, which is not read. {_SAVE}."),
    )
    return next((sentence for found, sentence in tests if found), "")


def _is_packed_pickle(data: bytes) -> bool:
    """Whether bytes are a zlib stream, as joblib packs its pickles."""
    if not data.startswith(_PACKED_PICKLES):
        return False
    try:
        return data.startswith(b"ZF") or len(zlib.decompressobj().decompress(data[: 1 << 16], 64)) > 0
    except zlib.error:
        return False


def is_pickle(data: bytes) -> bool:
    """Binary pickles start with 0x80 and a version; old text pickles with an opcode line and end in a full stop."""
    if data[:1] == b"\x80" and data[1:2] in (b"\x01", b"\x02", b"\x03", b"\x04", b"\x05"):
        return True
    return data.startswith(_OLD_PICKLES) and data.rstrip().endswith(b".")
