"""Change files record by record: a file is cut where its format cuts it, and its pieces are dealt anew.

Binary formats are cut into their chunks, blocks, segments or members; texts into lines, words and brackets. Pieces are
swapped, doubled, left out, emptied, nested in each other and cut off at their borders; lengths, counts and offsets are
off by one or far too large; texts get other ends of lines, marks, digits of other scripts and levels without end.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from random import Random

from tests.explorer.parts.hostile.accepted import accepted_files

LARGE = 2**20  # bytes; what is larger is not changed again
Piece = tuple[int, int]  # where it begins and ends
_NUMBER = re.compile(rb"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_ENDS = (b"\n", b"\r\n", b"\r", b"\n\r", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"\n\n\n")
_BLANKS = (b"\t", b"\xc2\xa0", b"\xe3\x80\x80", b"\xe2\x80\x8b", b" " * 4000, b"\0", b",", b";", b"|", b"")
_MARKS = (
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0", b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xed\xa0\x80",
    b"\xf0\x9f\x92\xa9", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\x1a", b"\x04", b"\x1b]0;x\x07", b"\x1b[2J",
    b"\xcc\x81" * 3000, b"\x7f", b"\x08" * 9,
)  # fmt: skip
_DIGITS = (
    "٣", "३", "３", "Ⅷ", "¼", "²", "−1", "1٫5", "1’000", "1 000", "0b1", "0o7", "0x1p3", "1d5", "1e", "+-1", "++1",
    "1.2.3",
    ".", "-", "e5", "1e+", "nan(0x7)", "-nan", "infinity", "INF", "1#INF", "#N/A", "NULL", "None", "true", "1j", "(1)",
    "=1+1", "@SUM(1)", "1" + "0" * 400, "0." + "0" * 400 + "1", "1e-400", "1e400", "9" * 5000, "00000000001",
    "1f", "1L",
)  # fmt: skip
_LENGTHS = (
    0,
    1,
    3,
    255,
    256,
    2**15,
    2**16 - 1,
    2**24 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32 - 8,
    2**63 - 1,
    2**64 - 1,
)


# where formats cut -------------------------------------------------------------------------------------------
def _riff(data: bytes) -> list[Piece]:
    big = data[:4] == b"FORM"
    return _chunks(data, 12, 4, ">I" if big else "<I", even=True)


def _chunks(data: bytes, at: int, name: int, form: str, even: bool = False, after: int = 0) -> list[Piece]:
    """Cut where a name and a length begin each piece."""
    pieces = []
    while at + name + 4 <= len(data):
        (length,) = struct.unpack_from(form, data, at + name)
        end = at + name + 4 + length + after
        end += even and end % 2
        pieces.append((at, min(end, len(data))))
        at = end
    return pieces


def _glb(data: bytes) -> list[Piece]:
    pieces, at = [], 12
    while at + 8 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        pieces.append((at, min(at + 8 + length, len(data))))
        at += 8 + length
    return pieces


def _png(data: bytes) -> list[Piece]:
    pieces, at = [], 8
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        pieces.append((at, min(at + 12 + length, len(data))))
        at += 12 + length
    return pieces


def _jpeg(data: bytes) -> list[Piece]:
    pieces, at = [], 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        (length,) = struct.unpack_from(">H", data, at + 2)
        pieces.append((at, min(at + 2 + length, len(data))))
        at += 2 + length
        if data[pieces[-1][0] + 1] == 0xDA:
            break
    return [*pieces, (at, len(data))] if at < len(data) else pieces


def _ogg(data: bytes) -> list[Piece]:
    starts = [match.start() for match in re.finditer(b"OggS", data)]
    return list(zip(starts, [*starts[1:], len(data)], strict=True))


def _flac(data: bytes) -> list[Piece]:
    pieces, at = [], 4
    while at + 4 <= len(data):
        last, length = data[at] & 0x80, int.from_bytes(data[at + 1 : at + 4], "big")
        pieces.append((at, min(at + 4 + length, len(data))))
        at += 4 + length
        if last:
            break
    return [*pieces, (at, len(data))] if at < len(data) else pieces


def _tiff(data: bytes) -> list[Piece]:
    """The entries of the first directory."""
    order = "<" if data[:2] == b"II" else ">"
    if data[2:4] in (b"\x2b\0", b"\0\x2b"):
        (at,) = struct.unpack_from(order + "Q", data, 8)
        (count,) = struct.unpack_from(order + "Q", data, at)
        return [(at + 8 + 20 * k, at + 28 + 20 * k) for k in range(min(count, 60))]
    (at,) = struct.unpack_from(order + "I", data, 4)
    (count,) = struct.unpack_from(order + "H", data, at)
    return [(at + 2 + 12 * k, at + 14 + 12 * k) for k in range(min(count, 60))]


def _stl(data: bytes) -> list[Piece]:
    return [(80, 84), *((84 + 50 * k, 134 + 50 * k) for k in range((len(data) - 84) // 50))]


def _headed(data: bytes) -> list[Piece]:
    """A head in words and rows of bytes after it: PLY, PCD, VTK."""
    end = max(data.find(word) + len(word) for word in (b"end_header\n", b"DATA binary\n", b"double\n", b"float\n"))
    lines, at = [], 0
    for line in data[:end].splitlines(keepends=True):
        lines.append((at, at + len(line)))
        at += len(line)
    size = 12
    return lines + [(k, min(k + size, len(data))) for k in range(at, len(data), size)]


def _lines(data: bytes) -> list[Piece]:
    pieces, at = [], 0
    for line in data.splitlines(keepends=True):
        pieces.append((at, at + len(line)))
        at += len(line)
    return pieces


def _words(data: bytes) -> list[Piece]:
    return [match.span() for match in re.finditer(rb"[^\s,;<>=\[\]{}():\"]+", data)]


def _levels(data: bytes) -> list[Piece]:
    """Find what stands within a pair of brackets or between two tags, and the brackets too."""
    pieces, open_ = [], list[int]()
    for match in re.finditer(rb"[\[{(]|[\]})]|<(?!/)[^<>]{0,200}[^/<>]>|</[^<>]{0,200}>", data):
        if match[0][:1] in b"])}" or match[0][:2] == b"</":
            if open_:
                pieces.append((open_.pop(), match.end()))
        else:
            open_.append(match.start())
    return pieces


_BY_HEAD: tuple[tuple[bytes, Callable[[bytes], list[Piece]]], ...] = (
    (b"RIFF", _riff), (b"FORM", _riff), (b"glTF", _glb), (b"\x89PNG", _png), (b"\xff\xd8", _jpeg), (b"OggS", _ogg),
    (b"fLaC", _flac), (b"II", _tiff), (b"MM", _tiff), (b"ply", _headed), (b"# .PCD", _headed), (b"# vtk", _headed),
)  # fmt: skip


def _is_text(data: bytes) -> bool:
    return b"\0" not in data and sum(b >= 128 for b in data) * 20 < len(data)


def _cut(chance: Random, case: str, data: bytes) -> list[Piece]:
    """Return the pieces of a file."""
    if case == "stl":
        return _stl(data)
    if _is_text(data):
        return chance.choice((_lines, _lines, _words, _levels))(data)
    for head, cut in _BY_HEAD:
        if data.startswith(head):
            try:
                return cut(data)
            except struct.error:
                break
    size = chance.choice((1, 2, 4, 8, 16, 64))
    return [(k, min(k + size, len(data))) for k in range(0, len(data), size)]


# what becomes of pieces --------------------------------------------------------------------------------------
def _dealt(chance: Random, data: bytes, pieces: list[Piece]) -> bytes:
    """Swap, double, leave out, empty, nest or turn some pieces, or end the file at the border of one."""
    (a, b), (c, d) = sorted((chance.choice(pieces), chance.choice(pieces)))
    one, other = data[a:b], data[c:d]
    match chance.randrange(10):
        case 0 if b <= c:
            return data[:a] + other + data[b:c] + one + data[d:]
        case 1:
            return data[:b] + one * chance.choice((1, 2, 300, 20_000 // max(1, len(one)))) + data[b:]
        case 2:
            return data[:a] + data[b:]
        case 3:
            return data[: chance.choice((a, b, (a + b) // 2, max(0, b - 1), min(len(data), b + 1)))]
        case 4:
            return data[:a] + bytes(b - a) + data[b:]
        case 5:
            middle = (a + b) // 2
            return data[:middle] + other + data[middle:]
        case 6:
            return data[:a] + one[::-1] + data[b:]
        case 7:
            return data[:a] + data[b:] + one
        case 8:
            return data[:a] + other + data[b:]
    return data[c:d] + data[:c] + data[d:]


def _measured(chance: Random, data: bytes, pieces: list[Piece]) -> bytes:
    """Lie about a length, a count or an offset: a whole number of 2, 4 or 8 bytes that is as large as such are."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 3))):
        form = chance.choice(("<H", ">H", "<I", ">I", "<I", ">I", "<Q", ">Q"))
        size = struct.calcsize(form)
        if len(data) <= size + 1:
            break
        a, b = chance.choice(pieces)
        at = min(chance.randrange(a, max(a + 1, min(b, a + 24))), len(data) - size)
        (value,) = struct.unpack_from(form, changed, at)
        near = (value + 1, value - 1, value * 2, value // 2, value ^ 0x80, len(data), len(data) - at, at, value << 16)
        value = chance.choice((*near, *_LENGTHS)) % 256**size
        struct.pack_into(form, changed, at, value)
    return bytes(changed)


def _counted(chance: Random, data: bytes, pieces: list[Piece]) -> bytes:
    """Put a number near to it, or one of another script or size, in place of one that is written."""
    for _ in range(chance.choice((1, 1, 1, 2, 6))):
        found = list(_NUMBER.finditer(data))
        if not found:
            break
        match = chance.choice(found)
        text = match[0].decode("ascii")
        new = chance.choice(_DIGITS)
        if chance.random() < 0.5 and text.lstrip("+-").isdigit() and len(text) < 400:
            value = int(text)
            new = str(chance.choice((value + 1, value - 1, -value, value * 10**9, value + 2**32, value * 1000, 0)))
        data = data[: match.start()] + new.encode() + data[match.end() :]
    return data


def _marked(chance: Random, data: bytes, pieces: list[Piece]) -> bytes:
    """Put marks, other blanks and other ends of lines between some pieces."""
    match chance.randrange(5):
        case 0:
            rows = data.split(b"\n")
            return b"".join(row + chance.choice(_ENDS) for row in rows)
        case 1:
            end = chance.choice(_ENDS)
            return data.replace(b"\n", end)
        case 2:
            return data.replace(b" ", chance.choice(_BLANKS), chance.choice((1, 5, -1)))
        case 3:
            at = chance.choice(pieces)[chance.randrange(2)]
            return data[:at] + chance.choice(_MARKS) + data[at:]
    return chance.choice(_MARKS) + data + chance.choice(_MARKS)


def _nested(chance: Random, data: bytes, whole: list[Piece]) -> bytes:
    """Put brackets, tags or quotes around a part, up to 200,000 of them."""
    count = chance.choice((1, 2, 50, 900, 3000, 200_000))
    opening, closing = chance.choice(
        ((b"[", b"]"), (b"{", b"}"), (b'{"a":', b"}"), (b"<a>", b"</a>"), (b"(", b")"), (b'"', b'"'), (b"'", b""),
         (b"<![CDATA[", b"]]>"), (b"<!--", b"-->"), (b"graph [ ", b" ]"), (b"/*", b"*/"))
    )  # fmt: skip
    pieces = _levels(data) or [(0, len(data))]
    a, b = chance.choice(pieces)
    return data[:a] + opening * count + data[a:b] + closing * chance.choice((count, count, count - 1, 0)) + data[b:]


def _spliced(chance: Random, data: bytes, pieces: list[Piece]) -> bytes:
    """Put pieces of another file in."""
    _, (_, other) = chance.choice(list(accepted_files().items()))
    theirs = _lines(other) if _is_text(other) else [(k, k + 32) for k in range(0, len(other), 32)]
    (a, b), (c, d) = chance.choice(pieces), chance.choice(theirs)
    return data[:a] + other[c : chance.choice((d, len(other)))] + data[chance.choice((a, b)) :]


_WAYS: tuple[Callable[[Random, bytes, list[Piece]], bytes], ...] = (
    _dealt, _dealt, _dealt, _measured, _measured, _counted, _counted, _marked, _nested, _spliced,
)  # fmt: skip
_WAYS_OF_TEXT = tuple(way for way in _WAYS if way is not _measured)


def _summed(data: bytes) -> bytes:
    """Write the sums of a PNG's chunks again: else the sum alone refuses every change."""
    made, at = bytearray(data[:8]), 8
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        body = data[at + 4 : at + 8 + length]
        made += data[at : at + 4] + body + struct.pack(">I", zlib.crc32(body))
        at += 12 + length
    return bytes(made) + data[at:]


def _members(chance: Random, data: bytes) -> bytes:
    """Deal the members of an archive: double, leave out, rename, swap their contents, change one."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        members = [(name, old.read(name)) for name in old.namelist()]
    k, other = chance.randrange(len(members)), chance.randrange(len(members))
    name, body = members[k]
    match chance.randrange(8):
        case 0:
            members.append(members[k])
        case 1:
            del members[k]
        case 2:
            members[k] = (
                chance.choice(("../../a", "/etc/passwd", "", "a" * 60_000, "\u202egnp.exe", "a\0b", "a\nb")),
                body,
            )
        case 3:
            members[k], members[other] = (name, members[other][1]), (members[other][0], body)
        case 4:
            members[k] = (name, _changed(chance, "member", body))
        case 5:
            members[k] = (name, data)
        case 6:
            members = members * 300
        case _:
            members[k] = (name, body + bytes(chance.choice((1, 5000, 10**7))))
    made = io.BytesIO()
    with zipfile.ZipFile(
        made, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    ) as new:
        for one, content in members:
            # the time of day would make another file each time
            member = zipfile.ZipInfo(one.replace("\0", "") or "x")
            new.writestr(member, content, zipfile.ZIP_STORED if chance.random() < 0.3 else new.compression)
    return made.getvalue()


def _changed(chance: Random, case: str, data: bytes) -> bytes:
    for _ in range(chance.choice((1, 1, 2, 4))):
        pieces = [piece for piece in _cut(chance, case, data) if piece[0] < piece[1]] if data else []
        if not pieces or len(data) > LARGE:
            break
        data = chance.choice(_WAYS_OF_TEXT if _is_text(data) else _WAYS)(chance, data, pieces)
    return data


def dealt(count: int, seed: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield (case, name, content), each case in turn; the same for the same seed."""
    import warnings

    cases = list(accepted_files().items())
    for k in range(count):
        chance = Random(f"records {seed}:{k}")
        case, (name, content) = cases[k % len(cases)]
        if content[:2] == b"PK" and chance.random() < 0.6:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of two members of one name, which is what is wanted
                content = _members(chance, content)
        elif content[:2] == b"\x1f\x8b" and chance.random() < 0.8:
            content = zlib.compress(_changed(chance, case, zlib.decompress(content, 31)), 1, 31)
        else:
            content = _changed(chance, case, content)
            if content[:4] == b"\x89PNG" and chance.random() < 0.8:
                content = _summed(content)
        yield f"{case} {seed}:{k} records", name, content
