"""Results in sentences: the headline, what a page says beside its charts, and the caveats that apply."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from calibcore.advice.patterns import MIN_ROWS
from calibcore.advice.verdict import confidence_range, percent
from calibcore.analysis import Analysis
from calibcore.checks import rows_text
from calibcore.plot.frame import clustered, directions, notable, weighted, words_of
from calibcore.plot.wording import FEW_ROWS, bin_range, difference, interval_words
from calibcore.report.reduced_words import about_text
from calibcore.report.rows import BinRows
from calibcore.report.tables import (
    Table,
    chance_sentence,
    chance_text,
    count_text,
    ece_text,
    mce_text,
    plain,
    score_text,
    settings_text,
    share_text,
)
from calibcore.report.training import Training, training_caveat
from calibcore.report.view_words import event_of

__all__ = [
    "Caveat",
    "Number",
    "bin_option",
    "caveats",
    "event_of",
    "evidence_lines",
    "has_remedy",
    "headline",
    "key_numbers",
    "markdown_free",
    "other_view",
    "remedy_label",
    "remedy_line",
    "rows_line",
    "shown_lines",
    "strategy_table",
    "sweep_sentence",
    "training_caveats",
    "view_note",
    "worst_range",
]

_HEADLINES = {
    "uniform_overconfidence": "is overconfident",
    "uniform_underconfidence": "is underconfident",
    "local_overconfidence": "is overconfident in one range",
    "local_underconfidence": "is underconfident in one range",
    "non_uniform_overconfidence": "is too sure in some ranges, not sure enough in others",
    "extreme_overconfidence": "is mostly very sure, and too often wrong",
    "none_detected": "shows no miscalibration in these rows",
    "unclear": "differs from its claims, but not in a clear place",
}
_NO_REMEDY = ("None", "Probably none", "Recalibration cannot")  # how the advice against one begins
_SMALL_P = 0.001
_FEWEST, _MOST = 5, 50  # numbers of bins that a sentence speaks of
_JOINER = "\u2060"  # of no width: addresses are made links even where every sign is escaped, unless something is between
_MASS_WHY = (
    "Another sample or model has other edges, so its seventh bin is not the same range. "
    "Equal width and custom edges are the same for every model."
)
_TRAINING_WHY = (
    "A model fits rows that it has seen better than new ones, so its errors there come out too small. "
    "The question is beside each file in the sidebar; answer No where the rows were kept apart."
)
_USEFUL_WHY = (
    "A constant forecast of the base rate can have an ECE near 0 and say nothing. Read accuracy, Brier score and log loss beside it."
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its name and what must be read beside it."""

    label: str
    value: str
    beside: str


@dataclass(frozen=True, slots=True)
class Caveat:
    """One line, and why."""

    line: str
    why: str


def markdown_free(text: str) -> str:
    r"""Text from a file so that Markdown shows it as it is: no emphasis, link, image, formula, icon or colour.

    Examples
    --------
    >>> print(markdown_free("![x](a)"))
    \!\[x\]\(a\)
    """
    unlinked = re.sub(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=\w)", _JOINER, plain(text))
    return re.sub(r"([\\`*_{}\[\]()<>#+.!|~:$&@^=-])", r"\\\1", unlinked)


def headline(a: Analysis) -> str:
    """Who and what, in one line.

    Parameters
    ----------
    a : Analysis
    """
    name = plain(a.name)
    if a.verdict.level == "V0":
        return f"{name}: too few rows to judge"
    if a.verdict.level == "V2":
        return f"{name} is off by a small amount"
    if a.pattern.name == "confidence_collapse":
        return f"{name} hardly commits itself"
    if a.pattern.name == "shifted":
        over = a.pattern.evidence["expected_events"] > a.pattern.evidence["events"]
        return f"{name} {'overstates' if over else 'understates'} risks on the whole"
    return f"{name} {_HEADLINES.get(a.pattern.name, _HEADLINES['unclear'])}"


def remedy_line(a: Analysis) -> str | None:
    """What usually helps, unless the verdict has said it or nothing needs help."""
    if a.verdict.level in ("V0", "V1", "V2") or a.pattern.remedy in a.verdict.text:
        return None
    return f"{remedy_label(a)}: {a.pattern.remedy}"


def has_remedy(a: Analysis) -> bool:
    """Whether the pattern's advice names a remedy, and does not advise against one."""
    return not a.pattern.remedy.startswith(_NO_REMEDY)


def remedy_label(a: Analysis) -> str:
    """What stands before the pattern's advice."""
    return "What usually helps" if has_remedy(a) else "Remedy"


def key_numbers(a: Analysis) -> tuple[Number, ...]:
    """Gap, ECE, MCE, Brier score and log loss, each with what it must be read beside."""
    ends = interval_words(a.gap, in_points=True)
    low_high = f"{percent(a.settings.level)} interval {ends} points" if ends else "no interval from these rows"
    return (
        Number("Gap", f"{difference(a.gap.value, in_points=True)} points", low_high),
        Number("ECE", ece_text(a), f"chance alone: {chance_text(a.chance, a.n)}"),
        Number("MCE", f"{about_text(a, 'mce')}{score_text(a.bins.mce, rows=a.n)}", mce_text(a.bins).partition(" ")[2].strip("()")),
        Number("Brier", score_text(a.brier, rows=a.n), f"{a.brier_scale}; lower is better"),
        Number("Log loss", score_text(a.log_loss, rows=a.n), "in nats; lower is better"),
    )


def shown_lines(a: Analysis) -> tuple[str, ...]:
    """What the diagram shows, in three lines."""
    words = words_of(a)
    level = "accuracy" if a.view == "top_label" else "base rate"
    found = directions(a.bins, a.settings.level)
    over, under = found.count("over"), found.count("under")
    too_sure, unsure = ("too sure", "not sure enough") if a.view == "top_label" else (words.over, words.under)
    bins = (
        f"Of {a.bins.used} {'bin' if a.bins.used == 1 else 'bins'} with rows, {over or 'none'} {_lie(over)} below what a calibrated model "
        f"would show ({too_sure}), {under or 'none'} above ({unsure})."
    )
    if a.bins.shared:
        bins = f"{a.bins.used} {'bin shares' if a.bins.used == 1 else 'bins share'} tied rows, so no range can be given for them."
    return (
        f"Mean {words.predicted} {share_text(a.mean_confidence)}, {level} {share_text(a.accuracy)}, {rows_text(a.n)}.",
        bins,
        _too_few(a) or f"The test for miscalibration does not use these bins: {_p_text(a.detection.p_value)}.",
    )


def _too_few(a: Analysis) -> str | None:
    """Where there are too few rows for a verdict its test has none to give."""
    return f"A verdict needs {MIN_ROWS} rows, so no test of these {rows_text(a.n)} is told." if a.verdict.level == "V0" else None


def _lie(n: int) -> str:
    return "lies" if n == 1 else "lie"


def _p_text(p: float) -> str:
    text = "p ≤ 0.001" if p <= _SMALL_P else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
    return f"{text}, {'a difference is detected' if p <= 0.05 else 'no difference is detected'}"


def rows_line(a: Analysis, i: int, rows: BinRows) -> str:
    """A bin with what happened in its rows, and which of them come first."""
    event = event_of(a)
    if event is None:
        happened = f"{rows.n - rows.errors:,} right, {rows.errors:,} wrong; the most confident errors come first."
    else:
        events = int(rows.predictions.rows(rows.view)[1][rows.index].sum())
        first = "rows whose outcome lies farthest from their probability come first."
        was, others = ("was" if n == 1 else "were" for n in (events, rows.n - events))
        happened = f"{events:,} {was} “{event}”, {rows.n - events:,} {others} not; {first}"
    return f"{bin_option(a, i)}. {happened}"


def worst_range(a: Analysis, name: Callable[[str], str] = str) -> str | None:
    """The bin that matters most, in frequencies; None where no bin leaves its calibrated range.

    Parameters
    ----------
    a : Analysis
    name : function
        The name of a class as it is shown.
    """
    i = notable(a.bins, a.settings.level)
    if i is None:
        return None
    n, words = float(a.bins.count[i]), words_of(a)
    shares = float(a.bins.accuracy[i]), float(a.bins.confidence[i])
    right, expected = (f"{percent(x)} by weight" if weighted(a) else f"{x * n:,.0f}" for x in shares)
    event = event_of(a)
    what = "right" if event is None else f"“{name(event)}”"
    of = f"Of {count_text(n)} {'prediction' if n == 1 else 'predictions'} made at {bin_range(a.bins, i)} {words.predicted}"
    return f"{of}, {right} {'was' if right == '1' else 'were'} {what}; about {expected} would be expected."


def bin_option(a: Analysis, i: int) -> str:
    """A bin to choose: "90–95%: 341 rows, says 93%, right 79%"."""
    b = a.bins
    said, was = f"{100 * b.confidence[i]:.0f}%", f"{100 * b.accuracy[i]:.0f}%"
    rows = f"{count_text(float(b.count[i]))} {'row' if b.count[i] == 1 else 'rows'}"
    return f"{bin_range(b, i)}: {rows}, says {said}, {words_of(a).happened} {was}"


def evidence_lines(a: Analysis) -> tuple[str, ...]:
    """Why the verdict is what it is: the test and the runs of confidences it rests on."""
    together = ", which keep rows of a cluster together" if clustered(a) else ""
    lines = [_too_few(a) or f"Test over {a.detection.draws:,} redraws of the labels{together}: {_p_text(a.detection.p_value)}."]
    for side, word in (("over", "Too sure"), ("under", "Not sure enough")):
        run = a.pattern.evidence.get(side)
        if run:
            where = confidence_range(run["low"], run["high"])
            gap = difference(run["gap"], in_points=True)
            lines.append(f"{word} at {where} confidence: {rows_text(run['count'])}, gap {gap} points.")
    halves = a.pattern.evidence.get("halves_z")
    if a.pattern.name.startswith("uniform") and halves and len(a.detection.bins.count) > 1:
        lines.append("It shows in the half of the rows with the lower confidence and in the half with the higher.")
    return tuple(lines)


def view_note(a: Analysis) -> str | None:
    """What must be known to read another view than the confidence view."""
    judged = f"The pattern is judged in the {'Positive-class' if a.pattern.name == 'shifted' else 'Confidence'} view."
    if a.view == "positive":
        return f"A point above the line: it happened more often than said. {judged}"
    if a.view.startswith("class:"):
        return f"One class against the rest. {judged}"
    if a.task == "binary":
        positive, other = plain(a.positive_class or "positive"), plain(next((c for c in a.classes if c != a.positive_class), "other"))
        itself = f"For the probability of “{positive}” itself choose View: Positive class."
        return f"Judged here: the predicted class, “{positive}” or “{other}”. {itself}"
    return None


def other_view(a: Analysis) -> str | None:
    """ECE and MCE of the view of a binary model that is not shown; they are different statistics."""
    titles = {"top_label": "Confidence view", "positive": "Positive-class view"}
    found = [
        f"{titles[v]}: ECE {score_text(b.ece, rows=a.n)}, MCE {score_text(b.mce, rows=a.n)}." for v, b in a.views.items() if v != a.view
    ]
    return " ".join(found) or None


def caveats(a: Analysis) -> tuple[Caveat, ...]:
    """What must be read beside these numbers, most important first."""
    by_chance = f"ECE depends on bins and rows. {chance_sentence(a.chance, a.view, a.n)}"
    found = [Caveat(by_chance, f"Computed with {settings_text(a.settings)} The page Bins and rows shows other numbers of bins.")]
    if a.settings.strategy == "equal_mass":
        found.append(Caveat("The edges come from this data.", _MASS_WHY))
    if a.task == "multiclass" and a.view == "top_label":
        found.append(Caveat("Checks only the predicted class.", _classes_why(a)))
    rows = float(a.bins.count[a.bins.mce_bin])
    few = ", here of a bin with few rows" if rows < FEW_ROWS else ""
    one = "row" if rows == 1 else "rows"
    where = f"It is the gap of the bin {bin_range(a.bins, a.bins.mce_bin)}, which holds {count_text(rows)} {one}."
    which = "the only gap, a noisy one" if a.bins.used == 1 else f"the largest of {a.bins.used} noisy gaps"
    found.append(Caveat(f"MCE is {which}{few}.", where))
    found.append(Caveat("A small ECE alone does not make a model useful.", _USEFUL_WHY))
    if not clustered(a):
        found.append(Caveat("Intervals assume independent rows.", "Repeated rows of one person or event make the true intervals wider."))
    return tuple(found)


def training_caveats(answer: Training, name: str | None = None) -> tuple[Caveat, ...]:
    """What must be read where a model may have seen these rows; ``name`` says which of several models."""
    line = training_caveat(answer)
    if line is None:
        return ()
    return (Caveat(line if name is None else f"{plain(name)}: {line[0].lower()}{line[1:]}", _TRAINING_WHY),)


def _classes_why(a: Analysis) -> str:
    text = "The probabilities of the other classes can be wrong while this view looks right. Choose One class under View to see them."
    return text if a.classwise is None else f"{text} Mean one-vs-rest ECE over {len(a.classes)} classes: {score_text(a.classwise.mean)}."


def _beyond(a: Analysis) -> str:
    """Whether the ECE of the strategy that chance is known for passes it, for every number of bins or for some."""
    mass = a.settings.strategy == "equal_mass"
    at = {m: i for i, m in enumerate(a.sweep.n_bins)}
    shown = a.sweep.equal_mass if mass else a.sweep.equal_width
    beyond = [shown[at[m]] > p95 for m, p95 in zip(a.chance_sweep.n_bins, a.chance_sweep.p95, strict=True) if m >= _FEWEST]
    which = f"The equal-{'mass' if mass else 'width'} ECE is"
    if all(beyond):
        return f"{which} beyond chance for every number of bins from {_FEWEST} to {_MOST}."
    if not any(beyond):
        return f"{which} within chance for every number of bins from {_FEWEST} to {_MOST}."
    return f"{which} beyond chance for {sum(beyond)} of the {len(beyond)} numbers of bins from {_FEWEST} to {_MOST}."


def _swept(a: Analysis, line: Sequence[float]) -> str:
    found = [e for m, e in zip(a.sweep.n_bins, line, strict=True) if _FEWEST <= m <= _MOST]
    low, high = (score_text(e, rows=a.n) for e in (min(found), max(found)))
    return f"from {low} to {high}" if low != high else f"at {low} throughout"


def sweep_sentence(a: Analysis) -> str:
    """Does ECE depend on the number of bins, and what has the verdict to do with it; each strategy by itself."""
    number = len(a.bins.count) if a.settings.strategy == "custom" else a.settings.n_bins
    runs = f"{_swept(a, a.sweep.equal_width)} with equal-width bins and {_swept(a, a.sweep.equal_mass)} with equal-mass bins"
    return (
        f"Between {_FEWEST} and {_MOST} bins ECE runs {runs}. "
        f"In the {number} {a.settings.strategy.replace('_', '-')} bins shown it is {ece_text(a)}; "
        f"chance alone gives {chance_text(a.chance, a.n)} there. {_beyond(a)} "
        "The verdict does not change with the bins: its test uses bins of its own."
    )


def strategy_table(analyses: Sequence[Analysis], n_bins: int) -> Table:
    """ECE of both strategies with the same number of bins, where the shown bins are neither."""
    header = ("Model", f"ECE (equal width, {n_bins} bins)", f"ECE (equal mass, {n_bins} bins)")
    at = {m: i for i, m in enumerate(analyses[0].sweep.n_bins)}[n_bins]
    return Table(header, tuple((plain(a.name), score_text(a.sweep.equal_width[at]), score_text(a.sweep.equal_mass[at])) for a in analyses))
