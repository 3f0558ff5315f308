"""Where an axis has its ticks and what stands at them, the same in both renderers."""

from __future__ import annotations

import math

from calibcore.plot.marks import Axis

__all__ = ["decimals_of", "name_ticks", "number_ticks"]

Ticks = tuple[tuple[float, ...], tuple[str, ...]]
_LETTER = 8  # pixels of a name's letter, with some room


def number_ticks(axis: Axis, most: int) -> Ticks:
    """Round values on an axis of percent, points or plain numbers, at most ``most`` steps apart, and their texts.

    Points have their sign; so have numbers where the axis goes below 0.

    Examples
    --------
    >>> number_ticks(Axis("", -0.004, 0.01, "number"), 6)
    ((0.0, 0.005, 0.01), ('0', '+0.005', '+0.010'))
    >>> number_ticks(Axis("", -0.2, 0.2, "points"), 6)[1]
    ('−20', '−10', '0', '+10', '+20')
    """
    scale = 1 if axis.format == "number" else 100
    low, high = scale * axis.low, scale * axis.high
    step = _step((high - low) / most)
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    signed = axis.format == "points" or low < 0
    form = f"{'+' if signed else ''}.{decimals_of(step)}f"
    texts = ("0" if not k and signed else f"{k * step:{form}}".replace("-", "−") for k in places)
    return tuple(k * step / scale for k in places), tuple(t + ("%" if axis.format == "percent" else "") for t in texts)


def decimals_of(step: float) -> int:
    """Decimals that tell multiples of a step apart: 0.05 → 2."""
    return max(0, -math.floor(math.log10(step) + 1e-9))


def name_ticks(axis: Axis, pixels: int | None = None) -> Ticks:
    """The named places of an axis of categories; with ``pixels`` only as many as fit beside each other."""
    every = 1
    if pixels is not None and axis.names:
        room = max(1, pixels // (_LETTER * max(1, *map(len, axis.names))))
        every = math.ceil(len(axis.names) / room)
    kept = [k for k in range(0, len(axis.names), every) if axis.names[k]]
    return tuple(float(k) for k in kept), tuple(axis.names[k] for k in kept)


def _step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= least * (1 - 1e-9))
