"""What fuzzing found: bytes that once ended in something else than a reading, a question or a sentence."""

import gzip
import io
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import check_file, packed, saved

from calibcore.errors import InputError
from calibcore.io import archives, containers, inspect_bytes, read_bytes
from calibcore.io.columns import Column, Table


def test_a_member_of_an_archive_without_a_name_is_passed_over():
    data = packed({"x": b"", "a.csv": b"label,p\n1,0.9\n0,0.2\n"})
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"PK\x01\x02"))  # the first entry of the directory, then its name's length
    entry = data[at : at + 28] + struct.pack("<H", 0) + data[at + 30 : at + 46]
    size, start = struct.unpack("<II", data[-10:-2])
    changed = data[:at] + entry + data[at + 47 : -10] + struct.pack("<II", size - 1, start) + data[-2:]
    with zipfile.ZipFile(io.BytesIO(changed)) as archive:
        assert archive.namelist() == ["", "a.csv"]
    assert [p.n for p in check_file(changed)] == [2]


@pytest.mark.parametrize("note", [b"\xb5", b"{", b"[]", b'{"index_columns": 3}', b'{"index_columns": null}', b"[" * 100_000])
def test_a_damaged_note_of_pandas_is_no_reason_not_to_read(note):
    table = pa.table({"label": [1, 0, 1], "p": [0.9, 0.2, 0.5]}).replace_schema_metadata({b"pandas": note})
    assert [p.n for p in check_file(saved(lambda out: pq.write_table(table, out)))] == [3]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_signalling_nan_is_an_absent_number_like_any_other(kind):
    bits = {4: (np.uint32, 0x7F800001), 8: (np.uint64, 0x7FF0000000000001)}[np.dtype(kind).itemsize]
    odd = np.array([bits[1]], bits[0]).view(kind)
    found = check_file(saved(np.savez, label=np.array([1, 0, 1]), p=np.concatenate([np.array([0.9, 0.2], kind), odd])))
    assert [q.id for q in found.questions] == ["missing"]


def test_a_name_within_a_column_that_is_no_text_makes_a_file_damaged():
    table = pa.table({"label": [1, 0], "out": [{"fieldname": 0.5}, {"fieldname": 0.25}]})
    data = saved(lambda out: pa.ipc.new_stream(out, table.schema).write_table(table)).replace(b"fieldname", b"field\xffame")
    assert "damaged" in str(check_file(data))


def test_a_damaged_column_that_is_not_needed_is_shown_as_such():
    def damaged():
        raise InputError("Column 'note' of this Parquet file cannot be read; the file is damaged. Save it again.")

    columns = {"label": Column("label", "number", lambda: pa.array([1, 0])), "note": Column("note", "nested", damaged)}
    assert Table("f", columns, 2, "Parquet").preview() == [{"label": "1", "note": "(damaged)"}, {"label": "0", "note": "(damaged)"}]


def test_a_parquet_file_that_promises_more_rows_than_it_holds_is_damaged():
    table = pa.table({"label": [1, 0, 1], "p": [0.9, 0.2, 0.5]})
    data = saved(lambda out: pq.write_table(table, out, compression="none"))
    footer = struct.unpack("<I", data[-8:-4])[0]
    at = data.index(b"\x16\x06", len(data) - 8 - footer)  # num_rows, the first field of 64 bits: 3 as a zigzag varint
    assert "damaged" in str(check_file(data[: at + 1] + b"\x0a" + data[at + 2 :]))


def test_a_text_without_an_end_of_a_line_says_so_in_a_look_too(monkeypatch):
    monkeypatch.setattr(containers, "_PREFIX", 1000)
    data = b"0.5," * 1000
    with pytest.raises(InputError, match="no end of a line"):
        read_bytes(data, "f")
    with pytest.raises(InputError, match="no end of a line"):
        inspect_bytes(data, "f")


def test_gzip_that_unpacks_to_more_than_200_times_its_size_is_refused(monkeypatch):
    monkeypatch.setattr(archives, "_HARMLESS", 1 << 20)
    with pytest.raises(InputError, match="200 times its size"):
        read_bytes(gzip.compress(bytes(4 << 20)), "f")


def test_a_torn_row_below_what_looks_like_a_saved_index():
    data = b"abel\n,p\nel,p\n1,0.9\n0,0.25\n1,0.5\n0,0.125\n.125\n1,0.75\n0,0.4\n"
    with pytest.raises(InputError):
        read_bytes(data, "f.csv")
