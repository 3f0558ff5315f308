"""What is known of a model without its rows: the profiles of its views, and of its groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.checks import listing, name_key
from calibcore.errors import InputError
from calibcore.profile import Profile

__all__ = ["NO_ROWS", "Held", "no_rows"]

NO_ROWS = (
    "A profile holds no rows: pairing, other groups than it was made with, periods, remedies and the rows behind a bin need the "
    "prediction file."
)


def no_rows() -> NDArray[Any]:
    """Always an InputError: there is no array by row."""
    raise InputError(NO_ROWS)


def _none() -> NDArray[np.intp]:
    return np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """The profiles of a model.

    Attributes
    ----------
    profiles : mapping of view to Profile
        All of the same rows.  Of a binary model, ``"positive"`` stands for both classes.
    parts : mapping of column to sequence of (value, model)
        The model on the rows of each group, itself known from profiles.
    label_counts : array of shape (K,), int
        Rows of each class; empty where labels are not known.
    """

    profiles: Mapping[str, Profile]
    parts: Mapping[str, Sequence[tuple[str, Any]]] = field(default_factory=dict)
    label_counts: NDArray[np.intp] = field(default_factory=_none)

    @property
    def reduced(self) -> bool:
        """Whether some profile is; those of few different values, such as float16, are exact."""
        return any(p.reduced for p in self.profiles.values())

    def views(self, task: str, classes: Sequence[str]) -> tuple[str, ...]:
        """The views that can be judged, in their usual order."""
        one = [f"class:{c}" for c in classes if f"class:{c}" in self.profiles or (task == "binary" and "positive" in self.profiles)]
        return (*(v for v in ("top_label", "positive") if v in self.profiles), *one)

    def every_class(self, classes: Sequence[str]) -> bool:
        """Whether each class can be judged against the rest."""
        return "positive" in self.profiles or (bool(classes) and all(f"class:{c}" in self.profiles for c in classes))

    def profile(self, view: str, classes: Sequence[str], name: str) -> Profile:
        """The profile of a view of the model called ``name``; InputError if it was not kept."""
        if view in self.profiles:
            return self.profiles[view]
        wanted = name_key(view.removeprefix("class:")) if view.startswith("class:") else None
        for index, one in enumerate(classes):
            if wanted is None or name_key(one) != wanted:
                continue
            if "positive" in self.profiles:
                positive = self.profiles["positive"]
                return (positive if index else positive.mirrored()).called(f"class:{one}")
            if f"class:{one}" in self.profiles:
                return self.profiles[f"class:{one}"]
        there = listing(self.views("binary" if "positive" in self.profiles else "", classes), 10)
        raise InputError(f"The profile of {name} was made without the view {view!r}; it holds {there}.", value=view)
