"""The measures beyond the main table, and what was computed on request, as tables for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from calibcore.advice.verdict import percent, points
from calibcore.analysis import Analysis
from calibcore.catalogue import plain as as_data
from calibcore.inference.intervals import Estimate
from calibcore.inference.labels import MultiLabel
from calibcore.measures.reconcile import Reconciled
from calibcore.plot.frame import filled, weighted, words_of
from calibcore.plot.wording import Ranges, bin_table_row
from calibcore.report.act_words import acting_notes, money, probability_of
from calibcore.report.tables import NONE, Table, count_text, gap_text, interval_text, p_text, plain, score_text, share_text, view_text
from calibcore.report.tools_words import tools_table

__all__ = ["bin_blocks", "detail_table", "label_blocks", "requested_blocks"]

Block = Table | str
_MOST_BINS = 50  # that are printed
_TITLES = {
    "adaptive": "Multiclass errors by their full definitions",
    "bands": "Bands about the CORP curve (the arrays are in the JSON)",
    "hosmer_lemeshow": "Hosmer–Lemeshow, to reproduce a paper only",
    "kde": "KDE-ECE (beta kernel, leave one out)",
    "kernel": "Kernel calibration error",
    "refinement": "Loss = refinement + calibration, by cross-fitted recalibration",
    "t_cal": "T-Cal",
}


def detail_table(analyses: Sequence[Analysis]) -> Table:
    """What the main table leaves out, a row a measure and a column a model.

    Each interval is at the level of the settings; MCB, DSC and UNC are those of the view's own Brier score.
    """
    trees = [a.to_dict() for a in analyses]
    level = percent(analyses[0].settings.level)
    both = ", both views" if all(len(t["views"]) == 2 for t in trees) else ""
    rows: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
        (f"Test of miscalibration{both}", _test),
        (f"Squared calibration error without bias ({level})", lambda t: _estimate(t["squared_error_debiased"], digits=6)),
        ("its root, √max(U, 0)", lambda t: score_text(_at(t, "squared_error_debiased", "root"))),
        ("Noise floor of ECE", lambda t: score_text(_at(t, "noise_floor", "closed_form"))),
        ("ECE in the most bins that still rise", lambda t: _in_most_bins(t["ece_sweep"])),
        ("Smooth ECE", lambda t: score_text(t["smooth_ece"]["value"])),
        ("Brier score of the view = MCB − DSC + UNC", lambda t: _corp(t["corp"])),
        ("Skill: Brier, log loss", _skill),
        (
            "Largest run of the cumulative differences",
            lambda t: f"{score_text(t['cumulative']['range'])} ({_p(t['cumulative']['p_value'])})",
        ),
        (f"Observed ÷ expected ({level})", lambda t: _estimate(t["classical"]["observed_expected"], digits=3)),
        (f"Logit slope, 1 is right ({level})", lambda t: _estimate(t["classical"]["cox"]["slope"], digits=3)),
        (
            f"Logit shift (calibration in the large), 0 is right ({level})",
            lambda t: _estimate(t["classical"]["intercept_in_the_large"], digits=3),
        ),
        ("Spiegelhalter's Z", lambda t: _spiegelhalter(t["classical"]["spiegelhalter"])),
    ]
    header = ("More measures", *(plain(a.name) for a in analyses))
    return Table(header, tuple((label, *(cell(t) for t in trees)) for label, cell in rows))


def bin_blocks(a: Analysis) -> list[Block]:
    """The bins that hold rows: range, rows, what the model says, what happened, gap, Wilson interval, range if calibrated."""
    words, level, ranges = words_of(a), percent(a.settings.level), Ranges.of(a.bins, a.settings.level)
    header = (
        words.predicted.capitalize(),
        "Rows",
        "Says",
        words.happened.capitalize(),
        "Gap",
        f"{level} (Wilson)",
        "If calibrated",
    )
    if a.bins.used > _MOST_BINS:
        return [f"{a.bins.used:,} bins hold rows, too many to print; they are in the JSON."]
    return [Table(header, tuple(_bin_row(a, i, ranges) for i in filled(a.bins)))]


def _bin_row(a: Analysis, i: int, ranges: Ranges) -> tuple[str, ...]:
    where, rows, _, says, happened, _, *ends = bin_table_row(a.bins, i, ranges)
    return (where, rows, says, happened, gap_text(Estimate(float(a.bins.gap[i]))), *ends)


def _test(tree: Mapping[str, Any]) -> str:
    found = tree["detection"]
    return f"{_drawn(found['p_value'])}, {'most in the ' if len(tree['views']) == 2 else ''}{view_text(found['view'])}"


def _in_most_bins(found: Mapping[str, Any]) -> str:
    m = found["n_bins"]
    return f"{score_text(found['value'])} ({m} {'bin' if m == 1 else 'bins'})"


def _at(tree: Mapping[str, Any], *path: str) -> Any:
    value: Any = tree
    for key in path:
        value = None if value is None else value[key]
    return value


def _number(x: float | None, digits: int) -> str:
    return NONE if x is None else f"{x:.{digits}f}".replace("-", "−")


def _estimate(e: Mapping[str, Any] | None, *, digits: int) -> str:
    """A value with its interval, as far as there are such."""
    if e is None or e["value"] is None:
        return NONE
    ends = "" if e["low"] is None or e["high"] is None else f" ({_number(e['low'], digits)}, {_number(e['high'], digits)})"
    return f"{_number(e['value'], digits)}{ends}"


def _p(p: float | None) -> str:
    return "no p" if p is None else "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def _drawn(p: float) -> str:
    """Of a test by redraws."""
    found = p_text(p, p)
    return f"p {found}" if found.startswith("≤") else f"p = {found}"


def _corp(c: Mapping[str, Any]) -> str:
    return f"{score_text(c['score'])} = {score_text(c['mcb'])} − {score_text(c['dsc'])} + {score_text(c['unc'])}"


def _skill(tree: Mapping[str, Any]) -> str:
    found = tree["skill"]
    brier, log_loss = (share_text(found[score]).replace("-", "−") for score in ("brier", "log_loss"))
    return f"{brier}, {log_loss} over {found['reference']}"


def _spiegelhalter(s: Mapping[str, Any]) -> str:
    return NONE if s["z"] is None else f"{_number(s['z'], 2)} ({_p(s['p_value'])})"


def requested_blocks(a: Analysis) -> list[Block]:
    """What the settings asked for, one heading each."""
    blocks: list[Block] = []
    for name, result in a.requested.items():
        tree = as_data(result, a.settings.level)
        show = _SPECIAL.get(name)
        made = [f"{_TITLES[name]}:", *_tree_blocks(tree)] if show is None else show(tree)
        blocks += ["", plain(a.name), *made]
    return [*blocks, *_threshold_blocks(a)]


def _tree_blocks(tree: Mapping[str, Any]) -> list[Block]:
    """Scalars with their paths as one table, then each list of records as a table of its own."""
    found = dict(_leaves(tree))
    scalars = tuple((path, _scalar(v)) for path, v in found.items() if not isinstance(v, list))
    blocks: list[Block] = [Table(("", ""), scalars)] if scalars else []
    for path, rows in found.items():
        if isinstance(rows, list) and rows and all(isinstance(r, Mapping) for r in rows):
            header = tuple(dict.fromkeys(k for r in rows for k in r))
            blocks += [f"{path}:", Table(tuple(_words(h) for h in header), tuple(tuple(_scalar(r.get(h)) for h in header) for r in rows))]
    return blocks


def _leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        here = f"{path} {_words(str(key))}".strip()
        if isinstance(value, Mapping):
            yield from _leaves(value, here)
        else:
            yield here, value


def _words(key: str) -> str:
    return plain(key.replace("_", " "))


def _scalar(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    return count_text(value) if isinstance(value, int) and not isinstance(value, bool) else plain(str(value))


def _reconcile(tree: list[dict[str, Any]]) -> list[Block]:
    return ["The same rows by other rules:", tools_table([Reconciled(**row) for row in tree])]


def label_blocks(found: MultiLabel) -> list[Block]:
    """Labels of the same rows side by side, judged together."""
    rows = tuple((*_slice(x, "base_rate", "mean_probability"), *_judged(x)) for x in found.to_dict()["labels"])
    header = ("Label", "Rows", "Base rate", "Mean probability", "Gap, points", *_judged_header("label"))
    return ["", Table(header, rows), _judged_words("label"), plain(found.text)]


def _judged_header(one: str) -> tuple[str, ...]:
    return ("ECE", f"p (any {one})", f"p (this {one})", "Smallest gap seen")


def _judged_words(one: str) -> str:
    return (
        f"p (any {one}), by Holm: is any {one} off at all? p (this {one}), by Benjamini–Hochberg: which, in a list with few false entries. "
        "Smallest gap seen, in points: one of this size would have shown in four samples of five."
    )


def _judged(x: Mapping[str, Any]) -> tuple[str, ...]:
    """ECE, both p-values and the visible gap of a group or label."""
    visible = x["visible_gap"]
    p_values = (p_text(p, x["p_value"]) for p in (x["p_holm"], x["p_list"]))
    return (score_text(x["ece"]), *p_values, NONE if visible is None else points(visible))


def _slice_header(view: str) -> tuple[str, ...]:
    found = ("Accuracy", "Mean confidence") if view == "top_label" else ("Share of positives", "Mean probability")
    return ("Rows", *found, "Gap, points")


def _slice(x: Mapping[str, Any], happened: str = "accuracy", said: str = "mean_confidence") -> tuple[str, ...]:
    return (plain(x["name"]), count_text(x["n"]), share_text(x[happened]), share_text(x[said]), _gap(x["gap"]))


def _groups(tree: dict[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    for found in tree.values():
        header = (plain(found["column"]), *_slice_header(found["view"]), *_judged_header("group"))
        rows = tuple((*_slice(g), *_judged(g)) for g in found["groups"])
        blocks += [Table(header, rows), _judged_words("group"), plain(found["text"])]
    return blocks


def _gap(e: Mapping[str, Any]) -> str:
    return gap_text(Estimate(e["value"], e["low"], e["high"]))


def _change(e: Mapping[str, Any] | None) -> str:
    return NONE if e is None else interval_text(Estimate(e["value"], e["low"], e["high"]))


def _periods(tree: dict[str, Any]) -> list[Block]:
    rows = tuple(_slice(p) for p in tree["periods"])
    return [Table(("Period", *_slice_header(tree["view"])), rows), plain(tree["text"]), *map(plain, tree.get("notes", ()))]


def _remedies(tree: dict[str, Any]) -> list[Block]:
    rows = tuple(
        (r["title"], _change(r["log_loss"]), _change(r["brier"]), _gap(r["gap"]) if r["gap"] else NONE, plain(r["answer"]))
        for r in tree["tried"]
    )
    header = ("On held-out rows", "Change of log loss", "Change of Brier", "Change of gap, points", "Answer")
    return [Table(header, rows), plain(tree["answer"]), *map(plain, tree.get("notes", ()))]


def _threshold_blocks(a: Analysis) -> list[Block]:
    """What happens at the threshold of the settings, and what it costs."""
    panel = a.measures.get("threshold")
    if panel is None:
        return []
    tree = as_data(panel, a.settings.level)
    sides = (("acted", plain(tree["rule"])), ("below", "the others"))
    table = Table(
        ("At the threshold", "Rows", "Share of rows", "Errors are", "Expected", "Found"), tuple(_side(w, tree[side]) for side, w in sides)
    )
    blocks: list[Block] = ["", plain(a.name), table]
    blocks += acting_notes(a, f"--view positive judges {probability_of(a.positive_class or 'positive')}")
    if weighted(a):
        blocks.append("Expected and found are sums of weights.")
    return blocks if tree["cost"] is None else [*blocks, f"{plain(a.name)}, {_cost_words(tree)}", *_cost(tree)]


def _side(words: str, side: Mapping[str, Any]) -> tuple[str, ...]:
    numbers = (_scalar(side["errors_expected"]), _scalar(side["errors_found"]))
    return (words, count_text(side["count"]), share_text(side["share"]), plain(side["errors"]), *numbers)


def _cost_words(tree: Mapping[str, Any]) -> str:
    cost, errors = tree["cost"], tree["acted"]["errors"]
    return (
        f"cost of acting at the threshold: {money(cost['error'])} for each of the {errors} acted on, "
        f"{money(cost['review'])} for the review of each other row."
    )


def _cost(tree: Mapping[str, Any]) -> list[Block]:
    """Costs, and the chance of an error up to which acting costs less than a review."""
    lines = (("In all", ""), ("Per row", "per_row_"))
    rows = tuple((words, *(money(tree["cost"][key + side]) for side in ("expected", "found"))) for words, key in lines)
    return [Table(("Cost", "Expected", "Found"), rows), _break_even(tree)]


def _break_even(tree: Mapping[str, Any]) -> str:
    ends = tree["cost"]["break_even"]
    if ends is None:
        return "Break-even: errors cost nothing, so acting never costs more than a review."
    if ends == 0:
        return "Break-even: an error costs no more than a review, so acting never costs more than a review."
    score = "confidence" if tree["view"] == "top_label" else "probability"
    return (
        f"Break-even: if the probabilities are right, acting costs less than a review where the chance of an error is below "
        f"{percent(1 - ends)}, which is a {score} above {ends:.4g}."
    )


_SPECIAL: dict[str, Callable[[Any], list[Block]]] = {
    "groups": _groups,
    "periods": _periods,
    "reconcile": _reconcile,
    "remedies": _remedies,
}
