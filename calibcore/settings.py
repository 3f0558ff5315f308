"""How a model is looked at: bins, view, level, seed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from calibcore.checks import needs, view_name
from calibcore.errors import InputError
from calibcore.measures.calibration_error import make_partition, strategy_name
from calibcore.partition import Closed, Partition, SharedTies, Strategy, Ties, checked_bins
from calibcore.profile import Profile
from calibcore.proportions import checked_level

__all__ = ["REQUESTS", "Settings"]

REQUESTS = (
    "adaptive",
    "bands",
    "groups",
    "hosmer_lemeshow",
    "kde",
    "kernel",
    "periods",
    "reconcile",
    "refinement",
    "remedies",
    "t_cal",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is looked at; every number carries them.

    Attributes
    ----------
    n_bins : int
    strategy : {"equal_width", "equal_mass", "custom"}
        "custom" where ``edges`` are given.  Hyphens, as the command line has them, are read as underscores; so in ``view``.
    closed : {"right", "left"}
    ties : {"together", "share"}
    view : str
        ``"top_label"``, ``"positive"`` or ``"class:<name>"``.
    edges : tuple of float, optional
        From 0 to 1.
    level : float
        Confidence level of intervals, a fraction.
    seed : int
        Of the chance range and of everything else that is drawn, except the verdict.
    threshold : float, optional
        Rows with a score above it are acted on (with ``closed="left"`` also rows at it), for the panel of errors expected
        and found; none by default.
    cost_error, cost_review : float, optional
        What an error among the rows acted on costs, and the review of a row that is not acted on.
    on_request : tuple of str
        Statistics that are costly, or meant to reproduce a paper, and so only computed when asked for: see
        `calibcore.settings.REQUESTS`.

    Raises
    ------
    InputError
        For a value that is not allowed.

    Examples
    --------
    >>> Settings(edges=(0, 0.5, 1)).strategy
    'custom'
    >>> Settings(view="top-label", strategy="equal-mass").to_dict()["strategy"]
    'equal_mass'
    """

    n_bins: int = 15
    strategy: Strategy = "equal_width"
    closed: Closed = "right"
    ties: Ties = "together"
    view: str = "top_label"
    edges: tuple[float, ...] | None = None
    level: float = 0.95
    seed: int = 0
    threshold: float | None = None
    cost_error: float | None = None
    cost_review: float | None = None
    on_request: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", checked_bins(self.n_bins))
        object.__setattr__(self, "level", checked_level(self.level))
        object.__setattr__(self, "view", view_name(self.view))
        object.__setattr__(self, "strategy", strategy_name(self.strategy))
        if self.edges is not None:
            partition = Partition.from_edges(self.edges, self.closed)
            object.__setattr__(self, "edges", tuple(partition.edges.tolist()))
            object.__setattr__(self, "strategy", "custom")
        elif self.strategy == "custom":
            raise InputError("The strategy 'custom' needs edges from 0 to 1, such as 0,0.5,1 (--edges).")
        for name, allowed in (
            ("strategy", ("equal_width", "equal_mass", "custom")),
            ("closed", ("right", "left")),
            ("ties", ("together", "share")),
        ):
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}.", available=allowed)
        if isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)) or self.seed < 0:
            raise InputError(f"The seed must be a whole number from 0 up, got {self.seed!r}.", value=self.seed)
        object.__setattr__(self, "seed", int(self.seed))
        self._check_requests()

    def _check_requests(self) -> None:
        given: Any = () if self.on_request is None else self.on_request
        asked = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
        for name in asked:
            if name not in REQUESTS:
                raise InputError(f"There is nothing called {name!r} to request; there are {', '.join(REQUESTS)}.", available=REQUESTS)
        object.__setattr__(self, "on_request", tuple(dict.fromkeys(asked)))
        for name, most in (("threshold", 1.0), ("cost_error", np.inf), ("cost_review", np.inf)):
            self._check_number(name, most)

    def _check_number(self, name: str, most: float) -> None:
        value = getattr(self, name)
        if value is None:
            return
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not number or not 0 <= value <= most or not np.isfinite(value):
            allowed = "a fraction from 0 to 1" if most == 1 else "a number from 0 up"
            raise InputError(f"The {name.replace('_', ' of ')} must be {allowed}; got {value!r}.", value=value)
        if self.threshold is None:
            raise InputError(f"{name} needs a threshold, the score above which rows are acted on.")
        object.__setattr__(self, name, float(value))

    def partition(self, profile: Profile) -> Partition | SharedTies:
        """The bins that these settings mean for a profile."""
        needs(profile, Profile, "Settings.partition")
        return make_partition(profile, **self.binning())

    def binning(self) -> dict[str, Any]:
        """The arguments of `calibcore.measures.calibration_error.make_partition`."""
        strategy = "equal_width" if self.strategy == "custom" else self.strategy
        return {"n_bins": self.n_bins, "strategy": strategy, "closed": self.closed, "ties": self.ties, "edges": self.edges}

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "edges": None if self.edges is None else list(self.edges), "on_request": list(self.on_request)}
