"""The parts of a report for a stakeholder, each in words: one page in all, so every part has its measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibcore.advice.recalibration import Remedies
from calibcore.advice.verdict import percent, points
from calibcore.analysis import Analysis, Comparison
from calibcore.inference.periods import Period, Periods
from calibcore.plot import counts, reliability
from calibcore.plot.frame import words_of
from calibcore.plot.marks import Chart, Label
from calibcore.report.act_words import act_lines, panel_of
from calibcore.report.tables import Table, count_text, gap_text, plain, score_text, share_text
from calibcore.report.training import Training, training_statement
from calibcore.report.words import chance_text, difference_sentence, headline, view_note

__all__ = [
    "MEANING",
    "NAME_LENGTH",
    "Section",
    "caveats",
    "charts",
    "differences",
    "facts",
    "how_to_read",
    "key",
    "means",
    "pattern",
    "plain_terms",
    "short",
    "table",
    "threshold",
    "verdict_words",
    "worth",
]

MEANING = (
    "A model is calibrated when its probabilities come true as often as they say: of all cases given 80%, about 80 in 100 happen. "
    "It shows whether the numbers can be believed, not how much the model knows."
)
_VERDICT_WORDS = 35
NAME_LENGTH, _FILE = 36, 50  # characters of a name that one page has room for
_NOTES, _NOTE = 3, 180  # notes on the data, and characters of one
_SIDE, _TALLEST, _LOW = 440, 0.95, 150  # pixels: width of the pictures, most height over it, height of the lower one
_LABEL = 0.47  # of the diagram's width is what the words beside its worst point need
_LATER = "The results hold for cases like these; they were not checked for later ones."
_PATTERNS = {
    "uniform_overconfidence": "Too sure throughout, at low and at high confidence alike.",
    "uniform_underconfidence": "Not sure enough throughout, at low and at high confidence alike.",
    "non_uniform_overconfidence": "Too sure in some ranges, not sure enough in others.",
    "local_overconfidence": "Too sure in one range; no sign of it elsewhere.",
    "local_underconfidence": "Not sure enough in one range; no sign of it elsewhere.",
    "extreme_overconfidence": "Nearly every prediction claims to be certain, and too many of those are wrong.",
    "confidence_collapse": "Most predictions stay close to an even guess, or to one and the same number.",
    "shifted": "All probabilities are off in the same direction.",
    "none_detected": "No pattern of error shows in these rows.",
    "too_few_rows": "Too few rows to name a pattern.",
    "unclear": "An error shows, but not in a clear place.",
}
_REPAIRED_AFTERWARDS = ("uniform_overconfidence", "uniform_underconfidence", "non_uniform_overconfidence", "shifted")
_CONSTANT = {
    "the base rate": "a forecast that gives every row the base rate",
    "the class shares": "a forecast that gives every row the shares of the classes",
    "always claiming the accuracy": "a forecast that claims its average accuracy for every row",
}


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its paragraphs, or a list where ``listed``."""

    heading: str
    lines: tuple[str, ...]
    listed: bool = False


def short(text: str, most: int) -> str:
    """A name with its middle left out where it is too long: names often differ at their ends."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}"


# --- verdict, and what stands beside the charts ---------------------------------------------------------------------------


def verdict_words(a: Analysis) -> tuple[str, tuple[str, ...]]:
    """The verdict in at most 35 words, and the sentences that had no room in it."""
    first = headline(replace(a, name=short(plain(a.name), NAME_LENGTH)))
    said = first.removeprefix(short(plain(a.name), NAME_LENGTH)).lstrip(": ").removeprefix("is ").casefold()
    kept = [f"{first}."]
    left: list[str] = []
    for sentence in _sentences(a.verdict.text):
        if said in sentence.casefold():
            continue
        fits = not left and len(f"{' '.join(kept)} {sentence}".split()) <= _VERDICT_WORDS
        (kept if fits else left).append(sentence)
    return " ".join(kept), tuple(left)


def _sentences(text: str) -> list[str]:
    """Sentences of our own texts, in which a point before a space and a capital letter or digit is an end."""
    return re.split(r"(?<=\.) (?=[A-Z0-9])", text)


def means() -> Section:
    """What calibration is, in 40 words."""
    return Section("What calibration means", (MEANING,))


def plain_terms(a: Analysis) -> Section:
    """One sentence in frequencies."""
    return Section("In plain terms", (_in_ranges(a) or _of_all(a),))


def _in_ranges(a: Analysis) -> str | None:
    """Where it is off, for the patterns that are about ranges."""
    found = [a.pattern.evidence[k] for k in ("over", "under") if a.pattern.evidence.get(k)]
    if a.pattern.name not in ("non_uniform_overconfidence", "local_overconfidence", "local_underconfidence") or not found:
        return None
    parts = [f"where it claims about {percent(run['confidence'])}, {100 * run['accuracy']:.0f} in 100 are right" for run in found]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _of_all(a: Analysis) -> str:
    """How many errors (or events) are expected and found in 100, or in more where they are rare, or in all where they are few."""
    top = a.view == "top_label"
    expected, found = (1 - a.mean_confidence, 1 - a.accuracy) if top else (a.mean_confidence, a.accuracy)
    base = a.n if a.n < 100 else next((b for b in (100, 1_000, 10_000) if min(expected, found) * b >= 2), 10_000)
    texts = [f"{base * share:,.0f}" for share in (expected, found)]
    among = f"Of {'all' if base == a.n else 'every'} {base:,} predictions"
    if top:
        return f"{among}, it expects {texts[0]} to be wrong; {texts[1]} were."
    return f"{among}, it expects {texts[0]} to be “{_event(a)}”; {texts[1]} were."


def _event(a: Analysis) -> str:
    name = a.positive_class if a.view == "positive" else a.view.removeprefix("class:")
    return short(plain(name or "positive"), NAME_LENGTH)


def pattern(a: Analysis, found: Remedies | str | None) -> Section:
    """What is wrong, what usually helps, and whether it was tested."""
    small = a.verdict.level == "V2"
    first = "A small difference: less than two points on average." if small else _PATTERNS[a.pattern.name]
    none = a.pattern.remedy.startswith(("None", "Probably none"))
    remedy = f"{'Remedy' if none else 'What usually helps'}: {_lower(a.pattern.remedy)}"
    if not small and a.pattern.name in _REPAIRED_AFTERWARDS:
        remedy += " It changes the numbers that are claimed; the model itself stays."
    return Section("Pattern and remedy", (first, remedy, _tested(found)))


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


def _tested(found: Remedies | str | None) -> str:
    if not isinstance(found, Remedies):
        return f"Not tested on these rows{': ' if found else '.'}{short(plain(found or ''), _NOTE)}"
    text = f"Tested on rows that the fit had not seen ({found.folds} folds): {_lower(found.answer)}"
    if found.best is None or found.best.after is None:
        return text
    before, after = found.before, found.best.after
    return (
        f"{text} The gap goes from {points(before.gap, signed=True)} to {points(after.gap, signed=True)} points, "
        f"the ECE from {score_text(before.ece)} to {score_text(after.ece)}."
    )


def threshold(a: Analysis) -> Section | None:
    """Rows acted on, errors expected and found."""
    panel = panel_of(a)
    if panel is None:
        return None
    acted = f"Acted on: {count_text(panel.acted.count)} of {count_text(a.n)} rows ({percent(panel.coverage)})."
    return Section("At your threshold", (acted, *act_lines(a)[:2]) if panel.acted.count else act_lines(a))


def worth(a: Analysis) -> Section:
    """Base rate, and what the model knows beyond it: being calibrated alone is not worth much."""
    skill = a.measures["skill"]
    constant = _CONSTANT[skill.reference]
    if skill.brier is None:
        return Section("Beyond the base rate", (_base_rate(a), "All outcomes are the same, so nothing can be said about it."))
    word = "better" if skill.brier >= 0 else "worse"
    line = f"Brier score {share_text(abs(skill.brier))} {word} than {constant}, which would be calibrated and of no use."
    return Section("Beyond the base rate", (_base_rate(a), line))


def _base_rate(a: Analysis) -> str:
    if "positive" in a.views:
        bins = a.views["positive"]
        share = float(np.nansum(bins.weight * bins.accuracy) / bins.weight.sum())
        return f"Base rate: {share_text(share)} of the rows are “{short(plain(a.positive_class or 'positive'), NAME_LENGTH)}”."
    if a.classwise is not None:
        most = max(a.classwise.rows, key=lambda c: a.classwise.rows[c] if a.classwise else 0)
        share = a.classwise.rows[most] / a.n
        return f"Most frequent of {len(a.classes)} classes: “{short(plain(most), NAME_LENGTH)}”, {share_text(share)} of the rows."
    return f"It is right in {share_text(a.accuracy)} of the rows."


# --- charts, table, data --------------------------------------------------------------------------------------------------


def charts(a: Analysis) -> tuple[Chart, ...]:
    """The diagram and the rows, narrow enough that their letters are as large as the report's."""
    diagram = reliability(a)
    height = round(min(diagram.height / diagram.width, _TALLEST) * _SIDE)
    least = diagram.x.low + _LABEL * (diagram.x.high - diagram.x.low)
    marks = tuple(replace(m, x=max(m.x, least)) if isinstance(m, Label) else m for m in diagram.marks)  # words end there
    return replace(diagram, marks=marks, width=_SIDE, height=height), counts(a, width=_SIDE, height=_LOW)


def how_to_read(a: Analysis) -> str:
    """The caption of both charts, for who has never seen one."""
    words, (diagram, rows) = words_of(a), charts(a)
    below = "the model is too sure, above it not sure enough" if a.view == "top_label" else "its probabilities are too high, above too low"
    return (
        f"Each point: predictions of about the same {words.predicted}. On the dashed line they come true as often as claimed; below it "
        f"{below}. {diagram.caption} Lower picture: where its predictions lie. {rows.caption}"
    )


def table(analyses: Sequence[Analysis]) -> Table:
    """The models side by side, narrow enough for a sheet of paper."""
    observed, said = ("Accuracy", "Mean confidence") if analyses[0].view == "top_label" else ("Share of positives", "Mean probability")
    level = percent(analyses[0].settings.level)
    header = ("Model", "Rows", observed, said, f"Gap, points ({level})", "ECE (by chance)", "Brier (scale)", "Log loss")
    return Table(header, tuple(_row(a) for a in analyses))


def _row(a: Analysis) -> tuple[str, ...]:
    return (
        short(plain(a.name), NAME_LENGTH),
        count_text(a.n),
        share_text(a.accuracy),
        share_text(a.mean_confidence),
        gap_text(a.gap),
        f"{score_text(a.ece)} ({chance_text(a)})",
        f"{score_text(a.brier)} ({a.brier_scale.split(', ')[-1]})",
        score_text(a.log_loss),
    )


def differences(analyses: Sequence[Analysis], comparison: Comparison | str | None) -> str:
    """Which of the models scores better, in sentences; or why they are not compared."""
    if not isinstance(comparison, Comparison):
        return f"Not compared with each other: {short(plain(comparison), _NOTE)}" if comparison else ""
    names, base = {a.name for a in analyses}, short(plain(comparison.baseline), NAME_LENGTH)
    found = (d for d in comparison.differences if {d.model, comparison.baseline} <= names)
    return " ".join(difference_sentence(replace(d, model=short(plain(d.model), NAME_LENGTH)), base) for d in found)


def key(a: Analysis) -> str:
    """What the columns mean."""
    gap = (
        "accuracy minus confidence, below zero is overconfident"
        if a.view == "top_label"
        else "share that happened minus mean probability, below zero where probabilities are too high"
    )
    return (
        f"Gap: {gap}. ECE: average distance of claim and outcome over the bins, beside what a calibrated model would show by chance. "
        "Brier score and log loss: overall error, lower is better."
    )


def facts(analyses: Sequence[Analysis]) -> tuple[tuple[str, str], ...]:
    """Files with rows and SHA-256, and the period covered."""
    return (*dict.fromkeys(_data(a) for a in analyses), ("Period covered", _period(analyses[0])))


def _data(a: Analysis) -> tuple[str, str]:
    rows = f"{count_text(a.n)} rows"
    if not a.source.get("file"):
        return "Data", f"{rows}, not read from a file"
    left_out = f", {count_text(a.n_excluded)} left out" if a.n_excluded else ""
    return "Data", f"{short(plain(str(a.source['file'])), _FILE)}, {rows}{left_out}; SHA-256 {plain(str(a.source.get('sha256', '–')))}"


def _period(a: Analysis) -> str:
    found: Periods | None = a.requested.get("periods")
    timed = [p for p in (found.periods if found is not None else ()) if p.position is not None]
    if not timed:
        return f"not known (no column of times). {_LATER}"
    first, last = (short(plain(_end(p, i)), NAME_LENGTH) for p, i in ((timed[0], 0), (timed[-1], -1)))
    return f"{first if first == last else f'{first} to {last}'}. {_LATER}"


def _end(period: Period, which: int) -> str:
    """The first or the last time of a period that is named by both."""
    return period.name.split(" to ")[which]


# --- caveats --------------------------------------------------------------------------------------------------------------


def caveats(a: Analysis, training: Training) -> Section:
    """What must be read beside the numbers."""
    lines = [training_statement(training)]
    lines += verdict_words(a)[1] if a.verdict.level in ("V0", "V1") else ()
    lines += [line for line in (view_note(a), _changes(a)) if line]
    lines.append(_bins(a))
    if a.task == "multiclass" and a.view == "top_label":
        lines.append("Checks only the predicted class; the probabilities of the other classes can be wrong.")
    notes = [*dict.fromkeys(map(plain, a.notes))]
    if not any(note.startswith("Rows come in ") for note in notes):
        lines.append("Intervals assume independent rows; repeated rows of one person or event make the true intervals wider.")
    lines += [short(note, _NOTE) for note in notes[:_NOTES]]
    if len(notes) > _NOTES:
        lines.append(f"{len(notes) - _NOTES} more notes on the data stand in the dashboard and in the output of calibcore measure.")
    return Section("Read with care", tuple(lines), listed=True)


def _bins(a: Analysis) -> str:
    s = a.settings
    kind = "the analyst's own" if s.strategy == "custom" else s.strategy.replace("_", "-")
    return (
        f"ECE depends on bins and rows: here {len(a.bins.count)} {kind} bins, {a.bins.used} of them with rows, and n = {count_text(a.n)}."
    )


def _changes(a: Analysis) -> str | None:
    found: Periods | None = a.requested.get("periods")
    if found is None or found.change is None or found.change.p_value > 0.05:
        return None
    names = [p.name for p in found.judged]
    return (
        f"The gap is not the same throughout the period ({len(names)} periods compared, p = {found.change.p_value:.2g}): see it by period."
    )
