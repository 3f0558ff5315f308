"""Smooth calibration error: residuals blurred by a reflected Gaussian instead of being put into bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import InputError
from calibcore.measures.arrays import view_profile
from calibcore.profile import Profile
from calibcore.summation import total

__all__ = ["SmoothError", "smooth_calibration_error", "smooth_error", "smoothed_error"]

FloatArray = NDArray[np.float64]

RESOLUTION = 2.0**-15  # the smallest bandwidth that is looked at
_FINE = 512  # grid steps to one bandwidth
_LEAST, _MOST = 2**13, 2**20  # grid steps
_FINEST = 2**18  # steps of a grid that is filled for the coarser ones too, and the number of cells from which on it is
_CHUNK = 2**17  # cells that the cache holds
_EQUAL = 1e-12
_NEGLIGIBLE = 8.6  # exp(−8.6²/2) is below 2⁻⁵³


@dataclass(frozen=True, slots=True)
class SmoothError:
    """Outcome of `calibcore.measures.smooth.smooth_error`.

    Attributes
    ----------
    value : float
        Between 0 and 1.
    bandwidth : float
        Standard deviation of the Gaussian, on the scale of the scores.  Equal to the value, but never below 2⁻¹⁵.
    """

    value: float
    bandwidth: float

    def to_dict(self) -> dict[str, float]:
        """As plain data."""
        return {"value": self.value, "bandwidth": self.bandwidth}


def smooth_error(profile: Profile) -> SmoothError:
    """Smooth calibration error at the bandwidth that it determines itself.

    Parameters
    ----------
    profile : Profile

    Returns
    -------
    SmoothError

    Notes
    -----
    smECE_s = ∫₀¹ |Σ w(y − p)·K_s(t, p)/Σw| dt with K_s a Gaussian of standard deviation s, reflected at 0 and 1; the
    value is the one bandwidth with smECE_s = s.  It changes continuously with every score and is tied from both sides
    to the distance from calibration.  Like the ECE it is never negative and so is above 0 by chance for a calibrated
    model; its size cannot be compared with an ECE.  No interval is given.

    The blur is a multiplication of cosine coefficients.  Residuals are spread linearly on a grid of at least 512 steps
    to one bandwidth, which is accurate to about 10⁻⁶ of the value.  Below a bandwidth of 2⁻¹⁵ smECE at 2⁻¹⁵ is given,
    which is too small by less than 2⁻¹⁵ = 0.00003.

    References
    ----------
    Błasiok & Nakkiran (2023), arXiv:2309.12236.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> s = smooth_error(Predictions.from_arrays([1, 0], [0.75, 0.25]).profile("positive"))
    >>> round(s.value, 4) == round(s.bandwidth, 4)
    True
    """
    blur = _Blur(profile)
    high = low = max(blur.largest, RESOLUTION)
    while (value := blur.error(low)) < low * (1 - _EQUAL):
        if low <= RESOLUTION:
            return SmoothError(value, RESOLUTION)
        high, low = low, max(low / 2, value, RESOLUTION)
    bandwidth = low if low == high or value <= low else _fixed_point(blur, low, high)
    return SmoothError(blur.error(bandwidth), bandwidth)


def smoothed_error(profile: Profile, bandwidth: float) -> float:
    """SmECE at a given bandwidth, between 2⁻¹⁵ and 1: shows how the value depends on it.

    Examples
    --------
    >>> from calibcore.predictions import Predictions
    >>> p = Predictions.from_arrays([1, 0], [0.75, 0.25]).profile("positive")
    >>> smoothed_error(p, 0.01) > smoothed_error(p, 0.5)
    True
    """
    if not RESOLUTION <= bandwidth <= 1:
        raise InputError(f"The bandwidth must lie between {RESOLUTION:.1g} and 1, not {bandwidth:g}.", value=bandwidth)
    return _Blur(profile).error(bandwidth)


def smooth_calibration_error(
    y_true: Any, y_prob: Any, *, view: str | None = None, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> float:
    """Smooth calibration error (smECE): the size of residuals blurred at the scale that fits them.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, as in `Predictions.from_arrays`.
    y_prob : array-like of shape (n,) or (n, K)
        P(positive), or one column a class.
    view : str, optional
        ``"top_label"``, ``"positive"`` or ``"class:<name>"``; by default positive for (n,), top_label for (n, K).
    classes : sequence, optional
        Class names in column order.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    float
        Between 0 and 1; not comparable in size with an ECE, and above 0 by chance for a calibrated model.

    Raises
    ------
    InputError
        For input that cannot be used.

    Notes
    -----
    smECE_s = ∫₀¹ |Σ w(y − p)·K_s(t, p)/Σw| dt with K_s a Gaussian of standard deviation s, reflected at 0 and 1; the value is
    the one bandwidth with smECE_s = s.  Assumes nothing but independent rows.  Biased upwards: noise counts as error.
    `calibcore.measures.smooth.smooth_error` takes a profile, gives the bandwidth too, and says how accurate this is.

    References
    ----------
    Błasiok & Nakkiran (2023), arXiv:2309.12236.

    Examples
    --------
    >>> round(smooth_calibration_error([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5]), 6)  # one score: the gap, 3/4 − 1/2
    0.25
    """
    return smooth_error(view_profile(y_true, y_prob, view=view, classes=classes, sample_weight=sample_weight)).value


def _fixed_point(blur: _Blur, low: float, high: float) -> float:
    from scipy import optimize  # slow to import

    return float(optimize.brentq(lambda s: blur.error(s) - s, low, high, xtol=1e-12, rtol=1e-11))


class _Blur:
    """Residuals of a profile as cosine coefficients, which a reflected Gaussian multiplies by exp(−(kπs)²/2)."""

    def __init__(self, profile: Profile) -> None:
        self._value = profile.value.astype(np.float64)
        self._residual = profile.cell_sums("residual") / profile.weight_sum
        self._coefficients: dict[int, FloatArray] = {}
        self._fine: FloatArray | None = None
        self.largest = min(1.0, total(np.abs(self._residual)))  # smECE of any bandwidth is at most this

    def error(self, bandwidth: float) -> float:
        """SmECE at a bandwidth."""
        steps = min(_MOST, max(_LEAST, 1 << int(np.ceil(np.log2(_FINE / bandwidth)))))
        if steps not in self._coefficients:
            self._coefficients[steps] = np.fft.rfft(self._grid(steps), 2 * steps).real
        used = min(steps, int(np.ceil(_NEGLIGIBLE / (np.pi * bandwidth)))) + 1
        decay = np.exp(-((np.arange(used) * np.pi * bandwidth) ** 2) / 2)
        blurred = np.fft.irfft(self._coefficients[steps][:used] * decay, 2 * steps)[: steps + 1] * (2 * steps)
        return _absolute_integral(blurred)

    def _grid(self, steps: int) -> FloatArray:
        """Residuals at the points of a grid, so that its cosine coefficients are Σ r·cos(kπp), k = 0 … steps.

        Of many cells a fine grid is filled once.  A coarser one takes half of each point between its own: what is linear
        between its points is also linear between those of the finer one, so that is no other grid than one filled anew.
        """
        if len(self._value) <= _FINEST or steps > _FINEST:
            return self._spread(steps)
        if self._fine is None:
            self._fine = self._spread(_FINEST)
        grid = self._fine
        while len(grid) > steps + 1:
            between = grid[1::2] / 2
            grid = grid[::2].copy()
            grid[1:] += between
            grid[:-1] += between
        return grid

    def _spread(self, steps: int) -> FloatArray:
        """Each residual shared between the two grid points around its score."""
        grid = np.zeros(steps + 1)
        for start in range(0, len(self._value), _CHUNK):
            at = self._value[start : start + _CHUNK] * steps
            left = np.minimum(at.astype(np.intp), steps - 1)
            residual = self._residual[start : start + _CHUNK]
            right = (at - left) * residual
            first = left[0]
            size = left[-1] - first + 1
            grid[first : first + size] += np.bincount(left - first, residual - right, size)
            grid[first + 1 : first + 1 + size] += np.bincount(left - first, right, size)
        return grid


def _absolute_integral(f: FloatArray) -> float:
    """∫₀¹ |f| of the line through values at equal steps, with the crossings of 0 where the line has them."""
    size = np.abs(f)
    crossing = np.flatnonzero(np.signbit(f[1:]) != np.signbit(f[:-1]))
    whole = float(np.sum(size)) - (size[0] + size[-1]) / 2
    a, b = size[crossing], size[crossing + 1]
    both = a + b
    lost = np.sum(np.divide(a * b, both, out=np.zeros_like(a), where=both > 0))  # (a + b)/2 − (a² + b²)/(2(a + b))
    return float(whole - lost) / (len(f) - 1)
