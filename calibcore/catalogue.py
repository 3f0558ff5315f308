"""The measures that every analysis holds, and those that are computed on request: one line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calibcore.advice.recalibration import refinement, remedies
from calibcore.errors import InputError
from calibcore.inference.bands import confidence_band, consistency_band, honest_band
from calibcore.inference.classical import classical, hosmer_lemeshow
from calibcore.inference.groups import by_group
from calibcore.inference.periods import by_period
from calibcore.inference.t_cal import t_cal
from calibcore.measures.cumulative import cumulative
from calibcore.measures.decisions import risk_coverage, threshold_panel
from calibcore.measures.decomposition import corp, murphy, skill
from calibcore.measures.kernel import kde_error, kernel_error
from calibcore.measures.monotonic_sweep import monotonic_sweep
from calibcore.measures.multiclass import multiclass
from calibcore.measures.reconcile import reconcile_predictions
from calibcore.measures.smooth import smooth_error
from calibcore.measures.squared_error import squared_error
from calibcore.partition import Partition, SharedTies
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.settings import REQUESTS, Settings

__all__ = ["Subject", "requested", "shown"]

Measure = Callable[["Subject"], Any]


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
        """The rows themselves."""
        if isinstance(self.source, Profile):
            raise InputError("A profile holds no rows: groups, periods, remedies and the like need the prediction file.")
        return self.source
