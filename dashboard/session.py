"""What one session holds: the files that were read, the models in them, and the results computed so far."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import streamlit as st

import calibcore as cc
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import belonging, inspect, inspect_bytes, read_bytes
from calibcore.names import told_apart
from calibcore.progress import Heard, late
from calibcore.report.reduced_words import read_as
from calibcore.report.reproduce import Origin, Source
from calibcore.report.rows import BinRows, rows_in
from calibcore.report.sizes import many_classes_sentence, too_large_sentence
from calibcore.report.tables import count_text
from calibcore.report.training import Training
from calibcore.report.words import markdown_free
from dashboard.assets import sample_paths
from dashboard.downloads import Downloads
from dashboard.loaded import Content, File, Model
from dashboard.problems import unread

__all__ = [
    "Content",
    "File",
    "Model",
    "State",
    "analyse",
    "bin_rows",
    "columns_of",
    "compare",
    "is_analysis_of",
    "load",
    "megabytes",
    "model_named",
    "models",
    "origins",
    "stamp_of",
    "state",
    "training",
]

T = TypeVar("T")
_BIG = 8 << 20  # bytes from which on the reading of a file is told as it goes
_RESULTS = 256  # results kept in a session; each is small, since no result holds rows


@dataclass(slots=True)
class State:
    """Everything of one session; nothing of it is shared with another.

    Attributes
    ----------
    number : str
        Of this session among all.
    hashes : dict
        SHA-256 of an upload by its id, so that bytes are hashed once.
    files : dict
        Files by SHA-256, name and answers, so that bytes are read once.
    answers : dict
        Answers to a file's questions, by its key.
    answered : dict
        Columns of the file that was answered for, by its key.
    outdated : set of str
        Keys of files whose answers were dropped, because the file has other columns now.
    stamps : dict
        What a file on the server looked like when it was read last, by its key.
    training : dict
        Whether the rows were used for training, by the SHA-256 of the file.
    arrived : bool
        Whether the address was looked at.
    lost : set of str
        What an earlier session held, by the address, and this one lacks: "uploads", "picks".
    results : dict
        The most recently used results.
    joined : dict
        What gives the bytes of files that belong together, by their common key.
    downloads : Downloads
        What its download buttons give.
    kept_range : tuple of float, optional
        Edges of the bin that is looked at: a range of confidences, so that it survives other settings.
    """

    number: str = field(default_factory=lambda: secrets.token_hex(4))
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
    answered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    outdated: set[str] = field(default_factory=set)
    stamps: dict[str, Hashable] = field(default_factory=dict)
    training: dict[str, Training] = field(default_factory=dict)
    arrived: bool = False
    lost: set[str] = field(default_factory=set)
    downloads: Downloads = field(default_factory=Downloads)

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


def load(uploads: Sequence[Any], opened: Sequence[Path] = ()) -> list[File]:
    """Read what was uploaded and what was opened on the server; without either, the samples.

    Parameters
    ----------
    uploads : sequence of uploaded files
        As the uploader gives them.
    opened : sequence of Path
        Files on the server.

    Returns
    -------
    list of File
        Each was read by itself, so a faulty one keeps no other from being shown; predictions without labels and the file that
        holds them are one.
    """
    here = state()
    here.samples = not uploads and not opened
    paths = sample_paths() if here.samples else opened
    alone = [*(_opened(here, path) for path in paths), *(_uploaded(here, u) for u in uploads)]
    files = _together(here, alone, [*(path.read_bytes for path in paths), *(u.getvalue for u in uploads)])
    here.shown = _models(files)
    _forget(here, {u.file_id for u in uploads}, [*alone, *files])
    return files


def models() -> tuple[Model, ...]:
    """The models of this run, each with its own name."""
    return state().shown


def model_named(name: str) -> Model:
    """The model with that name."""
    return next(m for m in models() if m.name == name)


def training(model: Model) -> Training:
    """Whether a model was trained or tuned on the rows it is judged by, as far as anybody said; samples were not."""
    here = state()
    if here.samples:
        return "no"
    return "unknown" if model.file is None else here.training.get(model.file.content, "unknown")


def origins() -> dict[str, Origin]:
    """Where each model of this run comes from, by its name."""
    sources: dict[int, Source] = {}
    for model in models():
        file = cast(File, model.file)
        if id(file) not in sources:
            names, said = tuple(p.name for p in file.predictions), cc.Mapping(**json.loads(file.answers or "{}"))
            sha256 = file.predictions[0].source.get("sha256")
            sources[id(file)] = Source(file.parts or (file.name,), said, names, sample=state().samples, sha256=sha256)
    return {m.name: Origin(sources[id(m.file)], m.index) for m in models()}


def megabytes() -> int:
    """The operator's limit for an upload."""
    return int(st.get_option("server.maxUploadSize"))


def analyse(model: Model, settings: cc.Settings) -> cc.Analysis:
    """`calibcore.analyze`, once per model and settings."""
    return state().remember(("analysis", model.key, model.name, settings), lambda: cc.analyze(model.predictions, settings))


def is_analysis_of(model: Model, analysis: cc.Analysis) -> bool:
    """Whether an analysis is of this model, and not of what was made of it on a page, which may have its name."""
    return state().results.get(("analysis", model.key, model.name, analysis.settings)) is analysis


def compare(chosen: Sequence[Model], settings: cc.Settings, baseline: str) -> cc.Comparison:
    """`calibcore.compare`, once per choice of models, settings and baseline."""
    key = ("comparison", tuple((m.key, m.name) for m in chosen), settings, baseline)
    return state().remember(key, lambda: cc.compare([m.predictions for m in chosen], settings, baseline=baseline))


def bin_rows(model: Model, settings: cc.Settings, lower: float, upper: float) -> BinRows:
    """Rows of a bin, once per bin."""
    key = ("rows", model.key, settings, lower, upper)
    return state().remember(key, lambda: rows_in(model.predictions, settings, lower, upper))


def stamp_of(path: Path) -> Hashable:
    """What differs after a file was written, replaced or copied over, also where its time was set back."""
    about = path.stat()
    return (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


def columns_of(file: File, data: Content) -> tuple[str, ...]:
    """Names of the columns of a file that has open questions, looked up once."""
    return state().remember(("columns", file.version), lambda: tuple(inspect_bytes(data(), file.name).columns))


def _uploaded(here: State, upload: Any) -> File:
    if upload.file_id not in here.hashes:
        here.hashes[upload.file_id] = hashlib.sha256(upload.getbuffer()).hexdigest()
    refused = too_large_sentence(upload.name, upload.size, megabytes())
    if refused:
        return File(upload.name, here.hashes[upload.file_id], error=refused)
    return _read(here, upload.name, here.hashes[upload.file_id], upload.getvalue)


def _opened(here: State, path: Path) -> File:
    """A file on the server, read again only when it changes; its models are shared, since they are nobody's upload."""
    key = str(path)
    try:
        stamp = stamp_of(path)
        _drop_outdated(here, key, stamp)
        answers = json.dumps(here.answers.get(key, {}))
        with st.spinner(_reading(path.name)) if path.stat().st_size > _BIG else nullcontext():
            return _opened_once(key, stamp, answers)
    except FileNotFoundError:
        return File(path.name, key, error=f"{path.name} is gone. Put it back, or take it off the list.")
    except OSError as error:
        return File(path.name, key, error=f"{path.name} cannot be read: {error.strerror}.")


def _drop_outdated(here: State, key: str, stamp: Hashable) -> None:
    """Answers hold for the columns that they were given for: a file that was replaced by one with others is asked about anew."""
    before, here.stamps[key] = here.stamps.get(key, stamp), stamp
    if before == stamp:
        return
    here.asked.discard(key)
    if key in here.answers and _columns(Path(key)) != here.answered.get(key):
        del here.answers[key]
        here.outdated.add(key)


def _columns(path: Path) -> tuple[str, ...]:
    try:
        return tuple(inspect(path).columns)
    except InputError:
        return ()


@st.cache_resource(show_spinner=False, max_entries=64)
def _opened_once(path: str, stamp: Hashable, answers: str) -> File:
    where = Path(path)
    return replace(_file(where.name, path, where.read_bytes, json.loads(answers)), stamp=stamp)


def _together(here: State, files: list[File], data: list[Callable[[], bytes]]) -> list[File]:
    """Files as they are read together: looked for only where one of several could not be read by itself."""
    here.joined = {}
    if len(files) < 2 or all(f.predictions for f in files):
        return files
    key = ("together", *((f.version, f.name) for f in files))
    try:
        groups = here.remember(key, lambda: belonging([(f.name, d()) for f, d in zip(files, data, strict=True)]))
        return [files[g[0]] if len(g) == 1 else _joined(here, [files[i] for i in g], [data[i] for i in g]) for g in groups]
    except OSError:  # a file on the server that is gone, which its own line says
        return files


def _joined(here: State, files: list[File], data: list[Callable[[], bytes]]) -> File:
    key = " + ".join(f.key for f in files)
    here.joined[key] = lambda: [(f.name, d()) for f, d in zip(files, data, strict=True)]
    return _read(here, " + ".join(f.name for f in files), key, here.joined[key], files)


def _read(here: State, name: str, key: str, data: Content, parts: Sequence[File] = ()) -> File:
    """A file, or files together, read once for each content and answers."""
    answers, stamp = here.answers.get(key, {}), tuple(f.stamp for f in parts)
    entry = (key, name, json.dumps(answers), stamp)
    if entry not in here.files:
        with _bar(name) as heard:
            found = _file(name, key, data, answers, heard)
        here.files[entry] = replace(found, stamp=stamp, parts=tuple(f.name for f in parts))
    return here.files[entry]


@contextmanager
def _bar(name: str) -> Iterator[Heard]:
    """A bar that fills while a file is read, from the moment on when that takes long; gone when it is read."""
    place: list[Any] = []

    def heard(share: float) -> None:
        if not place:
            place.append(st.empty())
        place[0].progress(min(share, 1.0), text=_reading(name))

    try:
        yield late(heard)
    finally:
        for shown in place:
            shown.empty()


def _reading(name: str) -> str:
    return markdown_free(f"Reading {name}")


def _file(name: str, key: str, data: Content, answers: dict[str, Any], heard: Heard | None = None) -> File:
    """What comes of a file; whatever is wrong with it, the others are shown."""
    content = data()
    try:
        return _made(name, key, content, answers, heard)
    except Exception as error:  # noqa: BLE001 - one failing file must not take the page down
        return File(name, key, error=unread(name, error), answers=json.dumps(answers), readable=bool(answers))


def _made(name: str, key: str, content: bytes | Sequence[tuple[str, bytes]], answers: dict[str, Any], heard: Heard | None) -> File:
    size = len(content) if isinstance(content, bytes) else sum(len(d) for _, d in content)
    try:
        mapping = cc.Mapping(**answers)
        found = tuple(read_bytes(content, name, mapping, heard if size > _BIG else None))
        many = next(filter(None, (many_classes_sentence(name, p.classes) for p in found if p.task == "multiclass")), None)
        if many:
            return File(name, key, error=many, answers=json.dumps(answers), readable=True)
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
    if not any(p.has_rows for p in found):
        return read_as(found)
    rows = count_text(found[0].n + found[0].n_excluded)
    several = f" {len(found)} models." if len(found) > 1 else ""
    return f"{inspect_bytes(content, name, mapping).sentence} {rows} rows.{several}"


def _models(files: Sequence[File]) -> tuple[Model, ...]:
    """All models; a name that repeats gets " (2)"."""
    found = [(f, i, p) for f in files for i, p in enumerate(f.predictions)]
    names = told_apart([p.name for _, _, p in found])
    return tuple(
        Model((f.version, p.source.get("sha256"), f.answers, i), p if p.name == name else p.but(name=name), f, i)
        for (f, i, p), name in zip(found, names, strict=True)
    )


def _forget(here: State, uploads: set[str], files: Sequence[File]) -> None:
    """Drop what belongs to files that were removed or have changed."""
    keys, versions = {f.key for f in files}, {f.version for f in files}
    here.hashes = {i: k for i, k in here.hashes.items() if i in uploads}
    gone = [entry for entry, f in here.files.items() if f.version not in versions]
    for entry in gone:
        del here.files[entry]
    if gone:
        here.results.clear()
    here.answers = {k: v for k, v in here.answers.items() if k in keys}
    here.answered = {k: v for k, v in here.answered.items() if k in keys}
    here.stamps = {k: v for k, v in here.stamps.items() if k in keys}
    here.training = {k: v for k, v in here.training.items() if k in {f.content for f in files}}
    here.asked &= keys
    here.outdated &= keys - here.answers.keys()
