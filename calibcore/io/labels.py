"""Which column holds the true class: by name, by what the probability is about, by elimination; else it is asked."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.evidence import NO_PREDICTIONS, Evidence, question
from calibcore.io.reading import Reading
from calibcore.io.vocabulary import beside_yes_and_no, is_named, plain, polarity, shortened

__all__ = [
    "FEW",
    "NO_CLASS",
    "amounts",
    "find_label",
    "found_by_elimination",
    "is_believable",
    "is_feature",
    "label_question",
    "label_without_column",
    "labels_alone",
    "named_labels",
    "no_label",
    "other_labels",
]

NO_CLASS = "a label is one of the classes"
FEW, _SAMPLE, _SIDE = 50, 20_000, 5  # few rows, rows looked at, rows a side
_TELLING = {False: 2.5, True: 3.0}  # standard errors, and those where rows are few
_AGREEING = {False: 5.0, True: 3.0}
_FEATURE = re.compile(r"(?:x|z|f|v|var|feat|feature|attr|attribute|predictor|covariate)_?\d+")
_EVENT = re.compile(
    r"(?:is_|has_|was_)?(?:churn(?:ed)?|attrition|default(?:ed)?|fraud(?:ulent)?|spam|click(?:ed)?|conver(?:ted|sion)|purchased?|bought"
    r"|died|death|dead|deceased|surviv(?:ed|al)|readmi(?:tted|ssion)|relapsed?|recurrence|event|won|win|rained)"
)
_AMOUNTS = frozenset(
    re.findall(r"\w+", "rain rainfall precip precipitation snow snowfall mm amount amounts loss losses wind gust sales demand")
)


def is_feature(name: str) -> bool:
    """Whether a name is that of a numbered feature: x1, feature_12."""
    return _FEATURE.fullmatch(plain(name)) is not None


def named_labels(evidence: Evidence) -> list[str]:
    """Columns that may be the label by name: usual names first; looser ones only where there are none."""
    told = evidence.told("label")
    if told is not None:
        return [told] if told else []
    exact = [n for n in evidence.free if is_named(n, "label", exact=True) and evidence.class_like(n)]
    return evidence.different(exact or [n for n in evidence.free if is_named(n, "label") and evidence.class_like(n)])


def other_labels(evidence: Evidence, *used: str) -> list[str]:
    """Columns without a telling name that could hold classes."""
    free = [n for n in evidence.free if n not in used and not is_named(n, "group", exact=True)]
    return [n for n in free if evidence.class_like(n) and len(evidence.values(n) or ()) > 1]


def find_label(evidence: Evidence, used: tuple[str, ...], fits: Callable[[str], bool]) -> str:
    """The label's column.

    Parameters
    ----------
    used : tuple of str
        Columns of probabilities or confidences.
    fits : callable
        Whether a column's values suit what the probabilities need.

    Raises
    ------
    AmbiguousLayout
        If several columns could be it, or one could but nothing says so.
    InputError
        If none can.
    """
    if evidence.mapping.label == ():
        raise no_label(evidence)
    named = [n for n in named_labels(evidence) if n not in used]
    fitting = [n for n in named if fits(n)] or named
    if evidence.mapping.label or len(fitting) == 1:
        return _first(evidence, fitting)
    if fitting:
        raise label_question(evidence, fitting, used)
    about = [n for p in used for n in evidence.about(p)]
    if len(set(about)) == 1:
        return about[0]
    if (twin := evidence.predicted_twin) and twin not in used and fits(twin):
        return twin
    others = [n for n in other_labels(evidence, *used) if fits(n)]
    by_prediction = _like_prediction(evidence, others)
    alone = others[0] if len(others) == 1 and set(evidence.rest(*used)) <= {others[0], *used} else None
    for name in dict.fromkeys((by_prediction, alone)):
        if name and (is_believable(evidence, name, used, by_name=_own_words(evidence, name)) or _all_there_is(evidence, name, used)):
            return name
    if not others:
        raise _scores(evidence, used) or _ask_limit(evidence, used) or no_label(evidence)
    raise label_question(evidence, others, used)


def _first(evidence: Evidence, names: list[str]) -> str:
    if not names:
        raise no_label(evidence)
    return names[0]


def _like_prediction(evidence: Evidence, others: list[str]) -> str | None:
    """The only text column with the values of the predicted class, if there is one."""
    if evidence.predicted is None:
        return None
    classes = {name_key(v) for v in evidence.values(evidence.predicted) or ()}
    alike = [
        n for n in others if len(classes) > 1 and {name_key(v) for v in evidence.values(n) or ()} == classes and not evidence.numeric(n)
    ]
    return alike[0] if len(alike) == 1 else None


def _own_words(evidence: Evidence, label: str) -> bool:
    """Whether few rows hold names of classes, not yes and no: which one is positive is asked, and that names the column."""
    values = evidence.values(label) or ()
    asked = not evidence.numeric(label) or (len(values) == 2 and evidence.predicted is None)
    return evidence.table.n_rows < FEW and asked and polarity(values) is None


def _all_there_is(evidence: Evidence, label: str, used: Sequence[str]) -> bool:
    """Whether a table is a probability by name and a yes or no that is called like an event and not made from it by a threshold."""
    column = used[0]
    if {label, column} != set(evidence.table.columns) or not is_named(column, "probability") or not evidence.unit(column):
        return False
    values = evidence.values(label) or ()
    if len(values) != 2 or polarity(values) is None or not _EVENT.fullmatch(plain(label)):
        return False
    names, numbers = evidence.column(label).names(), evidence.column(column).numeric().values
    one, two = (numbers[(names.code == names.distinct.index(v)) & ~np.isnan(numbers)] for v in values)
    return bool(len(one) and len(two) and one.min() < two.max() and two.min() < one.max())


def found_by_elimination(evidence: Evidence, reading: Reading) -> tuple[str, ...]:
    """A note on a label that nothing but its values speaks for."""
    unit = reading.units[0]
    if evidence.mapping.label or reading.outcome or reading.form == "classes" or not unit.label:
        return ()
    by_name = unit.label in named_labels(evidence) or unit.label == evidence.predicted_twin
    by_values = reading.form == "confidence" and not evidence.numeric(unit.label)
    if by_name or by_values or any(unit.label in evidence.about(c) for u in reading.units for c in u.columns):
        return ()
    return (f"No column has the name of a label; {unit.label!r}, the only one that could be it, was taken (another: --label COL).",)


def is_believable(evidence: Evidence, label: str, used: Sequence[str], *, by_name: bool = False) -> bool:
    """Whether a column without a telling name can be the outcome: it repeats no prediction, and the probabilities have to do with it.

    ``by_name`` says that columns are named after its texts, which is telling enough.
    """
    few = evidence.table.n_rows < FEW
    if evidence.mapping.label or (few and by_name):
        return True
    if any(evidence.same(label, p) for p in evidence.predictions) or (not by_name and is_feature(label)):
        return False
    if by_name or _named_after(evidence, label, used) or any(_goes_with(evidence, label, p) for p in evidence.predictions):
        return True
    step = max(1, evidence.table.n_rows // _SAMPLE)
    names, columns = evidence.column(label).names(), [u for u in used if evidence.numeric(u)]
    code = names.code[::step]
    limit = _TELLING[few] + 0.25 * np.log2(max(1, len(columns) * len(names.distinct) / 2))  # the more pairs, the larger by luck
    for column in columns:
        values = evidence.column(column).numeric().values[::step].astype(np.float64)
        for i in np.unique(code[code >= 0]):
            inside, outside = (values[side & ~np.isnan(values)] for side in (code == i, code != i))
            if min(len(inside), len(outside)) < _SIDE:
                continue
            if _differ(inside, outside, limit):
                return True
    return not columns


def _named_after(evidence: Evidence, label: str, used: Sequence[str]) -> bool:
    """Whether the predictions or probabilities carry the label's name: P_BAD1 and I_BAD beside BAD."""
    key = rf"(?:^|[\W_]){re.escape(plain(label))}\d*(?:$|[\W_])"
    return len(plain(label)) > 1 and any(re.search(key, plain(n)) for n in (*used, *evidence.predictions))


def _differ(one: NDArray[np.float64], other: NDArray[np.float64], errors: float) -> bool:
    """Whether two means differ by more than is as rare as a number of standard errors (Welch's t)."""
    from scipy.special import ndtr, stdtrit

    a, b = one.var(ddof=1) / len(one), other.var(ddof=1) / len(other)
    apart = float(abs(one.mean() - other.mean()))
    if a + b == 0:
        return apart > 0
    freedom = (a + b) ** 2 / (a**2 / (len(one) - 1) + b**2 / (len(other) - 1))
    return bool(apart > -stdtrit(freedom, ndtr(-errors)) * np.sqrt(a + b))


def _goes_with(evidence: Evidence, label: str, predicted: str) -> bool:
    """Whether a column agrees with the predicted class more often than luck would have it."""
    one, two = evidence.column(label).names(), evidence.column(predicted).names()
    a, b = one.code, two.among(one.distinct)
    known = (a >= 0) & (b >= 0)
    n = max(1, int(np.count_nonzero(known)))
    shares = [np.bincount(side[known], minlength=len(one.distinct)) / n for side in (a, b)]
    by_luck = float(shares[0] @ shares[1])
    agreed = np.count_nonzero(known & (a == b)) / n
    return bool(agreed > by_luck + _AGREEING[len(a) < FEW] * np.sqrt(by_luck * (1 - by_luck) / n))


def label_question(evidence: Evidence, options: list[str], used: tuple[str, ...]) -> AmbiguousLayout:
    """Asks which column is the label, the likeliest first."""
    best = sorted(options, key=lambda n: (_looks_made(n), -_relation(evidence, n, used)))
    shown = [f"{n} ({_values(evidence, n)})" for n in best[:4]]
    text = (
        f"Which column holds the true outcome? It could be {listing(shown, 4)}."
        if len(best) > 1
        else f"Does column {shown[0]} hold the true outcome? If not (none), the outcomes are in another file."
    )
    return AmbiguousLayout([question("label", text, best if len(best) > 1 else [*best, "none"])])


def _values(evidence: Evidence, name: str) -> str:
    found = evidence.values(name) or ()
    return listing([shortened(v) for v in found], 3)


def _looks_made(name: str) -> bool:
    """Guesses and correctness flags have the look of a label and are none."""
    return any(w in plain(name) for w in ("guess", "pred", "correct", "hat"))


def _relation(evidence: Evidence, name: str, used: tuple[str, ...]) -> float:
    """How far the probabilities differ between the two groups of a two-valued column: only to sort the offers."""
    names = evidence.column(name).names()
    first = next((u for u in used if evidence.numeric(u)), None)
    present = names.present() if len(names.present()) <= 2 else beside_yes_and_no(names.present())[1] or ()
    if len(present) != 2 or first is None:
        return -1.0
    mean, code = evidence.column(first).numeric().values, names.among(present)
    sides = [mean[(code == i) & ~np.isnan(mean)] for i in range(2)]
    means = [float(s.mean()) for s in sides if len(s)]
    return max(means) - min(means) if len(means) > 1 else -1.0


def label_without_column(name: str, row: int, column: str, classes: Sequence[str], *, one_each: bool = True) -> InputError:
    """For a label (1-based ``row``) that no probability belongs to."""
    place = "has no probability column; the classes are" if one_each else "is not one of the classes"
    return InputError(
        f"Label {shortened(name)!r} (row {row:,} of column {column!r}) {place} {listing(classes, 10)}. "
        f"Mend it, or leave such rows out (--drop-label {shortened(name)}).",
        rule=NO_CLASS,
        value=name,
        row=row,
        column=column,
        available=tuple(classes),
    )


def _scores(evidence: Evidence, used: tuple[str, ...]) -> AmbiguousLayout | None:
    """Offers score1 > score2 where two columns of whole numbers differ in such a way."""
    whole = {plain(n): n for n in evidence.free if n not in used and evidence.numeric(n) and evidence.whole(n)}
    pairs = [(whole[a], whole[b]) for a in whole if (b := _other_side(a)) in whole]
    if not pairs:
        return None
    text = f"No column holds the outcome. Does {pairs[0][0]} > {pairs[0][1]} make it?"
    return AmbiguousLayout([question("outcome", text, [f"{a} > {b}" for a, b in pairs])])


def _other_side(name: str) -> str:
    return f"{name[:-1]}2" if name.endswith("1") else name.replace("home", "away") if "home" in name else {"fthg": "ftag"}.get(name, "")


def amounts(evidence: Evidence) -> list[str]:
    """Columns of measured numbers that have the name of a label or of something that falls or flows."""
    measured = [n for n in evidence.free if evidence.numeric(n) and not evidence.class_like(n) and not evidence.unit(n)]
    named = [n for n in measured if is_named(n, "label", exact=True)]
    return named or [n for n in measured if set(plain(n).split("_")) & _AMOUNTS]


def _ask_limit(evidence: Evidence, used: tuple[str, ...]) -> AmbiguousLayout | None:
    """From which amount on an event has happened: nobody but the user knows."""
    found = [n for n in amounts(evidence) if n not in used]
    if not found:
        return None
    values = evidence.column(found[0]).numeric().values
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    text = (
        f"Column {found[0]!r} holds measured numbers, not classes (from {low:.4g} to {high:.4g}). Above which limit has the event "
        f"happened, such as 0 (--outcome '{found[0]} > 0')?"
    )
    return AmbiguousLayout([question("outcome", text, [f"{n} > 0" for n in found])])


def no_label(evidence: Evidence) -> InputError:
    """For files of predictions alone."""
    if hint := evidence.hint("label"):
        return InputError(f"{hint}Name another column of labels (--label), or mend this one.", available=evidence.names)
    placed = [n for n in evidence.free if n.startswith("column ")] if evidence.table.headless else []
    held = [n for n in placed if evidence.class_like(n) and not (evidence.numeric(n) and not evidence.whole(n))]
    if held:
        return InputError(
            f"The file has no header line, and nothing tells which column holds the labels; {listing(held)} could hold classes. "
            f'Put a header line above it, or name columns by their place (--label "{held[0]}" and --predicted, --prob or --confidence); '
            "labels may be in another file (--labels-file FILE).",
            available=evidence.names,
        )
    return InputError(
        "The file holds predictions but no column of labels. Give the file that holds them as well (--labels-file FILE), "
        f"or add them as a column; the columns are {listing(evidence.names, 8)}.",
        available=evidence.names,
    )


def labels_alone(evidence: Evidence) -> InputError | None:
    """For files of labels beside which nothing can be a probability; None for others."""
    labels = named_labels(evidence)
    if len(labels) != 1 or evidence.hint("probability") or any(evidence.numeric(n) for n in evidence.rest(*labels)):
        return None
    ids = evidence.ids
    joined = f"their rows are joined by {ids[0]!r}" if ids else "a column in both that identifies each row joins them best"
    return InputError(
        f"The file holds what happened ({labels[0]!r}) and no probabilities. Add the file of scores, with this one as its labels "
        f"(labels=…, --labels-file {shlex.quote(evidence.table.name)}); {joined}.",
        rule=NO_PREDICTIONS,
        available=evidence.names,
    )
