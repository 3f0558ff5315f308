"""Whatever the bytes, the answer is a reading, a question or a sentence."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect_bytes, read, read_bytes

NAMES = st.sampled_from(
    [
        "label",
        "y",
        "p",
        "prob",
        "p_0",
        "p_1",
        "p_a",
        "p_b",
        "confidence",
        "predicted",
        "correct",
        "model",
        "id",
        "weight",
        "",
        "x",
        "0",
        "1",
        "a",
        "b",
    ]
)
CELLS = st.sampled_from(
    ["0", "1", "a", "b", "0.5", "0.25", "", "NA", "1.2", "-3", "50%", "x y", "true", "no", "1e400", "[0.5, 0.5]", "nan", "inf", "é"]
)


def outcome(call):
    """What a call gives, or the question or refusal that it raises; anything else fails the test."""
    try:
        return call()
    except InputError as error:
        return error


def answer(data):
    """A file is read, asks, or is refused in a sentence."""
    found = outcome(lambda: read_bytes(data, "f"))
    if isinstance(found, AmbiguousLayout):
        assert found.questions
    if isinstance(found, InputError):
        assert str(found)
        assert "Traceback" not in str(found)
    else:
        assert all(p.n > 0 and np.isfinite(p.confidence).all() for p in found)
    layout = outcome(lambda: inspect_bytes(data, "f"))
    assert isinstance(layout, InputError) or layout.to_dict()


@given(
    st.sampled_from([b"PAR1", b"\x1f\x8b", b"{", b"[{", b"\xff\xfe", b"\xef\xbb\xbf", b"PK\x03\x04", b"\x80\x04"]), st.binary(max_size=60)
)
def test_bytes_that_begin_like_a_container(start, rest):
    answer(start + rest)


@given(st.text(max_size=200))
def test_arbitrary_text(text):
    answer(text.encode("utf-8", "replace"))


@settings(max_examples=40)
@given(st.data(), st.lists(NAMES, min_size=1, max_size=6, unique=True))
def test_parquet_of_odd_types(data, header):
    kinds = {
        "float": st.floats(width=32) | st.none(),
        "int": st.integers(-5, 5) | st.none(),
        "bool": st.booleans() | st.none(),
        "text": CELLS | st.none(),
        "list": st.lists(st.floats(0, 1), max_size=2),
        "null": st.none(),
    }
    columns = []
    for _ in header:
        kind = data.draw(st.sampled_from(sorted(kinds)))
        columns.append(pa.array(data.draw(st.lists(kinds[kind], min_size=4, max_size=4))))
    out = io.BytesIO()
    pq.write_table(pa.table(columns, names=header), out)
    answer(out.getvalue())


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=30), st.sampled_from(["csv", "jsonl"]))
def test_probabilities_survive_the_way_through_text(rows, container):
    lines = [f"{int(y)},{p!r}" for y, p in rows] if container == "csv" else [f'{{"label": {int(y)}, "p": {p!r}}}' for y, p in rows]
    data = "\n".join((["label,p"] if container == "csv" else []) + lines).encode()
    (found,) = read(data, mapping=Mapping(label="label", probabilities="p", scale="fraction"))
    assert found.rows("positive")[0].tolist() == [p for _, p in rows]
    assert found.rows("positive")[1].tolist() == [y for y, _ in rows]
