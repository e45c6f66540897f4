"""Change a file as damage and malice do: bits, cuts, copies, numbers that lie, zero bytes, blanks at the end."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from random import Random

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_]{2,}")
NUMBERS = (
    *(b"-1", b"0", b"1", b"2", b"3", b"255", b"65536", b"999999", b"10000000", b"2147483647", b"2147483648"),
    *(b"4294967295", b"1000000000", b"9223372036854775807", b"18446744073709551616", b"99999999999999999999999999"),
    *(b"-2147483649", b"nan", b"inf", b"-inf", b"1e308", b"1e999", b"-1e38", b"1e-999", b"0x10", b"1_0", b"1,5", b""),
    *(b"--", b"1" * 400),
)  # fmt: skip
_BYTES = (
    b"\0",
    b"\xff",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b'"',
    b"{",
    b"[",
    b"<",
    b"\x80",
    b"\xc3\x28",
    b"#",
    b";",
    b"\x1b[31m",
)
_WHOLE = ("<B", "<H", "<I", "<Q", ">H", ">I", ">Q", "<d", "<f")
_VALUES = (
    0,
    1,
    2,
    3,
    127,
    128,
    255,
    256,
    32768,
    65535,
    2**24,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**62,
    2**63,
    2**64 - 1,
)


def _flip(data: bytearray, random: Random) -> None:
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _cut(data: bytearray, random: Random) -> None:
    del data[random.randrange(len(data)) :]


def _remove(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data))
    del data[at : at + random.choice((1, 2, 4, 16, 100))]


def _repeat(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data))
    piece = data[at : at + random.choice((1, 4, 30, 300))]
    data[at:at] = piece * random.choice((1, 2, 50))


def _lie(data: bytearray, random: Random) -> None:
    """Put another number in place of one that is written."""
    found = list(_NUMBER.finditer(data))
    for match in random.sample(found, min(len(found), random.choice((1, 1, 1, 3)))):
        if data[match.start() : match.end()] == match[0]:
            data[match.start() : match.end()] = random.choice(NUMBERS)


def _lie_in_bytes(data: bytearray, random: Random) -> None:
    """Put another number in place of some bytes, most often near the beginning, where headers are."""
    form = random.choice(_WHOLE)
    size = struct.calcsize(form)
    if len(data) <= size:
        return
    end = len(data) - size if random.random() < 0.3 else min(len(data) - size, 200)
    at = random.randrange(end + 1)
    if form[1] in "df":
        data[at : at + size] = struct.pack(form, random.choice((float("nan"), float("inf"), -1e30, 1e30, 0.0)))
    else:
        data[at : at + size] = (random.choice(_VALUES) % 256**size).to_bytes(
            size, "little" if form[0] == "<" else "big"
        )


def _header(data: bytearray, random: Random) -> None:
    """Exchange, leave out or double a word of the beginning."""
    found = list(_WORD.finditer(bytes(data[:600])))
    if not found:
        return
    match, other = random.choice(found), random.choice(found)
    data[match.start() : match.end()] = random.choice((other[0], b"", match[0] * 2, match[0].upper(), b"x"))


def _line(data: bytearray, random: Random) -> None:
    """Leave out, double or exchange lines."""
    rows = bytes(data).split(b"\n")
    k, other = random.randrange(len(rows)), random.randrange(len(rows))
    match random.randrange(4):
        case 0:
            del rows[k]
        case 1:
            rows[k:k] = [rows[k]] * random.choice((1, 3, 200))
        case 2:
            rows[k], rows[other] = rows[other], rows[k]
        case 3:
            rows[k] = rows[k][: len(rows[k]) // 2]
    data[:] = b"\n".join(rows)


def _insert(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.choice(_BYTES) * random.choice((1, 1, 2, 1000))


def _end(data: bytearray, random: Random) -> None:
    data += random.choice((b" ", b"\n", b"\0", b"\r\n", b" \n \n", b"\t", b"\x1a")) * random.choice((1, 3, 5000))


CHANGES: tuple[Callable[[bytearray, Random], None], ...] = (
    _flip, _cut, _remove, _repeat, _lie, _lie, _lie_in_bytes, _lie_in_bytes, _header, _line, _insert, _end,
)  # fmt: skip


def _opened(content: bytes, random: Random) -> bytes | None:
    """Change one member of an archive, or what a packed file holds, and pack it again; None where nothing is packed."""
    if content[:2] == b"\x1f\x8b":
        import gzip

        return gzip.compress(changed(gzip.decompress(content), random, inside=False), 1, mtime=0)
    if content[:4] == b"\x89PNG":
        return _png(content, random)
    if content[:2] != b"PK":
        return None
    made = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        chosen = random.choice(old.namelist())
        for name in old.namelist():
            inside = old.read(name)
            inside = changed(inside, random, inside=False) if name == chosen else inside
            new.writestr(zipfile.ZipInfo(name), inside, zipfile.ZIP_DEFLATED)  # made at no time of day
    return made.getvalue()


def _png(content: bytes, random: Random) -> bytes:
    """Change one chunk of a PNG and write its sum again: else the sum alone refuses all changes."""
    chunks, at = list[tuple[bytes, bytes]](), 8
    while at + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, at)
        chunks.append((content[at + 4 : at + 8], content[at + 8 : at + 8 + length]))
        at += 12 + length
    k = random.randrange(len(chunks))
    kind, body = chunks[k]
    if kind == b"IDAT" and random.random() < 0.5:
        body = zlib.compress(changed(zlib.decompress(body), random, inside=False))
    elif body:
        body = changed(body, random, inside=False)
    chunks[k] = kind, body
    pieces = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    return content[:8] + b"".join(pieces)


def changed(content: bytes, random: Random, inside: bool = True) -> bytes:
    """Return a file with one to three changes; the same for the same state of `random`.

    Args:
        inside: also change what an archive holds, rather than its bytes.
    """
    if inside and random.random() < 0.5 and (opened := _opened(content, random)) is not None:
        return opened
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if data:
            random.choice(CHANGES)(data, random)
    return bytes(data)
