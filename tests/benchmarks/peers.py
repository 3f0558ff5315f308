"""Other packages' functions for the same quantities, each as a few lines with the convention that it follows.

An adapter takes labels, probabilities and the number of bins, and calls the package as its documentation says to, on the
arrays as they are; what is timed is this call.  Where a package returns no error but a curve, the error is worked out
from the curve afterwards, untimed.  All agree with the definition on rows of which none lies on an edge, to the
tolerance that each one states: on edges they differ by convention.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

Run = Callable[[Any, Any, int], Any]
LEFT = "[a, b) with edges of linspace"
RIGHT = "(a, b] with edges of linspace"
QUANTILES = "edges are interpolated quantiles, so a few rows may be in the neighbouring bin"


@dataclass(frozen=True, slots=True)
class Adapter:
    """One function of one package."""

    name: str  # of the package
    kind: str  # the quantity
    convention: str
    run: Run
    tolerance: float = 1e-9  # relative
    answer: Callable[..., float] = float  # of what `run` returns, and its arguments where it is a curve
    takes_rows: bool = False  # whether `answer` needs them
    since: tuple[int, ...] = ()
    before: tuple[int, ...] = (999,)

    def installed(self) -> bool:
        found = version_of(self.name)
        return found is not None and self.since <= numbers(found) < self.before

    def value(self, result: Any, y: Any, p: Any, bins: int) -> float:
        return self.answer(result, y, p, bins) if self.takes_rows else self.answer(result)


ADAPTERS: list[Adapter] = []
PACKAGES = ("scikit-learn", "torchmetrics", "netcal", "relplot", "probcal", "calibre", "uncertainty-calibration", "pycalib")


def version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def installed(kind: str) -> list[Adapter]:
    """What can be called here for a quantity."""
    return [a for a in ADAPTERS if a.kind == kind and a.installed()]


def adapter(name: str, kind: str, convention: str, **more: Any) -> Callable[[Run], Run]:
    """Enter a function into the list."""

    def enter(run: Run) -> Run:
        ADAPTERS.append(Adapter(name, kind, convention, run, **more))
        return run

    return enter


def columns(y, matrix):
    """Each class as rows of its own: whether the label is that class, and its probabilities."""
    return ((y == k, matrix[:, k]) for k in range(matrix.shape[1]))


# --- ECE of P(y = 1) in equal-width bins ----------------------------------------------------------------------------


def ece_of_curve(result, y, p, bins):
    """Of shares and means of the filled bins, in order: the curve has no counts, so they are made by its own rule."""
    share, mean = result
    count = np.bincount(np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], p), minlength=bins)
    return float(np.sum(count[count > 0] * np.abs(share - mean)) / len(p))


@adapter("scikit-learn", "ece", f"{RIGHT}; only the curve is timed, which has no counts", answer=ece_of_curve, takes_rows=True)
def sklearn_curve(y, p, bins):
    from sklearn.calibration import calibration_curve

    return calibration_curve(y, p, n_bins=bins)


@adapter("torchmetrics", "ece", f"{LEFT}, 1.0 in a bin of its own; without its validation of the input")
def torchmetrics_binary(y, p, bins):
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    return binary_calibration_error(torch.from_numpy(p), torch.from_numpy(y), n_bins=bins, norm="l1", validate_args=False)


@adapter("netcal", "ece", LEFT)
@adapter("netcal", "top_label", f"{LEFT}; the first of equal largest", tolerance=1e-6)
def netcal_ece(y, p, bins):
    from netcal.metrics import ECE

    return ECE(bins).measure(p, y)


@adapter("relplot", "ece", "floor(p / width), 1.0 in a bin of its own; a number, no bins")
def relplot_ece(y, p, bins):
    from relplot.metrics import binnedECE

    return binnedECE(p, y, bins)


@adapter("probcal", "ece", f"{LEFT}; probabilities are clipped to 1e-12")
def probcal_ece(y, p, bins):
    from probcal.metrics import ece

    return ece(y, p, n_bins=bins, strategy="width")


@adapter("calibre", "ece", LEFT)
def calibre_ece(y, p, bins):
    from calibre.metrics import expected_calibration_error

    return expected_calibration_error(y, p, n_bins=bins)


# --- ECE of the largest of K probabilities ---------------------------------------------------------------------------


# It adds in float32, and counts too, which costs some per cent where most confidences fall into one bin; these do not.
@adapter("torchmetrics", "top_label", f"{LEFT}, sums and counts in float32; without its validation of the input", tolerance=1e-3)
def torchmetrics_multiclass(y, matrix, bins):
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    settings = {"num_classes": matrix.shape[1], "n_bins": bins, "norm": "l1", "validate_args": False}
    return multiclass_calibration_error(torch.from_numpy(matrix), torch.from_numpy(y), **settings)


@adapter("relplot", "top_label", "two calls: the largest, then floor(p / width)", tolerance=1e-5)
def relplot_top_label(y, matrix, bins):
    from relplot.metrics import binnedECE, multiclass_logits_to_confidences

    return binnedECE(*multiclass_logits_to_confidences(matrix, y, probs=True), bins)


@adapter("pycalib", "top_label", RIGHT, tolerance=1e-5)
def pycalib_top_label(y, matrix, bins):
    from pycalib.metrics import conf_ECE

    return conf_ECE(y, matrix, bins=bins)


@adapter("uncertainty-calibration", "top_label", "(a, b] with edges k/M", tolerance=1e-5)
def uncertainty_top_label(y, matrix, bins):
    from calibration import get_ece

    return get_ece(matrix, y, num_bins=bins)


# --- mean of the classes' one-vs-rest ECE ---------------------------------------------------------------------------


@adapter("pycalib", "classwise", f"{LEFT}, the last edge at 1 + 1e-8")
def pycalib_classwise(y, matrix, bins):
    from pycalib.metrics import classwise_ECE

    return classwise_ECE(y, matrix, bins=bins)


@adapter("uncertainty-calibration", "classwise", "(a, b] with edges k/M")
def uncertainty_classwise(y, matrix, bins):
    from calibration import get_ece

    return get_ece(matrix, y, num_bins=bins, mode="marginal")


# The others have no such function: their binary one, called for each class.


def class_by_class(name, binary):
    @adapter(name, "class by class", "as its binary error")
    def mean_of_classes(y, matrix, bins):
        return np.mean([binary(is_k, p, bins) for is_k, p in columns(y, matrix)])


class_by_class("torchmetrics", lambda y, p, bins: torchmetrics_binary(y, np.ascontiguousarray(p), bins))
class_by_class("netcal", netcal_ece)
class_by_class("relplot", relplot_ece)
class_by_class("probcal", probcal_ece)
class_by_class("calibre", calibre_ece)


# --- ECE of P(y = 1) in equal-mass bins -----------------------------------------------------------------------------


def ece_of_equal_counts(result, y, p, bins):
    """Of a curve whose bins hold n/M rows, give or take one."""
    share, mean = result
    return float(np.mean(np.abs(share - mean)))


@adapter(
    "scikit-learn",
    "equal_mass",
    f"{QUANTILES}; only the curve is timed, which has no counts",
    tolerance=1e-3,
    answer=ece_of_equal_counts,
    takes_rows=True,
)
def sklearn_quantiles(y, p, bins):
    from sklearn.calibration import calibration_curve

    return calibration_curve(y, p, n_bins=bins, strategy="quantile")


@adapter("netcal", "equal_mass", f"{QUANTILES}; fails on ties", tolerance=1e-3)
def netcal_equal_mass(y, p, bins):
    from netcal.metrics import ECE

    return ECE(bins, equal_intervals=False).measure(p, y)


@adapter("probcal", "equal_mass", QUANTILES, tolerance=1e-3)
def probcal_equal_mass(y, p, bins):
    from probcal.metrics import ece

    return ece(y, p, n_bins=bins, strategy="mass")


@adapter("calibre", "equal_mass", "equal mass, ties kept together", tolerance=1e-3, since=(0, 14))
def calibre_equal_mass(y, p, bins):
    from calibre.metrics import plugin_calibration_error

    return plugin_calibration_error(y, p, n_bins=bins, norm=1)


def ece_of_details(found):
    count, gap = np.array(found["bin_counts"]), np.subtract(found["bin_pred_means"], found["bin_true_means"])
    return float(np.sum(count * np.abs(gap)) / count.sum())


@adapter("calibre", "equal_mass", f"{QUANTILES}; the error from its bins", tolerance=1e-3, answer=ece_of_details, before=(0, 5))
def calibre_quantiles(y, p, bins):
    from calibre.metrics import binned_calibration_error

    return binned_calibration_error(y, p, n_bins=bins, strategy="quantile", return_details=True)


# --- miscalibration after Dimitriadis, Gneiting & Jordan: Brier score − that of the isotonic fit --------------------


def lost_to(fitted, y, p, _bins):
    return float(np.mean((y - p) ** 2) - np.mean((y - fitted) ** 2))


@adapter("scikit-learn", "corp", "the isotonic fit alone is timed", answer=lost_to, takes_rows=True)
def sklearn_isotonic(y, p, _bins):
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression().fit_transform(p, y)


@adapter("probcal", "corp", "with the terms of Brier score and log loss, without bands", answer=lambda found: found.brier_mcb)
def probcal_corp(y, p, _bins):
    from probcal import corp_reliability

    return corp_reliability(y, p, bands=None)


@adapter("calibre", "corp", "the terms of the Brier score", answer=lambda found: found["miscalibration"], since=(0, 14))
def calibre_corp(y, p, _bins):
    from calibre import score_decomposition

    return score_decomposition(y, p)
