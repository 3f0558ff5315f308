"""What can be taken away of a remedy: the held-out scores as CSV, the fitted map as JSON, and code that applies it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from calibcore.advice.calibrator_file import Calibrator
from calibcore.predictions import Predictions
from calibcore.report.tables import Table, spreadsheet_safe, to_csv

__all__ = ["apply_code", "calibrated_csv", "calibrator_json"]


def calibrated_csv(held_out: Predictions) -> str:
    """The rows with their held-out probabilities in full, in a form that `calibcore.read` reads.

    Parameters
    ----------
    held_out : Predictions
        As `Remedies.held_out` gives them.
    """
    columns = dict(_columns(held_out))
    header = tuple(spreadsheet_safe(h) for h in columns)
    return to_csv(Table(header, tuple(zip(*columns.values(), strict=True))))


def _columns(p: Predictions) -> Iterator[tuple[str, list[str]]]:
    yield "row", [str(i) for i in p.row.tolist()]
    if p.ids is not None:
        yield "id", [spreadsheet_safe(str(i)) for i in p.ids.tolist()]
    if p.probabilities is None or p.label is None:
        yield "confidence", _numbers(p.confidence)
        yield "correct", [str(int(c)) for c in p.correct.tolist()]
    else:
        yield "label", [spreadsheet_safe(p.classes[k]) for k in p.label.tolist()]
        for k, name in enumerate(p.classes):
            yield f"prob_{name}", _numbers(p.probabilities[:, k])
    if p.weight is not None:
        yield "weight", _numbers(p.weight)


def _numbers(values: NDArray[Any]) -> list[str]:
    return [repr(v) for v in values.tolist()]


def calibrator_json(calibrator: Calibrator) -> str:
    """The fitted map, as `Calibrator.save` writes it and `Calibrator.load` reads it."""
    return json.dumps(calibrator.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def apply_code(calibrator: Calibrator, file: str) -> str:
    """Python that applies the map in ``file`` to new probabilities.

    Parameters
    ----------
    calibrator : Calibrator
    file : str
        Name under which the map was saved.
    """
    return "\n".join(
        [
            '"""Apply a calibrator to new probabilities."""',
            "",
            "import numpy as np",
            "",
            "import calibcore as cc",
            "",
            f"calibrator = cc.Calibrator.load({file!r})",
            *_example(calibrator),
            "print(calibrator.apply(new))",
            "",
        ]
    )


def _example(calibrator: Calibrator) -> list[str]:
    if calibrator.task == "top_label":
        return ["# One confidence in the predicted class a row.", "new = np.array([0.6, 0.8, 0.95])"]
    if calibrator.task == "binary":
        return [f"# One probability a row, that of the class {calibrator.classes[1]!a}.", "new = np.array([0.05, 0.5, 0.95])"]
    k = len(calibrator.classes)
    return [
        "# One row a case, one column a class, in the order of calibrator.classes.",
        f"new = np.full((3, {k}), 1 / {k})",
    ]
