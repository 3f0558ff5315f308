"""What single tools write: their headers name the label, the predicted class and the probabilities beyond doubt."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np

from calibcore.checks import listing, name_key, sorted_names
from calibcore.errors import AmbiguousLayout
from calibcore.io.columns import Column
from calibcore.io.evidence import Evidence, question
from calibcore.io.reshaped import Reshaped, filled_in, numbers, taken, texts
from calibcore.io.vocabulary import is_named, plain

__all__ = ["fasttext", "libsvm", "modeler", "orange", "orange_header", "tidymodels"]

_MARK = "__label__"
_TYPES = r"(continuous|discrete|string|time|basket|c|d|s|t|\S+( \S+)+)?"
_FLAGS = r"(class|meta|ignore|weight|i|m|w|-?dc|)( \S+=\S+)*"
_MODELS = r"\$(L|R|C|N|S|B|D|KNN|XGT|XF|XR\d*|XS|SVM|TAN)-(.+)"


def libsvm(e: Evidence) -> Reshaped | None:
    """The header ends in ``labels 1 -1``: the columns' classes, and before them ``labels``, which holds predictions."""
    names = list(e.table.columns)
    at = names.index("labels") if "labels" in names else len(names)
    classes = names[at + 1 :]
    numbered = len(classes) > 1 and all(re.fullmatch(r"-?\d+", n) for n in classes)
    if not numbered or "predicted" in names or not e.table.format.endswith("spaces"):
        return None
    columns = {"predicted" if n == "labels" else n: c for n, c in e.table.columns.items()}
    columns["predicted"] = replace(columns["predicted"], name="predicted")
    note = "The header is LIBSVM's: column 'labels' holds the predicted class (here called 'predicted'), not the true one."
    told = None if e.mapping.confidence else {n: n for n in classes}
    return Reshaped(replace(e.table, columns=columns), filled_in(e.mapping, predicted="predicted", probabilities=told), (note,))


def fasttext(e: Evidence) -> Reshaped | None:
    """Pairs of ``__label__c`` and its probability in each row: all classes, or only the most probable ones."""
    names = list(e.table.columns)
    pairs = [(a, b) for a, b in pairwise(names) if _all_marked(e, a) and e.numeric(b)]
    if not pairs or e.mapping.probabilities is not None or e.mapping.confidence is not None or e.mapping.predicted is not None:
        return None
    marked = [e.column(a).names() for a, _ in pairs]
    classes = sorted_names(list({d.removeprefix(_MARK) for m in marked for d in m.present()}))
    rank = {c: i for i, c in enumerate(classes)}
    code = np.column_stack([np.array([*(rank.get(d.removeprefix(_MARK), -1) for d in m.distinct), -1])[m.code] for m in marked])
    values = np.column_stack([e.column(b).numeric().values for _, b in pairs])
    used = {n for pair in pairs for n in pair}
    columns = {n: _unmarked(c) for n, c in e.table.columns.items() if n not in used}
    columns["predicted"] = texts("predicted", classes, code[:, 0])
    roles: dict[str, object] = {"predicted": "predicted"}
    if len(classes) == len(pairs) > 1 and (np.sort(code, axis=1) == np.arange(len(classes))).all():
        wide = np.empty_like(values)
        np.put_along_axis(wide, code, values, axis=1)
        roles["probabilities"] = {c: f"probability[{c}]" for c in classes}
        columns |= {f"probability[{c}]": numbers(f"probability[{c}]", wide[:, i]) for i, c in enumerate(classes)}
        said = "one probability for each class"
    else:
        roles["confidence"], columns["confidence"] = "confidence", numbers("confidence", values[:, 0])
        said = "the most probable class and its probability"
    note = f"fastText's rows hold {said}; {_MARK} was cut off the names."
    return Reshaped(replace(e.table, columns=columns), filled_in(e.mapping, **roles), (note,))


def _all_marked(e: Evidence, name: str) -> bool:
    """Whether all cells of a column begin with the mark; a look at the first ones spares other columns."""
    column = e.column(name)
    if column.kind != "text" or not all(str(v or _MARK).startswith(_MARK) for v in column.head(20).to_pylist()):
        return False
    found = column.names().present()
    return bool(found) and all(d.startswith(_MARK) for d in found)


def _unmarked(column: Column) -> Column:
    """A label's column, whose names may carry the mark as well."""
    if column.kind != "text" or not column.all_begin(_MARK):
        return column
    names = column.names()
    return texts(column.name, [d.removeprefix(_MARK) for d in names.distinct], names.code)


def modeler(e: Evidence) -> Reshaped | None:
    """SPSS Modeler: ``$L-T`` is the predicted T; ``$LP-T`` its confidence, ``$LP-c`` the probability of class c."""
    found = {n: m for n in e.table.columns if (m := re.fullmatch(_MODELS, n)) and m[2] in e.table.columns}
    if e.mapping.predicted is not None:
        found = {n: m for n, m in found.items() if n == e.mapping.predicted}
    if not found or len({m[2] for m in found.values()}) > 1:
        return None
    if len(found) > 1:
        text = f"Columns {listing(list(found), 4)} are predictions of different models. Which one is to be judged?"
        raise AmbiguousLayout([question("predicted", text, found)])
    ((predicted, match),) = found.items()
    model, target = match.groups()
    classes = _modeler_classes(e, model, target)
    confidence = next((n for s in ("P", "C") if (n := f"${model}{s}-{target}") in e.table.columns and e.numeric(n)), None)
    roles: dict[str, object] = {"label": target, "predicted": predicted}
    if e.mapping.probabilities is None and e.mapping.confidence is None:
        roles |= {"probabilities": classes} if classes else {"confidence": confidence}
    return Reshaped(e.table, filled_in(e.mapping, **roles))


def _modeler_classes(e: Evidence, model: str, target: str) -> dict[str, str] | None:
    """Class → column, if every value of the target has one."""
    values = e.values(target) or ()
    for stem in (f"${model}P-", f"${model}RP-"):
        columns = {v: f"{stem}{v}" for v in values if f"{stem}{v}" in e.table.columns and v != target}
        if len(values) > 1 and len(columns) == len(values):
            known = {name_key(v) for v in values}
            more = {n[len(stem) :]: n for n in e.table.columns if n.startswith(stem) and n != f"{stem}{target}"}
            return columns | {c: n for c, n in more.items() if name_key(c) not in known}
    return None


def orange_header(e: Evidence) -> Reshaped | None:
    """Two more header rows below the names: types, and flags that name the label's column."""
    table = e.table
    if table.n_rows < 3 or any(c.kind != "text" for c in table.columns.values()):
        return None
    rows = {n: [(v or "").strip() for v in c.head(2).to_pylist()] for n, c in table.columns.items()}
    types, flags = [r[0] for r in rows.values()], [r[1] for r in rows.values()]
    telling = {"continuous", "discrete", "string", "time", "c", "d", "s", "t"} & set(types)
    if not telling or not all(re.fullmatch(_TYPES, t) for t in types) or not all(re.fullmatch(_FLAGS, f) for f in flags):
        return None
    kept = np.arange(2, table.n_rows, dtype=np.intp)
    columns = {n: taken(c, kept) for n, c in table.columns.items()}
    rows_in_file = None if table.rows_in_file is None else table.rows_in_file - 2
    labels = [n for n, r in rows.items() if r[1].split(" ")[0] == "class"]
    mapping = filled_in(e.mapping, label=labels[0]) if len(labels) == 1 else e.mapping
    note = "Two rows below the header hold Orange's types and flags and were left out; rows are counted after them."
    return Reshaped(replace(table, columns=columns, n_rows=table.n_rows - 2, rows_in_file=rows_in_file), mapping, (note,))


def orange(e: Evidence) -> Reshaped | None:
    """Models by name: ``M`` is a predicted class, ``M (c)`` the probability of class c."""
    if e.mapping.probabilities is not None or e.mapping.confidence is not None or e.mapping.predicted is not None:
        return None
    stems = _orange_stems(list(e.table.columns))
    models = {n: c for n in e.table.columns if n in stems and len(c := _orange_classes(e, n, stems[n])) > 1}
    if not models or set(models) & set(e.mapping.columns()):
        return None
    labels = [n for n in e.free if n not in models and _is_truth(e, n, next(iter(models.values())))]
    if not (labels or e.mapping.label) and not all(_is_largest(e, n, c) for n, c in models.items()):
        return None  # the only column with the classes is the label
    mapping = filled_in(e.mapping, label=labels[0]) if len(labels) == 1 else e.mapping
    if len(models) == 1:
        return Reshaped(e.table, filled_in(mapping, predicted=next(iter(models))))
    columns = {n: c for n, c in e.table.columns.items() if n not in models}
    note = f"Columns {listing(list(models), 6)} hold the classes that the models predicted; the most probable class is used."
    return Reshaped(replace(e.table, columns=columns), mapping, (note,))


def _is_largest(e: Evidence, model: str, classes: list[str]) -> bool:
    """Whether the model's own column names its most probable class in nearly every row, as no true class would."""
    matrix = np.column_stack([e.column(f"{model} ({c})").numeric().values for c in classes])
    code = e.column(model).names().among(classes)
    known = (code >= 0) & ~np.isnan(matrix).any(axis=1)
    return bool(known.any()) and float((matrix[known, code[known]] >= matrix[known].max(axis=1)).mean()) > 0.99


def _orange_stems(names: list[str]) -> dict[str, list[str]]:
    """What stands before `` (c)`` at the end of names, with each c."""
    stems: dict[str, list[str]] = {}
    for name in (n for n in names if n.endswith(")")):
        for found in re.finditer(r" \(", name):
            stems.setdefault(name[: found.start()], []).append(name[found.end() : -1])
    return stems


def _orange_classes(e: Evidence, model: str, classes: list[str]) -> list[str]:
    """The classes c of columns ``model (c)``, if the model's own column holds nothing else."""
    classes = [c for c in classes if c != "error" and e.numeric(f"{model} ({c})")]
    keys = {name_key(c) for c in classes}
    return classes if classes and {name_key(v) for v in e.values(model) or ("",)} <= keys else []


def _is_truth(e: Evidence, name: str, classes: list[str]) -> bool:
    values = e.values(name) if e.class_like(name) and not is_named(name, "group", exact=True) else None
    return bool(values) and {name_key(v) for v in values or ()} <= {name_key(c) for c in classes} and len(values or ()) > 1


def tidymodels(e: Evidence) -> Reshaped | None:
    """Predictions of a resampling: the truth is the one column beside ``.pred_c``, ``.row``, ``.config`` and the folds' id."""
    names = list(e.table.columns)
    stem = [n for n in names if n.startswith(".pred_")]
    if len(stem) < 2 or not {".row", ".config"} & set(names) or e.mapping.label is not None:
        return None
    rest = [n for n in names if not n.startswith(".") and not re.fullmatch(r"id\d?|splits|iter|fold", plain(n)) and n not in e.index]
    return Reshaped(e.table, filled_in(e.mapping, label=rest[0])) if len(rest) == 1 and e.class_like(rest[0]) else None
