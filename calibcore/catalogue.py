"""The measures that every analysis holds, and those that are computed on request: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from calibcore.advice.recalibration import remedies
from calibcore.advice.refining import refinement
from calibcore.errors import InputError
from calibcore.held import NO_ROWS
from calibcore.inference.bands import confidence_band, consistency_band, honest_band
from calibcore.inference.classical import Classical, classical, hosmer_lemeshow
from calibcore.inference.groups import by_group
from calibcore.inference.periods import by_period
from calibcore.inference.t_cal import t_cal
from calibcore.measures.cumulative import cumulative
from calibcore.measures.decisions import ThresholdPanel, threshold_panel
from calibcore.measures.decomposition import corp
from calibcore.measures.kernel import kde_error, kernel_error
from calibcore.measures.monotonic_sweep import monotonic_sweep
from calibcore.measures.multiclass import multiclass, top_label_error
from calibcore.measures.murphy import murphy
from calibcore.measures.reconcile import reconcile_predictions
from calibcore.measures.risk_coverage import risk_coverage
from calibcore.measures.skill import SkillScores, model_skill, skill
from calibcore.measures.smooth import smooth_error
from calibcore.measures.squared_error import SquaredError, squared_error
from calibcore.partition import Partition, SharedTies
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.settings import Settings

__all__ = ["Subject", "plain", "requested", "shown"]

_WITH_INTERVALS = (Classical, SquaredError, ThresholdPanel)
_BANDWIDTH = 0.1  # of the kernel density on request


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What a measure may look at: a model, the profile of the view that is judged, and the settings."""

    source: Predictions | Profile
    profile: Profile
    settings: Settings

    @property
    def partition(self) -> Partition | SharedTies:
        """The shown bins."""
        return self.settings.partition(self.profile)

    @property
    def rows(self) -> Predictions:
        """The model, whose rows are there."""
        if not self.model.has_rows:
            raise InputError(NO_ROWS)
        return self.model

    @property
    def model(self) -> Predictions:
        """The model, which may be known from its profiles alone."""
        if isinstance(self.source, Profile):
            raise InputError(NO_ROWS)
        return self.source

    def once(self, key: str, make: Callable[[Profile], Any]) -> Any:
        """What does not depend on the bins is computed once for a profile."""
        return self.profile.remember(key, lambda: make(self.profile))


Measure = Callable[[Subject], Any]


def shown(subject: Subject) -> dict[str, Callable[[], Any]]:
    """How to get the result of every measure that is always shown; None where it does not apply."""
    return {name: partial(measure, subject) for name, measure in _SHOWN.items()}


def requested(subject: Subject) -> dict[str, Any]:
    """The results that the settings ask for."""
    return {name: _ON_REQUEST[name](subject) for name in subject.settings.on_request}


def plain(result: Any, level: float) -> Any:
    """A result as plain data; what has intervals gives them at this level."""
    if isinstance(result, _WITH_INTERVALS):
        return result.to_dict(level)
    if hasattr(result, "to_dict"):
        return result.to_dict()
    if isinstance(result, Mapping):
        return {k: plain(v, level) for k, v in result.items()}
    return [plain(v, level) for v in result] if isinstance(result, list) else result


def _by_predicted_class(s: Subject) -> Any:
    if isinstance(s.source, Profile) or not s.source.has_rows or s.source.task != "multiclass" or s.settings.view != "top_label":
        return None
    return top_label_error(s.source, **s.settings.binning())


def _skill(s: Subject) -> SkillScores:
    """Of the model; of one class against the rest where that is shown, and of what a profile alone can say."""
    if isinstance(s.source, Profile) or s.profile.view.startswith("class:"):
        return skill(s.profile)
    return s.source.remember("skill", lambda: model_skill(s.model))


def _threshold(s: Subject) -> ThresholdPanel | None:
    t = s.settings
    if t.threshold is None:
        return None
    return threshold_panel(s.profile, t.threshold, closed=t.closed, cost_error=t.cost_error, cost_review=t.cost_review)


def _bands(s: Subject) -> dict[str, Any]:
    level, seed = s.settings.level, s.settings.seed
    return {
        "consistency": consistency_band(s.profile, level, seed=seed),
        "confidence": confidence_band(s.profile, level, seed=seed),
        "honest": None if s.profile.weighted or s.profile.clusters is not None else honest_band(s.profile, level),
        "mcb_p_value": s.once("corp", corp).mcb_p_value(seed=seed),
    }


def _groups(s: Subject) -> dict[str, Any]:
    model = s.model
    if not model.groups:
        raise InputError(f"{model.name} has no groups; name the columns that split its rows (--group, Mapping.groups).")
    t, bins = s.settings, s.partition
    partition = bins if isinstance(bins, Partition) else None
    return {g: by_group(model, g, view=t.view, partition=partition, level=t.level, seed=t.seed) for g in model.groups}


_SHOWN: dict[str, Measure] = {
    "squared_error_debiased": lambda s: squared_error(s.profile, s.partition),
    "ece_sweep": lambda s: s.once("ece_sweep", monotonic_sweep),
    "smooth_ece": lambda s: s.once("smooth_ece", smooth_error),
    "corp": lambda s: s.once("corp", corp),
    "murphy": lambda s: murphy(s.profile, s.partition),
    "skill": _skill,
    "cumulative": lambda s: s.once(f"cumulative {s.settings.seed}", lambda p: cumulative(p, seed=s.settings.seed)),
    "classical": lambda s: s.once("classical", classical),
    "top_label_by_class": _by_predicted_class,
    "threshold": _threshold,
    "risk_coverage": lambda s: s.once("risk_coverage", risk_coverage),
}

_ON_REQUEST: dict[str, Measure] = {
    "adaptive": lambda s: multiclass(s.rows, **s.settings.binning()),
    "bands": _bands,
    "groups": _groups,
    "hosmer_lemeshow": lambda s: hosmer_lemeshow(s.profile),
    "kde": lambda s: {"value": kde_error(s.profile, bandwidth=_BANDWIDTH), "bandwidth": _BANDWIDTH, "power": 1},
    "kernel": lambda s: kernel_error(s.profile),
    "periods": lambda s: by_period(s.rows, view=s.settings.view, level=s.settings.level),
    "reconcile": lambda s: reconcile_predictions(s.rows, n_bins=s.settings.n_bins, view=s.settings.view),
    "refinement": lambda s: refinement(s.rows, seed=s.settings.seed, level=s.settings.level),
    "remedies": lambda s: remedies(s.rows, seed=s.settings.seed, level=s.settings.level, view=s.settings.view),
    "t_cal": lambda s: t_cal(s.profile, level=s.settings.level, seed=s.settings.seed),
}
