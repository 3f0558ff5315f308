"""Files on the server that the dashboard was started with: those named, and those of folders, of which the reader picks."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from calibcore.names import told_apart
from calibcore.report.sizes import MOST_FILES
from calibcore.report.words import markdown_free
from dashboard import address
from dashboard.launch import OPENED
from dashboard.reading import spoken
from dashboard.session import stamp_of

__all__ = ["Listing", "choose", "listing", "signature", "watch"]

MOST_LISTED = 200
_PICKED = "opened"
_SECONDS = 5
# Of the formats that are read; other files of a folder are not offered, but can be named when the dashboard is started.
_ENDINGS = (
    *(".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".pred", ".predictions", ".json", ".jsonl", ".ndjson", ".arff"),
    *(".parquet", ".pq", ".parq", ".arrow", ".feather", ".ipc", ".arrows", ".npy", ".npz"),
    *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".gz", ".zip"),
)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder offers.

    Attributes
    ----------
    paths : tuple of Path
        Its prediction files by name, at most `MOST_LISTED`.
    more : int
        How many are not listed.
    problem : str
        Why it cannot be listed, in a sentence; else empty.
    """

    paths: tuple[Path, ...] = ()
    more: int = 0
    problem: str = ""


def listing(folder: Path) -> Listing:
    """The prediction files of a folder itself: nothing hidden, nothing below it, and nothing that a link brings from elsewhere."""
    try:
        home = folder.resolve(strict=True)
        with os.scandir(home) as entries:
            found = [home / e.name for e in entries if _offered(e, home)]
    except OSError as error:
        return Listing(problem=f"The folder {folder.name} cannot be read: {error.strerror}.")
    found.sort(key=lambda path: (path.name.casefold(), path.name))
    return Listing(tuple(found[:MOST_LISTED]), max(len(found) - MOST_LISTED, 0))


def _offered(entry: os.DirEntry[str], home: Path) -> bool:
    name = entry.name
    if name.startswith((".", "~")) or not name.casefold().endswith(_ENDINGS):
        return False
    try:
        return entry.is_file() and (not entry.is_symlink() or Path(entry.path).resolve(strict=True).is_relative_to(home))
    except OSError:  # gone meanwhile, or a link to nothing
        return False


def choose() -> list[Path]:
    """Draw the list of files where there is one, and give the files that are picked.

    Picks are kept in the session and, so that a reload keeps them, in the address: there as words that only this server can
    read (`dashboard.address`), since a name never enters the address, and since a place in a list would be another file's as
    soon as one is added.
    """
    files, folders = _given()
    if not files and not folders:
        return []
    lists = {folder: listing(folder) for folder in folders}
    offered = list(dict.fromkeys([*files, *(path for found in lists.values() for path in found.paths)]))
    first = files[:MOST_FILES]
    if _PICKED not in st.session_state:
        st.session_state[_PICKED] = [str(p) for p in address.picks(offered, first)]
    picked = [Path(p) for p in st.session_state[_PICKED]]
    options = list(dict.fromkeys([*offered, *picked]))  # one that is gone stays until it is taken off, and says so
    labels = dict(zip(map(str, options), told_apart([p.name for p in options]), strict=True))
    st.session_state[_PICKED] = [str(p) for p in picked]
    chosen = st.multiselect(
        "Opened files" if not folders else spoken(f"Files in {', '.join(f.name or str(f) for f in folders)}"),
        list(labels),
        key=_PICKED,
        format_func=lambda path: labels.get(path, Path(path).name),
        max_selections=MOST_FILES,
        placeholder=f"Pick up to {MOST_FILES}",
    )
    for folder, found in lists.items():
        _about(folder, found)
    address.keep_picks([Path(p) for p in chosen], first)
    return [Path(p) for p in chosen]


def _about(folder: Path, found: Listing) -> None:
    """What must be known about a folder beside its files."""
    if found.problem:
        st.error(markdown_free(found.problem))
    elif found.more:
        st.caption(f"{found.more:,} more files are not listed; name them when you start the dashboard.")
    elif not found.paths:
        st.caption(markdown_free(f"{folder.name} holds no prediction files yet; new ones appear here by themselves."))


def watch(picked: Sequence[Path]) -> None:
    """Look every few seconds whether files came, went or changed, and run the page again only then."""
    if any(_given()):
        _look(tuple(picked), signature(picked))


@st.fragment(run_every=_SECONDS)
def _look(picked: tuple[Path, ...], before: Hashable) -> None:
    if signature(picked) != before:
        st.rerun()


def signature(picked: Sequence[Path]) -> Hashable:
    """What differs when a listed file came or went, or a picked one changed."""
    _, folders = _given()
    return (tuple(listing(folder) for folder in folders), tuple(_stamp(path) for path in picked))


def _stamp(path: Path) -> Hashable:
    try:
        return stamp_of(path)
    except OSError:
        return None


def _given() -> tuple[list[Path], list[Path]]:
    """Files and folders that the server was started with."""
    paths = [Path(p) for p in json.loads(os.environ.get(OPENED, "[]"))]
    return [p for p in paths if not p.is_dir()], [p for p in paths if p.is_dir()]
