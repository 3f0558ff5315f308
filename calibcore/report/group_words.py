"""Groups, periods and classes in words and tables: who a model is wrong for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from calibcore.advice.verdict import points
from calibcore.analysis import Analysis
from calibcore.checks import rows_text
from calibcore.inference.groups import MAX_GROUPS, Group, Groups
from calibcore.inference.levels import Levels, group_levels
from calibcore.inference.periods import Periods
from calibcore.plot.wording import difference, interval_words, level_percent, listed, view_words
from calibcore.predictions import Predictions
from calibcore.report.tables import BY_CHANCE, NONE, Table, chance_text, count_text, p_text, plain, score_text, share_text
from calibcore.report.words import Caveat, Number

__all__ = [
    "MORE_COLUMNS",
    "NO_COLUMN",
    "NO_TIME",
    "VISIBLE",
    "Columns",
    "class_caveats",
    "class_lines",
    "class_numbers",
    "few_rows_line",
    "group_columns",
    "group_lines",
    "group_sentence",
    "group_table",
    "taken_otherwise",
    "trend_line",
]

_TOLD = 3  # groups told in words
_IN_REPORT = 2  # groups told in the one sentence of a report
_NAMED = 10  # groups with too few rows, and columns, named in a sentence
_WAYS = {  # of a gap that falls, and of one that rises
    True: ("towards more overconfidence, or less underconfidence", "towards less overconfidence, or more underconfidence"),
    False: ("towards probabilities that are higher than what happens", "towards probabilities that are lower than what happens"),
}
_STEPS = {"unit of time": "per unit of time", "period": "from period to period"}
MORE_COLUMNS = "Groups, time, id, weight and more"
_HOW = f"press Change beside the file in the sidebar and open “{MORE_COLUMNS}”"

NO_COLUMN = (
    f"No column of this file is known to split its rows into groups. To name one, {_HOW}; "
    "there choose a column under Groups, such as a site or an age."
)
NO_TIME = f"To see whether the gap changes over time, {_HOW}; there choose the column under Time."
VISIBLE = (
    "p tests each group by itself; the Holm-adjusted p knows how many groups were looked at. Smallest gap seen: one of this size would "
    "have shown in four samples of five; a smaller one can be there and not show."
)


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of a file by which rows can be grouped, and a sentence on those that cannot."""

    offered: tuple[str, ...]
    left_out: str | None = None


def group_columns(predictions: Predictions) -> Columns:
    """Columns that make 2 to 50 groups.

    Parameters
    ----------
    predictions : Predictions
    """
    levels = {name: group_levels(values) for name, values in predictions.groups.items()}
    offered = tuple(name for name, found in levels.items() if 1 < len(found.names) <= MAX_GROUPS)
    others = [f"{plain(name)} ({_many(found)})" for name, found in levels.items() if name not in offered]
    if not others:
        return Columns(offered)
    needs = f"A column needs 2 to {MAX_GROUPS} different values; only numbers may be more, which are cut at their quartiles."
    return Columns(offered, f"Not offered: {listed(others, _NAMED)}. {needs}")


def _many(found: Levels) -> str:
    n, one = len(found.names), "range" if found.cut else "value"
    return f"{count_text(n)} {one if n == 1 else f'{one}s'}"


def group_lines(found: Groups, event: str | None = None) -> tuple[str, ...]:
    """What was found; then the groups whose outcomes do not fit, or whose gap is off 0, the farthest first, in frequencies.

    Parameters
    ----------
    found : Groups
    event : str, optional
        Name of the class whose probability is judged, as `calibcore.report.words.event_of` gives it.
    """
    clear = found.clearest
    more = len(clear) - _TOLD
    last = (f"{more:,} more {'is' if more == 1 else 'are'} off, by less: see the table.",) if more > 0 else ()
    looked = found.text.replace("; intervals are Bonferroni-adjusted", "", 1)  # the chart says it, and what it means
    return (plain(looked), *(_told(g, found, event) for g in clear[:_TOLD]), *last)


def _told(g: Group, found: Groups, event: str | None) -> str:
    named = event or ("positive" if found.view == "positive" else found.view.removeprefix("class:"))
    what = "right" if found.view == "top_label" else f"“{plain(named)}”"
    if g.weighted:  # counts would not be those of the rates
        shares = f"{share_text(g.accuracy)} of {rows_text(g.n)} were {what}"
        text = f"In {plain(g.name)}, {shares}; the model says {share_text(g.mean_confidence)}"
    else:
        expected = f"the model expects {g.mean_confidence * g.n:,.0f}"
        text = f"In {plain(g.name)}, {g.accuracy * g.n:,.0f} of {rows_text(g.n)} were {what}; {expected}"
    ends = interval_words(g.gap, in_points=True)
    at_once = ", for all groups at once" if len(found.judged) > 1 else ""
    interval = f" ({level_percent(found.level)} interval {ends}{at_once})" if ends else ""
    return f"{text}. Gap {difference(g.gap.value, in_points=True)} points{interval}{_where(g, found)}."


def _where(g: Group, found: Groups) -> str:
    """Interval and test answer two questions; what is to be known where they differ."""
    if not g.detected:
        return "; the interval leaves out 0, while the test, which looks at every range, does not tell this group from chance"
    if g.off_zero or g.gap.low is None:
        return ""
    if g.shown_in is not None and g.shown_in != found.view:
        return f"; what does not fit shows most in the {view_words(g.shown_in).title} view (see View)"
    return "; the interval of the mean gap holds 0, while the test looks at every range"


def group_sentence(found: Groups, name: Callable[[str], str] = plain) -> str:
    """For which groups of a column the gap is off 0, in a sentence that a report has room for.

    Parameters
    ----------
    found : Groups
    name : function
        A name from the file as it is shown.
    """
    by, judged, few = f"By {name(found.column)}", len(found.judged), len(found.groups) - len(found.judged)
    least = rows_text(found.minimum)
    if not judged:
        none = "the only group lacks" if few == 1 else f"none of {few:,} groups has"
        return f"{by}: {none} the {least} needed to judge it."
    left = f" ({few:,} smaller not judged)" if few else ""
    by += ", cut at its quartiles" if found.cut else ""
    head = f"{by}: {judged:,} {'group' if judged == 1 else 'groups'} of at least {least}{left}"
    off = [g for g in found.clearest if g.off_zero]
    by_test = _by_test([g for g in found.clearest if not g.off_zero], name)
    if not off:
        return f"{head}; no group's gap could be told apart from 0, which does not show that there is none{by_test}."
    told = "; ".join(_gap_of(g, found, name) for g in off[:_IN_REPORT])
    more = f"; {len(off) - _IN_REPORT:,} more, by less" if len(off) > _IN_REPORT else ""
    return f"{head}; {len(off):,} {'group shows' if len(off) == 1 else 'groups show'} a gap ({told}{more}){by_test}."


def _gap_of(g: Group, found: Groups, name: Callable[[str], str]) -> str:
    at_once = "simultaneous " if len(found.judged) > 1 else ""
    interval = f"{at_once}{level_percent(found.level)} interval {interval_words(g.gap, in_points=True)}"
    return f"{name(g.name)}: {difference(g.gap.value, in_points=True)} points, {interval}"


def _by_test(other: Sequence[Group], name: Callable[[str], str]) -> str:
    """Groups whose outcomes do not fit though their mean gap may be 0."""
    names = listed([name(g.name) for g in other[:_IN_REPORT]])
    more = f" and {len(other) - _IN_REPORT:,} more" if len(other) > _IN_REPORT else ""
    return f"; in {names}{more} the test finds ranges that do not fit, though the mean gap may be 0" if other else ""


def few_rows_line(found: Groups) -> str | None:
    """The groups that are listed and not judged, by name."""
    few = [f"{plain(g.name)} ({rows_text(g.n)})" for g in found.groups if not g.judged]
    return f"Listed, not judged, with fewer than {found.minimum:,} rows: {listed(few, _NAMED)}." if few else None


def group_table(found: Groups) -> Table:
    """Every group with its interval, p-values and the smallest gap that would have shown.

    Parameters
    ----------
    found : Groups
    """
    words = view_words(found.view)
    happened = "Accuracy" if found.view == "top_label" else "Share that happened"
    header = (
        plain(found.column),
        "Rows",
        f"Mean {words.predicted}",
        happened,
        f"Gap, points (interval; all hold at once at {level_percent(found.level)})",
        "p",
        "Holm-adjusted p",
        "Smallest gap seen (points)",
        "ECE",
        BY_CHANCE,
    )
    return Table(header, tuple(_row(g) for g in found.groups))


def _row(g: Group) -> tuple[str, ...]:
    ends = interval_words(g.gap, in_points=True) or ("no interval" if g.judged else "too few rows")
    return (
        plain(g.name),
        count_text(g.n),
        share_text(g.mean_confidence),
        share_text(g.accuracy),
        f"{difference(g.gap.value, in_points=True)} ({ends})",
        p_text(g.p_value, g.p_value),
        p_text(g.p_holm, g.p_value),
        NONE if g.visible_gap is None else points(g.visible_gap),
        score_text(g.ece, rows=g.n),
        NONE if g.chance is None else chance_text(g.chance, g.n),
    )


def taken_otherwise(shown: Sequence[str], minimum: int) -> str:
    """How downloads and code differ from a page on which another minimum or length was chosen."""
    return f"Results and code judge {' and '.join(shown)} as the command line does: from {minimum} rows on, in periods of the usual length."


def trend_line(found: Periods) -> str | None:
    """Where the gap is heading; None where fewer than two periods can be compared.

    Parameters
    ----------
    found : Periods
    """
    if found.change is None:
        return None
    low, high = found.change.interval(found.level)
    slope, *ends = _slopes(found.change.slope, low, high)
    step = _STEPS.get(found.step, f"per {found.step}")
    interval = f"{level_percent(found.level)} interval {ends[0]} to {ends[1]}"
    line = f"A straight line through the gaps changes by {slope} points {step} ({interval})"
    if found.change.slope_p_value > 1 - found.level:
        return f"{line}: no trend shows."
    return f"{line}, {_WAYS[found.view == 'top_label'][found.change.slope > 0]}."


def _slopes(*slopes: float) -> tuple[str, ...]:
    """Slopes in points, with one decimal or as many as leave two digits of the longest: a day changes little."""
    longest = 100 * max(abs(s) for s in slopes)
    decimals = 1 if longest >= 1 or longest == 0 else min(1 - math.floor(math.log10(longest)), 9)
    texts = (f"{100 * s:+.{decimals}f}".replace("-", "−") for s in slopes)
    return tuple(t if float(t[1:]) else t[1:] for t in texts)


def class_lines(a: Analysis) -> tuple[str, ...]:
    """Which class fits least, in a sentence; for fewer than three classes, why there is nothing to rank.

    Parameters
    ----------
    a : Analysis
    """
    if a.classwise is None:
        return ("Only the confidence in the predicted class is known, so classes cannot be judged one by one.",)
    if len(a.classes) < 3:
        return ("With two classes, each class against the other is the Positive-class view, seen from either side.",)
    beyond = {c: ece - a.floors[c] for c, ece in a.classwise.per_class.items()}
    worst = max(beyond, key=lambda c: beyond[c])
    if beyond[worst] <= 0:
        return ("No class lies above the mean that chance alone gives, which does not show that each class fits.",)
    ece, floor = score_text(a.classwise.per_class[worst]), score_text(a.floors[worst])
    rows = f"rows with this label: {count_text(a.classwise.rows[worst])}"
    return (f"Farthest above its chance level is “{plain(worst)}”: ECE {ece} where chance alone gives {floor} on average; {rows}.",)


def class_numbers(a: Analysis) -> tuple[Number, ...]:
    """Top-label ECE and mean classwise ECE, to stand side by side; the second only where there are classes.

    Parameters
    ----------
    a : Analysis
    """
    found = [Number("Top-label ECE", score_text(a.views["top_label"].ece), "of the predicted class only")] if "top_label" in a.views else []
    if a.classwise is not None:
        mean_floor = sum(a.floors.values()) / len(a.floors)
        beside = f"over {len(a.classwise.per_class):,} classes; chance alone {score_text(mean_floor)} on average"
        found.append(Number("Mean classwise ECE", score_text(a.classwise.mean), beside))
    return tuple(found)


def class_caveats(a: Analysis) -> tuple[Caveat, ...]:
    """What must be read beside the classwise numbers.

    Parameters
    ----------
    a : Analysis
    """
    why = "The probabilities of the other classes can be wrong while the predicted class fits."
    found = [
        Caveat(
            "Top-label ECE checks only the predicted class.",
            f"{why} These rows do not hold them." if a.classwise is None else f"{why} The classwise errors look at all of them.",
        )
    ]
    if a.classwise is not None and len(a.classes) > 2:
        why = (
            "Most probabilities of a class are close to 0, where little can go wrong, so the mean over many classes is small for "
            "nearly any model. Compare it only between models with the same classes."
        )
        found.append(Caveat("Mean classwise ECE tends to fall as classes are added.", why))
        again = "Classes are ranked after looking at the outcomes; on average the first of many is farther out than in other rows."
        found.append(Caveat("The worst of several classes looks worse than it is.", again))
    return tuple(found)
