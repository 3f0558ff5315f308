"""What a run or a file says to people, as tables and lines, in the order in which they are read."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from calibcore.analysis import Analysis, Comparison
from calibcore.errors import Question
from calibcore.io import Layout
from calibcore.report.compare_words import compared_lines, notes_of
from calibcore.report.details import bin_blocks, detail_table, requested_blocks
from calibcore.report.tables import CHANCE_KEY, Table, count_text, difference_table, model_table, plain, settings_text
from calibcore.report.view_words import in_this_view, judged_text

__all__ = ["layout_blocks", "question_text", "result_blocks"]

_SPELT_OUT = 4  # answers or columns written out; more are only listed
_ROLES = ("label", "predicted", "confidence", "correct", "probabilities", "positive", "model", "weight")


def result_blocks(analyses: Sequence[Analysis], comparison: Comparison | None = None) -> list[Table | str]:
    """A run for people: tables, what they were computed with, then each model's verdict and notes.

    Parameters
    ----------
    analyses : sequence of Analysis
    comparison : Comparison, optional
        Puts the baseline first and adds the differences to it.
    """
    ordered = analyses if comparison is None else sorted(analyses, key=lambda a: a.name != comparison.baseline)
    blocks: list[Table | str] = [model_table(ordered)]
    if comparison is None:
        blocks.append(detail_table(ordered))
        blocks += bin_blocks(ordered[0]) if len(ordered) == 1 else []
    else:
        blocks.append(difference_table(comparison))
        blocks += compared_lines([comparison])
        blocks += [f"Note: {plain(note)}" for note in notes_of([comparison])]
    blocks.append(f"{settings_text(analyses[0].settings)} {_gap_words(analyses[0].view)}")
    blocks.append(f"ECE depends on bins and rows. {CHANCE_KEY}")
    if any(map(_is_judged_elsewhere, analyses)):
        shift = " (of the positive view for a shift)" if any(a.task == "binary" for a in analyses) else ""
        blocks.append(f"Verdict and pattern are those of the confidence view, whatever is shown{shift}.")
    for a in ordered:
        blocks += ["", *_verdict_lines(a), *requested_blocks(a)]
    return blocks


def _is_judged_elsewhere(a: Analysis) -> bool:
    """Whether another view is shown than the one in which patterns are judged."""
    return a.view != "top_label" and "top_label" in a.views


def _gap_words(view: str) -> str:
    if view == "top_label":
        return "Gap: accuracy − confidence in points with its t interval, negative is overconfident."
    return "Gap: share of positives − mean probability in points with its t interval, negative where probabilities are too high."


def _verdict_lines(a: Analysis) -> list[str]:
    """The verdict, what to do about it, and the notes."""
    remedy = [f"  Remedy: {a.pattern.remedy}"] if a.verdict.level == "V3" and a.pattern.remedy not in a.verdict.text else []
    notes = [f"  Note: {plain(note)}" for note in dict.fromkeys(a.notes)]
    here = in_this_view(a, plain)
    elsewhere = [] if here is None else [f"  {here}"]
    return [f"{plain(a.name)}: {plain(judged_text(a))}", *elsewhere, *remedy, *_read_line(a), *notes]


def _read_line(a: Analysis) -> list[str]:
    """Which columns of the file were taken for what; nothing is assumed in silence."""
    roles: dict[str, Any] = a.source.get("roles", {})
    parts = [f"{role} = {_columns(roles[role])}" for role in _ROLES if roles.get(role)]
    return [plain(f"  Read from {a.source['file']}: {', '.join(parts)}.")] if parts else []


def _columns(found: Any) -> str:
    columns = list(found.values()) if isinstance(found, dict) else [str(found)]
    return " + ".join(columns) if len(columns) <= _SPELT_OUT else f"{columns[0]} + … + {columns[-1]} ({len(columns)} columns)"


def layout_blocks(layout: Layout) -> list[Table | str]:
    """How a file is read, what would be asked, and its first rows."""
    size = "" if layout.n_rows is None else f", {count_text(layout.n_rows)} rows"
    columns = f", {len(layout.columns):,} columns" if layout.columns else ""
    lines = [f"{plain(layout.file)}: {layout.format}{size}{columns}."]
    lines += [f"  {plain(layout.sentence)}"] if layout.sentence else []
    lines += [f"  {plain(role)} = {plain(', '.join(columns))}" for role, columns in _others(layout)]
    lines += [f"  Not read: {plain(layout.problem)}"] if layout.problem else []
    lines += [f"  Question: {plain(question_text(q))}" for q in layout.questions]
    lines += [f"  Weights could be taken from it: --weight {plain(shlex.quote(layout.offered_weight))}."] if layout.offered_weight else []
    lines += [f"  Note: {plain(note)}" for note in layout.notes]
    return [*lines, "", *([_preview(layout)] if layout.columns and layout.preview else [])]


def _others(layout: Layout) -> list[tuple[str, list[str]]]:
    """Roles that the sentence leaves out."""
    found = [("id", layout.roles.get("id")), ("groups", layout.roles.get("groups"))]
    return [(role, [c] if isinstance(c, str) else list(c)) for role, c in found if c]


def _preview(layout: Layout) -> Table:
    return Table(tuple(map(plain, layout.columns)), tuple(tuple(plain(row[c]) for c in layout.columns) for row in layout.preview))


def question_text(question: Question) -> str:
    """A question with the options that answer it: "Which …? Answer with --positive yes or --positive no."."""
    q = question
    answers = [f"{q.flag} {shlex.quote(o)}" for o in q.options]
    if not answers:
        return f"{q.text} Answer with {q.flag}."
    if len(answers) > _SPELT_OUT:
        return f"{q.text} Answer with {q.flag} and one of {', '.join(q.options)}."
    return f"{q.text} Answer with {' or '.join(answers)}."
