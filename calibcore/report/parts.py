"""The parts of a report for a stakeholder, each in words: one page in all, so every part has its measure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibcore.advice.recalibration import Remedies
from calibcore.advice.verdict import PATTERN_NAMES, percent
from calibcore.analysis import Analysis, Comparison
from calibcore.checks import listing
from calibcore.inference.comparison import Differences
from calibcore.inference.groups import Groups
from calibcore.inference.periods import Periods
from calibcore.plot import counts, reliability
from calibcore.plot.frame import clustered, weighted, words_of, x_start
from calibcore.plot.marks import Chart
from calibcore.plot.wording import FEW_ROWS, difference, p_words
from calibcore.report.act_words import acting_lines, acting_notes, cost_lines, panel_of, whole
from calibcore.report.advising import pattern_lines
from calibcore.report.data_words import data_notes
from calibcore.report.group_words import group_sentence
from calibcore.report.naming import event_name, short, short_name
from calibcore.report.tables import Table, chance_text, count_text, ece_text, gap_text, plain, score_text, share_text
from calibcore.report.training import Answers, training_statements
from calibcore.report.which import other_scores, rows_compared, smaller_error
from calibcore.report.words import headline, worst_range

__all__ = [
    "MEANING",
    "Section",
    "caveats",
    "charts",
    "differences",
    "how_to_read",
    "key",
    "means",
    "pattern",
    "plain_terms",
    "table",
    "threshold",
    "title",
    "verdict_words",
    "which",
    "worth",
]

MEANING = (
    "A model is calibrated when its probabilities come true as often as they say: of all cases given 80%, about 80 in 100 happen. "
    "It shows whether the numbers can be believed, not how much the model knows."
)
_VERDICT_WORDS = 35
_NOTE = 180  # characters of a reason
_BESIDE = {1: 36, 2: 28, 3: 20}  # characters of a name in the title, by the number of models that stand beside the first
_COLUMNS = 2  # columns of groups that are told
_SIDE, _TALLEST, _LOW = 430, 0.95, 146  # pixels: width of the pictures, most height over it, height of the lower one
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


# --- title, verdict, and what stands beside the charts --------------------------------------------------------------------


def title(analyses: Sequence[Analysis]) -> str:
    """What the report is about, and which models stand beside it."""
    about = f"Calibration of {short_name(analyses[0].name)}"
    others = [short_name(a.name, _BESIDE[len(analyses) - 1]) for a in analyses[1:]]
    return f"{about}, beside {listing(others, len(others))}" if others else about


def verdict_words(a: Analysis) -> tuple[str, tuple[str, ...]]:
    """The verdict in at most 35 words, and the sentences that had no room in it."""
    first = headline(replace(a, name=short_name(a.name)))
    said = first.removeprefix(short_name(a.name)).lstrip(": ").removeprefix("is ").casefold()
    kept = [f"{first}."]
    left: list[str] = []
    for sentence in _sentences(_in_view(a)):
        if said in sentence.casefold():
            continue
        fits = not left and len(f"{' '.join(kept)} {sentence}".split()) <= _VERDICT_WORDS
        (kept if fits else left).append(sentence)
    return " ".join(kept), tuple(left)


def _in_view(a: Analysis) -> str:
    """The verdict's text; in another view it says that it judges the predicted class, which that view does not show."""
    text = a.verdict.text
    itself = a.view == "top_label" or "top_label" not in a.views  # a reduced file may hold one view alone, which is then judged
    if itself or a.verdict.level == "V0" or "in the positive view" in text.casefold():
        return text
    return f"Judged by the predicted class, {text[0].lower()}{text[1:]}"


def _sentences(text: str) -> list[str]:
    """Sentences of our own texts, in which a point before a space and a capital letter or digit is an end."""
    return re.split(r"(?<=\.) (?=[A-Z0-9])", text)


def means() -> Section:
    """What calibration is, in 40 words."""
    return Section("What calibration means", (MEANING,))


def plain_terms(a: Analysis) -> Section:
    """One sentence in frequencies; in another view also the range that is off most, for there errors can cancel on average."""
    worst = worst_range(a, short_name) if a.view != "top_label" else None
    return Section("In plain terms", (_of_all(a) if a.view != "top_label" else _in_ranges(a) or _of_all(a), *([worst] if worst else [])))


def _in_ranges(a: Analysis) -> str | None:
    """Where it is off, for the patterns that are about ranges."""
    found = [a.pattern.evidence[k] for k in ("over", "under") if a.pattern.evidence.get(k)]
    if a.pattern.name not in ("non_uniform_overconfidence", "local_overconfidence", "local_underconfidence") or not found:
        return None
    shares = [(percent(run["confidence"]), percent(run["accuracy"]).removesuffix("%")) for run in found]
    parts = [f"where it claims about {said}, {right} in 100 are right" for said, right in shares]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _of_all(a: Analysis) -> str:
    """How many errors (or events) are expected and found in 100, in more where they are rare, or in all rows where those are few."""
    top = a.view == "top_label"
    shares = (1 - a.mean_confidence, 1 - a.accuracy) if top else (a.mean_confidence, a.accuracy)
    among, (expected, found) = _frequencies(a, *shares)
    what = "wrong" if top else f"“{event_name(a)}”"
    among = among if top else f"On average, {among[0].lower()}{among[1:]}"
    return f"{among}, {expected} should be {what} by the model's own figures; {found} {'was' if found == '1' else 'were'}."


def _frequencies(a: Analysis, expected: float, found: float) -> tuple[str, tuple[str, str]]:
    """Of how many predictions, and both shares as numbers of them; never of more than there are."""
    base = next((b for b in (100, 1_000, 10_000) if b <= a.n and min(expected, found) * b >= 2), None)
    of_weights = " (weighted)" if weighted(a) else ""
    if base is not None:
        return f"Of every {base:,} predictions{of_weights}", (f"{base * expected:,.0f}", f"{base * found:,.0f}")
    if of_weights:
        return f"Of every 100 predictions{of_weights}", (share_text(expected).removesuffix("%"), share_text(found).removesuffix("%"))
    among = f"Of all {a.n:,} predictions" if a.n > 1 else "Of 1 prediction"
    return among, (whole(a.n * expected), f"{a.n * found:,.0f}")


def pattern(a: Analysis, found: Remedies | str | None, classes: str | None = None) -> Section:
    """What is wrong, what usually helps, and whether it was tested."""
    return Section("Pattern and remedy", pattern_lines(a, found, classes, most=_NOTE))


def threshold(a: Analysis) -> Section | None:
    """Rows acted on, errors expected and found."""
    if panel_of(a) is None:
        return None
    return Section("At your threshold", (*acting_lines(a), *acting_notes(a), *cost_lines(a)))


def worth(a: Analysis) -> Section:
    """Base rate, and what the model knows beyond it: being calibrated alone is not worth much."""
    skill = a.measures["skill"]
    constant = _CONSTANT[skill.reference]
    if skill.brier is None:
        return Section("Beyond the base rate", (_base_rate(a), "All outcomes are the same, so nothing can be said about it."))
    word = "smaller" if skill.brier >= 0 else "larger"
    line = (
        f"The error of the probabilities (Brier score) is {share_text(abs(skill.brier))} {word} than that of {constant}; "
        "such a forecast would be calibrated and could not tell one case from another."
    )
    return Section("Beyond the base rate", (_base_rate(a), line))


def _base_rate(a: Analysis) -> str:
    if "positive" in a.views:
        bins = a.views["positive"]
        share = float(np.nansum(bins.weight * bins.accuracy) / bins.weight.sum())
        return f"Base rate: {share_text(share)} of the rows are “{short_name(a.positive_class or 'positive')}”."
    if a.classwise is not None:
        most = max(a.classwise.rows, key=lambda c: a.classwise.rows[c] if a.classwise else 0)
        share = a.classwise.rows[most] / a.n
        return f"Most frequent of {len(a.classes)} classes: “{short_name(most)}”, {share_text(share)} of the rows."
    return f"It is right in {share_text(a.accuracy)} of the rows."


# --- charts, table, data --------------------------------------------------------------------------------------------------


def charts(a: Analysis) -> tuple[Chart, ...]:
    """The diagram and the rows, narrow enough that their letters are as large as the report's."""
    diagram = reliability(a, side=_SIDE)
    height = min(diagram.height, round(_TALLEST * _SIDE))
    return replace(diagram, height=height), counts(a, width=_SIDE, height=_LOW)


def how_to_read(a: Analysis) -> str:
    """The caption of both charts, for who has never seen one."""
    words, (_, rows) = words_of(a), charts(a)
    below = "the model is too sure, above it not sure enough" if a.view == "top_label" else "its probabilities are too high, above too low"
    return (
        f"Each point: predictions of about the same {words.predicted}. On the dashed line they come true as often as claimed; below it "
        f"{below}. {_marks(a)}Lower picture: how many predictions lie where. {rows.caption}"
    )


def _marks(a: Analysis) -> str:
    """What else is seen in the diagram."""
    if a.bins.shared:
        return f"{reliability(a, side=_SIDE).caption} "
    in_100 = f"{100 * a.settings.level:g}"
    parts = [f"Grey band: where {in_100} of 100 points would lie if the model were calibrated; the others fall outside by luck."]
    if bool((a.bins.count[a.bins.filled] < FEW_ROWS).any()):
        parts.append(f"Hollow points: fewer than {FEW_ROWS} rows.")
    if x_start(a) > 0:
        parts.append(f"The picture begins at {100 * x_start(a):.0f}%: of {len(a.classes)} classes, the likeliest has at least that much.")
    return " ".join(parts) + " "


def table(analyses: Sequence[Analysis]) -> Table:
    """The models side by side, narrow enough for a sheet of paper."""
    observed, said = ("Accuracy", "Mean confidence") if analyses[0].view == "top_label" else ("Share of positives", "Mean probability")
    level = percent(analyses[0].settings.level)
    numbers = ("Rows", observed, said, f"Gap, points ({level})", "ECE (chance alone)", "Brier score", "Log loss")
    header = ("Model", "Verdict", *numbers)
    return Table(header, tuple(_row(a) for a in analyses))


def _row(a: Analysis) -> tuple[str, ...]:
    return (
        short_name(a.name),
        _few_words(a),
        count_text(a.n),
        share_text(a.accuracy),
        share_text(a.mean_confidence),
        gap_text(a.gap),
        f"{ece_text(a)} ({chance_text(a.chance, a.n)})",
        score_text(a.brier, rows=a.n),
        score_text(a.log_loss, rows=a.n),
    )


def _few_words(a: Analysis) -> str:
    """The headline without its subject: "overconfident"."""
    if a.pattern.name == "none_detected":
        return PATTERN_NAMES[a.pattern.name]
    said = headline(replace(a, name="")).lstrip(": ")
    return said.removeprefix("is ").removeprefix("shows ").removesuffix(" in these rows")


def which(analyses: Sequence[Analysis], comparison: Comparison | str | None) -> str:
    """Which of the models makes the smaller error, by the score that decides; or why they are not compared."""
    if not isinstance(comparison, Comparison):
        return f"Not compared with each other: {short(plain(comparison), _NOTE)}" if comparison else ""
    base, level, found = _compared(analyses, comparison)
    said = [smaller_error(d, base, level) for d in found]
    better = sum(line.startswith(f"{d.model} makes") for d, line in zip(found, said, strict=True))
    return " ".join([*said, *([f"Each was compared with {base}, not with the others."] if better > 1 else [])])


def differences(analyses: Sequence[Analysis], comparison: Comparison | str | None) -> str:
    """What the other score says about each pair of models, and on which rows they were compared."""
    if not isinstance(comparison, Comparison):
        return ""
    base, level, found = _compared(analyses, comparison)
    rows = dict.fromkeys(rows_compared(d.pairing) for d in found)
    if len(rows) > 1:
        beside = [f"{d.model}: {other_scores(d, base, level)} {rows_compared(d.pairing)}" for d in found]
        return " ".join(beside)
    several = len(found) > 1
    beside = [f"{f'{d.model}: ' if several else ''}{said}" for d in found if (said := other_scores(d, base, level))]
    return " ".join([*beside, *(line.replace("Both were", "They were") if several else line for line in rows)])


def _compared(analyses: Sequence[Analysis], comparison: Comparison) -> tuple[str, float, list[Differences]]:
    """The name of the model that the others are compared with, the level, and the differences, with names that there is room for."""
    names = {a.name for a in analyses}
    found = [replace(d, model=short_name(d.model)) for d in comparison.differences if {d.model, comparison.baseline} <= names]
    return short_name(comparison.baseline), comparison.analyses[0].settings.level, found


def key(a: Analysis) -> str:
    """What the columns mean."""
    gap = (
        "accuracy minus confidence, below zero is overconfident"
        if a.view == "top_label"
        else "share that happened minus mean probability, below zero where probabilities are too high"
    )
    return (
        f"Gap: {gap}; in points, in brackets its interval. ECE: average distance of claim and outcome over the bins, "
        "in brackets what a calibrated model typically shows by chance alone, and exceeds in 1 of 20 samples. "
        f"Brier score ({a.brier_scale.split(', ')[-1]}) and log loss: overall error, lower is better."
    )


# --- caveats --------------------------------------------------------------------------------------------------------------


def caveats(analyses: Sequence[Analysis], training: Answers) -> Section:
    """What must be read beside the numbers; ``training`` has the answer for each model by its name."""
    a = analyses[0]
    lines = [*training_statements({short_name(name): answer for name, answer in training.items()})]
    lines += verdict_words(a)[1] if a.verdict.level in ("V0", "V1") else ()
    lines += [line for line in (_view_line(a), _changes(a)) if line]
    lines += _by_group(a)
    lines.append(_bins(a))
    if a.task == "multiclass" and a.view == "top_label":
        lines.append("Checks only the predicted class; the probabilities of the other classes can be wrong.")
    if not clustered(a):
        lines.append("Intervals assume independent rows; repeated rows of one person or event make the true intervals wider.")
    lines += data_notes(analyses)
    return Section("Read with care", tuple(lines), listed=True)


def _view_line(a: Analysis) -> str | None:
    """What the verdict judges, where the picture shows something else."""
    if a.view == "top_label" or "top_label" not in a.views:
        return None
    event = f"“{event_name(a)}”"
    if a.pattern.name == "shifted":
        return f"The verdict is about the probability of {event}." if a.view == "positive" else "The verdict is about the positive class."
    if a.view == "positive":
        judged = f"The picture shows the probability of {event}, the verdict judges the predicted class."
        return f"{judged}"
    return f"The picture shows {event} against all other classes; the verdict judges the predicted class."


def _bins(a: Analysis) -> str:
    s = a.settings
    bins = "bin" if len(a.bins.count) == 1 else "bins"
    kind = f"{bins} of the analyst's own" if s.strategy == "custom" else f"{s.strategy.replace('_', '-')} {bins}"
    return f"ECE depends on bins and rows: here {len(a.bins.count)} {kind}, {a.bins.used} of them with rows, and n = {count_text(a.n)}."


def _changes(a: Analysis) -> str | None:
    found: Periods | None = a.requested.get("periods")
    if found is None or found.change is None or found.change.p_value > 0.05:
        return None
    ends = (f(found.judged, key=lambda p: p.gap.value) for f in (min, max))
    low, high = (f"{difference(p.gap.value, in_points=True)} points ({short_name(p.name)})" for p in ends)
    compared = f"{len(found.judged)} periods compared, {p_words(found.change.p_value)}"
    return f"The gap is not the same throughout the period ({compared}): from {low} to {high}."


def _by_group(a: Analysis) -> list[str]:
    """For which groups the gap is off 0, column by column, where the settings ask for groups."""
    asked: Mapping[str, Groups] = a.requested.get("groups", {})
    lines = [group_sentence(found, short_name) for found in asked.values()]
    more = len(lines) - _COLUMNS
    if more <= 0:
        return lines
    stand = "column of groups stands" if more == 1 else "columns of groups stand"
    return [*lines[:_COLUMNS], f"{more:,} more {stand} in the output of calibcore measure."]
