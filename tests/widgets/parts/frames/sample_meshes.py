"""Made-up meshes and what may lie on them, for the tests and the preview of the mesh canvas."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from widgets.spaces.mesh.drawing.glyphs import field_glyphs, frame_glyphs, vertex_normals
from widgets.spaces.mesh.drawing.look import Marks, MeshLook, Path, Text

Array = NDArray[np.float64]
Mesh = tuple[Array, NDArray[np.int64]]


def make_sphere(times: int = 3) -> Mesh:
    """Return an icosahedron whose faces were parted in four so many times: 10 · 4^times + 2 vertices, radius 1."""
    gold = (1 + 5**0.5) / 2
    at = [(a, b * gold, 0.0) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    vertices = np.array([np.roll(p, k) for k in range(3) for p in at])
    away = np.linalg.norm(vertices[:, None] - vertices, axis=2)
    near = np.isclose(away, 2.0)
    faces = np.array(
        [(i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[i, k]]
    )
    for _ in range(times):
        sides = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), 1)
        pairs, which = np.unique(sides, axis=0, return_inverse=True)
        a, b, c = (len(vertices) + part for part in which.reshape(3, -1))
        vertices = np.concatenate([vertices, vertices[pairs].mean(1)])
        x, y, z = faces.T
        faces = np.concatenate([np.stack(f, 1) for f in ((x, a, c), (y, b, a), (z, c, b), (a, b, c))])
    vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * a).sum(1) < 0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return vertices, faces.astype(np.int64)


def make_torus(around: int = 96, across: int = 40, width: float = 0.38) -> Mesh:
    """Return a torus about the y axis, of radius 1, with around · across vertices and twice as many faces."""
    u, v = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(across) * 2 * np.pi / across, indexing="ij")
    ring = 1 + width * np.cos(v)
    vertices = np.stack([ring * np.sin(u), width * np.sin(v), ring * np.cos(u)], -1).reshape(-1, 3)
    i, j = (k.ravel() for k in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    a, b = i * across + j, (i + 1) % around * across + j
    c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
    return vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def make_frames(vertices: Array, faces: NDArray[np.int64]) -> Array:
    """Return frames (V, 2, 3): X as far as it can along (1, 0.2, 0), Y at its left."""
    normals = vertex_normals(vertices, faces)
    x = np.array([1.0, 0.2, 0.0]) - normals * (normals @ np.array([1.0, 0.2, 0.0]))[:, None]
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    return np.stack([x, np.cross(normals, x)], 1)


def make_looks() -> list[MeshLook]:
    """Return four looks: signed values with a mark and labels, frames, a vector field with a path, flat faces."""
    sphere, ball = make_torus(), make_sphere(4)
    (v, f), (w, g) = sphere, ball
    waves = np.sin(3 * np.arctan2(v[:, 0], v[:, 2])) * (1 + v[:, 1])
    waves[(v[:, 0] > 0.9) & (v[:, 1] > 0.2)] = np.nan
    frames, field = make_frames(v, f), make_frames(w, g)[:, 0] * (1 - w[:, 1:2])
    loop = Path(v[np.arange(96) * 40 + 10], "bad", closed=True)
    return [
        MeshLook(
            v, f, "F(x)", "12 channels", scalars=waves, bar="channel 3",
            marks=Marks(vertices=(3, 410), edges=((360, 361),), faces=(84,)),
            texts=(Text(v[3], "vertex 3"), Text(v[2000], "behind"), Text(v[410], "410")),
        ),
        MeshLook(v, f, "frames", glyphs=frame_glyphs(v, f, frames, 700), marks=Marks(paths=(loop,))),
        MeshLook(w, g, "vector field", scalars=1 - w[:, 1], bar="speed", glyphs=(field_glyphs(w, g, field, most=250),)),
        MeshLook(w, g, "faces", colours=((w[g].mean(1) + 1) * 127).astype(np.uint8), on_faces=True, shading="flat",
                 wireframe=True),
    ]  # fmt: skip
