"""Profile files for tests, made from models whose rows are known."""

from __future__ import annotations

import functools

import numpy as np

import calibcore as cc
from calibcore.held import Held
from calibcore.inference.levels import group_levels
from calibcore.io.profile_file import profile_bytes
from calibcore.rowless import model_of


def profiles_of(model, *columns, views=None, reduced=True):
    """The model as a profile file holds it, with the groups of some columns."""
    kept = [v for v in (views or model.views) if not (v.startswith("class:") and "positive" in model.views)]

    def held(part, parts):
        profiles = {v: part.profile(v).to_reduced() if reduced else part.profile(v) for v in kept}
        known = {"name": model.name, "n_excluded": part.n_excluded, "source": model.source, "notes": model.notes}
        return model_of(Held(profiles, parts, part.label_counts), model.task, model.classes, **known)

    parts = {}
    for column in columns:
        levels = group_levels(model.groups[column])
        rows = [model.take(np.flatnonzero(levels.code == i)) for i in range(len(levels.names))]
        parts[column] = tuple((name, held(part, {})) for name, part in zip(levels.names, rows, strict=True))
    return held(model, parts)


def bytes_of(*models):
    """A profile file of models without rows."""
    return profile_bytes(models)


def draws(rows=3000, seed=0, slope=1.6):
    """Labels and probabilities of a model that is too sure where ``slope`` is above 1."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(size=rows) * 1.5
    return (rng.random(rows) < 1 / (1 + np.exp(-logit))).astype(int), 1 / (1 + np.exp(-slope * logit)), rng


def binary(name="credit", rows=3000, seed=0, slope=1.6, **more):
    """A binary model, by default with a site and an age of each row."""
    label, p, rng = draws(rows, seed, slope)
    groups = {"site": np.array(["north", "south", "west"])[rng.integers(0, 3, rows)], "age": rng.integers(18, 90, rows)}
    return cc.Predictions.from_arrays(label, p, groups=groups, name=name, **more)


def several(name="animals", classes=5, rows=2000, seed=1):
    """A model of several classes, too sure of each, with two wards."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(size=(rows, classes)) * 2
    claim, truth = (np.exp(s * logit) / np.exp(s * logit).sum(axis=1, keepdims=True) for s in (1.5, 1.0))
    label = (truth.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(0, classes - 1)
    names = [f"c{i}" for i in range(classes)]
    wards = {"ward": np.array(["a", "b"])[rng.integers(0, 2, rows)]}
    return cc.Predictions.from_arrays([names[i] for i in label], claim, classes=names, groups=wards, name=name)


def confidences(name="triage", rows=2000):
    """A model of which only the confidence in the predicted class is known."""
    label, p, rng = draws(rows, 2)
    groups = {"site": np.array(["north", "south"])[rng.integers(0, 2, rows)]}
    return cc.Predictions.from_top_label(np.maximum(p, 1 - p), (p > 0.5) == label, groups=groups, name=name)


MARKUP = "<script>alert(1)</script> **m**"


def marked_up():
    """A model whose names hold marks of HTML and of Markdown."""
    label, p, rng = draws(1000, 3)
    names = np.array(["<b>no</b>", "*yes*"])
    groups = {"<i>site</i>": np.array(["[a](b)", "$x$"])[rng.integers(0, 2, 1000)]}
    return cc.Predictions.from_arrays(names[label], p, classes=["<b>no</b>", "*yes*"], groups=groups, name=MARKUP)


KINDS = {
    "binary with groups": lambda: profiles_of(binary(), "site", "age"),
    "five classes": lambda: profiles_of(several(), "ward"),
    "thirty classes, top label only": lambda: profiles_of(several("thirty", 30), views=["top_label"]),
    "confidence only": lambda: profiles_of(confidences(), "site"),
    "weighted": lambda: profiles_of(binary("weighted", sample_weight=draws()[2].gamma(2, size=3000)), "site"),
    "float16, exact": lambda: profiles_of(
        cc.Predictions.from_arrays(draws()[0], draws()[1].astype(np.float16), name="half"), reduced=False
    ),
    "float64, exact": lambda: profiles_of(binary("whole"), "site", reduced=False),
    "positive class only": lambda: profiles_of(binary("positives"), "site", views=["positive"]),
    "one class only": lambda: profiles_of(several("one"), views=["class:c1"]),
    "names with markup": lambda: profiles_of(marked_up(), "<i>site</i>"),
}


@functools.cache
def file_of(kind):
    """The profile file of a kind."""
    return bytes_of(KINDS[kind]())
