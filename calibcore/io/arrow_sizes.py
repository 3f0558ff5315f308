"""How many bytes the batches of an Arrow file or stream unpack to, as their buffers say, before any of them is unpacked."""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["unpacked_sizes"]

_FOOTER = {"dictionaries": 2, "batches": 3}  # places of fields in the format's tables
_MESSAGE = {"kind": 1, "header": 2, "length": 3}
_DICTIONARY_DATA, _BUFFERS, _COMPRESSION = 1, 2, 3
_DICTIONARY, _BATCH = 2, 3  # kinds of messages
_BLOCK = 24  # bytes that say where a message of a file is


def unpacked_sizes(data: bytes, *, is_file: bool) -> Iterator[int]:
    """Bytes of each compressed batch once it is unpacked; the rest of a file that is damaged is left to its reader."""
    view = memoryview(data)
    try:
        for metadata, body in _blocks(view) if is_file else _messages(view):
            yield _unpacked(metadata, body)
    except (struct.error, IndexError, ValueError):
        return


def _number(view: memoryview, form: str, at: int) -> int:
    if at < 0:
        raise ValueError("before the beginning")
    return int(struct.unpack_from(f"<{form}", view, at)[0])


def _field(view: memoryview, table: int, place: int) -> int:
    """Where a field of a table is; 0 if it is left out."""
    about = table - _number(view, "i", table)
    if 4 + 2 * place >= _number(view, "H", about):
        return 0
    offset = _number(view, "H", about + 4 + 2 * place)
    return table + offset if offset else 0


def _followed(view: memoryview, at: int) -> int:
    """What an offset points to."""
    return at + _number(view, "I", at)


def _blocks(view: memoryview) -> Iterator[tuple[memoryview, memoryview]]:
    """The messages of a file, where its footer says that they are."""
    footer = view[len(view) - 10 - _number(view, "i", len(view) - 10) : len(view) - 10]
    root = _followed(footer, 0)
    for place in _FOOTER.values():
        if not (at := _field(footer, root, place)):
            continue
        start = _followed(footer, at)
        for i in range(_number(footer, "I", start)):
            where = start + 4 + i * _BLOCK
            offset, size, length = _number(footer, "q", where), _number(footer, "i", where + 8), _number(footer, "q", where + 16)
            mark = 8 if _number(view, "I", offset) == 0xFFFFFFFF else 4
            yield view[offset + mark : offset + size], view[offset + size : offset + size + length]


def _messages(view: memoryview) -> Iterator[tuple[memoryview, memoryview]]:
    """The messages of a stream, one after the other."""
    at = 0
    while at + 8 <= len(view) and (size := _number(view, "i", at + 4)) > 0:
        metadata = view[at + 8 : at + 8 + size]
        length = _field(metadata, _followed(metadata, 0), _MESSAGE["length"])
        end = at + 8 + size + max(_number(metadata, "q", length) if length else 0, 0)
        yield metadata, view[at + 8 + size : end]
        at = end


def _unpacked(metadata: memoryview, body: memoryview) -> int:
    """Bytes of a batch, 0 unless it is compressed: each of its buffers begins with its length, or -1 where it stayed as it was."""
    root = _followed(metadata, 0)
    kind, header = _field(metadata, root, _MESSAGE["kind"]), _field(metadata, root, _MESSAGE["header"])
    if not kind or not header or metadata[kind] not in (_DICTIONARY, _BATCH):
        return 0
    batch = _followed(metadata, header)
    if metadata[kind] == _DICTIONARY:
        batch = _followed(metadata, _field(metadata, batch, _DICTIONARY_DATA))
    at = _field(metadata, batch, _BUFFERS)
    if not at or not _field(metadata, batch, _COMPRESSION):
        return 0
    start, size = _followed(metadata, at), 0
    for i in range(_number(metadata, "I", start)):
        offset, length = _number(metadata, "q", start + 4 + 16 * i), _number(metadata, "q", start + 12 + 16 * i)
        size += max(_number(body, "q", offset), 0) if length >= 8 else 0
    return size
