"""The list of shapes that become an ordinary table before its columns are read; a new shape is one more entry in ``SHAPES``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibcore.io.evidence import Evidence
from calibcore.io.long_form import long_form
from calibcore.io.one_hot import one_hot
from calibcore.io.same_words import label_in_index, predictions_in_other_words
from calibcore.io.signatures import fasttext, libsvm, modeler, orange, orange_header, tidymodels
from calibcore.io.weka import weka

if TYPE_CHECKING:
    from calibcore.io.columns import Table
    from calibcore.io.mapping import Mapping
    from calibcore.io.reshaped import Reshaped

__all__ = ["SHAPES", "Shape", "ordinary"]


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape: its name, what recognises it, and the step that makes an ordinary table of it (None: another shape)."""

    name: str
    evidence: str
    find: Callable[[Evidence], Reshaped | None]


SHAPES: tuple[Shape, ...] = (
    Shape("Orange's header rows", "types and flags such as continuous and meta in the first two rows", orange_header),
    Shape("Weka output", "a header inst# and cells such as 1:cat", weka),
    Shape("LIBSVM output", "a header labels 1 -1", libsvm),
    Shape("fastText output", "pairs of __label__c and a number", fasttext),
    Shape("SPSS Modeler output", "headers $L-T and $LP-T beside T", modeler),
    Shape("Orange predictions", "columns M and M (c) for each class c", orange),
    Shape("tidymodels predictions", "columns .pred_c, .row, .config and one more", tidymodels),
    Shape("one-hot labels", "0/1 columns, one of which is 1 in each row, named like the probabilities", one_hot),
    Shape("label in the index", "an index with classes in a data frame in which nothing else can be the label", label_in_index),
    Shape("predictions in other words", "1 and 0 beside a label of True and False or of yes and no", predictions_in_other_words),
    Shape("long form", "one row a case and class: probabilities that add up to 1 for each case", long_form),
)


def ordinary(table: Table, mapping: Mapping) -> tuple[Table, Mapping, tuple[str, ...]]:
    """A table with one row a case and one column a role, the mapping that fits it, and notes on what was done."""
    notes: tuple[str, ...] = ()
    for shape in SHAPES:
        found = shape.find(Evidence(table, mapping))
        if found is not None:
            notes += found.notes
            table, mapping = found.table, found.mapping
    return table, mapping, notes
