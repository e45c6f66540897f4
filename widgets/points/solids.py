"""Bodies of triangles for points: balls, bonds, surfaces of a higher degree. Numpy only, no Qt.

The canvas of meshes draws them. Vertex k < N is the centre of point k, on no face, so that what points at vertex k
points at point k; `owner` says of which point every other vertex is.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.points.drawing.ball import ball

Array = NDArray[Any]
SIDES = 8  # of a bond
KEPT = 12
TURNING = 20_000  # balls that are drawn while a cloud turns
_faces: OrderedDict[tuple[object, ...], tuple[Array, Array]] = OrderedDict()
_OCTAHEDRON = (
    np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]),
    np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]),
)
_TETRAHEDRON = (
    np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3),
    np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]),
)


@dataclass(frozen=True, slots=True, eq=False)
class Solids:
    """Triangles, and of which point each vertex is; `bonded` vertices are those of bonds."""

    vertices: Array
    faces: Array
    owner: Array
    bonded: Array


def template(points: int) -> tuple[Array, Array]:
    """Return the body that stands for a point where there are so many: the rounder the fewer."""
    if points > 20_000:
        return _TETRAHEDRON
    if points > 3000:
        return _OCTAHEDRON
    return ball(1 if points > 400 else 2)


def solids(
    places: Array, radius: Array, bonds: Array, width: float, reach: Array | None = None, fine: int = -1
) -> Solids:
    """Return balls (N,) of these radii and bonds (2, B) of this radius.

    With `reach` (N, corners of `ball(fine)`) there are bodies in place of the balls, that far from the centre in each
    direction.
    """
    n = len(places)
    form, corners = template(n) if reach is None else ball(fine)
    away = radius[:, None, None] * form if reach is None else reach[:, :, None] * form
    balls = (places[:, None] + away).reshape(-1, 3)
    halves = _halves(places, bonds, width)
    faces, owner = _joined(n, len(form), corners, bonds)
    bonded = np.zeros(len(owner), bool)
    bonded[n + len(balls) :] = True
    return Solids(np.concatenate([places, balls, halves]), faces, owner, bonded)


def fewer(made: Solids, points: int) -> Array | None:
    """Return the faces of some of the balls, evenly spread over the list: what is drawn while a large cloud turns."""
    if points <= TURNING:
        return None
    size = len(template(points)[1])
    bodies = made.faces[: points * size].reshape(points, size, 3)
    return np.ascontiguousarray(bodies[:: -(-points // TURNING)].reshape(-1, 3))


def _joined(n: int, size: int, corners: Array, bonds: Array) -> tuple[Array, Array]:
    """Return the faces and the owners of n bodies and of the halves of bonds; the very arrays of before if the same."""
    key = (n, size, bonds.tobytes())
    if key not in _faces:
        bodies = (corners[None] + (n + size * np.arange(n))[:, None, None]).reshape(-1, 3)
        start, halves = n + n * size, 2 * bonds.shape[1]
        here, there = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
        one = np.concatenate(
            [np.stack([here, there, SIDES + here], 1), np.stack([there, SIDES + there, SIDES + here], 1)]
        )
        tubes = (one[None] + (start + 2 * SIDES * np.arange(halves))[:, None, None]).reshape(-1, 3)
        owner = np.concatenate([np.arange(n), np.repeat(np.arange(n), size), np.repeat(bonds.ravel(), 2 * SIDES)])
        _faces[key] = np.concatenate([bodies, tubes]).astype(np.int64), owner
        while len(_faces) > KEPT:
            _faces.popitem(last=False)
    _faces.move_to_end(key)
    return _faces[key]


def _halves(places: Array, bonds: Array, width: float) -> Array:
    """Return the vertices of tubes from each end of a bond to its middle, the first ends first."""
    if not bonds.shape[1]:
        return np.zeros((0, 3))
    starts = places[bonds.ravel()]
    middle = np.tile((places[bonds[0]] + places[bonds[1]]) / 2, (2, 1))
    way = middle - starts
    size = np.linalg.norm(way, axis=1, keepdims=True)
    way = way / np.where(size > 0, size, 1)
    beside = np.cross(way, np.eye(3)[np.abs(way).argmin(1)])
    beside /= np.maximum(np.linalg.norm(beside, axis=1, keepdims=True), 1e-12)
    over = np.cross(way, beside)
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = width * (np.cos(angle)[:, None] * beside[:, None] + np.sin(angle)[:, None] * over[:, None])
    return np.concatenate([starts[:, None] + ring, middle[:, None] + ring], 1).reshape(-1, 3)


def rings(place: Array, radius: float) -> list[Array]:
    """Return three circles (n, 3) round a point, one about each axis."""
    angle = np.linspace(0, 2 * np.pi, 49)[:-1]
    flat = radius * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], 1)
    return [place + np.roll(flat, k, axis=1) for k in range(3)]


def spacing(places: Array) -> float:
    """Return the usual distance of a point to the nearest other one; 1 where there is none."""
    from scipy.spatial import cKDTree

    some = places if len(places) <= 5000 else places[:: -(-len(places) // 5000)]
    if len(some) < 2:
        return 1.0
    found = cKDTree(places).query(some, 2)[0][:, 1]
    found = found[found > 0]
    return float(np.median(found)) if len(found) else 1.0
