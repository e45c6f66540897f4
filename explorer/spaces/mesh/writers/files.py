"""Meshes as OBJ, OFF, STL and PLY; PLY keeps the values at the vertices too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.graph.writers.records import left_out

MESH = ("mesh",)
COLOUR = "scalar:colour"
_SHAPE = ("position", "faces")
_CHUNK = 100_000  # lines at a time
_PLY = {"f": "float", "i": "int", "u": "uchar"}


def _lines(rows: NDArray[Any], before: str) -> Iterator[str]:
    """Yield the rows as text, the shortest that reads as the same numbers."""
    for start in range(0, len(rows), _CHUNK):
        yield "".join(f"{before}{' '.join(map(repr, row))}\n" for row in rows[start : start + _CHUNK].tolist())


def _colours(sample: Sample) -> NDArray[np.float64] | None:
    """Return (V, 3) red, green and blue from 0 to 1, if there are such."""
    if COLOUR not in sample.signals:
        return None
    values = np.asarray(sample.signals[COLOUR].values, np.float64)
    return values if values.shape[1:] == (3,) and values.min() >= 0 and values.max() <= 1 else None


def _coloured(sample: Sample) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the positions with colours beside them, if there are any, and the signals that are held by that."""
    places, colours = np.asarray(sample.signals["position"].values, np.float64), _colours(sample)
    return (places, _SHAPE) if colours is None else (np.concatenate([places, colours], 1), (*_SHAPE, COLOUR))


def _write_obj(sample: Sample, path: Path) -> tuple[str, ...]:
    rows, held = _coloured(sample)
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.writelines(_lines(rows, "v "))
        file.writelines(_lines(sample.signals["faces"].values + 1, "f "))
    return left_out(sample, held)


def _write_off(sample: Sample, path: Path) -> tuple[str, ...]:
    rows, held = _coloured(sample)
    if len(held) > len(_SHAPE):
        rows = np.concatenate([rows, np.ones((len(rows), 1))], 1)  # opaque
    faces = sample.signals["faces"].values
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write(f"{'C' if rows.shape[1] > 3 else ''}OFF\n{len(rows)} {len(faces)} 0\n")
        file.writelines(_lines(rows, ""))
        file.writelines(_lines(faces, "3 "))
    return left_out(sample, held)


def _write_stl(sample: Sample, path: Path) -> tuple[str, ...]:
    places = np.asarray(sample.signals["position"].values, np.float64)
    faces = np.asarray(sample.signals["faces"].values)
    if not np.abs(places).max(initial=0) < np.finfo(np.float32).max:
        raise ValueError(f"{sample.name!r} has positions beyond 32 bits; choose .ply or .obj")
    a, b, c = (places[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    triangles = np.zeros(len(faces), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    triangles["normal"] = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    triangles["corners"] = places[faces]
    with path.open("wb") as file:
        file.write(b"triangles".ljust(80, b" "))
        file.write(len(faces).to_bytes(4, "little"))
        file.write(triangles.tobytes())
    rounded = ("positions rounded to 32 bits",) if (places.astype(np.float32) != places).any() else ()
    return left_out(sample, _SHAPE) + rounded


def _columns(sample: Sample) -> tuple[list[tuple[str, NDArray[Any]]], tuple[str, ...]]:
    """Return what a PLY says at each vertex, by name, and the signals that are held by that."""
    position = np.asarray(sample.signals["position"].values, np.float64)
    found: list[tuple[str, NDArray[Any]]] = [(axis, position[:, k]) for k, axis in enumerate("xyz")]
    held = list(_SHAPE)
    if (colours := _colours(sample)) is not None:
        bytes_ = np.round(255 * colours)
        exact = bool((np.abs(bytes_ / 255 - colours) < 1e-6).all())
        some = bytes_.astype(np.uint8) if exact else colours.astype(np.float32)
        found += [(name, some[:, k]) for k, name in enumerate(("red", "green", "blue"))]
        held.append(COLOUR)
    for name, signal in sample.signals.items():
        short = "_".join(name.removeprefix("scalar:").split())
        plain = signal.values.ndim == 1 and short.isascii() and short not in dict(found)
        if name.startswith(("label", "scalar:")) and plain and name not in held:
            found.append((short, signal.values.astype(np.int32 if name.startswith("label") else np.float32)))
            held.append(name)
    return found, tuple(held)


def _write_ply(sample: Sample, path: Path) -> tuple[str, ...]:
    columns, held = _columns(sample)
    faces = np.asarray(sample.signals["faces"].values)
    row = np.dtype([(name, values.dtype.newbyteorder("<")) for name, values in columns])
    vertices, triangles = np.zeros(len(columns[0][1]), row), np.zeros(len(faces), [("n", "u1"), ("corners", "<i4", 3)])
    for name, values in columns:
        vertices[name] = values
    triangles["n"], triangles["corners"] = 3, faces
    types = ("double" if values.dtype == np.float64 else _PLY[values.dtype.kind] for _, values in columns)
    with path.open("wb") as file:
        _ply_header(file, len(vertices), len(faces), [f"{kind} {name}" for kind, (name, _) in zip(types, columns)])
        file.write(vertices.tobytes())
        file.write(triangles.tobytes())
    return left_out(sample, held)


def _ply_header(file: IO[bytes], vertices: int, faces: int, properties: list[str]) -> None:
    lines = [
        "ply", "format binary_little_endian 1.0", f"element vertex {vertices}",
        *(f"property {one}" for one in properties),
        f"element face {faces}", "property list uchar int vertex_indices", "end_header", "",
    ]  # fmt: skip
    file.write("\n".join(lines).encode("ascii"))


WRITER = (
    Writer("mesh-obj", "Mesh (OBJ)", (".obj",), _write_obj, MESH),
    Writer("mesh-off", "Mesh (OFF)", (".off",), _write_off, MESH),
    Writer("mesh-stl", "Mesh (STL)", (".stl",), _write_stl, MESH),
    Writer("mesh-ply", "Mesh with its values (PLY)", (".ply",), _write_ply, MESH),
)
