"""What to do with a model's probabilities, in one sentence; then the pattern, its remedy, and what a test of remedies gave."""

from __future__ import annotations

from calibcore.advice.patterns import MIN_ROWS
from calibcore.advice.recalibration import Remedies, Remedy
from calibcore.advice.verdict import confidence_range, percent
from calibcore.analysis import Analysis
from calibcore.plot.wording import difference
from calibcore.report.tables import count_text, plain, score_text
from calibcore.report.training import Training
from calibcore.report.words import has_remedy, remedy_label

__all__ = ["USUAL", "pattern_lines", "what_to_do"]

_PATTERNS = {
    "uniform_overconfidence": "Too sure throughout, at low and at high confidence alike.",
    "uniform_underconfidence": "Not sure enough throughout, at low and at high confidence alike.",
    "non_uniform_overconfidence": "Too sure in some ranges, not sure enough in others.",
    "local_overconfidence": "Too sure in one range; no sign of it elsewhere.",
    "local_underconfidence": "Not sure enough in one range; no sign of it elsewhere.",
    "extreme_overconfidence": "Most predictions claim to be nearly certain, and too many of those are wrong.",
    "confidence_collapse": "Most predictions stay close to an even guess, or to one and the same number.",
    "shifted": "On the whole, the probabilities are off in one direction.",
    "none_detected": "No pattern of error shows in these rows.",
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
    if best is not None:
        return f"Recalibrate before using these {numbers} as probabilities{_order(a, best)}."
    failed = tested is not None and any(r.status != "not_tried" for r in tested.tried)
    return _not_repaired(a, numbers, failed=failed)


def _not_repaired(a: Analysis, numbers: str, *, failed: bool) -> str:
    """Where no repair has been shown to help: it was not tested, or none that was tried helps."""
    then = "no recalibration that was tried helps" if failed else "recalibrate first, and test whether that helps"
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
    return f"Do not use these {numbers} as probabilities{' as they are' if failed else ' yet'}: {then}."


def _order(a: Analysis, best: Remedy) -> str:
    """What the fitted map does to the order of the cases, where that is known."""
    if a.task == "multiclass" or best.calibrator is None:
        return ""
    if best.method == "isotonic":
        return "; the ranking of cases stays, though some become equal"
    fitted = {k: float(v.flat[0]) for k, v in best.calibrator.parameters.items() if v.size == 1}
    rises = {
        "temperature": fitted.get("temperature", 0) > 0,
        "intercept": True,
        "platt": fitted.get("slope", 0) > 0,
        "beta": min(fitted.get("a", 0), fitted.get("b", 0)) > 0,
    }
    return "; the ranking of cases stays the same" if rises.get(best.method) else ""


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
    first = "A small difference: less than two points on average." if small else _PATTERNS[a.pattern.name]
    if isinstance(found, Remedies) and found.best is not None:
        unasked = () if has_remedy(a) else (_usual_line(a),)
        return first, *unasked, _helps(found, found.best), *_rival(a, found, found.best), *([classes] if classes else [])
    why = plain(found) if isinstance(found, str) else ""
    untested = f"Not tested on these rows{': ' if why else '.'}{why if len(why) <= most else why[: most - 1] + '…'}"
    tested = (
        f"Tested on rows that the fit had not seen ({found.folds} folds): {_lower(found.answer)}"
        if isinstance(found, Remedies)
        else untested
    )
    return first, _usual_line(a), tested


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
    return (
        f"Tested on rows that the fit had not seen ({found.folds} folds): {best.title} helps. It lowers {_lowered(best, found.level)}; "
        f"the gap goes from {difference(before.gap, in_points=True)} to {difference(after.gap, in_points=True)} points, "
        f"the ECE from {score_text(before.ece)} to {score_text(after.ece)}.{simplest}"
    )


def _lowered(remedy: Remedy, level: float) -> str:
    """By how much the score that decides goes down: log loss, or the Brier score where log losses were raised from infinity."""
    name, change = (
        ("log loss", remedy.log_loss) if remedy.log_loss is not None and remedy.log_loss.low is not None else ("Brier score", remedy.brier)
    )
    assert change is not None
    text = f"the {name} by {_amount(-change.value)}"
    if change.low is None or change.high is None:
        return text
    return f"{text} ({percent(level)} interval {_amount(-change.high)} to {_amount(-change.low)})"


def _amount(x: float) -> str:
    """Four decimals; below a thousandth two digits."""
    return score_text(x) if abs(x) >= _TINY else f"{x:.2g}".replace("-", "−")


def _rival(a: Analysis, found: Remedies, best: Remedy) -> tuple[str, ...]:
    """What became of the remedy that the pattern suggests, where another was found."""
    usual = next((r for r in found.tried if r.method in USUAL.get(a.pattern.name, ())[:1]), None)
    if usual is None or usual.method == best.method or not has_remedy(a):
        return ()
    if usual.status != "helps" or not (_has_interval(usual) and _has_interval(best)):
        return (f"The usual remedy for this pattern: {_lower(plain(usual.answer))}",)
    title = f"{usual.title[0].upper()}{usual.title[1:]}, the usual remedy for this pattern,"
    by = _lowered(usual, found.level).partition(" (")[0]
    assert usual.log_loss is not None
    assert best.log_loss is not None
    if usual.log_loss.value > best.log_loss.value:
        return (f"{title} lowers {by}, which is less.",)
    return (f"{title} lowers {by}, which is not clearly more, with more numbers to fit.",)


def _has_interval(remedy: Remedy) -> bool:
    return remedy.log_loss is not None and remedy.log_loss.low is not None
