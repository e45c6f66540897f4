"""STL, binary or text: triangles that know nothing of each other; corners at the same place are merged."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.mesh.readers.assembly import Found, head_of, numbers, require_counts, sample_of, text_of

_LOOKED_AT = 512
_HEAD = 84  # bytes: a remark and the number of triangles
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_CORNER = re.compile(rb"^[ \t]*vertex[ \t]([^\n]*)", re.M | re.I)
_SOLID_HEAD = re.compile(rb"\s*solid[^\n\0]*\n\s*facet[ \t]+normal\b", re.I)
_SOLID = re.compile(rb"^[ \t]*endsolid\b", re.M | re.I)


def _binary(path: Path, size: int, count: int) -> Found:
    require_counts(0, count)
    there = (size - _HEAD) // _TRIANGLE.itemsize
    if there < count:
        raise Broken(f"it is truncated: it claims {count} triangles and {there} are there")
    with path.open("rb") as file:
        file.seek(_HEAD)
        corners = np.fromfile(file, _TRIANGLE, count)["corners"].astype(np.float64).reshape(-1, 3)
    return _soup(corners)


def _soup(corners: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Found:
    found = Found(corners, np.arange(len(corners)).reshape(-1, 3))
    found.place, found.vertex_place = (lambda k: f"triangle {k}"), (lambda k: f"triangle {k // 3}")
    return found


def _text(text: bytes) -> Found:
    lines = _CORNER.findall(text)
    require_counts(0, len(lines) // 3)

    def place(k: int) -> str:
        start = [match.start(1) for match in _CORNER.finditer(text)][k]
        return f"line {text.count(10, 0, start) + 1}"

    values, width = numbers(lines, place)
    if (width != 3).any():
        bad = int(np.argmax(width != 3))
        raise Broken(f"{place(bad)} has {width[bad]} coordinates and a vertex has 3", "correct it")
    solids = len(_SOLID.findall(text))
    if len(lines) % 3 or not solids:
        raise Broken(f"it is truncated: {len(lines)} corners, and no 'endsolid'" if not solids else
                     f"it has {len(lines)} corners, which is no multiple of three")  # fmt: skip
    found = _soup(values.reshape(-1, 3))
    found.place, found.vertex_place = (lambda k: place(3 * k)), place
    if solids > 1:
        found.notes.append(f"{solids} solids taken together")
    return found


def _fits(path: Path) -> bool:
    """Return whether a file is as long as the triangles that it claims take, or begins as text does."""
    head = head_of(path, _LOOKED_AT)
    return _exact(head[:_HEAD], path.stat().st_size) or _SOLID_HEAD.match(head) is not None


def _exact(head: bytes, size: int) -> bool:
    count = int.from_bytes(head[80:84], "little")
    return len(head) == _HEAD and count > 0 and size == _HEAD + count * _TRIANGLE.itemsize


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "STL"):
        head = head_of(path, _HEAD)
        count = int.from_bytes(head[80:84], "little")
        # a binary file may begin with 'solid' too: its size tells
        if not _exact(head, size) and head.lstrip()[:5].lower() == b"solid" and b"\0" not in head:
            return sample_of(path, _text(text_of(path)))
        if len(head) < _HEAD:
            raise Broken(f"it has {size} bytes and no STL is shorter than {_HEAD}", "save it again")
        return sample_of(path, _binary(path, size, count))


READER = Reader("stl", "Mesh (STL)", (".stl",), "mesh", lambda head: False, _read, fits=_fits)
