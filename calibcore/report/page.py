"""A report as one HTML page: no script, nothing fetched, and one sheet of A4 when it is printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Unpack
from unicodedata import east_asian_width

from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.report.parts import Section
from calibcore.report.reporting import Options, Report, reported
from calibcore.report.tables import Table

__all__ = ["report_html", "to_html"]

# Should a text ever get past the escapes: nothing may run, and nothing may be fetched.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
# Widths of letters against a small one, and how many of these fit on one sheet in the usual size.
_WIDE, _CAPITAL = 2.2, 1.9
_ROOM, _SMALLEST = 3_500, 0.6
_TITLE, _VERDICT = 4, 2  # how much more room than a small letter one of the title and one of the verdict takes


def report_html(analyses: Sequence[Analysis], **options: Unpack[Options]) -> str:
    """A report for a stakeholder as HTML.

    Parameters
    ----------
    analyses : sequence of Analysis
        One to four, under the same settings.  The report is about the first.
    **options
        See `calibcore.report.reporting.Options`.

    Returns
    -------
    str
        The same for the same analyses, options and date.
    """
    return to_html(reported(analyses, **options))


def to_html(r: Report) -> str:
    """The content of a report as HTML."""
    style = files("calibcore.report").joinpath("page.css").read_text(encoding="utf-8")
    head = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(r.title)}</title>\n'
        f"<style>\n{style}</style>\n</head>\n"
    )
    note = [_section(Section("Analyst’s note", (r.note,)), "note")] if r.note else []
    differences = f"<p>{escape(r.differences)}</p>\n" if r.differences else ""
    parts = [
        _head(r),
        f'<div class="two">\n{_figure(r)}<div>\n{"".join(map(_section, r.beside))}</div>\n</div>\n',
        f'{_table(r.table, r.table_title)}{differences}<p class="small">{escape(r.key)}</p>\n',
        f'<div class="below">\n{"".join([_section(r.caveats), *note])}</div>\n',
        f"<footer>{escape(r.footer)}</footer>\n",
    ]
    return f"{head}<body style='--scale: {_scale(r):g}'>\n<main>\n{''.join(parts)}</main>\n</body>\n</html>\n"


def _scale(r: Report) -> float:
    """Letters and pictures are printed smaller where there are many words: one sheet has room for so many; 1 is the usual size."""
    return round(max(_SMALLEST, min(1.0, math.sqrt(_ROOM / _width(r)))), 2)


def _width(r: Report) -> float:
    """Width of all words together, in small letters."""
    sections = (*r.beside, r.caveats, Section("", (r.note,)))
    texts = [*[r.title] * _TITLE, *[r.verdict] * _VERDICT, r.audience, r.how_to_read, r.differences, r.key, r.footer]
    texts += [value for _, value in r.facts]
    texts += [line for s in sections for line in s.lines]
    texts += [cell for row in r.table.rows for cell in row]
    return sum(_WIDE if east_asian_width(c) in "WF" else _CAPITAL if c.isupper() else 1 for c in "".join(texts))


def _head(r: Report) -> str:
    about = "Calibration report" + (f" for {r.audience}" if r.audience else "")
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>\n" for name, value in r.facts)
    return (
        f'<p class="for">{escape(about)} · {escape(r.date)}</p>\n<h1>{escape(r.title)}</h1>\n'
        f'<p class="verdict">{escape(r.verdict)}</p>\n<dl class="facts">\n{facts}</dl>\n'
    )


def _figure(r: Report) -> str:
    pictures = "\n".join(map(plot.svg, r.charts))
    return f"<figure>\n{pictures}\n<figcaption>{escape(r.how_to_read)}</figcaption>\n</figure>\n"


def _section(s: Section, kind: str = "") -> str:
    lines = "".join(f"<{'li' if s.listed else 'p'}>{escape(line)}</{'li' if s.listed else 'p'}>\n" for line in s.lines)
    body = f"<ul>\n{lines}</ul>\n" if s.listed else lines
    return f"<section{f' class={kind!r}' if kind else ''}>\n<h2>{escape(s.heading)}</h2>\n{body}</section>\n"


def _table(table: Table, title: str) -> str:
    header = "".join(f'<th scope="col">{escape(h)}</th>' for h in table.header)
    rows = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>\n' for row in table.rows
    )
    return (
        f'<div class="scroll" role="region" aria-label="{escape(title)}" tabindex="0">\n<table>\n<caption>{escape(title)}</caption>\n'
        f"<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )
