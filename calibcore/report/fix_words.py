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
from calibcore.report.advising import USUAL
from calibcore.report.tables import NONE, Table, chance_text, count_text, gap_text, interval_text, plain, score_text, share_text
from calibcore.report.words import Caveat

__all__ = [
    "NOTHING",
    "PREVIEW",
    "SUGGESTED",
    "TAKEN",
    "UNCHANGED",
    "before_after",
    "change_words",
    "class_sentence",
    "diagnosis_line",
    "fix_caveats",
    "fix_options",
    "how_judged",
    "not_tried",
    "parameter_sentence",
    "parameter_table",
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
    "venn_abers": "Venn-Abers",
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


def diagnosis_line(found: Remedies, a: Analysis) -> str:
    """What the pattern alone suggests; where no remedy helps, what came of the one that is most often meant."""
    said = f"The diagnosis on the Overview: {a.pattern.remedy}" if a.verdict.level == "V3" else "The diagnosis suggests none either."
    if found.best is not None:
        return said if a.verdict.level == "V3" else "The diagnosis on the Overview names no remedy; this one was found by trying."
    tried = {r.method: r for r in found.tried if r.status != "not_tried"}
    named = [tried[m].answer for m in (*USUAL.get(a.pattern.name, ()), "temperature") if m in tried]
    return " ".join([*named[:1], said])


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
    rows = [
        ("Log loss", score_text(before.log_loss), score_text(after.log_loss), _change(remedy.log_loss)),
        ("Brier score", score_text(before.brier), score_text(after.brier), _change(remedy.brier)),
        ("Gap, points", _gap(before), _gap(after), NONE if remedy.gap is None else gap_text(remedy.gap)),
        ("ECE, 15 equal-width bins", score_text(before.ece), score_text(after.ece), NONE),
        ("ECE by chance alone", chance_text(before.chance), chance_text(after.chance), NONE),
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
    lines = ["Lower is better for log loss, Brier score and ECE; a gap below zero is overconfident."]
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
    if before.predicted is None or after.predicted is None or before.task == "top_label":
        return "Only the confidence changes; the predicted class stays as it is."
    changed = int(np.count_nonzero(before.predicted != after.predicted))
    if not changed:
        return "The predicted class stays the same in every row."
    was, now = (share_text(float(p.correct.mean())) for p in (before, after))
    rows = f"{changed:,} of {before.n:,} rows"
    return f"The predicted class changes in {rows}: {was} of rows were right before, {now} are after."


def fix_caveats(found: Remedies, remedy: Remedy) -> tuple[Caveat, ...]:
    """What must be read beside these numbers."""
    caveats = [
        Caveat(
            PREVIEW,
            "Every score above is of rows that the fit had not seen. The parameters to download are those of one fit on all rows; "
            "its scores on these same rows would flatter it.",
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
