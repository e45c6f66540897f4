"""PLY, text or binary, in either byte order: the elements 'vertex' and 'face', with whatever stands at the vertices."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.mesh.readers.assembly import (
    Found,
    Index,
    head_of,
    numbers,
    require_counts,
    sample_of,
    text_of,
    triangulated,
    whole,
)

_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8", "int64": "i8", "uint64": "u8",
}  # fmt: skip
_ORDER = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_LONGEST_HEADER = 2**16
_CORNERS = ("vertex_indices", "vertex_index")
_COLOUR = ("red", "green", "blue")
_AT_ONCE = 2**20  # bytes that are gathered at a time
_SKIPPED = frozenset(("x", "y", "z", "nx", "ny", "nz", "alpha", *_COLOUR))


@dataclass(slots=True)
class _Property:
    name: str
    type: str
    count: str = ""  # the type of a list's length, or "" where it is no list


@dataclass(slots=True)
class _Element:
    name: str
    count: int
    properties: list[_Property] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def add(self, one: _Property, number: int) -> None:
        """Take a property of a line of the header."""
        if one.name in self.names:
            raise Broken(
                f"line {number} of its header names {one.name[:40]!r} of {self.name[:40]!r} a second time",
                "save it again",
            )
        self.names.add(one.name)
        self.properties.append(one)


def _header(head: bytes) -> tuple[str, list[_Element], int, int]:
    """Return the byte order ("" for text), the elements, where the data begin, and in which line (from 1)."""
    end = head.find(b"end_header")
    stop = head.find(b"\n", end)
    if end < 0 or stop < 0:
        raise Broken("its header does not end", "save it again")
    order, elements = None, list[_Element]()
    lines = head[:end].decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, 1):
        match line.split():
            case ["format", kind, _] if kind in _ORDER:
                order = _ORDER[kind]
            case ["element", name, count] if count.isdigit() and len(count) < 19:
                elements.append(_Element(name, int(count)))
            case ["property", "list", count, kind, name] if elements and {count, kind} <= _TYPES.keys():
                if _TYPES[count][0] == "f":
                    raise Broken(f"line {number} of its header counts with {count} numbers", "save it again")
                elements[-1].add(_Property(name, _TYPES[kind], _TYPES[count]), number)
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1].add(_Property(name, _TYPES[kind]), number)
            case ["ply"] | ["comment" | "obj_info", *_] | []:
                pass
            case _:
                raise Broken(f"line {number} of its header cannot be read: {line[:40]!r}", "save it again")
    if order is None:
        raise Broken("its header does not say whether it is text or binary", "save it again")
    return order, elements, stop + 1, len(lines) + 2


def _table(element: _Element, flat: NDArray[Any], filled: Index) -> dict[str, Any]:
    """Return the columns of an element, row k of `filled[k]` numbers in `flat`; a list as (values, counts)."""
    at, columns = np.cumsum(filled) - filled, dict[str, Any]()
    for one in element.properties:
        if not one.count:
            columns[one.name] = flat[at]
            at = at + 1
            continue
        counts = whole(flat[at], lambda k: f"{element.name} {k}")
        owner = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        columns[one.name] = (flat[at[owner] + 1 + within], counts)
        at = at + 1 + counts
    return columns


def _filled(element: _Element, lines: list[bytes], first: int) -> dict[str, Any]:
    """Read the lines of one element; each must be as long as its properties and lists make it."""
    flat, filled = numbers(lines, lambda k: f"line {first + k}")
    need = np.zeros(len(lines), np.int64)
    begin = np.cumsum(filled) - filled
    for one in element.properties:
        short = need >= filled
        if not short.any() and one.count:
            need += np.maximum(flat[begin + need].astype(np.int64), 0)
        need += 1
    wrong = np.flatnonzero(need != filled)
    if wrong.size:
        k = int(wrong[0])
        raise Broken(f"line {first + k} has {filled[k]} numbers and its {element.name} takes {need[k]}", "correct it")
    return _table(element, flat, filled)


def _from_text(text: bytes, elements: list[_Element], begin: int, first: int) -> tuple[dict[str, Any], dict[str, int]]:
    lines = text[begin:].split(b"\n")
    found, starts, at = dict[str, Any](), dict[str, int](), 0
    for element in elements:
        if len(lines) - at < element.count or (element.count and not lines[at + element.count - 1].strip()):
            raise Broken(f"it is truncated: it claims {element.count} of the element {element.name!r}")
        if element.name in ("vertex", "face"):
            found[element.name] = _filled(element, lines[at : at + element.count], first + at)
            starts[element.name] = first + at
        at += element.count
    return found, starts


def _truncated(element: _Element) -> Broken:
    return Broken(f"it is truncated: it claims {element.count} of the element {element.name!r}")


def _lengths(element: _Element, order: str, data: bytes, at: int) -> dict[str, int]:
    """Return how long the lists of the row at `at` are."""
    lengths = {}
    for one in element.properties:
        if one.count:
            kind = np.dtype(order + one.count)
            if at + kind.itemsize > len(data):
                raise _truncated(element)
            lengths[one.name] = int(np.frombuffer(data, kind, 1, at)[0])
            if lengths[one.name] < 0:
                raise Broken(f"a list of the element {element.name!r} has {lengths[one.name]} entries")
            at += kind.itemsize + lengths[one.name] * np.dtype(one.type).itemsize
        else:
            at += np.dtype(one.type).itemsize
        if at > len(data):
            raise _truncated(element)
    return lengths


def _alike(element: _Element, order: str, data: bytes, at: int) -> tuple[dict[str, Any], int] | None:
    """Return the columns of an element and where it ends, None where its rows are of several lengths."""
    lengths = _lengths(element, order, data, at)
    fields = list[Any]()
    for one in element.properties:
        if one.count:
            fields.append((f"count of {one.name}", order + one.count))
        fields.append((one.name, order + one.type, (lengths[one.name],)) if one.count else (one.name, order + one.type))
    row = np.dtype(fields)
    fit = min(element.count, (len(data) - at) // row.itemsize)
    block = np.frombuffer(data, row, fit, at)
    if any(bool((block[f"count of {name}"] != length).any()) for name, length in lengths.items()):
        return None
    if fit < element.count:
        if lengths:  # later rows may be shorter
            return None
        raise _truncated(element)
    columns = {
        one.name: (block[one.name].ravel(), np.full(fit, lengths[one.name], np.int64)) if one.count else block[one.name]
        for one in element.properties
    }
    return columns, at + fit * row.itemsize


def _mixed(element: _Element, order: str, data: bytes, at: int) -> tuple[dict[str, Any], int]:
    """Return the columns of an element row by row, and where it ends: a row begins where the one before ends."""
    parts = [
        (np.dtype(one.count or "u1").itemsize if one.count else 0, np.dtype(one.type).itemsize, one.count[:1] == "i")
        for one in element.properties
    ]
    starts, counts = [array("q") for _ in parts], [array("q") for _ in parts]
    end = len(data)
    for _ in range(element.count):
        for k, (wide, size, signed) in enumerate(parts):
            many = 1
            if wide:
                many = int.from_bytes(data[at : at + wide], "little" if order == "<" else "big", signed=signed)
                if many < 0 or at + wide + many * size > end:
                    raise _truncated(element)
                counts[k].append(many)
            starts[k].append(at + wide)
            at += wide + many * size
    if at > end:
        raise _truncated(element)
    columns = dict[str, Any]()
    for k, one in enumerate(element.properties):
        begin = np.frombuffer(starts[k], np.int64)
        lengths = np.frombuffer(counts[k], np.int64) if one.count else np.ones(len(begin), np.int64)
        values = _gathered(data, begin, lengths, np.dtype(order + one.type))
        columns[one.name] = (values, lengths) if one.count else values
    return columns, at


def _gathered(data: bytes, begin: Index, counts: Index, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return the numbers of runs, one after the other, each from the byte where it begins."""
    raw, found = np.frombuffer(data, np.uint8), np.empty(int(counts.sum()), kind)
    into, order = np.cumsum(counts) - counts, np.argsort(counts, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(counts[order])) + 1):  # those of a length at once
        many = int(counts[rows[0]]) if len(rows) else 0
        step = max(1, _AT_ONCE // max(many * kind.itemsize, 1))
        for some in (rows[k : k + step] for k in range(0, len(rows) if many else 0, step)):
            bytes_of = raw[begin[some, None] + np.arange(many * kind.itemsize)]
            found[into[some, None] + np.arange(many)] = bytes_of.view(kind)
    return found


def _from_binary(data: bytes, order: str, elements: list[_Element], at: int) -> dict[str, Any]:
    found = dict[str, Any]()
    for element in elements:
        if not element.count or not element.properties:
            continue
        columns, at = _alike(element, order, data, at) or _mixed(element, order, data, at)
        if element.name in ("vertex", "face"):
            found[element.name] = columns
    return found


def _found(path: Path) -> Found:
    head = head_of(path, _LONGEST_HEADER)
    if not head.startswith(b"ply"):
        raise Broken("it does not begin with 'ply'", "save a mesh as PLY")
    order, elements, begin, first = _header(head)
    size = {element.name: element.count for element in elements}
    require_counts(size.get("vertex", 0), size.get("face", 0))
    starts: dict[str, int] = {}
    if order:
        columns = _from_binary(path.read_bytes(), order, elements, begin)
    else:
        text = text_of(path)
        _, _, begin, first = _header(text[:_LONGEST_HEADER])
        columns, starts = _from_text(text, elements, begin, first)
    vertex, face = columns.get("vertex", {}), columns.get("face", {})
    if not {"x", "y", "z"} <= vertex.keys():
        raise Broken("its vertices have no x, y and z", "save a mesh as PLY")
    if axis := next((axis for axis in "xyz" if not isinstance(vertex[axis], np.ndarray)), ""):
        raise Broken(f"{axis} of its vertices is a list and no number", "save a mesh as PLY")
    corners = next((face[name] for name in _CORNERS if name in face), None)
    if corners is None and "tristrips" in size:
        raise Broken("its faces are strips", "save it as triangles")
    index, counts = corners if corners is not None else (np.zeros(0), np.zeros(0, np.int64))
    owner = np.repeat(np.arange(len(counts)), counts)

    def place(what: str, k: int) -> str:
        return f"line {starts[what] + k}" if what in starts else f"{what} {k}"

    flat = whole(np.asarray(index, np.float64), lambda k: place("face", int(owner[k])))
    faces, polygon, notes = triangulated(flat, np.asarray(counts, np.int64))
    found = Found(np.stack([vertex[axis] for axis in "xyz"], 1).astype(np.float64), faces, notes=notes)
    found.place, found.vertex_place = lambda k: place("face", int(polygon[k])), lambda k: place("vertex", k)
    if set(_COLOUR) <= vertex.keys():
        colour = np.stack([vertex[name] for name in _COLOUR], 1)
        kind = {one.name: one.type for element in elements if element.name == "vertex" for one in element.properties}
        found.values["colour"] = colour / 255 if kind["red"] == "u1" else colour
    found.values |= {k: v for k, v in vertex.items() if k not in _SKIPPED and isinstance(v, np.ndarray)}
    return found


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "PLY"):
        return sample_of(path, _found(path))


def _fits(path: Path) -> bool:
    """Return whether it says of itself that it is a PLY, and not that it has vertices alone: then it is a cloud."""
    head = head_of(path, _LONGEST_HEADER)
    if not re.match(rb"ply ?[\r\n]", head):
        return False
    counts = re.findall(rb"^element[ \t]+(\S+)[ \t]+(\d+)", head.partition(b"end_header")[0], re.M)
    return not counts or any(int(count) for name, count in counts if name != b"vertex")


READER = Reader("ply", "Mesh (PLY)", (".ply",), "mesh", lambda head: False, _read, fits=_fits)
