"""Lines and tips for frames and vectors on a surface: few enough to be seen, spread, lifted off. Numpy only, no Qt."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.spaces.mesh.drawing.look import Glyphs, Ink

Array = NDArray[Any]
HEAD = 0.3  # length of an arrow's head, of the arrow
WIDTH = 0.15  # and its half width
SOLID = 4000  # tips that are drawn as cones in a panel
LIFT = 0.06  # of the length of a glyph, that it is off the surface
MOST = 2000  # arrows that can be told apart in a panel
FEW = 4000  # points up to which they are chosen with care
CANDIDATES = 8  # places looked at for each one that is taken
KEPT = 8  # choices that are remembered
_chosen: OrderedDict[tuple[int, int], tuple[object, Array]] = OrderedDict()


def face_normals(vertices: Array, faces: Array) -> Array:
    """Return normals (F, 3), as long as twice the area of their face."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def vertex_normals(vertices: Array, faces: Array) -> Array:
    """Return unit normals (V, 3): means over the faces round a vertex, weighted by area; zero where there is none."""
    of_faces, corners = face_normals(vertices, faces), faces.ravel()
    normals = np.stack(
        [np.bincount(corners, np.repeat(of_faces[:, k], 3), len(vertices)) for k in range(3)],
        1,
    )
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.asarray(normals / np.where(size > 0, size, 1))


def spacing(vertices: Array, faces: Array, count: int) -> float:
    """Return the distance between neighbours when so many points lie evenly on the surface."""
    area = float(np.linalg.norm(face_normals(vertices, faces), axis=1).sum()) / 2
    return float(np.sqrt(area / max(count, 1)))


def spread(points: Array, most: int, key: object = None) -> Array:
    """Return the numbers, ascending, of at most `most` points that lie evenly.

    Up to `FEW` are chosen as the farthest from those before (Gonzalez, "Clustering to minimize the maximum intercluster
    distance", 1985); of more, each is alone in its cell of a grid. The choice for a key is kept, so that glyphs stay
    at their vertices while the mesh is turned.
    """
    if len(points) <= most:
        return np.arange(len(points))
    name = (id(key), most)
    if key is not None and name in _chosen:
        _chosen.move_to_end(name)
        return _chosen[name][1]
    if most > FEW:
        found = _thinned(points, most)
    else:
        some = _thinned(points, CANDIDATES * most)
        found = np.sort(some[_farthest(points[some], most)])
    if key is not None:
        _chosen[name] = (key, found)  # the key is held, so that its id stays its own
        while len(_chosen) > KEPT:
            _chosen.popitem(last=False)
    return found


def _farthest(points: Array, count: int) -> Array:
    """Return the numbers of so many points, each the farthest from those before."""
    at = np.ascontiguousarray(points.T, np.float32)
    away, taken = np.full(len(points), np.inf, np.float32), np.zeros(count, np.int64)
    for k in range(count):
        if k:
            taken[k] = away.argmax()
        step = at - at[:, taken[k], None]
        np.minimum(away, np.einsum("ij,ij->j", step, step), out=away)
    return taken


def _thinned(points: Array, most: int) -> Array:
    """Return the numbers, ascending, of at most `most` points, one for each cell of a grid that holds any."""
    found = np.arange(len(points))
    low, size = points.min(0), float(np.ptp(points, axis=0).max()) or 1.0
    side = size / np.sqrt(most)
    while len(found) > most:
        cell = ((points - low) / side).astype(np.int64)
        number = (cell * (1, 1 << 20, 1 << 40)).sum(1)
        found = np.sort(np.unique(number, return_index=True)[1])
        side *= max(1.02, np.sqrt(len(found) / most))  # cells that a surface meets: as 1 / side squared
    return found


def frame_glyphs(
    vertices: Array, faces: Array, frames: Array, most: int = MOST, inks: tuple[Ink, Ink] = ("second", "good")
) -> tuple[Glyphs, Glyphs]:
    """Return the segments of X and of Y of frames (V, 2, 3) at no more than `most` vertices."""
    at = spread(vertices, most, faces)
    length = 0.42 * spacing(vertices, faces, len(at))
    points, normals = vertices[at], np.cross(frames[at, 0], frames[at, 1])
    lift = LIFT * length
    x, y = (Glyphs(points, length * frames[at, k], inks[k], normals, lift, tips=True) for k in range(2))
    return x, y


def field_glyphs(
    vertices: Array, faces: Array, vectors: Array, ink: Ink = "text", most: int = MOST, longest: float | None = None
) -> Glyphs:
    """Return arrows for vectors (V, 3) at no more than `most` vertices.

    A vector of the length `longest`, the longest of all unless given, is drawn nearly as long as arrows are apart.
    """
    at = spread(vertices, most, faces)
    room = 0.85 * spacing(vertices, faces, len(at))
    sizes = np.linalg.norm(vectors, axis=1)
    unit = longest or float(np.where(np.isfinite(sizes), sizes, 0).max(initial=0)) or 1.0
    normals = vertex_normals(vertices, faces)[at]
    return Glyphs(vertices[at], vectors[at] * (room / unit), ink, normals, LIFT * room, arrows=True)


def segments(sets: Sequence[Glyphs], solid: bool = False) -> tuple[Array, Array]:
    """Return the ends (2 S, 3) float32 of all segments, two after each other, and the set (2 S,) of each end.

    With `solid` they end where a cone begins, which is the head.
    """
    ends, owner = [np.zeros((0, 3), np.float32)], [np.zeros(0, np.int64)]
    for k, one in enumerate(sets):
        start, way, normals = _lifted(one)
        tip = start + way
        pairs = [(start, tip - HEAD * way if solid and (one.arrows or one.tips) else tip)]
        if one.arrows and not solid:
            side = WIDTH * _beside(way, normals)
            back = tip - HEAD * way
            pairs += [(tip, back + side), (tip, back - side)]
        made = np.stack([np.stack(pair, 1) for pair in pairs], 1).reshape(-1, 3)
        ends.append(made)
        owner.append(np.full(len(made), k))
    return np.concatenate(ends), np.concatenate(owner)


def cones(sets: Sequence[Glyphs]) -> tuple[Array, Array, Array]:
    """Return where the cones at the tips begin (n, 3), their ways to the tip (n, 3), and the set (n,) of each.

    There are none where they would be more than can be drawn quickly: heads are lines then.
    """
    parts = [_lifted(one)[:2] if one.arrows or one.tips else (np.zeros((0, 3), np.float32),) * 2 for one in sets]
    owner = np.repeat(np.arange(len(sets)), [len(way) for _, way in parts])
    if not 0 < len(owner) <= SOLID:
        return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), owner[:0]
    starts, ways = (np.concatenate([part[k] for part in parts]) for k in range(2))
    return starts + (1 - np.float32(HEAD)) * ways, np.float32(HEAD) * ways, owner


def _lifted(one: Glyphs) -> tuple[Array, Array, Array | None]:
    """Return the starts, the ways and the normals of glyphs, as float32 and without gaps."""
    whole = np.isfinite(one.points).all(1) & np.isfinite(one.directions).all(1)
    start, way = one.points[whole].astype(np.float32), one.directions[whole].astype(np.float32)
    normals = None if one.normals is None else one.normals[whole].astype(np.float32)
    if normals is not None and one.lift:
        start = start + np.float32(one.lift) * normals
    return start, way, normals


def _beside(way: Array, normals: Array | None) -> Array:
    """Return vectors as long as `way`, at right angles to it and to the normals, or to any other direction."""
    if normals is None:
        normals = np.eye(3, dtype=way.dtype)[np.abs(way).argmin(1)]
    across = np.cross(normals, way)
    size = np.linalg.norm(across, axis=1, keepdims=True)
    return np.asarray(across * np.linalg.norm(way, axis=1, keepdims=True) / np.where(size > 0, size, 1))
