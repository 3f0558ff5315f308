"""Options of the command line as data, and what they mean as `Mapping` and `Settings`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any

from calibcore.analysis import Settings
from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io import Mapping
from calibcore.settings import REQUESTS

__all__ = ["ADDING", "BASELINE", "READING", "VIEWING", "Option", "left_out", "mapping_of", "settings_of"]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the command line; ``to`` is the field it fills, ``kind`` a type or the words allowed."""

    flag: str
    to: str
    metavar: str | None
    help: str
    kind: type | tuple[str, ...] = str


READING = (
    Option("--label", "label", "COL", "Column of the true class."),
    Option("--prob", "probabilities", "COL[,COL…]", "Column of P(positive), or one column a class or a model."),
    Option("--predicted", "predicted", "COL", "Column of the class that the model predicted."),
    Option("--confidence", "confidence", "COL", "Column of the confidence in the predicted class."),
    Option("--correct", "correct", "COL", "Column that says whether the prediction was right."),
    Option("--positive", "positive", "NAME", "The positive class of two."),
    Option("--model-col", "model", "COL", "Column whose values name the model of each row."),
    Option("--weight", "weight", "COL", "Column of row weights; never used unless named."),
    Option("--id", "id", "COL", "Column that identifies a row, for pairing models."),
    Option("--group", "groups", "COL[,COL…]", "Columns whose values split the rows into groups."),
    Option("--cluster", "cluster", "COL", "Column whose equal values are rows that belong together, such as one patient or event."),
    Option("--time", "time", "COL", "Column that says when each row happened, for calibration by period."),
    Option("--labels-file", "labels_file", "FILE", "File that holds the labels of these predictions."),
    Option("--scale", "scale", None, "How probabilities are written.", ("fraction", "percent", "logit", "log-prob", "unnormalised")),
    Option(
        "--missing", "missing", None, "Rows without a label or a probability: refuse them (default) or leave them out.", ("error", "drop")
    ),
    Option("--classes", "classes", "A,B,…", "Class names in the order of the columns; of two: other, positive."),
    Option("--pair", "pair", "row-order|COL", "How a labels file is joined: row by row, or by the column that identifies a row of both."),
    Option("--columns-are", "columns_are", None, "What several columns stand for.", ("models", "classes", "labels")),
    Option("--outcome", "outcome", '"COL > COL"', "A comparison that makes the label."),
    Option("--drop-label", "drop_label", "V,…", "Label values whose rows are left out."),
)
_HYPHENATED = ("equal-width", "equal-mass", "top-label")
_LISTS = ("groups", "classes", "drop_label")
VIEWING = (
    Option("--bins", "n_bins", "N", "Number of bins (default 15).", int),
    Option("--strategy", "strategy", None, "Bins of equal width (default) or with equally many rows.", ("equal-width", "equal-mass")),
    Option("--edges", "edges", "0,0.5,1", "Bin edges, rising from 0 to 1."),
    Option("--edges-from", "edges_from", "FILE", "Take the edges that --strategy and --bins give for this file's first model."),
    Option("--closed", "closed", None, "Which edge belongs to a bin (default right).", ("right", "left")),
    Option("--ties", "ties", None, "Equal scores in equal-mass bins: kept together (default) or shared out.", ("together", "share")),
    Option(
        "--view",
        "view",
        "top-label|positive|class:NAME",
        "Confidence in the predicted class (top-label, default), P(positive), or P(one class).",
    ),
    Option("--level", "level", "0.95", "Confidence level of intervals, a fraction.", float),
    Option("--seed", "seed", "N", "Seed of the chance range (default 0).", int),
)
ADDING = (
    Option("--threshold", "threshold", "0.9", "Score of the view above which rows are acted on: adds errors expected and found.", float),
    Option("--cost-error", "cost_error", "X", "Cost of an error among the rows acted on.", float),
    Option("--cost-review", "cost_review", "X", "Cost of reviewing a row that is not acted on.", float),
    Option("--request", "on_request", "NAME[,NAME…]", f"What is computed only when asked for: {', '.join(REQUESTS)}."),
)
BASELINE = Option("--baseline", "baseline", "NAME", "Model that the others are compared with (default: the first).")


def mapping_of(given: dict[str, Any]) -> Mapping:
    """What the reading options say; a name of several is split at commas."""
    fields = {k: v for k, v in given.items() if v is not None}
    for name in _LISTS:
        if name in fields:
            fields[name] = _list(fields[name])
    if "probabilities" in fields:
        columns = _list(fields["probabilities"])
        fields["probabilities"] = columns[0] if len(columns) == 1 else columns
    return Mapping(**fields)


def settings_of(given: dict[str, Any]) -> Settings:
    """What the viewing options say; only what was given, so that the defaults live in one place."""
    fields = {k: v for k, v in given.items() if v is not None and k not in ("edges", "edges_from")}
    for name in ("strategy", "view"):
        if fields.get(name, "").replace("_", "-") in _HYPHENATED:
            fields[name] = fields[name].replace("-", "_")
    if "on_request" in fields:
        fields["on_request"] = tuple(name.replace("-", "_") for name in _list(fields["on_request"]))
    edges, source = given["edges"], given["edges_from"]
    if edges is not None and (source is not None or {"n_bins", "strategy"} & set(fields)):
        raise InputError("--edges says what the bins are; leave out --edges-from, --bins and --strategy.")
    return Settings(**fields, edges=None if edges is None else _edges(edges))


def left_out(settings: Settings | None, output: str) -> tuple[str, ...]:
    """A line about what was asked for and has no place in a CSV of one row a model; none where nothing is left out."""
    if settings is None or output != "csv":
        return ()
    asked = (*settings.on_request, *(("threshold",) if settings.threshold is not None else ()))
    return (f"The CSV holds the main figures, one row a model; for {listing(list(asked), 20)} take --format json.",) if asked else ()


def _list(text: str) -> tuple[str, ...]:
    """Names between commas; one that holds a comma stands in double quotes."""
    return tuple(next(csv.reader([text], skipinitialspace=True), ()))


def _edges(text: str) -> tuple[float, ...]:
    numbers = []
    for part in text.split(","):
        try:
            numbers.append(float(part))
        except ValueError:
            raise InputError(f"--edges holds {part.strip()!r}, which is not a number; write edges as 0,0.5,1.", value=part) from None
    return tuple(numbers)
