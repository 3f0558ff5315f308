"""Acting at a threshold in words: how many rows, which errors to expect, which were found, and what they cost."""

from __future__ import annotations

from calibcore.advice.verdict import percent
from calibcore.analysis import Analysis
from calibcore.checks import rows_text
from calibcore.measures.decisions import Cost, Side, ThresholdPanel
from calibcore.plot.frame import clustered, weighted
from calibcore.plot.wording import FEW_ROWS
from calibcore.report.naming import event_name, short_name
from calibcore.report.tables import NONE, plain, share_text
from calibcore.report.words import Caveat, Number, event_of

__all__ = [
    "ACT_ON",
    "act_caveats",
    "act_headline",
    "act_lines",
    "act_numbers",
    "acting_lines",
    "acting_notes",
    "both_costs",
    "cost_label",
    "cost_lines",
    "missed_line",
    "money",
    "panel_of",
    "probability_of",
    "rule",
    "whole",
]

ACT_ON = "Act on"  # the control beside the threshold, which sets the view
_FEW = 10  # errors below which an expectation keeps a decimal
_LARGE, _CENTS = 1000, 0.1  # amounts from which on there are no decimals, and two
_ROUNDING = 1e-6
_LEAST = 0.05  # what would read 0.0


def panel_of(a: Analysis) -> ThresholdPanel | None:
    """The threshold's panel of an analysis; None where its settings name no threshold."""
    panel: ThresholdPanel | None = a.measures["threshold"]
    return panel


def both_costs(error: float | None, review: float | None) -> tuple[float | None, float | None, str | None]:
    """Both costs, or none of them and a sentence on the missing one."""
    if (error is None) == (review is None):
        return error, review, None
    missing = "reviewing a row" if review is None else "an error"
    return None, None, f"A cost needs both figures: say also what {missing} costs."


def cost_label(view: str, event: str | None = None) -> tuple[str, str | None]:
    """What the cost of an error is called in a view, and what it is; ``event`` names the class that is acted on."""
    if view == "top_label":
        return "Cost of an error (optional)", None
    name = f"“{event}”" if event else "the event"
    return (
        "Cost of a false alarm (optional)",
        f"Of acting on a row that is not {name}. Missing one that is costs nothing beyond its review here.",
    )


def probability_of(event: str) -> str:
    """How the probability of a class is written: "P(churned)"."""
    return f"P({short_name(event)})"


def rule(a: Analysis) -> str:
    """Which rows are acted on, with the class that is meant: "P(churned) above 0.3", "confidence above 0.9".

    Parameters
    ----------
    a : Analysis
        With a threshold in its settings.
    """
    event, said = event_of(a), _given(a).rule
    return said if event is None else said.replace("probability", probability_of(event), 1)


def acting_notes(a: Analysis, instead: str | None = None) -> tuple[str, ...]:
    """What is acted on, where that may not be what was meant: in the confidence view of two classes, and below an even guess.

    Parameters
    ----------
    a : Analysis
        With a threshold in its settings.
    instead : str, optional
        What to choose for the positive class; without it only that this is not judged.

    Examples
    --------
    >>> from calibcore import Predictions, Settings, analyze
    >>> p = Predictions.from_arrays(["a", "b", "b", "a"], [0.9, 0.2, 0.6, 0.4], classes=["a", "b"])
    >>> for line in acting_notes(analyze(p, Settings(threshold=0.3)), "--view positive judges P(b)"):
    ...     print(line)
    The threshold is one of the probability of the predicted class, whichever it is; --view positive judges P(b).
    Of 2 classes the predicted one always has at least 1/2, so a threshold of 0.3 acts on every row by construction.
    """
    panel, found = _given(a), list[str]()
    if panel.view != "top_label":
        return ()
    if a.task == "binary":
        but = f"; {instead}" if instead else f", not of {probability_of(a.positive_class or 'positive')}"
        found.append(f"The threshold is one of the probability of the predicted class, whichever it is{but}.")
    k = len(a.classes)
    ties = k > 0 and panel.threshold == 1 / k and panel.closed == "right"
    if k and panel.threshold <= 1 / k and (ties or not panel.below.count):
        does = "leaves out ties at most" if ties else "acts on every row by construction"
        found.append(f"Of {k} classes the predicted one always has at least 1/{k}, so a threshold of {panel.threshold:g} {does}.")
    return tuple(found)


def act_headline(a: Analysis) -> str:
    """Threshold, errors expected and errors found, in one line.

    Parameters
    ----------
    a : Analysis
        With a threshold in its settings.
    """
    panel = _given(a)
    if not panel.acted.count:
        return f"{plain(a.name)}: no row with {rule(a)}"
    expected, found = _both(a, panel.acted)
    acted = f", {rule(a)}" if event_of(a) else ""
    return f"{plain(a.name)}{acted}: {expected} {panel.errors[0] if expected != '1' else _one(panel.errors[0])} expected, {found} found"


def act_lines(a: Analysis) -> tuple[str, ...]:
    """Rows acted on, errors expected and found in frequencies, and whether chance explains the difference; then the other rows.

    Parameters
    ----------
    a : Analysis
        With a threshold in its settings.

    Examples
    --------
    >>> from calibcore import Predictions, Settings, analyze
    >>> right = [1] * 35 + [0] * 15 + [1] * 25 + [0] * 25
    >>> a = analyze(Predictions.from_top_label([0.9] * 50 + [0.5] * 50, right), Settings(threshold=0.8))
    >>> print(act_lines(a)[0])
    Of 50 rows with confidence above 0.8 the model expects 5.0 wrong predictions; 15 were found.
    """
    panel = _given(a)
    if not panel.acted.count:
        return (f"No row has {'' if event_of(a) else 'a '}{rule(a)}, so nothing is acted on. {missed_line(a)}",)
    acted, level = panel.acted, a.settings.level
    few = f" These are few rows: below {FEW_ROWS}, chance rules." if acted.count < FEW_ROWS else ""
    judged = _judged(acted, level, by_weight=weighted(a))
    return (f"{_frequencies(a, panel)}{few}", f"{_rates(acted, level)} {judged}", missed_line(a))


def acting_lines(a: Analysis) -> tuple[str, ...]:
    """The same for one page, in fewer words: the rows acted on among all, and what their share of errors says.

    Parameters
    ----------
    a : Analysis
        With a threshold in its settings.
    """
    panel = _given(a)
    if not panel.acted.count:
        return act_lines(a)
    coverage = f"{percent(panel.coverage)}{' of their weight' if weighted(a) else ''}"
    acted = f"Whoever acts on every row with {rule(a)} acts on {panel.acted.count:,} of {rows_text(a.n)} ({coverage})."
    missed = (missed_line(a),) if event_of(a) is not None else ()
    return (f"{acted} {_frequencies(a, panel, rows='these')}", act_lines(a)[1], *missed)


def _given(a: Analysis) -> ThresholdPanel:
    panel = panel_of(a)
    assert panel is not None, "the settings name no threshold"
    return panel


def _frequencies(a: Analysis, panel: ThresholdPanel, *, rows: str = "") -> str:
    """Errors expected and found among the rows acted on, which are counted and described unless ``rows`` names them."""
    side, errors = panel.acted, panel.errors[0]
    expected, found = _both(a, side)
    what = _one(errors) if expected == "1" else errors
    by_weight = " (weighted)" if weighted(a) else ""
    of = rows or f"{rows_text(side.count)}{by_weight} with {rule(a)}"
    are = f" (rows that are not “{event_name(a)}”)" if event_of(a) else ""
    return f"Of {of} the model expects {expected} {what}{are}; {found} {'was' if found == '1' else 'were'} found."


def _rates(side: Side, level: float) -> str:
    low, high = side.interval(level)
    rate, claimed = _per_100(side.rate_found), _per_100(side.rate_expected)
    interval = f"{percent(level)} interval {_per_100(low)} to {_per_100(high)}"
    return f"That is {rate} in 100 rows acted on ({interval}); the model itself expects {claimed} in 100."


def _judged(side: Side, level: float, *, by_weight: bool) -> str:
    low, high = side.expected_range(level)
    assert low is not None
    assert high is not None
    assert side.rate_found is not None
    outside = "more" if side.rate_found > high else "fewer" if side.rate_found < low else ""
    calibrated = f"{share_text(low)} to {share_text(high)}" if by_weight else f"{whole(low * side.weight)} to {whole(high * side.weight)}"
    shown = f"a calibrated model would show {calibrated} here ({percent(level)})"
    if outside:
        return f"These are {outside} than chance explains: {shown}."
    return f"Chance alone can give that: {shown}. It does not prove the claim."


def missed_line(a: Analysis) -> str:
    """The rows that are not acted on, and the errors among them: of the positive class, those that are missed.

    Parameters
    ----------
    a : Analysis
        With a threshold in its settings.
    """
    panel = _given(a)
    side, errors = panel.below, panel.errors[1]
    if not side.count:
        return "No row is left to review."
    expected, found = _both(a, side)
    would = "found" if event_of(a) else "would have been found"
    are = f" (rows that are “{event_name(a)}”)" if event_of(a) else ""
    rows = f"{rows_text(side.count)} {'is' if side.count == 1 else 'are'} not acted on"
    return f"{rows}; {errors} among them{are}: {expected} expected, {found} {would}."


def act_numbers(a: Analysis) -> tuple[Number, ...]:
    """Rows acted on, errors expected and found, and cost, each with what it must be read beside.

    Parameters
    ----------
    a : Analysis
        With a threshold in its settings.
    """
    panel, level = _given(a), a.settings.level
    side, errors = panel.acted, panel.errors[0].capitalize()
    found = [Number("Acted on", rows_text(side.count), f"{percent(panel.coverage)} of all rows (coverage)")]
    if side.count:
        expected, counted = _both(a, side)
        low, high = side.expected_range(level)
        found.append(Number(f"{errors} expected", expected, f"{share_text(side.rate_expected)}; if calibrated {_between(low, high)}"))
        low, high = side.interval(level)
        found.append(Number(f"{errors} found", counted, f"{share_text(side.rate_found)}; {percent(level)} interval {_between(low, high)}"))
    if event_of(a) and panel.below.count:
        expected, missed = _both(a, panel.below)
        found.append(Number("Missed events", missed, f"{expected} expected; “{event_name(a)}”, not acted on"))
    if panel.cost is not None:
        cost = panel.cost
        found.append(Number("Cost found", money(cost.found), f"expected {money(cost.expected)}"))
        right = "were the probabilities right" if _doubtful(a) else "if the probabilities are right"
        found.append(Number("Break-even", NONE if cost.break_even is None else f"{cost.break_even:.4g}", right))
    return tuple(found)


def cost_lines(a: Analysis) -> tuple[str, ...]:
    """The cost in these rows and by the model's claims, and where acting begins to pay; nothing without costs.

    Parameters
    ----------
    a : Analysis
        With a threshold in its settings.
    """
    panel = _given(a)
    cost = panel.cost
    if cost is None:
        return ()
    error = "an error" if panel.view == "top_label" else "a false alarm"
    prices = f"At {money(cost.error)} {error} and {money(cost.review)} a review"
    spent = f"acting at this threshold and reviewing the rest costs {money(cost.found)} in these rows ({money(cost.per_row_found)} a row)"
    return (
        f"{prices}, {spent}; the model expects {money(cost.expected)} ({money(cost.per_row_expected)} a row).",
        _pays(a, cost),
        *_free(a),
    )


def _free(a: Analysis) -> tuple[str, ...]:
    """That missed events cost nothing, where there are any."""
    below = _given(a).below
    if event_of(a) is None or not (below.errors_found or below.errors_expected):
        return ()
    missed = f"Missing a row that is “{event_name(a)}” costs nothing beyond its review here"
    return (f"{missed}; where that is the dearer error, these costs cannot choose a threshold.",)


def _doubtful(a: Analysis) -> bool:
    """Whether these rows show that the probabilities are not right."""
    return a.verdict.level not in ("V0", "V1")


def _pays(a: Analysis, cost: Cost) -> str:
    """From which score on acting costs less than a review, and which figures to go by."""
    if cost.break_even is None:
        return "Errors cost nothing here, so reviewing never pays."
    if cost.break_even == 0:
        return "A review costs as much as an error or more, so reviewing never pays."
    threshold, event = _given(a).threshold, event_of(a)
    score = "the confidence" if event is None else probability_of(event)
    place = "above that" if threshold > cost.break_even else "below that" if threshold < cost.break_even else "just that"
    where = f"acting on a row costs less than reviewing it where {score} is above {cost.break_even:.4g}; your threshold is {place}"
    if _doubtful(a):
        return f"By the model's figures, {where}. These rows show that its figures are off, so go by the costs found."
    return f"If the model's figures are right, {where}."


def act_caveats(a: Analysis) -> tuple[Caveat, ...]:
    """What must be read beside a threshold.

    Parameters
    ----------
    a : Analysis
        With a threshold in its settings.
    """
    chosen = "The threshold with the fewest errors here will on average have more of them in other rows: part of its success is luck."
    found = [
        Caveat("A threshold chosen on these rows needs other rows to confirm it.", chosen),
        Caveat("Holds for cases like these.", "Later cases, or cases of another kind, can have other errors at the same threshold."),
    ]
    if not clustered(a):
        why = "Repeated rows of one person or event make the true intervals wider; a cluster column accounts for them."
        found.append(Caveat("Intervals assume independent rows.", why))
    if a.task == "binary" and a.view == "top_label":
        meant = probability_of(a.positive_class or "positive")
        why = f"Choose {meant} under {ACT_ON} to act on rows where that is high; an error is then a false alarm."
        found.insert(0, Caveat("Here an error is a wrong prediction, of either class.", why))
    return tuple(found)


def _both(a: Analysis, side: Side) -> tuple[str, str]:
    """Errors expected and found: numbers of rows, or shares where rows are weighted."""
    if weighted(a):
        return share_text(side.rate_expected), share_text(side.rate_found)
    return _amount(side.errors_expected), f"{side.errors_found:,.0f}"


def whole(x: float) -> str:
    """A number of errors: whole where rows are independent, an expected number where they count for fewer."""
    return f"{x:,.0f}" if abs(x - round(x)) < _ROUNDING else _amount(x)


def _amount(x: float) -> str:
    """An expected number: whole from 10 up, below with a decimal."""
    if round(x, 1) >= _FEW or x == 0:
        return f"{x:,.0f}"
    return "under 0.1" if x < _LEAST else f"{x:.1f}"


def _per_100(rate: float | None) -> str:
    return NONE if rate is None else share_text(rate).removesuffix("%")


def _between(low: float | None, high: float | None) -> str:
    return f"{_per_100(low)} to {share_text(high)}"


def money(x: float) -> str:
    """An amount: large ones whole, small ones with two digits, others with two decimals where there are any."""
    if x == 0 or x >= _LARGE:
        return f"{x:,.0f}"
    return f"{x:,.2f}".removesuffix(".00") if x >= _CENTS else f"{x:.2g}"


def _one(errors: str) -> str:
    return errors.removesuffix("s")
