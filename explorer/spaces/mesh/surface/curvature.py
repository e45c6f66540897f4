"""Frames that the curvature fixes, where they are ambiguous, and where they must be singular.

"principal": the direction of the largest principal curvature, by quadrics fitted to five rings (Panozzo, Puppo, Rocca,
"Efficient multi-scale curvature and crease estimation", 2010; libigl). "gradient": up the gradient of u with
(M + t L) u = the angle defect, the diffused Gaussian curvature, which bending does not change.

Where a symmetry of the surface leaves a direction open, what is computed is rounding, another on another processor.
There the frame follows from the gauge "edge" alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.surface.connection import Connection, wrapped
from explorer.spaces.mesh.surface.topology import Halfedges, SurfaceError
from explorer.work.eigenspaces import Factors
from explorer.work.progress import step

Array = NDArray[np.float64]
Index = NDArray[np.int64]

TIME = 1e-3  # of the diffusion of the curvature, in units of the area: over some 3 % of the surface's width
FLAT = 1e-6  # curvature times the surface's width, or change of it across the surface, below which it says nothing
HALF = 1e-9  # radians from half a turn, which two arrows on either side of a ridge make
PIECE = 8000  # vertices for which libigl is called at a time: it keeps the interpreter, 0.03 ms for each
# of faces round a piece: it looks at five rings of vertices, and the normals of the last have faces of their own
RINGS = 7
MOST_NEIGHBOURS = 2000  # of a vertex: libigl takes the square of them (0.7 s), with 10,000 for 46 s
OPEN = 1e-6  # what a direction must be determined by, in [0, 1], to be told from rounding


@dataclass(frozen=True, slots=True)
class Field:
    """A direction at each vertex.

    Attributes:
        turn: (V,) its angle in the gauge "edge". ambiguity: (V,) in [0, 1]. symmetry: 1 for arrows, 2 for lines.
    """

    turn: Array
    ambiguity: Array
    symmetry: int


def edge_field(count: int) -> Field:
    """Return the field of the gauge "edge" itself, which no curvature fixes: no turn, no ambiguity."""
    return Field(np.zeros(count), np.zeros(count), 0)


def principal_curvatures(vertices: Array, halfedges: Halfedges) -> tuple[Array, Array, Array]:
    """Return the direction of the larger curvature, (V, 3), and both, k1 ≥ k2, (V,): positive on a sphere.

    Where there are too few vertices around to fit a quadric, both curvatures are 0.

    Raises:
        SurfaceError: a vertex of so many neighbours that the quadrics of all of them are fitted to the whole surface.
    """
    degree = np.bincount(halfedges.edges[1], minlength=halfedges.count)
    if (most := int(degree.max())) > MOST_NEIGHBOURS:
        raise SurfaceError(
            f"vertex {int(degree.argmax())} has {most:,} neighbours, and curvature is measured up to "
            f"{MOST_NEIGHBOURS:,}; divide its faces"
        )
    # its tolerances are absolute; a power of two rounds nothing
    unit = 2.0 ** np.round(np.log2(np.ptp(vertices, axis=0).max()))
    one, k1, k2 = np.zeros((halfedges.count, 3)), np.zeros(halfedges.count), np.zeros(halfedges.count)
    done = 0
    for some in _pieces(halfedges):
        step(f"Curvature of {halfedges.count:,} vertices", done / halfedges.count)
        one[some], k1[some], k2[some] = _fitted(vertices / unit, halfedges, some)
        done += len(some)
    return one, k1 / unit, k2 / unit


def _pieces(halfedges: Halfedges) -> list[Index]:
    """Return all vertices in pieces, neighbours mostly in the same one: the library keeps the interpreter meanwhile."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = halfedges.count
    if n <= PIECE:
        return [np.arange(n)]
    order = np.asarray(reverse_cuthill_mckee(halfedges.adjacency(), symmetric_mode=True), np.int64)
    return [order[at : at + PIECE] for at in range(0, n, PIECE)]


def _fitted(vertices: Array, halfedges: Halfedges, some: Index) -> tuple[Array, Array, Array]:
    """Return the direction and both curvatures at some vertices, 0 where there are none: what lies around is enough."""
    import igl

    faces = halfedges.faces
    near = np.zeros(len(vertices), bool)
    near[some] = True
    for _ in range(RINGS if len(some) < len(vertices) else 0):
        near[faces[near[faces].any(1)]] = True
    whole = faces[near[faces].all(1)]
    at = np.flatnonzero(near)
    number = np.zeros(len(vertices), np.int64)
    number[at] = np.arange(len(at))
    one, _, k1, k2, bad = igl.principal_curvature(vertices[at], number[whole])
    one, k1, k2 = np.array(one), np.array(k1), np.array(k2)
    lost = ~(np.isfinite(one).all(1) & np.isfinite(k1) & np.isfinite(k2))
    lost[np.asarray(bad, np.int64)] = True
    one[lost], k1[lost], k2[lost] = 0.0, 0.0, 0.0
    return one[number[some]], k1[number[some]], k2[number[some]]


def principal_field(vertices: Array, halfedges: Halfedges, connection: Connection, area: float) -> Field:
    """Return the lines of largest curvature, each as the arrow along which the mean curvature grows.

    Where it does not grow along the line, the arrow is the one within [-1, π - 1) of the gauge "edge"; where there is
    no line, it is the gauge "edge" itself.
    """
    one, k1, k2 = principal_curvatures(vertices, halfedges)
    along = np.einsum("vkx,vx->kv", connection.frames, one)
    line = np.arctan2(along[1], along[0])
    slope = vertex_gradient(halfedges, connection, (k1 + k2) / 2)
    growth = slope[0] * np.cos(line) + slope[1] * np.sin(line)
    sizes = np.abs(k1) + np.abs(k2)
    known = sizes > FLAT / np.sqrt(area)
    sizes = np.where(known, sizes, 1.0)
    # which of the two arrows along the line is told by growth alone: small against the curvature over the whole width
    told = np.abs(growth) / (np.abs(growth) + sizes / np.sqrt(area))
    split = np.abs(k1 - k2) / sizes
    determined = np.where(known, np.minimum(split, told), 0.0)
    # at right angles to an edge, which regular surfaces have, no choice must hang on rounding: hence a radian
    arrow = np.where(told > OPEN, np.where(growth >= 0, line, line + np.pi), (line + 1) % np.pi - 1)
    turn = np.where(known & (split > OPEN), wrapped(arrow), 0.0)
    return Field(turn, np.clip(1 - determined, 0.0, 1.0), 2)


def gradient_field(halfedges: Halfedges, connection: Connection, laplacian: Any, mass: Array, order: Index) -> Field:
    """Return the direction in which the diffused Gaussian curvature grows; `order` is that of elimination."""
    import scipy.sparse as sp

    area = float(mass.sum())
    # at the rim of an open surface the defect is the turn of the boundary, which is no curvature of the surface
    defect = np.where(halfedges.boundary, 0.0, connection.angle_defect)
    u = Factors(sp.diags(mass) + TIME * area * laplacian, order).solve(defect)
    slope = vertex_gradient(halfedges, connection, u)
    size = np.hypot(*slope)
    # u times the area is 4π on a sphere; where it is large, so is its rounding
    known = size > FLAT * area**-1.5 * max(1.0, area * float(np.abs(u).max()))
    middle = float(np.median(size[known])) if known.any() else 1.0
    ambiguity = np.where(known, middle / (size + middle), 1.0)
    return Field(np.where(known, np.arctan2(slope[1], slope[0]), 0.0), ambiguity, 1)


def vertex_gradient(halfedges: Halfedges, connection: Connection, u: Array) -> Array:
    """Return the gradient of a function in the frames of the gauge "edge", (2, V); bending does not change it.

    By least squares from the differences to the neighbours, each at its place in the log map: exact for what is linear
    there.
    """
    source, target = halfedges.edges
    x, y = connection.radius * np.cos(connection.angle), connection.radius * np.sin(connection.angle)
    rise = u[source] - u[target]
    xx, xy, yy, xu, yu = (
        np.bincount(target, product, minlength=halfedges.count) for product in (x * x, x * y, y * y, x * rise, y * rise)
    )
    return np.stack([yy * xu - xy * yu, xx * yu - xy * xu]) / (xx * yy - xy * xy)


def singularities(halfedges: Halfedges, connection: Connection, field: Field) -> list[tuple[int, float]]:
    """Return the faces with the index of the field around them, where it is not 0.

    Index = (the turn of the field against transport along the three edges + the curvature of the face) / 2π, which
    adds up to χ (Poincaré and Hopf). Crane, Desbrun, Schröder, "Trivial connections on discrete surfaces", 2010.
    """
    n = field.symmetry
    if not n:
        return []
    # column of the halfedge tail → head: seen from the head, the tail is its source
    step = connection.transport[halfedges.reverse[halfedges.column]]
    change = wrapped(n * (field.turn[halfedges.head] - field.turn[halfedges.tail] - step))
    # half a turn one way is half a turn the other way, and both triangles at an edge must see the same one
    half = np.abs(change) > np.pi - HALF
    change = np.where(half, np.where(halfedges.tail < halfedges.head, np.pi, -np.pi), change) / n
    index = (change.reshape(-1, 3).sum(1) + connection.curvature) / (2 * np.pi)
    rounded = np.round(n * index) / n
    return [(int(f), float(rounded[f])) for f in np.flatnonzero(rounded)]
