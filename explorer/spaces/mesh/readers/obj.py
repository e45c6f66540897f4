"""OBJ: v and f lines. Materials, textures and normals are not looked at, and no other file is opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
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

_VERTEX, _FACE, _PART = (re.compile(rb"^[ \t]*" + word + rb"[ \t]([^\n#]*)", re.M) for word in (b"v", b"f", b"o"))
_LOOKED_AT = 4096
_WORDS = frozenset(b"v vt vn vp f o g s l p usemtl mtllib".split())
_REST = re.compile(rb"/[^ \t\n]*")  # texture and normal of a corner
_CURVED = re.compile(rb"^[ \t]*(?:surf|curv2?)[ \t]", re.M)


class _Lines:
    """The number of the line of each match of a pattern; counted when something is wrong, and only then."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    @cache  # noqa: B019  # lives as long as the reading of one file
    def _starts(self, pattern: re.Pattern[bytes]) -> tuple[int, ...]:
        return tuple(self.starts(pattern))

    def starts(self, pattern: re.Pattern[bytes]) -> Iterator[int]:
        return (match.start(1) for match in pattern.finditer(self._text))

    def number(self, pattern: re.Pattern[bytes], k: int) -> str:
        return f"line {self._text.count(10, 0, self._starts(pattern)[k]) + 1}"


def _found(text: bytes) -> Found:
    lines = _Lines(text)
    vertex_lines, face_lines = _VERTEX.findall(text), _FACE.findall(text)
    require_counts(len(vertex_lines), len(face_lines))
    if not vertex_lines:
        raise Broken("there is no line 'v x y z' in it", "save a mesh as OBJ")
    if not face_lines and _CURVED.search(text):
        raise Broken("it has curved surfaces and no faces", "save it as polygons")

    def vertex_place(k: int) -> str:
        return lines.number(_VERTEX, k)

    def line(k: int) -> str:
        return lines.number(_FACE, k)

    values, width = numbers(vertex_lines, vertex_place)
    short = np.flatnonzero((width < 3) | (width > 7))
    if short.size:
        raise Broken(
            f"{vertex_place(int(short[0]))} has {width[short[0]]} coordinates and a vertex has 3", "correct it"
        )
    start = np.cumsum(width) - width
    corners, counts = numbers([_REST.sub(b"", one) for one in face_lines], line)
    owner = np.repeat(np.arange(len(counts)), counts)
    index = whole(corners, lambda k: line(int(owner[k])))
    if (index < 0).any():  # counted back from the vertices above the line
        above = np.searchsorted(
            np.fromiter(lines.starts(_VERTEX), np.int64), np.fromiter(lines.starts(_FACE), np.int64)
        )
        index = np.where(index < 0, index + above[owner] + 1, index)
    zero = np.flatnonzero((index < 1) | (index > len(width)))
    if zero.size:
        bad = int(zero[0])
        raise Broken(
            f"{line(int(owner[bad]))} has vertex {corners[bad]:.0f}, and there are vertices 1 to {len(width)}",
            "correct it",
        )
    faces, polygon, notes = triangulated(index - 1, counts)
    found = Found(values[start[:, None] + np.arange(3)], faces, notes=notes)
    found.place, found.vertex_place = lambda k: line(int(polygon[k])), vertex_place
    if (width >= 6).all():
        found.values["colour"] = values[start[:, None] + np.arange(3, 6)]
    parts = len(_PART.findall(text))
    if parts > 1:
        found.notes.append(f"{parts} objects taken together")
    return found


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "OBJ"):
        return sample_of(path, _found(text_of(path)))


def _fits(path: Path) -> bool:
    """Return whether a file begins with lines of an OBJ alone, three of them vertices."""
    with path.open("rb") as file:
        lines = [line.split() for line in file.read(_LOOKED_AT).split(b"\n")[:-1]]
    words = [line[0] for line in lines if line and not line[0].startswith(b"#")]
    return (
        words.count(b"v") >= 3 and all(len(line) >= 4 for line in lines if line[:1] == [b"v"]) and set(words) <= _WORDS
    )


READER = Reader("obj", "Mesh (OBJ)", (".obj",), "mesh", lambda head: False, _read, fits=_fits)
