"""Straight lines on a mesh, many at once: unfolded from face to face, and through a vertex with equal angles.

A line that meets a vertex goes on so that the scaled angles on both of its sides are equal: a straightest geodesic
(Polthier & Schmies, "Straightest geodesics on polyhedral surfaces", 1998). One that meets the boundary ends there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.surface.connection import TAU, Connection
from explorer.spaces.mesh.surface.topology import Halfedges, following, preceding

Array = NDArray[np.float64]
Index = NDArray[np.int64]

NEAR = 1e-9  # share of an edge, or angle, within which a line meets the vertex


@dataclass(frozen=True, slots=True)
class Triangles:
    """Faces laid flat, once for each halfedge: its tail at the origin, its head at (length, 0), the apex above.

    Attributes:
        length: (3F,). apex: (2, 3F). key: (3F,) vertex and direction of the halfedges in the order of the fan, as one
            ascending number. span: what one vertex adds to it. total: (V,) the scaled angle around each vertex.
    """

    halfedges: Halfedges
    connection: Connection
    length: Array
    apex: Array
    key: Array
    span: float
    total: Array


def triangles(halfedges: Halfedges, connection: Connection) -> Triangles:
    """Lay the faces of a surface flat."""
    h = np.arange(len(halfedges.tail))
    length = connection.radius[halfedges.column]
    apex = length[preceding(h)] * np.stack([np.cos(connection.corner), np.sin(connection.corner)])
    span = TAU + 1.0
    fan = halfedges.fan
    key = halfedges.tail[fan] * span + connection.direction[fan]
    total = np.bincount(halfedges.tail, connection.corner, minlength=halfedges.count) * connection.scale
    return Triangles(halfedges, connection, length, apex, key, span, total)


@dataclass(slots=True)
class Rays:
    """Lines on their way: in the face of halfedge h, at (x, y) of its flat triangle, heading (dx, dy)."""

    line: Index
    h: Index
    x: Array
    y: Array
    dx: Array
    dy: Array
    done: Array  # length so far
    fresh: NDArray[np.bool_]  # starts at the tail of h, so that it leaves by the side across

    def only(self, kept: NDArray[np.bool_]) -> Rays:
        """Return some of them."""
        return Rays(
            self.line[kept], self.h[kept], self.x[kept], self.y[kept],
            self.dx[kept], self.dy[kept], self.done[kept], self.fresh[kept],
        )  # fmt: skip

    def joined(self, other: Rays) -> Rays:
        """Return these and others."""
        return Rays(*(np.concatenate([getattr(self, n), getattr(other, n)]) for n in self.__slots__))


def launched(flat: Triangles, vertex: Index, angle: Array, line: Index, done: Array) -> Rays:
    """Return lines that leave vertices at angles in the gauge "edge"; those that leave the surface are left out."""
    halfedges, connection = flat.halfedges, flat.connection
    angle = angle % TAU
    rim, total = halfedges.boundary[vertex], flat.total[vertex]
    angle = np.where(rim & (angle > TAU - NEAR), 0.0, angle)
    kept = ~rim | (angle <= total + NEAR)
    vertex, angle, line, done = vertex[kept], np.minimum(angle, total)[kept], line[kept], done[kept]
    place = np.searchsorted(flat.key, vertex * flat.span + angle, side="right") - 1
    # rounding in the key must not reach the fan of the vertex before
    place = np.clip(place, halfedges.start[vertex], halfedges.start[vertex + 1] - 1)
    h = halfedges.fan[place]
    inner = np.clip((angle - connection.direction[h]) / connection.scale[vertex], 0.0, connection.corner[h])
    zero = np.zeros(len(h))
    return Rays(line, h, zero, zero, np.cos(inner), np.sin(inner), done, np.ones(len(h), bool))


def trace(flat: Triangles, vertex: Index, angle: Array, lengths: Array) -> tuple[Index, Array]:
    """Return where lines are at given lengths: halfedges (n, R), −1 beyond the boundary, and weights (n, R, 2).

    The weights are those of the head of the halfedge and of the apex of its face; the tail has the rest.

    Args:
        vertex, angle: (n,) where the lines start and their angles in the gauge "edge". lengths: (R,) ascending.
    """
    where = np.full((len(vertex), len(lengths)), -1, np.int64)
    weight = np.zeros((len(vertex), len(lengths), 2))
    rays = launched(flat, vertex, angle, np.arange(len(vertex)), np.zeros(len(vertex)))
    for _ in range(1000 + 10 * len(flat.halfedges.faces)):
        if not len(rays.line):
            break
        rays = _crossed(flat, rays, lengths, where, weight)
    return where, weight


def _crossed(flat: Triangles, rays: Rays, lengths: Array, where: Index, weight: Array) -> Rays:
    """Note what lies in the faces of the lines, and return the lines in the next faces."""
    h, x, y, dx, dy = rays.h, rays.x, rays.y, rays.dx, rays.dy
    ax, ay, base = flat.apex[0, h], flat.apex[1, h], flat.length[h]
    right = rays.fresh | (dx * (ay - y) - dy * (ax - x) > 0)  # leaves by head → apex, else by apex → tail
    # the side it leaves by, from (sx, sy) along (ex, ey)
    sx, sy = np.where(right, base, ax), np.where(right, 0.0, ay)
    ex, ey = np.where(right, ax - base, -ax), np.where(right, ay, -ay)
    across = dx * ey - dy * ex
    px, py = sx - x, sy - y
    step = np.maximum((px * ey - py * ex) / across, 0.0)
    share = np.clip((px * dy - py * dx) / across, 0.0, 1.0)
    end = rays.done + step
    for r, length in enumerate(lengths):
        inside = (length >= rays.done) & ((length < end) | (where[rays.line, r] < 0) & (length <= end))
        if inside.any():
            k = np.flatnonzero(inside)
            at = length - rays.done[k]
            top = (y[k] + at * dy[k]) / ay[k]
            where[rays.line[k], r] = h[k]
            weight[rays.line[k], r, 0] = (x[k] + at * dx[k] - top * ax[k]) / base[k]
            weight[rays.line[k], r, 1] = top
    side = np.where(right, following(h), preceding(h))
    going = end < lengths[-1]
    meets = going & ((share < NEAR) | (share > 1 - NEAR))
    passed = _through_vertices(flat, rays, side, share, end, meets) if meets.any() else None

    twin = flat.halfedges.twin[side]
    kept = going & ~meets & (twin >= 0)
    length = flat.length[side]
    ux, uy = -ex / length, -ey / length  # along the twin
    onward = Rays(
        rays.line, twin, (1 - share) * length, np.zeros(len(h)), dx * ux + dy * uy, dy * ux - dx * uy, end,
        np.zeros(len(h), bool),
    ).only(kept)  # fmt: skip
    return onward if passed is None else onward.joined(passed)


def _through_vertices(
    flat: Triangles, rays: Rays, side: Index, share: Array, end: Array, meets: NDArray[np.bool_]
) -> Rays:
    """Return the lines that meet a vertex beyond it: opposite to where they came from, in scaled angles."""
    one, side, share = rays.only(meets), side[meets], share[meets]
    out = np.where(share < 0.5, side, following(side))  # the halfedge of this face that leaves the vertex
    # its direction in the flat triangle of h: along h, head → apex, or apex → tail
    h, ax, ay, base = one.h, flat.apex[0, one.h], flat.apex[1, one.h], flat.length[one.h]
    ox = np.where(out == h, base, np.where(out == following(h), ax - base, -ax))
    oy = np.where(out == h, 0.0, np.where(out == following(h), ay, -ay))
    back = np.arctan2(oy * one.dx - ox * one.dy, -(ox * one.dx + oy * one.dy))  # from out to where the line came from
    vertex = flat.halfedges.tail[out]
    inner = np.clip(back, 0.0, flat.connection.corner[out])
    came = flat.connection.direction[out] + inner * flat.connection.scale[vertex]
    return launched(flat, vertex, came + np.pi, one.line, end[meets])
