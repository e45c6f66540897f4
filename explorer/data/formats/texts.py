"""Tell in which encoding a file of text is written: UTF-8, UTF-16 or UTF-32."""

from __future__ import annotations

import codecs
from pathlib import Path

LOOKED_AT = 64  # bytes
_BLOCK = 2**20
PLAIN = "utf-8-sig"
OLD = "cp1252"  # of spreadsheets that do not write UTF-8; nothing in a file says so
_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16",
}  # fmt: skip


def encoding_of(head: bytes) -> str:
    """Return the encoding of a text that begins so: with a mark of its order, or with Latin letters in wide places."""
    told = next((kind for mark, kind in _MARKS.items() if head.startswith(mark)), "")
    if told or len(head) < 4:
        return told or PLAIN
    even, odd = head[0::2], head[1::2]
    # Latin letters leave every other byte empty
    for empty, letters, kind in ((even, odd, "utf-16-be"), (odd, even, "utf-16-le")):
        if not any(empty) and all(b >= 32 or b in b"\t\r\n" for b in letters):
            return kind
    return PLAIN


def encoding_in(path: Path) -> str:
    """Return the encoding of a file of text by how it begins."""
    with path.open("rb") as file:
        return encoding_of(file.read(LOOKED_AT))


def table_encoding(path: Path) -> str:
    """Return the encoding of a text: of bytes that are not UTF-8 that of old programs, which is told in a note.

    Where letters of UTF-8 stand before those bytes, it is UTF-8 that was damaged.
    """
    if (kind := encoding_in(path)) != PLAIN:
        return kind
    decoder, plain = codecs.getincrementaldecoder("utf-8")(), True  # plain: only ASCII so far
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                plain &= decoder.decode(block).isascii()
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return OLD if plain and error.object[: error.start].isascii() else PLAIN
    return PLAIN


def beginning(raw: bytes) -> str:
    """Return the beginning of a table as text, whose last letter may be cut."""
    kind = encoding_of(raw[:LOOKED_AT])
    try:
        text = codecs.getincrementaldecoder(kind)().decode(raw)
    except UnicodeDecodeError:
        text = raw.decode(OLD if kind == PLAIN else kind, "replace")
    return plain_lines(text.removeprefix("\ufeff"))


def note_of(encoding: str) -> list[str]:
    """Return what is told of the encoding of a table: nothing of UTF-8."""
    if encoding == PLAIN:
        return []
    return ["not text in UTF-8: read as Windows-1252" if encoding == OLD else f"text in {name_of(encoding)}"]


def name_of(encoding: str) -> str:
    """Return how people write the name of an encoding."""
    return "-".join(encoding.upper().split("-")[:2])


def plain_lines(text: str) -> str:
    """Return a text with plain ends of lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
