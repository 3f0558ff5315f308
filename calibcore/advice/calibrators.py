"""The maps that recalibrate probabilities: how each is fitted to labelled rows and applied to new ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibcore.advice.logistic import fit_multinomial, fit_two_class, minimise, minimise_one, multinomial_loss, scale_loss, two_class_loss
from calibcore.advice.venn_abers import MOST_CELLS, bounds, fit_venn_abers, merged
from calibcore.checks import listing, rows_text
from calibcore.errors import InputError
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.top_label import both_sides
from calibcore.totals import CLIP

__all__ = ["METHODS", "Method", "Parameters", "Sample", "fit_notes", "method_named", "probability_matrix"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Parameters = dict[str, FloatArray]

HOTTEST = 100.0  # the largest temperature; it makes the probabilities all but equal
N_BINS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows that a map is fitted on.

    Attributes
    ----------
    matrix : array of shape (n, K)
        Probabilities.  Confidences alone are two columns: P(wrong), P(right).
    label : array of shape (n,)
        Column of what happened.
    weight : array of shape (n,)
        Mean 1.
    names : tuple of str
        Of the columns.
    """

    matrix: FloatArray
    label: IndexArray
    weight: FloatArray
    names: tuple[str, ...]

    @classmethod
    def of(cls, predictions: Predictions) -> Sample:
        """The rows of a model."""
        matrix = probability_matrix(predictions)
        weight = _mean_one(np.ones(predictions.n) if predictions.weight is None else predictions.weight)
        if predictions.task == "top_label" or predictions.label is None:
            return cls(matrix, predictions.correct.astype(np.intp), weight, ("wrong predictions", "right predictions"))
        return cls(matrix, predictions.label, weight, tuple(f"class {c}" for c in predictions.classes))

    def take(self, rows: IndexArray) -> Sample:
        """Some of the rows."""
        return Sample(self.matrix[rows], self.label[rows], _mean_one(self.weight[rows]), self.names)

    @property
    def n_effective(self) -> float:
        """(Σw)²/Σw²."""
        return float(np.sum(self.weight) ** 2 / np.sum(self.weight**2))

    @property
    def share(self) -> FloatArray:
        """Weights that add up to 1."""
        return np.asarray(self.weight / self.weight.sum())

    @property
    def event(self) -> FloatArray:
        """1 for the rows of the second class."""
        return self.label.astype(np.float64)

    def cells(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Distinct P(second class), rising; Σw and Σw·y of each."""
        value, cell = np.unique(self.matrix[:, 1] + 0.0, return_inverse=True)
        weight, positive = (np.bincount(cell, weights=w).astype(np.float64) for w in (self.weight, self.weight * self.label))
        return value, weight, positive


def _mean_one(weight: FloatArray) -> FloatArray:
    return np.asarray(weight * (len(weight) / weight.sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A kind of map.

    Attributes
    ----------
    name, title : str
    fit : callable
        From a `Sample` to the parameters; a second argument, parameters near the best, only saves time.
    apply : callable
        From parameters and probabilities (n, K) to probabilities (n, K).
    shapes : dict of parameter name to its length
        A number, ``"K"``, or ``"any"``: as long as the data asked for.
    any_k : bool
        Whether it maps three or more classes; otherwise one probability.
    two : bool
        Whether it maps one probability.
    least : int
        Rows that it should be fitted on, about.
    """

    name: str
    title: str
    fit: Callable[[Sample, Parameters | None], Parameters]
    apply: Callable[[Parameters, FloatArray], FloatArray]
    shapes: dict[str, int | str]
    any_k: bool = False
    two: bool = True
    least: int = 0

    def fits_k(self, k: int) -> bool:
        """Whether it maps ``k`` classes."""
        return self.two if k == 2 else self.any_k


def probability_matrix(predictions: Predictions) -> FloatArray:
    """Probabilities, shape (n, K), float64; of confidences alone (1 − confidence, confidence)."""
    if predictions.probabilities is not None:
        return np.asarray(predictions.probabilities, dtype=np.float64)
    confidence = predictions.confidence.astype(np.float64)
    return both_sides(confidence)


# ---------------------------------------------------------------------------------------------------- scales


def logs(matrix: FloatArray) -> FloatArray:
    """Natural logarithms, of at least 2⁻⁵², as in the log loss."""
    return np.log(np.maximum(matrix, CLIP))


def _logit(matrix: FloatArray) -> FloatArray:
    z = logs(matrix)
    return np.asarray(z[:, 1] - z[:, 0])


def _from_logit(logit: FloatArray) -> FloatArray:
    return np.column_stack([special.expit(-logit), special.expit(logit)])


def _two(p: FloatArray) -> FloatArray:
    return np.column_stack([1 - p, p])


# ---------------------------------------------------------------------------------------------------- what a fit needs


def _needs_every_class(sample: Sample) -> None:
    counts = np.bincount(sample.label, minlength=sample.matrix.shape[1])
    if not counts.all():
        missing = [sample.names[i] for i in np.flatnonzero(counts == 0)]
        raise InputError(f"The fit needs rows of every outcome; there are none of {listing(missing)}.")


def _needs_overlap(sample: Sample, score: FloatArray, *, rising: bool = False) -> None:
    """InputError where a steeper and steeper curve in ``score`` fits better and better, or where there is no score."""
    _needs_every_class(sample)
    if score.min() == score.max():
        raise InputError("All scores are equal, so only the intercept can be fitted.")
    no, yes = score[sample.label == 0], score[sample.label == 1]
    if no.max() <= yes.min() or (yes.max() <= no.min() and not rising):
        raise InputError("The scores separate the outcomes completely, so no finite slope fits best.")


# ---------------------------------------------------------------------------------------------------- maps


def _fit_temperature(sample: Sample, start: Parameters | None = None) -> Parameters:
    z = logs(sample.matrix)
    excess = z - z[np.arange(len(z)), sample.label][:, None]
    if excess.max() <= 0:
        raise InputError("What happened always had the largest probability, so no temperature above 0 fits best.")
    loss = scale_loss(excess, sample.share) if z.shape[1] > 2 else two_class_loss(_other(excess, sample.label), 0.0, sample.share)
    begin = 1.0 if start is None else 1 / float(start["temperature"][0])
    return {"temperature": 1 / minimise_one(loss, begin, 1 / HOTTEST, 1e6)}


def _other(values: FloatArray, label: IndexArray) -> FloatArray:
    """Of two columns the one that did not happen, shape (n, 1)."""
    return np.take_along_axis(values, 1 - label[:, None], axis=1)


def _apply_temperature(parameters: Parameters, matrix: FloatArray) -> FloatArray:
    changed = special.softmax(logs(matrix) / parameters["temperature"], axis=1)
    before, after = np.argmax(matrix, axis=1), np.argmax(changed, axis=1)
    rows = np.flatnonzero(before != after)  # two that rounding made equal: the predicted class must stay
    changed[rows, before[rows]] = np.nextafter(changed[rows, after[rows]], 1.0)
    return np.asarray(changed)


def _fit_vector(sample: Sample, start: Parameters | None = None) -> Parameters:
    _needs_every_class(sample)
    k = sample.matrix.shape[1]
    begin = None if start is None else np.append(start["scale"], start["bias"])
    found = fit_multinomial(logs(sample.matrix), sample.label, sample.share, begin)
    if found is None:
        raise InputError("The scores separate the outcomes, at least of one class, so no finite numbers fit best.")
    return {"scale": found[:k], "bias": found[k:]}


def _apply_vector(parameters: Parameters, matrix: FloatArray) -> FloatArray:
    return np.asarray(special.softmax(logs(matrix) * parameters["scale"] + parameters["bias"], axis=1))


def _fit_intercept(sample: Sample, start: Parameters | None = None) -> Parameters:
    _needs_every_class(sample)
    k = sample.matrix.shape[1]
    if k > 2:
        begin = np.zeros(k) if start is None else start["bias"]
        return {"bias": minimise(multinomial_loss(logs(sample.matrix), sample.label, sample.share, scaled=False), begin).x}
    loss = two_class_loss(np.ones((len(sample.label), 1)), sample.event, sample.share, _logit(sample.matrix))
    return {"bias": np.array([-0.5, 0.5]) * minimise_one(loss, 0.0 if start is None else 2 * float(start["bias"][1]), -200.0, 200.0)}


def _apply_intercept(parameters: Parameters, matrix: FloatArray) -> FloatArray:
    return np.asarray(special.softmax(logs(matrix) + parameters["bias"], axis=1))


def _fit_platt(sample: Sample, start: Parameters | None = None) -> Parameters:
    z = _logit(sample.matrix)
    _needs_overlap(sample, z)
    begin = None if start is None else np.append(start["intercept"], start["slope"])
    found = fit_two_class(z[:, None], sample.event, sample.share, begin)
    return {"intercept": found[:1], "slope": found[1:]}


def _apply_platt(parameters: Parameters, matrix: FloatArray) -> FloatArray:
    return _from_logit(parameters["intercept"] + parameters["slope"] * _logit(matrix))


def _beta_columns(matrix: FloatArray) -> FloatArray:
    return logs(matrix) * [-1, 1]


def _fit_beta(sample: Sample, start: Parameters | None = None) -> Parameters:
    columns = _beta_columns(sample.matrix)
    _needs_overlap(sample, columns.sum(axis=1), rising=True)
    begin = None if start is None else np.concatenate([start[p] for p in ("intercept", "b", "a")])
    found = _fit_or_none(columns, sample, begin)
    if found is None or found[1:].min() < 0:
        found = _best_edge(columns, sample)
    return {"intercept": found[:1], "a": found[2:], "b": found[1:2]}


def _fit_or_none(columns: FloatArray, sample: Sample, begin: FloatArray | None = None) -> FloatArray | None:
    """Best (c, x); None if none is found, as may be where x is free to be negative."""
    try:
        return fit_two_class(columns, sample.event, sample.share, begin)
    except InputError:
        return None


def _best_edge(columns: FloatArray, sample: Sample) -> FloatArray:
    """The best (c, b, a) with a = 0, b = 0 or both, none of them negative."""
    rate = float(sample.share @ sample.event)
    loss = two_class_loss(np.column_stack([np.ones(len(columns)), columns]), sample.event, sample.share)
    found = [np.array([np.log(rate / (1 - rate)), 0.0, 0.0])]
    for j in (0, 1):
        edge = _fit_or_none(columns[:, [j]], sample)
        if edge is not None and edge[1] > 0:
            found.append(np.insert(edge, 2 - j, 0.0))
    best = min(found, key=lambda x: loss(x)[0])
    if np.any(loss(best)[1][best == 0] < -1e-7 * np.abs(columns).max()):  # it falls on: the edge is not where it is least
        raise InputError("The scores all but separate the outcomes, so no best numbers were found.")
    return best


def _apply_beta(parameters: Parameters, matrix: FloatArray) -> FloatArray:
    slopes = np.append(parameters["b"], parameters["a"])
    return _from_logit(parameters["intercept"] + _beta_columns(matrix) @ slopes)


def _fit_isotonic(sample: Sample, _: Parameters | None = None) -> Parameters:
    from scipy.optimize import isotonic_regression  # slow to import

    value, weight, positive = sample.cells()
    fitted = isotonic_regression(positive / weight, weights=weight)
    first, last = fitted.blocks[:-1], fitted.blocks[1:] - 1
    knots = np.unique(np.concatenate([first, last]))
    return {"score": value[knots], "value": np.clip(fitted.x[knots], 0.0, 1.0)}


def _apply_isotonic(parameters: Parameters, matrix: FloatArray) -> FloatArray:
    return _two(np.interp(matrix[:, 1], parameters["score"], parameters["value"]))


def _fit_histogram(sample: Sample, _: Parameters | None = None) -> Parameters:
    profile = Profile.from_rows(sample.matrix[:, 1], sample.label == 1, weight=sample.weight, view="positive")
    bins = profile.bin(Partition.equal_mass(profile, N_BINS))
    return {"edges": np.array(bins.edges[1:-1], dtype=np.float64), "value": np.array(bins.accuracy)}


def _apply_histogram(parameters: Parameters, matrix: FloatArray) -> FloatArray:
    return _two(parameters["value"][np.searchsorted(parameters["edges"], matrix[:, 1], side="left")])


def _fit_venn_abers(sample: Sample, _: Parameters | None = None) -> Parameters:
    unit = float(np.sum(sample.weight**2) / sample.weight.sum())
    return fit_venn_abers(*sample.cells(), unit)


def _apply_venn_abers(parameters: Parameters, matrix: FloatArray) -> FloatArray:
    return _two(merged(*bounds(parameters, matrix[:, 1])))


METHODS = {
    m.name: m
    for m in (
        Method("identity", "no change", lambda *_: {}, lambda _, matrix: matrix, {}, any_k=True),
        Method("temperature", "temperature scaling", _fit_temperature, _apply_temperature, {"temperature": 1}, any_k=True),
        Method("intercept", "intercept correction", _fit_intercept, _apply_intercept, {"bias": "K"}, any_k=True),
        Method("vector", "vector scaling", _fit_vector, _apply_vector, {"scale": "K", "bias": "K"}, any_k=True, two=False),
        Method("platt", "Platt scaling", _fit_platt, _apply_platt, {"intercept": 1, "slope": 1}),
        Method("beta", "beta calibration", _fit_beta, _apply_beta, {"intercept": 1, "a": 1, "b": 1}),
        Method("isotonic", "isotonic regression", _fit_isotonic, _apply_isotonic, {"score": "any", "value": "any"}, least=1000),
        Method("histogram", "histogram binning", _fit_histogram, _apply_histogram, {"edges": "any", "value": "any"}, least=20 * N_BINS),
        Method(
            "venn_abers",
            "Venn–Abers prediction",
            _fit_venn_abers,
            _apply_venn_abers,
            {"lower_score": "any", "lower": "any", "upper_score": "any", "upper": "any"},
        ),
    )
}
"""Every kind of map by its name.

identity
    p as it is.
temperature
    softmax(z/T), z = ln p: Guo et al. (2017).  One number; the predicted class stays.
intercept
    softmax(z + b); for two classes the logit moves by b₂ − b₁.  The repair after a change of the base rate:
    b = ln(new rate/old rate), Saerens et al. (2002).
vector
    softmax(w·z + b) class by class: Guo et al. (2017).  Three or more classes; for two, `beta` is this map.
platt
    expit(a + b·logit p): Platt (1999), without his smoothed targets, so it is Cox's recalibration.
beta
    expit(c + a·ln p − b·ln(1 − p)), a, b ≥ 0: Kull et al. (2017).
isotonic
    The rising step function of least squared error (PAV): Zadrozny & Elkan (2002).  Between two steps it is
    interpolated linearly; beyond the ends it is constant.
histogram
    The share of events in each of 10 equal-mass bins: Zadrozny & Elkan (2001).
venn_abers
    p1/(1 − p0 + p1) of the two isotonic fits in which the new row counts once as 0, once as 1: Vovk & Petej (2014).

The last five map one probability, so they are not offered for three or more classes: mapped one by one and divided by
their sum, the classes would no longer be what was fitted, and the predicted class could change.
"""


def method_named(name: str, k: int) -> Method:
    """The method of this name, for ``k`` classes.

    Raises
    ------
    InputError
        For an unknown name, or one that does not map ``k`` classes.
    """
    possible = tuple(n for n, m in METHODS.items() if m.fits_k(k))
    if name not in METHODS:
        raise InputError(f"There is no method {name!r}; there are {listing(possible, 20)}.", value=name, available=possible)
    if name not in possible:
        why = "is for three or more classes; for two, use beta" if k == 2 else "maps one probability and not several classes"
        raise InputError(
            f"{METHODS[name].title.capitalize()} {why}. For {k} classes there are {listing(possible, 20)}.", value=name, available=possible
        )
    return METHODS[name]


def fit_notes(name: str, parameters: Parameters, sample: Sample) -> tuple[str, ...]:
    """What was done to fit a map, or is doubtful about it, one sentence each."""
    notes = []
    raised = int(np.count_nonzero((sample.matrix < CLIP).any(axis=1)))
    if raised and name in ("temperature", "intercept", "vector", "platt", "beta"):
        notes.append(f"{rows_text(raised)} {'holds' if raised == 1 else 'hold'} a probability below 2⁻⁵²; the map reads it as 2⁻⁵².")
    if name == "temperature" and parameters["temperature"][0] > HOTTEST * (1 - 1e-9):
        notes.append(f"The temperature is at the end of its range, {HOTTEST:g}: the probabilities say next to nothing about the outcomes.")
    if name == "platt" and parameters["slope"][0] <= 0:
        notes.append("The slope is not positive: the higher the score, the rarer the event. Check which class is the positive one.")
    if name == "venn_abers" and len(np.unique(sample.matrix[:, 1])) > MOST_CELLS:
        notes.append(f"Neighbouring scores share a cell, so that there are at most {MOST_CELLS:,} cells; every row counts.")
    return tuple(notes)
