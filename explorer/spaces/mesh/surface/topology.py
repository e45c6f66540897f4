"""Describe the connections of triangles: halfedges, fans around vertices, both directions of each edge; refuse others.

Halfedge h = 3 f + c leads from faces[f, c] to faces[f, c + 1] with face f on its left. The next one counter-clockwise
around the same tail is the twin of the one before it in its face.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

LEAST, MOST = 1e-50, 1e50  # largest coordinates: beyond, squares of areas are gone, and libigl ends the process
THIN = 1e-11  # height of a face divided by its longest edge, below which it has no area: its angles are rounding


class SurfaceError(ValueError):
    """These triangles are no surface, or the surface has no such thing; one sentence that says where."""


@dataclass(frozen=True)
class Halfedges:
    """The topology of a list of faces, whatever the positions.

    Attributes:
        count: V. faces: (F, 3). twin: (3F,) the other halfedge of the edge, −1 at a boundary.
        edges: (2, E) source and target of both directions of each edge, sorted by (target, source).
        reverse: (E,) the column of the same edge in the other direction.
        column: (3F,) the column that says where the head of a halfedge lies, seen from its tail.
        fan: (3F,) all halfedges, those with one tail together and counter-clockwise. start: (V + 1,) where each tail's
            begin; the first is that of the last listed face, at a boundary the one along it.
        boundary: (V,) whether a vertex lies on the boundary.
    """

    count: int
    faces: Index
    twin: Index
    edges: Index
    reverse: Index
    column: Index
    fan: Index
    start: Index
    boundary: NDArray[np.bool_]

    @property
    def tail(self) -> Index:
        """Return the vertex where each halfedge starts, (3F,)."""
        return self.faces.reshape(-1)

    @cached_property
    def head(self) -> Index:
        """Return the vertex where each halfedge ends, (3F,)."""
        return np.asarray(self.tail[following(np.arange(len(self.tail)))])

    @cached_property
    def components(self) -> Index:
        """The number of the connected part of each vertex, (V,), in the order of first vertices."""
        from scipy.sparse.csgraph import connected_components

        label: Index = connected_components(self.adjacency(), directed=False)[1].astype(np.int64)
        label.flags.writeable = False
        return label

    @property
    def parts(self) -> int:
        """The number of parts that are not connected with each other."""
        return int(self.components.max()) + 1

    def adjacency(self) -> Any:
        """Return which vertices are joined by an edge, (V, V), sparse."""
        import scipy.sparse as sp

        return sp.csr_array((np.ones(self.edges.shape[1], bool), tuple(self.edges)), shape=(self.count, self.count))

    @cached_property
    def euler(self) -> int:
        """χ = V − E + F."""
        return int(self.count - self.edges.shape[1] // 2 + len(self.faces))


def following(h: Index) -> Index:
    """Return the halfedges that follow in the same face."""
    return np.where(h % 3 == 2, h - 2, h + 1)


def preceding(h: Index) -> Index:
    """Return the halfedges that come before in the same face."""
    return np.where(h % 3 == 0, h + 2, h - 1)


def checked(vertices: ArrayLike, faces: ArrayLike, known: Halfedges | None = None) -> tuple[Array, Halfedges]:
    """Return positions and halfedges of a manifold mesh, read-only; `known` are those of the same faces.

    What is refused here would end the process, or give nonsense, inside of geometry-central.

    Raises:
        SurfaceError: wrong shapes, not finite, a vertex that does not exist, no area, no manifold, not oriented alike,
            a vertex without a face.
    """
    points = np.array(vertices, np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise SurfaceError(f"vertices must be (V, 3) positions in space, not {points.shape}")
    if len(bad := np.flatnonzero(~np.isfinite(points).all(1))):
        raise SurfaceError(f"vertex {bad[0]} has a position that is no number: {points[bad[0]].tolist()}")
    if points.any() and not LEAST < (extent := float(np.abs(points).max())) < MOST:
        raise SurfaceError(f"the surface is {extent:.0e} large, and areas of that size cannot be computed")
    halfedges = known if known is not None else _halfedges(_indices(faces, len(points)), len(points))
    if len(points) != halfedges.count:
        raise SurfaceError(f"there are {len(points)} positions for {halfedges.count} vertices")
    _refuse_thin(points, halfedges.faces)
    points.flags.writeable = False
    return points, halfedges


def _indices(faces: ArrayLike, count: int) -> Index:
    """Return the faces as (F, 3) int64 that name three different vertices each."""
    given = np.asarray(faces)
    if given.ndim != 2 or given.shape[1] != 3 or not len(given):
        raise SurfaceError(f"faces must be (F, 3) numbers of vertices, one face or more, not {given.shape}")
    if not np.issubdtype(given.dtype, np.integer):
        raise SurfaceError(f"faces must be whole numbers, not {given.dtype}")
    found = np.array(given, np.int64)
    if len(bad := np.flatnonzero(((found < 0) | (found >= count)).any(1))):
        raise SurfaceError(f"face {bad[0]} names a vertex outside of 0 to {count - 1}: {found[bad[0]].tolist()}")
    if len(bad := np.flatnonzero((found == np.roll(found, 1, 1)).any(1))):
        raise SurfaceError(f"face {bad[0]} names a vertex twice: {found[bad[0]].tolist()}; remove the face")
    return found


def _refuse_thin(points: Array, faces: Index) -> None:
    sides = points[np.roll(faces, -1, 1)] - points[faces]
    longest = (sides**2).sum(2).max(1)
    doubled = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    if len(bad := np.flatnonzero(doubled <= THIN * longest)):
        raise SurfaceError(f"face {bad[0]} {faces[bad[0]].tolist()} has no area; remove it or move its vertices apart")


def _halfedges(faces: Index, count: int) -> Halfedges:
    tail, h = faces.reshape(-1), np.arange(faces.size)
    head = tail[following(h)]
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    order = np.argsort(low * count + high, kind="stable")
    twin = _twins(order, low, high, tail)
    if len(lost := np.flatnonzero(np.bincount(tail, minlength=count) == 0)):
        raise SurfaceError(f"vertex {lost[0]} belongs to no face; remove it")
    rim = np.flatnonzero(twin < 0)
    boundary = np.zeros(count, bool)
    boundary[tail[rim]] = True
    fan, start = _fans(tail, twin, rim, count)

    # a column for each halfedge, seen from its tail, and one more for each boundary edge, seen from its head
    source, target = np.concatenate([head, tail[rim]]), np.concatenate([tail, head[rim]])
    place = np.argsort(target * count + source, kind="stable")
    rank = np.empty(len(place), np.int64)
    rank[place] = np.arange(len(place))
    other = np.where(twin < 0, 0, twin)
    other[rim] = len(h) + np.arange(len(rim))
    reverse = np.concatenate([other, rim])
    arrays = (faces, twin, np.stack([source, target])[:, place], rank[reverse][place], rank[: len(h)], fan, start)
    for array in (*arrays, boundary):
        array.flags.writeable = False
    return Halfedges(count, *arrays, boundary)


def _twins(order: Index, low: Index, high: Index, tail: Index) -> Index:
    """Return the other halfedge of each edge, −1 at a boundary; `order` sorts halfedges by their edge."""
    a, b = order[:-1], order[1:]
    same = (low[a] == low[b]) & (high[a] == high[b])
    if len(third := np.flatnonzero(same[:-1] & same[1:])):
        k = order[third[0]]
        on = np.flatnonzero((low == low[k]) & (high == high[k])) // 3
        raise SurfaceError(
            f"the edge between vertices {low[k]} and {high[k]} has {len(on)} faces ({', '.join(map(str, on[:4]))}"
            f"{', …' if len(on) > 4 else ''}), and a surface has at most two; split the vertices or remove faces"
        )
    a, b = a[same], b[same]
    if len(alike := np.flatnonzero(tail[a] == tail[b])):
        k, m = a[alike[0]], b[alike[0]]
        raise SurfaceError(
            f"faces {k // 3} and {m // 3} run along the edge between vertices {low[k]} and {high[k]} in the same "
            "direction, so that one of them is inside out; orient them alike"
        )
    twin = np.full(len(order), -1, np.int64)
    twin[a], twin[b] = b, a
    return twin


def _fans(tail: Index, twin: Index, rim: Index, count: int) -> tuple[Index, Index]:
    """Return halfedges sorted by (tail, turn around it) and where each tail's begin; all vertices walk at once."""
    first = np.full(count, -1, np.int64)
    np.maximum.at(first, tail, np.arange(len(tail)))
    first[tail[rim]] = rim
    place = np.full(len(tail), -1, np.int64)
    now, step = first, 0
    while len(now):
        place[now] = step
        now = twin[preceding(now)]
        now = now[now >= 0]
        now = now[place[now] < 0]
        step += 1
    if len(unseen := np.flatnonzero(place < 0)):
        raise SurfaceError(
            f"the faces around vertex {tail[unseen[0]]} form more than one fan, so that it is no point of a surface; "
            "split the vertex"
        )
    fan = np.argsort(tail * (step + 1) + place, kind="stable")
    return fan, np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=count))])
