"""Options of the command line as data, and what they mean as `Mapping` and `Settings`."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

from calibcore.analysis import Settings
from calibcore.checks import listing
from calibcore.errors import InputError
from calibcore.io import Mapping
from calibcore.settings import REQUESTS

__all__ = [
    "ADDING",
    "BASELINE",
    "LIMITS",
    "READING",
    "REDUCING",
    "REPORTING",
    "VIEWING",
    "Option",
    "left_out",
    "listed",
    "mapping_arguments",
    "mapping_of",
    "settings_arguments",
    "settings_of",
]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the command line; ``to`` is the field it fills, ``kind`` a type or the words allowed; ``many`` may be given again."""

    flag: str
    to: str
    metavar: str | None
    help: str
    kind: type | tuple[str, ...] = str
    many: bool = False


READING = (
    Option("--label", "label", "COL", "Column of the true class."),
    Option("--prob", "probabilities", "COL[,COL…]", "Column of P(positive), or one column a class or a model."),
    Option("--predicted", "predicted", "COL", "Column of the class that the model predicted."),
    Option("--confidence", "confidence", "COL[,COL…]", "Column of the confidence in the predicted class, or one column a model."),
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
    Option("--rows", "rows", "COL=VALUE|all", "Rows that are judged, such as split=test, where some are training rows."),
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
LIMITS = (
    Option("--max-ece", "max_ece", "0.05", "Largest ECE that holds, a fraction.", float),
    Option("--max-mce", "max_mce", "0.2", "Largest MCE that holds, a fraction.", float),
    Option("--max-gap", "max_gap", "0.02", "Largest |accuracy − mean confidence| that holds, a fraction.", float),
    Option(
        "--on",
        "on",
        None,
        "Judge --max-ece by the ECE as shown (default), or by the root mean square error without the bias of noise.",
        ("plugin", "debiased"),
    ),
)
REPORTING = (
    Option("--heading", "heading", "TEXT", "Heading of the page, up to 120 characters."),
    Option("--audience", "audience", "TEXT", "Who it is for, up to 80 characters."),
    Option("--note", "note", "TEXT", "The analyst's own remark, up to 280 characters, marked as such."),
    Option("--training", "training", None, "Whether these rows were used to train or tune the model.", ("yes", "no", "unknown")),
)
REDUCING = (
    Option(
        "--view",
        "views",
        "VIEW[,VIEW…]",
        "Views to keep: top-label, positive, class:NAME (default: the first two, and up to 20 classes).",
        many=True,
    ),
    Option("--name", "name", "TEXT", "A name for the model, instead of the file's."),
    Option("--engine", "engine", None, "Who reads the files: this process (default), Spark or Dask.", ("arrow", "spark", "dask")),
    Option("--master", "master", "URL", "Where Spark runs, such as local[2]."),
)
BASELINE = Option("--baseline", "baseline", "NAME", "Model that the others are compared with (default: the first).")


def mapping_of(given: dict[str, Any]) -> Mapping:
    """What the reading options say; a name of several is split at commas."""
    fields = {k: v for k, v in given.items() if v is not None}
    for name in _LISTS:
        if name in fields:
            fields[name] = listed(fields[name])
    for name in ("probabilities", "confidence"):
        if name in fields:
            columns = listed(fields[name])
            fields[name] = columns[0] if len(columns) == 1 else columns
    return Mapping(**fields)


def settings_of(given: dict[str, Any]) -> Settings:
    """What the viewing options say; only what was given, so that the defaults live in one place."""
    fields = {k: v for k, v in given.items() if v is not None and k not in ("edges", "edges_from")}
    for name in ("strategy", "view"):
        if fields.get(name, "").replace("_", "-") in _HYPHENATED:
            fields[name] = fields[name].replace("-", "_")
    if "on_request" in fields:
        fields["on_request"] = tuple(name.replace("-", "_") for name in listed(fields["on_request"]))
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


def mapping_arguments(mapping: Mapping) -> list[str] | None:
    """The options that `mapping_of` reads as this mapping, in their order; None where no options say it."""
    given = {o.to: _written(o.to, value) for o in READING if (value := getattr(mapping, o.to, None)) is not None}
    if given.get("missing") == "error":
        del given["missing"]  # the default
    if None in given.values():
        return None
    try:
        same = mapping_of(given).settled(()) == mapping.settled(())
    except csv.Error:  # a line break in one of several names
        return None
    return _arguments(READING, given) if same else None


def settings_arguments(settings: Settings) -> list[str]:
    """The options that `settings_of` reads as these settings; what has a default is written too, so that no later default changes it."""
    names = ("n_bins", "strategy", "edges", "closed", "ties", "view", "level", "seed", "threshold", "cost_error", "cost_review")
    unsaid = {"n_bins", "strategy"} if settings.edges is not None else set[str]()
    given = {n: _setting(getattr(settings, n)) for n in names if n not in unsaid and getattr(settings, n) is not None}
    if settings.on_request:
        given["on_request"] = _joined(settings.on_request)
    return _arguments((*VIEWING, *ADDING), {k: v.replace("_", "-") if v.replace("_", "-") in _HYPHENATED else v for k, v in given.items()})


def _arguments(options: tuple[Option, ...], given: dict[str, str | None]) -> list[str]:
    """Flags and values; a value that looks like a flag is tied to its own."""
    found: list[str] = []
    for o in options:
        value = given.get(o.to)
        if value is not None:
            found += [f"{o.flag}={value}"] if value.startswith("-") else [o.flag, value]
    return found


def _setting(value: object) -> str:
    return ",".join(map(repr, value)) if isinstance(value, tuple) else value if isinstance(value, str) else repr(value)


def _written(role: str, value: object) -> str | None:
    """A mapping's field as an option holds it; None where none can."""
    if value == ():
        return "none"
    if isinstance(value, str):
        return _joined((value,)) if role in (*_LISTS, "probabilities", "confidence") else value
    return _joined(value) if isinstance(value, tuple) else None


def _joined(names: tuple[str, ...]) -> str:
    """Names as `listed` takes them apart; those it would not leave alone stand in quotes."""
    out = io.StringIO()
    as_they_are = all(n == n.strip() and n for n in names)
    csv.writer(out, lineterminator="", quoting=csv.QUOTE_MINIMAL if as_they_are else csv.QUOTE_ALL).writerow(names)
    return out.getvalue()


def listed(text: str) -> tuple[str, ...]:
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
