"""Where words about one point of a picture may stand: on free ground, near the point, and with no mark beneath them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibcore.plot.geometry import outlines
from calibcore.plot.marks import Axis, Band, Bars, Label, Line, Mark, Points, Ticks, Whiskers

__all__ = ["callout"]

LETTER = 7.5  # pixels of a letter of the words, in the wider of both renderers' fonts
HEIGHT = 21  # pixels of their box, with its padding
_SIDES = 12  # pixels of the box beside the letters
_STEP = 8.0  # pixels at most between the places at which a line is met, less than a box is high
_SIDE = 600  # pixels of the largest plot
_ROOM, _INSET = 4.0, 7.0  # pixels left free around a mark, and at the ends of the axes
_NARROW = 250  # pixels of the plot on a telephone, whose letters are as large as elsewhere
_PLACES = 22  # that are tried across, and as many upwards
_BESIDE = 8  # pixels from a point at which a line runs over it
_AWAY = 26  # pixels from the point at least, so that the line between is seen
_OVER, _SMALL = 60, 120  # pixels of distance worth a line that runs over no other point, and free ground on a telephone too
Places = NDArray[np.float64]


def callout(text: str, point: tuple[float, float], marks: Sequence[Mark], x: Axis, y: Axis, size: tuple[float, float]) -> Label:
    """Words about a point, joined to it by a line, where they cover no point, bar, edge of a band, curve or axis.

    Parameters
    ----------
    text : str
    point : tuple of float
    marks : sequence of Mark
        All that is drawn.
    x, y : Axis
    size : tuple of float
        Width and least height of the plot, in pixels.

    Notes
    -----
    Places are tried on a grid.  The best covers fewest marks, and among those is nearest to the point; a line over other points
    and a place that is not free on a telephone count as so many pixels more.
    """
    inside = np.array([x.low, y.low]), np.array([x.high - x.low, y.high - y.low])
    at = (np.array(point) - inside[0]) / inside[1]
    things = [(pixels, room) for mark in marks for pixels, room in _met(mark, y.low)]
    met = (np.concatenate([xy for xy, _ in things]) - inside[0]) / inside[1]
    room = np.repeat([r for _, r in things], [len(xy) for xy, _ in things])
    others = [(np.column_stack([m.x, m.y]) - inside[0]) / inside[1] for m in marks if isinstance(m, Points)]
    box = LETTER * len(text) + _SIDES, float(HEIGHT)
    corner, signs = _corners(at, box, size)
    wide, narrow = (_covered(corner, signs * box, met, room, s) for s in (size, (min(size[0], _NARROW), size[1])))
    crossed = _crossed(corner, at, np.concatenate(others) if others else np.empty((0, 2)), size)
    far = np.hypot(*((corner - at) * size).T)
    best = int(np.lexsort((far + _OVER * crossed + _SMALL * (narrow > 0), wide + (far < _AWAY)))[0])
    place = inside[0] + corner[best] * inside[1]
    across, up = signs[best]
    anchor = f"{'left' if across > 0 else 'right'} {'bottom' if up > 0 else 'top'}"
    return Label(float(place[0]), float(place[1]), text, "ink", anchor, pointer=point)


def _corners(at: Places, box: tuple[float, float], size: tuple[float, float]) -> tuple[Places, Places]:
    """Corners of boxes, as shares of the plot, and the direction in which each box lies from its corner."""
    share = np.array(box) / size
    steps = (np.arange(_PLACES + 1) / _PLACES)[:, None] * np.maximum(1 - share, 0)
    across, up = (a.ravel() for a in np.meshgrid(steps[:, 0], steps[:, 1]))
    low = np.column_stack([across, up])
    signs = np.where(low + share / 2 >= at, 1.0, -1.0)
    return np.where(signs > 0, low, low + share), signs


def _covered(corner: Places, reach: Places, met: Places, room: NDArray[np.float64], size: tuple[float, float]) -> NDArray[np.intp]:
    """How many pieces of marks lie beneath each box, which reaches so far from its corner; an end of an axis counts as many."""
    pixels = corner * size
    low, high = np.minimum(pixels, pixels + reach), np.maximum(pixels, pixels + reach)
    beneath = np.ones((len(low), len(met)), dtype=np.bool_)
    for place, down, up in zip((met * size).T, low.T, high.T, strict=True):
        beneath &= (place + room > down[:, None]) & (place - room < up[:, None])
    ends = ((low < _INSET) | (high > np.array(size) - _INSET)).sum(axis=1)
    found: NDArray[np.intp] = beneath.sum(axis=1) + 100 * ends
    return found


def _crossed(corner: Places, at: Places, others: Places, size: tuple[float, float]) -> NDArray[np.intp]:
    """How many other points the line from each corner to the point runs over."""
    start, line = corner * size, (at - corner) * size
    rest = others[np.hypot(*((others - at) * size).T) > 1e-6] * size
    along = np.einsum("nk,nmk->nm", line, rest[None] - start[:, None]) / np.maximum((line**2).sum(axis=1), 1e-9)[:, None]
    foot = start[:, None] + np.clip(along, 0, 1)[..., None] * line[:, None]
    found: NDArray[np.intp] = (((rest[None] - foot) ** 2).sum(axis=2) < _BESIDE**2).sum(axis=1)
    return found


def _met(mark: Mark, floor: float) -> Iterator[tuple[Places, float]]:
    """Places of a mark at which words would cover it, and the pixels to leave free around them."""
    if isinstance(mark, Points):
        yield np.column_stack([mark.x, mark.y]), _ROOM + mark.size / 2
    elif isinstance(mark, Ticks):
        yield np.column_stack([mark.x, [floor] * len(mark.x)]), _ROOM + 4
    else:
        for path in _paths(mark, floor):
            yield _along(np.array(path)), _ROOM


def _paths(mark: Mark, floor: float) -> Iterator[Sequence[tuple[float, float]]]:
    """The strokes of a mark: a line, the edge of a band, both sides and the middle of a bar, an interval."""
    if isinstance(mark, Line):
        yield [*zip(mark.x, mark.y, strict=True)]
    elif isinstance(mark, Band):
        yield from outlines(mark, floor)
    elif isinstance(mark, Bars):
        for middle, foot, height, width in zip(mark.x, mark.base, mark.height, mark.width, strict=True):
            yield from ([(x, foot), (x, foot + height)] for x in (middle - width / 2, middle, middle + width / 2))
    elif isinstance(mark, Whiskers):
        for middle, low, high in zip(mark.x, mark.low, mark.high, strict=True):
            yield [(middle, low), (middle, high)]


def _along(path: Places, most: float = _STEP / _SIDE) -> Places:
    """Places along a path of straight lines, close enough that no word fits between two."""
    if len(path) < 2:
        return path
    parts = [path[:1]]
    for start, end in pairwise(path):
        n = max(1, int(np.ceil(np.abs(end - start).max() / most)))
        parts.append(start + (end - start) * (np.arange(1, n + 1) / n)[:, None])
    return np.concatenate(parts)
