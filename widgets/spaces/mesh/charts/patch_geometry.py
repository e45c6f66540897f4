"""A vertex's surroundings unrolled in the plane, and responses round its circle of directions. Numpy only, no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.drawing.values import MeshPart

Array = NDArray[Any]
AROUND = 72  # directions at which a band-limited response is drawn
NEAR = 60  # vertices that a view shows at least
ROOM = 1.25  # of the network's own patch


@dataclass(frozen=True, slots=True, eq=False)
class PatchLook:
    """One picture of a patch.

    `places` (V, 2) are the vertices in the plane, nan where none is known; `faces` those to be drawn, the farthest
    first; `colours` uint8 (V, 3). `numbers` (V,) are the vertices' numbers on this side of the square. `frame` and
    `other` (2, 2) are the columns X and Y of the frame in use and of the one on the other side. The network's patch has
    `rings` rings and `rays` rays up to `reach`; the map is exact up to `exact`.
    """

    title: str
    places: Array
    faces: Array
    colours: Array
    numbers: Array
    frame: Array
    other: Array | None = None
    rings: int = 0
    rays: int = 0
    reach: float = 0.0
    exact: float = np.inf


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """Responses (channels, directions) of one vertex, at the angles 2 pi k / directions of its frame.

    `sampled` where the layer itself has these directions; else they are drawn of a band-limited function.
    """

    values: Array
    sampled: bool


def plane(polar: Array) -> Array:
    """Return r (cos theta, sin theta) of polar coordinates (V, 2)."""
    r, theta = polar[:, 0], polar[:, 1]
    return np.stack([r * np.cos(theta), r * np.sin(theta)], 1)


def faces_near(places: Array, faces: Array, radius: float) -> Array:
    """Return the faces that reach into a disc, the farthest first; none that the map turns over or cannot place."""
    away = np.linalg.norm(places, axis=1)[faces]
    with np.errstate(invalid="ignore"):
        near = np.flatnonzero((away.min(1) <= radius) & (away.max(1) <= 2 * radius))
    a, b, c = (places[faces[near, k]] for k in range(3))
    upright = np.flatnonzero(_cross(b - a, c - a) > 0)
    near = near[upright]
    return np.asarray(faces[near[np.argsort(-away[near].min(1), kind="stable")]])


def edges_in(places: Array, faces: Array, radius: float) -> Array:
    """Return the parts inside a disc of the edges of faces, each edge once: (edges, 2 ends, 2)."""
    pairs = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), 1), axis=0)
    a, b = places[pairs[:, 0]], places[pairs[:, 1]]
    # |a + s (b - a)| = radius
    way = b - a
    square, half = np.maximum((way**2).sum(1), 1e-30), (a * way).sum(1)
    root = half**2 - square * ((a**2).sum(1) - radius**2)
    deep = np.sqrt(np.maximum(root, 0.0))
    low, high = (np.clip((-half + sign * deep) / square, 0, 1)[:, None] for sign in (-1, 1))
    inside = (root > 0) & (high > low)[:, 0]
    return np.stack([a + low * way, a + high * way], 1)[inside]


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def radius_of(polar: Array, reach: float) -> float:
    """Return up to where a patch is shown: the network's own and some more, or a few rings of vertices."""
    known = np.sort(polar[np.isfinite(polar[:, 0]), 0])
    few = float(known[min(NEAR, len(known) - 1)]) if len(known) else 1.0
    return (ROOM * reach if reach > 0 else few) or 1.0


def frame_map(part: MeshPart, vertex: int) -> Array:
    """Return the orthogonal matrix (2, 2) from coordinates in a vertex's frame on x to those in its frame on rho(g) x.

    It is the one that carries the neighbours over best (Procrustes): exact for turned frames, motions and mirrors.
    """
    near = part.shape.edges[0, part.shape.edges[1] == vertex]
    there, moved = int(part.order[vertex]), part.moved
    before = (part.shape.vertices[near] - part.shape.vertices[vertex]) @ part.shape.axes[vertex].T
    after = (moved.vertices[part.order[near]] - moved.vertices[there]) @ moved.axes[there].T
    u, _, v = np.linalg.svd(after.T @ before)
    return np.asarray(u @ v)


def angle_of(matrix: Array) -> float:
    """Return by how much a frame was turned, in radians, from the map between its coordinates."""
    return float(-np.arctan2(matrix[1, 0], matrix[0, 0]))


def raster(spots: Array, faces: Array, colours: Array, side: int) -> Array:
    """Return the faces as a picture (side, side, 4) uint8, colours going evenly from corner to corner.

    `spots` (V, 2) are in pixels, down and to the right.
    """
    picture = np.zeros((side, side, 4), np.uint8)
    corners = spots[faces]  # (F, 3, 2)
    low = np.clip(np.floor(corners.min(1) - 0.5), 0, side).astype(np.int64)
    wide, tall = (np.clip(np.ceil(corners.max(1) + 0.5), 0, side).astype(np.int64) - low).T
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    whole = _cross(b - a, c - a)
    count = np.where(np.abs(whole) < 1e-9, 0, wide * tall)
    # every pixel of every face's box, one after the other; of several faces the last one stays
    of = np.repeat(np.arange(len(faces)), count)
    at = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    x, y = low[of, 0] + at % wide[of], low[of, 1] + at // wide[of]
    edges = np.abs(np.stack([b - a, c - b, a - c], 1)).max((1, 2))
    slack = -0.5 * edges / np.where(count, np.abs(whole), 1.0)  # half a pixel: no seams
    px, py = x + 0.5 - a[of, 0], y + 0.5 - a[of, 1]
    ab, ac = (b - a)[of], (c - a)[of]
    v = (px * ac[:, 1] - py * ac[:, 0]) / whole[of]
    w = (ab[:, 0] * py - ab[:, 1] * px) / whole[of]
    inside = np.minimum(np.minimum(v, w), 1 - v - w) >= slack[of]
    of, v, w = of[inside], v[inside, None], w[inside, None]
    shades = colours[faces[of]].astype(np.float32)  # (pixels, 3 corners, 3)
    mixed = (1 - v - w) * shades[:, 0] + v * shades[:, 1] + w * shades[:, 2]
    picture[y[inside], x[inside], :3] = np.clip(np.round(mixed), 0, 255)
    picture[y[inside], x[inside], 3] = 255
    return picture


def around(part: MeshPart, row: Array) -> Around | None:
    """Return the responses at every rotation of one vertex from its values (C,), None of scalars.

    A regular feature lists them; a tangent one of orders m is the function s(a) = sum over m of f_m . (cos ma, sin ma)
    of the direction, which a turned frame shifts in the same way.
    """
    if part.kind != "vertex":
        return None
    if part.rep == "regular" and part.directions:
        return Around(row.reshape(-1, part.directions), True)
    if part.rep != "tangent" or not any(part.orders):
        return None
    angle = np.arange(AROUND) * (2 * np.pi / AROUND)
    waves: list[Array] = []
    for m in part.orders:
        waves += [np.ones(AROUND)] if m == 0 else [np.cos(m * angle), np.sin(m * angle)]
    return Around(row.reshape(-1, len(waves)) @ np.stack(waves), False)
