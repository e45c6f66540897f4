"""The Levi-Civita connection of a triangle mesh: frames, log maps of neighbours, transport along edges, curvature.

The angles of the faces at a vertex inside are scaled so that they add up to 2π: this is the tangent space of Knöppel,
Crane, Pinkall, Schröder, "Globally optimal direction fields", 2013, section 6, and geometry-central's. At a boundary
they are left as they are (scaled down only to make no more than a full turn), where geometry-central scales them to π:
so a flat piece stays flat up to its rim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.surface.topology import Halfedges, SurfaceError

Array = NDArray[np.float64]
Index = NDArray[np.int64]

TAU = 2 * np.pi
CANCELLED = 1e-9  # size of a sum, against one of its terms, below which it has no direction


@dataclass(frozen=True, slots=True)
class Connection:
    """The connection in the gauge "edge".

    Attributes:
        radius, angle, transport: (E,) as `Surface` has them. frames: (V, 2, 3). normals: (V, 3).
        angle_defect: (V,). scale: (V,) by what the angles of faces at a vertex are multiplied.
        direction: (3F,) the angle of each halfedge in the frame of its tail, from 0 on.
        corner: (3F,) the unscaled angle of the face at the tail of each halfedge.
        curvature: (F,) Ω, the angle by which transport counter-clockwise around a face turns a vector; with the turn
            of the boundary it adds up to 2πχ.
    """

    radius: Array
    angle: Array
    transport: Array
    frames: Array
    normals: Array
    angle_defect: Array
    scale: Array
    direction: Array
    corner: Array
    curvature: Array


def wrapped(angle: Array) -> Array:
    """Return the angles in (−π, π]."""
    return -((np.pi - angle) % TAU - np.pi)


def turned_angle(angle: Array, edges: Index, turn: Array) -> Array:
    """Return angle − φ_i, read-only."""
    return _fixed(wrapped(angle - turn[edges[1]]))


def turned_transport(transport: Array, edges: Index, turn: Array) -> Array:
    """Return transport + φ_j − φ_i, read-only."""
    return _fixed(wrapped(transport + turn[edges[0]] - turn[edges[1]]))


def turned_frames(frames: Array, turn: Array) -> Array:
    """Return X cos φ + Y sin φ and Y cos φ − X sin φ, (V, 2, 3), read-only."""
    x, y = frames[:, 0], frames[:, 1]
    cos, sin = np.cos(turn)[:, None], np.sin(turn)[:, None]
    return _fixed(np.stack([cos * x + sin * y, cos * y - sin * x], 1))


def turn_towards(connection: Connection, directions: Array) -> Array:
    """Return by what the frames of the gauge "edge" must turn, (V,), to have X along the directions, (V, 3).

    Raises:
        SurfaceError: a direction that is no number, or that has no part along the surface.
    """
    if directions.shape != connection.normals.shape:
        raise SurfaceError(f"directions must be {connection.normals.shape}, not {directions.shape}")
    along = np.einsum("vkx,vx->kv", connection.frames, directions)
    short = ~(np.hypot(*along) > 1e-12 * np.linalg.norm(directions, axis=1))
    if len(bad := np.flatnonzero(short)):
        raise SurfaceError(f"the direction at vertex {bad[0]} has no part along the surface")
    return np.asarray(np.arctan2(along[1], along[0]))


def connection(vertices: Array, halfedges: Halfedges) -> Connection:
    """Return the connection of a mesh, all at once, in O(F)."""
    tail, head = halfedges.tail, halfedges.head
    side = vertices[head] - vertices[tail]  # (3F, 3)
    length = np.sqrt(np.einsum("hx,hx->h", side, side))
    by_face = side.reshape(-1, 3, 3)
    across = np.cross(by_face[:, 0], by_face[:, 1])  # twice the area along the normal
    doubled = np.sqrt(np.einsum("fx,fx->f", across, across))
    inner = -np.einsum("fcx,fcx->fc", by_face, by_face[:, [2, 0, 1]])  # of the two sides that leave a corner
    corner = np.arctan2(doubled[:, None], inner).reshape(-1)

    total = np.bincount(tail, corner, minlength=halfedges.count)
    inside = ~halfedges.boundary
    scale = np.where(inside, TAU / total, np.minimum(1.0, TAU / total))
    spread = total * scale
    direction = _directions(corner * scale[tail], halfedges)

    columns = halfedges.edges.shape[1]
    angle, radius = np.empty(columns), np.empty(columns)
    angle[halfedges.column], radius[halfedges.column] = direction, length
    rim = np.flatnonzero(halfedges.twin < 0)  # seen from its head, a boundary edge closes the fan
    back = halfedges.reverse[halfedges.column[rim]]
    angle[back], radius[back] = spread[head[rim]], length[rim]

    normal = across / doubled[:, None]
    first = halfedges.fan[halfedges.start[:-1]]
    normals = _unit(_sum(tail, corner[:, None] * np.repeat(normal, 3, 0), halfedges.count), normal[first // 3])
    frames = _frames(vertices, halfedges, angle, normals, side[first])
    curvature = (corner * scale[tail]).reshape(-1, 3).sum(1) - np.pi
    found = Connection(
        radius=radius,
        angle=wrapped(angle),
        transport=wrapped(angle + np.pi - angle[halfedges.reverse]),
        frames=frames,
        normals=normals,
        angle_defect=np.where(inside, TAU, np.pi) - total,
        scale=scale,
        direction=direction,
        corner=corner,
        curvature=curvature,
    )
    for name in Connection.__slots__:
        getattr(found, name).flags.writeable = False
    return found


def _directions(corner: Array, halfedges: Halfedges) -> Array:
    """Return the angle of each halfedge at its tail: the sum of the corners before it in the fan."""
    inside = corner[halfedges.fan]
    before = np.cumsum(inside) - inside
    before -= np.repeat(before[halfedges.start[:-1]], np.diff(halfedges.start))
    direction = np.empty(len(corner))
    direction[halfedges.fan] = before
    return direction


def _frames(vertices: Array, halfedges: Halfedges, angle: Array, normals: Array, first: Array) -> Array:
    """Return X and n × X, (V, 2, 3): X is the mean of the edges' tangent parts, each turned back by its angle.

    Where they cancel out, X lies along the first halfedge of the fan.
    """
    source, target = halfedges.edges
    n = normals[target]
    side = vertices[source] - vertices[target]
    side = side - np.einsum("ex,ex->e", side, n)[:, None] * n
    back = np.cos(angle)[:, None] * side - np.sin(angle)[:, None] * np.cross(n, side)
    first = first - np.einsum("vx,vx->v", first, normals)[:, None] * normals
    x = _unit(_sum(target, back, halfedges.count), first)
    return np.stack([x, np.cross(normals, x)], 1)


def _sum(index: Index, rows: Array, count: int) -> Array:
    return np.stack([np.bincount(index, column, minlength=count) for column in rows.T], 1)


def _unit(rows: Array, instead: Array) -> Array:
    """Return rows of length 1; those that cancel out, as normals at the rim of a flat coin, are replaced."""
    size, other = np.linalg.norm(rows, axis=1), np.linalg.norm(instead, axis=1)
    lost = size <= CANCELLED * other
    return np.asarray(np.where(lost[:, None], instead, rows) / np.where(lost, other, size)[:, None])


def _fixed(values: Array) -> Array:
    values.flags.writeable = False
    return values
