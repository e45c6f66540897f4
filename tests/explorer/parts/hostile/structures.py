"""Make files that lie about their structure: each strategy knows a format, or what all of one family have in common."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from random import Random

from tests.explorer.parts.hostile import formats
from tests.explorer.parts.hostile.accepted import accepted_files
from tests.explorer.parts.hostile.formats import VALUES, WORDS, Made

# (chance, case, name, content) -> a file, None where the strategy is not for it
Way = Callable[[Random, str, str, bytes], Made | None]

_TOKEN = re.compile(rb"[^\s,;<>\"'=\[\]{}()]+")
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "utf-7", "cp037", "utf-8-sig")


def _text(content: bytes) -> bool:
    return b"\0" not in content and sum(b >= 128 for b in content) * 20 < len(content)


def _truncated(chance: Random, case: str, name: str, content: bytes) -> Made:
    return name, content[: chance.randrange(1, len(content))]


def _crossed(chance: Random, case: str, name: str, content: bytes) -> Made:
    other_name, other = chance.choice(list(accepted_files().values()))
    cut = chance.choice((4, 8, 16, 64, 128, 352, len(content) // 2))
    return chance.choice((name, other_name)), content[:cut] + other[chance.choice((0, 0, cut)) :]


def _renamed(chance: Random, case: str, name: str, content: bytes) -> Made:
    return chance.choice(list(accepted_files().values()))[0], content


def _joined(chance: Random, case: str, name: str, content: bytes) -> Made:
    _, other = chance.choice(list(accepted_files().values()))
    return name, content + chance.choice((content, content * 50, other, b"\0" * 5000, b" " * 5000, b"\n" * 5000))


def _words(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    if not _text(content):
        return None
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        found = list((_NUMBER if chance.random() < 0.6 else _TOKEN).finditer(content))
        if not found:
            break
        one = chance.choice(found)
        content = content[: one.start()] + chance.choice(WORDS) + content[one.end() :]
    return name, content


def _lines(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    if not _text(content):
        return None
    rows = content.split(b"\n")
    at = chance.randrange(len(rows))
    match chance.randrange(8):
        case 0:
            del rows[at]
        case 1:
            rows[at:at] = [rows[at]] * chance.choice((1, 9, 3000))
        case 2:
            rows[at] = b""
        case 3:
            rows[at] = b" ".join([rows[at]] * chance.choice((2, 3000)))
        case 4:
            other = chance.randrange(len(rows))
            rows[at], rows[other] = rows[other], rows[at]
        case 5:
            rows[at] = rows[at][: chance.randrange(1 + len(rows[at]))]
        case 6:
            return name, chance.choice((b"\r", b"\r\n", b"\n\n", b"\x0c", b"\t", b"", b"\xe2\x80\xa8")).join(rows)
        case _:
            words = rows[at].split(b" ")
            chance.shuffle(words)
            rows[at] = b" ".join(words)
    return name, b"\n".join(rows)


def _encoded(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    if not _text(content):
        return None
    return name, content.decode("utf-8", "replace").encode(chance.choice(_ENCODINGS), "replace")


def _fields(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    """Write a whole or real number over the head of a binary file, or anywhere in it."""
    if _text(content):
        return None
    data, form = bytearray(content), chance.choice(("<H", ">H", "<I", ">I", "<Q", ">Q", "<f", ">f", "<d", "B"))
    for _ in range(chance.choice((1, 1, 2, 4))):
        size = struct.calcsize(form)
        if len(data) <= size:
            return None
        at = chance.randrange(min(len(data) - size, chance.choice((32, 128, 400, len(data)))) or 1)
        if form[-1] in "fd":
            value: float = chance.choice((0.0, -1.0, float("nan"), float("inf"), 1e38, -1e-38))
        else:
            value = chance.choice(VALUES) & (2 ** (8 * size) - 1)
        struct.pack_into(form, data, at, value)
    return name, bytes(data)


def _turned(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    """Swap the order of the bytes of a run of numbers, as another machine would have written them."""
    if _text(content):
        return None
    size, at = chance.choice((2, 4, 8)), chance.randrange(len(content))
    piece = content[at : at + size * chance.choice((1, 4, 64))]
    turned = b"".join(piece[k : k + size][::-1] for k in range(0, len(piece), size))
    return name, content[:at] + turned + content[at + len(piece) :]


_FOR_ALL: Mapping[str, Way] = {
    "truncated": _truncated, "crossed": _crossed, "renamed": _renamed, "joined": _joined, "words": _words,
    "lines": _lines, "encoded": _encoded, "fields": _fields, "order": _turned,
}  # fmt: skip
_FOR_FEW: Mapping[str, Way] = {
    "json": formats.changed_json, "deep": formats.changed_deep, "header": formats.changed_header,
    "archive": formats.changed_archive, "bomb": formats.changed_bomb, "xml": formats.changed_xml,
    "tags": formats.changed_tags, "nifti": formats.changed_nifti,
}  # fmt: skip


def structured(count: int, seed: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield (case, name, content), each case in turn and every strategy that is for it; the same for the same seed."""
    cases, made, k = list(accepted_files().items()), 0, 0
    while made < count:
        chance = Random(f"structures {seed}:{k}")
        case, (name, content) = cases[k % len(cases)]
        k += 1
        few, every = (chance.sample(list(ways.items()), len(ways)) for ways in (_FOR_FEW, _FOR_ALL))
        for way, change in few + every if chance.random() < 0.6 else every + few:
            if (found := change(chance, case, name, content)) is not None and found[1]:
                made += 1
                yield f"{case} {seed}:{k - 1} {way}", *found
                break
