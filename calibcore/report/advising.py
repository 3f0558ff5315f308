"""What to do with a model's probabilities, in one sentence; then the pattern, its remedy, and what a test of remedies gave."""

from __future__ import annotations

from typing import Literal

from calibcore.advice.calibrators import METHODS
from calibcore.advice.patterns import MIN_ROWS
from calibcore.advice.recalibration import SIMPLEST, Remedies, Remedy, Scores
from calibcore.advice.verdict import confidence_range, percent
from calibcore.analysis import Analysis
from calibcore.plot.wording import difference, shortened
from calibcore.report.reduced_words import NOT_TESTED, report_line
from calibcore.report.tables import count_text, plain, score_text, share_text
from calibcore.report.training import Training
from calibcore.report.view_words import in_this_view
from calibcore.report.words import has_remedy, remedy_label

__all__ = ["USUAL", "pattern_lines", "usual_line", "what_to_do"]

_PATTERNS = {
    "uniform_overconfidence": "Too sure in both halves of its rows, the less sure and the surer.",
    "uniform_underconfidence": "Not sure enough in both halves of its rows, the less sure and the surer.",
    "non_uniform_overconfidence": "Too sure in some ranges, not sure enough in others.",
    "local_overconfidence": "Too sure in one range; no sign of it elsewhere.",
    "local_underconfidence": "Not sure enough in one range; no sign of it elsewhere.",
    "extreme_overconfidence": "Most predictions claim to be nearly certain, and too many of those are wrong.",
    "confidence_collapse": "Most predictions stay close to an even guess, or to one and the same number.",
    "shifted": "On the whole, the probabilities are off in one direction.",
    "none_detected": "No pattern of error was found in these rows.",
    "too_few_rows": "Too few rows to name a pattern.",
    "unclear": "An error shows, but not in a clear place.",
}
USUAL = {  # methods that the remedy of a pattern names, the first first
    "uniform_overconfidence": ("temperature",),
    "uniform_underconfidence": ("temperature",),
    "extreme_overconfidence": ("temperature",),
    "confidence_collapse": ("temperature",),
    "non_uniform_overconfidence": ("isotonic", "platt"),
    "shifted": ("intercept",),
}
_NAMED = ("Platt", "Venn")  # methods that keep their capital
_TINY = 0.001
_NAME = 36  # letters of a class
_TELLING = 0.01  # share of the error of one forecast for all that a ranking worth its name takes away
_MAINTAINER = "Have whoever maintains the model"
_REPAIRED_AFTERWARDS = ("uniform_overconfidence", "uniform_underconfidence", "non_uniform_overconfidence", "shifted")


# --- what to do -----------------------------------------------------------------------------------------------------------


def what_to_do(a: Analysis, found: Remedies | str | None, training: Training = "unknown") -> str:
    """One sentence for who must act, never more than the verdict, the pattern and a test of remedies say.

    Parameters
    ----------
    a : Analysis
    found : Remedies or str, optional
        A test of remedies on held-out rows.
    training : {"yes", "no", "unknown"}
        Whether the rows were used to train or tune the model.

    Examples
    --------
    >>> from calibcore import Predictions, analyze
    >>> what_to_do(analyze(Predictions.from_top_label([0.9] * 20, [1] * 15 + [0] * 5)), None)
    'Too few rows to decide: collect at least 100, better 1,000.'
    """
    tested = found if isinstance(found, Remedies) else None
    best = None if tested is None else tested.best
    numbers = "probabilities" if a.task == "binary" else "confidences"
    if a.verdict.level == "V0":
        return f"Too few rows to decide: collect at least {MIN_ROWS}, better 1,000."
    if training == "yes":
        return "Decide on rows that the model has not seen: it was trained or tuned on these, which usually flatters it."
    if a.pattern.name == "none_detected":
        differ = "These rows alone do not decide: the test finds no error, yet recalibration improves the scores. Check on other rows."
        return differ if best is not None else f"These rows show no reason not to take the {numbers} as they are."
    if a.verdict.level == "V2":
        return "The difference is small: check it on other rows before changing anything."
    if tested is not None and best is not None:
        return f"{_MAINTAINER} recalibrate it before anyone takes its {numbers} at their word{_meanwhile(a, tested, best)}."
    return _not_repaired(a, numbers, [] if tested is None else [r for r in tested.tried if r.status != "not_tried"])


def _not_repaired(a: Analysis, numbers: str, tried: list[Remedy]) -> str:
    """Where no repair has been shown to help: it was not tested, the rows leave it open, or none that was tried helps."""
    failed = bool(tried)
    then = "no recalibration that was tried helps" if failed else "have it recalibrated first, and test whether that helps"
    if any(r.undecided for r in tried):
        then = "these rows do not tell whether a recalibration helps, so test it on more"
    if a.pattern.name == "unclear":
        needed = a.pattern.evidence.get("rows_needed")
        rows = f"about {count_text(needed)} rows" if needed else "more rows"
        return f"Do not rely on the exact numbers yet: collect {rows} to see where they are off."
    if a.pattern.name.startswith("local"):
        run = a.pattern.evidence["over" if a.pattern.name == "local_overconfidence" else "under"]
        claims = f"claims at {confidence_range(run['low'], run['high'])} confidence"
        return f"Do not take {claims} at their word; elsewhere these rows show no sign of an error."
    if a.pattern.name == "extreme_overconfidence":
        return f"Do not take claims of near certainty at their word: {then}."
    if a.pattern.name == "confidence_collapse" and not has_remedy(a):
        return f"Expect little from these {numbers}: they hardly tell cases apart, and recalibration cannot add that."
    return f"Do not take these {numbers} at their word{'' if failed else ' yet'}: {then}."


def _meanwhile(a: Analysis, found: Remedies, best: Remedy) -> str:
    """What may be done until then: the ranking, where it tells cases apart and the fitted map keeps it."""
    kept = _keeps_ranking(a, best)
    if not kept or not _tells_apart(a, found, best):
        return ""
    by = "" if a.positive_class is None else f" by P({shortened(plain(a.positive_class), _NAME)})"
    ties = ", though some become equal" if kept == "ties" else ""
    return f"; until then the ranking of cases{by} may be used, which recalibrating keeps{ties}"


def _tells_apart(a: Analysis, found: Remedies, best: Remedy) -> bool:
    """Whether the held-out scores are better than those of one forecast for all cases, which ranks nothing."""
    skill = a.measures["skill"].brier
    if skill is None or skill >= 1 or best.after is None:
        return False
    constant = found.before.brier / (1 - skill)
    return bool(best.after.brier < (1 - _TELLING) * constant)


def _keeps_ranking(a: Analysis, best: Remedy) -> Literal["", "ties", "all"]:
    """Whether the fitted map leaves the order of the cases as it is, where that is known."""
    if a.task == "multiclass" or best.calibrator is None:
        return ""
    if best.method == "isotonic":
        return "ties"
    fitted = {k: float(v.flat[0]) for k, v in best.calibrator.parameters.items() if v.size == 1}
    rises = {
        "temperature": fitted.get("temperature", 0) > 0,
        "intercept": True,
        "platt": fitted.get("slope", 0) > 0,
        "beta": min(fitted.get("a", 0), fitted.get("b", 0)) > 0,
    }
    return "all" if rises.get(best.method) else ""


# --- pattern and remedy ---------------------------------------------------------------------------------------------------


def pattern_lines(a: Analysis, found: Remedies | str | None, classes: str | None = None, *, most: int = 180) -> tuple[str, ...]:
    """What is wrong, what usually helps or does help, and whether it was tested.

    Parameters
    ----------
    a : Analysis
    found : Remedies or str, optional
        A test of remedies, or why there is none, cut after ``most`` characters.
    classes : str, optional
        What the best remedy does to the predicted classes, in a sentence.
    """
    small = a.verdict.level == "V2"
    first = ("A small difference: less than two points on average.",) if small else _pattern_line(a)
    if isinstance(found, Remedies) and found.best is not None:
        unasked = () if has_remedy(a) else (_usual_line(a),)
        return *first, *unasked, _helps(found, found.best), *filter(None, [usual_line(a, found)]), *_moved_classes(a, found.best, classes)
    if a.pattern.name == "none_detected" and not isinstance(found, Remedies):
        return first  # nothing was found that a remedy could be for
    why = plain(found) if isinstance(found, str) else ""
    untested = (
        NOT_TESTED
        if report_line(a)
        else f"Not tested on these rows{': ' if why else '.'}{why if len(why) <= most else why[: most - 1] + '…'}"
    )
    tested = (
        f"Tested on rows that the fit had not seen ({found.folds} folds): {_lower(found.answer)}"
        if isinstance(found, Remedies)
        else untested
    )
    return *first, _usual_line(a), tested


def _pattern_line(a: Analysis) -> tuple[str, ...]:
    """What is wrong; in another view than the one it was judged in, also what that view shows."""
    text = _PATTERNS[a.pattern.name]
    if a.pattern.name.startswith("uniform") and len(a.detection.bins.count) == 1:  # one and the same confidence has no halves
        text = f"{text.partition(' in ')[0]} on the whole."
    here = in_this_view(a, lambda name: shortened(name, _NAME))
    return (text,) if here is None else (f"By the predicted class: {_lower(text)}", here)


def _moved_classes(a: Analysis, best: Remedy, classes: str | None) -> tuple[str, ...]:
    """What the best remedy does to the predicted classes, and how that goes with a ranking that stays."""
    if not classes:
        return ()
    if a.task == "binary" and _keeps_ranking(a, best) and "class changes in" in classes:
        return (f"{classes} The ranking stays: every probability moves, and those of these rows cross 50%.",)
    return (classes,)


def _usual_line(a: Analysis) -> str:
    remedy = f"{remedy_label(a)}: {_lower(a.pattern.remedy)}"
    if a.verdict.level != "V2" and a.pattern.name in _REPAIRED_AFTERWARDS:
        remedy += " It changes the numbers that are claimed; the model itself stays."
    return remedy


def _lower(text: str) -> str:
    return text if text.startswith(_NAMED) else text[0].lower() + text[1:]


def _helps(found: Remedies, best: Remedy) -> str:
    """The best remedy, and by how much it lowers the error."""
    assert best.after is not None
    before, after = found.before, best.after
    several = sum(r.status == "helps" for r in found.tried) > 1
    simplest = " No other that was tried is clearly better." if several else ""
    gap, ece = (difference(s.gap, in_points=True) for s in (before, after)), (score_text(s.ece, rows=found.n) for s in (before, after))
    return (
        f"Tested on rows that the fit had not seen ({found.folds} folds): {best.title} helps. "
        f"It lowers {_lowered(best, before, found.level)}; the gap goes from {' to '.join(gap)} points, "
        f"the ECE from {' to '.join(ece)}.{simplest}"
    )


def _lowered(remedy: Remedy, before: Scores, level: float) -> str:
    """By how much the score that decides goes down: log loss, or the Brier score where log losses were raised from infinity."""
    by_loss = _has_interval(remedy)
    name, was, change = ("log loss", before.log_loss, remedy.log_loss) if by_loss else ("Brier score", before.brier, remedy.brier)
    assert change is not None
    text = f"the {name} by {_amount(-change.value)}"
    share = f"the error of the probabilities by {share_text(-change.value / was)}: " if was > 0 else ""
    if change.low is None or change.high is None:
        return f"{share}{text}"
    return f"{share}{text} ({percent(level)} interval {_amount(-change.high)} to {_amount(-change.low)})"


def _amount(x: float) -> str:
    """Four decimals; below a thousandth two digits."""
    return score_text(x) if abs(x) >= _TINY else f"{x:.2g}".replace("-", "−")


def usual_line(a: Analysis, found: Remedies, *, changed: int | None = None) -> str | None:
    """What became of the remedy that the pattern usually asks for, where it is not the one that was chosen.

    Parameters
    ----------
    a : Analysis
    found : Remedies
    changed : int, optional
        Rows whose predicted class the best remedy changes, which is then said.

    Returns
    -------
    str or None
        None where the pattern names no remedy, or where the usual one is the best.
    """
    methods, best = USUAL.get(a.pattern.name, ()) if has_remedy(a) else (), found.best
    tried = {r.method: r for r in found.tried}
    usual = next((tried[m] for m in methods if m in tried and tried[m].status != "not_tried"), None)
    if not methods or (usual is not None and best is usual):
        return None
    if usual is None:
        lacks = tried[methods[0]].answer if methods[0] in tried else f"{_capital(METHODS[methods[0]].title)} was not tried here."
        return f"The usual remedy for this pattern: {_lower(plain(lacks))}"
    if best is None or usual.status != "helps":
        return f"The usual remedy for this pattern: {_lower(plain(usual.answer))}"
    return f"The usual remedy for this pattern, {usual.title}, {_beside_best(usual, best)}{_moved(changed)}."


def _beside_best(usual: Remedy, best: Remedy) -> str:
    """How the usual remedy, which helps too, compares with the one that was chosen by the rule of one standard error."""
    name = "log loss" if _has_interval(usual) and _has_interval(best) else "Brier score"
    one, two = ((r.log_loss if name == "log loss" else r.brier) for r in (usual, best))
    assert one is not None
    assert two is not None
    decimals = next((d for d in (4, 5, 6) if f"{one.value:.{d}f}" != f"{two.value:.{d}f}"), 4)
    mine, its = (f"{e.value:+.{decimals}f}".replace("-", "−") for e in (one, two))
    against = f"({name} {mine} against {its})"
    assert usual.after is not None
    assert best.after is not None
    if usual.after.clipped > best.after.clipped:
        rows = f"{count_text(usual.after.clipped)} {'row' if usual.after.clipped == 1 else 'rows'}"
        return f"also helps {against}, but gives what happened a probability of 0 in {rows}; {best.title} is better here"
    simpler = SIMPLEST.index(usual.method) < SIMPLEST.index(best.method)
    if one.value > two.value:
        less = f"also helps, but less {against}"
        return f"{less}; {best.title} is better here" if simpler else f"{less}, with more numbers to fit; {best.title} is preferred"
    if simpler:  # the Brier scores are shown, and the log loss decided
        return f"also helps {against}; by log loss {best.title} is better here"
    return f"helps by no more than chance explains beside {best.title} {against}, which has fewer numbers to fit and is preferred"


def _moved(changed: int | None) -> str:
    """What the best remedy does to the predicted classes, where that is known."""
    if changed is None:
        return ""
    if not changed:
        return ", and keeps every predicted class"
    return f", but changes the predicted class of {count_text(changed)} {'row' if changed == 1 else 'rows'}"


def _has_interval(remedy: Remedy) -> bool:
    return remedy.log_loss is not None and remedy.log_loss.low is not None


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
