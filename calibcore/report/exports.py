"""What can be downloaded: all results as JSON, bins and rows as CSV, equal to what is shown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from calibcore.analysis import Analysis, Comparison, Settings, document
from calibcore.catalogue import Subject, requested
from calibcore.predictions import Predictions
from calibcore.report.rows import BinRows, all_rows
from calibcore.report.tables import Table, spreadsheet_safe, to_csv

__all__ = ["all_rows_csv", "bins_csv", "file_name", "results_json", "rows_csv", "with_requests"]


def results_json(results: Comparison | Sequence[Analysis]) -> str:
    """The JSON of a run, as the command line writes it."""
    run = results.to_dict() if isinstance(results, Comparison) else document(results)
    return json.dumps(run, indent=1, allow_nan=False, ensure_ascii=False)


def with_requests(a: Analysis, rows: Predictions, names: Sequence[str], ready: Mapping[str, Any]) -> Analysis:
    """What `analyze` gives under settings that also ask for ``names``; only what is not ``ready`` is computed.

    Parameters
    ----------
    a : Analysis
        Of these rows, with nothing on request.
    rows : Predictions
    names : sequence of str
        As in `Settings.on_request`.
    ready : mapping of name to result
        As the catalogue computes it under these settings.
    """
    settings = replace(a.settings, on_request=tuple(names))
    open_ = tuple(n for n in settings.on_request if n not in ready)
    found = {**ready, **requested(Subject(rows, rows.profile(a.view), replace(settings, on_request=open_)))}
    return replace(a, settings=settings, requested={n: found[n] for n in settings.on_request})


def bins_csv(analyses: Sequence[Analysis]) -> str:
    """One line a model and bin at full precision; what is undefined is empty.

    Parameters
    ----------
    analyses : sequence of Analysis
    """
    header: tuple[str, ...] = (
        "model",
        "view",
        "strategy",
        "closed",
        "level",
        "bin",
        "lower",
        "upper",
        "count",
        "confidence",
        "accuracy",
        "gap",
    )
    header += ("interval_low", "interval_high", "chance_low", "chance_high")
    return to_csv(Table(header, tuple(line for a in analyses for line in _bin_lines(a))))


def _bin_lines(a: Analysis) -> list[tuple[str, ...]]:
    s = a.settings
    about = (spreadsheet_safe(a.name), spreadsheet_safe(a.view), s.strategy, a.bins.closed, repr(s.level))
    lines = []
    for i, b in enumerate(a.bins.rows(s.level)):
        numbers = [b[k] for k in ("lower", "upper", "count", "confidence", "accuracy", "gap")]
        numbers += [*(b["interval"] or (None, None)), *(b["chance"] or (None, None))]
        lines.append((*about, str(i), *("" if x is None else repr(x) for x in numbers)))
    return lines


def rows_csv(rows: BinRows) -> str:
    """All rows of a bin."""
    return to_csv(_safe(rows.table()))


def all_rows_csv(predictions: Predictions, settings: Settings) -> str:
    """Every row of a model with its bin."""
    return to_csv(_safe(all_rows(predictions, settings)))


def _safe(table: Table) -> Table:
    """The table with cells that no spreadsheet runs."""
    return Table(tuple(map(spreadsheet_safe, table.header)), tuple(tuple(map(spreadsheet_safe, row)) for row in table.rows))


def file_name(*parts: Any, ending: str) -> str:
    """A file name of harmless characters: "swift-v2-bins.csv"."""
    joined = "-".join(str(p) for p in parts)
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in joined)[:80] + ending
