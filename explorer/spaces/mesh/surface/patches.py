"""Geodesic patches: where straight lines from each vertex end, by direction and length, as vertices and weights.

Masci, Boscaini, Bronstein, Vandergheynst, "Geodesic convolutional neural networks on Riemannian manifolds", 2015,
section 3; here by tracing, so that directions and lengths are exact on the mesh.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.surface.connection import wrapped
from explorer.spaces.mesh.surface.shape import TRACED, Shape
from explorer.spaces.mesh.surface.topology import Halfedges, SurfaceError, preceding
from explorer.spaces.mesh.surface.trace import trace
from explorer.work.files import disk_cache as cache
from explorer.work.progress import Cancelled, step

Array = NDArray[np.float64]
Index = NDArray[np.int64]

Traced = Generator[float, None, tuple[NDArray[np.int32], Array]]

CHUNK = 24_000  # lines traced at once: their state stays in the cache of a core
SAME = 1e-6  # radians by which a frame that was not turned may differ: it has been through 32 bits
FEW = 0.5  # of the frames are turned: the patches of the others stay


def patches(
    shape: Shape,
    turn: Array,
    radii: int,
    directions: int,
    radius: float,
    cancelled: Callable[[], bool] | None = None,
    vertices: Index | None = None,
) -> Iterator[float | tuple[Index, Array]]:
    """Yield as `Surface.patches` does; `turn` is that of the frames against the gauge "edge"."""
    if radii < 1 or directions < 1 or not 0 < radius < np.inf:
        raise SurfaceError(f"a patch needs radii, directions and a radius above 0, not {radii}, {directions}, {radius}")
    chosen = np.arange(shape.halfedges.count) if vertices is None else vertices
    if len(bad := chosen[(chosen < 0) | (chosen >= shape.halfedges.count)]):
        raise SurfaceError(f"there is no vertex {bad[0]}: they go from 0 to {shape.halfedges.count - 1}")
    if vertices is not None:
        where, weight = yield from _traced(shape, turn, chosen, radii, directions, radius, cancelled)
    else:
        where, weight = yield from _whole(shape, turn, radii, directions, radius, cancelled)
    yield 1.0
    yield _barycentric(shape.halfedges, chosen, where, weight)


def _whole(
    shape: Shape, turn: Array, radii: int, directions: int, radius: float, cancelled: Callable[[], bool] | None
) -> Traced:
    """Trace the patches of all vertices, unless they are kept: here, where only some frames were turned, or on disk."""
    before = shape.traced.get((radii, directions, radius))
    everywhere = np.arange(len(turn))
    turned = everywhere if before is None else np.flatnonzero(np.abs(wrapped(turn - before[0])) > SAME)
    if before is not None and len(turned) <= FEW * len(turn):
        where, weight = before[1:]
        if len(turned):
            where, weight = where.copy(), weight.copy()
            some = yield from _traced(shape, turn, turned, radii, directions, radius, cancelled)
            where[turned], weight[turned] = some
        return where, weight
    key = cache.content_key(shape.key, "patches", turn, radii, directions, radius)
    stored = _stored(key, (len(turn), radii, directions), 3 * len(shape.halfedges.faces))
    if stored is None:
        start = time.perf_counter()
        stored = yield from _traced(shape, turn, everywhere, radii, directions, radius, cancelled)
        cache.store(key, {"where": stored[0], "weight": stored[1]}, time.perf_counter() - start)
    shape.traced[radii, directions, radius] = (turn, *stored)
    for old in list(shape.traced)[:-TRACED]:
        shape.traced.pop(old, None)
    return stored


def _traced(
    shape: Shape,
    turn: Array,
    chosen: Index,
    radii: int,
    directions: int,
    radius: float,
    cancelled: Callable[[], bool] | None,
) -> Traced:
    """Trace the lines of some vertices; return halfedges, (n, radii, directions), and weights, (the same, 2)."""
    where = np.empty((len(chosen), radii, directions), np.int32)
    weight = np.empty((len(chosen), radii, directions, 2))
    lengths = radius * np.arange(1, radii + 1) / radii
    angles = 2 * np.pi * np.arange(directions) / directions
    size = max(1, CHUNK // directions)
    for begin in range(0, len(chosen), size):
        if cancelled is not None and cancelled():
            raise Cancelled
        step(f"Patches of {len(chosen):,} vertices", begin / len(chosen))
        yield begin / len(chosen)
        part = chosen[begin : begin + size]
        lines = np.repeat(part, directions), (turn[part][:, None] + angles).reshape(-1)
        h, w = trace(shape.triangles, *lines, lengths)
        where[begin : begin + size] = h.reshape(len(part), directions, radii).swapaxes(1, 2)
        weight[begin : begin + size] = w.reshape(len(part), directions, radii, 2).swapaxes(1, 2)
    return where, weight


def _stored(key: str, size: tuple[int, ...], halfedges: int) -> tuple[NDArray[np.int32], Array] | None:
    """Return what is kept on disk under a key, if it is what it should be."""
    found = cache.load(key)
    where, weight = found.get("where"), found.get("weight")
    if where is None or weight is None:
        return None
    fits = (
        where.shape == size and weight.shape == (*size, 2)
        and where.dtype == np.int32 and weight.dtype == np.float64
        and where.size > 0 and -1 <= where.min() and where.max() < halfedges
    )  # fmt: skip
    return (where, weight) if fits else None


def _barycentric(halfedges: Halfedges, vertex: Index, where: NDArray[np.int32], weight: Array) -> tuple[Index, Array]:
    """Return the three vertices and weights; beyond the boundary the vertex itself with weight 0."""
    h = np.arange(len(halfedges.tail))
    corners = np.stack([halfedges.tail, halfedges.head, halfedges.tail[preceding(h)]], 1)
    index, weights = corners[where], np.empty((*where.shape, 3))
    weights[..., 1:] = weight
    np.subtract(1.0, weight[..., 0], out=weights[..., 0])
    weights[..., 0] -= weight[..., 1]
    lost = where < 0
    if lost.any():
        index[lost] = np.broadcast_to(vertex[:, None, None], where.shape)[lost][:, None]
        weights[lost] = 0.0
    index.flags.writeable = weights.flags.writeable = False
    return index, weights
