"""Long texts that pass in blocks: a fault far below the beginning has the sentence and the row that a small file's has."""

from __future__ import annotations

import pytest

import calibcore as cc
from calibcore.io import big_text

N = 3000  # rows of 11 to 13 bytes, in blocks of 4000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Blocks of some hundred rows, of which the first is looked at."""
    monkeypatch.setattr("calibcore.io.text_batches._BLOCK", 4000)
    monkeypatch.setattr("calibcore.io.text_faults._PART", 4000)
    monkeypatch.setattr("calibcore.io.file_sources._START", 4000)
    monkeypatch.setattr(big_text, "_SAMPLE", 4000)


@pytest.fixture
def text(tmp_path):
    """A file of N rows, some of them others, by their numbers."""

    def write(others=None, encoding="utf-8"):
        rows = {i: f"{i % 2},0.{i:04d},s{i % 7}" for i in range(1, N + 1)} | (others or {})
        (tmp_path / "rows.csv").write_text("\n".join(["label,probability,site", *rows.values()]) + "\n", encoding=encoding)
        return tmp_path / "rows.csv"

    return write


FAULTS = {
    "too many cells": ({2000: "1,0.5,a,b"}, "Row 2,000 has 4 cells, but the header has 3. Mend these rows, or quote the cells"),
    "too few cells": ({2000: "1,0.5"}, "Row 2,000 has 2 cells, but the header has 3."),
    "a blank line above": ({1500: "", 2000: "1,0.5"}, "Row 1,999 has 2 cells, but the header has 3."),
    "no end of a quote": ({2950: '1,0.5,"a'}, "Row 2,950: a quote is opened in column 'site' and never closed"),
    "two stray quotes": ({2000: '1,0.5,"a', 2010: '1,0.5,b"'}, "Row 2,000: a quote in column 'site' makes one cell of 11 lines"),
}


@pytest.mark.parametrize(("others", "told"), FAULTS.values(), ids=list(FAULTS))
@pytest.mark.parametrize("beginning", [{}, {1: '1,0.5,"a"'}], ids=["plain", "quoted"])
def test_the_sentence_is_that_of_reading(text, others, told, beginning):
    path = text({**beginning, **others})
    said = []
    for taken in (cc.reduce, cc.read):
        with pytest.raises(cc.InputError) as error:
            taken(path)
        said.append((str(error.value), error.value.row))
    assert said[0] == said[1]
    assert said[0][0].startswith(f"rows.csv: {told}")


def test_a_quote_that_is_never_closed_far_from_the_end(text):
    with pytest.raises(cc.InputError, match=r"^rows\.csv: A row somewhere below row [\d,]+ is longer than .* a quote is never closed"):
        cc.reduce(text({2000: '1,0.5,"a'}))


def test_letters_that_are_not_utf_8(text):
    path = text({2000: "1,0.5,Zürich"}, encoding="latin-1")
    with pytest.raises(cc.InputError, match=r"^rows\.csv: The file holds letters that are not UTF-8.* Save it as UTF-8"):
        cc.reduce_models(path, mapping=cc.Mapping(groups=("site",)))


@pytest.mark.parametrize("cell", ['"a, b"', '"a ""b"""', '"a\nb"', 'a 5" pipe'])
def test_quotes_that_are_meant_hide_nothing(text, cell):
    path = text({2000: f"1,0.5,{cell}", 2001: f"1,0.5,{cell}"})
    assert cc.reduce(path).n == cc.read(path)[0].n == N


def test_the_file_is_named_among_several(text, tmp_path):
    (tmp_path / "other.csv").write_bytes(text().read_bytes())
    with pytest.raises(cc.InputError, match=r"^rows\.csv: Row 2,000 has 2 cells"):
        cc.reduce([tmp_path / "other.csv", text({2000: "1,0.5"})])
