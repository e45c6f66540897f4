"""glTF 2.0, as JSON or GLB: all triangles of the scene in one mesh, moved to where the nodes put them.

Buffers are read from the file itself, from data in the text, or from a file beside it; from nowhere else. Materials,
textures, skins and animations are not looked at.
"""

from __future__ import annotations

import base64
import json
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, file_bytes, refusing, told_in_json
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.mesh.readers.assembly import Found, Index, require_counts, sample_of, stripped

_KINDS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_JSON, _BIN = 0x4E4F534A, 0x004E4942
_LOOKED_AT = 2**16
_ASSET = re.compile(rb'^\s*\{.*"asset"\s*:\s*\{[^{}]*"version"\s*:', re.S)
_MOST_JSON = 2**26
_PACKED = frozenset(("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_mesh_quantization"))
TRIANGLES, STRIP, FAN = 4, 5, 6
_MOTIONS = frozenset(("matrix", "translation", "rotation", "scale"))
_MOST_PARTS, _MOST_OBJECTS = 10_000, 200_000


class _File:
    """The JSON of a file and the buffers that it names."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            glb = file.read(4) == b"glTF"
        text, self._chunk = _glb(path) if glb else (_short(path), b"")
        if (objects := text.count(b"{")) > _MOST_OBJECTS:
            raise Broken(f"its JSON has {objects} objects and the most is {_MOST_OBJECTS}", "join its parts")
        try:
            self.json = json.loads(text)
        except json.JSONDecodeError as error:
            raise Broken(f"its JSON cannot be read at line {error.lineno}, column {error.colno}") from None
        except UnicodeDecodeError:
            raise Broken("its JSON cannot be read: it is not text in UTF-8") from None
        except (ValueError, RecursionError):
            raise Broken("its JSON cannot be read: it is nested too deeply, or a number in it is too long") from None
        if not isinstance(self.json, dict) or not isinstance(self.json.get("asset"), dict):
            raise Broken("it has no 'asset', as every glTF has", "save a mesh as glTF 2.0")
        if not str(self.json["asset"].get("version", "")).startswith("2."):
            raise Broken(f"it is glTF {told_in_json(self.json['asset'].get('version'))}", "save it as glTF 2.0")
        packed = _PACKED & set(map(str, self.json.get("extensionsRequired", ())))
        if packed:
            raise Broken(f"it needs the extension {min(packed)}", "save it without compression")
        self._buffers: dict[int, bytes] = {}
        self._values: dict[tuple[Any, str], NDArray[Any]] = {}

    def entry(self, kind: str, number: Any) -> dict[str, Any]:
        entries = self.json.get(kind, [])
        if not isinstance(number, int) or not isinstance(entries, list) or not 0 <= number < len(entries):
            raise Broken(f"there is no entry {told_in_json(number)} in {kind!r}")
        found = entries[number]
        if not isinstance(found, dict):
            raise Broken(f"entry {number} of {kind!r} is no object")
        return found

    def buffer(self, number: int) -> bytes:
        if number not in self._buffers:
            entry = self.entry("buffers", number)
            data = self._resolved(entry.get("uri"), number)
            if len(data) < _size(entry, "byteLength"):
                raise Broken(f"buffer {number} claims {entry['byteLength']} bytes and has {len(data)}")
            self._buffers[number] = data
        return self._buffers[number]

    def _resolved(self, uri: Any, number: int) -> bytes:
        if uri is None:
            if number or not self._chunk:
                raise Broken(f"buffer {number} is not in it", "save it with its buffers")
            return self._chunk
        if str(uri).startswith("data:"):
            try:
                return base64.b64decode(str(uri).partition(",")[2], validate=True)
            except ValueError:  # letters of other scripts too
                raise Broken(f"the data of buffer {number} are no base64") from None
        name = unquote(str(uri))
        parts = PurePosixPath(name.replace("\\", "/"))
        if urlsplit(str(uri)).scheme or parts.is_absolute() or ".." in parts.parts or "\0" in name:
            raise Broken(f"buffer {number} lies elsewhere: {name[:60]!r}", "save it as GLB")
        beside = (self.path.parent / parts).resolve()
        if not beside.is_relative_to(self.path.parent.resolve()):
            raise Broken(f"buffer {number} lies elsewhere: {name[:60]!r}", "save it as GLB")
        if not beside.is_file():
            raise Broken(f"the file {name[:60]!r} with its buffer {number} is not beside it", "copy it there")
        file_bytes(beside)
        return beside.read_bytes()

    def values(self, number: Any, kind: str) -> NDArray[Any]:
        """Return the (count, width) numbers of an accessor, which many parts may share."""
        if isinstance(number, int) and (number, kind) in self._values:
            return self._values[number, kind]
        accessor = self.entry("accessors", number)
        if "sparse" in accessor or "bufferView" not in accessor:
            raise Broken(f"accessor {number} is sparse", "save it without sparse accessors")
        if accessor.get("type") != kind or accessor.get("componentType") not in _KINDS:
            raise Broken(f"accessor {number} holds {told_in_json(accessor.get('type'))} where {kind} must stand")
        view = self.entry("bufferViews", accessor["bufferView"])
        data = self.buffer(view.get("buffer", -1))
        plain, width, count = np.dtype(_KINDS[accessor["componentType"]]), _WIDTHS[kind], _size(accessor, "count")
        require_counts(count // 3 if kind == "SCALAR" else count, 0)
        stride = _size(view, "byteStride") or plain.itemsize * width
        start = _size(view, "byteOffset") + _size(accessor, "byteOffset")
        end = start + stride * (count - 1) + plain.itemsize * width if count else start
        if (
            stride < plain.itemsize * width
            or end > len(data)
            or end > _size(view, "byteOffset") + _size(view, "byteLength")
        ):
            raise Broken(f"accessor {number} reaches beyond its buffer")
        strides = (stride, plain.itemsize)
        found = np.ndarray((count, width), plain, data, start, strides).copy()
        self._values[number, kind] = found
        return found


def _size(entry: dict[str, Any], key: str) -> int:
    value = entry.get(key, 0)
    if not isinstance(value, int) or not 0 <= value < 2**40:
        raise Broken(f"{key!r} is {told_in_json(value)}, which is no size")
    return value


def _short(path: Path) -> bytes:
    if path.stat().st_size > 8 * _MOST_JSON:
        raise Broken(f"it has {path.stat().st_size} bytes as text", "save it as GLB")
    return path.read_bytes().removeprefix(b"\xef\xbb\xbf")


def _glb(path: Path) -> tuple[bytes, bytes]:
    """Return the JSON and the binary chunk."""
    data = path.read_bytes()
    if int.from_bytes(data[4:8], "little") != 2:
        raise Broken("it is not version 2 of GLB", "save it as glTF 2.0")
    chunks, at = dict[int, bytes](), 12
    while at + 8 <= len(data):
        length, kind = int.from_bytes(data[at : at + 4], "little"), int.from_bytes(data[at + 4 : at + 8], "little")
        if at + 8 + length > len(data):
            raise Broken(f"it is truncated: a chunk claims {length} bytes and {len(data) - at - 8} are there")
        chunks.setdefault(kind, data[at + 8 : at + 8 + length])
        at += 8 + length
    if _JSON not in chunks:
        raise Broken("it has no JSON")
    if len(chunks[_JSON]) > _MOST_JSON:
        raise Broken(f"its JSON has {len(chunks[_JSON])} bytes")
    return chunks[_JSON], chunks.get(_BIN, b"")


def _motion(node: dict[str, Any]) -> NDArray[np.float64]:
    """Return (4, 4) from a node's matrix (by columns) or its translation, rotation x y z w and scale."""

    def given(key: str, default: list[float]) -> NDArray[np.float64]:
        try:
            value = np.array(node.get(key, default), np.float64)
        except (TypeError, ValueError):
            value = np.zeros(0)
        if value.shape != (len(default),) or not np.isfinite(value).all():
            raise Broken(f"the {key!r} of a node is not {len(default)} numbers")
        return value

    if "matrix" in node:
        return given("matrix", [0.0] * 16).reshape(4, 4).T
    x, y, z, w = given("rotation", [0, 0, 0, 1])
    turn = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    whole = np.eye(4)
    whole[:3, :3] = np.array(turn) * given("scale", [1, 1, 1])
    whole[:3, 3] = given("translation", [0, 0, 0])
    return whole


def _placed(file: _File) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield each mesh of the scene with its motion; every mesh once where there is no scene."""
    if not file.json.get("scenes"):
        for mesh in range(len(file.json.get("meshes", []))):
            yield mesh, np.eye(4)
        return
    roots = file.entry("scenes", file.json.get("scene", 0)).get("nodes", [])
    open_nodes, seen = deque((node, np.eye(4)) for node in roots), set[int]()
    while open_nodes:
        number, above = open_nodes.popleft()
        node = file.entry("nodes", number)
        if number in seen:
            raise Broken(f"node {number} hangs from several others, or from itself")
        seen.add(number)
        here = above @ _motion(node) if _MOTIONS & node.keys() else above  # most of a long chain moves nothing
        if "mesh" in node:
            yield node["mesh"], here
        open_nodes += [(child, here) for child in node.get("children", [])]


def _triangles(file: _File, primitive: dict[str, Any], vertices: int) -> Index:
    if "indices" in primitive:
        index = file.values(primitive["indices"], "SCALAR")[:, 0].astype(np.int64)
    else:
        index = np.arange(vertices)
    mode = primitive.get("mode", TRIANGLES)
    if mode == STRIP:
        return stripped(index, np.array([len(index)]))
    if mode == FAN:
        return np.stack([np.full(max(len(index) - 2, 0), index[0] if len(index) else 0), index[1:-1], index[2:]], 1)
    if len(index) % 3:
        raise Broken(f"a list of triangles has {len(index)} corners, which is no multiple of three")
    return index.reshape(-1, 3)


def _found(path: Path) -> Found:
    file = _File(path)
    vertices, faces, skipped = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    parts = total = many = 0
    for number, motion in _placed(file):
        for primitive in file.entry("meshes", number).get("primitives", []):
            if primitive.get("mode", TRIANGLES) not in (TRIANGLES, STRIP, FAN):
                skipped += 1
                continue
            at = file.values(primitive.get("attributes", {}).get("POSITION"), "VEC3").astype(np.float64)
            index = _triangles(file, primitive, len(at))
            outside = (index < 0) | (index >= len(at))
            if outside.any():
                k = int(np.argmax(outside.any(1)))
                raise Broken(f"face {k} of part {parts} has vertex {index[k].max()}, and there are {len(at)} vertices")
            if np.linalg.det(motion[:3, :3]) < 0:  # a mirror turns inside out
                index = index[:, ::-1]
            vertices.append(at @ motion[:3, :3].T + motion[:3, 3])
            faces.append(index + total)
            total, many, parts = total + len(at), many + len(index), parts + 1
            require_counts(total, many)
            if parts > _MOST_PARTS:
                raise Broken(f"it puts together more than {_MOST_PARTS} parts", "join them and save it again")
    found = Found(np.concatenate(vertices), np.concatenate(faces))
    if parts > 1:
        found.notes.append(f"{parts} parts taken together")
    if skipped:
        found.notes.append(f"{skipped} sets of points or lines left out")
    return found


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "glTF"):
        return sample_of(path, _found(path))


def _fits(path: Path) -> bool:
    """Return whether a file is JSON whose asset, near its beginning, tells a version."""
    with path.open("rb") as file:
        return _ASSET.search(file.read(_LOOKED_AT)) is not None


READER = Reader(
    "gltf", "Mesh (glTF, GLB)", (".gltf", ".glb"), "mesh", lambda head: head.startswith(b"glTF"), _read, fits=_fits
)
