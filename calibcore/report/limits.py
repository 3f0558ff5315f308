"""A gate for pipelines: is a limit on ECE, MCE or gap exceeded, and can these rows tell."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from calibcore.advice.verdict import percent
from calibcore.analysis import Analysis, Settings, analyze
from calibcore.errors import InputError
from calibcore.inference.intervals import mean_gap
from calibcore.measures.squared_error import squared_error
from calibcore.plot.wording import bin_range
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.report.reduced_words import within_text
from calibcore.report.tables import chance_text, count_text, plain, score_text, share_text, view_text

__all__ = ["Check", "Limits", "document"]

On = Literal["plugin", "debiased"]
_ROUNDING = 1e-12  # of sums: an ECE of 0.05 must not exceed 0.05 by its last digit
_UNSURE = "so these rows cannot tell"
_OTHER = {"top_label": "positive", "positive": "top_label"}
_NAMES = {"ece": "ECE", "mce": "MCE", "gap": "|gap|", "debiased": "debiased root mean square error"}


@dataclass(frozen=True, slots=True)
class Check:
    """One limit and one model.

    Attributes
    ----------
    model, file : str
    view : str
        The view that was judged.
    limit : {"ece", "mce", "gap"}
    on : {"plugin", "debiased"} or None
        How ECE was judged; None for the others.
    value, max : float
        What was found, and the largest value that holds.
    evidence : str
        What the value rests on, and whether the rows can tell.
    """

    model: str
    file: str
    view: str
    limit: str
    on: On | None
    value: float
    max: float
    evidence: str

    @property
    def holds(self) -> bool:
        """Whether the value is not larger than the limit."""
        return self.value <= self.max + _ROUNDING

    @property
    def what(self) -> str:
        """The statistic that was judged."""
        return _NAMES["debiased" if self.on == "debiased" else self.limit]

    @property
    def line(self) -> str:
        """The check in one line."""
        sign, outcome = ("≤", "holds") if self.holds else (">", "exceeds the limit")
        where = " ".join(plain(part) for part in (self.file, self.model) if part)
        return f"{where}: {self.what} {self.shown} {sign} {self.max:.15g}, {outcome} ({self.evidence})"

    @property
    def shown(self) -> str:
        """The value with four decimals, more where they would stand on the wrong side of the limit."""
        texts = [score_text(self.value), *(f"{self.value:.{digits}f}" for digits in range(5, 17))]
        return next((t for t in texts if (float(t) <= self.max) == self.holds), texts[0])

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "model": self.model,
            "file": self.file or None,
            "view": self.view,
            "limit": self.limit,
            "on": self.on,
            "value": self.value,
            "max": self.max,
            "holds": self.holds,
            "evidence": self.evidence,
        }


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest ECE, MCE and |gap| that hold; None where there is no limit.

    Raises
    ------
    InputError
        If no limit is given, one is not a fraction from 0 to 1, or the debiased error is asked for without a limit of ECE.

    Examples
    --------
    >>> model = Predictions.from_top_label([0.8] * 10, [1] * 7 + [0] * 3, name="a")
    >>> [check.holds for check in Limits(ece=0.05, gap=0.2).judge(model, Settings())]
    [False, True]
    """

    ece: float | None = None
    mce: float | None = None
    gap: float | None = None
    on: On = "plugin"

    def __post_init__(self) -> None:
        if self.ece is self.mce is self.gap is None:
            raise InputError("A check needs a limit: give --max-ece, --max-mce or --max-gap, such as --max-ece 0.05.")
        for name in ("ece", "mce", "gap"):
            limit = getattr(self, name)
            if limit is not None and not 0 <= limit <= 1:
                raise InputError(f"--max-{name} must be a fraction from 0 to 1, such as 0.05; got {limit:g}.", value=limit)
        if self.on == "debiased" and self.ece is None:
            raise InputError("--on debiased says how ECE is judged; give its limit with --max-ece.")

    def judge(self, model: Predictions, settings: Settings) -> list[Check]:
        """A check for each limit, in the order ECE, MCE, gap.

        Parameters
        ----------
        model : Predictions
        settings : Settings

        Raises
        ------
        InputError
            If the model does not have the view, or the debiased error is asked for in bins that share ties.

        Notes
        -----
        A limit is exceeded where the value is larger.  ``"plugin"`` judges the ECE as shown, which noise makes larger;
        ``"debiased"`` judges √max(U, 0), the root of the unbiased squared error of the same bins.  A binary model is judged
        in the view of the settings; what its other view shows is part of the evidence and decides nothing.
        """
        a = analyze(model, settings)
        profile = model.profile(a.view)
        found = []
        if self.ece is not None:
            judge = _ece if self.on == "plugin" else _debiased
            found.append(_check(a, "ece", self.ece, *judge(a, profile, self.ece), on=self.on))
        if self.mce is not None:
            found.append(_check(a, "mce", self.mce, a.bins.mce, _mce(a, profile, self.mce)))
        if self.gap is not None:
            found.append(_check(a, "gap", self.gap, abs(a.gap.value), _gap(a, profile, self.gap)))
        return [replace(c, evidence=c.evidence + _beside(c, a, model)) for c in found]


def document(checks: Iterable[Check], *, complete: bool = True) -> dict[str, Any]:
    """The JSON of a check: it holds where no limit is exceeded and every file could be judged."""
    found = list(checks)
    return {"checks": [c.to_dict() for c in found], "holds": complete and all(c.holds for c in found)}


def _check(a: Analysis, limit: str, most: float, value: float, evidence: str, *, on: On | None = None) -> Check:
    return Check(a.name, str(a.source.get("file", "")), a.view, limit, on, value, most, evidence)


def _ece(a: Analysis, profile: Profile, limit: float) -> tuple[float, str]:
    chance = a.chance
    evidence = f"{_bins(a, profile)}; chance alone gives {chance_text(chance)}{_reduced(a, limit)}"
    share = "half of such samples" if limit < chance.median else "1 of 20 such samples" if limit < chance.p95 else ""
    return a.ece, f"{evidence}; a calibrated model with these confidences would exceed this limit in {share} or more" if share else evidence


def _reduced(a: Analysis, limit: float) -> str:
    """How far the ECE of a reduced profile can be from that of the rows, and whether the limit lies within."""
    within = within_text(a, "ece")
    if not within or a.precision is None:
        return ""
    unsure = abs(a.ece - limit) <= (a.precision["ece"].within or 0)
    return f"; from a reduced profile, within{within} of the ECE of the rows{', so it cannot tell' if unsure else ''}"


def _debiased(a: Analysis, profile: Profile, limit: float) -> tuple[float, str]:
    error = a.measures["squared_error_debiased"]
    if error is None:
        raise InputError("Bins that share ties have no debiased error; leave out --ties share or --on debiased.")
    low, high = (math.sqrt(end) for end in error.interval(a.settings.level))
    ends = f"{percent(a.settings.level)} interval {score_text(low)} to {score_text(high)}{_unsure(low, high, limit)}"
    evidence = f"not an ECE; {_bins(a, profile)}; {ends}"
    alone = 1 - error.covered
    if alone > _ROUNDING:
        evidence += f"; bins of one row, {share_text(alone)} of all, add nothing"
    return error.root, evidence


def _mce(a: Analysis, profile: Profile, limit: float) -> str:
    b, i = a.bins, a.bins.mce_bin
    rows = f"{count_text(float(b.count[i]))} {'row' if b.count[i] == 1 else 'rows'}"
    evidence = f"bin {bin_range(b, i)}, {rows}, of {_bins(a, profile)}"
    low, high = (float(end[i]) for end in b.calibrated_range(a.settings.level))
    if math.isnan(low):
        return evidence
    word = "accuracy" if a.view == "top_label" else "share of positives"
    evidence += f"; {word} there {share_text(float(b.accuracy[i]))}, {share_text(low)} to {share_text(high)} if calibrated"
    by_chance = low <= b.accuracy[i] <= high
    return f"{evidence}, {_UNSURE}" if by_chance and b.mce > limit + _ROUNDING else evidence


def _gap(a: Analysis, profile: Profile, limit: float) -> str:
    g = a.gap
    evidence = f"{_rows(a, profile)}; gap {score_text(g.value, signed=True)}"
    if g.low is None or g.high is None:
        return f"{evidence}, no interval from these rows"
    ends = f"{score_text(g.low, signed=True)} to {score_text(g.high, signed=True)}"
    low = 0.0 if g.low <= 0 <= g.high else min(abs(g.low), abs(g.high))
    return f"{evidence}, {percent(a.settings.level)} interval {ends}{_unsure(low, max(abs(g.low), abs(g.high)), limit)}"


def _unsure(low: float, high: float, limit: float) -> str:
    return f" lies on both sides of the limit, {_UNSURE}" if low <= limit < high else ""


def _beside(check: Check, a: Analysis, model: Predictions) -> str:
    """What the view of a binary model shows that was not asked for, and how it is judged where it exceeds the limit."""
    other = _OTHER.get(check.view)
    if other is None or other not in a.views:
        return ""
    value = _in_view(check, a, model.profile(other))
    if value is None:
        return ""
    it = replace(check, view=other, value=value)
    text = f"; {it.what} in the {view_text(other)} {it.shown}"
    return text if it.holds else f"{text}, which exceeds this limit (--view {other.replace('_', '-')} judges it)"


def _in_view(check: Check, a: Analysis, profile: Profile) -> float | None:
    """The value that is judged, in another view."""
    if check.on == "debiased":
        error = squared_error(profile, a.settings.partition(profile))
        return None if error is None else error.root
    bins = a.views[profile.view]
    return {"ece": bins.ece, "mce": bins.mce}.get(check.limit, abs(mean_gap(profile, a.settings.level).value))


def _bins(a: Analysis, profile: Profile) -> str:
    """Bins, rows and whatever is not as usual."""
    s = a.settings
    bins = f"{len(a.bins.count)} {s.strategy.replace('_', '-')} bins{' [a, b)' if s.closed == 'left' else ''}"
    return f"{bins}{', ties shared' if s.ties == 'share' and s.strategy == 'equal_mass' else ''}, {_rows(a, profile)}"


def _rows(a: Analysis, profile: Profile) -> str:
    view = f"{view_text(a.view)}, " if a.view != "top_label" or a.task == "binary" else ""
    weighted = f", weighted as {profile.n_effective:,.0f}" if profile.weighted else ""
    return f"{view}n = {count_text(a.n)}{weighted}"
