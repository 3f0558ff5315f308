"""What a reader of an analysis must know beside its numbers, one sentence each."""

from __future__ import annotations

import numpy as np

from calibcore.binned import BinnedStatistics
from calibcore.checks import rows_text
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.settings import Settings

__all__ = ["about_profile", "about_source"]


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
    if source.label is not None and source.n > 1 and np.count_nonzero(source.label_counts) == 1:
        notes.append(f"Every label is {source.classes[int(source.label[0])]}; the figures say little about other outcomes.")
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
