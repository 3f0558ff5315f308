"""The shared settings in the sidebar: bound to the address, kept from page to page, turned into `calibcore.Settings`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import streamlit as st

import calibcore as cc
from calibcore.errors import InputError
from calibcore.plot.counts import Counts
from calibcore.plot.reliability import Uncertainty
from calibcore.report.sizes import suggested_bins
from dashboard.problems import say
from dashboard.session import Model

__all__ = ["DEFAULTS", "Choice", "choose", "current"]

DEFAULTS: dict[str, object] = {
    "view": "Confidence",
    "bins": 15,
    "strategy": "Equal width",
    "edges": "0, 0.5, 0.7, 0.8, 0.9, 0.95, 1",
    "unc": "Band",
    "level": 95,
    "counts": "Share",
    "layout": "Automatic",
    "seed": 0,
    "closed": "Upper edge",
    # Of controls that stand on one page:
    "alone": False,
    "acting": False,
    "cost_error": None,
    "cost_review": None,
    "curve": False,
    "fix": "Suggested",
    "minrows": 50,
    "period": "Automatic",
    "t": 0.9,
    "tested": False,
}
_MOST_BINS = 50
_SUGGESTED = "About the cube root of the number of rows n: enough bins to see a shape, enough rows in each. From 5 to 50."
_STRATEGY: dict[str, Literal["equal_width", "equal_mass"]] = {"Equal width": "equal_width", "Equal mass": "equal_mass"}
_COUNTS: dict[str, Counts] = {"Share": "share", "Count": "count", "Log count": "log_count"}


@dataclass(frozen=True, slots=True)
class Choice:
    """What the sidebar says.

    Attributes
    ----------
    settings : Settings
        In the confidence view.
    view : str
        The view that was asked for; a model that lacks it is shown in the confidence view.
    n_bins : int
        The slider's number, also where custom edges are shown.
    """

    settings: cc.Settings
    view: str
    n_bins: int
    uncertainty: Uncertainty
    counts: Counts

    def for_model(self, model: Model) -> tuple[cc.Settings, str | None]:
        """Settings for a model, and a sentence where it lacks the view."""
        if self.view in model.predictions.views:
            return replace(self.settings, view=self.view), None
        there = model.predictions.views
        if "top_label" not in there:  # a profile of other views
            return replace(self.settings, view=there[0]), f"{model.name} is a profile without the chosen view; it is shown as {there[0]}."
        asked = "positive-class view" if self.view == "positive" else f"class {self.view.removeprefix('class:')}"
        return self.settings, f"{model.name} has no {asked}; it is shown in the Confidence view."


def current() -> Choice:
    """The settings of this run."""
    return cast(Choice, st.session_state["choice"])


def choose(models: Sequence[Model]) -> None:
    """Draw the controls, and keep what they say for the pages of this run."""
    st.subheader("Settings")
    view = _view(models)
    strategy = _segmented("Strategy", ["Equal width", "Equal mass", "Custom"], "strategy")
    custom = strategy == "Custom"
    n_bins = st.slider(
        "Bins", 2, _MOST_BINS, cast(int, DEFAULTS["bins"]), key="bins", disabled=custom, bind="query-params", persist_state="session"
    )
    if not custom:
        _suggested(models, n_bins)
    edges = _custom_edges() if custom else None
    uncertainty = _segmented("Uncertainty", ["Band", "Bars", "Both"], "unc")
    counts = _segmented("Counts", list(_COUNTS), "counts")
    level = st.selectbox("Level (%)", [80, 90, 95, 99], index=2, key="level", bind="query-params", persist_state="session")
    with st.expander("Advanced"):
        seed = st.number_input("Seed of the chance range", 0, 2**31 - 1, 0, key="seed", bind="query-params", persist_state="session")
        closed = _segmented("A bin includes its", ["Upper edge", "Lower edge"], "closed")
    st.button("Reset settings", on_click=_reset)
    settings = cc.Settings(
        n_bins=n_bins if edges is None else cast(int, DEFAULTS["bins"]),  # edges say how many there are, whatever the slider says
        strategy=_STRATEGY.get(strategy, "equal_width"),
        closed="right" if closed == "Upper edge" else "left",
        edges=edges,
        level=level / 100,
        seed=int(seed),
    )
    st.session_state["choice"] = Choice(settings, view, n_bins, cast(Uncertainty, uncertainty.lower()), _COUNTS[counts])


def _suggested(models: Sequence[Model], n_bins: int) -> None:
    """A link to the number of bins that suits the rows of the model that is looked at."""
    shown = next((m for m in models if m.name == st.session_state.get("model")), models[0])
    number = suggested_bins(shown.predictions.n)
    if number != n_bins:
        st.button(f"Suggested: {number}", key="suggested", type="tertiary", help=_SUGGESTED, on_click=_set_bins, args=(number,))
        st.caption("about the cube root of the rows")


def _set_bins(number: int) -> None:
    st.session_state["bins"] = number


def _segmented(label: str, options: list[str], key: str) -> str:
    chosen = st.segmented_control(
        label, options, default=DEFAULTS[key], required=True, key=key, bind="query-params", persist_state="session"
    )
    return cast(str, chosen)


def _view(models: Sequence[Model]) -> str:
    binary = any(m.predictions.task == "binary" for m in models)
    classes = list(dict.fromkeys(c for m in models if m.predictions.task != "top_label" for c in m.predictions.classes))
    options = ["Confidence", *(["Positive class"] if binary else []), *(["One class"] if classes else [])]
    if st.session_state.get("view") not in (None, *options):
        st.session_state["view"] = "Confidence"
    view = _segmented("View", options, "view")
    if view == "Positive class":
        return "positive"
    if view != "One class":
        return "top_label"
    if st.session_state.get("class") not in classes:
        st.session_state["class"] = classes[0]
    return f"class:{st.selectbox('Class', classes, key='class', persist_state='session')}"


def _custom_edges() -> tuple[float, ...] | None:
    """Edges as typed; None, with a sentence, where they are not edges."""
    if "edges" not in st.session_state:
        st.session_state["edges"] = DEFAULTS["edges"]
    typed = st.text_input("Edges from 0 to 1", key="edges", persist_state="session")
    try:
        return _parsed(typed)
    except InputError as error:
        say(error)
        st.caption("Until then the bins are of equal width.")
        return None


def _parsed(typed: str) -> tuple[float, ...]:
    try:
        edges = tuple(float(part) for part in typed.replace(";", ",").split(",") if part.strip())
    except ValueError:
        raise InputError("Edges must be numbers from 0 to 1 with commas between them, such as 0, 0.5, 1.") from None
    if len(edges) > _MOST_BINS + 1:
        raise InputError(f"These edges make {len(edges) - 1} bins; the page shows at most {_MOST_BINS}.")
    cc.Partition.from_edges(edges)
    return edges


def _reset() -> None:
    for key, value in DEFAULTS.items():
        st.session_state[key] = value
