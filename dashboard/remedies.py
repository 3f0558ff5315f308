"""Remedies of the model that is looked at, and its ECE by other tools' rules; computed once and kept with the session's results."""

from __future__ import annotations

import calibcore as cc
from calibcore.advice.recalibration import confidence_only
from calibcore.measures.reconcile import Reconciled, reconcile_predictions
from dashboard.session import Model, state

__all__ = ["found_already", "held_out", "reconciled", "remedies", "seen_alone"]

_LATEST = "held out"  # the one result that holds rows: only the last that was looked at is kept


def seen_alone(model: Model) -> Model:
    """The model seen through its confidence in the predicted class alone."""
    key = ("alone", model.key, model.name)
    return state().remember(key, lambda: Model(key, confidence_only(model.predictions)))


def remedies(model: Model, settings: cc.Settings) -> cc.Remedies:
    """`calibcore.remedies`, once per model, view, level and seed; the bins do not matter."""

    def make() -> cc.Remedies:
        return cc.remedies(model.predictions, seed=settings.seed, level=settings.level, view=settings.view)

    return state().remember(_key(model, settings), make)


def found_already(model: Model, settings: cc.Settings) -> bool:
    """Whether they need not be computed any more."""
    return _key(model, settings) in state().results


def _key(model: Model, settings: cc.Settings) -> tuple[object, ...]:
    return ("remedies", model.key, model.name, settings.view, settings.level, settings.seed)


def held_out(model: Model, found: cc.Remedies, method: str) -> Model:
    """The held-out predictions of one recalibration, as a model; of these only the latest are kept."""
    key = ("held out", model.key, model.name, found.seed, method)
    kept = state().results.get(_LATEST)
    if not isinstance(kept, Model) or kept.key != key:
        kept = Model(key, found.held_out(model.predictions, method))
        state().results[_LATEST] = kept
    return kept


def reconciled(model: Model, settings: cc.Settings) -> list[Reconciled]:
    """`calibcore.reconcile` of the model in its view, once per number of bins."""
    n_bins, view = settings.n_bins, settings.view
    key = ("reconciled", model.key, n_bins, view)
    return state().remember(key, lambda: reconcile_predictions(model.predictions, n_bins=n_bins, view=view))
