"""Bytes of text as UTF-8, and how they were encoded: byte order marks, UTF-16, code pages of Windows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from calibcore.errors import InputError

__all__ = ["NO_TABLE", "Text", "decoded"]

NO_TABLE = "the file is a table"  # the rule that pictures and letters break
_SNIFF = 1 << 20  # characters looked at before the whole text is parsed
_SAVE = "Save the predictions as CSV, Parquet or JSON Lines."
_UNDEFINED = frozenset(b"\x81\x8d\x8f\x90\x9d")  # in Windows-1252; 8d, 8f and 9d are letters in Windows-1250
_SIGNS_IN_WORDS = re.compile(  # ł ą ś ź Ł Ą Ż Ś Ź of Windows-1250 are signs in Windows-1252, which stand before no letter; œ of œuf does
    rb"[\xb3\xb9][a-z\xb3\xb9]|\x9c[a-hj-tv-z]|\x9f[a-z]|[a-z]\x9f|[\xa3\xa5\xaf][a-z\xf3]|\x8c[a-hj-tv-z]"
)
_FOREIGN_LETTERS = re.compile(rb"[A-Za-z]?[\x80-\xff]+[A-Za-z]?")
_CYRILLIC = re.compile(
    rb"[\xc0-\xdf\xa8]?[\xe0-\xff\xb8]+|[\xc0-\xdf\xa8]+"
)  # a word in small letters, with a capital first, or in capitals
_LETTERS = {1250: "ł or ě", 1251: "ж or я", 1252: "é or ß"}
_MARK, _END = b"\xef\xbb\xbf", b"\x1a"  # byte order mark of UTF-8; the end of a text in DOS


@dataclass(frozen=True, slots=True)
class Text:
    """A text as UTF-8, its beginning decoded, how it was encoded, and a note if that had to be inferred."""

    utf8: bytes
    start: str
    encoding: str
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """All of the text."""
        return self.utf8.decode("utf-8")


def decoded(data: bytes, *, complete: bool = True) -> Text:
    """Text by its byte order mark, by the zeros of UTF-16, else as UTF-8, else in a code page of Windows with a note.

    With ``complete=False`` an unfinished last line is left away.

    Raises
    ------
    InputError
        If the bytes are no text.
    """
    if data.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        raise InputError("The text is written in UTF-32, which is not read. Save it again as UTF-8.")
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return _text(_from_utf16(data[2:], encoding, complete=complete).encode("utf-8", "replace"), "UTF-16 with byte order mark")
    if bare := _bare_utf16(data):
        note = "The text looks like UTF-16 without a byte order mark, and was read so."
        return _text(_from_utf16(data, bare, complete=complete).encode("utf-8", "replace"), "UTF-16", note)
    body = data if complete else data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]
    marked = body.startswith(_MARK)
    body = body.removeprefix(_MARK).removesuffix(_END)
    if body.isascii() or _decodes(body, "utf-8"):
        encoding = "UTF-8 with byte order mark" if marked else "UTF-8"
        if b"\n" + _MARK in body:  # files that were put together
            return _text(body.replace(b"\n" + _MARK, b"\n"), encoding, "Byte order marks within the text were left out.")
        return _text(body, encoding)
    page = _code_page(body)
    if page is None:
        note = "The text is neither UTF-8 nor of a code page that is known, so letters in names are wrong: save it again as UTF-8."
        return _text(body.decode("latin-1").encode("utf-8"), "unknown", note)  # different bytes stay different names
    note = f"The text is not UTF-8, so it was read as Windows-{page}: check letters such as {_LETTERS[page]} in the names."
    return _text(body.decode(f"cp{page}").encode("utf-8"), f"Windows-{page}", note)


def _bare_utf16(data: bytes) -> str | None:
    """Which UTF-16 it is if nearly every second byte is 0, and no other is."""
    start = data[: min(len(data) // 2 * 2, 4096)]
    even, odd = start[::2].count(0), start[1::2].count(0)
    half = len(start) // 2
    if half >= 4 and odd > 0.7 * half and even == 0:
        return "utf-16-le"
    return "utf-16-be" if half >= 4 and even > 0.7 * half and odd == 0 else None


def _from_utf16(data: bytes, encoding: str, *, complete: bool) -> str:
    try:
        text = data[: len(data) // 2 * 2].decode(encoding, errors="strict" if complete else "ignore")
    except UnicodeDecodeError:
        raise InputError("The file begins like UTF-16 text, but some bytes are not. Save it again as UTF-8.") from None
    return text if complete else text[: text.rfind("\n") + 1]


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _code_page(data: bytes) -> int | None:
    """Windows-1251 for Cyrillic words, Windows-1250 where bytes are no letters in Windows-1252 or its signs such as ³ stand in words.

    None where some bytes are no letters in either.
    """
    start = data[:_SNIFF]
    central = _UNDEFINED & set(start) or _SIGNS_IN_WORDS.search(start)
    pages = (1251,) if _is_cyrillic(start) else (1250,) if central else (1252, 1250)
    return next((page for page in pages if _decodes(data, f"cp{page}")), None)


def _is_cyrillic(start: bytes) -> bool:
    """Whether letters beyond ASCII make words of their own, as é or ß never do, cased as Cyrillic words are in Windows-1251."""
    words = _FOREIGN_LETTERS.findall(start)
    fit = [len(w) for w in words if _CYRILLIC.fullmatch(w)]
    return max(fit, default=0) >= 3 and len(fit) >= 0.9 * len(words)


def _text(utf8: bytes, encoding: str, *notes: str) -> Text:
    """Refuses what only happens to decode: bytes of programs and pictures hold control characters."""
    if b"\x00" in utf8:
        line = utf8[: utf8.index(b"\x00")].count(b"\n") + 1
        raise InputError(f"This is not a table of text: it holds binary data (a zero byte in line {line:,}). {_SAVE}", rule=NO_TABLE)
    end = utf8.find(b"\n", _SNIFF, 8 * _SNIFF) + 1  # a line that is cut would be another one
    start = utf8[: end or _SNIFF].decode("utf-8", errors="ignore")
    controls = sum((c < " " and c not in "\t\n\r\f\v\x1b") or c == "\ufffd" for c in start[:4096])
    if controls > 0.02 * len(start[:4096]):
        raise InputError(f"This is not a table of text: it holds binary data. {_SAVE}", rule=NO_TABLE)
    return Text(utf8, start, encoding, notes)
