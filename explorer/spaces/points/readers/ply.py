"""Clouds of points in PLY: files whose vertices have no faces, as scanners write them, text or binary."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.points.readers.beside import beside
from explorer.spaces.points.readers.clouds import finite, require_count
from explorer.spaces.points.sample import MOST_POINTS, points_sample

_HEADER = 2**16
_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip
_ORDER = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}


def _header(head: bytes) -> tuple[str, list[tuple[str, int, list[tuple[str, str]]]], int]:
    """Return the format, the elements with their counts and properties, and where the data begin."""
    end = head.find(b"end_header")
    begin = head.find(b"\n", end) + 1
    form, elements = "", list[tuple[str, int, list[tuple[str, str]]]]()
    for line in head[: max(end, 0)].decode("utf-8", "replace").splitlines():
        match line.split():
            case ["format", name, *_]:
                form = name
            case ["element", name, count, *_] if count.isdigit():
                elements.append((name, int(count), []))
            case ["property", *kind, name] if elements:
                elements[-1][2].append((name, " ".join(kind)))
    return form, elements, begin


def _dots(
    file: BinaryIO, form: str, elements: list[tuple[str, int, list[tuple[str, str]]]], begin: int
) -> bool:  # fmt: skip
    """Return whether all faces have one corner, as programs write that have a cell at every point."""
    (_, points, columns), (_, count, lists) = elements
    match [kind.split() for _, kind in lists]:
        case [["list", size, corner]] if size in _TYPES and corner in _TYPES and count:
            pass
        case _:
            return False
    if form == "ascii":
        file.seek(begin)
        found = 0
        for line in islice(file, points, points + count):
            if line.split()[:1] != [b"1"]:
                return False
            found += 1
        return found == count  # else it was cut off
    if not all(kind in _TYPES for _, kind in columns):
        return False
    order = _ORDER.get(form, "<")
    row = np.dtype([("size", order + _TYPES[size]), ("corner", order + _TYPES[corner])])
    file.seek(begin + points * sum(np.dtype(_TYPES[kind]).itemsize for _, kind in columns))
    read = np.frombuffer(file.read(min(count, MOST_POINTS) * row.itemsize), row)
    return len(read) == min(count, MOST_POINTS) and bool((read["size"] == 1).all())


def _is_cloud(path: Path) -> bool:
    """Return whether it has vertices in space first, and no faces, strips or edges; a face of one point is none."""
    with path.open("rb") as file:
        form, elements, begin = _header(file.read(_HEADER))
        if len(elements) == 2 and elements[1][0] == "face" and _dots(file, form, elements, begin):
            elements[1] = ("face", 0, [])
    if form not in _ORDER or begin < 1 or not elements or elements[0][0] != "vertex":
        return False
    names = {name for name, _ in elements[0][2]}
    plain = all(kind in _TYPES for _, kind in elements[0][2])
    return plain and {"x", "y", "z"} <= names and not any(count for _, count, _ in elements[1:])


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "PLY"):
        with path.open("rb") as file:
            form, elements, begin = _header(file.read(_HEADER))
        if form not in _ORDER or begin < 1 or not elements:
            raise Broken("its header does not name a format and what is in it, or does not end")
        _, count, properties = elements[0]
        names = [name for name, _ in properties]
        if lacking := [axis for axis in "xyz" if axis not in names]:
            raise Broken(f"its first element has no property {lacking[0]}", "save points in space")
        if strange := [kind for _, kind in properties if kind not in _TYPES]:
            raise Broken(f"its points have a property of type {strange[0]!r}", "save numbers only")
        require_count(count)
        table = _table(path, form, count, properties, begin)
        places = np.stack([table[names.index(axis)] for axis in "xyz"], 1).astype(np.float64)
        kept, notes = finite(places)
        more = beside({name: column for name, column in zip(names, table, strict=False) if name not in "xyz"}, kept)
        return points_sample(
            path.stem, places[kept], values=more.values, vectors=more.vectors, title=path.name, source=str(path),
            notes=(*notes, *more.notes),
        )  # fmt: skip


def _table(
    path: Path, form: str, count: int, properties: list[tuple[str, str]], begin: int
) -> list[NDArray[Any]]:  # fmt: skip
    """Return the columns of the vertices."""
    if form == "ascii":
        with path.open("rb") as file:
            file.seek(begin)
            rows = np.loadtxt(file, np.float64, ndmin=2, max_rows=count)
        if len(rows) < count or rows.shape[1] < len(properties):
            raise Broken(f"it is truncated: it claims {count:,} vertices and {len(rows):,} whole ones are there")
        return list(rows.T)
    row = np.dtype([(f"{name} {k}", _ORDER[form] + _TYPES[kind]) for k, (name, kind) in enumerate(properties)])
    if path.stat().st_size - begin < count * row.itemsize:
        raise Broken(f"it is truncated: it claims {count:,} vertices")
    there = np.fromfile(path, row, count, offset=begin)
    return [there[name] for name in row.names or ()]


READER = Reader(
    "points-ply", "Cloud of points (PLY)", (".ply",), "points", lambda head: False, _read, fits=_is_cloud, rank=-1
)
