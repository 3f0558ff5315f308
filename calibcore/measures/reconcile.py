"""Why two tools print different ECE for the same rows: each tool's rule applied to them, and what makes the difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.binned import bin_rows
from calibcore.checks import rows_text
from calibcore.measures.arrays import usual_view
from calibcore.measures.conventions import BY_RANK, LEFT_OUT, MANY, ONE, TWO, Convention, Outcome
from calibcore.partition import Partition, checked_bins
from calibcore.predictions import Predictions
from calibcore.profile import Profile

__all__ = ["Reconciled", "reconcile", "reconcile_predictions"]

Numbers = NDArray[Any]
Bins = NDArray[np.intp]

_SAME = 1e-11  # sums of a million rows in another order
_CLOSE = 5e-7  # values rounded to float32
_SHOWN = 3  # values at an edge that are written out
_OTHER = {"top_label": ("calibcore, P(positive)", "positive"), "positive": ("calibcore, predicted class", "top_label")}


class Reconciled(NamedTuple):
    """The ECE by one tool's rule; ``ece`` may be None, so look before formatting it.

    Attributes
    ----------
    tool : str
    ece : float or None
        None where the tool refuses these rows.
    why : str
        One sentence: what makes it differ from the first row, or that it does not.
    """

    tool: str
    ece: float | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return self._asdict()


def reconcile(
    y_true: Any, y_prob: Any, *, n_bins: int = 15, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> list[Reconciled]:
    """ECE of the same rows as other tools compute it, and why each differs.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, as in `Predictions.from_arrays`.
    y_prob : array-like of shape (n,) or (n, K)
        P(positive), or one column a class.
    n_bins : int
    classes : sequence, optional
        Class names in column order; for (n,): (other, positive).
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    list of Reconciled
        The first is `expected_calibration_error`; the others are compared with it.  Each is a named tuple
        ``(tool, ece, why)``; ``ece`` is None where a tool refuses these rows.

    Raises
    ------
    InputError
        For input that cannot be used.

    Notes
    -----
    Every rule is rebuilt here, not imported: edges, the side that is closed, what becomes of 0 and 1, the precision of
    sums, and whether P(positive) or the predicted class is judged.  Compared with scikit-learn 1.9.1, torchmetrics
    1.9.0 (PyTorch 2.14.1 on a processor with fused multiply-add; its edges differ in the last digit without),
    netcal 1.4.0, relplot 1.0.3 and uncertainty-calibration 0.1.4; other versions may differ.

    ``calibration_curve`` gives no ECE: it is made of its bins and their rows, and for several classes of the confidence
    and whether the prediction was right.  Rows that were left out, and values clipped to [0, 1], are so for every tool;
    torchmetrics itself would take values outside [0, 1] for logits.

    References
    ----------
    Guo et al. (2017), arXiv:1706.04599; Kumar, Liang & Ma (2019), arXiv:1909.10155.

    Examples
    --------
    >>> for row in reconcile([1, 0], [0.95, 1.0], n_bins=10):
    ...     if row.tool in ("calibcore", "torchmetrics (binary)"):
    ...         print(f"{row.ece:.4f} {row.why}")
    0.4750 P(positive) in 10 equal-width bins (a, b] with edges k/10, 2 rows.
    0.5250 1 row of exactly 1 forms an extra bin.
    """
    predictions = Predictions.from_arrays(y_true, y_prob, classes=classes, sample_weight=sample_weight)
    return reconcile_predictions(predictions, n_bins=n_bins, view=usual_view(y_prob))


def reconcile_predictions(predictions: Predictions, *, n_bins: int = 15, view: str = "top_label") -> list[Reconciled]:
    """`reconcile` of predictions, seen in a view.

    Parameters
    ----------
    predictions : Predictions
    n_bins : int
    view : str
        ``"top_label"``, ``"positive"`` or ``"class:<name>"``.  A tool that looks at another quantity keeps to it, and
        the row says so.

    Raises
    ------
    InputError
        If the model does not have this view.
    """
    return _Case(predictions, checked_bins(n_bins), view).rows()


class _Seen(NamedTuple):
    """The rows of one view and our own bins for them."""

    view: str
    value: Numbers
    event: NDArray[np.bool_]
    bins: Bins


class _Case:
    """One model in one view, with what its rows are compared with."""

    def __init__(self, predictions: Predictions, n_bins: int, view: str) -> None:
        self.predictions, self.n_bins, self.view = predictions, n_bins, view
        self.partition = Partition.equal_width(n_bins)
        self.seen: dict[str, _Seen] = {}
        self.ece = self.ours(self.of(view), self.partition)

    def of(self, view: str) -> _Seen:
        if view not in self.seen:
            value, event = self.predictions.rows(view)
            self.seen[view] = _Seen(view, value, event, self.partition.locate(value))
        return self.seen[view]

    def ours(self, seen: _Seen, partition: Partition) -> float:
        return bin_rows(partition, seen.value, seen.event, self.predictions.weight).ece

    def rows(self) -> list[Reconciled]:
        seen = self.of(self.view)
        found = [Reconciled("calibcore", self.ece, self.settings()), *self.variants(seen)]
        found += [self.row(c, self.of(view)) for c, view in self.conventions()]
        return found

    def settings(self) -> str:
        p, m = self.predictions, self.n_bins
        weights = "" if p.weight is None else ", weighted"
        return f"{self.name(self.view)} in {m} equal-width bins (a, b] with edges k/{m}, {rows_text(p.n)}{weights}."

    def name(self, view: str) -> str:
        """What a view judges."""
        if view == "top_label":
            return "Confidence in the predicted class"
        return "P(positive)" if view == "positive" else f"P({view.removeprefix('class:')})"

    # --- calibcore with one setting changed ---------------------------------------------------------------------------------

    def variants(self, seen: _Seen) -> list[Reconciled]:
        """Our own ECE with one setting changed at a time."""
        found = []
        if self.predictions.task == "binary" and self.view in _OTHER:
            tool, view = _OTHER[self.view]
            found.append(self.variant(tool, self.of(view), self.partition))
        found.append(self.variant("calibcore, bins [a, b)", seen, Partition.equal_width(self.n_bins, "left")))
        dtype = np.dtype(np.float32 if seen.value.dtype.itemsize > 4 else np.float64)
        found.append(self.variant(f"calibcore, {dtype.name}", seen._replace(value=seen.value.astype(dtype)), self.partition))
        found.append(self.equal_mass(seen))
        found.append(self.row(BY_RANK, seen))
        if self.predictions.weight is not None:
            ece = bin_rows(self.partition, seen.value, seen.event).ece
            found.append(Reconciled("calibcore, without weights", ece, self.sentence(ece, ["the weights are left out"])))
        return found

    def variant(self, tool: str, seen: _Seen, partition: Partition) -> Reconciled:
        ece = self.ours(seen, partition)
        moved = _moved(self.of(seen.view), partition.locate(seen.value), self.n_bins)
        rounding = [f"computed in {seen.value.dtype.name}"] if seen.value.dtype != self.of(seen.view).value.dtype and not moved else []
        return Reconciled(tool, ece, self.sentence(ece, [*self.quantity(seen.view), *moved, *rounding]))

    def equal_mass(self, seen: _Seen) -> Reconciled:
        made = Partition.equal_mass(self.profile(seen), self.n_bins)
        assert isinstance(made, Partition)
        used = "" if made.n_bins == self.n_bins else f" ({made.n_bins} of {self.n_bins} bins are left)"
        ece = self.ours(seen, made)
        return Reconciled("calibcore, equal mass", ece, self.sentence(ece, [f"bins of equally many rows, equal scores together{used}"]))

    def profile(self, seen: _Seen) -> Profile:
        return Profile.from_rows(seen.value, seen.event, weight=self.predictions.weight, view=seen.view)

    # --- the rules of others ------------------------------------------------------------------------------------------------

    def conventions(self) -> list[tuple[Convention, str]]:
        """What applies to these predictions, each with the view that it judges."""
        task, one_class = self.predictions.task, self.view.startswith("class:")
        if task == "top_label":
            return [(c, "top_label") for c in ONE]
        if task == "binary":
            single = self.view if one_class else "positive"
            return [*((c, single) for c in ONE), *((c, "top_label") for c in TWO)]
        return [(c, self.view) for c in ONE] if one_class else [(c, "top_label") for c in MANY]

    def row(self, convention: Convention, seen: _Seen) -> Reconciled:
        """One rule applied to one view, and what makes the difference."""
        refusal = self.refusal(convention)
        outcome = Outcome(None, remark=refusal) if refusal else convention.rule(seen.value, seen.event, self.n_bins)
        if outcome.ece is None:
            return Reconciled(convention.tool, None, f"No value: it {outcome.remark}.")
        weights = ["takes no weights"] if self.predictions.weight is not None else []
        clauses = [*self.quantity(seen.view), *weights, *([convention.about] if convention.about else [])]
        if convention.base == "width" and outcome.bins is not None:
            clauses += _moved(seen, outcome.bins, self.n_bins)
        clauses += _precision(outcome)
        clauses += [outcome.remark] if outcome.remark else []
        return Reconciled(convention.tool, outcome.ece, self.sentence(outcome.ece, clauses))

    def refusal(self, convention: Convention) -> str:
        """Why a package would not take these rows at all."""
        p = self.predictions
        if convention.tool.startswith("netcal") and p.task == "multiclass" and self.view == "top_label":
            occurring = int(np.count_nonzero(p.label_counts))
            if occurring <= 2:
                what = "one class occurs" if occurring == 1 else "two classes occur"
                return f"raises a RuntimeError, because only {what} among the labels while there are {len(p.classes)} columns"
        return ""

    def quantity(self, view: str) -> list[str]:
        """Whether another quantity is judged than in the first row."""
        return [] if view == self.view else [f"judges {_lower(self.name(view))}, not {_lower(self.name(self.view))}"]

    def sentence(self, ece: float, clauses: list[str]) -> str:
        """What is said of a value: the causes, and whether it comes out the same."""
        causes = "; ".join(clauses)
        off = abs(ece - self.ece)
        if off > _CLOSE:
            return f"{_upper(causes or 'sums rounded otherwise')}."
        if off > _SAME and not causes:
            return "Same to six decimals; the rest is rounding in float32."
        same = "Same value" if off <= _SAME else "Same to six decimals"
        if causes.startswith("computed in"):
            return f"{same}, {causes}."
        return f"{same}, although: {causes}." if causes else f"{same}."


def _moved(seen: _Seen, bins: Bins, n_bins: int) -> list[str]:
    """Which rows fall in other bins than ours, by where they go."""
    moved = bins != seen.bins
    if not moved.any():
        return []
    extra, dropped = moved & (bins == n_bins), moved & (bins == LEFT_OUT)
    rest = moved & ~extra & ~dropped
    clauses = []
    if extra.any():
        clauses.append(_ends(seen, extra, "forms an extra bin", "form an extra bin"))
    if dropped.any():
        clauses.append(_ends(seen, dropped, "belongs to no bin", "belong to no bin"))
    for side, rows in (("below", rest & (bins < seen.bins)), ("above", rest & (bins > seen.bins))):
        if rows.any():
            count = int(np.count_nonzero(rows))
            clauses.append(
                f"{rows_text(count)} at an edge ({_values(seen.value[rows])}) {'falls' if count == 1 else 'fall'} in the bin {side}"
            )
    return clauses


def _ends(seen: _Seen, rows: NDArray[np.bool_], one: str, many: str) -> str:
    count = int(np.count_nonzero(rows))
    return f"{rows_text(count)} of exactly {_values(seen.value[rows])} {one if count == 1 else many}"


def _values(values: Numbers) -> str:
    distinct = np.unique(values)
    shown = ", ".join(f"{float(v):.6g}" for v in distinct[:_SHOWN])
    return f"{shown}, …" if len(distinct) > _SHOWN else shown


def _precision(outcome: Outcome) -> list[str]:
    """Whether sums in single precision change the value."""
    assert outcome.ece is not None
    off = 0.0 if outcome.in_full is None else abs(outcome.ece - outcome.in_full)
    return [f"sums in float32 (off by {off:.1g})"] if off > _CLOSE and not outcome.remark else []


def _lower(text: str) -> str:
    return text if text.startswith("P(") else text[0].lower() + text[1:]


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]
