"""A fitted map with what it was fitted on: applied to new probabilities, saved and loaded as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.advice.calibrators import METHODS, Parameters, Sample, fit_notes, method_named, probability_matrix
from calibcore.checks import checked_probabilities, checked_row_sums, listing, name_key, name_text, needs, rows_text
from calibcore.errors import InputError
from calibcore.predictions import Predictions
from calibcore.profile import Task
from calibcore.top_label import both_sides
from calibcore.totals import CLIP
from calibcore.version import __version__

__all__ = ["Calibrator", "prior_shift"]

FloatArray = NDArray[np.float64]
SCHEMA = 1
_FORMAT = "calibcore calibrator"
_UNIT = ("value", "lower", "upper", "score", "edges", "lower_score", "upper_score")  # parameters between 0 and 1
_RISING = ("score", "edges", "lower_score", "upper_score")
_MONOTONE = ("lower", "upper")
_TASKS = ("binary", "multiclass", "top_label")


@dataclass(frozen=True, slots=True, eq=False)
class Calibrator:
    """A map from a model's probabilities to better calibrated ones, fitted once and kept.

    Make one with `fit`, `prior_shift` or `load`.

    Attributes
    ----------
    method : str
        A name in `calibcore.advice.calibrators.METHODS`.
    task : {"binary", "multiclass", "top_label"}
        What it maps: P(positive), the probabilities of K ≥ 3 classes, or the confidence in the predicted class alone.
    classes : tuple of str
        In column order; empty where only confidences are known.
    parameters : dict of name to array
    n : int
        Rows that it was fitted on; 0 for a formula.
    data_sha256 : str or None
        Of the file that it was fitted on, where known.
    version : str, of the package that fitted it
    notes : tuple of str

    Notes
    -----
    Fits are by maximum likelihood (isotonic, histogram, Venn–Abers: shares of events), weighted where rows have
    weights.  Logarithms are of max(p, 2⁻⁵²), as in the log loss, both in the fit and where the map is applied: a
    probability of exactly 0 or 1 does not stay exact.

    **A fitted map looks perfect on the rows it was fitted on** — isotonic regression has an ECE of 0 there, whatever
    the truth.  Judge it on other rows: `calibcore.advice.recalibration.remedies`.

    "top_label": the event is "the predicted class is right", the score is the confidence, and the predicted class
    stays, since nothing else is known.  Temperature scaling is then expit(logit(confidence)/T), which for K ≥ 3 is
    not softmax(z/T).

    References
    ----------
    Guo et al. (2017), arXiv:1706.04599.  Platt (1999), Probabilistic outputs for support vector machines.  Kull, Silva
    Filho & Flach (2017), PMLR 54:623.  Zadrozny & Elkan (2001), ICML; (2002), doi:10.1145/775047.775151.  Vovk & Petej
    (2014), arXiv:1211.0025.  Saerens, Latinne & Decaestecker (2002), doi:10.1162/089976602753284446.

    Examples
    --------
    Fifty rows at 0.1 of which ten happened, fifty at 0.9 of which forty did: 0.1 should be 0.2.

    >>> p = Predictions.from_arrays([1] * 10 + [0] * 40 + [1] * 40 + [0] * 10, [0.1] * 50 + [0.9] * 50)
    >>> c = Calibrator.fit(p, "temperature")
    >>> c.apply([0.1, 0.9]).round(12).tolist()
    [0.2, 0.8]
    >>> Calibrator.from_dict(c.to_dict()).parameters == c.parameters
    True
    """

    method: str
    task: Task
    classes: tuple[str, ...]
    parameters: Mapping[str, FloatArray]
    n: int = 0
    data_sha256: str | None = None
    version: str = __version__
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Calibrator: {METHODS[self.method].title} for {listing(self.classes or ('confidences',), 4)}, n = {self.n:,}>"

    def __post_init__(self) -> None:
        for array in self.parameters.values():
            array.flags.writeable = False

    @classmethod
    def fit(cls, predictions: Predictions, method: str = "temperature") -> Calibrator:
        """Fit a map to labelled rows.

        Parameters
        ----------
        predictions : Predictions
        method : str
            ``"temperature"``, ``"intercept"``, ``"platt"``, ``"beta"``, ``"isotonic"``, ``"histogram"``,
            ``"venn_abers"`` or ``"identity"``; for three or more classes ``"temperature"``, ``"intercept"``,
            ``"vector"`` or ``"identity"``.

        Raises
        ------
        InputError
            If the method does not map this many classes, or no finite map fits best (a class without rows, scores that
            separate the outcomes).
        """
        needs(predictions, Predictions, "Calibrator.fit")
        sample = Sample.of(predictions)
        kind = method_named(method, sample.matrix.shape[1])
        parameters = kind.fit(sample, None)
        notes = fit_notes(method, parameters, sample)
        sha = predictions.source.get("sha256")
        return cls(method, predictions.task, predictions.classes, parameters, predictions.n, sha, notes=notes)

    @classmethod
    def prior_shift(cls, old: Any, new: Any, *, classes: Sequence[Any] = ("0", "1")) -> Calibrator:
        """The map for a changed base rate, by formula: see `prior_shift`.

        Parameters
        ----------
        old, new : float, or array-like of shape (K,)
            Base rate of the positive class, or of every class, where the model was made and where it is used.
        classes : sequence
            Names in column order; of two: (other, positive).
        """
        names = tuple(name_text(c) for c in classes)
        bias = prior_shift(old, new)
        if len(bias) != len(names):
            raise InputError(f"There are {len(bias)} base rates for {len(names)} classes.")
        return cls("intercept", "binary" if len(names) == 2 else "multiclass", names, {"bias": bias})

    @property
    def n_classes(self) -> int:
        """Columns that the map takes; confidences alone count as two."""
        return 2 if self.task == "top_label" else len(self.classes)

    def apply(self, probabilities: Any) -> FloatArray:
        """Calibrated probabilities.

        Parameters
        ----------
        probabilities : array-like
            Binary: shape (n,), P(positive), or (n, 2).  Three or more classes: (n, K).  Confidences alone: (n,).

        Returns
        -------
        array
            Of the same shape, float64.

        Raises
        ------
        InputError
            For another shape, or values that are not probabilities.
        """
        array, _ = checked_probabilities(probabilities, "confidences" if self.task == "top_label" else "probabilities")
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim == 1 and self.n_classes == 2:
            return np.asarray(self._mapped(both_sides(array.astype(np.float64)))[:, 1])
        if array.ndim == 1 or self.task == "top_label" or array.shape[1] != self.n_classes:
            columns = 1 if array.ndim == 1 else array.shape[1]
            wanted = "one confidence a row" if self.task == "top_label" else f"one column for each of {listing(self.classes, 10)}"
            raise InputError(f"This calibrator takes {wanted}; these rows have {columns}.", value=columns)
        checked_row_sums(array)
        return self._mapped(array.astype(np.float64))

    def _mapped(self, matrix: FloatArray) -> FloatArray:
        return METHODS[self.method].apply(dict(self.parameters), matrix)

    def apply_to(self, predictions: Predictions, *, name: str | None = None) -> Predictions:
        """The same rows with calibrated probabilities.

        Parameters
        ----------
        predictions : Predictions
            Of the task and classes that the map was fitted on.
        name : str, optional
            By default the model's name and the method.

        Raises
        ------
        InputError
            If task or classes are others.
        """
        needs(predictions, Predictions, "Calibrator.apply_to")
        self._check(predictions)
        matrix = probability_matrix(predictions)
        title = METHODS[self.method].title
        notes = [*predictions.notes, f"Probabilities changed by {title}{f' fitted on {rows_text(self.n)}' if self.n else ''}."]
        raised = int(np.count_nonzero((matrix < CLIP).any(axis=1)))
        if raised and "value" not in self.parameters and "lower" not in self.parameters and self.parameters:
            notes.append(f"{rows_text(raised)} hold a probability below 2⁻⁵²; the map reads it as 2⁻⁵².")
        return with_matrix(predictions, self._mapped(matrix), name=name or f"{predictions.name}, {title}", notes=tuple(notes))

    def _check(self, predictions: Predictions) -> None:
        mine, theirs = ([name_key(c) for c in p.classes] for p in (self, predictions))
        if self.task == predictions.task and (mine == theirs or self.task == "top_label"):
            return
        kinds = {"binary": "two classes", "multiclass": "several classes", "top_label": "confidences alone"}
        if self.task != predictions.task:
            raise InputError(f"This calibrator was fitted on {kinds[self.task]}; {predictions.name} has {kinds[predictions.task]}.")
        raise InputError(
            f"This calibrator was fitted on the classes {listing(self.classes, 10)}, in this order; "
            f"{predictions.name} has {listing(predictions.classes, 10)}.",
            available=self.classes,
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data, with every digit of every number."""
        return {
            "format": _FORMAT,
            "schema": SCHEMA,
            "method": self.method,
            "task": self.task,
            "classes": list(self.classes),
            "parameters": {k: v.tolist() for k, v in self.parameters.items()},
            "n": self.n,
            "data_sha256": self.data_sha256,
            "version": self.version,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Calibrator:
        """From what `to_dict` gives.

        Raises
        ------
        InputError
            If it is no calibrator, of another schema or method, or a number is missing or not finite.
        """
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise InputError("This is not a calibrator that calibcore saved.")
        if data.get("schema") != SCHEMA:
            raise InputError(f"This calibrator has schema {data.get('schema')!r}; this version reads schema {SCHEMA}.")
        task, classes = data.get("task"), data.get("classes")
        if task not in _TASKS or not isinstance(classes, list) or not all(isinstance(c, str) for c in classes):
            raise InputError("This calibrator does not say what kind of probabilities and which classes it maps.")
        k = 2 if task == "top_label" else len(classes)
        if k < 2 or (task != "top_label" and (task == "binary") != (k == 2)) or len({name_key(c) for c in classes}) != len(classes):
            raise InputError(f"This calibrator's {len(classes)} classes do not go with its task, {task}.")
        method = data.get("method")
        if not isinstance(method, str):
            raise InputError("This calibrator does not name its method.")
        parameters = _checked_parameters(method, data.get("parameters"), k)
        return cls(method, task, tuple(classes), parameters, **_checked_origin(data))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the map as JSON.

        Parameters
        ----------
        path : path
            Of the file; one that exists is replaced.
        """
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        try:
            Path(path).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"The calibrator cannot be written to {path}: {error.strerror}.") from None

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Calibrator:
        """Read what `save` wrote; nothing in the file is executed.

        Raises
        ------
        InputError
            As `from_dict`, or if there is no such file or it is not JSON.
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"The calibrator {path} cannot be read: {error.strerror}.") from None
        except (ValueError, RecursionError):
            raise InputError(f"{path} is not JSON, so it is no calibrator that calibcore saved.") from None
        return cls.from_dict(data)


def with_matrix(predictions: Predictions, matrix: FloatArray, *, name: str, notes: tuple[str, ...]) -> Predictions:
    """The same rows with other probabilities, shape (n, K); of confidences alone (P(wrong), P(right))."""
    if predictions.task == "top_label":
        confidence = np.ascontiguousarray(matrix[:, 1])
        return predictions.but(name=name, confidence=confidence, n_tied=0, notes=notes)
    assert predictions.label is not None
    carried = {k: getattr(predictions, k) for k in ("weight", "groups", "ids", "cluster", "time", "row", "n_excluded", "source")}
    return Predictions.from_matrix(predictions.label, matrix, predictions.classes, name=name, notes=notes, **carried)


def prior_shift(old: Any, new: Any) -> FloatArray:
    """What to add to the log-probabilities when the base rates change and nothing else does.

    Parameters
    ----------
    old, new : float, or array-like of shape (K,)
        Base rate of the positive class, or of every class (each adding up to 1).

    Returns
    -------
    array of shape (2,) or (K,)
        ln(new/old), less its mean.

    Notes
    -----
    Assumes that within each class the features are distributed as before (label shift); then by Bayes' rule
    P'(class | x) ∝ P(class | x)·new/old.  A binary logit moves by logit(new) − logit(old).

    References
    ----------
    Saerens, Latinne & Decaestecker (2002), doi:10.1162/089976602753284446.

    Examples
    --------
    From 1 in 2 to 1 in 5, even odds become 1 to 4:

    >>> Calibrator.prior_shift(0.5, 0.2).apply([0.5]).round(12).tolist()
    [0.2]
    """
    rates = [np.atleast_1d(np.asarray(r, dtype=np.float64)) for r in (old, new)]
    rates = [np.append(1 - r, r) if r.shape == (1,) else r for r in rates]
    if rates[0].ndim != 1 or rates[0].shape != rates[1].shape:
        raise InputError("Old and new base rates need the same number of classes.")
    for rate in rates:
        if not (np.all(np.isfinite(rate)) and np.all(rate > 0) and abs(rate.sum() - 1) <= 1e-6):
            raise InputError("Base rates lie between 0 and 1, both excluded, and those of all classes add up to 1.")
    shift = np.log(rates[1] / rates[0])
    return np.asarray(shift - shift.mean())


def _checked_origin(data: dict[str, Any]) -> dict[str, Any]:
    n, sha, version, notes = (data.get(k) for k in ("n", "data_sha256", "version", "notes"))
    counted = isinstance(n, int) and not isinstance(n, bool) and n >= 0
    noted = isinstance(notes, list) and all(isinstance(note, str) for note in notes)
    if not (counted and noted and isinstance(version, str) and (sha is None or isinstance(sha, str))):
        raise InputError("This calibrator does not say properly what it was fitted on (n, data_sha256, version, notes).")
    assert isinstance(notes, list)
    return {"n": n, "data_sha256": sha, "version": version, "notes": tuple(notes)}


def _checked_parameters(name: str, given: Any, k: int) -> Parameters:
    shapes = method_named(name, k).shapes
    if not isinstance(given, dict) or set(given) != set(shapes):
        raise InputError(f"A calibrator by {METHODS[name].title} needs the parameters {listing(sorted(shapes)) if shapes else 'none'}.")
    parameters = {p: _numbers(p, given[p]) for p in shapes}
    for p, length in shapes.items():
        wanted = k if length == "K" else length
        if wanted != "any" and len(parameters[p]) != wanted:
            raise InputError(f"The calibrator's parameter {p!r} has {len(parameters[p])} numbers instead of {wanted}.")
        _check_range(p, parameters[p])
    _check_lengths(name, parameters)
    return parameters


def _numbers(name: str, given: Any) -> FloatArray:
    fault = InputError(f"The calibrator's parameter {name!r} must be a list of finite numbers.")
    if not isinstance(given, list) or not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in given):
        raise fault
    try:
        numbers = np.array(given, dtype=np.float64)
    except OverflowError:
        raise fault from None
    if not np.isfinite(numbers).all():
        raise fault
    return numbers


def _check_range(name: str, values: FloatArray) -> None:
    if name == "temperature" and values[0] <= 0:
        raise InputError("The calibrator's temperature must be above 0.")
    if name in ("a", "b") and values[0] < 0:
        raise InputError(f"The calibrator's parameter {name!r} must not be negative.")
    if name in _UNIT and not np.all((values >= 0) & (values <= 1)):
        raise InputError(f"The calibrator's parameter {name!r} must lie between 0 and 1.")
    if (name in _RISING and np.any(np.diff(values) <= 0)) or (name in _MONOTONE and np.any(np.diff(values) < 0)):
        raise InputError(f"The calibrator's parameter {name!r} must be in rising order.")


def _check_lengths(name: str, parameters: Parameters) -> None:
    pairs = {"isotonic": [("score", "value", 0)], "histogram": [("edges", "value", 1)]}
    pairs["venn_abers"] = [("lower_score", "lower", 0), ("upper_score", "upper", 0)]
    for steps, values, more in pairs.get(name, []):
        if len(parameters[values]) != len(parameters[steps]) + more or not len(parameters[values]):
            raise InputError(f"The calibrator's parameters {steps!r} and {values!r} do not go together.")
    if name == "isotonic" and np.any(np.diff(parameters["value"]) < 0):
        raise InputError("The calibrator's parameter 'value' must be in rising order.")
