"""The data behind a report, in words: files, the period they cover, and what must be known about their rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from calibcore.analysis import Analysis
from calibcore.checks import listing, rows_text
from calibcore.errors import without_options
from calibcore.inference.periods import Period, Periods
from calibcore.report.naming import short, short_name
from calibcore.report.reduced_words import is_told_shortly, report_line
from calibcore.report.tables import count_text, plain

__all__ = ["data_notes", "facts", "hashes"]

_FILE, _NOTE = 50, 180  # characters of a file's name and of a note that one page has room for
_NOTES, _FOR_EACH = 3, 2  # notes on one model's data, and for each other model
_LATER = "The results hold for cases like these; they were not checked for later ones."
# Notes that change how numbers are read come before notes on how a file was read.
_TELLING = re.compile(
    r"^Log loss:|claims? exactly 100%|left out|^All scores are|^Every label is|^One row only|^Weighted rows|clusters|^Known from a"
)


def facts(analyses: Sequence[Analysis]) -> tuple[tuple[str, str], ...]:
    """Files with their rows, and the period that the first model's rows cover.

    Parameters
    ----------
    analyses : sequence of Analysis
    """
    files = dict.fromkeys(map(_data, analyses))
    return ("Data", "; ".join(files)), ("Period covered", f"{_period(analyses[0])}. {_LATER}")


def hashes(analyses: Sequence[Analysis]) -> str:
    """The SHA-256 of each file, for who must know that it is the same one; "" where nothing was read from a file.

    Parameters
    ----------
    analyses : sequence of Analysis
    """
    files = dict.fromkeys(
        (str(a.source["file"]), str(a.source["sha256"])) for a in analyses if a.source.get("file") and a.source.get("sha256")
    )
    return f"SHA-256: {'; '.join(f'{short_name(name, _FILE)} {plain(sha)}' for name, sha in files)}." if files else ""


def data_notes(analyses: Sequence[Analysis]) -> tuple[str, ...]:
    """What must be known about the rows of the first model, and what changes how the numbers of the others are read.

    Parameters
    ----------
    analyses : sequence of Analysis
    """
    about: defaultdict[str, list[str]] = defaultdict(list)
    for a in analyses:
        told = [*filter(None, [report_line(a)]), *(note for note in a.notes if not is_told_shortly(note))]
        for note in dict.fromkeys(map(plain, told)):
            if a is analyses[0] or _TELLING.search(note):
                about[without_options(note)].append(short_name(a.name))
    found = sorted(about, key=lambda note: _TELLING.search(note) is None)
    room = _NOTES + _FOR_EACH * (len(analyses) - 1)
    by_models: defaultdict[str, list[str]] = defaultdict(list)
    for note in found[:room]:
        by_models[_whose(about[note], len(analyses))].append(short(note, _NOTE))
    lines = [f"About the data{whose}: {' '.join(notes)}" for whose, notes in by_models.items()]
    if len(found) > room:
        more = len(found) - room
        notes = "more note on the data stands" if more == 1 else "more notes on the data stand"
        lines.append(f"{more} {notes} in the dashboard and in the output of calibcore measure.")
    return tuple(lines)


def _whose(names: Sequence[str], models: int) -> str:
    """Whose rows a note is about, where there are several models."""
    return "" if models == 1 else " of all models" if len(names) == models else f" of {listing(names, len(names))}"


def _data(a: Analysis) -> str:
    if not a.source.get("file"):
        return f"{rows_text(a.n)}, not read from a file"
    left_out = f" ({count_text(a.n_excluded)} left out)" if a.n_excluded else ""
    return f"{short_name(str(a.source['file']), _FILE)}, {rows_text(a.n)}{left_out}"


def _period(a: Analysis) -> str:
    found: Periods | None = a.requested.get("periods")
    timed = [p for p in (found.periods if found is not None else ()) if p.position is not None]
    if not timed:
        return "not known"
    first, last = (short_name(_end(p, i)) for p, i in ((timed[0], 0), (timed[-1], -1)))
    return first if first == last else f"{first} to {last}"


def _end(period: Period, which: int) -> str:
    """The first or the last time of a period that is named by both."""
    return period.name.split(" to ")[which]
