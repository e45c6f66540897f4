"""A vector carried along a path and around a loop, and the curvature that a loop encloses.

A geodesic carries its own tangent, so that a vector keeps its angle to it; at a vertex that it passes, angles are those
of the scaled tangent space. Discrete Gauss and Bonnet: a loop of edges turns a vector by the curvature of the faces
inside (Crane, de Goes, Desbrun, Schröder, "Digital geometry processing with discrete exterior calculus", 2013).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.surface.connection import wrapped
from explorer.spaces.mesh.surface.shape import Shape
from explorer.spaces.mesh.surface.topology import Halfedges, SurfaceError

Array = NDArray[np.float64]
Index = NDArray[np.int64]

AT = 1e-6  # barycentric distance within which a corner of a path is a vertex


@dataclass(frozen=True, slots=True)
class Carried:
    """A vector carried along a geodesic from a to b.

    Attributes:
        points: (n, 3) the corners of the path. vectors: (n, 3) the vector at each, tangent to the surface.
        arrived: (2,) in the frame of b. turn: by what the transport turns coordinates, frame a to frame b, in (−π, π].
        angle: of `arrived` in the frame of b, radians.
    """

    points: Array
    vectors: Array
    arrived: Array
    turn: float
    angle: float


@dataclass(frozen=True, slots=True)
class Loop:
    """A vector carried around a closed walk along edges, counter-clockwise seen from outside.

    Attributes:
        vertices: (n + 1,) the walk, the first vertex again at the end. vectors: (n + 1, 3) the vector at each.
        holonomy: by what the vector has turned, in (−π, π]. curvature: the curvature inside, not wrapped: equal to the
            holonomy up to whole turns. faces: those inside.
    """

    vertices: Index
    vectors: Array
    holonomy: float
    curvature: float
    faces: Index


def carry(shape: Shape, turn: Array, a: int, b: int, vector: Array) -> Carried:
    """Carry a vector, (2,) in the frame of a, along the geodesic to b; frames are turned by `turn` against "edge"."""
    points = shape.path(a, b)
    start = np.arctan2(vector[1], vector[0]) + turn[a]  # in the gauge "edge"
    size = float(np.hypot(*vector))
    if len(points) == 1:
        return Carried(points, _tangent(shape, [a], np.array([start]), size), vector, 0.0, float(start - turn[a]))
    face, weights = _located(shape, points)
    tangents = points[1:] - points[:-1]
    tangents /= np.linalg.norm(tangents, axis=1)[:, None]
    normals = np.cross(*np.moveaxis(np.diff(shape.vertices[shape.halfedges.faces[face]], axis=1), 1, 0))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    left = np.cross(normals, tangents)

    # relative to the path, the vector only turns where the path passes a vertex
    relative = start - _leaving(shape, a, face[0], points[1])
    vectors = np.empty_like(points)
    vectors[0] = _tangent(shape, [a], np.array([start]), size)[0]
    for k in range(1, len(face)):
        inside = weights[k - 1, 1]  # of the corner k in the face before it
        if inside.max() > 1 - AT:
            at = int(shape.halfedges.faces[face[k - 1], inside.argmax()])
            came = _leaving(shape, at, face[k - 1], points[k - 1]) + np.pi
            relative += came - _leaving(shape, at, face[k], points[k + 1])
        vectors[k] = size * (np.cos(relative) * tangents[k] + np.sin(relative) * left[k])
    end = relative + _leaving(shape, b, face[-1], points[-2]) + np.pi
    vectors[-1] = _tangent(shape, [b], np.array([end]), size)[0]
    angle = float(wrapped(np.array(end - turn[b])))
    return Carried(
        points=points,
        vectors=vectors,
        arrived=size * np.array([np.cos(angle), np.sin(angle)]),
        turn=float(wrapped(np.array(end - turn[b] - start + turn[a]))),
        angle=angle,
    )


def loop(shape: Shape, turn: Array, vertex: int, rings: int, vector: Array) -> Loop:
    """Carry a vector, (2,) in the frame of its first vertex, around all that lies within `rings` edges of a vertex.

    Raises:
        SurfaceError: no ring, or the region has no boundary that is one closed walk.
    """
    vertex, halfedges = shape.vertex(vertex), shape.halfedges
    if rings < 1:
        raise SurfaceError(f"a loop goes around one ring or more, not {rings}")
    inside = _region(halfedges, vertex, rings)
    walk = _walk(halfedges, inside, vertex, rings)
    vertices = np.append(halfedges.tail[walk], halfedges.tail[walk[0]])
    # in the gauge "edge": the vector goes from tail to head
    step = shape.connection.transport[halfedges.reverse[halfedges.column[walk]]]
    start = np.arctan2(vector[1], vector[0]) + turn[vertices[0]]
    angles = start + np.append(0.0, np.cumsum(step))
    return Loop(
        vertices=vertices,
        vectors=_tangent(shape, list(vertices), angles, float(np.hypot(*vector))),
        holonomy=float(wrapped(step.sum())),
        curvature=float(shape.connection.curvature[inside].sum()),
        faces=np.flatnonzero(inside),
    )


def _region(halfedges: Halfedges, vertex: int, rings: int) -> NDArray[np.bool_]:
    """Return which faces lie within so many rings, or in a hole of that, (F,)."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    source, target = halfedges.edges
    near = np.zeros(halfedges.count, bool)
    near[vertex] = True
    for _ in range(rings - 1):
        near[target[near[source]]] = True
    inside: NDArray[np.bool_] = np.asarray(near[halfedges.faces].any(1))
    # what is cut off from the largest rest is a hole
    h = np.flatnonzero(halfedges.twin >= 0)
    f, g = h // 3, halfedges.twin[h] // 3
    out = ~inside[f] & ~inside[g]
    count = len(inside)
    matrix = sp.csr_matrix((np.ones(int(out.sum()), bool), (f[out], g[out])), shape=(count, count))
    label = connected_components(matrix, directed=False)[1]
    same = halfedges.components[halfedges.faces[:, 0]] == halfedges.components[vertex]
    rest = ~inside & same
    if rest.any():
        sizes = np.bincount(label[rest])
        inside |= rest & (label != sizes.argmax())
    return inside


def _walk(halfedges: Halfedges, inside: NDArray[np.bool_], vertex: int, rings: int) -> Index:
    """Return the halfedges of the boundary of a region, in order."""
    face = np.arange(len(halfedges.tail)) // 3
    rim = inside[face] & ((halfedges.twin < 0) | ~inside[halfedges.twin // 3])
    starts = np.flatnonzero(rim)
    if not len(starts):
        raise SurfaceError(f"{rings} rings around vertex {vertex} cover the whole surface; take fewer")
    walk = [int(starts[0])]
    while True:
        h = _next(walk[-1])
        while not rim[h]:
            h = _next(int(halfedges.twin[h]))
        if h == walk[0]:
            break
        walk.append(h)
    if len(walk) < len(starts):
        raise SurfaceError(
            f"{rings} rings around vertex {vertex} reach around the surface, so that their boundary is no single loop; "
            "take fewer"
        )
    return np.array(walk)


def _next(h: int) -> int:
    """Return the halfedge that follows in the same face."""
    return h - 2 if h % 3 == 2 else h + 1


def _located(shape: Shape, points: Array) -> tuple[Index, Array]:
    """Return the face of each segment, (n − 1,), and the weights of both of its ends there, (n − 1, 2, 3)."""
    import igl

    faces = shape.halfedges.faces
    origin, unit = shape.frame
    middle = np.ascontiguousarray((points[1:] / 2 + points[:-1] / 2 - origin) / unit)
    face = np.asarray(igl.point_mesh_squared_distance(middle, np.array(shape.framed), np.array(faces))[1], np.int64)
    face = face.reshape(-1)
    a, b, c = np.moveaxis(shape.vertices[faces[face]], 1, 0)
    normal = np.cross(b - a, c - a)
    doubled = (normal**2).sum(1)
    weights = np.empty((len(face), 2, 3))
    for end, p in enumerate((points[:-1], points[1:])):
        weights[:, end, 1] = (np.cross(p - a, c - a) * normal).sum(1) / doubled
        weights[:, end, 2] = (np.cross(b - a, p - a) * normal).sum(1) / doubled
    weights[..., 0] = 1 - weights[..., 1] - weights[..., 2]
    return face, weights


def _leaving(shape: Shape, vertex: int, face: np.int64, point: Array) -> float:
    """Return the direction, in the gauge "edge", in which a point of a face at a vertex lies."""
    faces, connection = shape.halfedges.faces, shape.connection
    corner = np.flatnonzero(faces[face] == vertex)
    if not len(corner):
        raise SurfaceError(f"the path does not lie in face {face} at vertex {vertex}")
    h = 3 * int(face) + int(corner[0])
    side = shape.vertices[shape.halfedges.head[h]] - shape.vertices[vertex]
    to = point - shape.vertices[vertex]
    angle = float(np.arctan2(np.linalg.norm(np.cross(side, to)), side @ to))
    return float(connection.direction[h] + angle * connection.scale[vertex])


def _tangent(shape: Shape, vertices: list[int], angles: Array, size: float) -> Array:
    """Return tangent vectors in space, (n, 3), from angles in the gauge "edge"."""
    frames = shape.connection.frames[vertices]
    return np.asarray(size * (np.cos(angles)[:, None] * frames[:, 0] + np.sin(angles)[:, None] * frames[:, 1]))
