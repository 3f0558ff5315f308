"""The numbers of one page: what the dashboard shows, the report prints and the command line writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from calibcore.advice.patterns import Pattern, find_pattern
from calibcore.advice.verdict import Verdict, advised, find_verdict
from calibcore.binned import BinnedStatistics
from calibcore.catalogue import Subject, plain, requested, shown
from calibcore.checks import listing, needs, needs_all
from calibcore.errors import InputError
from calibcore.inference.chance import ChanceRange, ChanceSweep, chance_range, chance_sweep
from calibcore.inference.comparison import Differences, Pairing, differences
from calibcore.inference.intervals import Estimate, mean_gap
from calibcore.inference.labels import MultiLabel
from calibcore.inference.significance import Detection, detect
from calibcore.measures.calibration_error import ClasswiseError, Sweep, classwise_error, make_partition, sweep
from calibcore.measures.multiclass import classwise_floors
from calibcore.measures.reduction import Precision, precision
from calibcore.measures.scores import brier_scale
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.remarks import about_missing_rows, about_profile, about_reduction, about_source
from calibcore.settings import Settings
from calibcore.shares import together
from calibcore.version import __version__

__all__ = ["Analysis", "Comparison", "Settings", "analyze", "compare", "document"]

SCHEMA = 1
_KINDS = {  # what the intervals of an analysis are, by their place in the JSON
    "gap": "t interval of a mean",
    "bins.interval": "Wilson score interval of the bin's accuracy",
    "bins.clopper_pearson": "Clopper-Pearson interval of the bin's accuracy",
    "bins.jeffreys": "Jeffreys interval of the bin's accuracy",
    "bins.chance": "consistency range: where the accuracy falls if the model is calibrated",
    "chance": "median and 95th percentile of the ECE of a calibrated model",
    "squared_error_debiased": "normal interval of the residual U-statistic, cut at 0",
}
T = TypeVar("T")
_CHANCE_BINS = range(2, 51)  # as many as are drawn


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """Every number of one model under one `Settings`; no rows.

    Attributes follow the JSON of ``measure --format json``; ``bins`` is a `BinnedStatistics`, ``gap`` a value with the ends
    of its interval (`calibcore.inference.intervals.Estimate`).
    ``floors`` holds what each class's one-vs-rest ECE shows by chance, ``measures`` the result of each measure that is
    always shown, by its name in the JSON, and ``requested`` those that the settings ask for.  ``precision`` says of a reduced
    profile which numbers are exact, bounded, approximate or unavailable; None where every number is that of the rows.
    """

    settings: Settings
    name: str
    task: str
    classes: tuple[str, ...]
    positive_class: str | None
    n: int
    n_excluded: int
    weight_sum: float
    n_tied: int
    accuracy: float
    mean_confidence: float
    gap: Estimate
    bins: BinnedStatistics
    chance: ChanceRange
    brier: float
    brier_scale: str
    log_loss: float
    clipped: int
    sweep: Sweep
    chance_sweep: ChanceSweep
    classwise: ClasswiseError | None
    floors: Mapping[str, float]
    views: dict[str, BinnedStatistics]
    detection: Detection
    pattern: Pattern
    verdict: Verdict
    notes: tuple[str, ...]
    source: Mapping[str, Any] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    requested: Mapping[str, Any] = field(default_factory=dict)
    precision: Mapping[str, Precision] | None = None

    def __repr__(self) -> str:
        chance = f"chance {self.chance.median:.4f} to {self.chance.p95:.4f}"
        return f"<Analysis of {self.name!r}: n = {self.n:,}, ECE {self.ece:.4f} ({chance}), {self.pattern.name}>"

    @property
    def view(self) -> str:
        """The view that was analysed."""
        return self.settings.view

    @property
    def ece(self) -> float:
        """Expected calibration error in the shown bins."""
        return self.bins.ece

    def to_dict(self) -> dict[str, Any]:
        """One entry of ``models`` in the JSON of a run, plus ``settings``; undefined numbers are None."""
        b = self.bins
        return {
            "settings": self.settings.to_dict(),
            "name": self.name,
            "source": dict(self.source),
            "task": self.task,
            "classes": list(self.classes),
            "positive_class": self.positive_class,
            "view": self.view,
            "n": self.n,
            "n_excluded": self.n_excluded,
            "weight_sum": self.weight_sum,
            "n_tied": self.n_tied,
            "accuracy": self.accuracy,
            "mean_confidence": self.mean_confidence,
            "gap": self.gap.to_dict(),
            "ece": b.ece,
            "mce": {"value": b.mce, "bin": b.mce_bin, "count": b.count[b.mce_bin].item()},
            "rmsce": b.rmsce,
            "chance": self.chance.to_dict(),
            "brier": {"value": self.brier, "scale": self.brier_scale},
            "log_loss": {"value": self.log_loss, "clipped": self.clipped},
            "noise_floor": {"closed_form": self.chance.floor, "drawn": self.chance.mean},
            **{name: plain(result, self.settings.level) for name, result in self.measures.items()},
            "sweep": {
                **{k: list(getattr(self.sweep, k)) for k in ("n_bins", "equal_width", "equal_mass")},
                "chance": {k: list(getattr(self.chance_sweep, k)) for k in ("n_bins", "median", "p95")},
            },
            "classwise": None if self.classwise is None else _classwise_dict(self.classwise, self.floors),
            "bins": b.rows(self.settings.level),
            "interval_kinds": dict(_KINDS),
            "bins_used": b.used,
            "views": {k: {"ece": v.ece, "mce": v.mce} for k, v in self.views.items()},
            "detection": self.detection.to_dict(),
            "pattern": self.pattern.to_dict(),
            "verdict": self.verdict.text,
            "verdict_level": self.verdict.level,
            "on_request": {name: plain(result, self.settings.level) for name, result in self.requested.items()},
            "precision": plain(self.precision, self.settings.level),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Several models under the same settings, and how each differs from a baseline."""

    settings: Settings
    analyses: tuple[Analysis, ...]
    baseline: str
    differences: tuple[Differences, ...]
    ece_differences: Mapping[str, float]

    def __repr__(self) -> str:
        models = listing([f"{a.name!r} (ECE {a.ece:.4f})" for a in self.analyses], 4)
        return f"<Comparison of {models}; baseline {self.baseline!r}, {'paired' if self.paired else 'not paired'}>"

    @property
    def paired(self) -> bool:
        """Whether every model was compared with the baseline on the same rows."""
        return all(d.pairing.paired for d in self.differences)

    def ece_difference(self, model: str) -> float:
        """ECE of a model minus that of the baseline, on the rows that both have where they are paired.

        A description, never decisive.
        """
        return self.ece_differences[model]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a run: schema, version, settings, models and comparison."""
        rows = [_difference_dict(d, self.ece_difference(d.model)) for d in self.differences]
        comparison = {
            "baseline": self.baseline,
            "paired": self.paired,
            "n_common": min((d.pairing.n_common for d in self.differences), default=0),
            "n_only": _only(self.baseline, self.differences),
            "differences": rows,
            "notes": [n for d in self.differences for n in d.notes],
        }
        return {**document(self.analyses), "comparison": comparison}


def document(analyses: Sequence[Analysis], labels: MultiLabel | None = None) -> dict[str, Any]:
    """The JSON of a run over models that are not compared; ``labels`` judges those that are labels of the same rows."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "settings": analyses[0].settings.to_dict(),
        "models": [{k: v for k, v in a.to_dict().items() if k != "settings"} for a in analyses],
        "comparison": None,
        "multilabel": None if labels is None else labels.to_dict(),
    }


def _only(baseline: str, rows: Sequence[Differences]) -> dict[str, int]:
    return {baseline: max((d.pairing.only_first for d in rows), default=0), **{d.model: d.pairing.only_second for d in rows}}


def _difference_dict(d: Differences, ece: float) -> dict[str, Any]:
    return {
        "model": d.model,
        "paired": d.pairing.paired,
        "paired_by": d.pairing.how,
        "n_common": d.pairing.n_common,
        "log_loss": None if d.log_loss is None else d.log_loss.to_dict(),
        "brier": None if d.brier is None else d.brier.to_dict(),
        "gap": d.gap.to_dict(),
        "ece": {"value": ece},
    }


def _classwise_dict(c: ClasswiseError, floors: Mapping[str, float]) -> dict[str, Any]:
    return {"mean": c.mean, "per_class": {k: {"ece": v, "n": c.rows[k], "floor": floors[k]} for k, v in c.per_class.items()}}


def analyze(source: Predictions | Profile, settings: Settings | None = None) -> Analysis:
    """Every number of one model.

    Parameters
    ----------
    source : Predictions or Profile
    settings : Settings, optional

    Returns
    -------
    Analysis

    Raises
    ------
    InputError
        If the model does not have the view that the settings name, or this is no model.

    Examples
    --------
    >>> a = analyze(Predictions.from_arrays([1, 0, 1, 0], [0.81, 0.12, 0.47, 0.36]), Settings(n_bins=5, view="positive"))
    >>> round(a.ece, 12), a.n
    (0.3, 4)
    """
    settings = settings or Settings()
    needs(source, (Predictions, Profile), "analyze")
    needs(settings, Settings, "analyze")
    settings = replace(settings, view=_shown_view(source, settings.view))
    profile = source if isinstance(source, Profile) else source.profile(settings.view)
    judged = source if isinstance(source, Profile) or "top_label" in source.views else profile
    top = judged if isinstance(judged, Profile) else judged.profile("top_label")
    positive = source.profile("positive") if isinstance(source, Predictions) and "positive" in source.views else None
    partition = settings.partition(profile)
    bins, chance = profile.bin(partition), chance_range(profile, partition, seed=settings.seed)

    def judge() -> dict[str, Any]:
        detection = judged.remember("detection", lambda: detect(judged))
        pattern = judged.remember("pattern", lambda: find_pattern(top, detection, positive=positive))
        verdict = find_verdict(top, detection, pattern, chance, positive=positive, level=settings.level)
        return {"detection": detection, "pattern": advised(pattern, verdict), "verdict": verdict}

    measures = shown(subject := Subject(source, profile, settings))
    numbers: dict[str, Callable[[], Any]] = {
        "floors": lambda: _of_classes(source, settings, classwise_floors) or {},
        "classwise": lambda: _of_classes(source, settings, classwise_error),
        "sweep": lambda: _sweep(profile, settings),
        "chance_sweep": lambda: _chance_sweep(profile, settings),
    }
    found = together(len(profile), {"judged": judge, **measures, **numbers})
    known = precision(profile, partition, closed=settings.closed, ties=settings.ties)
    return Analysis(
        settings=settings,
        **_identity(source),
        n=profile.n,
        weight_sum=profile.weight_sum,
        accuracy=profile.accuracy,
        mean_confidence=profile.mean_confidence,
        gap=mean_gap(profile, settings.level),
        bins=bins,
        chance=chance,
        brier=profile.totals.brier / profile.weight_sum,
        brier_scale=brier_scale(profile.task, settings.view),
        log_loss=profile.totals.log_loss / profile.weight_sum,
        clipped=profile.totals.clipped,
        views=_views(source, settings),
        precision=known,
        notes=(
            *about_source(source),
            *about_profile(profile, top, bins, settings),
            *about_reduction(profile, known),
            *about_missing_rows(source),
        ),
        measures={name: found[name] for name in measures},
        requested=requested(subject),
        **found["judged"],
        **{name: found[name] for name in numbers},
    )


def _shown_view(source: Predictions | Profile, view: str) -> str:
    """The view that is analysed: of what holds a single one, this one."""
    if isinstance(source, Profile):
        return source.view
    alone = not source.has_rows and len(source.views) == 1 and view == "top_label"  # which is what nobody chose
    return source.views[0] if alone else view


def _identity(source: Predictions | Profile) -> dict[str, Any]:
    if isinstance(source, Profile):
        return {
            "name": "profile",
            "task": source.task,
            "classes": (),
            "positive_class": None,
            "n_excluded": 0,
            "n_tied": source.totals.tied,
        }
    names = ("name", "task", "classes", "positive_class", "n_excluded", "n_tied", "source")
    return {k: getattr(source, k) for k in names}


def _sweep(profile: Profile, settings: Settings) -> Sweep:
    key = f"sweep {settings.closed} {settings.ties}"
    return profile.remember(key, lambda: sweep(profile, closed=settings.closed, ties=settings.ties))


def _chance_sweep(profile: Profile, settings: Settings) -> ChanceSweep:
    """What chance gives for each number of bins of the shown strategy (of equal width, where the edges are the user's own)."""
    binning = {**settings.binning(), "edges": None}
    del binning["n_bins"]

    def make() -> ChanceSweep:
        return chance_sweep(profile, [make_partition(profile, n_bins=m, **binning) for m in _CHANCE_BINS], seed=settings.seed)

    return profile.remember(f"chance sweep {binning} {settings.seed}", make)


def _of_classes(source: Predictions | Profile, settings: Settings, measure: Callable[..., T]) -> T | None:
    if isinstance(source, Profile) or not source.every_class:
        return None
    binning = settings.binning()
    return source.remember(f"{measure.__name__} {binning}", lambda: measure(source, **binning))


def _views(source: Predictions | Profile, settings: Settings) -> dict[str, BinnedStatistics]:
    if isinstance(source, Profile):
        return {source.view: source.bin(settings.partition(source))}
    profiles = {v: source.profile(v) for v in ("top_label", "positive") if v in source.views}
    return {name: p.bin(settings.partition(p)) for name, p in profiles.items()}


def compare(models: Sequence[Predictions], settings: Settings | None = None, *, baseline: str | None = None) -> Comparison:
    """Several models under the same settings, side by side.

    Parameters
    ----------
    models : sequence of Predictions
        Names must differ.
    settings : Settings, optional
    baseline : str, optional
        Name of the model that the others are compared with; the first by default.

    Raises
    ------
    InputError
        If there are no models, the baseline is not among them, ids repeat, or labels conflict.

    Examples
    --------
    >>> one = Predictions.from_arrays([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.4], ids=list("abcd"), name="one")
    >>> two = Predictions.from_arrays([1, 0, 1, 0], [0.8, 0.3, 0.5, 0.5], ids=list("abcd"), name="two")
    >>> found = compare([one, two])
    >>> found.paired, round(found.differences[0].brier.value, 12)
    (True, 0.065)
    """
    settings = settings or Settings()
    needs_all(models, Predictions, "compare")
    needs(settings, Settings, "compare")
    names = [m.name for m in models]
    if not models:
        raise InputError("There is nothing to compare: give at least one model.")
    if len(set(names)) < len(names):
        raise InputError(f"Two models are called {max(names, key=names.count)!r}; give each its own name.")
    chosen = names[0] if baseline is None else baseline
    if chosen not in names:
        raise InputError(f"There is no model {chosen!r} to compare with; there are {', '.join(names)}.", available=tuple(names))
    base = models[names.index(chosen)]
    found = tuple(differences(base, m, view=settings.view, level=settings.level) for m in models if m is not base)
    analyses = tuple(analyze(m, settings) for m in models)
    by_name = {a.name: (m, a.ece) for m, a in zip(models, analyses, strict=True)}
    ece = {d.model: _ece_difference(by_name[chosen], by_name[d.model], d.pairing, settings) for d in found}
    return Comparison(settings, analyses, chosen, found, ece)


def _ece_difference(baseline: tuple[Predictions, float], model: tuple[Predictions, float], pairing: Pairing, settings: Settings) -> float:
    if not pairing.paired or pairing.only_first + pairing.only_second == 0:
        return model[1] - baseline[1]
    profiles = [m.take(rows).profile(settings.view) for (m, _), rows in ((model, pairing.second), (baseline, pairing.first))]
    mine, other = (p.bin(settings.partition(p)).ece for p in profiles)
    return mine - other
