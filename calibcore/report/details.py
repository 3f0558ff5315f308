"""The measures beyond the main table, and what was computed on request, as tables for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from calibcore.advice.verdict import percent
from calibcore.analysis import Analysis
from calibcore.catalogue import plain as as_data
from calibcore.inference.labels import MultiLabel
from calibcore.report.tables import NONE, Table, count_text, plain, score_text, share_text

__all__ = ["detail_table", "label_blocks", "requested_blocks"]

Block = Table | str
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
    rows: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
        (f"Squared calibration error without bias ({level})", lambda t: _estimate(t["squared_error_debiased"], digits=6)),
        ("its root, √max(U, 0)", lambda t: score_text(_at(t, "squared_error_debiased", "root"))),
        ("Noise floor of ECE", lambda t: score_text(_at(t, "noise_floor", "closed_form"))),
        ("ECE in the most bins that still rise", lambda t: f"{score_text(t['ece_sweep']['value'])} ({t['ece_sweep']['n_bins']} bins)"),
        ("Smooth ECE", lambda t: score_text(t["smooth_ece"]["value"])),
        ("Brier score of the view = MCB − DSC + UNC", lambda t: _corp(t["corp"])),
        ("Skill beyond the base rate: Brier, log loss", lambda t: f"{_skill(t, 'brier')}, {_skill(t, 'log_loss')}"),
        (
            "Largest run of the cumulative differences",
            lambda t: f"{score_text(t['cumulative']['range'])} ({_p(t['cumulative']['p_value'])})",
        ),
        (f"Observed ÷ expected ({level})", lambda t: _estimate(t["classical"]["observed_expected"], digits=3)),
        (f"Logit slope, 1 is right ({level})", lambda t: _estimate(t["classical"]["cox"]["slope"], digits=3)),
        (f"Logit intercept, 0 is right ({level})", lambda t: _estimate(t["classical"]["cox"]["intercept"], digits=3)),
        ("Spiegelhalter's Z", lambda t: _spiegelhalter(t["classical"]["spiegelhalter"])),
    ]
    header = ("More measures", *(plain(a.name) for a in analyses))
    return Table(header, tuple((label, *(cell(t) for t in trees)) for label, cell in rows))


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


def _corp(c: Mapping[str, Any]) -> str:
    return f"{score_text(c['score'])} = {score_text(c['mcb'])} − {score_text(c['dsc'])} + {score_text(c['unc'])}"


def _skill(tree: Mapping[str, Any], score: str) -> str:
    return share_text(tree["skill"][score]).replace("-", "−")


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
    panel = a.measures.get("threshold")
    return blocks if panel is None else [*blocks, "", plain(a.name), *_threshold(as_data(panel, a.settings.level))]


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
    rows = tuple((plain(r["tool"]), score_text(r["ece"]), plain(r["why"])) for r in tree)
    return ["The same rows by other rules:", Table(("Tool or rule", "ECE", "Why it differs"), rows)]


def label_blocks(found: MultiLabel) -> list[Block]:
    """Labels of the same rows side by side, judged together."""
    rows = tuple(_label_row(x) for x in found.to_dict()["labels"])
    header = ("Label", "Rows", "Base rate", "Gap", "ECE", "p (Holm)", "p (list)", "Visible gap")
    return ["", Table(header, rows), plain(found.text)]


def _label_row(x: dict[str, Any]) -> tuple[str, ...]:
    numbers = (x["p_holm"], x["p_list"], x["visible_gap"])
    first = (plain(x["name"]), count_text(x["n"]), share_text(x["base_rate"]), _gap(x["gap"]), score_text(x["ece"]))
    return (*first, *(NONE if v is None else f"{v:.2g}" for v in numbers))


def _groups(tree: dict[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    for found in tree.values():
        header = (plain(found["column"]), "Rows", "Accuracy", "Mean confidence", "Gap", "ECE", "p (Holm)", "p (list)", "Visible gap")
        blocks += [Table(header, tuple(map(_group_row, found["groups"]))), plain(found["text"])]
    return blocks


def _group_row(g: dict[str, Any]) -> tuple[str, ...]:
    numbers = (g["p_holm"], g["p_list"], g["visible_gap"])
    return (*_slice(g), score_text(g["ece"]), *(NONE if x is None else f"{x:.2g}" for x in numbers))


def _slice(g: dict[str, Any]) -> tuple[str, ...]:
    return (plain(g["name"]), count_text(g["n"]), share_text(g["accuracy"]), share_text(g["mean_confidence"]), _gap(g["gap"]))


def _gap(e: dict[str, Any]) -> str:
    return _estimate({k: None if v is None else 100 * v for k, v in e.items()}, digits=1)


def _periods(tree: dict[str, Any]) -> list[Block]:
    rows = tuple(_slice(p) for p in tree["periods"])
    return [Table(("Period", "Rows", "Accuracy", "Mean confidence", "Gap"), rows), plain(tree["text"]), *map(plain, tree.get("notes", ()))]


def _remedies(tree: dict[str, Any]) -> list[Block]:
    rows = tuple(
        (r["title"], _estimate(r["log_loss"], digits=4), _estimate(r["brier"], digits=4), _gap(r["gap"]) if r["gap"] else NONE, r["answer"])
        for r in tree["tried"]
    )
    header = ("On held-out rows", "Log loss, change", "Brier, change", "Gap, change", "Answer")
    return [Table(header, rows), plain(tree["answer"]), *map(plain, tree.get("notes", ()))]


def _threshold(tree: dict[str, Any]) -> list[Block]:
    rows = tuple(
        (
            words,
            count_text(tree[side]["count"]),
            share_text(tree[side]["share"]),
            plain(tree[side]["errors"]),
            _scalar(tree[side]["errors_expected"]),
            _scalar(tree[side]["errors_found"]),
        )
        for side, words in (("acted", plain(tree["rule"])), ("below", "the others"))
    )
    table = Table(("At the threshold", "Rows", "Share of rows", "Errors are", "Expected", "Found"), rows)
    return [table] if tree["cost"] is None else [table, "Cost:", *_tree_blocks(tree["cost"])]


_SPECIAL: dict[str, Callable[[Any], list[Block]]] = {
    "groups": _groups,
    "periods": _periods,
    "reconcile": _reconcile,
    "remedies": _remedies,
}
