"""Results as tables of text, shared by everything that prints them; the one place for the formats of numbers."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibcore.advice.patterns import MIN_ROWS
from calibcore.advice.verdict import PATTERN_NAMES, percent
from calibcore.analysis import Analysis, Comparison, Settings
from calibcore.binned import BinnedStatistics
from calibcore.checks import name_key, percent_text
from calibcore.inference.chance import ChanceRange
from calibcore.inference.comparison import Differences
from calibcore.inference.intervals import Estimate
from calibcore.plot.wording import difference, interval_words, pairing_text
from calibcore.report.reduced_words import about_text, within_text

__all__ = [
    "BY_CHANCE",
    "CHANCE_KEY",
    "NONE",
    "Table",
    "chance_sentence",
    "chance_text",
    "count_text",
    "difference_table",
    "ece_text",
    "gap_text",
    "interval_text",
    "mce_text",
    "model_table",
    "p_text",
    "plain",
    "record_table",
    "score_text",
    "settings_text",
    "share_text",
    "spreadsheet_safe",
    "to_csv",
    "to_markdown",
    "transposed",
    "view_text",
]

NONE = "–"
BY_CHANCE = "ECE by chance (typically, up to)"  # heads what `chance_text` gives
CHANCE_KEY = "ECE by chance: what a calibrated model typically shows on such rows, and what it exceeds in 1 of 20 samples."
_LEAST_P = 1 / 1001  # of a test by 1,000 redraws
_FEW = 30  # rows below which a bin's gap is mostly noise
# What a spreadsheet takes for a formula: its sign first in a cell, also behind what is skipped or taken for a quote.
_FORMULA = re.compile(r"""[\s\x00-\x1f\ufeff\u200b"'`“”„‘’«»]*[=+\-@＝＋－＠]""")
_BETWEEN = re.compile(r"([;\t\r\n])")  # where spreadsheets of other countries begin a new cell, quoted or not
_CLOSED = {"right": "(a, b]", "left": "[a, b)"}

_RECORD: tuple[tuple[str, str], ...] = (  # column of the CSV → where the value lies in `Analysis.to_dict`
    ("model", "name"),
    ("file", "source.file"),
    ("task", "task"),
    ("view", "settings.view"),
    ("bins", "settings.n_bins"),
    ("strategy", "settings.strategy"),
    ("closed", "settings.closed"),
    ("ties", "settings.ties"),
    ("edges", "settings.edges"),
    ("level", "settings.level"),
    ("seed", "settings.seed"),
    ("n", "n"),
    ("n_excluded", "n_excluded"),
    ("weight_sum", "weight_sum"),
    ("n_tied", "n_tied"),
    ("accuracy", "accuracy"),
    ("mean_confidence", "mean_confidence"),
    ("gap", "gap.value"),
    ("gap_low", "gap.low"),
    ("gap_high", "gap.high"),
    ("ece", "ece"),
    ("chance_median", "chance.median"),
    ("chance_p95", "chance.p95"),
    ("chance_p_value", "chance.p_value"),
    ("mce", "mce.value"),
    ("mce_bin", "mce.bin"),
    ("mce_count", "mce.count"),
    ("rmsce", "rmsce"),
    ("bins_used", "bins_used"),
    ("brier", "brier.value"),
    ("brier_scale", "brier.scale"),
    ("log_loss", "log_loss.value"),
    ("log_loss_clipped", "log_loss.clipped"),
    ("classwise_ece_mean", "classwise.mean"),
    ("detection_p_value", "detection.p_value"),
    ("pattern", "pattern.name"),
    ("verdict", "verdict"),
)
_DIFFERENCE: tuple[tuple[str, str], ...] = (  # the same for one entry of `comparison.differences`
    ("baseline", "baseline"),
    ("paired", "paired"),
    ("n_common", "n_common"),
    ("log_loss_difference", "log_loss.value"),
    ("log_loss_difference_low", "log_loss.low"),
    ("log_loss_difference_high", "log_loss.high"),
    ("brier_difference", "brier.value"),
    ("brier_difference_low", "brier.low"),
    ("brier_difference_high", "brier.high"),
    ("gap_difference", "gap.value"),
    ("gap_difference_low", "gap.low"),
    ("gap_difference_high", "gap.high"),
    ("ece_difference", "ece.value"),
)


@dataclass(frozen=True, slots=True)
class Table:
    """A header and rows of the same length."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def p_text(p: float | None, drawn: float | None) -> str:
    """A p-value; one that rests on the least that redraws can give is an upper bound, and told as such.

    Parameters
    ----------
    p : float, optional
        As it is shown, such as adjusted.
    drawn : float, optional
        The p-value of the redraws that it was made from.
    """
    if p is None:
        return NONE
    return f"≤ {p:.2g}" if drawn is not None and drawn <= _LEAST_P else f"{p:.2g}"


def count_text(n: float) -> str:
    """Rows with thousands apart: 4000 → "4,000"; a share of tied rows keeps one decimal."""
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"


def score_text(x: float | None, *, signed: bool = False, rows: float | None = None) -> str:
    """ECE, Brier score, log loss: four decimals, two where there are too few ``rows`` to judge a model; "–" where undefined."""
    if x is None:
        return NONE
    decimals = 2 if rows is not None and rows < MIN_ROWS else 4
    text = f"{x:+.{decimals}f}" if signed else f"{x:.{decimals}f}"
    return _minus(text.lstrip("+-") if float(text) == 0 else text)


def ece_text(a: Analysis) -> str:
    """The ECE in the bins shown; of a reduced profile whose cells these bins cut, with how far it can be from that of the rows."""
    return f"{score_text(a.ece, rows=a.n)}{within_text(a, 'ece')}"


def chance_text(c: ChanceRange, rows: float | None = None) -> str:
    """What a calibrated model typically shows, and exceeds in 1 of 20 samples, median and 95th percentile: "0.0080, up to 0.0139"."""
    return f"{score_text(c.median, rows=rows)}, up to {score_text(c.p95, rows=rows)}"


def chance_sentence(c: ChanceRange, view: str, rows: float | None = None) -> str:
    """The same in a sentence, for a view."""
    what = "confidences" if view == "top_label" else "probabilities"
    typical, most = (score_text(x, rows=rows) for x in (c.median, c.p95))
    return f"A calibrated model with these {what} typically shows {typical} here by chance, and more than {most} in 1 of 20 samples."


def share_text(x: float | None) -> str:
    """A level as `calibcore.checks.percent_text` writes it; "–" where undefined."""
    return NONE if x is None else percent_text(x)


def interval_text(e: Estimate | None, *, in_points: bool = False) -> str:
    """A difference with its interval: "−11.0 (−12.2 to −9.8)"; only the value where there is no interval."""
    if e is None:
        return NONE
    ends = interval_words(e, in_points=in_points)
    value = difference(e.value, in_points=in_points)
    return value if ends is None else f"{value} ({ends})"


def gap_text(e: Estimate) -> str:
    """A gap in points with its interval; negative means overconfident."""
    return interval_text(e, in_points=True)


def _minus(text: str) -> str:
    return text.replace("-", "−")


def view_text(view: str) -> str:
    """A view by its name: "confidence view", "positive view", "class:cat view"."""
    return f"{'confidence' if view == 'top_label' else plain(view)} view"


def _view_option(view: str) -> str:
    return "confidence view (top-label)" if view == "top_label" else view_text(view)


def settings_text(settings: Settings) -> str:
    """What every number was computed with, in one line."""
    s = settings
    width = "" if s.edges is None else f" ({', '.join(f'{e:g}' for e in s.edges[:12])}{', …' if len(s.edges) > 12 else ''})"
    number = s.n_bins if s.edges is None else len(s.edges) - 1
    ties = f", ties {'kept together' if s.ties == 'together' else 'shared'}" if s.strategy == "equal_mass" else ""
    return (
        f"{number} {s.strategy.replace('_', '-')} bins{width} {_CLOSED[s.closed]}{ties}; {_view_option(s.view)}; "
        f"{percent(s.level)} intervals; seed {s.seed}."
    )


def model_table(analyses: Sequence[Analysis]) -> Table:
    """Models side by side, one row each, for people.

    Parameters
    ----------
    analyses : sequence of Analysis
        Under the same settings; at least one.

    Returns
    -------
    Table
        ECE stands with its chance range: what a calibrated model with these confidences typically shows, and exceeds in
        1 of 20 samples.  Both strategies are shown where the bins are not custom.
    """
    settings = analyses[0].settings
    words = ("Accuracy", "Mean confidence") if settings.view == "top_label" else ("Share of positives", "Mean probability")
    others = _other_strategies(settings)
    header: tuple[str, ...] = ("Model", "Rows", *words, f"Gap, points ({percent(settings.level)})")
    header += (f"ECE ({_strategy_words(settings.strategy)})", BY_CHANCE)
    header += tuple(f"ECE ({_strategy_words(other)})" for other in others)
    header += ("MCE (bin, rows)", "Brier (scale)", "Log loss", "Pattern")
    return Table(header, tuple(_model_row(a, others) for a in analyses))


def _model_row(a: Analysis, others: tuple[str, ...]) -> tuple[str, ...]:
    return (
        plain(a.name),
        count_text(a.n),
        share_text(a.accuracy),
        share_text(a.mean_confidence),
        gap_text(a.gap),
        ece_text(a),
        chance_text(a.chance, a.n),
        *(f"{score_text(_swept(a, o), rows=a.n)}{within_text(a, f'ece.{o}')}" for o in others),
        f"{about_text(a, 'mce')}{mce_text(a.bins)}",
        f"{score_text(a.brier, rows=a.n)} ({a.brier_scale.split(', ')[-1]})",
        score_text(a.log_loss, rows=a.n),
        PATTERN_NAMES[a.pattern.name],
    )


def mce_text(b: BinnedStatistics) -> str:
    """The largest gap with its bin and that bin's rows: "0.2131 (73–80%, 41 rows)"."""
    i = b.mce_bin
    n = float(b.count[i])
    only = "only " if n < _FEW else ""
    low, high = (f"{100 * float(b.edges[j]):.3g}" for j in (i, i + 1))
    return f"{score_text(b.mce, rows=float(b.count.sum()))} ({low}–{high}%, {only}{count_text(n)} {'row' if n == 1 else 'rows'})"


def _strategy_words(strategy: str) -> str:
    return strategy.replace("_", " ") + (" bins" if strategy == "custom" else "")


def _other_strategies(settings: Settings) -> tuple[str, ...]:
    return () if settings.strategy == "custom" else tuple(s for s in ("equal_width", "equal_mass") if s != settings.strategy)


def _swept(a: Analysis, strategy: str) -> float | None:
    """ECE of the other strategy with as many bins, as far as the sweep has it."""
    at = {m: i for i, m in enumerate(a.sweep.n_bins)}.get(a.settings.n_bins)
    values: Sequence[float] = getattr(a.sweep, strategy)
    return None if at is None else values[at]


def difference_table(comparison: Comparison) -> Table:
    """Each model minus the baseline; the ECE difference is a number without an interval, and decides nothing."""
    header = ("Model", f"Minus {plain(comparison.baseline)}", "Log loss", "Brier", "Gap, points", "ECE (no interval)")
    return Table(header, tuple(_difference_row(d, comparison.ece_difference(d.model)) for d in comparison.differences))


def _difference_row(d: Differences, ece: float) -> tuple[str, ...]:
    return (
        plain(d.model),
        pairing_text(d.pairing),
        interval_text(d.log_loss),
        interval_text(d.brier),
        gap_text(d.gap),
        difference(ece),
    )


def record_table(analyses: Sequence[Analysis], comparison: Comparison | None = None) -> Table:
    """One row a model with every scalar at full precision, for machines; an undefined value is empty.

    Parameters
    ----------
    analyses : sequence of Analysis
    comparison : Comparison, optional
        Adds the differences to the baseline, empty in the baseline's own row.
    """
    rows = [_record(_RECORD, a.to_dict()) for a in analyses]
    header = tuple(name for name, _ in _RECORD)
    if comparison is not None:
        found = {d["model"]: d for d in comparison.to_dict()["comparison"]["differences"]}
        differences = [{"baseline": comparison.baseline, **found.get(a.name, {})} for a in analyses]
        rows = [row + _record(_DIFFERENCE, d) for row, d in zip(rows, differences, strict=True)]
        header += tuple(name for name, _ in _DIFFERENCE)
    return Table(header, tuple(rows))


def _record(columns: tuple[tuple[str, str], ...], tree: dict[str, Any]) -> tuple[str, ...]:
    return tuple(_cell(_at(tree, path)) for _, path in columns)


def _at(tree: dict[str, Any], path: str) -> Any:
    value: Any = tree
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return " ".join(map(str, value))
    return spreadsheet_safe(value) if isinstance(value, str) else str(value)


def spreadsheet_safe(text: str) -> str:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers.

    Examples
    --------
    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("-0.5"), spreadsheet_safe("a;=1+1")
    ("'=1+1", '-0.5', "a;'=1+1")
    """
    if _is_number(text):
        return text
    safe = "".join(f"'{part}" if _FORMULA.match(part) and not _is_number(part) else part for part in _BETWEEN.split(text))
    return f"'{safe}" if text.startswith(("\t", "\r", "\n")) else safe


def _is_number(text: str) -> bool:
    return isinstance(name_key(text), (int, float))


def transposed(table: Table) -> Table:
    """Rows as columns: a wide table on a narrow screen."""
    header, *rows = zip(table.header, *table.rows, strict=True)
    return Table(header, tuple(rows))


def to_csv(table: Table) -> str:
    """A table as CSV with a header line."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([table.header, *table.rows])
    return out.getvalue()


def to_markdown(blocks: Sequence[Table | str]) -> str:
    """Blocks in GitHub's Markdown: tables, then lines as paragraphs; nothing in a name is markup."""
    return "\n".join(_markdown_table(b) if isinstance(b, Table) else f"{_unmarked(b.strip())}\n" for b in blocks if b)


def _markdown_table(table: Table) -> str:
    lines = [table.header, ("---",) * len(table.header), *table.rows]
    return "".join(f"| {' | '.join(map(_unmarked, line))} |\n" for line in lines)


def _unmarked(text: str) -> str:
    return re.sub(r"([\\`*<>\[\]|~&]|\b_|_\b)", r"\\\1", plain(text))


def plain(text: str) -> str:
    """A text from a file as one line that no terminal takes as a command: control characters are spelt out."""
    return "".join(c.encode("unicode_escape").decode("ascii") if _commands(c) else c for c in text)


def _commands(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind.startswith("C") or kind in ("Zl", "Zp")
