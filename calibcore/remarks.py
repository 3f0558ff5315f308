"""What a reader of an analysis must know beside its numbers, one sentence each."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from calibcore.binned import BinnedStatistics
from calibcore.checks import rows_text
from calibcore.measures.reduction import Precision, within_cells
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.settings import Settings

__all__ = ["about_missing_rows", "about_profile", "about_reduction", "about_source"]


def about_source(source: Predictions | Profile) -> tuple[str, ...]:
    """What reading the rows has shown."""
    if isinstance(source, Profile):
        return ()
    notes = list(source.notes)
    if source.n_tied:
        notes.append(
            f"{rows_text(source.n_tied)} {'shares' if source.n_tied == 1 else 'share'} the largest probability between classes; "
            "the first class in class order counts as predicted."
        )
    if source.n > 1 and np.count_nonzero(source.label_counts) == 1:
        notes.append(f"Every label is {source.classes[int(np.argmax(source.label_counts))]}; the figures say little about other outcomes.")
    return tuple(notes)


def about_profile(profile: Profile, top: Profile, bins: BinnedStatistics, settings: Settings) -> list[str]:
    """What the numbers of a view rest on."""
    notes = []
    if profile.n == 1:
        notes.append("One row only: the numbers carry no information.")
    elif len(profile) == 1:
        notes.append(f"All scores are {float(profile.value[0]):.4g}: everything falls in one bin, so there is no curve to draw.")
    if settings.strategy == "equal_mass" and bins.used < bins.requested:
        notes.append(f"{bins.requested} bins asked for, {bins.used} usable: many rows share a score.")
    certain = float(top.value[-1]) == 1.0
    wrong = float(top.weight[-1] - top.positive[-1]) if certain else 0.0
    if wrong > 0 and not top.weighted:
        were = "was" if wrong == 1 else "were"
        n = int(top.count[-1])
        claims = f"{rows_text(n)} {'claims' if n == 1 else 'claim'} exactly 100%"
        which = "it" if n == 1 else f"{int(wrong):,} of them"
        notes.append(f"{claims}; {which} {were} wrong, which the model rules out.")
    if profile.totals.clipped:
        notes.append(f"Log loss: the probability of what happened was raised to 2⁻⁵² for {rows_text(profile.totals.clipped)}.")
    if profile.clusters is not None:
        notes.append(
            f"Rows come in {profile.n_clusters:,} clusters: intervals, chance ranges and tests let the rows of a cluster depend on each "
            f"other. They say as much as about {profile.n_effective:,.0f} independent rows."
        )
        if profile.n_clusters < 30:
            notes.append("So few clusters (under 30) say little about how much their rows depend on each other: read intervals as rough.")
    elif profile.weighted:
        notes.append(f"Weighted rows: intervals and chance ranges use an effective number of {profile.n_effective:,.0f} rows.")
    return notes


def about_reduction(profile: Profile, known: Mapping[str, Precision] | None) -> list[str]:
    """What the numbers of a reduced profile are worth; nothing where they are those of the rows."""
    if known is None:
        return []
    ece, mass, kuiper = (known[k] for k in ("ece", "sweep.equal_mass", "cumulative.range"))
    here = "" if ece.kind == "exact" else f" The bins shown cut cells: their ECE is right within ±{_written(ece.within)}."
    exact = (
        f"From a reduced profile: {rows_text(profile.n)} in {len(profile):,} cells. ECE, MCE, debiased error, Brier score, log loss and "
        f"bins are exact with up to 100 bins of equal width.{here}"
    )
    others = (
        f"With equal-mass bins (any number up to 100) the ECE is right within ±{_written(mass.within)}; the Kuiper range is within "
        f"±{_written(kuiper.within)}. CORP, smooth ECE, logistic fits and chance ranges are approximate: they take the mean of a cell for "
        f"its rows, which lie {_written(within_cells(profile), 1)} from it on average."
    )
    return [exact, others]


def about_missing_rows(source: Predictions | Profile) -> list[str]:
    """What cannot be had of a model that is known from its profile alone."""
    if (isinstance(source, Profile) and not source.reduced) or (isinstance(source, Predictions) and source.has_rows):
        return []
    return [
        "Not available without the rows: pairing with another model, clusters, the rows behind a bin, errors by predicted class, remedies."
    ]


def _written(x: float | None, digits: int = 2) -> str:
    """A small bound with so many digits, rounded up, never as a power of ten."""
    if not x:
        return "0"
    places = digits - 1 - math.floor(math.log10(x))
    return np.format_float_positional(math.ceil(x * 10**places - 1e-9) / 10**places, precision=max(places, 0), trim="-")
