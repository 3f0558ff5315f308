"""What evaluations of language models write: log-likelihoods of choices, statistics with a name, grades with a confidence."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key, name_text
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.columns import Column
from calibcore.io.confidences import confidence_reading
from calibcore.io.evidence import Evidence, question
from calibcore.io.labels import no_label
from calibcore.io.nested import added, named_values, numbers_column
from calibcore.io.reading import Reading, Unit
from calibcore.io.vocabulary import is_whole, plain, polarity

__all__ = ["choice_log_likelihoods", "named_statistics", "with_told"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
_RESPONSES = ("filtered_resps", "resps")
_BESIDE = {"doc", "doc_id", "target", "arguments"}
_CONFIDENCES = ("max_prob", "max_probability", "confidence", "top_prob")
_FLAGS = ("exact_match", "correct", "is_correct", "acc", "accuracy")
_FLAGS_LIKE = r".*_match|.*_correct|.*_acc|correct_.*"


def with_told(e: Evidence, **roles: Any) -> Evidence:
    """The same evidence, with roles named that the user did not name."""
    return Evidence(e.table, replace(e.mapping, **{k: v for k, v in roles.items() if getattr(e.mapping, k) is None}))


def named_statistics(e: Evidence) -> Reading | None:
    """A list of statistics in each cell, as HELM writes them: the largest probability, and whether the answer was right."""
    if e.mapping.probabilities is not None or e.mapping.label is not None or e.mapping.predicted:
        return None
    for base in e.names:
        found = named_values(e.table, base) if e.column(base).kind == "nested" else {}
        flags = [n for n in _FLAGS if n in found] or [n for n in found if re.fullmatch(_FLAGS_LIKE, plain(n))]
        flags = [n for n in flags if _zero_or_one(found[n])]
        confidences = [n for n in _CONFIDENCES if n in found]
        elsewhere = e.mapping.confidence is None and (e.named("probability") or e.named("confidence"))
        if flags and (confidences or (len(found) > len(flags) and not elsewhere)):
            return _of_statistics(e, base, found, (flags, confidences))
    return None


def _zero_or_one(column: Column) -> bool:
    values = column.numeric().values
    return bool(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all())


def _of_statistics(e: Evidence, base: str, found: dict[str, Column], roles: tuple[list[str], list[str]]) -> Reading:
    flags, confidences = roles
    if not confidences and not e.mapping.confidence:
        raise InputError(
            f"Column {base!r} holds statistics ({listing(list(found), 4)}) but no probability such as max_prob, so calibration "
            "cannot be judged. Score the runs with a metric that keeps the probability of the answer, or name one (--confidence).",
            column=base,
        )
    if flags[0] not in _FLAGS and len(flags) > 1 and not e.mapping.correct:
        made = [added(e.table, found[n]) for n in flags]
        raise AmbiguousLayout([question("correct", f"Which one says whether an answer was right: {listing(made, 4)}?", made)])
    flag = added(e.table, found[flags[0]])
    reading = confidence_reading(
        with_told(e, correct=flag, confidence=added(e.table, found[confidences[0]]) if confidences else None), None
    )
    notes = [f"Of the statistics in {base!r}, {reading.units[0].columns[0]} is the confidence and {reading.correct} says what was right."]
    copies = next((n for n in e.names if plain(n) == "perturbation"), None)
    changed = 0 if copies is None else e.table.n_rows - e.column(copies).array.null_count
    if changed:
        notes.append(f"{changed:,} of {e.table.n_rows:,} rows are changed copies of an instance ({copies!r}); they count like the others.")
    return replace(reading, notes=(*reading.notes, *notes))


@dataclass(frozen=True, slots=True, eq=False)
class _Choices:
    """Log-likelihoods of the choices of each row: −inf where a row has fewer choices, NaN where it has none at all."""

    base: str
    matrix: Floats
    counts: Index
    texts: list[tuple[str, ...]]  # of the choices, () where they are not told

    @property
    def best(self) -> Index:
        best: Index = np.argmax(self.matrix, axis=1)
        return best

    @property
    def clear(self) -> NDArray[np.bool_]:
        """Rows with one largest value."""
        top = self.matrix.max(axis=1, keepdims=True)
        clear: NDArray[np.bool_] = (self.matrix == top).sum(axis=1) == 1
        return clear


def choice_log_likelihoods(e: Evidence) -> Reading | None:
    """Samples of lm-evaluation-harness: the log-likelihood of each choice, and whether it was the greedy continuation."""
    base = next((n for n in _RESPONSES if n in e.names and e.column(n).kind in ("nested", "text")), None)
    told = e.mapping.probabilities
    if base is None or not _BESIDE & set(e.names) or e.mapping.confidence or e.mapping.correct or told not in (None, *_RESPONSES):
        return None
    found = _choices(e, base)
    if isinstance(found, InputError):
        raise found
    filters = e.values("filter") if "filter" in e.names else None
    if filters and len(filters) > 1:
        raise InputError(
            f"Column 'filter' holds {listing(filters, 4)}, so each answer is there once for each filter. Keep the rows of one filter.",
            column="filter",
        )
    return _with_label(e, found) or _right_by_flag(e, found)


def _choices(e: Evidence, base: str) -> _Choices | InputError:
    rows = [_log_likelihoods(c) for c in e.column(base).array.to_pylist()]
    known = [r for r in rows if r]
    if not known:
        return InputError(
            f"Column {base!r} holds generated answers without their probabilities, so calibration cannot be judged. "
            "Run a multiple-choice task, whose samples hold the log-likelihood of each choice.",
            column=base,
        )
    texts = _texts(e)
    rows = [_conditional(r, t) for r, t in zip(rows, texts, strict=True)]
    counts = np.array([len(r or ()) for r in rows], dtype=np.intp)
    if counts.max() < 2:
        return InputError(
            f"Column {base!r} holds one log-likelihood a row, so there is nothing to compare it with, and no confidence. "
            "Only tasks with several choices can be judged.",
            column=base,
        )
    matrix = np.full((len(rows), int(counts.max())), -np.inf)
    for i, r in enumerate(rows):
        if r:
            matrix[i, : len(r)] = r
    matrix[counts == 0] = np.nan
    single = counts == 1
    if single.any():
        row = int(np.argmax(single)) + 1
        return InputError(f"Row {row:,} of column {base!r} has only one choice. Leave such rows out.", row=row, column=base)
    if np.nanmax(matrix) > 1e-6:
        row = int(np.argmax((matrix > 1e-6).any(axis=1))) + 1
        return InputError(
            f"Row {row:,} of column {base!r} holds a number above 0, which is no log-likelihood. Save one column per class.", row=row
        )
    return _Choices(base, matrix, counts, [tuple(t[1] for t in each) for each in texts])


def _log_likelihoods(cell: Any) -> list[float] | None:
    """The numbers of pairs [log-likelihood, is greedy], wherever numbers are written as texts or each pair lies in a list of its own."""
    if isinstance(cell, list) and len(cell) == 1 and isinstance(cell[0], str):
        cell = cell[0]
    if isinstance(cell, str):
        try:
            cell = json.loads(cell.replace("'", '"').replace("True", "true").replace("False", "false"))
        except (ValueError, RecursionError):
            return None
    if not isinstance(cell, list) or not cell:
        return None
    found = [_first_number(item) for item in cell]
    return [f for f in found if f is not None] if None not in found else None


def _first_number(item: Any) -> float | None:
    while isinstance(item, list) and len(item) == 1 and isinstance(item[0], list):
        item = item[0]
    if isinstance(item, (float, int)) and not isinstance(item, bool):
        return float(item)
    pair = isinstance(item, list) and len(item) == 2 and str(item[1]).casefold() in ("true", "false", "0", "1", "none", "0.0", "1.0")
    try:
        return float(item[0]) if pair else None
    except (TypeError, ValueError):
        return None


def _texts(e: Evidence) -> list[list[tuple[str, str]]]:
    """Context and text of each choice: of the requests, else of the document's choices."""
    n = e.table.n_rows
    if "arguments" in e.names:
        found = [_requests(c) for c in _cells(e, "arguments")]
        if any(found):
            return found
    docs = [c.get("choices") if isinstance(c, dict) else None for c in _cells(e, "doc")] if "doc" in e.names else [None] * n
    lists = [d.get("text") if isinstance(d, dict) else d for d in docs]
    return [[("?", str(t).strip()) for t in x] if isinstance(x, list) and all(isinstance(t, str) for t in x) else [] for x in lists]


def _cells(e: Evidence, name: str) -> list[Any]:
    """A column's cells; where records differ from row to row they were kept as texts."""
    cells = e.column(name).array.to_pylist()
    texts = [c[0] if isinstance(c, list) and len(c) == 1 and isinstance(c[0], str) else c for c in cells]
    return [_parsed(t) if isinstance(t, str) else t for t in texts]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _requests(cell: Any) -> list[tuple[str, str]]:
    if isinstance(cell, dict):
        numbered = sorted((int(k.rpartition("_")[2]), v) for k, v in cell.items() if k.rpartition("_")[2].isdigit() and v)
        cell = [[v.get("arg_0"), v.get("arg_1")] for _, v in numbered if isinstance(v, dict)]
    pairs = [p for p in cell or () if isinstance(p, list) and len(p) == 2] if isinstance(cell, list) else []
    return [(str(a), str(b).strip()) for a, b in pairs if b is not None]


def _conditional(row: list[float] | None, texts: Sequence[tuple[str, str]]) -> list[float] | None:
    """Without the second half, where the same choices were scored once more without the question."""
    half = len(texts) // 2
    if row is None or len(row) != len(texts) or len(texts) % 2 or not half:
        return row
    bare = [not context.strip() for context, _ in texts]
    again = [t for _, t in texts[:half]] == [t for _, t in texts[half:]]
    return row[:half] if again and all(bare[half:]) and not any(bare[:half]) else row


def _with_label(e: Evidence, found: _Choices) -> Reading | None:
    """The reading by the column of the true choice, if it agrees with the file's own accuracy."""
    name = e.mapping.label or next((n for n in ("target", "gold", "gold_index", "label") if n in e.names), None)
    if not name or e.column(name).kind == "nested":
        return None
    position = _positions(e, name, found)
    text = _by_text(e, name, found)
    fits = [p for p in (position, text) if p is not None and not _differs(e, found, p).any()]
    if e.mapping.label and not fits:
        fits = [p for p in (position, text) if p is not None]
    if position is not None and text is not None and len(fits) > 1 and not np.array_equal(position, text):
        fits = [position if _counted(e, name, found) else text]
    return _classes(e, found, name, (fits[0], fits[0] is position)) if fits else None


def _positions(e: Evidence, name: str, found: _Choices) -> Index | None:
    """Labels that are positions counted from 0; −1 where there is none."""
    names = e.column(name).names()
    keys = [name_key(d) for d in names.distinct]
    missing = names.missing()
    numbers = np.array([*(int(k) if is_whole(k) else -1 for k in keys), -1], dtype=np.intp)[names.code]
    fits = missing | (found.counts == 0) | ((numbers >= 0) & (numbers < found.counts))
    return np.where(missing, -1, numbers) if fits.all() and not missing.all() else None


def _by_text(e: Evidence, name: str, found: _Choices) -> Index | None:
    """Labels that are the text of one of the row's choices."""
    names = e.column(name).names()
    labels, missing = [*names.distinct, ""], names.missing()
    position = np.full(len(found.counts), -1, dtype=np.intp)
    for row, texts in enumerate(found.texts):
        if missing[row] or not found.counts[row]:
            continue
        mine = [i for i, t in enumerate(texts[: found.counts[row]]) if name_text(t) == labels[names.code[row]]]
        if len(mine) != 1:
            return None
        position[row] = mine[0]
    return None if missing.all() else position


def _counted(e: Evidence, name: str, found: _Choices) -> bool:
    """Whether labels such as 2 are positions, where they are the texts of choices as well; asked unless they are numbers in the file."""
    positions, texts = tuple(str(i) for i in range(found.matrix.shape[1])), _same_texts(found)
    told = e.mapping.classes
    if e.column(name).kind == "number" or told == positions or not texts:
        return True
    if told is not None and {name_key(c) for c in told} == {name_key(t) for t in texts}:
        return False
    shown = listing(texts, 6)
    text = f"Are the values of {name!r} positions of the choices, counted from 0, or their texts ({shown})? Name the choices in order."
    raise AmbiguousLayout([question("classes", text, [",".join(positions), ",".join(texts)])])


def _differs(e: Evidence, found: _Choices, position: Index) -> NDArray[np.bool_]:
    """Rows in which the file's own accuracy says otherwise."""
    flag = e.column("acc").numeric().values if "acc" in e.names and e.numeric("acc") else np.full(len(position), np.nan)
    known = found.clear & (position >= 0) & ((flag == 0) | (flag == 1))
    differs: NDArray[np.bool_] = known & ((found.best == position) != (flag == 1))
    return differs


def _classes(e: Evidence, found: _Choices, name: str, label: tuple[Index, bool]) -> Reading:
    position, counted = label
    k = found.matrix.shape[1]
    columns = [numbers_column(e.table, f"{found.base}[{i}]", found.matrix[:, i], found.base) for i in range(k)]
    texts = _same_texts(found)
    names: tuple[str, ...] = tuple(str(i) for i in range(k))
    if not counted and texts and (k > 2 or polarity(texts) is not None):
        names = texts
    elif not counted:
        values = np.where(position < 0, np.nan, position)
        name = numbers_column(e.table, f"{name}[position]", values, found.base)
    order = list(range(k))
    if k == 2 and (positive := e.positive(names)) is not None:
        order.sort(key=lambda i: name_key(names[i]) == name_key(positive))
    classes = tuple(names[i] for i in order)
    unit = Unit(tuple(columns[i] for i in order), name)
    reading = Reading("log-likelihoods of choices", "classes", (unit,), classes, e.mapping.scale or "log-prob")
    notes = [
        *_notes(found),
        *([f"The choices are {listing([f'{i} = {t}' for i, t in enumerate(texts)], 8)}."] if counted and texts else []),
    ]
    differs = _differs(e, found, position)
    if differs.any():
        row = int(np.argmax(differs)) + 1
        notes.append(f"Column 'acc' says otherwise than {name!r} in {int(differs.sum()):,} rows (first: row {row:,}); {name!r} counts.")
    return replace(reading, notes=tuple(notes))


def _same_texts(found: _Choices) -> tuple[str, ...]:
    """The choices' texts, if every row has the same different ones."""
    rows = {t for t, c in zip(found.texts, found.counts, strict=True) if c}
    texts = next(iter(rows)) if len(rows) == 1 else ()
    k = found.matrix.shape[1]
    same = len(texts) >= k and len({name_key(t) for t in texts[:k]}) == k and all(texts[:k])
    return texts[:k] if same and (found.counts[found.counts > 0] == k).all() else ()


def _notes(found: _Choices) -> list[str]:
    about = (
        f"The log-likelihoods in {found.base!r} were taken as log-probabilities of the row's choices. Divided by the length of "
        "the choices, as acc_norm does, they would give other confidences."
    )
    few, most = int(found.counts[found.counts > 0].min()), found.matrix.shape[1]
    return [
        about,
        *([f"Rows have {few} to {most} choices; a choice that a row does not have has the probability 0."] if few < most else []),
    ]


def _right_by_flag(e: Evidence, found: _Choices) -> Reading:
    """Where the true choice is not told: the probability of the likeliest one, and the file's own accuracy."""
    if "acc" not in e.names or not e.numeric("acc"):
        raise no_label(e)
    with np.errstate(invalid="ignore"):  # a row of −inf alone has no probabilities
        shifted = np.exp(found.matrix - found.matrix.max(axis=1, keepdims=True))
    largest = numbers_column(e.table, f"{found.base}[largest]", 1 / shifted.sum(axis=1), found.base)
    told = with_told(_without_label(e), correct="acc", confidence=largest, scale="fraction")
    note = "No column tells the position of the true choice in a way that agrees with 'acc', so 'acc' says what was right."
    reading = confidence_reading(told, None)
    return replace(reading, notes=(*reading.notes, *_notes(found), note))


def _without_label(e: Evidence) -> Evidence:
    """Without a label, so that a flag decides."""
    return Evidence(e.table, replace(e.mapping, label=()))
