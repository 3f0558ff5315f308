"""NumPy, Arrow and Feather files: columns by name or position, nothing unpickled, sizes checked before memory is taken."""

import io
import pickle
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect_bytes, read_bytes
from calibcore.io.containers import open_tables

PROBS = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.125, 0.75], [0.5, 0.25, 0.25]])
LABELS = np.array([0, 1, 2, 1])
LOGITS = np.array([[0.0, 2.0, -1.0], [3.0, 0.0, 0.0], [0.5, 0.0, -4.0], [1.0, 1.0, 1.0]])


def npz(save=np.savez, **arrays):
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


def npy(array, **options):
    out = io.BytesIO()
    np.save(out, array, **options)
    return out.getvalue()


def cells(data):
    (table,) = open_tables(data, "f")
    return {n: c.array.to_pylist() for n, c in table.columns.items()}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("names", [("probs", "labels"), ("y_prob", "y_true"), ("pred_probs", "targets")])
def test_probabilities_beside_labels_are_read(save, names):
    (predictions,) = read_bytes(npz(save, **dict(zip(names, (PROBS, LABELS), strict=True))), "test.npz")
    assert predictions.probabilities.tolist() == PROBS.tolist()
    assert predictions.classes == ("0", "1", "2")
    assert predictions.label.tolist() == LABELS.tolist()


def test_logits_beside_a_column_of_labels_are_read_by_softmax():
    (predictions,) = read_bytes(npz(logits=LOGITS.astype(np.float32), labels=LABELS.reshape(-1, 1)), "f.npz")
    expected = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
    assert predictions.probabilities == pytest.approx(expected, abs=1e-6)


def test_binary_arrays():
    (predictions,) = read_bytes(npz(y_true=np.array([True, False, True]), y_prob=np.array([0.75, 0.25, 0.5], np.float32)), "f")
    assert predictions.probabilities.tolist() == [[0.25, 0.75], [0.75, 0.25], [0.5, 0.5]]


def test_names_of_the_classes_beside_the_matrix_give_their_order():
    names = np.array(["fox", "cat", "dog"])
    (predictions,) = read_bytes(npz(probs=PROBS, labels=names[LABELS], classes=names), "f")
    assert predictions.classes == ("cat", "dog", "fox")
    assert predictions.probabilities.tolist() == PROBS[:, [1, 2, 0]].tolist()


def test_text_labels_without_names_of_classes_ask_for_the_order():
    data = npz(probs=PROBS, labels=np.array(["cat", "dog", "fox"])[LABELS])
    with pytest.raises(AmbiguousLayout) as raised:
        read_bytes(data, "f")
    assert [q.id for q in raised.value.questions] == ["classes"]
    (predictions,) = read_bytes(data, "f", Mapping(classes=("cat", "dog", "fox")))
    assert predictions.probabilities.tolist() == PROBS.tolist()


def test_arrays_of_other_lengths_and_shapes_are_left_out_with_notes():
    (table,) = open_tables(npz(probs=PROBS, labels=LABELS, losses=np.zeros(9), epoch=3, pictures=np.zeros((4, 2, 2))), "f")
    assert list(table.columns) == ["probs", "labels"]
    assert table.notes == (
        "Array 'losses' in the NumPy archive was not used: it has 9 rows, unlike the others.",
        "Arrays of other shapes were not used: epoch and pictures.",
    )


def test_parts_of_a_data_set_are_tables_of_their_own():
    tables = open_tables(npz(val_probs=PROBS, val_labels=LABELS, test_probs=PROBS[:3], test_labels=LABELS[:3]), "f.npz")
    assert [(t.name, t.n_rows) for t in tables] == [("f.npz/val_probs + val_labels", 4), ("f.npz/test_probs + test_labels", 3)]


def test_lone_arrays_are_named_by_position():
    (table,) = open_tables(npy(PROBS), "logits.npy")
    assert (list(table.columns), table.n_rows, table.headless, table.format) == (["0", "1", "2"], 4, True, "NumPy array")
    assert cells(npy(LABELS)) == {"column 1": [0, 1, 2, 1]}
    assert cells(npy(LABELS.reshape(4, 1))) == cells(npy(LABELS.reshape(4, 1, 1))) == cells(npy(LABELS))
    with pytest.raises(InputError, match="no column of labels"):
        read_bytes(npy(PROBS), "logits.npy")


def test_structured_arrays_have_the_names_of_their_fields():
    kind = [("label", "U5"), ("p", ">f4"), ("raw", "S2"), ("vec", "f8", (2,)), ("more", [("day", "M8[D]"), ("ok", "?")])]
    rows = [("cat", 0.25, b"a", (0.5, 0.5), ("2024-02-29", True)), ("dog", 0.75, b"b", (0.25, 0.75), ("2024-03-01", False))]
    found = cells(npy(np.array(rows, dtype=kind)))
    assert {n: v for n, v in found.items() if n != "more.day"} == {
        "label": ["cat", "dog"],
        "p": [0.25, 0.75],
        "raw": ["a", "b"],
        "vec": [[0.5, 0.5], [0.25, 0.75]],
        "more.ok": [True, False],
    }
    assert [str(v)[:10] for v in found["more.day"]] == ["2024-02-29", "2024-03-01"]


@pytest.mark.parametrize("kind", ["<f2", ">f8", "<i1", ">u4", "g"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_kind_of_number_and_order_of_memory(kind, order):
    array = np.array([[1, 2], [3, 4], [5, 6]], dtype=kind, order=order)
    assert cells(npy(array)) == {"0": [1, 3, 5], "1": [2, 4, 6]}


def header(text, body=b"", *, version=b"\x01\x00"):
    text = text.encode()
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + body


OBJECTS = np.array([{"a": 1}, None], dtype=object)
REFUSED = {
    "objects": (npy(OBJECTS, allow_pickle=True), "holds Python objects, a pickle, which can run code when opened, so it is never loaded"),
    "objects in an archive": (npz(p=OBJECTS), "Array 'p' holds Python objects"),
    "object field": (npy(np.array([(1, "a")], dtype=[("a", int), ("b", object)]), allow_pickle=True), "holds Python objects"),
    "pictures": (npy(np.zeros((2, 3, 4))), "no matrix with a row a case"),
    "single number": (npz(epoch=3), "no column of values"),
    "complex numbers": (npy(np.zeros(3, dtype=complex)), "no column of values"),
    "empty": (npy(np.zeros((0, 3))), "is empty"),
    "cut": (npy(PROBS)[:-1], "damaged or incomplete NumPy file"),
    "promises more than it holds": (
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99)}\n"),
        "damaged or incomplete",
    ),
    "negative": (header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}\n", bytes(8)), "damaged|no column|empty"),
    "no header": (header("__import__('os').system('true')"), "damaged NumPy file"),
    "header without end": (header("{'descr': ("), "damaged NumPy file"),
    "unknown version": (header("{}", version=b"\x09\x09"), "damaged NumPy file"),
    "transposed": (npy(np.zeros((2, 30_000))), "30,000 columns; at most 20,000 are read. Is it transposed"),
    "letters that are none": (npy(np.array([0x7FFFFFFF], dtype="<u4")).replace(b"<u4", b"<U1"), "texts are damaged"),
}


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_with_one_sentence(data, sentence, monkeypatch):
    monkeypatch.setattr(pickle, "load", lambda *_, **__: pytest.fail("a pickle was loaded"))
    with pytest.raises(InputError, match=sentence) as raised:
        open_tables(data, "f.npy")
    assert str(raised.value).startswith("f.npy")


def test_packed_arrays_are_counted_while_they_are_unpacked(monkeypatch):
    from calibcore.io import containers

    monkeypatch.setattr(containers, "MAX_UNPACKED", 1 << 20)
    with pytest.raises(InputError, match="unpacks to more than 1 MB"):
        open_tables(npz(np.savez_compressed, p=np.zeros(1 << 18)), "f.npz")


def test_torch_files_are_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("archive/data.pkl", b"\x80\x02.")
        z.writestr("archive/data/0", bytes(40))
    with pytest.raises(InputError, match=r"PyTorch file .torch.save., which holds a pickle.*numpy.savez"):
        open_tables(out.getvalue(), "logits.pt")


@given(st.permutations(range(4)))
def test_order_of_rows_does_not_matter(order):
    order = list(order)
    (whole,) = read_bytes(npz(probs=PROBS, labels=LABELS), "f")
    (mixed,) = read_bytes(npz(probs=PROBS[order], labels=LABELS[order]), "f")
    assert mixed.probabilities.tolist() == whole.probabilities[order].tolist()
    assert mixed.label.tolist() == whole.label[order].tolist()


# --- Arrow ----------------------------------------------------------------------------------------------------------------

ARROW = pa.table(
    {"label": pa.array(["b", "a", "b"]).dictionary_encode(), "P(b)": pa.array([0.75, 0.25, 0.5], pa.float32()), "n": [1, 2, 3]}
)


def arrow_file(**options):
    out = io.BytesIO()
    feather.write_feather(ARROW, out, **options)
    return out.getvalue()


def arrow_stream():
    out = io.BytesIO()
    with pa.ipc.new_stream(out, ARROW.schema) as writer:
        writer.write_table(ARROW, max_chunksize=2)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (arrow_file(compression="uncompressed"), "Arrow file (Feather)"),
        (arrow_file(compression="lz4"), "Arrow file (Feather)"),
        (arrow_file(compression="zstd", chunksize=2), "Arrow file (Feather)"),
        (arrow_stream(), "Arrow stream"),
    ],
)
def test_arrow_files_and_streams(data, kind):
    layout = inspect_bytes(data, "f", Mapping(positive="b"))
    assert (layout.format, layout.n_rows) == (kind, 3)
    (predictions,) = read_bytes(data, "f", Mapping(positive="b"))
    assert predictions.probabilities[:, 1].tolist() == [0.75, 0.25, 0.5]


def test_old_feather_and_damaged_arrow_files_are_refused():
    with pytest.raises(InputError, match=r"Feather file of version 1, which is not read.*to_parquet"):
        open_tables(b"FEA1" + bytes(100) + b"FEA1", "f.feather")
    for data in (arrow_file()[:-40], arrow_stream()[:100], b"ARROW1\x00\x00" + bytes(50)):
        with pytest.raises(InputError, match="Arrow file is damaged or incomplete"):
            open_tables(data, "f.feather")
