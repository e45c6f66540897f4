"""Legacy VTK files, text or binary: the faces of POLYDATA and of UNSTRUCTURED_GRID, with the values at their points."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.mesh.readers.assembly import (
    MAX_TEXT,
    Found,
    Index,
    parsed,
    require_counts,
    sample_of,
    stripped,
    triangulated,
)

_HEAD = b"# vtk DataFile Version"
_TYPES = {
    "char": "i1", "unsigned_char": "u1", "short": "i2", "unsigned_short": "u2", "int": "i4", "unsigned_int": "u4",
    "long": "i8", "unsigned_long": "u8", "vtktypeint64": "i8", "vtktypeint32": "i4", "vtkidtype": "i4",
    "float": "f4", "double": "f8",
}  # fmt: skip
_WORD = re.compile(rb"\n[ \t]*[A-Z_]{4,}")
_MOST = 2**27  # numbers of one array
TRIANGLE, STRIP, POLYGON, PIXEL, QUAD = 5, 6, 7, 8, 9
FLAT = frozenset((TRIANGLE, POLYGON, PIXEL, QUAD))
VOLUMES = frozenset((10, 11, 12, 13, 14, 24, 25))


class _Stream:
    """The file's bytes, read line by line and array by array."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self.binary = False

    def line(self) -> str | None:
        """Return the next line that is not empty, or None at the end."""
        while self._at < len(self._data):
            end = self._data.find(b"\n", self._at)
            end = len(self._data) if end < 0 else end
            text = self._data[self._at : end].decode("utf-8", "replace").strip()
            self._at = end + 1
            if text:
                return text
        return None

    def place(self, at: int | None = None) -> str:
        return f"line {self._data.count(10, 0, max((self._at if at is None else at) - 1, 0)) + 1}"

    def array(self, count: int, kind: str) -> NDArray[Any]:
        """Return the next `count` numbers."""
        name = _TYPES.get(kind.lower())
        if name is None or not 0 <= count <= _MOST:
            raise Broken(f"{self.place()} claims {count} numbers of the type {kind[:20]!r}")
        if self.binary:
            dtype = np.dtype(">" + name)
            if self._at + count * dtype.itemsize > len(self._data):
                raise Broken(f"it is truncated: {self.place()} claims {count} numbers and the file ends before")
            found = np.frombuffer(self._data, dtype, count, self._at)
            self._at += count * dtype.itemsize
            return found.astype(dtype.newbyteorder("="))
        start = self._at
        word = _WORD.search(self._data, self._at - 1)
        end = word.start() + 1 if word else len(self._data)
        # the next section begins with a word; an array of none ends where it begins
        values = parsed(self._data[self._at : end])
        if len(values) != count:
            raise Broken(f"{self.place(start)} claims {count} numbers and {len(values)} can be read after it")
        self._at = end
        return values

    def skip_metadata(self) -> None:
        """Go on after the empty line that ends METADATA."""
        end = self._data.find(b"\n\n", self._at)
        self._at = len(self._data) if end < 0 else end + 2


def _cells(stream: _Stream, first: int, second: int, modern: bool) -> tuple[Index, Index]:
    """Return the corners of cells, one after the other, and how many each has."""
    if not modern:
        flat = stream.array(second, "int").astype(np.int64)
        counts, at = np.zeros(first, np.int64), 0
        if first and not second:
            raise Broken(f"it claims {first} cells and lists no corner")
        # rows alike are counted at once
        if first and second == first * (flat[0] + 1) and (flat[:: flat[0] + 1] == flat[0]).all():
            counts[:] = flat[0]
        else:
            listed = flat.tolist()
            for k in range(first):
                if at >= second or listed[at] < 0 or at + listed[at] >= second:
                    raise Broken(f"cell {k} reaches beyond the list of cells")
                counts[k], at = listed[at], at + listed[at] + 1
        start = np.cumsum(counts + 1) - counts - 1
        keep = np.ones(second, np.bool_)
        keep[start] = False
        return flat[keep][: int(counts.sum())], counts
    words = (stream.line() or "").split()
    if words[:1] != ["OFFSETS"] or len(words) != 2:
        raise Broken(f"{stream.place()} has no OFFSETS where they must stand")
    offsets = stream.array(first, words[1]).astype(np.int64)
    words = (stream.line() or "").split()
    if words[:1] != ["CONNECTIVITY"] or len(words) != 2:
        raise Broken(f"{stream.place()} has no CONNECTIVITY where it must stand")
    corners = stream.array(second, words[1]).astype(np.int64)
    return corners, counted(offsets, len(corners))


def counted(offsets: Index, total: int) -> Index:
    """Return how many corners each cell has, from where each begins and the last ends."""
    counts = np.diff(offsets)
    if len(offsets) and (offsets[0] != 0 or offsets[-1] != total or (counts < 0).any()):
        raise Broken("its offsets of cells do not ascend from 0 to the number of corners")
    return np.asarray(counts)


def flat_cells(corners: Index, counts: Index, kinds: Index) -> tuple[Index, list[str]]:
    """Return (F, 3) the triangles of the flat cells of an unstructured grid, and notes of what was left out.

    Raises:
        Broken: there are volumes, whose surface is not in the file.
    """
    if len(kinds) != len(counts):
        raise Broken(f"there are {len(counts)} cells and {len(kinds)} types of cells")
    if np.isin(kinds, list(VOLUMES)).any():
        raise Broken("it is a volume, made of solid cells", "save its surface")
    owner = np.repeat(np.arange(len(counts)), counts)
    flat = np.isin(kinds, list(FLAT))
    pixel = np.flatnonzero(kinds == PIXEL)
    begin = np.cumsum(counts) - counts
    if pixel.size:
        if (counts[pixel] != 4).any():
            raise Broken("a pixel has not four corners")
        corners = corners.copy()
        third = begin[pixel] + 2
        corners[third], corners[third + 1] = corners[third + 1], corners[third]
    faces, _, notes = triangulated(corners[flat[owner]], counts[flat])
    strips = kinds == STRIP
    if strips.any():
        faces = np.concatenate([faces, stripped(corners[strips[owner]], counts[strips])])
    if left := int(np.count_nonzero(~flat & ~strips)):
        notes.append(f"{left} cells left out that are no flat faces")
    return faces, notes


def _found(data: bytes) -> Found:
    stream = _Stream(data)
    version = (stream.line() or "")[len(_HEAD) :].strip()
    modern = version.startswith("5")
    stream.line()
    stream.binary = (stream.line() or "").upper() == "BINARY"
    kind = (stream.line() or "").upper().split()[-1:]
    if kind not in (["POLYDATA"], ["UNSTRUCTURED_GRID"]):
        raise Broken(f"it holds {kind[0][:30] if kind else 'nothing'}, not faces", "save its surface as POLYDATA")
    found = Found(np.zeros((0, 3)), np.zeros((0, 3), np.int64))
    cells: tuple[Index, Index] = (np.zeros(0, np.int64), np.zeros(0, np.int64))
    faces, many, at_points = [found.faces], 0, False
    while (line := stream.line()) is not None:
        words = line.split()
        word, sizes = words[0].upper(), [int(w) if w.isdigit() and len(w) < 19 else 0 for w in words[1:3]]
        sizes += [0] * (2 - len(sizes))
        if word == "POINTS" and len(words) == 3:
            require_counts(sizes[0], 0)
            found.vertices = stream.array(3 * sizes[0], words[2]).astype(np.float64).reshape(-1, 3)
        elif word in ("VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS", "CELLS"):
            require_counts(0, sizes[0])
            corners, counts = _cells(stream, sizes[0], sizes[1], modern)
            if word == "POLYGONS":
                some, _, notes = triangulated(corners, counts)
                faces.append(some)
                found.notes += notes
            elif word == "TRIANGLE_STRIPS":
                faces.append(stripped(corners, counts))
            elif word == "CELLS":
                cells = corners, counts
            elif len(counts):
                found.notes.append(f"{len(counts)} {'points' if word == 'VERTICES' else 'lines'} left out")
        elif word == "CELL_TYPES":
            some, notes = flat_cells(*cells, stream.array(sizes[0], "int").astype(np.int64))
            faces.append(some)
            found.notes += notes
        elif word == "METADATA":
            stream.skip_metadata()
        elif word in ("POINT_DATA", "CELL_DATA"):
            at_points = word == "POINT_DATA"
            many = sizes[0]
        elif not _values(stream, found, words, many, at_points):
            break  # what comes after is of no use here
    found.faces = np.concatenate(faces)
    found.values = {k: v for k, v in found.values.items() if len(v) == len(found.vertices)}
    return found


def _values(stream: _Stream, found: Found, words: list[str], many: int, keep: bool) -> bool:
    """Read one array of values and say whether it was one."""
    word, kept = words[0].upper(), dict[str, NDArray[Any]]()
    if word == "SCALARS" and len(words) in (3, 4):
        stream.line()  # LOOKUP_TABLE
        width = int(words[3]) if len(words) == 4 and words[3] in "1234" else 1
        kept[words[1]] = stream.array(many * width, words[2]).reshape((many, width) if width > 1 else (many,))
    elif word in ("VECTORS", "NORMALS") and len(words) == 3:
        kept[words[1]] = stream.array(many * 3, words[2]).reshape(many, 3)
        keep = keep and word == "VECTORS"
    elif word == "FIELD" and len(words) == 3 and words[2].isdigit():
        for _ in range(min(int(words[2]), 1000)):
            parts = (stream.line() or "").split()
            if parts[:1] == ["METADATA"]:
                stream.skip_metadata()
                parts = (stream.line() or "").split()
            if len(parts) != 4 or not parts[1].isdigit() or not parts[2].isdigit() or parts[3].lower() not in _TYPES:
                return False
            width, rows = int(parts[1]), int(parts[2])
            values = stream.array(width * rows, parts[3])
            if parts[0] != "Normals":
                kept[parts[0]] = values if width == 1 else values.reshape(rows, width)
    else:
        return False
    if keep:
        found.values |= kept
    return True


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "VTK file"):
        if size > MAX_TEXT:
            raise Broken(f"it has {size} bytes and the most is {MAX_TEXT}", "simplify it or take a part of it")
        data = path.read_bytes()
        if not data.startswith(_HEAD):
            raise Broken("it does not begin with '# vtk DataFile Version'", "save a mesh as VTK")
        return sample_of(path, _found(data))


READER = Reader("vtk", "Mesh (VTK)", (".vtk",), "mesh", lambda head: head.startswith(_HEAD), _read)
