"""Checks of TIFF files before a library is asked for a page: sizes, page tables, packed pieces.

Numbers are those of the TIFF 6.0 specification.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from explorer.data.formats.checks import Broken

STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
PLAIN, DEFLATE = 1, (8, 32946)
# bytes of each type of value, by its number in the specification
BYTES = {
    1: 1,
    2: 1,
    3: 2,
    4: 4,
    5: 8,
    6: 1,
    7: 1,
    8: 2,
    9: 4,
    10: 8,
    11: 4,
    12: 8,
    13: 4,
    16: 8,
    17: 8,
    18: 8,
}

# "LZWDecode: Not enough data at scanline 0.", "tempfile.tif: Using code not yet in table."
_COMPLAINT = re.compile(
    r"(\w*(Decode|TIFF|JPEG|LZW|Fax|ZIP|LZMA|ZSTD|WebP|Predict)\w*|.*\.tiff?|.*\.btf|filename): ", re.I
)


def walk(path: Path) -> None:
    """Follow the chain of page tables: tifffile skips what lies past the end of a cut file without a word."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        order = "<" if data[:2] == b"II" else ">"
        # classic TIFF has 4-byte offsets after 2-byte counts, BigTIFF 8 and 8
        count, offset, pointer = ("H", "I", 4) if 42 in data[2:4] else ("Q", "Q", 8)
        width = struct.calcsize(offset)
        entry = struct.Struct(f"{order}HH{offset}{width}s")
        seen: set[int] = set()
        try:
            while at := struct.unpack_from(order + offset, data, pointer)[0]:
                if at in seen:
                    raise Broken("the TIFF is damaged: its pages run in a circle")
                seen.add(at)
                (entries,) = struct.unpack_from(order + count, data, at)
                at += struct.calcsize(count)
                pointer = at + entries * entry.size
                if pointer + width > len(data):
                    raise struct.error
                for tag, kind, number, value in entry.iter_unpack(data[at:pointer]):
                    length = number * BYTES.get(kind, 0)
                    end = struct.unpack(order + offset, value)[0] + length
                    if length > width and end > len(data):
                        raise Broken(f"the TIFF is truncated: its tag {tag} should end at byte {end} of {len(data)}")
        except struct.error:
            raise Broken(f"the TIFF is truncated: page table {len(seen)} lies past byte {len(data)}, its end") from None
    if not seen:
        raise Broken("the TIFF holds no picture")


def inflated(data: bytes, enough: int) -> int:
    """Return how many bytes `data` inflates to, without going far past `enough`."""
    inflater = zlib.decompressobj()
    size = 0
    while data and not inflater.eof and size <= enough:
        size += len(inflater.decompress(data, 1 << 20))
        data = inflater.unconsumed_tail
    return size


def told(code: object) -> str:
    """Return how a kind of pixels or of compression is called, as far as the file says one that is known."""
    name = getattr(code, "name", code)
    return name if isinstance(name, str) and name.isprintable() else str(code) if isinstance(code, int) else "unknown"


@contextmanager
def strict() -> Iterator[None]:
    """Raise Broken when libtiff complains: it prints to the C stderr, fills the gap and reports success.

    There is no other way to hear it through Pillow. What another thread prints meanwhile is passed on.
    """
    sys.stderr.flush() if sys.stderr else None
    try:
        kept = os.dup(2)
    except OSError:  # a windowed program without a console: nothing is printed, nothing can be heard
        yield
        return
    with tempfile.TemporaryFile() as heard:
        os.dup2(heard.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            heard.seek(0)
            text = heard.read().decode(errors="replace")
            complaints = [line for line in text.splitlines() if _COMPLAINT.match(line)]
            if others := "".join(line for line in text.splitlines(True) if not _COMPLAINT.match(line)):
                os.write(2, others.encode())
    if complaints:
        raise Broken("the TIFF is damaged: its packed pixels cannot be unpacked whole")
