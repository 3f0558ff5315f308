"""What recalibration would do to a model, in words and tables for people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calibcore.advice.recalibration import Parameter, Remedies, Remedy, Scores
from calibcore.advice.verdict import percent
from calibcore.analysis import Analysis
from calibcore.inference.intervals import Estimate
from calibcore.plot.wording import difference
from calibcore.predictions import Predictions
from calibcore.report.advising import USUAL, usual_line
from calibcore.report.tables import (
    BY_CHANCE,
    NONE,
    Table,
    chance_text,
    count_text,
    gap_text,
    interval_text,
    plain,
    score_text,
    share_text,
)
from calibcore.report.view_words import below_zero
from calibcore.report.words import Caveat, has_remedy

__all__ = [
    "NOTHING",
    "PREVIEW",
    "SUGGESTED",
    "TAKEN",
    "UNCHANGED",
    "answer",
    "before_after",
    "change_words",
    "changed_rows",
    "class_sentence",
    "fix_caveats",
    "fix_options",
    "how_judged",
    "not_tried",
    "parameter_sentence",
    "parameter_table",
    "remains_line",
    "title",
]

PREVIEW = "Preview only. Fit the final calibrator on rows kept apart."
SUGGESTED, UNCHANGED = "Suggested", "None"
TAKEN = "Results and code hold every recalibration that was tried, whichever is chosen above."
NOTHING = "No change is suggested. Choose a recalibration to see what it would do."
_SHORT = {
    "temperature": "Temperature",
    "intercept": "Intercept",
    "vector": "Vector",
    "platt": "Platt",
    "beta": "Beta",
    "isotonic": "Isotonic",
    "histogram": "Histogram",
    "venn_abers": "Venn–Abers",
}
_NAMES = {
    "temperature": "Temperature T",
    "bias": "Shift",
    "scale": "Scale",
    "intercept": "Shift",
    "slope": "Slope",
    "a": "Exponent of p",
    "b": "Exponent of 1 − p",
}
_HARDLY = 0.98, 1.02  # temperatures that leave claims nearly as they are
_MOST_LINES = 20  # of the table of parameters
_BINS = "15 equal-width bins"
_STEPPED = ("isotonic", "histogram", "venn_abers")
_NUMBER_WORDS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 10: "Ten"}


def title(name: str) -> str:
    """The question of the page."""
    return f"Would recalibration help {plain(name)}?"


def how_judged(found: Remedies) -> str:
    """How the rows were split, in one or two sentences."""
    folds = _NUMBER_WORDS.get(found.folds, str(found.folds))
    whole = (
        ""
        if found.clusters is None
        else f" Rows of one cluster stay together ({found.clusters:,} {'cluster' if found.clusters == 1 else 'clusters'})."
    )
    return f"{folds}-fold cross-fitting on {found.n:,} rows: each row is scored by a fit that has not seen it.{whole}"


def answer(found: Remedies, a: Analysis, changed: int | None = None) -> str:
    """What was found by trying, and in the same breath what came of what the diagnosis suggests: one answer.

    Parameters
    ----------
    found : Remedies
    a : Analysis
        Whose verdict stands on the Overview.
    changed : int, optional
        Rows whose predicted class the best remedy changes: `changed_rows`.
    """
    if a.verdict.level == "V0":
        return found.answer
    usual = usual_line(a, found, changed=changed)
    left = None if found.best is None else remains_line(found, found.best)
    said = " ".join(filter(None, (found.answer, left)))
    if usual is not None:
        return f"{said} {usual}"
    if has_remedy(a) and USUAL.get(a.pattern.name):
        return f"{said} It is what the Overview suggests."
    if found.best is not None:
        return f"{said} The diagnosis on the Overview names no remedy; this one was found by trying."
    tried = [r.answer for r in found.tried if r.method == "temperature" and r.status != "not_tried"]  # the one most often meant
    return " ".join([found.answer, *tried, "The diagnosis suggests none either."])


def remains_line(found: Remedies, remedy: Remedy) -> str | None:
    """What is left after a remedy that helps: an ECE above what 19 of 20 calibrated samples show; None where it is not."""
    after = remedy.after
    if remedy.status != "helps" or after is None or after.ece <= after.chance.p95:
        return None
    ece, typical, most = (score_text(x, rows=found.n) for x in (after.ece, after.chance.median, after.chance.p95))
    return (
        f"An error remains: ECE {ece}, where a calibrated model typically shows {typical}, and more than {most} in 1 of 20 samples "
        f"({_BINS})."
    )


def changed_rows(before: Predictions, after: Predictions) -> int | None:
    """In how many rows the predicted class is another; None where classes are not known row by row."""
    if before.predicted is None or after.predicted is None or before.task == "top_label":
        return None
    return int(np.count_nonzero(before.predicted != after.predicted))


def fix_options(found: Remedies) -> dict[str, str]:
    """Short name → method of every recalibration that was tried, in their order."""
    return {_SHORT.get(r.method, r.title): r.method for r in found.tried if r.status != "not_tried"}


def not_tried(found: Remedies) -> tuple[str, ...]:
    """Why some recalibrations could not be tried."""
    return tuple(plain(r.answer) for r in found.tried if r.status == "not_tried")


def before_after(found: Remedies, remedy: Remedy) -> Table:
    """Log loss, Brier score, gap and ECE before and after on held-out rows, with paired intervals where there are such."""
    before, after = found.before, remedy.after
    assert after is not None
    level = percent(found.level)

    def score(x: float) -> str:
        return score_text(x, rows=found.n)

    rows = [
        ("Log loss", score(before.log_loss), score(after.log_loss), _change(remedy.log_loss)),
        ("Brier score", score(before.brier), score(after.brier), _change(remedy.brier)),
        ("Gap, points", _gap(before), _gap(after), NONE if remedy.gap is None else gap_text(remedy.gap)),
        (f"ECE, {_BINS}", score(before.ece), score(after.ece), NONE),
        (BY_CHANCE, chance_text(before.chance, found.n), chance_text(after.chance, found.n), NONE),
    ]
    if before.clipped or after.clipped:
        rows.append(("Rows given 0 for what happened", count_text(before.clipped), count_text(after.clipped), NONE))
    return Table(("Score", "Before", "After", f"Change ({level} interval)"), tuple(rows))


def _change(e: Estimate | None) -> str:
    return f"{interval_text(e)}, no interval" if e is not None and e.low is None else interval_text(e)


def _gap(s: Scores) -> str:
    return gap_text(Estimate(s.gap))


def change_words(found: Remedies, remedy: Remedy) -> str:
    """How to read the table of before and after."""
    lines = [f"Lower is better for log loss, Brier score and ECE; {below_zero(found.view)}."]
    if remedy.after is not None and (found.before.clipped or remedy.after.clipped):
        lines.append("Where what happened was given a probability of 0 the log loss has no interval, so the Brier score decides.")
    lines.append("A difference in ECE has no honest interval, so none is shown.")
    return " ".join(lines)


def parameter_sentence(remedy: Remedy) -> str | None:
    """What was fitted, in words; None where nothing was."""
    if remedy.calibrator is None:
        return None
    if remedy.method == "temperature" and remedy.parameters:
        return _temperature(remedy.parameters["temperature"])
    if remedy.parameters is None:
        return "A map of steps, too many numbers to show; the calibrator to download holds each of them."
    return None


def _temperature(t: Parameter) -> str:
    (value,), (low,), (high,) = t.value, t.low, t.high
    does = "hardly a change" if _HARDLY[0] <= low <= high <= _HARDLY[1] else "on both sides of 1, so these rows do not tell which way"
    if low > 1:
        does = "above 1, so every claim moves towards an even guess"
    elif high < 1:
        does = "below 1, so every claim moves away from an even guess"
    return f"Temperature T = {value:.3f} on all rows, {low:.3f} to {high:.3f} over the folds: {does}."


def parameter_table(remedy: Remedy) -> Table | None:
    """Each fitted number with its range over the folds; None for maps of many steps."""
    if not remedy.parameters or remedy.calibrator is None:
        return None
    lines = list(_parameter_lines(remedy.parameters, remedy.calibrator.classes))
    kept = lines[:_MOST_LINES]
    if len(lines) > len(kept):
        kept.append((f"{len(lines) - len(kept):,} more in the JSON", NONE, NONE))
    return Table(("Parameter", "All rows", "Over the folds"), tuple(kept))


def _parameter_lines(parameters: dict[str, Parameter], classes: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    for name, p in parameters.items():
        words = _NAMES.get(name, name)
        for k, (value, low, high) in enumerate(zip(p.value, p.low, p.high, strict=True)):
            of = f" of {plain(classes[k])}" if len(p.value) > 1 and len(classes) == len(p.value) else ""
            yield f"{words}{of}", _number(value), f"{_number(low)} to {_number(high)}"


def _number(x: float) -> str:
    return f"{x:.3f}".replace("-", "−")


def class_sentence(before: Predictions, after: Predictions) -> str:
    """In how many rows the predicted class changes."""
    changed = changed_rows(before, after)
    if changed is None:
        return "Only the confidence changes; the predicted class stays as it is."
    if not changed:
        return "The predicted class stays the same in every row."
    was, now = (share_text(float(p.correct.mean())) for p in (before, after))
    rows = f"{changed:,} of {before.n:,} rows"
    return f"The predicted class changes in {rows}: {was} of rows were right before, {now} are after."


def fix_caveats(found: Remedies, remedy: Remedy) -> tuple[Caveat, ...]:
    """What must be read beside these numbers."""
    caveats = [
        Caveat(
            "Every score above is of rows that the fit had not seen.",
            "The parameters to download are those of one fit on all rows; its scores on these same rows would flatter it.",
        ),
        Caveat(
            "Recalibration changes what the model claims, not what it knows.",
            "It cannot tell cases apart that the model gives the same score.",
        ),
        Caveat(
            "The intervals are slightly too narrow.",
            "The folds share rows that they are fitted on, and a suggested remedy was picked by the scores that are shown for it.",
        ),
    ]
    if remedy.method in _STEPPED:
        certain = ", and scores of exactly 0 or 1 can arise, which no outcome may contradict" if remedy.method != "venn_abers" else ""
        caveats.append(
            Caveat("A map of steps can give one score to rows that had different ones.", f"The order of those rows is lost{certain}.")
        )
    gap = remedy.after.gap if remedy.after is not None else found.before.gap
    caveats.append(
        Caveat(
            "It holds for cases like these.",
            f"The gap that is left, {difference(gap, in_points=True)} points, is of these rows. "
            "Where the share of each outcome changes, fit again on newer rows.",
        )
    )
    return tuple(caveats)
