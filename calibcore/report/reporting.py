"""What a report for a stakeholder says, as plain data: HTML and PDF print the same words."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

from numpy.typing import NDArray

from calibcore.advice.recalibration import Remedies
from calibcore.analysis import Analysis, Comparison, Settings
from calibcore.errors import InputError
from calibcore.inference.groups import Groups
from calibcore.inference.slices import distinct_of, is_missing
from calibcore.plot.marks import Chart
from calibcore.predictions import Predictions
from calibcore.report import parts
from calibcore.report.advising import what_to_do
from calibcore.report.data_words import facts, hashes
from calibcore.report.parts import Section
from calibcore.report.tables import Table, plain, settings_text
from calibcore.report.training import Training
from calibcore.version import __version__

__all__ = [
    "MOST_AUDIENCE",
    "MOST_HEADING",
    "MOST_MODELS",
    "MOST_NOTE",
    "NOTE_TITLE",
    "Options",
    "Report",
    "reported",
    "times_in_groups",
    "with_groups",
    "with_period",
]

MOST_MODELS = 4
MOST_HEADING, MOST_AUDIENCE, MOST_NOTE = 120, 80, 280  # characters
_TIME = re.compile(r"(19|20)\d{2}([-/.](\d{1,2}|[QqWw]\d{1,2})([-/.]\d{1,2}([ T].*)?)?)?|\d{1,2}[./]\d{1,2}[./](19|20)\d{2}.*")
NOTE_TITLE = "Analyst’s note"
_CHARTS, _LINE, _SECTION = 38, 60, 2  # lines that the charts and their caption take, letters in a line, lines for a heading
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")


class Options(TypedDict, total=False):
    """What a report takes beside the analyses.

    Attributes
    ----------
    comparison : Comparison or str, optional
        Its differences are said in sentences; a text says why there is none.
    remedies : Remedies or str, optional
        Of the first model; a text says why none could be tested.
    heading, audience, note : str, optional
        The analyst's own words: at most 120, 80 and 280 characters.
    training : {"yes", "no", "unknown"} or sequence of these
        Whether the rows were used to train or tune the models: one answer for all, or one for each analysis.
    classes : str, optional
        What the best remedy does to the predicted classes: `calibcore.report.fix_words.class_sentence`.
    date : datetime.date, optional
        Today by default.
    """

    comparison: Comparison | str | None
    remedies: Remedies | str | None
    heading: str | None
    audience: str | None
    note: str | None
    training: Training | Sequence[Training]
    classes: str | None
    date: dt.date | None


@dataclass(frozen=True, slots=True)
class Report:
    """One page as plain data; every text is text, never markup.

    Attributes
    ----------
    title, date : str
    day : datetime.date
    audience : str
        "" where nobody is named.
    facts : tuple of (str, str)
        Name and value: data, period.
    to_do : str
        What to do, in one sentence.
    verdict : str
        At most 35 words.
    which : str
        Which of several models makes the smaller error; "" for one.
    charts : tuple of Chart
        The diagram and the share of rows.
    how_to_read : str
        Caption of the charts.
    below, beside : tuple of Section
        What stands below and beside the charts.
    table, table_title : Table, str
    differences, key : str
        What else tells the models apart ("" for none), and what the columns mean.
    note : str
        Of the analyst; "" for none.
    """

    title: str
    day: dt.date
    date: str
    audience: str
    facts: tuple[tuple[str, str], ...]
    to_do: str
    verdict: str
    which: str
    charts: tuple[Chart, ...]
    how_to_read: str
    below: tuple[Section, ...]
    beside: tuple[Section, ...]
    table: Table
    table_title: str
    differences: str
    key: str
    caveats: Section
    note: str
    footer: str

    @property
    def to_do_for(self) -> str:
        """What stands before the sentence on what to do, with the model's name where there are several."""
        return "What to do" if len(self.table.rows) == 1 else f"What to do with {self.table.rows[0][0]}"

    @property
    def about(self) -> str:
        """What it is, for whom and of which day, on one line."""
        return f"Calibration report{f' for {self.audience}' if self.audience else ''} · {self.date}"


def reported(analyses: Sequence[Analysis], **options: Unpack[Options]) -> Report:
    """The content of a report.

    Parameters
    ----------
    analyses : sequence of Analysis
        One to four, under the same settings.  The report is about the first; the others stand in its table.  Groups and
        periods of the first are told where its settings asked for them.
    **options
        See `Options`.

    Raises
    ------
    InputError
        For no or too many models, different settings, remedies of another model, or words that are too long.
    """
    _check(analyses, options.get("remedies"))
    answers = _answers(analyses, options.get("training", "unknown"))
    a, day = analyses[0], options.get("date") or dt.datetime.now().astimezone().date()
    beside = _beside(a, options.get("remedies"), options.get("classes"))
    below, beside = _balanced(beside)
    return Report(
        title=_own("heading", options.get("heading"), MOST_HEADING) or parts.title(analyses),
        day=day,
        date=f"{day.day} {_MONTHS[day.month - 1]} {day.year}",
        audience=_own("audience", options.get("audience"), MOST_AUDIENCE),
        facts=facts(analyses),
        to_do=what_to_do(a, options.get("remedies"), answers[a.name]),
        verdict=parts.verdict_words(a)[0],
        which=parts.which(analyses, options.get("comparison")),
        charts=parts.charts(a),
        how_to_read=parts.how_to_read(a),
        below=below,
        beside=beside,
        table=parts.table(analyses),
        table_title="The model in numbers" if len(analyses) == 1 else "The models in numbers",
        differences=parts.differences(analyses, options.get("comparison")),
        key=parts.key(a),
        caveats=parts.caveats(analyses, answers),
        note=_own("note", options.get("note"), MOST_NOTE),
        footer=f"Made with calibcore {__version__}. To repeat it: {settings_text(a.settings)} {hashes(analyses)}".rstrip(),
    )


def _answers(analyses: Sequence[Analysis], training: Training | Sequence[Training]) -> dict[str, Training]:
    """The answer for each model by its name."""
    each: Sequence[Training] = [training] * len(analyses) if isinstance(training, str) else training
    return dict(zip((a.name for a in analyses), each, strict=True))


def _beside(a: Analysis, remedies: Remedies | str | None, classes: str | None) -> tuple[Section, ...]:
    found = (parts.plain_terms(a), parts.pattern(a, remedies, classes), parts.threshold(a), parts.worth(a))
    return tuple(section for section in found if section is not None)


def _balanced(beside: tuple[Section, ...]) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """What stands below and beside the charts: the meaning of calibration comes last, in the column that is shorter."""
    lines = sum(_SECTION + sum(-(-len(line) // _LINE) for line in s.lines) for s in beside)
    return ((parts.means(),), beside) if lines > _CHARTS else ((), (*beside, parts.means()))


def with_period(model: Predictions, settings: Settings) -> Settings:
    """Settings under which the analysis knows the period covered, where the rows have times."""
    return settings if model.time is None else replace(settings, on_request=(*settings.on_request, "periods"))


def with_groups(a: Analysis, found: Groups) -> Analysis:
    """The analysis as `analyze` gives it where the groups of one column are asked for, which are known already."""
    settings = replace(a.settings, on_request=(*a.settings.on_request, "groups"))
    return replace(a, settings=settings, requested={**a.requested, "groups": {found.column: found}})


def times_in_groups(model: Predictions) -> tuple[str, ...]:
    """Group columns that hold dates, months, quarters or years, where no column was named as the time.

    Examples
    --------
    >>> rows = {"region": ["north", "south"], "month": ["2024-01", "2024-02"]}
    >>> times_in_groups(Predictions.from_top_label([0.9, 0.8], [1, 0], groups=rows))
    ('month',)
    """
    return () if model.time is not None else tuple(name for name, values in model.groups.items() if _are_times(values))


def _are_times(values: NDArray[Any]) -> bool:
    there = {str(v).strip() for v in distinct_of(values)[0] if not is_missing(v)}
    return len(there) > 1 and all(_TIME.fullmatch(text) for text in there)


def _check(analyses: Sequence[Analysis], remedies: Remedies | str | None) -> None:
    if not 1 <= len(analyses) <= MOST_MODELS:
        raise InputError(f"A report is about one to {MOST_MODELS} models, not {len(analyses)}; choose the ones that matter.")
    first = replace(analyses[0].settings, on_request=())
    if any(replace(a.settings, on_request=()) != first for a in analyses):
        raise InputError("The models of one report must be analysed with the same settings.")
    if isinstance(remedies, Remedies) and remedies.model != analyses[0].name:
        raise InputError(f"The recalibration of {remedies.model!r} was tested, but the report is about {analyses[0].name!r}.")


def _own(what: str, text: str | None, most: int) -> str:
    """Words of the analyst on one line."""
    line = plain(" ".join((text or "").split()))
    if len(line) > most:
        raise InputError(f"The {what} has {len(line):,} characters; the report has room for {most}.", value=text)
    return line
