"""Whatever the bytes, the table or what is told about it: the outcome is a reading, a question or a sentence with the way out."""

import csv
import gzip
import io
import json

import pytest
from fuzzing import TEXTS, check_file, packed, seeds, workbooks
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.errors import InputError
from calibcore.io import Mapping

SEEDS = seeds()
BOOKS = workbooks()
TOKENS = (
    [bytes([b]) for b in b",;\t\n\r\"'[]{}:|%-+.*_ \x00\xff\x1b"]
    + [
        b"nan",
        b"inf",
        b"-inf",
        b"1e400",
        b"1e-400",
        b"9" * 400,
        b"null",
        b"true",
        b"0x1p3",
        b"\\ud800",
        b"label",
        b"p",
        b"1:",
        b"__label__",
    ]
    + [
        "é−½∞１\u200b😀".encode(),
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"PK\x03\x04",
        b"PAR1",
        b"\x93NUMPY",
        b"\x1f\x8b",
        b"[" * 3000,
        b'{"a":' * 300,
    ]
)


@st.composite
def changes(draw, among):
    """A file whose bytes were changed, cut out, doubled, put in or cut off in a few places."""
    data = bytearray(among[draw(st.sampled_from(sorted(among)))])
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        length = draw(st.sampled_from((1, 1, 2, 4, 8, 40)))
        how = draw(st.sampled_from(("byte", "token", "token", "cut", "double", "end", "over")))
        if how == "byte" and data:
            data[at] = draw(st.integers(0, 255))
        elif how == "token":
            data[at:at] = draw(st.sampled_from(TOKENS))
        elif how == "over":
            data[at : at + length] = draw(st.sampled_from(TOKENS))
        elif how == "cut":
            del data[at : at + length]
        elif how == "double":
            data[at:at] = data[at : at + 5 * length]
        elif how == "end":
            del data[max(at, len(data) - 50) :]
    return bytes(data)


@pytest.mark.parametrize("kind", [*SEEDS, *BOOKS])
def test_the_files_that_are_changed_are_sound(kind):
    found = check_file((SEEDS | BOOKS)[kind], kind.replace(" ", "_"))
    lacking = kind in ("libsvm", "fasttext", "json matrix", "npy", "title", "spaces")  # labels, a positive class, or a regular row
    assert lacking or not isinstance(found, InputError) or getattr(found, "questions", ()), found


@given(changes(SEEDS))
@settings(max_examples=150)
def test_changed_bytes(data):
    check_file(data)


@given(changes({k: t.encode() for k, t in TEXTS.items()}), st.sampled_from(("gz", "zip", "both")))
@settings(max_examples=40)
def test_changed_files_that_are_packed(data, how):
    inner = gzip.compress(data, mtime=0) if how != "zip" else data
    check_file(packed({"a.csv": inner, "notes.md": b"# a", "b.csv": data[::2]}) if how != "gz" else inner)


@given(changes(BOOKS))
@settings(max_examples=20)
def test_changed_workbooks(data):
    check_file(data)


@given(st.binary(max_size=300))
@settings(max_examples=75)
def test_any_bytes(data):
    check_file(data)


WORDS = """label y y_true target p prob probability score p_0 p_1 p_a p_b a b 0 1 confidence predicted correct model id weight fold time
logit_a logit_b class question rank reward stdev actual inst# distribution prediction error nan None 0.5 -1 1e5"""
ODD_NAMES = ("", " ", "p[a]", "p(b)", "P(a|x)", "Prob. a", "é", "x y", 'say "a"', "a\nb", "=1+1", "<b>", "😀", "p" * 300)
NAMES = st.sampled_from((*WORDS.split(), *ODD_NAMES))
CELLS = st.one_of(
    st.sampled_from(("0", "1", "a", "b", "0.5", "0.25", "0.75", "1.0", "0.9", "0,5", "50%", "50 %", "true", "no", "x y", "1:a", "*0.5")),
    st.sampled_from(
        ("", "NA", "nan", "inf", "-inf", "-", "?", "1e400", "1e-400", "-3", "1.2", "99", "2024-01-31", "10:00", "9" * 30, "é", "\x1b[0m")
    ),
    st.sampled_from(
        (
            "[0.5, 0.5]",
            "[0.5 0.5]",
            "[[0.5, 0.5]]",
            "[]",
            "{'a': 0.5}",
            '{"a": 0.5, "b": 0.5}',
            "[nan]",
            "array([1.])",
            "(0.1, 0.9)",
            "[" * 60,
        )
    ),
)
USUAL = st.sampled_from(("0", "1", "a", "b", "0.5", "0.25", "0.75", "0.9"))


@st.composite
def tables(draw):
    """Columns of odd names, each with cells of one kind and now and then another."""
    width, height = draw(st.integers(1, 6)), draw(st.integers(0, 7))
    names = draw(st.lists(NAMES, min_size=width, max_size=width))
    columns = []
    for _ in names:
        usual = draw(st.lists(USUAL, min_size=height, max_size=height))
        odd = draw(st.dictionaries(st.integers(0, 6), CELLS, max_size=3)) if draw(st.booleans()) else {}
        columns.append([odd.get(i, cell) for i, cell in enumerate(usual)])
    return names, columns


def written(names, columns, separator=",", terminator="\n"):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=terminator)
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue().encode()


@given(tables(), st.sampled_from(",;\t|"), st.sampled_from(("\n", "\r\n", "\r")))
@settings(max_examples=75)
def test_odd_tables(table, separator, terminator):
    check_file(written(*table, separator, terminator))


VALUES = st.recursive(
    st.sampled_from(
        (0, 1, 0.5, 0.25, 0.75, -1.5, "a", "b", "", None, True, False, 10**400, 1e308, float("nan"), float("inf"), "\ud800", "0.5")
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(NAMES | st.sampled_from(("score", "logprob", "data", "columns", "results")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.data())
@settings(max_examples=90)
def test_odd_documents(data):
    shape = data.draw(st.sampled_from(("any", "records", "lines", "columns", "split", "rows", "cells")))
    keys = data.draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    few = st.integers(1, 5)
    if shape == "any":
        document = data.draw(VALUES)
    elif shape in ("records", "lines"):
        document = [{k: data.draw(VALUES) for k in keys} for _ in range(data.draw(few))]
    elif shape == "cells":
        document = {k: {str(i): data.draw(VALUES) for i in range(2)} for k in keys}
    else:
        rows = [[data.draw(VALUES) for _ in keys] for _ in range(data.draw(few))]
        by_name = dict(zip(keys, map(list, zip(*rows, strict=True)), strict=True))
        document = {"rows": rows, "columns": by_name, "split": {"columns": keys, "data": rows}}[shape]
    text = "\n".join(map(json.dumps, document)) if shape == "lines" else json.dumps(document)
    check_file(text.encode())


@given(tables(), st.data())
@settings(max_examples=60)
def test_tables_of_which_anything_is_told(table, data):
    names = st.sampled_from([*table[0], "none", "nowhere", ""])
    one = st.one_of(st.none(), names, st.just(()))
    told = {
        r: data.draw(one)
        for r in data.draw(
            st.sets(st.sampled_from(("label", "predicted", "correct", "model", "weight", "id", "cluster", "time")), max_size=3)
        )
    }
    several = st.one_of(st.none(), names, st.lists(names, min_size=1, max_size=3).map(tuple))
    told |= {"probabilities": data.draw(several | st.dictionaries(st.sampled_from(("a", "b", "0", "1")), names, min_size=1, max_size=3))}
    told |= {"confidence": data.draw(several), "positive": data.draw(st.sampled_from((None, None, "a", "1", "zz")))}
    told |= {"scale": data.draw(st.sampled_from((None, "fraction", "percent", "logit", "log-prob", "unnormalised")))}
    told |= {
        "missing": data.draw(st.sampled_from(("error", "drop"))),
        "columns_are": data.draw(st.sampled_from((None, "models", "classes", "labels"))),
    }
    told |= {"classes": data.draw(st.sampled_from((None, ("a", "b"), ("0", "1"), ("a", "b", "c"), ("a",)))), "groups": data.draw(several)}
    told |= {
        "drop_label": data.draw(st.sampled_from((None, ("a",), ("nowhere",)))),
        "pair": data.draw(st.sampled_from((None, "id", "row-order", "a=b"))),
    }
    told |= {"outcome": data.draw(st.sampled_from((None, "p > 0.5", "a > b", "nowhere > b", ">", "y = 1")))}
    try:
        mapping = Mapping(**{k: v for k, v in told.items() if v is not None})
    except InputError:
        return
    check_file(written(*table), mapping=mapping)
