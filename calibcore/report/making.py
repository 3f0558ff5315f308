"""From models to a report file: analyses, comparison and held-out tests, as far as these rows allow them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, Unpack

from calibcore.advice.recalibration import Remedies, remedies
from calibcore.analysis import Analysis, Settings, analyze, compare
from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.predictions import Predictions
from calibcore.report.fix_words import class_sentence
from calibcore.report.page import report_html
from calibcore.report.pdf import MISSING, can_write, report_pdf
from calibcore.report.reporting import MOST_MODELS, Options, times_in_groups, with_period
from calibcore.report.tables import plain

__all__ = ["class_change", "make_report", "or_reason", "report_ending", "subject_first", "time_hint"]

T = TypeVar("T")


def report_ending(target: str | None) -> str:
    """The ending of a report's file, ".html" or ".pdf"; an InputError says what else it may not be.

    Examples
    --------
    >>> report_ending("Board.HTML")
    '.html'
    """
    if not target:
        raise InputError("Say where to write the report, such as  -o report.html")
    suffix = Path(target).suffix.lower()
    ending = ".html" if suffix == ".htm" else suffix
    if ending not in (".html", ".pdf"):
        raise InputError(f"A report is written as .html or .pdf, not as {Path(target).name!r}; change the ending.", value=target)
    if ending == ".pdf" and not can_write():
        raise InputError(MISSING)
    return ending


def make_report(
    models: Sequence[Predictions], settings: Settings, ending: str, *, test: bool = False, groups: bool = False, **words: Unpack[Options]
) -> bytes:
    """A report on the first of one to four models, the others beside it.

    Parameters
    ----------
    models : sequence of Predictions
    settings : Settings
    ending : {".html", ".pdf"}
    test : bool
        Whether recalibrations of the first model are tried on held-out rows.
    groups : bool
        Whether the first model is judged by each of its group columns.
    **words
        The analyst's own, the answer about training and the date: see `calibcore.report.reporting.Options`.

    Raises
    ------
    InputError
        If there are too many models, one of them lacks the view, or a column makes too many groups.
    """
    if len(models) > MOST_MODELS:
        raise InputError(f"A report has room for {MOST_MODELS} models; these are {len(models)}. Choose the ones that matter.")
    first = with_period(models[0], settings)
    if groups:
        first = replace(first, on_request=(*first.on_request, "groups"))
    analyses: list[Analysis] = [analyze(models[0], first), *(analyze(m, settings) for m in models[1:])]
    found = or_reason(lambda: remedies(models[0], seed=settings.seed, level=settings.level, view=settings.view)) if test else None
    words = {
        **words,
        "comparison": or_reason(lambda: compare(models, replace(settings, on_request=()))) if len(models) > 1 else None,
        "remedies": found,
        "classes": class_change(models[0], found),
    }
    return report_html(analyses, **words).encode() if ending == ".html" else report_pdf(analyses, **words)


def subject_first(models: Sequence[Predictions], name: str | None) -> list[Predictions]:
    """The models with the one that the report is about first; an InputError where none has that name.

    Parameters
    ----------
    models : sequence of Predictions
    name : str, optional
        The first by default.
    """
    names = [m.name for m in models]
    if name is not None and name not in names:
        raise InputError(f"There is no model called {name!r}; there are {listing(names)}.", value=name, available=tuple(names))
    return sorted(models, key=lambda m: name is not None and m.name != name)


def time_hint(model: Predictions) -> tuple[str, ...]:
    """How to have the period in the report, where no column was named as the time and one looks like it; else nothing."""
    columns = times_in_groups(model)[:1]
    return tuple(
        f"Column {plain(c)} could be the time: with --time {shlex.quote(plain(c))} the report says which period it covers." for c in columns
    )


def or_reason(make: Callable[[], T]) -> T | str:
    """What these rows allow, or the sentence on why they do not: a report says so and goes on."""
    try:
        return make()
    except InputError as error:
        return str(error)


def class_change(
    model: Predictions, found: Remedies | str | None, held_out: Callable[[Remedies, str], Predictions] | None = None
) -> str | None:
    """What the best remedy does to the predicted classes; None where there is none.

    Parameters
    ----------
    model : Predictions
    found : Remedies or str, optional
    held_out : callable, optional
        Gives the held-out predictions of a method; `Remedies.held_out` by default.
    """
    if not isinstance(found, Remedies) or found.best is None:
        return None
    method = found.best.method
    return class_sentence(model, found.held_out(model, method) if held_out is None else held_out(found, method))
