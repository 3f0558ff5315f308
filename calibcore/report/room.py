"""How much room a report takes, about: for letters that fill one sheet of paper, and for a preview that shows it all.

The page runs no script that could measure itself, so what a browser will do with its style sheet is reckoned from the widths of
letters; the constants below are those of `page.css`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from calibcore.report.parts import Section
from calibcore.report.reporting import NOTE_TITLE, Report
from calibcore.report.tables import Table

__all__ = ["NARROW", "printed", "screen_height"]

NARROW = 608  # pixels of width up to which everything stands in one column
_SHEET = (527.0, 790.0)  # points of A4 less its margins
_LARGEST, _SMALLEST, _STEP = 9.6, 5.0, 0.1  # points of letters
_ROOMY = 7.0  # points of letters below which pictures shrink with them
_SPARE = 1.03  # other fonts are wider, and browsers break lines in their own ways
_MARGIN, _SCREEN = 22, 15  # pixels: beside the words, of letters
_NARROWEST, _WIDEST = 220, 992  # pixels of a page
_WORD = 1.3  # widths of a letter that the end of a line leaves free, on average
# Widths of letters in a face like Helvetica, in sizes of the letter.
_WIDTHS = {
    0.25: "ijl'|’‘",
    0.3: ' ,.:;!/()[]{}tfrI-“”"`',
    0.5: "ckxyzsvJ",
    0.67: "ABEKPSVXYFTZ&",
    0.74: "wCDHNRU",
    0.8: "GOQ",
    0.86: "mM%",
    0.98: "W@…—",
}
_WIDTH = {letter: width for width, letters_of in _WIDTHS.items() for letter in letters_of}
_USUAL, _FULL = 0.57, 1.0


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of some width; lengths in sizes of its letters."""

    width: float
    lead: float  # from line to line
    gap: float  # how wide gaps are against those on a screen
    picture: float  # of the column's width
    title: float  # size of its letters
    verdict: float
    narrow: bool = False

    def column(self, share: float) -> float:
        """Width of a column that has a share of the page, or of the only one."""
        return self.width if self.narrow else (self.width - 1.6) * share


def printed(r: Report) -> tuple[float, float]:
    """The largest letters, in points, with which a report stands on one sheet, and the width of its pictures in their column."""
    wide, high = _SHEET
    for k in range(round((_LARGEST - _SMALLEST) / _STEP)):
        size = _LARGEST - k * _STEP
        for picture in (1.0, 0.95, 0.9) if size >= _ROOMY else (0.9 * size / _ROOMY,):
            if _height(r, _Page(wide / size, 1.3, 0.6, picture, 1.7, 1.2)) * size * _SPARE <= high:
                return round(size, 1), round(picture, 2)
    return _SMALLEST, 0.9 * _SMALLEST / _ROOMY


def screen_height(r: Report, width: float) -> int:
    """Pixels of height on a screen, about, in a frame of so many pixels of width."""
    inside = (min(max(width, _NARROWEST), _WIDEST) - 2 * _MARGIN) / _SCREEN
    return math.ceil(_SCREEN * _SPARE * _height(r, _Page(inside, 1.45, 1.0, 1.0, 1.85, 1.3, narrow=width <= NARROW)) + 100)


def _height(r: Report, page: _Page) -> float:
    return _head(r, page) + _columns(r, page) + _table(r, page) + _foot(r, page)


def _head(r: Report, page: _Page) -> float:
    inside, lead = page.width - 1.3, page.lead - 0.05
    title = _lines(r.title, page.width, page.title, bold=True) * page.title * 1.2 + 0.46 * page.gap
    said = _lines(f"{r.to_do_for}: {r.to_do}", inside, page.verdict, bold=True) * page.verdict * lead
    said += sum(_lines(text, inside, 1.07) * 1.07 * lead + 0.32 * page.gap for text in (r.verdict, r.which) if text)
    facts = sum(_fact(name, value, page) for name, value in r.facts)
    return _lines(r.about, page.width) * page.lead + title + said + (0.9 + 0.8) * page.gap + facts + page.gap


def _fact(name: str, value: str, page: _Page) -> float:
    if page.narrow:
        return (_lines(name, page.width, 0.92) + _lines(value, page.width, 0.92)) * 0.92 * page.lead + 0.3
    return _lines(value, page.width - 7.9, 0.92) * 0.92 * page.lead


def _columns(r: Report, page: _Page) -> float:
    narrower, wider = page.column(0.47), page.column(0.53)
    pictures = sum(c.height / c.width for c in r.charts) * narrower * page.picture
    left = pictures + _lines(r.how_to_read, narrower, 0.88) * 0.88 * page.lead + 0.8 * page.gap
    left += sum(_section(s, narrower, page) for s in r.below)
    right = sum(_section(s, wider, page) for s in r.beside)
    return left + right if page.narrow else max(left, right)


def _section(s: Section, width: float, page: _Page) -> float:
    size, inside, after = (0.92, width - 1.2, 0.15) if s.listed else (1.0, width, 0.35 * page.gap)
    lines = sum(_lines(line, inside, size) * size * page.lead + after for line in s.lines)
    return 1.07 * 1.3 + 0.2 + lines + 0.8 * page.gap


def _table(r: Report, page: _Page) -> float:
    around = 1.0 * page.gap + 1.07 * page.lead + 0.2
    rows = _stacked(r.table, page) if page.narrow else _ruled(r.table, page)
    said = _lines(r.differences, page.width) * page.lead + 0.35 * page.gap if r.differences else 0.0
    return around + rows + said + _lines(r.key, page.width, 0.88) * 0.88 * page.lead + 0.35 * page.gap


def _stacked(table: Table, page: _Page) -> float:
    """Models below one another, a line for each number."""
    line = 0.92 * (page.lead + 0.6)
    return sum(len(row) * line + _lines(row[0], page.width, 0.92) * line + 0.8 for row in table.rows)


def _ruled(table: Table, page: _Page) -> float:
    """Rows and columns: the numbers take what they need, the model and its verdict share the rest."""
    size = 0.92 if page.width > 46 else 0.83
    needed = [max(_widest(h.split()), *(_widest(row[k].split(" (")) for row in table.rows)) for k, h in enumerate(table.header)]
    rest = page.width / size - sum(n + 0.6 for n in needed[2:])
    words = max(rest / 2, 6.0)
    header = max(math.ceil(_width(h) / max(n, 1.0)) if k > 1 else 1 for k, (h, n) in enumerate(zip(table.header, needed, strict=True)))
    broken = 1 if rest >= sum(_widest([row[k] for row in table.rows]) for k in (0, 1)) + 8 else 2
    heights = [header, *(max(broken, *(_lines(cell, words) for cell in row[:2])) for row in table.rows)]
    return sum(size * (h * page.lead + 0.56 * page.gap) for h in heights)


def _widest(texts: Sequence[str]) -> float:
    return max(map(_width, texts), default=0.0)


def _foot(r: Report, page: _Page) -> float:
    note = _section(Section(NOTE_TITLE, (r.note,)), page.width - 1.4, page) + 1.0 if r.note else 0.0
    footer = _lines(r.footer, page.width, 0.85) * 0.85 * page.lead + 1.4
    return 0.9 * page.gap + _section(r.caveats, page.width, page) + note + footer


def _lines(text: str, width: float, size: float = 1.0, *, bold: bool = False) -> int:
    """Lines that a text takes in a width, where its letters have a size."""
    return max(1, math.ceil(_width(text) * (1.07 if bold else 1.0) / max(width / size - _WORD, 1.0)))


def _width(text: str) -> float:
    """Width of a text in one line, in sizes of its letters."""
    return sum(_FULL if east_asian_width(c) in "WF" else _WIDTH.get(c, 0.69 if c.isupper() else _USUAL) for c in text)
