"""How several models stand beside a baseline, in words: which score better, which cannot be told apart, and on which rows."""

from __future__ import annotations

from collections.abc import Sequence

from calibcore.advice.verdict import points
from calibcore.analysis import Analysis, Comparison
from calibcore.checks import listing
from calibcore.inference.comparison import Differences
from calibcore.inference.intervals import Estimate
from calibcore.plot.frame import directions
from calibcore.plot.wording import FEW_ROWS, interval_words, level_percent
from calibcore.report.tables import plain
from calibcore.report.which import difference_sentence, lower, rows_compared, scores, without_intervals

__all__ = ["compared_lines", "decides", "diagrams_caption", "has_scores", "notes_of", "outside_line"]

_SAID = "only the gap is compared."  # ends the note that the sentence of such a pair says too
_NUMBERS = {2: "Both", 3: "All three", 4: "All four", 5: "All five", 6: "All six", 7: "All seven"}


def has_scores(comparison: Comparison) -> bool:
    """Whether log loss or Brier score of any model can be compared with the baseline's."""
    return any(e is not None for d in comparison.differences for e in (d.log_loss, d.brier))


def decides(comparison: Comparison) -> bool:
    """Whether a score of any model has an interval, by which it can be told from the baseline's."""
    return any(map(_decides, comparison.differences))


def compared_lines(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """Which models score better than the baseline: a full sentence for one, one sentence in all for several.

    Parameters
    ----------
    comparisons : sequence of Comparison
        With one and the same baseline.
    """
    pairs = [(d, c) for c in comparisons for d in c.differences]
    scored = [(d, c) for d, c in pairs if _decides(d) is not None]
    lines = [_gap_only(d, c) for d, c in pairs if _decides(d) is None]
    if len(scored) == 1:
        ((d, c),) = scored
        return difference_sentence(d, c.baseline, c.settings.level), *lines
    if scored:
        lines = [_several([d for d, _ in scored], plain(scored[0][1].baseline)), *lines]
    return tuple(lines)


def notes_of(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """What must be known to read the differences, each once; not again that two models have no score in common."""
    pairs = [d for c in comparisons for d in c.differences]
    return tuple(dict.fromkeys(n for d in pairs for n in d.notes if not (d.log_loss is None and n.endswith(_SAID))))


def _decides(d: Differences) -> tuple[str, Estimate] | None:
    """The score that decides; None where neither has an interval."""
    return next(iter(scores(d)), None)


def _side(e: Estimate) -> str:
    """Where an interval of a difference lies."""
    return {None: "open", True: "better", False: "worse"}[lower(e)]


def _several(found: Sequence[Differences], base: str) -> str:
    """Who scores worse, who better and who cannot be told apart; what the other score says, and the rows."""
    decided = {plain(d.model): chosen for d in found if (chosen := _decides(d)) is not None}
    by = [name for name, _ in decided.values()]
    usual = max(("log loss", "Brier score"), key=by.count)
    sides = {model: _side(e) for model, (_, e) in decided.items()}
    parts = [_part([m for m, s in sides.items() if s == side], side, base, len(sides)) for side in ("better", "worse", "open")]
    text = f"{'; '.join(filter(None, parts))}, by {usual}"
    others = [m for m, (name, _) in decided.items() if name != usual]
    text += f" (by {'Brier score' if usual == 'log loss' else 'log loss'}: {listing(others, len(others))})." if others else "."
    beside = {plain(d.model): _side(d.brier) for d in found if d.brier is not None and d.brier.low is not None}
    told = {m: s for m, s in beside.items() if decided[m][0] == "log loss" and s != sides[m]}
    parts = [_part([m for m, s in told.items() if s == side], side, base, 0) for side in ("better", "worse", "open")]
    text += f" By Brier score {'; '.join(filter(None, parts))}." if told else ""
    rows = dict.fromkeys(rows_compared(d.pairing) for d in found)
    return f"{text} {next(iter(rows)).replace('Both', 'All')}" if len(rows) == 1 else f"{text} The table says on which rows."


def _part(names: Sequence[str], side: str, base: str, of: int) -> str:
    """One group of models: "All four score worse than base"; "" for none."""
    if not names:
        return ""
    one = len(names) == 1
    who = _NUMBERS.get(of, f"All {of}") if len(names) == of and not one else listing(names, len(names))
    if side == "open":
        return f"{who} cannot be told apart from {base}"
    return f"{who} {'scores' if one else 'score'} {side} than {base}"


def _gap_only(d: Differences, comparison: Comparison) -> str:
    """What can be said of two models that have no score in common."""
    model, base, view = plain(d.model), plain(comparison.baseline), comparison.settings.view
    level, ends = level_percent(comparison.settings.level), interval_words(d.gap, in_points=True)
    open_ = without_intervals(d, comparison.baseline)
    if open_ is not None:
        told = "has no interval" if ends is None else f"{points(d.gap.value, signed=True)} points, {level} interval {ends}"
        return f"{open_} Difference of the gaps: {told}."
    start = f"{model} and {base} have no score in common, so only the gap can be compared"
    if ends is None:
        return f"{start}; it has no interval from these rows."
    interval = f"difference of the gaps {points(d.gap.value, signed=True)} points, {level} interval {ends}"
    if _side(d.gap) == "open":
        return f"{start}, and these rows do not tell it apart ({interval})."
    return f"{start}: {model} {_more(d, comparison, view)} ({interval})."


def _more(d: Differences, comparison: Comparison, view: str) -> str:
    """A lower gap in words: more overconfident, or less underconfident where it is on that side."""
    size, lower = points(d.gap.value), d.gap.value < 0
    if view != "top_label":
        return f"claims {size} points {'more' if lower else 'less'}, beside what happens"
    gaps = {a.name: a.gap.value for a in comparison.analyses}
    its, that = gaps[d.model], gaps[comparison.baseline]
    if its < 0 < that or that < 0 < its:
        return f"is {'overconfident' if its < 0 else 'underconfident'} and {plain(comparison.baseline)} is not, {size} points apart"
    over = min(its, that) < 0
    return f"is {size} points {'more' if lower == over else 'less'} {'overconfident' if over else 'underconfident'}"


def diagrams_caption(analyses: Sequence[Analysis]) -> str:
    """How to read several diagrams beside each other: what holds for all of them, and hollow points if any has some."""
    level = level_percent(analyses[0].settings.level)
    parts = [f"Grey consistency band: where points fall {level} of the time if the model were calibrated; a few fall outside by luck."]
    if all(a.bins.shared for a in analyses):
        parts = ["Bins that share tied rows have no interval and no range by chance."]
    if any(bool((a.bins.count[a.bins.filled] < FEW_ROWS).any()) for a in analyses):
        parts.append(f"Hollow: fewer than {FEW_ROWS} rows.")
    return " ".join(parts)


def outside_line(a: Analysis) -> str | None:
    """How many bins are still coloured after a remedy; None where none is."""
    if a.bins.shared:
        return None
    found = directions(a.bins, a.settings.level)
    out = found.count("over") + found.count("under")
    if not out:
        return None
    return f"After it, {out} of {a.bins.used} {'bin' if a.bins.used == 1 else 'bins'} {'lies' if out == 1 else 'lie'} outside the band."
