"""What one session holds: the files that were read, the models in them, and the results computed so far."""

from __future__ import annotations

import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import streamlit as st

import calibcore as cc
from calibcore.errors import AmbiguousLayout, InputError, Question
from calibcore.io import belonging, inspect_bytes, read_bytes
from calibcore.report.rows import BinRows, rows_in
from calibcore.report.tables import count_text
from dashboard.assets import sample_paths
from dashboard.launch import OPENED

__all__ = ["File", "Model", "State", "analyse", "bin_rows", "compare", "load", "model_named", "models", "state"]

T = TypeVar("T")
Content = Callable[[], bytes | Sequence[tuple[str, bytes]]]
_RESULTS = 256  # results kept in a session; each is small, since no result holds rows


@dataclass(frozen=True, slots=True)
class File:
    """One file as it was read: its models, or why there are none.

    Attributes
    ----------
    key : str
        SHA-256 of the bytes.
    read_as : str
        One line on the roles of the columns.
    answers : str
        The answers it was read with, as JSON; other answers make other models.
    readable : bool
        Whether a refused file holds a table, which other answers may make sense of.
    """

    name: str
    key: str
    predictions: tuple[cc.Predictions, ...] = ()
    read_as: str = ""
    error: str = ""
    questions: tuple[Question, ...] = ()
    answers: str = ""
    readable: bool = False


@dataclass(frozen=True, slots=True)
class Model:
    """A model under the name it has in this session, and the key of what it was read from."""

    key: Hashable
    predictions: cc.Predictions

    @property
    def name(self) -> str:
        """The name that is shown."""
        return self.predictions.name


@dataclass(slots=True)
class State:
    """Everything of one session; nothing of it is shared with another.

    Attributes
    ----------
    hashes : dict
        SHA-256 of an upload by its id, so that bytes are hashed once.
    files : dict
        Files by SHA-256, name and answers, so that bytes are read once.
    answers : dict
        Answers to a file's questions, by SHA-256.
    results : dict
        The most recently used results.
    joined : dict
        What gives the bytes of files that belong together, by their common key.
    kept_range : tuple of float, optional
        Edges of the bin that is looked at: a range of confidences, so that it survives other settings.
    """

    hashes: dict[str, str] = field(default_factory=dict)
    files: dict[Hashable, File] = field(default_factory=dict)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    results: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    shown: tuple[Model, ...] = ()
    samples: bool = True
    joined: dict[str, Content] = field(default_factory=dict)
    kept_range: tuple[float, float] | None = None
    range_lost: bool = False
    asked: set[str] = field(default_factory=set)

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """``make()`` once per key; the least recently used results are dropped."""
        if key in self.results:
            self.results.move_to_end(key)
        else:
            self.results[key] = make()
            while len(self.results) > _RESULTS:
                self.results.popitem(last=False)
        return cast(T, self.results[key])


def state() -> State:
    """The state of this session."""
    if "calibcore" not in st.session_state:
        st.session_state["calibcore"] = State()
    return cast(State, st.session_state["calibcore"])


def load(uploads: Sequence[Any]) -> list[File]:
    """Read what was uploaded; without uploads, the files the server was started with or the samples.

    Parameters
    ----------
    uploads : sequence of uploaded files
        As the uploader gives them.

    Returns
    -------
    list of File
        Each was read by itself, so a faulty one keeps no other from being shown; predictions without labels and the file that
        holds them are one.
    """
    here = state()
    given = _given_paths()
    here.samples = not uploads and not given
    paths = [] if uploads else given or sample_paths()
    alone = [_uploaded(here, u) for u in uploads] if uploads else [_opened(here, path) for path in paths]
    files = _together(here, alone, [u.getvalue for u in uploads] or [path.read_bytes for path in paths])
    here.shown = _models(files)
    _forget(here, {u.file_id for u in uploads}, {f.key for f in (*alone, *files)})
    return files


def models() -> tuple[Model, ...]:
    """The models of this run, each with its own name."""
    return state().shown


def model_named(name: str) -> Model:
    """The model with that name."""
    return next(m for m in models() if m.name == name)


def analyse(model: Model, settings: cc.Settings) -> cc.Analysis:
    """`calibcore.analyze`, once per model and settings."""
    return state().remember(("analysis", model.key, model.name, settings), lambda: cc.analyze(model.predictions, settings))


def compare(chosen: Sequence[Model], settings: cc.Settings, baseline: str) -> cc.Comparison:
    """`calibcore.compare`, once per choice of models, settings and baseline."""
    key = ("comparison", tuple((m.key, m.name) for m in chosen), settings, baseline)
    return state().remember(key, lambda: cc.compare([m.predictions for m in chosen], settings, baseline=baseline))


def bin_rows(model: Model, settings: cc.Settings, lower: float, upper: float) -> BinRows:
    """Rows of a bin, once per bin."""
    key = ("rows", model.key, settings, lower, upper)
    return state().remember(key, lambda: rows_in(model.predictions, settings, lower, upper))


def _given_paths() -> list[Path]:
    return [Path(p) for p in json.loads(os.environ.get(OPENED, "[]"))]


def _uploaded(here: State, upload: Any) -> File:
    if upload.file_id not in here.hashes:
        here.hashes[upload.file_id] = hashlib.sha256(upload.getbuffer()).hexdigest()
    return _read(here, upload.name, here.hashes[upload.file_id], upload.getvalue)


def _opened(here: State, path: Path) -> File:
    """A file on the server, read again only when it changes; its models are shared, since they are nobody's upload."""
    try:
        about = path.stat()
        answers = json.dumps(here.answers.get(str(path), {}))
        return _opened_once(str(path), (about.st_mtime_ns, about.st_size), answers)
    except OSError as error:
        return File(path.name, str(path), error=f"{path.name} cannot be read: {error.strerror}.")


@st.cache_resource(show_spinner=False, max_entries=64)
def _opened_once(path: str, stamp: tuple[int, int], answers: str) -> File:
    del stamp  # part of the key only
    where = Path(path)
    return _file(where.name, path, where.read_bytes, json.loads(answers))


def _together(here: State, files: list[File], data: list[Callable[[], bytes]]) -> list[File]:
    """Files as they are read together: looked for only where one of several could not be read by itself."""
    here.joined = {}
    if len(files) < 2 or all(f.predictions for f in files):
        return files
    key = ("together", *((f.key, f.name) for f in files))
    try:
        groups = here.remember(key, lambda: belonging([(f.name, d()) for f, d in zip(files, data, strict=True)]))
    except OSError:  # a file on the server that is gone, which its own line says
        return files
    return [files[g[0]] if len(g) == 1 else _joined(here, [files[i] for i in g], [data[i] for i in g]) for g in groups]


def _joined(here: State, files: list[File], data: list[Callable[[], bytes]]) -> File:
    key = " + ".join(f.key for f in files)
    here.joined[key] = lambda: [(f.name, d()) for f, d in zip(files, data, strict=True)]
    return _read(here, " + ".join(f.name for f in files), key, here.joined[key])


def _read(here: State, name: str, key: str, data: Content) -> File:
    answers = here.answers.get(key, {})
    entry = (key, name, json.dumps(answers))
    if entry not in here.files:
        here.files[entry] = _file(name, key, data, answers)
    return here.files[entry]


def _file(name: str, key: str, data: Content, answers: dict[str, Any]) -> File:
    content = data()
    try:
        mapping = cc.Mapping(**answers)
        found = tuple(read_bytes(content, name, mapping))
        return File(name, key, found, _read_as(content, name, mapping, found), answers=json.dumps(answers))
    except AmbiguousLayout as ambiguous:
        if all(q.forgives for q in ambiguous.questions):
            said = " ".join(q.text for q in ambiguous.questions)
            return File(name, key, error=f"{name}: {said}", answers=json.dumps(answers), readable=True)
        return File(name, key, questions=ambiguous.questions)
    except InputError as error:
        return File(name, key, error=str(error), answers=json.dumps(answers), readable=_holds_a_table(content, name))


def _holds_a_table(content: bytes | Sequence[tuple[str, bytes]], name: str) -> bool:
    try:
        inspect_bytes(content, name)
    except InputError:
        return False
    return True


def _read_as(content: bytes | Sequence[tuple[str, bytes]], name: str, mapping: cc.Mapping, found: Sequence[cc.Predictions]) -> str:
    rows = count_text(found[0].n + found[0].n_excluded)
    several = f" {len(found)} models." if len(found) > 1 else ""
    return f"{inspect_bytes(content, name, mapping).sentence} {rows} rows.{several}"


def _models(files: Sequence[File]) -> tuple[Model, ...]:
    """All models; a name that repeats gets " (2)"."""
    taken: set[str] = set()
    found = []
    for f in files:
        for i, p in enumerate(f.predictions):
            name, number = p.name, 2
            while name in taken:
                name, number = f"{p.name} ({number})", number + 1
            taken.add(name)
            found.append(Model((f.key, p.source.get("sha256"), f.answers, i), p if name == p.name else replace(p, name=name)))
    return tuple(found)


def _forget(here: State, uploads: set[str], keys: set[str]) -> None:
    """Drop what belongs to files that were removed."""
    here.hashes = {i: k for i, k in here.hashes.items() if i in uploads}
    gone = [entry for entry, f in here.files.items() if f.key not in keys]
    for entry in gone:
        del here.files[entry]
    if gone:
        here.results.clear()
    here.answers = {k: v for k, v in here.answers.items() if k in keys}
    here.asked &= keys
