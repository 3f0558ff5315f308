"""Where the parts of a picture lie and what they say, as plain numbers and texts: ticks, outlines of bands, texts on one line."""

from __future__ import annotations

import math
from dataclasses import replace

from calibcore.plot.frame import LEGEND, LINE, MARGINS, SMALL, SMALL_MARGINS
from calibcore.plot.marks import NEXT_LINE, Axis, Band, Chart, Label, Over, Rule
from calibcore.plot.ticks import Ticks, name_ticks, number_ticks
from calibcore.plot.wording import SHORT, shortened

__all__ = ["axis_ticks", "in_picture", "margins", "outlines", "plain", "squared"]

_LOW = 280  # pixels below which an axis has four steps at most
_FEW, _MANY = 6, 10  # steps of a short and of a long axis
_JOINERS = "\u200c\u200d"  # of letters and of emoji, which are part of how a word is written
Path = tuple[tuple[float, float], ...]


def axis_ticks(axis: Axis, pixels: int, *, beside: bool = False) -> Ticks:
    """Values at which an axis has ticks, and what is written there.

    Parameters
    ----------
    axis : Axis
    pixels : int
        Length of the picture along the axis.
    beside : bool
        Whether the texts stand beside each other, so that not all names of categories may have room.

    Examples
    --------
    >>> axis_ticks(Axis("Share of rows", 0, 0.025), 210)
    ((0.0, 0.01, 0.02), ('0%', '1%', '2%'))
    """
    if axis.names:
        return name_ticks(axis, pixels if beside else None)
    if axis.log:
        values = _powers(axis)
        return values, tuple(_counted(v, v) for v in values)
    if axis.format == "percent":
        values, texts = number_ticks(Axis("", 100 * axis.low, 100 * axis.high, "number"), _percent_steps(axis, pixels))
        return tuple(v / 100 for v in values), tuple(f"{t}%" for t in texts)
    most = _FEW if pixels < SMALL or axis.format == "points" else _MANY
    if axis.format == "count":
        values, _ = number_ticks(axis, max(1, min(most, math.ceil(axis.high - axis.low))))
        return values, tuple(_counted(v, max(values)) for v in values)
    return number_ticks(axis, most)


def _counted(value: float, largest: float) -> str:
    """A number of rows in no more letters than "100%" needs room: thousands and millions as such where the largest is long."""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if largest >= max(unit, 1e4):
            return f"{value / unit:,.10g}{letter}" if value else "0"
    return f"{value:,.10g}"


def _percent_steps(axis: Axis, pixels: int) -> int:
    """How many steps an axis of percentages may have: of ten or twenty each on the scale of probabilities."""
    span = 100 * (axis.high - axis.low)
    if pixels < _LOW:
        return 4
    if span <= 30:
        return _FEW
    return math.ceil(span / (10 if span <= 60 or (pixels >= SMALL and span <= 100) else 20))


def _powers(axis: Axis) -> tuple[float, ...]:
    """Powers of ten on the axis, with 2 and 5 times them where there are few."""
    exponents = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
    powers, all_three = ([float(f"{m}e{e}") for e in exponents for m in factors] for factors in ((1,), (1, 2, 5)))
    found = [v for v in powers if axis.low <= v <= axis.high]
    return tuple(found if len(found) >= 3 else [v for v in all_three if axis.low <= v <= axis.high])


def plain(text: str) -> str:
    r"""A text on one line, without the characters that no file of pictures can hold or that turn its direction.

    Examples
    --------
    >>> plain("a\nb")
    'a b'
    """
    return "".join(c if c.isprintable() or c in _JOINERS else " " for c in text)


def in_picture(text: str) -> str:
    """A text as it stands in a picture: on one line, and not too long."""
    return shortened(plain(text), 2 * SHORT)


def outlines(band: Band, floor: float) -> list[Path]:
    """Closed outlines of a band: intervals that touch share one, and nothing lies below ``floor``."""
    found = []
    for run in _touching(band):
        over = [(x, max(band.high[i], floor)) for i in run for x in (band.lower[i], band.upper[i])]
        under = [(x, max(band.low[i], floor)) for i in run for x in (band.lower[i], band.upper[i])]
        found.append((*over, *reversed(under), over[0]))
    return found


def _touching(band: Band) -> list[list[int]]:
    """Runs of neighbouring intervals."""
    runs: list[list[int]] = []
    for i in range(len(band.lower)):
        if runs and band.upper[runs[-1][-1]] == band.lower[i]:
            runs[-1].append(i)
        else:
            runs.append([i])
    return runs


def margins(chart: Chart) -> dict[str, int]:
    """Pixels left, right, above and below the plot that its words need, in a usual font."""
    usual = SMALL_MARGINS if chart.width < SMALL else MARGINS
    longest = max((len(line) for name in chart.y.names for line in name.split(NEXT_LINE)), default=0)
    beside = max((min(len(m.text), SHORT) for m in chart.marks if isinstance(m, Label) and m.x > chart.x.high), default=0)
    lines = max((m.level for m in chart.marks if isinstance(m, Rule | Over)), default=0)
    return {
        "l": 16 + 7 * longest if chart.y.names else usual["l"],
        "r": usual["r"] + 8 * beside,
        "t": usual["t"] + LINE * lines + (LEGEND if chart.legend else 0),
        "b": usual["b"],
    }


def squared(chart: Chart) -> Chart:
    """The chart with the height at which one point up is as long as one point across."""
    around = margins(chart)
    across = chart.width - around["l"] - around["r"]
    up = across * (chart.y.high - chart.y.low) / (chart.x.high - chart.x.low)
    return replace(chart, height=round(up) + around["t"] + around["b"], equal=True)
