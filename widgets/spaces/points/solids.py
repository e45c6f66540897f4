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


# Tubes of a bond of each kind: how far beside its axis, towards its other neighbours, and how thick, in radii of one.
TUBES = {
    1: ((0.0, 1.0),),
    2: ((-0.95, 0.6), (0.95, 0.6)),
    3: ((-1.5, 0.5), (0.0, 0.5), (1.5, 0.5)),
    4: ((-0.55, 0.75), (1.3, 0.35)),  # aromatic: the thin one within the ring
}


def solids(
    places: Array, radius: Array, bonds: Array, width: float, reach: Array | None = None, fine: int = -1,
    kinds: Array | None = None,
) -> Solids:  # fmt: skip
    """Return balls (N,) of these radii and bonds (2, B) of this radius; `kinds` (B,) are those of `TUBES`.

    With `reach` (N, corners of `ball(fine)`) there are bodies in place of the balls, that far from the centre in each
    direction.
    """
    n = len(places)
    form, corners = template(n) if reach is None else ball(fine)
    away = radius[:, None, None] * form if reach is None else reach[:, :, None] * form
    balls = (places[:, None] + away).reshape(-1, 3)
    beside = thick = None
    if kinds is not None and len(kinds) == bonds.shape[1] and (kinds > 1).any():
        bonds, beside, thick = _tubes(places, bonds, kinds)
    halves = _halves(places, bonds, width, beside, thick)
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


def _tubes(places: Array, bonds: Array, kinds: Array) -> tuple[Array, Array, Array]:
    """Return the bonds (2, T) with one for each tube, their places beside the axis (T, 3) and how thick they are (T,).

    Both in radii of a single bond. Tubes of one bond lie in the plane of its neighbours, as its second bond does.
    """
    many = np.array([0, *(len(TUBES[k]) for k in sorted(TUBES))])[kinds]
    which = np.repeat(np.arange(len(kinds)), many)
    told = [tube for k in kinds.tolist() for tube in TUBES[k]]
    aside, thick = np.array(told, float).reshape(-1, 2).T
    side = _sides(places, bonds)
    return bonds[:, which], side[which] * aside[:, None], thick


def _sides(places: Array, bonds: Array) -> Array:
    """Return (B, 3) unit vectors across each bond, towards where the other neighbours of its ends lie."""
    total, many = np.zeros_like(places, float), np.zeros(len(places))
    for here, there in (bonds, bonds[::-1]):
        np.add.at(total, here, places[there])
        np.add.at(many, here, 1)
    a, b = places[bonds[0]], places[bonds[1]]
    way = b - a
    way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)

    def across(towards: Array) -> Array:
        return np.asarray(towards - (towards * way).sum(1, keepdims=True) * way)

    # neighbours of both ends together; where these pull evenly to both sides, those of one end alone
    both = total[bonds[0]] + total[bonds[1]] - (a + b) * ((many[bonds[0]] + many[bonds[1]]) / 2)[:, None]
    first = total[bonds[0]] - b - a * (many[bonds[0]] - 1)[:, None]
    second = total[bonds[1]] - a - b * (many[bonds[1]] - 1)[:, None]
    found = np.zeros_like(way)
    for towards in (both, first, second, np.eye(3)[np.abs(way).argmin(1)]):
        side = across(towards)
        size = np.linalg.norm(side, axis=1, keepdims=True)
        fresh = (np.linalg.norm(found, axis=1) == 0) & (size[:, 0] > 0.05)
        found[fresh] = side[fresh] / size[fresh]
    return found


def _halves(
    places: Array, bonds: Array, width: float, shift: Array | None = None, thick: Array | None = None
) -> Array:  # fmt: skip
    """Return the vertices of tubes from each end of a bond to its middle, the first ends first.

    `shift` (B, 3) is how far each lies beside its axis and `thick` (B,) its radius, both in widths.
    """
    if not bonds.shape[1]:
        return np.zeros((0, 3))
    starts = places[bonds.ravel()]
    middle = np.tile((places[bonds[0]] + places[bonds[1]]) / 2, (2, 1))
    if shift is not None:
        aside = np.tile(width * shift, (2, 1))
        starts, middle = starts + aside, middle + aside
    way = middle - starts
    size = np.linalg.norm(way, axis=1, keepdims=True)
    way = way / np.where(size > 0, size, 1)
    beside = np.cross(way, np.eye(3)[np.abs(way).argmin(1)])
    beside /= np.maximum(np.linalg.norm(beside, axis=1, keepdims=True), 1e-12)
    over = np.cross(way, beside)
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    radius = np.full(len(way), width) if thick is None else width * np.tile(thick, 2)
    ring = radius[:, None, None] * (np.cos(angle)[:, None] * beside[:, None] + np.sin(angle)[:, None] * over[:, None])
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
