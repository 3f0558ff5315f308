"""One model's predictions with their outcomes, validated once, and the views of them that can be judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from calibcore.beside import checked_agreement, checked_beside, clip_note, few_classes, sum_note
from calibcore.checks import (
    as_column,
    checked_flags,
    checked_labels,
    checked_probabilities,
    checked_row_sums,
    checked_weights,
    distinct_labels,
    name_text,
    rows_text,
    same_length,
    sorted_names,
    view_name,
)
from calibcore.classes import binary_labels, binary_names, named_labels, positive_last, view_column
from calibcore.clusters import cluster_codes
from calibcore.errors import InputError
from calibcore.held import Held
from calibcore.later import Later, Memo, as_kept, kept, puts_off
from calibcore.profile import Profile, Task
from calibcore.row_scores import brier_scores, log_losses
from calibcore.sides import profile_of
from calibcore.top_label import likeliest, tied_rows

__all__ = ["Predictions"]

Numbers = NDArray[Any]
T = TypeVar("T")
_BY_ROW = ("confidence", "correct", "row", "probabilities", "label", "predicted", "weight", "ids", "cluster", "time")


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Predictions of one model on rows with known outcomes.

    Make one with `from_arrays`, `from_top_label` or `calibcore.read`.

    Attributes
    ----------
    name : str
    task : {"binary", "multiclass", "top_label"}
    classes : tuple of str
        In column order; binary: (other, positive), so ½ predicts the other.  May be empty for "top_label".
    probabilities : array of shape (n, K), or None for "top_label"
    label : array of shape (n,), or None
        Class index of each row.
    confidence : array of shape (n,)
        Probability given to the predicted class.
    predicted : array of shape (n,), or None
        Class index; the smallest of the largest probabilities.
    correct : array of shape (n,), bool
    weight, ids : array of shape (n,), or None
    groups : dict of name to array of shape (n,)
    cluster : array of shape (n,), or None
        Which rows belong together (repeated rows of one event or subject): they are not independent.
    time : array of shape (n,), or None
        When each row happened, for calibration by period.
    row : array of shape (n,)
        1-based row in the source, since rows may have been left out.
    n_excluded : int
        Rows of the source that are not here; ``notes`` says why.
    source : dict
        File, SHA-256, layout and roles, where read from a file.
    notes : tuple of str
        What was done or is doubtful, one sentence each.
    held : Held, optional
        Of a model that is known from its profiles alone (`calibcore.rowless.model_of`): these.  Then no array by row can be read.
    """

    name: str
    task: Task
    classes: tuple[str, ...]
    confidence: Numbers
    correct: NDArray[np.bool_]
    row: NDArray[np.int64]
    probabilities: Numbers | None = None
    label: NDArray[np.intp] | None = None
    predicted: NDArray[np.intp] | None = None
    weight: NDArray[np.float64] | None = None
    ids: Numbers | None = None
    groups: Mapping[str, Numbers] = field(default_factory=dict)
    cluster: Numbers | None = None
    time: Numbers | None = None
    n_tied: int = 0
    n_excluded: int = 0
    source: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    held: Held | None = None
    _memo: Memo = field(default_factory=Memo, repr=False)

    def __repr__(self) -> str:
        known = "" if self.held is None else ", reduced" if self.held.reduced else ", without rows"
        return f"<Predictions of {self.name!r}: {self.task}, {rows_text(self.n)}{few_classes(self.classes)}{known}>"

    def __post_init__(self) -> None:
        for array in (*(kept(self, n) for n in _BY_ROW), *self.groups.values()):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @classmethod
    def from_arrays(  # noqa: PLR0913 - what rows can carry
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        classes: Sequence[Any] | None = None,
        positive: Any = None,
        sample_weight: Any = None,
        groups: Mapping[str, Any] | None = None,
        ids: Any = None,
        cluster: Any = None,
        time: Any = None,
        name: str | None = None,
    ) -> Predictions:
        """Predictions from arrays; anything that converts to a NumPy array is taken.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.  With ``classes`` these are names; without, class indices 0..K−1 or exactly K different names.
        y_prob : array-like of shape (n,) or (n, K)
            P(positive), or one column a class.
        classes : sequence, optional
            Names in column order; for (n,): (other, positive).
        positive : optional
            Name of the positive class of two.
        sample_weight : array-like of shape (n,), optional
            Not negative; only ratios matter.  Rows of weight 0 are left out.
        groups : mapping of name to array-like of shape (n,), optional
        ids : array-like of shape (n,), optional
        cluster : array-like of shape (n,), optional
            Rows with the same value belong together; intervals and tests treat clusters, not rows, as independent.
        time : array-like of shape (n,), optional
            When each row happened.
        name : str, optional

        Raises
        ------
        InputError
            For values outside [0, 1], missing values, rows that do not add up to 1, labels without a column,
            negative weights: with row, value and what to do.

        Examples
        --------
        >>> p = Predictions.from_arrays(["cat", "dog"], [[0.9, 0.1], [0.4, 0.6]], classes=["cat", "dog"])
        >>> p.task, p.classes, p.correct.tolist()
        ('binary', ('cat', 'dog'), [True, True])
        """
        probabilities, clipped = checked_probabilities(y_prob)
        if probabilities.ndim == 2 and probabilities.shape[1] == 1:
            probabilities = probabilities[:, 0]
        y_true = as_column(y_true, "labels")
        same_length(y_true, len(probabilities), "labels")
        if probabilities.ndim == 1:
            names = binary_names(y_true, probabilities, classes, positive)
            label = binary_labels(y_true, names, named=classes is not None or positive is not None)
            matrix, sums = probabilities.copy(), (0, 0.0)
        else:
            names, label = named_labels(y_true, probabilities.shape[1], classes)
            sums = checked_row_sums(probabilities)
            matrix, names, label = positive_last(probabilities.copy(), names, label, positive)
        return cls.from_matrix(
            label,
            matrix,
            tuple(names),
            notes=(*clip_note(clipped), *sum_note(*sums)),
            weight=sample_weight,
            groups=groups,
            ids=ids,
            cluster=cluster,
            time=time,
            name=name,
        )

    @classmethod
    def from_matrix(  # noqa: PLR0913 - what rows can carry
        cls,
        label: NDArray[np.integer[Any]],
        matrix: Numbers,
        classes: tuple[str, ...],
        *,
        notes: Sequence[str] = (),
        weight: Any = None,
        groups: Mapping[str, Any] | None = None,
        ids: Any = None,
        cluster: Any = None,
        time: Any = None,
        name: str | None = None,
        row: NDArray[np.int64] | None = None,
        n_excluded: int = 0,
        source: Mapping[str, Any] | None = None,
    ) -> Predictions:
        """Predictions from class indices and checked probabilities: a matrix, shape (n, K), or P(positive), shape (n,)."""
        n = len(label)
        beside = checked_beside(n, ids, groups or {}, cluster, time)
        return cls(
            name=name or "model",
            task="binary" if len(classes) == 2 else "multiclass",
            classes=classes,
            row=Later(n, lambda: np.arange(1, n + 1)) if row is None else row,  # type: ignore[arg-type]
            weight=None if weight is None else checked_weights(weight, n),
            **likeliest(label, matrix),
            **dict(zip(("ids", "groups", "cluster", "time"), beside, strict=True)),  # type: ignore[arg-type]
            n_excluded=n_excluded,
            source=dict(source or {}),
            notes=tuple(notes),
        ).without_zero_weights()

    @classmethod
    def from_top_label(  # noqa: PLR0913 - what rows can carry
        cls,
        confidence: Any,
        correct: Any,
        *,
        label: Any = None,
        predicted: Any = None,
        classes: Sequence[Any] | None = None,
        sample_weight: Any = None,
        groups: Mapping[str, Any] | None = None,
        ids: Any = None,
        cluster: Any = None,
        time: Any = None,
        name: str | None = None,
        notes: Sequence[str] = (),
        row: NDArray[np.int64] | None = None,
        n_excluded: int = 0,
        source: Mapping[str, Any] | None = None,
    ) -> Predictions:
        """Predictions of which only the confidence in the predicted class is known.

        Parameters
        ----------
        confidence : array-like of shape (n,)
            Probability that the model gave to the class it predicted.
        correct : array-like of shape (n,)
            Whether that class was right: booleans, 0/1 or −1/1.
        label, predicted : array-like of shape (n,), optional
            Names of the true and the predicted class, for display.
        classes : sequence, optional
            Names of all classes; by default those that occur in ``label`` and ``predicted``.

        Examples
        --------
        >>> Predictions.from_top_label([0.9, 0.6], [1, 0]).task
        'top_label'
        """
        values, clipped = checked_probabilities(confidence, "confidences")
        if values.ndim == 2:
            raise InputError(f"Confidences need one number a row, not {values.shape[1]}.")
        right = checked_flags(correct, "outcomes (correct or not)")
        for what, side in (("outcomes", right), ("labels", label), ("predicted classes", predicted)):
            if side is not None:
                same_length(side, len(values), what)
        occurring = [d for side in (label, predicted) if side is not None for d in distinct_labels(side)]
        names = tuple(name_text(c) for c in classes) if classes is not None else tuple(sorted_names(occurring))
        true = None if label is None else checked_labels(label, names)
        said = None if predicted is None else checked_labels(predicted, names, "predicted class")
        checked_agreement(right, true, said)
        return cls(
            name or "model",
            "top_label",
            names,
            values.copy(),
            right.copy(),
            np.arange(1, len(values) + 1) if row is None else row,
            None,
            true,
            said,
            None if sample_weight is None else checked_weights(sample_weight, len(values)),
            *checked_beside(len(values), ids, groups or {}, cluster, time),
            0,
            n_excluded,
            dict(source or {}),
            (*notes, *clip_note(clipped)),
        ).without_zero_weights()

    def without_zero_weights(self) -> Predictions:
        """Without the rows of weight 0, which count for nothing; said in a note."""
        rest, notes = self, list(self.notes)
        if self.weight is not None and not self.weight.all():
            rest = self.take(np.flatnonzero(self.weight))
            notes.append(f"{rows_text(self.n - rest.n)} of weight 0 left out.")
        if alone := rest.clusters_and_alone()[1]:
            notes.append(f"{rows_text(alone)} without a cluster: each counts as one of its own.")
        return rest.but(n_excluded=self.n_excluded + self.n - rest.n, notes=tuple(notes)) if len(notes) > len(self.notes) else rest

    def take(self, rows: NDArray[np.intp]) -> Predictions:
        """The same model on some of its rows, by 0-based position."""
        parts: dict[str, Any] = {k: None if (v := getattr(self, k)) is None else v[rows] for k in _BY_ROW}
        tied = 0 if parts["probabilities"] is None else tied_rows(parts["probabilities"], parts["confidence"])
        return replace(self, **parts, groups={k: v[rows] for k, v in self.groups.items()}, n_tied=tied, _memo=Memo())

    def but(self, **changes: Any) -> Predictions:
        """The same rows with other fields and nothing remembered of the old ones; what was put off stays so."""
        return Predictions(**{**as_kept(self), "_memo": Memo(), **changes})

    @property
    def n(self) -> int:
        """Rows used."""
        return len(kept(self, "confidence"))

    @property
    def cluster_code(self) -> NDArray[np.intp] | None:
        """Number of each row's cluster, from 0; None without clusters, or where every row is one of its own."""
        return self.clusters_and_alone()[0]

    def clusters_and_alone(self) -> tuple[NDArray[np.intp] | None, int]:
        """The numbers of the clusters, and how many rows have none."""
        c = self.cluster
        return self.remember("clusters", lambda: (None, 0) if c is None or not len(c) else cluster_codes(c))

    @property
    def label_counts(self) -> NDArray[np.intp]:
        """Rows of each class, shape (K,); zeros where labels are not known."""
        none = np.zeros(len(self.classes), dtype=np.intp) if self.held is None else self.held.label_counts
        return self.remember("label counts", lambda: none if self.label is None else np.bincount(self.label, minlength=len(none)))

    @property
    def has_rows(self) -> bool:
        """Whether the rows are there, not their profiles alone."""
        return self.held is None

    @property
    def every_class(self) -> bool:
        """Whether each class can be judged against the rest."""
        if self.held is not None:
            return self.held.every_class(self.classes)
        return self.label is not None and self.task != "top_label"

    @property
    def positive_class(self) -> str | None:
        """Name of the positive class of a binary model, where both classes are known."""
        return self.classes[1] if self.task == "binary" and len(self.classes) == 2 else None

    @property
    def views(self) -> tuple[str, ...]:
        """The views that can be judged, as `profile` takes them."""
        if self.held is not None:
            return self.held.views(self.task, self.classes)
        if self.task == "top_label":
            return ("top_label",)
        one = tuple(f"class:{c}" for c in self.classes)
        return ("top_label", "positive", *one) if self.task == "binary" else ("top_label", *one)

    def remember(self, key: str, make: Callable[[], T]) -> T:
        """``make()`` once per object; afterwards the same result."""
        return self._memo.once(key, make)

    def rows(self, view: str = "top_label") -> tuple[Numbers, NDArray[np.bool_]]:
        """What a view compares, row by row: the probability and whether the event happened; two arrays (n,)."""
        view = view_name(view)
        if view == "top_label" or self.held is not None:
            return self.confidence, self.correct
        column = view_column(view, self.classes, self.views, self.name)
        assert self.probabilities is not None
        return self.probabilities[:, column], np.asarray(self.label == column)

    def profile(self, view: str = "top_label") -> Profile:
        """Sorted cells of a view: ``"top_label"``, ``"positive"`` (binary) or ``"class:<name>"``.

        Raises
        ------
        InputError
            If the model does not have this view.
        """
        return self.remember(f"profile {view_name(view)}", lambda: profile_of(self, view_name(view)))

    def row_scores(self, view: str = "top_label") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Brier score and log loss (nats) of each row, two arrays of shape (n,).

        Binary: (P(positive) − y)², scale 0 to 1, in every view.  K ≥ 3: sum over classes, 0 to 2, in the top-label
        view.  One class, or confidences only: the score of that probability for its event, 0 to 1.  Log loss:
        −log of the probability of what happened, raised to 2⁻⁵² where it is smaller.
        """
        return brier_scores(self, view_name(view)), log_losses(self, view_name(view))


puts_off(Predictions, ("confidence", "correct", "row", "probabilities", "label", "predicted", "ids"))
