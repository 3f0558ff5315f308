"""Download buttons whose files hold what was typed last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st

__all__ = ["Downloads"]

_ON_ITS_WAY = 0.3  # seconds after a click within which what was typed before it reaches the script
_PATIENCE = 60.0  # seconds that a run may take
_LOOK = 0.02

Make = Callable[[], str | bytes]


@dataclass(slots=True)
class Downloads:
    """What the buttons of a session give, by the place of each, and whether the page is being made anew."""

    makers: dict[str, Make] = field(default_factory=dict)
    running: bool = False

    @contextmanager
    def run(self) -> Iterator[None]:
        """Around a run of the script, however it ends."""
        self.makers, self.running = {}, True
        try:
            yield
        finally:
            self.running = False

    def button(self, label: str, make: Make, name: str, mime: str, *, key: str | None = None) -> None:
        """A button for a file that is made when it is clicked.

        Parameters
        ----------
        label : str
        make : function
            Gives the content.
        name, mime : str
            Of the file.
        key : str, optional
            Of the widget.
        """
        place = f"{key or label} {name}"
        self.makers[place] = make
        st.download_button(label, lambda: self._latest(place, make), name, mime, key=key, on_click="ignore")

    def _latest(self, place: str, make: Make) -> str | bytes:
        """What the button gives once the page has settled: a click out of a text field comes before the run that it causes."""
        time.sleep(_ON_ITS_WAY)
        end = time.monotonic() + _PATIENCE
        while self.running and time.monotonic() < end:
            time.sleep(_LOOK)
        return self.makers.get(place, make)()
