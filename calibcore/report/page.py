"""A report as one HTML page: no script, nothing fetched, and one sheet of A4 when it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Unpack

from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.report import room
from calibcore.report.parts import Section
from calibcore.report.reporting import NOTE_TITLE, Options, Report, reported
from calibcore.report.tables import Table

__all__ = ["preview_style", "report_html", "to_html"]

# Should a text ever get past the escapes: nothing may run, and nothing may be fetched.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_PREVIEWS = (0, *range(240, room.NARROW, 20), *range(room.NARROW + 1, 1_040, 20))  # widths of the preview's frame, in pixels


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
    note = [_section(Section(NOTE_TITLE, (r.note,)), "note")] if r.note else []
    differences = f"<p>{escape(r.differences)}</p>\n" if r.differences else ""
    parts = [
        _head(r),
        _columns(r),
        f'{_table(r.table, r.table_title)}{differences}<p class="small">{escape(r.key)}</p>\n',
        f'<div class="below">\n{"".join([_section(r.caveats), *note])}</div>\n',
        f"<footer>{escape(r.footer)}</footer>\n",
    ]
    return f"{head}<body style='{_sizes(r)}'>\n<main>\n{''.join(parts)}</main>\n</body>\n</html>\n"


def preview_style(r: Report, around: str) -> str:
    """Rules by which a frame shows the whole page, about, however wide it is: the page runs no script that could tell, and must not.

    Parameters
    ----------
    r : Report
    around : str
        Selector of the element that holds the frame and is as wide.
    """
    heights = ((width, room.screen_height(r, width)) for width in _PREVIEWS)
    rules = "\n".join(f"@container (min-width: {w}px) {{ {around} iframe {{ height: {h}px !important; }} }}" for w, h in heights)
    follows = f"{around} {{ container-type: inline-size; }}\n{around} :has(iframe) {{ height: auto !important; }}"
    return f"<style>\n{follows}\n{rules}\n</style>"


def _sizes(r: Report) -> str:
    """Letters and pictures are printed as large as one sheet has room for."""
    size, picture = room.printed(r)
    return f"--letter: {size:g}; --picture: {picture:g}"


def _head(r: Report) -> str:
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>\n" for name, value in r.facts)
    which = f"<p>{escape(r.which)}</p>\n" if r.which else ""
    to_do = f"<p><strong>{escape(r.to_do_for)}:</strong> {escape(r.to_do)}</p>"
    return (
        f'<p class="for">{escape(r.about)}</p>\n<h1>{escape(r.title)}</h1>\n'
        f'<div class="verdict">\n{to_do}\n<p>{escape(r.verdict)}</p>\n{which}</div>\n'
        f'<dl class="facts">\n{facts}</dl>\n'
    )


def _columns(r: Report) -> str:
    """The pictures with what stands below them, and what stands beside them."""
    left, right = ("".join(map(_section, part)) for part in (r.below, r.beside))
    return f'<div class="two">\n<div>\n{_figure(r)}{left}</div>\n<div>\n{right}</div>\n</div>\n'


def _figure(r: Report) -> str:
    pictures = "\n".join(map(plot.svg, r.charts))
    return f"<figure>\n{pictures}\n<figcaption>{escape(r.how_to_read)}</figcaption>\n</figure>\n"


def _section(s: Section, kind: str = "") -> str:
    lines = "".join(f"<{'li' if s.listed else 'p'}>{escape(line)}</{'li' if s.listed else 'p'}>\n" for line in s.lines)
    body = f"<ul>\n{lines}</ul>\n" if s.listed else lines
    return f"<section{f' class={kind!r}' if kind else ''}>\n<h2>{escape(s.heading)}</h2>\n{body}</section>\n"


def _table(table: Table, title: str) -> str:
    header = "".join(f'<th scope="col" role="columnheader">{escape(h)}</th>' for h in table.header)
    rows = "".join(_table_row(table.header, row) for row in table.rows)
    return (
        f'<table role="table">\n<caption>{escape(title)}</caption>\n'
        f'<thead role="rowgroup"><tr role="row">{header}</tr></thead>\n<tbody role="rowgroup">\n{rows}</tbody>\n</table>\n'
    )


def _table_row(header: Sequence[str], row: Sequence[str]) -> str:
    """One model; its cells carry their column's name (and all their role), for where they stand below each other on a telephone."""
    cells = "".join(f'<td role="cell" data-label="{escape(h)}">{_unbroken(cell)}</td>' for h, cell in zip(header[1:], row[1:], strict=True))
    return f'<tr role="row"><th scope="row" role="rowheader">{escape(row[0])}</th>{cells}</tr>\n'


def _unbroken(cell: str) -> str:
    """A number and its interval, each on one line."""
    number, bracket, interval = cell.partition(" (")
    return f"{escape(number)} <span>({escape(interval)}</span>" if bracket else escape(cell)
