"""OFF: a word, three counts, vertices, polygons. Colours at vertices (COFF) are kept."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.mesh.readers.assembly import (
    Found,
    numbers,
    require_counts,
    sample_of,
    text_of,
    triangulated,
    whole,
)

_HEAD = re.compile(rb"(ST)?(C)?(N)?(4)?(n)?OFF\b")


def _sniff(head: bytes) -> bool:
    return _HEAD.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def _found(text: bytes) -> Found:
    told = enumerate((line.partition(b"#")[0] for line in text.split(b"\n")), 1)
    rows = [(k, line) for k, line in told if line.strip()]
    head = _HEAD.match(rows[0][1].strip()) if rows else None
    if head is None:
        raise Broken("its first line does not begin with OFF", "save a mesh as OFF")
    if head[4] or head[5]:
        raise Broken("its vertices have four coordinates or more", "save it in three dimensions")
    rest = rows[0][1].strip()[head.end() :]
    if b"BINARY" in rest:
        raise Broken("it is a binary OFF", "save it as text or as PLY")
    rows = [(rows[0][0], rest), *rows[1:]] if rest.strip() else rows[1:]
    lines, texts = [row[0] for row in rows], [row[1] for row in rows]
    values, _ = numbers(texts[:1], lambda k: f"line {lines[k]}")
    if len(values) < 2:
        raise Broken("it does not say how many vertices and faces it has")
    many, count = (int(n) for n in whole(values[:2], lambda k: f"line {lines[0]}"))
    require_counts(many, count)
    if len(texts) < 1 + many + count:
        raise Broken(f"it is truncated: line {lines[0]} claims {many} vertices and {count} faces, "
                     f"and {len(texts) - 1} lines follow")  # fmt: skip

    def vertex_place(k: int) -> str:
        return f"line {lines[1 + k]}"

    def line(k: int) -> str:
        return f"line {lines[1 + many + k]}"

    places, width = numbers(texts[1 : 1 + many], vertex_place)
    short = np.flatnonzero((width < 3) | (width != width[0])) if many else np.zeros(0, np.int64)
    if short.size:
        k = int(short[0])
        raise Broken(
            f"{vertex_place(k)} has {width[k]} numbers where a vertex has {max(3, int(width[0]))}", "correct it"
        )
    table = places.reshape(many, -1) if many else np.zeros((0, 3))
    flat, filled = numbers(texts[1 + many : 1 + many + count], line)
    begin = np.cumsum(filled) - filled
    sizes = whole(flat[begin], line)
    wrong = np.flatnonzero((sizes < 0) | (sizes > filled - 1))
    if wrong.size:
        k = int(wrong[0])
        raise Broken(f"{line(k)} claims {sizes[k]} corners and has {filled[k] - 1}", "correct it")
    owner = np.repeat(np.arange(count), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    corners = whole(flat[begin[owner] + 1 + within], lambda k: line(int(owner[k])))
    faces, polygon, notes = triangulated(corners, sizes)
    found = Found(table[:, :3], faces, notes=notes)
    found.place, found.vertex_place = lambda k: line(int(polygon[k])), vertex_place
    at = 6 if head[3] else 3
    if head[2] and table.shape[1] >= at + 3:
        colour = table[:, at : at + 3]
        found.values["colour"] = colour / 255 if colour.max(initial=0) > 1 else colour
    return found


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "OFF"):
        return sample_of(path, _found(text_of(path)))


READER = Reader("off", "Mesh (OFF)", (".off", ".coff"), "mesh", _sniff, _read)
