"""Files by content: what is read, what is refused and how it is called."""

import gzip
import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore.errors import InputError
from calibcore.io import containers, inspect, read, read_bytes
from calibcore.io.containers import open_tables

CSV = b"label,p\n1,0.75\n0,0.25\n"


def zipped(name):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(name, "x")
    return out.getvalue()


def parquet(frame):
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


def packed(data):
    return gzip.compress(data, mtime=0)  # the same bytes in every process


def npy():
    out = io.BytesIO()
    np.save(out, np.zeros(3))
    return out.getvalue()


REFUSED = {
    "pickle": (pickle.dumps({"p": [0.5]}), "is a Python pickle, which can run code when opened, so it is never loaded"),
    "old text pickle": (pickle.dumps([0.5], protocol=0), "is a Python pickle"),
    "zip": (zipped("a.csv"), "The archive holds no table; it holds a.csv"),
    "workbook": (zipped("xl/workbook.xml"), "This workbook is damaged or incomplete, and cannot be opened. Save the sheet as CSV"),
    "npz": (zipped("logits.npy"), "Array 'logits' is a damaged NumPy file"),
    "npy": (npy()[:-3], "damaged or incomplete NumPy file"),
    "feather": (b"ARROW1\x00\x00" + bytes(100), "Arrow file is damaged or incomplete"),
    "damaged parquet": (b"PAR1" + bytes(100), "Parquet file is damaged or incomplete"),
    "damaged gzip": (b"\x1f\x8b" + bytes(10), "damaged gzip file"),
    "gzip cut short": (packed(CSV)[:-6], "ends too early"),
    "pickle in gzip": (packed(pickle.dumps({"p": [0.5]})), "is a Python pickle"),
    "empty": (b"", "The file is empty"),
    "byte order mark only": (b"\xef\xbb\xbf", "The file is empty"),
    "json without a table": (b'{"config": {"seed": 1}}', "JSON document holds no table"),
    "array in line 2": (b'{"label": 1}\n[2]\n', "Line 2 is a JSON array"),
    "line 2 cut": (b'{"label": 1}\n{"label"\n', "Line 2 is not valid JSON"),
    "key twice": (b'{"p": 1, "p": 2}\n', "Two columns are called p"),
    "key twice later on": (b'{"p": 1}\n{"p": 1, "p": 2}\n', "Two columns are called p"),
    "keys without end": (b"".join(b'{"k%d": 1}\n' % i for i in range(300)), "The first 211 records have more than 210 different keys"),
    "brackets without end": (b"[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_with_one_sentence(data, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        open_tables(data, "f.csv")
    assert str(raised.value).startswith("f.csv")
    assert "\n" not in str(raised.value)


def test_pickles_are_never_opened(monkeypatch):
    monkeypatch.setattr(pickle, "loads", lambda *_: pytest.fail("a pickle was loaded"))
    with pytest.raises(InputError, match="never loaded"):
        open_tables(pickle.dumps(CSV), "scores.pkl")


def test_unpacking_stops_at_the_limit(monkeypatch):
    monkeypatch.setattr(containers, "MAX_UNPACKED", 1 << 20)
    with pytest.raises(InputError, match="unpacks to more than"):
        open_tables(packed(b"a,p\n" + b"1,0.5\n" * 400_000), "big.csv.gz")


def test_gzip_of_several_members_is_one_text():
    (table,) = open_tables(packed(CSV) + packed(b"1,0.5\n"), "a.csv.gz")
    assert (table.n_rows, table.format) == (3, "CSV, gzip")


def test_name_that_promises_something_else_is_noted():
    (table,) = open_tables(CSV, "a.parquet")
    assert table.notes == ("The name says parquet, the content is CSV; it was read by its content.",)


def test_parquet_keeps_its_types_and_loads_columns_when_needed():
    frame = pd.DataFrame({"label": [True, False], "p": np.array([0.1, 0.9], dtype=np.float32), "junk": ["x", "y"]})
    (table,) = open_tables(parquet(frame), "a.parquet")
    assert [c.kind for c in table.columns.values()] == ["flag", "number", "text"]
    (predictions,) = read(parquet(frame))
    assert predictions.probabilities.dtype == np.float32
    assert predictions.classes == ("False", "True")
    # 1 − 0.1 as float32 would be written 0.9
    assert predictions.probabilities[0, 0] == np.float32(0.9)


def test_parquet_without_rows_and_with_repeated_names():
    with pytest.raises(InputError, match="columns but no data rows"):
        open_tables(parquet(pd.DataFrame({"label": [], "p": []})), "a")
    out = io.BytesIO()
    pq.write_table(pa.table([[1], [2]], names=["p", "p"]), out)
    with pytest.raises(InputError, match="Two columns are called p"):
        open_tables(out.getvalue(), "a")


def test_json_lines_with_mixed_types_and_absent_keys():
    data = b'{"label": 1, "p": 0.5, "x": 1}\n\n{"label": "1", "x": "a"}\n'
    (table,) = open_tables(data, "a.jsonl")
    assert {n: c.array.to_pylist() for n, c in table.columns.items()} == {"label": ["1", "1"], "p": [0.5, None], "x": ["1", "a"]}


def test_frames_of_pandas_and_of_the_arrow_stream_are_read():
    frame = pd.DataFrame({"label": [1, 0, 1], "p": [0.75, 0.25, 0.5]})
    for source in (frame, pa.Table.from_pandas(frame)):
        (predictions,) = read(source, name="m")
        assert (predictions.name, predictions.n, predictions.source["sha256"]) == ("m", 3, None)
    mixed = pd.DataFrame({"label": [1, "a", None], "p": [0.75, 0.25, 0.5]})
    assert inspect(mixed).questions or inspect(mixed).problem or inspect(mixed).sentence


def test_frame_without_rows_or_with_repeated_columns():
    with pytest.raises(InputError, match="no rows"):
        read(pd.DataFrame({"label": [], "p": []}))
    with pytest.raises(InputError, match="Two columns are called p"):
        read(pd.DataFrame([[1, 2]], columns=["p", "p"]))


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read(tmp_path / "no.csv")
    with pytest.raises(InputError, match=r"is a folder\. Give its files, or make one profile of them"):
        read(tmp_path)
    with pytest.raises(InputError, match="A int cannot be read"):
        read(3)


def test_file_and_digest_are_kept(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(CSV)
    (one,), (two,) = read(path), read_bytes(CSV, "a.csv")
    assert one.source == two.source
    # sha256sum of the six lines above
    import hashlib

    assert one.source["sha256"] == hashlib.sha256(CSV).hexdigest()
    assert one.name == "a"
