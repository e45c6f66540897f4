"""VTK's XML files: surfaces (.vtp) and the flat cells of unstructured grids (.vtu), in every encoding that VTK writes.

A DTD is refused: no entity is ever expanded. Compression by zlib and LZMA is undone, up to the size that is declared.
"""

from __future__ import annotations

import base64
import binascii
import lzma
import re
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.archives import DENSEST
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
from explorer.spaces.mesh.readers.vtk import counted, flat_cells

_TYPES = {
    "Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2", "Int32": "i4", "UInt32": "u4", "Int64": "i8",
    "UInt64": "u8", "Float32": "f4", "Float64": "f8",
}  # fmt: skip
_HEAD = re.compile(rb"\s*(?:<\?xml[^>]*\?>)?\s*<VTKFile")
_APPENDED = re.compile(rb"<AppendedData\s+encoding\s*=\s*[\"'](raw|base64)[\"']\s*>")
_MOST_BYTES = 2**30  # of one array, and of all
_MOST_ARRAYS = 1000


class _Arrays:
    """The XML of a file and its arrays of numbers."""

    def __init__(self, data: bytes) -> None:
        appended = _APPENDED.search(data)
        # what follows may be raw bytes, of which no XML parser can make anything
        text = data[: appended.start()] + b"</VTKFile>" if appended else data
        self._appended, self._raw = memoryview(b""), False
        if appended:
            begin = data.find(b"_", appended.end()) + 1
            if not begin:
                raise Broken("its appended data do not begin with an underscore")
            self._raw = appended[1] == b"raw"
            self._appended = memoryview(data)[begin:]
        if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
            raise Broken("it declares a document type or entities, which are never expanded", "save it without them")
        try:
            self.root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise Broken(f"its XML is damaged in line {error.position[0]}") from None
        if self.root.tag != "VTKFile":
            raise Broken("it does not begin with <VTKFile>", "save a mesh as VTP")
        self._order = ">" if self.root.get("byte_order") == "BigEndian" else "<"
        self._head = np.dtype(self._order + ("u8" if self.root.get("header_type") == "UInt64" else "u4"))
        self._packed = (self.root.get("compressor") or "").removeprefix("vtk").removesuffix("DataCompressor")
        # several arrays may say that they begin at the same place
        self._taken, self._most = 0, min(_MOST_BYTES, (DENSEST if self._packed else 8) * len(data))
        if self._packed not in ("", "ZLib", "LZMA"):
            raise Broken(f"it is compressed by {self._packed[:20]}", "save it without compression")

    def values(self, parent: ElementTree.Element | None, name: str, count: int) -> NDArray[Any]:
        """Return the numbers of the DataArray of that name, `count` of them; () takes as many as there are."""
        for node in parent if parent is not None else ():
            if node.tag == "DataArray" and (node.get("Name") == name or not name):
                return self.array(node, count)
        raise Broken(f"there is no array {name!r} in <{parent.tag if parent is not None else 'Piece'}>")

    def array(self, node: ElementTree.Element, count: int = -1) -> NDArray[Any]:
        name, kind = node.get("Name") or "Points", _TYPES.get(node.get("type") or "")
        if node.get("type") is None:
            raise Broken(f"the array {name[:40]!r} does not say of what type its numbers are")
        if kind is None:
            raise Broken(f"the array {name[:40]!r} is of the type {node.get('type')!r}, which is no number")
        dtype = np.dtype(self._order + kind)
        match node.get("format"):
            case "ascii":
                words = (node.text or "").encode()
                values = parsed(words, np.float64 if kind[0] == "f" else np.int64)
                if len(values) != len(words.split()):
                    raise Broken(f"the array {name[:40]!r} holds something that is no number")
            case "binary":
                values = np.frombuffer(self._decoded("".join((node.text or "").split()).encode(), name), dtype)
            case "appended":
                offset = node.get("offset") or ""
                if not offset.isdigit() or len(offset) > 18 or int(offset) >= len(self._appended):
                    raise Broken(f"the array {name[:40]!r} begins beyond the end of the file")
                part = self._appended[int(offset) :]
                values = np.frombuffer(self._unpacked(part, name) if self._raw else self._decoded(part, name), dtype)
            case other:
                raise Broken(f"the array {name[:40]!r} is written as {other!r}")
        self._taken += values.nbytes
        if self._taken > self._most:
            raise Broken(f"its arrays take more than {self._most} bytes, more than a file of its size can hold")
        if count >= 0 and len(values) != count:
            raise Broken(f"the array {name[:40]!r} has {len(values)} numbers where there must be {count}")
        return values.astype(values.dtype.newbyteorder("="))

    def _blocks(self, head: bytes | memoryview, name: str) -> list[int]:
        """Return the sizes of the compressed blocks; the first number says how many there are."""
        sizes = np.frombuffer(head, self._head, 3) if len(head) >= 3 * self._head.itemsize else np.zeros(3, np.int64)
        count, block, last = (int(n) for n in sizes)
        total = max(count - bool(last), 0) * block + last
        if total > _MOST_BYTES or count * self._head.itemsize > len(head):
            raise Broken(f"the array {name[:40]!r} claims {total} bytes in {count} blocks")
        return [min(total, _MOST_BYTES), *np.frombuffer(head, self._head, 3 + count)[3:].astype(int).tolist()]

    def _decoded(self, text: bytes | memoryview, name: str) -> bytes:
        """Undo base64: the header is encoded for itself where the blocks are compressed."""
        size = self._head.itemsize
        if not self._packed:
            length = int(np.frombuffer(_base64(text, size, name), self._head, 1)[0])
            return _base64(text, size + length, name)[size:]
        count = int(np.frombuffer(_base64(text, size, name), self._head, 1)[0])
        if count * size > len(text):
            raise Broken(f"the array {name[:40]!r} claims {count} blocks")
        header = (3 + count) * size
        total, *sizes = self._blocks(_base64(text, header, name), name)
        body = text[-(-header // 3) * 4 :]
        return self._inflated(_base64(body, sum(sizes), name), total, sizes, name)

    def _unpacked(self, data: bytes | memoryview, name: str) -> bytes | memoryview:
        size = self._head.itemsize
        if not self._packed:
            length = int(np.frombuffer(data, self._head, 1)[0])
            if size + length > len(data):
                raise Broken(f"it is truncated: the array {name[:40]!r} claims {length} bytes")
            return data[size : size + length]
        total, *sizes = self._blocks(data, name)
        return self._inflated(data[(3 + len(sizes)) * size :], total, sizes, name)

    def _inflated(self, data: bytes | memoryview, total: int, sizes: list[int], name: str) -> bytes:
        parts, at, left = [], 0, total
        for size in sizes:
            try:
                if self._packed == "ZLib":
                    part = zlib.decompressobj().decompress(data[at : at + size], left) if left else b""
                else:
                    part = lzma.LZMADecompressor().decompress(data[at : at + size], left) if left else b""
            except (zlib.error, lzma.LZMAError):
                raise Broken(f"the array {name[:40]!r} cannot be decompressed") from None
            parts.append(part)
            at, left = at + size, left - len(part)
        if left:
            raise Broken(f"it is truncated: {left} bytes of the array {name[:40]!r} are missing")
        return b"".join(parts)


def _base64(text: bytes | memoryview, size: int, name: str) -> bytes:
    """Return the first `size` bytes that a text stands for."""
    try:
        data = base64.b64decode(text[: -(-size // 3) * 4], validate=True)
    except binascii.Error:
        data = b""
    if len(data) < size:
        raise Broken(f"it is truncated: the array {name[:40]!r} claims {size} bytes")
    return data[:size]


def _number(piece: ElementTree.Element, key: str) -> int:
    text = piece.get(key) or "0"
    if not text.strip().isdigit() or len(text) > 18:
        raise Broken(f"a piece has {key}={text[:20]!r}, which is no number")
    return int(text)


def _cells(arrays: _Arrays, node: ElementTree.Element, count: int) -> tuple[Index, Index]:
    offsets = arrays.values(node, "offsets", count).astype(np.int64)
    corners = arrays.values(node, "connectivity", int(offsets[-1]) if count else -1).astype(np.int64)
    return corners, counted(np.concatenate([[0], offsets]), len(corners))


def _piece(arrays: _Arrays, piece: ElementTree.Element) -> Found:
    many, polygons, strips, cells = (
        _number(piece, key) for key in ("NumberOfPoints", "NumberOfPolys", "NumberOfStrips", "NumberOfCells")
    )
    require_counts(many, polygons + strips + cells)
    points = arrays.values(piece.find("Points"), "", 3 * many).astype(np.float64).reshape(-1, 3)
    found = Found(points, np.zeros((0, 3), np.int64))
    if polygons and (node := piece.find("Polys")) is not None:
        found.faces, _, found.notes = triangulated(*_cells(arrays, node, polygons))
    if strips and (node := piece.find("Strips")) is not None:
        found.faces = np.concatenate([found.faces, stripped(*_cells(arrays, node, strips))])
    if cells and (node := piece.find("Cells")) is not None:
        kinds = arrays.values(node, "types", cells).astype(np.int64)
        found.faces, found.notes = flat_cells(*_cells(arrays, node, cells), kinds)
    data = piece.find("PointData")
    if data is not None and len(data) > _MOST_ARRAYS:
        raise Broken(f"it has {len(data)} arrays at its points and the most is {_MOST_ARRAYS}", "leave some out")
    for node in data if data is not None else ():
        name, width = node.get("Name") or "", node.get("NumberOfComponents") or "1"
        if node.tag == "DataArray" and name and name != "Normals" and node.get("type") in _TYPES and width.isdigit():
            values = arrays.array(node)
            if len(values) == many * int(width):
                found.values[name] = values if int(width) == 1 else values.reshape(many, -1)
    return found


def _found(data: bytes) -> Found:
    arrays = _Arrays(data)
    kind = arrays.root.get("type") or ""
    if kind not in ("PolyData", "UnstructuredGrid"):
        raise Broken(f"it holds {kind[:30] or 'nothing'}, not faces", "save its surface as VTP")
    pieces = [_piece(arrays, piece) for piece in arrays.root.iter("Piece")]
    if not pieces:
        raise Broken("there is no <Piece> in it")
    if len(pieces) == 1:
        return pieces[0]
    start = np.cumsum([0, *(len(piece.vertices) for piece in pieces[:-1])])
    found = Found(
        np.concatenate([piece.vertices for piece in pieces]),
        np.concatenate([piece.faces + first for piece, first in zip(pieces, start)]),
        notes=[f"{len(pieces)} pieces taken together", *(note for piece in pieces for note in piece.notes)],
    )
    for name in sorted(set.intersection(*(set(piece.values) for piece in pieces))):
        if len({piece.values[name].shape[1:] for piece in pieces}) == 1:
            found.values[name] = np.concatenate([piece.values[name] for piece in pieces])
    return found


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "VTK file"):
        if size > MAX_TEXT:
            raise Broken(f"it has {size} bytes and the most is {MAX_TEXT}", "simplify it or take a part of it")
        data = path.read_bytes()
        if b"<VTKFile" not in data[:4096]:
            raise Broken("it does not begin with <VTKFile>", "save a mesh as VTP")
        return sample_of(path, _found(data))


READER = Reader("vtk-xml", "Mesh (VTP, VTU)", (".vtp", ".vtu"), "mesh", lambda h: _HEAD.match(h) is not None, _read)
