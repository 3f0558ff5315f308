"""Colours of the charts: a role's colour on a light and on a dark background, measured for contrast and colour blindness."""

from __future__ import annotations

from typing import Literal

__all__ = ["DARK", "LIGHT", "MODEL_STYLES", "Role", "colour", "faded"]

Role = Literal[
    "over", "under", "within", "diagonal", "band", "text", "ink", "grid", "selected", "nothing", "model1", "model2", "model3", "model4"
]

LIGHT: dict[Role, str] = {
    "over": "#D55E00",
    "under": "#0072B2",
    "within": "#8A8F99",
    "diagonal": "#6B7280",
    "band": "#6B7280",
    "text": "#4B5563",
    "ink": "#1F2937",
    "grid": "#E5E7EB",
    "selected": "#1F2937",
    "nothing": "#FFFFFF",
    "model1": "#0072B2",
    "model2": "#D55E00",
    "model3": "#1F2937",
    "model4": "#6F6F6F",
}
DARK: dict[Role, str] = {
    "over": "#FF8A3D",
    "under": "#56B4E9",
    "within": "#7C8390",
    "diagonal": "#9CA3AF",
    "band": "#9CA3AF",
    "text": "#C3C8D0",
    "ink": "#F3F4F6",
    "grid": "#33302C",
    "selected": "#FFFFFF",
    "nothing": "#171614",
    "model1": "#56B4E9",
    "model2": "#D55E00",
    "model3": "#FFFFFF",
    "model4": "#FFD166",
}

# Marker, line and colour together tell up to four models apart; a fifth colour would not keep its distance from the others.
MODEL_STYLES: tuple[tuple[Role, str, str], ...] = (
    ("model1", "circle", "solid"),
    ("model2", "square", "dash"),
    ("model3", "triangle-up", "dot"),
    ("model4", "diamond", "dashdot"),
)


def colour(role: Role, *, dark: bool = False) -> str:
    """The colour of a role as ``#RRGGBB``."""
    return (DARK if dark else LIGHT)[role]


def faded(role: Role, opacity: float, *, dark: bool = False) -> str:
    """The colour of a role as ``rgba(…)``, partly transparent.

    Examples
    --------
    >>> faded("under", 0.2)
    'rgba(0, 114, 178, 0.2)'
    """
    code = colour(role, dark=dark)
    red, green, blue = (int(code[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity:g})"
