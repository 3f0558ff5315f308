"""How far the reading of a big file is: its bytes as they pass, told to whoever listens."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from calibcore.errors import InputError

__all__ = ["Digest", "Heard", "Passing", "bar", "late", "listened", "within"]

T = TypeVar("T")
Heard = Callable[[float], Any]
_PART, _SMALL = 1 << 20, 1 << 20
_SOON, _OFTEN = 0.5, 0.05  # seconds before a bar is worth its place, and between two looks at the bytes


def within(heard: Heard | None, start: float, end: float) -> Heard | None:
    """A listener for a part of the work, which goes from ``start`` to ``end`` of the whole."""
    return None if heard is None else lambda share: heard(start + (end - start) * min(share, 1.0))


def late(heard: Heard) -> Heard:
    """The same listener, from the moment on when the work has taken long enough to be worth a bar."""
    begun = time.monotonic()
    return lambda share: heard(share) if time.monotonic() - begun > _SOON else None


def listened(work: Callable[[], T], share: Callable[[], float], heard: Heard | None) -> T:
    """``work()``; where somebody listens it is done in a thread, and this one, to which a page belongs, tells its share."""
    if heard is None:
        return work()
    with ThreadPoolExecutor(1) as pool:
        doing = pool.submit(work)
        while not wait([doing], _OFTEN).done:
            heard(share())
    return doing.result()


class Passing:
    """A file as a parser reads it: its bytes and quotes are counted, and hashed if wanted, while they pass."""

    closed = False

    def __init__(self, file: Any, *, hashed: bool) -> None:
        self.file, self.hash = file, hashlib.sha256() if hashed else None
        self.bytes = self.quotes = 0
        self.ascii = True

    def read(self, size: int = -1) -> bytes:
        """Some more bytes."""
        data: bytes = self.file.read(size)
        self.quotes += data.count(b'"')
        if self.hash is not None:
            self.hash.update(data)
            self.ascii = self.ascii and data.isascii()
        self.bytes += len(data)
        return data

    def close(self) -> None:
        """Nothing is read any more."""
        self.file.close()
        self.closed = True


class Digest:
    """The SHA-256 of a file's bytes; that of many is worked out in a thread while they are read."""

    def __init__(self, opened: Callable[[], Any], size: int) -> None:
        self._opened = opened
        self._path: Path | None = None
        self._stamp: tuple[int, int] | None = None
        self._pool = ThreadPoolExecutor(1) if size > _SMALL else None
        self._done = self._pool.submit(self._hashed) if self._pool else None
        if self._pool:
            self._pool.shutdown(wait=False)

    @classmethod
    def of_file(cls, path: Path) -> Digest:
        """That of a file on disk, which must stay as it is while it is read."""
        found = cls(partial(path.open, "rb"), path.stat().st_size)
        found._path, found._stamp = path, _stamp(path)
        return found

    def text(self) -> str:
        """In hexadecimal, when it is there; InputError for a file that has changed since."""
        try:
            found = self._done.result() if self._done else self._hashed()
        except OSError as error:
            raise InputError(f"The file cannot be read to its end: {error.strerror}. Copy it again.") from None
        if self._path is not None and _stamp(self._path) != self._stamp:
            raise InputError(f"{self._path.name} was changed while it was read. Read it again.")
        return found

    def _hashed(self) -> str:
        found = hashlib.sha256()
        with self._opened() as file:
            while part := file.read(_PART):
                found.update(part)
        return found.hexdigest()


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes when somebody writes to a file."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size


@contextmanager
def bar(what: str) -> Iterator[Heard | None]:
    """A bar on stderr where that is a terminal, from the moment on when the work takes long; gone when it is done."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    shown: list[Any] = []

    def heard(share: float) -> None:
        if not shown:
            shown.append(Progress(console=Console(stderr=True), transient=True))
            shown[0].start()
            shown[0].add_task(what, total=1.0)
        shown[0].update(shown[0].task_ids[0], completed=share)

    try:
        yield late(heard)
    finally:
        for progress in shown:
            progress.stop()
