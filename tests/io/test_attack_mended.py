"""What attacks on the readers found: rows within quotes, columns that cost too much, files that lost something in silence."""

import base64
import gzip
import io
import struct
import time
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore.errors import InputError
from calibcore.io import Mapping, arrow_files, headers, inspect, read, read_bytes
from calibcore.io.arrow_files import read_arrow, read_parquet
from calibcore.io.arrow_sizes import unpacked_sizes
from calibcore.io.columns import one_chunk
from calibcore.io.containers import open_tables, path_tables

QUARTERS = (0.25, 0.75, 0.5, 0.125)


def only(source, **said):
    (found,) = read(source, mapping=Mapping(**said))
    return found


def positive(source, **said):
    """P(positive) and whether the label is it."""
    found = only(source, **said)
    return found.probabilities[:, 1].tolist(), found.label.tolist()


def cells(data):
    (table,) = open_tables(data, "x.csv")
    return {n: c.array.to_pylist() for n, c in table.columns.items()}


# --- big texts ------------------------------------------------------------------------------------------------------------


def test_rows_within_a_quote_of_a_big_text_are_found(tmp_path):
    lines = [f"a{i},{i % 2},0.{i % 9 + 1}25" for i in range(400_000)]
    lines[50] = '"b,c",0,0.25'  # the text has quotes from its beginning
    lines[300_000], lines[300_004] = '"a,1,0.5', 'a",1,0.5'
    path = tmp_path / "big.csv"
    path.write_text("id,y,p\n" + "\n".join(lines) + "\n")
    for give in (path_tables, lambda p: open_tables(p.read_bytes(), p.name)):
        with pytest.raises(InputError, match=r"^big.csv: Row 300,001: a quote in column 'id' makes one cell of 5 lines|4 cells|5 cells"):
            give(path)


def test_cells_of_several_lines_stay_in_a_big_text():
    lines = [f"a{i},{i % 2},0.{i % 9 + 1}25" for i in range(400_000)]
    lines[50] = '"b\nc",0,0.25'
    (table,) = open_tables(("id,y,p\n" + "\n".join(lines) + "\n").encode(), "big.csv")
    assert table.n_rows == 400_000


# --- texts ----------------------------------------------------------------------------------------------------------------


def test_decimal_commas_with_an_exponent():
    found = positive(b"y;p\n1;8,4e-05\n0;0,25\n1;5e-01\n0;1,25E-1\n")
    assert found == ([8.4e-05, 0.25, 0.5, 0.125], [1, 0, 1, 0])


@pytest.mark.parametrize("k", [3, 4, 6])
def test_weka_csv_with_a_distribution(k):
    names = [f"{i + 1}:c{i + 1}" for i in range(k)]
    rows = []
    for i, (true, said) in enumerate([(0, 1), (1, 1), (2, 2), (0, 0)]):
        spread = [f"*{0.5}" if j == said else f"{0.5 / (k - 1)!r}" for j in range(k)]
        rows.append(",".join([str(i + 1), names[true], names[said], "+" if true != said else "", *spread]))
    data = "inst#,actual,predicted,error,distribution" + "," * (k - 1) + "\n" + "\n".join(rows) + "\n"
    found = only(data.encode())
    assert found.label.tolist() == [0, 1, 2, 0]
    assert found.probabilities[[0, 1, 2, 3], [1, 1, 2, 0]].tolist() == [0.5] * 4


def test_weka_plain_output_is_a_table():
    text = """=== Predictions on test data ===

 inst#     actual  predicted error distribution
     1      3:cow      2:dog   +   0.25,*0.5,0.25
     2      3:cow      3:cow       0,0.25,*0.75
     3      1:cat      1:cat       *0.875,0.125,0
"""
    found = only(text.encode())
    assert found.classes == ("cat", "dog", "cow") or set(found.classes) == {"cat", "dog", "cow"}
    of = {c: found.probabilities[:, i].tolist() for i, c in enumerate(found.classes)}
    assert of == {"cat": [0.25, 0, 0.875], "dog": [0.5, 0.25, 0.125], "cow": [0.25, 0.75, 0]}
    assert [found.classes[i] for i in found.label] == ["cow", "cow", "cat"]
    assert "Weka's plain output was read as a table." in found.notes


@pytest.mark.parametrize(("mark", "other"), [(",", ";"), (",", "|"), ("\t", ","), ("|", ",")])
def test_separators_within_quotes_are_none(mark, other):
    rows = [("y", "probs"), *((y, f'"{0.25}{other}{0.75}"') for y in (0, 1, 1))]
    found = cells("".join(f"{a}{mark}{b}\n" for a, b in rows).encode())
    assert found == {"y": ["0", "1", "1"], "probs": [f"0.25{other}0.75"] * 3}


def test_quotes_within_cells_hide_no_separator():
    assert cells(b'y,what,p\n1,5" pipe,0.5\n0,6" pipe,0.25\n1,7 pipe,0.75\n')["p"] == ["0.5", "0.25", "0.75"]


@pytest.mark.parametrize("mark", [" ", "\t", ","])
def test_row_names_of_a_subset(mark):
    rows = [("y", "p"), *((f'"{n}"', y, p) for n, y, p in zip((2, 7, 8, 31), (1, 0, 1, 0), QUARTERS, strict=True))]
    found = positive("".join(mark.join(map(str, row)) + "\n" for row in rows).encode())
    assert found == (list(QUARTERS), [1, 0, 1, 0])


@pytest.mark.parametrize(
    "rows",
    ["1,0,84\n0,0,31\n1,0,5\n0,0,7\n", "31,0,84\n45,0,31\n62,0,9\n70,0,8\n", "31,0.5,\n45,0.25,\n62,0.75,\n70,0.5,\n"],
)
def test_commas_of_decimals_or_at_the_ends_make_no_row_names(rows):
    try:
        found = cells(b"age,p\n" + rows.encode())
    except InputError:
        return
    assert list(found) == ["age", "p"]


@pytest.mark.parametrize(
    ("data", "names", "n"),
    [
        (b",y\na7,1\nb2,0\n", ["", "y"], 2),
        (b",y\nimg_1,cat\nimg_2,dog\n", ["", "y"], 2),
        (b",y\na7,cat\nb2,dog\nc5,cat\n", ["", "y"], 3),
        (b",Predictions\nid,p\na7,0.5\nb2,0.25\n", ["id", "p"], 2),  # a title over the second column
    ],
)
def test_index_of_texts_and_one_column(data, names, n):
    found = cells(data)
    assert list(found) == names
    assert {len(c) for c in found.values()} == {n}


# --- data frames ----------------------------------------------------------------------------------------------------------


def test_index_of_a_data_frame_joins_labels_in_another_order():
    predictions = pd.DataFrame({"p": QUARTERS}, index=["a", "b", "c", "d"])
    labels = pd.DataFrame({"y": [0, 1, 1, 1]}, index=["d", "c", "b", "a"])
    (found,) = read(predictions, labels=labels)
    assert found.label.tolist() == [1, 1, 1, 0]  # a, b, c, d


def test_numbers_in_the_index_of_a_data_frame_may_join_labels():
    predictions = pd.DataFrame({"p": QUARTERS}, index=[4, 7, 2, 9])
    labels = pd.DataFrame({"y": [0, 1, 1, 1]}, index=[9, 2, 7, 4])
    (found,) = read(predictions, labels=labels, mapping=Mapping(pair="row-numbers"))
    assert found.label.tolist() == [1, 1, 1, 0]


def test_index_without_a_name_is_ignored_as_it_is_in_a_csv_file():
    frame = pd.DataFrame({"y": [0, 1, 1, 0], "p": QUARTERS}, index=[4, 7, 2, 9])
    assert only(frame).notes == only(frame.to_csv().encode()).notes
    assert positive(frame) == (list(QUARTERS), [0, 1, 1, 0])


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (None, ["y", "p"]),
        (pd.RangeIndex(4), ["y", "p"]),
        (pd.RangeIndex(3, -1, -1), ["", "y", "p"]),
        (pd.Index([5, 2, 9, 1]), ["", "y", "p"]),
        (pd.Index([5, 2, 9, 1], name="case"), ["case", "y", "p"]),
        (pd.RangeIndex(4, name="case"), ["case", "y", "p"]),
        (pd.Index([5, 2, 9, 1], name="p"), ["y", "p"]),
        (pd.MultiIndex.from_arrays([[1, 1, 2, 2], [1, 2, 1, 2]], names=["a", None]), ["a", "", "y", "p"]),
        (pd.MultiIndex.from_arrays([[1, 1, 2, 2], [1, 2, 1, 2]]), ["", "level_1", "y", "p"]),
    ],
)
def test_columns_of_a_data_frame_with_an_index(index, expected):
    frame = pd.DataFrame({"y": [0, 1, 1, 0], "p": QUARTERS})
    frame = frame if index is None else frame.set_axis(index, axis=0)
    before = frame.copy()
    (table,) = read_tables(frame)
    assert list(table.columns) == expected
    pd.testing.assert_frame_equal(frame, before)


def read_tables(frame):
    from calibcore.io.containers import frame_tables

    return frame_tables(frame, "x")


# --- many columns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["prob_c{}", "M (c{})", "c{}"])
def test_thousands_of_classes_take_seconds(name):
    k, n = 2000, 12
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(k), size=n)
    label = [f"c{v}" for v in rng.integers(0, k, n)]
    frame = pd.DataFrame(p, columns=[name.format(i) for i in range(k)])
    first = {"label": label, **({"M": [f"c{v}" for v in p.argmax(axis=1)]} if name.startswith("M") else {})}
    frame = pd.concat([pd.DataFrame(first), frame], axis=1)
    start = time.process_time()
    found = only(frame.to_csv(index=False).encode())
    assert time.process_time() - start < 9  # it was minutes
    assert len(found.classes) == k


@pytest.mark.parametrize("kind", ["parquet", "arrow", "json"])
def test_columns_have_a_limit_in_every_format(kind, monkeypatch):
    monkeypatch.setattr(headers, "_MAX_COLUMNS", 200)
    arrow = pa.table({f"c{i}": [1.0] for i in range(201)})
    out = io.BytesIO()
    if kind == "parquet":
        pq.write_table(arrow, out)
    elif kind == "arrow":
        with pa.ipc.new_file(out, arrow.schema) as writer:
            writer.write_table(arrow)
    else:
        out.write(("[{" + ", ".join(f'"c{i}": 1.5' for i in range(201)) + "}]").encode())
    with pytest.raises(InputError, match=r"201 columns; at most 200 are read\. Is it transposed\?"):
        open_tables(out.getvalue(), "x")


# --- packed files ---------------------------------------------------------------------------------------------------------


def test_bytes_after_a_gzip_stream_are_no_secret():
    packed = gzip.compress(b"y,p\n1,0.75\n0,0.25\n")
    more = gzip.compress(b"1,0.5\n")
    assert len(cells(packed + more)["p"]) == 3
    assert len(cells(packed + b"\0" * 100)["p"]) == 2  # padding
    for rest in (b"1,0.5\n", b"\0\0" + more, more[:1]):
        with pytest.raises(InputError, match="damaged gzip file"):
            cells(packed + rest)


def test_what_an_archive_passed_over_is_said_with_the_error():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("p.csv", "id,p\n" + "".join(f"a{i},0.{i + 1}\n" for i in range(8)))
        z.writestr("y.csv", "")
    with pytest.raises(InputError, match=r"Passed over in the archive, since no tables: y\.csv\."):
        read_bytes(out.getvalue(), "run.zip")


# --- Parquet and Arrow ----------------------------------------------------------------------------------------------------


class _Keys:
    """Keys that wrap themselves."""

    @staticmethod
    def client(encryption):
        class Client(encryption.KmsClient):
            def wrap_key(self, key, _):
                return base64.b64encode(key)

            def unwrap_key(self, key, _):
                return base64.b64decode(key)

        return Client()


def test_encrypted_column_under_a_plain_footer(tmp_path):
    encryption = pytest.importorskip("pyarrow.parquet.encryption")
    factory = encryption.CryptoFactory(lambda _: _Keys.client(encryption))
    told = encryption.EncryptionConfiguration(footer_key="a", column_keys={"b": ["p"]}, plaintext_footer=True)
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), told)
    arrow, path = pa.table({"y": [0, 1] * 20, "p": [0.25, 0.75] * 20, "note": ["a", "b"] * 20}), tmp_path / "e.parquet"
    with pq.ParquetWriter(path, arrow.schema, encryption_properties=properties) as writer:
        writer.write_table(arrow)
    heard = []
    for progress in (None, heard.append):
        with pytest.raises(InputError, match=r"Column 'p' of this Parquet file is encrypted\. Save it again without encryption\."):
            read(path, progress=progress)


@pytest.mark.parametrize("nested", ["list", "record", "map"])
def test_lists_of_long_words_are_bounded(nested):
    word = "w" * 10_000
    value = {"list": [word], "record": {"w": word}, "map": [(word, word)]}[nested]
    kind = {"list": pa.list_(pa.string()), "record": pa.struct([("w", pa.string())]), "map": pa.map_(pa.string(), pa.string())}[nested]
    arrow = pa.table({"l": pa.array([value] * 2000, kind), "y": [0, 1] * 1000})
    out = io.BytesIO()
    pq.write_table(arrow, out)
    assert len(out.getvalue()) < 100_000
    table = read_parquet(out.getvalue(), "x", 10_000_000)
    with pytest.raises(InputError, match="Column 'l' unpacks to 0 GB; the limit is 0 GB"):
        table.column("l").array  # noqa: B018 - loads it
    assert table.column("y").array.to_pylist() == [0, 1] * 1000
    assert len(read_parquet(out.getvalue(), "x", 100_000_000).column("l").array) == 2000


def _arrow(arrow, *, is_file, packed):
    out = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=packed)
    with (pa.ipc.new_file if is_file else pa.ipc.new_stream)(out, arrow.schema, options=options) as writer:
        writer.write_table(arrow, max_chunksize=50_000)
    return out.getvalue()


@pytest.mark.parametrize("packed", [None, "zstd", "lz4"])
@pytest.mark.parametrize("is_file", [True, False])
def test_arrow_batches_say_what_they_unpack_to(is_file, packed):
    words = pa.array(["abc", "de"] * 50_000).dictionary_encode()  # 3 offsets of 4 bytes, 5 letters, 4 bytes a row
    arrow = pa.table({"y": pa.array([0, 1] * 50_000, pa.int64()), "p": [0.25] * 100_000, "w": words})
    sizes = [n for n in unpacked_sizes(_arrow(arrow, is_file=is_file, packed=packed), is_file=is_file) if n > 1000]
    assert sizes == ([2 * 20 * 25_000] * 2 if packed else [])  # 8 + 8 + 4 bytes a row, 50,000 rows a batch


@pytest.mark.parametrize("is_file", [True, False])
def test_huge_arrow_batch_is_refused_before_it_is_unpacked(is_file, monkeypatch):
    data = _arrow(pa.table({"y": [0, 1] * 50_000, "p": [0.25] * 100_000}), is_file=is_file, packed="zstd")
    assert read_arrow(data, "x", 2_000_000).n_rows == 100_000
    monkeypatch.setattr(arrow_files, "check_words", None)  # nothing is unpacked that far
    with pytest.raises(InputError, match=r"The file unpacks to 0 GB; the limit is 0 GB\. Keep only the columns needed\."):
        read_arrow(data, "x", 1_500_000)


@pytest.mark.parametrize("is_file", [True, False])
def test_damaged_arrow_files_say_nothing_of_their_size(is_file):
    data = _arrow(pa.table({"y": [0, 1] * 500, "p": [0.25] * 1000}), is_file=is_file, packed="zstd")
    for end in range(0, len(data), 7):
        assert sum(unpacked_sizes(data[:end], is_file=is_file)) <= 16_100
        for bad in (0, 0x7F, 0xFF):
            assert sum(1 for _ in unpacked_sizes(data[:end] + bytes([bad]) + data[end + 1 :], is_file=is_file)) < 100
    assert list(unpacked_sizes(struct.pack("<iI", -1, 0x7FFFFFFF), is_file=is_file)) == []


def test_arrow_dictionary_of_long_words_is_bounded():
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 2000, pa.int32()), ["w" * 10_000])
    data = _arrow(pa.table({"w": words, "p": [0.5] * 2000}), is_file=True, packed=None)
    with pytest.raises(InputError, match="Column 'w' unpacks to"):
        read_arrow(data, "x", 10_000_000)


def test_dictionaries_of_views_are_read():
    words = pa.array(["cat", "dog", "cat"], pa.string_view())
    enum = pa.DictionaryArray.from_arrays(pa.array([1, 0, 2, None], pa.uint8()), words)
    assert one_chunk(enum).to_pylist() == ["dog", "cat", "cat", None]
    arrow = pa.table({"y": pa.DictionaryArray.from_arrays(pa.array([0, 1] * 20, pa.uint8()), words[:2]), "p": [0.25, 0.75] * 20})
    found = positive(_arrow(arrow, is_file=True, packed=None), positive="dog")
    assert found == ([0.25, 0.75] * 20, [0, 1] * 20)


# --- arrays and workbooks -------------------------------------------------------------------------------------------------


def test_arrays_of_unequal_length_have_no_first_line():
    out, other = io.BytesIO(), io.BytesIO()
    np.savez(out, probs=np.linspace(0.1, 0.9, 9))
    np.savez(other, labels=np.array([0, 1] * 5))
    with pytest.raises(InputError) as raised:
        read_bytes([("p.npz", out.getvalue()), ("y.npz", other.getvalue())], "p.npz")
    assert "9 rows and y.npz 10" in str(raised.value)
    assert "first line" not in str(raised.value)


def test_first_line_of_a_text_is_doubted():
    files = [("p.csv", b"p\n0.25\n0.75\n0.5\n"), ("y.csv", b"y\n0\n1\n1\n0\n")]
    with pytest.raises(InputError, match=r"The first line of p\.csv \('p'\) was read as its header"):
        read_bytes(files, "p.csv")


PRED = [["id", "y", "p"], *([f"a{i}", i % 2, QUARTERS[i % 3]] for i in range(40))]
PARAMS = [
    [["key", "value"], ["seed", 42], ["rate", 0.01], ["epochs", 10]],
    [["seed", 42], ["rate", 0.1]],
    [["key", "value"], ["model", "trees"], ["seed", 3]],
]
SUMMARIES = [
    [["metric", "value"], ["AUC", 0.81], ["Brier", 0.18]],
    [["n", "accuracy"], [40, 0.8]],
    [["class", "count", "share"], [0, 20, 0.5], [1, 20, 0.5]],
]


def _tables(**tables):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, rows in tables.items():
            z.writestr(f"{name}.csv", "".join(",".join(map(str, row)) + "\n" for row in rows))
    return out.getvalue()


@pytest.mark.parametrize(("params", "summary"), list(zip(PARAMS, SUMMARIES, strict=True)))
def test_settings_and_summaries_beside_a_complete_table(params, summary):
    data = _tables(Params=params, Pred=PRED, Summary=summary)
    found = only(data)
    assert found.label.tolist() == [0, 1] * 20
    note = "Passed over in the archive, since small tables beside a complete one: Params.csv and Summary.csv."
    assert note in found.notes
    assert inspect(data).problem is None


def test_tables_that_belong_together_are_no_asides():
    more = [["id", "p"], *([f"b{i}", QUARTERS[i % 3]] for i in range(10))]
    labels = [["id", "y"], *([f"b{i}", i % 2] for i in range(10))]
    found = read(_tables(Pred=PRED, More=more, MoreLabels=labels))
    assert sorted(p.n for p in found) == [10, 40]
    own = [["id", "y", "p"], *PRED[1:6]]
    assert sorted(p.n for p in read(_tables(Pred=PRED, Own=own))) == [5, 40]
