"""What recalibration would do here: every map is judged on rows that it was not fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.advice.calibrator_file import Calibrator
from calibcore.advice.calibrators import METHODS, Sample, method_named
from calibcore.advice.cross_fitting import CrossFit, cross_fit, fold_of
from calibcore.advice.held_out import Parameter, differences, mean_difference, parameter_ranges, plain_parameters
from calibcore.advice.outcome_words import outcome, sentence
from calibcore.advice.patterns import MIN_ROWS
from calibcore.advice.refining import Refinement, Split, refinement
from calibcore.checks import needs, rows_text
from calibcore.errors import InputError
from calibcore.inference.chance import ChanceRange, chance_range
from calibcore.inference.intervals import Estimate
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.proportions import checked_level

__all__ = ["Parameter", "Refinement", "Remedies", "Remedy", "Scores", "Split", "confidence_only", "refinement", "remedies"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Status = Literal["helps", "does_not_help", "makes_it_worse", "not_tried"]

_N_BINS = 15
_MANY_CLASSES = 100
_TWO = ("temperature", "intercept", "platt", "beta", "isotonic", "venn_abers")
_MORE = ("temperature", "intercept", "vector")
SIMPLEST = ("identity", "intercept", "temperature", "platt", "beta", "vector", "histogram", "isotonic", "venn_abers")  # by fitted numbers


@dataclass(frozen=True, slots=True)
class Scores:
    """How predictions score: log loss (nats), Brier score, signed gap, and ECE beside what chance alone would show.

    ``clipped`` rows had a log loss that was raised from infinity; ``ece`` is of 15 equal-width bins.
    """

    log_loss: float
    brier: float
    gap: float
    clipped: int
    ece: float
    chance: ChanceRange

    @classmethod
    def of(cls, predictions: Predictions, view: str, seed: int) -> Scores:
        """Of a model in a view."""
        profile, top = predictions.profile(view), predictions.profile()
        partition = Partition.equal_width(_N_BINS)
        return cls(
            top.totals.log_loss / top.weight_sum,
            top.totals.brier / top.weight_sum,
            profile.accuracy - profile.mean_confidence,
            top.totals.clipped,
            profile.bin(partition).ece,
            chance_range(profile, partition, seed=seed),
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = {k: getattr(self, k) for k in ("log_loss", "brier", "gap", "clipped", "ece")}
        return {**plain, "chance": self.chance.to_dict()}


@dataclass(frozen=True, slots=True, eq=False)
class Remedy:
    """What one kind of map does to held-out rows.

    Attributes
    ----------
    method, title : str
    status : {"helps", "does_not_help", "makes_it_worse", "not_tried"}
    answer : str
        In words.
    n_fit : int
        Effective rows of the smallest training part.
    after : Scores or None
        Of the held-out predictions.
    log_loss, brier, gap : Estimate or None
        After − before with its interval.  Log loss has none where it was raised from infinity.
    parameters : dict of name to Parameter
        None for maps of many steps.
    calibrator : Calibrator or None
        Fitted on all rows; its own scores on these rows would flatter it.
    notes : tuple of str
    undecided : bool
        Of "does_not_help": the interval holds 0 and also a gain of 1 % or more, so the rows do not tell.
    """

    method: str
    title: str
    status: Status
    answer: str
    n_fit: int
    after: Scores | None = None
    log_loss: Estimate | None = None
    brier: Estimate | None = None
    gap: Estimate | None = None
    parameters: dict[str, Parameter] | None = None
    calibrator: Calibrator | None = None
    notes: tuple[str, ...] = ()
    undecided: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without the calibrator."""
        plain = {k: getattr(self, k) for k in ("method", "title", "status", "answer", "n_fit")}
        results = {k: _plain(getattr(self, k)) for k in ("after", "log_loss", "brier", "gap")}
        return {**plain, **results, "parameters": plain_parameters(self.parameters), "notes": list(self.notes)}


@dataclass(frozen=True, slots=True, eq=False)
class Remedies:
    """What each kind of map would do to a model, judged on held-out rows.

    Attributes
    ----------
    model, view : str
    n, folds, seed : int
    level : float
    clusters : int or None
        Clusters that were kept whole.
    before : Scores
    tried : tuple of Remedy
        In the order asked for; those that could not be fitted are there too.
    notes : tuple of str
    chosen : str or None
        Method of ``best``.
    """

    model: str
    view: str
    n: int
    folds: int
    seed: int
    level: float
    clusters: int | None
    before: Scores
    tried: tuple[Remedy, ...]
    notes: tuple[str, ...] = ()
    chosen: str | None = None

    def __repr__(self) -> str:
        return f"<Remedies of {self.model!r}: {self.answer}>"

    @property
    def best(self) -> Remedy | None:
        """The simplest of those that help about as much as the one that helps most; None if none helps.

        Notes
        -----
        The one-standard-error rule: of the maps that help, the one with the fewest fitted numbers whose held-out log loss
        exceeds the lowest by no more than one standard error of the paired difference between the two (by cluster, where
        rows are in clusters).  A map that gives what happened a probability of 0 in more rows than another counts as higher.
        The order is intercept, temperature, Platt, beta, vector, histogram, isotonic, Venn–Abers.

        References
        ----------
        Breiman, Friedman, Olshen & Stone (1984), doi:10.1201/9781315139470.
        """
        return None if self.chosen is None else self[self.chosen]

    @property
    def answer(self) -> str:
        """In one sentence; of the best, and that no other is clearly better where several helped."""
        if self.best is not None:
            several = sum(r.status == "helps" for r in self.tried) > 1
            return f"{self.best.answer[:-1]}; about as good as any that was tried." if several else self.best.answer
        if all(r.status == "not_tried" for r in self.tried):
            return "No recalibration could be tried on these rows."
        if self.n < MIN_ROWS:
            return f"Too few rows to test a remedy (n = {self.n:,})."
        if any(r.undecided for r in self.tried):
            return "These rows do not show that any recalibration helps."
        return "No recalibration that was tried helps here."

    def __getitem__(self, method: str) -> Remedy:
        for remedy in self.tried:
            if remedy.method == method:
                return remedy
        names = tuple(r.method for r in self.tried)
        raise InputError(f"{method!r} was not tried; there are {', '.join(names)}.", value=method, available=names)

    def held_out(self, predictions: Predictions, method: str) -> Predictions:
        """The rows that were judged, each mapped by the fit that had not seen it: ``self[method].after`` is how they score."""
        calibrator = self[method].calibrator
        if calibrator is None or predictions.n != self.n:
            raise InputError(self[method].answer if calibrator is None else f"Give the model that was judged, of {rows_text(self.n)}.")
        return cross_fit(predictions, method, folds=self.folds, seed=self.seed, start=dict(calibrator.parameters)).predictions

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = {k: getattr(self, k) for k in ("model", "view", "n", "folds", "seed", "level", "clusters", "answer")}
        best = None if self.best is None else self.best.method
        tried = [r.to_dict() for r in self.tried]
        return {**plain, "best": best, "before": self.before.to_dict(), "tried": tried, "notes": list(self.notes)}


def remedies(
    predictions: Predictions,
    *,
    methods: Sequence[str] | None = None,
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    view: str = "top_label",
) -> Remedies:
    """Try recalibrations, each judged on rows that it was not fitted on.

    Parameters
    ----------
    predictions : Predictions
    methods : sequence of str, optional
        Names in `calibcore.advice.calibrators.METHODS`.  By default for two classes, and for confidences alone:
        temperature, intercept, platt, beta, isotonic, venn_abers; for more classes: temperature, intercept, vector (up
        to 100 classes).
    folds, seed : int
        As in `calibcore.advice.cross_fitting.fold_of`: stratified by label, and clusters stay whole.
    level : float
        Of the intervals.
    view : str
        Of the gap and the ECE.  Log loss and Brier score are the model's own in every view.

    Returns
    -------
    Remedies

    Raises
    ------
    InputError
        For an unknown method or view, or fewer rows (clusters) than folds.

    Notes
    -----
    Each row is scored by a map fitted on the other folds.  Differences are paired, row by row: mean ± t·se, with
    cluster sums where there are clusters.  "Helps" means that the interval of the difference in log loss lies below 0,
    or that of the Brier score where a log loss was raised from infinity.

    What the intervals leave out: the folds share training rows, so the variation of the fit itself is slightly
    underestimated; and the best of several maps is chosen on the scores that are shown for it, which flatters it a
    little.  The best is the simplest within one standard error of the lowest log loss (`Remedies.best`).  Every row is
    used; nothing is sampled.

    References
    ----------
    Stone (1974), doi:10.1111/j.2517-6161.1974.tb00994.x, and the papers named in `Calibrator`.

    Examples
    --------
    200 rows at 0.1 of which 40 happened, 200 at 0.9 of which 160 did:

    >>> y = [1] * 40 + [0] * 160 + [1] * 160 + [0] * 40
    >>> found = remedies(Predictions.from_arrays(y, [0.1] * 200 + [0.9] * 200), methods=["temperature"])
    >>> found.best.title
    'temperature scaling'
    >>> found.best.calibrator.parameters["temperature"].round(6).tolist()  # ln 9/ln 4
    [1.584963]
    """
    checked_level(level)
    needs(predictions, Predictions, "remedies")
    k = Sample.of(predictions).matrix.shape[1]
    names = tuple(methods) if methods is not None else (_TWO if k == 2 else _MORE)
    for name in names:
        method_named(name, k)
    fold = fold_of(predictions, folds=folds, seed=seed)
    before = Scores.of(predictions, view, seed)
    judge = _Judge(predictions, fold, level, view, seed, _least_fitted(predictions, fold), before)
    too_many = methods is None and k > _MANY_CLASSES
    tried = tuple(_skipped(name, k) if too_many and name != "temperature" else judge.remedy(name) for name in names)
    code = predictions.cluster_code
    clusters = None if code is None else int(code.max()) + 1
    notes = ("For maps of one probability, such as isotonic regression, judge the confidence alone: remedies(confidence_only(model)).",)
    return Remedies(
        predictions.name,
        view,
        predictions.n,
        int(folds),
        seed,
        level,
        clusters,
        before,
        tried,
        notes if k > 2 and methods is None else (),
        judge.simplest(tried),
    )


def _least_fitted(predictions: Predictions, fold: IndexArray) -> int:
    """Effective rows of the smallest training part."""
    weight = np.ones(predictions.n) if predictions.weight is None else predictions.weight
    parts = (weight[fold != f] for f in range(int(fold.max()) + 1))
    return round(min(float(np.sum(w)) ** 2 / float(np.sum(w**2)) for w in parts))


def _skipped(name: str, k: int) -> Remedy:
    title = METHODS[name].title
    return Remedy(name, title, "not_tried", f"{sentence(title)} was not tried on {k:,} classes, which takes long; ask for it by name.", 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """Compares held-out predictions with the model's own."""

    predictions: Predictions
    fold: IndexArray
    level: float
    view: str
    seed: int
    n_fit: int
    before: Scores
    losses: dict[str, FloatArray] = field(default_factory=dict)

    def simplest(self, tried: Sequence[Remedy]) -> str | None:
        """By the one-standard-error rule of `Remedies.best`; none on too few rows to judge even the model itself."""
        if self.predictions.n < MIN_ROWS:
            return None
        helping = {r.method: r.after for r in tried if r.status == "helps" and r.after is not None}
        if not helping:
            return None
        lowest = min(helping, key=lambda m: (helping[m].clipped, helping[m].log_loss))
        for method in sorted(helping, key=SIMPLEST.index):
            mean, error, _ = mean_difference(self.losses[method] - self.losses[lowest], self.predictions)
            if helping[method].clipped <= helping[lowest].clipped and mean <= error:
                return method
        return lowest

    def remedy(self, name: str) -> Remedy:
        """Fit, map the held-out rows and compare."""
        kind = METHODS[name]
        n_fit = self.n_fit
        if n_fit < kind.least:
            answer = f"{sentence(kind.title)} needs about {rows_text(kind.least)} to fit; there are {n_fit:,}."
            return Remedy(name, kind.title, "not_tried", answer, n_fit)
        try:
            calibrator = Calibrator.fit(self.predictions, name)
            fit = cross_fit(self.predictions, name, fold=self.fold, start=dict(calibrator.parameters))
        except InputError as error:
            return Remedy(name, kind.title, "not_tried", f"{sentence(kind.title)} cannot be fitted here. {error}", n_fit)
        return self._judged(fit, calibrator)

    def _judged(self, fit: CrossFit, calibrator: Calibrator) -> Remedy:
        self.losses[fit.method.name] = fit.predictions.row_scores()[1]
        after = Scores.of(fit.predictions, self.view, self.seed)
        log_loss, brier, gap = differences(self.predictions, fit.predictions, view=self.view, level=self.level)
        before = self.before
        ended, answer = outcome(fit.method.title, log_loss, brier, (before.log_loss, before.brier), (before.clipped, after.clipped))
        return Remedy(
            fit.method.name,
            fit.method.title,
            "does_not_help" if ended == "open" else ended,
            answer,
            fit.n_fit,
            after,
            log_loss,
            brier,
            gap,
            parameter_ranges(fit, calibrator),
            calibrator,
            calibrator.notes,
            undecided=ended == "open",
        )


def confidence_only(predictions: Predictions) -> Predictions:
    """The same model seen through its confidence in the predicted class alone, as `Predictions.from_top_label` holds it.

    Maps of one probability can then be tried on a model of three or more classes: they repair the confidence, and the
    predicted class stays as it is.
    """
    return predictions.but(task="top_label", probabilities=None, n_tied=0)


def _plain(result: Any) -> Any:
    return None if result is None else result.to_dict()
