"""Calibration statistics with honest uncertainty: is a model that says 90 % right nine times out of ten."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibcore.version import __version__

if TYPE_CHECKING:
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
    from calibcore.io import Layout, Mapping, inspect, read, reduce, reduce_models, write_profiles
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

_HOMES = {  # what each module gives, loaded when first used: a script that takes one number loads what that number needs
    "advice.calibrator_file": ("Calibrator", "prior_shift"),
    "advice.recalibration": ("Remedies", "remedies"),
    "advice.refining": ("refinement",),
    "analysis": ("Analysis", "Comparison", "Settings", "analyze", "compare"),
    "binned": ("BinnedStatistics",),
    "errors": ("AmbiguousLayout", "InputError", "Question"),
    "inference.bands": ("confidence_band", "consistency_band", "honest_band"),
    "inference.chance": ("chance_range",),
    "inference.classical": ("calibration_in_the_large", "calibration_ratio", "cox", "hosmer_lemeshow", "spiegelhalter"),
    "inference.groups": ("by_group", "each_group"),
    "inference.labels": ("multilabel", "multilabel_from_arrays"),
    "inference.multiplicity": ("benjamini_hochberg", "holm"),
    "inference.periods": ("by_period",),
    "inference.significance": ("detect",),
    "inference.t_cal": ("t_cal",),
    "io": ("Layout", "Mapping", "inspect", "read", "reduce", "reduce_models", "write_profiles"),
    "measures.calibration_error": (
        "ClasswiseError",
        "bin_statistics",
        "classwise_calibration_error",
        "expected_calibration_error",
        "maximum_calibration_error",
        "root_mean_square_calibration_error",
    ),
    "measures.cumulative": ("cumulative_difference",),
    "measures.decisions": ("threshold_panel",),
    "measures.decomposition": ("corp_decomposition",),
    "measures.isotonic": ("isotonic",),
    "measures.kernel": ("kde_calibration_error", "kernel_calibration_error"),
    "measures.monotonic_sweep": ("ece_sweep",),
    "measures.multiclass": (
        "adaptive_calibration_error",
        "static_calibration_error",
        "thresholded_adaptive_calibration_error",
        "top_label_calibration_error",
    ),
    "measures.murphy": ("murphy_decomposition",),
    "measures.noise_floor": ("noise_floor",),
    "measures.reconcile": ("reconcile",),
    "measures.risk_coverage": ("risk_coverage",),
    "measures.scores": ("brier_score", "log_loss"),
    "measures.skill": ("skill_scores",),
    "measures.smooth": ("smooth_calibration_error",),
    "measures.squared_error": ("debiased_squared_error",),
    "partition": ("Partition",),
    "predictions": ("Predictions",),
    "profile": ("Profile",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        found = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        return found
    module = f"{__name__}.{name}"
    try:
        found = None if name.startswith("_") else import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        found = None
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for home in {*_HOMES} - {"io"}:  # so that calibcore.measures.scores is there too
        import_module(f"{__name__}.{home}")
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
