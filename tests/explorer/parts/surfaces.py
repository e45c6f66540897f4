"""Meshes whose geometry is known in closed form: spheres, tori, flat pieces, cones; and one that is like nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, Delaunay

Array = NDArray[np.float64]
Index = NDArray[np.int64]


def wrapped(angle: Array) -> Array:
    """Return angles in [−π, π)."""
    return np.asarray((np.asarray(angle) + np.pi) % (2 * np.pi) - np.pi)


def sphere(count: int) -> tuple[Array, Index]:
    """Return points of a golden spiral on the unit sphere and their hull, seen from outside."""
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    flat = np.sqrt(1 - z * z)
    v = np.stack([np.cos(turn) * flat, np.sin(turn) * flat, z], 1)
    faces = ConvexHull(v).simplices.astype(np.int64)
    a, b, c = np.moveaxis(v[faces], 1, 0)
    inwards = np.einsum("fx,fx->f", np.cross(b - a, c - a), a) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return v, faces


def icosphere(halvings: int) -> tuple[Array, Index]:
    """Return an icosahedron whose edges were halved some times, pushed out onto the unit sphere each time."""
    import igl

    v, faces = (np.asarray(part) for part in igl.icosahedron())
    for _ in range(halvings):
        v, faces = igl.upsample(v / np.linalg.norm(v, axis=1)[:, None], faces)
    return v / np.linalg.norm(v, axis=1)[:, None], np.ascontiguousarray(faces, np.int64)


def bumpy(count: int, seed: int = 0) -> tuple[Array, Index]:
    """Return a closed surface without any symmetry, its faces in any order."""
    v, faces = sphere(count)
    rng = np.random.default_rng(seed)
    waves = rng.standard_normal((6, 3))
    height = 1 + 0.12 * np.sin(2 * v @ waves.T + rng.uniform(0, 6, 6)).sum(1)
    faces = rng.permutation(faces)
    start = rng.integers(0, 3, len(faces))
    return v * height[:, None] * [1.0, 1.4, 0.7], faces[
        np.arange(len(faces))[:, None], (start[:, None] + np.arange(3)) % 3
    ]


def torus(around: int = 36, across: int = 18, large: float = 2.0, small: float = 0.8) -> tuple[Array, Index]:
    """Return a torus as a grid whose ends meet."""
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b = 2 * np.pi * i.ravel() / around, 2 * np.pi * j.ravel() / across
    ring = large + small * np.cos(b)

    def at(p: int, q: int) -> Index:
        return ((i + p) % around * across + (j + q) % across).ravel()

    faces = np.concatenate(
        [np.stack([at(0, 0), at(1, 0), at(1, 1)], 1), np.stack([at(0, 0), at(1, 1), at(0, 1)], 1)]
    ).astype(np.int64)
    return np.stack([ring * np.cos(a), ring * np.sin(a), small * np.sin(b)], 1), faces


def grid(width: int = 12, height: int = 9, bend: float = 0.0) -> tuple[Array, Index]:
    """Return a flat piece with unit squares cut in two, or the same rolled up by `bend` radians for each column.

    Each column of squares stays flat and only the edges between columns are bent, so that nothing is stretched.
    """
    i, j = np.meshgrid(np.arange(width), np.arange(height))
    x, y = i.ravel().astype(float), j.ravel().astype(float)
    turns = bend * np.arange(width)
    profile = np.concatenate([[[0.0, 0.0]], np.cumsum(np.stack([np.cos(turns), np.sin(turns)], 1), 0)[:-1]])
    corner = (np.arange(height - 1)[:, None] * width + np.arange(width - 1)).ravel()
    a, b, c, d = corner, corner + 1, corner + width + 1, corner + width
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int64)
    return np.stack([profile[x.astype(int), 0], y, profile[x.astype(int), 1]], 1), faces


def disc(count: int = 400, seed: int = 0) -> tuple[Array, Index]:
    """Return a flat disc with irregular triangles."""
    rng = np.random.default_rng(seed)
    turn = 2 * np.pi * np.arange(40) / 40
    inner = rng.uniform(-1, 1, (count, 2))
    points = np.concatenate([np.stack([np.cos(turn), np.sin(turn)], 1), inner[np.hypot(*inner.T) < 0.92]])
    faces = Delaunay(points).simplices.astype(np.int64)
    u, v = points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]]
    over = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] < 0
    faces[over] = faces[over][:, ::-1]
    return np.concatenate([points, np.zeros((len(points), 1))], 1), faces


def cone(total: float, sides: int = 12, rings: int = 5) -> tuple[Array, Index]:
    """Return a cone whose unrolled angle at the apex, vertex 0, is `total` < 2π: rings at slant 1, 2, ... from it.

    The sides are flat, so that the angle of the faces at the apex is 2 sides arcsin(ρ sin(π / sides)), made to fit.
    """
    rho = np.sin(total / (2 * sides)) / np.sin(np.pi / sides)  # of the corners of a ring, for slant 1
    turn = 2 * np.pi * np.arange(sides) / sides
    one = np.stack([rho * np.cos(turn), rho * np.sin(turn), np.full(sides, -np.sqrt(1 - rho * rho))], 1)
    v = np.concatenate([np.zeros((1, 3)), *(r * one for r in range(1, rings + 1))])
    k, n = np.arange(sides), (np.arange(sides) + 1) % sides
    faces = [np.stack([0 * k, 1 + k, 1 + n], 1)]
    for r in range(rings - 1):
        a, b = 1 + r * sides, 1 + (r + 1) * sides
        faces += [np.stack([a + k, b + k, b + n], 1), np.stack([a + k, b + n, a + n], 1)]
    return v, np.concatenate(faces).astype(np.int64)


def great_circle(v: Array, a: Array, b: Array, vectors: Array) -> Array:
    """Return tangent vectors of the unit sphere at v[a], transported along the shorter great circle to v[b]."""
    axis = np.cross(v[a], v[b])
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    axis, cosine = axis / sine, (v[a] * v[b]).sum(-1, keepdims=True)
    along = (axis * vectors).sum(-1, keepdims=True) * axis
    return np.asarray(along + cosine * (vectors - along) + sine * np.cross(axis, vectors))
