"""A report as PDF, without a browser: the words and pictures of the HTML page, set by typst."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Unpack

from calibcore import plot
from calibcore.analysis import Analysis
from calibcore.errors import InputError
from calibcore.report.parts import Section
from calibcore.report.reporting import NOTE_TITLE, Options, Report, reported

__all__ = ["MISSING", "can_write", "report_pdf", "to_pdf"]

MISSING = 'PDF is set by typst, which is not installed (pip install "calibcore[pdf]"); or print the HTML report from a browser.'


def can_write() -> bool:
    """Whether typst is installed."""
    return find_spec("typst") is not None


def report_pdf(analyses: Sequence[Analysis], **options: Unpack[Options]) -> bytes:
    """A report for a stakeholder as PDF, in the words of `calibcore.report.page.report_html`.

    Parameters
    ----------
    analyses : sequence of Analysis
        One to four, under the same settings.  The report is about the first.
    **options
        See `calibcore.report.reporting.Options`.

    Raises
    ------
    InputError
        If typst is not installed.
    """
    _needs_typst()
    return to_pdf(reported(analyses, **options))


def to_pdf(r: Report) -> bytes:
    """The content of a report as PDF: one sheet of A4, tagged for those who hear it read."""
    _needs_typst()
    typst = import_module("typst")
    template = files("calibcore.report").joinpath("page.typ").read_bytes()
    noon = dt.datetime(r.day.year, r.day.month, r.day.day, 12, tzinfo=dt.UTC)
    made: bytes = typst.compile(
        template,
        format="pdf",
        sys_inputs={"report": json.dumps(_data(r), ensure_ascii=False)},
        font_paths=_fonts(),
        pdf_standards="ua-1",
        timestamp=noon,
    )
    return made


def _needs_typst() -> None:
    if not can_write():
        raise InputError(MISSING)


def _fonts() -> list[str]:
    """The fonts of the pictures, which come with Matplotlib; typst brings those of the text."""
    found = find_spec("matplotlib")
    return [] if found is None or found.origin is None else [str(Path(found.origin).parent / "mpl-data" / "fonts" / "ttf")]


def _data(r: Report) -> dict[str, Any]:
    return {
        "title": r.title,
        "about": r.about,
        "year": r.day.year,
        "month": r.day.month,
        "day": r.day.day,
        "facts": r.facts,
        "to_do_for": r.to_do_for,
        "to_do": r.to_do,
        "verdict": r.verdict,
        "which": r.which,
        "charts": [{"svg": _in_our_font(plot.svg(c)), "alt": c.alt} for c in r.charts],
        "how_to_read": r.how_to_read,
        "below": [_section(s) for s in r.below],
        "beside": [_section(s) for s in r.beside],
        "table": {"header": r.table.header, "rows": r.table.rows},
        "table_title": r.table_title,
        "differences": r.differences,
        "key": r.key,
        "caveats": _section(r.caveats),
        "note": r.note,
        "note_title": NOTE_TITLE,
        "footer": r.footer,
    }


def _in_our_font(svg: str) -> str:
    """The picture with its font named: typst knows no "sans-serif"."""
    return re.sub(r'(?<=style=")[^"]*', lambda style: style[0].replace("sans-serif", "DejaVu Sans"), svg)


def _section(s: Section) -> dict[str, Any]:
    return {"heading": s.heading, "lines": s.lines, "listed": s.listed}
