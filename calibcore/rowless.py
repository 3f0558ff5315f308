"""Models that are known from their profiles alone: reduced on a cluster, or by someone who may not share the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibcore.held import Held, no_rows
from calibcore.later import Later
from calibcore.predictions import Predictions
from calibcore.profile import Profile, Task

__all__ = ["alone", "model_of"]


def model_of(  # noqa: PLR0913 - what is known beside the profiles
    held: Held,
    task: Task,
    classes: tuple[str, ...] = (),
    *,
    name: str = "model",
    n_excluded: int = 0,
    source: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> Predictions:
    """Predictions without rows, whose views are the profiles that are held.

    Examples
    --------
    >>> p = Predictions.from_arrays([0, 1, 1], [0.2, 0.6, 0.7])
    >>> model_of(Held({"positive": p.profile("positive")}), "binary", ("0", "1"))
    <Predictions of 'model': binary, 3 rows, classes 0 and 1, without rows>
    """
    one = next(iter(held.profiles.values()))
    rows: Any = Later(one.n, no_rows)
    tied = held.profiles["top_label"].totals.tied if "top_label" in held.profiles else 0
    about: dict[str, Any] = {"n_tied": tied, "n_excluded": n_excluded, "source": dict(source or {}), "notes": tuple(notes)}
    groups = {c: np.array([value for value, _ in parts], dtype=object) for c, parts in held.parts.items()}  # one entry a group
    return Predictions(name, task, classes, rows, rows, rows, groups=groups, held=held, **about)


def alone(profile: Profile, name: str = "model") -> Predictions:
    """The model of one profile; where it does not know the names of its classes, they are called other and positive."""
    classes = profile.classes
    if not classes and profile.view == "positive":
        classes = ("other", "positive")
    elif not classes and profile.view.startswith("class:"):
        classes = (profile.view.removeprefix("class:"),)
    task: Task = "binary" if profile.view == "positive" else profile.task
    return model_of(Held({profile.view: profile}), task, classes, name=name)
