"""Calibration statistics with honest uncertainty: is a model that says 90 % right nine times out of ten."""

from calibcore.analysis import Analysis, Comparison, Settings, analyze, compare
from calibcore.binned import BinnedStatistics
from calibcore.errors import AmbiguousLayout, InputError, Question
from calibcore.io import Layout, Mapping, inspect, read
from calibcore.measures.calibration_error import (
    ClasswiseError,
    bin_statistics,
    classwise_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    root_mean_square_calibration_error,
)
from calibcore.measures.decomposition import corp_decomposition
from calibcore.measures.scores import brier_score, log_loss
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.version import __version__

__all__ = [
    "AmbiguousLayout",
    "Analysis",
    "BinnedStatistics",
    "ClasswiseError",
    "Comparison",
    "InputError",
    "Layout",
    "Mapping",
    "Partition",
    "Predictions",
    "Profile",
    "Question",
    "Settings",
    "__version__",
    "analyze",
    "bin_statistics",
    "brier_score",
    "classwise_calibration_error",
    "compare",
    "corp_decomposition",
    "expected_calibration_error",
    "inspect",
    "log_loss",
    "maximum_calibration_error",
    "read",
    "root_mean_square_calibration_error",
]
