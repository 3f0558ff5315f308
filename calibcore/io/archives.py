"""Zip archives: of which kind they are, and their members' bytes, counted while they are unpacked; nothing is written to disk."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from calibcore.checks import listing
from calibcore.errors import InputError

__all__ = ["MAX_RATIO", "Archive", "implausible", "is_zip", "open_archive", "passed_over"]

_MAX_MEMBERS = 1000
_PART = 1 << 20
_HARMLESS = 256 << 20  # bytes below which nobody minds how well they were packed
MAX_RATIO = 200
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_JUNK = ("__MACOSX", "thumbs.db", "desktop.ini")
_DOCUMENTS = re.compile(r"\.(md|rst|html?|pdf|py|r|ipynb|log|ya?ml|toml|cfg|ini|png|jpe?g|svg|gif|tex|sh)$")
_DOCUMENT_STEMS = ("readme", "license", "licence", "notice", "changelog")
_SAVE = "Save the predictions as CSV, Parquet or JSON Lines"
_OFFICE = (
    ("word/", f"This is a Word document. {_SAVE}."),
    ("ppt/", f"This is a presentation. {_SAVE}."),
    ("[Content_Types].xml", f"This is an Office file without a sheet, or damaged. {_SAVE}."),
)
_TORCH = (
    "This is a PyTorch file (torch.save), which holds a pickle that can run code when opened, so it is never loaded. "
    "In Python: numpy.savez('predictions.npz', logits=logits.numpy(), labels=labels.numpy())."
)
Kind = Literal["zip", "workbook", "npz"]


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip archive that may hold tables.

    Attributes
    ----------
    kind : {"zip", "workbook", "npz"}
    file : zipfile.ZipFile
    size : int
        Bytes of the archive.
    members : tuple of zipfile.ZipInfo
        Files that may be tables; all files of a workbook.
    documents : tuple of str
        Files whose names say that they are texts for people, code or pictures.
    """

    kind: Kind
    file: zipfile.ZipFile
    size: int
    members: tuple[zipfile.ZipInfo, ...]
    documents: tuple[str, ...]

    def contents(self, limit: int) -> Iterator[tuple[str, bytes]]:
        """Name and bytes of each member; InputError as soon as all of them grow beyond ``limit``."""
        total = 0
        for member in self.members:
            data = self._unpacked(member, limit, total)
            total += len(data)
            yield shown(member.filename), data

    def _unpacked(self, member: zipfile.ZipInfo, limit: int, before: int) -> bytes:
        name, parts, size = shown(member.filename), [], 0
        if member.flag_bits & 1:
            raise InputError(f"{name} in this archive is encrypted. Unpack it and add the files one by one.")
        if member.compress_type not in _METHODS:
            raise InputError(f"{name} in this archive is packed in a way that is not read. Pack it as an ordinary zip file (deflate).")
        try:
            with self.file.open(member) as packed:
                while part := packed.read(_PART):
                    size += len(part)
                    _bounded(before + size, self.size, limit)
                    parts.append(part)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{name} in this archive is damaged. Pack it again, or add the files unpacked.") from None
        return b"".join(parts)


def _bounded(size: int, packed: int, limit: int) -> None:
    if size > limit:
        allowed = f"{limit >> 30} GB" if limit >= 1 << 30 else f"{limit >> 20} MB"
        raise InputError(f"The archive unpacks to more than {allowed}, which is the limit. Save the predictions as Parquet, file by file.")
    if implausible(size, packed):
        raise InputError(
            f"The archive unpacks to more than {MAX_RATIO} times its size, as no table of predictions does. Add the files unpacked."
        )


def implausible(size: int, packed: int) -> bool:
    """Whether bytes were packed better than a table of predictions can be, and are many."""
    return size > _HARMLESS and size > MAX_RATIO * packed


def is_zip(data: bytes) -> bool:
    """Whether bytes begin like a zip archive."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def open_archive(data: bytes) -> Archive:
    """The members of a zip archive that may be tables, or the parts of a workbook or NumPy archive.

    Raises
    ------
    InputError
        If the archive is damaged or empty, has too many members, or is a document of another kind.
    """
    try:
        file = zipfile.ZipFile(io.BytesIO(data))
        members = [m for m in file.infolist() if _is_file(m) and not _is_junk(m.filename)]
    except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError, ValueError, KeyError):
        raise InputError(_damaged(data)) from None
    names = [m.filename for m in members]
    kind = _kind(names, file)
    if kind == "zip" and (sentence := _other_kind(names, file)):
        raise InputError(sentence)
    if not members:
        raise InputError("The archive holds no files. Pack it again with the predictions.")
    if len(members) > _MAX_MEMBERS:
        raise InputError(f"The archive holds {len(members):,} files; at most {_MAX_MEMBERS:,} are read. Pack only the predictions.")
    if kind != "zip":
        return Archive(kind, file, len(data), tuple(m for m in file.infolist() if _is_file(m)), ())
    tables = tuple(m for m in members if not _is_document(m.filename))
    return Archive(kind, file, len(data), tables, tuple(shown(n) for n in names if _is_document(n)))


def _damaged(data: bytes) -> str:
    start = data[:4096]
    if b"xl/" in start or b"[Content_Types].xml" in start:
        return "This is a damaged or incomplete Excel workbook. Save the sheet as CSV."
    return "This zip archive is damaged or incomplete. Copy or pack it again, or add its files unpacked."


def _mimetype(file: zipfile.ZipFile) -> bytes:
    """What an OpenDocument file says it is: its first member, packed or not."""
    try:
        with file.open("mimetype") as member:
            return member.read(100)
    except (KeyError, OSError, ValueError, RuntimeError, NotImplementedError, EOFError, zipfile.BadZipFile, zlib.error):
        return b""


def _kind(names: list[str], file: zipfile.ZipFile) -> Kind:
    sheet = _mimetype(file).startswith(b"application/vnd.oasis.opendocument.spreadsheet")
    if any(n.startswith("xl/") for n in names) or (sheet and "content.xml" in names):
        return "workbook"
    return "npz" if names and all(n.endswith(".npy") for n in names) else "zip"


def _other_kind(names: list[str], file: zipfile.ZipFile) -> str | None:
    """The sentence for files of another kind that are packed as zip archives."""
    office = next((sentence for part, sentence in _OFFICE if any(n.startswith(part) for n in names)), None)
    if office:
        return office
    if _mimetype(file).startswith(b"application/vnd.oasis.opendocument"):
        return f"This is an OpenDocument text or drawing. {_SAVE}."
    return _TORCH if any(n.endswith("data.pkl") for n in names) else None


def _is_file(member: zipfile.ZipInfo) -> bool:
    """Whether a member has a name, which is no folder's."""
    return bool(member.filename) and not member.filename.endswith("/")


def _is_junk(name: str) -> bool:
    """What operating systems leave in archives: hidden files and folders of resources."""
    parts = re.split(r"[/\\]", name)
    return any(p in _JUNK or p.casefold() in _JUNK or (p.startswith(".") and p not in (".", "..")) for p in parts)


def _is_document(name: str) -> bool:
    path = PurePosixPath(name.casefold())
    return _DOCUMENTS.search(path.name) is not None or path.name.split(".")[0] in _DOCUMENT_STEMS


def shown(name: str) -> str:
    """A member's name for people and models; it is never used as a path."""
    clean = re.sub(r"[\x00-\x1f\x7f]", "?", name.encode("utf-8", "replace").decode()).replace("\\", "/").strip("/")
    return clean if len(clean) <= 120 else f"…{clean[-119:]}"


def passed_over(names: list[str]) -> tuple[str, ...]:
    """A note on the members that are no tables."""
    return (f"Passed over in the archive, since no tables: {listing(names, 6)}.",) if names else ()
