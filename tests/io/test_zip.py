"""Zip archives: every table is read by its content, what is no table is passed over visibly, and nothing grows without a limit."""

import gzip
import io
import pickle
import struct
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.analysis import Settings, analyze
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, archives, belonging, containers, inspect, inspect_bytes, read, read_bytes

CASES = Path(__file__).parent.parent / "data" / "cases"
CSV = b"label,p\n1,0.75\n0,0.25\n1,0.5\n"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)


def packed(members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in members.items():
            z.writestr(name, data)
    return out.getvalue()


def ece(predictions):
    return analyze(predictions, Settings(n_bins=5, view="positive")).to_dict()["ece"]


def test_hidden_files_of_an_operating_system_are_no_tables():
    (predictions,) = read(CASES / "F11a_mac.zip")
    assert ece(predictions) == pytest.approx(79 / 600, abs=1e-12)  # the case's exact value
    assert (predictions.name, predictions.source["file"]) == ("predictions", "F11a_mac.zip/predictions.csv")
    assert not predictions.notes


def test_each_table_is_a_model():
    models = read(CASES / "F11b_two_models.zip")
    assert [m.name for m in models] == ["model_a", "model_b"]
    assert all("The archive F11b_two_models.zip holds 2 tables: model_a.csv and model_b.csv." in m.notes for m in models)
    layout = inspect(CASES / "F11b_two_models.zip")
    assert (layout.models, layout.format, layout.questions) == (2, "CSV, zip", ())


def test_members_are_told_apart_by_content():
    parquet = io.BytesIO()
    pd.DataFrame({"label": [1, 0, 1], "p": [0.75, 0.25, 0.5]}).to_parquet(parquet)
    lines = b'{"label": 1, "p": 0.75}\n{"label": 0, "p": 0.25}\n{"label": 1, "p": 0.5}\n'
    members = {"a.bin": CSV, "b": parquet.getvalue(), "c.dat": lines, "d.csv.gz": gzip.compress(CSV)}
    found = read_bytes(packed(members), "all.zip")
    assert [p.probabilities.tolist() for p in found] == [[[0.25, 0.75], [0.75, 0.25], [0.5, 0.5]]] * 4
    assert [p.name for p in found] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("README.txt", b"These are predictions, as agreed.\n\nSee the paper.\n"),
        ("README.md", b"|label|p|\n|---|---|\n|1|0.5|\n"),
        ("plot.png", PNG),
        ("picture", PNG),
        ("model.pkl", pickle.dumps([1])),
        ("empty.csv", b""),
        ("classes.txt", b"cat\ndog\n"),
        ("train.py", b"a, b = 1, 2\nc, d = 3, 4\n"),
    ],
)
def test_what_is_no_table_is_passed_over_with_a_note(name, data):
    (predictions,) = read_bytes(packed({name: data, "p.csv": CSV}), "a.zip")
    assert predictions.notes == (f"Passed over in the archive, since no tables: {name}.",)


def test_a_table_without_predictions_is_passed_over_with_a_note():
    (predictions,) = read_bytes(
        packed({"settings.csv": b"name,text\na,first words\nb,second words\nc,third words\n", "p.csv": CSV}), "a.zip"
    )
    assert predictions.notes[-1] == "Passed over in the archive, since without predictions: a.zip/settings.csv."
    assert inspect_bytes(packed({"s.csv": b"name,text\na,b c\nb,c d\n", "p.csv": CSV}), "a.zip").layout


def test_folders_name_the_models_of_files_with_one_name():
    found = read_bytes(packed({"gbm/": b"", "gbm/pred.csv": CSV, "svm/pred.csv": CSV}), "a.zip")
    assert [p.name for p in found] == ["gbm pred", "svm pred"]


REFUSED = {
    "damaged table": ({"a.csv": CSV, "b.csv": b"label,p\n1,0.5\n1\n"}, r"a\.zip/b\.csv: Row 2 has 1 cell"),
    "table that is not read": ({"a.csv": CSV, "b.npy": b"\x93NUMPY" + bytes(20)}, r"a\.zip/b\.npy: The array is a damaged NumPy file"),
    "predictions and labels": (
        {"p.csv": b"id,p\na,0.5\nb,0.25\n", "y.csv": b"id,label\na,1\na,0\n"},
        r"a\.zip/y\.csv: 'a' is 2 times in column 'id'",
    ),
    "predictions alone": ({"p.csv": CSV, "q.csv": b"id,p\na,0.5\nb,0.25\n"}, r"a\.zip/q\.csv: .*no column of labels"),
    "archive in an archive": ({"a.csv": CSV, "b.zip": packed({"c.csv": CSV})}, r"a\.zip/b\.zip: This is an archive inside another"),
    "workbook in an archive": ({"a.csv": CSV, "b": packed({"xl/workbook.xml": "x"})}, r"a\.zip/b: This workbook is damaged"),
    "no table": ({"a.md": b"x", "b.png": PNG}, r"The archive holds no table; it holds a\.md and b\.png"),
    "no files": ({"a/": b""}, "The archive holds no files"),
    "values": ({"a.csv": CSV, "b.csv": b"label,p\n1,0.5\n0,1.2\n"}, r"a\.zip/b\.csv: .*1\.2"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refused_in_one_sentence_with_the_member(kind):
    members, sentence = REFUSED[kind]
    with pytest.raises(InputError, match=sentence) as raised:
        read_bytes(packed(members), "a.zip")
    assert str(raised.value).startswith("a.zip")


def test_other_files_that_are_zip_archives_are_called_by_their_name():
    ods = packed({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "x"}, zipfile.ZIP_STORED)
    for data, sentence in [
        (ods, "This workbook is damaged"),
        (packed({"a.npy": "x", "b.npy": "y"}), "Array 'a' is a damaged NumPy file"),
        (packed({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "x"}, zipfile.ZIP_STORED), "OpenDocument text"),
        (packed({"word/a": "x"}), "Word"),
    ]:
        with pytest.raises(InputError, match=sentence):
            read_bytes(data, "a")
    (predictions,) = read_bytes(packed({"results/model_xl/p.csv": CSV}), "a")  # "xl/" in a folder's name makes no workbook
    assert predictions.n == 3


def test_questions_carry_the_member():
    with pytest.raises(AmbiguousLayout, match=r"^a\.zip/b\.csv: ") as raised:
        read_bytes(packed({"a.csv": CSV, "b.csv": b"label,p\ngood,0.75\npoor,0.25\n"}), "a.zip")
    assert raised.value.questions[0].id == "positive"
    layout = inspect_bytes(packed({"a.csv": CSV, "b.csv": b"label,p\ngood,0.75\npoor,0.25\n"}), "a.zip")
    assert (layout.file, layout.questions[0].id) == ("a.zip/b.csv", "positive")


def test_bytes_are_counted_while_they_are_unpacked(monkeypatch):
    monkeypatch.setattr(containers, "MAX_UNPACKED", 1 << 20)
    big = b"label,p\n" + b"1,0.5\n" * 90_000
    assert read_bytes(packed({"a.csv": big}), "a.zip")[0].n == 90_000
    for members in ({"a.csv": big * 2}, {"a.csv": big, "b.csv": big}, {"a.csv": big, "b.csv.gz": gzip.compress(big * 3)}):
        with pytest.raises(InputError, match="unpacks to more than"):
            read_bytes(packed(members), "a.zip")


def test_a_ratio_that_no_table_has_is_refused(monkeypatch):
    monkeypatch.setattr(archives, "_HARMLESS", 1 << 20)
    with pytest.raises(InputError, match="more than 200 times its size"):
        read_bytes(packed({"a.csv": bytes(4 << 20)}), "a.zip")


def test_a_size_that_the_header_lies_about_is_not_believed(monkeypatch):
    monkeypatch.setattr(containers, "MAX_UNPACKED", 1 << 16)
    data = bytearray(packed({"a.csv": b"label,p\n" + b"1,0.5\n" * 50_000}))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 100)  # "100 bytes when unpacked"
    with pytest.raises(InputError):
        read_bytes(bytes(data), "a.zip")


def test_encrypted_members_and_other_methods_are_refused():
    data = bytearray(packed({"a.csv": CSV}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(InputError, match=r"a\.csv in this archive is encrypted"):
        read_bytes(bytes(data), "a.zip")
    with pytest.raises(InputError, match="packed in a way that is not read"):
        read_bytes(packed({"a.csv": CSV}, zipfile.ZIP_LZMA), "a.zip")


def test_names_of_members_are_never_paths():
    (predictions,) = read_bytes(packed({"../../etc/pre\ndictions.csv": CSV}), "a.zip")
    assert predictions.name == "pre?dictions"
    assert "\n" not in predictions.source["file"]


def test_an_archive_in_gzip_and_too_many_members():
    with pytest.raises(InputError, match="archive inside another"):
        read_bytes(gzip.compress(packed({"a.csv": CSV})), "a.zip.gz")
    with pytest.raises(InputError, match="1,001 files"):
        read_bytes(packed({f"{i}.csv": b"x" for i in range(1001)}), "a.zip")


def test_a_mapping_holds_for_every_table():
    found = read_bytes(
        packed({"a.csv": b"q,z\n1,0.5\n0,0.25\n", "b.csv": b"q,z\n1,0.75\n0,0.5\n"}), "a.zip", Mapping(label="q", probabilities="z")
    )
    assert [p.probabilities[0, 1] for p in found] == [0.5, 0.75]


@given(st.integers(0, 400), st.integers(0, 255))
def test_a_damaged_archive_is_read_or_refused(at, value):
    data = bytearray(packed({"a.csv": CSV, "b.csv": CSV}))
    data[at % len(data)] = value
    try:
        read_bytes(bytes(data), "a.zip")
    except InputError as error:
        assert "Traceback" not in str(error)  # noqa: PT017


def _half(header, *columns):
    return (header + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n").encode()


def test_labels_beside_an_archive_of_predictions_are_joined_as_beside_loose_files():
    p, y = [0.125, 0.25, 0.75, 0.5], [0, 0, 1, 1]
    one, two = _half("id,prob", "abcd", p), _half("id,prob", "abcd", p[::-1])
    labels, whole = ("y.csv", _half("id,label", "dcba", y[::-1])), ("w.csv", _half("label,prob", y, p))
    pair = ("m.zip", packed({"one.csv": one, "two.csv": two}))
    assert belonging([pair, labels]) == [(0, 1)]
    assert belonging([labels, whole, pair]) == [(1,), (2, 0)]
    assert belonging([("one.zip", packed({"one.csv": one})), labels]) == [(0, 1)]
    assert belonging([("one.csv", one), ("y.zip", packed({"y.csv": labels[1]}))]) == [(0, 1)]
    assert belonging([pair, ("one.csv", one), labels]) == [(0, 2), (1, 2)]
    # an archive that holds its own labels, or complete tables, needs no others
    assert belonging([("m.zip", packed({"one.csv": one, "y.csv": labels[1]})), labels]) == [(0,), (1,)]
    assert belonging([("m.zip", packed({"w.csv": whole[1], "v.csv": whole[1]})), whole]) == [(0,), (1,)]
    found = read_bytes([pair, labels], "m.zip + y.csv")
    assert [f.probabilities[:, 1].tolist() for f in found] == [p, p[::-1]]
    assert [f.label.tolist() for f in found] == [y, y]
