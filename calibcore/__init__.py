"""Calibration statistics with honest uncertainty: is a model that says 90 % right nine times out of ten."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibcore.advice.calibrator_file import Calibrator, prior_shift
from calibcore.advice.recalibration import Remedies, remedies
from calibcore.advice.refining import refinement
from calibcore.analysis import Analysis, Comparison, Settings, analyze, compare
from calibcore.binned import BinnedStatistics
from calibcore.errors import AmbiguousLayout, InputError, Question
from calibcore.inference.bands import confidence_band, consistency_band, honest_band
from calibcore.inference.chance import chance_range
from calibcore.inference.classical import calibration_in_the_large, calibration_ratio, cox, hosmer_lemeshow, spiegelhalter
from calibcore.inference.groups import by_group, each_group
from calibcore.inference.labels import multilabel, multilabel_from_arrays
from calibcore.inference.multiplicity import benjamini_hochberg, holm
from calibcore.inference.periods import by_period
from calibcore.inference.significance import detect
from calibcore.inference.t_cal import t_cal
from calibcore.measures.calibration_error import (
    ClasswiseError,
    bin_statistics,
    classwise_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    root_mean_square_calibration_error,
)
from calibcore.measures.cumulative import cumulative_difference
from calibcore.measures.decisions import threshold_panel
from calibcore.measures.decomposition import corp_decomposition
from calibcore.measures.isotonic import isotonic
from calibcore.measures.kernel import kde_calibration_error, kernel_calibration_error
from calibcore.measures.monotonic_sweep import ece_sweep
from calibcore.measures.multiclass import (
    adaptive_calibration_error,
    static_calibration_error,
    thresholded_adaptive_calibration_error,
    top_label_calibration_error,
)
from calibcore.measures.murphy import murphy_decomposition
from calibcore.measures.noise_floor import noise_floor
from calibcore.measures.reconcile import reconcile
from calibcore.measures.risk_coverage import risk_coverage
from calibcore.measures.scores import brier_score, log_loss
from calibcore.measures.skill import skill_scores
from calibcore.measures.smooth import smooth_calibration_error
from calibcore.measures.squared_error import debiased_squared_error
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.version import __version__

if TYPE_CHECKING:
    from calibcore.io import Layout, Mapping, inspect, read, reduce, reduce_models, write_profiles

_READERS = (
    "Layout",
    "Mapping",
    "inspect",
    "read",
    "reduce",
    "reduce_models",
    "write_profiles",
)  # loaded when first used: the statistics need no files


def __getattr__(name: str) -> Any:
    if name not in (*_READERS, "io"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    readers = import_module("calibcore.io")
    return readers if name == "io" else getattr(readers, name)


__all__ = [
    "AmbiguousLayout",
    "Analysis",
    "BinnedStatistics",
    "Calibrator",
    "ClasswiseError",
    "Comparison",
    "InputError",
    "Layout",
    "Mapping",
    "Partition",
    "Predictions",
    "Profile",
    "Question",
    "Remedies",
    "Settings",
    "__version__",
    "adaptive_calibration_error",
    "analyze",
    "benjamini_hochberg",
    "bin_statistics",
    "brier_score",
    "by_group",
    "by_period",
    "calibration_in_the_large",
    "calibration_ratio",
    "chance_range",
    "classwise_calibration_error",
    "compare",
    "confidence_band",
    "consistency_band",
    "corp_decomposition",
    "cox",
    "cumulative_difference",
    "debiased_squared_error",
    "detect",
    "each_group",
    "ece_sweep",
    "expected_calibration_error",
    "holm",
    "honest_band",
    "hosmer_lemeshow",
    "inspect",
    "isotonic",
    "kde_calibration_error",
    "kernel_calibration_error",
    "log_loss",
    "maximum_calibration_error",
    "multilabel",
    "multilabel_from_arrays",
    "murphy_decomposition",
    "noise_floor",
    "prior_shift",
    "read",
    "reconcile",
    "reduce",
    "reduce_models",
    "refinement",
    "remedies",
    "risk_coverage",
    "root_mean_square_calibration_error",
    "skill_scores",
    "smooth_calibration_error",
    "spiegelhalter",
    "static_calibration_error",
    "t_cal",
    "threshold_panel",
    "thresholded_adaptive_calibration_error",
    "top_label_calibration_error",
    "write_profiles",
]
